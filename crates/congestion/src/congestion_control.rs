use crate::coupling::Coupling;
use longhaul_random::Stream;
use longhaul_units::{Rate, Span, Time};

/// One acknowledgement, as an algorithm sees it. Counts are in segments.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// When it arrived.
    pub now: Time,
    /// Newly acknowledged in order (the cumulative acknowledgement moved by so much).
    pub acked: u32,
    /// Newly known to have arrived, in order or by SACK.
    pub delivered: u32,
    /// Of these, how many the receiver or the network marked (ECN echo; exact for DCTCP).
    pub marked: u32,
    /// In flight before this acknowledgement was counted.
    pub in_flight: u32,
    /// This acknowledgement's RTT sample, if it gave one.
    pub rtt: Option<Span>,
    /// Smoothed RTT (RFC 6298); zero before the first sample.
    pub srtt: Span,
    /// Smallest RTT of the connection so far; zero before the first sample.
    pub min_rtt: Span,
    /// Whether the window, not the application or the receiver, held the sender back since the last
    /// acknowledgement. Algorithms do not grow a window that is not used (RFC 7661).
    pub window_limited: bool,
    /// Whether loss recovery is under way. Windows do not grow during it, but for algorithms that say so.
    pub recovering: bool,
    /// Sequence number of the first segment not yet acknowledged, counted from 0. A round trip has
    /// passed when it reaches what `next_sequence` was.
    pub first_unacked: u64,
    /// Sequence number that the next new segment will have.
    pub next_sequence: u64,
    /// The delivery-rate sample of this acknowledgement, if it gave one.
    pub delivery: Option<Delivery>,
}

/// A sample of the delivery rate (draft-ietf-ccwg-bbr, section 4.1: C.rs).
#[derive(Clone, Copy, Debug)]
pub struct Delivery {
    /// Segments delivered over the interval.
    pub delivered: u32,
    /// The interval: the longer of the send and the acknowledgement interval.
    pub interval: Span,
    /// Total delivered when the newest acknowledged segment was sent: tells rounds.
    pub prior_delivered: u64,
    /// Total delivered now.
    pub total_delivered: u64,
    /// In flight when that segment was sent.
    pub in_flight_at_send: u32,
    /// Segments newly marked lost since the last acknowledgement.
    pub newly_lost: u32,
    /// Segments marked lost between that segment's departure and now.
    pub lost: u32,
    /// Whether the application had too little to send when that segment was sent.
    pub app_limited: bool,
}

/// Why the window has to shrink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Segments were found lost.
    Loss,
    /// The network marked segments (RFC 3168).
    Mark,
}

/// A congestion event: the first loss, or mark, of a round trip.
#[derive(Clone, Copy, Debug)]
pub struct Congestion {
    /// When it was noticed.
    pub now: Time,
    /// Why.
    pub cause: Cause,
    /// In flight (RFC 5681's `FlightSize`) before anything was taken off, in segments.
    pub in_flight: u32,
    /// Smallest RTT so far.
    pub min_rtt: Span,
    /// Smoothed RTT.
    pub srtt: Span,
    /// Sequence number that the next new segment will have.
    pub next_sequence: u64,
}

/// How fast segments may leave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pacing {
    /// As fast as the window allows.
    None,
    /// At most so many segments per second on average.
    SegmentsPerSecond(f64),
}

impl Pacing {
    /// The rate for segments of `bytes` bytes; `None` without pacing.
    pub fn rate(self, bytes: u32) -> Option<Rate> {
        match self {
            Pacing::None => None,
            Pacing::SegmentsPerSecond(rate) => {
                Rate::from_bits_per_s((rate * f64::from(bytes) * 8.0).clamp(1.0, 1e15) as u64)
            }
        }
    }
}

/// A congestion-control algorithm.
///
/// The transport calls, in this order: for every acknowledgement first [`on_lost`](Self::on_lost) for
/// each segment newly found lost, then [`on_congestion`](Self::on_congestion) if these (or marks) begin a
/// new episode, then [`on_ack`](Self::on_ack), then [`on_recovered`](Self::on_recovered) if it ended the
/// recovery. [`window`](Self::window) is read after each.
pub trait CongestionControl {
    /// The congestion window, in segments; at least 1.
    fn window(&self) -> f64;

    /// The slow-start threshold, in segments; infinite before the first congestion. Algorithms without one
    /// return infinity.
    fn threshold(&self) -> f64;

    /// The connection begins. Algorithms that decide by chance of their own accord (BBR) take a seed from
    /// the connection's stream; without this call they draw alike on all connections.
    fn on_start(&mut self, chance: &mut Stream) {
        let _ = chance;
    }

    /// An acknowledgement that moved something.
    fn on_ack(&mut self, ack: &Ack);

    /// The first loss or mark of an episode: shrink.
    fn on_congestion(&mut self, congestion: &Congestion);

    /// One segment was found lost, also during recovery; chance comes from the connection's stream.
    fn on_lost(&mut self, now: Time, chance: &mut Stream) {
        let _ = (now, chance);
    }

    /// The retransmission timer expired with `in_flight` segments outstanding (RFC 5681, equation 4).
    fn on_timeout(&mut self, now: Time, in_flight: u32);

    /// All that was outstanding when recovery began has been acknowledged.
    fn on_recovered(&mut self, now: Time) {
        let _ = now;
    }

    /// The last reduction was for nothing (DSACK or F-RTO showed it): restore what was before.
    fn on_spurious(&mut self, now: Time) {
        let _ = now;
    }

    /// A segment leaves with `in_flight` before it; tells idle times. A transport may leave out the calls where
    /// `in_flight` is not 0.
    fn on_sent(&mut self, now: Time, in_flight: u32) {
        let _ = (now, in_flight);
    }

    /// What it is to know of the other subflows of a multipath connection, before each acknowledgement.
    fn couple(&mut self, coupling: &Coupling<'_>) {
        let _ = coupling;
    }

    /// Segments acknowledged since the last loss, or between the last two, whichever is more, if it counts them.
    fn between_losses(&self) -> f64 {
        0.0
    }

    /// How fast segments may leave.
    fn pacing(&self) -> Pacing {
        Pacing::None
    }

    /// Whether the algorithm itself says what may be in flight during recovery (BBR); otherwise the
    /// transport follows PRR or RFC 6675 down to the threshold.
    fn steers_recovery(&self) -> bool {
        false
    }
}
