use crate::link::Link;
use crate::{Counters, Fate, Laws, Load, Offered};
use longhaul_random::Seed;
use longhaul_units::{Span, Time};
use std::collections::VecDeque;

/// A link whose laws let every due time be known on arrival: first in, first out at a steady rate,
/// with a constant delay. It does what the [`Link`] inside would do, in half the time: a ring holds
/// packets from their arrival to their due time, and a mark in it divides those that have begun to
/// leave from those that wait.
#[derive(Debug)]
pub struct Pipe<P> {
    /// Its laws, streams and counters; its queue and wire are empty.
    link: Box<Link<P>>,
    ps_per_byte: u64,
    delay: Span,
    ring: VecDeque<Entry<P>>,
    /// So many of the ring have begun.
    begun: usize,
    waiting_bytes: u64,
    /// When the last bit of the last packet that has begun leaves.
    free_at: Time,
    /// When the last bit of the last packet leaves.
    last_end: Time,
    clock: Time,
}

#[derive(Clone, Copy, Debug)]
struct Entry<P> {
    packet: P,
    since: Time,
    end: Time,
    due: Time,
}

impl<P: Load> Pipe<P> {
    /// Takes over an unused `link` if its laws allow.
    pub(crate) fn new(link: Box<Link<P>>) -> Result<Self, Box<Link<P>>> {
        let Some((ps_per_byte, delay)) = link.as_pipe() else { return Err(link) };
        Ok(Pipe {
            link,
            ps_per_byte,
            delay,
            ring: VecDeque::with_capacity(64),
            begun: 0,
            waiting_bytes: 0,
            free_at: Time::ZERO,
            last_end: Time::ZERO,
            clock: Time::ZERO,
        })
    }

    /// The link in the state that it would be in, so that it can change. This one is then empty.
    pub(crate) fn take_link(&mut self, now: Time) -> Box<Link<P>> {
        self.settle(now);
        let idle = Box::new(Link::new(Laws::default(), &Seed::new(0), "", Span::ZERO));
        let mut link = std::mem::replace(&mut self.link, idle);
        for entry in self.ring.drain(..self.begun) {
            link.put_on_wire(entry.packet, entry.due);
        }
        let waiting = self.ring.drain(..).map(|entry| (entry.packet, entry.since));
        link.resume(self.clock, self.free_at, waiting);
        link
    }

    /// See [`Link::offer`].
    #[inline]
    pub fn offer(&mut self, now: Time, packet: P) -> Offered {
        self.settle(now);
        let bytes = packet.bytes();
        self.link.counters.offered_packets += 1;
        self.link.counters.offered_bytes += u64::from(bytes);
        if self.link.strikes(now, bytes) {
            self.link.counters.lost_packets += 1;
            return Offered::Ended(Fate::Lost);
        }
        let waiting = (self.ring.len() - self.begun) as u64;
        let idle = waiting == 0 && self.free_at <= now;
        if !idle && self.link.limit().refuses(waiting, self.waiting_bytes, bytes) {
            self.link.counters.overflowed_packets += 1;
            return Offered::Ended(Fate::Overflowed);
        }
        let takes = Span::from_ps(u64::from(self.link.framed(bytes)) * self.ps_per_byte);
        let end = now.max(self.last_end) + takes;
        self.ring.push_back(Entry { packet, since: now, end, due: end + self.delay });
        self.last_end = end;
        self.waiting_bytes += u64::from(bytes);
        if idle {
            self.settle(now);
        }
        Offered::Taken { copies: 0 }
    }

    /// See [`Link::next_event`].
    #[inline]
    pub fn next_event(&self) -> Time {
        self.ring.front().map_or(Time::NEVER, |first| first.due)
    }

    /// Whether nobody waits or is on the way.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    /// See [`Link::take`].
    #[inline]
    pub fn take(&mut self, now: Time) -> Option<(P, Time)> {
        self.settle(now);
        let first = *self.ring.front()?;
        if first.due > now {
            return None;
        }
        self.ring.pop_front();
        self.begun -= 1;
        self.link.counters.delivered_packets += 1;
        self.link.counters.delivered_bytes += u64::from(first.packet.bytes());
        Some((first.packet, first.due))
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.link.counters
    }

    pub(crate) fn waiting(&self) -> (u64, u64) {
        ((self.ring.len() - self.begun) as u64, self.waiting_bytes)
    }

    pub(crate) fn flying(&self) -> u64 {
        self.begun as u64
    }

    /// Moves the mark past every packet whose turn has come.
    #[inline]
    fn settle(&mut self, now: Time) {
        debug_assert!(now >= self.clock, "time went back from {} to {now}", self.clock);
        self.clock = now;
        while let Some(entry) = self.ring.get(self.begun) {
            let start = self.free_at.max(entry.since);
            if start > now {
                return;
            }
            let waited = start.since(entry.since);
            let counters = &mut self.link.counters;
            counters.waited_ps += u128::from(waited.ps());
            counters.waited_max = counters.waited_max.max(waited);
            counters.wire_delay_ps += u128::from(self.delay.ps());
            self.waiting_bytes -= u64::from(entry.packet.bytes());
            self.free_at = entry.end;
            self.begun += 1;
        }
    }
}
