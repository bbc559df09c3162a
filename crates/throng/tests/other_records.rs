//! Masking records that a recipe was not learned from, read by a plain program of its own.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::collections::BTreeMap;
use std::path::Path;

use common::{plain_covers, plain_crosses, rows_of};
use throng::error::Fault;
use throng::plan::Unmet;
use throng::policy::Policy;
use throng::recipe::Recipe;
use throng::release::{Order, Publish};
use throng::run::{Anonymize, Apply};
use throng::watch::Unwatched;

/// Masks a table with `refine`; gives back the recipe as a file holds it, and the release.
fn learn(folder: &Path, policy: &str, csv: &str) -> (serde_json::Value, Vec<Vec<String>>) {
    let (data, release) = (folder.join("train.csv"), folder.join("train.release.csv"));
    std::fs::write(&data, csv).unwrap();
    let run = Anonymize {
        order: Order::Keep,
        ..Anonymize::new(data, release.clone(), Policy::parse(policy, None).unwrap())
    };
    let prepared = run.prepare(&Unwatched).unwrap();
    let recipe = prepared.recipe.clone().expect("refine learns masks");
    prepared.publish().unwrap();
    (serde_json::from_str(&recipe.to_json().unwrap()).unwrap(), rows_of(&release))
}

/// Masks other records with a recipe, as a file holds it.
fn mask(
    folder: &Path,
    recipe: &serde_json::Value,
    csv: &str,
    unmet: Unmet,
) -> throng::Result<Vec<Vec<String>>> {
    let (file, data, release) =
        (folder.join("recipe.json"), folder.join("new.csv"), folder.join("new.release.csv"));
    std::fs::write(&file, recipe.to_string()).unwrap();
    std::fs::write(&data, csv).unwrap();
    let recipe = Recipe::load(&file)?;
    let (order, hashes, secret) = (Order::Keep, false, None);
    Apply {
        recipe,
        data,
        release: release.clone(),
        order,
        unmet,
        hashes,
        secret,
        formulas: Default::default(),
        publish: Publish::Cells,
    }
    .prepare(&Unwatched)?
    .publish()?;
    Ok(rows_of(&release))
}

/// The fewest rows with equal cells in the first columns.
fn fewest(rows: &[Vec<String>], columns: usize) -> usize {
    let mut classes: BTreeMap<&[String], usize> = BTreeMap::new();
    rows[1..].iter().for_each(|row| *classes.entry(&row[..columns]).or_default() += 1);
    *classes.values().min().unwrap()
}

const AGES: &str = "[privacy]\nk = 4\n[method]\nname = \"refine\"\nseed = 1\n[attribute.age]\nrole = \"quasi\"\n\
    kind = \"numeric\"\n[attribute.class]\nrole = \"class\"\n";

/// Four records of each age, with classes that change at 13 and 14.
fn ages(of: &[&str], class: impl Fn(f64) -> bool) -> String {
    let mut csv = "age,class\n".to_owned();
    for age in of {
        let class = u8::from(age.parse().is_ok_and(&class));
        (0..4).for_each(|_| csv += &format!("{age},{class}\n"));
    }
    csv
}

#[test]
fn numbers_between_and_beyond_intervals_are_masked_like_their_neighbours() {
    let folder = tempfile::tempdir().unwrap();
    let class = |age: f64| (13.0..14.0).contains(&age);
    let (recipe, learned) = learn(folder.path(), AGES, &ages(&["11", "12", "13", "14", "15", "16"], class));
    let mut cells: Vec<&str> = learned[1..].iter().map(|row| row[0].as_str()).collect();
    cells.dedup();
    assert_eq!(cells, ["[11-13)", "13", "[14-16]"]);
    // One record each between and beyond, among enough others.
    let mut csv = ages(&["11", "12", "13", "14", "15", "16"], class);
    csv += "3,0\n12.5,0\n13.5,1\n99,0\n";
    let rows = mask(folder.path(), &recipe, &csv, Unmet::Refuse).unwrap();
    assert!(fewest(&rows, 1) >= 4, "{rows:?}");
    for (row, line) in rows[1..].iter().zip(csv.lines().skip(1)) {
        let own: f64 = line.split(',').next().unwrap().parse().unwrap();
        assert!(row[0] != "*" && plain_covers(&row[0], own), "{} for {own}", row[0]);
    }
    let told: Vec<&str> = rows[25..].iter().map(|row| row[0].as_str()).collect();
    assert_eq!(told, ["[3-13)", "[3-13)", "[13-14)", "[14-99]"]);
    // Without them the cells are those that were learned.
    let same =
        mask(folder.path(), &recipe, &ages(&["11", "12", "13", "14", "15", "16"], class), Unmet::Refuse);
    assert_eq!(same.unwrap(), learned);
}

