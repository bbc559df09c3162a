//! What methods say of what they found, in words. A fact of a method has its sentences and tables here and nowhere else.

mod associations;
mod frontier;
mod full_domain;
mod refinement;

use super::Section;
use super::number::count;
use super::page::Block;
use super::text::listing;
use crate::method::Fact;
use crate::method::facts::Because;

/// Sentences for the notes of a report. Parts that hard rules keep apart are refined one by one: what is said of one need not
/// hold for the others.
pub(super) fn notes_of(facts: &[Fact]) -> Vec<String> {
    let refined = facts.iter().filter(|fact| matches!(fact, Fact::Refinement(_))).count();
    let told = |fact: &Fact| -> Vec<String> {
        match matches!(fact, Fact::Refinement(_)) && refined > 1 {
            true => notes(fact).iter().map(|note| format!("{OF_A_PART} {note}")).collect(),
            false => notes(fact),
        }
    };
    facts.iter().flat_map(told).collect()
}

const OF_A_PART: &str = "In a part of the table that hard rules keep apart:";

fn notes(fact: &Fact) -> Vec<String> {
    match fact {
        Fact::Chosen { method, because } => {
            vec![format!("auto chose the method {method}: {}.", reason(because))]
        }
        Fact::GroupedByNeed { needs, gcp, gcp_together } => {
            let band = |(least, most): &(u32, u32)| match least == most {
                true => least.to_string(),
                false => format!("{least} to {most}"),
            };
            let needs: Vec<String> = needs.iter().rev().map(band).collect();
            vec![format!(
                "Records that ask for a k of their own were grouped by what they ask for ({}): that loses {:.1} %, grouping \
                 all of them together would lose {:.1} %. Classes are then about as large as their records ask for, so a \
                 reader can guess from the size of a class what k its records asked for. If nobody may know who asks for \
                 more, write needs = \"together\" under [method].",
                needs.join("; "),
                100.0 * gcp,
                100.0 * gcp_together
            )]
        }
        Fact::LeftOut { records } => {
            let were = if *records == 1 { "record was" } else { "records were" };
            vec![format!(
                "{records} {were} left out first: with more of the table the requirement cannot be met."
            )]
        }
        Fact::LeftOutForOthers { records } => {
            let (were, they) = if *records == 1 { ("record was", "it") } else { ("records were", "they") };
            vec![format!(
                "{records} {were} left out because the others keep more detail without: the loss is smaller than with \
                 all records, although {they} count{} as fully lost.",
                if *records == 1 { "s" } else { "" }
            )]
        }
        Fact::PeeledInPart { rest, of, by } => vec![format!(
            "Peeling ended when its effort was used up: {} of {} records were cut by {by} instead. With more time (`seconds` \
             under [method], or --seconds) the loss would as a rule be smaller.",
            count(*rest as u64),
            count(*of as u64)
        )],
        Fact::ReachedWithinLimit { measure, value } => {
            vec![format!("Within the limit on the loss of every class, {measure} = {value} was reached.")]
        }
        Fact::Associations(found) => associations::notes(found),
        Fact::FullDomain(found) => full_domain::notes(found),
        // Told beside l, with what it means there.
        Fact::ClusterValue { .. } | Fact::Grouped { .. } => Vec::new(),
        Fact::Refinement(found) => refinement::notes(found),
        Fact::Frontier(found) => frontier::notes(found),
        Fact::NotCovered { attribute, values } => vec![format!(
            "{values} values of \"{attribute}\" are not covered by the recipe and were published as *."
        )],
        Fact::Remark { words } => vec![words.clone()],
    }
}

/// Fields of a report in a terminal: what each is called, and its words.
pub(super) fn fields(fact: &Fact) -> Vec<(&'static str, String)> {
    match fact {
        Fact::FullDomain(found) => full_domain::fields(found),
        Fact::ClusterValue { left, before } => vec![("Value", cluster_words(*left, *before))],
        _ => Vec::new(),
    }
}

fn cluster_words(left: f64, before: f64) -> String {
    format!("The clusters leave a research value of {left:.6}, of {before:.6} before.")
}

/// Parts of a report.
pub fn sections(fact: &Fact) -> Vec<Section> {
    match fact {
        Fact::Associations(found) => vec![associations::section(found)],
        Fact::FullDomain(found) => vec![full_domain::section(found)],
        Fact::ClusterValue { left, before } => vec![Section {
            heading: "Research value".to_owned(),
            blocks: vec![Block::Words(cluster_words(*left, *before))],
        }],
        Fact::Refinement(found) => refinement::sections(found),
        Fact::Frontier(found) => vec![frontier::section(found)],
        Fact::Chosen { .. }
        | Fact::Grouped { .. }
        | Fact::GroupedByNeed { .. }
        | Fact::LeftOut { .. }
        | Fact::LeftOutForOthers { .. }
        | Fact::PeeledInPart { .. }
        | Fact::ReachedWithinLimit { .. }
        | Fact::NotCovered { .. }
        | Fact::Remark { .. } => Vec::new(),
    }
}

fn reason(because: &Because) -> String {
    match because {
        Because::LossIsLimited => {
            "the policy limits the loss of each class and asks for the most privacy; of several walks and searches it \
             reached the most"
                .to_owned()
        }
        Because::KeepsToLimit { of } => {
            let names: Vec<String> = of.iter().map(ToString::to_string).collect();
            format!(
                "the policy limits the loss of each class, and what it requires was not reached by looking for the most privacy; \
                 of the methods that reached it within the limit ({}) it lost least",
                listing(&names)
            )
        }
        Because::DiversityIsNarrow => {
            "l is more than half of what is feasible, and it deals records by lot, so that \
                                       grouping tells little about sensitive values"
                .to_owned()
        }
        Because::LosesLeast => "as a rule it loses least".to_owned(),
        Because::LostLeast { of } => {
            let names: Vec<String> = of.iter().map(ToString::to_string).collect();
            format!("the table has few different records, so that {} were run, and it lost least", listing(&names))
        }
        Because::NumbersAreFine => "several numbers have so many values that hardly two records share one; there it \
                                    loses least to begin with, and its groups were improved"
            .to_owned(),
        Because::TableIsTiny => {
            "the table is so small that all ways to group its records were looked at; none loses less"
                .to_owned()
        }
    }
}
