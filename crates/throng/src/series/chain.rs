//! Whether releases are a series, from their files and the policy alone: what anybody can check who has got them.
//!
//! Every class must have the same rows in all its releases, word for word but for `present`, and never come back; a new one
//! must be one class: equal quasi-identifiers, enough rows, diverse enough. A class `7.1` is what stayed of class 7 when that
//! was divided: its rows are rows of class 7, and the others could have been a class too.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::judged::Judged;
use super::sheet::Sheet;
use crate::audit::Looked;
use crate::error::Result;
use crate::format::Value;
use crate::policy::{Policy, Role};
use crate::watch::Watch;

/// More faults than these tell nothing new.
const MOST_FAULTS: usize = 20;

/// Releases that were looked at, first to last.
#[derive(Debug)]
pub struct Chain<'a> {
    policy: &'a Policy,
    seen: BTreeMap<String, Seen>,
    last: Option<(Sheet, Judged)>,
    /// What was found of each release.
    pub releases: Vec<Looked>,
    faults: Vec<String>,
    more: usize,
}

/// A class of earlier releases.
#[derive(Debug)]
struct Seen {
    /// The last release that has it.
    last: u32,
    /// A hash of each row, ascending, with the row in that release.
    rows: Vec<([u8; 32], u32)>,
}

impl<'a> Chain<'a> {
    /// Nothing yet.
    pub fn new(policy: &'a Policy) -> Self {
        Chain { policy, seen: BTreeMap::new(), last: None, releases: Vec::new(), faults: Vec::new(), more: 0 }
    }

    /// What is wrong, one sentence each.
    pub fn faults(&self) -> Vec<String> {
        let more = (self.more > 0).then(|| format!("and {} more", self.more));
        self.faults.iter().cloned().chain(more).collect()
    }

    /// The release that was looked at last.
    pub fn last(&self) -> Option<&Sheet> {
        self.last.as_ref().map(|(sheet, _)| sheet)
    }

    fn fault(&mut self, words: String) {
        let number = self.releases.len() + 1;
        match self.faults.len() < MOST_FAULTS {
            true => self.faults.push(format!("release {number}: {words}")),
            false => self.more += 1,
        }
    }

    /// Looks at the next release.
    pub fn add(&mut self, sheet: Sheet, watch: &dyn Watch) -> Result<()> {
        let number = self.releases.len() as u32 + 1;
        self.check_columns(&sheet);
        let judged = Judged::new(&sheet, self.policy, watch)?;
        watch.check()?;
        let classes: IndexMap<String, Vec<u32>> =
            sheet.classes().into_iter().map(|(name, rows)| (name.to_owned(), rows)).collect();
        let mut looked = Looked {
            rows: sheet.len() as u64,
            classes: classes.len() as u64,
            smallest_class: classes.values().map(Vec::len).min().unwrap_or(0) as u64,
            stale_rows: sheet.tells_present().then_some(0),
            ..Looked::default()
        };
        for (name, rows) in &classes {
            let hashes = hashes(&sheet, rows);
            match self.seen.get(name).map(|seen| (seen.last + 1 == number, same(&seen.rows, &hashes))) {
                Some((true, true)) => {}
                Some((true, false)) => self.fault(format!(
                    "the rows of class {name} are not those of release {}: somebody who compares them learns about single people",
                    number - 1
                )),
                Some((false, _)) => self.fault(format!("class {name} is back, which had ended before")),
                None => {
                    looked.new_classes += 1;
                    self.check_new(name, rows, &hashes, &sheet, &judged, &classes);
                }
            }
            if let (Some(present), Some(stale)) =
                (self.present_of(name, rows, &sheet), &mut looked.stale_rows)
            {
                *stale += rows.len() as u64 - present;
            }
            self.seen.insert(name.clone(), Seen { last: number, rows: hashes });
        }
        let ended = |seen: &&Seen| number > 1 && seen.last == number - 1;
        looked.ended_classes = self.seen.values().filter(ended).count() as u64;
        self.releases.push(looked);
        self.last = Some((sheet, judged));
        Ok(())
    }

    fn check_columns(&mut self, sheet: &Sheet) {
        let names = |sheet: &Sheet| -> Vec<String> {
            sheet.columns().into_iter().map(|(_, name)| name.to_owned()).collect()
        };
        let now = names(sheet);
        if self.last.as_ref().is_some_and(|(last, _)| names(last) != now) {
            self.fault("its columns are not those of the release before".to_owned());
        }
        for name in now {
            if matches!(self.policy.role(&name), Role::Identifier | Role::Person) {
                self.fault(format!("the identifier \"{name}\" is published"));
            }
        }
    }

