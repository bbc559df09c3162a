//! Counts of what leaves would fall into if a value they hold were refined, and the anonymity that would be left.
//!
//! A(QID) after refining x is the least of A(QID) now and of the combinations that the refinement would make. When
//! another value is refined, those combinations only fall apart further, so their least count is a running minimum:
//! it is enough to look at the leaves that were just made. Every quasi-identifier has leaves of its own, so a leaf is a
//! combination and its counts are those of the quasi-identifier (QITS).

use super::leaves::{LONG, Leaves, Piece};
use super::rows::{Rows, Slice};
use super::state::{NONE, Shape, State};
use crate::parallel;
use crate::privacy::Judge;
use crate::problem::{Code, LANES, Lanes};

/// Fewer rows than this are not worth preparing for.
const FEW: usize = 64;
/// More children than this are looked up.
const MOST_BANDS: usize = 10;

/// Which candidate a refinement of a value is: by value, or by code where values are hidden.
pub(super) type Candidates = Vec<Vec<u32>>;

/// What the search knows of an attribute, for one column of codes.
pub(super) struct Column<'a> {
    pub state: &'a State,
    /// Which candidate refines each value.
    pub candidates: &'a [u32],
    /// Where its slots begin in one list of the slots of all columns.
    pub offset: usize,
}

/// All that counting looks at.
pub(super) struct Counter<'a, C> {
    pub rows: &'a Rows,
    pub leaves: &'a Leaves<C>,
    pub columns: &'a [Column<'a>],
    /// How many candidates there are.
    pub count: usize,
    /// The columns whose candidates may change, those with none left out.
    pub affected: &'a [usize],
    /// What is asked of every class beyond its size.
    pub beyond: Option<&'a Judge<'a>>,
}

/// What some pieces would leave.
pub(super) struct Least {
    /// The least count that each candidate would make.
    pub of_candidates: Vec<u32>,
    /// The least count of the pieces themselves.
    pub of_pieces: u32,
    /// Candidates that would make a class which falls short beyond its size.
    pub refused: Vec<u32>,
    /// Room to count in, all zeros.
    dense: Vec<u32>,
}

impl Least {
    /// What both leave; refused candidates are a set, in no order.
    fn and(mut self, other: Least) -> Least {
        for at in 0..self.of_candidates.len() {
            self.of_candidates[at] = self.of_candidates[at].min(other.of_candidates[at]);
        }
        self.of_pieces = self.of_pieces.min(other.of_pieces);
        self.refused.extend(other.refused);
        self
    }
}

