use super::BbrPhase;
use super::model::{HeldBack, Plateau, RecentMax, Rounds, Sample, left_in_flight};
use crate::congestion_control::{Ack, Cause, Congestion, CongestionControl, Pacing};
use crate::draws::Draws;
use longhaul_random::Stream;
use longhaul_units::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// BBR's parameters, by the names of draft-cardwell-iccrg-bbr-congestion-control-00.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BbrSettings {
    /// `BBRHighGain`: 2/ln 2, doubles the rate each round trip.
    pub startup_gain: f64,
    /// `cwnd_gain` of `ProbeBW`: segments in flight, in bandwidth-delay products.
    pub window_gain: f64,
    /// Pacing gain of the probing and of the draining phase of the cycle; six phases at 1 follow.
    pub probe_gain: f64,
    /// As `probe_gain`.
    pub drain_gain: f64,
    /// `RTpropFilterLen`: so long a smallest RTT is believed.
    pub min_rtt_memory_ns: u64,
    /// `ProbeRTTDuration`.
    pub probe_rtt_ns: u64,
    /// `BBRMinPipeCwnd`, in segments.
    pub min_window: f64,
    /// 3 `send_quantum`: segments in flight on top, for hosts that send in batches.
    pub quanta: f64,
}

impl Default for BbrSettings {
    fn default() -> Self {
        BbrSettings {
            startup_gain: 2.885,
            window_gain: 2.0,
            probe_gain: 1.25,
            drain_gain: 0.75,
            min_rtt_memory_ns: 10_000_000_000,
            probe_rtt_ns: 200_000_000,
            min_window: 4.0,
            quanta: 3.0,
        }
    }
}

/// `BBRBtlBwFilterLen`, in round trips.
const BANDWIDTH_ROUNDS: usize = 10;
/// `BBRGainCycleLen`.
const CYCLE: u32 = 8;

/// BBR, version 1: draft-cardwell-iccrg-bbr-congestion-control-00.
#[derive(Clone, Debug)]
pub struct Bbr {
    settings: BbrSettings,
    phase: BbrPhase,
    initial: f64,
    window: f64,
    /// Segments per second.
    pacing: f64,
    bandwidth: RecentMax<BANDWIDTH_ROUNDS>,
    rounds: Rounds,
    plateau: Plateau,
    /// `RTprop`.
    min_rtt: Option<Span>,
    min_rtt_at: Time,
    min_rtt_expired: bool,
    probe_rtt_done: Option<Time>,
    probe_rtt_round_done: bool,
    cycle_index: u32,
    cycle_began: Time,
    /// The window before recovery or `ProbeRTT`.
    prior_window: f64,
    recovering: bool,
    conserving: bool,
    idle_restart: bool,
    was_limited: bool,
    held_back: HeldBack,
    draws: Draws,
}

impl Bbr {
    /// Begins with `initial` segments.
    pub fn new(settings: &BbrSettings, initial: f64) -> Self {
        let initial = initial.max(1.0);
        Bbr {
            settings: settings.clone(),
            phase: BbrPhase::Startup,
            initial,
            window: initial,
            // Section 4.2.1: before the first sample an RTT of 1 ms stands in.
            pacing: settings.startup_gain * initial / 1e-3,
            bandwidth: RecentMax::new(),
            rounds: Rounds::default(),
            plateau: Plateau::default(),
            min_rtt: None,
            min_rtt_at: Time::ZERO,
            min_rtt_expired: false,
            probe_rtt_done: None,
            probe_rtt_round_done: false,
            cycle_index: 0,
            cycle_began: Time::ZERO,
            prior_window: 0.0,
            recovering: false,
            conserving: false,
            idle_restart: false,
            was_limited: true,
            held_back: HeldBack::default(),
            draws: Draws::new("bbr"),
        }
    }

    /// What it is doing.
    pub fn phase(&self) -> BbrPhase {
        self.phase
    }

    /// `BtlBw`: estimated bandwidth of the bottleneck, in segments per second; 0 before the first sample.
    pub fn bandwidth(&self) -> f64 {
        self.bandwidth.max()
    }

