//! throng turns a table about people into one that can be published.

pub mod audit;
pub mod compare;
pub mod curve;
pub mod error;
pub mod loss;
pub mod method;
pub mod policy;
pub mod privacy;
pub mod problem;
pub mod release;
pub mod report;
pub mod run;
pub mod table;
pub mod watch;

pub use error::{Error, Result};
