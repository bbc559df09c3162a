//! Releases as Parquet and Arrow IPC.

use std::path::Path;

use super::Release;
use super::output::Encoder;
use crate::error::{Error, Result};
use crate::watch::Watch;

pub(super) fn write_parquet(_: &Release<'_>, _: Encoder, _: &dyn Watch, _: &Path) -> Result<()> {
    Err(Error::bug("not yet"))
}

pub(super) fn write_arrow(_: &Release<'_>, _: Encoder, _: &dyn Watch, _: &Path) -> Result<()> {
    Err(Error::bug("not yet"))
}
