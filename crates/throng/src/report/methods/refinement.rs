//! What a top-down refinement did, and the masks it ended with.

use crate::method::facts::{MaskTree, Refinement};
use crate::method::refine::{End, Goal, Step, Why};
use crate::report::page::{Block, Node, Section};
use crate::report::text::listing;

pub(super) fn notes(found: &Refinement) -> Vec<String> {
    let follow = found
        .follow
        .iter()
        .map(|(one, other)| format!("The quasi-identifier {one} follows from {other} and was left out."));
    let class =
        found.class_of_several.iter().map(|name| format!("Of several classes, \"{name}\" was looked at."));
    let masked = found.masked_by_missing.iter().map(|name| {
        format!(
            "\"{name}\" stays masked: its missing values could not be parted from its numbers. To leave rows with missing \
             values out, set `incomplete = \"drop\"` under [data]."
        )
    });
    let stayed = found.stayed.iter().filter(|own| !found.masked_by_missing.contains(&own.attribute));
    let stayed = stayed.map(|own| stayed_note(found, &own.attribute, own.why));
    follow
        .chain(end_note(found.end, found.steps.len()))
        .chain(class)
        .chain(tried_note(found))
        .chain(masked)
        .chain(stayed)
        .chain(found.masks.iter().filter_map(rest_note))
        .collect()
}

/// What a reader must know of groups that were refined into some of their children.
fn rest_note(tree: &MaskTree) -> Option<String> {
    let rests = tree.values.iter().filter(|own| own.rest).map(|own| format!("\"{}\"", own.label));
    let rests: Vec<String> = rests.collect();
    (!rests.is_empty()).then(|| {
        format!(
            "In \"{}\", {} {} for those values of the group that are not told by themselves: to tell all of them apart was \
             not safe. Readers of the release should know that.",
            tree.attribute,
            listing(&rests),
            if rests.len() == 1 { "stands" } else { "stand" }
        )
    })
}

fn stayed_note(found: &Refinement, attribute: &str, why: Why) -> String {
    let because = match why {
        Why::TooFew { quasi_identifier, records } => format!(
            "the first step would leave a combination of {} with {records} {} at most",
            found.quasi_identifiers.get(quasi_identifier).map_or("the quasi-identifier", String::as_str),
            if records == 1 { "record" } else { "records" }
        ),
        Why::Beyond => "the first step would break what is required of sensitive values".to_owned(),
        Why::NothingToGain => "its values do not help to tell the classes apart".to_owned(),
        Why::Ended => "the search was ended before its turn".to_owned(),
    };
    format!("\"{attribute}\" stays masked as a whole: {because}.")
}

fn tried_note(found: &Refinement) -> Option<String> {
    let ((taken, least), others) = found.tried.split_first()?;
    let told = |(way, error): &(String, f64)| format!("{way} ({:.2} %)", 100.0 * error);
    let others: Vec<String> = others.iter().map(told).collect();
    Some(format!(
        "Several quasi-identifiers were refined in {} ways, and the one was taken from which a decision tree predicts the \
         class best: {taken} ({:.2} % wrong on records it has not seen); the others were {}. `first` and `anonymity` under \
         [method] choose.",
        found.tried.len(),
        100.0 * least,
        listing(&others)
    ))
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

pub(super) fn sections(found: &Refinement) -> Vec<Section> {
    vec![trace(found), masks(found)]
}

fn trace(found: &Refinement) -> Section {
    let gain = if found.goal == Goal::Loss { "loss avoided" } else { "information gain" };
    let mut head: Vec<String> =
        ["step", "attribute", "refined", "into", gain, "anonymity lost", "score"].map(str::to_owned).to_vec();
    let count = found.quasi_identifiers.len();
    let name = |at: usize| match count {
        1 => "smallest class".to_owned(),
        _ => format!("smallest class of quasi-identifier {}", at + 1),
    };
    head.extend((0..count).map(name));
    let mut blocks = vec![Block::Words(
        "From a table with everything masked, the best refinement that is safe was made again and again. Each line is \
         one of them."
            .to_owned(),
    )];
    if count > 1 {
        let told = (1..).zip(&found.quasi_identifiers).map(|(at, own)| format!("{at}: {own}"));
        blocks.push(Block::Words(format!(
            "Quasi-identifiers, each kept safe by itself – {}.",
            told.collect::<Vec<_>>().join("; ")
        )));
    }
    let rows = (1..).zip(&found.steps).map(|(number, step)| row(number, step)).collect();
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

fn masks(found: &Refinement) -> Section {
    let mut blocks = vec![Block::Words(
        "What each quasi-identifier was refined into. The ends of the branches are what is published; the figures are \
         records."
            .to_owned(),
    )];
    blocks.extend(found.masks.iter().map(|tree| Block::Tree(nodes(tree))));
    Section { heading: "Masks".to_owned(), blocks }
}

/// Deeper than this a picture helps nobody.
const DEEPEST: usize = 64;

fn nodes(tree: &MaskTree) -> Node {
    let mut depth: Vec<usize> = Vec::with_capacity(tree.values.len());
    let mut nodes: Vec<Node> = Vec::with_capacity(tree.values.len());
    for value in &tree.values {
        depth.push(value.parent.map_or(0, |parent| depth[parent as usize] + 1));
        let (label, detail) = (value.label.clone(), value.records.to_string());
        nodes.push(Node { label, detail, children: Vec::new() });
    }
    // Backwards, so that every node is complete when it is put below its parent.
    for at in (1..nodes.len()).rev() {
        let mut node = std::mem::take(&mut nodes[at]);
        node.children.reverse();
        match tree.values[at].parent {
            Some(parent) if depth[at] < DEEPEST => nodes[parent as usize].children.push(node),
            Some(parent) if depth[at] == DEEPEST => {
                let parent = &mut nodes[parent as usize];
                parent.children = vec![Node { label: "… refined further".to_owned(), ..Node::default() }];
            }
            _ => {}
        }
    }
    let mut root = nodes.into_iter().next().unwrap_or_default();
    root.children.reverse();
    root.label = format!("{}: {}", tree.attribute, root.label);
    root
}
