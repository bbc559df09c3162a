//! `--task queries`: how well a release answers COUNT, SUM and AVG queries.
//!
//! Xu et al. 2006, section 5, after LeFevre et al. 2006. A query asks for records in a range of each attribute; its
//! answer from the table is compared with what the release lets somebody estimate, who takes the records of a class to
//! be spread evenly over the cells: over the whole numbers of a range where all values are whole, else over its length;
//! over the leaves below a node. The error of a query is |estimate − exact| / exact; queries with an exact answer of 0
//! have none and are counted apart.
//!
//! Queries are drawn at random, or written down in the policy or in a file ([`written`]). They may ask about everything that is
//! published: quasi-identifiers, sensitive and class attributes, and columns that are passed through. Where the release is one by
//! permutation, a record has each sensitive value of its group as likely as the group has it, so that its exact quasi-identifiers do
//! not make it look perfect.
//!
//! Cost: O(queries × (records + classes × attributes)), queries in parallel.

mod columns;

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{Entry, Outcome, Study, Task, beside};
use crate::audit::{Cells, Received};
pub use crate::condition::Condition;
use crate::error::{Error, ErrorCode, Result};
use crate::method::options::{Numbers, OptionKind, OptionSpec};
use crate::method::{Recoding, Solution};
use crate::policy::Policy;
use crate::privacy::OwnQueries;
use crate::problem::{Problem, Protected};
use crate::report::{Block, Chart, Section, Series, Unit};
use crate::table::Scale;
use crate::watch::Watch;
use crate::workload::draw::Drawing;
pub use crate::workload::{self, Answered, Errors, Query, answer, draw, written};
use crate::workload::{Aggregate, Answerer, Column, Place, Spread, Told, quantile, sorted_errors};
use written::Asked;

/// Queries are kept with their answers; more than these would take gigabytes.
const MOST_QUERIES: u64 = 1_000_000;

/// The registry entry.
pub const QUERIES: Entry = Entry {
    name: "queries",
    summary: "how far COUNT, SUM and AVG queries on the release are off",
    citation: "Xu, Wang, Pei, Wang, Shi, Fu: Utility-based anonymization using local recoding, KDD 2006",
    options: &[
        OptionSpec {
            name: "count",
            kind: OptionKind::Whole { least: 1, default: Some(1000) },
            help: "queries that are drawn for each aggregate",
        },
        OptionSpec {
            name: "seed",
            kind: OptionKind::Whole { least: 0, default: Some(1) },
            help: "the seed they are drawn from",
        },
        OptionSpec {
            name: "attributes",
            kind: OptionKind::Texts,
            help: "the columns that drawn queries restrict, of all that are published; all quasi-identifiers without it",
        },
        OptionSpec {
            name: "sum",
            kind: OptionKind::Text,
            help: "the numeric column that is summed; the first quasi-identifier that is one without it",
        },
        OptionSpec {
            name: "average",
            kind: OptionKind::Text,
            help: "a numeric column whose mean is asked for too",
        },
        OptionSpec {
            name: "selectivity",
            kind: OptionKind::Number { allowed: Numbers::SHARE, default: Some(0.0) },
            help: "the least share of the records that a drawn query looks at",
        },
        OptionSpec {
            name: "file",
            kind: OptionKind::Text,
            help: "a file with queries, which then are the only ones",
        },
        OptionSpec {
            name: "queries",
            kind: OptionKind::Structured,
            help: "queries of your own, which then are the only ones",
        },
    ],
    configure: |options| {
        let count = options.whole("count")?;
        if count > MOST_QUERIES {
            return Err(Error::new(
                ErrorCode::BadOption,
                format!("count = {count} is more queries than fit into memory"),
            )
            .with_hint(format!("draw at most {MOST_QUERIES}; a thousand tell as much")));
        }
        Ok(Box::new(Queries {
            count: count as usize,
            seed: options.whole("seed")?,
            attributes: options.texts("attributes")?,
            sum: options.text("sum")?.map(str::to_owned),
            average: options.text("average")?.map(str::to_owned),
            selectivity: options.number("selectivity")?,
            file: options.text("file")?.map(PathBuf::from),
            written: options.structured("queries")?.cloned(),
        }))
    },
};

