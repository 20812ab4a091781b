use crate::delivery::RateSample;
use longhaul_units::{Span, Time};

/// The information of one acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckSample {
    pub(crate) now: Time,
    /// The echoed time, to tell a retransmission's acknowledgement from the original's.
    pub(crate) echo: Option<Time>,
    /// Smallest round trip so far.
    pub(crate) min_rtt: Span,
    /// Segments acknowledged in order.
    pub(crate) acked: u32,
    /// Segments newly delivered, cumulatively or by SACK.
    pub(crate) delivered: u32,
    /// Payload acknowledged in order.
    pub(crate) bytes: u64,
    /// Of the unambiguous ones, the delivered segment that was sent last (RFC 8985, section 6.2).
    pub(crate) newest: Option<(Time, u64)>,
    /// When the newest delivered segment was sent that was never retransmitted.
    pub(crate) newest_original: Option<Time>,
    /// When the oldest cumulatively acknowledged segment was sent that had not been SACKed.
    pub(crate) oldest: Option<Time>,
    /// Whether one of these was retransmitted (Karn's algorithm: no sample).
    pub(crate) ambiguous: bool,
    /// Largest reordering of an original transmission, in segments; 0: in order.
    pub(crate) reordering: u32,
    /// The same of retransmitted segments: reordering if the retransmission is spurious.
    pub(crate) retransmitted_reordering: u32,
    /// The delivery-rate sample.
    pub(crate) rate: Option<RateSample>,
}

impl AckSample {
    pub(crate) fn new(now: Time, echo: Option<Time>, min_rtt: Span) -> Self {
        AckSample {
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
            retransmitted_reordering: 0,
            rate: None,
        }
    }
}
