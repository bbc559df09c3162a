//! What a release achieves of one thing that was asked for, as a figure and in words.

use serde::{Deserialize, Serialize};

/// A requirement beside what a release reaches of it. Field names are keys of the JSON report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Achieved {
    /// The kind of requirement: a key of `[privacy]`.
    pub key: String,
    /// The attributes it is about, where it is not about all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<String>,
    /// Its name: `k-anonymity`, `l-diversity (entropy)`.
    pub name: String,
    /// What the figure means, in plain words.
    pub meaning: String,
    /// What it is about.
    #[serde(default)]
    pub about: About,
    /// Whether more or less of it protects better.
    pub bound: Bound,
    /// What was asked for; `None` if it was only measured.
    pub asked: Option<Figure>,
    /// What was reached; `None` if it cannot be measured.
    pub reached: Option<Figure>,
    /// Whether it holds; `None` if nothing was asked for.
    pub holds: Option<bool>,
    /// What does not hold, one sentence each.
    #[serde(skip)]
    pub violations: Vec<String>,
}

/// What a requirement is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum About {
    /// How many records a class has, or what its cells say.
    #[default]
    Records,
    /// Which sensitive values a class has.
    Values,
    /// How often a class has each sensitive value.
    Shares,
}

/// On which side of what was asked for a release must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// Not below it.
    AtLeast,
    /// Not above it.
    AtMost,
}

/// A figure of a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Figure {
    /// So many.
    Count(u64),
    /// Any number.
    Number(f64),
}

impl Figure {
    /// As a number.
    pub fn value(self) -> f64 {
        match self {
            Figure::Count(count) => count as f64,
            Figure::Number(number) => number,
        }
    }
}

/// Figures that are equal on paper may differ in the last bits.
pub const TOLERANCE: f64 = 1e-9;

impl Achieved {
    /// A figure that should not be below what was asked for.
    pub fn at_least(key: &str, name: impl Into<String>, meaning: impl Into<String>) -> Self {
        Achieved {
            key: key.to_owned(),
            attributes: Vec::new(),
            name: name.into(),
            meaning: meaning.into(),
            about: About::Records,
            bound: Bound::AtLeast,
            asked: None,
            reached: None,
            holds: None,
            violations: Vec::new(),
        }
    }

    /// A figure that should not be above what was asked for.
    pub fn at_most(key: &str, name: impl Into<String>, meaning: impl Into<String>) -> Self {
        Achieved { bound: Bound::AtMost, ..Self::at_least(key, name, meaning) }
    }

    /// What it is about, where that is sensitive values.
    pub fn about(mut self, about: About) -> Self {
        self.about = about;
        self
    }

    /// Of some attributes.
    pub fn of(mut self, attributes: &[String]) -> Self {
        self.attributes = attributes.to_vec();
        self
    }

    /// What was reached.
    pub fn reached(mut self, figure: Figure) -> Self {
        self.reached = Some(figure);
        self
    }

    /// What was asked for, and what does not hold of it.
    pub fn asked(mut self, figure: Figure, violations: Vec<String>) -> Self {
        self.asked = Some(figure);
        self.holds = Some(violations.is_empty());
        self.violations = violations;
        self
    }

    /// Of nobody, everything holds and nothing is reached.
    pub fn of_nobody(&mut self) {
        self.reached = None;
        self.holds = self.holds.map(|_| true);
        self.violations.clear();
    }

    /// A number that may not be exceeded: it holds if what was reached is no larger, but for rounding.
    pub fn limited(self, most: f64, violation: impl FnOnce(f64) -> String) -> Self {
        let reached = self.reached.map_or(f64::INFINITY, Figure::value);
        let exceeded = reached > most * (1.0 + TOLERANCE) + TOLERANCE || reached.is_nan();
        self.asked(Figure::Number(most), exceeded.then(|| violation(reached)).into_iter().collect())
    }

    /// The greatest distance of a class in any sensitive attribute, which may be limited.
    pub fn farthest(self, farthest: &[(&str, f64)], most: Option<f64>) -> Option<Self> {
        let greatest = farthest.iter().map(|(_, distance)| *distance).reduce(f64::max)?;
        let achieved = self.reached(Figure::Number(greatest));
        let Some(most) = most else { return Some(achieved) };
        let key = achieved.key.clone();
        let violations = farthest
            .iter()
            .filter(|(_, distance)| *distance > most + TOLERANCE)
            .map(|(name, distance)| {
                format!("{key} = {most} is required on {name}, a class has {distance:.4}")
            })
            .collect();
        Some(achieved.asked(Figure::Number(most), violations))
    }
}
