//! Trees as outlines: one line of text per node, indented by depth, elbows to the parent.

use super::super::page::Node;
use super::{Anchor, Drawing, Svg, label_width};

const ROW: f64 = 20.0;
const INDENT: f64 = 22.0;
const LEFT: f64 = 8.0;
/// As wide as a page at least: narrower drawings would be blown up to its width, letters and all.
const PAGE: f64 = 1080.0;
/// Longer texts are cut, and told on hovering.
const MOST: f64 = 420.0;

/// Draws a tree.
pub(crate) fn outline_tree(root: &Node) -> Svg {
    let rows = rows(root);
    let end =
        |row: &Row<'_>| start(row.depth) + text_width(&row.node.label) + text_width(&row.node.detail) + 24.0;
    let width = rows.iter().map(end).fold(PAGE, f64::max);
    let mut drawing = Drawing::new(width, rows.len() as f64 * ROW + 6.0);
    for (at, row) in rows.iter().enumerate() {
        let y = middle(at);
        if let Some(parent) = row.parent {
            let x = start(row.depth - 1) + 3.0;
            drawing.line("axis", (x, middle(parent) + 6.0), (x, y));
            drawing.line("axis", (x, y), (start(row.depth) - 4.0, y));
        }
        let x = start(row.depth);
        drawing.text((x, y + 4.0), Anchor::Start, &row.node.label, MOST);
        drawing.class_text(
            "detail",
            (x + text_width(&row.node.label) + 10.0, y + 4.0),
            &row.node.detail,
            MOST,
        );
    }
    drawing.finish(&root.label)
}

struct Row<'a> {
    node: &'a Node,
    depth: usize,
    parent: Option<usize>,
}

/// The nodes from top to bottom.
fn rows(root: &Node) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    let mut open = vec![Row { node: root, depth: 0, parent: None }];
    while let Some(row) = open.pop() {
        let (at, depth) = (rows.len(), row.depth + 1);
        open.extend(row.node.children.iter().rev().map(|node| Row { node, depth, parent: Some(at) }));
        rows.push(row);
    }
    rows
}

fn start(depth: usize) -> f64 {
    LEFT + depth as f64 * INDENT
}

fn middle(row: usize) -> f64 {
    row as f64 * ROW + ROW / 2.0 + 3.0
}

fn text_width(text: &str) -> f64 {
    label_width(text).min(MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_stand_below_each_other_in_reading_order() {
        let leaf = |label: &str| Node { label: label.into(), ..Node::default() };
        let inner = Node { label: "b".into(), detail: "12 records".into(), children: vec![leaf("c")] };
        let markup =
            outline_tree(&Node { label: "a".into(), children: vec![inner, leaf("d")], ..Node::default() })
                .into_markup();
        let place = |label: &str| markup.find(&format!(">{label}</text>"));
        assert!(place("a") < place("b") && place("b") < place("c") && place("c") < place("d"));
        assert!(place("a").is_some() && markup.contains("12 records"));
        assert_eq!(markup.matches("<line").count(), 6, "two lines to each parent");
    }

    #[test]
    fn deep_trees_do_not_exhaust_the_stack() {
        let mut node = Node::default();
        for depth in 0..2000 {
            node = Node { label: depth.to_string(), children: vec![node], ..Node::default() };
        }
        assert!(outline_tree(&node).into_markup().contains(">1999<"));
    }
}
