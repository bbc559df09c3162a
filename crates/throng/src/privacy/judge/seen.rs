//! Whether there are so many different people, without looking further than that takes.

use crate::collections::Map;

/// As many are looked through one by one; more are hashed.
const FEW: usize = 24;

/// The people seen so far.
pub(super) struct Seen {
    enough: usize,
    few: Vec<u32>,
    many: Map<u32, ()>,
}

impl Seen {
    /// Nobody yet; so many are enough.
    pub fn new(enough: usize) -> Self {
        Seen { enough, few: Vec::new(), many: Map::default() }
    }

    /// Notes a person; tells whether enough were seen.
    pub fn add(&mut self, person: u32) -> bool {
        if self.enough > FEW {
            self.many.insert(person, ());
            return self.many.len() >= self.enough;
        }
        if !self.few.contains(&person) {
            self.few.push(person);
        }
        self.few.len() >= self.enough
    }
}
