//! A limit on the loss of every class: the dual problem, which asks for the most privacy within it (Ghinita et al. 2009).

use std::sync::Arc;

use super::{Achieved, Figure, Kind, Part, Spec, spec};
use crate::data::Joined;
use crate::error::Result;
use crate::loss::Limits;
use crate::published::Published;

/// The key `max_loss`.
pub const KIND: Kind = Kind {
    key: "max_loss",
    keys: &["max_loss"],
    read: |keys| Ok(keys.share("max_loss")?.map(|share| Arc::new(MaxLoss { share }) as Arc<dyn Spec>)),
    unasked: spec::nothing,
};

/// What a class may lose at most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MaxLoss {
    /// Its penalty as a share of the sum of the weights, 0 … 1.
    pub share: f64,
}

impl Spec for MaxLoss {
    fn key(&self) -> &'static str {
        KIND.key
    }

    fn needs_ranges(&self) -> bool {
        true
    }

    fn part(&self) -> Part {
        Part::MaxLoss
    }

    fn keys(&self) -> toml::Table {
        toml::Table::from_iter([(KIND.key.to_owned(), toml::Value::Float(self.share))])
    }

    fn limit(&self, limits: &mut Limits, joined: &Joined<'_>) -> Result<()> {
        limits
            .limit_loss(self.share * joined.attributes.iter().map(|attribute| attribute.weight).sum::<f64>());
        Ok(())
    }

    fn measure(&self, published: &Published<'_>) -> Result<Vec<Achieved>> {
        let share = self.share;
        let achieved =
            Achieved::at_most(KIND.key, "loss of a class", "the greatest share of detail that a class loses")
                .reached(Figure::Number(published.greatest_loss))
                .limited(share, |most| format!("max_loss = {share} is required, a class loses {most:.4}"));
        Ok(vec![achieved])
    }
}
