//! What a string is measured by.
//!
//! Every goal is a score to be raised; losses count negative. Research value and GCP add up over attributes, so their
//! best over a part of the lattice is the sum of each attribute's best. Who is left out is worth nothing: the research value
//! of a string counts for the share of records that it publishes. The others are measured from the groups: they
//! never improve when levels rise, so their best over a part of the lattice is that of its finest string, suppression
//! left out. The mean over groups is no such measure; its bound is the cheapest record.

use super::lattice::{Groups, Lattice};
use crate::loss::Kernel;
use crate::table::Scale;

/// What to optimise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// The most research value.
    ResearchValue,
    /// The least GCP.
    Gcp,
    /// The least discernibility.
    Discernibility,
    /// The smallest classes on average.
    AverageSize,
    /// The fewest records outside of the majority of their class.
    Classification,
    /// The least weighted maximum NCP.
    WeightedMaximum,
    /// The least mean over classes of NCP.
    AverageNcp,
    /// The least weighted average volume.
    Volume,
    /// The least mean extent of a class, for one numeric attribute.
    Il1,
    /// The least greatest extent of a class, for one numeric attribute.
    IlInfinity,
}

/// Their names in a policy; the first is the default.
pub const GOALS: &[(&str, Goal)] = &[
    ("rv", Goal::ResearchValue),
    ("gcp", Goal::Gcp),
    ("discernibility", Goal::Discernibility),
    ("c_avg", Goal::AverageSize),
    ("classification", Goal::Classification),
    ("weighted_maximum_ncp", Goal::WeightedMaximum),
    ("average_ncp", Goal::AverageNcp),
    ("weighted_average_volume", Goal::Volume),
    ("il1", Goal::Il1),
    ("il_infinity", Goal::IlInfinity),
];

/// A goal over a lattice.
pub struct Measure<'a> {
    goal: Goal,
    lattice: &'a Lattice<'a>,
    /// For goals that add up: what each attribute is worth at each level from its lowest on.
    pub values: Option<Vec<Vec<f64>>>,
    kernel: Kernel,
}

impl<'a> Measure<'a> {
    /// A goal; `research` gives the research value of each attribute at each of its levels.
    pub fn new(goal: Goal, lattice: &'a Lattice<'a>, research: &[Vec<f64>]) -> Self {
        let kernel = Kernel::new(&lattice.problem.attributes);
        let mut measure = Measure { goal, lattice, values: None, kernel };
        measure.values = match goal {
            Goal::ResearchValue => Some(measure.per_level(|at, level| research[at][level as usize])),
            Goal::Gcp => Some(measure.per_level(|at, level| -measure.mean_penalty(at, level))),
            _ => None,
        };
        measure
    }

    fn per_level(&self, value: impl Fn(usize, u8) -> f64) -> Vec<Vec<f64>> {
        let attributes = self.lattice.attributes.iter().enumerate();
        attributes
            .map(|(at, own)| (own.lowest..=own.highest).map(|level| value(at, level)).collect())
            .collect()
    }

    /// The part of the GCP that an attribute has at a level.
    fn mean_penalty(&self, at: usize, level: u8) -> f64 {
        let problem = self.lattice.problem;
        let rows = (0..self.lattice.rows() as u32).map(|row| {
            let (low, high) = self.lattice.published(at, level, row);
            self.lattice.records(row).len() as f64 * self.kernel.penalty(at, low as usize, high as usize)
        });
        rows.sum::<f64>() / (problem.len() as f64 * problem.total_weight())
    }

    /// What an attribute is worth at a level, for goals that add up.
    pub fn value(&self, at: usize, level: u8) -> f64 {
        self.values
            .as_ref()
            .map_or(0.0, |values| values[at][(level - self.lattice.attributes[at].lowest) as usize])
    }

    /// The score of a string, its failing groups suppressed.
    pub fn score(&self, levels: &[u8], groups: &Groups) -> f64 {
        let failing = self.lattice.failing(groups);
        let of_levels = || levels.iter().enumerate().map(|(at, level)| self.value(at, *level)).sum::<f64>();
        match &self.values {
            Some(_) if failing.is_empty() => of_levels(),
            Some(_) if self.goal == Goal::ResearchValue => {
                self.published_share(groups, &failing) * of_levels()
            }
            Some(_) => self.gcp_without(levels, groups, &failing),
            None => self.measured(levels, groups, &failing),
        }
    }

    /// At least the score of every string whose levels are not below these.
    pub fn bound(&self, levels: &[u8], groups: &Groups) -> f64 {
        match self.goal {
            Goal::AverageNcp => -self.cheapest(levels, groups),
            // Suppressing or joining groups may lower these, by no known amount: nothing is better than 0.
            Goal::IlInfinity | Goal::WeightedMaximum | Goal::AverageSize | Goal::Volume
                if self.lattice.problem.suppressible > 0 =>
            {
                0.0
            }
            Goal::Il1 => 0.0,
            _ => self.measured(levels, groups, &[]),
        }
    }

