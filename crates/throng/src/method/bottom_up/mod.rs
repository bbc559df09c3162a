//! Bottom-up local recoding: every group that is too small joins the group nearest to it, again and again.
//!
//! Xu et al. 2006, section 4.1. Records start as groups of their own, equal ones together. In each round, every group
//! that does not meet the requirement merges with the group whose union with it has the least penalty, in the order of
//! ids; a group that others joined before its turn and that is large enough by then stays. (Letting it pass even if it is
//! still too small, so that groups double in size, loses more.) Then groups of 2k records or more are cut into ⌊n/k⌋
//! pieces of at least k ([`super::local::pieces`]), which the paper leaves open. Rounds go on until every group meets
//! the requirement; with k alone, groups have k … 2k − 1 records.
//!
//! With l-diversity or t-closeness, groups merge until that holds, and are cut only where each piece meets it.
//!
//! Cost: the papers scan all groups for each group, O(N²) a round. Here [`super::local::index`] finds what the scan
//! finds. Rounds are sequential by nature, for each merge moves a group; but a group that grows only moves away, so
//! what was nearest stays nearest while it has not changed itself. Searches therefore run in parallel for a batch of
//! groups, and the few whose find has changed meanwhile are repeated. The outcome is that of one search at a time.

mod pool;

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use self::pool::Pool;
use super::local::halves::{Halving, Join};
use super::local::index::{Best, Index};
use super::local::pieces::{Cutter, Split};
use super::local::random_order;
use super::options::words;
use super::{AnyWidth, Entry, OptionKind, OptionSpec, Partition, Traits, local};
use crate::error::Result;
use crate::loss::Kernel;
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
            name: "split",
            kind: OptionKind::Choice { words: &SPLITS },
            help: "how groups that became too large are cut",
        },
        local::ROUNDS_OPTION,
    ],
    traits: Traits::USUAL,
    configure: |options, _| {
        let split = options.choice("split", Split::CHOICES)?;
        let rounds = options.whole("rounds")? as usize;
        Ok(Box::new(BottomUp { split, rounds, search: Search::Index }))
    },
};

const SPLITS: [&str; Split::CHOICES.len()] = words(Split::CHOICES);

/// The method.
#[derive(Clone, Copy, Debug)]
pub struct BottomUp {
    /// How groups that are too large are cut.
    pub split: Split,
    /// Scans for the seeds of a cut.
    pub rounds: usize,
    /// How the nearest group is found.
    pub search: Search,
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
/// A batch of searches is this share of a round, and at least so many.
const BATCHES: usize = 16;
const SMALLEST_BATCH: usize = 64;

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
        let mut pool = Pool::of_equal_records(problem, &judge, matrix).cut(&cutter, &rank);
        let mut done = 0;
        while pool.len() > 1 && pool.any_unmet() {
            watch.check()?;
            match self.search {
                Search::Index => pool = merge_round(pool, &kernel, watch)?,
                Search::Scan => scan_round(&mut pool, &kernel, watch)?,
            }
            pool = pool.cut(&cutter, &rank);
            let met = pool.records_met();
            watch.advance(met.saturating_sub(done));
            done = met.max(done);
        }
        Ok(pool.into_partition())
    }
}

/// One round with an index: every group that does not meet the requirement joins its nearest, if it still does not when
/// its turn comes.
fn merge_round<'a, C: Code>(
    mut pool: Pool<'a, C>,
    kernel: &Kernel,
    watch: &dyn Watch,
) -> Result<Pool<'a, C>> {
    let mut turns = pool.unmet();
    let batch = turns.len().div_ceil(BATCHES).max(SMALLEST_BATCH);
    while !turns.is_empty() {
        // Groups that grew make the nodes above them loose, so the index is made anew once half of them are gone.
        let mut index = Index::new(kernel, &pool.boxes, pool.sizes());
        let enough = pool.len() / 2;
        let mut done = 0;
        while done < turns.len() && (done == 0 || pool.left() > enough) {
            watch.check()?;
            let end = turns.len().min(done + batch);
            join_nearest(&mut pool, &mut index, kernel, &turns[done..end]);
            done = end;
        }
        turns.drain(..done);
        if !turns.is_empty() {
            pool = pool.compacted(&mut turns);
        }
    }
    Ok(pool)
}

/// Lets groups join their nearest, one after the other. All of them search at the same time first.
fn join_nearest<C: Code>(pool: &mut Pool<'_, C>, index: &mut Index<C>, kernel: &Kernel, turns: &[u32]) {
    let search = |index: &Index<C>, pool: &Pool<'_, C>, id: u32| {
        index.nearest(kernel, id, pool.boxes.get(id as usize))
    };
    let find = |id: &u32| if pool.waits(*id) { search(index, pool, *id) } else { None };
    let found: Vec<Option<Best>> = turns.par_iter().with_min_len(8).map(find).collect();
    let stamp = pool.stamp();
    for (&id, found) in turns.iter().zip(found) {
        // With l or t, a group may have met the requirement at first and not any more.
        if !pool.waits(id) {
            continue;
        }
        // A find is stale if either of the two has changed since.
        let stale = |best: Best| pool.changed_since(id, stamp) || pool.changed_since(best.id, stamp);
        let found = if found.is_none_or(stale) { search(index, pool, id) } else { found };
        if let Some(Best { id: target, .. }) = found {
            pool.merge(id, target);
            index.remove(id);
            index.set(target, pool.boxes.get(target as usize), 0);
        }
    }
}

/// One round that looks at all groups for each.
fn scan_round<C: Code>(pool: &mut Pool<'_, C>, kernel: &Kernel, watch: &dyn Watch) -> Result<()> {
    for id in pool.unmet() {
        watch.check()?;
        if !pool.waits(id) {
            continue;
        }
        let own = pool.boxes.get(id as usize);
        let mut best = Best::NONE;
        for other in (0..pool.len() as u32).filter(|other| *other != id && !pool.gone(*other)) {
            let cost = kernel.union_up_to(own, pool.boxes.get(other as usize), f64::INFINITY);
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
