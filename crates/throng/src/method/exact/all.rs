//! The best of all partitions of a tiny table.
//!
//! Every set of records is a number with a bit per record. The best partition of a set is one of the groups that hold its
//! first record, beside the best partition of the rest: `best(S) = min over G ⊆ S with min S ∈ G of loss(G) + best(S − G)`.
//! Where records may be left out, each counts as fully lost: the best is that of the set S for which `best(S)` and what the
//! others lose are least together.
//! Cost: O(3ⁿ) for n records, so that tables of more than [`MOST`] are refused.

use super::Loss;
use super::boundaries::Combine;
use crate::error::{Error, ErrorCode, Result};
use crate::loss::{Extent, Kernel};
use crate::method::{Partition, Solution};
use crate::privacy::Judge;
use crate::problem::{Code, Matrix, Problem};

/// Larger tables are refused.
pub const MOST: usize = 12;

/// The partition with the least loss that meets the requirement, whatever the order of records; of equals the first that
/// leaves out fewest. Records are left out only for a loss that counts each of them.
pub fn least<C: Code>(
    problem: &Problem,
    matrix: &Matrix<C>,
    kernel: &Kernel,
    loss: Loss,
) -> Result<Solution> {
    let count = problem.len();
    if count > MOST {
        return Err(Error::new(
            ErrorCode::MethodDoesNotFit,
            format!("partitions = \"all\" is for tables of at most {MOST} records, this one has {count}"),
        )
        .with_hint("leave `partitions` out, or take another method"));
    }
    let judge = Judge::new(problem);
    let of_group = |set: usize| {
        let records = members(set);
        let holds = set > 0 && judge.holds(records.iter().copied());
        holds.then(|| loss.of_class(records.len(), kernel.ncp(&Extent::around(matrix, &records))))
    };
    let losses: Vec<Option<f64>> = (0..1usize << count).map(of_group).collect();
    let sums = matches!(loss.combine(), Combine::Sum);
    let (mut best, mut first) = (vec![f64::INFINITY; 1 << count], vec![0usize; 1 << count]);
    best[0] = 0.0;
    for set in 1..1usize << count {
        let (lowest, mut rest) = (set & set.wrapping_neg(), set & (set - 1));
        // All subsets of what is left beside the first record, from the whole of it down to none.
        loop {
            let group = rest | lowest;
            if let Some(own) = losses[group] {
                let other = best[set & !group];
                let together = if sums { own + other } else { own.max(other) };
                if together < best[set] {
                    (best[set], first[set]) = (together, group);
                }
            }
            if rest == 0 {
                break;
            }
            rest = (rest - 1) & (set & (set - 1));
        }
    }
    let lost_most = if loss == Loss::Gcp { problem.suppressible.min(count.saturating_sub(1)) } else { 0 };
    let lost = cheapest_to_lose(&best, lost_most, problem.total_weight());
    let mut solution: Solution = traced_back(&first, lost).into();
    solution.leave_out(members(lost));
    Ok(solution)
}

/// Which of all records are left out, at most so many, each at the same cost.
fn cheapest_to_lose(best: &[f64], most: usize, cost: f64) -> usize {
    let all = best.len() - 1;
    let count = |set: usize| set.count_ones() as usize;
    let of = |lost: usize| (best[all & !lost] + count(lost) as f64 * cost, count(lost), lost);
    let allowed = (1..=all).filter(|lost| count(*lost) <= most).map(of);
    // Whoever goes must save more than rounding could.
    let saves = allowed.filter(|(loss, ..)| *loss < best[all] - 1e-9);
    saves.min_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2)))).map_or(0, |(.., lost)| lost)
}

/// The records of a set.
fn members(set: usize) -> Vec<u32> {
    (0..usize::BITS).filter(|record| set >> record & 1 == 1).collect()
}

/// The groups of the set of all records but some. Where nothing meets the requirement they are one.
fn traced_back(first: &[usize], lost: usize) -> Partition {
    let mut left = (first.len() - 1) & !lost;
    let mut groups: Vec<Vec<u32>> = Vec::new();
    while left > 0 {
        let group = if first[left] == 0 { left } else { first[left] };
        groups.push(members(group));
        left &= !group;
    }
    let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
    Partition::from_sizes(groups.concat(), sizes)
}
