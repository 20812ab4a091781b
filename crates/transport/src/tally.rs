use crate::delivery::Newest;
use longhaul_units::{Span, Time};

/// What one acknowledgement brought.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tally {
    pub(crate) now: Time,
    /// The echoed time, to tell a retransmission's acknowledgement from the original's.
    pub(crate) echo: Option<Time>,
    /// Smallest round trip so far.
    pub(crate) min_rtt: Span,
    /// Segments acknowledged in order.
    pub(crate) acked: u32,
    /// Segments newly known to have arrived.
    pub(crate) delivered: u32,
    /// Payload acknowledged in order.
    pub(crate) bytes: u64,
    /// Of the unambiguous ones, the delivered segment that was sent last (RFC 8985, section 6.2).
    pub(crate) newest: Option<(Time, u64)>,
    /// When the newest delivered segment left that has never been sent again.
    pub(crate) newest_original: Option<Time>,
    /// When the oldest segment left that this acknowledged in order and that had not been SACKed.
    pub(crate) oldest: Option<Time>,
    /// Whether one of these had been sent again (Karn's algorithm: no sample).
    pub(crate) ambiguous: bool,
    /// By how many segments the most belated original arrived behind later ones; 0: in order.
    pub(crate) reordering: u32,
    /// The same of segments that were sent again: reordering if that was for nothing.
    pub(crate) doubtful: u32,
    /// The delivery-rate sample.
    pub(crate) rate: Option<Newest>,
}

impl Tally {
    pub(crate) fn new(now: Time, echo: Option<Time>, min_rtt: Span) -> Self {
        Tally {
            now,
            echo,
            min_rtt,
            acked: 0,
            delivered: 0,
            bytes: 0,
            newest: None,
            newest_original: None,
            oldest: None,
            ambiguous: false,
            reordering: 0,
            doubtful: 0,
            rate: None,
        }
    }
}
