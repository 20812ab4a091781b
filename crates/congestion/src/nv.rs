use crate::congestion_control::{Ack, Congestion, CongestionControl};
use crate::counted_growth::CountedGrowth;
use crate::draws::Draws;
use crate::slow_start::SlowStartSettings;
use crate::window::Window;
use longhaul_random::Stream;
use longhaul_units::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// NV's parameters; the defaults are those of Linux.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NvSettings {
    /// Growth below the threshold.
    pub slow_start: SlowStartSettings,
    /// Segments that may wait in queues: with more the path is congested.
    pub pad: f64,
    /// Within so many segments below the limit, the window neither grows nor shrinks.
    pub pad_buffer: f64,
    /// How often the smallest RTT becomes that of the last period, give or take a quarter by chance.
    pub reset_period_ns: u64,
    /// Congestion without losses leaves at least so many segments.
    pub min_window: f64,
    /// Share of the segments above the limit that a congestion takes.
    pub congestion_decrease: f64,
    /// The slow-start threshold after a congestion without losses, as a multiple of the limit.
    pub threshold_factor: f64,
    /// Weight of a sample in the smoothed RTT.
    pub rtt_weight: f64,
    /// What is left of the window after a loss.
    pub loss_decrease: f64,
    /// Each timeout halves the growth; more decisions than so many without congestion double it again. 0: timeouts do
    /// not change the growth.
    pub slow_growth_decisions: u32,
    /// More decisions than so many without congestion double the growth of Reno. 0: they do not.
    pub fast_growth_decisions: u32,
    /// Samples before the window shrinks without a loss.
    pub decrease_samples: u32,
    /// Samples before the first slow start ends without a loss.
    pub slow_start_samples: u32,
    /// Samples before the window is allowed to grow.
    pub increase_samples: u32,
    /// After more round trips than so many without a decision, with too few samples to shrink, the window does not grow.
    pub stop_rounds: u32,
    /// Round trips before the window shrinks without a loss.
    pub decrease_rounds: u32,
}

impl Default for NvSettings {
    fn default() -> Self {
        NvSettings {
            slow_start: SlowStartSettings::default(),
            pad: 10.0,
            pad_buffer: 2.0,
            reset_period_ns: 5_000_000_000,
            min_window: 2.0,
            congestion_decrease: 38.0 / 128.0,
            threshold_factor: 1.0,
            rtt_weight: 0.5,
            loss_decrease: 819.0 / 1024.0,
            slow_growth_decisions: 8,
            fast_growth_decisions: 0,
            decrease_samples: 60,
            slow_start_samples: 30,
            increase_samples: 20,
            stop_rounds: 10,
            decrease_rounds: 2,
        }
    }
}

/// The smallest RTT is replaced for the first time after so long.
const FIRST_RESET: Span = Span::from_ms(2_000);
/// Rates are in whole units of 100 bit/s, of segments of 1448 bytes, as in Linux with timestamps: it makes a window
/// without a queue one segment too small where they are rounded.
const SEGMENT_RATE_US: f64 = 1448.0 * 80_000.0;
/// Segments that one acknowledgement covers, where it is the only one of a round trip: at first, and at most.
const BATCH: (u64, u64) = (4, 81);
/// A timeout halves the growth at most so many times.
const SLOWEST: i32 = -8;
/// Windows of at least so many acknowledged segments add one.
const FASTEST: f64 = 4.0;

/// NV, New Vegas: L. Brakmo, Linux 6.12, `net/ipv4/tcp_nv.c`. The rate of a round trip times the smallest RTT is the
/// window without a queue; what exceeds it by more than ten segments is congestion.
#[derive(Clone, Debug)]
pub struct Nv {
    settings: NvSettings,
    window: Window,
    growth: CountedGrowth,
    draws: Draws,
    /// RTT samples, smoothed; none since the last recovery.
    smoothed_us: Option<f64>,
    /// Smallest smoothed RTT, and the one that will take its place.
    least_us: f64,
    next_least_us: f64,
    reset_at: Option<Time>,
    /// Since the last decision: the largest rate, samples and round trips.
    max_rate: f64,
    samples: u32,
    rounds: u32,
    /// A round trip has passed when more than this has been acknowledged.
    round_end: u64,
    first_unacked: u64,
    next_sequence: u64,
    may_grow: bool,
    /// Doublings of the growth of Reno.
    doublings: i32,
    /// Decisions without congestion in a row.
    calm_decisions: u32,
    batch: u64,
    /// Until this has been acknowledged, nothing is measured.
    recovery_end: Option<u64>,
}