impl<C: Code> Counter<'_, C> {
    /// Counts for all pieces, in batches.
    pub fn count(&self, pieces: &[Piece]) -> Least {
        let slots = self.columns.last().map_or(0, |column| column.offset + column.state.slots);
        let nothing = || Least {
            of_candidates: vec![u32::MAX; self.count],
            of_pieces: u32::MAX,
            refused: Vec::new(),
            dense: vec![0; slots],
        };
        let batches: Vec<&[Piece]> = pieces.chunks(pieces.len().div_ceil(64).max(1)).collect();
        let counted = parallel::parts(batches.len(), nothing, |least, batch| {
            let mut open = Vec::with_capacity(self.affected.len());
            for piece in batches[batch] {
                open.clear();
                open.extend(self.open_columns(piece.leaf));
                self.count_piece(piece.leaf, &open, least);
                if let Some(beyond) = self.beyond {
                    self.refuse(beyond, piece.leaf, &open, &mut least.refused);
                }
            }
        });
        counted.into_iter().reduce(Least::and).unwrap_or_else(nothing)
    }

    /// The affected columns whose value in a leaf could still be refined.
    fn open_columns(&self, leaf: u32) -> impl Iterator<Item = usize> {
        let masks = self.leaves.masks(leaf);
        let open = move |column: &usize| match self.columns[*column].state.shape {
            Shape::Suppression => masks[*column] == 0,
            _ => self.columns[*column].state.values[masks[*column] as usize].open > 0,
        };
        self.affected.iter().copied().filter(open)
    }

    fn count_piece(&self, leaf: u32, open: &[usize], least: &mut Least) {
        let (rows, codes, stride) = self.leaves.slice(leaf);
        let dense = &mut least.dense;
        if rows.len() > LONG {
            let (width, each) = (dense.len(), LONG / 2);
            let zeros = || vec![0u32; width];
            let count = |sums: &mut Vec<u32>, piece: usize| {
                let (start, end) = (piece * each, rows.len().min((piece + 1) * each));
                let slice = (&rows[start..end], &codes[start * stride..end * stride], stride);
                self.count_rows(leaf, slice, open, sums);
            };
            for sums in parallel::parts(rows.len().div_ceil(each), zeros, count) {
                for slot in 0..width {
                    dense[slot] += sums[slot];
                }
            }
        } else {
            self.count_rows(leaf, (rows, codes, stride), open, dense);
        }
        let size = self.leaves.leaves[leaf as usize].size;
        least.of_pieces = least.of_pieces.min(size);
        for &column in open {
            let Column { state, offset, .. } = self.columns[column];
            let mut take = |slot: u32| {
                let records = std::mem::take(&mut dense[offset + slot as usize]);
                if records > 0 {
                    self.fold(leaf, column, (slot, records), size, &mut least.of_candidates);
                }
            };
            if state.slots <= 2 * rows.len() {
                (0..state.slots as u32).for_each(take);
            } else {
                slots_of(state, column, (rows, codes, stride)).for_each(|(_, slot)| take(slot));
            }
        }
    }

    /// Takes the records of one slot into the least of its candidate.
    #[inline]
    fn fold(&self, leaf: u32, column: usize, (slot, records): (u32, u32), size: u32, least: &mut [u32]) {
        let Column { state, candidates, .. } = self.columns[column];
        let mut take = |place: u32, records: u32| {
            let at = candidate(candidates, place);
            if at != NONE {
                least[at as usize] = least[at as usize].min(records);
            }
        };
        // Told by itself, a value leaves the others together.
        let with_rest = if size > records { records.min(size - records) } else { records };
        if state.shape == Shape::Suppression {
            return take(slot, with_rest);
        }
        let value = self.leaves.masks(leaf)[column];
        take(value, records);
        if let Some(place) = place_of_slot(state, value, slot) {
            take(place, with_rest);
        }
    }

    /// Counts the slots of some rows of a leaf: by comparing all attributes at once where that is possible, by looking
    /// slots up where it is not.
    fn count_rows(&self, leaf: u32, slice: Slice<'_, C>, open: &[usize], dense: &mut [u32]) {
        if slice.0.len() < FEW {
            return self.look_few_up(slice, open, dense);
        }
        let (banded, listed): (Vec<usize>, Vec<usize>) = open
            .iter()
            .copied()
            .partition(|column| (1..=MOST_BANDS).contains(&self.bands(leaf, *column).count()));
        if !listed.is_empty() {
            self.look_up(slice, &listed, dense);
        }
        if banded.is_empty() {
            return;
        }
        // Of m ranges of codes in order, the counts of codes from the start of each but the first.
        let starts: Vec<Vec<u32>> = banded.iter().map(|column| self.bands(leaf, *column).collect()).collect();
        let above = self.rows.count_from(slice, &banded, &starts);
        let all = self.rows.records(slice.0);
        for ((column, starts), above) in banded.iter().zip(&starts).zip(above) {
            for slot in 0..starts.len() {
                let from = if slot == 0 { all } else { above[slot - 1] };
                dense[self.columns[*column].offset + slot] += from - above.get(slot).copied().unwrap_or(0);
            }
        }
    }

    /// Where each of the ranges of codes begins that a leaf's value of a column could become: the children of the
    /// value, or where it hides codes, each code.
    fn bands(&self, leaf: u32, column: usize) -> impl Iterator<Item = u32> + '_ {
        let state = self.columns[column].state;
        let hidden = if state.shape == Shape::Suppression { state.slots as u32 } else { 0 };
        let value = &state.values[self.leaves.masks(leaf)[column] as usize];
        (0..hidden).chain(value.children.iter().map(|child| state.values[*child as usize].low))
    }

    /// As [`Self::look_up`] for so few rows that preparing costs more than it saves.
    fn look_few_up(&self, (rows, codes, stride): Slice<'_, C>, open: &[usize], dense: &mut [u32]) {
        for &column in open {
            let Column { state, offset, .. } = self.columns[column];
            let dense = &mut dense[offset..];
            let lanes = codes[column / LANES..].iter().step_by(stride);
            for (row, lanes) in rows.iter().zip(lanes) {
                dense[state.slot[lanes[column % LANES].index()] as usize] += self.rows.weight(*row);
            }
        }
    }

    fn look_up(&self, (rows, codes, stride): Slice<'_, C>, open: &[usize], dense: &mut [u32]) {
        let look = |column: &usize| {
            let Column { state, offset, .. } = self.columns[*column];
            (*column, state.slot.as_slice(), offset)
        };
        let looks: Vec<(usize, &[u32], usize)> = open.iter().map(look).collect();
        for (row, codes) in rows.iter().zip(codes.chunks_exact(stride)) {
            let weight = self.rows.weight(*row);
            let codes = codes.as_flattened();
            for &(column, slot, offset) in &looks {
                dense[offset + slot[codes[column].index()] as usize] += weight;
            }
        }
    }

    /// Finds candidates that would make a class of this leaf's records fall short beyond its size. Rows are records
    /// here.
    fn refuse(&self, beyond: &Judge<'_>, leaf: u32, open: &[usize], refused: &mut Vec<u32>) {
        let rows = self.leaves.rows(leaf);
        let (mut whole, mut own) = (beyond.tally(), beyond.tally());
        rows.iter().for_each(|row| beyond.add(&mut whole, *row));
        for &column in open {
            let Column { state, candidates, .. } = self.columns[column];
            let mut sorted: Vec<(u32, u32)> =
                slots_of(state, column, self.leaves.slice(leaf)).map(|(row, slot)| (slot, row)).collect();
            sorted.sort_unstable();
            for class in sorted.chunk_by(|one, other| one.0 == other.0) {
                let (together, alone) = places(state, self.leaves.masks(leaf)[column], class[0].0);
                let find = |place: Option<u32>| place.map_or(NONE, |place| candidate(candidates, place));
                let (together, alone) = (find(together), find(alone));
                // All slots together are refused by the first that falls short.
                let together = if refused.last() == Some(&together) { NONE } else { together };
                if together == NONE && alone == NONE {
                    continue;
                }
                if !beyond.holds_in(&mut own, class.iter().map(|(_, row)| *row)) {
                    refused.extend([alone, together].into_iter().filter(|at| *at != NONE));
                } else if alone != NONE && class.len() < rows.len() {
                    class.iter().for_each(|(_, row)| beyond.remove(&mut whole, *row));
                    refused.extend((!beyond.allows(&whole)).then_some(alone));
                    class.iter().for_each(|(_, row)| beyond.add(&mut whole, *row));
                }
            }
        }
    }
}

