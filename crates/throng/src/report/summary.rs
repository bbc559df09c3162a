//! What a release achieves in words: the headline, and what was asked for beside what was achieved.
//!
//! The page and the terminal tell the same sentences, so they are made here once.

use super::number::{at_least, at_most, count, counted, figure, percent, share, whole_percent};
use super::text::listing;
use crate::audit::{LowerBound, Measures, QuasiIdentifierMeasure};

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

    fn of(asked: bool, holds: bool) -> Self {
        match (asked, holds) {
            (false, _) => Verdict::Measured,
            (true, true) => Verdict::Met,
            (true, false) => Verdict::NotMet,
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

/// What was asked for beside what was achieved: k, each named quasi-identifier, l and t.
pub(super) fn requirements(measures: &Measures) -> Vec<Requirement> {
    let named = measures.quasi_identifiers.iter().map(named_k);
    let overall =
        (measures.k_required.is_some() || measures.quasi_identifiers.is_empty()).then(|| overall_k(measures));
    overall.into_iter().chain(named).chain(diversity(measures)).chain(closeness(measures)).collect()
}

fn overall_k(measures: &Measures) -> Requirement {
    Requirement {
        name: "k-anonymity".to_owned(),
        meaning: "the fewest records that share all published quasi-identifiers".to_owned(),
        asked: measures.k_required.map(|k| format!("≥ {}", count(k))),
        achieved: count(measures.k),
        verdict: Verdict::of(
            measures.k_required.is_some(),
            measures.k_required.is_some_and(|k| measures.k >= k),
        ),
    }
}

fn named_k(quasi: &QuasiIdentifierMeasure) -> Requirement {
    let attributes = listing(&quasi.attributes);
    Requirement {
        name: format!("k on {attributes}"),
        meaning: format!("the fewest records that share {attributes} as published"),
        asked: Some(format!("≥ {}", count(quasi.k_required))),
        achieved: count(quasi.k),
        verdict: Verdict::of(true, quasi.k >= quasi.k_required),
    }
}

/// Figures that are equal on paper may differ in the last bits.
const TOLERANCE: f64 = 1e-9;

fn diversity(measures: &Measures) -> Option<Requirement> {
    let (achieved, asked) = (measures.l, measures.l_required);
    if achieved.is_none() && asked.is_none() {
        return None;
    }
    let holds = asked.zip(achieved).is_some_and(|(asked, achieved)| achieved >= asked - TOLERANCE);
    Some(Requirement {
        name: measures.diversity.map_or("l-diversity".to_owned(), |form| format!("l-diversity ({form})")),
        meaning: diversity_meaning(measures.diversity).to_owned(),
        asked: asked.map(|l| format!("≥ {}", figure(l))),
        achieved: achieved.map_or_else(|| "not measured".to_owned(), at_least),
        verdict: Verdict::of(asked.is_some(), holds),
    })
}

fn diversity_meaning(form: Option<&str>) -> &'static str {
    match form {
        Some("distinct") => "the fewest different sensitive values in a class",
        Some("entropy") => "how many equally frequent sensitive values the least varied class is worth",
        Some("recursive") => "no class is dominated by its few most frequent sensitive values",
        _ => "in no class is a sensitive value more frequent than 1 in l records",
    }
}

fn closeness(measures: &Measures) -> Option<Requirement> {
    let (achieved, asked) = (measures.t, measures.t_required);
    if achieved.is_none() && asked.is_none() {
        return None;
    }
    let holds = asked.zip(achieved).is_some_and(|(asked, achieved)| achieved <= asked + TOLERANCE);
    Some(Requirement {
        name: "t-closeness".to_owned(),
        meaning: "how far a class's sensitive values are from those of the whole table".to_owned(),
        asked: asked.map(|t| format!("≤ {}", figure(t))),
        achieved: achieved.map_or_else(|| "not measured".to_owned(), at_most),
        verdict: Verdict::of(asked.is_some(), holds),
    })
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
        Verdict::Measured => "Measured; the policy asks for no level of k, l or t",
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

/// The greatest share of one sensitive value in a class, where the measured form of l says so.
fn most_certain_inference(measures: &Measures) -> Option<String> {
    let l = measures.l.filter(|l| l.is_finite() && *l > 1.0)?;
    let frequency = measures.diversity.is_none_or(|form| form == "frequency");
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

    fn measures(k: u64, gcp: f64) -> Measures {
        Measures {
            rows_in: 100,
            rows_published: 100,
            k,
            gcp,
            k_required: Some(10),
            classes: 8,
            ..Measures::default()
        }
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
        let distinct = headline(&Measures { l: Some(3.0), diversity: Some("distinct"), ..measures(10, 0.5) });
        assert!(!distinct.contains("sensitive"), "{distinct}");
    }

    #[test]
    fn a_missed_level_is_not_met_and_an_unasked_one_is_measured() {
        assert_eq!(verdict(&measures(10, 0.1)), Verdict::Met);
        assert_eq!(verdict(&measures(9, 0.1)), Verdict::NotMet);
        assert_eq!(verdict(&Measures { k_required: None, ..measures(9, 0.1) }), Verdict::Measured);
        assert_eq!(verdict(&Measures { violations: vec!["x".into()], ..measures(10, 0.1) }), Verdict::NotMet);
        assert_eq!(verdict(&Measures { l_required: Some(2.0), ..measures(10, 0.1) }), Verdict::NotMet);
        let close = Measures { t: Some(0.2 + 1e-12), t_required: Some(0.2), ..measures(10, 0.1) };
        assert_eq!(verdict(&close), Verdict::Met);
        let far = Measures { t: Some(0.21), ..close };
        assert_eq!(verdict(&far), Verdict::NotMet);
    }

    #[test]
    fn each_named_quasi_identifier_has_its_own_line() {
        let quasi = |k| QuasiIdentifierMeasure { attributes: vec!["a".into(), "b".into()], k_required: 4, k };
        let both = Measures { quasi_identifiers: vec![quasi(4), quasi(3)], ..measures(10, 0.1) };
        let told = requirements(&both);
        assert_eq!(told.len(), 3);
        assert_eq!(told[1].name, "k on a and b");
        assert_eq!((told[1].verdict, told[2].verdict), (Verdict::Met, Verdict::NotMet));
    }
}
