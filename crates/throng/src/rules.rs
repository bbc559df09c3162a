//! Data constraint rules: what should stay apart in a release (Morton 2012).
//!
//! A rule has two sides, stretches of codes of one attribute that do not meet: the numbers up to p and those from q
//! on, or the leaves below two labels. A published cell that covers values of both sides breaks it, whoever is in the
//! class: a recipient sees the cell and nothing else. So `*` breaks every rule of its attribute.
//!
//! A *hard* rule must not be broken. Hard rules divide the records into parts that no class may join: for categories
//! below the highest labels that break no hard rule, for numbers at the cuts (numbers inside of a cut go to its nearer
//! end). As requirements are monotone, a release that keeps them exists exactly if every part meets the requirement by
//! itself; [`Division::of`] finds the parts, and [`crate::method`] solves them one by one for methods that know nothing
//! of rules.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::policy::{Apart, Policy, Rule};
use crate::privacy::Judge;
use crate::problem::{Attribute, Problem};
use crate::table::domain::shorten;
use crate::table::{Domain, Scale, Taxonomy, value};

/// The rules of a problem, in the order of its attributes.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    rules: Vec<BoundRule>,
}

/// A rule in codes.
#[derive(Clone, Debug)]
pub struct BoundRule {
    /// The attribute it is about.
    pub attribute: usize,
    /// What it keeps apart, for people: `64 | 65`.
    pub text: String,
    /// How much it matters.
    pub importance: f64,
    /// Whether it must never be broken.
    pub hard: bool,
    /// The numbers p and q of a cut.
    numbers: Option<(f64, f64)>,
    /// The last code of the lower side and the first of the upper one; none if the table has but one side.
    sides: Option<(u32, u32)>,
}

impl BoundRule {
    /// Whether a cell that covers the codes `low ..= high` breaks it.
    pub fn broken_by(&self, (low, high): (u32, u32)) -> bool {
        self.sides.is_some_and(|(lower, upper)| low <= lower && high >= upper)
    }

    /// Whether a cell that covers the numbers `low ..= high` breaks it.
    pub(crate) fn broken_by_numbers(&self, (low, high): (f64, f64)) -> bool {
        self.numbers.is_some_and(|(p, q)| low <= p && high >= q)
    }
}

impl Rules {
    /// The rules of a policy over the attributes of a problem.
    pub fn bind(policy: &Policy, attributes: &[Attribute]) -> Result<Self> {
        let mut rules = Vec::new();
        for (at, attribute) in attributes.iter().enumerate() {
            let Some(written) = policy.attributes.get(&attribute.name) else { continue };
            for rule in &written.rules {
                let bound = bind(rule, at, &attribute.domain).map_err(|error| {
                    policy.point(error.for_attribute(&attribute.name), &rule.span, "in this rule")
                })?;
                rules.push(bound);
            }
        }
        Ok(Rules { rules })
    }

    /// All rules.
    pub fn iter(&self) -> impl Iterator<Item = &BoundRule> {
        self.rules.iter()
    }

    /// The rules of one attribute.
    pub fn of(&self, attribute: usize) -> impl Iterator<Item = &BoundRule> {
        self.rules.iter().filter(move |rule| rule.attribute == attribute)
    }

    /// Whether some rule must never be broken.
    pub fn any_hard(&self) -> bool {
        self.rules.iter().any(|rule| rule.hard)
    }

    /// Σ importance of the rules of an attribute that a set of published ranges keeps, and of all of them.
    pub fn kept(&self, attribute: usize, published: impl Fn(&BoundRule) -> bool) -> (f64, f64) {
        self.of(attribute).fold((0.0, 0.0), |(kept, all), rule| {
            (kept + if published(rule) { 0.0 } else { rule.importance }, all + rule.importance)
        })
    }

    /// All but one rule.
    fn without(&self, left_out: usize) -> Self {
        let rules = self.rules.iter().enumerate().filter(|(at, _)| *at != left_out);
        Rules { rules: rules.map(|(_, rule)| rule.clone()).collect() }
    }

    /// The numbers between the parts that hard cuts divide an attribute into, ascending: those up to one of them, and
    /// those above it, are apart.
    pub fn borders(&self, attribute: usize) -> Vec<f64> {
        let hard = self.of(attribute).filter(|rule| rule.hard && rule.sides.is_some());
        let mut borders: Vec<f64> =
            hard.filter_map(|rule| rule.numbers).map(|(p, q)| f64::midpoint(p, q)).collect();
        borders.sort_by(f64::total_cmp);
        borders
    }

