//! Simulated flows whose ends are on several engine threads: the first thread brings both ends together.

use longhaul_endpoints::{ClosedEnds, EndSamples, Endpoints};
use longhaul_plan::Plan;
use longhaul_record::{FlowRow, RequestRow};
use longhaul_units::Time;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

/// How long the first thread waits for the others at the end of the run.
const LAST_WAIT: Duration = Duration::from_secs(10);
/// The number of the last samples.
const LAST: u64 = u64::MAX;

/// Where those ends of simulated flows are that an engine does not have.
#[derive(Default)]
pub enum OtherEnds {
    /// It has all.
    #[default]
    None,
    /// On other threads of the process.
    OnThreads(Box<JointFlows>),
    /// On other machines: records have what each machine knows, and are joined when they are merged.
    OnMachines,
}

/// What a thread tells the first one.
enum Report {
    Samples(u64, EndSamples),
    Ended(u32, Box<Endpoints>),
}

/// A thread's share in the joint results.
pub struct JointFlows {
    pub closed: Arc<ClosedEnds>,
    own: u32,
    role: Role,
    /// Whether the next samples are the last.
    ends: bool,
}

enum Role {
    First(Box<First>),
    Other(Sender<Report>),
}

struct First {
    /// Where the ends of all threads come together.
    whole: Endpoints,
    partition: Vec<u32>,
    reports: Receiver<Report>,
    /// Samples by their number, until those of all threads are there; with this thread's time of them.
    samples: BTreeMap<u64, (Option<Time>, Vec<EndSamples>)>,
    /// The ends of the other threads, once these have ended.
    ended: BTreeMap<u32, Endpoints>,
    count: usize,
}

impl JointFlows {
    /// For `count` threads, of which each has the nodes that `partition` says: with its ends of `whole`.
    pub fn between(mut whole: Endpoints, partition: &[u32], count: u32) -> Vec<(Endpoints, Self)> {
        let closed = Arc::new(whole.closed_ends());
        let parts = whole.split(partition, count, partition.len());
        let (sender, reports) = mpsc::channel();
        let mut first = Some(Box::new(First {
            whole,
            partition: partition.to_vec(),
            reports,
            samples: BTreeMap::new(),
            ended: BTreeMap::new(),
            count: count as usize,
        }));
        let joint = |(own, part)| {
            let role = first.take().map_or_else(|| Role::Other(sender.clone()), Role::First);
            (part, JointFlows { closed: Arc::clone(&closed), own, role, ends: false })
        };
        (0..).zip(parts).map(joint).collect()
    }

    /// What the ends of this thread know at `now`. Returns rows to record: in the first thread, those of the latest samples that all
    /// threads have taken. Samples of one `number` belong together.
    pub fn sample(&mut self, number: u64, now: Time, samples: EndSamples) -> Vec<FlowRow> {
        let number = if self.ends { LAST } else { number };
        match &mut self.role {
            Role::Other(first) => {
                // It may have ended.
                let _ = first.send(Report::Samples(number, samples));
                Vec::new()
            }
            Role::First(first) => {
                let (at, of_number) = first.samples.entry(number).or_default();
                *at = Some(now);
                of_number.push(samples);
                while let Ok(report) = first.reports.try_recv() {
                    first.take(report);
                }
                first.rows()
            }
        }
    }

    /// The next samples are the last.
    pub fn end_samples(&mut self) {
        self.ends = true;
    }

    /// In the first thread, the last samples, the results of all flows at `now` and a record of each transfer, once all others have
    /// ended; `None` in the others, and if one has not ended.
    pub fn results(&mut self, own: &mut Endpoints, now: Time) -> Option<Results> {
        let Role::First(first) = &mut self.role else { return None };
        let deadline = Instant::now() + LAST_WAIT;
        while first.ended.len() + 1 < first.count {
            let report =
                first.reports.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok()?;
            first.take(report);
        }
        let samples = first.rows();
        let mut parts = std::mem::take(&mut first.ended);
        let mut shards: Vec<&mut Endpoints> = std::iter::once(own).chain(parts.values_mut()).collect();
        first.whole.swap_agents(&mut shards, &first.partition);
        let (flows, requests) = first.whole.flows(now);
        Some(Results { samples, flows, requests })
    }

    /// The ends of this thread, whose run has ended.
    pub fn end(self, endpoints: Endpoints) {
        if let Role::Other(first) = self.role {
            let _ = first.send(Report::Ended(self.own, Box::new(endpoints)));
        }
    }

    /// In the first thread, after [`results`](Self::results): whose each packet is, by what it carries as its flow.
    pub fn names(&self, plan: &Plan) -> Vec<(u32, String)> {
        match &self.role {
            Role::First(first) => first.whole.flow_names(plan),
            Role::Other(_) => Vec::new(),
        }
    }
}

/// What all threads together have of simulated flows.
pub struct Results {
    pub samples: Vec<FlowRow>,
    pub flows: Vec<Value>,
    pub requests: Vec<RequestRow>,
}

impl First {
    fn take(&mut self, report: Report) {
        match report {
            Report::Samples(number, samples) => self.samples.entry(number).or_default().1.push(samples),
            Report::Ended(shard, endpoints) => {
                self.ended.insert(shard, *endpoints);
            }
        }
    }

    /// The rows of samples that are complete; earlier ones, which a thread has left out, are forgotten.
    fn rows(&mut self) -> Vec<FlowRow> {
        let count = self.count;
        let mut rows = Vec::new();
        let is_complete = |(_, (at, samples)): &(&u64, &(Option<Time>, Vec<EndSamples>))| {
            at.is_some() && samples.len() == count
        };
        if let Some(last) = self.samples.iter().filter(is_complete).map(|(&number, _)| number).max() {
            let later = last.checked_add(1).map_or_else(BTreeMap::new, |next| self.samples.split_off(&next));
            for (at, samples) in std::mem::replace(&mut self.samples, later).into_values() {
                if let Some(at) = at.filter(|_| samples.len() == count) {
                    rows.extend(EndSamples::joined(&samples, at));
                }
            }
        }
        rows
    }
}
