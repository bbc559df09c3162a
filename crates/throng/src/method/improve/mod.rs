//! Making the groups of any method better: records move to groups where they cost less, groups whose records are
//! cheaper elsewhere are dissolved, and groups that grew are cut. Then several near groups at a time are ruined and made
//! anew (`ruin`), which finds what no single move does.
//!
//! Every step keeps the requirement and lowers the loss, so it can be stopped at any time. What would help is looked
//! for in parallel against the groups as they stand, a batch at a time; what still helps then is done one by one, in
//! order. The outcome is the same on any number of threads.

mod cut;
mod group;
mod index;
mod lines;
mod ruin;
mod spare;
#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

pub(in crate::method) use cut::cut;
pub(in crate::method) use group::{Group, Work};
pub(in crate::method) use spare::Held;

use super::facts::Grouping;
use super::options::Numbers;
use super::{Fact, Method, OptionKind, OptionSpec, Options, Partition, PerPart, Recoding, Solution, lots};
use crate::collections::{Arrange, cheapest_first};
use crate::error::Result;
use crate::parallel;
use crate::problem::{Code, Problem};
use crate::watch::Watch;
use crate::with_matrix;
use cut::{SAVES, best_cut, best_division};
use index::{Index, Scratch};
use ruin::Rounds;
pub(in crate::method) use ruin::{are_exchanged, has_fine_numbers};

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Rounds of moves at most; each looks at every record once.
    pub rounds: usize,
    /// Rounds of ruin and recreate after that.
    pub search: Search,
    /// No round starts or goes on after this.
    pub until: Option<Instant>,
}

impl Effort {
    /// So many rounds of moves and of search until then; without a number of the second, as many as suit the number of
    /// records or the time.
    pub fn new(rounds: usize, search: Option<usize>, until: Option<Instant>) -> Self {
        let search = match (search, until) {
            (Some(rounds), _) => Search::Rounds(rounds),
            (None, Some(_)) => Search::UntilTheEnd,
            (None, None) => Search::Usual,
        };
        Effort { rounds, search, until }
    }

    fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }
}

/// How much is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// As much as suits the number of records.
    Usual,
    /// So many rounds.
    Rounds(usize),
    /// As long as there is time.
    UntilTheEnd,
}

/// Rounds without being asked; hardly anything changes after so many.
pub const ROUNDS: usize = 2;

/// A method whose groups are improved.
pub struct Improved {
    /// The method.
    pub method: Box<dyn Method>,
    /// Rounds of ruin and recreate; without them, as many as suit the number of records, or the seconds.
    pub search: Option<usize>,
    /// Seconds after which no more is improved.
    pub seconds: Option<f64>,
}

impl Method for Improved {
    fn solve(&self, problem: &Problem, watch: &dyn Watch) -> Result<Solution> {
        let mut solution = self.method.solve(problem, watch)?;
        // Boxes of its own are what a method is about, and limits are for methods that know them: not ours to change.
        if matches!(solution.recoding, Recoding::Tight) && problem.limits.is_empty() {
            let own = self.seconds.map(|seconds| Instant::now() + Duration::from_secs_f64(seconds));
            let until = own.into_iter().chain(watch.until()).min();
            let effort = Effort::new(ROUNDS, self.search, until);
            solution = improved(problem, solution, effort, watch)?;
            if lots::smallest_diverse(problem).is_some() {
                // Records move where sensitive values leave room: however they were grouped before, that tells of them.
                solution.facts.retain(|fact| !matches!(fact, Fact::Grouped { .. }));
                solution.facts.push(Fact::Grouped { by: Grouping::Costs });
            }
        }
        Ok(solution)
    }
}

/// The option of every method that groups records.
pub const OPTION: OptionSpec = OptionSpec {
    name: "improve",
    kind: OptionKind::Flag { default: false },
    help: "whether records move to groups where they cost less when the method is done",
};

