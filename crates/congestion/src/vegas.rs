use crate::congestion_control::{Ack, Congestion, CongestionControl};
use crate::round::Round;
use crate::slow_start::SlowStartSettings;
use crate::window::Window;
use longhaul_units::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where Linux differs from the paper.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VegasRules {
    /// Slow start grows in each round trip, and leaves with a segment more than an empty path holds; queues are
    /// counted as w (RTT/baseRTT - 1), in whole segments.
    #[default]
    Linux,
    /// Slow start grows in every other round trip; queues are counted as w (1 - baseRTT/RTT).
    Paper,
}

/// Vegas' parameters, by the names of its paper.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct VegasSettings {
    /// Growth below the threshold.
    pub slow_start: SlowStartSettings,
    /// Whose rules hold where Linux differs from the paper.
    pub rules: VegasRules,
    /// With fewer segments in queues the window grows by one.
    pub alpha: f64,
    /// With more segments in queues it shrinks by one.
    pub beta: f64,
    /// With more segments in queues slow start ends.
    pub gamma: f64,
    /// What is left of the window after a loss.
    pub decrease: f64,
}

impl Default for VegasSettings {
    fn default() -> Self {
        VegasSettings {
            slow_start: SlowStartSettings::default(),
            rules: VegasRules::default(),
            alpha: 2.0,
            beta: 4.0,
            gamma: 1.0,
            decrease: 0.5,
        }
    }
}

/// Vegas: L. Brakmo, L. Peterson, "TCP Vegas: End to End Congestion Avoidance on a Global Internet",
/// IEEE JSAC 13 (1995) 1465, section III. Once per round trip it compares the throughput with what an
/// empty path would give.
#[derive(Clone, Debug)]
pub struct Vegas {
    settings: VegasSettings,
    window: Window,
    round: Round,
    /// Smallest RTT of this round trip: what delayed acknowledgements and bursts add is not queue.
    round_rtt: Option<Span>,
    /// Slow start stands still in every other round trip, so that the comparison is valid.
    stands: bool,
}

impl Vegas {
    /// Begins with `initial` segments.
    pub fn new(settings: &VegasSettings, initial: f64) -> Self {
        Vegas {
            settings: settings.clone(),
            window: Window::new(initial, &settings.slow_start),
            round: Round::default(),
            round_rtt: None,
            stands: false,
        }
    }

    fn judge(&mut self, base: Span, rtt: Span) {
        let size = self.window.size;
        let empty = size * base.as_secs_f64() / rtt.as_secs_f64().max(1e-12);
        let linux = self.settings.rules == VegasRules::Linux;
        // Section III-B: (Expected - Actual) baseRTT, the segments in queues.
        let queued = if linux { libm::floor((size - empty) * size / empty.max(1e-12)) } else { size - empty };
        if self.window.in_slow_start() {
            if queued > self.settings.gamma {
                if linux {
                    self.window.size = size.min(empty + 1.0);
                }
                self.window.leave_slow_start();
            }
            self.stands = !linux && !self.stands;
        } else if queued < self.settings.alpha {
            self.window.size += 1.0;
        } else if queued > self.settings.beta {
            self.window.yield_to(size - 1.0);
        }
    }
}

impl CongestionControl for Vegas {
    fn window(&self) -> f64 {
        self.window.size
    }

    fn threshold(&self) -> f64 {
        self.window.threshold
    }

    fn on_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.round_rtt = Some(self.round_rtt.map_or(rtt, |least| least.min(rtt)));
        }
        let used = ack.window_limited && !ack.recovering;
        if self.round.ended(ack)
            && let Some(rtt) = self.round_rtt.take()
            && used
        {
            self.judge(ack.min_rtt, rtt);
        }
        if self.window.in_slow_start() && !self.stands {
            self.window.grow(ack);
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let used = self.window.used(congestion.in_flight);
        self.window.reduce(used * self.settings.decrease);
    }

    fn on_timeout(&mut self, _now: Time, in_flight: u32) {
        let used = self.window.used(in_flight);
        self.window.collapse(used * self.settings.decrease);
        self.stands = false;
    }

    fn on_spurious(&mut self, _now: Time) {
        self.window.restore();
    }
}
