//! Hierarchies: the tree of an attribute with counts, builders with a preview, what is not covered.

use std::collections::BTreeMap;

use minijinja::{Value, context};
use throng::policy::{DateUnit, Hierarchy, Official, Policy};
use throng::report::pieces::count;
use throng::{Error, ErrorCode, Result, Role};

use super::{View, render, told};
use crate::opened::{Opened, short};
use crate::trees::{Grove, Node};

/// Nodes of a group that are shown; a search finds the others.
const MOST_SHOWN: usize = 120;

/// The screen.
pub fn show(view: &View<'_>) -> Result<String> {
    let choices = [view.columns(Role::Quasi), view.columns(Role::Sensitive)].concat();
    let Some(column) = view.chosen(&choices) else {
        return Err(Error::new(ErrorCode::NoQuasi, "no column is a quasi-identifier")
            .with_hint("choose roles on the screen \"Table\""));
    };
    let name = view.opened.column(column)?;
    let grove = grove(&view.opened, &view.policy, column);
    let built = built(view, column);
    let shown = match &built {
        Some(Ok(grove)) => Ok(grove.clone()),
        Some(Err(error)) => Err(error.clone()),
        None => grove.clone().map(|(grove, _)| grove),
    };
    let uncovered = match (&built, &grove) {
        (None, Ok((_, uncovered))) => uncovered.clone(),
        _ => Vec::new(),
    };
    let search = view.at.get("find").map_or("", String::as_str).trim().to_lowercase();
    let nodes = shown.as_ref().map(|grove| nodes(&view.opened, column, grove, &search)).unwrap_or_default();
    render(
        "hierarchies.html",
        context! {
            choices => choices.iter().map(|(at, name)| context! { at, name => *name, here => *at == column }).collect::<Vec<_>>(),
            column,
            name,
            kind => kind_words(&view.policy, name),
            error => shown.as_ref().err().map(told),
            nodes,
            preview => built.is_some(),
            preview_fits => matches!(built, Some(Ok(_))),
            build => view.at.get("build").cloned().unwrap_or_default(),
            sizes => view.at.get("sizes").cloned().unwrap_or_default(),
            uncovered => uncovered.iter().map(|value| short(value)).take(20).collect::<Vec<_>>(),
            uncovered_count => count(uncovered.len() as u64),
            any_uncovered => !uncovered.is_empty(),
            values => count(view.opened.suggestion.columns[column].distinct),
            find => view.at.get("find").cloned().unwrap_or_default(),
            units => DateUnit::NAMES.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
            dates => view.opened.suggestion.columns[column].dates,
        },
    )
}

fn kind_words(policy: &Policy, name: &str) -> String {
    let hierarchy = policy.attributes.get(name).and_then(|own| own.hierarchy.as_ref());
    match hierarchy {
        None => {
            "No hierarchy: values can only be published one by one or as *, numbers as ranges.".to_owned()
        }
        Some(Hierarchy::Tree(tree)) => format!("A tree of {} values.", count(tree.len() as u64)),
        Some(Hierarchy::Intervals(widths)) => format!("Bands of width {widths:?}, built from the numbers."),
        Some(Hierarchy::Prefix(lengths)) => format!("Prefixes of {lengths:?} characters."),
        Some(Hierarchy::Official(own)) => format!("Groups of a regulator: {}.", own.source()),
        Some(Hierarchy::Dates(units)) => {
            format!(
                "Calendar units: {}.",
                units.iter().map(|unit| unit.name()).collect::<Vec<_>>().join(", ")
            )
        }
    }
}

/// The tree of a column under the policy, all values of the table in it, and the values that the policy's tree does not cover.
pub fn grove(opened: &Opened, policy: &Policy, column: usize) -> Result<(Grove, Vec<String>)> {
    let name = opened.column(column)?;
    let own = policy.attributes.get(name);
    let hierarchy = own.and_then(|own| own.hierarchy.as_ref());
    let spelling = own.and_then(|own| own.spelling.as_ref());
    let missing = |text: &&str| policy.missing.iter().any(|marker| marker == text);
    let mut values: Vec<&str> =
        opened.table.values(column).into_iter().filter(|text| !missing(text)).collect();
    values.sort_unstable_by(|one, other| natural(one).total_cmp(&natural(other)).then(one.cmp(other)));
    let mut grove = match hierarchy {
        None => Grove::default(),
        Some(hierarchy) => Grove::of(&opened.table.grown(column, &policy.missing, (hierarchy, spelling))?),
    };
    let mut known = std::collections::BTreeSet::new();
    grove.0.iter().for_each(|node| {
        node.values(&mut |label| {
            known.insert(label.to_owned());
        });
    });
    let uncovered = match hierarchy {
        None => Vec::new(),
        Some(_) => {
            values.iter().filter(|value| !known.contains(**value)).map(|value| (*value).to_owned()).collect()
        }
    };
    grove.add_missing(values.into_iter());
    Ok((grove, uncovered))
}

/// Numbers in their order, everything else after them.
fn natural(text: &str) -> f64 {
    text.parse().unwrap_or(f64::INFINITY)
}

