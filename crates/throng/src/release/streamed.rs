//! A release whose rows come in record batches, one after the other: it need not fit into memory.

use std::io::Write as _;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use super::held::lines;
use crate::error::{Error, ErrorCode, Result};
use crate::format::{AnySyntax, Batched, InSyntax, Syntax, Target, Writable};
use crate::formula::Formulas;
use crate::parallel;
use crate::table::Dialect;
use crate::watch::Watch;

/// Rows that one thread spells at a time.
const ROWS_PER_BLOCK: usize = 1 << 14;

/// Rows on their way into a file.
pub(crate) struct Streamed<'a> {
    /// Where they come from.
    pub source: &'a dyn Batched,
    /// Their columns.
    pub schema: SchemaRef,
    /// What text has in place of nulls.
    pub missing: &'a str,
    /// How the table delimits its cells.
    pub dialect: Option<Dialect>,
    /// What becomes of cells that a spreadsheet would run.
    pub formulas: Formulas,
}

impl Streamed<'_> {
    fn write_in(&self, syntax: &impl Syntax, target: &mut Target<'_>, watch: &dyn Watch) -> Result<()> {
        let place = target.place().to_owned();
        let fail = |cause: std::io::Error| Error::io(ErrorCode::CannotWrite, "write", &place, &cause);
        let mut head = Vec::new();
        syntax.head(&self.names(), &mut head);
        target.write_all(&head).map_err(fail)?;
        self.source.for_each(watch, &mut |batch| {
            let starts: Vec<usize> = (0..batch.num_rows()).step_by(ROWS_PER_BLOCK).collect();
            let block = |start: usize| {
                let rows = ROWS_PER_BLOCK.min(batch.num_rows() - start);
                lines(&batch.slice(start, rows), self.missing, syntax)
            };
            let blocks: Vec<Vec<u8>> = parallel::try_map(starts, block)?;
            blocks.iter().try_for_each(|block| target.write_all(block)).map_err(fail)
        })
    }
}

impl Writable for Streamed<'_> {
    fn names(&self) -> Vec<&str> {
        self.schema.fields().iter().map(|field| field.name().as_str()).collect()
    }

    fn dialect(&self) -> Option<Dialect> {
        self.dialect
    }

    fn formulas(&self) -> Formulas {
        self.formulas
    }

    fn write_lines(&self, syntax: &AnySyntax, target: &mut Target<'_>, watch: &dyn Watch) -> Result<()> {
        syntax.run(Writing { streamed: self, target, watch })
    }

    fn batches(&self) -> Result<Box<dyn Batched + '_>> {
        Ok(Box::new(Borrowed(self.source)))
    }
}

struct Borrowed<'a>(&'a dyn Batched);

impl Batched for Borrowed<'_> {
    fn schema(&self) -> SchemaRef {
        self.0.schema()
    }

    fn for_each(
        &self,
        watch: &dyn Watch,
        take: &mut (dyn FnMut(RecordBatch) -> Result<()> + Send),
    ) -> Result<()> {
        self.0.for_each(watch, take)
    }
}

/// Rows on their way into a text.
struct Writing<'a, 't> {
    streamed: &'a Streamed<'a>,
    target: &'a mut Target<'t>,
    watch: &'a dyn Watch,
}

impl InSyntax for Writing<'_, '_> {
    type Output = Result<()>;

    fn run(self, syntax: &impl Syntax) -> Result<()> {
        self.streamed.write_in(syntax, self.target, self.watch)
    }
}
