use crate::buffer::Buffer;
use crate::ranges::Ranges;
use crate::segment::{Block, Flags, Segment};
use crate::settings::{Ecn, Settings};
use longhaul_units::Time;
use std::sync::Arc;

/// The acknowledgement fields of a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckFields {
    pub(crate) acknowledged: u64,
    pub(crate) echo: Time,
    pub(crate) window: u32,
    pub(crate) flags: Flags,
}

/// The receiver: reassembles the stream, and decides when to acknowledge.
#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    pub(crate) settings: Arc<Settings>,
    timestamps: bool,
    pub(crate) sack_permitted: bool,
    pub(crate) ecn: Ecn,
    pub(crate) buffer: Buffer,
    /// The next segment in order (RCV.NXT).
    pub(crate) rcv_nxt: u64,
    /// Present while out-of-order or duplicate segments are to be reported.
    out_of_order: Option<Box<OutOfOrderQueue>>,
    /// Sequence number of the FIN; `u64::MAX` before it is received.
    fin: u64,
    /// TS.Recent and Last.ACK.sent (RFC 7323, section 4.3).
    ts_recent: Time,
    last_ack_sent: u64,
    /// Segments received in order since the last acknowledgement.
    unacked_segments: u32,
    quick_acks: u32,
    ack_due: bool,
    ack_now: bool,
    delayed_ack_timer: Time,
    pub(crate) duplicates: u64,
    /// The last segment was marked (RFC 8257: DCTCP.CE), or ECE is to be sent (RFC 3168).
    ce: bool,
    /// DCTCP.CE of the segments below `ce_before_nxt`, until they are acknowledged.
    ce_before: Option<bool>,
    ce_before_nxt: u64,
}

/// Segments received out of order, and duplicates.
#[derive(Clone, Debug, Default)]
struct OutOfOrderQueue {
    /// Segments received above RCV.NXT.
    ranges: Ranges,
    /// SACK blocks as last reported, the most recent first (RFC 2018, section 4).
    sack_blocks: [(u64, u64); 3],
    /// A duplicate segment (RFC 2883).
    dsack: Option<u64>,
}

impl Receiver {
    pub(crate) fn new(settings: &Arc<Settings>) -> Self {
        Receiver {
            settings: Arc::clone(settings),
            timestamps: false,
            sack_permitted: false,
            ecn: Ecn::Off,
            buffer: Buffer::new(settings.receive_buffer, settings.mss),
            rcv_nxt: 0,
            out_of_order: None,
            fin: u64::MAX,
            ts_recent: Time::ZERO,
            last_ack_sent: 0,
            unacked_segments: 0,
            quick_acks: settings.ack_policy.quick,
            ack_due: false,
            ack_now: false,
            delayed_ack_timer: Time::NEVER,
            duplicates: 0,
            ce: false,
            ce_before: None,
            ce_before_nxt: 0,
        }
    }

    /// Both ends agreed on window scaling.
    pub(crate) fn enable_window_scaling(&mut self) {
        self.buffer.scale(self.settings.receive_buffer);
    }

    /// Both ends agreed on timestamps.
    pub(crate) fn enable_timestamps(&mut self) {
        self.timestamps = true;
    }

    /// The FIN and all data are received.
    pub(crate) fn has_fin(&self) -> bool {
        self.rcv_nxt > self.fin
    }

    /// Takes the time to echo from a segment (RFC 7323, section 4.3): from the first that has not been
    /// acknowledged, so that the sender's sample holds the delay of the acknowledgement.
    pub(crate) fn update_ts_recent(&mut self, segment: &Segment) {
        if segment.sequence <= self.last_ack_sent && segment.sent >= self.ts_recent {
            self.ts_recent = segment.sent;
        }
    }

    /// Processes a segment with data, FIN or zero-window probe.
    #[inline]
    pub(crate) fn accept(&mut self, now: Time, segment: &Segment, marked: bool) {
        if segment.flags.has(Flags::PROBE) {
            self.ack_now = true;
        }
        if segment.occupies_sequence_space() {
            self.accept_data(now, segment, marked);
        }
    }

