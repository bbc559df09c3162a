//! The next release of a series: what was published stays as it is, newcomers are grouped among themselves.
//!
//! The newcomers of a table are a table of their own, with the domains of the whole one; they go the way of every release,
//! into memory, and are audited there. Their rows and those of the last release that stay are then written together, read
//! back, and held against the last release as anybody could hold them (`series/chain.rs`). The ledger is written with the
//! release (`series/book.rs`).

mod cohort;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::{Anonymize, Clock, Entry, Prepared, check_outputs, hash};
use crate::error::{Error, ErrorCode, Fault, Result};
use crate::format::Format;
use crate::formula::Formulas;
use crate::plan::{self, Written};
use crate::policy::Policy;
use crate::release::{Files, Order, Output, RowOrder};
use crate::report::{EnteredFigures, Provenance, Report, SeriesFigures};
use crate::secret::Secret;
use crate::series::{
    Before, Book, Chain, Joined, JoinedRow, Key, Ledger, Members, Published, Sheet, State, Tag, Terms, Told,
    alone, divide, hash_file, read_people,
};
use crate::table::Table;
use crate::table::source::is_standard;
use crate::watch::Watch;
use cohort::Cohort;

/// A release that begins a series or follows on its last one.
#[derive(Clone, Debug)]
pub struct Series {
    /// What to anonymize and how.
    pub anonymize: Anonymize,
    /// The ledger; its key lies beside it.
    pub ledger: PathBuf,
    /// The last release; none for the first.
    pub after: Option<PathBuf>,
    /// A file that names people to erase, one per line.
    pub erase: Option<PathBuf>,
    /// Whether the last release in the ledger was never handed out, and this one takes its place.
    pub replace: bool,
}

impl Series {
    /// Runs it. Release and ledger appear together, once the audit finds that the requirement holds.
    pub fn run(&self, watch: &dyn Watch) -> Result<Report> {
        self.prepare(watch)?.publish()
    }

    /// What it reads and writes; an error if it would destroy something.
    pub fn files(&self) -> Result<Files> {
        let Anonymize { data, policy, release, publish, .. } = &self.anonymize;
        let mut files = check_outputs(data, Some(policy), release, *publish)?;
        files.keep("the ledger", &self.ledger)?;
        files.keep("the key of the series", &Key::path(&self.ledger))?;
        for (what, path) in [("the last release", &self.after), ("the people to erase", &self.erase)] {
            path.iter().try_for_each(|path| files.read_too(what, path))?;
        }
        Ok(files)
    }

    /// Runs it up to the point where release and ledger would appear.
    pub fn prepare(&self, watch: &dyn Watch) -> Result<Prepared> {
        let (mut clock, start) = (Clock::start(), Instant::now());
        self.files()?;
        self.check_usage()?;
        let policy = &self.anonymize.policy;
        let terms = Terms::of(policy, self.anonymize.publish)?;
        let before = Before { after: self.after.as_deref(), replace: self.replace };
        let book = Book::open(&self.ledger, &terms, before)?;
        let last = self.after.as_deref().map(|path| Sheet::read(path, policy, watch)).transpose()?;
        let table = plan::read(&self.anonymize.data, policy, watch)?;
        let members = Members::of(&table, policy, book.key())?;
        clock.lap("read");
        let base = self.anonymize.secret.clone().map_or_else(Secret::fresh, Ok)?;
        let secret = base.derived(&format!("release {} of a series", book.ledger.next()));
        let (table, members, ledger) = (&table, &members, book.ledger.clone());
        let mut next = Next { run: self, ledger, table, members, last, secret };
        next.erase(&book)?;
        let divided = next.divide(watch)?;
        next.end();
        let (cohort, why) = next.newcomers(clock, watch)?;
        let (written, mut report) = next.write(cohort, &divided, why, start, watch)?;
        report.provenance = self.provenance(&written.release)?;
        let entry = Some(Entry { book, next: next.ledger });
        Ok(Prepared { written, report, recipe: None, certificate: None, entry })
    }

