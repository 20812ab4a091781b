use crate::delivery::Sampler;
use crate::ranges::{Range, Ranges};
use crate::ring::Ring;
use crate::tally::Tally;
use longhaul_units::{Span, Time};
use std::collections::VecDeque;

/// What is remembered of a segment until it is acknowledged in order; 40 bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Record {
    /// When it left last.
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
    /// Arrived out of order.
    pub(crate) const SACKED: u8 = 1;
    /// Taken for lost.
    pub(crate) const LOST: u8 = 2;
    /// Sent again, and that copy is thought to be in flight.
    pub(crate) const RESENT: u8 = 4;
    /// Ever sent again: its round trip is ambiguous.
    pub(crate) const AGAIN: u8 = 8;
    /// Carries the end.
    pub(crate) const FIN: u8 = 16;
    /// Left while the application had too little to send.
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

/// What has been found lost because it is late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Overdue {
    /// So many segments, and of these so many that had been lost before: their copies are lost, too.
    pub(crate) lost: u32,
    pub(crate) copies: u32,
    /// When the next one will be.
    pub(crate) due: Time,
}

impl Default for Overdue {
    fn default() -> Self {
        Overdue { lost: 0, copies: 0, due: Time::NEVER }
    }
}

#[derive(Clone, Debug, Default)]
struct Trouble {
    /// What has been SACKed.
    ranges: Ranges,
    /// Segments to be sent again, in the order in which they were found lost; some may have arrived
    /// since.
    queue: VecDeque<u64>,
    /// Segments that were sent again, in the order of their departure.
    again: VecDeque<(Time, u64)>,
}

/// All segments between the first not acknowledged and the next to be sent.
///
/// Each acknowledgement costs time in proportion to what it newly tells: all walks go over pointers
/// that only move forward, but for the rare timeout and undo.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scoreboard {
    records: Ring<Record>,
    /// Only while something is SACKed, lost or sent again.
    trouble: Option<Box<Trouble>>,
    sacked: u32,
    lost: u32,
    resent: u32,
    /// By counting: all below has been looked at, and so many SACKed ones lie at or above it.
    edge: u64,
    sacked_from_edge: u32,
    /// By time: all below are SACKed, lost or sent again. Those sent again wait in `again`.
    fresh: u64,
    /// One after the greatest segment that was ever sent again.
    copied: u64,
    /// One after the greatest segment that has arrived (RFC 8985: RACK.fack).
    front: u64,
}

