//! What checking a certificate found.

use serde_json::json;

use super::number::{count, percent, share};
use crate::bound::Checked;
use crate::error::Result;

/// For people. Where k was found within a limit on the loss, releases with a smaller one may lose less.
pub fn checked_terminal(checked: Checked, found_k: Option<usize>) -> String {
    let with_it = found_k.map_or_else(String::new, |k| format!(" with k = {}", count(k as u64)));
    match checked {
        Checked::Proved(gcp) => format!(
            "The certificate holds\nNo release of this table under this policy{with_it} can lose less than {} (GCP {}).\nEvery \
             class that there could be was looked at; none is paid more than it costs.\n",
            percent(gcp),
            share(gcp)
        ),
        Checked::NotAProof => {
            "The certificate does not hold\nSome class that the policy allows would be paid more than it \
                               costs, so its prices prove nothing.\n"
                .to_owned()
        }
    }
}

/// For programs: whether it holds, and the GCP that no release can go below.
pub fn checked_json(checked: Checked) -> Result<String> {
    super::json(&match checked {
        Checked::Proved(gcp) => json!({ "holds": true, "gcp": gcp }),
        Checked::NotAProof => json!({ "holds": false, "gcp": null }),
    })
}
