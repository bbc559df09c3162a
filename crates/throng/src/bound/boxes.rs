//! All boxes of a table, attribute by attribute, and along one number last: a pass that shares work between records.
//!
//! A box is a node of each tree and a range of the number. The search goes down attribute by attribute with the records that
//! are in the nodes chosen so far and what these cost. Each record has a *least cost* that no class with it goes below: what was
//! known before, or what has been chosen and, for each attribute that is left, the cheapest node or range around it that holds
//! K of the records at hand. A record whose price, with those of the K − 1 dearest others, is no more than K times that is in no
//! class that is paid too much and is left behind; where fewer than K stay, the search goes no further. In the end the windows
//! of the number are gone through one by one.
//!
//! Nodes of one height hold different records, so that they go side by side, and what one lowers no other looks at: the outcome
//! does not depend on the number of threads. For large K this pass takes a fraction of what a search around each
//! record takes; with several numbers, or very many attributes, there are too many boxes.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use super::anchor::Cut;
use super::cheapest::{Column, Hand};
use super::space::{Caps, Space};
use super::top::Top;
use super::windows::Cell;
use crate::collections::Arrange;
use crate::parallel;

/// Lists of at least so many points are gone through side by side.
const SIDE_BY_SIDE: usize = 128;
/// With more attributes there are surely too many boxes.
const ATTRIBUTES: usize = 40;
pub(super) const NONE: u32 = u32::MAX;

/// The points of a space, by rising price when a pass began.
pub(super) struct Boxes {
    /// The point at each place, and what every class with it costs at least.
    pub points: Vec<u32>,
    least: Vec<u32>,
    pub records: Vec<u32>,
    pub size: u32,
    /// Attributes whose nodes are chosen, in this order.
    trees: Vec<Column>,
    /// The attribute along which there are windows.
    pub number: Option<Column>,
}

/// A point at hand: what it is paid, and what a class with it costs at least.
#[derive(Clone, Copy)]
pub(super) struct Item {
    pub price: i64,
    pub place: u32,
    pub least: u32,
}

/// What has been chosen: the nodes of the first attributes, and where the window of the number begins.
#[derive(Clone, Copy)]
pub(super) struct Chosen {
    /// How many nodes.
    pub nodes: usize,
    pub cost: u32,
    /// The window begins with a code from the first of these to the last.
    pub begins: (u32, u32),
}

impl Boxes {
    /// Whether all classes have one size, there are no caps, at most one number and not too many attributes.
    pub fn may_be_gone_through(space: &Space) -> bool {
        let size = space.sizes.first().copied().unwrap_or(0);
        let numbers = space.costs.iter().filter(|cost| cost.two_sided()).count();
        size > 1
            && space.caps == Caps::None
            && space.sizes.iter().all(|own| *own == size)
            && numbers <= 1
            && space.width() - numbers <= ATTRIBUTES
    }

    /// The boxes of a space whose points are paid and cost at least so much each, if they can be gone through.
    pub fn new(space: &Space, prices: &[i64], least: &[i64]) -> Option<Self> {
        let size = space.sizes.first().copied()?;
        if !Self::may_be_gone_through(space) {
            return None;
        }
        let mut by_price: Vec<(i64, usize)> = prices.iter().copied().zip(0..space.len()).collect();
        by_price.sort_unstable();
        let points: Vec<u32> = by_price.into_iter().map(|(_, point)| point as u32).collect();
        let (numbers, others): (Vec<usize>, Vec<usize>) =
            (0..space.width()).partition(|at| space.costs[*at].two_sided());
        let column = |attribute: &usize| Column::new(space, *attribute, &points);
        let mut trees: Vec<Column> = others.iter().map(column).collect();
        trees.arrange_by_key(|column| column.values);
        Some(Boxes {
            least: points.iter().map(|point| least[*point as usize].max(0) as u32).collect(),
            records: points.iter().map(|point| space.records[*point as usize]).collect(),
            size,
            trees,
            number: numbers.first().map(column),
            points,
        })
    }

