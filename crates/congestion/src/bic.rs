use crate::congestion_control::{Ack, Congestion, CongestionControl};
use crate::slow_start::SlowStartSettings;
use crate::window::Window;
use longhaul_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// BIC's parameters; the defaults are those of Linux, in segments per round trip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BicSettings {
    /// Growth below the threshold.
    pub slow_start: SlowStartSettings,
    /// Up to this window it is Reno.
    pub low_window: f64,
    /// `S_max`: most segments that a round trip adds.
    pub max_increment: f64,
    /// Segments that a round trip adds close to the last maximum: 4/20.
    pub min_increment: f64,
    /// The search goes by this share of the distance to the last maximum, as its inverse.
    pub search_divisor: f64,
    /// What is left of the window after a loss: 819/1024.
    pub beta: f64,
    /// After a loss below the last maximum, aim lower than where it happened.
    pub fast_convergence: bool,
    /// Multiply increments by the mean number of segments that an acknowledgement is for, as Linux does; the BIC
    /// of Linux 2.6 did not.
    pub delayed_acks: bool,
}

impl Default for BicSettings {
    fn default() -> Self {
        BicSettings {
            slow_start: SlowStartSettings::default(),
            low_window: 14.0,
            max_increment: 16.0,
            min_increment: 0.2,
            search_divisor: 4.0,
            beta: 819.0 / 1024.0,
            fast_convergence: true,
            delayed_acks: true,
        }
    }
}

/// Binary increase: L. Xu, K. Harfoush, I. Rhee, "Binary Increase Congestion Control (BIC) for Fast
/// Long-Distance Networks", INFOCOM 2004, section IV.
#[derive(Clone, Debug)]
pub struct Bic {
    settings: BicSettings,
    window: Window,
    /// Where the last loss was; `None` before the first one.
    maximum: Option<f64>,
    before: Option<f64>,
    /// Mean number of segments that an acknowledgement is for.
    per_ack: f64,
}

/// What `per_ack` begins with, and the weight of an acknowledgement in it.
const DELAYED_ACKS: (f64, f64) = (2.0, 1.0 / 16.0);

impl Bic {
    /// Begins with `initial` segments.
    pub fn new(settings: &BicSettings, initial: f64) -> Self {
        Bic {
            settings: settings.clone(),
            window: Window::new(initial, &settings.slow_start),
            maximum: None,
            before: None,
            per_ack: if settings.delayed_acks { DELAYED_ACKS.0 } else { 1.0 },
        }
    }

    /// Segments that the next round trip adds.
    fn increment(&self) -> f64 {
        let BicSettings { low_window, max_increment, min_increment, search_divisor, .. } = self.settings;
        let window = self.window.size;
        if window <= low_window {
            return 1.0;
        }
        let Some(maximum) = self.maximum else {
            // Nothing to search for: 5 % per round trip at least.
            return max_increment.max(window / 20.0);
        };
        if window < maximum {
            // Binary search, with a limit far off and another one close by.
            let step = (maximum - window) / search_divisor;
            return if step <= 1.0 { min_increment } else { step.min(max_increment) };
        }
        // Max probing: as slowly away from the maximum as towards it, then faster.
        let beyond = window - maximum;
        if beyond < search_divisor {
            min_increment
        } else {
            (beyond / (search_divisor - 1.0).max(1.0)).min(max_increment)
        }
    }

    fn target(&mut self, used: f64) -> f64 {
        self.before = self.maximum;
        let beta = self.settings.beta;
        let lower = self.settings.fast_convergence && self.maximum.is_some_and(|maximum| used < maximum);
        self.maximum = Some(if lower { used * (1.0 + beta) / 2.0 } else { used });
        if used <= self.settings.low_window { used / 2.0 } else { used * beta }
    }
}

impl CongestionControl for Bic {
    fn window(&self) -> f64 {
        self.window.size
    }

    fn threshold(&self) -> f64 {
        self.window.threshold
    }

    fn on_ack(&mut self, ack: &Ack) {
        if self.settings.delayed_acks && ack.acked > 0 && !ack.recovering {
            self.per_ack += (f64::from(ack.acked) - self.per_ack) * DELAYED_ACKS.1;
        }
        let rest = self.window.grow(ack);
        if rest > 0.0 {
            self.window.size += rest * (self.per_ack * self.increment() / self.window.size).min(1.0);
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let target = self.target(self.window.used(congestion.in_flight));
        self.window.reduce(target);
    }

    fn on_timeout(&mut self, _now: Time, in_flight: u32) {
        let target = self.target(self.window.used(in_flight));
        self.window.collapse(target);
        self.maximum = None;
    }

    fn on_spurious(&mut self, _now: Time) {
        self.window.restore();
        self.maximum = self.before;
    }
}
