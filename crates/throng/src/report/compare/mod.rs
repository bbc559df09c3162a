//! Several methods and k side by side.

use serde::{Deserialize, Serialize};

use super::Report;
use crate::audit::Measures;
use crate::collections::Arrange;
use crate::error::ErrorCode;

mod charts;
mod page;
mod terminal;

pub(super) use charts::{frontier, line_legend};
pub use page::compare_html;
pub(super) use page::headline;
pub use terminal::compare_terminal;

/// Runs of several methods over one table.
///
/// ```
/// use throng::{Compare, Data, Policy};
/// let policy = Policy::builder().k(2).quasi("age").build()?;
/// let comparison = Compare::new(&policy).read(Data::csv("age\n31\n34\n")).methods(["mondrian"]).run()?;
/// assert!(comparison.runs[0].report.is_some());
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Comparison {
    /// The table's name.
    pub data: String,
    /// Records that took part.
    pub rows: u64,
    /// Names of the quasi-identifiers.
    pub quasi: Vec<String>,
    /// The runs, in the order in which they are told.
    pub runs: Vec<ComparisonRun>,
    /// Methods that were not named and do not suit, where none were named.
    pub left_out: Vec<LeftOut>,
    /// The policy's text.
    pub policy: String,
    /// throng's version.
    pub version: String,
}

/// A method that a comparison left out by itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LeftOut {
    /// The method's name.
    pub method: String,
    /// Why.
    pub reason: String,
}

/// One method with one k: a report, or why there is none.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ComparisonRun {
    /// The method's name.
    pub method: String,
    /// The k asked for; `None` where the policy's own requirement was used.
    pub k: Option<u64>,
    /// What came out. Only its figures and seconds are told, so distributions and examples may be left empty.
    pub report: Option<Report>,
    /// How far COUNT queries are off on average, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_error: Option<f64>,
    /// Why the method did not run.
    pub refused: Option<String>,
    /// The same for programs.
    #[serde(default)]
    pub code: Option<ErrorCode>,
}

impl ComparisonRun {
    fn measures(&self) -> Option<&Measures> {
        self.report.as_ref().map(|report| &report.measures)
    }

    fn seconds(&self) -> Option<f64> {
        let seconds = &self.report.as_ref()?.seconds;
        seconds.get("anonymize").or_else(|| seconds.get("total")).copied()
    }
}

impl Comparison {
    /// The methods, each once, in order of their first run.
    fn methods(&self) -> Vec<&str> {
        let mut methods: Vec<&str> = Vec::new();
        for run in &self.runs {
            if !methods.contains(&run.method.as_str()) {
                methods.push(&run.method);
            }
        }
        methods
    }

    /// Every k once, ascending; the policy's own requirement first.
    fn ks(&self) -> Vec<Option<u64>> {
        let mut ks: Vec<Option<u64>> = self.runs.iter().map(|run| run.k).collect();
        ks.arrange();
        ks.dedup();
        ks
    }

    /// Methods to which options of the policy do not apply, with the names of these options; each method once.
    fn left_out_options(&self) -> Vec<(&str, String)> {
        let mut told: Vec<(&str, String)> = Vec::new();
        for run in &self.runs {
            let options = run.report.as_ref().map_or(&[][..], |report| &report.left_out_options);
            if !options.is_empty() && told.iter().all(|(method, _)| *method != run.method) {
                told.push((&run.method, super::text::listing(options)));
            }
        }
        told
    }

    /// The figures that are told: research value where a method that raises it was compared, errors of queries where they
    /// were asked for.
    fn metrics(&self) -> Vec<Metric> {
        let raised = self.runs.iter().any(|run| run.method.starts_with("rv-"));
        let told = |metric: &Metric| match metric {
            Metric::ResearchValue => raised,
            Metric::QueryError => self.runs.iter().any(|run| run.query_error.is_some()),
            _ => true,
        };
        METRICS.into_iter().filter(told).collect()
    }

