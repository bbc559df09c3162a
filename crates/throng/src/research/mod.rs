//! Research value: what a recoding is worth to those who will work with the table (Morton 2012).
//!
//! The value of an attribute at a level is its weight, times how much of its detail is left, times the share of its
//! data constraint rules that are kept:
//! * numbers: detail = Σ R⁰·N / Σ Rᵍ·N over the groups of the level, N their records and R the numbers they span
//!   (highest − lowest + one step; the step is 1 for whole numbers, else the smallest gap between two numbers);
//! * categories: detail = distinct labels of the level / distinct values;
//! * rules: (base + Σ importance kept) / (base + Σ importance of all); 1 without rules. Unless it is given, the base of an
//!   attribute is [`FITTING_BASE`] times the importance of all its rules. With none at all, an attribute whose rules are
//!   broken is worth nothing however wide it gets, and so loses the very pattern that a rule names.
//!
//! The most general level is worth nothing. Owners may give values of their own. The thesis's importance factor α
//! weighs detail against rules: `w · detail^(2(1 − α)) · rules^(2α)`, which is the plain product at α = ½.

pub mod association;

use crate::error::{Error, ErrorCode, Result};
use crate::loss::Kernel;
use crate::problem::{Attribute, Problem};
use crate::table::Scale;

/// The base of an attribute where none is given, as a multiple of the importance of all its rules.
///
/// An attribute with all rules broken then keeps three quarters of its value. With 0 its widths would no longer count, with 1
/// they grew by two fifths on 4,000 records of Adult at k = 10, with 3 by a twentieth, and with 9 a rule hardly mattered.
pub const FITTING_BASE: f64 = 3.0;

/// How research value is computed.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Keeps the value of an attribute above nothing when all of its rules are broken; in proportion to the importance of its
    /// rules if it is not given.
    pub base: Option<f64>,
    /// The importance factor α of rules against detail; ½ is the plain product.
    pub importance: f64,
    /// Values that the owner gives: attribute, and a value for each of its levels.
    pub given: Vec<(String, Vec<f64>)>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { base: None, importance: 0.5, given: Vec::new() }
    }
}

impl Settings {
    /// The share of rules that is kept.
    ///
    /// ```
    /// use throng::research::Settings;
    /// let thesis = Settings { base: Some(0.0), ..Settings::default() };
    /// assert_eq!(thesis.ratio(30.0, 40.0), 0.75);
    /// assert_eq!(Settings::default().ratio(30.0, 40.0), 0.9375);
    /// assert_eq!(thesis.ratio(0.0, 0.0), 1.0);
    /// ```
    pub fn ratio(&self, kept: f64, all: f64) -> f64 {
        let base = self.base.unwrap_or(FITTING_BASE * all);
        if base + all > 0.0 { (base + kept) / (base + all) } else { 1.0 }
    }

    /// The value of an attribute of which so much detail and so much of the rules is left.
    pub fn value(&self, weight: f64, detail: f64, ratio: f64) -> f64 {
        if self.importance == 0.5 {
            return weight * detail * ratio;
        }
        weight * detail.powf(2.0 * (1.0 - self.importance)) * ratio.powf(2.0 * self.importance)
    }
}

/// The detail that groups of numbers leave: records and span of each group of the level, and of the raw values.
///
/// ```
/// let detail = throng::research::detail(&[(125, 1.0)], &[(25, 10.0), (45, 15.0), (55, 25.0)]);
/// assert_eq!(detail, 125.0 / 2300.0);
/// ```
pub fn detail(raw: &[(u64, f64)], groups: &[(u64, f64)]) -> f64 {
    let sum =
        |groups: &[(u64, f64)]| groups.iter().map(|(records, span)| *records as f64 * span).sum::<f64>();
    sum(raw) / sum(groups)
}

/// How many values a stretch of codes spans, for every attribute.
#[derive(Clone, Debug)]
pub struct Spans {
    kernel: Kernel,
    shapes: Vec<Shape>,
}

/// From an unweighted penalty to a span: `max(least, scale · penalty + step)`.
#[derive(Clone, Copy, Debug)]
struct Shape {
    scale: f64,
    step: f64,
    least: f64,
}

impl Spans {
    /// The spans of some attributes.
    pub fn new(attributes: &[Attribute]) -> Self {
        let unweighted: Vec<Attribute> =
            attributes.iter().map(|attribute| Attribute { weight: 1.0, ..attribute.clone() }).collect();
        Spans {
            kernel: Kernel::new(&unweighted),
            shapes: attributes.iter().map(|attribute| Shape::of(&attribute.domain)).collect(),
        }
    }

    /// How many values `low ..= high` spans: numbers by their distance, categories by the leaves below their label.
    #[inline(always)]
    pub fn span(&self, attribute: usize, low: u32, high: u32) -> f64 {
        let Shape { scale, step, least } = self.shapes[attribute];
        (scale * self.kernel.penalty(attribute, low as usize, high as usize) + step).max(least)
    }

