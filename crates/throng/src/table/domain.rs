//! Domains: the distinct values of an attribute, in an order that makes ranges of codes meaningful.
//!
//! Numbers and dates are ordered by value, categories by their place in the taxonomy. A missing value is a
//! value of its own: for numbers the last code, apart from all others; for categories a leaf below the root.

use std::borrow::Cow;
use std::sync::Arc;

use super::tails::{AT_LEAST, AT_MOST, coded, end_of};
use super::taxonomy::{NodeId, Taxonomy};
use super::value;
use crate::error::ErrorCode;
use crate::schema::spelling::{Guess, Measured, Spelling, time_of_day};
use crate::schema::{Kind, Official, Tails, Tree};
use crate::words::shorten;

/// The ordered values of one attribute. The code of a value is its place here.
#[derive(Clone, Debug)]
pub struct Domain {
    /// Shared: parts of a table have the same.
    labels: Arc<[String]>,
    scale: Scale,
    missing: Option<u32>,
    /// For numbers with a hierarchy, the stretch of codes that each code is in, level by level, finest first.
    bands: Vec<Vec<(u32, u32)>>,
    /// Of numbers, whether the first and the last code are tails: all that lies beyond them is in them.
    tails: (bool, bool),
    /// What values are published as at the finest, if not as they are, and how they are spelt.
    finest: Option<Box<(Official, Spelling)>>,
}

/// How the values of a domain relate to each other.
#[derive(Clone, Debug)]
pub enum Scale {
    /// Numbers, dates as days or times of day as seconds, ascending. A missing value has no number and comes after the last.
    Numeric {
        /// The values.
        values: Vec<f64>,
        /// How they are spelt.
        spelling: Spelling,
    },
    /// Leaves of a tree, left to right.
    Categorical(Taxonomy),
}

/// Why a value does not belong into a domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// What it is, for programs.
    pub code: ErrorCode,
    /// Index of the value in the dictionary.
    pub entry: u32,
    /// What is wrong with it.
    pub message: String,
    /// What to do.
    pub hint: String,
}

/// What a dictionary becomes: a domain, and for each entry of the dictionary its code.
pub struct Encoding {
    /// The domain.
    pub domain: Domain,
    /// Code of each dictionary entry.
    pub codes: Vec<u32>,
}

/// Why the values of a category cannot be weighed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unweighed {
    /// No value is called so.
    Leaf(String),
    /// No inner node is called so.
    Node(String),
    /// The weights of a leaf and the nodes above it make no number together.
    TooFarApart,
}

impl Domain {
    /// Texts in any order, of which nothing is known.
    pub(crate) fn flat(labels: Vec<String>) -> Self {
        let scale = Scale::Categorical(Taxonomy::flat(&labels));
        let labels = labels.into();
        Domain { labels, scale, missing: None, bands: Vec::new(), tails: (false, false), finest: None }
    }

    /// Number of codes.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The text of a code, as it was written.
    pub fn label(&self, code: u32) -> &str {
        &self.labels[code as usize]
    }

    /// The code of a text: as it stands, or as another spelling of the same number.
    pub fn code(&self, text: &str) -> Option<u32> {
        if let Some(number) = self.read(text) {
            return self.code_of_number(number);
        }
        self.labels.iter().position(|label| label == text).map(|at| at as u32)
    }

    /// The code of a number.
    pub fn code_of_number(&self, number: f64) -> Option<u32> {
        let Scale::Numeric { values, .. } = &self.scale else { return None };
        let number = self.within_tails(number) + 0.0;
        values.binary_search_by(|value| value.total_cmp(&number)).ok().map(|at| at as u32)
    }

    /// A number, or the end of the tail that it lies in.
    pub fn within_tails(&self, number: f64) -> f64 {
        let Scale::Numeric { values, .. } = &self.scale else { return number };
        match (self.tails, values.first(), values.last()) {
            ((_, true), _, Some(last)) if number > *last => *last,
            ((true, _), Some(first), _) if number < *first => *first,
            _ => number,
        }
    }

    /// Publishes values no finer than a regulator allows.
    pub(super) fn set_finest(&mut self, own: Official, spelling: Spelling) {
        self.finest = Some(Box::new((own, spelling)));
    }

    /// Whether values are published no finer than in groups.
    pub fn has_finest(&self) -> bool {
        self.finest.is_some()
    }

