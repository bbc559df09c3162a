//! The lattice of generalization strings: levels of each attribute, and the rows that are counted.
//!
//! A string picks one level per attribute. Rows that are equal at the finest levels left after pruning are kept once,
//! with their number; strings are never counted from the table again. Groups of a prefix of attributes are refined
//! attribute by attribute, so a string shares all work but the last step with its neighbours.

use crate::error::{Error, ErrorCode, Result};
use crate::privacy::Judge;
use crate::problem::Problem;
use crate::table::Map;

/// A level of each attribute.
pub type Levels = Vec<u8>;

/// The levels of one attribute.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// The finest level that may be published: finer ones fail by themselves.
    pub lowest: u8,
    /// The coarsest level that breaks no hard rule.
    pub highest: u8,
    /// The level of anything.
    pub top: u8,
    /// For each level from `lowest` on: its number of groups.
    counts: Vec<u32>,
    /// For each level from `lowest` on: the group of each group of `lowest`.
    groups: Vec<Vec<u32>>,
    /// For each level from `lowest` on: the codes that each group is published as.
    pub ends: Vec<Vec<(u32, u32)>>,
}

impl Attribute {
    /// Number of groups of a level.
    pub fn count(&self, level: u8) -> u32 {
        self.counts[(level - self.lowest) as usize]
    }

    fn map(&self, level: u8) -> &[u32] {
        &self.groups[(level - self.lowest) as usize]
    }

    /// The codes that a row of group `lowest` is published as at a level.
    pub fn published(&self, level: u8, group: u32) -> (u32, u32) {
        self.ends[(level - self.lowest) as usize][self.map(level)[group as usize] as usize]
    }
}

/// Rows in groups.
#[derive(Clone, Debug)]
pub struct Groups {
    /// The group of each row.
    pub of_row: Vec<u32>,
    /// Records in each group.
    pub sizes: Vec<u32>,
    /// The first row of each group.
    pub first: Vec<u32>,
}

impl Groups {
    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        4 * (self.of_row.len() + self.sizes.len() + self.first.len())
    }
}

/// What a test of groups says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether the groups may be published, some of them suppressed perhaps.
    pub valid: bool,
    /// Whether they or coarser ones could be: if not, none that is finer is valid.
    pub possible: bool,
}

/// All strings of a problem, and the rows to count.
pub struct Lattice<'a> {
    /// The problem.
    pub problem: &'a Problem,
    /// The attributes.
    pub attributes: Vec<Attribute>,
    /// Records of each row.
    weights: Vec<u32>,
    /// For each attribute the group of each row at its lowest level.
    columns: Vec<Vec<u32>>,
    /// The records of all rows, row by row, and where each row's begin.
    members: Vec<u32>,
    starts: Vec<u32>,
    judge: Judge<'a>,
    /// Whether a string that fails makes all finer ones fail.
    monotone: bool,
    smallest: u32,
    budget: u64,
    /// Levels that failed by themselves.
    pub pruned: usize,
}

impl<'a> Lattice<'a> {
    /// Builds the lattice of a problem: levels that fail by themselves are left out, and so are those that break a hard
    /// rule.
    pub fn new(problem: &'a Problem) -> Result<Self> {
        let raw: Vec<Attribute> = (0..problem.attributes.len()).map(|at| levels(problem, at)).collect();
        let judge = Judge::new(problem);
        let mut lattice = Lattice {
            problem,
            weights: vec![1; problem.len()],
            columns: Vec::new(),
            members: (0..problem.len() as u32).collect(),
            starts: (0..=problem.len() as u32).collect(),
            monotone: problem.requirement.monotone() && (judge.count_decides() || problem.suppressible == 0),
            smallest: judge.smallest() as u32,
            judge,
            budget: problem.suppressible as u64,
            pruned: 0,
            attributes: raw,
        };
        lattice.columns = (0..lattice.attributes.len())
            .map(|at| (0..problem.len()).map(|record| problem.records.code(record, at)).collect())
            .collect();
        lattice.prune()?;
        lattice.collapse();
        Ok(lattice)
    }

    /// Number of strings.
    pub fn strings(&self) -> f64 {
        self.attributes.iter().map(|own| f64::from(own.highest - own.lowest) + 1.0).product()
    }

    /// Whether a string that fails makes all finer ones fail.
    pub fn is_monotone(&self) -> bool {
        self.monotone
    }

    /// Number of rows that are counted.
    pub fn rows(&self) -> usize {
        self.weights.len()
    }

    /// Every attribute at its coarsest level.
    pub fn highest(&self) -> Levels {
        self.attributes.iter().map(|own| own.highest).collect()
    }

    /// Whether every attribute can be published as anything.
    pub fn coarsest_is_one_group(&self) -> bool {
        self.attributes.iter().all(|own| own.count(own.highest) == 1)
    }

