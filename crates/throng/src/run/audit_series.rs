//! Measuring a series.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::audit::{Cell, Received, SeriesFindings, audit_cells, codes_of, covers, storage, truth};
use crate::collections::Arrange;
use crate::error::{Error, ErrorCode, Result};
use crate::plan;
use crate::policy::Policy;
use crate::problem::Problem;
use crate::published::Cells;
use crate::release::Publish;
use crate::series::{Book, Chain, Class, Ledger, Members, Sheet, Terms, alone, hash_file};
use crate::table::Table;
use crate::watch::Watch;

/// What to look at.
#[derive(Clone, Debug)]
pub struct AuditSeries {
    /// The releases, first to last.
    pub releases: Vec<PathBuf>,
    /// The policy.
    pub policy: Policy,
    /// The ledger, for those who have it.
    pub ledger: Option<PathBuf>,
    /// The table of each release, for those who have them.
    pub tables: Vec<PathBuf>,
}

impl AuditSeries {
    /// Looks at them.
    pub fn run(&self, watch: &dyn Watch) -> Result<SeriesFindings> {
        self.check_usage()?;
        let looked = self.ledger.as_deref().map(Book::look).transpose()?;
        let alone = alone(&self.policy);
        let mut chain = Chain::new(&self.policy);
        let mut told = Vec::new();
        if let Some((ledger, _)) = &looked {
            told.extend(self.against_hashes(ledger)?);
        }
        for (at, path) in self.releases.iter().enumerate() {
            let number = at as u32 + 1;
            chain.add(Sheet::read(path, &self.policy, watch)?, watch)?;
            let (Some(sheet), Some((ledger, key))) = (chain.last(), &looked) else { continue };
            let mut own = against_ledger(ledger, sheet, number);
            if let Some(table) = self.tables.get(at) {
                let table = plan::read(table, &self.policy, watch)?;
                let members = Members::of(&table, &self.policy, key)?;
                let side = Side { ledger, sheet, number, table: &table, members: &members, policy: &alone };
                own.extend(side.present());
                own.extend(side.entered(watch)?);
            }
            told.extend(own.into_iter().map(|words| format!("release {number}: {words}")));
        }
        let violations = chain.faults().into_iter().chain(told).collect();
        let (with_ledger, with_tables) = (looked.is_some(), !self.tables.is_empty());
        Ok(SeriesFindings { releases: chain.releases, with_ledger, with_tables, violations })
    }

    fn check_usage(&self) -> Result<()> {
        let bad = |message: String, hint: &str| Err(Error::new(ErrorCode::BadUsage, message).with_hint(hint));
        Terms::of(&self.policy, Publish::Cells)?;
        if !self.tables.is_empty() && self.ledger.is_none() {
            return bad(
                "--tables needs --ledger, which knows who is in which class".to_owned(),
                "name the ledger, or leave --tables out to look at the releases alone",
            );
        }
        if !self.tables.is_empty() && self.tables.len() != self.releases.len() {
            let (tables, releases) = (self.tables.len(), self.releases.len());
            return bad(
                format!("there are {tables} tables for {releases} releases"),
                "name the table of each release, in the same order",
            );
        }
        Ok(())
    }

    fn against_hashes(&self, ledger: &Ledger) -> Result<Vec<String>> {
        let mut told = Vec::new();
        let (known, given) = (ledger.releases.len(), self.releases.len());
        if known != given {
            told.push(format!("the ledger knows {known} releases, and {given} were looked at"));
        }
        for (at, (path, entry)) in self.releases.iter().zip(&ledger.releases).enumerate() {
            if hash_file(path)? != entry.hash {
                told.push(format!("release {}: the file is not the one that was published", at + 1));
            }
        }
        Ok(told)
    }
}

/// The classes of a release against those that the ledger knows.
fn against_ledger(ledger: &Ledger, sheet: &Sheet, number: u32) -> Vec<String> {
    let mut told = Vec::new();
    let mut classes = sheet.classes();
    for class in ledger.classes.iter().filter(|class| Ledger::holds(class, number)) {
        match classes.shift_remove(class.name.as_str()).map(|rows| rows.len()) {
            Some(rows) if rows == class.size as usize => {}
            Some(rows) => {
                told.push(format!("class {} has {rows} rows, and {} people", class.name, class.size));
            }
            None => told.push(format!("class {} is missing", class.name)),
        }
    }
    told.extend(classes.keys().map(|name| format!("the ledger does not know class {name}")));
    told.extend(ledger.contradiction());
    told
}

/// A release beside its table.
struct Side<'a> {
    ledger: &'a Ledger,
    sheet: &'a Sheet,
    number: u32,
    table: &'a Table,
    members: &'a Members,
    policy: &'a Policy,
}

