//! The ledger as a file, so that there is never a release without its entry.
//!
//! A run works on a copy in memory. When its release is written and audited, under a temporary name, the ledger is *staged*:
//! the old one with the new one behind it. Then the release gets its name, and last the ledger is the new one alone. A run
//! that dies between finds on the next start what had happened: the release is under its name, so that the entry counts;
//! or it still has its temporary name, so that nobody can have got it and the entry is dropped. Where neither can be told,
//! nothing is guessed.
//!
//! The file's first line holds a seal over all that follows, made with the key: what was edited is refused. Whoever
//! works on a series holds a lock on its key.

use std::fs::File;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::hash_file;
use super::key::{Key, hex};
use super::ledger::Ledger;
use super::terms::Terms;
use crate::error::{Error, ErrorCode, Result};
use crate::release::{Output, publish_all};

/// The version of the format.
const VERSION: u32 = 1;

/// A series that a run works on.
#[derive(Debug)]
pub struct Book {
    path: PathBuf,
    key: Key,
    /// The bytes of the file, if there is one.
    found: Option<Vec<u8>>,
    /// What it says.
    pub ledger: Ledger,
    /// The release that an earlier run had published without being able to say so.
    pub recovered: Option<PathBuf>,
    /// Locked for as long as the run works on it.
    _lock: Option<File>,
}

#[derive(Serialize, Deserialize)]
struct Head {
    throng_ledger: u32,
    seal: String,
}

#[derive(Serialize, Deserialize)]
struct Body {
    ledger: Ledger,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pending: Option<Pending>,
}

/// A release that may be published or not.
#[derive(Serialize, Deserialize)]
struct Pending {
    next: Ledger,
    release: PathBuf,
    temporary: PathBuf,
}

/// What the user says of the releases before.
#[derive(Clone, Copy, Debug)]
pub struct Before<'a> {
    /// The last release.
    pub after: Option<&'a Path>,
    /// Whether the last release in the ledger was never handed out and this one takes its place.
    pub replace: bool,
}

impl Book {
    /// Opens the ledger of a series, or begins one; `before` must be true of it.
    pub fn open(path: &Path, terms: &Terms, before: Before<'_>) -> Result<Self> {
        let key = Key::path(path);
        let mut book = match (path.exists(), key.exists()) {
            (false, false) => Self::begin(path, terms)?,
            (true, true) => Self::read(path, before)?,
            (false, true) => {
                return Err(Error::new(ErrorCode::BadLedger, "there is the key of a series, but its ledger is gone")
                    .in_file(path)
                    .with_hint(
                        "bring the ledger back; without it the series is over. If no release was ever published with it, \
                         delete the key",
                    ));
            }
            (true, false) => {
                return Err(Error::new(
                    ErrorCode::BadLedger,
                    "there is the ledger of a series, but its key is gone",
                )
                .in_file(&key)
                .with_hint(
                    "bring the key back; without it nobody can be known again, and the series is over",
                ));
            }
        };
        if before.replace {
            if book.ledger.releases.is_empty() {
                return Err(Error::new(
                    ErrorCode::BadUsage,
                    "there is no release that this one could take the place of",
                )
                .in_file(path)
                .with_hint("leave --replace out"));
            }
            book.ledger.take_back();
        }
        book.check_last(before)?;
        match book.ledger.releases.is_empty() {
            true => book.ledger.terms = terms.clone(),
            false => book.ledger.terms.check_same(terms)?,
        }
        Ok(book)
    }

    /// Opens the ledger of a series to look at it.
    pub fn look(path: &Path) -> Result<(Ledger, Key)> {
        let (key, _) = Key::read(&Key::path(path))?;
        let (body, _) = read_body(path, &key)?;
        match body.pending {
            None => Ok((body.ledger, key)),
            Some(_) => Err(Error::new(ErrorCode::SeriesPending, "a run on this series stopped half-way")
                .in_file(path)
                .with_hint("run `throng anonymize` on the series again, which finds out what had happened")),
        }
    }

    /// The key of the series.
    pub fn key(&self) -> &Key {
        &self.key
    }

    fn begin(path: &Path, terms: &Terms) -> Result<Self> {
        let mut name = [0; 16];
        getrandom::fill(&mut name).map_err(|cause| {
            Error::new(ErrorCode::NoRandomness, format!("the system gives no random numbers: {cause}"))
        })?;
        Ok(Book {
            path: path.to_owned(),
            key: Key::fresh()?,
            found: None,
            ledger: Ledger::new(hex(&name), terms.clone()),
            recovered: None,
            _lock: None,
        })
    }

