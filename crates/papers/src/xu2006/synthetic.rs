//! Section 5.2: synthetic tables of integers from 1 to 16.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use throng::evaluate::queries::draw::draw;
use throng::policy::Policy;
use throng::problem::Problem;
use throng::report::{Block, Claim, Section, Unit};
use throng::watch::Unwatched;
use throng::{Error, ErrorCode, Result, run};

use super::{
    BOTTOM_UP, METHODS, MONDRIAN, MULTIDIM, PAPERS_BOTTOM_UP, TOP_DOWN, Told, below, lines, mean_error, solve,
};
use crate::Setting;

const K: usize = 10;
const WEIGHTS: [f64; 4] = [8.0, 4.0, 2.0, 1.0];

/// How values are distributed.
#[derive(Clone, Copy)]
enum Shape {
    Uniform,
    /// Around the middle, with this σ.
    Gaussian(f64),
}

impl Shape {
    fn value(self, random: &mut ChaCha8Rng) -> i64 {
        match self {
            Shape::Uniform => random.random_range(1..=16),
            Shape::Gaussian(sigma) => {
                // Box and Muller.
                let (one, other) = (1.0 - random.random::<f64>(), random.random::<f64>());
                let normal = (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * other).cos();
                ((8.5 + sigma * normal).round() as i64).clamp(1, 16)
            }
        }
    }
}

fn table(
    shape: Shape,
    rows: usize,
    attributes: usize,
    weights: &[f64],
    seed: u64,
) -> Result<(Policy, Problem)> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let names: Vec<String> = (1..=attributes).map(|at| format!("A{at}")).collect();
    let mut csv = names.join(",") + "\n";
    for _ in 0..rows {
        let row: Vec<String> = (0..attributes).map(|_| shape.value(&mut random).to_string()).collect();
        csv += &(row.join(",") + "\n");
    }
    let folder = tempfile::tempdir()
        .map_err(|cause| Error::io(ErrorCode::CannotWrite, "write", &std::env::temp_dir(), &cause))?;
    let data = folder.path().join("table.csv");
    std::fs::write(&data, csv).map_err(|cause| Error::io(ErrorCode::CannotWrite, "write", &data, &cause))?;
    let mut text = format!("[privacy]\nk = {K}\n[method]\nname = \"mondrian\"\nseed = {seed}\n");
    for (at, name) in names.iter().enumerate() {
        let weight = weights.get(at).copied().unwrap_or(1.0);
        text += &format!("[attribute.{name}]\nrole = \"quasi\"\nkind = \"numeric\"\nweight = {weight:?}\n");
    }
    let policy = Policy::parse(&text, None)?;
    let problem = Problem::new(&run::read(&data, &policy, &Unwatched)?, &policy)?;
    Ok((policy, problem))
}

/// Penalty, discernibility, seconds, and errors of COUNT and SUM queries of every method, place by place.
struct Sweep {
    places: Vec<String>,
    of_method: Vec<[Vec<f64>; 5]>,
}

/// One place of a sweep.
struct Case {
    place: String,
    shape: Shape,
    rows: usize,
    attributes: usize,
    k: usize,
    /// Random queries of each kind.
    queries: usize,
}

impl Sweep {
    fn run(cases: impl IntoIterator<Item = (String, Shape, usize, usize)>) -> Result<Self> {
        let case =
            |(place, shape, rows, attributes)| Case { place, shape, rows, attributes, k: K, queries: 0 };
        Self::of(cases.into_iter().map(case))
    }

