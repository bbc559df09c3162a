//! The privacy that a release achieves.

use super::{Columns, ExactCells, ExampleClass, Measures, QuasiIdentifierMeasure, SensitiveMeasure};
use crate::classes::Classes;
use crate::error::{Error, ErrorCode, Result};
use crate::parallel;
use crate::policy::Policy;
use crate::privacy::{Achieved, Closeness, Figure, Histogram, diversity};
use crate::problem::Protected;
use crate::published::Published;
use crate::table::Table;

/// Measures all that the policy asks for, and what is told of every release.
pub(super) fn measure(measures: &mut Measures, policy: &Policy, published: &Published<'_>) -> Result<()> {
    let (problem, privacy) = (published.data, &policy.privacy);
    measures.requirements = privacy.measure(published)?;
    if problem.whole_len() == 0 {
        // Of a table without rows nothing can be told, and nothing is measured.
        measures.requirements.iter_mut().for_each(Achieved::of_nobody);
    }
    let violations = measures.requirements.iter().flat_map(|one| &one.violations);
    measures.violations.extend(violations.cloned());
    measures.k = published.sizes().min().unwrap_or(0) as u64;
    measures.k_required = privacy.k().map(|k| k as u64);
    measures.quasi_identifiers = privacy
        .quasi_identifiers()
        .iter()
        .zip(measures.requirements.iter().filter(|one| one.key == "quasi_identifiers"))
        .map(|(named, achieved)| QuasiIdentifierMeasure {
            attributes: named.names().to_vec(),
            k_required: named.k as u64,
            k: achieved.reached.map_or(0.0, Figure::value) as u64,
        })
        .collect();
    if !problem.sensitive.is_empty() {
        (measures.l, measures.l_required) = (measures.reached("l"), privacy.l());
        measures.diversity = Some(privacy.diversity().name().into());
        (measures.t, measures.t_required) = (measures.reached("t"), privacy.t());
    }
    measures.sensitive = (0..problem.sensitive.len()).map(|at| sensitive(published, at)).collect();
    if let Some(class) = problem.labels.first() {
        let codes = codes_of(class, published.table)?;
        let minority = minority(class, &codes, published.classes) + measures.suppressed;
        measures.classification_metric =
            (problem.whole_len() > 0).then(|| minority as f64 / problem.whole_len() as f64);
    }
    Ok(())
}

/// What holds of a release by permutation: its rows are told apart by exact cells, and groups hide sensitive values only.
pub(super) fn permuted(measures: &mut Measures, exact: &Classes) {
    let alone = (0..exact.len()).filter(|class| exact.size(*class) == 1).count();
    measures.exact_cells = Some(ExactCells { k: exact.smallest() as u64, unique_rows: alone as u64 });
    for one in measures.requirements.iter_mut().filter(|one| one.key == "k") {
        one.name = "records per group".to_owned();
        one.meaning = "the fewest records among which nobody can tell whose a sensitive value is; their quasi-identifiers \
                       are published exactly and hide nobody"
            .to_owned();
    }
}

/// The release's values of a column as codes of the table's domain.
pub fn codes_of(counted: &Protected, release: &Table) -> Result<Vec<u32>> {
    let column = release.names().iter().position(|name| *name == counted.name).ok_or_else(|| {
        Error::new(ErrorCode::UnknownColumn, format!("the release has no column \"{}\"", counted.name))
            .in_file(release.origin())
            .for_attribute(&counted.name)
            .with_hint("is this a release of this table, under this policy?")
    })?;
    let codes = release
        .values(column)
        .iter()
        .enumerate()
        .map(|(entry, text)| {
            counted.domain.code(text).ok_or_else(|| {
                let error =
                    Error::new(ErrorCode::NotThisRelease, "a published value does not occur in the table")
                        .with_hint("is this a release of this table, under this policy?");
                release.error_at(column, entry as u32, error)
            })
        })
        .collect::<Result<Vec<u32>>>()?;
    let numbers = release.numbers(column);
    Ok(parallel::fill(numbers.len(), parallel::FEW_STEPS, |row| codes[numbers[row] as usize]))
}

