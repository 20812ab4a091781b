use crate::congestion_control::{Ack, Congestion, CongestionControl};
use crate::coupling::Coupling;
use crate::slow_start::SlowStartSettings;
use crate::window::Window;
use longhaul_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// LIA's parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LiaSettings {
    /// Growth below the threshold.
    pub slow_start: SlowStartSettings,
}

/// The "linked increases" of Multipath TCP (RFC 6356). Where they share a bottleneck, all subflows together grow like
/// one connection; each shrinks like Reno. A connection of one path is Reno.
#[derive(Clone, Debug)]
pub struct Lia {
    window: Window,
    /// `alpha / cwnd_total`: what a segment acknowledged on any subflow adds, in segments (section 3, equation 2).
    linked_increase: f64,
}

impl Lia {
    /// Begins with `initial` segments.
    pub fn new(settings: &LiaSettings, initial: f64) -> Self {
        Lia { window: Window::new(initial, &settings.slow_start), linked_increase: f64::INFINITY }
    }
}

impl CongestionControl for Lia {
    fn window(&self) -> f64 {
        self.window.size
    }

    fn threshold(&self) -> f64 {
        self.window.threshold
    }

    fn couple(&mut self, coupling: &Coupling<'_>) {
        let best = coupling.subflows.iter().map(|each| each.window / (each.srtt_s * each.srtt_s));
        let rate = coupling.rate();
        self.linked_increase = best.fold(0.0, f64::max) / (rate * rate);
    }

    fn on_ack(&mut self, ack: &Ack) {
        let rest = self.window.grow(ack);
        self.window.size += rest * self.linked_increase.min(1.0 / self.window.size);
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        self.window.reduce(f64::from(congestion.in_flight) / 2.0);
    }

    fn on_timeout(&mut self, _now: Time, in_flight: u32) {
        self.window.collapse(f64::from(in_flight) / 2.0);
    }

    fn on_spurious(&mut self, _now: Time) {
        self.window.restore();
    }
}