/// How long that takes, for every such method.
pub const FURTHER_OPTIONS: [OptionSpec; 2] = [
    OptionSpec {
        name: "improve_rounds",
        kind: OptionKind::Whole { least: 0, default: None },
        help: "improves by so many rounds of ruin and recreate; without it as many as suit the number of records, or the seconds",
    },
    OptionSpec {
        name: "improve_seconds",
        kind: OptionKind::Number { allowed: Numbers::SECONDS, default: None },
        help: "improves for so many seconds; what comes out then depends on the machine",
    },
];

/// Wraps a method whose options ask for improvement. Hard rules are kept for it: moving records knows nothing of them.
pub fn if_asked(method: Box<dyn Method>, options: &Options) -> Result<Box<dyn Method>> {
    let search = options.whole_if_any("improve_rounds")?.map(|rounds| rounds as usize);
    let seconds = options.number_if_any("improve_seconds")?;
    Ok(match options.flag(OPTION.name)? || search.is_some() || seconds.is_some() {
        true => Box::new(PerPart(Box::new(Improved { method, search, seconds }))),
        false => method,
    })
}

/// Improves a partition, with all records that it has.
pub fn improve(
    problem: &Problem,
    partition: &Partition,
    effort: Effort,
    watch: &dyn Watch,
) -> Result<Partition> {
    let may_not_suppress = 0;
    improve_within(problem, partition, may_not_suppress, effort, watch).map(|(partition, _)| partition)
}

/// Improves a solution whose groups are published as the smallest boxes around them, and leaves records out where that
/// is allowed and lowers the loss.
pub fn improved(
    problem: &Problem,
    mut solution: Solution,
    effort: Effort,
    watch: &dyn Watch,
) -> Result<Solution> {
    let most = problem.suppressible.saturating_sub(solution.suppressed.len());
    let (partition, lost) = improve_within(problem, &solution.partition, most, effort, watch)?;
    solution.partition = partition;
    solution.leave_out(lost);
    Ok(solution)
}

/// Improves a partition by single moves, cuts and divisions, none of which makes a class exceed the limits of the problem.
pub fn moved(
    problem: &Problem,
    partition: &Partition,
    effort: Effort,
    watch: &dyn Watch,
) -> Result<Partition> {
    with_matrix!(&problem.records, matrix => {
        let work = Work::new(problem, matrix);
        let groups = partition.groups().map(|records| work.group(records.to_vec())).collect();
        move_groups(&work, groups, effort, watch).map(into_partition)
    })
}

fn improve_within(
    problem: &Problem,
    partition: &Partition,
    may_lose: usize,
    effort: Effort,
    watch: &dyn Watch,
) -> Result<(Partition, Vec<u32>)> {
    with_matrix!(&problem.records, matrix => {
        let work = Work::new(problem, matrix);
        let groups = partition.groups().map(|records| work.group(records.to_vec())).collect();
        let Held { groups, lost } = improve_groups(&work, groups, may_lose, effort, watch)?;
        Ok((into_partition(groups), lost))
    })
}

/// The partition of groups.
pub(in crate::method) fn into_partition<C: Code>(groups: Vec<Group<C>>) -> Partition {
    let sizes: Vec<usize> = groups.iter().map(|group| group.records.len()).collect();
    let records: Vec<u32> = groups.into_iter().flat_map(|group| group.records).collect();
    Partition::from_sizes(records, sizes)
}

