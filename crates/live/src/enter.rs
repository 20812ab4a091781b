//! Running a command in a host of a run that is up, from outside, with the caller's terminal.
//!
//! The caller may have threads. Everything that needs memory or a lock is therefore prepared before the fork.

use crate::command_line;
use crate::credentials::Credentials;
use crate::error::{Error, Result};
use crate::sys::host_command::HostCommand;
use crate::sys::wait;
use nix::sched::CloneFlags;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::Write;

/// A host of a run, as its supervisor describes it.
#[derive(Debug)]
pub struct Entry {
    /// The supervisor, in the caller's PID namespace.
    pub supervisor: i32,
    /// Descriptors that it holds of the host's namespaces.
    pub net: i32,
    /// UTS.
    pub uts: i32,
    /// IPC.
    pub ipc: i32,
    /// Mounts.
    pub mnt: i32,
    /// PID; `None`: that of the run.
    pub pid: Option<i32>,
    /// Control groups to join.
    pub cgroups: Vec<String>,
    /// What the command runs as.
    pub credentials: Credentials,
    /// Whether the command may do no more to the machine than programs of the scenario.
    pub strict: bool,
}

/// Runs `argv` in the host with `env` added to the environment, and returns its exit code (128 + signal when a signal
/// ended it, 126 or 127 if it could not be started, which standard error explains). The command ends when the run or
/// the caller ends.
///
/// After each signal that arrives meanwhile, `is_interrupted` decides whether the command is to end.
///
/// # Errors
/// If the host cannot be entered, or no process can be started.
pub fn run_in_host(
    entry: &Entry,
    argv: &[String],
    env: &[(String, String)],
    cwd: &str,
    mut is_interrupted: impl FnMut() -> bool,
) -> Result<i32> {
    let command = prepare(entry, argv, env, cwd)?;
    let running = command.start().map_err(|error| Error::wrap("start a process", error))?;
    let pid = running.pid;
    let code = wait::exit_code(pid, || {
        if is_interrupted() {
            // The child has not been collected, and takes its command with it.
            let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
        }
    });
    if let Some((step, error)) = running.failure() {
        let subject = if step == "cannot run" { format!(" {}", argv[0]) } else { String::new() };
        let _ = std::io::stderr().write_all(format!("longhaul: {step}{subject}: {error}\n").as_bytes());
    }
    Ok(code)
}

fn prepare(entry: &Entry, argv: &[String], env: &[(String, String)], cwd: &str) -> Result<HostCommand> {
    let variables = || env.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let own_path = std::env::var_os("PATH");
    let path = variables().find(|(name, _)| *name == "PATH").map(|(_, value)| OsStr::new(value));
    let executable = command_line::prepare(argv, variables(), path.or(own_path.as_deref()))?;
    let open = |path: String| File::open(&path).map_err(|error| Error::wrap(format!("open {path}"), error));
    let of = |what: &str| open(format!("/proc/{}/{what}", entry.supervisor));
    let pid = entry.pid.map_or_else(|| of("ns/pid"), |number| of(&format!("fd/{number}")))?;
    let namespaces = [
        (pid, CloneFlags::CLONE_NEWPID),
        (of(&format!("fd/{}", entry.net))?, CloneFlags::CLONE_NEWNET),
        (of(&format!("fd/{}", entry.uts))?, CloneFlags::CLONE_NEWUTS),
        (of(&format!("fd/{}", entry.ipc))?, CloneFlags::CLONE_NEWIPC),
        (of(&format!("fd/{}", entry.mnt))?, CloneFlags::CLONE_NEWNS),
    ];
    let procs = entry.cgroups.iter().map(|group| format!("{group}/cgroup.procs"));
    Ok(HostCommand {
        user: of("ns/user")?,
        namespaces,
        cgroups: procs.filter_map(|path| OpenOptions::new().write(true).open(path).ok()).collect(),
        credentials: entry.credentials.clone(),
        cwd: command_line::text(cwd)?,
        strict: entry.strict,
        executable,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::{ALLOCATED, forbid_in_children};
    use std::os::fd::AsRawFd;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, Instant};

    /// This process as the supervisor of a run whose host has its own namespaces.
    fn own_entry(strict: bool) -> ([File; 4], Entry) {
        let files =
            ["net", "uts", "ipc", "mnt"].map(|kind| File::open(format!("/proc/self/ns/{kind}")).unwrap());
        let [net, uts, ipc, mnt] = [0, 1, 2, 3].map(|index: usize| files[index].as_raw_fd());
        let supervisor = std::process::id() as i32;
        (
            files,
            Entry {
                supervisor,
                net,
                uts,
                ipc,
                mnt,
                pid: None,
                cgroups: Vec::new(),
                credentials: Credentials::default(),
                strict,
            },
        )
    }

    fn run(argv: &[&str], strict: bool) -> i32 {
        let (_files, entry) = own_entry(strict);
        let argv: Vec<String> = argv.iter().map(ToString::to_string).collect();
        let env = [("LONGHAUL_HOST".into(), "near".into())];
        run_in_host(&entry, &argv, &env, "/", || false).unwrap()
    }

    /// The exit code of a command that ends with `code`, if this process may enter namespaces.
    fn expected(code: i32) -> i32 {
        if nix::unistd::geteuid().is_root() { code } else { 126 }
    }

    #[test]
    fn nothing_is_allocated_between_fork_and_exec() {
        let shell = "test \"$LONGHAUL_HOST\" = near && test \"$PWD\" = / && exit 7";
        for strict in [false, true] {
            let code = forbid_in_children(|| run(&["sh", "-c", shell], strict));
            assert_ne!(code, ALLOCATED);
            assert_eq!(code, expected(7));
        }
        assert_eq!(forbid_in_children(|| run(&["/no/such/program"], false)), expected(127));
        assert_eq!(forbid_in_children(|| run(&["/"], true)), expected(127));
    }

    #[test]
    fn a_command_starts_while_other_threads_use_the_environment_and_the_heap() {
        const COMMANDS: usize = 40;
        const TIMEOUT: Duration = Duration::from_secs(60);
        let done = AtomicBool::new(false);
        let began = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        std::hint::black_box(std::env::vars_os().collect::<Vec<_>>());
                    }
                });
            }
            let codes =
                std::thread::spawn(|| (0..COMMANDS).map(|_| run(&["true"], false)).collect::<Vec<_>>());
            while !codes.is_finished() && began.elapsed() < TIMEOUT {
                std::thread::sleep(Duration::from_millis(10));
            }
            done.store(true, Ordering::Relaxed);
            assert!(codes.is_finished(), "a child waits for a lock that another thread held at the fork");
            assert_eq!(codes.join().unwrap(), vec![expected(0); COMMANDS]);
        });
    }
}
