//! A table of a release in the forms that formats and sinks ask for.

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use super::columnar::Layout;
use super::permutation::SensitiveValues;
use super::{Release, text};
use crate::error::Result;
use crate::format::{AnySyntax, Batched, InSyntax, Syntax, Target, Writable};
use crate::formula::Formulas;
use crate::table::Dialect;
use crate::watch::Watch;

/// One table of a release, ready to be written: the release itself, or the sensitive values that belong to one by
/// permutation.
pub struct Rendered<'a>(Which<'a>);

enum Which<'a> {
    Release(&'a Release<'a>),
    SensitiveValues(SensitiveValues<'a>),
}

impl<'a> Rendered<'a> {
    pub(super) fn release(release: &'a Release<'a>) -> Self {
        Rendered(Which::Release(release))
    }

    pub(super) fn sensitive_values(release: &'a Release<'a>) -> Result<Self> {
        Ok(Rendered(Which::SensitiveValues(SensitiveValues::of(release)?)))
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        match &self.0 {
            Which::Release(release) => release.len(),
            Which::SensitiveValues(values) => values.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The table as record batches.
    pub fn batches(&self) -> Result<RenderedBatches<'_>> {
        Ok(RenderedBatches(match &self.0 {
            Which::Release(release) => Source::Layout(Layout::new(release)),
            Which::SensitiveValues(values) => Source::Whole(values.batch()?),
        }))
    }

    /// Names of the columns.
    pub fn names(&self) -> Vec<&str> {
        match &self.0 {
            Which::Release(release) => release.columns.iter().map(|column| column.name.as_str()).collect(),
            Which::SensitiveValues(values) => values.names().to_vec(),
        }
    }

    fn write_in(&self, syntax: &impl Syntax, target: &mut Target<'_>, watch: &dyn Watch) -> Result<()> {
        match &self.0 {
            Which::Release(release) => text::write(release, syntax, target, watch),
            Which::SensitiveValues(values) => values.write_lines(syntax, target),
        }
    }
}

impl Writable for Rendered<'_> {
    fn names(&self) -> Vec<&str> {
        self.names()
    }

    fn dialect(&self) -> Option<Dialect> {
        match &self.0 {
            Which::Release(release) => release.table.dialect(),
            Which::SensitiveValues(values) => values.release.table.dialect(),
        }
    }

    fn formulas(&self) -> Formulas {
        match &self.0 {
            Which::Release(release) => release.formulas,
            Which::SensitiveValues(values) => values.release.formulas,
        }
    }

    fn write_lines(&self, syntax: &AnySyntax, target: &mut Target<'_>, watch: &dyn Watch) -> Result<()> {
        syntax.run(Writing { rendered: self, target, watch })
    }

    fn batches(&self) -> Result<Box<dyn Batched + '_>> {
        Ok(Box::new(self.batches()?))
    }
}

/// A table on its way into a text.
struct Writing<'a, 't> {
    rendered: &'a Rendered<'a>,
    target: &'a mut Target<'t>,
    watch: &'a dyn Watch,
}

impl InSyntax for Writing<'_, '_> {
    type Output = Result<()>;

    fn run(self, syntax: &impl Syntax) -> Result<()> {
        self.rendered.write_in(syntax, self.target, self.watch)
    }
}

/// The record batches of a table, made as they are asked for.
pub struct RenderedBatches<'a>(Source<'a>);

enum Source<'a> {
    Layout(Layout<'a>),
    Whole(RecordBatch),
}

impl RenderedBatches<'_> {
    /// Names and types of the columns.
    pub fn schema(&self) -> SchemaRef {
        match &self.0 {
            Source::Layout(layout) => layout.schema(),
            Source::Whole(batch) => batch.schema(),
        }
    }

    /// Hands every batch over, in order. They are made in parallel while one before them is taken.
    pub fn for_each(
        &self,
        watch: &dyn Watch,
        take: &mut (dyn FnMut(RecordBatch) -> Result<()> + Send),
    ) -> Result<()> {
        match &self.0 {
            Source::Layout(layout) => layout.for_each(watch, take),
            Source::Whole(batch) => take(batch.clone()),
        }
    }
}

impl Batched for RenderedBatches<'_> {
    fn schema(&self) -> SchemaRef {
        self.schema()
    }

    fn for_each(
        &self,
        watch: &dyn Watch,
        take: &mut (dyn FnMut(RecordBatch) -> Result<()> + Send),
    ) -> Result<()> {
        self.for_each(watch, take)
    }
}
