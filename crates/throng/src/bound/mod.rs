//! What no release can go below: a proof, in prices of records.
//!
//! Give every record a price. If no class that the policy allows is paid more than it costs, that is if the prices of its
//! records sum to at most its size times its penalty, then every release loses at least the sum of all prices: it is a
//! partition into such classes. Records that may be left out count as fully lost, so that the few of them with prices above
//! that may be left out at no more than their full loss, and the sum is lowered by as much.
//!
//! It is enough to look at classes of the least size: a larger one is paid no more on average than its dearest K records,
//! which are in its box (`terms` says what else is counted, and why that is enough). Prices are found by passes over all
//! records (`pricing`), each of which ends with a proof; more time makes the bound better, never the proof. They are whole
//! numbers, and costs are rounded down (`costs`), so that floating point adds nothing. [`Certificate`] keeps them for others
//! to check.
//!
//! Where this comes from: the prices are the dual of the linear program over all classes (as in Aggarwal et al. 2005 for their
//! bounds); that lowering a price never spoils another class, so that one pass makes any prices valid, is ours, and `NOTES.md`
//! has what was tried. Cost: a pass looks at the classes around each record, about as long as `peel` takes; the usual effort
//! is limited by a number of steps that depends on the size of the table alone.

mod anchor;
mod boxes;
mod certificate;
mod cheapest;
mod costs;
mod dearest;
mod index;
mod known;
mod nearest;
mod pool;
mod pricing;
mod sample;
mod space;
mod terms;
mod top;
mod verify;
mod verify_boxes;
mod windows;

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

pub use certificate::{Certificate, Checked};
use costs::ONE;
use pricing::Pricing;
use terms::{Block, Terms};

use crate::collections::Arrange;
use crate::error::Result;
use crate::problem::{Attribute, Problem};
use crate::schema::Kind;
use crate::watch::Watch;

/// Tables of more records get an estimate, unless more effort is asked for: one pass would take longer than a fast method.
const PROVED_UP_TO: usize = 200_000;
const CELLS_PROVED_UP_TO: usize = 2_000_000;
/// A number of very many values counts as so many more columns: few records are near in several of them.
const COLUMNS_OF_A_FINE_NUMBER: usize = 15;
const VALUES_OF_A_FINE_NUMBER: usize = 1000;
/// Tables of more records get an estimate where the effort is to be small.
const PROVED_QUICKLY_UP_TO: usize = 300;
const QUICK_STEPS: u64 = 400_000;
/// Of the steps of the usual effort the nearest others of all records may take one in so many; where they are dearer to find, as
/// among very many distinct records with very many attributes, there is an estimate.
const SHARE_OF_NEAREST: u64 = 2;
/// And so many at most where there are several numbers or limits on sensitive values; a step takes about three times as long there.
const NEAREST_AT_MOST: u64 = 10_000_000;
const STEPS_AT_MOST_AROUND_RECORDS: u64 = 40_000_000;
/// Steps of the usual effort: some for every table but very small ones, and some for each record, at most so many.
const STEPS_AT_LEAST: u64 = 8_000_000;
const STEPS_PER_RECORD_OF_FEW: u64 = 20_000;
const STEPS_PER_RECORD: u64 = 2_500;
const STEPS_AT_MOST: u64 = 77_000_000;
/// Passes of the usual effort, if its steps last.
const USUAL_PASSES: u32 = 8;
/// After so many passes prices are raised by little only, by the usual effort and where passes are counted.
const USUAL_COOLING: f64 = 8.0;
const COOLING: f64 = 12.0;
/// A pass is not begun where less than this share of what the last one took is left.
const MOST_OF_A_PASS: f64 = 0.8;
/// A first proof of a large table, by seconds, is begun only if there are so many for each record: about what it takes on two slow cores.
const SECONDS_PER_RECORD: f64 = 5e-6;
/// It may take so many seconds more than there are.
const SECONDS_OVER: f64 = 0.5;
/// After so many passes without a better bound there is nothing more to find.
const IN_VAIN: u32 = 6;

/// How long to look for a better bound.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Effort {
    /// So many steps as the size of the table allows: less than a method takes that is worth comparing with.
    #[default]
    Usual,
    /// Less than a tenth of a run with a fast method: a proof for small tables, an estimate for others.
    Quick,
    /// So many passes; with 0 no bound is looked for.
    Passes(u32),
    /// So many seconds; where they do not last for a first proof there is an estimate. The bound may then differ from run to run.
    Seconds(f64),
    /// So many seconds, or as long as a first proof takes.
    SecondsForProof(f64),
}

