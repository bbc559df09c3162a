//! A release that is made to be looked at beside its table, and is not written anywhere.
//!
//! It is what `anonymize` would publish with the same policy, seed and secret, but for the order of its rows, which is that of
//! the table.

use std::path::Path;

use super::{Clock, make};
use crate::audit::Keep;
use crate::error::Result;
use crate::format::CSV;
use crate::plan::{Choices, Plan, Registry};
use crate::policy::Policy;
use crate::release::{Order, records_in_order};
use crate::report::{Provenance, Report};
use crate::secret::Secret;
use crate::table::Table;
use crate::watch::Watch;

/// A release to be looked at.
#[derive(Debug)]
pub struct Looked {
    /// What it achieves.
    pub report: Report,
    /// Its cells, all columns coded.
    pub release: Table,
    /// For each row of the release the row of the table that it is of.
    pub rows: Vec<u32>,
    /// Whether the method learned masks that a recipe could hold.
    pub has_recipe: bool,
    /// Whether the lower bound is proved, so that a certificate could be written.
    pub has_certificate: bool,
}

/// Makes a release of a table in a file.
pub fn look(
    data: &Path,
    policy: &Policy,
    secret: Secret,
    registry: &Registry,
    watch: &dyn Watch,
) -> Result<Looked> {
    let choices = Choices { order: Order::Keep, secret: Some(secret), proves: true, ..Choices::default() };
    let plan = Plan::new(policy, registry, choices)?;
    let mut clock = Clock::start();
    let table = plan.read(data, watch)?;
    clock.lap("read");
    let mut kept = None;
    let prepared = make(
        &plan,
        (&table, data, None),
        clock,
        watch,
        |problem, solved| {
            let written = plan.write_in_memory(&table, problem, solved, &CSV, watch)?;
            let received = written.read_back(problem, &solved.policy, Keep::All, watch)?;
            let records = records_in_order(problem, &solved.solution, Order::Keep);
            let rows: Vec<u32> = records.into_iter().map(|record| problem.row(record) as u32).collect();
            kept = Some((received.table, rows));
            Ok(written)
        },
        |_| Ok(provenance(data, &plan)),
    )?;
    let (release, rows) = kept.ok_or_else(|| crate::Error::bug("a release was made and not kept"))?;
    Ok(Looked {
        report: prepared.report,
        release,
        rows,
        has_recipe: prepared.recipe.is_some(),
        has_certificate: prepared.certificate.is_some(),
    })
}

fn provenance(data: &Path, plan: &Plan) -> Provenance {
    Provenance {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        data: data.display().to_string(),
        policy: plan.policy().text.clone(),
        ..Provenance::default()
    }
}
