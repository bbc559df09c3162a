//! Step 2: cuts that send every record to a part of about the same size, found from a sample.
//!
//! A tree of cuts, each of one quasi-identifier at one code: where classes that reach across would lose most, so that few
//! would (between the subtrees of a hierarchy, between categories without one), of equals nearest to the middle. Sides get parts
//! by their sizes. Cuts are dear all the same: what lies on both sides of one cannot be published together. So those who might
//! gain most beyond a cut go on to the next round, which keeps away from the cuts of the one before.
//!
//! Quasi-identifiers decide where it is cut. Sensitive values are only asked, of thousands of records at a time, whether either side
//! still has a margin for diversity as the whole table has; where it has none, records are dealt by lot (see `method::auto`).
//!
//! Cost: O(s · d · log s) for each level of the tree, s records of the sample and d attributes.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::collections::Arrange;
use crate::loss::Kernel;

/// How much larger than meant a part may be.
const LARGER: f64 = 1.2;
/// Cuts of one attribute that are nearer than this share of its width are taken for the same.
const SAME: f64 = 0.1;
/// The share of the diversity that records could have which may be asked for to leave them room: a little less than what
/// [`crate::privacy::Margin::is_narrow`] calls narrow, because a sample tells it roughly.
const ROOM: f64 = 0.45;
const NARROW: f64 = 0.5;
/// Records that have no such room are cut where either side is asked for at most so many times what all of them are.
const HARDLY_MORE: f64 = 1.05;
/// Records that are dealt by lot are cut where either side of the sample could meet what is asked for by so much more as a sample of its
/// size may be wrong, in shares of the root of its size: a side that could not meet it after all would join all parts of the other.
const WRONG: f64 = 2.0;
/// Places of one attribute that are tried.
const TRIED: usize = 8;

/// A tree of cuts. The first node is its root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cuts {
    nodes: Vec<Node>,
    parts: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Node {
    Part(u32),
    /// Codes of an attribute below `at` go left.
    Cut {
        attribute: u32,
        at: u32,
        left: u32,
        right: u32,
    },
}

/// For each attribute the first code of some records, and the one after their last.
pub type Cell = Vec<(u32, u32)>;

/// A record of a sample: its codes, and how many records it stands for.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampled {
    /// The code of each quasi-identifier.
    pub codes: Vec<u32>,
    /// The code of each sensitive attribute.
    pub sensitive: Vec<u32>,
    /// How many equal ones there are in the sample.
    pub weight: u64,
}

/// What cuts are made by.
pub struct Cutting<'a> {
    /// What classes lose.
    pub kernel: &'a Kernel,
    /// The cuts of the round before.
    pub before: &'a Cuts,
    /// How many parts more than were meant there may be, where records are dealt by lot.
    pub more: usize,
    /// The share that is asked for of the diversity that some records could have; 0 where none is asked for.
    pub asked: &'a dyn Fn(&[&Sampled]) -> f64,
}

/// What cuts keep to.
struct Limits {
    /// The weight of a part.
    most: f64,
    /// How many parts more than were meant there may still be.
    more: usize,
    /// Whether records are dealt by lot.
    by_lot: bool,
    /// For each attribute the lowest and highest code that records which are cut may have. Rare values at the ends are in the table
    /// though they may not be in a sample of some of it.
    cell: Vec<(u32, u32)>,
}

/// Where to cut: codes of an attribute below `at` go left.
#[derive(Clone, Copy)]
struct Place {
    attribute: usize,
    at: u32,
    /// Into how many parts either side is cut.
    parts: [usize; 2],
    /// What a class across would lose at least.
    lost: f64,
    /// The share of the records below it.
    share: f64,
    /// The weight of the larger of the parts that it gives, if each side is cut evenly.
    largest: f64,
    /// Whether the round before has cut elsewhere.
    is_new: bool,
}

impl Cuts {
    /// One part of all records.
    pub fn none() -> Self {
        Cuts { nodes: vec![Node::Part(0)], parts: 1 }
    }

