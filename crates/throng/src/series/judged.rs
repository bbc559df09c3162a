//! Whether rows of a release may be a class, from what is published alone.
//!
//! k and l need no more than the rows. What else a policy may ask for is held against the table when a class is first
//! published, and cannot be seen from the rows again.

use super::sheet::Sheet;
use crate::error::Result;
use crate::policy::{AttributePolicy, Policy, Role};
use crate::privacy::{Judge, Part, Privacy, Requirement};
use crate::problem::Protected;
use crate::schema::{Kind, Tails};
use crate::table::{Storage, Table};
use crate::watch::Watch;

/// The sensitive values of a release, and what is asked of them.
#[derive(Debug)]
pub(super) struct Judged {
    sensitive: Vec<Protected>,
    requirement: Requirement,
}

impl Judged {
    pub fn new(sheet: &Sheet, policy: &Policy, watch: &dyn Watch) -> Result<Self> {
        let rows: Vec<u32> = (0..sheet.len() as u32).collect();
        let plan = |names: &[String]| {
            let storage = |name: &String| match policy.role(name) {
                Role::Sensitive => Storage::Coded,
                _ => Storage::Skip,
            };
            Ok(names.iter().map(storage).collect())
        };
        let table = sheet.select(&rows, &plan, policy, watch)?;
        let columns = (0..table.names().len()).filter(|column| table.storage(*column) == Storage::Coded);
        let sensitive: Vec<Protected> =
            columns.map(|column| values(&table, policy, column)).collect::<Result<_>>()?;
        let mut asked = Privacy::default();
        let by_rows = policy.privacy.specs().iter().filter(|spec| matches!(spec.part(), Part::K | Part::L));
        by_rows.for_each(|spec| asked.set(spec.clone()));
        let requirement = Requirement::new(&asked, &sensitive);
        Ok(Judged { sensitive, requirement })
    }

    /// Whether some rows may be a class.
    pub fn holds(&self, rows: &[u32]) -> bool {
        Judge::of(&self.requirement, &self.sensitive, None).holds(rows.iter().copied())
    }

    /// What is asked for, in words.
    pub fn words(&self) -> String {
        self.requirement.describe().join(", ")
    }
}

/// A column of sensitive values as it was published: tails are texts there, and hierarchies matter to nobody.
fn values(table: &Table, policy: &Policy, column: usize) -> Result<Protected> {
    let name = table.names()[column].clone();
    let own = policy.attributes.get(&name).map(|own| AttributePolicy {
        kind: match own.tails.is_empty() && own.hierarchy.is_none() {
            true => own.kind,
            false => Some(Kind::Categorical),
        },
        spelling: own.spelling.clone().filter(|_| own.tails.is_empty()),
        leaf_weights: Default::default(),
        node_weights: Default::default(),
        hierarchy: None,
        tails: Tails::default(),
        ..own.clone()
    });
    let encoding = table.encode(column, &policy.missing, own.as_ref())?;
    let numbers = table.numbers(column);
    let codes = numbers.iter().map(|number| encoding.codes[*number as usize]).collect();
    Ok(Protected {
        name,
        column,
        domain: encoding.domain,
        has_hierarchy: false,
        codes,
        people: None,
        whole: None,
    })
}
