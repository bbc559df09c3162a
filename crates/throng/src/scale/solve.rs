//! Step 3: a part becomes classes.
//!
//! Records are put into an order of their own first, by their codes and, of equal ones, by hashes of all their cells under a
//! key: whatever order they came in, the method sees the same problem. The domains, weights and requirement are those of the
//! whole table. Every class is told with its box and what it costs a record; the dearest go on to the next round.

use std::collections::BTreeMap;

use rand::Rng;
use rayon::slice::ParallelSliceMut;
use serde::{Deserialize, Serialize};

use super::hashes::{mix, spread};
use super::known::{CodedKind, Known};
use crate::data::{Code, Matrix, Records};
use crate::error::{Error, Result};
use crate::loss::Kernel;
use crate::method::facts::Grouping;
use crate::method::{Fact, Partition};
use crate::plan::Plan;
use crate::watch::Watch;
use crate::with_matrix;

/// The records of a part, in any order: for each coded column the number of each record's value.
#[derive(Clone, Debug, Default)]
pub struct PartRows {
    /// For each coded column.
    pub numbers: Vec<Vec<u32>>,
    /// What orders records of equal codes.
    pub ties: Vec<u64>,
}

/// Which part this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PartId {
    /// The round, from 0.
    pub round: u32,
    /// Its place in the round.
    pub part: u32,
}

/// The classes of a part.
#[derive(Clone, Debug, Default)]
pub struct SolvedPart {
    /// The class of each record, in the order in which records came.
    pub class_of: Vec<u32>,
    /// The place of each record in the part's own order.
    pub rank_of: Vec<u32>,
    /// For each quasi-identifier the lowest and highest code of each class.
    pub ends: Vec<Vec<(u32, u32)>>,
    /// What each class costs each of its records; nothing where it must stay as it is.
    pub costs: Vec<f64>,
    /// Number of records of each class.
    pub sizes: Vec<u32>,
    /// What the method says.
    pub facts: Vec<Fact>,
}

/// Solves a part.
pub fn solve(
    plan: &Plan,
    known: &Known,
    rows: PartRows,
    id: PartId,
    sample: &mut RoundSample,
    watch: &dyn Watch,
) -> Result<SolvedPart> {
    let count = rows.ties.len();
    let PartRows { numbers, ties } = rows;
    let codes: Vec<Vec<u32>> = known
        .coded
        .iter()
        .zip(numbers)
        .map(|(own, mut numbers)| {
            numbers.iter_mut().for_each(|number| *number = own.codes[*number as usize]);
            numbers
        })
        .collect();
    let (records, codes) = matrix(known, codes, count);
    let order = own_order(&records, &codes, &ties);
    drop(ties);
    let records = with_matrix!(&records, matrix => Records::from(matrix.gather(&order)));
    let gather = |codes: &Vec<u32>| -> Vec<u32> {
        if codes.is_empty() { Vec::new() } else { order.iter().map(|row| codes[*row as usize]).collect() }
    };
    let codes: Vec<Vec<u32>> = codes.iter().map(gather).collect();
    let mut problem = known.problem_of(records, codes);
    problem.data.seed = plan.policy().method.seed;
    problem.data.secret = plan.secret().of_part(id.round, id.part);
    let (solution, _) = plan.find(&problem, watch)?;
    if !solution.suppressed.is_empty() {
        return Err(Error::bug("a part leaves records out"));
    }
    let Some(boxes) = solution.recoding.boxes(&problem, &solution.partition) else {
        return Err(Error::bug("a method without boxes was run in parts"));
    };
    let ends = boxes.into_owned().ends;
    // Who is put with whom by lot must not be looked at again: what is cheap would tell of the lot.
    let by_lot = solution.facts.contains(&Fact::Grouped { by: Grouping::Lots });
    let kernel = Kernel::new(&problem.attributes);
    let classes = solution.partition.len();
    let cost = |class: usize| -> f64 {
        let of = |(at, ends): (usize, &Vec<(u32, u32)>)| {
            kernel.penalty(at, ends[class].0 as usize, ends[class].1 as usize)
        };
        if by_lot { 0.0 } else { ends.iter().enumerate().map(of).sum() }
    };
    let costs: Vec<f64> = (0..classes).map(cost).collect();
    for (cost, group) in costs.iter().zip(solution.partition.groups()) {
        for &place in group {
            let code = |at: usize| problem.records.code(place as usize, at);
            sample.add(id, place, || ((0..problem.attributes.len()).map(code).collect(), *cost));
        }
    }
    let (class_of, rank_of) = by_row(&solution.partition, &order)?;
    let sizes = solution.partition.groups().map(|group| group.len() as u32).collect();
    Ok(SolvedPart { class_of, rank_of, ends, costs, sizes, facts: solution.facts })
}

