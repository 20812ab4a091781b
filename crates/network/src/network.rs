use crate::calendar::Calendar;
use crate::entrance::Entrance;
use crate::line::line;
use crate::lookahead::Lookahead;
use crate::monitor::{Monitor, PacketEvent};
use crate::packet::{DirectionId, Fate, Flags, Message, NodeId, Packet};
use crate::route_inputs::RouteInputs;
use crate::routes::Routes;
use crate::shard::{Boundary, Shard};
use crate::sink::Sink;
use crate::switching::Switches;
use crate::totals::{LinkCounters, Totals};
use longhaul_link::{Line, OfferResult};
use longhaul_plan::{Change, NodeKind, Plan, Subnet, Way};
use longhaul_random::Seed;
use longhaul_units::{Histogram, InvalidValue, Span, Time};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

/// TTL of what routers send.
const REPLY_TTL: u8 = 64;

/// Nodes, links and everything in them.
///
/// Call [`inject`](Self::inject) and [`change`](Self::change) with times that never go back, and
/// [`advance`](Self::advance) at [`next_event`](Self::next_event) or later. At every instant
/// injected + copied + replies = delivered + all other fates + [`held`](Self::held).
#[derive(Debug)]
pub struct Network {
    pub(crate) kinds: Vec<NodeKind>,
    /// The first link of each node, away from it.
    pub(crate) uplinks: Vec<Option<DirectionId>>,
    /// Hosts that forward, and their interfaces.
    pub(crate) forwarding: Vec<bool>,
    addresses: BTreeMap<IpAddr, NodeId>,
    /// Networks behind nodes, those with more bits first.
    subnets: Vec<(Subnet, NodeId)>,
    pub(crate) routes: Arc<Routes>,
    pub(crate) route_inputs: RouteInputs,
    pub(crate) directions: Vec<Direction>,
    pub(crate) calendar: Calendar,
    pub(crate) totals: Totals,
    pub(crate) lookahead: Option<Box<Lookahead>>,
    pub(crate) monitor: Option<Box<Monitor>>,
    pub(crate) shard: Option<Box<Shard>>,
    pub(crate) switches: Option<Box<Switches>>,
}

#[derive(Debug)]
pub(crate) struct Direction {
    pub(crate) link: Line<Packet>,
    pub(crate) to: NodeId,
    pub(crate) mtu: u32,
    too_big_packets: u64,
    pub(crate) tapped: bool,
    /// Where packets of a host that paces wait.
    pub(crate) entrance: Option<Box<Entrance>>,
    pub(crate) boundary: Boundary,
}

impl Network {
    /// Builds the network of `plan`, after checking it.
    ///
    /// # Errors
    /// The first value that is invalid.
    pub fn new(plan: &Plan) -> Result<Self, InvalidValue> {
        plan.check()?;
        let mut network = Network::unrouted(plan);
        network.routes = Arc::new(Routes::new(&network.route_inputs.topology).tabulate());
        Ok(network)
    }

    /// The network of a plan that has been checked, whose routes have not been tabulated.
    pub(crate) fn unrouted(plan: &Plan) -> Self {
        let seed = Seed::new(plan.seed);
        let mut directions = Vec::with_capacity(plan.links.len() * 2);
        for link in &plan.links {
            for (way, direction, to) in [
                (Way::Forward, &link.forward, link.endpoints[1]),
                (Way::Reverse, &link.reverse, link.endpoints[0]),
            ] {
                // Trains stay together only on their last link: routers look at each packet.
                let ends_at_host = plan.nodes[to].kind.is_end() && !plan.is_forwarding(to);
                let coalesce = if ends_at_host { Span::from_ns(plan.coalesce_ns) } else { Span::ZERO };
                let name =
                    format!("{}/{}", link.name, if way == Way::Forward { "forward" } else { "reverse" });
                directions.push(Direction {
                    link: line(direction, &seed, &name, coalesce),
                    to: NodeId(to as u32),
                    mtu: link.mtu,
                    too_big_packets: 0,
                    tapped: false,
                    boundary: Boundary::Inside,
                    entrance: direction.pacing.as_ref().map(|pacing| Box::new(Entrance::new(pacing))),
                });
            }
        }
        let addresses = plan.nodes.iter().enumerate().flat_map(|(node, each)| {
            let both = each.ipv4.map(IpAddr::V4).into_iter().chain(each.ipv6.map(IpAddr::V6));
            both.map(move |address| (address, NodeId(node as u32)))
        });
        let left = Change { up: Some(false), present: Some(false), ..Change::default() };
        for (_, pair) in plan.links.iter().zip(directions.chunks_mut(2)).filter(|(link, _)| !link.present) {
            for each in pair {
                each.link.change(Time::ZERO, None, &left);
            }
        }
        let route_inputs = RouteInputs::of(plan);
        Network {
            uplinks: route_inputs.uplinks(),
            kinds: plan.nodes.iter().map(|node| node.kind).collect(),
            addresses: addresses.collect(),
            subnets: plan.subnets().into_iter().map(|(subnet, node)| (subnet, NodeId(node as u32))).collect(),
            routes: Arc::new(Routes::new(&route_inputs.topology)),
            forwarding: route_inputs.topology.forwarding.clone(),
            switches: Switches::of(&route_inputs),
            route_inputs,
            calendar: Calendar::new(directions.len()),
            directions,
            totals: Totals::default(),
            lookahead: None,
            monitor: None,
            shard: None,
        }
    }