    fn check_usage(&self) -> Result<()> {
        let Anonymize { release, order, formulas, .. } = &self.anonymize;
        let refuse =
            |message: &str, hint: &str| Err(Error::new(ErrorCode::NoSeries, message).with_hint(hint));
        if *order == Order::Keep {
            return refuse(
                "rows in the order of the table would tell who left and who came between two releases",
                "leave --keep-order out",
            );
        }
        if self.anonymize.runs_in_parts() {
            return refuse(
                "a series needs the whole table in memory, and one file of it",
                "leave --memory, --scratch, --parts and further files out",
            );
        }
        if *formulas == Formulas::Escape {
            return refuse(
                "with marks before formulas rows could not be published again word for word",
                "leave --escape-formulas out",
            );
        }
        for (what, path) in
            [("a release of a series", Some(release)), ("the last release", self.after.as_ref())]
        {
            if path.is_some_and(|path| is_standard(path)) {
                return Err(Error::new(
                    ErrorCode::NeedsFileName,
                    format!("{what} cannot be standard input or output"),
                )
                .with_hint("the next release is made from the file: give it a name"));
            }
        }
        let formats = self.after.as_deref().map(|after| (Format::of(after), Format::of(release)));
        if let Some((before, now)) = formats.filter(|(before, now)| before.name != now.name) {
            return refuse(
                &format!("the last release is {} and this one would be {}", before.name, now.name),
                "give the release the ending of the last one, so that rows stay word for word as they were",
            );
        }
        Ok(())
    }

    fn provenance(&self, release: &Output) -> Result<Provenance> {
        let Anonymize { data, policy, overrides, hashes, .. } = &self.anonymize;
        Ok(Provenance {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            data: data.display().to_string(),
            data_hash: if *hashes { hash(data)? } else { String::new() },
            release: self.anonymize.release.display().to_string(),
            release_hash: if *hashes { hash_file(release.temporary_path())? } else { String::new() },
            policy: policy.text.clone(),
            overrides: overrides.clone(),
            command: Vec::new(),
        })
    }
}

/// A release on its way.
struct Next<'a> {
    run: &'a Series,
    /// The ledger as it will be.
    ledger: Ledger,
    table: &'a Table,
    members: &'a Members,
    last: Option<Sheet>,
    /// What names of classes, lots and the order of rows are drawn from.
    secret: Secret,
}

/// The places of divided classes in the ledger, and the rows of the last release that stay of each.
type Divided = Vec<(u32, Vec<u32>)>;

