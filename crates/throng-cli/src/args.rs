//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::show::Form;

/// Turn a table about people into one that can be published.
#[derive(Debug, Parser)]
#[command(name = "throng", version, about, propagate_version = true)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Anonymize a bundled sample end to end and say where the release and the report are
    Demo(Demo),
    /// Look at a table and write a commented first policy for it
    Init(Init),
    /// Turn a table into a release that meets a policy
    Anonymize(Anonymize),
    /// Mask other records with a recipe that `anonymize --recipe` saved
    Apply(Apply),
    /// Measure privacy and loss of a release from the files and the policy alone
    Audit(Audit),
    /// Check the proof of a lower bound on the loss that `anonymize --certificate` saved
    Certify(Certify),
    /// Tell how easily people could be found in a table as it stands
    Risk(Risk),
    /// Run several methods and k side by side
    Compare(Compare),
    /// Tell what a release is still good for
    Evaluate(Evaluate),
    /// Open a web application in the browser that leads from a table to a release
    Studio(Studio),
    /// Propose a hierarchy for a category of a table, or write the one that a builder makes
    Hierarchy(Hierarchy),
    /// Draw random tables to see whether k is reachable at all
    Simulate(Simulate),
    /// List the methods, what each is for and where it was described
    Methods(Methods),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write one page per command into a folder
    Man {
        /// Folder for one page per command
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
}

impl Command {
    /// How errors are told: as JSON to those who asked for JSON.
    pub fn error_form(&self) -> Form {
        let json = match self {
            Command::Audit(Audit { json, .. })
            | Command::Certify(Certify { json, .. })
            | Command::Risk(Risk { json, .. })
            | Command::Evaluate(Evaluate { json, .. })
            | Command::Simulate(Simulate { json, .. })
            | Command::Methods(Methods { json, .. }) => *json,
            Command::Compare(Compare { json, .. }) => json.is_some(),
            Command::Demo(_)
            | Command::Init(_)
            | Command::Hierarchy(_)
            | Command::Anonymize(_)
            | Command::Apply(_)
            | Command::Studio(_)
            | Command::Completions { .. }
            | Command::Man { .. } => false,
        };
        if json { Form::Json } else { Form::Text }
    }
}

/// How errors are told when the arguments cannot be understood: as JSON if `--json` is among them.
pub fn error_form_of_words(words: impl Iterator<Item = OsString>) -> Form {
    let mut options = words.take_while(|word| word != "--");
    let json = options.any(|word| word == "--json" || word.as_encoded_bytes().starts_with(b"--json="));
    if json { Form::Json } else { Form::Text }
}

/// Arguments of `demo`.
#[derive(Args, Debug)]
pub struct Demo {
    /// Folder for the sample, the release and the report
    #[arg(long, value_name = "DIR", default_value = "throng-demo")]
    pub out: PathBuf,
}

/// Arguments of `init`.
#[derive(Args, Debug)]
pub struct Init {
    /// The table, or - for standard input
    pub data: PathBuf,
    /// The policy to write, or - for standard output; an existing file is not overwritten
    #[arg(short, long, value_name = "POLICY", default_value = "throng.toml")]
    pub output: PathBuf,
    /// Overwrite an existing policy
    #[arg(long)]
    pub force: bool,
}

/// Arguments of `hierarchy`.
#[derive(Args, Debug)]
pub struct Hierarchy {
    #[arg(help = data_help())]
    pub data: PathBuf,
    /// The policy, which says what is a quasi-identifier and what is to be predicted
    #[arg(short, long)]
    pub policy: PathBuf,
    /// The quasi-identifier whose values are to be grouped
    #[arg(long, value_name = "NAME")]
    pub attribute: String,
    /// Group values whose records are of similar classes, for the method refine
    #[arg(long, required_unless_present = "built")]
    pub for_class: bool,
    /// Write the tree that the policy's hierarchy gives the values of the table: of a file, or of a builder such as dates
    #[arg(long, conflicts_with = "for_class")]
    pub built: bool,
    /// The hierarchy to write, or - for standard output; an existing file is not overwritten
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
    /// Overwrite an existing file
    #[arg(long)]
    pub force: bool,
}

/// The help of a table, with the endings of all formats.
fn data_help() -> String {
    format!("The table ({}; .gz and .zst too), or - for standard input", throng::format::endings())
}

