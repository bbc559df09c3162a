//! throng turns a table about people into one that can be published.

pub mod audit;
pub mod error;
pub mod policy;
pub mod report;
pub mod table;
pub mod watch;

pub use error::{Error, Result};
