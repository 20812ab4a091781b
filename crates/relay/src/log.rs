//! The log of messages: a thread of its own writes it, so that a slow disk does not delay packets.

use crate::close_reason::CloseReason;
use longhaul_record::Table;
use longhaul_storage::{Appender, Storage};
use longhaul_units::{Span, Time};
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use thiserror::Error;

const MESSAGES_FILE: &str = "messages.csv";
const CONNECTIONS_FILE: &str = "connections.csv";

/// Columns of the log of messages.
pub const MESSAGE_COLUMNS: [&str; 7] = ["connection", "from", "to", "in_ns", "wanted_ns", "out_ns", "bytes"];
/// Columns of the log of connections.
pub const CONNECTION_COLUMNS: [&str; 11] = [
    "connection",
    "listener",
    "from",
    "to",
    "client",
    "target",
    "opened_ns",
    "closed_ns",
    "bytes_forward",
    "bytes_back",
    "end",
];

/// Rows of a batch, and the most batches in the queue.
const BATCH: usize = 4_096;
const WAITING: usize = 64;
/// Longest time until a batch is queued.
const STALE_NS: u64 = 500_000_000;

/// One message: a piece of a stream, or a datagram.
#[derive(Clone, Copy, Debug)]
pub struct Message {
    /// The serial number of its connection.
    pub connection: u64,
    /// The source sub-cluster.
    pub from: usize,
    /// The destination sub-cluster.
    pub to: usize,
    /// When it arrived.
    pub arrived: Time,
    /// When it was due.
    pub due: Time,
    /// When it was written.
    pub written: Time,
    /// Bytes.
    pub bytes: u32,
}

/// One connection that has been closed.
#[derive(Clone, Debug)]
pub struct ClosedConnection {
    /// Counts from 1.
    pub serial: u64,
    /// The index of its listener.
    pub listener: usize,
    /// The client's sub-cluster; empty if it belongs to none.
    pub from: String,
    /// The target's; empty if it was not known.
    pub to: String,
    /// The client.
    pub client: SocketAddr,
    /// The target, if it was known.
    pub target: Option<SocketAddr>,
    /// When it was accepted.
    pub opened: Time,
    /// When it was closed.
    pub closed: Time,
    /// Bytes to the target, and back.
    pub bytes: [u64; 2],
    /// Why it was closed.
    pub reason: CloseReason,
}

enum Entry {
    Messages(Vec<Message>),
    Connection(Box<ClosedConnection>),
}

/// The log: a queue to the thread that writes it.
#[derive(Debug)]
pub struct Log {
    messages: bool,
    batch: Vec<Message>,
    handed_over: Time,
    sender: Option<SyncSender<Entry>>,
    thread: Option<JoinHandle<LogSummary>>,
    dropped: u64,
}

/// The result of the log.
#[derive(Clone, Debug, Default)]
pub struct LogSummary {
    /// Rows of messages.
    pub rows: u64,
    /// Rows that were not written.
    pub dropped: u64,
    /// The first error.
    pub error: Option<String>,
}

