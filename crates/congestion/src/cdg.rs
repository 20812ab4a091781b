use crate::congestion_control::{Ack, Congestion, CongestionControl};
use crate::counted_growth::CountedGrowth;
use crate::draws::Draws;
use crate::gradients::{Extremes, Gradients};
use crate::hystart::HyStartSettings;
use crate::slow_start::SlowStartSettings;
use crate::window::Window;
use longhaul_random::Stream;
use longhaul_units::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// CDG's parameters; the defaults are those of Linux.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CdgSettings {
    /// Growth below the threshold: by default `HyStart` at any window, without a smallest or largest rise of the RTT.
    pub slow_start: SlowStartSettings,
    /// Round trips whose gradients are added up, at most 256.
    pub gradient_rounds: u32,
    /// The probability of a backoff is 1 - exp(-f g), where f is this and g the sum of the gradients in seconds. With the
    /// paper's G in seconds it is 1/G, divided by the number of gradients.
    pub backoff_factor: f64,
    /// beta: what is left of the window after a backoff.
    pub backoff_beta: f64,
    /// After so many backoffs in a row that leave the RTT as long as it was, it waits for losses. 0: never.
    pub ineffective_backoffs: u32,
    /// Whether a loss leaves at least half of the window that it would have without backoffs.
    pub shadow_window: bool,
    /// Whether losses beside a queue that is not full leave the window as it is.
    pub loss_tolerance: bool,
}

impl Default for CdgSettings {
    fn default() -> Self {
        CdgSettings {
            slow_start: SlowStartSettings::HyStart(HyStartSettings {
                low_window: 0.0,
                ack_delta_ns: 3_000_000,
                ack_delay_ns: 0,
                rtt_samples: 8,
                min_rtt_threshold_ns: 0,
                max_rtt_threshold_ns: 1_000_000_000_000,
                min_rtt_divisor: 8,
            }),
            gradient_rounds: 8,
            backoff_factor: 42.0,
            backoff_beta: 724.0 / 1024.0,
            ineffective_backoffs: 5,
            shadow_window: true,
            loss_tolerance: false,
        }
    }
}

/// A sum of gradients at or below this, in microseconds, shows that backoffs shorten the queue.
const EFFECTIVE_US: i64 = -32;
/// Acknowledgements of one segment that may have been delayed, at most, after those of several.
const MOST_DELAYED: u32 = 5;
/// Idle periods are longer than the RTT by at least this: the least that Linux adds to the retransmission timeout.
const IDLE: Span = Span::from_ms(200);

/// CDG: D. Hayes, G. Armitage, "Revisiting TCP Congestion Control Using Delay Gradients", IFIP Networking 2011, section
/// 3. Reno that also backs off by chance, the more likely the faster the smallest or the largest RTT of round trips rises.
/// A shadow window follows what the window would be without backoffs, for the losses of flows that do not back off.
#[derive(Clone, Debug)]
pub struct Cdg {
    settings: CdgSettings,
    window: Window,
    growth: CountedGrowth,
    draws: Draws,
    gradients: Gradients,
    /// RTTs of this round trip, and of the one before.
    rtts: Option<Extremes>,
    earlier: Option<Extremes>,
    /// A round trip has passed when more than this has been acknowledged.
    round_end: u64,
    /// Next acknowledgements of one segment that count as delayed.
    delayed: u32,
    shadow: f64,
    /// Backoffs since the last one that shortened the queue.
    backoffs: u32,
    /// By the gradients, the queue is not full: a loss is one by chance, if that is tolerated.
    tolerates_loss: bool,
    reduction: Option<Reduction>,
    next_sequence: u64,
    /// The last acknowledgement, and the RTT then.
    last_ack: Option<(Time, Span)>,
}

/// A window on its way down, which lasts a round trip, as in Linux: it does not grow meanwhile.
#[derive(Clone, Copy, Debug)]
struct Reduction {
    from: f64,
    to: f64,
    /// It ends when more than this has been acknowledged.
    until: u64,
    delivered: f64,
}

impl Reduction {
    /// RFC 6937: what leaves is to what is delivered as the two windows.
    fn window(&self) -> f64 {
        let taken = libm::floor(self.delivered * (self.from - self.to) / self.from);
        (self.from - taken).max(self.to)
    }
}

impl Cdg {
    /// Begins with `initial` segments.
    pub fn new(settings: &CdgSettings, initial: f64) -> Self {
        let window = Window::new(initial, &settings.slow_start);
        Cdg {
            shadow: window.size,
            window,
            growth: CountedGrowth::default(),
            draws: Draws::new("cdg"),
            gradients: Gradients::new(settings.gradient_rounds),
            rtts: None,
            earlier: None,
            round_end: 0,
            delayed: 0,
            backoffs: 0,
            tolerates_loss: false,
            reduction: None,
            next_sequence: 0,
            last_ack: None,
            settings: settings.clone(),
        }
    }

    /// The window without backoffs, in segments.
    pub fn shadow_window(&self) -> f64 {
        self.shadow
    }

    fn measure(&mut self, ack: &Ack, rtt: Span) {
        let rtt_us = microseconds(rtt);
        if rtt_us == 0 {
            return;
        }
        if ack.acked == ack.delivered && !ack.recovering {
            if ack.acked == 1 && self.delayed > 0 {
                // Delayed by the receiver: at most a smallest RTT.
                self.delayed -= 1;
                if let Some(rtts) = &mut self.rtts {
                    rtts.min_us = rtts.min_us.min(rtt_us);
                }
                return;
            }
            if ack.acked > 1 {
                self.delayed = (self.delayed + 1).min(MOST_DELAYED);
            }
        }
        self.rtts = Some(self.rtts.map_or(Extremes::of(rtt_us), |rtts| rtts.with(rtt_us)));
    }

