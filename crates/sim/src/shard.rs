use crate::egress::Egress;
use crate::exchange::{Batch, Exchange, Message};
use longhaul_endpoints::Endpoints;
use longhaul_network::{DirectionId, Network, Progress};
use longhaul_units::{Span, Time};
use std::collections::VecDeque;
use std::mem::replace;

/// Windows in a lookahead, the least time that a packet takes between two shards. Without windows, two shards would run in
/// turns: each would run for two lookaheads while the other waits for its horizon.
pub const WINDOWS_PER_LOOKAHEAD: u64 = 2;

/// A part of a simulation: nodes, with the links that leave them and the endpoints on them, or all of them.
pub struct Shard {
    pub network: Network,
    pub endpoints: Endpoints,
    pub egress: Egress,
    pub now: Time,
    /// All events before this instant have been handled.
    pub done_before: Time,
    /// The other shards, if there are any.
    pub exchange: Option<Exchange>,
    exits: Vec<Exit>,
    /// Simulated time between two messages to the others.
    window: Span,
    number: u32,
    /// Empty batches to return, and the shards that they came from.
    to_return: Vec<(u32, Batch)>,
    /// Empty batches to use, those first that the other shards read longest ago.
    free: VecDeque<Batch>,
}

impl Shard {
    /// The whole of a simulation.
    pub fn new(network: Network, endpoints: Endpoints, egress: Egress) -> Self {
        let (now, done_before) = (Time::ZERO, Time::ZERO);
        Shard {
            network,
            endpoints,
            egress,
            now,
            done_before,
            exchange: None,
            exits: Vec::new(),
            window: Span::from_ps(u64::MAX),
            number: 0,
            to_return: Vec::new(),
            free: VecDeque::new(),
        }
    }

    /// Simulated time between two messages, if packets take `lookahead` between shards at least.
    pub fn window(lookahead: Span) -> Span {
        Span::from_ps((lookahead.ps() / WINDOWS_PER_LOOKAHEAD).max(1))
    }

    /// Shard `number` of a simulation; `peers` is the shard that each direction leads to.
    pub fn with_exchange(mut self, number: u32, exchange: Exchange, peers: &[u32], window: Span) -> Self {
        self.number = number;
        self.window = window;
        let exits = self.network.exits();
        let exit = |&direction: &DirectionId| Exit {
            direction,
            peer: peers[direction.0 as usize],
            sent_horizon: Time::ZERO,
        };
        self.exits = exits.iter().map(exit).collect();
        self.egress.batches = exits.iter().map(|&direction| Batch::new(direction)).collect();
        self.exchange = Some(exchange);
        self
    }

    /// Events so far: one for each packet that arrived at a link, and one for each timer.
    pub fn events(&self) -> u64 {
        self.network.totals().hops + self.endpoints.steps()
    }

    /// Handles the events before `limit`, one after the other or with each host and link by its own clock, as far as what
    /// comes from other shards is known.
    pub fn step(&mut self, limit: Time, looks_ahead: bool) -> Progress {
        self.receive();
        let progress = if looks_ahead { self.run_round(limit) } else { self.run_window(limit) };
        if !looks_ahead {
            self.network.announce_departures(self.done_before, &mut self.egress);
        }
        self.send();
        progress
    }

    /// Handles all events before `limit`, with other shards on other threads; returns in how many steps.
    pub fn run(&mut self, limit: Time, looks_ahead: bool) -> u64 {
        let _running = self.exchange.as_ref().map(Exchange::running);
        let mut steps = 0;
        loop {
            steps += 1;
            match self.step(limit, looks_ahead) {
                Progress::Done => return steps,
                Progress::Some => {}
                Progress::None => self.wait(),
            }
        }
    }

    fn run_round(&mut self, limit: Time) -> Progress {
        let window_end = self.next_window_end(limit);
        let Shard { network, endpoints, egress, done_before, .. } = self;
        endpoints.start_lookahead(*done_before, network, egress);
        let progress = endpoints.run_round(window_end, network, egress);
        if progress == Progress::Done { self.end_window(window_end, limit) } else { progress }
    }

