//! Scales: where a value lies on an axis, and the round values that label it.

use super::super::number;

/// What the figures on an axis are, which decides how they read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Numbers of things.
    Count,
    /// Shares, shown in percent.
    Share,
    /// Durations.
    Seconds,
}

impl Unit {
    /// A value as it is told in a tooltip or beside a bar.
    pub(crate) fn exact(self, value: f64) -> String {
        match self {
            Unit::Count => number::figure(value),
            Unit::Share => number::percent(value),
            Unit::Seconds => number::seconds(value),
        }
    }

    /// A round value as it is told on an axis.
    pub(crate) fn tick(self, value: f64) -> String {
        match self {
            Unit::Count => large(value),
            Unit::Share => format!("{} %", trimmed(value * 100.0)),
            Unit::Seconds => format!("{} s", large(value)),
        }
    }
}

fn large(value: f64) -> String {
    match value {
        v if v >= 1e12 => format!("{v:e}"),
        v if v >= 1e9 => format!("{} bn", trimmed(v / 1e9)),
        v if v >= 1e6 => format!("{} M", trimmed(v / 1e6)),
        v if v >= 1e3 => number::count(v.round() as u64),
        v => trimmed(v),
    }
}

fn trimmed(value: f64) -> String {
    if value != 0.0 && value.abs() < 1e-5 {
        return format!("{value:.0e}");
    }
    number::without_trailing_zeros(&format!("{value:.6}"))
}

/// An axis from a round value to a round value.
#[derive(Clone, Debug)]
pub(crate) enum Scale {
    /// From zero in equal steps.
    Linear {
        /// The distance between ticks: 1, 2 or 5 times a power of ten.
        step: f64,
        /// How many steps.
        steps: u32,
    },
    /// Equal ratios, from the first tick to the last.
    Log {
        /// The ticks, ascending; at least two, all positive.
        ticks: Vec<f64>,
    },
}

/// No figure of ours comes near these; keeping to them keeps the arithmetic finite.
const SMALLEST: f64 = 1e-12;
const LARGEST: f64 = 1e30;

impl Scale {
    /// From zero to a round value that covers the values, in at most about `ticks` steps. What is not
    /// finite does not count.
    pub(crate) fn linear(values: impl IntoIterator<Item = f64>, ticks: u32) -> Self {
        let most = values.into_iter().filter(|value| value.is_finite()).fold(0.0, f64::max);
        if most < SMALLEST {
            return Scale::Linear { step: 1.0, steps: 1 };
        }
        let most = most.min(LARGEST);
        let step = round_up(most / f64::from(ticks.max(1)));
        let mut steps = (most / step).ceil() as u32;
        while f64::from(steps) * step < most {
            steps += 1;
        }
        Scale::Linear { step, steps }
    }

    /// Equal ratios, between values of the series 1, 2, 5, 10, … that cover the positive values.
    pub(crate) fn log(values: impl IntoIterator<Item = f64>) -> Self {
        let positive = values.into_iter().filter(|value| value.is_finite() && *value > 0.0);
        let clamped = positive.map(|value| value.clamp(SMALLEST, LARGEST));
        let (low, high) = clamped.fold((f64::INFINITY, 0.0), |(low, high), v| (v.min(low), v.max(high)));
        if high == 0.0 {
            return Scale::Log { ticks: vec![1.0, 10.0] };
        }
        let (from, mut to) = (series_at_or_below(low), series_at_or_above(high));
        if to == from {
            to += 1;
        }
        let ticks: Vec<f64> = (from..=to).map(series).collect();
        Scale::Log { ticks: if ticks.len() > 8 { powers_of_ten(from, to) } else { ticks } }
    }

    /// Where a value lies, from 0 to 1; outside values and what is not finite stick to an end.
    pub(crate) fn position(&self, value: f64) -> f64 {
        let share = match self {
            Scale::Linear { step, steps } => value / (step * f64::from(*steps)),
            Scale::Log { ticks } => {
                let (low, high) = (ticks[0].ln(), ticks[ticks.len() - 1].ln());
                (value.max(f64::MIN_POSITIVE).ln() - low) / (high - low)
            }
        };
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }

    /// The round values that label the axis, ascending.
    pub(crate) fn ticks(&self) -> Vec<f64> {
        match self {
            Scale::Linear { step, steps } => (0..=*steps).map(|at| f64::from(at) * step).collect(),
            Scale::Log { ticks } => ticks.clone(),
        }
    }
}

