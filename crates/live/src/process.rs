//! From the caller's process to the run's own: user namespace where needed, PID namespace, the
//! supervisor as its first process.
//!
//! Because the supervisor is process 1 of a PID namespace, the kernel ends everything that a run
//! started as soon as the supervisor ends, however it ends.

use crate::error::{Error, Result};
use crate::supervisor::{self, Options};
use longhaul_plan::Plan;
use nix::sched::{CloneFlags, unshare};
use std::fs;

/// Runs `plan` in processes of its own and returns when it has ended: 0, or 70 when it failed.
///
/// The calling process must have one thread: it moves into new namespaces and forks. It should do
/// nothing else afterwards.
pub fn run(plan: &Plan, mut options: Options) -> i32 {
    if let Err(error) = prepare(plan) {
        options.say_failed(&error);
        return 70;
    }
    // SAFETY: the caller promises one thread.
    match unsafe { libc::fork() } {
        -1 => {
            options.say_failed(&Error::last("start the supervisor"));
            70
        }
        0 => {
            // SAFETY: plain system calls; the second ends the process without the parent's destructors.
            unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
            let code = supervisor::supervise(plan, options);
            // SAFETY: as above.
            unsafe { libc::_exit(code) }
        }
        child => {
            drop(options);
            wait_for(child)
        }
    }
}

fn prepare(plan: &Plan) -> Result<()> {
    raise_file_limit(plan)?;
    if !nix::unistd::geteuid().is_root() {
        become_root_of_a_user_namespace()?;
    }
    unshare(CloneFlags::CLONE_NEWPID).map_err(|error| Error::wrap("create a PID namespace", error))
}

/// Every host needs five descriptors, and a few are for the rest.
fn raise_file_limit(plan: &Plan) -> Result<()> {
    let needed = plan.nodes.len() as u64 * 7 + 256;
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure outlives both calls.
    unsafe {
        libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit);
        limit.rlim_cur = limit.rlim_max;
        libc::setrlimit(libc::RLIMIT_NOFILE, &limit);
    }
    if limit.rlim_cur >= needed {
        return Ok(());
    }
    Err(Error::new(format!(
        "{} nodes need {needed} open files, and only {} are allowed",
        plan.nodes.len(),
        limit.rlim_cur
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

fn wait_for(child: libc::pid_t) -> i32 {
    let mut status = 0;
    // SAFETY: `status` outlives the call.
    while unsafe { libc::waitpid(child, &mut status, 0) } < 0 {
        if std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
            return 70;
        }
    }
    if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { 70 }
}
