//! The search for classes, the cheapest first.
//!
//! A node fixes cells for some attributes and holds the open rows that lie in all of them. Its children fix one more
//! attribute, step by step up its ladder; the last attribute, if it is a number, is cut by windows that follow the
//! data instead. Nodes wait in a heap by the least that a class among their rows can cost:
//! what the fixed cells cost, and for each other attribute the cheapest cell that has enough records by itself. So the
//! lattice of generalizations is never built, and what cannot become a class is left as soon as that is known.

use std::sync::Arc;

use super::ladder::Ladder;
use super::rows::OpenRows;
use super::subset::{self, Needs};
use crate::collections::Arrange;
use crate::loss::Kernel;
use crate::method::improve::Work;
use crate::parallel;
use crate::problem::{Attribute, Code};
use crate::table::Scale;

/// Smaller differences are rounding.
pub(super) const TINY: f64 = 1e-9;

/// Rows that share the cells of some attributes.
#[derive(Debug)]
pub(super) struct Node {
    /// No class among the rows costs less.
    pub bound: f64,
    /// Open records when it was last looked at.
    pub records: usize,
    /// Distinct rows, ascending.
    pub rows: Vec<u32>,
    /// What the fixed cells cost, and of that the categories.
    cost: f64,
    cost_of_categories: f64,
    /// Attributes without a cell.
    undecided: Arc<[u16]>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// The bound comes from its parent, and of what the cells cost only the categories' part is known.
    Unmeasured,
    /// The bound comes from its parent.
    New,
    /// The bound is its own.
    Bounded,
    /// Children are made of one attribute, from this step on; the other undecided attributes cost at least `rest`.
    Branched { attribute: u16, step: u16, rest: f64 },
    /// The rows `first .. end` are a class.
    Class { first: usize, end: usize, records: usize },
}

impl Node {
    /// The rows of the class that the node stands for.
    pub fn class(&self) -> Option<&[u32]> {
        match self.state {
            State::Class { first, end, .. } => Some(&self.rows[first..end]),
            State::Unmeasured | State::New | State::Bounded | State::Branched { .. } => None,
        }
    }

    /// Whether it stands for a class of which nothing was taken yet.
    pub fn is_whole_class<C: Code>(&self, rows: &OpenRows<C>) -> bool {
        match self.state {
            State::Class { first, end, records } => rows.count_all(&self.rows[first..end]) == records,
            State::Unmeasured | State::New | State::Bounded | State::Branched { .. } => false,
        }
    }

    /// Forgets the class that it stands for.
    pub fn reset(&mut self) {
        self.state = State::New;
    }
}

/// What came of looking at some nodes.
#[derive(Default)]
pub(super) struct Outcome {
    /// Nodes and their children of which there is more to expect.
    pub nodes: Vec<Node>,
    /// Rows looked at, as often as they were.
    pub looks: usize,
}

/// What the search looks at.
pub(super) struct Search<'a, C: Code> {
    pub work: &'a Work<'a, C>,
    ladders: Vec<Ladder>,
    /// How far the records spread over the values of each attribute.
    spreads: Vec<f64>,
    /// The number whose windows follow the data, if there is a number.
    window: Option<usize>,
}

/// Room for looking at a node, one per thread.
pub(super) struct Scratch {
    counts: Vec<u32>,
    /// Open records of each row of the node.
    open: Vec<u32>,
    /// Codes with the records that have them, ascending.
    present: Vec<(u32, u32)>,
    /// The same of the attribute to branch on.
    chosen: Vec<(u32, u32)>,
    cell_of: Vec<u32>,
    decided: Vec<bool>,
    /// What took as long as so many looks beside those at rows.
    looks: usize,
}

/// A cell with enough records.
struct Cell {
    penalty: f64,
    low: u32,
    high: u32,
    records: usize,
}

/// The attribute whose values are told apart by windows: the number with the most values.
pub(super) fn window_attribute(attributes: &[Attribute]) -> Option<usize> {
    let numbers =
        (0..attributes.len()).filter(|at| matches!(attributes[*at].domain.scale(), Scale::Numeric { .. }));
    numbers.max_by_key(|at| (attributes[*at].domain.len(), std::cmp::Reverse(*at)))
}

