use crate::settings::ReceiveBuffer;
use longhaul_units::{Span, Time};

/// Largest window without scaling (RFC 9293, section 3.1).
pub(crate) const MAX_UNSCALED_WINDOW: u64 = 65_535;
/// The first window that a tuned buffer expects (RFC 6928).
const FIRST_WINDOW_SEGMENTS: u64 = 10;
/// A tick of the timestamps by which a receiver measures round trips: a shorter one takes as long (Linux).
const TIMESTAMP_TICK: Span = Span::from_ms(1);
/// What a tuned buffer has beyond twice the data of a round trip.
const CUSHION_SEGMENTS: u64 = 16;

/// The receive buffer and its window; positions are bytes of the stream.
#[derive(Clone, Debug)]
pub(crate) struct Buffer {
    /// The share that is advertised.
    window_share: u64,
    /// Received in order.
    pub(crate) received: u64,
    /// Read by the application.
    pub(crate) read: u64,
    /// Highest right edge ever advertised.
    right_edge: u64,
    /// `None`: its size is fixed.
    tuning: Option<Box<Tuning>>,
    mss: u16,
    shift: u8,
}

/// Dynamic right-sizing (Fisk and Feng 2001), as Linux does it (`tcp_rcv_space_adjust`, since 4.16).
#[derive(Clone, Debug)]
struct Tuning {
    settings: ReceiveBuffer,
    size: u64,
    /// The most that the application has read in a round trip; at first, the sender's first window.
    space: u64,
    /// The receiver's estimate of the round trip; none yet: zero.
    rtt: Span,
    since: Time,
    read: u64,
}

impl Buffer {
    pub(crate) fn new(settings: ReceiveBuffer, mss: u16) -> Self {
        let size = settings.bytes;
        // A full window is more than what is expected, however few segments it has: Linux expects half of the buffer,
        // and offers 0.65 of it as soon as it knows how much memory the packets take.
        let full = settings.share(size) * 10 / 13 / u64::from(mss);
        let space = (FIRST_WINDOW_SEGMENTS.min(full) * u64::from(mss)).max(1);
        let tuning = Tuning { settings, size, space, rtt: Span::ZERO, since: Time::ZERO, read: 0 };
        Buffer {
            window_share: settings.share(size),
            received: 0,
            read: 0,
            right_edge: 0,
            tuning: (settings.max_bytes > size).then(|| Box::new(tuning)),
            mss,
            shift: 0,
        }
    }

    /// Sets the smallest window shift that the largest buffer needs.
    pub(crate) fn scale(&mut self, settings: ReceiveBuffer) {
        self.shift = settings.window_shift();
    }

    /// The window to advertise now. The right edge never moves left (RFC 9293, section 3.8.6.2.1), and the
    /// receiver avoids silly windows (section 3.8.6.2.2).
    #[inline]
    pub(crate) fn advertise(&mut self) -> u32 {
        let free = self.window_share.saturating_sub(self.received - self.read);
        let edge = self.received + free;
        if edge >= self.right_edge + (self.window_share / 2).min(self.mss.into()) {
            let window = (free >> self.shift).min(MAX_UNSCALED_WINDOW) << self.shift;
            self.right_edge = self.right_edge.max(self.received + window);
        }
        self.window()
    }

    fn window(&self) -> u32 {
        u32::try_from(self.right_edge.saturating_sub(self.received)).unwrap_or(u32::MAX)
    }

    /// Whether a window update is due: the right edge can move by half of the buffer, or a closed window can take a
    /// segment.
    pub(crate) fn window_update_due(&self) -> bool {
        let (share, mss) = (self.window_share, u64::from(self.mss));
        let edge = self.received + share.saturating_sub(self.received - self.read);
        let gain = edge.saturating_sub(self.right_edge);
        let closed = u64::from(self.window()) < mss.min(share);
        gain >= share / 2 && gain > 0 || closed && gain >= (share / 2).min(mss)
    }

    pub(crate) fn is_tuned(&self) -> bool {
        self.tuning.is_some()
    }

    /// Takes the receiver's RTT sample: from its acknowledgement to the data that echo its timestamp.
    pub(crate) fn sample(&mut self, rtt: Span) {
        let Some(tuning) = &mut self.tuning else { return };
        let rtt = rtt.max(TIMESTAMP_TICK);
        let known = tuning.rtt;
        tuning.rtt = if known == Span::ZERO || rtt < known {
            rtt
        } else {
            Span::from_ps(known.ps() - known.ps() / 8 + rtt.ps() / 8)
        };
    }

