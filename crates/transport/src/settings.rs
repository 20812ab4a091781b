use crate::buffer::MAX_UNSCALED_WINDOW;
use crate::segment::Flags;
use longhaul_units::Span;

/// Largest shift of windows (RFC 7323, section 2.3).
const MAX_SHIFT: u8 = 14;

/// Settings of one end of a connection; plain data. [`Settings::default`] is today's TCP: RACK-TLP,
/// PRR, timestamps, an initial window of 10 segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Payload of a full segment, in bytes, options taken off already; at least 1.
    /// See [`for_mtu`](Self::for_mtu).
    pub mss: u16,
    /// IP version.
    pub ip_version: IpVersion,
    /// Timestamps (RFC 7323), if the peer has them too.
    pub timestamps: bool,
    /// Windows above 65,535 bytes (RFC 7323), if the peer has them too.
    pub window_scaling: bool,
    /// Loss detection and recovery. Without SACK at the peer, `Sack` and `Rack` act as
    /// `NewReno`.
    pub recovery: Recovery,
    /// `DupThresh` (`Sack` only; the others use 3).
    pub reordering: Reordering,
    /// Tail loss probes (RFC 8985, section 7; `Rack` only).
    pub tail_probes: bool,
    /// Window reduction during recovery (`Sack` and `Rack`), unless the algorithm controls it.
    pub reduction: Reduction,
    /// New data on the first two duplicate acknowledgements (RFC 3042).
    pub limited_transmit: bool,
    /// Which evidence undoes a window reduction.
    pub undo: Undo,
    /// Retransmission timeout.
    pub timeouts: RtoSettings,
    /// Initial window.
    pub initial_window: InitialWindow,
    /// The window after an idle period longer than a retransmission timeout.
    pub idle: Idle,
    /// Explicit congestion notification, if the peer has it too. An algorithm that wants marks has
    /// [`Ecn::Exact`] regardless of this setting.
    pub ecn: Ecn,
    /// Whether segments of an algorithm that does not pace are spread over the round trip.
    pub pacing: Pacing,
    /// Nagle's algorithm (RFC 896).
    pub nagle: bool,
    /// Send buffer, in bytes.
    pub send_buffer: u64,
    /// Delayed acknowledgements.
    pub ack_policy: AckPolicy,
    /// The receiver's buffer.
    pub receive_buffer: ReceiveBuffer,
    /// The application takes data as soon as they are in order; [`read`](crate::Connection::read) is
    /// then not needed.
    pub reads_at_once: bool,
}

/// IP version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IpVersion {
    /// IPv4: 20 bytes of header.
    V4,
    /// IPv6: 40 bytes of header.
    V6,
}

/// Loss detection and recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Fast retransmit only: a window of one, and go-back-N (Jacobson 1988).
    Tahoe,
    /// Fast recovery that the first new acknowledgement ends (RFC 5681, section 3.2).
    Reno,
    /// Fast recovery with partial acknowledgements (RFC 6582).
    NewReno,
    /// SACK with `DupThresh` (RFC 6675).
    Sack,
    /// RACK-TLP (RFC 8985).
    Rack,
}

impl Recovery {
    pub(crate) const fn uses_sack(self) -> bool {
        matches!(self, Recovery::Sack | Recovery::Rack)
    }
}

/// `DupThresh`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reordering {
    /// Constant; RFC 6675 has 3.
    Fixed(u32),
    /// 3, raised to the largest reordering measured, at most `max` (Linux: 127, later 300); 3 again
    /// after a timeout.
    Adaptive {
        /// Maximum.
        max: u32,
    },
}

/// How transmission decreases to the new window during recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// Nothing is sent until the pipe is below the window (RFC 6675).
    Standard,
    /// Proportional rate reduction (RFC 9937, before that RFC 6937).
    Proportional(Bound),
}

/// How fast proportional rate reduction refills a pipe that is below the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// One segment per delivered segment (RFC 6937: CRB).
    Conservative,
    /// One more per acknowledgement (RFC 6937: SSRB).
    SlowStart,
    /// One more per acknowledgement that advances and shows no new loss (RFC 9937, section 6.2: `SafeACK`).
    Safe,
}

/// Which evidence undoes a window reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undo {
    /// D-SACK for all retransmissions (RFC 3708).
    pub dsack: bool,
    /// The first acknowledgement echoes a time before the retransmission (RFC 3522).
    pub timestamps: bool,
    /// F-RTO (RFC 5682).
    pub f_rto: bool,
}

