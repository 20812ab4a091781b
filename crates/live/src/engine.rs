//! The engine process: reads packets that hosts send, injects them into the network and writes those that are due.
//!
//! Every arrival and every idle turn releases the packets that are due ("on-demand scheduling", NemC section
//! 3). A late turn changes no later decision, because the network works with due times; it only
//! adds lateness.

mod batches;
mod class_gaps;
mod control;
mod egress;
mod idle;
mod real_flows;
mod result;
mod stalls;
mod steps;

pub use control::{Command, Control, Reply};
use egress::Egress;

use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::packet_pool::{Arrival, PacketPool};
use crate::realtime::{self, Budget, Scheduling};
use crate::recorder::Recorder;
use crate::tun::Tun;
use idle::Idle;
use longhaul_endpoints::Endpoints;
use longhaul_network::journal::Entry;
use longhaul_network::{DirectionId, Flags, Network, NodeId, Packet, icmp, results};
use longhaul_plan::{Event, LinkChange, NodeKind, Plan, Way};
use longhaul_record::Distribution;
use longhaul_storage::Disk;
use longhaul_units::{Span, Time};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use serde_json::Value;
use std::os::unix::net::UnixStream;
use std::path::Path;

/// Most packets read from one port before the other ports are read.
const READS_PER_PORT: usize = 16;
/// Interval between two hand-overs of batched records to the writer thread.
const HAND_OVER_INTERVAL: Span = Span::from_s(1);
/// The epoll token of the control socket; ports have their node's number.
const CONTROL: u64 = u64::MAX;
/// With less time than this until the next packet is due, the engine does not poll the ports again ...
const POLL_SKIP_NS: u64 = 1_000;
/// ... for at most this long.
const MAX_POLL_SKIP_NS: u64 = 20_000;

/// The file descriptors that the engine's process takes over.
pub struct Ports {
    /// One for each node of the plan; `None` for routers.
    pub tuns: Vec<Option<Tun>>,
    /// To and from the supervisor.
    pub control: UnixStream,
}

/// Runs the network until the supervisor sends [`Command::Stop`], and writes `raw/engine.json`.
pub fn run(plan: &Plan, ports: Ports, directory: &Path) -> Result<()> {
    let mut network = Network::new(plan)?;
    network.complete_routes();
    for &link in plan.measure.packet_links.iter().chain(&plan.measure.captures) {
        network.tap(link);
    }
    network.monitor(plan);
    let endpoints = steps::endpoints(plan, &network)?;
    let senders = endpoints.senders();
    let recorder = Recorder::start(plan, directory, &Disk)?;
    let scheduling = realtime::claim();
    let mut control = Control::new(ports.control);
    control.reply(&Reply::Ready {})?;
    let Some(clock) = control.wait_for_start()? else { return Ok(()) };
    let mut engine =
        Engine::new(plan, (network, endpoints), ports.tuns, recorder, clock, scheduling, control)?;
    engine.egress.senders = senders;
    let outcome = engine.run_until_stopped();
    let finished = engine.finish(directory, outcome.as_ref().err());
    outcome.and(finished)?;
    if engine.control.hung_up {
        Err(Error::crash("the control connection to the supervisor was closed"))
    } else {
        Ok(())
    }
}

struct Engine<'a> {
    plan: &'a Plan,
    network: Network,
    endpoints: Endpoints,
    egress: Egress,
    clock: Clock,
    epoll: Epoll,
    control: Control,
    idle: Idle,
    budget: Budget,
    scheduling: Scheduling,
    /// The next of the plan's events.
    next_change: usize,
    next_sample: Time,
    /// When batched records are next handed to the writer thread.
    next_hand_over: Time,
    /// The time up to which all due events have been processed.
    advanced: Time,
    /// When closed simulated connections are next reaped.
    next_reap: Time,
    /// Lateness of events of simulated endpoints.
    endpoint_lateness: Distribution,
    /// Time at which simulated endpoints were last polled.
    last_endpoint_poll: Time,
    /// Whether the completion of all finite simulated flows and jobs has been reported to the supervisor.
    completion_reported: bool,
    /// When the ports were last polled.
    polled_ns: u64,
    stopped: bool,
    steal_before: Option<u64>,
}

