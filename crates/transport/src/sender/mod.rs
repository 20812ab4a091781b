//! The sender: whether it may send, and which segment is next.

mod ack;
pub(crate) mod algorithm;
mod recovery;
pub(crate) mod sending_half;
mod spurious;
mod timers;

use crate::delivery::Sampler;
use crate::info::{CaState, LimitedBy};
use crate::rack::Rack;
use crate::rtt::RttEstimator;
use crate::scoreboard::{Record, Scoreboard};
use crate::segment::{Flags, sack_option};
use crate::settings::{Ecn, Idle, Pacing, Recovery, Reduction, Settings};
use algorithm::ConnectionAlgorithm;
use longhaul_congestion::Pacing as AlgorithmPacing;
use longhaul_units::{Span, Time};
use recovery::LossRecovery;
use sending_half::InitialState;
use spurious::FRto;
use std::num::NonZeroU64;
use std::sync::Arc;

/// A segment to transmit; the connection adds the acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgoing {
    pub(crate) sequence: u64,
    pub(crate) bytes: u16,
    pub(crate) flags: Flags,
}

/// The tail loss probe (RFC 8985, section 7).
#[derive(Clone, Debug, Default)]
struct TailProbe {
    /// `TLP.end_seq`: SND.NXT after the probe, until the probe is acknowledged.
    end_seq: Option<NonZeroU64>,
    is_retransmission: bool,
    due: bool,
    /// No RTT sample since the last probe.
    no_rtt_sample: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Sender {
    pub(crate) settings: Arc<Settings>,
    /// As negotiated with the peer.
    pub(crate) recovery: Recovery,
    pub(crate) algorithm: ConnectionAlgorithm,
    pub(crate) scoreboard: Scoreboard,
    pub(crate) rtt: RttEstimator,
    pub(crate) sampler: Sampler,
    pub(crate) ca_state: CaState,
    pub(crate) limited_by: LimitedBy,
    rack: Rack,
    reordering_seen: bool,
    tlp: TailProbe,
    f_rto: FRto,
    /// Present since the first loss, or whatever else needs it.
    pub(crate) loss: Option<Box<LossRecovery>>,
    /// Duplicate acknowledgements in a row, without SACK.
    dup_acks: u32,
    /// What fast recovery adds to the window (RFC 5681, section 3.2, step 3 and 4).
    inflation: i32,
    /// The retransmission that begins a recovery, or follows a partial acknowledgement, ignores the window.
    force_retransmit: bool,

    // The application.
    written: u64,
    pub(crate) sent: u64,
    pub(crate) acknowledged: u64,
    closing: bool,
    fin_sent: bool,

    // The receiver's window, in bytes of payload from the start of the connection.
    pub(crate) right_edge: u64,
    last_window: u32,
    max_window: u32,

    // The congestion window in force.
    restart_window: f64,
    /// Congestion window in whole segments, and pacing rate in segments per second (infinite: none), as of the last
    /// [`refresh`](Self::refresh).
    cwnd: u32,
    pacing_rate: f64,
    /// See [`has_nothing_to_send`](Self::has_nothing_to_send).
    nothing_to_send: bool,
    /// [`Time::NEVER`]: nothing sent.
    last_sent: Time,
    cwnd_limited: bool,
    pub(crate) delivery: (u32, Span),

    // Pacing.
    next_send_time: Time,
    pacing_blocked: bool,

    pub(crate) ecn: Ecn,
    send_cwr: bool,

    // Timers.
    rto_timer: Time,
    pto_timer: Time,
    reordering_timer: Time,
    persist_timer: Time,
    window_probe_due: bool,
    persist_back_offs: u32,
    timeouts_in_a_row: u32,
    pub(crate) failed: bool,
}

impl Sender {
    pub(crate) fn new(settings: &Arc<Settings>, initial: InitialState) -> Self {
        let InitialState { algorithm, rng, window, recovery, ecn, rtt, last_window, max_window } = initial;
        let mut sender = Sender {
            settings: Arc::clone(settings),
            recovery,
            algorithm: ConnectionAlgorithm::new(algorithm, window, rng),
            scoreboard: Scoreboard::default(),
            rtt,
            sampler: Sampler::default(),
            ca_state: CaState::Open,
            limited_by: LimitedBy::Nothing,
            rack: Rack::default(),
            reordering_seen: false,
            tlp: TailProbe::default(),
            f_rto: FRto::Off,
            loss: None,
            dup_acks: 0,
            inflation: 0,
            force_retransmit: false,
            written: 0,
            sent: 0,
            acknowledged: 0,
            closing: false,
            fin_sent: false,
            right_edge: max_window.into(),
            last_window,
            max_window,
            restart_window: f64::INFINITY,
            cwnd: 0,
            pacing_rate: f64::INFINITY,
            nothing_to_send: false,
            last_sent: Time::NEVER,
            cwnd_limited: false,
            delivery: (0, Span::ZERO),
            next_send_time: Time::ZERO,
            pacing_blocked: false,
            ecn,
            send_cwr: false,
            rto_timer: Time::NEVER,
            pto_timer: Time::NEVER,
            reordering_timer: Time::NEVER,
            persist_timer: Time::NEVER,
            window_probe_due: false,
            persist_back_offs: 0,
            timeouts_in_a_row: 0,
            failed: false,
        };
        sender.refresh();
        sender
    }

