//! The engine and the observer: child processes of the supervisor, and the connections to them.

use super::connections;
use super::ending::wait_with_signals;
use crate::clock::monotonic_ns;
use crate::device::{Device, TapPort};
use crate::engine::{self, EnginePorts, Port, Share};
use crate::error::{Error, Result};
use crate::exit_status::{ABANDONED, CHILD_FAILED, ExitStatus, PANICKED};
use crate::host::Host;
use crate::observer;
use crate::oom::OomKills;
use crate::readiness::{is_readable, readable};
use crate::segment;
use crate::stderr_capture::{CapturedStderr, last_line, name_process};
use crate::sys::fork::{Process, exit, fork};
use crate::sys::wait;
use crate::tunnel;
use longhaul_plan::Plan;
use longhaul_storage::{Disk, replace};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::ffi::CStr;
use std::io::ErrorKind;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// How long the engine may take to start, and to reply.
const START_TIMEOUT_NS: u64 = 60_000_000_000;
const REPLY_TIMEOUT_NS: u64 = 10_000_000_000;
/// An engine that sends nothing for this long may have been stopped, and is resumed.
const RESUME_AFTER_NS: u64 = 500_000_000;

/// The engine's process.
pub(super) struct EngineProcess {
    pub pid: libc::pid_t,
    pub control: UnixStream,
    /// How it ended, in words, once it has.
    pub exit_description: Option<String>,
    /// The error that this is for the run, if it is one.
    pub failure: Option<Error>,
    stderr: CapturedStderr,
    log: PathBuf,
    oom: OomKills,
    /// Simulated jobs and flows keep a run without duration from ending.
    pub busy: bool,
    /// Warnings that it reported.
    pub warnings: Vec<String>,
    /// Replies still to come to commands whose time-out has passed.
    overdue: usize,
}

/// The observer's process.
pub(super) struct ObserverProcess {
    pub pid: libc::pid_t,
    pub control: UnixStream,
    stderr: CapturedStderr,
    log: PathBuf,
    oom: OomKills,
}

impl EngineProcess {
    /// Forks the engine, which takes the ports with it.
    pub fn start(
        plan: &Plan,
        hosts: &mut [Option<Host>],
        devices: &mut [Device],
        directory: &Path,
        machines: Option<&tunnel::Settings>,
        shards: Option<&[u32]>,
    ) -> Result<Self> {
        let oom = OomKills::now();
        let (pid, control, stderr) = start("engine", c"lh-engine", |control| {
            let mut ports: Vec<Option<Port>> = plan.nodes.iter().map(|_| None).collect();
            for (node, tun) in hosts.iter_mut().flatten().flat_map(Host::take_tuns) {
                ports[node] = Some(match segment::end_of(plan, node) {
                    Some(end) => Port::Tap(TapPort::new(tun, end)),
                    None => Port::Tun(tun),
                });
            }
            for device in devices.iter_mut() {
                ports[device.node] = device.port.take().map(Port::Device);
            }
            let ports = EnginePorts { ports, control };
            match (machines, shards) {
                (Some(machines), _) => engine::run(plan, ports, directory, Share::Machine(machines)),
                (None, Some(shards)) => engine::run_shards(plan, ports, directory, shards),
                (None, None) => engine::run(plan, ports, directory, Share::Whole),
            }
        })?;
        for host in hosts.iter_mut().flatten() {
            drop(host.take_tuns());
        }
        for device in devices.iter_mut() {
            drop(device.port.take());
        }
        let busy = plan.flows.iter().any(engine::is_of_engine) || !plan.jobs.is_empty();
        let log = directory.join("logs/engine.err");
        let mut engine = EngineProcess {
            pid,
            control,
            exit_description: None,
            failure: None,
            stderr,
            log,
            oom,
            busy,
            warnings: Vec::new(),
            overdue: 0,
        };
        match engine.next_reply(START_TIMEOUT_NS) {
            Ok(_) => Ok(engine),
            Err(error) => {
                let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
                engine.ended(ExitStatus(wait::wait(pid, 0).unwrap_or_default()));
                match engine.failure {
                    Some(failure) if error.kind() != ErrorKind::TimedOut => Err(failure),
                    _ => Err(Error::crash(format!(
                        "the engine did not start within {} s",
                        START_TIMEOUT_NS / 1_000_000_000
                    ))),
                }
            }
        }
    }

