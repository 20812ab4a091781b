//! Ending a run: signals, child processes and the last records.

use super::Supervisor;
use super::connections::ControlConnections;
use crate::clock::monotonic_ns;
use crate::counters::{self, Counted};
use crate::engine::Command;
use crate::error::{Error, Result};
use crate::program;
use crate::programs;
use crate::readiness::is_readable;
use crate::sys::{signals, wait};
use nix::poll::{PollFd, ppoll};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{SigSet, Signal, kill};
use nix::unistd::Pid;
use serde_json::{Map, json};
use std::os::fd::OwnedFd;
use std::time::Duration;

/// How long the engine may take to write its results.
const ENGINE_TIMEOUT_NS: u64 = 10_000_000_000;
/// How long the observer may take to write its records.
const OBSERVER_TIMEOUT_NS: u64 = 2_000_000_000;
/// After this time the engine is sent SIGCONT, in case it has been stopped.
const STALL_TIMEOUT_NS: u64 = 500_000_000;
/// How long the end of the worker may follow that of the client, or the other way round, if both are killed at once.
const JOINT_END_TIMEOUT_NS: u64 = 60_000_000;
/// Interval between two checks of children that are to end.
const POLL_INTERVAL_NS: u64 = 2_000_000;

pub use crate::sys::signals::{stop_signal, worker_has_ended};

impl Supervisor<'_> {
    /// Ends programs, then services, then the engine, and writes their records.
    pub(super) fn end(&mut self, control: &mut ControlConnections, reason: &str) -> Result<()> {
        control.report(&json!({"event": "ending", "reason": reason}));
        // From here on, programs end because the run does.
        self.reap();
        self.programs.iter_mut().for_each(program::ProgramState::expect_end);
        self.end_programs(false, control);
        self.end_programs(true, control);
        self.end_observer();
        if let Some(how) =
            self.observer_failure.take().or(self.observer.is_some().then(|| "did not end".into()))
        {
            control.warn(format!("TCP socket statistics are incomplete, because the observer {how}"));
        }
        let counted = self.read_counters();
        let engine = self.end_engine();
        self.engine.warnings.drain(..).for_each(|warning| control.warn(warning));
        engine.and(programs::write_records(&self.directory, &self.programs, &counted))
    }

    fn end_programs(&mut self, services: bool, control: &mut ControlConnections) {
        let concerned = |running: &&mut super::ProgramState| running.service == services;
        for running in self.programs.iter_mut().filter(concerned) {
            running.terminate();
        }
        loop {
            self.reap();
            self.report_program_ends(control);
            let mut left =
                self.programs.iter_mut().filter(concerned).filter(|running| running.pid.is_some()).peekable();
            if left.peek().is_none() {
                return;
            }
            for running in left {
                if running.kill_at_ns.is_some_and(|at_ns| at_ns <= monotonic_ns()) {
                    running.kill();
                }
            }
            wait_with_signals(&mut [], POLL_INTERVAL_NS);
        }
    }

    /// Ends the observer; one that does not react is killed with all other processes.
    fn end_observer(&mut self) {
        self.send_to_observer(&Command::Stop {});
        let deadline_ns = monotonic_ns() + OBSERVER_TIMEOUT_NS;
        while self.observer.is_some() && monotonic_ns() < deadline_ns {
            wait_with_signals(&mut [], POLL_INTERVAL_NS);
            self.reap();
        }
    }

    /// Packets that the kernel dropped at each host, all its counters there, and the congestion-control algorithm
    /// of the host's connections that name none.
    fn read_counters(&self) -> [serde_json::Value; 3] {
        let softnet = counters::softnet_dropped().saturating_sub(self.softnet_before);
        let (mut hosts, mut accounts, mut algorithms) = (Map::new(), Map::new(), Map::new());
        for host in self.hosts.iter().flatten() {
            // From here on in the host's network namespace.
            let Counted { mut drops, all: mut everything } = counters::read(host).unwrap_or_default();
            drops.insert("softnet_dropped".into(), softnet);
            hosts.insert(host.name.clone(), json!(drops));
            let group = self.groups.root().map(|groups| groups.join(&host.name));
            if let Some(waited_ns) = group.as_deref().and_then(counters::processor_wait) {
                everything.insert("cpu.waited_ns".into(), waited_ns);
            }
            if let Some((user_ns, system_ns)) = group.as_deref().and_then(counters::processor_time) {
                everything.extend([("cpu.user_ns".into(), user_ns), ("cpu.system_ns".into(), system_ns)]);
            }
            let effects = self.groups.effects(&host.name);
            everything.extend(effects.into_iter().map(|(name, value)| (name.to_owned(), value)));
            accounts.insert(host.name.clone(), json!(everything));
            if let Some(name) = counters::congestion_control() {
                algorithms.insert(host.name.clone(), json!(name));
            }
        }
        let _ = self.base.enter();
        [hosts.into(), accounts.into(), algorithms.into()]
    }

    fn end_engine(&mut self) -> Result<()> {
        if self.engine.exit_description.is_none() {
            let _ = self.command(&Command::Stop {});
        }
        let began_ns = monotonic_ns();
        while self.engine.exit_description.is_none() {
            let waited_ns = monotonic_ns() - began_ns;
            if waited_ns > ENGINE_TIMEOUT_NS {
                let seconds = ENGINE_TIMEOUT_NS / 1_000_000_000;
                return Err(Error::crash(format!("the engine did not write its results within {seconds} s")));
            }
            if waited_ns > STALL_TIMEOUT_NS {
                self.engine.resume_if_stopped();
            }
            wait_with_signals(&mut [], POLL_INTERVAL_NS);
            self.reap();
            // It may still send reports, and must not block on them.
            self.engine.receive_reports();
        }
        self.engine.failure.clone().map_or(Ok(()), Err)
    }
}

