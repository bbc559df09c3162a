//! A k of one's own: every class has as many records as its most demanding member asks for.
//!
//! What records ask for comes from a column that is not published, or from rules that pick records; the most demanding
//! one counts. What records ask for is not published, so a release does not tell who is where: the audit asks whether
//! there is a place for everyone ([`places_left`]).

use std::sync::Arc;

use toml::{Spanned, Table, Value};

use super::{Achieved, Figure, Keeping, Kind, Model, Part, Place, Spec, Tally, spec};
use crate::condition::Condition;
use crate::data::{Data, Joined};
use crate::error::{Error, ErrorCode, Result};
use crate::keys::fields::{Fields, Item, as_table, in_order, value};
use crate::keys::{Keys, missing_k, out_of_range, positive};
use crate::published::Published;
use crate::schema::Role;
use crate::words::shorten;
use crate::words::suggest;

const KEY: &str = "own_k";
const COLUMN: &str = "k_column";

/// The keys `own_k` and `k_column`.
pub const KIND: Kind = Kind { key: KEY, keys: &[COLUMN, KEY], read, unasked: spec::nothing };

/// What records ask for themselves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OwnK {
    /// The column that holds each record's own k.
    pub column: Option<String>,
    /// Rules that give records a k of their own.
    pub rules: Vec<OwnKRule>,
}

/// A k for the records that meet some conditions.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnKRule {
    /// What attributes must be, all of them, as written: name, value, and where that stands.
    pub conditions: Vec<(String, Value, Place)>,
    /// How many records their classes must have.
    pub k: u32,
}

fn read(keys: &Keys<'_, '_>) -> Result<Option<Arc<dyn Spec>>> {
    let column = keys.string(COLUMN)?.map(|column| read_column(keys, &column)).transpose()?;
    let rules = keys.tables(KEY)?.iter().map(|item| read_rule(keys, item)).collect::<Result<Vec<_>>>()?;
    let asked = column.is_some() || !rules.is_empty();
    Ok(asked.then(|| Arc::new(OwnK { column, rules }) as Arc<dyn Spec>))
}

/// A column of demands tells who is worth hiding, so it must not be published.
fn read_column(keys: &Keys<'_, '_>, column: &Spanned<String>) -> Result<String> {
    let name = column.get_ref();
    if keys.role(name) == Some(Role::Identifier) {
        return Ok(name.clone());
    }
    let message = format!("the column \"{name}\" would be published, and tell who asks for more privacy");
    let hint = format!("write role = \"identifier\" under [attribute.\"{name}\"]");
    Err(keys.mistake(ErrorCode::BadValue, &column.span(), message, "not an identifier").with_hint(hint))
}

fn read_rule(keys: &Keys<'_, '_>, item: &Item<'_>) -> Result<OwnKRule> {
    let fields = Fields::open_item(keys.source, item, "[[privacy.own_k]]", &["where", "k"])?;
    let mut conditions = Vec::new();
    if let Some(item) = fields.item("where") {
        for (name, item) in in_order(as_table(keys.source, item, "where")?) {
            let name = Spanned::new(name.span(), String::from(name.get_ref() as &str));
            let value = value(keys.source, name.get_ref(), item)?;
            check_attribute(keys, &name)?;
            conditions.push((name.into_inner(), value, Some(item.span())));
        }
    }
    if conditions.is_empty() {
        let message = "a k of one's own without where: whose k is it?";
        let hint = "add it, for example where = { age = [0, 17] }, or write k in [privacy] for everyone";
        return Err(keys
            .mistake(ErrorCode::MissingKey, &item.span(), message, "where is missing here")
            .with_hint(hint));
    }
    let k = fields.whole("k")?.ok_or_else(|| missing_k(keys.source, &item.span(), "a k of one's own"))?;
    let k = u32::try_from(positive(keys.source, "k", &k)?)
        .map_err(|_| out_of_range(keys.source, "k", &k, "a number of records"))?;
    Ok(OwnKRule { conditions, k })
}

/// Rules may ask about what is coded: everything that is looked at anyway.
fn check_attribute(keys: &Keys<'_, '_>, name: &Spanned<String>) -> Result<()> {
    let (label, role) = (name.get_ref(), keys.role(name.get_ref()));
    if matches!(role, Some(Role::Quasi | Role::Sensitive | Role::Class)) {
        return Ok(());
    }
    let message =
        format!("the attribute \"{label}\" does not have the role \"quasi\", \"sensitive\" or \"class\"");
    let hint = match role {
        Some(_) => {
            "name another attribute, or put each record's k into a column that k_column names".to_owned()
        }
        None => suggest(label, &keys.names(), &format!("\"{label}\" needs a section of its own with a role")),
    };
    Err(keys
        .mistake(ErrorCode::UnknownAttribute, &name.span(), message, "cannot be asked about")
        .with_hint(hint))
}

impl OwnK {
    /// What the column asks for each record; one for which nothing is asked has 1.
    fn of_column(&self, joined: &Joined<'_>) -> Result<Option<Vec<u32>>> {
        let Some(name) = &self.column else { return Ok(None) };
        joined.column(name, |text| {
            if joined.is_missing(text) {
                return Ok(1);
            }
            text.trim().parse::<u32>().ok().filter(|k| *k >= 1).ok_or_else(|| {
                Error::new(ErrorCode::BadCell, format!("\"{}\" is not a k", shorten(text)))
                    .with_hint("the column that k_column names holds whole numbers of at least 1, or nothing")
            })
        })
    }
}

