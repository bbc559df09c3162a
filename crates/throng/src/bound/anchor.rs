//! All classes whose first point is a given one: finds those whose prices are too high, and lowers them.
//!
//! Seen from a point, an attribute is one *side* (a tree: how high the common ancestor lies) or two (a number: how far below,
//! how far above). A class reaches so far on each side and costs the sum. Nodes of the search hold candidates and a *floor*
//! on each side: some member reaches at least as far. A class with candidate s then costs at least
//! e(s) = Σ max(floor, reach of s), so that a sweep over candidates by rising e with the dearest so far bounds how much
//! prices are above any class of the node (the *star* bound). A node whose bound is positive either shows a class that is
//! paid too much, which is lowered, or is cut in two along the side on which its worst class reaches furthest. Where the
//! search is given up, open nodes are closed by lowering their star classes to what such a class costs at least: that
//! lowers more than needed, and is valid all the same.

use super::dearest::{Dearest, Offer};
use super::index::{Dear, Index};
use super::space::Space;

/// Where the furthest side is cut: nearer to the furthest member than to the floor.
const CUT_AT: f64 = 0.7;
/// So often an open node is closed by sharing, before the anchor alone pays.
const SHARED: usize = 300;

/// Points in a fixed order of anchors, and what they are paid.
pub(super) struct Scene<'a> {
    pub space: &'a Space,
    pub index: &'a Index,
    pub prices: &'a [i64],
    /// The point at each place of the order.
    pub order: &'a [u32],
    /// The place of each point.
    pub places: &'a [u32],
    /// The latest place in each node of the index.
    pub latest: &'a [u32],
    /// The highest price after each place.
    pub later: &'a [i64],
    /// How dear later points are, from place to place in space.
    pub dear: &'a [Dear],
    /// Whether prices may be negative.
    pub free: bool,
}

/// A class that was paid too much: how many records of each point, and what they may get together.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cut {
    pub members: Vec<(u32, u32)>,
    pub limit: i64,
}

/// What was found around an anchor.
#[derive(Default)]
pub(super) struct Found {
    /// Points with their new prices.
    pub lowered: Vec<(u32, i64)>,
    pub cuts: Vec<Cut>,
    /// Steps that were taken.
    pub work: u64,
    /// Whether the search was given up.
    pub given_up: bool,
}

/// Memory that is used again for the next anchor.
#[derive(Default)]
pub(super) struct Scratch {
    points: Vec<u32>,
    records: Vec<u32>,
    prices: Vec<i64>,
    before: Vec<i64>,
    /// How far each candidate reaches on each side.
    reaches: Vec<u32>,
    /// The value of each candidate, numbered anew, and the cap of each of those.
    values: Vec<u32>,
    caps: Vec<u32>,
    known_values: Vec<(u32, u32)>,
    round: u32,
    sides: Vec<Side>,
    dearest: Dearest,
    group: Vec<u32>,
    spare: Vec<Vec<u64>>,
    work: u64,
}

/// One direction of an attribute.
#[derive(Clone, Copy)]
struct Side {
    /// The other side of the same attribute, if the two together cost no more than `most`.
    other: usize,
    most: Option<u32>,
}

struct Node {
    /// What a class with each candidate costs at least, and the candidate, by rising cost.
    list: Vec<u64>,
    floor: Vec<u32>,
}

const fn cost_of(item: u64) -> u32 {
    (item >> 32) as u32
}

const fn candidate_of(item: u64) -> usize {
    (item & 0xffff_ffff) as usize
}

const fn item(cost: u32, candidate: u32) -> u64 {
    (cost as u64) << 32 | candidate as u64
}

impl Scene<'_> {
    /// Searches all classes whose first point is at a place. The search is given up after so much work.
    pub fn anchor(&self, place: u32, most_work: u64, scratch: &mut Scratch) -> Found {
        let point = self.order[place as usize];
        let size = i64::from(self.space.sizes[point as usize]);
        let price = self.prices[point as usize];
        // Nobody further away can be in a class that is paid too much.
        let others = if self.space.records[point as usize] > 1 {
            price.max(self.later[place as usize])
        } else {
            self.later[place as usize]
        };
        let reach = price.saturating_add((size - 1).saturating_mul(others)).div_euclid(size) + 1;
        if size < 2 {
            // A class of one costs nothing.
            let lowered = if price > 0 { vec![(point, 0)] } else { Vec::new() };
            return Found { lowered, ..Found::default() };
        }
        if reach <= 0 {
            return Found::default();
        }
        let reach = u32::try_from(reach).unwrap_or(u32::MAX);
        let paid = (price, size as u64 - 1);
        let Some(reach) = self.index.reach(self.space, self.space.row(point), self.dear, paid, reach) else {
            return Found { work: self.dear.len() as u64 / 4, ..Found::default() };
        };
        let list = scratch.gather(self, point, place, reach);
        let mut search = Search { scene: self, scratch, size, cuts: Vec::new() };
        let given_up = search.run(list, most_work);
        let cuts = std::mem::take(&mut search.cuts);
        let lowered = scratch.lowered();
        Found { lowered, cuts, work: scratch.work, given_up }
    }
}