    fn accept_data(&mut self, now: Time, segment: &Segment, marked: bool) {
        if self.ecn != Ecn::Off {
            self.process_ce(segment, marked);
        }
        let sequence = segment.sequence;
        let bytes = u64::from(segment.bytes);
        if segment.flags.has(Flags::FIN) {
            self.fin = sequence;
        }
        if sequence == self.rcv_nxt
            && self.out_of_order.as_ref().is_none_or(|out_of_order| out_of_order.ranges.is_empty())
        {
            self.rcv_nxt += 1;
            self.buffer.received += bytes;
            self.unacked_segments += 1;
            self.ack_now |= segment.flags.has(Flags::FIN);
            if self.quick_acks > 0 {
                self.quick_acks -= 1;
                self.ack_due = true;
            } else if self.unacked_segments >= self.settings.ack_policy.every {
                self.ack_due = true;
            } else if self.delayed_ack_timer == Time::NEVER {
                self.delayed_ack_timer = now + self.settings.ack_policy.delay;
            }
        } else {
            self.accept_out_of_order(sequence, bytes);
        }
        if self.settings.reads_at_once {
            self.buffer.read = self.buffer.received;
        }
        if self.buffer.is_tuned() {
            if self.timestamps && segment.echo > Time::ZERO {
                self.buffer.sample(now.since(segment.echo));
            }
            self.buffer.tune(now);
        }
    }

    /// Out of order, filling a gap, or a duplicate: acknowledged immediately (RFC 5681, section 4.2).
    #[inline(never)]
    fn accept_out_of_order(&mut self, sequence: u64, bytes: u64) {
        self.ack_now = true;
        let out_of_order = self.out_of_order.get_or_insert_default();
        if sequence < self.rcv_nxt {
            self.duplicates += 1;
            out_of_order.dsack = Some(sequence);
        } else if sequence == self.rcv_nxt {
            self.rcv_nxt += 1;
            self.buffer.received += bytes;
            while let Some(range) = out_of_order.ranges.take_first(self.rcv_nxt) {
                self.rcv_nxt = range.end;
                self.buffer.received += range.bytes;
            }
            out_of_order.forget_blocks(|(_, end)| end <= self.rcv_nxt);
        } else if let Some(around) = out_of_order.ranges.around(sequence) {
            self.duplicates += 1;
            out_of_order.dsack = Some(sequence);
            out_of_order.report_first((around.start, around.end));
        } else {
            let range = out_of_order.ranges.insert(sequence, sequence + 1, bytes, |_, _| ());
            out_of_order.report_first((range.start, range.end));
        }
    }

    /// Congestion marks: an echo until the window was reduced (RFC 3168, section 6.1.3), or exactly, with
    /// an acknowledgement of its own for what came before a change (RFC 8257, section 3.2).
    fn process_ce(&mut self, segment: &Segment, marked: bool) {
        if self.ecn == Ecn::Classic {
            if segment.flags.has(Flags::CWR) {
                self.ce = false;
            }
            self.ce |= marked;
        } else if marked != self.ce {
            if self.unacked_segments > 0 {
                self.ce_before = Some(self.ce);
                self.ce_before_nxt = self.rcv_nxt;
                self.unacked_segments = 0;
            }
            self.ce = marked;
            self.ack_now = true;
        }
    }

    /// The application reads `bytes`.
    pub(crate) fn read(&mut self, bytes: u64) {
        self.buffer.read = self.buffer.read.saturating_add(bytes).min(self.buffer.received);
        self.ack_due |= self.buffer.window_update_due();
    }

    pub(crate) fn timer(&self) -> Time {
        self.delayed_ack_timer
    }

    pub(crate) fn expire(&mut self, now: Time) {
        if self.delayed_ack_timer <= now {
            self.delayed_ack_timer = Time::NEVER;
            self.ack_due = true;
        }
    }

    pub(crate) fn request_ack(&mut self) {
        self.ack_now = true;
    }

    /// A pure acknowledgement must be sent, before any data.
    pub(crate) fn must_ack_now(&self) -> bool {
        self.ack_now || self.ce_before.is_some()
    }

    /// An acknowledgement must be sent, with data or pure.
    pub(crate) fn ack_is_due(&self) -> bool {
        self.ack_due
    }

    /// Whether any acknowledgement must be sent.
    #[inline]
    pub(crate) fn ack_pending(&self) -> bool {
        self.ack_due || self.must_ack_now()
    }

    /// Number of SACK blocks to send.
    #[inline]
    pub(crate) fn block_count(&self) -> u32 {
        match &self.out_of_order {
            Some(out_of_order) if self.sack_permitted => out_of_order.blocks().take(3).count() as u32,
            _ => 0,
        }
    }