/// Blocks the signals that the supervisor waits for, so that none arrives between a check and a wait.
pub fn block_signals() {
    let _ = handled_signals().thread_block();
    signals::record(&HANDLED_SIGNALS);
    signals::ignore(&[Signal::SIGPIPE]);
}

/// Asks the kernel for a signal when the worker, this process's parent, ends. `worker_pipe` is the read end of a pipe
/// whose write end only the worker has open.
pub fn follow_worker(worker_pipe: &OwnedFd) {
    block_signals();
    let _ = set_pdeathsig(signals::WORKER_ENDED);
    // It may have ended before that.
    if is_readable(worker_pipe) {
        signals::record_end_of_worker();
    }
}

/// Unblocks these signals for this process.
pub fn unblock_signals() {
    let _ = handled_signals().thread_unblock();
}

const HANDLED_SIGNALS: [Signal; 5] =
    [Signal::SIGCHLD, Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP, signals::WORKER_ENDED];

fn handled_signals() -> SigSet {
    HANDLED_SIGNALS.into_iter().collect()
}

/// Whether SIGTERM, SIGINT or SIGHUP has been received.
pub fn stop_requested() -> bool {
    stop_signal().is_some()
}

/// Waits while only one of worker and client is gone: processes that are killed at once end one after the other.
pub fn wait_for_joint_end(control: &mut ControlConnections) {
    let until_ns = monotonic_ns() + JOINT_END_TIMEOUT_NS;
    loop {
        drop(control.requests());
        let one_is_gone = if worker_has_ended() { !control.client_is_gone() } else { control.is_abandoned() };
        if !one_is_gone || monotonic_ns() > until_ns {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits for one of `watched` to be ready, for a signal, or for `timeout_ns`.
pub fn wait_with_signals(watched: &mut [PollFd<'_>], timeout_ns: u64) {
    // The empty mask lets the blocked signals through.
    let _ = ppoll(watched, Some(Duration::from_nanos(timeout_ns).into()), Some(SigSet::empty()));
    // Where something was ready at once, ppoll has delivered none.
    unblock_signals();
    let _ = handled_signals().thread_block();
}

/// Ends every process of this PID namespace but this one, and waits until they are gone.
pub fn kill_everything() {
    if std::process::id() == 1 {
        // -1 is every process of this PID namespace but this one.
        let _ = kill(Pid::from_raw(-1), Signal::SIGKILL);
    }
    wait::collect_all();
}
