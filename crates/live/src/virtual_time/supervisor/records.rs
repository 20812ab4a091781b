//! The end of the run, and its records.

use super::{Order, SECOND_NS, Supervisor};
use crate::clock::monotonic_ns;
use crate::error::{Error, Result};
use crate::program::GRACE_NS;
use crate::supervisor::ControlConnections;
use longhaul_storage::{Disk, replace, replace_unsynced};
use serde_json::{Map, Value, json};

/// Least real time between two writes of the programs' states.
const SNAPSHOT_INTERVAL_NS: u64 = 1_000_000_000;

impl Supervisor<'_> {
    /// Writes the programs' states at most once a second, for the results of a run that is killed.
    pub(super) fn write_program_states(&mut self, now: bool) {
        let (changed, next_ns) = self.snapshot;
        if now || (changed && monotonic_ns() >= next_ns) {
            self.snapshot = (false, monotonic_ns() + SNAPSHOT_INTERVAL_NS);
            let text = format!("{:#}\n", json!(self.programs));
            let _ = replace_unsynced(&Disk, &self.directory.join("raw/programs.json"), text.as_bytes());
        }
    }

    /// Ends programs, then services, then the hosts, and writes the records.
    pub(super) fn end(&mut self, control: &mut ControlConnections, reason: &str) -> Result<()> {
        control.report(&json!({"event": "ending", "reason": reason}));
        for (running, state) in self.programs.iter_mut().zip(&self.states) {
            running.stopped_by_run |= state.runs;
        }
        let ended = self.end_hosts(control);
        let clock = [("clock", json!("virtual")), ("virtual", self.account())];
        let finished = self.clockwork.emulator.finish(self.directory, ended.as_ref().err(), clock);
        for warning in self.clockwork.emulator.warnings.drain(..) {
            control.warn(warning);
        }
        let (mut hosts, mut accounts, mut algorithms) = (Map::new(), Map::new(), Map::new());
        for (&node, (dropped, all, algorithm)) in &self.counted {
            let name = &self.plan.nodes[node].name;
            hosts.insert(name.clone(), json!(dropped));
            accounts.insert(name.clone(), json!(all));
            algorithms.extend(algorithm.as_ref().map(|algorithm| (name.clone(), json!(algorithm))));
        }
        let write = |name: &str, value: &Value| {
            let path = self.directory.join("raw").join(name);
            replace(&Disk, &path, format!("{value:#}\n").as_bytes())
                .map_err(|error| Error::wrap(format!("write {}", path.display()), error))
        };
        // If one cannot be written, the others may.
        let written = [
            write("programs.json", &json!(self.programs)),
            write("hosts.json", &hosts.into()),
            write("accounts.json", &accounts.into()),
            write("algorithms.json", &algorithms.into()),
        ];
        ended.and(finished).and(written.into_iter().collect())
    }

    pub(super) fn end_hosts(&mut self, control: &mut ControlConnections) -> Result<()> {
        for services in [false, true] {
            for index in 0..self.programs.len() {
                if self.programs[index].service == services {
                    self.terminate(index);
                }
            }
            let until_ns = self.clockwork.now_ns() + GRACE_NS;
            let any_runs = |run: &Self| {
                (0..run.states.len())
                    .any(|index| run.states[index].runs && run.programs[index].service == services)
            };
            while any_runs(self) && self.clockwork.now_ns() < until_ns + GRACE_NS {
                self.kill_overdue();
                let limit_ns =
                    if self.clockwork.now_ns() < until_ns { until_ns } else { until_ns + GRACE_NS };
                self.turn(limit_ns, control)?;
            }
        }
        for node in self.hosts.clone() {
            self.order(node, &Order::Count);
        }
        let until_ns = self.clockwork.now_ns() + SECOND_NS;
        while self.counted.len() < self.hosts.len() && self.clockwork.now_ns() < until_ns {
            if !self.turn(until_ns, control)? {
                break;
            }
        }
        Ok(())
    }

    /// What the clock tells of itself.
    pub(super) fn account(&self) -> Value {
        let guests = self.hosts.iter().enumerate().map(|(number, &node)| {
            let counters = self.clockwork.guests.counters(number);
            let account = json!({
                "runs": counters.runs,
                "interrupts": counters.interrupts,
                "delivered_frames": counters.delivered,
                "no_room_frames": counters.no_room,
                "late_frames": counters.late,
                "most_late_ns": counters.most_late_ns,
            });
            (self.plan.nodes[node].name.clone(), account)
        });
        json!({
            "kernel": self.kernel.file,
            "zero_ns": self.zero_ns,
            "wall_s": (monotonic_ns() - self.began_ns) as f64 / 1e9,
            "digest": format!("{:016x}", self.clockwork.digest.value()),
            "hosts": guests.collect::<Map<_, _>>(),
        })
    }
}
