//! Nothing is destroyed: what a command writes is none of what it reads, and appears whole or not at all.

#![allow(clippy::unwrap_used)]

mod folder;

use folder::{Folder, POLICY, people};

const QUERIES: &str = "[[query]]\ncount = true\n";

fn start() -> Folder {
    Folder::new().with("d.csv", &people(60)).with("p.toml", POLICY)
}

/// Runs a command that must be refused and leave the folder as it was.
fn refused(folder: &Folder, line: &str) -> String {
    let before: Vec<(String, Vec<u8>)> = contents(folder);
    let ran = folder.run(&line.split(' ').collect::<Vec<_>>());
    assert_eq!(ran.code, 2, "{line}: {}{}", ran.stdout, ran.stderr);
    // With --json the same is told to programs.
    let hint = if line.contains("--json") { "\"hint\":\"" } else { "help:" };
    assert!(ran.stderr.contains("overwrite") && ran.stderr.contains(hint), "{line}: {}", ran.stderr);
    assert!(before == contents(folder), "{line} changed a file");
    ran.stderr
}

fn contents(folder: &Folder) -> Vec<(String, Vec<u8>)> {
    let is_file = |name: &String| folder.path(name).is_file();
    let files = folder.files().into_iter().filter(is_file);
    files.map(|name| (name.clone(), std::fs::read(folder.path(&name)).unwrap())).collect()
}

fn with_recipe() -> Folder {
    let folder = start()
        .with("key", "thirty-two bytes or more of a key")
        .with("key.json", "another key, long enough to be one");
    let line = "anonymize d.csv -p p.toml -o rel.csv --method refine --recipe rec.json --quiet";
    let ran = folder.run(&line.split(' ').collect::<Vec<_>>());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    folder
}

#[test]
fn no_command_overwrites_what_it_reads_or_writes() {
    let folder = with_recipe();
    for line in [
        "compare d.csv -p p.toml --methods mondrian --k 3 -o c.html --json d.csv",
        "compare d.csv -p p.toml --methods mondrian --k 3 -o p.toml",
        "compare d.csv -p p.toml --methods mondrian --k 3 -o c.html --json c.html",
        "evaluate d.csv -p p.toml --task queries --report d.csv",
        "evaluate d.csv -p p.toml --task queries --report p.toml",
        "evaluate d.csv -p p.toml --release rel.csv --task queries --report rel.csv",
        "anonymize d.csv -p p.toml -o r.csv --method refine --recipe d.csv",
        "anonymize d.csv -p p.toml -o p.toml",
        "anonymize d.csv -p p.toml -o d.csv",
        "anonymize d.csv -p p.toml -o r.html --report r.html",
        "anonymize d.csv -p p.toml -o r.csv --report r.json --recipe r.json --method refine",
        "anonymize d.csv -p p.toml -o r.csv --report r.json --report ./R.json",
        "apply rec.json d.csv -o rec.json",
        "apply rec.json d.csv -o d.csv",
        "init d.csv -o d.csv --force",
        "anonymize d.csv -p p.toml -o key --secret key",
        "apply rec.json d.csv -o r.csv --secret key.json --report key.json",
        "compare d.csv -p p.toml --methods mondrian --k 3 -o c.html --secret key --json key",
    ] {
        refused(&folder, line);
    }
}

