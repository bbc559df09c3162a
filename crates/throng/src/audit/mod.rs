//! What a published file achieves, measured from the files and the policy alone.
//!
//! The audit trusts no method: it reads the published cells back, groups rows by literal equality of their
//! cells, and measures privacy and loss from what the cells say. It shares the table's domains with the methods
//! (they come from the table and the policy), nothing else.

mod distribution;
mod meaning;
mod measures;
pub(crate) mod permutation;
mod privacy;
mod rules;

use std::path::Path;

pub use measures::{
    Bin, Distribution, ExampleClass, LowerBound, Measures, QuasiIdentifierMeasure, RuleMeasure,
    SensitiveMeasure,
};
pub use privacy::codes_of;

use crate::classes::Classes;
use crate::error::{Error, Result};
use crate::loss::bound;
use crate::policy::{Policy, Role};
use crate::problem::Problem;
use crate::published::Published;
pub use crate::published::{Cell, Cells};
use crate::release::permutation::GROUP;
use crate::table::{Reading, Storage, Table};
use crate::watch::Watch;

/// What an audit finds.
#[derive(Clone, Debug)]
pub struct Findings {
    /// The figures.
    pub measures: Measures,
    /// Each quasi-identifier before and after.
    pub distributions: Vec<Distribution>,
    /// Ten classes as published, from the smallest to the largest.
    pub examples: Vec<ExampleClass>,
}

/// Measures a release. `problem` is the table under the policy; `release` is read from its file.
pub fn audit(problem: &Problem, policy: &Policy, release: &Path, watch: &dyn Watch) -> Result<Findings> {
    let mut findings = audit_cells(problem, policy, release, watch)?;
    if !findings.measures.permuted {
        findings.measures.set_lower_bound(lower_bound(problem, policy, watch)?);
    }
    Ok(findings)
}

/// The bound on the loss of every release under a policy, where its requirement asks for classes at all.
pub(crate) fn lower_bound(
    problem: &Problem,
    policy: &Policy,
    watch: &dyn Watch,
) -> Result<Option<LowerBound>> {
    let needed = problem.requirement.smallest_combination() > 1;
    needed.then(|| bound::lower_bound(problem, policy.privacy.l(), watch)).transpose()
}

/// Measures a release but for the lower bound, which does not depend on it.
pub(crate) fn audit_cells(
    problem: &Problem,
    policy: &Policy,
    release: &Path,
    watch: &dyn Watch,
) -> Result<Findings> {
    let table = read_release(problem, policy, release, watch)?;
    watch.stage("auditing", None);
    let columns = release_columns(problem, &table)?;
    let cells = Cells::of_columns(problem, policy, &table, &columns)?;
    let permuted = permutation::read_groups(problem, policy, &table, watch)?;
    let classes = match &permuted {
        Some(permuted) => permuted.groups(&table),
        None => Classes::group(&table, &columns.all()),
    };
    watch.check()?;
    let mut measures = Measures {
        rows_in: problem.len() as u64,
        rows_dropped: problem.dropped as u64,
        rows_published: table.len() as u64,
        suppressed: (problem.len() as u64).saturating_sub(table.len() as u64),
        classes: classes.len() as u64,
        class_sizes: classes.size_counts(),
        violations: identifier_violations(policy, &table),
        ..Measures::default()
    };
    if table.len() > problem.len() {
        measures.violations.push("the release has more records than the table".to_owned());
    }
    if measures.suppressed > problem.suppressible as u64 {
        measures.violations.push(format!(
            "the policy allows {} suppressed records, {} are not in the release",
            problem.suppressible, measures.suppressed
        ));
    }
    measure_loss(&mut measures, problem, policy, &cells, &classes);
    let codes = match &permuted {
        Some(permuted) => vec![permuted.deal(&table, &classes, &mut measures)],
        None => problem.sensitive.iter().map(|counted| codes_of(counted, &table)).collect::<Result<_>>()?,
    };
    let published = Published {
        problem,
        table: &table,
        columns: &columns.of_attribute,
        cells: &cells,
        missing: &policy.missing,
        classes: &classes,
        sensitive: &codes,
        suppressed: measures.suppressed,
        gcp: measures.gcp,
        greatest_loss: measures.maximum_ncp,
    };
    rules::measure(&mut measures, &published);
    privacy::measure(&mut measures, policy, &published)?;
    let mut examples = privacy::examples(&published, &columns);
    let distributions = match permuted {
        Some(_) => {
            // Rows of a group differ, so none stands for all of them.
            examples.clear();
            distribution::distributions(problem, &cells, &Classes::group(&table, &columns.all()))
        }
        None => distribution::distributions(problem, &cells, &classes),
    };
    Ok(Findings { measures, distributions, examples })
}

