//! Loops on all threads, for work that is worth a call.
//!
//! Rayon compiles its machinery anew for every loop that is written with it; a sixth of the library's code was that. Here it is compiled once:
//! items are dealt to pieces, and a piece is worked on behind a reference. What comes back is in the order of the items, on any number
//! of threads. Loops over single records are dealt in ranges of them, each of which is a plain loop beside what it calls: that is why what
//! takes such loops asks to be inlined. Reading what comes bit by bit, and sweeps over cuts that are short and many use rayon itself. So it is
//! with sorts: where whole rows are compared, [`sort_by`] does.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) use rayon::Scope;
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use rayon::slice::ParallelSliceMut;

use crate::error::Result;

/// Pieces for each thread, so that nobody waits long for the last.
const PIECES_OF_A_THREAD: usize = 16;
/// Records whose work is a few steps: fewer are not worth a piece.
pub(crate) const FEW_STEPS: usize = 1 << 12;

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
    let failed = AtomicUsize::new(usize::MAX);
    let found = map(items.into_iter().enumerate(), |(at, item)| {
        // What comes after an error is not needed any more; what comes before it may be the first.
        if at > failed.load(Ordering::Relaxed) {
            return None;
        }
        let given = work(item);
        if given.is_err() {
            failed.fetch_min(at, Ordering::Relaxed);
        }
        Some(given)
    });
    let mut all = Vec::with_capacity(found.len());
    for given in found.into_iter().flatten() {
        all.push(given?);
    }
    Ok(all)
}

/// Does the work for each item.
pub(crate) fn each<I: Send>(items: impl IntoIterator<Item = I>, work: impl Fn(I) + Sync) {
    map(items, work);
}

/// Does the work for each item; the first error comes back.
pub(crate) fn try_each<I: Send>(
    items: impl IntoIterator<Item = I>,
    work: impl Fn(I) -> Result<()> + Sync,
) -> Result<()> {
    try_map(items, work).map(drop)
}

/// What the work gives for each item, with room that items of a piece use in turns.
pub(crate) fn map_with<I: Send, R, T: Send>(
    items: impl IntoIterator<Item = I>,
    room: impl Fn() -> R + Sync,
    work: impl Fn(&mut R, I) -> T + Sync,
) -> Vec<T> {
    deal(items, usize::MAX, |slots| {
        let mut room = room();
        for slot in slots {
            slot.fill(|item| work(&mut room, item));
        }
    })
}

/// What the work gives for each item, where one may take as long as many others: each is a piece of its own. There is room for as many
/// items as are worked on at a time.
pub(crate) fn tasks<I: Send, R: Send, T: Send>(
    items: impl IntoIterator<Item = I>,
    room: impl Fn() -> R + Sync,
    work: impl Fn(&mut R, I) -> T + Sync,
) -> Vec<T> {
    let rooms = Mutex::new(Vec::new());
    deal(items, 1, |slots| {
        let mut room = take(&rooms, &room);
        for slot in slots {
            slot.fill(|item| work(&mut room, item));
        }
        lock(&rooms).push(room);
    })
}

/// What there is for each item once pieces of at most so many of them are worked on.
fn deal<I: Send, T: Send>(
    items: impl IntoIterator<Item = I>,
    most: usize,
    work: impl Fn(&mut [Slot<I, T>]) + Sync,
) -> Vec<T> {
    // Loops of its own where iterators would do: this is compiled for every loop of the library.
    let mut slots: Vec<Slot<I, T>> = Vec::new();
    for item in items {
        slots.push(Slot::Open(item));
    }
    let size = length_of_a_piece(slots.len(), 1).min(most);
    chunks_mut(&mut slots, size, |_, slots| work(slots));
    let mut done = Vec::with_capacity(slots.len());
    for slot in slots {
        if let Slot::Done(given) = slot {
            done.push(given);
        }
    }
    done
}

/// Sorts ids by a comparison that is worth a call and tells all ids apart.
pub(crate) fn sort_by(ids: &mut [u32], compare: &(dyn Fn(u32, u32) -> std::cmp::Ordering + Sync)) {
    ids.par_sort_unstable_by(|one, other| compare(*one, *other));
}

/// An item, and later what the work gave for it.
enum Slot<I, T> {
    Open(I),
    Taken,
    Done(T),
}

impl<I, T> Slot<I, T> {
    fn fill(&mut self, work: impl FnOnce(I) -> T) {
        if let Slot::Open(item) = std::mem::replace(self, Slot::Taken) {
            *self = Slot::Done(work(item));
        }
    }
}

/// Does the work for each chunk of so many, which is told its number.
#[inline]
pub(crate) fn chunks_mut<T: Send>(data: &mut [T], size: usize, work: impl Fn(usize, &mut [T]) + Sync) {
    let count = data.len().div_ceil(size);
    let chunks = Mutex::new(data.chunks_mut(size).enumerate());
    run(count, &|_| {
        // Whoever comes takes the next one, and lets go of the others before the work.
        let next = lock(&chunks).next();
        if let Some((number, chunk)) = next {
            work(number, chunk);
        }
    });
}