    /// Lowers prices until no box is paid too much, and tells what was lowered and the steps that took. None if it was stopped or
    /// would take more than so many steps; prices are then as before.
    pub fn pass(
        &self,
        space: &Space,
        prices: &mut [i64],
        most_work: u64,
        stopped: &(dyn Fn() -> bool + Sync),
    ) -> Option<(Vec<Cut>, u64)> {
        let before: Vec<i64> = self.points.iter().map(|point| prices[*point as usize]).collect();
        let pass = Pass {
            boxes: self,
            space,
            prices: before.iter().map(|price| AtomicI64::new(*price)).collect(),
            before,
            work: AtomicU64::new(0),
            most_work,
            stopped,
            given_up: AtomicBool::new(false),
        };
        let item = |(place, least): (u32, &u32)| Item { price: 0, place, least: *least };
        let all: Vec<Item> = (0..).zip(&self.least).map(item).collect();
        let mut scratch = Scratch::new(self);
        pass.go(Chosen { nodes: 0, cost: 0, begins: (0, NONE) }, &all, &mut scratch);
        let work = pass.work.into_inner();
        if pass.given_up.into_inner() || work > most_work {
            return None;
        }
        for (point, price) in self.points.iter().zip(pass.prices) {
            prices[*point as usize] = price.into_inner();
        }
        Some((scratch.cuts, work))
    }
}

pub(super) struct Pass<'a> {
    pub boxes: &'a Boxes,
    pub space: &'a Space,
    /// What the points are paid, by place. Whoever works on a list is alone with its points.
    pub prices: Vec<AtomicI64>,
    /// What they were paid when the pass began, which is no less.
    before: Vec<i64>,
    pub work: AtomicU64,
    most_work: u64,
    stopped: &'a (dyn Fn() -> bool + Sync),
    given_up: AtomicBool,
}

/// Memory of one thread, and the cuts that it found.
pub(super) struct Scratch {
    pub top: Top,
    hand: Hand,
    /// For each tree, which of the codes at hand a code is.
    runs: Vec<Vec<u32>>,
    pub cell: Cell,
    pub cuts: Vec<Cut>,
}

impl Scratch {
    fn new(boxes: &Boxes) -> Self {
        Scratch {
            top: Top::new(boxes.size),
            hand: Hand::default(),
            runs: boxes.trees.iter().map(|tree| vec![NONE; tree.values]).collect(),
            cell: Cell::default(),
            cuts: Vec::new(),
        }
    }
}

