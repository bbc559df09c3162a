//! Releases of a table that changes: a series that is as safe as one release.
//!
//! Independent releases of a table that changes by 5 % tell who is who, however safe each is by itself: those who joined or
//! left between two of them stand in the difference. A series here is *append-only*: a class, once published, is published
//! again word for word or never again; newcomers are grouped among themselves; nobody is ever in a second class. The rows
//! of those who left stay for as long as their class does, and a column `present` tells how many of a class are still there.
//!
//! Why that is safe: call the classes under which somebody was published, release by release, their trace. All people of a
//! class have the same trace, so that whatever rows of a class are exchanged, every release stays as it is: who sees all of
//! them can tell no more than who sees one release of everybody ever published. That holds for everything that is published
//! in a row and any number of releases, against readers who know everybody's class and when each was in the table. A class
//! may be divided only where those who left and those who stayed could each be a class (`divide.rs`).
//!
//! Byun et al. 2006 treat insertions only; m-invariance (Xiao & Tao 2007) hides leavers with counterfeits and protects one
//! column; here their own rows stay and everything in them is protected. Morton 2012 asks that later releases be more general
//! only, which does not protect those who leave.
//!
//! [`Ledger`] knows who is in which class, [`Book`] keeps it as a file, [`Sheet`] has the rows of the last release, [`Joined`]
//! writes the next one, [`Chain`] checks any series from its files alone. `run/series.rs` puts them together.
//!
//! Cost: that of one release of the newcomers, and a few passes over the rows of the last one.

mod book;
mod chain;
mod divide;
mod joined;
mod judged;
mod key;
mod ledger;
mod members;
mod sheet;
mod terms;

use std::io::BufRead;
use std::path::Path;

pub use book::{Before, Book};
pub use chain::Chain;
pub use divide::divide;
pub use joined::{Joined, JoinedRow, Told};
pub use key::{Key, Tag};
pub use ledger::{Class, Ledger, NewClass, Place, Published, State};
pub use members::{Members, read_people};
pub use sheet::Sheet;
pub use terms::{CLASS, PRESENT, Terms, alone};

use crate::error::{Error, ErrorCode, Result};

/// The BLAKE3 hash of a file.
pub fn hash_file(path: &Path) -> Result<String> {
    let fail = |cause: std::io::Error| Error::io(ErrorCode::CannotRead, "read", path, &cause);
    let mut hasher = blake3::Hasher::new();
    let mut input = std::io::BufReader::with_capacity(1 << 20, std::fs::File::open(path).map_err(fail)?);
    loop {
        let bytes = input.fill_buf().map_err(fail)?;
        if bytes.is_empty() {
            return Ok(hasher.finalize().to_hex().to_string());
        }
        hasher.update_rayon(bytes);
        let count = bytes.len();
        input.consume(count);
    }
}
