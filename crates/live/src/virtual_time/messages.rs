//! What the supervisor of a run on the virtual clock and the agents in its hosts send each other over the hosts'
//! consoles: one JSON object a line.

use crate::counters::Counters;
use crate::program::ProcessorTime;
use crate::sockets::Socket;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// An order to the agent of a host.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum Order {
    /// Become a host of the run that this file describes, a [`Setup`].
    Configure {
        /// Its place among the plan's nodes.
        node: usize,
        /// The file, as the machine names it.
        file: PathBuf,
    },
    /// The run's clock starts `after_ns` from now.
    StartClock {
        /// Nanoseconds.
        after_ns: u64,
    },
    /// Start a program of the plan.
    Start {
        /// Its place among the plan's programs.
        program: usize,
    },
    /// Tell when the service listens, or that it does not until then.
    AwaitReady {
        /// Its place among the plan's programs.
        program: usize,
        /// Nanoseconds from now.
        within_ns: u64,
    },
    /// Send a signal to the process group of a program.
    Signal {
        /// Its place among the plan's programs.
        program: usize,
        /// SIGTERM or SIGKILL.
        number: i32,
    },
    /// Run a command that a program of another host has asked for.
    RunCommand {
        /// Its number in the run.
        number: usize,
        /// The command.
        command: Command,
    },
    /// Run a command for a user outside.
    Execute {
        /// Its number in the run.
        number: usize,
        /// The command.
        execution: Execution,
    },
    /// Do this with a user's command.
    ForExecution {
        /// The command's number.
        number: usize,
        /// What.
        order: ExecutionOrder,
    },
    /// Tell a program here how a command that it has asked for has ended.
    CommandEnded {
        /// The number that came with its [`Report::Launch`].
        ticket: u32,
        /// The exit code for it.
        code: i32,
    },
    /// Tell the state of all TCP connections.
    ReadSockets,
    /// Tell what the kernel has counted.
    ReadCounters,
    /// Power off.
    PowerOff,
}

/// A report of the agent of a host.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Report {
    /// The kernel has booted.
    Booted,
    /// The host is as the plan says.
    Configured,
    /// A program has started.
    Started {
        /// Its place among the plan's programs.
        program: usize,
    },
    /// A program could not start.
    NotStarted {
        /// Its place among the plan's programs.
        program: usize,
        /// Why.
        message: String,
    },
    /// A service listens.
    Ready {
        /// Its place among the plan's programs.
        program: usize,
    },
    /// A service does not listen in time.
    NotReady {
        /// Its place among the plan's programs.
        program: usize,
    },
    /// A program has ended.
    Ended {
        /// Its place among the plan's programs.
        program: usize,
        /// As wait4(2) gives it.
        status: i32,
        /// The processor time that it used.
        used: ProcessorTime,
    },
    /// A program asks for a command to be run in another host.
    Launch {
        /// What the answer is to carry.
        ticket: u32,
        /// The other host's name.
        host: String,
        /// The command.
        command: Command,
    },
    /// A user's command has written this.
    Output {
        /// The command's number.
        number: usize,
        /// 1 for standard output and for a terminal, 2 for standard error.
        stream: u8,
        /// The bytes.
        #[serde(with = "bytes")]
        bytes: Vec<u8>,
    },
    /// A user's command has been given so much of its input.
    Taken {
        /// The command's number.
        number: usize,
        /// Bytes.
        bytes: usize,
    },
    /// A command that another host or a user has asked for has ended, or could not start.
    CommandEnded {
        /// Its number in the run.
        number: usize,
        /// Its exit code as a shell gives it.
        code: i32,
    },
    /// The state of all TCP connections.
    Sockets {
        /// One end of each.
        sockets: Vec<Socket>,
    },
    /// What the kernel has counted.
    Counters {
        /// Packets dropped, by counter.
        dropped: Counters,
        /// All counters.
        all: Counters,
        /// The congestion control of connections that name none.
        congestion_control: Option<String>,
    },
    /// The agent cannot go on.
    Failed {
        /// Why.
        message: String,
    },
}

