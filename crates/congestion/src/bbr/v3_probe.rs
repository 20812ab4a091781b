use super::BbrPhase;
use super::model::{Sample, left_in_flight};
use super::v3::{Bbr3, ShortTerm};
use crate::congestion_control::Ack;
use longhaul_units::{Span, Time};

/// What the samples of this acknowledgement are feedback to (the draft's `ack_phase`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Feedback {
    #[default]
    None,
    Refilling,
    Starting,
    Probing,
    Stopping,
}

/// The state of the search for bandwidth (section 5.3.3.9).
#[derive(Clone, Debug)]
pub(super) struct Probe {
    pub(super) feedback: Feedback,
    /// `is_bw_probe_sample`: a loss now is an answer to this probe, the first one.
    pub(super) sampling: bool,
    too_high: bool,
    precautionary: bool,
    pub(super) rounds_since_up: u64,
    cycle_began: Time,
    wait: Span,
    up_rounds: u32,
    up_acked: f64,
    /// Segments to be acknowledged for each that the long-term bound grows.
    acked_per_step: f64,
}

impl Default for Probe {
    fn default() -> Self {
        Probe {
            feedback: Feedback::None,
            sampling: false,
            too_high: false,
            precautionary: false,
            rounds_since_up: 0,
            cycle_began: Time::ZERO,
            wait: Span::ZERO,
            up_rounds: 0,
            up_acked: 0.0,
            acked_per_step: f64::INFINITY,
        }
    }
}

impl Bbr3 {
    fn probes_bandwidth(&self) -> bool {
        matches!(self.phase, BbrPhase::Down | BbrPhase::Cruise | BbrPhase::Refill | BbrPhase::Up)
    }

    /// Section 5.5.10.2.
    pub(super) fn too_high(&self, sample: &Sample) -> bool {
        sample.lost > sample.in_flight_at_send * self.settings.loss_threshold
    }

    /// Section 5.5.10.2: remembers what was in flight, and stops probing.
    pub(super) fn probed_too_high(&mut self, now: Time, sample: &Sample) {
        self.probe.too_high = true;
        self.probe.sampling = false;
        if !sample.app_limited {
            let target = self.bdp().min(self.window);
            self.long_term = self.inflight_at_loss(sample).max(target * self.settings.beta);
        }
        if self.phase == BbrPhase::Up {
            self.probing_was_cut();
            self.go_down(now);
        }
    }

    /// Where losses crossed their threshold: the prefix of the newest segment, solved for.
    fn inflight_at_loss(&self, sample: &Sample) -> f64 {
        let threshold = self.settings.loss_threshold;
        let before = sample.in_flight_at_send - 1.0;
        let lost_before = sample.lost - 1.0;
        (before + (threshold * before - lost_before) / (1.0 - threshold)).max(0.0)
    }

    pub(super) fn go_down(&mut self, now: Time) {
        self.reset_congestion_signals();
        self.probe.acked_per_step = f64::INFINITY;
        // Section 5.3.3.8.3: 2 to 3 s, and one round trip more or less.
        let mut chance = self.draws.next();
        self.probe.rounds_since_up = chance.below(2);
        self.probe.wait = Span::from_ns(2_000_000_000 + (chance.uniform() * 1e9) as u64);
        self.probe.cycle_began = now;
        self.probe.feedback = Feedback::Stopping;
        self.rounds.begin();
        self.phase = BbrPhase::Down;
    }

    pub(super) fn refill(&mut self, _now: Time) {
        self.short_term = ShortTerm::NONE;
        self.probe.up_rounds = 0;
        self.probe.up_acked = 0.0;
        self.probe.precautionary = false;
        self.probe.feedback = Feedback::Refilling;
        self.rounds.begin();
        self.phase = BbrPhase::Refill;
    }

    fn go_up(&mut self, sample: &Sample) {
        self.probe.feedback = Feedback::Starting;
        self.rounds.begin();
        self.plateau.restart(sample.rate);
        self.phase = BbrPhase::Up;
        self.raise_slope();
    }