/// The task.
#[derive(Clone, Debug, Default)]
pub struct Queries {
    /// Number of queries that are drawn for each aggregate.
    pub count: usize,
    /// Their seed.
    pub seed: u64,
    /// The columns that drawn queries restrict; all quasi-identifiers without it.
    pub attributes: Option<Vec<String>>,
    /// The numeric column that is summed; the first quasi-identifier that is one without it.
    pub sum: Option<String>,
    /// A numeric column whose mean is asked for too.
    pub average: Option<String>,
    /// The least share of the records that a drawn query looks at.
    pub selectivity: f64,
    /// A file with queries, which then are the only ones.
    pub file: Option<PathBuf>,
    /// Queries of the policy, which then are the only ones.
    pub written: Option<toml::Value>,
}

impl Queries {
    /// The workloads: a name and its queries each.
    pub fn workloads(&self, study: &Study<'_>, further: &[Column<'_>]) -> Result<Vec<(String, Vec<Query>)>> {
        let problem = study.problem;
        let asked = Asked { data: problem, further };
        if let Some(file) = &self.file {
            let path = beside(study.policy.path.as_deref(), file);
            return Ok(vec![("written".to_owned(), written::read_file(&asked, &path)?)]);
        }
        if let Some(written) = &self.written {
            return Ok(vec![("written".to_owned(), written::read_value(&asked, written)?)]);
        }
        let quasi: Vec<Place> = (0..problem.attributes.len()).map(Place::Quasi).collect();
        let restricted = match &self.attributes {
            Some(names) => names.iter().map(|name| asked.place(name)).collect::<Result<Vec<Place>>>()?,
            None => quasi.clone(),
        };
        let mut workloads = vec![("COUNT".to_owned(), Aggregate::Count, restricted.clone())];
        let without = |place: Place| restricted.iter().copied().filter(|own| *own != place).collect();
        let numeric = |place: &&Place| matches!(asked.domain(**place).scale(), Scale::Numeric { .. });
        let summed = match &self.sum {
            Some(name) => Some(asked.numeric(name)?),
            None => quasi.iter().find(numeric).copied(),
        };
        if let Some(place) = summed {
            workloads.push((format!("SUM of {}", asked.name(place)), Aggregate::Sum(place), without(place)));
        }
        if let Some(name) = &self.average {
            let place = asked.numeric(name)?;
            workloads.push((format!("AVG of {name}"), Aggregate::Average(place), without(place)));
        }
        // What a release is asked about first is who has which sensitive value.
        if self.attributes.is_none() {
            let sensitive = |own: &Column<'_>| problem.sensitive.iter().any(|known| known.name == own.name);
            for (at, own) in further.iter().enumerate().filter(|(_, own)| sensitive(own)) {
                let all = quasi.iter().copied().chain([Place::Further(at)]).collect();
                workloads.push((format!("COUNT with {}", own.name), Aggregate::Count, all));
            }
        }
        let draw = |(name, aggregate, restricted): (String, Aggregate, Vec<Place>)| {
            Ok((name, self.drawn(problem, further, restricted, aggregate)?))
        };
        workloads.into_iter().map(draw).collect()
    }

    fn drawn(
        &self,
        problem: &Problem,
        further: &[Column<'_>],
        restricted: Vec<Place>,
        aggregate: Aggregate,
    ) -> Result<Vec<Query>> {
        let mut drawing = Drawing::new(problem, further, restricted, aggregate, self.seed);
        if self.selectivity <= 0.0 {
            return Ok((0..self.count).map(|_| drawing.next_query()).collect());
        }
        let queries = drawing.that_match(self.count, self.selectivity * problem.len() as f64);
        match queries.is_empty() {
            false => Ok(queries),
            true => Err(Error::new(
                ErrorCode::NoQueryMatches,
                format!("no query that was drawn looks at {} of the records", self.selectivity),
            )
            .with_hint("lower selectivity, or let fewer attributes be restricted")),
        }
    }
}

