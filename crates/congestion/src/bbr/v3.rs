use super::BbrPhase;
use super::model::{HeldBack, Plateau, RecentMax, Rounds, Sample, left_in_flight};
use super::v3_probe::{Feedback, Probe};
use crate::congestion_control::{Ack, Cause, Congestion, CongestionControl, Pacing};
use crate::draws::Draws;
use longhaul_random::Stream;
use longhaul_units::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// BBR's parameters, by the names of draft-ietf-ccwg-bbr, section 2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Bbr3Settings {
    /// `StartupPacingGain`: 4 ln 2.
    pub startup_gain: f64,
    /// `DrainPacingGain`.
    pub drain_gain: f64,
    /// `DefaultCwndGain`: segments in flight, in bandwidth-delay products.
    pub window_gain: f64,
    /// Pacing gain of `ProbeBW_DOWN`.
    pub down_gain: f64,
    /// Pacing gain of `ProbeBW_UP`.
    pub up_gain: f64,
    /// Window gain of `ProbeBW_UP`.
    pub up_window_gain: f64,
    /// `LossThresh`: the share of losses in a round trip from which on it was too much.
    pub loss_threshold: f64,
    /// `StartupFullLossCnt`: with so many losses in a round trip startup may end for them.
    pub startup_losses: u32,
    /// Beta: what is left after losses at least.
    pub beta: f64,
    /// Headroom: the share of the long-term bound that is left to others.
    pub headroom: f64,
    /// `MinRTTFilterLen`.
    pub min_rtt_memory_ns: u64,
    /// `ProbeRTTInterval`.
    pub probe_rtt_interval_ns: u64,
    /// `ProbeRTTDuration`.
    pub probe_rtt_ns: u64,
    /// `ProbeRTTCwndGain`.
    pub probe_rtt_gain: f64,
    /// `PacingMarginPercent`, as a share.
    pub pacing_margin: f64,
    /// `MinPipeCwnd`, in segments.
    pub min_window: f64,
    /// `offload_budget`: segments in flight at least, for hosts that send in batches.
    pub offload_budget: f64,
    /// Most round trips between probes: 62 or 63, by chance.
    pub probe_rounds: u64,
}

impl Default for Bbr3Settings {
    fn default() -> Self {
        Bbr3Settings {
            startup_gain: 4.0 * std::f64::consts::LN_2,
            drain_gain: 0.5,
            window_gain: 2.0,
            down_gain: 0.9,
            up_gain: 1.25,
            up_window_gain: 2.25,
            loss_threshold: 0.02,
            startup_losses: 6,
            beta: 0.7,
            headroom: 0.15,
            min_rtt_memory_ns: 10_000_000_000,
            probe_rtt_interval_ns: 5_000_000_000,
            probe_rtt_ns: 200_000_000,
            probe_rtt_gain: 0.5,
            pacing_margin: 0.01,
            min_window: 4.0,
            offload_budget: 3.0,
            probe_rounds: 63,
        }
    }
}

/// `ExtraAckedFilterLen`, in round trips.
const AGGREGATION_ROUNDS: usize = 10;

/// Bounds that recent losses put on the model (section 5.5.10.3).
#[derive(Clone, Copy, Debug)]
pub(super) struct ShortTerm {
    pub(super) bandwidth: f64,
    pub(super) inflight: f64,
}

impl ShortTerm {
    pub(super) const NONE: ShortTerm = ShortTerm { bandwidth: f64::INFINITY, inflight: f64::INFINITY };
}

/// The latest round trip (section 5.5.10.3).
#[derive(Clone, Debug, Default)]
pub(super) struct Latest {
    bandwidth: f64,
    pub(super) inflight: f64,
    round_ends_at: u64,
    round_started: bool,
    pub(super) lost: u32,
}

/// What to return to, should the losses have been none (section 5.5.11).
#[derive(Clone, Debug)]
struct Undo {
    short_term: ShortTerm,
    long_term: f64,
    phase: Option<BbrPhase>,
}

