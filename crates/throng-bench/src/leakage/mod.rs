//! What the grouping of diverse classes tells of single records, for every method that takes l, before and after dealing by
//! lot: the table of docs/diversity.md.
//!
//! Sensitive values are independent of everything here, so that whatever the attacks find was told by grouping.

mod settings;
mod summary;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use throng::attack::{self, Attack};
use throng::audit::Keep;
use throng::format::CSV;
use throng::plan::{Choices, Plan, Registry};
use throng::policy::Policy;
use throng::release::Publish;
use throng::secret::Secret;
use throng::table::Table;
use throng::watch::Unwatched;

pub use settings::{Setting, census, synthetic};
pub use summary::{HEAD, Summary};

use crate::{Result, loss};

/// How a release is made and attacked.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// What it is called.
    pub name: &'static str,
    /// `[method]` of its policy.
    pub method: &'static str,
    /// How membership is found out.
    pub seen: Seen,
}

/// How an attacker finds out who is in which class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// It is told.
    Told,
    /// From the files of a release by permutation.
    Permuted,
    /// From the file of a release.
    Cells,
}

const HILBERT: &str = "name = \"hilbert\"";
const HILBERT_LITERAL: &str = "name = \"hilbert\"\ndealing = \"literal\"";
const PEEL: &str = "name = \"peel\"";
const PEEL_BLIND: &str = "name = \"peel\"\nblind = true";

/// All ways of the table.
pub const WAYS: &[Way] = &[
    told("hilbert, literal", HILBERT_LITERAL),
    told("hilbert", HILBERT),
    told("hilbert-fast, literal", "name = \"hilbert-fast\"\ndealing = \"literal\""),
    told("hilbert-fast", "name = \"hilbert-fast\""),
    told("idistance, literal", "name = \"idistance\"\ndealing = \"literal\""),
    told("idistance", "name = \"idistance\""),
    told("idistance-fast, literal", "name = \"idistance-fast\"\ndealing = \"literal\""),
    told("idistance-fast", "name = \"idistance-fast\""),
    told("peel", PEEL),
    told("peel, blind", PEEL_BLIND),
    told("auto", "name = \"auto\""),
    told("mondrian", "name = \"mondrian\""),
    told("mondrian, improved", "name = \"mondrian\"\nimprove = true"),
    told("mondrian-relaxed", "name = \"mondrian-relaxed\""),
    told("top-down", "name = \"top-down\""),
    told("top-down, improved", "name = \"top-down\"\nimprove = true"),
    told("bottom-up", "name = \"bottom-up\""),
    told("anatomy", "name = \"anatomy\""),
    Way { name: "hilbert, literal, permuted", method: HILBERT_LITERAL, seen: Seen::Permuted },
    Way { name: "hilbert, permuted", method: HILBERT, seen: Seen::Permuted },
    Way { name: "peel, blind, permuted", method: PEEL_BLIND, seen: Seen::Permuted },
    Way { name: "hilbert, literal, cells", method: HILBERT_LITERAL, seen: Seen::Cells },
    Way { name: "hilbert, cells", method: HILBERT, seen: Seen::Cells },
    Way { name: "peel, cells", method: PEEL, seen: Seen::Cells },
];

const fn told(name: &'static str, method: &'static str) -> Way {
    Way { name, method, seen: Seen::Told }
}

/// What one way gives in one setting.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Its loss, from 0 to 1.
    pub gcp: f64,
    /// What the attacks find.
    pub attack: Attack,
}

/// Makes a release in one way and attacks it. The same secret gives the same outcome.
pub fn outcome(setting: &Setting, way: &Way, secret: &[u8]) -> Result<Outcome> {
    let text = format!("[method]\n{}\nseed = 1\n{}", way.method, setting.policy);
    let policy = Policy::parse(&text, None)?;
    let publish = if way.seen == Seen::Permuted { Publish::Permutation } else { Publish::Cells };
    let secret = Some(Secret::from_bytes(secret));
    let plan = Plan::new(&policy, &Registry::default(), Choices { publish, secret, ..Choices::default() })?;
    let reading = throng::bind::plan(&policy);
    let table = Table::read_from(&CSV, setting.csv.as_bytes(), &policy.reading(&reading, &Unwatched))?;
    let mut problem = plan.problem(&table)?;
    let solved = plan.solve(&mut problem, &Unwatched)?;
    let classes = match way.seen {
        Seen::Told => solved.solution.partition.clone(),
        Seen::Permuted | Seen::Cells => {
            let written = plan.write_in_memory(&table, &problem, &solved, &CSV, &Unwatched)?;
            let received = written.read_back(&problem, &policy, Keep::Audited, &Unwatched)?;
            attack::members(&problem, &policy, &received, &Unwatched)?.classes
        }
    };
    let gcp = loss(&problem, &solved.solution.partition);
    let mut attacks = attack::attack(&problem, &classes, &Unwatched)?;
    let attack = attacks.pop().ok_or("there is no sensitive attribute")?;
    Ok(Outcome { gcp, attack })
}

/// Random numbers of a setting.
fn random(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}