impl OwnKRule {
    /// For each condition where the codes of records are, and which of them meet it.
    fn bind<'a>(&self, joined: &Joined<'a>) -> Result<Vec<(crate::data::Column<'a>, Vec<bool>)>> {
        let one = |(name, value, place): &(String, Value, Place)| {
            let (column, domain) = joined.find(name)?;
            let condition = Condition::read(name, domain, value)
                .map_err(|error| joined.point(error.for_attribute(name), place, "in this condition"));
            Some(condition.map(|condition| (column, condition.codes(domain))))
        };
        self.conditions.iter().filter_map(one).collect()
    }
}

impl Spec for OwnK {
    fn key(&self) -> &'static str {
        KEY
    }

    fn part(&self) -> Part {
        Part::OwnK
    }

    fn keys(&self) -> Table {
        let rule = |rule: &OwnKRule| {
            let conditions = rule.conditions.iter().map(|(name, value, _)| (name.clone(), value.clone()));
            let entries = [("where", Value::Table(conditions.collect())), ("k", Value::from(rule.k))];
            Value::Table(entries.map(|(key, value)| (key.to_owned(), value)).into_iter().collect())
        };
        let column = self.column.iter().map(|column| (COLUMN.to_owned(), Value::String(column.clone())));
        let rules = Value::Array(self.rules.iter().map(rule).collect());
        let rules = (!self.rules.is_empty()).then(|| (KEY.to_owned(), rules));
        column.chain(rules).collect()
    }

    fn reads(&self, column: &str) -> bool {
        self.column.as_deref() == Some(column)
    }

    fn demands(&self, joined: &Joined<'_>) -> Result<Option<Vec<u32>>> {
        let mut demands = self.of_column(joined)?.unwrap_or_else(|| vec![1; joined.records.len()]);
        for rule in &self.rules {
            let conditions = rule.bind(joined)?;
            for (record, demand) in demands.iter_mut().enumerate() {
                if *demand < rule.k && conditions.iter().all(|(column, meets)| meets[column.code(record)]) {
                    *demand = rule.k;
                }
            }
        }
        Ok(Some(demands))
    }

    fn measure(&self, published: &Published<'_>) -> Result<Vec<Achieved>> {
        let demands = published.data.demands_of(KEY).unwrap_or_default();
        let (met, unmet) = places_left(demands, published);
        let violation = unmet
            .map(|demand| format!("too few records are in classes of {demand}, which some records ask for"));
        let meaning = "records for which there is a place in a class as large as they ask for";
        Ok(vec![
            Achieved::at_least(KEY, "own k", meaning)
                .reached(Figure::Count(met))
                .asked(Figure::Count(published.rows() as u64), violation.into_iter().collect()),
        ])
    }
}

/// How many records can be in a class as large as they ask for, and what the first asks for that cannot. What records ask
/// for is not published, so the file does not tell who is where; but if the n most demanding records find n places in
/// classes of their size, for every n, then they may be there, and else they cannot. Of the records that are left out
/// nobody knows either; they may be the most demanding ones.
fn places_left(demands: &[u32], published: &Published<'_>) -> (u64, Option<u32>) {
    let mut demands = demands.to_vec();
    demands.sort_unstable();
    demands.reverse();
    let classes = published.sizes().zip(published.rows_of_classes());
    let mut places: Vec<usize> = classes.flat_map(|(size, rows)| std::iter::repeat_n(size, rows)).collect();
    places.sort_unstable();
    places.reverse();
    let kept = demands.iter().skip(published.suppressed as usize);
    let pairs = || places.iter().zip(kept.clone()).filter(|(size, demand)| **size < **demand as usize);
    (places.len() as u64 - pairs().count() as u64, pairs().next().map(|(_, demand)| *demand))
}

/// Every class has at least as many records as its most demanding member asks for.
#[derive(Clone, Copy, Debug)]
pub struct OwnAnonymity {
    /// The least that any record asks for.
    pub least: usize,
}

impl Model for OwnAnonymity {
    fn describe(&self) -> String {
        "the k that each record asks for".to_owned()
    }

    fn part(&self) -> Part {
        Part::OwnK
    }

    /// Two classes that are large enough for their members are so together: the union is larger than either, and its most
    /// demanding member was in one of them.
    fn monotone(&self) -> bool {
        true
    }

    fn smallest_class(&self) -> usize {
        self.least
    }

    fn holds(&self, tally: &Tally) -> bool {
        tally.people() >= u64::from(tally.demand())
    }

    /// Whoever asks for more records than there are, again and again: nobody of them can stay.
    fn fewest_to_lose(&self, keeping: &Keeping<'_>) -> Option<Vec<u32>> {
        let demands = keeping.data.demands.as_ref()?;
        let asks = |record: u32| demands[record as usize] as usize;
        let mut kept: Vec<u32> = keeping.records.to_vec();
        loop {
            let size = kept.len();
            kept.retain(|record| asks(*record) <= size);
            if kept.len() == size {
                break;
            }
        }
        let lost = keeping.records.len() - kept.len();
        let goes = |record: &u32| asks(*record) > kept.len();
        (lost <= keeping.allowance && !kept.is_empty())
            .then(|| keeping.records.iter().copied().filter(goes).collect())
    }

    fn explain(&self, whole: &Tally, data: &Data) -> Error {
        self.explain_within(whole, data, 0)
    }

    fn explain_within(&self, whole: &Tally, _: &Data, allowance: usize) -> Error {
        let (count, what) = (whole.people(), if whole.counts_people() { "people" } else { "records" });
        let most = match allowance {
            0 => String::new(),
            most => format!(", and more than {most} records would have to be left out"),
        };
        let demand = whole.demand();
        let message = format!("a record asks for k = {demand}, but the table has only {count} {what}{most}");
        Error::new(ErrorCode::KExceedsTable, message)
            .with_hint("lower the largest k of the policy's own_k, or of the column that k_column names")
    }
}
