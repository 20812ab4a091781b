//! Descriptors of processes: `pidfd_open(2)`.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

const INFO_EXIT: u64 = libc::PIDFD_INFO_EXIT as u64;

/// Opens a descriptor of the process `pid`.
pub fn open(pid: libc::pid_t) -> io::Result<OwnedFd> {
    // SAFETY: pidfd_open(2) takes its arguments by value.
    match unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) } as i32 {
        ..0 => Err(io::Error::last_os_error()),
        // SAFETY: the kernel has just opened the descriptor, and nothing else owns it.
        fd => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
    }
}

/// The wait status of a process that has ended and whose parent has collected it, if the kernel reports it (since
/// Linux 6.15).
pub fn exit_status(pidfd: BorrowedFd<'_>) -> Option<libc::c_int> {
    // SAFETY: a structure of integers is valid if all its bytes are zero.
    let mut info: libc::pidfd_info = unsafe { MaybeUninit::zeroed().assume_init() };
    info.mask = INFO_EXIT;
    // SAFETY: the request's number contains the size of `info`, which is valid for reads and writes.
    let result = unsafe { libc::ioctl(pidfd.as_raw_fd(), libc::PIDFD_GET_INFO, &mut info) };
    (result == 0 && info.mask & INFO_EXIT != 0).then_some(info.exit_code)
}