    fn pacing_gain(&self) -> f64 {
        match self.phase {
            BbrPhase::Startup => self.settings.startup_gain,
            BbrPhase::Drain => 1.0 / self.settings.startup_gain,
            BbrPhase::ProbeBandwidth => match self.cycle_index {
                0 => self.settings.probe_gain,
                1 => self.settings.drain_gain,
                _ => 1.0,
            },
            _ => 1.0,
        }
    }

    fn window_gain(&self) -> f64 {
        match self.phase {
            BbrPhase::Startup | BbrPhase::Drain => self.settings.startup_gain,
            BbrPhase::ProbeBandwidth => self.settings.window_gain,
            _ => 1.0,
        }
    }

    /// Section 4.2.3.2: segments in flight for so many bandwidth-delay products.
    fn inflight(&self, gain: f64) -> f64 {
        match self.min_rtt {
            None => self.initial,
            Some(rtt) => gain * self.bandwidth() * rtt.as_secs_f64() + self.settings.quanta,
        }
    }

    fn observe(&mut self, sample: &Sample) {
        self.rounds.update(sample);
        self.bandwidth.advance(self.rounds.count);
        let limited = sample.app_limited || self.held_back.concerns(sample);
        self.was_limited = sample.app_limited;
        if sample.rate >= self.bandwidth() || !limited {
            self.bandwidth.update(self.rounds.count, sample.rate);
        }
        if self.rounds.started {
            self.conserving = false;
            if !limited && !self.plateau.reached {
                self.plateau.judge(self.bandwidth());
            }
        }
    }

    /// Section 4.3.4.3: whether this phase of the cycle has done its work.
    fn cycle_is_over(&self, ack: &Ack, lost: f64) -> bool {
        let Some(min_rtt) = self.min_rtt else { return false };
        let full = ack.now.since(self.cycle_began) > min_rtt;
        let in_flight = f64::from(ack.in_flight);
        let gain = self.pacing_gain();
        if gain > 1.0 {
            full && (lost > 0.0 || in_flight >= self.inflight(gain))
        } else if gain < 1.0 {
            full || in_flight <= self.inflight(1.0)
        } else {
            full
        }
    }

    fn next_in_cycle(&mut self, now: Time) {
        self.cycle_began = now;
        self.cycle_index = (self.cycle_index + 1) % CYCLE;
    }

    fn probe_bandwidth(&mut self, now: Time) {
        self.phase = BbrPhase::ProbeBandwidth;
        // Anywhere in the cycle but where it drains what was not filled.
        self.cycle_index = CYCLE - 1 - self.draws.next().below(u64::from(CYCLE) - 1) as u32;
        self.next_in_cycle(now);
    }

    fn step(&mut self, ack: &Ack, lost: f64) {
        match self.phase {
            BbrPhase::ProbeBandwidth if self.cycle_is_over(ack, lost) => self.next_in_cycle(ack.now),
            BbrPhase::Startup if self.plateau.reached => self.phase = BbrPhase::Drain,
            _ => {}
        }
        if self.phase == BbrPhase::Drain && left_in_flight(ack) <= self.inflight(1.0) {
            self.probe_bandwidth(ack.now);
        }
    }

    fn track_min_rtt(&mut self, ack: &Ack) {
        let memory = Span::from_ns(self.settings.min_rtt_memory_ns);
        self.min_rtt_expired = self.min_rtt.is_some() && ack.now > self.min_rtt_at + memory;
        if let Some(rtt) = ack.rtt
            && (self.min_rtt.is_none_or(|min| rtt <= min) || self.min_rtt_expired)
        {
            if self.min_rtt.is_none() {
                self.pacing = self.settings.startup_gain * self.initial / rtt.as_secs_f64().max(1e-9);
            }
            self.min_rtt = Some(rtt);
            self.min_rtt_at = ack.now;
        }
    }

    /// Section 4.3.5.
    fn check_probe_rtt(&mut self, ack: &Ack) {
        if self.phase != BbrPhase::ProbeRtt && self.min_rtt_expired && !self.idle_restart {
            self.save_window();
            self.phase = BbrPhase::ProbeRtt;
            self.probe_rtt_done = None;
        }
        if self.phase == BbrPhase::ProbeRtt {
            let in_flight = left_in_flight(ack);
            self.held_back.hold(self.rounds.delivered(), in_flight);
            match self.probe_rtt_done {
                None if in_flight <= self.settings.min_window => {
                    self.probe_rtt_done = Some(ack.now + Span::from_ns(self.settings.probe_rtt_ns));
                    self.probe_rtt_round_done = false;
                    self.rounds.begin();
                }
                None => {}
                Some(done) => {
                    self.probe_rtt_round_done |= self.rounds.started;
                    if self.probe_rtt_round_done && ack.now > done {
                        self.leave_probe_rtt(ack.now);
                    }
                }
            }
        }
        self.idle_restart = false;
    }

