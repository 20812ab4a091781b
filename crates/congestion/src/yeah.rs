use crate::congestion_control::{Ack, Congestion, CongestionControl};
use crate::counted_growth::CountedGrowth;
use crate::round::Round;
use crate::slow_start::SlowStartSettings;
use crate::window::Window;
use longhaul_units::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `YeAH`'s parameters, by the names of its paper; the defaults are those of Linux.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct YeahSettings {
    /// Growth below the threshold.
    pub slow_start: SlowStartSettings,
    /// `Q_max`: with more segments in queues it is slow, and gives them up.
    pub max_queue: f64,
    /// `phi`: it is slow, too, where the queueing delay is more than the smallest RTT divided by so much.
    pub phi: f64,
    /// `gamma`: divides the segments in queues that it gives up at a time.
    pub gamma: f64,
    /// `epsilon`: it gives up at most the window divided by so much at a time.
    pub epsilon: f64,
    /// `delta`: a loss takes at least the window divided by so much, unless the flow competes.
    pub delta: f64,
    /// `rho`: after so many round trips of being slow in a row the flow competes with others, and a loss halves the
    /// window.
    pub rho: u32,
    /// After more round trips than so many of being fast since the last loss, the estimate of what competing
    /// flows have begins anew.
    pub zeta: u32,
    /// While it is fast, a segment is added for each so many acknowledged, or for each window if that is smaller:
    /// Scalable TCP.
    pub scalable_count: f64,
}

impl Default for YeahSettings {
    fn default() -> Self {
        YeahSettings {
            slow_start: SlowStartSettings::default(),
            max_queue: 80.0,
            phi: 8.0,
            gamma: 1.0,
            epsilon: 2.0,
            delta: 8.0,
            rho: 16,
            zeta: 50,
            scalable_count: 100.0,
        }
    }
}

/// Fewer RTT samples of a round trip decide nothing: acknowledgements may be delayed.
const LEAST_SAMPLES: u32 = 3;

/// `YeAH`: A. Baiocchi, A. Castellani, F. Vacirca, "YeAH-TCP: Yet Another Highspeed TCP", PFLDnet 2007, section 2. Fast
/// as Scalable TCP while queues are short; slow as Reno, and rid of its own queue, while they are long.
#[derive(Clone, Debug)]
pub struct Yeah {
    settings: YeahSettings,
    window: Window,
    growth: CountedGrowth,
    round: Round,
    /// Smallest RTT since the last idle period, and of this round trip, in microseconds.
    base_us: Option<u64>,
    round_us: Option<u64>,
    samples: u32,
    /// Segments in queues at the end of the last round trip.
    queue: f64,
    /// Round trips of being slow in a row; 0: it is fast.
    slow_rounds: u32,
    /// Round trips of being fast since the last loss, or since `reno_window` began anew.
    fast_rounds: u32,
    /// `cwnd_reno`: the window that a competing Reno flow would have. It never gives up more than leaves this.
    reno_window: f64,
}

impl Yeah {
    /// Begins with `initial` segments.
    pub fn new(settings: &YeahSettings, initial: f64) -> Self {
        Yeah {
            settings: settings.clone(),
            window: Window::new(initial, &settings.slow_start),
            growth: CountedGrowth::default(),
            round: Round::default(),
            base_us: None,
            round_us: None,
            samples: 0,
            queue: 0.0,
            slow_rounds: 0,
            fast_rounds: 0,
            reno_window: 2.0,
        }
    }

    /// Whether it grows as Scalable TCP does.
    pub fn is_fast(&self) -> bool {
        self.slow_rounds == 0
    }

    /// `cwnd_reno`, in segments.
    pub fn reno_window(&self) -> f64 {
        self.reno_window
    }

    fn measure(&mut self, rtt: Span) {
        // In whole microseconds, never 0.
        let rtt_us = rtt.ps() / 1_000_000 + 1;
        self.base_us = Some(self.base_us.map_or(rtt_us, |base| base.min(rtt_us)));
        self.round_us = Some(self.round_us.map_or(rtt_us, |least| least.min(rtt_us)));
        self.samples += 1;
    }

    fn grow(&mut self, ack: &Ack) {
        let rest = self.window.grow(ack);
        if rest > 0.0 {
            let size = self.window.size;
            let every = if self.is_fast() { size.min(self.settings.scalable_count) } else { size };
            self.window.size += self.growth.add(rest, every);
        }
    }

    /// The end of a round trip: section 2.1, Q = (RTT - base) W/RTT and L = (RTT - base)/base.
    fn decide(&mut self, base_us: u64, rtt_us: u64) {
        let size = libm::floor(self.window.size);
        let queueing_us = (rtt_us - base_us) as f64;
        self.queue = libm::floor(size * queueing_us / rtt_us as f64);
        let long = self.queue > self.settings.max_queue;
        if long || queueing_us > libm::floor(base_us as f64 / self.settings.phi) {
            if long && size > self.reno_window {
                let most = libm::floor(size / self.settings.epsilon);
                let given_up = libm::floor(self.queue / self.settings.gamma).min(most);
                self.window.settle((size - given_up).max(self.reno_window));
            }
            self.reno_window = if self.reno_window <= 2.0 {
                libm::floor(self.window.size / 2.0).max(2.0)
            } else {
                self.reno_window + 1.0
            };
            self.slow_rounds = self.slow_rounds.saturating_add(1);
        } else {
            self.fast_rounds += 1;
            if self.fast_rounds > self.settings.zeta {
                (self.reno_window, self.fast_rounds) = (2.0, 0);
            }
            self.slow_rounds = 0;
        }
    }

    /// What a loss leaves.
    fn target(&mut self, in_flight: u32) -> f64 {
        let used = libm::floor(self.window.used(in_flight));
        let half = libm::floor(used / 2.0).max(2.0);
        let taken = if self.slow_rounds < self.settings.rho {
            self.queue.min(half).max(libm::floor(used / self.settings.delta))
        } else {
            half
        };
        self.fast_rounds = 0;
        self.reno_window = libm::floor(self.reno_window / 2.0).max(2.0);
        self.growth.reset();
        used - taken
    }

    fn restart_round(&mut self) {
        (self.round_us, self.samples) = (None, 0);
    }
}

impl CongestionControl for Yeah {
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
        self.grow(ack);
        if self.round.ended(ack) {
            if self.samples >= LEAST_SAMPLES
                && let (Some(base), Some(rtt)) = (self.base_us, self.round_us)
            {
                self.decide(base, rtt);
            }
            self.restart_round();
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let target = self.target(congestion.in_flight);
        self.window.reduce(target);
    }

    fn on_timeout(&mut self, _now: Time, in_flight: u32) {
        let target = self.target(in_flight);
        self.window.collapse(target);
    }

    fn on_recovered(&mut self, _now: Time) {
        self.restart_round();
    }

    fn on_spurious(&mut self, _now: Time) {
        self.window.restore();
    }

    fn on_sent(&mut self, _now: Time, in_flight: u32) {
        // After an idle period the path may be another one.
        if in_flight == 0 {
            self.base_us = None;
            self.restart_round();
        }
    }
}
