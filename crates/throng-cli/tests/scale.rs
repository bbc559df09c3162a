//! Tables that do not fit into memory, on the command line: folders and patterns, and whatever goes wrong on the way.

#![allow(clippy::unwrap_used)]

mod folder;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

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
    let options = "-p p.toml --secret secret --parts 3 --quiet --memory 128MiB";
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
            &format!("anonymize {name} -p p.toml -o r-{name} --parts 2 --memory 128MiB --quiet"),
        );
        assert_eq!(ran.code, 0, "{name}: {}", ran.stderr);
        let audit = run(&folder, &format!("audit {name} r-{name} -p p.toml"));
        assert_eq!(audit.code, 0, "{}{}", audit.stdout, audit.stderr);
    }
}

/// A table that would take more memory than the machine has is run in parts by itself, and the report says so. Most of this one is a
/// hole between its columns and what tells where these are.
#[test]
#[cfg(target_os = "linux")]
fn a_table_that_does_not_fit_is_run_in_parts_by_itself() {
    use std::io::{Seek, SeekFrom, Write};
    let as_is = POLICY.replace("k = 3", "k = 1");
    let folder = Folder::new().with("d.csv", &people(900)).with("p.toml", POLICY).with("as-is.toml", &as_is);
    let made = run(&folder, "anonymize d.csv -p as-is.toml -o d.parquet --method mondrian --quiet");
    assert_eq!(made.code, 0, "{}", made.stderr);
    let bytes = std::fs::read(folder.path("d.parquet")).unwrap();
    let length = bytes.len() - 8;
    let told = u32::from_le_bytes(bytes[length..length + 4].try_into().unwrap()) as usize;
    let (columns, end) = bytes.split_at(length - told);
    let mut file = std::fs::File::create(folder.path("big.parquet")).unwrap();
    file.write_all(columns).unwrap();
    file.seek(SeekFrom::Start(1 << 42)).unwrap();
    if file.write_all(end).is_err() {
        return say_skipped("there are no files of four tebibytes here");
    }
    let ran = run(&folder, "anonymize big.parquet -p p.toml -o r.csv --method mondrian");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let words = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("half of what the machine had free, which was less than"), "{words}");
    let audit = run(&folder, "audit d.csv r.csv -p p.toml");
    assert_eq!(audit.code, 0, "{}{}", audit.stdout, audit.stderr);
}

#[test]
fn a_damaged_row_in_the_last_file_is_told_and_leaves_nothing() {
    let folder = Folder::new().with("p.toml", POLICY);
    std::fs::create_dir(folder.path("parts")).unwrap();
    std::fs::write(folder.path("parts/a.csv"), people(300)).unwrap();
    std::fs::write(folder.path("parts/b.csv"), people(300) + "33,f\n").unwrap();
    let ran = run(&folder, "anonymize parts -p p.toml -o r.csv --memory 128MiB");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("b.csv") && ran.stderr.contains("302"), "{}", ran.stderr);
    // So is a value that is no number, which is known only when all are.
    std::fs::write(folder.path("parts/b.csv"), people(300) + "old,f,flu\n").unwrap();
    let policy = POLICY.replace("[attribute.age]\n", "[attribute.age]\nkind = \"numeric\"\n");
    std::fs::write(folder.path("p.toml"), policy).unwrap();
    let ran = run(&folder, "anonymize parts -p p.toml -o r.csv --memory 128MiB");
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr.contains("b.csv") && ran.stderr.contains("302") && ran.stderr.contains("old"),
        "{}",
        ran.stderr
    );
    // And a file with other columns.
    for columns in ["age,illness,sex\n33,flu,f\n", "income,town\n"] {
        std::fs::write(folder.path("parts/b.csv"), columns).unwrap();
        let ran = run(&folder, "anonymize parts -p p.toml -o r.csv --memory 128MiB");
        assert_eq!(ran.code, 2);
        assert!(ran.stderr.contains("other columns") && ran.stderr.contains("b.csv"), "{}", ran.stderr);
    }
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
        let ran = run(&folder, &format!("anonymize d.csv -p p.toml -o r.csv --memory 128MiB {option}"));
        assert_eq!(ran.code, 2, "{option}: {}", ran.stderr);
        assert!(ran.stderr.contains("help:"), "{option}: {}", ran.stderr);
    }
    for (line, words) in [
        ("anonymize - -p p.toml -o r.csv --memory 128MiB", "standard input"),
        ("anonymize d.csv -p p.toml -o r.csv --memory 3apples", "no size"),
        ("anonymize d.csv -p p.toml -o r.csv --memory 1KiB", "so little memory"),
        ("anonymize d.csv -p p.toml -o r.csv --parts 401", "1..=400"),
        ("anonymize d.csv -p p.toml -o r.csv --memory 128MiB --scratch nowhere", "cannot"),
        ("anonymize d.csv -p p.toml -o r.jsonl --memory 128MiB", "JSON Lines"),
        ("anonymize d.csv -p p.toml -o d.csv --memory 128MiB", "overwrite"),
        ("anonymize *.tsv -p p.toml -o r.csv", "no file"),
    ] {
        let ran = run(&folder, line);
        assert_eq!(ran.code, 2, "{line}: {}", ran.stderr);
        assert!(ran.stderr.contains(words), "{line}: {}", ran.stderr);
    }
    assert_eq!(folder.files(), ["d.csv", "p.toml"]);
}