/// Improves groups: by moves first, then by ruin and recreate. Where records may be left out, that comes after, so that
/// nothing is lost by being allowed to.
pub(in crate::method) fn improve_groups<C: Code>(
    work: &Work<'_, C>,
    groups: Vec<Group<C>>,
    may_lose: usize,
    effort: Effort,
    watch: &dyn Watch,
) -> Result<Held<C>> {
    let groups = move_groups(work, groups, effort, watch)?;
    let groups = lines::recut(work, groups);
    let rounds = match effort.search {
        Search::Usual => Rounds::usual(work.problem),
        Search::Rounds(rounds) => Rounds::fixed(rounds),
        Search::UntilTheEnd => Rounds::until_the_end(work.problem),
    };
    if may_lose == 0 {
        return ruin::search(work, Held::all(groups), 0, (rounds, effort.until), watch);
    }
    let half = effort.until.map(|until| {
        let now = Instant::now();
        now + until.saturating_duration_since(now) / 2
    });
    let held = ruin::search(work, Held::all(groups), 0, (rounds, half), watch)?;
    let held = spare::spare(work, held.groups, may_lose);
    match work.problem.people {
        // Steps of the search know no people.
        Some(_) => Ok(held),
        None => ruin::search(work, held, may_lose, (rounds, effort.until), watch),
    }
}

/// Improves groups while single moves, cuts and divisions help.
fn move_groups<C: Code>(
    work: &Work<'_, C>,
    mut groups: Vec<Group<C>>,
    effort: Effort,
    watch: &dyn Watch,
) -> Result<Vec<Group<C>>> {
    let pairs = work.problem.len().saturating_mul(groups.len());
    let rounds = match pairs.saturating_mul(work.problem.attributes.len()) {
        _ if pairs > MOST_PAIRS => 0,
        many if many > MANY_COMPARISONS => effort.rounds.min(1),
        _ => effort.rounds,
    };
    if rounds == 0 {
        return Ok(groups);
    }
    watch.stage("improving", None);
    put_near_ones_together(work.problem, &mut groups);
    // What did not change and lies beside nothing that did was looked at before.
    let mut fresh = vec![true; groups.len()];
    for _ in 0..rounds {
        if effort.is_over() || !fresh.contains(&true) {
            break;
        }
        let mut round = Round::new(work, groups, &fresh, effort);
        round.move_records(watch)?;
        round.dissolve_groups(watch)?;
        round.redivide_pairs(watch)?;
        round.cut_groups();
        let alive = |at: &usize| !round.groups[*at].records.is_empty();
        fresh = (0..round.groups.len()).filter(alive).map(|at| round.changed[at]).collect();
        groups = round.groups;
        groups.retain(|group| !group.records.is_empty());
    }
    Ok(groups)
}

/// Where there are more pairs of records and groups, looking for better groups takes longer than it is worth: the search that
/// follows works in blocks. A pair takes about a tenth of a nanosecond.
const MOST_PAIRS: usize = 20_000_000_000;
/// Where there are more pairs, times attributes, a second round takes longer than it is worth.
const MANY_COMPARISONS: usize = 9_000_000_000;

/// Neighbours share blocks of the index: groups are sorted by their cells, the attributes with the fewest values first, so
/// that a block agrees in many attributes.
fn put_near_ones_together<C: Code>(problem: &Problem, groups: &mut [Group<C>]) {
    let mut attributes: Vec<usize> = (0..problem.attributes.len()).collect();
    attributes.arrange_by_key(|at| problem.attributes[*at].domain.len());
    let key = |group: &Group<C>| -> Vec<usize> {
        let ends = |at: &usize| [group.extent.low(*at).index(), group.extent.high(*at).index()];
        let first = group.records.first().map(|record| *record as usize);
        attributes.iter().flat_map(ends).chain(first).collect()
    };
    groups.arrange_by_cached_key(key);
}

/// Two groups in place of two.
type Division = (Vec<u32>, Vec<u32>);

/// How many records of a group tell of groups to divide anew with.
const PARTNERS: usize = 2;

/// Records that are looked at together, about.
const BATCH: usize = 4096;

struct Round<'a, C: Code> {
    work: &'a Work<'a, C>,
    groups: Vec<Group<C>>,
    group_of: Vec<u32>,
    index: Index<'a>,
    /// Groups that changed in the round before, and a bit for each of them.
    fresh: Vec<bool>,
    mask: Vec<u64>,
    /// Groups that changed in this round.
    changed: Vec<bool>,
    effort: Effort,
}

