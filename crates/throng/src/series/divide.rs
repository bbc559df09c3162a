//! Letting those who left go, where a class is large enough for that.
//!
//! If those who left and those who stayed could each be a class, the class may be divided: those who left are not published
//! again, those who stayed are a class of their own from then on. All who were together before and after have the same
//! trace, and they are enough, so that nobody can be told apart. Classes below twice the smallest can never be divided;
//! `start_k` makes the first ones larger.

use std::collections::{BTreeMap, BTreeSet};

use super::judged::Judged;
use super::key::Tag;
use super::ledger::{Ledger, State};
use super::sheet::Sheet;
use crate::error::{Error, Result};
use crate::policy::Policy;
use crate::watch::Watch;

/// Divides the classes that can be; gives for each new one its place in the ledger, and its rows in the last release.
pub fn divide(
    ledger: &mut Ledger,
    here: &BTreeSet<Tag>,
    last: &Sheet,
    policy: &Policy,
    watch: &dyn Watch,
) -> Result<Vec<(u32, Vec<u32>)>> {
    let judged = Judged::new(last, policy, watch)?;
    let named = last.classes();
    let mut divided = Vec::new();
    for (class, sides) in sides(ledger, here) {
        let [stayers, leavers] = sides;
        let own = &ledger.classes[class as usize];
        if own.state != State::Published || stayers.is_empty() || leavers.is_empty() {
            continue;
        }
        let rows =
            |side: &[(Tag, Option<u32>)]| -> Option<Vec<u32>> { side.iter().map(|(_, row)| *row).collect() };
        let (Some(stay), Some(leave)) = (rows(&stayers), rows(&leavers)) else { continue };
        let mut all: Vec<u32> = stay.iter().chain(&leave).copied().collect();
        all.sort_unstable();
        all.dedup();
        let published = named.get(own.name.as_str()).map_or(&[][..], Vec::as_slice);
        if !all.iter().eq(published) {
            return Err(Error::bug("the ledger does not know whose the rows of the last release are"));
        }
        if judged.holds(&stay) && judged.holds(&leave) {
            let tags: Vec<Tag> = stayers.iter().map(|(tag, _)| *tag).collect();
            divided.push((ledger.divide(class, &tags), stay));
        }
    }
    Ok(divided)
}

/// The people of one side of a class, with their rows.
type Side = Vec<(Tag, Option<u32>)>;

/// The people of each class who are still here, and those who are not.
fn sides(ledger: &Ledger, here: &BTreeSet<Tag>) -> BTreeMap<u32, [Side; 2]> {
    let mut sides: BTreeMap<u32, [Side; 2]> = BTreeMap::new();
    for (tag, place) in &ledger.people {
        let side = usize::from(!here.contains(tag));
        sides.entry(place.class).or_default()[side].push((*tag, place.row));
    }
    sides
}
