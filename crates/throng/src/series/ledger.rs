//! What a series has published so far: its releases, its classes, and in which class each person is.
//!
//! A class is published again word for word or never again, and nobody is ever in a second one; the ledger is what makes
//! that possible. It holds no cell of anybody: rows come from the last release. Classes are never removed and their
//! names never used again. All changes are functions here, so that what follows from a table and a ledger can be looked at
//! before anything is written.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::key::Tag;
use super::terms::Terms;

/// The ledger of a series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    /// The name of the series: random, so that two are never taken for one.
    pub series: String,
    /// What the policy must keep to.
    pub terms: Terms,
    /// The releases, first to last.
    pub releases: Vec<Published>,
    /// The classes, in the order in which they were first published.
    pub classes: Vec<Class>,
    /// The class of each person, as a place in `classes`, and the person's row in the last release where that is kept.
    pub people: BTreeMap<Tag, Place>,
}

/// A release that was published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Published {
    /// BLAKE3 hash of the file.
    pub hash: String,
    /// Its rows.
    pub rows: u64,
}

/// A class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Class {
    /// Its name in the column `class`.
    pub name: String,
    /// The first release that has it, from 1 on.
    pub since: u32,
    /// Its rows.
    pub size: u32,
    /// The loss of each row, 0 … 1, as measured when it was first published.
    pub loss: f64,
    /// Whether it is still published.
    pub state: State,
    /// Members whose tags were deleted.
    #[serde(default)]
    pub erased: u32,
}

/// Whether a class is still published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It is.
    Published,
    /// All of its people had left by this release: the first that does not have it.
    Ended(u32),
    /// A member was erased with this release: the first that does not have it.
    Withdrawn(u32),
}

/// Where a person is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The class, as a place in [`Ledger::classes`].
    pub class: u32,
    /// The row of the last release that is hers, where the ledger keeps it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<u32>,
}

/// A class that is about to be published for the first time.
#[derive(Clone, Debug, PartialEq)]
pub struct NewClass {
    /// The loss of each row.
    pub loss: f64,
    /// Its people.
    pub people: Vec<Tag>,
}

impl Ledger {
    /// An empty one.
    pub fn new(series: String, terms: Terms) -> Self {
        Ledger { series, terms, releases: Vec::new(), classes: Vec::new(), people: BTreeMap::new() }
    }

    /// The number of the release that comes next.
    pub fn next(&self) -> u32 {
        self.releases.len() as u32 + 1
    }

    /// Takes the last release back, which nobody ever got: its classes are no more, its people are new again, and what ended
    /// with it goes on. What was erased stays erased, and its class withdrawn.
    pub fn take_back(&mut self) {
        let Some(number) = self.releases.len().checked_sub(1).map(|before| before as u32 + 1) else { return };
        self.releases.pop();
        // Stayers of a divided class go back to it; that is where its name begins.
        let parent_of: Vec<Option<u32>> = self.classes.iter().map(|class| self.parent(class)).collect();
        for place in self.people.values_mut() {
            if self.classes[place.class as usize].since == number
                && let Some(parent) = parent_of[place.class as usize]
            {
                place.class = parent;
            }
            place.row = None;
        }
        self.people.retain(|_, place| self.classes[place.class as usize].since != number);
        self.classes.retain(|class| class.since != number);
        for class in &mut self.classes {
            if class.state == State::Ended(number) {
                class.state = State::Published;
            }
        }
    }

    /// The class that somebody was in at a release, given the one of today: what a class was divided from.
    pub fn class_at(&self, class: u32, release: u32) -> Option<u32> {
        let mut at = class;
        while self.classes[at as usize].since > release {
            at = self.parent(&self.classes[at as usize])?;
        }
        Some(at)
    }

    /// The release with which the people of a class came.
    pub fn entered(&self, class: u32) -> u32 {
        let mut at = class;
        while let Some(parent) = self.parent(&self.classes[at as usize]) {
            at = parent;
        }
        self.classes[at as usize].since
    }

    fn parent(&self, class: &Class) -> Option<u32> {
        let (parent, _) = class.name.rsplit_once('.')?;
        // Names are numbers in the order of the classes, those of divided ones between.
        self.classes.iter().position(|own| own.name == parent).map(|at| at as u32)
    }

