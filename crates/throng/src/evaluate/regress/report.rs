//! The figures of `regress`, in JSON and in words.

use serde_json::{Map, Value, json};

use super::{Errors, Measured};
use crate::evaluate::Outcome;
use crate::report::{Block, Section};
use crate::schema::spelling::Measured as Unit;

/// What was asked for.
pub(super) struct Asked<'a> {
    /// The attribute that is predicted.
    pub target: &'a str,
    /// What it measures.
    pub unit: Unit,
    /// How records are split, in words.
    pub split: String,
    /// Whether the record behind each row of the release is known.
    pub linked: bool,
}

pub(super) fn outcome(asked: &Asked<'_>, measured: &[Measured]) -> Outcome {
    let mut figures = Map::new();
    figures.insert("target".to_owned(), json!(asked.target));
    figures.insert("split".to_owned(), json!(asked.split));
    for own in measured {
        figures.insert(own.name.to_owned(), figures_of(own));
    }
    Outcome {
        figures,
        headline: measured.iter().map(|own| headline(asked, own)).collect(),
        sections: vec![section(asked, measured)],
        exported: Vec::new(),
    }
}

fn figures_of(own: &Measured) -> Value {
    let mut figures = Map::new();
    let mut put = |name: &str, errors: Errors| {
        figures.insert(format!("{name}_mean_error"), json!(errors.mean()));
        figures.insert(format!("{name}_rmse"), json!(errors.rmse()));
        figures.insert(format!("{name}_r2"), json!(errors.r2()));
        figures.insert(format!("{name}_rmse_of_mean"), json!(errors.rmse_of_mean()));
    };
    put("anonymity", own.release);
    if let Some((table, without)) = own.baseline {
        put("baseline", table);
        put("upper", without);
    }
    Value::Object(figures)
}

fn unit(asked: &Asked<'_>) -> &'static str {
    match asked.unit {
        Unit::Numbers => "",
        Unit::Dates => " days",
        Unit::Times => " seconds",
    }
}

/// Four digits are more than such figures are good for.
fn figure(value: f64) -> String {
    match value.abs() {
        size if size >= 1000.0 || size == 0.0 => format!("{value:.0}"),
        size => format!("{value:.*}", (3.0 - size.log10().floor()).clamp(0.0, 9.0) as usize),
    }
}

fn share(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"))
}

fn headline(asked: &Asked<'_>, own: &Measured) -> String {
    let off = |errors: Errors| format!("{}{}", figure(errors.mean()), unit(asked));
    let others = match own.baseline {
        None => String::new(),
        Some((table, without)) => {
            format!(", {} from the table, {} without quasi-identifiers", off(table), off(without))
        }
    };
    format!(
        "{}: \"{}\" is off by {} on average from the release{others}.",
        own.title,
        asked.target,
        off(own.release)
    )
}

fn section(asked: &Asked<'_>, measured: &[Measured]) -> Section {
    let mut words = format!(
        "How far predictions of \"{}\" are off; {}. R² is the share of the variance that is explained, 0 for whoever tells the mean of \
         the records learned from; below 0 is worse than that. All records were masked together, then split.",
        asked.target, asked.split
    );
    if !asked.linked {
        words.push_str(
            " Nobody can tell the record behind a row of the release, so its rows were split by themselves.",
        );
    }
    let mut rows = Vec::new();
    for own in measured {
        let mut all = vec![("release", own.release)];
        if let Some((table, without)) = own.baseline {
            all.extend([("table", table), ("without quasi-identifiers", without)]);
        }
        for (from, errors) in all {
            rows.push(vec![
                own.title.to_owned(),
                from.to_owned(),
                format!("{}{}", figure(errors.mean()), unit(asked)),
                format!("{}{}", figure(errors.rmse()), unit(asked)),
                share(errors.r2()),
                format!("{}{}", figure(errors.rmse_of_mean()), unit(asked)),
            ]);
        }
    }
    let head = ["learner", "learned from", "mean error", "RMSE", "R²", "RMSE of the mean"];
    let table = Block::Table { head: head.map(str::to_owned).to_vec(), rows };
    Section { heading: "Errors".to_owned(), blocks: vec![Block::Words(words), table] }
}
