//! A suggestion as the text of a policy.

use super::look::{Form, Marker};
use super::{Column, header};
use crate::policy::{DEFAULT_METHOD, Role};
use crate::table::Table;
use crate::words::steers;

/// The k of a first policy; a table with fewer records gets as many.
const K: usize = 5;
/// Categories shown in a comment.
const SHOWN: usize = 3;
/// With more categories than these a hierarchy is worth the work.
const FEW_CATEGORIES: u64 = 4;

pub(super) fn policy(table: &Table, markers: &[Marker], columns: &[Column<'_>]) -> String {
    let mut text = head(table, columns);
    text += &data(table, markers);
    text += &privacy(table, columns);
    text += &format!(
        "[method]\n# `throng methods` lists them, `throng compare` runs several side by side.\nname = \"{DEFAULT_METHOD}\"\n"
    );
    text += "\n# Roles: quasi       others may know it about a person: generalized\n\
             #        sensitive   must not be learned about a person: published, protected by l and t\n\
             #        class       what recipients want to predict: published\n\
             #        identifier  names a person: never published\n\
             #        person      whose record it is, where one person has several: people are counted; never published\n\
             #        other       published as it is\n";
    for column in columns {
        text += "\n";
        text += &attribute(column);
    }
    text
}

fn head(table: &Table, columns: &[Column<'_>]) -> String {
    let file = table
        .origin()
        .path()
        .and_then(std::path::Path::file_name)
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let of = if file.is_empty() || file == "-" { String::new() } else { format!(" for {}", quoted(&file)) };
    format!(
        "# A first policy{of}: {}, {}.\n\
         # Guessed by `throng init` from names and values: check the role of every column\n\
         # before you publish anything, most of all where it says CHECK.\n\n",
        counted(table.len() as u64, "record"),
        counted(columns.len() as u64, "column")
    )
}

fn data(table: &Table, markers: &[Marker]) -> String {
    let mut text = "[data]\n".to_owned();
    if header::is_doubtful(table) {
        // A run looks at fewer columns than were looked at here, and might take the names for a record.
        text +=
            "# Some names could be cells; taken together, the first line names the columns.\nheader = true\n";
    }
    for marker in markers.iter().filter(|marker| marker.cells > 0) {
        let (cells, columns) = (counted(marker.cells, "cell"), counted(marker.columns as u64, "column"));
        let verb = if marker.cells == 1 { "is" } else { "are" };
        text += &format!("# {cells} of {columns} {verb} {}.\n", quoted(marker.text));
    }
    let list: Vec<String> = markers.iter().map(|marker| quoted(marker.text)).collect();
    text += &format!("missing = [{}]\n", list.join(", "));
    text + "# incomplete = \"drop\"   # leave out records with a missing quasi-identifier, sensitive or class cell\n\n"
}

fn privacy(table: &Table, columns: &[Column<'_>]) -> String {
    let k = table.len().clamp(1, K);
    let few = if k < K { " The table has no more records." } else { "" };
    let people = columns.iter().any(|column| column.guess.role == Role::Person);
    let who = if people { "people" } else { "records" };
    let mut text = format!(
        "[privacy]\n# Every published combination of quasi-identifiers is shared by at least k {who}.{few}\nk = {k}\n"
    );
    if columns.iter().any(|column| column.guess.role == Role::Sensitive) {
        text += "# l = 2   # and no sensitive value by more than 1 in l of them\n";
    }
    text + "\n"
}

fn attribute(column: &Column<'_>) -> String {
    let check = if column.guess.check { "CHECK: " } else { "" };
    let mut text = format!(
        "[attribute.{}]\n# {}\n# {check}{}\n",
        key(column.look.name),
        facts(column),
        column.guess.why
    );
    text += &format!("role = \"{}\"\n", column.guess.role.name());
    if matches!(column.guess.role, Role::Quasi | Role::Sensitive) {
        text += &format!("kind = \"{}\"\n", kind_name(column));
        text += &spelling(column);
    }
    if column.guess.role == Role::Quasi
        && let Some(hierarchy) = hierarchy(column)
    {
        text += &format!("# hierarchy = {hierarchy}\n");
    }
    text
}

/// How numbers and dates are spelt, where that must be said; what cannot be told is left to a person.
fn spelling(column: &Column<'_>) -> String {
    let values = &column.values;
    let key = values
        .spelling
        .as_ref()
        .and_then(crate::schema::Spelling::key)
        .filter(|_| kind_name(column) == "numeric");
    if let Some((key, value)) = key {
        return format!("{key} = {}\n", quoted(&value));
    }
    let keys = values.either.as_ref().and_then(|(one, other)| Some((one.key()?, other.key()?)));
    match keys {
        Some(((key, one), (_, other))) => {
            let (one, other) = (quoted(&one), quoted(&other));
            format!(
                "# CHECK: the values can be read as {one} or as {other}; write kind = \"numeric\" and one of them\n\
                 # {key} = {one}\n"
            )
        }
        None => String::new(),
    }
}

/// A postcode is a name of a place even where it is written in digits.
fn kind_name(column: &Column<'_>) -> &'static str {
    if column.values.is_text() || column.guess.postcode { "categorical" } else { "numeric" }
}

/// What may be told of the values: counts, and ranges and frequent categories where they name nobody.
fn facts(column: &Column<'_>) -> String {
    let values = &column.values;
    let what = match values.form {
        Form::Numbers => "number",
        Form::Dates => "date",
        Form::Times => "time",
        Form::Text => "value",
    };
    let mut parts = vec![counted(values.distinct, &format!("different {what}"))];
    parts.extend(shown_values(column));
    if values.missing > 0 {
        parts.push(format!("{} missing", counted(values.missing, "cell")));
    }
    parts.join("; ")
}

fn shown_values(column: &Column<'_>) -> Option<String> {
    let values = &column.values;
    match (column.guess.role, values.form) {
        (Role::Identifier | Role::Person, _)
        | (Role::Sensitive, Form::Numbers | Form::Dates | Form::Times) => None,
        (_, Form::Numbers) => {
            values.range().map(|(low, high)| format!("from {} to {}", number(low), number(high)))
        }
        (_, Form::Times) => {
            let hour = |seconds: f64| format!("{:02}:00", (seconds / 3600.0).floor());
            values.range().map(|(first, last)| format!("from {} to {}", hour(first), hour(last + 3600.0)))
        }
        (_, Form::Dates) => values.years().map(|(first, last)| format!("from {first} to {last}")),
        (_, Form::Text) => {
            let frequent = values.frequent(SHOWN);
            let shown: Vec<String> =
                frequent.iter().map(|(text, count)| format!("{} ({count})", quoted(&short(text)))).collect();
            (!shown.is_empty()).then(|| format!("most frequent {}", shown.join(", ")))
        }
    }
}

/// All digits of a number, unless they are too many to read.
fn number(value: f64) -> String {
    if (1e-6..1e15).contains(&value.abs()) || value == 0.0 { value.to_string() } else { format!("{value:e}") }
}

fn counted(number: u64, one: &str) -> String {
    format!("{number} {one}{}", if number == 1 { "" } else { "s" })
}

fn short(text: &str) -> String {
    match text.char_indices().nth(30) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A hierarchy to uncomment.
fn hierarchy(column: &Column<'_>) -> Option<String> {
    let values = &column.values;
    let form = if column.guess.postcode { Form::Text } else { values.form };
    match form {
        Form::Dates => Some("{ dates = [\"month\", \"year\", \"decade\"] }".to_owned()),
        Form::Times => Some("{ intervals = [3600, 21600] }   # seconds: hours, quarters of a day".to_owned()),
        Form::Numbers => {
            let width = band_width(values.range()?, values.numbers().all(|number| number.fract() == 0.0))?;
            Some(format!("{{ intervals = [{width}, {}] }}", width * 4.0))
        }
        Form::Text if column.guess.postcode && values.longest() >= 3 => {
            let length = values.longest();
            Some(format!("{{ prefix = [{}, {}, 0] }}", length - 1, length - 2))
        }
        Form::Text if values.distinct > FEW_CATEGORIES => Some(format!(
            "{}   # one line per value: value;group;*",
            quoted(&format!("hierarchies/{}.csv", file_name(column.look.name)))
        )),
        Form::Text => None,
    }
}

/// 1, 2 or 5 times a power of ten, so that about fifteen bands cover the range.
fn band_width((low, high): (f64, f64), whole: bool) -> Option<f64> {
    let wanted = (high - low) / 15.0;
    if !(1e-6..=1e12).contains(&wanted) {
        return None;
    }
    let power = 10f64.powi(wanted.log10().floor() as i32);
    let width =
        [1.0, 2.0, 5.0, 10.0].map(|step| step * power).into_iter().find(|width| 1.5 * width >= wanted)?;
    Some(if whole { width.max(2.0) } else { width })
}

fn file_name(name: &str) -> String {
    let plain: String = name.chars().map(|c| if c.is_alphanumeric() || c == '-' { c } else { '_' }).collect();
    if plain.is_empty() { "column".to_owned() } else { plain }
}

/// A name as a TOML key: bare where it can be.
fn key(name: &str) -> String {
    let bare = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if !name.is_empty() && name.bytes().all(bare) { name.to_owned() } else { quoted(name) }
}

/// A TOML string, which is safe in a comment too: nothing in it ends a line.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted += "\\\"",
            '\\' => quoted += "\\\\",
            '\n' => quoted += "\\n",
            '\t' => quoted += "\\t",
            '\r' => quoted += "\\r",
            c if steers(c) => quoted += &format!("\\u{:04X}", c as u32),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}
