//! Halving the levels of all attributes at once.
//!
//! Every attribute has a finest and a coarsest level still open, and the string of all middles is tested. If it passes,
//! every attribute moves to its finer half, otherwise to its coarser one; when nothing moves any more, the best string
//! that passed is the answer. That takes about log2 of the tallest hierarchy tests, and may find nothing.

use super::goal::Measure;
use super::lattice::{Lattice, Levels};
use super::search::{Found, Known, Limits, Search};
use crate::error::Result;
use crate::watch::Unwatched;

/// Searches, and tells what its tests say of other strings.
pub fn search(lattice: &Lattice<'_>, measure: &Measure<'_>) -> Result<(Found, Known)> {
    let mut known = Known::default();
    let mut low: Levels = lattice.attributes.iter().map(|own| own.lowest).collect();
    let mut high = lattice.highest();
    let mut tests = 0;
    let mut before = None;
    loop {
        let middle: Levels = low.iter().zip(&high).map(|(low, high)| low + (high - low) / 2).collect();
        if before.as_ref() == Some(&middle) {
            break;
        }
        tests += 1;
        let verdict = lattice.verdict(&lattice.groups(&middle));
        if verdict.valid {
            known.strings.push(middle.clone());
            known.passed(middle.clone());
            high.clone_from(&middle);
        } else {
            if !verdict.possible {
                known.failed(middle.clone());
            }
            low.clone_from(&middle);
        }
        before = Some(middle);
    }
    let mut found = best_of(lattice, measure, &known)?;
    found.tests = tests;
    Ok((found, known))
}

/// The best of the strings that passed; a search that must not look further.
fn best_of(lattice: &Lattice<'_>, measure: &Measure<'_>, known: &Known) -> Result<Found> {
    let limits = Limits { tests: Some(0), cache: 1, ..Limits::default() };
    Search::new(lattice, measure, limits, known.clone(), &Unwatched).run_given()
}
