//! Restricts what programs of a host can do to the machine.
//!
//! Programs run as root of their run, so that they can change routes and open raw sockets. Without restrictions, the
//! programs of a run that root started could also load modules, set the clock or write to disks. This module removes
//! the capabilities, system calls, files and devices that affect the whole machine. This is not a container: the
//! working directory, home directories and `/tmp` are those of the machine.

use crate::error::{Error, Result};
use crate::host::Namespaces;
use crate::mounts::{bind, mount_points_below, tmpfs};
use crate::sys::fork::{Process, exit, fork};
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

mod restriction;

pub use restriction::{restrict, strict_capabilities};

/// Directories of the system, which are read-only for programs.
pub const SYSTEM: [&str; 12] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/etc",
    "/boot",
    "/efi",
    "/sys",
    "/var/spool/cron",
    "/var/lib/systemd",
];
/// Files of `/proc` that affect the whole machine and are read-only; `/proc/sys/net` belongs to the host.
const KERNEL: [&str; 13] = [
    "/proc/sys/kernel",
    "/proc/sys/vm",
    "/proc/sys/fs",
    "/proc/sys/dev",
    "/proc/sys/abi",
    "/proc/sys/debug",
    "/proc/sys/user",
    "/proc/sys/sunrpc",
    "/proc/sysrq-trigger",
    "/proc/irq",
    "/proc/bus",
    "/proc/fs",
    "/proc/acpi",
];
/// Files that programs cannot read.
const HIDDEN: [&str; 4] = ["/proc/kcore", "/proc/kmsg", "/proc/keys", "/proc/timer_list"];
/// Files and directories of `/dev` that hosts have; disks and memory are not among them.
const DEVICES: [&str; 15] = [
    "null",
    "zero",
    "full",
    "random",
    "urandom",
    "tty",
    "pts",
    "net",
    "fuse",
    "kvm",
    "vhost-net",
    "dri",
    "infiniband",
    "mqueue",
    "hugepages",
];
/// Prefixes of device names of accelerators.
const ACCELERATORS: [&str; 3] = ["nvidia", "kfd", "accel"];

/// Moves this process into a copy of its mount namespace in which the system's files are read-only, except those
/// below `open`. Returns the namespaces, from which hosts are built. The calling process must have one thread.
pub fn restricted_mounts(open: &[PathBuf]) -> Result<Namespaces> {
    unshare(CloneFlags::CLONE_NEWNS).map_err(|error| Error::wrap("create a mount namespace", error))?;
    restrict_files(&open.iter().map(PathBuf::as_path).collect::<Vec<_>>())?;
    Namespaces::current()
}

/// Starts a process that keeps the hosts' namespaces open, and returns its process number. It has no more privileges
/// than programs of hosts, because these may not open the namespaces of a process with more.
pub fn start_namespace_holder<'a>(hosts: impl Iterator<Item = &'a Namespaces>) -> Result<libc::pid_t> {
    let kept: Vec<i32> = hosts.flat_map(Namespaces::descriptors).map(|(_, number)| number).collect();
    match fork().map_err(|error| Error::wrap("start the holder of the hosts' namespaces", error))? {
        Process::Child => {
            close_all_but(&kept);
            if restrict().is_ok() {
                loop {
                    nix::unistd::pause();
                }
            }
            exit(1)
        }
        Process::Parent(pid) => Ok(pid),
    }
}

/// Closes the descriptors of this process, except those in `kept`.
pub fn close_all_but(kept: &[i32]) {
    let opened = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let numbers = opened.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    for number in numbers.collect::<Vec<_>>().into_iter().filter(|number| !kept.contains(number)) {
        let _ = nix::unistd::close(number);
    }
}

fn restrict_files(open: &[&Path]) -> Result<()> {
    replace_run(open)?;
    if nix::unistd::geteuid().is_root() && is_root_of_the_machine() {
        replace_devices()?;
    }
    for place in SYSTEM {
        make_read_only(Path::new(place), open)?;
    }
    restrict_proc()
}

/// Makes what affects the whole machine in `/proc` read-only, or hides it.
pub fn restrict_proc() -> Result<()> {
    for place in KERNEL {
        make_read_only(Path::new(place), &[])?;
    }
    for place in HIDDEN {
        if Path::new(place).exists() {
            bind(Path::new("/dev/null"), Path::new(place))?;
        }
    }
    Ok(())
}

/// Whether this process is in the initial user namespace; in others the kernel lets root open no devices.
pub fn is_root_of_the_machine() -> bool {
    fs::read_to_string("/proc/self/uid_map").is_ok_and(|map| {
        let mut fields = map.split_whitespace();
        fields.next() == Some("0") && fields.next() == Some("0")
    })
}

