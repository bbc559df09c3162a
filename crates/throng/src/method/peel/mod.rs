//! Peel: the cheapest classes first.
//!
//! Methods that cut or cluster spread a group over all attributes at once; the cheapest groups keep most attributes
//! exact and generalize a few. So we look for classes from the cheapest to the dearest among the records that are
//! still open, and take each out as it comes. What is left at the end is cut into groups of its own, or joins the
//! group where it adds least. Then the groups are improved.
//!
//! It can end at any time: what is cheap is peeled first, and a rest that is large goes to a fast method (`rest`).
//!
//! With l, the cheapest classes are those that sensitive values leave room for, so that grouping tells about values. With
//! `blind` they do not decide: [`lots::blind`](super::lots) peels blocks without them and deals records by lot inside.
//!
//! `NOTES.md` beside this file tells what was tried and what it gave.

mod ladder;
mod queue;
mod rest;
mod rows;
mod search;
mod subset;

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::facts::Grouping;
use super::improve::{Effort, Group, Held, ROUNDS, Work, cut, improve_groups, into_partition};
use super::options::Numbers;
use super::{Entry, Fact, Method, OptionKind, OptionSpec, Partition, Solution, Traits, lots};
use crate::error::Result;
use crate::parallel;
use crate::privacy::Part;
use crate::problem::{Code, Matrix, Problem};
use crate::watch::Watch;
use crate::with_matrix;
use queue::{Classes, Waiting};
use rows::OpenRows;
use search::{Node, Outcome, Scratch, Search};
use subset::Needs;

/// The registry's entry.
pub const PEEL: Entry = Entry {
    name: "peel",
    summary: "takes the cheapest classes out first, then moves records where they cost less; little loss, more time",
    citation: "throng",
    guarantee: "every class meets the requirement; no bound on the loss",
    takes: &[Part::K, Part::OwnK, Part::L, Part::T, Part::People],
    needs: &[],
    options: &[
        OptionSpec {
            name: "rounds",
            kind: OptionKind::Whole { least: 0, default: Some(ROUNDS as u64) },
            help: "rounds of moves at most, after peeling",
        },
        OptionSpec {
            name: "search",
            kind: OptionKind::Whole { least: 0, default: None },
            help: "rounds of ruin and recreate after that; without it as many as suit the number of records, or the seconds",
        },
        OptionSpec {
            name: "effort",
            kind: OptionKind::Whole { least: 1, default: Some(EFFORT as u64) },
            help: "how often each record is looked at while peeling, at most, on average",
        },
        OptionSpec {
            name: "seconds",
            kind: OptionKind::Number { allowed: Numbers::SECONDS, default: None },
            help: "seconds after which no more is peeled or improved; what comes out then depends on the machine",
        },
        OptionSpec {
            name: "blind",
            kind: OptionKind::Flag { default: false },
            help: "with l, whether blocks are peeled without looking at sensitive values and then dealt by lot: more loss, \
                   but grouping tells next to nothing about records",
        },
    ],
    traits: Traits::GROUPING,
    configure: |options, _| {
        let (rounds, effort) = (options.whole("rounds")? as usize, options.whole("effort")? as usize);
        let (seconds, blind) = (options.number_if_any("seconds")?, options.flag("blind")?);
        let search = options.whole_if_any("search")?.map(|rounds| rounds as usize);
        Ok(Box::new(Peel { rounds, search, effort, seconds, blind }))
    },
};

/// Times that each record is looked at while peeling, at most, on average.
pub const EFFORT: usize = 100_000;

/// The share of the seconds after which no more is peeled.
const SHARE_OF_PEELING: f64 = 0.6;

/// Peel.
#[derive(Clone, Copy, Debug)]
pub struct Peel {
    /// Rounds of moves at most.
    pub rounds: usize,
    /// Rounds of ruin and recreate; without them, as many as suit the number of records, or the seconds.
    pub search: Option<usize>,
    /// Times that each record is looked at while peeling, at most, on average.
    pub effort: usize,
    /// Seconds after which no more is peeled or improved. What comes out then depends on the machine.
    pub seconds: Option<f64>,
    /// Whether sensitive values are dealt by lot to blocks that were made without looking at them.
    pub blind: bool,
}

impl Default for Peel {
    fn default() -> Self {
        Peel { rounds: ROUNDS, search: None, effort: EFFORT, seconds: None, blind: false }
    }
}

