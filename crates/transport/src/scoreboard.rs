use crate::ack_sample::AckSample;
use crate::delivery::Sampler;
use crate::ranges::{Range, Ranges};
use crate::ring::Ring;
use longhaul_units::{Span, Time};
use std::collections::VecDeque;

/// The sender's state of a segment until it is cumulatively acknowledged; 40 bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Record {
    /// When it was last transmitted.
    pub(crate) sent: Time,
    pub(crate) first_send_time: Time,
    pub(crate) delivered_time: Time,
    pub(crate) delivered: u32,
    pub(crate) lost: u32,
    pub(crate) in_flight: u32,
    pub(crate) bytes: u16,
    flags: u8,
}

impl Record {
    /// SACKed (Linux: `TCPCB_SACKED_ACKED`).
    pub(crate) const SACKED: u8 = 1;
    /// Marked lost (Linux: `TCPCB_LOST`).
    pub(crate) const LOST: u8 = 2;
    /// Retransmitted, and the retransmission is in flight (Linux: `TCPCB_SACKED_RETRANS`).
    pub(crate) const RETRANS: u8 = 4;
    /// Ever retransmitted: its RTT sample is ambiguous (Linux: `TCPCB_EVER_RETRANS`).
    pub(crate) const EVER_RETRANS: u8 = 8;
    /// Carries the FIN.
    pub(crate) const FIN: u8 = 16;
    /// Transmitted while the application limited the sender.
    pub(crate) const APP_LIMITED: u8 = 32;

    pub(crate) const fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    pub(crate) fn set(&mut self, flag: u8, on: bool) {
        if on {
            self.flags |= flag;
        } else {
            self.flags &= !flag;
        }
    }
}

/// Result of RACK's loss detection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RackLosses {
    /// Segments newly marked lost, and how many of them are retransmissions.
    pub(crate) lost: u32,
    pub(crate) lost_retransmissions: u32,
    /// When the reordering window of the next segment ends.
    pub(crate) reordering_timer: Time,
}

impl Default for RackLosses {
    fn default() -> Self {
        RackLosses { lost: 0, lost_retransmissions: 0, reordering_timer: Time::NEVER }
    }
}

/// The lists that exist only outside of the Open state.
#[derive(Clone, Debug, Default)]
struct RecoveryState {
    /// SACKed segments.
    sacked: Ranges,
    /// Segments to retransmit, in the order of their detection; some may have been delivered since.
    retransmit_queue: VecDeque<u64>,
    /// Retransmitted segments, in the order of transmission.
    retransmitted: VecDeque<(Time, u64)>,
}

/// The sender's scoreboard (RFC 6675, section 3): all segments from SND.UNA to SND.NXT.
///
/// An acknowledgement takes time in proportion to the segments that it newly covers, because all scans resume
/// where they stopped. Timeouts and undo scan everything.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scoreboard {
    records: Ring<Record>,
    /// Present while a segment is SACKed, lost or retransmitted.
    recovery: Option<Box<RecoveryState>>,
    sacked_out: u32,
    lost_out: u32,
    retrans_out: u32,
    /// Detection by `DupThresh` has scanned all segments below; number of SACKed segments at or above it.
    sack_scan: u64,
    sacked_above_scan: u32,
    /// RACK: all segments below are SACKed, lost or in `retransmitted`.
    rack_scan: u64,
    /// One after the highest retransmitted segment (RFC 6675: `HighRxt`).
    high_rxt: u64,
    /// One after the highest delivered segment (RFC 8985: RACK.fack).
    rack_fack: u64,
}

