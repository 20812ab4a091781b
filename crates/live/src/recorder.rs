//! Writes what the engine records, on a thread of its own.
//!
//! The engine hands over batches through a bounded channel and never waits: when the disk does
//! not keep up, a batch is dropped and counted.

mod captures;
mod monitor;
mod real_flows;
mod simulated;

use crate::error::{Error, Result};
use crate::realtime;
use captures::{CaptureBuffer, CaptureFiles, CapturedPacket};
pub use captures::{CapturePoint, CapturedLink};
use longhaul_network::Bins;
use longhaul_network::journal::{Entry, JOURNAL_MAGIC};
use longhaul_plan::Plan;
use longhaul_record::{
    FlowCountRow, FlowRow, FlowSampleRow, LatenessRow, PACKET_COLUMNS, PacketRow, PingRow, RequestRow,
    SAMPLE_COLUMNS, SampleRow, Table, lateness_columns,
};
use longhaul_storage::{Appender, Storage};
use monitor::MonitorFiles;
use real_flows::RealFlowFiles;
use serde_json::Value;
use simulated::SimulatedFiles;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Batches that may wait for the disk.
const BATCHES: usize = 1_024;
/// What is written is on its way to disk after this at the latest.
const FLUSH_EVERY: Duration = Duration::from_secs(1);
/// Packet rows in a batch.
const PACKET_ROWS: usize = 4_096;
/// Bytes of captured packets in a batch.
const CAPTURE_BYTES: usize = 1 << 18;
/// Bytes of journal in a batch.
const JOURNAL_BYTES: usize = 1 << 18;

enum Batch {
    Samples(Vec<SampleRow>),
    Bins(Bins),
    Lateness(Vec<LatenessRow>),
    Packets(Vec<PacketRow>),
    /// A link is captured from now on.
    Capture(CapturedLink),
    CaptureBuffer(CaptureBuffer),
    /// What was captured is written now.
    FlushCaptures,
    Journal(Vec<u8>),
    Flows(Vec<FlowRow>),
    Pings(Vec<PingRow>),
    Requests(Vec<RequestRow>),
    FlowCounts(Vec<FlowCountRow>),
    FlowSamples(Vec<FlowSampleRow>),
    /// Applied changes, one JSON object a line.
    Changes(Vec<u8>),
}

/// The engine's end.
pub struct Recorder {
    channel: Option<SyncSender<Batch>>,
    writer: Option<JoinHandle<io::Result<()>>>,
    packets: Vec<PacketRow>,
    /// Captures that have begun and of which the writer does not know yet.
    begun: Vec<CapturedLink>,
    captured: CaptureBuffer,
    journal: Journal,
    /// Applied changes that the disk has not taken yet; none is ever dropped.
    changes: Vec<u8>,
    /// Whether it waits for the disk.
    waits: bool,
    /// Records that the disk was too slow for.
    pub lost_records: u64,
    /// Why the writer ended early, until that is reported.
    failure: Option<String>,
    failed: Result<()>,
}

/// Entries that gather, if the run keeps a journal.
struct Journal {
    kept: bool,
    bytes: Vec<u8>,
    entries: usize,
}

impl Recorder {
    /// Opens the files in `directory` and starts the writer.
    pub fn start(plan: &Plan, directory: &Path, storage: &'static dyn Storage) -> Result<Self> {
        let mut files = Files::open(plan, directory, storage)?;
        let (channel, batches) = sync_channel(BATCHES);
        let cpus = realtime::allowed_cpus();
        let writer = std::thread::Builder::new()
            .name("recorder".into())
            .spawn(move || {
                realtime::relax(&cpus);
                files.write_all(&batches)
            })
            .map_err(|error| Error::wrap("start the recorder", error))?;
        Ok(Recorder {
            channel: Some(channel),
            writer: Some(writer),
            packets: Vec::with_capacity(PACKET_ROWS),
            begun: Vec::new(),
            captured: CaptureBuffer::default(),
            journal: Journal { kept: plan.measure.journal, bytes: Vec::new(), entries: 0 },
            changes: Vec::new(),
            waits: false,
            lost_records: 0,
            failure: None,
            failed: Ok(()),
        })
    }

