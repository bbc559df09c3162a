//! The recipe of what a search learned.

use indexmap::IndexMap;
use serde_json::{Value as Json, json};

use super::levels::Levels;
use super::policy::to_json;
use super::{Covers, FORMAT, Ingredient, Mask, PartLimit, Recipe, RecipePart};
use crate::method::MaskedPart;
use crate::method::refine::{Masks, Shape};
use crate::policy::{Apart, Incomplete, Policy, Role, Rule, Unlisted};
use crate::problem::{Attribute, Problem};
use crate::table::tails::AT_MOST;
use crate::table::{ANY, Domain, Scale};

impl Recipe {
    /// The recipe of a recoding.
    pub fn new(problem: &Problem, policy: &Policy, parts: &[MaskedPart]) -> Self {
        // A part that hard rules keep apart is told with what they leave it, even if it is the only one published.
        let divided = parts.len() > 1 || parts.iter().any(|part| part.limits.iter().any(Option::is_some));
        let (whole, parts) = if divided { (&[][..], parts) } else { (parts, &[][..]) };
        let mut attributes: IndexMap<String, Ingredient> = policy
            .attributes
            .iter()
            .map(|(name, own)| {
                let role = policy.role(name);
                let mut ingredient = Ingredient {
                    role: role.name().to_owned(),
                    kind: own.kind.as_ref().map(|kind| kind.name().to_owned()),
                    format: None,
                    decimal: None,
                    weight: own.weight,
                    leaf_weights: own.leaf_weights.clone(),
                    node_weights: own.node_weights.clone(),
                    confirmed: own.confirmed,
                    top: None,
                    bottom: None,
                    publish: own.person.number.then(|| "number".to_owned()),
                    together: own.person.together,
                    hierarchy: own.hierarchy.as_ref().filter(|_| role != Role::Other).map(Levels::of),
                    rules: own.rules.iter().filter(|_| role == Role::Quasi).map(rule).collect(),
                    cells: Vec::new(),
                };
                // What is published as it is need not be read as a number.
                ingredient.spell(own.spelling.as_ref().filter(|_| role != Role::Other));
                (name.clone(), ingredient)
            })
            .collect();
        for (at, attribute) in problem.attributes.iter().enumerate() {
            if let Some(own) = attributes.get_mut(&attribute.name) {
                own.kind = Some(attribute.domain.kind().name().to_owned());
                own.weight = attribute.weight;
                // Other records are read as these were, also where it was guessed.
                if let Scale::Numeric { spelling, .. } = attribute.domain.scale() {
                    own.spell(Some(spelling));
                    own.note_tails(&policy.attributes[&attribute.name].tails, &attribute.domain);
                }
                if let [part] = whole {
                    own.cells = cells(attribute, &part.masks[at], None);
                }
            }
        }
        Recipe {
            throng_recipe: FORMAT,
            method: policy.method.name.clone(),
            missing: policy.missing.clone(),
            drop_incomplete: policy.incomplete == Incomplete::Drop,
            unlisted: Unlisted::NAMES
                .iter()
                .find(|(_, own)| *own == policy.unlisted)
                .map(|(name, _)| (*name).to_owned()),
            lenient: !policy.strict,
            header: policy.header,
            privacy: policy
                .privacy
                .keys_for_other_records()
                .into_iter()
                .map(|(key, value)| (key, to_json(value)))
                .collect(),
            attributes,
            parts: parts.iter().map(|part| RecipePart::new(problem, part)).collect(),
        }
    }
}

/// A rule as the keys of a policy say it.
fn rule(own: &Rule) -> Json {
    let (key, sides) = match &own.apart {
        Apart::Cut(p, q) => ("cut", json!([p, q])),
        Apart::Moments(p, q) => ("cut", json!([p, q])),
        Apart::Values(a, b) => ("apart", json!([a, b])),
    };
    json!({ key: sides, "importance": own.importance, "hard": own.hard })
}

impl RecipePart {
    fn new(problem: &Problem, part: &MaskedPart) -> Self {
        let attributes = || problem.attributes.iter().enumerate();
        let limit = |(at, own): (usize, &Attribute)| {
            let ends = part.limits[at]?;
            Some((own.name.clone(), PartLimit::new(&own.domain, ends, &problem.rules.borders(at))))
        };
        RecipePart {
            limits: attributes().filter_map(limit).collect(),
            cells: attributes()
                .map(|(at, own)| (own.name.clone(), cells(own, &part.masks[at], part.limits[at])))
                .collect(),
        }
    }
}

impl PartLimit {
    /// What the codes of a part are; `borders` are the numbers between parts.
    fn new(domain: &Domain, (low, high): (u32, u32), borders: &[f64]) -> Self {
        match domain.scale() {
            Scale::Categorical(_) => {
                PartLimit::Values((low..=high).map(|code| domain.label(code).to_owned()).collect())
            }
            Scale::Numeric { .. } if domain.missing() == Some(low) => PartLimit::Missing,
            Scale::Numeric { values, .. } => {
                let inside = values[low as usize];
                PartLimit::Numbers(
                    borders.iter().copied().rfind(|border| *border < inside),
                    borders.iter().copied().find(|border| *border >= inside),
                )
            }
        }
    }
}

/// The cells of an attribute and what they cover; `limit` are the codes that hard rules leave to the part.
fn cells(attribute: &Attribute, masks: &Masks, limit: Option<(u32, u32)>) -> Vec<Mask> {
    let (first, last) = limit.unwrap_or((0, u32::MAX));
    let domain = &attribute.domain;
    let (published, of_code) = masks.told(domain.len());
    debug_assert!(masks.shape == Shape::Suppression || !published.is_empty());
    let cell = |(number, (low, high)): (usize, (u32, u32))| {
        let (low, high) = (low.max(first), high.min(last));
        (low <= high).then(|| {
            let codes = (low..=high).filter(|code| of_code[*code as usize] == number);
            mask(domain, (low, high), last, codes)
        })
    };
    let cells: Vec<Mask> = published.into_iter().enumerate().filter_map(cell).collect();
    // What is covered by `*` needs no cell of its own, unless it is the rest of what others cover.
    let rest = masks.shape == Shape::Taxonomy && cells.len() > 1;
    cells.into_iter().filter(|mask| rest || mask.cell != ANY).collect()
}

/// A cell for some `codes` as the release tells it: half-open up to the number that follows, unless that is beyond the `last` of the part.
fn mask(domain: &Domain, (low, high): (u32, u32), last: u32, codes: impl Iterator<Item = u32>) -> Mask {
    let label = |code: u32| domain.end_label(code).to_owned();
    let cell = if high == last { domain.cell(low, high) } else { domain.half_open_cell(low, high) };
    // A lower tail such as `≤ 18` tells the last number that it covers.
    let closed = high == last || cell.starts_with(AT_MOST);
    let covers = match domain.scale() {
        Scale::Categorical(_) => Covers::Values(codes.map(label).collect()),
        Scale::Numeric { .. } if domain.missing() == Some(low) => Covers::Missing,
        Scale::Numeric { values, .. } if low < high && !closed && (high as usize) + 1 < values.len() => {
            Covers::Before(label(low), label(high + 1))
        }
        Scale::Numeric { values, .. } => Covers::UpTo(label(low), label(high.min(values.len() as u32 - 1))),
    };
    Mask { cell, covers }
}
