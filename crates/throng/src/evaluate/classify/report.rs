//! The figures of `classify`, in JSON and in words.

use serde_json::{Map, Value, json};

use super::{Classifier, Classify, Learned, Measured, Predictions};
use crate::evaluate::Outcome;
use crate::report::{Block, Chart, Section, Series, Unit};

/// What was asked for.
pub(super) struct Asked<'a> {
    /// The attribute that is predicted.
    pub class: &'a str,
    /// Its classes.
    pub labels: Vec<String>,
    /// How records are split, in words.
    pub split: String,
    /// Whether the record behind each row of the release is known.
    pub linked: bool,
}

pub(super) fn outcome(
    task: &Classify,
    asked: &Asked<'_>,
    measured: &[Measured],
    ranked: &[String],
) -> Outcome {
    let labels = &asked.labels;
    let mut figures = Map::new();
    figures.insert("class".to_owned(), json!(asked.class));
    figures.insert("split".to_owned(), json!(asked.split));
    for own in measured {
        figures.insert(own.classifier.name().to_owned(), figures_of(own, labels));
    }
    if task.baseline {
        figures.insert("ranking".to_owned(), json!(ranked));
    }
    let mut sections = vec![errors_section(task, asked, measured)];
    sections.extend(measured.iter().map(|own| confusion_section(own, labels)));
    if !ranked.is_empty() {
        sections.push(Section {
            heading: "Attributes by rank".to_owned(),
            blocks: vec![Block::Words(format!(
                "What a tree asks for first, then without that attribute, and so on: {}.",
                ranked.join(", ")
            ))],
        });
    }
    Outcome { figures, headline: measured.iter().map(headline).collect(), sections, exported: Vec::new() }
}

fn figures_of(own: &Measured, labels: &[String]) -> Value {
    let mut figures = Map::new();
    let mut put = |name: &str, told: &Predictions| {
        let confusion = &told.confusion;
        figures.insert(format!("{name}_auc"), json!(told.auc()));
        figures.insert(format!("{name}_macro_f1"), json!(told.macro_f1()));
        let f1: Map<String, Value> =
            labels.iter().cloned().zip(told.f1().into_iter().map(|share| json!(share))).collect();
        figures.insert(format!("{name}_f1"), Value::Object(f1));
        figures.insert(format!("{name}_error"), json!(confusion.error()));
        figures.insert(format!("{name}_confusion"), json!(confusion.counts));
        let recall: Map<String, Value> =
            labels.iter().cloned().zip(confusion.recall().into_iter().map(|share| json!(share))).collect();
        figures.insert(format!("{name}_recall"), Value::Object(recall));
    };
    put("anonymity", &own.release);
    if let Some((table, without)) = &own.baseline {
        put("baseline", table);
        put("upper", without);
    }
    Value::Object(figures)
}

fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

fn title(classifier: Classifier) -> &'static str {
    match classifier {
        Classifier::Tree => "Decision tree",
        Classifier::Bayes => "Naive Bayes",
        Classifier::Boosted => "Gradient-boosted trees",
        Classifier::Logistic => "Logistic regression",
    }
}

fn headline(own: &Measured) -> String {
    let error = own.release.error();
    match &own.baseline {
        None => format!(
            "{}: {} of the released records are misclassified.",
            title(own.classifier),
            percent(error)
        ),
        Some((table, without)) => format!(
            "{}: {} misclassified from the release, {} from the table, {} without quasi-identifiers.",
            title(own.classifier),
            percent(error),
            percent(table.error()),
            percent(without.error())
        ),
    }
}

fn errors_section(task: &Classify, asked: &Asked<'_>, measured: &[Measured]) -> Section {
    let mut words = format!("Share of records put into the wrong class; {}.", asked.split);
    words.push_str(match task.masks {
        Learned::Together => " All records were masked together, then split.",
        Learned::Train => " Masks were learned from the records that classifiers learned from.",
    });
    if !asked.linked {
        words.push_str(
            " Nobody can tell the record behind a row of the release, so its rows were split by themselves.",
        );
    }
    let column = |name: &str, error: &dyn Fn(&Measured) -> Option<f64>| Series {
        name: name.to_owned(),
        values: measured.iter().map(error).collect(),
    };
    let mut series = vec![column("release (anonymity error)", &|own| Some(own.release.error()))];
    if task.baseline {
        series.push(column("table (baseline error)", &|own| Some(own.baseline.as_ref()?.0.error())));
        let upper = |own: &Measured| Some(own.baseline.as_ref()?.1.error());
        series.push(column("without quasi-identifiers (upper error)", &upper));
    }
    let chart = Chart {
        title: "Classification error".to_owned(),
        words: "Lower is better.".to_owned(),
        across: "classifier".to_owned(),
        places: measured.iter().map(|own| title(own.classifier).to_owned()).collect(),
        series,
        unit: Unit::Share,
        log: false,
    };
    let blocks = vec![Block::Words(words), Block::Bars(chart), ranks_table(measured)];
    Section { heading: "Errors".to_owned(), blocks }
}

/// The area under the ROC curve and F1, from the release and from the table.
fn ranks_table(measured: &[Measured]) -> Block {
    let share = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"));
    let row = |own: &Measured| {
        let table = own.baseline.as_ref().map(|(table, _)| table);
        vec![
            title(own.classifier).to_owned(),
            share(own.release.auc()),
            share(table.and_then(Predictions::auc)),
            share(own.release.macro_f1()),
            share(table.and_then(Predictions::macro_f1)),
        ]
    };
    let head = ["classifier", "AUC, release", "AUC, table", "F1, release", "F1, table"];
    Block::Table { head: head.map(str::to_owned).to_vec(), rows: measured.iter().map(row).collect() }
}

fn confusion_section(own: &Measured, labels: &[String]) -> Section {
    let mut blocks = Vec::new();
    let mut all = vec![("release", &own.release)];
    if let Some((table, without)) = &own.baseline {
        all.extend([("table", table), ("without quasi-identifiers", without)]);
    }
    for (name, told) in all {
        let confusion = &told.confusion;
        let mut head = vec![format!("{name}: class")];
        head.extend(labels.iter().map(|label| format!("told {label}")));
        head.push("found of the class".to_owned());
        let rows = labels.iter().zip(&confusion.counts).zip(confusion.recall());
        let rows = rows.map(|((label, told), recall)| {
            let mut cells = vec![label.clone()];
            cells.extend(told.iter().map(u64::to_string));
            cells.push(recall.map_or_else(String::new, percent));
            cells
        });
        blocks.push(Block::Table { head, rows: rows.collect() });
    }
    Section { heading: format!("{}: what was told", title(own.classifier)), blocks }
}
