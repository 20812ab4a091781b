//! What the agents of the hosts report, and what it means that they do not.

use super::{Order, Report, SECOND_NS, Supervisor};
use crate::clock::monotonic_ns;
use crate::error::{Error, Result};
use crate::program::ProgramState;
use crate::supervisor::ControlConnections;
use serde_json::json;

impl Supervisor<'_> {
    /// Says once that nothing is heard of hosts that run.
    pub(super) fn look_at_silence(&mut self, hosts: &[String], control: &mut ControlConnections) {
        let silent_s = (monotonic_ns() - self.heard_ns) / SECOND_NS;
        if silent_s < self.kernel.patience_s || self.silent_said {
            return;
        }
        self.silent_said = true;
        let runs = |running: &&ProgramState| running.start_ns.is_some() && running.end_ns.is_none();
        let there = |running: &&ProgramState| hosts.contains(&running.host);
        let names: Vec<&str> =
            self.programs.iter().filter(runs).filter(there).map(|running| running.name.as_str()).collect();
        control.warn(format!(
            "for {silent_s} s of real time, host {} has computed and virtual time has stood still: if a program \
             there ({}) waits for time to pass without sleeping, it will wait for ever; Ctrl-C ends the run",
            hosts.join(", "),
            names.join(", "),
        ));
    }

    /// Takes what a host reports.
    pub(super) fn take(
        &mut self,
        at_ns: u64,
        node: usize,
        report: Report,
        control: &mut ControlConnections,
    ) -> Result<()> {
        let at = self.clockwork.since_zero(at_ns);
        // Before the zero is known, times are those of the kernels' clock.
        let at = if self.zero_ns.is_none() { at_ns as i64 } else { at };
        self.snapshot.0 = true;
        match report {
            Report::Up => self.up += 1,
            Report::Host => self.built += 1,
            Report::Started { program } => {
                self.states[program].runs = true;
                let running = &mut self.programs[program];
                running.start_ns = Some(at);
                control.report(&json!({
                    "event": "program", "name": running.name, "host": running.host, "state": "started",
                }));
            }
            Report::NotStarted { program, message } => {
                let running = &mut self.programs[program];
                running.start_ns = Some(at);
                control.report(&json!({
                    "event": "program", "name": running.name, "host": running.host,
                    "state": "failed", "message": message,
                }));
                running.error = Some(message);
            }
            Report::Ready { program } => self.states[program].ready = true,
            Report::NotReady { program } => {
                let planned = &self.plan.programs[program];
                let port = planned.ready.as_ref().map_or(0, |ready| ready.tcp_port);
                let name = &planned.name;
                return Err(Error::new(format!("program {name}: did not listen on TCP port {port} in time"))
                    .with_remedy(format!("see logs/{name}.err in {}", self.directory.display())));
            }
            Report::Ended { program, status, used } => {
                self.states[program].runs = false;
                self.states[program].kill_at_ns = None;
                let running = &mut self.programs[program];
                running.ended(at, status, used);
                control.report(&json!({
                    "event": "program", "name": running.name, "host": running.host, "state": "ended",
                    "exit": running.exit, "signal": running.signal, "expect_exit": running.expect_exit,
                    "stopped_by_run": running.stopped_by_run,
                }));
            }
            Report::Counted { dropped, all, congestion_control } => {
                self.counted.insert(node, (dropped, all, congestion_control));
            }
            Report::Launch { ticket, host, command } => {
                let number = self.launches.len();
                self.launches.push((node, ticket));
                let other = self.hosts.iter().copied().find(|&other| self.plan.nodes[other].name == host);
                match other {
                    Some(other) => self.order(other, &Order::Run { number, command }),
                    None => self.order(node, &Order::Done { ticket, code: 255 }),
                }
            }
            Report::RunEnded { number, code } => {
                if let Some(&(origin, ticket)) = self.launches.get(number) {
                    self.order(origin, &Order::Done { ticket, code });
                }
            }
            Report::Failed { message } => {
                return Err(Error::new(format!("host {}: {message}", self.plan.nodes[node].name)));
            }
        }
        Ok(())
    }
}
