//! Has the member that lies farthest from the others of its class the most frequent value?

use serde::Serialize;

use super::{Control, SURE, Tops};
use crate::collections::Arrange;
use crate::error::Result;
use crate::loss::{Extent, Kernel};
use crate::method::Partition;
use crate::parallel;
use crate::problem::{Code, Matrix, Problem};
use crate::watch::Watch;
use crate::with_matrix;

/// In how many classes the farthest member has that of the class's values which is most frequent in the table.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Farthest {
    /// Share of classes in which it has; of several farthest members, each counts in part.
    pub hits: f64,
    /// Share that chance would give: the mean share of the value in its class.
    pub chance: f64,
    /// The standard error of chance.
    pub error: f64,
    /// Hits with values shuffled within classes.
    pub control: Control,
    /// Hits in the tenth of classes that lose most.
    pub dearest_hits: f64,
    /// Chance in the tenth of classes that lose most.
    pub dearest_chance: f64,
}

impl Farthest {
    /// Whether there are more hits than chance explains.
    pub fn is_above_chance(&self) -> bool {
        self.hits > self.chance + SURE * self.error.max(f64::EPSILON)
    }
}

/// The farthest members of a class, all of its members, and what it loses.
pub(super) struct Far {
    farthest: Vec<u32>,
    members: Vec<u32>,
    ncp: f64,
}

/// In larger classes distances are taken to this many members, evenly spread over the class.
const MOST_OTHERS: usize = 1024;

/// The farthest members of each class.
pub(super) fn members(problem: &Problem, classes: &Partition, watch: &dyn Watch) -> Result<Vec<Far>> {
    let kernel = Kernel::new(&problem.attributes);
    with_matrix!(&problem.records, matrix => {
        let of = |at: usize| {
            watch.check()?;
            Ok(far(&kernel, matrix, classes.group(at)))
        };
        parallel::try_map(0..classes.len(), of)
    })
}

fn far<C: Code>(kernel: &Kernel, matrix: &Matrix<C>, class: &[u32]) -> Far {
    let step = class.len().div_ceil(MOST_OTHERS).max(1);
    let distance = |from: u32| -> f64 {
        let row = matrix.row(from as usize);
        class.iter().step_by(step).map(|to| kernel.pair(row, matrix.row(*to as usize))).sum()
    };
    let distances: Vec<f64> = class.iter().map(|record| distance(*record)).collect();
    let greatest = distances.iter().copied().fold(0.0, f64::max);
    // Sums in another order differ by rounding; records that are equally far count as that.
    let is_far = |distance: f64| distance >= greatest * (1.0 - 1e-9);
    let members = class.iter().zip(&distances);
    Far {
        farthest: members.filter(|(_, distance)| is_far(**distance)).map(|(record, _)| *record).collect(),
        members: class.to_vec(),
        ncp: kernel.ncp(&Extent::around(matrix, class)),
    }
}

/// What share of some records has a value.
fn share(records: &[u32], codes: &[u32], value: u32) -> f64 {
    let having = records.iter().filter(|record| codes[**record as usize] == value).count();
    having as f64 / records.len().max(1) as f64
}

pub(super) fn measure(far: &[Far], tops: &Tops, codes: &[u32], shuffled: &[Vec<u32>]) -> Farthest {
    let count = far.len().max(1) as f64;
    let each = || far.iter().zip(&tops.classes);
    let hits =
        |codes: &[u32]| each().map(|(far, top)| share(&far.farthest, codes, *top)).sum::<f64>() / count;
    let chances: Vec<f64> = each().map(|(far, top)| share(&far.members, codes, *top)).collect();
    // Several farthest members are a sample without return: their share varies less.
    let spread = |(far, chance): (&Far, &f64)| {
        let (all, some) = (far.members.len() as f64, far.farthest.len() as f64);
        chance * (1.0 - chance) * (all - some) / (some * (all - 1.0).max(1.0))
    };
    let variance: f64 = far.iter().zip(&chances).map(spread).sum();
    let (dearest_hits, dearest_chance) = dearest(far, tops, codes);
    let control: Vec<f64> = shuffled.iter().map(|codes| hits(codes)).collect();
    Farthest {
        hits: hits(codes),
        chance: chances.iter().sum::<f64>() / count,
        error: variance.sqrt() / count,
        control: Control::of(&control),
        dearest_hits,
        dearest_chance,
    }
}

/// Hits and chance in the tenth of classes that lose most.
fn dearest(far: &[Far], tops: &Tops, codes: &[u32]) -> (f64, f64) {
    let mut order: Vec<usize> = (0..far.len()).collect();
    order.arrange_by(|a, b| far[*b].ncp.total_cmp(&far[*a].ncp).then(a.cmp(b)));
    order.truncate(far.len().div_ceil(10));
    let mean =
        |of: &dyn Fn(usize) -> f64| order.iter().map(|at| of(*at)).sum::<f64>() / order.len().max(1) as f64;
    let hits = mean(&|at| share(&far[at].farthest, codes, tops.classes[at]));
    (hits, mean(&|at| share(&far[at].members, codes, tops.classes[at])))
}
