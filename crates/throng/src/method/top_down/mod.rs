//! Top-down local recoding: halve the table by two far records, again and again, then mend what became too small.
//!
//! Xu et al. 2006, section 4.2. A set of at least 2k records is halved by seeds ([`super::local::halves`]); a side of
//! fewer than k records is left for the end, when it takes records from a group that can spare them or merges with
//! the nearest group, whichever costs less (`adjust.rs`).
//!
//! With l-diversity or t-closeness, a set is halved only if one side at least meets the requirement; a side that
//! does not is left for the end, and merges until it holds.
//!
//! Records are put into a random order once and keep it: each set then is in a random order too, and its codes lie
//! together. Cost: O(N log N) while halves are about even, as they are with the default way to join; sets are halved
//! in parallel on disjoint slices.

mod adjust;

use super::local::halves::{Halving, Join, Room};
use super::local::random_order;
use super::options::words;
use super::{AnyWidth, Entry, OptionKind, OptionSpec, Partition, Traits, local};
use crate::error::Result;
use crate::loss::Kernel;
use crate::parallel;
use crate::privacy::{Judge, Part};
use crate::problem::{Code, Lanes, Matrix, Problem};
use crate::watch::Watch;

pub use self::adjust::Search;

/// The registry entry.
pub const TOP_DOWN: Entry = Entry {
    name: "top-down",
    summary: "halves the table by two far records, then mends groups that became too small",
    citation: "Xu, Wang, Pei, Wang, Shi, Fu: Utility-based anonymization using local recoding, KDD 2006",
    guarantee: "groups may overlap; equal records may be published differently",
    takes: &[Part::K, Part::OwnK, Part::L, Part::T, Part::People],
    needs: &[],
    options: &[
        local::ROUNDS_OPTION,
        OptionSpec {
            name: "join",
            kind: OptionKind::Choice { words: &JOINS },
            help: "what a record compares that joins one of two groups: growth of the loss, or the width as in the paper",
        },
    ],
    traits: Traits::GROUPING,
    configure: |options, _| {
        let rounds = options.whole("rounds")? as usize;
        let join = options.choice("join", Join::CHOICES)?;
        Ok(Box::new(TopDown { rounds, join, search: Search::Index }))
    },
};

const JOINS: [&str; Join::CHOICES.len()] = words(Join::CHOICES);

/// The method.
#[derive(Clone, Copy, Debug)]
pub struct TopDown {
    /// Scans for the seeds of a set.
    pub rounds: usize,
    /// What a record compares that joins one of two groups.
    pub join: Join,
    /// How groups are found that a small one takes records from or merges with.
    pub search: Search,
}

/// The stream of random numbers of the order of the records.
const STREAM: u64 = 11;
/// Sets smaller than this are not worth handing to another thread.
const PARALLEL_FROM: usize = 2048;

impl AnyWidth for TopDown {
    const STAGE: &'static str = "halving";

    fn solve_rows<C: Code>(
        &self,
        problem: &Problem,
        matrix: &Matrix<C>,
        watch: &dyn Watch,
    ) -> Result<Partition> {
        let kernel = Kernel::new(&problem.attributes);
        let mut ids = random_order(problem, STREAM);
        let mut codes = matrix.gather(&ids).into_data();
        let (mut spare_ids, mut spare_codes) = (ids.clone(), codes.clone());
        let mut sizes = vec![0; ids.len()];
        let judge = Judge::new(problem);
        let work = Work {
            halving: Halving { kernel: &kernel, rounds: self.rounds, join: self.join },
            stride: matrix.stride(),
            judge: &judge,
            watch,
        };
        let set = Set {
            codes: &mut codes,
            ids: &mut ids,
            spare_codes: &mut spare_codes,
            spare_ids: &mut spare_ids,
            sizes: &mut sizes,
        };
        parallel::scope(Box::new(|scope| work.divide(scope, set, &mut Room::default())));
        watch.check()?;
        let sizes: Vec<usize> =
            sizes.into_iter().filter(|size| *size > 0).map(|size| size as usize).collect();
        watch.stage("mending", None);
        let arranged =
            Arranged { judge: &judge, ids: &ids, rows: &Matrix::from_data(codes, matrix.stride()) };
        adjust::adjust(&arranged, &kernel, &sizes, self.search, watch)
    }
}

/// The records of a problem in another order, so that those of a group lie together. They are told by their places.
struct Arranged<'a, C> {
    judge: &'a Judge<'a>,
    ids: &'a [u32],
    rows: &'a Matrix<C>,
}

impl<C: Code> Arranged<'_, C> {
    fn row(&self, place: u32) -> &[Lanes<C>] {
        self.rows.row(place as usize)
    }

    /// The records at some places.
    fn records(&self, places: &[u32]) -> impl ExactSizeIterator<Item = u32> {
        places.iter().map(|place| self.ids[*place as usize])
    }
}

