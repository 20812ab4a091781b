use crate::agent::{Way, Wire};
use crate::cargo::{Carrier, Load};
use longhaul_network::NodeId;
use longhaul_record::EchoRow;
use longhaul_units::{Span, Time};
use std::collections::VecDeque;

/// How long an answer is waited for.
const PATIENCE: Span = Span::from_s(10);
/// The same at the end of the run.
const GRACE: Span = Span::from_s(1);

/// Sends echo requests, and answers those that come.
#[derive(Debug)]
pub struct Echoes {
    /// Position of the flow in the plan.
    flow: u32,
    pub way: Way,
    bytes: u32,
    every: Span,
    next: Time,
    stop: Time,
    left: u64,
    pub sent: u64,
    pub received: u64,
    /// When those left that have no answer yet, from `first` on; `None`: answered.
    waiting: VecDeque<Option<Time>>,
    first: u64,
}

/// What echo requests are to be.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub flow: u32,
    pub payload_bytes: u32,
    pub every: Span,
    pub start: Time,
    pub stop: Time,
    pub count: u64,
}

impl Echoes {
    /// The end that asks.
    pub fn new(way: Way, plan: Plan) -> Self {
        Echoes {
            flow: plan.flow,
            way,
            bytes: plan.payload_bytes + 8 + if way.ipv6 { 40 } else { 20 },
            every: plan.every,
            next: if plan.count == 0 { Time::NEVER } else { plan.start },
            stop: plan.stop,
            left: plan.count,
            sent: 0,
            received: 0,
            waiting: VecDeque::new(),
            first: 1,
        }
    }

    /// The end that answers.
    pub fn mirror(way: Way, plan: Plan) -> Self {
        Echoes::new(way, Plan { count: 0, ..plan })
    }

    /// Of each packet, IP and above.
    pub fn bytes(&self) -> u32 {
        self.bytes
    }

    /// When the next request leaves; after the last: when the oldest is given up.
    pub fn timer(&self) -> Time {
        match self.waiting.front() {
            Some(&Some(oldest)) if self.next == Time::NEVER => oldest + PATIENCE,
            _ => self.next,
        }
    }

    /// The host that it lives on.
    pub fn home(&self) -> NodeId {
        self.way.from
    }

    pub fn is_done(&self) -> bool {
        self.next == Time::NEVER && self.waiting.is_empty()
    }

    pub fn expire(&mut self, wire: &mut Wire<'_, impl Carrier>) {
        if wire.now >= self.next {
            self.ask(wire);
        }
        self.forget(wire, PATIENCE);
    }

    fn ask(&mut self, wire: &mut Wire<'_, impl Carrier>) {
        self.sent += 1;
        self.left -= 1;
        self.waiting.push_back(Some(wire.now));
        wire.send(&self.way, Load::Echo(self.sent), self.bytes, 0);
        self.next += self.every;
        if self.next >= self.stop || self.left == 0 {
            self.next = Time::NEVER;
        }
    }

    pub fn answer(&mut self, number: u64, wire: &mut Wire<'_, impl Carrier>) {
        wire.send(&self.way, Load::EchoReply(number), self.bytes, 0);
    }

    pub fn receive(&mut self, number: u64, wire: &mut Wire<'_, impl Carrier>) {
        let place = number.checked_sub(self.first).map(|place| place as usize);
        // A copy of an answer, or one that came too late, counts no more.
        let Some(sent) = place.and_then(|place| self.waiting.get_mut(place)).and_then(Option::take) else {
            return;
        };
        self.received += 1;
        let rtt_ns = Some(wire.now.since(sent).ns());
        wire.carrier.cargo().echoes.push(EchoRow {
            flow: self.flow,
            seq: number,
            sent_ns: sent.ns(),
            rtt_ns,
        });
        self.forget(wire, PATIENCE);
    }

    /// Records as lost what never came by the end of the run; what left less than a second before may
    /// still be on its way, and counts for nothing.
    pub fn close(&mut self, wire: &mut Wire<'_, impl Carrier>) {
        self.forget(wire, GRACE);
    }

    fn forget(&mut self, wire: &mut Wire<'_, impl Carrier>, patience: Span) {
        while let Some(&oldest) = self.waiting.front() {
            if let Some(sent) = oldest {
                if wire.now.since(sent) < patience {
                    return;
                }
                let row = EchoRow { flow: self.flow, seq: self.first, sent_ns: sent.ns(), rtt_ns: None };
                wire.carrier.cargo().echoes.push(row);
            }
            self.waiting.pop_front();
            self.first += 1;
        }
    }
}
