//! A table and a policy become a problem: columns become codes, and what the policy asks for is bound to them.

use std::sync::Arc;

use crate::collections::Arrange;
use crate::data::{
    Attribute, Cache, Code, Data, DemandsByKey, Joined, LANES, Matrix, People, Protected, Records,
    column_codes,
};
use crate::error::{Error, ErrorCode, Result};
use crate::loss::Limits;
use crate::parallel;
use crate::policy::suggest::person;
use crate::policy::{AttributePolicy, Incomplete, Policy, Role, Rule};
use crate::privacy::Requirement;
use crate::problem::Problem;
use crate::research::association;
use crate::rules::Rules;
use crate::secret::Secret;
use crate::table::domain::Encoding;
use crate::table::{self, Domain, Sketch, Storage, Table, tails};

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
            Role::Quasi | Role::Sensitive | Role::Class | Role::Person => Storage::Coded,
            Role::Identifier if person::is_watched(policy, name) => Storage::Coded,
            Role::Identifier => Storage::Skip,
            Role::Other => Storage::Text,
        })
        .collect()
}

impl Problem {
    /// Joins a table and a policy.
    pub fn new(table: &Table, policy: &Policy) -> Result<Self> {
        Self::among(table, policy, None)
    }

    /// Joins some rows of a table, ascending, and a policy. Domains are those of the whole table, so that the same cell costs
    /// the same whoever is asked about.
    pub fn among(table: &Table, policy: &Policy, chosen: Option<&[u32]>) -> Result<Self> {
        policy.check_columns(table.names())?;
        let data = data(table, policy, chosen)?;
        if data.is_empty() {
            return Err(no_records(table, policy));
        }
        Self::of_data(table, policy, data)
    }

    /// Joins a table without rows and a policy.
    pub fn of_nobody(table: &Table, policy: &Policy) -> Result<Self> {
        policy.check_columns(table.names())?;
        Self::of_data(table, policy, data(table, policy, Some(&[]))?)
    }

    fn of_data(table: &Table, policy: &Policy, mut data: Data) -> Result<Self> {
        let rules = Rules::bind(&data.attributes, |name| rules_of(policy, name), policy.source())?;
        rules.add_bands(&mut data.attributes);
        let (limits, demands_by_key) = limits_and_demands(table, policy, &data)?;
        let data = Data { demands: largest(&demands_by_key), demands_by_key, ..data };
        let requirement = Requirement::new(&policy.privacy, &data.sensitive)
            .with_demands(data.demands.as_deref())
            .counting(data.people.as_ref());
        // With room for rounding: 5 % of 20 records is one record.
        let suppressible = (policy.privacy.suppress * data.len() as f64 + 1e-9) as usize;
        Ok(Problem { data, requirement, limits, rules, suppressible })
    }
}

/// A value that does not belong into its domain: the column, the text, and what is wrong.
pub(crate) struct Stranger {
    pub column: usize,
    pub text: String,
    pub error: Error,
}

/// For columns, by their number, the code of each value of their sketch.
pub(crate) type CodesOfColumns = Vec<(usize, Vec<u32>)>;

