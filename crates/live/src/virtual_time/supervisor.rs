//! The supervisor of a run on the virtual clock: starts the hosts' kernels, starts and ends their programs at the times of the
//! plan, and writes the records of a live run.

mod commands;
mod pace;
mod records;
mod reports;
mod requests;
mod schedule;
mod sockets;

use super::controller::{Step, TimeController};
use super::frames::Nics;
use super::hosts::{Hosts, LocalHosts, UNIX_NS, kernel_ended, make_directories, nodes_of};
use super::kernels::Kernel;
use super::machines::RemoteHosts;
use super::messages::{LineBuffer, Order, Report};
use crate::clock::monotonic_ns;
use crate::counters::Counters;
use crate::engine::{self, Emulator};
use crate::error::{Error, Result};
use crate::program::ProgramState;
use crate::programs::Snapshot;
use crate::recorder::Recorder;
use crate::run_record::Ending;
use crate::segment;
use crate::supervisor::{ControlConnections, Options};
use commands::AskedCommand;
use longhaul_plan::{Event, Plan, Program};
use longhaul_storage::{Disk, replace_unsynced};
use pace::Pace;
use serde_json::json;
use sockets::SocketRecords;
use std::collections::BTreeMap;
use std::path::Path;

/// The run's zero is at a whole second after its preparations, and not in the first one, in which some programs take a
/// clock of less than a second for none.
const SECOND_NS: u64 = 1_000_000_000;
/// How long hosts may take for what they do themselves, of virtual time.
const HOST_TIMEOUT_NS: u64 = 60_000_000_000;

/// Runs `plan` with the hosts on `kernel`; returns how the run ended.
pub fn supervise(
    plan: &Plan,
    kernel: &Kernel,
    options: &Options,
    control: &mut ControlConnections,
) -> Result<Ending> {
    let began_ns = monotonic_ns();
    let directory = &options.directory;
    let nodes = nodes_of(plan);
    let hosts: Box<dyn Hosts> = if kernel.machines.is_empty() {
        let numbers: Vec<usize> = (0..nodes.len()).collect();
        Box::new(LocalHosts::start(plan, kernel, directory, &numbers, |started| {
            if started % 16 == 0 {
                control.report(&json!({"event": "building", "nodes": started, "of": nodes.len()}));
            }
        })?)
    } else {
        make_directories(directory)?;
        Box::new(RemoteHosts::connect(&kernel.machines, nodes.len(), &directory.join("logs"))?)
    };
    let interfaces: Vec<Vec<usize>> = nodes.iter().map(|&node| plan.interfaces(node).collect()).collect();
    let network = engine::network(plan)?;
    let endpoints = engine::endpoints(plan, &network)?;
    let replays = engine::Replays::load(plan, directory, |_| true)?;
    let recorder = Recorder::start(plan, directory, &Disk)?.without_loss();
    let outside = Nics {
        udp_offload: vec![true; plan.nodes.len()],
        segment_ends: (0..plan.nodes.len()).map(|node| segment::end_of(plan, node)).collect(),
        ..Nics::default()
    };
    // The run's zero is not known yet; records of captures are written once it is.
    let mut emulator = Emulator::new(plan, (network, endpoints), outside, recorder, UNIX_NS);
    emulator.egress.replays = replays;
    emulator.egress.stalls = engine::StallDetector::off();
    let mut run = Supervisor {
        plan,
        directory,
        controller: TimeController::new(emulator, hosts, interfaces, plan.nodes.len()),
        kernel,
        hosts: nodes,
        lines: (0..plan.nodes.len()).map(|_| LineBuffer::default()).collect(),
        programs: plan
            .programs
            .iter()
            .map(|program| ProgramState::new(program, &plan.nodes[program.host].name))
            .collect(),
        states: vec![ProgramProgress::default(); plan.programs.len()],
        booted: 0,
        configured: 0,
        sockets: SocketRecords::open(plan, directory)?,
        counted: BTreeMap::new(),
        commands: Vec::new(),
        waiting_orders: Vec::new(),
        zero_ns: None,
        began_ns,
        snapshot: Snapshot::default(),
        last_message_ns: monotonic_ns(),
        silence_reported: false,
        requests_read_ns: 0,
        repaced: Vec::new(),
        stop: None,
    };
    let outcome = run.run(options.keep, control);
    let ended = run.end(control, outcome.as_ref().map_or("failed", |ending| &ending.status));
    let ended = ended.and(run.controller.hosts.finish(directory));
    let ending = outcome?;
    // The first failure is the reason.
    if ending.is_good() { ended.map(|()| ending) } else { Ok(ending) }
}

/// What is known of a program beside its state.
#[derive(Clone, Copy, Debug, Default)]
struct ProgramProgress {
    /// Whether it was ordered to start.
    ordered: bool,
    runs: bool,
    ready: bool,
    /// When it is killed, on the kernels' clock, if it has been sent SIGTERM.
    kill_at_ns: Option<u64>,
}