    /// So many parts of a sample, fewer if it cannot be cut so often.
    pub fn new(sample: &[Sampled], cutting: &Cutting<'_>, parts: usize) -> Self {
        let mut cuts = Cuts { nodes: Vec::new(), parts: 0 };
        let mut records: Vec<&Sampled> = sample.iter().collect();
        records.arrange_by(|one, other| (&one.codes, &one.sensitive).cmp(&(&other.codes, &other.sensitive)));
        let weight: u64 = records.iter().map(|record| record.weight).sum();
        let most = LARGER * weight as f64 / parts.max(1) as f64;
        // As in memory, it is the whole table that decides whether records are dealt by lot.
        let by_lot = (cutting.asked)(&records) > NARROW;
        let mut limits = Limits { most, more: cutting.more, by_lot, cell: extremes(&records) };
        cuts.grow(&records, cutting, parts.max(1), &mut limits);
        cuts
    }

    /// Where an attribute is cut.
    fn planes(&self, attribute: usize) -> impl Iterator<Item = u32> {
        self.nodes.iter().filter_map(move |node| match *node {
            Node::Cut { attribute: own, at, .. } if own as usize == attribute => Some(at),
            _ => None,
        })
    }

    /// Number of parts.
    pub fn parts(&self) -> usize {
        self.parts as usize
    }

    /// The part of a record, given its codes.
    #[inline]
    pub fn part(&self, code: impl Fn(usize) -> u32) -> u32 {
        let mut node = 0;
        loop {
            match self.nodes[node] {
                Node::Part(part) => return part,
                Node::Cut { attribute, at, left, right } => {
                    node = if code(attribute as usize) < at { left } else { right } as usize;
                }
            }
        }
    }

    /// The parts in groups that are solved together: of a group that joins the parts around it, all become one.
    pub fn joined(&self, joins: &dyn Fn(&[u32], &[u32]) -> bool) -> Vec<Vec<u32>> {
        self.join(0, joins)
    }

    fn join(&self, node: usize, joins: &dyn Fn(&[u32], &[u32]) -> bool) -> Vec<Vec<u32>> {
        match self.nodes[node] {
            Node::Part(part) => vec![vec![part]],
            Node::Cut { left, right, .. } => {
                let mut groups = self.join(left as usize, joins);
                groups.extend(self.join(right as usize, joins));
                let all = groups.concat();
                match groups.iter().any(|group| joins(group, &all)) {
                    true => vec![all],
                    false => groups,
                }
            }
        }
    }

    /// For each attribute the codes of the records of some parts: from the first on, and below the second.
    pub fn cell(&self, parts: &[usize], attributes: usize) -> Cell {
        let mut cell = vec![(u32::MAX, 0); attributes];
        self.cells(0, &mut vec![(0, u32::MAX); attributes], &mut |part, own| {
            if parts.contains(&(part as usize)) {
                let both = cell.iter_mut().zip(own);
                both.for_each(|(all, own)| *all = (all.0.min(own.0), all.1.max(own.1)));
            }
        });
        cell
    }

    fn cells(&self, node: usize, cell: &mut Cell, take: &mut dyn FnMut(u32, &Cell)) {
        match self.nodes[node] {
            Node::Part(part) => take(part, cell),
            Node::Cut { attribute, at, left, right } => {
                let attribute = attribute as usize;
                let whole = cell[attribute];
                cell[attribute].1 = whole.1.min(at);
                self.cells(left as usize, cell, take);
                cell[attribute] = (whole.0.max(at), whole.1);
                self.cells(right as usize, cell, take);
                cell[attribute] = whole;
            }
        }
    }