/// What the work gives for each place below a number, in pieces of at least so many.
#[inline]
pub(crate) fn fill<T: Clone + Default + Send>(
    len: usize,
    least: usize,
    work: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    let mut all = vec![T::default(); len];
    let size = length_of_a_piece(len, least);
    chunks_mut(&mut all, size, |number, chunk| {
        for at in 0..chunk.len() {
            chunk[at] = work(number * size + at);
        }
    });
    all
}

/// What the work gives for ranges of at least so many places below a number. How many there are depends on the threads.
#[inline]
pub(crate) fn ranges<T: Send>(len: usize, least: usize, work: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    let size = length_of_a_piece(len, least);
    let mut found: Vec<Option<T>> = Vec::new();
    found.resize_with(len.div_ceil(size), || None);
    chunks_mut(&mut found, 1, |number, found| {
        let start = number * size;
        found[0] = Some(work(start..(start + size).min(len)));
    });
    found.into_iter().flatten().collect()
}

/// What so many pieces add to, as many parts as are added to at a time. Neither which of them a piece goes to nor their order is always the
/// same: for sums of whole numbers and the like.
#[inline]
pub(crate) fn parts<T: Send>(
    pieces: usize,
    none: impl Fn() -> T + Sync,
    add: impl Fn(&mut T, usize) + Sync,
) -> Vec<T> {
    let parts = Mutex::new(Vec::new());
    run(pieces, &|at| {
        let mut part = take(&parts, &none);
        add(&mut part, at);
        lock(&parts).push(part);
    });
    parts.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a test holds for any place below a number, in pieces of at least so many. Others are not tested once it held.
#[inline]
pub(crate) fn any(len: usize, least: usize, test: impl Fn(usize) -> bool + Sync) -> bool {
    let found = AtomicBool::new(false);
    let size = length_of_a_piece(len, least);
    run(len.div_ceil(size), &|number| {
        for at in number * size..len.min((number + 1) * size) {
            if found.load(Ordering::Relaxed) {
                return;
            }
            if test(at) {
                found.store(true, Ordering::Relaxed);
            }
        }
    });
    found.into_inner()
}

/// Does two things side by side.
#[inline]
pub(crate) fn join<A: Send, B: Send>(
    one: impl FnOnce() -> A + Send,
    other: impl FnOnce() -> B + Send,
) -> (A, B) {
    let (mut one, mut other) = (Some(one), Some(other));
    let (mut first, mut second) = (None, None);
    both(&mut || first = one.take().map(|one| one()), &mut || second = other.take().map(|other| other()));
    (first.expect("it is done"), second.expect("it is done"))
}

/// Work that is called for while other work goes on, and may call for more.
pub(crate) type Task<'scope> = Box<dyn FnOnce(&Scope<'scope>) + Send + 'scope>;

/// Ends when the work has ended and all that it called for.
pub(crate) fn scope<'scope>(work: Task<'scope>) {
    rayon::scope(work);
}

/// Calls for work in a scope.
pub(crate) fn spawn<'scope>(scope: &Scope<'scope>, work: Task<'scope>) {
    scope.spawn(work);
}

/// Keys in order, each with its place below it; equal keys keep the order of their places.
pub(crate) fn sorted_with_places(keys: &[u64]) -> Vec<u128> {
    let mut words = fill(keys.len(), FEW_STEPS, |place| u128::from(keys[place]) << u64::BITS | place as u128);
    sort(&mut words);
    words
}

/// The places of keys in order.
pub(crate) fn places(sorted: &[u128]) -> Vec<u32> {
    fill(sorted.len(), FEW_STEPS, |at| sorted[at] as u32)
}

/// Sorts by several threads: halves that were told apart are sorted on their own, by the fastest sort there is.
pub(crate) fn sort<T: Ord + Send>(words: &mut [T]) {
    const BY_ONE_THREAD: usize = 1 << 15;
    if words.len() <= BY_ONE_THREAD {
        words.sort_unstable();
        return;
    }
    let middle = words.len() / 2;
    words.select_nth_unstable(middle);
    let (low, high) = words.split_at_mut(middle);
    join(|| sort(low), || sort(high));
}

