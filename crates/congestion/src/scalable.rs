use crate::congestion_control::{Ack, Congestion, CongestionControl};
use crate::slow_start::SlowStartSettings;
use crate::window::Window;
use longhaul_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Scalable TCP's parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ScalableSettings {
    /// Growth below the threshold.
    pub slow_start: SlowStartSettings,
    /// a: segments that each acknowledged one adds.
    pub increase: f64,
    /// b: the share of the window that a loss takes.
    pub decrease: f64,
    /// Up to this window it is Reno, in segments: 16 in the paper.
    pub legacy_window: f64,
    /// Never slower than Reno, as in Linux.
    pub reno_friendly: bool,
}

impl Default for ScalableSettings {
    fn default() -> Self {
        ScalableSettings {
            slow_start: SlowStartSettings::default(),
            increase: 0.01,
            decrease: 0.125,
            legacy_window: 0.0,
            reno_friendly: true,
        }
    }
}

impl ScalableSettings {
    /// As its paper has it.
    pub fn kelly() -> Self {
        ScalableSettings { legacy_window: 16.0, reno_friendly: false, ..ScalableSettings::default() }
    }
}

/// Scalable TCP: T. Kelly, "Scalable TCP: Improving Performance in Highspeed Wide Area Networks",
/// SIGCOMM Computer Communication Review 33 (2003) 83. The time back to a window does not depend on it.
#[derive(Clone, Debug)]
pub struct Scalable {
    settings: ScalableSettings,
    window: Window,
}

impl Scalable {
    /// Begins with `initial` segments.
    pub fn new(settings: &ScalableSettings, initial: f64) -> Self {
        Scalable { settings: settings.clone(), window: Window::new(initial, &settings.slow_start) }
    }

    fn target(&self, in_flight: u32) -> f64 {
        let used = self.window.used(in_flight);
        let share = if used <= self.settings.legacy_window { 0.5 } else { self.settings.decrease };
        used * (1.0 - share)
    }
}

impl CongestionControl for Scalable {
    fn window(&self) -> f64 {
        self.window.size
    }

    fn threshold(&self) -> f64 {
        self.window.threshold
    }

    fn on_ack(&mut self, ack: &Ack) {
        let rest = self.window.grow(ack);
        let size = self.window.size;
        let ScalableSettings { increase, legacy_window, reno_friendly, .. } = self.settings;
        let reno = 1.0 / size;
        self.window.size += rest
            * if size <= legacy_window {
                reno
            } else if reno_friendly {
                increase.max(reno)
            } else {
                increase
            };
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
