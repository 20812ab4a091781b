//! What the engine does when nothing is due.
//!
//! Sleeping frees the processor for the programs under test but costs a wake-up (20-40 us) on the
//! next arrival; spinning costs a processor. So: spin while a packet is due soon; spin on for a
//! while after the last arrival as long as processors are idle anyway; sleep otherwise, and always
//! a little, because a real-time thread that never sleeps is stopped by the kernel.

use crate::clock::Clock;
use crate::realtime::Scheduling;
use nix::sys::epoll::Epoll;
use std::io::{Read, Seek};
use std::os::fd::{AsFd, AsRawFd};

/// How long before a packet is due sleeping ends, with and without real-time priority.
const LEAD_FIFO_NS: u64 = 150_000;
const LEAD_OTHER_NS: u64 = 300_000;
/// Spinning goes on this long after the last arrival.
const LINGER_NS: u64 = 50_000_000;
/// A pause in the spinning, and how often it comes.
const REST_NS: u64 = 50_000;
const REST_EVERY_NS: u64 = 1_000_000;
/// The same where packets are always due soon, on average: more than `realtime::Budget` leaves to others.
const BREATH_NS: u64 = 20_000;
const BREATH_EVERY_NS: u64 = 250_000;
/// How much that interval varies, so that nothing periodic meets every breath.
const BREATH_VARIES_NS: u64 = 150_000;
/// How often the machine's load is looked at.
const LOAD_EVERY_NS: u64 = 10_000_000;
/// The longest sleep; arrivals end it early anyway.
const LONGEST_NS: u64 = 1_000_000_000;
/// A turn that took longer than this, beyond what was asked for, is a gap.
pub const GAP_NS: u64 = 100_000;
/// Gaps kept one by one.
const FIRST_GAPS: usize = 1_000;

/// Decides between spinning and sleeping, and notices when the engine did not run.
pub struct Idle {
    lead_ns: u64,
    cores: usize,
    policy: Policy,
    /// Real-time priority has run out of its budget not long ago.
    pub short_of_budget: bool,
    last_work_ns: u64,
    last_rest_ns: u64,
    last_load_ns: u64,
    idle_cores: bool,
    load: Option<std::fs::File>,
    last_turn_ns: u64,
    /// Times at which the engine wanted to run and did not.
    pub gaps: Gaps,
}