/// How many of so many items go into a piece: at least so many, and enough that there are not too many pieces.
pub(crate) fn length_of_a_piece(items: usize, least: usize) -> usize {
    items.div_ceil(PIECES_OF_A_THREAD * rayon::current_num_threads()).max(least).max(1)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What was given back before, or else something new.
fn take<T>(held: &Mutex<Vec<T>>, new: impl Fn() -> T) -> T {
    let before = lock(held).pop();
    before.unwrap_or_else(new)
}

/// The one loop that rayon runs: so many pieces, each by itself.
fn run(count: usize, piece: &(dyn Fn(usize) + Sync)) {
    if count < 2 {
        return (0..count).for_each(piece);
    }
    (0..count).into_par_iter().with_max_len(1).for_each(piece);
}

/// The one place where rayon does two things.
fn both(one: &mut (dyn FnMut() + Send), other: &mut (dyn FnMut() + Send)) {
    rayon::join(one, other);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::error::{Error, ErrorCode};

    const SIZES: [usize; 7] = [0, 1, 2, 31, 32, 33, 1000];

    /// Does the same on one, two and five threads.
    fn on_threads(test: impl Fn() + Sync) {
        for threads in [1, 2, 5] {
            rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(&test);
        }
    }

    #[test]
    fn what_comes_back_is_in_order_on_any_number_of_threads() {
        on_threads(|| {
            for size in SIZES {
                let doubled: Vec<usize> = (0..size).map(|at| 2 * at).collect();
                assert_eq!(map(0..size, |at| 2 * at), doubled);
                assert_eq!(tasks(0..size, || (), |(), at| 2 * at), doubled);
                for least in [0, 1, 7, 5000] {
                    assert_eq!(fill(size, least, |at| 2 * at), doubled);
                    let ranges = ranges(size, least, |range| range.map(|at| 2 * at).collect::<Vec<_>>());
                    assert!(ranges.iter().rev().skip(1).all(|range| range.len() >= least));
                    assert_eq!(ranges.concat(), doubled);
                }
            }
        });
    }

    #[test]
    fn every_chunk_is_worked_on_once_and_knows_its_number() {
        on_threads(|| {
            for size in SIZES {
                for length in [1, 7, 1000] {
                    let mut data = vec![0; size];
                    chunks_mut(&mut data, length, |number, chunk| {
                        assert!(chunk.len() <= length);
                        chunk.iter_mut().for_each(|own| *own += number + 1);
                    });
                    assert_eq!(data, (0..size).map(|at| at / length + 1).collect::<Vec<_>>());
                }
            }
        });
    }

    #[test]
    fn parts_add_up() {
        on_threads(|| {
            for size in SIZES {
                let sums = parts(size, || 0, |sum, at| *sum += at);
                assert!(sums.len() <= rayon::current_num_threads());
                assert_eq!(sums.into_iter().sum::<usize>(), (0..size).sum::<usize>());
            }
        });
    }

    #[test]
    fn any_finds_what_there_is_and_then_stops() {
        on_threads(|| {
            for size in SIZES {
                assert!((0..size).all(|wanted| any(size, 3, |at| at == wanted)));
                assert!(!any(size, 3, |_| false));
            }
        });
        let tested = AtomicUsize::new(0);
        let count = |_| tested.fetch_add(1, Ordering::Relaxed) + 1 > 0;
        assert!(any(1_000_000, 1, count));
        assert!(tested.into_inner() < 1_000_000);
    }

    #[test]
    fn keys_are_put_in_order_and_equal_ones_keep_theirs() {
        on_threads(|| {
            for size in SIZES.into_iter().chain([100_000]) {
                let keys: Vec<u64> =
                    (0..size as u64).map(|at| at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 51).collect();
                let mut order: Vec<u32> = (0..size as u32).collect();
                order.sort_by_key(|place| keys[*place as usize]);
                assert_eq!(places(&sorted_with_places(&keys)), order);
            }
        });
    }

    #[test]
    fn two_things_are_both_done() {
        fn sum(numbers: Range<u64>) -> u64 {
            if numbers.end - numbers.start < 2 {
                return numbers.sum();
            }
            let middle = u64::midpoint(numbers.start, numbers.end);
            let (low, high) = join(|| sum(numbers.start..middle), || sum(middle..numbers.end));
            low + high
        }
        on_threads(|| assert_eq!(sum(0..1000), 499_500));
    }

    #[test]
    fn a_scope_ends_with_all_that_was_called_for() {
        on_threads(|| {
            let done = AtomicUsize::new(0);
            scope(Box::new(|scope| {
                for _ in 0..10 {
                    let done = &done;
                    spawn(
                        scope,
                        Box::new(move |scope| {
                            spawn(
                                scope,
                                Box::new(move |_| {
                                    done.fetch_add(1, Ordering::Relaxed);
                                }),
                            );
                        }),
                    );
                }
            }));
            assert_eq!(done.into_inner(), 10);
        });
    }

    #[test]
    fn panics_come_back_to_the_caller() {
        let fails =
            |work: &(dyn Fn() + Sync)| std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).is_err();
        on_threads(|| {
            assert!(fails(&|| assert_eq!(join(|| 1, || assert_eq!(1, 2)).0, 1)));
            assert!(fails(&|| assert_eq!(join(|| assert_eq!(1, 2), || 1).1, 1)));
            assert!(fails(&|| drop(fill(100, 1, |at| assert_ne!(at, 50)))));
            assert!(fails(&|| drop(parts(100, || (), |(), at| assert_ne!(at, 50)))));
            assert!(fails(&|| drop(tasks(0..100, || (), |(), at| assert_ne!(at, 50)))));
        });
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
            rooms.fetch_add(1, Ordering::Relaxed);
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
        assert_eq!(try_each(0..100, |at| fail(at).map(drop)).unwrap_err().to_string(), "7");
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let tried = AtomicUsize::new(0);
        let count = |at| {
            tried.fetch_add(1, Ordering::Relaxed);
            fail(at)
        };
        assert!(pool.install(|| try_map(0..1000, count)).is_err());
        assert_eq!(tried.into_inner(), 8);
    }
}
