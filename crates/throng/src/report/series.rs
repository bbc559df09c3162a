//! What is told of a release that is one of a series.

use serde::{Deserialize, Serialize};

use super::Report;
use super::number::{NONE, count, percent};
use super::page::{Block, Page, Section};
use super::terminal::{COLUMNS, Side, finished, hanging, table};
use super::text::wrap;
use crate::audit::{Looked, SeriesFindings};

/// The figures of a release of a series.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SeriesFigures {
    /// The name of the series, as the ledger has it.
    pub series: String,
    /// The number of the release, from 1 on.
    pub release: u32,
    /// Its rows.
    pub rows: u64,
    /// Its classes.
    pub classes: u64,
    /// Rows of the smallest class.
    pub smallest_class: u64,
    /// People in the table.
    pub people: u64,
    /// Those of them who are published for the first time.
    pub newcomers: u64,
    /// Those of them who were never published and are not yet.
    pub waiting: u64,
    /// Why they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_waiting: Option<String>,
    /// Those of them whose class is published no more, because all of it had left once or a member was erased.
    pub withheld: u64,
    /// Rows of people who are in the table no more.
    pub stale_rows: u64,
    /// Their share of all rows.
    pub stale_share: f64,
    /// Classes that ended with this release, because nobody of them is in the table any more.
    pub ended_classes: u64,
    /// Classes that were withdrawn with this release, because a member was erased.
    pub withdrawn_classes: u64,
    /// Classes that were divided with this release, those who left being published no more.
    pub divided_classes: u64,
    /// Rows of the release before that are not in this one.
    pub dropped_rows: u64,
    /// The loss over the people in the table; those who are not published lose everything.
    pub gcp: f64,
    /// By the release with which people came.
    pub by_entry: Vec<EnteredFigures>,
    /// Whether a column tells how many of each class are present.
    pub tells_present: bool,
}

/// Those who came with one release.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EnteredFigures {
    /// The number of that release.
    pub release: u32,
    /// Classes that are still published.
    pub classes: u64,
    /// Their rows.
    pub rows: u64,
    /// Those of their people who are still in the table.
    pub present: u64,
    /// What those lose.
    pub gcp: f64,
}

/// What everybody must know who publishes without a ledger.
pub(super) const PUBLISH_ONCE: &str = "Publish once: a second release of the same people, even of a table that changed a little, voids what is \
     promised here. To publish again later, begin a series with --ledger.";

impl SeriesFigures {
    /// The release in a line.
    pub(super) fn heading(&self) -> String {
        format!("Release {} of a series", self.release)
    }

    /// The release in a few sentences.
    pub(super) fn headline(&self) -> String {
        let mut words = match self.release {
            1 => format!("It begins with {} rows in {} classes", count(self.rows), count(self.classes)),
            _ => format!(
                "{} rows in {} classes: {} newcomers among themselves, all others word for word as before",
                count(self.rows),
                count(self.classes),
                count(self.newcomers)
            ),
        };
        words += &format!(
            "; the smallest class has {} people, and comparing releases of the series tells none of them apart.",
            count(self.smallest_class)
        );
        words
    }

