use crate::{Output, Storage, append_all};
use std::io::{self, Write};
use std::path::Path;

/// A file to which each write appends all of its bytes, or none: a full disk leaves no half of a line. Where the
/// half cannot be cut off, nothing is appended behind it.
pub struct Appender {
    output: Box<dyn Output>,
    length: u64,
    /// Half of a write stayed in the file, behind which nothing would be read.
    torn: bool,
}

impl Appender {
    /// Creates the file at `path`, which must not exist.
    ///
    /// # Errors
    /// If the file exists or cannot be created.
    pub fn create(storage: &dyn Storage, path: &Path) -> io::Result<Self> {
        Ok(Appender { output: storage.create(path)?, length: 0, torn: false })
    }
}

impl Write for Appender {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.torn {
            return Err(io::Error::other("an earlier write failed half-way"));
        }
        match append_all(&mut *self.output, bytes) {
            Ok(()) => {
                self.length += bytes.len() as u64;
                Ok(bytes.len())
            }
            Err(error) => {
                self.torn = self.output.cut(self.length).is_err();
                Err(error)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Disk;
    use crate::faults::{Fault, Faulty, folder};
    use std::io::ErrorKind;

    #[test]
    fn a_write_that_fails_half_way_leaves_the_lines_before_it() {
        let folder = folder("a_write_that_fails_half_way");
        let path = folder.join("lines");
        let storage = Faulty::new(2, Fault::ShortWrite);
        let mut file = Appender::create(&storage, &path).unwrap();
        file.write_all(b"one\n").unwrap();
        assert!(file.write_all(b"two\n").is_err());
        file.write_all(b"three\n").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\nthree\n");
    }

    #[test]
    fn nothing_is_appended_behind_half_of_a_line() {
        let folder = folder("nothing_is_appended_behind_half");
        let path = folder.join("lines");
        let storage = Faulty::new(1, Fault::Lasting);
        let mut file = Appender::create(&storage, &path).unwrap();
        assert!(file.write_all(b"one\n").is_err());
        storage.heal();
        assert!(file.write_all(b"two\n").is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "on");
    }

    #[test]
    fn neither_files_nor_links_that_are_there_are_written_to() {
        let folder = folder("neither_files_nor_links");
        std::fs::write(folder.join("file"), "precious").unwrap();
        std::os::unix::fs::symlink(folder.join("file"), folder.join("link")).unwrap();
        std::os::unix::fs::symlink(folder.join("absent"), folder.join("dangling")).unwrap();
        for name in ["file", "link", "dangling"] {
            let error = Appender::create(&Disk, &folder.join(name)).err().unwrap();
            assert_eq!(error.kind(), ErrorKind::AlreadyExists, "{name}");
        }
        assert_eq!(std::fs::read_to_string(folder.join("file")).unwrap(), "precious");
        assert!(!folder.join("absent").exists());
    }
}
