//! The half of an end that sends: what may go, and which segment goes next.

mod acknowledge;
mod recovery;
mod spurious;
pub(crate) mod steering;
mod timers;

use crate::delivery::Sampler;
use crate::info::{Counters, LimitedBy, Phase};
use crate::prr::Prr;
use crate::rack::Rack;
use crate::rtt::Estimator;
use crate::scoreboard::{Record, Scoreboard};
use crate::segment::{Flags, sack_option};
use crate::settings::{Ecn, Idle, Pacing, Recovery, Reduction, Settings};
use longhaul_congestion::Pacing as Paced;
use longhaul_units::{Span, Time};
use spurious::{FRto, Suspicion};
use std::num::NonZeroU64;
use std::sync::Arc;
use steering::Steering;

/// A segment that the sender puts on the wire; the connection adds what the receiver has to say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgoing {
    pub(crate) sequence: u64,
    pub(crate) bytes: u16,
    pub(crate) flags: Flags,
}

/// The probe of a silent tail (RFC 8985, section 7).
#[derive(Clone, Debug, Default)]
struct TailProbe {
    /// One after the probe's number, while it is in doubt what came of it.
    end: Option<NonZeroU64>,
    again: bool,
    due: bool,
    /// No round trip has been sampled since the last probe.
    unsampled: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Sender {
    pub(crate) settings: Arc<Settings>,
    /// As agreed with the other end.
    pub(crate) recovery: Recovery,
    pub(crate) algorithm: Steering,
    pub(crate) board: Scoreboard,
    pub(crate) rtt: Estimator,
    pub(crate) sampler: Sampler,
    pub(crate) counters: Counters,
    pub(crate) phase: Phase,
    pub(crate) limited_by: LimitedBy,
    rack: Rack,
    reordering_seen: bool,
    prr: Prr,
    tail: TailProbe,
    suspicion: Suspicion,
    f_rto: FRto,

    // Recovery. What was outstanding when it began ends below this (RFC 6582: recover).
    recovery_point: u64,
    /// DupThresh.
    threshold: u32,
    /// Duplicate acknowledgements in a row, without SACK.
    duplicates: u32,
    /// What fast recovery adds to the window (RFC 5681, section 3.2, step 3 and 4).
    inflation: i32,
    partial_seen: bool,
    /// RFC 6675's HighRxt, plus one, and whether the rescue retransmission has been sent.
    high_again: u64,
    rescued: bool,
    /// The retransmission that begins a recovery, or repairs a partial acknowledgement, goes whatever
    /// the window.
    urgent: bool,

    // The application.
    written: u64,
    sent: u64,
    pub(crate) acknowledged: u64,
    closing: bool,
    fin_sent: bool,

    // The receiver's window, in bytes of payload from the start of the connection.
    pub(crate) right_edge: u64,
    last_window: u32,
    max_window: u32,

    // The window, beside the algorithm's.
    idle_cap: f64,
    /// The window in force in whole segments, and segments per second (infinite: no pacing), as of the last
    /// [`refresh`](Self::refresh).
    whole: u32,
    pace: f64,
    /// See [`is_quiet`](Self::is_quiet).
    quiet: bool,
    /// Never: nothing yet.
    last_sent: Time,
    held: bool,
    pub(crate) delivery: (u32, Span),

    // Pacing.
    pace_from: Time,
    paced: bool,

    // Reduced for a mark or a lost copy of what was sent below this; not again before more is acknowledged.
    reduced_until: u64,
    pub(crate) ecn: Ecn,
    announce: bool,

    // Timers.
    retransmit_at: Time,
    probe_at: Time,
    reorder_at: Time,
    persist_at: Time,
    persisting: bool,
    persist_back_offs: u32,
    retries: u32,
    pub(crate) failed: bool,
}

impl Sender {
    pub(crate) fn new(settings: &Arc<Settings>, algorithm: Steering) -> Self {
        let mut sender = Sender {
            settings: Arc::clone(settings),
            recovery: settings.recovery,
            algorithm,
            board: Scoreboard::default(),
            rtt: Estimator::default(),
            sampler: Sampler::default(),
            counters: Counters::default(),
            phase: Phase::Open,
            limited_by: LimitedBy::Nothing,
            rack: Rack::default(),
            reordering_seen: false,
            prr: Prr::default(),
            tail: TailProbe::default(),
            suspicion: Suspicion::default(),
            f_rto: FRto::Off,
            recovery_point: 0,
            threshold: settings.first_threshold(),
            duplicates: 0,
            inflation: 0,
            partial_seen: false,
            high_again: 0,
            rescued: false,
            urgent: false,
            written: 0,
            sent: 0,
            acknowledged: 0,
            closing: false,
            fin_sent: false,
            right_edge: 0,
            last_window: 0,
            max_window: 0,
            idle_cap: f64::INFINITY,
            whole: 0,
            pace: f64::INFINITY,
            quiet: false,
            last_sent: Time::NEVER,
            held: false,
            delivery: (0, Span::ZERO),
            pace_from: Time::ZERO,
            paced: false,
            ecn: Ecn::Off,
            reduced_until: 0,
            announce: false,
            retransmit_at: Time::NEVER,
            probe_at: Time::NEVER,
            reorder_at: Time::NEVER,
            persist_at: Time::NEVER,
            persisting: false,
            persist_back_offs: 0,
            retries: 0,
            failed: false,
        };
        sender.refresh();
        sender
    }

