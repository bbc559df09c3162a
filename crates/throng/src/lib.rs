//! throng turns a table about people into one that can be published.
//!
//! The main job is one value: [`run::Anonymize`] takes a table, a [`policy::Policy`] and the name of a release,
//! and its `run` gives back a [`report::Report`]. The release gets its name only after an audit has read it back
//! and found that the requirement holds.
//!
//! ```
//! use throng::plan::Registry;
//! use throng::policy::Policy;
//! use throng::release::{Order, Publish};
//! use throng::run::{Anonymize, audit_files};
//! use throng::watch::Unwatched;
//!
//! let folder = tempfile::tempdir()?;
//! let data = folder.path().join("people.csv");
//! std::fs::write(&data, "name,age,city,illness\n\
//!     Ada,31,Rome,flu\nBen,34,Rome,cold\nCleo,36,Oslo,flu\nDan,52,Oslo,gout\nEve,58,Rome,cold\n")?;
//!
//! let policy = Policy::parse(r#"
//!     [privacy]
//!     k = 2
//!     [attribute.name]
//!     role = "identifier"
//!     [attribute.age]
//!     role = "quasi"
//!     [attribute.city]
//!     role = "quasi"
//!     hierarchy = { South = ["Rome"], North = ["Oslo"] }
//!     [attribute.illness]
//!     role = "sensitive"
//! "#, None)?;
//!
//! let release = folder.path().join("release.csv");
//! let run = Anonymize {
//!     data: data.clone(),
//!     release: release.clone(),
//!     policy: policy.clone(),
//!     publish: Publish::Cells,
//!     order: Order::Keep,
//!     overrides: Vec::new(),
//!     hashes: false,
//!     secret: None,
//!     registry: Registry::default(),
//! };
//! let report = run.run(&Unwatched)?;
//! assert!(report.measures.k >= 2);
//!
//! let published = std::fs::read_to_string(&release)?;
//! assert!(published.starts_with("age,city,illness\n[31-58],Rome,flu\n"));
//! assert!(!published.contains("Ada"));
//!
//! // Anyone with the files and the policy can measure the release again.
//! let findings = audit_files(&data, &release, &policy, &Unwatched)?;
//! assert!(findings.measures.violations.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Reading order
//!
//! | module | what it does |
//! | --- | --- |
//! | [`table`] | reads CSV, Parquet and Arrow; orders the values of each column into a domain |
//! | [`policy`], [`keys`] | turns TOML into a checked policy; errors point at the line |
//! | [`schema`] | what a policy says of attributes: roles, kinds, hierarchies, rules |
//! | [`data`], [`problem`] | records in codes; with a requirement, all that a method may look at |
//! | [`bind`] | joins table and policy |
//! | [`privacy`] | the registry of requirements: what can be asked of a release |
//! | [`risk`] | the risk of a table as it stands |
//! | [`loss`], [`bound`] | what a box of codes costs, and a lower bound on the loss of every release |
//! | [`research`] | research value: what a recoding is worth, and weights by association |
//! | [`rules`] | data constraint rules: what should stay apart in a release, and what must |
//! | [`condition`] | ranges, values and labels as people write them, in queries and rules |
//! | [`curve`], [`mapping`] | orders in which near records lie together |
//! | [`method`] | from a problem to a partition of its records; the registry of methods |
//! | [`release`] | from a partition to cells, and files that appear complete or not at all |
//! | [`published`] | a release as its readers see it: classes of equal cells |
//! | [`as_is`] | what is published beside the quasi-identifiers, and what it gives away |
//! | [`audit`] | what a published file achieves, measured from the file itself |
//! | [`attack`] | what grouping tells of records beyond their classes |
//! | [`report`] | JSON, one HTML page, terminal text |
//! | [`workload`] | queries on a table, and their answers from a release |
//! | [`evaluate`] | what a release is still good for; the registry of tasks |
//! | [`recipe`] | a learned recoding as a file |
//! | [`simulate`] | random tables, to see whether k is reachable at all |
//! | [`plan`] | everything that is decided before data is touched |
//! | [`run`] | whole runs, which is what fronts call |
//! | [`secret`] | randomness that nobody may guess: the order of rows, and lots |
//! | [`watch`], [`error`] | progress and cancellation; what can go wrong |
//!
//! Modules stand in layers: each uses only those above it, in the order of `tests/layers.rs`.
//!
//! The core prints nothing and keeps no global state. Same table, policy, seed and secret give the same release,
//! byte for byte, on any number of threads.

pub mod as_is;
pub mod attack;
pub mod audit;
pub mod bind;
pub mod bound;
mod classes;
mod collections;
pub mod condition;
pub mod curve;
pub mod data;
pub mod error;
pub mod evaluate;
pub mod format;
mod histogram;
pub mod keys;
pub mod loss;
pub mod mapping;
pub mod method;
pub mod plan;
pub mod policy;
pub mod privacy;
pub mod problem;
pub mod published;
pub mod recipe;
pub mod release;
pub mod report;
pub mod research;
pub mod risk;
pub mod rules;
pub mod run;
pub mod schema;
pub mod secret;
pub mod simulate;
pub mod table;
pub mod watch;
mod words;
pub mod workload;

pub use error::{Error, ErrorCode, Result};
