//! Sockets of the file system whose directory may have a name of any length.
//!
//! The kernel takes 107 bytes of a path. The directory is therefore opened, and named by its descriptor.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, lchown};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// A listener with a name in the file system.
#[derive(Debug)]
pub struct NamedListener {
    /// The listening socket.
    pub listener: UnixListener,
    path: PathBuf,
    /// Device and inode of the name that was made.
    id: Option<(u64, u64)>,
}

impl NamedListener {
    /// Listens at `path`, which must not exist. Whoever owns its directory owns the socket: behind sudo another user.
    pub fn bind(path: &Path) -> io::Result<Self> {
        let (directory, short) = short(path)?;
        let listener = UnixListener::bind(&short)?;
        let owner = directory.metadata()?;
        if owner.uid() != nix::unistd::geteuid().as_raw() {
            lchown(&short, Some(owner.uid()), Some(owner.gid()))?;
        }
        listener.set_nonblocking(true)?;
        Ok(NamedListener { listener, path: path.into(), id: id(path) })
    }

    /// Removes the name, unless it is another's by now.
    pub fn remove_name(&self) {
        if self.id.is_some() && id(&self.path) == self.id {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Connects to the listener at `path`.
pub fn connect(path: &Path) -> io::Result<UnixStream> {
    let (_directory, short) = short(path)?;
    UnixStream::connect(short)
}

/// The directory, which must stay open, and the path by way of its descriptor.
fn short(path: &Path) -> io::Result<(File, PathBuf)> {
    let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(ErrorKind::InvalidInput.into());
    };
    let directory =
        OpenOptions::new().read(true).custom_flags(libc::O_PATH | libc::O_DIRECTORY).open(directory)?;
    let short = Path::new("/proc/self/fd").join(directory.as_raw_fd().to_string()).join(name);
    Ok((directory, short))
}

fn id(path: &Path) -> Option<(u64, u64)> {
    std::fs::symlink_metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_with_a_long_name_has_sockets_too_and_a_name_of_another_stays() {
        let place = std::env::temp_dir().join(format!("longhaul-{}", "x".repeat(200)));
        std::fs::create_dir_all(&place).unwrap();
        let path = place.join("a.sock");
        let listener = NamedListener::bind(&path).unwrap();
        assert!(connect(&path).is_ok());
        std::fs::remove_file(&path).unwrap();
        let other = NamedListener::bind(&path).unwrap();
        listener.remove_name();
        assert!(connect(&path).is_ok(), "the other's name is still there");
        other.remove_name();
        assert!(connect(&path).is_err());
        std::fs::remove_dir_all(&place).unwrap();
    }
}
