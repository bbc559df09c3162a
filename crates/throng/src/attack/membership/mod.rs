//! Who is in which class of a release.
//!
//! The attacker is taken to know it. Whoever has the files knows it too if rows are in the order of the table, and but for
//! records with equal quasi-identifiers if the release is one by permutation. Of another release one way is drawn in which
//! records fit classes: each lies in the cells of its class, each class has its sensitive values and, where that can be
//! reached, its members reach both ends of its ranges. All such ways would be the same release, so that a drawn one shows
//! what an attacker could do who does not know more than the files tell.

mod boxes;
mod fit;
mod mix;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use boxes::ClassBox;

use crate::audit::{Cells, Tables, codes_of, permutation, release_columns};
use crate::classes::Classes;
use crate::error::{Error, ErrorCode, Result};
use crate::method::Partition;
use crate::policy::Policy;
use crate::problem::Problem;
use crate::table::{Map, Table};
use crate::watch::Watch;

/// The stream of ways to draw from; it need not be secret.
const STREAM: u64 = 53;

/// How membership is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Membership {
    /// Rows are in the order of the table.
    Order,
    /// By exact quasi-identifiers.
    Exact,
    /// Drawn from the ways in which records fit classes.
    Drawn,
}

/// The classes of a release as sets of records of the table.
#[derive(Clone, Debug)]
pub struct Members {
    /// Who is in which class.
    pub classes: Partition,
    /// How that is known.
    pub known: Membership,
    /// Share of the published records whose class is certain.
    pub certain: f64,
}

/// Finds who is in which class of a release.
pub fn members<'a>(
    problem: &Problem,
    policy: &Policy,
    release: impl Into<Tables<'a>>,
    watch: &dyn Watch,
) -> Result<Members> {
    let tables = release.into();
    let Tables { release: table, sensitive, .. } = tables;
    if table.len() > problem.len() {
        return Err(mismatch(table, "it has more rows than the table"));
    }
    let cells = Cells::read(problem, policy, tables)?;
    if let Some(permuted) = permutation::groups(problem, table, sensitive)? {
        return by_exact_values(problem, table, &permuted.groups(table), &cells);
    }
    let classes = Classes::group(table, &release_columns(problem, table)?.all());
    let boxes: Vec<ClassBox> =
        (0..classes.len()).map(|class| ClassBox::new(problem, &cells, classes.first_row(class))).collect();
    let kinds = Kinds::new(problem, table)?;
    if in_order(problem, &classes, &boxes, &kinds) {
        let groups: Vec<Vec<u32>> = (0..classes.len()).map(|class| classes.rows(class).to_vec()).collect();
        return Ok(Members { classes: partition(&groups), known: Membership::Order, certain: 1.0 });
    }
    watch.stage("matching", None);
    let mut random = ChaCha8Rng::seed_from_u64(problem.seed);
    random.set_stream(STREAM);
    let fitted = fit::fit(problem, &classes, &boxes, &kinds, watch)?
        .ok_or_else(|| mismatch(table, "some of its rows fit no record"))?;
    let certain = fitted.certain(table.len());
    let groups = mix::mix(problem, &boxes, &kinds, fitted, &mut random, watch)?;
    Ok(Members { classes: partition(&groups), known: Membership::Drawn, certain })
}

fn mismatch(table: &Table, what: &str) -> Error {
    Error::new(ErrorCode::NotThisRelease, format!("the release does not match the table: {what}"))
        .in_file(table.origin())
        .with_hint("is this a release of this table, under this policy?")
}

fn partition(groups: &[Vec<u32>]) -> Partition {
    let sizes: Vec<usize> = groups.iter().map(Vec::len).filter(|size| *size > 0).collect();
    Partition::from_sizes(groups.concat(), sizes)
}

/// The combinations of sensitive values, numbered.
struct Kinds {
    of_record: Vec<u32>,
    of_row: Vec<u32>,
    count: usize,
}

impl Kinds {
    fn new(problem: &Problem, table: &Table) -> Result<Self> {
        let rows: Vec<Vec<u32>> =
            problem.sensitive.iter().map(|own| codes_of(own, table)).collect::<Result<_>>()?;
        let mut numbers: Map<Vec<u32>, u32> = Map::default();
        let mut number = |values: Vec<u32>| {
            let next = numbers.len() as u32;
            *numbers.entry(values).or_insert(next)
        };
        let of_record = (0..problem.len())
            .map(|record| number(problem.sensitive.iter().map(|own| own.codes[record]).collect()))
            .collect();
        let of_row =
            (0..table.len()).map(|row| number(rows.iter().map(|codes| codes[row]).collect())).collect();
        Ok(Kinds { of_record, of_row, count: numbers.len() })
    }
}

/// Whether every row fits the record at its place.
fn in_order(problem: &Problem, classes: &Classes, boxes: &[ClassBox], kinds: &Kinds) -> bool {
    let fits = |class: usize, row: u32| {
        kinds.of_record[row as usize] == kinds.of_row[row as usize] && boxes[class].covers(problem, row)
    };
    kinds.of_row.len() == problem.len()
        && (0..classes.len()).all(|class| classes.rows(class).iter().all(|row| fits(class, *row)))
}

/// Records and rows with equal quasi-identifiers belong together.
fn by_exact_values(problem: &Problem, table: &Table, groups: &Classes, cells: &Cells<'_>) -> Result<Members> {
    let mut records: Map<Vec<u32>, Vec<u32>> = Map::default();
    let attributes = problem.attributes.len();
    for record in (0..problem.len() as u32).rev() {
        let codes = (0..attributes).map(|at| problem.records.code(record as usize, at)).collect();
        records.entry(codes).or_default().push(record);
    }
    let mut groups_of: Map<Vec<u32>, Vec<usize>> = Map::default();
    let mut found = vec![Vec::new(); groups.len()];
    for group in 0..groups.len() {
        for row in groups.rows(group) {
            let codes = boxes::exact(problem, cells, *row as usize).ok_or_else(|| {
                mismatch(table, "it is one by permutation, but not all of its cells are exact")
            })?;
            let record = records.get_mut(&codes).and_then(Vec::pop);
            found[group].push(record.ok_or_else(|| mismatch(table, "some of its rows fit no record"))?);
            groups_of.entry(codes).or_default().push(group);
        }
    }
    let alone = |own: &&Vec<usize>| own.iter().all(|group| *group == own[0]);
    let certain: usize = groups_of.values().filter(alone).map(Vec::len).sum();
    let certain = certain as f64 / table.len().max(1) as f64;
    Ok(Members { classes: partition(&found), known: Membership::Exact, certain })
}
