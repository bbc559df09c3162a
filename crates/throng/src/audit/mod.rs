//! What a release achieves, measured from the two tables and the policy alone.
//!
//! The audit trusts no method: it reads the published cells back, groups rows by literal equality of their
//! cells, and measures privacy and loss from what the cells say. It shares the table's domains with the methods
//! (they come from the table and the policy), nothing else.

mod distribution;
mod formulas;
mod loss;
pub(crate) mod masked_truth;
mod meaning;
mod measures;
mod merged;
mod midpoints;
mod outliers;
mod people;
mod people_matching;
pub(crate) mod permutation;
mod privacy;
mod received;
mod research;
mod rules;
mod series;
pub(crate) mod truth;

use std::path::Path;

use serde::{Deserialize, Serialize};

pub use loss::{Loss, LossSums};
pub(crate) use masked_truth::covers;
pub use measures::{
    Bin, Distribution, ExactCells, ExampleClass, FormulaColumn, Measures, MidpointMeasure, PeopleMeasure,
    QuasiIdentifierMeasure, RuleMeasure, SensitiveMeasure,
};
pub(crate) use merged::{PartFindings, merged};
pub use outliers::Outlier;
pub use privacy::codes_of;
pub use received::{Keep, Received, Tables, storage};
pub use series::{Looked, SeriesFindings};
pub use truth::{Compared, Truth};

use crate::as_is;
use crate::bound::{self, Certificate, Proof};
pub use crate::bound::{BoundFigures, LowerBound};
use crate::classes::Classes;
use crate::error::{Error, ErrorCode, Result};
use crate::policy::{Policy, Role};
use crate::privacy::Tally;
use crate::problem::Problem;
use crate::published::Published;
pub use crate::published::{Cell, Cells};
use crate::release::midpoints::{self as release_midpoints, Middle, columns_of};
use crate::release::permutation::no_people_by_permutation;
use crate::table::{Scale, Table};
use crate::watch::Watch;

/// What an audit finds.
///
/// ```
/// use throng::{Audit, Data, Policy};
/// let policy = Policy::builder().k(2).quasi("age").build()?;
/// let audit = Audit::new(&policy).original(Data::csv("age\n31\n34\n"));
/// assert!(audit.release(Data::csv("age\n[31-34]\n[31-34]\n")).run()?.holds());
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Findings {
    /// The figures.
    pub measures: Measures,
    /// Each quasi-identifier before and after.
    pub distributions: Vec<Distribution>,
    /// Ten classes as published, from the smallest to the largest.
    pub examples: Vec<ExampleClass>,
    /// What proves the lower bound, where it is proved.
    #[serde(skip)]
    pub certificate: Option<Certificate>,
    /// What a reader should know besides, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Findings {
    /// Whether the release meets its policy.
    pub fn holds(&self) -> bool {
        self.measures.violations.is_empty()
    }
}

/// Measures the release in a file. `problem` is the table under the policy.
pub fn audit_file(problem: &Problem, policy: &Policy, release: &Path, watch: &dyn Watch) -> Result<Findings> {
    let release = Received::read(release, problem, policy, Keep::Audited, watch)?;
    audit(problem, policy, &release, watch)
}

/// Measures a release, however it was obtained: one table, or two if it is one by permutation. `problem` is the table
/// under the policy.
///
/// ```
/// use throng::audit::{audit, storage};
/// use throng::format::CSV;
/// use throng::policy::Policy;
/// use throng::problem::Problem;
/// use throng::run;
/// use throng::table::{Reading, Table};
/// use throng::watch::Unwatched;
///
/// let policy = Policy::parse("[privacy]\nk = 2\n[attribute.age]\nrole = \"quasi\"\n", None)?;
/// let plan = |names: &[String]| Ok(throng::bind::storage(&policy, names));
/// let table = Table::read_from(&CSV, &b"age\n31\n34\n"[..], &Reading::new(&plan, &Unwatched))?;
/// let problem = Problem::new(&table, &policy)?;
///
/// let plan = |names: &[String]| Ok(storage(&problem, names));
/// let release = Table::read_from(&CSV, &b"age\n[31-34]\n[31-34]\n"[..], &Reading::new(&plan, &Unwatched))?;
/// assert_eq!(audit(&problem, &policy, &release, &Unwatched)?.measures.k, 2);
/// # Ok::<(), throng::Error>(())
/// ```
pub fn audit<'a>(
    problem: &Problem,
    policy: &Policy,
    release: impl Into<Tables<'a>>,
    watch: &dyn Watch,
) -> Result<Findings> {
    let mut findings = audit_cells(problem, policy, release, watch)?;
    if !findings.measures.permuted
        && let Some(proof) = lower_bound(problem, policy, Some(findings.measures.gcp), watch)?
    {
        findings.measures.set_lower_bound(Some(proof.bound));
        findings.certificate = proof.certificate;
    }
    Ok(findings)
}