    /// Searches for all routes now. Otherwise, in a large network, the first packet to a destination is delayed by its
    /// search, which costs no simulated time but real time.
    pub fn complete_routes(&self) {
        self.routes.complete();
    }

    /// The node that has `address`, or behind which the smallest network with it is.
    pub fn node_at(&self, address: IpAddr) -> Option<NodeId> {
        let behind =
            || self.subnets.iter().find(|(subnet, _)| subnet.contains(address)).map(|&(_, node)| node);
        self.addresses.get(&address).copied().or_else(behind)
    }

    /// Takes `packet` from its source host at `now`.
    #[inline]
    pub fn inject(&mut self, now: Time, packet: Packet, sink: &mut impl Sink) {
        if self.lookahead_is_active() {
            self.inject_ahead(now, packet);
        } else {
            self.inject_now(now, packet, sink);
        }
    }

    fn inject_now(&mut self, now: Time, packet: Packet, sink: &mut impl Sink) {
        self.advance(now, sink);
        self.totals.injected += 1;
        if packet.destination == packet.source {
            self.deliver(packet.source, packet, now, None, sink);
        } else {
            self.forward(packet.source, packet, now, sink);
        }
    }

    /// Takes a packet whose destination address belongs to no node.
    pub fn inject_unroutable(&mut self, now: Time, packet: Packet, sink: &mut impl Sink) {
        self.advance(now, sink);
        self.totals.injected += 1;
        self.refuse(packet.source, packet, Fate::NoRoute, Message::NoRoute, now, sink);
    }

    /// Does everything that is due until `now`.
    pub fn advance(&mut self, now: Time, sink: &mut impl Sink) {
        while self.next_event() <= now
            && let Some((time, index)) = self.calendar.first()
        {
            self.pass(time, index, sink);
        }
    }

    /// Does what is due until `until`, but not beyond the instant at which something is delivered. Returns the
    /// last instant at which anything happened.
    pub fn advance_to_delivery(&mut self, until: Time, sink: &mut impl Sink) -> Time {
        let delivered = self.totals.delivered;
        let mut now = until;
        while self.next_event() <= until
            && let Some((time, index)) = self.calendar.first()
        {
            if time > now && self.totals.delivered > delivered {
                break;
            }
            now = time;
            self.pass(time, index, sink);
        }
        now
    }

    /// Lets go what leaves a direction first, at `time`.
    #[inline(always)]
    fn pass(&mut self, time: Time, index: u32, sink: &mut impl Sink) {
        let place = index as usize;
        let direction = DirectionId(index);
        let Direction { link, to, tapped, entrance, boundary, .. } = &mut self.directions[place];
        if let Line::Pipe(pipe) = link
            && !*tapped
            && entrance.is_none()
            && *boundary != Boundary::Exit
        {
            // The common case: one packet, whose link neither drops nor lets anyone overtake.
            let to = *to;
            if let Some((packet, due)) = pipe.take(time) {
                self.calendar.set(index, pipe.next_event());
                self.arrive(to, packet, due, direction, sink);
            } else {
                self.calendar.set(index, pipe.next_event());
            }
        } else {
            self.pass_any(time, direction, sink);
        }
    }

