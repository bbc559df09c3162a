//! `classify`: how well the class can be predicted from the table, from the release, and without quasi-identifiers.
//!
//! Fung et al. 2007, section 5.1. The *baseline error* is that of a classifier that learned from the table, the
//! *anonymity error* that of one that learned from the release and classifies released records, the *upper error* that
//! of one that never sees the quasi-identifiers. Four classifiers: a decision tree in the manner of C4.5 and naive Bayes, and where
//! they are asked for gradient-boosted trees and logistic regression. Beside errors, the area under the ROC curve and F1.

mod bayes;
mod boosted;
mod export;
mod features;
mod logistic;
mod predictions;
mod regression;
mod report;
mod second_table;
mod splits;
mod tree;

pub use bayes::Bayes;
pub use boosted::Boosted;
pub(super) use export::export;
pub use features::{Data, Feature, Ranges, Values};
pub use logistic::Logistic;
pub use predictions::Predictions;
pub use regression::{Growth, Regression};
pub use splits::{Plan, Split};
pub use tree::{Tree, first_choice};

use std::path::PathBuf;

use super::{Entry, Outcome, Study, Task, beside, read_all};
use crate::error::{Error, ErrorCode, Result};
use crate::method::options::{Numbers, OptionKind, OptionSpec, Options, words};
use crate::parallel;
use crate::problem::Problem;
use crate::table::Table;
use crate::table::source::is_standard;
use crate::watch::Watch;
use crate::words::did_you_mean;

/// The registry entry.
pub const CLASSIFY: Entry = Entry {
    name: "classify",
    summary: "how well a decision tree, naive Bayes and others predict the class from table and release",
    citation: "Fung, Wang, Yu: Anonymizing classification data for privacy preservation, TKDE 2007",
    options: &[
        OptionSpec {
            name: "folds",
            kind: OptionKind::Whole { least: 2, default: Some(10) },
            help: "parts that records are split into, each of which is classified once",
        },
        OptionSpec {
            name: "train",
            kind: OptionKind::Whole { least: 1, default: None },
            help: "learn from the first so many records and classify the others",
        },
        OptionSpec {
            name: "test_share",
            kind: OptionKind::Number { allowed: Numbers::INNER_SHARE, default: None },
            help: "the share of records that is classified, drawn by lot",
        },
        OptionSpec {
            name: "masks",
            kind: OptionKind::Choice { words: &LEARNED_WORDS },
            help: "whether masks come from all records or from those that classifiers learn from",
        },
        OptionSpec {
            name: "ranges",
            kind: OptionKind::Choice { words: &RANGES_WORDS },
            help: "how published ranges are understood",
        },
        OptionSpec {
            name: "baseline",
            kind: OptionKind::Flag { default: true },
            help: "whether to measure the table as well, and rank its attributes",
        },
        OptionSpec {
            name: "classifiers",
            kind: OptionKind::Texts,
            help: "which learn: tree, bayes, boosted (gradient-boosted trees), logistic (regression); the first two without it",
        },
        OptionSpec {
            name: "test",
            kind: OptionKind::Text,
            help: "a table whose records are classified instead of some of this one's",
        },
        OptionSpec {
            name: "export",
            kind: OptionKind::Flag { default: false },
            help: "whether to give the folds away as tables; --folds sets it",
        },
    ],
    configure,
};

const LEARNED: &[(&str, Learned)] = &[("together", Learned::Together), ("train", Learned::Train)];
const LEARNED_WORDS: [&str; LEARNED.len()] = words(LEARNED);
const RANGES: &[(&str, Ranges)] =
    &[("auto", Ranges::Auto), ("categories", Ranges::Categories), ("overlap", Ranges::Overlap)];
const RANGES_WORDS: [&str; RANGES.len()] = words(RANGES);

/// Where masks are learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learned {
    /// All records are masked together, then split.
    Together,
    /// Masks are learned from the records that classifiers learn from, and applied to the others.
    Train,
}

/// The task.
#[derive(Clone, Debug)]
pub struct Classify {
    /// How records are split.
    pub plan: Plan,
    /// Where masks are learned.
    pub masks: Learned,
    /// How published ranges are understood.
    pub ranges: Ranges,
    /// Whether to measure the table as well, and rank its attributes.
    pub baseline: bool,
    /// Which learn.
    pub classifiers: Vec<Classifier>,
    /// A table whose records are classified instead of some of this one's.
    pub test: Option<PathBuf>,
    /// Whether to give the folds away as tables.
    pub export: bool,
}