    /// The same, but it waits for the disk rather than lose anything: for a clock that can wait.
    pub fn without_loss(self) -> Self {
        Recorder { waits: true, ..self }
    }

    /// Hands over the counters of one instant.
    pub fn samples(&mut self, rows: Vec<SampleRow>) {
        let count = rows.len();
        self.send(Batch::Samples(rows), count);
    }

    /// Hands over how late packets were so far.
    pub fn lateness(&mut self, rows: Vec<LatenessRow>) {
        let count = rows.len();
        self.send(Batch::Lateness(rows), count);
    }

    /// Hands over what monitored links did in bins of time.
    pub fn bins(&mut self, bins: Bins) {
        let count = bins.directions.len() + bins.flows.len();
        if count > 0 {
            self.send(Batch::Bins(bins), count);
        }
    }

    /// Hands over the state of simulated flows at one instant.
    pub fn flows(&mut self, rows: Vec<FlowRow>) {
        let count = rows.len();
        self.send(Batch::Flows(rows), count);
    }

    /// Hands over the fates of simulated echo requests.
    pub fn pings(&mut self, rows: Vec<PingRow>) {
        let count = rows.len();
        self.send(Batch::Pings(rows), count);
    }

    /// Writes the results of simulated transfers.
    pub fn requests(&mut self, rows: Vec<RequestRow>) {
        let count = rows.len();
        self.send(Batch::Requests(rows), count);
    }

    /// Records changes that were applied at one instant; a reader of the growing file sees all of them or none.
    pub fn changes(&mut self, rows: &[Value]) {
        for row in rows {
            self.changes.extend_from_slice(row.to_string().as_bytes());
            self.changes.push(b'\n');
        }
        self.hand_over_changes();
    }

    /// Hands over what flows of real packets have done so far.
    pub fn flow_samples(&mut self, rows: Vec<FlowSampleRow>) {
        let count = rows.len();
        if count > 0 {
            self.send(Batch::FlowSamples(rows), count);
        }
    }

    /// Hands over what flows of real packets did in all.
    pub fn flow_counts(&mut self, rows: Vec<FlowCountRow>) {
        let count = rows.len();
        self.send(Batch::FlowCounts(rows), count);
    }

    /// Records a packet's passage.
    pub fn packet(&mut self, row: PacketRow) {
        self.packets.push(row);
        if self.packets.len() == PACKET_ROWS {
            self.hand_over();
        }
    }

    /// A link is captured from now on, in files of its own.
    pub fn begin_capture(&mut self, captured: CapturedLink) {
        self.begun.push(captured);
    }

    /// Hands over what was captured, for readers who wait for the end of a capture.
    pub fn end_capture(&mut self) {
        self.hand_over();
        self.send(Batch::FlushCaptures, 0);
    }

    /// Captures a packet of `length` bytes at one end of a link: `interface` 0 if it goes onto the link there, 1
    /// if it leaves it there.
    pub fn capture(&mut self, point: CapturePoint, interface: u32, unix_ns: u64, length: u32, bytes: &[u8]) {
        self.captured.bytes.extend_from_slice(bytes);
        let kept = bytes.len() as u32;
        self.captured.packets.push(CapturedPacket { point, interface, unix_ns, length, kept });
        if self.captured.bytes.len() >= CAPTURE_BYTES {
            self.hand_over();
        }
    }

    /// Notes what went into the network or came out, if the run keeps a journal.
    pub fn note(&mut self, entry: impl FnOnce() -> Entry) {
        if self.journal.kept {
            entry().encode(&mut self.journal.bytes);
            self.journal.entries += 1;
            if self.journal.bytes.len() >= JOURNAL_BYTES {
                self.hand_over();
            }
        }
    }

    fn hand_over_changes(&mut self) {
        let Some(channel) = self.channel.as_ref().filter(|_| !self.changes.is_empty()) else { return };
        if let Err(TrySendError::Full(Batch::Changes(kept))) =
            channel.try_send(Batch::Changes(std::mem::take(&mut self.changes)))
        {
            self.changes = kept;
        }
    }

