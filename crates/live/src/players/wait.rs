//! Waiting: for the run's zero, and for an instant.

use crate::clock::{Clock, monotonic_ns, sleep_until};
use crate::supervisor::ending::{let_signals_through, told_to_stop, wait_with_signals};
use longhaul_units::Time;
use nix::sys::memfd::{MFdFlags, memfd_create};
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Between two looks at whether the clock has started; it is announced long enough before.
const LOOK_NS: u64 = 1_000_000;
/// Longest sleep without asking whether to stop.
const NAP_NS: u64 = 50_000_000;
/// Longest time to spin before an instant: what waking up takes on an idle machine.
const SPIN_NS: u64 = 60_000;
/// One part of the time in so many may be spent with that.
const SPIN_SHARE: u64 = 10;

/// Where the supervisor leaves the instant of the run's zero for its players.
pub struct Zero {
    file: File,
}

impl Zero {
    /// Not known yet.
    pub fn unknown() -> std::io::Result<Self> {
        let file = File::from(memfd_create("longhaul-zero", MFdFlags::MFD_CLOEXEC)?);
        Ok(Zero { file })
    }

    /// Tells all players.
    pub fn tell(&self, clock: Clock) -> std::io::Result<()> {
        self.file.write_all_at(&clock.start_ns().to_ne_bytes(), 0)
    }

    /// Waits until it is known; `None`: the run ended before.
    pub fn wait(&self) -> Option<Clock> {
        let mut bytes = [0; 8];
        while self.file.read_exact_at(&mut bytes, 0).is_err() {
            wait_with_signals(&mut [], LOOK_NS);
            if told_to_stop() {
                return None;
            }
        }
        Some(Clock::starting_at(u64::from_ne_bytes(bytes)))
    }
}

/// Waits for instants, accurately as long as that costs little.
pub struct Waker {
    clock: Clock,
    began_ns: u64,
    spun_ns: u64,
}

impl Waker {
    /// By `clock`, for the calling process, whose timers become as exact as they can, and who from now on
    /// hears of signals at once. Returns at zero or later: before it the clock stands still, and whoever
    /// is to begin then would begin too early.
    pub fn new(clock: Clock) -> Self {
        let_signals_through();
        // SAFETY: plain system call on this process.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
        clock.sleep_until_zero(SPIN_NS);
        while monotonic_ns() < clock.start_ns() {
            std::hint::spin_loop();
        }
        Waker { clock, began_ns: clock.ns(), spun_ns: 0 }
    }

    /// Returns at `at` or later; or earlier, and then false, when told to stop.
    pub fn sleep_until(&mut self, at: Time) -> bool {
        // Never before it, not even by what a nanosecond hides.
        let at_ns = at.ps().div_ceil(1_000);
        loop {
            let now_ns = self.clock.ns();
            let left_ns = at_ns.saturating_sub(now_ns);
            if left_ns == 0 {
                return true;
            }
            if told_to_stop() {
                return false;
            }
            if left_ns > NAP_NS {
                self.doze_until(now_ns + NAP_NS / 2);
                continue;
            }
            let may_spin = self.may_spin(now_ns);
            if may_spin && left_ns <= SPIN_NS {
                self.spin_until(at_ns, now_ns);
                return true;
            }
            self.doze_until(if may_spin { at_ns - SPIN_NS } else { at_ns });
        }
    }

    /// Returns at `at` or later, when `watched` is readable, or after a while; false: told to stop.
    pub fn wait_until(&mut self, at: Time, watched: libc::pollfd) -> bool {
        if told_to_stop() {
            return false;
        }
        let now_ns = self.clock.ns();
        let left_ns = at.ps().div_ceil(1_000).saturating_sub(now_ns);
        if !self.may_spin(now_ns) {
            wait_with_signals(&mut [watched], left_ns.min(NAP_NS));
        } else if left_ns > SPIN_NS {
            wait_with_signals(&mut [watched], (left_ns - SPIN_NS).min(NAP_NS));
        } else {
            let mut watched = [watched];
            while watched[0].revents == 0 && self.clock.ns() < now_ns + left_ns {
                wait_with_signals(&mut watched, 0);
            }
            self.spun_ns += self.clock.ns().saturating_sub(now_ns);
        }
        true
    }

    fn may_spin(&self, now_ns: u64) -> bool {
        self.spun_ns * SPIN_SHARE <= now_ns.saturating_sub(self.began_ns)
    }

    fn spin_until(&mut self, at_ns: u64, since_ns: u64) {
        while self.clock.ns() < at_ns {
            std::hint::spin_loop();
        }
        self.spun_ns += at_ns.saturating_sub(since_ns);
    }

    fn doze_until(&self, at_ns: u64) {
        sleep_until(self.clock.start_ns() + at_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_begins_before_zero() {
        let clock = Clock::starting_at(monotonic_ns() + 5_000_000);
        assert_eq!(clock.ns(), 0, "the clock stands still");
        let mut waker = Waker::new(clock);
        assert!(monotonic_ns() >= clock.start_ns());
        assert!(waker.sleep_until(Time::ZERO));
    }
}
