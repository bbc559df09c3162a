//! Masking other records with a learned recoding.
//!
//! The recoding was safe for the records it was learned from; whether it is for others, the audit tells, and whether every
//! cell covers the record behind it. A value that the recipe does not cover is published as `*`.

use std::path::PathBuf;

use super::{Clock, Job, Prepared, check_outputs};
use crate::classes::Classes;
use crate::collections::Arrange;
use crate::error::{Error, ErrorCode, Result};
use crate::formula::Formulas;
use crate::method::{GroupCells, Method, Partition, Recoding, Solution};
use crate::plan::{Choices, Plan, UNMET_HINT, Unmet};
use crate::privacy::Judge;
use crate::problem::Problem;
use crate::recipe::{Masker, Recipe, take_unknown_values_in};
use crate::release::{Files, Order, Publish};
use crate::secret::Secret;
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
    /// What happens where the requirement does not hold.
    pub unmet: Unmet,
    /// Whether to hash input and output, for the report.
    pub hashes: bool,
    /// What the order of rows is drawn from; fresh unless somebody brings one.
    pub secret: Option<Secret>,
    /// What becomes of cells that a spreadsheet would run.
    pub formulas: Formulas,
    /// How quasi-identifiers are written: as cells or as bounds.
    pub publish: Publish,
}

impl Apply {
    /// What it reads and writes; an error if it would destroy something.
    pub fn files(&self) -> Result<Files> {
        check_outputs(&self.data, None, &self.release, Publish::Cells)
    }

    /// Masks the records, up to the point where the release would appear under its name.
    pub fn prepare(&self, watch: &dyn Watch) -> Result<Prepared> {
        let mut clock = Clock::start();
        self.files()?;
        let table = read_for_recipe(&self.recipe, watch, |reading| Table::read(&self.data, reading))?;
        clock.lap("read");
        let Apply { order, formulas, publish, .. } = *self;
        let choices = Choices { order, formulas, publish, secret: self.secret.clone(), ..Choices::default() };
        let plan = plan_for_recipe(&self.recipe, &table, self.unmet, choices)?;
        let job = Job {
            plan: &plan,
            data: &self.data,
            release: &self.release,
            overrides: &[],
            hashes: self.hashes,
        };
        job.prepare(&table, clock, watch)
    }
}

/// Reads a table as a recipe needs it.
pub(crate) fn read_for_recipe(
    recipe: &Recipe,
    watch: &dyn Watch,
    open: impl FnOnce(&Reading<'_>) -> Result<Table>,
) -> Result<Table> {
    recipe.check()?;
    let policy = recipe.policy()?;
    let plan = |names: &[String]| recipe.storage(&policy, names);
    open(&policy.reading(&plan, watch))
}

/// The plan that masks a table with a recipe.
pub(crate) fn plan_for_recipe(
    recipe: &Recipe,
    table: &Table,
    unmet: Unmet,
    choices: Choices,
) -> Result<Plan> {
    if !matches!(choices.publish, Publish::Cells | Publish::Bounds) {
        return Err(Error::new(
            ErrorCode::BadUsage,
            "records that are masked with a recipe are published as cells or as bounds",
        )
        .with_hint("the recipe tells ranges and groups, and these are what it can publish"));
    }
    let mut policy = recipe.policy_for(table.names())?;
    take_unknown_values_in(&mut policy, table)?;
    let masking = Masking { recipe: recipe.clone(), unmet };
    Plan::of_method(&policy, Box::new(masking), unmet, choices)
}

/// A saved recoding as a method.
struct Masking {
    recipe: Recipe,
    unmet: Unmet,
}

impl Method for Masking {
    fn solve(&self, problem: &Problem, watch: &dyn Watch) -> Result<Solution> {
        watch.stage("masking", None);
        let masker = self.recipe.masker(problem)?;
        let attributes = 0..problem.attributes.len();
        let of_record: Vec<&[u32]> = attributes.clone().map(|at| masker.cells(at)).collect();
        let facts = attributes.filter_map(|at| masker.not_covered(problem, at)).collect();
        let kept = match self.unmet {
            Unmet::Suppress => safe_records(problem, &of_record),
            _ => (0..problem.len() as u32).collect(),
        };
        if kept.is_empty() {
            return Err(Error::new(ErrorCode::RecipeNotSafe,
                "masked with this recipe, the records do not meet its requirement: no class of records is large enough",
            )
            .with_hint(UNMET_HINT));
        }
        let classes = group(&of_record, &kept);
        let cells = of_record
            .iter()
            .enumerate()
            .map(|(at, of_record)| {
                let of = |class: &Vec<u32>| of_record[class[0] as usize];
                GroupCells::new(classes.iter().map(of), |cell| masker.text(at, cell).to_owned())
            })
            .collect();
        // Those that are kept ascend.
        let is_left_out = |record: &u32| kept.binary_search(record).is_err();
        let suppressed = (0..problem.len() as u32).filter(is_left_out).collect();
        let sizes: Vec<usize> = classes.iter().map(Vec::len).collect();
        let partition = Partition::from_sizes(classes.concat(), sizes);
        Ok(Solution { partition, suppressed, recoding: Recoding::Cells(cells), facts })
    }
}

/// Some records in classes of equal cells, in the order of their first records.
fn group(of_record: &[&[u32]], records: &[u32]) -> Vec<Vec<u32>> {
    let columns: Vec<Vec<u32>> = of_record
        .iter()
        .map(|cells| records.iter().map(|record| cells[*record as usize]).collect())
        .collect();
    let classes = Classes::group_numbers(&columns, records.len());
    let mut classes: Vec<Vec<u32>> = (0..classes.len())
        .map(|class| classes.rows(class).iter().map(|row| records[*row as usize]).collect())
        .collect();
    classes.arrange_by_key(|class| class[0]);
    classes
}

/// The records that are left if those of classes that fall short are taken out again and again.
fn safe_records(problem: &Problem, of_record: &[&[u32]]) -> Vec<u32> {
    // `*` breaks every rule.
    let hard = |(at, _): &(usize, &&[u32])| problem.rules.of(*at).any(|rule| rule.hard);
    let ruled: Vec<&[u32]> = of_record.iter().enumerate().filter(hard).map(|(_, cells)| *cells).collect();
    let keeps_rules = |record: &u32| !ruled.iter().any(|cells| Masker::hides(cells[*record as usize]));
    let mut kept: Vec<u32> = (0..problem.len() as u32).filter(keeps_rules).collect();
    loop {
        let before = kept.len();
        for own in problem.requirement.quasi_identifiers() {
            let inside = |name: &String| own.attributes.as_ref().is_none_or(|names| names.contains(name));
            let cells: Vec<&[u32]> = problem
                .attributes
                .iter()
                .zip(of_record)
                .filter(|(attribute, _)| inside(&attribute.name))
                .map(|(_, cells)| *cells)
                .collect();
            let large = |class: &Vec<u32>| problem.people_among(class) >= own.k;
            kept = group(&cells, &kept).into_iter().filter(large).flatten().collect();
        }
        let beyond = Judge::beyond_size(problem);
        let holds = |class: &Vec<u32>| beyond.as_ref().is_none_or(|judge| judge.holds(class.iter().copied()));
        kept = group(of_record, &kept).into_iter().filter(holds).flatten().collect();
        if let Some(people) = &problem.people {
            kept = people.whole(&kept);
        }
        kept.sort_unstable();
        if kept.len() == before {
            return kept;
        }
    }
}
