use crate::congestion_control::{Ack, Congestion, CongestionControl};
use crate::slow_start::SlowStartSettings;
use crate::window::Window;
use longhaul_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Reno's parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RenoSettings {
    /// Growth below the threshold.
    pub slow_start: SlowStartSettings,
}

/// Reno's window (RFC 5681): one segment more per round trip, half of it on congestion.
///
/// What is called Reno, NewReno or SACK differs in how the transport recovers, not in the window.
#[derive(Clone, Debug)]
pub struct Reno {
    window: Window,
}

impl Reno {
    /// Begins with `initial` segments and standard slow start.
    pub fn new(initial: f64) -> Self {
        Reno::with(&RenoSettings::default(), initial)
    }

    /// Begins with `initial` segments.
    pub fn with(settings: &RenoSettings, initial: f64) -> Self {
        Reno { window: Window::new(initial, &settings.slow_start) }
    }
}

impl CongestionControl for Reno {
    fn window(&self) -> f64 {
        self.window.size
    }

    fn threshold(&self) -> f64 {
        self.window.threshold
    }

    fn on_ack(&mut self, ack: &Ack) {
        let rest = self.window.grow(ack);
        self.window.size += rest / self.window.size;
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
