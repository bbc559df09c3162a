//! l-diversity in its four forms.
//!
//! All four are monotone. *Frequency*, *distinct* and *entropy* follow from sums and concavity; for *recursive*
//! (c, l) see Machanavajjhala et al. 2007, theorem on monotonicity; the tests check all of them.
//!
//! Where people are counted, a person may have several values in a class. Every form then looks at the most uneven way in
//! which each person could be counted for one of their values ([`Histogram::uneven`]): whatever a reader takes for the
//! value of each, the class is no less diverse. That is not monotone, for classes may share people.

mod levels;

use std::sync::Arc;

use toml::{Table, Value};

use super::{
    About, Achieved, Figure, Frequency, Histogram, Keeping, Kind, Margin, Model, Part, ROUNDING, Spec, Tally,
};
use crate::data::{Data, Protected};
use crate::error::{Error, ErrorCode, Result};
use crate::keys::{Keys, out_of_range};
use crate::published::Published;
use crate::words::shorten;

/// The keys `l`, `diversity` and `c`.
pub const KIND: Kind = Kind {
    key: "l",
    keys: &["l", "diversity", "c"],
    read,
    unasked: |_, published| DiversitySpec { l: None, form: Diversity::Frequency }.reached(published),
};

/// The forms of l-diversity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Diversity {
    /// The most frequent value has frequency at most 1/l.
    Frequency,
    /// At least l distinct values.
    Distinct,
    /// Entropy at least log l.
    Entropy,
    /// Recursive (c, l)-diversity.
    Recursive {
        /// The factor c.
        c: f64,
    },
}

/// Diversity as a policy asks for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiversitySpec {
    /// How diverse; `None` if it is only measured.
    pub l: Option<f64>,
    /// In which form.
    pub form: Diversity,
}

/// Its factor is read apart from the word.
const FORMS: &[(&str, Diversity)] = &[
    ("frequency", Diversity::Frequency),
    ("distinct", Diversity::Distinct),
    ("entropy", Diversity::Entropy),
    ("recursive", Diversity::Recursive { c: 1.0 }),
];

fn read(keys: &Keys<'_, '_>) -> Result<Option<Arc<dyn Spec>>> {
    let written = keys.number("l")?;
    keys.require_sensitive("l")?;
    let Some(form) = read_form(keys)? else {
        let check = |l: toml::Spanned<f64>| check_l(keys, l, Diversity::Frequency);
        return written.map(check).transpose();
    };
    match written {
        Some(l) => check_l(keys, l, form).map(Some),
        None => Ok(Some(Arc::new(DiversitySpec { l: None, form }))),
    }
}

fn check_l(keys: &Keys<'_, '_>, written: toml::Spanned<f64>, form: Diversity) -> Result<Arc<dyn Spec>> {
    match l_expected(*written.get_ref(), form) {
        Some(expected) => Err(out_of_range(keys.source, "l", &written, expected)),
        None => Ok(Arc::new(DiversitySpec { l: Some(written.into_inner()), form })),
    }
}

fn read_form(keys: &Keys<'_, '_>) -> Result<Option<Diversity>> {
    let (chosen, word) = (keys.choose("diversity", FORMS)?, keys.string("diversity")?);
    match (chosen, keys.number("c")?, word) {
        (Some(Diversity::Recursive { .. }), Some(_), _) => {
            Ok(keys.above_zero("c")?.map(|c| Diversity::Recursive { c }))
        }
        (Some(Diversity::Recursive { .. }), None, Some(word)) => Err(keys
            .mistake(
                ErrorCode::MissingKey,
                &word.span(),
                "\"recursive\" diversity needs a factor c",
                "c is missing",
            )
            .with_hint("add it to [privacy], for example c = 2")),
        (_, Some(c), _) => Err(keys
            .mistake(
                ErrorCode::UnknownKey,
                &c.span(),
                "c belongs to \"recursive\" diversity only",
                "has no meaning here",
            )
            .with_hint("remove c, or write diversity = \"recursive\"")),
        (chosen, ..) => Ok(chosen),
    }
}

