//! The newcomers of a release: a release of their own, in memory.

use std::path::Path;

use rand::seq::SliceRandom;

use super::super::{Anonymize, Clock, Prepared, make};
use crate::audit::Keep;
use crate::error::{Error, Result};
use crate::format::Format;
use crate::plan::{Choices, Plan, Solved, Written};
use crate::policy::Policy;
use crate::problem::Problem;
use crate::published::Cells;
use crate::release::{Batches, MemoryFile, Order, Sink, records_in_order};
use crate::report::{Provenance, Report};
use crate::secret::Secret;
use crate::series::{Members, NewClass, Sheet};
use crate::table::Table;
use crate::watch::Watch;

/// The stream of random numbers for the names of classes: they must not follow the order in which a method found them.
const NAMES: u64 = 5;

/// Newcomers in classes.
pub(super) struct Cohort {
    /// Their rows as they will be published.
    pub sheet: Sheet,
    /// The class of each row, counted from 0.
    pub class_of_row: Vec<u32>,
    /// The row of the table behind each row.
    pub table_rows: Vec<u32>,
    /// The loss of each class.
    losses: Vec<f64>,
    /// What they were told in.
    pub report: Report,
}

/// What is known of the groups while they are written.
struct Groups {
    class_of_row: Vec<u32>,
    table_rows: Vec<u32>,
    losses: Vec<f64>,
}

impl Cohort {
    /// Groups some rows of a table.
    pub fn make(
        run: &Anonymize,
        policy: &Policy,
        secret: &Secret,
        (table, rows): (&Table, &[u32]),
        clock: Clock,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let choices = Choices {
            publish: run.publish,
            order: Order::Shuffled,
            secret: Some(secret.clone()),
            formulas: run.formulas,
            seconds: run.seconds,
            proves: false,
        };
        let plan = Plan::new(policy, &run.registry, choices)?;
        let format = Format::of(&run.release);
        let place = (table, run.data.as_path(), rows);
        let (sheet, groups, report) = match format.is_text() {
            true => Self::in_memory(&plan, place, clock, watch, |problem, solved| {
                plan.write_in_memory(table, problem, solved, format, watch) as Result<Written<MemoryFile>>
            })?,
            false => Self::in_memory(&plan, place, clock, watch, |problem, solved| {
                plan.to_batches(table, problem, solved, watch) as Result<Written<Batches>>
            })?,
        };
        let Groups { class_of_row, table_rows, losses } = groups;
        Ok(Cohort { sheet, class_of_row, table_rows, losses, report })
    }

    fn in_memory<S: Sink>(
        plan: &Plan,
        (table, data, rows): (&Table, &Path, &[u32]),
        clock: Clock,
        watch: &dyn Watch,
        write: impl FnOnce(&Problem, &Solved) -> Result<Written<S>>,
    ) -> Result<(Sheet, Groups, Report)> {
        let mut groups = None;
        let Prepared { written, report, .. } = make(
            plan,
            (table, data, Some(rows)),
            clock,
            watch,
            |problem, solved| {
                let written = write(problem, solved)?;
                groups = Some(Groups::of(plan, problem, solved, &written, watch)?);
                Ok(written)
            },
            |_| Ok(Provenance::default()),
        )?;
        let sheet = Sheet::read_back(&written.release, plan.policy(), watch)?;
        let groups = groups.ok_or_else(|| Error::bug("a release without groups"))?;
        Ok((sheet, groups, report))
    }

    /// The classes with their people.
    pub fn classes(&self, members: &Members) -> Vec<NewClass> {
        let mut classes: Vec<NewClass> =
            self.losses.iter().map(|loss| NewClass { loss: *loss, people: Vec::new() }).collect();
        for (class, row) in self.class_of_row.iter().zip(&self.table_rows) {
            classes[*class as usize].people.extend(members.of_row[*row as usize]);
        }
        classes
    }
}

impl Groups {
    fn of<S: Sink>(
        plan: &Plan,
        problem: &Problem,
        solved: &Solved,
        written: &Written<S>,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let partition = &solved.solution.partition;
        let mut names: Vec<u32> = (0..partition.len() as u32).collect();
        names.shuffle(&mut problem.secret.stream(NAMES));
        let group_of = partition.group_of_record(problem.len());
        let records = records_in_order(problem, &solved.solution, plan.order());
        let class_of_row: Vec<u32> =
            records.iter().map(|record| names[group_of[*record as usize] as usize]).collect();
        let received = written.read_back(problem, &solved.policy, Keep::Audited, watch)?;
        let cells = Cells::read(problem, &solved.policy, &received.table)?;
        let mut losses = vec![0.0; partition.len()];
        for (row, class) in class_of_row.iter().enumerate() {
            let of_attribute = problem.attributes.iter().enumerate();
            let loss: f64 = of_attribute.map(|(at, own)| own.weight * cells.cell(at, row).ncp).sum();
            losses[*class as usize] = loss / problem.total_weight();
        }
        let table_rows = records.iter().map(|record| problem.row(*record) as u32).collect();
        Ok(Groups { class_of_row, table_rows, losses })
    }
}