impl<'a, C: Code> Round<'a, C> {
    fn new(work: &'a Work<'a, C>, groups: Vec<Group<C>>, fresh: &[bool], effort: Effort) -> Self {
        let mut group_of = vec![Partition::NO_GROUP; work.problem.len()];
        for (at, group) in (0..).zip(&groups) {
            group.records.iter().for_each(|record| group_of[*record as usize] = at);
        }
        let index = Index::new(&work.problem.attributes, &groups);
        let mut mask = vec![0; index.mask_words()];
        for (at, _) in fresh.iter().enumerate().filter(|(_, fresh)| **fresh) {
            mask[at / 64] |= 1u64 << (at % 64);
        }
        let changed = vec![false; groups.len()];
        Round { work, groups, group_of, index, fresh: fresh.to_vec(), mask, changed, effort }
    }

    /// The group that a record would cost least to join, other than its own, if it costs less than `limit`.
    fn cheapest(&self, record: u32, limit: f64, scratch: &mut Scratch) -> Option<(f64, usize)> {
        let own = self.group_of[record as usize] as usize;
        let mut best: Option<(f64, usize)> = None;
        // Those of a group that did not change were compared with all that did not either.
        let mask = (!self.fresh[own]).then_some(self.mask.as_slice());
        self.index.visit(self.work.matrix.row(record as usize), mask, scratch, |at| {
            let group = &self.groups[at];
            let beaten = best.map_or(limit, |(cost, _)| cost);
            // Whoever joins pays at least what the group pays now.
            if at == own || group.records.is_empty() || group.ncp >= beaten {
                return;
            }
            let size = group.records.len() as f64;
            let after = self.work.ncp_up_to(group, record, (beaten + group.loss()) / (size + 1.0));
            let cost = after * (size + 1.0) - group.loss();
            if cost < beaten
                && self.work.allows_with(group, record)
                && self.work.judge.holds_with(&group.records, record)
            {
                best = Some((cost, at));
            }
        });
        best
    }

    /// Takes note of a change, for the rest of this round and the next.
    fn mark(&mut self, group: usize) {
        self.changed[group] = true;
        self.fresh[group] = true;
        self.mask[group / 64] |= 1 << (group % 64);
    }

    fn move_records(&mut self, watch: &dyn Watch) -> Result<()> {
        let groups: Vec<usize> = (0..self.groups.len()).collect();
        for batch in groups.chunks((BATCH / self.work.judge.smallest()).max(1)) {
            watch.check()?;
            if self.effort.is_over() {
                break;
            }
            let moves: Vec<Vec<(u32, usize)>> =
                parallel::map_with(batch, Scratch::default, |scratch, group| {
                    self.find_moves(*group, scratch)
                });
            for (record, target) in moves.into_iter().flatten() {
                self.try_move(record, target);
            }
        }
        Ok(())
    }

    /// What the others save when a record leaves its group, and the record with it.
    fn gain(&self, record: u32) -> f64 {
        let group = &self.groups[self.group_of[record as usize] as usize];
        let rest = (group.records.len() - 1) as f64;
        group.loss() - self.work.ncp_without(group, record) * rest
    }

    /// Records of a group that would cost less in another, and which.
    fn find_moves(&self, group: usize, scratch: &mut Scratch) -> Vec<(u32, usize)> {
        let group = &self.groups[group];
        let rest = group.records.len().saturating_sub(1);
        if rest < self.work.judge.smallest() || group.loss() <= SAVES {
            return Vec::new();
        }
        let ends = self.work.ends(group);
        let find = |record: &u32| {
            let gain = group.loss() - self.work.ncp_by_ends(&ends, *record) * rest as f64;
            if gain <= SAVES || !self.work.judge.holds_without(&group.records, *record) {
                return None;
            }
            self.cheapest(*record, gain - SAVES, scratch).map(|(_, target)| (*record, target))
        };
        group.records.iter().filter_map(find).collect()
    }

