//! Describes how a process ended, from its wait status, its last line on standard error, and the kernel's count of
//! out-of-memory kills.

use crate::oom::OomKills;
use nix::sys::signal::Signal;
use std::fmt::Write;

/// The exit code of a child that panicked.
pub const PANICKED: i32 = 101;
/// The exit code of a child that could not continue, because of the machine or the scenario.
pub const CHILD_FAILED: i32 = 1;
/// The exit code of a child that could not continue, because another process of the run had ended.
pub const ABANDONED: i32 = 2;

/// The wait status of a process (wait(2)).
#[derive(Clone, Copy, Debug)]
pub struct ExitStatus(pub libc::c_int);

impl ExitStatus {
    /// Whether it ended by itself with exit code 0.
    pub fn is_success(self) -> bool {
        libc::WIFEXITED(self.0) && libc::WEXITSTATUS(self.0) == 0
    }

    /// Whether it ended by itself, as something was in its way.
    pub fn is_failure(self) -> bool {
        libc::WIFEXITED(self.0) && libc::WEXITSTATUS(self.0) == CHILD_FAILED
    }

    /// How it ended: `was killed by SIGKILL`, `panicked at engine.rs:3:5: no room`, `ended with exit code 1: ...`.
    /// `last_line` is its last line on standard error, `before` the count of kills while it ran.
    pub fn describe(self, last_line: Option<&str>, before: &OomKills) -> String {
        let mut text = if libc::WIFSIGNALED(self.0) {
            format!("was killed by {}", signal_name(libc::WTERMSIG(self.0)))
        } else if libc::WEXITSTATUS(self.0) == PANICKED {
            return last_line.map_or_else(|| "panicked".into(), String::from);
        } else {
            format!("ended with exit code {}", libc::WEXITSTATUS(self.0))
        };
        if libc::WIFSIGNALED(self.0)
            && libc::WTERMSIG(self.0) == libc::SIGKILL
            && let Some(kills) = before.since()
        {
            let _ = write!(text, "; {kills}");
        }
        if let Some(last_line) = last_line {
            let _ = write!(text, ": {last_line}");
        }
        text
    }
}

/// `SIGKILL` for 9; `signal 64` for one without a name.
pub fn signal_name(number: libc::c_int) -> String {
    Signal::try_from(number).map_or_else(|_| format!("signal {number}"), |signal| signal.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exit_status_is_described_by_signal_name_exit_code_or_panic() {
        let quiet = OomKills::none();
        assert_eq!(ExitStatus(libc::SIGKILL).describe(None, &quiet), "was killed by SIGKILL");
        assert_eq!(ExitStatus(64).describe(None, &quiet), "was killed by signal 64");
        let aborted = ExitStatus(libc::SIGABRT).describe(Some("memory allocation of 8 bytes failed"), &quiet);
        assert_eq!(aborted, "was killed by SIGABRT: memory allocation of 8 bytes failed");
        assert_eq!(ExitStatus(1 << 8).describe(Some("no room"), &quiet), "ended with exit code 1: no room");
        assert_eq!(
            ExitStatus(PANICKED << 8).describe(Some("panicked at a.rs:1:2: x"), &quiet),
            "panicked at a.rs:1:2: x"
        );
        assert!(ExitStatus(0).is_success() && !ExitStatus(9).is_success());
    }
}
