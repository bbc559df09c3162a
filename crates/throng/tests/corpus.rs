//! What fuzzing has found, and what it starts from, once more: every file of `fuzz/corpus` through the function that the
//! fuzzer calls, and some changes of each, the same in every run. CONTRIBUTING.md says how to fuzz.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

#[allow(dead_code)] // What only the fuzzer needs.
#[path = "../../../fuzz/src/lib.rs"]
mod fuzz;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name)
}

/// The inputs of a target, by name.
fn inputs(name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = std::fs::read_dir(folder(name)).unwrap_or_else(|_| panic!("there is no corpus of {name}"));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.into_iter().map(|file| (file.clone(), std::fs::read(file).unwrap())).collect()
}

/// Calls a target; an input that fails is kept, so that it can be looked at.
fn call(name: &str, target: fuzz::Target, bytes: &[u8], from: &str) {
    if std::panic::catch_unwind(|| target(bytes)).is_err() {
        let kept = std::env::temp_dir().join(format!("throng-{name}-failed"));
        std::fs::write(&kept, bytes).unwrap();
        panic!("{name} fails on {from}; the input is in {}", kept.display());
    }
}

#[test]
fn every_input_of_the_corpus_is_taken_or_refused_in_words() {
    for (name, target) in fuzz::TARGETS {
        let inputs = inputs(name);
        assert!(inputs.len() >= 4, "{name} has too few inputs");
        inputs.iter().for_each(|(file, bytes)| call(name, *target, bytes, &file.display().to_string()));
    }
}

#[test]
fn every_folder_of_the_corpus_has_a_target() {
    for entry in std::fs::read_dir(folder("")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(fuzz::TARGETS.iter().any(|(own, _)| *own == name), "{name}");
    }
}

/// Pieces that readers look for.
const PIECES: [&str; 40] = [
    ",",
    ";",
    "\t",
    "|",
    "\n",
    "\r\n",
    "\"",
    "\"\"",
    "[",
    "]",
    "[1-2]",
    "[1-2)",
    "{",
    "}",
    "=",
    "*",
    "≥ ",
    "≤ ",
    "?",
    "-1",
    "1e308",
    "nan",
    "9007199254740993",
    "0.10",
    "2024-02-29",
    "31.12.1999",
    "'",
    "\u{feff}",
    "\u{202e}",
    "\0",
    "null",
    "true",
    "[attribute.age]",
    "role = \"quasi\"",
    "k = 2",
    "l = 2",
    "Rome",
    "group",
    "count",
    "\u{fffd}",
];

/// An input with a few changes.
fn changed(random: &mut ChaCha8Rng, inputs: &[(PathBuf, Vec<u8>)]) -> Vec<u8> {
    let pick = |random: &mut ChaCha8Rng| inputs[random.random_range(0..inputs.len())].1.clone();
    let mut bytes = pick(random);
    for _ in 0..random.random_range(1..6) {
        let at = random.random_range(0..=bytes.len());
        let end = bytes.len().min(at + random.random_range(0..24));
        match random.random_range(0..7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.random_range(0..8),
            1 if at < bytes.len() => bytes[at] = random.next_u32() as u8,
            2 => drop(bytes.drain(at..end)),
            3 => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            4 => {
                let other = pick(random);
                let from = random.random_range(0..=other.len());
                let to = other.len().min(from + random.random_range(0..80));
                bytes.splice(at..end, other[from..to].iter().copied());
            }
            _ => {
                let piece = PIECES[random.random_range(0..PIECES.len())];
                bytes.splice(at..at, piece.bytes());
            }
        }
    }
    bytes
}

#[test]
fn changed_inputs_are_taken_or_refused_in_words() {
    for (name, target) in fuzz::TARGETS {
        let (inputs, mut random) = (inputs(name), ChaCha8Rng::seed_from_u64(7));
        for round in 0..40 {
            call(name, *target, &changed(&mut random, &inputs), &format!("change {round}"));
        }
    }
}

/// For those who cannot run a fuzzer: as many changes as fit into the seconds that the environment gives to each target,
/// `THRONG_FUZZ_SECONDS=600 cargo test --test corpus -- --ignored`; `THRONG_FUZZ_TARGET` names one.
#[test]
#[ignore = "takes as long as it is told to"]
fn changed_inputs_for_a_while() {
    let told = |name: &str| std::env::var(name).ok();
    let seconds = told("THRONG_FUZZ_SECONDS").map_or(10, |text| text.parse().unwrap());
    let seed = told("THRONG_FUZZ_SEED").map_or(1, |text| text.parse().unwrap());
    let only = told("THRONG_FUZZ_TARGET");
    for (name, target) in
        fuzz::TARGETS.iter().filter(|(own, _)| only.as_deref().is_none_or(|only| only == *own))
    {
        let (inputs, mut random) = (inputs(name), ChaCha8Rng::seed_from_u64(seed));
        let (start, mut rounds, mut slowest) = (Instant::now(), 0u64, Duration::ZERO);
        while start.elapsed().as_secs() < seconds {
            let bytes = changed(&mut random, &inputs);
            let begun = Instant::now();
            call(name, *target, &bytes, &format!("change {rounds}"));
            slowest = slowest.max(begun.elapsed());
            rounds += 1;
        }
        eprintln!("{name}: {rounds} inputs in {seconds} s, the slowest in {slowest:?}");
    }
}