struct Supervisor<'a> {
    plan: &'a Plan,
    directory: &'a Path,
    controller: TimeController<'a>,
    kernel: &'a Kernel,
    /// The nodes that are hosts.
    hosts: Vec<usize>,
    lines: Vec<LineBuffer>,
    programs: Vec<ProgramState>,
    states: Vec<ProgramProgress>,
    /// Hosts that have booted, and that are as the plan says.
    booted: usize,
    configured: usize,
    /// Commands that programs of other hosts and users have asked for, by number.
    commands: Vec<AskedCommand>,
    /// Orders to hosts, by node, that wait until all hosts stand still.
    waiting_orders: Vec<(usize, Order)>,
    /// The table of TCP connections, if the plan wants one.
    sockets: Option<SocketRecords>,
    /// What hosts have counted, by node.
    counted: BTreeMap<usize, (Counters, Counters, Option<String>)>,
    zero_ns: Option<u64>,
    /// When the kernels were started, of real time.
    began_ns: u64,
    snapshot: Snapshot,
    /// When hosts last sent a message, of real time.
    last_message_ns: u64,
    silence_reported: bool,
    /// When requests were last read, of real time.
    requests_read_ns: u64,
    /// Requested changes of hosts' pacing.
    repaced: Vec<Event>,
    /// The ending that was requested.
    stop: Option<Ending>,
}

