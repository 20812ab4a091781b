//! The second scheduler: each link advances by itself up to the earliest packet that can still arrive.
//!
//! Where routes are static and every due time is known on arrival, a link may handle all packets that
//! arrive before the *horizon* of the links and hosts that feed it: no packet that they accept from now on is due
//! earlier (conservative simulation after Chandy and Misra, "Distributed Simulation", IEEE Trans. Softw.
//! Eng. SE-5(5), 1979; the lookahead is the time that the smallest packet takes through the link). Packets therefore
//! pass in runs, not one by one, and no calendar decides between links. The events are the same, packet by
//! packet, as with the calendar of [`Network::advance`]: at one instant, packets are ordered by the
//! direction that they come from, and the network precedes the hosts.

mod channel;
mod lanes;
mod onward;
mod serve;

use channel::Channel;
use onward::Onward;
use serve::Merge;

use crate::network::Direction;
use crate::packet::{DirectionId, NodeId, Packet};
use crate::{Network, Sink};
use longhaul_link::Line;
use longhaul_units::Time;
use std::collections::VecDeque;

const NONE: u32 = u32::MAX;

/// How far links and hosts that look ahead have come in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// All have come to the limit.
    Done,
    /// Some have come further.
    Some,
    /// None has, until other shards have.
    None,
}

impl Progress {
    /// `all` have come to the limit, `any` has come further in this round. Where any has, the others may come further in the
    /// next round.
    pub fn of(all: bool, any: bool) -> Self {
        match (all, any) {
            (true, _) => Progress::Done,
            (false, true) => Progress::Some,
            (false, false) => Progress::None,
        }
    }
}

/// The progress of every link and every host, and the packets between them.
#[derive(Debug)]
pub(crate) struct Lookahead {
    active: bool,
    /// Of each direction of a link.
    lanes: Vec<Lane>,
    channels: Vec<Channel>,
    /// Of each direction: what it takes from now on is not due before.
    horizons: Vec<Time>,
    /// Empty but while a direction is served that several feed.
    merge: Merge,
    /// Used directions, those that feed others first.
    order: Vec<u32>,
    /// Directions from other shards, whose packets are [imported](Network::import).
    entries: Vec<u32>,
    /// Directions to other shards.
    exits: Vec<Exit>,
    /// Of each node: the channel that its host's packets go through, if all go through one.
    entrances: Vec<u32>,
    /// Of each node: the channels that end there, by their directions.
    inboxes: Vec<Vec<u32>>,
    /// Of each node: before this instant, its host has acted.
    clocks: Vec<Time>,
}

#[derive(Debug, Default)]
struct Lane {
    /// The host that feeds it, if no link does.
    host: Option<NodeId>,
    /// Channels that feed it, by their directions; or the host's.
    inputs: Vec<u32>,
    /// The channel to the far end, if that is a host.
    to_host: u32,
    /// Channels to the directions that leave the far end.
    outputs: Vec<u32>,
    /// The channel for each destination, if there are several.
    onward: Onward,
    /// The only channel that it feeds, if there is but one.
    sole: u32,
    /// Before this instant, it has taken all that comes.
    clock: Time,
}

/// A direction to another shard, which gets its packets at once. The exit counts them when they are due.
#[derive(Debug)]
struct Exit {
    direction: DirectionId,
    /// Due times and bytes of packets that are not due yet.
    not_due: VecDeque<(Time, u32)>,
}

impl Network {
    /// Whether the models of all links that are used let every due time be known on arrival, after
    /// [`plan_lookahead`](Self::plan_lookahead).
    pub fn supports_lookahead(&self) -> bool {
        // A monitor counts packets when they leave a link, and what waits behind them.
        self.monitor.is_none()
            && self.lookahead.as_ref().is_some_and(|ahead| {
                ahead.order.iter().all(|&index| {
                    let direction = &self.directions[index as usize];
                    let paces = direction.entrance.is_some();
                    matches!(&direction.link, Line::Pipe(pipe) if pipe.looks_ahead() && !paces)
                })
            })
    }

    /// Directions and hosts that take part.
    pub fn parts(&self) -> u64 {
        let count = |ahead: &Lookahead| {
            ahead.order.len() + ahead.inboxes.iter().filter(|inbox| !inbox.is_empty()).count()
        };
        self.lookahead.as_ref().map_or(0, |ahead| count(ahead) as u64)
    }

    /// Whether links advance by themselves now.
    #[inline]
    pub fn lookahead_is_active(&self) -> bool {
        self.lookahead.as_ref().is_some_and(|ahead| ahead.active)
    }