impl Nv {
    /// Begins with `initial` segments.
    pub fn new(settings: &NvSettings, initial: f64) -> Self {
        Nv {
            settings: settings.clone(),
            window: Window::new(initial, &settings.slow_start),
            growth: CountedGrowth::default(),
            draws: Draws::new("nv"),
            smoothed_us: None,
            least_us: f64::INFINITY,
            next_least_us: f64::INFINITY,
            reset_at: None,
            max_rate: 0.0,
            samples: 0,
            rounds: 0,
            round_end: 0,
            first_unacked: 0,
            next_sequence: 0,
            may_grow: true,
            doublings: 0,
            calm_decisions: 0,
            batch: BATCH.0,
            recovery_end: None,
        }
    }

    /// The window that is congested if it is larger: what the path holds without a queue, and the pad.
    pub fn limit(&self) -> f64 {
        libm::floor(self.max_rate * self.least_us / SEGMENT_RATE_US) + self.settings.pad
    }

    /// Whether a recovery is under way; measurements begin anew after it.
    fn recovers(&mut self, ack: &Ack) -> bool {
        let Some(end) = self.recovery_end else { return false };
        if ack.recovering || ack.first_unacked < end {
            return true;
        }
        self.restart();
        false
    }

    fn restart(&mut self) {
        self.recovery_end = None;
        self.smoothed_us = None;
        (self.max_rate, self.samples, self.rounds, self.calm_decisions) = (0.0, 0, 0, 0);
        self.round_end = self.first_unacked;
    }

    /// Takes an RTT, and the segments that were delivered in it.
    fn measure(&mut self, now: Time, rtt: Span, delivered: u32) {
        let rtt_us = (rtt.ps() / 1_000_000).max(1) as f64;
        let weight = self.settings.rtt_weight;
        let smoothed = if let Some(smoothed) = self.smoothed_us {
            libm::floor(rtt_us * weight + smoothed * (1.0 - weight)).max(1.0)
        } else {
            self.least_us = rtt_us;
            rtt_us
        };
        self.smoothed_us = Some(smoothed);
        let rate = libm::floor(f64::from(delivered) * SEGMENT_RATE_US / smoothed);
        self.max_rate = self.max_rate.max(rate);
        self.samples = self.samples.saturating_add(1);
        self.least_us = self.least_us.min(smoothed);
        self.next_least_us = self.next_least_us.min(smoothed);
        if now >= *self.reset_at.get_or_insert(now + FIRST_RESET) {
            // From three quarters of the period to five quarters, in steps of 1/512.
            let steps = 384 + self.draws.next().below(256);
            let period_ns = self.settings.reset_period_ns as f64 * steps as f64 / 512.0;
            self.reset_at = Some(now + Span::from_ns(period_ns as u64));
            self.least_us = std::mem::replace(&mut self.next_least_us, f64::INFINITY);
            self.batch = (self.batch / 2).max(BATCH.0);
        }
    }

    /// The end of a round trip; the acknowledgement that ends it is for `acked` segments.
    fn end_round(&mut self, acked: u64) {
        self.round_end = self.next_sequence;
        self.rounds = self.rounds.saturating_add(1);
        if self.samples == 1 && acked + 1 >= self.batch && self.batch < BATCH.1 {
            // With one acknowledgement for the whole window, it is too small to tell.
            self.batch = (self.batch + 2).min(BATCH.1);
            self.round_end += self.batch;
            self.samples = 0;
            self.may_grow = true;
            return;
        }
        let limit = self.limit();
        let decided = if self.window.size > limit {
            self.decides_on_congestion(limit)
        } else {
            self.window.size <= limit - self.settings.pad_buffer && self.decides_to_grow()
        };
        if decided {
            (self.max_rate, self.samples, self.rounds) = (0.0, 0, 0);
            self.window.size = self.window.size.max(self.settings.min_window);
        }
    }

