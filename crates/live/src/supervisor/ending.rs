//! Ending a run: signals, child processes and the last records.

use super::Supervisor;
use super::requests::ControlConnections;
use crate::clock::monotonic_ns;
use crate::counters;
use crate::engine::Command;
use crate::error::{Error, Result};
use crate::program;
use longhaul_storage::{Disk, replace};
use serde_json::{Map, json};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// How long the engine may take to write its results.
const ENGINE_TIMEOUT_NS: u64 = 10_000_000_000;
/// How long the observer may take to write its records.
const OBSERVER_TIMEOUT_NS: u64 = 2_000_000_000;
/// After this time the engine is sent SIGCONT, in case it has been stopped.
const STALL_TIMEOUT_NS: u64 = 500_000_000;
/// Interval between two checks of children that are to end.
const POLL_INTERVAL_NS: u64 = 2_000_000;

impl Supervisor<'_> {
    /// Ends programs, then services, then the engine, and writes their records.
    pub(super) fn end(&mut self, control: &mut ControlConnections, reason: &str) -> Result<()> {
        control.report(&json!({"event": "ending", "reason": reason}));
        // From here on, programs end because the run does.
        self.reap();
        self.programs.iter_mut().for_each(program::Running::expect_end);
        self.end_programs(false, control);
        self.end_programs(true, control);
        self.end_observer();
        if let Some(how) =
            self.observer_failure.take().or(self.observer.is_some().then(|| "did not end".into()))
        {
            control.warn(format!("TCP socket statistics are incomplete, because the observer {how}"));
        }
        let [counted, accounts, algorithms] = self.read_counters();
        let engine = self.end_engine();
        self.engine.warnings.drain(..).for_each(|warning| control.warn(warning));
        let write = |name: &str, value: &serde_json::Value| {
            let path = self.directory.join("raw").join(name);
            replace(&Disk, &path, format!("{value:#}\n").as_bytes())
                .map_err(|error| Error::wrap(format!("write {}", path.display()), error))
        };
        // If one cannot be written, the others may.
        let written = [
            write("programs.json", &json!(self.programs)),
            write("hosts.json", &counted),
            write("accounts.json", &accounts),
            write("algorithms.json", &algorithms),
        ];
        engine.and(written.into_iter().collect())
    }

    fn end_programs(&mut self, services: bool, control: &mut ControlConnections) {
        let concerned = |running: &&mut super::Running| running.service == services;
        self.programs.iter_mut().filter(concerned).for_each(|running| running.terminate());
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
            let mut counted = counters::read(host).unwrap_or_default();
            counted.insert("softnet_dropped".into(), softnet);
            hosts.insert(host.name.clone(), json!(counted));
            let mut everything = counters::everything();
            let group = self.groups.as_ref().map(|groups| groups.join(&host.name));
            if let Some(waited_ns) = group.as_deref().and_then(counters::processor_wait) {
                everything.insert("cpu.waited_ns".into(), waited_ns);
            }
            if let Some((user_ns, system_ns)) = group.as_deref().and_then(counters::processor_time) {
                everything.extend([("cpu.user_ns".into(), user_ns), ("cpu.system_ns".into(), system_ns)]);
            }
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
    // SAFETY: the set outlives the calls; the handlers do nothing but exist.
    unsafe {
        let set = handled_signals();
        libc::sigprocmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
        for signal in HANDLED_SIGNALS {
            libc::signal(signal, note as *const () as libc::sighandler_t);
        }
        libc::signal(libc::SIGPIPE, libc::SIG_IGN);
    }
}

/// Asks the kernel for a signal when the worker, this process's parent, ends. `worker_pipe` is the read end of a pipe
/// whose write end only the worker has open.
pub fn follow_worker(worker_pipe: &OwnedFd) {
    block_signals();
    let mut watched = libc::pollfd { fd: worker_pipe.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: plain system calls; the structure outlives the second.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, WORKER_GONE);
        // It may have ended before that.
        if libc::poll(&mut watched, 1, 0) > 0 {
            note(WORKER_GONE);
        }
    }
}

/// Unblocks these signals for this process.
pub fn unblock_signals() {
    // SAFETY: the set outlives the call.
    unsafe { libc::sigprocmask(libc::SIG_UNBLOCK, &handled_signals(), std::ptr::null_mut()) };
}

/// The signal that the kernel sends when the worker has ended.
const WORKER_GONE: libc::c_int = libc::SIGUSR2;
const HANDLED_SIGNALS: [libc::c_int; 5] =
    [libc::SIGCHLD, libc::SIGTERM, libc::SIGINT, libc::SIGHUP, WORKER_GONE];

/// The first signal that requested the end; 0 if none has.
static STOP: AtomicI32 = AtomicI32::new(0);
static WORKER_ENDED: AtomicBool = AtomicBool::new(false);

extern "C" fn note(signal: libc::c_int) {
    match signal {
        libc::SIGCHLD => {}
        WORKER_GONE => WORKER_ENDED.store(true, Ordering::Relaxed),
        _ => drop(STOP.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed)),
    }
}

/// Whether SIGTERM, SIGINT or SIGHUP has been received.
pub fn stop_requested() -> bool {
    stop_signal().is_some()
}

/// The first of these signals.
pub fn stop_signal() -> Option<libc::c_int> {
    Some(STOP.load(Ordering::Relaxed)).filter(|&signal| signal != 0)
}

/// Whether the worker has ended.
pub fn worker_is_gone() -> bool {
    WORKER_ENDED.load(Ordering::Relaxed)
}

fn handled_signals() -> libc::sigset_t {
    // SAFETY: an all-zero set is valid, and the calls write within it.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        for signal in HANDLED_SIGNALS {
            libc::sigaddset(&mut set, signal);
        }
        set
    }
}

/// Waits for one of `watched` to be readable, for a signal, or for `timeout_ns`.
pub fn wait_with_signals(watched: &mut [libc::pollfd], timeout_ns: u64) {
    let timeout = libc::timespec {
        tv_sec: (timeout_ns / 1_000_000_000) as libc::time_t,
        tv_nsec: (timeout_ns % 1_000_000_000) as libc::c_long,
    };
    // SAFETY: all structures outlive the call; the empty mask lets the blocked signals through.
    unsafe {
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::ppoll(watched.as_mut_ptr(), watched.len() as libc::nfds_t, &timeout, &none);
        // Where something was readable at once, it has delivered none.
        let set = handled_signals();
        libc::sigprocmask(libc::SIG_UNBLOCK, &set, std::ptr::null_mut());
        libc::sigprocmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
    }
}

/// Reaps one child that has ended, or returns one that was stopped.
pub fn reap_child() -> Option<(libc::pid_t, libc::c_int, libc::rusage)> {
    // SAFETY: an all-zero rusage is valid; both structures outlive the call.
    unsafe {
        let mut status = 0;
        let mut usage: libc::rusage = std::mem::zeroed();
        let pid = libc::wait4(-1, &mut status, libc::WNOHANG | libc::WUNTRACED, &mut usage);
        (pid > 0).then_some((pid, status, usage))
    }
}

/// Ends every process of this PID namespace but this one, and waits until they are gone.
pub fn kill_everything() {
    // SAFETY: plain system calls; -1 reaches every process of this PID namespace but ourselves.
    unsafe {
        if libc::getpid() == 1 {
            libc::kill(-1, libc::SIGKILL);
        }
        while libc::waitpid(-1, std::ptr::null_mut(), 0) > 0 {}
    }
}
