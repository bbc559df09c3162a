//! Tables: rows as codes over domains, from files or from memory.
//!
//! Reading order: [`source`] opens and decompresses; `blocks` and `text` turn text into chunks of rows, `batches` does
//! so with Arrow record batches ([`format`](crate::format) says which of them reads a file); [`Table`] holds the chunks;
//! [`domain`] orders the distinct values of a column; [`taxonomy`] numbers trees.

pub(crate) mod batches;
pub(crate) mod blocks;
mod builders;
pub(crate) mod chunk;
mod coding;
mod distinct;
pub mod domain;
pub mod gather;
mod intern;
mod nested;
mod origin;
mod reading;
mod select;
mod sketch;
pub mod source;
pub(crate) mod tails;
pub mod taxonomy;
pub(crate) mod text;
pub(crate) mod types;

use std::sync::{Arc, OnceLock};

pub use crate::schema::{Spelling, spelling, value};
pub use batches::IntoBatch;
pub(crate) use builders::labels_above;
use chunk::{Chunk, Slot};
pub(crate) use chunk::{TextRow, Written, append, append_after};
pub(crate) use distinct::Distinct;
use domain::Unweighed;
pub use domain::{Domain, Scale};
use intern::Interner;
pub use origin::Origin;
pub use reading::{Expansion, Plan, Reading};
pub use sketch::Sketch;
pub use taxonomy::{NodeId, Taxonomy};
pub use text::Dialect;

use crate::error::{Error, ErrorCode, Result};
use crate::parallel;
pub use crate::schema::{ANY, Tree};
use crate::schema::{AttributePolicy, Hierarchy, Kind, Tails};

pub(crate) use crate::collections::Map;

/// How a column is kept in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// As numbers into a dictionary, to be looked at.
    Coded,
    /// As text, to be passed through.
    Text,
    /// Not at all.
    Skip,
}

/// A table in memory.
#[derive(Debug)]
pub struct Table {
    origin: Origin,
    names: Vec<String>,
    storage: Vec<Storage>,
    slots: Vec<Slot>,
    chunks: Vec<Chunk>,
    /// First row of each chunk, and the number of rows at the end.
    starts: Vec<usize>,
    /// The chunk of every `ROWS_PER_HINT`-th row: releases look rows up in random order.
    chunk_hints: Vec<u32>,
    dictionaries: Vec<Dictionary>,
    dialect: Option<Dialect>,
    schema: Option<Arc<arrow_schema::Schema>>,
    /// The columns of nested types that are passed through.
    nested: Vec<usize>,
    /// Whether it is of a format that has nulls.
    has_nulls: bool,
}

/// The distinct values of a coded column.
#[derive(Debug, Default)]
struct Dictionary {
    values: Interner,
    /// For each chunk, the dictionary's number of the chunk's numbers.
    of_chunk: Vec<Vec<u32>>,
    /// For each row the number of its value, once somebody asked.
    of_row: OnceLock<Vec<u32>>,
}

impl Table {
    /// Puts chunks together.
    pub(crate) fn new(origin: Origin, names: Vec<String>, storage: Vec<Storage>, chunks: Vec<Chunk>) -> Self {
        let mut starts = vec![0];
        for chunk in &chunks {
            starts.push(starts[starts.len() - 1] + chunk.rows);
        }
        let slots = chunk::slots(&storage);
        let coded = storage.iter().filter(|storage| **storage == Storage::Coded).count();
        let dictionaries = parallel::map(0..coded, |at| Dictionary::merge(&chunks, at));
        let chunk_hints = chunk_hints(&starts);
        Table {
            origin,
            names,
            storage,
            slots,
            chunks,
            starts,
            chunk_hints,
            dictionaries,
            dialect: None,
            schema: None,
            nested: Vec::new(),
            has_nulls: false,
        }
    }

    /// Puts the chunks of a piece of a table together, before which there are so many lines.
    pub(crate) fn piece(
        origin: Origin,
        names: Vec<String>,
        storage: Vec<Storage>,
        mut chunks: Vec<Chunk>,
        lines_before: u64,
    ) -> Self {
        let mut nothing = chunk::ChunkBuilder::new(&chunk::slots(&storage)).finish();
        nothing.lines = lines_before;
        nothing.plain = true;
        chunks.insert(0, nothing);
        Self::new(origin, names, storage, chunks)
    }

    /// The same table as one of delimited text.
    pub(crate) fn with_dialect(self, dialect: Dialect) -> Self {
        Table { dialect: Some(dialect), ..self }
    }

    /// The same table as one of Arrow's types.
    fn with_schema(self, schema: Arc<arrow_schema::Schema>, nested: Vec<usize>) -> Self {
        Table { schema: Some(schema), nested, has_nulls: true, ..self }
    }

