//! Recipes and masking other records with them; classification from releases.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::fmt::Write as _;
use std::path::Path;

use common::rows_of;
use throng::error::Fault;
use throng::plan::Unmet;
use throng::policy::Policy;
use throng::recipe::Recipe;
use throng::release::Order;
use throng::run::Anonymize;
use throng::run::Apply;
use throng::run::Evaluate;
use throng::watch::Unwatched;

const POLICY: &str = "[data]\nmissing = [\"?\"]\n[privacy]\nk = 10\n[method]\nname = \"refine\"\nseed = 3\n\
    [attribute.id]\nrole = \"identifier\"\n[attribute.age]\nrole = \"quasi\"\n[attribute.work]\nrole = \"quasi\"\n\
    hierarchy = { Office = [\"clerk\", \"boss\"], Field = { Farm = [\"farmer\"], Sea = [\"fisher\", \"sailor\"] } }\n\
    [attribute.town]\nrole = \"quasi\"\n[attribute.class]\nrole = \"class\"\n[attribute.note]\nrole = \"other\"\n";

/// Age decides the class; it is missing now and then where `missing` says so, and that tells the class too.
fn table(records: usize, shift: usize, missing: bool) -> String {
    let mut text = "id,age,work,town,note,class\n".to_owned();
    for record in 0..records {
        let number = (record * 37 + shift) % 97;
        let unknown = missing && number % 8 == 5;
        let age = if unknown { "?".to_owned() } else { (18 + number % 60).to_string() };
        let work = ["clerk", "boss", "farmer", "fisher"][(number / 7) % 4];
        let town = ["North", "South", "East"][number % 3];
        writeln!(
            text,
            "{record},{age},{work},{town},{},{}",
            number % 5,
            usize::from(unknown || 18 + number % 60 > 45)
        )
        .unwrap();
    }
    text
}

fn csv(records: usize, shift: usize) -> String {
    table(records, shift, true)
}

fn anonymize(folder: &Path, policy: &str, records: usize) -> Recipe {
    let data = folder.join("train.csv");
    std::fs::write(&data, csv(records, 0)).unwrap();
    let run = Anonymize {
        order: Order::Keep,
        ..Anonymize::new(data, folder.join("train.release.csv"), Policy::parse(policy, None).unwrap())
    };
    let prepared = run.prepare(&Unwatched).unwrap();
    let recipe = prepared.recipe.clone().expect("refine learns masks");
    prepared.publish().unwrap();
    // What is saved is what is read.
    let file = folder.join("masks.json");
    std::fs::write(&file, recipe.to_json().unwrap()).unwrap();
    assert_eq!(Recipe::load(&file).unwrap(), recipe);
    recipe
}

fn apply(folder: &Path, recipe: Recipe, text: &str, unmet: Unmet) -> throng::Result<Vec<Vec<String>>> {
    let data = folder.join("new.csv");
    std::fs::write(&data, text).unwrap();
    let release = folder.join("new.release.csv");
    let apply = Apply {
        recipe,
        data,
        release: release.clone(),
        order: Order::Keep,
        unmet,
        hashes: false,
        secret: None,
        formulas: Default::default(),
        publish: Default::default(),
    };
    apply.prepare(&Unwatched)?.publish()?;
    Ok(rows_of(&release))
}

#[test]
fn the_records_it_was_learned_from_are_masked_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let recipe = anonymize(folder.path(), POLICY, 500);
    let again = apply(folder.path(), recipe, &csv(500, 0), Unmet::Refuse).unwrap();
    assert_eq!(again, rows_of(&folder.path().join("train.release.csv")));
    assert!(again.iter().any(|row| row[0].ends_with(')')), "there are half-open intervals");
}