    /// Records how it ended.
    pub fn ended(&mut self, status: ExitStatus) {
        let how = describe_exit(status, &self.stderr, &self.log, &self.oom);
        let text = format!("the engine {how}");
        self.failure = match status {
            _ if status.is_success() => None,
            // The last line that it wrote is a sentence of its own.
            _ if status.is_failure() => {
                Some(last_line(&self.stderr.text()).map_or(Error::new(text), Error::new))
            }
            _ => Some(Error::crash(text)),
        };
        self.exit_description = Some(how);
    }

    /// Receives what the engine reports without a command. Its end is noticed when it is reaped.
    pub fn receive_reports(&mut self) {
        while self.exit_description.is_none() && is_readable(&self.control) {
            match connections::receive_line(&mut self.control) {
                Ok(reply) => drop(self.handle_report(reply)),
                Err(_) => return,
            }
        }
    }

    /// Waits until it tells when the clock starts, as the first machine decided.
    pub fn started(&mut self) -> std::io::Result<u64> {
        loop {
            if let engine::Reply::Started { start_ns } = self.answer_within(START_TIMEOUT_NS)? {
                return Ok(start_ns);
            }
        }
    }

    /// Waits for its reply to the latest command, for at most [`REPLY_TIMEOUT_NS`].
    pub fn answer(&mut self) -> std::io::Result<engine::Reply> {
        self.answer_within(REPLY_TIMEOUT_NS)
    }

    fn answer_within(&mut self, within_ns: u64) -> std::io::Result<engine::Reply> {
        loop {
            let reply = self.next_reply(within_ns).inspect_err(|_| self.overdue += 1)?;
            if let Some(answer) = self.handle_report(reply) {
                return Ok(answer);
            }
        }
    }

    /// Handles reports without a command and overdue replies; returns any other reply.
    fn handle_report(&mut self, reply: engine::Reply) -> Option<engine::Reply> {
        match reply {
            engine::Reply::Done {} => self.busy = false,
            engine::Reply::Warning { message } => self.warnings.push(message),
            _ if self.overdue > 0 => self.overdue -= 1,
            answer => return Some(answer),
        }
        None
    }

    fn next_reply(&mut self, within_ns: u64) -> std::io::Result<engine::Reply> {
        let deadline_ns = monotonic_ns() + within_ns;
        while !is_readable(&self.control) {
            if monotonic_ns() > deadline_ns {
                return Err(ErrorKind::TimedOut.into());
            }
            let began_ns = monotonic_ns();
            wait_with_signals(&mut [readable(self.control.as_fd())], RESUME_AFTER_NS);
            if monotonic_ns() - began_ns >= RESUME_AFTER_NS {
                self.resume_if_stopped();
            }
        }
        connections::receive_line(&mut self.control)
    }

    /// Sends SIGCONT, in case it has been stopped.
    pub fn resume_if_stopped(&self) {
        // The engine has not been collected, or its number is not used again in this PID namespace.
        let _ = kill(Pid::from_raw(self.pid), Signal::SIGCONT);
    }
}

impl ObserverProcess {
    /// Forks the observer, if the plan wants one.
    pub fn start(
        plan: &Plan,
        hosts: &[Option<Host>],
        directory: &Path,
        engine: &EngineProcess,
    ) -> Result<Option<Self>> {
        let Some(every_ns) = plan.measure.sockets_every_ns else { return Ok(None) };
        let oom = OomKills::now();
        let (pid, control, stderr) = start("observer", c"lh-observer", |control| {
            // This process never uses the descriptor, and must not hold it open.
            let _ = nix::unistd::close(engine.control.as_raw_fd());
            observer::run(hosts, control, every_ns, directory)
        })?;
        Ok(Some(ObserverProcess { pid, control, stderr, log: directory.join("logs/observer.err"), oom }))
    }

    /// How it ended, in words.
    pub fn ended(&self, status: ExitStatus) -> String {
        describe_exit(status, &self.stderr, &self.log, &self.oom)
    }
}

/// How a child ended, in words; its standard error goes into its log.
fn describe_exit(status: ExitStatus, stderr: &CapturedStderr, log: &Path, oom: &OomKills) -> String {
    let text = stderr.text();
    if !text.is_empty() {
        // Programs of the run can write its directory, and may have left a link there.
        let _ = replace(&Disk, log, text.as_bytes());
    }
    status.describe(last_line(&text).as_deref(), oom)
}

