//! Acknowledgement processing.

use super::Sender;
use super::spurious::FRto;
use crate::ack_sample::AckSample;
use crate::info::CaState;
use crate::segment::{Flags, Segment};
use crate::settings::{Ecn, Recovery, Reordering};
use longhaul_congestion::{Ack, Cause};
use longhaul_units::{Span, Time};

impl Sender {
    /// Processes the acknowledgement in `segment`. Old ones, and ones above SND.NXT, have no effect.
    #[inline]
    pub(crate) fn acknowledge(&mut self, now: Time, segment: &Segment) {
        let number = segment.acknowledged;
        if number < self.scoreboard.snd_una() || number > self.scoreboard.snd_nxt() {
            return;
        }
        let ece = self.ecn != Ecn::Off && segment.flags.has(Flags::ECE);
        let plain = segment.sacks[0].is_empty() && !ece;
        if plain && self.scoreboard.is_empty() {
            self.update_window(segment);
        } else if plain && self.is_fast_path(number) {
            self.process_fast_path(now, segment);
        } else {
            self.process_slow_path(now, segment, ece);
        }
    }

    /// Whether an acknowledgement of all segments below `number` needs no loss processing: the state is Open, nothing
    /// in flight was retransmitted, and RACK's newest delivery is not newer.
    #[inline]
    fn is_fast_path(&self, number: u64) -> bool {
        number > self.scoreboard.snd_una()
            && self.ca_state == CaState::Open
            && self.scoreboard.in_open_state()
            && self.tlp.end_seq.is_none()
            && self.f_rto == FRto::Off
            && !self.loss.as_ref().is_some_and(|loss| loss.undo_state.awaits_echo())
            && (self.scoreboard.record(number - 1).sent, number - 1) >= (self.rack.xmit_ts, self.rack.segment)
    }

    /// [`process_slow_path`](Self::process_slow_path) without loss detection, for [`is_fast_path`](Self::is_fast_path).
    fn process_fast_path(&mut self, now: Time, segment: &Segment) {
        let in_flight = self.scoreboard.in_flight();
        let echo = segment.flags.has(Flags::TIMESTAMPS).then_some(segment.echo);
        let mut sample = AckSample::new(now, echo, self.rtt.min_rtt());
        self.scoreboard.acknowledge(segment.acknowledged, &mut sample, &mut self.sampler);
        self.acknowledged += sample.bytes;
        self.update_window(segment);
        let rtt = self.sample_rtt(&sample);
        self.dup_acks = 0;
        if self.recovery == Recovery::Rack {
            self.rack.update(&sample);
            self.rack.on_ack(self.scoreboard.snd_una(), self.scoreboard.snd_nxt(), false);
            self.reordering_timer = Time::NEVER;
        }
        self.call_on_ack(&sample, in_flight, rtt, 0, false, false);
        self.rearm_timers(now, true);
        self.refresh();
    }

    /// Processes any acknowledgement.
    #[inline(never)]
    fn process_slow_path(&mut self, now: Time, segment: &Segment, ece: bool) {
        let (number, first) = (segment.acknowledged, self.scoreboard.snd_una());
        let in_flight = self.scoreboard.in_flight();
        let echo = segment.flags.has(Flags::TIMESTAMPS).then_some(segment.echo);
        let mut sample = AckSample::new(now, echo, self.rtt.min_rtt());
        if number > first {
            self.scoreboard.acknowledge(number, &mut sample, &mut self.sampler);
            self.acknowledged += sample.bytes;
        }
        let dsack = self.process_sack_blocks(segment, &mut sample);
        let duplicate = number == first
            && sample.delivered == 0
            && !segment.occupies_sequence_space()
            && segment.window == self.last_window
            && !self.scoreboard.is_empty();
        self.update_window(segment);
        if sample.delivered == 0 && !duplicate && dsack.is_none() && !ece {
            self.nothing_to_send = false;
            return;
        }
        let rtt = self.sample_rtt(&sample);
        self.update_reordering(sample.reordering);
        self.detect_spurious(&sample, dsack, duplicate);
        self.process_tlp_ack(&sample, dsack, duplicate && segment.sacks[0].is_empty());

        let recovering = self.ca_state == CaState::Recovery;
        let ended = self.ca_state != CaState::Open
            && (self.scoreboard.snd_una() >= self.recovery_point()
                || (recovering && self.recovery == Recovery::Reno && sample.acked > 0));
        if ended && !recovering {
            self.ca_state = CaState::Open;
        }
        if self.recovery == Recovery::Rack {
            self.rack.update(&sample);
            let widened =
                self.rack.on_ack(self.scoreboard.snd_una(), self.scoreboard.snd_nxt(), dsack.is_some());
            if ended && !widened {
                self.rack.on_recovered();
            }
        }
        let (lost, lost_retransmissions) = self.detect_losses(&sample, duplicate, ended);
        self.on_losses(now, lost);
        self.react_to_lost_retransmissions(now, lost_retransmissions, sample.acked);
        if self.ca_state == CaState::Open
            && (lost > 0 || (ended && !recovering && self.scoreboard.lost_out() > 0))
        {
            self.enter_recovery(now, &sample);
        }
        if ece {
            self.process_ecn_echo(now, &sample);
        }
        if self.ca_state == CaState::Recovery && !ended {
            self.update_prr(&sample, lost);
        }
        if sample.delivered > 0 {
            self.call_on_ack(&sample, in_flight, rtt, lost, ece, recovering);
        }
        if recovering && ended {
            self.leave_recovery(now);
            if self.recovery.uses_sack() && self.scoreboard.lost_out() > 0 {
                self.enter_recovery(now, &sample);
                self.update_prr(&sample, lost);
            }
        }
        self.rearm_timers(now, sample.acked > 0);
        self.refresh();
    }