impl Effort {
    /// Whether a table is small enough for a proof.
    fn proves(self, problem: &Problem) -> bool {
        let fine = |own: &&Attribute| {
            own.domain.len() > VALUES_OF_A_FINE_NUMBER && own.domain.kind() == Kind::Numeric
        };
        let fine = problem.attributes.iter().filter(fine).count();
        let columns = problem.attributes.len() + COLUMNS_OF_A_FINE_NUMBER * fine;
        let cells = problem.len().saturating_mul(columns);
        match self {
            Effort::Usual => problem.len() <= PROVED_UP_TO && cells <= CELLS_PROVED_UP_TO,
            Effort::Quick => problem.len() <= PROVED_QUICKLY_UP_TO,
            Effort::Seconds(seconds) => last_for_proof(seconds, problem),
            Effort::Passes(_) | Effort::SecondsForProof(_) => true,
        }
    }

    /// The seconds, if there are so many.
    fn seconds(self) -> Option<f64> {
        match self {
            Effort::Seconds(seconds) | Effort::SecondsForProof(seconds) => Some(seconds),
            Effort::Usual | Effort::Quick | Effort::Passes(_) => None,
        }
    }

    /// Whether steps are counted, so that the bound is the same in every run.
    fn counts_steps(self) -> bool {
        matches!(self, Effort::Usual | Effort::Quick)
    }
}

/// Whether so many seconds will last for a proof, as far as the number of records tells.
pub(crate) fn last_for_proof(seconds: f64, problem: &Problem) -> bool {
    problem.len() <= PROVED_UP_TO || seconds >= SECONDS_PER_RECORD * problem.len() as f64
}

/// A lower bound on the GCP of any release that meets the requirement.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LowerBound {
    /// The bound, or its estimate.
    #[serde(deserialize_with = "number")]
    pub gcp: f64,
    /// Records it was computed from.
    pub records: u64,
    /// 95 % confidence interval of an estimate.
    pub interval: Option<(f64, f64)>,
    /// Whether it is proved for all records, not estimated from some.
    #[serde(default)]
    pub proved: bool,
    /// Parts of the requirement that it leaves out: with them the least possible loss may be larger.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leaves_out: Vec<String>,
    /// The k that it holds for, where that was found within a limit on the loss: a release with a smaller one may lose less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_k: Option<u64>,
    /// How long it took.
    #[serde(skip)]
    pub seconds: f64,
}

/// A bound as reports tell it under `bound`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct BoundFigures {
    /// No release loses less.
    #[serde(deserialize_with = "number")]
    pub gcp: f64,
    /// Whether that is proved for all records, not estimated from some.
    pub proved: bool,
    /// How long it took.
    #[serde(deserialize_with = "number")]
    pub seconds: f64,
}

impl From<&LowerBound> for BoundFigures {
    fn from(bound: &LowerBound) -> Self {
        BoundFigures { gcp: bound.gcp, proved: bound.proved, seconds: bound.seconds }
    }
}

/// A bound and what proves it.
#[derive(Clone, Debug)]
pub struct Proof {
    /// The bound.
    pub bound: LowerBound,
    /// The prices; none where the bound is an estimate.
    pub certificate: Option<Certificate>,
}

/// What is not a number in JSON is `null`.
fn number<'de, D: serde::Deserializer<'de>>(from: D) -> std::result::Result<f64, D::Error> {
    Option::<f64>::deserialize(from).map(|number| number.unwrap_or(f64::NAN))
}

/// The bound for a problem; none if it asks nothing of the sizes of classes, or none is to be looked for.
pub fn lower_bound(problem: &Problem, effort: Effort, watch: &dyn Watch) -> Result<Option<Proof>> {
    bound_below(problem, effort, None, watch)
}

/// The same below a loss that is known, so that whoever watches is shown how the gap falls.
pub(crate) fn bound_below(
    problem: &Problem,
    effort: Effort,
    loss: Option<f64>,
    watch: &dyn Watch,
) -> Result<Option<Proof>> {
    let start = Instant::now();
    let ways = terms::ways(problem);
    if ways.is_empty() || problem.is_empty() || effort == Effort::Passes(0) {
        return Ok(None);
    }
    let leaves_out = terms::left_out(&problem.requirement, problem.people.is_some());
    watch.stage("proving a lower bound", None);
    let priced = match effort.proves(problem) {
        true => best_way(problem, ways, (start, effort, loss), watch)?,
        false => None,
    };
    let Some(priced) = priced else {
        let estimate = estimated(problem, effort, watch)?;
        return Ok(estimate.map(|bound| {
            let bound = LowerBound { leaves_out, seconds: start.elapsed().as_secs_f64(), ..bound };
            Proof { bound, certificate: None }
        }));
    };
    let gcp = worth(problem, &priced);
    let bound = LowerBound {
        gcp,
        records: problem.len() as u64,
        interval: None,
        proved: true,
        leaves_out,
        found_k: None,
        seconds: start.elapsed().as_secs_f64(),
    };
    Ok(Some(Proof { bound, certificate: Some(Certificate::new(problem, priced)) }))
}

