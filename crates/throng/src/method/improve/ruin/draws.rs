//! The random numbers of a search. Nothing here asks the system's library for a logarithm, so that every machine draws the
//! same.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Random numbers of one use.
pub(super) struct Draws(ChaCha8Rng);

impl Draws {
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(stream);
        Draws(random)
    }

    /// A number below `count`, which is at least 1.
    #[inline]
    pub fn below(&mut self, count: usize) -> usize {
        ((u64::from(self.0.next_u32()) * count as u64) >> 32) as usize
    }

    /// A number from 0 to 1.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        f64::from(self.0.next_u32()) / 4_294_967_296.0
    }

    /// A factor of at most half of `width` more or less than 1.
    #[inline]
    pub fn about_one(&mut self, width: f64) -> f64 {
        1.0 + width * (self.unit() - 0.5)
    }

    /// Of mean about 1, large ones exponentially rare: the logarithm is taken in straight pieces.
    pub fn exponential(&mut self) -> f64 {
        let drawn = self.0.next_u32() | 1;
        let zeros = drawn.leading_zeros();
        let fraction = f64::from(drawn << zeros) / 2_147_483_648.0 - 1.0;
        (f64::from(zeros + 1) - fraction) * std::f64::consts::LN_2
    }
}
