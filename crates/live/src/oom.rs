//! How many processes the kernel has killed because memory ran out: those of a control group, or all.

use crate::counters::listed;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// Where a kernel counts for all its processes.
const VMSTAT: &str = "/proc/vmstat";

/// A count of out-of-memory kills, and the file that has it.
#[derive(Clone, Debug)]
pub struct OomKills {
    counter: Option<OomCounter>,
    count: u64,
}

/// A file in which the kernel counts.
#[derive(Clone, Debug)]
struct OomCounter {
    file: PathBuf,
    /// Whose processes it counts.
    of: String,
}

/// Processes that were killed since the count was read.
#[derive(Clone, Debug)]
pub struct Kills {
    count: u64,
    of: String,
}

impl OomKills {
    /// Reads the count now: of this process's control group, of either version, or else of the machine.
    pub fn now() -> Self {
        let counter = counters().into_iter().find(|counter| read(&counter.file).is_some());
        let count = counter.as_ref().and_then(|counter| read(&counter.file)).unwrap_or(0);
        OomKills { counter, count }
    }

    /// Where nothing is counted.
    #[cfg(test)]
    pub fn none() -> Self {
        OomKills { counter: None, count: 0 }
    }

    /// What was killed since it was read; `None` if nothing was.
    pub fn since(&self) -> Option<Kills> {
        let counter = self.counter.as_ref()?;
        let count = read(&counter.file)?.saturating_sub(self.count);
        (count > 0).then(|| Kills { count, of: counter.of.clone() })
    }

    /// The file and the count, for a record that outlives this process.
    pub fn as_record(&self) -> Option<(String, u64)> {
        self.counter.as_ref().map(|counter| (counter.file.display().to_string(), self.count))
    }

    /// The same of an earlier process.
    pub fn of_record(file: &str, count: u64) -> Self {
        let file = PathBuf::from(file);
        let of = file.parent().map_or_else(String::new, group_name);
        OomKills { counter: Some(OomCounter { file, of }), count }
    }
}

impl fmt::Display for Kills {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Kills { count, of } = self;
        let processes = if *count == 1 { "process" } else { "processes" };
        write!(f, "out of memory: the kernel's OOM killer killed {count} {processes} of {of}")
    }
}

fn group_name(directory: &Path) -> String {
    if directory == Path::new("/proc") {
        "this machine".into()
    } else {
        format!("control group {}", directory.display())
    }
}

/// The files in which the kernel may count, the closest first.
fn counters() -> Vec<OomCounter> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let mut found: Vec<PathBuf> = Vec::new();
    for mount in mounts.lines() {
        let Some((front, back)) = mount.split_once(" - ") else { continue };
        let Some(at) = front.split(' ').nth(4) else { continue };
        let (kind, options) =
            (back.split(' ').next().unwrap_or_default(), back.rsplit(' ').next().unwrap_or_default());
        let (prefix, file) = match kind {
            "cgroup2" => ("0::/", "memory.events"),
            "cgroup" if options.split(',').any(|option| option == "memory") => {
                (":memory:/", "memory.oom_control")
            }
            _ => continue,
        };
        let Some(group) = groups.lines().find_map(|line| line.split_once(prefix)).map(|(_, group)| group)
        else {
            continue;
        };
        // Within a container, the path from the root outside may mean nothing.
        found.extend([Path::new(at).join(group).join(file), Path::new(at).join(file)]);
    }
    found.push(VMSTAT.into());
    let of = |file: &Path| file.parent().map_or_else(String::new, group_name);
    found.into_iter().map(|file| OomCounter { of: of(&file), file }).collect()
}

fn read(file: &Path) -> Option<u64> {
    count_in(&fs::read_to_string(file).ok()?)
}

/// The value behind `oom_kill`, a line of each of these files.
fn count_in(text: &str) -> Option<u64> {
    listed(text, "oom_kill")
}

/// Processes that this kernel has killed since it booted.
pub fn kills_of_this_kernel() -> Option<u64> {
    read(Path::new(VMSTAT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_read_from_each_kind_of_file() {
        let events = "low 0\nhigh 0\nmax 7\noom 2\noom_kill 3\noom_group_kill 1\n";
        assert_eq!(count_in(events), Some(3));
        assert_eq!(count_in("oom_kill_disable 0\nunder_oom 0\noom_kill 4\n"), Some(4));
        assert_eq!(count_in("nr_free_pages 1\noom_kill 0\n"), Some(0));
        assert_eq!(count_in("nothing of it\n"), None);
    }

    #[test]
    fn kills_count_from_when_they_were_read() {
        let file = std::env::temp_dir().join(format!("longhaul-oom-{}", std::process::id()));
        fs::write(&file, "oom_kill 5\n").unwrap();
        let before = OomKills::of_record(&file.display().to_string(), 5);
        assert!(before.since().is_none());
        fs::write(&file, "oom_kill 7\n").unwrap();
        let text = before.since().unwrap().to_string();
        fs::remove_file(&file).unwrap();
        assert!(text.contains("killed 2 processes of control group"), "{text}");
    }

    #[test]
    fn this_machine_counts_somewhere() {
        let (file, count) = OomKills::now().as_record().unwrap();
        assert!(OomKills::of_record(&file, count).since().is_none());
    }
}
