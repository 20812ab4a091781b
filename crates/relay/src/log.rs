//! The log of messages: a thread of its own writes it, so that a slow disk delays nobody.

use longhaul_units::Time;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

/// First line of the log of messages.
pub const MESSAGES_HEADER: &str = "connection,from,to,in_ns,wanted_ns,out_ns,bytes";
/// First line of the log of connections.
pub const CONNECTIONS_HEADER: &str =
    "connection,listener,from,to,client,target,opened_ns,closed_ns,bytes_forward,bytes_back,end";

/// Rows that are handed over at once, and how many such batches may wait.
const BATCH: usize = 4_096;
const WAITING: usize = 64;
/// Handed over after this long at the latest.
const STALE_NS: u64 = 500_000_000;

/// One message: a piece of a stream, or a datagram.
#[derive(Clone, Copy, Debug)]
pub struct Message {
    /// Whose.
    pub connection: u64,
    /// Sub-cluster that it came from.
    pub from: usize,
    /// Sub-cluster that it went to.
    pub to: usize,
    /// When it came.
    pub arrived: Time,
    /// When it was due.
    pub due: Time,
    /// When it was written.
    pub written: Time,
    /// Bytes.
    pub bytes: u32,
}

enum Entry {
    Messages(Vec<Message>),
    Connection(String),
}

/// Where rows go.
#[derive(Debug)]
pub struct Log {
    messages: bool,
    batch: Vec<Message>,
    handed_over: Time,
    sender: Option<SyncSender<Entry>>,
    thread: Option<JoinHandle<Written>>,
    dropped: u64,
}

/// What became of the log.
#[derive(Clone, Debug, Default)]
pub struct Written {
    /// Rows of messages.
    pub rows: u64,
    /// Rows that were not written.
    pub dropped: u64,
    /// The first thing that went wrong.
    pub error: Option<String>,
}

impl Log {
    /// Opens the files in `directory`.
    pub fn open(directory: &Path, messages: bool, limit_bytes: u64) -> Result<Self, String> {
        let open = |name: &str, header: &str| {
            let path = directory.join(name);
            let file =
                File::create(&path).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
            let mut writer = Text { file, whole: 0 };
            let written = writer.append(&format!("{header}\n"));
            written.map_err(|error| format!("cannot write {}: {error}", path.display()))?;
            Ok::<_, String>(writer)
        };
        let connections = open("connections.csv", CONNECTIONS_HEADER)?;
        let rows = if messages { Some(open("messages.csv", MESSAGES_HEADER)?) } else { None };
        let (sender, receiver) = sync_channel(WAITING);
        let thread = std::thread::Builder::new()
            .name("log".into())
            .spawn(move || write(&receiver, connections, rows, limit_bytes))
            .map_err(|error| format!("cannot start a thread: {error}"))?;
        Ok(Log {
            messages,
            batch: Vec::new(),
            handed_over: Time::ZERO,
            sender: Some(sender),
            thread: Some(thread),
            dropped: 0,
        })
    }

    /// Adds a message.
    pub fn message(&mut self, message: Message) {
        if self.messages {
            self.batch.push(message);
            let stale = message.written.since(self.handed_over).ns() > STALE_NS;
            if self.batch.len() >= BATCH || stale {
                self.handed_over = message.written;
                let batch = std::mem::take(&mut self.batch);
                let rows = batch.len() as u64;
                self.hand_over(Entry::Messages(batch), rows);
            }
        }
    }

    /// Adds a line on a connection.
    pub fn connection(&mut self, line: String) {
        self.hand_over(Entry::Connection(line), 1);
    }

    fn hand_over(&mut self, entry: Entry, rows: u64) {
        let Some(sender) = &self.sender else { return };
        if let Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) = sender.try_send(entry) {
            self.dropped += rows;
        }
    }

    /// Writes the rest, and says how it went.
    pub fn close(mut self) -> Written {
        let rest = std::mem::take(&mut self.batch);
        if let Some(sender) = self.sender.take() {
            // The thread takes it in a moment: here nobody waits any longer.
            let _ = sender.send(Entry::Messages(rest));
        }
        let mut written = self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        written.dropped += self.dropped;
        written
    }
}

/// A file to which whole lines are appended.
struct Text {
    file: File,
    /// Bytes up to the end of the last line that was wholly written.
    whole: u64,
}

impl Text {
    /// Appends lines, all or none.
    fn append(&mut self, lines: &str) -> std::io::Result<()> {
        let done = self.file.write_all(lines.as_bytes());
        match done {
            Ok(()) => self.whole += lines.len() as u64,
            // What a full disk has cut off would be taken for a line.
            Err(_) => {
                self.file.set_len(self.whole).and_then(|()| self.file.seek(SeekFrom::Start(self.whole)))?;
            }
        }
        done
    }
}

fn write(
    receiver: &Receiver<Entry>,
    mut connections: Text,
    mut messages: Option<Text>,
    limit_bytes: u64,
) -> Written {
    let mut state = Written::default();
    let mut bytes = 0;
    let mut text = String::new();
    while let Ok(entry) = receiver.recv() {
        let done = match entry {
            Entry::Connection(line) => connections.append(&format!("{line}\n")),
            Entry::Messages(rows) => {
                text.clear();
                rows.iter().for_each(|row| append(&mut text, row));
                bytes += text.len() as u64;
                let full = bytes > limit_bytes;
                if full {
                    state.error.get_or_insert_with(|| {
                        format!("the log has reached its limit of {limit_bytes} bytes")
                    });
                }
                match &mut messages {
                    Some(file) if state.error.is_none() => {
                        let done = file.append(&text);
                        if done.is_ok() {
                            state.rows += rows.len() as u64;
                        } else {
                            state.dropped += rows.len() as u64;
                        }
                        done
                    }
                    _ => {
                        state.dropped += rows.len() as u64;
                        Ok(())
                    }
                }
            }
        };
        if let Err(error) = done {
            state.error.get_or_insert_with(|| format!("cannot write the log: {error}"));
        }
    }
    state
}

fn append(text: &mut String, row: &Message) {
    let wanted_ns = row.due.since(row.arrived).ns();
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "{},{},{},{},{wanted_ns},{},{}",
        row.connection,
        row.from,
        row.to,
        row.arrived.ns(),
        row.written.ns(),
        row.bytes
    );
}
