//! The table of leaks, short: what tells and what does not, with figures that can be repeated.
#![allow(clippy::unwrap_used)]

use throng_bench::leakage::{Outcome, Summary, WAYS, outcome, synthetic};

const SECRET: &[u8] = b"lots of the short table";

fn found(setting: &str, way: &str) -> Outcome {
    found_in(1500, setting, way)
}

fn found_in(records: usize, setting: &str, way: &str) -> Outcome {
    let settings = synthetic(records, 0);
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

/// One way in several tables of a setting.
fn drawn(setting: &str, way: &str) -> Summary {
    let way = WAYS.iter().find(|own| own.name == way).unwrap();
    let outcome = |draw: u64| {
        let settings = synthetic(1500, draw);
        let setting = settings.iter().find(|own| own.name.starts_with(setting)).unwrap();
        outcome(setting, way, SECRET).unwrap()
    };
    Summary((0..6).map(outcome).collect())
}

/// One table is a draw itself, so the figures that must not get worse are means over several.
#[test]
fn over_several_tables_the_defaults_stay_near_their_control() {
    for setting in ["1-d, l = 3", "2-d, l = 3"] {
        let (before, after) = (drawn(setting, "hilbert, literal"), drawn(setting, "hilbert"));
        assert!(before.lift() > 20.0, "{setting}: {}", before.lift());
        assert!(after.lift() < 3.0, "{setting}: {}", after.lift());
        assert!(before.z2(0) > 1.3 && before.z2(1) > 2.5, "{setting}: {} {}", before.z2(0), before.z2(1));
        assert!(after.z2(0) < 1.25 && after.z2(1) < 2.0, "{setting}: {} {}", after.z2(0), after.z2(1));
    }
}
