//! The programs of a run, as both kinds of supervisors see them: events for the client, the end of the run, records.

use crate::clock::monotonic_ns;
use crate::error::{Error, Result};
use crate::program::ProgramState;
use crate::run_record::Ending;
use longhaul_plan::Plan;
use longhaul_storage::{Disk, replace, replace_unsynced};
use serde_json::{Value, json};
use std::path::Path;

/// Least time between two writes of the programs' states.
const SNAPSHOT_INTERVAL_NS: u64 = 1_000_000_000;

impl ProgramState {
    /// The event that it has started.
    pub fn started_event(&self) -> Value {
        json!({"event": "program", "name": self.name, "host": self.host, "state": "started"})
    }

    /// The event that it could not start.
    pub fn failed_event(&self) -> Value {
        json!({
            "event": "program", "name": self.name, "host": self.host,
            "state": "failed", "message": self.error,
        })
    }

    /// The event that it has ended.
    pub fn ended_event(&self) -> Value {
        json!({
            "event": "program", "name": self.name, "host": self.host, "state": "ended",
            "exit": self.exit, "signal": self.signal, "expect_exit": self.expect_exit,
            "stopped_by_run": self.stopped_by_run,
        })
    }
}

/// Whether all programs of these names have ended, or could not start.
pub fn have_ended(programs: &[ProgramState], names: &[String]) -> bool {
    let is_awaited =
        |running: &ProgramState| running.is_pending_or_running() && names.contains(&running.name);
    names.is_empty() || !programs.iter().any(is_awaited)
}

/// The ending of a run that has reached `now_ns`, if its duration has passed or, without one, nothing is left that ends
/// by itself; `simulates`: whether finite simulated traffic is left.
pub fn ending(plan: &Plan, programs: &[ProgramState], now_ns: u64, simulates: bool) -> Option<Ending> {
    if let Some(duration_ns) = plan.duration_ns {
        return (now_ns >= duration_ns).then(|| Ending::new("duration", "its duration has passed"));
    }
    let busy = programs.iter().any(|running| !running.service && running.is_pending_or_running());
    (!busy && !simulates).then(all_ended)
}

/// The ending of a run without duration.
pub fn all_ended() -> Ending {
    Ending::new("programs", "all programs that end by themselves have ended")
}

/// When the programs' states are written to `raw/programs.json`, for the results of a run that is killed.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// Whether they have changed since.
    pub changed: bool,
    next_ns: u64,
}

impl Snapshot {
    /// When they are written next, if they have changed: an instant of `CLOCK_MONOTONIC`.
    pub fn due_ns(&self) -> Option<u64> {
        self.changed.then_some(self.next_ns)
    }

    /// Writes them if they have changed, at most once a second.
    pub fn write(&mut self, directory: &Path, programs: &[ProgramState]) {
        let now_ns = monotonic_ns();
        if self.changed && now_ns >= self.next_ns {
            *self = Snapshot { changed: false, next_ns: now_ns + SNAPSHOT_INTERVAL_NS };
            let text = format!("{:#}\n", json!(programs));
            let _ = replace_unsynced(&Disk, &directory.join("raw/programs.json"), text.as_bytes());
        }
    }
}

/// Writes the programs' states, and what the kernels of the hosts have counted, by host: dropped packets (`hosts`), all
/// counters (`accounts`), and the congestion control of connections that name none (`algorithms`).
pub fn write_records(
    directory: &Path,
    programs: &[ProgramState],
    [hosts, accounts, algorithms]: &[Value; 3],
) -> Result<()> {
    let write = |name: &str, value: &Value| {
        let path = directory.join("raw").join(name);
        replace(&Disk, &path, format!("{value:#}\n").as_bytes())
            .map_err(|error| Error::wrap(format!("write {}", path.display()), error))
    };
    // If one cannot be written, the others may.
    let written = [
        write("programs.json", &json!(programs)),
        write("hosts.json", hosts),
        write("accounts.json", accounts),
        write("algorithms.json", algorithms),
    ];
    written.into_iter().collect()
}
