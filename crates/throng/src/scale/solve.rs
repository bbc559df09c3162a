//! Step 3: a part becomes classes.
//!
//! Records are put into an order of their own first, by their codes and, of equal ones, by hashes of all their cells under a
//! key: whatever order they came in, the method sees the same problem. The domains, weights and requirement are those of the
//! whole table. Every class is told with its box and what its
//! records might gain beyond the cuts around the part; those that might gain most go on to the next round.

use std::collections::BTreeMap;
use std::sync::Arc;

use rand::Rng;
use serde::{Deserialize, Serialize};

use super::cuts::Sampled;
use super::hashes::{mix, spread};
use super::known::{CodedKind, Known};
use crate::data::{Code, Matrix, Protected, Records};
use crate::error::{Error, Result};
use crate::loss::Kernel;
use crate::method::facts::Grouping;
use crate::method::{Fact, Partition};
use crate::parallel;
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

/// Where a part stands.
#[derive(Clone, Copy, Debug)]
pub struct Standing<'a> {
    /// Which part it is.
    pub id: PartId,
    /// Between which codes of each quasi-identifier its records lie, by [`super::cuts::Cuts::cell`].
    pub cell: &'a [(u32, u32)],
    /// Number of records of all parts of its round.
    pub round: u64,
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
    /// What a record of each class might lose less if there were no cuts around the part, at most; nothing where the class
    /// must stay as it is.
    pub gains: Vec<f64>,
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
    standing: Standing<'_>,
    sample: &mut RoundSample,
    watch: &dyn Watch,
) -> Result<SolvedPart> {
    let Standing { id, cell, round } = standing;
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
    if let Some(whole) = &mut problem.data.whole {
        Arc::make_mut(whole).round = round as usize;
    }
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
    let gain = |class: usize| if by_lot { 0.0 } else { gain(&kernel, &ends, class, cell) };
    let gains: Vec<f64> = (0..classes).map(gain).collect();
    for (gain, group) in gains.iter().zip(solution.partition.groups()) {
        for &place in group {
            let code = |at: usize| problem.records.code(place as usize, at);
            let sensitive = |own: &Protected| own.codes.get(place as usize).copied().unwrap_or(0);
            sample.add(id, place, || SampledGain {
                codes: (0..problem.attributes.len()).map(code).collect(),
                sensitive: problem.sensitive.iter().map(sensitive).collect(),
                gain: *gain,
            });
        }
    }
    let (class_of, rank_of) = by_row(&solution.partition, &order)?;
    let sizes = solution.partition.groups().map(|group| group.len() as u32).collect();
    Ok(SolvedPart { class_of, rank_of, ends, gains, sizes, facts: solution.facts })
}

/// What a record of a class might lose less with partners beyond the cuts around it: all it loses, but for the way to the
/// nearest cut.
fn gain(kernel: &Kernel, ends: &[Vec<(u32, u32)>], class: usize, cell: &[(u32, u32)]) -> f64 {
    let (mut cost, mut way) = (0.0, f64::INFINITY);
    for (at, (own, (from, until))) in ends.iter().zip(cell).enumerate() {
        let (low, high) = own[class];
        cost += kernel.penalty(at, low as usize, high as usize);
        if *from > 0 {
            way = way.min(kernel.penalty(at, *from as usize - 1, low as usize));
        }
        if *until < u32::MAX {
            way = way.min(kernel.penalty(at, high as usize, *until as usize));
        }
    }
    (cost - way).max(0.0)
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
        _ => Records::Wide(fill(&mut codes, &quasi, count)),
    };
    (records, codes)
}

