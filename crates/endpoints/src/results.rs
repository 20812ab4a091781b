//! What endpoints say of themselves.

use crate::agent::Agent;
use crate::endpoints::{Endpoints, Pair};
use crate::jobs::Job;
use crate::stream::TcpEndpoint;
use longhaul_record::{Distribution, FlowRow, RequestRow};
use longhaul_transport::Info;
use longhaul_units::Time;
use serde_json::{Map, Value, json};

/// How far a bulk transfer has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferProgress {
    /// The flow, by position in the plan.
    pub flow: u32,
    /// Payload that has arrived in order, in bytes.
    pub received: u64,
    /// When all had arrived.
    pub arrived: Option<Time>,
    /// A connection gave up.
    pub failed: bool,
}

impl Endpoints {
    /// The state of every stream at `now`.
    pub fn samples(&self, now: Time) -> impl Iterator<Item = FlowRow> {
        self.pairs.iter().filter_map(move |pair| self.flow_row(pair, now))
    }

    fn flow_row(&self, pair: &Pair, now: Time) -> Option<FlowRow> {
        let sent = self.sender_row(pair, now)?;
        Some(FlowRow { received_bytes: self.receiver_bytes(pair)?, ..sent })
    }

    /// What the sender of a stream knows of it; `None` if it is in another shard, or not open yet.
    pub(crate) fn sender_row(&self, pair: &Pair, now: Time) -> Option<FlowRow> {
        let blank = pair.blank_row(now);
        match &self.agents[pair.sender as usize] {
            Agent::Stream(sender) if sender.is_open() => {
                let info = sender.info()?;
                Some(FlowRow {
                    sent_bytes: info.bytes_sent,
                    window_segments: Some(info.window),
                    threshold_segments: Some(info.threshold).filter(|threshold| threshold.is_finite()),
                    rtt_ns: Some(info.srtt.ns()).filter(|&rtt| rtt > 0),
                    retransmits: info.retransmits,
                    in_flight: info.in_flight,
                    ..blank
                })
            }
            Agent::DatagramSource(sender) => Some(FlowRow { sent_bytes: sender.sent_bytes, ..blank }),
            Agent::PacketSource(sender) => Some(FlowRow { sent_bytes: sender.sent_bytes, ..blank }),
            _ => None,
        }
    }

    /// The bytes that have come to the receiver of a stream; `None` if it is in another shard.
    pub(crate) fn receiver_bytes(&self, pair: &Pair) -> Option<u64> {
        match &self.agents[pair.receiver as usize] {
            Agent::Stream(receiver) => Some(self.received_bytes(pair, receiver)),
            Agent::DatagramSink(receiver) => Some(receiver.stats.received_bytes),
            _ => None,
        }
    }

    /// One result for each stream, or one for all transfers of a flow of requests, as of `now`; and a
    /// record of each of those. Of a stream whose ends are in two shards, each has a result with what its own end knows; transfers have
    /// one where their sender is.
    pub fn flows(&self, now: Time) -> (Vec<Value>, Vec<RequestRow>) {
        let (mut results, mut records) = (Vec::new(), Vec::new());
        for of_flow in self.pairs.chunk_by(|a, b| a.flow == b.flow) {
            let Some(first) = of_flow.first() else { continue };
            if !self.flows[first.flow as usize].is_requests {
                results.extend(of_flow.iter().filter_map(|pair| self.stream_result(pair, now)));
            } else if !matches!(self.agents[first.sender as usize], Agent::Remote) {
                results.push(self.requests(of_flow, now, &mut records));
            }
        }
        (results, records)
    }

    /// How far the bulk transfers over TCP have come, by flow; several streams count together.
    pub fn bulk_progress(&self) -> Vec<TransferProgress> {
        let mut found = Vec::new();
        for of_flow in self.pairs.chunk_by(|a, b| a.flow == b.flow) {
            let Some(first) = of_flow.first() else { continue };
            let mut ends = Vec::new();
            let mut progress =
                TransferProgress { flow: first.flow, received: 0, arrived: None, failed: false };
            for pair in of_flow {
                if let (Agent::Stream(sender), Agent::Stream(receiver)) =
                    (&self.agents[pair.sender as usize], &self.agents[pair.receiver as usize])
                {
                    progress.received += self.received_bytes(pair, receiver);
                    progress.failed |= sender.has_failed() || receiver.has_failed();
                    ends.push(self.arrived(receiver));
                }
            }
            progress.arrived =
                ends.into_iter().collect::<Option<Vec<Time>>>().and_then(|all| all.into_iter().max());
            found.push(progress);
        }
        found
    }

    /// What became of every job.
    pub fn jobs(&self) -> Vec<Value> {
        self.jobs.iter().map(Job::result).collect()
    }

    /// Payload that has arrived over a stream, in bytes; what came over several subflows counts where it came first.
    fn received_bytes(&self, pair: &Pair, receiver: &TcpEndpoint) -> u64 {
        match receiver.mptcp() {
            Some(number) => self.mptcp_connections[number as usize].first_bytes(pair.receiver),
            None => receiver.received(),
        }
    }

    /// When all payload of a stream, or of the connection that it is a subflow of, had arrived.
    fn arrived(&self, receiver: &TcpEndpoint) -> Option<Time> {
        match receiver.mptcp() {
            Some(number) => self.mptcp_connections[number as usize].arrived(),
            None => receiver.ended(),
        }
    }