    /// For each code of an attribute the part of the domain that it may be published with, if hard rules divide it:
    /// the lowest and highest code of the part.
    pub fn parts(&self, attribute: usize, domain: &Domain) -> Option<Vec<(u32, u32)>> {
        let hard: Vec<&BoundRule> =
            self.of(attribute).filter(|rule| rule.hard && rule.sides.is_some()).collect();
        if hard.is_empty() {
            return None;
        }
        Some(match domain.scale() {
            Scale::Categorical(tree) => (0..domain.len()).map(|leaf| highest(tree, leaf, &hard)).collect(),
            Scale::Numeric { values, .. } => stretches(values, domain.missing(), &hard),
        })
    }
}

/// The leaves below the highest ancestor of a leaf that breaks no rule.
fn highest(tree: &Taxonomy, leaf: usize, hard: &[&BoundRule]) -> (u32, u32) {
    let mut best = (leaf as u32, leaf as u32);
    let mut node = tree.ancestor(leaf, leaf);
    while let Some(parent) = tree.parent(node) {
        let leaves = tree.leaves_under(parent);
        let ends = (leaves.start as u32, leaves.end as u32 - 1);
        if hard.iter().any(|rule| rule.broken_by(ends)) {
            break;
        }
        (best, node) = (ends, parent);
    }
    best
}

/// The stretches of numbers between cuts; missing is apart from all of them, as a cell of both would be `*`.
fn stretches(values: &[f64], missing: Option<u32>, hard: &[&BoundRule]) -> Vec<(u32, u32)> {
    let mut starts = vec![0u32];
    for rule in hard {
        let (Some((lower, upper)), Some((p, q))) = (rule.sides, rule.numbers) else { continue };
        let nearer = (lower + 1..upper).find(|code| values[*code as usize] - p > q - values[*code as usize]);
        starts.push(nearer.unwrap_or(upper));
    }
    starts.sort_unstable();
    starts.dedup();
    let end = |at: usize| starts.get(at + 1).map_or(values.len() as u32, |next| *next) - 1;
    let mut parts = Vec::with_capacity(values.len() + 1);
    for (at, start) in starts.iter().enumerate() {
        parts.extend((*start..=end(at)).map(|_| (*start, end(at))));
    }
    parts.extend(missing.map(|code| (code, code)));
    parts
}

fn bind(rule: &Rule, attribute: usize, domain: &Domain) -> Result<BoundRule> {
    let (text, numbers, sides) = match &rule.apart {
        Apart::Cut(p, q) => (format!("{p} | {q}"), Some((*p, *q)), cut(domain, *p, *q)?),
        Apart::Values(a, b) => (format!("{} | {}", shorten(a), shorten(b)), None, Some(apart(domain, a, b)?)),
    };
    Ok(BoundRule { attribute, text, importance: rule.importance, hard: rule.hard, numbers, sides })
}

/// The sides of a cut between numbers; categories that are numbers in ascending order have one too.
fn cut(domain: &Domain, p: f64, q: f64) -> Result<Option<(u32, u32)>> {
    let numbers: Vec<f64> = match domain.scale() {
        Scale::Numeric { values, .. } => values.clone(),
        Scale::Categorical(_) => leaf_numbers(domain)?,
    };
    let lower = numbers.partition_point(|number| *number <= p);
    let upper = numbers.partition_point(|number| *number < q);
    Ok((lower > 0 && upper < numbers.len()).then(|| (lower as u32 - 1, upper as u32)))
}

fn leaf_numbers(domain: &Domain) -> Result<Vec<f64>> {
    let codes = (0..domain.len() as u32).filter(|code| domain.missing() != Some(*code));
    let numbers: Option<Vec<f64>> = codes.map(|code| value::number(domain.label(code))).collect();
    match numbers {
        Some(numbers)
            if numbers.is_sorted() && domain.missing().is_none_or(|code| code as usize == numbers.len()) =>
        {
            Ok(numbers)
        }
        _ => Err(Error::input("cut is for numbers, but this attribute is categorical")
            .with_hint("use apart = […] for two values, or write kind = \"numeric\"")),
    }
}