    /// Growth of the long-term bound doubles each round trip: 1, 2, 4, ... segments.
    fn raise_slope(&mut self) {
        let growth = f64::from(1_u32 << self.probe.up_rounds);
        self.probe.up_rounds = (self.probe.up_rounds + 1).min(30);
        self.probe.acked_per_step = (self.window / growth).max(1.0);
    }

    fn raise_long_term(&mut self, ack: &Ack) {
        if !ack.window_limited || self.window < self.long_term {
            return;
        }
        self.probe.up_acked += f64::from(ack.delivered);
        let steps = libm::floor(self.probe.up_acked / self.probe.acked_per_step);
        if steps >= 1.0 {
            self.probe.up_acked -= steps * self.probe.acked_per_step;
            self.long_term += steps;
        }
        if self.rounds.started {
            self.raise_slope();
        }
    }

    /// The long-term bound, less what is left to others.
    pub(super) fn inflight_with_headroom(&self) -> f64 {
        if self.long_term.is_infinite() {
            return f64::INFINITY;
        }
        let headroom = (self.settings.headroom * self.long_term).max(1.0);
        (self.long_term - headroom).max(self.settings.min_window)
    }

    /// `UpdateProbeBWCyclePhase`.
    pub(super) fn step_probe(&mut self, ack: &Ack, sample: &Sample) {
        if self.adapt_long_term(ack, sample) || !self.probes_bandwidth() {
            return;
        }
        match self.phase {
            BbrPhase::Down => {
                if self.is_time_to_probe(ack.now) {
                    self.refill(ack.now);
                } else if self.is_time_to_cruise(ack) {
                    self.phase = BbrPhase::Cruise;
                }
            }
            BbrPhase::Cruise if self.is_time_to_probe(ack.now) => self.refill(ack.now),
            BbrPhase::Refill if self.rounds.started => {
                self.probe.sampling = true;
                self.go_up(sample);
            }
            BbrPhase::Up => self.end_up(ack, sample),
            _ => {}
        }
    }

    /// Whether it decided on a phase.
    fn adapt_long_term(&mut self, ack: &Ack, sample: &Sample) -> bool {
        if self.probe.feedback == Feedback::Starting && self.rounds.started {
            self.probe.feedback = Feedback::Probing;
        }
        if self.probe.feedback == Feedback::Stopping && self.rounds.started {
            self.probe.sampling = false;
            self.probe.feedback = Feedback::None;
            if self.probes_bandwidth() {
                if !sample.app_limited {
                    self.cycles += 1;
                    self.max_bandwidth.advance(self.cycles);
                }
                // Section 5.3.3.6: the short probe did no harm, so now a whole one.
                if self.probe.precautionary && !self.probe.too_high {
                    self.refill(ack.now);
                    return true;
                }
            }
        }
        if self.long_term.is_infinite() || self.too_high(sample) {
            return false;
        }
        self.long_term = self.long_term.max(sample.in_flight_at_send);
        if self.phase == BbrPhase::Up {
            self.raise_long_term(ack);
        }
        false
    }

    /// Section 5.3.3.8: by its own time, or when Reno would have had its loss.
    fn is_time_to_probe(&self, now: Time) -> bool {
        let reno = self.bdp().min(self.window).min(self.settings.probe_rounds as f64);
        now > self.probe.cycle_began + self.probe.wait || self.probe.rounds_since_up as f64 >= reno
    }

    fn is_time_to_cruise(&self, ack: &Ack) -> bool {
        let in_flight = left_in_flight(ack);
        in_flight <= self.inflight_with_headroom() && in_flight <= self.inflight_at(self.max_bandwidth.max())
    }

    fn end_up(&mut self, ack: &Ack, sample: &Sample) {
        if self.is_time_to_go_down(ack, sample) {
            self.probe.too_high = false;
            self.go_down(ack.now);
        }
    }

    fn is_time_to_go_down(&mut self, ack: &Ack, sample: &Sample) -> bool {
        if self.probe.too_high && left_in_flight(ack) >= self.long_term {
            self.probe.precautionary = true;
            return true;
        }
        if ack.window_limited && self.window >= self.long_term {
            // The bound, not the path, kept the bandwidth from growing.
            self.plateau.restart(sample.rate);
            return false;
        }
        self.plateau.now
    }
}
