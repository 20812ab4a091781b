use crate::congestion_control::{Ack, Congestion, CongestionControl};
use crate::slow_start::SlowStartSettings;
use crate::window::Window;
use longhaul_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Tahoe's parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TahoeSettings {
    /// Growth below the threshold.
    pub slow_start: SlowStartSettings,
}

impl Default for TahoeSettings {
    fn default() -> Self {
        TahoeSettings { slow_start: SlowStartSettings::Standard { limit: 1 } }
    }
}

/// Tahoe's window (V. Jacobson, "Congestion Avoidance and Algorithm", SIGCOMM 1988, sections 2 and 3 and
/// appendix D): after any loss it slow-starts from one segment to half of what was in flight.
///
/// There is no recovery in which the window stands still: it grows with each acknowledgement.
#[derive(Clone, Debug)]
pub struct Tahoe {
    window: Window,
}

impl Tahoe {
    /// Begins with `initial` segments.
    pub fn new(settings: &TahoeSettings, initial: f64) -> Self {
        Tahoe { window: Window::new(initial, &settings.slow_start) }
    }
}

impl CongestionControl for Tahoe {
    fn window(&self) -> f64 {
        self.window.size
    }

    fn threshold(&self) -> f64 {
        self.window.threshold
    }

    fn on_ack(&mut self, ack: &Ack) {
        if ack.window_limited {
            let rest = self.window.slow_start(ack);
            self.window.size += rest / self.window.size;
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        self.window.collapse(f64::from(congestion.in_flight) / 2.0);
    }

    fn on_timeout(&mut self, _now: Time, in_flight: u32) {
        self.window.collapse(f64::from(in_flight) / 2.0);
    }

    fn on_spurious(&mut self, _now: Time) {
        self.window.restore();
    }

    fn steers_recovery(&self) -> bool {
        true
    }
}