/// Whole decades, and only every second, third, … of them when there are many.
fn powers_of_ten(from: i32, to: i32) -> Vec<f64> {
    let (from, to) = (from.div_euclid(3), -(-to).div_euclid(3));
    let stride = ((to - from) / 7 + 1).max(1);
    let steps = (to - from + stride - 1) / stride;
    (0..=steps).map(|at| series((from + at * stride) * 3)).collect()
}

/// The series … 0.5, 1, 2, 5, 10, … with 1 at place 0.
fn series(place: i32) -> f64 {
    let mantissa = [1.0, 2.0, 5.0][place.rem_euclid(3) as usize];
    mantissa * 10f64.powi(place.div_euclid(3))
}

fn series_at_or_below(value: f64) -> i32 {
    let mut place = value.log10().floor() as i32 * 3 + 3;
    while series(place) > value {
        place -= 1;
    }
    place
}

fn series_at_or_above(value: f64) -> i32 {
    let mut place = value.log10().floor() as i32 * 3 - 3;
    while series(place) < value {
        place += 1;
    }
    place
}

fn round_up(value: f64) -> f64 {
    series(series_at_or_above(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The first digits of a value, from 1 to below 10.
    fn mantissa(value: f64) -> f64 {
        let mantissa = value / 10f64.powf(value.log10().floor());
        if mantissa > 9.999_999 { 1.0 } else { mantissa }
    }

    fn is_round(value: f64) -> bool {
        [1.0, 2.0, 5.0].iter().any(|round| (mantissa(value) - round).abs() < 1e-6)
    }

    proptest! {
        #[test]
        fn linear_ticks_are_round_and_cover_the_values(
            values in prop::collection::vec(0f64..1.0, 1..20), exponent in -6i32..15, ticks in 2u32..10,
        ) {
            let values: Vec<f64> = values.iter().map(|value| value * 10f64.powi(exponent)).collect();
            let most = values.iter().copied().fold(0.0, f64::max);
            let scale = Scale::linear(values, ticks);
            let marks = scale.ticks();
            let step = marks[1];
            prop_assert!(is_round(step), "step {step}");
            for mark in &marks {
                let multiple = mark / step;
                prop_assert!((multiple - multiple.round()).abs() < 1e-9);
            }
            prop_assert_eq!(marks[0], 0.0);
            prop_assert!(marks[marks.len() - 1] >= most);
            prop_assert!(most < 1e-9 || marks[marks.len() - 1] <= most * 2.0 + step, "no wide empty end");
            prop_assert!(marks.len() <= ticks as usize + 1);
        }

        #[test]
        fn log_ticks_are_round_and_cover_the_values(
            exponents in prop::collection::vec(-9f64..15.0, 1..20),
        ) {
            let values: Vec<f64> = exponents.iter().map(|exponent| 10f64.powf(*exponent)).collect();
            let scale = Scale::log(values.iter().copied());
            let marks = scale.ticks();
            prop_assert!(marks.len() >= 2 && marks.len() <= 9, "{marks:?}");
            prop_assert!(marks.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert!(marks.iter().all(|mark| is_round(*mark)), "{marks:?}");
            for value in values {
                prop_assert!(marks[0] <= value && value <= marks[marks.len() - 1]);
            }
        }

        #[test]
        fn greater_values_never_lie_lower(a in 0f64..1e6, b in 0f64..1e6, log in any::<bool>()) {
            let scale = if log { Scale::log([a, b]) } else { Scale::linear([a, b], 5) };
            let (low, high) = (a.min(b), a.max(b));
            prop_assert!(scale.position(low) <= scale.position(high));
        }
    }

    #[test]
    fn values_that_cannot_be_placed_stay_on_the_axis() {
        for scale in
            [Scale::linear([f64::NAN, f64::INFINITY], 5), Scale::log([0.0, -1.0]), Scale::linear([], 5)]
        {
            for value in [f64::NAN, f64::INFINITY, -3.0, 0.0, 1e300] {
                let position = scale.position(value);
                assert!((0.0..=1.0).contains(&position), "{value} at {position}");
            }
        }
    }

    #[test]
    fn ticks_read_plainly() {
        assert_eq!(Unit::Share.tick(0.05), "5 %");
        assert_eq!(Unit::Share.tick(3.0 * 0.1), "30 %");
        assert_eq!(Unit::Count.tick(20_000.0), "20,000");
        assert_eq!(Unit::Count.tick(5e8), "500 M");
        assert_eq!(Unit::Count.tick(0.2), "0.2");
        assert_eq!(Unit::Seconds.tick(0.01), "0.01 s");
    }
}
