//! The risk of a table in at most 80 columns of plain text.

use super::as_is;
use super::number::{NONE, count, counted, figure, percent};
use super::summary::as_is_words;
use super::terminal::{COLUMNS, Side, bar, field, finished, table};
use super::text::{listing, wrap};
use crate::risk::{AttributeRisk, Band, Chances, Combination, PeopleRisk, Risk};

/// The risk of a table in plain text.
pub fn risk_terminal(risk: &Risk) -> String {
    let mut lines = wrap(&headline(risk), COLUMNS);
    for part in [chances(risk), journalist(risk), sizes(risk), combinations(risk), attributes(risk)] {
        if !part.is_empty() {
            lines.push(String::new());
            lines.extend(part);
        }
    }
    lines.extend(risk.published_as_is.iter().flat_map(as_is::lines));
    if !risk.notes.is_empty() {
        lines.push(String::new());
    }
    for note in &risk.notes {
        lines.extend(field("Note", note));
    }
    finished(&lines)
}

pub(super) fn headline(risk: &Risk) -> String {
    if let Some(people) = &risk.people {
        return of_people(risk, people);
    }
    let all = counted(risk.rows, "record", "records");
    let alone = match risk.unique_records {
        0 => format!(
            "None of {all} is unique: each shares its quasi-identifiers with at least {}.",
            counted(risk.k.saturating_sub(1), "other", "others")
        ),
        unique => format!(
            "{} of {all} ({}) {} unique: no other record has the same quasi-identifiers.",
            count(unique),
            percent(risk.unique_share),
            if unique == 1 { "is" } else { "are" }
        ),
    };
    let dropped = match risk.rows_dropped {
        0 => String::new(),
        dropped => format!(" {} left out as incomplete.", counted(dropped, "record was", "records were")),
    };
    let as_is = risk.published_as_is.as_ref();
    let as_is = as_is.map_or(String::new(), |as_is| as_is_words(as_is, "records", "would be published"));
    format!("{alone}{as_is}{dropped}")
}

fn of_people(risk: &Risk, people: &PeopleRisk) -> String {
    let all = counted(people.people, "person", "people");
    let alone = match people.unique_people {
        0 => format!(
            "None of {all} is unique: each record shares its quasi-identifiers with those of at least {}.",
            counted(risk.k.saturating_sub(1), "other person", "other people")
        ),
        unique => format!(
            "{} of {all} ({}) {} unique: they have a record whose quasi-identifiers nobody else has.",
            count(unique),
            percent(people.unique_share),
            if unique == 1 { "is" } else { "are" }
        ),
    };
    format!(
        "{alone} A person has {} records on average, {} at most.",
        figure(people.average_records),
        count(people.most_records)
    )
}

fn chances(risk: &Risk) -> Vec<String> {
    let row = |name: &str, chances: &Chances| {
        let above = [chances.above_1_in_5, chances.above_1_in_20].map(percent);
        [vec![name.to_owned(), percent(chances.highest), percent(chances.average)], above.to_vec()].concat()
    };
    let marketer = ["marketer", NONE, &percent(risk.marketer), NONE, NONE].map(str::to_owned).to_vec();
    let heading = ["", "highest", "average", "above 1 in 5", "above 1 in 20"].map(str::to_owned).to_vec();
    let rows = [heading, row("prosecutor", &risk.prosecutor), row("journalist", &risk.journalist), marketer];
    let right = Side::Right;
    let mut lines = vec!["Chance to find a person's record".to_owned()];
    lines.extend(table(&rows, &[Side::Left, right, right, right, right]));
    lines.extend(
        [
            "The prosecutor knows that the person is in the table, the journalist only that",
            "the person is in the population; the marketer links everyone. The last columns",
            match risk.people {
                None => "are the share of records with a greater chance.",
                Some(_) => "are the share of people with a greater chance, by their rarest record.",
            },
        ]
        .map(|line| format!("  {line}")),
    );
    lines
}

fn journalist(risk: &Risk) -> Vec<String> {
    let smallest = figure(risk.k_map);
    let below: Vec<String> = risk
        .k_map_below
        .iter()
        .map(|below| format!("{} have fewer than {}", count(below.classes), below.below))
        .collect();
    let classes = format!("of {}, {}", counted(risk.classes, "class", "classes"), listing(&below));
    let words = match (risk.basis.as_ref(), risk.population_rows, risk.fraction) {
        ("population", Some(rows), _) => format!(
            "{} in the population; the fewest with the values of one record are {smallest}; {classes}.",
            counted(rows, "record", "records")
        ),
        ("estimate", _, Some(fraction)) => format!(
            "estimated as class size / {fraction}, since the table is {} of the population; the fewest with \
             the values of one record are {smallest}; {classes}. For rare combinations this estimate tends to be too good.",
            percent(fraction)
        ),
        _ => "the table is taken to be the whole population, so prosecutor and journalist are the same; \
              --population FILE or --fraction SHARE tell more."
            .to_owned(),
    };
    field("k-map", &words)
}

