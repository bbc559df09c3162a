//! Our reader of delimited text against the `csv` crate: every cell of every table, through a release.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::io::Write;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use throng::bind::plan;
use throng::error::{Error, Fault};
use throng::format::Format;
use throng::policy::Policy;
use throng::problem::Problem;
use throng::release::{MemoryFile, Order, Publish, Release};
use throng::run;
use throng::table::Table;
use throng::watch::Unwatched;

type Rows = Vec<Vec<String>>;

/// What the `csv` crate reads; an error where records differ in length or text is not UTF-8.
fn oracle(text: &[u8], delimiter: u8) -> csv::Result<Rows> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut reader = csv::ReaderBuilder::new().has_headers(false).delimiter(delimiter).from_reader(text);
    reader.records().map(|record| Ok(record?.iter().map(str::to_owned).collect())).collect()
}

/// A policy that publishes every cell as it is: one quasi-identifier, whose classes may be single records.
fn policy_publishing_all(quasi: &str, more: &str) -> Policy {
    // A JSON string is a TOML key too.
    let key = serde_json::to_string(quasi).unwrap();
    let text =
        format!("[privacy]\nk = 1\n[attribute.{key}]\nrole = \"quasi\"\nkind = \"categorical\"\n{more}\n");
    Policy::parse(&text, None).unwrap()
}

/// Publishes a file unchanged and returns the bytes of the release.
fn published(data: &Path, policy: &Policy) -> Result<Vec<u8>, Error> {
    published_table(&run::read(data, policy, &Unwatched)?, policy, Format::of(data))
}

/// Publishes a text unchanged and returns the bytes of the release.
fn published_text(name: &str, text: &[u8], policy: &Policy) -> Result<Vec<u8>, Error> {
    let format = Format::of(Path::new(name));
    let table = Table::read_from(format, text, &policy.reading(&plan(policy), &Unwatched))?;
    published_table(&table, policy, format)
}

fn published_table(table: &Table, policy: &Policy, format: &'static Format) -> Result<Vec<u8>, Error> {
    let problem = Problem::new(table, policy)?;
    let solution = run::solve(&problem, policy, &Unwatched)?;
    let mut file = MemoryFile::new(format);
    Release::new(table, &problem, policy, &solution, Publish::Cells, Order::Keep)?
        .write(&mut file, &Unwatched)?;
    assert!(common::measured(&problem, policy, &file).violations.is_empty());
    Ok(file.bytes)
}

fn write_table(folder: &Path, name: &str, text: &[u8]) -> PathBuf {
    let path = folder.join(name);
    let bytes = match path.extension().unwrap().to_str().unwrap() {
        "gz" => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(text).unwrap();
            encoder.finish().unwrap()
        }
        "zst" => zstd::encode_all(text, 1).unwrap(),
        _ => text.to_vec(),
    };
    std::fs::write(&path, bytes).unwrap();
    path
}

/// Reads a table of ours and returns its cells.
fn read(name: &str, text: &[u8], delimiter: u8, quasi: &str) -> Rows {
    let policy = policy_publishing_all(quasi, "");
    let release = match [".gz", ".zst"].iter().any(|ending| name.ends_with(ending)) {
        false => published_text(name, text, &policy),
        true => {
            let folder = tempfile::tempdir().unwrap();
            published(&write_table(folder.path(), name, text), &policy)
        }
    };
    oracle(&release.unwrap_or_else(|error| panic!("{error}")), delimiter).unwrap()
}

/// A random table and the way it is written down.
#[derive(Clone, Debug)]
struct Written {
    cells: Rows,
    delimiter: u8,
    ending: &'static str,
    line_end: &'static str,
    byte_order_mark: bool,
    last_line_end: bool,
    /// Cells that are quoted without need.
    quoted: Vec<bool>,
    /// Blank lines before each record, the header included.
    blank: Vec<u8>,
}

fn cell() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec!["a", "b", "5", "é", "日", " ", "\0"]),
        3 => prop::sample::select(vec![",", ";", "\t", "|", "\"", "\"\"", "'"]),
        1 => prop::sample::select(vec!["\n", "\r\n", "\n\n", "a longer cell than sixteen bytes"]),
    ];
    prop::collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat())
}

