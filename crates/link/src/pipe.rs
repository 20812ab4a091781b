use crate::link::Link;
use crate::{Counters, Fate, Framing, LinkModel, LinkPacket, OfferResult, QueueLimit, Transit};
use longhaul_random::Seed;
use longhaul_units::{Histogram, Rate, Serialiser, Span, Time};
use std::collections::VecDeque;

/// Of an IP packet.
const LEAST_BYTES: u32 = 20;

/// A link whose models let every due time be known on arrival: first in, first out at a steady rate,
/// with a constant delay. It does what the [`Link`] inside would do, in a fraction of the time.
///
/// [`admit_run`](Self::admit_run) says when packets will be due; where they are kept until then is the
/// caller's business, or the pipe's own: [`offer`](Self::offer) and [`take`](Self::take).
#[derive(Debug)]
pub struct Pipe<P> {
    pace: Pace,
    delay: Span,
    framing: Framing,
    limit: QueueLimit,
    lossless: bool,
    wire: Serialiser,
    /// Those that have not begun to leave.
    queue: VecDeque<QueuedPacket>,
    waiting_bytes: u64,
    clock: Time,
    /// All that have been let in and are not due yet, if the pipe keeps them.
    transit: Transit<P>,
    counters: Counters,
    /// Of those that waited and have begun to leave.
    waits: Histogram,
    /// Its models and streams; its queue and wire are empty.
    link: Box<Link<P>>,
}

/// How long bytes take.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pace {
    /// So many picoseconds each: nothing has to be carried from packet to packet.
    PerByte(u64),
    /// As long as the rate says.
    Rate(Rate),
}

impl Pace {
    /// So many picoseconds, if it is a whole number; else zero.
    fn per_byte(self) -> u64 {
        match self {
            Pace::PerByte(ps) => ps,
            Pace::Rate(_) => 0,
        }
    }
}

/// How far [`Pipe::admit_run`] has come.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// So many packets were let in.
    pub admitted: usize,
    /// Their bytes.
    pub bytes: u64,
    /// How the packet after them ended, if it came in time.
    pub refused: Option<Fate>,
}

/// Lets packets into a [`Pipe`] one after the other; the pipe counts them when it is [finished](Self::finish).
#[derive(Debug)]
pub struct Admission<'a, P> {
    pipe: &'a mut Pipe<P>,
    delay: Span,
    framing: Framing,
    per_byte: u64,
    wire: Serialiser,
    /// See [`Pipe::is_simple`].
    is_simple: bool,
    /// Whether no packet waits, either.
    is_clear: bool,
    wire_bytes: u64,
    admitted: usize,
    bytes: u64,
}

impl<P: LinkPacket> Admission<'_, P> {
    /// When a packet of so many bytes that comes at `now` will be due.
    ///
    /// # Errors
    /// How it ends, if it is lost or refused.
    #[inline(always)]
    pub fn admit(&mut self, now: Time, bytes: u32) -> Result<Time, Fate> {
        let end = if self.is_simple {
            if !self.is_clear || self.wire.busy_until() > now {
                self.wait(now, bytes)?;
            }
            // What `Pipe::admit` does when nothing else is in the way.
            let framed = u64::from(self.framing.framed(bytes));
            self.wire_bytes += framed;
            self.wire.send_for(now, Span::from_ps(framed * self.per_byte))
        } else {
            self.admit_slowly(now, bytes)?
        };
        self.admitted += 1;
        self.bytes += u64::from(bytes);
        Ok(end + self.delay)
    }

    /// A packet comes to a wire that may be busy.
    #[inline]
    fn wait(&mut self, now: Time, bytes: u32) -> Result<(), Fate> {
        let waits = self.pipe.pass_queue(self.wire, now, bytes);
        self.is_clear = self.pipe.queue.is_empty();
        waits.inspect_err(|_| self.pipe.count_offer(1, u64::from(bytes)))
    }

    #[inline(never)]
    fn admit_slowly(&mut self, now: Time, bytes: u32) -> Result<Time, Fate> {
        self.pipe.wire = self.wire;
        let admitted = self.pipe.admit(now, bytes);
        self.wire = self.pipe.wire;
        admitted.inspect_err(|_| self.pipe.count_offer(1, u64::from(bytes)))
    }

    /// Packets that were let in, and their bytes.
    #[inline]
    pub fn finish(self) -> (usize, u64) {
        self.pipe.wire = self.wire;
        self.pipe.counters.wire_bytes += self.wire_bytes;
        self.pipe.count_offer(self.admitted as u64, self.bytes);
        (self.admitted, self.bytes)
    }
}

#[derive(Clone, Copy, Debug)]
struct QueuedPacket {
    since: Time,
    /// The wire when its first bit leaves.
    wire: Serialiser,
    bytes: u32,
}

