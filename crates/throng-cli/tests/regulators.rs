//! Groups of regulators: nothing finer than they allow is ever published, whatever k and the method are.

#![allow(clippy::unwrap_used)]

mod folder;

use folder::Folder;

/// What Safe Harbor lets be told, written down once more: the list of HHS from the census of 2000.
const FEW: &str = "036 692 878 059 790 879 063 821 884 102 823 890 203 830 893 556 831";

const POLICY: &str = "[privacy]\nk = 3\n[method]\nname = \"mondrian\"\n\
    [attribute.age]\nrole = \"quasi\"\nhierarchy = { safe_harbor = \"age\", intervals = [5, 10] }\n\
    [attribute.born]\nrole = \"quasi\"\nhierarchy = { safe_harbor = \"birth\", as_of = \"2026-06-30\" }\n\
    [attribute.admitted]\nrole = \"quasi\"\nhierarchy = { safe_harbor = \"date\" }\n\
    [attribute.zip]\nrole = \"quasi\"\nhierarchy = { safe_harbor = \"zip\" }\n\
    [attribute.illness]\nrole = \"class\"\n";

/// People of all ages, many of them alike in everything, so that classes of equal records come out.
fn people(rows: usize, seed: usize) -> String {
    let mut text = "age,born,admitted,zip,illness\n".to_owned();
    let zips = ["53711", "53703-1234", "10201", "05901", "94110", "89301", "60601"];
    for row in 0..rows {
        let twin = (row / 4 * 7919 + seed) % 1000;
        let born = 1920 + twin % 100;
        text += &format!(
            "{},{born}-0{}-1{},1{}.0{}.2025,{},{}\n",
            2026 - born,
            1 + twin % 9,
            twin % 10,
            twin % 8,
            1 + twin % 3,
            zips[twin % zips.len()],
            ["flu", "gout"][row % 2]
        );
    }
    text
}