/// Forks a child that does `work`, with one end of a socket pair, and ends. The reason for a failure is its last
/// line on standard error.
fn start(
    name: &str,
    comm: &CStr,
    work: impl FnOnce(UnixStream) -> Result<()>,
) -> Result<(libc::pid_t, UnixStream, CapturedStderr)> {
    let stderr = CapturedStderr::new()?;
    let (ours, theirs) = UnixStream::pair().map_err(|error| Error::wrap("open a socket pair", error))?;
    match fork().map_err(|error| Error::wrap(format!("start the {name}"), error))? {
        Process::Child => {
            drop(ours);
            stderr.capture();
            name_process(comm);
            let code = match catch_unwind(AssertUnwindSafe(|| work(theirs))) {
                Ok(Ok(())) => 0,
                Ok(Err(error)) => {
                    stderr.write(&format!("{error}\n"));
                    if error.is_crash() { ABANDONED } else { CHILD_FAILED }
                }
                Err(_) => PANICKED,
            };
            exit(code)
        }
        Process::Parent(pid) => {
            drop(theirs);
            Ok((pid, ours, stderr))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use longhaul_storage::faults::folder;
    use std::fs;

    #[test]
    fn an_overdue_reply_is_not_returned_for_the_next_command() {
        let (control, theirs) = UnixStream::pair().unwrap();
        let mut engine = EngineProcess {
            pid: std::process::id() as i32,
            control,
            exit_description: None,
            failure: None,
            stderr: CapturedStderr::new().unwrap(),
            log: PathBuf::new(),
            oom: OomKills::none(),
            busy: true,
            warnings: Vec::new(),
            overdue: 0,
        };
        assert_eq!(engine.answer_within(0).unwrap_err().kind(), ErrorKind::TimedOut);
        let mut theirs = theirs;
        for reply in [
            engine::Reply::Changed { at_ns: 1 },
            engine::Reply::Warning { message: "late".into() },
            engine::Reply::Changed { at_ns: 2 },
        ] {
            connections::send_line(&mut theirs, &reply).unwrap();
        }
        let answer = engine.answer_within(1_000_000_000).unwrap();
        assert!(matches!(answer, engine::Reply::Changed { at_ns: 2 }), "{answer:?}");
        assert_eq!(engine.warnings, ["late"]);
    }

    #[test]
    fn a_link_in_place_of_a_log_is_replaced_and_not_followed() {
        let folder = folder("a_link_in_place_of_a_log");
        let (victim, log) = (folder.join("victim"), folder.join("engine.err"));
        fs::write(&victim, "precious").unwrap();
        std::os::unix::fs::symlink(&victim, &log).unwrap();
        let stderr = CapturedStderr::new().unwrap();
        stderr.write("no room\n");
        describe_exit(ExitStatus(1 << 8), &stderr, &log, &OomKills::none());
        let texts = [&victim, &log].map(|path| fs::read_to_string(path).unwrap());
        assert_eq!(texts, ["precious", "no room\n"]);
    }

    /// How a child ends that does `work`, and what it leaves in its log.
    fn ending(name: &str, work: impl FnOnce(UnixStream) -> Result<()>) -> (String, Option<String>) {
        let log = std::env::temp_dir().join(format!("longhaul-child-{name}-{}", std::process::id()));
        let (pid, _control, stderr) = start(name, c"lh-test", work).unwrap();
        let status = wait::wait(pid, 0).unwrap();
        let how = describe_exit(ExitStatus(status), &stderr, &log, &OomKills::none());
        let left = fs::read_to_string(&log).ok();
        let _ = fs::remove_file(&log);
        (how, left)
    }

    #[test]
    fn a_failed_child_reports_its_error() {
        assert_eq!(ending("good", |_| Ok(())), ("ended with exit code 0".into(), None));
        let bad = ending("bad", |_| Err(Error::new("no room")));
        assert_eq!(bad, ("ended with exit code 1: no room".into(), Some("no room\n".into())));
        assert_eq!(ending("broken", |_| std::panic::resume_unwind(Box::new(()))), ("panicked".into(), None));
    }

    #[test]
    fn a_panic_in_a_child_is_reported_with_its_location() {
        let (how, left) = ending("panic", |_| {
            crate::stderr_capture::install_panic_hook();
            panic!("the {} is broken", "engine")
        });
        assert!(how.starts_with("panicked at crates/live/src/supervisor/children.rs:"), "{how}");
        assert!(how.ends_with(": the engine is broken"), "{how}");
        assert!(left.is_some_and(|left| left.contains(&how)));
    }

    #[test]
    fn the_signal_that_kills_a_child_is_reported_by_name() {
        let (how, _) = ending("killed", |_| std::process::abort());
        assert_eq!(how, "was killed by SIGABRT");
    }
}
