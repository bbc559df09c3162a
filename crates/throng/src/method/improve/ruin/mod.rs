//! Ruin and recreate: a few near groups are dissolved and others made of their records, again and again.
//!
//! Moves, cuts and divisions of pairs end where no single one of them helps. Here two to four groups around a record are
//! ruined at once and made anew, by the cheapest box around one of their records or by growing, and what comes out is kept if
//! it costs less, or not much more while the search is still warm: simulated annealing over large neighbourhoods (Schrimpf et
//! al., Record breaking optimization results using the ruin and recreate principle, Journal of Computational Physics 159,
//! 2000). What each record is worth is what it paid at the start: those in cheap groups are let go first.
//!
//! In every round the groups are cut at random into blocks of about [`BLOCK`] records, and each block is worked on by itself
//! with random numbers of its own, so that the outcome is the same on any number of threads. A round looks at as many boxes
//! per record whatever the table, so its cost is linear in N. The best partition that was seen comes back, never a worse one
//! than was there before.
//!
//! Where records may be left out, a step may leave some out, and take others back: each counts as fully lost, and a little
//! more while others wait for the same allowance (`Allowance`).

mod allowance;
mod around;
mod block;
mod blocks;
mod draws;
mod needs;
mod reach;
mod recreate;
mod rest;
mod rough;
mod sight;
mod swaps;

use std::time::Instant;

use super::cut::SAVES;
use super::group::{Group, Work};
use super::spare::Held;
use crate::error::Result;
use crate::parallel;
use crate::privacy::{Frequency, Judge};
use crate::problem::{Attribute, Code, Problem, Protected};
use crate::table::Scale;
use crate::watch::Watch;
use allowance::Allowance;
use block::Block;
use blocks::Cuts;
use draws::Draws;
use rough::Rough;
use sight::Sight;

/// Records of a block, about, and groups of it at least.
const BLOCK: usize = 1200;
/// The same where groups are only grown: then looking for near ones takes most of the time.
const SMALL_BLOCK: usize = 600;
const GROUPS_OF_A_BLOCK: usize = 12;
/// Boxes that a round looks at, for each record: few, because other blocks give other neighbours.
const LOOKS: u64 = 50;
/// Rounds in place of each that is asked for.
const SHORT_ROUNDS: usize = 4;
/// Streams of random numbers: those of a round begin here, and those of its cuts in the upper half.
const ROUND_STREAMS: u64 = 1 << 40;
const CUT_STREAMS: u64 = 1 << 39;
/// The one by which blocks share what may be left out.
const SHARE_STREAM: u64 = CUT_STREAMS - 1;

/// How much is searched.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rounds {
    /// So many; without a number, as many as the time allows.
    count: Option<usize>,
    /// Boxes that each looks at, for each record.
    looks: u64,
}

impl Rounds {
    /// So many.
    pub fn fixed(count: usize) -> Self {
        Rounds { count: Some(count.saturating_mul(SHORT_ROUNDS)), looks: LOOKS }
    }

    /// As many as the time allows. In large tables each is shorter, so that all of the table has its turn.
    pub fn until_the_end(problem: &Problem) -> Self {
        Rounds { count: None, looks: usual_looks(problem).min(LOOKS) }
    }

    /// About a second's work in small tables, a few looks at each record in large ones.
    pub fn usual(problem: &Problem) -> Self {
        let looks = usual_looks(problem);
        let count = looks.div_ceil(LOOKS).max(1);
        Rounds { count: Some(count as usize), looks: looks / count }
    }
}

/// Codes that are looked at in all by default, and boxes for each record at least and at most. A number takes as long as so many trees,
/// and one of very many values as long as still more.
const USUAL_CODES: f64 = 868e6;
const TREES_OF_A_NUMBER: f64 = 5.0;
const TREES_OF_A_FINE_NUMBER: f64 = 16.0;
const VALUES_OF_A_FINE_NUMBER: usize = 1000;
/// So many, where groups are only grown.
const TREES_OF_A_GROWN_NUMBER: f64 = 7.5;
/// So many, where records are exchanged.
const TREES_OF_AN_EXCHANGED_NUMBER: f64 = 2.5;
/// From so many attributes on, a look takes longer and finds less: so many times as many trees.
const MANY_ATTRIBUTES: usize = 24;
const TREES_OF_MANY: f64 = 3.75;
/// A number is fine if no more than so many records share a value, on average, and so many such numbers are several.
const RECORDS_OF_A_FINE_VALUE: usize = 2;
const SEVERAL: usize = 2;
const LEAST_LOOKS: u64 = 10;
/// Fewer looks at each record than this find next to nothing: then there is time for the fewest only.
const WORTH_IT: u64 = 150;
const MOST_LOOKS: u64 = 2000;
const MOST_LOOKS_OF_MANY: u64 = 1500;

