//! Running a command in a host of a run that is up, from outside, with the caller's terminal.

use crate::error::{Error, Result};
use crate::isolation;
use crate::program::restore_signals;
use nix::sched::{CloneFlags, setns};
use std::ffi::CString;
use std::fs::File;

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
    /// A control group to join, if there is one.
    pub cgroup: Option<String>,
    /// Whether the command may do no more to the machine than programs of the scenario.
    pub strict: bool,
}

/// Runs `argv` in the host with `env` added to the environment, and returns its exit code (128 +
/// signal when a signal ended it). It belongs to the run and to the caller: it ends with each of them.
///
/// After each signal that comes meanwhile, `is_interrupted` says whether the command is to end for it.
pub fn run_in_host(
    entry: &Entry,
    argv: &[String],
    env: &[(String, String)],
    cwd: &str,
    is_interrupted: impl FnMut() -> bool,
) -> Result<i32> {
    let words = argv
        .iter()
        .map(|word| CString::new(word.as_str()).map_err(|_| Error::new("an argument contains a zero byte")))
        .collect::<Result<Vec<_>>>()?;
    if words.is_empty() {
        return Err(Error::new("there is no command").with_remedy("name one after --"));
    }
    let open = |path: String| File::open(&path).map_err(|error| Error::wrap(format!("open {path}"), error));
    let of = |what: &str| open(format!("/proc/{}/{what}", entry.supervisor));
    let namespaces = [
        (of("ns/pid")?, CloneFlags::CLONE_NEWPID),
        (of(&format!("fd/{}", entry.net))?, CloneFlags::CLONE_NEWNET),
        (of(&format!("fd/{}", entry.uts))?, CloneFlags::CLONE_NEWUTS),
        (of(&format!("fd/{}", entry.ipc))?, CloneFlags::CLONE_NEWIPC),
        (of(&format!("fd/{}", entry.mnt))?, CloneFlags::CLONE_NEWNS),
    ];
    let user = of("ns/user")?;
    // SAFETY: the first child only makes system calls and forks; the caller waits for it.
    match unsafe { libc::fork() } {
        -1 => Err(Error::last("start a process")),
        0 => {
            end_with_parent(libc::SIGTERM);
            let code = enter_and_run(entry, &user, &namespaces, &words, env, cwd);
            // SAFETY: ends the child without the parent's destructors.
            unsafe { libc::_exit(code) }
        }
        child => Ok(wait_for(child, is_interrupted)),
    }
}

/// The kernel sends this process `signal` when its parent ends, however that ends.
fn end_with_parent(signal: libc::c_int) {
    // SAFETY: plain system call on this process.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, signal) };
}

/// In the first child: a new PID namespace holds for children only, hence the second.
fn enter_and_run(
    entry: &Entry,
    user: &File,
    namespaces: &[(File, CloneFlags)],
    words: &[CString],
    env: &[(String, String)],
    cwd: &str,
) -> i32 {
    if let Some(cgroup) = &entry.cgroup {
        let _ = std::fs::write(format!("{cgroup}/cgroup.procs"), "0");
    }
    // Entering one's own user namespace fails, and is not needed then.
    let _ = setns(user, CloneFlags::CLONE_NEWUSER);
    for (file, kind) in namespaces {
        if let Err(error) = setns(file, *kind) {
            return complain(&format!("cannot enter the host: {error}"));
        }
    }
    let _ = std::env::set_current_dir(cwd);
    // SAFETY: this process has one thread (the caller forked it), so nobody reads the environment.
    unsafe {
        for (name, value) in env {
            std::env::set_var(name, value);
        }
        match libc::fork() {
            -1 => complain("cannot start a process in the host"),
            0 => {
                restore_signals();
                end_with_parent(libc::SIGTERM);
                if entry.strict
                    && let Err((step, error)) = isolation::restrict()
                {
                    libc::_exit(complain(&format!("{step}: {error}")));
                }
                let mut argv: Vec<*const libc::c_char> = words.iter().map(|word| word.as_ptr()).collect();
                argv.push(std::ptr::null());
                libc::execvp(argv[0], argv.as_ptr());
                complain(&format!(
                    "cannot run {}: {}",
                    words[0].to_string_lossy(),
                    std::io::Error::last_os_error()
                ));
                libc::_exit(127)
            }
            child => {
                // Ctrl-C is for the command; its exit code is what we report.
                libc::signal(libc::SIGINT, libc::SIG_IGN);
                libc::signal(libc::SIGQUIT, libc::SIG_IGN);
                libc::signal(libc::SIGTERM, libc::SIG_DFL);
                libc::signal(libc::SIGHUP, libc::SIG_DFL);
                wait_for(child, || false)
            }
        }
    }
}

fn complain(message: &str) -> i32 {
    let line = format!("longhaul: {message}\n");
    // SAFETY: the buffer outlives the call.
    unsafe { libc::write(2, line.as_ptr().cast(), line.len()) };
    126
}

fn wait_for(child: libc::pid_t, mut is_interrupted: impl FnMut() -> bool) -> i32 {
    let mut status = 0;
    // SAFETY: `status` outlives the call.
    while unsafe { libc::waitpid(child, &mut status, 0) } < 0 {
        if std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
            return 126;
        }
        if is_interrupted() {
            // SAFETY: plain system call; the child has not been collected, and takes its command with it.
            unsafe { libc::kill(child, libc::SIGTERM) };
        }
    }
    if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { 128 + libc::WTERMSIG(status) }
}