/// The order that records have whatever order they came in.
fn own_order(records: &Records, codes: &[Vec<u32>], ties: &[u64]) -> Vec<u32> {
    let others: Vec<&Vec<u32>> = codes.iter().filter(|own| !own.is_empty()).collect();
    let mut order: Vec<u32> = (0..ties.len() as u32).collect();
    with_matrix!(records, matrix => parallel::sort_by(&mut order, &|one, other| {
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

/// How many records have classes with which gain. Gains that are nearly equal are counted together; it merges by adding.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GainCounts {
    counts: BTreeMap<u32, u64>,
}

/// Gains that agree in their first bits are taken for equal: one part in four thousand.
const BITS: u32 = 40;

impl GainCounts {
    /// Takes the classes of a part.
    pub fn add(&mut self, part: &SolvedPart) {
        for (gain, size) in part.gains.iter().zip(&part.sizes) {
            *self.counts.entry(step(*gain)).or_default() += u64::from(*size);
        }
    }

    /// Takes what another has counted.
    pub fn merge(&mut self, other: &GainCounts) {
        other.counts.iter().for_each(|(step, count)| *self.counts.entry(*step).or_default() += count);
    }

    /// The limit above which no more than a share of all records lies, and how many do.
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

/// The step of the ladder of gains that a gain is on.
pub fn step(gain: f64) -> u32 {
    (gain.max(0.0).to_bits() >> BITS) as u32
}

/// What a class may still gain to be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit(u32);

impl Limit {
    /// Keeps every class.
    pub const NONE: Limit = Limit(u32::MAX);

    /// Whether a class of this gain is kept.
    pub fn keeps(self, gain: f64) -> bool {
        self.keeps_step(step(gain))
    }

    /// Whether a class is kept whose gain is on this step.
    pub fn keeps_step(self, step: u32) -> bool {
        step <= self.0
    }
}

/// A sample of the records of a round, with what they might gain: those whose places have the smallest hashes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RoundSample {
    records: BTreeMap<u64, SampledGain>,
}

/// A record of the sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampledGain {
    codes: Vec<u32>,
    sensitive: Vec<u32>,
    gain: f64,
}

/// Records of the sample.
const MOST: usize = 1 << 16;

impl RoundSample {
    /// Takes a record, by its part and its place in the part's own order.
    #[inline]
    pub fn add(&mut self, id: PartId, rank: u32, record: impl FnOnce() -> SampledGain) {
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

    /// The records that go on.
    pub fn going_on(&self, limit: Limit) -> Vec<Sampled> {
        self.those(|own| !limit.keeps(own.gain))
    }

    /// All of them.
    pub fn all(&self) -> Vec<Sampled> {
        self.those(|_| true)
    }

    fn those(&self, take: impl Fn(&SampledGain) -> bool) -> Vec<Sampled> {
        let taken = self.records.values().filter(|own| take(own)).cloned();
        taken.map(|SampledGain { codes, sensitive, .. }| Sampled { codes, sensitive, weight: 1 }).collect()
    }
}

/// The rows of a sketch's sample, in codes; rows that are dropped are left out.
pub fn sampled(known: &Known, sketch: &super::sketch::TableSketch) -> Vec<Sampled> {
    let coded: Vec<usize> = sketch.coded().collect();
    let place = |column: usize| coded.iter().position(|own| *own == column);
    let columns: Vec<(usize, &super::known::Coded)> =
        known.coded.iter().filter_map(|own| Some((place(own.column)?, own))).collect();
    let mut rows = Vec::with_capacity(sketch.sample.entries().len());
    'rows: for entry in sketch.sample.entries() {
        let mut codes = vec![0; known.problem.attributes.len()];
        let mut sensitive = vec![0; known.problem.sensitive.len()];
        for (at, own) in &columns {
            let Ok(number) = own.values.binary_search_by(|own| own.as_str().cmp(entry.cells.get(*at))) else {
                continue 'rows;
            };
            if known.drops && own.missing[number] {
                continue 'rows;
            }
            match own.kind {
                CodedKind::Quasi(at) => codes[at] = own.codes[number],
                CodedKind::Sensitive(at) => sensitive[at] = own.codes[number],
                CodedKind::Label(_) => {}
            }
        }
        rows.push(Sampled { codes, sensitive, weight: entry.count });
    }
    rows
}
