use crate::congestion_control::Ack;
use crate::round::Round;
use longhaul_units::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// HyStart++ with its constants by the names of RFC 9406, section 4.3.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HyStartPlusPlusSettings {
    /// L: most segments that one acknowledgement adds, for a sender that does not pace.
    pub limit: u32,
    /// `MIN_RTT_THRESH`: a smaller rise of the RTT never counts.
    pub min_rtt_threshold_ns: u64,
    /// `MAX_RTT_THRESH`: a larger rise always counts.
    pub max_rtt_threshold_ns: u64,
    /// `MIN_RTT_DIVISOR`: the share of the last round's RTT that counts as a rise, as its inverse.
    pub min_rtt_divisor: u32,
    /// `N_RTT_SAMPLE`: samples before a round is judged.
    pub rtt_samples: u32,
    /// `CSS_GROWTH_DIVISOR`: so many times slower is conservative slow start.
    pub growth_divisor: f64,
    /// `CSS_ROUNDS`: rounds of conservative slow start, and then congestion avoidance.
    pub rounds: u32,
}

impl Default for HyStartPlusPlusSettings {
    fn default() -> Self {
        HyStartPlusPlusSettings {
            limit: 8,
            min_rtt_threshold_ns: 4_000_000,
            max_rtt_threshold_ns: 16_000_000,
            min_rtt_divisor: 8,
            rtt_samples: 8,
            growth_divisor: 4.0,
            rounds: 5,
        }
    }
}

/// The state of RFC 9406, section 4.2. It is for the first slow start of a connection alone.
#[derive(Clone, Debug)]
pub(crate) struct HyStartPlusPlus {
    settings: HyStartPlusPlusSettings,
    round: Round,
    last_round_min: Option<Span>,
    current_round_min: Option<Span>,
    samples: u32,
    /// Conservative slow start, if under way.
    conservative: Option<Conservative>,
}

#[derive(Clone, Debug)]
struct Conservative {
    baseline: Span,
    /// The round in which it began counts.
    rounds: u32,
}

impl HyStartPlusPlus {
    pub(crate) fn new(settings: &HyStartPlusPlusSettings) -> Self {
        HyStartPlusPlus {
            settings: settings.clone(),
            round: Round::default(),
            last_round_min: None,
            current_round_min: None,
            samples: 0,
            conservative: None,
        }
    }

    /// The share of slow start's growth that is allowed.
    pub(crate) fn share(&self) -> f64 {
        if self.conservative.is_some() { 1.0 / self.settings.growth_divisor } else { 1.0 }
    }

    /// Judges `ack`; whether the rounds of conservative slow start are over.
    pub(crate) fn ends(&mut self, ack: &Ack) -> bool {
        if self.round.ended(ack) {
            if let Some(conservative) = &mut self.conservative {
                conservative.rounds += 1;
                if conservative.rounds >= self.settings.rounds {
                    return true;
                }
            }
            self.last_round_min = self.current_round_min.take();
            self.samples = 0;
        }
        let Some(rtt) = ack.rtt else { return false };
        let current = self.current_round_min.map_or(rtt, |min| min.min(rtt));
        self.current_round_min = Some(current);
        self.samples += 1;
        if self.samples < self.settings.rtt_samples {
            return false;
        }
        match &self.conservative {
            // It was jitter: go on as before.
            Some(conservative) if current < conservative.baseline => self.conservative = None,
            Some(_) => {}
            None => {
                if self.last_round_min.is_some_and(|last| current >= last + self.threshold(last)) {
                    self.conservative = Some(Conservative { baseline: current, rounds: 0 });
                }
            }
        }
        false
    }

    fn threshold(&self, last: Span) -> Span {
        let share = Span::from_ps(last.ps() / u64::from(self.settings.min_rtt_divisor.max(1)));
        let least = Span::from_ns(self.settings.min_rtt_threshold_ns);
        least.max(share.min(Span::from_ns(self.settings.max_rtt_threshold_ns)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_takes_128_bytes_at_most() {
        assert!(size_of::<HyStartPlusPlus>() <= 128);
    }
}
