//! Whole runs on a cluster: the steps of [`crate::scale`] as functions of record batches and bytes.
//!
//! Nothing here knows what cluster it is. A front (`throng.spark`) makes a [`Driver`], which decides between steps and ends with
//! the report, and hands its [`Driver::shared`] bytes to all machines. Each makes [`Steps`] of them and does what it is asked for,
//! with whatever share of the rows it has:
//!
//! | on every machine | on the driver |
//! | --- | --- |
//! | [`Sketcher`]: rows → a state | [`Driver::sketched`] → the first cuts |
//! | [`Dealer`]: rows, cuts → blocks for parts, a state | [`Driver::dealt`] → which parts are solved together |
//! | [`Steps::solve`]: the blocks of a part → blocks with classes, a state | [`Driver::solved`] → what is kept, cuts for the rest |
//! | [`Onward`]: the rest → blocks for parts, a state | again from [`Driver::dealt`], until nothing is left |
//! | [`Steps::publish`]: what is kept → rows of the release, with their lots | |
//! | [`AuditDealer`]: the release → blocks for parts, a state | [`Driver::released`] → how many rows there are |
//! | [`Steps::audit`]: the blocks of a part → findings | [`Driver::audited`] → the report |
//!
//! States of one kind merge ([`merge`]) in any order and grouping. A block is compressed Arrow IPC; it is opaque to the front,
//! so that a cluster moves a few large values and not every row. Every part is solved only if its rows are those that were
//! counted when they were dealt: a machine that is lost and whose rows are read again cannot bring in others.
//!
//! The release is that of one machine with the same table, policy, seed, secret and number of parts.

mod audit;
mod block;
mod deal;
mod driver;
mod job;
mod solve;
mod state;

pub use audit::AuditDealer;
pub use deal::{Dealer, Onward, Sketcher};
pub use driver::{Asked, Driver, Next, Round};
pub use job::{Adjusted, Steps};
pub use state::{Kind, merge};

/// A part, and rows that go there.
pub type Block = (u32, Vec<u8>);
