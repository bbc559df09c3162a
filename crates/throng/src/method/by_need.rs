//! Records that ask for a k of their own, grouped by what they ask for where that loses less.
//!
//! A class must be as large as its most demanding member asks for. Where such members are scattered, nearly every class of
//! a method that looks at nearness alone has one, and all their neighbours are generalized as far as they need. So besides
//! grouping all records together, they are divided into bands of similar need, each band is grouped by itself, and what
//! loses less is taken. Which bands, the fast [`Mondrian`] decides: one for each need, or needs within a factor of two, of
//! four; a band that cannot meet the requirement by itself joins the one below it, which then costs as much as it.
//!
//! Bands tell a reader something: classes are then about as large as their members ask for, so how large a class is tells
//! what they ask for. The report says so; `needs = "together"` groups all records together.
//!
//! Cost: that of the method twice, and of a few runs of Mondrian.

use super::mondrian::{Categories, Cut, Mondrian, Ties};
use super::{Fact, Method, OptionKind, OptionSpec, Options, Partition, Recoding, Solution};
use crate::collections::sort_by_key_and_id;
use crate::error::Result;
use crate::loss::{Kernel, group_ncp};
use crate::problem::Problem;
use crate::watch::{Unwatched, Watch};

/// The option of every method that takes a k of one's own.
pub const OPTION: OptionSpec = OptionSpec {
    name: "needs",
    kind: OptionKind::Choice { words: &["fitting", "together"] },
    help: "where records ask for a k of their own: grouped by what they ask for if that loses less, or always together",
};

/// Needs in a band are within such a factor, in each way that is tried.
const FACTORS: [u32; 3] = [1, 2, 4];
/// So many different needs may have a band each.
const MOST_BANDS: usize = 16;

/// A method that groups records by their need where that loses less.
pub struct ByNeed(pub Box<dyn Method>);

/// Wraps a method unless its options say that all records are grouped together.
pub fn unless_together(method: Box<dyn Method>, options: &Options) -> Result<Box<dyn Method>> {
    let together = options.choice(OPTION.name, &[("fitting", false), ("together", true)])?;
    Ok(if together { method } else { Box::new(ByNeed(method)) })
}

impl Method for ByNeed {
    fn solve(&self, problem: &Problem, watch: &dyn Watch) -> Result<Solution> {
        let bands = match &problem.demands {
            Some(demands) if problem.people.is_none() && problem.limits.is_empty() => {
                best_bands(problem, demands, watch)?
            }
            _ => None,
        };
        let mut together = self.0.solve(problem, watch)?;
        let Some(bands) = bands.filter(|_| matches!(together.recoding, Recoding::Tight)) else {
            return Ok(together);
        };
        let Some(apart) = band_by_band(problem, &bands, &*self.0, watch)? else { return Ok(together) };
        let losses = (loss(problem, &apart), loss(problem, &together));
        if losses.0 >= losses.1 {
            return Ok(together);
        }
        let whole = problem.len() as f64 * problem.total_weight();
        let needs = bands.iter().map(|band| (band.least, band.most)).collect();
        together.partition = apart.partition;
        together.suppressed = apart.suppressed;
        together.facts.retain(|fact| !matches!(fact, Fact::Chosen { .. }));
        let chosen = apart.facts.into_iter().filter(|fact| matches!(fact, Fact::Chosen { .. }));
        let fact = Fact::GroupedByNeed { needs, gcp: losses.0 / whole, gcp_together: losses.1 / whole };
        together.facts = chosen.take(1).chain([fact]).chain(std::mem::take(&mut together.facts)).collect();
        Ok(together)
    }
}

/// Records whose needs lie between two numbers.
#[derive(Clone, Debug, PartialEq)]
struct Band {
    least: u32,
    most: u32,
    records: Vec<u32>,
}

