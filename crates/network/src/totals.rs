//! What became of packets, over the whole network and over one direction of a link.

use crate::packet::Fate;
use longhaul_link::Counters;
use std::ops::Add;

/// Packets since the start, over the whole network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Handed over by hosts.
    pub injected: u64,
    /// Offered to links: a packet counts on each.
    pub hops: u64,
    /// Made by links that duplicate, and by switches that send frames to several links.
    pub copied: u64,
    /// Made by routers.
    pub replies: u64,
    /// Arrived at their hosts.
    pub delivered: u64,
    /// Taken by loss models.
    pub lost: u64,
    /// Refused by full queues.
    pub overflowed: u64,
    /// Dropped by active queue management.
    pub dropped: u64,
    /// Offered to links that were down.
    pub down: u64,
    /// Without a way.
    pub no_route: u64,
    /// Out of TTL.
    pub ttl_expired: u64,
    /// Larger than the next link's MTU.
    pub too_big: u64,
    /// Addressed to a router.
    pub answered: u64,
    /// Dropped by the pacing of their hosts.
    pub pacer_dropped: u64,
    /// Not sent on by switches, or not taken by routers, as they were for others.
    pub filtered: u64,
    /// Of stations that were behind two links of a switch at once.
    pub looped: u64,
}

/// The counters of one direction of a link.
#[derive(Clone, Copy, Debug)]
pub struct LinkCounters {
    /// What the link counts itself.
    pub link: Counters,
    /// Packets that did not fit.
    pub too_big_packets: u64,
    /// Waiting now.
    pub waiting_packets: u64,
    /// IP bytes waiting now.
    pub waiting_bytes: u64,
    /// On the wire now.
    pub flying_packets: u64,
}

impl Totals {
    pub(crate) fn count(&mut self, fate: Fate) {
        let count = match fate {
            Fate::Lost => &mut self.lost,
            Fate::Overflowed => &mut self.overflowed,
            Fate::Dropped => &mut self.dropped,
            Fate::Down => &mut self.down,
            Fate::NoRoute => &mut self.no_route,
            Fate::TtlExpired => &mut self.ttl_expired,
            Fate::TooBig => &mut self.too_big,
            Fate::Answered => &mut self.answered,
            Fate::PacerDropped => &mut self.pacer_dropped,
            Fate::Filtered => &mut self.filtered,
            Fate::Looped => &mut self.looped,
        };
        *count += 1;
    }
}

impl Add for Totals {
    type Output = Totals;

    fn add(self, other: Totals) -> Totals {
        Totals {
            injected: self.injected + other.injected,
            hops: self.hops + other.hops,
            copied: self.copied + other.copied,
            replies: self.replies + other.replies,
            delivered: self.delivered + other.delivered,
            lost: self.lost + other.lost,
            overflowed: self.overflowed + other.overflowed,
            dropped: self.dropped + other.dropped,
            down: self.down + other.down,
            no_route: self.no_route + other.no_route,
            ttl_expired: self.ttl_expired + other.ttl_expired,
            too_big: self.too_big + other.too_big,
            answered: self.answered + other.answered,
            pacer_dropped: self.pacer_dropped + other.pacer_dropped,
            filtered: self.filtered + other.filtered,
            looped: self.looped + other.looped,
        }
    }
}
