//! A program in a host: started, watched, ended.

use crate::clock::monotonic_ns;
use crate::error::{Error, Result};
use crate::host::Host;
use crate::isolation;
use crate::traffic::{SharedStart, TrafficGenerator};
use longhaul_plan::{Isolation, Program};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// How long a program may take to end after SIGTERM.
pub const GRACE_NS: u64 = 2_000_000_000;

/// A program of the plan and what has become of it; times since the start of the run.
#[derive(Debug, Serialize)]
pub struct Running {
    /// Its name.
    pub name: String,
    /// Its host's name.
    pub host: String,
    /// Program and arguments.
    pub argv: Vec<String>,
    /// When it started; services start before the clock, at a negative time.
    pub start_ns: Option<i64>,
    /// When it ended.
    pub end_ns: Option<i64>,
    /// Its exit code.
    pub exit: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether the run told it to end.
    pub stopped_by_run: bool,
    /// The exit code that means success.
    pub expect_exit: Option<i32>,
    /// Whether it serves the others.
    pub service: bool,
    /// Processor time in user space.
    pub cpu_user_s: f64,
    /// Processor time in the kernel.
    pub cpu_system_s: f64,
    /// Why it could not start.
    pub error: Option<String>,
    #[serde(skip)]
    pub pid: Option<libc::pid_t>,
    #[serde(skip)]
    pub kill_at_ns: Option<u64>,
    #[serde(skip)]
    pub reported: bool,
}

impl Running {
    /// A program that has not started yet.
    pub fn new(program: &Program, host: &str) -> Self {
        Running {
            name: program.name.clone(),
            host: host.into(),
            argv: program.argv.clone(),
            start_ns: None,
            end_ns: None,
            exit: None,
            signal: None,
            stopped_by_run: false,
            expect_exit: program.expect_exit,
            service: program.service,
            cpu_user_s: 0.0,
            cpu_system_s: 0.0,
            error: None,
            pid: None,
            kill_at_ns: None,
            reported: false,
        }
    }

    /// The clock's zero has moved: everything was so much later by it.
    pub fn shift_times(&mut self, by_ns: i64) {
        for at_ns in [&mut self.start_ns, &mut self.end_ns] {
            *at_ns = at_ns.map(|at_ns| at_ns + by_ns);
        }
    }

    /// Whether it has neither ended nor failed to start.
    pub fn is_pending_or_running(&self) -> bool {
        self.end_ns.is_none() && self.error.is_none()
    }

    /// Notes that it ended, from what wait4 said.
    pub fn ended(&mut self, at_ns: i64, status: libc::c_int, usage: &libc::rusage) {
        self.pid = None;
        self.kill_at_ns = None;
        self.end_ns = Some(at_ns);
        if libc::WIFEXITED(status) {
            self.exit = Some(libc::WEXITSTATUS(status));
        } else if libc::WIFSIGNALED(status) {
            self.signal = Some(libc::WTERMSIG(status));
        }
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
        self.cpu_user_s = seconds(usage.ru_utime);
        self.cpu_system_s = seconds(usage.ru_stime);
    }

    /// The run is about to end: if it still runs, its end is no longer its own.
    pub fn expect_end(&mut self) {
        self.stopped_by_run |= self.pid.is_some();
    }

    /// Sends SIGTERM to its process group, and sets the time of the SIGKILL.
    pub fn terminate(&mut self) {
        let Some(pid) = self.pid else { return };
        if self.kill_at_ns.is_none() {
            self.stopped_by_run = true;
            self.kill_at_ns = Some(monotonic_ns() + GRACE_NS);
            // SAFETY: plain system call; the group is the one that the child made for itself.
            unsafe { libc::kill(-pid, libc::SIGTERM) };
        }
    }

    /// Sends SIGKILL to its process group.
    pub fn kill(&mut self) {
        let Some(pid) = self.pid else { return };
        // SAFETY: as above.
        unsafe { libc::kill(-pid, libc::SIGKILL) };
        self.kill_at_ns = Some(u64::MAX);
    }
}

