//! Utility-driven clustering: clusters that are too small join the partner that leaves most value (Morton 2012).
//!
//! It starts with one cluster per distinct record. While some cluster does not meet the requirement, the smallest of
//! them (of equal ones the oldest) merges with the cluster that leaves the highest research value of the whole table,
//! Σ w · (Σ R⁰N / Σ RN) · rules, with the merged box and the rules that then are kept. Categories take part, which the
//! thesis left out: their R is the number of leaves below the label. With suppression, a cluster or its too small
//! partner may be left out instead, at the price of its full range, up to the policy's share. `euclid-cluster` is the
//! thesis's baseline: the same loop, but the merged box with the least Σ (highest − lowest) wins.
//!
//! With `overlap = false` ranges of a number are equal or do not meet: clusters are made within bands (`bands`).
//!
//! The partner is found in a tree over the clusters: a branch whose best possible outcome is worse than one already
//! found is left out ([`tree`]). Outcomes are compared exactly, so the answer is that of looking at all pairs.

mod bands;
pub mod tree;
mod value;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{
    Boxes, Entry, Fact, Method, OptionKind, OptionSpec, Options, Partition, Recoding, Solution, Traits,
};
use crate::error::{Error, Result};
use crate::method::division::Division;
use crate::privacy::{Judge, Part, Tally};
use crate::problem::Problem;
use crate::research::Settings;
use crate::rules::BoundRule;
use crate::table::Map;
use crate::watch::Watch;
use bands::Bands;
use tree::{Clusters, Forest};
pub use value::{Euclid, Price, ResearchPrice};

const CITATION: &str = "Morton: An improved utility driven approach towards k-anonymity using data constraint rules, Indiana University 2012";

/// The registry entry of `rv-cluster`.
pub const RV: Entry = Entry {
    name: "rv-cluster",
    summary: "joins clusters that are too small where most research value is left",
    citation: CITATION,
    guarantee: "each merge is the best one for the whole table; hard rules are kept",
    takes: &[Part::K, Part::L, Part::T, Part::HardRules, Part::People],
    needs: &[],
    options: RESEARCH_OPTIONS,
    traits: Traits { in_parts: false, ..Traits::USUAL },
    configure: |options, _| Ok(Box::new(Cluster::configure(Kind::Research, options)?)),
};

/// The registry entry of `rv-cluster-suppress`.
pub const RV_SUPPRESS: Entry = Entry {
    name: "rv-cluster-suppress",
    summary: "as rv-cluster, but leaves records out where that costs less than a merge",
    citation: CITATION,
    guarantee: "suppresses no more than the policy's `suppress` allows; 5 % of the records unless it says otherwise",
    takes: &[Part::K, Part::L, Part::T, Part::HardRules, Part::People],
    needs: &[],
    options: RESEARCH_OPTIONS,
    traits: Traits { suppresses: 0.05, in_parts: false, ..Traits::USUAL },
    configure: |options, _| Ok(Box::new(Cluster::configure(Kind::ResearchOrSuppress, options)?)),
};

/// The registry entry of `euclid-cluster`.
pub const EUCLID: Entry = Entry {
    name: "euclid-cluster",
    summary: "joins clusters that are too small by the width of their boxes; a baseline",
    citation: CITATION,
    guarantee: "each merge is the narrowest one there is",
    takes: &[Part::K, Part::L, Part::T, Part::HardRules, Part::People],
    needs: &[],
    options: &[OVERLAP_OPTION],
    traits: Traits { in_parts: false, ..Traits::USUAL },
    configure: |options, _| Ok(Box::new(Cluster::configure(Kind::Euclid, options)?)),
};

const OVERLAP_OPTION: OptionSpec = OptionSpec {
    name: "overlap",
    kind: OptionKind::Flag { default: true },
    help: "whether published ranges of numbers may overlap",
};
const RESEARCH_OPTIONS: &[OptionSpec] = &[super::BASE_OPTION, super::IMPORTANCE_OPTION, OVERLAP_OPTION];

/// What decides about a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The research value of the table.
    Research,
    /// The same, and records may be left out.
    ResearchOrSuppress,
    /// The width of the box.
    Euclid,
}

/// The method.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// What decides.
    pub kind: Kind,
    /// How research value is computed.
    pub research: Settings,
    /// Whether published ranges of numbers may overlap.
    pub overlap: bool,
    /// Whether partners are found by looking at all of them; for tests and benchmarks.
    pub plain: bool,
}

