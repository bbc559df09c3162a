//! One-dimensional mapping: put the records on a line, then build groups along it.
//!
//! Ghinita et al. 2009. Where records lie on the line is for a [`Mapping`] to say: `hilbert`, `idistance`.
//!
//! *k alone* (section 3): the line is cut into runs of k … 2k − 1 records, and among all ways to cut it the one with
//! the least loss is taken. The plain methods measure a run by the penalty of its box in all dimensions, the `-fast`
//! ones by how far it reaches along the line.
//!
//! *l*: blocks cut by quasi-identifiers and dealt by lot ([`lots`](super::lots)), in which the line is one of the ways to
//! halve a block. That is not the paper's rule, which tells more than its classes do: see `dealing = "literal"`.
//!
//! *l by the paper's rule* (section 4.3): [`diverse`] deals out sensitive values along the line. If k asks for more records
//! than that, the best way to join neighbouring groups is taken, as for single records. The paper's l is a whole number; for
//! another the next whole one is taken if the table allows it. Queues of frequent values lag, so that whoever sits at one end
//! of a class mostly has its most frequent value (docs/diversity.md).
//!
//! *Everything else* (t alone; with the paper's rule also other forms of l and several sensitive attributes), which is beyond
//! the paper: groups are grown along the line until the requirement holds, from l-diverse groups where the requirement has
//! such a part.
//!
//! Cost: O(d·b·N) for the keys, O(N log N) to sort them, O(k·d·N) to cut, or O(N) by
//! reach, O(N log m) to diversify m values.

pub mod diverse;
pub mod join;
pub mod runs;

use std::sync::Arc;

use diverse::Groups;

use super::facts::Grouping;
use super::options::words;
use super::{Entry, Method, Methods, OptionKind, OptionSpec, Options, Partition, Solution, Traits, lots};
use crate::error::Result;
use crate::loss::{Extent, Kernel};
use crate::mapping::{self, Line, Mapping};
use crate::privacy::{Histogram, Judge, Part};
use crate::problem::{Code, Matrix, Problem};
use crate::watch::Watch;
use crate::with_matrix;

const CITATION: &str =
    "Ghinita, Karras, Kalnis, Mamoulis: A framework for efficient data anonymization, TODS 2009";
const TAKES: &[Part] = &[Part::K, Part::L, Part::T, Part::People];
const BEST_CUT: &str = "with k alone, classes of k to 2k - 1 records (equal cells aside) and the best of all cuts of the line; \
     with l, blocks cut by quasi-identifiers and dealt by lot";
const RUNS: &str = "with k alone, classes of k to 2k - 1 records (equal cells aside); \
     with l, blocks cut by quasi-identifiers and dealt by lot";

const DEALINGS: &[(&str, Dealing)] = &[("lots", Dealing::Lots), ("literal", Dealing::Literal)];
const DEALING_WORDS: [&str; DEALINGS.len()] = words(DEALINGS);
const OPTIONS: &[OptionSpec] = &[OptionSpec {
    name: "dealing",
    kind: OptionKind::Choice { words: &DEALING_WORDS },
    help: "with l, how sensitive values get into classes: by lot within blocks, or by the paper's literal rule, which tells \
           more about records than l promises",
}];

const POINTS_OPTIONS: &[OptionSpec] = &[
    OPTIONS[0],
    OptionSpec {
        name: "points",
        kind: OptionKind::Whole { least: 1, default: None },
        help: "reference points; by default one for four records, from 512 to 4,096, fewer in large tables",
    },
];

/// The registry entry of `hilbert`.
pub const HILBERT: Entry = entry(
    "hilbert",
    "orders records along a Hilbert curve and cuts the order with the least loss",
    BEST_CUT,
    OPTIONS,
    |options, _| configure(options, mapping::HILBERT, Cost::Box),
);

/// The registry entry of `hilbert-fast`.
pub const HILBERT_FAST: Entry = entry(
    "hilbert-fast",
    "as hilbert, but measures runs along the curve only; faster for large k",
    RUNS,
    OPTIONS,
    |options, _| configure(options, mapping::HILBERT, Cost::Line),
);

