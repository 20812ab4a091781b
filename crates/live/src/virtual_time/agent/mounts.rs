//! The file system of a host that is a kernel of its own: the machine's, where it can be read, under a layer in memory
//! that takes all writing; and the directories of the run, which are the machine's own.

use super::super::messages::Setup;
use crate::error::{Error, Result};
use crate::mounts::lower_layers;
use longhaul_plan::HostSettings;
use nix::mount::{MsFlags, mount};
use nix::unistd::{chdir, chroot};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Where the layers are put together, in memory.
const LAYERS: &str = "/run";
const NONE: Option<&str> = None;

/// Mounts what the kernel gives, over the machine's own, which the first process sees.
pub fn prepare() -> Result<()> {
    // A kernel may have done this by itself.
    let _ = mount(Some("devtmpfs"), "/dev", Some("devtmpfs"), MsFlags::MS_NOSUID, NONE);
    attach("proc", "/proc", "proc", None)?;
    attach("tmpfs", LAYERS, "tmpfs", Some("mode=755"))
}

/// Moves this process into the file system of the host: the machine's, or the root directory that its settings name.
pub fn enter_root(setup: &Setup, settings: Option<&HostSettings>) -> Result<()> {
    let [upper, work, root] = ["upper", "work", "root"].map(|name| Path::new(LAYERS).join(name));
    for folder in [&upper, &work, &root] {
        make(folder)?;
    }
    let open = |path: &String| {
        File::open(path).map_err(|error| Error::wrap(format!("open the root directory {path}"), error))
    };
    let own = settings.and_then(|settings| settings.root.as_ref()).map(|own| &own.directories);
    let lower = own.unwrap_or(&vec!["/".to_owned()]).iter().map(open).collect::<Result<Vec<_>>>()?;
    let layers = format!("{},upperdir={},workdir={}", lower_layers(&lower), upper.display(), work.display());
    attach("overlay", &text(&root), "overlay", Some(&layers))?;
    let inside = |path: &str| text(&root.join(path));
    for folder in ["proc", "sys", "dev", "etc"] {
        make(&root.join(folder))?;
    }
    attach("proc", &inside("proc"), "proc", None)?;
    attach("sysfs", &inside("sys"), "sysfs", None)?;
    // Not every kernel has it.
    let _ = attach("cgroup2", &inside("sys/fs/cgroup"), "cgroup2", None);
    mount(Some("/dev"), inside("dev").as_str(), NONE, MsFlags::MS_BIND, NONE)
        .map_err(|error| Error::wrap("mount /dev", error))?;
    for folder in ["dev/pts", "dev/shm"] {
        make(&root.join(folder))?;
    }
    attach("devpts", &inside("dev/pts"), "devpts", Some("mode=620,ptmxmode=666"))?;
    for folder in ["dev/shm", "run", "tmp", "var/tmp"] {
        make(&root.join(folder))?;
        attach("tmpfs", &inside(folder), "tmpfs", Some("mode=1777"))?;
    }
    // The machine's own, so that what programs write is there after the run.
    for place in outermost(&[setup.cwd.clone(), setup.directory.clone()]) {
        let target = text(&root.join(place.strip_prefix("/").unwrap_or(&place)));
        make(Path::new(&target))?;
        attach("run", &target, "hostfs", Some(&text(&place)))?;
    }
    chroot(&root).map_err(|error| Error::wrap("enter the host's file system", error))?;
    chdir("/").map_err(|error| Error::wrap("enter the host's file system", error))
}

/// Directories without those that lie in others, and without the root, which is never written to.
fn outermost(places: &[PathBuf]) -> Vec<PathBuf> {
    let root = Path::new("/");
    let lies_inside = |place: &PathBuf| {
        places.iter().any(|other| other != place && other != root && place.starts_with(other))
    };
    let mut found: Vec<PathBuf> =
        places.iter().filter(|place| *place != root && !lies_inside(place)).cloned().collect();
    found.dedup();
    found
}

fn attach(source: &str, target: &str, kind: &str, data: Option<&str>) -> Result<()> {
    mount(Some(source), target, Some(kind), MsFlags::empty(), data)
        .map_err(|error| Error::wrap(format!("mount {kind} at {target} in the host"), error))
}

fn make(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)
        .map_err(|error| Error::wrap(format!("make {} in the host", folder.display()), error))
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_inside_another_is_mounted_with_it() {
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(outermost(&paths(&["/w", "/w/runs/a"])), paths(&["/w"]));
        assert_eq!(outermost(&paths(&["/w", "/x"])), paths(&["/w", "/x"]));
        assert_eq!(outermost(&paths(&["/w", "/w"])), paths(&["/w"]));
        assert_eq!(outermost(&paths(&["/", "/runs/a"])), paths(&["/runs/a"]));
    }
}
