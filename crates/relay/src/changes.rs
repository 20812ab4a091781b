//! The record of changes during a run of a relay.

use crate::Error;
use longhaul_plan::Event;
use longhaul_storage::{Appender, Storage};
use std::io::Write;
use std::path::Path;

/// Changes of links that were applied, one JSON object a line, on disk as soon as they hold.
pub struct ChangeLog(Appender);

impl ChangeLog {
    /// Makes the file `changes.jsonl` in `raw`.
    pub fn create(raw: &Path, storage: &dyn Storage) -> Result<Self, Error> {
        let path = raw.join("changes.jsonl");
        Appender::create(storage, &path)
            .map(ChangeLog)
            .map_err(Error::cannot(format!("write {}", path.display())))
    }

    /// Records a change.
    pub fn record(&mut self, event: &Event) {
        let Ok(mut line) = serde_json::to_vec(event) else { return };
        line.push(b'\n');
        // A full disk does not stop a relay; the log of messages reports it.
        let _ = self.0.write_all(&line);
    }
}