    fn of(cases: impl IntoIterator<Item = Case>) -> Result<Self> {
        let mut sweep = Sweep { places: Vec::new(), of_method: vec![Default::default(); METHODS.len()] };
        for Case { place, shape, rows, attributes, k, queries } in cases {
            let (policy, mut problem) = table(shape, rows, attributes, &[], 1)?;
            let policy = policy.with_k(k)?;
            problem.requirement = throng::privacy::Requirement::new(&policy.privacy, &problem.sensitive);
            let all: Vec<usize> = (0..attributes).collect();
            let workloads =
                [draw(&problem, &all, None, queries, 1), draw(&problem, &all[1..], Some(0), queries, 1)];
            for (variant, figures) in METHODS.iter().zip(&mut sweep.of_method) {
                let outcome = solve(&problem, &variant.policy(&policy)?)?;
                figures[0].push(outcome.penalty);
                figures[1].push(outcome.discernibility);
                figures[2].push(outcome.seconds);
                for (at, workload) in (3..).zip(&workloads).filter(|_| queries > 0) {
                    figures[at].push(mean_error(&problem, &outcome, workload));
                }
            }
            sweep.places.push(place);
        }
        Ok(sweep)
    }

    fn series(&self, at: usize) -> Vec<(&'static str, Vec<f64>)> {
        METHODS.iter().zip(&self.of_method).map(|(own, figures)| (own.name, figures[at].clone())).collect()
    }

    fn chart(&self, title: &str, across: &str, at: usize, unit: Unit) -> Block {
        lines(title, across, &self.places, &self.series(at), unit)
    }

    /// A claim that a method is below another.
    fn below(&self, text: &str, lower: usize, higher: usize, at: usize) -> Claim {
        below(
            text,
            &self.places,
            &self.of_method[lower][at],
            &self.of_method[higher][at],
            if at >= 2 { 3 } else { 0 },
        )
    }
}

pub(super) fn sections(setting: &Setting, told: &mut Told) -> Result<Vec<Section>> {
    Ok(vec![
        weights(setting, &mut told.claims)?,
        varied_k(setting, told)?,
        sigma(setting, told)?,
        dimensions(setting, told)?,
        size(setting, &mut told.claims)?,
    ])
}

/// Figures 11, 12, 15, 16 and 20 of the second paper.
fn varied_k(setting: &Setting, told: &mut Told) -> Result<Section> {
    let rows = rows(setting);
    let ks: &[usize] = if setting.quick { &[10] } else { &[5, 10, 25, 50, 100] };
    let queries = if setting.quick { 100 } else { 1000 };
    let cases = |shape: Shape, queries: usize| {
        let case =
            move |k: &usize| Case { place: format!("k = {k}"), shape, rows, attributes: 4, k: *k, queries };
        ks.iter().map(case)
    };
    let uniform = Sweep::of(cases(Shape::Uniform, 0))?;
    let gaussian = Sweep::of(cases(Shape::Gaussian(1.0), queries))?;
    for own in [BOTTOM_UP, TOP_DOWN] {
        let name = METHODS[own].name;
        let text =
            format!("With σ = 1, certainty penalty of {name} is below MultiDim's at every k (figure 12).");
        told.claims.push(gaussian.below(&text, own, MULTIDIM, 0));
        let text =
            format!("With σ = 1, discernibility of {name} is below MultiDim's at every k (figure 16).");
        told.claims.push(gaussian.below(&text, own, MULTIDIM, 1));
        let text =
            format!("On uniform data, discernibility of {name} is below MultiDim's at every k (figure 15).");
        told.claims.push(uniform.below(&text, own, MULTIDIM, 1));
        for (at, kind) in [(3, "COUNT"), (4, "SUM")] {
            let text =
                format!("With σ = 1, the error of {kind} queries of {name} is below MultiDim's (figure 20).");
            told.claims.push(gaussian.below(&text, own, MULTIDIM, at));
        }
        let text =
            format!("With σ = 1, certainty penalty of {name} is below that of our mondrian at every k.");
        told.further.push(gaussian.below(&text, own, MONDRIAN, 0));
    }
    let comparable: Vec<f64> = uniform.of_method[MULTIDIM][0].iter().map(|penalty| 1.1 * penalty).collect();
    told.claims.push(below(
        "On uniform data top-down is comparable with MultiDim (figure 11): no more than 1.1 times its certainty penalty.",
        &uniform.places,
        &uniform.of_method[TOP_DOWN][0],
        &comparable,
        0,
    ));
    Ok(Section {
        heading: "k on synthetic data (figures 11, 12, 15, 16 and 20 of the second paper)".to_owned(),
        blocks: vec![
            Block::Words(format!(
                "{rows} records, 4 attributes in 1 … 16; {queries} random queries of each kind."
            )),
            uniform.chart("Certainty penalty, uniform (figure 11)", "k", 0, Unit::Count),
            gaussian.chart("Certainty penalty, σ = 1 (figure 12)", "k", 0, Unit::Count),
            uniform.chart("Discernibility, uniform (figure 15)", "k", 1, Unit::Count),
            gaussian.chart("Discernibility, σ = 1 (figure 16)", "k", 1, Unit::Count),
            gaussian.chart("Error of COUNT queries, σ = 1 (figure 20)", "k", 3, Unit::Share),
            gaussian.chart("Error of SUM queries, σ = 1 (figure 20)", "k", 4, Unit::Share),
        ],
    })
}

