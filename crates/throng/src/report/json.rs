//! Reports as JSON.

use serde::Serialize;

use crate::error::{Error, Result};

/// A value as indented JSON with a final newline. What is not a finite number becomes `null`.
pub fn json<T: Serialize>(value: &T) -> Result<String> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|cause| Error::bug(format!("the report cannot be written as JSON: {cause}")))?;
    Ok(text + "\n")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::report::samples;

    #[test]
    fn a_report_has_the_keys_of_the_contract() {
        let text = json(&samples::adult()).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        for key in [
            "rows_in",
            "rows_published",
            "suppressed",
            "method",
            "seed",
            "order",
            "k",
            "k_required",
            "l",
            "classes",
            "gcp",
            "ncp",
            "discernibility",
            "c_avg",
            "gcp_per_attribute",
            "seconds",
        ] {
            assert!(value.get(key).is_some(), "{key} is missing");
        }
        assert_eq!(value["rows_in"], 30_162);
    }

    #[test]
    fn figures_that_are_not_numbers_become_null() {
        let mut report = samples::adult();
        report.measures.gcp = f64::NAN;
        report.measures.c_avg = f64::INFINITY;
        let value: serde_json::Value = serde_json::from_str(&json(&report).unwrap()).unwrap();
        assert!(value["gcp"].is_null());
        assert!(value["c_avg"].is_null());
        assert_eq!(value["classes"], 2_213);
    }
}