/// A set of records, room of the same size to rearrange it in, and where to tell the sizes of its parts: at the place
/// of each part's first record.
struct Set<'a, C> {
    codes: &'a mut [Lanes<C>],
    ids: &'a mut [u32],
    spare_codes: &'a mut [Lanes<C>],
    spare_ids: &'a mut [u32],
    sizes: &'a mut [u32],
}

impl<'a, C: Code> Set<'a, C> {
    fn split_at(self, middle: usize, stride: usize) -> (Set<'a, C>, Set<'a, C>) {
        let (codes, right_codes) = self.codes.split_at_mut(middle * stride);
        let (ids, right_ids) = self.ids.split_at_mut(middle);
        let (spare_codes, right_spare_codes) = self.spare_codes.split_at_mut(middle * stride);
        let (spare_ids, right_spare_ids) = self.spare_ids.split_at_mut(middle);
        let (sizes, right_sizes) = self.sizes.split_at_mut(middle);
        let right = Set {
            codes: right_codes,
            ids: right_ids,
            spare_codes: right_spare_codes,
            spare_ids: right_spare_ids,
            sizes: right_sizes,
        };
        (Set { codes, ids, spare_codes, spare_ids, sizes }, right)
    }

    fn finish(self) {
        self.sizes[0] = self.ids.len() as u32;
    }
}

struct Work<'a> {
    judge: &'a Judge<'a>,
    halving: Halving<'a>,
    stride: usize,
    watch: &'a dyn Watch,
}

impl<'a> Work<'a> {
    /// Halves a set until its parts are final. The larger half is gone on with and the smaller one is called for, so
    /// that calls nest no deeper than log N however uneven the halves are.
    fn divide<'scope, C: Code>(
        &'scope self,
        scope: &parallel::Scope<'scope>,
        mut set: Set<'scope, C>,
        room: &mut Room<C>,
    ) where
        'a: 'scope,
    {
        loop {
            let size = set.ids.len();
            if size >= PARALLEL_FROM && self.watch.check().is_err() {
                // The caller asks the watch again.
                return set.finish();
            }
            let middle = if size < 2 * self.judge.smallest() || size < 2 {
                0
            } else {
                self.halving.halve(set.codes, self.stride, room)
            };
            let goes_on = if middle == 0 { None } else { self.goes_on(&set, middle, &room.goes_first) };
            let Some(goes_on) = goes_on else {
                self.watch.advance(size as u64);
                return set.finish();
            };
            self.arrange(&mut set, middle, &room.goes_first);
            let (first, second) = set.split_at(middle, self.stride);
            let mut next = None;
            let (small, large) = if first.ids.len() <= second.ids.len() {
                ((first, goes_on[0]), (second, goes_on[1]))
            } else {
                ((second, goes_on[1]), (first, goes_on[0]))
            };
            for (part, goes_on, larger) in [(small.0, small.1, false), (large.0, large.1, true)] {
                if !goes_on {
                    self.watch.advance(part.ids.len() as u64);
                    part.finish();
                } else if larger {
                    next = Some(part);
                } else if part.ids.len() >= PARALLEL_FROM {
                    let divide =
                        move |scope: &parallel::Scope<'scope>| self.divide(scope, part, &mut Room::default());
                    parallel::spawn(scope, Box::new(divide));
                } else {
                    self.divide(scope, part, room);
                }
            }
            match next {
                Some(part) => set = part,
                None => return,
            }
        }
    }

    /// Which sides may be halved further; `None` if the set must stay whole.
    fn goes_on<C: Code>(&self, set: &Set<'_, C>, middle: usize, goes_first: &[bool]) -> Option<[bool; 2]> {
        let sizes = [middle, set.ids.len() - middle];
        let divided = set.ids.iter().copied().zip(goes_first.iter().copied());
        let holds = self.judge.holds_divided(sizes, divided);
        (holds[0] || holds[1]).then_some(holds)
    }

    /// Puts the first half before the second, each in the order it was.
    fn arrange<C: Code>(&self, set: &mut Set<'_, C>, middle: usize, goes_first: &[bool]) {
        let stride = self.stride;
        let (mut left, mut right) = (0, middle);
        for (row, &first) in goes_first.iter().enumerate() {
            let target = if first { left } else { right };
            left += usize::from(first);
            right += usize::from(!first);
            set.spare_ids[target] = set.ids[row];
            for lanes in 0..stride {
                set.spare_codes[target * stride + lanes] = set.codes[row * stride + lanes];
            }
        }
        set.ids.copy_from_slice(set.spare_ids);
        set.codes.copy_from_slice(set.spare_codes);
    }
}
