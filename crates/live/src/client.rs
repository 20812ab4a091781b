//! The process that started a run and waits for its end, seen from the worker.

use crate::death::Death;
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd};
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
    pidfd: Option<File>,
}

impl Client {
    /// The process `pid`, which should be alive.
    pub fn new(pid: i32) -> Self {
        // SAFETY: plain system call; what it returns is a new descriptor of ours.
        let pidfd = unsafe {
            let fd = libc::syscall(libc::SYS_pidfd_open, pid, 0) as i32;
            (fd >= 0).then(|| File::from_raw_fd(fd))
        };
        Client { pid, pidfd }
    }

    /// Whether it has ended; true as well where it never was seen.
    pub fn is_gone(&self) -> bool {
        let Some(pidfd) = &self.pidfd else { return true };
        let mut watched = libc::pollfd { fd: pidfd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: the structure outlives the call.
        unsafe { libc::poll(&mut watched, 1, 0) > 0 }
    }

    /// What happened to it, as far as the kernel tells (since Linux 6.15).
    pub fn describe(&self) -> String {
        let how = match self.death() {
            Some(death) => death.describe(None, &crate::oom::OomKills::now()),
            None if self.is_gone() => "ended without a word".into(),
            None => "closed its line".into(),
        };
        format!("the client (process {}) {how}", self.pid)
    }

    fn death(&self) -> Option<Death> {
        let pidfd = self.pidfd.as_ref()?;
        let looks = COLLECTED_WITHIN.as_millis() / BETWEEN_LOOKS.as_millis();
        for _ in 0..looks {
            if !self.is_gone() {
                return None;
            }
            let mut info = PidfdInfo { mask: INFO_EXIT, ..PidfdInfo::default() };
            // SAFETY: the structure has the size that the request's number says, and outlives the call.
            let done = unsafe { libc::ioctl(pidfd.as_raw_fd(), PIDFD_GET_INFO, &mut info) };
            if done == 0 && info.mask & INFO_EXIT != 0 {
                return Some(Death(info.exit_code));
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
        assert!(client.describe().ends_with("closed its line"));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(client.is_gone());
        let told = client.describe();
        assert!(told.contains("was killed by SIGKILL") || told.contains("ended without a word"), "{told}");
    }
}