/// A limit that cannot be kept is refused with one that can, and where too many rows are alike to be cut apart the report says so.
#[test]
fn limits_that_cannot_be_kept_are_told() {
    let names: Vec<String> = (0..300).map(|at| format!("q{at}")).collect();
    let policy: String = names.iter().map(|name| format!("[attribute.{name}]\nrole = \"quasi\"\n")).collect();
    let wide = format!("{}\n{}", names.join(","), format!("{}\n", vec!["1"; 300].join(",")).repeat(10_000));
    let folder = Folder::new()
        .with("p.toml", &format!("[privacy]\nk = 3\n[method]\nname = \"mondrian\"\n{policy}"))
        .with("d.csv", &wide);
    let ran = run(&folder, "anonymize d.csv -p p.toml -o r.csv --memory 128MiB");
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("not enough for this table") && ran.stderr.contains("MiB or more"),
        "{}",
        ran.stderr
    );
    assert_eq!(folder.files(), ["d.csv", "p.toml"]);
    let alike = format!("age,sex,illness\n{}", "30,f,flu\n".repeat(400_000));
    let folder = Folder::new().with("p.toml", POLICY).with("d.csv", &alike);
    let ran = run(&folder, "anonymize d.csv -p p.toml -o r.csv --memory 128MiB --method mondrian");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let words = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("One part has 400000 rows where"), "{words}");
}

