//! A network of which several shards each have a part: cut at links, it runs on several threads.
//!
//! Each shard owns some nodes, and the directions of links that leave them: it decides loss, queue and serialisation there.
//! Directions that lead to another shard's node are its *exits*. What an exit takes is given away at once
//! ([`Sink::crosses`](crate::Sink::crosses)) with the time at which it is due, and the shard of the far end
//! [imports](Network::import) it. There the direction is an *entry*, whose link only keeps packets until they are due. The exit
//! counts its packets when they are due, so that its counters are those of an undivided network.
//!
//! A link may be cut if the due time of a packet is known when its first bit leaves, there is a least delay, and no change is
//! planned. Where it is known when the packet is offered, the packet is given away then.
//!
//! Shards of a live run ([`live_shard`](Network::live_shard)) need less: time passes for all of them, so that a packet is given away
//! when its first bit leaves, whatever decided that. Only a least delay is needed, and links may change.

use crate::Sink;
use crate::network::{Direction, Network};
use crate::packet::{DirectionId, NodeId, Packet};
use longhaul_link::{Line, Link, LinkModel};
use longhaul_plan::{Change, NodeKind, Plan, Way};
use longhaul_random::Seed;
use longhaul_units::{InvalidValue, Span, Time};
use std::sync::Arc;

/// Whose a direction is, in a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Boundary {
    /// Of this shard, between two of its nodes.
    Inside,
    /// Of this shard, to a node of another one.
    Exit,
    /// Of another shard, to a node of this one.
    Entry,
    /// Of other shards, to a node of another one.
    Remote,
}

impl Boundary {
    /// Whether the shard decides what happens there.
    pub fn is_own(self) -> bool {
        matches!(self, Boundary::Inside | Boundary::Exit)
    }
}

/// No packet that `line` takes from now on is due before this.
fn earliest_due(line: &Line<Packet>, now: Time) -> Time {
    match line {
        Line::Pipe(pipe) => pipe.earliest_due(now),
        Line::Link(link) => now + link.least_delay(),
        Line::Bundle(_) => now,
    }
}

/// What a shard has of a network.
#[derive(Debug)]
pub(crate) struct Shard {
    /// Of each node: whether it is one of this shard.
    owns: Vec<bool>,
    exits: Vec<DirectionId>,
    entries: Vec<DirectionId>,
    /// Of each entry: nothing is imported from now on that is due before.
    horizons: Vec<Time>,
    /// Empty but while a packet leaves the shard.
    pub crossing: Vec<(Time, Packet)>,
}

/// A link at which a network can be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// By its position in the plan.
    pub link: usize,
    /// No packet takes less time from one end to the other.
    pub lookahead: Span,
}

impl Network {
    /// The links of `plan`, whose network this is, at which it can be cut: those that never change, and whose due times are
    /// known when a packet is offered.
    pub fn cuts(&self, plan: &Plan) -> Vec<Cut> {
        let mut changes = vec![false; plan.links.len()];
        for event in plan.events.iter().filter(|event| event.change.is_of_the_link()) {
            changes[event.link] = true;
        }
        let lookahead = |direction: usize| match &self.directions[direction].link {
            Line::Pipe(pipe) => pipe.earliest_due(Time::ZERO).since(Time::ZERO),
            Line::Link(link) if link.knows_due_at_departure() => link.least_delay(),
            _ => Span::ZERO,
        };
        (0..plan.links.len())
            .filter(|&link| !changes[link] && plan.links[link].present)
            .map(|link| Cut { link, lookahead: lookahead(2 * link).min(lookahead(2 * link + 1)) })
            .filter(|cut| cut.lookahead > Span::ZERO)
            .collect()
    }

    /// The links of `plan`, whose network this is, at which a live run can be cut: those with a least delay that are no parallel
    /// routes and never leave the network, which would end packets that the other shard has already. An Ethernet segment is in one
    /// shard: links of switches are not cut. The lookahead is that of the link as it begins; changes may make it less.
    pub fn live_cuts(&self, plan: &Plan) -> Vec<Cut> {
        let mut leaves = vec![false; plan.links.len()];
        for event in plan.events.iter().filter(|event| event.change.present == Some(false)) {
            leaves[event.link] = true;
        }
        let lookahead = |direction: usize| self.directions[direction].link.least_delay();
        let switched = |link: usize| {
            plan.links[link].endpoints.iter().any(|&end| plan.nodes[end].kind == NodeKind::Switch)
        };
        (0..plan.links.len())
            .map(|link| Cut { link, lookahead: lookahead(2 * link).min(lookahead(2 * link + 1)) })
            .filter(|cut| cut.lookahead > Span::ZERO && !leaves[cut.link] && !switched(cut.link))
            .collect()
    }

