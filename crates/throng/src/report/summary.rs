//! What a release achieves in words: the headline, and what was asked for beside what was achieved.
//!
//! The page and the terminal tell the same sentences, so they are made here once.

use super::number::{at_least, at_most, count, counted, figure, percent, share, whole_percent};
use super::text::listing;
use crate::audit::{LowerBound, Measures};
use crate::privacy::{Achieved, Bound, Figure};

/// Whether a requirement holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It was asked for and holds.
    Met,
    /// It was asked for and does not hold.
    NotMet,
    /// It was not asked for.
    Measured,
}

impl Verdict {
    /// The mark that readers see.
    pub(super) fn mark(self) -> &'static str {
        match self {
            Verdict::Met => "✓ met",
            Verdict::NotMet => "✗ not met",
            Verdict::Measured => "measured",
        }
    }

    /// Its class in the style sheet.
    pub(super) fn class(self) -> &'static str {
        match self {
            Verdict::Met => "met",
            Verdict::NotMet => "not-met",
            Verdict::Measured => "measured",
        }
    }
}

/// One thing that was asked for, or measured without being asked for.
#[derive(Clone, Debug)]
pub(super) struct Requirement {
    /// Its name: `k-anonymity`, `l-diversity (entropy)`.
    pub(super) name: String,
    /// What it means, in plain words.
    pub(super) meaning: String,
    /// What was asked for, if anything.
    pub(super) asked: Option<String>,
    /// What was achieved.
    pub(super) achieved: String,
    /// Whether it holds.
    pub(super) verdict: Verdict,
}

/// What was asked for beside what was achieved.
pub(super) fn requirements(measures: &Measures) -> Vec<Requirement> {
    measures.requirements.iter().map(told).collect()
}

fn told(one: &Achieved) -> Requirement {
    let name = match one.attributes.is_empty() {
        true => one.name.clone(),
        false => format!("{} on {}", one.name, listing(&one.attributes)),
    };
    Requirement {
        name,
        meaning: one.meaning.clone(),
        asked: one.asked.map(|asked| asked_words(one.bound, asked)),
        achieved: one
            .reached
            .map_or_else(|| "not measured".to_owned(), |reached| reached_words(one.bound, reached)),
        verdict: match one.holds {
            None => Verdict::Measured,
            Some(true) => Verdict::Met,
            Some(false) => Verdict::NotMet,
        },
    }
}

fn asked_words(bound: Bound, asked: Figure) -> String {
    let figure = match asked {
        Figure::Count(number) => count(number),
        Figure::Number(number) => figure(number),
    };
    match bound {
        Bound::AtLeast => format!("≥ {figure}"),
        Bound::AtMost => format!("≤ {figure}"),
    }
}

/// Rounded so that it never reads better than it is.
fn reached_words(bound: Bound, reached: Figure) -> String {
    match (bound, reached) {
        (_, Figure::Count(number)) => count(number),
        (Bound::AtLeast, Figure::Number(number)) => at_least(number),
        (Bound::AtMost, Figure::Number(number)) => at_most(number),
    }
}

/// Whether everything that was asked for holds.
pub(super) fn verdict(measures: &Measures) -> Verdict {
    let verdicts: Vec<Verdict> = requirements(measures).iter().map(|one| one.verdict).collect();
    if !measures.violations.is_empty() || verdicts.contains(&Verdict::NotMet) {
        Verdict::NotMet
    } else if verdicts.contains(&Verdict::Met) {
        Verdict::Met
    } else {
        Verdict::Measured
    }
}

/// The verdict as a heading.
pub(super) fn verdict_heading(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Met => "The requirement is met",
        Verdict::NotMet => "The requirement is not met",
        Verdict::Measured => "Measured; the policy asks for nothing that a release could miss",
    }
}

/// The release in one or two sentences that need no knowledge of privacy models.
pub(super) fn headline(measures: &Measures) -> String {
    if measures.rows_published == 0 {
        return "The release holds no records.".to_owned();
    }
    let mut sentence = format!("{}; {}.", protection(measures), detail(measures.gcp));
    if measures.suppressed > 0 {
        let of = count(measures.rows_in);
        let (number, were) =
            (count(measures.suppressed), if measures.suppressed == 1 { "was" } else { "were" });
        sentence += &format!(" {number} of {of} records {were} left out.");
    }
    sentence
}

fn protection(measures: &Measures) -> String {
    let anonymity = match measures.k {
        0 | 1 => "Some records can be told apart from all others by their quasi-identifiers".to_owned(),
        k => format!(
            "Every record is indistinguishable from at least {} by its quasi-identifiers",
            counted(k - 1, "other", "others")
        ),
    };
    match most_certain_inference(measures) {
        Some(most) => {
            format!("{anonymity}, and no sensitive value is shared by more than {most} of any group")
        }
        None => anonymity,
    }
}

/// Figures that are equal on paper may differ in the last bits.
const TOLERANCE: f64 = 1e-9;

/// The greatest share of one sensitive value in a class, where the measured form of l says so.
fn most_certain_inference(measures: &Measures) -> Option<String> {
    let l = measures.l.filter(|l| l.is_finite() && *l > 1.0)?;
    let frequency = measures.diversity.as_ref().is_none_or(|form| form == "frequency");
    frequency.then(|| format!("{:.0} %", (100.0 / l - TOLERANCE).ceil()))
}

