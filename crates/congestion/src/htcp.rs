use crate::congestion_control::{Ack, Congestion, CongestionControl};
use crate::round::Round;
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
    /// A change of throughput between two congestions by more than this share makes the factor 0.5.
    pub bandwidth_switch: f64,
    /// Divides the growth by 0.1 s/RTTmin, between 0.5 and 10, so that long and short round trips
    /// grow alike per second (section 3.4; Linux has it on).
    pub rtt_scaling: bool,
}

impl Default for HtcpSettings {
    fn default() -> Self {
        HtcpSettings {
            slow_start: SlowStartSettings::default(),
            low_speed_ns: 1_000_000_000,
            adaptive_backoff: true,
            bandwidth_switch: 0.2,
            rtt_scaling: false,
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

/// H-TCP: D. Leith, R. Shorten, "H-TCP: TCP for high-speed and long-distance networks", PFLDnet 2004;
/// draft-leith-tcp-htcp-06. The longer ago the last congestion, the faster the window grows.
#[derive(Clone, Debug)]
pub struct Htcp {
    settings: HtcpSettings,
    window: Window,
    congested: Option<Time>,
    beta: f64,
    /// Largest RTT since the last congestion, and smallest of all.
    max_rtt: Span,
    min_rtt: Span,
    /// Segments per second: the most of any round trip since the last congestion.
    bandwidth: f64,
    last_bandwidth: f64,
    round: Round,
    round_began: Time,
    round_delivered: u32,
    before: Option<(Option<Time>, f64)>,
}

impl Htcp {
    /// Begins with `initial` segments.
    pub fn new(settings: &HtcpSettings, initial: f64) -> Self {
        Htcp {
            settings: settings.clone(),
            window: Window::new(initial, &settings.slow_start),
            congested: None,
            beta: 0.5,
            max_rtt: Span::ZERO,
            min_rtt: Span::ZERO,
            bandwidth: 0.0,
            last_bandwidth: 0.0,
            round: Round::default(),
            round_began: Time::ZERO,
            round_delivered: 0,
            before: None,
        }
    }

    fn increment(&self, now: Time) -> f64 {
        let Some(congested) = self.congested else { return 1.0 };
        let mut alpha = self.settings.increase(now.since(congested));
        if self.settings.rtt_scaling && self.min_rtt > Span::ZERO {
            alpha = (alpha / (0.1 / self.min_rtt.as_secs_f64()).clamp(0.5, 10.0)).max(1.0);
        }
        2.0 * (1.0 - self.beta) * alpha
    }

    fn measure(&mut self, ack: &Ack) {
        self.max_rtt = self.max_rtt.max(ack.rtt.unwrap_or_default());
        self.min_rtt = ack.min_rtt;
        self.round_delivered += ack.delivered;
        if self.round.ended(ack) {
            let seconds = ack.now.since(self.round_began).as_secs_f64();
            if seconds > 0.0 && self.round_began > Time::ZERO {
                self.bandwidth = self.bandwidth.max(f64::from(self.round_delivered) / seconds);
            }
            self.round_began = ack.now;
            self.round_delivered = 0;
        }
    }

    /// Section 3.2: the factor of this congestion.
    fn backoff(&mut self, now: Time) -> f64 {
        self.before = Some((self.congested, self.beta));
        let change = (self.bandwidth - self.last_bandwidth).abs();
        let steady = change <= self.settings.bandwidth_switch * self.last_bandwidth;
        self.beta = if self.settings.adaptive_backoff && steady && self.max_rtt > Span::ZERO {
            (self.min_rtt.as_secs_f64() / self.max_rtt.as_secs_f64()).clamp(0.5, 0.8)
        } else {
            0.5
        };
        self.last_bandwidth = self.bandwidth;
        self.bandwidth = 0.0;
        self.max_rtt = Span::ZERO;
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

    fn on_spurious(&mut self, _now: Time) {
        self.window.restore();
        if let Some((congested, beta)) = self.before.take() {
            (self.congested, self.beta) = (congested, beta);
        }
    }
}
