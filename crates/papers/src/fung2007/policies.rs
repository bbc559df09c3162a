//! Tables and policies of the experiments.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde_json::Value;
use throng::policy::Policy;
use throng::run::Evaluate;
use throng::watch::Unwatched;
use throng::{Error, ErrorCode, Result};

use crate::Setting;

/// The attributes of Adult that the paper ranks highest, in its order.
pub const TOP: [&str; 9] = [
    "capital-gain",
    "age",
    "marital-status",
    "education-num",
    "relationship",
    "hours-per-week",
    "sex",
    "education",
    "occupation",
];

/// All attributes of Adult, and whether they are numbers.
pub const ADULT: [(&str, bool); 14] = [
    ("age", true),
    ("workclass", false),
    ("fnlwgt", true),
    ("education", false),
    ("education-num", true),
    ("marital-status", false),
    ("occupation", false),
    ("relationship", false),
    ("race", false),
    ("sex", false),
    ("capital-gain", true),
    ("capital-loss", true),
    ("hours-per-week", true),
    ("native-country", false),
];

/// How categories are masked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Masking {
    Suppression,
    Taxonomies,
}

/// A table, the number of its first records that are for training, and the folder of the data sets.
pub struct Adult<'a> {
    pub table: PathBuf,
    pub train: usize,
    pub setting: &'a Setting,
}

/// Adult, training and test set in one file.
pub fn adult<'a>(setting: &'a Setting, folder: &Path) -> Result<Adult<'a>> {
    let table = folder.join("adult.csv");
    let parts = [setting.file("adult.train.complete.csv.zst")?, setting.file("adult.test.complete.csv.zst")?];
    let train = concatenate(&parts, &table, if setting.quick { 6000 } else { usize::MAX })?;
    Ok(Adult { table, train, setting })
}

/// Writes the rows of several tables with the same header one after the other; gives back how many the first has.
pub fn concatenate(parts: &[PathBuf], target: &Path, most: usize) -> Result<usize> {
    let mut text = String::new();
    let mut first = 0;
    for (number, part) in parts.iter().enumerate() {
        let fail = |cause: std::io::Error| Error::io(ErrorCode::CannotRead, "read", part, &cause);
        let file = std::fs::File::open(part).map_err(fail)?;
        let lines = BufReader::new(zstd::Decoder::new(file).map_err(fail)?).lines();
        for (row, line) in lines.enumerate().skip(usize::from(number > 0)).take(most.saturating_add(1)) {
            text.push_str(&line.map_err(fail)?);
            text.push('\n');
            first += usize::from(number == 0 && row > 0);
        }
    }
    std::fs::write(target, text)
        .map_err(|cause| Error::io(ErrorCode::CannotWrite, "write", target, &cause))?;
    Ok(first)
}

impl Adult<'_> {
    /// A policy text: `privacy`, the options of `classify`, and the attributes that are masked. Groups of a taxonomy are
    /// refined into all their children, as in the paper.
    pub fn policy(&self, privacy: &str, options: &str, masked: &[&str], masking: Masking) -> Result<Policy> {
        let mut text = format!(
            "[privacy]\n{privacy}\n[method]\nname = \"refine\"\nchildren = \"all\"\nseed = 7\n\
             [evaluate.classify]\n{options}\n[attribute.salary-class]\nrole = \"class\"\n"
        );
        for name in masked {
            let numeric = ADULT.iter().any(|(own, numeric)| own == name && *numeric);
            let kind = if numeric { "numeric" } else { "categorical" };
            let _ = write!(text, "[attribute.{name}]\nrole = \"quasi\"\nkind = \"{kind}\"\n");
            if !numeric && masking == Masking::Taxonomies {
                text.push_str(&self.setting.hierarchy("adult-arx-full", name)?);
            }
        }
        Policy::parse(&text, None)
    }

    /// The option that splits the table as it came.
    pub fn presplit(&self) -> String {
        format!("train = {}", self.train)
    }

    /// The figures of `classify` under a policy.
    pub fn classify(&self, policy: Policy) -> Result<Value> {
        classify(&self.table, policy)
    }
}

/// The figures of `classify` on a table.
pub fn classify(table: &Path, policy: Policy) -> Result<Value> {
    let evaluate = Evaluate {
        data: table.to_owned(),
        policy,
        release: None,
        task: "classify".to_owned(),
        secret: None,
        registry: Default::default(),
    };
    Ok(Value::Object(evaluate.run(&Unwatched)?.figures))
}

/// An error of a classifier among the figures.
pub fn error(figures: &Value, classifier: &str, which: &str) -> Result<f64> {
    figures[classifier][format!("{which}_error")]
        .as_f64()
        .ok_or_else(|| Error::bug(format!("no {which} error of {classifier}")))
}
