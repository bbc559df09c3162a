//! What is fuzzed: every reader of bytes that come from outside, and what is done with them next.
//!
//! Each function takes any bytes. They may be refused with an error that a user can understand; they may not panic, end in
//! an error that is throng's own fault, or be published against the policy. The targets in `fuzz_targets/` call these
//! functions with what the fuzzer makes up; `crates/throng/tests/corpus.rs` calls them with what is kept in `corpus/`.

use throng::condition::Condition;
use throng::format::{self, Format};
use throng::policy::{Hierarchy, Policy, parse_hierarchy, suggest::suggest};
use throng::problem::Problem;
use throng::table::{Reading, Storage, Table};
use throng::watch::Unwatched;
use throng::workload::Column;
use throng::workload::written::{self, Asked};
use throng::{Anonymize, Apply, Audit, Data, Error, Fault, Recipe, Secret, Unmet};

/// A function that takes any bytes.
pub type Target = fn(&[u8]);

/// All targets, by the names of their folders in `corpus/`.
pub const TARGETS: &[(&str, Target)] = &[
    ("csv", csv),
    ("parquet", parquet),
    ("arrow", arrow),
    ("json_lines", json_lines),
    ("policy", policy),
    ("hierarchy", hierarchy),
    ("recipe", recipe),
    ("release", release),
    ("condition", condition),
    ("queries", queries),
];

/// Panics in the readers of Parquet and Arrow are caught and told in words, so they are no finding; the fuzzer would stop
/// at each. Those that nobody catches still reach it.
pub fn start() {
    std::panic::set_hook(Box::new(|_| {}));
}

const TABLE: &str = "name,age,city,since,illness,buys\n\
    Ada,31,Rome,2024-01-05,flu,no\nBen,34,Rome,2024-02-29,cold,no\nCleo,36,Oslo,2023-12-31,flu,yes\n\
    Dan,52,Oslo,2022-07-01,gout,yes\nEve,58,Rome,2022-07-02,cold,no\nFay,58,Bern,2020-01-01,mumps,yes\n\
    Gus,61,Bern,2019-05-05,flu,no\nHal,64,Oslo,2019-05-06,gout,yes\n";

const POLICY: &str = "[privacy]\nk = 2\n[method]\nname = \"mondrian\"\nseed = 1\n\
    [attribute.name]\nrole = \"identifier\"\n[attribute.age]\nrole = \"quasi\"\nkind = \"numeric\"\n\
    [attribute.city]\nrole = \"quasi\"\nhierarchy = { South = [\"Rome\"], North = [\"Oslo\", \"Bern\"] }\n\
    [attribute.since]\nrole = \"quasi\"\n[attribute.illness]\nrole = \"sensitive\"\n[attribute.buys]\nrole = \"class\"\n";

/// Delimited text, as a table.
pub fn csv(bytes: &[u8]) {
    table(&format::CSV, bytes);
}

/// Parquet, as a table.
pub fn parquet(bytes: &[u8]) {
    table(&format::PARQUET, bytes);
}

/// Arrow, as a table: a file or a stream.
pub fn arrow(bytes: &[u8]) {
    table(&format::ARROW, bytes);
    table(&format::ARROW_STREAM, bytes);
}

/// JSON Lines, as a table.
pub fn json_lines(bytes: &[u8]) {
    table(&format::JSON_LINES, bytes);
}

/// A policy, and a release of a small table under it.
pub fn policy(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    // Whatever else a policy names is read from there.
    if ["/dev", "/proc", "/sys"].iter().any(|folder| text.contains(folder)) {
        return;
    }
    match Policy::parse(text, None) {
        Err(error) => check(&error),
        Ok(policy) => anonymize(&policy, Data::csv(TABLE)),
    }
}

/// A hierarchy file, and a release of a table of its values.
pub fn hierarchy(bytes: &[u8]) {
    let tree = match parse_hierarchy(bytes) {
        Err(error) => return check(&error),
        Ok(tree) => tree,
    };
    let leaf = |leaf: &str| format!("\"{}\"\n", leaf.replace('"', "\"\""));
    let rows: String = tree.paths().take(40).map(|(label, _)| leaf(label)).collect();
    let mut policy = parsed("[privacy]\nk = 2\n[attribute.q]\nrole = \"quasi\"\n");
    policy.attributes[0].hierarchy = Some(Hierarchy::Tree(tree));
    anonymize(&policy, Data::csv(format!("q\n{rows}")));
}

