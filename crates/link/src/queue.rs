//! The queue before the serialiser, and the order in which packets leave it.

mod codel;
mod drr;
mod fq_codel;
mod pie;
mod priority;
mod red;

pub use codel::CodelParameters;
pub use drr::DrrParameters;
pub use fq_codel::FqCodelParameters;
pub use pie::PieParameters;
pub use priority::PriorityBands;
pub use red::RedParameters;

use crate::{Counters, Fate, LinkPacket};
use codel::Codel;
use drr::Drr;
use fq_codel::FqCodel;
use longhaul_random::Stream;
use longhaul_units::{InvalidValue, Span, Time};
use pie::Pie;
use priority::Bands;
use red::Red;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// How much may wait; what would exceed either limit overflows. What is being serialised or on the
/// wire does not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueLimit {
    /// Packets; `None`: no limit.
    pub packets: Option<u64>,
    /// Bytes, framing not counted; `None`: no limit.
    pub bytes: Option<u64>,
}

impl QueueLimit {
    pub(crate) fn refuses(&self, packets: u64, bytes: u64, more: u32) -> bool {
        self.packets.is_some_and(|limit| packets >= limit)
            || self.bytes.is_some_and(|limit| bytes + u64::from(more) > limit)
    }
}

/// A queue: how much may wait for the wire, in which order packets leave, and what is dropped early.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueueModel {
    /// Packets that may wait, the one on the wire not counted; `None`: no limit.
    pub limit_packets: Option<u64>,
    /// IP bytes that may wait; `None`: no limit.
    pub limit_bytes: Option<u64>,
    /// The discipline.
    #[serde(default)]
    pub discipline: QueueDiscipline,
}

impl QueueModel {
    /// How much may wait.
    pub const fn limit(&self) -> QueueLimit {
        QueueLimit { packets: self.limit_packets, bytes: self.limit_bytes }
    }
}

impl From<QueueLimit> for QueueModel {
    /// A FIFO queue with this limit.
    fn from(limit: QueueLimit) -> Self {
        QueueModel {
            limit_packets: limit.packets,
            limit_bytes: limit.bytes,
            discipline: QueueDiscipline::Fifo,
        }
    }
}

/// The order in which packets leave, and what is dropped or marked before the limit is reached.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum QueueDiscipline {
    /// First in, first out; packets that do not fit are dropped.
    #[default]
    Fifo,
    /// First in, first out; the packet that has waited longest is dropped for one that does not fit.
    HeadDrop,
    /// Random early detection.
    Red(RedParameters),
    /// Controlled delay (RFC 8289).
    Codel(CodelParameters),
    /// Flows in turn, each with controlled delay (RFC 8290).
    FqCodel(FqCodelParameters),
    /// Proportional integral controller enhanced (RFC 8033).
    Pie(PieParameters),
    /// Deficit round robin (Shreedhar and Varghese 1995).
    Drr(DrrParameters),
    /// Strict priority by DSCP: the first band with packets sends.
    Priority {
        /// The band of each DSCP.
        bands: PriorityBands,
    },
}

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueuedPacket<P> {
    pub(crate) packet: P,
    pub(crate) since: Time,
    /// Its place in the order of arrival.
    pub(crate) number: u64,
}

/// Where packets go that end inside, and what is counted.
pub(crate) struct Outcome<'a, P> {
    pub(crate) ended: &'a mut VecDeque<(P, Fate)>,
    pub(crate) counters: &'a mut Counters,
}

impl<P: LinkPacket> Outcome<'_, P> {
    /// A packet that had been let in ends.
    pub(crate) fn end(&mut self, packet: P, fate: Fate) {
        match fate {
            Fate::Overflowed => self.counters.overflowed_packets += 1,
            _ => self.counters.dropped_packets += 1,
        }
        self.ended.push_back((packet, fate));
    }

    /// Marks a packet that can be marked; else it must be dropped.
    pub(crate) fn mark(&mut self, packet: &mut P) -> bool {
        let marked = packet.mark();
        self.counters.marked_packets += u64::from(marked);
        marked
    }
}

/// What an arriving packet meets.
pub(crate) struct Arrival<'a> {
    pub(crate) now: Time,
    /// The packet's place in the order of arrival.
    pub(crate) number: u64,
    pub(crate) limit: QueueLimit,
    /// The wire is free and no packet waits: the packet passes through, whatever the limit.
    pub(crate) idle: bool,
    /// When the wire was last busy.
    pub(crate) idle_since: Time,
    /// How long a typical packet takes.
    pub(crate) typical: Span,
    pub(crate) chance: &'a mut Stream,
    /// Of hashes of flows.
    pub(crate) key: u64,
}

