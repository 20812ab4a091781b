//! The emulated WAN: links in series between sub-clusters, without a clock.

use crate::settings::{Settings, Share, Step, mean_rate};
use longhaul_link::{Line, LinkPacket, OfferResult};
use longhaul_network::line;
use longhaul_plan::{Change, Direction, Way};
use longhaul_random::Seed;
use longhaul_units::{Rate, Span, Time};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

pub use longhaul_link::Fate;

/// The owner of a piece: one direction of a connection, or a session of datagrams. The generation distinguishes
/// successive owners of one slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FlowId {
    /// Its slot.
    pub slot: u32,
    /// The number of earlier owners of the slot.
    pub generation: u32,
}

/// Bytes of a flow in the WAN. The bytes themselves stay in the flow's stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its owner.
    pub flow: FlowId,
    /// Its number among the flow's pieces, from 0.
    pub number: u64,
    /// How many bytes.
    pub bytes: u32,
    /// The links that it takes.
    pub route: RouteId,
    /// Which of them it is on.
    step: u16,
    corrupt: bool,
}

/// The links from one sub-cluster to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RouteId(u32);

impl Piece {
    /// A piece before the first link.
    pub fn new(flow: FlowId, number: u64, bytes: u32, route: RouteId) -> Self {
        Piece { flow, number, bytes, route, step: 0, corrupt: false }
    }
}

impl LinkPacket for Piece {
    fn bytes(&self) -> u32 {
        self.bytes
    }

    fn flow(&self) -> u64 {
        let key = u64::from(self.flow.slot) << 32 | u64::from(self.flow.generation);
        key.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23)
    }

    fn corrupt(&mut self, _draw: u64) {
        self.corrupt = true;
    }
}

/// The fate of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The last link delivered it at its due time.
    Delivered(Piece, Time),
    /// So many duplicates were made of it, each of which has an outcome of its own.
    Copied(Piece, u32),
    /// It ended in a link.
    Ended(Piece, Fate, Time),
}

/// All links and the pieces on them.
#[derive(Debug)]
pub struct Wan {
    seed: Seed,
    share: Share,
    /// As they are now, by link; forward and reverse.
    models: Vec<[Direction; 2]>,
    names: Vec<String>,
    paths: HashMap<(usize, usize), Vec<Step>>,
    channels: Vec<Option<Channel>>,
    free_channels: Vec<usize>,
    routes: Vec<Route>,
    free_routes: Vec<u32>,
    shared: HashMap<(usize, usize), RouteId>,
    events: BinaryHeap<Reverse<(Time, usize)>>,
    outcomes: VecDeque<Outcome>,
    /// Channels with blocked flows.
    wanted: Vec<usize>,
    subtract: Span,
    opened: u64,
    past_by_direction: HashMap<(usize, bool), Counts>,
}

/// Counters of one direction of a link, of all connections together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Offered pieces and bytes.
    pub offered: (u64, u64),
    /// Delivered pieces and bytes.
    pub delivered: (u64, u64),
    /// Pieces that the loss model drops.
    pub lost: u64,
    /// Pieces that found the queue full.
    pub overflowed: u64,
    /// Pieces that active queue management dropped.
    pub dropped: u64,
    /// Pieces that found the link down.
    pub down: u64,
    /// Pieces in which a bit was turned over.
    pub corrupted: u64,
    /// Duplicates.
    pub copied: u64,
    /// Pieces that wait or are on the wire.
    pub held: u64,
}

#[derive(Debug)]
struct Channel {
    step: Step,
    line: Line<Piece>,
    /// No input before this.
    clock: Time,
    /// The earliest event of it that is in the heap.
    scheduled: Time,
    /// Flows that wait for room in the queue, in turn.
    blocked: VecDeque<FlowId>,
}

#[derive(Clone, Debug)]
struct Route {
    channels: Vec<usize>,
    owned: bool,
    from: usize,
    to: usize,
}

