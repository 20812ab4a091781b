use crate::buffer::Buffer;
use crate::ranges::Ranges;
use crate::segment::{Block, Flags, Segment};
use crate::settings::{Ecn, Settings};
use longhaul_units::Time;
use std::sync::Arc;

/// What a segment says of what has arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Report {
    pub(crate) acknowledged: u64,
    pub(crate) echo: Time,
    pub(crate) window: u32,
    pub(crate) flags: Flags,
}

/// The half of an end that receives: puts segments in order, and decides when to acknowledge what.
#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    settings: Arc<Settings>,
    timestamps: bool,
    pub(crate) selective: bool,
    pub(crate) ecn: Ecn,
    pub(crate) buffer: Buffer,
    /// The next segment in order (RCV.NXT).
    pub(crate) next: u64,
    /// Only while something has arrived beyond it, or twice.
    disorder: Option<Box<Disorder>>,
    /// The end's number, once its segment has arrived; before that the greatest possible.
    fin: u64,
    /// TS.Recent and Last.ACK.sent (RFC 7323, section 4.3).
    echo: Time,
    last_acknowledged: u64,
    /// Arrived in order since the last acknowledgement.
    unacknowledged: u32,
    quick: u32,
    due: bool,
    urgent: bool,
    due_at: Time,
    pub(crate) duplicates: u64,
    /// The last segment was marked (RFC 8257: DCTCP.CE), or an echo is owed (RFC 3168).
    marked: bool,
    /// Whether what arrived before the marking changed was marked, if that has to be said; and up to where.
    earlier: Option<bool>,
    earlier_next: u64,
}

/// What has not arrived in order, once.
#[derive(Clone, Debug, Default)]
struct Disorder {
    /// What has arrived beyond a gap.
    beyond: Ranges,
    /// Blocks as last reported, the most recent first (RFC 2018, section 4).
    recent: [(u64, u64); 3],
    /// The number of a segment that arrived twice.
    dsack: Option<u64>,
}

impl Receiver {
    pub(crate) fn new(settings: &Arc<Settings>) -> Self {
        Receiver {
            settings: Arc::clone(settings),
            timestamps: false,
            selective: false,
            ecn: Ecn::Off,
            buffer: Buffer::new(settings.receive_buffer, settings.mss),
            next: 0,
            disorder: None,
            fin: u64::MAX,
            echo: Time::ZERO,
            last_acknowledged: 0,
            unacknowledged: 0,
            quick: settings.acknowledging.quick,
            due: false,
            urgent: false,
            due_at: Time::NEVER,
            duplicates: 0,
            marked: false,
            earlier: None,
            earlier_next: 0,
        }
    }

    /// Both ends scale their windows.
    pub(crate) fn scale(&mut self) {
        self.buffer.scale(self.settings.receive_buffer);
    }

    /// Both ends stamp their segments.
    pub(crate) fn stamp(&mut self) {
        self.timestamps = true;
    }

    /// The other end has sent all, and all has arrived.
    pub(crate) fn is_finished(&self) -> bool {
        self.next > self.fin
    }

    /// Takes the time to echo from a segment (RFC 7323, section 4.3): from the first that has not been
    /// acknowledged, so that the sender's sample holds the delay of the acknowledgement.
    pub(crate) fn note_time(&mut self, segment: &Segment) {
        if segment.sequence <= self.last_acknowledged && segment.sent >= self.echo {
            self.echo = segment.sent;
        }
    }

    /// A segment that takes a number, or asks for an answer.
    #[inline]
    pub(crate) fn accept(&mut self, now: Time, segment: &Segment, marked: bool) {
        if segment.flags.has(Flags::PROBE) {
            self.urgent = true;
        }
        if segment.occupies() {
            self.accept_data(now, segment, marked);
        }
    }

    fn accept_data(&mut self, now: Time, segment: &Segment, marked: bool) {
        if self.ecn != Ecn::Off {
            self.note_mark(segment, marked);
        }
        let sequence = segment.sequence;
        let bytes = u64::from(segment.bytes);
        if segment.flags.has(Flags::FIN) {
            self.fin = sequence;
        }
        if sequence == self.next && self.disorder.as_ref().is_none_or(|disorder| disorder.beyond.is_empty()) {
            self.next += 1;
            self.buffer.arrived += bytes;
            self.unacknowledged += 1;
            self.urgent |= segment.flags.has(Flags::FIN);
            if self.quick > 0 {
                self.quick -= 1;
                self.due = true;
            } else if self.unacknowledged >= self.settings.acknowledging.every {
                self.due = true;
            } else if self.due_at == Time::NEVER {
                self.due_at = now + self.settings.acknowledging.delay;
            }
        } else {
            self.accept_out_of_order(sequence, bytes);
        }
        if self.settings.reads_at_once {
            self.buffer.taken = self.buffer.arrived;
        }
        if self.buffer.is_tuned() {
            if self.timestamps && segment.echo > Time::ZERO {
                self.buffer.sample(now.since(segment.echo));
            }
            self.buffer.tune(now);
        }
    }