    /// The same table as one of a format that has nulls.
    pub(crate) fn with_nulls(self) -> Self {
        Table { has_nulls: true, ..self }
    }

    /// Whether it is of a format that has nulls, which a release in such a format then has too.
    pub fn has_nulls(&self) -> bool {
        self.has_nulls
    }

    /// Where it came from.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Column names.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.starts[self.starts.len() - 1]
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How a column is kept.
    pub fn storage(&self, column: usize) -> Storage {
        self.storage[column]
    }

    /// The dialect of a text table.
    pub fn dialect(&self) -> Option<Dialect> {
        self.dialect
    }

    /// The schema of a columnar table.
    pub fn schema(&self) -> Option<&arrow_schema::Schema> {
        self.schema.as_deref()
    }

    /// The distinct values of a coded column, in order of first appearance.
    pub fn values(&self, column: usize) -> Vec<&str> {
        self.dictionary(column).map(|dictionary| dictionary.values.texts().collect()).unwrap_or_default()
    }

    fn dictionary(&self, column: usize) -> Option<&Dictionary> {
        match self.slots[column] {
            Slot::Coded(at) => Some(&self.dictionaries[at]),
            Slot::Text | Slot::Skip => None,
        }
    }

    /// Visits the rows of a coded column chunk by chunk: first row, and per row the number of its value in
    /// [`Table::values`] looked up in `codes`.
    pub(crate) fn coded_chunk<'a>(
        &'a self,
        column: usize,
        chunk: usize,
        codes: &'a [u32],
    ) -> impl ExactSizeIterator<Item = u32> + 'a {
        let Slot::Coded(at) = self.slots[column] else { unreachable!("only coded columns are visited") };
        let map: Vec<u32> =
            self.dictionaries[at].of_chunk[chunk].iter().map(|&number| codes[number as usize]).collect();
        self.chunks[chunk].coded[at].codes.iter().map(move |&local| map[local as usize])
    }

    /// Number of chunks and the rows of each.
    pub(crate) fn chunk_rows(&self) -> impl ExactSizeIterator<Item = std::ops::Range<usize>> + '_ {
        self.starts.windows(2).map(|pair| pair[0]..pair[1])
    }

    /// The passed-through cells of a row, and whether none of them needs quoting in the table's own dialect.
    #[inline]
    pub(crate) fn text_row(&self, row: usize) -> (TextRow<'_>, bool) {
        let chunk = self.chunk_of(row);
        let within = row - self.starts[chunk];
        (self.chunks[chunk].text.row(within), self.chunks[chunk].plain)
    }

    /// The passed-through cells of a row as texts; `None` where the table had a null.
    pub(crate) fn nullable_text_row(&self, row: usize) -> impl Iterator<Item = Option<&str>> {
        let chunk = self.chunk_of(row);
        let cells = self.chunks[chunk].text.row(row - self.starts[chunk]).nullable();
        // Every chunk is checked to be UTF-8 when it is read.
        cells.map(|cell| cell.map(|cell| std::str::from_utf8(cell).unwrap_or_default()))
    }

    /// Whether a name or a cell that is kept passes a test, which nothing passes that begins with a letter or a digit.
    pub(crate) fn any_text(&self, test: fn(&str) -> bool) -> bool {
        let coded = |column: usize| self.values(column).into_iter().any(test);
        let passed = |chunk: usize| self.chunks[chunk].text.any(test);
        self.names.iter().any(|name| test(name))
            || (0..self.names.len()).any(coded)
            || parallel::any(self.chunks.len(), 1, passed)
    }

    #[inline]
    fn chunk_of(&self, row: usize) -> usize {
        let mut chunk = self.chunk_hints[row / ROWS_PER_HINT] as usize;
        while self.starts[chunk + 1] <= row {
            chunk += 1;
        }
        chunk
    }

    /// Encodes a coded column over its domain.
    pub fn encode(
        &self,
        column: usize,
        missing: &[String],
        policy: Option<&AttributePolicy>,
    ) -> Result<domain::Encoding> {
        let encoded = match self.spelling_without_values(column) {
            Some(spelling) if policy.is_none_or(AttributePolicy::leaves_kind_open) => {
                domain::encode_spelt(&[], &[], spelling, &Tails::default())
            }
            _ => encode_texts(&self.values(column), missing, policy),
        };
        let mut encoding = encoded.map_err(|misfit| {
            let error = Error::new(misfit.code, misfit.message).with_hint(misfit.hint);
            self.error_at(column, misfit.entry, error)
        })?;
        let kind = encoding.domain.kind();
        if let Some(AttributePolicy { leaf_weights, node_weights, .. }) = policy
            && !(leaf_weights.is_empty() && node_weights.is_empty())
        {
            check_weights(kind, encoding.domain.weigh(leaf_weights, node_weights)).map_err(|error| {
                error.in_file(&self.origin).in_column(column as u64 + 1).for_attribute(&self.names[column])
            })?;
        }
        Ok(encoding)
    }

    /// How numbers and dates of a column are spelt whose type alone tells that they are such, because there are no rows.
    fn spelling_without_values(&self, column: usize) -> Option<Spelling> {
        use arrow_schema::DataType;
        match self.schema.as_ref()?.field(column).data_type() {
            _ if !self.is_empty() => None,
            DataType::Date32 | DataType::Date64 => Some(Spelling::Iso),
            own if own.is_numeric() => Some(Spelling::Point),
            _ => None,
        }
    }

    /// The tree that a hierarchy gives the values of a coded column; an error names the first value that it has no place for.
    pub fn grown(
        &self,
        column: usize,
        missing: &[String],
        (hierarchy, spelling): (&Hierarchy, Option<&Spelling>),
    ) -> Result<Tree> {
        let texts = self.values(column);
        let missing: Vec<bool> = texts.iter().map(|text| missing.iter().any(|own| own == text)).collect();
        let present = || texts.iter().zip(&missing).filter(|(_, gone)| !**gone).map(|(text, _)| *text);
        let guessed = || domain::guess_spelling(present()).unwrap_or(Spelling::Point);
        let spelling = spelling.cloned().unwrap_or_else(guessed);
        let tree = builders::tree(hierarchy, &spelling, &texts, &missing);
        tree.map(std::borrow::Cow::into_owned).map_err(|misfit| {
            self.error_at(
                column,
                misfit.entry,
                Error::new(misfit.code, misfit.message).with_hint(misfit.hint),
            )
        })
    }

    /// Lets an error point at the first cell that holds the value with this number.
    pub(crate) fn error_at(&self, column: usize, number: u32, error: Error) -> Error {
        let error =
            error.in_file(&self.origin).in_column(column as u64 + 1).for_attribute(&self.names[column]);
        match self.first_row_with(column, number) {
            Some(row) => error.on_line(self.line_of(row)),
            None => error,
        }
    }

    /// For each row of a coded column the number of its value in [`Table::values`].
    pub fn numbers(&self, column: usize) -> &[u32] {
        let Slot::Coded(at) = self.slots[column] else { return &[] };
        let Dictionary { of_chunk, of_row, .. } = &self.dictionaries[at];
        of_row.get_or_init(|| {
            let mut numbers = vec![0; self.len()];
            let mut rest = numbers.as_mut_slice();
            let mut pieces = Vec::with_capacity(self.chunks.len());
            for (chunk, of_chunk) in self.chunks.iter().zip(of_chunk) {
                let (piece, after) = rest.split_at_mut(chunk.rows);
                pieces.push((piece, &chunk.coded[at].codes, of_chunk));
                rest = after;
            }
            parallel::each(pieces, |(piece, codes, of_chunk)| {
                piece.iter_mut().zip(codes).for_each(|(number, local)| *number = of_chunk[*local as usize]);
            });
            numbers
        })
    }

    fn first_row_with(&self, column: usize, number: u32) -> Option<usize> {
        let identity: Vec<u32> = (0..self.dictionary(column)?.values.len() as u32).collect();
        self.chunk_rows().enumerate().find_map(|(chunk, rows)| {
            let within = self.coded_chunk(column, chunk, &identity).position(|code| code == number)?;
            Some(rows.start + within)
        })
    }

    /// The line of a row in a text table, counted from 1; in a columnar table the row.
    pub fn line_of(&self, row: usize) -> u64 {
        let chunk = self.chunk_of(row);
        let before: u64 = self.chunks[..chunk].iter().map(|chunk| chunk.lines).sum();
        let within = row - self.starts[chunk];
        let within = match &self.chunks[chunk].line_of_row {
            Some(lines) => u64::from(lines[within]),
            None => within as u64 + 1,
        };
        before + within
    }
}