    fn leave_probe_rtt(&mut self, now: Time) {
        self.min_rtt_at = now;
        self.restore_window();
        if self.plateau.reached {
            self.probe_bandwidth(now);
        } else {
            self.phase = BbrPhase::Startup;
        }
    }

    fn save_window(&mut self) {
        self.prior_window = if self.recovering || self.phase == BbrPhase::ProbeRtt {
            self.prior_window.max(self.window)
        } else {
            self.window
        };
    }

    fn restore_window(&mut self) {
        self.window = self.window.max(self.prior_window);
    }

    fn set_pacing(&mut self, gain: f64) {
        let rate = gain * self.bandwidth();
        if rate > 0.0 && (self.plateau.reached || rate > self.pacing) {
            self.pacing = rate;
        }
    }

    /// Section 4.2.3.6.
    fn set_window(&mut self, ack: &Ack, lost: f64) {
        let target = self.inflight(self.window_gain());
        let delivered = f64::from(ack.delivered);
        if lost > 0.0 {
            self.window = (self.window - lost).max(1.0);
        }
        if self.conserving {
            self.window = self.window.max(left_in_flight(ack) + delivered);
        } else {
            if self.plateau.reached {
                self.window = (self.window + delivered).min(target);
            } else if self.window < target || (self.rounds.delivered() as f64) < self.initial {
                self.window += delivered;
            }
            self.window = self.window.max(self.settings.min_window);
        }
        if self.phase == BbrPhase::ProbeRtt {
            self.window = self.window.min(self.settings.min_window);
        }
        self.window = self.window.max(1.0);
    }
}

impl CongestionControl for Bbr {
    fn window(&self) -> f64 {
        self.window
    }

    fn threshold(&self) -> f64 {
        f64::INFINITY
    }

    fn on_start(&mut self, chance: &mut Stream) {
        self.draws.seed_from(chance);
    }

    fn on_ack(&mut self, ack: &Ack) {
        let sample = ack.delivery.as_ref().map(Sample::of);
        let lost = sample.map_or(0.0, |sample| sample.newly_lost);
        match &sample {
            Some(sample) => self.observe(sample),
            None => self.rounds.started = false,
        }
        self.step(ack, lost);
        self.track_min_rtt(ack);
        self.check_probe_rtt(ack);
        self.set_pacing(self.pacing_gain());
        self.set_window(ack, lost);
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        if congestion.cause == Cause::Mark {
            return;
        }
        // Section 4.2.3.4: for one round trip, one segment for each that is known to have left.
        self.save_window();
        self.recovering = true;
        self.conserving = true;
        self.rounds.begin();
        self.window = f64::from(congestion.in_flight).max(1.0);
    }

    fn on_timeout(&mut self, _now: Time, _in_flight: u32) {
        self.save_window();
        self.recovering = true;
        self.conserving = false;
        self.window = 1.0;
    }

    fn on_recovered(&mut self, _now: Time) {
        self.recovering = false;
        self.conserving = false;
        self.restore_window();
    }

    fn on_spurious(&mut self, now: Time) {
        self.on_recovered(now);
    }

    fn on_sent(&mut self, now: Time, in_flight: u32) {
        if in_flight > 0 || !self.was_limited || self.rounds.delivered() == 0 {
            return;
        }
        // Section 4.4.3.
        self.idle_restart = true;
        match self.phase {
            BbrPhase::ProbeBandwidth => self.set_pacing(1.0),
            BbrPhase::ProbeRtt if self.probe_rtt_done.is_some_and(|done| now > done) => {
                self.leave_probe_rtt(now);
            }
            _ => {}
        }
    }

    fn pacing(&self) -> Pacing {
        Pacing::SegmentsPerSecond(self.pacing)
    }

    fn steers_recovery(&self) -> bool {
        true
    }
}
