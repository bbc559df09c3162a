//! Dates and times of day: read, kept apart, generalized, published and audited as what they are.

#![allow(clippy::unwrap_used)]

mod folder;

use folder::Folder;

const POLICY: &str = "[privacy]\nk = 3\n[attribute.born]\nrole = \"quasi\"\n[attribute.came]\nrole = \"quasi\"\n\
    [attribute.illness]\nrole = \"class\"\n";

/// Days and times of visits; `time` writes the seconds of a day.
fn visits(rows: usize, time: impl Fn(usize) -> String) -> String {
    let mut text = "born,came,illness\n".to_owned();
    for row in 0..rows {
        let seconds = (row * 7919 * 13) % 86_400;
        text += &format!(
            "{:02}.{:02}.{},{},{}\n",
            1 + row * 5 % 28,
            1 + row * 7 % 12,
            1950 + row * 11 % 60,
            time(seconds),
            ["flu", "gout"][usize::from(seconds > 43_200)]
        );
    }
    text
}

fn minutes(seconds: usize) -> String {
    format!("{:02}:{:02}", seconds / 3600, seconds / 60 % 60)
}

fn rows(text: &str) -> Vec<Vec<String>> {
    text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

/// A plain reading of a cell: the first and the last second of the day that it covers, the last one inclusive.
fn span(cell: &str) -> (u32, u32) {
    let second = |text: &str| {
        let parts: Vec<u32> = text.split(':').map(|part| part.parse().unwrap()).collect();
        parts[0] * 3600 + parts[1] * 60 + parts.get(2).unwrap_or(&0)
    };
    match cell.trim_matches(['[', ']', ')']).split_once('-') {
        _ if cell == "*" => (0, 86_399),
        Some((low, high)) => (second(low), second(high) - u32::from(cell.ends_with(')'))),
        None => (second(cell), second(cell)),
    }
}

/// A day as year, month and day, so that days compare.
fn day(text: &str) -> (u32, u32, u32) {
    let parts: Vec<u32> = text.split('.').map(|part| part.parse().unwrap()).collect();
    (parts[2], parts[1], parts[0])
}

fn days(cell: &str) -> ((u32, u32, u32), (u32, u32, u32)) {
    match cell.trim_matches(['[', ']', ')']).split_once('-') {
        _ if cell == "*" => ((0, 0, 0), (9999, 0, 0)),
        Some((low, high)) => (day(low), day(high)),
        None => (day(cell), day(cell)),
    }
}

#[test]
fn times_of_day_are_ranges_of_times_and_audited_as_such() {
    for method in ["mondrian", "hilbert", "peel", "refine", "rv-cluster"] {
        for time in [minutes as fn(usize) -> String, |own| format!("{}:{:02}", minutes(own), own % 60)] {
            let folder = Folder::new().with("visits.csv", &visits(90, time)).with("policy.toml", POLICY);
            let ran = folder.anonymize("visits.csv", &["--keep-order", "--method", method]);
            assert_eq!(ran.code, 0, "{method}: {}", ran.stderr);
            let (table, release) = (rows(&folder.read("visits.csv")), rows(&folder.read("r.csv")));
            let mut ranges = 0;
            for (own, cells) in table.iter().zip(&release) {
                let ((low, high), (second, _)) = (span(&cells[1]), span(&own[1]));
                assert!((low..=high).contains(&second), "{method}: {} for {}", cells[1], own[1]);
                let (first, last) = days(&cells[0]);
                assert!((first..=last).contains(&day(&own[0])), "{method}: {} for {}", cells[0], own[0]);
                ranges += u32::from(cells[1].starts_with('['));
            }
            assert!(ranges > 10 || method == "refine", "{method}: {ranges}");
            let ran = folder.run(&["audit", "visits.csv", "r.csv", "-p", "policy.toml"]);
            assert_eq!(ran.code, 0, "{method}: {}{}", ran.stdout, ran.stderr);
        }
    }
}

#[test]
fn medians_and_bounds_of_times_are_times() {
    for publish in ["midpoints", "bounds"] {
        let folder = Folder::new().with("visits.csv", &visits(90, minutes)).with("policy.toml", POLICY);
        let ran = folder.anonymize("visits.csv", &["--publish", publish]);
        assert_eq!(ran.code, 0, "{publish}: {}", ran.stderr);
        let release = folder.read("r.csv");
        let header: Vec<&str> = release.lines().next().unwrap().split(',').collect();
        let at = header.iter().position(|name| name.starts_with("came.")).unwrap();
        for row in rows(&release) {
            assert!(row[at].len() == 5 && span(&row[at]).0 < 86_400, "{publish}: {}", row[at]);
        }
        let ran = folder.run(&["audit", "visits.csv", "r.csv", "-p", "policy.toml"]);
        assert_eq!(ran.code, 0, "{publish}: {}{}", ran.stdout, ran.stderr);
    }
}

#[test]
fn hard_rules_cut_dates_and_times_where_they_say() {
    let rules = POLICY
        .replace("[attribute.born]\nrole = \"quasi\"\n", "[attribute.born]\nrole = \"quasi\"\nrules = [{ cut = [\"1979-12-31\", 1980-01-01], hard = true }]\n")
        .replace("[attribute.came]\nrole = \"quasi\"\n", "[attribute.came]\nrole = \"quasi\"\nrules = [{ cut = [\"11:59\", \"12:00\"], hard = true }]\n");
    for method in ["mondrian", "peel", "refine", "rv-cluster"] {
        let folder = Folder::new().with("visits.csv", &visits(120, minutes)).with("policy.toml", &rules);
        let ran = folder.anonymize("visits.csv", &["--keep-order", "--method", method, "--report", "r.html"]);
        assert_eq!(ran.code, 0, "{method}: {}", ran.stderr);
        let halves = |row: &[String]| {
            let (first, last) = days(&row[0]);
            let (low, high) = span(&row[1]);
            ((first < (1980, 1, 1)) == (last < (1980, 1, 1)), (low < 43_200) == (high < 43_200))
        };
        for row in rows(&folder.read("r.csv")) {
            assert_eq!(halves(&row), (true, true), "{method}: {row:?}");
        }
        let report = folder.read("r.html");
        assert!(report.contains("1979-12-31 | 1980-01-01") && report.contains("11:59 | 12:00"), "{method}");
        let ran = folder.run(&["audit", "visits.csv", "r.csv", "-p", "policy.toml"]);
        assert_eq!(ran.code, 0, "{method}: {}{}", ran.stdout, ran.stderr);
    }
    // What was learned knows of the cuts too.
    let folder = Folder::new().with("visits.csv", &visits(120, minutes)).with("policy.toml", &rules);
    assert_eq!(folder.anonymize("visits.csv", &["--method", "refine", "--recipe", "x.json"]).code, 0);
    let ran = folder.run(&["apply", "x.json", "visits.csv", "-o", "o.csv"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

#[test]
fn trees_and_bands_print_dates_and_times() {
    let policy = POLICY
        .replace(
            "[attribute.born]\nrole = \"quasi\"\n",
            "[attribute.born]\nrole = \"quasi\"\nhierarchy = { intervals = [365, 3650] }\n",
        )
        .replace(
            "[attribute.came]\nrole = \"quasi\"\n",
            "[attribute.came]\nrole = \"quasi\"\nhierarchy = { intervals = [3600, 21600] }\n",
        );
    let folder = Folder::new().with("visits.csv", &visits(90, minutes)).with("policy.toml", &policy);
    let tree = |attribute: &str| {
        let ran = folder.run(&[
            "hierarchy",
            "visits.csv",
            "-p",
            "policy.toml",
            "--attribute",
            attribute,
            "--built",
        ]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        rows(&format!("\n{}", ran.stdout.replace(';', ",")))
    };
    for line in tree("came") {
        for cell in &line[1..3] {
            let ((low, high), (second, _)) = (span(cell), span(&line[0]));
            assert!((low..=high + 59).contains(&second), "{line:?}");
        }
    }
    for line in tree("born") {
        for cell in &line[1..3] {
            let (first, last) = days(cell);
            assert!((first..=last).contains(&day(&line[0])), "{line:?}");
        }
    }
    let ran = folder.anonymize("visits.csv", &["--method", "refine", "--report", "r.html"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let ran = folder.run(&["audit", "visits.csv", "r.csv", "-p", "policy.toml"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn patterns_of_a_table_are_told_with_its_dates_and_times() {
    let folder = Folder::new().with("visits.csv", &visits(120, minutes)).with("policy.toml", POLICY);
    let ran = folder.run(&["evaluate", "visits.csv", "-p", "policy.toml", "--task", "partition"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    // Who came after noon has another illness; the table's first such time is what its tree splits at.
    let first = (0..120).map(|row| row * 7919 * 13 % 86_400).filter(|own| *own > 43_200).min().unwrap();
    assert!(ran.stdout.contains(&format!("came ≥ {}", minutes(first))), "{}", ran.stdout);
    let by_date = visits(120, minutes).replace(",gout", ",flu").lines().fold(String::new(), |text, line| {
        let young = line.get(6..10).is_some_and(|year| ("1980".."2100").contains(&year));
        text + &if young { line.replace(",flu", ",gout") } else { line.to_owned() } + "\n"
    });
    std::fs::write(folder.path("visits.csv"), by_date).unwrap();
    let ran = folder.run(&["evaluate", "visits.csv", "-p", "policy.toml", "--task", "partition"]);
    assert!(ran.stdout.contains(".1980 "), "{}", ran.stdout);
}

#[test]
fn cuts_of_another_kind_are_refused_and_say_what_to_write() {
    for (attribute, cut, told) in [
        ("born", "[2019, 2020]", "cut is between numbers, but this attribute holds dates"),
        ("came", "[8, 9]", "cut is between numbers, but this attribute holds times of day"),
        (
            "came",
            "[\"2019-12-31\", \"2020-01-01\"]",
            "cut is between dates, but this attribute holds times of day",
        ),
        ("born", "[\"08:00\", \"09:00\"]", "cut is between times of day, but this attribute holds dates"),
        ("born", "[\"2020-01-01\", \"2019-12-31\"]", "the earlier one first"),
        ("born", "[\"31.12.2019\", \"01.01.2020\"]", "two dates, or two times of day"),
        ("came", "[\"08:00\", \"2020-01-01\"]", "two dates, or two times of day"),
    ] {
        let section = format!("[attribute.{attribute}]\nrole = \"quasi\"\n");
        let policy = POLICY.replace(&section, &format!("{section}rules = [{{ cut = {cut} }}]\n"));
        let folder = Folder::new().with("visits.csv", &visits(30, minutes)).with("policy.toml", &policy);
        let ran = folder.anonymize("visits.csv", &[]);
        assert!(ran.code == 2 && ran.stderr.contains(told), "{cut}: {}", ran.stderr);
        assert!(ran.stderr.contains("policy.toml:"), "{cut}: {}", ran.stderr);
    }
}

#[test]
fn a_first_policy_knows_times_and_top_and_bottom_take_them() {
    let folder = Folder::new().with("visits.csv", &visits(90, minutes));
    let ran = folder.run(&["init", "visits.csv", "-o", "first.toml"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let first = folder.read("first.toml");
    assert!(first.contains("format = \"%H:%M\"") && first.contains("different times"), "{first}");
    let policy = POLICY.replace(
        "[attribute.came]\nrole = \"quasi\"\n",
        "[attribute.came]\nrole = \"quasi\"\ntop = \"22:00\"\nbottom = \"06:00\"\n",
    );
    let folder = folder.with("policy.toml", &policy);
    let ran = folder.anonymize("visits.csv", &["--k", "2"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let release = folder.read("r.csv");
    assert!(release.contains("≥ ") && release.contains("≤ "), "{release}");
    let ran = folder.run(&["audit", "visits.csv", "r.csv", "-p", "policy.toml", "--k", "2"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let wrong = folder.with("policy.toml", &policy.replace("\"22:00\"", "22").replace("\"06:00\"", "6"));
    let ran = wrong.run(&["anonymize", "visits.csv", "-p", "policy.toml", "-o", "s.csv"]);
    assert!(ran.code == 2 && ran.stderr.contains("holds times of day"), "{}", ran.stderr);
}