/// The hierarchy that a builder of the address describes.
pub fn builder(build: &str, sizes: &str) -> Result<Hierarchy> {
    let words = || sizes.split([',', ' ', ';']).map(str::trim).filter(|word| !word.is_empty());
    let bad = |what: &str| {
        Error::new(ErrorCode::BadHierarchy, format!("\"{}\" are not {what}", short(sizes)))
            .with_hint(format!("write {what}, with commas between them"))
    };
    let hierarchy = match build {
        "intervals" => {
            let widths: Option<Vec<f64>> = words()
                .map(|word| word.parse().ok().filter(|width: &f64| *width > 0.0 && width.is_finite()))
                .collect();
            let widths =
                widths.filter(|widths| !widths.is_empty()).ok_or_else(|| bad("widths, such as 5, 10, 20"))?;
            if widths.windows(2).any(|pair| pair[1] <= pair[0] || (pair[1] / pair[0]).fract().abs() > 1e-9) {
                return Err(Error::new(
                    ErrorCode::BadHierarchy,
                    "each width must be a multiple of the one before",
                )
                .with_hint("for example 5, 10, 20"));
            }
            Hierarchy::Intervals(widths)
        }
        "prefix" => {
            let lengths: Option<Vec<usize>> = words().map(|word| word.parse().ok()).collect();
            let lengths = lengths
                .filter(|own| !own.is_empty())
                .ok_or_else(|| bad("numbers of characters, such as 4, 3, 2"))?;
            if lengths.windows(2).any(|pair| pair[1] >= pair[0]) {
                return Err(Error::new(ErrorCode::BadHierarchy, "the numbers of characters must decrease")
                    .with_hint("for example 4, 3, 2"));
            }
            Hierarchy::Prefix(lengths)
        }
        "dates" => {
            let unit =
                |word: &str| DateUnit::NAMES.iter().find(|(name, _)| *name == word).map(|(_, unit)| *unit);
            let units: Option<Vec<DateUnit>> = words().map(unit).collect();
            let mut units =
                units.filter(|own| !own.is_empty()).ok_or_else(|| bad("units, such as month, year"))?;
            units.sort_unstable();
            units.dedup();
            Hierarchy::Dates(units)
        }
        "safe_harbor" | "ema" => Hierarchy::Official(official(build, &words().collect::<Vec<_>>())?),
        _ => return Err(Error::new(ErrorCode::BadHierarchy, "there is no such builder")),
    };
    Ok(hierarchy)
}

/// Groups of a regulator: a word, and what else it needs: the day of the release for births, areas to hide for ZIP codes.
fn official(build: &str, words: &[&str]) -> Result<Official> {
    Official::of_words(build, words).map_err(|(_, message)| {
        Error::new(ErrorCode::BadHierarchy, message)
            .with_hint("for example zip, age, date, or birth and the day of the release: birth 2026-12-31")
    })
}

fn built(view: &View<'_>, column: usize) -> Option<Result<Grove>> {
    let build = view.at.get("build").filter(|build| !build.is_empty())?;
    let sizes = view.at.get("sizes").map_or("", String::as_str);
    let grown = builder(build, sizes)
        .and_then(|hierarchy| view.opened.table.grown(column, &view.policy.missing, (&hierarchy, None)));
    Some(grown.map(|tree| Grove::of(&tree)))
}

/// The nodes as a list of what is shown, depth first.
fn nodes(opened: &Opened, column: usize, grove: &Grove, search: &str) -> Vec<Value> {
    let values = opened.table.values(column);
    let of_value: BTreeMap<&str, u64> =
        values.into_iter().zip(opened.counts[column].iter().copied()).collect();
    let counts = grove.counts(&of_value);
    let most = counts.iter().copied().max().unwrap_or(1).max(1);
    let mut shown = Vec::new();
    let mut number = 0;
    tell(&grove.0, 0, &mut number, &mut Telling { counts: &counts, most, search, shown: &mut shown });
    shown
}

struct Telling<'a> {
    counts: &'a [u64],
    most: u64,
    search: &'a str,
    shown: &'a mut Vec<Value>,
}

fn tell(nodes: &[Node], depth: usize, number: &mut usize, telling: &mut Telling<'_>) {
    let mut told = 0;
    let mut left_out = 0;
    for node in nodes {
        let own = *number;
        *number += 1;
        let fits = telling.search.is_empty() || holds(node, telling.search);
        if !fits || told >= MOST_SHOWN {
            left_out += usize::from(fits);
            *number += node.size() - 1;
            continue;
        }
        told += 1;
        let times = telling.counts.get(own).copied().unwrap_or(0);
        telling.shown.push(context! {
            number => own,
            depth,
            label => short(&node.label),
            group => !node.is_value,
            values => node.size() - 1,
            times => count(times),
            width => format!("{:.1}", 100.0 * times as f64 / telling.most as f64),
            absent => times == 0 && node.is_value,
            more => 0,
        });
        tell(&node.below, depth + 1, number, telling);
    }
    if left_out > 0 {
        telling.shown.push(context! {
            number => (), depth, label => "", group => false, values => 0, times => "", width => "0", absent => false,
            more => left_out,
        });
    }
}

fn holds(node: &Node, search: &str) -> bool {
    node.label.to_lowercase().contains(search) || node.below.iter().any(|below| holds(below, search))
}