impl Wan {
    /// The idle WAN of `settings`, which have passed their check.
    pub fn new(settings: &Settings) -> Self {
        Wan {
            seed: Seed::new(settings.seed),
            share: settings.share,
            models: settings.links.iter().map(|link| [link.forward.clone(), link.reverse.clone()]).collect(),
            names: settings.links.iter().map(|link| link.name.clone()).collect(),
            paths: settings.paths.iter().map(|path| ((path.from, path.to), path.steps.clone())).collect(),
            channels: Vec::new(),
            free_channels: Vec::new(),
            routes: Vec::new(),
            free_routes: Vec::new(),
            shared: HashMap::new(),
            events: BinaryHeap::new(),
            outcomes: VecDeque::new(),
            wanted: Vec::new(),
            subtract: Span::from_ns(settings.subtract_ns),
            opened: 0,
            past_by_direction: HashMap::new(),
        }
    }

    /// The route from one sub-cluster to another: one for all, or a new one for each call, as the setting
    /// of sharing says; to be [closed](Self::close) when it is not needed any longer. `None`: there is no path.
    pub fn open(&mut self, from: usize, to: usize) -> Option<RouteId> {
        if self.share == Share::Link
            && let Some(&route) = self.shared.get(&(from, to))
        {
            return Some(route);
        }
        let steps = if from == to { Vec::new() } else { self.paths.get(&(from, to))?.clone() };
        let owned = self.share == Share::Connection;
        let channels = steps.iter().map(|&step| self.channel(step, owned)).collect();
        let route = Route { channels, owned, from, to };
        let id = if let Some(id) = self.free_routes.pop() {
            self.routes[id as usize] = route;
            RouteId(id)
        } else {
            self.routes.push(route);
            RouteId(self.routes.len() as u32 - 1)
        };
        if !owned {
            self.shared.insert((from, to), id);
        }
        Some(id)
    }

    /// A route without links.
    pub fn open_plain(&mut self) -> RouteId {
        let plain = (usize::MAX, usize::MAX);
        *self.shared.entry(plain).or_insert_with(|| {
            self.routes.push(Route { channels: Vec::new(), owned: false, from: plain.0, to: plain.1 });
            RouteId(self.routes.len() as u32 - 1)
        })
    }

    /// Closes a route; pieces that are still on it have no outcome.
    pub fn close(&mut self, route: RouteId) {
        if !self.routes[route.0 as usize].owned {
            return;
        }
        for index in std::mem::take(&mut self.routes[route.0 as usize].channels) {
            if let Some(channel) = self.channels[index].take() {
                let past = self.past_by_direction.entry(key(channel.step)).or_default();
                let counts = Counts::of(&channel.line);
                past.add(&Counts { held: 0, lost: counts.lost + counts.held, ..counts });
                self.free_channels.push(index);
            }
        }
        self.routes[route.0 as usize].owned = false;
        self.free_routes.push(route.0);
    }

    fn channel(&mut self, step: Step, own: bool) -> usize {
        let same = |channel: &Option<Channel>| channel.as_ref().is_some_and(|each| each.step == step);
        if !own && let Some(index) = self.channels.iter().position(same) {
            return index;
        }
        let way = if step.way == Way::Forward { "forward" } else { "reverse" };
        let mut name = format!("{}/{way}", self.names[step.link]);
        if own {
            self.opened += 1;
            name = format!("{name}/{}", self.opened);
        }
        let model = &self.models[step.link][usize::from(step.way == Way::Reverse)];
        let channel = Channel {
            step,
            line: line(model, &self.seed, &name, Span::ZERO),
            clock: Time::ZERO,
            scheduled: Time::NEVER,
            blocked: VecDeque::new(),
        };
        if let Some(index) = self.free_channels.pop() {
            self.channels[index] = Some(channel);
            index
        } else {
            self.channels.push(Some(channel));
            self.channels.len() - 1
        }
    }

    /// Whether a route has no links, so that pieces need not be offered.
    pub fn is_plain(&self, route: RouteId) -> bool {
        self.routes[route.0 as usize].channels.is_empty()
    }

    /// Offers a piece that must not be lost for want of room: `false` means that the queue of its first
    /// link is full, and that [`next_ready`](Self::next_ready) will name the flow when it is its turn.
    pub fn try_offer(&mut self, at: Time, piece: Piece) -> bool {
        self.run(at);
        if let Some(&first) = self.routes[piece.route.0 as usize].channels.first() {
            let Some(channel) = &mut self.channels[first] else { return true };
            let limit = limit_of(&self.models, channel.step);
            if !channel.blocked.is_empty() || !has_room(&channel.line, limit, piece.bytes) {
                self.wait(piece.route, piece.flow);
                return false;
            }
        }
        self.pass(at, piece);
        true
    }