    /// Updates the window and the pacing rate from the algorithm.
    pub(crate) fn refresh(&mut self) {
        self.cwnd = self.window() as u32;
        self.pacing_rate = self.segments_per_second().unwrap_or(f64::INFINITY);
        self.nothing_to_send = false;
    }

    pub(crate) fn write(&mut self, bytes: u64) {
        self.refresh();
        if !self.closing {
            self.written = self.written.saturating_add(bytes).min(u64::MAX / 2);
        }
    }

    pub(crate) fn close(&mut self) {
        self.refresh();
        self.closing = true;
    }

    /// Nothing that was written waits, and the application has not closed.
    pub(crate) fn has_sent_all(&self) -> bool {
        self.written == self.sent && !self.closing
    }

    pub(crate) fn has_timed_out(&self) -> bool {
        self.timeouts_in_a_row > 0
    }

    /// The FIN is acknowledged.
    pub(crate) fn fin_acked(&self) -> bool {
        self.fin_sent && self.scoreboard.is_empty()
    }

    /// The congestion window in force, in segments.
    pub(crate) fn window(&self) -> f64 {
        self.algorithm.window().min(self.restart_window)
    }

    /// Whether PRR controls transmission in recovery.
    fn uses_prr(&self) -> bool {
        self.recovery.uses_sack()
            && matches!(self.settings.reduction, Reduction::Proportional(_))
            && !self.algorithm.steers_recovery()
    }

    #[inline]
    fn window_is_open(&self) -> bool {
        let mut flight = self.scoreboard.in_flight();
        let mut allowed = i64::from(self.cwnd) + i64::from(self.inflation);
        match self.ca_state {
            CaState::Recovery if self.uses_prr() => {
                return self.loss.as_ref().is_some_and(|loss| loss.prr.may_send());
            }
            // Without limited transmit, SACKed segments do not open the window before recovery.
            CaState::Open if !self.settings.limited_transmit => flight += self.scoreboard.sacked_out(),
            CaState::Open if !self.recovery.uses_sack() => {
                allowed += i64::from(self.dup_acks.min(2));
            }
            _ => {}
        }
        i64::from(flight) < allowed
    }

    /// Whether a segment may be sent now; records the limit otherwise.
    #[inline]
    fn may_send(&mut self, now: Time) -> bool {
        if !self.window_is_open() {
            self.limited_by = LimitedBy::Window;
            self.cwnd_limited = true;
            return false;
        }
        if now < self.next_send_time {
            self.limited_by = LimitedBy::Pacing;
            self.cwnd_limited = true;
            self.pacing_blocked = true;
            return false;
        }
        true
    }

    /// Until the next event, [`next_segment`](Self::next_segment) returns `None`.
    #[inline]
    pub(crate) fn has_nothing_to_send(&self) -> bool {
        self.nothing_to_send
    }

    /// The next segment to transmit, with up to `blocks` SACK blocks.
    #[inline]
    pub(crate) fn next_segment(&mut self, now: Time, blocks: u32) -> Option<Outgoing> {
        if self.nothing_to_send {
            return None;
        }
        self.pacing_blocked = false;
        if self.window_probe_due {
            self.window_probe_due = false;
            self.loss.get_or_insert_default().counters.window_probes += 1;
            return Some(Outgoing { sequence: self.scoreboard.snd_nxt(), bytes: 0, flags: Flags::PROBE });
        }
        if self.tlp.due {
            self.tlp.due = false;
            if let Some(probe) = self.send_tail_probe(now, blocks) {
                return Some(probe);
            }
        }
        if let Some(sequence) = self.scoreboard.next_retransmission() {
            if !std::mem::take(&mut self.force_retransmit) && !self.may_send(now) {
                return None;
            }
            let loss = self.loss.get_or_insert_default();
            loss.high_rxt = loss.high_rxt.max(sequence + 1);
            return Some(self.retransmit(now, sequence));
        }
        match self.next_new_segment(now, blocks) {
            Some((bytes, fin)) => {
                if self.scoreboard.is_empty() {
                    self.restart_if_idle(now);
                }
                if self.f_rto.allows_new_data() || self.may_send(now) {
                    Some(self.send_new(now, bytes, fin))
                } else {
                    None
                }
            }
            None => self.retransmit_hole(now),
        }
    }

