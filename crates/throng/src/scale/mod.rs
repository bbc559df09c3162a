//! Tables larger than memory: one plan of steps whose partial results merge.
//!
//! Each step is a function of rows and a small state, and knows nothing of where it runs: on one machine within a limit on memory
//! (`run/bounded/`), or on many (`run/cluster/`).
//!
//! 1. *Sketch* ([`sketch`]): one look at all rows tells the domains, how often each value occurs, and a sample.
//! 2. *Rounds* ([`rounds`], [`cuts`]): cuts found from the sample send every record to a part of bounded size. Cuts are dear, but only for
//!    the classes beside them. So a part keeps its cheap classes, and the records of the dearest of all parts go on to the next
//!    round, which cuts them elsewhere, until they fit into memory and are solved together.
//! 3. *Solve* ([`solve`]): a part under the domains, weights and requirement of the whole table ([`known`]), by any method that
//!    groups records. A part that cannot meet the requirement joins its sibling, which counts alone decide.
//! 4. *Audit*: rows are dealt by their published cells, so that every class is whole in one part, and what is measured of parts
//!    merges (`audit/merged.rs`).
//!
//! The seed, the secret, the cuts and the parts decide the release; not threads, batches, or the order in which parts are done.
//! Rows come in the order of lots that are drawn for them from the secret, over the whole release: the place of a row tells
//! neither its part nor its place in the table.

pub mod bottom;
pub mod columns;
pub mod cuts;
pub(crate) mod hashes;
pub mod known;
pub mod rounds;
pub mod rows;
pub mod sketch;
pub mod solve;
