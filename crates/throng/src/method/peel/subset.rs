//! Which records of some rows may be a class, where more than their number counts.
//!
//! Where no sensitive value may make up more than one in l records, a set with too many of one value still holds
//! classes: those without the surplus. Other requirements are met by the whole set or not at all.

use super::rows::OpenRows;
use crate::method::improve::Work;
use crate::privacy::Tally;
use crate::problem::{Code, Problem};

/// How many records of one sensitive value a class of these records may have at most; `None` if there is no class.
fn most_of_a_value(work: &Work<'_, impl Code>, tally: &Tally) -> Option<u32> {
    if (tally.size() as usize) < work.smallest {
        return None;
    }
    match frequency(work.problem) {
        None => work.problem.requirement.holds(tally).then_some(u32::MAX),
        Some((attribute, l)) => {
            let counts = tally.histogram(attribute).present();
            let mut most = counts.clone().map(|(_, count)| count).max()?;
            loop {
                let kept: u64 = counts.clone().map(|(_, count)| u64::from(count.min(most))).sum();
                if f64::from(most) * l <= kept as f64 + ROUNDING {
                    return (kept as usize >= work.smallest).then_some(most);
                }
                // From above to the greatest number that its own sum allows.
                most = ((kept as f64 + ROUNDING) / l).floor() as u32;
                if most == 0 {
                    return None;
                }
            }
        }
    }
}

/// The sensitive attribute and l where only size and the frequency of one attribute's values count.
fn frequency(problem: &Problem) -> Option<(usize, f64)> {
    let requirement = &problem.requirement;
    requirement.only_size_and_frequency().then(|| requirement.frequencies().first().copied()).flatten()
}

const ROUNDING: f64 = 1e-9;

fn tally_of<C: Code>(work: &Work<'_, C>, records: &[u32]) -> Tally {
    let mut tally = Tally::for_problem(work.problem);
    records.iter().for_each(|record| tally.add_record(&work.problem.sensitive, *record));
    tally
}

/// The largest class that some records hold.
pub(super) fn choose<C: Code>(work: &Work<'_, C>, mut records: Vec<u32>) -> Option<Vec<u32>> {
    if work.only_size() {
        return (records.len() >= work.smallest).then_some(records);
    }
    let most = most_of_a_value(work, &tally_of(work, &records))?;
    if let Some((attribute, _)) = frequency(work.problem) {
        let counted = &work.problem.sensitive[attribute];
        let mut kept = vec![0; counted.domain.len()];
        records.retain(|record| {
            let count = &mut kept[counted.codes[*record as usize] as usize];
            *count += 1;
            *count <= most
        });
    }
    work.holds(records.iter().copied()).then_some(records)
}

/// The cheapest stretch of rows along an attribute that holds a class; rows are in its order.
pub(super) fn cheapest_window<C: Code>(
    work: &Work<'_, C>,
    open: &OpenRows<C>,
    rows: &[u32],
    attribute: usize,
) -> Option<(usize, usize)> {
    let code = |at: usize| open.code(rows[at], attribute);
    let mut best: Option<(f64, usize, usize)> = None;
    let mut tally = Tally::for_problem(work.problem);
    let mut first = 0;
    while first < rows.len() {
        tally.clear();
        let mut at = first;
        let found = loop {
            if at == rows.len() {
                break None;
            }
            let penalty = work.kernel.penalty(attribute, code(first), code(at));
            if best.is_some_and(|(least, ..)| penalty >= least) {
                break Some(false);
            }
            let value = code(at);
            while at < rows.len() && code(at) == value {
                open.records(rows[at])
                    .iter()
                    .for_each(|record| tally.add_record(&work.problem.sensitive, *record));
                at += 1;
            }
            if most_of_a_value(work, &tally).is_some() {
                best = Some((penalty, first, at));
                break Some(true);
            }
        };
        // What all the rest does not hold, less of it does not hold either.
        if found.is_none() {
            break;
        }
        let value = code(first);
        while first < rows.len() && code(first) == value {
            first += 1;
        }
    }
    best.map(|(_, first, end)| (first, end))
}

/// The sensitive values of the records that are still open: whatever is taken must leave something that can be
/// published too.
pub(super) struct Rest {
    tally: Tally,
    frequency: Option<(usize, f64)>,
}

impl Rest {
    pub fn new(problem: &Problem) -> Self {
        Rest { tally: Tally::of_all(problem), frequency: frequency(problem) }
    }

    /// Takes records out if what is left then is eligible by itself; else does nothing and says so.
    pub fn take(&mut self, problem: &Problem, records: &[u32]) -> bool {
        let Some((attribute, l)) = self.frequency else { return true };
        let codes = &problem.sensitive[attribute].codes;
        let mut taken = vec![0u32; self.tally.histogram(attribute).domain()];
        records.iter().for_each(|record| taken[codes[*record as usize] as usize] += 1);
        let left = self.tally.size() - records.len() as u64;
        let present = self.tally.histogram(attribute).present();
        let most = present.map(|(value, count)| count - taken[value as usize]).max().unwrap_or(0);
        if f64::from(most) * l > left as f64 + ROUNDING {
            return false;
        }
        for record in records {
            let values: Vec<u32> =
                problem.sensitive.iter().map(|counted| counted.codes[*record as usize]).collect();
            self.tally.remove(&values);
        }
        true
    }
}
