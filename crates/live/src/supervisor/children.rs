//! The engine and the observer: processes beside the supervisor that it starts, tells and hears.

use super::requests;
use crate::engine::{self, Ports};
use crate::error::{Error, Result};
use crate::host::Host;
use crate::observer;
use crate::tun::Tun;
use longhaul_plan::Plan;
use std::fs;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// The engine, seen from here.
pub(super) struct EngineProcess {
    pub pid: libc::pid_t,
    pub control: UnixStream,
    pub alive: bool,
    /// Simulated jobs and flows keep a run without duration from ending.
    pub busy: bool,
}

/// The observer, seen from here.
pub(super) struct ObserverProcess {
    pub pid: libc::pid_t,
    pub control: UnixStream,
}

impl EngineProcess {
    /// Forks the engine, which takes the ports with it.
    pub fn start(plan: &Plan, hosts: &mut [Option<Host>], directory: &Path) -> Result<Self> {
        let (pid, mut control) = start("engine", directory, |control| {
            let tuns: Vec<Option<Tun>> =
                hosts.iter_mut().map(|host| host.as_mut().and_then(Host::take_tun)).collect();
            engine::run(plan, Ports { tuns, control }, directory)
        })?;
        for host in hosts.iter_mut().flatten() {
            drop(host.take_tun());
        }
        requests::receive_line::<engine::Reply>(&mut control).map_err(|error| {
            Error::wrap("start the engine", error).with_remedy("see logs/engine.err in the run's directory")
        })?;
        let busy = plan.flows.iter().any(|flow| flow.simulated) || !plan.jobs.is_empty();
        Ok(EngineProcess { pid, control, alive: true, busy })
    }

    /// Hears what the engine says unasked. That its end is gone shows when it is collected.
    pub fn hear(&mut self) {
        while self.busy && requests::is_readable(&self.control) {
            match requests::receive_line(&mut self.control) {
                Ok(engine::Reply::Done {}) => self.busy = false,
                Ok(_) => {}
                Err(_) => return,
            }
        }
    }

    /// Waits for its answer.
    pub fn answer(&mut self) -> std::io::Result<engine::Reply> {
        loop {
            match requests::receive_line(&mut self.control)? {
                engine::Reply::Done {} => self.busy = false,
                answer => return Ok(answer),
            }
        }
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
        let (pid, control) = start("observer", directory, |control| {
            // SAFETY: plain system call; this process never uses the descriptor, and must not hold it open.
            unsafe { libc::close(engine.control.as_raw_fd()) };
            observer::run(hosts, control, every_ns, directory)
        })?;
        Ok(Some(ObserverProcess { pid, control }))
    }
}

/// Forks a child that does `work`, with one end of a line to here, and ends. Why it failed is left in
/// `logs/<name>.err`.
fn start(
    name: &str,
    directory: &Path,
    work: impl FnOnce(UnixStream) -> Result<()>,
) -> Result<(libc::pid_t, UnixStream)> {
    let (ours, theirs) = UnixStream::pair().map_err(|error| Error::wrap("open a socket pair", error))?;
    // SAFETY: this process has one thread.
    match unsafe { libc::fork() } {
        -1 => Err(Error::last(&format!("start the {name}"))),
        0 => {
            drop(ours);
            let code = match catch_unwind(AssertUnwindSafe(|| work(theirs))) {
                Ok(Ok(())) => 0,
                Ok(Err(error)) => {
                    let _ = fs::write(directory.join(format!("logs/{name}.err")), format!("{error}\n"));
                    1
                }
                Err(_) => 101,
            };
            // SAFETY: ends the process without the supervisor's destructors.
            unsafe { libc::_exit(code) }
        }
        pid => {
            drop(theirs);
            Ok((pid, ours))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How a child ends that does `work`, and what it leaves in its log.
    fn ending(name: &str, work: impl FnOnce(UnixStream) -> Result<()>) -> (i32, Option<String>) {
        let directory = std::env::temp_dir().join(format!("longhaul-child-{name}-{}", std::process::id()));
        fs::create_dir_all(directory.join("logs")).unwrap();
        let (pid, _control) = start(name, &directory, work).unwrap();
        let mut status = 0;
        // SAFETY: waits for the child that has just been started; the status outlives the call.
        assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
        let left = fs::read_to_string(directory.join(format!("logs/{name}.err"))).ok();
        fs::remove_dir_all(&directory).unwrap();
        (libc::WEXITSTATUS(status), left)
    }

    #[test]
    fn a_child_ends_in_itself_and_says_why() {
        assert_eq!(ending("good", |_| Ok(())), (0, None));
        assert_eq!(ending("bad", |_| Err(Error::new("no room"))), (1, Some("no room\n".into())));
        assert_eq!(ending("broken", |_| std::panic::resume_unwind(Box::new(()))), (101, None));
    }
}
