//! What runs in parts have in common, on one machine ([`super::bounded`]) and on many ([`super::cluster`]).

use rand::Rng;

use crate::as_is;
use crate::bind;
use crate::error::{Error, ErrorCode, Result};
use crate::plan::Plan;
use crate::policy::suggest::person;
use crate::policy::{Policy, Role};
use crate::scale::sketch::TableSketch;
use crate::table::{Origin, Storage, Table};

/// The stream of the secret that orders rows of equal codes.
const TIES: u64 = 6;

/// What orders rows of equal codes.
pub(super) fn ties_key(plan: &Plan) -> u64 {
    plan.secret().stream(TIES).next_u64()
}

/// How columns are kept: those that are watched are looked at but not coded, because they may have any number of values.
pub(super) fn storage(policy: &Policy, names: &[String]) -> Result<Vec<Storage>> {
    policy.check_columns(names)?;
    let mut storage = bind::storage(policy, names);
    for (name, own) in names.iter().zip(&mut storage) {
        if person::is_watched(policy, name) {
            *own = Storage::Text;
        }
    }
    Ok(storage)
}

pub(super) fn is_published(policy: &Policy, name: &str) -> bool {
    !matches!(policy.role(name), Role::Identifier | Role::Person)
}

/// Refuses lists and structures.
pub(super) fn check_nested(piece: &Table) -> Result<()> {
    let nested = (0..piece.names().len()).find(|at| piece.is_nested(*at));
    nested.map_or(Ok(()), |at| {
        Err(Error::new(ErrorCode::NestedValue, "in parts, lists and structures are not passed through")
            .for_attribute(&piece.names()[at])
            .with_hint("make the column an identifier to leave it out, or run the table in memory"))
    })
}

/// Refuses what nobody decided on, and says what else should be known.
pub(super) fn check_as_is(sketch: &TableSketch, origin: &Origin, policy: &Policy) -> Result<Vec<String>> {
    let mut found = as_is::check_known(&sketch.names, origin, policy, |at, look| {
        let (texts, counts): (Vec<&str>, Vec<u64>) = match (sketch.column(at), sketch.cells(at)) {
            (Some(values), _) => values.values().unzip(),
            (None, Some(cells)) => cells.entries().map(|own| (own.cells.get(0), own.count)).unzip(),
            (None, None) => return None,
        };
        look(&texts, &counts)
    })?;
    for (at, name) in sketch.names.iter().enumerate() {
        let Some(cells) = sketch.cells(at).filter(|_| person::is_watched(policy, name)) else { continue };
        if cells.entries().any(|own| own.count > 1) {
            found.push(format!(
                "\"{name}\" looks like whose record it is, and recurs. k and all else count records here, so that several \
                 records of one person pass for several people. In parts people are not counted; see role = \"person\"."
            ));
        }
    }
    Ok(found)
}

/// How a table was solved, by the number of parts of each round.
pub(super) fn told_rounds(parts: &[usize]) -> String {
    let rounds: Vec<String> = parts.iter().map(ToString::to_string).collect();
    match parts {
        [1] => "solved as a whole".to_owned(),
        [one] => format!("solved in {one} parts"),
        many => format!(
            "solved in {} parts, what came out dearest once more in {}",
            many.first().unwrap_or(&0),
            match rounds.get(1..).unwrap_or_default() {
                [one] if one == "1" => "one".to_owned(),
                others => format!("{} of other cuts", others.join(", then ")),
            }
        ),
    }
}

/// Which columns were told from a sample of their cells.
pub(super) fn told_sampled(names: &[String]) -> Option<String> {
    (!names.is_empty()).then(|| {
        format!(
            "How many different values {} has, and how many rows are unique by it alone, is estimated from a sample of its values.",
            names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
        )
    })
}