impl<'a> Engine<'a> {
    fn new(
        plan: &'a Plan,
        (network, endpoints): (Network, Endpoints),
        tuns: Vec<Option<Tun>>,
        recorder: Recorder,
        clock: Clock,
        mut scheduling: Scheduling,
        control: Control,
    ) -> Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)
            .map_err(|error| Error::wrap("create an epoll instance", error))?;
        let watch = |fd: std::os::fd::BorrowedFd<'_>, token| {
            epoll
                .add(fd, EpollEvent::new(EpollFlags::EPOLLIN, token))
                .map_err(|error| Error::wrap("watch a port", error))
        };
        for (node, tun) in tuns.iter().enumerate() {
            if let Some(tun) = tun {
                watch(std::os::fd::AsFd::as_fd(tun), node as u64)?;
            }
        }
        watch(control.fd(), CONTROL)?;
        let idle = Idle::new(&scheduling);
        scheduling.spin = idle.policy().into();
        scheduling.lead_ns = idle.lead_ns();
        let budget = Budget::new(scheduling.policy == "fifo", clock.ns());
        let egress = Egress::new(plan, tuns, PacketPool::new(memory_limit()), recorder, clock);
        Ok(Engine {
            plan,
            network,
            endpoints,
            egress,
            clock,
            epoll,
            control,
            idle,
            budget,
            scheduling,
            next_change: 0,
            next_sample: Time::ZERO,
            next_hand_over: Time::ZERO + HAND_OVER_INTERVAL,
            advanced: Time::ZERO,
            next_reap: Time::ZERO + steps::REAP_INTERVAL,
            endpoint_lateness: Distribution::new(),
            last_endpoint_poll: Time::ZERO,
            completion_reported: false,
            polled_ns: 0,
            stopped: false,
            steal_before: result::stolen_ns(),
        })
    }

    fn run_until_stopped(&mut self) -> Result<()> {
        let mut events = [EpollEvent::empty(); 64];
        while !self.stopped {
            let now = self.clock.now();
            // While it has not caught up, the engine accepts only commands.
            let caught_up = self.catch_up(now);
            if caught_up {
                self.read_replies();
            }
            if now >= self.next_sample {
                self.sample(now);
            }
            if now >= self.next_hand_over {
                self.next_hand_over = now + HAND_OVER_INTERVAL;
                self.egress.recorder.hand_over();
            }
            self.report_completion()?;
            let mut slept_ns = 0;
            if caught_up {
                let (next, precise) = self.next_due();
                let clock = self.clock.now();
                let ahead_ns = next.since(clock).ns();
                if ahead_ns < POLL_SKIP_NS && clock.ns() < self.polled_ns + MAX_POLL_SKIP_NS {
                    std::hint::spin_loop();
                    self.budget.spend(self.clock.ns(), 0);
                    continue;
                }
                let stalls = &mut self.egress.stalls;
                slept_ns = self.idle.pause(&self.epoll, self.clock, (ahead_ns, precise), stalls);
            }
            self.polled_ns = self.clock.ns();
            self.budget.spend(self.polled_ns, slept_ns);
            self.idle.short_of_budget = self.budget.is_short();
            let ready = self
                .epoll
                .wait(&mut events, EpollTimeout::ZERO)
                .or_else(|error| if error == nix::errno::Errno::EINTR { Ok(0) } else { Err(error) })
                .map_err(|error| Error::wrap("wait for packets", error))?;
            for event in &events[..ready] {
                match event.data() {
                    CONTROL => self.handle_commands()?,
                    port if caught_up => self.read_port(port as usize),
                    _ => {}
                }
            }
            if ready > 0 {
                self.idle.record_arrival(self.clock.ns());
            }
        }
        Ok(())
    }

    /// Changes links, all at the time of the first, and records the changes at once.
    fn change(&mut self, events: &[Event]) {
        let rows: Vec<Value> = events.iter().map(|event| self.apply_link_change(event)).collect();
        self.egress.recorder.changes(&rows);
        self.egress.flush();
        let Some(at) = events.first().map(|event| Time::from_ns(event.at_ns)) else { return };
        self.endpoints.deliver_arrivals(at, &mut self.network, &mut self.egress);
    }

    /// Applies one change and returns its row of the records.
    fn apply_link_change(&mut self, event: &Event) -> Value {
        let at = Time::from_ns(event.at_ns);
        let mut before = Vec::with_capacity(2);
        for way in [Way::Forward, Way::Reverse] {
            if event.direction.is_some_and(|only| only != way) {
                continue;
            }
            let direction = DirectionId::new(event.link, way);
            self.egress.recorder.note(|| Entry::Changed {
                at,
                direction,
                route: event.route,
                change: Box::new(event.change.clone()),
            });
            let counted = self.network.change(at, direction, event.route, &event.change, &mut self.egress);
            before.push((way, counted));
        }
        results::applied(event, &before)
    }

    /// Hosts often reply within the write that delivers a packet to them (echo replies, ACKs):
    /// reading them at once saves a call of epoll.
    fn read_replies(&mut self) {
        while let Some(node) = self.egress.written_to.pop() {
            self.read_port(node);
        }
    }

    fn read_port(&mut self, node: usize) {
        for _ in 0..READS_PER_PORT {
            if !self.has_caught_up() {
                return;
            }
            match self.egress.read(node) {
                Ok(Arrival::Packet { body }) => self.inject(node, body),
                Ok(Arrival::Malformed) => self.egress.ports[node].ignored_packets += 1,
                Ok(Arrival::NoMemory) => self.egress.ports[node].no_memory_packets += 1,
                Ok(Arrival::Nothing) => return,
                Err(_) => {
                    self.egress.ports[node].read_failed += 1;
                    return;
                }
            }
        }
    }

    fn inject(&mut self, node: usize, body: u32) {
        let now = self.clock.now();
        self.egress.stalls.work(now.ns());
        self.advance(now);
        let bytes = self.egress.packet_pool.packet(body);
        let shape = self.egress.packet_pool.shape(body);
        let length = bytes.len();
        let segments = shape.segments(length);
        let Some(header) = icmp::parse(bytes) else {
            self.egress.packet_pool.release(body, segments);
            self.egress.ports[node].ignored_packets += 1;
            return;
        };
        if is_local(header.destination) {
            self.egress.packet_pool.release(body, segments);
            self.egress.ports[node].ignored_packets += 1;
            return;
        }
        self.egress.ports[node].read_packets += u64::from(segments);
        let source = NodeId(node as u32);
        self.egress.flows.sent(now, source, &header, bytes, segments);
        let destination = self.network.node_at(header.destination).or(self.gateway(node));
        let mut flags = Flags::empty();
        flags.set(Flags::V6, header.version == 6);
        flags.set(Flags::DONT_FRAGMENT, header.dont_fragment);
        flags.set(Flags::NO_REPLY, header.no_reply);
        flags.set(Flags::ECHO_REQUEST, header.echo_request);
        let mut packet = Packet {
            body,
            segment: 0,
            segments: segments as u16,
            bytes: 0,
            source,
            destination: destination.unwrap_or(source),
            ttl: header.ttl,
            hops: 0,
            flags,
            class: header.class,
            flow: header.flow,
            damage: 0,
            offered: now,
        };
        self.egress.real_packets += u64::from(segments);
        for segment in 0..segments {
            packet.segment = segment as u16;
            packet.bytes = shape.segment_bytes(length, segment);
            let routable = destination.is_some();
            self.egress.recorder.note(|| Entry::Injected { packet, routable });
            match destination {
                Some(_) => self.network.inject(now, packet, &mut self.egress),
                None => self.network.inject_unroutable(now, packet, &mut self.egress),
            }
        }
        self.egress.flush();
        self.endpoints.deliver_arrivals(now, &mut self.network, &mut self.egress);
    }

    /// The gateway for packets from `node` to addresses outside the scenario.
    fn gateway(&self, node: usize) -> Option<NodeId> {
        self.plan.gateway.filter(|&gateway| gateway != node).map(|gateway| NodeId(gateway as u32))
    }

    fn handle_commands(&mut self) -> Result<()> {
        for command in self.control.commands()? {
            match command {
                Command::Start { .. } => {}
                Command::Stop {} => self.stopped = true,
                Command::Change { changes, cause } => {
                    let now = self.clock.now();
                    self.advance(now);
                    let at = |each: LinkChange| each.at(now.ns(), Some(cause.clone()));
                    self.change(&changes.into_iter().map(at).collect::<Vec<_>>());
                    self.control.reply(&Reply::Changed { at_ns: now.ns() })?;
                }
                Command::Status {} => {
                    let status = self.status();
                    self.control.reply(&status)?;
                }
            }
        }
        Ok(())
    }
}

/// Whether the destination is multicast, broadcast or link-local: routers do not forward it.
fn is_local(destination: std::net::IpAddr) -> bool {
    match destination {
        std::net::IpAddr::V4(address) => {
            address.is_multicast() || address.is_broadcast() || address.is_link_local()
        }
        std::net::IpAddr::V6(address) => address.is_multicast() || address.is_unicast_link_local(),
    }
}

/// Half of the available memory: beyond it, packets are dropped and counted.
fn memory_limit() -> usize {
    let available = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
        line.split_whitespace().nth(1)?.parse::<usize>().ok()
    });
    available.map_or(1 << 30, |kib| kib * 1024 / 2)
}

/// Whether a node of the plan has a port.
pub fn has_port(plan: &Plan, node: usize) -> bool {
    plan.nodes[node].kind == NodeKind::Host
}