    /// Hands over what has gathered.
    pub fn hand_over(&mut self) {
        self.hand_over_changes();
        if !self.packets.is_empty() {
            let rows = std::mem::replace(&mut self.packets, Vec::with_capacity(PACKET_ROWS));
            let count = rows.len();
            self.send(Batch::Packets(rows), count);
        }
        while let Some(begun) = self.begun.pop() {
            let sent = self.channel.as_ref().map(|channel| channel.try_send(Batch::Capture(begun)));
            if let Some(Err(TrySendError::Full(Batch::Capture(begun)))) = sent {
                // Its packets must not reach the writer before it.
                self.begun.push(begun);
                self.lost_records += std::mem::take(&mut self.captured).packets.len() as u64;
                break;
            }
        }
        if !self.captured.packets.is_empty() {
            let captured = std::mem::take(&mut self.captured);
            let count = captured.packets.len();
            self.send(Batch::CaptureBuffer(captured), count);
        }
        if self.journal.entries > 0 {
            let bytes = std::mem::replace(&mut self.journal.bytes, Vec::with_capacity(JOURNAL_BYTES + 256));
            let count = std::mem::take(&mut self.journal.entries);
            self.send(Batch::Journal(bytes), count);
        }
    }

    fn send(&mut self, batch: Batch, records: usize) {
        let sent = self.channel.as_ref().map(|channel| match channel.try_send(batch) {
            Err(TrySendError::Full(batch)) if self.waits => {
                channel.send(batch).map_err(|failed| TrySendError::Disconnected(failed.0))
            }
            other => other,
        });
        if !matches!(sent, Some(Ok(()))) {
            self.lost_records += records as u64;
        }
        if let Some(Err(TrySendError::Disconnected(_))) = sent {
            self.failed = self.join();
            self.failure = self.failed.as_ref().err().map(ToString::to_string);
        }
    }

    /// Why nothing is written any more, reported once.
    pub fn take_failure(&mut self) -> Option<String> {
        self.failure.take()
    }

    /// Waits until everything is on disk.
    pub fn finish(&mut self) -> Result<()> {
        self.hand_over();
        if let Some(channel) = self.channel.take()
            && !self.changes.is_empty()
        {
            // The run is over, and there is time to wait for the disk.
            let _ = channel.send(Batch::Changes(std::mem::take(&mut self.changes)));
        }
        let joined = self.join();
        std::mem::replace(&mut self.failed, Ok(())).and(joined)
    }

    fn join(&mut self) -> Result<()> {
        self.channel = None;
        match self.writer.take().map(JoinHandle::join) {
            Some(Ok(Err(error))) => Err(Error::wrap("write records", error)),
            Some(Err(_)) => Err(Error::new("the recorder stopped early")),
            _ => Ok(()),
        }
    }
}

/// The directory of records, and the storage that creates files in it.
struct RecordFiles<'a> {
    directory: &'a Path,
    storage: &'a dyn Storage,
}

impl RecordFiles<'_> {
    fn file(&self, name: &str) -> Result<Appender> {
        let path = self.directory.join(name);
        Appender::create(self.storage, &path).map_err(|error| self.failed(name, error))
    }

    fn table(&self, name: &str, columns: &[impl AsRef<str>]) -> Result<Table<Appender>> {
        Table::new(self.file(name)?, columns).map_err(|error| self.failed(name, error))
    }

    fn failed(&self, name: &str, error: io::Error) -> Error {
        Error::wrap(format!("write {}", self.directory.join(name).display()), error)
    }
}

struct Files {
    directory: PathBuf,
    storage: &'static dyn Storage,
    names: Vec<String>,
    samples: Table<Appender>,
    packets: Table<Appender>,
    lateness: Table<Appender>,
    changes: Appender,
    captures: CaptureFiles,
    real_flows: RealFlowFiles,
    journal: Option<BufWriter<Appender>>,
    simulated: Option<SimulatedFiles>,
    monitor: Option<MonitorFiles>,
}

