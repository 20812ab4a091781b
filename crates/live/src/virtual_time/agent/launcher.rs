//! The launch agent of a host that is a kernel of its own: what replaces ssh for the launchers of parallel programs.
//!
//! A script takes a host and a command as ssh does, writes them to a file and signals the agent by a pipe. The agent reports them
//! to the supervisor. As in a live run, the start of the command uses no network.

use super::super::messages::Command;
use crate::error::{Error, Result};
use nix::sys::stat::Mode;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Where scripts and the agent meet.
const DIRECTORY: &str = "/run/longhaul";
/// The script, which programs take for ssh.
pub const SCRIPT: &str = "/run/longhaul/longhaul-agent";
const TEXT: &str = concat!(include_str!("../../agent_arguments.sh"), include_str!("launcher.sh"));
const PIPE: &str = "/run/longhaul/launch";

/// The agent's end.
pub struct Launcher {
    pipe: File,
    pending: Vec<u8>,
}

/// A command that a program of this host has asked for.
pub struct Launch {
    /// Who asked.
    pub ticket: u32,
    /// The host.
    pub host: String,
    pub command: Command,
}

impl Launcher {
    /// Writes the script and opens the pipe.
    pub fn open() -> Result<Self> {
        let failed = |error: &dyn std::fmt::Display| Error::wrap("make the launch agent", error);
        fs::create_dir_all(DIRECTORY).map_err(|error| failed(&error))?;
        fs::write(SCRIPT, TEXT).map_err(|error| failed(&error))?;
        fs::set_permissions(SCRIPT, fs::Permissions::from_mode(0o755)).map_err(|error| failed(&error))?;
        nix::unistd::mkfifo(PIPE, Mode::S_IRUSR | Mode::S_IWUSR).map_err(|error| failed(&error))?;
        // With both ends open it never ends.
        let pipe = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open(PIPE);
        Ok(Launcher { pipe: pipe.map_err(|error| failed(&error))?, pending: Vec::new() })
    }

    /// What is readable when a program asks for something.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }

    /// What programs have asked for since the last call.
    pub fn launches(&mut self) -> Vec<Launch> {
        let mut buffer = [0u8; 4_096];
        while let Ok(read) = self.pipe.read(&mut buffer) {
            if read == 0 {
                break;
            }
            self.pending.extend_from_slice(&buffer[..read]);
        }
        let mut launches = Vec::new();
        while let Some(end) = self.pending.iter().position(|&byte| byte == b'\n') {
            let line: Vec<u8> = self.pending.drain(..=end).collect();
            let ticket = std::str::from_utf8(&line).ok().and_then(|line| line.trim().parse().ok());
            launches.extend(ticket.and_then(request));
        }
        launches
    }
}

/// Tells the program that asked with `ticket` how its command has ended.
pub fn send_exit_code(ticket: u32, code: i32) {
    let pipe = OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK).open(of(ticket, "reply"));
    // The program may have ended meanwhile.
    let _ = pipe.and_then(|mut pipe| writeln!(pipe, "{code}"));
}

fn of(ticket: u32, what: &str) -> PathBuf {
    Path::new(DIRECTORY).join(format!("{what}.{ticket}"))
}

/// What the script has written: host, directory, and the command on all further lines.
fn request(ticket: u32) -> Option<Launch> {
    let text = fs::read_to_string(of(ticket, "request")).ok()?;
    let _ = fs::remove_file(of(ticket, "request"));
    let (host, rest) = text.split_once('\n')?;
    let (cwd, command) = rest.split_once('\n')?;
    let command = Command { cwd: cwd.into(), text: command.trim_end_matches('\n').into() };
    Some(Launch { ticket, host: host.into(), command })
}
