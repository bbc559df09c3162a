//! Figure 13: how near the seeds come to the furthest pair.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use throng::loss::Kernel;
use throng::method::local::halves::{Halving, Join};
use throng::problem::{Code, Matrix};
use throng::report::{Block, Claim, Section, Unit, Verdict};
use throng::{Result, with_matrix};

use super::{adult, lines};
use crate::Setting;

const ROUNDS: usize = 8;

pub fn section(setting: &Setting, claims: &mut Vec<Claim>) -> Result<Section> {
    let (_, problem) = adult::load(setting)?;
    let kernel = Kernel::new(&problem.attributes);
    let (repetitions, size) = if setting.quick { (2, 200) } else { (50, 1000) };
    let shares = with_matrix!(&problem.records, matrix => shares(&kernel, matrix, repetitions, size));
    let places: Vec<String> = (1..=ROUNDS).map(|rounds| rounds.to_string()).collect();
    for (rounds, least) in [(3, 0.97), (6, 0.9875)] {
        claims.push(Claim {
            text: format!(
                "Seeds after {rounds} rounds reach {:.2} % of the penalty of the furthest pair.",
                100.0 * least
            ),
            verdict: if shares[rounds - 1] >= least { Verdict::Held } else { Verdict::Failed },
            evidence: format!(
                "{:.2} % on average over {repetitions} samples of {size} records of Adult",
                100.0 * shares[rounds - 1]
            ),
        });
    }
    Ok(Section {
        heading: "Seeds (figure 13)".to_owned(),
        blocks: vec![
            Block::Words(format!(
                "The penalty of the two seeds as a share of that of the furthest of all pairs, in {repetitions} random \
                 samples of {size} records of Adult."
            )),
            lines(
                "Seeds against the furthest pair (figure 13)",
                "rounds",
                &places,
                &[("share", shares)],
                Unit::Share,
            ),
        ],
    })
}

/// The mean share after 1, 2, … rounds.
fn shares<C: Code>(kernel: &Kernel, matrix: &Matrix<C>, repetitions: usize, size: usize) -> Vec<f64> {
    let mut shares = vec![0.0; ROUNDS];
    for repetition in 0..repetitions {
        let mut order: Vec<u32> = (0..matrix.len() as u32).collect();
        order.shuffle(&mut ChaCha8Rng::seed_from_u64(repetition as u64));
        order.truncate(size);
        let sample = matrix.gather(&order);
        let penalty = |one: usize, other: usize| {
            let (one, other) = (sample.row(one), sample.row(other));
            kernel.union_up_to((one, one), (other, other), f64::INFINITY)
        };
        let furthest = (0..size)
            .flat_map(|one| (0..one).map(move |other| (one, other)))
            .map(|(one, other)| penalty(one, other))
            .fold(0.0, f64::max);
        for (rounds, share) in (1..).zip(&mut shares) {
            let halving = Halving { kernel, rounds, join: Join::Loss };
            let (one, other) = halving.seeds(sample.data(), sample.stride());
            *share += penalty(one, other) / furthest / repetitions as f64;
        }
    }
    shares
}
