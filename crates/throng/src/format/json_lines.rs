//! JSON Lines: one flat object per line.
//!
//! A column is a key, in order of first appearance. A record need not have all keys: a key that is not there and `null` are
//! both a missing cell. Numbers keep the text they are written with. Which columns there are is told from the first
//! [`LOOK_AHEAD`] bytes, so that a stream is read once; a key that appears later for the first time is an error.
//!
//! A release has every key in every line and in one order, whatever the records of the table had, and one way to write a
//! text, so that neither tells more than the cells do. Passed-through numbers and booleans stay what they are; quasi-identifiers,
//! sensitive and class values are texts as in every format with types, bounds are numbers.

use std::borrow::Cow;
use std::fmt;

use memchr::{memchr_iter, memrchr};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{AnySyntax, Format, Syntax, Target, Value, Writable};
use crate::error::{Error, ErrorCode, Result};
use crate::parallel;
use crate::table::batches::Budget;
use crate::table::blocks::Blocks;
use crate::table::chunk::{Chunk, ChunkBuilder, Slot, Written, slots};
use crate::table::source::Input;
use crate::table::{Map, Reading, Table, value};
use crate::watch::Watch;
use crate::words::shorten;

/// JSON Lines, also called newline-delimited JSON.
pub static JSON_LINES: Format = Format {
    name: "JSON Lines",
    endings: &["jsonl", "ndjson"],
    times_in_memory: 4,
    read,
    pieces: None,
    write,
};

/// Bytes in which all keys must have appeared.
const LOOK_AHEAD: usize = 16 << 20;
/// More keys than this are no columns but data.
const MOST_COLUMNS: usize = 10_000;

fn read(input: Input<'_>, reading: &Reading<'_>) -> Result<Table> {
    let origin = input.origin.clone();
    let line_end = |_: &[u8]| Box::new(|text: &[u8]| memrchr(b'\n', text).map(|at| at + 1)) as _;
    let mut blocks = Blocks::start(input.into_stream(), line_end)?;
    let mut first = Vec::new();
    let mut seen = 0;
    while seen < LOOK_AHEAD
        && let Some(block) = blocks.next_block()?
    {
        seen += block.len();
        first.push(block);
    }
    let names = names_in(&first)?;
    let storage = reading.plan_columns(&names)?;
    let columns = Columns::new(&names, slots(&storage), reading);
    let chunks = blocks.parse(first, 0, reading, |block| columns.parse(block))?;
    Ok(Table::new(origin, names, storage, chunks).with_nulls())
}

fn write(table: &dyn Writable, target: &mut Target<'_>, watch: &dyn Watch) -> Result<()> {
    table.write_lines(&AnySyntax::Lines(Lines::new(&table.names())), target, watch)
}

/// The keys of some blocks in order of first appearance.
fn names_in(blocks: &[Vec<u8>]) -> Result<Vec<String>> {
    let of_blocks: Vec<Result<Vec<String>>> = parallel::map(blocks, |block| names_in_block(block));
    let mut names = Names::default();
    let mut lines = 0;
    for (block, own) in blocks.iter().zip(of_blocks) {
        let own = own.map_err(|error| after_lines(error, lines))?;
        own.into_iter().for_each(|name| names.add(&name));
        lines += memchr_iter(b'\n', block).count() as u64;
    }
    match names.order.len() {
        0 => Err(Error::new(ErrorCode::EmptyTable, "the table is empty: there is no record")
            .on_line(1)
            .with_hint("each line must be an object such as {\"age\": 31, \"city\": \"Rome\"}")),
        count if count > MOST_COLUMNS => Err(Error::new(
            ErrorCode::BadJsonLine,
            format!("the records have more than {MOST_COLUMNS} different keys"),
        )
        .with_hint("keys are names of columns; give data as values")),
        _ => Ok(names.order),
    }
}