/// What l has to be and is not.
pub(crate) fn l_expected(l: f64, form: Diversity) -> Option<&'static str> {
    if !l.is_finite() || l < 1.0 {
        return Some("a number of at least 1");
    }
    match form {
        Diversity::Distinct if l.fract() != 0.0 => Some("a whole number with \"distinct\" diversity"),
        Diversity::Recursive { .. } if l.fract() != 0.0 => {
            Some("a whole number with \"recursive\" diversity")
        }
        _ => None,
    }
}

impl DiversitySpec {
    /// The least diverse class in any sensitive attribute, if there are any; without a form that has a figure, as much
    /// as was asked for if that holds.
    fn reached(&self, published: &Published<'_>) -> Option<Achieved> {
        let worst: Vec<(f64, bool)> =
            (0..published.data.sensitive.len()).map(|at| self.worst(published, at)).collect();
        let least = worst.iter().map(|(reached, _)| *reached).reduce(f64::min)?;
        let achieved = Achieved::at_least(
            "l",
            format!("l-diversity ({})", self.form.name()),
            self.meaning(published.whose.is_some()),
        )
        .about(About::Values);
        let achieved = match self.form {
            Diversity::Recursive { .. } if least.is_nan() => achieved,
            _ => achieved.reached(Figure::Number(least)),
        };
        let Some(l) = self.l else { return Some(achieved) };
        let falls_short = |(name, (_, holds)): (&Protected, &(f64, bool))| {
            let form = self.form.name();
            (!holds).then(|| format!("l = {l} ({form}) is required on {}, a class falls short", name.name))
        };
        let violations = published.data.sensitive.iter().zip(&worst).filter_map(falls_short).collect();
        Some(achieved.asked(Figure::Number(l), violations))
    }

    fn worst(&self, published: &Published<'_>, at: usize) -> (f64, bool) {
        let model = self.l.map(|l| LDiversity { l, form: self.form, attribute: at });
        let of = |counts: &Histogram| {
            let holds = model.is_none_or(|model| model.holds_for(counts));
            (self.figure(counts, holds), holds)
        };
        // A class without a figure leaves none for the worst.
        let least =
            |one: f64, other: f64| if one.is_nan() || other.is_nan() { f64::NAN } else { one.min(other) };
        let and = |one: (f64, bool), other: (f64, bool)| (least(one.0, other.0), one.1 && other.1);
        published.over_classes(at, (f64::INFINITY, true), of, and)
    }

    /// The l of a class.
    fn figure(&self, counts: &Histogram, holds: bool) -> f64 {
        match self.form {
            Diversity::Frequency => frequency(counts),
            Diversity::Distinct => distinct(counts) as f64,
            Diversity::Entropy => entropy(counts).exp(),
            Diversity::Recursive { .. } => self.l.filter(|_| holds).unwrap_or(f64::NAN),
        }
    }

    fn meaning(&self, people: bool) -> &'static str {
        match self.form {
            Diversity::Distinct => "the fewest different sensitive values in a class",
            Diversity::Entropy => {
                "how many equally frequent sensitive values the least varied class is worth"
            }
            Diversity::Recursive { .. } => "no class is dominated by its few most frequent sensitive values",
            Diversity::Frequency if people => {
                "in no class do more than 1 in l people have the same sensitive value"
            }
            Diversity::Frequency => "in no class is a sensitive value more frequent than 1 in l records",
        }
    }
}

impl Spec for DiversitySpec {
    fn key(&self) -> &'static str {
        KIND.key
    }

    fn part(&self) -> Part {
        Part::L
    }

    fn keys(&self) -> Table {
        let l = self.l.map(|l| ("l", Value::Float(l)));
        let c = match self.form {
            Diversity::Recursive { c } => Some(("c", Value::Float(c))),
            _ => None,
        };
        let form = Some(("diversity", Value::String(self.form.name().to_owned())));
        [l, form, c].into_iter().flatten().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    fn asks(&self) -> bool {
        self.l.is_some()
    }

    fn protects_sensitive(&self) -> bool {
        self.l.is_some()
    }

    fn models(&self, sensitive: &[Protected]) -> Vec<Arc<dyn Model>> {
        let Some(l) = self.l else { return Vec::new() };
        let model =
            |attribute: usize| Arc::new(LDiversity { l, form: self.form, attribute }) as Arc<dyn Model>;
        (0..sensitive.len()).map(model).collect()
    }

    fn measure(&self, published: &Published<'_>) -> Result<Vec<Achieved>> {
        Ok(self.reached(published).into_iter().collect())
    }
}

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

