//! The supervisor, process 1 of a run: builds the hosts, starts and ends the engine and the programs.

mod children;
mod connections;
pub(crate) mod ending;
pub(crate) mod environment;
mod external;
mod requests;
mod schedule;
mod start;

pub use connections::{ConnectionId, ControlConnections, send};
pub use external::ExternalResources;
pub use requests::{ENTERED, NOT_STARTED, ONE_MACHINE, Request, check_changes, report_failed, stopped};

use crate::agent;
use crate::bpf_loader::{LoadedAlgorithm, Loader};
use crate::cgroup::{Controller, Groups};
use crate::clock::{Clock, monotonic_ns};
use crate::counters;
use crate::engine::Command;
use crate::error::{Error, Result};
use crate::exit_status::{ExitStatus, signal_name};
use crate::foreign::ForeignPlace;
use crate::host::{self, BuildContext, Host, Limits, Namespaces};
use crate::host_mounts;
use crate::host_root;
use crate::isolation;
use crate::memory::MemoryLimit;
use crate::process::RUN_FAILED;
use crate::program::ProgramState;
use crate::programs::{self, Snapshot};
use crate::run_record::{self, Ending};
use crate::stderr_capture::CapturedStderr;
use crate::sys::wait;
use crate::traffic::SharedStart;
use crate::tunnel;
use crate::virtual_time::{self, Kernel};
use children::{EngineProcess, ObserverProcess};
use longhaul_plan::{Event, Isolation, NodeKind, Plan};
use longhaul_storage::{Disk, replace};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::ops::ControlFlow;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

/// How a run is controlled.
#[derive(Debug)]
pub struct Options {
    /// The run directory, which exists.
    pub directory: PathBuf,
    /// A short unique name, for control groups.
    pub run: String,
    /// The connection to the client, which started the run: events out, requests in. The run ends when it is closed,
    /// unless the client has detached.
    pub line: Option<UnixStream>,
    /// The client's process.
    pub client: Option<i32>,
    /// Path of the control socket for other processes.
    pub socket: Option<PathBuf>,
    /// Stay up until a request to stop, whatever the programs do.
    pub keep: bool,
    /// Paths to remove after the run if the client is gone, or has detached.
    pub scratch: Vec<PathBuf>,
    /// Memory that the run's own processes may use together, in bytes; programs of hosts do not count.
    pub memory_bytes: Option<u64>,
    /// The kernel of the hosts, if the clock is virtual.
    pub kernel: Option<Kernel>,
    /// Network namespaces of hosts that are not the run's own.
    pub foreign: Vec<ForeignPlace>,
    /// How the run is divided among machines, if it is.
    pub machines: Option<tunnel::Settings>,
    /// The engine thread of each node, if the network is divided among several.
    pub shards: Option<Vec<u32>>,
}

/// Runs the plan as process 1 of its PID namespace; returns the exit code: 0, or 70 when it failed. Writes how it
/// ended to `raw/ended.json` and, for the worker, to `report`.
pub fn supervise(
    plan: &Plan,
    options: &mut Options,
    external: ExternalResources,
    report: &CapturedStderr,
) -> i32 {
    let mut control = ControlConnections::new(options.line.take());
    let (groups, limited) = if options.kernel.is_none() {
        let settings = plan.nodes.iter().filter_map(|node| node.settings.as_ref());
        match Groups::make(&options.run, &Controller::needed(&settings)) {
            Ok(groups) => (groups, Ok(())),
            Err(error) => (Groups::default(), Err(error)),
        }
    } else {
        (Groups::of(&options.run), Ok(()))
    };
    let mut listening = || options.socket.as_deref().map_or(Ok(()), |socket| control.listen(socket));
    let outcome = limited.and_then(|()| listening()).and_then(|()| {
        if let Some(kernel) = &options.kernel {
            return virtual_time::supervise(plan, kernel, options, &mut control);
        }
        match Supervisor::build(
            plan,
            options.directory.clone(),
            options.keep,
            &groups,
            external,
            (options.machines.as_ref(), options.shards.as_deref()),
            &mut control,
        )? {
            BuildResult::Up(mut supervisor) => {
                supervisor.memory = MemoryLimit::new(options.memory_bytes);
                supervisor.run(&mut control)
            }
            BuildResult::Cancelled(ending) => Ok(ending),
        }
    });
    let mut ending = outcome.unwrap_or_else(|error| Ending::of_error(&error));
    ending::kill_everything();
    groups.remove();
    control.remove_socket();
    ending.warnings = std::mem::take(&mut control.warnings);
    if let Ok(text) = serde_json::to_string_pretty(&ending) {
        let _ = replace(&Disk, &options.directory.join("raw/ended.json"), text.as_bytes());
        report.write(&text);
    }
    ending::unblock_signals();
    ending::wait_for_joint_end(&mut control);
    // Nobody else does it.
    let is_alone = ending::worker_has_ended() && control.client_is_gone();
    if is_alone {
        let _ = run_record::end(&options.directory, &ending);
    }
    if control.is_detached() || (is_alone && control.is_abandoned()) {
        options.scratch.iter().for_each(|path| drop(fs::remove_dir_all(path)));
    }
    let event = if ending.is_good() || ending.has_results {
        json!({"event": "ended", "reason": ending.status, "why": ending.reason})
    } else {
        requests::failed(&ending)
    };
    control.report(&event);
    if ending.is_good() { 0 } else { RUN_FAILED }
}