impl Log {
    /// Creates the files in `directory`.
    pub fn open(
        directory: &Path,
        storage: &dyn Storage,
        messages: bool,
        limit_bytes: u64,
    ) -> Result<Self, crate::Error> {
        let create = |name: &str, columns: &[&str]| {
            let path = directory.join(name);
            Appender::create(storage, &path)
                .and_then(|file| Table::new(file, columns))
                .map_err(crate::Error::cannot(format!("write {}", path.display())))
        };
        let connections = create(CONNECTIONS_FILE, &CONNECTION_COLUMNS)?;
        let rows = if messages { Some(create(MESSAGES_FILE, &MESSAGE_COLUMNS)?) } else { None };
        let (sender, receiver) = sync_channel(WAITING);
        let thread = std::thread::Builder::new()
            .name("log".into())
            .spawn(move || write(&receiver, connections, rows, limit_bytes))
            .map_err(crate::Error::cannot("start a thread"))?;
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
            if self.batch.len() >= BATCH {
                self.hand_over_batch(message.written);
            } else {
                self.hand_over_stale(message.written);
            }
        }
    }

    /// When messages that wait are to be written though no others come.
    pub fn stale_at(&self) -> Time {
        if self.batch.is_empty() { Time::NEVER } else { self.handed_over + Span::from_ns(STALE_NS) }
    }

    /// Hands messages over that have waited long enough, so that those who read the file while nothing passes see them.
    pub fn hand_over_stale(&mut self, now: Time) {
        if now >= self.stale_at() {
            self.hand_over_batch(now);
        }
    }

    fn hand_over_batch(&mut self, now: Time) {
        self.handed_over = now;
        let batch = std::mem::take(&mut self.batch);
        let rows = batch.len() as u64;
        self.hand_over(Entry::Messages(batch), rows);
    }

    /// Adds a connection.
    pub fn connection(&mut self, closed: ClosedConnection) {
        self.hand_over(Entry::Connection(Box::new(closed)), 1);
    }

    fn hand_over(&mut self, entry: Entry, rows: u64) {
        let Some(sender) = &self.sender else { return };
        if let Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) = sender.try_send(entry) {
            self.dropped += rows;
        }
    }

    /// Writes the remaining rows and returns the result.
    pub fn close(mut self) -> LogSummary {
        let rest = std::mem::take(&mut self.batch);
        if let Some(sender) = self.sender.take() {
            // Blocking is allowed here: all connections are closed.
            let _ = sender.send(Entry::Messages(rest));
        }
        let mut written = self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        written.dropped += self.dropped;
        written
    }
}

fn write(
    receiver: &Receiver<Entry>,
    mut connections: Table<Appender>,
    mut messages: Option<Table<Appender>>,
    limit_bytes: u64,
) -> LogSummary {
    let mut state = LogSummary::default();
    let mut accepted = 0;
    while let Ok(entry) = receiver.recv() {
        let done = match entry {
            Entry::Connection(closed) => connection(&mut connections, &closed)
                .map_err(|error| LogError::Write(CONNECTIONS_FILE, error)),
            Entry::Messages(rows) => {
                accepted += rows.len() as u64;
                match &mut messages {
                    Some(table) if state.error.is_none() => append(table, &rows, limit_bytes),
                    _ => Ok(()),
                }
            }
        };
        if let Err(error) = done {
            state.error.get_or_insert(error.to_string());
        }
    }
    state.rows = messages.map_or(0, |table| table.rows());
    state.dropped = accepted - state.rows;
    state
}

fn connection(table: &mut Table<Appender>, closed: &ClosedConnection) -> io::Result<()> {
    let row = table.row().field(closed.serial).field(closed.listener);
    let row = row.field(&*closed.from).field(&*closed.to).field(closed.client).field(closed.target);
    let row = row.field(closed.opened.ns()).field(closed.closed.ns()).fields(closed.bytes);
    row.field(closed.reason.text()).end()?;
    table.flush()
}

