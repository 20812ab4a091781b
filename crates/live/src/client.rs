//! The process that started a run and waits for its end, seen from the worker.

use crate::exit_status::ExitStatus;
use crate::oom::OomKills;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// After its end its parent collects it; until then the kernel does not tell how it ended.
const COLLECTED_WITHIN: Duration = Duration::from_secs(1);
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// `struct pidfd_info` of `linux/pidfd.h`, in its first version.
#[repr(C)]
#[derive(Default)]
struct PidfdInfo {
    mask: u64,
    cgroupid: u64,
    ids: [u32; 11],
    exit_code: i32,
}

/// `PIDFD_GET_INFO`: `_IOWR(0xFF, 11, struct pidfd_info)`.
const PIDFD_GET_INFO: libc::c_ulong = 0xC040_FF0B;
/// `PIDFD_INFO_EXIT`: the exit code is wanted, or is there.
const INFO_EXIT: u64 = 1 << 3;

/// The client, told apart from any later process with its number.
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
        // SAFETY: plain system call.
        let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) as i32 };
        let pidfd = match fd {
            ..0 => Err(io::Error::last_os_error()),
            // SAFETY: an open descriptor that nobody else owns.
            _ => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
        };
        Client { pid, pidfd, oom: OomKills::now() }
    }

    /// Whether it has ended; false where it cannot be watched.
    pub fn is_gone(&self) -> bool {
        let pidfd = match &self.pidfd {
            Ok(pidfd) => pidfd,
            Err(error) => return error.raw_os_error() == Some(libc::ESRCH),
        };
        let mut watched = libc::pollfd { fd: pidfd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: the structure outlives the call.
        unsafe { libc::poll(&mut watched, 1, 0) > 0 }
    }

    /// What happened to it, as far as the kernel tells (since Linux 6.15).
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
        let looks = COLLECTED_WITHIN.as_millis() / BETWEEN_LOOKS.as_millis();
        for _ in 0..looks {
            if !self.is_gone() {
                return None;
            }
            let mut info = PidfdInfo { mask: INFO_EXIT, ..PidfdInfo::default() };
            // SAFETY: the structure has the size that the request's number says, and outlives the call.
            let done = unsafe { libc::ioctl(pidfd.as_raw_fd(), PIDFD_GET_INFO, &mut info) };
            if done == 0 && info.mask & INFO_EXIT != 0 {
                return Some(ExitStatus(info.exit_code));
            }
            std::thread::sleep(BETWEEN_LOOKS);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_structure_has_its_size() {
        assert_eq!(size_of::<PidfdInfo>(), 64);
        assert_eq!(PIDFD_GET_INFO >> 16 & 0x3fff, 64);
    }

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