/// Gaps over [`GAP_NS`].
#[derive(Clone, Debug, Default)]
pub struct Gaps {
    /// How many.
    pub count: u64,
    /// Their sum.
    pub total_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// The first of them: when, and how long.
    pub first: Vec<(u64, u64)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Policy {
    Always,
    Never,
    Auto,
}

impl Idle {
    /// A policy for what the machine granted; `LONGHAUL_SPIN` = always, never or auto overrides it.
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
            last_rest_ns: 0,
            last_load_ns: 0,
            idle_cores: scheduling.cores > 1,
            load: std::fs::File::open("/proc/loadavg").ok(),
            last_turn_ns: 0,
            gaps: Gaps { first: Vec::with_capacity(FIRST_GAPS), ..Gaps::default() },
        }
    }

    /// The policy's name, for the result.
    pub fn policy(&self) -> &'static str {
        match self.policy {
            Policy::Always => "always",
            Policy::Never => "never",
            Policy::Auto => "auto",
        }
    }

    /// How long before a packet is due sleeping ends.
    pub fn lead_ns(&self) -> u64 {
        self.lead_ns
    }

    /// A packet arrived.
    pub fn saw_work(&mut self, now_ns: u64) {
        self.last_work_ns = now_ns;
    }

    /// To be called between any few dozen packets: more time than they take was not our doing.
    pub fn watch(&mut self, now_ns: u64) {
        let turn_ns = now_ns.saturating_sub(self.last_turn_ns);
        if self.last_turn_ns > 0 && turn_ns > GAP_NS + 400_000 {
            self.note_gap(now_ns, turn_ns);
        }
        self.last_turn_ns = now_ns;
    }

    /// Sleeps if that is wise, until a port can be read or `ahead_ns` have almost passed (or, if the
    /// instant need not be met `sharply`, have passed), and returns how long it slept.
    pub fn pause(&mut self, epoll: &Epoll, clock: &Clock, ahead_ns: u64, sharply: bool) -> u64 {
        let now_ns = clock.ns();
        self.watch(now_ns);
        let lead_ns = if sharply { self.lead_ns } else { 0 };
        let slept_ns = match self.sleep_for(now_ns, ahead_ns.saturating_sub(lead_ns)) {
            0 => 0,
            timeout_ns => {
                wait_readable(epoll, timeout_ns);
                let woken_ns = clock.ns();
                let slept_ns = woken_ns.saturating_sub(now_ns);
                if slept_ns > timeout_ns + GAP_NS {
                    self.note_gap(woken_ns, slept_ns - timeout_ns);
                }
                self.last_rest_ns = woken_ns;
                slept_ns
            }
        };
        self.last_turn_ns = clock.ns();
        slept_ns
    }

    fn sleep_for(&mut self, now_ns: u64, longest_ns: u64) -> u64 {
        if longest_ns == 0 {
            return self.breathe(now_ns);
        }
        let longest_ns = longest_ns.min(LONGEST_NS);
        let spin = match self.policy {
            Policy::Never => false,
            Policy::Always => true,
            Policy::Auto => self.worth_spinning(now_ns),
        };
        if spin { self.rest(now_ns, longest_ns) } else { longest_ns }
    }

    fn rest(&self, now_ns: u64, longest_ns: u64) -> u64 {
        if now_ns.saturating_sub(self.last_rest_ns) < REST_EVERY_NS { 0 } else { longest_ns.min(REST_NS) }
    }

    fn worth_spinning(&mut self, now_ns: u64) -> bool {
        self.look_at_load(now_ns);
        self.idle_cores && now_ns.saturating_sub(self.last_work_ns) < LINGER_NS
    }

    /// Where packets are always due soon and others wait for the processor, short sleeps spare the
    /// budget of real-time priority: without it, these others would take milliseconds at a time.
    fn breathe(&mut self, now_ns: u64) -> u64 {
        let varied_ns = BREATH_EVERY_NS - BREATH_VARIES_NS / 2 + self.last_rest_ns % BREATH_VARIES_NS;
        if !self.short_of_budget || now_ns.saturating_sub(self.last_rest_ns) < varied_ns {
            return 0;
        }
        self.look_at_load(now_ns);
        if self.idle_cores { 0 } else { BREATH_NS }
    }

    fn look_at_load(&mut self, now_ns: u64) {
        if now_ns.saturating_sub(self.last_load_ns) > LOAD_EVERY_NS {
            self.last_load_ns = now_ns;
            // We count as runnable ourselves.
            self.idle_cores = self.runnable().is_some_and(|count| count <= self.cores);
        }
    }

    /// Threads that run or want to, on the whole machine.
    fn runnable(&mut self) -> Option<usize> {
        let file = self.load.as_mut()?;
        let mut text = [0u8; 64];
        file.rewind().ok()?;
        let length = file.read(&mut text).ok()?;
        let text = std::str::from_utf8(&text[..length]).ok()?;
        text.split(' ').nth(3)?.split('/').next()?.parse().ok()
    }

    fn note_gap(&mut self, end_ns: u64, length_ns: u64) {
        self.gaps.count += 1;
        self.gaps.total_ns += length_ns;
        self.gaps.max_ns = self.gaps.max_ns.max(length_ns);
        if self.gaps.first.len() < FIRST_GAPS {
            self.gaps.first.push((end_ns.saturating_sub(length_ns), length_ns));
        }
    }
}

/// Sleeps until a port can be read, but for `timeout_ns` at most (nanosecond time-outs, unlike epoll_wait).
fn wait_readable(epoll: &Epoll, timeout_ns: u64) {
    let timeout = libc::timespec {
        tv_sec: (timeout_ns / 1_000_000_000) as libc::time_t,
        tv_nsec: (timeout_ns % 1_000_000_000) as libc::c_long,
    };
    let mut poll = libc::pollfd { fd: epoll.0.as_fd().as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: both structures outlive the call.
    unsafe { libc::ppoll(&mut poll, 1, &timeout, std::ptr::null()) };
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
        Idle { short_of_budget, idle_cores: false, last_load_ns: u64::MAX, ..Idle::new(&scheduling) }
    }

    /// Nanoseconds slept in a second in which something is always due soon.
    fn slept_in_a_second(mut idle: Idle) -> u64 {
        let (mut now_ns, mut slept_ns) = (0, 0);
        while now_ns < 1_000_000_000 {
            let breath_ns = idle.sleep_for(now_ns, 0);
            if breath_ns > 0 {
                idle.last_rest_ns = now_ns + breath_ns;
            }
            slept_ns += breath_ns;
            now_ns += breath_ns.max(1_000);
        }
        slept_ns
    }

    #[test]
    fn breaths_leave_others_at_least_what_the_budget_leaves_them() {
        let left_ns = (WINDOW_NS - BUDGET_NS) * (1_000_000_000 / WINDOW_NS);
        let slept_ns = slept_in_a_second(busy(true));
        assert!((left_ns..left_ns * 5 / 4).contains(&slept_ns), "{slept_ns} ns of {left_ns}");
    }

    #[test]
    fn who_has_budget_or_an_idle_processor_does_not_breathe() {
        assert_eq!(slept_in_a_second(busy(false)), 0);
        assert_eq!(slept_in_a_second(Idle { idle_cores: true, ..busy(true) }), 0);
    }
}