/// Whether a table has several numbers of which hardly two records share a value.
pub(in crate::method) fn has_fine_numbers(problem: &Problem) -> bool {
    let is_fine = |own: &&Attribute| {
        let values = own.domain.len();
        matches!(own.domain.scale(), Scale::Numeric { .. })
            && values > VALUES_OF_A_FINE_NUMBER
            && values * RECORDS_OF_A_FINE_VALUE >= problem.len()
    };
    problem.attributes.iter().filter(is_fine).count() >= SEVERAL
}

/// Whether records are exchanged rather than groups made anew: where there is nothing but a few numbers, fine ones among them, and only
/// the size of classes counts.
pub(in crate::method) fn are_exchanged(problem: &Problem) -> bool {
    let is_number = |own: &Attribute| matches!(own.domain.scale(), Scale::Numeric { .. });
    has_fine_numbers(problem)
        && problem.attributes.len() <= reach::FEW
        && problem.attributes.iter().all(is_number)
        && Judge::new(problem).count_decides()
}

fn usual_looks(problem: &Problem) -> u64 {
    let (are_exchanged, are_grown) = (are_exchanged(problem), has_fine_numbers(problem));
    let trees = |own: &Attribute| match own.domain.scale() {
        Scale::Categorical(_) => 1.0,
        Scale::Numeric { .. } if are_exchanged => TREES_OF_AN_EXCHANGED_NUMBER,
        Scale::Numeric { .. } if are_grown => TREES_OF_A_GROWN_NUMBER,
        Scale::Numeric { .. } if own.domain.len() > VALUES_OF_A_FINE_NUMBER => TREES_OF_A_FINE_NUMBER,
        Scale::Numeric { .. } => TREES_OF_A_NUMBER,
    };
    let each: f64 = problem.attributes.iter().map(trees).sum();
    let is_wide = problem.attributes.len() >= MANY_ATTRIBUTES;
    let each = if is_wide { TREES_OF_MANY * each } else { each };
    // A part of a table gets no more than its share of what its round may take.
    let codes = problem.round_len().max(1) as f64 * each.max(1.0);
    match (USUAL_CODES / codes) as u64 {
        looks if looks < WORTH_IT => LEAST_LOOKS,
        looks if is_wide => looks.min(MOST_LOOKS_OF_MANY),
        looks => looks.min(MOST_LOOKS),
    }
}

/// Searches of more rounds begin hotter, where attributes have weight 1 up to this.
const ROUNDS_TO_BEGIN_HOTTER: f64 = 20.0;
const HOTTEST: f64 = 0.5;

/// How groups are ruined and made.
pub(super) struct Manner {
    /// Groups that are ruined at once, at most.
    most_ruined: usize,
    /// How often the cheapest box is looked for, rather than a group grown.
    exact: f64,
    /// How far what records are worth and boxes cost is changed by lot, at most.
    wobble: f64,
    /// What a step may lose on the way, on average, in the first round, and how often that is halved until the last.
    hot: f64,
    halvings: f64,
    /// How many times as much it may be at first in a long search.
    hotter: f64,
    /// Records of a block, about.
    block: usize,
    /// How often records change places, rather than groups be made anew, where that can be told from places.
    swaps: f64,
}

impl Manner {
    /// What came out best on Adult for classes of so many records of attributes of weight 1.
    fn of(size: f64, weight: f64, has_fine_numbers: bool) -> Self {
        if has_fine_numbers {
            return Self::of_fine_numbers(weight);
        }
        let large = size >= 18.0;
        let hot = weight * (0.04 * size).clamp(0.3, 1.0);
        let most_ruined = if large { 3 } else { 4 };
        // From 18 to 36 records it begins as hot as with more, and ends colder.
        let halvings = if large && size < 36.0 { 5.0 } else { 4.0 };
        // Growing looks at all that is left for each record that it takes, which is long where classes are large.
        let exact = (0.15 + 0.01 * size).min(1.0);
        let hotter = (HOTTEST * weight / hot).max(1.0);
        Manner { most_ruined, exact, wobble: 0.3, hot, halvings, hotter, block: BLOCK, swaps: 0.0 }
    }

    /// The cheapest box is looked for along one number only, and takes longest where all numbers differ. A search is short there,
    /// so that it begins cold.
    fn of_fine_numbers(weight: f64) -> Self {
        Manner {
            most_ruined: 3,
            exact: 0.0,
            wobble: 0.3,
            hot: 0.05 * weight,
            halvings: 2.0,
            hotter: 1.0,
            block: SMALL_BLOCK,
            swaps: 0.8,
        }
    }
}

