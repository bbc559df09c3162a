//! Masks the records of a problem with a recipe.
//!
//! Every record goes to a part and in it to cells. What a cell says depends on the records that go there: intervals are told
//! as they were learned unless one of these records has a number beyond their ends.

use super::ranges::{End, Finder};
use super::{Ingredient, Mask, PartLimit, Recipe};
use crate::error::Result;
use crate::method::Fact;
use crate::policy::Kind;
use crate::problem::{Attribute, Problem};
use crate::table::{ANY, Map, Scale};

/// Published as `*`.
const HIDDEN: u32 = u32::MAX;

/// The cells of the records of a problem.
pub(crate) struct Masker {
    columns: Vec<Column>,
}

/// The cells of an attribute.
struct Column {
    texts: Vec<String>,
    /// The text of each record.
    of_record: Vec<u32>,
    /// Records that no cell covers.
    not_covered: usize,
}

/// What tells whose records are of a part: attributes, and which of their codes are.
type Limits = Vec<(usize, Vec<bool>)>;

impl Recipe {
    /// Masks the records of a problem over the recipe's attributes.
    pub(crate) fn masker(&self, problem: &Problem) -> Result<Masker> {
        let parts = self.parts_of_records(problem);
        let column = |(at, attribute): (usize, &Attribute)| {
            let spelling = self.attributes.get(&attribute.name).map(Ingredient::spelling);
            let spelling = spelling.transpose()?.flatten();
            let cells = self.cells(&attribute.name).into_iter();
            let finders =
                cells.map(|cells| Finder::new(cells, spelling.as_ref())).collect::<Result<Vec<_>>>()?;
            Column::new(problem, at, &finders, &parts)
        };
        let columns = problem.attributes.iter().enumerate().map(column).collect::<Result<_>>()?;
        Ok(Masker { columns })
    }

    /// The cells of an attribute in each part; there is one part if hard rules keep none apart.
    fn cells(&self, name: &str) -> Vec<&[Mask]> {
        match self.parts.is_empty() {
            true => vec![self.attributes.get(name).map_or(&[], |own| &own.cells)],
            false => {
                self.parts.iter().map(|part| part.cells.get(name).map_or(&[][..], Vec::as_slice)).collect()
            }
        }
    }

    /// The part of each record; none for records that are in no part.
    fn parts_of_records(&self, problem: &Problem) -> Vec<Option<usize>> {
        if self.parts.is_empty() {
            return vec![Some(0); problem.len()];
        }
        let limits: Vec<Limits> = self
            .parts
            .iter()
            .map(|part| {
                let attributes = problem.attributes.iter().enumerate();
                attributes
                    .filter_map(|(at, own)| Some((at, part.limits.get(&own.name)?.codes(own))))
                    .collect()
            })
            .collect();
        let inside = |limits: &Limits, record: usize| {
            limits.iter().all(|(at, codes)| codes[problem.records.code(record, *at) as usize])
        };
        (0..problem.len()).map(|record| limits.iter().position(|part| inside(part, record))).collect()
    }
}

impl PartLimit {
    /// Which codes of an attribute are of the part.
    fn codes(&self, attribute: &Attribute) -> Vec<bool> {
        let domain = &attribute.domain;
        let inside = |code: u32| match (self, domain.scale()) {
            (PartLimit::Missing, _) => domain.missing() == Some(code),
            (PartLimit::Values(values), _) => values.iter().any(|value| value == domain.label(code)),
            (PartLimit::Numbers(above, up_to), Scale::Numeric { values, .. }) => {
                values.get(code as usize).is_some_and(|value| {
                    above.is_none_or(|border| *value > border) && up_to.is_none_or(|border| *value <= border)
                })
            }
            (PartLimit::Numbers(..), Scale::Categorical(_)) => false,
        };
        (0..domain.len() as u32).map(inside).collect()
    }
}

