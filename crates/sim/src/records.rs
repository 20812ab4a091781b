use longhaul_network::Bins;
use longhaul_plan::Plan;
use longhaul_record::{
    BIN_COLUMNS, ECHO_COLUMNS, EchoRow, FLOW_BIN_COLUMNS, FLOW_COLUMNS, FlowRow, PACKET_COLUMNS, PacketRow,
    REQUEST_COLUMNS, RequestRow, SAMPLE_COLUMNS, SEGMENT_COLUMNS, SampleRow, SegmentRow, Table,
};
use longhaul_units::Time;
use serde_json::Value;
use std::io::{self, Write};

/// Where a simulation writes what it records. The first failure is kept and ends the writing.
pub struct Records {
    links: Vec<String>,
    flows: Vec<String>,
    outputs: Option<Outputs>,
    /// Packets that have passed a link, or will have, and when; not written yet.
    passed: Vec<(Time, PacketRow, Option<SegmentRow>)>,
    failure: Option<io::Error>,
}

/// What a table is written to.
pub type Output = Box<dyn Write + Send + Sync>;

struct Outputs {
    samples: Table<Output>,
    packets: Table<Output>,
    /// What packets carried, of links whose every packet is recorded, if there are any.
    segments: Option<Table<Output>>,
    flows: Table<Output>,
    echoes: Table<Output>,
    requests: Table<Output>,
    /// One JSON object a line.
    changes: Output,
    /// Of monitored links and their flows, if there are any.
    bins: Option<[Table<Output>; 2]>,
}

impl Records {
    /// Keeps nothing.
    pub fn none() -> Self {
        Records { links: Vec::new(), flows: Vec::new(), outputs: None, passed: Vec::new(), failure: None }
    }

    /// Writes to files that `open` makes, by name (`samples.csv`, ...), for the links and flows of `plan`.
    ///
    /// Tables are handed over in complete lines, many at a time.
    pub fn new(plan: &Plan, mut open: impl FnMut(&str) -> io::Result<Output>) -> io::Result<Self> {
        let changes = open("changes.jsonl")?;
        let mut table = |name: &str, columns: &[&str]| Table::new(open(name)?, columns);
        let outputs = Outputs {
            samples: table("samples.csv", &SAMPLE_COLUMNS)?,
            packets: table("packets.csv", &PACKET_COLUMNS)?,
            segments: match plan.measure.captures.is_empty() {
                false => Some(table("segments.csv", &SEGMENT_COLUMNS)?),
                true => None,
            },
            flows: table("flows.csv", &FLOW_COLUMNS)?,
            echoes: table("echoes.csv", &ECHO_COLUMNS)?,
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
            passed: Vec::new(),
            failure: None,
        })
    }

    pub(crate) fn are_kept(&self) -> bool {
        self.outputs.is_some()
    }

    pub(crate) fn sample(&mut self, row: SampleRow) {
        let Records { outputs: Some(outputs), links, failure, .. } = self else { return };
        keep(failure, row.write(&links[row.link as usize], &mut outputs.samples));
    }

    /// A packet passes a link by `at`, or ends there; with what it carries, if that is recorded.
    pub(crate) fn packet(&mut self, at: Time, row: PacketRow, segment: Option<SegmentRow>) {
        if self.are_kept() {
            self.passed.push((at, row, segment));
        }
    }

    /// Forgets packets that pass at `now` or later: they will be told of again.
    pub(crate) fn forget_packets(&mut self, now: Time) {
        self.passed.retain(|(at, ..)| *at < now);
    }

    /// Writes packets that have passed before `now`, in an order that no scheduler decides.
    pub(crate) fn write_packets(&mut self, now: Time) {
        let Records { outputs: Some(outputs), links, failure, passed, .. } = self else { return };
        passed.sort_by_key(|(at, row, _)| (*at, row.link, row.reverse, row.offered_ns, row.bytes, row.fate));
        let count = passed.partition_point(|(at, ..)| *at < now);
        for (_, row, segment) in passed.drain(..count) {
            let link = &links[row.link as usize];
            keep(failure, row.write(link, &mut outputs.packets));
            if let (Some(segment), Some(out)) = (segment, &mut outputs.segments) {
                keep(failure, segment.write(link, out));
            }
        }
    }

    pub(crate) fn bins(&mut self, bins: &Bins) {
        let Records { outputs: Some(outputs), links, failure, .. } = self else { return };
        let Some([directions, flows]) = &mut outputs.bins else { return };
        for row in &bins.directions {
            keep(failure, row.write(&links[row.link as usize], directions));
        }
        for row in &bins.flows {
            keep(failure, row.write(&links[row.link as usize], flows));
        }
    }

    pub(crate) fn flow(&mut self, row: FlowRow) {
        let Records { outputs: Some(outputs), flows, failure, .. } = self else { return };
        keep(failure, row.write(&flows[row.flow as usize], &mut outputs.flows));
    }

    pub(crate) fn echo(&mut self, row: EchoRow) {
        let Records { outputs: Some(outputs), flows, failure, .. } = self else { return };
        keep(failure, row.write(&flows[row.flow as usize], &mut outputs.echoes));
    }

    pub(crate) fn request(&mut self, row: RequestRow) {
        let Records { outputs: Some(outputs), flows, failure, .. } = self else { return };
        keep(failure, row.write(&flows[row.flow as usize], &mut outputs.requests));
    }

    /// A change was applied; it is on disk when this returns.
    pub(crate) fn change(&mut self, row: &Value) {
        let Records { outputs: Some(outputs), failure, .. } = self else { return };
        // At once, or a full disk would leave half of a line.
        keep(failure, outputs.changes.write_all(format!("{row}\n").as_bytes()));
    }

    /// Writes what is buffered; more may come. The error is the first that there was.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let Some(outputs) = &mut self.outputs else { return Ok(()) };
        let Outputs { samples, packets, segments, flows, echoes, requests, changes, bins } = outputs;
        let some = segments.iter_mut().chain(bins.iter_mut().flatten());
        let mut all = [samples, packets, flows, echoes, requests].into_iter().chain(some);
        all.try_for_each(Table::flush)?;
        changes.flush()
    }
}

fn keep(failure: &mut Option<io::Error>, result: io::Result<()>) {
    if let Err(error) = result {
        failure.get_or_insert(error);
    }
}