/// An error if weights were given to what has none.
pub(crate) fn check_weights(kind: Kind, weighed: Result<(), Unweighed>) -> Result<()> {
    let unknown = |key: &str, name: &str, where_to: &str| {
        let message = format!("{key} names \"{}\", which is {where_to}", crate::words::shorten(name));
        Error::new(ErrorCode::UnknownValue, message)
    };
    let error = match (kind, weighed) {
        (Kind::Categorical, Ok(())) => return Ok(()),
        (Kind::Categorical, Err(Unweighed::Leaf(name))) => {
            unknown("leaf_weights", &name, "neither in the table nor in the hierarchy")
                .with_hint("correct the name, or leave it out; groups of the hierarchy stand in node_weights")
        }
        (Kind::Categorical, Err(Unweighed::Node(name))) => {
            unknown("node_weights", &name, "no group of the hierarchy")
                .with_hint("correct the name, or leave it out; single values stand in leaf_weights")
        }
        (Kind::Categorical, Err(Unweighed::TooFarApart)) => {
            Error::new(ErrorCode::BadValue, "the weights of a leaf and the nodes above it are too far apart")
                .with_hint("they are multiplied: write weights nearer to 1")
        }
        (Kind::Numeric, _) => Error::new(
            ErrorCode::WrongKind,
            "leaf_weights and node_weights weigh categories, but this attribute is numeric",
        )
        .with_hint("leave them out, or make the attribute categorical"),
    };
    Err(error)
}

