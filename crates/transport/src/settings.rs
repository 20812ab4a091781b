use crate::segment::Flags;
use longhaul_units::Span;

/// How one end of a connection behaves; plain data. [`Settings::default`] is today's TCP: RACK-TLP,
/// PRR, timestamps, a window of 10 segments to begin with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Payload of a full segment, in bytes, options taken off already; at least 1.
    /// See [`for_mtu`](Self::for_mtu).
    pub mss: u16,
    /// What the segments travel in.
    pub internet: Internet,
    /// Timestamps (RFC 7323), if the other end has them too.
    pub timestamps: bool,
    /// Windows above 65,535 bytes (RFC 7323), if the other end has them too.
    pub window_scaling: bool,
    /// How losses are found and repaired. Without SACK at the other end, `Sack` and `Rack` act as
    /// `NewReno`.
    pub recovery: Recovery,
    /// How many segments must overtake one before it counts as lost (`Sack` only; the others use 3).
    pub reordering: Reordering,
    /// Tail loss probes (RFC 8985, section 7; `Rack` only).
    pub tail_probes: bool,
    /// What may be sent during recovery (`Sack` and `Rack`), unless the algorithm steers it.
    pub reduction: Reduction,
    /// New data on the first two duplicate acknowledgements (RFC 3042).
    pub limited_transmit: bool,
    /// Which reductions are taken back.
    pub undo: Undo,
    /// Retransmission timer.
    pub timeouts: Timeouts,
    /// Window to begin with.
    pub initial_window: InitialWindow,
    /// What becomes of the window when nothing has been sent for longer than a retransmission timeout.
    pub idle: Idle,
    /// Explicit congestion notification, if the other end has it too. An algorithm that wants marks has
    /// [`Ecn::Exact`] whatever stands here.
    pub ecn: Ecn,
    /// Whether segments of an algorithm that does not pace are spread over the round trip.
    pub pacing: Pacing,
    /// Holds back short segments while others are in flight (RFC 896).
    pub nagle: bool,
    /// How many bytes may be in flight or lost, at most: the socket's send buffer.
    pub send_buffer: u64,
    /// When the receiver acknowledges.
    pub acknowledging: Acknowledging,
    /// The receiver's buffer.
    pub receive_buffer: ReceiveBuffer,
    /// The application takes data as soon as they are in order; [`read`](crate::Connection::read) is
    /// then not needed.
    pub reads_at_once: bool,
}

/// The layer below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Internet {
    /// 20 bytes of header.
    V4,
    /// 40 bytes of header.
    V6,
}

/// Loss detection and repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Fast retransmit only: a window of one, and everything outstanding again (Jacobson 1988).
    Tahoe,
    /// Fast recovery that the first new acknowledgement ends (RFC 5681, section 3.2).
    Reno,
    /// Fast recovery with partial acknowledgements (RFC 6582).
    NewReno,
    /// SACK-based, by counting (RFC 6675).
    Sack,
    /// SACK-based, by time (RFC 8985).
    Rack,
}

impl Recovery {
    pub(crate) const fn selective(self) -> bool {
        matches!(self, Recovery::Sack | Recovery::Rack)
    }
}

/// DupThresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reordering {
    /// Always so many; RFC 6675 has 3.
    Fixed(u32),
    /// 3, raised to the greatest reordering seen, but not above `most` (Linux: 127, later 300); 3 again
    /// after a timeout.
    Adaptive {
        /// Never more.
        most: u32,
    },
}

/// How the flight shrinks to the window during recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// At once: nothing is sent until the pipe is below the window (RFC 6675).
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
    /// One more per acknowledgement that advances and shows no new loss (RFC 9937, section 6.2: SafeACK).
    Safe,
}

/// Which evidence takes a reduction back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undo {
    /// D-SACK for everything that was sent again (RFC 3708).
    pub dsack: bool,
    /// The first acknowledgement echoes a time before the retransmission (RFC 3522).
    pub timestamps: bool,
    /// New data after a timeout tell (RFC 5682).
    pub f_rto: bool,
}

