//! Bottom-up local recoding: every group that is too small joins the group nearest to it, again and again.
//!
//! Xu et al. 2006, section 4.1. Records start as groups of their own, equal ones together. In each round, every group
//! that does not meet the requirement merges with the group nearest to it, in the order of
//! ids; a group that others joined before its turn and that is large enough by then stays. (Letting it pass even if it is
//! still too small, so that groups double in size, loses more.) Then groups of 2k records or more are cut into ⌊n/k⌋
//! pieces of at least k ([`super::local::pieces`]), which the paper leaves open. Rounds go on until every group meets
//! the requirement; with k alone, groups have k … 2k − 1 records.
//!
//! Where we differ: the paper's nearest group is the one whose union with it has the least penalty (`merge = "union"`).
//! That a union is narrow says nothing of what it costs: a large group that must grow costs all its members. By default
//! (`merge = "growth"`) the nearest is the one with which the loss grows least, (n₁ + n₂)·NCP(union) − n₁·NCP₁ − n₂·NCP₂.
//! On Adult that loses a third less. And the paper ends where every group is large enough. By then groups have grown around
//! whoever came, so by default (`finish = "moves"`) records move on to groups where they cost less ([`super::improve`]), and
//! what has become too large by that is cut again. Not with l: records would move where sensitive values leave room, and who
//! knows the method could tell from that who has which (`docs/diversity.md`); `improve = true` does it, with a warning.
//!
//! With l-diversity or t-closeness, groups merge until that holds, and are cut only where each piece meets it.
//!
//! Cost: the papers scan all groups for each group, O(N²) a round. Here [`super::local::index`] finds what the scan
//! finds. Rounds are sequential by nature, for each merge changes a group. Searches run in parallel for a batch of groups; what
//! a group found is still the best among the groups that have not changed since, unless it is one of those that have. So
//! those few are looked at again when its turn comes. The outcome is that of one search at a time.

mod pool;

use self::pool::Pool;
use super::improve::{self, Effort};
use super::local::halves::{Halving, Join};
use super::local::index::{Best, Index, Measure};
use super::local::pieces::{Cutter, Split};
use super::local::random_order;
use super::options::words;
use super::{AnyWidth, Entry, OptionKind, OptionSpec, Partition, Traits, local, lots};
use crate::collections::sort_by_code;
use crate::error::Result;
use crate::loss::Kernel;
use crate::parallel;
use crate::privacy::{Judge, Part};
use crate::problem::{Code, Matrix, Problem};
use crate::watch::Watch;

/// The registry entry.
pub const BOTTOM_UP: Entry = Entry {
    name: "bottom-up",
    summary: "merges each group that is too small with the one nearest to it; slower, small classes",
    citation: "Xu, Wang, Pei, Wang, Shi, Fu: Utility-based anonymization using local recoding, KDD 2006",
    guarantee: "with k alone, groups of k to 2k - 1 records; equal cells may merge groups",
    takes: &[Part::K, Part::OwnK, Part::L, Part::T, Part::People],
    needs: &[],
    options: &[
        OptionSpec {
            name: "merge",
            kind: OptionKind::Choice { words: &MERGES },
            help: "which group is nearest: the one with which the loss grows least, or the one with the narrowest union, as \
                   in the paper",
        },
        OptionSpec {
            name: "split",
            kind: OptionKind::Choice { words: &SPLITS },
            help: "how groups that became too large are cut",
        },
        OptionSpec {
            name: "finish",
            kind: OptionKind::Choice { words: &FINISHES },
            help: "what is done when all groups are large enough: records move to groups where they cost less, but not with l; or \
                   nothing, as in the paper",
        },
        local::ROUNDS_OPTION,
    ],
    traits: Traits::GROUPING,
    configure: |options, _| {
        let merge = options.choice("merge", Merge::CHOICES)?;
        let split = options.choice("split", Split::CHOICES)?;
        let finish = options.choice("finish", Finish::CHOICES)?;
        let rounds = options.whole("rounds")? as usize;
        Ok(Box::new(BottomUp { merge, split, finish, rounds, search: Search::Index }))
    },
};

