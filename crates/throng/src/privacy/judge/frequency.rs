//! How often one sensitive value may occur in a class.

use super::ROUNDING;

/// The limit of the frequency form of l-diversity: no value of one sensitive attribute makes up more than one in l
/// records of a class. Every question about it is answered by [`Self::allows`], so that no two answers differ by rounding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frequency {
    attribute: usize,
    l: f64,
}

impl Frequency {
    /// The limit of one in `l` on a sensitive attribute.
    pub fn new(attribute: usize, l: f64) -> Self {
        Frequency { attribute, l }
    }

    /// Index of the sensitive attribute.
    pub fn attribute(self) -> usize {
        self.attribute
    }

    /// Whether a value may occur so often in a class of so many records.
    #[inline]
    pub fn allows(self, count: usize, size: usize) -> bool {
        count as f64 * self.l <= size as f64 * (1.0 + ROUNDING)
    }

    /// How often one value may occur in a class of so many records.
    #[inline]
    pub fn most_of_value(self, size: usize) -> usize {
        let about = ((size as f64 * (1.0 + ROUNDING) / self.l) as usize).min(size);
        // A quotient may be rounded across a whole number; what is allowed decides.
        let near = [about + 1, about, about.saturating_sub(1)];
        near.into_iter().find(|count| *count <= size && self.allows(*count, size)).unwrap_or(0)
    }

    /// The size of the smallest class in which a value may occur so often.
    pub fn smallest_with(self, count: usize) -> usize {
        let about = (count as f64 * self.l / (1.0 + ROUNDING)).ceil() as usize;
        let near = [about.saturating_sub(1), about, about + 1];
        near.into_iter().find(|size| self.allows(count, *size)).unwrap_or(about)
    }

    /// How many of so many records could be taken away without any of a value that occurs so often, and leave a class.
    /// Below 0 where they are no class.
    pub fn spare(self, size: usize, count: usize) -> f64 {
        size as f64 - self.l * count as f64
    }

    /// l, if it is a whole number.
    pub fn whole(self) -> Option<usize> {
        (self.l.fract() == 0.0).then_some(self.l as usize)
    }
}