/// The result of building a run.
enum BuildResult<'a> {
    Up(Box<Supervisor<'a>>),
    /// The run was stopped before it was up.
    Cancelled(Ending),
}

struct Supervisor<'a> {
    plan: &'a Plan,
    directory: PathBuf,
    cwd: PathBuf,
    env: BTreeMap<String, String>,
    /// For each program, what a parallel one has beside `env`.
    spans: Vec<BTreeMap<String, String>>,
    base: Namespaces,
    hosts: Vec<Option<Host>>,
    host_groups: Vec<Vec<File>>,
    programs: Vec<ProgramState>,
    engine: EngineProcess,
    /// The process that reads the hosts' socket statistics, if the plan wants them.
    observer: Option<ObserverProcess>,
    /// How the observer failed, if it did.
    observer_failure: Option<String>,
    /// Whether the clock has been started.
    started: bool,
    /// When the programs' states are written next.
    snapshot: Snapshot,
    clock: Clock,
    start_time: SharedStart,
    keep: bool,
    groups: &'a Groups,
    softnet_before: u64,
    /// Held, so that the kernel knows them.
    _algorithms: Vec<LoadedAlgorithm>,
    /// Requested changes of hosts' pacing.
    repaced: Vec<Event>,
    memory: MemoryLimit,
    external: ExternalResources,
    /// How the run is divided among machines, if it is.
    machines: Option<&'a tunnel::Settings>,
    /// Whether the client knows that no program is left here that ends by itself.
    idle_reported: bool,
}

impl<'a> Supervisor<'a> {
    fn build(
        plan: &'a Plan,
        directory: PathBuf,
        keep: bool,
        groups: &'a Groups,
        mut external: ExternalResources,
        (machines, shards): (Option<&'a tunnel::Settings>, Option<&[u32]>),
        control: &mut ControlConnections,
    ) -> Result<BuildResult<'a>> {
        let began_ns = monotonic_ns();
        let cwd =
            std::env::current_dir().map_err(|error| Error::wrap("find the working directory", error))?;
        let files = directory.join("raw/hosts.d");
        for folder in [directory.join("raw"), directory.join("logs"), files.clone()] {
            fs::create_dir_all(&folder)
                .map_err(|error| Error::wrap(format!("make {}", folder.display()), error))?;
        }
        let softnet_before = counters::softnet_dropped();
        // Before the hosts, whose own they may be.
        let algorithms = load_algorithms(plan, control)?;
        host_mounts::prepare(&plan.nodes, &files)?;
        let base = Namespaces::current()?;
        let watched = plan.measure.sockets_every_ns.is_some();
        let limits = if watched { host::separate_tables() } else { Limits::default() };
        let strict = plan.isolation == Isolation::Strict;
        let restricted = if strict {
            Some(isolation::restricted_mounts(&environment::writable_paths(&cwd, &directory, groups))?)
        } else {
            None
        };
        let context = BuildContext {
            base: restricted.as_ref().unwrap_or(&base),
            limits: &limits,
            run: &directory,
            files: &files,
            foreign: &external.foreign,
            isolation: plan.isolation,
        };
        let (mut hosts, host_groups) = match build_hosts(plan, &context, groups, machines, control)? {
            ControlFlow::Continue(built) => built,
            ControlFlow::Break(ending) => return Ok(BuildResult::Cancelled(ending)),
        };
        base.enter().map_err(|error| Error::wrap("return from the hosts' namespaces", error))?;
        let holder = if strict {
            isolation::start_namespace_holder(hosts.iter().flatten().map(|host| &host.namespaces))?
        } else {
            1
        };
        let others = machines.map(|machines| (machines.other_hosts(plan), &machines.launcher[..]));
        let agent = agent::write(&files, hosts.iter().flatten(), &groups.roots(), holder, others)?;
        let env = environment::environment(plan, &directory, &agent)?;
        let spans = plan
            .programs
            .iter()
            .map(|program| environment::parallel_environment(plan, program, &files))
            .collect::<Result<_>>()?;
        let engine =
            EngineProcess::start(plan, &mut hosts, &mut external.devices, &directory, machines, shards)?;
        let observer = ObserverProcess::start(plan, &hosts, &directory, &engine)?;
        let count = hosts.iter().flatten().count();
        control.report(&json!({
            "event": "up",
            "hosts": count,
            "cgroups": groups.root(),
            "build_ns": monotonic_ns() - began_ns,
        }));
        let programs = plan
            .programs
            .iter()
            .map(|program| ProgramState::new(program, &plan.nodes[program.host].name))
            .collect();
        Ok(BuildResult::Up(Box::new(Supervisor {
            plan,
            directory,
            cwd,
            env,
            spans,
            base,
            hosts,
            host_groups,
            programs,
            engine,
            observer,
            observer_failure: None,
            started: false,
            snapshot: Snapshot::default(),
            clock: Clock::starting_now(),
            start_time: SharedStart::new()
                .map_err(|error| Error::wrap("create the start time of traffic generators", error))?,
            keep,
            groups,
            softnet_before,
            _algorithms: algorithms,
            repaced: Vec::new(),
            memory: MemoryLimit::new(None),
            external,
            machines,
            idle_reported: false,
        })))
    }

