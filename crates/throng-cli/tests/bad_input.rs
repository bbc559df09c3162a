//! What people get to see when the input is wrong, one row per mistake, and that nothing is left behind.

#![allow(clippy::unwrap_used, missing_docs, clippy::print_stderr)]

mod folder;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;

use folder::{Folder, POLICY, Ran, people};

const TABLE: &str = "age,sex,illness\n30,f,flu\n40,m,cold\n50,f,gout\n60,m,flu\n";
const ROLES: &str = "[attribute.age]\nrole = \"quasi\"\n[attribute.sex]\nrole = \"quasi\"\n\
    [attribute.illness]\nrole = \"sensitive\"\n";

/// One mistake: what is in the folder, what is asked for, and what must be said about it.
struct Mistake {
    name: &'static str,
    files: Vec<(&'static str, Vec<u8>)>,
    arguments: Vec<&'static str>,
    code: i32,
    says: Vec<&'static str>,
    keeps_quiet_about: Vec<&'static str>,
}

/// Anonymizes `people.csv` under `policy.toml` into `release.csv`, and fails with code 2.
fn mistake(name: &'static str) -> Mistake {
    Mistake {
        name,
        files: vec![
            ("people.csv", TABLE.into()),
            ("policy.toml", format!("[privacy]\nk = 2\n{ROLES}").into()),
        ],
        arguments: vec!["anonymize", "people.csv", "-p", "policy.toml", "-o", "release.csv"],
        code: 2,
        says: Vec::new(),
        keeps_quiet_about: Vec::new(),
    }
}

impl Mistake {
    fn file(mut self, name: &'static str, content: impl Into<Vec<u8>>) -> Self {
        self.files.retain(|(known, _)| *known != name);
        self.files.push((name, content.into()));
        self
    }

    fn table(self, content: impl Into<Vec<u8>>) -> Self {
        self.file("people.csv", content)
    }

    fn policy(self, content: &str) -> Self {
        self.file("policy.toml", content)
    }

    /// The usual policy with these lines instead of `k = 2`.
    fn asking(self, lines: &str) -> Self {
        self.policy(&format!("{lines}\n{ROLES}"))
    }

    /// The usual policy with these lines more about `sex`, a quasi-identifier.
    fn about_sex(self, lines: &str) -> Self {
        self.policy(&format!("[privacy]\nk = 2\n[attribute.sex]\nrole = \"quasi\"\n{lines}\n"))
    }

