//! The best string, with proof: best first over prefixes of attributes.
//!
//! A node fixes the levels of the first attributes (in an order that puts those with most to lose first). The groups of
//! its prefix say, for every further attribute, which levels are hopeless beside the prefix (subset property: a string
//! fails if a part of it does; generalization property: finer levels then fail too). So the score of all strings below a
//! node is bounded by the best level left of each attribute. Nodes are taken in the order of their bounds until none can
//! beat the best string found. A greedy descent from the coarsest string gives a good first one.
//!
//! Tests that other tests decide are not made: a string that is finer than one that failed fails, one that is coarser
//! than one that passed passes. Groups of prefixes are kept in a cache of bounded size. When more nodes wait than fit,
//! the best is explored depth first. Stopped early, the search knows what at most could still be gained.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::goal::Measure;
use super::lattice::{Groups, Lattice, Levels};
use crate::collections::Arrange;
use crate::error::Result;
use crate::parallel;
use crate::table::Map;
use crate::watch::Watch;

/// When to stop before the best string is proven.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Seconds from the start.
    pub seconds: Option<f64>,
    /// Tests of groups.
    pub tests: Option<u64>,
    /// Bytes of groups that are kept.
    pub cache: usize,
}

/// So many equally good strings are offered.
pub const OFFERED: usize = 10;

/// More waiting nodes than this are not kept.
const MOST_WAITING: usize = 1 << 20;

/// Outcomes that are remembered to spare tests.
const REMEMBERED: usize = 512;

/// What a search found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The best string; none only if no string is valid.
    pub best: Option<Scored>,
    /// FullDomainSearch that are as good, the best among them, at most [`OFFERED`].
    pub equal: Vec<Scored>,
    /// No string scores more.
    pub bound: f64,
    /// Whether the best string is proven to be so.
    pub proven: bool,
    /// Tests of groups that were made.
    pub tests: u64,
    /// Nodes that were looked at.
    pub nodes: u64,
}

/// A valid string.
#[derive(Clone, Debug, PartialEq)]
pub struct Scored {
    /// Its levels.
    pub levels: Levels,
    /// Its score.
    pub score: f64,
    /// Its number of attributes at the top level.
    pub tops: usize,
    rank: i64,
}

impl Scored {
    /// A string that nothing is compared with.
    pub(super) fn alone(levels: Levels, score: f64, tops: usize) -> Self {
        Scored { levels, score, tops, rank: 0 }
    }
}

/// FullDomainSearch known to fail or pass, and parts of the lattice that are known beforehand.
#[derive(Clone, Debug, Default)]
pub struct Known {
    failed: VecDeque<Levels>,
    passed: VecDeque<Levels>,
    /// Valid strings to begin with.
    pub strings: Vec<Levels>,
    /// For some attributes together: the finest strings over them that could be valid.
    pub blocks: Vec<(Vec<usize>, Vec<Levels>)>,
}

/// The share of a limit of seconds that is searched; the rest is for what comes before and after.
const SEARCHING: f64 = 0.95;

impl Known {
    /// Remembers that a string failed.
    pub fn failed(&mut self, levels: Levels) {
        remember(&mut self.failed, levels);
    }

    /// Remembers that a string passed.
    pub fn passed(&mut self, levels: Levels) {
        remember(&mut self.passed, levels);
    }

    /// Whether a string could be valid, if that is known.
    fn possible(&self, levels: &[u8]) -> Option<bool> {
        if self.failed.iter().any(|failed| below(levels, failed)) {
            return Some(false);
        }
        self.passed.iter().any(|passed| below(passed, levels)).then_some(true)
    }
}

/// Whether no level of one string is above that of the other.
#[inline]
fn below(one: &[u8], other: &[u8]) -> bool {
    for at in 0..one.len().min(other.len()) {
        if one[at] > other[at] {
            return false;
        }
    }
    true
}

fn remember(strings: &mut VecDeque<Levels>, levels: Levels) {
    if strings.len() == REMEMBERED {
        strings.pop_front();
    }
    strings.push_back(levels);
}