fn detail(gcp: f64) -> String {
    match 1.0 - gcp {
        kept if !kept.is_finite() => "how much detail it keeps is not known".to_owned(),
        kept if kept >= 1.0 => "the release keeps all of the detail".to_owned(),
        kept if kept <= 0.0 => "the release keeps none of the detail".to_owned(),
        kept => format!("the release keeps {} of the detail", whole_percent(kept)),
    }
}

/// The lower bound with what is known about its accuracy: `0.0892 (95 % interval 0.0870 to 0.0914, …)`.
pub(super) fn bound_words(bound: &LowerBound) -> String {
    match bound.interval {
        Some((low, high)) => format!(
            "95 % interval {} to {}, estimated from {}",
            share(low),
            share(high),
            counted(bound.records, "record", "records")
        ),
        None => format!("computed from {}", counted(bound.records, "record", "records")),
    }
}

/// What the gap between the GCP and its lower bound means.
pub(super) fn gap_words(gap: f64) -> String {
    if gap <= 0.0 {
        return "no generalization can lose less".to_owned();
    }
    format!("at most {} of the loss could be saved by a better method", percent(gap))
}

/// The mean class size, if there are classes.
pub(super) fn mean_class_size(measures: &Measures) -> Option<f64> {
    (measures.classes > 0).then(|| measures.rows_published as f64 / measures.classes as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn k(asked: Option<u64>, reached: u64) -> Achieved {
        let achieved = Achieved::at_least("k", "k-anonymity", "").reached(Figure::Count(reached));
        let Some(asked) = asked else { return achieved };
        let violation = (reached < asked).then(|| "too small".to_owned());
        achieved.asked(Figure::Count(asked), violation.into_iter().collect())
    }

    fn measures(k: u64, gcp: f64) -> Measures {
        Measures { rows_in: 100, rows_published: 100, k, gcp, classes: 8, ..Measures::default() }
    }

    fn asked(requirements: Vec<Achieved>) -> Measures {
        Measures { requirements, ..measures(10, 0.1) }
    }

    #[test]
    fn the_headline_says_how_many_others_and_how_much_detail() {
        assert_eq!(
            headline(&measures(10, 0.1363)),
            "Every record is indistinguishable from at least 9 others by its quasi-identifiers; \
             the release keeps 86 % of the detail."
        );
        assert!(headline(&measures(2, 0.0)).contains("at least 1 other by"));
        assert!(headline(&measures(1, 0.0)).starts_with("Some records can be told apart"));
        assert!(headline(&measures(1, 0.0)).contains("keeps all of the detail"));
        assert!(headline(&measures(10, 1.0)).contains("keeps none of the detail"));
        assert!(!headline(&measures(10, f64::NAN)).contains("NaN"));
    }

    #[test]
    fn suppressed_records_and_sensitive_shares_are_told() {
        let told = headline(&Measures { suppressed: 3, l: Some(3.0), ..measures(10, 0.5) });
        assert!(told.contains("3 of 100 records were left out"), "{told}");
        assert!(told.contains("more than 34 % of any group"), "{told}");
        let distinct =
            headline(&Measures { l: Some(3.0), diversity: Some("distinct".into()), ..measures(10, 0.5) });
        assert!(!distinct.contains("sensitive"), "{distinct}");
    }

    #[test]
    fn a_missed_level_is_not_met_and_an_unasked_one_is_measured() {
        assert_eq!(verdict(&asked(vec![k(Some(10), 10)])), Verdict::Met);
        assert_eq!(verdict(&asked(vec![k(Some(10), 9)])), Verdict::NotMet);
        assert_eq!(verdict(&asked(vec![k(None, 9)])), Verdict::Measured);
        let other = Measures { violations: vec!["x".into()], ..asked(vec![k(Some(10), 10)]) };
        assert_eq!(verdict(&other), Verdict::NotMet);
        let far = |distance: f64| {
            let t = Achieved::at_most("t", "t-closeness", "").farthest(&[("s", distance)], Some(0.2));
            verdict(&asked(t.into_iter().collect()))
        };
        assert_eq!((far(0.2 + 1e-12), far(0.21)), (Verdict::Met, Verdict::NotMet));
    }

    #[test]
    fn what_is_asked_of_some_attributes_names_them() {
        let named = Achieved::at_least("quasi_identifiers", "k", "").of(&["a".to_owned(), "b".to_owned()]);
        let told =
            requirements(&asked(vec![named.reached(Figure::Count(4)).asked(Figure::Count(4), Vec::new())]));
        assert_eq!((told[0].name.as_str(), told[0].asked.as_deref()), ("k on a and b", Some("≥ 4")));
        assert_eq!(told[0].verdict, Verdict::Met);
    }

    #[test]
    fn figures_never_read_better_than_they_are() {
        assert_eq!(reached_words(Bound::AtLeast, Figure::Number(1.6666)), "1.66");
        assert_eq!(reached_words(Bound::AtMost, Figure::Number(0.30001)), "0.3001");
    }
}
