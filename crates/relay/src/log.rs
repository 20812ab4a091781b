//! The log of messages: a thread of its own writes it, so that a slow disk delays nobody.

use crate::close_reason::CloseReason;
use longhaul_record::Table;
use longhaul_storage::{Appender, Storage};
use longhaul_units::Time;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

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

/// One connection that has been closed.
#[derive(Clone, Debug)]
pub struct Closed {
    /// Counts from 1.
    pub serial: u64,
    /// The listener that it came in by.
    pub listener: usize,
    /// The client's sub-cluster; empty if it belongs to none.
    pub from: String,
    /// The target's; empty if it was not known.
    pub to: String,
    /// The client.
    pub client: SocketAddr,
    /// The target, if it was known.
    pub target: Option<SocketAddr>,
    /// When it came.
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
    Connection(Box<Closed>),
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
    /// Creates the files in `directory`.
    pub fn open(
        directory: &Path,
        storage: &dyn Storage,
        messages: bool,
        limit_bytes: u64,
    ) -> Result<Self, String> {
        let create = |name: &str, columns: &[&str]| {
            let path = directory.join(name);
            Appender::create(storage, &path)
                .and_then(|file| Table::new(file, columns))
                .map_err(|error| format!("cannot write {}: {error}", path.display()))
        };
        let connections = create(CONNECTIONS_FILE, &CONNECTION_COLUMNS)?;
        let rows = if messages { Some(create(MESSAGES_FILE, &MESSAGE_COLUMNS)?) } else { None };
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

    /// Adds a connection.
    pub fn connection(&mut self, closed: Closed) {
        self.hand_over(Entry::Connection(Box::new(closed)), 1);
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

fn write(
    receiver: &Receiver<Entry>,
    mut connections: Table<Appender>,
    mut messages: Option<Table<Appender>>,
    limit_bytes: u64,
) -> Written {
    let mut state = Written::default();
    let mut accepted = 0;
    while let Ok(entry) = receiver.recv() {
        let done = match entry {
            Entry::Connection(closed) => connection(&mut connections, &closed)
                .map_err(|error| format!("cannot write {CONNECTIONS_FILE}: {error}")),
            Entry::Messages(rows) => {
                accepted += rows.len() as u64;
                match &mut messages {
                    Some(table) if state.error.is_none() => append(table, &rows, limit_bytes),
                    _ => Ok(()),
                }
            }
        };
        if let Err(error) = done {
            state.error.get_or_insert(error);
        }
    }
    state.rows = messages.map_or(0, |table| table.rows());
    state.dropped = accepted - state.rows;
    state
}

fn connection(table: &mut Table<Appender>, closed: &Closed) -> io::Result<()> {
    let row = table.row().field(closed.serial).field(closed.listener);
    let row = row.field(&*closed.from).field(&*closed.to).field(closed.client).field(closed.target);
    let row = row.field(closed.opened.ns()).field(closed.closed.ns()).fields(closed.bytes);
    row.field(closed.reason.text()).end()?;
    table.flush()
}

fn append(table: &mut Table<Appender>, rows: &[Message], limit_bytes: u64) -> Result<(), String> {
    let failed = |error: io::Error| format!("cannot write {MESSAGES_FILE}: {error}");
    for row in rows {
        if table.bytes() >= limit_bytes {
            table.flush().map_err(failed)?;
            return Err(format!("{MESSAGES_FILE} reached its limit of {limit_bytes} bytes"));
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

    fn closed(reason: CloseReason) -> Closed {
        let at = Time::from_ns(5);
        let client = SocketAddr::from(([127, 0, 0, 1], 4_001));
        let (from, to) = ("near".into(), String::new());
        let (listener, bytes) = (0, [0, 0]);
        Closed { serial: 1, listener, from, to, client, target: None, opened: at, closed: at, bytes, reason }
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
        CloseReason::ALL.iter().for_each(|&reason| log.connection(closed(reason)));
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