/// Prefixes whose strings may still be better.
#[derive(Clone, Debug)]
struct Node {
    rank: i64,
    /// How many attributes are fixed.
    depth: usize,
    /// The levels of fixed attributes, and the finest hopeful ones of the others.
    levels: Levels,
    /// Whether the others were tested beside this prefix.
    tested: bool,
    number: u64,
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}
impl Eq for Node {}
impl PartialOrd for Node {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Node {
    fn cmp(&self, other: &Self) -> Ordering {
        // The best bound first, then the deepest, then the oldest.
        (self.rank, self.depth, std::cmp::Reverse(self.number)).cmp(&(
            other.rank,
            other.depth,
            std::cmp::Reverse(other.number),
        ))
    }
}

/// A search over a lattice.
pub struct Search<'a> {
    lattice: &'a Lattice<'a>,
    measure: &'a Measure<'a>,
    limits: Limits,
    watch: &'a dyn Watch,
    start: Instant,
    /// The attributes in the order in which they are fixed.
    order: Vec<usize>,
    known: Known,
    /// Scores are compared in these units, so that rounding makes no difference.
    unit: f64,
    best: Option<Scored>,
    equal: Vec<Scored>,
    cache: Cache,
    tests: u64,
    nodes: u64,
    numbers: u64,
}

/// Groups of prefixes, the oldest dropped first.
#[derive(Default)]
struct Cache {
    groups: Map<Levels, Arc<Groups>>,
    ages: VecDeque<Levels>,
    bytes: usize,
}

impl Cache {
    fn put(&mut self, key: Levels, groups: &Arc<Groups>, most: usize) {
        self.bytes += groups.bytes();
        self.ages.push_back(key.clone());
        self.groups.insert(key, Arc::clone(groups));
        while self.bytes > most
            && self.ages.len() > 1
            && let Some(oldest) = self.ages.pop_front()
        {
            self.bytes -= self.groups.remove(&oldest).map_or(0, |groups| groups.bytes());
        }
    }
}

impl<'a> Search<'a> {
    /// A search that has not begun.
    pub fn new(
        lattice: &'a Lattice<'a>,
        measure: &'a Measure<'a>,
        limits: Limits,
        known: Known,
        watch: &'a dyn Watch,
    ) -> Self {
        let mut order: Vec<usize> = (0..lattice.attributes.len()).collect();
        let spread = |at: usize| {
            let own = &lattice.attributes[at];
            measure.value(at, own.lowest) - measure.value(at, own.highest)
        };
        order.arrange_by(|a, b| spread(*b).total_cmp(&spread(*a)).then(a.cmp(b)));
        let mut search = Search {
            lattice,
            measure,
            limits,
            watch,
            start: Instant::now(),
            order,
            known,
            unit: 1.0,
            best: None,
            equal: Vec::new(),
            cache: Cache::default(),
            tests: 0,
            nodes: 0,
            numbers: 0,
        };
        let finest: Levels = lattice.attributes.iter().map(|own| own.lowest).collect();
        let coarsest = lattice.highest();
        let ends = [
            search.bound(&finest),
            search.bound(&coarsest),
            measure.score(&coarsest, &lattice.groups(&coarsest)),
        ];
        let scale = ends.iter().fold(0.0, |scale: f64, end| scale.max(end.abs()));
        search.unit = scale.max(1e-9) * 1e-11;
        search
    }

    /// Searches until the best string is proven or a limit is reached.
    pub fn run(mut self) -> Result<Found> {
        self.watch.stage("searching", None);
        for levels in std::mem::take(&mut self.known.strings) {
            self.consider(&levels);
        }
        self.descend_both()?;
        let levels: Levels = self.lattice.attributes.iter().map(|own| own.lowest).collect();
        let root = self.node(0, levels, false);
        let mut waiting = BinaryHeap::from([root]);
        while let Some(node) = waiting.pop() {
            if !self.hopeful(&node) {
                continue;
            }
            if self.limit_reached() {
                waiting.push(node);
                break;
            }
            self.watch.check()?;
            let children = self.expand(node);
            if waiting.len() < MOST_WAITING {
                waiting.extend(children);
            } else if let Some(open) = self.explore(children)? {
                waiting.extend(open);
                break;
            }
        }
        Ok(self.finish(waiting.iter().map(|node| node.rank).max()))
    }

