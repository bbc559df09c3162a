//! Attacking a release in a file.

use std::path::Path;

use crate::attack::{Attacked, attack_release};
use crate::audit::{Keep, Received};
use crate::error::Result;
use crate::plan;
use crate::policy::Policy;
use crate::problem::Problem;
use crate::watch::Watch;

/// Attacks an existing release: does grouping tell more about sensitive values than the classes do?
pub fn attack_files(data: &Path, release: &Path, policy: &Policy, watch: &dyn Watch) -> Result<Attacked> {
    let problem = Problem::new(&plan::read(data, policy, watch)?, policy)?;
    let received = Received::read(release, &problem, policy, Keep::Audited, watch)?;
    attack_release(&problem, policy, &received, watch)
}
