//! Counts of what leaves would fall into if a value they hold were refined, and the anonymity that would be left.
//!
//! A(QID) after refining x is the least of A(QID) now and of the combinations that the refinement would make. When
//! another value is refined, those combinations only fall apart further, so their least count is a running minimum:
//! it is enough to look at the leaves that were just made. Counts per quasi-identifier (QITS) are sums of counts of
//! leaves; where a quasi-identifier has all attributes, a leaf is a combination and nothing is summed.

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use rayon::slice::ParallelSlice;

use super::leaves::{LONG, Leaves, Piece};
use super::quasi::Qid;
use super::rows::{Rows, Slice};
use super::state::{NONE, Shape, State};
use crate::privacy::{Requirement, Tally};
use crate::problem::{Code, Counted, LANES, Lanes};
use crate::table::Map;

/// Fewer rows than this are not worth preparing for.
const FEW: usize = 64;
/// More children than this are looked up.
const MOST_BANDS: usize = 10;

/// What is asked of every class beyond its size.
pub(super) struct Beyond<'a> {
    pub requirement: &'a Requirement,
    pub sensitive: &'a [Counted],
}

/// Which candidate a refinement of a value is: by value, or by code where values are hidden.
pub(super) type Candidates = Vec<Vec<u32>>;

/// All that counting looks at.
pub(super) struct Counter<'a, C> {
    pub rows: &'a Rows,
    pub leaves: &'a Leaves<C>,
    pub states: &'a [State],
    pub candidates: &'a Candidates,
    /// How many candidates there are.
    pub count: usize,
    /// Attributes whose candidates may change, those with none left out.
    pub affected: &'a [usize],
    pub beyond: Option<&'a Beyond<'a>>,
}

/// How many records of a leaf go where if one of its values is refined.
#[derive(Clone, Copy, Debug)]
struct Entry {
    attribute: u32,
    slot: u32,
    records: u32,
}

/// The counts of some pieces.
pub(super) struct Counts {
    entries: Vec<Entry>,
    /// Where the entries of each piece end.
    ends: Vec<u32>,
    /// Candidates that would make a class which falls short beyond its size.
    pub refused: Vec<u32>,
}