impl Task for Queries {
    fn run(&self, study: &Study<'_>, watch: &dyn Watch) -> Result<Outcome> {
        let further = columns::published(study)?;
        let workloads = self.workloads(study, &further)?;
        let spread = Spread::of_cells(study.problem, study.cells, study.release.len());
        let answerer = Answerer::with(study.problem, &further);
        let mut outcome = Outcome::default();
        let mut figures = Vec::new();
        let mut curves = Vec::new();
        let written = self.file.is_some() || self.written.is_some();
        for (name, queries) in &workloads {
            watch.check()?;
            let answered = answerer.answer(queries, &spread);
            let errors = Errors::of(&answered);
            outcome.headline.push(in_words(name, &errors));
            figures.push(json!({ "name": name, "errors": errors, "queries": answered }));
            curves.push(curve(name, &answered));
            if written {
                outcome.sections.push(told_one_by_one(&answered));
            }
        }
        outcome.sections.insert(0, overview(&figures, curves));
        if let Some(Value::Number(mean)) = figures.first().map(|workload| workload["errors"]["mean"].clone())
        {
            outcome.figures.insert("mean_error".to_owned(), Value::Number(mean));
        }
        outcome.figures.insert("workloads".to_owned(), Value::Array(figures));
        Ok(outcome)
    }
}

fn in_words(name: &str, errors: &Errors) -> String {
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    match (errors.mean, errors.median) {
        (Some(mean), Some(median)) => format!(
            "{name} queries are off by {} on average, half of them by less than {} ({} queries; {} more match no record).",
            percent(mean),
            percent(median),
            errors.answered,
            errors.dropped
        ),
        _ => format!("None of the {} {name} queries matches a record of the table.", errors.dropped),
    }
}

/// The error below which each tenth of the queries lies.
fn curve(name: &str, answered: &[Answered]) -> Series {
    let errors = sorted_errors(answered);
    let values = (1..10).map(|tenth| quantile(&errors, f64::from(tenth) / 10.0)).collect();
    Series { name: name.to_owned(), values }
}

fn overview(figures: &[Value], series: Vec<Series>) -> Section {
    let percent =
        |value: &Value| value.as_f64().map_or("–".to_owned(), |share| format!("{:.1} %", 100.0 * share));
    let row = |workload: &Value| {
        let errors = &workload["errors"];
        vec![
            workload["name"].as_str().unwrap_or_default().to_owned(),
            errors["answered"].to_string(),
            errors["dropped"].to_string(),
            percent(&errors["mean"]),
            percent(&errors["median"]),
            percent(&errors["ninth_decile"]),
        ]
    };
    let head = ["queries", "answered", "match no record", "mean error", "median", "9 of 10 below"];
    let chart = Chart {
        title: "Error of the queries".to_owned(),
        words: "For each share of the queries, the relative error that they stay below.".to_owned(),
        across: "share of the queries".to_owned(),
        places: (1..10).map(|tenth| format!("{tenth}0 %")).collect(),
        series,
        unit: Unit::Share,
        log: false,
    };
    Section {
        heading: "Queries on the release".to_owned(),
        blocks: vec![
            Block::Words(
                "Each query is answered from the table and estimated from the release, taking records to be spread \
                 evenly over the cells of their class."
                    .to_owned(),
            ),
            Block::Table {
                head: head.map(str::to_owned).to_vec(),
                rows: figures.iter().map(row).collect(),
            },
            Block::Lines(chart),
        ],
    }
}

/// At most this many queries are listed on a page; the JSON has all.
const LISTED: usize = 200;

