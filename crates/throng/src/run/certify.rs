//! Checks a certificate against the table that it is for.

use std::path::Path;

use crate::bound::{Certificate, Checked};
use crate::error::{Error, ErrorCode, Result};
use crate::plan::{Choices, Plan, Registry, target};
use crate::policy::Policy;
use crate::watch::Watch;

/// Checks the certificate in a file against a table under a policy, by looking at every class that there could be.
pub fn certify_files(data: &Path, certificate: &Path, policy: &Policy, watch: &dyn Watch) -> Result<Checked> {
    let text = std::fs::read_to_string(certificate).map_err(|cause| match cause.kind() {
        std::io::ErrorKind::InvalidData => {
            Error::new(ErrorCode::BadCertificate, "this is not a certificate").in_file(certificate)
        }
        _ => Error::io(ErrorCode::CannotRead, "read", certificate, &cause),
    })?;
    let own = Certificate::parse(&text).map_err(|error| error.in_file(certificate))?;
    let plan = Plan::new(policy, &Registry::default(), Choices::default())?;
    let table = plan.read(data, watch)?;
    let problem = plan.problem(&table)?;
    watch.stage("checking the certificate", None);
    own.check(&problem, watch).map_err(|error| {
        let error = error.in_file(certificate);
        match error.code() == ErrorCode::NotThisCertificate && plan.has_target() {
            true => error.with_hint(
                "the policy limits the loss and leaves k to be found: add --k with the k that was found, which the report of the run \
                 tells; and use the table, the policy and the other options that it was written with",
            ),
            false => error,
        }
    })
}

/// The k that a certificate under a policy is about, where that was found within a limit on the loss.
pub fn certified_k(policy: &Policy) -> Option<usize> {
    target::of(policy).and_then(|_| policy.privacy.k())
}
