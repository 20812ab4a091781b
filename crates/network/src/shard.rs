//! A network of which several shards each have a part: cut at links, it runs on several threads.
//!
//! Each shard owns some nodes, and the directions of links that leave them: it decides loss, queue and serialisation there.
//! Directions that lead to another shard's node are its *exits*. What an exit takes is given away at once
//! ([`Sink::crosses`](crate::Sink::crosses)) with the time at which it is due, and the shard of the far end
//! [imports](Network::import) it. There the direction is an *entry*, whose link only keeps packets until they are due. The exit
//! counts its packets when they are due, so that its counters are those of an undivided network.
//!
//! A link may be cut if the due time of a packet is known when the packet is offered and no later change can alter it.

use crate::network::Network;
use crate::packet::{DirectionId, NodeId, Packet};
use longhaul_link::Line;
use longhaul_plan::Plan;
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
    /// Of other shards.
    Elsewhere,
}

impl Boundary {
    /// Whether the shard decides what happens there.
    pub fn is_own(self) -> bool {
        matches!(self, Boundary::Inside | Boundary::Exit)
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
            _ => Span::ZERO,
        };
        (0..plan.links.len())
            .filter(|&link| !changes[link] && plan.links[link].present)
            .map(|link| Cut { link, lookahead: lookahead(2 * link).min(lookahead(2 * link + 1)) })
            .filter(|cut| cut.lookahead > Span::ZERO)
            .collect()
    }

    /// The same network, of which shard `own` has the nodes that `places` says, one for each node; before its first packet.
    ///
    /// # Errors
    /// If `places` cuts a link that cannot be [cut](Self::cuts).
    pub fn shard(&self, plan: &Plan, places: &[u32], own: u32) -> Result<Self, InvalidValue> {
        let mut shard = Network::unrouted(plan);
        shard.routes = Arc::clone(&self.routes);
        let cuts = self.cuts(plan);
        let (mut exits, mut entries) = (Vec::new(), Vec::new());
        for index in 0..shard.directions.len() {
            let ends = [index ^ 1, index].map(|each| places[shard.directions[each].to.0 as usize]);
            let boundary = match ends.map(|place| place == own) {
                [true, true] => Boundary::Inside,
                [true, false] => Boundary::Exit,
                [false, true] => Boundary::Entry,
                [false, false] => Boundary::Elsewhere,
            };
            let link = index / 2;
            if ends[0] != ends[1] && cuts.binary_search_by_key(&link, |cut| cut.link).is_err() {
                let name = &plan.links[link].name;
                return Err(InvalidValue::new(
                    "shards",
                    format!(
                        "link {name} cannot be cut: it changes, or when its packets are due is not known in advance"
                    ),
                ));
            }
            shard.directions[index].boundary = boundary;
            shard.directions[index].tapped = self.directions[index].tapped && boundary.is_own();
            match boundary {
                Boundary::Exit => exits.push(DirectionId(index as u32)),
                Boundary::Entry => entries.push(DirectionId(index as u32)),
                _ => {}
            }
        }
        let horizons = entries.iter().map(|&entry| shard.earliest_due(entry, Time::ZERO)).collect();
        let owns = places.iter().map(|&place| place == own).collect();
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
        Some(self.earliest_due(exit, now))
    }

    fn earliest_due(&self, direction: DirectionId, now: Time) -> Time {
        match &self.directions[direction.0 as usize].link {
            Line::Pipe(pipe) => pipe.earliest_due(now),
            _ => now,
        }
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
    /// in order.
    pub fn import(&mut self, entry: DirectionId, packets: &mut [(Time, Packet)]) {
        if self.lookahead_is_active() {
            self.import_ahead(entry, packets);
        } else if let Line::Pipe(pipe) = &mut self.directions[entry.0 as usize].link {
            pipe.put_back(packets.iter().copied());
            self.calendar.set(entry.0, pipe.next_event());
        }
    }

    /// The horizons of the entries, to begin to look ahead with.
    pub(crate) fn entry_horizons(&self) -> Vec<(DirectionId, Time)> {
        let Some(shard) = &self.shard else { return Vec::new() };
        shard.entries.iter().copied().zip(shard.horizons.iter().copied()).collect()
    }
}
