//! Columns beside the quasi-identifiers that queries may ask about: sensitive, class and passed-through ones.
//!
//! A row of a release has a value of its own there, or, where the release is one by permutation, any of the values of its group,
//! each as likely as it is frequent in the group: nobody can tell more (Xiao and Tao 2006; so do the queries of Ghinita et al. 2009
//! estimate `WHERE SA = v`).

use std::borrow::Cow;

use super::Condition;
use crate::data::{Data, Protected};
use crate::table::{Domain, Scale};

/// A column that queries may ask about.
#[derive(Clone, Debug)]
pub struct Column<'a> {
    /// Its name.
    pub name: Cow<'a, str>,
    /// Its values.
    pub domain: Cow<'a, Domain>,
    /// The value of each record.
    pub of_record: Cow<'a, [u32]>,
    /// What the release tells of it.
    pub told: Told<'a>,
}

/// What a release tells of the values of a column.
#[derive(Clone, Debug)]
pub enum Told<'a> {
    /// Nothing yet: queries are only read and answered from the table.
    Nothing,
    /// The value of each row.
    Rows(Cow<'a, [u32]>),
    /// The group of each row, and how often each value occurs in each group.
    Groups(Vec<u32>, Vec<Vec<(u32, u64)>>),
}

impl<'a> Column<'a> {
    /// A sensitive or class attribute.
    pub fn of(own: &'a Protected, told: Told<'a>) -> Self {
        Column {
            name: Cow::Borrowed(&own.name),
            domain: Cow::Borrowed(&own.domain),
            of_record: Cow::Borrowed(&own.codes),
            told,
        }
    }

    /// The sensitive and class attributes of some data, of which no release tells anything yet.
    pub fn all_of(data: &'a Data) -> Vec<Self> {
        data.sensitive.iter().chain(&data.labels).map(|own| Column::of(own, Told::Nothing)).collect()
    }

    /// Whether it holds numbers.
    pub fn is_numeric(&self) -> bool {
        matches!(self.domain.scale(), Scale::Numeric { .. })
    }

    /// The number of a code, if it has one.
    pub(super) fn number(&self, code: u32) -> Option<f64> {
        match self.domain.scale() {
            Scale::Numeric { values, .. } => values.get(code as usize).copied(),
            Scale::Categorical(_) => None,
        }
    }

    /// For each code whether it meets a condition; any does where there is none.
    pub(super) fn meets(&self, condition: Option<&Condition>) -> Vec<bool> {
        condition.map_or_else(|| vec![true; self.domain.len()], |condition| condition.codes(&self.domain))
    }

    /// What each row counts if code `c` counts `weight(c)`: that of its own value, or the mean over its group.
    pub(super) fn over_rows(&self, rows: usize, weight: impl Fn(u32) -> f64) -> Vec<f64> {
        let of_code: Vec<f64> = (0..self.domain.len() as u32).map(weight).collect();
        match &self.told {
            Told::Nothing => vec![0.0; rows],
            Told::Rows(codes) => codes.iter().map(|code| of_code[*code as usize]).collect(),
            Told::Groups(group_of_row, of_group) => {
                let mean = |values: &Vec<(u32, u64)>| {
                    let all: f64 = values.iter().map(|(_, count)| *count as f64).sum();
                    let sum: f64 =
                        values.iter().map(|(code, count)| of_code[*code as usize] * *count as f64).sum();
                    if all > 0.0 { sum / all } else { 0.0 }
                };
                let means: Vec<f64> = of_group.iter().map(mean).collect();
                group_of_row.iter().map(|group| means[*group as usize]).collect()
            }
        }
    }
}
