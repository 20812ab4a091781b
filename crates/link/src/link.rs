use crate::{Change, Counters, Fate, Laws, Load, Offered};
use longhaul_random::Seed;
use longhaul_units::{Span, Time};
use std::collections::VecDeque;

/// One direction of a link.
#[derive(Debug)]
pub struct Link<P> {
    wire: VecDeque<(P, Time)>,
    counters: Counters,
}

impl<P: Load> Link<P> {
    /// An idle link. Its streams are named `<name>/loss`, `<name>/delay` and so on.
    pub fn new(_laws: Laws, _seed: &Seed, _name: &str, _coalesce: Span) -> Self {
        Link { wire: VecDeque::new(), counters: Counters::default() }
    }

    /// Offers a packet to the near end.
    pub fn offer(&mut self, now: Time, packet: P) -> Offered {
        self.counters.offered_packets += 1;
        self.counters.offered_bytes += u64::from(packet.bytes());
        self.wire.push_back((packet, now));
        Offered::Taken { copies: 0 }
    }

    /// When something will happen by itself, or [`Time::NEVER`].
    pub fn next_event(&self) -> Time {
        self.wire.front().map_or(Time::NEVER, |head| head.1)
    }

    /// The next packet that is due by `now`, with its due time.
    pub fn take(&mut self, now: Time) -> Option<(P, Time)> {
        if self.next_event() > now {
            return None;
        }
        let head = self.wire.pop_front()?;
        self.counters.delivered_packets += 1;
        self.counters.delivered_bytes += u64::from(head.0.bytes());
        Some(head)
    }

    /// A packet that ended inside the link after it was taken.
    pub fn drop_pending(&mut self) -> Option<(P, Fate)> {
        None
    }

    /// Behaves otherwise from `now` on.
    pub fn change(&mut self, _now: Time, _change: &Change) {}

    /// What has happened so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Packets and bytes that wait for the wire.
    pub fn waiting(&self) -> (u64, u64) {
        (0, 0)
    }

    /// Packets in the serialiser or on the wire.
    pub fn flying(&self) -> u64 {
        self.wire.len() as u64
    }
}
