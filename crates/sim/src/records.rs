use longhaul_network::Bins;
use longhaul_plan::Plan;
use longhaul_record::{
    BINS_HEADER, ECHOES_HEADER, EchoRow, FLOW_BINS_HEADER, FLOWS_HEADER, FlowRow, PACKETS_HEADER, PacketRow,
    REQUESTS_HEADER, RequestRow, SAMPLES_HEADER, SEGMENTS_HEADER, SampleRow, SegmentRow,
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

struct Outputs {
    samples: Box<dyn Write + Send + Sync>,
    packets: Box<dyn Write + Send + Sync>,
    /// What packets carried, of links whose every packet is recorded, if there are any.
    segments: Option<Box<dyn Write + Send + Sync>>,
    flows: Box<dyn Write + Send + Sync>,
    echoes: Box<dyn Write + Send + Sync>,
    requests: Box<dyn Write + Send + Sync>,
    /// One JSON object a line.
    changes: Box<dyn Write + Send + Sync>,
    /// Of monitored links and their flows, if there are any.
    bins: Option<[Box<dyn Write + Send + Sync>; 2]>,
}

impl Records {
    /// Keeps nothing.
    pub fn none() -> Self {
        Records { links: Vec::new(), flows: Vec::new(), outputs: None, passed: Vec::new(), failure: None }
    }

    /// Writes to files that `open` makes, by name (`samples.csv`, ...), for the links and flows of `plan`.
    pub fn new(
        plan: &Plan,
        mut open: impl FnMut(&str) -> io::Result<Box<dyn Write + Send + Sync>>,
    ) -> io::Result<Self> {
        let mut with_header = |name: &str, header: &str| {
            let mut out = open(name)?;
            out.write_all(header.as_bytes())?;
            Ok::<_, io::Error>(out)
        };
        let outputs = Outputs {
            samples: with_header("samples.csv", SAMPLES_HEADER)?,
            packets: with_header("packets.csv", PACKETS_HEADER)?,
            segments: match plan.measure.captures.is_empty() {
                false => Some(with_header("segments.csv", SEGMENTS_HEADER)?),
                true => None,
            },
            flows: with_header("flows.csv", FLOWS_HEADER)?,
            echoes: with_header("echoes.csv", ECHOES_HEADER)?,
            requests: with_header("requests.csv", REQUESTS_HEADER)?,
            changes: with_header("changes.jsonl", "")?,
            bins: match plan.measure.monitor {
                Some(_) => Some([
                    with_header("monitor.csv", BINS_HEADER)?,
                    with_header("monitor_flows.csv", FLOW_BINS_HEADER)?,
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
        let written = writeln!(outputs.changes, "{row}");
        keep(failure, written.and_then(|()| outputs.changes.flush()));
    }

    /// Writes out what is buffered. The error is the first there was.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let Some(outputs) = &mut self.outputs else { return Ok(()) };
        let Outputs { samples, packets, segments, flows, echoes, requests, changes, bins } = outputs;
        let some = segments.iter_mut().chain(bins.iter_mut().flatten());
        let mut all = [samples, packets, flows, echoes, requests, changes].into_iter().chain(some);
        all.try_for_each(|out| out.flush())
    }
}

fn keep(failure: &mut Option<io::Error>, result: io::Result<()>) {
    if let Err(error) = result {
        failure.get_or_insert(error);
    }
}