    /// How many values a cell of an unweighted penalty spans.
    pub fn of_penalty(&self, attribute: usize, penalty: f64) -> f64 {
        let Shape { scale, step, least } = self.shapes[attribute];
        (scale * penalty + step).max(least)
    }

    /// How many values the attribute spans in all.
    pub fn whole(&self, attribute: usize) -> f64 {
        let Shape { scale, step, least } = self.shapes[attribute];
        (scale + step).max(least)
    }

    /// The width of `low ..= high`: the distance of its ends for numbers, nothing for a single category.
    #[inline]
    pub fn width(&self, attribute: usize, low: u32, high: u32) -> f64 {
        self.shapes[attribute].scale * self.kernel.penalty(attribute, low as usize, high as usize)
    }
}

impl Shape {
    fn of(domain: &crate::table::Domain) -> Self {
        match domain.scale() {
            Scale::Categorical(tree) => Shape { scale: tree.leaf_count() as f64, step: 0.0, least: 1.0 },
            Scale::Numeric { values, .. } => {
                let width = match values[..] {
                    [first, .., last] => last - first,
                    _ => 0.0,
                };
                Shape { scale: width.min(f64::MAX), step: step(values), least: 0.0 }
            }
        }
    }
}

/// 1 for whole numbers, otherwise the smallest gap between two numbers.
fn step(values: &[f64]) -> f64 {
    if values.iter().all(|value| value.fract() == 0.0) {
        return 1.0;
    }
    values.windows(2).map(|pair| pair[1] - pair[0]).reduce(f64::min).unwrap_or(1.0)
}

/// The research value of every attribute at each of its levels.
pub fn level_values(problem: &Problem, settings: &Settings) -> Result<Vec<Vec<f64>>> {
    let names: Vec<&str> = problem.attributes.iter().map(|attribute| attribute.name.as_str()).collect();
    if let Some((unknown, _)) = settings.given.iter().find(|(name, _)| !names.contains(&name.as_str())) {
        return Err(Error::new(
            ErrorCode::UnknownAttribute,
            format!("research_values names \"{unknown}\", which is not generalized"),
        )
        .with_hint(format!("the quasi-identifiers are {}", names.join(", "))));
    }
    let spans = Spans::new(&problem.attributes);
    (0..names.len())
        .map(|at| match settings.given.iter().find(|(name, _)| name == names[at]) {
            Some((name, values)) => given(problem, at, name, values),
            None => Ok(computed(problem, settings, &spans, at)),
        })
        .collect()
}

fn given(problem: &Problem, attribute: usize, name: &str, values: &[f64]) -> Result<Vec<f64>> {
    let levels = problem.attributes[attribute].domain.levels();
    match values.len() {
        // What is most general is worth nothing unless the owner says so.
        len if len + 1 == levels => Ok(values.iter().copied().chain([0.0]).collect()),
        len if len == levels => Ok(values.to_vec()),
        len => Err(Error::new(
            ErrorCode::BadOption,
            format!("research_values gives \"{name}\" {len} values, but it has {levels} levels"),
        )
        .with_hint(
            "give one value per level, from the values themselves to *; the one of * may be left out",
        )),
    }
}

fn computed(problem: &Problem, settings: &Settings, spans: &Spans, at: usize) -> Vec<f64> {
    let attribute = &problem.attributes[at];
    let domain = &attribute.domain;
    let mut records = vec![0u64; domain.len()];
    (0..problem.len()).for_each(|record| records[problem.records.code(record, at) as usize] += 1);
    let raw: Vec<(u64, f64)> =
        (0..).zip(&records).map(|(code, records)| (*records, spans.span(at, code, code))).collect();
    (0..domain.levels())
        .map(|level| {
            if level + 1 == domain.levels() {
                return 0.0;
            }
            let ends = domain.at_level(level);
            let detail = match domain.scale() {
                Scale::Numeric { .. } => {
                    let groups: Vec<(u64, f64)> = ends
                        .iter()
                        .zip(&records)
                        .map(|((low, high), records)| (*records, spans.span(at, *low, *high)))
                        .collect();
                    detail(&raw, &groups)
                }
                Scale::Categorical(_) => distinct(&ends) as f64 / domain.len() as f64,
            };
            let broken = |rule: &crate::rules::BoundRule| ends.iter().any(|ends| rule.broken_by(*ends));
            let (kept, all) = problem.rules.kept(at, broken);
            settings.value(attribute.weight, detail, settings.ratio(kept, all))
        })
        .collect()
}

/// Number of different stretches; equal ones follow each other.
fn distinct(ends: &[(u32, u32)]) -> usize {
    ends.chunk_by(|a, b| a == b).count()
}