fn sizes(risk: &Risk) -> Vec<String> {
    let row = |band: &Band| {
        let share = band.records as f64 / risk.rows.max(1) as f64;
        vec![band_name(band), count(band.classes), count(band.records), percent(share), bar(share, 1.0)]
    };
    let size = if risk.people.is_some() { "people in class" } else { "class size" };
    let heading = [size, "classes", "records", ""].map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> = std::iter::once(heading).chain(risk.class_sizes.iter().map(row)).collect();
    let mut lines = vec![format!(
        "Records with the same quasi-identifiers: {}",
        counted(risk.classes, "class", "classes")
    )];
    lines.extend(table(&rows, &[Side::Left, Side::Right, Side::Right, Side::Right, Side::Left]));
    lines
}

fn band_name(band: &Band) -> String {
    match band.to {
        None => format!("{}+", band.from),
        Some(to) if to == band.from => to.to_string(),
        Some(to) => format!("{}–{to}", band.from),
    }
}

fn combinations(risk: &Risk) -> Vec<String> {
    if risk.combinations.is_empty() {
        return Vec::new();
    }
    let row = |one: &Combination| {
        vec![one.attributes.join(" + "), count(one.unique_records), percent(one.unique_share)]
    };
    let of = if risk.people.is_some() { "of people" } else { "of records" };
    let heading = ["", "unique", of].map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> = std::iter::once(heading).chain(risk.combinations.iter().map(row)).collect();
    let mut lines = vec!["Attributes that single people out".to_owned()];
    lines.extend(table(&rows, &[Side::Left, Side::Right, Side::Right]));
    lines
}

fn attributes(risk: &Risk) -> Vec<String> {
    let row = |one: &AttributeRisk| {
        vec![
            one.attribute.clone(),
            count(one.distinct),
            count(one.minimal_uniques),
            percent(one.minimal_share),
            bar(one.minimal_share, 1.0),
        ]
    };
    let heading = ["attribute", "values", "takes part in", ""].map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> = std::iter::once(heading).chain(risk.attributes.iter().map(row)).collect();
    let title = format!(
        "Minimal uniques: {} unique on up to {}, but on no part of the combination",
        if risk.people.is_some() { "people" } else { "records" },
        counted(risk.searched as u64, "attribute", "attributes")
    );
    let mut lines = wrap(&title, COLUMNS);
    lines.extend(table(&rows, &[Side::Left, Side::Right, Side::Right, Side::Right, Side::Left]));
    lines
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::text::width;
    use super::*;

    fn risk(unique: u64) -> Risk {
        let chances = Chances { highest: 1.0, average: 0.25, above_1_in_5: 0.5, above_1_in_20: 1.0 };
        let long = "a very long name of a quasi-identifier that nobody would type".to_owned();
        Risk {
            rows: 1_000,
            rows_dropped: 1,
            quasi: vec![long.clone()],
            classes: 250,
            k: if unique > 0 { 1 } else { 3 },
            people: None,
            unique_records: unique,
            unique_share: unique as f64 / 1_000.0,
            prosecutor: chances.clone(),
            journalist: chances,
            basis: "table".into(),
            population_rows: None,
            fraction: None,
            k_map: 1.0,
            k_map_below: Vec::new(),
            marketer: 0.25,
            class_sizes: vec![
                Band { from: 3, to: Some(4), classes: 5, records: 17 },
                Band { from: 50, to: None, classes: 1, records: 51 },
            ],
            combinations: vec![Combination {
                attributes: vec![long.clone(), long.clone()],
                unique_records: 3,
                unique_share: 0.003,
                minimal_uniques: 3,
            }],
            attributes: vec![AttributeRisk {
                attribute: long,
                distinct: 9,
                unique_records: 0,
                minimal_uniques: 3,
                minimal_share: 1.0,
            }],
            searched: 2,
            published_as_is: None,
            notes: vec![
                "something else to know about this table, told in a long sentence with many words".into(),
            ],
        }
    }

    #[test]
    fn no_line_is_wider_than_a_terminal() {
        for unique in [0, 1, 17] {
            let text = risk_terminal(&risk(unique));
            assert!(text.lines().all(|line| width(line) <= COLUMNS), "{text}");
        }
    }

    #[test]
    fn the_headline_tells_how_many_are_unique() {
        assert!(headline(&risk(17)).starts_with("17 of 1,000 records (1.7 %) are unique"));
        assert!(headline(&risk(1)).contains("1 of 1,000 records (0.10 %) is unique"));
        assert!(headline(&risk(0)).contains("at least 2 others"));
        assert!(headline(&risk(0)).ends_with("1 record was left out as incomplete."));
    }

    #[test]
    fn an_estimate_is_named_as_one() {
        let text = risk_terminal(&Risk { basis: "estimate".into(), fraction: Some(0.01), ..risk(17) });
        assert!(text.contains("estimated as class size / 0.01"), "{text}");
    }
}