/// First in, first out, with its bytes counted.
#[derive(Clone, Debug)]
pub(crate) struct Fifo<P> {
    list: VecDeque<QueuedPacket<P>>,
    bytes: u64,
}

impl<P: LinkPacket> Fifo<P> {
    pub(crate) fn new() -> Self {
        Fifo { list: VecDeque::new(), bytes: 0 }
    }

    pub(crate) fn len(&self) -> u64 {
        self.list.len() as u64
    }

    pub(crate) fn push(&mut self, waiting: QueuedPacket<P>) {
        self.bytes += u64::from(waiting.packet.bytes());
        self.list.push_back(waiting);
    }

    pub(crate) fn pop(&mut self) -> Option<QueuedPacket<P>> {
        let first = self.list.pop_front()?;
        self.bytes -= u64::from(first.packet.bytes());
        Some(first)
    }

    pub(crate) fn pop_last(&mut self) -> Option<QueuedPacket<P>> {
        let last = self.list.pop_back()?;
        self.bytes -= u64::from(last.packet.bytes());
        Some(last)
    }

    pub(crate) fn first(&self) -> Option<&QueuedPacket<P>> {
        self.list.front()
    }
}

/// A discipline at work.
#[derive(Debug)]
pub(crate) enum Queue<P> {
    Fifo(Fifo<P>),
    HeadDrop(Fifo<P>),
    Red(Fifo<P>, Box<Red>),
    Codel(Fifo<P>, Box<Codel>),
    FqCodel(Box<FqCodel<P>>),
    Pie(Fifo<P>, Box<Pie>),
    Drr(Box<Drr<P>>),
    Priority(Box<Bands<P>>),
}

impl<P: LinkPacket> Queue<P> {
    pub(crate) fn new(discipline: &QueueDiscipline, now: Time) -> Self {
        match discipline {
            QueueDiscipline::Fifo => Queue::Fifo(Fifo::new()),
            QueueDiscipline::HeadDrop => Queue::HeadDrop(Fifo::new()),
            QueueDiscipline::Red(parameters) => Queue::Red(Fifo::new(), Box::new(Red::new(*parameters))),
            QueueDiscipline::Codel(parameters) => {
                Queue::Codel(Fifo::new(), Box::new(Codel::new(*parameters)))
            }
            QueueDiscipline::FqCodel(parameters) => Queue::FqCodel(Box::new(FqCodel::new(*parameters))),
            QueueDiscipline::Pie(parameters) => Queue::Pie(Fifo::new(), Box::new(Pie::new(*parameters, now))),
            QueueDiscipline::Drr(parameters) => Queue::Drr(Box::new(Drr::new(*parameters))),
            QueueDiscipline::Priority { bands } => Queue::Priority(Box::new(Bands::new(bands.clone()))),
        }
    }

    /// Whether a packet that finds the wire free may go past the queue.
    pub(crate) fn may_be_passed(&self) -> bool {
        matches!(self, Queue::Fifo(_) | Queue::HeadDrop(_) | Queue::Drr(_) | Queue::Priority(_))
    }

    /// Whether packets go in the order in which they came, and none ends once it is in.
    pub(crate) fn is_plain(&self) -> bool {
        matches!(self, Queue::Fifo(_))
    }

    pub(crate) fn len(&self) -> u64 {
        match self {
            Queue::Fifo(list)
            | Queue::HeadDrop(list)
            | Queue::Red(list, _)
            | Queue::Codel(list, _)
            | Queue::Pie(list, _) => list.len(),
            Queue::FqCodel(flows) => flows.len(),
            Queue::Drr(flows) => flows.len(),
            Queue::Priority(bands) => bands.len(),
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Queue::Fifo(list)
            | Queue::HeadDrop(list)
            | Queue::Red(list, _)
            | Queue::Codel(list, _)
            | Queue::Pie(list, _) => list.bytes,
            Queue::FqCodel(flows) => flows.bytes(),
            Queue::Drr(flows) => flows.bytes(),
            Queue::Priority(bands) => bands.bytes(),
        }
    }

