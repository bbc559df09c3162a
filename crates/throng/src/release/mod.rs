//! Releases: from a partition to what is published.
//!
//! [`Release`] knows the cells of every class and the order of rows; `text` and `columnar` render them; a [`Sink`] takes
//! them. [`Output`], the sink that is a file, gets its name only when it is complete; [`Files`] decides which names may be taken.

mod bounds;
mod columnar;
mod files;
mod held;
mod leftover;
pub(crate) mod midpoints;
mod number;
mod output;
pub(crate) mod permutation;
mod rendered;
mod rows;
mod scratch;
mod sink;
mod spelt;
mod streamed;
mod text;

use std::borrow::Cow;

pub use files::Files;
pub(crate) use output::{Encoder, folder_of};
pub use output::{Output, publish_all};
pub use rendered::{Rendered, RenderedBatches};
pub use scratch::Scratch;
pub use sink::{Batches, MemoryFile, Sink};
pub(crate) use streamed::Streamed;

use rows::Rows;

use crate::error::{Error, ErrorCode, Result};
use crate::formula::Formulas;
use crate::method::{Boxes, GroupCells, MaskedPart, Partition, Recoding, Solution};
use crate::policy::{Policy, Role};
use crate::problem::{Attribute, Problem, Protected};
use crate::published::StandsFor;
use crate::table::{Map, Scale, Table};
use crate::watch::{Unwatched, Watch};

/// How quasi-identifiers are written.
///
/// ```
/// use throng::{Anonymize, Data, Policy, Publish};
/// let policy = Policy::builder().k(2).quasi("age").build()?;
/// let run = Anonymize::new(&policy).read(Data::csv("age\n31\n34\n"));
/// assert_eq!(run.publish(Publish::Bounds).to_csv()?.release, "age.min,age.max\n31,34\n31,34\n");
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Publish {
    /// One cell: a value, a range or a node.
    #[default]
    Cells,
    /// Numeric ones as two columns, `name.min` and `name.max`.
    Bounds,
    /// Numeric ones as the median of their class, in a column `name.median`.
    Medians,
    /// Numeric ones as the mean of their class, in a column `name.mean`.
    Means,
    /// As they are, with a column `group`; the sensitive values of each group come in a table of their own.
    Permutation,
}

/// In which order rows are written.
///
/// ```
/// use throng::{Anonymize, Data, Order, Policy};
/// let policy = Policy::builder().k(1).quasi("age").build()?;
/// let run = Anonymize::new(&policy).read(Data::csv("age\n34\n31\n"));
/// assert_eq!(run.order(Order::Keep).to_csv()?.release, "age\n34\n31\n");
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// A random one drawn from a secret, so that position links nothing.
    #[default]
    Shuffled,
    /// As in the table.
    Keep,
}

/// Where the order of a release's rows comes from, as its report tells it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RowOrder {
    /// A fresh secret that was never written: nobody can repeat it.
    #[default]
    Random,
    /// The table.
    Kept,
    /// A secret that somebody holds.
    Keyed,
}

/// A table ready to be published.
pub struct Release<'a> {
    table: &'a Table,
    problem: &'a Problem,
    columns: Vec<Column<'a>>,
    /// The class of each record.
    class_of: Vec<u32>,
    rows: Rows,
    classes: usize,
    /// The text that stood for a null, if the table is of a format that has nulls.
    null_text: Option<String>,
    /// What becomes of cells that a spreadsheet would run.
    formulas: Formulas,
    /// For each attribute the lowest and highest code of each class, where numbers stand for them.
    stands_for: Option<Vec<Vec<(u32, u32)>>>,
}

/// One column of a release.
struct Column<'a> {
    name: String,
    /// Its column in the table.
    source: usize,
    content: Content<'a>,
}

enum Content<'a> {
    /// The same for all records of a class.
    Cells(Cells),
    /// A sensitive or class value.
    Protected(Cow<'a, Protected>),
    /// Passed through.
    Text,
}

/// The distinct cells of a column and which one each class has.
struct Cells {
    texts: Vec<String>,
    of_class: Vec<u32>,
    kind: CellKind,
    /// The text of a missing value.
    missing: Option<String>,
}

/// What cells are, so that formats with types may say so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CellKind {
    Text,
    /// Whole numbers or missing.
    Whole,
    /// Numbers or missing.
    Real,
    /// Dates or missing.
    Date,
}