fn configure(options: &Options) -> Result<Box<dyn Task>> {
    let plan = match (options.whole_if_any("train")?, options.number_if_any("test_share")?) {
        (Some(_), Some(_)) => {
            return Err(Error::new(
                ErrorCode::BadOption,
                "`train` and `test_share` of the task classify exclude each other",
            ));
        }
        (None, None) => Plan::Folds(options.whole("folds")? as usize),
        (None, Some(share)) => Plan::Share(share),
        (Some(first), None) => Plan::First(first as usize),
    };
    let masks = options.choice("masks", LEARNED)?;
    let ranges = options.choice("ranges", RANGES)?;
    let baseline = options.flag("baseline")?;
    let classifiers = match options.texts("classifiers")? {
        Some(names) => names.iter().map(|name| Classifier::find(name)).collect::<Result<Vec<_>>>()?,
        None => Classifier::USUAL.to_vec(),
    };
    let test = options.text("test")?.map(PathBuf::from);
    if test.is_some() {
        let splits = ["folds", "train", "test_share"].into_iter().find(|key| options.is_written(key));
        if let Some(other) = splits {
            return Err(Error::new(
                ErrorCode::BadOption,
                format!("`test` and `{other}` of the task classify exclude each other"),
            )
            .with_hint("with a test table, all records of the table are learned from"));
        }
        if options.is_written("masks") && masks == Learned::Together {
            return Err(Error::new(ErrorCode::BadOption, "with `test`, masks are learned from the table alone").with_hint(
                "leave out `masks = \"together\"`, or put both tables into one and tell with `train` how many \
                 records to learn from",
            ));
        }
    }
    let masks = if test.is_some() { Learned::Train } else { masks };
    let export = options.flag("export")?;
    Ok(Box::new(Classify { plan, masks, ranges, baseline, classifiers, test, export }))
}

/// The classifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Classifier {
    /// The decision tree.
    Tree,
    /// Naive Bayes.
    Bayes,
    /// Gradient-boosted trees.
    Boosted,
    /// Logistic regression.
    Logistic,
}

impl Classifier {
    /// All of them.
    pub const ALL: [Classifier; 4] =
        [Classifier::Tree, Classifier::Bayes, Classifier::Boosted, Classifier::Logistic];
    /// Those that learn unless others are asked for.
    pub const USUAL: [Classifier; 2] = [Classifier::Tree, Classifier::Bayes];

    /// The one of a name.
    fn find(name: &str) -> Result<Self> {
        Classifier::ALL.into_iter().find(|own| own.name() == name).ok_or_else(|| {
            let names = Classifier::ALL.map(Classifier::name);
            let error = Error::new(ErrorCode::BadOption, format!("there is no classifier \"{name}\""));
            match did_you_mean(name, names) {
                Some(guess) => error.with_hint(format!("did you mean \"{guess}\"?")),
                None => error.with_hint(format!("the classifiers are {}", names.join(", "))),
            }
        })
    }

    /// Its name in figures.
    pub fn name(self) -> &'static str {
        match self {
            Classifier::Tree => "tree",
            Classifier::Bayes => "bayes",
            Classifier::Boosted => "boosted",
            Classifier::Logistic => "logistic",
        }
    }
}

/// How often records of each class were put into each class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confusion {
    /// `counts[true class][class told]`.
    pub counts: Vec<Vec<u64>>,
}

impl Confusion {
    fn new(classes: usize) -> Self {
        Confusion { counts: vec![vec![0; classes]; classes] }
    }

    fn add(mut self, other: &Self) -> Self {
        for (own, other) in self.counts.iter_mut().flatten().zip(other.counts.iter().flatten()) {
            *own += other;
        }
        self
    }

    /// Share of records put into the wrong class.
    pub fn error(&self) -> f64 {
        let all: u64 = self.counts.iter().flatten().sum();
        let right: u64 = self.counts.iter().enumerate().map(|(class, told)| told[class]).sum();
        if all == 0 { 0.0 } else { (all - right) as f64 / all as f64 }
    }

    /// Of each class, the share of its records put into it; `None` if it has none.
    pub fn recall(&self) -> Vec<Option<f64>> {
        let own = |(class, told): (usize, &Vec<u64>)| {
            let all: u64 = told.iter().sum();
            (all > 0).then(|| told[class] as f64 / all as f64)
        };
        self.counts.iter().enumerate().map(own).collect()
    }
}

