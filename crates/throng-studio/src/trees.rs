//! The tree of an attribute as it is edited: groups made, renamed, moved and taken apart.
//!
//! Nodes are numbered from the top, depth first, in the order they are shown; a browser names them by these numbers. A tree is
//! written as the file that policies name, one line per value: where a level is missing, the label before it is repeated.

use std::collections::BTreeMap;

use throng::schema::Tree;
use throng::{Error, ErrorCode, Result};

/// A node: a group with nodes below it, or a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its label.
    pub label: String,
    /// The nodes below it; none for a value.
    pub below: Vec<Node>,
    /// Whether it is a value of the table or the hierarchy.
    pub is_value: bool,
}

/// A tree that is edited. Its root is `*`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grove(pub Vec<Node>);

/// The number of a node.
pub type Number = usize;

impl Node {
    fn value(label: &str) -> Self {
        Node { label: label.to_owned(), below: Vec::new(), is_value: true }
    }

    fn group(label: &str, below: Vec<Node>) -> Self {
        Node { label: label.to_owned(), below, is_value: false }
    }

    /// How many nodes it is, itself included.
    pub fn size(&self) -> usize {
        1 + self.below.iter().map(Node::size).sum::<usize>()
    }

    /// Visits the values below it.
    pub fn values(&self, visit: &mut dyn FnMut(&str)) {
        if self.is_value {
            visit(&self.label);
        }
        self.below.iter().for_each(|node| node.values(visit));
    }
}

impl Grove {
    /// A tree of a hierarchy; repeated labels along a path are one node.
    pub fn of(tree: &Tree) -> Self {
        let mut grove = Grove::default();
        for (leaf, above) in tree.paths() {
            let mut path: Vec<&str> = above.iter().rev().map(String::as_str).collect();
            path.dedup();
            // A value may stand under a group of its own name, which only fills a level.
            while path.last() == Some(&leaf) {
                path.pop();
            }
            grove.put(&path, leaf);
        }
        grove
    }

    fn put(&mut self, path: &[&str], leaf: &str) {
        let mut nodes = &mut self.0;
        for label in path {
            let at = match nodes.iter().position(|node| !node.is_value && node.label == *label) {
                Some(at) => at,
                None => {
                    nodes.push(Node::group(label, Vec::new()));
                    nodes.len() - 1
                }
            };
            nodes = &mut nodes[at].below;
        }
        nodes.push(Node::value(leaf));
    }

