//! Requirements: what must hold for every class of a release.
//!
//! A requirement is a conjunction of [`Model`]s. A model answers from a [`Tally`], running counts of a set of
//! records, whether the set may be published as one class; it declares whether it is monotone (two sets that
//! satisfy it satisfy it together) and the smallest set it allows, so that methods prune without knowing it.
//! For monotone models some partition satisfies them exactly if the whole table does, or what is left of it where
//! records may be left out (`feasible.rs`).
//!
//! Methods do not ask models but a [`Judge`], which knows the fast ways to their answers.
//!
//! What a policy asks for is a list of [`Spec`]s, which bind to models and measure releases; [`KINDS`] is the registry of
//! what can be asked for. To add a requirement: one file here, one line there.
//!
//! ```
//! use throng::privacy::{KAnonymity, Requirement, Tally};
//! let requirement = Requirement::from_models(vec![Box::new(KAnonymity { k: 2 })]);
//! let mut tally = Tally::new(&[]);
//! tally.add(&[]);
//! assert!(!requirement.holds(&tally));
//! tally.add(&[]);
//! assert!(requirement.holds(&tally));
//! ```

mod achieved;
mod alpha;
mod anonymity;
mod closeness;
mod disclosure;
pub mod diversity;
mod feasible;
mod hard_rules;
mod judge;
mod k_map;
mod likeness;
mod max_gcp;
mod max_loss;
mod max_query_error;
mod max_span;
mod members;
mod named;
mod personalized;
mod spec;
mod stated;
mod tally;

use std::fmt::Debug;
use std::sync::Arc;

pub use achieved::{About, Achieved, Bound, Figure};
pub use alpha::{Alpha, AlphaSpec};
pub use anonymity::KAnonymity;
pub use closeness::{Closeness, ClosenessSpec, Ground};
pub use disclosure::{Disclosure, DisclosureSpec};
pub use diversity::{Diversity, DiversitySpec, LDiversity};
pub use feasible::Keeping;
pub use hard_rules::HardRules;
pub(crate) use hard_rules::broken_classes;
pub use judge::{Frequency, Judge, ROUNDING};
pub use k_map::{KMap, Population};
pub use likeness::{Form as LikenessForm, Likeness, LikenessSpec};
pub use max_gcp::MaxGcp;
pub use max_loss::MaxLoss;
pub use max_query_error::{MaxQueryError, OwnQueries};
pub use max_span::MaxSpan;
pub use named::{QuasiIdentifier, QuasiIdentifiers};
pub use personalized::{OwnAnonymity, OwnK, OwnKRule};
pub(crate) use spec::keys;
pub use spec::{Kind, Place, Spec};
pub use stated::Privacy;
pub use tally::Tally;

use crate::data::{Data, People, Protected};
use crate::error::Error;
pub use crate::histogram::Histogram;

/// All kinds of requirement, in the order in which they are told.
pub static KINDS: &[Kind] = &[
    anonymity::KIND,
    named::KIND,
    personalized::KIND,
    k_map::KIND,
    diversity::KIND,
    closeness::KIND,
    likeness::KIND,
    disclosure::KIND,
    alpha::KIND,
    max_loss::KIND,
    max_span::KIND,
    max_gcp::KIND,
    max_query_error::KIND,
    hard_rules::KIND,
];

/// One thing that must hold for every class.
pub trait Model: Debug + Send + Sync {
    /// What must hold, for people.
    fn describe(&self) -> String;
    /// Which part of a policy it is, for methods to say what they take.
    fn part(&self) -> Part;
    /// Whether two sets that satisfy it satisfy it together.
    fn monotone(&self) -> bool;
    /// No smaller set satisfies it.
    fn smallest_class(&self) -> usize;
    /// For a model that asks just that no sensitive value makes up more than one in l records of a class: the
    /// attribute and l. Methods that deal values out can build such classes directly.
    fn frequency(&self) -> Option<(usize, f64)> {
        None
    }
    /// For diversity: what it asks for beside what one class of all records reaches.
    fn margin(&self, whole: &Tally) -> Option<Margin> {
        let _ = whole;
        None
    }
    /// Whether a set satisfies it.
    fn holds(&self, tally: &Tally) -> bool;
    /// Of records that do not satisfy it, the fewest to leave out so that the rest does, none of them needlessly; `None`
    /// if that takes more than may be left out, or if leaving records out does not help, as with models of size.
    fn fewest_to_lose(&self, _: &Keeping<'_>) -> Option<Vec<u32>> {
        None
    }
    /// What is wrong with a whole table that does not satisfy it, and what would be possible.
    fn explain(&self, whole: &Tally, data: &Data) -> Error;
    /// The same where so many records may be left out, and not even that helps.
    fn explain_within(&self, whole: &Tally, data: &Data, allowance: usize) -> Error {
        let _ = allowance;
        self.explain(whole, data)
    }
}