impl Supervisor<'_> {
    fn run(&mut self, keep: bool, control: &mut ControlConnections) -> Result<Ending> {
        let all = self.hosts.len();
        if let Some(ending) = self.wait(HOST_TIMEOUT_NS, "boot", control, |run| run.booted == all)? {
            return Ok(ending);
        }
        for (number, node) in self.hosts.clone().into_iter().enumerate() {
            let file = self.controller.hosts.setup_file(number).to_path_buf();
            self.order(node, &Order::Configure { node, file });
        }
        if let Some(ending) =
            self.wait(HOST_TIMEOUT_NS, "become hosts", control, |run| run.configured == all)?
        {
            return Ok(ending);
        }
        control.report(&json!({"event": "up", "hosts": all, "build_ns": monotonic_ns() - self.began_ns}));
        if let Some(ending) = self.start_services(control)? {
            return Ok(ending);
        }
        self.start_clock(control)?;
        self.run_until_ended(keep, control)
    }

    /// Starts services and the ends of flows that the run plays itself, and waits until they are ready.
    fn start_services(&mut self, control: &mut ControlConnections) -> Result<Option<Ending>> {
        let plan = self.plan;
        let is_early = |program: &Program| program.service || program.plays.is_some();
        // Receivers first, so that no packet arrives before its socket is open.
        let (early, late): (Vec<_>, Vec<_>) = (0..plan.programs.len())
            .filter(|&index| is_early(&plan.programs[index]))
            .partition(|&index| plan.programs[index].service);
        for group in [early, late] {
            for &index in &group {
                self.start(index);
            }
            let have_begun = |run: &Supervisor<'_>| {
                let has_begun =
                    |index: &usize| run.states[*index].runs || !run.programs[*index].is_pending_or_running();
                group.iter().all(has_begun)
            };
            if let Some(ending) = self.wait(HOST_TIMEOUT_NS, "start its services", control, have_begun)? {
                return Ok(Some(ending));
            }
            if let Some(error) = group.iter().find_map(|&index| self.programs[index].error.clone()) {
                return Err(Error::new(error));
            }
        }
        for (index, program) in plan.programs.iter().enumerate() {
            let Some(ready) = &program.ready else { continue };
            let within_ns = ready.within_ns;
            self.order(program.host, &Order::AwaitReady { program: index, within_ns });
            let is_known = |run: &Supervisor<'_>| run.states[index].ready || !run.states[index].runs;
            let limit_ns = within_ns.saturating_add(HOST_TIMEOUT_NS);
            if let Some(ending) = self.wait(limit_ns, "wait for its services", control, is_known)? {
                return Ok(Some(ending));
            }
            if !self.states[index].ready {
                let name = &program.name;
                return Err(Error::new(format!("program {name}: ended before it was ready"))
                    .with_remedy(format!("see logs/{name}.err in {}", self.directory.display())));
            }
        }
        Ok(None)
    }

    fn start_clock(&mut self, control: &mut ControlConnections) -> Result<()> {
        let now_ns = self.controller.now_ns();
        let zero_ns = (now_ns / SECOND_NS + 2) * SECOND_NS;
        for node in self.hosts.clone() {
            self.order(node, &Order::StartClock { after_ns: zero_ns - now_ns });
        }
        self.controller.start_at(zero_ns);
        self.zero_ns = Some(zero_ns);
        let unix_ns = UNIX_NS + zero_ns;
        self.controller.emulator.egress.unix_start_ns = unix_ns;
        for running in &mut self.programs {
            // Services started on the kernels' clock.
            running.shift_times(-(zero_ns as i64));
        }
        let started = json!({"t0_unix_ns": unix_ns});
        let path = self.directory.join("raw/started.json");
        let _ = replace_unsynced(&Disk, &path, started.to_string().as_bytes());
        while self.controller.now_ns() < zero_ns {
            self.turn(zero_ns, control)?;
        }
        control.report(&json!({"event": "started", "t0_unix_ns": unix_ns}));
        Ok(())
    }

    /// The main part of the run; returns why it ended.
    fn run_until_ended(&mut self, keep: bool, control: &mut ControlConnections) -> Result<Ending> {
        let zero_ns = self.zero_ns.unwrap_or_default();
        let mut pace = keep.then(|| Pace::new(self.controller.now_ns(), monotonic_ns()));
        loop {
            let now_ns = self.controller.now_ns();
            self.start_and_stop_due(now_ns - zero_ns);
            self.read_sockets_if_due(now_ns - zero_ns);
            self.snapshot.write(self.directory, &self.programs);
            if let Some(ending) = self.stop.take() {
                return Ok(ending);
            }
            if !keep && let Some(ending) = self.is_over(now_ns - zero_ns) {
                return Ok(ending);
            }
            let mut next_ns = self.next_deadline_ns(keep).saturating_add(zero_ns);
            if let Some(pace) = &mut pace {
                next_ns = next_ns.min(self.wait_for_real_time(pace, next_ns, control));
            }
            if !self.turn(next_ns, control)? {
                let why = "all hosts wait for ever: none has set a timer, and no packet is in the network";
                return Ok(Ending { has_results: true, ..Ending::new("failed", why) });
            }
        }
    }

    /// Waits as long as what happens next, at `deadline_ns` or before, is ahead of the real clock, but not longer
    /// than requests may wait; returns up to when virtual time may go.
    fn wait_for_real_time(&self, pace: &mut Pace, deadline_ns: u64, control: &ControlConnections) -> u64 {
        let now_ns = self.controller.now_ns();
        let ahead_ns =
            self.controller.next_ns().min(deadline_ns).saturating_sub(pace.limit_ns(now_ns, monotonic_ns()));
        if ahead_ns > 0 && !self.controller.is_between_steps() {
            control.wait_for_requests(ahead_ns.min(requests::INTERVAL_NS));
        }
        pace.limit_ns(now_ns, monotonic_ns())
    }

    /// Gives an order to the agent of a node's host, now.
    fn order(&mut self, node: usize, order: &Order) {
        if let Ok(mut line) = serde_json::to_vec(order) {
            line.push(b'\n');
            self.controller.write_console(node, &line);
        }
    }

    /// Lets time pass until `done`, for at most `limit_ns`; returns the ending if the run was stopped meanwhile.
    fn wait(
        &mut self,
        limit_ns: u64,
        what: &str,
        control: &mut ControlConnections,
        done: impl Fn(&Self) -> bool,
    ) -> Result<Option<Ending>> {
        let until_ns = self.controller.now_ns().saturating_add(limit_ns);
        while !done(self) {
            if let Some(ending) = self.stop.take() {
                return Ok(Some(ending));
            }
            if self.controller.now_ns() >= until_ns || !self.turn(until_ns, control)? {
                let seconds = limit_ns / SECOND_NS;
                return Err(Error::new(format!("a host did not {what} within {seconds} s of its own time"))
                    .with_remedy(format!("see logs/*.console in {}", self.directory.display())));
            }
        }
        Ok(None)
    }

    /// Lets time pass to what happens next, but not beyond `until_ns`; false if nothing will ever happen.
    ///
    /// While a user takes none of what a command has written, no time passes.
    fn turn(&mut self, until_ns: u64, control: &mut ControlConnections) -> Result<bool> {
        if control.is_behind() {
            control.wait_for_requests(requests::INTERVAL_NS);
            self.controller.hosts.keep_alive()?;
            self.answer_requests(control);
            return Ok(true);
        }
        let output = match self.controller.step(until_ns)? {
            Step::Deadlock => return Ok(false),
            Step::Silent(hosts) => {
                self.warn_of_silence(&hosts, control);
                Vec::new()
            }
            Step::Console(output) => {
                self.last_message_ns = monotonic_ns();
                self.silence_reported = false;
                self.give_waiting_orders();
                output
            }
        };
        for (at_ns, node, bytes) in output {
            for line in self.lines[node].take(&bytes) {
                match serde_json::from_slice(&line) {
                    Ok(report) => self.handle_report(at_ns, node, report, control)?,
                    // A kernel that panics says so on every console.
                    Err(_) => self.log_console(node, &line),
                }
            }
        }
        for warning in self.controller.emulator.take_warnings() {
            control.warn(warning);
        }
        if self.counted.is_empty()
            && let Some((number, how)) = self.controller.hosts.ended()
        {
            return Err(kernel_ended(&self.plan.nodes[self.hosts[number]].name, &how, self.directory));
        }
        self.answer_requests(control);
        Ok(true)
    }

    fn log_console(&mut self, node: usize, line: &[u8]) {
        if let Some(number) = self.hosts.iter().position(|&host| host == node) {
            self.controller.hosts.log(number, line);
        }
    }
}
