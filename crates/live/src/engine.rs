//! The engine process: reads packets that hosts send, injects them into the network and writes those that are due.
//!
//! Every arrival and every idle turn releases the packets that are due ("on-demand scheduling", NemC section
//! 3). A late turn changes no later decision, because the network works with due times; it only
//! adds lateness.

mod batches;
mod bridges;
mod captured_links;
mod class_gaps;
mod control;
mod egress;
mod emulator;
mod horizons;
mod idle;
mod joint_flows;
mod own_traffic;
mod ports;
mod real_flows;
mod replays;
mod result;
mod returned;
mod shards;
mod stalls;
mod stations;
mod steps;

pub use control::{Command, Control, Reply};
use egress::Egress;
pub use emulator::{Emulator, network};
pub use horizons::LEAST_THREAD_DELAY;
use joint_flows::OtherEnds;
use own_traffic::OwnTraffic;
use ports::KernelPorts;
pub use ports::{Port, Ports};
pub use replays::Replays;
pub use shards::{engine_status, run_shards};
pub use stalls::StallDetector;
pub use steps::{endpoints, is_of_engine};

use crate::clock::{self, Clock};
use crate::error::{Error, Result};
use crate::packet_pool::Arrival;
use crate::realtime::{self, Budget, Scheduling};
use crate::recorder::Recorder;
use crate::tunnel::{self, Tunnel};
use idle::Idle;
use longhaul_plan::{LinkChange, Plan};
use longhaul_storage::Disk;
use longhaul_units::{Span, Time};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use serde_json::json;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::OnceLock;

/// Most packets read from one port before the other ports are read.
const READS_PER_PORT: usize = 16;
/// Interval between two hand-overs of batched records to the writer thread.
const HAND_OVER_INTERVAL: Span = Span::from_s(1);
/// The epoll token of the control socket; ports have their node's number.
const CONTROL: u64 = u64::MAX;
/// That of the socket to other machines.
const TUNNEL: u64 = u64::MAX - 1;
/// How long datagrams of other machines may take at the end of the run.
const LAST_DATAGRAMS_NS: u64 = 3_000_000_000;
/// Interval at which an engine that has ended looks whether it may close its ports.
const STOP_INTERVAL: std::time::Duration = std::time::Duration::from_millis(2);
/// Interval at which the end is announced again.
const REPEATED_END_NS: u64 = 50_000_000;
/// With less time than this until the next packet is due, the engine does not poll the ports again ...
const POLL_SKIP_NS: u64 = 1_000;
/// ... for at most this long.
const MAX_POLL_SKIP_NS: u64 = 20_000;

/// The file descriptors that the engine's process takes over.
pub struct EnginePorts {
    /// One for each node of the plan; `None` for routers.
    pub ports: Vec<Option<Port>>,
    /// To and from the supervisor.
    pub control: UnixStream,
}

/// Which part of the network an engine has.
pub enum Share<'a> {
    /// All of it.
    Whole,
    /// That of one machine of several.
    Machine(&'a tunnel::Settings),
    /// That of one shard of this process.
    Shard {
        /// Its number.
        own: u32,
        /// The shard of each node.
        partition: &'a [u32],
        /// The run directory.
        run_directory: &'a Path,
        /// To the others.
        tunnel: Box<Tunnel>,
        /// Unix time of the run's start, which all shards must have in common: the first one that starts decides it.
        unix_start_ns: &'a OnceLock<u64>,
        /// Its share of the traffic that the engine has itself, if there is any.
        traffic: Option<Box<OwnTraffic>>,
    },
}