impl Column {
    fn new(problem: &Problem, at: usize, finders: &[Finder<'_>], parts: &[Option<usize>]) -> Result<Self> {
        let attribute = &problem.attributes[at];
        let of_code = finders.iter().map(|finder| finder.cells_of(attribute)).collect::<Result<Vec<_>>>()?;
        let code = |record: usize| problem.records.code(record, at);
        let cell = |record: usize| of_code[parts[record]?][code(record) as usize];
        let mut used: Vec<Used> = finders.iter().map(|_| Used::default()).collect();
        for (record, part) in parts.iter().enumerate() {
            if let Some(part) = part {
                used[*part].note(cell(record), code(record));
            }
        }
        let mut texts = Texts::default();
        let told: Vec<Map<u32, u32>> = finders
            .iter()
            .zip(&used)
            .map(|(finder, used)| used.tell(attribute, finder, &mut texts))
            .collect();
        let text = |record: usize| Some(told[parts[record]?].get(&cell(record)?).copied().unwrap_or(HIDDEN));
        // Without a hierarchy, hidden categories are not listed: they are meant to be published as `*`. The same
        // holds for an attribute without cells.
        let lists_all = (attribute.domain.kind() == Kind::Numeric || attribute.has_hierarchy)
            && finders.iter().any(|finder| !finder.is_empty());
        let records = 0..problem.len();
        Ok(Column {
            not_covered: records.clone().filter(|record| lists_all && cell(*record).is_none()).count(),
            of_record: records.map(|record| text(record).unwrap_or(HIDDEN)).collect(),
            texts: texts.all,
        })
    }
}

/// Distinct texts.
#[derive(Default)]
struct Texts {
    all: Vec<String>,
    known: Map<String, u32>,
}

impl Texts {
    /// The number of a text.
    fn number(&mut self, text: String) -> u32 {
        if text == ANY {
            return HIDDEN;
        }
        *self.known.entry(text).or_insert_with_key(|text| {
            self.all.push(text.clone());
            self.all.len() as u32 - 1
        })
    }
}

/// The cells of a part that records go to.
#[derive(Default)]
struct Used {
    /// The lowest and highest code in each.
    ends: Map<u32, (u32, u32)>,
    /// Whether some record goes to none.
    uncovered: bool,
}

impl Used {
    fn note(&mut self, cell: Option<u32>, code: u32) {
        match cell {
            None => self.uncovered = true,
            Some(cell) => {
                let ends = self.ends.entry(cell).or_insert((code, code));
                *ends = (ends.0.min(code), ends.1.max(code));
            }
        }
    }

    /// The number of each cell's text.
    fn tell(&self, attribute: &Attribute, finder: &Finder<'_>, texts: &mut Texts) -> Map<u32, u32> {
        // A value that an attribute masked as a whole has no word for hides all others with it.
        if finder.masks_all(attribute) && self.uncovered {
            return Map::default();
        }
        let mut cells: Vec<u32> = self.ends.keys().copied().collect();
        cells.sort_unstable();
        let text = |cell: u32| match attribute.domain.scale() {
            Scale::Numeric { values, .. } if finder.missing != Some(cell) => {
                let (low, high) = self.ends[&cell];
                let domain = &attribute.domain;
                let end = |code: u32| End { number: values[code as usize], text: domain.end_label(code) };
                let tails = domain.reaches(low, high);
                let range = finder.range_of(end(low).number);
                range.map_or_else(
                    || ANY.to_owned(),
                    |range| finder.stretched(range, end(low), end(high), tails),
                )
            }
            _ => finder.text(cell).to_owned(),
        };
        cells.into_iter().map(|cell| (cell, texts.number(text(cell)))).collect()
    }
}

impl Masker {
    /// The number of each record's cell of an attribute; equal numbers are equal cells.
    pub fn cells(&self, at: usize) -> &[u32] {
        &self.columns[at].of_record
    }

    /// The text of a cell.
    pub fn text(&self, at: usize, cell: u32) -> &str {
        self.columns[at].texts.get(cell as usize).map_or(ANY, String::as_str)
    }

    /// Whether a cell hides everything.
    pub fn hides(cell: u32) -> bool {
        cell == HIDDEN
    }

    /// What there is to say of values that no cell covers.
    pub fn not_covered(&self, problem: &Problem, at: usize) -> Option<Fact> {
        let values = self.columns[at].not_covered;
        (values > 0).then(|| Fact::NotCovered { attribute: problem.attributes[at].name.clone(), values })
    }
}