const ROWS_PER_HINT: usize = 1024;

fn chunk_hints(starts: &[usize]) -> Vec<u32> {
    let rows = starts[starts.len() - 1];
    let mut chunk = 0;
    (0..rows.div_ceil(ROWS_PER_HINT))
        .map(|hint| {
            while starts[chunk + 1] <= hint * ROWS_PER_HINT {
                chunk += 1;
            }
            chunk as u32
        })
        .collect()
}

/// Orders distinct texts into a domain; `missing` lists those that stand for a missing value.
fn encode_texts(
    texts: &[&str],
    missing: &[String],
    policy: Option<&AttributePolicy>,
) -> Result<domain::Encoding, domain::Misfit> {
    let missing: Vec<bool> = texts.iter().map(|text| missing.iter().any(|marker| marker == text)).collect();
    let present = || texts.iter().zip(&missing).filter(|(_, missing)| !**missing).map(|(text, _)| *text);
    let hierarchy = policy.and_then(|policy| policy.hierarchy.as_ref());
    let spelling = policy.and_then(|policy| policy.spelling.clone());
    let kind = match (policy.and_then(|policy| policy.kind), hierarchy) {
        (Some(kind), _) => kind,
        (None, Some(_)) => Kind::Categorical,
        (None, None) if spelling.is_some() => Kind::Numeric,
        (None, None) => domain::guess_kind(present()),
    };
    let none = Tails::default();
    encode_as(kind, hierarchy, (spelling, policy.map_or(&none, |policy| &policy.tails)), texts, &missing)
}

fn encode_as(
    kind: Kind,
    hierarchy: Option<&Hierarchy>,
    (spelling, tails): (Option<Spelling>, &Tails),
    texts: &[&str],
    missing: &[bool],
) -> Result<domain::Encoding, domain::Misfit> {
    // Categories need no numbers, unless their hierarchy is made of them.
    let numbers = kind == Kind::Numeric
        || hierarchy.is_some_and(|own| match own {
            Hierarchy::Dates(_) | Hierarchy::Intervals(_) => true,
            Hierarchy::Official(own) => own.is_spelt(),
            Hierarchy::Tree(_) | Hierarchy::Prefix(_) => false,
        });
    let spelling = match spelling {
        Some(spelling) => spelling,
        None if numbers => domain::spelling_of(texts, missing)?,
        None => Spelling::Point,
    };
    let finest = builders::at_finest(hierarchy, &spelling, texts, missing)?;
    let finest: Vec<&str> = finest.iter().map(AsRef::as_ref).collect();
    let tree =
        hierarchy.map(|hierarchy| builders::tree(hierarchy, &spelling, &finest, missing)).transpose()?;
    match kind {
        Kind::Numeric => {
            if let Some(tree) = &tree {
                domain::check_covered(tree, texts, missing)?;
            }
            let mut encoding = domain::encode_spelt(texts, missing, spelling, tails)?;
            if let Some(tree) = &tree {
                encoding.domain.set_bands(tree)?;
            }
            Ok(encoding)
        }
        Kind::Categorical if !tails.is_empty() => Err(domain::no_tails_here(texts, missing)),
        Kind::Categorical => {
            let mut encoding = domain::encode_categorical(&finest, missing, tree.as_deref())?;
            if let Some(own) = hierarchy.and_then(Hierarchy::finest) {
                encoding.domain.set_finest(own.clone(), spelling);
            }
            Ok(encoding)
        }
    }
}

impl Dictionary {
    fn merge(chunks: &[Chunk], at: usize) -> Self {
        let mut dictionary = Dictionary::default();
        for chunk in chunks {
            dictionary.of_chunk.push(dictionary.values.intern_all(&chunk.coded[at].values));
        }
        dictionary
    }
}
