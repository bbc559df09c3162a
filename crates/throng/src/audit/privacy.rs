//! The privacy that a release achieves.

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

use super::classes::Classes;
use super::{Columns, ExampleClass, Measures, QuasiIdentifierMeasure, SensitiveMeasure};
use crate::error::{Error, Result};
use crate::policy::{Diversity, Policy, Privacy};
use crate::privacy::{Closeness, Histogram, LDiversity, diversity};
use crate::problem::{Counted, Problem};
use crate::table::Table;

/// Measures k, l and t, lists what does not hold, and picks example classes.
pub(super) fn measure(
    measures: &mut Measures,
    problem: &Problem,
    policy: &Policy,
    release: &Table,
    columns: &Columns,
    classes: &Classes,
) -> Result<Vec<ExampleClass>> {
    measure_k(measures, problem, policy, release, columns, classes);
    let codes =
        problem.sensitive.iter().map(|counted| codes_of(counted, release)).collect::<Result<Vec<_>>>()?;
    for (counted, codes) in problem.sensitive.iter().zip(&codes) {
        measure_sensitive(measures, &policy.privacy, counted, codes, classes);
    }
    if let Some(class) = problem.classes.first() {
        let codes = codes_of(class, release)?;
        let minority = minority(class, &codes, classes) + measures.suppressed;
        measures.classification_metric = Some(minority as f64 / problem.len() as f64);
    }
    Ok(examples(problem, release, columns, classes, &codes))
}

fn measure_k(
    measures: &mut Measures,
    problem: &Problem,
    policy: &Policy,
    release: &Table,
    columns: &Columns,
    classes: &Classes,
) {
    measures.k = classes.smallest() as u64;
    measures.k_required = policy.privacy.k.map(|k| k as u64);
    if let Some(required) = measures.k_required
        && measures.k < required
    {
        measures
            .violations
            .push(format!("k = {required} is required, the smallest class has {} records", measures.k));
    }
    for named in &policy.privacy.quasi_identifiers {
        let parts = problem.attributes.iter().zip(&columns.of_attribute);
        let own: Vec<usize> = parts
            .filter(|(attribute, _)| named.attributes.contains(&attribute.name))
            .flat_map(|(_, columns)| columns.iter().copied())
            .collect();
        let (k, k_required) = (Classes::group(release, &own).smallest() as u64, named.k as u64);
        let attributes = named.attributes.clone();
        if k < k_required {
            let names = attributes.join(", ");
            measures.violations.push(format!("k = {k_required} is required on {names}, only {k} is reached"));
        }
        measures.quasi_identifiers.push(QuasiIdentifierMeasure { attributes, k_required, k });
    }
}

/// The release's values of a column as codes of the table's domain.
pub fn codes_of(counted: &Counted, release: &Table) -> Result<Vec<u32>> {
    let column = release.names().iter().position(|name| *name == counted.name).ok_or_else(|| {
        Error::input(format!("the release has no column \"{}\"", counted.name))
            .in_file(release.path())
            .for_attribute(&counted.name)
            .with_hint("is this a release of this table, under this policy?")
    })?;
    let codes = release
        .values(column)
        .iter()
        .enumerate()
        .map(|(entry, text)| {
            counted.domain.code(text).ok_or_else(|| {
                let error = Error::input("a published value does not occur in the table")
                    .with_hint("is this a release of this table, under this policy?");
                release.error_at(column, entry as u32, error)
            })
        })
        .collect::<Result<Vec<u32>>>()?;
    Ok(release.numbers(column).iter().map(|number| codes[*number as usize]).collect())
}

/// The worst class in every form of diversity.
#[derive(Clone, Copy)]
struct Worst {
    frequency: f64,
    distinct: usize,
    entropy: f64,
    distance: f64,
    holds: bool,
}

