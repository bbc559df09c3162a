//! Attacking a release in a file.

use std::path::Path;

use serde::Serialize;

use crate::attack::{Attack, Membership, attack, members};
use crate::audit::{Keep, Received};
use crate::error::{Error, Result};
use crate::plan;
use crate::policy::Policy;
use crate::problem::Problem;
use crate::watch::Watch;

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

/// Attacks an existing release: does grouping tell more about sensitive values than the classes do?
pub fn attack_files(data: &Path, release: &Path, policy: &Policy, watch: &dyn Watch) -> Result<Attacked> {
    let problem = Problem::new(&plan::read(data, policy, watch)?, policy)?;
    if problem.sensitive.is_empty() {
        return Err(Error::input("there is no sensitive attribute whose values an attacker could learn")
            .with_hint("give an attribute the role \"sensitive\" in the policy, or leave --attack out"));
    }
    let received = Received::read(release, &problem, policy, Keep::Audited, watch)?;
    let members = members(&problem, policy, &received, watch)?;
    let attacks = attack(&problem, &members.classes, watch)?;
    Ok(Attacked {
        membership: members.known,
        certain: members.certain,
        within_noise: attacks.iter().all(Attack::is_within_noise),
        attacks,
    })
}
