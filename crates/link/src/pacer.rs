use crate::rate::Shaper;
use crate::{Framing, LinkPacket, QueueLimit, RateModel};
use longhaul_units::{Histogram, InvalidValue, Rate, Serialiser, Span, Time, checked_when_read};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::num::NonZeroU64;

/// How a pacer behaves.
#[derive(Clone, Debug, PartialEq)]
pub struct PacerModel {
    /// The rate at which every packet leaves.
    pub line: Rate,
    /// What a packet occupies the line for.
    pub line_framing: Framing,
    /// What the rates of classes count.
    pub class_framing: Framing,
    /// The classes, by position.
    pub classes: Vec<ClassModel>,
}

/// How one class of a pacer behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassModel {
    /// When its packets may leave.
    pub pacing: PacingModel,
    /// How much may wait.
    pub limit: QueueLimit,
}

/// When packets of a class may leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum PacingModel {
    /// When no other class may; several of them take turns.
    Normal {},
    /// By the byte clock of a rate (PSPacer).
    Paced {
        /// That rate.
        #[serde(rename = "bits_per_s")]
        rate: Rate,
    },
    /// When a bucket has tokens for all of the packet (tbf(8)).
    TokenBucket {
        /// Rate at which it fills.
        #[serde(rename = "bits_per_s")]
        rate: Rate,
        /// Capacity; the bucket is full at the start. Larger packets are dropped.
        burst_bytes: NonZeroU64,
        /// Rate at which packets with tokens leave, at least `rate`; `None`: the line's.
        #[serde(rename = "peak_bits_per_s")]
        peak: Option<Rate>,
    },
}

checked_when_read!(PacingModel);

impl PacingModel {
    /// The long-term rate; `None`: what others leave.
    pub const fn rate(&self) -> Option<Rate> {
        match *self {
            PacingModel::Normal {} => None,
            PacingModel::Paced { rate } | PacingModel::TokenBucket { rate, .. } => Some(rate),
        }
    }

    /// The rule between the rates.
    ///
    /// # Errors
    /// If the peak is below the rate.
    pub fn check(&self) -> Result<(), InvalidValue> {
        match self {
            PacingModel::TokenBucket { rate, peak: Some(peak), .. } if peak < rate => {
                Err(InvalidValue::new("peak_bits_per_s", "must be at least the rate"))
            }
            _ => Ok(()),
        }
    }
}

/// Gives a class of a host another pacing model; queued packets stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PacingChange {
    /// Position of the class.
    pub class: usize,
    /// The new pacing model.
    pub model: PacingModel,
}

/// What a class has counted.
#[derive(Clone, Debug, Default)]
pub struct ClassCounters {
    /// Packets that came.
    pub offered_packets: u64,
    /// Their IP bytes.
    pub offered_bytes: u64,
    /// Packets that left.
    pub sent_packets: u64,
    /// Their IP bytes.
    pub sent_bytes: u64,
    /// Packets that found the queue full, or were larger than the bucket.
    pub dropped_packets: u64,
    /// Packets that wait now.
    pub waiting_packets: u64,
    /// Their IP bytes.
    pub waiting_bytes: u64,
    /// How long packets waited before their first bit left.
    pub waits: Histogram,
    /// Of packets that were there in time: how far the gap before them, from first bit to first bit, is from
    /// the gap that their class's rate asks for.
    pub gap_errors: Histogram,
    /// How late a packet was at most against its class's clock, because others were on the line.
    pub latest: Span,
}