/// People of countries, `few` of each but the first two of each continent.
fn countries(few: usize) -> String {
    let mut text = "country,class\n".to_owned();
    for (at, country) in ["Germany", "Italy", "Portugal", "Spain", "Wales"].into_iter().enumerate() {
        for record in 0..if at < 2 { 30 } else { few } {
            writeln!(text, "{country},{}", usize::from((record % 4 == 0) != (at % 2 == 0))).unwrap();
        }
    }
    text
}

#[test]
fn a_group_told_in_part_is_masked_and_audited_as_it_was_learned() {
    for (names, rest) in [
        (
            "{ Europe = [\"Germany\", \"Italy\", \"Portugal\", \"Spain\", \"Wales\", \"Malta\"], America = [\"Chile\"] }",
            "Europe",
        ),
        (
            "{ Germany = [\"Germany\"], Italy = [\"Italy\"], P = [\"Portugal\"], S = [\"Spain\"], W = [\"Wales\", \"Malta\"] }",
            "*",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let policy = format!(
            "[privacy]\nk = 8\n[method]\nname = \"refine\"\ngoal = \"loss\"\n[attribute.country]\nrole = \"quasi\"\n\
             hierarchy = {names}\n[attribute.class]\nrole = \"class\"\n"
        );
        let (data, release) = (folder.path().join("train.csv"), folder.path().join("release.csv"));
        std::fs::write(&data, countries(4)).unwrap();
        let policy = Policy::parse(&policy, None).unwrap();
        let run = Anonymize { order: Order::Keep, ..Anonymize::new(data, release.clone(), policy) };
        let prepared = run.prepare(&Unwatched).unwrap();
        let (recipe, notes) = (prepared.recipe.clone().unwrap(), prepared.report.notes.clone());
        prepared.publish().unwrap();
        let shown = |rows: Vec<Vec<String>>| -> std::collections::BTreeMap<String, usize> {
            let mut counts = std::collections::BTreeMap::new();
            rows.into_iter().skip(1).for_each(|row| *counts.entry(row[0].clone()).or_default() += 1);
            counts
        };
        let told = |rest_count: usize| {
            [("Germany", 30), ("Italy", 30), (rest, rest_count)]
                .map(|(cell, count)| (cell.to_owned(), count))
                .into()
        };
        assert_eq!(shown(rows_of(&release)), told(12));
        assert!(
            notes.iter().any(|note| note.contains(&format!("\"{rest}\" stands for those values"))),
            "{notes:?}"
        );
        // Others of the rest, also of a country that nobody came from, go where it went.
        let saved = folder.path().join("masks.json");
        std::fs::write(&saved, recipe.to_json().unwrap()).unwrap();
        let recipe = Recipe::load(&saved).unwrap();
        let text = countries(5) + "Malta,0\n";
        assert_eq!(shown(apply(folder.path(), recipe, &text, Unmet::Refuse).unwrap()), told(16));
    }
}

#[test]
fn other_records_get_the_same_cells_and_unknown_values_a_star() {
    let folder = tempfile::tempdir().unwrap();
    let recipe = anonymize(folder.path(), POLICY, 500);
    let known: std::collections::BTreeSet<String> = rows_of(&folder.path().join("train.release.csv"))
        .into_iter()
        .skip(1)
        .map(|row| row[0].clone())
        .collect();
    let mut text = csv(400, 5);
    text.push_str("900,140,smith,Nowhere,0,1\n901,30,sailor,North,0,0\n");
    let rows = apply(folder.path(), recipe, &text, Unmet::Publish).unwrap();
    assert_eq!(rows.len(), 403);
    // 140 goes to the last interval, which is told with an end that holds it.
    let last = rows[401][0].as_str();
    assert!(last.starts_with('[') && last.ends_with("-140]"), "{last}");
    assert!(rows[1..401].iter().all(|row| known.contains(&row[0]) || row[0] == last));
    assert!(rows[1..401].iter().any(|row| row[0] == last));
    assert_eq!(rows[401][1..3], ["*", "*"]);
    // A leaf of the hierarchy that never occurred before has its node all the same.
    assert!(rows[402][1] == "*" || ["Field", "Sea"].contains(&rows[402][1].as_str()), "{:?}", rows[402]);
}

#[test]
fn records_that_fall_short_are_refused_or_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let recipe = anonymize(folder.path(), POLICY, 500);
    let mut text = csv(400, 5);
    text.push_str("900,140,smith,Nowhere,0,1\n");
    let error = apply(folder.path(), recipe.clone(), &text, Unmet::Refuse).unwrap_err();
    assert_eq!(error.fault(), Fault::Requirement);
    assert!(error.hint().unwrap().contains("--unmet"));
    assert!(!folder.path().join("new.release.csv").exists());
    let rows = apply(folder.path(), recipe.clone(), &text, Unmet::Suppress).unwrap();
    assert!(rows.len() < 402 && rows.len() > 300, "{}", rows.len());
    let one =
        apply(folder.path(), recipe, "id,age,work,town,note,class\n1,20,boss,North,0,1\n", Unmet::Suppress);
    assert_eq!(one.unwrap_err().fault(), Fault::Requirement);
}

