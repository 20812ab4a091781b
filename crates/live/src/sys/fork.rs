//! fork(2) and _exit(2).

use std::fs;
use std::io;

/// The process that [`fork`] returns in.
pub enum Process {
    /// The new one, which must end with [`exit`].
    Child,
    /// The old one, with the process number of the child.
    Parent(libc::pid_t),
}

/// Forks this process, which must have one thread; otherwise returns an error.
pub fn fork() -> io::Result<Process> {
    // Test programs have a thread for each test. Their children use no lock that the threads share, apart from
    // that of the allocator, which glibc leaves usable.
    let threads = if cfg!(test) { None } else { count_threads() };
    if let Some(threads) = threads.filter(|&threads| threads > 1) {
        return Err(io::Error::other(format!("this process has {threads} threads, and may have only one")));
    }
    // SAFETY: the child has the one thread that its parent has, so that it misses no thread that holds a lock.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Process::Child),
        child => Ok(Process::Parent(child)),
    }
}

/// Forks this process, which may have threads.
///
/// # Safety
/// Until it executes a program or exits, the child makes async-signal-safe calls alone (signal-safety(7)): it
/// allocates nothing and takes no lock, because a thread that the child does not have may hold it.
pub unsafe fn fork_with_threads() -> io::Result<Process> {
    // SAFETY: the caller promises what fork(2) demands of the child.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Process::Child),
        child => Ok(Process::Parent(child)),
    }
}

/// Ends this process without destructors and exit handlers, which are those of its parent.
pub fn exit(code: i32) -> ! {
    // SAFETY: _exit(2) has no precondition.
    unsafe { libc::_exit(code) }
}

/// The threads of this process, if `/proc` says how many there are.
fn count_threads() -> Option<usize> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("Threads:"))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_counted() {
        let (stop, wait) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || wait.recv());
        assert!(count_threads().unwrap() > 1);
        drop(stop);
        assert!(thread.join().unwrap().is_err());
    }
}