impl<'a, C: Code> Search<'a, C> {
    pub fn new(work: &'a Work<'a, C>) -> Self {
        let attributes = &work.problem.attributes;
        let ladder = |(at, attribute): (usize, &Attribute)| Ladder::new(at, attribute, &work.kernel);
        let ladders = attributes.iter().enumerate().map(ladder).collect();
        let spread_of = |at: usize| {
            let mut counts = vec![0u32; attributes[at].domain.len()];
            (0..work.matrix.len()).for_each(|row| counts[work.matrix.get(row, at).index()] += 1);
            spread(&(0..).zip(counts).collect::<Vec<(u32, u32)>>())
        };
        let spreads = parallel::map(0..attributes.len(), spread_of);
        Search { work, ladders, spreads, window: window_attribute(attributes) }
    }

    /// The attribute along which rows are to be numbered.
    pub fn along(&self) -> usize {
        self.window.unwrap_or(0)
    }

    /// The node of all rows.
    pub fn root(&self, rows: &OpenRows<C>) -> Node {
        let mut undecided: Vec<u16> = (0..self.ladders.len() as u16).collect();
        // Those that spread most are the first to tell that a node is out of reach.
        let spread = |at: &u16| self.spreads[usize::from(*at)];
        undecided.arrange_by(|a, b| spread(b).total_cmp(&spread(a)));
        Node {
            bound: 0.0,
            records: rows.records_left(),
            rows: (0..rows.len() as u32).collect(),
            cost: 0.0,
            cost_of_categories: 0.0,
            undecided: undecided.into(),
            state: State::New,
        }
    }

    pub fn scratch(&self) -> Scratch {
        let most = self.work.problem.attributes.iter().map(|one| one.domain.len()).max().unwrap_or(0);
        Scratch {
            counts: vec![0; most],
            open: Vec::new(),
            present: Vec::new(),
            chosen: Vec::new(),
            cell_of: vec![NO_CELL; most],
            decided: vec![false; self.ladders.len()],
            looks: 0,
        }
    }

    fn kernel(&self) -> &Kernel {
        &self.work.kernel
    }