fn told_one_by_one(answered: &[Answered]) -> Section {
    let row = |query: &Answered| {
        vec![
            query.name.clone(),
            rounded(query.exact, 0),
            rounded(query.estimate, 1),
            query.error.map_or("–".to_owned(), |error| format!("{:.1} %", 100.0 * error)),
        ]
    };
    let head = ["query", "from the table", "from the release", "error"];
    Section {
        heading: "Query by query".to_owned(),
        blocks: vec![Block::Table {
            head: head.map(str::to_owned).to_vec(),
            rows: answered.iter().take(LISTED).map(row).collect(),
        }],
    }
}

/// A number with so many decimals; what is rounded to 0 has no sign.
fn rounded(number: f64, decimals: usize) -> String {
    let text = format!("{number:.decimals$}");
    let is_zero = text.trim_start_matches('-').chars().all(|digit| matches!(digit, '0' | '.'));
    if is_zero { text.trim_start_matches('-').to_owned() } else { text }
}

/// The mean error of drawn COUNT queries on a release that is not written yet.
pub fn mean_error(problem: &Problem, solution: &Solution, count: usize, seed: u64) -> Result<f64> {
    workload::mean_error(problem, &Spread::of_solution(problem, solution), count, seed).ok_or_else(|| {
        Error::new(
            ErrorCode::NoQueryMatches,
            "none of the queries that were drawn matches a record, so their error cannot be measured",
        )
    })
}

/// The mean error of drawn COUNT queries on a release that was read: over its quasi-identifiers and, where there is one, its first
/// sensitive attribute. `None` if no query matches a record.
pub fn error_on(problem: &Problem, policy: &Policy, received: &Received) -> Result<Option<f64>> {
    let cells = Cells::read(problem, policy, received)?;
    let spread = Spread::of_cells(problem, &cells, received.table.len());
    let sensitive = columns::sensitive(problem, &received.table, received.sensitive.as_ref())?;
    let restricted = (0..problem.attributes.len()).map(Place::Quasi);
    let restricted = restricted.chain(sensitive.first().map(|_| Place::Further(0))).collect();
    let seed = workload::COUNT_SEED;
    let mut drawing = Drawing::new(problem, &sensitive, restricted, Aggregate::Count, seed);
    let queries: Vec<Query> = (0..workload::COUNT_QUERIES).map(|_| drawing.next_query()).collect();
    Ok(workload::mean_error_of(problem, &sensitive, &queries, &spread))
}

/// The mean error of queries that somebody wrote down on a release that is not written yet.
pub fn mean_error_of(problem: &Problem, solution: &Solution, own: &OwnQueries) -> Result<f64> {
    let rows: Vec<u32> = solution.partition.groups().flatten().copied().collect();
    let groups = solution.partition.groups().zip(0..).flat_map(|(group, at)| group.iter().map(move |_| at));
    let spread = Spread::of_solution(problem, solution).with_rows(groups.collect());
    let told = |own| {
        let codes: Vec<u32> = rows.iter().map(|record| codes_of_record(own, *record)).collect();
        Column::of(own, Told::Rows(codes.into()))
    };
    let further: Vec<Column<'_>> = problem.sensitive.iter().chain(&problem.labels).map(told).collect();
    own.mean_error(problem, &further, &spread)
}

fn codes_of_record(own: &Protected, record: u32) -> u32 {
    own.codes[record as usize]
}

impl Spread {
    /// What the cells of a solution would say.
    pub fn of_solution(problem: &Problem, solution: &Solution) -> Self {
        let around = |at: usize, group: &[u32]| {
            let codes = || group.iter().map(|record| problem.records.code(*record as usize, at));
            (codes().min().unwrap_or(0), codes().max().unwrap_or(0))
        };
        let ends = |at: usize| match &solution.recoding {
            Recoding::Boxes(boxes) | Recoding::Masks { boxes, .. } => boxes.ends[at].clone(),
            Recoding::Tight | Recoding::Cells(_) => {
                solution.partition.groups().map(|group| around(at, group)).collect()
            }
        };
        let ends: Vec<Vec<(u32, u32)>> = (0..problem.attributes.len()).map(ends).collect();
        let sizes = solution.partition.groups().map(|group| group.len() as f64).collect();
        Spread::of_codes(problem, sizes, &ends)
    }
}
