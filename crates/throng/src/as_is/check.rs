//! What may not be published as it is unless the policy says so.

use super::Values;
use crate::error::{Error, ErrorCode, Result};
use crate::parallel;
use crate::policy::{Policy, Role, Unlisted, suggest};
use crate::problem::Problem;
use crate::table::{Origin, Table};

/// Checks that every column of a table is mentioned in the policy, and that no published one looks like an identifier
/// without being confirmed. Where the policy is not strict, what would be refused is given back as sentences.
pub(crate) fn check(table: &Table, problem: &Problem, policy: &Policy) -> Result<Vec<String>> {
    let counted = parallel::map(table.names().iter().enumerate(), |(at, name)| {
        is_looked_at(policy, name).then(|| table.counted(at, problem.rows.as_deref())).flatten()
    });
    let mut warnings = check_known(table.names(), table.origin(), policy, |at, look| {
        let cells = counted[at].as_ref()?;
        let texts: Vec<&str> = cells.texts().collect();
        look(&texts, &cells.counts)
    })?;
    warnings.extend(suggest::check_header(table, policy)?);
    Ok(warnings)
}

/// Looks at the distinct cells of a column, and how often each occurs.
type Look<'a> = dyn Fn(&[&str], &[u64]) -> Option<String> + 'a;

/// The same, but for the header, of a table of which somebody can show the distinct cells of each column, or a fair share of them.
pub(crate) fn check_known(
    names: &[String],
    origin: &Origin,
    policy: &Policy,
    show: impl Fn(usize, &Look<'_>) -> Option<String>,
) -> Result<Vec<String>> {
    let mut warnings = Vec::new();
    let mut refuse = |error: Error| match policy.strict {
        true => Err(error.in_file(origin)),
        false => {
            warnings.push(format!("{} (strict = false).", error.message()));
            Ok(())
        }
    };
    check_listed(policy, names).or_else(&mut refuse)?;
    for (at, name) in names.iter().enumerate() {
        if !is_looked_at(policy, name) {
            continue;
        }
        let look = |texts: &[&str], counts: &[u64]| identifies(name, policy, texts, counts);
        if let Some(why) = show(at, &look) {
            refuse(not_confirmed(policy, name, &why))?;
        }
    }
    Ok(warnings)
}

/// Whether a column would be published as it is, and nobody said that it may.
fn is_looked_at(policy: &Policy, name: &str) -> bool {
    let confirmed = policy.attributes.get(name).is_some_and(|attribute| attribute.confirmed);
    !confirmed && !matches!(policy.role(name), Role::Identifier | Role::Person | Role::Quasi)
}

/// So many columns are named in an error.
const NAMED: usize = 12;

/// An error if the policy refuses columns that it does not mention, and there are some.
fn check_listed(policy: &Policy, names: &[String]) -> Result<()> {
    let unlisted: Vec<&String> = names.iter().filter(|name| !policy.attributes.contains_key(*name)).collect();
    let (Unlisted::Refuse, Some(first)) = (policy.unlisted, unlisted.first()) else { return Ok(()) };
    let quoted: Vec<String> = unlisted.iter().take(NAMED).map(|name| format!("\"{name}\"")).collect();
    let listed = match (&quoted[..], unlisted.len() - quoted.len()) {
        ([one], 0) => format!("column {one}"),
        ([most @ .., last], 0) => format!("columns {} and {last}", most.join(", ")),
        (all, more) => format!("columns {} and {more} more", all.join(", ")),
    };
    let hint = "give each a section [attribute.NAME] with a role; or write under [data] unlisted = \"drop\" to leave out what is \
                not mentioned, or \"publish\" to publish it as it is";
    let message =
        format!("the policy does not mention the {listed}, which would be published as in the table");
    Err(Error::new(ErrorCode::UnlistedColumn, message).for_attribute(*first).with_hint(hint))
}

/// Why a column that would be published as it is looks like an identifier.
fn identifies(name: &str, policy: &Policy, texts: &[&str], counts: &[u64]) -> Option<String> {
    if let Some(why) = suggest::identifies(name, texts) {
        return Some(why.to_owned());
    }
    let values = Values::new(texts.iter().copied(), counts, &policy.missing);
    values.nearly_identify().then(|| {
        format!(
            "nearly every record has a value of its own ({} in {} cells)",
            values.distinct(),
            values.cells()
        )
    })
}

fn not_confirmed(policy: &Policy, name: &str, why: &str) -> Error {
    let message = format!("\"{name}\" would be published as it is, but looks like an identifier: {why}");
    let error = Error::new(ErrorCode::UnconfirmedIdentifier, message).for_attribute(name);
    match policy.attributes.get(name).filter(|attribute| !attribute.span.is_empty()) {
        Some(attribute) => policy.point(error, &attribute.span, "published as it is").with_hint(
            "write role = \"identifier\" to leave it out, role = \"quasi\" to generalize it, or confirmed = true if \
             nobody can be found by it",
        ),
        None => error.with_hint(format!(
            "give it a section [attribute.\"{name}\"] with role = \"identifier\" to leave it out, or with confirmed = true if \
             nobody can be found by it"
        )),
    }
}