    /// What is known of a stream at `now`; `None` if neither end is here that knows something.
    fn stream_result(&self, pair: &Pair, now: Time) -> Option<Value> {
        let (sender, receiver) = (self.sender_fields(pair), self.receiver_fields(pair));
        if sender.is_none() && receiver.is_none() {
            return None;
        }
        let flow = &self.flows[pair.flow as usize];
        let end = pair.done.unwrap_or(now).min(flow.stop);
        let span_s = end.since(flow.start).as_secs_f64();
        let head = json!({
            "name": *flow.name,
            "stream": pair.stream,
            "span_s": span_s,
            "done_ns": pair.done.map(Time::ns),
        });
        let every = [Some(head), sender, receiver].into_iter().flatten();
        let mut result: Map<String, Value> = every.filter_map(into_fields).flatten().collect();
        let bytes = result.get("bytes").and_then(Value::as_u64);
        let goodput = bytes.filter(|_| span_s > 0.0).map(|bytes| bytes as f64 * 8.0 / span_s);
        result.insert("goodput_bits_per_s".into(), json!(goodput));
        Some(Value::Object(result))
    }

    /// What the sender of a stream knows of it, if it is here.
    fn sender_fields(&self, pair: &Pair) -> Option<Value> {
        Some(match &self.agents[pair.sender as usize] {
            Agent::Stream(sender) => {
                let mut fields = sender.info().map_or_else(|| json!({}), |info| connection_fields(&info));
                fields["began_ns"] = json!(sender.begun().map(Time::ns));
                fields["rtt"] = json!(Distribution::from(sender.round_trips()).summary());
                fields
            }
            Agent::DatagramSource(sender) => json!({"bytes_sent": sender.sent_bytes, "sent": sender.sent}),
            Agent::PacketSource(sender) => json!({"bytes_sent": sender.sent_bytes, "sent": sender.sent}),
            Agent::Ping(sender) => json!({"bytes": 0, "sent": sender.sent, "received": sender.received}),
            _ => return None,
        })
    }

    /// The same of its receiver.
    fn receiver_fields(&self, pair: &Pair) -> Option<Value> {
        let bytes = self.receiver_bytes(pair)?;
        Some(match &self.agents[pair.receiver as usize] {
            Agent::Stream(receiver) => {
                json!({"bytes": bytes, "arrived_ns": self.arrived(receiver).map(Time::ns)})
            }
            Agent::DatagramSink(receiver) => json!({
                "bytes": bytes,
                "received": receiver.stats.received,
                "copies": receiver.stats.copies,
                "reordered": receiver.stats.reordered,
                "delay": receiver.stats.delay.summary(),
            }),
            _ => return None,
        })
    }

    /// All transfers of a flow together, and a record of each.
    fn requests(&self, pairs: &[Pair], now: Time, records: &mut Vec<RequestRow>) -> Value {
        let (mut times, mut bytes, mut begun, mut failed) = (Distribution::new(), 0, 0u64, 0u64);
        let (mut segments_sent, mut bytes_sent, mut retransmits) = (0, 0, 0);
        let mut last = Some(Time::ZERO);
        let flow = pairs.first().map_or(0, |pair| pair.flow);
        for pair in pairs {
            let Agent::Stream(sender) = &self.agents[pair.sender as usize] else { continue };
            let (Some(plan), Some(info)) = (sender.plan(), sender.info()) else {
                last = None;
                continue;
            };
            begun += 1;
            bytes += info.bytes_acknowledged;
            segments_sent += info.segments_sent;
            bytes_sent += info.bytes_sent;
            retransmits += info.retransmits;
            let closed = info.state == longhaul_transport::State::Closed;
            failed += u64::from(info.state == longhaul_transport::State::Failed);
            let done = pair.done.filter(|_| closed);
            last = last.zip(done).map(|(last, done)| last.max(done));
            let took = done.map(|done| done.since(plan.start).ns());
            if let Some(ns) = took {
                times.add(ns, 1);
            }
            records.push(RequestRow {
                flow,
                number: pair.stream,
                start_ns: plan.start.ns(),
                bytes: plan.bytes.unwrap_or(0),
                took_ns: took,
            });
        }
        let of = &self.flows[flow as usize];
        // A network that is left up outlives its traffic.
        let end = now.min(of.stop).min(self.end);
        let span_s = end.since(of.start).as_secs_f64();
        json!({
            "name": *of.name,
            "stream": 0,
            "span_s": span_s,
            "bytes": bytes,
            "goodput_bits_per_s": (span_s > 0.0).then(|| bytes as f64 * 8.0 / span_s),
            "segments_sent": segments_sent,
            "bytes_sent": bytes_sent,
            "retransmits": retransmits,
            "done_ns": last.map(Time::ns),
            "begun": begun,
            "done": times.count(),
            "failed": failed,
            "took": times.summary(),
        })
    }
}

fn connection_fields(info: &Info) -> Value {
    json!({
        "state": format!("{:?}", info.state).to_lowercase(),
        "segments_sent": info.segments_sent,
        "bytes_sent": info.bytes_sent,
        "retransmits": info.retransmits,
        "losses": info.losses,
        "timeouts": info.timeouts,
        "recoveries": info.recoveries,
        "undone": info.undone,
        "marks": info.marks,
        "dsacks": info.dsacks,
        "tail_probes": info.tail_probes,
        "reordering": info.reordering,
        "window_segments": info.window,
        "srtt_ns": info.srtt.ns(),
        "min_rtt_ns": info.min_rtt.ns(),
    })
}

fn into_fields(value: Value) -> Option<Map<String, Value>> {
    if let Value::Object(fields) = value { Some(fields) } else { None }
}
