//! Process 1 of a run: builds the hosts, starts the engine and the programs, ends them all.

mod children;
pub(crate) mod ending;
mod launching;
mod requests;
mod schedule;

pub use requests::{Request, Talk, send as tell, tell_failed};

use crate::agent;
use crate::cgroup::Groups;
use crate::clock::{Clock, monotonic_ns};
use crate::counters;
use crate::engine::Command;
use crate::error::{Error, Result};
use crate::exit_status::{ExitStatus, signal_name};
use crate::host::{self, Ground, Host, Limits, Namespaces};
use crate::isolation;
use crate::laws::{LoadedLaw, Teacher};
use crate::process::RUN_FAILED;
use crate::program::{self, Running, Surroundings};
use crate::run_record::{self, Ending};
use crate::stderr_capture::CapturedStderr;
use crate::traffic::{SharedStart, TrafficGenerator};
use children::{EngineProcess, ObserverProcess};
use longhaul_network::Network;
use longhaul_plan::{Cause, Event, Isolation, LinkChange, NodeKind, Plan};
use longhaul_storage::{Disk, replace, replace_unsynced};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// Between two looks whether a service listens.
const READY_LOOK_NS: u64 = 5_000_000;
/// Least time between two writes of the programs' states.
const SNAPSHOT_INTERVAL_NS: u64 = 1_000_000_000;
/// Between the last preparation and the clock's zero.
const START_MARGIN_NS: u64 = 20_000_000;

/// How a run is held and talked to.
#[derive(Debug)]
pub struct Options {
    /// The run directory, which exists.
    pub directory: PathBuf,
    /// A short unique name, for control groups.
    pub run: String,
    /// The private line to the client, who started the run: events out, requests in. Its end ends the run,
    /// unless the client asked to be let go.
    pub line: Option<UnixStream>,
    /// The client's process.
    pub client: Option<i32>,
    /// Where others may talk to the run.
    pub socket: Option<PathBuf>,
    /// Stay up until told to stop, whatever the programs do.
    pub keep: bool,
    /// What is to be removed after the run if the client is gone.
    pub scratch: Vec<PathBuf>,
}

/// Runs the plan as process 1 of its PID namespace; returns the exit code: 0, or 70 when it failed. How it ended
/// goes into `raw/ended.json` and, for the worker, into `report`.
pub fn supervise(plan: &Plan, options: &mut Options, report: &CapturedStderr) -> i32 {
    let mut talk = Talk::new(options.line.take());
    let groups = Groups::make(&options.run);
    let outcome = options.socket.as_deref().map_or(Ok(()), |socket| talk.listen(socket)).and_then(|()| {
        match Supervisor::build(plan, options.directory.clone(), options.keep, &groups, &mut talk)? {
            Built::Up(mut supervisor) => supervisor.run(&mut talk),
            Built::Cancelled(ending) => Ok(ending),
        }
    });
    let mut ending = outcome.unwrap_or_else(|error| Ending::of_error(&error));
    ending::kill_everything();
    groups.remove();
    talk.remove_socket();
    ending.warnings = std::mem::take(&mut talk.warnings);
    if let Ok(text) = serde_json::to_string_pretty(&ending) {
        let _ = replace(&Disk, &options.directory.join("raw/ended.json"), text.as_bytes());
        report.write(&text);
    }
    // The end of worker and client may not have been seen yet.
    ending::unblock_signals();
    drop(talk.requests());
    if ending::worker_is_gone() && talk.client_is_gone() {
        // Nobody else is left to do it.
        let _ = run_record::end(&options.directory, &ending);
        if talk.is_abandoned() {
            options.scratch.iter().for_each(|path| drop(fs::remove_dir_all(path)));
        }
    }
    match ending.is_good() {
        true => {
            talk.tell(&json!({"event": "ended", "reason": ending.status, "why": ending.reason}));
            0
        }
        false => {
            talk.tell(&requests::failed(&ending));
            RUN_FAILED
        }
    }
}

