//! Whether a table has a release at all, and which records must be left out of it.
//!
//! Models are monotone: the classes of a release satisfy them together as well. So a release exists exactly if some set of
//! records that may be all that is published satisfies them as one class. Where nothing may be left out, that is the
//! whole table. Where records may be, each model tells the fewest that it must lose ([`super::Model::fewest_to_lose`]); one that
//! cannot be satisfied within the allowance by itself proves that there is no release. Several models lose records in
//! turn until all of them hold. Where size, a k of single records and one attribute's diversity are all that is asked,
//! what they lose in turn is the fewest (see `Requirement::in_turn_is_exact`), so that failing proves it too; else it does
//! not, and the error says so.
//!
//! Which records of a value go is for us to choose: those that ask for the largest k, then those whose values are rarest,
//! for they cost most to hide.
//!
//! Cost: O(N · d) for one look at all records, O(N log N) where some must go.

use super::{Part, Requirement, Tally};
use crate::data::Data;
use crate::error::{Error, ErrorCode, Result};

/// The records of a table that are still to be published, and how many of them may yet be left out.
pub struct Keeping<'a> {
    /// The table.
    pub data: &'a Data,
    /// The records, those first that are best left out.
    pub records: &'a [u32],
    /// How many may be left out.
    pub allowance: usize,
}

impl Keeping<'_> {
    /// What the records count to.
    pub fn tally(&self) -> Tally {
        let mut tally = Tally::for_problem(self.data);
        self.records.iter().for_each(|record| tally.add_record(&self.data.sensitive, *record));
        tally
    }
}

impl Requirement {
    /// An error that explains what is reachable, if not even one class of all records satisfies it.
    pub fn check_feasible(&self, data: &Data) -> Result<()> {
        self.leave_out(data, 0).map(drop)
    }

    /// The same of a table of which only counts are at hand.
    pub fn check_counts(&self, whole: &Tally, data: &Data) -> Result<()> {
        let failing = self.models().find(|model| !model.holds(whole));
        failing.map_or(Ok(()), |model| Err(model.explain(whole, data)))
    }

    /// The records that must be left out of every release, as few as we can and no more than so many; ascending. An error
    /// if there is no release, or if none was found. Each record must be for itself, unless none may be left out.
    pub fn leave_out(&self, data: &Data, most: usize) -> Result<Vec<u32>> {
        let whole = Tally::of_all(data);
        let failing: Vec<_> = self.models().filter(|model| !model.holds(&whole)).collect();
        let Some(first) = failing.first() else { return Ok(Vec::new()) };
        if most == 0 {
            return Err(first.explain(&whole, data));
        }
        let mut records = expendable_first(data);
        let all = Keeping { data, records: &records, allowance: most };
        // Whoever fails alone proves that nothing can be done.
        if let Some(model) = failing.iter().find(|model| model.fewest_to_lose(&all).is_none()) {
            return Err(model.explain_within(&whole, data, most));
        }
        let mut lost = Vec::new();
        loop {
            let allowance = most - lost.len();
            let keeping = Keeping { data, records: &records, allowance };
            let tally = keeping.tally();
            let Some(model) = self.models().find(|model| !model.holds(&tally)) else { break };
            let more = model.fewest_to_lose(&keeping).filter(|more| !more.is_empty());
            let Some(mut more) = more else { return Err(self.not_together(most)) };
            more.sort_unstable();
            records.retain(|record| more.binary_search(record).is_err());
            lost.extend(more);
        }
        lost.sort_unstable();
        Ok(lost)
    }

    /// Whether losing records in turn loses the fewest: who asks for a larger k than there are records must go whatever
    /// else goes, and so must what a value has too many of. Not so where entropy or recursive diversity choose among sets
    /// of records that ask for a k of their own; and several attributes, or a distance to the whole table, may need other
    /// records to go.
    fn in_turn_is_exact(&self) -> bool {
        let of = |part: Part| self.parts().filter(|own| *own == part).count();
        of(Part::T) == 0
            && of(Part::L) <= 1
            && (of(Part::OwnK) == 0 || of(Part::L) == self.frequencies().len())
    }

    /// What stands in the way, where several models do: diversity if it is asked for.
    fn together_code(&self) -> ErrorCode {
        match self.parts().any(|part| part == Part::L) {
            true => ErrorCode::DiversityUnreachable,
            false => ErrorCode::KExceedsTable,
        }
    }

    fn not_together(&self, most: usize) -> Error {
        let asked = self.describe().join(" and ");
        let message = match self.in_turn_is_exact() {
            true => format!(
                "{asked} cannot be met together by any release that leaves out at most {most} records"
            ),
            false => format!(
                "no release was found that meets {asked} together and leaves out at most {most} records; there may be one"
            ),
        };
        Error::new(self.together_code(), message)
            .with_hint("raise `suppress` under [privacy], or ask for less")
    }
}

/// All records, those first that are best left out: they ask for the largest k or have the rarest values; of equals the
/// one with the lowest id.
fn expendable_first(data: &Data) -> Vec<u32> {
    let rarity = rarity(data);
    let demand = |record: u32| data.demands.as_ref().map_or(0, |demands| demands[record as usize]);
    let mut records: Vec<u32> = (0..data.len() as u32).collect();
    records.sort_by(|a, b| {
        let rarer = rarity[*b as usize].total_cmp(&rarity[*a as usize]);
        demand(*b).cmp(&demand(*a)).then(rarer).then(a.cmp(b))
    });
    records
}

/// For each record the sum over attributes of −log of how many records have its value.
fn rarity(data: &Data) -> Vec<f64> {
    let mut rarity = vec![0.0; data.len()];
    for at in 0..data.attributes.len() {
        let mut counts = vec![0u32; data.attributes[at].domain.len()];
        (0..data.len()).for_each(|record| counts[data.records.code(record, at) as usize] += 1);
        for (record, own) in rarity.iter_mut().enumerate() {
            *own -= f64::from(counts[data.records.code(record, at) as usize]).ln();
        }
    }
    rarity
}
