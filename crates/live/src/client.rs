//! The process that started a run and waits for its end, seen from the worker.

use crate::exit_status::ExitStatus;
use crate::oom::OomKills;
use crate::readiness::is_readable;
use crate::sys::pidfd;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

/// How long its parent may take to collect it after its end; the kernel reports how it ended only after that.
const COLLECT_TIMEOUT: Duration = Duration::from_secs(1);
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The client, distinct from any later process with its number.
#[derive(Debug)]
pub struct Client {
    pid: i32,
    pidfd: io::Result<OwnedFd>,
    /// Counted while it was alive.
    oom: OomKills,
}

impl Client {
    /// The process `pid`, which should be alive.
    pub fn new(pid: i32) -> Self {
        Client { pid, pidfd: pidfd::open(pid), oom: OomKills::now() }
    }

    /// Whether it has ended; false where it cannot be watched.
    pub fn is_gone(&self) -> bool {
        match &self.pidfd {
            Ok(pidfd) => is_readable(pidfd),
            Err(error) => error.raw_os_error() == Some(libc::ESRCH),
        }
    }

    /// How it ended, if the kernel reports that (since Linux 6.15).
    pub fn describe(&self) -> String {
        let how = match self.exit_status() {
            Some(status) => status.describe(None, &self.oom),
            None if self.is_gone() => "ended; this kernel does not report how".into(),
            None => "closed its control connection".into(),
        };
        format!("the client (process {}) {how}", self.pid)
    }

    fn exit_status(&self) -> Option<ExitStatus> {
        let pidfd = self.pidfd.as_ref().ok()?;
        let looks = COLLECT_TIMEOUT.as_millis() / POLL_INTERVAL.as_millis();
        for _ in 0..looks {
            if !self.is_gone() {
                return None;
            }
            if let Some(status) = pidfd::exit_status(pidfd.as_fd()) {
                return Some(ExitStatus(status));
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_lives_is_not_gone_and_one_that_was_killed_is() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let client = Client::new(child.id() as i32);
        assert!(!client.is_gone());
        assert!(client.describe().ends_with("closed its control connection"));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(client.is_gone());
        let text = client.describe();
        assert!(Client::new(child.id() as i32).is_gone());
        assert!(
            text.contains("was killed by SIGKILL") || text.contains("this kernel does not report how"),
            "{text}"
        );
    }

    #[test]
    fn a_client_that_cannot_be_watched_is_not_gone() {
        let client = Client::new(-1);
        assert!(client.pidfd.is_err() && !client.is_gone());
        assert!(client.describe().ends_with("closed its control connection"));
    }

    #[test]
    fn processes_killed_for_memory_count_from_when_the_client_was_first_watched() {
        let file = std::env::temp_dir().join(format!("longhaul-client-oom-{}", std::process::id()));
        std::fs::write(&file, "oom_kill 5\n").unwrap();
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let oom = OomKills::of_record(&file.display().to_string(), 5);
        let client = Client { oom, ..Client::new(child.id() as i32) };
        std::fs::write(&file, "oom_kill 6\n").unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let text = client.describe();
        std::fs::remove_file(&file).unwrap();
        assert!(text.contains("memory") || text.contains("this kernel does not report how"), "{text}");
    }
}