/// Parts of the attributes with the prices of all records.
type Priced = Vec<(Terms, Vec<i64>)>;

/// Of several ways to cut the attributes into parts that with the highest prices; none if the effort is too small for one.
fn best_way(
    problem: &Problem,
    ways: Vec<Vec<Terms>>,
    (start, effort, loss): (Instant, Effort, Option<f64>),
    watch: &dyn Watch,
) -> Result<Option<Priced>> {
    let parts = ways.iter().map(Vec::len).sum::<usize>() as u32;
    let (mut best, mut done): (Priced, u32) = (Vec::new(), 0);
    for way in ways {
        let mut priced = Vec::new();
        for terms in way {
            done += 1;
            let search = Search { problem, start, effort, parts, done, loss, watch };
            let Some(part) = search.priced(terms)? else { return Ok(None) };
            priced.push(part);
        }
        if best.is_empty() || worth(problem, &priced) > worth(problem, &best) {
            best = priced;
        }
    }
    Ok(Some(best))
}

/// The estimate for a large table.
fn estimated(problem: &Problem, effort: Effort, watch: &dyn Watch) -> Result<Option<LowerBound>> {
    let size = problem.requirement.smallest_combination();
    if size < 2 {
        return Ok(None);
    }
    let looks = match effort {
        Effort::Quick => sample::FEW_LOOKS_PER_RECORD,
        _ => sample::MANY_LOOKS_PER_RECORD,
    };
    let found = sample::estimate(problem, size, looks, watch)?;
    Ok(Some(LowerBound {
        gcp: found.gcp,
        records: found.records as u64,
        interval: Some(found.interval),
        proved: false,
        leaves_out: Vec::new(),
        found_k: None,
        seconds: 0.0,
    }))
}

/// The GCP that prices prove. A record may be left out where the policy allows some to be, and is then fully lost: what its
/// prices are above that is not proved, for as many records as that may be.
fn worth(problem: &Problem, priced: &[(Terms, Vec<i64>)]) -> f64 {
    let of_record = |record: usize| priced.iter().map(|(_, prices)| i128::from(prices[record])).sum::<i128>();
    let totals: Vec<i128> = (0..problem.len()).map(of_record).collect();
    let mut above: Vec<i128> =
        totals.iter().map(|price| price - i128::from(ONE)).filter(|above| *above > 0).collect();
    above.arrange_by(|one, other| other.cmp(one));
    let spared: i128 = above.iter().take(problem.suppressible).sum();
    let proved = (totals.iter().sum::<i128>() - spared) as f64 / (problem.len() as f64 * f64::from(ONE));
    proved.clamp(0.0, 1.0)
}

/// The search for the prices of one part of the attributes.
struct Search<'a> {
    problem: &'a Problem,
    start: Instant,
    effort: Effort,
    /// How many parts there are in all ways, and how many of them are done with this one.
    parts: u32,
    done: u32,
    /// What the release loses, if that is known.
    loss: Option<f64>,
    watch: &'a dyn Watch,
}