#[test]
fn future_records_have_neither_class_nor_identifier_but_all_that_is_masked() {
    let folder = tempfile::tempdir().unwrap();
    let recipe = anonymize(folder.path(), POLICY, 500);
    let without = |columns: &[usize], text: &str| -> String {
        let kept = |line: &str| {
            let cells = line.split(',').enumerate().filter(|(at, _)| !columns.contains(at));
            cells.map(|(_, cell)| cell).collect::<Vec<_>>().join(",") + "\n"
        };
        text.lines().map(kept).collect()
    };
    let future = without(&[0, 5], &csv(500, 0));
    assert!(future.starts_with("age,work,town,note\n"));
    let rows = apply(folder.path(), recipe.clone(), &future, Unmet::Refuse).unwrap();
    let learned = rows_of(&folder.path().join("train.release.csv"));
    assert!(rows.iter().zip(&learned).all(|(own, learned)| own[..4] == learned[..4]));
    let error = apply(folder.path(), recipe, &future.replace("town", "twon"), Unmet::Refuse).unwrap_err();
    assert_eq!(error.fault(), Fault::Input);
    let (message, hint) = (error.to_string(), error.hint().unwrap());
    assert!(message.contains("new.csv") && message.contains("\"town\", which the recipe needs"), "{message}");
    assert_eq!(hint, "did you mean \"twon\"?");
}

#[test]
fn several_quasi_identifiers_are_kept_with_the_recipe() {
    let folder = tempfile::tempdir().unwrap();
    let policy = POLICY.replace(
        "k = 10\n",
        "quasi_identifiers = [{ attributes = [\"age\", \"work\"], k = 12 }, { attributes = [\"town\"], k = 30 }]\n",
    );
    let recipe = anonymize(folder.path(), &policy, 500);
    let again = apply(folder.path(), recipe, &csv(500, 0), Unmet::Suppress).unwrap();
    assert_eq!(again.len(), 501);
}

#[test]
fn what_is_not_a_recipe_is_told_by_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bad.json");
    for text in ["", "{\n\"throng_recipe\": 1,\n\"secret\": 7\n}", "[]"] {
        std::fs::write(&file, text).unwrap();
        let error = Recipe::load(&file).unwrap_err();
        assert_eq!(error.fault(), Fault::Input);
        assert!(error.message().contains("not a recipe") && error.hint().is_some());
    }
    let mut recipe = anonymize(folder.path(), POLICY, 100);
    recipe.throng_recipe = 99;
    std::fs::write(&file, recipe.to_json().unwrap()).unwrap();
    assert!(Recipe::load(&file).unwrap_err().message().contains("format 99"));
}

