use crate::congestion_control::Ack;
use crate::round::Round;
use longhaul_units::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// HyStart with the constants that Linux has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HyStartSettings {
    /// A smaller window never leaves slow start, in segments.
    pub low_window: f64,
    /// Acknowledgements so close to each other are a train.
    pub ack_delta_ns: u64,
    /// A train may last half of the smallest RTT and of this: what segmentation offload delays.
    pub ack_delay_ns: u64,
    /// RTT samples of a round that are only recorded; those after them can end slow start.
    pub rtt_samples: u32,
    /// A smaller rise of the RTT never counts.
    pub min_rtt_threshold_ns: u64,
    /// A larger rise always counts.
    pub max_rtt_threshold_ns: u64,
    /// The share of the smallest RTT that counts as a rise, as its inverse.
    pub min_rtt_divisor: u32,
}

impl Default for HyStartSettings {
    fn default() -> Self {
        HyStartSettings {
            low_window: 16.0,
            ack_delta_ns: 2_000_000,
            ack_delay_ns: 1_000_000,
            rtt_samples: 8,
            min_rtt_threshold_ns: 4_000_000,
            max_rtt_threshold_ns: 16_000_000,
            min_rtt_divisor: 8,
        }
    }
}

/// HyStart: S. Ha, I. Rhee, "Taming the elephants: New TCP slow start", Computer Networks 55 (2011) 2092. Slow
/// start ends where a train of acknowledgements is as long as half of the path, or where the RTT rises.
#[derive(Clone, Debug)]
pub(crate) struct HyStart {
    settings: HyStartSettings,
    round: Round,
    round_began: Time,
    last_ack: Time,
    round_rtt: Option<Span>,
    samples: u32,
}

impl HyStart {
    pub(crate) fn new(settings: &HyStartSettings) -> Self {
        HyStart {
            settings: settings.clone(),
            round: Round::default(),
            round_began: Time::ZERO,
            last_ack: Time::ZERO,
            round_rtt: None,
            samples: 0,
        }
    }

    /// Takes in `ack`; whether slow start is over at a window of `window` segments.
    pub(crate) fn ends(&mut self, window: f64, ack: &Ack) -> bool {
        let Some(rtt) = ack.rtt else { return false };
        if window < self.settings.low_window {
            return false;
        }
        if self.round.ended(ack) {
            (self.round_began, self.last_ack) = (ack.now, ack.now);
            (self.round_rtt, self.samples) = (None, 0);
        }
        self.train_is_long(ack) || self.rtt_rises(rtt, ack.min_rtt)
    }

    fn train_is_long(&mut self, ack: &Ack) -> bool {
        if ack.now.since(self.last_ack) > Span::from_ns(self.settings.ack_delta_ns) {
            return false;
        }
        self.last_ack = ack.now;
        let longest = ack.min_rtt + Span::from_ns(self.settings.ack_delay_ns);
        ack.now.since(self.round_began) > Span::from_ps(longest.ps() / 2)
    }

    fn rtt_rises(&mut self, rtt: Span, least: Span) -> bool {
        let of_round = self.round_rtt.map_or(rtt, |known| known.min(rtt));
        self.round_rtt = Some(of_round);
        if self.samples < self.settings.rtt_samples {
            self.samples += 1;
            return false;
        }
        let HyStartSettings { min_rtt_divisor, min_rtt_threshold_ns, max_rtt_threshold_ns, .. } =
            self.settings;
        let share = Span::from_ps(least.ps() / u64::from(min_rtt_divisor.max(1)));
        let rise = share.min(Span::from_ns(max_rtt_threshold_ns)).max(Span::from_ns(min_rtt_threshold_ns));
        of_round > least + rise
    }
}
