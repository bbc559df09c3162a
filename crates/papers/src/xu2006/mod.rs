//! Xu et al. 2006, "Utility-based anonymization using local recoding" (KDD, and SIGKDD Explorations 8:2).
//!
//! Its experiments: Adult with k varied; synthetic tables of 10,000 records with σ, the number of attributes, weights and
//! N varied; and how near the seeds of the top-down method come to the furthest pair. MultiDim is our strict
//! `mondrian`. Ours breaks ties between equally wide attributes by the least even cut, which the paper leaves open and
//! which lowers its loss by a quarter; claims against it are harder to meet here, and are told as they come out.

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

use crate::{Entry, Setting};

/// The registry entry.
pub const XU2006: Entry = Entry {
    name: "xu2006",
    citation: "Xu, Wang, Pei, Wang, Shi, Fu: Utility-based anonymization using local recoding, KDD 2006",
    run: reproduce,
};

/// The methods that are compared; the first two are what the paper compares with.
const METHODS: [&str; 4] = ["mondrian", "mondrian-relaxed", "bottom-up", "top-down"];

/// What stands behind claims that do not hold.
const WHY: &str = "Why some do not hold. Penalty on Adult: against a mondrian that takes ties in the order of the table both \
     methods are below, as in the paper; ours loses a third to a half less, and there only top-down keeps up. Queries: errors \
     roughly follow the penalty, so bottom-up, which has the highest of the three, answers worst. Many dimensions: 10,000 \
     records become sparse, and halving by medians is as good as looking for neighbours. Seconds: times of a few \
     milliseconds, measured once, vary more than the methods do. Seeds: the paper does not say which records it drew; ours \
     stay 0.3 points short after three rounds and gain next to nothing after that, because the search ends where two records \
     are each other's furthest.";

fn reproduce(setting: &Setting) -> Result<Page> {
    let mut claims = Vec::new();
    let mut sections = vec![adult::section(setting, &mut claims)?];
    sections.extend(synthetic::sections(setting, &mut claims)?);
    sections.push(seeds::section(setting, &mut claims)?);
    let held = claims.iter().filter(|claim: &&Claim| claim.verdict == Verdict::Held).count();
    let headline = vec![format!("{held} of {} claims of the paper held in full here.", claims.len())];
    let told = Section {
        heading: "The paper's claims".to_owned(),
        blocks: vec![
            Block::Words(
                "Where the paper compares with MultiDim, we compare with our strict mondrian. It cuts equally wide \
                 attributes by the least even cut first, which loses less than taking them in the order of the table. The \
                 paper does not say which order it took, so on Adult both are compared. mondrian-relaxed takes attributes as \
                 our mondrian does but deals out equal values."
                    .to_owned(),
            ),
            Block::Claims(claims),
            Block::Words(WHY.to_owned()),
        ],
    };
    sections.insert(0, told);
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