    /// Beyond a gap, into one, or for the second time: acknowledged at once (RFC 5681, section 4.2).
    #[inline(never)]
    fn accept_out_of_order(&mut self, sequence: u64, bytes: u64) {
        self.urgent = true;
        let disorder = self.disorder.get_or_insert_default();
        if sequence < self.next {
            self.duplicates += 1;
            disorder.dsack = Some(sequence);
        } else if sequence == self.next {
            self.next += 1;
            self.buffer.arrived += bytes;
            while let Some(range) = disorder.beyond.take_first(self.next) {
                self.next = range.end;
                self.buffer.arrived += range.bytes;
            }
            disorder.forget_blocks(|(_, end)| end <= self.next);
        } else if let Some(around) = disorder.beyond.around(sequence) {
            self.duplicates += 1;
            disorder.dsack = Some(sequence);
            disorder.report_first((around.start, around.end));
        } else {
            let range = disorder.beyond.insert(sequence, sequence + 1, bytes, |_, _| ());
            disorder.report_first((range.start, range.end));
        }
    }

    /// Congestion marks: an echo until the window was reduced (RFC 3168, section 6.1.3), or exactly, with
    /// an acknowledgement of its own for what came before a change (RFC 8257, section 3.2).
    fn note_mark(&mut self, segment: &Segment, marked: bool) {
        if self.ecn == Ecn::Classic {
            if segment.flags.has(Flags::CWR) {
                self.marked = false;
            }
            self.marked |= marked;
        } else if marked != self.marked {
            if self.unacknowledged > 0 {
                self.earlier = Some(self.marked);
                self.earlier_next = self.next;
                self.unacknowledged = 0;
            }
            self.marked = marked;
            self.urgent = true;
        }
    }

    /// The application takes `bytes`.
    pub(crate) fn read(&mut self, bytes: u64) {
        self.buffer.taken = self.buffer.taken.saturating_add(bytes).min(self.buffer.arrived);
        self.due |= self.buffer.has_opened();
    }

    pub(crate) fn timer(&self) -> Time {
        self.due_at
    }

    pub(crate) fn expire(&mut self, now: Time) {
        if self.due_at <= now {
            self.due_at = Time::NEVER;
            self.due = true;
        }
    }

    pub(crate) fn ask(&mut self) {
        self.urgent = true;
    }

    /// An acknowledgement must go by itself, before any data.
    pub(crate) fn is_urgent(&self) -> bool {
        self.urgent || self.earlier.is_some()
    }

    /// An acknowledgement must go, on data or by itself.
    pub(crate) fn is_due(&self) -> bool {
        self.due
    }

    /// Whether an acknowledgement must go, one way or the other.
    #[inline]
    pub(crate) fn has_news(&self) -> bool {
        self.due || self.is_urgent()
    }

    /// How many SACK blocks wait.
    #[inline]
    pub(crate) fn blocks(&self) -> u32 {
        match &self.disorder {
            Some(disorder) if self.selective => disorder.blocks().take(3).count() as u32,
            _ => 0,
        }
    }

    #[cfg(test)]
    pub(crate) fn is_orderly(&self) -> bool {
        self.disorder.is_none()
    }

    /// What there is to acknowledge now; from here on it counts as acknowledged.
    #[inline(always)]
    pub(crate) fn report(&mut self) -> Report {
        let window = self.buffer.offer();
        let echo = self.echo;
        if let Some(marked) = self.earlier.take() {
            let next = self.earlier_next;
            self.last_acknowledged = next;
            return Report { acknowledged: next, echo, window, flags: acknowledging(marked) };
        }
        self.last_acknowledged = self.next;
        self.unacknowledged = 0;
        self.due = false;
        self.urgent = false;
        self.due_at = Time::NEVER;
        if let Some(disorder) = &mut self.disorder {
            disorder.dsack = None;
            if disorder.beyond.is_empty() {
                self.disorder = None;
            }
        }
        Report { acknowledged: self.next, echo, window, flags: acknowledging(self.marked) }
    }

    /// At most `blocks` SACK blocks for the next [`report`](Self::report).
    pub(crate) fn sacks(&self, blocks: u32) -> [Block; 3] {
        let mut sacks = [Block::default(); 3];
        let Some(disorder) = self.disorder.as_ref().filter(|_| self.earlier.is_none()) else { return sacks };
        let relative = |number: u64| (number as i64).wrapping_sub(self.next as i64) as i32;
        for (block, (start, end)) in sacks.iter_mut().zip(disorder.blocks().take(blocks as usize)) {
            *block = Block { start: relative(start), end: relative(end) };
        }
        sacks
    }
}

