//! From the caller's process to the run's own: user namespace where needed, PID namespace, the
//! supervisor as its first process.
//!
//! Because the supervisor is process 1 of a PID namespace, the kernel ends everything that a run
//! started as soon as the supervisor ends, however it ends. The caller's process, the *worker*, waits for
//! that, writes how the run ended, and removes what the supervisor could not.

use crate::cgroup::Groups;
use crate::client::Client;
use crate::error::{Error, Result};
use crate::exit_status::{ExitStatus, PANICKED, signal_name};
use crate::oom::OomKills;
use crate::run_record::{self, Ending};
use crate::stderr_capture::{CapturedStderr, install_panic_hook, last_line, name_process};
use crate::supervisor::{self, ExternalResources, Options, ending};
use crate::sys::fork::{Process, exit, fork};
use crate::sys::{signals, wait};
use longhaul_plan::Plan;
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sched::{CloneFlags, unshare};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;
use std::fs;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// The worker's exit code for a run that failed or crashed.
pub(crate) const RUN_FAILED: i32 = 70;

/// Runs `plan` in processes of its own and returns when it has ended: 0, or 70 when it failed.
///
/// The calling process must have one thread: it moves into new namespaces and forks. It should do
/// nothing else afterwards.
pub fn run(plan: &Plan, mut options: Options) -> i32 {
    install_panic_hook();
    name_process(c"lh-worker");
    if let Some(line) = &options.line {
        // Programs must not have it.
        let _ = fcntl(line, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC));
    }
    if let Some(machines) = &options.machines {
        let _ = fcntl(&machines.socket, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC));
    }
    let client = options.client.map(Client::new);
    let (directory, run, socket, scratch) =
        (options.directory.clone(), options.run.clone(), options.socket.clone(), options.scratch.clone());
    let mut line = options.line.as_ref().and_then(|line| line.try_clone().ok());
    let (mut ending, was_reported) = match supervised(plan, &mut options, line.as_mut()) {
        Ok(found) => found,
        Err(error) => (Ending::of_error(&error), false),
    };
    drop(options);
    if ending.abandoned
        && let Some(client) = &client
    {
        ending.reason = client.describe();
    }
    Groups::of(&run).remove();
    if let Some(socket) = &socket {
        remove_abandoned_socket(socket);
    }
    if let Err(error) = run_record::end(&directory, &ending) {
        let _ = std::io::stderr().write_all(format!("{error}\n").as_bytes());
    }
    if client.is_some_and(|client| client.is_gone()) {
        for path in &scratch {
            drop(fs::remove_dir_all(path));
        }
    }
    if !was_reported
        && !ending.is_good()
        && let Some(line) = &mut line
    {
        supervisor::report_failed(line, &ending);
    }
    if ending.is_good() { 0 } else { RUN_FAILED }
}

/// Starts the supervisor and waits for its end. Returns how the run ended, and whether the supervisor reported it to the client.
fn supervised(plan: &Plan, options: &mut Options, line: Option<&mut UnixStream>) -> Result<(Ending, bool)> {
    let external = ExternalResources::open(plan, options)?;
    prepare(plan, options.kernel.is_some())?;
    let (stderr, report) = (CapturedStderr::new()?, CapturedStderr::new()?);
    let oom = OomKills::now();
    // Only the worker holds it open: when it is closed, the supervisor knows that the worker has ended.
    let (worker_pipe, worker_end) = nix::unistd::pipe2(nix::fcntl::OFlag::O_CLOEXEC)
        .map_err(|error| Error::wrap("open a pipe", error))?;
    match fork().map_err(|error| Error::wrap("start the supervisor", error))? {
        Process::Child => {
            drop(worker_end);
            stderr.capture();
            name_process(c"lh-supervisor");
            ending::follow_worker(&worker_pipe);
            let supervise = || supervisor::supervise(plan, options, external, &report);
            let code = catch_unwind(AssertUnwindSafe(supervise)).unwrap_or(PANICKED);
            exit(code)
        }
        Process::Parent(child) => {
            drop(worker_pipe);
            let (status, stops) = wait_for(child, line);
            let text = stderr.text();
            let _ = std::io::stderr().write_all(text.as_bytes());
            let written: Option<Ending> = serde_json::from_str(&report.text()).ok();
            let was_reported = written.is_some();
            let mut ending = written.unwrap_or_else(|| {
                let how = status.describe(last_line(&text).as_deref(), &oom);
                Ending::crashed(format!("the supervisor {how}"))
            });
            ending.warnings.extend(stops);
            drop(worker_end);
            Ok((ending, was_reported))
        }
    }
}

