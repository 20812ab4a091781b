//! Controllers of CPU time and memory, in the second version of control groups or, where the machine has them
//! there, in the first (kernel documentation: admin-guide/cgroup-v2, admin-guide/cgroup-v1, scheduler/sched-bwc).

use crate::counters::listed;
use crate::error::{Error, Result};
use crate::mounts::{MountPoint, mount_points};
use longhaul_plan::HostSettings;
use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

/// The interval over which CPU time is limited, in microseconds: the kernel's default.
const PERIOD_US: u64 = 100_000;
/// The smallest quota that the kernel takes, in microseconds.
const LEAST_QUOTA_US: u64 = 1_000;

/// A resource that the groups of hosts limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Controller {
    /// CPU time.
    Cpu,
    /// Memory.
    Memory,
}

/// A version of control groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    V1,
    V2,
}

/// Where groups with a controller can be made.
pub struct Hierarchy {
    pub version: Version,
    pub parent: PathBuf,
}

impl Controller {
    const ALL: [Self; 2] = [Self::Cpu, Self::Memory];

    /// Those that the settings of some host need.
    pub fn needed<'a>(settings: &(impl Iterator<Item = &'a HostSettings> + Clone)) -> Vec<Self> {
        let is_needed = |controller: &Self| {
            settings.clone().any(|each| match controller {
                Self::Cpu => each.cpu_millicores.is_some(),
                Self::Memory => each.memory_bytes.is_some(),
            })
        };
        Self::ALL.into_iter().filter(is_needed).collect()
    }

    /// The kernel's name of it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Memory => "memory",
        }
    }

    /// Files of a group, and what limits write to them.
    pub fn settings(self, version: Version, settings: Option<&HostSettings>) -> Vec<(&'static str, String)> {
        let Some(settings) = settings else { return Vec::new() };
        match self {
            Self::Cpu => {
                let Some(millicores) = settings.cpu_millicores else { return Vec::new() };
                let quota_us = (millicores * PERIOD_US / 1_000).max(LEAST_QUOTA_US);
                match version {
                    Version::V2 => vec![("cpu.max", format!("{quota_us} {PERIOD_US}"))],
                    Version::V1 => vec![
                        ("cpu.cfs_period_us", PERIOD_US.to_string()),
                        ("cpu.cfs_quota_us", quota_us.to_string()),
                    ],
                }
            }
            Self::Memory => {
                let Some(bytes) = settings.memory_bytes else { return Vec::new() };
                let mut files = match version {
                    Version::V2 => vec![("memory.max", bytes.to_string())],
                    Version::V1 => vec![("memory.limit_in_bytes", bytes.to_string())],
                };
                // A kernel without swap has no such file.
                if version == Version::V2 && has_swap() {
                    files.push(("memory.swap.max", "0".into()));
                }
                files
            }
        }
    }

    /// What a limit did in `group`: counts and times by name.
    pub fn effects(self, version: Version, group: &Path) -> Vec<(&'static str, u64)> {
        let read = |file: &str| fs::read_to_string(group.join(file)).unwrap_or_default();
        let found = match self {
            Self::Cpu => {
                let text = read("cpu.stat");
                let throttled_ns = match version {
                    Version::V2 => listed(&text, "throttled_usec").map(|us| us * 1_000),
                    Version::V1 => listed(&text, "throttled_time"),
                };
                [("cpu.throttled_periods", listed(&text, "nr_throttled")), ("cpu.throttled_ns", throttled_ns)]
            }
            Self::Memory => {
                let (events, peak) = match version {
                    Version::V2 => ("memory.events", "memory.peak"),
                    Version::V1 => ("memory.oom_control", "memory.max_usage_in_bytes"),
                };
                let kills = listed(&read(events), "oom_kill");
                [("memory.oom_kills", kills), ("memory.peak_bytes", read(peak).trim().parse().ok())]
            }
        };
        found.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

/// Why limits cannot be set, and what helps.
pub fn unavailable(controller: Controller, why: &str) -> Error {
    let name = controller.name();
    Error::new(format!("cannot limit the {name} of hosts: {why}")).with_remedy(format!(
        "start Longhaul where the controller \"{name}\" is delegated to you: \
         systemd-run --user --scope -p Delegate=yes longhaul ..., or as root: systemd-run --scope -p Delegate=yes longhaul ..."
    ))
}

/// Where groups with this controller can be made, which must also have the other `needed` ones of its version.
pub fn hierarchy_of(controller: Controller, needed: &[Controller]) -> Result<Hierarchy> {
    if let Some((mount, own)) = second_version()
        && has(&mount.join("cgroup.controllers"), controller)
    {
        let needed: Vec<Controller> =
            needed.iter().copied().filter(|&each| has(&mount.join("cgroup.controllers"), each)).collect();
        return delegated(&mount, &own, &needed)
            .map(|parent| Hierarchy { version: Version::V2, parent })
            .ok_or_else(|| {
                let why =
                    format!("no control group from {} upwards has it for groups of this user", own.display());
                unavailable(controller, &why)
            });
    }
    let Some(parent) = first_version(controller) else {
        return Err(unavailable(controller, "this kernel has no such controller"));
    };
    if is_writable(&parent) {
        Ok(Hierarchy { version: Version::V1, parent })
    } else {
        Err(unavailable(controller, &format!("{} belongs to another user", parent.display())))
    }
}

/// Checks that groups of hosts can limit these resources here.
///
/// # Errors
/// If the kernel has no such controller, or none that this process may use.
pub fn check_limits(needed: &[Controller]) -> Result<()> {
    needed.iter().try_for_each(|&controller| hierarchy_of(controller, needed).map(drop))
}

/// The closest group from `own` upwards in which this process may make groups with all `needed` controllers, and move
/// processes to them.
fn delegated(mount: &Path, own: &Path, needed: &[Controller]) -> Option<PathBuf> {
    for group in own.ancestors().take_while(|group| group.starts_with(mount)) {
        let control = group.join("cgroup.subtree_control");
        let is_enabled = || needed.iter().all(|&controller| has(&control, controller));
        // Only a group without processes of its own, or the root, can be changed; that of this process is ours alone.
        if group == own && !is_enabled() {
            let wanted: Vec<String> = needed.iter().map(|each| format!("+{}", each.name())).collect();
            let _ = fs::write(&control, wanted.join(" "));
        }
        if is_enabled() && is_writable(group) {
            return Some(group.to_owned());
        }
    }
    None
}

/// All places in which runs of this process may have groups.
pub fn places() -> Vec<(Controller, Version, PathBuf)> {
    let mut found = Vec::new();
    if let Some((mount, own)) = second_version() {
        let groups = own.ancestors().take_while(|group| group.starts_with(&mount));
        found.extend(groups.map(|group| (Controller::Cpu, Version::V2, group.to_owned())));
    }
    for controller in Controller::ALL {
        found.extend(first_version(controller).map(|group| (controller, Version::V1, group)));
    }
    found
}

/// This process's directory in the second version of control groups.
pub fn own_group() -> Option<PathBuf> {
    second_version().map(|(_, own)| own)
}

/// Where the second version is mounted, and this process's directory there.
fn second_version() -> Option<(PathBuf, PathBuf)> {
    let mount = mounted(|point| point.kind == "cgroup2")?;
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    Some((mount.clone(), mount.join(own)))
}

/// This process's directory in the hierarchy of a controller in the first version.
fn first_version(controller: Controller) -> Option<PathBuf> {
    let is_this = |options: &str| options.split(',').any(|option| option == controller.name());
    let mount = mounted(|point| point.kind == "cgroup" && is_this(&point.options))?;
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = groups.lines().find_map(|line| {
        let (controllers, group) = line.split_once(':')?.1.split_once(":/")?;
        is_this(controllers).then_some(group)
    })?;
    Some(mount.join(own))
}

/// Where the first such file system is mounted.
fn mounted(is_searched: impl Fn(&MountPoint) -> bool) -> Option<PathBuf> {
    mount_points().ok()?.into_iter().find(is_searched).map(|point| point.place)
}

/// Whether a list of controllers names this one.
fn has(list: &Path, controller: Controller) -> bool {
    fs::read_to_string(list).is_ok_and(|text| text.split_whitespace().any(|name| name == controller.name()))
}

/// Whether this process may move processes from below this group to groups in it.
fn is_writable(group: &Path) -> bool {
    OpenOptions::new().write(true).open(group.join("cgroup.procs")).is_ok()
}

fn has_swap() -> bool {
    fs::read_to_string("/proc/swaps").is_ok_and(|text| text.lines().nth(1).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use longhaul_storage::faults::folder;

    fn group(path: &Path, controllers: &str, enabled: &str) {
        fs::create_dir_all(path).unwrap();
        fs::write(path.join("cgroup.procs"), "").unwrap();
        fs::write(path.join("cgroup.controllers"), controllers).unwrap();
        fs::write(path.join("cgroup.subtree_control"), enabled).unwrap();
    }

    #[test]
    fn the_closest_group_with_all_controllers_is_used() {
        let mount = folder("the_closest_group_with_all_controllers_is_used");
        let (slice, scope) = (mount.join("app.slice"), mount.join("app.slice/run.scope"));
        group(&mount, "cpu memory pids", "cpu memory pids");
        group(&slice, "cpu memory pids", "memory pids");
        // Its own processes keep the kernel from enabling controllers in it: here a directory refuses the write.
        group(&scope, "memory pids", "");
        fs::remove_file(scope.join("cgroup.subtree_control")).unwrap();
        fs::create_dir(scope.join("cgroup.subtree_control")).unwrap();
        assert_eq!(delegated(&mount, &scope, &[Controller::Memory]), Some(slice));
        assert_eq!(
            delegated(&mount, &scope, &[Controller::Cpu, Controller::Memory]),
            Some(mount.to_path_buf())
        );
        fs::write(mount.join("cgroup.subtree_control"), "pids").unwrap();
        assert_eq!(delegated(&mount, &scope, &[Controller::Cpu]), None);
    }

    #[test]
    fn limits_are_written_in_the_words_of_each_version() {
        let settings = HostSettings {
            cpu_millicores: Some(500),
            memory_bytes: Some(64 << 20),
            ..HostSettings::default()
        };
        let written = |controller: Controller, version| controller.settings(version, Some(&settings));
        assert_eq!(written(Controller::Cpu, Version::V2), [("cpu.max", "50000 100000".to_owned())]);
        assert_eq!(written(Controller::Cpu, Version::V1)[1], ("cpu.cfs_quota_us", "50000".to_owned()));
        assert_eq!(written(Controller::Memory, Version::V2)[0], ("memory.max", "67108864".to_owned()));
        assert_eq!(
            written(Controller::Memory, Version::V1),
            [("memory.limit_in_bytes", "67108864".to_owned())]
        );
        assert!(Controller::Cpu.settings(Version::V2, None).is_empty());
    }

    #[test]
    fn effects_are_read_from_the_files_of_each_version() {
        let group = folder("effects_are_read_from_the_files_of_each_version");
        let put = |name: &str, text: &str| fs::write(group.join(name), text).unwrap();
        put("cpu.stat", "usage_usec 9\nnr_periods 5\nnr_throttled 3\nthrottled_usec 250\nthrottled_time 7\n");
        put("memory.events", "max 4\noom 1\noom_kill 2\n");
        put("memory.peak", "4096\n");
        put("memory.oom_control", "oom_kill_disable 0\noom_kill 6\n");
        let of = |controller: Controller, version| controller.effects(version, &group);
        let cpu = |ns| vec![("cpu.throttled_periods", 3), ("cpu.throttled_ns", ns)];
        assert_eq!(of(Controller::Cpu, Version::V2), cpu(250_000));
        assert_eq!(of(Controller::Cpu, Version::V1), cpu(7));
        let memory = [("memory.oom_kills", 2), ("memory.peak_bytes", 4096)];
        assert_eq!(of(Controller::Memory, Version::V2), memory);
        assert_eq!(of(Controller::Memory, Version::V1), [("memory.oom_kills", 6)]);
    }
}
