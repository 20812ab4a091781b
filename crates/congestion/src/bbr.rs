//! BBR in its first and its latest version: algorithms that model the path instead of waiting for losses.

mod model;
mod v1;
mod v3;
mod v3_probe;

pub use v1::{Bbr, BbrSettings};
pub use v3::{Bbr3, Bbr3Settings};

/// What BBR is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BbrPhase {
    /// Doubles its rate each round trip.
    Startup,
    /// Lets the queue of startup run dry.
    Drain,
    /// Version 1: goes round the cycle of eight gains.
    ProbeBandwidth,
    /// Version 3: sends less than the path carries.
    Down,
    /// Version 3: sends as much.
    Cruise,
    /// Version 3: fills the pipe for one round trip.
    Refill,
    /// Version 3: sends more.
    Up,
    /// Sends little, to see the RTT of an empty path.
    ProbeRtt,
}
