//! l-diversity in its four forms.
//!
//! All four are monotone. *Frequency*, *distinct* and *entropy* follow from sums and concavity; for *recursive*
//! (c, l) see Machanavajjhala et al. 2007, theorem on monotonicity; the tests check all of them.

use super::{Frequency, Histogram, Model, Part, ROUNDING, Tally};
use crate::error::Error;
use crate::policy::Diversity;
use crate::problem::Problem;
use crate::table::domain::shorten;

/// Every class is diverse in one sensitive attribute.
#[derive(Clone, Copy, Debug)]
pub struct LDiversity {
    /// How diverse.
    pub l: f64,
    /// In which form.
    pub form: Diversity,
    /// Index of the sensitive attribute.
    pub attribute: usize,
}

/// The achieved l of the frequency form: records per occurrence of the most frequent value.
pub fn frequency(counts: &Histogram) -> f64 {
    let most = counts.present().map(|(_, count)| count).max().unwrap_or(0);
    if most == 0 { f64::INFINITY } else { counts.total() as f64 / f64::from(most) }
}

/// Number of distinct values.
pub fn distinct(counts: &Histogram) -> usize {
    counts.present().len()
}

/// Entropy in nats. Counts are summed in ascending order so that equal histograms have equal entropies.
pub fn entropy(counts: &Histogram) -> f64 {
    let total = counts.total() as f64;
    let mut counts: Vec<u32> = counts.present().map(|(_, count)| count).collect();
    counts.sort_unstable();
    counts.into_iter().map(|count| f64::from(count) / total).map(|share| -share * share.ln()).sum()
}

/// Whether f₁ < c · (f_l + … + f_m).
pub fn recursive(counts: &Histogram, c: f64, l: f64) -> bool {
    let mut counts: Vec<u32> = counts.present().map(|(_, count)| count).collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let rest: u64 = counts.iter().skip((l as usize).saturating_sub(1)).map(|count| u64::from(*count)).sum();
    counts.first().is_none_or(|most| f64::from(*most) < c * rest as f64)
}

impl LDiversity {
    /// Whether the counts of a class are diverse enough. With room for rounding: n equally frequent values must pass l = n
    /// in the entropy form, and 44 of 40 as well as 11 of 10 must pass l = 1.1 in the frequency form, or unions of good
    /// classes would be bad.
    pub fn holds_for(&self, counts: &Histogram) -> bool {
        match self.form {
            Diversity::Frequency => {
                let most = counts.present().map(|(_, count)| count).max().unwrap_or(0);
                Frequency::new(self.attribute, self.l).allows(most as usize, counts.total() as usize)
            }
            Diversity::Distinct => distinct(counts) as f64 >= self.l,
            Diversity::Entropy => entropy(counts) + ROUNDING >= self.l.ln(),
            Diversity::Recursive { c } => recursive(counts, c, self.l),
        }
    }

    /// The largest l that one class of all records reaches.
    fn reachable(&self, counts: &Histogram) -> f64 {
        match self.form {
            Diversity::Frequency => frequency(counts),
            Diversity::Distinct => distinct(counts) as f64,
            Diversity::Entropy => entropy(counts).exp(),
            Diversity::Recursive { c } => {
                (1..=distinct(counts)).rev().find(|l| recursive(counts, c, *l as f64)).unwrap_or(0) as f64
            }
        }
    }
}

impl Diversity {
    /// Its name in a policy.
    pub fn name(self) -> &'static str {
        match self {
            Diversity::Frequency => "frequency",
            Diversity::Distinct => "distinct",
            Diversity::Entropy => "entropy",
            Diversity::Recursive { .. } => "recursive",
        }
    }
}

impl Model for LDiversity {
    fn describe(&self) -> String {
        format!("{}-diversity ({})", self.l, self.form.name())
    }

    fn part(&self) -> Part {
        Part::L
    }

    fn monotone(&self) -> bool {
        true
    }

    fn smallest_class(&self) -> usize {
        // Every form needs at least l distinct values (frequency: l records, none of them in the majority).
        (self.l * (1.0 - 2.0 * ROUNDING)).ceil() as usize
    }

    fn frequency(&self) -> Option<(usize, f64)> {
        (self.form == Diversity::Frequency).then_some((self.attribute, self.l))
    }

    fn holds(&self, tally: &Tally) -> bool {
        self.holds_for(tally.histogram(self.attribute))
    }

    fn explain(&self, whole: &Tally, problem: &Problem) -> Error {
        let counts = whole.histogram(self.attribute);
        let attribute = &problem.sensitive[self.attribute];
        let most = counts.present().max_by_key(|(value, count)| (*count, std::cmp::Reverse(*value)));
        // Rounded down, for it must be possible itself; 2.9999999999999996 is a 3.
        let reachable = (self.reachable(counts) * 1000.0 * (1.0 + ROUNDING)).floor() / 1000.0;
        let hint = match self.form {
            Diversity::Recursive { c } if reachable < 1.0 => {
                format!("with c = {c} no l is possible; choose a larger c")
            }
            _ => format!("the largest possible l is {reachable}"),
        };
        let mut message =
            format!("l = {} ({}) cannot be met by any release of this table", self.l, self.form.name());
        if let Some((value, count)) = most {
            let share = 100.0 * f64::from(count) / whole.size() as f64;
            let value = shorten(attribute.domain.label(value));
            message += &format!(": the value \"{value}\" makes up {share:.1} % of all records");
        }
        Error::requirement(message).for_attribute(&attribute.name).with_hint(hint)
    }
}
