//! Mounts in the mount namespace of this process.

use crate::error::{Error, Result};
use nix::mount::{MsFlags, mount};
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// Mounts a private temporary file system.
pub fn tmpfs(place: &Path, data: &str) -> Result<()> {
    mount(Some("tmpfs"), place, Some("tmpfs"), MsFlags::MS_NOSUID, Some(data))
        .map_err(|error| Error::wrap(format!("mount a private {}", place.display()), error))
}

/// Mounts `source` over `target`.
pub fn bind(source: &Path, target: &Path) -> Result<()> {
    let none: Option<&str> = None;
    mount(Some(source), target, none, MsFlags::MS_BIND, none)
        .map_err(|error| Error::wrap(format!("mount over {}", target.display()), error))
}

/// Mounts `source` and all that is mounted below it over `target`.
pub fn bind_all(source: &Path, target: &Path) -> Result<()> {
    let none: Option<&str> = None;
    mount(Some(source), target, none, MsFlags::MS_BIND | MsFlags::MS_REC, none)
        .map_err(|error| Error::wrap(format!("mount over {}", target.display()), error))
}

/// The name of an open file, or of a directory, for options of a mount: a path may contain their separators.
pub fn by_descriptor(file: &File) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// The lower layers of an overlay file system, the topmost first.
pub fn lower_layers(files: &[File]) -> String {
    let names: Vec<_> = files.iter().map(by_descriptor).collect();
    format!("lowerdir={}", names.join(":"))
}

/// Mounts the file `source` over `target`, for reading alone.
pub fn bind_read_only(source: &Path, target: &Path) -> Result<()> {
    bind(source, target)?;
    let target = fs::canonicalize(target)
        .map_err(|error| Error::wrap(format!("mount over {}", target.display()), error))?;
    let mounted = mount_points_below(&target)?.into_iter().rfind(|point| point.place == target);
    let flags = mounted.map_or(MsFlags::empty(), |point| point.flags);
    let none: Option<&str> = None;
    let read_only = flags | MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY;
    mount(none, &target, none, read_only, none)
        .map_err(|error| Error::wrap(format!("make {} read-only", target.display()), error))
}

/// A line of `/proc/self/mountinfo` (proc(5)).
#[derive(Debug)]
pub struct MountPoint {
    /// Where it is mounted.
    pub place: PathBuf,
    /// Those that a remount must keep.
    pub flags: MsFlags,
    /// The type of the file system.
    pub kind: String,
    /// Options of the superblock.
    pub options: String,
}

/// All mount points, in the order in which they were made.
pub fn mount_points() -> Result<Vec<MountPoint>> {
    let text = fs::read_to_string("/proc/self/mountinfo")
        .map_err(|error| Error::wrap("read /proc/self/mountinfo", error))?;
    Ok(text.lines().filter_map(mount_point).collect())
}

/// Mount points at and below `place`, in the order in which they were made.
pub fn mount_points_below(place: &Path) -> Result<Vec<MountPoint>> {
    Ok(mount_points()?.into_iter().filter(|point| point.place.starts_with(place)).collect())
}

fn mount_point(line: &str) -> Option<MountPoint> {
    let (of_mount, of_file_system) = line.split_once(" - ")?;
    let mut fields = of_mount.split(' ').skip(4);
    let place = PathBuf::from(unescaped(fields.next()?));
    let flags = fields.next()?.split(',').fold(MsFlags::empty(), |flags, option| {
        flags
            | match option {
                "nosuid" => MsFlags::MS_NOSUID,
                "nodev" => MsFlags::MS_NODEV,
                "noexec" => MsFlags::MS_NOEXEC,
                "noatime" => MsFlags::MS_NOATIME,
                "nodiratime" => MsFlags::MS_NODIRATIME,
                "relatime" => MsFlags::MS_RELATIME,
                _ => MsFlags::empty(),
            }
    });
    let mut fields = of_file_system.split(' ');
    let kind = fields.next()?.to_owned();
    let options = fields.next_back()?.to_owned();
    Some(MountPoint { place, flags, kind, options })
}

/// Decodes spaces, tabs, line feeds and backslashes, which the kernel writes in octal.
fn unescaped(text: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .into_iter()
        .fold(text.to_owned(), |text, (code, plain)| text.replace(code, plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_point_with_blanks_is_read_with_the_flags_that_a_change_must_keep() {
        let line = "36 35 98:0 /mnt1 /mnt/two\\040words rw,nosuid,noatime master:1 - ext3 /dev/root rw";
        let point = mount_point(line).unwrap();
        assert_eq!(point.place, Path::new("/mnt/two words"));
        assert_eq!(point.flags, MsFlags::MS_NOSUID | MsFlags::MS_NOATIME);
        assert_eq!((point.kind.as_str(), point.options.as_str()), ("ext3", "rw"));
    }
}