    /// How many attributes are published as anything.
    pub fn tops(&self, levels: &[u8]) -> usize {
        self.attributes.iter().zip(levels).filter(|(own, level)| own.top == **level).count()
    }

    /// The entropy of each attribute at each level from its lowest on.
    pub fn entropies(&self) -> Vec<Vec<f64>> {
        let whole = self.whole();
        let entropy = |at: usize, level: u8| -> f64 {
            let sizes = self.refine(&whole, at, level).sizes;
            let records = self.problem.len() as f64;
            -sizes.iter().map(|size| f64::from(*size) / records).map(|share| share * share.ln()).sum::<f64>()
        };
        let attributes = self.attributes.iter().enumerate();
        attributes
            .map(|(at, own)| (own.lowest..=own.highest).map(|level| entropy(at, level)).collect())
            .collect()
    }

    /// All rows in one group.
    pub fn whole(&self) -> Groups {
        Groups { of_row: vec![0; self.rows()], sizes: vec![self.problem.len() as u32], first: vec![0] }
    }

    /// The groups of a string.
    pub fn groups(&self, levels: &[u8]) -> Groups {
        (0..levels.len()).fold(self.whole(), |groups, at| match self.attributes[at].count(levels[at]) {
            1 => groups,
            _ => self.refine(&groups, at, levels[at]),
        })
    }

    /// Groups divided further by one attribute at a level.
    pub fn refine(&self, groups: &Groups, attribute: usize, level: u8) -> Groups {
        self.divide(groups, attribute, level, u64::MAX).unwrap_or_else(|| groups.clone())
    }

    /// Whether groups divided by one more attribute at a level may be published.
    pub fn test(&self, groups: &Groups, attribute: usize, level: u8) -> Verdict {
        if self.attributes[attribute].count(level) == 1 {
            return self.verdict(groups);
        }
        // More groups than this cannot all be large enough, and each that is not costs a record at least.
        let most = self.problem.len() as u64 / u64::from(self.smallest.max(1)) + self.budget;
        match self.divide(groups, attribute, level, most) {
            Some(groups) => self.verdict(&groups),
            None => Verdict { valid: false, possible: false },
        }
    }

    /// Whether groups may be published.
    pub fn verdict(&self, groups: &Groups) -> Verdict {
        let small = groups.sizes.iter().filter(|size| **size < self.smallest);
        let under: u64 = small.map(|size| u64::from(*size)).sum();
        if under > self.budget {
            return Verdict { valid: false, possible: false };
        }
        if self.judge.count_decides() {
            return Verdict { valid: true, possible: true };
        }
        let failing: u64 = self.failing(groups).iter().map(|at| u64::from(groups.sizes[*at as usize])).sum();
        let valid = failing <= self.budget;
        Verdict { valid, possible: valid || !self.monotone }
    }

    /// The groups that must be suppressed, ascending.
    pub fn failing(&self, groups: &Groups) -> Vec<u32> {
        if self.judge.count_decides() {
            return (0..groups.sizes.len() as u32)
                .filter(|at| groups.sizes[*at as usize] < self.smallest)
                .collect();
        }
        let mut room = self.judge.tally();
        let mut fails = |rows: &[u32]| {
            room.clear();
            let records = rows.iter().flat_map(|row| self.records(*row));
            records.for_each(|record| self.judge.add(&mut room, *record));
            !self.judge.allows(&room)
        };
        let rows = self.rows_of(groups);
        (0..).zip(&rows).filter(|(_, rows)| fails(rows)).map(|(at, _)| at).collect()
    }

    /// The rows of each group.
    pub fn rows_of(&self, groups: &Groups) -> Vec<Vec<u32>> {
        let mut rows = vec![Vec::new(); groups.sizes.len()];
        for (row, group) in (0..).zip(&groups.of_row) {
            rows[*group as usize].push(row);
        }
        rows
    }

    /// The records of a row.
    pub fn records(&self, row: u32) -> &[u32] {
        &self.members[self.starts[row as usize] as usize..self.starts[row as usize + 1] as usize]
    }

    /// The codes that a row is published as.
    pub fn published(&self, attribute: usize, level: u8, row: u32) -> (u32, u32) {
        self.attributes[attribute].published(level, self.columns[attribute][row as usize])
    }