    /// The best of the strings that are given, without looking further.
    pub fn run_given(mut self) -> Result<Found> {
        for levels in std::mem::take(&mut self.known.strings) {
            self.consider(&levels);
        }
        let finest: Levels = self.lattice.attributes.iter().map(|own| own.lowest).collect();
        let open = self.rank(self.bound(&finest));
        Ok(self.finish(Some(open)))
    }

    /// Explores nodes depth first. Gives back those that are open when a limit is reached.
    fn explore(&mut self, mut stack: Vec<Node>) -> Result<Option<Vec<Node>>> {
        while let Some(node) = stack.pop() {
            if !self.hopeful(&node) {
                continue;
            }
            if self.limit_reached() {
                stack.push(node);
                return Ok(Some(stack));
            }
            self.watch.check()?;
            let mut children = self.expand(node);
            children.sort();
            stack.extend(children);
        }
        Ok(None)
    }

    fn finish(self, open: Option<i64>) -> Found {
        let best = self.best.as_ref().map(|best| best.rank);
        let still_open = open.filter(|rank| best.is_none_or(|best| *rank > best));
        let score = self.best.as_ref().map_or(f64::NEG_INFINITY, |best| best.score);
        Found {
            bound: still_open.map_or(score, |rank| rank as f64 * self.unit),
            // An open node that could only be as good leaves the order of equal strings unproven.
            proven: open.is_none_or(|rank| best.is_some_and(|best| rank < best)),
            best: self.best,
            equal: self.equal,
            tests: self.tests,
            nodes: self.nodes,
        }
    }

    fn limit_reached(&self) -> bool {
        let late = self
            .limits
            .seconds
            .is_some_and(|most| self.start.elapsed() >= Duration::from_secs_f64(most * SEARCHING));
        late || self.limits.tests.is_some_and(|most| self.tests >= most)
    }

    fn rank(&self, score: f64) -> i64 {
        (score / self.unit).round() as i64
    }

    fn node(&mut self, depth: usize, levels: Levels, tested: bool) -> Node {
        let rank = self.rank(self.bound_of(depth, &levels));
        self.numbers += 1;
        Node { rank, depth, levels, tested, number: self.numbers }
    }

    /// No string with these levels or coarser ones scores more.
    fn bound(&self, levels: &[u8]) -> f64 {
        self.bound_of(0, levels)
    }

    /// As [`Self::bound`], with the first attributes fixed at their levels.
    fn bound_of(&self, depth: usize, levels: &[u8]) -> f64 {
        if self.measure.values.is_none() {
            return self.measure.bound(levels, &self.lattice.groups(levels));
        }
        let fixed = &self.order[..depth];
        let of = |(at, level): (usize, &u8)| {
            if fixed.contains(&at) {
                return self.measure.value(at, *level);
            }
            let highest = self.lattice.attributes[at].highest;
            (*level..=highest).map(|level| self.measure.value(at, level)).fold(f64::NEG_INFINITY, f64::max)
        };
        levels.iter().enumerate().map(of).sum()
    }

    /// Whether a string below a node could be better than the best, or be offered beside it.
    fn hopeful(&self, node: &Node) -> bool {
        let Some(best) = &self.best else { return true };
        match node.rank.cmp(&best.rank) {
            Ordering::Greater => true,
            Ordering::Less => false,
            Ordering::Equal => {
                let tops = self.lattice.tops(&node.levels);
                self.equal.len() < OFFERED || (tops, &node.levels) < (best.tops, &best.levels)
            }
        }
    }

