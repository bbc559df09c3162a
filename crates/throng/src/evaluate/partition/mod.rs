//! Recursive partitioning: do the patterns of the table survive? (Morton 2012)
//!
//! A tree of best splits (`tree.rs`) over the table and one over the release are drawn side by side. A *pattern* is a node
//! of the table's tree in which one class has a large share (`share`, 90 % by default). It survives
//! * as it is, if the rows of the release that certainly meet its conditions are at least half as many as in the table,
//!   with at most five points less of the class; or
//! * in another place, if the release's tree has a node with the same attributes split to the same sides, perhaps at other
//!   values, with the same class, at most five points less of it, and from half to twice the rows, overlap left out.
//!
//! Rows whose cells meet the conditions only in part are told too.

mod rows;
mod tree;

use serde_json::{Map, Value, json};

use super::{Entry, Outcome, Study, Task};
use crate::error::Result;
use crate::method::options::{Numbers, OptionKind, OptionSpec};
use crate::report::{self, Block, Section};
use crate::watch::Watch;
use rows::{Content, Rows, Target};
use tree::{Growth, Node, Split, Where, grow};

/// The registry entry.
pub const PARTITION: Entry = Entry {
    name: "partition",
    summary: "splits table and release by what tells a class best, and says which patterns survive",
    citation: "Morton: An improved utility driven approach towards k-anonymity using data constraint rules, Indiana University 2012",
    options: &[
        OptionSpec {
            name: "target",
            kind: OptionKind::Text,
            help: "the attribute to tell from the others; the class or the sensitive one without it",
        },
        OptionSpec {
            name: "depth",
            kind: OptionKind::Whole { least: 1, default: Some(3) },
            help: "how deep trees grow",
        },
        OptionSpec {
            name: "least",
            kind: OptionKind::Whole { least: 1, default: Some(50) },
            help: "the fewest records of a node that is split",
        },
        OptionSpec {
            name: "share",
            kind: OptionKind::Number { allowed: Numbers::SHARE, default: Some(0.9) },
            help: "a class of this share makes a pattern",
        },
    ],
    configure: |options| {
        Ok(Box::new(Partition {
            target: options.text("target")?.map(str::to_owned),
            growth: Growth {
                depth: options.whole("depth")?.min(30) as usize,
                least: options.whole("least")? as usize,
            },
            share: options.number("share")?,
        }))
    },
};

/// The task.
#[derive(Clone, Debug)]
pub struct Partition {
    /// The attribute to tell from the others.
    pub target: Option<String>,
    /// How trees are grown.
    pub growth: Growth,
    /// A class of this share makes a pattern.
    pub share: f64,
}

/// A pattern of the table, looked for in the release.
#[derive(Clone, Debug)]
struct Pattern {
    text: String,
    class: String,
    raw: (u64, f64),
    certain: (u64, f64),
    possible: u64,
    /// Where the release's own tree has it.
    elsewhere: Option<(String, u64, f64)>,
}

impl Pattern {
    fn survives(&self) -> bool {
        self.stays() || self.elsewhere.is_some()
    }

    /// Whether it can be read off the release as it is.
    fn stays(&self) -> bool {
        2 * self.certain.0 >= self.raw.0 && self.certain.1 >= self.raw.1 - 0.05
    }
}

/// One condition of a pattern: a split, and which side of it.
type Condition<'a> = (&'a Split, bool);

impl Task for Partition {
    fn run(&self, study: &Study<'_>, watch: &dyn Watch) -> Result<Outcome> {
        let target = Target::find(study.problem, self.target.as_deref())?;
        let raw = Rows::raw(study.problem, &target);
        let released = Rows::released(study, &target, &raw.classes)?;
        let raw_tree = grow(&raw, self.growth);
        watch.check()?;
        let released_tree = grow(&released, self.growth);
        let mut patterns = Vec::new();
        self.patterns((&raw, &released), (&raw_tree, &released_tree), &mut Vec::new(), &mut patterns);
        let name = target.name(study.problem);
        let survive = patterns.iter().filter(|pattern| pattern.survives()).count();
        let headline = match patterns.is_empty() {
            true => format!(
                "The table has no pattern that tells \"{name}\" in {:.0} % of its records.",
                100.0 * self.share
            ),
            false => format!("{survive} of {} patterns that tell \"{name}\" survive.", patterns.len()),
        };
        let mut figures = Map::new();
        figures.insert("target".to_owned(), name.into());
        figures.insert("raw".to_owned(), tree_json(&raw, &raw_tree));
        figures.insert("released".to_owned(), tree_json(&released, &released_tree));
        figures.insert("patterns".to_owned(), patterns.iter().map(pattern_json).collect());
        let draw = |heading: &str, rows: &Rows, tree: &Node| Section {
            heading: heading.to_owned(),
            blocks: vec![Block::Tree(drawn(rows, tree, "all records".to_owned()))],
        };
        let sections = vec![
            draw("The table", &raw, &raw_tree),
            draw("The release", &released, &released_tree),
            patterns_section(&patterns),
        ];
        Ok(Outcome { figures, headline: vec![headline], sections, exported: Vec::new() })
    }
}