impl<P: LinkPacket> Pipe<P> {
    /// Takes over an unused `link` if its models allow.
    pub(crate) fn new(link: Box<Link<P>>) -> Result<Self, Box<Link<P>>> {
        let Some((pace, delay)) = link.as_pipe() else { return Err(link) };
        Ok(Pipe {
            pace,
            delay,
            framing: link.framing(),
            limit: link.limit(),
            lossless: link.is_lossless(),
            wire: Serialiser::default(),
            queue: VecDeque::new(),
            waiting_bytes: 0,
            clock: Time::ZERO,
            transit: Transit::default(),
            counters: Counters::default(),
            waits: Histogram::new(),
            link,
        })
    }

    /// The link in the state that it would be in, so that it can change. This one is then empty.
    pub(crate) fn take_link(&mut self, now: Time) -> Box<Link<P>> {
        self.settle(now);
        let idle = Box::new(Link::new(LinkModel::default(), &Seed::new(0), "", Span::ZERO));
        let mut link = std::mem::replace(&mut self.link, idle);
        let wire = self.queue.front().map_or(self.wire, |first| first.wire);
        let (begun, counters, waits) = (self.transit.len() - self.queue.len(), self.counters(), self.waits());
        let mut held = self.transit.drain();
        for (due, packet) in held.by_ref().take(begun) {
            link.put_on_wire(packet, due);
        }
        let waiting = held.zip(self.queue.drain(..));
        link.resume(self.clock, wire, waiting.map(|((_, packet), waits)| (packet, waits.since)));
        (link.counters, link.waits) = (counters, waits);
        link
    }

    /// See [`Link::offer`].
    #[inline(always)]
    pub fn offer(&mut self, now: Time, packet: P) -> OfferResult {
        let mut alone = [(now, packet)];
        if let Some(fate) = self.admit_run(&mut alone, Time::NEVER, |_, _| ()).refused {
            return OfferResult::Ended(fate);
        }
        let [(due, packet)] = alone;
        self.transit.push(due, packet);
        OfferResult::Taken { copies: 0 }
    }

    /// Lets in `packets`, which come one after the other at these times, as far as they come `before` an
    /// instant and up to the first that is refused. The time of each that is let in becomes the one at which
    /// it will be due, and `each` is called with its arrival time.
    #[inline]
    pub fn admit_run(
        &mut self,
        packets: &mut [(Time, P)],
        before: Time,
        mut each: impl FnMut(&mut P, Time),
    ) -> Run {
        let mut refused = None;
        let mut admission = self.admission();
        for (time, packet) in packets {
            let now = *time;
            if now >= before {
                break;
            }
            match admission.admit(now, packet.bytes()) {
                Ok(due) => {
                    *time = due;
                    each(packet, now);
                }
                Err(fate) => {
                    refused = Some(fate);
                    break;
                }
            }
        }
        let (admitted, bytes) = admission.finish();
        Run { admitted, bytes, refused }
    }