/// The bound on the loss of every release under a policy, where its requirement asks for classes at all. Whoever watches is shown the gap
/// to a loss that is known.
pub(crate) fn lower_bound(
    problem: &Problem,
    policy: &Policy,
    loss: Option<f64>,
    watch: &dyn Watch,
) -> Result<Option<Proof>> {
    let mut proof = bound::bound_below(problem, policy.effort, loss, watch)?;
    proof.iter_mut().for_each(|proof| proof.bound.found_k = policy.found_k.map(|k| k as u64));
    Ok(proof)
}

/// Measures a release but for the lower bound, which does not depend on it.
pub(crate) fn audit_cells<'a>(
    problem: &Problem,
    policy: &Policy,
    release: impl Into<Tables<'a>>,
    watch: &dyn Watch,
) -> Result<Findings> {
    audit_part(problem, policy, release, 0, watch).map(|part| part.findings)
}

/// Measures the classes of a part of a release, each of which is whole in it, where so many rows are elsewhere. What is
/// measured of parts is put together in [`merged`].
pub(crate) fn audit_part<'a>(
    problem: &Problem,
    policy: &Policy,
    release: impl Into<Tables<'a>>,
    elsewhere: u64,
    watch: &dyn Watch,
) -> Result<PartFindings> {
    let tables = release.into();
    let Tables { release: table, sensitive, people: known, .. } = tables;
    received::check_storage(problem, table)?;
    watch.stage("auditing", None);
    let columns = release_columns(problem, table)?;
    let cells = Cells::of_columns(problem, policy, tables, &columns)?;
    let permuted = permutation::groups(problem, table, sensitive)?;
    if problem.people.is_some() && permuted.is_some() {
        return Err(no_people_by_permutation().in_file(table.origin()));
    }
    let classes = match &permuted {
        Some(permuted) => permuted.groups(table),
        None => Classes::group(table, &columns.all()),
    };
    watch.check()?;
    let mut measures = Measures {
        rows_in: problem.whole_len() as u64,
        rows_dropped: problem.dropped as u64,
        rows_published: table.len() as u64 + elsewhere,
        suppressed: (problem.whole_len() as u64).saturating_sub(table.len() as u64 + elsewhere),
        classes: classes.len() as u64,
        class_sizes: classes.size_counts(),
        violations: identifier_violations(policy, table),
        ..Measures::default()
    };
    if measures.rows_published > measures.rows_in {
        measures.violations.push("the release has more records than the table".to_owned());
    }
    if measures.suppressed > problem.suppressible as u64 {
        measures.violations.push(format!(
            "the policy allows {} suppressed records, {} are not in the release",
            problem.suppressible, measures.suppressed
        ));
    }
    if let Some(known_by) = cells.stands_by {
        release_midpoints::check(problem, &policy.privacy).map_err(|error| error.in_file(table.origin()))?;
        measures.midpoints =
            Some(MidpointMeasure { columns: columns.midpoints(table), known_by: known_by.into() });
    }
    let sums = loss::measure(&mut measures, problem, policy, &cells, &classes);
    let codes = match &permuted {
        Some(permuted) => vec![permuted.deal(table, &classes, &mut measures)],
        None => problem.sensitive.iter().map(|counted| codes_of(counted, table)).collect::<Result<_>>()?,
    };
    let whose = people::whose(problem, table, known, (&cells, &classes, &codes), watch)?;
    let published = Published {
        data: problem,
        rules: &problem.rules,
        table,
        whose: whose.as_ref().map(|found| &found.whose),
        columns: &columns.of_attribute,
        cells: &cells,
        missing: &policy.missing,
        classes: &classes,
        sensitive: &codes,
        suppressed: measures.suppressed,
        gcp: measures.gcp,
        greatest_loss: measures.maximum_ncp,
    };
    // Rows of a group of a release by permutation differ in their quasi-identifiers.
    let exact = permuted.as_ref().map(|_| Classes::group(table, &columns.all()));
    let beside = permuted.as_ref().map(|permuted| permuted.column);
    let equal = exact.as_ref().unwrap_or(&classes);
    measures.published_as_is = as_is::of_release(table, policy, &columns.all(), equal, beside);
    measures.outliers = outliers::measure(problem, table, &columns);
    measures.formulas = formulas::measure(table);
    measures.formulas.extend(sensitive.map(formulas::measure).unwrap_or_default());
    rules::measure(&mut measures, &published, &columns);
    research::measure(&mut measures, problem, policy, &cells, &classes);
    privacy::measure(&mut measures, policy, &published)?;
    if !problem.sensitive.is_empty() {
        let margin = problem.requirement.diversity_of(&Tally::of_whole(problem));
        measures.l_feasible = margin.map(|margin| margin.feasible).filter(|feasible| feasible.is_finite());
    }
    if let Some(found) = &whose {
        people::measure(&mut measures, found, &published);
    }
    let mut examples = privacy::examples(&published, &columns);
    if let Some(exact) = &exact {
        // Rows of a group differ, so none stands for all of them.
        examples.clear();
        privacy::permuted(&mut measures, exact);
    }
    let distributions = distribution::distributions(problem, &cells, equal);
    let findings = Findings { measures, distributions, examples, certificate: None, notes: Vec::new() };
    Ok(PartFindings { findings, sums, rows: table.len() as u64 })
}

