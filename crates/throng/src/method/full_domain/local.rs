//! Strings in the middle, found by halving.
//!
//! The thesis halves *levels*: every attribute has a finest and a coarsest level still open, and the string of all middles
//! is tested. If it passes, every attribute moves to its finer half, otherwise to its coarser one; when nothing moves any
//! more, the best string that passed is the answer. That takes about log2 of the tallest hierarchy tests. It often finds nothing: one
//! level means little in an attribute with many of them and all in one with two, and what has two never reaches the
//! coarser. The author meant to look at how levels are grouped.
//!
//! So by default *detail* is halved too. All levels of all attributes are put on one scale, by the share of detail that they
//! leave (the logarithm of the number of their groups, against that of the finest level). For every share there is a string:
//! each attribute at its finest level that leaves no more than that. These are a chain from fine to coarse that ends in the
//! coarsest string of all, and halving finds where it begins to pass, in log2 of the number of levels tests. Of all
//! strings that passed the best is the answer, so that something is found wherever anything is valid.

use super::goal::Measure;
use super::lattice::{Attribute, Lattice, Levels};
use super::search::{Found, Known, Limits, Search};
use crate::collections::greatest_first;
use crate::error::Result;
use crate::watch::Unwatched;

/// What is halved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Halving {
    /// The levels of each attribute, and the detail that they leave.
    #[default]
    Detail,
    /// The levels alone, as in the thesis.
    Levels,
}

impl Halving {
    /// Their names as options.
    pub const CHOICES: &'static [(&'static str, Halving)] =
        &[("detail", Halving::Detail), ("levels", Halving::Levels)];
}

/// Searches, and tells what its tests say of other strings.
pub fn search(lattice: &Lattice<'_>, measure: &Measure<'_>, halving: Halving) -> Result<(Found, Known)> {
    let mut tests = Tests { lattice, known: Known::default(), count: 0 };
    tests.halve_levels();
    if halving == Halving::Detail {
        tests.halve_detail();
    }
    let mut found = best_of(lattice, measure, &tests.known)?;
    found.tests = tests.count;
    Ok((found, tests.known))
}

/// Strings that were tested.
struct Tests<'a, 'b> {
    lattice: &'a Lattice<'b>,
    known: Known,
    count: u64,
}

impl Tests<'_, '_> {
    fn pass(&mut self, string: &Levels) -> bool {
        self.count += 1;
        let verdict = self.lattice.verdict(&self.lattice.groups(string));
        if verdict.valid {
            self.known.strings.push(string.clone());
            self.known.passed(string.clone());
        } else if !verdict.possible {
            self.known.failed(string.clone());
        }
        verdict.valid
    }

    fn halve_levels(&mut self) {
        let mut low: Levels = self.lattice.attributes.iter().map(|own| own.lowest).collect();
        let mut high = self.lattice.highest();
        let mut before = None;
        loop {
            let middle: Levels = low.iter().zip(&high).map(|(low, high)| low + (high - low) / 2).collect();
            if before.as_ref() == Some(&middle) {
                break;
            }
            match self.pass(&middle) {
                true => high.clone_from(&middle),
                false => low.clone_from(&middle),
            }
            before = Some(middle);
        }
    }

    fn halve_detail(&mut self) {
        let lattice = self.lattice;
        let attributes = &lattice.attributes;
        let levels = |own: &Attribute| own.lowest..=own.highest;
        let mut shares: Vec<f64> =
            attributes.iter().flat_map(|own| levels(own).map(|level| share(own, level))).collect();
        greatest_first(&mut shares);
        shares.dedup();
        let string = |most: f64| -> Levels {
            let finest = |own: &Attribute| levels(own).find(|level| share(own, *level) <= most);
            attributes.iter().map(|own| finest(own).unwrap_or(own.highest)).collect()
        };
        // Where the chain passes from: at some place of these, the last of which is the coarsest string.
        let (mut from, mut to) = (0, shares.len());
        while from < to {
            let middle = from.midpoint(to);
            match self.pass(&string(shares[middle])) {
                true => to = middle,
                false => from = middle + 1,
            }
        }
    }
}

/// The share of its detail that an attribute keeps at a level.
fn share(own: &Attribute, level: u8) -> f64 {
    let detail = |level: u8| f64::from(own.count(level)).ln();
    if own.count(own.lowest) > 1 { detail(level) / detail(own.lowest) } else { 0.0 }
}

/// The best of the strings that passed; a search that must not look further.
fn best_of(lattice: &Lattice<'_>, measure: &Measure<'_>, known: &Known) -> Result<Found> {
    let limits = Limits { tests: Some(0), cache: 1, ..Limits::default() };
    Search::new(lattice, measure, limits, known.clone(), &Unwatched).run_given()
}
