//! The tree that the hierarchy of a policy gives the values of a table, as lines of a file.

use crate::error::{Error, ErrorCode, Result};
use crate::policy::Policy;
use crate::table::{ANY, Table};
use crate::words::did_you_mean;

/// One line per value, `value, group, …, *`, and whether values are published no finer than their first group: as a file the
/// tree would not say so.
pub fn built(table: &Table, policy: &Policy, attribute: &str) -> Result<(Vec<Vec<String>>, bool)> {
    let column = table.names().iter().position(|name| name == attribute);
    let own = policy.attributes.get(attribute);
    let (Some(column), Some(own)) = (column, own) else {
        let message = format!("the policy has no attribute \"{}\"", attribute.escape_debug());
        let hint = did_you_mean(attribute, policy.attributes.keys().map(String::as_str));
        let error = Error::new(ErrorCode::UnknownColumn, message);
        return Err(error.with_hint_if(hint.map(|name| format!("did you mean \"{name}\"?"))));
    };
    let Some(hierarchy) = &own.hierarchy else {
        return Err(Error::new(ErrorCode::BadHierarchy, "this attribute has no hierarchy")
            .for_attribute(attribute)
            .with_hint(
                "write one into its section, for example hierarchy = { dates = [\"month\", \"year\"] }",
            ));
    };
    let tree = table.grown(column, &policy.missing, (hierarchy, own.spelling.as_ref()))?;
    let deepest = tree.paths().map(|(_, above)| above.len()).max().unwrap_or(0);
    let line = |(leaf, above): (&str, &[String])| {
        let last = above.last().map_or(leaf, String::as_str);
        let rest = std::iter::repeat_n(last, deepest - above.len()).chain([ANY]);
        let line = std::iter::once(leaf).chain(above.iter().map(String::as_str)).chain(rest);
        line.map(str::to_owned).collect()
    };
    Ok((tree.paths().map(line).collect(), hierarchy.finest().is_some()))
}