    /// Looks at nodes, and at once at those of their children that are within reach; large ones are left for others to
    /// share.
    pub fn look(
        &self,
        state: (&OpenRows<C>, &Needs<'_, C>),
        mut nodes: Vec<Node>,
        reach: f64,
        scratch: &mut Scratch,
    ) -> Outcome {
        let mut outcome = Outcome::default();
        nodes.reverse();
        let mut children = Vec::new();
        while let Some(node) = nodes.pop() {
            let again = self.look_at(state, node, reach, scratch, &mut children, &mut outcome.looks);
            outcome.looks += std::mem::take(&mut scratch.looks);
            for node in again.into_iter().chain(children.drain(..).rev()) {
                let goes_on = node.bound <= reach
                    && node.rows.len() <= SHARED_FROM
                    && node.class().is_none()
                    && outcome.looks < LOOKS_OF_A_TASK;
                if goes_on { nodes.push(node) } else { outcome.nodes.push(node) }
            }
        }
        outcome
    }

    /// Makes the bound of a node its own, and if that is within reach, children or a class. Returns the node if there is
    /// more to expect of it.
    fn look_at(
        &self,
        (open, needs): (&OpenRows<C>, &Needs<'_, C>),
        mut node: Node,
        reach: f64,
        scratch: &mut Scratch,
        children: &mut Vec<Node>,
        looks: &mut usize,
    ) -> Option<Node> {
        *looks += node.rows.len();
        let before = node.rows.len();
        node.records = keep_open(open, &mut node.rows, &mut scratch.open);
        if node.records < self.work.judge.smallest() {
            return None;
        }
        if let State::Class { .. } = node.state {
            node.reset();
        }
        if node.state == State::Unmeasured && !self.measure(open, &mut node, scratch) {
            return None;
        }
        // A bound that was its own still holds; with far fewer rows it is worth another look.
        let shrunk = 4 * node.rows.len() < 3 * before;
        if node.undecided.iter().all(|at| Some(usize::from(*at)) == self.window) {
            *looks += node.rows.len();
            return self.settle((open, needs), &mut node, scratch, looks).then_some(node);
        }
        let mut counted = false;
        if node.state == State::New && node.records > LARGE * self.work.judge.smallest() {
            // So many records leave next to nothing that an attribute costs for certain.
            let mut others = node.undecided.iter().filter(|at| Some(usize::from(**at)) != self.window);
            // Undecided attributes are in the order of their spread: groups become small soon.
            if let Some(attribute) = others.next() {
                node.state = State::Branched { attribute: *attribute, step: 0, rest: 0.0 };
            }
        } else if node.state == State::New || shrunk && node.records <= LARGE * self.work.judge.smallest() {
            *looks += node.rows.len() * node.undecided.len();
            counted = self.make_bound(open, &mut node, reach, scratch);
        }
        if node.bound > reach {
            return Some(node);
        }
        *looks += 2 * node.rows.len();
        self.branch(open, node, counted, scratch, children)
    }

    /// Makes the bound of a node its own, and says which attribute to branch on. Tells whether the codes of that attribute
    /// were counted.
    fn make_bound(&self, open: &OpenRows<C>, node: &mut Node, reach: f64, scratch: &mut Scratch) -> bool {
        let branched = match node.state {
            State::Branched { attribute, .. } => Some(attribute),
            _ => None,
        };
        let mut rest = 0.0;
        // The attribute that costs most for certain comes next; then the one that spreads most.
        let mut next: Option<(f64, f64, u16)> = None;
        for &attribute in &*node.undecided {
            self.find_present(open, &node.rows, usize::from(attribute), scratch);
            let least = self.least(usize::from(attribute), &scratch.present);
            if least > 0.0 {
                scratch.looks += scratch.present.len() * self.ladders[usize::from(attribute)].steps.len();
            }
            rest += least;
            // Far out of reach: it will be looked at again, if it comes to that at all.
            if node.cost + rest > FAR * reach {
                node.bound = node.bound.max(node.cost + rest);
                return false;
            }
            let better = match branched {
                Some(own) => attribute == own,
                None => {
                    Some(usize::from(attribute)) != self.window
                        && next.is_none_or(|(most, most_spread, _)| {
                            least > most || least == most && spread(&scratch.present) > most_spread
                        })
                }
            };
            if better {
                next = Some((least, spread(&scratch.present), attribute));
                std::mem::swap(&mut scratch.present, &mut scratch.chosen);
            }
        }
        node.bound = node.bound.max(node.cost + rest);
        let Some((least, _, attribute)) = next else {
            node.state = State::Bounded;
            return false;
        };
        let step = match node.state {
            State::Branched { step, .. } => step,
            _ => 0,
        };
        node.state = State::Branched { attribute, step, rest: rest - least };
        true
    }

    /// Counts the open records of a node by their codes of an attribute.
    fn find_present(&self, open: &OpenRows<C>, rows: &[u32], attribute: usize, scratch: &mut Scratch) {
        let Scratch { counts, present, open: of_rows, looks, .. } = scratch;
        present.clear();
        let domain = self.work.problem.attributes[attribute].domain.len();
        let (counts, column) = (&mut counts[..domain], open.column(attribute));
        for (&row, count) in rows.iter().zip(&*of_rows) {
            counts[column[row as usize].index()] += count;
        }
        if domain <= 4 * rows.len() {
            *looks += domain / 2;
            present.extend(
                (0..).zip(&*counts).filter(|(_, count)| **count > 0).map(|(code, count)| (code, *count)),
            );
            counts.fill(0);
        } else {
            for &row in rows {
                let code = column[row as usize].index();
                let count = std::mem::take(&mut counts[code]);
                if count > 0 {
                    present.push((code as u32, count));
                }
            }
            present.sort_unstable();
        }
    }

    /// The least that an attribute costs in any class of records with these codes.
    fn least(&self, attribute: usize, present: &[(u32, u32)]) -> f64 {
        let smallest = self.work.judge.smallest();
        if present.iter().any(|(_, count)| *count as usize >= smallest) {
            return 0.0;
        }
        if Some(attribute) == self.window {
            return self.cheapest_window(attribute, present).map_or(f64::INFINITY, |window| window.penalty);
        }
        let mut least = f64::INFINITY;
        for step in 1..self.ladders[attribute].steps.len() {
            if self.ladders[attribute].steps[step].least >= least {
                break;
            }
            self.for_each_cell(attribute, step, present, |cell| least = least.min(cell.penalty));
        }
        least
    }

    /// The cells of a step that have enough records and no finer step has.
    fn for_each_cell(
        &self,
        attribute: usize,
        step: usize,
        present: &[(u32, u32)],
        mut each: impl FnMut(Cell),
    ) {
        let steps = &self.ladders[attribute].steps;
        let cells = &steps[step].cells;
        let finer = step.checked_sub(1).map(|finer| &steps[finer].cells);
        let mut at = 0;
        while at < present.len() {
            let (low, mut records) = (present[at].0, present[at].1 as usize);
            let mut high = low;
            at += 1;
            while at < present.len() && cells[present[at].0 as usize] == cells[low as usize] {
                high = present[at].0;
                records += present[at].1 as usize;
                at += 1;
            }
            // Neighbouring codes, so that the ends lie in one finer cell exactly if all do.
            let is_new = finer.is_none_or(|finer| finer[low as usize] != finer[high as usize]);
            if records >= self.work.judge.smallest() && is_new {
                let penalty = self.kernel().penalty(attribute, low as usize, high as usize);
                each(Cell { penalty, low, high, records });
            }
        }
    }

    /// The cheapest stretch of codes with enough records; of equally cheap ones the one with the most.
    fn cheapest_window(&self, attribute: usize, present: &[(u32, u32)]) -> Option<Cell> {
        let mut best: Option<Cell> = None;
        let (mut end, mut records) = (0, 0);
        for (first, &(low, own)) in present.iter().enumerate() {
            while end < present.len() && records < self.work.judge.smallest() {
                records += present[end].1 as usize;
                end += 1;
            }
            if records < self.work.judge.smallest() {
                break;
            }
            debug_assert!(end > first);
            let high = present[end - 1].0;
            let penalty = self.kernel().penalty(attribute, low as usize, high as usize);
            let better = best.as_ref().is_none_or(|best| {
                penalty < best.penalty - TINY || penalty < best.penalty + TINY && records > best.records
            });
            if better {
                best = Some(Cell { penalty, low, high, records });
            }
            records -= own as usize;
        }
        best
    }

    /// Makes the children of a node under the next step of its attribute. Returns the node if there are more steps to
    /// come.
    fn branch(
        &self,
        open: &OpenRows<C>,
        mut node: Node,
        counted: bool,
        scratch: &mut Scratch,
        made: &mut Vec<Node>,
    ) -> Option<Node> {
        let State::Branched { attribute, step, rest } = node.state else { return None };
        let at = usize::from(attribute);
        if counted {
            std::mem::swap(&mut scratch.present, &mut scratch.chosen);
        } else {
            self.find_present(open, &node.rows, at, scratch);
        }
        let steps = self.ladders[at].steps.len();
        scratch.looks += scratch.present.len() * steps * 3 / 2;
        let mut step = usize::from(step);
        let mut cells = Vec::new();
        while step < steps && cells.is_empty() {
            self.for_each_cell(at, step, &scratch.present, |cell| cells.push(cell));
            step += 1;
        }
        let mut children: Vec<Vec<u32>> =
            cells.iter().map(|cell| Vec::with_capacity(cell.records.min(node.rows.len()))).collect();
        for (number, cell) in (0..).zip(&cells) {
            scratch.cell_of[cell.low as usize..=cell.high as usize].fill(number);
        }
        let column = open.column(at);
        for &row in &node.rows {
            let cell = scratch.cell_of[column[row as usize].index()];
            if let Some(rows) = children.get_mut(cell as usize) {
                rows.push(row);
            }
        }
        for cell in &cells {
            scratch.cell_of[cell.low as usize..=cell.high as usize].fill(NO_CELL);
        }
        let categories = self.ladders[at].nested;
        let undecided: Arc<[u16]> = node.undecided.iter().copied().filter(|one| *one != attribute).collect();
        for (cell, rows) in cells.iter().zip(children) {
            let cost_of_categories = node.cost_of_categories + if categories { cell.penalty } else { 0.0 };
            made.push(Node {
                bound: node.bound.max(cost_of_categories + rest),
                records: cell.records,
                rows,
                cost: 0.0,
                cost_of_categories,
                undecided: Arc::clone(&undecided),
                state: State::Unmeasured,
            });
        }
        // What later steps cost at least.
        let mut later = f64::INFINITY;
        for step in step..steps {
            self.for_each_cell(at, step, &scratch.present, |cell| later = later.min(cell.penalty));
        }
        if !later.is_finite() {
            return None;
        }
        node.state = State::Branched { attribute, step: step as u16, rest };
        node.bound = node.bound.max(node.cost + rest + later);
        Some(node)
    }

    /// Finds out what the cells of a node cost. Tells whether no finer node has the same rows.
    fn measure(&self, open: &OpenRows<C>, node: &mut Node, scratch: &mut Scratch) -> bool {
        scratch.decided.fill(true);
        node.undecided.iter().for_each(|one| scratch.decided[usize::from(*one)] = false);
        let extent = open.extent(&node.rows);
        let expected = std::mem::take(&mut node.cost_of_categories);
        for at in (0..self.ladders.len()).filter(|at| scratch.decided[*at]) {
            let penalty = self.kernel().penalty(at, extent.low(at).index(), extent.high(at).index());
            node.cost += penalty;
            if self.ladders[at].nested {
                node.cost_of_categories += penalty;
            }
        }
        node.bound = node.bound.max(node.cost);
        node.state = State::New;
        // Else the rows lie in a finer cell of an attribute that was fixed before, and come up under it too.
        node.cost_of_categories >= expected - TINY
    }

    /// Finds the cheapest class of a node whose cells are all fixed. Tells whether there is one.
    fn settle(
        &self,
        (open, needs): (&OpenRows<C>, &Needs<'_, C>),
        node: &mut Node,
        scratch: &mut Scratch,
        looks: &mut usize,
    ) -> bool {
        let class = match self.window {
            None => Some((0, node.rows.len())),
            Some(attribute) if self.work.judge.count_decides() => {
                self.find_present(open, &node.rows, attribute, scratch);
                self.cheapest_window(attribute, &scratch.present).map(|window| {
                    let code = |row: &u32| open.code(*row, attribute) as u32;
                    let first = node.rows.partition_point(|row| code(row) < window.low);
                    (first, node.rows.partition_point(|row| code(row) <= window.high))
                })
            }
            Some(attribute) => subset::cheapest_window(needs, open, &node.rows, attribute, looks),
        };
        let Some((first, end)) = class else { return false };
        let extent = open.extent(&node.rows[first..end]);
        node.bound = node.bound.max(self.kernel().ncp(&extent));
        node.state = State::Class { first, end, records: open.count_all(&node.rows[first..end]) };
        true
    }
}

/// After so many looks at rows nothing further is begun: time limits and Ctrl-C are only asked for between batches.
const LOOKS_OF_A_TASK: usize = 1 << 20;
/// Nodes with more rows are worth sharing with other threads.
const SHARED_FROM: usize = 1024;
/// Nodes with more than so many times the records that a class needs are not bounded by their other attributes.
const LARGE: usize = 16;
/// A bound that is so many times out of reach is good enough for now.
const FAR: f64 = 1.2;
/// Keeps the rows that have open records; tells these of each row, and returns how many there are.
fn keep_open<C: Code>(open: &OpenRows<C>, rows: &mut Vec<u32>, of_rows: &mut Vec<u32>) -> usize {
    of_rows.clear();
    of_rows.resize(rows.len(), 0);
    let (mut kept, mut records) = (0, 0);
    for at in 0..rows.len() {
        let row = rows[at];
        let count = open.count(row);
        rows[kept] = row;
        of_rows[kept] = count;
        kept += usize::from(count > 0);
        records += count as usize;
    }
    rows.truncate(kept);
    of_rows.truncate(kept);
    records
}

/// Over how many values records spread: the number of values that would be as even, were each as frequent as the others.
fn spread(present: &[(u32, u32)]) -> f64 {
    let (sum, squares) = present.iter().fold((0.0, 0.0), |(sum, squares), (_, count)| {
        let count = f64::from(*count);
        (sum + count, squares + count * count)
    });
    if squares > 0.0 { sum * sum / squares } else { 0.0 }
}

/// Stands for no cell.
const NO_CELL: u32 = u32::MAX;
