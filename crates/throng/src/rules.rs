//! Data constraint rules: what should stay apart in a release (Morton 2012).
//!
//! A rule has two sides, stretches of codes of one attribute that do not meet: the numbers up to p and those from q
//! on, or the leaves below two labels. A published cell that covers values of both sides breaks it, whoever is in the
//! class: a recipient sees the cell and nothing else. So `*` breaks every rule of its attribute.
//!
//! A *hard* rule must not be broken. Hard rules divide the records into parts that no class may join: for categories
//! below the highest labels that break no hard rule, for numbers at the cuts (numbers inside of a cut go to its nearer
//! end). As requirements are monotone, a release that keeps them exists exactly if every part meets the requirement by
//! itself; [`crate::method`] finds the parts, and solves them one by one for methods that know nothing of rules.

use crate::data::Attribute;
use crate::error::{Error, ErrorCode, Result};
use crate::keys::source::Source;
use crate::schema::spelling::{Measured, time_of_day};
use crate::schema::{Apart, Rule, Spelling};
use crate::table::domain::guess_spelling;
use crate::table::{Domain, Scale, Taxonomy, value};
use crate::words::shorten;

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
    /// The rules that are written for some attributes. Errors point into the text that they come from.
    pub(crate) fn bind<'a>(
        attributes: &[Attribute],
        written: impl Fn(&str) -> &'a [Rule],
        source: Source<'_>,
    ) -> Result<Self> {
        let mut rules = Vec::new();
        for (at, attribute) in attributes.iter().enumerate() {
            for rule in written(&attribute.name) {
                let bound = bind(rule, at, &attribute.domain).map_err(|error| {
                    source.point(error.for_attribute(&attribute.name), &rule.span, "in this rule")
                })?;
                rules.push(bound);
            }
        }
        Ok(Rules { rules })
    }

    /// Gives numbers a level of bands between their cuts, for methods that recode by levels: the coarsest that keeps all rules.
    pub(crate) fn add_bands(&self, attributes: &mut [Attribute]) {
        for (at, attribute) in attributes.iter_mut().enumerate() {
            let cuts = self.of(at).filter(|rule| rule.numbers.is_some());
            let mut starts: Vec<u32> = cuts.filter_map(|rule| rule.sides).map(|(_, upper)| upper).collect();
            starts.sort_unstable();
            starts.dedup();
            if !starts.is_empty() {
                attribute.domain.add_bands(&starts);
            }
        }
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
    pub(crate) fn without(&self, left_out: usize) -> Self {
        let rules = self.rules.iter().enumerate().filter(|(at, _)| *at != left_out);
        Rules { rules: rules.map(|(_, rule)| rule.clone()).collect() }
    }

    /// The numbers between the parts that hard cuts divide an attribute into, ascending: those up to one of them, and
    /// those above it, are apart.
    pub fn borders(&self, attribute: usize) -> Vec<f64> {
        let hard = self.of(attribute).filter(|rule| rule.hard && rule.sides.is_some());
        let mut borders: Vec<f64> =
            hard.filter_map(|rule| rule.numbers).map(|(p, q)| f64::midpoint(p, q)).collect();
        borders.sort_unstable_by(f64::total_cmp);
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
        Apart::Cut(p, q) => {
            of_measure(domain, Measured::Numbers)?;
            (format!("{p} | {q}"), Some((*p, *q)), cut(domain, *p, *q)?)
        }
        Apart::Moments(p, q) => {
            let (first, second) = moments(domain, p, q)?;
            (format!("{p} | {q}"), Some((first, second)), cut(domain, first, second)?)
        }
        Apart::Values(a, b) => (format!("{} | {}", shorten(a), shorten(b)), None, Some(apart(domain, a, b)?)),
    };
    Ok(BoundRule { attribute, text, importance: rule.importance, hard: rule.hard, numbers, sides })
}

/// An error unless the values of a domain are numbers, or all of them dates or times.
fn of_measure(domain: &Domain, wanted: Measured) -> Result<()> {
    let Some(spelling) = spelling(domain) else { return Ok(()) };
    let own = spelling.measured();
    if own == wanted {
        return Ok(());
    }
    let message = format!("cut is between {}, but this attribute holds {}", wanted.words(), own.words());
    Err(Error::new(ErrorCode::WrongKind, message)
        .with_hint(format!("write both ends like {}, whatever the table spells", own.example())))
}

/// How the numbers of a domain are spelt, also of one whose categories are numbers.
fn spelling(domain: &Domain) -> Option<Spelling> {
    match domain.scale() {
        Scale::Numeric { spelling, .. } => Some(spelling.clone()),
        Scale::Categorical(_) => {
            let codes = (0..domain.len() as u32).filter(|code| domain.missing() != Some(*code));
            guess_spelling(codes.map(|code| domain.label(code)))
        }
    }
}

/// The ends of a cut between dates or times, as the domain counts them.
fn moments(domain: &Domain, p: &str, q: &str) -> Result<(f64, f64)> {
    let dates = value::date(p).zip(value::date(q));
    let wanted = if dates.is_some() { Measured::Dates } else { Measured::Times };
    of_measure(domain, wanted)?;
    let ends = dates.or_else(|| time_of_day(p).zip(time_of_day(q)));
    ends.ok_or_else(|| Error::new(ErrorCode::BadRule, "cut is neither of dates nor of times of day"))
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
    let spelling = spelling(domain).unwrap_or(Spelling::Point);
    let numbers: Option<Vec<f64>> = codes.map(|code| spelling.read(domain.label(code))).collect();
    match numbers {
        Some(numbers)
            if numbers.is_sorted() && domain.missing().is_none_or(|code| code as usize == numbers.len()) =>
        {
            Ok(numbers)
        }
        _ => Err(Error::new(ErrorCode::WrongKind, "cut is for numbers, but this attribute is categorical")
            .with_hint("use apart = […] for two values, or write kind = \"numeric\"")),
    }
}

/// The sides of a rule between two labels: the leaves below each.
fn apart(domain: &Domain, a: &str, b: &str) -> Result<(u32, u32)> {
    let Scale::Categorical(tree) = domain.scale() else {
        return Err(Error::new(
            ErrorCode::WrongKind,
            "apart is for categories, but this attribute is numeric",
        )
        .with_hint("use cut = […], or write kind = \"categorical\""));
    };
    let leaves = |label: &str| {
        let nodes = tree.nodes().filter(|node| tree.label(*node) == label);
        let widest = nodes.map(|node| tree.leaves_under(node)).max_by_key(std::ops::Range::len);
        widest.ok_or_else(|| {
            Error::new(
                ErrorCode::UnknownValue,
                format!("\"{}\" is no value of this attribute", shorten(label)),
            )
            .with_hint("check its spelling, or leave the rule out")
        })
    };
    let (a, b) = (leaves(a)?, leaves(b)?);
    let (lower, upper) = if a.start <= b.start { (a, b) } else { (b, a) };
    if lower.end > upper.start {
        return Err(Error::new(
            ErrorCode::BadRule,
            "the two sides of this rule are not apart: one is a kind of the other",
        ));
    }
    Ok((lower.end as u32 - 1, upper.start as u32))
}