    fn decides_on_congestion(&mut self, limit: f64) -> bool {
        let NvSettings { decrease_rounds, slow_start_samples, decrease_samples, stop_rounds, .. } =
            self.settings;
        if self.rounds < decrease_rounds {
            return false;
        }
        if self.window.threshold.is_infinite() {
            if self.samples < slow_start_samples {
                return false;
            }
        } else if self.samples < decrease_samples {
            if self.rounds > stop_rounds {
                self.may_grow = false;
            }
            return false;
        }
        self.may_grow = false;
        let excess = self.window.size - limit;
        let taken = if excess > 2.0 {
            libm::floor(excess * self.settings.congestion_decrease).max(2.0)
        } else {
            excess
        };
        self.window.leave_slow_start();
        self.window.size = (self.window.size - taken).max(1.0);
        self.window.threshold = libm::floor(limit * self.settings.threshold_factor).max(2.0);
        self.doublings = self.doublings.min(0);
        self.calm_decisions = 0;
        true
    }

    fn decides_to_grow(&mut self) -> bool {
        if self.samples < self.settings.increase_samples {
            return false;
        }
        self.may_grow = true;
        self.calm_decisions = self.calm_decisions.saturating_add(1);
        let NvSettings { slow_growth_decisions, fast_growth_decisions, .. } = self.settings;
        let every = if self.doublings < 0 { slow_growth_decisions } else { fast_growth_decisions };
        if every > 0 && self.calm_decisions > every {
            self.doublings = (self.doublings + 1).min(62);
            self.calm_decisions = 0;
        }
        true
    }

    fn grow(&mut self, ack: &Ack) {
        if !self.may_grow {
            return;
        }
        let rest = self.window.grow(ack);
        if rest > 0.0 {
            let every = libm::floor(libm::ldexp(self.window.size, -self.doublings));
            let least = if self.doublings < 0 { 1.0 } else { FASTEST };
            self.window.size += self.growth.add(rest, every.max(least));
        }
    }

    fn target(&mut self, in_flight: u32) -> f64 {
        self.may_grow = false;
        self.growth.reset();
        libm::floor(self.window.used(in_flight) * self.settings.loss_decrease)
    }
}

impl CongestionControl for Nv {
    fn window(&self) -> f64 {
        self.window.size
    }

    fn threshold(&self) -> f64 {
        self.window.threshold
    }

    fn on_start(&mut self, chance: &mut Stream) {
        self.draws.seed_from(chance);
    }

    fn on_ack(&mut self, ack: &Ack) {
        if self.recovers(ack) {
            (self.first_unacked, self.next_sequence) = (ack.first_unacked, ack.next_sequence);
            return;
        }
        if let (Some(rtt), Some(delivery)) = (ack.rtt, ack.delivery)
            && !ack.recovering
        {
            let acked = ack.first_unacked.saturating_sub(self.first_unacked);
            (self.first_unacked, self.next_sequence) = (ack.first_unacked, ack.next_sequence);
            if delivery.delivered > 0 {
                self.measure(ack.now, rtt, delivery.delivered);
                if ack.first_unacked > self.round_end {
                    self.end_round(acked);
                }
            }
        }
        self.grow(ack);
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let target = self.target(congestion.in_flight);
        self.window.reduce(target);
        self.recovery_end = Some(congestion.next_sequence);
    }

    fn on_timeout(&mut self, _now: Time, in_flight: u32) {
        let target = self.target(in_flight);
        self.window.collapse(target);
        self.recovery_end = Some(self.next_sequence);
        self.doublings = self.doublings.min(0);
        if self.settings.slow_growth_decisions > 0 {
            self.doublings = (self.doublings - 1).max(SLOWEST);
        }
    }

    fn on_spurious(&mut self, _now: Time) {
        self.window.restore();
        self.restart();
    }
}
