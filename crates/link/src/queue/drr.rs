use super::{Arrival, Fifo, Outcome, QueuedPacket, bucket, check_flows};
use crate::{Fate, LinkPacket};
use longhaul_units::{InvalidValue, checked_when_read};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::num::NonZeroU32;

/// Parameters of deficit round robin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct DrrParameters {
    /// Bytes that a flow may send in its turn.
    #[serde(rename = "quantum_bytes")]
    pub quantum: NonZeroU32,
    /// Number of queues that flows are hashed into, 1 to 65,536.
    pub flows: u32,
}

checked_when_read!(DrrParameters);

impl DrrParameters {
    /// The rule for the number of queues.
    ///
    /// # Errors
    /// If it is out of range.
    pub fn check(&self) -> Result<(), InvalidValue> {
        check_flows(self.flows)
    }
}

/// Deficit round robin: Shreedhar and Varghese, SIGCOMM 1995. When the limit is reached the longest
/// flow loses its last packet, so that no flow can displace the others.
#[derive(Debug)]
pub(crate) struct Drr<P> {
    flows: Vec<Flow<P>>,
    active: VecDeque<usize>,
    quantum: u64,
    packets: u64,
    bytes: u64,
}

#[derive(Debug)]
struct Flow<P> {
    list: Fifo<P>,
    deficit: u64,
    /// Its turn has begun, and its quantum been given.
    served: bool,
}

impl<P: LinkPacket> Drr<P> {
    pub(crate) fn new(parameters: DrrParameters) -> Self {
        let flow = || Flow { list: Fifo::new(), deficit: 0, served: false };
        Drr {
            flows: (0..parameters.flows.max(1)).map(|_| flow()).collect(),
            active: VecDeque::new(),
            quantum: u64::from(parameters.quantum.get()),
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

    pub(crate) fn push(&mut self, packet: P, at: &Arrival<'_>, out: &mut Outcome<'_, P>) -> Result<(), Fate> {
        let own = bucket(packet.flow(), at.key, self.flows.len());
        while !at.idle && at.limit.refuses(self.packets, self.bytes, packet.bytes()) {
            let longest = (0..self.flows.len()).rev().max_by_key(|&index| self.flows[index].list.bytes);
            let own_bytes = self.flows[own].list.bytes + u64::from(packet.bytes());
            let Some(longest) = longest.filter(|&index| self.flows[index].list.bytes > own_bytes) else {
                return Err(Fate::Overflowed);
            };
            let Some(last) = self.flows[longest].list.pop_last() else { return Err(Fate::Overflowed) };
            self.packets -= 1;
            self.bytes -= u64::from(last.packet.bytes());
            out.end(last.packet, Fate::Overflowed);
        }
        self.resume(QueuedPacket { packet, since: at.now, number: at.number }, at.key);
        Ok(())
    }

    pub(crate) fn resume(&mut self, waiting: QueuedPacket<P>, key: u64) {
        let index = bucket(waiting.packet.flow(), key, self.flows.len());
        self.packets += 1;
        self.bytes += u64::from(waiting.packet.bytes());
        let flow = &mut self.flows[index];
        if flow.list.len() == 0 && !self.active.contains(&index) {
            self.active.push_back(index);
        }
        flow.list.push(waiting);
    }

    pub(crate) fn pop(&mut self) -> Option<QueuedPacket<P>> {
        loop {
            let index = *self.active.front()?;
            let flow = &mut self.flows[index];
            let Some(first) = flow.list.first() else {
                (flow.deficit, flow.served) = (0, false);
                self.active.pop_front();
                continue;
            };
            if !flow.served {
                flow.deficit += self.quantum;
                flow.served = true;
            }
            let bytes = u64::from(first.packet.bytes());
            if bytes > flow.deficit {
                flow.served = false;
                self.active.rotate_left(1);
                continue;
            }
            flow.deficit -= bytes;
            self.packets -= 1;
            self.bytes -= bytes;
            return flow.list.pop();
        }
    }

    pub(crate) fn into_waiting(self) -> Vec<QueuedPacket<P>> {
        self.flows.into_iter().flat_map(|flow| Vec::from(flow.list.list)).collect()
    }
}