/// The worst class in every form of diversity.
fn sensitive(published: &Published<'_>, at: usize) -> SensitiveMeasure {
    let counted = &published.data.sensitive[at];
    let closeness = Closeness::new(1.0, 0, counted);
    let of = |counts: &Histogram| Worst {
        frequency: diversity::frequency(counts),
        distinct: diversity::distinct(counts),
        entropy: diversity::entropy(counts),
        distance: closeness.distance(counts),
    };
    let worst = published.over_classes(at, Worst::NONE, of, Worst::and);
    SensitiveMeasure {
        attribute: counted.name.clone(),
        l_frequency: worst.frequency,
        l_distinct: if published.rows() == 0 { 0 } else { worst.distinct as u64 },
        l_entropy: worst.entropy.exp(),
        t: worst.distance,
        told_share: told(published, at) as f64 / (published.rows().max(1)) as f64,
    }
}

/// Rows of classes in which all rows have the same value, whosever they are.
fn told(published: &Published<'_>, at: usize) -> u64 {
    let (classes, codes) = (published.classes, &published.sensitive[at]);
    let tells = |class: &usize| {
        let first = codes[classes.first_row(*class)];
        classes.rows(*class).iter().all(|row| codes[*row as usize] == first)
    };
    (0..classes.len()).filter(tells).map(|class| classes.size(class) as u64).sum()
}

#[derive(Clone, Copy)]
struct Worst {
    frequency: f64,
    distinct: usize,
    entropy: f64,
    distance: f64,
}

impl Worst {
    const NONE: Worst =
        Worst { frequency: f64::INFINITY, distinct: usize::MAX, entropy: f64::INFINITY, distance: 0.0 };

    fn and(self, other: Self) -> Self {
        Worst {
            frequency: self.frequency.min(other.frequency),
            distinct: self.distinct.min(other.distinct),
            entropy: self.entropy.min(other.entropy),
            distance: self.distance.max(other.distance),
        }
    }
}

/// Records whose class label is not the most frequent of their class.
fn minority(counted: &Protected, codes: &[u32], classes: &Classes) -> u64 {
    let of_ranges = parallel::ranges(classes.len(), 256, |range| {
        let (mut histogram, mut minority) = (Histogram::new(counted.domain.len()), 0);
        for class in range {
            histogram.clear();
            classes.rows(class).iter().for_each(|row| histogram.add(codes[*row as usize]));
            let most = histogram.present().map(|(_, count)| u64::from(count)).max().unwrap_or(0);
            minority += classes.size(class) as u64 - most;
        }
        minority
    });
    of_ranges.into_iter().sum()
}

const EXAMPLES: usize = 10;

/// Classes spread evenly over all sizes.
pub(super) fn examples(published: &Published<'_>, columns: &Columns) -> Vec<ExampleClass> {
    let Published { data, table: release, classes, sensitive, .. } = *published;
    let key = |class: usize| (classes.size(class) as u32, classes.first_row(class) as u32, class as u32);
    let mut by_size: Vec<(u32, u32, u32)> = (0..classes.len()).map(key).collect();
    by_size.sort_unstable();
    let count = EXAMPLES.min(by_size.len());
    let texts: Vec<Vec<&str>> = columns.all().into_iter().map(|column| release.values(column)).collect();
    let numbers: Vec<&[u32]> = columns.all().into_iter().map(|column| release.numbers(column)).collect();
    (0..count)
        .map(|nth| {
            let class = by_size[nth * (by_size.len() - 1) / (count - 1).max(1)].2 as usize;
            let row = classes.first_row(class);
            let cell = |(texts, numbers): (&Vec<&str>, &&[u32])| texts[numbers[row] as usize].to_owned();
            ExampleClass {
                size: classes.size(class) as u64,
                cells: join_bounds(columns, texts.iter().zip(&numbers).map(cell).collect()),
                sensitive: data
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

fn value_counts(counted: &Protected, codes: &[u32], rows: &[u32]) -> Vec<(String, u64)> {
    let mut histogram = Histogram::new(counted.domain.len());
    rows.iter().for_each(|row| histogram.add(codes[*row as usize]));
    let counts = histogram.most_frequent_first();
    counts
        .into_iter()
        .map(|(value, count)| (counted.domain.label(value).to_owned(), u64::from(count)))
        .collect()
}
