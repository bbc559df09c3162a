//! One quasi-identifier of a search: the records in leaves of its own, and what refinements would leave of it.
//!
//! Leaves of all attributes would be combinations only of a quasi-identifier of all of them; those of others would have to be
//! summed up, over leaves that get ever smaller, since nothing keeps their size up. Leaves of one quasi-identifier never
//! have fewer than k records, and a refinement touches those of the quasi-identifiers that hold its attribute alone.

use std::hash::Hash;

use super::counting::{Candidates, Column, Counter, Least};
use super::leaves::{Deal, Leaves, Piece};
use super::quasi::Qid;
use super::rows::Rows;
use super::state::{NONE, State};
use crate::parallel;
use crate::privacy::Judge;
use crate::problem::{Code, LANES, Lanes, Matrix, Problem};
use crate::with_matrix;

/// What the search knows when it asks for counts.
pub(super) struct Known<'a> {
    pub states: &'a [State],
    pub candidates: &'a Candidates,
    /// How many candidates there are.
    pub count: usize,
    pub beyond: Option<&'a Judge<'a>>,
}

/// A quasi-identifier.
pub(super) struct Part {
    pub qid: Qid,
    /// A(QID).
    pub anonymity: u32,
    /// The least count that each candidate would make, for those of its attributes.
    least: Vec<u32>,
    /// Whether it is the one that classes are looked at beyond their size for.
    beyond: bool,
    tips: Box<dyn Tips>,
}

impl Part {
    /// All records in one leaf. `beyond` tells whether classes are looked at beyond their size.
    pub fn new(problem: &Problem, qid: Qid, beyond: bool) -> Self {
        let largest = qid.attributes.iter().map(|at| problem.attributes[*at].domain.len()).max().unwrap_or(0);
        let tips = match largest {
            0..=0x100 => tips::<u8>(problem, &qid.attributes, beyond),
            _ => tips::<u32>(problem, &qid.attributes, beyond),
        };
        Part { qid, anonymity: problem.len() as u32, least: Vec::new(), beyond, tips }
    }

    /// Counts for the leaf of all records; gives back refused candidates.
    pub fn begin(&mut self, known: &Known<'_>) -> Vec<u32> {
        self.count(&[Piece { leaf: 0 }], known)
    }

    /// Performs a refinement of one of its attributes and counts the leaves it makes; gives back refused candidates.
    pub fn refine(&mut self, deal: &Deal<'_>, known: &Known<'_>) -> Vec<u32> {
        let Ok(column) = self.qid.attributes.binary_search(&deal.attribute) else { return Vec::new() };
        let pieces = self.tips.refine(&Deal { attribute: column, ..*deal });
        self.count(&pieces, known)
    }

    fn count(&mut self, pieces: &[Piece], known: &Known<'_>) -> Vec<u32> {
        let mut slots = 0;
        let column = |attribute: &usize| {
            let state = &known.states[*attribute];
            slots += state.slots;
            Column { state, candidates: &known.candidates[*attribute], offset: slots - state.slots }
        };
        let columns: Vec<Column<'_>> = self.qid.attributes.iter().map(column).collect();
        let own = Known { beyond: known.beyond.filter(|_| self.beyond), ..*known };
        let found = self.tips.count(pieces, &columns, &own);
        self.anonymity = self.anonymity.min(found.of_pieces);
        self.least.resize(known.count, u32::MAX);
        let both = self.least.iter_mut().zip(found.of_candidates);
        both.for_each(|(least, found)| *least = found.min(*least));
        found.refused
    }

    /// A(QID) after a refinement of one of its attributes.
    pub fn anonymity_after(&self, candidate: usize) -> u32 {
        self.anonymity.min(self.least[candidate])
    }

    /// Number of combinations.
    pub fn combinations(&self) -> usize {
        self.tips.leaves()
    }

    /// The records, leaf by leaf, and the size of each leaf.
    pub fn records(&self) -> (Vec<u32>, Vec<u32>) {
        self.tips.records()
    }