impl Method for Peel {
    fn solve(&self, problem: &Problem, watch: &dyn Watch) -> Result<Solution> {
        let diverse = lots::smallest_diverse(problem).is_some();
        if diverse && self.blind {
            // The search draws from the seed, which may be known; nothing here may be repeated without the secret.
            let blocks = &Peel { search: Some(0), ..*self };
            let partition =
                with_matrix!(&problem.records, matrix => lots::blind::solve(problem, matrix, blocks, watch))?;
            return Ok(Solution::grouped(partition, Grouping::Lots));
        }
        let Peeled { partition, lost, by_other } =
            with_matrix!(&problem.records, matrix => self.solve_matrix(problem, matrix, watch))?;
        let mut solution =
            if diverse { Solution::grouped(partition, Grouping::Costs) } else { partition.into() };
        solution.facts.extend(by_other.map(|other| Fact::PeeledInPart {
            rest: other.records,
            of: problem.len(),
            by: other.name.into(),
        }));
        solution.leave_out(lost);
        Ok(solution)
    }
}

/// Tables of so many records are peeled in parts of at least so many, as long as no clock is asked and only the size of classes counts: the
/// codes of a part stay in the caches, and parts need not wait for each other. Classes across parts are found by the improvement.
const MANY: usize = 2_000_000;
const PART: usize = 125_000;
/// Some parts need so many times the looks that others do.
const MORE_IN_PARTS: usize = 4;

/// Nodes that are looked at side by side, and rows of them. Fixed, so that the outcome does not depend on the number of
/// threads.
const NODES_AT_A_TIME: usize = 256;
const ROWS_AT_A_TIME: usize = 1 << 16;
/// Of those, one thread takes so many at once.
const NODES_OF_A_TASK: usize = 8;

/// How far beyond the cheapest node others are looked at beside it, as a share of what it costs and of the total weight.
const SLACK: f64 = 0.05;
const LEAST_SLACK: f64 = 0.002;

/// Rows that nodes may hold, for each row of the table.
const MOST_HELD: usize = 400;
/// And in all, so that memory is bounded.
const MOST_HELD_IN_ALL: usize = 120_000_000;

/// One record in so many is few, and so many times the looks it had are given to peeling then.
const FEW: usize = 4;
const MORE_TO_FINISH: usize = 4;

/// What came out.
struct Peeled {
    partition: Partition,
    /// Records that are left out.
    lost: Vec<u32>,
    by_other: Option<rest::ByOther>,
}

impl Peel {
    fn solve_matrix<C: Code>(
        &self,
        problem: &Problem,
        matrix: &Matrix<C>,
        watch: &dyn Watch,
    ) -> Result<Peeled> {
        let start = Instant::now();
        let own = self.seconds.map(|seconds| start + Duration::from_secs_f64(seconds));
        let until = own.into_iter().chain(watch.until()).min();
        let effort = Effort::new(self.rounds, self.search, until);
        let work = Work::new(problem, matrix);
        watch.stage("peeling", Some(problem.len() as u64));
        let mut groups = Vec::new();
        // What peeling leaves must be cut, and the search finds more in the rest of the time than peeling does.
        let peeling = until.map(|until| start + (until - start).mul_f64(SHARE_OF_PEELING));
        let of_peeling = Effort { until: peeling, ..effort };
        let in_parts = matrix.len() >= MANY && until.is_none() && work.judge.count_decides();
        let rest = match in_parts {
            true => self.peel_parts(&work, &mut groups, of_peeling, (PART, watch))?,
            false => self.peel(&work, &mut groups, of_peeling, watch)?,
        };
        let by_other = rest::place(&work, rest, &mut groups, watch)?;
        let Held { groups, lost } = improve_groups(&work, groups, problem.suppressible, effort, watch)?;
        Ok(Peeled { partition: into_partition(groups), lost, by_other })
    }