impl Scratch {
    /// Collects the candidates of a point, the point itself first.
    fn gather(&mut self, scene: &Scene<'_>, point: u32, place: u32, reach: u32) -> Vec<u64> {
        self.clear(scene.space);
        let row = scene.space.row(point);
        let mut list = self.spare.pop().unwrap_or_default();
        list.clear();
        self.push(scene, point, scene.space.records[point as usize] - 1, row, row);
        if self.records[0] > 0 {
            list.push(item(0, 0));
        }
        let mut looks = 0;
        let nodes = scene.index.within(scene.space, row, reach, (scene.latest, place), |points| {
            looks += u64::from(points.end - points.start);
            for other in points {
                if scene.places[other as usize] > place {
                    let codes = scene.space.row(other);
                    if let Some(cost) = near(scene.space, row, codes, reach) {
                        list.push(item(cost, self.points.len() as u32));
                        self.push(scene, other, scene.space.records[other as usize], row, codes);
                    }
                }
            }
        });
        let width = scene.space.width() as u64;
        self.work = scene.dear.len() as u64 / 4
            + ((nodes + looks) * (8 + width) + list.len() as u64 * 8 * width) / 32;
        list.sort_unstable();
        self.before.clone_from(&self.prices);
        list
    }

    fn clear(&mut self, space: &Space) {
        for column in
            [&mut self.points, &mut self.records, &mut self.reaches, &mut self.values, &mut self.caps]
        {
            column.clear();
        }
        self.prices.clear();
        self.sides.clear();
        for cost in &space.costs {
            let at = self.sides.len();
            let most = cost.most();
            match cost.two_sided() {
                true => self.sides.extend([Side { other: at + 1, most }, Side { other: at, most }]),
                false => self.sides.push(Side { other: at, most: None }),
            }
        }
        self.round += 1;
        if space.capped() && self.known_values.is_empty() {
            self.known_values = vec![(0, 0); space.value_count()];
        }
    }

    fn push(&mut self, scene: &Scene<'_>, point: u32, records: u32, own: &[u32], codes: &[u32]) {
        self.points.push(point);
        self.records.push(records);
        self.prices.push(scene.prices[point as usize]);
        for ((cost, own), code) in scene.space.costs.iter().zip(own).zip(codes) {
            let reach = cost.pair(*own, *code);
            match (cost.two_sided(), code < own && cost.most() != Some(reach)) {
                (false, _) => self.reaches.push(reach),
                (true, false) => self.reaches.extend([reach, 0]),
                (true, true) => self.reaches.extend([0, reach]),
            }
        }
        if scene.space.capped() {
            let value = scene.space.values[point as usize];
            let known = &mut self.known_values[value as usize];
            if known.0 != self.round {
                *known = (self.round, self.caps.len() as u32);
                self.caps.push(scene.space.cap(value));
            }
            self.values.push(known.1);
        }
    }

    fn offer(&self, candidate: usize) -> Offer {
        let (value, cap) = match self.values.get(candidate) {
            Some(value) => (*value, self.caps[*value as usize]),
            None => (0, u32::MAX),
        };
        let (price, records) = (self.prices[candidate], self.records[candidate]);
        Offer { price, candidate: candidate as u32, records, value, cap }
    }

    fn lowered(&self) -> Vec<(u32, i64)> {
        let changed =
            self.prices.iter().zip(&self.before).zip(&self.points).filter(|((now, before), _)| now != before);
        changed.map(|((now, _), point)| (*point, *now)).collect()
    }

    fn reaches_of(&self, candidate: usize) -> &[u32] {
        let sides = self.sides.len();
        &self.reaches[candidate * sides..(candidate + 1) * sides]
    }

    /// What a reach on all sides costs.
    fn cost(&self, reach: &[u32]) -> u32 {
        let mut sum = 0;
        for (at, side) in self.sides.iter().enumerate() {
            match side.most {
                None => sum += reach[at],
                Some(most) if side.other > at => sum += most.min(reach[at] + reach[side.other]),
                Some(_) => {}
            }
        }
        sum
    }

