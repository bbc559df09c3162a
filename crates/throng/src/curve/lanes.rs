//! Skilling's transform on lanes of any width: the narrower a lane, the more of them a vector holds.

use std::ops::{BitAnd, BitOr, BitXor};

/// An unsigned integer that holds a coordinate.
pub trait Lane:
    Copy
    + Default
    + PartialEq
    + Send
    + Sync
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
{
    /// From a number that fits.
    fn from_low_bits(number: u32) -> Self;
    /// As a number.
    fn low_bits(self) -> u32;
    /// All ones, or all zeros.
    fn filled(with_ones: bool) -> Self;
}

macro_rules! lane {
    ($($width:ty),*) => {$(
        impl Lane for $width {
            #[inline(always)]
            fn from_low_bits(number: u32) -> Self {
                number as $width
            }
            #[inline(always)]
            fn low_bits(self) -> u32 {
                u32::from(self)
            }
            #[inline(always)]
            fn filled(with_ones: bool) -> Self {
                if with_ones { <$width>::MAX } else { 0 }
            }
        }
    )*};
}
lane!(u8, u16, u32);

/// Turns coordinates of so many bits into the transposed index, for several points at once.
///
/// Loops over lanes work on copies in registers: on lanes in memory they are not turned into vector instructions.
pub fn transpose<L: Lane, const N: usize>(axes: &mut [[L; N]], bits: u32) {
    let Some((first, others)) = axes.split_first_mut() else { return };
    for bit in (1..bits).rev() {
        let (this, below) = (L::from_low_bits(1 << bit), L::from_low_bits((1 << bit) - 1));
        // Where the bit of an axis is set, the low bits of the first axis are inverted, else exchanged with that axis's.
        // Exchanging an axis with itself changes nothing.
        let mut moved = *first;
        for lane in 0..N {
            moved[lane] = moved[lane] ^ (below & L::filled(moved[lane] & this == this));
        }
        for other in others.iter_mut() {
            let mut own = *other;
            for lane in 0..N {
                let inverted = below & L::filled(own[lane] & this == this);
                let exchanged = (moved[lane] ^ own[lane]) & (below ^ inverted);
                moved[lane] = moved[lane] ^ (exchanged | inverted);
                own[lane] = own[lane] ^ exchanged;
            }
            *other = own;
        }
        *first = moved;
    }
    let mut last = *first;
    for other in others.iter_mut() {
        for lane in 0..N {
            last[lane] = last[lane] ^ other[lane];
        }
        *other = last;
    }
    let mut flip = [L::default(); N];
    for bit in (1..bits).rev() {
        let (this, below) = (L::from_low_bits(1 << bit), L::from_low_bits((1 << bit) - 1));
        for lane in 0..N {
            flip[lane] = flip[lane] ^ (below & L::filled(last[lane] & this == this));
        }
    }
    for axis in axes.iter_mut() {
        for lane in 0..N {
            axis[lane] = axis[lane] ^ flip[lane];
        }
    }
}