    /// Payload of the next new segment, and whether it carries the FIN; records the limit if there is none.
    #[inline]
    fn next_new_segment(&mut self, now: Time, blocks: u32) -> Option<(u16, bool)> {
        let unsent = self.written - self.sent;
        if unsent == 0 {
            if self.closing && !self.fin_sent {
                return Some((0, true));
            }
            self.note_application_limit();
            // In recovery there may be holes to fill.
            self.nothing_to_send = self.ca_state == CaState::Open;
            return None;
        }
        let full = u64::from(self.settings.mss).saturating_sub(u64::from(sack_option(blocks))).max(1);
        let mut bytes = full.min(unsent);
        let room = self.right_edge.saturating_sub(self.sent);
        if bytes > room {
            // Silly-window avoidance (RFC 9293, section 3.8.6.2.1): a part only if it is half of the
            // greatest window ever offered.
            if room == 0 || room * 2 < self.max_window.into() {
                self.limited_by = LimitedBy::Receiver;
                if self.scoreboard.is_empty() && self.persist_timer == Time::NEVER {
                    self.persist_timer = now + self.persist_timeout();
                }
                return None;
            }
            bytes = room;
        }
        let last = bytes == unsent;
        if !self.scoreboard.is_empty() {
            if (self.sent - self.acknowledged).saturating_add(bytes) > self.settings.send_buffer {
                self.limited_by = LimitedBy::SendBuffer;
                return None;
            }
            if self.settings.nagle && bytes < full && !(last && self.closing) {
                self.limited_by = LimitedBy::Application;
                return None;
            }
        }
        Some((bytes as u16, last && self.closing))
    }

    /// The application has no more to send.
    pub(crate) fn note_application_limit(&mut self) {
        self.limited_by = LimitedBy::Application;
        if self.window_is_open() {
            self.sampler.set_app_limited(self.scoreboard.in_flight());
        }
    }

    #[inline]
    fn send_new(&mut self, now: Time, bytes: u16, fin: bool) -> Outgoing {
        self.before_send(now);
        let sequence = self.scoreboard.push(now, bytes, fin, &mut self.sampler);
        self.sent += u64::from(bytes);
        self.fin_sent |= fin;
        self.persist_timer = Time::NEVER;
        self.persist_back_offs = 0;
        self.f_rto.note_new_data();
        let mut flags = if fin { Flags::FIN } else { Flags::NONE };
        if self.ecn != Ecn::Off && bytes > 0 {
            flags |= Flags::ECT;
            if std::mem::take(&mut self.send_cwr) {
                flags |= Flags::CWR;
            }
        }
        self.after_send(now, bytes);
        if self.rto_timer == Time::NEVER {
            self.arm_rto_timer(now);
        }
        self.arm_pto_timer(now);
        Outgoing { sequence, bytes, flags }
    }

    /// Notifies the algorithm of the end of an idle period before a transmission.
    #[inline]
    fn before_send(&mut self, now: Time) {
        if self.scoreboard.in_flight() == 0 {
            self.algorithm.on_sent(now, 0);
            self.refresh();
        }
    }

    fn retransmit(&mut self, now: Time, sequence: u64) -> Outgoing {
        self.before_send(now);
        let timed = self.recovery == Recovery::Rack;
        let loss = self.loss.get_or_insert_default();
        loss.undo_state.on_retransmit(now, self.scoreboard.retrans_out());
        self.scoreboard.retransmit(now, sequence, timed, &mut self.sampler);
        let record = *self.scoreboard.record(sequence);
        loss.counters.retransmits += 1;
        loss.counters.retransmitted_bytes += u64::from(record.bytes);
        self.after_send(now, record.bytes);
        // The careful variant of RFC 6675, section 6, so that a long recovery does not time out.
        let careful = self.ca_state == CaState::Recovery && self.recovery.uses_sack();
        if careful || self.rto_timer == Time::NEVER {
            self.arm_rto_timer(now);
        }
        let fin = if record.has(Record::FIN) { Flags::FIN } else { Flags::NONE };
        Outgoing { sequence, bytes: record.bytes, flags: fin | Flags::RETRANSMISSION }
    }

