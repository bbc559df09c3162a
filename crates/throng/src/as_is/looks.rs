//! What the cells of a column look like: whether they could name someone by themselves.

use crate::published::Looks;
use crate::table::value;

/// Fewer cells than these say nothing about being different.
const ENOUGH: u64 = 20;
/// Values that are different in more than this share of the cells are nearly an identifier.
const NEARLY_ALL: f64 = 0.9;
/// Numbers that are different in more than this share of the cells put rows in an order.
const MOST: f64 = 0.5;
/// Texts of so many words, or longer than so many characters, are written by people, not chosen from a list.
const WORDS: usize = 4;
const LONG: usize = 40;

/// The cells of a column that are not missing.
pub(super) struct Values<'a> {
    texts: Vec<&'a str>,
    cells: u64,
}

impl<'a> Values<'a> {
    /// From distinct texts and how often each occurs; what does not occur, or stands for a missing cell, is left out.
    pub fn new(texts: impl Iterator<Item = &'a str>, counts: &[u64], missing: &[String]) -> Self {
        let present =
            |(text, count): &(&str, &u64)| **count > 0 && missing.iter().all(|marker| marker != text);
        let present: Vec<(&str, &u64)> = texts.zip(counts).filter(present).collect();
        let cells = present.iter().map(|(_, count)| **count).sum();
        Values { texts: present.into_iter().map(|(text, _)| text).collect(), cells }
    }

    pub fn distinct(&self) -> u64 {
        self.texts.len() as u64
    }

    pub fn cells(&self) -> u64 {
        self.cells
    }

    /// Whether nearly every cell has a value of its own.
    pub fn nearly_identify(&self) -> bool {
        self.differ_in(NEARLY_ALL)
    }

    pub fn looks(&self) -> Vec<Looks> {
        let kind = if self.all(is_time) {
            Some(Looks::Times)
        } else if self.all(|text| value::number(text).is_some()) {
            self.differ_in(MOST).then_some(Looks::OrderedNumbers)
        } else {
            self.most(is_written).then_some(Looks::FreeText)
        };
        self.nearly_identify().then_some(Looks::Identifier).into_iter().chain(kind).collect()
    }

    fn differ_in(&self, share: f64) -> bool {
        self.cells >= ENOUGH && self.distinct() as f64 > share * self.cells as f64
    }

    fn all(&self, test: impl Fn(&str) -> bool) -> bool {
        !self.texts.is_empty() && self.texts.iter().all(|text| test(text))
    }

    fn most(&self, test: impl Fn(&str) -> bool) -> bool {
        2 * self.texts.iter().filter(|text| test(text)).count() > self.texts.len()
    }
}

/// Whether a text was written by somebody, rather than chosen.
fn is_written(text: &str) -> bool {
    text.split_whitespace().count() >= WORDS || text.chars().count() > LONG
}

/// Whether a text is a date or a time, in any of the ways people write them: `2024-02-29`, `29.02.2024`, `2/29/24`,
/// `2024-02-29T10:15`, `10:15`.
fn is_time(text: &str) -> bool {
    let (day, clock) = match text.split_once(['T', ' ']) {
        Some((day, clock)) => (day, clock.trim()),
        None if text.contains(':') => ("", text),
        None => (text, ""),
    };
    let is_day = day.is_empty() || ['-', '.', '/'].iter().any(|separator| is_day(day, *separator));
    let is_clock = clock.is_empty() || is_clock(clock);
    !(day.is_empty() && clock.is_empty()) && is_day && is_clock
}

fn is_day(text: &str, separator: char) -> bool {
    let parts: Vec<&str> = text.split(separator).collect();
    let short =
        |part: &&str| matches!(part.len(), 1 | 2 | 4) && part.bytes().all(|byte| byte.is_ascii_digit());
    parts.len() == 3 && parts.iter().all(short)
}

/// `10:15`, `10:15:30.250`, `10:15Z`, `10:15:30+01:00`.
fn is_clock(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_digit() || matches!(c, ':' | '.' | '+' | '-' | 'Z');
    text.contains(':') && text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looks(texts: &[&str]) -> Vec<Looks> {
        Values::new(texts.iter().copied(), &vec![1; texts.len()], &[]).looks()
    }

    #[test]
    fn dates_and_times_are_seen_however_they_are_written() {
        for time in
            ["2024-02-29", "29.02.2024", "2/29/24", "2024-02-29T10:15:30Z", "29.2.2024 10:15", "10:15"]
        {
            assert_eq!(looks(&[time]), [Looks::Times], "{time}");
        }
        for other in ["1.5", "12", "a:b", "1.2.3.4", "192.168.001", "2024", "", "T"] {
            assert!(!looks(&[other]).contains(&Looks::Times), "{other}");
        }
    }

    #[test]
    fn what_nearly_everyone_has_for_himself_is_nearly_an_identifier() {
        let names: Vec<String> = (0..40).map(|at| format!("n{at}")).collect();
        let texts: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(looks(&texts), [Looks::Identifier]);
        // Two records for each value, and fewer records than say anything.
        let twice = Values::new(texts.iter().copied(), &vec![2; texts.len()], &[]);
        assert!(twice.looks().is_empty());
        assert!(looks(&texts[..19]).is_empty());
        let numbers: Vec<String> = (0..40).map(|at| at.to_string()).collect();
        let numbers: Vec<&str> = numbers.iter().map(String::as_str).collect();
        assert_eq!(looks(&numbers), [Looks::Identifier, Looks::OrderedNumbers]);
    }

    #[test]
    fn sentences_are_free_text_and_missing_cells_are_not_looked_at() {
        assert_eq!(looks(&["came in with a fever", "says that he fell down", "flu"]), [Looks::FreeText]);
        let values = Values::new(["?", "7"].into_iter(), &[30, 1], &["?".to_owned()]);
        assert_eq!((values.distinct(), values.cells()), (1, 1));
    }
}
