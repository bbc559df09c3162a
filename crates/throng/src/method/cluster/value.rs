//! What a merge or a suppression costs, and the least it can cost in a branch of the tree.

use std::sync::Arc;

use super::tree::{Clusters, Reach};
use crate::problem::Problem;
use crate::research::{Settings, Spans};
use crate::rules::BoundRule;
use crate::table::Domain;

/// Prices of steps; lower is better.
pub trait Price {
    /// The price of merging two clusters; any price above `least` if it is more than that.
    fn merge(&self, clusters: &Clusters, at: u32, other: u32, least: f64) -> f64;
    /// No more than the price of merging a cluster with any of a branch; any price above `least` if it is more than that.
    fn least_merge(&self, clusters: &Clusters, at: u32, branch: &Reach, least: f64) -> f64;
    /// The price of suppressing a cluster.
    fn suppress(&self, clusters: &Clusters, at: u32) -> f64;
    /// No more than the price of suppressing any cluster of a branch that does not meet the requirement.
    fn least_suppress(&self, branch: &Reach) -> f64;
    /// Takes note of a merge, before it is made.
    fn merged(&mut self, clusters: &Clusters, at: u32, other: u32);
    /// Takes note of a suppression, before it is made.
    fn suppressed(&mut self, clusters: &Clusters, at: u32);
    /// The value of the table as it is, where that is what prices are about.
    fn total(&self) -> Option<f64>;
}

/// Prices by the research value of the whole table: minus the value that would be left.
pub struct ResearchPrice {
    spans: Arc<Spans>,
    attributes: Vec<OfAttribute>,
    settings: Settings,
    /// The value of the table as it is.
    total: f64,
}

struct OfAttribute {
    weight: f64,
    /// Σ R⁰·N over all records.
    raw: f64,
    /// Σ R·N over clusters as they are, suppressed records at their full range.
    now: f64,
    /// The value of the attribute as it is.
    worth: f64,
    /// The full range.
    whole: f64,
    /// Σ importance of rules that no cluster breaks, and of all.
    kept: f64,
    all: f64,
    /// Rules that no cluster breaks yet, with their importance.
    unbroken: Vec<(BoundRule, f64)>,
    domain: Domain,
}

impl ResearchPrice {
    /// Prices for clusters that are single values or bands of numbers; `suppressed` records are left out already.
    pub fn new(problem: &Problem, settings: &Settings, clusters: &Clusters, suppressed: &[u32]) -> Self {
        let spans = Arc::clone(clusters.spans());
        let attributes = problem
            .attributes
            .iter()
            .enumerate()
            .map(|(at, attribute)| {
                let own: f64 = (0..clusters.len() as u32)
                    .map(|cluster| {
                        let (low, high) = clusters.ends(cluster, at);
                        f64::from(clusters.size(cluster)) * spans.span(at, low, high)
                    })
                    .sum();
                let left_out: f64 = suppressed
                    .iter()
                    .map(|record| {
                        let code = problem.records.code(*record as usize, at);
                        spans.span(at, code, code)
                    })
                    .sum();
                let all: f64 = problem.rules.of(at).map(|rule| rule.importance).sum();
                let widened: f64 =
                    (0..clusters.len()).map(|cluster| widening(problem, clusters, cluster, at)).sum();
                OfAttribute {
                    weight: attribute.weight,
                    raw: own - widened + left_out,
                    now: own + suppressed.len() as f64 * spans.whole(at),
                    worth: 0.0,
                    whole: spans.whole(at),
                    kept: all,
                    all,
                    unbroken: problem.rules.of(at).map(|rule| (rule.clone(), rule.importance)).collect(),
                    domain: attribute.domain.clone(),
                }
            })
            .collect();
        let mut price = ResearchPrice { spans, attributes, settings: settings.clone(), total: 0.0 };
        for (x, own) in price.attributes.iter_mut().enumerate() {
            let ends = (0..clusters.len() as u32).map(|cluster| clusters.ends(cluster, x));
            ends.filter(|(low, high)| low < high).for_each(|(low, high)| Self::note_broken(own, low, high));
        }
        price.take_stock();
        price
    }

    /// Computes what everything is worth as it is.
    fn take_stock(&mut self) {
        for x in 0..self.attributes.len() {
            self.attributes[x].worth = self.value(&self.attributes[x], 0.0, 0.0);
        }
        self.total = self.attributes.iter().map(|own| own.worth).sum();
    }

    /// Minus the value that is left when each attribute grows and breaks rules as told. Gives up once more is lost than
    /// leaves hope for `least`; rounding cannot make up for the margin.
    #[inline(always)]
    fn left(&self, least: f64, change: impl Fn(usize, &OfAttribute) -> (f64, f64)) -> f64 {
        let hopeless = least + 1e-9 * self.total;
        let (mut left, mut hope) = (0.0, self.total);
        for (x, own) in self.attributes.iter().enumerate() {
            let (grown, broken) = change(x, own);
            if grown == 0.0 && broken == 0.0 {
                left += own.worth;
                continue;
            }
            let value = self.value(own, grown, broken);
            left += value;
            hope += value - own.worth;
            if -hope > hopeless {
                return -hope;
            }
        }
        -left
    }

    /// The value of an attribute once its sum has grown and rules of some importance are broken.
    #[inline]
    fn value(&self, own: &OfAttribute, grown: f64, broken: f64) -> f64 {
        let ratio = self.settings.ratio(own.kept - broken, own.all);
        self.settings.value(own.weight, own.raw / (own.now + grown), ratio)
    }

