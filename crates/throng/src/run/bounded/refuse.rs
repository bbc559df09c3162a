//! What is not done in parts, refused with its reason before anything is read.

use crate::error::{Error, ErrorCode, Result};
use crate::format::Format;
use crate::plan::Plan;
use crate::policy::Policy;
use crate::privacy::Part;
use crate::release::{Order, Publish};
use crate::run::Anonymize;
use crate::schema::Tail;

/// Where parts are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::run) enum Place {
    /// On this machine, within a limit on memory.
    Machine,
    /// On many.
    Cluster,
}

/// An error if a run cannot be done in parts.
pub(super) fn check_run(run: &Anonymize, plan: &Plan) -> Result<()> {
    if run.order == Order::Keep {
        return Err(Place::Machine.refused(
            "--keep-order needs the whole table in memory",
            "leave it out: rows then come in a random order",
        ));
    }
    if run.seconds.is_some() {
        return Err(Place::Machine.seconds());
    }
    Place::Machine.check(plan)?;
    if Format::of(&run.release).pieces.is_none() {
        return Err(Place::Machine.refused(
            &format!("{} is not written in parts", Format::of(&run.release).name),
            "write CSV, Parquet or Arrow",
        ));
    }
    Ok(())
}

impl Place {
    /// An error if a plan cannot be carried out in parts.
    pub(in crate::run) fn check(self, plan: &Plan) -> Result<()> {
        let way = match plan.publish() {
            Publish::Cells => None,
            Publish::Bounds => Some("bounds"),
            Publish::Medians | Publish::Means => Some("midpoints"),
            Publish::Permutation => Some("permutation"),
        };
        if let Some(way) = way {
            return Err(self.refused(
                &format!("publishing by {way} needs the whole table in memory"),
                "publish cells, by a method such as auto",
            ));
        }
        self.check_method(plan)?;
        self.check_requirement(plan.policy())?;
        if plan.suppress() > 0.0 {
            return Err(self.refused(
                "which records to suppress is decided over the whole table in memory",
                "leave out suppress, or write suppress = 0",
            ));
        }
        self.check_attributes(plan.policy())
    }

    fn check_method(self, plan: &Plan) -> Result<()> {
        if plan.has_target() {
            return Err(self.refused(
                "the largest k that keeps a utility is looked for over the whole table in memory",
                "give k, and leave out max_gcp and max_query_error",
            ));
        }
        if !plan.traits().in_parts {
            return Err(self.refused(
                &format!("the method {} looks at a table as a whole", plan.method_name()),
                "use a method that groups records, such as auto, mondrian, hilbert or peel",
            ));
        }
        match plan.policy().method.options.contains_key("seconds") {
            true => Err(self.seconds()),
            false => Ok(()),
        }
    }

    fn seconds(self) -> Error {
        self.refused(
            "a limit in seconds would let parts end differently from run to run",
            "leave out seconds",
        )
    }

    fn check_requirement(self, policy: &Policy) -> Result<()> {
        let asked = policy.privacy.specs().iter().map(|spec| (spec.part(), spec.key()));
        let people = policy.counts_people().then_some((Part::People, "the role \"person\""));
        for (part, key) in asked.chain(people) {
            let why = match part {
                Part::K | Part::L | Part::T if key != "quasi_identifiers" => continue,
                Part::K => "several quasi-identifiers are measured over the whole release in memory",
                Part::OwnK => "what single records ask for is looked at over the whole table in memory",
                Part::People => "the records of a person may lie in several parts",
                Part::HardRules => "what hard rules keep apart is looked for over the whole table in memory",
                _ => "limits on the loss of classes are searched for over the whole table in memory",
            };
            return Err(
                self.refused(&format!("{key} is not done in parts: {why}"), "leave it out, or run in memory")
            );
        }
        Ok(())
    }

    fn check_attributes(self, policy: &Policy) -> Result<()> {
        for (name, own) in &policy.attributes {
            if own.auto_weight {
                return Err(self
                    .refused(
                        "weight = \"auto\" looks at the whole table in memory",
                        "write the weight as a number",
                    )
                    .for_attribute(name));
            }
            if [&own.tails.top, &own.tails.bottom].iter().any(|tail| matches!(tail, Some(Tail::Auto))) {
                return Err(self
                    .refused(
                        "top and bottom \"auto\" look at the whole table in memory",
                        "write the number at which the tail begins",
                    )
                    .for_attribute(name));
            }
        }
        Ok(())
    }

    fn refused(self, why: &str, hint: &str) -> Error {
        let (place, otherwise) = match self {
            Place::Machine => ("within a limit on memory", "give the run more memory"),
            Place::Cluster => ("on a cluster", "run the table in memory, with throng.anonymize"),
        };
        Error::new(ErrorCode::BadUsage, format!("{place}: {why}"))
            .with_hint(format!("{hint}; or {otherwise}"))
    }
}