    /// Puts a flow at the end of those that wait for room on a route.
    pub fn wait(&mut self, route: RouteId, flow: FlowId) {
        let Some(&first) = self.routes[route.0 as usize].channels.first() else { return };
        let Some(channel) = &mut self.channels[first] else { return };
        channel.blocked.push_back(flow);
        if !self.wanted.contains(&first) {
            self.wanted.push(first);
        }
        self.schedule(first);
    }

    /// Offers a piece to the first link of its route, or passes it on if there is none.
    pub fn offer(&mut self, at: Time, piece: Piece) {
        self.run(at);
        self.pass(at, piece);
    }

    /// The next blocked flow, if there is room for one piece, which is to be [offered](Self::offer) now.
    pub fn next_ready(&mut self) -> Option<FlowId> {
        let mut at = 0;
        while at < self.wanted.len() {
            let index = self.wanted[at];
            let Some(channel) = self.channels[index].as_mut().filter(|each| !each.blocked.is_empty()) else {
                self.wanted.swap_remove(at);
                continue;
            };
            // The size of the piece is not known yet: half of a queue, or an empty one, has room for any piece.
            if has_room(&channel.line, limit_of(&self.models, channel.step), 0) {
                let flow = channel.blocked.pop_front();
                if channel.blocked.is_empty() {
                    self.wanted.swap_remove(at);
                }
                return flow;
            }
            at += 1;
        }
        None
    }

    /// The next outcome of a piece, in order of time.
    pub fn outcome(&mut self) -> Option<Outcome> {
        self.outcomes.pop_front()
    }

    /// When the next event is due.
    pub fn next_event(&self) -> Time {
        let next = self.events.peek().map_or(Time::NEVER, |Reverse((time, _))| *time);
        Time::from_ps(next.ps().saturating_sub(if next == Time::NEVER { 0 } else { self.subtract.ps() }))
    }

    /// Handles all events that are due by `now`.
    pub fn advance(&mut self, now: Time) {
        self.run(now + self.subtract);
    }

    fn run(&mut self, until: Time) {
        while let Some(&Reverse((time, index))) = self.events.peek()
            && time <= until
        {
            self.events.pop();
            let Some(channel) = self.channels[index].as_mut().filter(|each| each.scheduled == time) else {
                continue;
            };
            channel.scheduled = Time::NEVER;
            let now = time.max(channel.clock);
            channel.clock = now;
            while let Some(channel) = &mut self.channels[index]
                && let Some((piece, due)) = channel.line.take(now)
            {
                if piece.corrupt {
                    self.outcomes.push_back(Outcome::Ended(piece, Fate::Lost, due));
                } else {
                    self.pass(due, Piece { step: piece.step + 1, ..piece });
                }
            }
            if let Some(channel) = &mut self.channels[index] {
                channel.line.settle(now);
            }
            self.collect_ended(index, now);
            self.schedule(index);
        }
    }

    /// Passes a piece to its next link, or delivers it.
    fn pass(&mut self, at: Time, piece: Piece) {
        let channels = &self.routes[piece.route.0 as usize].channels;
        let Some(&index) = channels.get(usize::from(piece.step)) else {
            let due = Time::from_ps(at.ps().saturating_sub(self.subtract.ps()));
            self.outcomes.push_back(Outcome::Delivered(piece, if channels.is_empty() { at } else { due }));
            return;
        };
        let Some(channel) = &mut self.channels[index] else { return };
        let at = at.max(channel.clock);
        channel.clock = at;
        match channel.line.offer(at, piece) {
            OfferResult::Taken { copies: 0 } => {}
            OfferResult::Taken { copies } => self.outcomes.push_back(Outcome::Copied(piece, copies)),
            OfferResult::Ended(fate) => self.outcomes.push_back(Outcome::Ended(piece, fate, at)),
        }
        self.collect_ended(index, at);
        self.schedule(index);
    }

