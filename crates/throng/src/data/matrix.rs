//! Records as rows of codes, in the narrowest width that holds the largest domain.
//!
//! There are two widths. One of 16 bits between them would save memory where a domain has hundreds of values, but was slower than the wide
//! one where boxes are grown (x86-64 has no lesser or greater of unsigned 16-bit lanes without extensions), and every method would be compiled
//! once more.
//!
//! Rows are padded to a multiple of [`LANES`] so that growing a box is a few vector instructions; padding is zero
//! everywhere and never matters.

use crate::parallel;

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
code!(u8, u32);

/// A vector of codes.
pub type Lanes<C> = [C; LANES];

/// Records as rows of codes.
#[derive(Clone, Debug)]
pub struct Matrix<C> {
    pub(crate) data: Vec<Lanes<C>>,
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
    #[allow(
        clippy::manual_memcpy,
        reason = "a call for so few bytes takes longer than moving them one by one"
    )]
    pub fn gather(&self, order: &[u32]) -> Self {
        let mut data = vec![[C::default(); LANES]; order.len() * self.stride];
        let rows = 1 << 14;
        parallel::chunks_mut(&mut data, rows * self.stride, |piece, targets| {
            let order = &order[piece * rows..][..targets.len() / self.stride];
            for at in 0..order.len() {
                let (target, row) =
                    (&mut targets[at * self.stride..][..self.stride], self.row(order[at] as usize));
                for lanes in 0..target.len().min(row.len()) {
                    target[lanes] = row[lanes];
                }
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
into_records!(u8 => Narrow, u32 => Wide);

/// Runs the same code on a matrix of any width: the branch is taken once, outside of all loops.
#[macro_export]
macro_rules! with_matrix {
    ($records:expr, $matrix:ident => $body:expr) => {
        match $records {
            $crate::data::Records::Narrow($matrix) => $body,
            $crate::data::Records::Wide($matrix) => $body,
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
            _ => Records::Wide(fill(rows, attributes, code)),
        }
    }
}
