//! A trace of the calls of this thread's congestion-control algorithms; only with the feature `cc-trace`.
//!
//! The trace is thread-local, because a field of each connection would change the sizes that tests measure.

use longhaul_congestion::{Ack, Algorithm, Congestion, CongestionControl};
use longhaul_units::Time;
use std::cell::RefCell;

/// A call of an algorithm.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// [`CongestionControl::on_ack`].
    Ack(Ack),
    /// [`CongestionControl::on_congestion`].
    Congestion(Congestion),
    /// [`CongestionControl::on_lost`], with the next uniform number of the connection's stream.
    Lost(Time, f64),
    /// [`CongestionControl::on_timeout`] with so many in flight.
    Timeout(Time, u32),
    /// [`CongestionControl::on_recovered`].
    Recovered(Time),
    /// [`CongestionControl::on_spurious`].
    Spurious(Time),
}

/// A call, and the algorithm's state after it, in segments.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The call.
    pub event: Event,
    /// [`CongestionControl::window`] after it.
    pub window: f64,
    /// [`CongestionControl::threshold`] after it.
    pub threshold: f64,
}

thread_local! {
    static TRACE: RefCell<Option<Vec<Entry>>> = const { RefCell::new(None) };
}

/// Starts the trace of this thread's connections.
pub fn start() {
    TRACE.set(Some(Vec::new()));
}

/// Stops the trace, and returns the calls since [`start`].
pub fn stop() -> Vec<Entry> {
    TRACE.take().unwrap_or_default()
}

pub(crate) fn record(event: Event, algorithm: &Algorithm) {
    TRACE.with_borrow_mut(|trace| {
        if let Some(entries) = trace {
            entries.push(Entry { event, window: algorithm.window(), threshold: algorithm.threshold() });
        }
    });
}