    fn run(&mut self, control: &mut ControlConnections) -> Result<Ending> {
        let outcome = match self.start_services(control) {
            Ok(None) => self.start_traffic_generators(control).and_then(|()| {
                if let Some(ending) = self.wait_for_machines(control)? {
                    return Ok(ending);
                }
                self.start_clock(control)?;
                self.run_until_ended(control)
            }),
            Ok(Some(ending)) => Ok(ending),
            Err(error) => Err(error),
        };
        let ended = self.end(control, outcome.as_ref().map_or("failed", |ending| &ending.status));
        let ending = outcome?;
        // The first failure is the reason.
        if ending.is_good() { ended.map(|()| ending) } else { Ok(ending) }
    }

    /// Returns the error of an engine that has ended early.
    fn check_engine(&self) -> Result<()> {
        match (&self.engine.failure, &self.engine.exit_description) {
            (Some(failure), _) => Err(failure.clone()),
            (None, Some(how)) => Err(Error::crash(format!("the engine {how}"))),
            (None, None) => Ok(()),
        }
    }

    /// The main part of the run; returns why it ended.
    fn run_until_ended(&mut self, control: &mut ControlConnections) -> Result<Ending> {
        loop {
            self.reap();
            self.report_program_ends(control);
            self.check_engine()?;
            let now_ns = self.clock.ns();
            self.start_and_stop_due(now_ns, control);
            self.snapshot.write(&self.directory, &self.programs);
            if let Some(ending) = self.is_over(now_ns, control).or_else(|| self.memory_exceeded(now_ns)) {
                return Ok(ending);
            }
            for change in self.external.check()? {
                control.warn(format!("at {:.3} s: {change}", self.clock.signed_ns() as f64 / 1e9));
            }
            let wait_ns = self.next_deadline_ns(control).saturating_sub(self.clock.ns());
            control.wait(wait_ns.min(self.external.next_check_ns()), &self.engine.control);
            self.engine.receive_reports();
            self.engine.warnings.drain(..).for_each(|warning| control.warn(warning));
            for (from, request) in control.requests() {
                match request {
                    Request::Stop { status, why } => {
                        control.reply(from, &json!({"ok": true}));
                        return Ok(requests::stopped(status, why));
                    }
                    Request::Finish { at_ns, status, why } if self.machines.is_some() => {
                        control.reply(from, &json!({"ok": true}));
                        self.command(&Command::StopAt { at_ns })?;
                        return Ok(
                            status.map_or_else(programs::all_ended, |status| requests::stopped(status, why))
                        );
                    }
                    Request::Detach {} => {
                        let answer = control.detach(from);
                        control.reply(from, &answer);
                    }
                    Request::ProgramEnded { name } if self.machines.is_some() => {
                        control.ended_elsewhere.insert(name);
                        control.reply(from, &json!({"ok": true}));
                    }
                    request => {
                        let answer = self.handle_request(request);
                        control.reply(from, &answer);
                    }
                }
            }
            if let Some(ending) = control.requested_ending() {
                return Ok(ending);
            }
        }
    }

