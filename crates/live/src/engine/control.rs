//! The control protocol between supervisor and engine: one JSON object per line in each direction.

use crate::clock::{Clock, monotonic_ns};
use crate::error::{Error, Result};
use crate::readiness::readable;
use crate::tunnel::Tunnel;
use longhaul_plan::{Cause, LinkChange};
use nix::poll::ppoll;
use serde::{Deserialize, Serialize};
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// Longest wait for a command or a datagram before the start.
const MOST_WAIT_NS: u64 = 20_000_000;

/// A command of the supervisor.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Command {
    /// The clock starts at this instant of `CLOCK_MONOTONIC`.
    Start {
        /// Nanoseconds.
        start_ns: u64,
    },
    /// The clock starts with that of the first machine.
    Follow {},
    /// Change links, all at the same time.
    Change {
        /// The changes.
        changes: Vec<LinkChange>,
        /// Who requested it.
        cause: Cause,
        /// When, in nanoseconds since the start, so that all parts of a network do it then; by default now.
        #[serde(default)]
        at_ns: Option<u64>,
    },
    /// Capture a link's packets from now on.
    Capture {
        /// The link's position in the plan.
        link: usize,
        /// Bytes to keep of each packet.
        snaplen: u32,
        /// Bytes of its files at which the capture ends.
        limit_bytes: u64,
    },
    /// End a capture that began with [`Capture`](Self::Capture).
    EndCapture {
        /// The link's position in the plan.
        link: usize,
    },
    /// Send the counters.
    Status {},
    /// End the run.
    Stop {},
    /// End the run at a time of its own, which all machines have in common.
    StopAt {
        /// Nanoseconds since the start.
        at_ns: u64,
    },
}

impl Command {
    /// Whether the engine replies to it.
    pub fn has_reply(&self) -> bool {
        use Command::{Capture, Change, EndCapture, Follow, Start, Status, Stop, StopAt};
        match self {
            Change { .. } | Capture { .. } | EndCapture { .. } | Status {} => true,
            Start { .. } | Follow {} | Stop {} | StopAt { .. } => false,
        }
    }
}

/// A message of the engine.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case", deny_unknown_fields)]
pub enum Reply {
    /// The engine is ready to start.
    Ready {},
    /// The clock starts at this instant of `CLOCK_MONOTONIC`, as the first machine decided.
    Started {
        /// Nanoseconds.
        start_ns: u64,
    },
    /// All finite simulated jobs and flows have completed. Sent once, without a command.
    Done {},
    /// A problem that does not end the run. Sent without a command.
    Warning {
        /// The problem.
        message: String,
    },
    /// The change took effect, or will.
    Changed {
        /// Time of the change.
        at_ns: u64,
    },
    /// The link's packets are captured.
    Capturing {
        /// Whether the capture began with the command. Otherwise the link was captured already.
        is_new: bool,
        /// Bytes kept of each packet.
        snaplen: u32,
        /// Unix time of the run's start, in nanoseconds: the capture's times are Unix times.
        unix_start_ns: u64,
        /// Unix time of the command, in nanoseconds: all packets from then on are captured.
        since_ns: u64,
    },
    /// The link's packets are not captured any more, unless the scenario captures them.
    CaptureEnded {},
    /// State of the run.
    Status {
        /// Time of the state.
        t_ns: u64,
        /// Packets delivered to hosts.
        delivered_packets: u64,
        /// Packets inside the network.
        held_packets: u64,
        /// Median lateness so far.
        lateness_p50_ns: u64,
        /// 99th percentile so far.
        lateness_p99_ns: u64,
        /// Scheduling stalls so far.
        gaps: u64,
        /// Positions of the links whose packets are captured, in order.
        captured_links: Vec<usize>,
    },
}

/// The engine's end.
pub struct Control {
    stream: UnixStream,
    pending: Vec<u8>,
    /// Whether the supervisor has closed the connection.
    pub hung_up: bool,
}

impl Control {
    /// Takes over the stream.
    pub fn new(stream: UnixStream) -> Self {
        Control { stream, pending: Vec::with_capacity(4_096), hung_up: false }
    }

    /// The descriptor that is readable when a command arrives.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    /// Sends a message.
    pub fn reply(&mut self, reply: &Reply) -> Result<()> {
        let mut line = serde_json::to_vec(reply).map_err(|error| Error::wrap("write a reply", error))?;
        line.push(b'\n');
        self.stream.write_all(&line).map_err(|error| Error::wrap("reply to the supervisor", error))
    }

    /// Waits for the clock to start; `None` if the run was cancelled first.
    pub fn wait_for_start(&mut self) -> Result<Option<Clock>> {
        loop {
            for command in self.commands()? {
                match command {
                    Command::Start { start_ns } => {
                        self.set_nonblocking()?;
                        return Ok(Some(Clock::starting_at(start_ns)));
                    }
                    Command::Stop {} | Command::StopAt { .. } => return Ok(None),
                    // The supervisor sends the rest once the run has started.
                    _ => {}
                }
            }
        }
    }

    /// The same on one of several machines, whose clocks are related meanwhile. The first one's clock starts as the supervisor
    /// says, that of the others when the first one's does, which they tell their supervisors.
    pub fn wait_for_joint_start(&mut self, tunnel: &mut Tunnel) -> Result<Option<Clock>> {
        self.set_nonblocking()?;
        let (mut asked, mut first_start_ns) = (false, None);
        loop {
            for command in self.commands()? {
                match command {
                    Command::Start { start_ns } => (asked, first_start_ns) = (true, Some(start_ns)),
                    Command::Follow {} => asked = true,
                    Command::Stop {} | Command::StopAt { .. } => return Ok(None),
                    _ => {}
                }
            }
            tunnel.turn(monotonic_ns())?;
            tunnel.receive_times();
            if asked
                && tunnel.is_related()
                && let Some(start_ns) = tunnel.start(first_start_ns)
            {
                if first_start_ns.is_none() {
                    self.reply(&Reply::Started { start_ns })?;
                }
                return Ok(Some(Clock::starting_at(start_ns)));
            }
            let next_ns = tunnel.next_turn_ns().unwrap_or(u64::MAX);
            let wait_ns = next_ns.saturating_sub(monotonic_ns()).min(MOST_WAIT_NS);
            let _ = ppoll(
                &mut [readable(self.fd()), readable(tunnel.fd())],
                Some(Duration::from_nanos(wait_ns).into()),
                None,
            );
        }
    }

    /// From now on, [`commands`](Self::commands) does not wait.
    pub fn set_nonblocking(&mut self) -> Result<()> {
        self.stream.set_nonblocking(true).map_err(|error| Error::wrap("prepare the control socket", error))
    }

    /// The commands received so far. A closed connection counts as [`Command::Stop`].
    pub fn commands(&mut self) -> Result<Vec<Command>> {
        let mut buffer = [0u8; 4_096];
        match self.stream.read(&mut buffer) {
            Ok(0) => {
                self.hung_up = true;
                return Ok(vec![Command::Stop {}]);
            }
            Ok(read) => self.pending.extend_from_slice(&buffer[..read]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(error) => return Err(Error::wrap("receive from the supervisor", error)),
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
