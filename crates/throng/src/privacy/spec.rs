//! Requirements as objects: what a policy asks for, one [`Spec`] each, and the registry of their [`Kind`]s.
//!
//! A kind reads its keys of `[privacy]` into a spec, which then does all else: it says what it asks of the classes of a
//! problem, measures what a release achieves and puts it into words. Policy, problem, audit, report and recipe loop over
//! specs and know none of them by name. To add one: a file beside this one with a `Kind`, and one line in [`KINDS`].
//!
//! Specs are plain values that code can make as well as a text can; [`Privacy::set`] takes them. A [`Place`] is where
//! something was written, if it was.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use super::{Achieved, KINDS, Model, Part, Privacy, QuasiIdentifier};
use crate::data::{Joined, Protected};
use crate::error::Result;
use crate::keys::Keys;
pub use crate::keys::Place;
use crate::loss::Limits;
use crate::published::Published;

/// What a kind of requirement finds in a policy.
pub type ReadSpec = Result<Option<Arc<dyn Spec>>>;

/// What the registry knows of a kind of requirement.
pub struct Kind {
    /// Its name, that of its specs.
    pub key: &'static str,
    /// Its keys in `[privacy]`.
    pub keys: &'static [&'static str],
    /// Reads them; `None` if none of them is there.
    pub read: fn(&Keys<'_, '_>) -> ReadSpec,
    /// What it tells of a release where nobody asks for it.
    pub unasked: fn(&Privacy, &Published<'_>) -> Option<Achieved>,
}

/// The keys of all kinds.
pub fn keys() -> impl Iterator<Item = &'static str> {
    KINDS.iter().flat_map(|kind| kind.keys.iter().copied())
}

/// For kinds that tell nothing unless they are asked for.
pub fn nothing(_: &Privacy, _: &Published<'_>) -> Option<Achieved> {
    None
}

/// One thing that a policy asks for.
pub trait Spec: Any + Debug + Send + Sync {
    /// The name of its kind.
    fn key(&self) -> &'static str;

    /// What a method must take to do it.
    fn part(&self) -> Part;

    /// The keys that say it in a policy.
    fn keys(&self) -> toml::Table;

    /// What a release achieves.
    fn measure(&self, published: &Published<'_>) -> Result<Vec<Achieved>>;

    /// Whether it asks for something by itself: a policy needs one that does.
    fn asks(&self) -> bool {
        true
    }

    /// The quasi-identifiers it is about; `None` for all of them.
    fn attributes(&self) -> Option<Vec<&str>> {
        None
    }

    /// Whether readers can check it only where ranges are published, not numbers that stand for them.
    fn needs_ranges(&self) -> bool {
        false
    }

    /// Whether it is about sensitive attributes.
    fn protects_sensitive(&self) -> bool {
        false
    }

    /// Whether it must look at a column that is not published.
    fn reads(&self, _column: &str) -> bool {
        false
    }

    /// Whether other records that are masked in the same way are held to it.
    fn binds_other_records(&self) -> bool {
        true
    }

    /// What k it asks of which attributes.
    fn linkable(&self) -> Vec<QuasiIdentifier> {
        Vec::new()
    }

    /// What must hold for every class beyond its size.
    fn models(&self, _sensitive: &[Protected]) -> Vec<Arc<dyn Model>> {
        Vec::new()
    }

    /// How many records the class of each record must have.
    fn demands(&self, _joined: &Joined<'_>) -> Result<Option<Vec<u32>>> {
        Ok(None)
    }

    /// Adds to what no class may exceed.
    fn limit(&self, _limits: &mut Limits, _joined: &Joined<'_>) -> Result<()> {
        Ok(())
    }
}

impl PartialEq for dyn Spec {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key() && self.keys() == other.keys()
    }
}
