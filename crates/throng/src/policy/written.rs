//! A policy as it was written: the keys are known and the types right, but no value is checked yet.

use std::ops::Range;

use indexmap::IndexMap;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::{Error, ErrorCode, Result};
use crate::keys::fields::{Fields, Item, List, as_table, in_order, key_span, mismatch, number, value};
use crate::keys::source::Source;

/// Far more than a policy needs, and far less than would exhaust the stack where values are walked by
/// recursion, here and in the TOML library: its own limit lets dotted keys multiply with brackets.
const DEEPEST: usize = 100;

const SECTIONS: &[&str] = &["data", "privacy", "method", "attribute", "evaluate", "report", "series", "run"];
const RUN: &[&str] = &["memory"];
const DATA: &[&str] = &["missing", "incomplete", "unlisted", "header", "max_expansion"];
/// Keys of `[privacy]` beside those of requirements.
const PRIVACY: &[&str] = &["suppress", "strict"];
const ATTRIBUTE: &[&str] = &[
    "role",
    "kind",
    "format",
    "decimal",
    "weight",
    "leaf_weights",
    "node_weights",
    "hierarchy",
    "rules",
    "confirmed",
    "top",
    "bottom",
    "publish",
    "together",
];
const REPORT: &[&str] = &["bound"];
const BOUND: &[&str] = &["seconds", "passes"];
const SERIES: &[&str] = &["start_k", "later_k", "present", "wait", "turnover"];
const RULE: &[&str] = &["cut", "apart", "importance", "hard"];

/// A policy as it was written.
pub(super) struct Written<'i> {
    pub missing: Option<List<String>>,
    pub incomplete: Option<Spanned<String>>,
    pub unlisted: Option<Spanned<String>>,
    pub header: Option<Spanned<bool>>,
    pub max_expansion: Option<Spanned<i64>>,
    pub privacy: WrittenPrivacy<'i>,
    pub method: WrittenMethod,
    /// In the order of the text.
    pub attributes: Vec<WrittenAttribute<'i>>,
    /// The options of each task, as written.
    pub evaluate: IndexMap<String, toml::Table>,
    /// How long to look for the lower bound.
    pub bound: WrittenBound,
    /// The memory that a run may take.
    pub memory: Option<Spanned<String>>,
    /// How releases follow on each other.
    pub series: WrittenSeries,
}

/// `[series]` as it was written.
#[derive(Default)]
pub(super) struct WrittenSeries {
    pub start_k: Option<Spanned<i64>>,
    pub later_k: Option<Spanned<i64>>,
    pub present: Option<Spanned<bool>>,
    pub wait: Option<Spanned<i64>>,
    pub turnover: Option<Spanned<bool>>,
}

/// `bound` of `[report]` as it was written.
#[derive(Default)]
pub(super) struct WrittenBound {
    pub seconds: Option<Spanned<f64>>,
    pub passes: Option<Spanned<i64>>,
}

/// `[privacy]` as it was written.
pub(super) struct WrittenPrivacy<'i> {
    pub span: Range<usize>,
    /// Its keys, for each kind of requirement to read its own.
    pub keys: DeTable<'i>,
    pub suppress: Option<Spanned<f64>>,
    pub strict: Option<Spanned<bool>>,
}

/// All keys of `[privacy]`.
pub(super) fn privacy_keys() -> Vec<&'static str> {
    crate::privacy::keys().chain(PRIVACY.iter().copied()).collect()
}

/// `[method]` as it was written.
#[derive(Default)]
pub(super) struct WrittenMethod {
    pub name: Option<Spanned<String>>,
    pub seed: Option<Spanned<i64>>,
    pub options: toml::Table,
}

/// `[attribute.NAME]` as it was written.
pub(super) struct WrittenAttribute<'i> {
    /// The name and its place.
    pub name: Spanned<String>,
    pub role: Option<Spanned<String>>,
    pub kind: Option<Spanned<String>>,
    pub format: Option<Spanned<String>>,
    pub decimal: Option<Spanned<String>>,
    pub weight: Option<Spanned<f64>>,
    pub leaf_weights: Option<Item<'i>>,
    pub node_weights: Option<Item<'i>>,
    /// Where `weight = "auto"` stands.
    pub auto_weight: Option<Range<usize>>,
    pub confirmed: Option<Spanned<bool>>,
    pub top: Option<Item<'i>>,
    pub bottom: Option<Item<'i>>,
    pub hierarchy: Option<Item<'i>>,
    pub rules: Vec<WrittenRule<'i>>,
    pub publish: Option<Spanned<String>>,
    pub together: Option<Spanned<bool>>,
    /// Where the word `rules` stands.
    pub rules_span: Option<Range<usize>>,
}

/// A rule as it was written.
pub(super) struct WrittenRule<'i> {
    pub span: Range<usize>,
    pub cut: Option<Item<'i>>,
    pub apart: Option<List<String>>,
    pub importance: Option<Spanned<f64>>,
    pub hard: Option<Spanned<bool>>,
}

