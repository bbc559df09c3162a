//! A hierarchy as it was given: one path of labels per leaf.

use indexmap::IndexMap;

use crate::collections::Map;
use crate::error::{Error, ErrorCode, Result};

/// The label of every root and of every suppressed cell.
pub const ANY: &str = "*";

/// What a hierarchy says: for each leaf its ancestors from the parent upwards, the root left out.
///
/// Checked: no leaf twice, and a label stands for one set of leaves only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    paths: IndexMap<String, Vec<String>>,
}

impl Tree {
    /// A tree from one path per leaf, `[leaf, parent, …]`; a last label shared by all leaves is the root.
    pub fn from_paths<P, S>(paths: impl IntoIterator<Item = P>) -> Result<Self>
    where
        P: IntoIterator<Item = S>,
        S: Into<String>,
    {
        let mut tree = Tree::default();
        for path in paths {
            tree.push(path.into_iter().map(Into::into).collect())?;
        }
        tree.finish()
    }

    /// Adds a leaf with its path; the error names the label at fault.
    pub fn push(&mut self, mut path: Vec<String>) -> Result<()> {
        if path.is_empty() {
            return Err(Error::new(ErrorCode::BadHierarchy, "a leaf without a label"));
        }
        let ancestors = path.split_off(1);
        let leaf = path.remove(0);
        match self.paths.get(&leaf) {
            None => {
                self.paths.insert(leaf, ancestors);
                Ok(())
            }
            Some(before) if *before == ancestors => {
                Err(Error::new(ErrorCode::BadHierarchy, format!("the value \"{leaf}\" stands here twice")))
            }
            Some(before) => Err(Error::new(
                ErrorCode::HierarchyTwoParents,
                format!(
                    "the value \"{leaf}\" has two parents: \"{}\" and \"{}\"",
                    before.first().map_or(ANY, String::as_str),
                    ancestors.first().map_or(ANY, String::as_str)
                ),
            )),
        }
    }

    /// Drops the common root and checks that labels are unambiguous; call it after the last [`Tree::push`].
    pub fn finish(mut self) -> Result<Self> {
        let root = self.paths.values().next().and_then(|path| path.last()).cloned();
        if let Some(root) = root
            && self.paths.values().all(|path| path.last() == Some(&root))
        {
            for path in self.paths.values_mut() {
                // A chain of single roots (`…;*;*`) is one root.
                while path.last() == Some(&root) {
                    path.pop();
                }
            }
        }
        self.checked()
    }

    /// Checks that labels are unambiguous, as [`Tree::finish`] does, but keeps a label that is above all leaves.
    pub fn checked(self) -> Result<Self> {
        self.check_labels()?;
        Ok(self)
    }

    /// A label may recur along one path (`Private;Private;*`) but must always mean the same leaves.
    pub(crate) fn check_labels(&self) -> Result<()> {
        let mut above: Map<&str, &[String]> = Map::default();
        let mut leaves_under: Map<&str, usize> = Map::default();
        for (leaf, path) in &self.paths {
            if leaf == ANY || path.iter().any(|label| label == ANY) {
                return Err(Error::new(
                    ErrorCode::BadHierarchy,
                    "the label \"*\" stands for the root and cannot be used below it",
                ));
            }
            for (depth, label) in path.iter().enumerate() {
                let rest = after_run(path, depth);
                if depth == 0 || path[depth - 1] != *label {
                    *leaves_under.entry(label).or_default() += 1;
                }
                match above.insert(label, rest) {
                    Some(before) if before != rest => {
                        return Err(Error::new(
                            ErrorCode::HierarchyTwoParents,
                            format!(
                                "the label \"{label}\" has two parents: \"{}\" and \"{}\"",
                                before.first().map_or(ANY, String::as_str),
                                rest.first().map_or(ANY, String::as_str)
                            ),
                        ));
                    }
                    _ => {}
                }
            }
        }
        for (leaf, path) in &self.paths {
            // A leaf's label may name an inner node only if that node holds just this leaf.
            let Some(&leaves) = leaves_under.get(leaf.as_str()) else { continue };
            if leaves > 1 || !path.contains(leaf) {
                return Err(Error::new(
                    ErrorCode::BadHierarchy,
                    format!("the label \"{leaf}\" is both a value and a group of other values"),
                )
                .with_hint("rename the group, so that a published cell can be understood"));
            }
        }
        Ok(())
    }

    /// The leaves with their ancestors, in the order they were given.
    pub fn paths(&self) -> impl ExactSizeIterator<Item = (&str, &[String])> {
        self.paths.iter().map(|(leaf, path)| (leaf.as_str(), path.as_slice()))
    }

    /// The labels above a leaf, from its parent upwards.
    pub fn above(&self, leaf: &str) -> Option<&[String]> {
        self.paths.get(leaf).map(Vec::as_slice)
    }

    /// Whether a value is a leaf.
    pub fn contains(&self, leaf: &str) -> bool {
        self.paths.contains_key(leaf)
    }

    /// Number of leaves.
    pub fn len(&self) -> usize {
        self.paths.len()
    }

    /// Whether there is no leaf.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }
}

/// The path above the run of equal labels that starts at `depth`.
fn after_run(path: &[String], depth: usize) -> &[String] {
    let run = path[depth..].iter().take_while(|label| **label == path[depth]).count();
    &path[depth + run..]
}