/// Learns and classifies along one split.
pub fn predictions(data: &Data, split: &Split, classifier: Classifier) -> Predictions {
    let score: Box<dyn Fn(u32) -> Vec<f64> + '_> = match classifier {
        Classifier::Tree => {
            let tree = Tree::learn(data, &split.train);
            Box::new(move |record| tree.scores(data, record))
        }
        Classifier::Bayes => {
            let bayes = Bayes::learn(data, &split.train);
            Box::new(move |record| bayes.scores(data, record))
        }
        Classifier::Boosted => {
            let boosted = Boosted::learn(data, &split.train);
            Box::new(move |record| boosted.scores(data, record))
        }
        Classifier::Logistic => {
            let logistic = Logistic::learn(data, &split.train);
            Box::new(move |record| logistic.scores(data, record))
        }
    };
    let mut told = Predictions::new(data.classes);
    for &record in &split.test {
        let (own, scores) = (data.labels[record as usize], score(record));
        told.confusion.counts[own as usize][tree::largest(&scores) as usize] += 1;
        told.scored.push((own, scores));
    }
    told
}

/// The same, as counts alone.
pub fn confusion(data: &Data, split: &Split, classifier: Classifier) -> Confusion {
    predictions(data, split, classifier).confusion
}

fn over_splits(
    data: &Data,
    splits: &[Split],
    classifier: Classifier,
    watch: &dyn Watch,
) -> Result<Predictions> {
    let parts = parallel::try_map(splits, |split| {
        watch.check()?;
        Ok(predictions(data, split, classifier))
    })?;
    Ok(parts.into_iter().fold(Predictions::new(data.classes), Predictions::and))
}

/// Attributes in the order a tree asks for them: the first choice, the first choice without it, and so on.
pub fn ranking(data: &Data, records: &[u32]) -> Vec<String> {
    let mut left: Vec<usize> = (0..data.features.len()).collect();
    let mut ranked = Vec::new();
    while let Some(best) = first_choice(data, records, &left) {
        left.retain(|feature| *feature != best);
        ranked.push(data.features[best].name.clone());
    }
    ranked
}

/// What was measured with one classifier.
pub(super) struct Measured {
    classifier: Classifier,
    /// Table; without quasi-identifiers; both only where asked for.
    baseline: Option<(Predictions, Predictions)>,
    release: Predictions,
}

impl Task for Classify {
    fn run(&self, study: &Study<'_>, watch: &dyn Watch) -> Result<Outcome> {
        let table = whole_table(study, watch)?;
        let Material { raw, splits, release, labels, split } = match &self.test {
            Some(test) => {
                second_table::material(study, &table, &beside(study.policy.path.as_deref(), test), watch)?
            }
            None => self.material(study, &table, watch)?,
        };
        let exported = match self.export {
            true => export(study, &table, &splits, &release)?,
            false => Vec::new(),
        };
        let mut measured = Vec::new();
        for &classifier in &self.classifiers {
            let baseline = match self.baseline {
                true => Some((
                    over_splits(&raw, &splits, classifier, watch)?,
                    over_splits(&raw.without_quasi(), &splits, classifier, watch)?,
                )),
                false => None,
            };
            let mut sum = Predictions::new(raw.classes);
            for (data, splits) in &release {
                sum = sum.and(over_splits(data, splits, classifier, watch)?);
            }
            measured.push(Measured { classifier, baseline, release: sum });
        }
        let ranked = match (self.baseline, splits.first()) {
            (true, Some(split)) => ranking(&raw, &split.train),
            _ => Vec::new(),
        };
        let linked = study.records.is_some() || self.masks == Learned::Train;
        let class = &study.problem.labels[0].name;
        let asked = report::Asked { class, labels, split, linked };
        Ok(Outcome { exported, ..report::outcome(self, &asked, &measured, &ranked) })
    }
}

/// The table of a study once more, with every column.
pub(super) fn whole_table(study: &Study<'_>, watch: &dyn Watch) -> Result<Table> {
    if study.table.origin().path().is_some_and(is_standard) {
        return Err(Error::new(
            ErrorCode::NeedsFileName,
            "this task reads the table twice and cannot take standard input",
        )
        .with_hint("give the name of a file"));
    }
    read_all(study.open, study.policy, watch)
}

