//! Waiting for the start of the run, and for a time on its clock.

use crate::clock::{Clock, monotonic_ns, sleep_until};
use crate::supervisor::ending::{stop_requested, unblock_signals, wait_with_signals};
use longhaul_units::Time;
use nix::poll::PollFd;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::prctl::set_timerslack;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Interval between two checks whether the clock has started; the start is published earlier than that before it.
const POLL_INTERVAL_NS: u64 = 1_000_000;
/// Longest sleep without a check for a request to stop.
const MAX_SLEEP_NS: u64 = 50_000_000;
/// Longest spin before a deadline: the wake-up latency of an idle machine.
const SPIN_NS: u64 = 60_000;
/// Inverse of the share of a time-out that poll(2) may add, with a margin.
const POLL_SLACK_SHARE: u64 = 512;
/// Inverse of the largest share of time spent spinning.
const SPIN_SHARE: u64 = 10;

/// Shared memory in which the supervisor publishes the start time of the run to the traffic generators.
pub struct SharedStart {
    file: File,
}

impl SharedStart {
    /// A start time that is not published yet.
    pub fn new() -> std::io::Result<Self> {
        let file = File::from(memfd_create("longhaul-zero", MFdFlags::MFD_CLOEXEC)?);
        Ok(SharedStart { file })
    }

    /// Publishes the start of `clock` to all traffic generators.
    pub fn publish(&self, clock: Clock) -> std::io::Result<()> {
        self.file.write_all_at(&clock.start_ns().to_ne_bytes(), 0)
    }

    /// Waits until it is published; `None`: the run ended before.
    pub fn wait(&self) -> Option<Clock> {
        let mut bytes = [0; 8];
        while self.file.read_exact_at(&mut bytes, 0).is_err() {
            wait_with_signals(&mut [], POLL_INTERVAL_NS);
            if stop_requested() {
                return None;
            }
        }
        Some(Clock::starting_at(u64::from_ne_bytes(bytes)))
    }
}

/// Waits for deadlines: spins before each as long as the share of time spent spinning stays small, unless
/// `LONGHAUL_SPIN` is `never`.
pub struct Timer {
    clock: Clock,
    spins: bool,
    began_ns: u64,
    spun_ns: u64,
}

impl Timer {
    /// A timer on `clock`. Sets the timer slack of the calling process to 1 ns and unblocks its signals. Returns at
    /// time zero or later: before zero the clock does not advance, and a flow that starts at zero would start too early.
    pub fn new(clock: Clock) -> Self {
        unblock_signals();
        let _ = set_timerslack(1);
        let spins = std::env::var_os("LONGHAUL_SPIN").is_none_or(|value| value != "never");
        clock.sleep_until_zero(if spins { SPIN_NS } else { 0 });
        while monotonic_ns() < clock.start_ns() {
            std::hint::spin_loop();
        }
        Timer { clock, spins, began_ns: clock.ns(), spun_ns: 0 }
    }

    /// Sleeps until `at`; false if a request to stop ends the sleep earlier.
    pub fn sleep_until(&mut self, at: Time) -> bool {
        // Rounded up, because a deadline may have a fraction of a nanosecond.
        let at_ns = at.ps().div_ceil(1_000);
        loop {
            let now_ns = self.clock.ns();
            let left_ns = at_ns.saturating_sub(now_ns);
            if left_ns == 0 {
                return true;
            }
            if stop_requested() {
                return false;
            }
            if left_ns > MAX_SLEEP_NS {
                self.sleep_until_ns(now_ns + MAX_SLEEP_NS / 2);
                continue;
            }
            let may_spin = self.may_spin(now_ns);
            if may_spin && left_ns <= SPIN_NS {
                self.spin_until(at_ns, now_ns);
                return true;
            }
            self.sleep_until_ns(if may_spin { at_ns - SPIN_NS } else { at_ns });
        }
    }

    /// Returns at `at`, shortly before, when `watched` is readable, or after [`MAX_SLEEP_NS`]; false: stop was requested.
    pub fn wait_until(&mut self, at: Time, watched: PollFd<'_>) -> bool {
        if stop_requested() {
            return false;
        }
        let now_ns = self.clock.ns();
        let left_ns = at.ps().div_ceil(1_000).saturating_sub(now_ns);
        if !self.may_spin(now_ns) {
            let wait_ns = left_ns.min(MAX_SLEEP_NS);
            // The kernel adds up to a thousandth to the time-out of poll(2), whatever the timer slack.
            let early_ns = wait_ns / POLL_SLACK_SHARE;
            wait_with_signals(&mut [watched], wait_ns - early_ns);
        } else if left_ns > SPIN_NS {
            wait_with_signals(&mut [watched], (left_ns - SPIN_NS).min(MAX_SLEEP_NS));
        } else {
            let mut watched = [watched];
            while watched[0].any() != Some(true) && self.clock.ns() < now_ns + left_ns {
                wait_with_signals(&mut watched, 0);
            }
            self.spun_ns += self.clock.ns().saturating_sub(now_ns);
        }
        true
    }

    fn may_spin(&self, now_ns: u64) -> bool {
        self.spins && self.spun_ns * SPIN_SHARE <= now_ns.saturating_sub(self.began_ns)
    }

    fn spin_until(&mut self, at_ns: u64, since_ns: u64) {
        while self.clock.ns() < at_ns {
            std::hint::spin_loop();
        }
        self.spun_ns += at_ns.saturating_sub(since_ns);
    }

    fn sleep_until_ns(&self, at_ns: u64) {
        sleep_until(self.clock.start_ns() + at_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_is_created_at_time_zero_or_later() {
        let clock = Clock::starting_at(monotonic_ns() + 5_000_000);
        assert_eq!(clock.ns(), 0, "the clock does not advance before zero");
        let mut timer = Timer::new(clock);
        assert!(monotonic_ns() >= clock.start_ns());
        assert!(timer.sleep_until(Time::ZERO));
    }
}