    fn run(&self, method: &str, k: Option<u64>) -> Option<&ComparisonRun> {
        self.runs.iter().find(|run| run.method == method && run.k == k)
    }

    fn runs_with(&self, k: Option<u64>) -> impl Iterator<Item = &ComparisonRun> {
        self.runs.iter().filter(move |run| run.k == k)
    }

    /// What no run with a k can lose less than. It depends on the table and the k that classes have: where all runs have the same one, any run's
    /// will do; where each found its own, the least holds for all of them, if all have one.
    fn bound(&self, k: Option<u64>) -> Option<f64> {
        let generalized =
            || self.runs_with(k).filter_map(ComparisonRun::measures).filter(|own| !own.permuted);
        let bounds = || generalized().map(|own| own.lower_bound.as_ref().map(|bound| bound.gcp));
        let one_k = generalized().all(|own| generalized().all(|other| own.k_required == other.k_required));
        let known = bounds().flatten().filter(|gcp| gcp.is_finite()).reduce(f64::min);
        known.filter(|_| one_k || bounds().all(|bound| bound.is_some()))
    }

    /// Whether runs looked for the k that they reach within limits on the loss, so that it is what they are compared by.
    fn finds_k(&self) -> bool {
        self.runs.iter().any(|run| run.measures().is_some_and(|own| own.k_required > run.k))
    }
}

/// A figure by which runs are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Metric {
    /// Told where runs looked for it.
    K,
    Gcp,
    Classes,
    Discernibility,
    CAvg,
    ResearchValue,
    QueryError,
    Seconds,
}

const METRICS: [Metric; 7] = [
    Metric::Gcp,
    Metric::Classes,
    Metric::Discernibility,
    Metric::CAvg,
    Metric::ResearchValue,
    Metric::QueryError,
    Metric::Seconds,
];

impl Metric {
    fn name(self) -> &'static str {
        match self {
            Metric::K => "k",
            Metric::Gcp => "GCP",
            Metric::Classes => "Classes",
            Metric::Discernibility => "Discernibility",
            Metric::CAvg => "C_AVG",
            Metric::ResearchValue => "Value",
            Metric::QueryError => "Query error",
            Metric::Seconds => "Time",
        }
    }

    fn of(self, run: &ComparisonRun) -> Option<f64> {
        let measures = run.measures();
        let value = match self {
            Metric::K => measures.map(|measures| measures.k as f64),
            Metric::Gcp => measures.map(|measures| measures.gcp),
            Metric::Classes => measures.map(|measures| measures.classes as f64),
            Metric::Discernibility => measures.map(|measures| measures.discernibility),
            Metric::CAvg => measures.map(|measures| measures.c_avg),
            Metric::ResearchValue => measures.and_then(|measures| measures.research_value),
            Metric::QueryError => run.query_error,
            Metric::Seconds => run.seconds(),
        };
        value.filter(|value| value.is_finite())
    }

    fn told(self, run: &ComparisonRun) -> String {
        use super::number::{NONE, figure, seconds, share};
        let tell = match self {
            Metric::Gcp => share,
            Metric::CAvg => |value| format!("{value:.2}"),
            Metric::ResearchValue => |value| format!("{value:.3}"),
            Metric::QueryError => super::number::percent,
            Metric::Seconds => seconds,
            _ => figure,
        };
        self.of(run).map_or_else(|| NONE.to_owned(), tell)
    }

    /// The best value among the runs with a k that keep what was asked; `None` without a contest.
    fn best(self, comparison: &Comparison, k: Option<u64>) -> Option<f64> {
        let contest = comparison.runs_with(k).filter(|run| self.of(run).is_some()).count() > 1;
        let kept = comparison.runs_with(k).filter(|run| keeps_its_promise(run));
        let better = if matches!(self, Metric::K | Metric::Classes | Metric::ResearchValue) {
            f64::max
        } else {
            f64::min
        };
        kept.filter_map(|run| self.of(run)).reduce(better).filter(|_| contest)
    }

    /// Whether a run has the best value of its k; equal values share it.
    fn is_best(self, comparison: &Comparison, run: &ComparisonRun) -> bool {
        let best = self.best(comparison, run.k);
        keeps_its_promise(run) && best.is_some() && self.of(run) == best
    }
}

