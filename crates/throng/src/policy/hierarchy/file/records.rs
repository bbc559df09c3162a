//! Delimited text after RFC 4180, with the line each record starts on.

use crate::error::{Error, ErrorCode, Result};

/// One record.
pub(in crate::policy::hierarchy) struct Record {
    /// The line it starts on, from 1.
    pub line: u64,
    pub cells: Vec<String>,
}

/// The records of a text; blank lines are skipped, and an error ends it.
pub(in crate::policy::hierarchy) struct Records<'a> {
    rest: &'a str,
    line: u64,
    delimiter: char,
}

impl<'a> Records<'a> {
    pub fn new(text: &'a str) -> Self {
        Records { rest: text, line: 1, delimiter: delimiter(text) }
    }

    fn skip_blank_lines(&mut self) {
        while !self.rest.is_empty() {
            let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
            if !line.trim().is_empty() {
                return;
            }
            self.rest = rest;
            self.line += 1;
        }
    }

    fn record(&mut self) -> Result<Record> {
        let mut record = Record { line: self.line, cells: Vec::new() };
        loop {
            let cell = match self.rest.strip_prefix('"') {
                Some(quoted) => self.quoted(quoted)?,
                None => self.plain(),
            };
            record.cells.push(cell);
            match self.rest.strip_prefix(self.delimiter) {
                Some(rest) => self.rest = rest,
                None => break,
            }
        }
        self.end_line(&record)?;
        Ok(record)
    }

    fn plain(&mut self) -> String {
        let end = self.rest.find([self.delimiter, '\n']).unwrap_or(self.rest.len());
        let (cell, rest) = self.rest.split_at(end);
        self.rest = rest;
        let last = !rest.starts_with(self.delimiter);
        if last { cell.strip_suffix('\r').unwrap_or(cell).to_owned() } else { cell.to_owned() }
    }

    /// Reads a cell whose opening quote is already behind.
    fn quoted(&mut self, mut rest: &'a str) -> Result<String> {
        let opened = self.line;
        let mut cell = String::new();
        loop {
            let Some((piece, after)) = rest.split_once('"') else {
                return Err(Error::new(
                    ErrorCode::UnclosedQuote,
                    "a quote is opened on this line and never closed",
                )
                .on_line(opened)
                .with_hint("close it; a quote inside quotes is written twice"));
            };
            cell.push_str(piece);
            self.line += piece.matches('\n').count() as u64;
            match after.strip_prefix('"') {
                Some(after) => {
                    cell.push('"');
                    rest = after;
                }
                None => {
                    self.rest = after;
                    return Ok(cell);
                }
            }
        }
    }

    fn end_line(&mut self, record: &Record) -> Result<()> {
        let rest = self.rest.strip_prefix('\r').unwrap_or(self.rest);
        if rest.is_empty() {
            self.rest = rest;
            return Ok(());
        }
        let Some(rest) = rest.strip_prefix('\n') else {
            return Err(Error::new(ErrorCode::BadHierarchy, "text follows a closing quote")
                .on_line(self.line)
                .in_column(record.cells.len() as u64)
                .with_hint("put the whole cell in quotes; a quote inside quotes is written twice"));
        };
        self.rest = rest;
        self.line += 1;
        Ok(())
    }
}

impl Iterator for Records<'_> {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        self.skip_blank_lines();
        if self.rest.is_empty() {
            return None;
        }
        let record = self.record();
        if record.is_err() {
            self.rest = "";
        }
        Some(record)
    }
}

/// `;` if the first line has one outside quotes, else `,`. A quote opens at the start of a cell only, or
/// doubled inside quotes.
fn delimiter(text: &str) -> char {
    let mut in_quotes = false;
    let mut before = ',';
    for letter in text.trim_start().chars() {
        match letter {
            '"' => in_quotes = !in_quotes && matches!(before, ',' | ';' | '"'),
            '\n' if !in_quotes => break,
            ';' if !in_quotes => return ';',
            _ => {}
        }
        before = letter;
    }
    ','
}