    /// What a value is published as at the finest: itself, but for groups of regulators.
    pub fn at_finest<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let label = self.finest.as_ref().and_then(|own| own.0.path(&own.1, text)?.into_iter().next());
        label.map_or(Cow::Borrowed(text), Cow::Owned)
    }

    /// Whether some of its numbers are told as tails.
    pub fn has_tails(&self) -> bool {
        self.tails != (false, false)
    }

    /// Whether a code stands for a tail.
    pub(crate) fn is_tail(&self, code: u32) -> bool {
        let (lower, upper) = self.reaches(code, code);
        self.has_tails() && (lower || upper)
    }

    /// The text of a number without a sign that it begins a tail.
    pub fn end_label(&self, code: u32) -> &str {
        if self.has_tails() { end_of(self.label(code)) } else { self.label(code) }
    }

    /// Whether the codes reach into the lower and the upper tail.
    pub(crate) fn reaches(&self, low: u32, high: u32) -> (bool, bool) {
        let last = self.len() - 1 - usize::from(self.missing.is_some());
        (self.tails.0 && low == 0, self.tails.1 && high as usize == last)
    }

    /// How its values relate.
    pub fn scale(&self) -> &Scale {
        &self.scale
    }

    /// Gives leaves and inner nodes of a category weights of their own; those that are not named weigh 1. The error is a
    /// name that is no value, or no inner node.
    pub fn weigh(
        &mut self,
        leaves: &indexmap::IndexMap<String, f64>,
        nodes: &indexmap::IndexMap<String, f64>,
    ) -> Result<(), Unweighed> {
        if let Some(unknown) = leaves.keys().find(|name| !self.labels.contains(name)) {
            return Err(Unweighed::Leaf(unknown.clone()));
        }
        let Scale::Categorical(tree) = &mut self.scale else { return Ok(()) };
        if let Some(unknown) = nodes.keys().find(|name| !tree.inner_labels().any(|own| own == name.as_str()))
        {
            return Err(Unweighed::Node(unknown.clone()));
        }
        let weight = |weights: &indexmap::IndexMap<String, f64>, label: &str| weights.get(label).copied();
        let fits = tree
            .weigh(|label| weight(leaves, label).unwrap_or(1.0), |label| weight(nodes, label).unwrap_or(1.0));
        if fits { Ok(()) } else { Err(Unweighed::TooFarApart) }
    }

    /// Number of levels from the values themselves, 0, to anything, the last.
    pub fn levels(&self) -> usize {
        match &self.scale {
            Scale::Categorical(tree) => tree.height().max(1) + 1,
            Scale::Numeric { .. } => self.bands.len() + 2,
        }
    }

    /// For each code the lowest and highest code that it is published with at a level.
    pub fn at_level(&self, level: usize) -> Vec<(u32, u32)> {
        let codes = 0..self.len() as u32;
        if level + 1 >= self.levels() {
            return codes.map(|_| (0, self.len() as u32 - 1)).collect();
        }
        match &self.scale {
            _ if level == 0 => codes.map(|code| (code, code)).collect(),
            Scale::Numeric { .. } => self.bands[level - 1].clone(),
            Scale::Categorical(tree) => codes
                .map(|code| {
                    let leaves = tree.leaves_under(tree.at_level(code as usize, level));
                    (leaves.start as u32, leaves.end as u32 - 1)
                })
                .collect(),
        }
    }

    /// The codes that the cell of `low ..= high` covers: more than those between where a label or `*` stands for
    /// them.
    pub fn covered(&self, low: u32, high: u32) -> (u32, u32) {
        match &self.scale {
            _ if low == high => (low, high),
            Scale::Numeric { .. } if self.missing == Some(high) => (0, high),
            Scale::Numeric { .. } => (low, high),
            Scale::Categorical(tree) => {
                let leaves = tree.leaves_under(tree.ancestor(low as usize, high as usize));
                (leaves.start as u32, leaves.end as u32 - 1)
            }
        }
    }

    /// Lets the nodes of a hierarchy be bands of numbers, for methods that recode by levels.
    pub(super) fn set_bands(&mut self, tree: &Tree) -> Result<(), Misfit> {
        let taxonomy = Taxonomy::new(tree);
        let leaf_of: super::Map<&str, usize> =
            taxonomy.leaf_labels().enumerate().map(|(at, label)| (label, at)).collect();
        let numbers = self.len() - usize::from(self.missing.is_some());
        for level in 1..taxonomy.height() {
            let mut band = Vec::with_capacity(self.len());
            let (mut from, mut of_band) = (0, None);
            let mut before: super::Map<Option<NodeId>, ()> = super::Map::default();
            for code in 0..numbers {
                let leaf = leaf_of.get(self.labels[code].as_str());
                let node = leaf.map(|leaf| taxonomy.at_level(*leaf, level));
                if node != of_band || node.is_none() {
                    close_band(&mut band, from, code);
                    if before.insert(node, ()).is_some() && node.is_some() {
                        return Err(scattered(node.map_or("", |node| taxonomy.label(node))));
                    }
                    (from, of_band) = (code, node);
                }
            }
            close_band(&mut band, from, numbers);
            band.extend(self.missing.map(|code| (code, code)));
            self.bands.push(band);
        }
        Ok(())
    }

    /// Adds a level of bands of numbers above the others and below `*`, told by the first code of each band but the first. None is
    /// added where bands of the level below would reach into two of them: levels are nested.
    pub(crate) fn add_bands(&mut self, starts: &[u32]) {
        let numbers = self.len() - usize::from(self.missing.is_some());
        let mut ends = Vec::with_capacity(self.len());
        let mut from = 0;
        for start in starts.iter().map(|start| *start as usize).chain([numbers]) {
            close_band(&mut ends, from, start);
            from = start;
        }
        ends.extend(self.missing.map(|code| (code, code)));
        let below = self.at_level(self.levels() - 2);
        let nested = below.iter().zip(&ends).all(|(own, band)| band.0 <= own.0 && own.1 <= band.1);
        if matches!(self.scale, Scale::Numeric { .. }) && nested && below != ends {
            self.bands.push(ends);
        }
    }

    /// The code of the missing value, if it occurs.
    pub fn missing(&self) -> Option<u32> {
        self.missing
    }

    /// Its kind.
    pub fn kind(&self) -> Kind {
        match self.scale {
            Scale::Numeric { .. } => Kind::Numeric,
            Scale::Categorical(_) => Kind::Categorical,
        }
    }

    /// Reads a single published number or date of this domain.
    pub fn read(&self, text: &str) -> Option<f64> {
        match &self.scale {
            // Whoever asks about dates and times may spell them as ISO does.
            Scale::Numeric { spelling, .. } => spelling.read(text).or_else(|| match spelling.measured() {
                Measured::Numbers => None,
                Measured::Dates => value::date(text),
                Measured::Times => time_of_day(text),
            }),
            Scale::Categorical(_) => None,
        }
    }

    /// The cell that covers the codes `low ..= high`.
    pub fn cell(&self, low: u32, high: u32) -> String {
        if low == high {
            return self.label(low).to_owned();
        }
        match &self.scale {
            Scale::Numeric { .. } if self.missing == Some(high) => super::ANY.to_owned(),
            Scale::Numeric { .. } => match self.reaches(low, high) {
                (true, true) => super::ANY.to_owned(),
                (true, false) => format!("{AT_MOST}{}", self.label(high)),
                (false, true) => format!("{AT_LEAST}{}", self.label(low)),
                (false, false) => format!("[{}-{}]", self.label(low), self.label(high)),
            },
            Scale::Categorical(tree) => tree.label(tree.ancestor(low as usize, high as usize)).to_owned(),
        }
    }

    /// As [`Self::cell`], but ranges of numbers end before the number that follows; the last range has none.
    pub fn half_open_cell(&self, low: u32, high: u32) -> String {
        match &self.scale {
            Scale::Numeric { values, .. }
                if low < high && (high as usize) + 1 < values.len() && !self.reaches(low, high).0 =>
            {
                format!("[{}-{})", self.label(low), self.end_label(high + 1))
            }
            _ => self.cell(low, high),
        }
    }
}

