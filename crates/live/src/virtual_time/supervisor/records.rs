//! The end of the run, and its records.

use super::{Order, SECOND_NS, Supervisor};
use crate::clock::monotonic_ns;
use crate::error::{Error, Result};
use crate::program::GRACE_NS;
use crate::programs;
use crate::supervisor::ControlConnections;
use longhaul_storage::{Disk, replace_unsynced};
use longhaul_virtual::Digest;
use serde_json::{Map, Value, json};

impl Supervisor<'_> {
    /// Ends programs, then services, then the hosts, and writes the records.
    pub(super) fn end(&mut self, control: &mut ControlConnections, reason: &str) -> Result<()> {
        control.report(&json!({"event": "ending", "reason": reason}));
        self.read_sockets();
        for (running, state) in self.programs.iter_mut().zip(&self.states) {
            running.stopped_by_run |= state.runs;
        }
        let ended = self.end_hosts(control);
        let clock = [("clock", json!("virtual")), ("virtual", self.account())];
        let finished = self.controller.emulator.finish(self.directory, ended.as_ref().err(), clock);
        for warning in self.controller.emulator.take_warnings() {
            control.warn(warning);
        }
        let (mut hosts, mut accounts, mut algorithms) = (Map::new(), Map::new(), Map::new());
        for (&node, (dropped, all, algorithm)) in &self.counted {
            let name = &self.plan.nodes[node].name;
            hosts.insert(name.clone(), json!(dropped));
            accounts.insert(name.clone(), json!(all));
            algorithms.extend(algorithm.as_ref().map(|algorithm| (name.clone(), json!(algorithm))));
        }
        let counted = [hosts.into(), accounts.into(), algorithms.into()];
        let path = self.directory.join("raw/digests.json");
        let digests = replace_unsynced(&Disk, &path, self.digests().to_string().as_bytes())
            .map_err(|error| Error::wrap(format!("write {}", path.display()), error));
        ended.and(finished).and(digests).and(programs::write_records(
            self.directory,
            &self.programs,
            &counted,
        ))
    }

    /// Ends programs, then services, and reads the kernels' counters. A host that computes without end is not waited for.
    fn end_hosts(&mut self, control: &mut ControlConnections) -> Result<()> {
        self.last_message_ns = monotonic_ns();
        for services in [false, true] {
            for index in 0..self.programs.len() {
                if self.programs[index].service == services {
                    self.terminate(index);
                }
            }
            let any_runs = |run: &Self| {
                (0..run.states.len())
                    .any(|index| run.states[index].runs && run.programs[index].service == services)
            };
            let kill_ns = self.controller.now_ns() + GRACE_NS;
            while any_runs(self) {
                self.kill_overdue();
                let now_ns = self.controller.now_ns();
                let until_ns = if now_ns < kill_ns { kill_ns } else { kill_ns + GRACE_NS };
                if now_ns >= until_ns || !self.turn_to_end(until_ns, control)? {
                    break;
                }
            }
        }
        for node in self.hosts.clone() {
            self.order(node, &Order::ReadCounters);
        }
        let until_ns = self.controller.now_ns() + SECOND_NS;
        while self.counted.len() < self.hosts.len() && self.controller.now_ns() < until_ns {
            if !self.turn_to_end(until_ns, control)? {
                break;
            }
        }
        Ok(())
    }

    /// Lets time pass as [`turn`](Self::turn) does; false also if no host has sent a message for two seconds of real time.
    fn turn_to_end(&mut self, until_ns: u64, control: &mut ControlConnections) -> Result<bool> {
        Ok(self.turn(until_ns, control)? && monotonic_ns() < self.last_message_ns + GRACE_NS)
    }

    /// The digests of all packets, by host and by interval of the run.
    fn digests(&self) -> Value {
        let text = |digest: &Digest| Value::from(format!("{:016x}", digest.value()));
        let digests = &self.controller.digests;
        let names = self.hosts.iter().map(|&node| self.plan.nodes[node].name.clone());
        json!({
            "interval_ns": digests.interval_ns(),
            "intervals": digests.of_intervals().iter().map(text).collect::<Vec<_>>(),
            "hosts": names.zip(digests.of_guests().iter().map(text)).collect::<Map<_, _>>(),
        })
    }

    /// The account of the clock and of the hosts' cards.
    fn account(&mut self) -> Value {
        let counters = self.controller.hosts.counters();
        let guests = self.hosts.iter().zip(&counters).map(|(&node, counters)| {
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
            "cpu_scale": self.kernel.cpu_scale,
            "zero_ns": self.zero_ns,
            "wall_s": (monotonic_ns() - self.began_ns) as f64 / 1e9,
            "digest": format!("{:016x}", self.controller.digests.whole().value()),
            "hosts": guests.collect::<Map<_, _>>(),
        })
    }
}
