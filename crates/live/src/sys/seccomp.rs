//! Filters of system calls: seccomp(2).

use nix::errno::Errno;

/// Filters the system calls of this process, and of all that it starts, with a classic BPF program from now on.
pub fn install(program: &[libc::sock_filter]) -> Result<(), Errno> {
    let header =
        libc::sock_fprog { len: program.len() as libc::c_ushort, filter: program.as_ptr().cast_mut() };
    let mode = libc::c_ulong::from(libc::SECCOMP_MODE_FILTER);
    // SAFETY: the kernel copies the program, and writes to neither it nor its header.
    Errno::result(unsafe { libc::prctl(libc::PR_SET_SECCOMP, mode, &header, 0, 0) }).map(drop)
}

/// Makes a system call whose arguments are all zero, for tests of calls that are refused.
#[cfg(test)]
pub fn call_without_arguments(call: libc::c_long) -> Result<libc::c_long, Errno> {
    // SAFETY: no call writes to address zero, and none that tests make affects this process.
    Errno::result(unsafe { libc::syscall(call, 0, 0, 0, 0, 0, 0) })
}