/// The problem of a table of which only sketches are at hand, without records; and for each column that is looked at the code of
/// each value of its sketch.
pub(crate) fn of_sketches(
    names: &[String],
    policy: &Policy,
    sketch: impl Fn(usize) -> Option<Sketch>,
) -> Result<(Problem, CodesOfColumns), Box<Stranger>> {
    let mut parts = Parts::default();
    let mut codes_of = Vec::new();
    for role in [Role::Quasi, Role::Sensitive, Role::Class] {
        for column in (0..names.len()).filter(|at| policy.role(&names[*at]) == role) {
            let Encoding { domain, codes } = encode_sketch(names, policy, column, sketch(column))?;
            codes_of.push((column, codes));
            parts.push(names[column].clone(), column, policy, domain, Vec::new());
        }
    }
    codes_of.arrange_by_key(|(column, _)| *column);
    let mut attributes: Vec<Attribute> = parts.quasi.into_iter().map(|(attribute, _)| attribute).collect();
    let whole = |error: Error| Box::new(Stranger { column: 0, text: String::new(), error });
    let rules = Rules::bind(&attributes, |name| rules_of(policy, name), policy.source()).map_err(whole)?;
    rules.add_bands(&mut attributes);
    let data = Data {
        records: Records::Narrow(Matrix::zeros(0, attributes.len())),
        attributes,
        sensitive: parts.sensitive,
        labels: parts.labels,
        people: None,
        together: false,
        number_column: None,
        demands: None,
        demands_by_key: Vec::new(),
        seed: policy.method.seed,
        secret: Secret::fresh().map_err(whole)?,
        rows: None,
        dropped: 0,
        cache: Cache::default(),
        whole: None,
    };
    let requirement = Requirement::default();
    Ok((Problem { data, requirement, limits: Limits::default(), rules, suppressible: 0 }, codes_of))
}

fn encode_sketch(
    names: &[String],
    policy: &Policy,
    column: usize,
    sketch: Option<Sketch>,
) -> Result<Encoding, Box<Stranger>> {
    let sketch = sketch.unwrap_or_default();
    let written = policy.attributes.get(&names[column]);
    let stranger = |text: &str, error: Error| {
        let error = error.in_column(column as u64 + 1).for_attribute(&names[column]);
        Box::new(Stranger { column, text: text.to_owned(), error })
    };
    let mut encoding = sketch.encode(&policy.missing, written).map_err(|misfit| {
        let text = sketch.values().nth(misfit.entry as usize).map_or("", |(text, _)| text);
        stranger(text, Error::new(misfit.code, misfit.message).with_hint(misfit.hint))
    })?;
    if let Some(own) = written.filter(|own| !(own.leaf_weights.is_empty() && own.node_weights.is_empty())) {
        let kind = encoding.domain.kind();
        table::check_weights(kind, encoding.domain.weigh(&own.leaf_weights, &own.node_weights))
            .map_err(|error| stranger("", error))?;
    }
    Ok(encoding)
}

/// The records of a table in codes, or of some of its rows. Nobody demands anything yet.
fn data(table: &Table, policy: &Policy, chosen: Option<&[u32]>) -> Result<Data> {
    let encoded = encode(table, policy)?;
    let people = People::of_rows(table, &columns_of(table, policy, Role::Person), &policy.missing);
    let nobody = people.as_ref().map_or(&[][..], |(_, nobody)| nobody);
    if let (Some(row), Incomplete::Keep) = (nobody.first(), policy.incomplete) {
        return Err(nobodys_record(table, policy, *row));
    }
    let complete = complete_rows(table, policy, &encoded, nobody);
    let asked = chosen.map_or(table.len(), <[u32]>::len);
    let rows = match (complete, chosen) {
        (complete, None) => complete,
        (None, Some(chosen)) => Some(chosen.to_vec()),
        (Some(complete), Some(chosen)) => {
            Some(chosen.iter().filter(|row| complete.binary_search(row).is_ok()).copied().collect())
        }
    };
    let people = people.map(|(people, _)| match &rows {
        Some(rows) => people.of_some(rows),
        None => people,
    });
    let count = rows.as_ref().map_or(table.len(), Vec::len);
    let mut parts = Parts::of(table, policy, rows.as_deref(), encoded);
    parts.sensitive.iter_mut().for_each(|column| column.people = people.clone());
    let records = quasi_matrix(table, &parts.quasi, rows.as_deref(), count);
    let mut attributes: Vec<Attribute> = parts.quasi.into_iter().map(|(attribute, _)| attribute).collect();
    weigh(policy, &mut attributes, &records);
    Ok(Data {
        attributes,
        records,
        sensitive: parts.sensitive,
        labels: parts.labels,
        people,
        together: policy.keeps_people_together(),
        number_column: policy.number_column().map(str::to_owned),
        demands: None,
        demands_by_key: Vec::new(),
        seed: policy.method.seed,
        secret: Secret::fresh()?,
        rows,
        dropped: asked - count,
        cache: Cache::default(),
        whole: None,
    })
}