    /// Once per round trip, if the application read more than ever in one, grows the buffer to twice as much and
    /// [`CUSHION_SEGMENTS`]; and by twice the growth of this round trip for the next ones, so that the window does not
    /// limit a sender in slow start.
    pub(crate) fn tune(&mut self, now: Time) {
        let Some(tuning) = &mut self.tuning else { return };
        if tuning.rtt == Span::ZERO || now.since(tuning.since) < tuning.rtt {
            return;
        }
        let read = self.read - tuning.read;
        tuning.read = self.read;
        tuning.since = now;
        if read <= tuning.space {
            return;
        }
        let steady = 2 * read + CUSHION_SEGMENTS * u64::from(self.mss);
        let growth = u128::from(steady) * u128::from(read - tuning.space) / u128::from(tuning.space);
        let window = u128::from(steady) + 2 * growth;
        tuning.space = read;
        let size = tuning.settings.size_for(u64::try_from(window).unwrap_or(u64::MAX));
        if size > tuning.size {
            tuning.size = size.min(tuning.settings.max_bytes);
            self.window_share = tuning.settings.share(tuning.size);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scaled(settings: ReceiveBuffer) -> Buffer {
        let mut buffer = Buffer::new(settings, 1000);
        buffer.scale(settings);
        buffer
    }

    #[test]
    fn without_scaling_no_window_exceeds_65535() {
        assert_eq!(Buffer::new(ReceiveBuffer::fixed(1 << 20), 1000).advertise(), 65_535);
    }

    #[test]
    fn with_scaling_the_greatest_window_is_65535_times_16384() {
        assert_eq!(scaled(ReceiveBuffer::fixed(1 << 40)).advertise(), 65_535 << 14);
    }

    #[test]
    fn unread_data_close_the_window_and_the_edge_stays() {
        let mut buffer = scaled(ReceiveBuffer::fixed(10_000));
        assert_eq!(buffer.advertise(), 10_000);
        buffer.received = 4000;
        assert_eq!(buffer.advertise(), 6000);
        buffer.received = 10_000;
        assert_eq!(buffer.advertise(), 0);
        buffer.read = 999;
        assert!(!buffer.window_update_due(), "less than a segment");
        assert_eq!(buffer.advertise(), 0);
        buffer.read = 1000;
        assert!(buffer.window_update_due());
        assert_eq!(buffer.advertise(), 1000);
    }

    #[test]
    fn an_open_window_is_announced_again_when_half_of_the_buffer_is_free() {
        let mut buffer = scaled(ReceiveBuffer::fixed(10_000));
        buffer.advertise();
        buffer.received = 6000;
        buffer.read = 4999;
        assert!(!buffer.window_update_due());
        buffer.read = 5000;
        assert!(buffer.window_update_due());
    }

    #[test]
    fn a_tuned_buffer_has_room_for_slow_start() {
        let mut buffer = scaled(ReceiveBuffer { bytes: 10_000, max_bytes: 1 << 21, adv_win_scale: 1 });
        buffer.sample(Span::from_ms(100));
        (buffer.received, buffer.read) = (20_000, 20_000);
        buffer.tune(Time::from_ns(50_000_000));
        assert_eq!(buffer.window_share, 5000, "not yet a round trip");
        buffer.tune(Time::from_ns(100_000_000));
        // Three of the window's five segments were expected in a round trip: twice the growth by 17,000 of 3,000.
        let steady = 2 * 20_000 + 16_000;
        assert_eq!(buffer.window_share, steady + 2 * (steady * 17_000 / 3_000));
        (buffer.received, buffer.read) = (40_000, 40_000);
        buffer.tune(Time::from_ns(200_000_000));
        assert_eq!(buffer.window_share, 690_666, "another round trip with the same");
        (buffer.received, buffer.read) = (140_000, 140_000);
        buffer.tune(Time::from_ns(300_000_000));
        assert_eq!(buffer.window_share, 1 << 20, "half of the largest");
    }

    #[test]
    fn a_full_window_grows_however_few_segments_it_has() {
        // 64 KiB are seven segments of 8,960 bytes; a round trip of 77 us is one of a millisecond for the receiver.
        for (rtt_us, rounds) in [(5_000, 1), (77, 13)] {
            let mut buffer =
                Buffer::new(ReceiveBuffer { bytes: 131_072, max_bytes: 1 << 23, adv_win_scale: 1 }, 8960);
            for round in 1..=rounds {
                buffer.sample(Span::from_us(rtt_us));
                buffer.received += 7 * 8960;
                buffer.read = buffer.received;
                buffer.tune(Time::from_ns(round * rtt_us * 1_000));
                assert_eq!(
                    buffer.window_share > 65_536,
                    round == rounds,
                    "round trip {round} of {rtt_us} us"
                );
            }
        }
    }

    #[test]
    fn a_window_has_the_size_that_advertises_it() {
        for adv_win_scale in -3..=4 {
            let settings = ReceiveBuffer { bytes: 1, max_bytes: 1, adv_win_scale };
            for window in [1, 2, 1_448, 65_535, 1 << 40] {
                let size = settings.size_for(window);
                let share = settings.share(size);
                assert!((window..=window + 1).contains(&share), "{settings:?}, {window}: {share}");
            }
        }
    }
}