fn close_band(band: &mut Vec<(u32, u32)>, from: usize, to: usize) {
    band.extend((from..to).map(|_| (from as u32, to as u32 - 1)));
}

fn scattered(label: &str) -> Misfit {
    Misfit { code: ErrorCode::BadHierarchy,
        entry: 0,
        message: format!(
            "the label \"{}\" of the hierarchy does not stand for one stretch of numbers",
            shorten(label)
        ),
        hint: "let each label of a numeric hierarchy cover neighbouring numbers, or make the attribute categorical"
            .to_owned(),
    }
}

/// Whether all values that are not missing are numbers, or all are dates.
pub fn guess_kind<'a>(values: impl IntoIterator<Item = &'a str, IntoIter: Clone>) -> Kind {
    match guess_spelling(values) {
        Some(_) => Kind::Numeric,
        None => Kind::Categorical,
    }
}

/// How values are spelt that are all numbers or all dates, if there is no doubt.
pub fn guess_spelling<'a>(values: impl IntoIterator<Item = &'a str, IntoIter: Clone>) -> Option<Spelling> {
    let values = values.into_iter();
    match Spelling::guess(values.clone()) {
        Guess::Clear(Spelling::Point) if values.clone().any(value::looks_like_label) => None,
        Guess::Clear(spelling) => Some(spelling),
        Guess::Either(..) | Guess::Neither => None,
    }
}