    /// Groups divided by one attribute, unless there are more than `most`.
    fn divide(&self, groups: &Groups, attribute: usize, level: u8, most: u64) -> Option<Groups> {
        let own = &self.attributes[attribute];
        let (map, count) = (own.map(level), own.count(level) as usize);
        let column = &self.columns[attribute];
        let rows = column.len();
        let (from, weights) = (&groups.of_row[..rows], &self.weights[..rows]);
        let mut found = Groups { of_row: Vec::new(), sizes: Vec::new(), first: Vec::new() };
        let mut of_row = vec![0; rows];
        let pairs = groups.sizes.len() * count;
        // A table over all pairs is fastest, as long as clearing it does not outweigh the rows.
        if pairs <= 16 * self.rows() + 1024 {
            let mut table = vec![u32::MAX; pairs];
            for row in 0..rows {
                let at = &mut table[from[row] as usize * count + map[column[row] as usize] as usize];
                if *at == u32::MAX {
                    *at = found.open(row, most)?;
                }
                of_row[row] = *at;
                found.sizes[*at as usize] += weights[row];
            }
        } else {
            let mut table: Map<u64, u32> = Map::default();
            for row in 0..rows {
                let key = u64::from(from[row]) << 32 | u64::from(map[column[row] as usize]);
                let at = match table.get(&key) {
                    Some(at) => *at,
                    None => {
                        let at = found.open(row, most)?;
                        table.insert(key, at);
                        at
                    }
                };
                of_row[row] = at;
                found.sizes[at as usize] += weights[row];
            }
        }
        Some(Groups { of_row, ..found })
    }

    /// Leaves out levels that fail by themselves.
    fn prune(&mut self) -> Result<()> {
        let whole = self.whole();
        for at in 0..self.attributes.len() {
            let possible = |lattice: &Self, level: u8| lattice.test(&whole, at, level).possible;
            while self.attributes[at].lowest < self.attributes[at].highest
                && !possible(self, self.attributes[at].lowest)
            {
                self.pruned += 1;
                self.raise(at);
            }
            if !possible(self, self.attributes[at].lowest) {
                return Err(no_level(self.problem, at));
            }
        }
        Ok(())
    }

    /// Drops the lowest level of an attribute.
    fn raise(&mut self, at: usize) {
        let own = &mut self.attributes[at];
        let next = own.groups[1].clone();
        self.columns[at].iter_mut().for_each(|group| *group = next[*group as usize]);
        // What a coarser group is, asked by any of its parts.
        let mut part = vec![0; own.counts[1] as usize];
        (0..).zip(&next).for_each(|(from, to)| part[*to as usize] = from);
        own.groups.remove(0);
        own.groups.iter_mut().for_each(|map| *map = part.iter().map(|from| map[*from as usize]).collect());
        own.counts.remove(0);
        own.ends.remove(0);
        own.lowest += 1;
    }

    /// Keeps equal rows once.
    fn collapse(&mut self) {
        let finest: Levels = self.attributes.iter().map(|own| own.lowest).collect();
        let groups = self.groups(&finest);
        let rows = self.rows_of(&groups);
        self.columns = self
            .columns
            .iter()
            .map(|column| groups.first.iter().map(|row| column[*row as usize]).collect())
            .collect();
        self.starts = rows
            .iter()
            .scan(0, |end, rows| {
                *end += rows.len() as u32;
                Some(*end)
            })
            .collect();
        self.starts.insert(0, 0);
        self.members = rows.concat();
        self.weights = groups.sizes;
    }
}

impl Groups {
    fn open(&mut self, row: usize, most: u64) -> Option<u32> {
        if self.sizes.len() as u64 >= most {
            return None;
        }
        self.sizes.push(0);
        self.first.push(row as u32);
        Some(self.sizes.len() as u32 - 1)
    }
}

/// The levels of an attribute, those left out that break a hard rule.
fn levels(problem: &Problem, at: usize) -> Attribute {
    let domain = &problem.attributes[at].domain;
    let top = (domain.levels() - 1).min(254);
    let (mut counts, mut groups, mut all_ends) = (Vec::new(), Vec::new(), Vec::new());
    for level in 0..=top {
        let of_code = domain.at_level(if level == top { domain.levels() - 1 } else { level });
        if problem.rules.of(at).any(|rule| rule.hard && of_code.iter().any(|ends| rule.broken_by(*ends))) {
            break;
        }
        let mut ends: Vec<(u32, u32)> = of_code.clone();
        ends.dedup();
        let place: Map<(u32, u32), u32> = ends.iter().copied().zip(0..).collect();
        groups.push(of_code.iter().map(|own| place[own]).collect());
        counts.push(ends.len() as u32);
        all_ends.push(ends);
    }
    Attribute { lowest: 0, highest: counts.len() as u8 - 1, top: top as u8, counts, groups, ends: all_ends }
}

fn no_level(problem: &Problem, at: usize) -> Error {
    let rules: Vec<String> =
        problem.rules.of(at).filter(|rule| rule.hard).map(|rule| rule.text.clone()).collect();
    hard_rules_in_the_way(&[format!("{} of \"{}\"", rules.join(", "), problem.attributes[at].name)])
}

/// No string keeps the hard rules and meets the requirement.
pub fn hard_rules_in_the_way(rules: &[String]) -> Error {
    Error::new(ErrorCode::RulesInTheWay, format!(
        "the hard rules {} stand in the way: no levels that keep them meet the requirement",
        rules.join(", ")
    ))
    .with_hint("let the hierarchy have levels that keep the rules, or take a method that groups freely, such as mondrian")
}