/// The environment of the run's programs.
pub struct ProgramEnvironment<'a> {
    /// The directory that the run was started from.
    pub cwd: &'a Path,
    /// The run's directory.
    pub directory: &'a Path,
    /// Variables of every program.
    pub env: &'a BTreeMap<String, String>,
    /// What programs may do to the machine.
    pub isolation: Isolation,
}

/// Starts `program` in `host`; the calling process must have one thread.
pub fn start(
    program: &Program,
    host: &Host,
    group: Option<&File>,
    environment: &ProgramEnvironment<'_>,
) -> Result<libc::pid_t> {
    fork_program(program, host, group, environment, |prepared, _report| {
        if environment.isolation == Isolation::Strict
            && let Err(failed) = isolation::restrict()
        {
            return failed;
        }
        prepared.execute()
    })
}

/// Starts `generator` in `host` as `program`, and returns when its socket is open; the calling process must
/// have one thread.
pub fn start_traffic_generator(
    program: &Program,
    mut generator: TrafficGenerator<'_>,
    start_time: &SharedStart,
    host: &Host,
    group: Option<&File>,
    environment: &ProgramEnvironment<'_>,
) -> Result<libc::pid_t> {
    fork_program(program, host, group, environment, |_prepared, report| {
        crate::stderr_capture::name_process(c"lh-traffic");
        if let Err(error) = generator.open() {
            return ("cannot open its socket", error);
        }
        // Closing the pipe reports success.
        *report = None;
        let code = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| generator.run(start_time)));
        // SAFETY: ends the child without running the parent's destructors.
        unsafe { libc::_exit(code.unwrap_or(101)) }
    })
}

/// Forks; the child enters the host and does `then`, which returns only if it failed. While `then` has not
/// dropped the report, or executed something, the parent waits.
fn fork_program(
    program: &Program,
    host: &Host,
    group: Option<&File>,
    environment: &ProgramEnvironment<'_>,
    then: impl FnOnce(&Prepared, &mut Option<File>) -> (&'static str, std::io::Error),
) -> Result<libc::pid_t> {
    let prepared = Prepared::new(program, host, environment)
        .map_err(|error| error.at(format!("program {}", program.name)))?;
    let (failure, report) = nix::unistd::pipe2(nix::fcntl::OFlag::O_CLOEXEC)
        .map_err(|error| Error::wrap("open a pipe", error))?;
    // SAFETY: this process has one thread, so the child may do what it likes until it executes.
    match unsafe { libc::fork() } {
        -1 => Err(Error::last("start a process")),
        0 => {
            drop(failure);
            let mut report = Some(File::from(report));
            let (step, error) = match prepared.enter(host, group) {
                Ok(()) => then(&prepared, &mut report),
                Err(failed) => failed,
            };
            if let Some(mut report) = report {
                let _ = report.write_all(format!("{step}: {error}").as_bytes());
            }
            // SAFETY: ends the child without running the parent's destructors.
            unsafe { libc::_exit(127) }
        }
        pid => {
            drop(report);
            let mut message = String::new();
            let _ = File::from(failure).read_to_string(&mut message);
            if message.is_empty() {
                return Ok(pid);
            }
            // SAFETY: reaps the child that has just reported that it failed.
            unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) };
            Err(Error::new(format!("{}: {message}", program.argv[0])))
        }
    }
}

/// Everything that needs memory, made before the fork.
struct Prepared {
    argv: Vec<CString>,
    env: Vec<CString>,
    cwd: CString,
    stdout: File,
    stderr: File,
    stdin: File,
}

impl Prepared {
    fn new(program: &Program, host: &Host, environment: &ProgramEnvironment<'_>) -> Result<Self> {
        let text =
            |text: &str| CString::new(text).map_err(|_| Error::new("an argument contains a zero byte"));
        let log = |suffix: &str| {
            let path = environment.directory.join(format!("logs/{}.{suffix}", program.name));
            create_log(&path).map_err(|error| Error::wrap(format!("write {}", path.display()), error))
        };
        let mut variables: BTreeMap<String, String> = std::env::vars().collect();
        variables.extend(environment.env.clone());
        variables.insert("LONGHAUL_HOST".into(), host.name.clone());
        variables.insert("HOSTNAME".into(), host.name.clone());
        variables.extend(program.env.clone());
        let cwd = program
            .cwd
            .as_deref()
            .map_or_else(|| environment.cwd.to_string_lossy().into_owned(), String::from);
        Ok(Prepared {
            argv: program.argv.iter().map(|word| text(word)).collect::<Result<_>>()?,
            env: variables
                .iter()
                .map(|(name, value)| text(&format!("{name}={value}")))
                .collect::<Result<_>>()?,
            cwd: text(&cwd)?,
            stdout: log("out")?,
            stderr: log("err")?,
            stdin: File::open("/dev/null").map_err(|error| Error::wrap("open /dev/null", error))?,
        })
    }

