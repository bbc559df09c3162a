//! Clusters, and trees to find the best partner of one without looking at all.
//!
//! A tree divides the clusters of one part by their codes, like a k-d tree. Each branch knows how far its clusters must
//! reach at least, how wide they are at most, how small the smallest is and the lowest number in it, which bounds the
//! price of every step with them. Branches are kept up to date as clusters grow and go; a tree is built anew once half
//! of its clusters are gone.

use std::sync::Arc;

use super::value::Price;
use crate::problem::Problem;
use crate::research::Spans;

/// Boxes of records.
pub struct Clusters {
    attributes: usize,
    spans: Arc<Spans>,
    low: Vec<u32>,
    high: Vec<u32>,
    /// How many values each box spans.
    span: Vec<f64>,
    /// Number of records; 0 for clusters that are gone.
    sizes: Vec<u32>,
    part: Vec<u32>,
    /// Which of them do not meet the requirement.
    short: Vec<bool>,
    /// The records of each.
    pub(super) members: Vec<Vec<u32>>,
}

impl Clusters {
    /// No clusters yet.
    pub fn new(problem: &Problem) -> Self {
        Clusters {
            attributes: problem.attributes.len(),
            spans: Arc::new(Spans::new(&problem.attributes)),
            low: Vec::new(),
            high: Vec::new(),
            span: Vec::new(),
            sizes: Vec::new(),
            part: Vec::new(),
            short: Vec::new(),
            members: Vec::new(),
        }
    }

    /// A new cluster of one combination of codes or stretches of them, without records yet.
    pub fn add(&mut self, ends: &[(u32, u32)], part: u32) -> u32 {
        self.low.extend(ends.iter().map(|(low, _)| low));
        self.high.extend(ends.iter().map(|(_, high)| high));
        self.span.extend(ends.iter().enumerate().map(|(at, (low, high))| self.spans.span(at, *low, *high)));
        self.sizes.push(0);
        self.part.push(part);
        self.short.push(false);
        self.members.push(Vec::new());
        self.sizes.len() as u32 - 1
    }

    /// Puts a record into a cluster.
    pub fn put(&mut self, at: u32, record: u32) {
        self.sizes[at as usize] += 1;
        self.members[at as usize].push(record);
    }

    /// Number of clusters, those that are gone included.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// Whether a cluster is still there.
    pub fn alive(&self, at: u32) -> bool {
        self.sizes[at as usize] > 0
    }

    /// Number of records of a cluster.
    #[inline(always)]
    pub fn size(&self, at: u32) -> u32 {
        self.sizes[at as usize]
    }

    /// Whether a cluster does not meet the requirement.
    pub fn short(&self, at: u32) -> bool {
        self.short[at as usize]
    }

    /// Notes whether a cluster does not meet the requirement; trees must be told.
    pub(super) fn set_short(&mut self, at: u32, short: bool) {
        self.short[at as usize] = short;
    }

    /// The part that a cluster belongs to.
    pub fn part(&self, at: u32) -> u32 {
        self.part[at as usize]
    }

    /// Lowest and highest code of an attribute.
    #[inline(always)]
    pub fn ends(&self, at: u32, attribute: usize) -> (u32, u32) {
        let at = at as usize * self.attributes + attribute;
        (self.low[at], self.high[at])
    }

    /// How many values a cluster spans.
    #[inline(always)]
    pub fn span(&self, at: u32, attribute: usize) -> f64 {
        self.span[at as usize * self.attributes + attribute]
    }

    /// The spans of all stretches of codes.
    pub fn spans(&self) -> &Arc<Spans> {
        &self.spans
    }

    /// Moves all records of a cluster into another one.
    pub(super) fn merge(&mut self, at: u32, other: u32) {
        for x in 0..self.attributes {
            let (low, high) = self.ends(at, x);
            let to = other as usize * self.attributes + x;
            self.low[to] = self.low[to].min(low);
            self.high[to] = self.high[to].max(high);
            self.span[to] = self.spans.span(x, self.low[to], self.high[to]);
        }
        self.sizes[other as usize] += self.sizes[at as usize];
        self.sizes[at as usize] = 0;
    }

    pub(super) fn remove(&mut self, at: u32) {
        self.sizes[at as usize] = 0;
    }
}

/// A price and the cluster it is for: lower is better, then older.
pub type Priced = (f64, u32);

