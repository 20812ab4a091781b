use crate::congestion_control::{Ack, Congestion, CongestionControl};
use crate::round::Round;
use crate::slow_start::SlowStartSettings;
use crate::window::Window;
use longhaul_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Illinois' parameters, by the names of its paper.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct IllinoisSettings {
    /// Growth below the threshold.
    pub slow_start: SlowStartSettings,
    /// Segments that a round trip adds while queues are empty.
    pub alpha_max: f64,
    /// Segments that a round trip adds when queues are as long as they were ever seen.
    pub alpha_min: f64,
    /// Share of the window that a loss takes with short queues.
    pub beta_min: f64,
    /// Share of the window that a loss takes with long queues.
    pub beta_max: f64,
    /// `d_1` to `d_3` as shares of the longest delay: up to the first alpha is greatest, up to the second
    /// beta is least, from the third on beta is greatest.
    pub delays: [f64; 3],
    /// `W_thresh`: below this window it is Reno.
    pub low_window: f64,
    /// theta: round trips with a short queue before alpha becomes greatest again.
    pub patience: u32,
}

impl Default for IllinoisSettings {
    fn default() -> Self {
        IllinoisSettings {
            slow_start: SlowStartSettings::default(),
            alpha_max: 10.0,
            alpha_min: 0.3,
            beta_min: 0.125,
            beta_max: 0.5,
            delays: [0.01, 0.1, 0.8],
            low_window: 15.0,
            patience: 5,
        }
    }
}

impl IllinoisSettings {
    /// `f_1`: segments per round trip at a queueing delay `delay`, with the longest seen `longest`, in one
    /// unit (section 3).
    pub fn alpha(&self, delay: f64, longest: f64) -> f64 {
        let first = self.delays[0] * longest;
        if delay <= first {
            return self.alpha_max;
        }
        let kappa = (longest - first) * self.alpha_min / (self.alpha_max - self.alpha_min);
        kappa * self.alpha_max / (kappa - first + delay)
    }

    /// `f_2`: share of the window that a loss takes, in the same terms.
    pub fn beta(&self, delay: f64, longest: f64) -> f64 {
        let (second, third) = (self.delays[1] * longest, self.delays[2] * longest);
        if delay <= second {
            self.beta_min
        } else if delay >= third {
            self.beta_max
        } else {
            self.beta_min + (self.beta_max - self.beta_min) * (delay - second) / (third - second)
        }
    }
}

/// Illinois: S. Liu, T. Basar, R. Srikant, "TCP-Illinois: A Loss and Delay-Based Congestion Control
/// Algorithm for High-Speed Networks", VALUETOOLS 2006, section 3. Losses say that it must shrink;
/// delay says how fast it grows and by how much it shrinks.
#[derive(Clone, Debug)]
pub struct Illinois {
    settings: IllinoisSettings,
    window: Window,
    alpha: f64,
    beta: f64,
    round: Round,
    rtt_sum_s: f64,
    rtt_samples: u32,
    /// `T_max`: longest mean RTT of a round trip.
    longest_s: f64,
    /// Round trips with a short queue since one that was not; at most the patience.
    short: u32,
}

impl Illinois {
    /// Begins with `initial` segments.
    pub fn new(settings: &IllinoisSettings, initial: f64) -> Self {
        Illinois {
            settings: settings.clone(),
            window: Window::new(initial, &settings.slow_start),
            alpha: 1.0,
            beta: settings.beta_max,
            round: Round::default(),
            rtt_sum_s: 0.0,
            rtt_samples: 0,
            longest_s: 0.0,
            short: settings.patience,
        }
    }

    /// Segments that the current round trip adds, and the share that a loss would take now.
    pub fn alpha_and_beta(&self) -> (f64, f64) {
        if self.window.size < self.settings.low_window { (1.0, 0.5) } else { (self.alpha, self.beta) }
    }

    fn judge(&mut self, base_s: f64, mean_s: f64) {
        self.longest_s = self.longest_s.max(mean_s);
        let longest = (self.longest_s - base_s).max(0.0);
        let delay = (mean_s - base_s).max(0.0);
        self.beta = self.settings.beta(delay, longest);
        let alpha = self.settings.alpha(delay, longest);
        if alpha < self.settings.alpha_max {
            self.short = 0;
            self.alpha = alpha;
        } else {
            // A queue that is short for a moment may be another flow's loss.
            self.short = (self.short + 1).min(self.settings.patience);
            if self.short >= self.settings.patience {
                self.alpha = alpha;
            }
        }
    }

    fn target(&self, in_flight: u32) -> f64 {
        self.window.used(in_flight) * (1.0 - self.alpha_and_beta().1)
    }
}

impl CongestionControl for Illinois {
    fn window(&self) -> f64 {
        self.window.size
    }

    fn threshold(&self) -> f64 {
        self.window.threshold
    }

    fn on_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.rtt_sum_s += rtt.as_secs_f64();
            self.rtt_samples += 1;
        }
        if self.round.ended(ack) && self.rtt_samples > 0 {
            let mean_s = self.rtt_sum_s / f64::from(self.rtt_samples);
            (self.rtt_sum_s, self.rtt_samples) = (0.0, 0);
            self.judge(ack.min_rtt.as_secs_f64(), mean_s);
        }
        let rest = self.window.grow(ack);
        if rest > 0.0 {
            self.window.size += rest * (self.alpha_and_beta().0 / self.window.size).min(1.0);
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        self.window.reduce(self.target(congestion.in_flight));
    }

    fn on_timeout(&mut self, _now: Time, in_flight: u32) {
        self.window.collapse(self.target(in_flight));
        // Section 3: what was known of the path may hold no longer.
        (self.alpha, self.beta) = (1.0, self.settings.beta_max);
        self.longest_s = 0.0;
    }

    fn on_spurious(&mut self, _now: Time) {
        self.window.restore();
    }
}
