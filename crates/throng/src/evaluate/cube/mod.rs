//! How far the data cube of a release is from that of the table.
//!
//! Ghinita et al. 2009, section 7.4. Level i of the cube holds all group-bys over i quasi-identifiers with a count per
//! sensitive value. The table's cells are a distribution P, those that a recipient computes from the release another
//! one, Q: a generalized record is spread evenly over the cells of its class's box, a permuted one has the shares of the
//! sensitive values in its group. The divergence is Σ P·ln(P/Q) over cells with P > 0; a Q of 0, which only suppressed
//! records cause, counts as 10⁻¹². The group-bys of a level weigh the same, so its divergence is their mean.
//!
//! Only cells that occur in the table are kept ([`divergence`]), never the whole cube.

pub mod divergence;

use divergence::{Shape, View};
use serde_json::json;

use super::{Entry, Outcome, Study, Task};
use crate::audit::{codes_of, permutation};
use crate::collections::Arrange;
use crate::error::{Error, ErrorCode, Result};
use crate::method::options::{OptionKind, OptionSpec, words};
use crate::release::Publish;
use crate::report::{Block, Chart, Section, Series, Unit};
use crate::watch::Watch;

/// The registry entry.
pub const CUBE: Entry = Entry {
    name: "cube",
    summary: "how far counts by quasi-identifiers and sensitive value are from the table's, by level of the data cube",
    citation: "Ghinita, Karras, Kalnis, Mamoulis: A framework for efficient data anonymization, TODS 2009",
    options: &[
        OptionSpec {
            name: "levels",
            kind: OptionKind::Whole { least: 1, default: Some(4) },
            help: "the highest level of the cube, the number of attributes that are counted by",
        },
        OptionSpec {
            name: "publish",
            kind: OptionKind::Choice { words: &PUBLISH_WORDS },
            help: "how a release that is made for it is published",
        },
    ],
    configure: |options| {
        let levels = options.whole("levels")? as usize;
        Ok(Box::new(Cube { levels, publish: options.choice("publish", PUBLISH)? }))
    },
};

const PUBLISH: &[(&str, Publish)] = &[("cells", Publish::Cells), ("permutation", Publish::Permutation)];
const PUBLISH_WORDS: [&str; PUBLISH.len()] = words(PUBLISH);

/// The task.
#[derive(Clone, Copy, Debug)]
pub struct Cube {
    /// The highest level that is computed.
    pub levels: usize,
    /// How a release that is made for it is published.
    pub publish: Publish,
}

impl Task for Cube {
    fn publish(&self) -> Publish {
        self.publish
    }

    fn run(&self, study: &Study<'_>, watch: &dyn Watch) -> Result<Outcome> {
        let [counted] = &study.problem.sensitive[..] else {
            let found = study.problem.sensitive.len();
            return Err(Error::new(
                ErrorCode::NotOneSensitive,
                format!("the cube counts one sensitive attribute, found {found}"),
            )
            .with_hint("write role = \"sensitive\" in the section of one attribute"));
        };
        let view = match study.measures.permuted {
            true => permuted_view(study)?,
            false => generalized_view(study, &codes_of(counted, study.release)?),
        };
        let levels = self.levels.min(study.problem.attributes.len());
        let mut divergences = Vec::with_capacity(levels);
        for level in 1..=levels {
            divergences.push(divergence::of_level(study.problem, &view, level, watch)?);
        }
        Ok(outcome(&divergences))
    }
}

fn outcome(divergences: &[f64]) -> Outcome {
    let places: Vec<String> = (1..=divergences.len()).map(|level| level.to_string()).collect();
    let level = |(place, value): (&String, &f64)| json!({ "level": place.parse::<u64>().ok(), "kld": value });
    let levels: Vec<serde_json::Value> = places.iter().zip(divergences).map(level).collect();
    let chart = Chart {
        title: "Divergence by level".to_owned(),
        words: "0 would be a release that answers every group-by as the table does.".to_owned(),
        across: "quasi-identifiers in a group-by".to_owned(),
        places,
        series: vec![Series {
            name: "divergence".to_owned(),
            values: divergences.iter().copied().map(Some).collect(),
        }],
        unit: Unit::Count,
        log: false,
    };
    let told = divergences.iter().zip(1..).map(|(value, level)| format!("{value:.4} at level {level}"));
    let told = told.collect::<Vec<_>>().join(", ");
    Outcome {
        exported: Vec::new(),
        figures: [("levels".to_owned(), json!(levels))].into_iter().collect(),
        headline: vec![format!("The cube of the release diverges from the table's by {told}.")],
        sections: vec![Section { heading: "The data cube".to_owned(), blocks: vec![Block::Bars(chart)] }],
    }
}

/// The classes of a generalized release.
fn generalized_view(study: &Study<'_>, codes: &[u32]) -> View {
    let problem = study.problem;
    let columns: Vec<&[u32]> =
        (0..problem.attributes.len()).map(|at| study.cells.of_attribute(at).1).collect();
    let ranges: Vec<Vec<divergence::Range>> = problem
        .attributes
        .iter()
        .enumerate()
        .map(|(at, attribute)| {
            let cells = study.cells.of_attribute(at).0;
            cells.iter().map(|cell| divergence::Range::of_cell(&attribute.domain, cell)).collect()
        })
        .collect();
    let mut rows: Vec<u32> = (0..study.release.len() as u32).collect();
    let key = |row: u32| columns.iter().map(move |column| column[row as usize]);
    rows.arrange_by(|a, b| key(*a).cmp(key(*b)));
    let shapes = rows
        .chunk_by(|a, b| key(*a).eq(key(*b)))
        .map(|class| Shape {
            ranges: key(class[0]).zip(&ranges).map(|(cell, ranges)| ranges[cell as usize]).collect(),
            counts: divergence::counts(class.iter().map(|row| codes[*row as usize])),
        })
        .collect();
    View::Boxes { shapes, published: study.release.len() }
}

/// The rows and groups of a permuted release.
fn permuted_view(study: &Study<'_>) -> Result<View> {
    let problem = study.problem;
    let values = permutation::groups(problem, study.release, study.sensitive)?
        .ok_or_else(|| Error::bug("a permuted release without groups"))?;
    let groups = study.release.numbers(values.column).to_vec();
    let codes = (0..problem.attributes.len())
        .map(|at| {
            let (cells, of_row) = study.cells.of_attribute(at);
            let domain = &problem.attributes[at].domain;
            let code: Vec<u32> =
                cells.iter().map(|cell| divergence::Range::of_cell(domain, cell).low).collect();
            of_row.iter().map(|cell| code[*cell as usize]).collect()
        })
        .collect();
    let counts = values
        .of_group
        .into_iter()
        .map(|group| group.into_iter().map(|(value, count)| (value, count as f64)).collect())
        .collect();
    Ok(View::Rows { codes, groups, counts })
}