impl Next<'_> {
    fn policy(&self) -> &Policy {
        &self.run.anonymize.policy
    }

    fn erase(&mut self, book: &Book) -> Result<()> {
        let Some(path) = &self.run.erase else { return Ok(()) };
        let here: BTreeSet<Tag> = self.members.tags().copied().collect();
        for (tag, line, name) in read_people(path, self.policy(), book.key())? {
            let wrong = |message: String, hint: &str| {
                Err(Error::new(ErrorCode::UnknownPerson, message).in_file(path).on_line(line).with_hint(hint))
            };
            if here.contains(&tag) {
                return wrong(
                    format!("\"{name}\" is to be erased, but still in the table"),
                    "take the person out of the table first",
                );
            }
            if !self.ledger.erase(&tag) {
                return wrong(
                    format!("\"{name}\" was never published in this series"),
                    "check the spelling; who was never published need not be erased",
                );
            }
        }
        Ok(())
    }

    fn divide(&mut self, watch: &dyn Watch) -> Result<Divided> {
        let Some(last) = self.last.as_ref().filter(|_| self.run.anonymize.policy.series.turnover) else {
            return Ok(Vec::new());
        };
        let here: BTreeSet<Tag> = self.members.tags().copied().collect();
        divide(&mut self.ledger, &here, last, &self.run.anonymize.policy, watch)
    }

    fn end(&mut self) {
        let present = self.ledger.present(self.members.tags());
        self.ledger.end_empty(&present);
    }

    /// Groups those who were never published; if they cannot be yet, says why.
    fn newcomers(&mut self, clock: Clock, watch: &dyn Watch) -> Result<(Option<Cohort>, Option<String>)> {
        let number = self.ledger.next();
        let wait = self.policy().series.wait as u32;
        let new =
            |(_, tag): &(usize, &Option<Tag>)| tag.is_some_and(|tag| !self.ledger.people.contains_key(&tag));
        let rows: Vec<u32> =
            self.members.of_row.iter().enumerate().filter(new).map(|(row, _)| row as u32).collect();
        if rows.is_empty() && number > 1 {
            return Ok((None, None));
        }
        if !(number - 1).is_multiple_of(wait) {
            let when = number + wait - (number - 1) % wait;
            return Ok((None, Some(format!("newcomers are collected until release {when} (wait = {wait})"))));
        }
        let mut policy = alone(self.policy());
        let own = if number == 1 { policy.series.start_k } else { policy.series.later_k };
        if let (Some(own), Some(k)) = (own, policy.privacy.k()) {
            policy.privacy.set_k(own.max(k));
        }
        match Cohort::make(&self.run.anonymize, &policy, &self.secret, (self.table, &rows), clock, watch) {
            Ok(cohort) => Ok((Some(cohort), None)),
            // The first release must be one; later ones can do without newcomers.
            Err(error) if number > 1 && error.fault() == Fault::Requirement => Ok((
                None,
                Some(format!("among themselves they cannot meet the requirement ({})", error.message())),
            )),
            Err(error) if number > 1 && error.code() == ErrorCode::EmptyTable => Ok((None, None)),
            Err(error) => Err(error),
        }
    }

    /// Writes the release, reads it back and holds it against the last one; enters it into the ledger.
    fn write(
        &mut self,
        cohort: Option<Cohort>,
        divided: &[(u32, Vec<u32>)],
        why: Option<String>,
        start: Instant,
        watch: &dyn Watch,
    ) -> Result<(Written<Output>, Report)> {
        let (number, before) = (self.ledger.next(), self.last.as_ref().map_or(0, Sheet::len));
        let first = cohort.as_ref().map(|cohort| self.ledger.add(&cohort.classes(self.members)));
        let mut rows = self.kept_rows(divided)?;
        if let (Some(cohort), Some(first)) = (&cohort, first) {
            let sheet = usize::from(self.last.is_some());
            let of_row = cohort.class_of_row.iter().enumerate();
            rows.extend(of_row.map(|(row, class)| JoinedRow {
                sheet,
                row: row as u32,
                class: first + class,
            }));
        }
        if rows.is_empty() {
            return Err(Error::new(
                ErrorCode::EmptyTable,
                "nobody who was published is in the table, and nobody new",
            )
            .in_file(self.table.origin())
            .with_hint("is this a table of the same people, named in the same way?"));
        }
        let present = self.ledger.present(self.members.tags());
        let told = self.ledger.classes.iter().zip(&present);
        let told =
            told.map(|(class, present)| Told { name: class.name.clone(), present: *present }).collect();
        let sheets = self.last.iter().chain(cohort.as_ref().map(|cohort| &cohort.sheet)).collect();
        let tells_present = self.policy().series.present;
        let mut joined = Joined::new(sheets, rows, told, tells_present)?;
        joined.shuffle(&self.secret);
        let mut output = Output::create_staged(&self.run.anonymize.release)?;
        if output.is_streamed() {
            return Err(Error::new(ErrorCode::NeedsFileName, "a release of a series must be a file")
                .in_file(output.path())
                .with_hint("the next release is made from it: give the name of a file"));
        }
        watch.stage("writing", None);
        fill(&mut output, &joined, watch)?;
        let order = joined.rows().to_vec();
        drop(joined);
        if self.policy().series.turnover {
            self.remember_rows(&order, cohort.as_ref());
        }
        let report = cohort.map(|cohort| cohort.report);
        let looked = self.check(&output, watch)?;
        self.ledger
            .releases
            .push(Published { hash: hash_file(output.temporary_path())?, rows: order.len() as u64 });
        let mut figures = self.figures(number, &present, why, before, order.len());
        figures.smallest_class = looked;
        let written = Written::whole(output);
        Ok((written, self.report(report, figures, start)))
    }

    /// The rows of the last release that are published again.
    fn kept_rows(&self, divided: &[(u32, Vec<u32>)]) -> Result<Vec<JoinedRow>> {
        let Some(last) = &self.last else { return Ok(Vec::new()) };
        let named = last.classes();
        let mut rows = Vec::with_capacity(last.len());
        let number = self.ledger.next();
        for (place, class) in self.ledger.published().filter(|(_, class)| class.since < number) {
            let own = named.get(class.name.as_str()).map_or(&[][..], Vec::as_slice);
            if own.len() != class.size as usize {
                return Err(Error::bug(format!(
                    "the last release does not hold class {} as it was",
                    class.name
                )));
            }
            rows.extend(own.iter().map(|row| JoinedRow { sheet: 0, row: *row, class: place }));
        }
        for (place, own) in divided {
            rows.extend(own.iter().map(|row| JoinedRow { sheet: 0, row: *row, class: *place }));
        }
        Ok(rows)
    }

    /// Enters whose each row is, where classes may be divided later.
    fn remember_rows(&mut self, order: &[JoinedRow], cohort: Option<&Cohort>) {
        let mut whose: Vec<Option<Tag>> = vec![None; self.last.as_ref().map_or(0, Sheet::len)];
        for (tag, place) in &self.ledger.people {
            if let Some(own) = place.row.and_then(|row| whose.get_mut(row as usize)) {
                *own = Some(*tag);
            }
        }
        self.ledger.people.values_mut().for_each(|place| place.row = None);
        let with_last = self.last.is_some();
        for (at, row) in order.iter().enumerate() {
            let tag = match row.sheet == 0 && with_last {
                true => whose[row.row as usize],
                false => cohort
                    .and_then(|cohort| self.members.of_row[cohort.table_rows[row.row as usize] as usize]),
            };
            if let Some(place) = tag.and_then(|tag| self.ledger.people.get_mut(&tag)) {
                place.row = Some(at as u32);
            }
        }
    }

    /// Holds what was written against the last release. Gives the size of the smallest class.
    fn check(&mut self, output: &Output, watch: &dyn Watch) -> Result<u64> {
        watch.stage("auditing", None);
        let policy = &self.run.anonymize.policy;
        let mut chain = Chain::new(policy);
        if let Some(last) = self.last.take() {
            chain.add(last, watch)?;
        }
        chain.add(Sheet::read_back(output, policy, watch)?, watch)?;
        match chain.faults().first() {
            Some(fault) => Err(Error::bug(format!("the release does not go on from the last one: {fault}"))),
            None => Ok(chain.releases.last().map_or(0, |looked| looked.smallest_class)),
        }
    }

    fn figures(
        &self,
        number: u32,
        present: &[u32],
        why: Option<String>,
        before: usize,
        rows: usize,
    ) -> SeriesFigures {
        let ledger = &self.ledger;
        let mut by_entry: Vec<EnteredFigures> = Vec::new();
        for entry in 1..=number {
            let own = ledger.published().filter(|(place, _)| ledger.entered(*place) == entry);
            let mut figures = EnteredFigures { release: entry, ..EnteredFigures::default() };
            let mut lost = 0.0;
            for (place, class) in own {
                let here = present[place as usize];
                figures.classes += 1;
                figures.rows += u64::from(class.size);
                figures.present += u64::from(here);
                lost += f64::from(here) * class.loss;
            }
            figures.gcp = if figures.present > 0 { lost / figures.present as f64 } else { 0.0 };
            if figures.classes > 0 {
                by_entry.push(figures);
            }
        }
        let people = self.members.tags().count() as u64;
        let known = self.members.tags().filter(|tag| ledger.people.contains_key(tag)).count() as u64;
        let here: u64 = by_entry.iter().map(|entered| entered.present).sum();
        let newcomers =
            |(_, class): &(u32, &crate::series::Class)| class.since == number && !class.name.contains('.');
        let ended_now =
            |state: State| ledger.classes.iter().filter(|class| class.state == state).count() as u64;
        let divided =
            ledger.classes.iter().filter(|class| class.since == number && class.name.contains('.')).count();
        let new: u64 = ledger.published().filter(newcomers).map(|(_, class)| u64::from(class.size)).sum();
        let lost: f64 = by_entry.iter().map(|entered| entered.gcp * entered.present as f64).sum();
        let stale_rows = rows as u64 - here;
        SeriesFigures {
            series: ledger.series.clone(),
            release: number,
            rows: rows as u64,
            classes: ledger.published().count() as u64,
            smallest_class: 0,
            people,
            newcomers: new,
            waiting: people - known,
            why_waiting: why,
            withheld: known - here,
            stale_rows,
            stale_share: stale_rows as f64 / rows.max(1) as f64,
            ended_classes: ended_now(State::Ended(number)) - divided as u64,
            withdrawn_classes: ended_now(State::Withdrawn(number)),
            divided_classes: divided as u64,
            dropped_rows: (before + new as usize - rows) as u64,
            gcp: (lost + (people - here) as f64) / people.max(1) as f64,
            by_entry,
            tells_present: self.policy().series.present,
        }
    }

    /// The report: that of the newcomers, with what is to be told of the series.
    fn report(&self, cohort: Option<Report>, figures: SeriesFigures, start: Instant) -> Report {
        let mut report = cohort.unwrap_or_else(|| Report::empty(self.policy()));
        report.order = match self.run.anonymize.secret {
            Some(_) => RowOrder::Keyed,
            None => RowOrder::Random,
        };
        report.measures.k = match report.measures.k {
            0 => figures.smallest_class,
            k => k.min(figures.smallest_class),
        };
        report.notes.splice(0..0, figures.notes());
        report.sections.insert(0, figures.section());
        report.series = Some(figures);
        report.seconds.shift_remove("total");
        report.seconds.insert("total".to_owned(), start.elapsed().as_secs_f64());
        report
    }
}

fn fill(output: &mut Output, joined: &Joined<'_>, watch: &dyn Watch) -> Result<()> {
    let path: PathBuf = output.path().to_owned();
    let mut encoder = output.encoder()?;
    Format::of(&path).write_to(joined, &mut encoder, &path, watch)?;
    encoder.finish().map_err(|cause| Error::io(ErrorCode::CannotWrite, "write", Path::new(&path), &cause))
}
