use crate::agent::{AgentContext, Way};
use crate::payload::{Payload, PayloadSink};
use longhaul_network::NodeId;
use longhaul_record::PingRow;
use longhaul_units::{Span, Time};
use std::collections::VecDeque;

/// How long an answer is waited for.
const REPLY_TIMEOUT: Span = Span::from_s(10);
/// The same at the end of the run.
const END_TIMEOUT: Span = Span::from_s(1);

/// Sends echo requests, and answers those that come.
#[derive(Debug)]
pub struct Ping {
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

impl Ping {
    /// The end that asks.
    pub fn new(way: Way, plan: Plan) -> Self {
        Ping {
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
    pub fn responder(way: Way, plan: Plan) -> Self {
        Ping::new(way, Plan { count: 0, ..plan })
    }

    /// Of each packet, IP and above.
    pub fn bytes(&self) -> u32 {
        self.bytes
    }

    /// When the next request leaves; after the last: when the oldest is given up.
    pub fn timer(&self) -> Time {
        match self.waiting.front() {
            Some(&Some(oldest)) if self.next == Time::NEVER => oldest + REPLY_TIMEOUT,
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

    pub fn expire(&mut self, context: &mut AgentContext<'_, impl PayloadSink>) {
        if context.now >= self.next {
            self.send_request(context);
        }
        self.expire_requests(context, REPLY_TIMEOUT);
    }

    fn send_request(&mut self, context: &mut AgentContext<'_, impl PayloadSink>) {
        self.sent += 1;
        self.left -= 1;
        self.waiting.push_back(Some(context.now));
        context.send(&self.way, Payload::Echo(self.sent), self.bytes, 0);
        self.next += self.every;
        if self.next >= self.stop || self.left == 0 {
            self.next = Time::NEVER;
        }
    }

    pub fn send_reply(&mut self, number: u64, context: &mut AgentContext<'_, impl PayloadSink>) {
        context.send(&self.way, Payload::EchoReply(number), self.bytes, 0);
    }

    pub fn receive(&mut self, number: u64, context: &mut AgentContext<'_, impl PayloadSink>) {
        let place = number.checked_sub(self.first).map(|place| place as usize);
        // A copy of an answer, or one that came too late, counts no more.
        let Some(sent) = place.and_then(|place| self.waiting.get_mut(place)).and_then(Option::take) else {
            return;
        };
        self.received += 1;
        let rtt_ns = Some(context.now.since(sent).ns());
        context.sink.payloads().ping_rows.push(PingRow {
            flow: self.flow,
            seq: number,
            sent_ns: sent.ns(),
            rtt_ns,
        });
        self.expire_requests(context, REPLY_TIMEOUT);
    }

    /// Records as lost what never came by the end of the run; what left less than a second before may
    /// still be on its way, and counts for nothing.
    pub fn close(&mut self, context: &mut AgentContext<'_, impl PayloadSink>) {
        self.expire_requests(context, END_TIMEOUT);
    }

    fn expire_requests(&mut self, context: &mut AgentContext<'_, impl PayloadSink>, timeout: Span) {
        while let Some(&oldest) = self.waiting.front() {
            if let Some(sent) = oldest {
                if context.now.since(sent) < timeout {
                    return;
                }
                let row = PingRow { flow: self.flow, seq: self.first, sent_ns: sent.ns(), rtt_ns: None };
                context.sink.payloads().ping_rows.push(row);
            }
            self.waiting.pop_front();
            self.first += 1;
        }
    }
}
