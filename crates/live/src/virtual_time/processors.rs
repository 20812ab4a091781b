//! Which processors the hosts' kernels and the supervisor run on.
//!
//! A kernel and the processes of its programs take turns, and stay on one processor. Kernels that compute at the same time
//! are spread over all of them. Mostly, though, one waits for a packet of the other: then all stay on one processor with
//! the supervisor, because to wake another one, which sleeps, takes longer than such a turn.

use longhaul_virtual::Overlap;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

/// How often what runs where is decided.
const INTERVAL: Duration = Duration::from_millis(250);
/// Kernels are spread if they ran at the same time for this share of the interval, and brought together below the other.
const SPREAD_SHARE: f64 = 0.3;
const TOGETHER_SHARE: f64 = 0.15;
/// The same of how long they ran at the same time, each time that they did.
const SPREAD_LENGTH: Duration = Duration::from_micros(300);
const TOGETHER_LENGTH: Duration = Duration::from_micros(150);
/// All leave their processor if they waited for it for such a share of the interval, and another was idle for the other.
const DELAYED_SHARE: f64 = 0.2;
const IDLE_SHARE: f64 = 0.5;
/// The unit of `/proc/stat`: `USER_HZ` is 100 on all architectures of these kernels.
const JIFFY_MS: u64 = 10;

/// Where kernels run.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
enum Placement {
    /// Each on its own processor, by turns.
    Spread,
    /// All on this one.
    Together(usize),
}

/// The processors of a run.
pub struct Processors {
    allowed: Vec<usize>,
    /// Processes of the kernels.
    kernels: Vec<Pid>,
    placement: Placement,
    /// Whether it has changed in the last interval: a process that a kernel was just making may have missed it.
    is_new: bool,
    decided: Instant,
    before: Usage,
}

/// What the machine has counted so far.
#[derive(Debug, Default, Clone)]
struct Usage {
    overlap: Overlap,
    /// How long this thread could have run, but something else did.
    delay: Duration,
    /// Time that each processor was idle, by its number, in jiffies.
    idle: Vec<u64>,
}

impl Processors {
    /// Those that this thread may use.
    pub fn new() -> Self {
        let set = sched_getaffinity(Pid::from_raw(0)).unwrap_or_default();
        let allowed = (0..CpuSet::count()).filter(|&cpu| set.is_set(cpu).unwrap_or_default()).collect();
        Processors {
            allowed,
            kernels: Vec::new(),
            placement: Placement::Spread,
            is_new: false,
            decided: Instant::now(),
            before: Usage::default(),
        }
    }

    /// Places a kernel that has just started, before it starts processes.
    pub fn add(&mut self, kernel: Pid) {
        if !self.allowed.is_empty() {
            pin(kernel, &[self.allowed[self.kernels.len() % self.allowed.len()]]);
        }
        self.kernels.push(kernel);
    }

    /// Decides anew, from time to time; kernels have run at the same time by so much so far.
    pub fn decide(&mut self, overlap: Overlap) {
        let interval = self.decided.elapsed();
        if self.allowed.len() < 2 || interval < INTERVAL {
            return;
        }
        let now = Usage { overlap, delay: run_delay(), idle: idle_times() };
        let wanted = decision(self.placement, &self.before, &now, interval, &self.allowed);
        (self.before, self.decided) = (now, Instant::now());
        let changes = wanted != self.placement;
        if changes || self.is_new {
            self.place(wanted);
        }
        self.is_new = changes;
    }

    fn place(&mut self, placement: Placement) {
        self.placement = placement;
        let own = match placement {
            Placement::Spread => self.allowed.clone(),
            Placement::Together(cpu) => vec![cpu],
        };
        pin(Pid::from_raw(0), &own);
        // First the kernels: what they make from now on is where they are.
        let cpus: BTreeMap<Pid, usize> =
            self.kernels.iter().copied().zip(own.iter().copied().cycle()).collect();
        for (&kernel, &cpu) in &cpus {
            pin(kernel, &[cpu]);
        }
        for kernel in children("/proc/thread-self/children") {
            let Some(&cpu) = cpus.get(&pid_here(&kernel)) else { continue };
            for process in children(&format!("/proc/{kernel}/task/{kernel}/children")) {
                pin(pid_here(&process), &[cpu]);
            }
        }
    }
}

/// Where kernels shall run, after this interval.
fn decision(
    now: Placement,
    before: &Usage,
    after: &Usage,
    interval: Duration,
    allowed: &[usize],
) -> Placement {
    let share = |length: Duration| length.as_secs_f64() / interval.as_secs_f64();
    let length = after.overlap.length.saturating_sub(before.overlap.length);
    let times = u32::try_from(after.overlap.times - before.overlap.times).unwrap_or(u32::MAX);
    let each = length / times.max(1);
    let idle = |cpu: usize| {
        let of = |usage: &Usage| usage.idle.get(cpu).copied().unwrap_or_default();
        Duration::from_millis(of(after).saturating_sub(of(before)) * JIFFY_MS)
    };
    let idlest = allowed.iter().copied().max_by_key(|&cpu| idle(cpu));
    match (now, idlest) {
        (Placement::Spread, Some(idlest)) if share(length) < TOGETHER_SHARE || each < TOGETHER_LENGTH => {
            Placement::Together(idlest)
        }
        (Placement::Together(_), _) if share(length) > SPREAD_SHARE && each > SPREAD_LENGTH => {
            Placement::Spread
        }
        (Placement::Together(_), Some(idlest))
            if share(after.delay.saturating_sub(before.delay)) > DELAYED_SHARE
                && share(idle(idlest)) > IDLE_SHARE =>
        {
            Placement::Together(idlest)
        }
        _ => now,
    }
}

