//! The best of all partitions of a tiny table.
//!
//! Every set of records is a number with a bit per record. The best partition of a set is one of the groups that hold its
//! first record, beside the best partition of the rest: `best(S) = min over G ⊆ S with min S ∈ G of loss(G) + best(S − G)`.
//! Cost: O(3ⁿ) for n records, so that tables of more than [`MOST`] are refused.

use super::Loss;
use super::boundaries::Combine;
use crate::error::{Error, ErrorCode, Result};
use crate::loss::{Extent, Kernel};
use crate::method::Partition;
use crate::privacy::Judge;
use crate::problem::{Code, Matrix, Problem};

/// Larger tables are refused.
pub const MOST: usize = 12;

/// The partition with the least loss that meets the requirement, whatever the order of records; of equals the first.
pub fn least<C: Code>(
    problem: &Problem,
    matrix: &Matrix<C>,
    kernel: &Kernel,
    loss: Loss,
) -> Result<Partition> {
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
    Ok(traced_back(&first))
}

/// The records of a set.
fn members(set: usize) -> Vec<u32> {
    (0..usize::BITS).filter(|record| set >> record & 1 == 1).collect()
}

/// The groups of the set of all records. Where nothing meets the requirement they are one.
fn traced_back(first: &[usize]) -> Partition {
    let mut left = first.len() - 1;
    let mut groups: Vec<Vec<u32>> = Vec::new();
    while left > 0 {
        let group = if first[left] == 0 { left } else { first[left] };
        groups.push(members(group));
        left &= !group;
    }
    let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
    Partition::from_sizes(groups.concat(), sizes)
}
