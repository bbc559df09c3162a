//! Random small tables, policies and requirements, and what the tests ask of a release.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr, dead_code)]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use throng::audit::{Keep, Measures, Received, audit};
use throng::bind::plan;
use throng::bound::Effort;
use throng::format::CSV;
use throng::method::{Entry, Methods, Solution};
use throng::plan::{Choices, Plan, Registry};
use throng::policy::Policy;
use throng::privacy::Part;
use throng::problem::Problem;
use throng::release::{MemoryFile, Order, Publish, Release};
use throng::secret::Secret;
use throng::table::Table;
use throng::watch::Unwatched;

/// An attribute of a random table.
#[derive(Clone, Debug)]
pub enum Kind {
    Number { missing: bool },
    Decimal,
    Date,
    Flat { values: u8 },
    Tree { values: u8, missing: bool },
    Prefix,
    Intervals,
}

/// A random table with its policy, as text.
#[derive(Clone, Debug)]
pub struct Case {
    pub kinds: Vec<Kind>,
    pub weights: Vec<u8>,
    pub rows: Vec<Vec<u8>>,
    pub sensitive: Vec<u8>,
    pub sensitive_kind: SensitiveKind,
    pub seed: u64,
}

/// The sensitive attribute of a random table; each kind has its own distance for t-closeness.
#[derive(Clone, Copy, Debug, Default)]
pub enum SensitiveKind {
    #[default]
    Flat,
    Number,
    Tree,
}

/// Random tables of up to `rows` records.
pub fn cases(rows: usize) -> impl Strategy<Value = Case> {
    let kind = prop_oneof![
        any::<bool>().prop_map(|missing| Kind::Number { missing }),
        Just(Kind::Decimal),
        Just(Kind::Date),
        (2u8..6).prop_map(|values| Kind::Flat { values }),
        (2u8..9, any::<bool>()).prop_map(|(values, missing)| Kind::Tree { values, missing }),
        Just(Kind::Prefix),
        Just(Kind::Intervals),
    ];
    (prop::collection::vec(kind, 1..5), 1..rows + 1).prop_flat_map(|(kinds, rows)| {
        let width = kinds.len();
        (
            Just(kinds),
            prop::collection::vec(1u8..5, width),
            prop::collection::vec(prop::collection::vec(0u8..30, width), rows),
            prop::collection::vec(0u8..4, rows),
            prop::sample::select(vec![SensitiveKind::Flat, SensitiveKind::Number, SensitiveKind::Tree]),
            0u64..1000,
        )
            .prop_map(|(kinds, weights, rows, sensitive, sensitive_kind, seed)| Case {
                kinds,
                weights,
                rows,
                sensitive,
                sensitive_kind,
                seed,
            })
    })
}

impl Kind {
    fn cell(&self, code: u8) -> String {
        match self {
            Kind::Number { missing: true } if code.is_multiple_of(7) => "?".to_owned(),
            Kind::Number { .. } => (i32::from(code % 13) - 4).to_string(),
            Kind::Decimal => format!("{}.{}", code % 5, code % 4),
            Kind::Date => format!("2024-{:02}-{:02}", code % 12 + 1, code % 28 + 1),
            Kind::Flat { values } => format!("v{}", code % values),
            Kind::Tree { missing: true, .. } if code.is_multiple_of(11) => "?".to_owned(),
            Kind::Tree { values, .. } => format!("leaf {}", code % values),
            Kind::Prefix => format!("{}{}", 531 + u32::from(code % 3), code % 4),
            Kind::Intervals => (code % 25).to_string(),
        }
    }

    fn policy(&self) -> String {
        match self {
            Kind::Number { .. } | Kind::Decimal | Kind::Date | Kind::Flat { .. } => String::new(),
            Kind::Tree { values, .. } => {
                let leaves = |range: std::ops::Range<u8>| {
                    range.map(|leaf| format!("\"leaf {leaf}\"")).collect::<Vec<_>>().join(", ")
                };
                let half = values / 2;
                format!(
                    "hierarchy = {{ Low = [{}], High = {{ Upper = [{}] }} }}\n",
                    leaves(0..half),
                    leaves(half..*values)
                )
            }
            Kind::Prefix => "kind = \"categorical\"\nhierarchy = { prefix = [3, 2, 0] }\n".to_owned(),
            Kind::Intervals => "hierarchy = { intervals = [5, 10] }\n".to_owned(),
        }
    }
}