impl Scoreboard {
    /// The first segment that is not acknowledged (SND.UNA).
    pub(crate) fn first(&self) -> u64 {
        self.records.first()
    }
    /// The number of the next new segment (SND.NXT).
    pub(crate) fn next(&self) -> u64 {
        self.records.next()
    }
    pub(crate) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }
    /// Sent and not acknowledged in order (FlightSize).
    pub(crate) fn outstanding(&self) -> u32 {
        self.records.len()
    }
    /// Thought to be on their way (RFC 6675's pipe).
    pub(crate) fn in_flight(&self) -> u32 {
        self.outstanding() + self.resent - self.sacked - self.lost
    }
    pub(crate) fn sacked(&self) -> u32 {
        self.sacked
    }
    pub(crate) fn lost(&self) -> u32 {
        self.lost
    }
    /// One after the greatest SACKed segment.
    pub(crate) fn sacked_end(&self) -> u64 {
        let end = self.trouble.as_ref().and_then(|trouble| trouble.ranges.end());
        end.unwrap_or(self.first())
    }

    pub(crate) fn record(&self, sequence: u64) -> &Record {
        &self.records[sequence]
    }

    /// Nothing is SACKed, lost or sent again.
    pub(crate) fn is_calm(&self) -> bool {
        self.sacked == 0 && self.lost == 0 && self.first() >= self.copied
    }
    #[cfg(test)]
    pub(crate) fn keeps_no_trouble(&self) -> bool {
        self.trouble.is_none()
    }
    #[cfg(test)]
    pub(crate) fn capacity(&self) -> usize {
        self.records.capacity()
    }

    /// A new segment leaves.
    pub(crate) fn push(&mut self, now: Time, bytes: u16, fin: bool, sampler: &mut Sampler) -> u64 {
        let sequence = self.next();
        let mut record = Record { bytes, ..Record::default() };
        record.set(Record::FIN, fin);
        sampler.on_sent(now, self.in_flight(), &mut record);
        self.records.push(record);
        sequence
    }

    /// A segment leaves again. `timed` keeps its departure for [`mark_overdue`](Self::mark_overdue).
    pub(crate) fn push_again(&mut self, now: Time, sequence: u64, timed: bool, sampler: &mut Sampler) {
        let in_flight = self.in_flight();
        let record = &mut self.records[sequence];
        sampler.on_sent(now, in_flight, record);
        self.resent += u32::from(!record.has(Record::RESENT));
        record.set(Record::RESENT | Record::AGAIN, true);
        self.copied = self.copied.max(sequence + 1);
        if timed {
            self.trouble().again.push_back((now, sequence));
        }
    }

    /// Everything below `number` has arrived.
    pub(crate) fn acknowledge(&mut self, number: u64, tally: &mut Tally, sampler: &mut Sampler) {
        let first = self.first();
        if number <= first {
            return;
        }
        tally.acked = (number - first) as u32;
        if self.is_calm() {
            self.settle_in_order(number, tally, sampler);
        } else {
            for sequence in first..number {
                let record = self.records[sequence];
                tally.bytes += u64::from(record.bytes);
                if record.has(Record::SACKED) {
                    self.sacked -= 1;
                    self.sacked_from_edge -= u32::from(sequence >= self.edge);
                } else {
                    self.settle(sequence, &record, tally, sampler);
                    tally.oldest = tally.oldest.or(Some(record.sent));
                    tally.ambiguous |= record.has(Record::AGAIN);
                }
            }
        }
        self.records.forget_below(number);
        self.edge = self.edge.max(number);
        self.fresh = self.fresh.max(number);
        if self.records.is_empty() {
            self.trouble = None;
        } else if let Some(trouble) = &mut self.trouble {
            trouble.ranges.forget_below(number);
        }
    }

    fn trouble(&mut self) -> &mut Trouble {
        self.trouble.get_or_insert_default()
    }

    /// What [`settle`](Self::settle) makes of segments of which none has been sent again and no later one has arrived:
    /// the last of them counts.
    fn settle_in_order(&mut self, end: u64, tally: &mut Tally, sampler: &mut Sampler) {
        let first = self.first();
        tally.delivered = tally.acked;
        tally.oldest = Some(self.records[first].sent);
        tally.bytes = (first..end).map(|sequence| u64::from(self.records[sequence].bytes)).sum();
        let last = &self.records[end - 1];
        tally.newest_original = Some(last.sent);
        tally.newest = Some((last.sent, end - 1));
        sampler.delivered += u64::from(tally.acked - 1);
        sampler.on_delivered(tally.now, end - 1, last, &mut tally.rate);
        self.front = end;
    }

    /// What SACK says of `start..end` (RFC 2018); returns how many of them were not known.
    pub(crate) fn sack(&mut self, start: u64, end: u64, tally: &mut Tally, sampler: &mut Sampler) -> u32 {
        let (start, end) = (start.max(self.first()), end.min(self.next()));
        if start >= end {
            return 0;
        }
        let mut ranges = std::mem::take(&mut self.trouble().ranges);
        let before = tally.delivered;
        ranges.insert(start, end, 0, |start, end| {
            for sequence in start..end {
                let record = self.records[sequence];
                self.settle(sequence, &record, tally, sampler);
                self.records[sequence].set(Record::LOST | Record::RESENT, false);
                self.records[sequence].set(Record::SACKED, true);
                self.sacked += 1;
                self.sacked_from_edge += u32::from(sequence >= self.edge);
            }
        });
        self.trouble().ranges = ranges;
        tally.delivered - before
    }

    /// A segment has arrived, in order or not.
    fn settle(&mut self, sequence: u64, record: &Record, tally: &mut Tally, sampler: &mut Sampler) {
        tally.delivered += 1;
        sampler.on_delivered(tally.now, sequence, record, &mut tally.rate);
        self.lost -= u32::from(record.has(Record::LOST));
        self.resent -= u32::from(record.has(Record::RESENT));
        let again = record.has(Record::AGAIN);
        let behind = self.front.saturating_sub(sequence + 1) as u32;
        if again {
            tally.doubtful = tally.doubtful.max(behind);
        } else {
            tally.newest_original = tally.newest_original.max(Some(record.sent));
            tally.reordering = tally.reordering.max(behind);
        }
        self.front = self.front.max(sequence + 1);
        // The acknowledgement of a retransmission that comes too soon is the original's.
        let feigned = again
            && (tally.echo.is_some_and(|echo| echo < record.sent)
                || tally.now.since(record.sent) < tally.min_rtt);
        if !feigned {
            tally.newest = tally.newest.max(Some((record.sent, sequence)));
        }
    }

    fn mark(&mut self, sequence: u64) {
        let record = &mut self.records[sequence];
        if !record.has(Record::LOST) {
            record.set(Record::LOST, true);
            self.lost += 1;
        }
        if !record.has(Record::RESENT) {
            self.trouble().queue.push_back(sequence);
        }
    }

    /// RFC 6675's IsLost, in segments: those with at least `threshold` SACKed ones above them. Returns
    /// how many are newly so.
    pub(crate) fn mark_overtaken(&mut self, threshold: u32) -> u32 {
        let before = self.lost;
        let end = self.sacked_end();
        while self.edge < end {
            let record = self.record(self.edge);
            if record.has(Record::SACKED) {
                if self.sacked_from_edge <= threshold {
                    break;
                }
                self.sacked_from_edge -= 1;
            } else {
                if self.sacked_from_edge < threshold {
                    break;
                }
                if !record.has(Record::LOST) {
                    self.mark(self.edge);
                }
            }
            self.edge += 1;
        }
        self.lost - before
    }

    /// Marks what left before `newest` (time, then number) and at least `wait` ago (RFC 8985, section 6.2,
    /// step 5).
    pub(crate) fn mark_overdue(&mut self, now: Time, wait: Span, newest: (Time, u64)) -> Overdue {
        let mut overdue = Overdue::default();
        let next = self.next();
        while self.fresh < next {
            let record = self.record(self.fresh);
            if !record.has(Record::SACKED | Record::LOST | Record::AGAIN) {
                if (record.sent, self.fresh) >= newest {
                    break;
                }
                if record.sent + wait > now {
                    overdue.due = record.sent + wait;
                    break;
                }
                self.mark(self.fresh);
                overdue.lost += 1;
            }
            self.fresh += 1;
        }
        while let Some(&(sent, sequence)) = self.trouble.as_ref().and_then(|trouble| trouble.again.front()) {
            if sequence >= self.first() {
                let record = self.record(sequence);
                if record.has(Record::RESENT) && record.sent == sent {
                    if (sent, sequence) >= newest {
                        break;
                    }
                    if sent + wait > now {
                        overdue.due = overdue.due.min(sent + wait);
                        break;
                    }
                    self.records[sequence].set(Record::RESENT, false);
                    self.resent -= 1;
                    self.mark(sequence);
                    overdue.lost += 1;
                    overdue.copies += 1;
                }
            }
            self.trouble().again.pop_front();
        }
        overdue
    }

    /// The first segment is lost, and so is its copy.
    pub(crate) fn mark_first(&mut self) {
        let first = self.first();
        if self.is_empty() || self.record(first).has(Record::SACKED) {
            return;
        }
        let record = &mut self.records[first];
        let waits = record.has(Record::LOST) && !record.has(Record::RESENT);
        if record.has(Record::RESENT) {
            record.set(Record::RESENT, false);
            self.resent -= 1;
        }
        if waits {
            // It may stand anywhere in the queue, but goes first now; the other entry is stale then.
            self.trouble().queue.push_front(first);
        } else {
            self.mark(first);
            let queue = &mut self.trouble().queue;
            if let Some(entry) = queue.pop_back() {
                queue.push_front(entry);
            }
        }
    }

    /// All below `end` that has not arrived is lost, and so are all copies.
    pub(crate) fn mark_all(&mut self, end: u64) {
        let queue = &mut self.trouble.get_or_insert_default().queue;
        queue.clear();
        self.lost = 0;
        for sequence in self.records.numbers() {
            let record = &mut self.records[sequence];
            if sequence < end && !record.has(Record::SACKED) {
                self.resent -= u32::from(record.has(Record::RESENT));
                record.set(Record::RESENT, false);
                record.set(Record::LOST, true);
            }
            if record.has(Record::LOST) {
                self.lost += 1;
                if !record.has(Record::RESENT) {
                    queue.push_back(sequence);
                }
            }
        }
    }

    /// Nothing is lost after all.
    pub(crate) fn unmark(&mut self) {
        self.trouble().queue.clear();
        for sequence in self.records.numbers() {
            self.records[sequence].set(Record::LOST, false);
        }
        self.lost = 0;
        self.fresh = self.first();
        self.edge = self.first();
        self.sacked_from_edge = self.sacked;
    }

    /// The next segment to be sent again because it is lost.
    #[inline]
    pub(crate) fn next_lost(&mut self) -> Option<u64> {
        let queue = &mut self.trouble.as_mut()?.queue;
        while let Some(&sequence) = queue.front() {
            if sequence >= self.records.first() {
                let record = &self.records[sequence];
                if record.has(Record::LOST) && !record.has(Record::RESENT) {
                    return Some(sequence);
                }
            }
            queue.pop_front();
        }
        None
    }

    /// The smallest segment from `from` on, below the greatest SACKed one, that has neither arrived nor
    /// been sent again (RFC 6675, section 4, NextSeg rule 3).
    pub(crate) fn next_hole(&self, from: u64) -> Option<u64> {
        let (mut at, end) = (from.max(self.first()), self.sacked_end());
        while at < end {
            match self.sacked_around(at) {
                Some(range) => at = range.end,
                None if self.record(at).has(Record::RESENT) => at += 1,
                None => return Some(at),
            }
        }
        None
    }

    /// The greatest segment that has not arrived.
    pub(crate) fn last_hole(&self) -> Option<u64> {
        let last = self.records.numbers().next_back()?;
        match self.sacked_around(last) {
            Some(range) => range.start.checked_sub(1).filter(|&before| before >= self.first()),
            None => Some(last),
        }
    }

    /// The segments SACKed together with this one, if it is.
    fn sacked_around(&self, sequence: u64) -> Option<Range> {
        let range = self.trouble.as_ref()?.ranges.around(sequence);
        debug_assert_eq!(range.is_some(), self.record(sequence).has(Record::SACKED));
        range
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sent(segments: u64) -> (Scoreboard, Sampler) {
        let (mut board, mut sampler) = (Scoreboard::default(), Sampler::default());
        for sequence in 0..segments {
            board.push(Time::from_ns(sequence), 1000, false, &mut sampler);
        }
        (board, sampler)
    }

    fn tally() -> Tally {
        Tally::new(Time::from_ns(1_000_000), None, Span::ZERO)
    }

    fn queued(board: &mut Scoreboard, sampler: &mut Sampler) -> Vec<u64> {
        std::iter::from_fn(|| {
            let sequence = board.next_lost()?;
            board.push_again(Time::from_ns(2_000_000), sequence, true, sampler);
            Some(sequence)
        })
        .collect()
    }

    #[test]
    fn a_record_takes_forty_bytes() {
        assert_eq!(size_of::<Record>(), 40);
    }

    #[test]
    fn a_segment_is_lost_when_three_above_it_have_arrived() {
        let (mut board, mut sampler) = sent(10);
        for sequence in [1, 3] {
            board.sack(sequence, sequence + 1, &mut tally(), &mut sampler);
            assert_eq!(board.mark_overtaken(3), 0);
        }
        board.sack(4, 5, &mut tally(), &mut sampler);
        assert_eq!(board.mark_overtaken(3), 1, "0 has three above it, 2 has two");
        board.sack(6, 7, &mut tally(), &mut sampler);
        assert_eq!(board.mark_overtaken(3), 1);
        assert_eq!(queued(&mut board, &mut sampler), [0, 2]);
        // 10 sent, 4 arrived, 2 lost, 2 sent again.
        assert_eq!(board.in_flight(), 10 - 4 - 2 + 2);
    }

    #[test]
    fn what_left_late_enough_before_the_newest_delivery_is_lost() {
        let (mut board, mut sampler) = sent(10);
        let at = |ns| Time::from_ns(ns);
        let wait = Span::from_ns(100);
        // 5 arrived; 0, 1 and 2 left at least 100 ns ago.
        board.sack(5, 6, &mut tally(), &mut sampler);
        assert_eq!(
            board.mark_overdue(at(102), wait, (at(5), 5)),
            Overdue { lost: 3, copies: 0, due: at(103) }
        );
        let two = Overdue { lost: 2, copies: 0, due: Time::NEVER };
        assert_eq!(board.mark_overdue(at(500), wait, (at(5), 5)), two, "6 left after 5");
        assert_eq!(queued(&mut board, &mut sampler), [0, 1, 2, 3, 4]);
        // Their copies are lost in turn when something sent later arrives.
        let later = at(3_000_000);
        assert_eq!(
            board.mark_overdue(later, wait, (at(2_000_001), 9)),
            Overdue { lost: 9, copies: 5, due: Time::NEVER }
        );
        assert_eq!(board.in_flight(), 0);
    }

    #[test]
    fn a_timeout_marks_all_and_an_undo_unmarks_them() {
        let (mut board, mut sampler) = sent(6);
        board.sack(2, 4, &mut tally(), &mut sampler);
        board.mark_all(6);
        assert_eq!((board.lost(), board.in_flight()), (4, 0));
        assert_eq!(board.next_lost(), Some(0));
        board.push_again(Time::from_ns(9), 0, false, &mut sampler);
        board.unmark();
        // 6 sent, 2 arrived, and one extra copy of the first.
        assert_eq!((board.lost(), board.in_flight()), (0, 6 - 2 + 1));
        board.acknowledge(6, &mut tally(), &mut sampler);
        assert_eq!(board.in_flight(), 0);
    }

    #[test]
    fn an_original_behind_later_ones_is_reordering_and_a_copy_is_not() {
        let (mut board, mut sampler) = sent(10);
        let mut first = tally();
        board.sack(4, 8, &mut first, &mut sampler);
        assert_eq!(first.reordering, 0);
        board.push_again(Time::from_ns(99), 0, false, &mut sampler);
        let mut second = tally();
        board.acknowledge(1, &mut second, &mut sampler);
        assert_eq!(second.reordering, 0);
        let mut third = tally();
        board.acknowledge(2, &mut third, &mut sampler);
        assert_eq!(third.reordering, 6, "7 came before 1");
    }

    proptest! {
        /// Whatever is told in whatever order, the counters are what a count over all records gives.
        #[test]
        fn counters_are_what_a_count_gives(
            steps in proptest::collection::vec((0u8..8, 0u64..40, 1u64..6), 1..80)
        ) {
            let (mut board, mut sampler) = sent(20);
            for (step, (kind, number, length)) in steps.into_iter().enumerate() {
                let now = Time::from_ns(1_000_000 * (step as u64 + 1));
                let mut tally = Tally::new(now, None, Span::ZERO);
                match kind {
                    0 => board.acknowledge((board.first() + number / 4).min(board.next()), &mut tally, &mut sampler),
                    1 | 2 => {
                        // The first one would be acknowledged instead.
                        let start = board.first() + 1 + number;
                        board.sack(start, start + length, &mut tally, &mut sampler);
                    }
                    3 => drop(board.mark_overtaken(3)),
                    4 => _ = board.mark_overdue(now, Span::from_ns(1500), (now, u64::MAX)),
                    5 if number < 3 => board.mark_all(board.first() + length * number),
                    5 if number < 5 => board.unmark(),
                    5 => board.mark_first(),
                    6 => if let Some(sequence) = board.next_lost() {
                        board.push_again(now, sequence, true, &mut sampler);
                    },
                    _ => drop(board.push(now, 1000, false, &mut sampler)),
                }
                let numbers = || board.records.numbers();
                let count = |flag| numbers().filter(|&n| board.record(n).has(flag)).count() as u32;
                prop_assert_eq!(board.sacked, count(Record::SACKED));
                prop_assert_eq!(board.lost, count(Record::LOST));
                prop_assert_eq!(board.resent, count(Record::RESENT));
                let above = numbers().filter(|&n| n >= board.edge && board.record(n).has(Record::SACKED)).count();
                prop_assert_eq!(board.sacked_from_edge, above as u32);
                prop_assert!(numbers().map(|n| board.record(n))
                    .all(|r| !r.has(Record::SACKED) || !r.has(Record::LOST | Record::RESENT)));
                // Whatever is lost and not on its way waits to be sent.
                let waiting = numbers()
                    .filter(|&n| board.record(n).has(Record::LOST) && !board.record(n).has(Record::RESENT))
                    .all(|n| board.trouble.as_ref().is_some_and(|trouble| trouble.queue.contains(&n)));
                prop_assert!(waiting);
            }
        }
    }
}