/// What came of bringing a run up.
enum Built<'a> {
    Up(Box<Supervisor<'a>>),
    /// It was asked to end before it was up.
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
    host_groups: Vec<Option<File>>,
    programs: Vec<Running>,
    engine: EngineProcess,
    /// The process that reads the hosts' socket statistics, if the plan wants them.
    observer: Option<ObserverProcess>,
    /// How the observer failed, if it did.
    observer_failure: Option<String>,
    /// Whether the clock has been started.
    started: bool,
    /// When the programs' states are written next.
    snapshot: ProgramSnapshot,
    clock: Clock,
    start_time: SharedStart,
    keep: bool,
    groups: Option<PathBuf>,
    softnet_before: u64,
    /// Held, so that the kernel knows them.
    _laws: Vec<LoadedLaw>,
    /// Changes of hosts' pacing that were asked for.
    repaced: Vec<Event>,
}

impl<'a> Supervisor<'a> {
    fn build(
        plan: &'a Plan,
        directory: PathBuf,
        keep: bool,
        groups: &Groups,
        talk: &mut Talk,
    ) -> Result<Built<'a>> {
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
        let laws = load_laws(plan, talk)?;
        host::prepare_mounts(&plan.nodes, &files)?;
        let base = Namespaces::current()?;
        let watched = plan.measure.sockets_every_ns.is_some();
        let limits = if watched { host::separate_tables() } else { Limits::default() };
        let strict = plan.isolation == Isolation::Strict;
        let restricted = if strict {
            Some(isolation::restricted_mounts(&open_to_hosts(&cwd, &directory, groups))?)
        } else {
            None
        };
        let ground = Ground { base: restricted.as_ref().unwrap_or(&base), limits: &limits, files: &files };
        let mut hosts = Vec::with_capacity(plan.nodes.len());
        let mut host_groups = Vec::with_capacity(plan.nodes.len());
        for (position, node) in plan.nodes.iter().enumerate() {
            let is_host = node.kind == NodeKind::Host;
            hosts.push(if is_host { Some(Host::build(node, &ground)?) } else { None });
            host_groups.push(if is_host { groups.host(&node.name) } else { None });
            if position % 100 == 99 {
                talk.tell(&json!({"event": "building", "nodes": position + 1, "of": plan.nodes.len()}));
            }
            if let Some(ending) = talk.answer_before_start() {
                return Ok(Built::Cancelled(ending));
            }
        }
        base.enter().map_err(|error| Error::wrap("return from the hosts' namespaces", error))?;
        let holder = if strict {
            isolation::start_namespace_holder(hosts.iter().flatten().map(|host| &host.namespaces))?
        } else {
            1
        };
        let agent = agent::write(&files, hosts.iter().flatten(), groups.root(), holder)?;
        let env = launching::environment(plan, &directory, &agent)?;
        let spans = plan
            .programs
            .iter()
            .map(|program| launching::of_span(plan, program, &files))
            .collect::<Result<_>>()?;
        let engine = EngineProcess::start(plan, &mut hosts, &directory)?;
        let observer = ObserverProcess::start(plan, &hosts, &directory, &engine)?;
        let count = hosts.iter().flatten().count();
        talk.tell(&json!({
            "event": "up",
            "hosts": count,
            "cgroups": groups.root(),
            "build_ns": monotonic_ns() - began_ns,
        }));
        let programs = plan
            .programs
            .iter()
            .map(|program| Running::new(program, &plan.nodes[program.host].name))
            .collect();
        Ok(Built::Up(Box::new(Supervisor {
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
            snapshot: ProgramSnapshot::default(),
            clock: Clock::starting_now(),
            start_time: SharedStart::new()
                .map_err(|error| Error::wrap("make the clock of traffic", error))?,
            keep,
            groups: groups.root().map(ToOwned::to_owned),
            softnet_before,
            _laws: laws,
            repaced: Vec::new(),
        })))
    }

    fn run(&mut self, talk: &mut Talk) -> Result<Ending> {
        let outcome = match self.start_services(talk) {
            Ok(None) => self
                .start_traffic_generators(talk)
                .and_then(|()| self.start_clock(talk))
                .and_then(|()| self.turn(talk)),
            Ok(Some(ending)) => Ok(ending),
            Err(error) => Err(error),
        };
        let ended = self.end(talk, outcome.as_ref().map_or("failed", |ending| &ending.status));
        let ending = outcome?;
        // Whatever went wrong first is the reason.
        if ending.is_good() { ended.map(|()| ending) } else { Ok(ending) }
    }

    /// Starts services and waits until they are ready; how the run ended if it was to end meanwhile.
    fn start_services(&mut self, talk: &mut Talk) -> Result<Option<Ending>> {
        for index in 0..self.programs.len() {
            if !self.programs[index].service || self.plan.programs[index].plays.is_some() {
                continue;
            }
            self.start_program(index, talk);
            if let Some(error) = &self.programs[index].error {
                return Err(Error::new(error.clone()));
            }
        }
        for index in 0..self.programs.len() {
            if let Some(ending) = self.wait_until_ready(index, talk)? {
                return Ok(Some(ending));
            }
        }
        Ok(None)
    }

    fn wait_until_ready(&mut self, index: usize, talk: &mut Talk) -> Result<Option<Ending>> {
        let Some(ready) = &self.plan.programs[index].ready else { return Ok(None) };
        let deadline_ns = monotonic_ns().saturating_add(ready.within_ns);
        loop {
            self.reap();
            self.check_engine()?;
            if let Some(ending) = talk.answer_before_start() {
                return Ok(Some(ending));
            }
            let name = &self.programs[index].name;
            let Some(pid) = self.programs[index].pid else {
                return Err(Error::new(format!("program {name}: ended before it was ready"))
                    .with_remedy(format!("see logs/{name}.err in {}", self.directory.display())));
            };
            if program::listens(pid, ready.tcp_port) {
                return Ok(None);
            }
            if monotonic_ns() > deadline_ns {
                return Err(Error::new(format!(
                    "program {name}: did not listen on TCP port {} in time",
                    ready.tcp_port
                ))
                .with_remedy(format!("see logs/{name}.err in {}", self.directory.display())));
            }
            talk.wait(READY_LOOK_NS, &self.engine.control);
        }
    }

    /// An engine that has ended before its time is why the run ends.
    fn check_engine(&self) -> Result<()> {
        match (&self.engine.failure, &self.engine.exit_description) {
            (Some(failure), _) => Err(failure.clone()),
            (None, Some(how)) => Err(Error::crash(format!("the engine {how}"))),
            (None, None) => Ok(()),
        }
    }

    /// Starts those who play ends of flows; receivers first, so that nothing comes too early.
    fn start_traffic_generators(&mut self, talk: &mut Talk) -> Result<()> {
        let parts = || self.plan.programs.iter().enumerate().filter(|(_, program)| program.plays.is_some());
        if parts().next().is_none() {
            return Ok(());
        }
        let network = Network::new(self.plan).map_err(Error::new)?;
        let sinks = parts().filter(|(_, program)| program.service).map(|(index, _)| index);
        let sources = parts().filter(|(_, program)| !program.service).map(|(index, _)| index);
        for index in sinks.chain(sources).collect::<Vec<_>>() {
            let planned = &self.plan.programs[index];
            let (Some(part), Some(host)) = (&planned.plays, &self.hosts[planned.host]) else { continue };
            let generator = TrafficGenerator::new(self.plan, &network, part)?;
            let isolation = self.plan.isolation;
            let around =
                Surroundings { cwd: &self.cwd, directory: &self.directory, env: &self.env, isolation };
            let group = self.host_groups[planned.host].as_ref();
            let started_ns = self.clock.signed_ns();
            let pid =
                program::start_traffic_generator(planned, generator, &self.start_time, host, group, &around)
                    .map_err(|error| error.at(format!("traffic {}", planned.name)))?;
            let running = &mut self.programs[index];
            (running.start_ns, running.pid) = (Some(started_ns), Some(pid));
            talk.tell(
                &json!({"event": "program", "name": running.name, "host": running.host, "state": "started"}),
            );
        }
        Ok(())
    }

    fn start_clock(&mut self, talk: &mut Talk) -> Result<()> {
        let start_ns = monotonic_ns() + START_MARGIN_NS;
        let earlier_ns = start_ns as i64 - self.clock.start_ns() as i64;
        self.clock = Clock::starting_at(start_ns);
        self.command(&Command::Start { start_ns })?;
        self.tell_observer(&Command::Start { start_ns });
        self.start_time
            .publish(self.clock)
            .map_err(|error| Error::wrap("start the clock of traffic", error))?;
        for running in self.programs.iter_mut() {
            // Services and traffic started on the clock that the supervisor began with.
            running.shift_times(-earlier_ns);
        }
        let started = json!({"t0_unix_ns": crate::clock::unix_ns() + START_MARGIN_NS});
        // Needed where the engine cannot say it at the end.
        let _ =
            replace_unsynced(&Disk, &self.directory.join("raw/started.json"), started.to_string().as_bytes());
        self.started = true;
        talk.tell(&json!({"event": "started", "t0_unix_ns": started["t0_unix_ns"]}));
        Ok(())
    }

    /// The main part of the run; returns why it ended.
    fn turn(&mut self, talk: &mut Talk) -> Result<Ending> {
        loop {
            self.reap();
            self.report_endings(talk);
            self.check_engine()?;
            let now_ns = self.clock.ns();
            self.start_and_stop_due(now_ns, talk);
            self.write_program_states(now_ns);
            if let Some(ending) = self.is_over(now_ns) {
                return Ok(ending);
            }
            let wait_ns = self.next_deadline_ns().saturating_sub(self.clock.ns());
            talk.wait(wait_ns, &self.engine.control);
            self.engine.hear();
            self.engine.warnings.drain(..).for_each(|warning| talk.warn(warning));
            for (from, request) in talk.requests() {
                match request {
                    Request::Stop { status, why } => {
                        talk.answer(from, &json!({"ok": true}));
                        return Ok(requests::stopped(status, why));
                    }
                    Request::Detach {} => {
                        let answer = talk.detach(from);
                        talk.answer(from, &answer);
                    }
                    request => {
                        let answer = self.fulfil(request);
                        talk.answer(from, &answer);
                    }
                }
            }
            if let Some(ending) = talk.requested_ending() {
                return Ok(ending);
            }
        }
    }

    fn is_over(&self, now_ns: u64) -> Option<Ending> {
        if self.keep {
            return None;
        }
        match self.plan.duration_ns {
            Some(duration_ns) => {
                (now_ns >= duration_ns).then(|| Ending::new("duration", "its duration has passed"))
            }
            None => {
                let busy =
                    self.programs.iter().any(|running| !running.service && running.is_pending_or_running());
                let reason = "all programs that end by themselves have ended";
                (!busy && !self.engine.busy).then(|| Ending::new("programs", reason))
            }
        }
    }

    /// Writes the programs' states at most once a second, for the results of a run that is killed.
    fn write_program_states(&mut self, now_ns: u64) {
        let ProgramSnapshot { changed, next_ns } = &mut self.snapshot;
        if *changed && now_ns >= *next_ns {
            (*changed, *next_ns) = (false, now_ns + SNAPSHOT_INTERVAL_NS);
            let text = format!("{:#}\n", json!(self.programs));
            let _ = replace_unsynced(&Disk, &self.directory.join("raw/programs.json"), text.as_bytes());
        }
    }

    fn report_endings(&mut self, talk: &mut Talk) {
        for running in
            self.programs.iter_mut().filter(|running| running.end_ns.is_some() && !running.reported)
        {
            running.reported = true;
            talk.tell(&json!({
                "event": "program", "name": running.name, "host": running.host, "state": "ended",
                "exit": running.exit, "signal": running.signal, "expect_exit": running.expect_exit,
                "stopped_by_run": running.stopped_by_run,
            }));
        }
    }

    /// Collects every child that has ended, programs' orphans included.
    fn reap(&mut self) {
        while let Some((pid, status, usage)) = ending::next_ended() {
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
                running.ended(at_ns, status, &usage);
            }
        }
    }

    /// Resumes the engine or the observer, which somebody has stopped, and adds a warning. Programs may be stopped.
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
        // SAFETY: plain system call; the child has not been collected.
        unsafe { libc::kill(pid, libc::SIGCONT) };
    }

    fn command(&mut self, command: &Command) -> Result<()> {
        requests::send_line(&mut self.engine.control, command)
            .map_err(|error| Error::wrap("talk to the engine", error))
    }

    /// Results are complete without it: that it is gone is no failure.
    fn tell_observer(&mut self, command: &Command) {
        if let Some(observer) = &mut self.observer {
            let _ = requests::send_line(&mut observer.control, command);
        }
    }

    fn fulfil(&mut self, request: Request) -> Value {
        match request {
            Request::Stop { .. } | Request::Detach {} => Value::Null,
            Request::Hosts {} => {
                let hosts = self.hosts.iter().flatten();
                json!({"ok": true, "hosts": hosts.map(|host| {
                    (host.name.clone(), json!(BTreeMap::from(host.namespaces.descriptors())))
                }).collect::<serde_json::Map<_, _>>(), "env": self.env, "cwd": self.cwd, "cgroups": self.groups, "isolation": self.plan.isolation})
            }
            Request::Change { changes, cause } => match self.check_changes(&changes, &cause) {
                Err(message) => json!({"ok": false, "message": message}),
                Ok(repaced) => {
                    self.repaced.extend(repaced);
                    self.ask_engine(&Command::Change { changes, cause })
                }
            },
            Request::Programs {} => json!({
                "ok": true, "t_ns": self.clock.ns(), "programs": self.programs, "cgroups": self.groups,
            }),
            Request::Status {} => {
                let mut status = self.ask_engine(&Command::Status {});
                status["programs"] = json!(self.programs);
                status["name"] = json!(self.plan.name);
                status
            }
        }
    }

    /// Whether all of `changes` can be made; returns those of hosts' pacing.
    fn check_changes(
        &self,
        changes: &[LinkChange],
        cause: &Cause,
    ) -> std::result::Result<Vec<Event>, String> {
        if changes.is_empty() {
            return Err("changes: there are none".into());
        }
        if !cause.is_intervention() {
            return Err("cause: a request is made by a user, not by the scenario".into());
        }
        let at_ns = self.clock.ns();
        let planned = self.plan.events.iter().filter(|each| each.at_ns <= at_ns);
        let mut before: Vec<&Event> = planned.chain(&self.repaced).collect();
        before.sort_by_key(|each| each.at_ns);
        let mut repaced: Vec<Event> = Vec::new();
        for change in changes {
            let event = change.clone().at(at_ns, Some(cause.clone()));
            self.plan.check_event(&event)?;
            self.plan.check_pacing(before.iter().copied().chain(&repaced), &event)?;
            if !event.change.pacing.is_empty() {
                repaced.push(event);
            }
        }
        Ok(repaced)
    }

    fn ask_engine(&mut self, command: &Command) -> Value {
        if !self.started {
            return json!({"ok": false, "message": requests::NOT_YET});
        }
        let answer = self
            .command(command)
            .and_then(|()| self.engine.answer().map_err(|error| Error::wrap("hear the engine", error)));
        match answer {
            Ok(reply) => json!({"ok": true, "engine": reply}),
            Err(error) => json!({"ok": false, "message": error.to_string()}),
        }
    }
}

/// Directories that programs of hosts may write though they lie among the system's.
fn open_to_hosts(cwd: &Path, directory: &Path, groups: &Groups) -> Vec<PathBuf> {
    let temporary = std::env::var_os("TMPDIR").map(PathBuf::from);
    let places =
        [Some(cwd.to_owned()), Some(directory.to_owned()), groups.root().map(Path::to_owned), temporary];
    places.into_iter().flatten().filter_map(|place| fs::canonicalize(place).ok()).collect()
}

/// When the programs' states are written to `raw/programs.json`.
#[derive(Debug, Default)]
struct ProgramSnapshot {
    changed: bool,
    next_ns: u64,
}

fn load_laws(plan: &Plan, talk: &mut Talk) -> Result<Vec<LoadedLaw>> {
    if plan.laws.is_empty() {
        return Ok(Vec::new());
    }
    let teacher = Teacher::new()?;
    plan.laws
        .iter()
        .map(|each| {
            let loaded = teacher.load(&each.law, &each.name)?;
            talk.tell(&json!({"event": "law", "law": each.law.name(), "name": each.name}));
            Ok(loaded)
        })
        .collect()
}
