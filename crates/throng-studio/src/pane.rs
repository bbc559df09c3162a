//! The policy beside every screen: its text, the piece that the screen stands for, and what is wrong with it, at its line.

use std::ops::RangeInclusive;
use std::sync::Arc;

use minijinja::{Value, context};
use throng::{Policy, Role};

use crate::screens::{At, Screen, refusal, render, told};
use crate::studio::Studio;

/// The pane.
pub fn pane(studio: &Arc<Studio>, screen: Screen, at: &At) -> String {
    let context = studio.project(|project| {
        let text = project.draft().or(project.text()).unwrap_or_default().to_owned();
        let error = match project.draft() {
            Some(draft) => project.check(draft).err(),
            None if project.text().is_some() => project.policy().err(),
            None => None,
        };
        let (undo, redo) = project.steps();
        let line = error.as_ref().and_then(|error| error.place().line);
        context! {
            name => project.policy_name().to_owned(),
            text => text.clone(),
            draft => project.draft().is_some(),
            error => error.as_ref().map(told),
            lines => lines(&text, &piece(&text, screen, column_name(studio, at, project.policy().ok().as_ref()).as_deref()), line),
            undo => undo.map(str::to_owned),
            redo => redo.map(str::to_owned),
            exists => project.text().is_some(),
        }
    });
    render("pane.html", context).unwrap_or_else(|error| refusal(error.message()))
}

/// The column that a screen is about: the one of the address, or the first that the screen offers.
fn column_name(studio: &Studio, at: &At, policy: Option<&Policy>) -> Option<String> {
    let opened = studio.opened()?;
    let names = opened.table.names();
    let wanted = at.get("column").and_then(|column| column.parse::<usize>().ok());
    let is_quasi = |name: &&String| policy.is_some_and(|policy| policy.role(name) == Role::Quasi);
    wanted.and_then(|at| names.get(at)).or_else(|| names.iter().find(is_quasi)).cloned()
}

/// The numbers of the lines, with what marks each.
fn lines(text: &str, piece: &[RangeInclusive<usize>], error: Option<u64>) -> Vec<Value> {
    let count = text.lines().count().max(1) + usize::from(text.ends_with('\n'));
    (1..=count)
        .map(|line| {
            let wrong = error == Some(line as u64);
            context! { number => line, wrong, own => piece.iter().any(|lines| lines.contains(&line)) }
        })
        .collect()
}

/// The lines that a screen stands for: sections from their header to the line before the next.
pub fn piece(text: &str, screen: Screen, column: Option<&str>) -> Vec<RangeInclusive<usize>> {
    let own = |header: &str| match screen {
        Screen::Table => header == "data" || header.starts_with("attribute."),
        Screen::Hierarchies | Screen::Rules => match column {
            Some(column) => {
                header == format!("attribute.{column}") || header == format!("attribute.{}", quoted(column))
            }
            None => header.starts_with("attribute."),
        },
        Screen::Privacy => header == "privacy" || header.starts_with("privacy.") || header == "method",
        Screen::Result => header == "method" || header.starts_with("evaluate"),
        Screen::Publish => true,
    };
    let mut pieces = Vec::new();
    let mut open: Option<usize> = None;
    let mut last = 0;
    for (at, line) in text.lines().enumerate() {
        if let Some(header) = header(line) {
            pieces.extend(open.take().map(|from| from..=at));
            open = own(header).then_some(at + 1);
        }
        last = at + 1;
    }
    pieces.extend(open.map(|from| from..=last));
    pieces
}

/// The name of a section whose header a line is.
fn header(line: &str) -> Option<&str> {
    let line = line.trim();
    let inside = line.strip_prefix('[')?;
    let inside = inside.strip_prefix('[').unwrap_or(inside);
    let (name, after) = inside.split_once(']')?;
    let after = after.trim_start_matches(']').trim();
    // A list over several lines has such lines too, but with commas or numbers.
    let is_header = (after.is_empty() || after.starts_with('#')) && !name.contains(',') && !name.is_empty();
    is_header.then_some(name.trim())
}

fn quoted(name: &str) -> String {
    toml_edit::Value::from(name).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# head\n[privacy] # ours\nk = 5\n\n[attribute.age]\nrole = \"quasi\"\n\n[attribute.\"a b\"]\nrole = \"other\"\n";

    #[test]
    fn each_screen_marks_its_piece() {
        assert_eq!(piece(TEXT, Screen::Privacy, None), [2..=4]);
        assert_eq!(piece(TEXT, Screen::Table, None), [5..=7, 8..=9]);
        assert_eq!(piece(TEXT, Screen::Rules, Some("age")), [5..=7]);
        assert_eq!(piece(TEXT, Screen::Hierarchies, Some("a b")), [8..=9]);
        assert!(piece("not toml [", Screen::Publish, None).is_empty());
    }
}