/// Makes the next child process 1 of a PID namespace. Kernels of the hosts' own need no privilege: where they are used, a
/// machine that allows no namespaces will do.
fn prepare(plan: &Plan, has_kernels: bool) -> Result<()> {
    raise_file_limit(plan)?;
    let may_be_root = nix::unistd::geteuid().is_root() || {
        let became = become_root_of_a_user_namespace();
        if has_kernels {
            became.is_ok()
        } else {
            became?;
            true
        }
    };
    let made = if may_be_root { unshare(CloneFlags::CLONE_NEWPID) } else { Ok(()) };
    match made {
        Err(error) if !has_kernels => Err(Error::wrap("create a PID namespace", error)),
        _ => Ok(()),
    }
}

/// Every host needs five descriptors, with a kernel of its own seven, and a few are for the rest.
fn raise_file_limit(plan: &Plan) -> Result<()> {
    let needed = plan.nodes.len() as u64 * 8 + 256;
    let allowed = getrlimit(Resource::RLIMIT_NOFILE).map_or(0, |(_, most)| most);
    let _ = setrlimit(Resource::RLIMIT_NOFILE, allowed, allowed);
    if allowed >= needed {
        return Ok(());
    }
    Err(Error::new(format!(
        "{} nodes need {needed} open files, and only {allowed} are allowed",
        plan.nodes.len()
    ))
    .with_remedy(format!("raise the limit first: ulimit -n {needed}")))
}

fn become_root_of_a_user_namespace() -> Result<()> {
    let (user, group) = (nix::unistd::geteuid(), nix::unistd::getegid());
    let help = "allow unprivileged user namespaces or run as root; `longhaul doctor` tells how";
    unshare(CloneFlags::CLONE_NEWUSER)
        .map_err(|error| Error::wrap("create a user namespace", error).with_remedy(help))?;
    let write = |file: &str, text: String| {
        fs::write(file, text).map_err(|error| Error::wrap(format!("write {file}"), error).with_remedy(help))
    };
    write("/proc/self/setgroups", "deny".into())?;
    write("/proc/self/uid_map", format!("0 {user} 1"))?;
    write("/proc/self/gid_map", format!("0 {group} 1"))
}

/// Waits for the supervisor's end; returns its exit status, and a sentence for each time it was stopped.
///
/// A stopped supervisor is resumed at once, because only it can end its programs.
fn wait_for(child: libc::pid_t, mut line: Option<&mut UnixStream>) -> (ExitStatus, Vec<String>) {
    const FORWARDED: [Signal; 3] = [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP];
    signals::forward(&FORWARDED, child);
    let mut stops = Vec::new();
    loop {
        match wait::wait(child, libc::WUNTRACED) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return (ExitStatus(0), stops),
            Ok(status) if libc::WIFSTOPPED(status) => {
                let signal = signal_name(libc::WSTOPSIG(status));
                let text = format!("the supervisor was stopped by {signal} and resumed by the worker");
                if let Some(line) = &mut line {
                    supervisor::send(line, &json!({"event": "warning", "message": text}));
                }
                stops.push(text);
                let _ = kill(Pid::from_raw(child), Signal::SIGCONT);
            }
            Ok(status) => {
                // Its number may be another's from now on.
                signals::ignore(&FORWARDED);
                return (ExitStatus(status), stops);
            }
        }
    }
}

/// Removes the socket of a supervisor that was killed, if no process listens at it.
fn remove_abandoned_socket(path: &Path) {
    let is_socket = fs::symlink_metadata(path)
        .is_ok_and(|found| std::os::unix::fs::FileTypeExt::is_socket(&found.file_type()));
    if is_socket && crate::unix_socket::connect(path).is_err() {
        let _ = fs::remove_file(path);
    }
}
