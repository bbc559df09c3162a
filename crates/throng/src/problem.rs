//! A problem: all that a method may look at.
//!
//! The quasi-identifiers are one matrix of codes, row after row, in the narrowest width that holds the largest
//! domain. Rows are padded to a multiple of [`LANES`] so that growing a box is a few vector instructions;
//! padding is zero everywhere and never matters.

mod joined;

use std::sync::Arc;

pub use joined::{Column, Joined};
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use rayon::slice::{ParallelSlice, ParallelSliceMut};

use crate::error::{Error, ErrorCode, Result};
use crate::loss::Limits;
use crate::mapping::{Line, Lines, Mapping};
use crate::policy::{Incomplete, Policy, Role};
use crate::privacy::{Privacy, Requirement};
use crate::research::association;
use crate::rules::Rules;
use crate::secret::Secret;
use crate::table::domain::Encoding;
use crate::table::{Domain, Storage, Table};
use crate::watch::Watch;

/// Codes are handled this many at a time: narrow ones then fill one vector register of any x86-64 or ARM machine.
pub const LANES: usize = 16;

/// The width of a code.
pub trait Code: Copy + Ord + Default + Send + Sync + std::fmt::Debug + 'static {
    /// The greatest code of this width.
    const MAX: Self;
    /// As an index into tables.
    fn index(self) -> usize;
    /// From an index that fits.
    fn from_index(index: usize) -> Self;
}

macro_rules! code {
    ($($width:ty),*) => {$(
        impl Code for $width {
            const MAX: Self = <$width>::MAX;
            #[inline(always)]
            fn index(self) -> usize {
                self as usize
            }
            #[inline(always)]
            fn from_index(index: usize) -> Self {
                index as $width
            }
        }
    )*};
}
code!(u8, u16, u32);

/// A vector of codes.
pub type Lanes<C> = [C; LANES];

/// Records as rows of codes.
#[derive(Clone, Debug)]
pub struct Matrix<C> {
    data: Vec<Lanes<C>>,
    /// Groups of lanes per row.
    stride: usize,
}

impl<C: Code> Matrix<C> {
    /// A matrix of zeros.
    pub fn zeros(rows: usize, attributes: usize) -> Self {
        let stride = attributes.div_ceil(LANES).max(1);
        Matrix { data: vec![[C::default(); LANES]; rows * stride], stride }
    }

