//! One number for each class in place of a range: the median or the mean of its values.
//!
//! The column is called `age.median` or `age.mean`: a number in it is nobody's age, and its name says so. Whoever reads the
//! release gets numbers of a numeric column; what range a class has is not told.
//!
//! Where each group is published as the smallest box around it, a number stands for the group. Where equal values are published
//! alike (full-domain recodings, masks, records of a person that are kept alike), it stands for all records with the same range,
//! so that those stay alike. Two groups may get the same numbers: they are one class then, with at least as many records
//! as either. Requirements that do not survive that, or that ask for ranges, are refused ([`check`]).
//!
//! A class whose numbers are missing for some of its records has an empty cell, which tells nothing; one that reaches into
//! a tail is published as the tail, `≥ 60`. Numbers are rounded to one digit more than the table has, dates down to whole days.
//!
//! Cost: O(n log n) for sorting the codes of each group.

use super::{CellKind, Cells, Column, Content, Publish};
use crate::error::{Error, ErrorCode, Result};
use crate::method::{Partition, Recoding};
use crate::privacy::Privacy;
use crate::problem::Problem;
use crate::table::{Domain, Map, Scale, Spelling};

/// What a number of a class is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Middle {
    Median,
    Mean,
}

impl Middle {
    /// What comes after the name of the attribute.
    fn suffix(self) -> &'static str {
        match self {
            Middle::Median => ".median",
            Middle::Mean => ".mean",
        }
    }
}

impl Publish {
    /// Which number stands for a class, if one does.
    pub(crate) fn middle(self) -> Option<Middle> {
        match self {
            Publish::Medians => Some(Middle::Median),
            Publish::Means => Some(Middle::Mean),
            Publish::Cells | Publish::Bounds | Publish::Permutation => None,
        }
    }
}

/// The columns that an attribute may have in place of its own.
pub(crate) fn columns_of(attribute: &str) -> [(String, Middle); 2] {
    [Middle::Median, Middle::Mean].map(|middle| (format!("{attribute}{}", middle.suffix()), middle))
}

/// An error if a policy asks for what numbers in place of ranges do not tell.
pub(crate) fn check(problem: &Problem, privacy: &Privacy) -> Result<()> {
    let numeric = |domain: &Domain| matches!(domain.scale(), Scale::Numeric { .. });
    if !problem.attributes.iter().any(|attribute| numeric(&attribute.domain)) {
        return Ok(());
    }
    let refuse = |message: String| {
        Err(Error::new(ErrorCode::BadUsage, message)
            .with_hint("publish ranges, as cells or with --publish bounds"))
    };
    if let Some(spec) = privacy.specs().iter().find(|spec| spec.needs_ranges()) {
        let key = if spec.key() == "rules" { "hard rules" } else { spec.key() };
        return refuse(format!(
            "a median or mean does not tell the range of its class, so that nobody could check {key}"
        ));
    }
    match problem.people.is_some() && !problem.requirement.monotone() {
        true => refuse(
            "classes with the same medians or means would be one class, which may fall short where people have several records"
                .to_owned(),
        ),
        false => Ok(()),
    }
}