fn names_in_block(block: &[u8]) -> Result<Vec<String>> {
    let mut names = Names::default();
    for (line, text) in records(block) {
        for (key, _) in parse_line(text, line)?.0 {
            names.add(&key);
        }
        if names.order.len() > MOST_COLUMNS {
            break;
        }
    }
    Ok(names.order)
}

/// Distinct names in order of first appearance.
#[derive(Default)]
struct Names {
    order: Vec<String>,
    known: Map<String, ()>,
}

impl Names {
    fn add(&mut self, name: &str) {
        if !self.known.contains_key(name) {
            self.known.insert(name.to_owned(), ());
            self.order.push(name.to_owned());
        }
    }
}

fn after_lines(error: Error, lines: u64) -> Error {
    match error.place().line {
        Some(line) => error.on_line(lines + line),
        None => error,
    }
}

/// The lines of a block that are not blank, with their numbers from 1.
fn records(block: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let lines = block.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    (1..).zip(lines).filter(|(_, line)| !line.is_empty())
}

fn parse_line(text: &[u8], line: u64) -> Result<Object<'_>> {
    serde_json::from_slice(text).map_err(|_| match std::str::from_utf8(text) {
        Ok(_) => Error::new(ErrorCode::BadJsonLine, "this line is not a JSON object")
            .on_line(line)
            .with_hint("each line must be one object such as {\"age\": 31, \"city\": \"Rome\"}"),
        Err(_) => Error::new(ErrorCode::NotUtf8, "this line is not valid UTF-8")
            .on_line(line)
            .with_hint("save the table as UTF-8, for instance with `iconv -f latin1 -t utf8`"),
    })
}

/// An object whose values are not looked into.
struct Object<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Object<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut members = Vec::new();
                while let Some((Key(key), value)) = map.next_entry()? {
                    members.push((key, value));
                }
                Ok(Object(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// A key, borrowed where it holds no escape.
struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Key<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a key")
            }

            fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Borrowed(key)))
            }

            fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(key.to_owned())))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// What is read of every line.
struct Columns<'a> {
    names: &'a [String],
    places: Map<&'a str, usize>,
    slots: Vec<Slot>,
    missing: &'a str,
    /// Many columns that few records have take far more room than their text.
    budget: Budget,
}

impl<'a> Columns<'a> {
    fn new(names: &'a [String], slots: Vec<Slot>, reading: &Reading<'a>) -> Self {
        let places = names.iter().map(String::as_str).zip(0..).collect();
        Columns {
            names,
            places,
            slots,
            missing: reading.missing,
            budget: Budget::of_file(reading.expansion, 0),
        }
    }

    fn parse(&self, block: &[u8]) -> Result<Chunk> {
        self.budget.grant(block.len() as u64);
        let mut builder = ChunkBuilder::new(&self.slots);
        let mut lines = Vec::new();
        let mut cells = vec![None; self.names.len()];
        let mut scratch = String::new();
        for (line, text) in records(block) {
            self.budget.take(4 * self.names.len() as u64)?;
            cells.fill(None);
            for (key, value) in parse_line(text, line)?.0 {
                let at = self.place(&key).map_err(|error| error.on_line(line))?;
                if cells[at].replace(value).is_some() {
                    return Err(Error::new(
                        ErrorCode::BadJsonLine,
                        format!("the key \"{}\" occurs twice in this record", shorten(&key)),
                    )
                    .on_line(line)
                    .with_hint("give each key once"));
                }
            }
            for (at, cell) in
                cells.iter().enumerate().filter(|(at, _)| !matches!(self.slots[*at], Slot::Skip))
            {
                let pushed = self.push(&mut builder, at, *cell, &mut scratch);
                pushed.map_err(|error| {
                    error.on_line(line).in_column(at as u64 + 1).for_attribute(&self.names[at])
                })?;
            }
            builder.end_row();
            lines.push(line as u32);
        }
        let mut chunk = builder.finish();
        chunk.lines = memchr_iter(b'\n', block).count() as u64;
        chunk.line_of_row = Some(lines);
        Ok(chunk)
    }

