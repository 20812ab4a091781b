use crate::congestion_control::{Ack, Congestion, CongestionControl};
use crate::slow_start::SlowStartSettings;
use crate::window::Window;
use longhaul_units::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where Linux differs from the paper.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LpRules {
    /// Reno: the random offset of Linux's timestamps keeps delays below the threshold in seven of eight connections.
    #[default]
    Linux,
    /// Early congestion, detected from RTTs.
    Paper,
}

/// TCP-LP's parameters, by the names of its paper; the defaults are those of Linux.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LpSettings {
    /// Growth below the threshold.
    pub slow_start: SlowStartSettings,
    /// Whose rules hold where Linux differs from the paper.
    pub rules: LpRules,
    /// delta: a smoothed delay above this share of the range from the smallest to the largest is an early congestion.
    pub delta: f64,
    /// gamma: weight of a sample in the smoothed delay.
    pub gamma: f64,
    /// The inference phase that follows an early congestion, in RTTs: the window does not grow, and another early
    /// congestion makes it one segment.
    pub inference_rtts: f64,
}

impl Default for LpSettings {
    fn default() -> Self {
        LpSettings {
            slow_start: SlowStartSettings::default(),
            rules: LpRules::default(),
            delta: 0.15,
            gamma: 0.125,
            inference_rtts: 3.0,
        }
    }
}

/// TCP-LP: A. Kuzmanovic, E. Knightly, "TCP-LP: A Distributed Algorithm for Low Priority Data Transfer", INFOCOM 2003,
/// section III. Reno that yields as soon as delays indicate a queue, by the paper's rules.
#[derive(Clone, Debug)]
pub struct Lp {
    settings: LpSettings,
    window: Window,
    delays: Option<Delays>,
    /// When the last early congestion was, and how long its inference phase takes.
    congested: Option<Time>,
    inference: Span,
}

/// The range of delays, in seconds.
#[derive(Clone, Copy, Debug)]
struct Delays {
    smoothed: f64,
    least: f64,
    /// The largest, but for the one that was larger: it may be an outlier.
    most: f64,
    outlier: f64,
}

impl Delays {
    fn first(delay: f64) -> Self {
        Delays { smoothed: delay, least: delay, most: delay, outlier: delay }
    }

    fn add(&mut self, delay: f64, gamma: f64) {
        self.least = self.least.min(delay);
        if delay > self.outlier {
            (self.most, self.outlier) = (self.outlier, delay);
        } else {
            self.most = self.most.max(delay);
        }
        self.smoothed += gamma * (delay - self.smoothed);
    }

    /// Section III-B: the smoothed delay is above the smallest one plus delta times the range.
    fn is_early_congestion(&self, delta: f64) -> bool {
        self.smoothed > self.least + delta * (self.most - self.least)
    }

    /// As in Linux, what is known of the range is what the congestion had, until samples show otherwise.
    fn restart(&mut self) {
        self.least = self.smoothed;
        (self.most, self.outlier) = (2.0 * self.smoothed, 2.0 * self.smoothed);
    }
}

impl Lp {
    /// Begins with `initial` segments.
    pub fn new(settings: &LpSettings, initial: f64) -> Self {
        Lp {
            settings: settings.clone(),
            window: Window::new(initial, &settings.slow_start),
            delays: None,
            congested: None,
            inference: Span::ZERO,
        }
    }

    /// Whether an early congestion was so short ago that the window does not grow.
    pub fn infers(&self, now: Time) -> bool {
        self.congested.is_some_and(|congested| now.since(congested) < self.inference)
    }

    fn measure(&mut self, now: Time, rtt: Span, recovering: bool) {
        let LpSettings { delta, gamma, inference_rtts, .. } = self.settings;
        let delay = rtt.as_secs_f64();
        let delays = self.delays.get_or_insert(Delays::first(delay));
        delays.add(delay, gamma);
        let congested = delays.is_early_congestion(delta);
        if congested {
            delays.restart();
        }
        self.inference = Span::from_ps((rtt.ps() as f64 * inference_rtts) as u64);
        if congested {
            // The end of a recovery decides on the window anyway.
            if !recovering {
                if self.infers(now) {
                    self.window.size = 1.0;
                } else {
                    self.window.yield_to(libm::floor(self.window.size / 2.0));
                }
            }
            self.congested = Some(now);
        }
    }
}

impl CongestionControl for Lp {
    fn window(&self) -> f64 {
        self.window.size
    }

    fn threshold(&self) -> f64 {
        self.window.threshold
    }

    fn on_ack(&mut self, ack: &Ack) {
        // The acknowledgement of a lone segment may have waited for the receiver's timer.
        if let Some(rtt) = ack.rtt.filter(|_| ack.in_flight > 1)
            && self.settings.rules == LpRules::Paper
        {
            self.measure(ack.now, rtt, ack.recovering);
        }
        if !self.infers(ack.now) {
            let rest = self.window.grow(ack);
            self.window.size += rest / self.window.size;
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        self.window.reduce(self.window.used(congestion.in_flight) / 2.0);
    }

    fn on_timeout(&mut self, _now: Time, in_flight: u32) {
        self.window.collapse(self.window.used(in_flight) / 2.0);
    }

    fn on_spurious(&mut self, _now: Time) {
        self.window.restore();
    }
}