    #[inline(never)]
    fn pass_any(&mut self, time: Time, direction: DirectionId, sink: &mut impl Sink) {
        let place = direction.0 as usize;
        self.close_bins(direction, time);
        if self.directions[place].entrance.is_some() {
            self.enter_paced(direction, time, sink);
        }
        while let Some((packet, due)) = self.directions[place].link.take(time) {
            if self.directions[place].boundary == Boundary::Exit {
                // The shard of the far end has it.
                self.count(direction, due, &packet, PacketEvent::Delivered);
                continue;
            }
            if self.directions[place].tapped {
                self.count(direction, due, &packet, PacketEvent::Delivered);
                sink.passed(direction, &packet, packet.offered, Ok(due));
            }
            let to = self.directions[place].to;
            self.arrive(to, packet, due, direction, sink);
            // Whatever its link is, what a packet causes at once comes before the next packet of the same instant.
            if !self.is_end(to) {
                break;
            }
        }
        self.tidy(direction, time, sink);
    }

    /// Whether packets that come to `node` go no further.
    pub(crate) fn is_end(&self, node: NodeId) -> bool {
        let place = node.0 as usize;
        self.kinds[place].is_end() && !self.forwarding[place]
    }

    /// When [`advance`](Self::advance) next has something to do; [`Time::NEVER`] when nothing moves.
    #[inline]
    pub fn next_event(&self) -> Time {
        self.calendar.earliest()
    }

    /// Changes a direction's models at `now`, in place. The change must have passed its check.
    ///
    /// Returns the direction's counters at `now`, so that results can separate what happened before and after.
    pub fn change(
        &mut self,
        now: Time,
        direction: DirectionId,
        route: Option<usize>,
        change: &Change,
        sink: &mut impl Sink,
    ) -> LinkCounters {
        self.stop_lookahead();
        self.advance(now, sink);
        self.close_bins(direction, now);
        let place = direction.0 as usize;
        if !self.owns(direction) {
            // Its shard changes it; routes follow here, too.
            self.note_change(now, direction, route, change);
            return self.link_counters(direction);
        }
        if change.is_of_the_link() {
            // Packets that start until now are counted by the old models, also if the link was not polled since.
            self.directions[place].link.change(now, None, &Change::default());
        } else {
            self.directions[place].link.settle(now);
        }
        let before = self.link_counters(direction);
        if change.is_of_the_link() {
            let ends_at_host = self.is_end(self.directions[place].to);
            // Trains stay together only on their last link: routers look at each packet.
            let change = &Change { coalesce: change.coalesce.filter(|_| ends_at_host), ..change.clone() };
            self.directions[place].link.change(now, route, change);
        }
        self.change_pacing(direction, &change.pacing, now, sink);
        self.tidy(direction, now, sink);
        self.note_change(now, direction, route, change);
        before
    }

    /// Lets routes follow a change at `now` of a direction, which another shard applies.
    pub fn note_change(&mut self, now: Time, direction: DirectionId, route: Option<usize>, change: &Change) {
        if self.route_inputs.note(direction, route, change) {
            // Paths are no longer those that it was planned for.
            self.lookahead = None;
        }
        if let Some(costs) = change.reroute {
            self.routes = Arc::new(self.route_inputs.routes(now, costs));
            self.uplinks = self.route_inputs.uplinks();
            self.lookahead = None;
        }
    }

    /// Brings the counters of what waits and what flies up to `now`; no packet notices.
    pub fn settle(&mut self, now: Time) {
        if self.monitor.is_some() {
            (0..self.directions.len() as u32).for_each(|index| self.close_bins(DirectionId(index), now));
        }
        self.directions.iter_mut().for_each(|direction| direction.link.settle(now));
    }

    /// Counters of one direction.
    pub fn link_counters(&self, direction: DirectionId) -> LinkCounters {
        let Direction { link, too_big_packets, .. } = &self.directions[direction.0 as usize];
        let (waiting_packets, waiting_bytes) = link.waiting();
        let (taken_packets, taken_bytes) = self.taken_ahead(direction.0 as usize);
        let mut counters = link.counters();
        counters.delivered_packets += taken_packets;
        counters.delivered_bytes += taken_bytes;
        LinkCounters {
            link: counters,
            too_big_packets: *too_big_packets,
            waiting_packets,
            waiting_bytes,
            flying_packets: link.in_flight() - taken_packets,
        }
    }

    /// How long packets waited before they left on one direction, since the start.
    pub fn waits(&self, direction: DirectionId) -> Histogram {
        self.directions[direction.0 as usize].link.waits()
    }

    /// Packets since the start.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// Packets inside now.
    pub fn held(&self) -> u64 {
        let own = |direction: &Direction| direction.boundary.is_own();
        let held = |(index, direction): (usize, &Direction)| {
            let outside = direction.entrance.as_ref().map_or(0, |entrance| entrance.waiting());
            outside + direction.link.waiting().0 + direction.link.in_flight() - self.taken_ahead(index).0
        };
        self.directions.iter().enumerate().filter(|(_, direction)| own(direction)).map(held).sum()
    }