impl Case {
    pub fn csv(&self) -> String {
        let names: Vec<String> = (0..self.kinds.len()).map(|at| format!("q{at}")).collect();
        let mut text = format!("id,{},note,secret\n", names.join(","));
        for (row, (codes, sensitive)) in self.rows.iter().zip(&self.sensitive).enumerate() {
            let cells: Vec<String> =
                codes.iter().zip(&self.kinds).map(|(code, kind)| kind.cell(*code)).collect();
            let secret = match self.sensitive_kind {
                SensitiveKind::Number => format!("{}", 10 * sensitive),
                SensitiveKind::Flat | SensitiveKind::Tree => format!("s{sensitive}"),
            };
            writeln!(text, "{row},{},note {row},{secret}", cells.join(",")).unwrap();
        }
        text
    }

    /// A population in which the people of the table occur several times, and some not at all.
    pub fn population(&self) -> String {
        let names: Vec<String> = (0..self.kinds.len()).map(|at| format!("q{at}")).collect();
        let mut text = format!("{}\n", names.join(","));
        for (row, codes) in self.rows.iter().enumerate() {
            let cells: Vec<String> =
                codes.iter().zip(&self.kinds).map(|(code, kind)| kind.cell(*code)).collect();
            let times = if row == 0 { 4 } else { (row * 5) % 4 };
            (0..times).for_each(|_| writeln!(text, "{}", cells.join(",")).unwrap());
        }
        text
    }

    pub fn policy(&self, privacy: &str, method: &str) -> String {
        let hierarchy = match self.sensitive_kind {
            SensitiveKind::Tree => "hierarchy = { A = [\"s0\", \"s1\"], B = [\"s2\", \"s3\"] }\n",
            SensitiveKind::Flat | SensitiveKind::Number => "",
        };
        let mut text = format!(
            "[data]\nmissing = [\"?\"]\n[privacy]\n{privacy}\n[method]\nname = \"{method}\"\nseed = {}\n\
             [attribute.id]\nrole = \"identifier\"\n[attribute.secret]\nrole = \"sensitive\"\n{hierarchy}\
             [attribute.note]\nrole = \"other\"\nconfirmed = true\n",
            self.seed
        );
        for (at, (kind, weight)) in self.kinds.iter().zip(&self.weights).enumerate() {
            write!(text, "[attribute.q{at}]\nrole = \"quasi\"\nweight = {weight}\n{}", kind.policy())
                .unwrap();
        }
        text
    }
}

/// A table with a column of what records ask for, from 1 to 4, or nothing.
fn with_wishes(csv: &str) -> String {
    let wish = |(at, line): (usize, &str)| match at {
        0 => format!("{line},wish\n"),
        _ if at % 5 == 0 => format!("{line},\n"),
        _ => format!("{line},{}\n", 1 + at % 4),
    };
    csv.lines().enumerate().map(wish).collect()
}

/// A table as text, read and encoded under a policy.
pub struct Loaded {
    pub csv: String,
    pub policy: Policy,
    pub table: Table,
    pub problem: Problem,
}

/// Loads a case. A requirement may name `k_column = "wish"`, which the table then has, and a population, which is then
/// written beside the policy as `population.csv`.
pub fn load(case: &Case, privacy: &str, method: &str) -> Loaded {
    let (mut csv, mut text) = (case.csv(), case.policy(privacy, method));
    if privacy.contains("k_column") {
        csv = with_wishes(&csv);
        text += "[attribute.wish]\nrole = \"identifier\"\n";
    }
    // One pass: these tests look at releases, thousands of them; tests/bound.rs looks at the bound.
    text += "[report]\nbound = { passes = 1 }\n";
    if !privacy.contains("population") {
        return loaded(csv, &text);
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("population.csv"), case.population()).unwrap();
    let policy = Policy::parse(&text, Some(&folder.path().join("throng.toml")));
    under(csv, policy.expect("a policy the tests wrote"))
}

/// A table of comma-separated values under a policy.
pub fn loaded(csv: String, policy: &str) -> Loaded {
    under(csv, Policy::parse(policy, None).expect("a policy the tests wrote"))
}

fn under(csv: String, policy: Policy) -> Loaded {
    let table = table_of(&csv, &policy);
    let problem = bound(&table, &policy);
    Loaded { csv, policy, table, problem }
}

/// Reads comma-separated values as a policy needs them.
pub fn table_of(csv: &str, policy: &Policy) -> Table {
    Table::read_from(&CSV, csv.as_bytes(), &policy.reading(&plan(policy), &Unwatched)).unwrap()
}

/// Reads comma-separated values and encodes them.
pub fn problem_of(csv: &str, policy: &Policy) -> Problem {
    bound(&table_of(csv, policy), policy)
}

