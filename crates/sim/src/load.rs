//! What a simulation will have to do where, and where its network can be cut: what a division into shards is decided by.

use crate::Simulation;
use longhaul_network::{DirectionId, Network, NodeId};
use longhaul_plan::{Flow, LinkModel, Plan, Traffic, Way};
use longhaul_units::Span;
use std::collections::BTreeMap;

/// Time of one packet at one link, measured with six flows between two sites, in ns.
pub const HOP_NS: f64 = 10.0;
/// Time to send one packet, in ns.
pub const SEND_NS: f64 = 45.0;
/// Time to receive one packet and to react, in ns.
pub const RECEIVE_NS: f64 = 53.0;
/// How much longer all of this takes where lookahead is not possible: by the calendar, with six flows between two sites and
/// jitter.
pub const CALENDAR: f64 = 2.8;
/// Of a flow whose rate nothing limits, in bit/s.
const UNLIMITED: f64 = 1e11;
/// IPv4, TCP and its timestamps.
const HEADER_BYTES: u32 = 52;

/// The work of a simulation as a graph: nodes, and links between them.
#[derive(Clone, Debug)]
pub struct LoadGraph {
    /// Why the simulation cannot be divided at all, if so.
    pub obstacle: Option<&'static str>,
    /// Of each node: computing time for a simulated second, in ns, for links that leave it and flows that end there.
    pub nodes: Vec<f64>,
    /// Of each link of the plan.
    pub links: Vec<LoadedLink>,
    /// Interfaces and the hosts that they belong to, which no cut may separate.
    pub interfaces: Vec<(usize, usize)>,
}

/// A link of a [`LoadGraph`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadedLink {
    /// Its ends.
    pub endpoints: [usize; 2],
    /// Packets a second, both ways together.
    pub packets_per_s: f64,
    /// No packet takes less time; zero if the link cannot be cut.
    pub lookahead: Span,
}

impl Simulation {
    /// What `plan`, whose simulation this is, will have to do. Flows without a rate of their own get equal shares of their
    /// narrowest link.
    pub fn load(&self, plan: &Plan) -> LoadGraph {
        let network = self.network();
        let mut links: Vec<LoadedLink> = plan
            .links
            .iter()
            .map(|link| LoadedLink { endpoints: link.endpoints, packets_per_s: 0.0, lookahead: Span::ZERO })
            .collect();
        for cut in network.cuts(plan) {
            links[cut.link].lookahead = cut.lookahead;
        }
        let mut nodes = vec![0.0; plan.nodes.len()];
        for (path, packets_per_s) in streams(plan, network) {
            // Each second packet is acknowledged, and acknowledgements take the same links.
            for (packets_per_s, path) in
                [(packets_per_s, path.clone()), (packets_per_s / 2.0, reversed(&path))]
            {
                let ends = path.first().zip(path.last());
                let Some((first, last)) = ends else { continue };
                nodes[source(plan, *first)] += SEND_NS * packets_per_s;
                nodes[source(plan, DirectionId(last.0 ^ 1))] += RECEIVE_NS * packets_per_s;
                for direction in path {
                    nodes[source(plan, direction)] += HOP_NS * packets_per_s;
                    links[direction.link()].packets_per_s += packets_per_s;
                }
            }
        }
        if !self.may_look_ahead() {
            for work in &mut nodes {
                *work *= CALENDAR;
            }
        }
        let interfaces = plan.nodes.iter().enumerate().filter_map(|(node, each)| Some((node, each.of?)));
        LoadGraph { obstacle: self.obstacle(), nodes, links, interfaces: interfaces.collect() }
    }
}

/// The node that a direction leaves.
fn source(plan: &Plan, direction: DirectionId) -> usize {
    plan.links[direction.link()].endpoints[(direction.0 % 2) as usize]
}

fn reversed(path: &[DirectionId]) -> Vec<DirectionId> {
    path.iter().rev().map(|direction| DirectionId(direction.0 ^ 1)).collect()
}