/// A diversity that is asked for, beside the largest that any release of a table could have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Margin {
    /// The l that is asked for.
    pub asked: f64,
    /// The largest l that could be.
    pub feasible: f64,
}

impl Margin {
    /// What is asked for as a share of what could be.
    pub fn share(&self) -> f64 {
        self.asked / self.feasible
    }

    /// Whether more than half of what could be is asked for: methods that group by sensitive values then tell more than
    /// their classes do.
    pub fn is_narrow(&self) -> bool {
        self.asked > 1.0 && self.share() > 0.5
    }
}

/// The parts of a policy's requirement: what a method must be able to do. Several kinds of requirement may ask for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Part {
    /// Classes of a size: k-anonymity.
    K,
    /// Classes of a size that each record asks for itself: a k of its own, k-map with a population.
    OwnK,
    /// l-diversity.
    L,
    /// Models of how often each sensitive value occurs in a class: t-closeness, β-likeness, δ-disclosure privacy.
    T,
    /// Limits on the loss of each class.
    MaxLoss,
    /// Rules that must not be broken.
    HardRules,
    /// People, who may have several records each, in place of records.
    People,
}

impl Part {
    /// Its name in a policy.
    pub fn name(self) -> &'static str {
        match self {
            Part::K => "k",
            Part::OwnK => "own k",
            Part::L => "l",
            Part::T => "t",
            Part::MaxLoss => "max_loss",
            Part::HardRules => "hard rules",
            Part::People => "people",
        }
    }
}

/// A conjunction of models.
#[derive(Clone, Debug, Default)]
pub struct Requirement {
    models: Vec<Arc<dyn Model>>,
    quasi_identifiers: Vec<QuasiIdentifier>,
    /// Whether people are counted, who may have several records each.
    people: bool,
}

impl Requirement {
    /// What a policy asks for. A set of records with as many members as the largest k satisfies every named
    /// quasi-identifier, because each of its combinations is at least as frequent as the class.
    pub fn new(privacy: &Privacy, sensitive: &[Protected]) -> Self {
        let specs = privacy.specs();
        let quasi_identifiers: Vec<QuasiIdentifier> = specs.iter().flat_map(|spec| spec.linkable()).collect();
        let k = quasi_identifiers.iter().map(|own| own.k).max();
        let size = k.map(|k| Arc::new(KAnonymity { k }) as Arc<dyn Model>);
        let models = size.into_iter().chain(specs.iter().flat_map(|spec| spec.models(sensitive))).collect();
        Requirement { models, quasi_identifiers, people: false }
    }

    /// The same over people, if there are any to count.
    pub fn counting(self, people: Option<&People>) -> Self {
        Requirement { people: people.is_some(), ..self }
    }

    /// The same, and every class has as many records as its most demanding member asks for.
    pub fn with_demands(mut self, demands: Option<&[u32]>) -> Self {
        if let Some(least) = demands.and_then(|demands| demands.iter().min()) {
            self.models.push(Arc::new(OwnAnonymity { least: *least as usize }));
        }
        self
    }

    /// The same for records of which each asks for at least so many.
    pub fn asked_by_all(mut self, k: usize) -> Self {
        self.models.push(Arc::new(KAnonymity { k }));
        self.quasi_identifiers.push(QuasiIdentifier::of_all(k));
        self
    }

    /// The same without what records ask for themselves.
    pub fn without_demands(mut self) -> Self {
        self.models.retain(|model| model.part() != Part::OwnK);
        self
    }

    /// A conjunction of the given models.
    pub fn from_models(models: Vec<Box<dyn Model>>) -> Self {
        let models: Vec<Arc<dyn Model>> = models.into_iter().map(Arc::from).collect();
        let sizes = models.iter().filter(|model| model.part() == Part::K).map(|model| model.smallest_class());
        let quasi_identifiers = sizes.map(QuasiIdentifier::of_all).collect();
        Requirement { models, quasi_identifiers, people: false }
    }

