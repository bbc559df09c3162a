//! Hierarchies that need no file: bands of numbers, prefixes, calendar units.

use std::borrow::Cow;

use super::domain::{Misfit, shorten};
use super::taxonomy::Tree;
use super::value;
use crate::policy::{DateUnit, Hierarchy};

/// The labels above a value, from its parent upwards, if the hierarchy has a place for it.
type PathOf<'a> = dyn Fn(&str) -> Option<Vec<String>> + 'a;

/// The tree that a hierarchy gives the values of a dictionary.
pub(super) fn tree<'a>(
    hierarchy: &'a Hierarchy,
    texts: &[&str],
    missing: &[bool],
) -> Result<Cow<'a, Tree>, Misfit> {
    let path: Box<PathOf<'_>> = match hierarchy {
        Hierarchy::Tree(tree) => return Ok(Cow::Borrowed(tree)),
        Hierarchy::Intervals(widths) => {
            let whole = texts.iter().zip(missing).all(|(text, missing)| *missing || is_whole(text))
                && widths.iter().all(|width| width.fract() == 0.0);
            Box::new(move |text| bands(text, widths, whole))
        }
        Hierarchy::Prefix(lengths) => Box::new(|text| Some(prefixes(text, lengths))),
        Hierarchy::Dates(units) => Box::new(|text| calendar(text, units)),
    };
    let mut leaves = Vec::new();
    for (entry, text) in texts.iter().enumerate().filter(|(entry, _)| !missing[*entry]) {
        let path = path(text).ok_or_else(|| misfit(entry, text, hierarchy))?;
        leaves.push((value::number(text).or_else(|| value::date(text)), *text, path));
    }
    leaves.sort_by(|a, b| a.0.unwrap_or(0.0).total_cmp(&b.0.unwrap_or(0.0)).then(a.1.cmp(b.1)));
    let mut tree = Tree::default();
    for (_, text, mut path) in leaves {
        path.insert(0, text.to_owned());
        tree.push(path).map_err(|error| ambiguous(&error))?;
    }
    // No common root is dropped: `*` is above all of them, and a band shared by all is a band.
    tree.check_labels().map_err(|error| ambiguous(&error))?;
    Ok(Cow::Owned(tree))
}

/// All labels that a builder may give the groups of a value, whatever the other values are.
pub(crate) fn labels_above(hierarchy: &Hierarchy, text: &str) -> Vec<String> {
    match hierarchy {
        Hierarchy::Tree(tree) => tree.above(text).unwrap_or_default().to_vec(),
        Hierarchy::Intervals(widths) => {
            [true, false].iter().filter_map(|whole| bands(text, widths, *whole)).flatten().collect()
        }
        Hierarchy::Prefix(lengths) => prefixes(text, lengths),
        Hierarchy::Dates(units) => calendar(text, units).unwrap_or_default(),
    }
}

fn misfit(entry: usize, text: &str, hierarchy: &Hierarchy) -> Misfit {
    let what =
        if matches!(hierarchy, Hierarchy::Dates(_)) { "an ISO date like 2024-02-29" } else { "a number" };
    Misfit {
        entry: entry as u32,
        message: format!("\"{}\" is not {what}, as the hierarchy of its attribute asks", shorten(text)),
        hint: "correct the cell, list it under [data] missing, or choose another hierarchy".to_owned(),
    }
}

fn ambiguous(error: &crate::Error) -> Misfit {
    Misfit { entry: 0, message: error.message().to_owned(), hint: "give the hierarchy as a file".to_owned() }
}

fn is_whole(text: &str) -> bool {
    value::number(text).is_some_and(|number| number.fract() == 0.0)
}

/// `[20-24]` for whole numbers, `[20-25)` for others.
fn bands(text: &str, widths: &[f64], whole: bool) -> Option<Vec<String>> {
    let number = value::number(text)?;
    Some(
        widths
            .iter()
            .map(|width| {
                let low = (number / width).floor() * width;
                if whole {
                    format!("[{low}-{}]", low + width - 1.0)
                } else {
                    format!("[{low}-{})", low + width)
                }
            })
            .collect(),
    )
}

/// `5371*`, `537*`; a value that is no longer than a prefix stands for itself.
fn prefixes(text: &str, lengths: &[usize]) -> Vec<String> {
    lengths
        .iter()
        .filter(|length| **length > 0)
        .map(|&length| match text.char_indices().nth(length) {
            Some((end, _)) => format!("{}*", &text[..end]),
            None => text.to_owned(),
        })
        .collect()
}

fn calendar(text: &str, units: &[DateUnit]) -> Option<Vec<String>> {
    value::date(text)?;
    let (year, month) = (&text[..4], &text[5..7]);
    let month_number: u32 = month.parse().ok()?;
    Some(
        units
            .iter()
            .map(|unit| match unit {
                DateUnit::Month => format!("{year}-{month}"),
                DateUnit::Quarter => format!("{year}-Q{}", month_number.div_ceil(3)),
                DateUnit::Year => year.to_owned(),
                DateUnit::Decade => format!("{}0s", &year[..3]),
                DateUnit::Century => format!("{0}00-{0}99", &year[..2]),
            })
            .collect(),
    )
}
