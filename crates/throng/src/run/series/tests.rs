#![allow(clippy::unwrap_used)]
//! Runs that die between two steps, and what the next one makes of it.

use std::path::{Path, PathBuf};

use super::*;
use crate::run::Prepared;
use crate::watch::Unwatched;

const POLICY: &str = "[privacy]\nk = 2\n[method]\nseed = 7\nname = \"mondrian\"\n[attribute.id]\nrole = \"person\"\n\
    [attribute.age]\nrole = \"quasi\"\n[attribute.illness]\nrole = \"sensitive\"\n";

/// A folder with two tables and a first release.
struct Begun(tempfile::TempDir);

impl Begun {
    fn new() -> Self {
        let begun = Begun(tempfile::tempdir().unwrap());
        let table = |people: std::ops::Range<u32>| {
            let row = |id: u32| format!("p{id},{},{}\n", 20 + id * 3, ["flu", "cold"][id as usize % 2]);
            "id,age,illness\n".to_owned() + &people.map(row).collect::<String>()
        };
        std::fs::write(begun.path("t1.csv"), table(0..8)).unwrap();
        std::fs::write(begun.path("t2.csv"), table(1..12)).unwrap();
        begun
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn series(&self, table: &str, release: &str, after: Option<&str>) -> Series {
        let policy = Policy::parse(POLICY, None).unwrap();
        Series {
            anonymize: Anonymize::new(self.path(table), self.path(release), policy),
            ledger: self.path("ledger"),
            after: after.map(|name| self.path(name)),
            erase: None,
            replace: false,
        }
    }

    fn first(self) -> Self {
        self.series("t1.csv", "r1.csv", None).run(&Unwatched).unwrap();
        self
    }

    fn second(&self) -> Series {
        self.series("t2.csv", "r2.csv", Some("r1.csv"))
    }

    /// Runs up to the staged ledger and dies there. Gives the temporary name of the release.
    fn die(&self, series: &Series) -> PathBuf {
        let Prepared { written, entry, .. } = series.prepare(&Unwatched).unwrap();
        let Entry { book, next } = entry.unwrap();
        book.stage(&next, &written.release).unwrap();
        let temporary = written.release.temporary_path().to_owned();
        let name = temporary.file_name().unwrap().to_string_lossy().into_owned();
        assert!(name.starts_with(".throng-staged-"), "no other run removes {name}");
        std::mem::forget(written);
        temporary
    }

    fn releases(&self) -> usize {
        Book::look(&self.path("ledger")).unwrap().0.releases.len()
    }
}

#[test]
fn what_was_staged_and_not_published_is_dropped() {
    let begun = Begun::new().first();
    let temporary = begun.die(&begun.second());
    assert_eq!(Book::look(&begun.path("ledger")).unwrap_err().code(), ErrorCode::SeriesPending);
    begun.second().run(&Unwatched).unwrap();
    assert!(!temporary.exists() && begun.path("r2.csv").exists());
    assert_eq!(begun.releases(), 2);
}

#[test]
fn a_first_release_that_was_staged_and_not_published_is_made_again() {
    let begun = Begun::new();
    begun.die(&begun.series("t1.csv", "r1.csv", None));
    let begun = begun.first();
    assert_eq!(begun.releases(), 1);
}

#[test]
fn what_was_published_and_not_entered_is_entered() {
    let begun = Begun::new().first();
    let temporary = begun.die(&begun.second());
    std::fs::rename(temporary, begun.path("r2.csv")).unwrap();
    let error = begun.second().run(&Unwatched).unwrap_err();
    assert_eq!(error.code(), ErrorCode::NotTheLast);
    assert!(error.message().contains("release 2 of this series was published by the run before"), "{error}");
    assert_eq!(begun.releases(), 2);
    begun.series("t2.csv", "r3.csv", Some("r2.csv")).run(&Unwatched).unwrap();
}

#[test]
fn where_nobody_can_tell_nothing_is_guessed() {
    let begun = Begun::new().first();
    let temporary = begun.die(&begun.second());
    let moved = begun.path("handed-out.csv");
    std::fs::rename(temporary, &moved).unwrap();
    let error = begun.second().run(&Unwatched).unwrap_err();
    assert_eq!(error.code(), ErrorCode::SeriesPending);
    assert!(error.hint().unwrap().contains("--replace"));
    // Whoever has it says so, and it counts.
    begun.series("t2.csv", "r3.csv", Some("handed-out.csv")).run(&Unwatched).unwrap();
    assert_eq!(begun.releases(), 3);
}

#[test]
fn what_nobody_got_is_replaced_when_somebody_says_so() {
    let begun = Begun::new().first();
    std::fs::remove_file(begun.die(&begun.second())).unwrap();
    let replace = Series { replace: true, ..begun.second() };
    replace.run(&Unwatched).unwrap();
    assert_eq!(begun.releases(), 2);
}

#[test]
fn a_release_that_cannot_appear_leaves_the_ledger_as_it_was() {
    let begun = Begun::new().first();
    let before = std::fs::read(begun.path("ledger")).unwrap();
    let prepared = begun.second().prepare(&Unwatched).unwrap();
    // Its name is taken by a folder meanwhile.
    std::fs::create_dir(begun.path("r2.csv")).unwrap();
    std::fs::write(begun.path("r2.csv").join("x"), "").unwrap();
    prepared.publish().unwrap_err();
    assert_eq!(std::fs::read(begun.path("ledger")).unwrap(), before);
    std::fs::remove_dir_all(begun.path("r2.csv")).unwrap();
    begun.second().run(&Unwatched).unwrap();
}

#[test]
fn two_runs_at_once_are_one_too_many() {
    let begun = Begun::new().first();
    let prepared = begun.second().prepare(&Unwatched).unwrap();
    assert_eq!(begun.second().prepare(&Unwatched).unwrap_err().code(), ErrorCode::LedgerInUse);
    prepared.publish().unwrap();
    let both = Begun::new();
    let one = both.series("t1.csv", "r1.csv", None).prepare(&Unwatched).unwrap();
    let other = both.series("t1.csv", "other.csv", None).prepare(&Unwatched).unwrap();
    one.publish().unwrap();
    other.publish().unwrap_err();
    assert!(both.path("r1.csv").exists() && !both.path("other.csv").exists());
    assert_eq!(both.releases(), 1);
}

#[test]
fn the_same_seed_and_secret_give_the_same_bytes_on_any_number_of_threads() {
    let bytes = |threads: usize| {
        let begun = Begun::new();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for (table, release, after) in [("t1.csv", "r1.csv", None), ("t2.csv", "r2.csv", Some("r1.csv"))] {
            let mut series = begun.series(table, release, after);
            series.anonymize.secret = Some(Secret::from_bytes(b"one of ours, sixteen"));
            pool.install(|| series.run(&Unwatched)).unwrap();
        }
        let read = |name: &str| std::fs::read(Path::new(&begun.path(name))).unwrap();
        (read("r1.csv"), read("r2.csv"))
    };
    assert_eq!(bytes(1), bytes(3));
}