    /// Makes so many parts of some records, and so many more where that is needed.
    fn grow(
        &mut self,
        records: &[&Sampled],
        cutting: &Cutting<'_>,
        parts: usize,
        limits: &mut Limits,
    ) -> u32 {
        let node = self.nodes.len() as u32;
        self.nodes.push(Node::Part(self.parts));
        let found = if parts > 1 { cutting.place(records, parts, limits) } else { None };
        let Some(Place { attribute, at, parts: [left_parts, right_parts], .. }) = found else {
            self.parts += 1;
            return node;
        };
        limits.more -= left_parts + right_parts - parts;
        let (left, right) = sides(records, attribute, at);
        let whole = limits.cell[attribute];
        limits.cell[attribute].1 = at - 1;
        let left = self.grow(&left, cutting, left_parts, limits);
        limits.cell[attribute] = (at, whole.1);
        let right = self.grow(&right, cutting, right_parts, limits);
        limits.cell[attribute] = whole;
        self.nodes[node as usize] = Node::Cut { attribute: attribute as u32, at, left, right };
        node
    }
}

/// The lowest and highest code of each attribute.
fn extremes(records: &[&Sampled]) -> Vec<(u32, u32)> {
    let attributes = records.first().map_or(0, |record| record.codes.len());
    let of = |at: usize| records.iter().map(move |record| record.codes[at]);
    (0..attributes).map(|at| (of(at).min().unwrap_or(0), of(at).max().unwrap_or(0))).collect()
}

fn sides<'a>(records: &[&'a Sampled], attribute: usize, at: u32) -> (Vec<&'a Sampled>, Vec<&'a Sampled>) {
    records.iter().partition(|record| record.codes[attribute] < at)
}

impl Cutting<'_> {
    /// Where to cut some records, so that no part is too large: the best place that leaves room on both sides, first of those away
    /// from former cuts.
    fn place(&self, records: &[&Sampled], parts: usize, limits: &Limits) -> Option<Place> {
        let attributes = records.first()?.codes.len();
        let mut fitting: Vec<Place> = Vec::new();
        let mut nearest: Option<Place> = None;
        for attribute in 0..attributes {
            let (fits, others): (Vec<Place>, Vec<Place>) = self
                .places(records, attribute, parts)
                .into_iter()
                .partition(|place| place.largest <= limits.most);
            fitting.extend(few(fits));
            nearest =
                others.into_iter().chain(nearest).min_by(|one, other| one.off().total_cmp(&other.off()));
        }
        fitting.arrange_by(Place::better);
        let new = || fitting.iter().filter(|place| place.is_new);
        let first = new().next().or(fitting.first()).or(nearest.as_ref()).copied();
        let asked = (self.asked)(records);
        if limits.by_lot
            && let Some(place) = self.as_blocks_are_cut(records, parts, &limits.cell)
            && place.parts[0] + place.parts[1] <= parts + limits.more
        {
            return Some(place);
        }
        let enough = if asked > NARROW { HARDLY_MORE * asked } else { ROOM };
        // Where all leave too little room, the one that leaves most.
        let mut best: Option<(f64, Place)> = None;
        for place in new().chain(&fitting) {
            let (left, right) = sides(records, place.attribute, place.at);
            let asked = (self.asked)(&left).max((self.asked)(&right));
            if asked <= enough {
                return Some(*place);
            }
            if best.is_none_or(|(least, _)| asked < least) {
                best = Some((asked, *place));
            }
        }
        best.map(|(_, place)| place).or(first)
    }

    /// Where `method::lots` would cut records that are dealt by lot: the widest attribute in the middle, of equally wide ones the one
    /// whose cut is least even. The first cuts of a table in memory are such cuts too, so these cost next to nothing. What is cut off may be
    /// small, so that there are more parts than were meant.
    fn as_blocks_are_cut(&self, records: &[&Sampled], parts: usize, cell: &[(u32, u32)]) -> Option<Place> {
        let attributes = records.first()?.codes.len();
        let mut places: Vec<Vec<Place>> =
            (0..attributes).map(|attribute| middle(self.places(records, attribute, parts))).collect();
        places.retain(|own| !own.is_empty());
        let width = |own: &Place| {
            let (low, high) = cell[own.attribute];
            self.kernel.penalty(own.attribute, low as usize, high as usize)
        };
        let order = |one: &Place, other: &Place| {
            width(other).total_cmp(&width(one)).then(other.off().total_cmp(&one.off()))
        };
        places.arrange_by(|one, other| order(&one[0], &other[0]));
        let feasible = |place: &Place| {
            let (left, right) = sides(records, place.attribute, place.at);
            self.surely_feasible(&left) && self.surely_feasible(&right)
        };
        let place = places.into_iter().flatten().find(feasible)?;
        let enough = |share: f64| ((share * parts as f64).ceil() as usize).max(1);
        Some(Place { parts: [enough(place.share), enough(1.0 - place.share)], ..place })
    }

    /// Whether all records that some of a sample stand for could meet what is asked for, as far as a sample tells.
    fn surely_feasible(&self, records: &[&Sampled]) -> bool {
        let size: u64 = records.iter().map(|record| record.weight).sum();
        (self.asked)(records) <= 1.0 - WRONG / (size as f64).sqrt()
    }

    /// The places between neighbouring codes of an attribute.
    fn places(&self, records: &[&Sampled], attribute: usize, parts: usize) -> Vec<Place> {
        let weights = weights(records, attribute);
        let (Some((low, _)), Some((high, _))) = (weights.first(), weights.last()) else { return Vec::new() };
        let penalty = |low: u32, high: u32| self.kernel.penalty(attribute, low as usize, high as usize);
        let (width, all) = (penalty(*low, *high), weights.iter().map(|(_, weight)| weight).sum::<u64>());
        // Whether the round before has cut there, or so near that it is the same.
        let was_cut = |own: u32| {
            self.before
                .planes(attribute)
                .any(|at| at == own || penalty(at.min(own), at.max(own) - 1) < SAME * width)
        };
        let mut below = 0;
        let between = weights.windows(2).map(|pair| {
            below += pair[0].1;
            let share = below as f64 / all as f64;
            let left = ((share * parts as f64).round() as usize).clamp(1, parts - 1);
            let largest = (below as f64 / left as f64).max((all - below) as f64 / (parts - left) as f64);
            let (at, lost) = (pair[1].0, penalty(pair[0].0, pair[1].0));
            Place { attribute, at, parts: [left, parts - left], lost, share, largest, is_new: !was_cut(at) }
        });
        between.collect()
    }
}