impl Manner {
    /// The same, for groups that were searched before: less is lost on the way.
    fn colder(self) -> Self {
        Manner { hot: self.hot / 4.0, halvings: (self.halvings - 2.0).max(1.0), hotter: 1.0, ..self }
    }

    /// What the temperature is when so much of the search is done: it falls by halves, straight in between, so that no
    /// machine rounds a power differently. A long search begins hotter, and ends as cold.
    fn temperature(&self, done: f64, rounds: f64) -> f64 {
        let hotter = (rounds / ROUNDS_TO_BEGIN_HOTTER).sqrt().sqrt().clamp(1.0, self.hotter);
        let halvings = self.halvings * done;
        let cooler = 0.5f64.powi(halvings as i32) * (1.0 - halvings.fract() / 2.0);
        self.hot * cooler * (hotter + (1.0 - hotter) * done)
    }
}

/// What all blocks of a round share.
pub(super) struct Task<'a, C: Code> {
    work: &'a Work<'a, C>,
    rough: Rough,
    sight: Sight,
    /// What each record paid at the start.
    worth: &'a [f64],
    manner: Manner,
    temperature: f64,
    /// What it counts to leave a record out.
    fine: f64,
    /// The number with the most values.
    line: Option<usize>,
    until: Option<Instant>,
    watch: &'a dyn Watch,
}

impl<'a, C: Code> Task<'a, C> {
    fn is_over(&self) -> bool {
        self.watch.stopped() || self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// The limit on how often a value occurs, and the values, where that decides.
    fn frequency(&self) -> Option<(Frequency, &'a Protected)> {
        let frequency = self.work.judge.frequency()?;
        Some((frequency, self.work.problem.sensitive.get(frequency.attribute())?))
    }
}

/// The number with the most values.
fn longest_line(problem: &Problem) -> Option<usize> {
    let is_number = |at: &usize| matches!(problem.attributes[*at].domain.scale(), Scale::Numeric { .. });
    let values = |at: &usize| problem.attributes[*at].domain.len();
    (0..problem.attributes.len()).filter(is_number).max_by_key(|at| (values(at), std::cmp::Reverse(*at)))
}

/// How far a search is.
struct Pace {
    count: Option<usize>,
    start: Instant,
    /// When the first round was over, and how many there were since.
    warm: Option<Instant>,
    since: u64,
    until: Option<Instant>,
}

impl Pace {
    /// The share of the search that is done when the next round is; `None` if there is none.
    fn next(&self, round: u64) -> Option<f64> {
        let done = match (self.count, self.until) {
            (Some(count), _) if round >= count as u64 => return None,
            (_, Some(until)) if Instant::now() >= until => return None,
            (Some(count), _) => (round + 1) as f64 / count as f64,
            (None, Some(until)) => self.by_the_clock(until),
            (None, None) => return None,
        };
        Some(done.min(1.0))
    }

    /// The first round is taken cold, because nobody knows how many there will be.
    fn by_the_clock(&self, until: Instant) -> f64 {
        let Some(warm) = self.warm else { return 1.0 };
        let done = warm.elapsed().as_secs_f64() + self.seconds_of_a_round();
        done / self.seconds_after_the_first(until).max(1e-9)
    }

    /// How many rounds there will be, as far as that is known.
    fn rounds(&self) -> f64 {
        match (self.count, self.until) {
            (Some(count), _) => count as f64,
            (None, Some(until)) => self.seconds_after_the_first(until) / self.seconds_of_a_round().max(1e-9),
            (None, None) => 1.0,
        }
    }

    /// What a round takes on average; without one that was warm, what the first took, or forever.
    fn seconds_of_a_round(&self) -> f64 {
        match (self.warm, self.since) {
            (None, _) => f64::INFINITY,
            (Some(warm), 0) => warm.duration_since(self.start).as_secs_f64(),
            (Some(warm), since) => warm.elapsed().as_secs_f64() / since as f64,
        }
    }

    fn seconds_after_the_first(&self, until: Instant) -> f64 {
        until.saturating_duration_since(self.warm.unwrap_or(self.start)).as_secs_f64()
    }