    /// From rows, one after the other, of so many groups of lanes each.
    pub fn from_data(data: Vec<Lanes<C>>, stride: usize) -> Self {
        Matrix { data, stride }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.data.len() / self.stride
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// Groups of lanes per row.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// All rows, one after the other.
    pub fn data(&self) -> &[Lanes<C>] {
        &self.data
    }

    /// The rows alone.
    pub fn into_data(self) -> Vec<Lanes<C>> {
        self.data
    }

    /// One row.
    #[inline(always)]
    pub fn row(&self, row: usize) -> &[Lanes<C>] {
        &self.data[row * self.stride..(row + 1) * self.stride]
    }

    /// One code.
    #[inline(always)]
    pub fn get(&self, row: usize, attribute: usize) -> C {
        self.data[row * self.stride + attribute / LANES][attribute % LANES]
    }

    /// Sets one code.
    pub fn set(&mut self, row: usize, attribute: usize, code: C) {
        self.data[row * self.stride + attribute / LANES][attribute % LANES] = code;
    }

    /// The rows in another order.
    pub fn gather(&self, order: &[u32]) -> Self {
        let mut data = vec![[C::default(); LANES]; order.len() * self.stride];
        let rows = 1 << 14;
        data.par_chunks_mut(rows * self.stride).zip(order.par_chunks(rows)).for_each(|(target, order)| {
            for (target, &row) in target.chunks_exact_mut(self.stride).zip(order) {
                target.copy_from_slice(self.row(row as usize));
            }
        });
        Matrix { data, stride: self.stride }
    }
}

/// The records, in the width their domains ask for.
#[derive(Clone, Debug)]
pub enum Records {
    /// Domains of up to 256 values.
    Narrow(Matrix<u8>),
    /// Domains of up to 65,536 values.
    Medium(Matrix<u16>),
    /// Larger domains.
    Wide(Matrix<u32>),
}

macro_rules! into_records {
    ($($width:ty => $variant:ident),*) => {$(
        impl From<Matrix<$width>> for Records {
            fn from(matrix: Matrix<$width>) -> Self {
                Records::$variant(matrix)
            }
        }
    )*};
}
into_records!(u8 => Narrow, u16 => Medium, u32 => Wide);

/// Runs the same code on a matrix of any width: the branch is taken once, outside of all loops.
#[doc(hidden)]
#[macro_export]
macro_rules! with_matrix {
    ($records:expr, $matrix:ident => $body:expr) => {
        match $records {
            $crate::problem::Records::Narrow($matrix) => $body,
            $crate::problem::Records::Medium($matrix) => $body,
            $crate::problem::Records::Wide($matrix) => $body,
        }
    };
}

impl Records {
    /// Number of records.
    pub fn len(&self) -> usize {
        with_matrix!(self, matrix => matrix.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One code.
    pub fn code(&self, record: usize, attribute: usize) -> u32 {
        with_matrix!(self, matrix => matrix.get(record, attribute).index() as u32)
    }

    /// From one column of codes per attribute.
    pub fn from_columns(columns: &[Vec<u32>], rows: usize) -> Self {
        let largest = columns.iter().flatten().copied().max().unwrap_or(0);
        Self::build(largest as usize + 1, rows, columns.len(), |row, attribute| columns[attribute][row])
    }

    fn build(
        largest_domain: usize,
        rows: usize,
        attributes: usize,
        code: impl Fn(usize, usize) -> u32,
    ) -> Self {
        fn fill<C: Code>(rows: usize, attributes: usize, code: impl Fn(usize, usize) -> u32) -> Matrix<C> {
            let mut matrix = Matrix::zeros(rows, attributes);
            for row in 0..rows {
                for attribute in 0..attributes {
                    matrix.set(row, attribute, C::from_index(code(row, attribute) as usize));
                }
            }
            matrix
        }
        match largest_domain {
            0..=0x100 => Records::Narrow(fill(rows, attributes, code)),
            0x101..=0x1_0000 => Records::Medium(fill(rows, attributes, code)),
            _ => Records::Wide(fill(rows, attributes, code)),
        }
    }
}

/// A quasi-identifier.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// Its name.
    pub name: String,
    /// Its column in the table.
    pub column: usize,
    /// Its weight.
    pub weight: f64,
    /// Its values.
    pub domain: Domain,
    /// Whether the policy gives it a hierarchy.
    pub has_hierarchy: bool,
    /// Its place among the attributes of the policy.
    pub place: usize,
}

/// A column that is counted but not generalized: sensitive or class.
#[derive(Clone, Debug)]
pub struct Counted {
    /// Its name.
    pub name: String,
    /// Its column in the table.
    pub column: usize,
    /// Its values.
    pub domain: Domain,
    /// Whether the policy gives it a hierarchy.
    pub has_hierarchy: bool,
    /// The code of each record.
    pub codes: Vec<u32>,
}

impl Counted {
    /// The share of each value among all records.
    pub fn shares(&self) -> Vec<f64> {
        let mut counts = vec![0u64; self.domain.len()];
        self.codes.iter().for_each(|code| counts[*code as usize] += 1);
        let total = self.codes.len().max(1) as f64;
        counts.into_iter().map(|count| count as f64 / total).collect()
    }