/// Lets packets of several classes onto one line, those of a class apart from each other.
///
/// The caller [offers](Pacer::offer) packets, sleeps until [`next_event`](Pacer::next_event), and
/// [takes](Pacer::take) what leaves, each at the instant of its first bit, before it offers more at that
/// instant or later. No decision depends on when the caller looks.
///
/// A paced class sends a packet of B framed bytes every 8 B/r seconds: it has a clock that each packet
/// moves on by so much, and its next packet leaves when the clock says, or as soon after as the line is
/// free; what others take from it there it makes up for. A class that had nothing to send when its clock
/// said so begins anew with the next packet. Where several may send, the fastest goes first; normal
/// classes send when no other may. (R. Takano et al., "Design and evaluation of precise software pacing
/// mechanisms for fast long-distance networks", PFLDnet 2005.)
#[derive(Debug)]
pub struct Pacer<P> {
    line: Rate,
    line_framing: Framing,
    class_framing: Framing,
    wire: Serialiser,
    classes: Vec<Class<P>>,
    /// Classes with a rate, the fastest first, then the others.
    order: Vec<usize>,
    /// How many of them have a rate.
    timed: usize,
    /// The normal class whose turn is next.
    turn: usize,
    waiting_packets: u64,
    next: Time,
    /// The latest instant that anything happened at.
    clock: Time,
}

#[derive(Debug)]
struct Class<P> {
    limit: QueueLimit,
    clock: Clock,
    queue: VecDeque<(P, Time)>,
    waiting_bytes: u64,
    /// When the packet before began to leave, and how long after it the next should.
    before: Option<(Time, Span)>,
    counters: ClassCounters,
}

#[derive(Debug)]
enum Clock {
    Normal,
    Paced(Rate, Serialiser),
    Bucket(Rate, Box<Shaper>),
}

impl Clock {
    fn new(model: PacingModel) -> Self {
        match model {
            PacingModel::Normal {} => Clock::Normal,
            PacingModel::Paced { rate } => Clock::Paced(rate, Serialiser::default()),
            PacingModel::TokenBucket { rate, burst_bytes, peak } => {
                Clock::Bucket(rate, Box::new(Shaper::new(RateModel::TokenBucket { rate, burst_bytes, peak })))
            }
        }
    }

    /// The same class under another model, from `now` on. What a paced class's clock is ahead is so many bytes,
    /// which now take the time of the new rate; a bucket begins full.
    fn change(&mut self, now: Time, model: PacingModel) {
        match (&mut *self, model) {
            (Clock::Paced(old, clock), PacingModel::Paced { rate }) => {
                let ahead = u128::from(clock.busy_until().since(now).ps());
                let ahead = ahead * u128::from(old.bits_per_s()) / u128::from(rate.bits_per_s());
                let ahead = Span::from_ps(u64::try_from(ahead).unwrap_or(u64::MAX));
                *old = rate;
                *clock = Serialiser::default();
                clock.hold_until(now + ahead);
            }
            (Clock::Bucket(old, shaper), PacingModel::TokenBucket { rate, burst_bytes, peak }) => {
                *old = rate;
                shaper.change(now, RateModel::TokenBucket { rate, burst_bytes, peak });
            }
            (_, model) => *self = Clock::new(model),
        }
    }

    fn rate(&self) -> Option<Rate> {
        match self {
            Clock::Normal => None,
            Clock::Paced(rate, _) | Clock::Bucket(rate, _) => Some(*rate),
        }
    }
}

impl<P: LinkPacket> Pacer<P> {
    /// A pacer with nothing to send.
    pub fn new(model: &PacerModel) -> Self {
        let class = |model: &ClassModel| Class {
            limit: model.limit,
            clock: Clock::new(model.pacing),
            queue: VecDeque::new(),
            waiting_bytes: 0,
            before: None,
            counters: ClassCounters::default(),
        };
        let mut pacer = Pacer {
            line: model.line,
            line_framing: model.line_framing,
            class_framing: model.class_framing,
            wire: Serialiser::default(),
            classes: model.classes.iter().map(class).collect(),
            order: Vec::new(),
            timed: 0,
            turn: 0,
            waiting_packets: 0,
            next: Time::NEVER,
            clock: Time::ZERO,
        };
        pacer.sort();
        pacer
    }

