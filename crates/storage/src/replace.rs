use crate::{Output, Storage, append_all};
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io;
use std::path::{Path, PathBuf};

/// Makes `content` that of the file at `path`, in one step: whatever fails, the file is the old one or the new one.
///
/// # Errors
/// If the new file cannot be written, renamed or synchronised. The file is then the old one, or the new one if only
/// the directory could not be written to the device.
pub fn replace(storage: &dyn Storage, path: &Path, content: &[u8]) -> io::Result<()> {
    rename_into_place(storage, path, content, |output| output.sync())?;
    storage.sync_directory(parent(path))
}

/// The same without waiting for the device: if the machine crashes, the new content may be lost.
///
/// # Errors
/// If the new file cannot be written or renamed; the file is then the old one.
pub fn replace_unsynced(storage: &dyn Storage, path: &Path, content: &[u8]) -> io::Result<()> {
    rename_into_place(storage, path, content, |_| Ok(()))
}

fn rename_into_place(
    storage: &dyn Storage,
    path: &Path,
    content: &[u8],
    sync: impl FnOnce(&mut dyn Output) -> io::Result<()>,
) -> io::Result<()> {
    let part = beside(path)?;
    let mut output = storage.create(&part)?;
    let written = append_all(&mut *output, content).and_then(|()| sync(&mut *output));
    let renamed = written.and_then(|()| storage.rename(&part, path));
    if renamed.is_err() {
        // The error that led here is the one to tell.
        let _ = storage.remove(&part);
    }
    renamed
}

/// The directory of a file; that of a bare name is the working directory.
fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// `.NAME.PID.RANDOM.part`, as Python's `longhaul.storage` names them.
fn beside(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy();
    let random = RandomState::new().hash_one(0) as u32;
    Ok(path.with_file_name(format!(".{name}.{}.{random:08x}.part", std::process::id())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Disk;
    use crate::faults::{Fault, Faulty, folder};

    fn files(folder: &Path) -> usize {
        std::fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn a_file_is_the_old_one_or_the_new_one_after_every_fault() {
        let folder = folder("a_file_is_the_old_one");
        let path = folder.join("engine.json");
        let new = vec![7; 10_000];
        let mut operations = 0;
        for fault in [Fault::Error, Fault::ShortWrite, Fault::Before, Fault::After] {
            for at in 0.. {
                std::fs::remove_dir_all(&folder).unwrap();
                std::fs::create_dir(&folder).unwrap();
                std::fs::write(&path, "old").unwrap();
                let storage = Faulty::new(at, fault);
                let done = replace(&storage, &path, &new);
                let content = std::fs::read(&path).unwrap();
                if !storage.has_failed() {
                    done.unwrap();
                    operations = at;
                    break;
                }
                assert!(done.is_err(), "{fault:?} at {at}");
                assert!(content == b"old" || content == new, "{fault:?} at {at}");
                if matches!(fault, Fault::Error | Fault::ShortWrite) {
                    assert_eq!(files(&folder), 1, "{fault:?} at {at} left a part");
                }
            }
            assert_eq!(operations, 5, "create, append, sync, rename, sync");
        }
    }

    #[test]
    fn the_parent_of_a_bare_name_is_the_working_directory() {
        assert_eq!(parent(Path::new("run.json")), Path::new("."));
        assert_eq!(parent(Path::new("/run.json")), Path::new("/"));
        assert!(Disk.sync_directory(parent(Path::new("run.json"))).is_ok());
    }

    #[test]
    fn what_is_not_synced_is_replaced_in_one_step_too() {
        let folder = folder("what_is_not_synced");
        let path = folder.join("programs.json");
        std::fs::write(&path, "old").unwrap();
        for at in 0..3 {
            assert!(replace_unsynced(&Faulty::new(at, Fault::ShortWrite), &path, b"new").is_err());
            assert_eq!((std::fs::read(&path).unwrap(), files(&folder)), (b"old".to_vec(), 1), "{at}");
        }
        let storage = Faulty::new(3, Fault::ShortWrite);
        replace_unsynced(&storage, &path, b"new").unwrap();
        assert!(!storage.has_failed(), "create, append, rename");
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
    }

    #[test]
    fn a_file_is_locked_while_it_is_written() {
        let folder = folder("a_file_is_locked");
        let path = folder.join("part");
        let output = Disk.create(&path).unwrap();
        let other = std::fs::File::open(&path).unwrap();
        assert!(other.try_lock().is_err());
        drop(output);
        assert!(other.try_lock().is_ok());
    }

    #[test]
    fn a_link_is_replaced_itself() {
        let folder = folder("a_link_is_replaced_itself");
        std::fs::write(folder.join("victim"), "precious").unwrap();
        std::os::unix::fs::symlink(folder.join("victim"), folder.join("ended.json")).unwrap();
        replace(&Disk, &folder.join("ended.json"), b"{}").unwrap();
        assert_eq!(std::fs::read(folder.join("victim")).unwrap(), b"precious");
        assert_eq!(std::fs::read(folder.join("ended.json")).unwrap(), b"{}");
    }
}