/// The release's columns of each quasi-identifier: one, or two where bounds were published.
struct Columns {
    of_attribute: Vec<Vec<usize>>,
}

impl Columns {
    fn all(&self) -> Vec<usize> {
        self.of_attribute.concat()
    }
}

fn read_release(problem: &Problem, policy: &Policy, release: &Path, watch: &dyn Watch) -> Result<Table> {
    let wanted = |name: &str| {
        let quasi = problem.attributes.iter().any(|attribute| {
            name == attribute.name || bounds(&attribute.name).iter().any(|bound| bound == name)
        });
        quasi
            || name == GROUP
            || problem.sensitive.iter().chain(&problem.classes).any(|counted| counted.name == name)
    };
    let plan = |names: &[String]| {
        Ok(names.iter().map(|name| if wanted(name) { Storage::Coded } else { Storage::Skip }).collect())
    };
    let missing = policy.missing.first().map_or("", String::as_str);
    Table::read(&Reading { path: release, missing, plan: &plan, watch })
}

fn bounds(name: &str) -> [String; 2] {
    [format!("{name}.min"), format!("{name}.max")]
}

fn release_columns(problem: &Problem, release: &Table) -> Result<Columns> {
    let find = |name: &str| release.names().iter().position(|column| column == name);
    let of_attribute = problem
        .attributes
        .iter()
        .map(|attribute| {
            let [low, high] = bounds(&attribute.name);
            match (find(&attribute.name), find(&low), find(&high)) {
                (Some(column), ..) => Ok(vec![column]),
                (None, Some(low), Some(high)) => Ok(vec![low, high]),
                _ => Err(Error::input(format!("the release has no column \"{}\"", attribute.name))
                    .in_file(release.path())
                    .for_attribute(&attribute.name)
                    .with_hint("is this a release of this table, under this policy?")),
            }
        })
        .collect::<Result<_>>()?;
    Ok(Columns { of_attribute })
}

fn identifier_violations(policy: &Policy, release: &Table) -> Vec<String> {
    let identifiers = release.names().iter().filter(|name| policy.role(name) == Role::Identifier);
    identifiers.map(|name| format!("the identifier \"{name}\" is published")).collect()
}

/// Loss from the cells of every class.
fn measure_loss(
    measures: &mut Measures,
    problem: &Problem,
    policy: &Policy,
    cells: &Cells<'_>,
    classes: &Classes,
) {
    let attributes = &problem.attributes;
    let mut sums = vec![0.0; attributes.len()];
    let (mut ncp, mut of_classes, mut volume) = (0.0, 0.0, 0.0);
    let (mut widest, mut extents, mut most) = (0.0f64, Vec::new(), 0.0f64);
    for class in 0..classes.len() {
        let size = classes.size(class) as f64;
        let row = classes.first_row(class);
        let (mut penalty, mut share) = (0.0, 1.0);
        for (at, attribute) in attributes.iter().enumerate() {
            let cell = cells.cell(at, row);
            sums[at] += size * cell.ncp;
            penalty += attribute.weight * cell.ncp;
            share *= if cell.single { 1.0 / attribute.domain.len() as f64 } else { cell.ncp };
        }
        ncp += size * penalty;
        most = most.max(penalty / problem.total_weight());
        of_classes += penalty;
        widest = widest.max(size * penalty);
        volume += size * share;
        if let [_] = attributes[..]
            && let Some((low, high)) = cells.cell(0, row).range
        {
            extents.push(high - low);
        }
    }
    let suppressed = measures.suppressed as f64;
    let records = problem.len() as f64;
    let published = measures.rows_published.max(1) as f64;
    measures.ncp = ncp + suppressed * problem.total_weight();
    measures.gcp = measures.ncp / (records * problem.total_weight());
    measures.gcp_per_attribute = attributes
        .iter()
        .zip(&sums)
        .map(|(attribute, sum)| (attribute.name.clone(), (sum + suppressed) / records))
        .collect();
    measures.maximum_ncp = most;
    measures.average_ncp = of_classes / classes.len().max(1) as f64;
    measures.weighted_maximum_ncp = widest;
    measures.weighted_average_volume = volume / published;
    let squares: f64 = (0..classes.len()).map(|class| (classes.size(class) as f64).powi(2)).sum();
    measures.discernibility = squares + suppressed * records;
    let k = policy.privacy.k().unwrap_or_else(|| problem.requirement.smallest_class());
    measures.c_avg = published / classes.len().max(1) as f64 / k as f64;
    if !extents.is_empty() && extents.len() == classes.len() {
        measures.il1 = Some(extents.iter().sum::<f64>() / extents.len() as f64);
        measures.il_infinity = extents.into_iter().reduce(f64::max);
    }
}