fn keeps_its_promise(run: &ComparisonRun) -> bool {
    run.measures()
        .is_some_and(|measures| super::summary::verdict(measures) != super::summary::Verdict::NotMet)
}

/// `k = 10`, or the policy's own requirement.
fn k_words(k: Option<u64>) -> String {
    k.map_or_else(|| "the policy's requirement".to_owned(), |k| format!("k = {}", super::number::count(k)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    #[test]
    fn the_best_of_each_k_is_marked_only_among_runs_that_keep_the_requirement() {
        let mut comparison = samples::comparison();
        let best = |comparison: &Comparison| -> Vec<String> {
            let runs = comparison.runs.iter().filter(|run| run.k == Some(10));
            runs.filter(|run| Metric::Gcp.is_best(comparison, run)).map(|run| run.method.clone()).collect()
        };
        assert_eq!(best(&comparison), ["hilbert"]);
        let broken = comparison.runs.iter_mut().filter(|run| run.method == "hilbert");
        for measures in broken.filter_map(|run| run.report.as_mut()).map(|report| &mut report.measures) {
            measures.violations.push("k does not hold".into());
        }
        assert_eq!(best(&comparison), ["mondrian"]);
    }

    #[test]
    fn more_classes_are_better_and_one_run_is_no_contest() {
        let mut comparison = samples::comparison();
        let most =
            comparison.runs.iter().filter(|run| run.k == Some(5)).filter_map(|run| Metric::Classes.of(run));
        assert_eq!(Metric::Classes.best(&comparison, Some(5)), most.reduce(f64::max));
        comparison.runs.retain(|run| run.method == "mondrian");
        assert_eq!(Metric::Classes.best(&comparison, Some(5)), None);
    }

    #[test]
    fn where_runs_find_their_own_k_the_bound_holds_for_all_of_them() {
        let mut comparison = samples::comparison();
        comparison.runs.retain(|run| run.k == Some(10) && run.report.is_some());
        let known = comparison.bound(Some(10));
        assert!(known.is_some() && !comparison.finds_k());
        let of_run = |comparison: &mut Comparison, at: usize, k: u64, bound: Option<f64>| {
            let run = &mut comparison.runs[at];
            run.k = None;
            if let Some(measures) = run.report.as_mut().map(|report| &mut report.measures) {
                (measures.k, measures.k_required) = (k, Some(k));
                let mut own = measures.lower_bound.clone();
                own.iter_mut().for_each(|own| own.gcp = bound.unwrap_or_default());
                measures.lower_bound = own.filter(|_| bound.is_some());
            }
        };
        of_run(&mut comparison, 0, 7, Some(0.2));
        of_run(&mut comparison, 1, 3, Some(0.1));
        assert_eq!(comparison.bound(None), Some(0.1));
        assert!(comparison.finds_k());
        let text = compare_terminal(&comparison);
        let first = comparison.runs[0].method.clone();
        assert!(text.contains(&format!("{first} hides each record among the most others")), "{text}");
        assert!(
            text.contains(" k ") && text.contains("7*") && !text.contains("keeps the most detail"),
            "{text}"
        );
        // Nothing is known of what a run without a requirement could lose.
        of_run(&mut comparison, 1, 1, None);
        assert_eq!(comparison.bound(None), None);
    }

    #[test]
    fn methods_keep_their_order_and_k_ascend() {
        let comparison = samples::comparison();
        assert_eq!(comparison.methods(), ["mondrian", "hilbert", "exact"]);
        assert_eq!(comparison.ks(), [Some(5), Some(10), Some(25)]);
    }
}
