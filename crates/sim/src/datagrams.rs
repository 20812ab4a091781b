use crate::agent::{Way, Wire};
use crate::carrier::Load;
use longhaul_units::{Rate, Serialiser, Time};

/// Sends datagrams at a constant rate of payload, evenly spaced.
#[derive(Debug)]
pub struct Datagrams {
    way: Way,
    payload_bytes: u32,
    /// IP and UDP headers.
    header_bytes: u32,
    rate: Rate,
    clock: Serialiser,
    next: Time,
    stop: Time,
    left_bytes: u64,
    pub sent: u64,
}

/// What a stream of datagrams is to be.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub payload_bytes: u32,
    pub rate: Rate,
    pub start: Time,
    pub stop: Time,
    pub bytes: u64,
}

impl Datagrams {
    pub fn new(way: Way, plan: Plan) -> Self {
        let mut clock = Serialiser::default();
        clock.hold_until(plan.start);
        Datagrams {
            way,
            payload_bytes: plan.payload_bytes,
            header_bytes: 8 + if way.ipv6 { 40 } else { 20 },
            rate: plan.rate,
            clock,
            next: plan.start,
            stop: plan.stop,
            left_bytes: plan.bytes,
            sent: 0,
        }
    }

    pub fn timer(&self) -> Time {
        self.next
    }

    /// Payload sent so far.
    pub fn sent_bytes(&self) -> u64 {
        self.sent * u64::from(self.payload_bytes)
    }

    pub fn expire(&mut self, wire: &mut Wire<'_>) {
        if wire.now < self.next {
            return;
        }
        wire.send(&self.way, Load::Datagram(self.sent), self.payload_bytes + self.header_bytes, 0);
        self.sent += 1;
        self.left_bytes = self.left_bytes.saturating_sub(u64::from(self.payload_bytes));
        // The byte clock carries the fraction of a picosecond.
        self.next = self.clock.send(self.next, self.payload_bytes, self.rate);
        if self.next >= self.stop || self.left_bytes == 0 {
            self.next = Time::NEVER;
        }
    }
}

/// Receives datagrams and counts.
#[derive(Debug, Default)]
pub struct Drain {
    payload_bytes: u32,
    pub received: u64,
    pub out_of_order: u64,
    next: u64,
}

impl Drain {
    pub fn new(payload_bytes: u32) -> Self {
        Drain { payload_bytes, ..Drain::default() }
    }

    pub fn receive(&mut self, number: u64) {
        self.received += 1;
        if number < self.next {
            self.out_of_order += 1;
        } else {
            self.next = number + 1;
        }
    }

    /// Payload received so far, copies included.
    pub fn received_bytes(&self) -> u64 {
        self.received * u64::from(self.payload_bytes)
    }
}
