//! What a published file achieves.

mod measures;

pub use measures::{
    Bin, Distribution, ExampleClass, LowerBound, Measures, QuasiIdentifierMeasure, SensitiveMeasure,
};