impl Files {
    fn open(plan: &Plan, directory: &Path, storage: &'static dyn Storage) -> Result<Self> {
        let create = RecordFiles { directory, storage };
        let mut captures = CaptureFiles::default();
        for &link in &plan.measure.captures {
            captures.open(&CapturedLink::new(plan, link, plan.measure.snaplen), &create)?;
        }
        let journal = if plan.measure.journal {
            let path = "raw/journal.bin";
            let mut file = BufWriter::new(create.file(path)?);
            file.write_all(&JOURNAL_MAGIC).map_err(|error| create.failed(path, error))?;
            Some(file)
        } else {
            None
        };
        Ok(Files {
            directory: directory.into(),
            storage,
            names: plan.links.iter().map(|link| link.name.clone()).collect(),
            samples: create.table("raw/samples.csv", &SAMPLE_COLUMNS)?,
            packets: create.table("raw/packets.csv", &PACKET_COLUMNS)?,
            lateness: create.table("raw/lateness.csv", &lateness_columns())?,
            changes: create.file("raw/changes.jsonl")?,
            captures,
            journal,
            real_flows: RealFlowFiles::open(&create)?,
            simulated: SimulatedFiles::open(plan, &create)?,
            monitor: MonitorFiles::open(plan, &create)?,
        })
    }

    fn write_all(&mut self, batches: &Receiver<Batch>) -> io::Result<()> {
        let mut flushed = Instant::now();
        loop {
            match batches.recv_timeout(FLUSH_EVERY.saturating_sub(flushed.elapsed())) {
                Ok(batch) => self.write(batch)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return self.flush(),
            }
            if flushed.elapsed() >= FLUSH_EVERY {
                self.flush()?;
                flushed = Instant::now();
            }
        }
    }

    fn write(&mut self, batch: Batch) -> io::Result<()> {
        match batch {
            Batch::Samples(rows) => {
                for row in rows {
                    row.write(&self.names[row.link as usize], &mut self.samples)?;
                }
                // Whoever watches the run reads along.
                self.samples.flush()
            }
            Batch::Lateness(rows) => {
                for row in rows {
                    row.write(&self.names[row.link as usize], &mut self.lateness)?;
                }
                self.lateness.flush()
            }
            Batch::Bins(bins) => {
                self.monitor.iter_mut().try_for_each(|files| files.write(&bins, &self.names))
            }
            Batch::Packets(rows) => {
                rows.iter().try_for_each(|row| row.write(&self.names[row.link as usize], &mut self.packets))
            }
            Batch::Capture(captured) => {
                let create = RecordFiles { directory: &self.directory, storage: self.storage };
                self.captures.open(&captured, &create).map_err(io::Error::other)?;
                self.captures.flush()
            }
            Batch::CaptureBuffer(captured) => self.captures.write(&captured),
            Batch::FlushCaptures => self.captures.flush(),
            Batch::Journal(bytes) => self.journal.iter_mut().try_for_each(|file| file.write_all(&bytes)),
            Batch::Flows(rows) => self.simulated.iter_mut().try_for_each(|files| files.write_flows(&rows)),
            Batch::Pings(rows) => self.simulated.iter_mut().try_for_each(|files| files.write_pings(&rows)),
            Batch::Changes(lines) => self.changes.write_all(&lines),
            Batch::Requests(rows) => {
                self.simulated.iter_mut().try_for_each(|files| files.write_requests(&rows))
            }
            Batch::FlowCounts(rows) => self.real_flows.write_counts(&rows),
            Batch::FlowSamples(rows) => self.real_flows.write_samples(&rows),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.packets.flush()?;
        self.real_flows.flush()?;
        self.journal.iter_mut().try_for_each(Write::flush)?;
        self.simulated.iter_mut().try_for_each(SimulatedFiles::flush)?;
        self.monitor.iter_mut().try_for_each(MonitorFiles::flush)?;
        self.captures.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use longhaul_storage::faults::{Fault, Faulty, folder};

    #[test]
    fn a_table_that_cannot_be_written_is_named() {
        let directory = folder("a_table_that_cannot_be_written");
        for at in 0..2 {
            let storage = Faulty::new(at, Fault::Error);
            let create = RecordFiles { directory: &directory, storage: &storage };
            let error = create.table(&format!("{at}.csv"), &["a"]).err().unwrap();
            let expected = format!("cannot write {}/{at}.csv: ", directory.display());
            assert!(error.message().starts_with(&expected), "{error}");
        }
    }
}
