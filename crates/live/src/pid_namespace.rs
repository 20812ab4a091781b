//! The PID namespace of one host (`pid_namespaces(7)`), nested in that of the run: its processes see and signal only each
//! other.
//!
//! Its init process reaps orphaned processes, and does nothing else.

use crate::error::{Error, Result};
use crate::host_mounts::mount_proc;
use crate::isolation;
use crate::stderr_capture::name_process;
use crate::sys::fork::{Process, exit, fork};
use crate::sys::signals;
use longhaul_plan::Isolation;
use nix::fcntl::{OFlag, openat};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::signal::Signal;
use nix::sys::stat::Mode;
use std::fs::File;
use std::io::{self, Read, Write};

/// Creates a PID namespace and mounts its `/proc` in the mount namespace that this process is in, which must have one
/// thread. Returns the namespace, for [`fork_into`].
pub fn create(isolation: Isolation) -> Result<File> {
    let failed = |error: io::Error| Error::wrap("create a PID namespace for the host", error);
    // The /proc that init mounts over this one does not have this process.
    let proc = File::open("/proc").map_err(failed)?;
    let own = File::open("/proc/self/ns/pid").map_err(failed)?;
    let (failure, report) = io::pipe().map_err(failed)?;
    unshare(CloneFlags::CLONE_NEWPID).map_err(|error| failed(error.into()))?;
    match fork().map_err(failed)? {
        Process::Child => {
            drop(failure);
            name_process(c"lh-host-init");
            exit(run_init(isolation, report))
        }
        Process::Parent(_) => {
            drop(report);
            let namespace =
                openat(&proc, "self/ns/pid_for_children", OFlag::O_RDONLY | OFlag::O_CLOEXEC, Mode::empty());
            restore(&own).map_err(failed)?;
            let mut message = String::new();
            let _ = { failure }.read_to_string(&mut message);
            if message.is_empty() {
                return Ok(File::from(namespace.map_err(|error| failed(error.into()))?));
            }
            Err(Error::new(message))
        }
    }
}

/// Forks; the child is in `namespace`. The calling process must have one thread.
pub fn fork_into(namespace: &File) -> io::Result<Process> {
    let own = File::open("/proc/self/ns/pid")?;
    setns(namespace, CloneFlags::CLONE_NEWPID)?;
    let forked = fork();
    if !matches!(forked, Ok(Process::Child)) {
        restore(&own)?;
    }
    forked
}

/// Creates later children in `own` again, the PID namespace of this process.
fn restore(own: &File) -> io::Result<()> {
    Ok(setns(own, CloneFlags::CLONE_NEWPID)?)
}

/// Runs as init; returns only if it fails. Closes `report` once `/proc` is mounted.
fn run_init(isolation: Isolation, mut report: impl Write) -> i32 {
    if let Err(error) = prepare(isolation) {
        let _ = report.write_all(error.to_string().as_bytes());
        return 1;
    }
    drop(report);
    // Among them are the supervisor's sockets and the hosts' ports, which stay open with their last descriptor.
    isolation::close_all_but(&[]);
    // The kernel then reaps children itself.
    signals::ignore(&[Signal::SIGCHLD]);
    loop {
        nix::unistd::pause();
    }
}

fn prepare(isolation: Isolation) -> Result<()> {
    mount_proc()?;
    if isolation == Isolation::Strict {
        isolation::restrict_proc()?;
        isolation::restrict().map_err(|(step, error)| Error::wrap(step, error))?;
    }
    Ok(())
}
