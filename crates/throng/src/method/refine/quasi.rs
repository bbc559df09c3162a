//! The quasi-identifiers of a problem, each with its own k.

use crate::privacy::Judge;
use crate::problem::Problem;

/// A [`crate::privacy::QuasiIdentifier`] in codes: attributes whose published combinations must be shared by at least k
/// records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Qid {
    /// The attributes, ascending.
    pub attributes: Vec<usize>,
    /// How many records must share each combination.
    pub k: u32,
}

impl Qid {
    /// Whether it holds an attribute.
    pub fn contains(&self, attribute: usize) -> bool {
        self.attributes.binary_search(&attribute).is_ok()
    }

    /// Whether another one that holds is enough for this one to hold.
    fn follows_from(&self, other: &Qid) -> bool {
        self.k <= other.k && self.attributes.iter().all(|attribute| other.contains(*attribute))
    }

    /// Its attributes and k, for people.
    pub fn describe(&self, problem: &Problem) -> String {
        format!("({}) with k = {}", self.names(problem).join(", "), self.k)
    }

    /// The names of its attributes.
    pub fn names(&self, problem: &Problem) -> Vec<String> {
        self.attributes.iter().map(|attribute| problem.attributes[*attribute].name.clone()).collect()
    }
}

/// All attributes of some quasi-identifiers as one, with the largest k: where it is safe, so is each of them.
pub(super) fn union(problem: &Problem, qids: &[Qid]) -> Qid {
    let attributes = (0..problem.attributes.len()).filter(|at| qids.iter().any(|qid| qid.contains(*at)));
    Qid { attributes: attributes.collect(), k: qids.iter().map(|qid| qid.k).max().unwrap_or(1) }
}

/// The quasi-identifiers that matter, and in words those that follow from another, each with that one.
///
/// What is asked of classes beyond their size is asked of the combination of all attributes, which then is a
/// quasi-identifier as well, with k = 1 if no other is given.
pub fn quasi_identifiers(problem: &Problem) -> (Vec<Qid>, Vec<(String, String)>) {
    let all: Vec<usize> = (0..problem.attributes.len()).collect();
    let place = |name: &String| problem.attributes.iter().position(|attribute| attribute.name == *name);
    let mut asked: Vec<Qid> = problem
        .requirement
        .quasi_identifiers()
        .iter()
        .map(|linked| {
            let mut attributes = match &linked.attributes {
                Some(names) => names.iter().filter_map(place).collect(),
                None => all.clone(),
            };
            attributes.sort_unstable();
            attributes.dedup();
            Qid { attributes, k: u32::try_from(linked.k).unwrap_or(u32::MAX) }
        })
        .collect();
    if problem.people.is_some() {
        // Counts here are those of records. Classes of so many people over all attributes keep each of them safe; the
        // judge sees to that.
        asked = vec![Qid { attributes: all.clone(), k: asked.iter().map(|qid| qid.k).max().unwrap_or(1) }];
    }
    let whole = asked.iter().any(|qid| qid.attributes.len() == all.len());
    if !whole && (asked.is_empty() || Judge::beyond_size(problem).is_some()) {
        asked.push(Qid { attributes: all, k: 1 });
    }
    let mut kept: Vec<Qid> = Vec::new();
    let mut follow = Vec::new();
    for (at, qid) in asked.iter().enumerate() {
        let covers = |(other_at, other): &(usize, &Qid)| {
            *other_at != at && qid.follows_from(other) && (!other.follows_from(qid) || *other_at < at)
        };
        match asked.iter().enumerate().find(covers) {
            None => kept.push(qid.clone()),
            Some((_, other)) => follow.push((qid.describe(problem), other.describe(problem))),
        }
    }
    (kept, follow)
}
