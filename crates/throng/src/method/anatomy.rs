//! Anatomy: groups of records with different sensitive values, wherever the records lie.
//!
//! Xiao and Tao 2006, the baseline for publishing by permutation. Records are dealt into one bucket per sensitive value;
//! while at least l buckets hold any, a random record of each of the l largest makes a group; every record that is
//! left over joins a group that does not hold its value. Quasi-identifiers are published exactly, so where records lie
//! costs nothing there. Beyond the paper, groups join until what else is required holds, and requirements without
//! such an l grow groups over the records in random order. All lots come from the problem's secret.
//!
//! Cost: O(N log m).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

use super::ordered::diverse::Groups;
use super::ordered::join::join_until_it_holds;
use super::ordered::{singles, whole_diversity};
use super::{Entry, Method, Partition, Published, Solution, Traits};
use crate::error::{Error, Result};
use crate::privacy::{Judge, Part};
use crate::problem::{Problem, Protected};
use crate::watch::Watch;

/// The registry entry.
pub const ANATOMY: Entry = Entry {
    name: "anatomy",
    summary: "random groups with different sensitive values, published by permutation: exact quasi-identifiers",
    citation: "Xiao, Tao: Anatomy: simple and effective privacy preservation, VLDB 2006",
    guarantee: "groups of l or few more records with different sensitive values; who is in the table can be told",
    takes: &[Part::K, Part::L, Part::T],
    needs: &[],
    options: &[],
    traits: Traits {
        in_parts: false,
        published: Published::ByPermutation,
        compared_if_named: Some("it publishes exact quasi-identifiers, which have no loss to compare"),
        ..Traits::USUAL
    },
    configure: |_, _| Ok(Box::new(Anatomy)),
};

/// The stream of random numbers.
const STREAM: u64 = 21;

/// The method.
#[derive(Clone, Copy, Debug)]
pub struct Anatomy;

impl Method for Anatomy {
    fn solve(&self, problem: &Problem, watch: &dyn Watch) -> Result<Solution> {
        watch.stage("grouping", Some(problem.len() as u64));
        // A lot that anyone could repeat would tell who was drawn with whom, and why.
        let mut random = problem.secret.stream(STREAM);
        let mut order: Vec<u32> = (0..problem.len() as u32).collect();
        order.shuffle(&mut random);
        let groups = match whole_diversity(problem) {
            Some((attribute, l)) => deal(&problem.sensitive[attribute], &order, l, &mut random)?,
            None => singles(order.len()),
        };
        let groups = join_until_it_holds(&Judge::new(problem), &order, groups, watch)?;
        let records = groups.places.iter().map(|place| order[*place as usize]).collect();
        Ok(Partition::from_sizes(records, groups.sizes).into())
    }
}

/// Deals records, given in random order, into groups of different values; places are those of the order.
fn deal(counted: &Protected, order: &[u32], l: usize, random: &mut impl Rng) -> Result<Groups> {
    let value = |place: u32| counted.codes[order[place as usize] as usize];
    let mut buckets: Vec<Vec<u32>> = vec![Vec::new(); counted.domain.len()];
    (0..order.len() as u32).for_each(|place| buckets[value(place) as usize].push(place));
    let mut largest: BinaryHeap<(usize, Reverse<u32>)> = (0..)
        .zip(&buckets)
        .filter(|(_, bucket)| !bucket.is_empty())
        .map(|(value, bucket)| (bucket.len(), Reverse(value)))
        .collect();
    let mut groups: Vec<Vec<u32>> = Vec::with_capacity(order.len() / l);
    let mut drawn = Vec::with_capacity(l);
    while largest.len() >= l {
        drawn.clear();
        drawn.extend((0..l).filter_map(|_| largest.pop()));
        // The order is random, so the last of a bucket is a random one.
        groups.push(drawn.iter().filter_map(|(_, Reverse(value))| buckets[*value as usize].pop()).collect());
        largest.extend(drawn.iter().filter(|(size, _)| *size > 1).map(|(size, value)| (size - 1, *value)));
    }
    for place in buckets.into_iter().flatten() {
        let from = random.random_range(0..groups.len().max(1)).min(groups.len());
        let fits = |group: &&mut Vec<u32>| group.iter().all(|other| value(*other) != value(place));
        let (before, after) = groups.split_at_mut(from);
        match after.iter_mut().chain(before).find(fits) {
            Some(group) => group.push(place),
            None => return Err(Error::bug("a record is left over and fits no group")),
        }
    }
    let sizes = groups.iter().map(Vec::len).collect();
    Ok(Groups { places: groups.concat(), sizes })
}