    /// The masked value of an attribute in each leaf, if it is one of the quasi-identifier's.
    pub fn masks(&self, attribute: usize) -> Option<Vec<u32>> {
        self.qid.attributes.binary_search(&attribute).ok().map(|column| self.tips.masks(column))
    }
}

/// Leaves of codes of some width.
trait Tips: Send + Sync {
    fn refine(&mut self, deal: &Deal<'_>) -> Vec<Piece>;
    fn count(&self, pieces: &[Piece], columns: &[Column<'_>], known: &Known<'_>) -> Least;
    fn leaves(&self) -> usize;
    fn records(&self) -> (Vec<u32>, Vec<u32>);
    fn masks(&self, column: usize) -> Vec<u32>;
}

struct Typed<C> {
    rows: Rows,
    leaves: Leaves<C>,
}

fn tips<C: Code + Hash>(problem: &Problem, attributes: &[usize], each_record: bool) -> Box<dyn Tips> {
    let own: Matrix<C> = with_matrix!(&problem.records, matrix => columns(matrix, attributes));
    let (rows, codes) = if each_record { Rows::each_record(own) } else { Rows::compress(own) };
    Box::new(Typed { rows, leaves: Leaves::new(codes, problem.len(), attributes.len()) })
}

/// Some columns of a matrix, in a width that fits them. What is beside them in a row follows from them.
fn columns<C: Code, D: Code>(matrix: &Matrix<D>, attributes: &[usize]) -> Matrix<C> {
    let stride = attributes.len().div_ceil(LANES).max(1);
    // For each lane of a row the attribute it takes.
    let mut from = vec![[attributes.first().copied().unwrap_or(0); LANES]; stride];
    from.as_flattened_mut()[..attributes.len()].copy_from_slice(attributes);
    let mut data: Vec<Lanes<C>> = vec![[C::default(); LANES]; matrix.len() * stride];
    let rows = 1 << 12;
    parallel::chunks_mut(&mut data, rows * stride, |piece, targets| {
        let first = piece * rows;
        if let (&[from], 1) = (from.as_slice(), matrix.stride()) {
            let sources = &matrix.data()[first..][..targets.len()];
            for row in 0..targets.len() {
                for lane in 0..LANES {
                    targets[row][lane] = C::from_index(sources[row][from[lane] % LANES].index());
                }
            }
            return;
        }
        for row in 0..targets.len() / stride {
            let source = matrix.row(first + row).as_flattened();
            for at in 0..stride {
                for lane in 0..LANES {
                    targets[row * stride + at][lane] = C::from_index(source[from[at][lane]].index());
                }
            }
        }
    });
    Matrix::from_data(data, stride)
}

impl<C: Code> Tips for Typed<C> {
    fn refine(&mut self, deal: &Deal<'_>) -> Vec<Piece> {
        self.leaves.refine(&self.rows, deal)
    }

    fn count(&self, pieces: &[Piece], columns: &[Column<'_>], known: &Known<'_>) -> Least {
        let open = |column: &usize| columns[*column].candidates.iter().any(|at| *at != NONE);
        let affected: Vec<usize> = (0..columns.len()).filter(open).collect();
        let (rows, leaves) = (&self.rows, &self.leaves);
        let Known { count, beyond, .. } = *known;
        Counter { rows, leaves, columns, count, affected: &affected, beyond }.count(pieces)
    }

    fn leaves(&self) -> usize {
        self.leaves.leaves.len()
    }

    fn records(&self) -> (Vec<u32>, Vec<u32>) {
        let sizes: Vec<u32> = self.leaves.leaves.iter().map(|leaf| leaf.size).collect();
        let mut records = Vec::with_capacity(sizes.iter().map(|size| *size as usize).sum());
        for leaf in 0..sizes.len() as u32 {
            self.rows.extend_with_records(self.leaves.rows(leaf), &mut records);
        }
        (records, sizes)
    }

    fn masks(&self, column: usize) -> Vec<u32> {
        (0..self.leaves.leaves.len() as u32).map(|leaf| self.leaves.masks(leaf)[column]).collect()
    }
}