/// Why the log is incomplete.
#[derive(Debug, Error)]
enum LogError {
    #[error("cannot write {0}: {1}")]
    Write(&'static str, #[source] io::Error),
    #[error("{MESSAGES_FILE} reached its limit of {0} bytes")]
    Full(u64),
}

fn append(table: &mut Table<Appender>, rows: &[Message], limit_bytes: u64) -> Result<(), LogError> {
    let failed = |error| LogError::Write(MESSAGES_FILE, error);
    for row in rows {
        if table.bytes() >= limit_bytes {
            table.flush().map_err(failed)?;
            return Err(LogError::Full(limit_bytes));
        }
        let wanted = row.due.since(row.arrived);
        let fields = table.row().field(row.connection).fields([row.from, row.to]);
        let fields = fields.field(row.arrived.ns()).field(wanted.ns()).field(row.written.ns());
        fields.field(row.bytes).end().map_err(failed)?;
    }
    table.flush().map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use longhaul_storage::Disk;
    use longhaul_storage::faults::{Fault, Faulty, folder};

    fn message(connection: u64) -> Message {
        let at = Time::from_ns(1_000 * connection);
        Message { connection, from: 0, to: 1, arrived: at, due: at, written: at, bytes: 9 }
    }

    fn closed(reason: CloseReason) -> ClosedConnection {
        let at = Time::from_ns(5);
        let client = SocketAddr::from(([127, 0, 0, 1], 4_001));
        let (from, to) = ("near".into(), String::new());
        let (listener, bytes) = (0, [0, 0]);
        ClosedConnection {
            serial: 1,
            listener,
            from,
            to,
            client,
            target: None,
            opened: at,
            closed: at,
            bytes,
            reason,
        }
    }

    /// The fields of a line, of which only the last may be quoted.
    fn fields(line: &str) -> Vec<String> {
        let (head, last) = match line.strip_suffix('"') {
            Some(quoted) => quoted.split_once(",\"").unwrap(),
            None => line.rsplit_once(',').unwrap(),
        };
        head.split(',').map(str::to_owned).chain([last.replace("\"\"", "\"")]).collect()
    }

    #[test]
    fn every_reason_is_one_field_of_a_row_of_as_many_as_the_header() {
        let folder = folder("every_reason_is_one_field");
        let mut log = Log::open(&folder, &Disk, false, 0).unwrap();
        for &reason in CloseReason::ALL {
            log.connection(closed(reason));
        }
        assert_eq!(log.close().error, None);
        let text = std::fs::read_to_string(folder.join("connections.csv")).unwrap();
        let rows: Vec<_> = text.lines().map(fields).collect();
        assert_eq!(rows[0], CONNECTION_COLUMNS);
        assert_eq!(rows.len(), 1 + CloseReason::ALL.len());
        for (row, reason) in rows[1..].iter().zip(CloseReason::ALL) {
            assert_eq!(row.len(), CONNECTION_COLUMNS.len(), "{row:?}");
            assert_eq!(row.last().map(String::as_str), Some(reason.text()));
        }
    }

    #[test]
    fn whatever_fails_the_log_has_complete_lines_and_counts_what_it_lacks() {
        for fault in [Fault::Error, Fault::ShortWrite, Fault::Lasting] {
            for at in 0.. {
                let folder = folder("whatever_fails_the_log");
                let storage = Faulty::new(at, fault);
                let Ok(mut log) = Log::open(&folder, &storage, true, 1 << 30) else { continue };
                for number in 0..10_000 {
                    log.message(message(number));
                }
                log.connection(closed(CloseReason::Socks4));
                let written = log.close();
                let text = std::fs::read_to_string(folder.join("messages.csv")).unwrap();
                assert_eq!(written.rows + written.dropped, 10_000);
                if !storage.has_failed() {
                    assert_eq!((written.dropped, written.error), (0, None));
                    break;
                }
                assert!(written.error.is_some(), "{fault:?} at {at}");
                if fault != Fault::Lasting {
                    assert_eq!(text.lines().count() as u64, 1 + written.rows, "{fault:?} at {at}");
                    assert!(text.ends_with('\n'));
                    assert!(text.lines().all(|line| line.split(',').count() == MESSAGE_COLUMNS.len()));
                }
            }
        }
    }

    #[test]
    fn messages_that_no_others_follow_are_handed_over_when_they_are_stale() {
        let mut log = Log::open(&folder("stale_messages"), &Disk, true, 1 << 30).unwrap();
        assert_eq!(log.stale_at(), Time::NEVER);
        log.message(message(1));
        let due = log.stale_at();
        assert_eq!(due, Time::from_ns(STALE_NS));
        log.hand_over_stale(Time::from_ns(STALE_NS - 1));
        assert_eq!(log.stale_at(), due);
        log.hand_over_stale(due);
        assert_eq!(log.stale_at(), Time::NEVER);
        assert_eq!(log.close().rows, 1);
    }

    #[test]
    fn a_log_that_reaches_its_limit_counts_the_rows_in_its_file() {
        let folder = folder("a_log_that_reaches_its_limit");
        let mut log = Log::open(&folder, &Disk, true, 200).unwrap();
        (0..10_000).for_each(|number| log.message(message(number)));
        let written = log.close();
        assert_eq!(written.rows + written.dropped, 10_000);
        assert_eq!(written.error.as_deref(), Some("messages.csv reached its limit of 200 bytes"));
        let text = std::fs::read_to_string(folder.join(MESSAGES_FILE)).unwrap();
        assert!(text.len() < 250);
        assert_eq!(text.lines().count() as u64, 1 + written.rows);
    }
}