    /// Adds values at the top that are not in the tree.
    pub fn add_missing<'a>(&mut self, values: impl Iterator<Item = &'a str>) {
        let mut known = std::collections::BTreeSet::new();
        self.0.iter().for_each(|node| {
            node.values(&mut |label| {
                known.insert(label.to_owned());
            });
        });
        let new: Vec<Node> = values.filter(|value| !known.contains(*value)).map(Node::value).collect();
        self.0.extend(new);
    }

    /// The node of a number.
    pub fn node(&self, number: Number) -> Option<&Node> {
        find(&self.0, number).ok()
    }

    /// Puts nodes into a new group, where all of them are below the same node.
    pub fn group(&mut self, numbers: &[Number], label: &str) -> Result<()> {
        let label = checked(label)?;
        let numbers = self.topmost(numbers)?;
        let parent = self.common_parent(&numbers);
        let taken = self.take(&numbers);
        let place = match parent {
            None => &mut self.0,
            Some(label) => &mut self.labelled(&label).ok_or_else(gone)?.below,
        };
        place.push(Node::group(label, taken));
        self.settle()
    }

    /// Moves nodes into a group; `None` is the top.
    pub fn shift(&mut self, numbers: &[Number], target: Option<Number>) -> Result<()> {
        let numbers = self.topmost(numbers)?;
        let target = match target {
            None => None,
            Some(target) => {
                let inside = |number: &Number| {
                    self.node(*number).is_some_and(|node| (*number..number + node.size()).contains(&target))
                };
                if numbers.iter().any(inside) {
                    return Err(Error::new(ErrorCode::BadHierarchy, "a group cannot be moved into itself"));
                }
                let node = self.node(target).ok_or_else(gone)?;
                if node.is_value {
                    return Err(Error::new(ErrorCode::BadHierarchy, "a value holds no other values")
                        .with_hint("select both and make a group of them"));
                }
                Some(node.label.clone())
            }
        };
        let taken = self.take(&numbers);
        match target {
            None => self.0.extend(taken),
            Some(label) => match self.labelled(&label) {
                Some(node) => node.below.extend(taken),
                // It held nothing but what was taken out.
                None => self.0.push(Node::group(&label, taken)),
            },
        }
        self.settle()
    }

    /// Gives a group another label.
    pub fn rename(&mut self, number: Number, label: &str) -> Result<()> {
        let label = checked(label)?.to_owned();
        let node = find_mut(&mut self.0, number).map_err(|_| gone())?;
        if node.is_value {
            return Err(Error::new(ErrorCode::BadHierarchy, "a value is spelt as in the table")
                .with_hint("only groups can be renamed"));
        }
        node.label = label;
        self.settle()
    }

    /// Takes a group apart: what is below it moves up.
    pub fn dissolve(&mut self, number: Number) -> Result<()> {
        let node = self.node(number).ok_or_else(gone)?;
        if node.is_value {
            return Err(Error::new(ErrorCode::BadHierarchy, "a value is not a group"));
        }
        dissolve(&mut self.0, number);
        self.settle()
    }

    /// Drops groups without values and checks that labels are unambiguous.
    fn settle(&mut self) -> Result<()> {
        prune(&mut self.0);
        let mut labels = Vec::new();
        group_labels(&self.0, &mut labels);
        labels.sort_unstable();
        if let Some(twice) = labels.windows(2).find(|pair| pair[0] == pair[1]) {
            let message = format!("there is a group \"{}\" already", twice[0]);
            return Err(Error::new(ErrorCode::BadHierarchy, message).with_hint("write another name"));
        }
        self.tree().map(|_| ())
    }

    /// The tree, checked.
    pub fn tree(&self) -> Result<Tree> {
        Tree::from_paths(self.paths())
    }

    /// One path per value, all of the same length, the root last.
    fn paths(&self) -> Vec<Vec<String>> {
        let mut paths = Vec::new();
        collect(&self.0, &mut Vec::new(), &mut paths);
        let longest = paths.iter().map(Vec::len).max().unwrap_or(0);
        for path in &mut paths {
            // A value fills the levels that it lacks itself: above a group the same labels must stand on every line.
            let leaf = path.first().cloned().unwrap_or_default();
            let lacking = longest - path.len();
            path.splice(1..1, std::iter::repeat_n(leaf, lacking));
            path.push("*".to_owned());
        }
        paths
    }

    /// The file that policies name.
    pub fn to_csv(&self) -> String {
        let line =
            |path: &Vec<String>| path.iter().map(|label| cell(label)).collect::<Vec<_>>().join(";") + "\n";
        self.paths().iter().map(line).collect()
    }

    /// How many values of the table each node covers, by number.
    pub fn counts(&self, of_value: &BTreeMap<&str, u64>) -> Vec<u64> {
        let mut counts = Vec::new();
        count(&self.0, of_value, &mut counts);
        counts
    }

    /// Leaves out nodes that are below others of the list.
    fn topmost(&self, numbers: &[Number]) -> Result<Vec<Number>> {
        let mut numbers = numbers.to_vec();
        numbers.sort_unstable();
        numbers.dedup();
        let mut top: Vec<Number> = Vec::new();
        let mut end = 0;
        for number in numbers {
            let size = self.node(number).ok_or_else(gone)?.size();
            if number >= end {
                top.push(number);
                end = number + size;
            }
        }
        match top.is_empty() {
            true => Err(Error::new(ErrorCode::BadHierarchy, "nothing is selected")
                .with_hint("select values or groups first")),
            false => Ok(top),
        }
    }

    /// The label of the lowest group that all of these are below; `None` is the top.
    fn common_parent(&self, numbers: &[Number]) -> Option<String> {
        let paths: Vec<Vec<String>> = numbers.iter().map(|number| above(&self.0, *number)).collect();
        let (first, others) = paths.split_first()?;
        let shared = (0..first.len())
            .take_while(|at| others.iter().all(|path| path.get(*at) == first.get(*at)))
            .count();
        shared.checked_sub(1).map(|at| first[at].clone())
    }

    fn take(&mut self, numbers: &[Number]) -> Vec<Node> {
        let mut taken = Vec::new();
        take(&mut self.0, &mut 0, numbers, &mut taken);
        taken
    }

    fn labelled(&mut self, label: &str) -> Option<&mut Node> {
        labelled(&mut self.0, label)
    }
}

