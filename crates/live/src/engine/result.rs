//! Samples, status and results of the engine.

use super::Reply;
use super::emulator::Emulator;
use super::joint_flows::OtherEnds;
use super::ports::Ports;
use crate::error::{Error, Result};
use longhaul_network::{DirectionId, journal::Entry, results};
use longhaul_plan::Way;
use longhaul_record::{Distribution, LatenessRow};
use longhaul_storage::{Disk, replace};
use longhaul_units::{Span, Time};
use serde_json::{Map, Value, json};
use std::path::Path;

impl<P: Ports> Emulator<'_, P> {
    /// Samples if it is time to.
    pub fn sample_if_due(&mut self, now: Time) {
        if now >= self.next_sample {
            self.sample(now);
        }
    }

    /// Hands the counters of every direction to the recorder and sets the time of the next sample.
    fn sample(&mut self, now: Time) {
        let every = Span::from_ns(self.plan.measure.every_ns);
        while self.next_sample <= now {
            self.next_sample += every;
        }
        self.network.settle(self.advanced);
        let mut rows = results::samples(&self.network, self.plan, now);
        rows.retain(|row| {
            let way = if row.reverse { Way::Reverse } else { Way::Forward };
            self.network.owns(DirectionId::new(row.link as usize, way))
        });
        self.egress.recorder.samples(rows);
        self.egress.recorder.bins(self.network.take_bins(false));
        let flows = self.egress.flows.samples(now);
        self.egress.recorder.flow_samples(flows);
        let links = self.egress.late.iter().take(2 * self.plan.links.len());
        let late = links.enumerate().filter(|(_, classes)| classes.packets() > 0);
        let late = late.map(|(place, &classes)| LatenessRow {
            t_ns: now.ns(),
            link: place as u32 / 2,
            reverse: place % 2 == 1,
            classes,
        });
        self.egress.recorder.lateness(late.collect());
        if let Some(message) = self.egress.recorder.take_failure() {
            self.warnings.push(format!("records end at {:.3} s: {message}", now.ns() as f64 / 1e9));
        }
        if !self.endpoints.is_empty() {
            let rows = match &mut self.other_ends {
                OtherEnds::OnThreads(joint) => {
                    let number = now.ns() / self.plan.measure.every_ns.max(1);
                    joint.sample(number, now, self.endpoints.end_samples(now))
                }
                OtherEnds::OnMachines => self.endpoints.machine_samples(now).collect(),
                OtherEnds::None => self.endpoints.samples(now).collect(),
            };
            self.egress.recorder.flows(rows);
            let pings = self.egress.payloads.take_ping_rows();
            self.egress.recorder.pings(pings);
        }
    }

    /// The current state of the run.
    pub fn status(&self) -> Reply {
        let lateness = merged(&self.egress.lateness).summary();
        Reply::Status {
            t_ns: self.egress.outside.now().ns(),
            delivered_packets: self.network.totals().delivered,
            held_packets: self.network.held(),
            lateness_p50_ns: lateness.p50_ns,
            lateness_p99_ns: lateness.p99_ns,
            gaps: self.egress.stalls.stalls.count,
            captured_links: self.egress.captured_links.captured().collect(),
        }
    }

    /// Writes the last samples and `raw/engine.json`, to which `clock` adds what it tells of itself.
    pub fn finish<const N: usize>(
        &mut self,
        directory: &Path,
        failure: Option<&Error>,
        clock: [(&str, Value); N],
    ) -> Result<()> {
        let now = self.egress.outside.now();
        // Simulated endpoints may be behind the clock.
        self.endpoints.close(self.advanced, &mut self.network, &mut self.egress);
        if let OtherEnds::OnThreads(joint) = &mut self.other_ends {
            joint.end_samples();
        }
        self.sample(now);
        self.egress.recorder.bins(self.network.take_bins(true));
        let flows = self.flow_results(failure.is_some());
        let counted = self.egress.flows.rows();
        self.egress.recorder.flow_counts(counted);
        self.egress.recorder.note(|| Entry::Finished(self.advanced));
        let recorded = self.egress.recorder.finish();
        let error = failure.or(recorded.as_ref().err()).map(ToString::to_string);
        for host in 0..self.egress.ports.len() {
            let mut device = self.egress.outside.device_counters(host);
            if let Some(device) = &mut device {
                let (local, looped) = self.bridges.not_forwarded(host);
                device.local_frames += local;
                device.looped_frames += looped + self.returned.at(host);
            }
            self.egress.ports[host].device = device;
        }
        let mut result = json!({
            "t0_unix_ns": self.egress.unix_start_ns,
            "duration_ns": now.ns(),
            "error": error,
            "links": results::links(&self.network, self.plan),
            "packets": results::packets(&self.network),
            "pacing": self.pacing(),
            "lateness": self.distributions(&self.egress.lateness),
            "spacing": self.distributions(&self.egress.spacing),
            "coalesce_ns": self.plan.coalesce_ns,
            "pools_grown": self.egress.packet_pool.grown,
            "lost_records": self.egress.recorder.lost_records,
            "ports": self.ports(),
            "flow_names": self.egress.flows.names().chain(flows.names).collect::<Vec<_>>(),
        });
        for (name, value) in clock {
            result[name] = value;
        }
        if !self.endpoints.is_empty() {
            result["simulated"] = json!({
                "lateness": self.endpoint_lateness.summary(),
                "reached_ns": self.advanced.ns(),
                "damaged": self.egress.payloads.damaged(),
            });
            result["echo_fates"] = json!(self.egress.payloads.echo_fates());
            result["replays"] = self.egress.replays.results();
            result["flows"] = json!(flows.results);
            result["jobs"] = json!(self.endpoints.jobs());
        }
        let path = directory.join("raw/engine.json");
        let text =
            serde_json::to_vec_pretty(&result).map_err(|error| Error::wrap("write the result", error))?;
        replace(&Disk, &path, &text).map_err(|error| Error::wrap(format!("write {}", path.display()), error))
    }

    /// The results of simulated flows. Where other engines of this process have a part of their ends, the first one has all of it, and
    /// waits for the others; after a failure it does not. Each machine has results of what its own ends know.
    fn flow_results(&mut self, has_failed: bool) -> FlowResults {
        // They need not wait for this engine any more.
        self.horizons = None;
        let OtherEnds::OnThreads(joint) = &mut self.other_ends else {
            let (results, requests) = self.endpoints.flows(self.advanced);
            self.egress.recorder.requests(requests);
            return FlowResults { results, names: self.endpoints.flow_names(self.plan) };
        };
        let found = if has_failed { None } else { joint.results(&mut self.endpoints, self.advanced) };
        let Some(found) = found else { return FlowResults::default() };
        self.egress.recorder.flows(found.samples);
        self.egress.recorder.requests(found.requests);
        FlowResults { results: found.flows, names: joint.names(self.plan) }
    }

    /// Counters of the hosts' pacing classes, with the errors of their inter-packet gaps.
    fn pacing(&self) -> Vec<Value> {
        let mut found = results::pacing(&self.network, self.plan);
        let directions = self.plan.links.iter().enumerate().flat_map(|(link, each)| {
            let ways = [(Way::Forward, &each.forward), (Way::Reverse, &each.reverse)];
            ways.into_iter().filter(|(_, model)| model.pacing.is_some()).map(move |(way, _)| (link, way))
        });
        for ((link, way), host) in directions.zip(&mut found) {
            let direction = DirectionId::new(link, way);
            for (place, class) in host["classes"].as_array_mut().into_iter().flatten().enumerate() {
                let errors = self.egress.class_gaps.errors(direction, place);
                class["written_gap_errors"] = json!(errors.map(Distribution::summary));
            }
        }
        found
    }

    /// Summaries over all packets, and per direction of the last link.
    fn distributions(&self, each: &[Distribution]) -> Value {
        let mut links = Map::new();
        for (index, distribution) in each.iter().enumerate() {
            if distribution.count() == 0 {
                continue;
            }
            let name = match self.plan.links.get(index / 2) {
                Some(link) if index % 2 == 0 => format!("{}/forward", link.name),
                Some(link) => format!("{}/reverse", link.name),
                None => "within a host".into(),
            };
            links.insert(name, json!(distribution.summary()));
        }
        json!({ "all": merged(each).summary(), "links": links })
    }

    fn ports(&self) -> Map<String, Value> {
        let ports = self.plan.nodes.iter().zip(&self.egress.ports).enumerate();
        ports
            .filter(|&(node, _)| super::has_port(self.plan, node))
            .map(|(_, (node, port))| (node.name.clone(), json!(port)))
            .collect()
    }
}

/// The results of simulated flows, and the names of their packets' flows.
#[derive(Default)]
struct FlowResults {
    results: Vec<Value>,
    names: Vec<(u32, String)>,
}

fn merged(each: &[Distribution]) -> Distribution {
    let mut all = Distribution::new();
    for one in each {
        all.merge(one);
    }
    all
}