    fn took_a_round(&mut self) {
        match self.warm {
            None => self.warm = Some(Instant::now()),
            Some(_) => self.since += 1,
        }
    }
}

/// Searches for better groups, with at most so many records in none of them.
pub(super) fn search<C: Code>(
    work: &Work<'_, C>,
    held: Held<C>,
    most_lost: usize,
    (rounds, until): (Rounds, Option<Instant>),
    watch: &dyn Watch,
) -> Result<Held<C>> {
    let weight = work.problem.total_weight();
    let mut least = held.loss(weight);
    if held.groups.len() < 2 || least <= SAVES || work.judge.smallest() < 2 {
        return Ok(held);
    }
    let mut worth = vec![weight; work.problem.len()];
    for group in &held.groups {
        group.records.iter().for_each(|record| worth[*record as usize] = group.ncp);
    }
    let (size, all) = (size_of_groups(&held.groups), weight * work.problem.len() as f64);
    let manner = Manner::of(size, weight / work.kernel.attributes() as f64, has_fine_numbers(work.problem));
    let manner = if most_lost > 0 { manner.colder() } else { manner };
    let mut allowance = Allowance::new(work, &held, most_lost);
    let mut task = Task {
        work,
        rough: Rough::new(&work.problem.attributes, &work.kernel),
        sight: Sight::new(&work.problem.attributes, &work.kernel),
        worth: &worth,
        manner,
        temperature: 0.0,
        fine: f64::INFINITY,
        line: longest_line(work.problem),
        until,
        watch,
    };
    let mut pace = Pace { count: rounds.count, start: Instant::now(), warm: None, since: 0, until };
    let (mut best, mut held) = (held.clone(), held);
    watch.stage("searching", rounds.count.map(|count| count as u64));
    for round in 0.. {
        let Some(done) = pace.next(round) else { break };
        watch.note(&format!("loss {:.2} %", 100.0 * least / all));
        task.temperature = task.manner.temperature(done, pace.rounds());
        task.fine = allowance.fine();
        held = one_round(&task, held, &allowance, (round, rounds.looks), size);
        allowance.after(held.lost.len(), done);
        pace.took_a_round();
        watch.advance(1);
        let loss = held.loss(weight);
        if loss < least {
            least = loss;
            best.clone_from(&held);
        }
        // Whoever asks to stop once gets the best so far.
        if watch.take_stop() {
            break;
        }
        watch.check()?;
    }
    best.lost.sort_unstable();
    Ok(best)
}

/// The mean.
fn size_of_groups<C: Code>(groups: &[Group<C>]) -> f64 {
    let records: usize = groups.iter().map(|group| group.records.len()).sum();
    records as f64 / groups.len() as f64
}

fn total<C: Code>(groups: &[Group<C>]) -> f64 {
    groups.iter().map(Group::loss).sum()
}

fn one_round<C: Code>(
    task: &Task<'_, C>,
    held: Held<C>,
    allowance: &Allowance,
    (round, looks): (u64, u64),
    size: f64,
) -> Held<C> {
    let block_size = task.manner.block.max((GROUPS_OF_A_BLOCK as f64 * size) as usize);
    let (seed, stream) = (task.work.problem.seed, (round + 1) * ROUND_STREAMS);
    let attributes = task.work.kernel.attributes();
    let Held { mut groups, lost } = held;
    let count = groups.len();
    // Who is left out lies somewhere too.
    groups.extend(lost.iter().map(|record| task.work.group(vec![*record])));
    let cuts = Cuts { groups: &groups, attributes, size: block_size, seed, stream: stream | CUT_STREAMS };
    let blocks = cuts.blocks();
    let mut groups: Vec<Option<Group<C>>> = groups.into_iter().map(Some).collect();
    let mut part = |block: &Vec<u32>| {
        let mut take = |grouped: bool| -> Vec<Group<C>> {
            let of_kind = block.iter().filter(|at| ((**at as usize) < count) == grouped);
            of_kind.filter_map(|at| groups[*at as usize].take()).collect()
        };
        let (own, lost) = (take(true), take(false));
        Part { groups: own, lost: lost.iter().flat_map(|group| group.records.iter().copied()).collect() }
    };
    let parts: Vec<Part<C>> = blocks.iter().map(&mut part).collect();
    let losses: Vec<f64> = parts.iter().map(|part| total(&part.groups)).collect();
    let shares = allowance.shares(lost.len(), &losses, &mut Draws::new(seed, stream | SHARE_STREAM));
    let improve = |(): &mut (), (at, (part, spare)): (usize, (Part<C>, usize))| {
        let records: usize = part.groups.iter().map(|group| group.records.len()).sum();
        if total(&part.groups) <= SAVES && part.lost.is_empty() {
            return (part.groups, part.lost);
        }
        let draws = Draws::new(seed, stream | at as u64);
        Block::new(task, (part.groups, &part.lost), spare, draws).run(looks * records as u64)
    };
    let parts: Vec<(Vec<Group<C>>, Vec<u32>)> =
        parallel::tasks(parts.into_iter().zip(shares).enumerate(), || (), improve);
    let (groups, lost): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    Held { groups: groups.into_iter().flatten().collect(), lost: lost.concat() }
}

/// What a block begins with.
struct Part<C: Code> {
    groups: Vec<Group<C>>,
    lost: Vec<u32>,
}
