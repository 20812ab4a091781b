use crate::congestion_control::{Ack, Congestion, CongestionControl};
use crate::highspeed_table::row;
use crate::slow_start::SlowStartSettings;
use crate::window::Window;
use longhaul_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a(w) and b(w) come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HighSpeedResponse {
    /// The equations of RFC 3649, section 5.
    Formula,
    /// Its appendix B, with b in 256ths: whole steps of a, as Linux has it.
    #[default]
    Table,
}

/// HighSpeed TCP's parameters, by the names of RFC 3649, section 5.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HighSpeedSettings {
    /// Growth below the threshold.
    pub slow_start: SlowStartSettings,
    /// `Low_Window`: up to here it is Reno.
    pub low_window: f64,
    /// `High_Window`, in segments.
    pub high_window: f64,
    /// `High_Decrease`: the share of the window that a loss takes at `High_Window`.
    pub high_decrease: f64,
    /// Where a(w) and b(w) come from. The table holds for the default windows alone.
    pub response: HighSpeedResponse,
    /// Each acknowledged segment adds a(w)/w (RFC 3465); otherwise each acknowledgement does, as in the RFC and in
    /// Linux.
    pub byte_counting: bool,
}

impl Default for HighSpeedSettings {
    fn default() -> Self {
        HighSpeedSettings {
            slow_start: SlowStartSettings::default(),
            low_window: 38.0,
            high_window: 83_000.0,
            high_decrease: 0.1,
            response: HighSpeedResponse::default(),
            byte_counting: false,
        }
    }
}

impl HighSpeedSettings {
    /// a(w): the segments that a round trip adds to a window of `window` segments.
    pub fn increase(&self, window: f64) -> f64 {
        if window <= self.low_window {
            return 1.0;
        }
        match self.response {
            HighSpeedResponse::Formula => {
                let b = self.decrease(window);
                // p(w), the loss rate that this window is for.
                let p = 0.078 / libm::pow(window, 1.2);
                (window * window * p * 2.0 * b / (2.0 - b)).max(1.0)
            }
            HighSpeedResponse::Table => row(window).0,
        }
    }

    /// b(w): the share of a window of `window` segments that a loss takes.
    pub fn decrease(&self, window: f64) -> f64 {
        if window <= self.low_window {
            return 0.5;
        }
        match self.response {
            HighSpeedResponse::Formula => {
                let share =
                    libm::log(window / self.low_window) / libm::log(self.high_window / self.low_window);
                ((self.high_decrease - 0.5) * share + 0.5).clamp(0.01, 0.5)
            }
            HighSpeedResponse::Table => row(window).1,
        }
    }
}

/// HighSpeed TCP (RFC 3649): the larger the window, the faster it grows and the less it yields.
#[derive(Clone, Debug)]
pub struct HighSpeed {
    settings: HighSpeedSettings,
    window: Window,
    /// a(w) of the window of so many whole segments: the formula is dear, and flat within a segment.
    known: (f64, f64),
}

impl HighSpeed {
    /// Begins with `initial` segments.
    pub fn new(settings: &HighSpeedSettings, initial: f64) -> Self {
        HighSpeed {
            settings: settings.clone(),
            window: Window::new(initial, &settings.slow_start),
            known: (0.0, 1.0),
        }
    }

    fn increase(&mut self) -> f64 {
        let whole = libm::floor(self.window.size);
        if self.known.0 != whole {
            self.known = (whole, self.settings.increase(whole));
        }
        self.known.1
    }

    fn target(&self, in_flight: u32) -> f64 {
        let used = self.window.used(in_flight);
        used * (1.0 - self.settings.decrease(used))
    }
}

impl CongestionControl for HighSpeed {
    fn window(&self) -> f64 {
        self.window.size
    }

    fn threshold(&self) -> f64 {
        self.window.threshold
    }

    fn on_ack(&mut self, ack: &Ack) {
        let rest = self.window.grow(ack);
        if rest > 0.0 {
            let counted = if self.settings.byte_counting { rest } else { rest.min(1.0) };
            let increase = self.increase();
            self.window.size += counted * (increase / self.window.size).min(1.0);
        }
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