/// The achieved l of the frequency form: people (or records) for each that has the most frequent value.
pub fn frequency(counts: &Histogram) -> f64 {
    let most = counts.present().map(|(_, count)| count).max().unwrap_or(0);
    // Where nobody can tell whose rows are, a value may seem to be of more people than there are; of all is the worst.
    if most == 0 { f64::INFINITY } else { (counts.people() as f64 / f64::from(most)).max(1.0) }
}

/// Number of distinct values; where people may have several, as many as it takes at least to name one of everybody's.
pub fn distinct(counts: &Histogram) -> usize {
    if counts.people() == counts.total() { counts.present().len() } else { counts.uneven().len() }
}

/// Entropy in nats. Counts are summed in ascending order so that equal histograms have equal entropies.
pub fn entropy(counts: &Histogram) -> f64 {
    let (total, counts) = (counts.people() as f64, counts.uneven());
    counts.into_iter().rev().map(|count| f64::from(count) / total).map(|share| -share * share.ln()).sum()
}

/// Whether f₁ < c · (f_l + … + f_m).
pub fn recursive(counts: &Histogram, c: f64, l: f64) -> bool {
    let counts = counts.uneven();
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
                Frequency::new(self.attribute, self.l).allows(most as usize, counts.people() as usize)
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

    fn margin(&self, whole: &Tally) -> Option<Margin> {
        Some(Margin { asked: self.l, feasible: self.reachable(whole.histogram(self.attribute)) })
    }

    fn holds(&self, tally: &Tally) -> bool {
        self.holds_for(tally.histogram(self.attribute))
    }

    /// Those of values that are too frequent, in the order in which records are best left out.
    fn fewest_to_lose(&self, keeping: &Keeping<'_>) -> Option<Vec<u32>> {
        let lost = self.fewest(keeping.tally().histogram(self.attribute), keeping.allowance)?;
        let counted = &keeping.data.sensitive[self.attribute];
        let mut to_lose = vec![0; counted.domain.len()];
        lost.into_iter().for_each(|(value, lost)| to_lose[value as usize] = lost);
        let goes = |record: &u32| {
            let left = &mut to_lose[counted.codes[*record as usize] as usize];
            let goes = *left > 0;
            *left -= u32::from(goes);
            goes
        };
        Some(keeping.records.iter().copied().filter(goes).collect())
    }

    fn explain(&self, whole: &Tally, data: &Data) -> Error {
        self.explain_within(whole, data, 0)
    }

    fn explain_within(&self, whole: &Tally, data: &Data, allowance: usize) -> Error {
        let counts = whole.histogram(self.attribute);
        let attribute = &data.sensitive[self.attribute];
        let most = counts.present().max_by_key(|(value, count)| (*count, std::cmp::Reverse(*value)));
        // Rounded down, for it must be possible itself; 2.9999999999999996 is a 3.
        let largest = match allowance {
            0 => self.reachable(counts),
            _ => self.largest_within(counts, allowance),
        };
        let reachable = (largest * 1000.0 * (1.0 + ROUNDING)).floor() / 1000.0;
        let hint = match self.form {
            Diversity::Recursive { c } if reachable < 1.0 => {
                format!("with c = {c} no l is possible; choose a larger c")
            }
            _ => format!("the largest possible l is {reachable}"),
        };
        let mut message =
            format!("l = {} ({}) cannot be met by any release of this table", self.l, self.form.name());
        if allowance > 0 {
            message += &format!(" that leaves out at most {allowance} records");
        }
        if let Some((value, count)) = most {
            let share = 100.0 * f64::from(count) / whole.people() as f64;
            let value = shorten(attribute.domain.label(value));
            message += &format!(": the value \"{value}\" makes up {share:.1} % of all records");
        }
        let error = Error::new(ErrorCode::DiversityUnreachable, message)
            .for_attribute(&attribute.name)
            .with_hint(hint);
        if reachable < 1.0 { error } else { error.reaching("l", reachable) }
    }
}
