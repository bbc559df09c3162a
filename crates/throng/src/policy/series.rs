//! `[series]`: how releases of a changing table follow on each other.

use super::written::WrittenSeries;
use crate::error::{ErrorCode, Result};
use crate::keys::source::Source;
use crate::keys::{out_of_range, positive};
use crate::privacy::Privacy;

/// How releases follow on each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesChoice {
    /// The k of the first release, if it is another one: larger classes can be divided later.
    pub start_k: Option<usize>,
    /// Whether a column tells how many people of each class are still in the table.
    pub present: bool,
    /// Newcomers enter with every so many-th release.
    pub wait: usize,
    /// Whether the ledger keeps whose each row is, so that those who left can be taken out of a class that is large enough
    /// for both sides.
    pub turnover: bool,
}

impl Default for SeriesChoice {
    fn default() -> Self {
        SeriesChoice { start_k: None, present: true, wait: 1, turnover: false }
    }
}

impl SeriesChoice {
    /// Checks what was written.
    pub(super) fn check(source: Source<'_>, written: &WrittenSeries, privacy: &Privacy) -> Result<Self> {
        let choice = SeriesChoice {
            start_k: written.start_k.as_ref().map(|k| positive(source, "start_k", k)).transpose()?,
            present: written.present.as_ref().is_none_or(|present| *present.get_ref()),
            wait: written.wait.as_ref().map_or(Ok(1), |wait| positive(source, "wait", wait))?,
            turnover: written.turnover.as_ref().is_some_and(|turnover| *turnover.get_ref()),
        };
        let (Some(start_k), Some(written)) = (choice.start_k, &written.start_k) else { return Ok(choice) };
        match privacy.k() {
            Some(k) if start_k >= k => {}
            Some(k) => {
                return Err(out_of_range(source, "start_k", written, &format!("at least k, which is {k}")));
            }
            None => {
                let message = "start_k is the k of the first release, and the policy asks for no k";
                let error = source.error(ErrorCode::MissingKey, &written.span(), message, "without k");
                return Err(error.with_hint("give k under [privacy], or remove start_k"));
            }
        }
        if start_k > privacy.k().unwrap_or(start_k) && !choice.turnover {
            let message = "start_k above k only loses detail unless classes may be divided later";
            let error = source.error(ErrorCode::MissingKey, &written.span(), message, "without turnover");
            return Err(error.with_hint("add turnover = true under [series], or remove start_k"));
        }
        Ok(choice)
    }
}