fn better((price, at): Priced, than: Option<Priced>) -> bool {
    than.is_none_or(|(least, other)| price < least || price == least && at < other)
}

/// The cheapest partner of a cluster, by looking at all.
pub fn scan(clusters: &Clusters, at: u32, price: impl Fn(u32) -> f64) -> Option<Priced> {
    let partner = |other: u32| other != at && clusters.part(other) == clusters.part(at);
    scan_all(clusters, |other| partner(other).then(|| price(other)))
}

/// The cheapest cluster that has a price, by looking at all.
pub fn scan_all(clusters: &Clusters, price: impl Fn(u32) -> Option<f64>) -> Option<Priced> {
    let mut best = None;
    for other in (0..clusters.len() as u32).filter(|other| clusters.alive(*other)) {
        if let Some(price) = price(other)
            && better((price, other), best)
        {
            best = Some((price, other));
        }
    }
    best
}

/// What is known of all clusters of a branch.
pub struct Reach<'a> {
    greatest_low: &'a [u32],
    least_high: &'a [u32],
    widest: &'a [f64],
    smallest: u32,
    widest_short: &'a [f64],
    smallest_short: u32,
}

impl Reach<'_> {
    /// A stretch of codes that every merge of `low ..= high` with a cluster of the branch covers.
    #[inline(always)]
    pub fn least_union(&self, attribute: usize, low: u32, high: u32) -> (u32, u32) {
        (low.min(self.greatest_low[attribute]), high.max(self.least_high[attribute]))
    }

    /// The widest cluster.
    #[inline(always)]
    pub fn widest(&self, attribute: usize) -> f64 {
        self.widest[attribute]
    }

    /// The smallest number of records.
    #[inline(always)]
    pub fn smallest(&self) -> u32 {
        self.smallest
    }

    /// The widest cluster of those that do not meet the requirement.
    #[inline(always)]
    pub fn widest_short(&self, attribute: usize) -> f64 {
        self.widest_short[attribute]
    }

    /// The smallest number of records of those; more than there can be if there are none.
    #[inline(always)]
    pub fn smallest_short(&self) -> u32 {
        self.smallest_short
    }
}

/// Clusters below a leaf.
const LEAF: usize = 8;

/// One tree per part.
pub struct Forest {
    trees: Vec<Tree>,
}

struct Tree {
    attributes: usize,
    /// The clusters, those of a branch together.
    clusters: Vec<u32>,
    /// Where each cluster's leaf is.
    leaf_of: crate::table::Map<u32, u32>,
    nodes: Vec<Node>,
    greatest_low: Vec<u32>,
    least_high: Vec<u32>,
    widest: Vec<f64>,
    widest_short: Vec<f64>,
    gone: usize,
}

#[derive(Clone, Copy)]
struct Node {
    from: u32,
    to: u32,
    parent: u32,
    /// The first of two children, which lie side by side; 0 for a leaf.
    children: u32,
    smallest: u32,
    smallest_short: u32,
    /// The lowest number of a cluster.
    first: u32,
    alive: u32,
}

impl Forest {
    /// Trees over clusters.
    pub fn new(clusters: &Clusters) -> Self {
        let parts = clusters.part.iter().max().map_or(0, |last| *last as usize + 1);
        let mut of_part = vec![Vec::new(); parts];
        for at in (0..clusters.len() as u32).filter(|at| clusters.alive(*at)) {
            of_part[clusters.part(at) as usize].push(at);
        }
        Forest { trees: of_part.into_iter().map(|own| Tree::new(clusters, own)).collect() }
    }

    /// A cluster is gone.
    pub fn removed(&mut self, clusters: &Clusters, at: u32) {
        let tree = &mut self.trees[clusters.part(at) as usize];
        tree.gone += 1;
        if tree.gone > 64 && 2 * tree.gone > tree.clusters.len() {
            let left = tree.clusters.iter().copied().filter(|at| clusters.alive(*at)).collect();
            *tree = Tree::new(clusters, left);
        } else {
            tree.update(clusters, at);
        }
    }

    /// A cluster has grown.
    pub fn changed(&mut self, clusters: &Clusters, at: u32) {
        self.trees[clusters.part(at) as usize].update(clusters, at);
    }