    /// The strings of a node by the levels of the next attribute.
    fn expand(&mut self, mut node: Node) -> Vec<Node> {
        self.nodes += 1;
        if !node.tested {
            if !self.test_others(&mut node) {
                return Vec::new();
            }
            node.rank = self.rank(self.bound_of(node.depth, &node.levels));
            if !self.hopeful(&node) {
                return Vec::new();
            }
        }
        let Some(&next) = self.order.get(node.depth) else {
            self.consider(&node.levels);
            return Vec::new();
        };
        let own = &self.lattice.attributes[next];
        let mut children = Vec::new();
        for level in node.levels[next]..=own.highest {
            let mut levels = node.levels.clone();
            levels[next] = level;
            let depth = node.depth + 1;
            // A single group changes nothing for the others.
            let tested = own.count(level) == 1;
            let child = self.node(depth, levels, tested);
            if self.hopeful(&child) {
                children.push(child);
            }
        }
        children
    }

    /// Raises the levels of attributes that are not fixed until they pass beside the prefix. Tells whether all do.
    fn test_others(&mut self, node: &mut Node) -> bool {
        if !self.raise_to_blocks(node) {
            return false;
        }
        let groups = self.groups_of(&node.levels, node.depth);
        let (lattice, known, fixed) = (self.lattice, &self.known, node.depth);
        let mut prefix = lattice.highest();
        self.order[..fixed].iter().for_each(|at| prefix[*at] = node.levels[*at]);
        let others: Vec<usize> = self.order[fixed..].to_vec();
        let found: Vec<Raised> =
            parallel::map(others, |at| raise(lattice, known, &groups, &prefix, at, node.levels[at]));
        let mut all = true;
        for raised in found {
            self.tests += raised.tests;
            raised.failed.into_iter().for_each(|levels| self.known.failed(levels));
            raised.passed.into_iter().for_each(|levels| self.known.passed(levels));
            match raised.level {
                Some(level) => node.levels[raised.attribute] = level,
                None => all = false,
            }
        }
        all
    }

    /// Raises levels to those of the finest hopeful strings of each block of attributes.
    fn raise_to_blocks(&self, node: &mut Node) -> bool {
        let fixed = &self.order[..node.depth];
        for (attributes, finest) in &self.known.blocks {
            let fits = |string: &&Levels| {
                attributes
                    .iter()
                    .zip(string.iter())
                    .all(|(at, level)| !fixed.contains(at) || *level <= node.levels[*at])
            };
            let fitting: Vec<&Levels> = finest.iter().filter(fits).collect();
            for (place, at) in attributes.iter().enumerate().filter(|(_, at)| !fixed.contains(at)) {
                match fitting.iter().map(|string| string[place]).min() {
                    Some(least) => node.levels[*at] = node.levels[*at].max(least),
                    None => return false,
                }
            }
            if fitting.is_empty() {
                return false;
            }
        }
        true
    }

    /// The groups of the first attributes of the order.
    fn groups_of(&mut self, levels: &[u8], depth: usize) -> Arc<Groups> {
        // Attributes in a single group make no difference, so prefixes that differ in them share an entry.
        let used: Vec<usize> = self.order[..depth]
            .iter()
            .copied()
            .filter(|at| self.lattice.attributes[*at].count(levels[*at]) > 1)
            .collect();
        let key = |used: &[usize]| {
            used.iter().flat_map(|at| [*at as u8, (*at >> 8) as u8, levels[*at]]).collect::<Levels>()
        };
        let ready = (0..=used.len()).rev().find_map(|end| {
            let groups = self.cache.groups.get(&key(&used[..end]))?;
            Some((end, Arc::clone(groups)))
        });
        let (from, mut groups) = ready.unwrap_or_else(|| (0, Arc::new(self.lattice.whole())));
        for end in from + 1..=used.len() {
            let at = used[end - 1];
            groups = Arc::new(self.lattice.refine(&groups, at, levels[at]));
            // Whole strings are looked at once.
            if depth < self.order.len() || end < used.len() {
                self.cache.put(key(&used[..end]), &groups, self.limits.cache);
            }
        }
        groups
    }