/// The release's columns of each quasi-identifier: one, or two where bounds were published.
pub(crate) struct Columns {
    of_attribute: Vec<Vec<usize>>,
    /// Of each quasi-identifier which number is published in place of ranges, if one is.
    middles: Vec<Option<Middle>>,
}

impl Columns {
    pub fn all(&self) -> Vec<usize> {
        self.of_attribute.concat()
    }

    /// The names of those that hold numbers in place of ranges.
    fn midpoints(&self, release: &Table) -> Vec<String> {
        let own = self.of_attribute.iter().zip(&self.middles).filter(|(_, middle)| middle.is_some());
        own.flat_map(|(columns, _)| columns).map(|column| release.names()[*column].clone()).collect()
    }
}

fn bounds(name: &str) -> [String; 2] {
    [format!("{name}.min"), format!("{name}.max")]
}

/// Whether a column stands in place of an attribute's own.
pub(crate) fn is_derived(attribute: &str, column: &str) -> bool {
    let rest = column.strip_prefix(attribute).filter(|rest| rest.starts_with('.'));
    rest.is_some()
        && (bounds(attribute).iter().any(|bound| bound == column)
            || columns_of(attribute).iter().any(|(middle, _)| middle == column))
}

pub(crate) fn release_columns(problem: &Problem, release: &Table) -> Result<Columns> {
    let find = |name: &str| release.names().iter().position(|column| column == name);
    let mut columns = Columns { of_attribute: Vec::new(), middles: Vec::new() };
    for attribute in &problem.attributes {
        let [low, high] = bounds(&attribute.name);
        let middle = || {
            columns_of(&attribute.name).into_iter().find_map(|(name, middle)| Some((find(&name)?, middle)))
        };
        let numeric = matches!(attribute.domain.scale(), Scale::Numeric { .. });
        let (own, number) = match (find(&attribute.name), find(&low), find(&high), middle()) {
            (Some(column), ..) => (vec![column], None),
            (None, Some(low), Some(high), _) => (vec![low, high], None),
            (None, _, _, Some((column, middle))) if numeric => (vec![column], Some(middle)),
            _ => {
                return Err(Error::new(
                    ErrorCode::UnknownColumn,
                    format!("the release has no column \"{}\"", attribute.name),
                )
                .in_file(release.origin())
                .for_attribute(&attribute.name)
                .with_hint("is this a release of this table, under this policy?"));
            }
        };
        columns.of_attribute.push(own);
        columns.middles.push(number);
    }
    Ok(columns)
}

fn identifier_violations(policy: &Policy, release: &Table) -> Vec<String> {
    let names = release.names().iter();
    let role = |name: &String| policy.attributes.get(name).map(|attribute| attribute.role);
    let published = |name: &&String| match role(name) {
        Some(Role::Identifier) => true,
        Some(Role::Person) => policy.number_column() != Some(name),
        _ => false,
    };
    names.filter(published).map(|name| format!("the identifier \"{name}\" is published")).collect()
}