/// The retransmission timeout (RFC 6298).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtoSettings {
    /// Before the first sample; also of the SYN.
    pub initial: Span,
    /// Minimum RTO.
    pub min_rto: Span,
    /// Minimum of 4 RTTVAR, for RTTs without variation. RFC 6298: zero; Linux: as `min_rto`.
    pub min_rttvar: Span,
    /// Maximum RTO, with back-off.
    pub max_rto: Span,
    /// Clock granularity, G.
    pub granularity: Span,
    /// Consecutive retransmissions before the connection fails.
    pub attempts: u32,
    /// The same for SYN.
    pub syn_attempts: u32,
}

/// Initial window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialWindow {
    /// min(4 MSS, max(2 MSS, 4380 bytes)) (RFC 3390).
    Rfc3390,
    /// min(10 MSS, max(2 MSS, 14600 bytes)) (RFC 6928).
    Rfc6928,
    /// A number of segments.
    Segments(u32),
}

/// Window reduction after idle periods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// None.
    Keep,
    /// Back to the initial window, at once (RFC 5681, section 4.1).
    Restart,
    /// Half of the window per retransmission timeout, down to the initial window (RFC 2861; Linux).
    Decay,
}

/// Explicit congestion notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ecn {
    /// None.
    Off,
    /// An echo until the window has been reduced (RFC 3168).
    Classic,
    /// An exact echo (RFC 8257).
    Exact,
}

/// Pacing for algorithms that have none of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacing {
    /// Only if the algorithm paces.
    Algorithm,
    /// Twice the window per smoothed RTT while it is below half of the slow-start threshold, else 1.2
    /// times (Linux).
    Window,
    /// The window per smoothed RTT, no faster (PSPacer's dynamic mode).
    Even,
}

/// Delayed acknowledgements. Out-of-order segments, segments that fill a gap, duplicates and changes of CE are
/// acknowledged immediately (RFC 5681, section 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckPolicy {
    /// Segments per acknowledgement; 1: no delayed acknowledgements.
    pub every: u32,
    /// Maximum delay.
    pub delay: Span,
    /// Number of first segments that are acknowledged one by one (Linux: quickack).
    pub quick: u32,
}

/// The receiver's buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiveBuffer {
    /// Initial size, in bytes.
    pub bytes: u64,
    /// Maximum size of dynamic right-sizing (Fisk and Feng 2001), to twice the data of a round trip; equal to `bytes`:
    /// fixed.
    pub max_bytes: u64,
    /// The share that is advertised as window, as in Linux's `tcp_adv_win_scale`: for s > 0 all but 2^-s, otherwise
    /// 2^s.
    pub adv_win_scale: i8,
}

impl ReceiveBuffer {
    /// Fixed size, advertised whole.
    pub const fn fixed(bytes: u64) -> Self {
        ReceiveBuffer { bytes, max_bytes: bytes, adv_win_scale: 0 }
    }

    /// What Linux has without tuning: from 128 KiB to 6 MiB, half of it advertised.
    pub const fn linux() -> Self {
        ReceiveBuffer { bytes: 131_072, max_bytes: 6_291_456, adv_win_scale: 1 }
    }

    /// The largest window that it ever offers, in bytes.
    pub const fn largest_window(&self) -> u64 {
        self.share(if self.max_bytes > self.bytes { self.max_bytes } else { self.bytes })
    }

    /// The smallest shift of windows (RFC 7323, section 2.2) that the largest buffer needs.
    pub fn window_shift(&self) -> u8 {
        let most = self.share(self.max_bytes.max(self.bytes));
        (0..MAX_SHIFT).find(|shift| most >> shift <= MAX_UNSCALED_WINDOW).unwrap_or(MAX_SHIFT)
    }

    /// The advertised share of `bytes`.
    pub(crate) const fn share(&self, bytes: u64) -> u64 {
        if self.adv_win_scale > 0 {
            bytes - (bytes >> self.adv_win_scale)
        } else {
            bytes >> (-(self.adv_win_scale as i32))
        }
    }

