//! A root directory of a host's own: overlayfs over a directory that stays as it is.
//!
//! What programs of the host write goes to an upper layer: in memory, which ends with the host's mount namespace, or in
//! the run directory, where it is kept.

use crate::error::{Error, Result};
use crate::mounts::{bind, bind_all, by_descriptor, lower_layers, tmpfs};
use longhaul_plan::HostRoot;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Where programs of such a host are searched.
pub const SEARCH_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// Where the run directory keeps what hosts wrote, each in a directory of its name.
const KEPT: &str = "host-files";
/// What such a host has of the run.
const SHARED: [&str; 3] = ["/proc", "/sys", "/dev"];

/// The places of a host's layers while they are mounted.
struct Layers {
    root: PathBuf,
    upper: PathBuf,
    work: PathBuf,
}

/// Makes `root` the root directory of the mount namespace of this process. `run` is the run directory, which keeps its
/// place; `files` is a directory in it, with `hosts`, `resolv.conf` and the host's name in `hostname.HOST`.
pub fn enter(root: &HostRoot, host: &str, run: &Path, files: &Path) -> Result<()> {
    let open = |path: &String| {
        File::open(path).map_err(|error| Error::wrap(format!("open the root directory {path}"), error))
    };
    let lower = root.directories.iter().map(open).collect::<Result<Vec<_>>>()?;
    let layers = make_layers(root, host, run, files)?;
    mount_overlay(&lower, &layers, root)?;
    for place in SHARED {
        let target = inside(&layers.root, Path::new(place));
        fs::create_dir_all(&target).map_err(|error| Error::wrap(format!("make {place}"), error))?;
        bind_all(Path::new(place), &target)?;
    }
    let own = inside(&layers.root, run);
    fs::create_dir_all(&own).map_err(|error| Error::wrap("make the place of the run directory", error))?;
    bind(run, &own)?;
    nix::unistd::chdir(&layers.root)
        .and_then(|()| nix::unistd::pivot_root(".", "."))
        .and_then(|()| umount2(".", MntFlags::MNT_DETACH))
        .and_then(|()| nix::unistd::chdir("/"))
        .map_err(|error| Error::wrap("change the root directory", error))?;
    let hostname = format!("hostname.{host}");
    for (file, target) in
        [("hosts", "/etc/hosts"), ("resolv.conf", "/etc/resolv.conf"), (&*hostname, "/etc/hostname")]
    {
        make_file(Path::new(target)).map_err(|error| Error::wrap(format!("make {target}"), error))?;
        bind(&files.join(file), Path::new(target))?;
    }
    Ok(())
}

/// Makes an empty file, unless there is one.
pub fn make_file(target: &Path) -> std::io::Result<()> {
    if fs::metadata(target).is_ok() {
        return Ok(());
    }
    // A link that leads nowhere.
    let _ = fs::remove_file(target);
    if let Some(parent) = target.parent() {
        fs::create_dir_all(parent)?;
    }
    File::create(target).map(drop)
}

fn inside(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

fn make_layers(root: &HostRoot, host: &str, run: &Path, files: &Path) -> Result<Layers> {
    let make = |path: &Path| {
        fs::create_dir_all(path).map_err(|error| Error::wrap(format!("make {}", path.display()), error))
    };
    let place = files.join("root");
    make(&place)?;
    let (upper, work) = if root.keep_files {
        (run.join(KEPT).join(host), files.join(format!("work.{host}")))
    } else {
        let memory = files.join("memory");
        make(&memory)?;
        tmpfs(&memory, "mode=755")?;
        (memory.join("upper"), memory.join("work"))
    };
    make(&upper)?;
    make(&work)?;
    Ok(Layers { root: place, upper, work })
}

fn mount_overlay(lower: &[File], layers: &Layers, root: &HostRoot) -> Result<()> {
    let open = |path: &Path| {
        File::open(path).map_err(|error| Error::wrap(format!("open {}", path.display()), error))
    };
    let (upper, work) = (open(&layers.upper)?, open(&layers.work)?);
    // Root of a user namespace may not write the attributes that overlayfs uses otherwise.
    let attributes = if crate::isolation::is_root_of_the_machine() { "" } else { ",userxattr" };
    let data = format!(
        "{},upperdir={},workdir={}{attributes}",
        lower_layers(lower),
        by_descriptor(&upper),
        by_descriptor(&work)
    );
    mount(Some("overlay"), &layers.root, Some("overlay"), MsFlags::empty(), Some(data.as_str())).map_err(
        |error| {
            let remedy = if root.keep_files {
                "keep runs on ext4, xfs or btrfs (--runs DIR), or leave keep_files out"
            } else {
                "longhaul doctor says whether this kernel has overlayfs"
            };
            Error::wrap(
                format!("mount overlayfs over {}", root.image.as_deref().unwrap_or("a root directory")),
                error,
            )
            .with_remedy(remedy)
        },
    )
}
