//! A program in a host: started, watched, ended.

use crate::clock::monotonic_ns;
use crate::command_line;
use crate::credentials::Credentials;
use crate::error::{Error, Result};
use crate::exit_status::PANICKED;
use crate::host::Host;
use crate::host_root;
use crate::isolation;
use crate::sys::exec::Executable;
use crate::sys::fork::{Process, exit, fork};
use crate::sys::{signals, wait};
use crate::traffic::{SharedStart, TrafficGenerator};
use longhaul_plan::{Isolation, Program};
use nix::fcntl::{OFlag, open};
use nix::sys::signal::{Signal, killpg};
use nix::sys::stat::Mode;
use nix::unistd::{Pid, chdir, dup2_stderr, dup2_stdin, dup2_stdout, setsid};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::{CString, OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// How long a program may take to end after SIGTERM.
pub const GRACE_NS: u64 = 2_000_000_000;

/// A program of the plan and its state; times since the start of the run.
#[derive(Debug, Serialize)]
pub struct ProgramState {
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
    /// Whether the run ended it.
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

impl ProgramState {
    /// A program that has not started yet.
    pub fn new(program: &Program, host: &str) -> Self {
        ProgramState {
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

    /// Adds `by_ns` to its times, because the clock's zero has moved.
    pub fn shift_times(&mut self, by_ns: i64) {
        for at_ns in [&mut self.start_ns, &mut self.end_ns] {
            *at_ns = at_ns.map(|at_ns| at_ns + by_ns);
        }
    }

    /// Whether it has neither ended nor failed to start.
    pub fn is_pending_or_running(&self) -> bool {
        self.end_ns.is_none() && self.error.is_none()
    }

    /// Records its end from the status of wait4(2), and the processor time that it used.
    pub fn ended(&mut self, at_ns: i64, status: libc::c_int, used: ProcessorTime) {
        self.pid = None;
        self.kill_at_ns = None;
        self.end_ns = Some(at_ns);
        if libc::WIFEXITED(status) {
            self.exit = Some(libc::WEXITSTATUS(status));
        } else if libc::WIFSIGNALED(status) {
            self.signal = Some(libc::WTERMSIG(status));
        }
        self.cpu_user_s = used.user_s;
        self.cpu_system_s = used.system_s;
    }

    /// Marks a program that still runs as stopped by the run, which is about to end.
    pub fn expect_end(&mut self) {
        self.stopped_by_run |= self.pid.is_some();
    }

    /// Sends SIGTERM to its process group, and sets the time of the SIGKILL.
    pub fn terminate(&mut self) {
        let Some(pid) = self.pid else { return };
        if self.kill_at_ns.is_none() {
            self.stopped_by_run = true;
            self.kill_at_ns = Some(monotonic_ns() + GRACE_NS);
            // The child has made this group for itself.
            let _ = killpg(Pid::from_raw(pid), Signal::SIGTERM);
        }
    }

    /// Sends SIGKILL to its process group.
    pub fn kill(&mut self) {
        let Some(pid) = self.pid else { return };
        let _ = killpg(Pid::from_raw(pid), Signal::SIGKILL);
        self.kill_at_ns = Some(u64::MAX);
    }
}

/// Processor time of a process and its descendants.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct ProcessorTime {
    /// In user space, in seconds.
    pub user_s: f64,
    /// In the kernel.
    pub system_s: f64,
}

impl From<&libc::rusage> for ProcessorTime {
    fn from(usage: &libc::rusage) -> Self {
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
        ProcessorTime { user_s: seconds(usage.ru_utime), system_s: seconds(usage.ru_stime) }
    }
}

/// The host that a program starts in.
pub enum ProgramHost<'a> {
    /// Namespaces, and files through which a process joins the host's control groups.
    Namespaces(&'a Host, &'a [File]),
    /// The host that this process is in.
    Local(&'a LocalHost),
}

/// What programs find of the host that this process is in.
pub struct LocalHost {
    /// Its name.
    pub name: String,
    /// What they find as its host name.
    pub hostname: String,
    /// What they run as.
    pub credentials: Credentials,
    /// Whether it has a root directory of its own.
    pub has_root: bool,
}

impl ProgramHost<'_> {
    /// Forks; the child is in the host's PID namespace.
    fn fork(&self) -> std::io::Result<Process> {
        match self {
            ProgramHost::Namespaces(host, _) => host.namespaces.fork(),
            ProgramHost::Local(_) => fork(),
        }
    }

    fn name(&self) -> &str {
        match self {
            ProgramHost::Namespaces(host, _) => &host.name,
            ProgramHost::Local(host) => &host.name,
        }
    }

    fn hostname(&self) -> &str {
        match self {
            ProgramHost::Namespaces(host, _) => &host.hostname,
            ProgramHost::Local(host) => &host.hostname,
        }
    }

    fn credentials(&self) -> &Credentials {
        match self {
            ProgramHost::Namespaces(host, _) => &host.credentials,
            ProgramHost::Local(host) => &host.credentials,
        }
    }

    fn has_root(&self) -> bool {
        match self {
            ProgramHost::Namespaces(host, _) => host.has_root,
            ProgramHost::Local(host) => host.has_root,
        }
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

/// The standard streams of a program.
pub struct Streams {
    /// Standard input.
    pub stdin: OwnedFd,
    /// Standard output.
    pub stdout: OwnedFd,
    /// Standard error.
    pub stderr: OwnedFd,
    /// The terminal that all three are, which the program controls.
    pub terminal: Option<CString>,
}

impl Streams {
    /// Nothing to read, and a log for what is written to each of the others.
    fn logs(program: &Program, environment: &ProgramEnvironment<'_>) -> Result<Self> {
        let log = |suffix: &str| {
            let path = environment.directory.join(format!("logs/{}.{suffix}", program.name));
            create_log(&path).map_err(|error| Error::wrap(format!("write {}", path.display()), error))
        };
        let stdin = File::open("/dev/null").map_err(|error| Error::wrap("open /dev/null", error))?;
        Ok(Streams {
            stdin: stdin.into(),
            stdout: log("out")?.into(),
            stderr: log("err")?.into(),
            terminal: None,
        })
    }
}

/// Starts `program` in a host; the calling process must have one thread.
pub fn start(
    program: &Program,
    place: &ProgramHost<'_>,
    environment: &ProgramEnvironment<'_>,
) -> Result<libc::pid_t> {
    let streams = named(program, Streams::logs(program, environment))?;
    start_with(streams, program, place, environment)
}

/// The same with other standard streams than its logs.
pub fn start_with(
    streams: Streams,
    program: &Program,
    place: &ProgramHost<'_>,
    environment: &ProgramEnvironment<'_>,
) -> Result<libc::pid_t> {
    fork_program(streams, program, place, environment, |prepared, _report| {
        if environment.isolation == Isolation::Strict
            && let Err((step, error)) = isolation::restrict()
        {
            return (step, error.into());
        }
        if let Err((step, error)) = place.credentials().assume() {
            return (step, error.into());
        }
        signals::restore_for_programs();
        ("cannot run it", prepared.executable.execute().into())
    })
}

/// Starts `generator` in a host as `program`, and returns when its socket is open; the calling process must
/// have one thread.
pub fn start_traffic_generator(
    program: &Program,
    mut generator: TrafficGenerator<'_>,
    start_time: &SharedStart,
    place: &ProgramHost<'_>,
    environment: &ProgramEnvironment<'_>,
) -> Result<libc::pid_t> {
    let streams = named(program, Streams::logs(program, environment))?;
    fork_program(streams, program, place, environment, |_prepared, report| {
        crate::stderr_capture::name_process(c"lh-traffic");
        if let Err(error) = generator.open() {
            return ("cannot open its socket", error);
        }
        // Closing the pipe reports success.
        *report = None;
        let code = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| generator.run(start_time)));
        exit(code.unwrap_or(PANICKED))
    })
}

/// Forks; the child enters the host and does `then`, which returns only if it failed. While `then` has not
/// dropped the report, or executed something, the parent waits.
fn fork_program(
    streams: Streams,
    program: &Program,
    place: &ProgramHost<'_>,
    environment: &ProgramEnvironment<'_>,
    then: impl FnOnce(&Prepared, &mut Option<File>) -> (&'static str, std::io::Error),
) -> Result<libc::pid_t> {
    let prepared = named(program, Prepared::new(streams, program, place, environment))?;
    let (failure, report) = nix::unistd::pipe2(nix::fcntl::OFlag::O_CLOEXEC)
        .map_err(|error| Error::wrap("open a pipe", error))?;
    match place.fork().map_err(|error| Error::wrap("start a process", error))? {
        Process::Child => {
            drop(failure);
            let mut report = Some(File::from(report));
            let (step, error) = match prepared.enter(place) {
                Ok(()) => then(&prepared, &mut report),
                Err(failed) => failed,
            };
            if let Some(mut report) = report {
                let _ = report.write_all(format!("{step}: {error}").as_bytes());
            }
            exit(127)
        }
        Process::Parent(pid) => {
            drop(report);
            let mut message = String::new();
            let _ = File::from(failure).read_to_string(&mut message);
            if message.is_empty() {
                return Ok(pid);
            }
            let _ = wait::wait(pid, 0);
            Err(Error::new(format!("{}: {message}", program.argv[0])))
        }
    }
}

/// An error of preparing a program, with its name.
fn named<T>(program: &Program, outcome: Result<T>) -> Result<T> {
    outcome.map_err(|error| error.at(format!("program {}", program.name)))
}

/// Everything that needs memory, made before the fork.
struct Prepared {
    executable: Executable,
    cwd: CString,
    streams: Streams,
}

impl Prepared {
    fn new(
        streams: Streams,
        program: &Program,
        place: &ProgramHost<'_>,
        environment: &ProgramEnvironment<'_>,
    ) -> Result<Self> {
        fn pairs(variables: &BTreeMap<String, String>) -> impl Iterator<Item = (&str, &str)> {
            variables.iter().map(|(name, value)| (name.as_str(), value.as_str()))
        }
        let is_rooted = place.has_root();
        let rooted = is_rooted.then_some(("PATH", host_root::SEARCH_PATH));
        let variables = pairs(environment.env)
            .chain([("LONGHAUL_HOST", place.name()), ("HOSTNAME", place.hostname())])
            .chain(rooted)
            .chain(pairs(&program.env));
        let path = environment.env.get("PATH").map(OsString::from).or_else(|| std::env::var_os("PATH"));
        let path = if is_rooted { Some(host_root::SEARCH_PATH.into()) } else { path };
        let own = if is_rooted { OsStr::new("/") } else { environment.cwd.as_os_str() };
        let cwd = program.cwd.as_deref().map_or(own, OsStr::new);
        Ok(Prepared {
            executable: command_line::prepare(&program.argv, variables, path.as_deref())?,
            cwd: command_line::text(cwd)?,
            streams,
        })
    }

    /// In the child: enters the host, or returns the step that failed.
    fn enter(&self, place: &ProgramHost<'_>) -> std::result::Result<(), (&'static str, std::io::Error)> {
        if let ProgramHost::Namespaces(host, groups) = place {
            for mut group in *groups {
                // "0" is the writer itself, whatever its number in whichever PID namespace.
                let _ = group.write_all(b"0");
            }
            host.namespaces.enter().map_err(|error| ("cannot enter the host", error.into()))?;
        }
        let _ = setsid();
        chdir(self.cwd.as_c_str()).map_err(|error| ("cannot enter the working directory", error.into()))?;
        let Streams { stdin, stdout, stderr, terminal } = &self.streams;
        if let Some(terminal) = terminal {
            // The leader of a session controls the first terminal that it opens.
            let opened = open(terminal.as_c_str(), OFlag::O_RDWR | OFlag::O_CLOEXEC, Mode::empty());
            opened.map_err(|error| ("cannot open its terminal", error.into()))?;
        }
        let _ = dup2_stdin(stdin);
        let _ = dup2_stdout(stdout);
        let _ = dup2_stderr(stderr);
        Ok(())
    }
}

/// Opens a program's log; an error if an earlier program has left a symbolic link in its place.
fn create_log(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).custom_flags(libc::O_NOFOLLOW).open(path)
}

/// Whether a process listens on TCP port `port`, seen from inside through `/proc/<pid>/net`.
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
