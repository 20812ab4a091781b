use longhaul_units::Time;
use nix::time::{ClockId, ClockNanosleepFlags, clock_gettime, clock_nanosleep};
use std::time::Duration;

/// The instant that a run calls zero, on the machine's monotonic clock.
///
/// Every process of a run reads the same clock, so a start is worth passing between them.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start_ns: u64,
}

impl Clock {
    /// A clock whose zero is `start_ns` on `CLOCK_MONOTONIC`.
    pub const fn starting_at(start_ns: u64) -> Self {
        Clock { start_ns }
    }

    /// A clock whose zero is now.
    pub fn starting_now() -> Self {
        Clock { start_ns: monotonic_ns() }
    }

    /// Time zero, on `CLOCK_MONOTONIC`.
    pub const fn start_ns(self) -> u64 {
        self.start_ns
    }

    /// Time zero in nanoseconds since 1970, by what `CLOCK_REALTIME` says now.
    pub fn unix_start_ns(self) -> u64 {
        (unix_ns() + self.start_ns).saturating_sub(monotonic_ns())
    }

    /// Sleeps until `before_ns` before zero, or until a signal arrives.
    pub fn sleep_until_zero(self, before_ns: u64) {
        sleep_until(self.start_ns.saturating_sub(before_ns));
    }

    /// Nanoseconds since zero; zero before it.
    pub fn ns(self) -> u64 {
        monotonic_ns().saturating_sub(self.start_ns)
    }

    /// Nanoseconds since zero; negative before it.
    pub fn signed_ns(self) -> i64 {
        monotonic_ns() as i64 - self.start_ns as i64
    }

    /// The same as a model's time.
    pub fn now(self) -> Time {
        Time::from_ns(self.ns())
    }
}

/// `CLOCK_MONOTONIC` in nanoseconds (about 40 ns to read, through the vDSO).
pub fn monotonic_ns() -> u64 {
    read(ClockId::CLOCK_MONOTONIC)
}

/// `CLOCK_REALTIME` in nanoseconds since 1970.
pub fn unix_ns() -> u64 {
    read(ClockId::CLOCK_REALTIME)
}

/// Processor time of this process so far, in nanoseconds.
pub fn processor_ns() -> u64 {
    read(ClockId::CLOCK_PROCESS_CPUTIME_ID)
}

/// Sleeps until an instant of `CLOCK_MONOTONIC`, in nanoseconds, or until a signal comes.
pub fn sleep_until(at_ns: u64) {
    let until = Duration::from_nanos(at_ns).into();
    let _ = clock_nanosleep(ClockId::CLOCK_MONOTONIC, ClockNanosleepFlags::TIMER_ABSTIME, &until);
}

/// All these clocks exist on every Linux.
fn read(clock: ClockId) -> u64 {
    clock_gettime(clock).map_or(0, |time| time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_that_is_ahead_has_its_own_unix_time() {
        const AHEAD_NS: u64 = 1_000_000_000_000;
        let before_ns = unix_ns();
        let start_ns = Clock::starting_at(monotonic_ns() + AHEAD_NS).unix_start_ns();
        // The clock may be adjusted meanwhile.
        assert!(start_ns.abs_diff(before_ns + AHEAD_NS) < AHEAD_NS / 100, "{start_ns} {before_ns}");
    }
}
