//! Values of other records that hierarchies do not have.

use crate::error::Result;
use crate::policy::{Hierarchy, Policy, Role};
use crate::table::Table;

/// Values that a hierarchy does not have become leaves below its root, where nothing but `*` covers them.
pub(crate) fn take_unknown_values_in(policy: &mut Policy, table: &Table) -> Result<()> {
    let missing = policy.missing.clone();
    for (column, name) in table.names().iter().enumerate() {
        if policy.role(name) != Role::Quasi {
            continue;
        }
        let Some(Hierarchy::Tree(tree)) =
            policy.attributes.get_mut(name).and_then(|attribute| attribute.hierarchy.as_mut())
        else {
            continue;
        };
        for text in table.values(column) {
            if !tree.contains(text) && !missing.iter().any(|marker| marker == text) {
                tree.push(vec![text.to_owned()])?;
            }
        }
        // No common root is dropped: the recipe may publish it.
        *tree = std::mem::take(tree).checked().map_err(|error| {
            error
                .in_file(table.origin())
                .for_attribute(name)
                .with_hint("the table has a value called like a group")
        })?;
    }
    Ok(())
}
