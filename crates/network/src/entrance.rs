//! The entry of a host's packets into the network, if the host paces them.

use crate::Sink;
use crate::network::Network;
use crate::packet::{DirectionId, Fate, NodeId, Origin, Packet};
use longhaul_link::{ClassCounters, ClassModel, Pacer, PacerModel, QueueLimit};
use longhaul_plan::{Pacing, PacingChange, PacingClass, PacingRule};
use longhaul_units::Time;
use std::collections::BTreeMap;

/// Flows whose class is remembered.
const MOST_FLOWS: usize = 1 << 16;

/// A pacer, and the classes of flows.
#[derive(Debug)]
pub(crate) struct Entrance {
    pacer: Pacer<Packet>,
    rules: Vec<PacingRule>,
    default: usize,
    /// Whether a rule depends on more than addresses and DSCP.
    needs_origin: bool,
    known: BTreeMap<Key, usize>,
    /// The flow of each class that a flow has to itself.
    owners: BTreeMap<usize, Key>,
}

/// The pacer of a host; rules choose among its classes.
fn pacer_model(pacing: &Pacing) -> PacerModel {
    let class = |class: &PacingClass| ClassModel {
        pacing: class.model,
        limit: QueueLimit { packets: class.limit_packets, bytes: class.limit_bytes },
    };
    PacerModel {
        line: pacing.line,
        line_framing: pacing.line_framing,
        class_framing: pacing.class_framing,
        classes: pacing.classes.iter().map(class).collect(),
    }
}

/// Flow, destination, DSCP.
type Key = (u32, u32, u8);

impl Entrance {
    pub(crate) fn new(pacing: &Pacing) -> Self {
        let needs_origin =
            |rule: &PacingRule| !rule.ports.is_empty() || rule.protocol.is_some() || !rule.senders.is_empty();
        Entrance {
            pacer: Pacer::new(&pacer_model(pacing)),
            rules: pacing.rules.clone(),
            default: pacing.default,
            needs_origin: pacing.rules.iter().any(needs_origin),
            known: BTreeMap::new(),
            owners: BTreeMap::new(),
        }
    }

    /// When the next packet enters the network.
    #[inline]
    pub(crate) fn next_event(&self) -> Time {
        self.pacer.next_event()
    }

    /// Packets that wait in the pacer.
    pub(crate) fn waiting(&self) -> u64 {
        self.pacer.waiting()
    }

    pub(crate) fn counters(&self, class: usize) -> ClassCounters {
        self.pacer.counters(class)
    }

    fn class_of(&mut self, packet: &Packet, now: Time, sink: &mut impl Sink) -> usize {
        if self.rules.is_empty() {
            return self.default;
        }
        let key = (packet.flow, packet.destination.0, packet.class >> 2);
        if let Some(&class) = self.known.get(&key) {
            return class;
        }
        let origin = if self.needs_origin { sink.origin(packet) } else { Origin::default() };
        let class = self.sort(packet, &origin, key, now);
        if self.known.len() < MOST_FLOWS {
            self.known.insert(key, class);
        }
        class
    }

    fn sort(&mut self, packet: &Packet, origin: &Origin, key: Key, now: Time) -> usize {
        for place in 0..self.rules.len() {
            let rule = &self.rules[place];
            if !matches(rule, packet, origin) {
                continue;
            }
            let (first, flows) = (rule.class, rule.flows);
            if flows == 0 {
                return first;
            }
            if let Some(class) = self.own(first..first + flows, key, now) {
                return class;
            }
        }
        self.default
    }

    /// A class for the flow `key` alone: one without a flow, or else the one that has been idle longest.
    fn own(&mut self, classes: std::ops::Range<usize>, key: Key, now: Time) -> Option<usize> {
        if self.known.len() >= MOST_FLOWS {
            return None;
        }
        let free = classes.clone().find(|class| !self.owners.contains_key(class));
        let idle = || {
            let since = classes.filter_map(|class| Some((self.pacer.idle_since(class, now)?, class)));
            since.min().map(|(_, class)| class)
        };
        let class = free.or_else(idle)?;
        if let Some(before) = self.owners.insert(class, key) {
            self.known.remove(&before);
        }
        Some(class)
    }
}

fn matches(rule: &PacingRule, packet: &Packet, origin: &Origin) -> bool {
    let in_range = |port: u16| rule.ports.iter().any(|&(first, last)| (first..=last).contains(&port));
    let to = packet.destination.0 as usize;
    (rule.destinations.is_empty() || rule.destinations.contains(&to))
        && rule.dscp.is_none_or(|dscp| dscp == packet.class >> 2)
        && rule.protocol.is_none_or(|protocol| origin.protocol == Some(protocol))
        && (rule.ports.is_empty() || origin.ports.is_some_and(|(from, to)| in_range(from) || in_range(to)))
        && (rule.senders.is_empty() || origin.sender.is_some_and(|sender| rule.senders.contains(&sender)))
}

impl Network {
    /// Whether the host at the near end of a direction paces what it sends there.
    pub fn paces(&self, direction: DirectionId) -> bool {
        self.directions[direction.0 as usize].entrance.is_some()
    }

    /// What a class of a host's pacing has counted; `None` if there is none.
    pub fn pacing_counters(&self, direction: DirectionId, class: usize) -> Option<ClassCounters> {
        Some(self.directions[direction.0 as usize].entrance.as_ref()?.counters(class))
    }

    /// Takes a packet of a host that paces.
    #[inline(never)]
    pub(crate) fn pace(
        &mut self,
        direction: DirectionId,
        node: NodeId,
        packet: Packet,
        at: Time,
        sink: &mut impl Sink,
    ) {
        let each = &mut self.directions[direction.0 as usize];
        let mtu = each.mtu;
        let Some(entrance) = &mut each.entrance else { return };
        if packet.bytes > mtu {
            return self.enter(direction, node, packet, at, sink);
        }
        let class = entrance.class_of(&packet, at, sink);
        sink.sorted(direction, class, &packet);
        if entrance.pacer.offer(at, class, packet) {
            self.enter_paced(direction, at, sink);
        } else {
            self.end(packet, Fate::PacerDropped, at, Some(direction), sink);
        }
    }

    /// Lets in what the host's pacing lets go by `now`.
    pub(crate) fn enter_paced(&mut self, direction: DirectionId, now: Time, sink: &mut impl Sink) {
        let place = direction.0 as usize;
        while let Some(entrance) = &mut self.directions[place].entrance
            && let Some((packet, _, at)) = entrance.pacer.take(now)
        {
            let node = packet.source;
            self.enter(direction, node, packet, at, sink);
        }
        self.schedule(direction);
    }

    /// Classes follow other models from `now` on.
    pub(crate) fn change_pacing(
        &mut self,
        direction: DirectionId,
        changes: &[PacingChange],
        now: Time,
        sink: &mut impl Sink,
    ) {
        for change in changes {
            let Some(entrance) = &mut self.directions[direction.0 as usize].entrance else { return };
            for packet in entrance.pacer.change(now, change.class, change.model) {
                self.end(packet, Fate::PacerDropped, now, Some(direction), sink);
            }
        }
        self.enter_paced(direction, now, sink);
    }
}
