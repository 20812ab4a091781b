use super::{Arrival, Fifo, Outcome, Waiting, bucket};
use crate::{Fate, Load};
use std::collections::VecDeque;

/// Deficit round robin: Shreedhar and Varghese, SIGCOMM 1995. When the limit is reached the longest
/// flow loses its last packet, so that nobody can crowd the others out.
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

impl<P: Load> Drr<P> {
    pub(crate) fn new(quantum: u32, flows: u32) -> Self {
        let flow = || Flow { list: Fifo::new(), deficit: 0, served: false };
        Drr {
            flows: (0..flows.max(1)).map(|_| flow()).collect(),
            active: VecDeque::new(),
            quantum: u64::from(quantum.max(1)),
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
        self.resume(Waiting { packet, since: at.now, number: at.number }, at.key);
        Ok(())
    }

    pub(crate) fn resume(&mut self, waiting: Waiting<P>, key: u64) {
        let index = bucket(waiting.packet.flow(), key, self.flows.len());
        self.packets += 1;
        self.bytes += u64::from(waiting.packet.bytes());
        let flow = &mut self.flows[index];
        if flow.list.len() == 0 && !self.active.contains(&index) {
            self.active.push_back(index);
        }
        flow.list.push(waiting);
    }

    pub(crate) fn pop(&mut self) -> Option<Waiting<P>> {
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

    pub(crate) fn into_waiting(self) -> Vec<Waiting<P>> {
        self.flows.into_iter().flat_map(|flow| Vec::from(flow.list.list)).collect()
    }
}