    /// What a candidate costs at least, with a floor.
    fn cost_above(&self, candidate: usize, floor: &[u32]) -> u32 {
        let reach = self.reaches_of(candidate);
        let mut sum = 0;
        for (at, side) in self.sides.iter().enumerate() {
            let own = reach[at].max(floor[at]);
            match side.most {
                None => sum += own,
                Some(most) if side.other > at => {
                    sum += most.min(own + reach[side.other].max(floor[side.other]));
                }
                Some(_) => {}
            }
        }
        sum
    }
}

/// What two rows cost together, if it is less than a limit.
#[inline(always)]
fn near(space: &Space, row: &[u32], codes: &[u32], limit: u32) -> Option<u32> {
    let mut sum = 0;
    for ((cost, own), code) in space.costs.iter().zip(row).zip(codes) {
        if own != code {
            sum += cost.pair(*own, *code);
            if sum >= limit {
                return None;
            }
        }
    }
    Some(sum)
}

/// The search around one anchor.
struct Search<'s, 'a> {
    scene: &'s Scene<'a>,
    scratch: &'s mut Scratch,
    size: i64,
    cuts: Vec<Cut>,
}

impl Search<'_, '_> {
    /// Whether it was given up.
    fn run(&mut self, list: Vec<u64>, most_work: u64) -> bool {
        let sides = self.scratch.sides.len();
        let mut stack = vec![Node { list, floor: vec![0; sides] }];
        while let Some(mut node) = stack.pop() {
            if !self.is_open(&mut node) {
                self.scratch.spare.push(node.list);
                continue;
            }
            if self.scratch.work > most_work {
                stack.push(node);
                stack.into_iter().for_each(|node| self.close(node));
                return true;
            }
            let reach = self.reach_of_group();
            if self.lower_box(&node, &reach) {
                stack.push(node);
                continue;
            }
            let [near, far] = self.branch(node, &reach);
            stack.extend([far, near]);
        }
        false
    }

    fn begin(&mut self) {
        let taken = self.scratch.values.first().map(|value| (*value, self.scratch.caps.len()));
        self.scratch.dearest.begin((self.size - 1) as usize, taken);
    }

    /// Whether some class of a node may be paid too much; its members are then the group. Drops candidates that are in no such
    /// class.
    fn is_open(&mut self, node: &mut Node) -> bool {
        self.worst(node).is_some()
    }

    /// How much a class of the node may be paid too much, if it is.
    fn worst(&mut self, node: &mut Node) -> Option<i64> {
        let base = self.scratch.cost(&node.floor);
        let own = self.scratch.prices[0];
        self.begin();
        let (mut worst, mut at) = (0, 0);
        let mut place = 0;
        self.scratch.work += node.list.len() as u64 + 8;
        while place < node.list.len() {
            let cost = cost_of(node.list[place]);
            while place < node.list.len() && cost_of(node.list[place]) == cost {
                self.take(candidate_of(node.list[place]));
                place += 1;
            }
            if self.scratch.dearest.full() {
                let over = own + self.scratch.dearest.sum() - self.size * i64::from(cost.max(base));
                if over > worst {
                    (worst, at) = (over, place);
                }
            }
        }
        if worst <= 0 {
            return None;
        }
        let all = own + self.scratch.dearest.sum();
        let end = node.list.partition_point(|item| self.size * i64::from(cost_of(*item)) < all);
        node.list.truncate(end.max(at));
        self.begin();
        for item in &node.list[..at] {
            let offer = self.scratch.offer(candidate_of(*item));
            self.scratch.dearest.add(offer, &self.scratch.values);
        }
        self.keep_group();
        Some(worst)
    }

    #[inline(always)]
    fn take(&mut self, candidate: usize) {
        let offer = self.scratch.offer(candidate);
        self.scratch.dearest.add(offer, &self.scratch.values);
    }

    fn keep_group(&mut self) {
        self.scratch.group.clear();
        self.scratch.group.extend(self.scratch.dearest.candidates());
    }

    /// How far the group reaches on each side.
    fn reach_of_group(&self) -> Vec<u32> {
        let mut reach = vec![0; self.scratch.sides.len()];
        for &candidate in &self.scratch.group {
            for (most, own) in reach.iter_mut().zip(self.scratch.reaches_of(candidate as usize)) {
                *most = (*most).max(*own);
            }
        }
        reach
    }

