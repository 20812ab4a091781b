use crate::congestion_control::{Ack, Congestion, CongestionControl};
use crate::slow_start::SlowStartSettings;
use crate::window::Window;
use longhaul_units::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Westwood+'s parameters; the defaults are those of Linux.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WestwoodSettings {
    /// Growth below the threshold.
    pub slow_start: SlowStartSettings,
    /// Weight of the past in the mean of the bandwidth, at least 0, below 1: 0.9 in the paper.
    pub memory: f64,
    /// How often the mean is taken: of the samples (1, as in the paper), or of their means (2).
    pub stages: u32,
    /// A sample of the bandwidth takes a round trip, and at least so long.
    pub least_interval_ns: u64,
    /// During a recovery the window is half of what it was, and only then what the path carries; otherwise that from the
    /// beginning of the recovery on, as in the paper.
    pub half_in_recovery: bool,
    /// RTTs are measured in so much, and rounded up: a tick of the kernel's clock. 0: exactly.
    pub tick_ns: u64,
}

impl Default for WestwoodSettings {
    fn default() -> Self {
        WestwoodSettings {
            slow_start: SlowStartSettings::default(),
            memory: 0.875,
            stages: 2,
            least_interval_ns: 50_000_000,
            half_in_recovery: true,
            tick_ns: 1_000_000,
        }
    }
}

impl WestwoodSettings {
    /// As its paper has it.
    pub fn grieco_mascolo() -> Self {
        WestwoodSettings {
            memory: 0.9,
            stages: 1,
            least_interval_ns: 0,
            half_in_recovery: false,
            tick_ns: 0,
            ..WestwoodSettings::default()
        }
    }

    fn in_ticks(&self, span: Span) -> Span {
        match self.tick_ns {
            0 => span,
            tick => Span::from_ns(span.ps().div_ceil(1_000).div_ceil(tick) * tick),
        }
    }
}

/// Westwood+: L. Grieco, S. Mascolo, "Performance Evaluation and Comparison of Westwood+, New Reno, and
/// Vegas TCP Congestion Control", SIGCOMM Computer Communication Review 34 (2004) 25, section 2. Reno,
/// but a loss leaves what the path has carried: mean bandwidth times smallest RTT.
#[derive(Clone, Debug)]
pub struct Westwood {
    settings: WestwoodSettings,
    window: Window,
    /// Segments per second, after one stage and after all; `None` before the first sample.
    bandwidth: Option<(f64, f64)>,
    /// Zero before the first one, and after a timeout.
    min_rtt: Span,
    last_rtt: Span,
    began: Option<Time>,
    delivered: u32,
    /// The window becomes what the path carries as soon as this segment is acknowledged.
    reduced_until: Option<u64>,
}

impl Westwood {
    /// Begins with `initial` segments.
    pub fn new(settings: &WestwoodSettings, initial: f64) -> Self {
        Westwood {
            settings: settings.clone(),
            window: Window::new(initial, &settings.slow_start),
            bandwidth: None,
            min_rtt: Span::ZERO,
            last_rtt: Span::ZERO,
            began: None,
            delivered: 0,
            reduced_until: None,
        }
    }

    /// Mean bandwidth in segments per second, if there is one.
    pub fn bandwidth(&self) -> Option<f64> {
        self.bandwidth.map(|(_, mean)| mean)
    }

    fn measure(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.last_rtt = self.settings.in_ticks(rtt);
            let known = self.min_rtt > Span::ZERO;
            self.min_rtt = if known { self.min_rtt.min(self.last_rtt) } else { self.last_rtt };
        }
        // The first sample begins when what is acknowledged first was sent.
        let began = *self
            .began
            .get_or_insert(Time::from_ps(ack.now.ps().saturating_sub(ack.rtt.unwrap_or_default().ps())));
        let interval = ack.now.since(began);
        let least = Span::from_ns(self.settings.least_interval_ns).max(self.last_rtt);
        if self.last_rtt > Span::ZERO && interval > least {
            self.add(f64::from(self.delivered) / interval.as_secs_f64());
            (self.began, self.delivered) = (Some(ack.now), 0);
        }
        self.delivered += ack.delivered;
    }

    fn add(&mut self, sample: f64) {
        let memory = self.settings.memory;
        let mix = |mean: f64, sample: f64| memory * mean + (1.0 - memory) * sample;
        let (once, mean) = self.bandwidth.unwrap_or((sample, sample));
        let once = mix(once, sample);
        self.bandwidth = Some((once, if self.settings.stages > 1 { mix(mean, once) } else { once }));
    }

    fn carried(&self) -> Option<f64> {
        let bandwidth = self.bandwidth()?;
        // In whole segments.
        Some(libm::floor(bandwidth * self.min_rtt.as_secs_f64()).max(2.0))
    }

    fn target(&self, in_flight: u32) -> f64 {
        self.carried().unwrap_or(f64::from(in_flight) / 2.0)
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
        if self.reduced_until.is_some_and(|until| ack.first_unacked >= until) {
            self.reduced_until = None;
            if let Some(carried) = self.carried() {
                self.window.settle(carried);
            }
        }
        let rest = self.window.grow(ack);
        self.window.size += rest / self.window.size;
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        if self.settings.half_in_recovery {
            self.window.reduce(self.window.used(congestion.in_flight) / 2.0);
            self.reduced_until = Some(congestion.next_sequence);
            return;
        }
        let size = self.window.size;
        self.window.reduce(self.target(congestion.in_flight));
        // The path may have carried more than the window: then it is no reason to grow.
        self.window.size = self.window.size.min(size);
    }

    fn on_timeout(&mut self, _now: Time, in_flight: u32) {
        self.window.collapse(self.target(in_flight));
        self.reduced_until = None;
        self.min_rtt = Span::ZERO;
    }

    fn on_spurious(&mut self, _now: Time) {
        self.window.restore();
        self.reduced_until = None;
    }
}
