use crate::congestion_control::{Ack, Congestion, CongestionControl};
use crate::counted_growth::CountedGrowth;
use crate::slow_start::SlowStartSettings;
use crate::window::Window;
use longhaul_units::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Veno's parameters, by the names of its paper.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct VenoSettings {
    /// Growth below the threshold.
    pub slow_start: SlowStartSettings,
    /// With at least so many segments in queues, the path counts as congested.
    pub beta: f64,
    /// What is left of the window after a loss on a path that does not count as congested.
    pub random_decrease: f64,
    /// What is left of the window after a loss on a congested path.
    pub congested_decrease: f64,
}

impl Default for VenoSettings {
    fn default() -> Self {
        VenoSettings {
            slow_start: SlowStartSettings::default(),
            beta: 3.0,
            random_decrease: 0.8,
            congested_decrease: 0.5,
        }
    }
}

/// Veno: C. Fu, S. Liew, "TCP Veno: TCP Enhancement for Transmission over Wireless Access Networks", IEEE JSAC 21
/// (2003) 216, section II. Reno that distinguishes random from congestion losses by the segments in queues,
/// counted as Vegas does. As in Linux, each acknowledgement counts them anew.
#[derive(Clone, Debug)]
pub struct Veno {
    settings: VenoSettings,
    window: Window,
    growth: CountedGrowth,
    /// Smallest RTT since the last idle period, in microseconds.
    base_us: Option<u64>,
    /// Smallest RTT since segments in queues were counted.
    least_us: Option<u64>,
    /// Segments in queues, as last counted.
    backlog: f64,
    /// On a congested path, whether the next full window of acknowledgements adds a segment: every other one does.
    adds: bool,
}

impl Veno {
    /// Begins with `initial` segments.
    pub fn new(settings: &VenoSettings, initial: f64) -> Self {
        Veno {
            settings: settings.clone(),
            window: Window::new(initial, &settings.slow_start),
            growth: CountedGrowth::default(),
            base_us: None,
            least_us: None,
            backlog: 0.0,
            adds: true,
        }
    }

    /// Segments in queues, as last counted: in halves.
    pub fn backlog(&self) -> f64 {
        self.backlog
    }

    fn measure(&mut self, rtt: Span) {
        // In whole microseconds, never 0.
        let rtt_us = rtt.ps() / 1_000_000 + 1;
        self.base_us = Some(self.base_us.map_or(rtt_us, |base| base.min(rtt_us)));
        self.least_us = Some(self.least_us.map_or(rtt_us, |least| least.min(rtt_us)));
    }

    /// Section II-A: N = W (1 - base/RTT), in half segments.
    fn count_backlog(&mut self) {
        if let (Some(base), Some(rtt)) = (self.base_us, self.least_us.take()) {
            let halves = 2.0 * libm::floor(self.window.size);
            let empty = libm::floor(halves * base as f64 / rtt as f64);
            self.backlog = (halves - empty) / 2.0;
        }
    }

    fn is_congested(&self) -> bool {
        self.backlog >= self.settings.beta
    }

    fn target(&self, in_flight: u32) -> f64 {
        let VenoSettings { random_decrease, congested_decrease, .. } = self.settings;
        let left = if self.is_congested() { congested_decrease } else { random_decrease };
        libm::floor(self.window.used(in_flight) * left)
    }
}

impl CongestionControl for Veno {
    fn window(&self) -> f64 {
        self.window.size
    }

    fn threshold(&self) -> f64 {
        self.window.threshold
    }

    fn on_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.measure(rtt);
        }
        if ack.acked == 0 || ack.recovering || !ack.window_limited {
            return;
        }
        self.count_backlog();
        let rest = self.window.grow(ack);
        if rest <= 0.0 {
            return;
        }
        let size = self.window.size;
        if !self.is_congested() {
            self.window.size += self.growth.add(rest, size);
        } else if self.growth.completes(rest, size) {
            self.window.size += f64::from(u8::from(self.adds));
            self.adds = !self.adds;
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        self.window.reduce(self.target(congestion.in_flight));
        self.growth.reset();
    }

    fn on_timeout(&mut self, _now: Time, in_flight: u32) {
        self.window.collapse(self.target(in_flight));
        self.growth.reset();
    }

    fn on_recovered(&mut self, _now: Time) {
        self.least_us = None;
    }

    fn on_spurious(&mut self, _now: Time) {
        self.window.restore();
    }

    fn on_sent(&mut self, _now: Time, in_flight: u32) {
        // After an idle period the path may be another one.
        if in_flight == 0 {
            (self.base_us, self.least_us, self.adds) = (None, None, true);
        }
    }
}
