//! Timers: retransmission (RFC 6298), tail loss probe and reordering (RFC 8985), persist (RFC 9293).

use super::Sender;
use super::spurious::FRto;
use crate::ack_sample::AckSample;
use crate::info::CaState;
use crate::scoreboard::RackLosses;
use crate::settings::Recovery;
use longhaul_units::{Span, Time};

/// The worst delay of a delayed acknowledgement (RFC 8985, section 7.2: `WCDelAckT`).
const WORST_DELAYED_ACK: Span = Span::from_ms(200);

impl Sender {
    /// The earliest timer, or the next departure of a paced segment.
    pub(crate) fn timer(&self) -> Time {
        let pace = if self.pacing_blocked { self.next_send_time } else { Time::NEVER };
        self.rto_timer.min(self.pto_timer).min(self.reordering_timer).min(self.persist_timer).min(pace)
    }

    /// Handles expired timers. The tail loss probe precedes the RTO.
    pub(crate) fn expire(&mut self, now: Time) {
        if self.reordering_timer <= now {
            self.reordering_timer = Time::NEVER;
            self.on_reordering_timer(now);
        }
        if self.pto_timer <= now {
            self.pto_timer = Time::NEVER;
            if self.tlp.end_seq.is_none() && !self.tlp.no_rtt_sample && !self.scoreboard.is_empty() {
                self.tlp.due = true;
            }
            self.arm_rto_timer(now);
        }
        if self.rto_timer <= now {
            self.rto_timer = Time::NEVER;
            self.on_retransmission_timeout(now);
        }
        if self.persist_timer <= now {
            self.window_probe_due = true;
            self.persist_back_offs = (self.persist_back_offs + 1).min(32);
            self.persist_timer = now + self.persist_timeout();
        }
        self.refresh();
    }

    /// RACK's reordering timer.
    fn on_reordering_timer(&mut self, now: Time) {
        let reordering_inputs = self.reordering_inputs();
        let RackLosses { lost, lost_retransmissions, reordering_timer } =
            self.rack.detect(&mut self.scoreboard, now, &reordering_inputs);
        self.reordering_timer = reordering_timer;
        self.on_losses(now, lost);
        self.react_to_lost_retransmissions(now, lost_retransmissions, 0);
        if lost > 0 {
            if self.ca_state == CaState::Open {
                self.enter_recovery(now, &AckSample::new(now, None, Span::ZERO));
            }
            self.loss.get_or_insert_default().prr.on_timer();
        }
    }

    fn on_retransmission_timeout(&mut self, now: Time) {
        if self.scoreboard.is_empty() {
            return;
        }
        if self.timeouts_in_a_row >= self.settings.timeouts.attempts {
            self.failed = true;
            self.stop();
            return;
        }
        self.loss.get_or_insert_default().counters.timeouts += 1;
        let first_timeout = self.ca_state == CaState::Open && self.timeouts_in_a_row == 0;
        let reordering_inputs = self.reordering_inputs();
        if self.timeouts_in_a_row == 0 {
            // RFC 5681, section 3.1: the threshold stays when the same segment times out again.
            let flight = self.capped_flight_size(0);
            self.restart_window = f64::INFINITY;
            self.algorithm.on_timeout(now, flight);
            self.begin_undo();
        }
        self.timeouts_in_a_row += 1;
        self.rtt.back_off();
        let recovery_point = self.scoreboard.snd_nxt();
        let loss = self.loss.get_or_insert_default();
        loss.recovery_point = recovery_point;
        loss.raised_dup_thresh = 0;
        self.ca_state = CaState::Loss;
        self.force_retransmit = true;
        self.inflation = 0;
        self.dup_acks = 0;
        self.tlp.end_seq = None;
        self.tlp.due = false;
        self.pto_timer = Time::NEVER;
        self.f_rto = if first_timeout && self.settings.undo.f_rto { FRto::Waiting } else { FRto::Off };
        if self.f_rto == FRto::Waiting {
            self.scoreboard.mark_head_lost();
        } else if self.recovery == Recovery::Rack {
            self.rack.detect_on_timeout(&mut self.scoreboard, now, &reordering_inputs);
        } else {
            self.scoreboard.mark_all_lost(recovery_point);
        }
        self.arm_rto_timer(now);
    }

    fn stop(&mut self) {
        self.rto_timer = Time::NEVER;
        self.pto_timer = Time::NEVER;
        self.reordering_timer = Time::NEVER;
        self.persist_timer = Time::NEVER;
        self.pacing_blocked = false;
    }

    pub(super) fn arm_rto_timer(&mut self, now: Time) {
        self.rto_timer = now + self.rtt.rto_with_back_off(&self.settings.timeouts);
    }

    /// Section 7.2: after new data, and after acknowledgements that advance.
    pub(super) fn arm_pto_timer(&mut self, now: Time) {
        if self.recovery != Recovery::Rack || !self.settings.tail_probes {
            return;
        }
        let quiet = self.ca_state == CaState::Open
            && self.scoreboard.sacked_out() == 0
            && self.tlp.end_seq.is_none()
            && !self.scoreboard.is_empty();
        self.pto_timer = if quiet {
            let mut timeout =
                if self.rtt.has_sample() { self.rtt.srtt() + self.rtt.srtt() } else { Span::from_s(1) };
            if self.scoreboard.flight_size() == 1 {
                timeout = timeout + WORST_DELAYED_ACK;
            }
            (now + timeout).min(self.rto_timer)
        } else {
            Time::NEVER
        };
    }

    /// After an acknowledgement.
    pub(super) fn rearm_timers(&mut self, now: Time, advanced: bool) {
        if self.scoreboard.is_empty() {
            self.rto_timer = Time::NEVER;
            self.pto_timer = Time::NEVER;
            self.reordering_timer = Time::NEVER;
            self.timeouts_in_a_row = 0;
            return;
        }
        if advanced {
            self.timeouts_in_a_row = 0;
            // RFC 6582, section 4: only the first partial acknowledgement gives more time.
            let impatient = self.ca_state == CaState::Recovery && !self.recovery.uses_sack();
            let mut seen = false;
            if impatient {
                seen = std::mem::replace(&mut self.loss.get_or_insert_default().partial_ack_seen, true);
            }
            if !seen {
                self.arm_rto_timer(now);
            }
        }
        if advanced || self.scoreboard.sacked_out() > 0 {
            self.arm_pto_timer(now);
        }
    }

    pub(super) fn persist_timeout(&self) -> Span {
        let timeout = self.rtt.rto(&self.settings.timeouts).ps();
        Span::from_ps(timeout.saturating_mul(1 << self.persist_back_offs)).min(self.settings.timeouts.max_rto)
    }
}
