//! Tables that do not fit into memory, on the command line: folders and patterns, and whatever goes wrong on the way.

#![allow(clippy::unwrap_used)]

mod folder;

use std::path::Path;
use std::process::{Command, Stdio};

use folder::{Folder, POLICY, people, say_skipped};

fn run(folder: &Folder, line: &str) -> folder::Ran {
    folder.run(&line.split(' ').collect::<Vec<_>>())
}

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines[1..].sort_unstable();
    lines
}

#[test]
fn a_folder_a_pattern_and_several_files_are_one_table() {
    let text = people(900);
    let (header, body) = text.split_once('\n').unwrap();
    let rows: Vec<&str> = body.lines().collect();
    let file = |rows: &[&str]| format!("{header}\n{}\n", rows.join("\n"));
    let folder = Folder::new()
        .with("p.toml", &format!("{POLICY}[method]\nseed = 5\n"))
        .with("secret", "a secret of thirty-two bytes, ok")
        .with("d.csv", &text);
    std::fs::create_dir(folder.path("parts")).unwrap();
    std::fs::write(folder.path("parts/a.csv"), file(&rows[..300])).unwrap();
    std::fs::write(folder.path("parts/b.csv"), file(&rows[300..])).unwrap();
    std::fs::write(folder.path("parts/_SUCCESS"), "").unwrap();
    let options = "-p p.toml --secret secret --parts 3 --quiet --memory 100MiB";
    let mut releases = Vec::new();
    for data in ["d.csv", "parts", "parts/*.csv", "parts/b.csv parts/a.csv"] {
        let ran = run(&folder, &format!("anonymize {data} {options} -o r.csv"));
        assert_eq!(ran.code, 0, "{data}: {}", ran.stderr);
        releases.push(folder.read("r.csv"));
    }
    assert!(releases.iter().all(|release| *release == releases[0]));
    let audit = run(&folder, "audit d.csv r.csv -p p.toml");
    assert_eq!(audit.code, 0, "{}{}", audit.stdout, audit.stderr);

    // A folder of files holds the same rows, appears whole, and is not replaced.
    let ran = run(&folder, &format!("anonymize parts {options} -o out.csv/"));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(sorted(&folder.read("out.csv/part-00000.csv")), sorted(&releases[0]));
    let again = run(&folder, &format!("anonymize parts {options} -o out.csv/"));
    assert_eq!(again.code, 2);
    assert!(again.stderr.contains("exists already"), "{}", again.stderr);
    assert_eq!(folder.files(), ["d.csv", "out.csv", "p.toml", "parts", "r.csv", "secret"]);
}

#[test]
fn parquet_and_arrow_keep_types_and_nulls() {
    let folder = Folder::new().with("d.csv", &people(400)).with("p.toml", POLICY);
    for name in ["d.parquet", "d.arrow"] {
        let policy = "[privacy]\nk = 1\n[method]\nname = \"mondrian\"\n[attribute.age]\nrole = \"quasi\"\n[attribute.sex]\nrole = \
                      \"quasi\"\n[attribute.illness]\nrole = \"sensitive\"\n";
        std::fs::write(folder.path("as-is.toml"), policy).unwrap();
        let made = run(&folder, &format!("anonymize d.csv -p as-is.toml -o {name} --quiet"));
        assert_eq!(made.code, 0, "{}", made.stderr);
        let ran = run(
            &folder,
            &format!("anonymize {name} -p p.toml -o r-{name} --parts 2 --memory 100MiB --quiet"),
        );
        assert_eq!(ran.code, 0, "{name}: {}", ran.stderr);
        let audit = run(&folder, &format!("audit {name} r-{name} -p p.toml"));
        assert_eq!(audit.code, 0, "{}{}", audit.stdout, audit.stderr);
    }
}

#[test]
fn a_damaged_row_in_the_last_file_is_told_and_leaves_nothing() {
    let folder = Folder::new().with("p.toml", POLICY);
    std::fs::create_dir(folder.path("parts")).unwrap();
    std::fs::write(folder.path("parts/a.csv"), people(300)).unwrap();
    std::fs::write(folder.path("parts/b.csv"), people(300) + "33,f\n").unwrap();
    let ran = run(&folder, "anonymize parts -p p.toml -o r.csv --memory 100MiB");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("b.csv") && ran.stderr.contains("302"), "{}", ran.stderr);
    // So is a value that is no number, which is known only when all are.
    std::fs::write(folder.path("parts/b.csv"), people(300) + "old,f,flu\n").unwrap();
    let policy = POLICY.replace("[attribute.age]\n", "[attribute.age]\nkind = \"numeric\"\n");
    std::fs::write(folder.path("p.toml"), policy).unwrap();
    let ran = run(&folder, "anonymize parts -p p.toml -o r.csv --memory 100MiB");
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr.contains("b.csv") && ran.stderr.contains("302") && ran.stderr.contains("old"),
        "{}",
        ran.stderr
    );
    // And a file with other columns.
    std::fs::write(folder.path("parts/b.csv"), "age,illness,sex\n33,flu,f\n").unwrap();
    let ran = run(&folder, "anonymize parts -p p.toml -o r.csv --memory 100MiB");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("other columns"), "{}", ran.stderr);
    assert_eq!(folder.files(), ["p.toml", "parts"]);
}