/// The registry entry of `idistance`.
pub const IDISTANCE: Entry = entry(
    "idistance",
    "as hilbert, but orders records by reference points and the distance from them",
    BEST_CUT,
    POINTS_OPTIONS,
    |options, _| configure(options, mapping::IDISTANCE, Cost::Box),
);

/// The registry entry of `idistance-fast`.
pub const IDISTANCE_FAST: Entry = entry(
    "idistance-fast",
    "as idistance, but measures runs along the line only; faster for large k",
    RUNS,
    POINTS_OPTIONS,
    |options, _| configure(options, mapping::IDISTANCE, Cost::Line),
);

const fn entry(
    name: &'static str,
    summary: &'static str,
    guarantee: &'static str,
    options: &'static [OptionSpec],
    configure: fn(&Options, &Methods) -> Result<Box<dyn Method>>,
) -> Entry {
    Entry {
        name,
        summary,
        citation: CITATION,
        guarantee,
        takes: TAKES,
        needs: &[],
        options,
        traits: Traits::FAST_GROUPING,
        configure,
    }
}

fn configure(options: &Options, mapping: Mapping, cost: Cost) -> Result<Box<dyn Method>> {
    let points = match mapping.name == mapping::IDISTANCE.name {
        true => options.whole_if_any("points")?.map(|points| points as usize),
        false => None,
    };
    Ok(Box::new(Ordered { mapping, points, cost, dealing: options.choice("dealing", DEALINGS)? }))
}

/// How sensitive values get into classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dealing {
    /// By lot, within blocks cut by quasi-identifiers.
    #[default]
    Lots,
    /// By the paper's rule: heads of queues along the line.
    Literal,
}

/// How runs and distances are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// By the penalty of their box.
    Box,
    /// By their extent along the line.
    Line,
}

/// The method.
#[derive(Clone, Copy, Debug)]
pub struct Ordered {
    /// How records get on the line.
    pub mapping: Mapping,
    /// How many reference points there are, for a mapping that has some; chosen by the size of the table if nothing is said.
    pub points: Option<usize>,
    /// How runs and distances are measured.
    pub cost: Cost,
    /// How sensitive values get into classes.
    pub dealing: Dealing,
}

impl Ordered {
    fn line(&self, problem: &Problem, watch: &dyn Watch) -> Result<Arc<Line>> {
        if self.mapping.name != mapping::IDISTANCE.name {
            return problem.line(&self.mapping, watch);
        }
        let k = Judge::new(problem).smallest();
        let fitting = || mapping::points_for(problem.len(), problem.attributes.len(), k);
        problem.line_of_points(self.points.unwrap_or_else(fitting), watch)
    }
}

impl Method for Ordered {
    fn solve(&self, problem: &Problem, watch: &dyn Watch) -> Result<Solution> {
        watch.stage("ordering", None);
        let line = self.line(problem, watch)?;
        watch.stage("grouping", Some(problem.len() as u64));
        let diverse = lots::smallest_diverse(problem).is_some();
        if diverse && self.dealing == Dealing::Lots {
            let partition =
                with_matrix!(&problem.records, matrix => lots::solve(problem, matrix, &line, watch))?;
            return Ok(Solution::grouped(partition, Grouping::Lots));
        }
        let kernel = Kernel::new(&problem.attributes);
        let partition = with_matrix!(&problem.records, matrix => {
            let along = Along { problem, matrix, kernel: &kernel, line: &line, cost: self.cost };
            along.solve(watch)
        })?;
        Ok(if diverse { Solution::grouped(partition, Grouping::Queues) } else { partition.into() })
    }
}

/// Records on a line, to be grouped.
struct Along<'a, C> {
    problem: &'a Problem,
    matrix: &'a Matrix<C>,
    kernel: &'a Kernel,
    line: &'a Line,
    cost: Cost,
}