impl Pass<'_> {
    /// Sees to all boxes of what is chosen, with the points of a list.
    pub fn go(&self, chosen: Chosen, list: &[Item], scratch: &mut Scratch) {
        let columns = (self.boxes.trees.len() - chosen.nodes) as u64;
        if self.is_over(list.len() as u64 * (4 + columns) / 2) {
            return;
        }
        let Some(list) = self.left(chosen, list, scratch) else { return };
        match self.boxes.trees.get(chosen.nodes) {
            Some(tree) => self.nodes(chosen, tree, &list, scratch),
            None => self.windows(chosen, &list, scratch),
        }
    }

    /// Counts steps; whether to give up.
    fn is_over(&self, steps: u64) -> bool {
        let before = self.work.fetch_add(steps, Ordering::Relaxed);
        if before + steps > self.most_work || before >> 16 != (before + steps) >> 16 && (self.stopped)() {
            self.given_up.store(true, Ordering::Relaxed);
        }
        self.given_up.load(Ordering::Relaxed)
    }

    /// The points of a list that may be in a class that is paid too much; none if there is no such class.
    fn left(&self, chosen: Chosen, list: &[Item], scratch: &mut Scratch) -> Option<Vec<Item>> {
        let Chosen { cost, begins: (_, last), .. } = chosen;
        let beyond = |item: &Item| {
            let number = self.boxes.number.as_ref()?;
            let code = number.codes[item.place as usize];
            (code > last).then(|| self.space.costs[number.attribute].between(last, code))
        };
        let as_chosen = |item: &Item| Item {
            price: self.price(item.place),
            place: item.place,
            least: item.least.max(cost + beyond(item).unwrap_or(0)),
        };
        let mut list: Vec<Item> = list.iter().map(as_chosen).collect();
        let mut dearest = self.drop_paid(&mut list, None, &mut scratch.top)?.dearest;
        let columns = self.boxes.trees.iter().skip(chosen.nodes).chain(&self.boxes.number);
        scratch.hand.raise_least(self.boxes, self.space, columns, (cost, last), &mut list)?;
        loop {
            let stays = self.drop_paid(&mut list, dearest, &mut scratch.top)?;
            if !stays.few {
                return Some(list);
            }
            dearest = stays.dearest;
        }
    }

    pub fn price(&self, place: u32) -> i64 {
        self.prices[place as usize].load(Ordering::Relaxed)
    }

    /// What the dearest of a list get, and the cheapest of them; none if there are too few.
    fn dearest(&self, list: &[Item], top: &mut Top) -> Option<(i64, i64)> {
        top.clear();
        let (mut begin, mut records) = (list.len(), 0);
        while begin > 0 && records < self.boxes.size {
            begin -= 1;
            records = records.saturating_add(self.boxes.records[list[begin].place as usize]);
        }
        let mut add = |item: &Item| {
            top.add(item.price, item.place, self.boxes.records[item.place as usize]);
            top.least()
        };
        // By rising price each finds its place at once.
        let mut least = list[begin..].iter().map(&mut add).last()?;
        for item in list[..begin].iter().rev() {
            // Nor were those before it paid more when the pass began, and prices only fall.
            if self.before[item.place as usize] <= least {
                break;
            }
            least = add(item);
        }
        Some((top.sum()?, top.least()))
    }

    /// Drops points that are in no class that is paid too much. What the dearest get is counted anew unless it is known. None if there is
    /// no such class.
    fn drop_paid(&self, list: &mut Vec<Item>, dearest: Option<(i64, i64)>, top: &mut Top) -> Option<Stays> {
        let size = i64::from(self.boxes.size);
        let (sum, least) = dearest.or_else(|| self.dearest(list, top))?;
        // With the dearest others it is paid so much.
        let others = sum - least;
        let (before, mut same) = (list.len(), true);
        let mut kept = 0;
        for at in 0..list.len() {
            let item = list[at];
            let stays = sum.min(others + item.price) > size * i64::from(item.least);
            same &= stays || item.price <= least;
            list[kept] = item;
            kept += usize::from(stays);
        }
        list.truncate(kept);
        let few = 8 * list.len() < 7 * before;
        (!list.is_empty()).then_some(Stays { few, dearest: same.then_some((sum, least)) })
    }

    /// Goes on with every node of a tree: each code by itself, then the nodes above, those of one cost side by side.
    fn nodes(&self, chosen: Chosen, tree: &Column, list: &[Item], scratch: &mut Scratch) {
        // Of the dearest of the list, which were counted last.
        let least = scratch.top.least();
        let table = &mut scratch.runs[chosen.nodes];
        let mut codes: Vec<u32> = Vec::new();
        for item in list {
            let code = tree.codes[item.place as usize];
            if table[code as usize] == NONE {
                table[code as usize] = 0;
                codes.push(code);
            }
        }
        codes.sort_unstable();
        codes.iter().zip(0..).for_each(|(code, run)| table[*code as usize] = run);
        let runs: Vec<u32> =
            list.iter().map(|item| table[tree.codes[item.place as usize] as usize]).collect();
        codes.iter().for_each(|code| table[*code as usize] = NONE);
        if codes.len() == 1 {
            return self.go(Chosen { nodes: chosen.nodes + 1, ..chosen }, list, scratch);
        }
        let between = &self.space.costs[tree.attribute];
        let gaps: Vec<u32> = codes.windows(2).map(|pair| between.between(pair[0], pair[1])).collect();
        let mut told = vec![Told::default(); codes.len()];
        for (item, run) in list.iter().zip(&runs) {
            told[*run as usize].add(&Told::of(item, self.boxes.records[item.place as usize], least));
        }
        let parts = Parts { list, runs: &runs, told: &told, least };
        let each: Vec<u32> = (0..codes.len() as u32).collect();
        let next = Chosen { nodes: chosen.nodes + 1, ..chosen };
        self.round(next, &parts, &each, scratch);
        let mut heights = gaps.clone();
        heights.sort_unstable();
        heights.dedup();
        for height in heights {
            let nodes = nodes_at(&gaps, height);
            self.round(Chosen { cost: next.cost + height, ..next }, &parts, &nodes, scratch);
        }
    }

    /// Goes on with nodes that share no point: `nodes` has that of each run, or none.
    fn round(&self, chosen: Chosen, parts: &Parts<'_>, nodes: &[u32], scratch: &mut Scratch) {
        let lists = self.lists(chosen, parts, nodes);
        if parts.list.len() < SIDE_BY_SIDE || lists.len() < 2 {
            for list in lists {
                self.go(chosen, &list, scratch);
            }
            return;
        }
        let alone = |scratch: &mut Scratch, list: Vec<Item>| {
            self.go(chosen, &list, scratch);
            std::mem::take(&mut scratch.cuts)
        };
        let found: Vec<Vec<Cut>> = parallel::tasks(lists, || Scratch::new(self.boxes), alone);
        found.into_iter().for_each(|cuts| scratch.cuts.extend(cuts));
    }

    /// The points of each node that may hold a class that is paid too much.
    fn lists(&self, chosen: Chosen, parts: &Parts<'_>, nodes: &[u32]) -> Vec<Vec<Item>> {
        let count = nodes.iter().filter(|node| **node != NONE).max().map_or(0, |most| *most as usize + 1);
        let mut told = vec![Told::default(); count];
        for (node, own) in nodes.iter().zip(parts.told).filter(|(node, _)| **node != NONE) {
            told[*node as usize].add(own);
        }
        let dear = i64::from(self.boxes.size) * (i64::from(chosen.cost) - parts.least);
        let mut lists: Vec<Vec<Item>> = Vec::new();
        let mut place = |told: &Told| {
            if told.records < self.boxes.size || told.above <= dear {
                return NONE;
            }
            lists.push(Vec::with_capacity(told.points));
            lists.len() as u32 - 1
        };
        let places: Vec<u32> = told.iter().map(&mut place).collect();
        if lists.is_empty() {
            return lists;
        }
        let of_run: Vec<u32> =
            nodes.iter().map(|node| places.get(*node as usize).copied().unwrap_or(NONE)).collect();
        for (item, run) in parts.list.iter().zip(parts.runs) {
            if let Some(list) = lists.get_mut(of_run[*run as usize] as usize) {
                list.push(*item);
            }
        }
        lists
    }
}

