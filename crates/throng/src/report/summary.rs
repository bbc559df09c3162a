//! What a release achieves in words: the headline, and what was asked for beside what was achieved.
//!
//! The page and the terminal tell the same sentences, so they are made here once.

use super::number::{at_least, at_most, count, counted, figure, percent, whole_percent};
use super::people;
use super::text::listing;
use crate::as_is::PublishedAsIs;
use crate::audit::{
    Compared, ExactCells, FormulaColumn, LowerBound, Measures, MidpointMeasure, Outlier, Truth,
};
use crate::privacy::{About, Achieved, Bound, Figure};
use crate::release::RowOrder;

/// Whether a requirement holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It was asked for and holds.
    Met,
    /// It was asked for and does not hold.
    NotMet,
    /// It was asked for, and what is at hand does not show whether it holds.
    NotShown,
    /// It was not asked for.
    Measured,
}

impl Verdict {
    /// The mark that readers see.
    pub(super) fn mark(self) -> &'static str {
        match self {
            Verdict::Met => "✓ met",
            Verdict::NotMet => "✗ not met",
            Verdict::NotShown => "✗ not shown",
            Verdict::Measured => "measured",
        }
    }

    /// Its class in the style sheet.
    pub(super) fn class(self) -> &'static str {
        match self {
            Verdict::Met => "met",
            Verdict::NotMet | Verdict::NotShown => "not-met",
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
    let bound = measures.people.as_ref().is_some_and(|people| people.known_by == "bound");
    // A class with fewer rows than people are asked for is too small, whosever they are.
    let rows = measures.class_sizes.iter().map(|(size, _)| *size).min().unwrap_or(0);
    let open = |one: &Achieved| bound && one.asked.is_none_or(|asked| asked.value() <= rows as f64);
    measures.requirements.iter().map(|one| told(one, open(one))).collect()
}

