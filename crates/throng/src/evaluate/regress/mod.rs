//! `regress`: how well a number can be predicted from the table, from the release, and without quasi-identifiers.
//!
//! As [`super::classify`], for an attribute with the role `class` that holds numbers, dates or times: the same splits and the same
//! three settings, with a regression tree and boosted trees. Told are the mean error (how far off on average, without sign), the root
//! of the mean squared error, and R²: the share of the variance around the mean of the records learned from that is explained.

mod report;

use super::classify::{self, Classify, Data, Growth, Learned, Material, Plan, Ranges, Regression, Split};
use super::{Entry, Outcome, Study, Task};
use crate::error::{Error, ErrorCode, Result};
use crate::method::options::{Numbers, OptionKind, OptionSpec, Options};
use crate::parallel;
use crate::table::Scale;
use crate::watch::Watch;

/// The registry entry.
pub const REGRESS: Entry = Entry {
    name: "regress",
    summary: "how well regression trees predict a number from table and release",
    citation: "as classify; Friedman: Greedy function approximation, Annals of Statistics 2001",
    options: &[
        OptionSpec {
            name: "folds",
            kind: OptionKind::Whole { least: 2, default: Some(10) },
            help: "parts that records are split into, each of which is predicted once",
        },
        OptionSpec {
            name: "test_share",
            kind: OptionKind::Number { allowed: Numbers::INNER_SHARE, default: None },
            help: "instead: the share of records that is predicted, drawn by lot",
        },
        OptionSpec {
            name: "baseline",
            kind: OptionKind::Flag { default: true },
            help: "whether to measure the table as well",
        },
        OptionSpec {
            name: "export",
            kind: OptionKind::Flag { default: false },
            help: "whether to give the folds away as tables; --folds sets it",
        },
    ],
    configure,
};

/// The task.
#[derive(Clone, Debug)]
pub struct Regress {
    shared: Classify,
}

fn configure(options: &Options) -> Result<Box<dyn Task>> {
    let plan = match options.number_if_any("test_share")? {
        Some(share) => Plan::Share(share),
        None => Plan::Folds(options.whole("folds")? as usize),
    };
    let shared = Classify {
        plan,
        masks: Learned::Together,
        ranges: Ranges::Overlap,
        baseline: options.flag("baseline")?,
        classifiers: Vec::new(),
        test: None,
        export: options.flag("export")?,
    };
    Ok(Box::new(Regress { shared }))
}

/// The learners.
pub(super) const LEARNERS: [(&str, &str, Growth); 2] =
    [("tree", "Regression tree", Growth::TREE), ("boosted", "Gradient-boosted trees", Growth::BOOSTED)];

/// Sums of what predictions were off by; they merge.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Errors {
    count: u64,
    absolute: f64,
    squared: f64,
    /// The same of the mean of the records that were learned from.
    squared_of_mean: f64,
}

impl Errors {
    /// Takes a prediction in.
    pub fn add(&mut self, own: f64, told: f64, mean: f64) {
        self.count += 1;
        self.absolute += (told - own).abs();
        self.squared += (told - own) * (told - own);
        self.squared_of_mean += (mean - own) * (mean - own);
    }

    fn and(self, other: Self) -> Self {
        Errors {
            count: self.count + other.count,
            absolute: self.absolute + other.absolute,
            squared: self.squared + other.squared,
            squared_of_mean: self.squared_of_mean + other.squared_of_mean,
        }
    }

    fn of_one(self, sum: f64) -> f64 {
        sum / self.count.max(1) as f64
    }

    /// How far off predictions are on average, without sign.
    pub fn mean(self) -> f64 {
        self.of_one(self.absolute)
    }

    /// The root of the mean squared error.
    pub fn rmse(self) -> f64 {
        self.of_one(self.squared).sqrt()
    }

    /// The same of one who tells the mean of the records learned from, whoever is asked about.
    pub fn rmse_of_mean(self) -> f64 {
        self.of_one(self.squared_of_mean).sqrt()
    }

    /// The share of the variance that is explained; nothing where all have the same number.
    pub fn r2(self) -> Option<f64> {
        (self.squared_of_mean > 0.0).then(|| 1.0 - self.squared / self.squared_of_mean)
    }
}