    /// From now on, [`Sink::passed`] tells of every packet on this link; in a shard, of those in directions that it owns.
    pub fn tap(&mut self, link: usize) {
        for direction in &mut self.directions[2 * link..2 * link + 2] {
            direction.tapped = direction.boundary.is_own();
        }
    }

    /// The directions that a packet takes, or `None` if no path leads there; of equal paths, the first.
    pub fn path(&self, from: NodeId, to: NodeId) -> Option<Vec<DirectionId>> {
        self.routes.path(from, to)
    }

    /// The directions that packets of the flow with this hash take, or `None` if no path leads there.
    pub fn path_of(&self, from: NodeId, to: NodeId, flow: u32) -> Option<Vec<DirectionId>> {
        self.routes.path_of(from, to, flow)
    }

    #[inline(always)]
    fn arrive(&mut self, node: NodeId, mut packet: Packet, at: Time, via: DirectionId, sink: &mut impl Sink) {
        if self.is_switched(node, &packet) {
            return self.arrive_at_segment(node, packet, at, via, sink);
        }
        if is_taken_by_host(&self.kinds, &self.forwarding, &self.routes, node, &packet) {
            return self.deliver(node, packet, at, Some(via), sink);
        }
        if packet.destination == node {
            if packet.flags.has(Flags::TAKEN) {
                return self.deliver(node, packet, at, Some(via), sink);
            }
            let echo = packet.flags.has(Flags::ECHO_REQUEST);
            let message = if echo { Message::EchoReply } else { Message::PortUnreachable };
            return self.refuse(node, packet, Fate::Answered, message, at, sink);
        }
        if self.is_end(node) {
            return self.refuse(node, packet, Fate::NoRoute, Message::NoRoute, at, sink);
        }
        if packet.ttl.saturating_sub(packet.hops) <= 1 {
            return self.refuse(node, packet, Fate::TtlExpired, Message::TtlExceeded, at, sink);
        }
        packet.hops += 1;
        self.forward(node, packet, at, sink);
    }

    #[inline(always)]
    pub(crate) fn forward(&mut self, node: NodeId, packet: Packet, at: Time, sink: &mut impl Sink) {
        let Some(direction) = self.routes.next_of(node, packet.destination, packet.flow) else {
            return self.refuse(node, packet, Fate::NoRoute, Message::NoRoute, at, sink);
        };
        self.forward_by(direction, node, packet, at, sink);
    }

    /// Puts a packet onto a link that leaves `node`, through the pacing of its host if it has one.
    #[inline(always)]
    pub(crate) fn forward_by(
        &mut self,
        direction: DirectionId,
        node: NodeId,
        packet: Packet,
        at: Time,
        sink: &mut impl Sink,
    ) {
        if self.directions[direction.0 as usize].entrance.is_some() {
            return self.pace(direction, node, packet, at, sink);
        }
        self.enter(direction, node, packet, at, sink);
    }

    /// Puts a packet onto a link that leaves `node`.
    #[inline(always)]
    pub(crate) fn enter(
        &mut self,
        direction: DirectionId,
        node: NodeId,
        mut packet: Packet,
        at: Time,
        sink: &mut impl Sink,
    ) {
        if self.directions[direction.0 as usize].tapped {
            self.count_offer(direction, at, &packet);
            sink.offered(direction, &packet, at);
        }
        let each = &mut self.directions[direction.0 as usize];
        if packet.bytes > each.mtu {
            each.too_big_packets += 1;
            let message = Message::TooBig { mtu: each.mtu };
            return self.refuse(node, packet, Fate::TooBig, message, at, sink);
        }
        packet.offered = at;
        self.totals.hops += 1;
        if let Line::Pipe(pipe) = &mut each.link {
            let was_empty = pipe.is_empty();
            let (tapped, leads_out) = (each.tapped, each.boundary == Boundary::Exit);
            match pipe.offer(at, packet) {
                OfferResult::Taken { .. } => {
                    if was_empty {
                        self.calendar.set(direction.0, pipe.next_event());
                    }
                    if leads_out
                        && let Some(due) = pipe.last_due()
                        && let Some(crossing) = self.shard.as_mut().map(|shard| &mut shard.crossing)
                    {
                        if tapped {
                            sink.passed(direction, &packet, at, Ok(due));
                        }
                        crossing.push((due, packet));
                        sink.crosses(direction, crossing);
                    }
                }
                OfferResult::Ended(fate) => {
                    if tapped {
                        self.count(direction, at, &packet, PacketEvent::Ended(fate.into()));
                        sink.passed(direction, &packet, at, Err((fate.into(), at)));
                    }
                    self.end(packet, fate.into(), at, Some(direction), sink);
                }
            }
            return;
        }
        match each.link.offer(at, packet) {
            OfferResult::Taken { copies } => {
                for _ in 0..copies {
                    self.totals.copied += 1;
                    sink.copied(&packet);
                }
            }
            OfferResult::Ended(fate) => {
                if each.tapped {
                    self.count(direction, at, &packet, PacketEvent::Ended(fate.into()));
                    sink.passed(direction, &packet, at, Err((fate.into(), at)));
                }
                self.end(packet, fate.into(), at, Some(direction), sink);
            }
        }
        self.tidy(direction, at, sink);
    }