    /// The cheapest partner of a cluster.
    pub fn best_partner<P: Price>(&self, clusters: &Clusters, price: &P, at: u32) -> Option<Priced> {
        self.trees[clusters.part(at) as usize].best(
            clusters,
            None,
            |reach, least| price.least_merge(clusters, at, reach, least),
            |other, least| (other != at).then(|| price.merge(clusters, at, other, least)),
        )
    }

    /// The cheapest cluster to suppress that does not meet the requirement, of at most so many records, that is allowed and
    /// costs less than something known.
    pub fn best_to_suppress<P: Price>(
        &self,
        clusters: &Clusters,
        price: &P,
        (most, known): (u32, f64),
        allowed: &impl Fn(u32) -> bool,
    ) -> Option<Priced> {
        // Nothing comes before the lowest number, so that only what costs less is taken.
        let beaten = Some((known, 0));
        let best = self.trees.iter().fold(beaten, |best, tree| {
            tree.best(
                clusters,
                best,
                |reach, _| match reach.smallest_short() > most {
                    true => f64::INFINITY,
                    false => price.least_suppress(reach),
                },
                |other, _| {
                    let costs = clusters.short(other).then(|| price.suppress(clusters, other))?;
                    (costs < known && allowed(other)).then_some(costs)
                },
            )
        });
        best.filter(|(price, _)| *price < known)
    }
}

impl Tree {
    fn new(clusters: &Clusters, own: Vec<u32>) -> Self {
        let d = clusters.attributes;
        let mut tree = Tree {
            attributes: d,
            clusters: own,
            leaf_of: crate::table::Map::default(),
            nodes: Vec::new(),
            greatest_low: Vec::new(),
            least_high: Vec::new(),
            widest: Vec::new(),
            widest_short: Vec::new(),
            gone: 0,
        };
        if tree.clusters.is_empty() {
            return tree;
        }
        tree.node(0, tree.clusters.len() as u32, u32::MAX);
        let mut at = 0;
        while at < tree.nodes.len() {
            tree.split(clusters, at);
            at += 1;
        }
        for at in (0..tree.nodes.len()).rev() {
            tree.refresh(clusters, at);
        }
        tree
    }

    fn node(&mut self, from: u32, to: u32, parent: u32) {
        let (smallest, smallest_short) = (0, 0);
        self.nodes.push(Node { from, to, parent, children: 0, smallest, smallest_short, first: 0, alive: 0 });
        self.greatest_low.extend(std::iter::repeat_n(0, self.attributes));
        self.least_high.extend(std::iter::repeat_n(0, self.attributes));
        self.widest.extend(std::iter::repeat_n(0.0, self.attributes));
        self.widest_short.extend(std::iter::repeat_n(0.0, self.attributes));
    }

    /// Halves a node along the attribute in which it spans most values: what a merge costs follows the number of values
    /// that it adds, whatever their share of the domain.
    fn split(&mut self, clusters: &Clusters, at: usize) {
        let Node { from, to, .. } = self.nodes[at];
        let own = &mut self.clusters[from as usize..to as usize];
        if own.len() <= LEAF {
            own.iter().for_each(|cluster| {
                self.leaf_of.insert(*cluster, at as u32);
            });
            return;
        }
        let values = |x: usize| {
            let low = own.iter().map(|cluster| clusters.ends(*cluster, x).0).min().unwrap_or(0);
            let high = own.iter().map(|cluster| clusters.ends(*cluster, x).1).max().unwrap_or(0);
            clusters.spans.span(x, low, high) / clusters.spans.span(x, low, low).max(f64::MIN_POSITIVE)
        };
        let spanned: Vec<f64> = (0..self.attributes).map(values).collect();
        let widest = (0..self.attributes).max_by(|a, b| spanned[*a].total_cmp(&spanned[*b]).then(b.cmp(a)));
        let x = widest.unwrap_or(0);
        let middle = own.len() / 2;
        let key = |cluster: &u32| {
            let (low, high) = clusters.ends(*cluster, x);
            (u64::from(low) + u64::from(high), *cluster)
        };
        own.select_nth_unstable_by_key(middle, key);
        self.nodes[at].children = self.nodes.len() as u32;
        self.node(from, from + middle as u32, at as u32);
        self.node(from + middle as u32, to, at as u32);
    }

    fn update(&mut self, clusters: &Clusters, cluster: u32) {
        let Some(leaf) = self.leaf_of.get(&cluster) else { return };
        let mut at = *leaf;
        while at != u32::MAX {
            self.refresh(clusters, at as usize);
            at = self.nodes[at as usize].parent;
        }
    }

