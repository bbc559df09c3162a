//! Xu et al. 2006, "Utility-based anonymization using local recoding" (KDD, and SIGKDD Explorations 8:2).
//!
//! Its experiments: Adult with k varied; synthetic tables of 10,000 records with k, σ, the number of attributes, weights and
//! N varied; and how near the seeds of the top-down method come to the furthest pair. MultiDim is what both papers describe:
//! `mondrian` with categories as numbers, cut at the median. Our own `mondrian` knows hierarchies and breaks ties between
//! equally wide attributes by the least even cut, which lowers its loss by a third to a half; comparisons with it are no
//! claims of the papers and are counted apart.

mod adult;
mod seeds;
mod synthetic;

use std::collections::HashMap;
use std::time::Instant;

use throng::evaluate::queries::answer::{Answerer, Spread};
use throng::evaluate::queries::{Errors, Query};
use throng::method::Solution;
use throng::plan::target;
use throng::policy::Policy;
use throng::problem::Problem;
use throng::report::{Block, Chart, Claim, Page, Section, Series, Unit, Verdict};
use throng::watch::Unwatched;
use throng::{Result, run};

use crate::why::Reasons;
use crate::{Entry, Setting};

/// The registry entry.
pub const XU2006: Entry = Entry {
    name: "xu2006",
    citation: "Xu, Wang, Pei, Wang, Shi, Fu: Utility-based anonymization using local recoding, KDD 2006",
    run: reproduce,
    reasons: REASONS,
};

/// Why some claims do not hold here.
const REASONS: Reasons = &[
    (
        &[
            "On uniform data bottom-up is poor",
            "top-down is slightly better than bottom-up",
            "of bottom-up is below that of the paper's form",
        ],
        "bottom-up here is not the papers': it joins the group with which the loss grows least, not the one with the narrowest union, and in \
         the end records move to groups where they cost less; the line \"bottom-up of the paper\" is their form",
    ),
    (
        &["On uniform data top-down is comparable", "On uniform data, discernibility"],
        "records spread evenly over far more cells than there are records have no neighbourhoods to find, and halving by medians is as good \
         as looking for them; halves by two far records are less even",
    ),
    (
        &["MultiDim is faster", "top-down is faster", "At every N, top-down takes"],
        "times of a few milliseconds, measured once on a machine that others share, vary more than the methods do",
    ),
    (
        &["Seeds after"],
        "the paper does not say which records it drew; ours gain next to nothing after three rounds, because the search ends where two \
         records are each other's furthest",
    ),
    (
        &["is below that of mondrian", "that of our mondrian"],
        "no claim of the papers: our mondrian knows hierarchies and cuts off rare values first, which lowers its loss by a third to a half \
         against theirs; and classes cut apart share no cell, which queries gain from",
    ),
];

/// A method with options, under a name.
#[derive(Clone, Copy)]
struct Variant {
    name: &'static str,
    method: &'static str,
    options: &'static [(&'static str, &'static str)],
}

/// The methods that are compared.
const METHODS: [Variant; 6] = [
    Variant {
        name: "MultiDim",
        method: "mondrian",
        options: &[("categories", "numbers"), ("ties", "table")],
    },
    Variant { name: "mondrian", method: "mondrian", options: &[] },
    Variant { name: "mondrian-relaxed", method: "mondrian-relaxed", options: &[] },
    Variant { name: "bottom-up", method: "bottom-up", options: &[] },
    Variant { name: "top-down", method: "top-down", options: &[] },
    Variant {
        name: "bottom-up of the paper",
        method: "bottom-up",
        options: &[("merge", "union"), ("finish", "nothing")],
    },
];

/// Their places: what the papers compare with, our own form of it, and the two methods of the papers.
const MULTIDIM: usize = 0;
const MONDRIAN: usize = 1;
const BOTTOM_UP: usize = 3;
const TOP_DOWN: usize = 4;
const PAPERS_BOTTOM_UP: usize = 5;

impl Variant {
    fn policy(self, policy: &Policy) -> Result<Policy> {
        let mut policy = policy.clone().with_method(self.method)?;
        for (name, value) in self.options {
            policy.method.options.insert((*name).to_owned(), (*value).into());
        }
        Ok(policy)
    }
}

/// What was found: claims of the papers, and comparisons that are none.
#[derive(Default)]
struct Told {
    claims: Vec<Claim>,
    further: Vec<Claim>,
}