    fn read(path: &Path, before: Before<'_>) -> Result<Self> {
        let (key, file) = Key::read(&Key::path(path))?;
        if matches!(file.try_lock(), Err(std::fs::TryLockError::WouldBlock)) {
            return Err(Error::new(ErrorCode::LedgerInUse, "another run works on this series")
                .in_file(path)
                .with_hint("wait until it is done"));
        }
        let (body, bytes) = read_body(path, &key)?;
        if let Some(wrong) = body.ledger.contradiction() {
            return Err(Error::bug(format!("the ledger contradicts itself: {wrong}")).in_file(path));
        }
        let mut book = Book {
            path: path.to_owned(),
            key,
            found: Some(bytes),
            ledger: body.ledger,
            recovered: None,
            _lock: Some(file),
        };
        if let Some(pending) = body.pending {
            book.recover(pending, before)?;
        }
        Ok(book)
    }

    /// Finds out whether a release of a run that died was published.
    fn recover(&mut self, pending: Pending, before: Before<'_>) -> Result<()> {
        let hash = pending.next.releases.last().map(|release| release.hash.clone()).unwrap_or_default();
        let is_it = |path: &Path| path.is_file() && hash_file(path).is_ok_and(|own| own == hash);
        if is_it(&pending.release) || before.after.is_some_and(is_it) {
            self.recovered = Some(pending.release);
            self.ledger = pending.next;
        } else if is_it(&pending.temporary) {
            // Somebody else may have been faster.
            let _ = std::fs::remove_file(&pending.temporary);
        } else if !before.replace {
            return Err(Error::new(
                ErrorCode::SeriesPending,
                format!(
                    "an earlier run stopped half-way, and its release {} is not there: nobody can tell whether it was handed out",
                    pending.release.display()
                ),
            )
            .in_file(&self.path)
            .with_hint("if it was, bring it back and name it with --after; if it was not, add --replace"));
        } else {
            // What the user says of the last release is said of this one.
            self.ledger = pending.next;
        }
        let bytes = self.bytes(&Body { ledger: self.ledger.clone(), pending: None })?;
        Output::create_private(&self.path, &bytes)?.publish()?;
        self.found = Some(bytes);
        Ok(())
    }

    fn check_last(&self, before: Before<'_>) -> Result<()> {
        let releases = &self.ledger.releases;
        let (last, after) = match (releases.last(), before.after) {
            (None, None) => return Ok(()),
            (Some(_), None) => {
                return Err(Error::new(
                    ErrorCode::SeriesGoesOn,
                    format!("this series has {} already", count_of_releases(releases.len())),
                )
                .in_file(&self.path)
                .with_hint(match &self.recovered {
                    Some(path) => format!(
                        "the run before had published {}, the last of them; go on from it with --after",
                        path.display()
                    ),
                    None => "name the last one with --after; for other people begin a series with a ledger of its own"
                        .to_owned(),
                }));
            }
            (None, Some(after)) => {
                return Err(Error::new(
                    ErrorCode::NotTheLast,
                    "the ledger knows of no release yet, so that this one is none of its series",
                )
                .in_file(after)
                .with_hint(
                    "leave --after out to begin a series; if the ledger was lost, the series is over",
                ));
            }
            (Some(last), Some(after)) => (last, after),
        };
        let hash = hash_file(after)?;
        if hash == last.hash {
            return Ok(());
        }
        let number = releases.iter().position(|release| release.hash == hash).map(|at| at + 1);
        let (message, hint) = match (number, &self.recovered) {
            (_, Some(path)) => (
                format!("release {} of this series was published by the run before", releases.len()),
                format!(
                    "it is {}; go on from it, or take its place with --replace if nobody got it",
                    path.display()
                ),
            ),
            (Some(number), None) => (
                format!(
                    "this is release {number} of the series, and release {} is the last: two that follow on the same one \
                     would give people away",
                    releases.len()
                ),
                "name the last release; if that was never handed out, take its place with --replace"
                    .to_owned(),
            ),
            (None, None) => (
                format!("this is not release {} of the series as it was published", releases.len()),
                "name the file as it was written: its bytes are compared".to_owned(),
            ),
        };
        Err(Error::new(ErrorCode::NotTheLast, message).in_file(after).with_hint(hint))
    }