    /// In the child: enters the host, or says what failed.
    fn enter(
        &self,
        host: &Host,
        group: Option<&File>,
    ) -> std::result::Result<(), (&'static str, std::io::Error)> {
        if let Some(mut group) = group {
            // "0" is the writer itself, whatever its number in whichever PID namespace.
            let _ = group.write_all(b"0");
        }
        host.namespaces.enter().map_err(|error| ("cannot enter the host", error.into()))?;
        // SAFETY: plain system calls on this process, which has one thread; the path is a terminated
        // string that outlives the call.
        unsafe {
            libc::setsid();
            if libc::chdir(self.cwd.as_ptr()) != 0 {
                return Err(("cannot enter the working directory", std::io::Error::last_os_error()));
            }
            for (file, number) in [(&self.stdin, 0), (&self.stdout, 1), (&self.stderr, 2)] {
                libc::dup2(file.as_raw_fd(), number);
            }
        }
        Ok(())
    }

    /// In the child: becomes the program, or says what failed.
    fn execute(&self) -> (&'static str, std::io::Error) {
        restore_signals();
        let argv = pointers(&self.argv);
        let env = pointers(&self.env);
        // SAFETY: all pointers are to terminated strings and arrays that outlive the call.
        unsafe { libc::execvpe(argv[0], argv.as_ptr(), env.as_ptr()) };
        ("cannot run it", std::io::Error::last_os_error())
    }
}

/// Opens a program's log; an error if an earlier program has left a symbolic link in its place.
fn create_log(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).custom_flags(libc::O_NOFOLLOW).open(path)
}

fn pointers(words: &[CString]) -> Vec<*const libc::c_char> {
    words.iter().map(|word| word.as_ptr()).chain(std::iter::once(std::ptr::null())).collect()
}

/// Undoes what the interpreter and the supervisor set, which a program would inherit.
pub fn restore_signals() {
    // SAFETY: sets default dispositions and an empty mask for this process alone.
    unsafe {
        for signal in [libc::SIGPIPE, libc::SIGINT, libc::SIGTERM, libc::SIGCHLD, libc::SIGHUP, libc::SIGXFSZ]
        {
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
    }
}

/// Whether a process of `host` listens on TCP port `port`, seen from inside through `/proc/<pid>/net`.
pub fn listens(pid: libc::pid_t, port: u16) -> bool {
    const LISTEN: &str = "0A";
    ["tcp", "tcp6"].iter().any(|table| {
        let text = std::fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default();
        text.lines().skip(1).any(|line| {
            let mut fields = line.split_whitespace().skip(1);
            let local = fields.next().unwrap_or_default();
            let state = fields.nth(1).unwrap_or_default();
            state == LISTEN
                && local.rsplit(':').next().and_then(|hex| u16::from_str_radix(hex, 16).ok()) == Some(port)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use longhaul_storage::faults::folder;

    #[test]
    fn a_log_is_not_written_through_a_link() {
        let folder = folder("a_log_is_not_written_through_a_link");
        let (victim, log) = (folder.join("victim"), folder.join("b.out"));
        std::fs::write(&victim, "precious").unwrap();
        std::os::unix::fs::symlink(&victim, &log).unwrap();
        let opened = create_log(&log).map_err(|error| error.raw_os_error());
        let text = std::fs::read_to_string(&victim).unwrap();
        assert_eq!(opened.unwrap_err(), Some(libc::ELOOP));
        assert_eq!(text, "precious");
    }
}