/// `open` says that more may hold than what was found.
fn told(one: &Achieved, open: bool) -> Requirement {
    let name = match one.attributes.is_empty() {
        true => one.name.clone(),
        false => format!("{} on {}", one.name, listing(&one.attributes)),
    };
    Requirement {
        name,
        meaning: one.meaning.clone(),
        asked: one.asked.map(|asked| asked_words(one.bound, asked)),
        achieved: one.reached.map_or_else(
            || "not measured".to_owned(),
            |reached| match open && one.bound == Bound::AtLeast {
                true => format!("≥ {}", reached_words(one.bound, reached)),
                false => reached_words(one.bound, reached),
            },
        ),
        verdict: match one.holds {
            None => Verdict::Measured,
            Some(true) => Verdict::Met,
            Some(false) if open => Verdict::NotShown,
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
    let verdicts = verdicts(measures);
    if !measures.violations.is_empty() || verdicts.iter().any(|one| FAILED.contains(one)) {
        Verdict::NotMet
    } else if verdicts.contains(&Verdict::Met) {
        Verdict::Met
    } else {
        Verdict::Measured
    }
}

const FAILED: [Verdict; 2] = [Verdict::NotMet, Verdict::NotShown];

fn verdicts(measures: &Measures) -> Vec<Verdict> {
    requirements(measures).iter().map(|one| one.verdict).collect()
}

/// What is wrong with a release that does not pass, as a heading: a requirement that fails, one that is not shown, or something
/// else, such as a row that is not true.
fn failed_heading(measures: &Measures) -> &'static str {
    let verdicts = verdicts(measures);
    let of_requirements: usize = measures.requirements.iter().map(|one| one.violations.len()).sum();
    let others = measures.violations.len() > of_requirements;
    match (verdicts.contains(&Verdict::NotMet), verdicts.contains(&Verdict::NotShown)) {
        (true, _) => "The requirement is not met",
        (false, true) if !others => "These files do not show whether the requirement is met",
        (false, _) => "The release does not pass: see what is wrong below",
    }
}

/// A requirement that is met says little where more than this share of the rows is unique on what it does not look at.
const MANY: f64 = 0.05;

/// Whether so many rows are unique on all that is published that nobody should read no more than that a requirement is met.
pub(super) fn many_unique(measures: &Measures) -> bool {
    measures.published_as_is.unique_share > MANY
}

/// The verdict as a heading.
pub(super) fn verdict_heading(measures: &Measures) -> String {
    match verdict(measures) {
        Verdict::Met if many_unique(measures) => format!(
            "The requirement is met, but {} of the rows are unique",
            whole_percent(measures.published_as_is.unique_share)
        ),
        Verdict::Met => "The requirement is met".to_owned(),
        Verdict::NotMet | Verdict::NotShown => failed_heading(measures).to_owned(),
        Verdict::Measured => "Measured; the policy asks for nothing that a release could miss".to_owned(),
    }
}

/// The release in one or two sentences that need no knowledge of privacy models.
pub(super) fn headline(measures: &Measures) -> String {
    if measures.rows_published == 0 {
        return "The release holds no records.".to_owned();
    }
    let mut sentence = format!("{}; {}.", protection(measures), detail(measures));
    sentence += &as_is_words(&measures.published_as_is, "rows", "are published");
    sentence += &told_words(measures);
    if let Some(followed) = measures.people.as_ref().and_then(people::followed) {
        sentence += &format!(" {followed}");
    }
    if measures.suppressed > 0 {
        let of = count(measures.rows_in);
        let (number, were) =
            (count(measures.suppressed), if measures.suppressed == 1 { "was" } else { "were" });
        sentence += &format!(" {number} of {of} records {were} left out.");
    }
    sentence
}

/// What is published beside the quasi-identifiers, in the same breath as what they hide.
pub(super) fn as_is_words(as_is: &PublishedAsIs, rows: &str, published: &str) -> String {
    let unique = match as_is.unique_rows {
        0 => format!("none of the {rows} is unique"),
        _ => format!("{} of the {rows} are unique", whole_percent(as_is.unique_share)),
    };
    match as_is.columns.len() {
        0 => String::new(),
        1 => {
            let published = published.replace("are ", "is ");
            format!(" 1 further column {published} as it is; with it {unique}.")
        }
        columns => {
            format!(" {} further columns {published} as they are; with them {unique}.", count(columns as u64))
        }
    }
}

fn protection(measures: &Measures) -> String {
    if let Some(exact) = measures.exact_cells {
        return permuted_words(measures, exact);
    }
    let anonymity = match measures.k {
        0 | 1 => "Some records can be told apart from all others by their quasi-identifiers".to_owned(),
        k => format!(
            "Every record is indistinguishable {} by its quasi-identifiers{}",
            people::others(measures.people.as_ref(), k - 1),
            if k < LEAST_K { ", which is weak protection" } else { "" }
        ),
    };
    match most_certain_inference(measures) {
        Some(most) => {
            format!("{anonymity}, and no sensitive value is shared by more than {most} of any group")
        }
        None => anonymity,
    }
}

/// With fewer, one person of a class may be enough to recognise the other.
const LEAST_K: u64 = 3;

/// What holds of a release by permutation, where quasi-identifiers hide nobody.
fn permuted_words(measures: &Measures, exact: ExactCells) -> String {
    let apart = match exact.unique_rows {
        0 => format!(
            "each record shares them with at least {}",
            counted(exact.k.saturating_sub(1), "other", "others")
        ),
        rows => format!(
            "{} of {} can be told apart from all others by them",
            count(rows),
            counted(measures.rows_published, "record", "records")
        ),
    };
    let groups =
        format!("Whose a sensitive value is stays hidden in groups of at least {}", count(measures.k));
    let share = most_certain_inference(measures);
    let share = share
        .map_or(String::new(), |most| format!(", and no value is shared by more than {most} of any group"));
    format!("Quasi-identifiers are published exactly: {apart}. {groups}{share}")
}

/// What the classes of a release tell of sensitive values for certain, where nothing was asked for that would prevent it, or
/// where it was not prevented.
fn told_words(measures: &Measures) -> String {
    let protects = |one: &Achieved| one.about != About::Records && one.asked.is_some();
    let asked = measures.requirements.iter().any(protects);
    let told = measures.sensitive.iter().filter(|one| one.told_share > 0.0 || !asked);
    told.map(|one| match one.told_share {
        0.0 => format!(" No class tells the {} of its records for certain.", one.attribute),
        share => format!(
            " For {} of the rows the class tells the {}: all its records have the same.",
            whole_percent(share),
            one.attribute
        ),
    })
    .collect()
}

/// What was found by comparing a release with its table.
pub(super) fn truth_words(truth: &Truth, rows: u64) -> String {
    match (truth.compared, truth.unexplained) {
        (Compared::Order, _) => "every row says what the record in its place says".to_owned(),
        (Compared::Matching, 0) => "every row is explained by a record of its own of the table".to_owned(),
        (Compared::Bounds, 0) => {
            "no value is published more often than the table has it, and no row was found that no record \
                                  explains; too large to match every row with a record of its own"
                .to_owned()
        }
        (_, unexplained) => {
            format!("{} of {} rows are not explained by the table", count(unexplained), count(rows))
        }
    }
}

/// Numbers that stand for classes.
pub(super) fn midpoint_words(told: &MidpointMeasure) -> String {
    let names: Vec<String> = told.columns.iter().map(|name| format!("\"{name}\"")).collect();
    let hold = if names.len() == 1 { "holds" } else { "hold" };
    let means = told.columns.iter().any(|name| name.ends_with(".mean"));
    let known = match told.known_by.as_ref() {
        "run" => "the ranges of classes are not told; the loss is that of these ranges",
        "order" => "the ranges of classes are not told; the loss is that of the records in their places",
        _ => {
            "the ranges of classes are not told, and the files do not tell who is in a class: the loss is what it is at most"
        }
    };
    let warning = if means { "; a mean tells the sum of its class, and one far value moves it" } else { "" };
    format!(
        "{} {hold} one number for each class, which need not be anybody's value; {known}{warning}",
        names.join(", ")
    )
}

/// A published end of ranges that is one person's value.
pub(super) fn outlier_words(outlier: &Outlier, exact: bool) -> String {
    let (beyond, end) = if outlier.end == "top" { ("above", "top") } else { ("below", "bottom") };
    let (name, value) = (&outlier.attribute, &outlier.value);
    let published = match exact {
        true => format!("\"{name}\" is published exactly, also {value}"),
        false => format!("ranges of \"{name}\" end at {value}"),
    };
    format!(
        "{published}, the value of a single record far {beyond} all others; {end} = \"auto\" in its section would hide it"
    )
}

/// A column with cells that a spreadsheet would run.
pub(super) fn formula_words(found: &FormulaColumn) -> String {
    let what = match found.cells {
        0 => format!("the name of \"{}\"", found.column),
        cells => format!("{} of \"{}\"", counted(cells, "cell", "cells"), found.column),
    };
    format!(
        "{what} would be run by a spreadsheet as a formula; --escape-formulas makes it text with a ' before it"
    )
}

/// Figures that are equal on paper may differ in the last bits.
const TOLERANCE: f64 = 1e-9;

/// The greatest share of one sensitive value in a class, where the measured form of l says so.
fn most_certain_inference(measures: &Measures) -> Option<String> {
    let l = measures.l.filter(|l| l.is_finite() && *l > 1.0)?;
    let frequency = measures.diversity.as_ref().is_none_or(|form| form == "frequency");
    frequency.then(|| format!("{:.0} %", (100.0 / l - TOLERANCE).ceil()))
}

fn detail(measures: &Measures) -> String {
    let of_it = match measures.coarsened.is_empty() {
        true => "of the detail",
        false => "of the detail that the policy allows",
    };
    match 1.0 - measures.gcp {
        kept if !kept.is_finite() => "how much detail it keeps is not known".to_owned(),
        kept if kept >= 1.0 => format!("the release keeps all {of_it}"),
        _ if measures.loss_is_bound() => {
            "its medians or means do not tell ranges, so that nobody can tell how much detail it keeps"
                .to_owned()
        }
        kept if kept <= 0.0 => format!("the release keeps none {of_it}"),
        kept => format!("the release keeps {} {of_it}", whole_percent(kept)),
    }
}

/// What the lower bound says of a release, and how sure that is.
pub(super) fn bound_words(bound: &LowerBound, measures: &Measures) -> String {
    let with_it = bound.found_k.map_or_else(String::new, |k| format!(" with k = {}", count(k)));
    let least = match bound.interval {
        None => format!("no release under this policy{with_it} can lose less than {}", percent(bound.gcp)),
        Some((low, high)) => format!(
            "as estimated from {}, no release under this policy{with_it} can lose less than about {} (95 % interval {} to {})",
            counted(bound.records, "record", "records"),
            percent(bound.gcp),
            percent(low),
            percent(high),
        ),
    };
    let gap = match measures.gap.filter(|gap| gap.is_finite()) {
        Some(gap) if gap <= 0.0 => "; nothing could be saved".to_owned(),
        Some(gap) => format!(
            "; this one loses {}{}: within {}{}, the share of it that could be saved at most",
            if measures.loss_is_bound() { "at most " } else { "" },
            percent(measures.gcp),
            if bound.interval.is_some() { "about " } else { "" },
            percent(gap)
        ),
        None => String::new(),
    };
    let aside = match &bound.leaves_out[..] {
        [] => String::new(),
        parts => format!(
            "; what the policy asks for beside the sizes of classes ({}) may make the least possible loss larger",
            parts.join(", ")
        ),
    };
    format!("{least}{gap}{aside}")
}

/// Where the order of rows comes from.
pub(super) fn order_words(order: RowOrder) -> &'static str {
    match order {
        RowOrder::Random => "random, drawn afresh: nobody can repeat it, and the seed does not tell it",
        RowOrder::Keyed => "random, drawn from your secret: whoever has the secret can undo it",
        RowOrder::Kept => "that of the table: a row's place tells whose it is",
    }
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
        let coarsened = Measures { coarsened: vec!["zip".to_owned()], ..measures(4, 0.0) };
        assert!(headline(&coarsened).contains("keeps all of the detail that the policy allows"));
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
        assert!(verdict_heading(&other).starts_with("The release does not pass"));
        let far = |distance: f64| {
            let t = Achieved::at_most("t", "t-closeness", "").farthest(&[("s", distance)], Some(0.2));
            verdict(&asked(t.into_iter().collect()))
        };
        assert_eq!((far(0.2 + 1e-12), far(0.21)), (Verdict::Met, Verdict::NotMet));
    }

    #[test]
    fn a_met_requirement_does_not_hide_unique_rows() {
        let with = |unique_share: f64| {
            let published_as_is = PublishedAsIs { unique_share, ..PublishedAsIs::default() };
            verdict_heading(&Measures { published_as_is, ..asked(vec![k(Some(10), 10)]) })
        };
        assert_eq!(with(0.05), "The requirement is met");
        assert_eq!(with(0.4), "The requirement is met, but 40 % of the rows are unique");
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
