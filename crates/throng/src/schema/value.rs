//! Numbers and dates in text.

/// A number as people write it: `-12`, `3.5`, `1e6`. No infinities, no digits that a double cannot hold.
pub fn number(text: &str) -> Option<f64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let starts_well = digits.bytes().next().is_some_and(|byte| byte.is_ascii_digit() || byte == b'.');
    let ends_well = digits.bytes().last().is_some_and(|byte| byte.is_ascii_digit() || byte == b'.');
    if !starts_well || !ends_well {
        return None;
    }
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// A whole number that 64 bits hold exactly, however it is written: `12`, `12.0`, `1e3`.
pub fn whole(text: &str) -> Option<i64> {
    let exact = |number: &f64| number.fract() == 0.0 && number.abs() <= (1i64 << f64::MANTISSA_DIGITS) as f64;
    text.parse().ok().or_else(|| number(text).filter(exact).map(|number| number as i64))
}

/// Whether a number written like this is more likely a label: a postcode `01234`, an id too long for a double.
pub fn looks_like_label(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let all_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
    all_digits && ((digits.len() > 1 && digits.starts_with('0')) || digits.len() > 15)
}

/// An ISO date `2024-02-29` as days since 1970-01-01.
pub fn date(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return None;
    }
    let part = |range: std::ops::Range<usize>| {
        let part = &bytes[range];
        part.iter()
            .all(u8::is_ascii_digit)
            .then(|| part.iter().fold(0i64, |sum, byte| sum * 10 + i64::from(byte - b'0')))
    };
    let (year, month, day) = (part(0..4)?, part(5..7)?, part(8..10)?);
    let valid = (1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day);
    valid.then(|| days_from_civil(year, month, day) as f64)
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970-01-01 in the Gregorian calendar, counted in years that start in March so that the leap
/// day comes last.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let shifted = if month <= 2 { year - 1 } else { year };
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    365 * shifted + shifted.div_euclid(4) - shifted.div_euclid(100) + shifted.div_euclid(400) + day_of_year
        - 719_468
}

/// Year, month and day of a number of days since 1970-01-01: the reverse of the above.
pub fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// The two ends of a published range `[low-high]`; `read` reads one end.
pub fn range(cell: &str, read: impl Fn(&str) -> Option<f64>) -> Option<(f64, f64)> {
    between(cell.strip_prefix('[')?.strip_suffix(']')?, read)
}

/// The two ends of a published half-open range `[low-high)`; `read` reads one end.
pub fn half_open_range(cell: &str, read: impl Fn(&str) -> Option<f64>) -> Option<(f64, f64)> {
    between(cell.strip_prefix('[')?.strip_suffix(')')?, read).filter(|(low, high)| low < high)
}

fn between(inside: &str, read: impl Fn(&str) -> Option<f64>) -> Option<(f64, f64)> {
    let (low, high) = cut(inside, &read)?;
    Some((read(low)?, read(high)?))
}

/// The two ends of a published range, closed or half-open, as they are written.
pub fn range_texts(cell: &str, read: impl Fn(&str) -> Option<f64>) -> Option<(&str, &str)> {
    cut(cell.strip_prefix('[')?.strip_suffix([']', ')'])?, &read)
}

fn cut<'a>(inside: &'a str, read: &impl Fn(&str) -> Option<f64>) -> Option<(&'a str, &'a str)> {
    // Ends may hold `-` themselves (`[-5--1]`, `[2020-01-01-2020-02-01]`): the right cut is the one where
    // both sides can be read.
    inside.match_indices('-').find_map(|(at, _)| {
        let (low, high) = (&inside[..at], &inside[at + 1..]);
        (read(low)? <= read(high)?).then_some((low, high))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_people_write_them() {
        for (text, expected) in [
            ("12", Some(12.0)),
            ("-3.5", Some(-3.5)),
            ("+2", Some(2.0)),
            ("1e3", Some(1000.0)),
            (".5", Some(0.5)),
            ("", None),
            ("-", None),
            ("inf", None),
            ("NaN", None),
            ("1e999", None),
            ("12 ", None),
            ("1,000", None),
            ("0x10", None),
        ] {
            assert_eq!(number(text), expected, "{text}");
        }
    }

    #[test]
    fn dates_count_days() {
        assert_eq!(date("1970-01-01"), Some(0.0));
        assert_eq!(date("2000-03-01"), Some(11017.0));
        assert_eq!(date("2024-02-29"), Some(19782.0));
        assert_eq!(date("1900-02-29"), None);
        assert_eq!(date("2024-13-01"), None);
        assert_eq!(date("2024-1-01"), None);
    }

    #[test]
    fn every_day_of_four_centuries_is_found_again() {
        for day in -200_000..200_000 {
            let (year, month, date) = civil_from_days(day);
            assert_eq!(days_from_civil(year, month, date), day);
        }
    }

    #[test]
    fn ranges_with_minus_signs_are_unambiguous() {
        assert_eq!(range("[24-32]", number), Some((24.0, 32.0)));
        assert_eq!(range("[-5--1]", number), Some((-5.0, -1.0)));
        assert_eq!(range("[-5-1e-3]", number), Some((-5.0, 0.001)));
        assert_eq!(range("[2020-01-01-2020-02-01]", date), Some((18262.0, 18293.0)));
        assert_eq!(half_open_range("[-5-37)", number), Some((-5.0, 37.0)));
        assert_eq!(half_open_range("[3-3)", number), None);
        assert_eq!(half_open_range("[3-4]", number), None);
        assert_eq!(range("[3-1]", number), None);
        assert_eq!(range("24", number), None);
    }
}
