//! The records that no class has taken yet, equal ones together.

use crate::loss::Extent;
use crate::method::improve::Work;
use crate::parallel;
use crate::problem::{Code, LANES, Lanes};

/// Distinct rows with the records that are still open.
pub(super) struct OpenRows<C> {
    /// Records, those of a row next to each other, the open ones first.
    records: Vec<u32>,
    /// Where the records of each row start; one more at the end.
    starts: Vec<u32>,
    /// How many records of each row are open.
    open: Vec<u32>,
    /// The codes of the rows, one after the other, to put boxes around them.
    codes: Vec<Lanes<C>>,
    stride: usize,
    /// The same attribute by attribute, to count them: those of one attribute stay in the nearest cache.
    columns: Vec<Vec<C>>,
    left: usize,
}

/// Puts the records that are wanted behind the others, all in their order; tells how many the others are.
fn put_wanted_last(own: &mut [u32], wanted: &[u32]) -> usize {
    let is_wanted = |record: &u32| wanted.binary_search(record).is_ok();
    own.sort_unstable_by_key(|record| (is_wanted(record), *record));
    own.partition_point(|record| !is_wanted(record))
}

impl<C: Code> OpenRows<C> {
    /// All records. Rows are numbered along one attribute.
    pub fn new(work: &Work<'_, C>, along: usize) -> Self {
        let matrix = work.matrix;
        let key = |record: u32| {
            let row = matrix.row(record as usize);
            (row[along / LANES][along % LANES], row)
        };
        let mut records: Vec<u32> = (0..matrix.len() as u32).collect();
        parallel::sort_by(&mut records, &|a, b| key(a).cmp(&key(b)).then(a.cmp(&b)));
        let row = |at: usize| matrix.row(records[at] as usize);
        let mut starts: Vec<u32> =
            (0..records.len()).filter(|at| *at == 0 || row(at - 1) != row(*at)).map(|at| at as u32).collect();
        let codes: Vec<Lanes<C>> = starts.iter().flat_map(|start| row(*start as usize)).copied().collect();
        starts.push(records.len() as u32);
        let open = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let stride = matrix.stride();
        let column = |at: usize| codes.chunks_exact(stride).map(|row| row[at / LANES][at % LANES]).collect();
        let columns = (0..work.problem.attributes.len()).map(column).collect();
        OpenRows { left: records.len(), records, starts, open, codes, stride, columns }
    }

    /// Number of distinct rows.
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Number of open records.
    pub fn records_left(&self) -> usize {
        self.left
    }

    /// How many records of a row are open.
    #[inline(always)]
    pub fn count(&self, row: u32) -> u32 {
        self.open[row as usize]
    }

    /// How many records of some rows are open.
    pub fn count_all(&self, rows: &[u32]) -> usize {
        rows.iter().map(|row| self.count(*row) as usize).sum()
    }

    /// The codes of a row.
    #[inline(always)]
    pub fn codes(&self, row: u32) -> &[Lanes<C>] {
        let first = row as usize * self.stride;
        &self.codes[first..first + self.stride]
    }

    /// The codes of an attribute, row by row.
    #[inline(always)]
    pub fn column(&self, attribute: usize) -> &[C] {
        &self.columns[attribute]
    }

    /// One code of a row.
    #[inline(always)]
    pub fn code(&self, row: u32, attribute: usize) -> usize {
        self.columns[attribute][row as usize].index()
    }

    /// The open records of a row.
    pub fn records(&self, row: u32) -> &[u32] {
        let start = self.starts[row as usize] as usize;
        &self.records[start..start + self.open[row as usize] as usize]
    }

    /// The smallest box around some rows; there is at least one.
    pub fn extent(&self, rows: &[u32]) -> Extent<C> {
        let mut extent = Extent::of(self.codes(rows[0]));
        rows[1..].iter().for_each(|row| {
            extent.grow(self.codes(*row));
        });
        extent
    }

    /// Closes the records of some rows: those that are wanted, which ascend, or all.
    pub fn close(&mut self, rows: &[u32], wanted: Option<&[u32]>) {
        for &row in rows {
            let start = self.starts[row as usize] as usize;
            let own = &mut self.records[start..start + self.open[row as usize] as usize];
            let kept = wanted.map_or(0, |wanted| put_wanted_last(own, wanted));
            self.left -= own.len() - kept;
            self.open[row as usize] = kept as u32;
        }
    }

    /// All that are still open.
    pub fn into_open_records(self) -> Vec<u32> {
        let rows = 0..self.len() as u32;
        let mut records: Vec<u32> = rows.flat_map(|row| self.records(row)).copied().collect();
        records.sort_unstable();
        records
    }
}
