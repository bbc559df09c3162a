//! What the attacks on a release found, in plain text.

use serde::Serialize;

use super::json::json;
use super::number::{count, counted, percent};
use super::terminal::{COLUMNS, Side, field, finished, table};
use super::text::wrap;
use crate::attack::{Attack, Attacked, Membership, Windows};
use crate::audit::{Findings, Measures};
use crate::error::Result;

/// The figures of an audit as JSON, and what attacks found where the release was attacked.
pub fn audit_json(findings: &Findings, attack: Option<&Attacked>) -> Result<String> {
    #[derive(Serialize)]
    struct Told<'a> {
        #[serde(flatten)]
        measures: &'a Measures,
        #[serde(skip_serializing_if = "Option::is_none")]
        attack: Option<&'a Attacked>,
        #[serde(skip_serializing_if = "<[String]>::is_empty")]
        notes: &'a [String],
    }
    json(&Told { measures: &findings.measures, attack, notes: &findings.notes })
}

/// What attacks found in plain text.
pub fn attack_terminal(attacked: &Attacked) -> String {
    let mut lines = vec![String::new(), "What grouping tells beyond the classes".to_owned()];
    lines.extend(wrap(&known_words(attacked), COLUMNS));
    for attack in &attacked.attacks {
        lines.push(String::new());
        lines.extend(told(attack));
    }
    if !attacked.attacks.iter().all(Attack::is_within_noise) {
        lines.push(String::new());
        lines.extend(field("Note", REAL));
    }
    finished(&lines)
}

const REAL: &str = "In a real table sensitive values also depend on quasi-identifiers. An attacker can use that as well, and these \
     tests cannot tell it from what grouping gives away. To test a method alone, shuffle the sensitive column of \
     the table before it is anonymized.";

fn known_words(attacked: &Attacked) -> String {
    let certain = percent(attacked.certain);
    match attacked.membership {
        Membership::Order => {
            "The rows are in the order of the table, so who is in which class is known.".to_owned()
        }
        Membership::Exact => format!(
            "Quasi-identifiers are exact, so who is in which group is known, for {certain} of the records for certain."
        ),
        Membership::Drawn => format!(
            "The class of {certain} of the records is certain; for the others one of the ways in which they fit was drawn. \
             With the release in the order of the table (anonymize --keep-order) the tests see more."
        ),
    }
}

fn told(attack: &Attack) -> Vec<String> {
    let far = &attack.farthest;
    let mut rows = vec![
        ["", "found", "by chance", "shuffled", ""].map(str::to_owned).to_vec(),
        vec![
            "farthest member".to_owned(),
            percent(far.hits),
            format!("{} ± {}", percent(far.chance), percent(far.error)),
            percent(far.control.mean),
            mark(far.is_above_chance()).to_owned(),
        ],
        vec![
            "… in the tenth of classes that lose most".to_owned(),
            percent(far.dearest_hits),
            percent(far.dearest_chance),
            String::new(),
            String::new(),
        ],
    ];
    rows.extend(attack.windows.iter().map(window_row));
    let heading = format!("{}: {}", attack.attribute, counted(attack.classes as u64, "class", "classes"));
    let sides = [Side::Left, Side::Right, Side::Right, Side::Right, Side::Left];
    let verdict = match attack.is_within_noise() {
        true => "Both tests find nothing that chance does not explain.",
        false => "Grouping, or how values depend on quasi-identifiers, tells more than the classes do.",
    };
    [vec![heading], table(&rows, &sides), wrap(verdict, COLUMNS)].concat()
}

fn window_row(own: &Windows) -> Vec<String> {
    vec![
        format!("z² of {} neighbours", count(own.records as u64)),
        format!("{:.2}", own.mean),
        "1.00".to_owned(),
        format!("{:.2} ± {:.2}", own.control.mean, own.control.deviation),
        mark(own.is_above_chance()).to_owned(),
    ]
}

fn mark(above: bool) -> &'static str {
    if above { "above chance" } else { "" }
}