    /// Deletes a person: her whole class is withdrawn for ever, because without her row it would tell which one was hers.
    /// Tells whether she was there.
    pub fn erase(&mut self, person: &Tag) -> bool {
        let number = self.next();
        let Some(place) = self.people.remove(person) else { return false };
        let class = &mut self.classes[place.class as usize];
        class.erased += 1;
        if class.state == State::Published {
            class.state = State::Withdrawn(number);
        }
        true
    }

    /// For each class how many of some people are in it.
    pub fn present<'t>(&self, people: impl IntoIterator<Item = &'t Tag>) -> Vec<u32> {
        let mut present = vec![0; self.classes.len()];
        people
            .into_iter()
            .filter_map(|tag| self.people.get(tag))
            .for_each(|at| present[at.class as usize] += 1);
        present
    }

    /// Ends the classes of which nobody is present any more.
    pub fn end_empty(&mut self, present: &[u32]) {
        let number = self.next();
        for (class, present) in self.classes.iter_mut().zip(present) {
            if class.state == State::Published && *present == 0 {
                class.state = State::Ended(number);
            }
        }
    }

    /// Divides a class: those who left end as a whole, those who stayed are a class of their own from now on. Gives its
    /// place.
    pub fn divide(&mut self, class: u32, stayers: &[Tag]) -> u32 {
        let (number, place) = (self.next(), self.classes.len() as u32);
        let old = &mut self.classes[class as usize];
        old.state = State::Ended(number);
        let (name, loss) = (format!("{}.1", old.name), old.loss);
        let size = stayers.len() as u32;
        self.classes.push(Class { name, since: number, size, loss, state: State::Published, erased: 0 });
        for tag in stayers {
            if let Some(own) = self.people.get_mut(tag) {
                own.class = place;
            }
        }
        place
    }

    /// Adds classes of people who were never published. Gives the place of the first.
    pub fn add(&mut self, classes: &[NewClass]) -> u32 {
        let (number, first) = (self.next(), self.classes.len() as u32);
        // Names go on from the last one; divided classes have their parent's with more behind it.
        let named = self.classes.iter().filter(|class| !class.name.contains('.')).count();
        for (at, class) in classes.iter().enumerate() {
            let (name, place) = ((named + at + 1).to_string(), self.classes.len() as u32);
            let (size, loss) = (class.people.len() as u32, class.loss);
            self.classes.push(Class { name, since: number, size, loss, state: State::Published, erased: 0 });
            for tag in &class.people {
                self.people.insert(*tag, Place { class: place, row: None });
            }
        }
        first
    }

    /// The classes that are published, with their places.
    pub fn published(&self) -> impl Iterator<Item = (u32, &Class)> {
        (0..).zip(&self.classes).filter(|(_, class)| class.state == State::Published)
    }

    /// Whether a class is in a release.
    pub fn holds(class: &Class, release: u32) -> bool {
        let until = match class.state {
            State::Published => u32::MAX,
            State::Ended(until) | State::Withdrawn(until) => until,
        };
        (class.since..until).contains(&release)
    }

    /// How many people of a class, or of what became of it, were erased since: nobody knows who they were any more.
    pub fn erased_of(&self, class: &Class) -> u32 {
        let of_it = |own: &&Class| {
            own.name
                .strip_prefix(class.name.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.classes.iter().filter(of_it).map(|own| own.erased).sum()
    }

    /// What in it contradicts itself, if anything does: every class has as many people as rows, and everybody a class.
    pub fn contradiction(&self) -> Option<String> {
        let mut people = vec![0u32; self.classes.len()];
        for place in self.people.values() {
            *people.get_mut(place.class as usize)? += 1;
        }
        // Those who stayed of a divided class are counted in their new one.
        let divided = |name: &str| self.classes.iter().any(|own| own.name.strip_suffix(".1") == Some(name));
        let wrong = |(class, people): &(&Class, u32)| {
            class.size != people + class.erased
                && !(matches!(class.state, State::Ended(_)) && divided(&class.name))
        };
        let found = self.classes.iter().zip(people).find(wrong);
        found.map(|(class, people)| {
            format!(
                "class {} has {} rows, but the ledger knows {people} people of it",
                class.name, class.size
            )
        })
    }
}
