//! Waiting for child processes: waitpid(2) and wait4(2), whose statuses nix cannot represent for real-time signals.

use std::io;
use std::mem::MaybeUninit;
use std::ptr;

/// The exit code of a process that cannot be waited for.
const UNKNOWN: i32 = 126;

/// Waits until the child `pid` changes its state as `flags` say; returns its wait status.
pub fn wait(pid: libc::pid_t, flags: libc::c_int) -> io::Result<libc::c_int> {
    let mut status = 0;
    // SAFETY: `status` is valid for writes during the call.
    match unsafe { libc::waitpid(pid, &raw mut status, flags) } {
        ..0 => Err(io::Error::last_os_error()),
        _ => Ok(status),
    }
}

/// Waits until the child `pid` ends, and calls `interrupted` after each signal that comes meanwhile. Returns its exit
/// code, or 128 + the signal that ended it. Async-signal-safe if `interrupted` is.
pub fn exit_code(pid: libc::pid_t, mut interrupted: impl FnMut()) -> i32 {
    loop {
        match wait(pid, 0) {
            Ok(status) => return code_of(status),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => interrupted(),
            Err(_) => return UNKNOWN,
        }
    }
}

/// The exit code of a process that has ended with this wait status, or 128 + the signal that ended it, as shells have it.
pub fn code_of(status: libc::c_int) -> i32 {
    if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { 128 + libc::WTERMSIG(status) }
}

/// Collects any child that has ended or was stopped, with its status and its use of resources; `None` if there is none.
pub fn collect_any() -> Option<(libc::pid_t, libc::c_int, libc::rusage)> {
    let (mut status, mut usage) = (0, MaybeUninit::zeroed());
    // SAFETY: `status` and `usage` are valid for writes during the call.
    let pid =
        unsafe { libc::wait4(-1, &raw mut status, libc::WNOHANG | libc::WUNTRACED, usage.as_mut_ptr()) };
    // SAFETY: a structure of integers is valid if all its bytes are zero, and also once the kernel has filled it.
    let usage = unsafe { usage.assume_init() };
    (pid > 0).then_some((pid, status, usage))
}

/// Waits until all children have ended.
pub fn collect_all() {
    // SAFETY: waitpid(2) accepts a null pointer in place of a status.
    while unsafe { libc::waitpid(-1, ptr::null_mut(), 0) } > 0 {}
}
