//! Drawing queries at random.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Condition, Query};
use crate::data::{Attribute, Data};
use crate::table::{NodeId, Scale, Taxonomy};

/// The stream of random numbers of drawn queries.
const STREAM: u64 = 12;

/// Draws queries with a condition on each of some attributes: a random interval of a numeric domain; for categories a
/// random value or, as often, the leaves below a random inner node. The seed is one of their own, so that
/// releases made with different seeds face the same queries.
pub fn draw(data: &Data, attributes: &[usize], sum: Option<usize>, count: usize, seed: u64) -> Vec<Query> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(STREAM);
    (0..count)
        .map(|_| {
            let mut conditions = vec![None; data.attributes.len()];
            for &at in attributes {
                conditions[at] = condition(&data.attributes[at], &mut random);
            }
            Query { name: in_words(data, sum, &conditions), sum, conditions }
        })
        .collect()
}

fn condition(attribute: &Attribute, random: &mut impl Rng) -> Option<Condition> {
    match attribute.domain.scale() {
        Scale::Numeric { values, .. } => {
            let (first, last) = (*values.first()?, *values.last()?);
            let mut end = || {
                let value = first + (last - first) * random.random::<f64>();
                if super::answer::is_whole(values) { (value + 0.5).floor().clamp(first, last) } else { value }
            };
            let (one, other) = (end(), end());
            Some(Condition::Between(one.min(other), one.max(other)))
        }
        Scale::Categorical(tree) => {
            let node = if random.random_bool(0.5) { leaf(tree, random) } else { inner(tree, random) };
            let leaves = tree.leaves_under(node);
            Some(Condition::Leaves(vec![(leaves.start as u32, leaves.end as u32)]))
        }
    }
}

fn leaf(tree: &Taxonomy, random: &mut impl Rng) -> NodeId {
    let at = random.random_range(0..tree.leaf_count());
    tree.ancestor(at, at)
}

fn inner(tree: &Taxonomy, random: &mut impl Rng) -> NodeId {
    let inner: Vec<NodeId> = tree.nodes().filter(|node| tree.height_of(*node) > 0).collect();
    inner[random.random_range(0..inner.len())]
}

/// What a query asks.
pub(crate) fn in_words(data: &Data, sum: Option<usize>, conditions: &[Option<Condition>]) -> String {
    let what = match sum {
        None => "COUNT".to_owned(),
        Some(at) => format!("SUM of {}", data.attributes[at].name),
    };
    let parts: Vec<String> = data
        .attributes
        .iter()
        .zip(conditions)
        .filter_map(|(attribute, condition)| Some(condition_in_words(attribute, condition.as_ref()?)))
        .collect();
    if parts.is_empty() { what } else { format!("{what} where {}", parts.join(", ")) }
}

fn condition_in_words(attribute: &Attribute, condition: &Condition) -> String {
    let name = &attribute.name;
    match (condition, attribute.domain.scale()) {
        (Condition::Leaves(ranges), Scale::Categorical(tree)) => {
            let label = |&(first, end): &(u32, u32)| {
                tree.label(tree.ancestor(first as usize, (end as usize).max(first as usize + 1) - 1))
                    .to_owned()
            };
            format!("{name} = {}", ranges.iter().map(label).collect::<Vec<_>>().join(" or "))
        }
        (Condition::Between(low, high), _) => format!("{low} ≤ {name} ≤ {high}"),
        (Condition::Leaves(_), Scale::Numeric { .. }) => name.clone(),
    }
}