    /// Moves a record if that still helps and is allowed.
    fn try_move(&mut self, record: u32, target: usize) {
        let own = self.group_of[record as usize] as usize;
        let helps = target != own
            && !self.groups[target].records.is_empty()
            && self.work.judge.holds_without(&self.groups[own].records, record)
            && self.work.cost_of_joining(&self.groups[target], record) < self.gain(record) - SAVES
            && self.work.allows_with(&self.groups[target], record)
            && self.work.judge.holds_with(&self.groups[target].records, record);
        if helps {
            self.work.leave(&mut self.groups[own], record);
            self.work.join(&mut self.groups[target], record);
            self.group_of[record as usize] = target as u32;
            self.index.set(own, &self.groups[own]);
            self.index.set(target, &self.groups[target]);
            self.mark(own);
            self.mark(target);
        }
    }

    fn dissolve_groups(&mut self, watch: &dyn Watch) -> Result<()> {
        // The dearest first.
        let mut order: Vec<(f64, usize)> = (0..self.groups.len())
            .filter(|at| self.fresh[*at] && self.groups[*at].records.len() < 2 * self.work.judge.smallest())
            .map(|at| (-self.groups[at].ncp, at))
            .collect();
        cheapest_first(&mut order);
        let order: Vec<usize> = order.into_iter().map(|(_, at)| at).collect();
        for batch in order.chunks(BATCH / 32) {
            watch.check()?;
            if self.effort.is_over() {
                break;
            }
            let targets: Vec<Option<Vec<usize>>> =
                parallel::map_with(batch, Scratch::default, |scratch, group| {
                    self.find_new_homes(*group, scratch)
                });
            // None of so many: the cheaper ones are even less likely to give way.
            if targets.iter().all(Option::is_none) {
                break;
            }
            for (&group, targets) in batch.iter().zip(targets) {
                if let Some(targets) = targets {
                    self.try_dissolve(group, &targets);
                }
            }
        }
        Ok(())
    }

    /// Where the records of a group would go, if they are likely to cost less there.
    fn find_new_homes(&self, group: usize, scratch: &mut Scratch) -> Option<Vec<usize>> {
        let group = &self.groups[group];
        let mut left = group.loss() - SAVES;
        let mut homes = Vec::with_capacity(group.records.len());
        if left <= 0.0 {
            return None;
        }
        for &record in &group.records {
            let (cost, home) = self.cheapest(record, left, scratch)?;
            left -= cost;
            homes.push(home);
        }
        Some(homes)
    }

    /// Dissolves a group if that still helps and is allowed.
    fn try_dissolve(&mut self, group: usize, homes: &[usize]) {
        if self.groups[group].records.len() != homes.len() {
            return;
        }
        let mut touched: Vec<usize> = homes.to_vec();
        touched.sort_unstable();
        touched.dedup();
        if touched.iter().any(|home| *home == group || self.groups[*home].records.is_empty()) {
            return;
        }
        let mut after: Vec<Group<C>> = touched.iter().map(|home| self.groups[*home].clone()).collect();
        let before: f64 = self.groups[group].loss() + after.iter().map(Group::loss).sum::<f64>();
        for (&record, home) in self.groups[group].records.iter().zip(homes) {
            if let Ok(at) = touched.binary_search(home) {
                self.work.join(&mut after[at], record);
            }
        }
        let helps = after.iter().map(Group::loss).sum::<f64>() < before - SAVES
            && after.iter().all(|group| self.work.allows(group))
            && after.iter().all(|group| self.work.judge.holds(group.records.iter().copied()));
        if helps {
            for (&record, home) in self.groups[group].records.iter().zip(homes) {
                self.group_of[record as usize] = *home as u32;
            }
            self.groups[group].records.clear();
            self.index.set(group, &self.groups[group]);
            self.mark(group);
            for (home, group) in touched.into_iter().zip(after) {
                self.groups[home] = group;
                self.index.set(home, &self.groups[home]);
                self.mark(home);
            }
        }
    }