fn measure_sensitive(
    measures: &mut Measures,
    privacy: &Privacy,
    counted: &Counted,
    codes: &[u32],
    classes: &Classes,
) {
    let closeness = Closeness::new(privacy.t.unwrap_or(1.0), 0, counted);
    let model = privacy.l.map(|l| LDiversity { l, form: privacy.diversity, attribute: 0 });
    let best = Worst {
        frequency: f64::INFINITY,
        distinct: usize::MAX,
        entropy: f64::INFINITY,
        distance: 0.0,
        holds: true,
    };
    let worst = (0..classes.len())
        .into_par_iter()
        .with_min_len(64)
        .map_init(
            || Histogram::new(counted.domain.len()),
            |histogram, class| {
                histogram.clear();
                classes.rows(class).iter().for_each(|row| histogram.add(codes[*row as usize]));
                Worst {
                    frequency: diversity::frequency(histogram),
                    distinct: diversity::distinct(histogram),
                    entropy: diversity::entropy(histogram),
                    distance: closeness.distance(histogram),
                    holds: model.is_none_or(|model| model.holds_for(histogram)),
                }
            },
        )
        .reduce(|| best, Worst::and);
    let l_achieved = match privacy.diversity {
        Diversity::Frequency => Some(worst.frequency),
        Diversity::Distinct => Some(worst.distinct as f64),
        Diversity::Entropy => Some(worst.entropy.exp()),
        Diversity::Recursive { .. } => privacy.l.filter(|_| worst.holds),
    };
    measures.l = l_achieved.map(|achieved| measures.l.map_or(achieved, |least| least.min(achieved)));
    measures.l_required = privacy.l;
    measures.diversity = Some(privacy.diversity.name());
    measures.t = Some(measures.t.unwrap_or(0.0).max(worst.distance));
    measures.t_required = privacy.t;
    if let Some(l) = privacy.l.filter(|_| !worst.holds) {
        let form = privacy.diversity.name();
        measures
            .violations
            .push(format!("l = {l} ({form}) is required on {}, a class falls short", counted.name));
    }
    if let Some(t) = privacy.t.filter(|t| worst.distance > *t + 1e-9) {
        measures
            .violations
            .push(format!("t = {t} is required on {}, a class has {:.4}", counted.name, worst.distance));
    }
    measures.sensitive.push(SensitiveMeasure {
        attribute: counted.name.clone(),
        l_frequency: worst.frequency,
        l_distinct: worst.distinct as u64,
        l_entropy: worst.entropy.exp(),
        t: worst.distance,
    });
}

impl Worst {
    fn and(self, other: Self) -> Self {
        Worst {
            frequency: self.frequency.min(other.frequency),
            distinct: self.distinct.min(other.distinct),
            entropy: self.entropy.min(other.entropy),
            distance: self.distance.max(other.distance),
            holds: self.holds && other.holds,
        }
    }
}

/// Records whose class label is not the most frequent of their class.
fn minority(counted: &Counted, codes: &[u32], classes: &Classes) -> u64 {
    let mut histogram = Histogram::new(counted.domain.len());
    (0..classes.len())
        .map(|class| {
            histogram.clear();
            classes.rows(class).iter().for_each(|row| histogram.add(codes[*row as usize]));
            let most = histogram.present().map(|(_, count)| u64::from(count)).max().unwrap_or(0);
            classes.size(class) as u64 - most
        })
        .sum()
}

const EXAMPLES: usize = 10;

/// Classes spread evenly over all sizes.
fn examples(
    problem: &Problem,
    release: &Table,
    columns: &Columns,
    classes: &Classes,
    sensitive: &[Vec<u32>],
) -> Vec<ExampleClass> {
    let mut by_size: Vec<usize> = (0..classes.len()).collect();
    by_size.sort_by_key(|class| (classes.size(*class), classes.first_row(*class)));
    let count = EXAMPLES.min(by_size.len());
    let texts: Vec<Vec<&str>> = columns.all().into_iter().map(|column| release.values(column)).collect();
    let numbers: Vec<&[u32]> = columns.all().into_iter().map(|column| release.numbers(column)).collect();
    (0..count)
        .map(|nth| {
            let class = by_size[nth * (by_size.len() - 1) / (count - 1).max(1)];
            let row = classes.first_row(class);
            let cell = |(texts, numbers): (&Vec<&str>, &&[u32])| texts[numbers[row] as usize].to_owned();
            ExampleClass {
                size: classes.size(class) as u64,
                cells: join_bounds(columns, texts.iter().zip(&numbers).map(cell).collect()),
                sensitive: problem
                    .sensitive
                    .iter()
                    .zip(sensitive)
                    .map(|(counted, codes)| value_counts(counted, codes, classes.rows(class)))
                    .collect(),
            }
        })
        .collect()
}

/// One cell per attribute, bounds written as a range.
fn join_bounds(columns: &Columns, cells: Vec<String>) -> Vec<String> {
    let mut cells = cells.into_iter();
    columns
        .of_attribute
        .iter()
        .map(|own| cells.by_ref().take(own.len()).collect::<Vec<_>>().join(" – "))
        .collect()
}

fn value_counts(counted: &Counted, codes: &[u32], rows: &[u32]) -> Vec<(String, u64)> {
    let mut histogram = Histogram::new(counted.domain.len());
    rows.iter().for_each(|row| histogram.add(codes[*row as usize]));
    let mut counts: Vec<(u32, u32)> = histogram.present().collect();
    counts.sort_unstable_by_key(|(value, count)| (std::cmp::Reverse(*count), *value));
    counts
        .into_iter()
        .map(|(value, count)| (counted.domain.label(value).to_owned(), u64::from(count)))
        .collect()
}