/// Makes `place` and all mounts below it read-only, except those below `open`.
fn make_read_only(place: &Path, open: &[&Path]) -> Result<()> {
    if !fs::symlink_metadata(place).is_ok_and(|about| about.is_dir() || about.is_file()) {
        return Ok(());
    }
    let none: Option<&str> = None;
    mount(Some(place), place, none, MsFlags::MS_BIND | MsFlags::MS_REC, none)
        .map_err(|error| Error::wrap(format!("mount {} in its own place", place.display()), error))?;
    for path in open.iter().filter(|path| path.starts_with(place)) {
        mount(Some(*path), *path, none, MsFlags::MS_BIND | MsFlags::MS_REC, none)
            .map_err(|error| Error::wrap(format!("keep {} writable", path.display()), error))?;
    }
    for point in mount_points_below(place)? {
        if !open.iter().any(|path| point.place.starts_with(path)) {
            let flags = point.flags | MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY;
            // A mount that cannot be remounted, such as one of another owner, stays as it was.
            let _ = mount(none, &point.place, none, flags, none);
        }
    }
    Ok(())
}

/// Mounts a private `/run`, without the sockets of the machine's services and of other runs.
fn replace_run(open: &[&Path]) -> Result<()> {
    let run = Path::new("/run");
    if !run.is_dir() {
        return Ok(());
    }
    let folders = folders_of(run);
    let kept: Vec<(&Path, File)> = open
        .iter()
        .filter(|path| path.starts_with(run) && path.as_os_str() != run.as_os_str())
        .filter_map(|path| File::open(path).ok().map(|file| (*path, file)))
        .collect();
    // /etc/resolv.conf is a link into /run on many machines; its target is mounted over later.
    let names = fs::canonicalize("/etc/resolv.conf").ok().filter(|path| path.starts_with(run));
    tmpfs(run, "mode=755")?;
    for (folder, mode, uid, gid) in folders {
        let _ = fs::DirBuilder::new().recursive(true).mode(mode).create(&folder);
        let _ = fs::set_permissions(&folder, fs::Permissions::from_mode(mode));
        let _ = chown(&folder, Some(uid), Some(gid));
    }
    if let Some(names) = names {
        let _ = names.parent().map(fs::create_dir_all);
        let _ = File::create(&names);
    }
    for (path, file) in kept {
        fs::create_dir_all(path).map_err(|error| Error::wrap(format!("make {}", path.display()), error))?;
        bind(Path::new(&format!("/proc/self/fd/{}", file.as_raw_fd())), path)?;
    }
    Ok(())
}

/// The directories in `place` and in its `user` directory, with mode, owner and group: services expect them.
fn folders_of(place: &Path) -> Vec<(PathBuf, u32, u32, u32)> {
    let in_one = |place: &Path| {
        let entries = fs::read_dir(place).into_iter().flatten().flatten();
        let folders = entries.filter_map(|entry| {
            let about = fs::symlink_metadata(entry.path()).ok().filter(fs::Metadata::is_dir)?;
            Some((entry.path(), about.mode() & 0o7777, about.uid(), about.gid()))
        });
        folders.collect::<Vec<_>>()
    };
    let mut found = in_one(place);
    found.extend(in_one(&place.join("user")));
    found
}

/// Mounts a private `/dev` with the devices that programs need, and without disks.
fn replace_devices() -> Result<()> {
    let dev = Path::new("/dev");
    // Stays open until all devices have been mounted from it.
    let old = File::open(dev).map_err(|error| Error::wrap("open /dev", error))?;
    let from = PathBuf::from(format!("/proc/self/fd/{}", old.as_raw_fd()));
    let names: Vec<String> = fs::read_dir(dev)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| {
            DEVICES.contains(&name.as_str()) || ACCELERATORS.iter().any(|prefix| name.starts_with(prefix))
        })
        .collect();
    tmpfs(dev, "mode=755")?;
    for name in names {
        let (source, target) = (from.join(&name), dev.join(&name));
        let Ok(about) = fs::metadata(&source) else { continue };
        if about.file_type().is_block_device() {
            continue;
        }
        let made = if about.is_dir() { fs::create_dir(&target) } else { File::create(&target).map(drop) };
        if made.is_ok() {
            let none: Option<&str> = None;
            let _ = mount(Some(&source), &target, none, MsFlags::MS_BIND | MsFlags::MS_REC, none);
        }
    }
    for (target, name) in [
        ("pts/ptmx", "ptmx"),
        ("/proc/self/fd", "fd"),
        ("/proc/self/fd/0", "stdin"),
        ("/proc/self/fd/1", "stdout"),
        ("/proc/self/fd/2", "stderr"),
    ] {
        let _ = symlink(target, dev.join(name));
    }
    fs::create_dir(dev.join("shm")).map_err(|error| Error::wrap("make /dev/shm", error))
}
