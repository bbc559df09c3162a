//! What boxes cost, in whole numbers that are never too large.
//!
//! A release that tells nothing loses [`ONE`] per record; every attribute has its share of that by its weight. All costs are
//! rounded down, and by a unit or two more than that, so that neither they nor any sum of them is above what the audit
//! measures in floating point: sums of prices that stay within these costs are then within the true ones.

/// What a record loses of which nothing is told.
pub(super) const ONE: u32 = 1 << 30;

/// The costs of one attribute.
#[derive(Clone, Debug)]
pub(super) enum Cost {
    /// Numbers by their places between 0 and the attribute's share; a missing one costs all of it together with any other.
    Number { places: Vec<u32>, missing: Option<u32>, full: u32 },
    /// Trees with few leaves: the cost of each pair of codes.
    Pairs { values: usize, table: Vec<u32> },
    /// Trees with many leaves: `rows[j][i]` is the cost of leaves `i ..= i + 2^j`.
    Sparse { rows: Vec<Vec<u32>> },
}

/// A cost that is not above `share` of everything; `spare` units are taken off for what floating point may have added.
pub(super) fn rounded_down(share: f64, spare: u32) -> u32 {
    ((share * f64::from(ONE)).floor().clamp(0.0, f64::from(ONE)) as u32).saturating_sub(spare)
}

impl Cost {
    /// The cost of a range of codes, the lower one first.
    #[inline(always)]
    pub fn between(&self, low: u32, high: u32) -> u32 {
        match self {
            _ if low == high => 0,
            Cost::Number { missing: Some(missing), full, .. } if high == *missing => *full,
            // One unit for the place that was rounded down, one for floating point.
            Cost::Number { places, .. } => (places[high as usize] - places[low as usize]).saturating_sub(2),
            Cost::Pairs { values, table } => table[low as usize * values + high as usize],
            Cost::Sparse { rows } => {
                let level = (high - low).ilog2() as usize;
                rows[level][low as usize].max(rows[level][high as usize - (1 << level)])
            }
        }
    }

    /// The cost of two codes.
    #[inline(always)]
    pub fn pair(&self, one: u32, other: u32) -> u32 {
        self.between(one.min(other), one.max(other))
    }

    /// Whether it reaches to two sides of a code: a range of numbers costs what it reaches below and above.
    pub fn two_sided(&self) -> bool {
        matches!(self, Cost::Number { .. })
    }

    /// What it costs at most, where the sum of both sides may be above that: a missing number lies on either.
    pub fn most(&self) -> Option<u32> {
        match self {
            Cost::Number { missing: Some(_), full, .. } => Some(*full),
            _ => None,
        }
    }
}