/// The figures of `classify`.
fn classify(
    folder: &Path,
    policy: &str,
    options: &str,
    release: Option<&Path>,
) -> throng::Result<serde_json::Value> {
    let data = folder.join("table.csv");
    std::fs::write(&data, table(600, 0, false)).unwrap();
    let policy = format!("{policy}[evaluate.classify]\n{options}\n");
    let evaluate = Evaluate {
        data,
        policy: Policy::parse(&policy, None)?,
        release: release.map(Path::to_owned),
        task: "classify".to_owned(),
        secret: None,
        registry: Default::default(),
    };
    Ok(serde_json::Value::Object(evaluate.run(&Unwatched)?.figures))
}

#[test]
fn the_class_is_predicted_from_table_and_release() {
    let folder = tempfile::tempdir().unwrap();
    for options in ["folds = 5", "train = 400", "test_share = 0.3", "folds = 4\nmasks = \"train\""] {
        let figures = classify(folder.path(), POLICY, options, None).unwrap();
        let error = |which: &str| figures["tree"][format!("{which}_error")].as_f64().unwrap();
        // Age decides the class, and the best interval is found; without age there is not much to go by.
        assert!(error("baseline") < 0.02, "{options}: {figures}");
        assert!(error("anonymity") < 0.05, "{options}: {figures}");
        assert!(error("upper") > 0.2, "{options}: {figures}");
        assert_eq!(figures["ranking"][0], "age");
        let confusion = figures["tree"]["anonymity_confusion"].as_array().unwrap();
        let told: u64 =
            confusion.iter().flat_map(|row| row.as_array().unwrap()).map(|n| n.as_u64().unwrap()).sum();
        let expected = match options {
            "train = 400" => 200,
            "test_share = 0.3" => 180,
            _ => 600,
        };
        assert_eq!(told, expected, "{options}");
    }
}

#[test]
fn local_recodings_and_files_are_classified_too() {
    let folder = tempfile::tempdir().unwrap();
    for method in ["mondrian", "hilbert"] {
        let policy = POLICY.replace("\"refine\"", &format!("\"{method}\""));
        let figures = classify(folder.path(), &policy, "folds = 5\nbaseline = false", None).unwrap();
        assert!(figures["tree"]["anonymity_error"].as_f64().unwrap() < 0.25, "{method}: {figures}");
        assert!(figures.get("ranking").is_none());
        let error = classify(folder.path(), &policy, "masks = \"train\"", None).unwrap_err();
        assert!(error.hint().unwrap().contains("refine"));
    }
    let data = folder.path().join("table.csv");
    let release = folder.path().join("table.release.csv");
    let run = Anonymize::new(data, release.clone(), Policy::parse(POLICY, None).unwrap());
    run.run(&Unwatched).unwrap();
    let figures = classify(folder.path(), POLICY, "train = 400", Some(&release)).unwrap();
    assert!(figures["tree"]["anonymity_error"].as_f64().unwrap() < 0.1, "{figures}");
    // Its rows come in another order, so that nobody can tell the first 400 records: it must not say that it did.
    let split = figures["split"].as_str().unwrap();
    assert!(split.contains("for the release") && split.contains("a random 33.3 % of the records"), "{split}");
    let told = classify(folder.path(), POLICY, "train = 400", None).unwrap()["split"].clone();
    assert_eq!(told, "learned from the first 400 records, the others are classified");
}

#[test]
fn classify_says_what_it_needs() {
    let folder = tempfile::tempdir().unwrap();
    let without = POLICY.replace("role = \"class\"", "role = \"other\"");
    assert!(classify(folder.path(), &without, "", None).unwrap_err().hint().unwrap().contains("class"));
    assert!(classify(folder.path(), POLICY, "train = 600", None).is_err());
    assert!(classify(folder.path(), POLICY, "train = 5\ntest_share = 0.5", None).is_err());
    assert!(classify(folder.path(), POLICY, "fold = 5", None).unwrap_err().hint().unwrap().contains("folds"));
}
