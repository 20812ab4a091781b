//! Timers: retransmission (RFC 6298), tail probe and reordering (RFC 8985), closed window (RFC 9293).

use super::Sender;
use super::spurious::FRto;
use crate::info::Phase;
use crate::scoreboard::Overdue;
use crate::settings::Recovery;
use crate::tally::Tally;
use longhaul_units::{Span, Time};

/// What a receiver's delayed acknowledgement may add to a lone segment's round trip (RFC 8985, section
/// 7.2: WCDelAckT).
const WORST_DELAYED_ACK: Span = Span::from_ms(200);

impl Sender {
    /// When [`expire`](Self::expire) has something to do, or a segment held by pacing may go.
    pub(crate) fn timer(&self) -> Time {
        let pace = if self.paced { self.pace_from } else { Time::NEVER };
        self.retransmit_at.min(self.probe_at).min(self.reorder_at).min(self.persist_at).min(pace)
    }

    /// Does what is due. The tail probe comes before the timeout that it is to avoid.
    pub(crate) fn expire(&mut self, now: Time) {
        if self.reorder_at <= now {
            self.reorder_at = Time::NEVER;
            self.look_again(now);
        }
        if self.probe_at <= now {
            self.probe_at = Time::NEVER;
            if self.tail.end.is_none() && !self.tail.unsampled && !self.board.is_empty() {
                self.tail.due = true;
            }
            self.arm_retransmission(now);
        }
        if self.retransmit_at <= now {
            self.retransmit_at = Time::NEVER;
            self.time_out(now);
        }
        if self.persist_at <= now {
            self.persisting = true;
            self.persist_back_offs = (self.persist_back_offs + 1).min(32);
            self.persist_at = now + self.persist_timeout();
        }
        self.refresh();
    }

    /// RACK's reordering timer.
    fn look_again(&mut self, now: Time) {
        let situation = self.situation();
        let Overdue { lost, copies, due } = self.rack.detect(&mut self.board, now, &situation);
        self.reorder_at = due;
        self.report_lost(now, lost);
        self.react_to_lost_copies(now, copies, 0);
        if lost > 0 {
            if self.phase == Phase::Open {
                self.enter_recovery(now, &Tally::new(now, None, Span::ZERO));
            }
            self.prr.on_timer();
        }
    }

    fn time_out(&mut self, now: Time) {
        if self.board.is_empty() {
            return;
        }
        if self.retries >= self.settings.timeouts.attempts {
            self.failed = true;
            self.stop();
            return;
        }
        self.counters.timeouts += 1;
        let fresh = self.phase == Phase::Open && self.retries == 0;
        let situation = self.situation();
        if self.retries == 0 {
            // RFC 5681, section 3.1: the threshold stays when the same segment times out again.
            let flight = self.flight(0);
            self.idle_cap = f64::INFINITY;
            self.algorithm.on_timeout(now, flight);
            self.suspicion.begin(self.board.first());
        }
        self.retries += 1;
        self.rtt.back_off();
        self.recovery_point = self.board.next();
        self.phase = Phase::Loss;
        self.urgent = true;
        self.inflation = 0;
        self.duplicates = 0;
        self.threshold = self.settings.first_threshold();
        self.tail.end = None;
        self.tail.due = false;
        self.probe_at = Time::NEVER;
        self.f_rto = if fresh && self.settings.undo.f_rto { FRto::Waiting } else { FRto::Off };
        if self.f_rto == FRto::Waiting {
            self.board.mark_first();
        } else if self.recovery == Recovery::Rack {
            self.rack.detect_on_timeout(&mut self.board, now, &situation);
        } else {
            self.board.mark_all(self.recovery_point);
        }
        self.arm_retransmission(now);
    }

    fn stop(&mut self) {
        self.retransmit_at = Time::NEVER;
        self.probe_at = Time::NEVER;
        self.reorder_at = Time::NEVER;
        self.persist_at = Time::NEVER;
        self.paced = false;
    }

    pub(super) fn arm_retransmission(&mut self, now: Time) {
        self.retransmit_at = now + self.rtt.backed_off(&self.settings.timeouts);
    }

    /// Section 7.2: after new data, and after acknowledgements that advance.
    pub(super) fn arm_tail_probe(&mut self, now: Time) {
        if self.recovery != Recovery::Rack || !self.settings.tail_probes {
            return;
        }
        let quiet = self.phase == Phase::Open
            && self.board.sacked() == 0
            && self.tail.end.is_none()
            && !self.board.is_empty();
        self.probe_at = if quiet {
            let mut timeout =
                if self.rtt.is_known() { self.rtt.smoothed() + self.rtt.smoothed() } else { Span::from_s(1) };
            if self.board.outstanding() == 1 {
                timeout = timeout + WORST_DELAYED_ACK;
            }
            (now + timeout).min(self.retransmit_at)
        } else {
            Time::NEVER
        };
    }

    /// After an acknowledgement.
    pub(super) fn rearm(&mut self, now: Time, advanced: bool) {
        if self.board.is_empty() {
            self.retransmit_at = Time::NEVER;
            self.probe_at = Time::NEVER;
            self.reorder_at = Time::NEVER;
            self.retries = 0;
            return;
        }
        if advanced {
            self.retries = 0;
            // RFC 6582, section 4: only the first partial acknowledgement gives more time.
            let impatient = self.phase == Phase::Recovery && !self.recovery.selective();
            if !(impatient && self.partial_seen) {
                self.arm_retransmission(now);
            }
            self.partial_seen |= impatient;
        }
        if advanced || self.board.sacked() > 0 {
            self.arm_tail_probe(now);
        }
    }

    pub(super) fn persist_timeout(&self) -> Span {
        let timeout = self.rtt.timeout(&self.settings.timeouts).ps();
        Span::from_ps(timeout.saturating_mul(1 << self.persist_back_offs)).min(self.settings.timeouts.most)
    }
}
