//! What the values of a column are like.

use crate::collections::Arrange;
use crate::policy::Kind;
use crate::table::domain::{guess_kind, guess_spelling};
use crate::table::spelling::{Guess, Measured, Spelling};
use crate::table::{ANY, Table};

/// The distinct values of a column and how often each occurs.
pub(super) struct Look<'a> {
    pub name: &'a str,
    texts: Vec<&'a str>,
    counts: Vec<u64>,
}

/// A text that stands for a missing cell.
pub(super) struct Marker {
    pub text: &'static str,
    pub cells: u64,
    pub columns: usize,
}

/// Texts that mean nothing but missing, wherever they stand; `*` is a cell that was suppressed before.
const CLEAR: [&str; 8] = ["", "?", "N/A", "NULL", "null", "nan", "NaN", ANY];
/// Texts that may be values: they are markers only where all else are numbers or dates.
const UNCLEAR: [&str; 3] = ["NA", "-", "."];

/// The markers that occur; the empty text always, so that a later table may have empty cells.
pub(super) fn markers(looks: &[Look<'_>]) -> Vec<Marker> {
    let clear = CLEAR.iter().map(|text| (*text, true));
    let candidates =
        clear.chain(UNCLEAR.iter().map(|text| (*text, looks.iter().any(|look| look.odd_one_out(text)))));
    let marker = |text: &'static str| {
        let counts: Vec<u64> = looks.iter().map(|look| look.count(text)).filter(|count| *count > 0).collect();
        Marker { text, cells: counts.iter().sum(), columns: counts.len() }
    };
    let found = candidates.filter(|(_, marks)| *marks).map(|(text, _)| marker(text));
    found.filter(|marker| marker.cells > 0 || marker.text.is_empty()).collect()
}

impl<'a> Look<'a> {
    pub fn at(table: &'a Table, column: usize) -> Self {
        let texts = table.values(column);
        let mut counts = vec![0; texts.len()];
        for number in table.numbers(column) {
            counts[*number as usize] += 1;
        }
        Look { name: &table.names()[column], texts, counts }
    }

    fn count(&self, text: &str) -> u64 {
        self.texts.iter().position(|other| *other == text).map_or(0, |at| self.counts[at])
    }

    /// Whether a text stands among numbers or dates only.
    fn odd_one_out(&self, text: &str) -> bool {
        let others = || self.texts.iter().filter(|other| !CLEAR.contains(other) && !UNCLEAR.contains(other));
        self.count(text) > 0 && others().next().is_some() && guess_kind(others().copied()) == Kind::Numeric
    }

    /// The values without missing cells.
    pub fn values(&self, markers: &[Marker]) -> Values<'a> {
        let all = self.texts.iter().copied().zip(self.counts.iter().copied());
        let present: Vec<(&str, u64)> =
            all.filter(|(text, _)| markers.iter().all(|marker| marker.text != *text)).collect();
        let texts = || present.iter().map(|(text, _)| *text);
        let spelling = guess_spelling(texts());
        let form = match &spelling {
            None => Form::Text,
            Some(spelling) => match spelling.measured() {
                Measured::Numbers => Form::Numbers,
                Measured::Dates => Form::Dates,
                Measured::Times => Form::Times,
            },
        };
        let either = match Spelling::guess(texts()) {
            Guess::Either(one, other) => Some((one, other)),
            Guess::Clear(_) | Guess::Neither => None,
        };
        let missing = self.counts.iter().sum::<u64>() - present.iter().map(|(_, count)| count).sum::<u64>();
        Values {
            form,
            spelling,
            either,
            cells: present.iter().map(|(_, count)| count).sum(),
            distinct: present.len() as u64,
            missing,
            present,
        }
    }
}

/// What the values of a column are written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Numbers,
    Dates,
    Times,
    Text,
}

/// The values of a column without missing cells.
pub(super) struct Values<'a> {
    pub form: Form,
    /// How numbers and dates are spelt.
    pub spelling: Option<Spelling>,
    /// Two spellings that both read all of them.
    pub either: Option<(Spelling, Spelling)>,
    /// Cells with a value.
    pub cells: u64,
    pub distinct: u64,
    /// Cells without one.
    pub missing: u64,
    present: Vec<(&'a str, u64)>,
}

/// Categories are shown only if so many records share them.
const SHARED: u64 = 10;

impl<'a> Values<'a> {
    pub fn is_text(&self) -> bool {
        self.form == Form::Text
    }

    /// Whether they are dates, also if it is open how they are spelt.
    pub fn are_dates(&self) -> bool {
        self.form == Form::Dates || self.either.as_ref().is_some_and(|(one, _)| one.is_date())
    }

    /// The distinct values.
    pub fn texts(&self) -> Vec<&'a str> {
        self.present.iter().map(|(text, _)| *text).collect()
    }

    /// Whether a text is one of the values.
    pub fn has(&self, text: &str) -> bool {
        self.present.iter().any(|(other, _)| *other == text)
    }

    /// Digits of the longest number, if all are whole.
    pub fn whole_digits(&self) -> Option<usize> {
        let whole = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then_some(text.len());
        let lengths: Option<Vec<usize>> = self.present.iter().map(|(text, _)| whole(text)).collect();
        lengths?.into_iter().max()
    }

    /// Whether nearly all values mix letters with digits, three or more, or are long numbers written as text.
    pub fn are_codes(&self) -> bool {
        let code = |text: &str| {
            let digits = text.bytes().filter(u8::is_ascii_digit).count();
            digits >= 3 && !text.contains(' ') && (digits >= 6 || text.chars().any(char::is_alphabetic))
        };
        let codes = self.present.iter().filter(|(text, _)| code(text)).count();
        self.is_text() && codes * 10 > self.present.len() * 9
    }

    /// Distinct values per cell.
    pub fn different(&self) -> f64 {
        if self.cells == 0 { 0.0 } else { self.distinct as f64 / self.cells as f64 }
    }

    /// Whether the values are whole numbers without gap or repetition.
    pub fn counts_up(&self) -> bool {
        let whole = || self.numbers().all(|number| number.fract() == 0.0);
        let gapless = |(low, high): (f64, f64)| high - low + 1.0 == self.cells as f64;
        self.form == Form::Numbers
            && self.distinct == self.cells
            && whole()
            && self.range().is_some_and(gapless)
    }

    pub fn numbers(&self) -> impl Iterator<Item = f64> {
        let spelling = self.spelling.as_ref();
        self.present.iter().filter_map(move |(text, _)| spelling?.read(text))
    }

    /// The least and the greatest number.
    pub fn range(&self) -> Option<(f64, f64)> {
        let least = self.numbers().reduce(f64::min)?;
        Some((least, self.numbers().reduce(f64::max)?))
    }

    /// The earliest and the latest year, of dates.
    pub fn years(&self) -> Option<(i64, i64)> {
        let spelling = self.spelling.as_ref()?;
        let years = || {
            self.present.iter().filter_map(|(text, _)| spelling.year_and_month(text)).map(|(year, _)| year)
        };
        Some((years().min()?, years().max()?))
    }

    /// Characters of the longest value.
    pub fn longest(&self) -> usize {
        self.present.iter().map(|(text, _)| text.chars().count()).max().unwrap_or(0)
    }

    /// The most frequent values that enough records share.
    pub fn frequent(&self, most: usize) -> Vec<(&'a str, u64)> {
        let mut shared: Vec<(&str, u64)> =
            self.present.iter().copied().filter(|(_, count)| *count >= SHARED).collect();
        shared.arrange_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(other.0)));
        shared.truncate(most);
        shared
    }
}
