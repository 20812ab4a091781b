use crate::captures::{Captured, Captures};
use longhaul_network::Bins;
use longhaul_plan::Plan;
use longhaul_record::{
    BIN_COLUMNS, FLOW_BIN_COLUMNS, FLOW_COLUMNS, FlowRow, PACKET_COLUMNS, PING_COLUMNS, PacketRow, PingRow,
    REQUEST_COLUMNS, RequestRow, SAMPLE_COLUMNS, SEGMENT_COLUMNS, SampleRow, SegmentRow, Table,
};
use longhaul_units::Time;
use serde_json::Value;
use std::io::{self, Write};

/// The files to which a simulation writes its records. After the first failure, it writes no more.
pub struct Records {
    links: Vec<String>,
    flows: Vec<String>,
    outputs: Option<Outputs>,
    captures: Captures,
    /// Not written yet.
    passed: Vec<Passed>,
    failure: Option<io::Error>,
}

/// A packet that has passed a link, or will have, and when; with what it carries, if that is recorded.
pub type Passed = (Time, PacketRow, Option<SegmentRow>);

/// The destination of a table.
pub type Output = Box<dyn Write + Send + Sync>;

struct Outputs {
    samples: Table<Output>,
    packets: Table<Output>,
    /// What packets carried, of links whose every packet is recorded, if there are any.
    segments: Option<Table<Output>>,
    flows: Table<Output>,
    pings: Table<Output>,
    requests: Table<Output>,
    /// One JSON object a line.
    changes: Output,
    /// Of monitored links and their flows, if there are any.
    bins: Option<[Table<Output>; 2]>,
}

impl Records {
    /// Records nothing.
    pub fn none() -> Self {
        Records {
            links: Vec::new(),
            flows: Vec::new(),
            outputs: None,
            captures: Captures::default(),
            passed: Vec::new(),
            failure: None,
        }
    }

    /// Writes to files that `open` makes, by name (`samples.csv`, `captures/LINK@NODE.pcapng`, ...), for the links and flows of
    /// `plan`.
    ///
    /// Tables are written in complete lines, many at a time.
    ///
    /// # Errors
    /// If a file cannot be created or written.
    pub fn new(plan: &Plan, mut open: impl FnMut(&str) -> io::Result<Output>) -> io::Result<Self> {
        let changes = open("changes.jsonl")?;
        let mut table = |name: &str, columns: &[&str]| Table::new(open(name)?, columns);
        let outputs = Outputs {
            samples: table("samples.csv", &SAMPLE_COLUMNS)?,
            packets: table("packets.csv", &PACKET_COLUMNS)?,
            segments: if plan.measure.captures.is_empty() {
                None
            } else {
                Some(table("segments.csv", &SEGMENT_COLUMNS)?)
            },
            flows: table("flows.csv", &FLOW_COLUMNS)?,
            pings: table("pings.csv", &PING_COLUMNS)?,
            requests: table("requests.csv", &REQUEST_COLUMNS)?,
            changes,
            bins: match plan.measure.monitor {
                Some(_) => Some([
                    table("monitor.csv", &BIN_COLUMNS)?,
                    table("monitor_flows.csv", &FLOW_BIN_COLUMNS)?,
                ]),
                None => None,
            },
        };
        Ok(Records {
            links: plan.links.iter().map(|link| link.name.clone()).collect(),
            flows: plan.flows.iter().map(|flow| flow.name.clone()).collect(),
            outputs: Some(outputs),
            captures: Captures::new(plan, open)?,
            passed: Vec::new(),
            failure: None,
        })
    }

    pub(crate) fn is_recording(&self) -> bool {
        self.outputs.is_some()
    }

    pub(crate) fn sample(&mut self, row: SampleRow) {
        let Records { outputs: Some(outputs), links, failure, .. } = self else { return };
        record_failure(failure, row.write(&links[row.link as usize], &mut outputs.samples));
    }

    /// Takes packets that are to be recorded.
    pub(crate) fn packets(&mut self, passed: &mut Vec<Passed>) {
        self.passed.append(passed);
    }

    /// Takes what captures are made of.
    pub(crate) fn captured(&mut self, captured: &mut Captured) {
        self.captures.take(captured);
    }

    /// The captures, to tell them the headers of packets.
    pub(crate) fn captures(&mut self) -> &mut Captures {
        &mut self.captures
    }

    /// Forgets packets that pass at `now` or later and will be reported again.
    pub(crate) fn forget_packets(&mut self, now: Time, are_repeated: impl Fn(&PacketRow) -> bool) {
        self.passed.retain(|(at, row, _)| *at < now || !are_repeated(row));
    }

    /// Writes packets that have passed before `now`, in an order that no scheduler decides.
    pub(crate) fn write_packets(&mut self, now: Time) {
        record_failure(&mut self.failure, self.captures.write(now));
        let Records { outputs: Some(outputs), links, failure, passed, .. } = self else { return };
        passed.sort_by_key(|(at, row, _)| (*at, row.link, row.reverse, row.offered_ns, row.bytes, row.fate));
        let count = passed.partition_point(|(at, ..)| *at < now);
        for (_, row, segment) in passed.drain(..count) {
            let link = &links[row.link as usize];
            record_failure(failure, row.write(link, &mut outputs.packets));
            if let (Some(segment), Some(out)) = (segment, &mut outputs.segments) {
                record_failure(failure, segment.write(link, out));
            }
        }
    }

    pub(crate) fn bins(&mut self, bins: &Bins) {
        let Records { outputs: Some(outputs), links, failure, .. } = self else { return };
        let Some([directions, flows]) = &mut outputs.bins else { return };
        for row in &bins.directions {
            record_failure(failure, row.write(&links[row.link as usize], directions));
        }
        for row in &bins.flows {
            record_failure(failure, row.write(&links[row.link as usize], flows));
        }
    }

    pub(crate) fn flow(&mut self, row: FlowRow) {
        let Records { outputs: Some(outputs), flows, failure, .. } = self else { return };
        record_failure(failure, row.write(&flows[row.flow as usize], &mut outputs.flows));
    }

    pub(crate) fn ping(&mut self, row: PingRow) {
        let Records { outputs: Some(outputs), flows, failure, .. } = self else { return };
        record_failure(failure, row.write(&flows[row.flow as usize], &mut outputs.pings));
    }

    pub(crate) fn request(&mut self, row: RequestRow) {
        let Records { outputs: Some(outputs), flows, failure, .. } = self else { return };
        record_failure(failure, row.write(&flows[row.flow as usize], &mut outputs.requests));
    }

    /// A change was applied; it is on disk when this returns.
    pub(crate) fn change(&mut self, row: &Value) {
        let Records { outputs: Some(outputs), failure, .. } = self else { return };
        // At once, or a full disk would leave half of a line.
        record_failure(failure, outputs.changes.write_all(format!("{row}\n").as_bytes()));
    }

    /// Writes what is buffered; more may come. The error is the first that there was.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        self.captures.flush()?;
        let Some(outputs) = &mut self.outputs else { return Ok(()) };
        let Outputs { samples, packets, segments, flows, pings, requests, changes, bins } = outputs;
        let some = segments.iter_mut().chain(bins.iter_mut().flatten());
        let mut all = [samples, packets, flows, pings, requests].into_iter().chain(some);
        all.try_for_each(Table::flush)?;
        changes.flush()
    }
}

fn record_failure(failure: &mut Option<io::Error>, result: io::Result<()>) {
    if let Err(error) = result {
        failure.get_or_insert(error);
    }
}