    fn with(mut self, arguments: &[&'static str]) -> Self {
        self.arguments.extend(arguments);
        self
    }

    fn running(mut self, arguments: &[&'static str]) -> Self {
        self.arguments = arguments.to_vec();
        self
    }

    /// Puts another word in place of an argument.
    fn instead_of(mut self, argument: &str, word: &'static str) -> Self {
        let at = self.arguments.iter().position(|known| *known == argument).unwrap();
        self.arguments[at] = word;
        self
    }

    fn code(mut self, code: i32) -> Self {
        self.code = code;
        self
    }

    fn says(mut self, pieces: &[&'static str]) -> Self {
        self.says.extend(pieces);
        self
    }

    fn but_not(mut self, pieces: &[&'static str]) -> Self {
        self.keeps_quiet_about.extend(pieces);
        self
    }

    fn check(&self) {
        let folder = Folder::new();
        for (name, content) in &self.files {
            std::fs::write(folder.path(name), content).unwrap();
        }
        let before = folder.files();
        let ran = run(&folder, &self.arguments, b"");
        let message = &ran.stderr;
        assert_eq!(ran.code, self.code, "{}: {message}", self.name);
        for piece in &self.says {
            assert!(message.contains(piece), "{}: no \"{piece}\" in:\n{message}", self.name);
        }
        for piece in &self.keeps_quiet_about {
            assert!(!message.contains(piece), "{}: \"{piece}\" in:\n{message}", self.name);
        }
        assert_fit_for_people(self.name, message);
        assert_eq!(ran.stdout, "", "{}", self.name);
        assert_eq!(folder.files(), before, "{}: files were left or lost", self.name);
    }
}

/// Runs `throng`, with a folder of its own for temporary files, which must be empty in the end.
fn run(folder: &Folder, arguments: &[&str], stdin: &[u8]) -> Ran {
    let temporary = tempfile::tempdir().unwrap();
    let mut child = command(folder, temporary.path(), arguments).spawn().unwrap();
    // A command that fails early does not read its input.
    let _ = child.stdin.take().unwrap().write_all(stdin);
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        std::fs::read_dir(temporary.path()).unwrap().count(),
        0,
        "{arguments:?}: temporary files are left"
    );
    Ran {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn command(folder: &Folder, temporary: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_throng"));
    command
        .args(arguments)
        .current_dir(folder.path(""))
        .env("TMPDIR", temporary)
        .env_remove("RUST_BACKTRACE")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn assert_fit_for_people(name: &str, message: &str) {
    assert!(message.starts_with("error: "), "{name}: {message}");
    let programmer_talk =
        ["panicked", "RUST_BACKTRACE", "unwrap", "os error", "Some(", "Error(", "Os {", "kind: "];
    for talk in programmer_talk {
        assert!(!message.contains(talk), "{name}: \"{talk}\" in:\n{message}");
    }
    assert!(message.len() < 2000, "{name}: {} bytes are too many to read", message.len());
}

fn check_all(mistakes: impl IntoIterator<Item = Mistake>) {
    mistakes.into_iter().for_each(|mistake| mistake.check());
}

/// The start of a gzip file whose only block announces more bytes than follow.
const CUT_GZIP: &[u8] = b"\x1f\x8b\x08\0\0\0\0\0\0\x03\x01\x20\0\xdf\xffage,sex";

#[test]
fn damaged_tables_are_pointed_at() {
    let at = |line: &'static str, column: &'static str| ["people.csv", line, column];
    check_all([
        mistake("too few cells")
            .table("age,sex,illness\n30,f,flu\n40,m\n")
            .says(&at("line 3", "column 2"))
            .says(&["2 cells", "the header has 3", "help:"]),
        mistake("too many cells")
            .table("age,sex,illness\n30,f,flu\n40,m,cold,x\n")
            .says(&at("line 3", "column 4"))
            .says(&["4 cells", "the header has 3", "quotes"]),
        mistake("too few cells after a cell of two lines")
            .table("age,sex,illness\n30,f,\"f\nlu\"\n\n40,m\n")
            .says(&at("line 5", "column 2")),
        mistake("two columns of one name")
            .table("age,sex,age\n1,f,2\n")
            .says(&at("line 1", "column 3"))
            .says(&["attribute \"age\"", "rename one of columns 1 and 3"]),
        mistake("a header that is not UTF-8")
            .table(b"age,s\xffx,illness\n1,f,flu\n")
            .says(&at("line 1", "column 2"))
            .says(&["UTF-8", "iconv"]),
        mistake("a cell that is not UTF-8")
            .table(b"age,sex,illness\n1,f,flu\n2,\xe9,flu\n")
            .says(&at("line 3", "column 2"))
            .says(&["UTF-8", "iconv"]),
        mistake("an open quote").table("age,sex,illness\n30,f,flu\n40,\"m,cold\n50,f,gout\n").says(&[
            "people.csv",
            "line 3",
            "never closed",
            "double it",
        ]),
        mistake("an open quote in the header").table("age,\"sex\n30,f\n").says(&["line 1", "never closed"]),
        mistake("an empty file").table("").says(&["people.csv", "empty", "name the columns"]),
        mistake("only blank lines").table("\n\r\n\n").says(&["people.csv", "empty", "name the columns"]),
        mistake("only a header").table("age,sex,illness\n").says(&[
            "people.csv",
            "no records",
            "at least one record",
        ]),
    ]);
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let missing = ["no such file", "check the path"];
    let compressed = ["cannot read", "cut short or not be compressed"];
    check_all([
        mistake("no table").instead_of("people.csv", "poeple.csv").says(&missing).says(&["poeple.csv"]),
        mistake("no policy")
            .instead_of("policy.toml", "polcy.toml")
            .says(&missing)
            .says(&["polcy.toml", "policy"]),
        mistake("a folder of other files as table").instead_of("people.csv", ".").says(&[
            "policy.toml",
            "this folder holds a file that is no table",
            "by a pattern in quotes",
        ]),
        mistake("a folder as policy").instead_of("policy.toml", ".").says(&["cannot read the policy"]),
        mistake("a policy that is not UTF-8").file("policy.toml", b"\xff".to_vec()).says(&["policy.toml"]),
        mistake("a gzip file cut short")
            .file("people.csv.gz", CUT_GZIP)
            .instead_of("people.csv", "people.csv.gz")
            .says(&compressed)
            .says(&["people.csv.gz"]),
        mistake("gzip by name only")
            .file("people.csv.gz", TABLE)
            .instead_of("people.csv", "people.csv.gz")
            .says(&compressed),
        mistake("zstd by name only")
            .file("people.csv.zst", TABLE)
            .instead_of("people.csv", "people.csv.zst")
            .says(&compressed),
    ]);
}

#[test]
fn values_that_do_not_fit_are_shown_alone() {
    let hierarchy = "hierarchy = \"sex.csv\"";
    let place = ["people.csv", "line 3", "column 2", "attribute \"sex\""];
    let long = "x".repeat(1 << 20);
    check_all([
        mistake("a value that its hierarchy does not have")
            .about_sex(hierarchy)
            .file("sex.csv", "f;known;*\nx;known;*\n")
            .says(&place)
            .says(&["\"m\" is not in the hierarchy", "add a line for it"])
            .but_not(&["cold", "40"]),
        mistake("a very long value that its hierarchy does not have")
            .about_sex(hierarchy)
            .file("sex.csv", "f;known;*\nm;known;*\n")
            .table(format!("age,sex,illness\n30,f,flu\n40,{long},cold\n"))
            .says(&place)
            .says(&["xxx…"]),
        mistake("a text where a number is asked for")
            .about_sex("kind = \"numeric\"")
            .says(&[
                "people.csv",
                "line 2",
                "column 2",
                "attribute \"sex\"",
                "\"f\" is not a number",
                "categorical",
            ])
            .but_not(&["flu", "30"]),
        mistake("the sign of suppressed cells as a value")
            .table("age,sex,illness\n30,f,flu\n40,*,cold\n")
            .says(&place)
            .says(&["\"*\" stands for a suppressed cell", "rename it"]),
        mistake("two columns of one very long name")
            .table(format!("{long},{long}\n1,2\n"))
            .says(&["line 1", "column 2", "xxx…"]),
        mistake("a very long column where another is asked for")
            .table(format!("age,illness,{long}\n1,2,3\n"))
            .says(&["no column \"sex\"", "xxx…"]),
    ]);
}

#[test]
fn hierarchies_are_checked_before_the_table_is_read() {
    check_all([
        mistake("a value with two parents")
            .about_sex("hierarchy = \"sex.csv\"")
            .file("sex.csv", "f;a;*\nm;b;*\nf;b;*\n")
            .says(&["sex.csv", "line 3", "\"f\" has two parents: \"a\" and \"b\"", "first given on line 1"]),
        mistake("no hierarchy file").about_sex("hierarchy = \"sexes.csv\"").says(&[
            "sexes.csv",
            "policy.toml:5",
            "no such file",
            "folder of the policy",
        ]),
    ]);
}

#[test]
fn requirements_that_cannot_be_met_exit_with_1_and_say_what_can() {
    check_all([
        mistake("more k than records").with(&["--k", "5"]).code(1).says(&[
            "people.csv",
            "k = 5",
            "only 4 records",
            "largest possible k is 4",
        ]),
        mistake("one record and k = 2")
            .table("age,sex,illness\n30,f,flu\n")
            .code(1)
            .says(&["k = 2", "largest possible k is 1"]),
        mistake("more l than the most frequent value allows").with(&["--l", "3"]).code(1).says(&[
            "people.csv",
            "attribute \"illness\"",
            "\"flu\" makes up 50.0 %",
            "largest possible l is 2",
        ]),
        mistake("a very long value that is too frequent")
            .table(format!("age,sex,illness\n1,f,{0}\n2,m,{0}\n3,f,flu\n", "x".repeat(1 << 20)))
            .with(&["--l", "2"])
            .code(1)
            .says(&["xxx…\" makes up 66.7 %", "largest possible l is 1.5"]),
    ]);
}

#[test]
fn mistakes_in_a_policy_are_pointed_at() {
    check_all([
        mistake("nothing to generalize")
            .policy("[privacy]\nk = 2\n[attribute.illness]\nrole = \"sensitive\"\n")
            .says(&["policy.toml:4", "no attribute has the role \"quasi\"", "write role = \"quasi\""]),
        mistake("an unknown column")
            .policy("[privacy]\nk = 2\n[attribute.agee]\nrole = \"quasi\"\n")
            .says(&["policy.toml:3:12", "no column \"agee\"", "did you mean \"age\"?"]),
        mistake("an unknown method").asking("[privacy]\nk = 2\n[method]\nname = \"mondrain\"").says(&[
            "policy.toml:4",
            "no method \"mondrain\"",
            "did you mean \"mondrian\"?",
        ]),
        mistake("a method that does not take max_loss")
            .asking("[privacy]\nmax_loss = 0.2\n[method]\nname = \"hilbert\"")
            .says(&["policy.toml:4", "hilbert does not take max_loss", "methods that do: auto, accuracy"]),
        mistake("a method that needs max_loss")
            .asking("[privacy]\nk = 2\n[method]\nname = \"accuracy\"")
            .says(&["policy.toml:4", "accuracy needs max_loss", "max_loss = 0.3"]),
        mistake("a span of categories")
            .asking("[privacy]\nmax_span = { sex = 1 }\n[method]\nname = \"accuracy\"")
            .says(&["policy.toml:2:14", "max_span limits ranges of numbers"]),
        mistake("an unknown key").asking("[privacy]\nk = 2\nsupress = 0.1").says(&[
            "policy.toml:3:1",
            "unknown key \"supress\"",
            "did you mean \"suppress\"?",
        ]),
        mistake("k = 0").asking("[privacy]\nk = 0").says(&["policy.toml:2:5", "k must be", "at least 1"]),
        mistake("a negative weight").about_sex("weight = -1").says(&[
            "policy.toml:5:10",
            "weight must be",
            "above 0",
            "-1",
        ]),
    ]);
}

#[test]
fn wrong_arguments_are_named() {
    let bounds = "age,age.min,sex,illness\n30,1,f,flu\n40,2,m,cold\n";
    check_all([
        mistake("k = 0").with(&["--k", "0"]).says(&["k must be", "at least 1"]),
        mistake("an l that is no number").with(&["--l", "nan"]).says(&["l must be", "at least 1"]),
        mistake("an unknown method")
            .with(&["--method", "hilbrt"])
            .says(&["\"hilbrt\"", "did you mean \"hilbert\"?"]),
        mistake("a method that needs another requirement")
            .with(&["--method", "accuracy"])
            .says(&["accuracy needs max_loss"]),
        mistake("no threads").with(&["--threads", "0"]).says(&["--threads must be from 1"]),
        mistake("a million threads").with(&["--threads", "1000000"]).says(&["--threads must be from 1 to"]),
        mistake("a report of unknown format").with(&["--report", "x.txt"]).says(&["x.txt", ".json or .html"]),
        mistake("a column that is called like a bound")
            .table(bounds)
            .asking("[data]\nunlisted = \"publish\"\n[privacy]\nk = 2")
            .with(&["--publish", "bounds"])
            .says(&["two columns called \"age.min\"", "rename"]),
    ]);
}

#[test]
fn outputs_that_cannot_be_written_are_named() {
    let space = ["no space left", "free some space"];
    let report = |path: &'static str| ["--report", path];
    check_all([
        mistake("no such folder")
            .instead_of("release.csv", "no/release.csv")
            .says(&["no/release.csv", "must exist"]),
        mistake("a file as folder").instead_of("release.csv", "people.csv/release.csv").says(&[
            "people.csv/release.csv",
            "cannot write",
            "check the path",
        ]),
        mistake("a folder as file").instead_of("release.csv", ".").says(&["this is a folder", "name a file"]),
        mistake("a device that is always full").instead_of("release.csv", "/dev/full").says(&space),
        mistake("a report in no folder")
            .with(&report("no/report.json"))
            .says(&["no/report.json", "must exist"]),
        mistake("a report below a file")
            .with(&report("people.csv/report.html"))
            .says(&["people.csv/report.html"]),
    ]);
}

#[test]
fn audits_of_something_else_say_so() {
    let audit = ["audit", "people.csv", "release.csv", "-p", "policy.toml"];
    let other = "is this a release of this table";
    check_all([
        mistake("other columns")
            .file("release.csv", "height,sex,illness\n170,f,flu\n")
            .running(&audit)
            .says(&["release.csv", "no column \"age\"", "attribute \"age\"", other]),
        mistake("a sensitive value of another table")
            .file("release.csv", "age,sex,illness\n*,*,flu\n*,*,plague\n")
            .running(&audit)
            .says(&[
                "release.csv",
                "line 3",
                "column 3",
                "attribute \"illness\"",
                "does not occur in the table",
                other,
            ])
            .but_not(&["plague"]),
        mistake("a cell that says nothing")
            .file("release.csv", "age,sex,illness\n*,*,flu\nabout 30,*,flu\n")
            .running(&audit)
            .says(&[
                "release.csv",
                "line 3",
                "column 1",
                "attribute \"age\"",
                "\"about 30\" cannot be understood",
            ]),
        mistake("no release").running(&audit).says(&["release.csv", "no such file"]),
    ]);
}

/// The folder of the usual table under the usual policy.
fn usual_folder() -> Folder {
    Folder::new().with("people.csv", TABLE).with("policy.toml", &format!("[privacy]\nk = 2\n{ROLES}"))
}

#[test]
fn an_audit_says_what_does_not_hold() {
    let audit = ["audit", "people.csv", "release.csv", "-p", "policy.toml"];
    let policy = format!("[privacy]\nk = 2\n[attribute.name]\nrole = \"identifier\"\n{ROLES}");
    let table = "name,age,sex,illness\nann,30,f,flu\nbob,40,m,cold\n";
    for (release, broken) in [
        ("age,sex,illness\n30,f,flu\n40,m,cold\n", "k = 2 is required, the smallest class has 1"),
        ("name,age,sex,illness\nann,*,*,flu\nbob,*,*,cold\n", "the identifier \"name\" is published"),
        ("age,sex,illness\n*,*,flu\n*,*,cold\n*,*,flu\n", "more records than the table"),
    ] {
        let folder =
            Folder::new().with("people.csv", table).with("policy.toml", &policy).with("release.csv", release);
        let ran = run(&folder, &audit, b"");
        assert_eq!((ran.code, ran.stderr.as_str()), (1, ""), "{broken}");
        assert!(ran.stdout.contains(broken), "{broken}: {}", ran.stdout);
        assert_eq!(folder.files(), ["people.csv", "policy.toml", "release.csv"]);
    }
}

#[test]
fn one_record_is_published_where_one_is_enough() {
    let folder = usual_folder().with("people.csv", "age,sex,illness\n30,f,flu\n");
    let arguments = ["anonymize", "people.csv", "-p", "policy.toml", "-o", "release.csv", "-q", "--k", "1"];
    let ran = run(&folder, &arguments, b"");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(folder.read("release.csv"), "age,sex,illness\n30,f,flu\n");
}

#[test]
fn a_nul_byte_is_a_byte_like_any_other() {
    let table = "age,sex,illness\n30,f\0,flu\n40,m,co\0ld\n";
    let folder = usual_folder().with("people.csv", table);
    let arguments = [
        "anonymize",
        "people.csv",
        "-p",
        "policy.toml",
        "-o",
        "release.csv",
        "-q",
        "--k",
        "1",
        "--keep-order",
    ];
    let ran = run(&folder, &arguments, b"");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(folder.read("release.csv"), table);
}

#[test]
fn from_standard_input_to_standard_output_goes_the_release_alone() {
    let folder = usual_folder();
    let ran = run(
        &folder,
        &["anonymize", "-", "-p", "policy.toml", "-o", "-", "--keep-order", "--k", "1"],
        TABLE.as_bytes(),
    );
    assert_eq!((ran.code, ran.stdout.as_str()), (0, TABLE), "{}", ran.stderr);
    assert!(!ran.stderr.is_empty(), "the summary goes to standard error");
    assert_eq!(folder.files(), ["people.csv", "policy.toml"]);
}

/// A table of 5,000 columns and 20 rows.
fn wide_table() -> String {
    let line = |cell: &dyn Fn(usize) -> String| (0..5000).map(cell).collect::<Vec<_>>().join(",");
    let mut text = line(&|column| format!("c{column}")) + "\n";
    for row in 0..20 {
        text += &(line(&|column| ((row * 7 + column) % 11).to_string()) + "\n");
    }
    text
}

fn quasi_columns(columns: usize) -> String {
    let roles = (0..columns).map(|column| format!("c{column}.role = \"quasi\"\n"));
    format!("[data]\nunlisted = \"publish\"\n[privacy]\nk = 2\n[attribute]\n{}", roles.collect::<String>())
}

#[test]
fn tables_may_have_thousands_of_columns() {
    for columns in [3, 5000] {
        let folder =
            Folder::new().with("wide.csv", &wide_table()).with("policy.toml", &quasi_columns(columns));
        for method in ["mondrian", "mondrian-relaxed", "hilbert", "hilbert-fast"] {
            let arguments =
                ["anonymize", "wide.csv", "-p", "policy.toml", "-o", "r.csv", "-q", "--method", method];
            let ran = run(&folder, &arguments, b"");
            assert_eq!(ran.code, 0, "{method} on {columns}: {}", ran.stderr);
            let release = folder.read("r.csv");
            assert_eq!(release.lines().count(), 21, "{method}");
            assert!(release.lines().all(|line| line.matches(',').count() == 4999), "{method}");
        }
    }
}

/// A file system of 64 KiB, unmounted with the test.
struct SmallDisk {
    mounted_at: std::path::PathBuf,
}

impl SmallDisk {
    /// `None`, and says so, where tests may not mount.
    fn mount(folder: &Folder, name: &str) -> Option<Self> {
        let mounted_at = folder.path(name);
        std::fs::create_dir(&mounted_at).unwrap();
        let mut command = Command::new("mount");
        command.args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]).arg(&mounted_at);
        match command.output() {
            Ok(output) if output.status.success() => Some(SmallDisk { mounted_at }),
            _ => {
                folder::say_skipped("mounting a small disk is not allowed here");
                None
            }
        }
    }

    /// Takes all space that is left.
    fn fill(&self) {
        let filled = std::fs::write(self.mounted_at.join("filler"), vec![0; MEBIBYTE]);
        assert!(filled.is_err(), "the disk is larger than asked for");
    }

    fn files(&self) -> usize {
        std::fs::read_dir(&self.mounted_at).unwrap().count()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg(&self.mounted_at).status();
        assert!(unmounted.is_ok_and(|status| status.success()), "the small disk is still mounted");
    }
}

#[test]
fn a_full_disk_leaves_no_part_of_a_release() {
    let folder = Folder::new().with("people.csv", &people(20_000)).with("policy.toml", POLICY);
    let Some(disk) = SmallDisk::mount(&folder, "disk") else { return };
    let check = |release: &str, files_before: usize| {
        let ran = run(&folder, &["anonymize", "people.csv", "-p", "policy.toml", "-o", release], b"");
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        assert_fit_for_people(release, &ran.stderr);
        assert!(ran.stderr.contains(release) && ran.stderr.contains("free some space"), "{}", ran.stderr);
        assert_eq!(disk.files(), files_before, "{release}");
    };
    check("disk/release.csv", 0);
    disk.fill();
    for release in
        ["disk/release.parquet", "disk/release.arrow", "disk/release.csv.gz", "disk/release.csv.zst"]
    {
        check(release, 1);
    }
}

#[test]
fn a_report_that_does_not_fit_on_the_disk_leaves_no_release() {
    let folder = usual_folder();
    let Some(disk) = SmallDisk::mount(&folder, "disk") else { return };
    disk.fill();
    let arguments =
        ["anonymize", "people.csv", "-p", "policy.toml", "-o", "release.csv", "--report", "disk/report.json"];
    let ran = run(&folder, &arguments, b"");
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert_fit_for_people("report", &ran.stderr);
    assert!(
        ran.stderr.contains("disk/report.json") && ran.stderr.contains("free some space"),
        "{}",
        ran.stderr
    );
    assert_eq!(
        (disk.files(), folder.files()),
        (1, ["disk", "people.csv", "policy.toml"].map(str::to_owned).to_vec())
    );
}

const MEBIBYTE: usize = 1 << 20;

/// Writes rows until the reader closes the pipe, tells when enough arrived to be sure that it reads, and returns
/// whether it closed.
fn feed_until_closed(mut pipe: impl Write, reading: &mpsc::Sender<()>) -> bool {
    let rows = people(MEBIBYTE / 16);
    let body = &rows.as_bytes()[rows.find('\n').unwrap() + 1..];
    if pipe.write_all(rows.as_bytes()).is_err() {
        return true;
    }
    for block in 0..512 {
        if block == 4 {
            reading.send(()).unwrap();
        }
        if pipe.write_all(body).is_err() {
            return true;
        }
    }
    false
}

#[test]
fn control_c_stops_the_work_and_leaves_nothing() {
    let folder = Folder::new().with("policy.toml", POLICY);
    let temporary = tempfile::tempdir().unwrap();
    let arguments = ["anonymize", "-", "-p", "policy.toml", "-o", "release.csv", "--report", "report.html"];
    let mut child = command(&folder, temporary.path(), &arguments).spawn().unwrap();
    let pipe = child.stdin.take().unwrap();
    let (sender, reading) = mpsc::channel();
    let feeder = std::thread::spawn(move || feed_until_closed(pipe, &sender));
    reading.recv().unwrap();
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{message}");
    assert!(message.contains("nothing was written"), "{message}");
    assert_fit_for_people("Ctrl-C", &message);
    assert!(feeder.join().unwrap(), "it read to the end instead of stopping");
    assert_eq!(folder.files(), ["policy.toml"]);
}
