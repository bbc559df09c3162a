//! Section 5.1: Adult in the paper's configuration, k varied.

use throng::evaluate::queries::draw::draw;
use throng::policy::Policy;
use throng::problem::Problem;
use throng::report::{Block, Section, Unit};
use throng::watch::Unwatched;
use throng::{Result, run};

use super::{
    BOTTOM_UP, METHODS, MONDRIAN, MULTIDIM, PAPERS_BOTTOM_UP, TOP_DOWN, Told, below, lines, mean_error, solve,
};
use crate::Setting;

const KS: [usize; 5] = [5, 10, 25, 50, 100];
const CATEGORIES: [&str; 6] = ["workclass", "marital-status", "occupation", "race", "sex", "native-country"];

pub fn policy_text(setting: &Setting) -> Result<String> {
    let mut text = "[privacy]\nk = 10\n[method]\nname = \"mondrian\"\nseed = 1\n".to_owned();
    for name in ["age", "education-num"] {
        text += &format!("[attribute.{name}]\nrole = \"quasi\"\nkind = \"numeric\"\n");
    }
    for name in CATEGORIES {
        text += &format!("[attribute.{name}]\nrole = \"quasi\"\n{}", setting.hierarchy("adult-xu", name)?);
    }
    Ok(text)
}

pub fn load(setting: &Setting) -> Result<(Policy, Problem)> {
    let policy = Policy::parse(&policy_text(setting)?, None)?;
    let table = run::read(&setting.file("adult.train.complete.csv.zst")?, &policy, &Unwatched)?;
    let problem = Problem::new(&table, &policy)?;
    Ok((policy, problem))
}

/// Figures 6 to 8.
pub(super) fn section(setting: &Setting, told: &mut Told) -> Result<Section> {
    let (policy, mut problem) = load(setting)?;
    let ks = if setting.quick { &KS[1..2] } else { &KS[..] };
    let count = if setting.quick { 100 } else { 1000 };
    let all: Vec<usize> = (0..problem.attributes.len()).collect();
    let counts = draw(&problem, &all, None, count, 1);
    let sums = draw(&problem, &all[1..], Some(0), count, 1);
    let mut figures: Vec<[Vec<f64>; 5]> = vec![Default::default(); METHODS.len()];
    for k in ks {
        for (variant, figures) in METHODS.iter().zip(&mut figures) {
            let policy = variant.policy(&policy)?.with_k(*k)?;
            problem.requirement = throng::privacy::Requirement::new(&policy.privacy, &problem.sensitive);
            let outcome = solve(&problem, &policy)?;
            figures[0].push(outcome.penalty);
            figures[1].push(outcome.discernibility);
            figures[2].push(mean_error(&problem, &outcome, &counts));
            figures[3].push(mean_error(&problem, &outcome, &sums));
            figures[4].push(outcome.seconds);
        }
    }
    let places: Vec<String> = ks.iter().map(|k| format!("k = {k}")).collect();
    let series = |at: usize| -> Vec<(&str, Vec<f64>)> {
        METHODS.iter().zip(&figures).map(|(own, figures)| (own.name, figures[at].clone())).collect()
    };
    for (what, at, digits) in [
        ("Certainty penalty", 0, 0),
        ("Discernibility", 1, 0),
        ("Error of COUNT queries", 2, 3),
        ("Error of SUM queries", 3, 3),
    ] {
        for own in [BOTTOM_UP, TOP_DOWN] {
            let name = METHODS[own].name;
            let text = format!("{what} of {name} is below MultiDim's on Adult, at every k.");
            told.claims.push(below(&text, &places, &figures[own][at], &figures[MULTIDIM][at], digits));
            for other in [MONDRIAN, MONDRIAN + 1] {
                let text = format!("{what} of {name} is below that of {}.", METHODS[other].name);
                told.further.push(below(&text, &places, &figures[own][at], &figures[other][at], digits));
            }
        }
        let text = format!("{what} of bottom-up is below that of the paper's form of it.");
        told.further.push(below(
            &text,
            &places,
            &figures[BOTTOM_UP][at],
            &figures[PAPERS_BOTTOM_UP][at],
            digits,
        ));
    }
    let within: Vec<f64> = figures[TOP_DOWN][0].iter().map(|penalty| 1.1 * penalty).collect();
    told.further.push(below(
        "Certainty penalty of bottom-up is within 10 % of top-down's (against 1.1 times it).",
        &places,
        &figures[BOTTOM_UP][0],
        &within,
        0,
    ));
    told.claims.push(below(
        "MultiDim is faster than top-down (seconds).",
        &places,
        &figures[MULTIDIM][4],
        &figures[TOP_DOWN][4],
        3,
    ));
    told.claims.push(below(
        "top-down is faster than bottom-up (seconds).",
        &places,
        &figures[TOP_DOWN][4],
        &figures[BOTTOM_UP][4],
        3,
    ));
    Ok(Section {
        heading: "Adult, k varied (figures 6 to 8)".to_owned(),
        blocks: vec![
            Block::Words(format!(
                "{} records; age and education-num numeric, work-class and marital-status with three levels, the other \
                 categories flat; weights 1; {count} random queries of each kind on all attributes.",
                problem.len()
            )),
            lines("Certainty penalty (figure 6)", "k", &places, &series(0), Unit::Count),
            lines("Discernibility (figure 7)", "k", &places, &series(1), Unit::Count),
            lines("Error of COUNT queries (figure 8a)", "k", &places, &series(2), Unit::Share),
            lines("Error of SUM queries (figure 8b)", "k", &places, &series(3), Unit::Share),
            lines("Seconds", "k", &places, &series(4), Unit::Seconds),
        ],
    })
}
