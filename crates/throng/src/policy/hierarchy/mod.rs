//! Hierarchies as a policy gives them: a file, a tree written inline, one of the builders
//! `intervals`, `prefix` and `dates`, or groups of a regulator.

mod builder;
mod file;
mod inline;
mod official;

use toml::de::DeValue;

pub use file::parse;

use super::Hierarchy;
use crate::error::{Error, Result};
use crate::keys::fields::{Item, mismatch};
use crate::keys::source::Source;
use crate::table::Tree;

/// Reads the hierarchy that a value of the policy describes.
pub(super) fn read(source: Source<'_>, item: &Item<'_>) -> Result<Hierarchy> {
    match item.get_ref() {
        DeValue::String(name) => file::load(source, item, name).map(Hierarchy::Tree),
        DeValue::Table(table) => {
            match (official::read(source, item, table)?, builder::read(source, table)?) {
                (Some(hierarchy), _) | (None, Some(hierarchy)) => Ok(hierarchy),
                (None, None) => inline::read(source, item, table).map(Hierarchy::Tree),
            }
        }
        _ => Err(mismatch(source, item, "hierarchy", "the name of a file or a table").with_hint(
            "for example \"hierarchies/country.csv\" or { Europe = [\"Italy\"], America = [\"US\"] }",
        )),
    }
}

/// A tree that grows leaf by leaf and remembers where each leaf was written.
struct Growing<P> {
    tree: Tree,
    places: Vec<P>,
}

impl<P: Clone> Growing<P> {
    fn new() -> Self {
        Growing { tree: Tree::default(), places: Vec::new() }
    }

    fn push(&mut self, path: Vec<String>, place: P) -> Result<()> {
        self.tree.push(path)?;
        self.places.push(place);
        Ok(())
    }

    /// Where a leaf was written, if it was.
    fn place(&self, leaf: &str) -> Option<&P> {
        let at = self.tree.paths().position(|(label, _)| label == leaf)?;
        self.places.get(at)
    }

    /// The checked tree, or what is wrong and the place of the leaf that brought it in.
    fn finish(self) -> Result<Tree, (Error, Option<P>)> {
        match self.tree.clone().finish() {
            Ok(tree) => Ok(tree),
            Err(error) => Err(self.first_conflict().unwrap_or((error, None))),
        }
    }

    /// Halves the range between a number of leaves that go together and one that do not.
    fn first_conflict(&self) -> Option<(Error, Option<P>)> {
        let (mut good, mut bad) = (0, self.places.len());
        let mut conflict = None;
        while good + 1 < bad {
            let middle = good.midpoint(bad);
            match self.first_leaves(middle).and_then(Tree::finish) {
                Ok(_) => good = middle,
                Err(error) => {
                    bad = middle;
                    conflict = Some(error);
                }
            }
        }
        let conflict = conflict.or_else(|| self.first_leaves(bad).and_then(Tree::finish).err())?;
        Some((conflict, self.places.get(good).cloned()))
    }

    fn first_leaves(&self, count: usize) -> Result<Tree> {
        let mut tree = Tree::default();
        for (leaf, ancestors) in self.tree.paths().take(count) {
            tree.push(std::iter::once(leaf.to_owned()).chain(ancestors.iter().cloned()).collect())?;
        }
        Ok(tree)
    }
}