    fn without_codes(&self) -> Self {
        Counted {
            name: self.name.clone(),
            column: self.column,
            domain: self.domain.clone(),
            has_hierarchy: self.has_hierarchy,
            codes: Vec::new(),
        }
    }
}

/// All that a method may look at.
#[derive(Clone, Debug)]
pub struct Problem {
    /// Quasi-identifiers that are generalized.
    pub attributes: Vec<Attribute>,
    /// Their codes.
    pub records: Records,
    /// Sensitive attributes.
    pub sensitive: Vec<Counted>,
    /// Class attributes.
    pub classes: Vec<Counted>,
    /// How many records the class of each record must have, where the policy asks that of single records.
    pub demands: Option<Arc<[u32]>>,
    /// The same by the key that asks for it; [`Self::demands`] are the largest of them.
    demands_by_key: Vec<(&'static str, Arc<[u32]>)>,
    /// What must hold for every class of the release.
    pub requirement: Requirement,
    /// What no class of the release may exceed.
    pub limits: Limits,
    /// What should stay apart, and what must.
    pub rules: Rules,
    /// How many records may be suppressed.
    pub suppressible: usize,
    /// The seed of all randomness that may be repeated by anyone.
    pub seed: u64,
    /// The source of lots that nobody may guess; fresh unless somebody brings one.
    pub secret: Secret,
    /// The table's row of each record; `None` when they are the same.
    rows: Option<Vec<u32>>,
    /// Rows left out because they are incomplete.
    pub dropped: usize,
    lines: Lines,
}

/// A plan to read tables under a policy: checks that all columns it names are there, and keeps each as it must be.
pub fn plan(policy: &Policy) -> impl Fn(&[String]) -> Result<Vec<Storage>> + Sync + '_ {
    |names| {
        policy.check_columns(names)?;
        Ok(storage(policy, names))
    }
}

/// How each column must be kept for a policy.
pub fn storage(policy: &Policy, names: &[String]) -> Vec<Storage> {
    names
        .iter()
        .map(|name| match policy.role(name) {
            // Never published, but asked what each record demands.
            _ if policy.privacy.specs().iter().any(|spec| spec.reads(name)) => Storage::Coded,
            Role::Quasi | Role::Sensitive | Role::Class => Storage::Coded,
            Role::Identifier => Storage::Skip,
            Role::Other => Storage::Text,
        })
        .collect()
}

impl Problem {
    /// Joins a table and a policy.
    pub fn new(table: &Table, policy: &Policy) -> Result<Self> {
        policy.check_columns(table.names())?;
        let with_role =
            |role| (0..table.names().len()).filter(move |&at| policy.role(&table.names()[at]) == role);
        let mut encoded = Vec::new();
        for column in with_role(Role::Quasi).chain(with_role(Role::Sensitive)).chain(with_role(Role::Class)) {
            encoded.push((column, encode(table, policy, column)?));
        }
        let rows = complete_rows(table, policy, &encoded);
        let count = rows.as_ref().map_or(table.len(), Vec::len);
        if count == 0 {
            return Err(no_records(table, policy));
        }
        let mut parts = Parts::default();
        for (column, Encoding { domain, codes }) in encoded {
            let name = table.names()[column].clone();
            match policy.role(&name) {
                Role::Quasi => {
                    let (place, written) = match policy.attributes.get_full(&name) {
                        Some((place, _, written)) => (place, Some(written)),
                        None => (usize::MAX, None),
                    };
                    let weight = written.map_or(1.0, |attribute| attribute.weight);
                    let has_hierarchy = written.is_some_and(|attribute| attribute.hierarchy.is_some());
                    parts
                        .quasi
                        .push((Attribute { name, column, weight, domain, has_hierarchy, place }, codes));
                }
                role => {
                    let codes = column_codes(table, column, &codes, rows.as_deref());
                    let has_hierarchy =
                        policy.attributes.get(&name).is_some_and(|attribute| attribute.hierarchy.is_some());
                    let counted = Counted { name, column, domain, has_hierarchy, codes };
                    if role == Role::Sensitive {
                        parts.sensitive.push(counted);
                    } else {
                        parts.classes.push(counted);
                    }
                }
            }
        }
        let records = quasi_matrix(table, &parts.quasi, rows.as_deref(), count);
        let mut attributes: Vec<Attribute> =
            parts.quasi.into_iter().map(|(attribute, _)| attribute).collect();
        weigh(policy, &mut attributes, &records);
        let rules = Rules::bind(policy, &attributes)?;
        let counted: Vec<&Counted> = parts.sensitive.iter().chain(&parts.classes).collect();
        let joined = Joined {
            attributes: &attributes,
            records: &records,
            counted: &counted,
            table,
            rows: rows.as_deref(),
            policy,
        };
        let (limits, demands_by_key) = limits_and_demands(&joined)?;
        let demands = largest(&demands_by_key);
        let requirement =
            Requirement::new(&policy.privacy, &parts.sensitive).with_demands(demands.as_deref());
        let dropped = table.len() - count;
        Ok(Problem {
            attributes,
            records,
            sensitive: parts.sensitive,
            classes: parts.classes,
            demands,
            demands_by_key,
            requirement,
            limits,
            rules,
            // With room for rounding: 5 % of 20 records is one record.
            suppressible: (policy.privacy.suppress * count as f64 + 1e-9) as usize,
            seed: policy.method.seed,
            secret: Secret::fresh()?,
            rows,
            dropped,
            lines: Lines::default(),
        })
    }

    /// Asks for something else.
    pub fn require(&mut self, privacy: &Privacy) {
        self.requirement = Requirement::new(privacy, &self.sensitive).with_demands(self.demands.as_deref());
    }

