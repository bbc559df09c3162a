//! What Rust users see: whole runs as builders, with everything that most people need not decide decided already.
//!
//! A builder takes a policy, is told where the table is ([`Data`]: a file, text or record batches in memory) and ends in
//! `run`, `write` or `to_…`. Seed and secret are drawn where nobody brings them. Builders hold no logic of their own: each is a
//! loop over [`Plan`](crate::plan::Plan)s, as the command line is.

mod anonymize;
mod apply;
mod attribute;
mod audit;
mod compare;
mod data;
mod evaluate;
mod finished;
mod policy;
mod risk;

pub use anonymize::Anonymize;
pub use apply::Apply;
pub use attribute::Attribute;
pub use audit::Audit;
pub use compare::Compare;
pub use data::Data;
pub use evaluate::Evaluate;
pub use finished::Anonymized;
pub use policy::PolicyBuilder;
pub use risk::Risk;

use crate::error::{Error, ErrorCode, Result};

/// What was given, or an error that names the function which gives it.
fn given<'a, T>(what: &str, function: &str, value: &'a Option<T>) -> Result<&'a T> {
    value.as_ref().ok_or_else(|| {
        Error::new(ErrorCode::BadUsage, format!("{what} is missing"))
            .with_hint(format!("give it with `{function}`"))
    })
}
