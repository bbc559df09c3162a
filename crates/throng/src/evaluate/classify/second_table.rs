//! Records of a second table, masked with what was learned from the first.
//!
//! As in Fung et al. 2007, where future records are masked with the recoding of those that a classifier learned from.
//! The recoding is a [`Recipe`], and the second table is masked as `throng apply` masks it: a value that the recipe
//! does not cover becomes `*`.

use std::path::Path;

use super::features::{Data, Feature, Values, column_values, columns, own_values, ranges};
use super::{Material, Split, Study, class_labels, no_masks};
use crate::error::{Error, ErrorCode, Result};
use crate::policy::Policy;
use crate::problem::Problem;
use crate::recipe::{Finder, Ingredient, Mask, Recipe, take_unknown_values_in};
use crate::table::{Map, Scale, Storage, Table};
use crate::watch::Watch;

/// What to learn from and to classify: all records of the table, and those of the one at `path`.
pub(super) fn material(study: &Study<'_>, table: &Table, path: &Path, watch: &dyn Watch) -> Result<Material> {
    let or = "put both tables into one and tell with `train` how many records to learn from";
    if study.records.is_none() {
        return Err(Error::new(
            ErrorCode::NoMasks,
            "nobody can tell the masks of a release that was made elsewhere",
        )
        .with_hint(
            "leave out --release, so that masks are learned from the table and applied to the test table",
        ));
    }
    let problem = study.problem;
    let raw = Data::of_table(problem, study.policy, table)?;
    let solution = study.solver.solve(problem, watch)?;
    let parts = solution.recoding.masks().filter(|_| solution.masks().is_some());
    let recipe = Recipe::new(problem, study.policy, parts.ok_or_else(|| no_masks(study, or))?);
    let (other_table, other) = read(study, table, path, &recipe, watch)?;
    let both = Both { first: (table, problem), second: (&other_table, &other), policy: study.policy };
    let (labels, of_second) = both.classes()?;
    let mut of_both = raw;
    of_both.labels.extend(of_second);
    of_both.classes = labels.len();
    for feature in &mut of_both.features {
        feature.values = both.values(feature)?;
    }
    let mut masked = of_both.clone();
    for feature in masked.features.iter_mut().filter(|feature| feature.quasi) {
        feature.values = both.masked(feature, &recipe)?;
    }
    let split = || Split {
        train: (0..problem.len() as u32).collect(),
        test: (problem.len() as u32..(problem.len() + other.len()) as u32).collect(),
    };
    Ok(Material {
        raw: of_both,
        splits: vec![split()],
        release: vec![(masked, vec![split()])],
        labels,
        split: both.words(path),
    })
}

/// Reads the second table under what the recipe says of attributes, so that its kinds are those of the first.
fn read(
    study: &Study<'_>,
    table: &Table,
    path: &Path,
    recipe: &Recipe,
    watch: &dyn Watch,
) -> Result<(Table, Problem)> {
    let needed: Vec<&String> = columns(study.problem, study.policy, table).map(|(_, name)| name).collect();
    let class = &study.problem.labels[0].name;
    let plan =
        |names: &[String]| match needed.iter().copied().chain([class]).find(|name| !names.contains(name)) {
            None => Ok(vec![Storage::Coded; names.len()]),
            Some(name) => {
                Err(Error::new(ErrorCode::UnknownColumn, format!("the test table has no column \"{name}\""))
                    .for_attribute(name)
                    .with_hint("it must have all columns of the table that are learned from, and the class"))
            }
        };
    let other = Table::read(path, &study.policy.reading(&plan, watch))?;
    let mut policy = recipe.policy_for(other.names())?;
    take_unknown_values_in(&mut policy, &other)?;
    let problem = Problem::new(&other, &policy)?;
    match problem.is_empty() {
        false => Ok((other, problem)),
        true => {
            Err(Error::new(ErrorCode::EmptyTable, "the test table has no records to classify").in_file(path))
        }
    }
}

/// Two tables with the same columns.
struct Both<'a> {
    first: (&'a Table, &'a Problem),
    second: (&'a Table, &'a Problem),
    policy: &'a Policy,
}

