//! Methods: from a problem to a solution: which records are published alike, and how.
//!
//! A method is a plain type with its options and one function. It knows nothing of files, cells or reports.
//! To add one: a file or folder here with an [`Entry`], and one line in [`STANDARD`]. Methods of other crates join with
//! [`Methods::with`].

pub mod accuracy;
pub mod anatomy;
pub mod auto;
pub mod bottom_up;
mod by_need;
pub mod cluster;
mod division;
pub mod exact;
pub mod facts;
pub mod full_domain;
pub mod improve;
mod joined;
mod leaving_out;
pub mod local;
pub mod lots;
mod mended;
pub mod mondrian;
mod one_each;
pub mod options;
pub mod ordered;
mod partition;
pub mod peel;
mod per_part;
pub mod refine;
mod registry;
mod solution;
mod together;
pub mod top_down;
mod whole_people;
mod within_limits;

pub use facts::Fact;
pub use leaving_out::LeavingOut;
pub use mended::Mended;
pub use one_each::OneEach;
pub use options::{OptionKind, OptionSpec, Options};
pub use partition::Partition;
pub use per_part::PerPart;
pub use registry::{Entry, Methods, Published, Refusal, Traits};
pub use solution::{Boxes, GroupCells, MaskedPart, Recoding, Solution};
pub use together::Together;
pub use whole_people::WholePeople;

use crate::error::Result;
use crate::problem::{Code, Matrix, Problem};
use crate::watch::Watch;
use crate::with_matrix;

/// The methods of this library.
pub static STANDARD: &[Entry] = &[
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
    full_domain::GLOBAL,
    full_domain::LOCAL,
    full_domain::HYBRID,
    full_domain::PARTITIONED,
    cluster::RV,
    cluster::RV_SUPPRESS,
    cluster::EUCLID,
    peel::PEEL,
];

/// An option of methods that optimise research value.
const BASE_OPTION: OptionSpec = OptionSpec {
    name: "base",
    kind: OptionKind::Number { allowed: options::Numbers::WORTH, default: None },
    help: "what an attribute is worth besides the rules it keeps; by default three times what all its rules are, 0 in the thesis",
};
/// Another one.
const IMPORTANCE_OPTION: OptionSpec = OptionSpec {
    name: "importance",
    kind: OptionKind::Number { allowed: options::Numbers::SHARE, default: Some(0.5) },
    help: "how much the importance of rules counts",
};

/// A method ready to run.
pub trait Method: Send + Sync {
    /// Puts every record into one group or suppresses it; each group meets the problem's requirement.
    fn solve(&self, problem: &Problem, watch: &dyn Watch) -> Result<Solution>;
}

/// A method that works on rows of codes, whatever their width, and needs no more than a partition to tell what it found.
pub trait AnyWidth: Send + Sync {
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

impl<M: AnyWidth> Method for M {
    fn solve(&self, problem: &Problem, watch: &dyn Watch) -> Result<Solution> {
        watch.stage(M::STAGE, Some(problem.len() as u64));
        with_matrix!(&problem.records, matrix => self.solve_rows(problem, matrix, watch)).map(Solution::from)
    }
}
