//! States: what machines found out about their rows, as bytes that merge.
//!
//! JSON under zstd: small, the same on every machine, and every number comes back as it was.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorCode, Result};
use crate::method::Fact;
use crate::run::bounded::audited::Shown;
use crate::scale::known::{Counts, Known, PartCounts};
use crate::scale::sketch::{Checksum, TableSketch};
use crate::scale::solve::{GainCounts, RoundSample};

/// What a state is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A sketch of the table.
    Sketch,
    /// Rows that were dealt to parts.
    Dealt,
    /// Parts that were solved.
    Solved,
    /// Rows of the release that were dealt to parts of the audit.
    Released,
}

/// Puts states of one kind together.
pub fn merge(kind: Kind, states: &[Vec<u8>]) -> Result<Vec<u8>> {
    match kind {
        Kind::Sketch => encode(&merged(states, TableSketch::merge_all)?),
        Kind::Dealt => encode(&merged(states, Dealt::merge_all)?),
        Kind::Solved => encode(&merged(states, Solved::merge_all)?),
        Kind::Released => encode(&merged(states, Released::merge_all)?),
    }
}

/// The one state that some come to; `None` if there are none.
pub(super) fn merged<S: DeserializeOwned>(
    states: &[Vec<u8>],
    merge: fn(&mut S, S) -> Result<()>,
) -> Result<Option<S>> {
    let mut whole: Option<S> = None;
    for state in states {
        let Some(state) = decode::<Option<S>>(state)? else { continue };
        match &mut whole {
            None => whole = Some(state),
            Some(whole) => merge(whole, state)?,
        }
    }
    Ok(whole)
}

/// A state as bytes.
pub(super) fn encode<S: Serialize>(state: &S) -> Result<Vec<u8>> {
    let json = serde_json::to_vec(state)
        .map_err(|cause| Error::bug(format!("a state that cannot be sent: {cause}")))?;
    zstd::bulk::compress(&json, 1).map_err(|_| Error::bug("a state that cannot be compressed"))
}

/// The state that bytes tell.
pub(super) fn decode<S: DeserializeOwned>(bytes: &[u8]) -> Result<S> {
    let json = zstd::stream::decode_all(bytes).map_err(|_| damaged())?;
    serde_json::from_slice(&json).map_err(|_| damaged())
}

pub(super) fn damaged() -> Error {
    Error::new(ErrorCode::UnreadableFile, "what another machine found out could not be read")
        .with_hint("all machines need the same version of throng; run it again")
}

impl TableSketch {
    #[allow(
        clippy::needless_pass_by_value,
        reason = "all kinds of states merge alike, and some take the other's rows"
    )]
    pub(super) fn merge_all(&mut self, other: TableSketch) -> Result<()> {
        self.merge(&other)
    }
}

/// What is known of rows that were dealt to parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Dealt {
    /// Of all rows; only when they are dealt for the first time.
    pub counts: Option<Counts>,
    /// What all rows come to, dropped ones too.
    pub checksum: Checksum,
    pub of_parts: Vec<PartCounts>,
    /// What the rows of each part come to.
    pub sums: Vec<Checksum>,
    /// Bytes of texts in memory.
    pub text_bytes: u64,
    /// Bytes of blocks.
    pub bytes: u64,
}

impl Dealt {
    /// Of no rows, dealt to so many parts.
    pub fn new(known: &Known, parts: usize, first: bool) -> Self {
        Dealt {
            counts: first.then(|| Counts::new(known)),
            checksum: Checksum::default(),
            of_parts: vec![PartCounts::new(known); parts],
            sums: vec![Checksum::default(); parts],
            text_bytes: 0,
            bytes: 0,
        }
    }

    #[allow(clippy::needless_pass_by_value, reason = "as above")]
    pub fn merge_all(&mut self, other: Dealt) -> Result<()> {
        if let (Some(own), Some(other)) = (&mut self.counts, &other.counts) {
            own.merge(other);
        }
        self.checksum.merge(&other.checksum);
        self.of_parts.iter_mut().zip(&other.of_parts).for_each(|(own, other)| own.merge(other));
        self.sums.iter_mut().zip(&other.sums).for_each(|(own, other)| own.merge(other));
        self.text_bytes += other.text_bytes;
        self.bytes += other.bytes;
        Ok(())
    }
}

/// What is known of parts that were solved.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Solved {
    pub gains: GainCounts,
    pub sample: RoundSample,
    /// What the method says of each part.
    pub facts: BTreeMap<u32, Vec<Fact>>,
    /// Bytes of blocks.
    pub bytes: u64,
}

impl Solved {
    pub fn merge_all(&mut self, other: Solved) -> Result<()> {
        self.gains.merge(&other.gains);
        self.sample.merge(other.sample);
        self.facts.extend(other.facts);
        self.bytes += other.bytes;
        Ok(())
    }
}

/// What is known of rows of the release.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Released {
    pub rows: u64,
    pub shown: Shown,
    /// Bytes of blocks.
    pub bytes: u64,
}

impl Released {
    pub fn merge_all(&mut self, other: Released) -> Result<()> {
        self.rows += other.rows;
        self.shown.merge(other.shown);
        self.bytes += other.bytes;
        Ok(())
    }
}