/// BBR, version 3: draft-ietf-ccwg-bbr-06.
///
/// Losses are judged when the acknowledgement arrives that revealed them, by its delivery sample, and
/// counted one by one where the draft counts ranges.
#[derive(Clone, Debug)]
pub struct Bbr3 {
    pub(super) settings: Bbr3Settings,
    pub(super) phase: BbrPhase,
    initial: f64,
    pub(super) window: f64,
    pacing: f64,
    pub(super) rounds: Rounds,
    pub(super) plateau: Plateau,
    /// `max_bw`, over the last two cycles of probing.
    pub(super) max_bandwidth: RecentMax<2>,
    pub(super) cycles: u64,
    /// bw, with the short-term bound.
    bandwidth: f64,
    pub(super) short_term: ShortTerm,
    /// `inflight_longterm`: infinite until probing lost too much.
    pub(super) long_term: f64,
    pub(super) latest: Latest,
    pub(super) probe: Probe,
    extra_acked: RecentMax<AGGREGATION_ROUNDS>,
    extra_from: Time,
    extra_delivered: f64,
    min_rtt: Option<(Span, Time)>,
    probe_rtt_min: Option<(Span, Time)>,
    probe_rtt_expired: bool,
    probe_rtt_done: Option<Time>,
    probe_rtt_round_done: bool,
    drain_began: u64,
    prior_window: f64,
    undo: Undo,
    recovering: bool,
    idle_restart: bool,
    was_limited: bool,
    held_back: HeldBack,
    pub(super) draws: Draws,
}

