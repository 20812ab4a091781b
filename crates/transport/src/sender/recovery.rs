//! Finding losses, and what follows.

use super::Sender;
use super::spurious::FRto;
use crate::info::Phase;
use crate::prr::{Progress, Prr};
use crate::rack::Situation;
use crate::scoreboard::Overdue;
use crate::settings::{Ecn, Recovery, Reduction};
use crate::tally::Tally;
use longhaul_congestion::{Cause, Congestion};
use longhaul_units::Time;

impl Sender {
    /// RFC 5681's FlightSize before `acked` segments were acknowledged, without what limited transmit or
    /// an idle window let out beyond the window (section 3.2, step 2).
    pub(super) fn flight(&self, acked: u32) -> u32 {
        let window = self.window();
        // Rounded up.
        let whole = window as u32;
        let window = whole.saturating_add(u32::from(f64::from(whole) < window));
        (self.board.outstanding() + acked).min(window.max(1))
    }

    pub(super) fn situation(&self) -> Situation {
        Situation {
            min_rtt: self.rtt.least(),
            srtt: self.rtt.smoothed(),
            reordering_seen: self.reordering_seen,
            eager: self.phase != Phase::Open || self.board.sacked() >= 3,
        }
    }

    /// Marks what an acknowledgement shows to be lost; returns how many segments, and of these how many
    /// retransmissions, as far as RACK knows.
    pub(super) fn detect(&mut self, tally: &Tally, duplicate: bool, ended: bool) -> (u32, u32) {
        let lost = match self.recovery {
            Recovery::Rack if self.f_rto != FRto::Off => 0,
            Recovery::Rack => {
                let situation = self.situation();
                let Overdue { lost, copies, due } = self.rack.detect(&mut self.board, tally.now, &situation);
                self.reorder_at = due;
                return (lost, copies);
            }
            // After a timeout the scoreboard starts no recovery before all of it is repaired (RFC 6675,
            // section 5.1).
            Recovery::Sack if self.phase == Phase::Loss => 0,
            Recovery::Sack => self.board.mark_overtaken(self.threshold),
            Recovery::NewReno | Recovery::Reno | Recovery::Tahoe => self.count(tally, duplicate, ended),
        };
        (lost, 0)
    }

    /// Without PRR the loss of a retransmission reduces the window again, once per window (RFC 8985, section
    /// 9.3).
    pub(super) fn react_to_lost_copies(&mut self, now: Time, copies: u32, acked: u32) {
        if copies > 0
            && self.phase == Phase::Recovery
            && !self.proportional()
            && !self.algorithm.steers_recovery()
            && !self.reduced_lately()
        {
            self.congestion(now, Cause::Loss, acked);
            self.reduced_until = self.board.next();
        }
    }

    /// Counts duplicate acknowledgements (RFC 5681, section 3.2) and partial ones (RFC 6582).
    fn count(&mut self, tally: &Tally, duplicate: bool, ended: bool) -> u32 {
        if tally.acked > 0 {
            self.duplicates = 0;
            if self.phase != Phase::Recovery || ended {
                return 0;
            }
            // Section 3.2, step 3 of RFC 6582: a partial acknowledgement.
            self.board.mark_first();
            self.urgent = true;
            self.inflation += 1 - tally.acked as i32;
            return 1;
        }
        if !duplicate {
            return 0;
        }
        match self.phase {
            Phase::Recovery => {
                self.inflation += 1;
                0
            }
            Phase::Loss => 0,
            Phase::Open => {
                self.duplicates += 1;
                // RFC 6582, section 3.2, step 1: not for what was sent again for nothing.
                let fresh = self.recovery_point == 0 || self.board.first() > self.recovery_point;
                if self.duplicates != 3 || (self.recovery != Recovery::Reno && !fresh) {
                    return 0;
                }
                self.board.mark_first();
                1
            }
        }
    }

    /// Tells the algorithm of `lost` segments.
    pub(super) fn report_lost(&mut self, now: Time, lost: u32) {
        if lost == 0 {
            return;
        }
        self.counters.losses += u64::from(lost);
        self.sampler.lost += u64::from(lost);
        self.algorithm.on_lost(now, lost);
    }

    pub(super) fn congestion(&mut self, now: Time, cause: Cause, acked: u32) {
        let congestion = Congestion {
            now,
            cause,
            in_flight: self.flight(acked),
            min_rtt: self.rtt.least(),
            srtt: self.rtt.smoothed(),
            next_sequence: self.board.next(),
        };
        self.idle_cap = f64::INFINITY;
        self.announce = self.ecn == Ecn::Classic;
        self.algorithm.on_congestion(&congestion);
    }

    /// Whether the window has been reduced less than a window ago, for marks (RFC 3168, section 6.1.2) or a lost
    /// retransmission.
    pub(super) fn reduced_lately(&self) -> bool {
        self.board.first() <= self.reduced_until && self.reduced_until > 0
    }

    /// Begins fast recovery, on an acknowledgement or, with an empty tally, a timer.
    pub(super) fn enter_recovery(&mut self, now: Time, tally: &Tally) {
        let flight = self.board.outstanding() - self.board.sacked() + tally.delivered;
        self.counters.recoveries += 1;
        if self.recovery == Recovery::Tahoe {
            let flight = self.flight(tally.acked);
            self.algorithm.on_timeout(now, flight);
            self.recovery_point = self.board.next();
            self.board.mark_all(self.recovery_point);
            self.phase = Phase::Loss;
            return;
        }
        self.suspicion.end();
        if !self.reduced_lately() {
            self.congestion(now, Cause::Loss, tally.acked);
            self.suspicion.begin(self.board.first());
        }
        self.phase = Phase::Recovery;
        self.urgent = true;
        self.recovery_point = self.board.next();
        self.prr = Prr::begin(flight);
        self.high_again = self.board.first();
        self.rescued = false;
        self.partial_seen = false;
        self.probe_at = Time::NEVER;
        self.tail.end = None;
        if !self.recovery.selective() {
            self.inflation = 3;
        }
    }

    pub(super) fn leave_recovery(&mut self, now: Time) {
        self.phase = Phase::Open;
        self.urgent = false;
        self.inflation = 0;
        self.duplicates = 0;
        self.algorithm.on_recovered(now);
    }

    /// PRR's share of an acknowledgement.
    pub(super) fn reduce_proportionally(&mut self, tally: &Tally, lost: u32) {
        let Reduction::Proportional(bound) = self.settings.reduction else { return };
        if !self.proportional() {
            return;
        }
        let progress = Progress {
            delivered: tally.delivered,
            pipe: self.board.in_flight(),
            target: self.algorithm.window() as u32,
            safe: tally.acked > 0 && lost == 0,
        };
        self.prr.on_ack(progress, bound);
    }
}
