//! What it takes to add a method or a privacy model from another crate.
//!
//! A method implements [`Method`] and joins a [`Registry`](crate::Registry) as an [`Entry`]. A privacy model implements
//! [`Spec`] (what is asked for, and what a release achieves of it) and [`Model`] (whether some records may be a class), and
//! joins a policy with [`PolicyBuilder::requirement`](crate::PolicyBuilder::requirement). Both see a [`Problem`]: the table in
//! codes, under its policy. `examples/own_method.rs` and `examples/own_privacy_model.rs` are whole programs.
//!
//! # A method
//!
//! ```
//! use throng::extend::{
//!     Entry, Judge, Method, OptionKind, OptionSpec, Options, Part, Partition, Problem, Solution,
//! };
//! use throng::{Anonymize, Data, Policy, Registry, Result, Watch};
//!
//! /// Groups of so many records, in the order of the table.
//! struct InOrder(usize);
//!
//! impl Method for InOrder {
//!     fn solve(&self, problem: &Problem, _: &dyn Watch) -> Result<Solution> {
//!         let size = self.0.max(Judge::new(problem).smallest());
//!         let whole = problem.len() / size;
//!         let sizes = (0..whole).map(|at| if at + 1 == whole { problem.len() - at * size } else { size });
//!         Ok(Partition::from_sizes((0..problem.len() as u32).collect(), sizes).into())
//!     }
//! }
//!
//! const SIZE: OptionSpec = OptionSpec {
//!     name: "size",
//!     kind: OptionKind::Whole { least: 1, default: Some(1) },
//!     help: "records of a group",
//! };
//! fn configure(options: &Options) -> Result<Box<dyn Method>> {
//!     Ok(Box::new(InOrder(options.whole("size")? as usize)))
//! }
//! let entry = Entry::new("in-order", "groups in the order of the table", &[Part::K], |options, _| configure(options));
//! let registry = Registry::default().with_method(entry.with_options(&[SIZE]));
//!
//! let policy = Policy::builder().k(2).quasi("age").method("in-order").option("size", 3).build()?;
//! let table = Data::csv("age\n31\n34\n36\n52\n55\n58\n");
//! let done = Anonymize::new(&policy).read(table).registry(registry).to_csv()?;
//! assert_eq!((done.report.measures.k, done.report.measures.classes), (3, 2));
//! # Ok::<(), throng::Error>(())
//! ```
//!
//! # A privacy model
//!
//! ```
//! use std::sync::Arc;
//! use throng::extend::{Achieved, Figure, Histogram, Model, Part, Protected, Published, Records, Spec, Tally};
//! use throng::{Anonymize, Data, Error, ErrorCode, Policy, Result};
//!
//! /// Every class has so many different sensitive values.
//! #[derive(Clone, Copy, Debug)]
//! struct Varied(u64);
//!
//! #[derive(Debug)]
//! struct VariedIn(u64, usize);
//!
//! impl Model for VariedIn {
//!     fn describe(&self) -> String {
//!         format!("{} different values in every class", self.0)
//!     }
//!     fn part(&self) -> Part {
//!         Part::L
//!     }
//!     fn monotone(&self) -> bool {
//!         true
//!     }
//!     fn smallest_class(&self) -> usize {
//!         self.0 as usize
//!     }
//!     fn holds(&self, tally: &Tally) -> bool {
//!         tally.histogram(self.1).present().len() as u64 >= self.0
//!     }
//!     fn explain(&self, _: &Tally, records: &Records) -> Error {
//!         Error::new(ErrorCode::DiversityUnreachable, "the table has too few different values")
//!             .for_attribute(&records.sensitive[self.1].name)
//!     }
//! }
//!
//! impl Spec for Varied {
//!     fn key(&self) -> &'static str {
//!         "varied"
//!     }
//!     fn part(&self) -> Part {
//!         Part::L
//!     }
//!     fn keys(&self) -> toml::Table {
//!         toml::Table::from_iter([("varied".to_owned(), toml::Value::Integer(self.0 as i64))])
//!     }
//!     fn protects_sensitive(&self) -> bool {
//!         true
//!     }
//!     fn models(&self, sensitive: &[Protected]) -> Vec<Arc<dyn Model>> {
//!         (0..sensitive.len()).map(|at| Arc::new(VariedIn(self.0, at)) as Arc<dyn Model>).collect()
//!     }
//!     fn measure(&self, published: &Published<'_>) -> Result<Vec<Achieved>> {
//!         let values = |counts: &Histogram| counts.present().len() as u64;
//!         let of = |at| published.over_classes(at, u64::MAX, values, u64::min);
//!         let fewest = (0..published.sensitive.len()).map(of).min().unwrap_or(u64::MAX);
//!         let broken = (fewest < self.0).then(|| format!("a class has only {fewest} different values"));
//!         let achieved = Achieved::at_least("varied", "variety", "different values of a class");
//!         let achieved = achieved.reached(Figure::Count(fewest));
//!         Ok(vec![achieved.asked(Figure::Count(self.0), broken.into_iter().collect())])
//!     }
//! }
//!
//! let builder = Policy::builder().k(2).quasi("age").sensitive("illness").requirement(Arc::new(Varied(2)));
//! let table = Data::csv("age,illness\n31,flu\n34,flu\n56,cold\n58,gout\n");
//! let done = Anonymize::new(&builder.build()?).read(table).to_csv()?;
//! let variety = done.report.measures.requirements.iter().find(|one| one.key == "varied");
//! assert_eq!(variety.and_then(|one| one.holds), Some(true));
//! # Ok::<(), throng::Error>(())
//! ```

pub use crate::data::Data as Records;
pub use crate::method::{Entry, Method, OptionKind, OptionSpec, Options, Partition, Solution};
pub use crate::privacy::{Achieved, Figure, Histogram, Judge, Model, Part, Spec, Tally};
pub use crate::problem::{Problem, Protected};
pub use crate::published::Published;