    /// Takes a string into account if it is valid.
    fn consider(&mut self, levels: &[u8]) {
        let groups = self.groups_of_string(levels);
        self.tests += 1;
        if !self.lattice.verdict(&groups).valid {
            return;
        }
        let score = self.measure.score(levels, &groups);
        let scored = Scored {
            levels: levels.to_vec(),
            score,
            tops: self.lattice.tops(levels),
            rank: self.rank(score),
        };
        let order = |scored: &Scored| (scored.tops, scored.levels.clone());
        match self.best.as_ref().map(|best| scored.rank.cmp(&best.rank)) {
            Some(Ordering::Less) => return,
            Some(Ordering::Equal) => {}
            Some(Ordering::Greater) | None => self.equal.clear(),
        }
        if self.equal.iter().any(|equal| equal.levels == scored.levels) {
            return;
        }
        self.equal.push(scored);
        self.equal.arrange_by_key(order);
        self.equal.truncate(OFFERED);
        self.best = self.equal.first().cloned();
    }

    fn groups_of_string(&mut self, levels: &[u8]) -> Arc<Groups> {
        self.groups_of(levels, self.order.len())
    }

    /// Good strings to begin with, from the coarsest one down: by the step that gains most, and by the one that gains
    /// most for the detail that it spends, measured by entropy.
    fn descend_both(&mut self) -> Result<()> {
        if self.lattice.verdict(&self.lattice.groups(&self.lattice.highest())).valid {
            let entropies = self.lattice.entropies();
            let spent = |at: usize, from: u8, to: u8| {
                let lowest = self.lattice.attributes[at].lowest;
                let entropy = |level: u8| entropies[at][usize::from(level - lowest)];
                (entropy(to) - entropy(from)).max(1e-9)
            };
            let plain = self.descend(|_, _, _| 1.0)?;
            let thrifty = self.descend(spent)?;
            self.consider(&plain);
            self.consider(&thrifty);
        }
        Ok(())
    }

    /// Goes down from the coarsest string, always by the step with the greatest gain over its cost that passes.
    fn descend(&self, cost: impl Fn(usize, u8, u8) -> f64) -> Result<Levels> {
        let mut levels = self.lattice.highest();
        let mut groups = self.lattice.groups(&levels);
        // Levels below these are known to fail.
        let mut floor: Levels = self.lattice.attributes.iter().map(|own| own.lowest).collect();
        loop {
            self.watch.check()?;
            let steps = (0..levels.len()).flat_map(|at| (floor[at]..levels[at]).map(move |to| (at, to)));
            let gain = |(at, to): (usize, u8)| {
                (self.measure.value(at, to) - self.measure.value(at, levels[at])) / cost(at, levels[at], to)
            };
            let best = steps.max_by(|a, b| gain(*a).total_cmp(&gain(*b)).then(b.cmp(a)));
            let Some((at, to)) = best.filter(|_| !self.limit_reached()) else { return Ok(levels) };
            match self.lattice.test(&groups, at, to).valid {
                true => {
                    levels[at] = to;
                    groups = self.lattice.refine(&groups, at, to);
                }
                false => floor[at] = to + 1,
            }
        }
    }
}

/// What became of an attribute beside a prefix.
struct Raised {
    attribute: usize,
    level: Option<u8>,
    failed: Vec<Levels>,
    passed: Option<Levels>,
    tests: u64,
}

/// Raises a level until it passes beside the groups of a prefix.
fn raise(
    lattice: &Lattice<'_>,
    known: &Known,
    groups: &Groups,
    prefix: &[u8],
    attribute: usize,
    from: u8,
) -> Raised {
    let mut raised = Raised { attribute, level: None, failed: Vec::new(), passed: None, tests: 0 };
    let mut string = prefix.to_vec();
    for level in from..=lattice.attributes[attribute].highest {
        string[attribute] = level;
        match known.possible(&string) {
            Some(false) => continue,
            Some(true) => {}
            None => {
                raised.tests += 1;
                if !lattice.test(groups, attribute, level).possible {
                    raised.failed.push(string.clone());
                    continue;
                }
                // Attributes that were not tested say nothing only if they can be published as one group.
                raised.passed = lattice.coarsest_is_one_group().then_some(string);
            }
        }
        raised.level = Some(level);
        break;
    }
    raised
}
