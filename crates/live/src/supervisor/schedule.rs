//! Start and stop of programs at their scheduled times.

use super::Supervisor;
use super::connections::ControlConnections;
use crate::clock::monotonic_ns;
use crate::program::{self, ProgramEnvironment, ProgramHost};
use crate::programs::have_ended;
use longhaul_plan::Program;

impl Supervisor<'_> {
    pub(super) fn start_and_stop_due(&mut self, now_ns: u64, control: &mut ControlConnections) {
        for index in 0..self.programs.len() {
            let planned = &self.plan.programs[index];
            let is_due = planned.start_ns <= now_ns && self.may_start(planned, control);
            let running = &mut self.programs[index];
            if running.start_ns.is_none() && running.error.is_none() && is_due {
                self.start_program(index, control);
                continue;
            }
            if planned.stop_ns.is_some_and(|stop_ns| stop_ns <= now_ns) {
                running.terminate();
            }
            if running.kill_at_ns.is_some_and(|at_ns| at_ns <= monotonic_ns()) {
                running.kill();
            }
        }
    }

    /// Whether the programs that it starts after have ended, here or on other machines.
    fn may_start(&self, planned: &Program, control: &ControlConnections) -> bool {
        have_ended(&self.programs, &planned.after)
            && self
                .machines
                .is_none_or(|machines| machines.may_start(&planned.name, &control.ended_elsewhere))
    }

    /// When the supervisor next has something to do, on the run's clock.
    pub(super) fn next_deadline_ns(&self, control: &ControlConnections) -> u64 {
        let programs = self.plan.programs.iter().zip(&self.programs).flat_map(|(planned, running)| {
            let waits =
                running.start_ns.is_some() || running.error.is_some() || !self.may_start(planned, control);
            let start = (!waits).then_some(planned.start_ns);
            let stop = planned.stop_ns.filter(|_| running.pid.is_some() && running.kill_at_ns.is_none());
            let kill = running.kill_at_ns.map(|at_ns| at_ns.saturating_sub(self.clock.start_ns()));
            [start, stop, kill].into_iter().flatten()
        });
        let note = self.snapshot.due_ns().map(|at_ns| at_ns.saturating_sub(self.clock.start_ns()));
        let end = self.plan.duration_ns.filter(|_| !self.keep);
        let others = [end, note, self.memory.next_check_ns()];
        programs.chain(others.into_iter().flatten()).min().unwrap_or(u64::MAX)
    }

    pub(super) fn start_program(&mut self, index: usize, control: &mut ControlConnections) {
        let planned = &self.plan.programs[index];
        let mut env = self.env.clone();
        env.extend(self.spans[index].clone());
        let isolation = self.plan.isolation;
        let environment =
            ProgramEnvironment { cwd: &self.cwd, directory: &self.directory, env: &env, isolation };
        self.programs[index].start_ns = Some(self.clock.signed_ns());
        self.snapshot.changed = true;
        let Some(host) = &self.hosts[planned.host] else { return };
        let running = &mut self.programs[index];
        let place = ProgramHost::Namespaces(host, &self.host_groups[planned.host]);
        match program::start(planned, &place, &environment) {
            Ok(pid) => {
                running.pid = Some(pid);
                control.report(&running.started_event());
            }
            Err(error) => {
                running.error = Some(error.to_string());
                control.report(&running.failed_event());
            }
        }
    }
}
