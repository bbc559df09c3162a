//! Columns that say again what the quasi-identifiers hide.
//!
//! If every value of a published column goes with one value of a quasi-identifier, generalizing the latter hides nothing:
//! whoever reads the column knows it. Cost: one pass over the rows for each pair, ended at the first that disagrees.

use crate::parallel;
use crate::policy::{Policy, Role};
use crate::table::{Storage, Table};

/// A published column and the quasi-identifier that it tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Again {
    /// The column that is published as it is.
    pub column: String,
    /// The quasi-identifier.
    pub hidden: String,
}

/// The published columns of a table that tell a quasi-identifier, all of them coded. Columns in which most rows differ are
/// not looked at: they tell everything, and are refused by themselves.
pub fn says_again(table: &Table, policy: &Policy) -> Vec<Again> {
    let names = table.names();
    let coded = |at: &usize| table.storage(*at) == Storage::Coded;
    let with = |roles: &'static [Role]| {
        (0..names.len()).filter(coded).filter(move |at| roles.contains(&policy.role(&names[*at])))
    };
    let quasi: Vec<usize> = with(&[Role::Quasi]).filter(|at| table.values(*at).len() > 1).collect();
    let shared = |at: &usize| table.values(*at).len() * 2 <= table.len();
    let published = with(&[Role::Other, Role::Class, Role::Sensitive]).filter(shared);
    let pairs: Vec<(usize, usize)> =
        published.flat_map(|column| quasi.iter().map(move |hidden| (column, *hidden))).collect();
    let told = |(column, hidden): (usize, usize)| {
        tells(table, column, hidden)
            .then(|| Again { column: names[column].clone(), hidden: names[hidden].clone() })
    };
    parallel::map(pairs, told).into_iter().flatten().collect()
}

/// Whether each value of a column goes with one value of another.
fn tells(table: &Table, column: usize, hidden: usize) -> bool {
    const UNSEEN: u32 = u32::MAX;
    let mut goes_with = vec![UNSEEN; table.values(column).len()];
    table.numbers(column).iter().zip(table.numbers(hidden)).all(|(own, other)| {
        let known = &mut goes_with[*own as usize];
        let agrees = *known == UNSEEN || known == other;
        *known = *other;
        agrees
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::table::Reading;
    use crate::watch::Unwatched;

    #[test]
    fn only_columns_that_tell_a_quasi_identifier_are_named() {
        let text = "age,years,city,post\n31,31y,Rome,1\n31,31y,Oslo,2\n56,56y,Oslo,2\n56,56y,Rome,1\n\
                    31,31y,Oslo,3\n56,56y,Oslo,3\n31,31y,Rome,1\n56,56y,Rome,1\n";
        let all = |names: &[String]| Ok(vec![Storage::Coded; names.len()]);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        std::fs::write(&path, text).unwrap();
        let table = Table::read(&path, &Reading::new(&all, &Unwatched)).unwrap();
        let policy =
            "[privacy]\nk = 2\n[attribute.age]\nrole = \"quasi\"\n[attribute.city]\nrole = \"quasi\"\n";
        let policy = Policy::parse(policy, None).unwrap();
        let found = says_again(&table, &policy);
        let pair = |column: &str, hidden: &str| Again { column: column.into(), hidden: hidden.into() };
        assert_eq!(found, [pair("years", "age"), pair("post", "city")]);
    }
}
