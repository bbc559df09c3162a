//! Attacks on diverse classes that need no model: what grouping tells beyond the classes.
//!
//! The attacker knows everyone's quasi-identifiers, who is in which class, and the sensitive values of each class. If grouping
//! tells nothing, every order of the values within a class is as likely as any other. Two tests ask whether that is so:
//! - `farthest`: is the member that lies farthest from the others of its class the one with the most frequent value? A
//!   record that would be cheaper elsewhere but was not moved is mostly one whose value had no room there.
//! - `windows`: do stretches of records along a line hold as many of the most frequent value as their classes say, within
//!   what chance allows? This also finds what grouping tells of several records together.
//!
//! Each stands beside a *control*: the same with values shuffled within classes, which is what a release that tells nothing
//! looks like. In a real table values also depend on quasi-identifiers, and an attacker who knows how may use that: a
//! test cannot tell that apart from a leak. To test a method, shuffle the sensitive column first.
//!
//! Cost: O(d·Σ|G|²) for the farthest members, O(N log N) for the line.

mod farthest;
mod membership;
mod windows;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

pub use farthest::Farthest;
pub use membership::{Members, Membership, members};
pub use windows::Windows;

use crate::audit::Tables;
use crate::error::{Error, ErrorCode, Result};
use crate::mapping;
use crate::method::Partition;
use crate::policy::Policy;
use crate::problem::{Problem, Protected};
use crate::watch::Watch;

/// Shuffles of the control.
const SHUFFLES: usize = 20;
/// The stream of the control; it need not be secret.
const STREAM: u64 = 52;

/// What the two tests find for one sensitive attribute. Field names are keys of the JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Attack {
    /// The sensitive attribute.
    pub attribute: String,
    /// Classes that were looked at.
    pub classes: usize,
    /// The farthest member of each class.
    pub farthest: Farthest,
    /// Windows along the Hilbert curve, of several lengths.
    pub windows: Vec<Windows>,
}

/// The same figure with values shuffled within classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Control {
    /// Its mean.
    pub mean: f64,
    /// Its standard deviation.
    pub deviation: f64,
    /// The largest.
    pub most: f64,
}

impl Control {
    fn of(figures: &[f64]) -> Self {
        let count = figures.len().max(1) as f64;
        let mean = figures.iter().sum::<f64>() / count;
        let squares: f64 = figures.iter().map(|figure| (figure - mean).powi(2)).sum();
        let most = figures.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Control { mean, deviation: (squares / (count - 1.0).max(1.0)).sqrt(), most }
    }

    /// Whether a figure is larger than chance explains: by more than so many standard deviations of the control.
    pub fn is_exceeded_by(&self, figure: f64) -> bool {
        figure > self.mean + SURE * self.deviation.max(f64::EPSILON)
    }
}

/// Standard deviations from which on a figure is no chance.
pub const SURE: f64 = 4.0;

impl Attack {
    /// Whether both tests are within what chance explains.
    pub fn is_within_noise(&self) -> bool {
        !self.farthest.is_above_chance() && !self.windows.iter().any(Windows::is_above_chance)
    }
}

/// What attacks on a release found. Field names are keys of the JSON.
#[derive(Clone, Debug, Serialize)]
pub struct Attacked {
    /// How it is known who is in which class.
    pub membership: Membership,
    /// Share of the published records whose class is certain.
    pub certain: f64,
    /// Whether everything found is within what chance explains.
    pub within_noise: bool,
    /// What was found, for each sensitive attribute.
    pub attacks: Vec<Attack>,
}

/// Attacks a release, however it was obtained: does grouping tell more about sensitive values than the classes do?
/// `problem` is the table under the policy.
pub fn attack_release<'a>(
    problem: &Problem,
    policy: &Policy,
    release: impl Into<Tables<'a>>,
    watch: &dyn Watch,
) -> Result<Attacked> {
    if problem.sensitive.is_empty() {
        return Err(Error::new(
            ErrorCode::NoSensitive,
            "there is no sensitive attribute whose values an attacker could learn",
        )
        .with_hint("give an attribute the role \"sensitive\" in the policy, or leave --attack out"));
    }
    let members = members(problem, policy, release, watch)?;
    let attacks = attack(problem, &members.classes, watch)?;
    Ok(Attacked {
        membership: members.known,
        certain: members.certain,
        within_noise: attacks.iter().all(Attack::is_within_noise),
        attacks,
    })
}

/// Attacks the classes of a partition, for each sensitive attribute.
pub fn attack(problem: &Problem, classes: &Partition, watch: &dyn Watch) -> Result<Vec<Attack>> {
    let line = problem.line(&mapping::HILBERT, watch)?;
    watch.stage("attacking", None);
    let far = farthest::members(problem, classes, watch)?;
    let of = |counted: &Protected| {
        watch.check()?;
        let top = Tops::new(counted, classes);
        let shuffled = shuffles(problem, counted, classes);
        Ok(Attack {
            attribute: counted.name.clone(),
            classes: classes.len(),
            farthest: farthest::measure(&far, &top, &counted.codes, &shuffled),
            windows: windows::measure(line.order(), classes, &top, &counted.codes, &shuffled),
        })
    };
    problem.sensitive.iter().map(of).collect()
}

/// Which values are asked for.
struct Tops {
    /// The most frequent value of the table; of several, the first.
    table: u32,
    /// Of the values in each class, the one that is most frequent in the table.
    classes: Vec<u32>,
}

impl Tops {
    fn new(counted: &Protected, classes: &Partition) -> Self {
        let mut counts = vec![0u32; counted.domain.len()];
        counted.codes.iter().for_each(|value| counts[*value as usize] += 1);
        let rank = |value: &u32| (counts[*value as usize], std::cmp::Reverse(*value));
        let most = |values: &mut dyn Iterator<Item = u32>| values.max_by_key(rank).unwrap_or(0);
        let of_class = |class: &[u32]| most(&mut class.iter().map(|record| counted.codes[*record as usize]));
        Tops { table: most(&mut (0..counts.len() as u32)), classes: classes.groups().map(of_class).collect() }
    }
}

/// The values of all records, shuffled within classes, several times.
fn shuffles(problem: &Problem, counted: &Protected, classes: &Partition) -> Vec<Vec<u32>> {
    let mut random = ChaCha8Rng::seed_from_u64(problem.seed);
    random.set_stream(STREAM);
    let mut shuffled = || {
        let mut codes = counted.codes.clone();
        for class in classes.groups() {
            let mut values: Vec<u32> = class.iter().map(|record| counted.codes[*record as usize]).collect();
            values.shuffle(&mut random);
            class.iter().zip(values).for_each(|(record, value)| codes[*record as usize] = value);
        }
        codes
    };
    (0..SHUFFLES).map(|_| shuffled()).collect()
}
