//! What a policy says of attributes: roles, kinds, hierarchies and rules, with the words that policies and recipes have for
//! them. Plain values; nothing here has seen a table.

pub mod official;
pub mod spelling;
mod tails;
mod tree;
pub mod value;

use std::ops::Range;

use indexmap::IndexMap;

pub use official::Official;
pub use spelling::Spelling;
pub use tails::{Tail, Tails};
pub use tree::{ANY, Tree};

/// What the policy says of one attribute.
#[derive(Clone, Debug)]
pub struct AttributePolicy {
    /// Its part in the release.
    pub role: Role,
    /// Its kind, if not to be guessed.
    pub kind: Option<Kind>,
    /// How its numbers or dates are spelt, if not to be guessed.
    pub spelling: Option<Spelling>,
    /// Its weight, above 0.
    pub weight: f64,
    /// Weights of the leaves of its hierarchy that do not weigh 1.
    pub leaf_weights: IndexMap<String, f64>,
    /// Weights of the inner nodes of its hierarchy that do not weigh 1: by so much more do the leaves below weigh.
    pub node_weights: IndexMap<String, f64>,
    /// Whether its weight comes from the table instead: from how little other attributes tell of it.
    pub auto_weight: bool,
    /// Whether it may be published as it is although it looks like an identifier.
    pub confirmed: bool,
    /// From where on, and up to where, its numbers are told as lying beyond.
    pub tails: Tails,
    /// Its hierarchy.
    pub hierarchy: Option<Hierarchy>,
    /// Its data constraint rules.
    pub rules: Vec<Rule>,
    /// What becomes of whose record it is; nothing for other roles.
    pub person: PersonChoice,
    /// Where the name stands in `[attribute.NAME]` in the policy.
    pub span: Range<usize>,
    /// Where the hierarchy stands in the policy.
    pub hierarchy_span: Option<Range<usize>>,
}

impl AttributePolicy {
    /// Whether nothing tells of what kind its values are.
    pub fn leaves_kind_open(&self) -> bool {
        self.kind.is_none() && self.spelling.is_none() && self.hierarchy.is_none()
    }
}

/// What a column with the role `person` is used for beside counting people.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PersonChoice {
    /// Whether a random number of each person is published in its place.
    pub number: bool,
    /// Whether what does not change within a person is generalized alike in all their records.
    pub together: bool,
}

/// The part an attribute plays.
///
/// ```
/// use throng::{Policy, Role};
/// let policy = Policy::builder().k(2).quasi("age").identifier("name").build()?;
/// assert_eq!(policy.role("name"), Role::Identifier);
/// assert_eq!(policy.role("height"), Role::Other);
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// Could be known to someone who wants to find a person: generalized.
    Quasi,
    /// What must not be learned about a person: published, protected by l and t.
    Sensitive,
    /// What recipients want to predict: published.
    Class,
    /// Names a person: never published.
    Identifier,
    /// Says whose record it is: people are counted by it, and it is not published unless as a random number.
    Person,
    /// Published as it is.
    Other,
}

impl Role {
    /// All roles by name.
    pub const NAMES: &'static [(&'static str, Role)] = &[
        ("quasi", Role::Quasi),
        ("sensitive", Role::Sensitive),
        ("class", Role::Class),
        ("identifier", Role::Identifier),
        ("person", Role::Person),
        ("other", Role::Other),
    ];

    /// Its name in policies and recipes.
    pub fn name(self) -> &'static str {
        name_of(Self::NAMES, &self)
    }
}

/// The kinds of attribute.
///
/// ```
/// use throng::{Attribute, Kind, Policy};
/// // Codes that look like numbers are categories if the policy says so.
/// let zip = Attribute::quasi().kind(Kind::Categorical);
/// let policy = Policy::builder().k(2).attribute("zip", zip).build()?;
/// assert_eq!(policy.attributes["zip"].kind, Some(Kind::Categorical));
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// Numbers and dates.
    Numeric,
    /// Everything else.
    Categorical,
}

impl Kind {
    /// All kinds by name.
    pub const NAMES: &'static [(&'static str, Kind)] =
        &[("numeric", Kind::Numeric), ("categorical", Kind::Categorical)];

    /// Its name in policies and recipes.
    pub fn name(self) -> &'static str {
        name_of(Self::NAMES, &self)
    }
}

/// A hierarchy as the policy gives it.
#[derive(Clone, Debug)]
pub enum Hierarchy {
    /// A tree, from a file or inline.
    Tree(Tree),
    /// Nested equal-width bands of numbers, narrowest first.
    Intervals(Vec<f64>),
    /// Keep so many leading characters, most first.
    Prefix(Vec<usize>),
    /// Calendar units, finest first.
    Dates(Vec<DateUnit>),
    /// Groups that a regulator publishes.
    Official(Official),
}

impl Hierarchy {
    /// What values are published as at the finest, if that is not as they are.
    pub fn finest(&self) -> Option<&Official> {
        match self {
            Hierarchy::Official(own) if own.has_finest() => Some(own),
            _ => None,
        }
    }
}

/// Calendar units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DateUnit {
    /// `2024-03`
    Month,
    /// `2024-Q1`
    Quarter,
    /// `2024`
    Year,
    /// `2020s`
    Decade,
    /// `1900-1999`
    Century,
}

impl DateUnit {
    /// All units by name.
    pub const NAMES: &'static [(&'static str, DateUnit)] = &[
        ("month", DateUnit::Month),
        ("quarter", DateUnit::Quarter),
        ("year", DateUnit::Year),
        ("decade", DateUnit::Decade),
        ("century", DateUnit::Century),
    ];

    /// Its name in policies and recipes.
    pub fn name(self) -> &'static str {
        name_of(Self::NAMES, &self)
    }
}

/// A data constraint rule: two things that should stay apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// What it keeps apart.
    pub apart: Apart,
    /// How much it matters, above 0.
    pub importance: f64,
    /// Whether it must never be broken.
    pub hard: bool,
    /// Where it stands in the policy.
    pub span: Range<usize>,
}

/// What a rule keeps apart.
#[derive(Clone, Debug, PartialEq)]
pub enum Apart {
    /// Numbers up to the first and from the second on.
    Cut(f64, f64),
    /// Dates, or times of day, up to the first and from the second on, as ISO spells them.
    Moments(String, String),
    /// Two values of a category.
    Values(String, String),
}

/// The name of one of several things.
fn name_of<T: PartialEq>(names: &[(&'static str, T)], wanted: &T) -> &'static str {
    names.iter().find(|(_, own)| own == wanted).map_or("", |(name, _)| name)
}
