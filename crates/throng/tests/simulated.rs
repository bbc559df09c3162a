//! `simulate` against exact probabilities and against tables drawn record by record.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::time::Instant;

use throng::simulate::Simulation;
use throng::watch::Unwatched;

fn simulation(attributes: Vec<Vec<f64>>, k: u32, repetitions: u32) -> Simulation {
    Simulation { attributes, k, repetitions, seed: 5 }
}

/// The probability that two values of shares p and 1 − p both occur k times or not at all among n records.
fn exact(p: f64, k: usize, n: usize) -> f64 {
    let mut log_of = (n as f64) * (1.0 - p).ln();
    let mut sum = 0.0;
    for of_first in 0..=n {
        let fine = |count: usize| count == 0 || count >= k;
        if fine(of_first) && fine(n - of_first) {
            sum += log_of.exp();
        }
        // From one binomial probability to the next.
        log_of += ((n - of_first) as f64 / (of_first + 1) as f64).ln() + (p / (1.0 - p)).ln();
    }
    sum
}

#[test]
fn tables_reach_k_as_often_as_they_should() {
    for (p, k, n) in [(0.5, 5, 12), (0.1, 3, 40), (0.01, 2, 150), (0.01, 2, 2), (0.3, 4, 9), (0.02, 5, 600)] {
        let rate = simulation(vec![vec![p, 1.0 - p]], k as u32, 4000)
            .draw(n as u64, &Unwatched)
            .unwrap()
            .success_rate;
        let expected = exact(p, k, n);
        let spread = (expected * (1.0 - expected) / 4000.0).sqrt();
        assert!((rate - expected).abs() <= 4.5 * spread + 1e-9, "{p} {k} {n}: {rate}, expected {expected}");
    }
}

/// A small generator of our own.
fn next(state: &mut u64) -> f64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state >> 11) as f64 / (1u64 << 53) as f64
}

/// The share of tables, drawn record by record, in which every combination that occurs does so k times.
fn drawn_one_by_one(attributes: &[Vec<f64>], k: usize, records: usize, repetitions: usize) -> f64 {
    let mut state = 88_172_645_463_325_252;
    let mut reached = 0;
    for _ in 0..repetitions {
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..records {
            let mut combination = Vec::new();
            for shares in attributes {
                let (mut left, mut value) = (next(&mut state), 0);
                while value + 1 < shares.len() && left >= shares[value] {
                    left -= shares[value];
                    value += 1;
                }
                combination.push(value);
            }
            *counts.entry(combination).or_insert(0usize) += 1;
        }
        reached += usize::from(counts.values().all(|count| *count >= k));
    }
    reached as f64 / repetitions as f64
}

#[test]
fn counts_are_those_of_single_records() {
    for (attributes, k, records) in [
        (vec![vec![0.5, 0.3, 0.2], vec![0.6, 0.4]], 3, 45),
        (vec![vec![0.7, 0.2, 0.1], vec![1.0], vec![0.9, 0.1]], 2, 60),
        (vec![vec![0.97, 0.01, 0.01, 0.01], vec![0.5, 0.5]], 2, 20),
    ] {
        let plain = drawn_one_by_one(&attributes, k, records, 3000);
        let found =
            simulation(attributes, k as u32, 3000).draw(records as u64, &Unwatched).unwrap().success_rate;
        let spread = (plain * (1.0 - plain) / 1500.0).sqrt();
        assert!((plain - found).abs() <= 4.5 * spread + 0.002, "{records}: {plain} {found}");
    }
}

/// Few records rarely have a rare value at all, so they reach k; more do not. The number that is told must hold from
/// there on.
#[test]
fn what_is_needed_holds_from_there_on() {
    for (p, k) in [(0.01, 2), (0.001, 2), (0.02, 5), (0.5, 5), (0.2, 3)] {
        let needed =
            simulation(vec![vec![1.0 - p, p]], k as u32, 1000).records_needed(0.95, &Unwatched).unwrap();
        let least = needed.records.unwrap() as usize;
        // Of 1,000 tables as many as 2.5 % may be off by chance.
        for n in [least, least * 21 / 20, least * 5 / 4, least * 2, least * 4] {
            assert!(exact(p, k, n) > 0.925, "{p} {k}: {n} records reach {}", exact(p, k, n));
        }
        assert!(exact(p, k, least * 9 / 10) < 0.95, "{p} {k}: {least} is too many");
        assert!(needed.within >= needed.records.unwrap() && !needed.out_of_work);
    }
}

/// Shares like those of race and native-country among 30,162 people.
#[test]
fn rare_combinations_take_no_longer() {
    let race = vec![0.8598, 0.0934, 0.0297, 0.0095, 0.0076];
    let mut country = vec![1.0 / 30_162.0, 11.0 / 30_162.0];
    country.extend((0..38).map(|at| (14 + 10 * at) as f64 / 30_162.0));
    country.insert(0, 1.0 - country.iter().sum::<f64>());
    let start = Instant::now();
    let simulation = simulation(vec![race, country], 5, 500);
    let needed = simulation.records_needed(0.95, &Unwatched).unwrap();
    let least = needed.records.unwrap();
    // The rarest combination is one in four million: five of it take tens of millions of records.
    assert!(least > 20_000_000 && least < 100_000_000, "{least}");
    assert!(simulation.draw(least, &Unwatched).unwrap().success_rate >= 0.95);
    assert!(simulation.draw(30_162, &Unwatched).unwrap().success_rate < 0.05);
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

#[test]
fn however_rare_a_combination_is_it_counts() {
    // One in 10^12: ten million records rarely have it, ten million million mostly have it too few times.
    let rare = vec![1e-6, 1.0 - 1e-6];
    let needed = simulation(vec![rare.clone(), rare], 5, 400).records_needed(0.95, &Unwatched).unwrap();
    // With λ expected, it is there one to four times with a probability of e^−λ (λ + λ²/2 + λ³/6 + λ⁴/24).
    let too_few = |n: f64| {
        let expected: f64 = n * 1e-12;
        let terms = [1, 2, 3, 4].map(|power| expected.powi(power) / f64::from((1..=power).product::<i32>()));
        (-expected).exp() * terms.iter().sum::<f64>()
    };
    let least = needed.records.unwrap() as f64;
    assert!(too_few(least) < 0.09 && too_few(least * 0.9) > 0.03, "{least}: {}", too_few(least));
}

#[test]
fn what_cannot_be_found_is_said() {
    let rare = vec![1e-6, 1.0 - 1e-6];
    let needed = simulation(vec![rare; 4], 5, 100).records_needed(0.95, &Unwatched).unwrap();
    assert!(needed.records.is_none() && !needed.out_of_work && needed.within > 1_000_000_000, "{needed:?}");
    // A hundred million combinations, each of which has to be drawn in every table.
    let many = throng::simulate::uniform(&[10_000, 10_000]).unwrap();
    let needed = simulation(many, 5, 100).records_needed(0.95, &Unwatched).unwrap();
    assert!(needed.records.is_none() && needed.out_of_work, "{needed:?}");
}
