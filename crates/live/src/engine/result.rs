//! What the engine says at the end, and on the way.

use super::{Engine, Reply};
use crate::error::{Error, Result};
use longhaul_network::DirectionId;
use longhaul_network::journal::Entry;
use longhaul_plan::Way;
use longhaul_record::{Distribution, SampleRow};
use longhaul_units::{Span, Time};
use serde_json::{Map, Value, json};
use std::path::Path;

impl Engine<'_> {
    /// Hands the counters of every direction to the recorder and sets the time of the next sample.
    pub(super) fn sample(&mut self, now: Time) {
        let every = Span::from_ns(self.plan.measure.every_ns);
        while self.next_sample <= now {
            self.next_sample += every;
        }
        let rows = (0..self.plan.links.len())
            .flat_map(|link| [(link, Way::Forward), (link, Way::Reverse)])
            .map(|(link, way)| self.sample_row(now, link, way))
            .collect();
        self.outlet.recorder.samples(rows);
    }

    fn sample_row(&self, now: Time, link: usize, way: Way) -> SampleRow {
        let counters = self.network.link_counters(DirectionId::new(link, way));
        SampleRow {
            t_ns: now.ns(),
            link: link as u32,
            reverse: way == Way::Reverse,
            offered_packets: counters.link.offered_packets,
            offered_bytes: counters.link.offered_bytes,
            copied_packets: counters.link.copied_packets,
            delivered_packets: counters.link.delivered_packets,
            delivered_bytes: counters.link.delivered_bytes,
            lost_packets: counters.link.lost_packets,
            overflowed_packets: counters.link.overflowed_packets,
            dropped_packets: counters.link.dropped_packets,
            down_packets: counters.link.down_packets,
            too_big_packets: counters.too_big_packets,
            waiting_packets: counters.waiting_packets,
            waiting_bytes: counters.waiting_bytes,
            flying_packets: counters.flying_packets,
        }
    }

    /// The state of the run now.
    pub(super) fn status(&self) -> Reply {
        let lateness = together(&self.outlet.lateness).summary();
        Reply::Status {
            t_ns: self.clock.ns(),
            delivered_packets: self.network.totals().delivered,
            held_packets: self.network.held(),
            lateness_p50_ns: lateness.p50_ns,
            lateness_p99_ns: lateness.p99_ns,
            gaps: self.idle.gaps.count,
        }
    }

    /// Writes the last samples and `raw/engine.json`.
    pub(super) fn finish(&mut self, directory: &Path, failure: Option<&Error>) -> Result<()> {
        let now = self.clock.now();
        self.sample(now);
        self.outlet.recorder.note(|| Entry::Finished(self.advanced));
        let recorded = self.outlet.recorder.finish();
        let error = failure.or(recorded.as_ref().err()).map(ToString::to_string);
        let totals = self.network.totals();
        let gaps = &self.idle.gaps;
        let steal = stolen_ns().zip(self.steal_before).map(|(after, before)| after.saturating_sub(before));
        let result = json!({
            "t0_unix_ns": self.outlet.unix_start_ns,
            "duration_ns": now.ns(),
            "error": error,
            "links": (0..self.plan.links.len()).map(|link| self.link_result(link)).collect::<Vec<_>>(),
            "packets": {
                "injected": totals.injected,
                "copied": totals.copied,
                "replies": totals.replies,
                "delivered": totals.delivered,
                "lost": totals.lost,
                "overflowed": totals.overflowed,
                "dropped": totals.dropped,
                "down": totals.down,
                "no_route": totals.no_route,
                "ttl_expired": totals.ttl_expired,
                "too_big": totals.too_big,
                "answered": totals.answered,
                "held": self.network.held(),
            },
            "lateness": self.distributions(&self.outlet.lateness),
            "spacing": self.distributions(&self.outlet.spacing),
            "gaps": {
                "count": gaps.count,
                "total_ns": gaps.total_ns,
                "max_ns": gaps.max_ns,
                "first": gaps.first,
            },
            "steal_ns": steal,
            "scheduling": self.scheduling,
            "step_downs": self.budget.step_downs,
            "coalesce_ns": self.plan.coalesce_ns,
            "pools_grown": self.outlet.bodies.grown,
            "lost_records": self.outlet.recorder.lost_records,
            "ports": self.ports(),
        });
        let path = directory.join("raw/engine.json");
        let text =
            serde_json::to_vec_pretty(&result).map_err(|error| Error::wrap("write the result", error))?;
        std::fs::write(&path, text).map_err(|error| Error::wrap(format!("write {}", path.display()), error))
    }

    fn link_result(&self, link: usize) -> Value {
        json!({
            "name": self.plan.links[link].name,
            "forward": self.direction_result(link, Way::Forward),
            "reverse": self.direction_result(link, Way::Reverse),
        })
    }

    fn direction_result(&self, link: usize, way: Way) -> Value {
        let counters = self.network.link_counters(DirectionId::new(link, way));
        let of = &counters.link;
        let entered = of.delivered_packets + counters.flying_packets;
        let mean = |sum_ps: u128| if entered == 0 { 0.0 } else { sum_ps as f64 / entered as f64 / 1_000.0 };
        json!({
            "offered_packets": of.offered_packets,
            "offered_bytes": of.offered_bytes,
            "copied_packets": of.copied_packets,
            "delivered_packets": of.delivered_packets,
            "delivered_bytes": of.delivered_bytes,
            "lost_packets": of.lost_packets,
            "overflowed_packets": of.overflowed_packets,
            "dropped_packets": of.dropped_packets,
            "marked_packets": of.marked_packets,
            "corrupted_packets": of.corrupted_packets,
            "down_packets": of.down_packets,
            "too_big_packets": counters.too_big_packets,
            "waiting_packets": counters.waiting_packets,
            "flying_packets": counters.flying_packets,
            "wire_delay_mean_ns": mean(of.wire_delay_ps),
            "wait_mean_ns": mean(of.waited_ps),
            "wait_max_ns": of.waited_max.ns(),
        })
    }

    /// Of all packets, and by the direction of the last link.
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
        json!({ "all": together(each).summary(), "links": links })
    }

    fn ports(&self) -> Map<String, Value> {
        let ports = self.plan.nodes.iter().zip(&self.outlet.ports).enumerate();
        ports
            .filter(|&(node, _)| super::has_port(self.plan, node))
            .map(|(_, (node, port))| (node.name.clone(), json!(port)))
            .collect()
    }
}

fn together(each: &[Distribution]) -> Distribution {
    let mut all = Distribution::new();
    each.iter().for_each(|one| all.merge(one));
    all
}

/// Time that a hypervisor gave to others, over all processors (`steal` of /proc/stat).
pub fn stolen_ns() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/stat").ok()?;
    let ticks: u64 = text.lines().next()?.split_whitespace().nth(8)?.parse().ok()?;
    // USER_HZ is 100 on every architecture that we run on.
    Some(ticks * 10_000_000)
}
