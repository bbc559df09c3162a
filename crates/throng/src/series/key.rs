//! The key of a series: without it nobody can tell whose a tag is.
//!
//! People stand in the ledger under tags, keyed BLAKE3 hashes of what the table calls them. Without the key a tag tells
//! nothing, not even to those who try all names they know. The same key seals the ledger, so that an edited one is refused.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::error::{Error, ErrorCode, Result};

/// The purposes that keys are derived for.
const TAGS: &str = "throng series, tags of people, version 1";
const SEAL: &str = "throng series, seal of the ledger, version 1";

/// The key of a series.
#[derive(Clone)]
pub struct Key {
    bytes: [u8; 32],
    tags: [u8; 32],
}

/// A person as the ledger knows them. Half of a hash: two people of billions share one with a chance below one in 10¹⁸.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag([u8; 16]);

impl Key {
    /// A new one from the system's randomness.
    pub fn fresh() -> Result<Self> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|cause| {
            Error::new(ErrorCode::NoRandomness, format!("the system gives no random numbers: {cause}"))
                .with_hint("a key that could be guessed would tell whose tags stand in the ledger")
        })?;
        Ok(Self::of(bytes))
    }

    fn of(bytes: [u8; 32]) -> Self {
        Key { bytes, tags: blake3::derive_key(TAGS, &bytes) }
    }

    /// Where the key of a ledger is: beside it, under its name with `.key` at the end.
    pub fn path(ledger: &Path) -> PathBuf {
        let mut name = ledger.as_os_str().to_owned();
        name.push(".key");
        name.into()
    }

    /// Reads a key. The open file is given back too: whoever locks it has the series for themselves.
    pub fn read(path: &Path) -> Result<(Self, File)> {
        let fail = |cause: std::io::Error| {
            Error::io(ErrorCode::CannotRead, "read the key of the series", path, &cause)
        };
        let file = File::open(path).map_err(fail)?;
        let mut text = String::new();
        (&file).take(1 << 10).read_to_string(&mut text).map_err(fail)?;
        match from_hex::<32>(text.trim()) {
            Some(bytes) => Ok((Self::of(bytes), file)),
            None => Err(Error::new(ErrorCode::BadLedger, "this is not the key of a series")
                .in_file(path)
                .with_hint("bring back the file that was written with the first release")),
        }
    }

    /// Writes the key to a new file that only its owner may read; never over another one.
    pub fn write(&self, path: &Path) -> Result<()> {
        let fail = |cause: std::io::Error| {
            Error::io(ErrorCode::CannotWrite, "write the key of the series", path, &cause)
        };
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            options.mode(0o600);
        }
        let mut file = options.open(path).map_err(fail)?;
        file.write_all(format!("{}\n", hex(&self.bytes)).as_bytes())
            .and_then(|()| file.sync_all())
            .map_err(fail)
    }

    /// The tag of a person, whom some texts name together.
    pub fn tag<'t>(&self, names: impl IntoIterator<Item = &'t str>) -> Tag {
        let mut hasher = blake3::Hasher::new_keyed(&self.tags);
        for name in names {
            hasher.update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes());
        }
        let mut tag = [0; 16];
        tag.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        Tag(tag)
    }

    /// What shows that a text was written by somebody who has the key.
    pub(super) fn seal(&self, text: &[u8]) -> String {
        blake3::keyed_hash(&blake3::derive_key(SEAL, &self.bytes), text).to_hex().to_string()
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Key(…)")
    }
}

impl Serialize for Tag {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex(&self.0))
    }
}

impl<'de> Deserialize<'de> for Tag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        from_hex(&text).map(Tag).ok_or_else(|| de::Error::custom("not a tag"))
    }
}

/// Bytes as hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    if text.len() != 2 * N || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let mut bytes = [0; N];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn names_are_told_apart_however_they_are_cut() {
        let key = Key::of([7; 32]);
        assert_eq!(key.tag(["Ada", "1815"]), key.tag(["Ada", "1815"]));
        assert_ne!(key.tag(["Ada", "1815"]), key.tag(["Ada1", "815"]));
        assert_ne!(key.tag(["Ada"]), Key::of([8; 32]).tag(["Ada"]));
    }

    #[test]
    fn a_key_comes_back_and_is_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.key");
        let key = Key::fresh().unwrap();
        key.write(&path).unwrap();
        assert_eq!(Key::read(&path).unwrap().0.bytes, key.bytes);
        assert!(Key::fresh().unwrap().write(&path).is_err());
        std::fs::write(folder.path().join("other"), "not a key").unwrap();
        assert_eq!(Key::read(&folder.path().join("other")).unwrap_err().code(), ErrorCode::BadLedger);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }
}
