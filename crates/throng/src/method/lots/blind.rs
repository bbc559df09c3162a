//! Blocks made without sensitive values: peel finds cheap ones by quasi-identifiers alone, and only then are values asked.
//!
//! The blocks are as large as random sets of records must be to be diverse enough as often as not. That depends on how often
//! each value occurs in the table, not on who has it. Then all blocks together are halved again and again, by
//! quasi-identifiers, as long as both halves may be classes; what cannot be halved is dealt by lot.
//!
//! Cost: that of peel with a larger k, and O(d·N·log N).

use rand::seq::SliceRandom;

use super::Lots;
use crate::collections::Arrange;
use crate::error::Result;
use crate::loss::Extent;
use crate::mapping;
use crate::method::{Method, Partition};
use crate::problem::{Code, Matrix, Problem};
use crate::watch::Watch;

/// The stream of random sets.
const SETS_STREAM: u64 = 51;
/// Random sets of each size, and how many of them must be diverse enough.
const SETS: usize = 100;
const ENOUGH: usize = 50;

/// Blocks by a method that sees no sensitive values, dealt by lot.
pub(in crate::method) fn solve<C: Code>(
    problem: &Problem,
    matrix: &Matrix<C>,
    method: &dyn Method,
    watch: &dyn Watch,
) -> Result<Partition> {
    let line = problem.line(&mapping::HILBERT, watch)?;
    let lots = Lots::new(problem, matrix, &line);
    let blocks = method.solve(&problem.by_size(lots.block_size()), watch)?.partition;
    let blocks: Vec<Block<C>> = blocks.groups().map(|records| lots.block(records)).collect();
    let mut parts = Vec::new();
    lots.part(&blocks.iter().collect::<Vec<_>>(), &mut parts);
    lots.deal_each(parts, watch)
}

/// Records that quasi-identifiers put together.
struct Block<C> {
    records: Vec<u32>,
    extent: Extent<C>,
    /// Where its middle lies on the line.
    place: u32,
}

/// Blocks in two halves.
struct Halved<'b, C> {
    loss: f64,
    one: Vec<&'b Block<C>>,
    other: Vec<&'b Block<C>>,
}

impl<C: Code> Lots<'_, C> {
    fn block(&self, records: &[u32]) -> Block<C> {
        let mut places: Vec<u32> = records.iter().map(|record| self.place[*record as usize]).collect();
        places.sort_unstable();
        let place = places.get(places.len() / 2).copied().unwrap_or(0);
        Block { records: records.to_vec(), extent: Extent::around(self.matrix, records), place }
    }

    /// The size from which on random sets of records are diverse enough as often as not.
    fn block_size(&self) -> usize {
        let mut random = self.problem.secret.stream(SETS_STREAM);
        let mut order: Vec<u32> = (0..self.problem.len() as u32).collect();
        let mut enough = |size: usize| {
            let mut draw = || order.partial_shuffle(&mut random, size).0.to_vec();
            (0..SETS).filter(|_| self.holds(&draw())).count() >= ENOUGH
        };
        let most = (self.problem.len() / 2).max(self.unit);
        let sizes = std::iter::successors(Some((2, 3)), |(one, next)| Some((*next, 2 * one)));
        let sizes = sizes.map(|(halves, _)| halves * self.unit / 2);
        sizes.take_while(|size| *size <= most).find(|size| enough(*size)).unwrap_or(most)
    }

    /// Halves blocks while both halves may be classes.
    fn part(&self, blocks: &[&Block<C>], parts: &mut Vec<Vec<u32>>) {
        if let [block] = blocks {
            return self.part_records(block.records.clone(), parts);
        }
        match self.halves_of_blocks(blocks) {
            Some(halved) => {
                self.part(&halved.one, parts);
                self.part(&halved.other, parts);
            }
            None => parts.push(records(blocks)),
        }
    }

    /// Halves the records of a block while both halves may be classes.
    fn part_records(&self, set: Vec<u32>, parts: &mut Vec<Vec<u32>>) {
        let halves = if set.len() < 2 * self.unit { None } else { self.halves(&set) };
        match halves {
            Some((one, other)) => {
                self.part_records(one, parts);
                self.part_records(other, parts);
            }
            None => parts.push(set),
        }
    }

    /// Of the halves along each attribute and along the line, those that lose least and may both be classes.
    fn halves_of_blocks<'b>(&self, blocks: &[&'b Block<C>]) -> Option<Halved<'b, C>> {
        let ways = (0..self.kernel.attributes()).map(Some).chain([None]);
        let mut all: Vec<Halved<C>> = ways.filter_map(|way| self.halve_blocks(blocks, way)).collect();
        // Sorting is stable: of equals the one by the first attribute.
        all.arrange_by(|a, b| a.loss.total_cmp(&b.loss));
        let holds = |blocks: &[&Block<C>]| self.holds(&records(blocks));
        let tried = self.ways_to_try(blocks.iter().map(|block| block.records.len()).sum());
        all.into_iter().take(tried).find(|halved| holds(&halved.one) && holds(&halved.other))
    }

    fn halve_blocks<'b>(&self, blocks: &[&'b Block<C>], attribute: Option<usize>) -> Option<Halved<'b, C>> {
        let key = |block: &Block<C>| match attribute {
            Some(at) => (block.extent.low(at).index() + block.extent.high(at).index()) as u32,
            None => block.place,
        };
        let mut places: Vec<(u32, u32)> = blocks.iter().map(|block| key(block)).zip(0..).collect();
        places.sort_unstable();
        if attribute.is_some() && places.first()?.0 == places.last()?.0 {
            return None;
        }
        let mut ranked: Vec<&Block<C>> = places.iter().map(|(_, place)| blocks[*place as usize]).collect();
        let all: usize = ranked.iter().map(|block| block.records.len()).sum();
        let mut size = 0;
        let until = |block: &&Block<C>| {
            size += block.records.len();
            2 * size <= all
        };
        let first = ranked.iter().copied().take_while(until).count().max(1);
        let other = ranked.split_off(first);
        let loss = self.loss_of_blocks(&ranked) + self.loss_of_blocks(&other);
        Some(Halved { loss, one: ranked, other })
    }

    fn loss_of_blocks(&self, blocks: &[&Block<C>]) -> f64 {
        let Some((first, rest)) = blocks.split_first() else { return 0.0 };
        let mut extent = first.extent.clone();
        rest.iter().for_each(|block| extent.merge(&block.extent));
        let size: usize = blocks.iter().map(|block| block.records.len()).sum();
        self.kernel.ncp(&extent) * size as f64
    }
}

fn records<C>(blocks: &[&Block<C>]) -> Vec<u32> {
    blocks.iter().flat_map(|block| block.records.iter().copied()).collect()
}
