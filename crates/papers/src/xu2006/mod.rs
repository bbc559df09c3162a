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
        &["On uniform data bottom-up is poor"],
        "bottom-up here is not the papers': it joins the group with which the loss grows least, not the one with the narrowest union, and in \
         the end records move to groups where they cost less. Of the papers' form, counted apart, it holds",
    ),
    (
        &["top-down is slightly better than bottom-up"],
        "bottom-up here is not the papers': it joins the group with which the loss grows least, and records move on in the end, which loses 16 to \
         30 % less than their form of it. That one is compared apart: top-down is better with two and with four attributes",
    ),
    (
        &["top-down is slightly better than the papers' form"],
        "on Gaussian numbers the two differ by less than a tenth with three attributes or more, now in favour of one and now of the other; on \
         Adult, with its categories, top-down loses 11 to 48 % less than the papers' form",
    ),
    (
        &["Discernibility of bottom-up is below that of the paper's form"],
        "joining by growth and moving on look at what records lose and not at how many are together: at k = 5 and 10 groups are 1 to 3 % less \
         even, and lose a third to two fifths less",
    ),
    (
        &["On uniform data top-down is comparable"],
        "records that lie evenly have no neighbourhoods to find. Halves at a median share no value of their attribute, while the boxes around \
         two far records come to overlap: at k = 5 both lose the same, from k = 10 on top-down loses 12 to 19 % more",
    ),
    (
        &["MultiDim is faster", "top-down is faster", "At every N, top-down takes"],
        "MultiDim takes a few milliseconds here, top-down four to fifteen times as long; such times, measured once on a machine that others share, \
         vary from run to run by more than the margin",
    ),
    (
        &["Seeds after"],
        "the paper does not say which records it drew; ours gain next to nothing after three rounds, because the search ends where two \
         records are each other's furthest",
    ),
    (
        &["is below that of mondrian-relaxed"],
        "no claim of the papers: mondrian-relaxed deals equal records to both halves, so that its groups are even, which is all that \
         discernibility counts; its certainty penalty is three to seven times as high",
    ),
    (
        &["queries of"],
        "no claim of the papers: classes of our mondrian are cut apart and share no cell, so that a condition takes or leaves most of them whole; \
         boxes of local recoding overlap, and each that a condition cuts adds an error",
    ),
    (
        &["that of our mondrian"],
        "no claim of the papers: ours cuts off rare values first, where MultiDim cuts at the median; with six numbers and more that loses \
         less than boxes around two far records, which overlap",
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