/// Where the refinement of a leaf's value into the child of a slot and the rest is listed.
#[inline]
fn place_of_slot(state: &State, value: u32, slot: u32) -> Option<u32> {
    let single = state.shape == Shape::Taxonomy;
    let child = state.values[value as usize].children.get(slot as usize).filter(|_| single)?;
    Some(state.place_of_child(*child))
}

/// Where the refinements of a leaf's value that make a class of a slot are listed: the one that tells all slots apart, and the
/// one that tells this one from the others.
fn places(state: &State, value: u32, slot: u32) -> (Option<u32>, Option<u32>) {
    match state.shape {
        Shape::Suppression => (None, Some(slot)),
        _ => (Some(value), place_of_slot(state, value, slot)),
    }
}

/// Some rows with the slot of each.
fn slots_of<'a, C: Code>(
    state: &'a State,
    column: usize,
    (rows, codes, stride): Slice<'a, C>,
) -> impl Iterator<Item = (u32, u32)> + 'a {
    let slot = move |codes: &[Lanes<C>]| state.slot[codes[column / LANES][column % LANES].index()];
    rows.iter().copied().zip(codes.chunks_exact(stride).map(slot))
}

/// The candidate that refines a value.
#[inline(always)]
fn candidate(candidates: &[u32], value: u32) -> u32 {
    candidates.get(value as usize).copied().unwrap_or(NONE)
}