impl Disorder {
    /// What SACK has to say, a D-SACK first.
    fn blocks(&self) -> impl Iterator<Item = (u64, u64)> {
        let recent = self.recent.into_iter().filter(|(start, end)| start < end);
        self.dsack.map(|sequence| (sequence, sequence + 1)).into_iter().chain(recent)
    }

    /// Puts a block first, in place of those that it has swallowed.
    fn report_first(&mut self, block: (u64, u64)) {
        let (start, end) = block;
        self.forget_blocks(|(a, b)| a >= start && b <= end);
        self.recent.rotate_right(1);
        self.recent[0] = block;
    }

    fn forget_blocks(&mut self, gone: impl Fn((u64, u64)) -> bool) {
        let mut kept = [(0, 0); 3];
        let mut count = 0;
        for block in self.recent {
            if block.0 < block.1 && !gone(block) {
                kept[count] = block;
                count += 1;
            }
        }
        self.recent = kept;
    }
}

const fn acknowledging(marked: bool) -> Flags {
    if marked { Flags::ACK.with(Flags::ECE) } else { Flags::ACK }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(sequence: u64) -> Segment {
        Segment {
            sequence,
            acknowledged: 0,
            sent: Time::from_ns(sequence + 1),
            echo: Time::ZERO,
            sacks: [Block::default(); 3],
            window: 0,
            bytes: 1000,
            flags: Flags::ACK,
        }
    }

    fn receiver() -> Receiver {
        let mut receiver = Receiver::new(&Arc::new(Settings::default()));
        receiver.selective = true;
        receiver
    }

    /// Feeds segments and returns the blocks of the acknowledgement after the last one, absolute.
    fn blocks_after(receiver: &mut Receiver, sequences: &[u64]) -> (u64, Vec<(u64, u64)>) {
        let (mut next, mut sacks) = (0, [Block::default(); 3]);
        for &sequence in sequences {
            receiver.accept(Time::ZERO, &data(sequence), false);
            sacks = receiver.sacks(receiver.blocks());
            next = receiver.report().acknowledged;
        }
        let used = sacks.into_iter().filter(|block| !block.is_empty());
        (next, used.map(|block| block.absolute(next)).collect())
    }

    #[test]
    fn the_block_of_the_latest_arrival_comes_first() {
        // RFC 2018, section 4: then the most recently reported ones.
        let arrivals = [0, 2, 4, 6, 8];
        let expected = (1, vec![(8, 9), (6, 7), (4, 5)]);
        assert_eq!(blocks_after(&mut receiver(), &arrivals), expected);
        let grown = [0, 2, 4, 6, 3];
        assert_eq!(blocks_after(&mut receiver(), &grown), (1, vec![(2, 5), (6, 7)]));
    }

    #[test]
    fn what_is_acknowledged_in_order_is_in_no_block() {
        assert_eq!(blocks_after(&mut receiver(), &[0, 2, 4, 1]), (3, vec![(4, 5)]));
        assert_eq!(blocks_after(&mut receiver(), &[0, 2, 4, 1, 3]), (5, vec![]));
    }

    #[test]
    fn a_duplicate_is_reported_first_and_once() {
        // RFC 2883, section 4.1: below what is acknowledged; 4.2: within a block, which then follows.
        let mut receiver = receiver();
        assert_eq!(blocks_after(&mut receiver, &[0, 1, 0]), (2, vec![(0, 1)]));
        assert_eq!(blocks_after(&mut receiver, &[4, 5, 4]), (2, vec![(4, 5), (4, 6)]));
        assert_eq!(blocks_after(&mut receiver, &[7]), (2, vec![(7, 8), (4, 6)]));
        assert_eq!(receiver.duplicates, 2);
    }

    #[test]
    fn the_echo_is_that_of_the_first_unacknowledged_segment() {
        // RFC 7323, section 4.3, example A: a delayed acknowledgement echoes the earlier segment.
        let mut receiver = receiver();
        for sequence in [0, 1] {
            receiver.note_time(&data(sequence));
            receiver.accept(Time::ZERO, &data(sequence), false);
        }
        assert_eq!(receiver.report().echo, data(0).sent);
        // Example B: beyond a gap, that of the last in order; when it is filled, of what filled it.
        for sequence in [3, 4] {
            receiver.note_time(&data(sequence));
            receiver.accept(Time::ZERO, &data(sequence), false);
            assert_eq!(receiver.report().echo, data(0).sent);
        }
        receiver.note_time(&data(2));
        receiver.accept(Time::ZERO, &data(2), false);
        assert_eq!(receiver.report().echo, data(2).sent);
    }
}