fn reproduce(setting: &Setting) -> Result<Page> {
    let mut told = Told::default();
    let mut sections = vec![adult::section(setting, &mut told)?];
    sections.extend(synthetic::sections(setting, &mut told)?);
    sections.push(seeds::section(setting, &mut told.claims)?);
    let held = |claims: &[Claim]| claims.iter().filter(|claim| claim.verdict == Verdict::Held).count();
    let headline = vec![format!(
        "{} of {} claims of the papers held in full here; of {} further comparisons with our own mondrian {} did.",
        held(&told.claims),
        told.claims.len(),
        told.further.len(),
        held(&told.further)
    )];
    let claims = Section {
        heading: "The papers' claims".to_owned(),
        blocks: vec![
            Block::Words(
                "The papers compare with MultiDim, which treats a category as a number and cuts at the median. Ours is that, \
                 with categories in the order in which they appear in the table."
                    .to_owned(),
            ),
            Block::Claims(told.claims),
        ],
    };
    let further = Section {
        heading: "Compared with our own mondrian".to_owned(),
        blocks: vec![
            Block::Words(
                "No claims of the papers: our mondrian knows hierarchies, and cuts equally wide attributes by the least even \
                 cut first. mondrian-relaxed does the same but deals out equal values."
                    .to_owned(),
            ),
            Block::Claims(told.further),
        ],
    };
    sections.splice(0..0, [claims, further]);
    Ok(Page {
        over: "Reproduction".to_owned(),
        private: false,
        title: "Utility-based anonymization using local recoding".to_owned(),
        subtitle: "Xu, Wang, Pei, Wang, Shi, Fu · KDD 2006".to_owned(),
        headline,
        sections,
    })
}

/// What one run of a method came to.
#[derive(Clone, Debug)]
struct Outcome {
    /// NCP(T), the paper's certainty penalty.
    penalty: f64,
    discernibility: f64,
    seconds: f64,
    solution: Solution,
}

/// Runs a method.
fn solve(problem: &Problem, policy: &Policy) -> Result<Outcome> {
    let start = Instant::now();
    let solution = run::solve(problem, policy, &Unwatched)?;
    let seconds = start.elapsed().as_secs_f64();
    let penalty = target::gcp(problem, &solution) * problem.len() as f64 * problem.total_weight();
    Ok(Outcome { penalty, discernibility: discernibility(problem, &solution), seconds, solution })
}

/// Σ|class|², classes being records with equal cells, which may come from several groups.
fn discernibility(problem: &Problem, solution: &Solution) -> f64 {
    let mut classes: HashMap<Vec<String>, f64> = HashMap::new();
    for group in solution.partition.groups() {
        let cell = |at: usize| {
            let codes = || group.iter().map(|record| problem.records.code(*record as usize, at));
            let domain = &problem.attributes[at].domain;
            domain.cell(codes().min().unwrap_or(0), codes().max().unwrap_or(0))
        };
        *classes.entry((0..problem.attributes.len()).map(cell).collect()).or_default() += group.len() as f64;
    }
    let mut sizes: Vec<f64> = classes.into_values().collect();
    sizes.sort_by(f64::total_cmp);
    sizes.into_iter().map(|size| size * size).sum()
}

/// The mean error of a workload.
fn mean_error(problem: &Problem, outcome: &Outcome, queries: &[Query]) -> f64 {
    let spread = Spread::of_solution(problem, &outcome.solution);
    Errors::of(&Answerer::new(problem).answer(queries, &spread)).mean.unwrap_or(f64::NAN)
}

/// A chart with one line per series, `values[series][place]`.
fn lines(title: &str, across: &str, places: &[String], values: &[(&str, Vec<f64>)], unit: Unit) -> Block {
    Block::Lines(Chart {
        title: title.to_owned(),
        words: String::new(),
        across: across.to_owned(),
        places: places.to_vec(),
        series: values
            .iter()
            .map(|(name, values)| Series {
                name: (*name).to_owned(),
                values: values.iter().map(|value| value.is_finite().then_some(*value)).collect(),
            })
            .collect(),
        unit,
        log: false,
    })
}

/// A claim that one series lies below another at every place.
fn below(text: &str, places: &[String], lower: &[f64], higher: &[f64], digits: usize) -> Claim {
    let tests = places.iter().zip(lower.iter().zip(higher));
    let well = tests.clone().filter(|(_, (low, high))| low < high).count();
    let told: Vec<String> = tests
        .map(|(place, (low, high))| format!("{place}: {low:.digits$} against {high:.digits$}"))
        .collect();
    Claim { text: text.to_owned(), verdict: Verdict::of(well, places.len()), evidence: told.join("; ") }
}
