//! Was a retransmission for nothing? D-SACK (RFC 3708), timestamps (RFC 3522) and F-RTO (RFC 5682).

use super::Sender;
use crate::info::Phase;
use crate::tally::Tally;
use longhaul_units::Time;

/// What an episode of recovery may turn out to have been.
#[derive(Clone, Debug, Default)]
pub(super) struct Suspicion {
    active: bool,
    /// The first unacknowledged segment when the episode began.
    from: u64,
    /// Retransmissions for which no D-SACK has come.
    unproved: u32,
    /// When the first of them left; never: none did yet.
    first: Time,
    advanced: bool,
    /// How far behind later ones they arrived.
    behind: u32,
}

impl Suspicion {
    pub(super) fn begin(&mut self, from: u64) {
        *self = Suspicion { active: true, from, first: Time::NEVER, ..Suspicion::default() };
    }

    pub(super) fn end(&mut self) {
        self.active = false;
    }

    /// Whether the next acknowledgement that advances may refute it without a D-SACK.
    #[inline]
    pub(super) fn awaits_an_echo(&self) -> bool {
        self.active && !self.advanced && self.first != Time::NEVER
    }

    pub(super) fn on_sent_again(&mut self, now: Time) {
        if self.active {
            self.unproved += 1;
            self.first = self.first.min(now);
        }
    }

    fn note_arrival(&mut self, tally: &Tally) {
        self.behind = self.behind.max(tally.doubtful);
    }

    /// Whether a D-SACK for `sequence` was the last one missing.
    fn is_refuted_by_dsack(&mut self, sequence: u64) -> bool {
        if !self.active || sequence < self.from || self.unproved == 0 {
            return false;
        }
        self.unproved -= 1;
        self.unproved == 0
    }

    /// Whether the first acknowledgement that advances echoes a time before the retransmission.
    fn is_refuted_by_echo(&mut self, echo: Time) -> bool {
        if !self.awaits_an_echo() {
            return false;
        }
        self.advanced = true;
        echo < self.first
    }
}

/// RFC 5682, section 2.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FRto {
    Off,
    /// The first segment has been sent again; nothing else is taken for lost yet.
    Waiting,
    /// It was acknowledged; so many more new segments may go, whatever the window.
    Probing(u8),
}

impl FRto {
    pub(super) fn lets_new_data_go(self) -> bool {
        matches!(self, FRto::Probing(1..))
    }

    pub(super) fn note_new_data(&mut self) {
        if let FRto::Probing(left) = self {
            *left = left.saturating_sub(1);
        }
    }
}

impl Sender {
    /// Looks for evidence in an acknowledgement, and undoes what it refutes.
    pub(super) fn reconsider(&mut self, tally: &Tally, dsack: Option<u64>, duplicate: bool) {
        let undo = self.settings.undo;
        self.suspicion.note_arrival(tally);
        let by_dsack = dsack.is_some_and(|sequence| self.suspicion.is_refuted_by_dsack(sequence));
        let by_echo = tally.acked > 0
            && tally.echo.is_some_and(|echo| self.suspicion.is_refuted_by_echo(echo))
            && undo.timestamps;
        if (by_dsack && undo.dsack) || by_echo || self.follow_f_rto(tally, duplicate) {
            self.undo(tally.now);
        }
    }

    /// Returns whether the timeout was spurious.
    fn follow_f_rto(&mut self, tally: &Tally, duplicate: bool) -> bool {
        if self.f_rto == FRto::Off {
            return false;
        }
        let all = self.board.first() >= self.recovery_point;
        let moved = tally.acked > 0;
        let spurious = match self.f_rto {
            FRto::Waiting if moved && !all && self.written > self.sent => {
                self.f_rto = FRto::Probing(2);
                return false;
            }
            FRto::Probing(_) => moved && tally.newest_original.is_some(),
            _ => false,
        };
        if spurious || moved || duplicate || tally.delivered > 0 {
            self.f_rto = FRto::Off;
            if !spurious && !all {
                self.board.mark_all(self.recovery_point);
            }
        }
        spurious
    }

    fn undo(&mut self, now: Time) {
        self.counters.undone += 1;
        self.suspicion.end();
        self.note_reordering(self.suspicion.behind);
        self.f_rto = FRto::Off;
        self.rtt.forget_back_off();
        if self.phase != Phase::Open {
            self.board.unmark();
            self.phase = Phase::Open;
            self.urgent = false;
            self.inflation = 0;
        }
        self.algorithm.on_spurious(now);
    }
}