#[test]
fn an_attribute_that_is_masked_as_a_whole_covers_everything() {
    let folder = tempfile::tempdir().unwrap();
    let text = AGES.replace("k = 4", "k = 8").replace("[privacy]", "[data]\nmissing = [\"?\"]\n[privacy]");
    let (recipe, learned) = learn(folder.path(), &text, &ages(&["20", "30", "40"], |age| age > 35.0));
    assert!(learned[1..].iter().all(|row| row[0] == "[20-40]"), "{learned:?}");
    let with = |more: &str| ages(&["20", "30", "40"], |age| age > 35.0) + more;
    let rows = mask(folder.path(), &recipe, &with("90,1\n1,0\n"), Unmet::Refuse).unwrap();
    assert!(rows[1..].iter().all(|row| row[0] == "[1-90]"), "{rows:?}");
    // A missing age is no number: who has none must not be the only one that is told so.
    let rows = mask(folder.path(), &recipe, &with("?,1\n"), Unmet::Refuse).unwrap();
    assert!(rows[1..].iter().all(|row| row[0] == "*"), "{rows:?}");
}

const DEGREES: &str = "[privacy]\nk = 4\n[method]\nname = \"refine\"\nseed = 1\n[attribute.degree]\nrole = \"quasi\"\n\
    hierarchy = { World = { Any = { School = [\"9th\", \"10th\"], Bachelors = {}, Graduate = [\"Masters\", \"Doctorate\"] } } }\n\
    [attribute.class]\nrole = \"class\"\n";

fn degrees(of: &[&str]) -> String {
    let mut csv = "degree,class\n".to_owned();
    for degree in of {
        let class = u8::from(["Masters", "Doctorate", "9th"].contains(degree));
        (0..4).for_each(|_| csv += &format!("{degree},{class}\n"));
    }
    csv
}

#[test]
fn a_hierarchy_with_one_label_above_all_values_can_be_applied() {
    let folder = tempfile::tempdir().unwrap();
    for k in [4, 8, 20] {
        let text = DEGREES.replace("k = 4", &format!("k = {k}"));
        let csv = degrees(&["9th", "10th", "Bachelors", "Masters", "Doctorate"]);
        let (recipe, learned) = learn(folder.path(), &text, &csv);
        assert_eq!(mask(folder.path(), &recipe, &csv, Unmet::Refuse).unwrap(), learned, "k = {k}");
        // Masked as a whole, also a value that the hierarchy does not have is not told apart.
        let cells: std::collections::BTreeSet<&String> = learned[1..].iter().map(|row| &row[0]).collect();
        if cells.len() == 1 {
            let rows = mask(folder.path(), &recipe, &(csv + "Wizard,0\n"), Unmet::Refuse).unwrap();
            assert!(rows[1..].iter().all(|row| row[0] == "*"), "{rows:?}");
        }
    }
}

