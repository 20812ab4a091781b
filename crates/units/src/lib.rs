//! Exact integer arithmetic for time, rate and chance.
//!
//! Time is counted in picoseconds, because one byte at 10 Gbit/s lasts 800 ps and one at
//! 400 Gbit/s lasts 20 ps; a `u64` of picoseconds spans 213 days. Nothing here rounds silently:
//! [`Serialiser`] carries the remainder of every division, so `n` packets last exactly the time
//! of their sum.
#![forbid(unsafe_code)]

mod chance;
mod histogram;
mod invalid;
mod rate;
mod serialised;
mod time;

pub use chance::Probability;
pub use histogram::Histogram;
pub use invalid::InvalidValue;
pub use rate::{Rate, Serialiser};
pub use time::{Span, Time};
