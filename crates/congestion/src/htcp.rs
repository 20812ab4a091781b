use crate::congestion_control::{Ack, Congestion, CongestionControl};
use crate::slow_start::SlowStartSettings;
use crate::window::Window;
use longhaul_units::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// H-TCP's parameters, by the names of draft-leith-tcp-htcp-06.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HtcpSettings {
    /// Growth below the threshold.
    pub slow_start: SlowStartSettings,
    /// `Delta_L`: until so long after a congestion it is Reno.
    pub low_speed_ns: u64,
    /// The factor after a congestion is RTTmin/RTTmax, between 0.5 and 0.8; otherwise 0.5.
    pub adaptive_backoff: bool,
    /// A change of throughput between two congestions by more than this share makes the factor 0.5, and that of
    /// the next congestion, too.
    pub bandwidth_switch: f64,
    /// Divides the growth by 0.1 s/RTTmin, between 0.5 and 10, so that long and short round trips
    /// grow alike per second (section 3.4), rounded down, at least 1.
    pub rtt_scaling: bool,
}

impl Default for HtcpSettings {
    fn default() -> Self {
        HtcpSettings {
            slow_start: SlowStartSettings::default(),
            low_speed_ns: 1_000_000_000,
            adaptive_backoff: true,
            bandwidth_switch: 0.2,
            rtt_scaling: true,
        }
    }
}

impl HtcpSettings {
    /// The segments that a round trip adds so long after a congestion, before it is scaled.
    pub fn increase(&self, since: Span) -> f64 {
        let beyond = since.saturating_sub(Span::from_ns(self.low_speed_ns)).as_secs_f64();
        1.0 + 10.0 * beyond + 0.25 * beyond * beyond
    }
}

/// With a smaller `RTTmin` the factor is 0.5.
const LEAST_RTT: Span = Span::from_ms(10);
/// `RTTmax` rises by so much at a time: an RTT beyond it is an outlier.
const MOST_RISE: Span = Span::from_ms(20);
/// What a congestion leaves of the difference between `RTTmax` and `RTTmin`.
const FADING: f64 = 0.95;

/// H-TCP: D. Leith, R. Shorten, "H-TCP: TCP for high-speed and long-distance networks", PFLDnet 2004;
/// draft-leith-tcp-htcp-06. The longer ago the last congestion, the faster the window grows. Where the draft leaves
/// something open, as in Linux.
#[derive(Clone, Debug)]
pub struct Htcp {
    settings: HtcpSettings,
    window: Window,
    congested: Option<Time>,
    beta: f64,
    /// Whether throughput was steady at the last congestion.
    steady: bool,
    max_rtt: Span,
    min_rtt: Span,
    bandwidth: Bandwidth,
    before: Option<Before>,
}

/// What a reduction that turns out to be for nothing has to restore.
#[derive(Clone, Copy, Debug)]
struct Before {
    congested: Option<Time>,
    beta: f64,
    max_rtt: Span,
    last_bandwidth: f64,
}

/// Throughput in segments per second.
#[derive(Clone, Copy, Debug, Default)]
struct Bandwidth {
    mean: f64,
    /// The largest mean since the last congestion, and that at the last congestion.
    most: f64,
    last: f64,
    /// The round trip that is being measured.
    began: Time,
    delivered: u32,
}

impl Bandwidth {
    fn restart(&mut self, now: Time) {
        (self.began, self.delivered) = (now, 0);
    }

    /// Counts `delivered` segments of a window of `window`. `afresh`: samples of before do not count.
    fn count(&mut self, now: Time, delivered: u32, window: f64, min_rtt: Span, afresh: bool) {
        self.delivered += delivered;
        let span = now.since(self.began);
        if f64::from(self.delivered) < window || span < min_rtt || span == Span::ZERO {
            return;
        }
        let sample = f64::from(self.delivered) / span.as_secs_f64();
        if afresh {
            (self.mean, self.most) = (sample, sample);
        } else {
            self.mean = 0.75 * self.mean + 0.25 * sample;
            self.most = self.most.max(self.mean);
        }
        self.restart(now);
    }

