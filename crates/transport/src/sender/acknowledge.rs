//! What an acknowledgement does.

use super::Sender;
use super::spurious::FRto;
use crate::info::Phase;
use crate::segment::{Flags, Segment};
use crate::settings::{Ecn, Recovery, Reordering};
use crate::tally::Tally;
use longhaul_congestion::{Ack, Cause};
use longhaul_units::{Span, Time};

impl Sender {
    /// Takes in the acknowledgement that `segment` carries. Old ones, and ones of what was never sent, do
    /// nothing.
    #[inline]
    pub(crate) fn acknowledge(&mut self, now: Time, segment: &Segment) {
        let number = segment.acknowledged;
        if number < self.board.first() || number > self.board.next() {
            return;
        }
        let echoed = self.ecn != Ecn::Off && segment.flags.has(Flags::ECE);
        let plain = segment.sacks[0].is_empty() && !echoed;
        if plain && self.board.is_empty() {
            self.note_window(segment);
        } else if plain && self.is_calm(number) {
            self.note_progress(now, segment);
        } else {
            self.take_in(now, segment, echoed);
        }
    }

    /// Whether an acknowledgement of all below `number` brings progress and no news of losses: none is known
    /// or suspected, nothing in flight was sent again, and none of it left before what has arrived.
    #[inline]
    fn is_calm(&self, number: u64) -> bool {
        number > self.board.first()
            && self.phase == Phase::Open
            && self.board.is_calm()
            && self.tail.end.is_none()
            && self.f_rto == FRto::Off
            && !self.suspicion.awaits_an_echo()
            && (self.board.record(number - 1).sent, number - 1) >= (self.rack.sent, self.rack.sequence)
    }

    /// What [`take_in`](Self::take_in) makes of an acknowledgement while all [is calm](Self::is_calm): whatever
    /// looks for losses, or for their having been none, would find nothing.
    fn note_progress(&mut self, now: Time, segment: &Segment) {
        let before = self.board.in_flight();
        let echo = segment.flags.has(Flags::TIMESTAMPS).then_some(segment.echo);
        let mut tally = Tally::new(now, echo, self.rtt.least());
        self.board.acknowledge(segment.acknowledged, &mut tally, &mut self.sampler);
        self.acknowledged += tally.bytes;
        self.note_window(segment);
        let rtt = self.sample(&tally);
        self.duplicates = 0;
        if self.recovery == Recovery::Rack {
            self.rack.update(&tally);
            self.rack.on_ack(self.board.first(), self.board.next(), false);
            self.reorder_at = Time::NEVER;
        }
        self.tell_algorithm(&tally, before, rtt, 0, false, false);
        self.rearm(now, true);
        self.refresh();
    }

    /// Takes in an acknowledgement that may tell of anything.
    #[inline(never)]
    fn take_in(&mut self, now: Time, segment: &Segment, echoed: bool) {
        let (number, first) = (segment.acknowledged, self.board.first());
        let before = self.board.in_flight();
        let echo = segment.flags.has(Flags::TIMESTAMPS).then_some(segment.echo);
        let mut tally = Tally::new(now, echo, self.rtt.least());
        if number > first {
            self.board.acknowledge(number, &mut tally, &mut self.sampler);
            self.acknowledged += tally.bytes;
        }
        let dsack = self.read_sacks(segment, &mut tally);
        let duplicate = number == first
            && tally.delivered == 0
            && !segment.occupies()
            && segment.window == self.last_window
            && !self.board.is_empty();
        self.note_window(segment);
        if tally.delivered == 0 && !duplicate && dsack.is_none() && !echoed {
            self.quiet = false;
            return;
        }
        let rtt = self.sample(&tally);
        self.note_reordering(tally.reordering);
        self.reconsider(&tally, dsack, duplicate);
        self.settle_tail_probe(&tally, dsack, duplicate && segment.sacks[0].is_empty());

        let recovering = self.phase == Phase::Recovery;
        let ended = self.phase != Phase::Open
            && (self.board.first() >= self.recovery_point
                || (recovering && self.recovery == Recovery::Reno && tally.acked > 0));
        if ended && !recovering {
            self.phase = Phase::Open;
        }
        if self.recovery == Recovery::Rack {
            self.rack.update(&tally);
            let widened = self.rack.on_ack(self.board.first(), self.board.next(), dsack.is_some());
            if ended && !widened {
                self.rack.on_recovered();
            }
        }
        let (lost, copies) = self.detect(&tally, duplicate, ended);
        self.report_lost(now, lost);
        self.react_to_lost_copies(now, copies, tally.acked);
        if self.phase == Phase::Open && (lost > 0 || (ended && !recovering && self.board.lost() > 0)) {
            self.enter_recovery(now, &tally);
        }
        if echoed {
            self.react_to_mark(now, &tally);
        }
        if self.phase == Phase::Recovery && !ended {
            self.reduce_proportionally(&tally, lost);
        }
        if tally.delivered > 0 {
            self.tell_algorithm(&tally, before, rtt, lost, echoed, recovering);
        }
        if recovering && ended {
            self.leave_recovery(now);
            if self.recovery.selective() && self.board.lost() > 0 {
                self.enter_recovery(now, &tally);
                self.reduce_proportionally(&tally, lost);
            }
        }
        self.rearm(now, tally.acked > 0);
        self.refresh();
    }