fn written() -> impl Strategy<Value = Written> {
    let ways = vec![
        (b',', ".csv"),
        (b';', ".csv"),
        (b'|', ".txt"),
        (b'\t', ".tsv"),
        (b'\t', ".csv"),
        (b',', ".csv.gz"),
        (b';', ".csv.zst"),
        (b'\t', ".tsv.gz"),
    ];
    let line_ends = vec!["\n", "\n", "\r\n", "\r"];
    (2usize..6, 1usize..12).prop_flat_map(move |(width, rows)| {
        (
            prop::collection::vec(prop::collection::vec(cell(), width), rows),
            prop::sample::select(ways.clone()),
            prop::sample::select(line_ends.clone()),
            any::<(bool, bool)>(),
            prop::collection::vec(any::<bool>(), width * rows),
            prop::collection::vec(prop_oneof![4 => Just(0u8), 1 => 1u8..3], rows + 1),
        )
            .prop_map(
                |(cells, (delimiter, ending), line_end, (byte_order_mark, last_line_end), quoted, blank)| {
                    Written {
                        cells,
                        delimiter,
                        ending,
                        line_end,
                        byte_order_mark,
                        last_line_end,
                        quoted,
                        blank,
                    }
                    .with_header()
                },
            )
    })
}

impl Written {
    /// Column names are plain, for it is the first record that tells the delimiter.
    fn with_header(mut self) -> Self {
        if self.line_end == "\r" {
            // A text with a line feed anywhere is taken to end its lines with line feeds.
            self.cells.iter_mut().flatten().for_each(|cell| *cell = cell.replace('\n', "n"));
        }
        let names = (0..self.cells[0].len()).map(|column| format!("c{column}")).collect();
        self.cells.insert(0, names);
        self
    }

    fn text(&self) -> Vec<u8> {
        let mut text = if self.byte_order_mark { "\u{feff}".to_owned() } else { String::new() };
        let mut quoted = self.quoted.iter().copied().chain(std::iter::repeat(false));
        for (nth, (record, blank)) in self.cells.iter().zip(&self.blank).enumerate() {
            (0..*blank).for_each(|_| text += self.line_end);
            let cells: Vec<String> =
                record.iter().map(|cell| self.cell(cell, quoted.next().unwrap())).collect();
            text += &cells.join(std::str::from_utf8(&[self.delimiter]).unwrap());
            if self.last_line_end || nth + 1 < self.cells.len() {
                text += self.line_end;
            }
        }
        text.into_bytes()
    }