#[test]
fn hard_cuts_hold_for_other_records_too() {
    let folder = tempfile::tempdir().unwrap();
    let text =
        AGES.replace("[attribute.class]", "rules = [{ cut = [64, 65], hard = true }]\n[attribute.class]");
    let learned_from = ages(&["50", "55", "60", "62", "70", "71", "80"], |age| (60.0..80.0).contains(&age));
    let (recipe, learned) = learn(folder.path(), &text, &learned_from);
    assert!(learned[1..].iter().all(|row| !plain_crosses(&row[0], (64.0, 65.0))), "{learned:?}");
    assert_eq!(mask(folder.path(), &recipe, &learned_from, Unmet::Refuse).unwrap(), learned);
    let csv = learned_from + "64,0\n64.4,0\n64.6,0\n65,1\n120,0\n2,1\n";
    let rows = mask(folder.path(), &recipe, &csv, Unmet::Refuse).unwrap();
    assert!(fewest(&rows, 1) >= 4, "{rows:?}");
    for (row, line) in rows[1..].iter().zip(csv.lines().skip(1)) {
        let own: f64 = line.split(',').next().unwrap().parse().unwrap();
        assert!(plain_covers(&row[0], own) && !plain_crosses(&row[0], (64.0, 65.0)), "{} for {own}", row[0]);
    }
    // A missing age is of no part, and `*` would break the rule.
    let with_missing = csv + ",1\n";
    assert_eq!(
        mask(folder.path(), &recipe, &with_missing, Unmet::Refuse).unwrap_err().fault(),
        Fault::Requirement
    );
    let rows = mask(folder.path(), &recipe, &with_missing, Unmet::Suppress).unwrap();
    assert_eq!(rows.len(), with_missing.lines().count() - 1);
}

/// One side of a hard rule cannot be published; records of that side must not be masked as the other side is.
#[test]
fn a_recipe_of_one_side_of_a_hard_cut_is_for_that_side_alone() {
    let folder = tempfile::tempdir().unwrap();
    let text = AGES
        .replace("k = 4", "k = 4\nsuppress = 0.2")
        .replace("[attribute.class]", "rules = [{ cut = [64, 65], hard = true }]\n[attribute.class]");
    let csv = ages(&["50", "55", "60"], |age| age > 52.0) + "70,1\n";
    let (recipe, learned) = learn(folder.path(), &text, &csv);
    assert_eq!(learned.len(), 13);
    let rows = mask(folder.path(), &recipe, &(csv + "90,1\n"), Unmet::Suppress).unwrap();
    assert!(rows[1..].iter().all(|row| !plain_crosses(&row[0], (64.0, 65.0))), "{rows:?}");
    assert_eq!(rows.len(), 13);
}

#[test]
fn edited_recipes_are_not_believed() {
    let folder = tempfile::tempdir().unwrap();
    let csv = ages(&["11", "12", "13", "14", "15", "16"], |age| (13.0..14.0).contains(&age));
    let (recipe, _) = learn(folder.path(), AGES, &csv);
    let graded = degrees(&["9th", "10th", "Bachelors", "Masters", "Doctorate"]);
    let (degrees, _) = learn(folder.path(), DEGREES, &graded);
    let edits: &[(&serde_json::Value, &str, serde_json::Value, &str)] = &[
        (&recipe, "/privacy/k", 0.into(), "at privacy, k must be"),
        (&recipe, "/privacy/k", "many".into(), "at privacy, k must be"),
        (&recipe, "/attributes/age/weight", (-1).into(), "at attributes.age.weight, weight must be above 0"),
        (&recipe, "/attributes/class/weight", 0.into(), "at attributes.class.weight"),
        (&recipe, "/attributes/age/role", "queen".into(), "at attributes.age, "),
        (
            &recipe,
            "/attributes/age/kind",
            "categorical".into(),
            "at attributes.age.cells[0], an interval is told",
        ),
        (
            &recipe,
            "/attributes/age/cells/1/cell",
            "12".into(),
            "at attributes.age.cells[1], the cell \"12\" does not cover",
        ),
        (
            &recipe,
            "/attributes/age/cells/0/cell",
            "[11-12)".into(),
            "at attributes.age.cells[0], the cell \"[11-12)\" does not",
        ),
        (&recipe, "/attributes/age/cells/2/covers/upto/0", "12".into(), "at attributes.age.cells[2]"),
        (&recipe, "/attributes/age/cells/2/covers/upto/1", "ten".into(), "at attributes.age.cells[2]"),
        (
            &degrees,
            "/attributes/degree/cells/0/cell",
            "Graduate".into(),
            "at attributes.degree.cells[0], the cell \"Graduate\" does not",
        ),
        (
            &degrees,
            "/attributes/degree/hierarchy/paths/3",
            serde_json::json!(["Masters", "School", "Any"]),
            "at attributes.degree.cells",
        ),
        (
            &degrees,
            "/attributes/degree/hierarchy/paths/0",
            serde_json::json!(["9th", "Masters"]),
            "at attributes.degree.hierarchy",
        ),
    ];
    for (recipe, place, value, expected) in edits {
        let mut edited = (*recipe).clone();
        *edited.pointer_mut(place).unwrap_or_else(|| panic!("{place} in {recipe}")) = value.clone();
        let table = if place.contains("degree") { &graded } else { &csv };
        let error = mask(folder.path(), &edited, table, Unmet::Publish).unwrap_err();
        assert_eq!(error.fault(), Fault::Input, "{place}: {error}");
        assert!(error.message().contains(expected), "{place}: {}", error.message());
        assert_eq!(
            error.place().file.as_deref(),
            Some(folder.path().join("recipe.json").as_path()),
            "{place}"
        );
        assert!(!folder.path().join("new.release.csv").exists(), "{place}");
    }
}