impl Partition {
    /// Walks the table's tree and looks for its patterns in the release; below a pattern there is no other.
    fn patterns<'a>(
        &self,
        (raw, released): (&Rows, &Rows),
        (node, other): (&'a Node, &Node),
        conditions: &mut Vec<Condition<'a>>,
        found: &mut Vec<Pattern>,
    ) {
        let (class, share) = node.majority();
        if !conditions.is_empty() && share >= self.share {
            let mut pattern = pattern(raw, released, node, class, conditions);
            pattern.elsewhere = elsewhere(released, other, conditions, &pattern, class);
            found.push(pattern);
            return;
        }
        let Some((split, sides)) = &node.split else { return };
        for (side, is_left) in sides.iter().zip([true, false]) {
            conditions.push((split, is_left));
            self.patterns((raw, released), (side, other), conditions, found);
            conditions.pop();
        }
    }
}

/// Looks for a pattern in the release's own tree: the same attributes and sides, wherever they are split.
fn elsewhere(
    released: &Rows,
    tree: &Node,
    conditions: &[Condition<'_>],
    pattern: &Pattern,
    class: usize,
) -> Option<(String, u64, f64)> {
    let mut node = tree;
    let mut texts = Vec::new();
    for (condition, is_left) in conditions {
        let (split, sides) = node.split.as_ref()?;
        if split.feature != condition.feature {
            return None;
        }
        texts.push(words(released, split, *is_left));
        node = if *is_left { &sides[0] } else { &sides[1] };
    }
    let (rows, (majority, share)) = (node.rows() - node.overlap, node.majority());
    let alike = majority == class && share >= pattern.raw.1 - 0.05;
    (alike && 2 * rows >= pattern.raw.0 && rows <= 2 * pattern.raw.0)
        .then(|| (texts.join(" and "), rows, share))
}

fn pattern(raw: &Rows, released: &Rows, node: &Node, class: usize, conditions: &[Condition<'_>]) -> Pattern {
    let (mut certain, mut of_class, mut possible) = (0u64, 0u64, 0u64);
    for row in 0..released.target.len() {
        let met = conditions.iter().map(|condition| meets(raw, released, condition, row));
        match met.fold(Met::Certainly, Met::and) {
            Met::Certainly => {
                certain += 1;
                of_class += u64::from(released.target[row] as usize == class);
            }
            Met::Possibly => possible += 1,
            Met::Not => {}
        }
    }
    let texts: Vec<String> = conditions.iter().map(|(split, left)| words(raw, split, *left)).collect();
    Pattern {
        text: texts.join(" and "),
        class: raw.classes[class].clone(),
        raw: (node.rows(), node.majority().1),
        certain: (certain, of_class as f64 / certain.max(1) as f64),
        possible,
        elsewhere: None,
    }
}

/// Whether a row of the release meets a condition.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Met {
    Not,
    Possibly,
    Certainly,
}

impl Met {
    fn and(self, other: Self) -> Self {
        self.min(other)
    }

    fn of(all: bool, some: bool) -> Self {
        match (all, some) {
            (true, _) => Met::Certainly,
            (false, true) => Met::Possibly,
            (false, false) => Met::Not,
        }
    }
}

/// Features are the same in table and release; labels of the table are single leaves.
fn meets(raw: &Rows, released: &Rows, (split, left): &Condition<'_>, row: usize) -> Met {
    match (&raw.features[split.feature].content, &released.features[split.feature].content, &split.at) {
        (_, Content::Numbers(ends), Where::Number(at)) => {
            let (low, high) = ends[row];
            match left {
                true => Met::of(high < *at, low < *at),
                false => Met::of(low >= *at, high >= *at),
            }
        }
        (_, Content::Labels { of_row, leaves, .. }, Where::Labels(side)) => {
            let (first, last) = leaves[of_row[row] as usize];
            let inside = |leaf: u32| (side.binary_search(&leaf).is_ok()) == *left;
            Met::of((first..=last).all(inside), (first..=last).any(inside))
        }
        _ => Met::Not,
    }
}

fn words(rows: &Rows, split: &Split, left: bool) -> String {
    let feature = &rows.features[split.feature];
    match (&split.at, &feature.content) {
        (Where::Labels(side), Content::Labels { names, .. }) => {
            let names: Vec<&str> = side.iter().map(|label| names[*label as usize].as_str()).collect();
            const ENOUGH: usize = 4;
            let mut told = names[..names.len().min(ENOUGH)].join(", ");
            if names.len() > ENOUGH {
                told.push_str(&format!(" and {} more", names.len() - ENOUGH));
            }
            format!("{} {} {told}", feature.name, if left { "is" } else { "is not" })
        }
        (Where::Number(at), _) => {
            format!("{} {} {}", feature.name, if left { "<" } else { "≥" }, feature.spelt(*at))
        }
        (Where::Labels(_), Content::Numbers(_)) => feature.name.clone(),
    }
}

fn drawn(rows: &Rows, node: &Node, label: String) -> report::Node {
    let (class, share) = node.majority();
    let mut detail = format!("{} rows, {:.1} % {}", node.rows(), 100.0 * share, rows.classes[class]);
    if node.overlap > 0 {
        detail.push_str(&format!(", {} overlap", node.overlap));
    }
    let children = match &node.split {
        None => Vec::new(),
        Some((split, sides)) => sides
            .iter()
            .zip([true, false])
            .map(|(side, left)| drawn(rows, side, words(rows, split, left)))
            .collect(),
    };
    report::Node { label, detail, children }
}

fn tree_json(rows: &Rows, node: &Node) -> Value {
    let (class, share) = node.majority();
    let mut value = json!({
        "rows": node.rows(), "class": rows.classes[class], "share": share, "overlap": node.overlap,
    });
    if let Some((split, sides)) = &node.split {
        value["gain"] = split.gain.into();
        value["split"] = [true, false].iter().map(|left| words(rows, split, *left)).collect();
        value["sides"] = sides.iter().map(|side| tree_json(rows, side)).collect();
    }
    value
}

fn pattern_json(pattern: &Pattern) -> Value {
    json!({
        "pattern": pattern.text, "class": pattern.class, "raw_rows": pattern.raw.0, "raw_share": pattern.raw.1,
        "certain_rows": pattern.certain.0, "certain_share": pattern.certain.1, "possible_rows": pattern.possible,
        "survives": pattern.survives(),
        "elsewhere": pattern.elsewhere.as_ref().map(|(text, rows, share)| {
            json!({ "pattern": text, "rows": rows, "share": share })
        }),
    })
}

fn patterns_section(patterns: &[Pattern]) -> Section {
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let row = |pattern: &Pattern| {
        vec![
            pattern.text.clone(),
            pattern.class.clone(),
            pattern.raw.0.to_string(),
            percent(pattern.raw.1),
            pattern.certain.0.to_string(),
            percent(pattern.certain.1),
            pattern.possible.to_string(),
            match (pattern.stays(), &pattern.elsewhere) {
                (true, _) => "survives".to_owned(),
                (false, Some((text, rows, share))) => {
                    format!("survives as {text} ({rows} rows, {})", percent(*share))
                }
                (false, None) => "is lost".to_owned(),
            },
        ]
    };
    let head = [
        "pattern of the table",
        "class",
        "rows",
        "share",
        "certain in the release",
        "share",
        "possible",
        "outcome",
    ];
    Section {
        heading: "Patterns".to_owned(),
        blocks: vec![Block::Table {
            head: head.map(str::to_owned).to_vec(),
            rows: patterns.iter().map(row).collect(),
        }],
    }
}
