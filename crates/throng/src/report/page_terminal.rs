//! A page in at most 80 columns of plain text. Charts are left to the HTML page.

use super::narrow_table::narrow_table;
use super::page::{Block, Claim, Node, Page};
use super::terminal::{COLUMNS, finished};
use super::text::wrap;

/// A page in plain text.
pub fn page_terminal(page: &Page) -> String {
    let mut lines = Vec::new();
    lines.extend(wrap(&page.title, COLUMNS));
    lines.extend(wrap(&page.subtitle, COLUMNS));
    for section in &page.sections {
        let blocks: Vec<String> = section.blocks.iter().flat_map(block).collect();
        if !blocks.is_empty() {
            lines.extend([String::new(), section.heading.clone()]);
            lines.extend(blocks);
        }
    }
    if !page.headline.is_empty() {
        lines.push(String::new());
        lines.extend(page.headline.iter().flat_map(|sentence| wrap(sentence, COLUMNS)));
    }
    finished(&lines)
}

fn block(block: &Block) -> Vec<String> {
    match block {
        Block::Words(words) => indented(words, 2),
        Block::Table { head, rows } => narrow_table(head, rows),
        Block::Lines(_) | Block::Bars(_) => Vec::new(),
        Block::Tree(root) => outline(root),
        Block::Claims(claims) => claims.iter().flat_map(claim).collect(),
    }
}

fn indented(words: &str, blanks: usize) -> Vec<String> {
    wrap(words, COLUMNS - blanks).into_iter().map(|line| " ".repeat(blanks) + &line).collect()
}

fn outline(root: &Node) -> Vec<String> {
    let mut lines = Vec::new();
    let mut open = vec![(root, 1)];
    while let Some((node, depth)) = open.pop() {
        // Deeper than half the terminal the indent tells nothing more.
        lines.extend(indented(&format!("{}  {}", node.label, node.detail), (depth * 2).min(COLUMNS / 2)));
        open.extend(node.children.iter().rev().map(|child| (child, depth + 1)));
    }
    lines
}

fn claim(claim: &Claim) -> Vec<String> {
    let mut lines = indented(&format!("{}: {}", claim.verdict.mark(), claim.text), 2);
    lines.extend(indented(&claim.evidence, 4));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Section, Verdict};

    #[test]
    fn words_tables_trees_and_claims_are_told() {
        let blocks = vec![
            Block::Words("some words".into()),
            Block::Table { head: vec!["a".into(), "b".into()], rows: vec![vec!["x".into(), "7".into()]] },
            Block::Tree(Node {
                label: "root".into(),
                children: vec![Node { label: "leaf".into(), ..Node::default() }],
                ..Node::default()
            }),
            Block::Claims(vec![Claim {
                text: "said".into(),
                verdict: Verdict::Held,
                evidence: "seen".into(),
            }]),
        ];
        let page = Page {
            title: "t".into(),
            headline: vec!["In short.".into()],
            sections: vec![Section { heading: "All".into(), blocks }],
            ..Page::default()
        };
        let text = page_terminal(&page);
        for told in
            ["All", "  some words", "  x  7", "  root", "    leaf", "✓ held: said", "    seen", "In short."]
        {
            assert!(text.contains(told), "{told} is missing in\n{text}");
        }
        assert!(text.lines().all(|line| line.chars().count() <= COLUMNS));
    }
}