impl<C: Code> Along<'_, C> {
    fn solve(&self, watch: &dyn Watch) -> Result<Partition> {
        let order = self.line.order();
        let judge = Judge::new(self.problem);
        if judge.count_decides() {
            let sizes = self.cut(judge.smallest(), watch)?;
            return Ok(Partition::from_sizes(order.to_vec(), sizes));
        }
        let distance = |from: u32, to: u32| self.distance(from as usize, to as usize);
        let parts = match diverse_parts(self.problem, order, distance, watch)? {
            Some(parts) => parts,
            None => singles(order.len()),
        };
        let groups = if parts.sizes.len() < order.len() && judge.frequency().is_some() {
            let k = judge.smallest_size();
            let enough = parts.sizes.iter().all(|size| *size >= k);
            if enough {
                parts
            } else {
                join::join_to_size(parts, k, &|parts, costs| self.stretch(parts, costs))
            }
        } else {
            join::join_until_it_holds(&judge, order, parts, watch)?
        };
        let records = groups.places.iter().map(|place| order[*place as usize]).collect();
        Ok(Partition::from_sizes(records, groups.sizes))
    }

    fn cut(&self, k: usize, watch: &dyn Watch) -> Result<Vec<usize>> {
        match self.cost {
            Cost::Box => {
                runs::cut(k, watch, &mut runs::BoxCosts::new(self.matrix, self.line.order(), self.kernel, k))
            }
            Cost::Line => match self.line.keys() {
                Some(keys) => runs::cut_by_reach(k, keys, watch),
                None => runs::cut(k, watch, &mut runs::LineCosts::new(self.line, k)),
            },
        }
    }

    fn row(&self, place: usize) -> &[crate::problem::Lanes<C>] {
        self.matrix.row(self.line.order()[place] as usize)
    }

    /// How far two places are apart.
    fn distance(&self, from: usize, to: usize) -> f64 {
        match self.cost {
            Cost::Line => self.line.distance(from, to),
            Cost::Box => self.kernel.pair(self.row(from), self.row(to)),
        }
    }

    /// The cost of the last group of a stretch, of the last two, and so on.
    fn stretch(&self, parts: &[&[u32]], costs: &mut Vec<f64>) {
        let Some(last) = parts.last().and_then(|part| part.first()) else { return };
        let mut extent = Extent::of(self.row(*last as usize));
        let (mut low, mut high, mut size) = (*last, *last, 0);
        for part in parts.iter().rev() {
            for &place in *part {
                extent.grow(self.row(place as usize));
                (low, high) = (low.min(place), high.max(place));
            }
            size += part.len();
            costs.push(match self.cost {
                Cost::Box => size as f64 * self.kernel.ncp(&extent),
                Cost::Line => self.line.distance(low as usize, high as usize),
            });
        }
    }
}

/// Every place for itself.
pub fn singles(count: usize) -> Groups {
    Groups { places: (0..count as u32).collect(), sizes: vec![1; count] }
}

/// l-diverse groups along an order, if the requirement has such a part and the table allows the next whole l.
pub fn diverse_parts(
    problem: &Problem,
    order: &[u32],
    distance: impl Fn(u32, u32) -> f64,
    watch: &dyn Watch,
) -> Result<Option<Groups>> {
    let Some((attribute, l)) = whole_diversity(problem) else { return Ok(None) };
    let counted = &problem.sensitive[attribute];
    let values: Vec<u32> = order.iter().map(|record| counted.codes[*record as usize]).collect();
    diverse::diversify(&values, counted.domain.len(), l, distance, watch).map(Some)
}

/// The first sensitive attribute whose values are limited in frequency, and the whole l that is dealt out for it.
pub fn whole_diversity(problem: &Problem) -> Option<(usize, usize)> {
    let frequency = Judge::new(problem).first_frequency()?;
    // A value that occurs once needs so many records around it.
    let whole = frequency.smallest_with(1);
    let counted = &problem.sensitive[frequency.attribute()];
    let mut values = Histogram::new(counted.domain.len());
    counted.codes.iter().for_each(|value| values.add(*value));
    let most = values.present().map(|(_, count)| count as usize).max()?;
    (whole >= 2 && most * whole <= problem.len()).then_some((frequency.attribute(), whole))
}