fn rows(setting: &Setting) -> usize {
    if setting.quick { 1000 } else { 10_000 }
}

/// Figure 9.
fn weights(setting: &Setting, claims: &mut Vec<Claim>) -> Result<Section> {
    let seeds = if setting.quick { 2 } else { 20 };
    let places: Vec<String> = ["A1", "A1A2", "A1A2A3", "A1A2A3A4"].map(str::to_owned).to_vec();
    let mut blocks = vec![Block::Words(format!(
        "{} uniform records, weights 8, 4, 2, 1 against none, k = {K}, mean over {seeds} seeds; COUNT queries on the \
         first attributes.",
        rows(setting)
    ))];
    for method in ["bottom-up", "top-down"] {
        let mut errors = [vec![0.0; 4], vec![0.0; 4]];
        for seed in 1..=seeds {
            for (weights, errors) in [&WEIGHTS[..], &[]].into_iter().zip(&mut errors) {
                let (policy, problem) = table(Shape::Uniform, rows(setting), 4, weights, seed)?;
                let outcome = solve(&problem, &policy.with_method(method)?)?;
                for (first, error) in errors.iter_mut().enumerate() {
                    let on: Vec<usize> = (0..=first).collect();
                    *error +=
                        mean_error(&problem, &outcome, &draw(&problem, &on, None, 200, seed)) / seeds as f64;
                }
            }
        }
        let [weighted, plain] = errors;
        let text =
            format!("Weights 8, 4, 2, 1 lower the error of {method} on queries over A1, A1A2 and A1A2A3.");
        claims.push(below(&text, &places[..3], &weighted[..3], &plain[..3], 4));
        let title = format!("Query error of {method} (figure 9)");
        blocks.push(lines(
            &title,
            "queries on",
            &places,
            &[("weighted", weighted), ("not weighted", plain)],
            Unit::Share,
        ));
    }
    Ok(Section { heading: "Weights (figure 9)".to_owned(), blocks })
}

