use crate::block::Block;
use crate::loss::LossProcess;
use crate::wire::{Entry, Wire};
use crate::{Change, Counters, Delay, Fate, Laws, Load, Offered, QueueLimit};
use longhaul_random::{Seed, Stream};
use longhaul_units::{Probability, Rate, Serialiser, Span, Time};
use std::collections::VecDeque;

/// One direction of a link: `offer -> loss -> queue -> serialiser -> wire -> due`.
///
/// The caller [offers](Link::offer) packets at the near end, sleeps until
/// [`next_event`](Link::next_event), then [takes](Link::take) from the far end until nothing more
/// is due. The times that it passes, `now`, never go back; how often or how late it polls changes
/// no due time and no fate.
///
/// A packet's last bit leaves the serialiser after all packets ahead of it, exactly (the fractions
/// of a picosecond are carried), and arrives one wire delay later. The queue holds what has not
/// begun to leave. A packet that waits is started at the exact instant at which the serialiser
/// becomes free, with the laws of that instant. While no law lets packets overtake
/// ([`Laws::reorder`], [`Laws::out_of_order`]), they come out in the order in which they went in,
/// also when their delay shrinks.
#[derive(Debug)]
pub struct Link<P> {
    up: bool,
    loss: LossProcess,
    queue: QueueLimit,
    rate: Option<Rate>,
    framing_bytes: u32,
    delay: Delay,
    out_of_order: Option<(Block, Span)>,
    duplicate: Probability,
    /// What waits can come out before what is under way.
    overtaking: bool,
    /// No packet spends less on the wire.
    least_delay: Span,

    streams: Streams,
    waiting: VecDeque<Waiting<P>>,
    waiting_bytes: u64,
    serialiser: Serialiser,
    wire: Wire<P>,
    counters: Counters,
    /// The latest `now`.
    clock: Time,
}

#[derive(Debug)]
struct Streams {
    loss: Stream,
    delay: Stream,
    out_of_order: Stream,
    duplicate: Stream,
}

#[derive(Clone, Copy, Debug)]
struct Waiting<P> {
    packet: P,
    since: Time,
}

impl<P: Load> Link<P> {
    /// An idle link that follows `laws`.
    ///
    /// Its chances come from the streams `<name>/loss`, `<name>/delay`, `<name>/out-of-order` and
    /// `<name>/duplicate` of `seed`. Segments of one super-packet that become due within
    /// `coalesce` of the first are given out together, when the last of them is due; zero gives
    /// out each by itself. Where [`Laws::reorder`] holds, every packet goes by itself.
    pub fn new(laws: Laws, seed: &Seed, name: &str, coalesce: Span) -> Self {
        let stream = |purpose: &str| seed.stream(&format!("{name}/{purpose}"));
        let mut link = Link {
            up: laws.up,
            loss: LossProcess::new(laws.loss),
            queue: laws.queue,
            rate: laws.rate,
            framing_bytes: laws.framing_bytes,
            delay: laws.delay,
            out_of_order: laws.out_of_order.map(|law| (Block::new(law.block), law.delay)),
            duplicate: laws.duplicate,
            overtaking: laws.reorder || laws.out_of_order.is_some(),
            least_delay: Span::ZERO,
            streams: Streams {
                loss: stream("loss"),
                delay: stream("delay"),
                out_of_order: stream("out-of-order"),
                duplicate: stream("duplicate"),
            },
            waiting: VecDeque::with_capacity(64),
            waiting_bytes: 0,
            serialiser: Serialiser::default(),
            wire: Wire::new(laws.reorder, coalesce),
            counters: Counters::default(),
            clock: Time::ZERO,
        };
        link.set_delay(laws.delay);
        link
    }

    /// Offers a packet to the near end, and after it its duplicate if the laws make one.
    pub fn offer(&mut self, now: Time, packet: P) -> Offered {
        self.settle(now);
        self.counters.offered_packets += 1;
        self.counters.offered_bytes += u64::from(packet.bytes());
        if !self.up {
            self.counters.down_packets += 1;
            return Offered::Ended(Fate::Down);
        }
        // Drawn for lost packets too, so that another loss law duplicates the same packets.
        let twice =
            self.duplicate > Probability::ZERO && self.duplicate.strikes(self.streams.duplicate.bits());
        if self.loss.strikes(&mut self.streams.loss) {
            self.counters.lost_packets += 1;
            return Offered::Ended(Fate::Lost);
        }
        if !self.admit(now, packet) {
            return Offered::Ended(Fate::Overflowed);
        }
        if !twice {
            return Offered::Taken { copies: 0 };
        }
        self.counters.copied_packets += 1;
        Offered::Taken { copies: u32::from(self.admit(now, packet)) }
    }

