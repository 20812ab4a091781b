//! Parallel routes that are one link: Miyagi et al., "Parallel routes transmission" (Keio), and what
//! reordering costs.

mod policy;
mod resequencer;

pub use policy::{FlowKey, Policy};
pub use resequencer::Resequence;

use crate::{Change, Counters, Fate, Link, LinkModel, LinkPacket, OfferResult};
use longhaul_random::Seed;
use longhaul_units::{Histogram, InvalidValue, Span, Time, checked_when_read};
use policy::Chooser;
use resequencer::Resequencer;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The model of parallel routes that are one link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct BundleModel {
    /// Which route a packet takes.
    pub policy: Policy,
    /// The model of each route; 2 to 64.
    pub routes: Vec<LinkModel>,
    /// Whether the far end puts packets back into order.
    pub resequence: Option<Resequence>,
}

checked_when_read!(BundleModel);

impl BundleModel {
    /// The rules between the fields.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(&self) -> Result<(), InvalidValue> {
        if !(2..=64).contains(&self.routes.len()) {
            return Err(InvalidValue::new("routes", "must be 2 to 64"));
        }
        match &self.policy {
            Policy::Weighted { weights } if weights.len() != self.routes.len() => {
                Err(InvalidValue::new("policy.weights", "must be as many as routes"))
            }
            Policy::Weighted { weights } if weights.iter().all(|&weight| weight == 0) => {
                Err(InvalidValue::new("policy.weights", "must not all be 0"))
            }
            Policy::VlanBlock if 8 % self.routes.len() != 0 => {
                Err(InvalidValue::new("policy", "vlan-block needs 2, 4 or 8 routes"))
            }
            _ => Ok(()),
        }
    }
}

/// Parallel routes between two nodes, offered and taken from like one [`Link`].
///
/// Each packet takes one route, which the policy chooses among those that are up. Packets come out
/// in the order of their due times, or, with a resequencer, in the order in which they were offered,
/// as far as its bounds allow. Routes draw from streams named `<name>/route<n>/...`, from 1 on.
#[derive(Debug)]
pub struct Bundle<P> {
    up: bool,
    routes: Vec<Link<SequencedPacket<P>>>,
    route_is_up: Vec<bool>,
    chooser: Chooser,
    resequencer: Option<Resequencer<P>>,
    /// The next packet of each route that has come out of it and not yet been merged.
    heads: Vec<Option<(SequencedPacket<P>, Time)>>,
    /// Merged, and released by the resequencer.
    out: VecDeque<(P, Time)>,
    /// What was merged when the link left the network.
    ended: VecDeque<P>,
    offered: u64,
    counters: Counters,
    clock: Time,
}

/// A packet with its place in the order of offers.
#[derive(Clone, Copy, Debug)]
struct SequencedPacket<P> {
    packet: P,
    number: u64,
}

impl<P: LinkPacket> LinkPacket for SequencedPacket<P> {
    fn bytes(&self) -> u32 {
        self.packet.bytes()
    }

    fn flow(&self) -> u64 {
        self.packet.flow()
    }

    fn hosts(&self) -> u64 {
        self.packet.hosts()
    }

    fn dscp(&self) -> u8 {
        self.packet.dscp()
    }

    fn mark(&mut self) -> bool {
        self.packet.mark()
    }

    fn corrupt(&mut self, draw: u64) {
        self.packet.corrupt(draw);
    }
}

impl<P: LinkPacket> Bundle<P> {
    /// Idle routes that follow `model`.
    pub fn new(up: bool, model: BundleModel, seed: &Seed, name: &str) -> Self {
        let key = seed.stream(&format!("{name}/flow-hash")).bits();
        let route_is_up = model.routes.iter().map(|route| route.up).collect();
        let routes: Vec<_> = (1..)
            .zip(model.routes)
            .map(|(n, route)| Link::new(route, seed, &format!("{name}/route{n}"), Span::ZERO))
            .collect();
        Bundle {
            up,
            chooser: Chooser::new(model.policy, routes.len(), key),
            resequencer: model.resequence.map(Resequencer::new),
            heads: routes.iter().map(|_| None).collect(),
            route_is_up,
            routes,
            out: VecDeque::new(),
            ended: VecDeque::new(),
            offered: 0,
            counters: Counters::default(),
            clock: Time::ZERO,
        }
    }

    /// See [`Link::offer`].
    pub fn offer(&mut self, now: Time, packet: P) -> OfferResult {
        self.clock = now;
        self.counters.offered_packets += 1;
        self.counters.offered_bytes += u64::from(packet.bytes());
        for route in &mut self.routes {
            route.settle(now);
        }
        let waiting = |route: usize| self.routes[route].waiting().1;
        let chosen = if self.up {
            self.chooser.choose(now, packet.flow(), packet.hosts(), &self.route_is_up, waiting)
        } else {
            None
        };
        let Some(route) = chosen else {
            self.counters.down_packets += 1;
            return OfferResult::Ended(Fate::Down);
        };
        // Whatever becomes of it, its number is taken: the far end cannot know.
        let numbered = SequencedPacket { packet, number: self.offered };
        self.offered += 1;
        self.routes[route].offer(now, numbered)
    }