/// Arguments of `anonymize`.
#[derive(Args, Debug)]
pub struct Anonymize {
    #[arg(help = data_help() + "; several files, a folder or a pattern in quotes are read as one table", required = true)]
    pub data: Vec<PathBuf>,
    /// The policy
    #[arg(short, long)]
    pub policy: PathBuf,
    /// The release to write, or - for standard output; a name that ends in / is a folder of files
    #[arg(short, long, value_name = "RELEASE")]
    pub output: PathBuf,
    #[command(flatten)]
    pub overrides: Overrides,
    /// Keep the rows in input order; without it they are shuffled, so that position links nothing
    #[arg(long)]
    pub keep_order: bool,
    /// A file of random bytes that keys the order of rows and every lot, to repeat a release byte for byte; fresh by
    /// default. Whoever has it can undo the order
    #[arg(long, value_name = "FILE")]
    pub secret: Option<PathBuf>,
    /// How to write quasi-identifiers
    #[arg(long, value_enum, default_value_t)]
    pub publish: Publish,
    /// With --publish midpoints: which number stands for a class [default: median]
    #[arg(long, value_enum, value_name = "WHICH")]
    pub midpoint: Option<Midpoint>,
    /// Put a ' before cells that a spreadsheet would run as formulas (CSV and TSV)
    #[arg(long)]
    pub escape_formulas: bool,
    /// Write a report (.json or .html); may be repeated
    #[arg(long, value_name = "FILE")]
    pub report: Vec<PathBuf>,
    /// Save the recoding, so that `apply` can mask other records with it (method refine)
    #[arg(long, value_name = "FILE")]
    pub recipe: Option<PathBuf>,
    /// Write the prices of records that prove the lower bound on the loss; `certify` checks them. A first proof is finished
    /// even if `--seconds` are over. For those who have the table: it tells how far off each record lies
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// Passes over the table in search of a better lower bound; more take longer, 0 looks for none
    #[arg(long, value_name = "PASSES")]
    pub effort: Option<u32>,
    /// Memory that the run may take, such as 2GiB: a table that does not fit is solved in parts, which are kept in files meanwhile
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<String>,
    /// Folder for files that hold what does not fit into memory; beside the release by default. They are removed at the end
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
    /// Number of parts, to compare runs
    #[arg(long, value_name = "PARTS", hide = true, value_parser = clap::value_parser!(u32).range(1..=400))]
    pub parts: Option<u32>,
    /// Seconds for the method (auto, peel, and improvement of any), and the lower bound together; without it both take as
    /// long as suits the size of the table, and the same seed gives the same release
    #[arg(long, value_name = "S", value_parser = seconds, conflicts_with = "effort")]
    pub seconds: Option<f64>,
    #[command(flatten)]
    pub series: Series,
    #[command(flatten)]
    pub running: Running,
}

/// Seconds on the command line.
fn seconds(text: &str) -> Result<f64, String> {
    let allowed = throng::method::options::Numbers::SECONDS;
    let number = text.parse::<f64>().ok().filter(|number| allowed.contains(*number));
    number.ok_or_else(|| format!("must be {}", allowed.describe()))
}

/// Arguments of releases that follow on each other.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Series of releases")]
pub struct Series {
    /// Keep a ledger, so that further releases can follow on this one; alone it begins a series. Its key is written
    /// beside it, as FILE.key. Both are for you alone
    #[arg(long, value_name = "FILE", conflicts_with_all = ["recipe", "certificate"])]
    pub ledger: Option<PathBuf>,
    /// The last release of the series, on which this one follows
    #[arg(long, value_name = "RELEASE", requires = "ledger")]
    pub after: Option<PathBuf>,
    /// A file that names people to erase, one per line as in the column with the role person; their classes are never
    /// published again
    #[arg(long, value_name = "FILE", requires = "after")]
    pub erase: Option<PathBuf>,
    /// The last release in the ledger was never handed out: make this one in its place
    #[arg(long, requires = "ledger")]
    pub replace: bool,
}

/// Arguments of `certify`.
#[derive(Args, Debug)]
pub struct Certify {
    #[arg(help = data_help())]
    pub data: PathBuf,
    /// The policy
    #[arg(short, long)]
    pub policy: PathBuf,
    /// The certificate that `anonymize --certificate` wrote
    #[arg(long, value_name = "FILE")]
    pub certificate: PathBuf,
    #[command(flatten)]
    pub overrides: Overrides,
    /// Print what was found as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub running: Running,
}

