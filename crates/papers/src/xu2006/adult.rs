//! Section 5.1: Adult in the paper's configuration, k varied.

use throng::evaluate::queries::draw::draw;
use throng::policy::Policy;
use throng::problem::Problem;
use throng::report::{Block, Claim, Section, Unit};
use throng::watch::Unwatched;
use throng::{Result, run};

use super::{METHODS, below, lines, mean_error, solve};
use crate::Setting;

const KS: [usize; 5] = [5, 10, 25, 50, 100];
const CATEGORIES: [&str; 6] = ["workclass", "marital-status", "occupation", "race", "sex", "native-country"];

/// Mondrian that takes equally wide attributes as they come, as the paper's may have done.
const IN_TABLE_ORDER: &str = "mondrian, ties in table order";

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
pub fn section(setting: &Setting, claims: &mut Vec<Claim>) -> Result<Section> {
    let (policy, mut problem) = load(setting)?;
    let ks = if setting.quick { &KS[1..2] } else { &KS[..] };
    let count = if setting.quick { 100 } else { 1000 };
    let all: Vec<usize> = (0..problem.attributes.len()).collect();
    let counts = draw(&problem, &all, None, count, 1);
    let sums = draw(&problem, &all[1..], Some(0), count, 1);
    let names: Vec<&str> = METHODS.into_iter().chain([IN_TABLE_ORDER]).collect();
    let mut figures: Vec<[Vec<f64>; 5]> = vec![Default::default(); names.len()];
    for k in ks {
        for (name, figures) in names.iter().zip(&mut figures) {
            let method = if *name == IN_TABLE_ORDER { "mondrian" } else { name };
            let mut policy = policy.clone().with_method(method)?.with_k(*k)?;
            if *name == IN_TABLE_ORDER {
                policy.method.options.insert("ties".to_owned(), "table".into());
            }
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
        names.iter().zip(&figures).map(|(name, figures)| (*name, figures[at].clone())).collect()
    };
    let [strict, relaxed, bottom_up, top_down, in_table_order] = [0, 1, 2, 3, 4].map(|at| &figures[at]);
    for (what, at, digits) in [
        ("Certainty penalty", 0, 0),
        ("Discernibility", 1, 0),
        ("Error of COUNT queries", 2, 3),
        ("Error of SUM queries", 3, 3),
    ] {
        for (name, own) in [("bottom-up", bottom_up), ("top-down", top_down)] {
            let text = format!("{what} of {name} is below MultiDim's on Adult, at every k.");
            claims.push(below(&text, &places, &own[at], &strict[at], digits));
            let text = format!("The same against {IN_TABLE_ORDER}: {} of {name}.", what.to_lowercase());
            claims.push(below(&text, &places, &own[at], &in_table_order[at], digits));
        }
    }
    for (name, own) in [("bottom-up", bottom_up), ("top-down", top_down)] {
        let text = format!("The same against mondrian-relaxed: certainty penalty of {name}.");
        claims.push(below(&text, &places, &own[0], &relaxed[0], 0));
    }
    claims.push(below("MultiDim is faster than top-down (seconds).", &places, &strict[4], &top_down[4], 3));
    claims.push(below(
        "top-down is faster than bottom-up (seconds).",
        &places,
        &top_down[4],
        &bottom_up[4],
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