/// What no class may exceed, and what single records demand.
fn limits_and_demands(table: &Table, policy: &Policy, data: &Data) -> Result<(Limits, DemandsByKey)> {
    let protected: Vec<&Protected> = data.sensitive.iter().chain(&data.labels).collect();
    let joined = Joined {
        attributes: &data.attributes,
        records: &data.records,
        protected: &protected,
        table,
        rows: data.rows.as_deref(),
        missing: &policy.missing,
        source: policy.source(),
    };
    let (mut limits, mut demands) = (Limits::default(), Vec::new());
    for spec in policy.privacy.specs() {
        spec.limit(&mut limits, &joined)?;
        demands.extend(spec.demands(&joined)?.map(|own| (spec.key(), Arc::from(own))));
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

/// The columns of a table that are looked at, by role.
#[derive(Default)]
struct Parts {
    quasi: Vec<(Attribute, Vec<u32>)>,
    sensitive: Vec<Protected>,
    labels: Vec<Protected>,
}

impl Parts {
    fn of(table: &Table, policy: &Policy, rows: Option<&[u32]>, encoded: Vec<(usize, Encoding)>) -> Self {
        let mut parts = Parts::default();
        for (column, Encoding { domain, codes }) in encoded {
            let name = table.names()[column].clone();
            let codes = match policy.role(&name) {
                Role::Quasi => codes,
                _ => column_codes(table, column, &codes, rows),
            };
            parts.push(name, column, policy, domain, codes);
        }
        parts
    }

    fn push(&mut self, name: String, column: usize, policy: &Policy, domain: Domain, codes: Vec<u32>) {
        let (place, written) = match policy.attributes.get_full(&name) {
            Some((place, _, written)) => (place, Some(written)),
            None => (usize::MAX, None),
        };
        let has_hierarchy = written.is_some_and(|attribute| attribute.hierarchy.is_some());
        let role = policy.role(&name);
        if role == Role::Quasi {
            let weight = written.map_or(1.0, |attribute| attribute.weight);
            self.quasi.push((Attribute { name, column, weight, domain, has_hierarchy, place }, codes));
            return;
        }
        let own = Protected { name, column, domain, has_hierarchy, codes, people: None, whole: None };
        if role == Role::Sensitive { self.sensitive.push(own) } else { self.labels.push(own) }
    }
}

/// The rules that a policy has for an attribute.
fn rules_of<'a>(policy: &'a Policy, name: &str) -> &'a [Rule] {
    policy.attributes.get(name).map_or(&[], |attribute| &attribute.rules)
}

/// The columns that are looked at over their domains: quasi-identifiers, sensitive attributes, labels.
fn encode(table: &Table, policy: &Policy) -> Result<Vec<(usize, Encoding)>> {
    let names = table.names();
    let with_role = |role| (0..names.len()).filter(move |&at| policy.role(&names[at]) == role);
    let columns = [Role::Quasi, Role::Sensitive, Role::Class].into_iter().flat_map(with_role);
    let encode = |column: usize| {
        let written = policy.attributes.get(&names[column]);
        let fixed = written
            .filter(|own| !own.tails.is_empty())
            .map(|own| with_fixed_tails(table, policy, column, own));
        Ok((column, table.encode(column, &policy.missing, fixed.as_ref().or(written))?))
    };
    columns.map(encode).collect()
}

/// How many people a tail holds where no k is asked for.
const TAIL: usize = 5;