    fn bytes(&self, body: &Body) -> Result<Vec<u8>> {
        let wrong = |cause: serde_json::Error| Error::bug(format!("the ledger cannot be written: {cause}"));
        let body = serde_json::to_vec(body).map_err(wrong)?;
        let head = Head { throng_ledger: VERSION, seal: self.key.seal(&body) };
        let mut bytes = serde_json::to_vec(&head).map_err(wrong)?;
        bytes.push(b'\n');
        bytes.extend(body);
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// Publishes a release and other files together with the entry of the release: `next` is the ledger with it.
    pub fn publish(self, next: &Ledger, release: Output, others: Vec<Output>) -> Result<()> {
        self.stage(next, &release)?;
        let publish = || {
            let bytes = self.bytes(&Body { ledger: next.clone(), pending: None })?;
            let entry = Output::create_private(&self.path, &bytes)?;
            publish_all(std::iter::once(release).chain(others).chain([entry]).collect())
        };
        publish().inspect_err(|_| self.put_back())
    }

    /// Enters a release that has a temporary name still, so that a run that dies from here on is understood by the next one.
    pub(crate) fn stage(&self, next: &Ledger, release: &Output) -> Result<()> {
        if let Some(wrong) = next.contradiction() {
            return Err(Error::bug(format!("the ledger contradicts itself: {wrong}")));
        }
        let absolute = |path: &Path| {
            std::path::absolute(path)
                .map_err(|cause| Error::io(ErrorCode::CannotWrite, "write", path, &cause))
        };
        let pending = Pending {
            next: next.clone(),
            release: absolute(release.path())?,
            temporary: absolute(release.temporary_path())?,
        };
        let staged = self.bytes(&Body { ledger: self.before(next), pending: Some(pending) })?;
        self.check_unchanged()?;
        if self.found.is_none() {
            self.key.write(&Key::path(&self.path))?;
        }
        let publish = || Output::create_private(&self.path, &staged)?.publish();
        publish().inspect_err(|_| self.put_back())
    }

    /// The ledger to go back to if the release is not published.
    fn before(&self, next: &Ledger) -> Ledger {
        let old = self.found.as_deref().and_then(|bytes| parse(bytes).ok()).map(|(_, body)| body.ledger);
        old.unwrap_or_else(|| Ledger::new(next.series.clone(), next.terms.clone()))
    }

    /// An error if somebody else wrote the ledger meanwhile.
    fn check_unchanged(&self) -> Result<()> {
        match std::fs::read(&self.path).ok() == self.found {
            true => Ok(()),
            false => {
                Err(Error::new(ErrorCode::LedgerInUse, "the ledger was changed while this run worked on it")
                    .in_file(&self.path)
                    .with_hint("run again"))
            }
        }
    }

    /// Leaves everything as it was found. An error has been told already; more cannot be done.
    fn put_back(&self) {
        let _ = match &self.found {
            Some(bytes) => Output::create_private(&self.path, bytes).and_then(Output::publish),
            None => {
                let _ = std::fs::remove_file(Key::path(&self.path));
                let _ = std::fs::remove_file(&self.path);
                Ok(())
            }
        };
    }
}

fn count_of_releases(count: usize) -> String {
    if count == 1 { "1 release".to_owned() } else { format!("{count} releases") }
}

fn read_body(path: &Path, key: &Key) -> Result<(Body, Vec<u8>)> {
    let bytes = std::fs::read(path)
        .map_err(|cause| Error::io(ErrorCode::CannotRead, "read the ledger", path, &cause))?;
    let told = |error: Error| error.in_file(path);
    let (head, body) = parse(&bytes).map_err(told)?;
    if head.seal != key.seal(body_of(&bytes)) {
        return Err(told(
            Error::new(ErrorCode::BadLedger, "the ledger was edited, or its key is that of another series")
                .with_hint("bring back ledger and key as the last run left them"),
        ));
    }
    Ok((body, bytes))
}

/// All but the first line and the last line end.
fn body_of(bytes: &[u8]) -> &[u8] {
    let start = memchr::memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1);
    bytes[start..].strip_suffix(b"\n").unwrap_or(&bytes[start..])
}

fn parse(bytes: &[u8]) -> Result<(Head, Body)> {
    let no_ledger = || {
        Error::new(ErrorCode::BadLedger, "this is not the ledger of a series, or a damaged one")
            .with_hint("bring back the file that the last run wrote")
    };
    let line = memchr::memchr(b'\n', bytes).map_or(bytes, |end| &bytes[..end]);
    let head: Head = serde_json::from_slice(line).map_err(|_| no_ledger())?;
    if head.throng_ledger != VERSION {
        return Err(Error::new(
            ErrorCode::BadLedger,
            format!(
                "this ledger is of format {}, and this version of throng knows {VERSION}",
                head.throng_ledger
            ),
        )
        .with_hint("use the version of throng that wrote it"));
    }
    let body: Body = serde_json::from_slice(body_of(bytes)).map_err(|_| no_ledger())?;
    let known =
        |ledger: &Ledger| ledger.people.values().all(|place| (place.class as usize) < ledger.classes.len());
    if !known(&body.ledger) || body.pending.as_ref().is_some_and(|pending| !known(&pending.next)) {
        return Err(no_ledger());
    }
    Ok((head, body))
}
