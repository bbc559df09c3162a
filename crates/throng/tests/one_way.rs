//! One way through: for every method, `compare`, `evaluate` and `anonymize` make the same release of the same policy.
#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;

use common::{Case, Loaded, cases, load};
use proptest::prelude::*;
use throng::method::STANDARD;
use throng::policy::Policy;
use throng::run::{Anonymize, Compare, Evaluate};
use throng::secret::Secret;
use throng::watch::Unwatched;

/// Requirements beside which methods were once run differently: targets, allowances, rules, several quasi-identifiers.
const REQUIREMENTS: &[&str] = &[
    "k = 3",
    "k = 2\nl = 1.6666666667",
    "k = 4\nsuppress = 0.3",
    "suppress = 0.2\nl = 2",
    "max_gcp = 0.4",
    "max_query_error = 0.5",
    "k = 2\nt = 0.4",
    "max_loss = 0.5",
    "k_column = \"wish\"",
    "quasi_identifiers = [{ attributes = [\"q0\"], k = 3 }]",
];

/// What a front tells of a release.
#[derive(Debug, PartialEq)]
struct Told {
    k: u64,
    gcp: f64,
    suppressed: u64,
    rows: u64,
}

fn secret() -> Option<Secret> {
    Some(Secret::from_bytes(b"the same for all"))
}

fn anonymized(data: &Path, policy: &Policy) -> Option<Told> {
    let run = Anonymize {
        secret: secret(),
        ..Anonymize::new(data.to_owned(), data.with_file_name("release.csv"), policy.clone())
    };
    let measures = run.run(&Unwatched).ok()?.measures;
    let (rows, suppressed) = (measures.rows_published, measures.suppressed);
    Some(Told { k: measures.k, gcp: measures.gcp, suppressed, rows })
}

fn compared(data: &Path, policy: &Policy, method: &str) -> Option<Told> {
    let compare = Compare {
        data: data.to_owned(),
        policy: policy.clone(),
        methods: vec![method.to_owned()],
        ks: Vec::new(),
        queries: false,
        secret: secret(),
        registry: Default::default(),
    };
    let mut runs = compare.run(&Unwatched).ok()?.runs;
    let measures = runs.remove(0).report?.measures;
    let (rows, suppressed) = (measures.rows_published, measures.suppressed);
    Some(Told { k: measures.k, gcp: measures.gcp, suppressed, rows })
}

fn evaluated(data: &Path, policy: &Policy) -> Option<Told> {
    let evaluate = Evaluate {
        data: data.to_owned(),
        policy: policy.clone(),
        release: None,
        task: "queries".to_owned(),
        secret: secret(),
        registry: Default::default(),
    };
    let told = evaluate.run(&Unwatched).ok()?;
    Some(Told { k: told.k, gcp: told.gcp, suppressed: told.suppressed, rows: told.rows_published })
}

/// The case with a requirement, and a hard rule on its first quasi-identifier if it is a plain number.
fn with_rule(case: &Case, privacy: &str, method: &str) -> Loaded {
    let plain = load(case, privacy, method);
    let rule = "rules = [{ cut = [1, 2], importance = 3, hard = true }]\n";
    let text = plain.policy.text.replace("[attribute.q0]\n", &format!("[attribute.q0]\n{rule}"));
    match Policy::parse(&text, None) {
        Ok(policy) if !privacy.contains("population") => Loaded { policy, ..plain },
        _ => plain,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn compare_and_evaluate_make_the_release_that_anonymize_makes(
        case in cases(30),
        requirement in prop::sample::select(REQUIREMENTS),
        ruled in any::<bool>(),
    ) {
        for entry in STANDARD {
            let loaded = match ruled {
                true => with_rule(&case, requirement, entry.name),
                false => load(&case, requirement, entry.name),
            };
            let (_folder, data) = loaded.on_disk();
            let expected = anonymized(&data, &loaded.policy);
            prop_assert_eq!(&expected, &compared(&data, &loaded.policy, entry.name), "{}: {}", entry.name, requirement);
            if let Some(told) = evaluated(&data, &loaded.policy) {
                prop_assert_eq!(expected, Some(told), "{}: {}", entry.name, requirement);
            }
        }
    }
}