/// What a policy says of an attribute, its tails set by the table where that is left to it: as many people in each as a class
/// must have. Rows that are dropped are nobody's.
fn with_fixed_tails(table: &Table, policy: &Policy, column: usize, own: &AttributePolicy) -> AttributePolicy {
    let named = policy.privacy.quasi_identifiers().iter().map(|named| named.k).max();
    let k = policy.privacy.k().or(named).unwrap_or(TAIL);
    let people = People::of_rows(table, &columns_of(table, policy, Role::Person), &policy.missing);
    let dropped = dropped_rows(table, policy, people.as_ref().map_or(&[], |(_, nobody)| nobody));
    let values = table.values(column);
    let mut whose: Vec<Vec<u32>> = vec![Vec::new(); values.len()];
    for (row, number) in (0..).zip(table.numbers(column)).filter(|(row, _)| !dropped[*row as usize]) {
        whose[*number as usize].push(people.as_ref().map_or(row, |(people, _)| people.of(row)));
    }
    let missing = |text: &str| policy.missing.iter().any(|marker| marker == text);
    let present = values.into_iter().zip(whose.iter().map(Vec::as_slice)).filter(|(text, _)| !missing(text));
    AttributePolicy { tails: tails::fixed(&own.tails, own.spelling.as_ref(), present, k), ..own.clone() }
}

/// For each row whether the policy drops it: a cell that is looked at is missing, or it is nobody's.
fn dropped_rows(table: &Table, policy: &Policy, nobody: &[u32]) -> Vec<bool> {
    let mut dropped = vec![false; table.len()];
    if policy.incomplete == Incomplete::Keep {
        return dropped;
    }
    nobody.iter().for_each(|row| dropped[*row as usize] = true);
    for column in
        [Role::Quasi, Role::Sensitive, Role::Class].map(|role| columns_of(table, policy, role)).concat()
    {
        let missing: Vec<bool> =
            table.values(column).iter().map(|text| policy.missing.iter().any(|own| own == text)).collect();
        dropped
            .iter_mut()
            .zip(table.numbers(column))
            .for_each(|(own, number)| *own |= missing[*number as usize]);
    }
    dropped
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

/// The columns of a role.
fn columns_of(table: &Table, policy: &Policy, role: Role) -> Vec<usize> {
    (0..table.names().len()).filter(|at| policy.role(&table.names()[*at]) == role).collect()
}

/// A row that does not say whose it is cannot be counted, neither as one more person nor as one that is there already.
fn nobodys_record(table: &Table, policy: &Policy, row: u32) -> Error {
    let names: Vec<&str> = policy.person_columns().map(|(name, _)| name).collect();
    let message = format!("a record does not say whose it is: \"{}\" is missing", names.join("\", \""));
    Error::new(ErrorCode::NoPerson, message)
        .in_file(table.origin())
        .on_line(table.line_of(row as usize))
        .with_hint("fill it in, or leave such rows out with incomplete = \"drop\" under [data]")
}

/// The rows without missing cells, where the policy drops the others.
fn complete_rows(
    table: &Table,
    policy: &Policy,
    encoded: &[(usize, Encoding)],
    nobody: &[u32],
) -> Option<Vec<u32>> {
    let with_missing: Vec<_> =
        encoded.iter().filter(|(_, encoding)| encoding.domain.missing().is_some()).collect();
    if policy.incomplete == Incomplete::Keep || with_missing.is_empty() && nobody.is_empty() {
        return None;
    }
    let mut complete = vec![true; table.len()];
    nobody.iter().for_each(|row| complete[*row as usize] = false);
    for (column, Encoding { domain, codes }) in with_missing {
        for (chunk, rows) in table.chunk_rows().enumerate() {
            for (row, code) in rows.zip(table.coded_chunk(*column, chunk, codes)) {
                complete[row] &= Some(code) != domain.missing();
            }
        }
    }
    Some((0..table.len() as u32).filter(|&row| complete[row as usize]).collect())
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
    let stride = matrix.stride();
    let mut rest = matrix.data.as_mut_slice();
    let mut pieces = Vec::new();
    for (chunk, range) in table.chunk_rows().enumerate() {
        let kept = kept_rows(rows, &range);
        let (piece, after) = rest.split_at_mut(kept.map_or(range.len(), <[u32]>::len) * stride);
        rest = after;
        pieces.push((chunk, range, kept, piece));
    }
    parallel::each(pieces, |(chunk, range, kept, piece)| {
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