impl<'a> Release<'a> {
    /// Turns a solution into cells.
    pub fn new(
        table: &'a Table,
        problem: &'a Problem,
        policy: &Policy,
        solution: &Solution,
        publish: Publish,
        order: Order,
    ) -> Result<Self> {
        let partition = &solution.partition;
        let boxes = solution.recoding.boxes(problem, partition);
        let mut columns = Vec::new();
        for (source, name) in table.names().iter().enumerate() {
            let of_source = |counted: &&Protected| counted.column == source;
            let quasi = problem.attributes.iter().position(|attribute| attribute.column == source);
            if let (Some(at), Publish::Permutation) = (quasi, publish) {
                let own = Cow::Owned(permutation::exact(problem, at));
                columns.push(Column { name: name.clone(), source, content: Content::Protected(own) });
            } else if let Some(at) = quasi {
                let numeric = matches!(problem.attributes[at].domain.scale(), Scale::Numeric { .. });
                if let (Some(middle), Some(boxes), true) = (publish.middle(), &boxes, numeric) {
                    let how = (partition, &solution.recoding);
                    columns.push(midpoints::column(problem, at, &boxes.ends[at], how, middle));
                    continue;
                }
                columns.extend(match (&solution.recoding, &boxes) {
                    (Recoding::Cells(cells), _) if numeric && publish == Publish::Bounds => {
                        bounds::of_cells(&problem.attributes[at], &cells[at])?
                    }
                    (Recoding::Cells(cells), _) => {
                        vec![given_column(&problem.attributes[at], &cells[at])]
                    }
                    (Recoding::Masks { boxes, parts, part_of_group }, _) if publish != Publish::Bounds => {
                        let attribute = &problem.attributes[at];
                        vec![masked_column(attribute, &boxes.ends[at], part_of_group, &limits(parts, at))]
                    }
                    (_, Some(boxes)) => quasi_columns(&problem.attributes[at], boxes, at, publish),
                    (_, None) => return Err(Error::bug("a recoding without boxes or cells")),
                });
            } else if let Some(counted) = problem.sensitive.iter().chain(&problem.labels).find(of_source) {
                if publish == Publish::Permutation && policy.role(name) == Role::Sensitive {
                    continue;
                }
                let spelt = spelt::as_spelt(table, problem, counted);
                let content = Content::Protected(spelt.map_or(Cow::Borrowed(counted), Cow::Owned));
                columns.push(Column { name: name.clone(), source, content });
            } else if let (Some(people), true) = (&problem.people, policy.number_column() == Some(name)) {
                let numbers = Content::Protected(Cow::Owned(number::numbers(people, &problem.secret, name)?));
                columns.push(Column { name: name.clone(), source, content: numbers });
            } else if !matches!(policy.role(name), Role::Identifier | Role::Person) {
                columns.push(Column { name: name.clone(), source, content: Content::Text });
            }
        }
        if publish == Publish::Permutation {
            permutation::check(problem, policy)?;
            columns.push(permutation::group_column(partition.len()));
        }
        check_names(&columns)?;
        let class_of = partition.group_of_record(problem.len());
        let rows = rows(problem, &solution.suppressed, &class_of, order);
        let null_text = table.has_nulls().then(|| policy.missing.first().cloned().unwrap_or_default());
        Ok(Release {
            table,
            problem,
            columns,
            class_of,
            rows,
            classes: partition.len(),
            null_text,
            formulas: Formulas::Keep,
            stands_for: publish.middle().and(boxes).map(|boxes| boxes.into_owned().ends),
        })
    }

    /// The same with this done to cells that a spreadsheet would run.
    pub fn with_formulas(self, formulas: Formulas) -> Self {
        Release { formulas, ..self }
    }

    /// Whose each row is, in the order in which they are written; `None` where nobody asks.
    pub fn people(&self) -> Option<Vec<u32>> {
        let people = self.problem.people.as_ref()?;
        Some(self.rows.in_order().iter().map(|record| people.of(*record)).collect())
    }

    /// What numbers stand for that are published in place of ranges; `None` where ranges are.
    pub fn stands_for(&self) -> Option<StandsFor> {
        let ends = self.stands_for.clone()?;
        let rows = self.rows.in_order();
        Some(StandsFor {
            group_of_row: rows.iter().map(|record| self.class_of[*record as usize]).collect(),
            ends,
        })
    }

