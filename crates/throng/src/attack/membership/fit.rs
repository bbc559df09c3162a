//! One way in which records fit classes: a matching of records and rows with the same sensitive values.

use std::collections::VecDeque;

use super::Kinds;
use super::boxes::ClassBox;
use crate::classes::Classes;
use crate::collections::Arrange;
use crate::error::{Error, ErrorCode, Result};
use crate::parallel;
use crate::problem::Problem;
use crate::watch::Watch;

/// Cells that are looked at, at most: some ten seconds.
const MOST_LOOKS: u64 = 20_000_000_000;

/// Records in classes.
pub(super) struct Fitted {
    /// The classes that each record may be in, narrow ones first.
    pub candidates: Vec<Vec<u32>>,
    /// The class of each record.
    pub class_of: Vec<Option<u32>>,
    pub classes: usize,
}

impl Fitted {
    /// Share of so many published records that may be in one class only.
    pub fn certain(&self, published: usize) -> f64 {
        self.candidates.iter().filter(|own| own.len() == 1).count() as f64 / published.max(1) as f64
    }
}

/// Fits records to classes; `None` if some row is left.
pub(super) fn fit(
    problem: &Problem,
    classes: &Classes,
    boxes: &[ClassBox],
    kinds: &Kinds,
    watch: &dyn Watch,
) -> Result<Option<Fitted>> {
    let looks = problem.len() as u64 * boxes.len() as u64 * problem.attributes.len().max(1) as u64;
    if looks > MOST_LOOKS {
        return Err(Error::new(ErrorCode::TableTooLarge, "the table is too large to find out who is in which class").with_hint(
            "attack a release whose rows are in the order of the table (anonymize --keep-order) or one by permutation",
        ));
    }
    // Room that each class has for each kind of record.
    let mut room = vec![vec![0u32; kinds.count]; classes.len()];
    for (class, room) in room.iter_mut().enumerate() {
        classes.rows(class).iter().for_each(|row| room[kinds.of_row[*row as usize] as usize] += 1);
    }
    let candidates = |record: u32| {
        watch.check()?;
        let kind = kinds.of_record[record as usize] as usize;
        let fits =
            |class: &u32| room[*class as usize][kind] > 0 && boxes[*class as usize].covers(problem, record);
        Ok((0..boxes.len() as u32).filter(fits).collect())
    };
    let candidates: Vec<Vec<u32>> = parallel::try_map(0..problem.len() as u32, candidates)?;
    let mut matching = Matching {
        members: vec![Vec::new(); classes.len()],
        class_of: vec![None; problem.len()],
        kind_of: &kinds.of_record,
        candidates: &candidates,
        room,
    };
    // Those with the fewest choices choose first.
    let mut order: Vec<u32> = (0..problem.len() as u32).collect();
    order.arrange_by_key(|record| (candidates[*record as usize].len(), *record));
    for record in order {
        watch.check()?;
        matching.place(record);
    }
    let full = matching.room.iter().flatten().all(|room| *room == 0);
    let class_of = matching.class_of;
    Ok(full.then_some(Fitted { candidates, class_of, classes: classes.len() }))
}

/// Records in classes, under way.
struct Matching<'a> {
    members: Vec<Vec<u32>>,
    class_of: Vec<Option<u32>>,
    kind_of: &'a [u32],
    candidates: &'a [Vec<u32>],
    room: Vec<Vec<u32>>,
}

impl Matching<'_> {
    /// Finds a class for a record; others of its kind may have to move on. If none can, it stays out.
    fn place(&mut self, record: u32) {
        let kind = self.kind_of[record as usize];
        // For each class that was reached, the record that would move there.
        let mut comes: Vec<Option<u32>> = vec![None; self.room.len()];
        let mut waiting = VecDeque::from([record]);
        while let Some(mover) = waiting.pop_front() {
            for &class in &self.candidates[mover as usize] {
                if comes[class as usize].is_some() {
                    continue;
                }
                comes[class as usize] = Some(mover);
                if self.room[class as usize][kind as usize] > 0 {
                    self.room[class as usize][kind as usize] -= 1;
                    return self.move_along(class, &comes);
                }
                let own = self.members[class as usize].iter().copied();
                waiting.extend(own.filter(|member| self.kind_of[*member as usize] == kind));
            }
        }
    }

    /// Moves the record that comes to a class there, the one that comes to where it was, and so on.
    fn move_along(&mut self, free: u32, comes: &[Option<u32>]) {
        let mut free = Some(free);
        while let Some(class) = free
            && let Some(mover) = comes[class as usize]
        {
            free = self.class_of[mover as usize].replace(class);
            self.members[class as usize].push(mover);
            if let Some(left) = free {
                self.members[left as usize].retain(|member| *member != mover);
            }
        }
    }
}