/// The sides of a rule between two labels: the leaves below each.
fn apart(domain: &Domain, a: &str, b: &str) -> Result<(u32, u32)> {
    let Scale::Categorical(tree) = domain.scale() else {
        return Err(Error::input("apart is for categories, but this attribute is numeric")
            .with_hint("use cut = […], or write kind = \"categorical\""));
    };
    let leaves = |label: &str| {
        let nodes = tree.nodes().filter(|node| tree.label(*node) == label);
        let widest = nodes.map(|node| tree.leaves_under(node)).max_by_key(std::ops::Range::len);
        widest.ok_or_else(|| {
            Error::input(format!("\"{}\" is no value of this attribute", shorten(label)))
                .with_hint("check its spelling, or leave the rule out")
        })
    };
    let (a, b) = (leaves(a)?, leaves(b)?);
    let (lower, upper) = if a.start <= b.start { (a, b) } else { (b, a) };
    if lower.end > upper.start {
        return Err(Error::input("the two sides of this rule are not apart: one is a kind of the other"));
    }
    Ok((lower.end as u32 - 1, upper.start as u32))
}

/// The records of a problem in parts that hard rules keep apart.
#[derive(Clone, Debug)]
pub struct Division {
    /// The parts that can be published, by their first record.
    pub parts: Vec<Vec<u32>>,
    /// The records of parts that cannot meet the requirement, where they may be suppressed; ascending.
    pub suppressed: Vec<u32>,
}

impl Division {
    /// Divides the records of a problem. An error says which rule stands in the way if a part cannot meet the
    /// requirement and has too many records to be suppressed.
    pub fn of(problem: &Problem) -> Result<Self> {
        let (parts, suppressed) = divide(problem, &problem.rules);
        if suppressed.len() > problem.suppressible {
            return Err(in_the_way(problem, suppressed.len()));
        }
        Ok(Division { parts, suppressed })
    }
}

fn divide(problem: &Problem, rules: &Rules) -> (Vec<Vec<u32>>, Vec<u32>) {
    let judge = Judge::new(problem);
    let parts = parts_of(problem, rules).into_iter();
    let (good, bad): (Vec<_>, Vec<_>) = parts.partition(|part| judge.holds(part.iter().copied()));
    let mut suppressed = bad.concat();
    suppressed.sort_unstable();
    (good, suppressed)
}

/// The records in parts that rules keep apart, by their first record; one part of all of them where no rule does.
pub(crate) fn parts_of(problem: &Problem, rules: &Rules) -> Vec<Vec<u32>> {
    let divided: Vec<(usize, Vec<(u32, u32)>)> = problem
        .attributes
        .iter()
        .enumerate()
        .filter_map(|(at, attribute)| Some((at, rules.parts(at, &attribute.domain)?)))
        .collect();
    let mut place: BTreeMap<Vec<u32>, usize> = BTreeMap::new();
    let mut parts: Vec<Vec<u32>> = Vec::new();
    let mut key = Vec::with_capacity(divided.len());
    for record in 0..problem.len() {
        key.clear();
        key.extend(divided.iter().map(|(at, parts)| parts[problem.records.code(record, *at) as usize].0));
        let at = match place.get(&key) {
            Some(at) => *at,
            None => {
                place.insert(key.clone(), parts.len());
                parts.push(Vec::new());
                parts.len() - 1
            }
        };
        parts[at].push(record as u32);
    }
    parts
}

/// Which rule stands in the way: one without which it could be done, or all of them together.
fn in_the_way(problem: &Problem, short: usize) -> Error {
    let name = |rule: &BoundRule| format!("{} of \"{}\"", rule.text, problem.attributes[rule.attribute].name);
    let hard = || problem.rules.rules.iter().enumerate().filter(|(_, rule)| rule.hard);
    let alone =
        hard().find(|(at, _)| divide(problem, &problem.rules.without(*at)).1.len() <= problem.suppressible);
    let who = match alone {
        Some((_, rule)) => format!("the hard rule {} stands", name(rule)),
        None => format!(
            "the hard rules {} stand together",
            hard().map(|(_, rule)| name(rule)).collect::<Vec<_>>().join(", ")
        ),
    };
    Error::requirement(format!(
        "{who} in the way: parts of the table with {short} records cannot meet the requirement on their own"
    ))
    .with_hint("drop `hard` from the rule, ask for less privacy, or allow `suppress` under [privacy]")
}
