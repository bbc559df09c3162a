//! Cells in a tail: numbers from `top` on, or up to `bottom`, are told as lying beyond.
//!
//! The end of a range tells the value of the person who has it. Where that is an outlier, one end is enough to know the
//! person's income or age; a tail tells only that it lies beyond.

use super::{Map, value};
use crate::collections::Arrange;
use crate::schema::spelling::{Guess, Measured, time_of_day};
use crate::schema::{Spelling, Tail, Tails};

/// Before the least number of the upper tail.
pub const AT_LEAST: &str = "≥ ";
/// Before the greatest number of the lower tail.
pub const AT_MOST: &str = "≤ ";

/// A tail that begins at a number, a date or a time of day; nothing if the text is none of them.
pub(crate) fn at(text: &str) -> Option<Tail> {
    let (number, measured) = match (value::number(text), value::date(text)) {
        (Some(number), _) => (number, Measured::Numbers),
        (None, Some(days)) => (days, Measured::Dates),
        (None, None) => (time_of_day(text)?, Measured::Times),
    };
    Some(Tail::At { number: number + 0.0, text: text.to_owned(), measured })
}

/// Tails with numbers in place of what is left to the table: each holds cells of at least `k` people, and they do not meet.
/// `cells` are texts and whose cells have each, everyone's own where nobody is told from another; those that are no numbers or
/// dates are left out. They are read as they are spelt.
pub(crate) fn fixed<'a>(
    tails: &Tails,
    spelling: Option<&Spelling>,
    cells: impl Iterator<Item = (&'a str, &'a [u32])> + Clone,
    k: usize,
) -> Tails {
    let spelling = match (spelling, Spelling::guess(cells.clone().map(|(text, _)| text))) {
        (Some(spelling), _) => spelling.clone(),
        (None, Guess::Clear(spelling)) => spelling,
        (None, Guess::Either(..) | Guess::Neither) => Spelling::Point,
    };
    let mut cells: Vec<(f64, &str, &[u32])> =
        cells.filter_map(|(text, whose)| Some((spelling.read(text)?, text, whose))).collect();
    cells.arrange_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(other.1)));
    let measured = spelling.measured();
    let bottom = fixed_end(tails.bottom.as_ref(), cells.iter(), k, measured);
    let top = fixed_end(tails.top.as_ref(), cells.iter().rev(), k, measured);
    match (&bottom, &top) {
        (Some(Tail::At { number: low, .. }), Some(Tail::At { number: high, .. })) if low >= high => {
            Tails::default()
        }
        _ => Tails { bottom, top },
    }
}

fn fixed_end<'a>(
    tail: Option<&Tail>,
    from_the_end: impl Iterator<Item = &'a (f64, &'a str, &'a [u32])>,
    k: usize,
    measured: Measured,
) -> Option<Tail> {
    if !matches!(tail, Some(Tail::Auto)) {
        return tail.cloned();
    }
    let mut held: Map<u32, ()> = Map::default();
    for (number, text, whose) in from_the_end {
        held.extend(whose.iter().map(|person| (*person, ())));
        if held.len() >= k {
            return Some(Tail::At { number: *number + 0.0, text: (*text).to_owned(), measured });
        }
    }
    None
}

/// The number, text and sign that a number in a tail is published with.
pub(super) fn coded(tails: &Tails, number: f64) -> Option<(f64, &str, &'static str)> {
    match (&tails.bottom, &tails.top) {
        (_, Some(Tail::At { number: top, text, .. })) if number >= *top => Some((*top, text, AT_LEAST)),
        (Some(Tail::At { number: bottom, text, .. }), _) if number <= *bottom => {
            Some((*bottom, text, AT_MOST))
        }
        _ => None,
    }
}

/// The number that a tail's label begins or ends at.
pub(crate) fn end_of(label: &str) -> &str {
    label.strip_prefix(AT_LEAST).or_else(|| label.strip_prefix(AT_MOST)).unwrap_or(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn automatic_tails_hold_k_people_each() {
        let cells: [(&str, &[u32]); 5] =
            [("1", &[0]), ("2", &[1]), ("3", &[2, 3, 4, 5, 6]), ("9", &[7, 8]), ("50", &[9])];
        let auto = Tails { bottom: Some(Tail::Auto), top: Some(Tail::Auto) };
        let fixed = |k| fixed(&auto, None, cells.into_iter(), k);
        assert_eq!(fixed(1), Tails { bottom: at("1"), top: at("50") });
        assert_eq!(fixed(3), Tails { bottom: at("3"), top: at("9") });
        // With so many in each they would meet.
        assert_eq!(fixed(6), Tails::default());
        assert!(fixed(11).is_empty());
    }

    #[test]
    fn several_cells_of_a_person_count_once() {
        let cells: [(&str, &[u32]); 4] = [("1", &[0, 1, 2]), ("2", &[3]), ("8", &[4, 5]), ("9", &[4, 4, 4])];
        let auto = Tails { bottom: None, top: Some(Tail::Auto) };
        assert_eq!(fixed(&auto, None, cells.into_iter(), 2).top, at("8"));
        assert_eq!(fixed(&auto, None, cells.into_iter(), 3).top, at("2"));
    }

    #[test]
    fn numbers_beyond_are_coded() {
        let tails = Tails { bottom: at("18"), top: at("90") };
        assert_eq!(coded(&tails, 95.0), Some((90.0, "90", AT_LEAST)));
        assert_eq!(coded(&tails, 18.0), Some((18.0, "18", AT_MOST)));
        assert_eq!(coded(&tails, 50.0), None);
        assert_eq!(end_of("≥ 90"), "90");
    }
}