/// What was measured with one learner.
pub(super) struct Measured {
    pub name: &'static str,
    pub title: &'static str,
    pub release: Errors,
    /// Table; without quasi-identifiers.
    pub baseline: Option<(Errors, Errors)>,
}

impl Task for Regress {
    fn run(&self, study: &Study<'_>, watch: &dyn Watch) -> Result<Outcome> {
        let target = study.problem.labels.first().ok_or_else(no_target)?;
        let Scale::Numeric { values, spelling } = target.domain.scale() else {
            return Err(not_numeric(&target.name));
        };
        let table = classify::whole_table(study, watch)?;
        let Material { raw, splits, release, split, .. } = self.shared.material(study, &table, watch)?;
        let number = |data: &Data| -> Vec<f64> {
            let of = |code: &u32| values.get(*code as usize).copied().unwrap_or(f64::NAN);
            data.labels.iter().map(of).collect()
        };
        let mut measured = Vec::new();
        for (name, title, growth) in LEARNERS {
            let over =
                |data: &Data, splits: &[Split]| over_splits(data, &number(data), splits, growth, watch);
            let baseline = match self.shared.baseline {
                true => Some((over(&raw, &splits)?, over(&raw.without_quasi(), &splits)?)),
                false => None,
            };
            let mut own = Errors::default();
            for (data, splits) in &release {
                own = own.and(over(data, splits)?);
            }
            measured.push(Measured { name, title, release: own, baseline });
        }
        let exported = match self.shared.export {
            true => classify::export(study, &table, &splits, &release)?,
            false => Vec::new(),
        };
        let asked = report::Asked {
            target: &target.name,
            unit: spelling.measured(),
            split,
            linked: study.records.is_some(),
        };
        Ok(Outcome { exported, ..report::outcome(&asked, &measured) })
    }
}

/// Learns and predicts along all splits. Whose number is missing is neither learned from nor predicted.
fn over_splits(
    data: &Data,
    numbers: &[f64],
    splits: &[Split],
    growth: Growth,
    watch: &dyn Watch,
) -> Result<Errors> {
    let known = |records: &[u32]| -> Vec<u32> {
        records.iter().copied().filter(|record| !numbers[*record as usize].is_nan()).collect()
    };
    let one = |split: &Split| {
        watch.check()?;
        let train = known(&split.train);
        let model = Regression::learn(data, numbers, &train, growth);
        let all = train.len().max(1) as f64;
        let mean: f64 = train.iter().map(|record| numbers[*record as usize] / all).sum();
        let mut errors = Errors::default();
        for record in known(&split.test) {
            errors.add(numbers[record as usize], model.told(data, record), mean);
        }
        Ok(errors)
    };
    let parts = parallel::try_map(splits, one)?;
    Ok(parts.into_iter().fold(Errors::default(), Errors::and))
}

fn no_target() -> Error {
    Error::new(ErrorCode::NoClass, "the policy has no number to predict")
        .with_hint("give the attribute that recipients want to predict `role = \"class\"`")
}

fn not_numeric(name: &str) -> Error {
    Error::new(ErrorCode::WrongKind, "regress predicts numbers, but this attribute holds categories")
        .for_attribute(name)
        .with_hint("use --task classify, or write kind = \"numeric\" if all of its values are numbers")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_those_of_a_worked_example() {
        // 1, 2 and 6 told as 2, 2 and 3, where the mean of those learned from is 3.
        let mut errors = Errors::default();
        for (own, told) in [(1.0, 2.0), (2.0, 2.0), (6.0, 3.0)] {
            errors.add(own, told, 3.0);
        }
        assert!((errors.mean() - 4.0 / 3.0).abs() < 1e-12);
        assert!((errors.rmse() - (10.0f64 / 3.0).sqrt()).abs() < 1e-12);
        assert!((errors.rmse_of_mean() - (14.0f64 / 3.0).sqrt()).abs() < 1e-12);
        assert!(errors.r2().is_some_and(|r2| (r2 - 4.0 / 14.0).abs() < 1e-12));
        assert_eq!(Errors::default().r2(), None);
    }
}