/// What is learned from and what is told.
pub(super) struct Material {
    pub raw: Data,
    pub splits: Vec<Split>,
    /// Masked records with the splits they are for.
    pub release: Vec<(Data, Vec<Split>)>,
    /// The classes.
    labels: Vec<String>,
    /// How records are split, in words.
    pub split: String,
}

/// The names of the classes of a problem that has one.
fn class_labels(problem: &Problem) -> Vec<String> {
    let domain = &problem.labels[0].domain;
    (0..domain.len() as u32).map(|code| domain.label(code).to_owned()).collect()
}

impl Classify {
    /// The records of one table, split.
    pub(super) fn material(&self, study: &Study<'_>, table: &Table, watch: &dyn Watch) -> Result<Material> {
        let problem = study.problem;
        let raw = Data::of_table(problem, study.policy, table)?;
        self.check(problem.len())?;
        let splits = self.plan.splits(problem.len(), problem.seed);
        let (release, split) = match self.masks {
            Learned::Together => (self.released(study, &splits)?, self.words(study)),
            Learned::Train => (learn_masks(study, &raw, &splits, watch)?, self.plan.describe()),
        };
        Ok(Material { raw, splits, release, labels: class_labels(problem), split })
    }

    fn check(&self, records: usize) -> Result<()> {
        let enough = match self.plan {
            Plan::First(first) => first < records,
            Plan::Folds(_) | Plan::Share(_) => records > 1,
        };
        match enough {
            true => Ok(()),
            false => Err(Error::new(
                ErrorCode::BadOption,
                format!("the table has {records} records, which leaves none to classify"),
            )
            .with_hint("set `train` or `folds` under [evaluate.classify] to less")),
        }
    }

    /// The release with its splits: those of the records behind its rows, or where nobody can tell them, of its rows.
    fn released(&self, study: &Study<'_>, splits: &[Split]) -> Result<Vec<(Data, Vec<Split>)>> {
        let data = Data::of_release(study.problem, study.policy, study.release, study.cells, self.ranges)?;
        let Some(records) = study.records else {
            return Ok(vec![(
                data,
                self.plan_of_rows(study).splits(study.release.len(), study.problem.seed),
            )]);
        };
        let mut row_of = vec![None; study.problem.len()];
        for (row, record) in (0..).zip(records) {
            row_of[*record as usize] = Some(row);
        }
        let rows = |records: &[u32]| records.iter().filter_map(|record| row_of[*record as usize]).collect();
        let splits = splits.iter().map(|split| Split { train: rows(&split.train), test: rows(&split.test) });
        Ok(vec![(data, splits.collect())])
    }
}

impl Classify {
    /// How the rows of a release are split whose records nobody can tell: its first rows need not be the first records.
    fn plan_of_rows(&self, study: &Study<'_>) -> Plan {
        match self.plan {
            Plan::First(first) => Plan::Share(1.0 - first as f64 / study.problem.len() as f64),
            plan => plan,
        }
    }

    /// How records are split, in words.
    fn words(&self, study: &Study<'_>) -> String {
        let (rows, table) = (self.plan_of_rows(study), self.plan.describe());
        match study.records {
            None if rows != self.plan => format!(
                "for the table, {table}; for the release, whose rows need not come in its order, {}",
                rows.describe()
            ),
            _ => table,
        }
    }
}

/// Masks learned from the training records of each split, and applied to all records.
fn learn_masks(
    study: &Study<'_>,
    raw: &Data,
    splits: &[Split],
    watch: &dyn Watch,
) -> Result<Vec<(Data, Vec<Split>)>> {
    let problem = study.problem;
    splits
        .iter()
        .map(|split| {
            let part: Problem = problem.of_records(&split.train);
            let solution = study.solver.solve(&part, watch)?;
            let masks = solution.masks().ok_or_else(|| no_masks(study, "leave out `masks = \"train\"`"))?;
            let own = Split { train: split.train.clone(), test: split.test.clone() };
            Ok((raw.masked(problem, masks), vec![own]))
        })
        .collect()
}

fn no_masks(study: &Study<'_>, or: &str) -> Error {
    if study.problem.rules.any_hard() {
        return Error::new(
            ErrorCode::NoMasks,
            "with a hard rule masks are learned part by part, which this task does not take",
        )
        .with_hint(format!("leave the rule out or make it soft, or {or}"));
    }
    Error::new(
        ErrorCode::NoMasks,
        format!(
            "the method {} does not learn masks that other records could be masked with",
            study.policy.method.name
        ),
    )
    .with_hint(format!("use the method refine, or {or}"))
}
