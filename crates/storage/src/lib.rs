//! Writing to disk: records of which all lines are complete, and files that are complete or absent.
//!
//! A file that exists, or a symbolic link in its place, is replaced or refused, and never written to. Records and
//! results of the engine, the simulator and the relay are written through [`Storage`], so that tests can make each
//! operation fail ([`faults`]).
#![forbid(unsafe_code)]

mod appender;
mod disk;
pub mod faults;
mod replace;

pub use appender::Appender;
pub use disk::Disk;
pub use replace::{replace, replace_unsynced};

use std::io::{self, ErrorKind};
use std::path::Path;

/// The operations that change a file system.
pub trait Storage: Send + Sync {
    /// Creates a file that does not exist yet, to append to.
    ///
    /// # Errors
    /// If the file exists or cannot be created.
    fn create(&self, path: &Path) -> io::Result<Box<dyn Output>>;
    /// Renames a file, in place of `to` if that exists.
    ///
    /// # Errors
    /// If the file cannot be renamed.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    ///
    /// # Errors
    /// If the file does not exist or cannot be removed.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Waits until the entries of a directory are on the device.
    ///
    /// # Errors
    /// If the device does not confirm that it has the entries.
    fn sync_directory(&self, path: &Path) -> io::Result<()>;
}

/// A file that is appended to.
pub trait Output: Send + Sync {
    /// Appends some of `bytes`; returns how many.
    ///
    /// # Errors
    /// If none of the bytes could be appended.
    fn append(&mut self, bytes: &[u8]) -> io::Result<usize>;
    /// Cuts the file off at `length`.
    ///
    /// # Errors
    /// If the file cannot be cut off.
    fn cut(&mut self, length: u64) -> io::Result<()>;
    /// Waits until the file is on the device.
    ///
    /// # Errors
    /// If the device does not confirm that it has the file.
    fn sync(&mut self) -> io::Result<()>;
}

/// Appends all of `bytes`, or an error after some of them.
fn append_all(output: &mut dyn Output, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match output.append(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