    /// What k is asked of which attributes, for methods that keep each quasi-identifier safe by itself.
    pub fn quasi_identifiers(&self) -> &[QuasiIdentifier] {
        &self.quasi_identifiers
    }

    /// Whether a set of records may be published as one class, its number of records aside. A number of people is more
    /// than that.
    pub fn holds_beyond_size(&self, tally: &Tally) -> bool {
        let beyond = |model: &&Arc<dyn Model>| self.people || model.part() != Part::K;
        self.models.iter().filter(beyond).all(|model| model.holds(tally))
    }

    /// No class of equal cells in all quasi-identifiers is smaller, even where named ones are kept safe by
    /// themselves; at least 1. Where people are counted, that many people; what is asked of the values of a class needs so
    /// many records, not people, and is left aside.
    pub fn smallest_combination(&self) -> usize {
        let aside = |part: Part| part == Part::K || self.people && part == Part::T;
        let beyond = self.models.iter().filter(|model| !aside(model.part()));
        let of_all = self.quasi_identifiers.iter().filter(|own| own.attributes.is_none());
        of_all.map(|own| own.k).chain(beyond.map(|model| model.smallest_class())).max().unwrap_or(1).max(1)
    }

    /// Whether a set of records may be published as one class.
    pub fn holds(&self, tally: &Tally) -> bool {
        self.models.iter().all(|model| model.holds(tally))
    }

    /// Whether sets that satisfy it satisfy it together. Counted over people, only their number is sure to grow: two sets
    /// may share people, who bring the values they have in both but count once.
    pub fn monotone(&self) -> bool {
        let grows = |model: &Arc<dyn Model>| !self.people || matches!(model.part(), Part::K | Part::OwnK);
        self.models.iter().all(|model| model.monotone() && grows(model))
    }

    /// No smaller class is allowed; at least 1.
    pub fn smallest_class(&self) -> usize {
        self.models.iter().map(|model| model.smallest_class()).max().unwrap_or(1).max(1)
    }

    /// No smaller class is allowed, as far as one part asks; `None` if it does not ask.
    pub fn smallest_of(&self, part: Part) -> Option<usize> {
        self.models.iter().filter(|model| model.part() == part).map(|model| model.smallest_class()).max()
    }

    /// The diversity that is asked for beside the largest that any release of these records could have: of several, the
    /// one that comes closest.
    pub fn diversity_of(&self, whole: &Tally) -> Option<Margin> {
        let margins = self.models.iter().filter_map(|model| model.margin(whole));
        margins.max_by(|one, other| one.share().total_cmp(&other.share()))
    }

    /// Whether the number of records of a set decides alone.
    pub fn only_size(&self) -> bool {
        !self.people && self.models.iter().all(|model| model.part() == Part::K)
    }

    /// The parts it has.
    pub fn parts(&self) -> impl Iterator<Item = Part> + '_ {
        self.models.iter().map(|model| model.part())
    }

    /// The models that limit how frequent a sensitive value may be among records, each an attribute and l; none where
    /// people are counted.
    pub fn frequencies(&self) -> Vec<(usize, f64)> {
        let limits = self.models.iter().filter_map(|model| model.frequency());
        limits.filter(|_| !self.people).collect()
    }

    /// The sensitive attribute and l where size and the frequency of its values decide alone.
    pub fn only_frequency(&self) -> Option<(usize, f64)> {
        self.only_size_and_frequency().then(|| self.frequencies().first().copied()).flatten()
    }

    /// Whether size and frequency decide alone, the latter in one attribute at most.
    pub fn only_size_and_frequency(&self) -> bool {
        let frequencies = self.frequencies().len();
        !self.people && frequencies <= 1 && self.models.len() == frequencies + self.sizes().count()
    }

    /// No class may have fewer records, as far as models of size alone ask; at least 1.
    pub fn smallest_size(&self) -> usize {
        self.sizes().map(|model| model.smallest_class()).max().unwrap_or(1).max(1)
    }

    fn sizes(&self) -> impl Iterator<Item = &Arc<dyn Model>> {
        self.models.iter().filter(|model| model.part() == Part::K)
    }

    /// What must hold, for people.
    pub fn describe(&self) -> Vec<String> {
        self.models.iter().map(|model| model.describe()).collect()
    }

    fn models(&self) -> impl Iterator<Item = &dyn Model> {
        self.models.iter().map(Arc::as_ref)
    }
}