    /// Offers a packet to a class; `false` if the class drops it.
    pub fn offer(&mut self, now: Time, class: usize, packet: P) -> bool {
        debug_assert!(now >= self.clock, "time went back from {} to {now}", self.clock);
        self.clock = now;
        let framed = self.class_framing.framed(packet.bytes());
        let each = &mut self.classes[class];
        let bytes = u64::from(packet.bytes());
        each.counters.offered_packets += 1;
        each.counters.offered_bytes += bytes;
        let too_large = matches!(&each.clock, Clock::Bucket(_, shaper) if !shaper.admits(framed));
        let full = each.limit.packets.is_some_and(|most| each.queue.len() as u64 >= most)
            || each.limit.bytes.is_some_and(|most| each.waiting_bytes + bytes > most);
        // What can leave at once does not have to wait: a class without a queue still sends.
        let goes_at_once = each.queue.is_empty() && {
            let ready = each.ready(framed, now);
            ready <= now && self.wire.busy_until() <= now && self.next > now
        };
        if too_large || full && !goes_at_once {
            each.counters.dropped_packets += 1;
            return false;
        }
        each.queue.push_back((packet, now));
        each.waiting_bytes += bytes;
        self.waiting_packets += 1;
        if each.queue.len() == 1 {
            let ready = each.ready(framed, now);
            self.next = self.next.min(ready.max(self.wire.busy_until()));
        }
        true
    }

    /// When the next packet leaves; [`Time::NEVER`] if none waits.
    pub fn next_event(&self) -> Time {
        self.next
    }

    /// The next packet whose first bit has left by `now`, its class, and when; to be called until it
    /// returns `None`.
    pub fn take(&mut self, now: Time) -> Option<(P, usize, Time)> {
        let start = self.next;
        if start > now || start == Time::NEVER {
            return None;
        }
        self.clock = start;
        let class = self.choose(start)?;
        let packet = self.send(class, start)?;
        self.plan(start);
        Some((packet, class, start))
    }

    /// A class follows another model from `now` on; what is due by then has been taken. What waits stays, but
    /// for packets larger than the new bucket: these are returned, dropped.
    pub fn change(&mut self, now: Time, class: usize, model: PacingModel) -> Vec<P> {
        let Some(each) = self.classes.get_mut(class) else { return Vec::new() };
        self.clock = now;
        each.clock.change(now, model);
        each.before = None;
        let mut dropped = Vec::new();
        if let Clock::Bucket(_, shaper) = &each.clock {
            let framing = self.class_framing;
            each.queue.retain(|(packet, _)| {
                let goes = shaper.admits(framing.framed(packet.bytes()));
                if !goes {
                    dropped.push(*packet);
                }
                goes
            });
        }
        each.counters.dropped_packets += dropped.len() as u64;
        each.waiting_bytes -= dropped.iter().map(|packet| u64::from(packet.bytes())).sum::<u64>();
        self.waiting_packets -= dropped.len() as u64;
        self.sort();
        self.plan(now);
        dropped
    }

    /// What a class has counted.
    pub fn counters(&self, class: usize) -> ClassCounters {
        let each = &self.classes[class];
        ClassCounters {
            waiting_packets: each.queue.len() as u64,
            waiting_bytes: each.waiting_bytes,
            ..each.counters.clone()
        }
    }

    /// Packets that wait.
    pub fn waiting(&self) -> u64 {
        self.waiting_packets
    }

    /// Since when a class is idle: no packet waits, and its clock has passed.
    pub fn idle_since(&self, class: usize, now: Time) -> Option<Time> {
        let each = &self.classes[class];
        let passed = match &each.clock {
            Clock::Normal => Time::ZERO,
            Clock::Paced(_, clock) => clock.busy_until(),
            Clock::Bucket(_, shaper) => shaper.free_at(),
        };
        let began = each.before.map_or(Time::ZERO, |(start, _)| start);
        (each.queue.is_empty() && passed <= now).then_some(passed.max(began))
    }