impl Cluster {
    /// Reads the options of a policy.
    pub fn configure(kind: Kind, options: &Options) -> Result<Self> {
        let mut research = Settings::default();
        if kind != Kind::Euclid {
            research.base = options.number_if_any("base")?;
            research.importance = options.number("importance")?;
        }
        Ok(Cluster { kind, research, overlap: options.flag("overlap")?, plain: false })
    }
}

impl Method for Cluster {
    fn solve(&self, problem: &Problem, watch: &dyn Watch) -> Result<Solution> {
        let division = Division::of(problem)?;
        let found = match self.overlap {
            true => {
                let part_of = part_of_record(problem, &division.parts);
                self.run(
                    problem,
                    &division,
                    Clusters::distinct(problem, &part_of, |_, code| (code, code)),
                    watch,
                )?
            }
            false => self.in_bands(problem, &division, watch)?,
        };
        Ok(self.solution(problem, &division, found))
    }
}

/// The part that each record is in; `u32::MAX` for suppressed ones.
fn part_of_record(problem: &Problem, parts: &[Vec<u32>]) -> Vec<u32> {
    let mut part_of = vec![u32::MAX; problem.len()];
    for (at, part) in (0..).zip(parts) {
        part.iter().for_each(|record| part_of[*record as usize] = at);
    }
    part_of
}

/// What the loop ends with.
struct Ended {
    clusters: Clusters,
    members: Vec<Vec<u32>>,
    suppressed: Vec<u32>,
    value: Option<f64>,
}

impl Cluster {
    fn run(
        &self,
        problem: &Problem,
        division: &Division,
        clusters: Clusters,
        watch: &dyn Watch,
    ) -> Result<Ended> {
        let allowance = match self.kind {
            Kind::ResearchOrSuppress => problem.suppressible - division.suppressed.len(),
            Kind::Research | Kind::Euclid => 0,
        };
        match self.kind {
            Kind::Euclid => Loop::new(self, problem, clusters, Euclid::new(problem), allowance, watch).run(),
            Kind::Research | Kind::ResearchOrSuppress => {
                let price = ResearchPrice::new(problem, &self.research, &clusters, &division.suppressed);
                Loop::new(self, problem, clusters, price, allowance, watch).run()
            }
        }
    }

    /// Clusters within bands of numbers, the best of narrow bands and wide ones.
    fn in_bands(&self, problem: &Problem, division: &Division, watch: &dyn Watch) -> Result<Ended> {
        let mut best: Option<(f64, Ended)> = None;
        let mut before: Option<Bands> = None;
        let slacks =
            (0..usize::BITS).map(|power| 1usize << power).take_while(|slack| *slack <= problem.len().max(1));
        for slack in slacks {
            let bands = Bands::cut(problem, division, &self.research, slack);
            if before.as_ref().is_some_and(|before| before.same_as(&bands)) {
                continue;
            }
            let part_of = part_of_record(problem, &bands.parts);
            let clusters = Clusters::distinct(problem, &part_of, |at, code| bands.of(at, code));
            let found = self.run(problem, division, clusters, watch)?;
            let worth = found.worth(problem, self);
            if best.as_ref().is_none_or(|(most, _)| worth > *most) {
                best = Some((worth, found));
            }
            before = Some(bands);
        }
        best.map(|(_, found)| found).ok_or_else(|| Error::bug("no bands of numbers were tried"))
    }

    fn solution(&self, problem: &Problem, division: &Division, ended: Ended) -> Solution {
        let Ended { clusters, members, mut suppressed, value } = ended;
        suppressed.extend(&division.suppressed);
        suppressed.sort_unstable();
        let (mut order, mut sizes, mut boxes) =
            (Vec::new(), Vec::new(), vec![Vec::new(); problem.attributes.len()]);
        for (at, members) in members.iter().enumerate().filter(|(at, _)| clusters.alive(*at as u32)) {
            let from = order.len();
            order.extend(members);
            order[from..].sort_unstable();
            sizes.push(members.len());
            boxes.iter_mut().enumerate().for_each(|(x, ends)| ends.push(clusters.ends(at as u32, x)));
        }
        let recoding = (!self.overlap).then_some(Recoding::Boxes(Boxes { ends: boxes }));
        let fact = value.map(|left| Fact::ClusterValue { left, before: problem.total_weight() });
        Solution {
            partition: Partition::from_sizes(order, sizes),
            suppressed,
            recoding: recoding.unwrap_or_default(),
            facts: fact.into_iter().collect(),
        }
    }
}