/// The column of a numeric attribute.
pub(super) fn column<'a>(
    problem: &Problem,
    at: usize,
    ends: &[(u32, u32)],
    (partition, recoding): (&Partition, &Recoding),
    middle: Middle,
) -> Column<'a> {
    let attribute = &problem.attributes[at];
    let domain = &attribute.domain;
    let missing = domain.missing().map(|code| domain.label(code).to_owned());
    let codes =
        |group: usize| partition.group(group).iter().map(|record| problem.records.code(*record as usize, at));
    // The records that a number stands for, as groups, and which of them each group is among.
    let mut stands: Vec<Vec<usize>> = Vec::new();
    let mut of_group = Vec::with_capacity(ends.len());
    let mut known: Map<(u32, u32), u32> = Map::default();
    for (group, ends) in ends.iter().enumerate() {
        let next = stands.len() as u32;
        let own = match recoding {
            Recoding::Tight => next,
            Recoding::Boxes(_) | Recoding::Masks { .. } | Recoding::Cells(_) => {
                *known.entry(*ends).or_insert(next)
            }
        };
        match own == next {
            true => stands.push(vec![group]),
            false => stands[own as usize].push(group),
        }
        of_group.push(own);
    }
    let decimals = decimals(domain);
    let text = |groups: &Vec<usize>| {
        let mut codes: Vec<u32> = groups.iter().flat_map(|group| codes(*group)).collect();
        codes.sort_unstable();
        cell(domain, &codes, ends[groups[0]], middle, decimals)
    };
    let mut cells = Cells { texts: Vec::new(), of_class: Vec::new(), kind: kind(domain), missing };
    let mut numbers: Map<String, u32> = Map::default();
    let cell_of: Vec<u32> = stands
        .iter()
        .map(|groups| {
            let text = text(groups);
            *numbers.entry(text).or_insert_with_key(|text| {
                cells.texts.push(text.clone());
                cells.texts.len() as u32 - 1
            })
        })
        .collect();
    cells.of_class = of_group.into_iter().map(|own| cell_of[own as usize]).collect();
    let name = format!("{}{}", attribute.name, middle.suffix());
    Column { name, source: attribute.column, content: Content::Cells(cells) }
}

/// The cell that is published for records with these codes, ascending, within a range of codes.
pub(crate) fn cell(
    domain: &Domain,
    codes: &[u32],
    (low, high): (u32, u32),
    middle: Middle,
    decimals: Option<usize>,
) -> String {
    let Scale::Numeric { values, spelling } = domain.scale() else { return domain.cell(low, high) };
    let (Some(first), Some(last)) = (codes.first(), codes.last()) else { return domain.cell(low, high) };
    match (domain.missing(), domain.reaches(low, high)) {
        // Nothing is told of a class in which some have no number.
        (Some(missing), _) if *last == missing => domain.label(missing).to_owned(),
        (Some(missing), _) if high == missing => number(values, codes, middle, spelling, decimals),
        (_, (true, _) | (_, true)) if domain.has_tails() => domain.cell(low, high),
        _ if first == last => domain.label(*first).to_owned(),
        _ => number(values, codes, middle, spelling, decimals),
    }
}

fn number(
    values: &[f64],
    codes: &[u32],
    middle: Middle,
    spelling: &Spelling,
    decimals: Option<usize>,
) -> String {
    let value = |at: usize| values[codes[at] as usize];
    let count = codes.len();
    let number = match middle {
        Middle::Median => f64::midpoint(value((count - 1) / 2), value(count / 2)),
        Middle::Mean => {
            // Shares instead of a sum, against overflow; in the order of codes, so that it does not depend on that of records.
            let share = |run: &[u32]| values[run[0] as usize] * (run.len() as f64 / count as f64);
            let mean: f64 = codes.chunk_by(|one, other| one == other).map(share).sum();
            mean.clamp(value(0), value(count - 1))
        }
    };
    spelling.write(number, decimals)
}

/// One digit more than the numbers of a table have after their decimal point; `None` if some have an exponent.
pub(crate) fn decimals(domain: &Domain) -> Option<usize> {
    let Scale::Numeric { values, spelling } = domain.scale() else { return None };
    let point = if *spelling == Spelling::Comma { ',' } else { '.' };
    let labels = (0..values.len() as u32).map(|code| domain.end_label(code));
    let mut most = 0;
    for label in labels {
        if label.contains(['e', 'E']) {
            return None;
        }
        most = most.max(label.split_once(point).map_or(0, |(_, fraction)| fraction.len()));
    }
    Some(most + 1)
}

fn kind(domain: &Domain) -> CellKind {
    match domain.scale() {
        _ if domain.has_tails() => CellKind::Text,
        Scale::Numeric { spelling: Spelling::Iso, .. } => CellKind::Date,
        Scale::Numeric { spelling: Spelling::Point, .. } => CellKind::Real,
        // Published as they are spelt, which types would not keep.
        Scale::Numeric { .. } | Scale::Categorical(_) => CellKind::Text,
    }
}