    /// Lets links advance by themselves from `now` on, if they [can](Self::supports_lookahead); all events before
    /// `now` have been handled. The caller then works in rounds: every node's host acts before its
    /// [`horizon`](Self::horizon), then links [`advance_lookahead`](Self::advance_lookahead), until all have reached the
    /// same instant. Other methods may be called only then.
    ///
    /// [`Sink::passed`] then reports packets when they arrive at a link, before they have left it. It repeats reports
    /// with times after the instant at which [`stop_lookahead`](Self::stop_lookahead) is called.
    pub fn start_lookahead(&mut self, now: Time, sink: &mut impl Sink) {
        let Network { directions, lookahead: Some(ahead), .. } = self else { return };
        ahead.active = true;
        ahead.clocks.fill(now);
        for &index in ahead.order.iter().chain(&ahead.entries) {
            let index = index as usize;
            let Direction { link: Line::Pipe(pipe), tapped, boundary, .. } = &mut directions[index] else {
                continue;
            };
            ahead.lanes[index].clock = now;
            if boundary.is_own() {
                ahead.horizons[index] = pipe.earliest_due(now);
            }
            if let Some(exit) = exit(&mut ahead.exits, index) {
                exit.not_due.extend(pipe.take_all().map(|(due, packet)| (due, packet.bytes)));
                continue;
            }
            for (due, packet) in pipe.take_all() {
                if *tapped {
                    sink.passed(DirectionId(index as u32), &packet, packet.offered, Ok(due));
                }
                ahead.lanes[index].pass_on(&mut ahead.channels, &(due, packet));
            }
        }
    }

    /// Returns to the calendar; to be called only when all have reached the same instant.
    pub fn stop_lookahead(&mut self) {
        let Network { directions, calendar, lookahead: Some(ahead), .. } = self else { return };
        if !ahead.active {
            return;
        }
        ahead.active = false;
        for &index in ahead.order.iter().chain(&ahead.entries) {
            let Line::Pipe(pipe) = &mut directions[index as usize].link else { continue };
            if let Some(exit) = exit(&mut ahead.exits, index as usize) {
                pipe.put_back(exit.not_due.drain(..).map(|(due, bytes)| (due, Packet::of_bytes(bytes))));
                calendar.set(index, pipe.next_event());
                continue;
            }
            let (mut held, lane) = (Vec::new(), &ahead.lanes[index as usize]);
            for &output in lane.all_outputs() {
                let channel = &mut ahead.channels[output as usize];
                let hops = u8::from(output != lane.to_host);
                let back =
                    |(due, packet): (Time, Packet)| (due, Packet { hops: packet.hops - hops, ..packet });
                held.extend(channel.drain().map(back));
                let (count, bytes) = std::mem::take(&mut channel.taken);
                pipe.deliver(count, bytes);
            }
            // Packets of the same instant go to different places, so that their order does not matter.
            held.sort_by_key(|&(due, _)| due);
            pipe.put_back(held.into_iter());
            calendar.set(index, pipe.next_event());
        }
    }

    /// Packets that have left a direction and that its link does not count yet, and their bytes.
    pub(crate) fn taken_ahead(&self, index: usize) -> (u64, u64) {
        let Some(ahead) = self.lookahead.as_ref().filter(|ahead| ahead.active) else { return (0, 0) };
        let taken = ahead.lanes[index].all_outputs().map(|&output| ahead.channels[output as usize].taken);
        taken.fold((0, 0), |all, each| (all.0 + each.0, all.1 + each.1))
    }

    /// Before which instant all that arrives at `host` is known.
    pub fn horizon(&self, host: NodeId) -> Time {
        let Some(ahead) = &self.lookahead else { return Time::ZERO };
        ahead.horizon(&ahead.inboxes[host.0 as usize])
    }

    /// Hands the next packet that arrives at `host` before an instant to `sink`, and says when.
    #[inline]
    pub fn arrive_ahead(&mut self, host: NodeId, before: Time, sink: &mut impl Sink) -> Option<Time> {
        let ahead = self.lookahead.as_mut()?;
        let channel = match ahead.inboxes[host.0 as usize][..] {
            [only] => {
                Some(only).filter(|_| ahead.channels[only as usize].first().is_some_and(|at| at < before))?
            }
            ref several => first(&ahead.channels, several, before)?,
        };
        let from = ahead.channels[channel as usize].from;
        let (due, packet) = ahead.channels[channel as usize].take(before)?;
        self.totals.delivered += 1;
        sink.deliver(host, packet, due, Some(DirectionId(from)));
        Some(due)
    }

    /// `host` has sent all that it sends before `until`. Whether that is later than it was before.
    pub fn acted(&mut self, host: NodeId, until: Time) -> bool {
        let Some(ahead) = &mut self.lookahead else { return false };
        let before = std::mem::replace(&mut ahead.clocks[host.0 as usize], until);
        before < until
    }