    fn sort(&mut self) {
        self.order = (0..self.classes.len()).collect();
        let rate = |&class: &usize| std::cmp::Reverse(self.classes[class].clock.rate().map(Rate::bits_per_s));
        self.order.sort_by_key(rate);
        self.timed = self.classes.iter().filter(|each| each.clock.rate().is_some()).count();
    }

    /// Finds out when the next packet leaves, not before `now`.
    fn plan(&mut self, now: Time) {
        self.next = Time::NEVER;
        if self.waiting_packets == 0 {
            return;
        }
        let free = self.wire.busy_until().max(now);
        for each in &self.classes {
            if let Some((packet, since)) = each.queue.front() {
                let ready = each.ready(self.class_framing.framed(packet.bytes()), *since);
                self.next = self.next.min(ready.max(free));
                if self.next == free {
                    return;
                }
            }
        }
    }

    /// The class whose packet begins at `start`.
    fn choose(&mut self, start: Time) -> Option<usize> {
        let framing = self.class_framing;
        let ready = |class: &usize| {
            let each = &self.classes[*class];
            let front = each.queue.front();
            front.is_some_and(|(packet, since)| each.ready(framing.framed(packet.bytes()), *since) <= start)
        };
        let (timed, normal) = self.order.split_at(self.timed);
        if let Some(&class) = timed.iter().find(|class| ready(class)) {
            return Some(class);
        }
        let mut turns = (0..normal.len()).map(|step| (self.turn + step) % normal.len());
        let place = turns.find(|&place| ready(&normal[place]))?;
        let class = normal[place];
        self.turn = place + 1;
        Some(class)
    }

    /// Sends the first packet of a class.
    fn send(&mut self, class: usize, start: Time) -> Option<P> {
        let each = &mut self.classes[class];
        let (packet, since) = each.queue.pop_front()?;
        let bytes = u64::from(packet.bytes());
        let framed = self.class_framing.framed(packet.bytes());
        each.waiting_bytes -= bytes;
        self.waiting_packets -= 1;
        let line_end = self.wire.send(start, self.line_framing.framed(packet.bytes()), self.line);
        each.measure(start, since);
        let gap = match &mut each.clock {
            Clock::Normal => Span::ZERO,
            Clock::Paced(rate, clock) => {
                let due = clock.busy_until();
                // A packet that was waiting when the clock was due starts from there; others set the clock.
                let waited = since <= due && each.before.is_some();
                let from = if waited { due } else { start };
                each.counters.latest = each.counters.latest.max(start.since(from));
                clock.send(from, framed, *rate);
                clock.hold_until(from + line_end.since(start));
                clock.busy_until().since(from)
            }
            Clock::Bucket(rate, shaper) => {
                shaper.send(start, framed);
                rate.time_for(u64::from(framed))
            }
        };
        each.before = Some((start, gap));
        each.counters.sent_packets += 1;
        each.counters.sent_bytes += bytes;
        Some(packet)
    }
}

impl<P> Class<P> {
    /// When a packet of so many framed bytes, which is there since `since`, may begin if it is the first.
    fn ready(&self, framed: u32, since: Time) -> Time {
        match &self.clock {
            Clock::Normal => since,
            Clock::Paced(_, clock) => clock.busy_until().max(since),
            Clock::Bucket(_, shaper) => shaper.start(shaper.free_at().max(since), framed),
        }
    }

    /// Notes what the start of a packet says about the class's spacing.
    fn measure(&mut self, start: Time, since: Time) {
        self.counters.waits.add(start.since(since), 1);
        if matches!(self.clock, Clock::Normal) {
            return;
        }
        if let Some((before, gap)) = self.before
            && since <= before + gap
        {
            let got = start.since(before);
            self.counters.gap_errors.add(got.saturating_sub(gap).max(gap.saturating_sub(got)), 1);
        }
    }
}

#[cfg(test)]
mod tests;
