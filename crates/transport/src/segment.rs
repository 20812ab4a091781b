use longhaul_units::Time;
use std::ops::{BitOr, BitOrAssign};

/// Control bits and options of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags(u16);

impl Flags {
    /// None.
    pub const NONE: Flags = Flags(0);
    /// Opens the connection. Takes no sequence number here.
    pub const SYN: Flags = Flags(1);
    /// No data follow. On the last data segment, or with a sequence number of its own.
    pub const FIN: Flags = Flags(1 << 1);
    /// [`Segment::acknowledged`] counts.
    pub const ACK: Flags = Flags(1 << 2);
    /// ECN echo (RFC 3168, section 6.1).
    pub const ECE: Flags = Flags(1 << 3);
    /// Congestion window reduced (RFC 3168, section 6.1).
    pub const CWR: Flags = Flags(1 << 4);
    /// In a SYN: exact echo is asked for, or granted (the bit that RFC 9768 calls AE).
    pub const AE: Flags = Flags(1 << 5);
    /// ECN-capable: a queue may mark it instead of dropping it.
    pub const ECT: Flags = Flags(1 << 6);
    /// Carries timestamps (RFC 7323).
    pub const TIMESTAMPS: Flags = Flags(1 << 7);
    /// In a SYN: SACK is permitted (RFC 2018).
    pub const SACK_PERMITTED: Flags = Flags(1 << 8);
    /// In a SYN: window scaling (RFC 7323).
    pub const WINDOW_SCALING: Flags = Flags(1 << 9);
    /// Travels in IPv6.
    pub const IPV6: Flags = Flags(1 << 10);
    /// A zero-window probe: requests an acknowledgement.
    pub const PROBE: Flags = Flags(1 << 11);
    /// Is a retransmission. Not on the wire; for traces.
    pub const RETRANSMISSION: Flags = Flags(1 << 12);

    /// As a number.
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// From [`bits`](Self::bits).
    pub const fn from_bits(bits: u16) -> Flags {
        Flags(bits)
    }

    /// Whether all of `other` are set.
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether any of `other` is set.
    pub const fn any(self, other: Flags) -> bool {
        self.0 & other.0 != 0
    }

    /// These and `other`.
    pub(crate) const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    /// These but for `other`.
    pub(crate) const fn without(self, other: Flags) -> Flags {
        Flags(self.0 & !other.0)
    }
}

impl BitOr for Flags {
    type Output = Flags;
    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

impl BitOrAssign for Flags {
    fn bitor_assign(&mut self, other: Flags) {
        self.0 |= other.0;
    }
}

/// Segments that have arrived out of order, from `start` up to but without `end`, both relative to
/// [`Segment::acknowledged`]; a D-SACK block (RFC 2883) may begin below it. Empty: no block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// First segment of the block.
    pub start: i32,
    /// The one after the last.
    pub end: i32,
}

impl Block {
    /// Whether there is nothing in it.
    pub const fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The block's absolute sequence numbers, in a segment that acknowledges `acknowledged`.
    pub const fn absolute(self, acknowledged: u64) -> (u64, u64) {
        (
            acknowledged.wrapping_add_signed(self.start as i64),
            acknowledged.wrapping_add_signed(self.end as i64),
        )
    }
}

/// A segment; 64 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Its number; an acknowledgement without data has the number that the next data will have.
    pub sequence: u64,
    /// The number that the sender of this segment expects next.
    pub acknowledged: u64,
    /// When it left (`TSval`), with [`Flags::TIMESTAMPS`].
    pub sent: Time,
    /// Echo of the peer's time (`TSecr`), with [`Flags::TIMESTAMPS`].
    pub echo: Time,
    /// SACK blocks, the most recent first; the first may be a D-SACK.
    pub sacks: [Block; 3],
    /// Receive window of the sender of this segment, in bytes.
    pub window: u32,
    /// Payload, in bytes.
    pub bytes: u16,
    /// Flags and options.
    pub flags: Flags,
}

impl Segment {
    /// The same without IP and TCP options: 20 bytes of TCP and 20 (IPv4) or 40 (IPv6) of IP.
    const PLAIN: u32 = 40;

    /// Whether it occupies sequence space: it carries data or a FIN.
    pub const fn occupies_sequence_space(&self) -> bool {
        self.bytes > 0 || self.flags.has(Flags::FIN)
    }

    /// Length of the IP packet in bytes: payload and all headers. Options are padded to four bytes as
    /// common stacks lay them out (timestamps 12, SACK 4 + 8 per block; 20 in a SYN with all options).
    #[inline]
    pub fn total_bytes(&self) -> u32 {
        let ip = if self.flags.has(Flags::IPV6) { 20 } else { 0 };
        let stamps = self.flags.has(Flags::TIMESTAMPS);
        let options = if self.flags.has(Flags::SYN) {
            let scale = if self.flags.has(Flags::WINDOW_SCALING) { 4 } else { 0 };
            let sack = self.flags.has(Flags::SACK_PERMITTED);
            4 + scale
                + match (stamps, sack) {
                    (true, _) => 12,
                    (false, true) => 4,
                    (false, false) => 0,
                }
        } else {
            (if stamps { 12 } else { 0 }) + sack_option(self.blocks())
        };
        Self::PLAIN + ip + options + u32::from(self.bytes)
    }

    /// How many SACK blocks it carries; none comes after an empty one.
    #[inline]
    fn blocks(&self) -> u32 {
        match self.sacks.map(Block::is_empty) {
            [true, ..] => 0,
            [_, true, _] => 1,
            [.., true] => 2,
            _ => 3,
        }
    }
}

/// Length of the SACK option with so many blocks, in bytes, padded.
pub(crate) const fn sack_option(blocks: u32) -> u32 {
    if blocks == 0 { 0 } else { 4 + 8 * blocks }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATA: Segment = Segment {
        sequence: 0,
        acknowledged: 0,
        sent: Time::ZERO,
        echo: Time::ZERO,
        sacks: [Block { start: 0, end: 0 }; 3],
        window: 0,
        bytes: 1448,
        flags: Flags::TIMESTAMPS,
    };

    #[test]
    fn a_segment_fits_a_cache_line() {
        assert_eq!(size_of::<Segment>(), 64);
    }

    #[test]
    fn a_full_segment_with_timestamps_fills_an_ethernet_frame() {
        assert_eq!(DATA.total_bytes(), 1500);
        let ipv6 = Segment { bytes: 1428, flags: Flags::TIMESTAMPS | Flags::IPV6, ..DATA };
        assert_eq!(ipv6.total_bytes(), 1500);
        assert_eq!(Segment { bytes: 1460, flags: Flags::ACK, ..DATA }.total_bytes(), 1500);
    }

    #[test]
    fn options_have_their_length_on_the_wire() {
        let pure = Segment { bytes: 0, ..DATA };
        assert_eq!(pure.total_bytes(), 52);
        let mut three = pure;
        three.sacks = [Block { start: 1, end: 2 }; 3];
        // RFC 2018, section 3: 40 bytes of options hold three blocks beside timestamps.
        assert_eq!(three.total_bytes(), 40 + 12 + 4 + 24);
        let syn = Flags::SYN | Flags::TIMESTAMPS | Flags::SACK_PERMITTED | Flags::WINDOW_SCALING;
        assert_eq!(Segment { flags: syn, ..pure }.total_bytes(), 60);
    }

    #[test]
    fn a_dsack_block_may_lie_below_what_is_acknowledged() {
        assert_eq!(Block { start: -3, end: -2 }.absolute(10), (7, 8));
    }
}