    /// Σ importance of rules that a box would break for the first time.
    #[inline]
    fn broken(&self, own: &OfAttribute, low: u32, high: u32) -> f64 {
        if own.unbroken.is_empty() || low == high {
            return 0.0;
        }
        let covered = own.domain.covered(low, high);
        own.unbroken
            .iter()
            .filter(|(rule, _)| rule.broken_by(covered))
            .map(|(_, importance)| importance)
            .sum()
    }

    fn note_broken(own: &mut OfAttribute, low: u32, high: u32) {
        let covered = own.domain.covered(low, high);
        own.unbroken.retain(|(rule, _)| !rule.broken_by(covered));
        own.kept = own.unbroken.iter().map(|(_, importance)| importance).sum();
    }

    /// How much the sum of an attribute grows when two clusters merge, and the merged ends.
    #[inline(always)]
    fn growth(&self, clusters: &Clusters, at: u32, other: u32, x: usize) -> (f64, (u32, u32)) {
        let (a, b) = (clusters.ends(at, x), clusters.ends(other, x));
        let (low, high) = (a.0.min(b.0), a.1.max(b.1));
        if a == b {
            return (0.0, (low, high));
        }
        let span = self.spans.span(x, low, high);
        let grown = f64::from(clusters.size(at)) * (span - clusters.span(at, x))
            + f64::from(clusters.size(other)) * (span - clusters.span(other, x));
        (grown, (low, high))
    }
}

/// How much more the records of a cluster span than their own values do.
fn widening(problem: &Problem, clusters: &Clusters, cluster: usize, x: usize) -> f64 {
    let (low, high) = clusters.ends(cluster as u32, x);
    if low == high {
        return 0.0;
    }
    let own = |record: &u32| {
        let code = problem.records.code(*record as usize, x);
        clusters.span(cluster as u32, x) - clusters.spans().span(x, code, code)
    };
    clusters.members[cluster].iter().map(own).sum()
}

impl Price for ResearchPrice {
    fn merge(&self, clusters: &Clusters, at: u32, other: u32, least: f64) -> f64 {
        self.left(least, |x, own| {
            let (grown, (low, high)) = self.growth(clusters, at, other, x);
            (grown, self.broken(own, low, high))
        })
    }

    fn least_merge(&self, clusters: &Clusters, at: u32, branch: &Reach, least: f64) -> f64 {
        let size = f64::from(clusters.size(at));
        self.left(least, |x, own| {
            let (low, high) = clusters.ends(at, x);
            let span = clusters.span(at, x);
            // Any partner reaches at least this far.
            let (least_low, least_high) = branch.least_union(x, low, high);
            let same = (least_low, least_high) == (low, high);
            let union = if same { span } else { self.spans.span(x, least_low, least_high) };
            let theirs = f64::from(branch.smallest()) * (union - branch.widest(x)).max(0.0);
            (size * (union - span) + theirs, self.broken(own, least_low, least_high))
        })
    }

    fn suppress(&self, clusters: &Clusters, at: u32) -> f64 {
        let size = f64::from(clusters.size(at));
        let left = self
            .attributes
            .iter()
            .enumerate()
            .map(|(x, own)| self.value(own, size * (own.whole - clusters.span(at, x)), 0.0));
        -left.sum::<f64>()
    }

    fn least_suppress(&self, branch: &Reach) -> f64 {
        let size = f64::from(branch.smallest_short());
        let left = self
            .attributes
            .iter()
            .enumerate()
            .map(|(x, own)| self.value(own, size * (own.whole - branch.widest_short(x)).max(0.0), 0.0));
        -left.sum::<f64>()
    }

    fn merged(&mut self, clusters: &Clusters, at: u32, other: u32) {
        for x in 0..self.attributes.len() {
            let (grown, (low, high)) = self.growth(clusters, at, other, x);
            let own = &mut self.attributes[x];
            own.now += grown;
            Self::note_broken(own, low, high);
        }
        self.take_stock();
    }

    fn suppressed(&mut self, clusters: &Clusters, at: u32) {
        let size = f64::from(clusters.size(at));
        for (x, own) in self.attributes.iter_mut().enumerate() {
            own.now += size * (own.whole - clusters.span(at, x));
        }
        self.take_stock();
    }

    fn total(&self) -> Option<f64> {
        Some(self.total)
    }
}

/// Prices by the width of the merged box, neither normalised nor weighted.
pub struct Euclid {
    spans: Spans,
    attributes: usize,
}

impl Euclid {
    /// Prices for the attributes of a problem.
    pub fn new(problem: &Problem) -> Self {
        Euclid { spans: Spans::new(&problem.attributes), attributes: problem.attributes.len() }
    }
}

impl Price for Euclid {
    fn merge(&self, clusters: &Clusters, at: u32, other: u32, _least: f64) -> f64 {
        (0..self.attributes)
            .map(|x| {
                let (a, b) = (clusters.ends(at, x), clusters.ends(other, x));
                self.spans.width(x, a.0.min(b.0), a.1.max(b.1))
            })
            .sum()
    }

    fn least_merge(&self, clusters: &Clusters, at: u32, branch: &Reach, _least: f64) -> f64 {
        (0..self.attributes)
            .map(|x| {
                let (low, high) = clusters.ends(at, x);
                let (low, high) = branch.least_union(x, low, high);
                self.spans.width(x, low, high)
            })
            .sum()
    }

    fn suppress(&self, _: &Clusters, _: u32) -> f64 {
        f64::INFINITY
    }

    fn least_suppress(&self, _: &Reach) -> f64 {
        f64::INFINITY
    }

    fn merged(&mut self, _: &Clusters, _: u32, _: u32) {}

    fn suppressed(&mut self, _: &Clusters, _: u32) {}

    fn total(&self) -> Option<f64> {
        None
    }
}