    /// Takes a packet in, or says how it ended; others may have to end for it.
    pub(crate) fn push(
        &mut self,
        mut packet: P,
        mut at: Arrival<'_>,
        out: &mut Outcome<'_, P>,
    ) -> Result<(), Fate> {
        let refused = !at.idle && at.limit.refuses(self.len(), self.bytes(), packet.bytes());
        let (since, number) = (at.now, at.number);
        match self {
            Queue::Fifo(list) | Queue::Codel(list, _) => {
                if refused {
                    return Err(Fate::Overflowed);
                }
                list.push(QueuedPacket { packet, since, number });
            }
            Queue::HeadDrop(list) => {
                while !at.idle && at.limit.refuses(list.len(), list.bytes, packet.bytes()) {
                    let Some(first) = list.pop() else { return Err(Fate::Overflowed) };
                    out.end(first.packet, Fate::Overflowed);
                }
                list.push(QueuedPacket { packet, since, number });
            }
            Queue::Red(list, red) => {
                if red.drops_early(list.bytes, packet.bytes(), &mut at)
                    && !(red.may_mark() && out.mark(&mut packet))
                {
                    return Err(Fate::Dropped);
                }
                if refused {
                    return Err(Fate::Overflowed);
                }
                list.push(QueuedPacket { packet, since, number });
            }
            Queue::Pie(list, pie) => {
                pie.update_until(since);
                if refused {
                    return Err(Fate::Overflowed);
                }
                if pie.drops_early(list.bytes, packet.bytes(), at.chance)
                    && !(pie.may_mark() && out.mark(&mut packet))
                {
                    return Err(Fate::Dropped);
                }
                list.push(QueuedPacket { packet, since, number });
            }
            Queue::FqCodel(flows) => flows.push(packet, &at, out),
            Queue::Drr(flows) => flows.push(packet, &at, out)?,
            Queue::Priority(bands) => bands.push(packet, &at, out)?,
        }
        Ok(())
    }

    /// The packet that goes at `at`; others may end instead.
    pub(crate) fn pop(&mut self, at: Time, out: &mut Outcome<'_, P>) -> Option<QueuedPacket<P>> {
        match self {
            Queue::Fifo(list) | Queue::HeadDrop(list) | Queue::Red(list, _) => list.pop(),
            Queue::Codel(list, codel) => codel.pop(list, at, out),
            Queue::FqCodel(flows) => flows.pop(at, out),
            Queue::Pie(list, pie) => {
                pie.update_until(at);
                let first = list.pop()?;
                pie.left(at.since(first.since), list.bytes == 0);
                Some(first)
            }
            Queue::Drr(flows) => flows.pop(),
            Queue::Priority(bands) => bands.pop(),
        }
    }

    /// All queued packets, in order of arrival.
    pub(crate) fn into_waiting(self) -> Vec<QueuedPacket<P>> {
        let mut all: Vec<QueuedPacket<P>> = match self {
            Queue::Fifo(list)
            | Queue::HeadDrop(list)
            | Queue::Red(list, _)
            | Queue::Codel(list, _)
            | Queue::Pie(list, _) => list.list.into(),
            Queue::FqCodel(flows) => flows.into_waiting(),
            Queue::Drr(flows) => flows.into_waiting(),
            Queue::Priority(bands) => bands.into_waiting(),
        };
        all.sort_unstable_by_key(|waiting| waiting.number);
        all
    }

    /// Lets a packet in that has waited elsewhere, whatever the limit.
    pub(crate) fn resume(&mut self, waiting: QueuedPacket<P>, key: u64) {
        match self {
            Queue::Fifo(list)
            | Queue::HeadDrop(list)
            | Queue::Red(list, _)
            | Queue::Codel(list, _)
            | Queue::Pie(list, _) => list.push(waiting),
            Queue::FqCodel(flows) => flows.resume(waiting, key),
            Queue::Drr(flows) => flows.resume(waiting, key),
            Queue::Priority(bands) => bands.resume(waiting),
        }
    }
}

/// The rule for a number of queues that flows are hashed into.
fn check_flows(flows: u32) -> Result<(), InvalidValue> {
    if (1..=65_536).contains(&flows) {
        Ok(())
    } else {
        Err(InvalidValue::new("flows", "must lie between 1 and 65536"))
    }
}

/// Which of so many queues a flow has: a hash of it and the link's key (splitmix64).
pub(crate) fn bucket(flow: u64, key: u64, queues: usize) -> usize {
    let mut x = flow ^ key;
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^= x >> 31;
    ((u128::from(x) * queues as u128) >> 64) as usize
}
