//! Loss detection and recovery.

use super::Sender;
use super::spurious::{FRto, UndoState};
use crate::ack_sample::AckSample;
use crate::info::{CaState, Counters};
use crate::prr::{Prr, PrrInputs};
use crate::rack::ReorderingInputs;
use crate::scoreboard::RackLosses;
use crate::settings::{Ecn, Recovery, Reduction};
use longhaul_congestion::{Cause, Congestion};
use longhaul_units::Time;

/// What a sender without losses, reordering, marks and probes does not need.
#[derive(Clone, Debug, Default)]
pub(crate) struct LossRecovery {
    pub(crate) counters: Counters,
    pub(super) prr: Prr,
    pub(super) undo_state: UndoState,
    /// SND.NXT when recovery began (RFC 6582: recover).
    pub(super) recovery_point: u64,
    /// SND.NXT at the latest reduction for a mark or a lost retransmission; the next reduction needs an ACK above.
    pub(super) reduced_until: u64,
    /// RFC 6675's `HighRxt`, plus one, and whether the rescue retransmission has been sent.
    pub(super) high_rxt: u64,
    pub(super) rescue_sent: bool,
    pub(super) partial_ack_seen: bool,
    /// `DupThresh`, if reordering has raised it since the latest timeout; else 0.
    pub(super) raised_dup_thresh: u32,
}

impl Sender {
    /// SND.NXT when recovery began; 0 before the first.
    pub(super) fn recovery_point(&self) -> u64 {
        self.loss.as_ref().map_or(0, |loss| loss.recovery_point)
    }

    /// `DupThresh`.
    fn dup_thresh(&self) -> u32 {
        let raised = self.loss.as_ref().map_or(0, |loss| loss.raised_dup_thresh);
        self.settings.initial_dup_thresh().max(raised)
    }

    /// `FlightSize` before `acked` segments were acknowledged, at most the window: without segments that limited
    /// transmit or an earlier, larger window let out (RFC 5681, section 3.2, step 2).
    pub(super) fn capped_flight_size(&self, acked: u32) -> u32 {
        let window = self.window();
        // Rounded up.
        let whole = window as u32;
        let window = whole.saturating_add(u32::from(f64::from(whole) < window));
        (self.scoreboard.flight_size() + acked).min(window.max(1))
    }

    pub(super) fn reordering_inputs(&self) -> ReorderingInputs {
        ReorderingInputs {
            min_rtt: self.rtt.min_rtt(),
            srtt: self.rtt.srtt(),
            reordering_seen: self.reordering_seen,
            in_recovery_or_dup_thresh: self.ca_state != CaState::Open || self.scoreboard.sacked_out() >= 3,
        }
    }

    /// Marks segments lost after an acknowledgement; returns their number, and how many of them are retransmissions
    /// (RACK only).
    pub(super) fn detect_losses(&mut self, sample: &AckSample, duplicate: bool, ended: bool) -> (u32, u32) {
        let lost = match self.recovery {
            Recovery::Rack if self.f_rto != FRto::Off => 0,
            Recovery::Rack => {
                let reordering_inputs = self.reordering_inputs();
                let RackLosses { lost, lost_retransmissions, reordering_timer } =
                    self.rack.detect(&mut self.scoreboard, sample.now, &reordering_inputs);
                self.reordering_timer = reordering_timer;
                return (lost, lost_retransmissions);
            }
            // After a timeout the scoreboard starts no recovery before all of it is repaired (RFC 6675,
            // section 5.1).
            Recovery::Sack if self.ca_state == CaState::Loss => 0,
            Recovery::Sack => {
                let dup_thresh = self.dup_thresh();
                self.scoreboard.mark_lost_by_sack(dup_thresh)
            }
            Recovery::NewReno | Recovery::Reno | Recovery::Tahoe => {
                self.count_duplicate_acks(sample, duplicate, ended)
            }
        };
        (lost, 0)
    }

    /// Without PRR the loss of a retransmission reduces the window again, once per window (RFC 8985, section
    /// 9.3).
    pub(super) fn react_to_lost_retransmissions(&mut self, now: Time, lost_retransmissions: u32, acked: u32) {
        if lost_retransmissions > 0
            && self.ca_state == CaState::Recovery
            && !self.uses_prr()
            && !self.algorithm.steers_recovery()
            && !self.reduced_in_this_window()
        {
            self.on_congestion_event(now, Cause::Loss, acked);
            self.loss.get_or_insert_default().reduced_until = self.scoreboard.snd_nxt();
        }
    }

