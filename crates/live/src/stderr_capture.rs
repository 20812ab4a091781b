//! Standard error of child processes, captured in memory, so that it survives the child and a full disk.

use crate::error::{Error, Result};
use nix::sys::memfd::{MFdFlags, memfd_create};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::panic;

/// Most characters of the last line that are reported.
const LONGEST: usize = 1_000;

/// Standard error of a child: a file in memory that both have open.
#[derive(Debug)]
pub struct CapturedStderr(File);

impl CapturedStderr {
    /// An empty file, to be made before the child is forked.
    pub fn new() -> Result<Self> {
        memfd_create(c"stderr", MFdFlags::MFD_CLOEXEC)
            .map(|fd| CapturedStderr(File::from(fd)))
            .map_err(|error| Error::wrap("make a file in memory", error))
    }

    /// In the child: redirects standard error to the file.
    pub fn capture(&self) {
        let _ = nix::unistd::dup2_stderr(&self.0);
    }

    /// In the child: appends `text`.
    pub fn write(&self, text: &str) {
        let _ = (&self.0).write_all(text.as_bytes());
    }

    /// In the parent: everything that was written.
    pub fn text(&self) -> String {
        let mut bytes = Vec::new();
        let mut file = &self.0;
        if file.seek(SeekFrom::Start(0)).is_ok() {
            let _ = file.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Sets the name of this process that `ps` and `top` show.
pub fn name_process(name: &std::ffi::CStr) {
    let _ = nix::sys::prctl::set_name(name);
}

/// The last line of a text that is not empty.
pub fn last_line(text: &str) -> Option<String> {
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().take(LONGEST).collect())
}

/// Makes a panic of any thread of this process, and of its children, print one line with its source location.
pub fn install_panic_hook() {
    panic::set_hook(Box::new(|panic| {
        let payload = panic.payload();
        let text = payload.downcast_ref::<&str>().copied();
        let text =
            text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
        let place = panic.location().map(|place| format!(" at {place}")).unwrap_or_default();
        let trace = std::backtrace::Backtrace::capture();
        let trace = match trace.status() {
            std::backtrace::BacktraceStatus::Captured => format!("{trace}\n"),
            _ => String::new(),
        };
        let line = format!("{trace}panicked{place}: {}\n", text.replace('\n', " "));
        let _ = std::io::stderr().write_all(line.as_bytes());
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_is_the_one_that_says_something() {
        assert_eq!(last_line("one\ntwo \n\n").as_deref(), Some("two"));
        assert_eq!(last_line(" \n"), None);
        assert_eq!(last_line(&"x".repeat(5_000)).map(|line| line.len()), Some(LONGEST));
    }
}