/// What a command said, without the ends of its lines.
fn told(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn rows(text: &str) -> Vec<Vec<String>> {
    text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

/// Whether Safe Harbor allows a cell, and whether it is true of a value: plain readings of the rule.
fn age(cell: &str, value: &str) -> bool {
    let value: u32 = value.parse().unwrap();
    if cell == "*" {
        return true;
    }
    if let Some(low) = cell.strip_prefix("≥ ") {
        return low.parse::<u32>().unwrap() <= value && low.parse::<u32>().unwrap() <= 90;
    }
    let (low, high) = match cell.trim_matches(['[', ']', ')']).split_once('-') {
        Some((low, high)) => {
            (low.parse().unwrap(), high.parse::<u32>().unwrap() - u32::from(cell.ends_with(')')))
        }
        None => (cell.parse().unwrap(), cell.parse().unwrap()),
    };
    (low..=high).contains(&value) && high < 90
}

fn year(cell: &str, year: u32, told_from: u32) -> bool {
    match (cell.strip_suffix(" or earlier"), cell.strip_suffix('s')) {
        _ if cell == "*" => true,
        (Some(last), _) => last.parse::<u32>().unwrap() == told_from - 1 && year < told_from,
        (_, Some(decade)) => year / 10 * 10 == decade.parse().unwrap() && year >= told_from,
        _ => cell.len() == 4 && cell.parse::<u32>().unwrap() == year && year >= told_from,
    }
}

fn zip(cell: &str, value: &str) -> bool {
    let few = FEW.split(' ').any(|area| value.starts_with(area));
    match cell.strip_suffix('*') {
        Some(prefix) => prefix.len() < 3 && (cell == "*" || !few) && value.starts_with(prefix),
        None if few => cell == "000",
        None => cell.len() == 3 && value.starts_with(cell),
    }
}

fn assert_safe(table: &str, release: &str, what: &str) {
    let (table, release) = (rows(table), rows(release));
    assert_eq!(table.len(), release.len(), "{what}");
    for (own, cells) in table.iter().zip(&release) {
        assert!(age(&cells[0], &own[0]), "{what}: age {} for {}", cells[0], own[0]);
        assert!(
            year(&cells[1], own[1][..4].parse().unwrap(), 1937),
            "{what}: born {} for {}",
            cells[1],
            own[1]
        );
        assert!(
            year(&cells[2], own[2][6..].parse().unwrap(), 0),
            "{what}: admitted {} for {}",
            cells[2],
            own[2]
        );
        assert!(zip(&cells[3], &own[3]), "{what}: zip {} for {}", cells[3], own[3]);
    }
}

#[test]
fn nothing_finer_than_safe_harbor_allows_is_published_by_any_method() {
    let mut exact = 0;
    for method in ["mondrian", "hilbert", "peel", "refine", "rv-global", "bottom-up", "rv-cluster"] {
        let folder = Folder::new().with("people.csv", &people(240, 5)).with("policy.toml", POLICY);
        let ran = folder.anonymize("people.csv", &["--keep-order", "--method", method]);
        assert_eq!(ran.code, 0, "{method}: {}", ran.stderr);
        assert!(told(&ran.stderr).contains("45 CFR 164.514(b)(2)(i)(B)"), "{method}: {}", ran.stderr);
        assert!(
            told(&ran.stderr).contains("of the detail that the policy allows"),
            "{method}: {}",
            ran.stderr
        );
        assert_safe(&folder.read("people.csv"), &folder.read("r.csv"), method);
        exact += rows(&folder.read("r.csv")).iter().filter(|cells| cells[3].len() == 3).count();
        let ran = folder.run(&["audit", "people.csv", "r.csv", "-p", "policy.toml"]);
        assert_eq!(ran.code, 0, "{method}: {}{}", ran.stdout, ran.stderr);
    }
    assert!(exact > 200, "the finest that is allowed is published: {exact}");
}

#[test]
fn a_recipe_keeps_what_safe_harbor_allows() {
    let folder = Folder::new()
        .with("people.csv", &people(240, 5))
        .with("others.csv", &people(80, 77))
        .with("policy.toml", POLICY);
    let ran = folder.anonymize("people.csv", &["--method", "refine", "--recipe", "x.json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let ran =
        folder.run(&["apply", "x.json", "others.csv", "-o", "o.csv", "--keep-order", "--unmet", "publish"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_safe(&folder.read("others.csv"), &folder.read("o.csv"), "apply");
}

#[test]
fn areas_may_be_given_and_people_of_a_population_are_found() {
    let with = |more: &str| {
        POLICY.replace("{ safe_harbor = \"zip\" }", &format!("{{ safe_harbor = \"zip\", {more} }}"))
    };
    let cells = |policy: &str| {
        let folder = Folder::new()
            .with("people.csv", &people(240, 5))
            .with("areas.csv", "zip,people\n53711,12000\n53703,9000\n60601,20000\n94110,70000\n")
            .with("policy.toml", policy);
        let ran = folder.anonymize("people.csv", &["--k", "1"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let mut cells: Vec<String> =
            rows(&folder.read("r.csv")).into_iter().map(|row| row[3].clone()).collect();
        cells.sort();
        cells.dedup();
        cells
    };
    assert_eq!(cells(POLICY), ["000", "537", "606", "941"]);
    assert_eq!(cells(&with("restricted = [\"537\"]")), ["000", "059", "102", "606", "893", "941"]);
    assert_eq!(cells(&with("kept = [\"606\"]")), ["000", "606"]);
    // 20,000 people or fewer are few, and an area that the file does not have may be empty.
    assert_eq!(cells(&with("population = \"areas.csv\"")), ["000", "537", "941"]);
    let folder = Folder::new().with("people.csv", &people(240, 5)).with("register.csv", &people(960, 5));
    let policy = POLICY.replace("k = 3\n", "k_map = 3\npopulation = \"register.csv\"\n");
    let folder = folder.with("policy.toml", &policy);
    let ran = folder.anonymize("people.csv", &["--keep-order"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_safe(&folder.read("people.csv"), &folder.read("r.csv"), "k-map");
    let risk = folder.run(&["risk", "people.csv", "-p", "policy.toml", "--population", "register.csv"]);
    assert!(
        risk.code == 0 && !risk.stdout.contains("does not contain the table"),
        "{}{}",
        risk.stdout,
        risk.stderr
    );
}

#[test]
fn cells_that_a_regulator_has_no_place_for_are_errors() {
    for (column, cell, told) in [
        (0, "-1", "is not an age in years"),
        (1, "2027-01-01", "up to 2026"),
        (1, "soon", "is not a date of birth"),
        (2, "31.02.2025", "is not a date"),
        (3, "5901", "is not a ZIP code of five digits"),
        (3, "K1A 0B1", "is not a ZIP code"),
    ] {
        let mut table: Vec<String> = people(12, 5).lines().map(str::to_owned).collect();
        let mut cells: Vec<&str> = table[3].split(',').collect();
        cells[column] = cell;
        table[3] = cells.join(",");
        let folder = Folder::new().with("people.csv", &(table.join("\n") + "\n")).with("policy.toml", POLICY);
        let ran = folder.anonymize("people.csv", &[]);
        assert!(ran.code == 2 && ran.stderr.contains(told), "{cell}: {}", ran.stderr);
        assert!(ran.stderr.contains("line 4"), "{cell}: {}", ran.stderr);
    }
}

#[test]
fn age_groups_of_the_register_cover_their_ages() {
    let policy = "[privacy]\nk = 30\n[method]\nname = \"rv-global\"\n[attribute.age]\nrole = \"quasi\"\n\
        hierarchy = { ema = \"age\" }\n[attribute.born]\nrole = \"identifier\"\n[attribute.admitted]\nrole = \"identifier\"\n\
        [attribute.zip]\nrole = \"identifier\"\n[attribute.illness]\nrole = \"class\"\n";
    let folder = Folder::new().with("people.csv", &people(800, 5)).with("policy.toml", policy);
    let args = ["hierarchy", "people.csv", "-p", "policy.toml", "--attribute", "age", "--built"];
    let ran = folder.run(&args);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let lines: Vec<Vec<&str>> = ran.stdout.lines().map(|line| line.split(';').collect()).collect();
    assert!(lines.len() > 60, "{}", ran.stdout);
    for line in lines {
        let age: u32 = line[0].parse().unwrap();
        let group = match age {
            0..=1 => ["0-23 months", "under 18 years"],
            2..=11 => ["2-11 years", "under 18 years"],
            12..=17 => ["12-17 years", "under 18 years"],
            18..=64 => ["18-64 years", "18-64 years"],
            65..=84 => ["65-84 years", "65 years and over"],
            _ => ["85 years and over", "65 years and over"],
        };
        assert_eq!(line[1..], [group[0], group[1], "*"], "{age}");
    }
    let ran = folder.anonymize("people.csv", &[]);
    assert!(ran.code == 0 && told(&ran.stderr).contains("ICH E11(R1)"), "{}", ran.stderr);
}

#[test]
fn the_tree_of_a_builder_can_be_looked_at() {
    let folder = Folder::new().with("people.csv", &people(40, 5)).with("policy.toml", POLICY);
    let ran = folder.run(&["hierarchy", "people.csv", "-p", "policy.toml", "--attribute", "zip", "--built"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        ran.stdout.contains("53703-1234;537;53*;5*;*\n") && ran.stdout.contains("05901;000;000;000;*\n"),
        "{}",
        ran.stdout
    );
    assert!(ran.stderr.contains("Keep the builder in the policy"), "{}", ran.stderr);
    for (attribute, told) in [("zipp", "did you mean \"zip\"?"), ("illness", "has no hierarchy")] {
        let ran = folder.run(&[
            "hierarchy",
            "people.csv",
            "-p",
            "policy.toml",
            "--attribute",
            attribute,
            "--built",
        ]);
        assert!(ran.code == 2 && ran.stderr.contains(told), "{}", ran.stderr);
    }
}
