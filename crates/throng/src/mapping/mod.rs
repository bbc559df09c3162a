//! Mappings: from records with many attributes to places on a line, so that near records lie together.
//!
//! Ghinita et al. 2009, section 6. What a method does along the line does not depend on how records got there; to add
//! a mapping: a file here with a [`Mapping`], and one line in [`MAPPINGS`].

mod hilbert;
mod idistance;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

pub use hilbert::HILBERT;
pub use idistance::{IDISTANCE, along_points, points_for};

use crate::curve::Keys;
use crate::data::Data;
use crate::error::Result;
use crate::watch::Watch;

/// All mappings.
pub const MAPPINGS: &[Mapping] = &[HILBERT, IDISTANCE];

/// What the registry knows of a mapping.
#[derive(Clone, Copy, Debug)]
pub struct Mapping {
    /// Its name.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub summary: &'static str,
    /// Puts the records of a problem on a line. The outcome does not depend on the requirement.
    pub map: fn(&Data, &dyn Watch) -> Result<Line>,
}

/// Records on a line.
#[derive(Clone, Debug)]
pub struct Line {
    order: Vec<u32>,
    places: Places,
}

/// Where the records of a line lie, in its order.
#[derive(Clone, Debug)]
enum Places {
    Keys(Keys),
    Numbers(Vec<f64>),
}

impl Line {
    /// The records from one end to the other; those at one place keep input order.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Where the records lie, if that is told by whole numbers of one word.
    pub fn keys(&self) -> Option<&[u64]> {
        match &self.places {
            Places::Keys(keys) => keys.single_words(),
            Places::Numbers(_) => None,
        }
    }

    /// How far the record at place `to` of the order lies after the one at place `from`, which is not after it.
    #[inline]
    pub fn distance(&self, from: usize, to: usize) -> f64 {
        match &self.places {
            Places::Keys(keys) => keys.distance(from, to),
            Places::Numbers(numbers) => numbers[to] - numbers[from],
        }
    }
}

impl Line {
    /// How far runs reach that end before place `end`: the run of `shortest` records first, then each with one more.
    pub fn reaches(&self, end: usize, shortest: usize, reaches: &mut [f64]) {
        match &self.places {
            Places::Keys(keys) => keys.reaches(end, shortest, reaches),
            Places::Numbers(numbers) => {
                let last = numbers[end - 1];
                let starts = numbers[..end + 1 - shortest].iter().rev();
                reaches.iter_mut().zip(starts).for_each(|(reach, start)| *reach = last - start);
            }
        }
    }
}

impl Data {
    /// The records along a line, found when first asked for.
    pub fn line(&self, mapping: &Mapping, watch: &dyn Watch) -> Result<Arc<Line>> {
        // Others may have any name; only those here are known by it.
        if MAPPINGS.iter().all(|entry| entry.name != mapping.name) {
            return (mapping.map)(self, watch).map(Arc::new);
        }
        self.cache.get(mapping.name, || (mapping.map)(self, watch))
    }

    /// The records along a line of so many reference points, found when first asked for.
    pub fn line_of_points(&self, points: usize, watch: &dyn Watch) -> Result<Arc<Line>> {
        let found = self.cache.get("lines of points", || Ok(Mutex::new(BTreeMap::new())))?;
        let known = |found: &Mutex<BTreeMap<usize, Arc<Line>>>| {
            found.lock().unwrap_or_else(PoisonError::into_inner).get(&points).cloned()
        };
        if let Some(line) = known(&found) {
            return Ok(line);
        }
        let line = Arc::new(along_points(self, points, watch)?);
        found.lock().unwrap_or_else(PoisonError::into_inner).insert(points, Arc::clone(&line));
        Ok(line)
    }
}
