//! Reports of the agents in the hosts, and warnings of hosts that send none.

use super::{Order, Report, SECOND_NS, Supervisor};
use crate::clock::monotonic_ns;
use crate::error::{Error, Result};
use crate::supervisor::ControlConnections;

impl Supervisor<'_> {
    /// Warns once of hosts that run and send no message.
    pub(super) fn warn_of_silence(&mut self, hosts: &[usize], control: &mut ControlConnections) {
        let silent_s = (monotonic_ns() - self.last_message_ns) / SECOND_NS;
        if silent_s < self.kernel.patience_s || self.silence_reported {
            return;
        }
        self.silence_reported = true;
        let hosts: Vec<String> =
            hosts.iter().map(|&number| self.plan.nodes[self.hosts[number]].name.clone()).collect();
        // One that computes from its beginning on keeps its host from reporting that it has started.
        let names: Vec<&str> = self
            .programs
            .iter()
            .zip(&self.states)
            .filter(|(running, state)| state.ordered && running.is_pending_or_running())
            .filter(|(running, _)| hosts.contains(&running.host))
            .map(|(running, _)| running.name.as_str())
            .collect();
        control.warn(format!(
            "virtual time has stood still for {silent_s} s of real time, because host {} computes: a program there \
             ({}) that waits for time to pass without sleeping waits for ever; Ctrl-C ends the run",
            hosts.join(", "),
            names.join(", "),
        ));
    }

    /// Handles a report of a host.
    pub(super) fn handle_report(
        &mut self,
        at_ns: u64,
        node: usize,
        report: Report,
        control: &mut ControlConnections,
    ) -> Result<()> {
        let at = self.controller.since_zero(at_ns);
        // Before the zero is known, times are those of the kernels' clock.
        let at = if self.zero_ns.is_none() { at_ns as i64 } else { at };
        self.snapshot.changed = true;
        match report {
            Report::Booted => self.booted += 1,
            Report::Configured => self.configured += 1,
            Report::Started { program } => {
                self.states[program].runs = true;
                let running = &mut self.programs[program];
                running.start_ns = Some(at);
                control.report(&running.started_event());
            }
            Report::NotStarted { program, message } => {
                let running = &mut self.programs[program];
                running.start_ns = Some(at);
                running.error = Some(message);
                control.report(&running.failed_event());
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
                control.report(&running.ended_event());
            }
            Report::Sockets { sockets } => self.write_sockets(at, node, &sockets)?,
            Report::Counters { dropped, all, congestion_control } => {
                self.counted.insert(node, (dropped, all, congestion_control));
            }
            Report::Launch { ticket, host, command } => {
                self.launch(node, ticket, &host, |number| Order::RunCommand { number, command });
            }
            Report::Output { number, stream, bytes } => self.command_wrote(number, stream, &bytes, control),
            Report::Taken { number, bytes } => self.command_took(number, bytes, control),
            Report::CommandEnded { number, code } => self.command_ended(number, code, control),
            Report::Failed { message } => {
                return Err(Error::new(format!("host {}: {message}", self.plan.nodes[node].name)));
            }
        }
        Ok(())
    }
}