    fn collect_ended(&mut self, index: usize, at: Time) {
        while let Some((piece, fate)) =
            self.channels[index].as_mut().and_then(|each| each.line.drop_pending())
        {
            self.outcomes.push_back(Outcome::Ended(piece, fate, at));
        }
    }

    fn schedule(&mut self, index: usize) {
        let Some(channel) = &mut self.channels[index] else { return };
        let mut next = channel.line.next_event();
        if !channel.blocked.is_empty() {
            next = next.min(channel.line.next_start());
        }
        if next < channel.scheduled {
            channel.scheduled = next;
            self.events.push(Reverse((next, index)));
        }
    }

    /// Changes a link at `now`, in place; the change must have passed its check.
    pub fn change(
        &mut self,
        now: Time,
        link: usize,
        way: Option<Way>,
        route: Option<usize>,
        change: &Change,
    ) {
        self.run(now);
        for each in [Way::Forward, Way::Reverse] {
            if way.is_some_and(|way| way != each) {
                continue;
            }
            if route.is_none() {
                apply(&mut self.models[link][usize::from(each == Way::Reverse)], change);
            }
            let step = Step { link, way: each };
            for index in 0..self.channels.len() {
                let Some(channel) = self.channels[index].as_mut().filter(|channel| channel.step == step)
                else {
                    continue;
                };
                channel.clock = channel.clock.max(now);
                channel.line.change(channel.clock, route, change);
                let at = channel.clock;
                self.collect_ended(index, at);
                self.schedule(index);
            }
        }
    }

    /// Mean round-trip time of a route, after which a lost piece is retransmitted.
    pub fn round_trip(&self, route: RouteId) -> Span {
        let Route { from, to, .. } = self.routes[route.0 as usize];
        let one_way = |from, to| -> u64 {
            let steps = self.paths.get(&(from, to)).map_or(&[][..], Vec::as_slice);
            steps.iter().map(|&step| self.direction(step).mean_delay().ns()).sum()
        };
        Span::from_ns(one_way(from, to) + one_way(to, from))
    }

    /// How long the request to connect along a route and its answer may be under way, losses included.
    pub(crate) fn opening_travel(&self, route: RouteId) -> Span {
        Span::from_ns(OPENING_ROUND_TRIPS * self.round_trip(route).ns())
    }

    /// The rate of a route's slowest link, on average; `None`: no limit.
    pub fn rate(&self, route: RouteId) -> Option<u64> {
        let Route { channels, .. } = &self.routes[route.0 as usize];
        let steps = channels.iter().flat_map(|&index| &self.channels[index]).map(|channel| channel.step);
        steps.filter_map(|step| mean_rate(self.direction(step))).min()
    }

    /// How many bytes of a stream make a piece: a millisecond of the slowest link, within bounds, so that
    /// connections share a link finely, and that a fast link has not too many pieces.
    pub fn piece_bytes(&self, route: RouteId) -> u32 {
        let Route { channels, .. } = &self.routes[route.0 as usize];
        let mut most = u64::from(LARGEST_PIECE);
        if let Some(rate) = self.rate(route) {
            most = (rate / 8_000).clamp(u64::from(SMALLEST_PIECE), most);
        }
        for channel in channels.iter().flat_map(|&index| &self.channels[index]) {
            let model = self.direction(channel.step);
            let half = model.queue.limit_bytes.map_or(u64::MAX, |bytes| bytes / 2);
            let burst = match model.rate {
                longhaul_plan::RateModel::TokenBucket { burst_bytes, .. } => burst_bytes.get(),
                _ => u64::MAX,
            };
            most = most.min(half).min(burst);
        }
        most.max(1) as u32
    }

    /// Bytes that fill a route and its queue: the least buffer of one direction of a connection.
    pub fn fill_bytes(&self, route: RouteId) -> u64 {
        let (least, most) = (256 << 10, 16 << 20);
        let Some(rate) = self.rate(route).and_then(Rate::from_bits_per_s) else { return most };
        let bdp = rate.bytes_in(self.round_trip(route));
        (bdp.saturating_mul(2)).clamp(least, 4 * most)
    }

