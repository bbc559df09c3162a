//! The outcome of a search as a solution, with its part of the report.

use super::trace::{End, Step};
use super::{Goal, Masks, Outcome, Shape, Value};
use crate::method::Solution;
use crate::problem::{Attribute, Code, Problem};
use crate::report::{Block, Node, Section};
use crate::table::ANY;
use crate::with_matrix;

pub(super) fn solution(problem: &Problem, goal: Goal, outcome: Outcome, mut notes: Vec<String>) -> Solution {
    notes.extend(end_note(outcome.end, outcome.trace.len()));
    if problem.classes.len() > 1 && goal != Goal::Loss {
        notes.push(format!("Of several classes, \"{}\" was looked at.", problem.classes[0].name));
    }
    for (attribute, masks) in problem.attributes.iter().zip(&outcome.masks) {
        if masks.shape == Shape::Intervals && attribute.domain.missing().is_some() && !masks.values[0].refined
        {
            notes.push(format!(
                "\"{}\" stays masked: its missing values could not be parted from its numbers. To leave rows with missing \
                 values out, set `incomplete = \"drop\"` under [data].",
                attribute.name
            ));
        }
    }
    let sections = vec![trace_section(problem, goal, &outcome), tree_section(problem, &outcome)];
    Solution {
        partition: outcome.partition,
        boxes: Some(outcome.boxes),
        masks: Some(outcome.masks),
        notes,
        sections,
        ..Solution::default()
    }
}

fn end_note(end: End, steps: usize) -> Option<String> {
    let why = match end {
        End::Finished => return None,
        End::Iterations => "as many refinements as allowed were made",
        End::Seconds => "the time was up",
        End::Stopped => "it was asked to stop",
    };
    Some(format!(
        "The search ended after {steps} refinements because {why}; more may be possible. What is published meets the \
         requirement."
    ))
}

fn trace_section(problem: &Problem, goal: Goal, outcome: &Outcome) -> Section {
    let gain = if goal == Goal::Loss { "loss avoided" } else { "information gain" };
    let mut head: Vec<String> =
        ["step", "attribute", "refined", "into", gain, "anonymity lost", "score"].map(str::to_owned).to_vec();
    let name = |at: usize| match outcome.qids.len() {
        1 => "smallest class".to_owned(),
        _ => format!("smallest class of quasi-identifier {}", at + 1),
    };
    head.extend((0..outcome.qids.len()).map(name));
    let rows = (1..).zip(&outcome.trace).map(|(number, step)| row(number, step)).collect();
    let mut blocks = vec![Block::Words(
        "From a table with everything masked, the best refinement that is safe was made again and again. Each line is \
         one of them."
            .to_owned(),
    )];
    if outcome.qids.len() > 1 {
        let told = (1..).zip(&outcome.qids).map(|(at, qid)| format!("{at}: {}", qid.describe(problem)));
        blocks.push(Block::Words(format!(
            "Quasi-identifiers, each kept safe by itself – {}.",
            told.collect::<Vec<_>>().join("; ")
        )));
    }
    blocks.push(Block::Table { head, rows });
    Section { heading: "Refinements".to_owned(), blocks }
}

fn row(number: usize, step: &Step) -> Vec<String> {
    let mut cells = vec![
        number.to_string(),
        step.attribute.clone(),
        step.refined.clone(),
        step.into.join(" | "),
        format!("{:.6}", step.gain),
        format!("{:.2}", step.loss),
        format!("{:.8}", step.score),
    ];
    cells.extend(step.anonymity.iter().map(u32::to_string));
    cells
}

fn tree_section(problem: &Problem, outcome: &Outcome) -> Section {
    let mut blocks = vec![Block::Words(
        "What each quasi-identifier was refined into. The ends of the branches are what is published; the figures are \
         records."
            .to_owned(),
    )];
    let counted = (0..).zip(problem.attributes.iter().zip(&outcome.masks));
    blocks.extend(counted.map(|(at, (attribute, masks))| Block::Tree(tree(problem, at, attribute, masks))));
    Section { heading: "Masks".to_owned(), blocks }
}

fn tree(problem: &Problem, at: usize, attribute: &Attribute, masks: &Masks) -> Node {
    let mut below = vec![0u64; attribute.domain.len() + 1];
    with_matrix!(&problem.records, matrix => {
        (0..problem.len()).for_each(|record| below[matrix.get(record, at).index() + 1] += 1);
    });
    for code in 1..below.len() {
        below[code] += below[code - 1];
    }
    let records = |value: &Value| below[value.high as usize + 1] - below[value.low as usize];
    let mut root = nodes(attribute, masks, &records);
    if masks.shape == Shape::Suppression && masks.values.len() > 1 {
        let hidden = problem.len() as u64 - masks.values[1..].iter().map(records).sum::<u64>();
        if hidden > 0 {
            let (label, detail) = (ANY.to_owned(), hidden.to_string());
            root.children.push(Node { label, detail, children: Vec::new() });
        }
    }
    root.label = format!("{}: {}", attribute.name, root.label);
    root
}

/// Deeper than this a picture helps nobody.
const DEEPEST: usize = 64;

fn nodes(attribute: &Attribute, masks: &Masks, records: &impl Fn(&Value) -> u64) -> Node {
    let mut depth: Vec<usize> = Vec::with_capacity(masks.values.len());
    let mut nodes: Vec<Node> = Vec::with_capacity(masks.values.len());
    for value in &masks.values {
        depth.push(value.parent.map_or(0, |parent| depth[parent as usize] + 1));
        nodes.push(Node {
            label: attribute.domain.half_open_cell(value.low, value.high),
            detail: records(value).to_string(),
            children: Vec::new(),
        });
    }
    // Backwards, so that every node is complete when it is put below its parent.
    for at in (1..nodes.len()).rev() {
        let mut node = std::mem::take(&mut nodes[at]);
        node.children.reverse();
        match masks.values[at].parent {
            Some(parent) if depth[at] < DEEPEST => nodes[parent as usize].children.push(node),
            Some(parent) if depth[at] == DEEPEST => {
                let parent = &mut nodes[parent as usize];
                parent.children = vec![Node { label: "… refined further".to_owned(), ..Node::default() }];
            }
            _ => {}
        }
    }
    let mut root = std::mem::take(&mut nodes[0]);
    root.children.reverse();
    root
}
