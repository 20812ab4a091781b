use crate::congestion_control::{Ack, Congestion, CongestionControl};
use crate::slow_start::SlowStartSettings;
use crate::window::Window;
use longhaul_units::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where Linux differs from the RFC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CubicRules {
    /// Reno's estimate grows by one alpha for good, and the window follows it within a round trip; the curve is
    /// read one smallest RTT ahead; a timeout forgets the maximum.
    #[default]
    Linux,
    /// RFC 9438: alpha is 1 from the window of the last loss on (section 4.3), the window is at least the
    /// estimate, and the curve is read one smoothed RTT ahead (section 4.2).
    Rfc9438,
}

/// CUBIC's parameters, by the names of RFC 9438, section 4.1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CubicSettings {
    /// Growth below the threshold.
    pub slow_start: SlowStartSettings,
    /// C, in segments per second cubed.
    pub c: f64,
    /// `beta_cubic`: what is left of the window after a loss.
    pub beta: f64,
    /// After a loss below the last maximum, aim lower than where it happened (section 4.7).
    pub fast_convergence: bool,
    /// Never slower than Reno would be (section 4.3).
    pub reno_friendly: bool,
    /// Whose rules hold where Linux differs from the RFC.
    pub rules: CubicRules,
    /// Until the first loss a round trip adds at least this share of the window; the RFC has 0.
    pub first_growth: f64,
    /// Beyond the last maximum, at most so many segments per second; `None`: no limit, as in the RFC.
    pub max_growth_per_s: Option<f64>,
}

impl Default for CubicSettings {
    fn default() -> Self {
        CubicSettings {
            slow_start: SlowStartSettings::hystart(),
            c: 0.4,
            beta: 0.7,
            fast_convergence: true,
            reno_friendly: true,
            rules: CubicRules::Linux,
            first_growth: 0.05,
            max_growth_per_s: None,
        }
    }
}

impl CubicSettings {
    /// As RFC 9438 recommends it, with HyStart++.
    pub fn rfc9438() -> Self {
        CubicSettings {
            slow_start: SlowStartSettings::hystart_plus_plus(),
            rules: CubicRules::Rfc9438,
            first_growth: 0.0,
            ..CubicSettings::default()
        }
    }

    /// As Linux 2.6.22 had it: a smaller step back, no HyStart, and at most 16 segments per 0.1 s
    /// beyond the last maximum.
    pub fn linux_2_6_22() -> Self {
        CubicSettings {
            slow_start: SlowStartSettings::default(),
            beta: 819.0 / 1024.0,
            first_growth: 0.02,
            max_growth_per_s: Some(160.0),
            ..CubicSettings::default()
        }
    }

    /// K: the seconds from a window of `from` segments to one of `maximum` (equation 2); 0 if there is
    /// nothing to climb.
    pub fn k_s(&self, maximum: f64, from: f64) -> f64 {
        climb_s(self.c, maximum - from)
    }
}

fn climb_s(c: f64, segments: f64) -> f64 {
    libm::cbrt(segments.max(0.0) / c)
}

/// One stage of congestion avoidance (RFC 9438, section 4.2).
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Time,
    k_s: f64,
    /// The plateau of the curve: `W_max`, or the first window where that was higher.
    origin: f64,
    /// `W_est`: where Reno would be.
    estimate: f64,
}

/// CUBIC (RFC 9438), with what Linux does otherwise.
#[derive(Clone, Debug)]
pub struct Cubic {
    rules: CubicRules,
    c: f64,
    beta: f64,
    fast_convergence: bool,
    reno_friendly: bool,
    first_growth: f64,
    /// Infinite: no limit.
    max_growth_per_s: f64,
    window: Window,
    /// `W_max`; 0 before the first congestion.
    maximum: f64,
    /// `cwnd_prior`: the window at the last reduction.
    prior: f64,
    epoch: Option<Epoch>,
    /// The next stage begins on its plateau: after a timeout, or a slow start that ended by itself.
    flat: bool,
    last_ack: Time,
    before: Option<Box<Before>>,
}

/// What a reduction that turns out to be for nothing has to restore.
#[derive(Clone, Copy, Debug)]
struct Before {
    maximum: f64,
    prior: f64,
    epoch: Option<Epoch>,
}

