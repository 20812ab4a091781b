//! How a process ended, in words: from its wait status, from what it said last, and from the kernel's count
//! of processes that it killed for memory.

use crate::oom::OomKills;
use nix::sys::signal::Signal;

/// The exit code of a child that panicked.
pub const PANICKED: i32 = 101;
/// That of one that could not go on, because of the machine or the scenario.
pub const FAILED: i32 = 1;
/// That of one that could not go on, because another process of the run was gone.
pub const ABANDONED: i32 = 2;

/// What `wait(2)` said of a process.
#[derive(Clone, Copy, Debug)]
pub struct Death(pub libc::c_int);

impl Death {
    /// Whether it ended by itself with exit code 0.
    pub fn is_success(self) -> bool {
        libc::WIFEXITED(self.0) && libc::WEXITSTATUS(self.0) == 0
    }

    /// Whether it ended by itself, as something was in its way.
    pub fn is_failure(self) -> bool {
        libc::WIFEXITED(self.0) && libc::WEXITSTATUS(self.0) == FAILED
    }

    /// How it ended: `was killed by SIGKILL`, `panicked at engine.rs:3:5: no room`, `ended with exit code 1: ...`.
    /// `said` is what it wrote last on standard error, `before` what was counted while it was well.
    pub fn describe(self, said: Option<&str>, before: &OomKills) -> String {
        let mut text = if libc::WIFSIGNALED(self.0) {
            format!("was killed by {}", signal_name(libc::WTERMSIG(self.0)))
        } else if libc::WEXITSTATUS(self.0) == PANICKED {
            return said.map_or_else(|| "panicked".into(), String::from);
        } else {
            format!("ended with exit code {}", libc::WEXITSTATUS(self.0))
        };
        if libc::WIFSIGNALED(self.0)
            && libc::WTERMSIG(self.0) == libc::SIGKILL
            && let Some(kills) = before.since()
        {
            text.push_str(&format!("; {kills}"));
        }
        if let Some(said) = said {
            text.push_str(&format!(": {said}"));
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
    fn a_death_is_told_by_signal_name_exit_code_or_panic() {
        let quiet = OomKills::none();
        assert_eq!(Death(libc::SIGKILL).describe(None, &quiet), "was killed by SIGKILL");
        assert_eq!(Death(64).describe(None, &quiet), "was killed by signal 64");
        let aborted = Death(libc::SIGABRT).describe(Some("memory allocation of 8 bytes failed"), &quiet);
        assert_eq!(aborted, "was killed by SIGABRT: memory allocation of 8 bytes failed");
        assert_eq!(Death(1 << 8).describe(Some("no room"), &quiet), "ended with exit code 1: no room");
        assert_eq!(
            Death(PANICKED << 8).describe(Some("panicked at a.rs:1:2: x"), &quiet),
            "panicked at a.rs:1:2: x"
        );
        assert!(Death(0).is_success() && !Death(9).is_success());
    }
}
