//! Masking other records with a learned recoding.
//!
//! The recoding was safe for the records it was learned from; whether it is for others, the audit tells. A value that the
//! recipe does not cover is published as `*`.

use std::path::PathBuf;

use crate::audit::audit;
use crate::classes::Classes;
use crate::error::{Error, Result};
use crate::method::{GroupCells, Partition, Solution};
use crate::policy::{Hierarchy, Policy, Role};
use crate::privacy::Tally;
use crate::problem::Problem;
use crate::recipe::{Finder, Recipe};
use crate::release::{Order, Output, Publish, Release};
use crate::report::{Provenance, Report};
use crate::run::{Clock, Prepared, check_release_is_not_the_table, hash};
use crate::table::{Reading, Table};
use crate::watch::Watch;

/// What to mask.
#[derive(Clone, Debug)]
pub struct Apply {
    /// The recoding.
    pub recipe: Recipe,
    /// The table, or `-`.
    pub data: PathBuf,
    /// The release, or `-`.
    pub release: PathBuf,
    /// In which order rows are written.
    pub order: Order,
    /// The seed of the order of rows.
    pub seed: u64,
    /// What happens where the requirement does not hold.
    pub unmet: Unmet,
    /// Whether to hash input and output, for the report.
    pub hashes: bool,
}

/// What happens if masked records do not meet the requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unmet {
    /// Nothing is written.
    Refuse,
    /// The records of classes that fall short are left out.
    Suppress,
    /// They are written all the same, for use where the table itself may be seen.
    Publish,
}

impl Apply {
    /// Masks the records, up to the point where the release would appear under its name.
    pub fn prepare(&self, watch: &dyn Watch) -> Result<Prepared> {
        let mut clock = Clock::start();
        check_release_is_not_the_table(&self.data, &self.release)?;
        let table = self.read(watch)?;
        let mut policy = self.recipe.policy_for(table.names())?.with_seed(self.seed);
        clock.lap("read");
        take_unknown_values_in(&mut policy, &table)?;
        if self.unmet == Unmet::Suppress {
            // Leaving records out was asked for, however many.
            (policy.privacy.suppress, policy.privacy.suppress_given) = (1.0, true);
        }
        let problem = Problem::new(&table, &policy)?;
        clock.lap("encode");
        watch.stage("masking", None);
        let (solution, mut notes) = self.mask(&problem)?;
        clock.lap("anonymize");
        let mut output = Output::create(&self.release)?;
        Release::new(&table, &problem, &policy, &solution, Publish::Cells, self.order)?
            .write(&mut output, watch)?;
        clock.lap("write");
        let findings = audit(&problem, &policy, output.temporary_path(), watch)?;
        clock.lap("audit");
        if let Some(violation) = findings.measures.violations.first() {
            if self.unmet != Unmet::Publish {
                return Err(unmet(violation).in_file(&self.data));
            }
            notes.push(
                "The requirement does not hold; the records were written because that was asked for."
                    .to_owned(),
            );
        }
        let (data_hash, release_hash) = match self.hashes {
            true => (hash(&self.data)?, hash(output.temporary_path())?),
            false => (String::new(), String::new()),
        };
        let report = Report {
            measures: findings.measures,
            method: self.recipe.method.clone(),
            seed: self.seed,
            seconds: clock.finish(),
            distributions: findings.distributions,
            quasi: problem.attributes.iter().map(|attribute| attribute.name.clone()).collect(),
            sensitive_attributes: problem.sensitive.iter().map(|counted| counted.name.clone()).collect(),
            examples: findings.examples,
            provenance: Provenance {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                data: self.data.display().to_string(),
                data_hash,
                release: self.release.display().to_string(),
                release_hash,
                ..Provenance::default()
            },
            notes,
            sections: Vec::new(),
        };
        watch.check()?;
        Ok(Prepared::new(output, None, report, None))
    }

    fn read(&self, watch: &dyn Watch) -> Result<Table> {
        let policy = self.recipe.policy()?;
        let missing = policy.missing.first().map_or("", String::as_str);
        let plan = |names: &[String]| self.recipe.storage(&policy, names);
        Table::read(&Reading { path: &self.data, missing, plan: &plan, watch })
    }