/// Reads the text of a policy.
pub(super) fn parse<'i>(source: Source<'_>, text: &'i str) -> Result<Written<'i>> {
    let document = parse_keys(source, text)?;
    let sections = Fields::open(source, document.get_ref(), "the policy", SECTIONS)?;
    let data =
        sections.item("data").map(|item| Fields::open_item(source, item, "[data]", DATA)).transpose()?;
    Ok(Written {
        missing: data.as_ref().map(|data| data.strings("missing")).transpose()?.flatten(),
        incomplete: data.as_ref().map(|data| data.string("incomplete")).transpose()?.flatten(),
        unlisted: data.as_ref().map(|data| data.string("unlisted")).transpose()?.flatten(),
        header: data.as_ref().map(|data| data.flag("header")).transpose()?.flatten(),
        max_expansion: data.as_ref().map(|data| data.whole("max_expansion")).transpose()?.flatten(),
        privacy: privacy(source, sections.item("privacy"))?,
        method: sections.item("method").map(|item| method(source, item)).transpose()?.unwrap_or_default(),
        attributes: sections
            .item("attribute")
            .map(|item| attributes(source, item))
            .transpose()?
            .unwrap_or_default(),
        evaluate: sections.item("evaluate").map(|item| tasks(source, item)).transpose()?.unwrap_or_default(),
        bound: sections.item("report").map(|item| bound(source, item)).transpose()?.unwrap_or_default(),
        series: sections.item("series").map(|item| series(source, item)).transpose()?.unwrap_or_default(),
        memory: sections
            .item("run")
            .map(|item| Fields::open_item(source, item, "[run]", RUN)?.string("memory"))
            .transpose()?
            .flatten(),
    })
}

/// Reads keys that stand by themselves.
pub(super) fn parse_keys<'i>(source: Source<'_>, text: &'i str) -> Result<Spanned<DeTable<'i>>> {
    let keys = DeTable::parse(text).map_err(|error| syntax_error(source, &error))?;
    check_depth(source, keys.get_ref())?;
    Ok(keys)
}

/// Where a further key of `[method]` stands.
pub(super) fn option_span(text: &str, key: &str) -> Option<Range<usize>> {
    let document = DeTable::parse(text).ok()?;
    let method = document.get_ref().get("method")?;
    key_span(method.get_ref().as_table()?, key)
}

/// Where a key of `[evaluate.TASK]` stands; the task's name if there is no such key.
pub(super) fn task_option_span(text: &str, task: &str, key: &str) -> Option<Range<usize>> {
    let document = DeTable::parse(text).ok()?;
    let tasks = document.get_ref().get("evaluate")?.get_ref().as_table()?;
    key_span(tasks.get(task)?.get_ref().as_table()?, key).or_else(|| key_span(tasks, task))
}

fn syntax_error(source: Source<'_>, error: &toml::de::Error) -> Error {
    let span = error.span().unwrap_or(0..0);
    let written = source.text.get(span.clone()).unwrap_or_default();
    match error.message() {
        "duplicate key" => source
            .error(
                ErrorCode::DuplicateKey,
                &span,
                format!("the key {written} is given twice"),
                "given before",
            )
            .with_hint("keep one of the two"),
        // The parser says no more than that, and not where.
        "recursion limit" => source.error(
            ErrorCode::BadPolicySyntax,
            &span,
            "the policy is nested too deeply",
            "somewhere in this file",
        ),
        message => source
            .error(
                ErrorCode::BadPolicySyntax,
                &span,
                format!("the policy is not valid TOML: {message}"),
                message,
            )
            .with_hint(
                "strings stand in quotes, lists in square brackets, and each key on a line of its own",
            ),
    }
}