/// Runs the network, or a share of it, until the supervisor sends [`Command::Stop`], and writes `raw/engine.json`.
pub fn run(plan: &Plan, ports: EnginePorts, directory: &Path, share: Share<'_>) -> Result<()> {
    let mut network = network(plan)?;
    let (number, is_machine, stays_up) = match &share {
        Share::Whole => (0, false, false),
        Share::Machine(machines) => (machines.engine_number, true, machines.stays_up),
        Share::Shard { own, .. } => (*own as usize, false, false),
    };
    let common_start_ns = match &share {
        Share::Shard { unix_start_ns, .. } => Some(*unix_start_ns),
        _ => None,
    };
    let (mut own_traffic, mut replays) = (None, None);
    let mut tunnel: Option<Box<Tunnel>> = match share {
        Share::Whole => None,
        Share::Machine(machines) => {
            own_traffic = OwnTraffic::of_machine(plan, machines)?;
            let own_captures = Replays::load(plan, directory, |node| machines.owns(node))?;
            replays = Some(own_captures.divided(plan, &network));
            network = network.live_shard(plan, &machines.partition, machines.own)?;
            network.monitor(plan);
            Some(Box::new(Tunnel::new(plan, machines)?))
        }
        Share::Shard { own, partition, run_directory, tunnel, traffic, .. } => {
            let own_captures = Replays::load(plan, run_directory, |node| partition[node] == own)?;
            replays = Some(own_captures.divided(plan, &network));
            network = network.live_shard(plan, partition, own)?;
            network.monitor(plan);
            own_traffic = traffic;
            Some(tunnel)
        }
    };
    let (endpoints, divided) = match own_traffic.map(|own| *own) {
        Some(OwnTraffic { endpoints, senders, horizons, other_ends }) => {
            (endpoints, Some((senders, horizons, other_ends)))
        }
        None => (endpoints(plan, &network)?, None),
    };
    let replays = replays.map_or_else(|| Replays::load(plan, directory, |_| true), Ok)?;
    let recorder = Recorder::start(plan, directory, &Disk)?;
    let scheduling = realtime::claim(number);
    let mut control = Control::new(ports.control);
    control.reply(&Reply::Ready {})?;
    let start = match &mut tunnel {
        Some(tunnel) if is_machine => control.wait_for_joint_start(tunnel)?,
        _ => control.wait_for_start()?,
    };
    let Some(clock) = start else { return Ok(()) };
    let outside = KernelPorts::new(ports.ports, clock);
    let unix_start_ns = || clock.unix_start_ns();
    let unix_start_ns =
        common_start_ns.map_or_else(unix_start_ns, |decided| *decided.get_or_init(unix_start_ns));
    let bridged = outside.bridged_devices().collect();
    let mut emulator = Emulator::new(plan, (network, endpoints), outside, recorder, unix_start_ns);
    if let Some((senders, horizons, other_ends)) = divided {
        emulator.egress.senders = senders;
        emulator.horizon = if horizons.is_some() { Time::ZERO } else { Time::NEVER };
        (emulator.horizons, emulator.other_ends) = (horizons, other_ends);
    }
    emulator.egress.replays = replays;
    emulator.bridges.devices = bridged;
    emulator.egress.tunnel = tunnel;
    let mut engine = Engine::new(emulator, scheduling, control)?;
    if is_machine {
        // All machines end at the same time, so that each packet is counted once.
        let duration_ns = plan.duration_ns.filter(|_| !stays_up);
        engine.end = duration_ns.map_or(Time::NEVER, Time::from_ns);
    }
    let outcome = engine.run_until_stopped();
    let finished = engine.finish(directory, outcome.as_ref().err());
    if is_machine && outcome.is_ok() {
        engine.wait_for_stop()?;
    }
    let Engine { emulator: Emulator { endpoints, other_ends, .. }, control, .. } = engine;
    if let OtherEnds::OnThreads(joint) = other_ends {
        joint.end(endpoints);
    }
    outcome.and(finished)?;
    if control.hung_up {
        Err(Error::crash("the control connection to the supervisor was closed"))
    } else {
        Ok(())
    }
}

/// Drives the emulator as the machine's time passes.
struct Engine<'a> {
    emulator: Emulator<'a, KernelPorts>,
    epoll: Epoll,
    control: Control,
    idle: Idle,
    budget: Budget,
    scheduling: Scheduling,
    /// When batched records are next handed to the writer thread.
    next_hand_over: Time,
    /// Whether the completion of all finite simulated flows and jobs has been reported to the supervisor.
    completion_reported: bool,
    /// When the ports were last polled.
    polled_ns: u64,
    stopped: bool,
    /// When the run ends, if that is known before; nothing happens in the network later.
    end: Time,
    /// Whether the supervisor has asked for that end.
    ends_jointly: bool,
    /// Whether the supervisor needs the engine no more.
    may_stop: bool,
    steal_before: Option<u64>,
}

impl<'a> Engine<'a> {
    fn new(
        emulator: Emulator<'a, KernelPorts>,
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
        for (node, fd) in emulator.egress.outside.fds() {
            watch(fd, node as u64)?;
        }
        watch(control.fd(), CONTROL)?;
        if let Some(tunnel) = &emulator.egress.tunnel {
            watch(tunnel.fd(), TUNNEL)?;
        }
        let idle = Idle::new(&scheduling);
        scheduling.spin = idle.policy().into();
        scheduling.lead_ns = idle.lead_ns();
        let budget = Budget::new(scheduling.policy == "fifo", emulator.egress.outside.clock.ns());
        Ok(Engine {
            emulator,
            epoll,
            control,
            idle,
            budget,
            scheduling,
            next_hand_over: Time::ZERO + HAND_OVER_INTERVAL,
            completion_reported: false,
            polled_ns: 0,
            stopped: false,
            end: Time::NEVER,
            ends_jointly: false,
            may_stop: false,
            steal_before: stolen_ns(),
        })
    }