    fn cell(&self, cell: &str, quoted: bool) -> String {
        let special = |byte: u8| byte == self.delimiter || byte == b'\n' || byte == b'\r';
        if quoted || cell.starts_with('"') || cell.bytes().any(special) {
            format!("\"{}\"", cell.replace('"', "\"\""))
        } else {
            cell.to_owned()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_cell_is_read_as_the_csv_crate_reads_it(written in written()) {
        let text = written.text();
        let expected = oracle(&text, written.delimiter).unwrap();
        prop_assert_eq!(&expected, &written.cells, "the oracle itself");
        let read = read(&format!("table{}", written.ending), &text, written.delimiter, "c0");
        prop_assert_eq!(read, expected);
    }
}

/// Rows of which many span several lines, enough for several chunks, and where each record starts.
fn large_table() -> (Vec<u8>, Vec<usize>) {
    let (mut text, mut starts) = (b"key,note,end\n".to_vec(), Vec::new());
    while text.len() < (7 << 20) / 2 {
        let row = starts.len();
        starts.push(text.len());
        let note = match row % 5 {
            0 => format!("\"two\nlines, {row}\""),
            1 => format!("\"a \"\"word\"\" and\r\n\nmore {row}\""),
            _ => format!("plain {row}"),
        };
        // Stretches without any quote are parsed by another path.
        let note = if (row / 40_000) % 2 == 1 { format!("plain {row}") } else { note };
        writeln!(text, "{},{note},{}", row % 7, "x".repeat(row % 31)).unwrap();
        if row % 1000 == 999 {
            text.extend_from_slice(b"\n");
        }
    }
    (text, starts)
}

#[test]
fn cells_of_several_lines_survive_where_chunks_are_cut() {
    let (text, starts) = large_table();
    assert!(text.len() > 3 << 20, "several chunks");
    for name in ["table.csv", "table.csv.gz", "table.csv.zst"] {
        let read = read(name, &text, b',', "key");
        assert_eq!(read.len(), starts.len() + 1, "{name}");
        assert!(read == oracle(&text, b',').unwrap(), "{name}");
    }
}

/// The error about a table in which the record at `starts[row]` was replaced, and the line of that record.
fn error_of(row: usize, record: &[u8]) -> (Error, u64) {
    let (mut text, starts) = large_table();
    let line = 1 + text[..starts[row]].iter().filter(|byte| **byte == b'\n').count() as u64;
    text.splice(starts[row]..starts[row + 1], record.iter().copied());
    let digits: Vec<String> = (0..7).map(|digit| format!("\"{digit}\"")).collect();
    let hierarchy = format!("hierarchy = {{ Digit = [{}] }}", digits.join(", "));
    (published_text("table.csv", &text, &policy_publishing_all("key", &hierarchy)).unwrap_err(), line)
}

#[test]
fn lines_in_messages_stay_right_far_into_a_table() {
    let last = large_table().1.len() - 2;
    for row in [0, 1, 999, 1000, 39_999, 40_001, last - 1, last] {
        for (record, column, about) in [
            (&b"1,only two\n"[..], 2, "2 cells"),
            (b"1,b,c,d\n", 4, "4 cells"),
            (b"1,\"quoted\nand\nragged\"\n", 2, "2 cells"),
            (b"1,b\xff,c\n", 2, "UTF-8"),
            (b"x,b,c\n", 1, "hierarchy"),
            (b"x,\"b\n\n\",c\n", 1, "hierarchy"),
        ] {
            let (error, line) = error_of(row, record);
            let place = error.place();
            assert!(error.message().contains(about), "row {row}: {error}");
            assert_eq!((place.line, place.column), (Some(line), Some(column)), "row {row}: {error}");
        }
    }
}

#[test]
fn a_quote_left_open_is_told_where_it_opens() {
    let last = large_table().1.len() - 2;
    for row in [0, last] {
        let (mut text, starts) = large_table();
        let line = 1 + text[..starts[row]].iter().filter(|byte| **byte == b'\n').count() as u64;
        // Nothing after it may close it.
        text.truncate(starts[row]);
        text.extend_from_slice(b"1,\"open,c\n2,b,c\n");
        let error = published_text("table.csv", &text, &policy_publishing_all("key", "")).unwrap_err();
        assert!(error.message().contains("never closed"), "{error}");
        assert_eq!(error.place().line, Some(line), "{error}");
    }
}

#[test]
fn lines_are_right_without_a_last_line_end() {
    let hierarchy = "hierarchy = { Known = [\"1\"] }";
    for (text, line) in [
        ("key\n1\nx", 3),
        ("key\n1\n\nx", 4),
        ("key,b\n1,\"two\nlines\"\nx,b", 4),
        ("\n\nkey\n1\nx", 5),
        ("key\r\n1\r\n\r\nx", 4),
        ("key,b\r1,b\r\rx,b", 4),
    ] {
        let policy = policy_publishing_all("key", hierarchy);
        let error = published_text("table.csv", text.as_bytes(), &policy).unwrap_err();
        assert_eq!((error.place().line, error.place().column), (Some(line), Some(1)), "{text:?}: {error}");
    }
}

/// All files in a folder and below.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] })
        .collect();
    files.sort();
    files
}

/// Whether a table can be published at all: named columns, none twice, and at least one record.
fn is_publishable(rows: &Rows) -> bool {
    let mut names = rows.first().cloned().unwrap_or_default();
    names.sort_unstable();
    names.dedup();
    rows.len() > 1 && names.len() == rows[0].len()
}

#[test]
fn messy_files_are_read_or_refused_with_a_place() {
    let Some(data) = common::shared_data() else { return };
    let files = files_below(&data.join("messy"));
    assert!(files.len() >= 17, "{files:?}");
    for file in files {
        let text = std::fs::read(&file).unwrap();
        let delimiter = if text.starts_with(b"age;") { b';' } else { b',' };
        match oracle(&text, delimiter).ok().filter(is_publishable) {
            Some(expected) => {
                let release = published(&file, &policy_publishing_all(&expected[0][0], ""));
                let release = release.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
                assert!(oracle(&release, delimiter).unwrap() == expected, "{}", file.display());
            }
            None => {
                let error = published(&file, &policy_publishing_all("a", "")).unwrap_err();
                assert_eq!(error.fault(), Fault::Input, "{error}");
                assert!(error.place().file.is_some() && error.hint().is_some(), "{error}");
            }
        }
    }
}