    /// A class that is there for the first time.
    fn check_new(
        &mut self,
        name: &str,
        rows: &[u32],
        hashes: &[([u8; 32], u32)],
        sheet: &Sheet,
        judged: &Judged,
        now: &IndexMap<String, Vec<u32>>,
    ) {
        if name.is_empty() {
            self.fault("some rows have no class".to_owned());
        }
        if !judged.holds(rows) {
            let (size, words) = (rows.len(), judged.words());
            self.fault(format!("class {name} of {size} rows does not meet the requirement: {words}"));
        }
        let quasi: Vec<usize> = sheet
            .columns()
            .into_iter()
            .filter(|(_, column)| is_quasi(self.policy, column))
            .map(|(at, _)| at)
            .collect();
        let cells = |row: u32| quasi.iter().map(|column| sheet.cell(row, *column)).collect::<Vec<_>>();
        let first = rows.first().map(|row| cells(*row));
        if rows.iter().any(|row| Some(cells(*row)) != first) {
            self.fault(format!("class {name} is no class: its rows differ in their quasi-identifiers"));
        }
        let parent = name.rsplit_once('.').and_then(|(parent, _)| self.seen.get_key_value(parent));
        let Some((parent, seen)) = parent.filter(|_| name.ends_with(".1")) else { return };
        let parent = parent.clone();
        let number = self.releases.len() as u32 + 1;
        let left = rest(&seen.rows, hashes);
        let (followed, judged_before) =
            (seen.last + 1 == number, self.last.as_ref().map(|(_, judged)| judged));
        let words = match (left, judged_before) {
            _ if !followed || now.contains_key(&parent) => Some(format!(
                "class {name} goes on from class {parent}, which does not end with the release before"
            )),
            (None, _) => {
                Some(format!("class {name} has rows that class {parent} has not, from which it goes on"))
            }
            (Some(left), Some(judged)) if !judged.holds(&left) => Some(format!(
                "class {parent} was divided, and the {} rows that are gone could not be a class",
                left.len()
            )),
            _ => None,
        };
        words.into_iter().for_each(|words| self.fault(words));
    }

    /// How many people of a class are still there, as it says.
    fn present_of(&mut self, name: &str, rows: &[u32], sheet: &Sheet) -> Option<u64> {
        let first = sheet.present(*rows.first()?)?;
        let same = rows.iter().all(|row| sheet.present(*row) == Some(first));
        let present = first.parse().ok().filter(|present| same && (1..=rows.len() as u64).contains(present));
        if present.is_none() {
            let size = rows.len();
            self.fault(format!(
                "\"present\" of class {name} must be one number from 1 to {size} in all its rows"
            ));
        }
        present
    }
}

/// Whether a column of a release is one of a quasi-identifier, as a cell or as a bound.
fn is_quasi(policy: &Policy, column: &str) -> bool {
    let bound = column.strip_suffix(".min").or_else(|| column.strip_suffix(".max"));
    [Some(column), bound]
        .into_iter()
        .flatten()
        .any(|name| policy.attributes.contains_key(name) && policy.role(name) == Role::Quasi)
}

/// A hash of what comes from the table in each of some rows, ascending.
fn hashes(sheet: &Sheet, rows: &[u32]) -> Vec<([u8; 32], u32)> {
    let columns: Vec<usize> = sheet.columns().into_iter().map(|(at, _)| at).collect();
    let hash = |row: u32| {
        let values: Vec<Value<'_>> = sheet.values(row).collect();
        let mut hasher = blake3::Hasher::new();
        for column in &columns {
            let (null, text) = (matches!(values[*column], Value::Null(_)), values[*column].text());
            hasher
                .update(&[u8::from(null)])
                .update(&(text.len() as u64).to_le_bytes())
                .update(text.as_bytes());
        }
        (*hasher.finalize().as_bytes(), row)
    };
    let mut hashes: Vec<([u8; 32], u32)> = rows.iter().map(|row| hash(*row)).collect();
    hashes.sort_unstable();
    hashes
}

fn same(one: &[([u8; 32], u32)], other: &[([u8; 32], u32)]) -> bool {
    one.iter().map(|(hash, _)| hash).eq(other.iter().map(|(hash, _)| hash))
}

/// The rows that are left if some are taken out; `None` if one of these is not there.
fn rest(all: &[([u8; 32], u32)], some: &[([u8; 32], u32)]) -> Option<Vec<u32>> {
    let mut some = some.iter().map(|(hash, _)| hash).peekable();
    let left = all.iter().filter(|(hash, _)| some.next_if(|own| *own == hash).is_none()).map(|(_, row)| *row);
    let left: Vec<u32> = left.collect();
    some.next().is_none().then_some(left)
}