const MERGES: [&str; Merge::CHOICES.len()] = words(Merge::CHOICES);
const SPLITS: [&str; Split::CHOICES.len()] = words(Split::CHOICES);
const FINISHES: [&str; Finish::CHOICES.len()] = words(Finish::CHOICES);

/// The method.
#[derive(Clone, Copy, Debug)]
pub struct BottomUp {
    /// Which group is the nearest.
    pub merge: Merge,
    /// How groups that are too large are cut.
    pub split: Split,
    /// What is done when all groups meet the requirement.
    pub finish: Finish,
    /// Scans for the seeds of a cut.
    pub rounds: usize,
    /// How the nearest group is found.
    pub search: Search,
}

/// Which group is the nearest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Merge {
    /// The one with which the loss of both together grows least.
    #[default]
    Growth,
    /// The one whose union with it has the least penalty, as in the paper.
    Union,
}

impl Merge {
    /// Their names as options.
    pub const CHOICES: &'static [(&'static str, Merge)] =
        &[("growth", Merge::Growth), ("union", Merge::Union)];
}

/// What is done when all groups meet the requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Finish {
    /// Records move to groups where they cost less, unless diversity is asked for.
    #[default]
    Moves,
    /// Nothing, as in the paper.
    Nothing,
}

impl Finish {
    /// Their names as options.
    pub const CHOICES: &'static [(&'static str, Finish)] =
        &[("moves", Finish::Moves), ("nothing", Finish::Nothing)];
}

/// How the nearest group is found; what is found is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// With an index.
    Index,
    /// By looking at all groups, as the papers do; for benchmarks and tests.
    Scan,
}

/// The stream of random numbers of the order in which groups are cut.
const STREAM: u64 = 10;
/// So many groups search at the same time for each thread. What the batch found is held against every group that grew meanwhile,
/// so no more than it takes to keep the threads busy.
const SEARCHES_PER_THREAD: usize = 16;
/// Rounds of moves at the end; a second one saves next to nothing.
const ROUNDS_OF_MOVES: usize = 1;

impl AnyWidth for BottomUp {
    const STAGE: &'static str = "merging";

    fn solve_rows<C: Code>(
        &self,
        problem: &Problem,
        matrix: &Matrix<C>,
        watch: &dyn Watch,
    ) -> Result<Partition> {
        let kernel = Kernel::new(&problem.attributes);
        let halving = Halving { kernel: &kernel, rounds: self.rounds, join: Join::Loss };
        let judge = Judge::new(problem);
        let cutter = Cutter { judge: &judge, matrix, halving, split: self.split };
        let mut rank = vec![0; problem.len()];
        for (place, record) in (0..).zip(random_order(problem, STREAM)) {
            rank[record as usize] = place;
        }
        let mut pool = Pool::of_equal_records(problem, &judge, matrix, &kernel).cut(&cutter, &rank);
        let mut done = 0;
        while pool.len() > 1 && pool.any_unmet() {
            watch.check()?;
            match self.search {
                Search::Index => pool = merge_round(pool, &kernel, self.merge, watch)?,
                Search::Scan => scan_round(&mut pool, self.merge, watch)?,
            }
            pool = pool.cut(&cutter, &rank);
            let met = pool.records_met();
            watch.advance(met.saturating_sub(done));
            done = met.max(done);
        }
        let partition = pool.into_partition();
        match self.finish {
            Finish::Moves if lots::smallest_diverse(problem).is_none() => {
                move_on(problem, &partition, &cutter, &rank, watch)
            }
            Finish::Moves | Finish::Nothing => Ok(partition),
        }
    }
}

/// Moves records to groups where they cost less, and cuts the groups that became too large by it.
fn move_on<C: Code>(
    problem: &Problem,
    partition: &Partition,
    cutter: &Cutter<'_, C>,
    rank: &[u32],
    watch: &dyn Watch,
) -> Result<Partition> {
    let no_search = Some(0);
    let effort = Effort::new(ROUNDS_OF_MOVES, no_search, watch.until());
    let moved = improve::moved(problem, partition, effort, watch)?;
    let mut groups: Vec<Vec<u32>> = Vec::with_capacity(moved.len());
    for group in moved.groups() {
        let mut records = group.to_vec();
        sort_by_code(&mut records, rank);
        groups.extend(cutter.cut(records));
    }
    let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
    Ok(Partition::from_sizes(groups.concat(), sizes))
}

