//! Loops on all threads, for work that is worth a call.
//!
//! Rayon compiles its machinery anew for every loop that is written with it; a sixth of the library's code was that. Here it is compiled once:
//! items are dealt to pieces, and a piece is worked on behind a reference. What comes back is in the order of the items, on any number
//! of threads. Loops over single records, where a call would cost more than the work, use rayon itself. So it is with sorts: where whole
//! rows are compared, [`sort_by`] does.

use std::cmp::Ordering;
use std::sync::{Mutex, PoisonError};

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use rayon::slice::ParallelSliceMut;

use crate::error::Result;

/// Pieces for each thread, so that nobody waits long for the last.
const PIECES_OF_A_THREAD: usize = 16;

/// What the work gives for each item.
pub(crate) fn map<I: Send, T: Send>(
    items: impl IntoIterator<Item = I>,
    work: impl Fn(I) -> T + Sync,
) -> Vec<T> {
    map_with(items, || (), |(), item| work(item))
}

/// What the work gives for each item, or the first error.
pub(crate) fn try_map<I: Send, T: Send>(
    items: impl IntoIterator<Item = I>,
    work: impl Fn(I) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    map(items, work).into_iter().collect()
}

/// Does the work for each item.
pub(crate) fn each<I: Send>(items: impl IntoIterator<Item = I>, work: impl Fn(I) + Sync) {
    map(items, work);
}

/// What the work gives for each item, with room that items of a piece use in turns.
pub(crate) fn map_with<I: Send, R, T: Send>(
    items: impl IntoIterator<Item = I>,
    room: impl Fn() -> R + Sync,
    work: impl Fn(&mut R, I) -> T + Sync,
) -> Vec<T> {
    // Loops of its own where iterators would do: this is compiled for every loop of the library.
    let mut slots: Vec<Slot<I, T>> = Vec::new();
    for item in items {
        slots.push(Slot::Open(item));
    }
    let each = length_of_a_piece(slots.len());
    let pieces: Vec<Mutex<&mut [Slot<I, T>]>> = slots.chunks_mut(each).map(Mutex::new).collect();
    run(pieces.len(), &|at| {
        let mut piece = pieces[at].lock().unwrap_or_else(PoisonError::into_inner);
        let mut room = room();
        for slot in piece.iter_mut() {
            if let Slot::Open(item) = std::mem::replace(slot, Slot::Taken) {
                *slot = Slot::Done(work(&mut room, item));
            }
        }
    });
    drop(pieces);
    let mut done = Vec::with_capacity(slots.len());
    for slot in slots {
        if let Slot::Done(given) = slot {
            done.push(given);
        }
    }
    done
}

/// Sorts ids by a comparison that is worth a call and tells all ids apart.
pub(crate) fn sort_by(ids: &mut [u32], compare: &(dyn Fn(u32, u32) -> Ordering + Sync)) {
    ids.par_sort_unstable_by(|one, other| compare(*one, *other));
}

/// An item, and later what the work gave for it.
enum Slot<I, T> {
    Open(I),
    Taken,
    Done(T),
}

/// How many items of so many go into a piece.
fn length_of_a_piece(items: usize) -> usize {
    items.div_ceil(PIECES_OF_A_THREAD * rayon::current_num_threads()).max(1)
}

/// The one loop that rayon runs: so many pieces, each by itself.
fn run(count: usize, piece: &(dyn Fn(usize) + Sync)) {
    if count < 2 {
        return (0..count).for_each(piece);
    }
    (0..count).into_par_iter().with_max_len(1).for_each(piece);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use super::*;
    use crate::error::{Error, ErrorCode};

    #[test]
    fn what_comes_back_is_in_order_on_any_number_of_threads() {
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for count in [0, 1, 2, 31, 32, 33, 1000] {
                let found = pool.install(|| map(0..count, |at| 2 * at));
                assert_eq!(found, (0..count).map(|at| 2 * at).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn loops_within_loops_end() {
        let sums = map(0..100u64, |outer| map(0..100u64, |inner| outer * inner).into_iter().sum::<u64>());
        assert_eq!(sums.iter().sum::<u64>(), 4950 * 4950);
    }

    #[test]
    fn each_piece_has_room_of_its_own() {
        let rooms = AtomicUsize::new(0);
        let room = || {
            rooms.fetch_add(1, Relaxed);
            Vec::new()
        };
        let follows = map_with(0..1000usize, room, |room, at| {
            room.push(at);
            at + 1 - room[0] == room.len()
        });
        assert!(follows.into_iter().all(|follows| follows));
        assert!(rooms.into_inner() > 1);
    }

    #[test]
    fn ids_are_sorted_by_what_is_compared() {
        let mut ids: Vec<u32> = (0..10_000).collect();
        sort_by(&mut ids, &|one, other| (one % 7).cmp(&(other % 7)).then(one.cmp(&other)));
        assert!(ids.is_sorted_by_key(|id| (id % 7, *id)));
    }

    #[test]
    fn the_first_error_comes_back() {
        let fail = |at: usize| match at {
            7 | 70 => Err(Error::new(ErrorCode::BadUsage, at.to_string())),
            _ => Ok(at),
        };
        assert_eq!(try_map(0..100, fail).map_err(|error| error.to_string()).unwrap_err(), "7");
        assert_eq!(try_map(0..7, fail).unwrap().len(), 7);
    }
}