    /// See [`Link::next_event`].
    pub fn next_event(&self) -> Time {
        if !self.out.is_empty() {
            return self.clock;
        }
        let heads = self.heads.iter().flatten().map(|head| head.1);
        let routes = self.routes.iter().map(Link::next_event);
        let deadline = self.resequencer.as_ref().map_or(Time::NEVER, Resequencer::deadline);
        heads.chain(routes).min().unwrap_or(Time::NEVER).min(deadline)
    }

    /// See [`Link::take`].
    pub fn take(&mut self, now: Time) -> Option<(P, Time)> {
        self.clock = now;
        if self.out.is_empty() {
            self.merge(now);
        }
        let (packet, due) = self.out.pop_front()?;
        self.counters.delivered_packets += 1;
        self.counters.delivered_bytes += u64::from(packet.bytes());
        Some((packet, due))
    }

    /// See [`Link::drop_pending`].
    pub fn drop_pending(&mut self) -> Option<(P, Fate)> {
        if let Some(packet) = self.ended.pop_front() {
            return Some((packet, Fate::Down));
        }
        self.routes.iter_mut().find_map(Link::drop_pending).map(|(each, fate)| (each.packet, fate))
    }

    /// See [`Link::change`]. With `route` that one changes alone, and may fail and come back; without,
    /// up and down hold for the whole, and everything else for all routes.
    pub fn change(&mut self, now: Time, route: Option<usize>, change: &Change) {
        self.merge(now);
        self.clock = now;
        // Segments that took several routes do not leave together.
        let change = &Change { coalesce: None, ..change.clone() };
        if let Some(route) = route {
            self.routes[route].change(now, change);
            self.route_is_up[route] = change.up.unwrap_or(self.route_is_up[route]);
        } else {
            self.up = change.up.unwrap_or(self.up);
            let each = Change { up: None, ..change.clone() };
            for route in &mut self.routes {
                route.change(now, &each);
            }
        }
        if change.present == Some(false) {
            self.flush();
        }
    }

    /// Ends what waits to be put in order: the link has left the network.
    fn flush(&mut self) {
        let Some(resequencer) = &mut self.resequencer else { return };
        let mut held = VecDeque::new();
        resequencer.expire(Time::NEVER, &mut held);
        resequencer.held_ps = 0;
        self.counters.down_packets += held.len() as u64;
        self.ended.extend(held.into_iter().map(|(packet, _)| packet));
    }

    /// What has happened so far, over all routes; the time in the resequencer counts as wire delay.
    pub fn counters(&self) -> Counters {
        let mut sum = self.counters;
        for each in self.routes.iter().map(Link::counters) {
            sum.copied_packets += each.copied_packets;
            sum.lost_packets += each.lost_packets;
            sum.overflowed_packets += each.overflowed_packets;
            sum.dropped_packets += each.dropped_packets;
            sum.down_packets += each.down_packets;
            sum.marked_packets += each.marked_packets;
            sum.corrupted_packets += each.corrupted_packets;
            sum.wire_delay_ps += each.wire_delay_ps;
            sum.wire_bytes += each.wire_bytes;
        }
        sum
    }

    /// See [`Link::waits`]; those of all routes together.
    pub fn waits(&self) -> Histogram {
        let mut all = Histogram::new();
        self.routes.iter().for_each(|route| all.merge(route.waits()));
        all
    }

    /// See [`Link::waiting`].
    pub fn waiting(&self) -> (u64, u64) {
        self.routes.iter().map(Link::waiting).fold((0, 0), |sum, each| (sum.0 + each.0, sum.1 + each.1))
    }

    /// See [`Link::next_start`].
    pub fn next_start(&self) -> Time {
        self.routes.iter().map(Link::next_start).min().unwrap_or(Time::NEVER)
    }

    pub(crate) fn catch_up(&mut self, now: Time) {
        self.routes.iter_mut().for_each(|route| route.catch_up(now));
    }

    /// See [`Link::in_flight`]; what waits in the resequencer flies.
    pub fn in_flight(&self) -> u64 {
        let held = self.resequencer.as_ref().map_or(0, Resequencer::len);
        let heads = self.heads.iter().flatten().count() as u64;
        self.routes.iter().map(Link::in_flight).sum::<u64>() + heads + held + self.out.len() as u64
    }

    /// What each route has done so far, in their order.
    pub fn route_counters(&self) -> impl Iterator<Item = &Counters> {
        self.routes.iter().map(Link::counters)
    }

    /// Brings everything that routes have delivered by `now` into one order.
    fn merge(&mut self, now: Time) {
        loop {
            for (head, route) in self.heads.iter_mut().zip(&mut self.routes) {
                if head.is_none() {
                    *head = route.take(now);
                }
            }
            let first = self
                .heads
                .iter()
                .enumerate()
                .filter_map(|(route, head)| head.as_ref().map(|(each, due)| (*due, each.number, route)));
            let Some((due, number, route)) = first.min() else { break };
            let Some((each, _)) = self.heads[route].take() else { break };
            match &mut self.resequencer {
                Some(resequencer) => {
                    resequencer.arrive(number, each.packet, due, &mut self.out);
                }
                None => self.out.push_back((each.packet, due)),
            }
        }
        if let Some(resequencer) = &mut self.resequencer {
            resequencer.expire(now, &mut self.out);
            self.counters.wire_delay_ps += std::mem::take(&mut resequencer.held_ps);
        }
    }
}