/// One round with an index: every group that does not meet the requirement joins its nearest, if it still does not when
/// its turn comes.
fn merge_round<'a, C: Code>(
    mut pool: Pool<'a, C>,
    kernel: &Kernel,
    merge: Merge,
    watch: &dyn Watch,
) -> Result<Pool<'a, C>> {
    let mut turns = pool.unmet();
    let batch = SEARCHES_PER_THREAD * rayon::current_num_threads();
    while !turns.is_empty() {
        // Groups that grew make the nodes above them loose, so the index is made anew once half of them are gone.
        let mut round = Round { index: Index::new(kernel, &pool.boxes, pool.masses()), kernel, merge };
        let enough = pool.len() / 2;
        let mut done = 0;
        while done < turns.len() && (done == 0 || pool.left() > enough) {
            watch.check()?;
            let end = turns.len().min(done + batch);
            round.join_nearest(&mut pool, &turns[done..end]);
            done = end;
        }
        turns.drain(..done);
        if !turns.is_empty() {
            pool = pool.compacted(&mut turns);
        }
    }
    Ok(pool)
}

/// What the searches of a round need.
struct Round<'a, C> {
    index: Index<C>,
    kernel: &'a Kernel,
    merge: Merge,
}

impl<C: Code> Round<'_, C> {
    fn search(&self, pool: &Pool<'_, C>, id: u32) -> Option<Best> {
        let measure = pool.measure(self.merge, id);
        self.index.nearest(self.kernel, id, pool.boxes.get(id as usize), measure)
    }

    /// Lets groups join their nearest, one after the other. All of them search at the same time first.
    fn join_nearest(&mut self, pool: &mut Pool<'_, C>, turns: &[u32]) {
        let find = |id: &u32| if pool.waits(*id) { self.search(pool, *id) } else { None };
        let found: Vec<Option<Best>> = parallel::map(turns, find);
        let stamp = pool.stamp();
        // Groups that grew since the searches; none is here twice.
        let mut grown: Vec<u32> = Vec::new();
        for (&id, found) in turns.iter().zip(found) {
            // With l or t, a group may have met the requirement at first and not any more.
            if !pool.waits(id) {
                continue;
            }
            let Some(Best { id: target, .. }) = self.up_to_date(pool, (id, found), stamp, &grown) else {
                continue;
            };
            if !pool.changed_since(target, stamp) {
                grown.push(target);
            }
            pool.merge(id, target);
            self.index.remove(id);
            let mass = pool.masses()[target as usize];
            self.index.set(target, pool.boxes.get(target as usize), mass);
        }
    }

    /// What a group would find now, from what it found when the batch began.
    fn up_to_date(
        &self,
        pool: &Pool<'_, C>,
        (id, found): (u32, Option<Best>),
        stamp: u32,
        grown: &[u32],
    ) -> Option<Best> {
        let changed = |id: u32| pool.changed_since(id, stamp);
        let Some(mut best) = found.filter(|best| !changed(id) && !changed(best.id)) else {
            return self.search(pool, id);
        };
        let measure = pool.measure(self.merge, id);
        // A union only grows with the groups, so one that lost before has lost for good.
        if measure != Measure::Union {
            for &other in grown.iter().filter(|other| !pool.gone(**other)) {
                let cost = pool.cost(measure, id, other);
                if best.loses_to(cost, other) {
                    best = Best { cost, id: other };
                }
            }
        }
        Some(best)
    }
}

/// One round that looks at all groups for each.
fn scan_round<C: Code>(pool: &mut Pool<'_, C>, merge: Merge, watch: &dyn Watch) -> Result<()> {
    for id in pool.unmet() {
        watch.check()?;
        if !pool.waits(id) {
            continue;
        }
        let measure = pool.measure(merge, id);
        let mut best = Best::NONE;
        for other in (0..pool.len() as u32).filter(|other| *other != id && !pool.gone(*other)) {
            let cost = pool.cost(measure, id, other);
            if best.loses_to(cost, other) {
                best = Best { cost, id: other };
            }
        }
        if best != Best::NONE {
            pool.merge(id, best.id);
        }
    }
    Ok(())
}