#[test]
fn steps_that_nobody_sees_are_neither_told_nor_counted() {
    let text = DEGREES.replace("seed = 1", "seed = 1\niterations = 3").replace("k = 4", "k = 1");
    let text = text.replace("Bachelors = {}", "Bachelors = { B = [\"Bachelors\"] }");
    let loaded = common::loaded(degrees(&["9th", "10th", "Bachelors", "Masters", "Doctorate"]), &text);
    let steps = |text: &str| {
        let policy = Policy::parse(text, None).unwrap();
        let solution = throng::run::solve(&loaded.problem, &policy, &Unwatched).unwrap();
        let found = solution.facts.iter().find_map(|fact| match fact {
            throng::method::Fact::Refinement(found) => Some(found.steps.clone()),
            _ => None,
        });
        found.unwrap()
    };
    let all = steps(&text.replace("\niterations = 3", ""));
    assert!(all.iter().all(|step| step.into.len() != 1 || step.into[0] != step.refined), "{all:?}");
    assert_eq!(all.len(), 2, "{all:?}");
    for count in 0..=all.len() {
        let some = steps(&text.replace("iterations = 3", &format!("iterations = {count}")));
        assert_eq!(some, all[..count], "iterations = {count}");
    }
}

/// Outliers of other records are told as those of the first table were: as lying beyond, wherever that began.
#[test]
fn tails_are_kept_with_the_recipe() {
    let folder = tempfile::tempdir().unwrap();
    let all = ["10", "20", "30", "40", "50", "60", "70"];
    for (tails, at) in
        [("top = 60\nbottom = 20\n", (20.0, 60.0)), ("top = \"auto\"\nbottom = \"auto\"\n", (10.0, 70.0))]
    {
        let text = AGES.replace("kind = \"numeric\"\n", &format!("kind = \"numeric\"\n{tails}"));
        let (recipe, learned) = learn(folder.path(), &text, &ages(&all, |age| (30.0..50.0).contains(&age)));
        let csv = ages(&all, |age| (30.0..50.0).contains(&age)) + "3,0\n5,0\n61.5,1\n99,0\n";
        let rows = mask(folder.path(), &recipe, &csv, Unmet::Refuse).unwrap();
        for (row, line) in rows[1..].iter().zip(csv.lines().skip(1)) {
            let own: f64 = line.split(',').next().unwrap().parse().unwrap();
            let cell = row[0].as_str();
            let end = |sign: &str| cell.strip_prefix(sign).map(|end| end.parse::<f64>().unwrap());
            match (end("≥ "), end("≤ ")) {
                (Some(low), _) => assert!(low <= own, "{cell} for {own}"),
                (_, Some(high)) => assert!(own <= high, "{cell} for {own}"),
                _ => assert!(plain_covers(cell, own), "{cell} for {own}"),
            }
            // Nobody's age beyond is an end of a cell.
            assert!(own >= at.0 && own <= at.1 || cell.starts_with(['≥', '≤']), "{cell} for {own}");
            let ends = cell.split(|letter: char| !letter.is_ascii_digit() && letter != '.');
            assert!(!ends.into_iter().any(|end| ["3", "5", "61.5", "99"].contains(&end)), "{cell}");
        }
        assert_eq!(rows[1..=learned.len() - 1], learned[1..], "{tails}");
    }
    let edited = |key: &str, value: &str| {
        let (mut recipe, _) =
            learn(folder.path(), &AGES.replace("kind", "top = 60\nkind"), &ages(&all, |age| age > 35.0));
        recipe["attributes"]["age"][key] = value.into();
        mask(folder.path(), &recipe, "age\n3\n", Unmet::Refuse).unwrap_err()
    };
    for (key, value) in [("top", "old"), ("bottom", "60"), ("bottom", "99")] {
        let error = edited(key, value);
        assert_eq!(error.fault(), Fault::Input);
        assert!(error.message().contains(&format!("attributes.age.{key}")) || key == "bottom", "{error}");
    }
}

