//! All that a policy asks for.

use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

use super::{
    Achieved, ClosenessSpec, Diversity, DiversitySpec, KAnonymity, KINDS, MaxGcp, MaxQueryError, OwnQueries,
    Part, QuasiIdentifier, QuasiIdentifiers, Spec,
};
use crate::error::Result;
use crate::keys::Keys;
use crate::published::Published;

/// What a policy asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Privacy {
    specs: Vec<Arc<dyn Spec>>,
    /// Share of records that may be suppressed.
    pub suppress: f64,
    /// Whether that share was written.
    pub suppress_given: bool,
    /// Where `[privacy]` stands.
    pub span: Range<usize>,
}

impl Privacy {
    /// Reads the keys of all kinds.
    pub fn read(keys: &Keys<'_, '_>) -> Result<Self> {
        let mut privacy = Privacy::default();
        for kind in KINDS {
            privacy.specs.extend((kind.read)(keys)?);
        }
        Ok(privacy)
    }

    /// Asks for something, in place of what was asked for of its kind.
    pub fn set(&mut self, spec: Arc<dyn Spec>) {
        self.specs.retain(|own| own.key() != spec.key());
        let place = |key: &str| KINDS.iter().position(|kind| kind.key == key).unwrap_or(KINDS.len());
        let at = self.specs.partition_point(|own| place(own.key()) <= place(spec.key()));
        self.specs.insert(at, spec);
    }

    /// All that is asked for, in the order of [`KINDS`].
    pub fn specs(&self) -> &[Arc<dyn Spec>] {
        &self.specs
    }

    /// What is asked for of one kind.
    pub fn get<S: Spec>(&self) -> Option<&S> {
        self.specs.iter().find_map(|spec| (spec.as_ref() as &dyn Any).downcast_ref())
    }

    /// Whether anything is asked for.
    pub fn asks(&self) -> bool {
        self.specs.iter().any(|spec| spec.asks())
    }

    /// What a method must take, with the key that asks for it.
    pub fn parts(&self) -> Vec<(Part, &'static str)> {
        let asked = self.specs.iter().filter(|spec| spec.asks());
        asked.map(|spec| (spec.part(), spec.key())).collect()
    }

    /// Whether a quasi-identifier is generalized: with nothing but named ones asked for, only those are.
    pub fn generalizes(&self, attribute: &str) -> bool {
        let mut asked = self.specs.iter().filter(|spec| spec.asks()).map(|spec| spec.attributes());
        asked.any(|names| names.is_none_or(|names| names.contains(&attribute)))
    }

    /// What a release achieves: all that was asked for, and what is told without being asked for.
    pub fn measure(&self, published: &Published<'_>) -> Result<Vec<Achieved>> {
        let mut achieved = Vec::new();
        for kind in KINDS {
            match self.specs.iter().find(|spec| spec.key() == kind.key) {
                Some(spec) => achieved.extend(spec.measure(published)?),
                None => achieved.extend((kind.unasked)(self, published)),
            }
        }
        let registered = |spec: &Arc<dyn Spec>| KINDS.iter().any(|kind| kind.key == spec.key());
        for spec in self.specs.iter().filter(|spec| !registered(spec)) {
            achieved.extend(spec.measure(published)?);
        }
        Ok(achieved)
    }

    /// The k that is asked of all quasi-identifiers together.
    pub fn k(&self) -> Option<usize> {
        self.get::<KAnonymity>().map(|asked| asked.k)
    }

    /// Asks for another k.
    pub fn set_k(&mut self, k: usize) {
        self.set(Arc::new(KAnonymity { k }));
    }

    /// The l that is asked for.
    pub fn l(&self) -> Option<f64> {
        self.get::<DiversitySpec>().and_then(|asked| asked.l)
    }

    /// The form of diversity, whether or not any is asked for.
    pub fn diversity(&self) -> Diversity {
        self.get::<DiversitySpec>().map_or(Diversity::Frequency, |asked| asked.form)
    }

    /// The t that is asked for.
    pub fn t(&self) -> Option<f64> {
        self.get::<ClosenessSpec>().map(|asked| asked.t)
    }

    /// The loss up to which the largest k is looked for.
    pub fn max_gcp(&self) -> Option<f64> {
        self.get::<MaxGcp>().map(|asked| asked.most)
    }

    /// The error of queries up to which the largest k is looked for.
    pub fn max_query_error(&self) -> Option<f64> {
        self.get::<MaxQueryError>().map(|asked| asked.most)
    }

    /// The queries that this error is measured on, unless they are drawn.
    pub fn own_queries(&self) -> Option<&OwnQueries> {
        self.get::<MaxQueryError>().and_then(|asked| asked.file.as_ref())
    }

    /// Quasi-identifiers with a k of their own.
    pub fn quasi_identifiers(&self) -> &[QuasiIdentifier] {
        self.get::<QuasiIdentifiers>().map_or(&[], |named| &named.each)
    }

    /// The keys that say it in a policy, but for what other records are not held to.
    pub fn keys_for_other_records(&self) -> toml::Table {
        let specs = self.specs.iter().filter(|spec| spec.binds_other_records());
        specs.flat_map(|spec| spec.keys()).collect()
    }
}
