/// What a link must know of a packet that it carries.
pub trait LinkPacket: Copy {
    /// Size in bytes as the queue and the counters see it; the link's framing comes on top.
    fn bytes(&self) -> u32;

    /// Whether this packet is the next segment of the same super-packet as `previous`, so that
    /// the two may leave together within the link's `coalesce` span.
    fn continues(&self, _previous: &Self) -> bool {
        false
    }

    /// A hash of its flow: hosts, protocol, ports.
    fn flow(&self) -> u64 {
        0
    }

    /// A hash of its hosts, in this direction.
    fn hosts(&self) -> u64 {
        self.flow()
    }

    /// Its differentiated services code point, below 64.
    fn dscp(&self) -> u8 {
        0
    }

    /// Marks it as having met congestion (RFC 3168); `false` if its transport does not understand that.
    fn mark(&mut self) -> bool {
        false
    }

    /// Turns one bit over, which `draw` chooses.
    fn corrupt(&mut self, _draw: u64) {}
}

/// How a packet ended inside a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fate {
    /// Taken by the loss model.
    Lost,
    /// The queue was full.
    Overflowed,
    /// Dropped by active queue management.
    Dropped,
    /// The link was down when the packet was offered.
    Down,
}

/// What became of an offered packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OfferResult {
    /// The packet is in the link and will come out of [`take`](crate::Link::take).
    Taken {
        /// How many duplicates of it were made: 0 or 1. One that found the queue full comes out of
        /// [`drop_pending`](crate::Link::drop_pending).
        copies: u32,
    },
    /// The packet has ended.
    Ended(Fate),
}

/// What has happened in one direction of a link since the start.
///
/// At every instant:
/// ```text
/// offered_packets + copied_packets == delivered_packets + lost_packets + overflowed_packets
///     + dropped_packets + down_packets + waiting + in_flight
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets that were offered, whatever became of them.
    pub offered_packets: u64,
    /// Their bytes, framing not counted.
    pub offered_bytes: u64,
    /// Duplicates that the link made, including those that the queue then refused.
    pub copied_packets: u64,
    /// Packets that came out of the far end.
    pub delivered_packets: u64,
    /// Their bytes, framing not counted.
    pub delivered_bytes: u64,
    /// Packets that the loss model took.
    pub lost_packets: u64,
    /// Packets that found the queue full.
    pub overflowed_packets: u64,
    /// Packets that active queue management dropped.
    pub dropped_packets: u64,
    /// Packets that were offered while the link was down.
    pub down_packets: u64,
    /// Packets that active queue management marked instead of dropping them.
    pub marked_packets: u64,
    /// Packets in which a bit was turned over.
    pub corrupted_packets: u64,
    /// Sum of the delays drawn for packets that entered the wire, in picoseconds.
    pub wire_delay_ps: u128,
    /// Bytes of packets that have begun to leave, with framing: what occupies the wire.
    pub wire_bytes: u64,
}
