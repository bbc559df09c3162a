//! What must not be guessed: the order of rows, and every lot that decides who is put with whom.
//!
//! A seed stands in policies and reports, so anyone can repeat what is drawn from it. What is drawn from a secret nobody can
//! repeat who does not hold it: it is fresh in every run, is never written anywhere, and its debug form tells nothing. Those
//! who must repeat a release byte for byte bring a secret of their own.

use std::path::Path;

use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;

use crate::error::{Error, ErrorCode, Result};

/// Fewer bytes than this could be guessed by trying.
const LEAST_BYTES: usize = 16;

/// A key that nobody but its holder knows.
///
/// ```
/// use throng::secret::Secret;
/// let (one, other) = (Secret::fresh()?, Secret::fresh()?);
/// assert_ne!(one, other);
/// assert_eq!(format!("{one:?}"), "Secret(…)");
/// # Ok::<(), throng::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Secret([u8; 32]);

impl Secret {
    /// A new one from the system's randomness.
    pub fn fresh() -> Result<Self> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(|cause| {
            Error::new(ErrorCode::NoRandomness, format!("the system gives no random numbers: {cause}"))
                .with_hint(
                    "without them the order of rows could be guessed; bring your own with --secret FILE",
                )
        })?;
        Ok(Secret(key))
    }

    /// One that is known to its holder: the same bytes give the same secret.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Secret(blake3::derive_key("throng secret of a release, version 1", bytes))
    }

    /// Another one that follows from this one and a text: who knows only what was drawn from the one knows nothing of the
    /// other. Releases of a series are drawn from secrets of their own, because an order that is repeated can be undone by
    /// comparing.
    pub fn derived(&self, text: &str) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("throng secret that follows from another, version 1");
        Secret(*hasher.update(&self.0).update(text.as_bytes()).finalize().as_bytes())
    }

    /// The secret in a file, whatever its bytes are.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path)
            .map_err(|cause| Error::io(ErrorCode::CannotRead, "read the secret", path, &cause))?;
        if bytes.len() < LEAST_BYTES {
            return Err(Error::new(
                ErrorCode::WeakSecret,
                format!("a secret of {} bytes could be guessed", bytes.len()),
            )
            .in_file(path)
            .with_hint("make one with `head -c 32 /dev/urandom > FILE`, and keep it to yourself"));
        }
        Ok(Self::from_bytes(&bytes))
    }

    /// The secret of a part of a table, for whatever is drawn in it: lots of one part tell nothing of those of another.
    pub fn of_part(&self, round: u32, part: u32) -> Self {
        let mut own = self.0.to_vec();
        own.extend(round.to_le_bytes());
        own.extend(part.to_le_bytes());
        Secret(blake3::derive_key("throng secret of a part of a table, version 1", &own))
    }

    /// What another machine of the same run makes it from again.
    pub(crate) fn key(&self) -> [u8; 32] {
        self.0
    }

    /// The secret that another machine of the same run has.
    pub(crate) fn of_key(key: [u8; 32]) -> Self {
        Secret(key)
    }

    /// The random numbers of one use. Uses have streams of their own, so that one does not move another; the table of
    /// streams in ARCHITECTURE.md says which are taken.
    pub fn stream(&self, number: u64) -> ChaCha20Rng {
        let mut random = ChaCha20Rng::from_seed(self.0);
        random.set_stream(number);
        random
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use rand::Rng;

    use super::*;

    #[test]
    fn the_same_bytes_repeat_every_stream_and_others_do_not() {
        let draw = |bytes: &[u8], stream: u64| Secret::from_bytes(bytes).stream(stream).next_u64();
        assert_eq!(draw(b"a secret of ours", 1), draw(b"a secret of ours", 1));
        assert_ne!(draw(b"a secret of ours", 1), draw(b"a secret of ours", 2));
        assert_ne!(draw(b"a secret of ours", 1), draw(b"another of theirs", 1));
    }

    #[test]
    fn a_short_file_is_no_secret() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("secret");
        std::fs::write(&file, "short").unwrap();
        assert!(Secret::read(&file).unwrap_err().message().contains("could be guessed"));
        std::fs::write(&file, [7; 32]).unwrap();
        assert_eq!(Secret::read(&file).unwrap(), Secret::from_bytes(&[7; 32]));
    }
}