    /// Lowers the dearest within a reach, if they are paid too much.
    fn lower_box(&mut self, node: &Node, reach: &[u32]) -> bool {
        let group = std::mem::take(&mut self.scratch.group);
        self.begin();
        self.scratch.work += node.list.len() as u64;
        for item in &node.list {
            let candidate = candidate_of(*item);
            let own = self.scratch.reaches_of(candidate);
            if own.iter().zip(reach).all(|(own, most)| own <= most) {
                self.take(candidate);
            }
        }
        let limit = self.size * i64::from(self.scratch.cost(reach));
        let over = self.scratch.prices[0] + self.scratch.dearest.sum() - limit;
        self.scratch.group = group;
        if over <= 0 {
            return false;
        }
        self.keep_group();
        let members = self.members();
        self.lower(&members, over);
        let points = &self.scratch.points;
        let mut members: Vec<(u32, u32)> =
            members.iter().map(|(candidate, count)| (points[*candidate as usize], *count)).collect();
        members.sort_unstable();
        self.cuts.push(Cut { members, limit });
        true
    }

    /// The candidates of the group and the anchor, with how many records of each.
    fn members(&self) -> Vec<(u32, u32)> {
        let mut all: Vec<u32> = self.scratch.group.iter().copied().chain([0]).collect();
        all.sort_unstable();
        all.chunk_by(|one, other| one == other).map(|run| (run[0], run.len() as u32)).collect()
    }

    fn lower(&mut self, members: &[(u32, u32)], over: i64) {
        let scratch = &mut *self.scratch;
        let (points, records) = (&scratch.points, &self.scene.space.records);
        let of = |candidate: u32| records[points[candidate as usize] as usize];
        share(members, over, of, self.scene.free, &mut scratch.prices);
    }

    /// Near: candidates within a cut on the side where the group reaches furthest. Far: somebody reaches beyond.
    fn branch(&mut self, node: Node, reach: &[u32]) -> [Node; 2] {
        let Node { list, floor } = node;
        let side = (0..reach.len())
            .max_by_key(|side| (reach[*side].saturating_sub(floor[*side]), usize::MAX - side));
        let side = side.unwrap_or(0);
        let cut = floor[side] + (f64::from(reach[side].saturating_sub(floor[side])) * CUT_AT) as u32;
        let scratch = &mut *self.scratch;
        let sides = scratch.sides.len();
        let (mut near, mut next) = (scratch.spare.pop().unwrap_or_default(), u32::MAX);
        near.clear();
        for item in &list {
            let own = scratch.reaches[candidate_of(*item) * sides + side];
            if own <= cut {
                near.push(*item);
            } else {
                next = next.min(own);
            }
        }
        let near = Node { list: near, floor: floor.clone() };
        let mut far = Node { list, floor };
        let before = std::mem::replace(&mut far.floor[side], next);
        for one in &mut far.list {
            let candidate = candidate_of(*one);
            let cost = match scratch.sides[side].most {
                None => {
                    let own = scratch.reaches[candidate * sides + side];
                    cost_of(*one) + own.max(next) - own.max(before)
                }
                Some(_) => scratch.cost_above(candidate, &far.floor),
            };
            *one = item(cost, candidate as u32);
        }
        far.list.sort_unstable();
        scratch.work += 3 * far.list.len() as u64;
        [near, far]
    }

    /// Lowers the classes of a node to what they cost at least, until none can be paid too much.
    fn close(&mut self, mut node: Node) {
        for _ in 0..SHARED {
            let Some(over) = self.worst(&mut node) else { return self.scratch.spare.push(node.list) };
            let members = self.members();
            self.lower(&members, over);
        }
        if let Some(over) = self.worst(&mut node) {
            self.scratch.prices[0] -= over;
        }
        self.scratch.spare.push(node.list);
    }
}

/// Lowers prices so that a class gets `over` less, those more of which fewer records exist: a price counts once for each of
/// them. Without negative prices, the others give what one cannot.
pub(super) fn share(
    members: &[(u32, u32)],
    over: i64,
    records: impl Fn(u32) -> u32,
    free: bool,
    prices: &mut [i64],
) {
    // How much of a point is in the class; mostly all of it, and divisions take long.
    let part = |member: u32, count: u32| match records(member) {
        all if all == count => 1.0,
        all => f64::from(count) / f64::from(all),
    };
    let mut rest = over;
    while rest > 0 {
        let can = |prices: &[i64], member: u32| free || prices[member as usize] > 0;
        let weight: f64 = members
            .iter()
            .filter(|(member, _)| can(prices, *member))
            .map(|(member, count)| f64::from(*count) * part(*member, *count))
            .sum();
        if weight <= 0.0 {
            return;
        }
        let unit = rest as f64 / weight;
        for &(member, count) in members {
            if rest > 0 && can(prices, member) {
                let drop = (unit * part(member, count)).ceil().max(1.0) as i64;
                let price = &mut prices[member as usize];
                let drop = if free { drop } else { drop.min(*price) };
                *price -= drop;
                rest -= drop * i64::from(count);
            }
        }
    }
}
