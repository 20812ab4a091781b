//! Packets of a run's capture in the order of their times.
//!
//! A run writes a packet into its capture when its fate is known, so that files are out of order by the time
//! that packets spend in a link.

use crate::tcp::Segment;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Packets by which one may be late: 40 MB of them.
const MOST: usize = 1 << 18;

/// A segment where it was captured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sighting {
    pub(crate) at_ns: u64,
    pub(crate) place: usize,
    /// Number of the interface within the frame.
    pub(crate) index: u32,
    pub(crate) segment: Segment,
}

impl Sighting {
    /// Packets of one instant are parts of one: their sequence numbers give their order.
    fn key(&self) -> (u64, usize, u32) {
        (self.at_ns, self.place, self.segment.sequence)
    }
}

impl PartialEq for Sighting {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Sighting {}

impl PartialOrd for Sighting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Sighting {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

/// Segments that wait for earlier ones.
#[derive(Default)]
pub(crate) struct InOrder(BinaryHeap<Reverse<Sighting>>);

impl InOrder {
    /// Adds one, and returns the earliest if enough wait.
    pub(crate) fn exchange(&mut self, sighting: Sighting) -> Option<Sighting> {
        self.0.push(Reverse(sighting));
        if self.0.len() > MOST { self.take() } else { None }
    }

    /// The earliest.
    pub(crate) fn take(&mut self) -> Option<Sighting> {
        self.0.pop().map(|Reverse(sighting)| sighting)
    }
}