impl<C: Code> Counter<'_, C> {
    /// Counts for all pieces, in batches.
    pub fn count(&self, pieces: &[Piece]) -> Vec<Counts> {
        let batch = pieces.len().div_ceil(64).max(1);
        pieces
            .par_chunks(batch)
            .map_init(|| vec![0u32; self.offsets().1], |dense, batch| self.count_batch(batch, dense))
            .collect()
    }

    /// Where the slots of each attribute begin in one list of all slots, and its length.
    fn offsets(&self) -> (Vec<usize>, usize) {
        let mut all = 0;
        let offsets = self
            .states
            .iter()
            .map(|state| {
                all += state.slots;
                all - state.slots
            })
            .collect();
        (offsets, all)
    }

    fn count_batch(&self, pieces: &[Piece], dense: &mut [u32]) -> Counts {
        let (offsets, _) = self.offsets();
        let mut counted = Counts { entries: Vec::new(), ends: Vec::new(), refused: Vec::new() };
        let mut open = Vec::with_capacity(self.affected.len());
        for piece in pieces {
            open.clear();
            open.extend(self.open_attributes(piece.leaf));
            self.count_piece(piece.leaf, &open, &offsets, dense, &mut counted.entries);
            counted.ends.push(counted.entries.len() as u32);
            if let Some(beyond) = self.beyond {
                self.refuse(beyond, piece.leaf, &open, &mut counted.refused);
            }
        }
        counted
    }

    /// The affected attributes whose value in a leaf could still be refined.
    fn open_attributes(&self, leaf: u32) -> impl Iterator<Item = usize> {
        let masks = self.leaves.masks(leaf);
        let open = move |attribute: &usize| match self.states[*attribute].shape {
            Shape::Suppression => masks[*attribute] == 0,
            _ => candidate(&self.candidates[*attribute], masks[*attribute]) != NONE,
        };
        self.affected.iter().copied().filter(open)
    }

    fn count_piece(
        &self,
        leaf: u32,
        open: &[usize],
        offsets: &[usize],
        dense: &mut [u32],
        entries: &mut Vec<Entry>,
    ) {
        let (rows, codes, stride) = self.leaves.slice(leaf);
        if rows.len() > LONG {
            let add = |mut one: Vec<u32>, other: Vec<u32>| {
                one.iter_mut().zip(other).for_each(|(one, other)| *one += other);
                one
            };
            let zeros = || vec![0u32; dense.len()];
            let sums = rows
                .par_chunks(LONG / 2)
                .zip(codes.par_chunks(LONG / 2 * stride))
                .fold(zeros, |mut sums, (rows, codes)| {
                    self.count_rows(leaf, (rows, codes, stride), open, offsets, &mut sums);
                    sums
                })
                .reduce(zeros, add);
            dense.copy_from_slice(&sums);
        } else {
            self.count_rows(leaf, (rows, codes, stride), open, offsets, dense);
        }
        for &attribute in open {
            let state = &self.states[attribute];
            let mut take = |slot: u32| {
                let records = std::mem::take(&mut dense[offsets[attribute] + slot as usize]);
                if records > 0 {
                    entries.push(Entry { attribute: attribute as u32, slot, records });
                }
            };
            if state.slots <= 2 * rows.len() {
                (0..state.slots as u32).for_each(take);
            } else {
                slots_of(state, attribute, (rows, codes, stride)).for_each(|(_, slot)| take(slot));
            }
        }
    }

    /// Counts the slots of some rows of a leaf: by comparing all attributes at once where that is possible, by looking
    /// slots up where it is not.
    fn count_rows(
        &self,
        leaf: u32,
        slice: Slice<'_, C>,
        open: &[usize],
        offsets: &[usize],
        dense: &mut [u32],
    ) {
        if slice.0.len() < FEW {
            return self.look_few_up(slice, open, offsets, dense);
        }
        let (banded, listed): (Vec<usize>, Vec<usize>) = open
            .iter()
            .copied()
            .partition(|attribute| (1..=MOST_BANDS).contains(&self.bands(leaf, *attribute).count()));
        if !listed.is_empty() {
            self.look_up(slice, &listed, offsets, dense);
        }
        if banded.is_empty() {
            return;
        }
        // Of m ranges of codes in order, the counts of codes from the start of each but the first.
        let starts: Vec<Vec<u32>> =
            banded.iter().map(|attribute| self.bands(leaf, *attribute).collect()).collect();
        let above = self.rows.count_from(slice, &banded, &starts);
        let all = self.rows.records(slice.0);
        for ((attribute, starts), above) in banded.iter().zip(&starts).zip(above) {
            for slot in 0..starts.len() {
                let from = if slot == 0 { all } else { above[slot - 1] };
                dense[offsets[*attribute] + slot] += from - above.get(slot).copied().unwrap_or(0);
            }
        }
    }

    /// Where each of the ranges of codes begins that a leaf's value of an attribute could become: the children of the
    /// value, or where it hides codes, each code.
    fn bands(&self, leaf: u32, attribute: usize) -> impl Iterator<Item = u32> + '_ {
        let state = &self.states[attribute];
        let hidden = if state.shape == Shape::Suppression { state.slots as u32 } else { 0 };
        let value = &state.values[self.leaves.masks(leaf)[attribute] as usize];
        (0..hidden).chain(value.children.iter().map(|child| state.values[*child as usize].low))
    }

    /// As [`Self::look_up`] for so few rows that preparing costs more than it saves.
    fn look_few_up(
        &self,
        (rows, codes, stride): Slice<'_, C>,
        open: &[usize],
        offsets: &[usize],
        dense: &mut [u32],
    ) {
        for &attribute in open {
            let (slot, dense) = (&self.states[attribute].slot, &mut dense[offsets[attribute]..]);
            let lanes = codes[attribute / LANES..].iter().step_by(stride);
            for (row, lanes) in rows.iter().zip(lanes) {
                dense[slot[lanes[attribute % LANES].index()] as usize] += self.rows.weight(*row);
            }
        }
    }

    fn look_up(
        &self,
        (rows, codes, stride): Slice<'_, C>,
        open: &[usize],
        offsets: &[usize],
        dense: &mut [u32],
    ) {
        let looks: Vec<(usize, &[u32], usize)> =
            open.iter().map(|at| (*at, self.states[*at].slot.as_slice(), offsets[*at])).collect();
        for (row, codes) in rows.iter().zip(codes.chunks_exact(stride)) {
            let weight = self.rows.weight(*row);
            let codes = codes.as_flattened();
            for &(attribute, slot, offset) in &looks {
                dense[offset + slot[codes[attribute].index()] as usize] += weight;
            }
        }
    }

    /// Finds candidates that would make a class of this leaf's records fall short beyond its size. Rows are records
    /// here.
    fn refuse(&self, beyond: &Beyond<'_>, leaf: u32, open: &[usize], refused: &mut Vec<u32>) {
        let rows = self.leaves.rows(leaf);
        let domains: Vec<usize> = beyond.sensitive.iter().map(|counted| counted.domain.len()).collect();
        let (mut whole, mut own) = (Tally::new(&domains), Tally::new(&domains));
        rows.iter().for_each(|row| whole.add_record(beyond.sensitive, *row));
        let values =
            |row: u32| beyond.sensitive.iter().map(|counted| counted.codes[row as usize]).collect::<Vec<_>>();
        for &attribute in open {
            let state = &self.states[attribute];
            let mut sorted: Vec<(u32, u32)> =
                slots_of(state, attribute, self.leaves.slice(leaf)).map(|(row, slot)| (slot, row)).collect();
            sorted.sort_unstable();
            for class in sorted.chunk_by(|one, other| one.0 == other.0) {
                let hides = state.shape == Shape::Suppression;
                let at = if hides { class[0].0 } else { self.leaves.masks(leaf)[attribute] };
                let at = candidate(&self.candidates[attribute], at);
                if at == NONE || refused.last() == Some(&at) {
                    continue;
                }
                own.clear();
                class.iter().for_each(|(_, row)| own.add_record(beyond.sensitive, *row));
                let mut holds = beyond.requirement.holds_beyond_size(&own);
                if holds && hides && class.len() < rows.len() {
                    class.iter().for_each(|(_, row)| whole.remove(&values(*row)));
                    holds = beyond.requirement.holds_beyond_size(&whole);
                    class.iter().for_each(|(_, row)| whole.add_record(beyond.sensitive, *row));
                }
                if !holds {
                    refused.push(at);
                }
            }
        }
    }

    /// The least count that each candidate would make on the quasi-identifier of all attributes, and the least
    /// count of the pieces themselves.
    pub fn least_of_leaves(&self, pieces: &[Piece], counted: &[Counts]) -> (Vec<u32>, u32) {
        let mut least = Least::new(self.count);
        let mut pieces = pieces.iter();
        for batch in counted {
            let mut start = 0;
            for (&end, piece) in batch.ends.iter().zip(&mut pieces) {
                let size = self.leaves.leaves[piece.leaf as usize].size;
                least.of_combinations = least.of_combinations.min(size);
                for entry in &batch.entries[start as usize..end as usize] {
                    self.fold(piece.leaf, entry, size, &mut least.of_candidates);
                }
                start = end;
            }
        }
        (least.of_candidates, least.of_combinations)
    }

    /// The same for a quasi-identifier of some attributes; `group_of` tells the combination of each leaf.
    pub fn least_of_groups(
        &self,
        qid: &Qid,
        group_of: &[u32],
        pieces: &[Piece],
        counted: &[Counts],
    ) -> (Vec<u32>, u32) {
        let (offsets, slots) = self.offsets();
        let ends = counted.iter().flat_map(|batch| {
            let starts = std::iter::once(0).chain(batch.ends.iter().copied());
            starts.zip(&batch.ends).map(|(start, end)| &batch.entries[start as usize..*end as usize])
        });
        let mut members: Vec<(u32, &Piece, &[Entry])> =
            pieces.iter().zip(ends).map(|(piece, own)| (group_of[piece.leaf as usize], piece, own)).collect();
        members.sort_by_key(|(group, ..)| *group);
        let mut inside = vec![false; self.states.len()];
        qid.attributes.iter().for_each(|attribute| inside[*attribute] = true);
        let mut least = Least::new(self.count);
        let mut dense = vec![0u32; slots];
        let mut touched: Vec<Entry> = Vec::new();
        for group in members.chunk_by(|one, other| one.0 == other.0) {
            let leaf = group[0].1.leaf;
            let mut size = 0;
            for (_, piece, entries) in group {
                size += self.leaves.leaves[piece.leaf as usize].size;
                for entry in entries.iter().filter(|entry| inside[entry.attribute as usize]) {
                    let sum = &mut dense[offsets[entry.attribute as usize] + entry.slot as usize];
                    if *sum == 0 {
                        touched.push(*entry);
                    }
                    *sum += entry.records;
                }
            }
            least.of_combinations = least.of_combinations.min(size);
            for mut entry in touched.drain(..) {
                let at = offsets[entry.attribute as usize] + entry.slot as usize;
                entry.records = std::mem::take(&mut dense[at]);
                self.fold(leaf, &entry, size, &mut least.of_candidates);
            }
        }
        (least.of_candidates, least.of_combinations)
    }

    /// Takes one count into the least of its candidate.
    #[inline]
    fn fold(&self, leaf: u32, entry: &Entry, size: u32, least: &mut [u32]) {
        let attribute = entry.attribute as usize;
        let (at, records) = match self.states[attribute].shape {
            // Disclosing a value leaves the others hidden together.
            Shape::Suppression if size > entry.records => {
                (entry.slot, entry.records.min(size - entry.records))
            }
            Shape::Suppression => (entry.slot, entry.records),
            _ => (self.leaves.masks(leaf)[attribute], entry.records),
        };
        let at = candidate(&self.candidates[attribute], at);
        if at != NONE {
            least[at as usize] = least[at as usize].min(records);
        }
    }
}

