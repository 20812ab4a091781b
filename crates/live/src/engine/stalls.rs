//! Scheduling stalls of the engine, and the time that it works.
//!
//! The engine reads the clock at every step of its loop: before and after each write, at each arrival, and before and
//! after each sleep. A step is at most one read or write of a super-packet, with the kernel's receive path, which runs
//! within the write. Two readings that are further apart mean that the machine did not run the engine: another thread
//! had its CPU core, the kernel throttled it, or a hypervisor ran another guest. A long turn of many short steps is
//! work, which is counted as such.

use serde::Serialize;

/// A sleep that takes this much longer than requested is a stall.
pub const STALL_NS: u64 = 100_000;
/// The longest step without a stall: five times what a super-packet takes on a slow machine.
const MAX_STEP_NS: u64 = 250_000;
/// Most stalls whose time and length are recorded.
const MAX_RECORDED_STALLS: usize = 1_000;

/// Times at which the engine was ready to run and did not run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Stalls {
    /// How many.
    pub count: u64,
    /// Their sum.
    pub total_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// The first of them: when, and how long.
    pub first: Vec<(u64, u64)>,
}

/// Time that the engine worked, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Work {
    /// Turns of the loop in which packets were read, decided on or written, without stalls.
    pub busy_ns: u64,
    /// The part of it in writes to hosts: the kernel copies the packet and runs the host's receive path.
    pub write_ns: u64,
}

/// Finds stalls in the readings of the clock, and adds up the time that the engine works.
#[derive(Debug, Default)]
pub struct StallDetector {
    pub stalls: Stalls,
    pub work: Work,
    last_ns: u64,
    turn_ns: u64,
    worked: bool,
    /// Stalls since the turn began.
    stalled_ns: u64,
    /// Nothing is found: the clock is virtual.
    is_off: bool,
}

impl StallDetector {
    /// A detector whose records need no memory later.
    pub fn new() -> Self {
        let stalls = Stalls { first: Vec::with_capacity(MAX_RECORDED_STALLS), ..Stalls::default() };
        StallDetector { stalls, ..StallDetector::default() }
    }

    /// One that finds nothing, for the virtual clock, on which any step of time is right.
    pub fn off() -> Self {
        StallDetector { is_off: true, ..StallDetector::default() }
    }

    /// The engine runs at `now_ns`.
    pub fn step(&mut self, now_ns: u64) {
        if self.is_off {
            return;
        }
        let step_ns = now_ns.saturating_sub(self.last_ns);
        if self.last_ns > 0 && step_ns > MAX_STEP_NS {
            self.stalled_ns += step_ns;
            self.record(now_ns, step_ns);
        }
        self.last_ns = now_ns;
    }

    /// The same, where the step was work on a packet.
    pub fn work(&mut self, now_ns: u64) {
        self.worked = true;
        self.step(now_ns);
    }

    /// The same, after a write that began at the last step.
    pub fn written(&mut self, now_ns: u64) {
        let began_ns = self.last_ns;
        self.work(now_ns);
        let taken_ns = now_ns.saturating_sub(began_ns);
        self.work.write_ns += if taken_ns > MAX_STEP_NS { 0 } else { taken_ns };
    }

    /// A turn of the loop ends: what follows is a sleep, or the next turn.
    pub fn turn(&mut self, now_ns: u64) {
        self.step(now_ns);
        if self.worked && self.turn_ns > 0 {
            let turn_ns = now_ns.saturating_sub(self.turn_ns);
            self.work.busy_ns += turn_ns.saturating_sub(self.stalled_ns);
        }
        (self.turn_ns, self.worked, self.stalled_ns) = (now_ns, false, 0);
    }

    /// The engine woke at `now_ns` from a sleep that was to take `requested_ns` at most.
    pub fn woke(&mut self, now_ns: u64, requested_ns: u64) {
        let slept_ns = now_ns.saturating_sub(self.last_ns);
        if slept_ns > requested_ns + STALL_NS {
            self.record(now_ns, slept_ns - requested_ns);
        }
        (self.last_ns, self.turn_ns) = (now_ns, now_ns);
    }

    fn record(&mut self, end_ns: u64, length_ns: u64) {
        let stalls = &mut self.stalls;
        stalls.count += 1;
        stalls.total_ns += length_ns;
        stalls.max_ns = stalls.max_ns.max(length_ns);
        if stalls.first.len() < MAX_RECORDED_STALLS {
            stalls.first.push((end_ns.saturating_sub(length_ns), length_ns));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_virtual_clock_has_no_stalls() {
        let mut detector = StallDetector::off();
        for second in 1..=5 {
            detector.work(second * 1_000_000_000);
            detector.written(second * 1_000_000_000);
        }
        assert_eq!((detector.stalls.count, detector.work.write_ns), (0, 0));
    }

    #[test]
    fn a_long_turn_of_short_steps_is_work_not_a_stall() {
        let mut detector = StallDetector::new();
        detector.turn(1_000);
        for step in 1..=100 {
            detector.work(1_000 + step * 20_000);
            detector.written(1_000 + step * 20_000 + 15_000);
        }
        detector.turn(2_101_000);
        assert_eq!(detector.stalls.count, 0);
        assert_eq!(detector.work.busy_ns, 2_100_000);
        assert_eq!(detector.work.write_ns, 100 * 15_000);
    }

    #[test]
    fn time_between_two_distant_steps_is_a_stall_not_work() {
        let mut detector = StallDetector::new();
        detector.turn(1_000);
        detector.work(11_000);
        detector.written(5_011_000);
        detector.turn(5_021_000);
        assert_eq!((detector.stalls.count, detector.stalls.total_ns), (1, 5_000_000));
        assert_eq!(detector.stalls.first, [(11_000, 5_000_000)]);
        assert_eq!((detector.work.busy_ns, detector.work.write_ns), (20_000, 0));
    }

    #[test]
    fn a_sleep_is_a_stall_only_beyond_the_time_that_was_requested() {
        let mut detector = StallDetector::new();
        detector.turn(1_000);
        detector.woke(1_000 + 900_000, 1_000_000);
        detector.turn(902_000);
        detector.woke(902_000 + 1_000_000 + STALL_NS, 1_000_000);
        assert_eq!(detector.stalls.count, 0);
        detector.turn(2_100_000);
        detector.woke(2_100_000 + 1_000_000 + 700_000, 1_000_000);
        assert_eq!((detector.stalls.count, detector.stalls.max_ns), (1, 700_000));
        assert_eq!(detector.work.busy_ns, 0, "sleeps and idle turns are not work");
    }
}
