//! Time, and waiting for it.

use longhaul_units::{Span, Time};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};
use std::os::fd::BorrowedFd;

/// The instant that a relay calls zero.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start_ns: u64,
}

impl Clock {
    /// A clock whose zero is now.
    pub fn starting_now() -> Self {
        Clock { start_ns: read(ClockId::CLOCK_MONOTONIC) }
    }

    /// The time since zero.
    pub fn now(self) -> Time {
        Time::from_ns(read(ClockId::CLOCK_MONOTONIC).saturating_sub(self.start_ns))
    }
}

/// `CLOCK_REALTIME` in nanoseconds since 1970: the clock of the kernel's timestamps.
pub fn unix_ns() -> u64 {
    read(ClockId::CLOCK_REALTIME)
}

/// Processor time of this process, in nanoseconds.
pub fn processor_ns() -> u64 {
    read(ClockId::CLOCK_PROCESS_CPUTIME_ID)
}

fn read(clock: ClockId) -> u64 {
    // These clocks exist on every Linux.
    clock_gettime(clock).map_or(0, |time| time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
}

/// Sleeps until shortly before an instant, so that spinning meets it.
///
/// How much earlier follows from how late the kernel has woken us lately: unprivileged threads are woken
/// tens of microseconds late on an idle machine, and much later on a busy one.
#[derive(Debug)]
pub struct Sleeper {
    lead_ns: u64,
    /// Time slept, for the result.
    pub slept: Span,
}

const LEAST_LEAD_NS: u64 = 60_000;
const MOST_LEAD_NS: u64 = 1_000_000;
/// The longest sleep, so that a step of the clock does no harm.
const LONGEST_NS: u64 = 10_000_000_000;

impl Sleeper {
    /// Sets the timer slack of this thread to 1 ns.
    pub fn new() -> Self {
        // Without it, timers are 50 us less precise, which the lead compensates.
        let _ = nix::sys::prctl::set_timerslack(1);
        Sleeper { lead_ns: 4 * LEAST_LEAD_NS, slept: Span::ZERO }
    }

    /// Sleeps until `fd` can be read, or `ahead` has passed but for the lead. Returns at once where so
    /// little is left that spinning must do it.
    pub fn sleep(&mut self, fd: BorrowedFd<'_>, clock: Clock, ahead: Span) {
        let Some(wanted_ns) = ahead.ns().min(LONGEST_NS).checked_sub(self.lead_ns).filter(|&ns| ns > 0)
        else {
            return;
        };
        let before = clock.now();
        let timeout = TimeSpec::new((wanted_ns / 1_000_000_000) as i64, (wanted_ns % 1_000_000_000) as i64);
        let woken = ppoll(&mut [PollFd::new(fd, PollFlags::POLLIN)], Some(timeout), None);
        let slept = clock.now().since(before);
        self.slept = self.slept + slept;
        if woken == Ok(0) {
            // A late wake-up lengthens the lead at once; good ones shorten it slowly.
            let late_ns = slept.ns().saturating_sub(wanted_ns);
            let needed_ns = late_ns + late_ns / 2;
            let slowly_ns = self.lead_ns - self.lead_ns / 64;
            self.lead_ns = needed_ns.max(slowly_ns).clamp(LEAST_LEAD_NS, MOST_LEAD_NS);
        }
    }
}
