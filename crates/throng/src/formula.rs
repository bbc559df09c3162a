//! Cells that spreadsheets would run.
//!
//! A program that opens delimited text takes a cell for a formula if it begins with `=`, `+`, `-` or `@`, and some formulas
//! start programs or send cells away. Numbers begin with signs too, so a sign counts only before a letter, or where what
//! follows calls something. A `'` before the cell makes it text. It is put before cells that have such marks already too,
//! so that taking one mark off gives back every cell as it was.

/// The sign that makes a cell text.
pub(crate) const MARK: char = '\'';

/// Whether cells that spreadsheets would run are published as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Formulas {
    /// They are, and the report names them.
    #[default]
    Keep,
    /// They get a mark that makes them text.
    Escape,
}

/// Whether a spreadsheet would run a cell.
pub(crate) fn runs(cell: &str) -> bool {
    // Most cells begin with a letter or a digit.
    if cell.as_bytes().first().is_none_or(u8::is_ascii_alphanumeric) {
        return false;
    }
    // Tabs and line ends before a formula are skipped.
    let cell = cell.trim_start();
    let Some(rest) = cell.strip_prefix(['=', '+', '-', '@']) else { return false };
    match cell.as_bytes()[0] {
        b'=' | b'@' => !rest.is_empty(),
        _ => rest.starts_with(char::is_alphabetic) || calls(rest),
    }
}

/// Whether something is called: `cmd|' /C calc'!A0`, `2+SUM(A1)`.
fn calls(rest: &str) -> bool {
    rest.contains(char::is_alphabetic) && rest.contains(['|', '!', '('])
}

/// Whether a cell is written with a mark before it.
pub(crate) fn needs_mark(cell: &str) -> bool {
    runs(cell.trim_start_matches(MARK))
}

/// Whether a cell looks as if it had a mark.
pub(crate) fn has_mark(cell: &str) -> bool {
    cell.strip_prefix(MARK).is_some_and(needs_mark)
}

/// A cell that was written with marks, as it was.
pub(crate) fn without_mark(cell: &str) -> &str {
    cell.strip_prefix(MARK).filter(|rest| needs_mark(rest)).unwrap_or(cell)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMULAS: &[&str] = &[
        "=1+1",
        "=cmd|' /C calc'!A0",
        "@SUM(A1)",
        "+cmd",
        "-A1",
        "-2+3+cmd|' /C calc'!A0",
        "\t=A1",
        "+é",
        "=HYPERLINK(\"x\")",
    ];

    #[test]
    fn formulas_are_told_from_numbers_and_words() {
        assert!(FORMULAS.iter().all(|cell| runs(cell)));
        for cell in
            ["", "=", "@", "-", "+", "-5", "+49 170 12", "-1.5e3", "-5 kg", "a=b", "[1-3]", "'=1", "--", "-?"]
        {
            assert!(!runs(cell), "{cell}");
        }
    }

    #[test]
    fn marks_can_be_taken_off_again() {
        for cell in FORMULAS.iter().copied().chain(["'=1", "''=1", "'a", "a", "", "'", "-5", "'-5"]) {
            let written = if needs_mark(cell) { format!("{MARK}{cell}") } else { cell.to_owned() };
            assert!(!runs(&written), "{written}");
            assert_eq!(without_mark(&written), cell);
        }
    }
}
