//! Releases of the bundled sample as they were recorded once: with the same seed every method still makes the same
//! groups and cells. Where a result is meant to change, its line here changes with the commit, and the changelog says so.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use throng::format::CSV;
use throng::plan::{Choices, Plan, Registry};
use throng::policy::Policy;
use throng::release::Order;
use throng::secret::Secret;
use throng::watch::Unwatched;

/// Methods with the hash of their release of the sample at k = 10, seed 7, rows in the table's order.
const AT_K: &[(&str, u64)] = &[
    ("auto", 0x46e986aa2752686e),
    ("bottom-up", 0xa6e729ec0cecea96),
    ("euclid-cluster", 0x7abe1598503da00b),
    ("hilbert", 0xf6a474a3358ae6b0),
    ("hilbert-fast", 0xf1cc8f3fe455541b),
    ("idistance", 0x8248f9903345f3b0),
    ("idistance-fast", 0xc7b8b9fe38fc237d),
    ("mondrian", 0x1b014465a71a3ce5),
    ("mondrian-relaxed", 0xfcff78677a5afe36),
    ("peel", 0x46e986aa2752686e),
    ("refine", 0x7e0ace767248c976),
    ("rv-cluster", 0xf886e92fdfc86b36),
    ("rv-cluster-suppress", 0xd2866fa8c9c07eb1),
    ("rv-global", 0x976a3a79e98a0b5d),
    ("rv-hybrid", 0x976a3a79e98a0b5d),
    ("rv-local", 0xd89c45e2d9933eba),
    ("rv-partitioned", 0x976a3a79e98a0b5d),
    ("top-down", 0x3beec1dc0e0c3e71),
];

/// The same for the most privacy within max_loss = 0.7.
const WITHIN_A_LIMIT: &[(&str, u64)] =
    &[("accuracy", 0x655b161b31664d31), ("accuracy-search", 0xc8a579a74df5abae)];

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data").join(name)
}

/// The policy of then, with a requirement; its hierarchies are the bundled ones.
fn policy(requirement: &str) -> Policy {
    let text = include_str!("vectors/recorded.toml").replace("\nk = 10\n", requirement);
    Policy::parse(&text, Some(&data("recorded.toml"))).unwrap()
}

/// FNV-1a: short, and known to everyone.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf29ce484222325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100000001b3))
}

fn released(policy: &Policy, method: &str) -> u64 {
    let policy = policy.clone().with_method(method).unwrap().with_seed(7);
    let secret = Some(Secret::from_bytes(b"the same in all tests"));
    let choices = Choices { order: Order::Keep, secret, ..Choices::default() };
    let plan = Plan::new(&policy, &Registry::default(), choices).unwrap();
    let table = plan.read(&data("adult-sample.csv"), &Unwatched).unwrap();
    let mut problem = plan.problem(&table).unwrap();
    let solved = plan.solve(&mut problem, &Unwatched).unwrap();
    let written = plan.write_in_memory(&table, &problem, &solved, &CSV, &Unwatched).unwrap();
    hash(&written.release.bytes)
}

/// All differences at once, so that a change of results can be recorded in one go.
fn check(policy: &Policy, recorded: &[(&str, u64)]) {
    let found = recorded.iter().map(|(method, _)| (*method, released(policy, method)));
    let changed: Vec<String> = found
        .zip(recorded)
        .filter(|(found, recorded)| found != *recorded)
        .map(|((method, hash), _)| format!("(\"{method}\", {hash:#018x})"))
        .collect();
    assert!(changed.is_empty(), "other releases than recorded: {}", changed.join(", "));
}

#[test]
fn every_method_makes_the_release_that_was_recorded() {
    check(&policy("\nk = 10\n"), AT_K);
}

#[test]
fn methods_within_a_limit_make_the_release_that_was_recorded() {
    check(&policy("\nmax_loss = 0.7\n"), WITHIN_A_LIMIT);
}
