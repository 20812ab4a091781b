//! Detection of spurious retransmissions: D-SACK (RFC 3708), timestamps (RFC 3522) and F-RTO (RFC 5682).

use super::Sender;
use crate::ack_sample::AckSample;
use crate::info::CaState;
use longhaul_units::Time;

/// The state to undo the latest window reduction (Linux: `undo_marker`, `undo_retrans`).
#[derive(Clone, Debug, Default)]
pub(super) struct UndoState {
    active: bool,
    /// SND.UNA when the episode began.
    undo_marker: u64,
    /// Retransmissions without a D-SACK, with those of earlier episodes that are still in flight.
    undo_retrans: u32,
    /// When the first of them was sent; [`Time::NEVER`]: none.
    retrans_stamp: Time,
    ack_advanced: bool,
    /// Their reordering, in segments.
    reordering: u32,
}

impl UndoState {
    /// Begins an episode with `retrans_out` retransmissions of earlier ones in flight: an echo that is younger than
    /// these may be theirs.
    pub(super) fn begin(&mut self, undo_marker: u64, retrans_out: u32) {
        let retrans_stamp = if retrans_out > 0 { self.retrans_stamp } else { Time::NEVER };
        *self = UndoState {
            active: true,
            undo_marker,
            undo_retrans: retrans_out,
            retrans_stamp,
            ..UndoState::default()
        };
    }

    pub(super) fn end(&mut self) {
        self.active = false;
    }

    /// Whether the next cumulative acknowledgement may prove the retransmission spurious by its echoed timestamp.
    #[inline]
    pub(super) fn awaits_echo(&self) -> bool {
        self.active && !self.ack_advanced && self.retrans_stamp != Time::NEVER
    }

    /// A segment is retransmitted with `retrans_out` others in flight.
    pub(super) fn on_retransmit(&mut self, now: Time, retrans_out: u32) {
        self.undo_retrans += u32::from(self.active);
        self.retrans_stamp = if retrans_out > 0 { self.retrans_stamp.min(now) } else { now };
    }

    fn update_reordering(&mut self, sample: &AckSample) {
        self.reordering = self.reordering.max(sample.retransmitted_reordering);
    }

    /// Whether the D-SACK for `sequence` completes those of all retransmissions.
    fn dsack_proves_spurious(&mut self, sequence: u64) -> bool {
        if !self.active || sequence < self.undo_marker || self.undo_retrans == 0 {
            return false;
        }
        self.undo_retrans -= 1;
        self.undo_retrans == 0
    }

    /// Eifel detection: the first cumulative acknowledgement echoes a time before the retransmission.
    fn echo_proves_spurious(&mut self, echo: Time) -> bool {
        if !self.awaits_echo() {
            return false;
        }
        self.ack_advanced = true;
        echo < self.retrans_stamp
    }
}

/// The state of F-RTO (RFC 5682, section 2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FRto {
    Off,
    /// The first segment is retransmitted; no other one is marked lost.
    Waiting,
    /// It was acknowledged; number of new segments that may be sent beyond the window.
    Probing(u8),
}

impl FRto {
    pub(super) fn allows_new_data(self) -> bool {
        matches!(self, FRto::Probing(1..))
    }

    pub(super) fn note_new_data(&mut self) {
        if let FRto::Probing(left) = self {
            *left = left.saturating_sub(1);
        }
    }
}

impl Sender {
    /// Undoes the latest reduction if the acknowledgement proves its retransmissions spurious.
    pub(super) fn detect_spurious(&mut self, sample: &AckSample, dsack: Option<u64>, duplicate: bool) {
        let undo = self.settings.undo;
        let undo_state = &mut self.loss.get_or_insert_default().undo_state;
        undo_state.update_reordering(sample);
        let by_dsack = dsack.is_some_and(|sequence| undo_state.dsack_proves_spurious(sequence));
        let by_echo = sample.acked > 0
            && sample.echo.is_some_and(|echo| undo_state.echo_proves_spurious(echo))
            && undo.timestamps;
        if (by_dsack && undo.dsack) || by_echo || self.process_f_rto(sample, duplicate) {
            self.undo(sample.now);
        }
    }

    /// Returns whether the timeout was spurious.
    fn process_f_rto(&mut self, sample: &AckSample, duplicate: bool) -> bool {
        if self.f_rto == FRto::Off {
            return false;
        }
        let all = self.scoreboard.snd_una() >= self.recovery_point();
        let moved = sample.acked > 0;
        let spurious = match self.f_rto {
            FRto::Waiting if moved && !all && self.written > self.sent => {
                self.f_rto = FRto::Probing(2);
                return false;
            }
            FRto::Probing(_) => moved && sample.newest_original.is_some(),
            _ => false,
        };
        if spurious || moved || duplicate || sample.delivered > 0 {
            self.f_rto = FRto::Off;
            if !spurious && !all {
                self.scoreboard.mark_all_lost(self.recovery_point());
            }
        }
        spurious
    }

    fn undo(&mut self, now: Time) {
        let loss = self.loss.get_or_insert_default();
        loss.counters.undone += 1;
        loss.undo_state.end();
        let reordering = loss.undo_state.reordering;
        self.update_reordering(reordering);
        self.f_rto = FRto::Off;
        self.rtt.reset_back_off();
        if self.ca_state != CaState::Open {
            self.scoreboard.undo_loss_marks();
            self.ca_state = CaState::Open;
            self.force_retransmit = false;
            self.inflation = 0;
        }
        self.algorithm.on_spurious(now);
    }
}
