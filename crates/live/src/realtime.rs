//! The engine's claim on a processor: pinning, real-time priority, locked memory.

use serde::Serialize;

/// Real-time priority of the engine: above everything ordinary, below the kernel's own threads at 99.
const PRIORITY: libc::c_int = 50;
/// Window in which the kernel's real-time limit is kept.
///
/// The kernel stops a real-time thread for 50 ms once it has run 950 ms of a second; we step down
/// ourselves for the last part of every short window instead.
pub const WINDOW_NS: u64 = 20_000_000;
/// The part of it that may be used.
pub const BUDGET_NS: u64 = 18_600_000;
/// So long after it was spent, a budget counts as short.
const SHORT_NS: u64 = 10_000_000_000;

/// What the machine granted.
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

/// Claims what is allowed, and says what that was. Never fails: the fidelity verdict judges it.
pub fn claim() -> Scheduling {
    let cpus = allowed_cpus();
    // The last processor: interrupts and the first programs tend to gather on the first.
    let cpu = if cpus.len() > 1 { cpus.last().copied().filter(|&cpu| pin(&[cpu])) } else { None };
    let fifo = set_policy(libc::SCHED_FIFO, PRIORITY);
    if !fifo {
        // SAFETY: plain system call on this thread.
        unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, -20) };
    }
    // SAFETY: plain system calls on this process.
    let memory_locked = unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, 1);
        libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE) == 0
    };
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
    // SAFETY: an all-zero cpu_set_t is valid, and the call fills at most its size.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::sched_getaffinity(0, std::mem::size_of::<libc::cpu_set_t>(), &mut set);
        (0..libc::CPU_SETSIZE as usize).filter(|&cpu| libc::CPU_ISSET(cpu, &set)).collect()
    }
}

/// Restricts this thread to `cpus`.
pub fn pin(cpus: &[usize]) -> bool {
    // SAFETY: an all-zero cpu_set_t is valid; CPU_SET stays within it for numbers of allowed_cpus.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        for &cpu in cpus {
            libc::CPU_SET(cpu, &mut set);
        }
        libc::sched_setaffinity(0, std::mem::size_of::<libc::cpu_set_t>(), &set) == 0
    }
}

/// Steps down to ordinary scheduling, for threads that have time.
pub fn relax(cpus: &[usize]) {
    set_policy(libc::SCHED_OTHER, 0);
    pin(cpus);
}

fn set_policy(policy: libc::c_int, priority: libc::c_int) -> bool {
    let parameter = libc::sched_param { sched_priority: priority };
    // SAFETY: the parameter outlives the call.
    unsafe { libc::sched_setscheduler(0, policy, &parameter) == 0 }
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
            // SAFETY: plain system call on this thread.
            unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, -20) };
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
