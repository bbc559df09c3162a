//! What a reader of a report should know beside the figures: of the policy, of how the run went, and of the method.

use super::page::{Block, Section};
use super::series::PUBLISH_ONCE;
use super::text::listing;
use super::{as_is, diversity, methods};
use crate::audit::{Measures, RuleMeasure};
use crate::method::Fact;
use crate::policy::{AttributePolicy, Hierarchy, Kind, Policy, Role};
use crate::release::RowOrder;
use crate::schema::Official;

/// What decides which parts of a policy had an effect.
#[derive(Clone, Copy, Debug)]
pub struct Circumstances<'a> {
    /// The policy.
    pub policy: &'a Policy,
    /// Whether the method recodes numbers by the bands of their hierarchy.
    pub recodes_by_levels: bool,
    /// Whether soft rules steer the method.
    pub steered_by_rules: bool,
    /// Options that were written for another method.
    pub left_out_options: &'a [String],
    /// Whether the release is published by permutation.
    pub permuted: bool,
    /// Where the order of rows comes from.
    pub order: RowOrder,
    /// Whether it must stay the only release of its people, because no ledger knows of it.
    pub once: bool,
}

/// What a reader of a permuted release must know.
const PERMUTED: &str = "Published by permutation: quasi-identifiers are exact, so who is in the table can be told. Groups hide only which \
     of their sensitive values belongs to whom: l counts, not k.";

/// What a reader of a release in the table's order must know.
const KEPT_ORDER: &str = "Rows stand in the order of the table (--keep-order): whoever knows the place of a person in the table finds the \
     person's row here, whatever its cells hide.";

impl Circumstances<'_> {
    /// Notes and sections of a report.
    pub fn tell(&self, measures: &Measures, facts: &[Fact]) -> (Vec<String>, Vec<Section>) {
        let mut notes = self.notes(measures);
        notes.extend(methods::notes_of(facts));
        notes.extend(diversity::note(measures, facts));
        if self.permuted {
            notes.push(PERMUTED.to_owned());
        }
        if self.once {
            notes.push(PUBLISH_ONCE.to_owned());
        }
        if self.order == RowOrder::Kept {
            notes.push(KEPT_ORDER.to_owned());
        }
        if !measures.violations.is_empty() {
            let written =
                "The requirement does not hold; the records were written because that was asked for.";
            notes.push(written.to_owned());
        }
        let mut sections: Vec<Section> = as_is::section(&measures.published_as_is).into_iter().collect();
        sections.extend(facts.iter().flat_map(methods::sections));
        sections.extend(diversity::section(measures, facts));
        sections.extend(rules_section(measures));
        (notes, sections)
    }

    /// What in a policy has no effect on a release, or another one than a reader might think.
    fn notes(&self, measures: &Measures) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.left_out_options.is_empty() {
            let names = listing(self.left_out_options);
            let (do_not, were) =
                if self.left_out_options.len() == 1 { ("does not", "was") } else { ("do not", "were") };
            notes.push(format!(
                "[method] was written for another method: {names} {do_not} apply to this one and {were} left out."
            ));
        }
        if self.policy.privacy.suppress > 0.0 && measures.suppressed == 0 {
            notes.push("No record was suppressed: this run had no need to.".to_owned());
        }
        notes.extend(rules_note(measures));
        for (name, attribute) in &self.policy.attributes {
            if attribute.role == Role::Quasi && self.policy.role(name) == Role::Other {
                notes.push(format!(
                    "\"{name}\" is in none of the named quasi-identifiers and is published as it is."
                ));
            }
            if !self.steered_by_rules && attribute.rules.iter().any(|rule| !rule.hard) {
                notes.push(format!("The rules of \"{name}\" do not steer this method."));
            }
            if let Some(Hierarchy::Official(own)) = &attribute.hierarchy {
                let uncounted = match own.has_finest() {
                    true => " What they take away at the finest is not counted as loss.",
                    false => "",
                };
                notes.push(format!("The groups of \"{name}\" follow {}.{uncounted}", own.source()));
            }
            let numeric = attribute.kind == Some(Kind::Numeric) && levels(attribute);
            if !self.recodes_by_levels && numeric {
                notes.push(format!(
                    "\"{name}\" is numeric: it is published as ranges, its hierarchy is not used by this method."
                ));
            }
        }
        notes
    }
}

/// Whether an attribute has a hierarchy with levels of its own.
fn levels(attribute: &AttributePolicy) -> bool {
    match &attribute.hierarchy {
        Some(Hierarchy::Official(Official::Age(widths))) => !widths.is_empty(),
        hierarchy => hierarchy.is_some(),
    }
}

/// Which data constraint rules were kept.
fn rules_note(measures: &Measures) -> Option<String> {
    let rules = &measures.rules;
    let broken: Vec<String> = rules
        .iter()
        .filter(|rule| !rule.kept)
        .map(|rule| format!("{} of \"{}\" ({} records)", rule.rule, rule.attribute, rule.broken_records))
        .collect();
    (!rules.is_empty()).then(|| match (broken.is_empty(), rules.len()) {
        (true, 1) => "The rule is kept.".to_owned(),
        (true, all) => format!("All {all} rules are kept."),
        (false, 1) => format!("The rule is broken: {}.", broken[0]),
        (false, _) => {
            format!(
                "{} of {} rules are kept; broken: {}.",
                rules.len() - broken.len(),
                rules.len(),
                broken.join(", ")
            )
        }
    })
}

/// The rules of a policy as a part of the report.
fn rules_section(measures: &Measures) -> Option<Section> {
    let row = |rule: &RuleMeasure| {
        vec![
            rule.attribute.clone(),
            rule.rule.clone(),
            rule.importance.to_string(),
            if rule.hard { "yes" } else { "no" }.to_owned(),
            if rule.kept { "kept" } else { "broken" }.to_owned(),
            rule.broken_records.to_string(),
        ]
    };
    let head = ["attribute", "kept apart", "importance", "hard", "outcome", "records in breaking classes"];
    (!measures.rules.is_empty()).then(|| Section {
        heading: "Data constraint rules".to_owned(),
        blocks: vec![Block::Table {
            head: head.map(str::to_owned).to_vec(),
            rows: measures.rules.iter().map(row).collect(),
        }],
    })
}