/// How the values of a dictionary are spelt that are to be numbers or dates.
pub(super) fn spelling_of(texts: &[&str], missing: &[bool]) -> Result<Spelling, Misfit> {
    let present = texts.iter().zip(missing).filter(|(_, missing)| !**missing).map(|(text, _)| *text);
    match Spelling::guess(present.clone()) {
        Guess::Clear(spelling) => Ok(spelling),
        // The first value that is spelt in another way than most will be told.
        Guess::Neither => Ok(Spelling::of_most(present)),
        Guess::Either(one, other) => {
            let (one, other) = (one.key().unwrap_or_default(), other.key().unwrap_or_default());
            let entry = missing.iter().position(|missing| !missing).unwrap_or(0);
            Err(Misfit {
                code: ErrorCode::BadCell,
                entry: entry as u32,
                message: format!(
                    "\"{}\" and the other values can be read in two ways",
                    shorten(texts[entry])
                ),
                hint: format!(
                    "write {} = \"{}\" or \"{}\" in the section of the attribute",
                    one.0, one.1, other.1
                ),
            })
        }
    }
}

/// Orders the numbers or dates of a dictionary. `missing` tells which entries are missing.
pub fn encode_numeric(texts: &[&str], missing: &[bool]) -> Result<Encoding, Misfit> {
    encode_spelt(texts, missing, spelling_of(texts, missing)?, &Tails::default())
}

/// As [`encode_numeric`], of values that are spelt in a known way; numbers in a tail are one value.
pub(super) fn encode_spelt(
    texts: &[&str],
    missing: &[bool],
    spelling: Spelling,
    tails: &Tails,
) -> Result<Encoding, Misfit> {
    if let Some(misfit) = other_tails(texts, missing, spelling.measured(), tails) {
        return Err(misfit);
    }
    let mut found: Vec<(f64, Cow<'_, str>, usize)> = Vec::with_capacity(texts.len());
    for (entry, text) in texts.iter().enumerate().filter(|(entry, _)| !missing[*entry]) {
        let number = spelling.read(text).ok_or_else(|| not_a_number(entry, text, &spelling))?;
        found.push(match coded(tails, number) {
            Some((end, text, sign)) => (end + 0.0, Cow::Owned(format!("{sign}{text}")), entry),
            None => (number + 0.0, Cow::Borrowed(*text), entry),
        });
    }
    // Of several spellings of one number (`5`, `5.0`) the shortest speaks for all.
    found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.len().cmp(&b.1.len())).then(a.1.cmp(&b.1)));
    let (mut values, mut labels, mut codes) = (Vec::new(), Vec::new(), vec![0; texts.len()]);
    for (number, text, entry) in found {
        if values.last() != Some(&number) {
            values.push(number);
            labels.push(text.into_owned());
        }
        codes[entry] = values.len() as u32 - 1;
    }
    let ends_with = |label: Option<&String>, sign: &str| label.is_some_and(|label| label.starts_with(sign));
    let tails = (ends_with(labels.first(), AT_MOST), ends_with(labels.last(), AT_LEAST));
    let missing = add_missing(texts, missing, &mut labels, &mut codes);
    let scale = Scale::Numeric { values, spelling };
    let labels = labels.into();
    Ok(Encoding { domain: Domain { labels, scale, missing, bands: Vec::new(), tails, finest: None }, codes })
}

/// Tails of numbers where there are dates, or of dates where there are numbers.
fn other_tails(texts: &[&str], missing: &[bool], measured: Measured, tails: &Tails) -> Option<Misfit> {
    let both = tails.bottom.iter().chain(&tails.top);
    let other = both.filter_map(crate::schema::Tail::measured).any(|own| own != measured);
    let (entry, _) = missing.iter().enumerate().find(|(_, missing)| !**missing)?;
    other.then(|| Misfit {
        code: ErrorCode::WrongKind,
        entry: entry as u32,
        message: format!(
            "the attribute holds {} such as \"{}\", top and bottom do not",
            measured.words(),
            shorten(texts[entry])
        ),
        hint: "write top and bottom as the column is written: numbers, dates like \"2024-02-29\", or times like \"08:30\""
            .to_owned(),
    })
}

