//! A utility target on the loss of the release: the largest k is looked for that loses no more (Xu et al. 2006).
//!
//! It says how far a search may go, so other records that are masked in the same way are not held to it.

use std::sync::Arc;

use super::{Achieved, Figure, Kind, Part, Spec, spec};
use crate::error::Result;
use crate::published::Published;

/// The key `max_gcp`.
pub const KIND: Kind = Kind {
    key: "max_gcp",
    keys: &["max_gcp"],
    read: |keys| Ok(keys.share("max_gcp")?.map(|most| Arc::new(MaxGcp { most }) as Arc<dyn Spec>)),
    unasked: spec::nothing,
};

/// What a release may lose at most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MaxGcp {
    /// Its global certainty penalty, 0 … 1.
    pub most: f64,
}

impl Spec for MaxGcp {
    fn key(&self) -> &'static str {
        KIND.key
    }

    fn needs_ranges(&self) -> bool {
        true
    }

    fn part(&self) -> Part {
        Part::K
    }

    fn keys(&self) -> toml::Table {
        toml::Table::from_iter([(KIND.key.to_owned(), toml::Value::Float(self.most))])
    }

    fn binds_other_records(&self) -> bool {
        false
    }

    fn measure(&self, published: &Published<'_>) -> Result<Vec<Achieved>> {
        let most = self.most;
        let achieved =
            Achieved::at_most(KIND.key, "loss (GCP)", "the share of detail that the release loses")
                .reached(Figure::Number(published.gcp))
                .limited(most, |gcp| format!("max_gcp = {most} is required, the release loses {gcp:.4}"));
        Ok(vec![achieved])
    }
}