impl Side<'_> {
    /// Whether `present` is true.
    fn present(&self) -> Vec<String> {
        let mut here: BTreeMap<&str, u64> = BTreeMap::new();
        for tag in self.members.tags() {
            let at = self.ledger.people.get(tag).and_then(|at| self.ledger.class_at(at.class, self.number));
            if let Some(class) = at {
                *here.entry(&self.ledger.classes[class as usize].name).or_default() += 1;
            }
        }
        let mut told = Vec::new();
        for (name, rows) in self.sheet.classes() {
            let class = self.ledger.classes.iter().find(|class| class.name == name);
            let Some(said) = rows.first().and_then(|row| self.sheet.present(*row)) else { continue };
            let true_of = here.get(name).copied().unwrap_or(0);
            // Whoever was erased since is known to nobody any more.
            let erased = class.map_or(0, |class| u64::from(self.ledger.erased_of(class)));
            let said_number: Option<u64> = said.parse().ok();
            if !said_number.is_some_and(|said| (true_of..=true_of + erased).contains(&said)) {
                told.push(format!(
                    "class {name} says that {said} of its people are in the table, and {true_of} are"
                ));
            }
        }
        told
    }

    /// Whether those who came with this release are in it as the table has them.
    fn entered(&self, watch: &dyn Watch) -> Result<Vec<String>> {
        let came = |class: &Class| class.since == self.number && !class.name.contains('.');
        let mut rows_of: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (row, tag) in (0..).zip(&self.members.of_row) {
            let place = tag.and_then(|tag| self.ledger.people.get(&tag));
            let class = place.and_then(|at| self.ledger.class_at(at.class, self.number));
            if let Some(class) = class.filter(|at| came(&self.ledger.classes[*at as usize])) {
                rows_of.entry(class).or_default().push(row);
            }
        }
        let named = self.sheet.classes();
        let (mut chosen, mut published, mut pairs) = (Vec::new(), Vec::new(), Vec::new());
        for (class, people) in &rows_of {
            let class = &self.ledger.classes[*class as usize];
            let rows = named.get(class.name.as_str()).map_or(&[][..], Vec::as_slice);
            pairs.push((class, people.clone(), published.len()..published.len() + rows.len()));
            chosen.extend(people);
            published.extend(rows);
        }
        if chosen.is_empty() || published.is_empty() {
            return Ok(Vec::new());
        }
        chosen.sort_unstable();
        let problem = Problem::among(self.table, self.policy, Some(&chosen))?;
        let plan = |names: &[String]| Ok(storage(&problem, names));
        let table = self.sheet.select(&published, &plan, self.policy, watch)?;
        let received = Received { table, sensitive: None, people: None, stands_for: None };
        let erased = pairs.iter().any(|(class, ..)| self.ledger.erased_of(class) > 0);
        let mut told = Vec::new();
        if !erased {
            told.extend(audit_cells(&problem, self.policy, &received, watch)?.measures.violations);
            told.extend(truth::check(self.table, &problem, self.policy, &received, watch)?.1);
        }
        told.extend(self.classes_cover(&problem, &received.table, &pairs)?);
        Ok(told)
    }

    /// Whether the cells of each class cover its people, and its values are theirs.
    fn classes_cover(
        &self,
        problem: &Problem,
        release: &Table,
        pairs: &[(&Class, Vec<u32>, std::ops::Range<usize>)],
    ) -> Result<Vec<String>> {
        let cells = Cells::read(problem, self.policy, release)?;
        let counted: Vec<_> = problem.sensitive.iter().chain(&problem.labels).collect();
        let codes: Vec<Vec<u32>> = counted.iter().map(|own| codes_of(own, release)).collect::<Result<_>>()?;
        let record_of: BTreeMap<usize, u32> =
            (0..problem.len() as u32).map(|record| (problem.row(record), record)).collect();
        let mut told = Vec::new();
        for (class, people, rows) in pairs {
            let records: Vec<u32> =
                people.iter().filter_map(|row| record_of.get(&(*row as usize)).copied()).collect();
            let covered = |record: &u32| {
                let inside = |(at, own): (usize, &crate::problem::Attribute)| {
                    let cell: &Cell = cells.cell(at, rows.start);
                    covers(&own.domain, cell, problem.records.code(*record as usize, at))
                };
                rows.is_empty() || problem.attributes.iter().enumerate().all(inside)
            };
            if !records.iter().all(covered) {
                told.push(format!("class {} does not cover all of its people", class.name));
            }
            let mut of_rows: Vec<Vec<u32>> =
                rows.clone().map(|row| codes.iter().map(|codes| codes[row]).collect()).collect();
            let value =
                |record: u32| counted.iter().map(|own| own.codes[record as usize]).collect::<Vec<u32>>();
            let mut of_people: Vec<Vec<u32>> = records.iter().map(|record| value(*record)).collect();
            of_rows.arrange();
            of_people.arrange();
            if self.ledger.erased_of(class) == 0 && of_rows != of_people {
                told.push(format!("the values of class {} are not those of its people", class.name));
            }
        }
        Ok(told)
    }
}
