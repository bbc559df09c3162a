//! Sums of numbers that do not depend on the order of the numbers.
//!
//! A sum of doubles is rounded at every step, so that its last digits depend on the order, and partial sums that are merged
//! give another result than one sum over all. Here every double is added exactly, as a whole multiple of the smallest
//! double there is (2⁻¹⁰⁷⁴): a number of some two thousand bits, which is rounded once, in the end. An addition touches one
//! of its limbs.

use serde::{Deserialize, Serialize};

/// Bits that a limb holds once carries are passed on; the rest of its 128 bits is room for sums.
const LIMB: u32 = 32;
/// Doubles end below bit 2099; 2⁶⁴ of them below bit 2163; the rest is for the sign.
const LIMBS: usize = 70;
/// Additions before carries must be passed on: each adds less than 2⁸⁵ to a limb.
const ADDITIONS: u32 = u32::MAX;

/// An exact sum of doubles.
///
/// ```
/// use throng::loss::ExactSum;
/// let mut sum = ExactSum::default();
/// [1e100, 1.0, -1e100].into_iter().for_each(|number| sum.add(number));
/// assert_eq!(sum.value(), 1.0);
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "Sent", into = "Sent")]
pub struct ExactSum {
    limbs: [i128; LIMBS],
    /// Additions since carries were passed on.
    additions: u32,
    /// Sum of infinities and what is not a number.
    special: f64,
}

/// A sum on its way to another machine: all numbers whole, so that none changes in passing.
#[derive(Serialize, Deserialize)]
struct Sent {
    limbs: Vec<i128>,
    special: u64,
}

impl From<ExactSum> for Sent {
    fn from(sum: ExactSum) -> Self {
        Sent { limbs: sum.carried().limbs.to_vec(), special: sum.special.to_bits() }
    }
}

impl From<Sent> for ExactSum {
    fn from(sent: Sent) -> Self {
        let mut sum = ExactSum { special: f64::from_bits(sent.special), ..ExactSum::default() };
        sum.limbs.iter_mut().zip(sent.limbs).for_each(|(own, sent)| *own = sent);
        sum
    }
}

impl Default for ExactSum {
    fn default() -> Self {
        ExactSum { limbs: [0; LIMBS], additions: 0, special: 0.0 }
    }
}

/// Two sums are equal if their values are.
impl PartialEq for ExactSum {
    fn eq(&self, other: &Self) -> bool {
        let same = self.special == other.special || (self.special.is_nan() && other.special.is_nan());
        same && self.carried().limbs == other.carried().limbs
    }
}

impl ExactSum {
    /// Adds a number.
    pub fn add(&mut self, number: f64) {
        if !number.is_finite() {
            self.special += number;
            return;
        }
        let bits = number.to_bits();
        let exponent = (bits >> 52 & 0x7ff) as u32;
        let fraction = i128::from(bits & ((1 << 52) - 1));
        // Subnormal numbers have no hidden bit, and the exponent of the smallest normal ones.
        let (mantissa, place) =
            if exponent == 0 { (fraction, 0) } else { (fraction | 1 << 52, exponent - 1) };
        let shifted = mantissa << (place % LIMB);
        self.limbs[(place / LIMB) as usize] += if number.is_sign_negative() { -shifted } else { shifted };
        self.additions += 1;
        if self.additions == ADDITIONS {
            self.carry();
        }
    }

    /// Adds what another sum has added.
    pub fn merge(&mut self, other: &Self) {
        self.carry();
        let other = other.carried();
        self.limbs.iter_mut().zip(&other.limbs).for_each(|(limb, other)| *limb += other);
        self.special += other.special;
        self.carry();
    }

    /// The double that is nearest to the sum.
    pub fn value(&self) -> f64 {
        if self.special != 0.0 {
            return self.special;
        }
        let mut sum = self.carried();
        let negative = sum.limbs[LIMBS - 1] < 0;
        if negative {
            sum.limbs.iter_mut().for_each(|limb| *limb = -*limb);
            sum.carry();
        }
        let size = sum.magnitude();
        if negative { -size } else { size }
    }

    /// The value of a sum that is not negative and has passed its carries on.
    fn magnitude(&self) -> f64 {
        let Some(highest) = self.limbs.iter().rposition(|limb| *limb != 0) else { return 0.0 };
        let lowest = highest.saturating_sub(2);
        let leading = self.limbs[lowest..=highest].iter().rev();
        let leading = leading.fold(0u128, |sum, limb| sum << LIMB | *limb as u128);
        // What is left out matters only where the leading bits lie just between two doubles.
        let sticky = self.limbs[..lowest].iter().any(|limb| *limb != 0);
        scaled((leading << 1 | u128::from(sticky)) as f64, (lowest as i32) * LIMB as i32 - 1074 - 1)
    }

    fn carried(&self) -> Self {
        let mut sum = self.clone();
        sum.carry();
        sum
    }

    /// Passes carries on, so that all limbs but the last, which has the sign, hold 32 bits.
    fn carry(&mut self) {
        for at in 0..LIMBS - 1 {
            let carry = self.limbs[at] >> LIMB;
            self.limbs[at] -= carry << LIMB;
            self.limbs[at + 1] += carry;
        }
        self.additions = 0;
    }
}

/// `number` · 2^`power`, in two steps because the power may be none that a double can hold.
fn scaled(number: f64, power: i32) -> f64 {
    let half = power / 2;
    number * 2f64.powi(half) * 2f64.powi(power - half)
}
