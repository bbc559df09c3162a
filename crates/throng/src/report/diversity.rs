//! What l promises and what it does not, in words: l beside the largest feasible one, and what grouping tells besides.

use super::number::{at_least, figure, whole_percent};
use super::page::{Block, Section};
use crate::audit::Measures;
use crate::method::Fact;
use crate::method::facts::Grouping;
use crate::privacy::{Margin, ROUNDING};

/// The l that was asked for beside the largest feasible one.
fn margin(measures: &Measures) -> Option<Margin> {
    let margin = Margin { asked: measures.l_required?, feasible: measures.l_feasible? };
    (margin.asked > 1.0).then_some(margin)
}

/// l beside the largest feasible one, and what that means.
pub(super) fn margin_words(measures: &Measures) -> Option<String> {
    let margin = margin(measures)?;
    if margin.share() > 1.0 + ROUNDING {
        return Some(format!(
            "{} asked for; with all its records this table allows {} at most, so that some had to be left out and few other ways \
             to group the rest were left",
            figure(margin.asked),
            at_least(margin.feasible)
        ));
    }
    let meaning = match margin.is_narrow() {
        true => "more than half of it, so that few other ways to group records were left",
        false => "at most half of it, which leaves many ways to group records",
    };
    Some(format!(
        "{} asked for; the largest that this table allows is {} ({} of it: {meaning})",
        figure(margin.asked),
        at_least(margin.feasible),
        whole_percent(margin.share().min(1.0))
    ))
}

/// What grouping tells besides the classes.
pub(super) fn note(measures: &Measures, facts: &[Fact]) -> Option<String> {
    let margin = margin(measures)?;
    // Parts of a table may be grouped differently: what tells most is told.
    let grouped =
        |asked: Grouping| facts.iter().any(|fact| matches!(fact, Fact::Grouped { by } if *by == asked));
    if grouped(Grouping::Queues) {
        return Some(LITERAL.to_owned());
    }
    if grouped(Grouping::Costs) {
        return (margin.share() > TELLS).then(|| COSTS.to_owned());
    }
    grouped(Grouping::Lots).then(|| LOTS.to_owned())
}

/// The share of the largest feasible l from which on grouping by costs was measured to tell of single records; `docs/diversity.md` has figures.
const TELLS: f64 = 1.0 / 3.0;
const LITERAL: &str = "Warning: dealing = \"literal\" tells more than l promises. Whoever knows the method and everyone's \
     quasi-identifiers can often tell who of a class has its most frequent sensitive value. Leave the option out to deal \
     records by lot.";
const COSTS: &str = "Warning: records were moved to where they cost least, as far as their sensitive values had room, and l is \
     more than a third of what this table allows. Whoever knows the method and everyone's quasi-identifiers may tell \
     sensitive values more often than 1 in l. Choose a smaller l, or a method that deals by lot: hilbert, or peel \
     with blind = true.";
const LOTS: &str = "Records were put together by their quasi-identifiers and by a secret lot, so that knowing the method tells \
     little about sensitive values beyond the classes themselves.";

/// All of it as a part of the report.
pub(super) fn section(measures: &Measures, facts: &[Fact]) -> Option<Section> {
    let words = margin_words(measures)?;
    let mut blocks = vec![Block::Words(format!("l is {words}."))];
    blocks.extend(note(measures, facts).map(Block::Words));
    blocks.push(Block::Words(PROMISE.to_owned()));
    Some(Section { heading: "What l promises".to_owned(), blocks })
}

const PROMISE: &str = "l limits what the published classes say. Whoever also knows the method and everyone's quasi-identifiers may \
     learn more from why records were grouped. The closer l is to the largest that the table allows, and the more a method \
     saves by looking at sensitive values, the more that is.";

#[cfg(test)]
mod tests {
    use super::*;

    fn measures(asked: f64, feasible: f64) -> Measures {
        Measures { l_required: Some(asked), l_feasible: Some(feasible), ..Measures::default() }
    }

    #[test]
    fn an_l_that_only_some_of_the_records_allow_is_told_as_that() {
        let words = margin_words(&measures(2.0, 1.5)).unwrap_or_default();
        assert!(words.contains("some had to be left out") && !words.contains("100 %"), "{words}");
        assert!(margin_words(&measures(2.0, 2.0)).unwrap_or_default().contains("100 %"));
    }

    #[test]
    fn a_narrow_margin_warns_of_methods_that_look_at_values() {
        let by = |by| [Fact::Grouped { by }];
        let note = |asked, facts: &[Fact]| note(&measures(asked, 11.2), facts).unwrap_or_default();
        assert!(note(6.0, &by(Grouping::Costs)).starts_with("Warning"));
        assert!(note(2.0, &by(Grouping::Costs)).is_empty());
        assert!(note(2.0, &by(Grouping::Queues)).starts_with("Warning"));
        assert!(note(6.0, &by(Grouping::Lots)).contains("secret lot"));
        // Parts of a table that were grouped differently.
        let both = [Grouping::Lots, Grouping::Costs].map(|by| Fact::Grouped { by });
        assert!(note(6.0, &both).starts_with("Warning"));
    }

    #[test]
    fn l_stands_beside_the_largest_feasible_one() {
        let words = margin_words(&measures(6.0, 11.2)).unwrap_or_default();
        assert!(words.starts_with("6 asked for; the largest that this table allows is 11.2"), "{words}");
        assert!(words.contains("more than half"), "{words}");
        assert_eq!(margin_words(&measures(1.0, 11.2)), None);
    }
}