/// Arguments of `apply`.
#[derive(Args, Debug)]
pub struct Apply {
    /// The recipe
    pub recipe: PathBuf,
    /// The table to mask
    pub data: PathBuf,
    /// The release to write, or - for standard output
    #[arg(short, long, value_name = "RELEASE")]
    pub output: PathBuf,
    /// What happens to records that do not meet the recipe's requirement
    #[arg(long, value_enum, default_value_t)]
    pub unmet: Unmet,
    /// Keep the rows in input order; without it they are shuffled, so that position links nothing
    #[arg(long)]
    pub keep_order: bool,
    /// A file of random bytes that keys the order of rows, to repeat a release byte for byte; fresh by default
    #[arg(long, value_name = "FILE")]
    pub secret: Option<PathBuf>,
    /// How to write quasi-identifiers
    #[arg(long, value_enum, default_value_t)]
    pub publish: Masked,
    /// Put a ' before cells that a spreadsheet would run as formulas (CSV and TSV)
    #[arg(long)]
    pub escape_formulas: bool,
    /// Write a report (.json or .html); may be repeated
    #[arg(long, value_name = "FILE")]
    pub report: Vec<PathBuf>,
    #[command(flatten)]
    pub running: Running,
}

/// How quasi-identifiers of masked records are written.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum Masked {
    /// One cell each: a value, a range like [24-32), or a node of the hierarchy
    #[default]
    Cells,
    /// Numeric ones as two columns, NAME.min and NAME.max; of a range like [24-32) these are 24 and 32
    Bounds,
}

/// What happens if masked records do not meet the requirement.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum Unmet {
    /// Write nothing
    #[default]
    Refuse,
    /// Leave out the records of classes that fall short
    Suppress,
    /// Write them all the same, for use where the table itself may be seen
    Publish,
}

/// Flags that override the policy.
#[derive(Args, Clone, Debug, Default)]
pub struct Overrides {
    /// Use this method instead of the policy's
    #[arg(long, value_name = "NAME")]
    pub method: Option<String>,
    /// Require this k instead of the policy's
    #[arg(long)]
    pub k: Option<usize>,
    /// Require this l instead of the policy's
    #[arg(long)]
    pub l: Option<f64>,
    /// Use this seed instead of the policy's; it repeats groups and cells, not the order of rows
    #[arg(long)]
    pub seed: Option<u64>,
}

/// Flags about how a command runs.
#[derive(Args, Clone, Debug, Default)]
pub struct Running {
    /// Number of threads; all cores by default. Results do not depend on it
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Print nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// How quasi-identifiers are written.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum Publish {
    /// One cell each: a value, a range like [24-32], or a node of the hierarchy
    #[default]
    Cells,
    /// Numeric ones as two columns, NAME.min and NAME.max
    Bounds,
    /// Numeric ones as one number for each class, NAME.median or NAME.mean (see --midpoint)
    Midpoints,
    /// Exact, with a column `group`; the sensitive values by group go to a second file, NAME.sensitive.ENDING
    Permutation,
}

/// Which number stands for a class.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Midpoint {
    /// Half of its values lie below and half above; one far value hardly moves it
    Median,
    /// The sum of its values over their number; one far value moves it
    Mean,
}

/// Arguments of `audit`.
#[derive(Args, Debug)]
pub struct Audit {
    /// The original table
    #[arg(required_unless_present = "series")]
    pub data: Option<PathBuf>,
    /// The release
    #[arg(required_unless_present = "series")]
    pub release: Option<PathBuf>,
    /// Look at releases that follow on each other, first to last
    #[arg(long, value_name = "RELEASES", num_args = 1.., conflicts_with_all = ["data", "release", "attack"])]
    pub series: Vec<PathBuf>,
    /// The ledger of the series: what the releases alone cannot show
    #[arg(long, value_name = "FILE", requires = "series")]
    pub ledger: Option<PathBuf>,
    /// The table of each release, in the same order
    #[arg(long, value_name = "TABLES", num_args = 1.., requires = "ledger")]
    pub tables: Vec<PathBuf>,
    /// The policy
    #[arg(short, long)]
    pub policy: PathBuf,
    /// Attack the release too: does grouping tell more about sensitive values than its classes do?
    #[arg(long)]
    pub attack: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub overrides: Overrides,
    #[command(flatten)]
    pub running: Running,
}

/// Arguments of `risk`.
#[derive(Args, Debug)]
pub struct Risk {
    /// The table
    pub data: PathBuf,
    /// The policy
    #[arg(short, long)]
    pub policy: PathBuf,
    /// A table of the population that the data was drawn from, with the same quasi-identifiers
    #[arg(long, value_name = "FILE", conflicts_with = "fraction")]
    pub population: Option<PathBuf>,
    /// The share of the population that is in the data, 0 to 1
    #[arg(long, value_name = "SHARE")]
    pub fraction: Option<f64>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub running: Running,
}