/// A command for a shell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// The directory that it is to begin in, if there is such a one.
    pub cwd: String,
    /// Its words, as ssh would join them.
    pub text: String,
}

/// A command of a user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Execution {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// The directory that it begins in; by default that of the host's programs.
    pub cwd: Option<String>,
    /// Variables beside those of all programs of the run.
    pub env: BTreeMap<String, String>,
    /// The size of its terminal; without one it has pipes.
    pub terminal: Option<TerminalSize>,
}

/// What to do with a command of a user that runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExecutionOrder {
    /// A user has typed this, or a pipe has it.
    Input(#[serde(with = "bytes")] Vec<u8>),
    /// Nothing more comes for its standard input.
    EndInput,
    /// Its terminal has another size.
    Resize(TerminalSize),
    /// Kill it, because nobody waits for it any more.
    Kill,
}

/// The size of a terminal in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TerminalSize {
    /// Lines.
    pub rows: u16,
    /// Characters of a line.
    pub columns: u16,
}

/// Bytes in JSON: a text with a character of the same number, U+0000 to U+00FF, for each.
pub mod bytes {
    use serde::{Deserialize, Deserializer, Serializer, de};

    /// The text of these bytes.
    pub fn to_text(bytes: &[u8]) -> String {
        bytes.iter().copied().map(char::from).collect()
    }

    /// Writes [`to_text`].
    pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&to_text(bytes))
    }

    /// Reads what [`serialize`] wrote.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = text.chars().map(|character| u8::try_from(character).map_err(de::Error::custom));
        bytes.collect()
    }
}

/// What the hosts of a run have in common.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Setup {
    /// The run directory; the plan is in it.
    pub directory: PathBuf,
    /// The directory that the run was started from.
    pub cwd: PathBuf,
    /// Variables of every program.
    pub env: BTreeMap<String, String>,
    /// For each program, what a parallel one has beside them.
    pub spans: Vec<BTreeMap<String, String>>,
}

/// Splits bytes that arrive in pieces into lines.
#[derive(Debug, Default)]
pub struct LineBuffer {
    pending: Vec<u8>,
}

impl LineBuffer {
    /// Adds bytes and takes out the lines that are whole.
    pub fn take(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        self.pending.extend_from_slice(bytes);
        let mut lines = Vec::new();
        while let Some(end) = self.pending.iter().position(|&byte| byte == b'\n') {
            let mut line: Vec<u8> = self.pending.drain(..=end).collect();
            line.pop();
            lines.push(line);
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_out_of_pieces() {
        let mut lines = LineBuffer::default();
        assert!(lines.take(b"{\"is\":").is_empty());
        assert_eq!(lines.take(b"\"up\"}\n\nx"), [b"{\"is\":\"up\"}".to_vec(), vec![]]);
        assert_eq!(lines.take(b"\n"), [b"x".to_vec()]);
    }

    #[test]
    fn orders_and_reports_are_read_as_they_were_written() {
        let order = serde_json::to_string(&Order::AwaitReady { program: 3, within_ns: 5 }).unwrap();
        assert_eq!(order, r#"{"do":"await-ready","program":3,"within_ns":5}"#);
        assert!(matches!(serde_json::from_str(&order), Ok(Order::AwaitReady { program: 3, within_ns: 5 })));
        let all: Vec<u8> = (0..=255).collect();
        let input = ExecutionOrder::Input(all);
        let text = serde_json::to_string(&input).unwrap();
        assert_eq!(serde_json::from_str::<ExecutionOrder>(&text).unwrap(), input);
        assert!(serde_json::from_str::<ExecutionOrder>(r#"{"input":"\u0100"}"#).is_err());
        let report = r#"{"is":"not-started","program":1,"message":"no"}"#;
        assert!(matches!(serde_json::from_str(report), Ok(Report::NotStarted { program: 1, .. })));
    }
}
