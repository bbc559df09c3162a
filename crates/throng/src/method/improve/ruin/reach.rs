//! Boxes of a few numbers, told by places in place of codes: nothing is looked up. Where hardly two records share a value, tables of
//! places are larger than the nearest caches.

/// Numbers at most.
pub(super) const FEW: usize = 8;

/// Where a record lies along each number; what there is no number for costs nothing.
pub(super) type Place = [f32; FEW];

/// The smallest box around some places.
#[derive(Clone, Copy)]
pub(super) struct Reach {
    low: Place,
    high: Place,
}

impl Reach {
    pub fn new(low: Place, high: Place) -> Self {
        Reach { low, high }
    }

    pub fn of(place: &Place) -> Self {
        Reach { low: *place, high: *place }
    }

    /// Penalty of the box.
    pub fn cost(&self, weights: &Place) -> f32 {
        self.with(&self.low, weights)
    }

    #[inline]
    pub fn grow(&mut self, place: &Place) {
        for at in 0..FEW {
            self.low[at] = smaller(self.low[at], place[at]);
            self.high[at] = larger(self.high[at], place[at]);
        }
    }

    /// Penalty of the box grown around a place, no number more than its weight.
    #[inline]
    pub fn with(&self, place: &Place, weights: &Place) -> f32 {
        let mut costs = [0.0; FEW];
        for at in 0..FEW {
            let width = larger(self.high[at], place[at]) - smaller(self.low[at], place[at]);
            costs[at] = smaller(width, weights[at]);
        }
        // Halves first: that is one addition of vectors.
        let mut half = [0.0; FEW / 2];
        for at in 0..FEW / 2 {
            half[at] = costs[at] + costs[at + FEW / 2];
        }
        (half[0] + half[2]) + (half[1] + half[3])
    }
}

// One instruction each, because they do not ask whether there is a number at all.
#[inline(always)]
fn smaller(one: f32, other: f32) -> f32 {
    if one < other { one } else { other }
}

#[inline(always)]
fn larger(one: f32, other: f32) -> f32 {
    if one > other { one } else { other }
}

#[cfg(test)]
mod tests {
    use super::{FEW, Reach};

    #[test]
    fn a_box_costs_its_widths_and_no_number_more_than_its_weight() {
        let (mut low, mut high, mut weights) = ([0.0; FEW], [0.0; FEW], [0.0; FEW]);
        (low[0], high[0], weights[0]) = (0.25, 0.5, 1.0);
        (low[1], high[1], weights[1]) = (0.5, 0.5, 0.5);
        let mut reach = Reach::new(low, high);
        let mut place = [0.0; FEW];
        (place[0], place[1]) = (0.75, 2.0);
        assert_eq!(reach.with(&place, &weights), 0.5 + 0.5);
        reach.grow(&place);
        assert_eq!(reach.with(&low, &weights), 0.5 + 0.5);
    }
}
