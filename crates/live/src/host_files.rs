//! Files of a scenario that a host has in place of the machine's, or beside them: read-only mounts in its mount
//! namespace, which end with it.

use crate::error::{Error, Result};
use crate::host_root::make_file;
use crate::isolation::SYSTEM;
use crate::mounts::{bind, bind_read_only, by_descriptor, lower_layers, mount_points_below};
use longhaul_plan::HostFile;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Where the run directory has the contents, each called by its SHA-256.
pub const CONTENTS: &str = "raw/files";
/// An empty directory beside the small files of hosts, over which a host has what is added to its directories.
const LAYER: &str = "layer";

/// The name of a file's contents in [`CONTENTS`].
fn content_name(file: &HostFile) -> String {
    format!("{}{}", file.sha256, if file.executable { ".x" } else { "" })
}

/// Mounts `files` in a root directory of the host's own, which is that of this process. `run` is the run directory.
pub fn mount_files_in_root(files: &[HostFile], run: &Path) -> Result<()> {
    for file in files {
        let target = Path::new(&file.target);
        make_file(target).map_err(|error| Error::wrap(format!("make {}", file.target), error))?;
        replace(file, &run.join(CONTENTS))?;
    }
    Ok(())
}

fn replace(file: &HostFile, contents: &Path) -> Result<()> {
    if !fs::metadata(&file.target).is_ok_and(|about| about.is_file()) {
        return Err(Error::new(format!("{} is not a file", file.target))
            .with_remedy("name a file, or one that is not there"));
    }
    bind_read_only(&contents.join(content_name(file)), Path::new(&file.target))
}

/// Mounts `files` in the mount namespace of this process. `run` is the run directory; `scratch` is a directory in it.
pub fn mount_files(files: &[HostFile], run: &Path, scratch: &Path) -> Result<()> {
    let contents = run.join(CONTENTS);
    let (present, absent): (Vec<_>, Vec<_>) =
        files.iter().partition(|file| fs::metadata(&file.target).is_ok());
    add(&absent, &contents, scratch)?;
    present.into_iter().try_for_each(|file| replace(file, &contents))
}

/// Adds files that are not there: overlayfs merges each directory of the system with those that are added to it.
fn add(files: &[&HostFile], contents: &Path, scratch: &Path) -> Result<()> {
    for directory in merged_directories(files)? {
        let layer = scratch.join(LAYER);
        fs::create_dir_all(&layer)
            .map_err(|error| Error::wrap(format!("make {}", layer.display()), error))?;
        mount(Some("tmpfs"), &layer, Some("tmpfs"), MsFlags::MS_NODEV | MsFlags::MS_NOSUID, Some("mode=755"))
            .map_err(|error| Error::wrap("mount a directory for added files", error))?;
        for file in files {
            if let Ok(inner) = Path::new(&file.target).strip_prefix(&directory) {
                put(&contents.join(content_name(file)), &layer, inner, file.executable)
                    .map_err(|error| Error::wrap(format!("add {}", file.target), error))?;
            }
        }
        let open = |path: &Path| {
            File::open(path).map_err(|error| Error::wrap(format!("open {}", path.display()), error))
        };
        // The overlay would hide what is mounted below the directory.
        let inner: Vec<(PathBuf, File)> = mount_points_below(&directory)?
            .into_iter()
            .map(|point| point.place)
            .filter(|place| *place != directory)
            .filter_map(|place| Some((place.clone(), open(&place).ok()?)))
            .collect();
        let layers = [open(&layer)?, open(&directory)?];
        let flags = MsFlags::MS_RDONLY | MsFlags::MS_NODEV;
        mount(Some("overlay"), &directory, Some("overlay"), flags, Some(lower_layers(&layers).as_str()))
            .map_err(|error| {
                Error::wrap(format!("add files to {}", directory.display()), error)
                    .with_remedy("make the files on this machine, so that they can be replaced")
            })?;
        for (point, file) in inner {
            bind(&PathBuf::from(by_descriptor(&file)), &point)?;
        }
        drop(layers);
        let _ = umount2(&layer, MntFlags::MNT_DETACH);
    }
    Ok(())
}

fn put(content: &Path, layer: &Path, inner: &Path, executable: bool) -> std::io::Result<()> {
    let target = layer.join(inner);
    if let Some(parent) = target.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::copy(content, &target)?;
    fs::set_permissions(&target, fs::Permissions::from_mode(if executable { 0o755 } else { 0o644 }))
}

/// The directories that files are added to, the outermost ones alone.
fn merged_directories(files: &[&HostFile]) -> Result<Vec<PathBuf>> {
    let mut found = files.iter().map(|file| directory_of(&file.target)).collect::<Result<Vec<_>>>()?;
    found.sort();
    // An outer directory is before those in it.
    found.dedup_by(|inner, outer| inner.starts_with(&*outer));
    Ok(found)
}

/// The directory that exists and that a file is added to.
fn directory_of(target: &str) -> Result<PathBuf> {
    let existing = Path::new(target).ancestors().skip(1).find(|path| path.is_dir());
    let directory = existing.map(|path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()));
    match directory {
        Some(directory) if SYSTEM.iter().any(|system| directory.starts_with(system)) => Ok(directory),
        _ => Err(Error::new(format!("{target} does not exist on this machine")).with_remedy(format!(
            "make it, so that it can be replaced; files are added only to directories that are read-only for hosts: {}",
            SYSTEM.join(", ")
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(target: &str) -> HostFile {
        HostFile { target: target.into(), source: "x".into(), sha256: "0".into(), executable: false }
    }

    #[test]
    fn files_are_added_to_the_outermost_directories_of_the_system() {
        let files = [file("/etc/no-such/a/b"), file("/etc/no-such.conf"), file("/usr/no-such")];
        let found = merged_directories(&files.iter().collect::<Vec<_>>()).unwrap();
        assert_eq!(found, [Path::new("/etc"), Path::new("/usr")]);
    }

    #[test]
    fn files_are_not_added_to_directories_that_hosts_write() {
        for target in ["/no-such", "/tmp/no-such", "/no-such/a/b"] {
            let error = directory_of(target).unwrap_err();
            assert!(error.message().contains(target), "{error}");
            assert!(error.remedy().is_some_and(|remedy| remedy.contains("/etc")), "{error}");
        }
    }
}