/// The codes of quasi-identifiers as a matrix; those of the other columns are left.
fn matrix(known: &Known, mut codes: Vec<Vec<u32>>, count: usize) -> (Records, Vec<Vec<u32>>) {
    let quasi = known.quasi();
    let largest = known.problem.attributes.iter().map(|own| own.domain.len()).max().unwrap_or(0);
    fn fill<C: Code>(codes: &mut [Vec<u32>], quasi: &[usize], count: usize) -> Matrix<C> {
        let mut matrix = Matrix::zeros(count, quasi.len());
        for (attribute, &column) in quasi.iter().enumerate() {
            let own = std::mem::take(&mut codes[column]);
            (0..).zip(&own).for_each(|(row, code)| matrix.set(row, attribute, C::from_index(*code as usize)));
        }
        matrix
    }
    let records = match largest {
        0..=0x100 => Records::Narrow(fill(&mut codes, &quasi, count)),
        0x101..=0x1_0000 => Records::Medium(fill(&mut codes, &quasi, count)),
        _ => Records::Wide(fill(&mut codes, &quasi, count)),
    };
    (records, codes)
}

/// The order that records have whatever order they came in.
fn own_order(records: &Records, codes: &[Vec<u32>], ties: &[u64]) -> Vec<u32> {
    let others: Vec<&Vec<u32>> = codes.iter().filter(|own| !own.is_empty()).collect();
    let mut order: Vec<u32> = (0..ties.len() as u32).collect();
    with_matrix!(records, matrix => order.par_sort_unstable_by(|&one, &other| {
        let (a, b) = (one as usize, other as usize);
        matrix
            .row(a)
            .cmp(matrix.row(b))
            .then_with(|| others.iter().map(|own| own[a]).cmp(others.iter().map(|own| own[b])))
            .then_with(|| ties[a].cmp(&ties[b]))
            .then(one.cmp(&other))
    }));
    order
}

/// The class and the place of each record, in the order in which records came.
fn by_row(partition: &Partition, order: &[u32]) -> Result<(Vec<u32>, Vec<u32>)> {
    let of_place = partition.group_of_record(order.len());
    if of_place.contains(&Partition::NO_GROUP) {
        return Err(Error::bug("a method left records without a class"));
    }
    let (mut class_of, mut rank_of) = (vec![0; order.len()], vec![0; order.len()]);
    for (place, &row) in order.iter().enumerate() {
        class_of[row as usize] = of_place[place];
        rank_of[row as usize] = place as u32;
    }
    Ok((class_of, rank_of))
}

/// The lot of each record of a part, by its place in the part's own order: the release is sorted by them.
pub fn lots(plan: &Plan, id: PartId, records: usize) -> Vec<u64> {
    let mut random = plan.secret().of_part(id.round, id.part).stream(1);
    (0..records).map(|_| random.next_u64()).collect()
}

/// How many records have classes of which cost. Costs that are nearly equal are counted together; it merges by adding.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CostCounts {
    counts: BTreeMap<u32, u64>,
}

/// Costs that agree in their first bits are taken for equal: one part in four thousand.
const BITS: u32 = 40;