#[test]
fn manual_pages_replace_manual_pages_and_nothing_else() {
    let folder = Folder::new();
    for _ in 0..2 {
        let ran = folder.run(&["man", "--out", "."]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(folder.files().contains(&"throng-anonymize.1".to_owned()), "{:?}", folder.files());
        assert!(folder.read("throng.1").contains(".TH throng 1"));
    }
    let folder = Folder::new().with("throng-risk.1", "mine");
    refused(&folder, "man --out .");
    assert_eq!(folder.files(), ["throng-risk.1"]);
}

#[test]
fn the_demo_replaces_only_what_a_demo_wrote() {
    let folder = Folder::new().with("README.md", "mine");
    refused(&folder, "demo --out .");
    let folder = Folder::new().with("release.csv", "mine");
    refused(&folder, "demo --out .");
    let folder = Folder::new();
    assert_eq!(folder.run(&["demo", "--out", "."]).code, 0);
    assert_eq!(folder.run(&["demo", "--out", "."]).code, 0);
    std::fs::write(folder.path("adult.toml"), "edited").unwrap();
    refused(&folder, "demo --out .");
}

#[test]
fn a_release_by_permutation_spares_its_inputs_too() {
    let folder = Folder::new().with("d.sensitive.csv", &people(60)).with("p.toml", POLICY);
    refused(&folder, "anonymize d.sensitive.csv -p p.toml -o d.csv --method anatomy");
    let ran = folder.run(&["anonymize", "d.sensitive.csv", "-p", "p.toml", "-o", "d.csv", "--quiet"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

#[test]
fn files_that_the_policy_names_are_inputs() {
    let policy = POLICY.replace("[attribute.sex]", "[attribute.sex]\nhierarchy = \"h/sex.csv\"");
    let folder = Folder::new().with("d.csv", &people(60)).with("p.toml", &policy);
    std::fs::create_dir(folder.path("h")).unwrap();
    std::fs::write(folder.path("h/sex.csv"), "f;*\nm;*\n").unwrap();
    let told = refused(&folder, "anonymize d.csv -p p.toml -o ./h/../h/sex.csv");
    assert!(told.contains("the policy names"), "{told}");
    assert_eq!(folder.read("h/sex.csv"), "f;*\nm;*\n");
    std::fs::write(folder.path("q.toml"), QUERIES).unwrap();
    refused(&folder, "evaluate d.csv -p p.toml --task queries --set file=q.toml --report q.toml");
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    fn mode(folder: &Folder, name: &str) -> u32 {
        std::fs::metadata(folder.path(name)).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn links_lead_to_what_they_point_at() {
        let folder = start();
        symlink("d.csv", folder.path("soft.csv")).unwrap();
        std::fs::hard_link(folder.path("d.csv"), folder.path("hard.csv")).unwrap();
        symlink("later.csv", folder.path("one.csv")).unwrap();
        symlink(".", folder.path("here")).unwrap();
        refused(&folder, "anonymize d.csv -p p.toml -o soft.csv");
        refused(&folder, "anonymize d.csv -p p.toml -o hard.csv");
        refused(&folder, "anonymize soft.csv -p p.toml -o here/d.csv");
        refused(&folder, "compare d.csv -p p.toml --methods mondrian --k 3 -o one.csv --json here/later.csv");
        // A link to a place of its own stays a link.
        let ran = folder.run(&["anonymize", "d.csv", "-p", "p.toml", "-o", "one.csv", "--quiet"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(folder.path("one.csv").is_symlink() && folder.read("later.csv").lines().count() == 61);
    }

    #[test]
    fn replaced_files_keep_their_mode_and_protected_ones_stay() {
        let folder = start().with("r.csv", "old");
        let run = || folder.run(&["anonymize", "d.csv", "-p", "p.toml", "-o", "r.csv", "--quiet"]);
        std::fs::set_permissions(folder.path("r.csv"), PermissionsExt::from_mode(0o640)).unwrap();
        assert_eq!(run().code, 0);
        assert_eq!(mode(&folder, "r.csv"), 0o640);
        std::fs::set_permissions(folder.path("r.csv"), PermissionsExt::from_mode(0o444)).unwrap();
        let before = folder.read("r.csv");
        let ran = run();
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        assert!(ran.stderr.contains("write-protected") && folder.read("r.csv") == before, "{}", ran.stderr);
        let ran = folder.run(&["anonymize", "d.csv", "-p", "p.toml", "-o", "new.csv", "--quiet"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        // As for any new file, the umask decides.
        std::fs::write(folder.path("any"), "").unwrap();
        assert_eq!(mode(&folder, "new.csv"), mode(&folder, "any"));
    }

    #[test]
    fn outputs_appear_together_or_not_at_all() {
        let folder = start().with("r.csv", "old").with("r.json", "old");
        // A device that takes nothing fails when all else has its name.
        let line = [
            "anonymize",
            "d.csv",
            "-p",
            "p.toml",
            "-o",
            "/dev/full",
            "--report",
            "r.json",
            "--report",
            "n.html",
        ];
        let ran = folder.run(&line);
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        assert_eq!(folder.files(), ["d.csv", "p.toml", "r.csv", "r.json"]);
        assert_eq!(folder.read("r.json"), "old");
    }

    /// A run that waits for its table on standard input, when it has opened its outputs.
    fn waiting(folder: &Folder) -> std::process::Child {
        let before = temporary(folder);
        let child = Command::new(env!("CARGO_BIN_EXE_throng"))
            .args(["anonymize", "-", "-p", "p.toml", "-o", "r.csv", "--report", "r.json", "--quiet"])
            .current_dir(folder.path(""))
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let until = Instant::now() + Duration::from_secs(60);
        while temporary(folder).is_empty() || temporary(folder) == before {
            assert!(Instant::now() < until, "no temporary file appeared");
            std::thread::sleep(Duration::from_millis(5));
        }
        child
    }

    fn temporary(folder: &Folder) -> Vec<String> {
        folder.files().into_iter().filter(|name| name.starts_with(".throng-")).collect()
    }

    #[test]
    fn what_a_killed_run_left_is_removed_by_the_next() {
        let folder = start();
        let mut killed = waiting(&folder);
        killed.kill().unwrap();
        killed.wait().unwrap();
        let mut alive = waiting(&folder);
        // The second run has removed what the first one left, and a third one spares what the second needs.
        let left = temporary(&folder);
        assert_eq!(left.len(), 1, "{left:?}");
        assert_eq!(mode(&folder, &left[0]), 0o600);
        let ran = folder.run(&["anonymize", "d.csv", "-p", "p.toml", "-o", "other.csv", "--quiet"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert_eq!(temporary(&folder), left);
        alive.kill().unwrap();
        alive.wait().unwrap();
    }
}