    /// Processes the SACK blocks; returns the segment that a D-SACK reports (RFC 2883, section 4).
    fn process_sack_blocks(&mut self, segment: &Segment, sample: &mut AckSample) -> Option<u64> {
        if segment.sacks[0].is_empty() || !self.recovery.uses_sack() {
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
                    self.loss.get_or_insert_default().counters.dsacks += 1;
                    continue;
                }
            }
            self.scoreboard.sack(start, end, sample, &mut self.sampler);
        }
        duplicate
    }

    /// Updates the send window. The receiver never shrinks it, so the highest right edge holds.
    pub(super) fn update_window(&mut self, segment: &Segment) {
        self.last_window = segment.window;
        let window = u64::from(segment.window);
        self.max_window = self.max_window.max(segment.window);
        self.right_edge = self.right_edge.max(self.acknowledged + window);
    }

    /// RTT samples: for the timer from the oldest segment, so that delayed acknowledgements count, or
    /// from the echoed time (RFC 7323, section 4.1); for the algorithm, which it returns, from the newest.
    fn sample_rtt(&mut self, sample: &AckSample) -> Option<Span> {
        if sample.acked > 0 {
            let oldest = sample.oldest.filter(|_| !sample.ambiguous);
            if let Some(sent) = sample.echo.or(oldest) {
                self.rtt.sample(sample.now.since(sent));
                self.tlp.no_rtt_sample = false;
            }
        }
        let rtt = sample.now.since(sample.newest_original?);
        self.rtt.update_min_rtt(rtt);
        Some(rtt)
    }

    /// Takes a reordering of `by` segments.
    pub(super) fn update_reordering(&mut self, by: u32) {
        if by == 0 {
            return;
        }
        self.reordering_seen = true;
        let loss = self.loss.get_or_insert_default();
        loss.counters.reordering = loss.counters.reordering.max(by);
        if let Reordering::Adaptive { max } = self.settings.reordering {
            loss.raised_dup_thresh = loss.raised_dup_thresh.max((by + 1).min(max));
        }
    }

    /// Ends the tail loss probe (RFC 8985, section 7.4.2); `bare`: a duplicate ACK without SACK option.
    fn process_tlp_ack(&mut self, sample: &AckSample, dsack: Option<u64>, bare: bool) {
        let Some(end) = self.tlp.end_seq.map(u64::from).filter(|&end| self.scoreboard.snd_una() >= end)
        else {
            return;
        };
        let arrived_twice = dsack == Some(end - 1) || bare;
        if !self.tlp.is_retransmission || arrived_twice {
            self.tlp.end_seq = None;
        } else if self.scoreboard.snd_una() > end {
            // The probe has repaired a loss that nothing else has detected.
            self.tlp.end_seq = None;
            if self.ca_state == CaState::Open && !self.reduced_in_this_window() {
                self.on_losses(sample.now, 1);
                self.on_congestion_event(sample.now, Cause::Loss, sample.acked);
                self.algorithm.on_recovered(sample.now);
            }
        }
    }

    /// ECN echo: once per window (RFC 3168, section 6.1.2; RFC 8257, section 3.3).
    fn process_ecn_echo(&mut self, now: Time, sample: &AckSample) {
        let reduced = self.reduced_in_this_window();
        let loss = self.loss.get_or_insert_default();
        loss.counters.marks += u64::from(sample.delivered);
        if self.ca_state == CaState::Open && !reduced {
            loss.undo_state.end();
            loss.reduced_until = self.scoreboard.snd_nxt();
            self.on_congestion_event(now, Cause::Mark, sample.acked);
        }
    }

    fn call_on_ack(
        &mut self,
        sample: &AckSample,
        in_flight: u32,
        rtt: Option<Span>,
        lost: u32,
        ece: bool,
        recovering: bool,
    ) {
        // RFC 3168, section 6.1.2: no growth on an echo.
        let may_grow = self.restart_window.is_infinite() && !(ece && self.ecn == Ecn::Classic);
        let limited = std::mem::take(&mut self.cwnd_limited) && may_grow;
        let min_rtt = self.rtt.min_rtt();
        let ack = Ack {
            now: sample.now,
            acked: sample.acked,
            delivered: sample.delivered,
            marked: if ece && self.ecn == Ecn::Exact { sample.delivered } else { 0 },
            in_flight,
            rtt,
            srtt: self.rtt.srtt(),
            min_rtt,
            window_limited: limited,
            recovering: recovering || self.ca_state == CaState::Recovery,
            first_unacked: self.scoreboard.snd_una(),
            next_sequence: self.scoreboard.snd_nxt(),
            delivery: sample.rate.as_ref().and_then(|newest| self.sampler.sample(newest, min_rtt, lost)),
        };
        if let Some(delivery) = ack.delivery {
            self.delivery = (delivery.delivered, delivery.interval);
        }
        self.algorithm.on_ack(&ack);
        if self.restart_window.is_finite() {
            // Grows back to the algorithm's window as in slow start.
            self.restart_window += f64::from(sample.acked.min(2));
            if self.restart_window >= self.algorithm.window() {
                self.restart_window = f64::INFINITY;
            }
        }
    }
}