    /// Reads the SACK blocks; returns what a D-SACK among them reports (RFC 2883, section 4).
    fn read_sacks(&mut self, segment: &Segment, tally: &mut Tally) -> Option<u64> {
        if segment.sacks[0].is_empty() || !self.recovery.selective() {
            return None;
        }
        let mut duplicate = None;
        for (index, block) in segment.sacks.into_iter().enumerate() {
            if block.is_empty() {
                break;
            }
            let (start, end) = block.absolute(segment.acknowledged);
            if index == 0 {
                let (second_start, second_end) = segment.sacks[1].absolute(segment.acknowledged);
                let within = !segment.sacks[1].is_empty() && start >= second_start && end <= second_end;
                if start < segment.acknowledged || within {
                    duplicate = Some(start);
                    self.counters.dsacks += 1;
                    continue;
                }
            }
            self.board.sack(start, end, tally, &mut self.sampler);
        }
        duplicate
    }

    /// The receiver never takes back what it has offered, so the furthest edge holds.
    fn note_window(&mut self, segment: &Segment) {
        self.last_window = segment.window;
        let window = u64::from(segment.window);
        self.max_window = self.max_window.max(segment.window);
        self.right_edge = self.right_edge.max(self.acknowledged + window);
    }

    /// The other end's window as its SYN says it.
    pub(crate) fn note_first_window(&mut self, segment: &Segment) {
        self.note_window(segment);
    }

    /// RTT samples: for the timer from the oldest segment, so that delayed acknowledgements count, or
    /// from the echoed time (RFC 7323, section 4.1); for the algorithm, which it returns, from the newest.
    fn sample(&mut self, tally: &Tally) -> Option<Span> {
        if tally.acked > 0 {
            let oldest = tally.oldest.filter(|_| !tally.ambiguous);
            if let Some(sent) = tally.echo.or(oldest) {
                self.rtt.sample(tally.now.since(sent));
                self.tail.unsampled = false;
            }
        }
        let rtt = tally.now.since(tally.newest_original?);
        self.rtt.note_least(rtt);
        Some(rtt)
    }

    /// A segment arrived behind `by` later ones.
    pub(super) fn note_reordering(&mut self, by: u32) {
        if by == 0 {
            return;
        }
        self.reordering_seen = true;
        self.counters.reordering = self.counters.reordering.max(by);
        if let Reordering::Adaptive { most } = self.settings.reordering {
            self.threshold = self.threshold.max((by + 1).min(most));
        }
    }

    /// What became of the tail loss probe (RFC 8985, section 7.4.2); `bare`: a duplicate without SACK option.
    fn settle_tail_probe(&mut self, tally: &Tally, dsack: Option<u64>, bare: bool) {
        let Some(end) = self.tail.end.map(u64::from).filter(|&end| self.board.first() >= end) else { return };
        let arrived_twice = dsack == Some(end - 1) || bare;
        if !self.tail.again || arrived_twice {
            self.tail.end = None;
        } else if self.board.first() > end {
            // The probe has repaired a loss that nothing else has told of.
            self.tail.end = None;
            if self.phase == Phase::Open && !self.reduced_lately() {
                self.report_lost(tally.now, 1);
                self.congestion(tally.now, Cause::Loss, tally.acked);
                self.algorithm.on_recovered(tally.now);
            }
        }
    }

    /// ECN echo: once per window (RFC 3168, section 6.1.2; RFC 8257, section 3.3).
    fn react_to_mark(&mut self, now: Time, tally: &Tally) {
        self.counters.marks += u64::from(tally.delivered);
        if self.phase == Phase::Open && !self.reduced_lately() {
            self.suspicion.end();
            self.congestion(now, Cause::Mark, tally.acked);
            self.reduced_until = self.board.next();
        }
    }

    fn tell_algorithm(
        &mut self,
        tally: &Tally,
        before: u32,
        rtt: Option<Span>,
        lost: u32,
        echoed: bool,
        recovering: bool,
    ) {
        // RFC 3168, section 6.1.2: no growth on an echo.
        let may_grow = self.idle_cap.is_infinite() && !(echoed && self.ecn == Ecn::Classic);
        let limited = std::mem::take(&mut self.held) && may_grow;
        let min_rtt = self.rtt.least();
        let ack = Ack {
            now: tally.now,
            acked: tally.acked,
            delivered: tally.delivered,
            marked: if echoed && self.ecn == Ecn::Exact { tally.delivered } else { 0 },
            in_flight: before,
            rtt,
            srtt: self.rtt.smoothed(),
            min_rtt,
            window_limited: limited,
            recovering: recovering || self.phase == Phase::Recovery,
            first_unacked: self.board.first(),
            next_sequence: self.board.next(),
            delivery: tally.rate.as_ref().and_then(|newest| self.sampler.sample(newest, min_rtt, lost)),
        };
        if let Some(delivery) = ack.delivery {
            self.delivery = (delivery.delivered, delivery.interval);
        }
        self.algorithm.on_ack(&ack);
        if self.idle_cap.is_finite() {
            // Back to the window that was, as in slow start.
            self.idle_cap += f64::from(tally.acked.min(2));
            if self.idle_cap >= self.algorithm.window() {
                self.idle_cap = f64::INFINITY;
            }
        }
    }
}