    /// The ending of a run that uses more memory than it may.
    fn memory_exceeded(&mut self, now_ns: u64) -> Option<Ending> {
        let own = libc::pid_t::try_from(std::process::id()).ok();
        let observer = self.observer.as_ref().map(|observer| observer.pid);
        self.memory.exceeded(now_ns, [own, Some(self.engine.pid), observer].into_iter().flatten())
    }

    fn is_over(&mut self, now_ns: u64, control: &mut ControlConnections) -> Option<Ending> {
        if self.keep {
            return None;
        }
        let ending = programs::ending(self.plan, &self.programs, now_ns, self.engine.busy)?;
        if self.machines.is_none() || self.plan.duration_ns.is_some() {
            return Some(ending);
        }
        // Others may still be busy: the client knows.
        if !std::mem::replace(&mut self.idle_reported, true) {
            control.report(&json!({"event": "idle", "t_ns": now_ns}));
        }
        None
    }

    fn report_program_ends(&mut self, control: &mut ControlConnections) {
        for running in
            self.programs.iter_mut().filter(|running| running.end_ns.is_some() && !running.reported)
        {
            running.reported = true;
            control.report(&running.ended_event());
        }
    }

    /// Reaps every child that has ended, including orphans of programs.
    fn reap(&mut self) {
        while let Some((pid, status, usage)) = wait::collect_any() {
            if libc::WIFSTOPPED(status) {
                self.resume(pid, libc::WSTOPSIG(status));
                continue;
            }
            if pid == self.engine.pid {
                self.engine.ended(ExitStatus(status));
            }
            if let Some(observer) = self.observer.take_if(|observer| observer.pid == pid)
                && !ExitStatus(status).is_success()
            {
                self.observer_failure = Some(observer.ended(ExitStatus(status)));
            }
            self.snapshot.changed = true;
            let at_ns = self.clock.signed_ns();
            if let Some(running) = self.programs.iter_mut().find(|running| running.pid == Some(pid)) {
                running.ended(at_ns, status, (&usage).into());
            }
        }
    }

    /// Resumes the engine or the observer if a signal has stopped it, and adds a warning. Programs may be stopped.
    fn resume(&mut self, pid: libc::pid_t, signal: libc::c_int) {
        let name = match pid {
            _ if pid == self.engine.pid => "engine",
            _ if self.observer.as_ref().is_some_and(|observer| observer.pid == pid) => "observer",
            _ => return,
        };
        let (signal, at_s) = (signal_name(signal), self.clock.signed_ns() as f64 / 1e9);
        self.engine
            .warnings
            .push(format!("the {name} was stopped by {signal} at {at_s:.3} s and resumed by the supervisor"));
        let _ = kill(Pid::from_raw(pid), Signal::SIGCONT);
    }

    fn command(&mut self, command: &Command) -> Result<()> {
        connections::send_line(&mut self.engine.control, command)
            .map_err(|error| Error::wrap("send a command to the engine", error))
    }

    /// Results are complete without the observer: its absence is not a failure.
    fn send_to_observer(&mut self, command: &Command) {
        if let Some(observer) = &mut self.observer {
            let _ = connections::send_line(&mut observer.control, command);
        }
    }