    /// RFC 6675, section 4: `NextSeg`'s rules 3 and 4, when there is no lost segment and no new one.
    fn retransmit_hole(&mut self, now: Time) -> Option<Outgoing> {
        if self.recovery != Recovery::Sack || self.ca_state != CaState::Recovery {
            return None;
        }
        let loss = self.loss.get_or_insert_default();
        let hole = self.scoreboard.next_hole(loss.high_rxt);
        // No hole is left below: each flight is scanned once.
        loss.high_rxt = loss.high_rxt.max(hole.unwrap_or(self.scoreboard.sacked_end()));
        let rescue_sent = loss.rescue_sent;
        if let Some(sequence) = hole {
            if !self.may_send(now) {
                return None;
            }
            self.loss.get_or_insert_default().high_rxt = sequence + 1;
            return Some(self.retransmit(now, sequence));
        }
        if rescue_sent {
            return None;
        }
        let sequence = self.scoreboard.last_hole()?;
        if self.scoreboard.record(sequence).has(Record::RETRANS) || !self.may_send(now) {
            return None;
        }
        self.loss.get_or_insert_default().rescue_sent = true;
        Some(self.retransmit(now, sequence))
    }

    /// Section 7.3: sends new data if there are any, else retransmits the last segment.
    fn send_tail_probe(&mut self, now: Time, blocks: u32) -> Option<Outgoing> {
        if self.scoreboard.is_empty() {
            return None;
        }
        self.loss.get_or_insert_default().counters.tail_probes += 1;
        self.tlp.no_rtt_sample = true;
        let probe = if let Some((bytes, fin)) = self.next_new_segment(now, blocks) {
            self.tlp.is_retransmission = false;
            self.send_new(now, bytes, fin)
        } else {
            self.tlp.is_retransmission = true;
            self.retransmit(now, self.scoreboard.snd_nxt() - 1)
        };
        self.tlp.end_seq = NonZeroU64::new(self.scoreboard.snd_nxt());
        self.pto_timer = Time::NEVER;
        self.arm_rto_timer(now);
        Some(probe)
    }

    fn after_send(&mut self, now: Time, bytes: u16) {
        self.last_sent = now;
        if self.ca_state == CaState::Recovery {
            self.loss.get_or_insert_default().prr.on_sent();
        }
        if self.pacing_rate.is_finite() {
            let share = f64::from(bytes) / f64::from(self.settings.mss);
            let gap = Span::from_ps((1e12 * share / self.pacing_rate) as u64);
            self.next_send_time = self.next_send_time.max(now) + gap;
        }
    }

    /// Pacing rate; none without pacing.
    pub(crate) fn segments_per_second(&self) -> Option<f64> {
        match self.algorithm.pacing() {
            AlgorithmPacing::SegmentsPerSecond(rate) => Some(rate.max(1e-3)),
            AlgorithmPacing::None if self.settings.pacing == Pacing::Window && self.rtt.has_sample() => {
                let window = self.window();
                let gain = if window < self.algorithm.threshold() / 2.0 { 2.0 } else { 1.2 };
                Some(gain * window / self.rtt.srtt().as_secs_f64())
            }
            AlgorithmPacing::None if self.settings.pacing == Pacing::Even && self.rtt.has_sample() => {
                Some(self.window() / self.rtt.srtt().as_secs_f64())
            }
            AlgorithmPacing::None => None,
        }
    }

    /// Reduces the window after an idle period of more than an RTO (RFC 5681, section 4.1; RFC 2861).
    fn restart_if_idle(&mut self, now: Time) {
        let timeout = self.rtt.rto(&self.settings.timeouts);
        let silence = now.since(self.last_sent);
        if silence <= timeout || self.settings.idle == Idle::Keep {
            return;
        }
        let least = f64::from(self.settings.initial_window.segments(self.settings.mss));
        let window = self.algorithm.window();
        let mut cap = window;
        match self.settings.idle {
            Idle::Keep => {}
            Idle::Restart => cap = least,
            Idle::Decay => {
                let mut left = silence.ps();
                while left > timeout.ps() && cap > least {
                    left -= timeout.ps();
                    cap /= 2.0;
                }
            }
        }
        let cap = cap.max(least);
        self.restart_window = if cap < window { cap } else { f64::INFINITY };
        self.refresh();
    }
}