fn gone() -> Error {
    Error::new(ErrorCode::BadHierarchy, "the tree has no such node").with_hint("load the page again")
}

fn checked(label: &str) -> Result<&str> {
    let label = label.trim();
    match label {
        "" => Err(Error::new(ErrorCode::BadHierarchy, "the group has no name").with_hint("write one")),
        "*" => {
            Err(Error::new(ErrorCode::BadHierarchy, "\"*\" stands for the root")
                .with_hint("write another name"))
        }
        _ if label.contains(['\n', '\r']) => Err(Error::new(ErrorCode::BadHierarchy, "a name is one line")),
        _ => Ok(label),
    }
}

/// The labels of all groups.
fn group_labels<'a>(nodes: &'a [Node], labels: &mut Vec<&'a str>) {
    for node in nodes.iter().filter(|node| !node.is_value) {
        labels.push(&node.label);
        group_labels(&node.below, labels);
    }
}

/// The node of a number, or how many nodes there are.
fn find(nodes: &[Node], number: Number) -> Result<&Node, usize> {
    let mut before = 0;
    for node in nodes {
        let size = node.size();
        if number == before {
            return Ok(node);
        }
        if number < before + size {
            return find(&node.below, number - before - 1);
        }
        before += size;
    }
    Err(before)
}

fn find_mut(nodes: &mut [Node], number: Number) -> Result<&mut Node, usize> {
    let mut before = 0;
    for node in nodes {
        let size = node.size();
        if number == before {
            return Ok(node);
        }
        if number < before + size {
            return find_mut(&mut node.below, number - before - 1);
        }
        before += size;
    }
    Err(before)
}

/// The labels above a node, from the top.
fn above(nodes: &[Node], number: Number) -> Vec<String> {
    let mut before = 0;
    for node in nodes {
        let size = node.size();
        if (before + 1..before + size).contains(&number) {
            let mut path = vec![node.label.clone()];
            path.extend(above(&node.below, number - before - 1));
            return path;
        }
        before += size;
    }
    Vec::new()
}

fn take(nodes: &mut Vec<Node>, next: &mut usize, numbers: &[Number], taken: &mut Vec<Node>) {
    let mut kept = Vec::new();
    for mut node in std::mem::take(nodes) {
        let (own, size) = (*next, node.size());
        if numbers.contains(&own) {
            taken.push(node);
            *next += size;
        } else {
            *next += 1;
            take(&mut node.below, next, numbers, taken);
            kept.push(node);
        }
    }
    *nodes = kept;
}

fn labelled<'a>(nodes: &'a mut [Node], label: &str) -> Option<&'a mut Node> {
    for node in nodes {
        if !node.is_value && node.label == label {
            return Some(node);
        }
        if let Some(found) = labelled(&mut node.below, label) {
            return Some(found);
        }
    }
    None
}

fn dissolve(nodes: &mut Vec<Node>, number: Number) {
    let mut before = 0;
    for at in 0..nodes.len() {
        let size = nodes[at].size();
        if number == before {
            let below = std::mem::take(&mut nodes[at].below);
            nodes.splice(at..=at, below);
            return;
        }
        if number < before + size {
            return dissolve(&mut nodes[at].below, number - before - 1);
        }
        before += size;
    }
}

fn prune(nodes: &mut Vec<Node>) {
    nodes.iter_mut().for_each(|node| prune(&mut node.below));
    nodes.retain(|node| node.is_value || !node.below.is_empty());
}

fn collect(nodes: &[Node], above: &mut Vec<String>, paths: &mut Vec<Vec<String>>) {
    for node in nodes {
        if node.is_value {
            paths.push(std::iter::once(node.label.clone()).chain(above.iter().rev().cloned()).collect());
        } else {
            above.push(node.label.clone());
            collect(&node.below, above, paths);
            above.pop();
        }
    }
}