impl Cubic {
    /// Begins with `initial` segments.
    pub fn new(settings: &CubicSettings, initial: f64) -> Self {
        Cubic {
            rules: settings.rules,
            c: settings.c,
            beta: settings.beta,
            fast_convergence: settings.fast_convergence,
            reno_friendly: settings.reno_friendly,
            first_growth: settings.first_growth,
            max_growth_per_s: settings.max_growth_per_s.unwrap_or(f64::INFINITY),
            window: Window::new(initial, &settings.slow_start),
            maximum: 0.0,
            prior: f64::INFINITY,
            epoch: None,
            flat: true,
            last_ack: Time::ZERO,
            before: None,
        }
    }

    /// `W_cubic`, `t_s` seconds into `epoch` (equation 1).
    fn curve(&self, epoch: &Epoch, t_s: f64) -> f64 {
        let t = t_s - epoch.k_s;
        self.c * t * t * t + epoch.origin
    }

    fn begin(&mut self, now: Time) -> Epoch {
        let size = self.window.size;
        if self.maximum == 0.0 {
            // Section 4.10: slow start ended without loss.
            self.prior = size;
        }
        // Section 4.8 after a timeout, section 4.10 after slow start without loss: K = 0.
        let (k_s, origin) = if self.flat || size >= self.maximum {
            (0.0, size)
        } else {
            (climb_s(self.c, self.maximum - size), self.maximum)
        };
        Epoch { start: now, k_s, origin, estimate: size }
    }

    fn avoid(&mut self, ack: &Ack, acked: f64, since_last: Span) {
        let mut epoch = match self.epoch {
            Some(epoch) => epoch,
            None => self.begin(ack.now),
        };
        let size = self.window.size;
        let t_s = ack.now.since(epoch.start).as_secs_f64();
        let linux = self.rules == CubicRules::Linux;
        // Section 4.3. Once it is back where it was, what CUBIC stands in for is plain Reno.
        let beta = self.beta;
        let alpha =
            if !linux && epoch.estimate >= self.prior { 1.0 } else { 3.0 * (1.0 - beta) / (1.0 + beta) };
        epoch.estimate += alpha * acked / size;
        let friendly = self.reno_friendly && self.curve(&epoch, t_s) < epoch.estimate;
        if friendly && !linux {
            self.window.size = size.max(epoch.estimate);
        } else {
            // Sections 4.4 and 4.5: where the curve will be one round trip from now.
            let ahead = if linux { ack.min_rtt } else { ack.srtt };
            let mut target = self.curve(&epoch, t_s + ahead.as_secs_f64());
            if linux && self.reno_friendly {
                target = target.max(epoch.estimate);
            }
            if self.maximum == 0.0 {
                target = target.max(size * (1.0 + self.first_growth));
            }
            target = target.clamp(size, 1.5 * size);
            let mut step = ((target - size) * acked / size).min(target - size);
            if self.max_growth_per_s.is_finite() && size >= epoch.origin {
                step = step.min(self.max_growth_per_s * since_last.as_secs_f64());
            }
            self.window.size = size + step;
        }
        self.epoch = Some(epoch);
    }

    fn target(&mut self, used: f64) -> f64 {
        let before = Before { maximum: self.maximum, prior: self.prior, epoch: self.epoch.take() };
        match &mut self.before {
            Some(kept) => **kept = before,
            None => self.before = Some(Box::new(before)),
        }
        let beta = self.beta;
        self.maximum =
            if self.fast_convergence && used < self.maximum { used * (1.0 + beta) / 2.0 } else { used };
        self.prior = used;
        used * beta
    }
}

impl CongestionControl for Cubic {
    fn window(&self) -> f64 {
        self.window.size
    }

    fn threshold(&self) -> f64 {
        self.window.threshold
    }

    fn on_ack(&mut self, ack: &Ack) {
        let since_last = ack.now.since(self.last_ack);
        self.last_ack = ack.now;
        // Time in which the application held back is none of the curve's (section 5.8).
        if !ack.window_limited
            && let Some(epoch) = &mut self.epoch
        {
            epoch.start += since_last;
        }
        let rest = self.window.grow(ack);
        if rest > 0.0 {
            self.avoid(ack, rest, since_last);
        }
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let target = self.target(self.window.used(congestion.in_flight));
        self.window.reduce(target);
        self.flat = false;
    }

    fn on_timeout(&mut self, _now: Time, in_flight: u32) {
        let target = self.target(self.window.used(in_flight));
        self.window.collapse(target);
        self.flat = true;
        if self.rules == CubicRules::Linux {
            self.maximum = 0.0;
        }
    }

    fn on_spurious(&mut self, _now: Time) {
        self.window.restore();
        if let Some(before) = self.before.take() {
            Before { maximum: self.maximum, prior: self.prior, epoch: self.epoch } = *before;
        }
    }
}
