use crate::congestion_control::{Ack, Congestion, CongestionControl};
use crate::round::Round;
use crate::slow_start::SlowStartSettings;
use crate::window::Window;
use longhaul_units::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// FAST's parameters, by the names of its paper.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FastSettings {
    /// Growth while the queue is short and nothing was lost.
    pub slow_start: SlowStartSettings,
    /// Segments that the flow keeps in queues.
    pub alpha: f64,
    /// Share of the way to its aim that the window goes in a round trip; above 0, at most 1.
    pub gamma: f64,
    /// Slow start ends when the mean queueing delay reaches this.
    pub slow_start_delay_ns: u64,
}

impl Default for FastSettings {
    fn default() -> Self {
        FastSettings {
            slow_start: SlowStartSettings::default(),
            alpha: 100.0,
            gamma: 0.5,
            slow_start_delay_ns: 750_000,
        }
    }
}

/// FAST TCP: C. Jin, D. Wei, S. Low, "FAST TCP: Motivation, Architecture, Algorithms, Performance",
/// INFOCOM 2004, section IV: each round trip, w <- min(2w, (1 - g) w + g (baseRTT/RTT w + alpha)).
#[derive(Clone, Debug)]
pub struct Fast {
    settings: FastSettings,
    window: Window,
    mean_rtt_s: f64,
    round: Round,
    /// Where the window is to be at the end of this round trip, and the growth per segment until then.
    goal: f64,
    slope: f64,
}

impl Fast {
    /// Begins with `initial` segments.
    pub fn new(settings: &FastSettings, initial: f64) -> Self {
        Fast {
            settings: settings.clone(),
            window: Window::new(initial, &settings.slow_start),
            mean_rtt_s: 0.0,
            round: Round::default(),
            goal: 0.0,
            slope: 0.0,
        }
    }

    fn average(&mut self, rtt: Span) {
        let rtt_s = rtt.as_secs_f64();
        if self.mean_rtt_s == 0.0 {
            self.mean_rtt_s = rtt_s;
        }
        // Section IV-B: a memory of a third of a window.
        self.mean_rtt_s += (3.0 / self.window.size).min(0.25) * (rtt_s - self.mean_rtt_s);
    }

    /// The equation of the algorithm.
    fn aim(&mut self, base_s: f64) {
        let FastSettings { alpha, gamma, .. } = self.settings;
        let size = self.window.size;
        let aim = (1.0 - gamma) * size + gamma * (base_s / self.mean_rtt_s * size + alpha);
        self.goal = aim.clamp(2.0, (2.0 * size).max(2.0));
        self.slope = ((self.goal - size) / size).max(0.0);
        // Down at once; up over the round trip, so that no burst leaves.
        self.window.yield_to(size.min(self.goal));
    }
}

impl CongestionControl for Fast {
    fn window(&self) -> f64 {
        self.window.size
    }

    fn threshold(&self) -> f64 {
        self.window.threshold
    }

    fn on_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.average(rtt);
        }
        let base_s = ack.min_rtt.as_secs_f64();
        if self.mean_rtt_s == 0.0 || base_s == 0.0 {
            self.window.grow(ack);
            return;
        }
        let delay_s = self.mean_rtt_s - base_s;
        let patience_s = Span::from_ns(self.settings.slow_start_delay_ns).as_secs_f64();
        if self.window.in_slow_start() && delay_s >= patience_s {
            self.window.leave_slow_start();
        }
        let ended = self.round.ended(ack);
        let rest = self.window.grow(ack);
        if rest > 0.0 {
            if ended {
                self.aim(base_s);
            }
            if self.window.size < self.goal {
                self.window.size = (self.window.size + self.slope * rest).min(self.goal);
            }
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        self.goal = 0.0;
        let used = self.window.used(congestion.in_flight);
        self.window.reduce(used / 2.0);
    }

    fn on_timeout(&mut self, _now: Time, in_flight: u32) {
        self.goal = 0.0;
        let used = self.window.used(in_flight);
        self.window.collapse(used / 2.0);
    }

    fn on_spurious(&mut self, _now: Time) {
        self.window.restore();
    }
}