    /// Ends packets that ended inside a link, and notes when it next wants something.
    fn tidy(&mut self, direction: DirectionId, at: Time, sink: &mut impl Sink) {
        let place = direction.0 as usize;
        while let Some((packet, fate)) = self.directions[place].link.drop_pending() {
            if self.directions[place].tapped {
                self.count(direction, at, &packet, PacketEvent::Ended(fate.into()));
                sink.passed(direction, &packet, packet.offered, Err((fate.into(), at)));
            }
            self.end(packet, fate.into(), at, Some(direction), sink);
        }
        self.schedule(direction);
    }

    /// Notes when a direction next wants something.
    #[inline]
    pub(crate) fn schedule(&mut self, direction: DirectionId) {
        let Direction { link, entrance, .. } = &self.directions[direction.0 as usize];
        let next = link.next_event();
        let next = entrance.as_ref().map_or(next, |entrance| next.min(entrance.next_event()));
        self.calendar.set(direction.0, next);
    }

    #[inline]
    pub(crate) fn deliver(
        &mut self,
        host: NodeId,
        packet: Packet,
        due: Time,
        via: Option<DirectionId>,
        sink: &mut impl Sink,
    ) {
        self.totals.delivered += 1;
        sink.deliver(host, packet, due, via);
    }

    /// Ends a packet at `node`, which tells the sender why where it may.
    pub(crate) fn refuse(
        &mut self,
        node: NodeId,
        packet: Packet,
        fate: Fate,
        message: Message,
        at: Time,
        sink: &mut impl Sink,
    ) {
        let may = message == Message::EchoReply || !packet.flags.has(Flags::NO_REPLY);
        // A host would refuse a message that comes from its own address: its neighbour says it.
        let speaker = if node == packet.source { self.neighbour(node).unwrap_or(node) } else { node };
        // A frame that is too large for a link of a switch vanishes.
        let is_too_big = matches!(message, Message::TooBig { .. });
        let speaker = if is_too_big { speaker } else { self.speaker_at(speaker) };
        if may && let Some(reply) = sink.reply(speaker, &packet, message) {
            self.totals.replies += 1;
            let mut flags = Flags::NO_REPLY;
            flags.set(Flags::V6, packet.flags.has(Flags::V6));
            flags.set(Flags::REAL, packet.flags.has(Flags::REAL));
            let answer = Packet {
                body: reply.body,
                segment: 0,
                segments: 1,
                bytes: reply.bytes,
                source: speaker,
                destination: packet.source,
                ttl: REPLY_TTL,
                hops: 0,
                flags,
                class: 0,
                flow: packet.flow,
                damage: 0,
                offered: at,
            };
            if node == packet.source {
                self.deliver(node, answer, at, None, sink);
            } else {
                self.forward(node, answer, at, sink);
            }
        }
        self.end(packet, fate, at, None, sink);
    }

    pub(crate) fn end(
        &mut self,
        packet: Packet,
        fate: Fate,
        at: Time,
        link: Option<DirectionId>,
        sink: &mut impl Sink,
    ) {
        self.totals.count(fate);
        sink.end(packet, fate, at, link);
    }
}

/// Whether a packet that comes to `node` is given to the host there: it is for one of the host's interfaces, a frame that
/// the host's kernel looks at, or a packet that it forwards.
#[inline(always)]
pub(crate) fn is_taken_by_host(
    kinds: &[NodeKind],
    forwarding: &[bool],
    routes: &Routes,
    node: NodeId,
    packet: &Packet,
) -> bool {
    let place = node.0 as usize;
    kinds[place].is_end()
        && (packet.flags.has(Flags::FRAME)
            || routes.is_same_host(node, packet.destination)
            || (forwarding[place] && packet.flags.has(Flags::REAL)))
}