    fn place(&self, key: &str) -> Result<usize> {
        self.places.get(key).copied().ok_or_else(|| {
            Error::new(
                ErrorCode::BadJsonLine,
                format!(
                    "the key \"{}\" appears here for the first time, after {} MiB of records",
                    shorten(key),
                    LOOK_AHEAD >> 20
                ),
            )
            .with_hint("let the first record have all keys, with null for those that are missing")
        })
    }

    fn push(
        &self,
        builder: &mut ChunkBuilder<'_>,
        at: usize,
        cell: Option<&RawValue>,
        scratch: &mut String,
    ) -> Result<()> {
        let text = cell.map_or("null", RawValue::get);
        match text.as_bytes().first() {
            Some(b'n') => builder.push_null(at, self.missing.as_bytes()),
            Some(b'"') => {
                *scratch = serde_json::from_str(text).map_err(|_| {
                    // Half of a pair of surrogates stands for no character.
                    Error::new(ErrorCode::BadCell, "a text in this record stands for no text")
                        .with_hint("correct its \\u escapes")
                })?;
                builder.push(at, scratch.as_bytes());
            }
            Some(b'{' | b'[') => {
                return Err(Error::new(
                    ErrorCode::NestedValue,
                    "a value is an object or a list, not a single value",
                )
                .with_hint("give each part a key of its own, or make the column an identifier"));
            }
            _ => builder.push_written(at, text.as_bytes(), Written::Bare),
        }
        Ok(())
    }
}

/// One object per line, with all keys in the order of the columns.
pub(crate) struct Lines {
    /// What stands before the cell of each column.
    before: Vec<Vec<u8>>,
}

impl Lines {
    fn new(names: &[&str]) -> Self {
        let key = |(at, name): (usize, &&str)| {
            let mut text = if at == 0 { b"{".to_vec() } else { b",".to_vec() };
            push_text(name, &mut text);
            text.push(b':');
            text
        };
        Lines { before: names.iter().enumerate().map(key).collect() }
    }
}

impl Syntax for Lines {
    fn head(&self, _: &[&str], _: &mut Vec<u8>) {}

    fn before(&self, column: usize, line: &mut Vec<u8>) {
        line.extend_from_slice(&self.before[column]);
    }

    fn cell(&self, value: Value<'_>, line: &mut Vec<u8>) {
        match value {
            Value::Null(_) => line.extend_from_slice(b"null"),
            Value::Bare(text) if is_bare(text) => line.extend_from_slice(text.as_bytes()),
            // A number that JSON writes otherwise: `+5`, `.5`.
            Value::Bare(text) => match value::number(text) {
                Some(number) => line.extend_from_slice(serde_json::json!(number).to_string().as_bytes()),
                None => push_text(text, line),
            },
            Value::Text(text) => push_text(text, line),
        }
    }

    fn end(&self, line: &mut Vec<u8>, start: usize) {
        if line.len() == start {
            line.push(b'{');
        }
        line.extend_from_slice(b"}\n");
    }
}

/// Whether a text is a number or a boolean as JSON writes them.
fn is_bare(text: &str) -> bool {
    match text.as_bytes() {
        b"true" | b"false" => true,
        [b'-' | b'0'..=b'9', ..] => {
            serde_json::from_str::<&RawValue>(text).is_ok_and(|raw| raw.get() == text)
        }
        _ => false,
    }
}

/// Appends a text in quotes, with the shortest escapes.
fn push_text(text: &str, line: &mut Vec<u8>) {
    line.push(b'"');
    for byte in text.bytes() {
        match byte {
            b'"' => line.extend_from_slice(b"\\\""),
            b'\\' => line.extend_from_slice(b"\\\\"),
            b'\n' => line.extend_from_slice(b"\\n"),
            b'\r' => line.extend_from_slice(b"\\r"),
            b'\t' => line.extend_from_slice(b"\\t"),
            control @ 0..0x20 => line.extend_from_slice(format!("\\u{control:04x}").as_bytes()),
            other => line.push(other),
        }
    }
    line.push(b'"');
}
