//! Extents: boxes of lowest and highest codes.

use crate::data::{Code, LANES, Lanes, Matrix};

/// The smallest box around some records.
#[derive(Debug, PartialEq, Eq)]
pub struct Extent<C> {
    low: Vec<Lanes<C>>,
    high: Vec<Lanes<C>>,
}

impl<C: Code> Clone for Extent<C> {
    fn clone(&self) -> Self {
        Extent { low: self.low.clone(), high: self.high.clone() }
    }

    fn clone_from(&mut self, other: &Self) {
        self.low.clone_from(&other.low);
        self.high.clone_from(&other.high);
    }
}

impl<C: Code> Extent<C> {
    /// The box of one record.
    pub fn of(row: &[Lanes<C>]) -> Self {
        Extent { low: row.to_vec(), high: row.to_vec() }
    }

    /// The box of several records of a matrix; empty sets have the box of padding.
    pub fn around(matrix: &Matrix<C>, records: &[u32]) -> Self {
        let Some((first, rest)) = records.split_first() else {
            return Self::of(&vec![[C::default(); LANES]; matrix.stride()]);
        };
        let mut extent = Self::of(matrix.row(*first as usize));
        for &record in rest {
            extent.grow(matrix.row(record as usize));
        }
        extent
    }

    /// The box of consecutive rows; `rows` is not empty.
    pub fn of_rows(rows: &[Lanes<C>], stride: usize) -> Self {
        let mut extent = Self::of(&rows[..stride]);
        extent.grow_rows(rows);
        extent
    }

    /// Makes it the box of consecutive rows, keeping its memory; `rows` is not empty.
    pub fn set_to_rows(&mut self, rows: &[Lanes<C>]) {
        let stride = self.low.len();
        self.low.copy_from_slice(&rows[..stride]);
        self.high.copy_from_slice(&rows[..stride]);
        self.grow_rows(rows);
    }

    /// Grows the box around consecutive rows.
    pub fn grow_rows(&mut self, rows: &[Lanes<C>]) {
        if let ([low], [high]) = (&mut self.low[..], &mut self.high[..]) {
            // Few attributes: the box stays in registers.
            let (mut l, mut h) = (*low, *high);
            for row in rows {
                grow_lanes(&mut l, &mut h, row);
            }
            (*low, *high) = (l, h);
        } else {
            for row in rows.chunks_exact(self.low.len()) {
                self.grow(row);
            }
        }
    }

    /// Grows the box around one more record. Tells whether it changed.
    #[inline(always)]
    pub fn grow(&mut self, row: &[Lanes<C>]) -> bool {
        let stride = self.low.len();
        let (lows, highs, row) = (&mut self.low[..stride], &mut self.high[..stride], &row[..stride]);
        let mut changed = false;
        for at in 0..stride {
            let before = (lows[at], highs[at]);
            grow_lanes(&mut lows[at], &mut highs[at], &row[at]);
            changed |= before != (lows[at], highs[at]);
        }
        changed
    }

    /// Grows the box around another.
    pub fn merge(&mut self, other: &Self) {
        self.grow(&other.low);
        self.grow(&other.high);
    }

    /// Whether a record lies inside.
    #[inline(always)]
    pub fn contains(&self, row: &[Lanes<C>]) -> bool {
        let stride = self.low.len();
        let (lows, highs, row) = (&self.low[..stride], &self.high[..stride], &row[..stride]);
        for at in 0..stride {
            let mut all = true;
            for lane in 0..LANES {
                all &= (lows[at][lane] <= row[at][lane]) & (row[at][lane] <= highs[at][lane]);
            }
            if !all {
                return false;
            }
        }
        true
    }

    /// Sets the lowest and the highest code of an attribute.
    pub fn set(&mut self, attribute: usize, low: C, high: C) {
        self.low[attribute / LANES][attribute % LANES] = low;
        self.high[attribute / LANES][attribute % LANES] = high;
    }

    /// Lowest code of an attribute.
    #[inline(always)]
    pub fn low(&self, attribute: usize) -> C {
        self.low[attribute / LANES][attribute % LANES]
    }

    /// Highest code of an attribute.
    #[inline(always)]
    pub fn high(&self, attribute: usize) -> C {
        self.high[attribute / LANES][attribute % LANES]
    }

    /// All lowest codes.
    #[inline(always)]
    pub fn lows(&self) -> &[Lanes<C>] {
        &self.low
    }

    /// All highest codes.
    #[inline(always)]
    pub fn highs(&self) -> &[Lanes<C>] {
        &self.high
    }
}

/// Grows a stretch of a box around a stretch of a record.
#[inline(always)]
fn grow_lanes<C: Code>(low: &mut Lanes<C>, high: &mut Lanes<C>, row: &Lanes<C>) {
    for lane in 0..LANES {
        low[lane] = low[lane].min(row[lane]);
        high[lane] = high[lane].max(row[lane]);
    }
}
