//! One control group for each host, where this user may make them: for accounting, for limits, and so that every
//! process of a host can be found and ended.

use crate::error::{Error, Result};
use longhaul_plan::HostSettings;
use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;

mod controllers;

pub use controllers::{Controller, check_limits, own_group};
use controllers::{Hierarchy, Version, hierarchy_of};

/// Prefix of the directories of runs.
pub const PREFIX: &str = "longhaul-";

/// How often it is tried to remove what is still in use; two seconds in all.
const TRIES: u32 = 200;
const RETRY_INTERVAL: Duration = Duration::from_millis(10);

/// The groups of a run; empty where none could be made.
#[derive(Debug, Default)]
pub struct Groups {
    /// Of accounting, in the second version of control groups.
    root: Option<PathBuf>,
    /// Of each controller of limits.
    limits: Vec<(Controller, Version, PathBuf)>,
}

impl Groups {
    /// Makes the run's group below our own; without permission there simply is none. Groups for limits of
    /// `controllers` have to be possible.
    pub fn make(run: &str, controllers: &[Controller]) -> Result<Self> {
        let mut groups = Groups::default();
        match groups.make_all(run, controllers) {
            Ok(()) => Ok(groups),
            Err(error) => {
                groups.remove();
                Err(error)
            }
        }
    }

    fn make_all(&mut self, run: &str, controllers: &[Controller]) -> Result<()> {
        let name = format!("{PREFIX}{run}");
        for &controller in controllers {
            let Hierarchy { version, parent } = hierarchy_of(controller, controllers)?;
            let root = parent.join(&name);
            if !self.limits.iter().any(|(_, _, made)| *made == root) {
                fs::create_dir(&root)
                    .map_err(|error| controllers::unavailable(controller, &error.to_string()))?;
            }
            self.limits.push((controller, version, root.clone()));
            if version == Version::V2 {
                fs::write(root.join("cgroup.subtree_control"), format!("+{}", controller.name()))
                    .map_err(|error| controllers::unavailable(controller, &error.to_string()))?;
            }
        }
        let limited = self.limits.iter().find(|(_, version, _)| *version == Version::V2);
        self.root = match limited {
            Some((_, _, root)) => Some(root.clone()),
            None => root_of(run).filter(|root| fs::create_dir(root).is_ok()),
        };
        Ok(())
    }

    /// The groups of a run that may be gone.
    pub fn of(run: &str) -> Self {
        let name = format!("{PREFIX}{run}");
        let limits = controllers::places()
            .into_iter()
            .map(|(controller, version, parent)| (controller, version, parent.join(&name)))
            .filter(|(_, _, root)| root.is_dir())
            .collect();
        Groups { root: root_of(run).filter(|root| root.is_dir()), limits }
    }

    /// Where the run's groups are.
    pub fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// All directories in which the run has groups.
    pub fn roots(&self) -> Vec<&Path> {
        let mut roots: Vec<&Path> = self
            .root
            .iter()
            .chain(self.limits.iter().map(|(_, _, root)| root))
            .map(PathBuf::as_path)
            .collect();
        roots.sort_unstable();
        roots.dedup();
        roots
    }

    /// Makes `host`'s groups with its limits, and opens the files through which a process joins them.
    pub fn host(&self, host: &str, settings: Option<&HostSettings>) -> Result<Vec<File>> {
        let mut joined = Vec::new();
        for root in self.roots() {
            let group = root.join(host);
            let made = fs::create_dir(&group)
                .and_then(|()| OpenOptions::new().write(true).open(group.join("cgroup.procs")));
            match made {
                Ok(file) => joined.push(file),
                Err(error) if self.limits.iter().any(|(_, _, limiting)| limiting == root) => {
                    return Err(Error::wrap(format!("make {}", group.display()), error));
                }
                Err(_) => {}
            }
        }
        for (controller, version, root) in &self.limits {
            for (file, value) in controller.settings(*version, settings) {
                let path = root.join(host).join(file);
                fs::write(&path, &value)
                    .map_err(|error| Error::wrap(format!("write {value} to {}", path.display()), error))?;
            }
        }
        Ok(joined)
    }

    /// What the limits of a host did: counts and times by name.
    pub fn effects(&self, host: &str) -> Vec<(&'static str, u64)> {
        self.limits
            .iter()
            .flat_map(|(controller, version, root)| controller.effects(*version, &root.join(host)))
            .collect()
    }

    /// Removes the groups, whose processes must have received a signal to end. Those that `exec` started are not
    /// children of this process, and may take a moment.
    pub fn remove(&self) {
        self.roots().into_iter().for_each(remove);
    }
}

fn remove(root: &Path) {
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

/// Where the groups of a run without limits belong.
fn root_of(run: &str) -> Option<PathBuf> {
    own_group().map(|group| group.join(format!("{PREFIX}{run}")))
}
