//! Congestion-control laws, one to a file, as state machines without a clock.
//!
//! The transport detects losses, keeps the scoreboard and decides *which* segment goes next; a law
//! decides *how many* may be in flight, and how fast they leave. Windows are in segments, as in the
//! papers, and may be fractional; the transport sends while `in_flight + 1 <= window`.
#![forbid(unsafe_code)]

mod control;
mod law;
mod reno;

pub use control::{Control, Settings};
pub use law::{Ack, Cause, Congestion, Delivery, Law, Pacing};
pub use reno::Reno;
