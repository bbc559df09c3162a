//! Do stretches of records along a line hold as many of the most frequent value as their classes say?
//!
//! For a window A and the classes G: z² = (n(A) − Σ M_G·f_G/|G|)² / Σ variance, where n(A) counts the records of A with the
//! value, M_G those of a class, f_G = |G ∩ A|, and the variance is that of drawing f_G of the class without return. If every
//! order of values within classes is as likely, its mean is 1.

use serde::Serialize;

use super::{Control, Tops};
use crate::method::Partition;

/// Records of a window.
const LENGTHS: [usize; 3] = [10, 100, 300];

/// The mean of z² over windows of one length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Windows {
    /// Records of a window.
    pub records: usize,
    /// Windows that chance could change.
    pub windows: usize,
    /// The mean of z²; 1 if grouping tells nothing.
    pub mean: f64,
    /// The same with values shuffled within classes.
    pub control: Control,
}

impl Windows {
    /// Whether it is larger than chance explains.
    pub fn is_above_chance(&self) -> bool {
        self.windows > 0 && self.control.is_exceeded_by(self.mean)
    }
}

/// What classes say of a window.
struct Expected {
    mean: f64,
    variance: f64,
}

pub(super) fn measure(
    line: &[u32],
    classes: &Partition,
    tops: &Tops,
    codes: &[u32],
    shuffled: &[Vec<u32>],
) -> Vec<Windows> {
    let class_of = classes.group_of_record(codes.len());
    // Records that are in no class say nothing.
    let line: Vec<u32> =
        line.iter().copied().filter(|record| class_of[*record as usize] != Partition::NO_GROUP).collect();
    let counts: Vec<(f64, f64)> = classes.groups().map(|class| counts(class, codes, tops.table)).collect();
    let of = |length: usize| {
        let windows: Vec<(&[u32], Expected)> = line
            .chunks_exact(length)
            .map(|window| (window, expected(window, &class_of, &counts)))
            .filter(|(_, expected)| expected.variance > 0.0)
            .collect();
        let mean = |codes: &[u32]| {
            let sum: f64 =
                windows.iter().map(|(window, expected)| square(window, expected, codes, tops.table)).sum();
            sum / windows.len().max(1) as f64
        };
        let control: Vec<f64> = shuffled.iter().map(|codes| mean(codes)).collect();
        Windows { records: length, windows: windows.len(), mean: mean(codes), control: Control::of(&control) }
    };
    LENGTHS.into_iter().filter(|length| 2 * length <= line.len()).map(of).collect()
}

/// Records of a class, and those with the value.
fn counts(class: &[u32], codes: &[u32], value: u32) -> (f64, f64) {
    let having = class.iter().filter(|record| codes[**record as usize] == value).count();
    (class.len() as f64, having as f64)
}

fn expected(window: &[u32], class_of: &[u32], counts: &[(f64, f64)]) -> Expected {
    let mut own: Vec<u32> = window.iter().map(|record| class_of[*record as usize]).collect();
    own.sort_unstable();
    let mut expected = Expected { mean: 0.0, variance: 0.0 };
    for equal in own.chunk_by(|one, other| one == other) {
        let ((size, having), inside) = (counts[equal[0] as usize], equal.len() as f64);
        let share = having / size;
        expected.mean += share * inside;
        expected.variance += inside * share * (1.0 - share) * (size - inside) / (size - 1.0).max(1.0);
    }
    expected
}

fn square(window: &[u32], expected: &Expected, codes: &[u32], value: u32) -> f64 {
    let (_, having) = counts(window, codes, value);
    (having - expected.mean).powi(2) / expected.variance
}
