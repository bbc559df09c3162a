//! Hierarchies that need no file: bands of numbers, prefixes, calendar units.

use std::borrow::Cow;

use super::domain::Misfit;
use crate::collections::Arrange;
use crate::error::ErrorCode;
use crate::schema::Spelling;
use crate::schema::Tree;
use crate::schema::{DateUnit, Hierarchy, Official};
use crate::words::shorten;

/// The labels above a value, from its parent upwards, if the hierarchy has a place for it.
type PathOf<'a> = dyn Fn(&str) -> Option<Vec<String>> + 'a;

/// The tree that a hierarchy gives the values of a dictionary.
pub(super) fn tree<'a>(
    hierarchy: &'a Hierarchy,
    spelling: &Spelling,
    texts: &[&str],
    missing: &[bool],
) -> Result<Cow<'a, Tree>, Misfit> {
    let path: Box<PathOf<'_>> = match hierarchy {
        Hierarchy::Tree(tree) => return Ok(Cow::Borrowed(tree)),
        Hierarchy::Intervals(widths) => {
            let whole = all_whole(spelling, texts, missing);
            Box::new(move |text| bands(spelling.read(text)?, widths, (spelling, whole)))
        }
        Hierarchy::Prefix(lengths) => Box::new(|text| Some(prefixes(text, lengths))),
        Hierarchy::Dates(units) => Box::new(|text| calendar(spelling.year_and_month(text)?, units)),
        Hierarchy::Official(own) => {
            let whole = all_whole(spelling, texts, missing);
            Box::new(move |text| official(own, spelling, text, whole))
        }
    };
    let mut leaves = Vec::new();
    for (entry, text) in texts.iter().enumerate().filter(|(entry, _)| !missing[*entry]) {
        let path = path(text).ok_or_else(|| misfit(entry, text, hierarchy))?;
        leaves.push((spelling.read(text), *text, path));
    }
    // Several values may be published as one.
    leaves.arrange_by(|a, b| a.0.unwrap_or(0.0).total_cmp(&b.0.unwrap_or(0.0)).then(a.1.cmp(b.1)));
    leaves.dedup_by(|a, b| a.1 == b.1);
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
pub(crate) fn labels_above(hierarchy: &Hierarchy, spelling: &Spelling, text: &str) -> Vec<String> {
    match hierarchy {
        Hierarchy::Tree(tree) => tree.above(text).unwrap_or_default().to_vec(),
        Hierarchy::Intervals(widths) => {
            let both = |number: f64| {
                [true, false].into_iter().filter_map(move |whole| bands(number, widths, (spelling, whole)))
            };
            spelling.read(text).into_iter().flat_map(both).flatten().collect()
        }
        Hierarchy::Prefix(lengths) => prefixes(text, lengths),
        Hierarchy::Dates(units) => {
            spelling.year_and_month(text).and_then(|own| calendar(own, units)).unwrap_or_default()
        }
        Hierarchy::Official(own) => {
            let paths = [true, false].into_iter().filter_map(|whole| official(own, spelling, text, whole));
            paths.flatten().collect()
        }
    }
}

fn misfit(entry: usize, text: &str, hierarchy: &Hierarchy) -> Misfit {
    let what = match hierarchy {
        Hierarchy::Dates(_) => "a date like 2024-02-29".to_owned(),
        Hierarchy::Official(own) => own.asks_for(),
        _ => "a number".to_owned(),
    };
    Misfit {
        code: ErrorCode::BadCell,
        entry: entry as u32,
        message: format!("\"{}\" is not {what}, as the hierarchy of its attribute asks", shorten(text)),
        hint: "correct the cell, list it under [data] missing, or choose another hierarchy".to_owned(),
    }
}

fn ambiguous(error: &crate::Error) -> Misfit {
    Misfit {
        code: ErrorCode::BadHierarchy,
        entry: 0,
        message: error.message().to_owned(),
        hint: "give the hierarchy as a file".to_owned(),
    }
}

/// The labels above a value in groups of a regulator.
fn official(own: &Official, spelling: &Spelling, text: &str, whole: bool) -> Option<Vec<String>> {
    let mut path = own.path(spelling, text)?;
    if path.first().is_some_and(|finest| finest == text) {
        path.remove(0);
    }
    if let Official::Age(widths) = own {
        path.extend(bands(spelling.read(text)?, widths, (spelling, whole))?);
    }
    Some(path)
}

/// What each value is published as at the finest; those of a hierarchy without such a level as they are.
pub(super) fn at_finest<'a>(
    hierarchy: Option<&Hierarchy>,
    spelling: &Spelling,
    texts: &[&'a str],
    missing: &[bool],
) -> Result<Vec<Cow<'a, str>>, Misfit> {
    let Some((hierarchy, own)) = hierarchy.and_then(|all| Some((all, all.finest()?))) else {
        return Ok(texts.iter().map(|text| Cow::Borrowed(*text)).collect());
    };
    let finest = |(entry, text): (usize, &&'a str)| match missing[entry] {
        true => Ok(Cow::Borrowed(*text)),
        false => match own.path(spelling, text).and_then(|path| path.into_iter().next()) {
            Some(label) => Ok(Cow::Owned(label)),
            None => Err(misfit(entry, text, hierarchy)),
        },
    };
    texts.iter().enumerate().map(finest).collect()
}

fn all_whole(spelling: &Spelling, texts: &[&str], missing: &[bool]) -> bool {
    texts.iter().zip(missing).all(|(text, missing)| *missing || is_whole(text, spelling))
}

fn is_whole(text: &str, spelling: &Spelling) -> bool {
    spelling.read(text).is_some_and(|number| number.fract() == 0.0)
}

/// `[20-24]` for whole numbers, `[20-25)` for others; dates and times as they are spelt.
fn bands(number: f64, widths: &[f64], (spelling, whole): (&Spelling, bool)) -> Option<Vec<String>> {
    let whole = whole && widths.iter().all(|width| width.fract() == 0.0);
    Some(widths.iter().map(|width| spelling.band((number / width).floor() * width, *width, whole)).collect())
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

fn calendar((year, month): (i64, i64), units: &[DateUnit]) -> Option<Vec<String>> {
    Some(
        units
            .iter()
            .map(|unit| match unit {
                DateUnit::Month => format!("{year:04}-{month:02}"),
                DateUnit::Quarter => format!("{year:04}-Q{}", (month + 2) / 3),
                DateUnit::Year => format!("{year:04}"),
                DateUnit::Decade => format!("{:03}0s", year / 10),
                DateUnit::Century => format!("{0:02}00-{0:02}99", year / 100),
            })
            .collect(),
    )
}