    /// The size whose advertised share is `window`.
    pub(crate) const fn size_for(&self, window: u64) -> u64 {
        if self.adv_win_scale > 0 {
            // All but 2^-s of n is (2^s - 1) / 2^s of it.
            let parts = (1u128 << self.adv_win_scale) - 1;
            let size = ((window as u128) << self.adv_win_scale).div_ceil(parts);
            if size > u64::MAX as u128 { u64::MAX } else { size as u64 }
        } else {
            window.saturating_mul(1 << (-(self.adv_win_scale as i32)))
        }
    }
}

impl InitialWindow {
    /// In segments of `mss` bytes; at least 1.
    pub fn segments(self, mss: u16) -> u32 {
        let mss = u32::from(mss.max(1));
        let bytes = |segments: u32, floor: u32| (segments * mss).min((2 * mss).max(floor)) / mss;
        match self {
            InitialWindow::Rfc3390 => bytes(4, 4380),
            InitialWindow::Rfc6928 => bytes(10, 14_600),
            InitialWindow::Segments(segments) => segments.max(1),
        }
    }
}

impl Settings {
    /// The default for IP packets of at most `mtu` bytes, which must hold the headers and a byte.
    pub fn for_mtu(mtu: u16, ip_version: IpVersion) -> Self {
        let header = 20 + 12 + if ip_version == IpVersion::V4 { 20 } else { 40 };
        Settings { mss: mtu.saturating_sub(header).max(1), ip_version, ..Settings::default() }
    }
}

impl Settings {
    /// Flags of every segment.
    pub(crate) fn options(&self) -> Flags {
        let stamps = if self.timestamps { Flags::TIMESTAMPS } else { Flags::NONE };
        stamps | if self.ip_version == IpVersion::V6 { Flags::IPV6 } else { Flags::NONE }
    }

    /// Initial `DupThresh`.
    pub(crate) const fn initial_dup_thresh(&self) -> u32 {
        match self.reordering {
            Reordering::Fixed(threshold) => threshold,
            Reordering::Adaptive { .. } => 3,
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            mss: 1448,
            ip_version: IpVersion::V4,
            timestamps: true,
            window_scaling: true,
            recovery: Recovery::Rack,
            reordering: Reordering::Fixed(3),
            tail_probes: true,
            reduction: Reduction::Proportional(Bound::Safe),
            limited_transmit: true,
            undo: Undo { dsack: true, timestamps: true, f_rto: false },
            timeouts: RtoSettings {
                initial: Span::from_s(1),
                min_rto: Span::from_ms(200),
                min_rttvar: Span::from_ms(200),
                max_rto: Span::from_s(120),
                granularity: Span::from_ms(1),
                attempts: 15,
                syn_attempts: 6,
            },
            initial_window: InitialWindow::Rfc6928,
            idle: Idle::Decay,
            ecn: Ecn::Off,
            pacing: Pacing::Algorithm,
            nagle: false,
            send_buffer: u64::MAX,
            ack_policy: AckPolicy { every: 2, delay: Span::from_ms(40), quick: 0 },
            receive_buffer: ReceiveBuffer::fixed(1 << 30),
            reads_at_once: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn initial_windows_are_those_of_the_tables() {
        // RFC 3390, section 1: 4 up to 1095 bytes, 3 up to 2190, else 2.
        for (mss, expected) in [(536, 4), (1095, 4), (1096, 3), (1460, 3), (2190, 2), (8948, 2)] {
            assert_eq!(InitialWindow::Rfc3390.segments(mss), expected, "{mss}");
        }
        // RFC 6928, section 2.
        for (mss, expected) in [(536, 10), (1460, 10), (8948, 2)] {
            assert_eq!(InitialWindow::Rfc6928.segments(mss), expected, "{mss}");
        }
    }

    #[test]
    fn a_full_segment_fills_the_mtu() {
        assert_eq!(Settings::for_mtu(1500, IpVersion::V4).mss, 1448);
        assert_eq!(Settings::for_mtu(9000, IpVersion::V6).mss, 8928);
    }

    #[test]
    fn linux_advertises_half_of_its_buffer() {
        assert_eq!(ReceiveBuffer::linux().share(131_072), 65_536);
        assert_eq!(ReceiveBuffer { adv_win_scale: 2, ..ReceiveBuffer::linux() }.share(4096), 3072);
        assert_eq!(ReceiveBuffer { adv_win_scale: -2, ..ReceiveBuffer::linux() }.share(4096), 1024);
    }
}
