//! The transmit side of a network card with a line rate.
//!
//! The card takes the next frame from its ring when the last bit of the previous one has left, and then returns that
//! frame's buffer to the driver. Until then the buffer is charged to its socket, so that TCP small queues limit what a
//! connection has in the host, as with real hardware. Frames have their length on Ethernet (IEEE 802.3, clauses 3 and 4);
//! a super-packet has that of its segments.

use crate::vhost::NET_HEADER_BYTES;

/// Preamble and start of frame, frame check sequence, and the gap between frames.
const FRAMING_BYTES: u64 = 8 + 4 + 12;
/// Shortest frame without its frame check sequence.
const LEAST_BYTES: u64 = 60;
/// The kinds of super-packets in `gso_type`, without its flag for ECN (VIRTIO 1.2, section 5.1.6).
const GSO_MASK: u8 = 0x7f;

/// A frame in transmission.
#[derive(Debug)]
struct Sending<C> {
    chain: C,
    done_ps: u64,
}

/// The frames of one card; `C` is a chain of its transmit queue.
#[derive(Debug)]
pub(crate) struct Transmitter<C> {
    line_bits_per_s: u64,
    sending: Option<Sending<C>>,
    /// When the last bit of the last frame leaves.
    free_ps: u64,
    /// The index of the available ring up to which the driver has offered chains.
    pub available: Option<u16>,
}

impl<C> Transmitter<C> {
    /// A card with this line rate in bit/s.
    pub fn new(line_bits_per_s: u64) -> Self {
        Transmitter { line_bits_per_s: line_bits_per_s.max(1), sending: None, free_ps: 0, available: None }
    }

    /// When the frame in transmission completes, rounded up to whole nanoseconds.
    pub fn done_ns(&self) -> Option<u64> {
        self.sending.as_ref().map(|sending| sending.done_ps.div_ceil(1_000))
    }

    /// Whether no frame is in transmission.
    pub fn is_idle(&self) -> bool {
        self.sending.is_none()
    }

    /// Starts to send `frame`, which was taken from the ring at `now_ns`.
    pub fn start(&mut self, now_ns: u64, chain: C, frame: &[u8]) {
        // Queued frames are back to back, although the guest's clock has whole nanoseconds.
        let start_ps = if self.free_ps.div_ceil(1_000) == now_ns { self.free_ps } else { now_ns * 1_000 };
        let bits = u128::from(8 * wire_bytes(frame));
        let takes_ps = bits * 1_000_000_000_000 / u128::from(self.line_bits_per_s);
        self.free_ps = start_ps.saturating_add(u64::try_from(takes_ps).unwrap_or(u64::MAX));
        self.sending = Some(Sending { chain, done_ps: self.free_ps });
    }

    /// The chain of the frame that has completed by `now_ns`.
    pub fn finish(&mut self, now_ns: u64) -> Option<C> {
        self.done_ns().filter(|&done_ns| done_ns <= now_ns)?;
        self.sending.take().map(|sending| sending.chain)
    }

    /// Discards all frames.
    pub fn reset(&mut self) {
        (self.sending, self.available) = (None, None);
    }
}

/// Bytes on the wire of a frame behind its `virtio_net_hdr_v1`.
fn wire_bytes(sent: &[u8]) -> u64 {
    let word =
        |at: usize| sent.get(at..at + 2).map_or(0, |bytes| u64::from(bytes[0]) | u64::from(bytes[1]) << 8);
    let frame = sent.len().saturating_sub(NET_HEADER_BYTES) as u64;
    let (gso_type, header, gso_size) = (sent.get(1).copied().unwrap_or(0), word(2), word(4));
    if gso_type & GSO_MASK == 0 || gso_size == 0 || header >= frame {
        return frame.max(LEAST_BYTES) + FRAMING_BYTES;
    }
    let payload = frame - header;
    let (whole, rest) = (payload / gso_size, payload % gso_size);
    let of_last = if rest == 0 { 0 } else { (header + rest).max(LEAST_BYTES) + FRAMING_BYTES };
    whole * ((header + gso_size).max(LEAST_BYTES) + FRAMING_BYTES) + of_last
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(bytes: usize, gso: Option<(u16, u16)>) -> Vec<u8> {
        let mut sent = vec![0; NET_HEADER_BYTES + bytes];
        if let Some((header, size)) = gso {
            sent[1] = 1;
            sent[2..4].copy_from_slice(&header.to_le_bytes());
            sent[4..6].copy_from_slice(&size.to_le_bytes());
        }
        sent
    }

    #[test]
    fn a_frame_has_its_bytes_and_ethernet_framing_on_the_wire() {
        assert_eq!(wire_bytes(&frame(1_514, None)), 1_538);
        assert_eq!(wire_bytes(&frame(42, None)), 84, "the shortest frame");
    }

    #[test]
    fn a_super_packet_has_the_wire_bytes_of_its_segments() {
        // 14 + 52 bytes of headers; two whole segments, and one of 100 bytes.
        let sent = frame(66 + 2 * 1_448 + 100, Some((66, 1_448)));
        assert_eq!(wire_bytes(&sent), 2 * 1_538 + 166 + 24);
        let even = frame(66 + 2 * 1_448, Some((66, 1_448)));
        assert_eq!(wire_bytes(&even), 2 * 1_538);
        // Header fields of the guest that contradict the length.
        assert_eq!(wire_bytes(&frame(100, Some((200, 1)))), 124);
        assert_eq!(wire_bytes(&frame(100, Some((66, 0)))), 124);
        assert_eq!(wire_bytes(&[]), 84);
    }

    #[test]
    fn queued_frames_leave_back_to_back_at_the_line_rate() {
        let mut card = Transmitter::new(1_000_000_000);
        let mut now_ns = 500;
        for number in 1..=1_000 {
            assert!(card.is_idle());
            card.start(now_ns, number, &frame(1_514, None));
            assert_eq!(card.finish(now_ns), None);
            now_ns = card.done_ns().unwrap();
            assert_eq!(card.finish(now_ns), Some(number));
        }
        assert_eq!(now_ns, 500 + 1_000 * 12_304);
        // 1,538 bytes at 3 Gbit/s are 4,101.3 ns: rounding adds up to less than a nanosecond.
        let mut card = Transmitter::new(3_000_000_000);
        let mut now_ns = 0;
        for number in 0..3_000 {
            card.start(now_ns, number, &frame(1_514, None));
            now_ns = card.done_ns().unwrap();
            card.finish(now_ns).unwrap();
        }
        assert!((12_303_999..=12_304_000).contains(&now_ns), "{now_ns}");
        // An idle card starts a frame at once.
        card.start(20_000_000, 0, &frame(1_514, None));
        assert_eq!(card.done_ns(), Some(20_004_102));
    }
}