impl Scoreboard {
    /// The first unacknowledged segment (SND.UNA).
    pub(crate) fn snd_una(&self) -> u64 {
        self.records.first()
    }
    /// The number of the next new segment (SND.NXT).
    pub(crate) fn snd_nxt(&self) -> u64 {
        self.records.next()
    }
    pub(crate) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }
    /// Segments sent and not cumulatively acknowledged (`FlightSize`).
    pub(crate) fn flight_size(&self) -> u32 {
        self.records.len()
    }
    /// Segments estimated to be in the network (RFC 6675: pipe).
    pub(crate) fn in_flight(&self) -> u32 {
        self.flight_size() + self.retrans_out - self.sacked_out - self.lost_out
    }
    pub(crate) fn sacked_out(&self) -> u32 {
        self.sacked_out
    }
    pub(crate) fn lost_out(&self) -> u32 {
        self.lost_out
    }
    /// Retransmissions that are neither acknowledged nor marked lost.
    pub(crate) fn retrans_out(&self) -> u32 {
        self.retrans_out
    }
    /// One after the highest SACKed segment.
    pub(crate) fn sacked_end(&self) -> u64 {
        let end = self.recovery.as_ref().and_then(|recovery| recovery.sacked.end());
        end.unwrap_or(self.snd_una())
    }

    pub(crate) fn record(&self, sequence: u64) -> &Record {
        &self.records[sequence]
    }

    /// No segment is SACKed, lost or retransmitted.
    pub(crate) fn in_open_state(&self) -> bool {
        self.sacked_out == 0 && self.lost_out == 0 && self.snd_una() >= self.high_rxt
    }
    #[cfg(test)]
    pub(crate) fn has_no_recovery_state(&self) -> bool {
        self.recovery.is_none()
    }
    #[cfg(test)]
    pub(crate) fn capacity(&self) -> usize {
        self.records.capacity()
    }

    /// Adds a new segment that is transmitted now.
    pub(crate) fn push(&mut self, now: Time, bytes: u16, fin: bool, sampler: &mut Sampler) -> u64 {
        let sequence = self.snd_nxt();
        let mut record = Record { bytes, ..Record::default() };
        record.set(Record::FIN, fin);
        sampler.on_sent(now, self.in_flight(), &mut record);
        self.records.push(record);
        sequence
    }

    /// Retransmits a segment. With `for_rack`, [`mark_lost_by_time`](Self::mark_lost_by_time) finds it.
    pub(crate) fn retransmit(&mut self, now: Time, sequence: u64, for_rack: bool, sampler: &mut Sampler) {
        let in_flight = self.in_flight();
        let record = &mut self.records[sequence];
        sampler.on_sent(now, in_flight, record);
        self.retrans_out += u32::from(!record.has(Record::RETRANS));
        record.set(Record::RETRANS | Record::EVER_RETRANS, true);
        self.high_rxt = self.high_rxt.max(sequence + 1);
        if for_rack {
            self.recovery().retransmitted.push_back((now, sequence));
        }
    }

    /// Processes a cumulative acknowledgement of all segments below `number`.
    pub(crate) fn acknowledge(&mut self, number: u64, sample: &mut AckSample, sampler: &mut Sampler) {
        let first = self.snd_una();
        if number <= first {
            return;
        }
        sample.acked = (number - first) as u32;
        if self.in_open_state() {
            self.mark_delivered_in_order(number, sample, sampler);
        } else {
            for sequence in first..number {
                let record = self.records[sequence];
                sample.bytes += u64::from(record.bytes);
                if record.has(Record::SACKED) {
                    self.sacked_out -= 1;
                    self.sacked_above_scan -= u32::from(sequence >= self.sack_scan);
                } else {
                    self.mark_delivered(sequence, &record, sample, sampler);
                    sample.oldest = sample.oldest.or(Some(record.sent));
                    sample.ambiguous |= record.has(Record::EVER_RETRANS);
                }
            }
        }
        self.records.forget_below(number);
        self.sack_scan = self.sack_scan.max(number);
        self.rack_scan = self.rack_scan.max(number);
        if self.records.is_empty() {
            self.recovery = None;
        } else if let Some(recovery) = &mut self.recovery {
            recovery.sacked.forget_below(number);
        }
    }

    fn recovery(&mut self) -> &mut RecoveryState {
        self.recovery.get_or_insert_default()
    }

    /// The fast path of [`mark_delivered`](Self::mark_delivered): no segment was retransmitted, and none behind them is
    /// delivered, so that only the last one determines the sample.
    fn mark_delivered_in_order(&mut self, end: u64, sample: &mut AckSample, sampler: &mut Sampler) {
        let first = self.snd_una();
        sample.delivered = sample.acked;
        sample.oldest = Some(self.records[first].sent);
        sample.bytes = (first..end).map(|sequence| u64::from(self.records[sequence].bytes)).sum();
        let last = &self.records[end - 1];
        sample.newest_original = Some(last.sent);
        sample.newest = Some((last.sent, end - 1));
        sampler.delivered += u64::from(sample.acked - 1);
        sampler.on_delivered(sample.now, end - 1, last, &mut sample.rate);
        self.rack_fack = end;
    }

    /// Processes the SACK block `start..end` (RFC 2018); returns the number of newly SACKed segments.
    pub(crate) fn sack(
        &mut self,
        start: u64,
        end: u64,
        sample: &mut AckSample,
        sampler: &mut Sampler,
    ) -> u32 {
        let (start, end) = (start.max(self.snd_una()), end.min(self.snd_nxt()));
        if start >= end {
            return 0;
        }
        let mut ranges = std::mem::take(&mut self.recovery().sacked);
        let before = sample.delivered;
        ranges.insert(start, end, 0, |start, end| {
            for sequence in start..end {
                let record = self.records[sequence];
                self.mark_delivered(sequence, &record, sample, sampler);
                self.records[sequence].set(Record::LOST | Record::RETRANS, false);
                self.records[sequence].set(Record::SACKED, true);
                self.sacked_out += 1;
                self.sacked_above_scan += u32::from(sequence >= self.sack_scan);
            }
        });
        self.recovery().sacked = ranges;
        sample.delivered - before
    }

    /// Counts a segment as delivered, by SACK or cumulatively.
    fn mark_delivered(
        &mut self,
        sequence: u64,
        record: &Record,
        sample: &mut AckSample,
        sampler: &mut Sampler,
    ) {
        sample.delivered += 1;
        sampler.on_delivered(sample.now, sequence, record, &mut sample.rate);
        self.lost_out -= u32::from(record.has(Record::LOST));
        self.retrans_out -= u32::from(record.has(Record::RETRANS));
        let retransmitted = record.has(Record::EVER_RETRANS);
        let behind = self.rack_fack.saturating_sub(sequence + 1) as u32;
        if retransmitted {
            sample.retransmitted_reordering = sample.retransmitted_reordering.max(behind);
        } else {
            sample.newest_original = sample.newest_original.max(Some(record.sent));
            sample.reordering = sample.reordering.max(behind);
        }
        self.rack_fack = self.rack_fack.max(sequence + 1);
        // An acknowledgement sooner than a round trip after the retransmission is the original's (RFC 8985, section 6.2,
        // step 2).
        let is_original = retransmitted
            && (sample.echo.is_some_and(|echo| echo < record.sent)
                || sample.now.since(record.sent) < sample.min_rtt);
        if !is_original {
            sample.newest = sample.newest.max(Some((record.sent, sequence)));
        }
    }

    fn mark(&mut self, sequence: u64) {
        let record = &mut self.records[sequence];
        if !record.has(Record::LOST) {
            record.set(Record::LOST, true);
            self.lost_out += 1;
        }
        if !record.has(Record::RETRANS) {
            self.recovery().retransmit_queue.push_back(sequence);
        }
    }

    /// Marks the segments with at least `threshold` SACKed segments above them (RFC 6675, `IsLost`). Returns the number
    /// of newly lost ones.
    pub(crate) fn mark_lost_by_sack(&mut self, threshold: u32) -> u32 {
        let before = self.lost_out;
        let end = self.sacked_end();
        while self.sack_scan < end {
            let record = self.record(self.sack_scan);
            if record.has(Record::SACKED) {
                if self.sacked_above_scan <= threshold {
                    break;
                }
                self.sacked_above_scan -= 1;
            } else {
                if self.sacked_above_scan < threshold {
                    break;
                }
                if !record.has(Record::LOST) {
                    self.mark(self.sack_scan);
                }
            }
            self.sack_scan += 1;
        }
        self.lost_out - before
    }

    /// Marks segments transmitted before `newest` (time, then number) and at least `wait` ago (RFC 8985, section 6.2,
    /// step 5).
    pub(crate) fn mark_lost_by_time(&mut self, now: Time, wait: Span, newest: (Time, u64)) -> RackLosses {
        let mut losses = RackLosses::default();
        let next = self.snd_nxt();
        while self.rack_scan < next {
            let record = self.record(self.rack_scan);
            if !record.has(Record::SACKED | Record::LOST | Record::EVER_RETRANS) {
                if (record.sent, self.rack_scan) >= newest {
                    break;
                }
                if record.sent + wait > now {
                    losses.reordering_timer = record.sent + wait;
                    break;
                }
                self.mark(self.rack_scan);
                losses.lost += 1;
            }
            self.rack_scan += 1;
        }
        while let Some(&(sent, sequence)) =
            self.recovery.as_ref().and_then(|recovery| recovery.retransmitted.front())
        {
            if sequence >= self.snd_una() {
                let record = self.record(sequence);
                if record.has(Record::RETRANS) && record.sent == sent {
                    if (sent, sequence) >= newest {
                        break;
                    }
                    if sent + wait > now {
                        losses.reordering_timer = losses.reordering_timer.min(sent + wait);
                        break;
                    }
                    self.records[sequence].set(Record::RETRANS, false);
                    self.retrans_out -= 1;
                    self.mark(sequence);
                    losses.lost += 1;
                    losses.lost_retransmissions += 1;
                }
            }
            self.recovery().retransmitted.pop_front();
        }
        losses
    }

    /// Marks the first segment lost, its retransmission included.
    pub(crate) fn mark_head_lost(&mut self) {
        let first = self.snd_una();
        if self.is_empty() || self.record(first).has(Record::SACKED) {
            return;
        }
        let record = &mut self.records[first];
        let waits = record.has(Record::LOST) && !record.has(Record::RETRANS);
        if record.has(Record::RETRANS) {
            record.set(Record::RETRANS, false);
            self.retrans_out -= 1;
        }
        if waits {
            // Its entry elsewhere in the queue becomes stale.
            self.recovery().retransmit_queue.push_front(first);
        } else {
            self.mark(first);
            let queue = &mut self.recovery().retransmit_queue;
            if let Some(entry) = queue.pop_back() {
                queue.push_front(entry);
            }
        }
    }

    /// Marks all segments below `end` lost that are not SACKed, retransmissions included.
    pub(crate) fn mark_all_lost(&mut self, end: u64) {
        let queue = &mut self.recovery.get_or_insert_default().retransmit_queue;
        queue.clear();
        self.lost_out = 0;
        for sequence in self.records.numbers() {
            let record = &mut self.records[sequence];
            if sequence < end && !record.has(Record::SACKED) {
                self.retrans_out -= u32::from(record.has(Record::RETRANS));
                record.set(Record::RETRANS, false);
                record.set(Record::LOST, true);
            }
            if record.has(Record::LOST) {
                self.lost_out += 1;
                if !record.has(Record::RETRANS) {
                    queue.push_back(sequence);
                }
            }
        }
    }

    /// Clears all loss marks (Linux: `tcp_undo_cwnd_reduction`).
    pub(crate) fn undo_loss_marks(&mut self) {
        self.recovery().retransmit_queue.clear();
        for sequence in self.records.numbers() {
            self.records[sequence].set(Record::LOST, false);
        }
        self.lost_out = 0;
        self.rack_scan = self.snd_una();
        self.sack_scan = self.snd_una();
        self.sacked_above_scan = self.sacked_out;
    }

    /// The next lost segment to retransmit.
    #[inline]
    pub(crate) fn next_retransmission(&mut self) -> Option<u64> {
        let queue = &mut self.recovery.as_mut()?.retransmit_queue;
        while let Some(&sequence) = queue.front() {
            if sequence >= self.records.first() {
                let record = &self.records[sequence];
                if record.has(Record::LOST) && !record.has(Record::RETRANS) {
                    return Some(sequence);
                }
            }
            queue.pop_front();
        }
        None
    }

    /// The lowest segment from `from` on, below the highest SACKed one, that is neither SACKed nor retransmitted
    /// (RFC 6675, section 4, `NextSeg` rule 3).
    pub(crate) fn next_hole(&self, from: u64) -> Option<u64> {
        let (mut at, end) = (from.max(self.snd_una()), self.sacked_end());
        while at < end {
            match self.sacked_around(at) {
                Some(range) => at = range.end,
                None if self.record(at).has(Record::RETRANS) => at += 1,
                None => return Some(at),
            }
        }
        None
    }

    /// The highest segment that is not SACKed.
    pub(crate) fn last_hole(&self) -> Option<u64> {
        let last = self.records.numbers().next_back()?;
        match self.sacked_around(last) {
            Some(range) => range.start.checked_sub(1).filter(|&before| before >= self.snd_una()),
            None => Some(last),
        }
    }

    /// The SACKed range around this segment, if it is SACKed.
    fn sacked_around(&self, sequence: u64) -> Option<Range> {
        let range = self.recovery.as_ref()?.sacked.around(sequence);
        debug_assert_eq!(range.is_some(), self.record(sequence).has(Record::SACKED));
        range
    }
}

#[cfg(test)]
mod tests;
