use crate::congestion_control::{Ack, Congestion, CongestionControl};
use crate::round::Round;
use crate::slow_start::SlowStartSettings;
use crate::window::Window;
use longhaul_units::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Westwood+'s parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WestwoodSettings {
    /// Growth below the threshold.
    pub slow_start: SlowStartSettings,
    /// Weight of the past in the mean of the bandwidth; at least 0, below 1.
    pub memory: f64,
}

impl Default for WestwoodSettings {
    fn default() -> Self {
        WestwoodSettings { slow_start: SlowStartSettings::default(), memory: 0.9 }
    }
}

/// Westwood+: L. Grieco, S. Mascolo, "Performance Evaluation and Comparison of Westwood+, New Reno, and
/// Vegas TCP Congestion Control", SIGCOMM Computer Communication Review 34 (2004) 25, section 2. Reno,
/// but a loss leaves what the path has carried: mean bandwidth times smallest RTT.
#[derive(Clone, Debug)]
pub struct Westwood {
    settings: WestwoodSettings,
    window: Window,
    /// Segments per second; `None` before the first whole round trip.
    bandwidth: Option<f64>,
    min_rtt: Span,
    round: Round,
    round_began: Option<Time>,
    round_delivered: u32,
}

impl Westwood {
    /// Begins with `initial` segments.
    pub fn new(settings: &WestwoodSettings, initial: f64) -> Self {
        Westwood {
            settings: settings.clone(),
            window: Window::new(initial, &settings.slow_start),
            bandwidth: None,
            min_rtt: Span::ZERO,
            round: Round::default(),
            round_began: None,
            round_delivered: 0,
        }
    }

    /// Mean bandwidth in segments per second, if there is one.
    pub fn bandwidth(&self) -> Option<f64> {
        self.bandwidth
    }

    fn measure(&mut self, ack: &Ack) {
        self.min_rtt = ack.min_rtt;
        self.round_delivered += ack.delivered;
        if !self.round.ended(ack) {
            return;
        }
        if let Some(began) = self.round_began {
            let seconds = ack.now.since(began).as_secs_f64();
            if seconds > 0.0 {
                let sample = f64::from(self.round_delivered) / seconds;
                let memory = self.settings.memory;
                self.bandwidth =
                    Some(self.bandwidth.map_or(sample, |mean| memory * mean + (1.0 - memory) * sample));
            }
        }
        self.round_began = Some(ack.now);
        self.round_delivered = 0;
    }

    fn target(&self, in_flight: u32) -> f64 {
        match self.bandwidth {
            Some(bandwidth) => bandwidth * self.min_rtt.as_secs_f64(),
            None => f64::from(in_flight) / 2.0,
        }
    }
}

impl CongestionControl for Westwood {
    fn window(&self) -> f64 {
        self.window.size
    }

    fn threshold(&self) -> f64 {
        self.window.threshold
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.measure(ack);
        let rest = self.window.grow(ack);
        self.window.size += rest / self.window.size;
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let size = self.window.size;
        self.window.reduce(self.target(congestion.in_flight));
        // The path may have carried more than the window: then it is no reason to grow.
        self.window.size = self.window.size.min(size);
    }

    fn on_timeout(&mut self, _now: Time, in_flight: u32) {
        self.window.collapse(self.target(in_flight));
    }

    fn on_spurious(&mut self, _now: Time) {
        self.window.restore();
    }
}