    fn handle_request(&mut self, request: Request) -> Value {
        match request {
            Request::Stop { .. } | Request::Detach {} => Value::Null,
            Request::Begin {} | Request::ProgramEnded { .. } | Request::Finish { .. } => {
                json!({"ok": false, "message": ONE_MACHINE})
            }
            Request::Execute { .. } | Request::ForExecution { .. } => {
                json!({"ok": false, "message": ENTERED})
            }
            Request::Hosts {} => {
                let hosts = || self.hosts.iter().flatten();
                let names: BTreeMap<_, _> = hosts().map(|host| (&host.name, &host.hostname)).collect();
                json!({"ok": true, "hosts": hosts().map(|host| {
                    (host.name.clone(), json!(BTreeMap::from_iter(host.namespaces.descriptors())))
                }).collect::<serde_json::Map<_, _>>(), "hostnames": names, "env": self.env, "cwd": self.cwd,
                "cgroups": self.groups.roots(), "credentials": hosts().map(|host| {
                    (host.name.clone(), json!(host.credentials))
                }).collect::<serde_json::Map<_, _>>(), "search_paths": hosts().filter(|host| host.has_root).map(|host| {
                    (host.name.clone(), json!(host_root::SEARCH_PATH))
                }).collect::<serde_json::Map<_, _>>(), "isolation": self.plan.isolation})
            }
            Request::Change { changes, cause, at_ns } => {
                match requests::check_changes(self.plan, self.clock.ns(), &self.repaced, &changes, &cause) {
                    Err(error) => json!({"ok": false, "message": error.to_string()}),
                    Ok(repaced) => {
                        self.repaced.extend(repaced);
                        self.query_engine(&Command::Change { changes, cause, at_ns })
                    }
                }
            }
            Request::Capture { link, snaplen, limit_bytes } => {
                self.query_about_link(link, &Command::Capture { link, snaplen, limit_bytes })
            }
            Request::EndCapture { link } => self.query_about_link(link, &Command::EndCapture { link }),
            Request::Programs {} => json!({
                "ok": true, "t_ns": self.clock.ns(), "programs": self.programs, "cgroups": self.groups.root(),
            }),
            Request::Status {} => {
                let mut status = self.query_engine(&Command::Status {});
                status["programs"] = json!(self.programs);
                status["name"] = json!(self.plan.name);
                status
            }
        }
    }

    fn query_about_link(&mut self, link: usize, command: &Command) -> Value {
        match self.plan.check_link(link, "link") {
            Err(error) => json!({"ok": false, "message": error.to_string()}),
            Ok(()) => self.query_engine(command),
        }
    }

    fn query_engine(&mut self, command: &Command) -> Value {
        if !self.started {
            return json!({"ok": false, "message": requests::NOT_STARTED});
        }
        let answer = self.command(command).and_then(|()| {
            self.engine.answer().map_err(|error| Error::wrap("receive the engine's reply", error))
        });
        match answer {
            Ok(reply) => json!({"ok": true, "engine": reply}),
            Err(error) => json!({"ok": false, "message": error.to_string()}),
        }
    }
}

/// By node: the host, if it runs here, and the `cgroup.procs` files of its control groups.
type Hosts = (Vec<Option<Host>>, Vec<Vec<File>>);

/// Builds the hosts of this machine, or returns the ending if the run is stopped meanwhile.
fn build_hosts(
    plan: &Plan,
    context: &BuildContext<'_>,
    groups: &Groups,
    machines: Option<&tunnel::Settings>,
    control: &mut ControlConnections,
) -> Result<ControlFlow<Ending, Hosts>> {
    let mut hosts = Vec::with_capacity(plan.nodes.len());
    let mut host_groups = Vec::with_capacity(plan.nodes.len());
    for (position, node) in plan.nodes.iter().enumerate() {
        let behind_device = node.port.as_ref().is_some_and(|port| !port.runs_programs());
        let is_here = machines.is_none_or(|machines| machines.owns(position));
        let is_host = node.kind == NodeKind::Host && !behind_device && is_here;
        hosts.push(if is_host { Some(Host::build(plan, position, context)?) } else { None });
        let settings = node.settings.as_ref();
        host_groups.push(if is_host { groups.host(&node.name, settings)? } else { Vec::new() });
        if position % 100 == 99 {
            control.report(&json!({"event": "building", "nodes": position + 1, "of": plan.nodes.len()}));
        }
        if let Some(ending) = control.handle_requests_before_start() {
            return Ok(ControlFlow::Break(ending));
        }
    }
    Ok(ControlFlow::Continue((hosts, host_groups)))
}

fn load_algorithms(plan: &Plan, control: &mut ControlConnections) -> Result<Vec<LoadedAlgorithm>> {
    if plan.algorithms.is_empty() {
        return Ok(Vec::new());
    }
    let loader = Loader::new()?;
    plan.algorithms
        .iter()
        .map(|each| {
            let loaded = loader.load(&each.cc, &each.name)?;
            control.report(&json!({"event": "algorithm", "algorithm": each.cc.name(), "name": each.name}));
            Ok(loaded)
        })
        .collect()
}