fn count(nodes: &[Node], of_value: &BTreeMap<&str, u64>, counts: &mut Vec<u64>) -> u64 {
    let mut sum = 0;
    for node in nodes {
        let at = counts.len();
        counts.push(0);
        let own = if node.is_value { of_value.get(node.label.as_str()).copied().unwrap_or(0) } else { 0 };
        counts[at] = own + count(&node.below, of_value, counts);
        sum += counts[at];
    }
    sum
}

/// A cell of the file.
fn cell(label: &str) -> String {
    let plain = !label.contains([';', ',', '"', '\n', '\r']) && label.trim() == label && !label.is_empty();
    if plain { label.to_owned() } else { format!("\"{}\"", label.replace('"', "\"\"")) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn grove() -> Grove {
        let mut grove = Grove::default();
        grove.add_missing(["Rome", "Milan", "Oslo", "a;\"b\" "].into_iter());
        grove
    }

    fn labels(grove: &Grove) -> String {
        fn tell(node: &Node) -> String {
            match node.is_value {
                true => node.label.clone(),
                false => {
                    format!("{}({})", node.label, node.below.iter().map(tell).collect::<Vec<_>>().join(" "))
                }
            }
        }
        grove.0.iter().map(tell).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn groups_are_made_nested_moved_and_taken_apart() {
        let mut own = grove();
        own.group(&[0, 1], "Italy").unwrap();
        assert_eq!(labels(&own), "Oslo a;\"b\"  Italy(Rome Milan)");
        own.group(&[0, 2], "Europe").unwrap();
        assert_eq!(labels(&own), "a;\"b\"  Europe(Oslo Italy(Rome Milan))");
        own.group(&[4], "South").unwrap();
        assert_eq!(
            labels(&own),
            "a;\"b\"  Europe(Oslo Italy(Milan South(Rome)))",
            "it stays below its group"
        );
        own.shift(&[5], None).unwrap();
        assert_eq!(labels(&own), "a;\"b\"  Europe(Oslo Italy(Milan)) South(Rome)");
        own.rename(5, "Lazio").unwrap();
        own.shift(&[5], Some(1)).unwrap();
        assert_eq!(labels(&own), "a;\"b\"  Europe(Oslo Italy(Milan) Lazio(Rome))");
        own.dissolve(1).unwrap();
        assert_eq!(labels(&own), "a;\"b\"  Oslo Italy(Milan) Lazio(Rome)");
        assert!(own.shift(&[2], Some(3)).is_err(), "a value holds nothing");
    }

    #[test]
    fn what_is_written_reads_back_as_the_same_tree() {
        let mut own = grove();
        own.group(&[0, 1], "Italy").unwrap();
        own.group(&[2, 0], "Europe; all").unwrap();
        let csv = own.to_csv();
        let tree = throng::policy::parse_hierarchy(csv.as_bytes()).unwrap();
        let mut again = Grove::of(&tree);
        let sorted = |grove: &mut Grove| {
            grove.0.sort_by(|one, other| one.label.cmp(&other.label));
            labels(grove)
        };
        assert_eq!(sorted(&mut again), sorted(&mut own), "{csv}");
    }

    #[test]
    fn names_that_would_be_ambiguous_are_refused() {
        let mut own = grove();
        for bad in ["", " ", "*", "Oslo", "two\nlines"] {
            assert!(own.clone().group(&[0, 1], bad).is_err(), "{bad}");
        }
        own.group(&[0, 1], "Italy").unwrap();
        assert!(own.clone().group(&[0, 1], "Italy").is_err());
        assert!(own.clone().group(&[], "None").is_err());
        assert!(own.clone().group(&[99], "None").is_err());
    }

    #[test]
    fn counts_are_those_of_the_values_below() {
        let mut own = grove();
        own.group(&[0, 1], "Italy").unwrap();
        let counts = own.counts(&BTreeMap::from([("Rome", 3), ("Milan", 4), ("Oslo", 5)]));
        assert_eq!(counts, [5, 0, 7, 3, 4]);
    }
}
