//! The classes that a search ends with: records with equal masked values on all attributes.
//!
//! The leaves of one quasi-identifier are taken as they are; they fall apart further by the attributes it does not hold.

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use rayon::slice::ParallelSliceMut;

use super::leaves::LONG;
use super::part::Part;
use super::state::State;
use crate::method::{Boxes, Partition};
use crate::problem::{Code, Problem};
use crate::with_matrix;

/// The classes and how they are published.
pub(super) fn of(problem: &Problem, states: &[State], parts: &[Part]) -> (Partition, Boxes) {
    let shown: Vec<Vec<u32>> = states.iter().map(State::shown).collect();
    // The most leaves are the smallest: then little is left to sort.
    let start = parts.iter().max_by_key(|part| part.combinations());
    let (mut records, mut sizes) = match start {
        Some(part) => part.records(),
        None => ((0..problem.len() as u32).collect(), vec![problem.len()]),
    };
    let rest = (0..states.len()).filter(|at| start.is_none_or(|part| !part.qid.contains(*at)));
    for lot in lots(&shown, rest) {
        sizes = fall_apart(&mut records, &sizes, &numbers(problem, &lot));
    }
    let partition = Partition::from_sizes(records, sizes);
    let first: Vec<u32> = partition.groups().map(|group| group[0]).collect();
    let ends = with_matrix!(&problem.records, matrix => {
        let first = matrix.gather(&first);
        let ends = |attribute: usize| {
            let value = |class: usize| {
                let code = first.get(class, attribute).index();
                let value = &states[attribute].values[shown[attribute][code] as usize];
                (value.low, value.high)
            };
            (0..first.len()).map(value).collect::<Vec<_>>()
        };
        (0..states.len()).into_par_iter().map(ends).collect()
    });
    (partition, Boxes { ends, half_open: true })
}

/// Some attributes, and what each of their codes adds to a number that tells combinations of masked values apart.
type Lot = Vec<(usize, Vec<u32>)>;

/// Puts attributes into lots whose combinations can be told apart by a number of 32 bits each.
fn lots(shown: &[Vec<u32>], attributes: impl Iterator<Item = usize>) -> Vec<Lot> {
    let (mut lots, mut lot, mut combinations) = (Vec::new(), Vec::new(), 1u64);
    for attribute in attributes {
        let mut values = shown[attribute].clone();
        values.sort_unstable();
        values.dedup();
        let count = values.len() as u64;
        if combinations * count > 1 << u32::BITS {
            lots.push(std::mem::take(&mut lot));
            combinations = 1;
        }
        let place = |value: &u32| values.partition_point(|other| other < value) as u64;
        if count > 1 {
            let adds = shown[attribute].iter().map(|value| (place(value) * combinations) as u32).collect();
            lot.push((attribute, adds));
        }
        combinations *= count.max(1);
    }
    lots.extend((!lot.is_empty()).then_some(lot));
    lots
}

/// The number of each record.
fn numbers(problem: &Problem, lot: &Lot) -> Vec<u32> {
    with_matrix!(&problem.records, matrix => {
        let number = |record: usize| {
            let row = matrix.row(record).as_flattened();
            lot.iter().map(|(attribute, adds)| adds[row[*attribute].index()]).sum()
        };
        (0..problem.len()).into_par_iter().with_min_len(1 << 12).map(number).collect()
    })
}

/// Orders the records of each group by their numbers; gives back the sizes of groups with equal ones.
fn fall_apart(records: &mut [u32], sizes: &[usize], numbers: &[u32]) -> Vec<usize> {
    let mut groups = Vec::with_capacity(sizes.len());
    let mut rest = records;
    for &size in sizes {
        let (own, after) = rest.split_at_mut(size);
        groups.push(own);
        rest = after;
    }
    let order = |(mut words, mut sizes): (Vec<u64>, Vec<usize>), group: &mut [u32]| {
        words.clear();
        let word = |record: &u32| u64::from(numbers[*record as usize]) << u32::BITS | u64::from(*record);
        words.extend(group.iter().map(word));
        if words.len() > LONG {
            words.par_sort_unstable();
        } else {
            words.sort_unstable();
        }
        group.iter_mut().zip(&words).for_each(|(record, word)| *record = *word as u32);
        sizes.extend(words.chunk_by(|one, other| one >> u32::BITS == other >> u32::BITS).map(<[u64]>::len));
        (words, sizes)
    };
    let ordered = groups.into_par_iter().fold(<(Vec<u64>, Vec<usize>)>::default, order);
    let join = |mut one: Vec<usize>, other: Vec<usize>| {
        one.extend(other);
        one
    };
    ordered.map(|(_, sizes)| sizes).reduce(Vec::new, join)
}