    /// The share of records that are not in failing groups.
    fn published_share(&self, groups: &Groups, failing: &[u32]) -> f64 {
        let left_out: u64 = failing.iter().map(|at| u64::from(groups.sizes[*at as usize])).sum();
        1.0 - left_out as f64 / self.lattice.problem.len().max(1) as f64
    }

    fn gcp_without(&self, levels: &[u8], groups: &Groups, failing: &[u32]) -> f64 {
        let problem = self.lattice.problem;
        let (mut kept, mut left_out) = (0.0, 0u64);
        for (at, size) in groups.sizes.iter().enumerate() {
            match failing.binary_search(&(at as u32)) {
                Ok(_) => left_out += u64::from(*size),
                Err(_) => kept += f64::from(*size) * self.ncp(levels, groups.first[at]),
            }
        }
        let whole = problem.total_weight();
        -(kept + left_out as f64 * whole) / (problem.len() as f64 * whole)
    }

    fn ncp(&self, levels: &[u8], row: u32) -> f64 {
        levels
            .iter()
            .enumerate()
            .map(|(at, level)| {
                let (low, high) = self.lattice.published(at, *level, row);
                self.kernel.penalty(at, low as usize, high as usize)
            })
            .sum()
    }

    fn cheapest(&self, levels: &[u8], groups: &Groups) -> f64 {
        groups.first.iter().map(|row| self.ncp(levels, *row)).reduce(f64::min).unwrap_or(0.0)
    }

    fn measured(&self, levels: &[u8], groups: &Groups, failing: &[u32]) -> f64 {
        let problem = self.lattice.problem;
        let records = problem.len() as f64;
        let kept: Vec<usize> =
            (0..groups.sizes.len()).filter(|at| failing.binary_search(&(*at as u32)).is_err()).collect();
        let size = |at: usize| f64::from(groups.sizes[at]);
        let published: f64 = kept.iter().map(|at| size(*at)).sum();
        let suppressed = records - published;
        let each = |of_group: &dyn Fn(usize) -> f64| kept.iter().map(|at| of_group(*at)).sum::<f64>();
        let count = (kept.len() as f64).max(1.0);
        let ncp = |at: usize| self.ncp(levels, groups.first[at]);
        let extent = |at: usize| self.extent(levels, groups.first[at]);
        let greatest =
            |of_group: &dyn Fn(usize) -> f64| kept.iter().map(|at| of_group(*at)).fold(0.0, f64::max);
        -match self.goal {
            Goal::ResearchValue | Goal::Gcp => 0.0,
            Goal::Discernibility => each(&|at| size(at) * size(at)) + suppressed * records,
            Goal::AverageSize => published / count,
            Goal::Classification => (self.minority(groups, failing) + suppressed) / records,
            Goal::WeightedMaximum => greatest(&|at| size(at) * ncp(at)),
            Goal::AverageNcp => each(&ncp) / count,
            Goal::Volume => each(&|at| size(at) * self.volume(levels, groups.first[at])) / published.max(1.0),
            Goal::Il1 => each(&extent) / count,
            Goal::IlInfinity => greatest(&extent),
        }
    }

    fn volume(&self, levels: &[u8], row: u32) -> f64 {
        let attributes = self.lattice.problem.attributes.iter().zip(levels).enumerate();
        attributes
            .map(|(at, (own, level))| {
                let (low, high) = self.lattice.published(at, *level, row);
                match low == high {
                    true => 1.0 / own.domain.len() as f64,
                    false => self.kernel.penalty(at, low as usize, high as usize) / own.weight,
                }
            })
            .product()
    }

    fn extent(&self, levels: &[u8], row: u32) -> f64 {
        let (low, high) = self.lattice.published(0, levels[0], row);
        match self.lattice.problem.attributes[0].domain.scale() {
            Scale::Numeric { values, .. } => {
                let at = |code: u32| values[(code as usize).min(values.len() - 1)];
                at(high) - at(low)
            }
            Scale::Categorical(_) => f64::from(high - low),
        }
    }

    /// Records whose class is not the majority of their group.
    fn minority(&self, groups: &Groups, failing: &[u32]) -> f64 {
        let Some(class) = self.lattice.problem.labels.first() else { return 0.0 };
        let mut counts = vec![0u64; class.domain.len()];
        let mut outside = 0;
        for (at, rows) in self.lattice.rows_of(groups).iter().enumerate() {
            if failing.binary_search(&(at as u32)).is_ok() {
                continue;
            }
            counts.fill(0);
            for record in rows.iter().flat_map(|row| self.lattice.records(*row)) {
                counts[class.codes[*record as usize] as usize] += 1;
            }
            outside += counts.iter().sum::<u64>() - counts.iter().max().copied().unwrap_or(0);
        }
        outside as f64
    }
}
