//! Waiting of the engine until a packet arrives or is due: spin or sleep.
//!
//! Sleeping frees the CPU core for the programs under test but costs a wake-up (20-40 µs) on the
//! next arrival; spinning occupies a core. The engine spins while a packet is due soon, and for a
//! while after the last arrival as long as the machine has idle cores. Otherwise it sleeps, and always
//! a little, because the kernel throttles a real-time thread that never sleeps.

use super::stalls::StallDetector;
use super::steps::BLOCKED_SLEEP;
use crate::clock::Clock;
use crate::readiness::wait_readable;
use crate::realtime::Scheduling;
use nix::sys::epoll::Epoll;
use std::io::{Read, Seek};

/// Wake-up lead before a packet is due, with and without real-time priority.
const LEAD_FIFO_NS: u64 = 150_000;
const LEAD_OTHER_NS: u64 = 300_000;
/// The engine spins this long after the last arrival.
const SPIN_AFTER_ARRIVAL_NS: u64 = 50_000_000;
/// Length and interval of the sleeps while spinning.
const SPIN_SLEEP_NS: u64 = 50_000;
const SPIN_SLEEP_INTERVAL_NS: u64 = 1_000_000;
/// The same while packets are always due soon, on average: more than `realtime::Budget` leaves to other threads.
const YIELD_NS: u64 = 20_000;
const YIELD_INTERVAL_NS: u64 = 250_000;
/// Jitter of that interval, so that periodic traffic does not coincide with every sleep.
const YIELD_JITTER_NS: u64 = 150_000;
/// Interval between two reads of the machine's load.
const LOAD_INTERVAL_NS: u64 = 10_000_000;
/// The longest sleep; an arrival ends it earlier.
const MAX_SLEEP_NS: u64 = 1_000_000_000;

/// Decides between spinning and sleeping.
pub struct Idle {
    lead_ns: u64,
    cores: usize,
    policy: Policy,
    /// Whether the budget of real-time priority ran out within the last seconds.
    pub short_of_budget: bool,
    last_work_ns: u64,
    last_sleep_ns: u64,
    last_load_ns: u64,
    has_idle_cores: bool,
    load: Option<std::fs::File>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Policy {
    Always,
    Never,
    Auto,
}

impl Idle {
    /// The policy for the scheduling that the machine granted; `LONGHAUL_SPIN` = always, never or auto overrides it.
    pub fn new(scheduling: &Scheduling) -> Self {
        let policy = match std::env::var("LONGHAUL_SPIN").as_deref() {
            Ok("always") => Policy::Always,
            Ok("never") => Policy::Never,
            _ => Policy::Auto,
        };
        Idle {
            lead_ns: if scheduling.policy == "fifo" { LEAD_FIFO_NS } else { LEAD_OTHER_NS },
            cores: scheduling.cores,
            policy,
            short_of_budget: false,
            last_work_ns: 0,
            last_sleep_ns: 0,
            last_load_ns: 0,
            has_idle_cores: scheduling.cores > 1,
            load: std::fs::File::open("/proc/loadavg").ok(),
        }
    }

    /// The policy's name in the result.
    pub fn policy(&self) -> &'static str {
        match self.policy {
            Policy::Always => "always",
            Policy::Never => "never",
            Policy::Auto => "auto",
        }
    }

    /// Wake-up lead before a packet is due.
    pub fn lead_ns(&self) -> u64 {
        self.lead_ns
    }

    /// A packet arrived.
    pub fn record_arrival(&mut self, now_ns: u64) {
        self.last_work_ns = now_ns;
    }

    /// Sleeps, if the policy allows it, until a port is readable or the next event is due in `ahead_ns` (minus
    /// the wake-up lead if the event must be `precise`), and returns the time slept in nanoseconds.
    pub fn pause(
        &mut self,
        epoll: &Epoll,
        clock: Clock,
        (ahead_ns, precise): (u64, bool),
        detector: &mut StallDetector,
    ) -> u64 {
        let now_ns = clock.ns();
        detector.turn(now_ns);
        let lead_ns = if precise { self.lead_ns } else { 0 };
        let timeout_ns = self.sleep_ns(now_ns, ahead_ns.saturating_sub(lead_ns));
        if timeout_ns == 0 {
            return 0;
        }
        wait_readable(&epoll.0, timeout_ns);
        let woken_ns = clock.ns();
        detector.woke(woken_ns, timeout_ns);
        self.last_sleep_ns = woken_ns;
        woken_ns.saturating_sub(now_ns)
    }

