//! Drawing queries at random.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Aggregate, Answerer, Column, Condition, Place, Query};
use crate::data::Data;
use crate::parallel;
use crate::table::{Domain, NodeId, Scale, Taxonomy};

/// How often as many queries are drawn as are wanted, before too few of them match.
const MOST_ROUNDS: usize = 100;

/// The stream of random numbers of drawn queries.
const STREAM: u64 = 12;

/// Draws queries with a condition on each of some attributes: a random interval of a numeric domain; for categories a
/// random value or, as often, the leaves below a random inner node. The seed is one of their own, so that
/// releases made with different seeds face the same queries.
pub fn draw(data: &Data, attributes: &[usize], sum: Option<usize>, count: usize, seed: u64) -> Vec<Query> {
    let places: Vec<Place> = attributes.iter().map(|at| Place::Quasi(*at)).collect();
    let aggregate = sum.map_or(Aggregate::Count, |at| Aggregate::Sum(Place::Quasi(at)));
    let mut drawing = Drawing::new(data, &[], places, aggregate, seed);
    (0..count).map(|_| drawing.next_query()).collect()
}

/// Queries drawn one after the other.
pub struct Drawing<'a> {
    data: &'a Data,
    further: &'a [Column<'a>],
    restricted: Vec<Place>,
    aggregate: Aggregate,
    random: ChaCha8Rng,
}

impl<'a> Drawing<'a> {
    /// Queries with a condition on each of some columns.
    pub fn new(
        data: &'a Data,
        further: &'a [Column<'a>],
        restricted: Vec<Place>,
        aggregate: Aggregate,
        seed: u64,
    ) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(STREAM);
        Drawing { data, further, restricted, aggregate, random }
    }

    /// The next one.
    pub fn next_query(&mut self) -> Query {
        let mut conditions = vec![None; self.data.attributes.len()];
        let mut further = Vec::new();
        for place in &self.restricted {
            match *place {
                Place::Quasi(at) => {
                    conditions[at] = condition(&self.data.attributes[at].domain, &mut self.random);
                }
                Place::Further(at) => {
                    let drawn = condition(&self.further[at].domain, &mut self.random);
                    further.extend(drawn.map(|condition| (at, condition)));
                }
            }
        }
        let aggregate = self.aggregate;
        let mut query = Query { name: String::new(), aggregate, conditions, further };
        query.name = in_words(self.data, self.further, &query);
        query
    }

    /// So many that look at no less than a number of records each; fewer if too few of those that are drawn do.
    pub fn that_match(&mut self, count: usize, least: f64) -> Vec<Query> {
        let answerer = Answerer::with(self.data, self.further);
        let mut found = Vec::new();
        for _ in 0..MOST_ROUNDS {
            let drawn: Vec<Query> = (0..count).map(|_| self.next_query()).collect();
            let keeps = |query: &Query| answerer.matching(query) >= least;
            let kept: Vec<bool> = parallel::map(&drawn, keeps);
            found.extend(drawn.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|(query, _)| query));
            if found.len() >= count {
                found.truncate(count);
                break;
            }
        }
        found
    }
}

fn condition(domain: &Domain, random: &mut impl Rng) -> Option<Condition> {
    match domain.scale() {
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
pub(crate) fn in_words(data: &Data, further: &[Column<'_>], query: &Query) -> String {
    let named = |place: Place| match place {
        Place::Quasi(at) => data.attributes[at].name.as_str(),
        Place::Further(at) => &further[at].name,
    };
    let what = match query.aggregate {
        Aggregate::Count => "COUNT".to_owned(),
        Aggregate::Sum(place) => format!("SUM of {}", named(place)),
        Aggregate::Average(place) => format!("AVG of {}", named(place)),
    };
    let quasi = data.attributes.iter().zip(&query.conditions).filter_map(|(attribute, condition)| {
        Some(condition_in_words(&attribute.name, &attribute.domain, condition.as_ref()?))
    });
    let others = query
        .further
        .iter()
        .map(|(at, condition)| condition_in_words(&further[*at].name, &further[*at].domain, condition));
    let parts: Vec<String> = quasi.chain(others).collect();
    if parts.is_empty() { what } else { format!("{what} where {}", parts.join(", ")) }
}

fn condition_in_words(name: &str, domain: &Domain, condition: &Condition) -> String {
    match (condition, domain.scale()) {
        (Condition::Leaves(ranges), Scale::Categorical(tree)) => {
            let label = |&(first, end): &(u32, u32)| {
                tree.label(tree.ancestor(first as usize, (end as usize).max(first as usize + 1) - 1))
                    .to_owned()
            };
            format!("{name} = {}", ranges.iter().map(label).collect::<Vec<_>>().join(" or "))
        }
        (Condition::Between(low, high), _) => format!("{low} ≤ {name} ≤ {high}"),
        (Condition::Leaves(_), Scale::Numeric { .. }) => name.to_owned(),
    }
}