/// Runs that are killed at any moment leave no release, or a whole one, and the next run removes what they left and says so. Moments
/// are spread evenly over a run, in an order that jumps about; after every fifth there is a run that may end. Releases are files and
/// folders in turns.
fn killed_runs(kills: u32) {
    const ROWS: usize = 6000;
    let folder = Folder::new().with("p.toml", POLICY).with("d.csv", &people(ROWS));
    let line = |release: &str| format!("anonymize d.csv -p p.toml -o {release} --method mondrian --parts 6");
    let start = |release: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_throng"));
        command.args(line(release).split(' ')).current_dir(folder.path("."));
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let remove = |release: &str| match release.ends_with('/') {
        true => std::fs::remove_dir_all(folder.path(release)).unwrap_or_default(),
        false => std::fs::remove_file(folder.path(release)).unwrap_or_default(),
    };
    let is_whole = |release: &str| {
        let file =
            if release.ends_with('/') { format!("{release}part-00000.csv") } else { release.to_owned() };
        folder.read(&file).lines().count() == ROWS + 1
    };
    // How long a run takes at the moment; others may keep the machine busy.
    let whole = |release: &str| {
        let begun = Instant::now();
        let ran = run(&folder, &line(release));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(is_whole(release));
        remove(release);
        (begun.elapsed(), ran.stderr.contains("killed"))
    };
    let (mut takes, told) = whole("r.csv");
    assert!(!told, "nothing was killed yet");
    let (mut killed, mut tried, mut cleaned) = (0, 0, 0);
    while killed < kills {
        assert!(tried < 4 * kills, "runs end before they can be killed");
        let release = if tried / 5 % 2 == 0 { "r.csv" } else { "r.csv/" };
        let mut child = start(release);
        std::thread::sleep(takes.mul_f64(f64::from(tried) * 0.618_034 % 1.0));
        killed += u32::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!folder.path("r.csv").exists() || is_whole(release), "a release that is not whole");
        remove(release);
        tried += 1;
        if tried % 5 == 0 {
            let left = folder.files().iter().any(|name| name.ends_with(".scratch"));
            let (now, told) = whole(release);
            assert_eq!(left, told, "what killed runs left is told");
            assert_eq!(folder.files(), ["d.csv", "p.toml"], "after {tried} runs");
            takes = now;
            cleaned += u32::from(left);
        }
    }
    assert!(cleaned > 0, "no run was killed while it had scratch files");
}

#[test]
fn sixty_killed_runs_leave_no_release_and_the_next_run_cleans_up() {
    killed_runs(60);
}

/// `cargo test --release --test scale -- --ignored thousand` runs it.
#[test]
#[ignore = "takes minutes"]
fn a_thousand_killed_runs_leave_no_release() {
    killed_runs(1000);
}

/// The first Ctrl-C ends a run in parts: no method takes it for a wish to be content with what it has.
#[test]
#[cfg(unix)]
fn ctrl_c_ends_a_run_in_parts_and_leaves_nothing() {
    // Long enough to be stopped in the middle of a part.
    let row = |at: usize| {
        format!("{},{},{},{}\n", at * 7919 % 97, at * 104_729 % 89, at * 1_299_709 % 83, at * 15_485_863 % 79)
    };
    let rows: String = (0..40_000).map(row).collect();
    let quasi: String =
        ["a", "b", "c", "d"].map(|name| format!("[attribute.{name}]\nrole = \"quasi\"\n")).concat();
    let folder = Folder::new()
        .with("p.toml", &format!("[privacy]\nk = 10\n{quasi}"))
        .with("d.csv", &format!("a,b,c,d\n{rows}"));
    let line = "anonymize d.csv -p p.toml -o r.csv --parts 3";
    let mut command = Command::new(env!("CARGO_BIN_EXE_throng"));
    let child =
        command.args(line.split(' ')).current_dir(folder.path(".")).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    // Classes of the first part: others are being solved.
    let solving = || {
        let scratch = folder.files().into_iter().find(|name| name.ends_with(".scratch"));
        scratch.is_some_and(|name| folder.path(&name).join("classes-0-0").exists())
    };
    while !solving() {
        assert!(begun.elapsed() < Duration::from_secs(120), "no part was solved");
        std::thread::sleep(Duration::from_millis(2));
    }
    let scratch = folder.files().into_iter().find(|name| name.ends_with(".scratch")).unwrap();
    let mode = folder.path(&scratch).metadata().unwrap();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode.permissions()) & 0o777, 0o700);
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{told}");
    assert!(told.contains("nothing was written"), "{told}");
    assert_eq!(folder.files(), ["d.csv", "p.toml"]);
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
        "anonymize d.csv -p p.toml -o r.csv --method mondrian --memory 128MiB --parts 2 --scratch disk",
    );
    let left = std::fs::read_dir(&disk).unwrap().count();
    assert!(Command::new("umount").arg(&disk).status().unwrap().success());
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("no space left") && ran.stderr.contains("--scratch"), "{}", ran.stderr);
    assert_eq!(left, 0);
    assert!(!Path::new(&folder.path("r.csv")).exists());
}
