//! throng turns a table about people into one that can be published.

pub mod error;
pub mod policy;
pub mod table;
pub mod watch;

pub use error::{Error, Result};
