//! How a run ended, written into `run.json` by whichever of its processes is left.
//!
//! `python/longhaul/results/run_record.py` writes the same file under the same lock.

use crate::error::{Error, Result};
use longhaul_storage::Disk;
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

/// What is kept free on disk for the last change of the record.
const RESERVE: &str = ".reserve";
/// Another process that holds the lock is waited for so often, that long.
const TRIES: u32 = 500;
const RETRY_INTERVAL: Duration = Duration::from_millis(10);

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    /// `duration`, `programs`, `stopped`, `interrupted`, `failed` or `crashed`.
    #[serde(rename = "ended")]
    pub status: String,
    /// How and by whom it was ended, in a sentence.
    pub reason: String,
    /// What helps.
    #[serde(default)]
    pub remedy: Option<String>,
    /// What else went wrong on the way.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Whether the client was gone without a word.
    #[serde(default)]
    pub abandoned: bool,
    /// Whether the run ended in order, although it failed: its results up to then are complete.
    #[serde(default)]
    pub has_results: bool,
}

impl Ending {
    /// An ending with nothing beside it.
    pub fn new(status: &str, reason: impl Into<String>) -> Self {
        Ending {
            status: status.into(),
            reason: reason.into(),
            remedy: None,
            warnings: Vec::new(),
            abandoned: false,
            has_results: false,
        }
    }

    /// One of Longhaul's own processes died.
    pub fn crashed(reason: impl Into<String>) -> Self {
        Ending::new("crashed", reason)
    }

    /// It could not start or could not continue, or one of its processes died.
    pub fn of_error(error: &Error) -> Self {
        let status = if error.is_crash() { "crashed" } else { "failed" };
        Ending { remedy: error.remedy().map(String::from), ..Ending::new(status, error.message()) }
    }

    /// Whether it came to its end, or was ended by its user.
    pub fn is_good(&self) -> bool {
        !matches!(self.status.as_str(), "failed" | "crashed")
    }
}

/// Writes how the run in `directory` ended, unless that is written already.
pub fn end(directory: &Path, ending: &Ending) -> Result<()> {
    let failed = |error| Error::wrap(format!("write {}", directory.join("run.json").display()), error);
    let lock = File::open(directory).map_err(failed)?;
    wait_for_lock(&lock);
    let path = directory.join("run.json");
    let text = fs::read_to_string(&path).map_err(failed)?;
    let mut record: Record = serde_json::from_str(&text).map_err(|error| failed(error.into()))?;
    if record.field("status") == Some(&json!("running")) {
        record.set("status", json!(ending.status));
        record.set("reason", json!(ending.reason));
        if !ending.warnings.is_empty() {
            record.set("warnings", json!(ending.warnings));
        }
        let text = record.text().map_err(failed)?;
        replace(&path, text.as_bytes()).or_else(|error| in_reserve(error, &path, &text)).map_err(failed)?;
    }
    let _ = fs::remove_file(directory.join(RESERVE));
    Ok(())
}

/// Replaces `run.json` in one step and keeps its owner, which differs from this user if the run was started by sudo.
fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let owner = fs::symlink_metadata(path).map(|found| (found.uid(), found.gid()));
    longhaul_storage::replace(&Disk, path, content)?;
    if let Ok((user, group)) = owner {
        let _ = std::os::unix::fs::lchown(path, Some(user), Some(group));
    }
    Ok(())
}

/// The same in the space that is reserved for the last change of the record, where a full disk was the error.
fn in_reserve(error: io::Error, path: &Path, text: &str) -> io::Result<()> {
    let is_full = matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded);
    if is_full && fs::remove_file(path.with_file_name(RESERVE)).is_ok() {
        replace(path, text.as_bytes())
    } else {
        Err(error)
    }
}

fn wait_for_lock(directory: &File) {
    for _ in 0..TRIES {
        if !matches!(directory.try_lock(), Err(TryLockError::WouldBlock)) {
            return;
        }
        std::thread::sleep(RETRY_INTERVAL);
    }
}

/// A JSON object whose fields keep their order.
struct Record(Vec<(String, Value)>);

impl Record {
    fn field(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(field, _)| field == name).map(|(_, value)| value)
    }

    fn set(&mut self, name: &str, value: Value) {
        match self.0.iter_mut().find(|(field, _)| field == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name.into(), value)),
        }
    }

    fn text(&self) -> io::Result<String> {
        let mut text = Vec::new();
        let format = serde_json::ser::PrettyFormatter::with_indent(b" ");
        self.serialize(&mut serde_json::Serializer::with_formatter(&mut text, format))?;
        text.push(b'\n');
        String::from_utf8(text).map_err(io::Error::other)
    }
}

impl Serialize for Record {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        self.0.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for Record {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Record;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Record, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Record(fields))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(name: &str) -> std::path::PathBuf {
        let place = std::env::temp_dir().join(format!("longhaul-{name}-{}", std::process::id()));
        fs::create_dir_all(&place).unwrap();
        place
    }

    #[test]
    fn an_ending_is_written_once_and_the_other_fields_keep_their_order() {
        let run = place("ending");
        fs::write(run.join("run.json"), r#"{"status": "running", "zoo": {"b": 1, "a": 1.5}, "argv": ["x"]}"#)
            .unwrap();
        fs::write(run.join(RESERVE), [0; 10]).unwrap();
        end(&run, &Ending::crashed("the engine was killed by SIGKILL")).unwrap();
        end(&run, &Ending::new("duration", "too late")).unwrap();
        let text = fs::read_to_string(run.join("run.json")).unwrap();
        let left: Vec<_> = fs::read_dir(&run).unwrap().flatten().map(|entry| entry.file_name()).collect();
        fs::remove_dir_all(&run).unwrap();
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        assert_eq!(lines[..3], ["{", r#""status": "crashed","#, r#""zoo": {"#]);
        assert!(text.contains("the engine was killed by SIGKILL") && !text.contains("too late"));
        assert_eq!(left, ["run.json"]);
    }

    #[test]
    fn what_cannot_be_put_in_its_place_leaves_nothing_beside() {
        let run = place("part");
        fs::create_dir(run.join("taken")).unwrap();
        assert!(replace(&run.join("taken"), b"x").is_err());
        let left = fs::read_dir(&run).unwrap().count();
        fs::remove_dir_all(&run).unwrap();
        assert_eq!(left, 1);
    }
}