    /// When something will happen by itself: a packet can be taken, or one starts that may
    /// overtake. [`Time::NEVER`] if nothing will.
    pub fn next_event(&self) -> Time {
        let wire = self.wire.next();
        // Without overtaking, what waits comes out behind the packet that it waits for.
        if !self.overtaking || self.waiting.is_empty() || !self.up {
            return wire;
        }
        wire.min(self.serialiser.busy_until() + self.least_delay)
    }

    /// The next packet that has come out of the far end by `now`, and when it was due; to be
    /// called until it returns `None`. Due times never decrease from call to call.
    pub fn take(&mut self, now: Time) -> Option<(P, Time)> {
        self.settle(now);
        let (packet, due) = self.wire.take(now)?;
        self.counters.delivered_packets += 1;
        self.counters.delivered_bytes += u64::from(packet.bytes());
        Some((packet, due))
    }

    /// The next packet that was taken in but ended inside the link, and how; to be called until
    /// it returns `None`. No law does that yet.
    pub fn drop_pending(&mut self) -> Option<(P, Fate)> {
        None
    }

    /// Behaves otherwise from `now` on. What starts at `now` or before still follows the old laws,
    /// the packet being serialised finishes at the old rate, and nothing is flushed.
    pub fn change(&mut self, now: Time, change: &Change) {
        self.settle(now);
        if let Some(loss) = change.loss {
            self.loss = LossProcess::new(loss);
        }
        if let Some(queue) = change.queue {
            self.queue = queue;
        }
        if let Some(rate) = change.rate
            && rate != self.rate
        {
            self.rate = rate;
            self.serialiser.change_rate();
        }
        if let Some(delay) = change.delay {
            self.set_delay(delay);
        }
        if let Some(duplicate) = change.duplicate {
            self.duplicate = duplicate;
        }
        if let Some(up) = change.up {
            if up && !self.up {
                self.serialiser.hold_until(now);
            }
            self.up = up;
        }
        self.settle(now);
    }

    /// What has happened so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Packets that wait for the serialiser, and their bytes, as of the latest `now`.
    pub fn waiting(&self) -> (u64, u64) {
        (self.waiting.len() as u64, self.waiting_bytes)
    }

    /// Packets in the serialiser or on the wire, as of the latest `now`.
    pub fn flying(&self) -> u64 {
        self.wire.len() as u64
    }

    /// Starts every packet whose turn has come by `now`, each at its own instant.
    fn settle(&mut self, now: Time) {
        debug_assert!(now >= self.clock, "time went back from {} to {now}", self.clock);
        self.clock = now;
        if !self.up {
            return;
        }
        while let Some(&Waiting { packet, since }) = self.waiting.front() {
            let start = self.serialiser.busy_until().max(since);
            if start > now {
                return;
            }
            self.waiting.pop_front();
            self.waiting_bytes -= u64::from(packet.bytes());
            let waited = start.since(since);
            self.counters.waited_ps += u128::from(waited.ps());
            self.counters.waited_max = self.counters.waited_max.max(waited);
            self.start(start, packet);
        }
    }

    /// Puts a packet into the serialiser if it is free, into the queue if there is room.
    fn admit(&mut self, now: Time, packet: P) -> bool {
        if self.waiting.is_empty() && self.serialiser.busy_until() <= now {
            self.start(now, packet);
            return true;
        }
        let bytes = self.waiting_bytes + u64::from(packet.bytes());
        let full = self.queue.packets.is_some_and(|limit| self.waiting.len() as u64 >= limit)
            || self.queue.bytes.is_some_and(|limit| bytes > limit);
        if full {
            self.counters.overflowed_packets += 1;
            return false;
        }
        self.waiting_bytes = bytes;
        self.waiting.push_back(Waiting { packet, since: now });
        true
    }

    /// Lets a packet's first bit leave at `start`.
    fn start(&mut self, start: Time, packet: P) {
        let end = match self.rate {
            Some(rate) => {
                let bytes = packet.bytes().saturating_add(self.framing_bytes);
                self.serialiser.send(start, bytes, rate)
            }
            None => start,
        };
        // Drawn for the chosen packet too, so that choosing moves no other packet's delay.
        let mut delay = self.delay.draw(&mut self.streams.delay);
        let mut late = false;
        if let Some((block, late_delay)) = &mut self.out_of_order
            && block.strikes(&mut self.streams.out_of_order)
        {
            delay = *late_delay;
            late = true;
        }
        self.counters.wire_delay_ps += u128::from(delay.ps());
        let continues = self.wire.last().is_some_and(|last| packet.continues(last));
        self.wire.push(Entry { packet, start, due: end + delay, late, continues });
    }

    fn set_delay(&mut self, delay: Delay) {
        self.delay = delay;
        self.least_delay = match self.out_of_order {
            Some((_, late)) => delay.least().min(late),
            None => delay.least(),
        };
    }
}
