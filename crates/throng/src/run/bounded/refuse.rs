//! What is not done in parts, refused with its reason before anything is read.

use crate::error::{Error, ErrorCode, Result};
use crate::format::Format;
use crate::plan::Plan;
use crate::policy::Policy;
use crate::privacy::Part;
use crate::release::{Order, Publish};
use crate::run::Anonymize;
use crate::schema::Tail;

/// An error if a run cannot be done in parts.
pub(super) fn check(run: &Anonymize, plan: &Plan) -> Result<()> {
    let policy = plan.policy();
    if run.order == Order::Keep {
        return Err(refused(
            "--keep-order needs the whole table in memory",
            "leave it out: rows then come in a random order",
        ));
    }
    match plan.publish() {
        Publish::Cells => {}
        Publish::Bounds => {
            return Err(refused("--publish bounds needs the whole table in memory", "publish cells"));
        }
        Publish::Medians | Publish::Means => {
            return Err(refused("--publish midpoints needs the whole table in memory", "publish cells"));
        }
        Publish::Permutation => {
            return Err(refused(
                "a release by permutation needs the whole table in memory",
                "publish cells, by a method such as auto",
            ));
        }
    }
    check_method(run, plan)?;
    check_requirement(policy)?;
    if plan.suppress() > 0.0 {
        return Err(refused(
            "which records to suppress is decided over the whole table in memory",
            "leave out suppress, or write suppress = 0",
        ));
    }
    check_attributes(policy)?;
    if Format::of(&run.release).pieces.is_none() {
        return Err(refused(
            &format!("{} is not written in parts", Format::of(&run.release).name),
            "write CSV, Parquet or Arrow",
        ));
    }
    Ok(())
}

fn check_method(run: &Anonymize, plan: &Plan) -> Result<()> {
    let named = run.seconds.is_some() || plan.policy().method.options.contains_key("seconds");
    let traits = plan.traits();
    if plan.has_target() {
        return Err(refused(
            "the largest k that keeps a utility is looked for over the whole table in memory",
            "give k, and leave out max_gcp and max_query_error",
        ));
    }
    if !traits.in_parts {
        return Err(refused(
            &format!("the method {} looks at a table as a whole", plan.method_name()),
            "use a method that groups records, such as auto, mondrian, hilbert or peel",
        ));
    }
    match named {
        true => Err(refused(
            "a limit in seconds would let parts end differently from run to run",
            "leave out seconds",
        )),
        false => Ok(()),
    }
}

fn check_requirement(policy: &Policy) -> Result<()> {
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
        return Err(refused(&format!("{key} is not done in parts: {why}"), "leave it out, or run in memory"));
    }
    Ok(())
}

fn check_attributes(policy: &Policy) -> Result<()> {
    for (name, own) in &policy.attributes {
        if own.auto_weight {
            return Err(refused(
                "weight = \"auto\" looks at the whole table in memory",
                "write the weight as a number",
            )
            .for_attribute(name));
        }
        if [&own.tails.top, &own.tails.bottom].iter().any(|tail| matches!(tail, Some(Tail::Auto))) {
            return Err(refused(
                "top and bottom \"auto\" look at the whole table in memory",
                "write the number at which the tail begins",
            )
            .for_attribute(name));
        }
    }
    Ok(())
}

fn refused(why: &str, hint: &str) -> Error {
    Error::new(ErrorCode::BadUsage, format!("within a limit on memory: {why}"))
        .with_hint(format!("{hint}; or give the run more memory"))
}
