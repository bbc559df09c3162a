//! The table of leaks, short: what tells and what does not, with figures that can be repeated.
#![allow(clippy::unwrap_used)]

use throng_bench::leakage::{Outcome, WAYS, outcome, synthetic};

const SECRET: &[u8] = b"lots of the short table";

fn found(setting: &str, way: &str) -> Outcome {
    found_in(1500, setting, way)
}

fn found_in(records: usize, setting: &str, way: &str) -> Outcome {
    let settings = synthetic(records);
    let setting = settings.iter().find(|own| own.name.starts_with(setting)).unwrap();
    let way = WAYS.iter().find(|own| own.name == way).unwrap();
    outcome(setting, way, SECRET).unwrap()
}

#[test]
fn the_literal_rule_tells_and_lots_do_not() {
    for setting in ["1-d, l = 3", "2-d, l = 3"] {
        for method in ["hilbert", "idistance"] {
            let before = found(setting, &format!("{method}, literal"));
            assert!(before.attack.farthest.is_above_chance(), "{setting}, {method}: {before:?}");
            let after = found(setting, method);
            assert!(!after.attack.farthest.is_above_chance(), "{setting}, {method}: {after:?}");
        }
    }
}

#[test]
fn peel_tells_near_the_limit_and_blind_does_not() {
    // Of fewer records what it tells is too near to what chance may give.
    let peel = found_in(6000, "2-d, l = 3", "peel");
    assert!(peel.attack.farthest.is_above_chance(), "{peel:?}");
    for setting in ["1-d, l = 3", "2-d, l = 3"] {
        let blind = found(setting, "peel, blind");
        assert!(!blind.attack.farthest.is_above_chance(), "{setting}: {blind:?}");
    }
}

#[test]
fn the_table_can_be_repeated() {
    let (one, other) = (found("2-d, l = 3", "hilbert"), found("2-d, l = 3", "hilbert"));
    assert_eq!(one.gcp, other.gcp);
    assert_eq!(one.attack, other.attack);
}
