use crate::agent::{Way, Wire};
use crate::cargo::{Carrier, Load};
use longhaul_network::NodeId;
use longhaul_plan::{Arrivals, Sizes};
use longhaul_random::{Distribution, Stream};
use longhaul_units::{Rate, Serialiser, Span, Time};

/// Sends datagrams at a mean rate of payload.
#[derive(Debug)]
pub struct Datagrams {
    pub way: Way,
    plan: Plan,
    /// IP and UDP headers.
    header_bytes: u32,
    clock: Serialiser,
    next: Time,
    left_bytes: u64,
    /// When the current time of sending ends.
    silent_from: Time,
    chance: Stream,
    pub sent: u64,
    pub sent_bytes: u64,
}

/// What a stream of datagrams is to be.
#[derive(Clone, Debug)]
pub struct Plan {
    pub payload_bytes: u32,
    /// The largest payload that passes all the way.
    pub most_bytes: u32,
    pub rate: Rate,
    pub start: Time,
    pub stop: Time,
    pub bytes: u64,
    pub arrivals: Arrivals,
    pub sizes: Sizes,
    /// Times of sending and of silence, in ns.
    pub on_off: Option<(Distribution, Distribution)>,
}

impl Datagrams {
    pub fn new(way: Way, plan: Plan, chance: Stream) -> Self {
        let mut clock = Serialiser::default();
        clock.hold_until(plan.start);
        let mut made = Datagrams {
            way,
            header_bytes: 8 + if way.ipv6 { 40 } else { 20 },
            clock,
            next: plan.start,
            left_bytes: plan.bytes,
            silent_from: Time::NEVER,
            chance,
            sent: 0,
            sent_bytes: 0,
            plan,
        };
        if made.plan.on_off.is_some() {
            made.silent_from = made.plan.start + made.draw_span(true);
        }
        made
    }

    pub fn timer(&self) -> Time {
        self.next
    }

    /// Bytes of the largest packet that it may send, IP and above.
    pub fn largest(&self) -> u32 {
        let payload = match self.plan.sizes {
            Sizes::Fixed => self.plan.payload_bytes,
            Sizes::Exponential => self.plan.most_bytes,
        };
        payload + self.header_bytes
    }

    /// The host that it lives on.
    pub fn home(&self) -> NodeId {
        self.way.from
    }

    pub fn expire(&mut self, wire: &mut Wire<'_, impl Carrier>) {
        if wire.now < self.next {
            return;
        }
        let bytes = self.size();
        wire.send(&self.way, Load::Datagram { number: self.sent, bytes }, bytes + self.header_bytes, 0);
        self.sent += 1;
        self.sent_bytes += u64::from(bytes);
        self.left_bytes = self.left_bytes.saturating_sub(u64::from(bytes));
        self.next = match self.plan.arrivals {
            // The byte clock carries the fraction of a picosecond.
            Arrivals::Even => self.clock.send(self.next, bytes, self.plan.rate),
            Arrivals::Poisson => {
                let mean = self.plan.rate.time_for(u64::from(self.plan.payload_bytes)).ps() as f64;
                self.next + Span::from_ps((self.chance.exponential() * mean) as u64)
            }
        };
        while self.next >= self.silent_from && self.next < self.plan.stop {
            // What is left of the gap is spent after the silence.
            let resumed = self.silent_from + self.draw_span(false);
            self.next = resumed + self.next.since(self.silent_from);
            self.silent_from = resumed + self.draw_span(true);
            self.clock.hold_until(self.next);
        }
        if self.next >= self.plan.stop || self.left_bytes == 0 {
            self.next = Time::NEVER;
        }
    }

    fn size(&mut self) -> u32 {
        match self.plan.sizes {
            Sizes::Fixed => self.plan.payload_bytes,
            Sizes::Exponential => {
                let drawn = self.chance.exponential() * f64::from(self.plan.payload_bytes);
                (drawn as u32).clamp(1, self.plan.most_bytes)
            }
        }
    }

    /// A time of sending, or of silence; at least a nanosecond, so that time passes.
    fn draw_span(&mut self, on: bool) -> Span {
        let ns = match &self.plan.on_off {
            Some((time, _)) if on => time.draw(&mut self.chance),
            Some((_, time)) => time.draw(&mut self.chance),
            None => return Span::from_ps(u64::MAX / 2),
        };
        Span::from_ps((ns.clamp(1.0, 1e15) * 1_000.0) as u64)
    }
}

/// Receives datagrams and counts.
#[derive(Debug)]
pub struct Drain {
    /// The host that it lives on.
    pub home: NodeId,
    pub received: u64,
    pub received_bytes: u64,
    pub out_of_order: u64,
    next: u64,
}

impl Drain {
    pub fn new(home: NodeId) -> Self {
        Drain { home, received: 0, received_bytes: 0, out_of_order: 0, next: 0 }
    }

    pub fn receive(&mut self, number: u64, bytes: u32) {
        self.received += 1;
        self.received_bytes += u64::from(bytes);
        if number < self.next {
            self.out_of_order += 1;
        } else {
            self.next = number + 1;
        }
    }
}