    /// Divides the records of two groups anew where that costs less: what neither moves nor cuts can do.
    fn redivide_pairs(&mut self, watch: &dyn Watch) -> Result<()> {
        let groups: Vec<usize> = (0..self.groups.len()).filter(|at| self.fresh[*at]).collect();
        for batch in groups.chunks(BATCH / 8) {
            watch.check()?;
            if self.effort.is_over() {
                break;
            }
            let found: Vec<Option<(usize, Division)>> =
                parallel::map_with(batch, Scratch::default, |scratch, group| {
                    self.find_division(*group, scratch)
                });
            for (&group, found) in batch.iter().zip(found) {
                if let Some((other, division)) = found {
                    self.try_division(group, other, division);
                }
            }
        }
        Ok(())
    }

    /// The best division of a group's records and those of a near one.
    fn find_division(&self, at: usize, scratch: &mut Scratch) -> Option<(usize, Division)> {
        let group = &self.groups[at];
        let mut others: Vec<usize> = Vec::new();
        if group.loss() <= SAVES {
            return None;
        }
        let step = group.records.len().div_ceil(PARTNERS).max(1);
        for record in group.records.iter().step_by(step) {
            if let Some((_, other)) = self.cheapest(*record, f64::INFINITY, scratch)
                && !others.contains(&other)
            {
                others.push(other);
            }
        }
        let divisions = others.into_iter().filter_map(|other| {
            let both = self.union(at, other);
            let now = group.loss() + self.groups[other].loss();
            let (left, right) = best_division(self.work, &both)?;
            let halves = [self.work.group(left.clone()), self.work.group(right.clone())];
            let after = halves[0].loss() + halves[1].loss();
            let allowed = halves.iter().all(|half| self.work.allows(half));
            (allowed && after < now - SAVES).then_some((now - after, other, (left, right)))
        });
        let best = divisions.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))?;
        Some((best.1, best.2))
    }

    fn union(&self, one: usize, other: usize) -> Group<C> {
        let records = self.groups[one].records.iter().chain(&self.groups[other].records);
        self.work.group(records.copied().collect())
    }

    /// Divides two groups anew if they are still what they were.
    fn try_division(&mut self, one: usize, other: usize, (left, right): Division) {
        let of = |at: usize| self.groups[at].records.len();
        let mut before: Vec<u32> =
            self.groups[one].records.iter().chain(&self.groups[other].records).copied().collect();
        let mut after: Vec<u32> = left.iter().chain(&right).copied().collect();
        before.sort_unstable();
        after.sort_unstable();
        if of(one) == 0 || of(other) == 0 || before != after {
            return;
        }
        let (left, right) = (self.work.group(left), self.work.group(right));
        let now = self.groups[one].loss() + self.groups[other].loss();
        let allowed = self.work.allows(&left) && self.work.allows(&right);
        if allowed && left.loss() + right.loss() < now - SAVES {
            for (at, group) in [(one, left), (other, right)] {
                group.records.iter().for_each(|record| self.group_of[*record as usize] = at as u32);
                self.groups[at] = group;
                self.index.set(at, &self.groups[at]);
                self.mark(at);
            }
        }
    }

    fn cut_groups(&mut self) {
        // Others were tried when they last changed.
        let open: Vec<usize> =
            (0..self.groups.len()).filter(|at| self.changed[*at] || self.fresh[*at]).collect();
        for at in open {
            if let Some((left, right)) = best_cut(self.work, &self.groups[at]) {
                let mut pieces = Vec::new();
                cut(self.work, left, &mut pieces);
                cut(self.work, right, &mut pieces);
                self.groups[at].records.clear();
                self.changed.extend(pieces.iter().map(|_| true));
                self.groups.extend(pieces);
            }
        }
    }
}
