//! A problem: all that a method may look at. Data, and what a release of it must meet.

use std::ops::{Deref, DerefMut};

pub use crate::data::{
    Attribute, Code, Column, Data, Joined, LANES, Lanes, Matrix, People, Protected, Records,
};
use crate::loss::Limits;
use crate::privacy::{Judge, KAnonymity, Privacy, Requirement};
use crate::rules::Rules;

/// Data with a requirement. Whatever can be asked of [`Data`] can be asked of a problem.
#[derive(Clone, Debug)]
pub struct Problem {
    /// Its records.
    pub data: Data,
    /// What must hold for every class of the release.
    pub requirement: Requirement,
    /// What no class of the release may exceed.
    pub limits: Limits,
    /// What should stay apart, and what must.
    pub rules: Rules,
    /// How many records may be suppressed.
    pub suppressible: usize,
}

impl Deref for Problem {
    type Target = Data;

    fn deref(&self) -> &Data {
        &self.data
    }
}

impl DerefMut for Problem {
    fn deref_mut(&mut self) -> &mut Data {
        &mut self.data
    }
}

impl Problem {
    /// Asks for something else.
    pub fn require(&mut self, privacy: &Privacy) {
        self.requirement = Requirement::new(privacy, &self.data.sensitive)
            .with_demands(self.data.demands.as_deref())
            .counting(self.data.people.as_ref());
    }

    /// The same records without their sensitive values, to be put into classes of so many: for methods that must not look
    /// at values while they group.
    pub fn by_size(&self, k: usize) -> Self {
        let mut own = self.clone();
        own.requirement = Requirement::from_models(vec![Box::new(KAnonymity { k })]);
        own.data.sensitive.clear();
        own.data.demands = None;
        own.data.people = None;
        own.suppressible = 0;
        own
    }

    /// The same problem with some of its records only; domains and requirement stay as they are. None of them may be
    /// suppressed.
    pub fn of_records(&self, records: &[u32]) -> Self {
        Problem {
            data: self.data.of_records(records),
            requirement: self.requirement.clone(),
            limits: self.limits.clone(),
            rules: self.rules.clone(),
            suppressible: 0,
        }
    }
}

impl<'a> Judge<'a> {
    /// The judge of a problem's classes.
    pub fn new(problem: &'a Problem) -> Self {
        Self::of(&problem.requirement, &problem.data.sensitive, problem.data.demands.as_ref())
            .counting(problem.data.people.as_ref())
    }

    /// The judge of what a problem asks of classes beyond their size, for methods that see to sizes otherwise; `None`
    /// if it asks nothing more.
    pub fn beyond_size(problem: &'a Problem) -> Option<Self> {
        let data = &problem.data;
        Self::of_more_than_size(&problem.requirement, &data.sensitive, data.demands.as_ref())
            .map(|judge| judge.counting(data.people.as_ref()))
    }
}
