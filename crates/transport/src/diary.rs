//! What the laws of this thread's connections are told, and what they make of it; only with the feature `diary`.
//!
//! A field of each connection would change what tests measure of them, so that this is kept beside them.

use longhaul_congestion::{Ack, Congestion, Control, Law};
use longhaul_units::Time;
use std::cell::RefCell;

/// A call of a law.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// [`Law::on_ack`].
    Ack(Ack),
    /// [`Law::on_congestion`].
    Congestion(Congestion),
    /// [`Law::on_lost`], with the next uniform number of the connection's stream.
    Lost(Time, f64),
    /// [`Law::on_timeout`] with so many in flight.
    Timeout(Time, u32),
    /// [`Law::on_recovered`].
    Recovered(Time),
    /// [`Law::on_spurious`].
    Spurious(Time),
}

/// A call, and what came of it, in segments.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The call.
    pub event: Event,
    /// [`Law::window`] after it.
    pub window: f64,
    /// [`Law::threshold`] after it.
    pub threshold: f64,
}

thread_local! {
    static DIARY: RefCell<Option<Vec<Entry>>> = const { RefCell::new(None) };
}

/// From here on this thread's connections write down what their laws are told.
pub fn begin() {
    DIARY.set(Some(Vec::new()));
}

/// What was written since [`begin`].
pub fn end() -> Vec<Entry> {
    DIARY.take().unwrap_or_default()
}

pub(crate) fn write(event: Event, law: &Control) {
    DIARY.with_borrow_mut(|diary| {
        if let Some(entries) = diary {
            entries.push(Entry { event, window: law.window(), threshold: law.threshold() });
        }
    });
}
