//! A storage that fails at its n-th operation, for tests.

use crate::{Disk, Output, Storage};
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// How an operation fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is not done, and says so.
    Error,
    /// A write appends half, and says that the disk is full; other operations are not done.
    ShortWrite,
    /// The same for this operation and all that follow.
    Lasting,
    /// The machine stops before it: neither it nor anything that follows is done.
    Before,
    /// The machine stops after it.
    After,
}

/// The file system of this machine, but for one operation.
#[derive(Clone)]
pub struct Faulty(Arc<Mutex<State>>);

struct State {
    at: usize,
    fault: Fault,
    operations: usize,
    failed: bool,
}

/// What is to become of an operation.
enum Fate {
    Done,
    /// Half of it is done, if it is a write.
    Half,
    Refused,
    DoneAndRefused,
}

impl Faulty {
    /// Fails operation number `at`, counted from 0.
    pub fn new(at: usize, fault: Fault) -> Self {
        Faulty(Arc::new(Mutex::new(State { at, fault, operations: 0, failed: false })))
    }

    /// Whether the operation has been reached.
    pub fn has_failed(&self) -> bool {
        self.with(|state| state.failed)
    }

    /// From now on, nothing fails.
    pub fn heal(&self) {
        self.with(|state| state.at = usize::MAX);
    }

    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn next(&self) -> Fate {
        self.with(|state| {
            let number = state.operations;
            state.operations += 1;
            let lasts = !matches!(state.fault, Fault::Error | Fault::ShortWrite);
            if number < state.at || (number > state.at && !lasts) {
                return Fate::Done;
            }
            state.failed = true;
            match state.fault {
                Fault::ShortWrite => Fate::Half,
                Fault::Lasting if number == state.at => Fate::Half,
                Fault::After if number == state.at => Fate::DoneAndRefused,
                _ => Fate::Refused,
            }
        })
    }

    fn operation<T>(&self, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        match self.next() {
            Fate::Done => act(),
            Fate::Half | Fate::Refused => Err(full()),
            Fate::DoneAndRefused => act().and_then(|_| Err(full())),
        }
    }
}

fn full() -> io::Error {
    io::Error::from_raw_os_error(libc::ENOSPC)
}

impl Storage for Faulty {
    fn create(&self, path: &Path) -> io::Result<Box<dyn Output>> {
        let output = self.operation(|| Disk.create(path))?;
        Ok(Box::new(FaultyOutput { output, storage: self.clone() }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.operation(|| Disk.rename(from, to))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.operation(|| Disk.remove(path))
    }

    fn sync_directory(&self, _path: &Path) -> io::Result<()> {
        // No test takes the power away.
        self.operation(|| Ok(()))
    }
}

struct FaultyOutput {
    output: Box<dyn Output>,
    storage: Faulty,
}

impl Output for FaultyOutput {
    fn append(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.storage.next() {
            Fate::Done => self.output.append(bytes),
            Fate::Half => self.output.append(&bytes[..bytes.len() / 2]).and_then(|_| Err(full())),
            Fate::Refused => Err(full()),
            Fate::DoneAndRefused => self.output.append(bytes).and_then(|_| Err(full())),
        }
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.storage.operation(|| self.output.cut(length))
    }

    fn sync(&mut self) -> io::Result<()> {
        self.storage.operation(|| Ok(()))
    }
}

/// A directory for a test, which is removed with all that is in it when this is dropped.
#[derive(Debug)]
pub struct Folder(PathBuf);

/// An empty directory for a test, which nobody else uses at the same time.
///
/// # Panics
/// If the directory cannot be created.
pub fn folder(name: &str) -> Folder {
    let folder = std::env::temp_dir().join(format!("longhaul-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    #[expect(clippy::expect_used, reason = "for tests alone, which end here")]
    std::fs::create_dir_all(&folder).expect("a directory for temporary files");
    Folder(folder)
}

impl Deref for Folder {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl AsRef<Path> for Folder {
    fn as_ref(&self) -> &Path {
        self
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_test_is_removed_with_its_files() {
        let made = folder("is_removed");
        let path = made.to_path_buf();
        std::fs::write(made.join("file"), "x").unwrap();
        drop(made);
        assert!(!path.exists());
    }
}
