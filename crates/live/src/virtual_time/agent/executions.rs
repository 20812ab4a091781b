//! Commands that users outside run in this host, with a terminal or with pipes.

use super::super::messages::{Execution, ExecutionOrder, TerminalSize};
use crate::clock::monotonic_ns;
use crate::error::{Error, Result};
use crate::program::Streams;
use crate::readiness::readable;
use crate::sys::terminal;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags};
use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::{Pid, pipe2, ttyname};
use std::ffi::CString;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

/// Most bytes of output that are read at once.
const MAX_READ_BYTES: usize = 4_096;
/// After output was read, no more is for this long: a command that writes without end lets time pass.
const REST_NS: u64 = 100_000;

/// What a command has written: the number of the stream, 1 or 2, and the bytes.
pub type Output = (u8, Vec<u8>);

/// A command that runs.
pub struct RunningExecution {
    /// Its number in the run.
    pub number: usize,
    pub pid: libc::pid_t,
    ends: Ends,
    /// Input that the command has not been given yet, and whether it ends with that.
    pending: Vec<u8>,
    ends_input: bool,
    rests_until_ns: u64,
}

/// Our ends of a command's standard streams.
pub struct Ends {
    input: Option<File>,
    outputs: Vec<(u8, File)>,
}

impl Ends {
    /// A terminal, or three pipes; and the command's own ends.
    pub fn open(execution: &Execution) -> Result<(Ends, Streams)> {
        let failed = |error: nix::Error| Error::wrap("open the streams of the command", error);
        match execution.terminal {
            Some(size) => Self::open_terminal(size).map_err(failed),
            None => Self::open_pipes().map_err(failed),
        }
    }

    fn open_terminal(size: TerminalSize) -> nix::Result<(Ends, Streams)> {
        let pair = openpty(Some(&window(size)), None)?;
        let name = ttyname(&pair.slave)?;
        let copy = |end: &OwnedFd| end.try_clone().map_err(|_| nix::Error::EMFILE);
        let (input, output) = (copy(&pair.master)?, pair.master);
        let terminal = CString::new(name.as_os_str().as_bytes()).map_err(|_| nix::Error::EINVAL)?;
        let (stdin, stdout) = (copy(&pair.slave)?, copy(&pair.slave)?);
        let streams = Streams { stdin, stdout, stderr: pair.slave, terminal: Some(terminal) };
        Ok((Self::new(input, vec![(1, output)])?, streams))
    }

    fn open_pipes() -> nix::Result<(Ends, Streams)> {
        let [(stdin, input), (output, stdout), (errors, stderr)] =
            [pipe2(OFlag::O_CLOEXEC)?, pipe2(OFlag::O_CLOEXEC)?, pipe2(OFlag::O_CLOEXEC)?];
        let streams = Streams { stdin, stdout, stderr, terminal: None };
        Ok((Self::new(input, vec![(1, output), (2, errors)])?, streams))
    }

    fn new(input: OwnedFd, outputs: Vec<(u8, OwnedFd)>) -> nix::Result<Self> {
        for end in outputs.iter().map(|(_, end)| end).chain([&input]) {
            fcntl(end, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
            fcntl(end, FcntlArg::F_SETFD(nix::fcntl::FdFlag::FD_CLOEXEC))?;
        }
        let outputs = outputs.into_iter().map(|(stream, end)| (stream, File::from(end))).collect();
        Ok(Ends { input: Some(input.into()), outputs })
    }
}

impl RunningExecution {
    /// A command that has started.
    pub fn new(number: usize, pid: libc::pid_t, ends: Ends) -> Self {
        RunningExecution { number, pid, ends, pending: Vec::new(), ends_input: false, rests_until_ns: 0 }
    }

    /// What is ready when there is something to do for it.
    pub fn watched(&self) -> impl Iterator<Item = PollFd<'_>> {
        let rests = self.rest_ns().is_some();
        let outputs = self.ends.outputs.iter().filter(move |_| !rests).map(|(_, end)| readable(end.as_fd()));
        let input = self.ends.input.as_ref().filter(|_| !self.pending.is_empty());
        outputs.chain(input.map(|input| PollFd::new(input.as_fd(), PollFlags::POLLOUT)))
    }

    /// How long no output is read, if it is not at once.
    pub fn rest_ns(&self) -> Option<u64> {
        self.rests_until_ns.checked_sub(monotonic_ns()).filter(|&rest_ns| rest_ns > 0)
    }

    /// Does what an order about it says.
    pub fn handle_order(&mut self, order: &ExecutionOrder) {
        match order {
            ExecutionOrder::Input(bytes) => self.type_in(bytes),
            ExecutionOrder::EndInput => self.ends_input = true,
            ExecutionOrder::Resize(size) => self.resize(*size),
            ExecutionOrder::Kill => self.kill(),
        }
    }

    fn type_in(&mut self, bytes: &[u8]) {
        if self.ends.input.is_some() {
            self.pending.extend_from_slice(bytes);
        }
    }

