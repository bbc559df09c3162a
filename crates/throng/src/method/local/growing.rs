//! A box that grows record by record.

use super::Sides;
use crate::loss::Kernel;
use crate::problem::{Code, LANES, Lanes};

/// A box that grows record by record and knows what each of its attributes costs: most records lie outside of it in
/// few attributes, and only those are looked up. Penalties are summed in the order of [`Kernel::ncp`], so that they
/// are those of the box to the last bit.
#[derive(Clone, Debug, Default)]
pub struct Growing<C> {
    low: Vec<Lanes<C>>,
    high: Vec<Lanes<C>>,
    attributes: usize,
    each: Vec<[f64; LANES]>,
    penalty: f64,
    /// The same with the record that was asked about last, if it lies outside.
    each_with: Vec<[f64; LANES]>,
    penalty_with: f64,
    outside: bool,
}

impl<C: Code> Growing<C> {
    /// Begins with a box.
    pub fn begin(&mut self, kernel: &Kernel, (low, high): Sides<'_, C>) {
        self.low.clear();
        self.low.extend_from_slice(low);
        self.high.clear();
        self.high.extend_from_slice(high);
        self.attributes = kernel.attributes();
        self.each.clear();
        self.each.resize(low.len(), [0.0; LANES]);
        let ends = low.as_flattened().iter().zip(high.as_flattened());
        let each = self.each.as_flattened_mut().iter_mut().take(self.attributes);
        for (attribute, (penalty, (low, high))) in each.zip(ends).enumerate() {
            *penalty = kernel.penalty(attribute, low.index(), high.index());
        }
        self.each_with.clone_from(&self.each);
        self.penalty = sum(&self.each, self.attributes);
        self.outside = false;
    }

    /// What it costs.
    pub fn penalty(&self) -> f64 {
        self.penalty
    }

    /// Whether a record lies inside; then it need not be asked about before it is accepted.
    #[inline(always)]
    pub fn holds(&mut self, row: &[Lanes<C>]) -> bool {
        let mut inside = true;
        for at in 0..row.len() {
            inside = inside && outside(&self.low[at], &self.high[at], &row[at]) == 0;
        }
        self.outside &= !inside;
        inside
    }

    /// What it would cost with a record.
    #[inline(always)]
    pub fn ask(&mut self, kernel: &Kernel, row: &[Lanes<C>]) -> f64 {
        let Growing { low, high, each, each_with, .. } = self;
        // Few attributes are worth a way of their own: no loop, and nothing to ask twice.
        if let ([low], [high], [codes]) = (&low[..], &high[..], row)
            && let ([each], [with]) = (&each[..], &mut each_with[..])
        {
            let lanes = outside(low, high, codes);
            self.outside = lanes != 0;
            if !self.outside {
                return self.penalty;
            }
            *with = *each;
            enlarge(kernel, 0, (low, high), codes, lanes, with);
            self.penalty_with = 0.0;
            for at in 0..self.attributes.min(LANES) {
                self.penalty_with += with[at];
            }
            return self.penalty_with;
        }
        self.ask_wide(kernel, row)
    }

    fn ask_wide(&mut self, kernel: &Kernel, row: &[Lanes<C>]) -> f64 {
        self.each_with.copy_from_slice(&self.each);
        self.outside = false;
        for (at, ((low, high), codes)) in self.low.iter().zip(&self.high).zip(row).enumerate() {
            let lanes = outside(low, high, codes);
            self.outside |= lanes != 0;
            enlarge(kernel, at * LANES, (low, high), codes, lanes, &mut self.each_with[at]);
        }
        self.penalty_with = sum(&self.each_with, self.attributes);
        self.penalty_with
    }

    /// Grows around the record that was asked about last.
    #[inline]
    pub fn accept(&mut self, row: &[Lanes<C>]) {
        if !self.outside {
            return;
        }
        for at in 0..row.len() {
            // Copies, so that the compiler sees that none of them overlap.
            let (mut l, mut h) = (self.low[at], self.high[at]);
            for lane in 0..LANES {
                l[lane] = l[lane].min(row[at][lane]);
                h[lane] = h[lane].max(row[at][lane]);
            }
            (self.low[at], self.high[at]) = (l, h);
        }
        std::mem::swap(&mut self.each, &mut self.each_with);
        self.penalty = self.penalty_with;
    }
}

fn sum(each: &[[f64; LANES]], attributes: usize) -> f64 {
    each.as_flattened()[..attributes].iter().fold(0.0, |sum, penalty| sum + penalty)
}

/// Looks up what attributes cost in which a record lies outside.
#[inline(always)]
fn enlarge<C: Code>(
    kernel: &Kernel,
    first: usize,
    (low, high): (&Lanes<C>, &Lanes<C>),
    codes: &Lanes<C>,
    mut lanes: u128,
    each: &mut [f64; LANES],
) {
    while lanes != 0 {
        let lane = lanes.trailing_zeros() as usize / 8;
        let (low, high) = (low[lane].min(codes[lane]), high[lane].max(codes[lane]));
        each[lane] = kernel.penalty(first + lane, low.index(), high.index());
        lanes &= lanes - 1;
    }
}

/// A byte per lane, 1 where a code lies outside of its range.
#[inline(always)]
fn outside<C: Code>(low: &Lanes<C>, high: &Lanes<C>, codes: &Lanes<C>) -> u128 {
    let mut outside = [0u8; LANES];
    for lane in 0..LANES {
        outside[lane] = u8::from(codes[lane] < low[lane]) | u8::from(codes[lane] > high[lane]);
    }
    // Through memory: left to itself, the compiler takes the vector apart to put the number together.
    u128::from_le_bytes(std::hint::black_box(outside))
}
