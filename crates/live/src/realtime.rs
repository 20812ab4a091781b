//! The engine's claim on a processor: pinning, real-time priority, locked memory.

use crate::sys::scheduler::{set_nice, set_policy};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::mman::{MlockAllFlags, mlockall};
use nix::sys::prctl::set_timerslack;
use nix::unistd::Pid;
use serde::Serialize;

/// Real-time priority of the engine: above everything ordinary, below the kernel's own threads at 99.
const PRIORITY: libc::c_int = 50;
/// The highest ordinary priority.
const BEST_NICE: libc::c_int = -20;
/// The thread that calls, for calls that take the number of a thread.
const THIS_THREAD: Pid = Pid::from_raw(0);
/// Window in which the kernel's real-time limit is kept.
///
/// The kernel stops a real-time thread for 50 ms once it has run 950 ms of a second; we step down
/// ourselves for the last part of every short window instead.
pub const WINDOW_NS: u64 = 20_000_000;
/// The part of it that may be used.
pub const BUDGET_NS: u64 = 18_600_000;
/// So long after it was spent, a budget counts as short.
const SHORT_NS: u64 = 10_000_000_000;

/// The scheduling that the machine granted.
#[derive(Clone, Debug, Serialize)]
pub struct Scheduling {
    /// `fifo` or `other`.
    pub policy: &'static str,
    /// Real-time priority; 0 without.
    pub priority: i32,
    /// The processor that the engine is pinned to.
    pub cpu: Option<usize>,
    /// Whether its memory cannot be swapped out.
    pub memory_locked: bool,
    /// Processors that this process may use.
    pub cores: usize,
    /// The policy for idle time.
    pub spin: String,
    /// How long before a packet is due the engine stops sleeping.
    pub lead_ns: u64,
}

/// Claims what this thread may have as engine `number` of a run, and returns it. Never fails: the fidelity verdict takes it into
/// account.
pub fn claim(number: usize) -> Scheduling {
    let cpus = allowed_cpus();
    // The last processors: interrupts and the first programs tend to gather on the first.
    let own = cpus.iter().rev().nth(number % cpus.len().max(1)).copied();
    let cpu = if cpus.len() > 1 { own.filter(|&cpu| pin(&[cpu])) } else { None };
    let fifo = set_policy(libc::SCHED_FIFO, PRIORITY);
    if !fifo {
        set_nice(BEST_NICE);
    }
    let _ = set_timerslack(1);
    let memory_locked = mlockall(MlockAllFlags::MCL_CURRENT | MlockAllFlags::MCL_FUTURE).is_ok();
    Scheduling {
        policy: if fifo { "fifo" } else { "other" },
        priority: if fifo { PRIORITY } else { 0 },
        cpu,
        memory_locked,
        cores: cpus.len(),
        spin: String::new(),
        lead_ns: 0,
    }
}

/// Processors that this thread may run on.
pub fn allowed_cpus() -> Vec<usize> {
    let set = sched_getaffinity(THIS_THREAD).unwrap_or_default();
    (0..CpuSet::count()).filter(|&cpu| set.is_set(cpu).unwrap_or(false)).collect()
}

/// Restricts this thread to `cpus`.
pub fn pin(cpus: &[usize]) -> bool {
    let mut set = CpuSet::new();
    cpus.iter().all(|&cpu| set.set(cpu).is_ok()) && sched_setaffinity(THIS_THREAD, &set).is_ok()
}

/// Steps down to ordinary scheduling, for threads that have time.
pub fn relax(cpus: &[usize]) {
    set_policy(libc::SCHED_OTHER, 0);
    pin(cpus);
}

/// Keeps a thread that may spin for ever within the kernel's real-time limit.
pub struct Budget {
    fifo: bool,
    stepped_down: bool,
    window_ns: u64,
    used_ns: u64,
    last_ns: u64,
    last_step_down_ns: Option<u64>,
    /// How often the budget of a window was spent.
    pub step_downs: u64,
}

impl Budget {
    /// A budget for a thread that has real-time priority (or, with `fifo` false, has none to lose).
    pub fn new(fifo: bool, now_ns: u64) -> Self {
        if fifo {
            // What the thread falls back on when its budget is spent.
            set_nice(BEST_NICE);
        }
        Budget {
            fifo,
            stepped_down: false,
            window_ns: now_ns,
            used_ns: 0,
            last_ns: now_ns,
            last_step_down_ns: None,
            step_downs: 0,
        }
    }

    /// Whether it was spent in the last few seconds.
    pub fn is_short(&self) -> bool {
        self.last_step_down_ns.is_some_and(|at_ns| self.last_ns < at_ns + SHORT_NS)
    }

    /// To be called as the loop turns; `slept_ns` of the time since the last call was sleep.
    pub fn spend(&mut self, now_ns: u64, slept_ns: u64) {
        if !self.fifo {
            return;
        }
        self.used_ns += now_ns.saturating_sub(self.last_ns).saturating_sub(slept_ns);
        self.last_ns = now_ns;
        if now_ns >= self.window_ns + WINDOW_NS {
            self.window_ns = now_ns;
            self.used_ns = 0;
            if self.stepped_down {
                self.stepped_down = !set_policy(libc::SCHED_FIFO, PRIORITY);
            }
        } else if self.used_ns > BUDGET_NS && !self.stepped_down {
            self.stepped_down = set_policy(libc::SCHED_OTHER, 0);
            self.step_downs += 1;
            self.last_step_down_ns = Some(now_ns);
        }
    }
}
