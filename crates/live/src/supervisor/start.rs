//! The start of a run: services, traffic generators, the clock, and the other machines if there are any.

use super::Supervisor;
use super::connections::ControlConnections;
use crate::clock::{Clock, monotonic_ns};
use crate::engine::Command;
use crate::error::{Error, Result};
use crate::program::{self, ProgramEnvironment, ProgramHost};
use crate::run_record::Ending;
use crate::traffic::TrafficGenerator;
use longhaul_network::Network;
use longhaul_storage::{Disk, replace_unsynced};
use serde_json::json;

/// Interval between two checks whether a service listens.
const READY_POLL_INTERVAL_NS: u64 = 5_000_000;
/// Between the last preparation and the clock's zero.
const START_MARGIN_NS: u64 = 20_000_000;
/// The same where other machines are to start with this one.
const JOINT_START_MARGIN_NS: u64 = 500_000_000;

impl Supervisor<'_> {
    /// Starts services and waits until they are ready; returns the ending if the run was stopped meanwhile.
    pub(super) fn start_services(&mut self, control: &mut ControlConnections) -> Result<Option<Ending>> {
        for index in 0..self.programs.len() {
            if !self.programs[index].service || self.plan.programs[index].plays.is_some() {
                continue;
            }
            self.start_program(index, control);
            if let Some(error) = &self.programs[index].error {
                return Err(Error::new(error.clone()));
            }
        }
        for index in 0..self.programs.len() {
            if let Some(ending) = self.wait_until_ready(index, control)? {
                return Ok(Some(ending));
            }
        }
        Ok(None)
    }

    fn wait_until_ready(&mut self, index: usize, control: &mut ControlConnections) -> Result<Option<Ending>> {
        let Some(ready) = &self.plan.programs[index].ready else { return Ok(None) };
        let deadline_ns = monotonic_ns().saturating_add(ready.within_ns);
        loop {
            self.reap();
            self.check_engine()?;
            if let Some(ending) = control.handle_requests_before_start() {
                return Ok(Some(ending));
            }
            let name = &self.programs[index].name;
            let Some(pid) = self.programs[index].pid else {
                return Err(Error::new(format!("program {name}: ended before it was ready"))
                    .with_remedy(format!("see logs/{name}.err in {}", self.directory.display())));
            };
            if program::listens(pid, ready.tcp_port) {
                return Ok(None);
            }
            if monotonic_ns() > deadline_ns {
                return Err(Error::new(format!(
                    "program {name}: did not listen on TCP port {} in time",
                    ready.tcp_port
                ))
                .with_remedy(format!("see logs/{name}.err in {}", self.directory.display())));
            }
            control.wait(READY_POLL_INTERVAL_NS, &self.engine.control);
        }
    }

    /// Starts the traffic generators, receivers first, so that no packet arrives before its socket is open.
    pub(super) fn start_traffic_generators(&mut self, control: &mut ControlConnections) -> Result<()> {
        let parts = || self.plan.programs.iter().enumerate().filter(|(_, program)| program.plays.is_some());
        if parts().next().is_none() {
            return Ok(());
        }
        let network = Network::new(self.plan)?;
        let sinks = parts().filter(|(_, program)| program.service).map(|(index, _)| index);
        let sources = parts().filter(|(_, program)| !program.service).map(|(index, _)| index);
        for index in sinks.chain(sources).collect::<Vec<_>>() {
            let planned = &self.plan.programs[index];
            let (Some(part), Some(host)) = (&planned.plays, &self.hosts[planned.host]) else { continue };
            let generator = TrafficGenerator::new(self.plan, &network, part)?;
            let isolation = self.plan.isolation;
            let environment =
                ProgramEnvironment { cwd: &self.cwd, directory: &self.directory, env: &self.env, isolation };
            let place = ProgramHost::Namespaces(host, &self.host_groups[planned.host]);
            let started_ns = self.clock.signed_ns();
            let pid =
                program::start_traffic_generator(planned, generator, &self.start_time, &place, &environment)
                    .map_err(|error| error.at(format!("traffic {}", planned.name)))?;
            let running = &mut self.programs[index];
            (running.start_ns, running.pid) = (Some(started_ns), Some(pid));
            control.report(&running.started_event());
        }
        Ok(())
    }

    /// On one of several machines: waits until the client says that all are ready. Returns the ending if the run was stopped meanwhile.
    pub(super) fn wait_for_machines(&mut self, control: &mut ControlConnections) -> Result<Option<Ending>> {
        if self.machines.is_none() {
            return Ok(None);
        }
        control.report(&json!({"event": "ready"}));
        loop {
            self.reap();
            self.check_engine()?;
            if let Some(ending) = control.handle_requests_before_start() {
                return Ok(Some(ending));
            }
            if control.may_begin() {
                return Ok(None);
            }
            control.wait(READY_POLL_INTERVAL_NS, &self.engine.control);
            self.engine.receive_reports();
        }
    }

    /// When the clock starts: on the first of several machines late enough for the others to know it.
    fn decide_start(&mut self) -> Result<u64> {
        match self.machines.map(|machines| machines.own) {
            None | Some(0) => {
                let margin_ns = if self.machines.is_some() { JOINT_START_MARGIN_NS } else { START_MARGIN_NS };
                let start_ns = monotonic_ns() + margin_ns;
                self.command(&Command::Start { start_ns })?;
                Ok(start_ns)
            }
            Some(_) => {
                self.command(&Command::Follow {})?;
                self.engine
                    .started()
                    .map_err(|error| Error::wrap("start the clock with that of the first machine", error))
            }
        }
    }

    pub(super) fn start_clock(&mut self, control: &mut ControlConnections) -> Result<()> {
        let start_ns = self.decide_start()?;
        let earlier_ns = start_ns as i64 - self.clock.start_ns() as i64;
        self.clock = Clock::starting_at(start_ns);
        // The start may be far ahead where machines start jointly, and nothing begins before it.
        self.clock.sleep_until_zero(START_MARGIN_NS);
        self.send_to_observer(&Command::Start { start_ns });
        self.start_time
            .publish(self.clock)
            .map_err(|error| Error::wrap("publish the start time to traffic generators", error))?;
        for running in &mut self.programs {
            // Services and traffic generators started on the clock that the supervisor began with.
            running.shift_times(-earlier_ns);
        }
        let until_start_ns = start_ns.saturating_sub(monotonic_ns());
        let started = json!({"t0_unix_ns": crate::clock::unix_ns() + until_start_ns});
        // Needed if the engine cannot write it at the end.
        let _ =
            replace_unsynced(&Disk, &self.directory.join("raw/started.json"), started.to_string().as_bytes());
        self.started = true;
        control.report(&json!({"event": "started", "t0_unix_ns": started["t0_unix_ns"]}));
        Ok(())
    }
}
