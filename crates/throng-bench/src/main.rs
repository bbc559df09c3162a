//! The benchmark: time per stage, peak memory and growth over N, against copying the same CSV.
//!
//! `cargo run --release -p throng-bench` sweeps N over 10⁴ … 10⁷; `-- --most 1000000` stops earlier;
//! `-- kernel` measures the penalty kernel alone, `-- local-recoding` bottom-up and top-down, `-- line` the methods along
//! a line, `-- refine` top-down refinement on tables of up to 10⁶ rows, `-- strings` generalization strings and clustering,
//! `-- leak` what grouping tells of records by every method that takes l, `-- peel` peeling on tables of up to 10⁶ rows, `-- close` how close to possible its loss is, `-- tasks` its loss on tasks drawn at random,
//! `-- series` releases that follow on each other,
//! `-- scale` tables in parts within a limit on memory, `-- scale-quality` what parts cost in loss,
//! `-- against OLDER` this `throng` against an older one.
//!
//! Every figure comes from a process of its own, so that peak memory is that of one run. Machines are noisy:
//! compare ratios of one sweep, not seconds of two.

/// Prints to standard output, where the results belong.
macro_rules! say {
    ($($part:tt)*) => {{
        use std::io::Write as _;
        writeln!(std::io::stdout(), $($part)*)?
    }};
}

mod against;
mod close;
mod kernel;
mod leak;
mod line;
mod local_recoding;
mod peel;
mod refine;
mod scale;
mod series;
mod strings;
mod sweep;
mod tasks;

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use throng_bench::Result;

/// Benchmarks of throng
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    what: Option<What>,
    /// Largest number of rows of the sweep
    #[arg(long, default_value_t = 10_000_000)]
    most: usize,
    /// Required k
    #[arg(long, default_value_t = 50)]
    k: usize,
    /// Threads
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Methods to measure
    #[arg(long, value_delimiter = ',', default_value = "mondrian,hilbert,hilbert-fast")]
    methods: Vec<String>,
    /// Runs of each; the fastest counts
    #[arg(long, default_value_t = 3)]
    repeat: usize,
}