    /// The records behind its rows, in the order in which they are written.
    pub(crate) fn into_records(self) -> Vec<u32> {
        self.rows.into_order()
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes the release.
    pub fn write(&self, sink: &mut dyn Sink, watch: &dyn Watch) -> Result<()> {
        watch.stage("writing", Some(self.len() as u64));
        sink.take(&Rendered::release(self), watch)
    }

    /// Writes the table of sensitive values by group that belongs to a release by permutation.
    pub fn write_sensitive(&self, sink: &mut dyn Sink) -> Result<()> {
        sink.take(&Rendered::sensitive_values(self)?, &Unwatched)
    }
}

/// A column whose cells the solution gives.
fn given_column<'a>(attribute: &Attribute, cells: &GroupCells) -> Column<'a> {
    let cells = Cells {
        texts: cells.texts.clone(),
        of_class: cells.of_group.clone(),
        kind: CellKind::Text,
        missing: None,
    };
    Column { name: attribute.name.clone(), source: attribute.column, content: Content::Cells(cells) }
}

fn quasi_columns<'a>(attribute: &Attribute, boxes: &Boxes, at: usize, publish: Publish) -> Vec<Column<'a>> {
    let (ends, domain) = (&boxes.ends[at], &attribute.domain);
    if publish == Publish::Bounds && matches!(domain.scale(), Scale::Numeric { .. }) {
        return bounds::of_ends(attribute, ends);
    }
    let cells = Content::Cells(Cells::new(ends, |low, high| domain.cell(low, high)));
    vec![Column { name: attribute.name.clone(), source: attribute.column, content: cells }]
}

/// For each part of a masked table, the last code of an attribute that a hard rule lets it have.
fn limits(parts: &[MaskedPart], at: usize) -> Vec<Option<u32>> {
    parts.iter().map(|part| part.limits[at].map(|(_, high)| high)).collect()
}

/// A column of masked values. Ranges are told half-open, up to the number that follows; where that one is on the other
/// side of a hard rule, a reader would take what lies between for covered, so the range is told with its own end.
fn masked_column<'a>(
    attribute: &Attribute,
    ends: &[(u32, u32)],
    part_of_group: &[u32],
    last_of_part: &[Option<u32>],
) -> Column<'a> {
    let domain = &attribute.domain;
    let closed: Vec<bool> = ends
        .iter()
        .zip(part_of_group)
        .map(|((_, high), part)| last_of_part[*part as usize] == Some(*high))
        .collect();
    let mut cells = Cells { texts: Vec::new(), of_class: Vec::new(), kind: CellKind::Text, missing: None };
    let mut numbers: Map<(u32, u32, bool), u32> = Map::default();
    for (&(low, high), &closed) in ends.iter().zip(&closed) {
        let number = *numbers.entry((low, high, closed)).or_insert_with(|| {
            cells.texts.push(match closed {
                true => domain.cell(low, high),
                false => domain.half_open_cell(low, high),
            });
            cells.texts.len() as u32 - 1
        });
        cells.of_class.push(number);
    }
    Column { name: attribute.name.clone(), source: attribute.column, content: Content::Cells(cells) }
}

impl Cells {
    fn new(ends: &[(u32, u32)], text: impl Fn(u32, u32) -> String) -> Self {
        let mut numbers: Map<(u32, u32), u32> = Map::default();
        let mut texts = Vec::new();
        let of_class = ends
            .iter()
            .map(|&(low, high)| {
                *numbers.entry((low, high)).or_insert_with(|| {
                    texts.push(text(low, high));
                    texts.len() as u32 - 1
                })
            })
            .collect();
        Cells { texts, of_class, kind: CellKind::Text, missing: None }
    }

    fn text(&self, class: u32) -> &str {
        &self.texts[self.of_class[class as usize] as usize]
    }
}

fn check_names(columns: &[Column<'_>]) -> Result<()> {
    let mut seen: Map<&str, ()> = Map::default();
    for column in columns {
        if seen.insert(&column.name, ()).is_some() {
            return Err(Error::new(
                ErrorCode::DuplicateColumn,
                format!("the release would have two columns called \"{}\"", column.name),
            )
            .with_hint("rename the column of the table that has this name already"));
        }
    }
    Ok(())
}

/// The records behind the rows of a release.
pub(crate) fn records_in_order(problem: &Problem, solution: &Solution, order: Order) -> Vec<u32> {
    let class_of = solution.partition.group_of_record(problem.len());
    rows(problem, &solution.suppressed, &class_of, order).into_order()
}

/// The records that are published, in the order asked for.
fn rows(problem: &Problem, suppressed: &[u32], class_of: &[u32], order: Order) -> Rows {
    let all = 0..problem.len() as u32;
    let records: Vec<u32> = match suppressed.is_empty() {
        true => all.collect(),
        false => all.filter(|record| class_of[*record as usize] != Partition::NO_GROUP).collect(),
    };
    match order {
        Order::Keep => Rows::kept(records),
        Order::Shuffled => Rows::shuffled(records, &problem.secret),
    }
}