impl Both<'_> {
    /// The classes of both, those of the first in their order, and the class of each record of the second.
    fn classes(&self) -> Result<(Vec<String>, Vec<u32>)> {
        let mut labels = class_labels(self.first.1);
        let second =
            self.second.1.labels.first().ok_or_else(|| Error::bug("a test table without a class"))?;
        let numbers = continued(&mut labels, &class_labels(self.second.1));
        Ok((labels, second.codes.iter().map(|code| numbers[*code as usize]).collect()))
    }

    /// The values of an attribute in both tables as they are.
    fn values(&self, feature: &Feature) -> Result<Values> {
        let [one, other] = [self.first, self.second].map(|(table, problem)| {
            let place = problem.attributes.iter().position(|own| own.name == feature.name);
            (table, problem, place)
        });
        if let (Some(at), Some(other_at)) = (one.2, other.2) {
            return match (own_values(one.1, at), own_values(other.1, other_at)) {
                (Values::Ranges { ends, .. }, Values::Ranges { ends: more, .. }) => {
                    Ok(ranges(ends.into_iter().chain(more).collect()))
                }
                _ => {
                    let labels = |problem: &Problem, at: usize| -> Vec<String> {
                        let domain = &problem.attributes[at].domain;
                        (0..domain.len() as u32).map(|code| domain.label(code).to_owned()).collect()
                    };
                    let mut all = labels(one.1, at);
                    let numbers = continued(&mut all, &labels(other.1, other_at));
                    let first = codes(one.1, at);
                    let second = codes(other.1, other_at).map(|code| numbers[code as usize]);
                    Ok(Values::Categories { of: first.chain(second).collect(), count: all.len() })
                }
            };
        }
        let column = |table: &Table| table.names().iter().position(|name| *name == feature.name);
        let (Some(at), Some(other_at)) = (column(one.0), column(other.0)) else {
            return Err(Error::bug(format!("the column \"{}\" of one table only", feature.name)));
        };
        let rows = |problem: &Problem| -> Vec<usize> {
            (0..problem.len() as u32).map(|record| problem.row(record)).collect()
        };
        Ok(column_values(&[(one.0, at, &rows(one.1)), (other.0, other_at, &rows(other.1))], self.policy))
    }

    /// The cells of a quasi-identifier in both tables.
    fn masked(&self, feature: &Feature, recipe: &Recipe) -> Result<Values> {
        let own = recipe.attributes.get(&feature.name);
        let cells = own.map_or(&[][..], |own| &own.cells);
        let spelling = own.map(Ingredient::spelling).transpose()?.flatten();
        let finder = Finder::new(cells, spelling.as_ref())?;
        let found = [self.first.1, self.second.1].map(|problem| {
            let at = problem.attributes.iter().position(|own| own.name == feature.name)?;
            let of_code = finder.cells_of(&problem.attributes[at]);
            Some(
                of_code
                    .map(|of_code| codes(problem, at).map(|code| of_code[code as usize]).collect::<Vec<_>>()),
            )
        });
        let found: Vec<Vec<Option<u32>>> = found.into_iter().flatten().collect::<Result<_>>()?;
        let of_both = found.concat();
        match &feature.values {
            // Numbers that are all disclosed can be cut; what is hidden may be any of them.
            Values::Ranges { ends, .. } if !cells.is_empty() && cells.iter().all(Mask::is_single) => {
                let learned = &ends[..self.first.1.len()];
                let low = learned.iter().map(|own| own.0).fold(f64::INFINITY, f64::min);
                let high = learned.iter().map(|own| own.1).fold(f64::NEG_INFINITY, f64::max);
                let shown = |(cell, own): (&Option<u32>, &(f64, f64))| match (cell, finder.shown(own.0)) {
                    (Some(_), Some(shown)) if own.0 == own.1 => shown,
                    (Some(_), _) => *own,
                    (None, _) => (low, high),
                };
                Ok(ranges(of_both.iter().zip(ends).map(shown).collect()))
            }
            _ => {
                let hidden = cells.len() as u32;
                let of: Vec<u32> = of_both.into_iter().map(|cell| cell.unwrap_or(hidden)).collect();
                let count = cells.len() + usize::from(of.contains(&hidden));
                Ok(Values::Categories { of, count })
            }
        }
    }

    /// What is learned from and what is classified.
    fn words(&self, path: &Path) -> String {
        let mut words = format!(
            "learned from the table, the {} records of {} are classified",
            self.second.1.len(),
            path.display()
        );
        let unseen = self.unseen();
        if unseen > 0 {
            words += &format!(
                "; {unseen} of them have a quasi-identifier with a value that the table does not have, and are masked as \
                 `throng apply` masks them"
            );
        }
        words
    }

    /// The records of the second table with a value of a quasi-identifier that the first does not have.
    fn unseen(&self) -> usize {
        let mut unseen = vec![false; self.second.1.len()];
        for (at, attribute) in self.second.1.attributes.iter().enumerate() {
            let own = self.first.1.attributes.iter().position(|own| own.name == attribute.name);
            let Some(own) = own else { continue };
            let (known, domain) = (&self.first.1.attributes[own].domain, &attribute.domain);
            let mut occurs = vec![false; known.len()];
            codes(self.first.1, own).for_each(|code| occurs[code as usize] = true);
            let occurring = (0..known.len() as u32).filter(|code| occurs[*code as usize]);
            let labels: Map<&str, ()> = occurring.clone().map(|code| (known.label(code), ())).collect();
            let numbers: Vec<f64> = match known.scale() {
                Scale::Numeric { values, .. } => {
                    occurring.filter_map(|code| values.get(code as usize).copied()).collect()
                }
                Scale::Categorical(_) => Vec::new(),
            };
            let seen = |code: u32| match domain.scale() {
                Scale::Numeric { values, .. } => match values.get(code as usize) {
                    Some(value) => numbers.binary_search_by(|own| own.total_cmp(value)).is_ok(),
                    None => known.missing().is_some(),
                },
                Scale::Categorical(_) => labels.contains_key(domain.label(code)),
            };
            let seen: Vec<bool> = (0..domain.len() as u32).map(seen).collect();
            for (unseen, code) in unseen.iter_mut().zip(codes(self.second.1, at)) {
                *unseen |= !seen[code as usize];
            }
        }
        unseen.into_iter().filter(|unseen| *unseen).count()
    }
}

fn codes(problem: &Problem, at: usize) -> impl Iterator<Item = u32> {
    (0..problem.len()).map(move |record| problem.records.code(record, at))
}

/// Numbers more texts after some, those that are there already with their own number.
fn continued(texts: &mut Vec<String>, more: &[String]) -> Vec<u32> {
    let mut known: Map<String, u32> = texts.iter().cloned().zip(0..).collect();
    more.iter()
        .map(|text| {
            *known.entry(text.clone()).or_insert_with(|| {
                texts.push(text.clone());
                texts.len() as u32 - 1
            })
        })
        .collect()
}
