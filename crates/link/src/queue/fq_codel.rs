use super::codel::Codel;
use super::{Arrival, CodelParameters, Fifo, Outcome, QueuedPacket, bucket, check_flows};
use crate::{Fate, LinkPacket};
use longhaul_units::{InvalidValue, Span, Time, checked_when_read};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::num::NonZeroU32;

/// Parameters of FQ-CoDel (RFC 8290).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct FqCodelParameters {
    /// Acceptable standing delay.
    #[serde(rename = "target_ns")]
    pub target: Span,
    /// A worst-case round-trip time; positive.
    #[serde(rename = "interval_ns")]
    pub interval: Span,
    /// Bytes that a flow may send in its turn.
    #[serde(rename = "quantum_bytes")]
    pub quantum: NonZeroU32,
    /// Number of queues that flows are hashed into, 1 to 65,536.
    pub flows: u32,
    /// Whether ECN-capable packets are marked instead of dropped.
    pub ecn: bool,
}

checked_when_read!(FqCodelParameters);

impl FqCodelParameters {
    /// The parameters of each flow's queue.
    pub const fn codel(&self) -> CodelParameters {
        CodelParameters { target: self.target, interval: self.interval, ecn: self.ecn }
    }

    /// The rules for the fields.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(&self) -> Result<(), InvalidValue> {
        check_flows(self.flows)?;
        self.codel().check()
    }
}

/// Flows taken in turn, each with controlled delay: RFC 8290.
#[derive(Debug)]
pub(crate) struct FqCodel<P> {
    flows: Vec<Flow<P>>,
    /// Flows that have just begun go first.
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    quantum: i64,
    packets: u64,
    bytes: u64,
}

#[derive(Debug)]
struct Flow<P> {
    list: Fifo<P>,
    codel: Codel,
    credits: i64,
    listed: bool,
}

/// Most packets that are dropped at once when the limit is reached (RFC 8290, section 4.1 and 5.4).
const BATCH: u64 = 64;

impl<P: LinkPacket> FqCodel<P> {
    pub(crate) fn new(parameters: FqCodelParameters) -> Self {
        let codel = parameters.codel();
        let flow = || Flow { list: Fifo::new(), codel: Codel::new(codel), credits: 0, listed: false };
        FqCodel {
            flows: (0..parameters.flows.max(1)).map(|_| flow()).collect(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            quantum: i64::from(parameters.quantum.get()),
            packets: 0,
            bytes: 0,
        }
    }

    pub(crate) fn len(&self) -> u64 {
        self.packets
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn push(&mut self, packet: P, at: &Arrival<'_>, out: &mut Outcome<'_, P>) {
        self.resume(QueuedPacket { packet, since: at.now, number: at.number }, at.key);
        if !at.idle && self.is_over(at) {
            self.drop_from_longest_flow(out);
        }
    }

    pub(crate) fn resume(&mut self, waiting: QueuedPacket<P>, key: u64) {
        let index = bucket(waiting.packet.flow(), key, self.flows.len());
        self.packets += 1;
        self.bytes += u64::from(waiting.packet.bytes());
        let flow = &mut self.flows[index];
        flow.list.push(waiting);
        if !flow.listed {
            flow.listed = true;
            flow.credits = self.quantum;
            self.new.push_back(index);
        }
    }

    pub(crate) fn pop(&mut self, now: Time, out: &mut Outcome<'_, P>) -> Option<QueuedPacket<P>> {
        loop {
            let from_new = !self.new.is_empty();
            let index = *if from_new { self.new.front() } else { self.old.front() }?;
            let flow = &mut self.flows[index];
            if flow.credits <= 0 {
                flow.credits += self.quantum;
                self.leave(from_new);
                self.old.push_back(index);
                continue;
            }
            let (packets, bytes) = (flow.list.len(), flow.list.bytes);
            let popped = flow.codel.pop(&mut flow.list, now, out);
            self.packets -= packets - flow.list.len();
            self.bytes -= bytes - flow.list.bytes;
            match popped {
                Some(first) => {
                    flow.credits -= i64::from(first.packet.bytes());
                    return Some(first);
                }
                // A new flow that ran dry goes through the old ones once, so that it cannot come
                // back as new at once and starve them.
                None if from_new && !self.old.is_empty() => {
                    self.leave(from_new);
                    self.old.push_back(index);
                }
                None => {
                    flow.listed = false;
                    self.leave(from_new);
                }
            }
        }
    }

    pub(crate) fn into_waiting(self) -> Vec<QueuedPacket<P>> {
        self.flows.into_iter().flat_map(|flow| Vec::from(flow.list.list)).collect()
    }

    fn leave(&mut self, from_new: bool) {
        if from_new {
            self.new.pop_front()
        } else {
            self.old.pop_front()
        };
    }

    fn is_over(&self, at: &Arrival<'_>) -> bool {
        at.limit.packets.is_some_and(|limit| self.packets > limit)
            || at.limit.bytes.is_some_and(|limit| self.bytes > limit)
    }

    /// Drops half of the longest flow, from its head.
    fn drop_from_longest_flow(&mut self, out: &mut Outcome<'_, P>) {
        let fattest = (0..self.flows.len()).rev().max_by_key(|&index| self.flows[index].list.bytes);
        let Some(index) = fattest else { return };
        let list = &mut self.flows[index].list;
        let half = list.bytes / 2;
        let (mut packets, mut bytes) = (0, 0);
        while packets < BATCH {
            let Some(first) = list.pop() else { break };
            packets += 1;
            bytes += u64::from(first.packet.bytes());
            out.end(first.packet, Fate::Overflowed);
            if bytes >= half {
                break;
            }
        }
        self.packets -= packets;
        self.bytes -= bytes;
    }
}