    /// What a reader must know, one sentence or two each.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = vec![
            "Keep the ledger and its key: make the next release with --after and --ledger. Any other release of the same \
             people voids what is promised here; without the ledger the series is over."
                .to_owned(),
        ];
        if self.release > 1 && self.newcomers > 0 {
            notes.push(format!(
                "Requirement, rows, classes and loss above are those of the {} newcomers; all other rows are as they were.",
                count(self.newcomers)
            ));
        }
        notes.extend(self.stale_note());
        if self.waiting > 0 {
            let why = self.why_waiting.as_deref().unwrap_or("they are incomplete, or were left out");
            notes.push(format!("{} wait and are not in this release: {why}.", people(self.waiting)));
        }
        if self.withheld > 0 {
            notes.push(format!(
                "{} in the table will not be published again, because their class ended or was withdrawn: to put them into \
                 another one would tell them apart.",
                people(self.withheld)
            ));
        }
        if self.withdrawn_classes > 0 {
            notes.push(
                "Who was erased must not come back into the table: the series would take them for somebody new, and two \
                 releases would tell their row."
                    .to_owned(),
            );
        }
        notes.extend(self.loss_note());
        notes
    }

    fn stale_note(&self) -> Option<String> {
        let how = match self.tells_present {
            true => {
                "To count people who are in the table, weigh each row by present divided by the rows of its class; plain \
                 counts are of everybody who is still published"
            }
            false => "Nothing tells which, so that counts are of everybody who is still published",
        };
        (self.stale_rows > 0).then(|| {
            format!(
                "{} of {} rows ({}) are of people who are in the table no more. {how}.",
                count(self.stale_rows),
                count(self.rows),
                percent(self.stale_share)
            )
        })
    }

    fn loss_note(&self) -> Option<String> {
        let (first, later) = self.by_entry.split_first()?;
        let present: u64 = later.iter().map(|entered| entered.present).sum();
        let lost: f64 = later.iter().map(|entered| entered.gcp * entered.present as f64).sum();
        (present > 0 && first.release == 1).then(|| {
            format!(
                "Those who came later lose more detail, {} in place of {}: fewer people come at a time, so that they are \
                 grouped more widely. With wait under [series] they are collected over several releases.",
                percent(lost / present as f64),
                percent(first.gcp)
            )
        })
    }

    /// The part of the page that only series have.
    pub(crate) fn section(&self) -> Section {
        let row = |entered: &EnteredFigures| {
            vec![
                entered.release.to_string(),
                count(entered.classes),
                count(entered.rows),
                count(entered.present),
                percent(entered.gcp),
            ]
        };
        let head = ["came with release", "classes", "rows", "still in the table", "loss"];
        let table = Block::Table {
            head: head.map(str::to_owned).to_vec(),
            rows: self.by_entry.iter().map(row).collect(),
        };
        Section { heading: self.heading(), blocks: vec![Block::Words(self.headline()), table] }
    }

    /// A page for a release without newcomers, of which there is nothing else to tell.
    pub(super) fn page(&self, report: &Report) -> Page {
        let notes = report.notes.iter().cloned().map(Block::Words).collect();
        Page {
            over: "Anonymization report".to_owned(),
            title: report.provenance.release.clone(),
            subtitle: format!("{}, without newcomers", self.heading()),
            private: true,
            headline: vec![self.headline(), self.people_words(), self.loss_words()],
            sections: vec![self.section(), Section { heading: "Notes".to_owned(), blocks: notes }],
        }
    }

    /// What the table of people is told in, for the terminal.
    pub(super) fn people_words(&self) -> String {
        let mut parts = vec![
            format!("{} in the table", count(self.people)),
            format!("{} new", count(self.newcomers)),
            format!("{} waiting", count(self.waiting)),
        ];
        if self.withheld > 0 {
            parts.push(format!("{} withheld", count(self.withheld)));
        }
        parts.push(format!("{} rows of others ({})", count(self.stale_rows), percent(self.stale_share)));
        parts.join(", ")
    }

    /// What the people in the table lose.
    pub(super) fn loss_words(&self) -> String {
        format!("{} over the people in the table; who is not published loses everything", percent(self.gcp))
    }
}

fn people(count_of: u64) -> String {
    if count_of == 1 { "1 person".to_owned() } else { format!("{} people", count(count_of)) }
}

/// An audit of a series in plain text.
pub fn series_terminal(findings: &SeriesFindings) -> String {
    let mut lines = vec![
        match findings.holds() {
            true => "These releases are a series, and all of their classes meet the requirement",
            false => "These releases are not a series that meets the requirement",
        }
        .to_owned(),
    ];
    for violation in &findings.violations {
        lines.extend(hanging("  ✗ ", violation));
    }
    lines.extend(wrap(looked_at(findings), COLUMNS));
    lines.push(String::new());
    let head =
        ["release", "rows", "classes", "smallest", "new", "ended", "stale rows"].map(str::to_owned).to_vec();
    let row = |(at, own): (usize, &Looked)| {
        let figures =
            [own.rows, own.classes, own.smallest_class, own.new_classes, own.ended_classes].map(count);
        let stale = own.stale_rows.map_or_else(|| NONE.to_owned(), count);
        std::iter::once((at + 1).to_string()).chain(figures).chain([stale]).collect()
    };
    let rows: Vec<Vec<String>> =
        std::iter::once(head).chain(findings.releases.iter().enumerate().map(row)).collect();
    lines.extend(table(&rows, &[Side::Right; 7]));
    finished(&lines)
}

/// What was compared with what, so that nobody takes an audit for more than it is.
fn looked_at(findings: &SeriesFindings) -> &'static str {
    match (findings.with_ledger, findings.with_tables) {
        (true, true) => {
            "Looked at: the releases, the ledger and the tables. Everybody is in one class ever, each class has as many rows as \
             people, its cells cover them and its values are theirs, and \"present\" is true."
        }
        (true, false) => {
            "Looked at: the releases and the ledger. Whether rows are true of their tables was not looked at (--tables)."
        }
        _ => {
            "Looked at: the releases alone, as anybody could, for k and l. Whether everybody is in one class only, and whether rows \
             are true of their tables, shows with --ledger and --tables."
        }
    }
}