    /// Computes what a node knows from its clusters or children.
    fn refresh(&mut self, clusters: &Clusters, at: usize) {
        let d = self.attributes;
        let Node { from, to, children, .. } = self.nodes[at];
        let (mut smallest, mut smallest_short, mut first, mut alive) = (u32::MAX, u32::MAX, u32::MAX, 0);
        let place = at * d;
        self.greatest_low[place..place + d].fill(0);
        self.least_high[place..place + d].fill(u32::MAX);
        self.widest[place..place + d].fill(0.0);
        self.widest_short[place..place + d].fill(0.0);
        if children == 0 {
            for &cluster in &self.clusters[from as usize..to as usize] {
                if !clusters.alive(cluster) {
                    continue;
                }
                alive += 1;
                smallest = smallest.min(clusters.size(cluster));
                first = first.min(cluster);
                let short = clusters.short(cluster);
                if short {
                    smallest_short = smallest_short.min(clusters.size(cluster));
                }
                for x in 0..d {
                    let (low, high) = clusters.ends(cluster, x);
                    let place = place + x;
                    self.greatest_low[place] = self.greatest_low[place].max(low);
                    self.least_high[place] = self.least_high[place].min(high);
                    self.widest[place] = self.widest[place].max(clusters.span(cluster, x));
                    if short {
                        self.widest_short[place] = self.widest_short[place].max(clusters.span(cluster, x));
                    }
                }
            }
        } else {
            for child in [children as usize, children as usize + 1] {
                let node = self.nodes[child];
                if node.alive == 0 {
                    continue;
                }
                alive += node.alive;
                smallest = smallest.min(node.smallest);
                smallest_short = smallest_short.min(node.smallest_short);
                first = first.min(node.first);
                for x in 0..d {
                    let (own, theirs) = (place + x, child * d + x);
                    self.greatest_low[own] = self.greatest_low[own].max(self.greatest_low[theirs]);
                    self.least_high[own] = self.least_high[own].min(self.least_high[theirs]);
                    self.widest[own] = self.widest[own].max(self.widest[theirs]);
                    self.widest_short[own] = self.widest_short[own].max(self.widest_short[theirs]);
                }
            }
        }
        let node = &mut self.nodes[at];
        (node.smallest, node.smallest_short) = (smallest, smallest_short);
        (node.first, node.alive) = (first, alive);
    }

    fn reach(&self, at: usize) -> Reach<'_> {
        let place = at * self.attributes..(at + 1) * self.attributes;
        Reach {
            greatest_low: &self.greatest_low[place.clone()],
            least_high: &self.least_high[place.clone()],
            widest: &self.widest[place.clone()],
            smallest: self.nodes[at].smallest,
            widest_short: &self.widest_short[place],
            smallest_short: self.nodes[at].smallest_short,
        }
    }

    /// The cheapest cluster; branches that cannot hold it are left out.
    fn best(
        &self,
        clusters: &Clusters,
        mut best: Option<Priced>,
        least: impl Fn(&Reach<'_>, f64) -> f64,
        price: impl Fn(u32, f64) -> Option<f64>,
    ) -> Option<Priced> {
        if self.nodes.is_empty() {
            return best;
        }
        let mut stack = vec![(f64::NEG_INFINITY, 0usize)];
        while let Some((bound, at)) = stack.pop() {
            let node = &self.nodes[at];
            if node.alive == 0 || !better((bound, node.first), best) {
                continue;
            }
            if node.children == 0 {
                for &cluster in &self.clusters[node.from as usize..node.to as usize] {
                    if clusters.alive(cluster)
                        && let Some(price) = price(cluster, best.map_or(f64::INFINITY, |best| best.0))
                        && better((price, cluster), best)
                    {
                        best = Some((price, cluster));
                    }
                }
                continue;
            }
            let known = best.map_or(f64::INFINITY, |best| best.0);
            let child = node.children as usize;
            let mut bounds = [(f64::INFINITY, child), (f64::INFINITY, child + 1)];
            for (bound, child) in &mut bounds {
                if self.nodes[*child].alive > 0 {
                    *bound = least(&self.reach(*child), known);
                }
            }
            // The more promising one is looked at first.
            match bounds[0].0 <= bounds[1].0 {
                true => stack.extend([bounds[1], bounds[0]]),
                false => stack.extend(bounds),
            }
        }
        best
    }
}