    /// The end of a round trip with `rtts`; whether the window backs off.
    fn ends_in_backoff(&mut self, rtts: Extremes) -> bool {
        let Some(earlier) = self.earlier.replace(rtts) else { return false };
        let gradient = self.gradients.add(rtts.minus(earlier));
        let sums = self.gradients.sums();
        if sums.min_us <= EFFECTIVE_US || sums.max_us <= EFFECTIVE_US {
            self.backoffs = 0;
        }
        if self.settings.loss_tolerance {
            // A queue is full where the smallest RTT still rises, and the largest one no longer does.
            let (min, max) = (round_div(sums.min_us, 64), round_div(sums.max_us, 64));
            if min > 0 && max <= 0 {
                self.tolerates_loss = false;
            } else if min > 0 || max < 0 {
                self.tolerates_loss = true;
            }
        }
        gradient > 0 && self.draws_backoff(gradient)
    }

    /// Section 3.1: with the probability 1 - exp(-g/G).
    fn draws_backoff(&mut self, gradient_us: i64) -> bool {
        let stays = libm::exp(-1e-6 * self.settings.backoff_factor * gradient_us as f64);
        if self.draws.next().uniform() <= stays {
            return false;
        }
        let most = self.settings.ineffective_backoffs;
        self.backoffs = self.backoffs.saturating_add(1);
        most == 0 || self.backoffs <= most
    }

    fn back_off(&mut self, until: u64) {
        let from = self.window.size;
        self.shadow = self.shadow.max(from);
        self.window.reduce(libm::floor(from * self.settings.backoff_beta));
        let to = self.window.size;
        self.window.size = from.max(to);
        self.growth.reset();
        self.reduction = Some(Reduction { from: from.max(to), to, until, delivered: 0.0 });
    }

    /// Whether the window is on its way down.
    fn reduces(&mut self, ack: &Ack) -> bool {
        let Some(reduction) = &mut self.reduction else { return false };
        if ack.first_unacked > reduction.until {
            self.complete_reduction();
            return false;
        }
        reduction.delivered += f64::from(ack.delivered);
        self.window.size = reduction.window();
        true
    }

    fn complete_reduction(&mut self) {
        if let Some(reduction) = self.reduction.take() {
            self.window.size = reduction.to;
        }
        self.tolerates_loss = false;
        self.round_end = self.next_sequence;
        self.earlier = self.rtts.take();
    }

    /// What a loss leaves; it takes from the shadow window, too. Section 3.3.
    fn target(&mut self, in_flight: u32) -> f64 {
        if let Some(reduction) = self.reduction.take() {
            return reduction.to;
        }
        let used = libm::floor(self.window.used(in_flight));
        if self.tolerates_loss {
            return used;
        }
        self.shadow = libm::floor(self.shadow / 2.0).min(used);
        let half = libm::floor(used / 2.0);
        if self.settings.shadow_window { half.max(self.shadow) } else { half }
    }
}

fn microseconds(rtt: Span) -> i64 {
    (rtt.ps() / 1_000_000) as i64
}

/// The quotient, rounded to the nearest.
fn round_div(dividend: i64, divisor: i64) -> i64 {
    (dividend + dividend.signum() * (divisor / 2)) / divisor
}

impl CongestionControl for Cdg {
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
        self.next_sequence = ack.next_sequence;
        if let Some(rtt) = ack.rtt {
            // The smallest RTT of a first acknowledgement is that of the handshake, which Linux measures, too.
            let handshake_us = microseconds(ack.min_rtt);
            if self.last_ack.is_none() && handshake_us > 0 {
                self.rtts = Some(Extremes::of(handshake_us));
            }
            self.measure(ack, rtt);
        }
        self.last_ack = Some((ack.now, ack.srtt));
        if ack.recovering || self.reduces(ack) || ack.acked == 0 {
            return;
        }
        if ack.first_unacked > self.round_end
            && let Some(rtts) = self.rtts.take()
        {
            self.round_end = ack.next_sequence;
            if self.ends_in_backoff(rtts) {
                self.back_off(ack.next_sequence);
                return;
            }
        }
        if !ack.window_limited {
            self.shadow = self.shadow.min(self.window.size);
            return;
        }
        let before = self.window.size;
        let rest = self.window.grow(ack);
        if rest > 0.0 {
            let size = self.window.size;
            self.window.size += self.growth.add(rest, size);
        }
        self.shadow += self.window.size - before;
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let target = self.target(congestion.in_flight);
        self.window.reduce(target);
        self.growth.reset();
        let to = self.window.size;
        let until = congestion.next_sequence;
        self.reduction = Some(Reduction { from: to, to, until, delivered: 0.0 });
    }

    fn on_timeout(&mut self, _now: Time, in_flight: u32) {
        let target = self.target(in_flight);
        self.window.collapse(target);
        self.growth.reset();
    }

    fn on_recovered(&mut self, _now: Time) {
        self.complete_reduction();
    }

    fn on_spurious(&mut self, _now: Time) {
        self.reduction = None;
        self.window.restore();
    }

    fn on_sent(&mut self, now: Time, in_flight: u32) {
        // After an idle period the path may be another one.
        if in_flight == 0
            && let Some((last, rtt)) = self.last_ack
            && now.since(last) > rtt + IDLE
        {
            self.gradients = Gradients::new(self.settings.gradient_rounds);
            (self.rtts, self.earlier, self.reduction) = (None, None, None);
            (self.delayed, self.backoffs, self.tolerates_loss) = (0, 0, false);
            self.round_end = self.next_sequence;
            self.shadow = self.window.size;
        }
    }
}