    /// Cuts the table into parts of at least so many and takes groups out of each; gives back the records that are left in any.
    fn peel_parts<C: Code>(
        &self,
        work: &Work<'_, C>,
        groups: &mut Vec<Group<C>>,
        effort: Effort,
        (least, watch): (usize, &dyn Watch),
    ) -> Result<Vec<u32>> {
        let parts = rest::parts(work.problem, least, watch)?;
        watch.stage("peeling", Some(work.matrix.len() as u64));
        let peeled = parallel::try_map(0..parts.len(), |at| -> Result<(Vec<Group<C>>, Vec<u32>)> {
            let records = parts.group(at);
            let (problem, matrix) = (work.problem.of_records(records), work.matrix.gather(records));
            let (own, mut groups) = (Work::new(&problem, &matrix), Vec::new());
            let of_part = Peel { effort: self.effort.saturating_mul(MORE_IN_PARTS), ..*self };
            let mut rest = of_part.peel(&own, &mut groups, effort, watch)?;
            let taken = groups.iter_mut().map(|group| &mut group.records).chain([&mut rest]);
            taken.flatten().for_each(|record| *record = records[*record as usize]);
            Ok((groups, rest))
        })?;
        let mut left = Vec::new();
        for (own, rest) in peeled {
            groups.extend(own);
            left.extend(rest);
        }
        left.sort_unstable();
        Ok(left)
    }

    /// Takes groups out while there is something to take; gives back the records that are left.
    fn peel<C: Code>(
        &self,
        work: &Work<'_, C>,
        groups: &mut Vec<Group<C>>,
        effort: Effort,
        watch: &dyn Watch,
    ) -> Result<Vec<u32>> {
        let search = Search::new(work);
        let rows = OpenRows::new(work, search.along());
        let mut peeling = Peeling {
            nodes: Waiting::new(work.problem.total_weight()),
            classes: Classes::default(),
            most_held: MOST_HELD.saturating_mul(rows.len()).min(MOST_HELD_IN_ALL),
            looks_left: self.effort.saturating_mul(work.matrix.len()),
            finishing: false,
            needs: Needs::new(work),
            room: Mutex::default(),
            rows,
            search,
        };
        peeling.nodes.push(peeling.search.root(&peeling.rows));
        let mut taken = 0;
        while peeling.rows.records_left() >= work.judge.smallest() {
            watch.check()?;
            let out_of_time = effort.until.is_some_and(|until| Instant::now() >= until);
            peeling.take(groups);
            let now = work.matrix.len() - peeling.rows.records_left();
            watch.advance((now - taken) as u64);
            taken = now;
            let goes_on = peeling.look() || peeling.is_nearly_done(self.effort);
            if out_of_time || !goes_on {
                break;
            }
        }
        Ok(peeling.rows.into_open_records())
    }
}

/// Peeling under way.
struct Peeling<'a, C: Code> {
    search: Search<'a, C>,
    rows: OpenRows<C>,
    needs: Needs<'a, C>,
    /// What may hold classes, and classes that were found, the cheapest first.
    nodes: Waiting,
    classes: Classes,
    /// Rows that nodes may hold.
    most_held: usize,
    /// How many more times a row may be looked at.
    looks_left: usize,
    /// Whether it was given more looks to be finished.
    finishing: bool,
    /// Room that threads use in turns.
    room: Mutex<Vec<Scratch>>,
}

