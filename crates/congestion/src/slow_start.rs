use crate::congestion_control::Ack;
use crate::hystart::{HyStart, HyStartSettings};
use crate::hystart_plus_plus::{HyStartPlusPlus, HyStartPlusPlusSettings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a window grows below its threshold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SlowStartSettings {
    /// One segment for each acknowledged (RFC 5681, section 3.1).
    Standard {
        /// Most segments that one acknowledgement adds: L of RFC 3465; 1 is RFC 5681 without byte
        /// counting.
        #[serde(default = "two")]
        limit: u32,
    },
    /// Standard up to a window, and from there on at most half of that window per round trip (RFC 3742).
    Limited {
        /// RFC 3742's `max_ssthresh`, in segments.
        #[serde(default = "hundred")]
        max_threshold: f64,
        /// As for standard slow start.
        #[serde(default = "two")]
        limit: u32,
    },
    /// Ends before losses where acknowledgements come in long trains or the RTT rises (Ha, Rhee 2011), as in
    /// Linux; an acknowledgement adds all that it acknowledges.
    #[serde(rename = "hystart")]
    HyStart(HyStartSettings),
    /// Slows down before losses when the RTT rises, and ends (RFC 9406).
    #[serde(rename = "hystart++")]
    HyStartPlusPlus(HyStartPlusPlusSettings),
}

fn two() -> u32 {
    2
}

fn hundred() -> f64 {
    100.0
}

impl Default for SlowStartSettings {
    fn default() -> Self {
        SlowStartSettings::Standard { limit: two() }
    }
}

impl SlowStartSettings {
    /// RFC 3742 with its suggested 100 segments.
    pub fn limited() -> Self {
        SlowStartSettings::Limited { max_threshold: hundred(), limit: two() }
    }

    /// HyStart with the constants of Linux.
    pub fn hystart() -> Self {
        SlowStartSettings::HyStart(HyStartSettings::default())
    }

    /// RFC 9406 with its recommended constants.
    pub fn hystart_plus_plus() -> Self {
        SlowStartSettings::HyStartPlusPlus(HyStartPlusPlusSettings::default())
    }
}

#[derive(Clone, Debug)]
enum Kind {
    Standard,
    Limited { max_threshold: f64 },
    HyStart(Box<HyStart>),
    HyStartPlusPlus(Box<HyStartPlusPlus>),
}

/// The state of a slow start.
#[derive(Clone, Debug)]
pub(crate) struct SlowStart {
    kind: Kind,
    limit: f64,
    after_timeout: bool,
}

impl SlowStart {
    pub(crate) fn new(settings: &SlowStartSettings) -> Self {
        let (kind, limit) = match settings {
            SlowStartSettings::Standard { limit } => (Kind::Standard, f64::from(*limit)),
            SlowStartSettings::Limited { max_threshold, limit } => {
                (Kind::Limited { max_threshold: *max_threshold }, f64::from(*limit))
            }
            SlowStartSettings::HyStart(settings) => {
                (Kind::HyStart(Box::new(HyStart::new(settings))), f64::INFINITY)
            }
            SlowStartSettings::HyStartPlusPlus(settings) => {
                (Kind::HyStartPlusPlus(Box::new(HyStartPlusPlus::new(settings))), f64::from(settings.limit))
            }
        };
        SlowStart { kind, limit: limit.max(1.0), after_timeout: false }
    }

    /// By how many segments `window` grows for `ack`, and how many of the acknowledged ones count.
    pub(crate) fn growth(&self, window: f64, ack: &Ack) -> Growth {
        // After a timeout one acknowledgement may cover what had arrived long before (RFC 3465, 2.3).
        let limit = if self.after_timeout { 1.0 } else { self.limit };
        let counted = f64::from(ack.acked).min(limit);
        let share = match &self.kind {
            // RFC 3742, section 2: K = int(cwnd / (0.5 max_ssthresh)), and 1/K for each segment.
            Kind::Limited { max_threshold } if window > *max_threshold => {
                1.0 / libm::floor(window / (0.5 * max_threshold)).max(1.0)
            }
            Kind::Standard | Kind::Limited { .. } | Kind::HyStart(_) => 1.0,
            Kind::HyStartPlusPlus(hystart) => hystart.share(),
        };
        Growth { segments: counted * share, counted }
    }

    /// Lets slow start see `ack`; whether it is over, so that a window of `window` segments becomes the threshold.
    pub(crate) fn ends(&mut self, window: f64, ack: &Ack) -> bool {
        match &mut self.kind {
            Kind::HyStart(hystart) => hystart.ends(window, ack),
            Kind::HyStartPlusPlus(hystart) => hystart.ends(ack),
            Kind::Standard | Kind::Limited { .. } => false,
        }
    }

    /// The network was congested, or the window has reached its threshold.
    pub(crate) fn leave(&mut self) {
        self.after_timeout = false;
        // RFC 9406, section 4.3: for the first slow start of a connection alone.
        if let Kind::HyStartPlusPlus(_) = &self.kind {
            self.kind = Kind::Standard;
        }
    }

    /// The retransmission timer expired: what follows is a slow start of another kind.
    pub(crate) fn restart_after_timeout(&mut self) {
        self.leave();
        self.after_timeout = true;
    }
}

/// What slow start makes of an acknowledgement, in segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Growth {
    /// By so much the window grows.
    pub(crate) segments: f64,
    /// So many of the acknowledged segments that is for.
    pub(crate) counted: f64,
}
