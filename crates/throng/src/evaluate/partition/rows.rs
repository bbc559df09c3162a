//! What is split: rows whose features are ranges or labels, each with the class it should tell.

use crate::audit::codes_of;
use crate::error::{Error, ErrorCode, Result};
use crate::evaluate::Study;
use crate::problem::{Attribute, Problem, Protected};
use crate::schema::spelling::Spelling;
use crate::table::{ANY, Scale};

/// Rows to split.
pub struct Rows {
    /// What rows can be split by.
    pub features: Vec<Feature>,
    /// The class of each row.
    pub target: Vec<u32>,
    /// The names of classes.
    pub classes: Vec<String>,
}

/// What is known of one attribute.
pub struct Feature {
    /// Its name.
    pub name: String,
    /// What each row says of it.
    pub content: Content,
    /// How its numbers, dates or times are spelt.
    pub spelling: Option<Spelling>,
}

impl Feature {
    fn new(attribute: &Attribute, content: Content) -> Self {
        let spelling = match attribute.domain.scale() {
            Scale::Numeric { spelling, .. } => Some(spelling.clone()),
            Scale::Categorical(_) => None,
        };
        Feature { name: attribute.name.clone(), content, spelling }
    }

    /// A number as the table spells it.
    pub fn spelt(&self, number: f64) -> String {
        self.spelling.as_ref().map_or_else(|| number.to_string(), |own| own.write(number, None))
    }
}

/// What rows say of an attribute.
pub enum Content {
    /// The lowest and highest number that it may be.
    Numbers(Vec<(f64, f64)>),
    /// Which of some labels it is, and the leaves below each label, the last one included.
    Labels {
        /// Of each row.
        of_row: Vec<u32>,
        /// Names.
        names: Vec<String>,
        /// First and last leaf.
        leaves: Vec<(u32, u32)>,
    },
}

/// The attribute to tell from the others.
pub enum Target<'a> {
    /// One that is published as it is.
    Protected(&'a Protected),
    /// A quasi-identifier.
    Quasi(usize),
}

impl<'a> Target<'a> {
    /// The attribute of a name; without one the first class, or the first sensitive attribute.
    pub fn find(problem: &'a Problem, name: Option<&str>) -> Result<Self> {
        let mut counted = problem.labels.iter().chain(&problem.sensitive);
        let Some(name) = name else {
            return counted.next().map(Target::Protected).ok_or_else(|| {
                Error::new(ErrorCode::NoClass, "which attribute should be told from the others?").with_hint(
                    "give an attribute the role \"class\", or name one: target = \"…\" under [evaluate.partition]",
                )
            });
        };
        let quasi = problem.attributes.iter().position(|attribute| attribute.name == name);
        counted
            .find(|counted| counted.name == name)
            .map(Target::Protected)
            .or(quasi.map(Target::Quasi))
            .ok_or_else(|| {
                Error::new(
                    ErrorCode::UnknownAttribute,
                    format!("the target \"{name}\" is neither a quasi-identifier nor sensitive nor a class"),
                )
                .with_hint("give it one of these roles in the policy")
            })
    }

    /// Its name.
    pub fn name(&self, problem: &'a Problem) -> &'a str {
        match self {
            Target::Protected(counted) => &counted.name,
            Target::Quasi(at) => &problem.attributes[*at].name,
        }
    }
}

impl Rows {
    /// The table as it is.
    pub fn raw(problem: &Problem, target: &Target<'_>) -> Self {
        let code = |at: usize| (0..problem.len()).map(move |record| problem.records.code(record, at));
        let features = others(problem, target).map(|at| {
            let attribute = &problem.attributes[at];
            let content = match attribute.domain.scale() {
                Scale::Numeric { values, .. } => Content::Numbers(
                    code(at)
                        .map(|code| values.get(code as usize).map_or(UNKNOWN, |value| (*value, *value)))
                        .collect(),
                ),
                Scale::Categorical(_) => Content::Labels {
                    of_row: code(at).collect(),
                    names: (0..attribute.domain.len() as u32)
                        .map(|code| attribute.domain.label(code).to_owned())
                        .collect(),
                    leaves: (0..attribute.domain.len() as u32).map(|code| (code, code)).collect(),
                },
            };
            Feature::new(attribute, content)
        });
        let features = features.collect();
        let domain = match target {
            Target::Protected(counted) => &counted.domain,
            Target::Quasi(at) => &problem.attributes[*at].domain,
        };
        let mut classes: Vec<String> =
            (0..domain.len() as u32).map(|code| domain.label(code).to_owned()).collect();
        classes.push(ANY.to_owned());
        let target = match target {
            Target::Protected(counted) => counted.codes.clone(),
            Target::Quasi(at) => code(*at).collect(),
        };
        Rows { features, target, classes }
    }

    /// The release as its recipients read it.
    pub fn released(study: &Study<'_>, target: &Target<'_>, classes: &[String]) -> Result<Self> {
        let problem = study.problem;
        let features = others(problem, target).map(|at| {
            let attribute = &problem.attributes[at];
            let (cells, of_row) = study.cells.of_attribute(at);
            let content = match attribute.domain.scale() {
                Scale::Numeric { .. } => {
                    let ends = |cell: &crate::audit::Cell| match cell.missing {
                        true => UNKNOWN,
                        false => cell.range.unwrap_or(UNKNOWN),
                    };
                    Content::Numbers(of_row.iter().map(|cell| ends(&cells[*cell as usize])).collect())
                }
                Scale::Categorical(tree) => {
                    let leaves: Vec<(u32, u32)> =
                        cells.iter().map(|cell| (cell.leaves.0, cell.leaves.1.max(1) - 1)).collect();
                    let name = |(first, last): &(u32, u32)| {
                        tree.label(tree.ancestor(*first as usize, *last as usize)).to_owned()
                    };
                    Content::Labels {
                        of_row: of_row.to_vec(),
                        names: leaves.iter().map(name).collect(),
                        leaves,
                    }
                }
            };
            Feature::new(attribute, content)
        });
        let features = features.collect();
        let unknown = classes.len() as u32 - 1;
        let target = match target {
            Target::Protected(counted) => codes_of(counted, study.release)?,
            Target::Quasi(at) => {
                let domain = &problem.attributes[*at].domain;
                let (cells, of_row) = study.cells.of_attribute(*at);
                let code = |cell: &crate::audit::Cell| match (cell.single, cell.range) {
                    (true, Some((low, _))) => domain.code_of_number(low).unwrap_or(unknown),
                    (true, None) => cell.leaves.0,
                    (false, _) => unknown,
                };
                let codes: Vec<u32> = cells.iter().map(code).collect();
                of_row.iter().map(|cell| codes[*cell as usize]).collect()
            }
        };
        Ok(Rows { features, target, classes: classes.to_vec() })
    }
}

/// A number that may be any.
pub const UNKNOWN: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

fn others<'a>(problem: &'a Problem, target: &'a Target<'_>) -> impl Iterator<Item = usize> + 'a {
    (0..problem.attributes.len()).filter(move |at| !matches!(target, Target::Quasi(own) if own == at))
}
