use crate::settings::ReceiveBuffer;
use longhaul_units::{Span, Time};

/// Largest window without scaling (RFC 9293, section 3.1).
const UNSCALED: u64 = 65_535;
/// Largest shift (RFC 7323, section 2.3).
const MOST_SHIFT: u8 = 14;

/// The receive buffer, and the window that follows from it; in bytes since the connection began.
#[derive(Clone, Debug)]
pub(crate) struct Buffer {
    /// What is offered of it.
    share: u64,
    /// Arrived in order.
    pub(crate) arrived: u64,
    /// Taken by the application.
    pub(crate) taken: u64,
    /// Furthest edge ever offered.
    edge: u64,
    /// `None`: its size is fixed.
    tuning: Option<Box<Tuning>>,
    mss: u16,
    shift: u8,
}

/// Dynamic right-sizing (Fisk and Feng 2001).
#[derive(Clone, Debug)]
struct Tuning {
    settings: ReceiveBuffer,
    size: u64,
    /// The receiver's estimate of the round trip; none yet: zero.
    rtt: Span,
    since: Time,
    taken: u64,
}

impl Buffer {
    pub(crate) fn new(settings: ReceiveBuffer, mss: u16) -> Self {
        let size = settings.bytes;
        let tuning = Tuning { settings, size, rtt: Span::ZERO, since: Time::ZERO, taken: 0 };
        Buffer {
            share: settings.share(size),
            arrived: 0,
            taken: 0,
            edge: 0,
            tuning: (settings.most > size).then(|| Box::new(tuning)),
            mss,
            shift: 0,
        }
    }

    /// Both ends scale windows: by the least shift that the largest buffer needs.
    pub(crate) fn scale(&mut self, settings: ReceiveBuffer) {
        let most = settings.share(settings.most.max(settings.bytes));
        self.shift = (0..MOST_SHIFT).find(|shift| most >> shift <= UNSCALED).unwrap_or(MOST_SHIFT);
    }

    /// The window to offer now. What has been offered is not taken back (RFC 9293, section 3.8.6.2.1),
    /// and the edge moves by worthwhile steps only (section 3.8.6.2.2).
    #[inline]
    pub(crate) fn offer(&mut self) -> u32 {
        let free = self.share.saturating_sub(self.arrived - self.taken);
        let edge = self.arrived + free;
        if edge >= self.edge + (self.share / 2).min(self.mss.into()) {
            let window = (free >> self.shift).min(UNSCALED) << self.shift;
            self.edge = self.edge.max(self.arrived + window);
        }
        self.window()
    }

    fn window(&self) -> u32 {
        u32::try_from(self.edge.saturating_sub(self.arrived)).unwrap_or(u32::MAX)
    }

    /// Whether reading has opened the window so far that the other end should be told: by half of the
    /// buffer, or so that a closed window takes a segment again.
    pub(crate) fn has_opened(&self) -> bool {
        let (share, mss) = (self.share, u64::from(self.mss));
        let edge = self.arrived + share.saturating_sub(self.arrived - self.taken);
        let gain = edge.saturating_sub(self.edge);
        let closed = u64::from(self.window()) < mss.min(share);
        gain >= share / 2 && gain > 0 || closed && gain >= (share / 2).min(mss)
    }

    pub(crate) fn is_tuned(&self) -> bool {
        self.tuning.is_some()
    }

    /// A round trip as the receiver sees it: from its acknowledgement to the data that echo it.
    pub(crate) fn sample(&mut self, rtt: Span) {
        let Some(tuning) = &mut self.tuning else { return };
        let known = tuning.rtt;
        tuning.rtt = if known == Span::ZERO || rtt < known {
            rtt
        } else {
            Span::from_ps(known.ps() - known.ps() / 8 + rtt.ps() / 8)
        };
    }

    /// Once per round trip: room for twice what the application took during it.
    pub(crate) fn tune(&mut self, now: Time) {
        let Some(tuning) = &mut self.tuning else { return };
        if tuning.rtt == Span::ZERO || now.since(tuning.since) < tuning.rtt {
            return;
        }
        let wanted = 2 * (self.taken - tuning.taken);
        tuning.taken = self.taken;
        tuning.since = now;
        while self.share < wanted && tuning.size < tuning.settings.most {
            tuning.size = (tuning.size * 2).min(tuning.settings.most);
            self.share = tuning.settings.share(tuning.size);
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
        assert_eq!(Buffer::new(ReceiveBuffer::fixed(1 << 20), 1000).offer(), 65_535);
    }

    #[test]
    fn with_scaling_the_greatest_window_is_65535_times_16384() {
        assert_eq!(scaled(ReceiveBuffer::fixed(1 << 40)).offer(), 65_535 << 14);
    }

    #[test]
    fn unread_data_close_the_window_and_the_edge_stays() {
        let mut buffer = scaled(ReceiveBuffer::fixed(10_000));
        assert_eq!(buffer.offer(), 10_000);
        buffer.arrived = 4000;
        assert_eq!(buffer.offer(), 6000);
        buffer.arrived = 10_000;
        assert_eq!(buffer.offer(), 0);
        buffer.taken = 999;
        assert!(!buffer.has_opened(), "less than a segment");
        assert_eq!(buffer.offer(), 0);
        buffer.taken = 1000;
        assert!(buffer.has_opened());
        assert_eq!(buffer.offer(), 1000);
    }

    #[test]
    fn an_open_window_is_announced_again_when_half_of_the_buffer_is_free() {
        let mut buffer = scaled(ReceiveBuffer::fixed(10_000));
        buffer.offer();
        buffer.arrived = 6000;
        buffer.taken = 4999;
        assert!(!buffer.has_opened());
        buffer.taken = 5000;
        assert!(buffer.has_opened());
    }

    #[test]
    fn a_tuned_buffer_holds_twice_what_a_round_trip_brought() {
        let mut buffer = scaled(ReceiveBuffer { bytes: 10_000, most: 1 << 20, offered: 1 });
        buffer.sample(Span::from_ms(100));
        (buffer.arrived, buffer.taken) = (30_000, 30_000);
        buffer.tune(Time::from_ns(50_000_000));
        assert_eq!(buffer.share, 5000, "not yet a round trip");
        buffer.tune(Time::from_ns(100_000_000));
        // Half is offered: 120,000 bytes are needed, in powers of two times 10,000.
        assert_eq!(buffer.share, 80_000);
    }
}
