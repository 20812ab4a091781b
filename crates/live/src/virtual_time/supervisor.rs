//! The supervisor of a run on the virtual clock: starts the hosts' kernels, starts and ends their programs at the times of the
//! plan, and writes the records of a live run.

use super::clockwork::{Clockwork, Step};
use super::frames::{Cards, address};
use super::kernels::{Kernel, Kernels};
use super::messages::{Lines, Order, Report, Setup};
use crate::clock::monotonic_ns;
use crate::counters::Counters;
use crate::engine::{self, Emulator, Reply};
use crate::error::{Error, Result};
use crate::program::{GRACE_NS, ProgramState};
use crate::recorder::Recorder;
use crate::run_record::Ending;
use crate::supervisor::{ControlConnections, Options, Request, environment, stopped};
use longhaul_plan::{Cause, Event, LinkChange, NodeKind, Plan, Program};
use longhaul_storage::{Disk, replace, replace_unsynced};
use longhaul_virtual::{Guests, NetConfig};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Unix time of the moment at which the kernels boot: 2026-01-01, so that programs see the same dates in every run.
const UNIX_NS: u64 = 1_767_225_600_000_000_000;
/// The run's zero is at a whole second after its preparations, and not in the first one, in which some programs take a
/// clock of less than a second for none.
const SECOND_NS: u64 = 1_000_000_000;
/// How long kernels may take to be there, of real time.
const ARRIVAL_TIMEOUT: Duration = Duration::from_secs(60);
/// How long hosts may take for what they do themselves, of virtual time.
const HOST_TIMEOUT_NS: u64 = 60_000_000_000;
/// Least real time between two writes of the programs' states, and between two looks at requests.
const SNAPSHOT_INTERVAL_NS: u64 = 1_000_000_000;
const REQUEST_INTERVAL_NS: u64 = 20_000_000;

/// Runs `plan` with the hosts on `kernel`; returns how the run ended.
pub fn supervise(
    plan: &Plan,
    kernel: &Kernel,
    options: &Options,
    control: &mut ControlConnections,
) -> Result<Ending> {
    let began_ns = monotonic_ns();
    let directory = &options.directory;
    for folder in [directory.join("raw/hosts.d"), directory.join("logs")] {
        fs::create_dir_all(&folder)
            .map_err(|error| Error::wrap(format!("make {}", folder.display()), error))?;
    }
    let cwd = std::env::current_dir().map_err(|error| Error::wrap("find the working directory", error))?;
    let nodes: Vec<usize> =
        (0..plan.nodes.len()).filter(|&node| plan.nodes[node].kind == NodeKind::Host).collect();
    let mut kernels = Kernels::default();
    let hosts = nodes.iter().enumerate().map(|(number, &node)| {
        let mtu = u16::try_from(plan.nodes[node].mtu).unwrap_or(u16::MAX);
        (plan.nodes[node].name.clone(), NetConfig { mac: address(number), mtu })
    });
    let mut guests = Guests::listen(&kernel.directory, hosts.collect(), UNIX_NS)
        .map_err(|error| Error::new(error.to_string()))?;
    for (number, &node) in nodes.iter().enumerate() {
        let log = directory.join(format!("logs/{}.console", plan.nodes[node].name));
        kernels.start(kernel, number, plan.seed.wrapping_add(number as u64), &log)?;
        if number % 16 == 15 {
            control.report(&json!({"event": "building", "nodes": number + 1, "of": nodes.len()}));
        }
    }
    let arrived = guests.wait_for_arrival(ARRIVAL_TIMEOUT).map_err(|error| Error::new(error.to_string()))?;
    if !arrived {
        let found = (0..nodes.len()).find_map(|number| kernels.ended(number).zip(Some(nodes[number])));
        return Err(found.map_or_else(
            || Error::new(format!("the hosts' kernels did not start within {} s", ARRIVAL_TIMEOUT.as_secs())),
            |(how, node)| kernel_ended(plan, directory, node, &how),
        ));
    }
    guests.boot().map_err(|error| Error::new(error.to_string()))?;
    let network = engine::network(plan)?;
    let endpoints = engine::endpoints(plan, &network)?;
    let recorder = Recorder::start(plan, directory, &Disk)?.without_loss();
    let outside = Cards { udp_offload: vec![true; plan.nodes.len()], ..Cards::default() };
    // The run's zero is not known yet; records of captures are written once it is.
    let emulator = Emulator::new(plan, (network, endpoints), outside, recorder, UNIX_NS);
    let env = environment_of(plan, directory)?;
    let setup = Setup { directory: directory.clone(), cwd, env };
    let mut run = Supervisor {
        plan,
        directory,
        clockwork: Clockwork::new(emulator, guests, nodes.clone(), plan.nodes.len()),
        kernels,
        kernel,
        hosts: nodes,
        lines: (0..plan.nodes.len()).map(|_| Lines::default()).collect(),
        programs: plan
            .programs
            .iter()
            .map(|program| ProgramState::new(program, &plan.nodes[program.host].name))
            .collect(),
        states: vec![ProgramProgress::default(); plan.programs.len()],
        up: 0,
        built: 0,
        counted: BTreeMap::new(),
        zero_ns: None,
        began_ns,
        snapshot: (false, 0),
        heard_ns: monotonic_ns(),
        silent_said: false,
        looked_ns: 0,
        stop: None,
    };
    let outcome = run.run(&setup, options.keep, control);
    let ended = run.end(control, outcome.as_ref().map_or("failed", |ending| &ending.status));
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
    /// When it is killed, on the kernels' clock, once it was told to end.
    kill_at_ns: Option<u64>,
}