    /// Begins to let in packets that come one after the other.
    #[inline]
    pub fn admission(&mut self) -> Admission<'_, P> {
        Admission {
            delay: self.delay,
            framing: self.framing.without_cells(),
            per_byte: self.pace.per_byte(),
            wire: self.wire,
            is_simple: self.is_simple(),
            is_clear: self.queue.is_empty(),
            wire_bytes: 0,
            admitted: 0,
            bytes: 0,
            pipe: self,
        }
    }

    /// Whether all packets are let in for which there is room, and each of their bytes takes equally long.
    fn is_simple(&self) -> bool {
        let Pipe { pace, framing, lossless, .. } = self;
        *lossless && framing.cells.is_none() && matches!(pace, Pace::PerByte(_))
    }

    fn count_offer(&mut self, packets: u64, bytes: u64) {
        self.counters.offered_packets += packets;
        self.counters.offered_bytes += bytes;
    }

    /// When the last bit of a packet that comes at `now` will have left, or how it ends.
    #[inline]
    fn admit(&mut self, now: Time, bytes: u32) -> Result<Time, Fate> {
        self.pass_loss_and_queue(now, bytes)?;
        let framed = self.framing.framed(bytes);
        self.counters.wire_bytes += u64::from(framed);
        Ok(match self.pace {
            Pace::PerByte(ps) => self.wire.send_for(now, Span::from_ps(u64::from(framed) * ps)),
            Pace::Rate(rate) => self.wire.send(now, framed, rate),
        })
    }

    fn pass_loss_and_queue(&mut self, now: Time, bytes: u32) -> Result<(), Fate> {
        if !self.lossless && self.link.drops(now, bytes) {
            self.counters.lost_packets += 1;
            return Err(Fate::Lost);
        }
        self.pass_queue(self.wire, now, bytes)
    }

    /// A packet comes at `now`, with the wire in this state; it waits if the wire is busy.
    #[inline]
    fn pass_queue(&mut self, wire: Serialiser, now: Time, bytes: u32) -> Result<(), Fate> {
        self.settle(now);
        if wire.busy_until() > now {
            if self.limit.refuses(self.queue.len() as u64, self.waiting_bytes, bytes) {
                self.counters.overflowed_packets += 1;
                return Err(Fate::Overflowed);
            }
            self.queue.push_back(QueuedPacket { since: now, wire, bytes });
            self.waiting_bytes += u64::from(bytes);
        }
        Ok(())
    }

    /// `packets` of so many bytes together have come out of the far end.
    #[inline]
    pub fn deliver(&mut self, packets: u64, bytes: u64) {
        self.counters.delivered_packets += packets;
        self.counters.delivered_bytes += bytes;
    }

    /// See [`Link::next_event`].
    #[inline]
    pub fn next_event(&self) -> Time {
        self.transit.first().unwrap_or(Time::NEVER)
    }

    /// Whether no packet waits or is in flight.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.transit.is_empty()
    }

    /// See [`Link::take`].
    #[inline(always)]
    pub fn take(&mut self, now: Time) -> Option<(P, Time)> {
        let (due, packet) = self.transit.take(now)?;
        self.settle(now);
        self.deliver(1, u64::from(packet.bytes()));
        Some((packet, due))
    }

    /// See [`Link::upcoming`].
    pub fn upcoming(&mut self, now: Time, before: Time, mut each: impl FnMut(&P, Time)) {
        self.settle(now);
        let begun = self.transit.len() - self.queue.len();
        let known = self.transit.waiting()[..begun].iter().take_while(|entry| entry.0 < before);
        known.for_each(|(due, packet)| each(packet, *due));
    }

    /// See [`Link::least_delay`].
    pub fn least_delay(&self) -> Span {
        self.delay
    }

    /// When the last of those that it keeps is due.
    #[inline]
    pub fn last_due(&self) -> Option<Time> {
        self.transit.last()
    }

    /// All that it keeps, in order, with their due times; it keeps none of them any longer.
    pub fn take_all(&mut self) -> impl Iterator<Item = (Time, P)> {
        self.transit.drain()
    }

    /// Keeps what it gave up and has admitted since, in order.
    pub fn put_back(&mut self, packets: impl Iterator<Item = (Time, P)>) {
        packets.for_each(|(due, packet)| self.transit.push(due, packet));
    }

    /// Whether a packet takes any time to get through.
    pub fn looks_ahead(&self) -> bool {
        self.least_takes() + self.delay > Span::ZERO
    }

    /// No packet that is offered from `now` on will be due before this; each has at least an IP header.
    #[inline]
    pub fn earliest_due(&self, now: Time) -> Time {
        now.max(self.wire.busy_until()) + self.least_takes() + self.delay
    }

    /// What has happened up to the latest `now`; of what has begun, with what is on the way.
    pub(crate) fn counters(&self) -> Counters {
        let wire_delay_ps = u128::from(self.begun()) * u128::from(self.delay.ps());
        let waiting: u64 = self.queue.iter().map(|each| u64::from(self.framing.framed(each.bytes))).sum();
        Counters { wire_delay_ps, wire_bytes: self.counters.wire_bytes - waiting, ..self.counters }
    }

    /// Packets that have begun to leave so far.
    fn begun(&self) -> u64 {
        let Counters { offered_packets, lost_packets, overflowed_packets, .. } = self.counters;
        offered_packets - lost_packets - overflowed_packets - self.queue.len() as u64
    }

    /// Those that found the wire free are those that did not wait.
    pub(crate) fn waits(&self) -> Histogram {
        let mut all = self.waits.clone();
        all.add(Span::ZERO, self.begun() - all.count());
        all
    }

    pub(crate) fn waiting(&self) -> (u64, u64) {
        (self.queue.len() as u64, self.waiting_bytes)
    }

    pub(crate) fn next_start(&self) -> Time {
        self.queue.front().map_or(Time::NEVER, |first| first.wire.busy_until())
    }

    pub(crate) fn in_flight(&self) -> u64 {
        let Counters { delivered_packets, .. } = self.counters;
        self.begun() - delivered_packets
    }

    #[inline]
    fn least_takes(&self) -> Span {
        let bytes = u64::from(self.framing.framed(LEAST_BYTES));
        match self.pace {
            Pace::PerByte(ps) => Span::from_ps(bytes * ps),
            Pace::Rate(rate) => rate.time_for(bytes),
        }
    }

    /// Lets go every packet whose turn has come.
    #[inline]
    pub fn settle(&mut self, now: Time) {
        debug_assert!(now >= self.clock, "time went back from {} to {now}", self.clock);
        self.clock = now;
        if !self.queue.is_empty() {
            self.settle_queue(now);
        }
    }

    fn settle_queue(&mut self, now: Time) {
        while let Some(first) = self.queue.front()
            && first.wire.busy_until() <= now
        {
            self.waits.add(first.wire.busy_until().since(first.since), 1);
            self.waiting_bytes -= u64::from(first.bytes);
            self.queue.pop_front();
        }
    }
}