impl Ended {
    /// How good it is: what its cells do not span, by the weights and rules of attributes or, where these do not matter, by
    /// width alone.
    fn worth(&self, problem: &Problem, method: &Cluster) -> f64 {
        (0..problem.attributes.len())
            .map(|x| match method.kind {
                Kind::Euclid => -self.sum(x, |low, high| self.clusters.spans().width(x, low, high)),
                Kind::Research | Kind::ResearchOrSuppress => {
                    let spans = self.clusters.spans();
                    let told = self.sum(x, |low, high| spans.whole(x) - spans.span(x, low, high));
                    let spanned = 1.0 - told / (problem.len() as f64 * spans.whole(x));
                    let (kept, all) = problem.rules.kept(x, |rule| self.breaks(problem, rule));
                    bands::worth(&method.research, problem.attributes[x].weight, spanned, kept, all)
                }
            })
            .sum()
    }

    fn alive(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.clusters.len() as u32).filter(|at| self.clusters.alive(*at))
    }

    /// Σ over the records of what is said of their ends.
    fn sum(&self, x: usize, of: impl Fn(u32, u32) -> f64) -> f64 {
        let ends = self.alive().map(|at| (self.clusters.size(at), self.clusters.ends(at, x)));
        ends.map(|(size, (low, high))| f64::from(size) * of(low, high)).sum()
    }

    fn breaks(&self, problem: &Problem, rule: &BoundRule) -> bool {
        let domain = &problem.attributes[rule.attribute].domain;
        let mut ends = self.alive().map(|at| self.clusters.ends(at, rule.attribute));
        ends.any(|(low, high)| rule.broken_by(domain.covered(low, high)))
    }
}

/// The loop of merges.
struct Loop<'a, P> {
    judge: Judge<'a>,
    clusters: Clusters,
    forest: Forest,
    members: Vec<Vec<u32>>,
    price: P,
    /// Clusters that do not meet the requirement, smallest first, oldest first; entries may be outdated.
    short: BinaryHeap<Reverse<(u32, u32)>>,
    allowance: usize,
    suppressed: Vec<u32>,
    /// What is left of each part, so that no suppression makes the rest of it too small.
    parts: Vec<Tally>,
    plain: bool,
    watch: &'a dyn Watch,
    /// Room to count in.
    room: Tally,
}

/// What to do about a cluster that is too small.
enum Step {
    Merge(u32),
    Suppress(u32),
}

impl<'a, P: Price> Loop<'a, P> {
    fn new(
        method: &Cluster,
        problem: &'a Problem,
        mut clusters: Clusters,
        price: P,
        allowance: usize,
        watch: &'a dyn Watch,
    ) -> Self {
        let members = std::mem::take(&mut clusters.members);
        // Made once it is known which clusters are short.
        let forest = Forest::new(&Clusters::new(problem));
        let judge = Judge::new(problem);
        let room = judge.tally();
        let count = members.len();
        let mut state = Loop {
            judge,
            clusters,
            forest,
            members,
            price,
            short: BinaryHeap::new(),
            allowance,
            suppressed: Vec::new(),
            parts: Vec::new(),
            plain: method.plain,
            watch,
            room,
        };
        for at in 0..count as u32 {
            state.note(at);
            let part = state.clusters.part(at) as usize;
            while state.parts.len() <= part {
                state.parts.push(state.judge.tally());
            }
            for record in &state.members[at as usize] {
                state.judge.add(&mut state.parts[part], *record);
            }
        }
        state.forest = Forest::new(&state.clusters);
        state
    }

    /// Whether the rest of its part can still be published without a cluster.
    fn rest_holds(&self, at: u32) -> bool {
        let (part, members) = (&self.parts[self.clusters.part(at) as usize], &self.members[at as usize]);
        part.size() == members.len() as u64 || self.judge.allows_without(part, members)
    }

    /// Notes whether a cluster meets the requirement.
    fn note(&mut self, at: u32) {
        let members = self.members[at as usize].iter().copied();
        let short = !self.judge.holds_in(&mut self.room, members);
        self.clusters.set_short(at, short);
        if short {
            self.short.push(Reverse((self.clusters.size(at), at)));
        }
    }

