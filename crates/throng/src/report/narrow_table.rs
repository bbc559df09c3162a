//! A table of a page in at most 80 columns, with nothing of its first column left out.
//!
//! Heads take several lines and first cells are wrapped where the table would be too wide. Where even that leaves too
//! little room, first cells stand above the rest of their rows.

use super::terminal::{COLUMNS, Side, table};
use super::text::{width, wrap};

/// A first column narrower than this is not read but guessed.
const NARROWEST: usize = 24;

pub(super) fn narrow_table(head: &[String], rows: &[Vec<String>]) -> Vec<String> {
    let widest_cell = |at: usize| rows.iter().filter_map(|row| Some(width(row.get(at)?))).max().unwrap_or(0);
    let first = widest_cell(0).max(head.first().map_or(0, |own| width(own)));
    let others = |head_width: fn(&str) -> usize| -> Vec<usize> {
        head.iter().enumerate().skip(1).map(|(at, own)| widest_cell(at).max(head_width(own))).collect()
    };
    let room = |others: &[usize]| COLUMNS.saturating_sub(2 + others.iter().map(|own| own + 2).sum::<usize>());
    if first <= room(&others(width)) {
        let all: Vec<Vec<String>> = std::iter::once(head.to_vec()).chain(rows.iter().cloned()).collect();
        return table(&all, &sides(head.len()));
    }
    let narrow = others(longest_word);
    let left = room(&narrow);
    let place = match left < first.min(NARROWEST) {
        true => Place::Above,
        false => Place::Beside(left),
    };
    let mut lines = place.lines(head.first(), &head_lines(head, &narrow));
    for row in rows {
        lines.extend(place.lines(row.first(), &[row.iter().skip(1).cloned().collect()]));
    }
    aligned(&lines, head.len())
}

/// The heads of all columns but the first, wrapped to their widths, line by line; they meet at their last lines.
fn head_lines(head: &[String], widths: &[usize]) -> Vec<Vec<String>> {
    let heads: Vec<Vec<String>> =
        head.iter().skip(1).zip(widths).map(|(own, most)| wrap(own, *most)).collect();
    let height = heads.iter().map(Vec::len).max().unwrap_or(0);
    let cell = |own: &Vec<String>, at: usize| {
        (at + own.len()).checked_sub(height).map_or_else(String::new, |at| own[at].clone())
    };
    (0..height).map(|at| heads.iter().map(|own| cell(own, at)).collect()).collect()
}

/// Where first cells stand.
#[derive(Clone, Copy)]
enum Place {
    Above,
    /// In a column of this width.
    Beside(usize),
}

impl Place {
    /// A row over several lines; a line of one cell may be as long as it likes.
    fn lines(self, first: Option<&String>, rest: &[Vec<String>]) -> Vec<Vec<String>> {
        let most = match self {
            Place::Above => COLUMNS - 2,
            Place::Beside(width) => width,
        };
        let mut before = first.map(|cell| wrap(cell, most)).unwrap_or_default();
        let beside = match self {
            Place::Above => None,
            Place::Beside(_) => before.pop(),
        };
        let mut lines: Vec<Vec<String>> = before.into_iter().map(|line| vec![line]).collect();
        for (at, others) in rest.iter().enumerate() {
            let last = at + 1 == rest.len();
            let first = beside.clone().filter(|_| last).unwrap_or_default();
            lines.push(std::iter::once(first).chain(others.iter().cloned()).collect());
        }
        lines
    }
}

fn sides(columns: usize) -> Vec<Side> {
    (0..columns).map(|at| if at == 0 { Side::Left } else { Side::Right }).collect()
}

/// Aligns the columns of all lines but those of one cell.
fn aligned(lines: &[Vec<String>], columns: usize) -> Vec<String> {
    let whole: Vec<Vec<String>> = lines.iter().filter(|line| line.len() > 1).cloned().collect();
    let mut whole = table(&whole, &sides(columns)).into_iter();
    lines
        .iter()
        .filter_map(|line| match &line[..] {
            [alone] => Some(format!("  {alone}")),
            _ => whole.next(),
        })
        .collect()
}

fn longest_word(text: &str) -> usize {
    text.split(' ').map(width).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn what_fits_is_one_line_per_row() {
        let lines = narrow_table(&strings(&["name", "n"]), &[strings(&["a", "12"])]);
        assert_eq!(lines, ["  name   n", "  a     12"]);
    }

    #[test]
    fn long_heads_and_first_cells_are_wrapped_rather_than_cut() {
        let head = strings(&["pattern", "rows that are certain in the release", "rows that are possible"]);
        let cell = "capital-gain at least 7298 and age below 28 and hours-per-week at least 41";
        let lines = narrow_table(&head, &[strings(&[cell, "1,330", "7,162"])]);
        assert!(lines.iter().all(|line| width(line) <= COLUMNS), "{lines:#?}");
        let words: Vec<&str> = lines.iter().flat_map(|line| line.split_whitespace()).collect();
        for word in cell.split(' ').chain(head.iter().flat_map(|own| own.split(' '))) {
            assert!(words.contains(&word), "{word} is missing in {lines:#?}");
        }
        assert!(lines.iter().any(|line| line.contains("1,330") && line.contains("7,162")), "{lines:#?}");
    }

    #[test]
    fn first_cells_stand_above_where_little_room_is_left() {
        let wide = "x".repeat(20);
        let head = strings(&["pattern", "a", "b", "c"]);
        let row = strings(&["a pattern that needs some room to be read", &wide, &wide, &wide]);
        let lines = narrow_table(&head, &[row]);
        assert_eq!(lines[2], "  a pattern that needs some room to be read");
        assert_eq!(lines[3], format!("    {wide}  {wide}  {wide}"));
    }
}