    /// Lets every link handle what comes before `limit`, as far as that is known. Returns whether all have come to `limit`, and
    /// whether any has come further.
    pub fn advance_lookahead(&mut self, limit: Time, sink: &mut impl Sink) -> (bool, bool) {
        let Network { directions, totals, lookahead: Some(ahead), .. } = self else { return (true, false) };
        let (mut all, mut any) = (true, false);
        for place in 0..ahead.order.len() {
            let index = ahead.order[place] as usize;
            let Lane { host, inputs, clock, .. } = &ahead.lanes[index];
            let until = match host {
                Some(host) => ahead.clocks[host.0 as usize],
                None => ahead.horizon(inputs),
            };
            let (until, clock) = (until.min(limit), *clock);
            all &= until == limit;
            if until > clock {
                any = true;
                ahead.serve(index, until, &mut directions[index], totals, sink);
            }
        }
        for Exit { direction, not_due } in &mut ahead.exits {
            let clock = ahead.lanes[direction.0 as usize].clock;
            let Line::Pipe(pipe) = &mut directions[direction.0 as usize].link else { continue };
            let gone = not_due.partition_point(|&(due, _)| due < clock);
            let bytes = not_due.drain(..gone).map(|(_, bytes)| u64::from(bytes)).sum();
            pipe.deliver(gone as u64, bytes);
        }
        (all, any)
    }

    /// While links look ahead: no packet that `exit` takes from now on is due before this; `None` if it takes none at all.
    pub(crate) fn exit_horizon_ahead(&self, exit: DirectionId) -> Option<Time> {
        let ahead = self.lookahead.as_ref()?;
        let is_used = !ahead.lanes[exit.0 as usize].inputs.is_empty();
        is_used.then(|| ahead.horizons[exit.0 as usize])
    }

    /// Takes packets that come from another shard.
    pub(crate) fn import_ahead(&mut self, entry: DirectionId, packets: &mut [(Time, Packet)]) {
        let Some(ahead) = &mut self.lookahead else { return };
        let lane = &ahead.lanes[entry.0 as usize];
        if let Some(sole) = ahead.channels.get_mut(lane.sole as usize) {
            let hops = lane.hops_to_sole();
            for (_, packet) in packets.iter_mut() {
                packet.hops += hops;
            }
            return sole.extend(packets);
        }
        for entry in packets.iter() {
            lane.pass_on(&mut ahead.channels, entry);
        }
    }

    /// Takes `packet` from its source host at `now`. Its link handles it when it [goes](Self::advance_lookahead) ahead.
    #[inline(always)]
    pub(crate) fn inject_ahead(&mut self, now: Time, packet: Packet) {
        let Network { routes, totals, lookahead: Some(ahead), .. } = self else { return };
        totals.injected += 1;
        let channel = match ahead.entrances[packet.source.0 as usize] {
            NONE => {
                let Some(direction) = routes.next(packet.source, packet.destination) else { return };
                ahead.lanes[direction.0 as usize].inputs[0]
            }
            sole => sole,
        };
        ahead.channels[channel as usize].push(now, packet);
    }
}

impl Lookahead {
    /// Nothing comes by `entry` from now on that is due before `horizon`.
    pub fn set_horizon(&mut self, entry: DirectionId, horizon: Time) {
        self.horizons[entry.0 as usize] = horizon;
    }

    /// The earliest instant at which a packet that is not known yet may come through these channels.
    #[inline]
    fn horizon(&self, inputs: &[u32]) -> Time {
        let horizons = inputs.iter().map(|&input| {
            let from = self.channels[input as usize].from;
            self.horizons[from as usize]
        });
        horizons.min().unwrap_or(Time::NEVER)
    }
}

impl Lane {
    /// How many routers a packet passes at the far end, if only one channel leads on.
    #[inline]
    fn hops_to_sole(&self) -> u8 {
        u8::from(self.sole != NONE && self.sole != self.to_host)
    }

    /// The channel that packets for `destination` leave through.
    #[inline]
    fn channel_to(&self, destination: NodeId) -> u32 {
        if self.sole == NONE { self.onward.channel(destination) } else { self.sole }
    }

    /// Puts a packet, which arrives at the far end when it is due, where it goes then.
    #[inline]
    fn pass_on(&self, channels: &mut [Channel], entry: &(Time, Packet)) {
        let channel = self.channel_to(entry.1.destination);
        if let Some(onward) = channels.get_mut(channel as usize)
            && let Some((_, packet)) = onward.append(entry)
        {
            packet.hops += u8::from(channel != self.to_host);
        }
    }

    fn all_outputs(&self) -> impl Iterator<Item = &u32> {
        self.outputs.iter().chain([&self.to_host]).filter(|&&output| output != NONE)
    }
}

/// The exit with this index, if the direction is one.
fn exit(exits: &mut [Exit], index: usize) -> Option<&mut Exit> {
    let place = exits.binary_search_by_key(&(index as u32), |exit| exit.direction.0).ok()?;
    exits.get_mut(place)
}

/// Of `inputs`, the one whose first packet comes first and before an instant; at equal instants, the first one.
fn first(channels: &[Channel], inputs: &[u32], before: Time) -> Option<u32> {
    let due = |&&input: &&u32| channels[input as usize].first().unwrap_or(Time::NEVER);
    inputs.iter().min_by_key(due).copied().filter(|input| due(&input) < before)
}