/// A recipe, and a small table masked with it.
pub fn recipe(bytes: &[u8]) {
    let Ok(recipe) = serde_json::from_slice::<Recipe>(bytes) else { return };
    if let Err(error) = recipe.check() {
        return check(&error);
    }
    for unmet in [Unmet::Refuse, Unmet::Suppress] {
        let masked = Apply::new(&recipe).read(Data::csv(TABLE)).unmet(unmet).secret(secret()).to_csv();
        masked.map_or_else(|error| check(&error), |_| ());
    }
}

/// A release that somebody hands in, audited against a table.
pub fn release(bytes: &[u8]) {
    let policy = parsed(POLICY);
    let audit = |release: Data| Audit::new(&policy).original(Data::csv(TABLE)).release(release);
    audit(Data::csv(bytes)).run().map_or_else(|error| check(&error), |_| ());
    // A release by permutation comes in two tables; here what follows an empty line is the second.
    let second = bytes.windows(2).position(|pair| pair == b"\n\n").map_or(bytes.len(), |at| at + 1);
    let (first, second) = bytes.split_at(second);
    let both = audit(Data::csv(first)).sensitive(Data::csv(second)).run();
    both.map_or_else(|error| check(&error), |_| ());
}

/// A condition as rules and queries have it, on a number, a date and a tree.
pub fn condition(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(read) = format!("value = {text}").parse::<toml::Table>() else { return };
    let (Some(value), problem) = (read.get("value"), problem()) else { return };
    for attribute in &problem.attributes {
        match Condition::read(&attribute.name, &attribute.domain, value) {
            Err(error) => check(&error),
            Ok(condition) => assert_eq!(condition.codes(&attribute.domain).len(), attribute.domain.len()),
        }
    }
}

/// Queries that somebody wrote down.
pub fn queries(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let problem = problem();
    let further = Column::all_of(&problem);
    match written::read_text(&Asked { data: &problem, further: &further }, text) {
        Err(error) => check(&error),
        Ok(queries) => {
            assert!(queries.iter().all(|query| query.conditions.len() == problem.attributes.len()));
        }
    }
}

/// Reads a table, writes a first policy for it and publishes it under that.
fn table(format: &Format, bytes: &[u8]) {
    let coded = |names: &[String]| Ok(vec![Storage::Coded; names.len()]);
    let read = match Table::read_from(format, bytes, &Reading::new(&coded, &Unwatched)) {
        Err(error) => return check(&error),
        Ok(table) => table,
    };
    let suggestion = match suggest(&read) {
        Err(error) => return check(&error),
        Ok(suggestion) => suggestion,
    };
    let policy = parsed(&suggestion.text);
    if read.len() <= 64 && read.names().len() <= 16 && format.name == format::CSV.name {
        anonymize(&policy, Data::csv(bytes));
    }
}

/// Publishes a table; the run audits what it publishes, and a release that falls short would be throng's own fault.
fn anonymize(policy: &Policy, data: Data) {
    let done = Anonymize::new(policy).read(data.clone()).seed(1).secret(secret()).to_csv();
    match done {
        Err(error) => check(&error),
        Ok(done) if done.sensitive.is_none() => audit(policy, data, &done.release),
        Ok(_) => {}
    }
}

/// Anyone who audits a release finds what the run found.
fn audit(policy: &Policy, data: Data, release: &str) {
    match Audit::new(policy).original(data).release(Data::csv(release)).run() {
        Err(error) => panic!("the release cannot be audited: {error}\n{release}"),
        Ok(findings) => {
            assert!(findings.holds(), "{:?}\n{release}", findings.measures.violations);
        }
    }
}

/// The table and the policy of the targets that need some.
fn problem() -> Problem {
    let policy = parsed(POLICY);
    let plan = throng::bind::plan(&policy);
    let reading = policy.reading(&plan, &Unwatched);
    let table = Table::read_from(&format::CSV, TABLE.as_bytes(), &reading);
    table.and_then(|table| Problem::new(&table, &policy)).expect("the table of the targets fits their policy")
}

fn parsed(text: &str) -> Policy {
    Policy::parse(text, None).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn secret() -> Secret {
    Secret::from_bytes(b"fuzz")
}

/// An error is told in words, points into what was written, and is never throng's own fault.
fn check(error: &Error) {
    assert!(error.fault() != Fault::Bug, "{error}");
    assert!(!error.message().is_empty());
    if let Some(excerpt) = error.excerpt() {
        assert!(excerpt.source.get(excerpt.span.clone()).is_some(), "{error}");
    }
}