#[test]
fn whose_record_it_is_is_published_as_the_policy_said() {
    let folder = tempfile::tempdir().unwrap();
    let text = AGES.to_owned() + "[attribute.who]\nrole = \"person\"\npublish = \"number\"\n";
    let csv = |from: usize| -> String {
        let rows =
            (0..40).map(|at| format!("{},{},p{}\n", 20 + at % 10, u8::from(at % 10 > 4), from + at / 2));
        "age,class,who\n".to_owned() + &rows.collect::<String>()
    };
    let (recipe, learned) = learn(folder.path(), &text, &csv(0));
    let rows = mask(folder.path(), &recipe, &csv(100), Unmet::Refuse).unwrap();
    assert_eq!((&learned[0], &rows[0]), (&rows[0], &learned[0]));
    let number = |row: &Vec<String>| row[2].parse::<u64>().unwrap();
    // Two records each, and nobody's own name.
    for pair in rows[1..].chunks(2) {
        assert_eq!(number(&pair[0]), number(&pair[1]), "{rows:?}");
    }
    let numbers: std::collections::BTreeSet<u64> = rows[1..].iter().map(number).collect();
    assert_eq!(numbers.len(), 20);
}

#[test]
fn what_is_wrong_with_a_recipe_is_told_by_line_and_column() {
    let folder = tempfile::tempdir().unwrap();
    let (recipe, _) = learn(folder.path(), AGES, &ages(&["11", "12", "13", "14"], |age| age > 12.0));
    let text = serde_json::to_string_pretty(&recipe).unwrap();
    let file = folder.path().join("recipe.json");
    let place = |from: &str, to: &str, value: &str| {
        let edited = text.replacen(from, to, 1);
        assert_ne!(edited, text);
        std::fs::write(&file, &edited).unwrap();
        let error = Recipe::load(&file).unwrap_err();
        let at = edited.find(value).unwrap();
        let line = edited[..at].matches('\n').count() as u64 + 1;
        let column = (at - edited[..at].rfind('\n').map_or(0, |end| end + 1)) as u64 + 1;
        assert_eq!((error.place().line, error.place().column), (Some(line), Some(column)), "{error}");
        assert_eq!(error.place().file.as_deref(), Some(file.as_path()));
    };
    place("\"weight\": 1.0", "\"weight\": -7.0", "-7.0");
    place("\"throng_recipe\": 1", "\"throng_recipe\": 9", "9");
    place("\"role\": \"quasi\"", "\"role\": \"quasy\"", "{\n      \"role\": \"quasy\"");
    place("\"k\": 4", "\"k\": 0", "{\n    \"k\": 0");
    place("\"cell\": \"[11-13)\"", "\"cell\": \"[12-13)\"", "{\n          \"cell\": \"[12-13)\"");
}