    /// Takes over what the algorithm says, after whatever may have changed its mind.
    pub(crate) fn refresh(&mut self) {
        self.whole = self.window() as u32;
        self.pace = self.segments_per_second().unwrap_or(f64::INFINITY);
        self.quiet = false;
    }

    pub(crate) fn write(&mut self, bytes: u64) {
        self.begin();
        if !self.closing {
            self.written = self.written.saturating_add(bytes).min(u64::MAX / 2);
        }
    }

    pub(crate) fn close(&mut self) {
        self.begin();
        self.closing = true;
    }

    fn begin(&mut self) {
        self.algorithm.begin();
        self.refresh();
    }

    /// The end, too, has been acknowledged.
    pub(crate) fn is_finished(&self) -> bool {
        self.fin_sent && self.board.is_empty()
    }

    /// The window in force, in segments.
    pub(crate) fn window(&self) -> f64 {
        self.algorithm.window().min(self.idle_cap)
    }

    /// Whether PRR says what may go.
    fn proportional(&self) -> bool {
        self.recovery.selective()
            && matches!(self.settings.reduction, Reduction::Proportional(_))
            && !self.algorithm.steers_recovery()
    }

    #[inline]
    fn window_is_open(&self) -> bool {
        let mut flight = self.board.in_flight();
        let mut allowed = i64::from(self.whole) + i64::from(self.inflation);
        match self.phase {
            Phase::Recovery if self.proportional() => return self.prr.may_send(),
            // What SACK has taken out of the pipe does not make room before recovery.
            Phase::Open if !self.settings.limited_transmit => flight += self.board.sacked(),
            Phase::Open if !self.recovery.selective() => {
                allowed += i64::from(self.duplicates.min(2));
            }
            _ => {}
        }
        i64::from(flight) < allowed
    }

    /// Whether a segment may go now; notes why not.
    #[inline]
    fn may_send(&mut self, now: Time) -> bool {
        if !self.window_is_open() {
            self.limited_by = LimitedBy::Window;
            self.held = true;
            return false;
        }
        if now < self.pace_from {
            self.limited_by = LimitedBy::Pacing;
            self.held = true;
            self.paced = true;
            return false;
        }
        true
    }

    /// Asked again before anything happens, there is still nothing to send.
    #[inline]
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// The next segment for the wire. `blocks` SACK blocks want to go with it.
    #[inline]
    pub(crate) fn next(&mut self, now: Time, blocks: u32) -> Option<Outgoing> {
        if self.quiet {
            return None;
        }
        self.paced = false;
        if self.persisting {
            self.persisting = false;
            self.counters.window_probes += 1;
            return Some(Outgoing { sequence: self.board.next(), bytes: 0, flags: Flags::PROBE });
        }
        if self.tail.due {
            self.tail.due = false;
            if let Some(probe) = self.send_tail_probe(now, blocks) {
                return Some(probe);
            }
        }
        if let Some(sequence) = self.board.next_lost() {
            if !std::mem::take(&mut self.urgent) && !self.may_send(now) {
                return None;
            }
            self.high_again = self.high_again.max(sequence + 1);
            return Some(self.send_again(now, sequence));
        }
        match self.ready(now, blocks) {
            Some((bytes, fin)) => {
                if self.board.is_empty() {
                    self.restart_if_idle(now);
                }
                if self.f_rto.lets_new_data_go() || self.may_send(now) {
                    Some(self.send_new(now, bytes, fin))
                } else {
                    None
                }
            }
            None => self.send_hole(now),
        }
    }

