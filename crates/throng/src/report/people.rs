//! People and their records in words.

use super::number::{count, counted, figure, percent};
use crate::audit::PeopleMeasure;

/// Whom a record cannot be told apart from: so many others.
pub(super) fn others(people: Option<&PeopleMeasure>, others: u64) -> String {
    match people {
        None => format!("from at least {}", counted(others, "other", "others")),
        Some(_) => {
            format!("from records of at least {}", counted(others, "other person", "other people"))
        }
    }
}

/// What a reader who follows people through a release learns; nothing unless their numbers are published.
pub(super) fn followed(people: &PeopleMeasure) -> Option<String> {
    let alone = people.followed?;
    let of = count(people.people_published.unwrap_or(people.people_in));
    Some(match alone {
        0 => format!(
            "By their published number records of a person can be followed; all of them together, each looks like at \
             least {}.",
            counted(people.alike.unwrap_or(1).saturating_sub(1), "other person", "other people")
        ),
        _ => format!(
            "But by their published number records of a person can be followed, and all of them together {} of {of} \
             people look like nobody else.",
            count(alone)
        ),
    })
}

/// How many people there are and how many records they have.
pub(super) fn words(people: &PeopleMeasure) -> String {
    let mut words = format!(
        "{} with {} records on average, {} at most",
        count(people.people_in),
        figure(people.average_records),
        count(people.most_records)
    );
    if let Some(published) = people.people_published.filter(|published| *published < people.people_in) {
        words += &format!("; {} in the release", count(published));
    }
    if let Some(share) = people.greatest_share {
        words += &format!("; up to {} of the records of a class are one person's", percent(share));
    }
    words + known(people)
}

fn known(people: &PeopleMeasure) -> &'static str {
    match &*people.known_by {
        "bound" => {
            "; these files do not tell whose a row is, so k and l are what holds whosever the rows are, and may be \
             better in truth. Only the run that wrote the release, a release in the table's order or one with the \
             number of each person shows them exactly"
        }
        "order" => "; rows were taken to be in the table's order, which explains all of them",
        "number" => "; by their number in the release",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn people(known_by: &'static str, followed: Option<u64>) -> PeopleMeasure {
        PeopleMeasure {
            people_in: 200,
            people_published: Some(199),
            average_records: 5.0,
            most_records: 7,
            with_several: 180,
            known_by: known_by.into(),
            class_sizes: vec![(5, 40)],
            greatest_share: Some(0.4),
            alike: followed.map(|alone| if alone > 0 { 1 } else { 3 }),
            followed,
        }
    }

    #[test]
    fn people_are_told_with_their_records() {
        let told = words(&people("run", None));
        assert_eq!(
            told,
            "200 with 5 records on average, 7 at most; 199 in the release; up to 40.0 % of the records of a class \
             are one person's"
        );
        assert!(words(&people("bound", None)).contains("do not tell whose a row is"));
    }

    #[test]
    fn who_can_be_followed_is_told() {
        assert_eq!(followed(&people("run", None)), None);
        assert!(
            followed(&people("run", Some(12)))
                .is_some_and(|told| told.contains("12 of 199 people look like nobody"))
        );
        assert!(
            followed(&people("run", Some(0))).is_some_and(|told| told.contains("at least 2 other people"))
        );
    }
}