    fn clock(&self) -> Clock {
        self.emulator.egress.outside.clock
    }

    /// What time it is in the network.
    fn now(&self) -> Time {
        self.clock().now().min(self.end)
    }

    fn run_until_stopped(&mut self) -> Result<()> {
        let clock = self.clock();
        let mut events = [EpollEvent::empty(); 64];
        while !self.stopped {
            let now = clock.now();
            if now >= self.end {
                return self.end_jointly();
            }
            // While it has not caught up, the engine accepts only commands.
            let caught_up = self.emulator.catch_up(now);
            if caught_up {
                self.read_replies();
            }
            self.emulator.publish();
            // What left just now must not wait while the engine sleeps.
            self.tunnel_turn()?;
            self.emulator.sample_if_due(now);
            if now >= self.next_hand_over {
                self.next_hand_over = now + HAND_OVER_INTERVAL;
                self.emulator.egress.recorder.hand_over();
            }
            self.report()?;
            let mut slept_ns = 0;
            if caught_up {
                let (next, precise) = self.emulator.next_due();
                let now = clock.now();
                let publication = self.emulator.next_publication();
                let precise = precise && next <= publication;
                let next = next.min(publication);
                let ahead_ns = next.min(self.end).min(self.next_tunnel_turn()).since(now).ns();
                if ahead_ns < POLL_SKIP_NS && now.ns() < self.polled_ns + MAX_POLL_SKIP_NS {
                    std::hint::spin_loop();
                    self.budget.spend(clock.ns(), 0);
                    continue;
                }
                let stalls = &mut self.emulator.egress.stalls;
                slept_ns = self.idle.pause(&self.epoll, clock, (ahead_ns, precise), stalls);
            } else if self.emulator.is_blocked(now) {
                slept_ns = Idle::wait_for_engines(clock, &mut self.emulator.egress.stalls);
            }
            self.polled_ns = clock.ns();
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
                    TUNNEL => self.read_tunnel(),
                    port if caught_up => self.read_port(port as usize),
                    _ => {}
                }
            }
            if ready > 0 {
                self.idle.record_arrival(clock.ns());
            }
        }
        Ok(())
    }

    /// Hosts often reply within the write that delivers a packet to them (echo replies, ACKs):
    /// reading them at once saves a call of epoll.
    fn read_replies(&mut self) {
        while let Some(node) = self.emulator.egress.written_to.pop() {
            self.read_port(node);
        }
    }

    fn read_port(&mut self, node: usize) {
        for _ in 0..READS_PER_PORT {
            if !self.emulator.has_caught_up() {
                return;
            }
            let Egress { outside, packet_pool, ports, .. } = &mut self.emulator.egress;
            match packet_pool.read(|buffer| outside.read(node, buffer)) {
                Ok(Arrival::Packet { body }) => self.inject(node, body),
                Ok(Arrival::Malformed) => ports[node].ignored_packets += 1,
                Ok(Arrival::NoMemory) => ports[node].no_memory_packets += 1,
                Ok(Arrival::Nothing) => return,
                Err(_) => {
                    ports[node].read_failed += 1;
                    return;
                }
            }
        }
    }

    fn inject(&mut self, node: usize, body: u32) {
        let now = self.now();
        self.emulator.egress.stalls.work(now.ns());
        self.emulator.advance(now);
        self.emulator.inject(now, node, body);
    }

    /// Reports problems, and once that all finite simulated flows and jobs have completed, to the supervisor.
    fn report(&mut self) -> Result<()> {
        for message in self.emulator.take_warnings() {
            // A supervisor that does not receive it finds the failure in the result.
            let _ = self.control.reply(&Reply::Warning { message });
        }
        let done = self.emulator.has_endpoints() && self.emulator.endpoints_are_done();
        if self.completion_reported || !done {
            return Ok(());
        }
        self.completion_reported = true;
        self.control.reply(&Reply::Done {})
    }

    fn handle_commands(&mut self) -> Result<()> {
        for command in self.control.commands()? {
            match command {
                Command::Start { .. } | Command::Follow {} => {}
                // All shards end together, a moment later.
                Command::Stop {} => {
                    self.may_stop = true;
                    self.stopped = !self.ends_jointly;
                }
                Command::StopAt { at_ns } => {
                    self.ends_jointly = true;
                    self.end = self.end.min(Time::from_ns(at_ns)).max(self.emulator.advanced);
                }
                Command::Change { changes, cause, at_ns } => {
                    let now = self.now();
                    self.emulator.advance(now);
                    let at_ns = at_ns.map_or(now.ns(), |at_ns| at_ns.max(now.ns()));
                    let at = |each: LinkChange| each.at(at_ns, Some(cause.clone()));
                    self.emulator.request(changes.into_iter().map(at).collect());
                    self.emulator.advance(now);
                    self.control.reply(&Reply::Changed { at_ns })?;
                }
                Command::Capture { link, snaplen, limit_bytes } => {
                    let begun = self.emulator.begin_capture(link, snaplen, limit_bytes);
                    self.control.reply(&begun)?;
                }
                Command::EndCapture { link } => {
                    self.emulator.end_capture(link);
                    self.control.reply(&Reply::CaptureEnded {})?;
                }
                Command::Status {} => {
                    let status = self.emulator.status();
                    self.control.reply(&status)?;
                }
            }
        }
        Ok(())
    }

    /// Sends what has gathered for other machines, and asks for their time if it is time to.
    fn tunnel_turn(&mut self) -> Result<()> {
        match &mut self.emulator.egress.tunnel {
            Some(tunnel) => {
                tunnel.flush();
                tunnel.turn(clock::monotonic_ns())
            }
            None => Ok(()),
        }
    }

    fn next_tunnel_turn(&self) -> Time {
        let start_ns = self.clock().start_ns();
        let next_ns = self.emulator.egress.tunnel.as_ref().and_then(|tunnel| tunnel.next_turn_ns());
        next_ns.map_or(Time::NEVER, |next_ns| Time::from_ns(next_ns.saturating_sub(start_ns)))
    }

    fn read_tunnel(&mut self) {
        let now = self.now();
        self.emulator.egress.stalls.work(now.ns());
        if !self.emulator.has_endpoints() {
            self.emulator.advance(now);
        }
        self.emulator.receive_from_machines(now);
    }

    /// Ends at the time at which all machines do: with what others have sent until then, and without anything later.
    fn end_jointly(&mut self) -> Result<()> {
        let end = self.end;
        self.emulator.advance(end);
        self.emulator.publish();
        self.emulator.egress.outside.ended = Some(end);
        self.emulator.has_ended = true;
        let Some(tunnel) = &mut self.emulator.egress.tunnel else { return Ok(()) };
        tunnel.announce_end();
        let deadline_ns = clock::monotonic_ns() + LAST_DATAGRAMS_NS;
        let mut announced_ns = clock::monotonic_ns();
        loop {
            let now_ns = clock::monotonic_ns();
            self.emulator.receive_from_machines(end);
            let Some(tunnel) = &mut self.emulator.egress.tunnel else { return Ok(()) };
            let is_complete = tunnel.is_complete();
            if now_ns > deadline_ns {
                return Ok(());
            }
            if now_ns > announced_ns + REPEATED_END_NS {
                // The first one may have been lost, and others may still need it.
                tunnel.announce_end();
                announced_ns = now_ns;
                if is_complete {
                    return Ok(());
                }
            }
            std::thread::sleep(std::time::Duration::from_micros(200));
        }
    }

    /// One of several machines ends by itself: its ports stay open until programs have ended and the drops of hosts were counted, since
    /// what a host sends to a closed port counts as one.
    fn wait_for_stop(&mut self) -> Result<()> {
        while !self.may_stop && !self.control.hung_up {
            std::thread::sleep(STOP_INTERVAL);
            self.handle_commands()?;
        }
        Ok(())
    }

    /// Writes the last samples and `raw/engine.json`.
    fn finish(&mut self, directory: &Path, failure: Option<&Error>) -> Result<()> {
        let steal = stolen_ns().zip(self.steal_before).map(|(after, before)| after.saturating_sub(before));
        let now_ns = clock::monotonic_ns();
        let tunnel = self.emulator.egress.tunnel.as_ref().map(|tunnel| tunnel.results(now_ns));
        let arriving = self.emulator.network.arriving();
        let leaving = self.emulator.network.leaving();
        let clock = [
            ("tunnel", json!(tunnel)),
            ("arriving_packets", json!(arriving)),
            ("leaving_packets", json!(leaving)),
            ("steal_ns", json!(steal)),
            ("scheduling", json!(self.scheduling)),
            ("step_downs", json!(self.budget.step_downs)),
            ("gaps", json!(self.emulator.egress.stalls.stalls)),
            ("work", json!(self.emulator.egress.stalls.work)),
        ];
        let finished = self.emulator.finish(directory, failure, clock);
        let _ = self.report();
        finished
    }
}

/// CPU time that the hypervisor gave to other guests, over all CPUs (`steal` of /proc/stat).
fn stolen_ns() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/stat").ok()?;
    let ticks: u64 = text.lines().next()?.split_whitespace().nth(8)?.parse().ok()?;
    // USER_HZ is 100 on every architecture that we run on.
    Some(ticks * 10_000_000)
}

/// Whether a node of the plan has a port.
pub fn has_port(plan: &Plan, node: usize) -> bool {
    plan.nodes[node].kind.is_end()
}