/// Some rows with the slot of each.
fn slots_of<'a, C: Code>(
    state: &'a State,
    attribute: usize,
    (rows, codes, stride): Slice<'a, C>,
) -> impl Iterator<Item = (u32, u32)> + 'a {
    let slot = move |codes: &[Lanes<C>]| state.slot[codes[attribute / LANES][attribute % LANES].index()];
    rows.iter().copied().zip(codes.chunks_exact(stride).map(slot))
}

/// The candidate that refines a value.
#[inline(always)]
fn candidate(candidates: &[u32], value: u32) -> u32 {
    candidates.get(value as usize).copied().unwrap_or(NONE)
}

/// Least counts so far.
struct Least {
    of_candidates: Vec<u32>,
    of_combinations: u32,
}

impl Least {
    fn new(candidates: usize) -> Self {
        Least { of_candidates: vec![u32::MAX; candidates], of_combinations: u32::MAX }
    }
}

/// The combinations of a quasi-identifier: which one each leaf has.
pub(super) struct Groups {
    pub of_leaf: Vec<u32>,
    next: u32,
}

impl Groups {
    pub fn new() -> Self {
        Groups { of_leaf: vec![0], next: 1 }
    }

    /// Follows a refinement; `splits` tells whether the refined attribute is one of the quasi-identifier's.
    pub fn follow(&mut self, pieces: &[Piece], splits: bool) {
        let mut known: Map<(u32, u32), u32> = Map::default();
        // Pieces of a leaf are next to each other, and the first takes its place: its old group is asked for first.
        let mut group = 0;
        for piece in pieces {
            if piece.leaf == piece.from {
                group = self.of_leaf[piece.from as usize];
            } else {
                self.of_leaf.push(group);
            }
            if splits {
                let own = known.entry((group, piece.side)).or_insert_with(|| {
                    self.next += 1;
                    self.next - 1
                });
                self.of_leaf[piece.leaf as usize] = *own;
            }
        }
    }
}

/// Runs the counting of all quasi-identifiers that hold an attribute side by side.
pub(super) fn in_parallel<T: Send>(qids: &[usize], each: impl Fn(usize) -> T + Sync) -> Vec<T> {
    qids.par_iter().map(|qid| each(*qid)).collect()
}
