use crate::congestion_control::{Ack, Cause, Congestion, CongestionControl};
use crate::round::Round;
use crate::slow_start::SlowStartSettings;
use crate::window::Window;
use longhaul_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// DCTCP's parameters, by the names of RFC 8257.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DctcpSettings {
    /// Growth below the threshold.
    pub slow_start: SlowStartSettings,
    /// g: weight of the latest window in the mean share of marks; above 0, below 1 (section 4.2).
    pub gain: f64,
    /// DCTCP.Alpha at the beginning: 1 yields most to begin with.
    pub initial_alpha: f64,
}

impl Default for DctcpSettings {
    fn default() -> Self {
        DctcpSettings { slow_start: SlowStartSettings::default(), gain: 1.0 / 16.0, initial_alpha: 1.0 }
    }
}

/// DCTCP (RFC 8257, section 3.3): Reno that yields in proportion to the share of segments that were
/// marked, and by half when one is lost.
#[derive(Clone, Debug)]
pub struct Dctcp {
    settings: DctcpSettings,
    window: Window,
    alpha: f64,
    round: Round,
    delivered: u32,
    marked: u32,
}

impl Dctcp {
    /// Begins with `initial` segments.
    pub fn new(settings: &DctcpSettings, initial: f64) -> Self {
        Dctcp {
            settings: settings.clone(),
            window: Window::new(initial, &settings.slow_start),
            alpha: settings.initial_alpha,
            round: Round::default(),
            delivered: 0,
            marked: 0,
        }
    }

    /// DCTCP.Alpha: the mean share of marked segments.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }
}

impl CongestionControl for Dctcp {
    fn window(&self) -> f64 {
        self.window.size
    }

    fn threshold(&self) -> f64 {
        self.window.threshold
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.delivered += ack.delivered;
        self.marked += ack.marked;
        if self.round.ended(ack) && self.delivered > 0 {
            let share = (f64::from(self.marked) / f64::from(self.delivered)).min(1.0);
            self.alpha += self.settings.gain * (share - self.alpha);
            (self.delivered, self.marked) = (0, 0);
        }
        let rest = self.window.grow(ack);
        self.window.size += rest / self.window.size;
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let used = self.window.used(congestion.in_flight);
        let share = match congestion.cause {
            Cause::Mark => self.alpha / 2.0,
            Cause::Loss => 0.5,
        };
        self.window.reduce(used * (1.0 - share));
    }

    fn on_timeout(&mut self, _now: Time, in_flight: u32) {
        let used = self.window.used(in_flight);
        self.window.collapse(used / 2.0);
    }

    fn on_spurious(&mut self, _now: Time) {
        self.window.restore();
    }
}