impl<C: Code> Peeling<'_, C> {
    /// Takes the classes that are cheaper than everything that could still be found, except among what they leave: that
    /// is looked at next, so the order of classes is that of their cost but for what one batch reaches.
    fn take(&mut self, groups: &mut Vec<Group<C>>) {
        let work = self.search.work;
        let cheapest = self.nodes.cheapest().unwrap_or(f64::INFINITY);
        let mut left = Vec::new();
        while self.classes.cheapest().is_some_and(|cost| cost <= cheapest) {
            let Some(mut node) = self.classes.pop() else { break };
            if node.is_whole_class(&self.rows) {
                let class: Vec<u32> = node.class().unwrap_or_default().to_vec();
                let records = class.iter().flat_map(|row| self.rows.records(*row)).copied().collect();
                let Some(records) = self.needs.take(records) else { continue };
                if work.judge.count_decides() {
                    self.rows.close(&class, None);
                } else {
                    let mut taken = records.clone();
                    taken.sort_unstable();
                    self.rows.close(&class, Some(&taken));
                }
                cut(work, records, groups);
            }
            // There may be more among what is left.
            node.reset();
            left.push(node);
        }
        left.into_iter().for_each(|node| self.nodes.push(node));
    }

    /// Whether so few records are left after all looks that it pays to finish: what is left is cut by other methods, dearer, and the
    /// search takes longer to mend that.
    fn is_nearly_done(&mut self, effort: usize) -> bool {
        let records = self.search.work.matrix.len();
        let few = self.rows.records_left() <= records / FEW;
        if self.finishing || self.looks_left > 0 || !few {
            return false;
        }
        self.finishing = true;
        self.looks_left = effort.saturating_mul(records).saturating_mul(MORE_TO_FINISH);
        true
    }

    /// Looks at the cheapest nodes. Tells whether there were any and the effort allowed it.
    fn look(&mut self) -> bool {
        let Some(bound) = self.nodes.cheapest() else { return self.classes.cheapest().is_some() };
        let weight = self.search.work.problem.total_weight();
        let limit = bound + (SLACK * bound).max(LEAST_SLACK * weight);
        let reach = self.nodes.top(limit);
        let (mut batch, mut rows) = (Vec::new(), 0);
        while batch.len() < NODES_AT_A_TIME
            && rows < ROWS_AT_A_TIME
            && let Some(node) = self.nodes.pop(limit)
        {
            rows += node.rows.len();
            batch.push(node);
        }
        let (search, open) = (&self.search, (&self.rows, &self.needs));
        let look = |(): &mut (), nodes: Vec<Node>| {
            let room = self.room.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut scratch = room.unwrap_or_else(|| search.scratch());
            let outcome = search.look(open, nodes, reach, &mut scratch);
            self.room.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
            outcome
        };
        let (count, mut nodes) = (batch.len().div_ceil(NODES_OF_A_TASK), batch.into_iter());
        let task = |_| nodes.by_ref().take(NODES_OF_A_TASK).collect();
        let outcomes: Vec<Outcome> = parallel::tasks((0..count).map(task), || (), look);
        for outcome in outcomes {
            self.looks_left = self.looks_left.saturating_sub(outcome.looks);
            for node in outcome.nodes {
                if node.class().is_some() {
                    self.classes.push(node);
                } else if self.nodes.held() < self.most_held {
                    // What is held is bounded; the cheapest are there already.
                    self.nodes.push(node);
                }
            }
        }
        self.looks_left > 0
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fmt::Write as _;

    use super::*;
    use crate::policy::Policy;
    use crate::run;
    use crate::watch::Unwatched;

    fn problem(rows: u32) -> Problem {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("table.csv");
        let mut text = "number,flat\n".to_owned();
        for row in 0..rows {
            let drawn = row.wrapping_mul(2_654_435_761) >> 8;
            writeln!(text, "{},f{}", drawn % 70, drawn / 70 % 5).unwrap();
        }
        std::fs::write(&data, text).unwrap();
        let policy = "[privacy]\nk = 3\n[attribute.number]\nrole = \"quasi\"\nkind = \"numeric\"\n\
            [attribute.flat]\nrole = \"quasi\"\n";
        let policy = Policy::parse(policy, None).unwrap();
        Problem::new(&run::read(&data, &policy, &Unwatched).unwrap(), &policy).unwrap()
    }

    /// Groups that are peeled in parts of at least so many records, and what is left.
    fn in_parts(problem: &Problem, least: usize) -> (Vec<(Vec<u32>, f64)>, Vec<u32>) {
        with_matrix!(&problem.records, matrix => {
            let (work, mut groups) = (Work::new(problem, matrix), Vec::new());
            let effort = Effort::new(0, Some(0), None);
            let left = Peel::default().peel_parts(&work, &mut groups, effort, (least, &Unwatched)).unwrap();
            for group in &groups {
                let anew = work.group(group.records.clone());
                assert_eq!((&group.extent, group.ncp), (&anew.extent, anew.ncp));
                assert!(work.judge.holds(group.records.iter().copied()));
            }
            (groups.into_iter().map(|group| (group.records, group.ncp)).collect(), left)
        })
    }

    #[test]
    fn parts_give_groups_of_the_whole_and_leave_the_rest_on_any_number_of_threads() {
        let problem = problem(900);
        let expected = in_parts(&problem, 100);
        let (groups, left) = &expected;
        let mut records: Vec<u32> =
            groups.iter().flat_map(|(records, _)| records).chain(left).copied().collect();
        records.sort_unstable();
        assert_eq!(records, (0..900).collect::<Vec<u32>>());
        assert!(groups.len() > 100 && left.len() < 100, "{} groups, {} left", groups.len(), left.len());
        assert!(*groups != in_parts(&problem, 900).0, "there was one part");
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert!(pool.install(|| in_parts(&problem, 100)) == expected, "{threads} threads");
        }
    }
}
