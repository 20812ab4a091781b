//! One control group for each host, where this user may make them: for accounting, and so that
//! every process of a host can be found and ended.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Prefix of the directories of runs.
pub const PREFIX: &str = "longhaul-";

/// How often it is tried to remove what is still in use; two seconds in all.
const TRIES: u32 = 200;
const RETRY_INTERVAL: Duration = Duration::from_millis(10);

/// The groups of a run; empty where none could be made.
#[derive(Debug, Default)]
pub struct Groups {
    root: Option<PathBuf>,
}

impl Groups {
    /// Makes the run's group below our own; without permission there simply is none.
    pub fn make(run: &str) -> Self {
        Groups { root: root_of(run).filter(|root| fs::create_dir(root).is_ok()) }
    }

    /// The groups of a run that may be gone.
    pub fn of(run: &str) -> Self {
        Groups { root: root_of(run).filter(|root| root.is_dir()) }
    }

    /// Where the run's groups are.
    pub fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// Makes `host`'s group and opens the file through which a process joins it.
    pub fn host(&self, host: &str) -> Option<File> {
        let group = self.root.as_ref()?.join(host);
        fs::create_dir(&group).ok()?;
        OpenOptions::new().write(true).open(group.join("cgroup.procs")).ok()
    }

    /// Removes the groups, whose processes must have received a signal to end. Those that `exec` started are not
    /// children of this process, and may take a moment.
    pub fn remove(&self) {
        let Some(root) = &self.root else { return };
        for _ in 0..TRIES {
            for entry in fs::read_dir(root).into_iter().flatten().flatten() {
                if entry.path().is_dir() {
                    let _ = fs::remove_dir(entry.path());
                }
            }
            if fs::remove_dir(root).is_ok() || !root.exists() {
                return;
            }
            std::thread::sleep(RETRY_INTERVAL);
        }
    }
}

/// Where the groups of a run belong.
fn root_of(run: &str) -> Option<PathBuf> {
    own_group().map(|group| group.join(format!("{PREFIX}{run}")))
}

/// This process's directory in the second version of control groups.
pub fn own_group() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let mount = mounts.lines().find_map(|line| {
        let (front, back) = line.split_once(" - ")?;
        back.starts_with("cgroup2 ").then(|| front.split(' ').nth(4))?
    })?;
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    Some(Path::new(mount).join(own))
}