impl Place {
    /// How far from the middle it is, as a share of the records.
    fn off(&self) -> f64 {
        (self.share - 0.5).abs()
    }

    /// Which of two places comes first: classes across lose more, or it is nearer to the middle.
    fn better(&self, other: &Place) -> Ordering {
        let by_loss = other.lost.total_cmp(&self.lost);
        by_loss.then(self.off().total_cmp(&other.off())).then(self.attribute.cmp(&other.attribute))
    }
}

/// The places on either side of the middle of one attribute, the nearer one first.
fn middle(places: Vec<Place>) -> Vec<Place> {
    let (below, above): (Vec<Place>, Vec<Place>) = places.into_iter().partition(|place| place.share < 0.5);
    let mut both: Vec<Place> = below.last().into_iter().chain(above.first()).copied().collect();
    both.arrange_by(|one, other| one.off().total_cmp(&other.off()));
    both
}

/// The best of some places of one attribute, and the best of those that are new.
fn few(mut places: Vec<Place>) -> Vec<Place> {
    places.arrange_by(Place::better);
    let (new, old): (Vec<Place>, Vec<Place>) = places.into_iter().partition(|place| place.is_new);
    new.into_iter().take(TRIED).chain(old.into_iter().take(TRIED)).collect()
}

/// The codes of an attribute that occur, and how often.
fn weights(records: &[&Sampled], attribute: usize) -> Vec<(u32, u64)> {
    let mut weights: std::collections::BTreeMap<u32, u64> = std::collections::BTreeMap::new();
    records.iter().for_each(|record| *weights.entry(record.codes[attribute]).or_default() += record.weight);
    weights.into_iter().collect()
}