    /// The least delay of each direction during a live run of `plan`, whose network this is, with all changes that are planned.
    pub fn least_delays(&self, plan: &Plan) -> Vec<Span> {
        let mut lines = Network::unrouted(plan).directions;
        let mut least: Vec<Span> = lines.iter().map(|direction| direction.link.least_delay()).collect();
        for event in plan.events.iter().filter(|event| event.change.delay.is_some()) {
            for way in [Way::Forward, Way::Reverse] {
                let place = DirectionId::new(event.link, way).0 as usize;
                if event.direction.is_none_or(|only| only == way) {
                    let line = &mut lines[place].link;
                    line.change(Time::from_ns(event.at_ns), event.route, &event.change);
                    least[place] = least[place].min(line.least_delay());
                }
            }
        }
        least
    }

    /// The same network, of which shard `own` has the nodes that `partition` says, one for each node; before its first packet.
    ///
    /// # Errors
    /// If `partition` cuts a link that cannot be [cut](Self::cuts).
    pub fn shard(&self, plan: &Plan, partition: &[u32], own: u32) -> Result<Self, InvalidValue> {
        let reason =
            "it changes, it has no least delay, or when its packets are due is not known when they leave";
        self.shard_at(&self.cuts(plan), reason, plan, partition, own, |_| {})
    }

    /// The same for shards that run while time passes, each by its own clock; call
    /// [`announce_departures_by`](Self::announce_departures_by) whenever time has passed.
    ///
    /// # Errors
    /// If `partition` cuts a link at which a live run cannot be [cut](Self::live_cuts).
    pub fn live_shard(&self, plan: &Plan, partition: &[u32], own: u32) -> Result<Self, InvalidValue> {
        let reason = "it has no least delay, is parallel routes, leads to a switch, or leaves the network";
        self.shard_at(&self.live_cuts(plan), reason, plan, partition, own, |line| {
            // A pipe decides when a packet is offered, too early for a link that may change.
            line.change(Time::ZERO, None, &Change::default());
        })
    }

    fn shard_at(
        &self,
        cuts: &[Cut],
        reason: &str,
        plan: &Plan,
        partition: &[u32],
        own: u32,
        prepare: impl Fn(&mut Line<Packet>),
    ) -> Result<Self, InvalidValue> {
        let mut shard = Network::unrouted(plan);
        shard.routes = Arc::clone(&self.routes);
        let (mut exits, mut entries) = (Vec::new(), Vec::new());
        for index in 0..shard.directions.len() {
            let ends = [index ^ 1, index].map(|each| partition[shard.directions[each].to.0 as usize]);
            let boundary = match ends.map(|place| place == own) {
                [true, true] => Boundary::Inside,
                [true, false] => Boundary::Exit,
                [false, true] => Boundary::Entry,
                [false, false] => Boundary::Remote,
            };
            let link = index / 2;
            if ends[0] != ends[1] && cuts.binary_search_by_key(&link, |cut| cut.link).is_err() {
                let name = &plan.links[link].name;
                return Err(InvalidValue::new("shards", format!("link {name} cannot be cut: {reason}")));
            }
            shard.directions[index].boundary = boundary;
            shard.directions[index].tapped = self.directions[index].tapped && boundary.is_own();
            let line = &mut shard.directions[index].link;
            if matches!(boundary, Boundary::Exit | Boundary::Entry) {
                prepare(line);
            }
            match boundary {
                Boundary::Exit => {
                    exits.push(DirectionId(index as u32));
                    if let Line::Link(link) = line {
                        link.record_departures();
                    }
                }
                Boundary::Entry => {
                    entries.push((DirectionId(index as u32), earliest_due(line, Time::ZERO)));
                    if let Line::Link(link) = line {
                        // It only keeps packets until they are due, in that order.
                        let model = LinkModel { reorder: true, ..LinkModel::default() };
                        **link = Link::new(model, &Seed::new(0), "", Span::ZERO);
                    }
                }
                _ => {}
            }
        }
        let (entries, horizons) = entries.into_iter().unzip();
        let owns = partition.iter().map(|&place| place == own).collect();
        shard.shard = Some(Box::new(Shard { owns, exits, entries, horizons, crossing: Vec::new() }));
        Ok(shard)
    }

    /// Whether this shard decides what happens on `direction`.
    pub fn owns(&self, direction: DirectionId) -> bool {
        self.directions[direction.0 as usize].boundary.is_own()
    }

