//! throng turns a table about people into one that can be published.
//!
//! [`Anonymize`] takes a [`Policy`] and a table and gives back a release with its [`Report`]. Nobody gets the release before
//! an audit has read it back and found that the requirement holds.
//!
//! ```
//! use throng::{Anonymize, Attribute, Audit, Data, Order, Policy};
//!
//! let policy = Policy::builder()
//!     .k(2)
//!     .identifier("name")
//!     .quasi("age")
//!     .attribute("city", Attribute::quasi().groups([("South", ["Rome"]), ("North", ["Oslo"])]))
//!     .sensitive("illness")
//!     .build()?;
//! let people = Data::csv("name,age,city,illness\n\
//!     Ada,31,Rome,flu\nBen,34,Rome,cold\nCleo,36,Oslo,flu\nDan,52,Oslo,gout\nEve,58,Rome,cold\n");
//!
//! let done = Anonymize::new(&policy).read(people.clone()).order(Order::Keep).to_csv()?;
//! assert!(done.report.measures.k >= 2);
//! assert!(done.release.starts_with("age,city,illness\n[31-58],Rome,flu\n"));
//! assert!(!done.release.contains("Ada"));
//!
//! // Anyone with the tables and the policy can measure the release again.
//! let findings = Audit::new(&policy).original(people).release(Data::csv(done.release)).run()?;
//! assert!(findings.holds());
//! # Ok::<(), throng::Error>(())
//! ```
//!
//! | to | use |
//! | --- | --- |
//! | say what must hold | [`Policy`]: [`Policy::load`] from a file, [`Policy::builder`] in code with [`Attribute`]s |
//! | make a release | [`Anonymize`]; [`Data`] says where the table is, [`Anonymized`] what came out |
//! | mask other records in the same way | [`Apply`], with a [`Recipe`] |
//! | measure | [`Audit`] a release, the [`Risk`] of a table, [`Evaluate`] what a release is good for |
//! | choose a method | [`Compare`]; a [`Registry`] with methods of your own |
//! | add a method or a privacy model | [`extend`] |
//! | handle errors | [`Error`], with an [`ErrorCode`] to branch on |
//!
//! Reports ([`Report`], [`Measures`], [`Findings`], [`Comparison`], [`Evaluation`], [`RiskReport`], [`Recipe`]) are written
//! to JSON and read back with serde. Types that may grow are `non_exhaustive`.
//!
//! The core prints nothing and keeps no global state. The same table, policy, seed and secret give the same release, byte
//! for byte, on any number of threads.
//!
//! Modules that the documentation does not show are for this project's own programs and tests and may change in any
//! version.

#[doc(hidden)]
pub mod as_is;
#[doc(hidden)]
pub mod attack;
#[doc(hidden)]
pub mod audit;
#[doc(hidden)]
pub mod bind;
#[doc(hidden)]
pub mod bound;
mod classes;
mod collections;
#[doc(hidden)]
pub mod condition;
#[doc(hidden)]
pub mod curve;
#[doc(hidden)]
pub mod data;
#[doc(hidden)]
pub mod error;
#[doc(hidden)]
pub mod evaluate;
pub mod extend;
mod facade;
#[doc(hidden)]
pub mod format;
#[doc(hidden)]
pub mod formula;
mod histogram;
#[doc(hidden)]
pub mod keys;
#[doc(hidden)]
pub mod loss;
#[doc(hidden)]
pub mod mapping;
#[doc(hidden)]
pub mod method;
mod parallel;
#[doc(hidden)]
pub mod plan;
#[doc(hidden)]
pub mod policy;
#[doc(hidden)]
pub mod privacy;
#[doc(hidden)]
pub mod problem;
#[doc(hidden)]
pub mod published;
#[doc(hidden)]
pub mod recipe;
#[doc(hidden)]
pub mod release;
#[doc(hidden)]
pub mod report;
#[doc(hidden)]
pub mod research;
#[doc(hidden)]
pub mod risk;
#[doc(hidden)]
pub mod rules;
#[doc(hidden)]
pub mod run;
#[doc(hidden)]
pub mod scale;
#[doc(hidden)]
pub mod schema;
#[doc(hidden)]
pub mod secret;
#[doc(hidden)]
pub mod series;
#[doc(hidden)]
pub mod simulate;
#[doc(hidden)]
pub mod table;
#[doc(hidden)]
pub mod watch;
#[doc(hidden)]
pub mod words;
#[doc(hidden)]
pub mod workload;

pub use audit::{Findings, Measures};
pub use error::{Error, ErrorCode, Fault, Place, Result};
pub use facade::{
    Anonymize, Anonymized, Apply, Attribute, Audit, Compare, Data, Evaluate, PolicyBuilder, Risk,
};
pub use plan::{Registry, Unmet};
pub use policy::{Kind, Policy, Role};
pub use recipe::Recipe;
pub use release::{Batches, Order, Publish};
pub use report::{Comparison, Report};
pub use risk::Risk as RiskReport;
pub use run::Evaluation;
pub use secret::Secret;
pub use watch::{Unwatched, Watch};
