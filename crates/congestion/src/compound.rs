use crate::congestion_control::{Ack, Congestion, CongestionControl};
use crate::round::Round;
use crate::slow_start::SlowStartSettings;
use crate::window::Window;
use longhaul_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Compound TCP's parameters, by the names of its paper.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CompoundSettings {
    /// Growth below the threshold.
    pub slow_start: SlowStartSettings,
    /// Factor of the growth alpha w^k per round trip.
    pub alpha: f64,
    /// Share of the window that a loss takes.
    pub beta: f64,
    /// Exponent of the growth.
    pub k: f64,
    /// With so many segments in queues the delay window shrinks.
    pub gamma: f64,
    /// By so many times the segments in queues.
    pub zeta: f64,
}

impl Default for CompoundSettings {
    fn default() -> Self {
        CompoundSettings {
            slow_start: SlowStartSettings::default(),
            alpha: 0.125,
            beta: 0.5,
            k: 0.75,
            gamma: 30.0,
            zeta: 1.0,
        }
    }
}

impl CompoundSettings {
    /// Segments that a round trip adds to the delay window of a whole window of `window` segments
    /// while queues are short: what Reno adds is not added twice.
    pub fn increase(&self, window: f64) -> f64 {
        (self.alpha * libm::pow(window, self.k) - 1.0).max(0.0)
    }
}

/// Compound TCP: K. Tan, J. Song, Q. Zhang, M. Sridharan, "A Compound TCP Approach for High-speed and
/// Long Distance Networks", INFOCOM 2006, section III. Reno's window, and one beside it that grows fast
/// while queues are short.
#[derive(Clone, Debug)]
pub struct Compound {
    settings: CompoundSettings,
    /// Reno's part: the paper's cwnd.
    window: Window,
    /// The paper's dwnd.
    delay_window: f64,
    round: Round,
    rtt_sum_s: f64,
    rtt_samples: u32,
    before: f64,
}

impl Compound {
    /// Begins with `initial` segments.
    pub fn new(settings: &CompoundSettings, initial: f64) -> Self {
        Compound {
            settings: settings.clone(),
            window: Window::new(initial, &settings.slow_start),
            delay_window: 0.0,
            round: Round::default(),
            rtt_sum_s: 0.0,
            rtt_samples: 0,
            before: 0.0,
        }
    }

    /// The delay window, in segments.
    pub fn delay_window(&self) -> f64 {
        self.delay_window
    }

    fn whole(&self) -> f64 {
        self.window.size + self.delay_window
    }

    fn judge(&mut self, base_s: f64, rtt_s: f64) {
        let whole = self.whole();
        let queued = whole * (1.0 - base_s / rtt_s.max(1e-12));
        if queued < self.settings.gamma {
            self.delay_window += self.settings.increase(whole);
        } else {
            self.delay_window = (self.delay_window - self.settings.zeta * queued).max(0.0);
        }
    }

    fn used(&self, in_flight: u32) -> f64 {
        self.whole().min(f64::from(in_flight) + 1.0)
    }
}

impl CongestionControl for Compound {
    fn window(&self) -> f64 {
        self.whole()
    }

    fn threshold(&self) -> f64 {
        self.window.threshold + self.delay_window
    }

    fn on_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.rtt_sum_s += rtt.as_secs_f64();
            self.rtt_samples += 1;
        }
        let rest = self.window.grow(ack);
        if self.round.ended(ack) && self.rtt_samples > 0 {
            let rtt_s = self.rtt_sum_s / f64::from(self.rtt_samples);
            (self.rtt_sum_s, self.rtt_samples) = (0.0, 0);
            if rest > 0.0 {
                self.judge(ack.min_rtt.as_secs_f64(), rtt_s);
            }
        }
        self.window.size += rest / self.whole();
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        self.before = self.delay_window;
        let left = self.used(congestion.in_flight) * (1.0 - self.settings.beta);
        self.window.reduce((self.window.size / 2.0).min(left));
        self.delay_window = (left - self.window.size).max(0.0);
    }

    fn on_timeout(&mut self, _now: Time, in_flight: u32) {
        self.before = self.delay_window;
        self.window.collapse(self.used(in_flight) * (1.0 - self.settings.beta));
        self.delay_window = 0.0;
    }

    fn on_spurious(&mut self, _now: Time) {
        self.window.restore();
        self.delay_window = self.delay_window.max(self.before);
    }
}
