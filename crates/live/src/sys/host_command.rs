//! Starting a command in a host from a process that may have threads.

use super::exec::Executable;
use super::fork::{Process, exit, fork_with_threads};
use super::{signals, wait};
use crate::credentials::Credentials;
use crate::isolation;
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::sched::{CloneFlags, setns};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::Signal;
use std::ffi::CString;
use std::fs::File;
use std::io::{self, IoSlice, Read, Write};

/// The exit code of a command that could not be started, and of one whose program could not be executed.
const NOT_STARTED: i32 = 126;
const NOT_EXECUTED: i32 = 127;

/// A command that is ready to run in a host: all that needs memory or a lock has been done.
pub struct HostCommand {
    /// The user namespace of the run.
    pub user: File,
    /// The namespaces of the host.
    pub namespaces: [(File, CloneFlags); 5],
    /// The files `cgroup.procs` of control groups to join.
    pub cgroups: Vec<File>,
    /// What the command runs as.
    pub credentials: Credentials,
    /// The working directory.
    pub cwd: CString,
    /// Whether the command may do no more to the machine than programs of the scenario.
    pub strict: bool,
    /// The program.
    pub executable: Executable,
}

/// A step that failed, and its error.
type Failure = (&'static str, Errno);

/// A command that has been started.
pub struct RunningCommand {
    /// The process that waits for the command, and ends with its exit code.
    pub pid: libc::pid_t,
    failure: File,
}

impl RunningCommand {
    /// Why the command could not be run, if it could not; to be called when the process has ended.
    pub fn failure(mut self) -> Option<(String, io::Error)> {
        let mut report = [0; 128];
        let length = self.failure.read(&mut report).ok()?;
        let (code, step) = report[..length].split_first_chunk()?;
        let step = String::from_utf8_lossy(step).into_owned();
        Some((step, io::Error::from_raw_os_error(i32::from_ne_bytes(*code))))
    }
}

impl HostCommand {
    /// Starts the command, in two processes: a process that enters a PID namespace is not in it itself, but its
    /// children are. The command ends when its parent ends.
    pub fn start(&self) -> io::Result<RunningCommand> {
        // Other threads may fork meanwhile and hold the pipe open, so that a read could wait for them.
        let (failure, report) = nix::unistd::pipe2(OFlag::O_CLOEXEC | OFlag::O_NONBLOCK)?;
        let (failure, report) = (File::from(failure), File::from(report));
        // SAFETY: the child calls `enter_and_run`, which makes system calls alone; a test checks that it allocates
        // nothing.
        match unsafe { fork_with_threads() }? {
            Process::Child => exit(self.enter_and_run(&report)),
            Process::Parent(pid) => Ok(RunningCommand { pid, failure }),
        }
    }

    /// In the first child: enters the host, starts the command and waits for it. Async-signal-safe.
    fn enter_and_run(&self, report: &File) -> i32 {
        if let Err(failure) = self.enter() {
            return fail(report, failure, NOT_STARTED);
        }
        // SAFETY: the child calls `execute`, which makes system calls alone.
        match unsafe { fork_with_threads() } {
            Err(_) => fail(report, ("cannot start a process in the host", Errno::last()), NOT_STARTED),
            Ok(Process::Child) => exit(self.execute(report)),
            Ok(Process::Parent(child)) => {
                // Ctrl-C is for the command; its exit code is what we report.
                signals::ignore(&[Signal::SIGINT, Signal::SIGQUIT]);
                signals::restore_default(&[Signal::SIGTERM, Signal::SIGHUP]);
                wait::exit_code(child, || ())
            }
        }
    }

    fn enter(&self) -> Result<(), Failure> {
        let _ = set_pdeathsig(Signal::SIGTERM);
        for mut cgroup in &self.cgroups {
            // "0" is the writer itself, whatever its number in whichever PID namespace.
            let _ = cgroup.write(b"0");
        }
        // Entering one's own user namespace fails, and is not needed then.
        let _ = setns(&self.user, CloneFlags::CLONE_NEWUSER);
        for (file, kind) in &self.namespaces {
            setns(file, *kind).map_err(|error| ("cannot enter the host", error))?;
        }
        let _ = nix::unistd::chdir(self.cwd.as_c_str());
        Ok(())
    }

    /// In the second child: becomes the command; returns the exit code if it cannot.
    fn execute(&self, report: &File) -> i32 {
        signals::restore_for_programs();
        let _ = set_pdeathsig(Signal::SIGTERM);
        if self.strict
            && let Err(failure) = isolation::restrict()
        {
            return fail(report, failure, NOT_STARTED);
        }
        if let Err(failure) = self.credentials.assume() {
            return fail(report, failure, NOT_STARTED);
        }
        fail(report, ("cannot run", self.executable.execute()), NOT_EXECUTED)
    }
}

/// Reports a failure to the process that forked, which can put it into words; returns `code`.
fn fail(mut report: &File, (step, error): Failure, code: i32) -> i32 {
    let number = (error as i32).to_ne_bytes();
    let _ = report.write_vectored(&[IoSlice::new(&number), IoSlice::new(step.as_bytes())]);
    code
}