    /// Sleeps a little, until other engines of this process have sent what this one waits for; returns the time slept in nanoseconds.
    pub fn wait_for_engines(clock: Clock, detector: &mut StallDetector) -> u64 {
        let now_ns = clock.ns();
        detector.turn(now_ns);
        std::thread::sleep(BLOCKED_SLEEP);
        let woken_ns = clock.ns();
        detector.woke(woken_ns, BLOCKED_SLEEP.as_nanos() as u64);
        woken_ns.saturating_sub(now_ns)
    }

    fn sleep_ns(&mut self, now_ns: u64, longest_ns: u64) -> u64 {
        if longest_ns == 0 {
            return self.yield_cpu(now_ns);
        }
        let longest_ns = longest_ns.min(MAX_SLEEP_NS);
        let spin = match self.policy {
            Policy::Never => false,
            Policy::Always => true,
            Policy::Auto => self.should_spin(now_ns),
        };
        if spin { self.spin_sleep_ns(now_ns, longest_ns) } else { longest_ns }
    }

    fn spin_sleep_ns(&self, now_ns: u64, longest_ns: u64) -> u64 {
        if now_ns.saturating_sub(self.last_sleep_ns) < SPIN_SLEEP_INTERVAL_NS {
            0
        } else {
            longest_ns.min(SPIN_SLEEP_NS)
        }
    }

    fn should_spin(&mut self, now_ns: u64) -> bool {
        self.read_load(now_ns);
        self.has_idle_cores && now_ns.saturating_sub(self.last_work_ns) < SPIN_AFTER_ARRIVAL_NS
    }

    /// The length of a short sleep for other threads, where packets are always due soon and no core is idle. It saves
    /// the budget of real-time priority: without the budget, other threads would run for milliseconds at a time.
    fn yield_cpu(&mut self, now_ns: u64) -> u64 {
        let interval_ns = YIELD_INTERVAL_NS - YIELD_JITTER_NS / 2 + self.last_sleep_ns % YIELD_JITTER_NS;
        if !self.short_of_budget || now_ns.saturating_sub(self.last_sleep_ns) < interval_ns {
            return 0;
        }
        self.read_load(now_ns);
        if self.has_idle_cores { 0 } else { YIELD_NS }
    }

    fn read_load(&mut self, now_ns: u64) {
        if now_ns.saturating_sub(self.last_load_ns) > LOAD_INTERVAL_NS {
            self.last_load_ns = now_ns;
            // The engine itself counts as runnable.
            self.has_idle_cores = self.runnable().is_some_and(|count| count <= self.cores);
        }
    }

    /// Runnable threads of the machine.
    fn runnable(&mut self) -> Option<usize> {
        let file = self.load.as_mut()?;
        let mut text = [0u8; 64];
        file.rewind().ok()?;
        let length = file.read(&mut text).ok()?;
        let text = std::str::from_utf8(&text[..length]).ok()?;
        text.split(' ').nth(3)?.split('/').next()?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::realtime::{BUDGET_NS, WINDOW_NS};

    fn busy(short_of_budget: bool) -> Idle {
        let scheduling = Scheduling {
            policy: "fifo",
            priority: 0,
            cpu: None,
            memory_locked: false,
            cores: 2,
            spin: String::new(),
            lead_ns: 0,
        };
        Idle { short_of_budget, has_idle_cores: false, last_load_ns: u64::MAX, ..Idle::new(&scheduling) }
    }

    /// Nanoseconds slept in a second in which a packet is always due soon.
    fn slept_ns_in_a_second(mut idle: Idle) -> u64 {
        let (mut now_ns, mut slept_ns) = (0, 0);
        while now_ns < 1_000_000_000 {
            let yield_ns = idle.sleep_ns(now_ns, 0);
            if yield_ns > 0 {
                idle.last_sleep_ns = now_ns + yield_ns;
            }
            slept_ns += yield_ns;
            now_ns += yield_ns.max(1_000);
        }
        slept_ns
    }

    #[test]
    fn yields_leave_other_threads_at_least_the_time_outside_the_budget() {
        let left_ns = (WINDOW_NS - BUDGET_NS) * (1_000_000_000 / WINDOW_NS);
        let slept_ns = slept_ns_in_a_second(busy(true));
        assert!((left_ns..left_ns * 5 / 4).contains(&slept_ns), "{slept_ns} ns of {left_ns}");
    }

    #[test]
    fn an_engine_with_budget_or_an_idle_core_does_not_yield() {
        assert_eq!(slept_ns_in_a_second(busy(false)), 0);
        assert_eq!(slept_ns_in_a_second(Idle { has_idle_cores: true, ..busy(true) }), 0);
    }
}