/// Encodes a table, with a secret that is the same in all tests, so that releases can be compared.
pub fn bound(table: &Table, policy: &Policy) -> Problem {
    let mut problem = Problem::new(table, policy).unwrap();
    problem.secret = Secret::from_bytes(b"the same in all tests");
    // A method whose point it is may leave records out though the policy does not say so.
    if let Ok(plan) = Plan::new(policy, &Registry::default(), Choices::default()) {
        problem.suppressible = plan.suppressible(problem.len());
    }
    problem
}

impl Loaded {
    /// The table in a file, for what works on files alone.
    pub fn on_disk(&self) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("table.csv");
        std::fs::write(&data, &self.csv).unwrap();
        (folder, data)
    }

    /// Publishes a solution as comma-separated values.
    pub fn publish(&self, solution: &Solution, publish: Publish, order: Order) -> MemoryFile {
        published(&self.table, &self.problem, &self.policy, solution, publish, order)
    }

    /// What the audit says of a published solution.
    pub fn measures(&self, release: &MemoryFile) -> Measures {
        measured(&self.problem, &self.policy, release)
    }

    /// The same without a lower bound, which is the same for every release of the table and takes longer than all the rest.
    pub fn measures_but_bound(&self, release: &MemoryFile) -> Measures {
        let mut policy = self.policy.clone();
        policy.effort = Effort::Passes(0);
        measured(&self.problem, &policy, release)
    }
}

/// Publishes a solution as comma-separated values.
pub fn published(
    table: &Table,
    problem: &Problem,
    policy: &Policy,
    solution: &Solution,
    publish: Publish,
    order: Order,
) -> MemoryFile {
    let mut file = MemoryFile::new(&CSV);
    let release = Release::new(table, problem, policy, solution, publish, order).unwrap();
    release.write(&mut file, &Unwatched).unwrap();
    file
}

/// What the audit says of a release.
pub fn measured(problem: &Problem, policy: &Policy, release: &MemoryFile) -> Measures {
    let release = Received::read_back(release, None, problem, policy, Keep::Audited, &Unwatched).unwrap();
    audit(problem, policy, &release, &Unwatched).unwrap().measures
}

/// Whether a method takes all parts of a requirement and needs no other.
pub fn can_do(entry: &Entry, parts: &[Part]) -> bool {
    let asked: Vec<(Part, &str)> = parts.iter().map(|part| (*part, part.name())).collect();
    Methods::standard().refusal(entry, &asked).is_none()
}

/// Rows of a CSV file, header first.
pub fn rows_of(path: &Path) -> Vec<Vec<String>> {
    rows_of_text(&std::fs::read(path).unwrap())
}

/// Rows of comma-separated values, header first.
pub fn rows_of_text(text: &[u8]) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text);
    reader.records().map(|record| record.unwrap().iter().map(str::to_owned).collect()).collect()
}

/// What a published cell says of a number, read from its text alone: the lowest number it covers, the highest, and whether the
/// highest is left out. For whole numbers and decimals that are not negative, and for `*`.
pub fn plain_range(cell: &str) -> (f64, f64, bool) {
    if cell == "*" {
        return (f64::NEG_INFINITY, f64::INFINITY, false);
    }
    let Some(inside) = cell.strip_prefix('[') else {
        let number = cell.parse().unwrap_or_else(|_| panic!("{cell} is no number"));
        return (number, number, false);
    };
    let (low, high) = inside[..inside.len() - 1].split_once('-').unwrap();
    (low.parse().unwrap(), high.parse().unwrap(), inside.ends_with(')'))
}

/// Whether a published cell covers a number, read from its text alone.
pub fn plain_covers(cell: &str, number: f64) -> bool {
    let (low, high, open) = plain_range(cell);
    low <= number && (number < high || (number == high && !open))
}

/// Whether a published cell covers numbers up to p and numbers from q on, read from its text alone.
pub fn plain_crosses(cell: &str, (p, q): (f64, f64)) -> bool {
    let (low, high, open) = plain_range(cell);
    low <= p && (high > q || (high == q && !open))
}

/// Where the large data sets are, if they are there; says so if not.
pub fn shared_data() -> Option<PathBuf> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data"));
    if folder.is_dir() {
        return Some(folder);
    }
    say_skipped("the large data sets are not in ../shared/data");
    None
}

/// Says loudly that a test did nothing: straight to the terminal, because what a passing test prints is not shown.
pub fn say_skipped(why: &str) {
    let name = std::thread::current().name().unwrap_or("a test").to_owned();
    let _ = writeln!(std::io::stderr(), "\nSKIPPED {name}: {why}\n");
}