    fn direction(&self, step: Step) -> &Direction {
        &self.models[step.link][usize::from(step.way == Way::Reverse)]
    }

    /// Counters of each direction of each link: (link, reverse, counts).
    pub fn counts(&self) -> Vec<(usize, bool, Counts)> {
        let mut all = Vec::with_capacity(self.models.len() * 2);
        for link in 0..self.models.len() {
            for reverse in [false, true] {
                let mut sum = self.past_by_direction.get(&(link, reverse)).copied().unwrap_or_default();
                for channel in self.channels.iter().flatten().filter(|each| key(each.step) == (link, reverse))
                {
                    sum.add(&Counts::of(&channel.line));
                }
                all.push((link, reverse, sum));
            }
        }
        all
    }
}

/// Round trips of the WAN that a connection may take to open, losses included, in addition to the time of its ends.
const OPENING_ROUND_TRIPS: u64 = 4;

/// Least and most bytes of a piece of a stream.
const SMALLEST_PIECE: u32 = 1_448;
const LARGEST_PIECE: u32 = 64 << 10;

fn key(step: Step) -> (usize, bool) {
    (step.link, step.way == Way::Reverse)
}

fn limit_of(models: &[[Direction; 2]], step: Step) -> (Option<u64>, Option<u64>) {
    let direction = &models[step.link][usize::from(step.way == Way::Reverse)];
    let route = direction.bundle.as_ref().and_then(|bundle| bundle.routes.first());
    let queue = route.map_or(&direction.queue, |route| &route.queue);
    (queue.limit_packets, queue.limit_bytes)
}

fn has_room(line: &Line<Piece>, limit: (Option<u64>, Option<u64>), bytes: u32) -> bool {
    let (packets, waiting) = line.waiting();
    let fits = |limit: u64| {
        if bytes == 0 { waiting <= limit / 2 } else { waiting + u64::from(bytes) <= limit }
    };
    packets == 0 || (limit.0.is_none_or(|limit| packets < limit) && limit.1.is_none_or(fits))
}

/// A direction's model after a change.
fn apply(model: &mut Direction, change: &Change) {
    let Change {
        up,
        loss,
        queue,
        rate,
        delay,
        reorder,
        duplicate,
        corrupt,
        loss_position,
        framing,
        reordering,
        // A gateway has no super-packets, and no hosts that pace.
        coalesce: _,
        pacing: _,
        present: _,
        reroute: _,
    } = change.clone();
    model.loss_position = loss_position.unwrap_or(model.loss_position);
    model.framing = framing.unwrap_or(model.framing);
    model.reordering = reordering.or(model.reordering.take());
    model.up = up.unwrap_or(model.up);
    model.reorder = reorder.unwrap_or(model.reorder);
    model.duplicate = duplicate.unwrap_or(model.duplicate);
    model.corrupt = corrupt.unwrap_or(model.corrupt);
    if let Some(loss) = loss {
        model.loss = loss;
    }
    if let Some(queue) = queue {
        model.queue = queue;
    }
    if let Some(rate) = rate {
        model.rate = rate;
    }
    if let Some(delay) = delay {
        model.delay = delay;
    }
}

impl Counts {
    fn of(line: &Line<Piece>) -> Self {
        let counters = line.counters();
        Counts {
            offered: (counters.offered_packets, counters.offered_bytes),
            delivered: (counters.delivered_packets, counters.delivered_bytes),
            lost: counters.lost_packets,
            overflowed: counters.overflowed_packets,
            dropped: counters.dropped_packets,
            down: counters.down_packets,
            corrupted: counters.corrupted_packets,
            copied: counters.copied_packets,
            held: line.waiting().0 + line.in_flight(),
        }
    }

    fn add(&mut self, other: &Counts) {
        self.offered = (self.offered.0 + other.offered.0, self.offered.1 + other.offered.1);
        self.delivered = (self.delivered.0 + other.delivered.0, self.delivered.1 + other.delivered.1);
        self.lost += other.lost;
        self.overflowed += other.overflowed;
        self.dropped += other.dropped;
        self.down += other.down;
        self.corrupted += other.corrupted;
        self.copied += other.copied;
        self.held += other.held;
    }
}