#[test]
fn options_that_need_the_whole_table_are_refused() {
    let folder = Folder::new().with("p.toml", POLICY).with("d.csv", &people(90));
    for option in [
        "--keep-order",
        "--publish bounds",
        "--publish permutation",
        "--recipe r.json",
        "--certificate c.json",
        "--effort 3",
        "--ledger l.json",
        "--publish midpoints",
        "--method refine",
        "--method rv-global",
        "--seconds 3",
    ] {
        let ran = run(&folder, &format!("anonymize d.csv -p p.toml -o r.csv --memory 100MiB {option}"));
        assert_eq!(ran.code, 2, "{option}: {}", ran.stderr);
        assert!(ran.stderr.contains("help:"), "{option}: {}", ran.stderr);
    }
    for (line, words) in [
        ("anonymize - -p p.toml -o r.csv --memory 100MiB", "standard input"),
        ("anonymize d.csv -p p.toml -o r.csv --memory 3apples", "no size"),
        ("anonymize d.csv -p p.toml -o r.csv --memory 1KiB", "so little memory"),
        ("anonymize d.csv -p p.toml -o r.csv --memory 100MiB --scratch nowhere", "cannot"),
        ("anonymize d.csv -p p.toml -o r.jsonl --memory 100MiB", "JSON Lines"),
        ("anonymize d.csv -p p.toml -o d.csv --memory 100MiB", "overwrite"),
        ("anonymize *.tsv -p p.toml -o r.csv", "no file"),
    ] {
        let ran = run(&folder, line);
        assert_eq!(ran.code, 2, "{line}: {}", ran.stderr);
        assert!(ran.stderr.contains(words), "{line}: {}", ran.stderr);
    }
    assert_eq!(folder.files(), ["d.csv", "p.toml"]);
}

/// Runs that are killed leave no release, and the next run removes what they left and says so.
fn killed_runs(runs: u32) {
    let folder = Folder::new().with("p.toml", POLICY).with("d.csv", &people(20_000));
    let arguments =
        "anonymize d.csv -p p.toml -o r.csv --method mondrian --parts 6 --memory 100MiB".split(' ');
    let arguments: Vec<&str> = arguments.collect();
    let start = || {
        Command::new(env!("CARGO_BIN_EXE_throng"))
            .args(&arguments)
            .current_dir(folder.path("."))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    };
    let begun = std::time::Instant::now();
    assert!(start().wait().unwrap().success());
    let whole = begun.elapsed();
    let (mut left, mut told) = (0, 0);
    for run in 0..runs {
        std::fs::remove_file(folder.path("r.csv")).ok();
        let mut child = start();
        std::thread::sleep(whole.mul_f64(f64::from(run * 2 + 1) / f64::from(runs * 2 + 1)));
        let ended = child.try_wait().unwrap().is_some();
        child.kill().unwrap();
        child.wait().unwrap();
        let files = folder.files();
        assert!(
            ended || !files.contains(&"r.csv".to_owned()) || is_whole(&folder),
            "a release that is not whole"
        );
        left += u32::from(files.iter().any(|name| name.ends_with(".scratch")));
        let next = folder.run(&arguments);
        assert_eq!(next.code, 0, "{}", next.stderr);
        told += u32::from(next.stderr.contains("killed"));
        assert_eq!(folder.files(), ["d.csv", "p.toml", "r.csv"], "after run {run}");
    }
    assert_eq!(left, told, "what killed runs left is told");
    assert!(left > 0, "no run was killed while it had scratch files");
}

fn is_whole(folder: &Folder) -> bool {
    folder.read("r.csv").lines().count() == 20_001
}

#[test]
fn killed_runs_leave_no_release_and_the_next_run_cleans_up() {
    killed_runs(4);
}

/// `cargo test --release --test scale -- --ignored fifty` runs it.
#[test]
#[ignore = "takes minutes"]
fn fifty_killed_runs_leave_no_release() {
    killed_runs(50);
}

#[test]
fn a_full_scratch_disk_is_told_and_leaves_nothing() {
    let folder = Folder::new().with("p.toml", POLICY).with("d.csv", &people(60_000));
    let disk = folder.path("disk");
    std::fs::create_dir(&disk).unwrap();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=256k", "tmpfs"]).arg(&disk).output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        return say_skipped("a small disk cannot be mounted here");
    }
    let ran = run(
        &folder,
        "anonymize d.csv -p p.toml -o r.csv --method mondrian --memory 100MiB --parts 2 --scratch disk",
    );
    let left = std::fs::read_dir(&disk).unwrap().count();
    assert!(Command::new("umount").arg(&disk).status().unwrap().success());
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("no space left") && ran.stderr.contains("--scratch"), "{}", ran.stderr);
    assert_eq!(left, 0);
    assert!(!Path::new(&folder.path("r.csv")).exists());
}
