//! Dispositions of signals, and the handlers of the run's own processes.

use nix::sys::signal::{SigSet, SigmaskHow, Signal, sigprocmask};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// The signal that the supervisor receives from the kernel when the worker has ended.
pub const WORKER_ENDED: Signal = Signal::SIGUSR2;

/// The first signal that requests the end of the run; 0 if none has been received.
static STOP_SIGNAL: AtomicI32 = AtomicI32::new(0);
static WORKER_HAS_ENDED: AtomicBool = AtomicBool::new(false);
/// The process to which [`forward`] sends signals.
static RECIPIENT: AtomicI32 = AtomicI32::new(0);

/// Records `signals` from now on: SIGCHLD only ends system calls, [`WORKER_ENDED`] is the end of the worker, and all
/// others request the end of the run.
pub fn record(signals: &[Signal]) {
    for &signal in signals {
        // SAFETY: the handler accesses atomic variables alone.
        unsafe { libc::signal(signal as libc::c_int, record_signal as *const () as libc::sighandler_t) };
    }
}

/// Records that the worker has ended.
pub fn record_end_of_worker() {
    WORKER_HAS_ENDED.store(true, Ordering::Relaxed);
}

/// The first recorded signal that requests the end of the run.
pub fn stop_signal() -> Option<libc::c_int> {
    Some(STOP_SIGNAL.load(Ordering::Relaxed)).filter(|&signal| signal != 0)
}

/// Whether the worker has ended.
pub fn worker_has_ended() -> bool {
    WORKER_HAS_ENDED.load(Ordering::Relaxed)
}

extern "C" fn record_signal(signal: libc::c_int) {
    const WORKER: libc::c_int = WORKER_ENDED as libc::c_int;
    match signal {
        libc::SIGCHLD => {}
        WORKER => record_end_of_worker(),
        _ => drop(STOP_SIGNAL.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed)),
    }
}

/// Sends `signals` on to the process `recipient` from now on.
pub fn forward(signals: &[Signal], recipient: libc::pid_t) {
    RECIPIENT.store(recipient, Ordering::Relaxed);
    for &signal in signals {
        // SAFETY: the handler reads an atomic variable and makes an async-signal-safe call.
        unsafe { libc::signal(signal as libc::c_int, forward_signal as *const () as libc::sighandler_t) };
    }
}

extern "C" fn forward_signal(signal: libc::c_int) {
    // SAFETY: kill(2) has no precondition, and is async-signal-safe.
    unsafe { libc::kill(RECIPIENT.load(Ordering::Relaxed), signal) };
}

/// Ignores `signals`. Async-signal-safe.
pub fn ignore(signals: &[Signal]) {
    for &signal in signals {
        // SAFETY: no handler is involved.
        unsafe { libc::signal(signal as libc::c_int, libc::SIG_IGN) };
    }
}

/// Gives `signals` their default dispositions. Async-signal-safe.
pub fn restore_default(signals: &[Signal]) {
    for &signal in signals {
        // SAFETY: no handler is involved.
        unsafe { libc::signal(signal as libc::c_int, libc::SIG_DFL) };
    }
}

/// Undoes what the interpreter and the supervisor set, which a program would inherit. Async-signal-safe.
pub fn restore_for_programs() {
    use Signal::{SIGCHLD, SIGHUP, SIGINT, SIGPIPE, SIGTERM, SIGXFSZ};
    restore_default(&[SIGPIPE, SIGINT, SIGTERM, SIGCHLD, SIGHUP, SIGXFSZ]);
    let _ = sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::empty()), None);
}
