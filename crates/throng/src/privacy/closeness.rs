//! t-closeness: no class may tell much more about the sensitive attribute than the whole table does.
//!
//! The distance is the earth mover's between the class's distribution and the table's (Li et al. 2007), over
//! one of three ground distances. It is convex in the class's distribution, so the model is monotone.

use std::sync::Arc;

use super::{About, Achieved, Histogram, Kind, Model, Part, ROUNDING, Spec, Tally};
use crate::data::{Data, Protected};
use crate::error::{Error, Result};
use crate::keys::Keys;
use crate::published::Published;
use crate::table::{Scale, Taxonomy};

/// The key `t`.
pub const KIND: Kind =
    Kind { key: "t", keys: &["t"], read, unasked: |_, published| reached(published, None) };

/// Closeness as a policy asks for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosenessSpec {
    /// How far a class may be from the table, 0 … 1.
    pub t: f64,
}

fn read(keys: &Keys<'_, '_>) -> Result<Option<Arc<dyn Spec>>> {
    let t = keys.share("t")?;
    keys.require_sensitive("t")?;
    Ok(t.map(|t| Arc::new(ClosenessSpec { t }) as Arc<dyn Spec>))
}

fn reached(published: &Published<'_>, most: Option<f64>) -> Option<Achieved> {
    let models: Vec<Closeness> =
        published.data.sensitive.iter().map(|counted| Closeness::new(1.0, 0, counted)).collect();
    let farthest = published.farthest(|at, counts| models[at].distance(counts));
    let meaning = "how far a class's sensitive values are from those of the whole table";
    Achieved::at_most("t", "t-closeness", meaning).about(About::Shares).farthest(&farthest, most)
}

impl Spec for ClosenessSpec {
    fn key(&self) -> &'static str {
        KIND.key
    }

    fn part(&self) -> Part {
        Part::T
    }

    fn keys(&self) -> toml::Table {
        toml::Table::from_iter([("t".to_owned(), toml::Value::Float(self.t))])
    }

    fn protects_sensitive(&self) -> bool {
        true
    }

    fn models(&self, sensitive: &[Protected]) -> Vec<Arc<dyn Model>> {
        let attributes = sensitive.iter().enumerate();
        attributes
            .map(|(at, counted)| Arc::new(Closeness::new(self.t, at, counted)) as Arc<dyn Model>)
            .collect()
    }

    fn measure(&self, published: &Published<'_>) -> Result<Vec<Achieved>> {
        Ok(reached(published, Some(self.t)).into_iter().collect())
    }
}

/// Every class is close to the table in one sensitive attribute.
#[derive(Clone, Debug)]
pub struct Closeness {
    t: f64,
    attribute: usize,
    ground: Ground,
    /// Share of each value in the table.
    table: Vec<f64>,
}

/// How far apart two sensitive values are.
#[derive(Clone, Debug)]
pub enum Ground {
    /// All alike: the distance is the total variation.
    Equal,
    /// By rank.
    Ordered,
    /// By the height of the lowest common ancestor.
    Hierarchical(Taxonomy),
}

impl Closeness {
    /// The model for a sensitive attribute: ordered for numbers, hierarchical where there is a hierarchy.
    pub fn new(t: f64, attribute: usize, counted: &Protected) -> Self {
        let ground = match counted.domain.scale() {
            Scale::Numeric { .. } => Ground::Ordered,
            Scale::Categorical(tree) if counted.has_hierarchy => Ground::Hierarchical(tree.clone()),
            Scale::Categorical(_) => Ground::Equal,
        };
        Closeness { t, attribute, ground, table: counted.shares() }
    }

    /// The distance of a class from the table, 0 … 1.
    pub fn distance(&self, counts: &Histogram) -> f64 {
        let total = counts.total() as f64;
        let excess = |value: usize| f64::from(counts.count(value as u32)) / total - self.table[value];
        match &self.ground {
            Ground::Equal => {
                let mut present: Vec<(u32, u32)> = counts.present().collect();
                present.sort_unstable();
                let excess = present.iter().map(|(value, _)| excess(*value as usize).max(0.0));
                excess.sum()
            }
            Ground::Ordered => ordered(self.table.len(), excess),
            Ground::Hierarchical(tree) => hierarchical(tree, excess),
        }
    }
}

/// Mean over the gaps between neighbours of what must be carried across.
fn ordered(values: usize, excess: impl Fn(usize) -> f64) -> f64 {
    if values < 2 {
        return 0.0;
    }
    let (mut carried, mut work) = (0.0, 0.0f64);
    for value in 0..values - 1 {
        carried += excess(value);
        work += f64::abs(carried);
    }
    work / (values - 1) as f64
}

/// At every inner node, what its children exchange travels its height.
fn hierarchical(tree: &Taxonomy, excess: impl Fn(usize) -> f64) -> f64 {
    let height = tree.height().max(1) as f64;
    let nodes = tree.nodes().len();
    let (mut sums, mut above, mut below) = (vec![0.0; nodes], vec![0.0; nodes], vec![0.0; nodes]);
    let mut work = 0.0;
    // Children come after their parents, so backwards every node is complete when it is met.
    for node in tree.nodes().rev() {
        let at = node.0 as usize;
        let leaves = tree.leaves_under(node);
        if tree.height_of(node) == 0 {
            sums[at] = excess(leaves.start);
        } else {
            work += tree.height_of(node) as f64 / height * f64::min(above[at], below[at]);
        }
        if let Some(parent) = tree.parent(node) {
            let parent = parent.0 as usize;
            sums[parent] += sums[at];
            above[parent] += f64::max(sums[at], 0.0);
            below[parent] += f64::max(-sums[at], 0.0);
        }
    }
    work
}

impl Model for Closeness {
    fn describe(&self) -> String {
        format!("{}-closeness", self.t)
    }

    fn part(&self) -> Part {
        Part::T
    }

    fn monotone(&self) -> bool {
        true
    }

    fn smallest_class(&self) -> usize {
        1
    }

    fn holds(&self, tally: &Tally) -> bool {
        // The table itself has distance 0, but for rounding.
        self.distance(tally.histogram(self.attribute)) <= self.t + ROUNDING
    }

    fn explain(&self, whole: &Tally, data: &Data) -> Error {
        // The whole table is at distance 0 of itself, so this cannot happen; say so rather than panic.
        let distance = self.distance(whole.histogram(self.attribute));
        Error::bug(format!("the table has distance {distance} to itself"))
            .for_attribute(&data.sensitive[self.attribute].name)
    }
}