impl CostCounts {
    /// Takes the classes of a part.
    pub fn add(&mut self, part: &SolvedPart) {
        for (cost, size) in part.costs.iter().zip(&part.sizes) {
            *self.counts.entry(step(*cost)).or_default() += u64::from(*size);
        }
    }

    /// Takes what another has counted.
    pub fn merge(&mut self, other: &CostCounts) {
        other.counts.iter().for_each(|(step, count)| *self.counts.entry(*step).or_default() += count);
    }

    /// The limit above which the dearest classes have no more than a share of all records, and how many they have.
    pub fn limit(&self, share: f64) -> (Limit, u64) {
        let all: u64 = self.counts.values().sum();
        let most = (share * all as f64) as u64;
        let mut above = 0;
        for (step, count) in self.counts.iter().rev() {
            if above + count > most || *step == 0 {
                return (Limit(*step), above);
            }
            above += count;
        }
        (Limit(0), above)
    }
}

/// The step of the ladder of costs that a cost is on.
pub fn step(cost: f64) -> u32 {
    (cost.max(0.0).to_bits() >> BITS) as u32
}

/// What a class may cost to be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit(u32);

impl Limit {
    /// Keeps every class.
    pub const NONE: Limit = Limit(u32::MAX);

    /// Whether a class of this cost is kept.
    pub fn keeps(self, cost: f64) -> bool {
        self.keeps_step(step(cost))
    }

    /// Whether a class is kept whose cost is on this step.
    pub fn keeps_step(self, step: u32) -> bool {
        step <= self.0
    }
}

/// A sample of the records of a round, with what their classes cost: those whose places have the smallest hashes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RoundSample {
    records: BTreeMap<u64, (Vec<u32>, f64)>,
}

/// Records of the sample.
const MOST: usize = 1 << 16;

impl RoundSample {
    /// Takes a record, by its part and its place in the part's own order.
    #[inline]
    pub fn add(&mut self, id: PartId, rank: u32, record: impl FnOnce() -> (Vec<u32>, f64)) {
        let part = u64::from(id.round) << 32 | u64::from(id.part);
        let hash = mix(spread(part), u64::from(rank));
        if self.records.len() >= MOST && self.records.last_key_value().is_some_and(|(last, _)| hash > *last) {
            return;
        }
        self.records.insert(hash, record());
        if self.records.len() > MOST {
            self.records.pop_last();
        }
    }

    /// Takes the sample of other parts of the round.
    pub fn merge(&mut self, other: RoundSample) {
        self.records.extend(other.records);
        while self.records.len() > MOST {
            self.records.pop_last();
        }
    }

    /// The codes of records whose classes go on.
    pub fn dearer(&self, limit: Limit) -> Vec<super::cuts::Sampled> {
        let dear = self.records.values().filter(|(_, cost)| !limit.keeps(*cost));
        dear.map(|(codes, _)| super::cuts::Sampled { codes: codes.clone(), weight: 1 }).collect()
    }
}

/// The quasi-identifiers of the rows of a sketch's sample, in codes; rows that are dropped are left out.
pub fn sampled(known: &Known, sketch: &super::sketch::TableSketch) -> Vec<super::cuts::Sampled> {
    let coded: Vec<usize> = sketch.coded().collect();
    let place = |column: usize| coded.iter().position(|own| *own == column);
    let columns: Vec<(usize, &super::known::Coded)> =
        known.coded.iter().filter_map(|own| Some((place(own.column)?, own))).collect();
    let mut rows = Vec::with_capacity(sketch.sample.entries().len());
    'rows: for entry in sketch.sample.entries() {
        let mut codes = vec![0; known.problem.attributes.len()];
        for (at, own) in &columns {
            let Ok(number) = own.values.binary_search(&entry.cells[*at]) else { continue 'rows };
            if known.drops && own.missing[number] {
                continue 'rows;
            }
            if let CodedKind::Quasi(attribute) = own.kind {
                codes[attribute] = own.codes[number];
            }
        }
        rows.push(super::cuts::Sampled { codes, weight: entry.count });
    }
    rows
}