#[derive(Subcommand)]
enum What {
    /// The penalty kernel alone: plain definition against the kernel, in every width
    Kernel,
    /// Bottom-up and top-down: against mondrian, against a plain scan, growth over N
    LocalRecoding,
    /// Methods along a line: against mondrian, l against k, over N and over the number of sensitive values
    Line,
    /// Peel: against mondrian at several k, growth over N, memory
    Peel,
    /// How close to possible: loss, proved lower bound and gap against seconds, and what that costs, beside what was asked for (tables
    /// of up to `--most` rows)
    Close {
        /// A part (tiny, bound, whole, loss, older, tasks, left-out, t, budget, hard, growth, large), or a part and how the names of its
        /// tasks begin: "bound adult"
        #[arg(long, default_value = "")]
        only: String,
        /// An older `throng` to compare losses with
        #[arg(long)]
        older: Option<PathBuf>,
    },
    /// Auto against all grouping methods on tasks drawn at random from the tables at hand
    Tasks {
        /// How many
        #[arg(long, default_value_t = 10)]
        count: usize,
        /// Where the draw starts
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// What the grouping of diverse classes tells of single records, for every method that takes l
    Leak {
        /// Settings whose name begins with this
        #[arg(long, default_value = "")]
        only: String,
        /// Ways whose name begins with this
        #[arg(long, default_value = "")]
        way: String,
        /// Records of the synthetic tables
        #[arg(long, default_value_t = 6_000)]
        rows: usize,
        /// Records of the census
        #[arg(long, default_value_t = 20_000)]
        census: usize,
        /// Tables drawn for each setting but the census
        #[arg(long, default_value_t = 10)]
        draws: u64,
        /// Samples drawn of the census
        #[arg(long, default_value_t = 3)]
        census_draws: u64,
    },
    /// Top-down refinement: its time against reading, its growth, and several quasi-identifiers
    Refine,
    /// Releases that follow on each other: loss and cost, beside independent ones
    Series {
        /// Required k
        #[arg(long, value_delimiter = ',', default_value = "5,10,50")]
        k: Vec<usize>,
        /// Required l
        #[arg(long)]
        l: Option<f64>,
        /// Share of people who leave at each release
        #[arg(long, default_value_t = 0.05)]
        churn: f64,
        /// Number of releases
        #[arg(long, default_value_t = 5)]
        releases: usize,
        /// Seed of leaving and coming
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Keys of `[series]`, such as "start_k = 20, turnover = true"
        #[arg(long, value_delimiter = ',')]
        series: Vec<String>,
    },
    /// Generalization strings with proof and under a limit, and clustering against all pairs
    Strings {
        /// Required k
        #[arg(long, default_value_t = 3)]
        k: usize,
        /// Seconds of the search under a limit
        #[arg(long, default_value_t = 20.0)]
        seconds: f64,
        /// Leave clustering out
        #[arg(long)]
        no_cluster: bool,
    },
    /// The `throng` command against an older one, stage by stage
    Against {
        /// The older command
        older: PathBuf,
        /// The newer command
        #[arg(default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/release/throng"))]
        newer: PathBuf,
        /// Cases whose name begins with this
        #[arg(long, default_value = "")]
        only: String,
    },
    /// A table in parts within a limit on memory, beside the same in memory
    Scale {
        /// Rows
        #[arg(long, default_value_t = 10_000_000)]
        rows: usize,
        /// The limit
        #[arg(long, default_value = "1GiB")]
        memory: String,
        /// The method
        #[arg(long, default_value = "auto")]
        method: String,
        /// Leave out the run in memory
        #[arg(long)]
        skip_memory: bool,
    },
    /// What parts cost in loss: census9-like, and Adult blown up
    ScaleQuality {
        /// Tasks whose name begins with this
        #[arg(long, default_value = "")]
        only: String,
        /// Rows of Adult
        #[arg(long, default_value_t = 1_000_000)]
        rows: usize,
    },
    /// One run, told as JSON (used by scale)
    #[command(hide = true)]
    ScaleRun { data: PathBuf, policy: PathBuf, memory: u64, parts: usize },
    /// One run, told as JSON (used by the sweep)
    #[command(hide = true)]
    Run { data: PathBuf, policy: PathBuf, release: PathBuf, method: String, k: usize, threads: usize },
    /// One copy with the csv crate (used by the sweep)
    #[command(hide = true)]
    Copy { data: PathBuf, target: PathBuf },
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    match &arguments.what {
        None => sweep::sweep(&arguments),
        Some(What::Kernel) => kernel::run(),
        Some(What::LocalRecoding) => local_recoding::measure(arguments.threads, arguments.repeat),
        Some(What::Line) => line::run(arguments.most, arguments.threads, arguments.repeat),
        Some(What::Peel) => peel::measure(arguments.most, arguments.threads, arguments.repeat),
        Some(What::Close { only, older }) => {
            let (most, threads) = (arguments.most, arguments.threads);
            close::run(&close::Setting { only, most, threads, older: older.clone() })
        }
        Some(What::Tasks { count, seed }) => tasks::run(*count, *seed, arguments.threads),
        Some(What::Leak { only, way, rows, census, draws, census_draws }) => {
            let draws = leak::Draws { synthetic: *draws, census: *census_draws };
            leak::run(only, way, *rows, *census, draws)
        }
        Some(What::Refine) => refine::run(arguments.most.min(1_000_000), arguments.threads, arguments.repeat),
        Some(What::Series { k, l, churn, releases, seed, series }) => {
            let more = series.join("\n");
            let setting = series::Setting {
                k: k.clone(),
                l: *l,
                churn: *churn,
                releases: *releases,
                seed: *seed,
                more,
            };
            series::run(&setting, arguments.threads)
        }
        Some(What::Strings { k, seconds, no_cluster }) => strings::run(*k, *seconds, !no_cluster),
        Some(What::Against { older, newer, only }) => {
            against::run(older, newer, only, arguments.threads, arguments.repeat)
        }
        Some(What::Scale { rows, memory, method, skip_memory }) => {
            scale::measure(*rows, memory, method, arguments.k, *skip_memory)
        }
        Some(What::ScaleQuality { only, rows }) => scale::quality(only, *rows),
        Some(What::ScaleRun { data, policy, memory, parts }) => scale::run(data, policy, *memory, *parts),
        Some(What::Copy { data, target }) => sweep::copy(data, target),
        Some(What::Run { data, policy, release, method, k, threads }) => {
            sweep::run(data, policy, release, method, *k, *threads)
        }
    }
}
