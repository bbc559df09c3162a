//! Tables of very many columns take memory for what they hold, not for how wide they are.

#![allow(clippy::unwrap_used, unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use throng::format::CSV;
use throng::policy::Policy;
use throng::policy::suggest::suggest;
use throng::table::{Reading, Storage, Table};
use throng::watch::Unwatched;

/// Counts the bytes that are taken, and the most at any time.
struct Counting;

static TAKEN: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is left to the system's allocator; only sizes are counted.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let taken = TAKEN.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(taken, Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        TAKEN.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const COLUMNS: usize = 20_000;
const ROWS: usize = 30;

#[test]
fn a_column_of_a_wide_table_takes_few_kilobytes() {
    let mut text = (0..COLUMNS).map(|column| format!("c{column}x")).collect::<Vec<_>>().join(",");
    for row in 0..ROWS {
        let cells: Vec<String> = (0..COLUMNS).map(|column| (row * column % 7).to_string()).collect();
        text += &format!("\n{}", cells.join(","));
    }
    let before = TAKEN.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let plan = |names: &[String]| Ok(vec![Storage::Coded; names.len()]);
    let table = Table::read_from(&CSV, text.as_bytes(), &Reading::new(&plan, &Unwatched)).unwrap();
    let read = MOST.load(Ordering::Relaxed) - before;
    let suggestion = suggest(&table).unwrap();
    drop(table);
    assert_eq!(Policy::parse(&suggestion.text, None).unwrap().attributes.len(), COLUMNS);
    let most = MOST.load(Ordering::Relaxed) - before;
    assert!(read / COLUMNS < 3_000, "reading takes {} bytes a column", read / COLUMNS);
    assert!(most / COLUMNS < 8_000, "a policy takes {} bytes a column", most / COLUMNS);
}
