//! `[series]`: how releases of a changing table follow on each other.

use toml::Spanned;

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
    /// The k of newcomers from now on, if it is another one: what was published before stays as it is.
    pub later_k: Option<usize>,
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
        SeriesChoice { start_k: None, later_k: None, present: true, wait: 1, turnover: false }
    }
}

impl SeriesChoice {
    /// Checks what was written.
    pub(super) fn check(source: Source<'_>, written: &WrittenSeries, privacy: &Privacy) -> Result<Self> {
        let choice = SeriesChoice {
            start_k: written.start_k.as_ref().map(|k| positive(source, "start_k", k)).transpose()?,
            later_k: written.later_k.as_ref().map(|k| positive(source, "later_k", k)).transpose()?,
            present: written.present.as_ref().is_none_or(|present| *present.get_ref()),
            wait: written.wait.as_ref().map_or(Ok(1), |wait| positive(source, "wait", wait))?,
            turnover: written.turnover.as_ref().is_some_and(|turnover| *turnover.get_ref()),
        };
        for (key, k, written) in
            [("start_k", choice.start_k, &written.start_k), ("later_k", choice.later_k, &written.later_k)]
        {
            if let (Some(own), Some(written)) = (k, written) {
                at_least_k(source, key, own, written, privacy)?;
            }
        }
        if let (Some(start_k), Some(written)) = (choice.start_k, &written.start_k)
            && start_k > privacy.k().unwrap_or(start_k)
            && !choice.turnover
        {
            let message = "start_k above k only loses detail unless classes may be divided later";
            let error = source.error(ErrorCode::MissingKey, &written.span(), message, "without turnover");
            return Err(error.with_hint("add turnover = true under [series], or remove start_k"));
        }
        Ok(choice)
    }
}

/// An error if a k of some releases is below the k of all of them.
fn at_least_k(
    source: Source<'_>,
    key: &str,
    own: usize,
    written: &Spanned<i64>,
    privacy: &Privacy,
) -> Result<()> {
    match privacy.k() {
        Some(k) if own >= k => Ok(()),
        Some(k) => Err(out_of_range(source, key, written, &format!("at least k, which is {k}"))),
        None => {
            let which = if key == "start_k" { "the first release" } else { "newcomers" };
            let message = format!("{key} is the k of {which}, and the policy asks for no k");
            let error = source.error(ErrorCode::MissingKey, &written.span(), &message, "without k");
            Err(error.with_hint(format!("give k under [privacy], or remove {key}")))
        }
    }
}