/// What is left of a list when points were dropped.
struct Stays {
    /// Whether many were dropped.
    few: bool,
    /// What the dearest get and the cheapest of them, if they are all still there.
    dearest: Option<(i64, i64)>,
}

/// A list by the codes of a tree.
struct Parts<'a> {
    list: &'a [Item],
    /// Which of the codes at hand each item has.
    runs: &'a [u32],
    /// What is told of the items of each.
    told: &'a [Told],
    /// The price of the cheapest of the dearest.
    least: i64,
}

/// Points and records, and how much they are paid above the cheapest of the dearest of all.
#[derive(Clone, Copy, Default)]
struct Told {
    points: usize,
    records: u32,
    above: i64,
}

impl Told {
    fn of(item: &Item, records: u32, least: i64) -> Self {
        Told { points: 1, records, above: (item.price - least).max(0) * i64::from(records) }
    }

    fn add(&mut self, other: &Told) {
        self.points += other.points;
        self.records = self.records.saturating_add(other.records);
        self.above += other.above;
    }
}

/// Which codes are in one node of a height, from the heights at which each joins the next.
fn nodes_at(gaps: &[u32], height: u32) -> Vec<u32> {
    let codes = gaps.len() + 1;
    let mut nodes = vec![NONE; codes];
    let (mut node, mut at) = (0, 0);
    while at < codes {
        let mut end = at + 1;
        while end < codes && gaps[end - 1] <= height {
            end += 1;
        }
        if gaps[at..end - 1].contains(&height) {
            nodes[at..end].fill(node);
            node += 1;
        }
        at = end;
    }
    nodes
}