impl Search<'_> {
    /// Shows what is proved so far, where that can be told without the prices of other parts.
    fn tell(&self, total: i128) {
        if self.parts > 1 || self.problem.suppressible > 0 {
            return;
        }
        let gcp = total as f64 / (self.problem.len() as f64 * f64::from(ONE));
        let gap = match self.loss {
            Some(loss) if loss > 0.0 => format!(", gap {:.1} %", 100.0 * (1.0 - gcp / loss).max(0.0)),
            _ => String::new(),
        };
        self.watch.note(&format!("bound {:.2} %{gap}", 100.0 * gcp));
    }

    /// The best prices that are found for all records; none if the effort is too small.
    fn priced(&self, terms: Terms) -> Result<Option<(Terms, Vec<i64>)>> {
        let Block { space, point_of } = terms.block(self.problem);
        let Some((mut pricing, order)) = Pricing::new(&space, &|| !self.has_room_for(0.0)) else {
            return Ok(None);
        };
        drop(space);
        let most = if pricing.goes_through_boxes() { u64::MAX } else { NEAREST_AT_MOST };
        let enough = || pricing.work_of_start() <= most.min(self.steps(&pricing) / SHARE_OF_NEAREST);
        if self.effort == Effort::Usual && !enough() {
            return Ok(None);
        }
        if !pricing.start(&|seconds| self.has_room_for(seconds)) {
            return Ok(None);
        }
        let prices = self.best(&mut pricing)?;
        let mut of_point = vec![0; prices.len()];
        order.iter().zip(prices).for_each(|(point, price)| of_point[*point as usize] = price);
        let of_record = point_of.iter().map(|point| of_point[*point as usize]).collect();
        Ok(Some((terms, of_record)))
    }

    fn best(&self, pricing: &mut Pricing) -> Result<Vec<i64>> {
        let mut steps = self.steps(pricing);
        self.watch.check()?;
        let (mut best, mut prices, mut in_vain) = (pricing.total(), pricing.proved.clone(), 0);
        let mut last = (0, Duration::ZERO);
        while self.goes_on(pricing, last) && in_vain < IN_VAIN {
            self.tell(best);
            let (work, begin) = (pricing.work, Instant::now());
            let over = || self.watch.stopped() || self.is_late();
            let has_time = self.effort.seconds().is_some();
            pricing.raise(self.progress(pricing), has_time, &over);
            // What is given up costs more than it takes to go on.
            steps = if pricing.given_up > 0 && !self.effort.counts_steps() { 2 * steps } else { steps };
            let ended = pricing.pass(steps, &over);
            self.watch.check()?;
            in_vain += 1;
            if ended && pricing.total() > best {
                (best, in_vain) = (pricing.total(), 0);
                prices.clone_from(&pricing.proved);
            }
            if self.watch.take_stop() {
                break;
            }
            last = (pricing.work - work, begin.elapsed());
        }
        Ok(prices)
    }

    /// Steps of a pass.
    fn steps(&self, pricing: &Pricing) -> u64 {
        let records = self.problem.len() as u64;
        let all = STEPS_AT_LEAST.min(STEPS_PER_RECORD_OF_FEW * records) + STEPS_PER_RECORD * records;
        let most = match self.effort {
            Effort::Quick => QUICK_STEPS,
            _ if pricing.goes_through_boxes() => STEPS_AT_MOST,
            _ => STEPS_AT_MOST_AROUND_RECORDS,
        };
        all.min(most) / u64::from(self.parts)
    }

    /// Whether one more pass is due, after one that took so many steps and so long: it must have room for most of another such.
    fn goes_on(&self, pricing: &Pricing, (steps, time): (u64, Duration)) -> bool {
        match self.effort {
            Effort::Usual | Effort::Quick => {
                pricing.passes < USUAL_PASSES && pricing.work + steps <= self.steps(pricing)
            }
            Effort::Passes(passes) => pricing.passes < passes,
            Effort::Seconds(_) | Effort::SecondsForProof(_) => self
                .left()
                .is_some_and(|left| left > time.as_secs_f64() * MOST_OF_A_PASS || pricing.passes == 0),
        }
    }

    /// How far the search has come, from 0 to 1.
    fn progress(&self, pricing: &Pricing) -> f64 {
        match self.effort {
            Effort::Usual | Effort::Quick => f64::from(pricing.passes) / USUAL_COOLING,
            // However many there will be, so that more passes never prove less.
            Effort::Passes(_) => f64::from(pricing.passes) / COOLING,
            Effort::Seconds(seconds) | Effort::SecondsForProof(seconds) => {
                let each = seconds / f64::from(self.parts);
                1.0 - (self.left().unwrap_or(0.0) / each).clamp(0.0, 1.0)
            }
        }
        .min(1.0)
    }

    /// Seconds that are left for this part; none if they are over, or not limited.
    fn left(&self) -> Option<f64> {
        let seconds = self.effort.seconds()?;
        let share = f64::from(self.done) / f64::from(self.parts);
        Some(seconds * share - self.start.elapsed().as_secs_f64()).filter(|left| *left > 0.0)
    }

    /// Whether the seconds of this part are over.
    fn is_late(&self) -> bool {
        self.effort.seconds().is_some() && self.left().is_none()
    }

    /// Whether so many seconds may still be taken before there is a first proof.
    fn has_room_for(&self, seconds: f64) -> bool {
        match self.effort {
            Effort::Seconds(_) => seconds <= self.left().unwrap_or(0.0) + SECONDS_OVER,
            _ => true,
        }
    }
}