    /// How many records the class of each record must have, as far as one key of the policy asks.
    pub fn demands_of(&self, key: &str) -> Option<&[u32]> {
        self.demands_by_key.iter().find(|(own, _)| *own == key).map(|(_, demands)| &demands[..])
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// The same problem with some of its records only; domains and requirement stay as they are. None of them may be
    /// suppressed.
    pub fn of_records(&self, records: &[u32]) -> Self {
        let codes = |counted: &Counted| Counted {
            codes: records.iter().map(|record| counted.codes[*record as usize]).collect(),
            ..counted.without_codes()
        };
        Problem {
            attributes: self.attributes.clone(),
            records: with_matrix!(&self.records, matrix => matrix.gather(records).into()),
            sensitive: self.sensitive.iter().map(codes).collect(),
            classes: self.classes.iter().map(codes).collect(),
            demands: self.demands.as_ref().map(|demands| of_each(demands, records)),
            demands_by_key: self
                .demands_by_key
                .iter()
                .map(|(key, demands)| (*key, of_each(demands, records)))
                .collect(),
            requirement: self.requirement.clone(),
            limits: self.limits.clone(),
            rules: self.rules.clone(),
            suppressible: 0,
            seed: self.seed,
            secret: self.secret.clone(),
            rows: Some(records.iter().map(|record| self.row(*record) as u32).collect()),
            dropped: self.dropped,
            lines: Lines::default(),
        }
    }

    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The table's row of a record.
    pub fn row(&self, record: u32) -> usize {
        self.rows.as_ref().map_or(record, |rows| rows[record as usize]) as usize
    }

    /// The records along a line, found when first asked for.
    pub fn line(&self, mapping: &Mapping, watch: &dyn Watch) -> Result<Arc<Line>> {
        self.lines.get(mapping, self, watch)
    }

    /// Σ of the weights.
    pub fn total_weight(&self) -> f64 {
        self.attributes.iter().map(|attribute| attribute.weight).sum()
    }
}

/// What each of some records demands.
fn of_each(demands: &[u32], records: &[u32]) -> Arc<[u32]> {
    records.iter().map(|record| demands[*record as usize]).collect()
}

/// What single records demand, by the key that asks for it.
type DemandsByKey = Vec<(&'static str, Arc<[u32]>)>;

/// What no class may exceed, and what single records demand.
fn limits_and_demands(joined: &Joined<'_>) -> Result<(Limits, DemandsByKey)> {
    let (mut limits, mut demands) = (Limits::default(), Vec::new());
    for spec in joined.policy.privacy.specs() {
        spec.limit(&mut limits, joined)?;
        demands.extend(spec.demands(joined)?.map(|own| (spec.key(), Arc::from(own))));
    }
    Ok((limits, demands))
}

/// The largest demand on each record.
fn largest(demands: &[(&'static str, Arc<[u32]>)]) -> Option<Arc<[u32]>> {
    let (_, first) = demands.first()?;
    if demands.len() == 1 {
        return Some(Arc::clone(first));
    }
    let of_record = |record: usize| demands.iter().map(|(_, own)| own[record]).max().unwrap_or(1);
    Some((0..first.len()).map(of_record).collect())
}

#[derive(Default)]
struct Parts {
    quasi: Vec<(Attribute, Vec<u32>)>,
    sensitive: Vec<Counted>,
    classes: Vec<Counted>,
}

fn encode(table: &Table, policy: &Policy, column: usize) -> Result<Encoding> {
    table.encode(column, &policy.missing, policy.attributes.get(&table.names()[column]))
}

/// Sets the weights that a policy leaves to the table. They add up to 1 if all are left to it; beside given ones,
/// whose default is 1, they are 1 on average.
fn weigh(policy: &Policy, attributes: &mut [Attribute], records: &Records) {
    let auto = |attribute: &Attribute| {
        policy.attributes.get(&attribute.name).is_some_and(|attribute| attribute.auto_weight)
    };
    let count = attributes.iter().filter(|attribute| auto(attribute)).count();
    if count == 0 {
        return;
    }
    let weights = association::weights(attributes, records);
    let own = || attributes.iter().zip(&weights).filter(|(attribute, _)| auto(attribute));
    let sum: f64 = own().map(|(_, weight)| weight).sum();
    let scale = if count == attributes.len() { 1.0 } else { count as f64 / sum };
    for (attribute, weight) in attributes.iter_mut().zip(&weights) {
        if auto(attribute) {
            attribute.weight = weight * scale;
        }
    }
}

fn no_records(table: &Table, policy: &Policy) -> Error {
    let error = Error::new(ErrorCode::EmptyTable, "the table has no records").in_file(table.origin());
    if !table.is_empty() && policy.incomplete == Incomplete::Drop {
        error.with_hint("every row has a missing cell; set `incomplete = \"keep\"` under [data] to keep them")
    } else {
        error.with_hint("a table needs a header row and at least one record")
    }
}

/// The rows without missing cells, where the policy drops the others.
fn complete_rows(table: &Table, policy: &Policy, encoded: &[(usize, Encoding)]) -> Option<Vec<u32>> {
    let with_missing: Vec<_> =
        encoded.iter().filter(|(_, encoding)| encoding.domain.missing().is_some()).collect();
    if policy.incomplete == Incomplete::Keep || with_missing.is_empty() {
        return None;
    }
    let mut complete = vec![true; table.len()];
    for (column, Encoding { domain, codes }) in with_missing {
        for (chunk, rows) in table.chunk_rows().enumerate() {
            for (row, code) in rows.zip(table.coded_chunk(*column, chunk, codes)) {
                complete[row] &= Some(code) != domain.missing();
            }
        }
    }
    Some((0..table.len() as u32).filter(|&row| complete[row as usize]).collect())
}

fn column_codes(table: &Table, column: usize, codes: &[u32], rows: Option<&[u32]>) -> Vec<u32> {
    let chunks: Vec<usize> = (0..table.chunk_rows().len()).collect();
    let all: Vec<Vec<u32>> =
        chunks.into_par_iter().map(|chunk| table.coded_chunk(column, chunk, codes).collect()).collect();
    let all = all.concat();
    match rows {
        Some(rows) => rows.iter().map(|&row| all[row as usize]).collect(),
        None => all,
    }
}

fn quasi_matrix(
    table: &Table,
    quasi: &[(Attribute, Vec<u32>)],
    rows: Option<&[u32]>,
    count: usize,
) -> Records {
    let largest = quasi.iter().map(|(attribute, _)| attribute.domain.len()).max().unwrap_or(0);
    match largest {
        0..=0x100 => Records::Narrow(fill_matrix(table, quasi, rows, count)),
        0x101..=0x1_0000 => Records::Medium(fill_matrix(table, quasi, rows, count)),
        _ => Records::Wide(fill_matrix(table, quasi, rows, count)),
    }
}

/// Fills the matrix chunk by chunk, in parallel.
fn fill_matrix<C: Code>(
    table: &Table,
    quasi: &[(Attribute, Vec<u32>)],
    rows: Option<&[u32]>,
    count: usize,
) -> Matrix<C> {
    let mut matrix = Matrix::zeros(count, quasi.len());
    let stride = matrix.stride;
    let mut rest = matrix.data.as_mut_slice();
    let mut pieces = Vec::new();
    for (chunk, range) in table.chunk_rows().enumerate() {
        let kept = kept_rows(rows, &range);
        let (piece, after) = rest.split_at_mut(kept.map_or(range.len(), <[u32]>::len) * stride);
        rest = after;
        pieces.push((chunk, range, kept, piece));
    }
    pieces.into_par_iter().for_each(|(chunk, range, kept, piece)| {
        for (at, (attribute, codes)) in quasi.iter().enumerate() {
            let cells = table.coded_chunk(attribute.column, chunk, codes);
            let mut put = |row: usize, code: u32| {
                piece[row * stride + at / LANES][at % LANES] = C::from_index(code as usize);
            };
            match kept {
                None => cells.enumerate().for_each(|(row, code)| put(row, code)),
                Some(kept) => {
                    let mut kept = kept.iter().map(|row| *row as usize - range.start).enumerate().peekable();
                    for (row, code) in cells.enumerate() {
                        if let Some((target, _)) = kept.next_if(|(_, wanted)| *wanted == row) {
                            put(target, code);
                        }
                    }
                }
            }
        }
    });
    matrix
}

/// The kept rows that lie in a range of rows.
fn kept_rows<'a>(rows: Option<&'a [u32]>, range: &std::ops::Range<usize>) -> Option<&'a [u32]> {
    rows.map(|rows| {
        let from = rows.partition_point(|row| (*row as usize) < range.start);
        let to = rows.partition_point(|row| (*row as usize) < range.end);
        &rows[from..to]
    })
}