/// The path of the data of each flow and its packets a second.
fn streams(plan: &Plan, network: &Network) -> Vec<(Vec<DirectionId>, f64)> {
    let paths: Vec<_> = plan
        .flows
        .iter()
        .filter_map(|flow| {
            let path = network.path(NodeId(flow.source as u32), NodeId(flow.destination as u32))?;
            Some((flow, path))
        })
        .collect();
    let mut streams: BTreeMap<DirectionId, f64> = BTreeMap::new();
    for (flow, path) in &paths {
        for direction in path {
            *streams.entry(*direction).or_default() += count(flow);
        }
    }
    let narrowest = |path: &[DirectionId]| {
        let share = |direction: &DirectionId| {
            let rate = model(plan, *direction).rate.mean_bits_per_s().map_or(UNLIMITED, |rate| rate as f64);
            rate / streams.get(direction).copied().unwrap_or(1.0)
        };
        path.iter().map(share).fold(UNLIMITED, f64::min)
    };
    paths
        .into_iter()
        .map(|(flow, path)| {
            let payload = payload_bytes(flow, &path, plan);
            let limits = [Some(narrowest(&path)), window_limit(flow, &path, plan), own_limit(flow, plan)];
            let bits_per_s = limits.into_iter().flatten().fold(UNLIMITED, f64::min);
            let packets_per_s = count(flow) * bits_per_s / (8.0 * payload) * active(flow, plan);
            (path, packets_per_s)
        })
        .collect()
}

fn model(plan: &Plan, direction: DirectionId) -> LinkModel {
    let link = &plan.links[direction.link()];
    if direction.way() == Way::Forward { link.forward.link_model() } else { link.reverse.link_model() }
}

/// The part of the run in which a flow may send.
fn active(flow: &Flow, plan: &Plan) -> f64 {
    let Some(end) = plan.duration_ns.filter(|&end| end > 0) else { return 1.0 };
    let stop = flow.stop_ns.unwrap_or(end).min(end);
    stop.saturating_sub(flow.start_ns) as f64 / end as f64
}

/// Streams side by side.
fn count(flow: &Flow) -> f64 {
    match flow.traffic {
        Traffic::Tcp { streams, .. } => f64::from(streams),
        _ => 1.0,
    }
}

/// Of a packet with data.
fn payload_bytes(flow: &Flow, path: &[DirectionId], plan: &Plan) -> f64 {
    let mtu = path.iter().map(|direction| plan.links[direction.link()].mtu).min().unwrap_or(0);
    match flow.traffic {
        Traffic::Udp { payload_bytes, .. } | Traffic::Ping { payload_bytes, .. } => {
            f64::from(payload_bytes).max(1.0)
        }
        _ => f64::from(mtu.saturating_sub(HEADER_BYTES).max(1)),
    }
}

/// Of a stream over TCP, by its buffers, in bit/s.
fn window_limit(flow: &Flow, path: &[DirectionId], plan: &Plan) -> Option<f64> {
    let (Traffic::Tcp { tcp, .. } | Traffic::Requests { tcp, .. } | Traffic::Replay { tcp, .. }) =
        &flow.traffic
    else {
        return None;
    };
    let delay = |direction: &DirectionId| model(plan, *direction).delay.mean().as_secs_f64();
    let rtt_s = 2.0 * path.iter().map(delay).sum::<f64>();
    // Half of a receive buffer is window.
    let window_bits = 8.0 * tcp.buffer_bytes? as f64 / 2.0;
    (rtt_s > 0.0).then(|| window_bits / rtt_s)
}

/// By what the flow is to send, for each stream, in bits of payload a second.
fn own_limit(flow: &Flow, plan: &Plan) -> Option<f64> {
    let seconds = plan.duration_ns.filter(|&end| end > 0).map(|end| end as f64 / 1e9);
    match &flow.traffic {
        Traffic::Tcp { bits_per_s: Some(rate), .. } => Some(*rate as f64),
        Traffic::Tcp { bytes: Some(bytes), .. } => Some(8.0 * *bytes as f64 / seconds?),
        Traffic::Tcp { .. } | Traffic::Pcap { .. } => None,
        Traffic::Udp { bits_per_s, .. } => Some(*bits_per_s as f64),
        Traffic::Requests { gap, size, .. } => Some(8e9 * size.mean() / gap.mean().max(1.0)),
        Traffic::Ping { every_ns, payload_bytes, .. } => {
            Some(8e9 * f64::from(*payload_bytes).max(1.0) / (*every_ns as f64).max(1.0))
        }
        Traffic::Replay { transfers, .. } => {
            let bytes: f64 = transfers.iter().map(|&(_, bytes)| bytes as f64).sum();
            Some(8.0 * bytes / seconds?)
        }
    }
}