    /// Payload of the next new segment, and whether it is the last; notes why there is none.
    #[inline]
    fn ready(&mut self, now: Time, blocks: u32) -> Option<(u16, bool)> {
        let unsent = self.written - self.sent;
        if unsent == 0 {
            if self.closing && !self.fin_sent {
                return Some((0, true));
            }
            self.limited_by = LimitedBy::Application;
            if self.window_is_open() {
                self.sampler.note_app_limited(self.board.in_flight());
            }
            // In recovery there may be holes to fill.
            self.quiet = self.phase == Phase::Open;
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
                if self.board.is_empty() && self.persist_at == Time::NEVER {
                    self.persist_at = now + self.persist_timeout();
                }
                return None;
            }
            bytes = room;
        }
        let last = bytes == unsent;
        if !self.board.is_empty() {
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

    #[inline]
    fn send_new(&mut self, now: Time, bytes: u16, fin: bool) -> Outgoing {
        self.note_departure(now);
        let sequence = self.board.push(now, bytes, fin, &mut self.sampler);
        self.sent += u64::from(bytes);
        self.fin_sent |= fin;
        self.persist_at = Time::NEVER;
        self.persist_back_offs = 0;
        self.f_rto.note_new_data();
        let mut flags = if fin { Flags::FIN } else { Flags::NONE };
        if self.ecn != Ecn::Off && bytes > 0 {
            flags |= Flags::ECT;
            if std::mem::take(&mut self.announce) {
                flags |= Flags::CWR;
            }
        }
        self.note_sent(now, bytes);
        if self.retransmit_at == Time::NEVER {
            self.arm_retransmission(now);
        }
        self.arm_tail_probe(now);
        Outgoing { sequence, bytes, flags }
    }

    /// Before a segment leaves: algorithms want to know when silence ends.
    #[inline]
    fn note_departure(&mut self, now: Time) {
        if self.board.in_flight() == 0 {
            self.algorithm.on_sent(now, 0);
            self.refresh();
        }
    }

    fn send_again(&mut self, now: Time, sequence: u64) -> Outgoing {
        self.note_departure(now);
        let timed = self.recovery == Recovery::Rack;
        self.board.push_again(now, sequence, timed, &mut self.sampler);
        let record = *self.board.record(sequence);
        self.counters.retransmits += 1;
        self.suspicion.on_sent_again(now);
        self.note_sent(now, record.bytes);
        // The careful variant of RFC 6675, section 6, so that a long recovery does not time out.
        let careful = self.phase == Phase::Recovery && self.recovery.selective();
        if careful || self.retransmit_at == Time::NEVER {
            self.arm_retransmission(now);
        }
        let fin = if record.has(Record::FIN) { Flags::FIN } else { Flags::NONE };
        Outgoing { sequence, bytes: record.bytes, flags: fin | Flags::AGAIN }
    }

    /// RFC 6675, section 4: NextSeg's rules 3 and 4, when there is no lost segment and no new one.
    fn send_hole(&mut self, now: Time) -> Option<Outgoing> {
        if self.recovery != Recovery::Sack || self.phase != Phase::Recovery {
            return None;
        }
        let hole = self.board.next_hole(self.high_again);
        // Nothing below is one any longer, and a flight may be too long to look at it twice.
        self.high_again = self.high_again.max(hole.unwrap_or(self.board.sacked_end()));
        if let Some(sequence) = hole {
            if !self.may_send(now) {
                return None;
            }
            self.high_again = sequence + 1;
            return Some(self.send_again(now, sequence));
        }
        if self.rescued {
            return None;
        }
        let sequence = self.board.last_hole()?;
        if self.board.record(sequence).has(Record::RESENT) || !self.may_send(now) {
            return None;
        }
        self.rescued = true;
        Some(self.send_again(now, sequence))
    }

    /// Section 7.3: new data if there are any, else the last segment once more.
    fn send_tail_probe(&mut self, now: Time, blocks: u32) -> Option<Outgoing> {
        if self.board.is_empty() {
            return None;
        }
        self.counters.tail_probes += 1;
        self.tail.unsampled = true;
        let probe = match self.ready(now, blocks) {
            Some((bytes, fin)) => {
                self.tail.again = false;
                self.send_new(now, bytes, fin)
            }
            None => {
                self.tail.again = true;
                self.send_again(now, self.board.next() - 1)
            }
        };
        self.tail.end = NonZeroU64::new(self.board.next());
        self.probe_at = Time::NEVER;
        self.arm_retransmission(now);
        Some(probe)
    }

    fn note_sent(&mut self, now: Time, bytes: u16) {
        self.counters.segments_sent += 1;
        self.counters.bytes_sent += u64::from(bytes);
        self.last_sent = now;
        if self.phase == Phase::Recovery {
            self.prr.on_sent();
        }
        if self.pace.is_finite() {
            let share = f64::from(bytes) / f64::from(self.settings.mss);
            let gap = Span::from_ps((1e12 * share / self.pace) as u64);
            self.pace_from = self.pace_from.max(now) + gap;
        }
    }

    /// Pacing rate; none without pacing.
    pub(crate) fn segments_per_second(&self) -> Option<f64> {
        match self.algorithm.pacing() {
            Paced::SegmentsPerSecond(rate) => Some(rate.max(1e-3)),
            Paced::None if self.settings.pacing == Pacing::Window && self.rtt.is_known() => {
                let window = self.window();
                let gain = if window < self.algorithm.threshold() / 2.0 { 2.0 } else { 1.2 };
                Some(gain * window / self.rtt.smoothed().as_secs_f64())
            }
            Paced::None if self.settings.pacing == Pacing::Even && self.rtt.is_known() => {
                Some(self.window() / self.rtt.smoothed().as_secs_f64())
            }
            Paced::None => None,
        }
    }

    /// After a silence of more than a timeout the window is not known to be right any more.
    fn restart_if_idle(&mut self, now: Time) {
        let timeout = self.rtt.timeout(&self.settings.timeouts);
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
        self.idle_cap = if cap < window { cap } else { f64::INFINITY };
        self.refresh();
    }
}