/// The bands in which Mondrian loses least; `None` if that is all records together.
fn best_bands(problem: &Problem, demands: &[u32], watch: &dyn Watch) -> Result<Option<Vec<Band>>> {
    let plain = Mondrian { cut: Cut::Strict, ties: Ties::LeastEven, categories: Categories::Hierarchy };
    let mut best: Option<(f64, Vec<Band>)> = None;
    let mut tried: Vec<Vec<Band>> = Vec::new();
    for factor in FACTORS {
        watch.check()?;
        let bands = bands(problem, demands, factor);
        if bands.len() < 2 || bands.len() > MOST_BANDS || tried.contains(&bands) {
            continue;
        }
        let Some(solution) = band_by_band(problem, &bands, &plain, &Unwatched)? else { continue };
        let loss = loss(problem, &solution);
        if best.as_ref().is_none_or(|(least, _)| loss < *least) {
            best = Some((loss, bands.clone()));
        }
        tried.push(bands);
    }
    Ok(best.map(|(_, bands)| bands))
}

/// Bands of needs within a factor, the most demanding first. Each can meet the requirement by itself.
fn bands(problem: &Problem, demands: &[u32], factor: u32) -> Vec<Band> {
    let mut by_need: Vec<u32> = (0..problem.len() as u32).collect();
    sort_by_key_and_id(&mut by_need, |record| (u32::MAX - demands[record as usize]) as usize);
    let mut bands: Vec<Band> = Vec::new();
    for equal in by_need.chunk_by(|a, b| demands[*a as usize] == demands[*b as usize]) {
        let need = demands[equal[0] as usize];
        let joins = |band: &Band| {
            u64::from(need) * u64::from(factor) > u64::from(band.most) || !can_stand(problem, band)
        };
        match bands.last_mut() {
            Some(band) if joins(band) => {
                band.least = need;
                band.records.extend(equal);
            }
            _ => bands.push(Band { least: need, most: need, records: equal.to_vec() }),
        }
    }
    // What is left below may be too little for what else is asked.
    while bands.len() > 1 && bands.last().is_some_and(|band| !can_stand(problem, band)) {
        let Some(last) = bands.pop() else { break };
        if let Some(above) = bands.last_mut() {
            above.least = last.least;
            above.records.extend(last.records);
        }
    }
    for band in &mut bands {
        band.records.sort_unstable();
    }
    bands
}

fn can_stand(problem: &Problem, band: &Band) -> bool {
    let own = part(problem, band);
    own.requirement.check_feasible(&own).is_ok()
}

/// The records of a band as a problem of their own. Where all of them ask for the same, that is its k.
fn part(problem: &Problem, band: &Band) -> Problem {
    let mut own = problem.of_records(&band.records);
    own.requirement = own.requirement.asked_by_all(band.least as usize);
    if band.least == band.most {
        own.data.demands = None;
        own.requirement = own.requirement.without_demands();
    }
    own
}

/// A solution of each band; `None` if one of them is published in a way of its own.
fn band_by_band(
    problem: &Problem,
    bands: &[Band],
    method: &dyn Method,
    watch: &dyn Watch,
) -> Result<Option<Solution>> {
    let (mut order, mut sizes, mut suppressed) = (Vec::new(), Vec::new(), Vec::new());
    let mut facts: Vec<Fact> = Vec::new();
    for band in bands {
        let mut own = part(problem, band);
        own.suppressible = problem.suppressible * band.records.len() / problem.len().max(1);
        let solution = method.solve(&own, watch)?;
        if !matches!(solution.recoding, Recoding::Tight) {
            return Ok(None);
        }
        let back = |record: &u32| band.records[*record as usize];
        for group in solution.partition.groups() {
            order.extend(group.iter().map(back));
            sizes.push(group.len());
        }
        suppressed.extend(solution.suppressed.iter().map(back));
        solution.facts.into_iter().for_each(|fact| fact.join(&mut facts));
    }
    suppressed.sort_unstable();
    let partition = Partition::from_sizes(order, sizes);
    Ok(Some(Solution { partition, suppressed, recoding: Recoding::Tight, facts }))
}

/// Σ of size times penalty; a record that is left out loses everything.
fn loss(problem: &Problem, solution: &Solution) -> f64 {
    let kernel = Kernel::new(&problem.attributes);
    let of_group = |group: &[u32]| group.len() as f64 * group_ncp(problem, &kernel, group);
    let lost = solution.suppressed.len() as f64 * problem.total_weight();
    lost + solution.partition.groups().map(of_group).sum::<f64>()
}
