//! The classes that a search ends with: records with equal masked values on all attributes.
//!
//! The leaves of one quasi-identifier are taken as they are; they fall apart further by the attributes it does not hold.

use super::part::Part;
use super::state::State;
use crate::method::{Boxes, Partition};
use crate::parallel;
use crate::problem::{Code, Problem};
use crate::with_matrix;

/// The lowest and highest code of what is published.
type Cell = (u32, u32);

/// The classes and how they are published.
pub(super) fn of(problem: &Problem, states: &[State], parts: &[Part]) -> (Partition, Boxes) {
    let cell = |attribute: usize, value: u32| {
        let value = &states[attribute].values[value as usize];
        (value.low, value.high)
    };
    let whole = || ((0..problem.len() as u32).collect(), vec![problem.len() as u32]);
    // The most leaves are the smallest: then little is left to sort.
    let start = parts.iter().max_by_key(|part| part.combinations());
    let (mut records, mut sizes): (Vec<u32>, Vec<u32>) = start.map_or_else(whole, Part::records);
    let first: Vec<u32> = states.iter().map(|state| state.shown()[0]).collect();
    let mut cells: Vec<Vec<Cell>> =
        parallel::map(0..states.len(), |at| match start.and_then(|part| part.masks(at)) {
            Some(masks) => masks.into_iter().map(|value| cell(at, value)).collect(),
            None => vec![cell(at, first[at]); sizes.len()],
        });
    let rest = (0..states.len()).filter(|at| start.is_none_or(|part| !part.qid.contains(*at)));
    for lot in lots(states, rest) {
        let pieces = fall_apart(&mut records, &sizes, &numbers(problem, &lot));
        cells = parallel::map(cells.into_iter().enumerate(), |(at, before)| {
            match lot.iter().find(|told| told.attribute == at) {
                Some(told) => pieces.iter().map(|piece| cell(at, told.value(piece.number))).collect(),
                None => pieces.iter().map(|piece| before[piece.of as usize]).collect(),
            }
        });
        sizes = pieces.into_iter().map(|piece| piece.size).collect();
    }
    let sizes = sizes.into_iter().map(|size| size as usize);
    (Partition::from_sizes(records, sizes), Boxes { ends: cells })
}

/// An attribute whose masked values are told apart by a number, together with those of others.
struct Told {
    attribute: usize,
    /// What each code adds to the number.
    adds: Vec<u32>,
    /// What the next value adds more than one does.
    step: u64,
    /// The masked values.
    values: Vec<u32>,
}

impl Told {
    /// The value that a number tells.
    fn value(&self, number: u32) -> u32 {
        self.values[(u64::from(number) / self.step % self.values.len() as u64) as usize]
    }
}

/// Puts attributes into lots whose combinations can be told apart by a number of 32 bits each.
fn lots(states: &[State], attributes: impl Iterator<Item = usize>) -> Vec<Vec<Told>> {
    let (mut lots, mut lot, mut step) = (Vec::new(), Vec::new(), 1u64);
    for attribute in attributes {
        let shown = states[attribute].shown();
        let mut values = shown.clone();
        values.sort_unstable();
        values.dedup();
        if values.len() < 2 {
            continue;
        }
        if step * values.len() as u64 > 1 << u32::BITS {
            lots.push(std::mem::take(&mut lot));
            step = 1;
        }
        let place = |value: &u32| values.partition_point(|other| other < value) as u64;
        let adds = shown.iter().map(|value| (place(value) * step) as u32).collect();
        let next = step * values.len() as u64;
        lot.push(Told { attribute, adds, step, values });
        step = next;
    }
    lots.extend((!lot.is_empty()).then_some(lot));
    lots
}

/// The number of each record.
fn numbers(problem: &Problem, lot: &[Told]) -> Vec<u32> {
    with_matrix!(&problem.records, matrix => {
        let number = |record: usize| {
            let row = matrix.row(record).as_flattened();
            lot.iter().map(|told| told.adds[row[told.attribute].index()]).sum()
        };
        parallel::fill(problem.len(), parallel::FEW_STEPS, number)
    })
}

/// Records of one group with the same number.
struct Piece {
    of: u32,
    number: u32,
    size: u32,
}

/// Orders the records of each group by their numbers; gives back the pieces that they fall into.
fn fall_apart(records: &mut [u32], sizes: &[u32], numbers: &[u32]) -> Vec<Piece> {
    let mut groups = Vec::with_capacity(sizes.len());
    let mut rest = records;
    for (of, &size) in (0..).zip(sizes) {
        let (own, after) = rest.split_at_mut(size as usize);
        groups.push((of, own));
        rest = after;
    }
    let order = |words: &mut Vec<u64>, pieces: &mut Vec<Piece>, (of, group): &mut (u32, &mut [u32])| {
        words.clear();
        let word = |record: &u32| u64::from(numbers[*record as usize]) << u32::BITS | u64::from(*record);
        words.extend(group.iter().map(word));
        parallel::sort(words);
        group.iter_mut().zip(&*words).for_each(|(record, word)| *record = *word as u32);
        let number = |word: &u64| (word >> u32::BITS) as u32;
        let runs = words.chunk_by(|one, other| number(one) == number(other));
        pieces.extend(runs.map(|run| Piece { of: *of, number: number(&run[0]), size: run.len() as u32 }));
    };
    let each = parallel::length_of_a_piece(groups.len(), 1);
    let ordered = parallel::map(groups.chunks_mut(each), |groups| {
        let (mut words, mut pieces) = (Vec::new(), Vec::new());
        groups.iter_mut().for_each(|group| order(&mut words, &mut pieces, group));
        pieces
    });
    ordered.into_iter().flatten().collect()
}
