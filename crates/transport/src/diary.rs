//! What the algorithms of this thread's connections are told, and what they make of it; only with the feature `diary`.
//!
//! A field of each connection would change what tests measure of them, so that this is kept beside them.

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

/// A call, and what came of it, in segments.
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
    static DIARY: RefCell<Option<Vec<Entry>>> = const { RefCell::new(None) };
}

/// From here on this thread's connections write down what their algorithms are told.
pub fn begin() {
    DIARY.set(Some(Vec::new()));
}

/// What was written since [`begin`].
pub fn end() -> Vec<Entry> {
    DIARY.take().unwrap_or_default()
}

pub(crate) fn write(event: Event, algorithm: &Algorithm) {
    DIARY.with_borrow_mut(|diary| {
        if let Some(entries) = diary {
            entries.push(Entry { event, window: algorithm.window(), threshold: algorithm.threshold() });
        }
    });
}