    /// Gives it what it takes of its input; returns how many bytes are not pending any more.
    pub fn write(&mut self) -> usize {
        let before = self.pending.len();
        while let Some(input) = self.ends.input.as_mut().filter(|_| !self.pending.is_empty()) {
            match input.write(&self.pending) {
                Ok(written) => drop(self.pending.drain(..written)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => {
                    // Nobody reads it any more.
                    self.ends.input = None;
                    self.pending.clear();
                }
            }
        }
        if self.ends_input && self.pending.is_empty() {
            self.ends.input = None;
        }
        before - self.pending.len()
    }

    /// What it has written, if it does not rest.
    pub fn read(&mut self) -> Vec<Output> {
        if self.rest_ns().is_some() { Vec::new() } else { self.read_now() }
    }

    /// What it had written when it ended.
    pub fn read_rest(&mut self) -> Vec<Output> {
        let mut all = Vec::new();
        loop {
            let found = self.read_now();
            if found.is_empty() {
                return all;
            }
            all.extend(found);
        }
    }

    fn read_now(&mut self) -> Vec<Output> {
        let mut found = Vec::new();
        self.ends.outputs.retain_mut(|(stream, end)| {
            let mut buffer = [0u8; MAX_READ_BYTES];
            match end.read(&mut buffer) {
                Ok(0) => false,
                Ok(read) => {
                    found.push((*stream, buffer[..read].to_vec()));
                    true
                }
                // A terminal that nothing has open any more fails.
                Err(error) => matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted),
            }
        });
        if !found.is_empty() {
            self.rests_until_ns = monotonic_ns() + REST_NS;
        }
        found
    }

    /// Sets the size of its terminal, if it has one.
    fn resize(&self, size: TerminalSize) {
        if let Some((_, master)) = self.ends.outputs.first() {
            let _ = terminal::resize(master.as_fd(), window(size));
        }
    }

    /// Kills it with the processes of its group.
    fn kill(&self) {
        // The child has made this group for itself.
        let _ = killpg(Pid::from_raw(self.pid), Signal::SIGKILL);
    }
}

fn window(size: TerminalSize) -> Winsize {
    Winsize { ws_row: size.rows, ws_col: size.columns, ws_xpixel: 0, ws_ypixel: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readiness::wait_readable;
    use std::collections::BTreeMap;
    use std::process::{Command, Stdio};

    fn command(terminal: Option<TerminalSize>, argv: &[&str]) -> (RunningExecution, std::process::Child) {
        let execution = Execution {
            argv: argv.iter().map(ToString::to_string).collect(),
            cwd: None,
            env: BTreeMap::default(),
            terminal,
        };
        let (ends, streams) = Ends::open(&execution).unwrap();
        let child = Command::new(argv[0])
            .args(&argv[1..])
            .stdin(Stdio::from(streams.stdin))
            .stdout(Stdio::from(streams.stdout))
            .stderr(Stdio::from(streams.stderr))
            .spawn()
            .unwrap();
        (RunningExecution::new(0, child.id() as libc::pid_t, ends), child)
    }

    /// All that a command writes until it ends, by stream.
    fn written(execution: &mut RunningExecution, child: &mut std::process::Child) -> [String; 2] {
        child.wait().unwrap();
        let mut texts = [String::new(), String::new()];
        for (stream, bytes) in execution.read_rest() {
            texts[usize::from(stream) - 1].push_str(std::str::from_utf8(&bytes).unwrap());
        }
        texts
    }

    #[test]
    fn a_command_with_pipes_reads_its_input_to_the_end() {
        let (mut execution, mut child) = command(None, &["sh", "-c", "cat; echo no >&2"]);
        execution.type_in(b"one\ntwo\n");
        execution.handle_order(&ExecutionOrder::EndInput);
        assert_eq!(execution.write(), 8);
        assert_eq!(written(&mut execution, &mut child), ["one\ntwo\n", "no\n"]);
    }

    #[test]
    fn a_command_with_a_terminal_knows_its_size() {
        let size = TerminalSize { rows: 33, columns: 101 };
        let (mut execution, mut child) = command(Some(size), &["sh", "-c", "test -t 2 && stty size"]);
        assert_eq!(written(&mut execution, &mut child), ["33 101\r\n", ""]);
    }

    #[test]
    fn what_nobody_reads_is_taken_and_dropped() {
        let (mut execution, mut child) = command(None, &["true"]);
        child.wait().unwrap();
        execution.type_in(&[0; 100]);
        assert_eq!(execution.write(), 100);
        execution.type_in(&[0; 100]);
        assert_eq!(execution.write(), 0);
    }

    #[test]
    fn output_without_end_is_read_at_intervals() {
        let (mut execution, mut child) = command(None, &["yes"]);
        assert!(wait_readable(&execution.ends.outputs[0].1, 2_000_000_000));
        let (first, at_once) = (execution.read(), execution.read());
        assert_eq!((first.len(), at_once.len()), (1, 0));
        assert!(execution.rest_ns().is_some_and(|rest_ns| rest_ns <= REST_NS));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