    fn run_window(&mut self, limit: Time) -> Progress {
        let window_end = self.next_window_end(limit);
        let before = window_end.min(self.network.entries_horizon());
        if before <= self.done_before && before < limit {
            return Progress::None;
        }
        self.run_by_calendar(before, u64::MAX, false);
        if before == window_end { self.end_window(window_end, limit) } else { Progress::Some }
    }

    fn next_window_end(&self, limit: Time) -> Time {
        let end = self.done_before.ps().saturating_add(self.window.ps());
        limit.min(Time::from_ps(end))
    }

    fn end_window(&mut self, end: Time, limit: Time) -> Progress {
        self.done_before = end;
        self.now = Time::from_ps(end.ps() - 1);
        if end == limit { Progress::Done } else { Progress::Some }
    }

    /// Handles the events before `before` one after the other, until their count reaches `stop`, or all flows are done if
    /// they decide when the run ends.
    pub fn run_by_calendar(&mut self, before: Time, stop: u64, flows_decide: bool) {
        let Shard { network, endpoints, egress, .. } = self;
        let mut next_timer = endpoints.next_event();
        loop {
            let next_packet = network.next_event();
            let next = next_packet.min(next_timer);
            if next >= before {
                self.done_before = before;
                return;
            }
            if next_packet <= next_timer {
                let limit = next_timer.min(Time::from_ps(before.ps() - 1));
                self.now = network.advance_to_delivery(limit, egress);
                endpoints.deliver_arrivals(self.now, network, egress);
            } else {
                self.now = next;
                endpoints.expire(next, network, egress);
            }
            next_timer = endpoints.next_event();
            if network.totals().hops + endpoints.steps() >= stop || flows_decide && endpoints.are_done() {
                return;
            }
        }
    }

    /// Returns to one clock for all hosts and links.
    pub fn stop_lookahead(&mut self) {
        if self.network.lookahead_is_active() {
            self.egress.forget_passed(self.done_before);
        }
        self.endpoints.stop_lookahead(&mut self.network);
    }

    /// Imports what other shards have sent so far.
    pub fn receive(&mut self) {
        while let Some(message) = self.exchange.as_mut().and_then(Exchange::try_receive) {
            self.import(message);
        }
    }

    /// Waits until another shard has sent something.
    fn wait(&mut self) {
        if let Some(message) = self.exchange.as_mut().map(Exchange::receive) {
            self.import(message);
        }
    }

    fn import(&mut self, message: Message) {
        for mut batch in message.batches {
            self.egress.payloads.import(&mut batch.packets, &mut batch.payloads);
            self.network.import(batch.direction, &mut batch.packets);
            batch.packets.clear();
            self.to_return.push((message.from, batch));
        }
        for (entry, horizon) in message.horizons {
            self.network.set_entry_horizon(entry, horizon);
        }
        self.free.extend(message.empty_batches);
    }

    /// Sends the other shards their packets, and from when on more may be due.
    fn send(&mut self) {
        let Some(exchange) = &self.exchange else { return };
        for peer in exchange.peers() {
            let (mut horizons, mut batches) = (Vec::new(), Vec::new());
            for (exit, batch) in
                self.exits.iter_mut().zip(&mut self.egress.batches).filter(|(exit, _)| exit.peer == peer)
            {
                if let Some(horizon) = self.network.exit_horizon(exit.direction, self.done_before)
                    && horizon > exit.sent_horizon
                {
                    exit.sent_horizon = horizon;
                    horizons.push((exit.direction, horizon));
                }
                if !batch.packets.is_empty() {
                    let free = self.free.pop_front().map(|free| Batch { direction: exit.direction, ..free });
                    batches.push(replace(batch, free.unwrap_or_else(|| Batch::new(exit.direction))));
                }
            }
            if !horizons.is_empty() || !batches.is_empty() {
                let empty_batches = self
                    .to_return
                    .extract_if(.., |(from, _)| *from == peer)
                    .map(|(_, batch)| batch)
                    .collect();
                exchange.send(peer, Message { from: self.number, batches, horizons, empty_batches });
            }
        }
    }
}

/// A direction to another shard.
struct Exit {
    direction: DirectionId,
    peer: u32,
    /// The horizon last sent to the other shard.
    sent_horizon: Time,
}
