//! Numbers as people read them: `30,162`, `0.1363`, `86.4 %`, and a dash where there is none.

/// Stands for a figure that does not exist (not finite, or not measured).
pub(super) const NONE: &str = "–";

/// `30162` → `30,162`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A figure of any size, with the digits that matter: `0.1363`, `13.63`, `412.5`, `30,162`.
pub fn figure(value: f64) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    match value.abs() {
        0.0 => "0".to_owned(),
        size if size < 1e-4 => format!("{value:.1e}"),
        size if size < 1.0 => format!("{value:.4}"),
        size if size < 99.995 => without_trailing_zeros(&format!("{value:.2}")),
        size if size < 999.95 => without_trailing_zeros(&format!("{value:.1}")),
        size if size < 1e15 => {
            let sign = if value < 0.0 { "−" } else { "" };
            sign.to_owned() + &count(size.round() as u64)
        }
        _ => format!("{value:.2e}"),
    }
}

/// A share as four decimals, so that columns of shares line up.
pub fn share(value: f64) -> String {
    // Adding 0 takes the sign off a −0.
    if value.is_finite() { format!("{:.4}", value + 0.0) } else { NONE.to_owned() }
}

/// A share in percent: `86.4 %`. Only an exact 0 or 1 reads `0 %` or `100 %`.
pub fn percent(value: f64) -> String {
    let hundredth = value * 100.0;
    match hundredth {
        _ if !hundredth.is_finite() => NONE.to_owned(),
        0.0 => "0 %".to_owned(),
        100.0 => "100 %".to_owned(),
        small if small.abs() < 0.01 => "< 0.01 %".to_owned(),
        small if small.abs() < 0.995 => format!("{small:.2} %"),
        large if large > 99.95 && large < 100.0 => "> 99.9 %".to_owned(),
        other => format!("{other:.1} %"),
    }
}

/// A share in whole percent for running text, never rounded up to all or down to nothing.
pub(super) fn whole_percent(value: f64) -> String {
    match (value * 100.0).round() {
        _ if !value.is_finite() => NONE.to_owned(),
        rounded if rounded >= 100.0 && value < 1.0 => "more than 99 %".to_owned(),
        rounded if rounded <= 0.0 && value > 0.0 => "less than 1 %".to_owned(),
        rounded => format!("{rounded:.0} %"),
    }
}

/// A guaranteed minimum, rounded down so that it never reads better than it is.
pub(super) fn at_least(value: f64) -> String {
    figure((value * 100.0 + 1e-7).floor() / 100.0)
}

/// A guaranteed maximum, rounded up so that it never reads better than it is.
pub(super) fn at_most(value: f64) -> String {
    let rounded = (value * 1e4 - 1e-7).ceil() / 1e4;
    // The allowance turns 0 into -0.
    figure(if rounded == 0.0 { 0.0 } else { rounded })
}

/// A duration: `0.042 s`, `4.21 s`, `2 min 5 s`.
pub fn seconds(value: f64) -> String {
    match value {
        _ if !value.is_finite() || value < 0.0 => NONE.to_owned(),
        0.0 => "0 s".to_owned(),
        v if v < 0.001 => "< 0.001 s".to_owned(),
        v if v < 0.9995 => format!("{v:.3} s"),
        v if v < 9.995 => format!("{v:.2} s"),
        v if v < 99.95 => format!("{v:.1} s"),
        v => hours_and_minutes(v.round() as u64),
    }
}

fn hours_and_minutes(seconds: u64) -> String {
    match seconds / 60 {
        0 | 1 => format!("{seconds} s"),
        minutes if minutes < 60 => format!("{minutes} min {} s", seconds % 60),
        minutes => format!("{} h {} min", count(minutes / 60), minutes % 60),
    }
}

/// `n record` or `n records`.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// `2.50` → `2.5`, `3.00` → `3`; text without a point stays.
pub(super) fn without_trailing_zeros(text: &str) -> String {
    if !text.contains('.') {
        return text.to_owned();
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(30_162), "30,162");
        assert_eq!(count(1_234_567), "1,234,567");
    }

    #[test]
    fn figures_keep_the_digits_that_matter() {
        for (value, text) in [
            (0.0, "0"),
            (0.13634, "0.1363"),
            (0.00001234, "1.2e-5"),
            (1.5, "1.5"),
            (13.634, "13.63"),
            (99.999, "100"),
            (412.53, "412.5"),
            (999.97, "1,000"),
            (30162.0, "30,162"),
            (-30162.0, "−30,162"),
            (3.2e17, "3.20e17"),
        ] {
            assert_eq!(figure(value), text);
        }
    }

    #[test]
    fn what_is_not_a_number_reads_as_a_dash() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for show in [figure, share, percent, whole_percent, at_least, at_most, seconds] {
                assert_eq!(show(value), NONE);
            }
        }
    }

    #[test]
    fn only_all_and_nothing_read_as_all_and_nothing() {
        assert_eq!(percent(1.0), "100 %");
        assert_eq!(percent(0.999_999), "> 99.9 %");
        assert_eq!(percent(0.000_001), "< 0.01 %");
        assert_eq!(percent(0.8637), "86.4 %");
        assert_eq!(percent(0.0042), "0.42 %");
        assert_eq!(whole_percent(0.999), "more than 99 %");
        assert_eq!(whole_percent(0.001), "less than 1 %");
        assert_eq!(whole_percent(0.8637), "86 %");
    }

    #[test]
    fn guarantees_are_rounded_to_the_safe_side() {
        assert_eq!(at_least(2.999), "2.99");
        assert_eq!(at_least(3.0), "3");
        assert_eq!(at_most(0.20001), "0.2001");
        assert_eq!(at_most(0.2), "0.2000");
    }

    #[test]
    fn durations_read_in_the_unit_that_fits() {
        assert_eq!(seconds(0.0421), "0.042 s");
        assert_eq!(seconds(4.213), "4.21 s");
        assert_eq!(seconds(42.13), "42.1 s");
        assert_eq!(seconds(110.0), "110 s");
        assert_eq!(seconds(125.0), "2 min 5 s");
        assert_eq!(seconds(3725.0), "1 h 2 min");
    }
}
