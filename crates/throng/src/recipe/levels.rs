//! Hierarchies as a recipe tells them.

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorCode, Result};
use crate::policy::{DateUnit, Hierarchy};
use crate::schema::Official;
use crate::table::Tree;

/// A hierarchy as a recipe tells it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Levels {
    /// One path per leaf, the leaf first.
    Paths(Vec<Vec<String>>),
    Intervals(Vec<f64>),
    Prefix(Vec<usize>),
    Dates(Vec<String>),
    /// Groups of a regulator, as the keys of a policy.
    Official(toml::Table),
}

/// What a word of the recipe stands for.
pub(super) fn named<T: Copy>(all: &[(&str, T)], name: &str) -> Result<T> {
    let found = all.iter().find(|(own, _)| *own == name).map(|(_, value)| *value);
    found.ok_or_else(|| {
        Error::new(ErrorCode::BadRecipe, format!("the recipe has the unknown word \"{name}\""))
    })
}

impl Levels {
    pub fn of(hierarchy: &Hierarchy) -> Self {
        match hierarchy {
            Hierarchy::Tree(tree) => Levels::Paths(
                tree.paths()
                    .map(|(leaf, above)| {
                        std::iter::once(leaf.to_owned()).chain(above.iter().cloned()).collect()
                    })
                    .collect(),
            ),
            Hierarchy::Intervals(widths) => Levels::Intervals(widths.clone()),
            Hierarchy::Prefix(lengths) => Levels::Prefix(lengths.clone()),
            Hierarchy::Dates(units) => {
                Levels::Dates(units.iter().map(|unit| unit.name().to_owned()).collect())
            }
            Hierarchy::Official(own) => Levels::Official(own.keys()),
        }
    }

    pub fn hierarchy(&self) -> Result<Hierarchy> {
        Ok(match self {
            // The root was left out already: nothing more is to be dropped.
            Levels::Paths(paths) => {
                let mut tree = Tree::default();
                paths.iter().try_for_each(|path| tree.push(path.clone()))?;
                Hierarchy::Tree(tree.checked()?)
            }
            Levels::Intervals(widths) => Hierarchy::Intervals(widths.clone()),
            Levels::Prefix(lengths) => Hierarchy::Prefix(lengths.clone()),
            Levels::Dates(units) => Hierarchy::Dates(
                units.iter().map(|unit| named(DateUnit::NAMES, unit)).collect::<Result<_>>()?,
            ),
            Levels::Official(keys) => Hierarchy::Official(
                Official::read(keys).map_err(|(_, message)| Error::new(ErrorCode::BadRecipe, message))?,
            ),
        })
    }

    /// As the keys of a policy say it, unless it is a tree.
    pub fn builder(&self) -> Option<toml::Table> {
        let (key, steps): (&str, Vec<toml::Value>) = match self {
            Levels::Paths(_) => return None,
            Levels::Official(keys) => return Some(keys.clone()),
            Levels::Intervals(widths) => ("intervals", widths.iter().map(|own| (*own).into()).collect()),
            Levels::Prefix(lengths) => {
                let length = |own: &usize| i64::try_from(*own).unwrap_or(i64::MAX).into();
                ("prefix", lengths.iter().map(length).collect())
            }
            Levels::Dates(units) => ("dates", units.iter().map(|own| own.clone().into()).collect()),
        };
        Some(toml::Table::from_iter([(key.to_owned(), toml::Value::Array(steps))]))
    }
}