fn check_depth(source: Source<'_>, document: &DeTable<'_>) -> Result<()> {
    let mut open: Vec<(&Item<'_>, usize)> = document.values().map(|item| (item, 1)).collect();
    while let Some((item, depth)) = open.pop() {
        if depth > DEEPEST {
            let message = format!("the policy is nested more than {DEEPEST} levels deep");
            return Err(source.error(ErrorCode::BadPolicySyntax, &item.span(), message, "too deep"));
        }
        match item.get_ref() {
            DeValue::Table(table) => open.extend(table.values().map(|item| (item, depth + 1))),
            DeValue::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
            _ => {}
        }
    }
    Ok(())
}

fn privacy<'i>(source: Source<'_>, item: Option<&Item<'i>>) -> Result<WrittenPrivacy<'i>> {
    let (keys, span) = match item {
        Some(item) => (as_table(source, item, "[privacy]")?.clone(), item.span()),
        None => (DeTable::new(), source.end()),
    };
    let fields = Fields::open(source, &keys, "[privacy]", &privacy_keys())?;
    let (suppress, strict) = (fields.number("suppress")?, fields.flag("strict")?);
    Ok(WrittenPrivacy { span, keys, suppress, strict })
}

fn bound(source: Source<'_>, item: &Item<'_>) -> Result<WrittenBound> {
    let report = Fields::open_item(source, item, "[report]", REPORT)?;
    let Some(item) = report.item("bound") else { return Ok(WrittenBound::default()) };
    let fields = Fields::open_item(source, item, "bound", BOUND)?;
    Ok(WrittenBound { seconds: fields.number("seconds")?, passes: fields.whole("passes")? })
}

fn series(source: Source<'_>, item: &Item<'_>) -> Result<WrittenSeries> {
    let fields = Fields::open_item(source, item, "[series]", SERIES)?;
    Ok(WrittenSeries {
        start_k: fields.whole("start_k")?,
        later_k: fields.whole("later_k")?,
        present: fields.flag("present")?,
        wait: fields.whole("wait")?,
        turnover: fields.flag("turnover")?,
    })
}

/// Takes any keys: which ones a method knows is for the method to say.
fn method(source: Source<'_>, item: &Item<'_>) -> Result<WrittenMethod> {
    let table = as_table(source, item, "[method]")?;
    let keys: Vec<&str> = table.keys().map(|key| key.get_ref().as_ref()).collect();
    let fields = Fields::open(source, table, "[method]", &keys)?;
    let mut options = toml::Table::new();
    for (key, item) in in_order(table) {
        if !matches!(key.get_ref().as_ref(), "name" | "seed") {
            options.insert(key.get_ref().to_string(), value(source, key.get_ref(), item)?);
        }
    }
    Ok(WrittenMethod { name: fields.string("name")?, seed: fields.whole("seed")?, options })
}

/// `[evaluate.TASK]`: any keys; which ones a task knows is for the task to say.
fn tasks(source: Source<'_>, item: &Item<'_>) -> Result<IndexMap<String, toml::Table>> {
    let mut tasks = IndexMap::new();
    for (name, item) in in_order(as_table(source, item, "[evaluate]")?) {
        let title = format!("[evaluate.{}]", name.get_ref());
        let mut options = toml::Table::new();
        for (key, item) in in_order(as_table(source, item, &title)?) {
            options.insert(key.get_ref().to_string(), value(source, key.get_ref(), item)?);
        }
        tasks.insert(name.get_ref().to_string(), options);
    }
    Ok(tasks)
}

fn attributes<'i>(source: Source<'_>, item: &Item<'i>) -> Result<Vec<WrittenAttribute<'i>>> {
    let table = as_table(source, item, "attribute")?;
    let read = |(key, item): (&Spanned<_>, _)| {
        let name = Spanned::new(key.span(), String::from(key.get_ref() as &str));
        attribute(source, name, item).map_err(|error| error.for_attribute(key.get_ref() as &str))
    };
    in_order(table).into_iter().map(read).collect()
}

fn attribute<'i>(source: Source<'_>, name: Spanned<String>, item: &Item<'i>) -> Result<WrittenAttribute<'i>> {
    let title = format!("[attribute.{}]", name.get_ref());
    let fields = Fields::open_item(source, item, &title, ATTRIBUTE)?;
    let rules = fields.items("rules", "a list of rules")?;
    let auto = fields.item("weight").filter(|item| item.get_ref().as_str() == Some("auto"));
    Ok(WrittenAttribute {
        name,
        role: fields.string("role")?,
        kind: fields.string("kind")?,
        format: fields.string("format")?,
        decimal: fields.string("decimal")?,
        weight: if auto.is_some() { None } else { fields.number("weight")? },
        auto_weight: auto.map(Spanned::span),
        leaf_weights: fields.item("leaf_weights").cloned(),
        node_weights: fields.item("node_weights").cloned(),
        confirmed: fields.flag("confirmed")?,
        top: fields.item("top").cloned(),
        bottom: fields.item("bottom").cloned(),
        hierarchy: fields.item("hierarchy").cloned(),
        rules: rules.iter().map(|item| rule(source, item)).collect::<Result<_>>()?,
        publish: fields.string("publish")?,
        together: fields.flag("together")?,
        rules_span: item.get_ref().as_table().and_then(|table| key_span(table, "rules")),
    })
}

/// Two numbers, or two dates or times in quotes or without.
fn cut<'i>(source: Source<'_>, fields: &Fields<'_, 'i>) -> Result<Option<Item<'i>>> {
    let expected = "a list of numbers";
    let ends = fields.items("cut", expected)?;
    let moment = |item: &Item<'_>| matches!(item.get_ref(), DeValue::String(_) | DeValue::Datetime(_));
    match ends.iter().find(|item| number(item.get_ref()).is_none()) {
        Some(item) if !ends.iter().all(moment) => Err(mismatch(source, item, "cut", expected)),
        _ => Ok(fields.item("cut").cloned()),
    }
}

fn rule<'i>(source: Source<'_>, item: &Item<'i>) -> Result<WrittenRule<'i>> {
    let fields = Fields::open_item(source, item, "a rule", RULE)?;
    Ok(WrittenRule {
        span: item.span(),
        cut: cut(source, &fields)?,
        apart: fields.strings("apart")?,
        importance: fields.number("importance")?,
        hard: fields.flag("hard")?,
    })
}