    /// The masked records in classes, and what to know about them.
    fn mask(&self, problem: &Problem) -> Result<(Solution, Vec<String>)> {
        let mut notes = Vec::new();
        let (mut finders, mut of_record) = (Vec::new(), Vec::new());
        for (at, attribute) in problem.attributes.iter().enumerate() {
            let own = self.recipe.attributes.get(&attribute.name);
            let finder = Finder::new(own.map_or(&[], |own| &own.cells))?;
            let of_code = finder.cells_of(attribute);
            let codes = (0..problem.len()).map(|record| problem.records.code(record, at) as usize);
            let cells: Vec<u32> = codes.map(|code| of_code[code].unwrap_or(u32::MAX)).collect();
            let covers_all =
                attribute.domain.kind() == crate::policy::Kind::Numeric || attribute.has_hierarchy;
            let unknown = cells.iter().filter(|cell| **cell == u32::MAX).count();
            if covers_all && unknown > 0 && own.is_some_and(|own| !own.cells.is_empty()) {
                notes.push(format!(
                    "{unknown} values of \"{}\" are not covered by the recipe and were published as *.",
                    attribute.name
                ));
            }
            finders.push(finder);
            of_record.push(cells);
        }
        let kept = match self.unmet {
            Unmet::Suppress => safe_records(problem, &of_record),
            Unmet::Refuse | Unmet::Publish => (0..problem.len() as u32).collect(),
        };
        if kept.is_empty() {
            return Err(unmet("no class of records is large enough").in_file(&self.data));
        }
        let classes = group(&of_record, &kept);
        let cells = finders
            .iter()
            .zip(&of_record)
            .map(|(finder, of_record)| {
                let of = |class: &Vec<u32>| of_record[class[0] as usize];
                GroupCells::new(classes.iter().map(of), |cell| {
                    finder.text((cell != u32::MAX).then_some(cell)).to_owned()
                })
            })
            .collect();
        let inside: std::collections::BTreeSet<u32> = kept.into_iter().collect();
        let suppressed = (0..problem.len() as u32).filter(|record| !inside.contains(record)).collect();
        let sizes: Vec<usize> = classes.iter().map(Vec::len).collect();
        let partition = Partition::from_sizes(classes.concat(), sizes);
        Ok((Solution { partition, suppressed, cells: Some(cells), ..Solution::default() }, notes))
    }
}

fn unmet(violation: &str) -> Error {
    Error::requirement(format!("masked with this recipe, the records do not meet its requirement: {violation}"))
        .with_hint(
            "mask more records at once, leave out those that fall short with --unmet suppress, or write them all the \
             same with --unmet publish",
        )
}

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
        *tree = std::mem::take(tree).finish().map_err(|error| {
            error
                .in_file(table.path())
                .for_attribute(name)
                .with_hint("the table has a value called like a group")
        })?;
    }
    Ok(())
}

/// Some records in classes of equal cells, in the order of their first records.
fn group(of_record: &[Vec<u32>], records: &[u32]) -> Vec<Vec<u32>> {
    let columns: Vec<Vec<u32>> = of_record
        .iter()
        .map(|cells| records.iter().map(|record| cells[*record as usize]).collect())
        .collect();
    let classes = Classes::group_numbers(&columns, records.len());
    let mut classes: Vec<Vec<u32>> = (0..classes.len())
        .map(|class| classes.rows(class).iter().map(|row| records[*row as usize]).collect())
        .collect();
    classes.sort_unstable_by_key(|class| class[0]);
    classes
}

/// The records that are left if those of classes that fall short are taken out again and again.
fn safe_records(problem: &Problem, of_record: &[Vec<u32>]) -> Vec<u32> {
    let mut kept: Vec<u32> = (0..problem.len() as u32).collect();
    loop {
        let before = kept.len();
        for own in problem.requirement.quasi_identifiers() {
            let inside = |name: &String| own.attributes.as_ref().is_none_or(|names| names.contains(name));
            let cells: Vec<Vec<u32>> = problem
                .attributes
                .iter()
                .zip(of_record)
                .filter(|(attribute, _)| inside(&attribute.name))
                .map(|(_, cells)| cells.clone())
                .collect();
            kept = group(&cells, &kept).into_iter().filter(|class| class.len() >= own.k).flatten().collect();
        }
        let holds = |class: &Vec<u32>| {
            let mut tally = Tally::for_problem(problem);
            class.iter().for_each(|record| tally.add_record(&problem.sensitive, *record));
            problem.requirement.holds_beyond_size(&tally)
        };
        kept = group(of_record, &kept).into_iter().filter(holds).flatten().collect();
        kept.sort_unstable();
        if kept.len() == before {
            return kept;
        }
    }
}