fn sigma(setting: &Setting, told: &mut Told) -> Result<Section> {
    let rows = rows(setting);
    let gaussian =
        [0.5, 1.0, 2.0, 3.0, 4.0].map(|sigma| (format!("σ = {sigma}"), Shape::Gaussian(sigma), rows, 4));
    let uniform = ("uniform".to_owned(), Shape::Uniform, rows, 4);
    let sweep = Sweep::run(gaussian.into_iter().chain([uniform]))?;
    let at_one = |method: usize| vec![sweep.of_method[method][0][1]];
    let place = [sweep.places[1].clone()];
    for method in [BOTTOM_UP, TOP_DOWN] {
        let text = format!("With σ = 1, certainty penalty of {} is below MultiDim's.", METHODS[method].name);
        told.claims.push(below(&text, &place, &at_one(method), &at_one(MULTIDIM), 0));
    }
    let last = sweep.places.len() - 1;
    let uniform = |method: usize| vec![sweep.of_method[method][0][last]];
    told.claims.push(below(
        "On uniform data bottom-up is poor: its certainty penalty is above MultiDim's.",
        &sweep.places[last..],
        &uniform(MULTIDIM),
        &uniform(BOTTOM_UP),
        0,
    ));
    told.further.push(below(
        "On uniform data the papers' form of bottom-up is poor: its certainty penalty is above MultiDim's.",
        &sweep.places[last..],
        &uniform(MULTIDIM),
        &uniform(PAPERS_BOTTOM_UP),
        0,
    ));
    Ok(Section {
        heading: "Distribution".to_owned(),
        blocks: vec![
            Block::Words(format!("{rows} records, 4 attributes in 1 … 16, k = {K}.")),
            sweep.chart("Certainty penalty", "distribution", 0, Unit::Count),
            sweep.chart("Discernibility", "distribution", 1, Unit::Count),
        ],
    })
}

/// Figures 10 and 11.
fn dimensions(setting: &Setting, told: &mut Told) -> Result<Section> {
    let rows = rows(setting);
    let sweep = Sweep::run((2..=8).map(|d| (format!("d = {d}"), Shape::Gaussian(1.0), rows, d)))?;
    for method in [BOTTOM_UP, TOP_DOWN] {
        let name = METHODS[method].name;
        let text =
            format!("Certainty penalty of {name} is below MultiDim's in every number of dimensions (σ = 1).");
        told.claims.push(sweep.below(&text, method, MULTIDIM, 0));
        let text =
            format!("Discernibility of {name} is below MultiDim's in every number of dimensions (σ = 1).");
        told.claims.push(sweep.below(&text, method, MULTIDIM, 1));
        let text = format!(
            "Certainty penalty of {name} is below that of our mondrian in every number of dimensions."
        );
        told.further.push(sweep.below(&text, method, MONDRIAN, 0));
    }
    told.claims.push(sweep.below(
        "top-down is slightly better than bottom-up (certainty penalty, σ = 1).",
        TOP_DOWN,
        BOTTOM_UP,
        0,
    ));
    told.further.push(sweep.below(
        "top-down is slightly better than the papers' form of bottom-up (certainty penalty, σ = 1).",
        TOP_DOWN,
        PAPERS_BOTTOM_UP,
        0,
    ));
    Ok(Section {
        heading: "Number of attributes (figures 10 and 11)".to_owned(),
        blocks: vec![
            Block::Words(format!("{rows} records, Gaussian with σ = 1, k = {K}.")),
            sweep.chart("Certainty penalty (figure 10)", "attributes", 0, Unit::Count),
            sweep.chart("Discernibility (figure 11)", "attributes", 1, Unit::Count),
        ],
    })
}

/// Figure 12.
fn size(setting: &Setting, claims: &mut Vec<Claim>) -> Result<Section> {
    let thousands: &[usize] = if setting.quick { &[1, 2] } else { &[10, 25, 50, 75, 100] };
    let sweep = Sweep::run(
        thousands.iter().map(|rows| (format!("{rows},000"), Shape::Gaussian(1.0), 1000 * rows, 4)),
    )?;
    let scaled = sweep.of_method[MULTIDIM][2].iter().map(|seconds| 6.0 * seconds).collect::<Vec<f64>>();
    claims.push(below(
        "At every N, top-down takes less than 6 times as long as MultiDim (seconds against 6 times MultiDim's).",
        &sweep.places,
        &sweep.of_method[TOP_DOWN][2],
        &scaled,
        3,
    ));
    Ok(Section {
        heading: "Number of records (figure 12)".to_owned(),
        blocks: vec![
            Block::Words(format!("4 attributes, Gaussian with σ = 1, k = {K}.")),
            sweep.chart("Seconds (figure 12)", "records", 2, Unit::Seconds),
            sweep.chart("Certainty penalty", "records", 0, Unit::Count),
        ],
    })
}
