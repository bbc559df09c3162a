//! From one way in which records fit classes to one drawn by lot: records with equal sensitive values change places again and
//! again, where both classes cover both and no more ends of ranges are out of reach than before.

use rand::{Rng, RngExt};

use super::Kinds;
use super::boxes::ClassBox;
use super::fit::Fitted;
use crate::error::Result;
use crate::problem::Problem;
use crate::watch::Watch;

/// Changes that are tried, for each record.
const TRIES: usize = 50;

pub(super) fn mix(
    problem: &Problem,
    boxes: &[ClassBox],
    kinds: &Kinds,
    fitted: Fitted,
    random: &mut impl Rng,
    watch: &dyn Watch,
) -> Result<Vec<Vec<u32>>> {
    let mut members = vec![Vec::new(); fitted.classes];
    for (record, class) in (0..).zip(&fitted.class_of) {
        class.iter().for_each(|class| members[*class as usize].push(record));
    }
    let mut mixing = Mixing { problem, boxes, kinds, class_of: fitted.class_of, members };
    for _ in 0..TRIES {
        watch.check()?;
        for (record, candidates) in (0..).zip(&fitted.candidates) {
            if candidates.len() > 1 {
                let class = candidates[random.random_range(0..candidates.len())];
                mixing.try_change(record, class, random);
            }
        }
    }
    Ok(mixing.members)
}

struct Mixing<'a> {
    problem: &'a Problem,
    boxes: &'a [ClassBox],
    kinds: &'a Kinds,
    class_of: Vec<Option<u32>>,
    members: Vec<Vec<u32>>,
}

impl Mixing<'_> {
    /// Lets a record change places with one of another class, or with one that is in none, if both fit.
    fn try_change(&mut self, record: u32, to: u32, random: &mut impl Rng) {
        let Some(from) = self.class_of[record as usize].filter(|from| *from != to) else { return };
        let kind = |record: u32| self.kinds.of_record[record as usize];
        let fits = |other: &u32| {
            kind(*other) == kind(record) && self.boxes[from as usize].covers(self.problem, *other)
        };
        let others: Vec<u32> = self.members[to as usize].iter().copied().filter(fits).collect();
        if others.is_empty() {
            return;
        }
        let other = others[random.random_range(0..others.len())];
        let before = self.out_of_reach(from) + self.out_of_reach(to);
        self.change((record, from), (other, to));
        if self.out_of_reach(from) + self.out_of_reach(to) > before {
            self.change((record, to), (other, from));
        }
    }

    fn out_of_reach(&self, class: u32) -> usize {
        self.boxes[class as usize].ends_not_reached(self.problem, &self.members[class as usize])
    }

    fn change(&mut self, one: (u32, u32), other: (u32, u32)) {
        for ((leaves, class), comes) in [(one, other.0), (other, one.0)] {
            let members = &mut self.members[class as usize];
            if let Some(place) = members.iter_mut().find(|member| **member == leaves) {
                *place = comes;
            }
            self.class_of[comes as usize] = Some(class);
        }
    }
}