/// Arguments of `compare`.
#[derive(Args, Debug)]
pub struct Compare {
    /// The table
    pub data: PathBuf,
    /// The policy
    #[arg(short, long)]
    pub policy: PathBuf,
    /// The methods to compare; by default those that group records and take the policy's requirement
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub methods: Vec<String>,
    /// The values of k to compare; the policy's by default
    #[arg(long, value_delimiter = ',')]
    pub k: Vec<usize>,
    /// A file of random bytes that every lot is drawn from, to repeat the figures; fresh by default
    #[arg(long, value_name = "FILE")]
    pub secret: Option<PathBuf>,
    /// Ask too how far COUNT queries on each release are off, on average
    #[arg(long)]
    pub queries: bool,
    /// The page to write
    #[arg(short, long, value_name = "REPORT.html")]
    pub output: PathBuf,
    /// Write the figures as JSON too
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    #[command(flatten)]
    pub running: Running,
}

/// Arguments of `evaluate`.
#[derive(Args, Debug)]
pub struct Evaluate {
    /// The table
    pub data: PathBuf,
    /// The policy
    #[arg(short, long)]
    pub policy: PathBuf,
    /// What the release is wanted for
    #[arg(long, value_name = "TASK", value_parser = clap::builder::PossibleValuesParser::new(task_names()))]
    pub task: String,
    /// Evaluate this release; without it one is made as the policy says
    #[arg(long, value_name = "FILE")]
    pub release: Option<PathBuf>,
    /// Set an option of the task, as in the policy's section [evaluate.TASK]; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Write the folds of classify or regress for a model of your own: NAME.table.csv and NAME.release.csv, each row with the
    /// fold that it is tested in. Not for others: rows stand in the same order in both
    #[arg(long, value_name = "NAME")]
    pub folds: Option<PathBuf>,
    /// Write a page with plots
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub overrides: Overrides,
    #[command(flatten)]
    pub running: Running,
}

fn task_names() -> Vec<&'static str> {
    throng::evaluate::STANDARD.iter().map(|entry| entry.name).collect()
}

/// Arguments of `studio`.
#[derive(Args, Debug)]
pub struct Studio {
    /// The table to open; it lies in the folder where the command is run, or below it
    pub table: Option<PathBuf>,
    /// The policy; throng.toml in that folder by default, and written there if it does not exist
    #[arg(short, long)]
    pub policy: Option<PathBuf>,
    /// The port to listen on; any free one by default
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub port: u16,
    /// Do not open a browser
    #[arg(long)]
    pub no_open: bool,
    /// Listen on this address instead of 127.0.0.1, for a server in an institution; needs --password. The connection is not
    /// encrypted: put a proxy with TLS before it
    #[arg(long, value_name = "ADDRESS", requires = "password")]
    pub listen: Option<std::net::IpAddr>,
    /// A file with the password that --listen asks for
    #[arg(long, value_name = "FILE", requires = "listen")]
    pub password: Option<PathBuf>,
    /// A name under which browsers reach the server, with the port if there is one; may be repeated
    #[arg(long, value_name = "NAME", requires = "listen")]
    pub host: Vec<String>,
}

/// Arguments of `simulate`.
#[derive(Args, Debug)]
pub struct Simulate {
    /// Number of attributes
    #[arg(long, value_name = "N")]
    pub attributes: Option<usize>,
    /// Equally frequent values of all attributes, or of each one; 2 by default
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    pub values: Vec<u32>,
    /// Take attributes and the shares of their values from this table
    #[arg(long, value_name = "FILE", requires = "policy", conflicts_with_all = ["attributes", "values"])]
    pub data: Option<PathBuf>,
    /// The policy that tells the table's quasi-identifiers
    #[arg(short, long, requires = "data")]
    pub policy: Option<PathBuf>,
    /// How many records every combination must have
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub k: u32,
    /// Records of each table
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..), required_unless_present = "needed")]
    pub records: Option<u64>,
    /// Tables to draw
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub repetitions: u32,
    /// Tell how many records would reach this share of successes; 0.95 if no share is given
    #[arg(long, value_name = "SHARE", num_args = 0..=1, default_missing_value = "0.95")]
    pub needed: Option<f64>,
    /// The seed
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub running: Running,
}

/// Arguments of `methods`.
#[derive(Args, Debug)]
pub struct Methods {
    /// Tell of this method alone, with its options
    pub name: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