    fn run(mut self) -> Result<Ended> {
        self.watch.stage("clustering", Some(self.short.len() as u64));
        let mut steps = 0u64;
        while let Some(Reverse((size, at))) = self.short.pop() {
            if !self.clusters.alive(at) || !self.clusters.short(at) || self.clusters.size(at) != size {
                continue;
            }
            steps += 1;
            // A step may look at all clusters.
            self.watch.check()?;
            if steps.is_multiple_of(64) {
                self.watch.advance(64);
            }
            match self.step(at) {
                Step::Merge(partner) => self.merge(at, partner),
                Step::Suppress(other) => {
                    self.suppress(other);
                    if other != at {
                        self.short.push(Reverse((size, at)));
                    }
                }
            }
        }
        let value = self.price.total();
        Ok(Ended { clusters: self.clusters, members: self.members, suppressed: self.suppressed, value })
    }

    fn step(&self, at: u32) -> Step {
        let partner = match self.plain {
            true => tree::scan(&self.clusters, at, |other| {
                self.price.merge(&self.clusters, at, other, f64::INFINITY)
            }),
            false => self.forest.best_partner(&self.clusters, &self.price, at),
        };
        let left = self.allowance - self.suppressed.len();
        let allowed = |other: u32| self.clusters.size(other) as usize <= left && self.rest_holds(other);
        if left == 0 {
            return partner.map_or(Step::Suppress(at), |(_, partner)| Step::Merge(partner));
        }
        // A merge is taken when nothing is better; of two that are suppressed at one price, the cluster itself.
        let mut best = partner.map(|(price, partner)| (price, Step::Merge(partner)));
        let price = |other: u32| self.price.suppress(&self.clusters, other);
        let beats =
            |costs: f64, best: &Option<(f64, Step)>| best.as_ref().is_none_or(|(least, _)| costs < *least);
        if beats(price(at), &best) && allowed(at) {
            best = Some((price(at), Step::Suppress(at)));
        }
        let other = |other: u32| other != at && allowed(other);
        let known = best.as_ref().map_or(f64::INFINITY, |(least, _)| *least);
        let others = match self.plain {
            true => {
                let short = |at: u32| self.clusters.short(at) && other(at);
                tree::scan_all(&self.clusters, |other| short(other).then(|| price(other)))
            }
            false => {
                let bounds = (left as u32, known);
                self.forest.best_to_suppress(&self.clusters, &self.price, bounds, &other)
            }
        };
        if let Some((costs, other)) = others.filter(|(costs, _)| beats(*costs, &best)) {
            best = Some((costs, Step::Suppress(other)));
        }
        best.map_or(Step::Suppress(at), |(_, step)| step)
    }

    fn merge(&mut self, at: u32, partner: u32) {
        self.price.merged(&self.clusters, at, partner);
        self.clusters.merge(at, partner);
        let members = std::mem::take(&mut self.members[at as usize]);
        self.members[partner as usize].extend(members);
        self.note(partner);
        self.forest.removed(&self.clusters, at);
        self.forest.changed(&self.clusters, partner);
    }

    fn suppress(&mut self, at: u32) {
        self.price.suppressed(&self.clusters, at);
        let mut part = std::mem::take(&mut self.parts[self.clusters.part(at) as usize]);
        self.members[at as usize].iter().for_each(|record| self.judge.remove(&mut part, *record));
        self.parts[self.clusters.part(at) as usize] = part;
        self.clusters.remove(at);
        let members = std::mem::take(&mut self.members[at as usize]);
        self.suppressed.extend(members);
        self.forest.removed(&self.clusters, at);
    }
}

impl Clusters {
    /// One cluster per distinct record of each part, in the order of their first records; `published` tells the codes that a
    /// code of an attribute is published with, at least.
    fn distinct(problem: &Problem, part_of: &[u32], published: impl Fn(usize, u32) -> (u32, u32)) -> Self {
        let mut clusters = Clusters::new(problem);
        let mut known: Map<Vec<(u32, u32)>, u32> = Map::default();
        let mut codes = Vec::with_capacity(problem.attributes.len());
        for record in (0..problem.len()).filter(|record| part_of[*record] != u32::MAX) {
            codes.clear();
            let ends = |at: usize| published(at, problem.records.code(record, at));
            codes.extend((0..problem.attributes.len()).map(ends));
            // Equal records are in the same part.
            let at = match known.get(&codes) {
                Some(at) => *at,
                None => {
                    let at = clusters.add(&codes, part_of[record]);
                    known.insert(codes.clone(), at);
                    at
                }
            };
            clusters.put(at, record as u32);
        }
        clusters
    }
}