struct Supervisor<'a> {
    plan: &'a Plan,
    directory: &'a Path,
    clockwork: Clockwork<'a>,
    kernels: Kernels,
    kernel: &'a Kernel,
    /// The nodes that are hosts.
    hosts: Vec<usize>,
    lines: Vec<Lines>,
    programs: Vec<ProgramState>,
    states: Vec<ProgramProgress>,
    /// Hosts that have booted, and that are as the plan says.
    up: usize,
    built: usize,
    /// What hosts have counted, by node.
    counted: BTreeMap<usize, (Counters, Counters, Option<String>)>,
    zero_ns: Option<u64>,
    /// When the kernels were started, of real time.
    began_ns: u64,
    /// Whether the programs' states have changed, and when they are written next.
    snapshot: (bool, u64),
    /// When hosts were last heard, of real time.
    heard_ns: u64,
    silent_said: bool,
    /// When requests were last looked for, of real time.
    looked_ns: u64,
    /// The ending that was asked for.
    stop: Option<Ending>,
}

impl Supervisor<'_> {
    fn run(&mut self, setup: &Setup, keep: bool, control: &mut ControlConnections) -> Result<Ending> {
        let all = self.hosts.len();
        if let Some(ending) = self.wait(HOST_TIMEOUT_NS, "boot", control, |run| run.up == all)? {
            return Ok(ending);
        }
        let file = self.directory.join("raw/hosts.d/setup.json");
        let text = serde_json::to_vec(setup).map_err(|error| Error::wrap("write the setup", error))?;
        fs::write(&file, text).map_err(|error| Error::wrap(format!("write {}", file.display()), error))?;
        for node in self.hosts.clone() {
            self.order(node, &Order::Become { node, file: file.clone() });
        }
        if let Some(ending) = self.wait(HOST_TIMEOUT_NS, "become hosts", control, |run| run.built == all)? {
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
            self.order(program.host, &Order::Await { program: index, within_ns });
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
        let now_ns = self.clockwork.now_ns();
        let zero_ns = (now_ns / SECOND_NS + 2) * SECOND_NS;
        for node in self.hosts.clone() {
            self.order(node, &Order::Zero { after_ns: zero_ns - now_ns });
        }
        self.clockwork.start_at(zero_ns);
        self.zero_ns = Some(zero_ns);
        let unix_ns = UNIX_NS + zero_ns;
        self.clockwork.emulator.egress.unix_start_ns = unix_ns;
        for running in &mut self.programs {
            // Services started on the kernels' clock.
            running.shift_times(-(zero_ns as i64));
        }
        let started = json!({"t0_unix_ns": unix_ns});
        let path = self.directory.join("raw/started.json");
        let _ = replace_unsynced(&Disk, &path, started.to_string().as_bytes());
        while self.clockwork.now_ns() < zero_ns {
            self.turn(zero_ns, control)?;
        }
        control.report(&json!({"event": "started", "t0_unix_ns": unix_ns}));
        Ok(())
    }

    /// The main part of the run; returns why it ended.
    fn run_until_ended(&mut self, keep: bool, control: &mut ControlConnections) -> Result<Ending> {
        let zero_ns = self.zero_ns.unwrap_or_default();
        loop {
            let now_ns = self.clockwork.now_ns();
            self.start_and_stop_due(now_ns - zero_ns);
            self.write_program_states(false);
            if let Some(ending) = self.stop.take() {
                return Ok(ending);
            }
            if !keep && let Some(ending) = self.is_over(now_ns - zero_ns) {
                return Ok(ending);
            }
            let next_ns = self.next_deadline_ns(keep).saturating_add(zero_ns);
            if !self.turn(next_ns, control)? {
                let why = "every host waits for something that will never happen";
                return Ok(Ending { has_results: true, ..Ending::new("failed", why) });
            }
        }
    }

    fn is_over(&self, now_ns: u64) -> Option<Ending> {
        if let Some(duration_ns) = self.plan.duration_ns {
            return (now_ns >= duration_ns).then(|| Ending::new("duration", "its duration has passed"));
        }
        let busy = self.programs.iter().any(|running| !running.service && running.is_pending_or_running());
        let emulator = &self.clockwork.emulator;
        let simulates = emulator.has_endpoints() && !emulator.endpoints_are_done();
        (!busy && !simulates)
            .then(|| Ending::new("programs", "all programs that end by themselves have ended"))
    }

    /// Starts and ends what the plan says, `now_ns` after the zero.
    fn start_and_stop_due(&mut self, now_ns: u64) {
        for index in 0..self.programs.len() {
            let planned = &self.plan.programs[index];
            if !self.states[index].ordered {
                if planned.start_ns <= now_ns && self.have_ended(&planned.after) {
                    self.start(index);
                }
            } else if planned.stop_ns.is_some_and(|stop_ns| stop_ns <= now_ns) {
                self.terminate(index);
            }
        }
        self.kill_overdue();
    }

    fn kill_overdue(&mut self) {
        let now_ns = self.clockwork.now_ns();
        for index in 0..self.programs.len() {
            if self.states[index].kill_at_ns.is_some_and(|at_ns| at_ns <= now_ns) {
                self.states[index].kill_at_ns = Some(u64::MAX);
                let host = self.plan.programs[index].host;
                self.order(host, &Order::Signal { program: index, number: libc::SIGKILL });
            }
        }
    }

    /// Whether all programs of these names have ended, or could not start.
    fn have_ended(&self, names: &[String]) -> bool {
        let is_awaited =
            |running: &ProgramState| running.is_pending_or_running() && names.contains(&running.name);
        names.is_empty() || !self.programs.iter().any(is_awaited)
    }

    /// When something is to be done next, after the zero.
    fn next_deadline_ns(&self, keep: bool) -> u64 {
        let zero_ns = self.zero_ns.unwrap_or_default();
        let programs = self.plan.programs.iter().zip(&self.states).flat_map(|(planned, state)| {
            let start = (!state.ordered && self.have_ended(&planned.after)).then_some(planned.start_ns);
            let stop = planned.stop_ns.filter(|_| state.runs && state.kill_at_ns.is_none());
            let kill = state.kill_at_ns.filter(|&at_ns| at_ns != u64::MAX);
            [start, stop, kill.map(|at_ns| at_ns.saturating_sub(zero_ns))].into_iter().flatten()
        });
        let end = self.plan.duration_ns.filter(|_| !keep);
        programs.chain(end).min().unwrap_or(u64::MAX)
    }

    fn start(&mut self, index: usize) {
        self.states[index].ordered = true;
        self.order(self.plan.programs[index].host, &Order::Start { program: index });
    }

    /// Tells a program that runs to end, and sets when it is killed.
    fn terminate(&mut self, index: usize) {
        let state = &mut self.states[index];
        if state.runs && state.kill_at_ns.is_none() {
            state.kill_at_ns = Some(self.clockwork.now_ns() + GRACE_NS);
            self.programs[index].stopped_by_run = true;
            let host = self.plan.programs[index].host;
            self.order(host, &Order::Signal { program: index, number: libc::SIGTERM });
        }
    }

    /// Gives an order to the agent of a node's host, now.
    fn order(&mut self, node: usize, order: &Order) {
        if let Ok(mut line) = serde_json::to_vec(order) {
            line.push(b'\n');
            self.clockwork.tell(node, 0, &line);
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
        let until_ns = self.clockwork.now_ns().saturating_add(limit_ns);
        while !done(self) {
            if let Some(ending) = self.stop.take() {
                return Ok(Some(ending));
            }
            if self.clockwork.now_ns() >= until_ns || !self.turn(until_ns, control)? {
                let seconds = limit_ns / SECOND_NS;
                return Err(Error::new(format!("a host did not {what} within {seconds} s of its own time"))
                    .with_remedy(format!("see logs/*.console in {}", self.directory.display())));
            }
        }
        Ok(None)
    }

    /// Lets time pass to what happens next, but not beyond `until_ns`; false if nothing will ever happen.
    fn turn(&mut self, until_ns: u64, control: &mut ControlConnections) -> Result<bool> {
        let said = match self.clockwork.step(until_ns)? {
            Step::Over => return Ok(false),
            Step::Silent(hosts) => {
                self.look_at_silence(&hosts, control);
                Vec::new()
            }
            Step::Said(said) => {
                self.heard_ns = monotonic_ns();
                self.silent_said = false;
                said
            }
        };
        for (at_ns, node, bytes) in said {
            for line in self.lines[node].take(&bytes) {
                let report = serde_json::from_slice(&line)
                    .map_err(|error| Error::crash(format!("host {}: {error}", self.plan.nodes[node].name)))?;
                self.take(at_ns, node, report, control)?;
            }
        }
        for warning in self.clockwork.emulator.warnings.drain(..) {
            control.warn(warning);
        }
        if self.counted.is_empty()
            && let Some(&node) = self.hosts.iter().find(|&&node| self.clockwork.is_gone(node))
        {
            let number = self.hosts.iter().position(|&host| host == node).unwrap_or_default();
            let how = self.kernels.ended(number).unwrap_or_else(|| "ended".into());
            return Err(kernel_ended(self.plan, self.directory, node, &how));
        }
        self.answer_requests(control);
        Ok(true)
    }

    /// Says once that nothing is heard of hosts that run.
    fn look_at_silence(&mut self, hosts: &[String], control: &mut ControlConnections) {
        let silent_s = (monotonic_ns() - self.heard_ns) / SECOND_NS;
        if silent_s < self.kernel.patience_s || self.silent_said {
            return;
        }
        self.silent_said = true;
        let runs = |running: &&ProgramState| running.start_ns.is_some() && running.end_ns.is_none();
        let there = |running: &&ProgramState| hosts.contains(&running.host);
        let names: Vec<&str> =
            self.programs.iter().filter(runs).filter(there).map(|running| running.name.as_str()).collect();
        control.warn(format!(
            "for {silent_s} s of real time, host {} has computed and virtual time has stood still: if a program \
             there ({}) waits for time to pass without sleeping, it will wait for ever; Ctrl-C ends the run",
            hosts.join(", "),
            names.join(", "),
        ));
    }

    /// Takes what a host reports.
    fn take(
        &mut self,
        at_ns: u64,
        node: usize,
        report: Report,
        control: &mut ControlConnections,
    ) -> Result<()> {
        let at = self.clockwork.since_zero(at_ns);
        // Before the zero is known, times are those of the kernels' clock.
        let at = if self.zero_ns.is_none() { at_ns as i64 } else { at };
        self.snapshot.0 = true;
        match report {
            Report::Up => self.up += 1,
            Report::Host => self.built += 1,
            Report::Started { program } => {
                self.states[program].runs = true;
                let running = &mut self.programs[program];
                running.start_ns = Some(at);
                control.report(&json!({
                    "event": "program", "name": running.name, "host": running.host, "state": "started",
                }));
            }
            Report::NotStarted { program, message } => {
                let running = &mut self.programs[program];
                running.start_ns = Some(at);
                control.report(&json!({
                    "event": "program", "name": running.name, "host": running.host,
                    "state": "failed", "message": message,
                }));
                running.error = Some(message);
            }
            Report::Ready { program } => self.states[program].ready = true,
            Report::NotReady { program } => {
                let planned = &self.plan.programs[program];
                let port = planned.ready.as_ref().map_or(0, |ready| ready.tcp_port);
                let name = &planned.name;
                return Err(Error::new(format!("program {name}: did not listen on TCP port {port} in time"))
                    .with_remedy(format!("see logs/{name}.err in {}", self.directory.display())));
            }
            Report::Ended { program, status, used } => {
                self.states[program].runs = false;
                self.states[program].kill_at_ns = None;
                let running = &mut self.programs[program];
                running.ended(at, status, used);
                control.report(&json!({
                    "event": "program", "name": running.name, "host": running.host, "state": "ended",
                    "exit": running.exit, "signal": running.signal, "expect_exit": running.expect_exit,
                    "stopped_by_run": running.stopped_by_run,
                }));
            }
            Report::Counted { dropped, all, congestion_control } => {
                self.counted.insert(node, (dropped, all, congestion_control));
            }
            Report::Failed { message } => {
                return Err(Error::new(format!("host {}: {message}", self.plan.nodes[node].name)));
            }
        }
        Ok(())
    }

    fn answer_requests(&mut self, control: &mut ControlConnections) {
        let now_ns = monotonic_ns();
        if now_ns < self.looked_ns + REQUEST_INTERVAL_NS {
            return;
        }
        self.looked_ns = now_ns;
        crate::supervisor::ending::wait_with_signals(&mut [], 0);
        for (from, request) in control.requests() {
            let answer = match request {
                Request::Stop { status, why } => {
                    self.stop = Some(stopped(status, why));
                    json!({"ok": true})
                }
                Request::Detach {} => control.detach(from),
                Request::Programs {} => json!({
                    "ok": true, "t_ns": self.clockwork.run_time().ns(), "programs": self.programs, "cgroups": null,
                }),
                Request::Status {} => {
                    let engine: Reply = self.clockwork.emulator.status();
                    json!({"ok": true, "engine": engine, "programs": self.programs, "name": self.plan.name})
                }
                Request::Change { changes, cause } => self.change(changes, &cause),
                Request::Hosts {} => json!({
                    "ok": false,
                    "message": "hosts on the virtual clock cannot be entered from outside: they have no time for it",
                }),
            };
            control.reply(from, &answer);
        }
        self.stop = self.stop.take().or_else(|| control.requested_ending());
    }

    /// Changes links now, if all changes are possible.
    fn change(&mut self, changes: Vec<LinkChange>, cause: &Cause) -> Value {
        let at_ns = self.clockwork.run_time().ns();
        let events: Vec<Event> =
            changes.into_iter().map(|change| change.at(at_ns, Some(cause.clone()))).collect();
        let wrong = events.iter().find_map(|event| self.plan.check_event(event).err());
        if self.zero_ns.is_none_or(|zero_ns| self.clockwork.now_ns() < zero_ns) {
            return json!({"ok": false, "message": "the run has not started yet"});
        }
        if let Some(wrong) = wrong {
            return json!({"ok": false, "message": Error::from(wrong).to_string()});
        }
        self.clockwork.change(&events);
        json!({"ok": true, "engine": Reply::Changed { at_ns }})
    }

    /// Writes the programs' states at most once a second, for the results of a run that is killed.
    fn write_program_states(&mut self, now: bool) {
        let (changed, next_ns) = self.snapshot;
        if now || (changed && monotonic_ns() >= next_ns) {
            self.snapshot = (false, monotonic_ns() + SNAPSHOT_INTERVAL_NS);
            let text = format!("{:#}\n", json!(self.programs));
            let _ = replace_unsynced(&Disk, &self.directory.join("raw/programs.json"), text.as_bytes());
        }
    }

    /// Ends programs, then services, then the hosts, and writes the records.
    fn end(&mut self, control: &mut ControlConnections, reason: &str) -> Result<()> {
        control.report(&json!({"event": "ending", "reason": reason}));
        for (running, state) in self.programs.iter_mut().zip(&self.states) {
            running.stopped_by_run |= state.runs;
        }
        let ended = self.end_hosts(control);
        let clock = [("clock", json!("virtual")), ("virtual", self.account())];
        let finished = self.clockwork.emulator.finish(self.directory, ended.as_ref().err(), clock);
        for warning in self.clockwork.emulator.warnings.drain(..) {
            control.warn(warning);
        }
        let (mut hosts, mut accounts, mut algorithms) = (Map::new(), Map::new(), Map::new());
        for (&node, (dropped, all, algorithm)) in &self.counted {
            let name = &self.plan.nodes[node].name;
            hosts.insert(name.clone(), json!(dropped));
            accounts.insert(name.clone(), json!(all));
            algorithms.extend(algorithm.as_ref().map(|algorithm| (name.clone(), json!(algorithm))));
        }
        let write = |name: &str, value: &Value| {
            let path = self.directory.join("raw").join(name);
            replace(&Disk, &path, format!("{value:#}\n").as_bytes())
                .map_err(|error| Error::wrap(format!("write {}", path.display()), error))
        };
        // If one cannot be written, the others may.
        let written = [
            write("programs.json", &json!(self.programs)),
            write("hosts.json", &hosts.into()),
            write("accounts.json", &accounts.into()),
            write("algorithms.json", &algorithms.into()),
        ];
        ended.and(finished).and(written.into_iter().collect())
    }

    fn end_hosts(&mut self, control: &mut ControlConnections) -> Result<()> {
        for services in [false, true] {
            for index in 0..self.programs.len() {
                if self.programs[index].service == services {
                    self.terminate(index);
                }
            }
            let until_ns = self.clockwork.now_ns() + GRACE_NS;
            let any_runs = |run: &Self| {
                (0..run.states.len())
                    .any(|index| run.states[index].runs && run.programs[index].service == services)
            };
            while any_runs(self) && self.clockwork.now_ns() < until_ns + GRACE_NS {
                self.kill_overdue();
                let limit_ns =
                    if self.clockwork.now_ns() < until_ns { until_ns } else { until_ns + GRACE_NS };
                self.turn(limit_ns, control)?;
            }
        }
        for node in self.hosts.clone() {
            self.order(node, &Order::Count);
        }
        let until_ns = self.clockwork.now_ns() + SECOND_NS;
        while self.counted.len() < self.hosts.len() && self.clockwork.now_ns() < until_ns {
            if !self.turn(until_ns, control)? {
                break;
            }
        }
        Ok(())
    }

    /// What the clock tells of itself.
    fn account(&self) -> Value {
        let guests = self.hosts.iter().enumerate().map(|(number, &node)| {
            let counters = self.clockwork.guests.counters(number);
            let account = json!({
                "runs": counters.runs,
                "interrupts": counters.interrupts,
                "delivered_frames": counters.delivered,
                "no_room_frames": counters.no_room,
                "late_frames": counters.late,
                "most_late_ns": counters.most_late_ns,
            });
            (self.plan.nodes[node].name.clone(), account)
        });
        json!({
            "kernel": self.kernel.file,
            "zero_ns": self.zero_ns,
            "wall_s": (monotonic_ns() - self.began_ns) as f64 / 1e9,
            "digest": format!("{:016x}", self.clockwork.digest.value()),
            "hosts": guests.collect::<Map<_, _>>(),
        })
    }
}

/// Variables of every program of the run.
fn environment_of(plan: &Plan, directory: &Path) -> Result<BTreeMap<String, String>> {
    // Programs of a live run have the environment of the one that was started; the first process of a kernel has none.
    let mut env: BTreeMap<String, String> = std::env::vars().collect();
    env.extend(environment::of_the_run(plan, directory)?);
    env.insert("TMPDIR".into(), "/tmp".into());
    // Time does not pass while a program spins.
    env.insert("LONGHAUL_SPIN".into(), "never".into());
    Ok(env)
}

fn kernel_ended(plan: &Plan, directory: &Path, node: usize, how: &str) -> Error {
    let name = &plan.nodes[node].name;
    let log: PathBuf = directory.join(format!("logs/{name}.console"));
    let text = fs::read_to_string(&log).unwrap_or_default();
    let last = crate::stderr_capture::last_line(&text).map(|line| format!(": {line}")).unwrap_or_default();
    Error::crash(format!("host {name}: its kernel has ended ({how}){last}"))
        .with_remedy(format!("what it said is in {}", log.display()))
}