/// The retransmission timer (RFC 6298).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Before the first sample; also of the SYN.
    pub initial: Span,
    /// Never less.
    pub least: Span,
    /// Never less above the smoothed RTT: guards against an RTT so steady that its variation vanishes.
    /// RFC 6298: zero; Linux: as `least`.
    pub least_variation: Span,
    /// Never more, backed off or not.
    pub most: Span,
    /// Clock granularity, G.
    pub granularity: Span,
    /// How often in a row a segment is sent again before the connection fails.
    pub attempts: u32,
    /// The same for SYN.
    pub syn_attempts: u32,
}

/// The window to begin with, in segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialWindow {
    /// min(4 MSS, max(2 MSS, 4380 bytes)) (RFC 3390).
    Rfc3390,
    /// min(10 MSS, max(2 MSS, 14600 bytes)) (RFC 6928).
    Rfc6928,
    /// So many.
    Segments(u32),
}

/// What idleness costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// Nothing.
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

/// When the receiver acknowledges. Gaps, their filling, duplicates and changes of marking are
/// acknowledged at once in any case (RFC 5681, section 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledging {
    /// Every so many segments; 1: no delayed acknowledgements.
    pub every: u32,
    /// At the latest after so long.
    pub delay: Span,
    /// The first so many segments are acknowledged one by one.
    pub quick: u32,
}

/// The receiver's buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiveBuffer {
    /// Bytes to begin with.
    pub bytes: u64,
    /// It grows up to so many bytes, to twice what arrives in a round trip (Fisk and Feng 2001, dynamic
    /// right-sizing); equal to `bytes`: fixed.
    pub most: u64,
    /// Which share is offered as window, as Linux's tcp_adv_win_scale has it: for s > 0 all but 2^-s,
    /// otherwise 2^s.
    pub offered: i8,
}

impl ReceiveBuffer {
    /// Always `bytes`, offered whole.
    pub const fn fixed(bytes: u64) -> Self {
        ReceiveBuffer { bytes, most: bytes, offered: 0 }
    }

    /// What Linux has without tuning: from 128 KiB to 6 MiB, half of it offered.
    pub const fn linux() -> Self {
        ReceiveBuffer { bytes: 131_072, most: 6_291_456, offered: 1 }
    }

    /// How much of `bytes` is offered.
    pub(crate) const fn share(&self, bytes: u64) -> u64 {
        if self.offered > 0 { bytes - (bytes >> self.offered) } else { bytes >> (-(self.offered as i32)) }
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
    pub fn for_mtu(mtu: u16, internet: Internet) -> Self {
        let header = 20 + 12 + if internet == Internet::V4 { 20 } else { 40 };
        Settings { mss: mtu.saturating_sub(header).max(1), internet, ..Settings::default() }
    }
}

impl Settings {
    /// The flags that every segment carries.
    pub(crate) fn options(&self) -> Flags {
        let stamps = if self.timestamps { Flags::TIMESTAMPS } else { Flags::NONE };
        stamps | if self.internet == Internet::V6 { Flags::IPV6 } else { Flags::NONE }
    }

    /// DupThresh to begin with.
    pub(crate) const fn first_threshold(&self) -> u32 {
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
            internet: Internet::V4,
            timestamps: true,
            window_scaling: true,
            recovery: Recovery::Rack,
            reordering: Reordering::Fixed(3),
            tail_probes: true,
            reduction: Reduction::Proportional(Bound::Safe),
            limited_transmit: true,
            undo: Undo { dsack: true, timestamps: true, f_rto: false },
            timeouts: Timeouts {
                initial: Span::from_s(1),
                least: Span::from_ms(200),
                least_variation: Span::from_ms(200),
                most: Span::from_s(120),
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
            acknowledging: Acknowledging { every: 2, delay: Span::from_ms(40), quick: 0 },
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
        assert_eq!(Settings::for_mtu(1500, Internet::V4).mss, 1448);
        assert_eq!(Settings::for_mtu(9000, Internet::V6).mss, 8928);
    }

    #[test]
    fn linux_offers_half_of_its_buffer() {
        assert_eq!(ReceiveBuffer::linux().share(131_072), 65_536);
        assert_eq!(ReceiveBuffer { offered: 2, ..ReceiveBuffer::linux() }.share(4096), 3072);
        assert_eq!(ReceiveBuffer { offered: -2, ..ReceiveBuffer::linux() }.share(4096), 1024);
    }
}