impl Bbr3 {
    /// Begins with `initial` segments.
    pub fn new(settings: &Bbr3Settings, initial: f64) -> Self {
        let initial = initial.max(1.0);
        Bbr3 {
            settings: settings.clone(),
            phase: BbrPhase::Startup,
            initial,
            window: initial,
            // Section 5.6.2: before the first sample an RTT of 1 ms stands in.
            pacing: settings.startup_gain * initial / 1e-3,
            rounds: Rounds::default(),
            plateau: Plateau::default(),
            max_bandwidth: RecentMax::new(),
            cycles: 0,
            bandwidth: 0.0,
            short_term: ShortTerm::NONE,
            long_term: f64::INFINITY,
            latest: Latest::default(),
            probe: Probe::default(),
            extra_acked: RecentMax::new(),
            extra_from: Time::ZERO,
            extra_delivered: 0.0,
            min_rtt: None,
            probe_rtt_min: None,
            probe_rtt_expired: false,
            probe_rtt_done: None,
            probe_rtt_round_done: false,
            drain_began: 0,
            prior_window: 0.0,
            undo: Undo { short_term: ShortTerm::NONE, long_term: f64::INFINITY, phase: None },
            recovering: false,
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

    /// bw: estimated bandwidth of the bottleneck, in segments per second; 0 before the first sample.
    pub fn bandwidth(&self) -> f64 {
        self.bandwidth
    }

    /// `inflight_longterm`: segments in flight that probing found to be safe; infinite before it lost
    /// too many.
    pub fn long_term_inflight(&self) -> f64 {
        self.long_term
    }

    /// Section 5.6.1, the table.
    fn pacing_gain(&self) -> f64 {
        match self.phase {
            BbrPhase::Startup => self.settings.startup_gain,
            BbrPhase::Drain => self.settings.drain_gain,
            BbrPhase::Down => self.settings.down_gain,
            BbrPhase::Up => self.settings.up_gain,
            _ => 1.0,
        }
    }

    fn window_gain(&self) -> f64 {
        match self.phase {
            BbrPhase::Up => self.settings.up_window_gain,
            BbrPhase::ProbeRtt => self.settings.probe_rtt_gain,
            _ => self.settings.window_gain,
        }
    }

    fn bdp_multiple(&self, bandwidth: f64, gain: f64) -> f64 {
        match self.min_rtt {
            None => self.initial,
            Some((rtt, _)) => gain * bandwidth * rtt.as_secs_f64(),
        }
    }

    /// The estimated bandwidth-delay product, in segments.
    pub(super) fn bdp(&self) -> f64 {
        self.bdp_multiple(self.bandwidth, 1.0)
    }

    fn quantized(&self, inflight: f64) -> f64 {
        let least = inflight.max(self.settings.offload_budget).max(self.settings.min_window);
        if self.phase == BbrPhase::Up { least + 2.0 } else { least }
    }

    /// Segments for one bandwidth-delay product at `bandwidth`.
    pub(super) fn inflight_at(&self, bandwidth: f64) -> f64 {
        self.quantized(self.bdp_multiple(bandwidth, 1.0))
    }

    fn limited(&self, sample: &Sample) -> bool {
        sample.app_limited || self.held_back.concerns(sample)
    }

    /// Section 5.5.10.3, near the start of an acknowledgement.
    fn update_latest(&mut self, sample: &Sample) {
        let latest = &mut self.latest;
        latest.bandwidth = latest.bandwidth.max(sample.rate);
        latest.inflight = latest.inflight.max(sample.delivered);
        latest.round_started = sample.prior_delivered >= latest.round_ends_at;
        if latest.round_started {
            latest.round_ends_at = sample.total_delivered;
        }
    }

    /// Section 5.5.10.3, near its end.
    fn advance_latest(&mut self, sample: &Sample) {
        if self.latest.round_started {
            self.latest.bandwidth = sample.rate;
            self.latest.inflight = sample.delivered;
            self.latest.lost = 0;
        }
    }

    pub(super) fn reset_congestion_signals(&mut self) {
        self.latest.bandwidth = 0.0;
        self.latest.inflight = 0.0;
        self.latest.lost = 0;
    }

    fn update_bandwidth(&mut self, sample: &Sample) {
        self.rounds.update(sample);
        if self.rounds.started {
            self.probe.rounds_since_up += 1;
        }
        if sample.rate > 0.0 && (sample.rate >= self.max_bandwidth.max() || !self.limited(sample)) {
            self.max_bandwidth.update(self.cycles, sample.rate);
        }
    }

    /// Once per round trip with losses, when not probing.
    fn adapt_short_term(&mut self) {
        let probing = matches!(self.phase, BbrPhase::Startup | BbrPhase::Refill | BbrPhase::Up);
        if !self.latest.round_started || probing || self.latest.lost == 0 {
            return;
        }
        let beta = self.settings.beta;
        let bound = &mut self.short_term;
        if bound.bandwidth.is_infinite() {
            bound.bandwidth = self.max_bandwidth.max();
        }
        if bound.inflight.is_infinite() {
            bound.inflight = self.window;
        }
        bound.bandwidth = self.latest.bandwidth.max(beta * bound.bandwidth);
        bound.inflight = self.latest.inflight.max(beta * bound.inflight);
    }

    /// Section 5.5.9.
    fn update_aggregation(&mut self, ack: &Ack) {
        let mut expected = self.bandwidth * ack.now.since(self.extra_from).as_secs_f64();
        if self.extra_delivered <= expected {
            self.extra_delivered = 0.0;
            self.extra_from = ack.now;
            expected = 0.0;
        }
        self.extra_delivered += f64::from(ack.delivered);
        let extra = (self.extra_delivered - expected).min(self.window);
        self.extra_acked.update(self.rounds.count, extra);
    }

    fn aggregation(&self) -> f64 {
        if self.plateau.reached { self.extra_acked.max() } else { self.extra_acked.current() }
    }

    /// Section 5.3.1.
    fn check_startup(&mut self, ack: &Ack, sample: &Sample) {
        if self.rounds.started && !self.limited(sample) {
            self.plateau.judge(sample.rate);
        }
        if self.phase != BbrPhase::Startup {
            return;
        }
        let losing = ack.recovering
            && self.latest.round_started
            && self.latest.lost >= self.settings.startup_losses
            && self.too_high(sample);
        if losing {
            self.undo.phase = Some(BbrPhase::Startup);
            self.plateau.reached = true;
            self.long_term = self.bdp().max(self.latest.inflight);
        }
        if self.plateau.reached {
            self.phase = BbrPhase::Drain;
            self.drain_began = self.rounds.count;
        }
    }

    fn check_drain(&mut self, ack: &Ack) {
        let drained = left_in_flight(ack) <= self.inflight_at(self.bandwidth);
        if self.phase == BbrPhase::Drain && (drained || self.rounds.count > self.drain_began + 3) {
            self.go_down(ack.now);
        }
    }

    /// Section 5.3.4.3.
    fn update_min_rtt(&mut self, ack: &Ack) {
        let interval = Span::from_ns(self.settings.probe_rtt_interval_ns);
        let memory = Span::from_ns(self.settings.min_rtt_memory_ns);
        self.probe_rtt_expired = self.probe_rtt_min.is_some_and(|(_, at)| ack.now > at + interval);
        if let Some(rtt) = ack.rtt
            && (self.probe_rtt_expired || self.probe_rtt_min.is_none_or(|(min, _)| rtt < min))
        {
            if self.probe_rtt_min.is_none() {
                self.pacing = self.settings.startup_gain * self.initial / rtt.as_secs_f64().max(1e-9);
            }
            self.probe_rtt_min = Some((rtt, ack.now));
        }
        if let Some((latest, _)) = self.probe_rtt_min
            && self.min_rtt.is_none_or(|(min, at)| latest < min || ack.now > at + memory)
        {
            self.min_rtt = self.probe_rtt_min;
        }
    }

    fn probe_rtt_window(&self) -> f64 {
        self.bdp_multiple(self.bandwidth, self.settings.probe_rtt_gain).max(self.settings.min_window)
    }

    fn check_probe_rtt(&mut self, ack: &Ack) {
        if self.phase != BbrPhase::ProbeRtt && self.probe_rtt_expired && !self.idle_restart {
            self.save_window();
            self.phase = BbrPhase::ProbeRtt;
            self.probe_rtt_done = None;
            self.probe.feedback = Feedback::Stopping;
            self.rounds.begin();
        }
        if self.phase == BbrPhase::ProbeRtt {
            let in_flight = left_in_flight(ack);
            self.held_back.hold(self.rounds.delivered(), in_flight);
            match self.probe_rtt_done {
                None if in_flight <= self.probe_rtt_window() => {
                    self.probe_rtt_done = Some(ack.now + Span::from_ns(self.settings.probe_rtt_ns));
                    self.probe_rtt_round_done = false;
                    self.rounds.begin();
                }
                None => {}
                Some(_) => {
                    self.probe_rtt_round_done |= self.rounds.started;
                    if self.probe_rtt_round_done {
                        self.check_probe_rtt_done(ack.now);
                    }
                }
            }
        }
        if ack.delivered > 0 {
            self.idle_restart = false;
        }
    }

    fn check_probe_rtt_done(&mut self, now: Time) {
        if self.probe_rtt_done.is_none_or(|done| now <= done) {
            return;
        }
        self.probe_rtt_min = self.probe_rtt_min.map(|(rtt, _)| (rtt, now));
        self.restore_window();
        // Section 5.3.4.4.
        self.short_term = ShortTerm::NONE;
        if self.plateau.reached {
            self.go_down(now);
            self.phase = BbrPhase::Cruise;
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

    fn save_state(&mut self) {
        self.save_window();
        self.undo = Undo { short_term: self.short_term, long_term: self.long_term, phase: None };
    }

    /// Remembers that probing ended because of losses.
    pub(super) fn probing_was_cut(&mut self) {
        self.undo.phase = Some(BbrPhase::Up);
    }

    fn set_pacing(&mut self, gain: f64) {
        let rate = gain * self.bandwidth * (1.0 - self.settings.pacing_margin);
        if rate > 0.0 && (self.plateau.reached || rate > self.pacing) {
            self.pacing = rate;
        }
    }

    /// Section 5.6.4.6.
    fn set_window(&mut self, ack: &Ack) {
        let delivered = f64::from(ack.delivered);
        let most = self.quantized(self.bdp_multiple(self.bandwidth, self.window_gain()) + self.aggregation());
        if self.plateau.reached {
            self.window = (self.window + delivered).min(most);
        } else if self.window < most || (self.rounds.delivered() as f64) < self.initial {
            self.window += delivered;
        }
        let least = self.settings.min_window;
        self.window = self.window.max(least);
        if self.phase == BbrPhase::ProbeRtt {
            self.window = self.window.min(self.probe_rtt_window());
        }
        // Section 5.6.4.7.
        let cap = match self.phase {
            BbrPhase::Down | BbrPhase::Refill | BbrPhase::Up => self.long_term,
            BbrPhase::Cruise | BbrPhase::ProbeRtt => self.inflight_with_headroom(),
            _ => f64::INFINITY,
        };
        self.window = self.window.min(cap.min(self.short_term.inflight).max(least)).max(1.0);
    }
}

impl CongestionControl for Bbr3 {
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
        // Section 5.2.3, in its order.
        let sample = ack.delivery.as_ref().map(Sample::of);
        if let Some(sample) = &sample {
            self.was_limited = sample.app_limited;
            if sample.newly_lost > 0.0 && self.probe.sampling && self.too_high(sample) {
                self.probed_too_high(ack.now, sample);
            }
            self.update_latest(sample);
            self.update_bandwidth(sample);
            self.adapt_short_term();
            self.update_aggregation(ack);
            self.check_startup(ack, sample);
            self.check_drain(ack);
            if self.plateau.reached {
                self.step_probe(ack, sample);
            }
        } else {
            self.rounds.started = false;
        }
        self.update_min_rtt(ack);
        self.check_probe_rtt(ack);
        if let Some(sample) = &sample {
            self.advance_latest(sample);
        }
        self.bandwidth = self.max_bandwidth.max().min(self.short_term.bandwidth);
        self.set_pacing(self.pacing_gain());
        self.set_window(ack);
    }

    fn on_lost(&mut self, _now: Time, _chance: &mut Stream) {
        if self.latest.lost == 0 {
            self.latest.round_ends_at = self.rounds.delivered();
            self.save_state();
        }
        self.latest.lost = self.latest.lost.saturating_add(1);
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        if congestion.cause == Cause::Loss {
            self.save_window();
            self.recovering = true;
        }
    }

    fn on_timeout(&mut self, _now: Time, _in_flight: u32) {
        self.save_state();
        self.recovering = true;
        self.window = 1.0;
    }

    fn on_recovered(&mut self, _now: Time) {
        self.recovering = false;
        self.restore_window();
    }

    fn on_spurious(&mut self, now: Time) {
        // Section 5.5.11.2.
        self.recovering = false;
        self.restore_window();
        self.latest.lost = 0;
        self.plateau.restart(0.0);
        let undo = self.undo.short_term;
        self.short_term.bandwidth = self.short_term.bandwidth.max(undo.bandwidth);
        self.short_term.inflight = self.short_term.inflight.max(undo.inflight);
        self.long_term = self.long_term.max(self.undo.long_term);
        let probe_rtt = self.phase == BbrPhase::ProbeRtt;
        match self.undo.phase.take() {
            Some(BbrPhase::Startup) if self.phase != BbrPhase::Startup => {
                self.plateau.reached = false;
                if !probe_rtt {
                    self.phase = BbrPhase::Startup;
                }
            }
            Some(BbrPhase::Up) if self.phase != BbrPhase::Up && !probe_rtt => self.refill(now),
            _ => {}
        }
    }

    fn on_sent(&mut self, now: Time, in_flight: u32) {
        if in_flight > 0 || !self.was_limited || self.rounds.delivered() == 0 {
            return;
        }
        // Section 5.4.1.
        self.idle_restart = true;
        self.extra_from = now;
        match self.phase {
            BbrPhase::Down | BbrPhase::Cruise | BbrPhase::Refill | BbrPhase::Up => self.set_pacing(1.0),
            BbrPhase::ProbeRtt => self.check_probe_rtt_done(now),
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