    /// Whether `node` is one of this shard.
    pub(crate) fn owns_node(&self, node: NodeId) -> bool {
        self.shard.as_ref().is_none_or(|shard| shard.owns[node.0 as usize])
    }

    /// The directions that lead to other shards.
    pub fn exits(&self) -> &[DirectionId] {
        self.shard.as_ref().map_or(&[], |shard| &shard.exits)
    }

    /// The directions that come from other shards.
    pub fn entries(&self) -> &[DirectionId] {
        self.shard.as_ref().map_or(&[], |shard| &shard.entries)
    }

    /// No packet that `exit` takes from now on is due before this; all events before `now` have been handled. `None`: none
    /// comes while links look ahead.
    pub fn exit_horizon(&self, exit: DirectionId, now: Time) -> Option<Time> {
        if self.lookahead_is_active() {
            return self.exit_horizon_ahead(exit);
        }
        Some(earliest_due(&self.directions[exit.0 as usize].link, now))
    }

    /// Gives away what has begun to leave by exits whose due times are not known before; all events before `now` have been
    /// handled.
    pub fn announce_departures(&mut self, now: Time, sink: &mut impl Sink) {
        if let Some(last) = now.ps().checked_sub(1) {
            self.announce_departures_by(Time::from_ps(last), sink);
        }
    }

    /// Gives away what has begun to leave by exits until `last`, and at that instant; all events until then have been handled.
    pub fn announce_departures_by(&mut self, last: Time, sink: &mut impl Sink) {
        if self.monitor.is_some() {
            // A bin that ends before has the queue of that instant.
            for place in 0..self.exits().len() {
                self.close_bins(self.exits()[place], last);
            }
        }
        let Network { directions, shard: Some(shard), .. } = self else { return };
        for &exit in &shard.exits {
            let Direction { link: Line::Link(link), tapped, .. } = &mut directions[exit.0 as usize] else {
                continue;
            };
            let Some(departures) = link.departures(last) else { continue };
            if *tapped {
                for (due, packet) in &*departures {
                    sink.passed(exit, packet, packet.offered, Ok(*due));
                }
            }
            if !departures.is_empty() {
                sink.crosses(exit, departures);
            }
        }
    }

    /// When the next packet that waits at an exit begins to leave, as far as that is known; [`Time::NEVER`] if none waits.
    pub fn next_departure(&self) -> Time {
        let exits = self.exits().iter().map(|exit| self.directions[exit.0 as usize].link.next_start());
        exits.min().unwrap_or(Time::NEVER)
    }

    /// Packets that came from other shards and are not yet due.
    pub fn arriving(&self) -> u64 {
        self.entries().iter().map(|entry| self.directions[entry.0 as usize].link.in_flight()).sum()
    }

    /// Packets that other shards have been given and that are not yet due there.
    pub fn leaving(&self) -> u64 {
        self.exits().iter().map(|exit| self.directions[exit.0 as usize].link.in_flight()).sum()
    }

    /// From now on, nothing is [imported](Self::import) by `entry` that is due before `horizon`.
    pub fn set_entry_horizon(&mut self, entry: DirectionId, horizon: Time) {
        let Some(shard) = &mut self.shard else { return };
        if let Ok(place) = shard.entries.binary_search(&entry) {
            shard.horizons[place] = horizon;
        }
        if let Some(ahead) = &mut self.lookahead {
            ahead.set_horizon(entry, horizon);
        }
    }

    /// Before this instant, all that comes from other shards is known.
    pub fn entries_horizon(&self) -> Time {
        let horizons = self.shard.iter().flat_map(|shard| shard.horizons.iter().copied());
        horizons.min().unwrap_or(Time::NEVER)
    }

    /// Takes packets that come from another shard by `entry`, where they are due at these times; those of one entry come
    /// in the order in which they left.
    pub fn import(&mut self, entry: DirectionId, packets: &mut [(Time, Packet)]) {
        if self.lookahead_is_active() {
            self.import_ahead(entry, packets);
        } else if let Line::Pipe(pipe) = &mut self.directions[entry.0 as usize].link {
            pipe.put_back(packets.iter().copied());
            self.calendar.set(entry.0, pipe.next_event());
        } else if let Line::Link(link) = &mut self.directions[entry.0 as usize].link {
            for &(due, packet) in packets.iter() {
                link.put_on_wire(packet, due);
            }
            self.calendar.set(entry.0, link.next_event());
        }
    }

    /// The horizons of the entries, to begin to look ahead with.
    pub(crate) fn entry_horizons(&self) -> Vec<(DirectionId, Time)> {
        let Some(shard) = &self.shard else { return Vec::new() };
        shard.entries.iter().copied().zip(shard.horizons.iter().copied()).collect()
    }
}