/// Keeps a process, or this thread, on these processors. One that has ended meanwhile needs none.
fn pin(process: Pid, cpus: &[usize]) {
    let mut set = CpuSet::new();
    if cpus.iter().all(|&cpu| set.set(cpu).is_ok()) {
        let _ = sched_setaffinity(process, &set);
    }
}

/// The processes in a file of `/proc`, which may be that of another PID namespace and then calls them otherwise.
fn children(file: &str) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.split_whitespace().map(ToOwned::to_owned).collect()
}

/// What a process of `/proc` is called here: the last number of `NSpid` (`proc_pid_status(5)`), since it made no namespace.
/// One that has ended has none.
fn pid_here(process: &str) -> Pid {
    let text = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let number = text
        .lines()
        .find_map(|line| line.strip_prefix("NSpid:"))
        .and_then(|pids| pids.split_whitespace().next_back()?.parse().ok());
    Pid::from_raw(number.unwrap_or(i32::MAX))
}

/// The CPU wait of this thread: the second number of `/proc/PID/schedstat`, in nanoseconds.
fn run_delay() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let delay = text.split_whitespace().nth(1).and_then(|number| number.parse().ok());
    Duration::from_nanos(delay.unwrap_or_default())
}

/// How long each processor has been idle, by `/proc/stat` (the fourth number of its line).
fn idle_times() -> Vec<u64> {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let mut all = Vec::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let cpu: Option<usize> =
            words.next().and_then(|name| name.strip_prefix("cpu")).and_then(|cpu| cpu.parse().ok());
        if let Some(cpu) = cpu {
            let idle = words.nth(3).and_then(|number| number.parse().ok()).unwrap_or_default();
            all.resize(all.len().max(cpu + 1), 0);
            all[cpu] = idle;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The decision after an interval of 250 ms on processors 2 and 5: kernels overlapped `times` times, by `overlap_ms` in
    /// all; this thread waited for `delay_ms`, and processor 5 was idle for `idle_ms`.
    fn after(now: Placement, overlap_ms: u64, times: u64, delay_ms: u64, idle_ms: u64) -> Placement {
        let before = Usage { idle: vec![0, 0, 7, 0, 0, 9], ..Usage::default() };
        let usage = Usage {
            overlap: Overlap { length: Duration::from_millis(overlap_ms), times },
            delay: Duration::from_millis(delay_ms),
            idle: vec![900, 900, 7, 900, 900, 9 + idle_ms / JIFFY_MS],
        };
        decision(now, &before, &usage, Duration::from_millis(250), &[2, 5])
    }

    #[test]
    fn kernels_that_take_turns_share_the_processor_that_is_idle() {
        assert_eq!(after(Placement::Spread, 10, 100, 0, 100), Placement::Together(5));
        assert_eq!(after(Placement::Spread, 100, 1_000, 0, 100), Placement::Together(5), "short overlaps");
    }

    #[test]
    fn kernels_that_compute_at_the_same_time_are_spread() {
        assert_eq!(after(Placement::Together(2), 200, 10, 0, 0), Placement::Spread);
        assert_eq!(after(Placement::Spread, 200, 10, 0, 0), Placement::Spread);
        assert_eq!(
            after(Placement::Together(2), 60, 100, 0, 0),
            Placement::Together(2),
            "not for most of the time"
        );
    }

    #[test]
    fn a_busy_processor_is_left_for_an_idle_one() {
        assert_eq!(after(Placement::Together(2), 0, 0, 100, 200), Placement::Together(5));
        assert_eq!(after(Placement::Together(2), 0, 0, 10, 200), Placement::Together(2), "it is not busy");
        assert_eq!(after(Placement::Together(2), 0, 0, 100, 50), Placement::Together(2), "so is the other");
    }

    #[test]
    fn a_child_is_found_by_the_number_that_it_has_here() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let found: Vec<Pid> =
            children("/proc/thread-self/children").iter().map(|child| pid_here(child)).collect();
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(found, [Pid::from_raw(child.id() as i32)]);
    }

    #[test]
    fn this_machine_says_how_long_its_processors_were_idle() {
        let set = sched_getaffinity(Pid::from_raw(0)).unwrap();
        let times = idle_times();
        for cpu in (0..CpuSet::count()).filter(|&cpu| set.is_set(cpu).unwrap()) {
            assert!(times[cpu] > 0, "processor {cpu} of {times:?}");
        }
    }
}