    /// Loss detection by duplicate ACKs (RFC 5681, section 3.2) and partial ACKs (RFC 6582); returns the losses.
    fn count_duplicate_acks(&mut self, sample: &AckSample, duplicate: bool, ended: bool) -> u32 {
        if sample.acked > 0 {
            self.dup_acks = 0;
            if self.ca_state != CaState::Recovery || ended {
                return 0;
            }
            // Section 3.2, step 3 of RFC 6582: a partial acknowledgement.
            self.scoreboard.mark_head_lost();
            self.force_retransmit = true;
            self.inflation += 1 - sample.acked as i32;
            return 1;
        }
        if !duplicate {
            return 0;
        }
        match self.ca_state {
            CaState::Recovery => {
                self.inflation += 1;
                0
            }
            CaState::Loss => 0,
            CaState::Open => {
                self.dup_acks += 1;
                // RFC 6582, section 3.2, step 1: not for duplicates of spurious retransmissions.
                let beyond_recover =
                    self.recovery_point() == 0 || self.scoreboard.snd_una() > self.recovery_point();
                if self.dup_acks != 3 || (self.recovery != Recovery::Reno && !beyond_recover) {
                    return 0;
                }
                self.scoreboard.mark_head_lost();
                1
            }
        }
    }

    /// Counts `lost` segments, and notifies the algorithm.
    pub(super) fn on_losses(&mut self, now: Time, lost: u32) {
        if lost == 0 {
            return;
        }
        self.sampler.lost += u64::from(lost);
        self.algorithm.on_lost(now, lost);
    }

    pub(super) fn on_congestion_event(&mut self, now: Time, cause: Cause, acked: u32) {
        let congestion = Congestion {
            now,
            cause,
            in_flight: self.capped_flight_size(acked),
            min_rtt: self.rtt.min_rtt(),
            srtt: self.rtt.srtt(),
            next_sequence: self.scoreboard.snd_nxt(),
        };
        self.restart_window = f64::INFINITY;
        self.send_cwr = self.ecn == Ecn::Classic;
        self.algorithm.on_congestion(&congestion);
    }

    /// Whether the window has been reduced less than a window ago, for marks (RFC 3168, section 6.1.2) or a lost
    /// retransmission.
    pub(super) fn reduced_in_this_window(&self) -> bool {
        let reduced_until = self.loss.as_ref().map_or(0, |loss| loss.reduced_until);
        self.scoreboard.snd_una() <= reduced_until && reduced_until > 0
    }

    /// Begins fast recovery, on an acknowledgement or, with an empty sample, a timer.
    pub(super) fn enter_recovery(&mut self, now: Time, sample: &AckSample) {
        let flight = self.scoreboard.flight_size() - self.scoreboard.sacked_out() + sample.delivered;
        let loss = self.loss.get_or_insert_default();
        loss.counters.recoveries += 1;
        if self.recovery == Recovery::Tahoe {
            let flight = self.capped_flight_size(sample.acked);
            self.algorithm.on_timeout(now, flight);
            let end = self.scoreboard.snd_nxt();
            self.loss.get_or_insert_default().recovery_point = end;
            self.scoreboard.mark_all_lost(end);
            self.ca_state = CaState::Loss;
            return;
        }
        loss.undo_state.end();
        if !self.reduced_in_this_window() {
            self.on_congestion_event(now, Cause::Loss, sample.acked);
            self.begin_undo();
        }
        self.ca_state = CaState::Recovery;
        self.force_retransmit = true;
        let loss = self.loss.get_or_insert_default();
        loss.recovery_point = self.scoreboard.snd_nxt();
        loss.prr = Prr::begin(flight);
        loss.high_rxt = self.scoreboard.snd_una();
        loss.rescue_sent = false;
        loss.partial_ack_seen = false;
        self.pto_timer = Time::NEVER;
        self.tlp.end_seq = None;
        if !self.recovery.uses_sack() {
            self.inflation = 3;
        }
    }

    /// Begins an episode that evidence of spurious retransmissions may undo.
    pub(super) fn begin_undo(&mut self) {
        let (snd_una, retrans_out) = (self.scoreboard.snd_una(), self.scoreboard.retrans_out());
        self.loss.get_or_insert_default().undo_state.begin(snd_una, retrans_out);
    }

    pub(super) fn leave_recovery(&mut self, now: Time) {
        self.ca_state = CaState::Open;
        self.force_retransmit = false;
        self.inflation = 0;
        self.dup_acks = 0;
        self.algorithm.on_recovered(now);
    }

    /// Updates PRR after an acknowledgement.
    pub(super) fn update_prr(&mut self, sample: &AckSample, lost: u32) {
        let Reduction::Proportional(bound) = self.settings.reduction else { return };
        if !self.uses_prr() {
            return;
        }
        let inputs = PrrInputs {
            delivered: sample.delivered,
            pipe: self.scoreboard.in_flight(),
            ssthresh: self.algorithm.window() as u32,
            safe_ack: sample.acked > 0 && lost == 0,
        };
        self.loss.get_or_insert_default().prr.on_ack(inputs, bound);
    }
}
