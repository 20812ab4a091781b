use crate::congestion_control::{Ack, Congestion, CongestionControl};
use crate::slow_start::SlowStartSettings;
use crate::window::Window;
use longhaul_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// MulTCP's parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MultcpSettings {
    /// Growth below the threshold.
    pub slow_start: SlowStartSettings,
    /// N: it counts as so many connections; at least 0.5.
    pub flows: f64,
}

impl Default for MultcpSettings {
    fn default() -> Self {
        MultcpSettings { slow_start: SlowStartSettings::default(), flows: 4.0 }
    }
}

/// MulTCP: J. Crowcroft, P. Oechslin, "Differentiated End-to-End Internet Services using a Weighted
/// Proportional Fair Sharing TCP", SIGCOMM Computer Communication Review 28 (1998) 53, section 3. One
/// connection that grows like N and, as one of N would, yields half of an N-th.
#[derive(Clone, Debug)]
pub struct Multcp {
    flows: f64,
    window: Window,
    /// Up to this window slow start trebles it: there N connections that double would be.
    knee: f64,
}

impl Multcp {
    /// Begins with `initial` segments.
    pub fn new(settings: &MultcpSettings, initial: f64) -> Self {
        let flows = settings.flows.max(0.5);
        // N slow starts from 1 reach N 2^k after k round trips, one that trebles 3^k: equal at
        // k = ln N / (ln 3 - ln 2).
        let rounds = libm::log(flows) / libm::log(1.5);
        Multcp { flows, window: Window::new(initial, &settings.slow_start), knee: libm::pow(3.0, rounds) }
    }

    fn target(&self, in_flight: u32) -> f64 {
        self.window.used(in_flight) * (self.flows - 0.5) / self.flows
    }
}

impl CongestionControl for Multcp {
    fn window(&self) -> f64 {
        self.window.size
    }

    fn threshold(&self) -> f64 {
        self.window.threshold
    }

    fn on_ack(&mut self, ack: &Ack) {
        let size = self.window.size;
        let rest = self.window.grow(ack);
        if self.window.in_slow_start() && size < self.knee {
            let again = (self.window.size - size).min(self.window.threshold - self.window.size);
            self.window.size += again;
        }
        self.window.size += rest * (self.flows / self.window.size).min(1.0);
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        self.window.reduce(self.target(congestion.in_flight));
    }

    fn on_timeout(&mut self, _now: Time, in_flight: u32) {
        self.window.collapse(self.target(in_flight));
    }

    fn on_spurious(&mut self, _now: Time) {
        self.window.restore();
    }
}
