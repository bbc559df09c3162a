//! The best privacy for a utility.

use crate::method::facts::{Frontier, FrontierStep};
use crate::report::page::{Block, Chart, Section, Series};
use crate::report::svg::Unit;

pub(super) fn notes(found: &Frontier) -> Vec<String> {
    vec![format!("k = {} is the largest k found with {}.", found.k, found.asked)]
}

pub(super) fn section(found: &Frontier) -> Section {
    let figure = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.4}"));
    let row = |step: &FrontierStep| {
        let met = if step.met { "yes" } else { "no" };
        vec![step.k.to_string(), figure(Some(step.gcp)), figure(step.query_error), met.to_owned()]
    };
    Section {
        heading: "The best privacy for this utility".to_owned(),
        blocks: vec![
            Block::Words(format!(
                "Asked for {}. k was doubled while that held, then the gap was halved; k = {} is the largest that \
                 held. Loss need not grow with every step of k, so larger k were not all tried.",
                found.asked, found.k
            )),
            Block::Lines(chart(&found.steps)),
            Block::Table {
                head: ["k", "loss (GCP)", "mean query error", "within the target"]
                    .map(str::to_owned)
                    .to_vec(),
                rows: found.steps.iter().map(row).collect(),
            },
        ],
    }
}

fn chart(steps: &[FrontierStep]) -> Chart {
    let line = |name: &str, value: fn(&FrontierStep) -> Option<f64>| Series {
        name: name.to_owned(),
        values: steps.iter().map(value).collect(),
    };
    let mut series = vec![line("loss", |step| Some(step.gcp))];
    if steps.iter().any(|step| step.query_error.is_some()) {
        series.push(line("query error", |step| step.query_error));
    }
    Chart {
        title: "The frontier".to_owned(),
        words: "What each k costs that was tried.".to_owned(),
        across: "k".to_owned(),
        places: steps.iter().map(|step| step.k.to_string()).collect(),
        series,
        unit: Unit::Share,
        log: false,
    }
}
