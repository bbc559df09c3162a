//! Along a Hilbert curve; see [`crate::curve`].

use super::{Line, Mapping, Places};
use crate::curve::Curve;
use crate::data::Data;
use crate::error::Result;
use crate::watch::Watch;
use crate::with_matrix;

/// The mapping.
pub const HILBERT: Mapping =
    Mapping { name: "hilbert", summary: "along a Hilbert curve through the grid of all codes", map };

fn map(data: &Data, watch: &dyn Watch) -> Result<Line> {
    watch.check()?;
    let keys = with_matrix!(&data.records, matrix => Curve::fit(&data.attributes, matrix).keys(matrix));
    watch.check()?;
    let (order, keys) = keys.sorted();
    Ok(Line { order, places: Places::Keys(keys) })
}