    /// A congestion: whether throughput has changed by `share` of the last one's at most.
    fn is_steady(&mut self, share: f64) -> bool {
        let change = (self.most - self.last).abs();
        let steady = change <= share * self.last;
        self.last = self.most;
        steady
    }
}

impl Htcp {
    /// Begins with `initial` segments.
    pub fn new(settings: &HtcpSettings, initial: f64) -> Self {
        Htcp {
            settings: settings.clone(),
            window: Window::new(initial, &settings.slow_start),
            congested: None,
            beta: 0.5,
            steady: false,
            max_rtt: Span::ZERO,
            min_rtt: Span::ZERO,
            bandwidth: Bandwidth::default(),
            before: None,
        }
    }

    fn increment(&self, now: Time) -> f64 {
        let Some(congested) = self.congested else { return 1.0 };
        let mut alpha = self.settings.increase(now.since(congested));
        if self.settings.rtt_scaling && self.min_rtt > Span::ZERO {
            let scale = (0.1 / self.min_rtt.as_secs_f64()).clamp(0.5, 10.0);
            alpha = libm::floor(alpha / scale).max(1.0);
        }
        2.0 * (1.0 - self.beta) * alpha
    }

    fn measure(&mut self, ack: &Ack) {
        self.min_rtt = ack.min_rtt;
        // Without a congestion the connection's beginning counts.
        let congested = *self.congested.get_or_insert(ack.now);
        if ack.recovering {
            self.bandwidth.restart(ack.now);
            return;
        }
        if let Some(rtt) = ack.rtt {
            self.max_rtt = self.max_rtt.max(self.min_rtt);
            if rtt <= self.max_rtt + MOST_RISE {
                self.max_rtt = self.max_rtt.max(rtt);
            }
        }
        // In the first round trips after a congestion.
        let afresh = ack.now.since(congested).ps() < 4 * self.min_rtt.ps();
        self.bandwidth.count(ack.now, ack.delivered, self.window.size - 1.0, self.min_rtt, afresh);
    }

    /// Section 3.2: the factor of this congestion.
    fn backoff(&mut self, now: Time) -> f64 {
        self.before = Some(Before {
            congested: self.congested,
            beta: self.beta,
            max_rtt: self.max_rtt,
            last_bandwidth: self.bandwidth.last,
        });
        let was_steady = self.steady;
        self.steady = self.bandwidth.is_steady(self.settings.bandwidth_switch);
        let adapts = self.settings.adaptive_backoff && was_steady && self.steady && self.min_rtt > LEAST_RTT;
        self.beta = if adapts {
            (self.min_rtt.as_secs_f64() / self.max_rtt.as_secs_f64()).clamp(0.5, 0.8)
        } else {
            0.5
        };
        let beyond = self.max_rtt.saturating_sub(self.min_rtt);
        self.max_rtt = self.min_rtt + Span::from_ps((beyond.ps() as f64 * FADING) as u64);
        self.congested = Some(now);
        self.beta
    }
}

impl CongestionControl for Htcp {
    fn window(&self) -> f64 {
        self.window.size
    }

    fn threshold(&self) -> f64 {
        self.window.threshold
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.measure(ack);
        let rest = self.window.grow(ack);
        if rest > 0.0 {
            self.window.size += rest * (self.increment(ack.now) / self.window.size).min(1.0);
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let target = self.backoff(congestion.now) * self.window.used(congestion.in_flight);
        self.window.reduce(target);
    }

    fn on_timeout(&mut self, now: Time, in_flight: u32) {
        let target = self.backoff(now) * self.window.used(in_flight);
        self.window.collapse(target);
    }

    fn on_recovered(&mut self, now: Time) {
        // Unless it was for nothing.
        if self.before.is_some() {
            self.congested = Some(now);
        }
    }

    fn on_spurious(&mut self, _now: Time) {
        self.window.restore();
        if let Some(before) = self.before.take() {
            (self.congested, self.beta, self.max_rtt) = (before.congested, before.beta, before.max_rtt);
            self.bandwidth.last = before.last_bandwidth;
        }
    }
}