/// Tails where there are neither numbers nor dates.
pub(super) fn no_tails_here(texts: &[&str], missing: &[bool]) -> Misfit {
    let plain = |(entry, text): &(usize, &&str)| {
        !missing[*entry]
            && value::number(text).is_none()
            && value::date(text).is_none()
            && time_of_day(text).is_none()
    };
    let (entry, text) = texts.iter().enumerate().find(plain).unwrap_or((0, &""));
    Misfit {
        code: ErrorCode::WrongKind,
        entry: entry as u32,
        message: format!(
            "top and bottom are for numbers and dates, but this attribute holds \"{}\"",
            shorten(text)
        ),
        hint: "leave them out, or write kind = \"numeric\"".to_owned(),
    }
}

fn not_a_number(entry: usize, text: &str, spelling: &Spelling) -> Misfit {
    let what = match spelling.measured() {
        Measured::Numbers | Measured::Dates => "a number or date",
        Measured::Times => "a time of day",
    };
    let written = spelling.key().map(|(key, value)| format!(" with {key} = \"{value}\""));
    Misfit {
        code: ErrorCode::BadCell,
        entry: entry as u32,
        message: format!("\"{}\" is not {what}{}", shorten(text), written.unwrap_or_default()),
        hint: "correct the cell, list it under [data] missing, or make the attribute categorical".to_owned(),
    }
}

/// Gives all missing entries one code after the last.
fn add_missing(texts: &[&str], missing: &[bool], labels: &mut Vec<String>, codes: &mut [u32]) -> Option<u32> {
    let first = missing.iter().position(|missing| *missing)?;
    let code = labels.len() as u32;
    labels.push(texts[first].to_owned());
    for (entry, _) in missing.iter().enumerate().filter(|(_, missing)| **missing) {
        codes[entry] = code;
    }
    Some(code)
}

/// Orders categories by their tree; without one by their text, below one root.
pub fn encode_categorical(texts: &[&str], missing: &[bool], tree: Option<&Tree>) -> Result<Encoding, Misfit> {
    if let Some(entry) = texts.iter().zip(missing).position(|(text, missing)| *text == super::ANY && !missing)
    {
        return Err(Misfit {
            code: ErrorCode::BadCell,
            entry: entry as u32,
            message:
                "the value \"*\" stands for a suppressed cell and cannot be a value of a quasi-identifier"
                    .to_owned(),
            hint: "list \"*\" under [data] missing, or rename it".to_owned(),
        });
    }
    let first_missing = missing.iter().position(|missing| *missing);
    let mut owned = match tree {
        Some(tree) => tree.clone(),
        None => flat_tree(texts, missing),
    };
    let marker = first_missing.map(|entry| texts[entry]);
    if let Some(marker) = marker
        && !owned.contains(marker)
    {
        // Missing is a branch of its own below the root.
        let _ = owned.push(vec![marker.to_owned()]);
    }
    let taxonomy = Taxonomy::new(&owned);
    let labels: Vec<String> = taxonomy.leaf_labels().map(str::to_owned).collect();
    let place: super::Map<&str, u32> =
        labels.iter().zip(0..).map(|(label, code)| (label.as_str(), code)).collect();
    let mut codes = Vec::with_capacity(texts.len());
    for (entry, text) in texts.iter().enumerate() {
        let text = if missing[entry] { marker.unwrap_or(text) } else { text };
        codes.push(*place.get(text).ok_or_else(|| not_in_hierarchy(entry, text))?);
    }
    let missing = marker.and_then(|marker| place.get(marker).copied());
    let scale = Scale::Categorical(taxonomy);
    Ok(Encoding {
        domain: Domain {
            labels: labels.into(),
            scale,
            missing,
            bands: Vec::new(),
            tails: (false, false),
            finest: None,
        },
        codes,
    })
}

fn flat_tree(texts: &[&str], missing: &[bool]) -> Tree {
    let mut values: Vec<&str> =
        texts.iter().zip(missing).filter(|(_, missing)| !**missing).map(|(text, _)| *text).collect();
    values.sort_unstable();
    let mut tree = Tree::default();
    for value in values {
        let _ = tree.push(vec![value.to_owned()]);
    }
    tree
}

/// Checks that a tree has a leaf for every value.
pub fn check_covered(tree: &Tree, texts: &[&str], missing: &[bool]) -> Result<(), Misfit> {
    match texts.iter().zip(missing).position(|(text, missing)| !missing && !tree.contains(text)) {
        Some(entry) => Err(not_in_hierarchy(entry, texts[entry])),
        None => Ok(()),
    }
}

fn not_in_hierarchy(entry: usize, text: &str) -> Misfit {
    Misfit {
        code: ErrorCode::HierarchyLeafMissing,
        entry: entry as u32,
        message: format!("the value \"{}\" is not in the hierarchy of its attribute", shorten(text)),
        hint: "add a line for it to the hierarchy, or list it under [data] missing".to_owned(),
    }
}
