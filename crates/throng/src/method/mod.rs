//! Methods: from a problem to a solution: which records are published alike, and how.
//!
//! A method is a plain type with its options and one function. It knows nothing of files, cells or reports.
//! To add one: a file or folder here with an [`Entry`], and one line in [`METHODS`].

pub mod accuracy;
pub mod anatomy;
pub mod auto;
pub mod bottom_up;
pub mod cluster;
mod divided;
pub mod exact;
pub mod improve;
pub mod local;
pub mod mondrian;
mod options;
pub mod ordered;
mod partition;
pub mod peel;
pub mod refine;
mod solution;
pub mod strings;
pub mod top_down;

pub use divided::Divided;
pub use options::Options;
pub use partition::Partition;
pub use solution::{Boxes, GroupCells, Solution};

use crate::error::{Error, Result, did_you_mean};
use crate::privacy::Part;
use crate::problem::{Code, Matrix, Problem};
use crate::watch::Watch;
use crate::with_matrix;

/// All methods.
pub static METHODS: &[Entry] = &[
    auto::AUTO,
    mondrian::STRICT,
    mondrian::RELAXED,
    ordered::HILBERT,
    ordered::HILBERT_FAST,
    ordered::IDISTANCE,
    ordered::IDISTANCE_FAST,
    bottom_up::BOTTOM_UP,
    top_down::TOP_DOWN,
    accuracy::ACCURACY,
    accuracy::search::ACCURACY_SEARCH,
    exact::EXACT,
    anatomy::ANATOMY,
    refine::REFINE,
    strings::GLOBAL,
    strings::LOCAL,
    strings::HYBRID,
    strings::PARTITIONED,
    cluster::RV,
    cluster::RV_SUPPRESS,
    cluster::EUCLID,
    peel::PEEL,
];

/// A method ready to run.
pub trait Method: Send + Sync {
    /// Puts every record into one group or suppresses it; each group meets the problem's requirement.
    fn solve(&self, problem: &Problem, watch: &dyn Watch) -> Result<Solution>;

    /// The parts of a requirement it cannot do without.
    fn needs(&self) -> &'static [Part] {
        &[]
    }

    /// Whether its groups are meant to be published by permutation: exact quasi-identifiers in one table, sensitive
    /// values by group in another.
    fn permutes(&self) -> bool {
        false
    }
}

/// A method that works on rows of codes, whatever their width, and needs no more than a partition to tell what it found.
pub trait OverRows: Send + Sync {
    /// What it does, for those who watch.
    const STAGE: &'static str;

    /// Puts every record into a group that meets the problem's requirement.
    fn solve_rows<C: Code>(
        &self,
        problem: &Problem,
        matrix: &Matrix<C>,
        watch: &dyn Watch,
    ) -> Result<Partition>;
}

impl<M: OverRows> Method for M {
    fn solve(&self, problem: &Problem, watch: &dyn Watch) -> Result<Solution> {
        watch.stage(M::STAGE, Some(problem.len() as u64));
        with_matrix!(&problem.records, matrix => self.solve_rows(problem, matrix, watch)).map(Solution::from)
    }
}

/// What the registry knows of a method.
pub struct Entry {
    /// Its name in policies and on the command line.
    pub name: &'static str,
    /// What it is for, in a sentence.
    pub summary: &'static str,
    /// Where it was described.
    pub citation: &'static str,
    /// What can be relied on.
    pub guarantee: &'static str,
    /// The parts of a requirement it takes.
    pub takes: &'static [Part],
    /// Reads its options.
    pub configure: fn(&mut Options<'_>) -> Result<Box<dyn Method>>,
}

impl Entry {
    /// The method of a name, or an error that says what there is.
    pub fn find(name: &str) -> Result<&'static Entry> {
        METHODS.iter().find(|entry| entry.name == name).ok_or_else(|| {
            let names: Vec<&str> = METHODS.iter().map(|entry| entry.name).collect();
            let hint = match did_you_mean(name, names.iter().copied()) {
                Some(guess) => format!("did you mean \"{guess}\"?"),
                None => format!("the methods are {}", names.join(", ")),
            };
            Error::input(format!("there is no method \"{name}\"")).with_hint(hint)
        })
    }

    /// An error if the method does not take what a requirement asks for, with the key that asks.
    pub fn check_takes(&self, parts: impl IntoIterator<Item = (Part, &'static str)>) -> Result<()> {
        // Hard rules hold for every method: for those that do not take them, [`Divided`] keeps them.
        let mut parts = parts.into_iter().filter(|(part, _)| *part != Part::HardRules);
        match parts.find(|(part, _)| !self.takes.contains(part)) {
            None => Ok(()),
            Some((part, key)) => {
                let others: Vec<&str> = METHODS
                    .iter()
                    .filter(|entry| entry.takes.contains(&part))
                    .map(|entry| entry.name)
                    .collect();
                let hint = match others.is_empty() {
                    true => format!("no method of this version takes {key}; leave it out"),
                    false => format!("methods that do: {}", others.join(", ")),
                };
                Err(Error::input(format!("the method {} does not take {key}", self.name)).with_hint(hint))
            }
        }
    }
}
