//! Start and end of programs at the times of the plan.

use super::{Order, Supervisor};
use crate::program::GRACE_NS;
use crate::programs;
use crate::run_record::Ending;

impl Supervisor<'_> {
    pub(super) fn is_over(&self, now_ns: u64) -> Option<Ending> {
        let emulator = &self.controller.emulator;
        let simulates = emulator.has_endpoints() && !emulator.endpoints_are_done();
        programs::ending(self.plan, &self.programs, now_ns, simulates)
    }

    /// Starts and ends what the plan says, `now_ns` after the zero.
    pub(super) fn start_and_stop_due(&mut self, now_ns: u64) {
        for index in 0..self.programs.len() {
            let planned = &self.plan.programs[index];
            if !self.states[index].ordered {
                if planned.start_ns <= now_ns && programs::have_ended(&self.programs, &planned.after) {
                    self.start(index);
                }
            } else if planned.stop_ns.is_some_and(|stop_ns| stop_ns <= now_ns) {
                self.terminate(index);
            }
        }
        self.kill_overdue();
    }

    pub(super) fn kill_overdue(&mut self) {
        let now_ns = self.controller.now_ns();
        for index in 0..self.programs.len() {
            if self.states[index].kill_at_ns.is_some_and(|at_ns| at_ns <= now_ns) {
                self.states[index].kill_at_ns = Some(u64::MAX);
                let host = self.plan.programs[index].host;
                self.order(host, &Order::Signal { program: index, number: libc::SIGKILL });
            }
        }
    }

    /// When something is to be done next, after the zero.
    pub(super) fn next_deadline_ns(&self, keep: bool) -> u64 {
        let zero_ns = self.zero_ns.unwrap_or_default();
        let programs = self.plan.programs.iter().zip(&self.states).flat_map(|(planned, state)| {
            let start = (!state.ordered && programs::have_ended(&self.programs, &planned.after))
                .then_some(planned.start_ns);
            let stop = planned.stop_ns.filter(|_| state.runs && state.kill_at_ns.is_none());
            let kill = state.kill_at_ns.filter(|&at_ns| at_ns != u64::MAX);
            [start, stop, kill.map(|at_ns| at_ns.saturating_sub(zero_ns))].into_iter().flatten()
        });
        let end = self.plan.duration_ns.filter(|_| !keep);
        programs.chain(end).chain(self.next_sockets_ns()).min().unwrap_or(u64::MAX)
    }

    pub(super) fn start(&mut self, index: usize) {
        self.states[index].ordered = true;
        self.order(self.plan.programs[index].host, &Order::Start { program: index });
    }

    /// Tells a program that runs to end, and sets when it is killed.
    pub(super) fn terminate(&mut self, index: usize) {
        let state = &mut self.states[index];
        if state.runs && state.kill_at_ns.is_none() {
            state.kill_at_ns = Some(self.controller.now_ns() + GRACE_NS);
            self.programs[index].stopped_by_run = true;
            let host = self.plan.programs[index].host;
            self.order(host, &Order::Signal { program: index, number: libc::SIGTERM });
        }
    }
}
