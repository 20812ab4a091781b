//! The line between supervisor and engine: one JSON object a line, each way.

use crate::clock::Clock;
use crate::error::{Error, Result};
use longhaul_plan::{Cause, LinkChange};
use serde::{Deserialize, Serialize};
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

/// What the supervisor says.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub enum Command {
    /// The clock starts at this instant of CLOCK_MONOTONIC.
    Start {
        /// Nanoseconds.
        start_ns: u64,
    },
    /// Links change now, all at the same instant.
    Change {
        /// What becomes different.
        changes: Vec<LinkChange>,
        /// Who asked for it.
        cause: Cause,
    },
    /// Counters, please.
    Status {},
    /// The run is over.
    Stop {},
}

/// What the engine says.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "lowercase", deny_unknown_fields)]
pub enum Reply {
    /// The ports are watched.
    Ready {},
    /// All simulated jobs and flows that have an end have come to it. Said once, unasked.
    Done {},
    /// Something is wrong that does not end the run. Said unasked.
    Warning {
        /// What.
        message: String,
    },
    /// The change took effect.
    Changed {
        /// When.
        at_ns: u64,
    },
    /// How the run goes.
    Status {
        /// Now.
        t_ns: u64,
        /// Packets delivered to hosts.
        delivered_packets: u64,
        /// Packets inside the network.
        held_packets: u64,
        /// Median lateness so far.
        lateness_p50_ns: u64,
        /// 99th percentile so far.
        lateness_p99_ns: u64,
        /// Gaps so far.
        gaps: u64,
    },
}

/// The engine's end.
pub struct Control {
    stream: UnixStream,
    pending: Vec<u8>,
    /// Whether the supervisor is gone, or does not talk any more.
    pub hung_up: bool,
}

impl Control {
    /// Takes over the stream.
    pub fn new(stream: UnixStream) -> Result<Self> {
        Ok(Control { stream, pending: Vec::with_capacity(4_096), hung_up: false })
    }

    /// What to watch for commands.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    /// Says something.
    pub fn reply(&mut self, reply: &Reply) -> Result<()> {
        let mut line = serde_json::to_vec(reply).map_err(|error| Error::wrap("write a reply", error))?;
        line.push(b'\n');
        self.stream.write_all(&line).map_err(|error| Error::wrap("answer the supervisor", error))
    }

    /// Waits for the clock to start; `None` when the run was called off first.
    pub fn wait_for_start(&mut self) -> Result<Option<Clock>> {
        loop {
            for command in self.commands()? {
                match command {
                    Command::Start { start_ns } => {
                        self.stream
                            .set_nonblocking(true)
                            .map_err(|error| Error::wrap("prepare the control socket", error))?;
                        return Ok(Some(Clock::starting_at(start_ns)));
                    }
                    Command::Stop {} => return Ok(None),
                    Command::Change { .. } | Command::Status {} => {}
                }
            }
        }
    }

    /// The commands that have come. A supervisor that is gone means stop.
    pub fn commands(&mut self) -> Result<Vec<Command>> {
        let mut buffer = [0u8; 4_096];
        match self.stream.read(&mut buffer) {
            Ok(0) => {
                self.hung_up = true;
                return Ok(vec![Command::Stop {}]);
            }
            Ok(read) => self.pending.extend_from_slice(&buffer[..read]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(error) => return Err(Error::wrap("hear the supervisor", error)),
        }
        let mut commands = Vec::new();
        while let Some(end) = self.pending.iter().position(|&byte| byte == b'\n') {
            let line: Vec<u8> = self.pending.drain(..=end).collect();
            commands
                .push(serde_json::from_slice(&line).map_err(|error| Error::wrap("read a command", error))?);
        }
        Ok(commands)
    }
}