    #[cfg(test)]
    pub(crate) fn is_in_order(&self) -> bool {
        self.out_of_order.is_none()
    }

    /// The acknowledgement fields for a segment that is sent now; clears the pending acknowledgement.
    #[inline(always)]
    pub(crate) fn take_ack(&mut self) -> AckFields {
        let window = self.buffer.advertise();
        let echo = self.ts_recent;
        if let Some(marked) = self.ce_before.take() {
            let next = self.ce_before_nxt;
            self.last_ack_sent = next;
            return AckFields { acknowledged: next, echo, window, flags: ack_flags(marked) };
        }
        self.last_ack_sent = self.rcv_nxt;
        self.unacked_segments = 0;
        self.ack_due = false;
        self.ack_now = false;
        self.delayed_ack_timer = Time::NEVER;
        if let Some(out_of_order) = &mut self.out_of_order {
            out_of_order.dsack = None;
            if out_of_order.ranges.is_empty() {
                self.out_of_order = None;
            }
        }
        AckFields { acknowledged: self.rcv_nxt, echo, window, flags: ack_flags(self.ce) }
    }

    /// At most `blocks` SACK blocks for the next [`report`](Self::report).
    pub(crate) fn sack_blocks(&self, blocks: u32) -> [Block; 3] {
        let mut sacks = [Block::default(); 3];
        let Some(out_of_order) = self.out_of_order.as_ref().filter(|_| self.ce_before.is_none()) else {
            return sacks;
        };
        let relative = |number: u64| (number as i64).wrapping_sub(self.rcv_nxt as i64) as i32;
        for (block, (start, end)) in sacks.iter_mut().zip(out_of_order.blocks().take(blocks as usize)) {
            *block = Block { start: relative(start), end: relative(end) };
        }
        sacks
    }
}

impl OutOfOrderQueue {
    /// The SACK blocks, a D-SACK first.
    fn blocks(&self) -> impl Iterator<Item = (u64, u64)> {
        let recent = self.sack_blocks.into_iter().filter(|(start, end)| start < end);
        self.dsack.map(|sequence| (sequence, sequence + 1)).into_iter().chain(recent)
    }

    /// Puts a block first, and removes those within it.
    fn report_first(&mut self, block: (u64, u64)) {
        let (start, end) = block;
        self.forget_blocks(|(a, b)| a >= start && b <= end);
        self.sack_blocks.rotate_right(1);
        self.sack_blocks[0] = block;
    }

    fn forget_blocks(&mut self, gone: impl Fn((u64, u64)) -> bool) {
        let mut kept = [(0, 0); 3];
        let mut count = 0;
        for block in self.sack_blocks {
            if block.0 < block.1 && !gone(block) {
                kept[count] = block;
                count += 1;
            }
        }
        self.sack_blocks = kept;
    }
}

const fn ack_flags(marked: bool) -> Flags {
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
        receiver.sack_permitted = true;
        receiver
    }

    /// Feeds segments and returns the blocks of the acknowledgement after the last one, absolute.
    fn blocks_after(receiver: &mut Receiver, sequences: &[u64]) -> (u64, Vec<(u64, u64)>) {
        let (mut next, mut sacks) = (0, [Block::default(); 3]);
        for &sequence in sequences {
            receiver.accept(Time::ZERO, &data(sequence), false);
            sacks = receiver.sack_blocks(receiver.block_count());
            next = receiver.take_ack().acknowledged;
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
    fn no_sack_block_has_cumulatively_acknowledged_segments() {
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
            receiver.update_ts_recent(&data(sequence));
            receiver.accept(Time::ZERO, &data(sequence), false);
        }
        assert_eq!(receiver.take_ack().echo, data(0).sent);
        // Example B: beyond a gap, that of the last in order; when it is filled, of what filled it.
        for sequence in [3, 4] {
            receiver.update_ts_recent(&data(sequence));
            receiver.accept(Time::ZERO, &data(sequence), false);
            assert_eq!(receiver.take_ack().echo, data(0).sent);
        }
        receiver.update_ts_recent(&data(2));
        receiver.accept(Time::ZERO, &data(2), false);
        assert_eq!(receiver.take_ack().echo, data(2).sent);
    }
}
