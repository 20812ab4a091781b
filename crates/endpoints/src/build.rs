//! From the flows of a plan to agents.

use crate::agent::{Agent, Way};
use crate::datagrams::{DatagramSink, DatagramSource};
use crate::endpoints::{Endpoints, Pair};
use crate::mptcp::MptcpConnection;
use crate::packet_list::{PacketSource, Passes};
use crate::ping::{self, Ping};
use crate::schedule::{datagrams, speaks_ipv6, transfers};
use crate::stream::{Application, Pace, Plan as StreamPlan, StreamConfig, TcpEndpoint};
use longhaul_congestion::AlgorithmSettings;
use longhaul_network::{DirectionId, Network, NodeId};
use longhaul_plan::{Flow, NodeKind, Plan, Recovery, Tcp, Traffic};
use longhaul_random::Seed;
use longhaul_transport::{
    AckPolicy, Bound, Ecn, InitialWindow, IpVersion, Pacing, ReceiveBuffer, Reduction, Reordering,
    RtoSettings, Settings,
};
use longhaul_units::{InvalidValue, Rate, Span, Time};
use std::sync::Arc;

impl Endpoints {
    pub(crate) fn add(
        &mut self,
        position: u32,
        flow: &Flow,
        whole: &Plan,
        network: &Network,
    ) -> Result<(), InvalidValue> {
        let seed = Seed::new(whole.seed);
        let (from, to) = (NodeId(flow.source as u32), NodeId(flow.destination as u32));
        let start = Time::from_ns(flow.start_ns);
        let stop = flow.stop_ns.map_or(Time::NEVER, Time::from_ns).min(self.end);
        let endless = |finite: bool| {
            if finite || stop != Time::NEVER {
                Ok(())
            } else {
                Err(InvalidValue::new("stop_ns", "neither the flow nor the run ever ends"))
            }
        };
        let mtu = path_mtu(whole, network, [from, to])?;
        let config = |algorithm: &AlgorithmSettings, tcp: &Tcp| {
            // Requests are too many and too short.
            let measured = matches!(flow.traffic, Traffic::Tcp { .. });
            let name = Arc::clone(&self.flows[position as usize].name);
            let (settings, algorithm) = self.share(settings(tcp, mtu), algorithm);
            Arc::new(StreamConfig { name, settings, algorithm, seed, measured })
        };
        match &flow.traffic {
            Traffic::Tcp { streams, cc: algorithm, tcp, bytes, bits_per_s, held, subflows } => {
                endless(bytes.is_some())?;
                let rate = bits_per_s.and_then(Rate::from_bits_per_s);
                let pace = if *held { Pace::Held } else { rate.map_or(Pace::AtOnce, Pace::At) };
                let plan = StreamPlan { start, stop, bytes: *bytes, pace };
                if !subflows.is_empty() {
                    let mut paths = Vec::with_capacity(subflows.len());
                    for &[from, to] in subflows {
                        let ends = [NodeId(from as u32), NodeId(to as u32)];
                        let mtu = path_mtu(whole, network, ends)?;
                        let (settings, algorithm) = self.share(settings(tcp, mtu), algorithm);
                        let name = Arc::clone(&self.flows[position as usize].name);
                        let config = StreamConfig { name, settings, algorithm, seed, measured: true };
                        paths.push((ends, Arc::new(config)));
                    }
                    self.connect_mptcp(position, *streams, &paths, plan, tcp.ipv6);
                    return Ok(());
                }
                let config = config(algorithm, tcp);
                for stream in 0..*streams {
                    self.connect(from, to, position, stream, &config, plan, tcp.ipv6);
                }
            }
            Traffic::Requests { cc: algorithm, tcp, .. } | Traffic::Replay { cc: algorithm, tcp, .. } => {
                endless(matches!(flow.traffic, Traffic::Replay { .. }))?;
                let config = config(algorithm, tcp);
                let requests = transfers(whole, flow)?;
                for (number, (start, bytes)) in (0..).zip(requests) {
                    let pace = Pace::AtOnce;
                    let plan = StreamPlan { start, stop: self.end, bytes: Some(bytes), pace };
                    self.connect(from, to, position, number, &config, plan, tcp.ipv6);
                }
            }
            Traffic::Udp { bytes, .. } => {
                endless(bytes.is_some())?;
                let schedule = datagrams(whole, network, flow)?;
                let (there, _) = self.ways(from, to, position, 0, speaks_ipv6(whole, flow));
                let sender = DatagramSource::new(there, schedule);
                self.all_fit &= sender.largest() <= u32::from(mtu);
                self.pair(
                    position,
                    0,
                    Agent::DatagramSource(Box::new(sender)),
                    Agent::DatagramSink(Box::new(DatagramSink::new(to))),
                );
            }
            Traffic::Pcap { packets, repeat, every_ns, file } => {
                let (there, _) = self.ways(from, to, position, 0, false);
                let passes = Passes { start, stop, repeat: *repeat, every_ns: *every_ns };
                let sender = PacketSource::new(there, position, packets.clone(), passes, file.is_some());
                self.all_fit &= sender.largest() <= u32::from(mtu);
                if file.is_some() {
                    self.real_sources.push(self.agents.len() as u32);
                }
                self.pair(
                    position,
                    0,
                    Agent::PacketSource(Box::new(sender)),
                    Agent::DatagramSink(Box::new(DatagramSink::new(to))),
                );
            }
            Traffic::Ping { every_ns, payload_bytes, count } => {
                endless(count.is_some())?;
                let (mut there, back) = self.ways(from, to, position, 0, false);
                if whole.nodes[flow.destination].kind == NodeKind::Router {
                    // A router responder by itself, to the one who asked.
                    there.peer -= 1;
                }
                let plan = ping::Plan {
                    flow: position,
                    payload_bytes: *payload_bytes,
                    every: Span::from_ns(*every_ns),
                    start,
                    stop,
                    count: count.unwrap_or(u64::MAX),
                };
                let (requester, responder) = (Ping::new(there, plan), Ping::responder(back, plan));
                self.all_fit &= requester.bytes() <= u32::from(mtu);
                self.pair(position, 0, Agent::Ping(Box::new(requester)), Agent::Ping(Box::new(responder)));
            }
        }
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "what differs between the connections of a flow")]
    fn connect(
        &mut self,
        from: NodeId,
        to: NodeId,
        position: u32,
        number: u32,
        config: &Arc<StreamConfig>,
        plan: StreamPlan,
        ipv6: bool,
    ) {
        let (there, back) = self.ways(from, to, position, number, ipv6);
        let client = TcpEndpoint::new(Arc::clone(config), number, there, Some(Application::new(plan)));
        let server = TcpEndpoint::new(Arc::clone(config), number, back, None);
        self.pair(position, number, Agent::Stream(Box::new(client)), Agent::Stream(Box::new(server)));
    }

    /// Connections with a subflow for each of `paths`.
    fn connect_mptcp(
        &mut self,
        position: u32,
        streams: u32,
        paths: &[([NodeId; 2], Arc<StreamConfig>)],
        plan: StreamPlan,
        ipv6: bool,
    ) {
        let Some((_, first)) = paths.first() else { return };
        let mss = paths.iter().map(|(_, config)| config.settings.mss).min().unwrap_or(first.settings.mss);
        let window = first.settings.receive_buffer.largest_window();
        for stream in 0..streams {
            let number = self.mptcp_connections.len() as u32;
            let mut mptcp =
                MptcpConnection::new(mss.into(), plan.bytes, window, first.algorithm.is_coupled());
            for (place, ([from, to], config)) in (0..).zip(paths) {
                let subflow = stream * paths.len() as u32 + place;
                let (there, back) = self.ways(*from, *to, position, subflow, ipv6);
                let application = Application::of_subflow(plan, place > 0);
                let client =
                    TcpEndpoint::new(Arc::clone(config), subflow, there, Some(application)).of(number);
                let server = TcpEndpoint::new(Arc::clone(config), subflow, back, None).of(number);
                let agent = self.agents.len() as u32;
                mptcp.add(agent, agent + 1);
                self.pair(
                    position,
                    subflow,
                    Agent::Stream(Box::new(client)),
                    Agent::Stream(Box::new(server)),
                );
            }
            self.mptcp_connections.push(mptcp);
        }
    }

    /// The ways of the pair of agents that is added next.
    pub(crate) fn ways(
        &self,
        from: NodeId,
        to: NodeId,
        position: u32,
        stream: u32,
        ipv6: bool,
    ) -> (Way, Way) {
        let sender = self.agents.len() as u32;
        let there = Way { from, to, peer: sender + 1, flow: spread(position, 2 * stream), ipv6 };
        let back = Way { from: to, to: from, peer: sender, flow: spread(position, 2 * stream + 1), ipv6 };
        (there, back)
    }

    /// These settings and this algorithm; those of the connection before if they are equal, as they mostly are.
    fn share(
        &self,
        settings: Settings,
        algorithm: &AlgorithmSettings,
    ) -> (Arc<Settings>, Arc<AlgorithmSettings>) {
        let config = self.agents.last().and_then(|agent| match agent {
            Agent::Stream(end) => Some(end.config()),
            _ => None,
        });
        let before = |config: &&StreamConfig| *config.settings == settings && *config.algorithm == *algorithm;
        match config.filter(before) {
            Some(config) => (Arc::clone(&config.settings), Arc::clone(&config.algorithm)),
            None => (Arc::new(settings), Arc::new(algorithm.clone())),
        }
    }

    fn pair(&mut self, flow: u32, stream: u32, sender: Agent, receiver: Agent) {
        let place = self.agents.len() as u32;
        self.agents.extend([sender, receiver]);
        self.pairs.push(Pair { flow, stream, sender: place, receiver: place + 1, done: None });
    }
}

/// The largest packet that passes all the way, there and back.
pub(crate) fn path_mtu(plan: &Plan, network: &Network, ends: [NodeId; 2]) -> Result<u16, InvalidValue> {
    let [from, to] = ends;
    let hosts = ends.map(|node| plan.nodes[node.0 as usize].mtu).into_iter().filter(|&mtu| mtu > 0);
    if plan.is_dynamic() {
        // Paths change, and there may be none yet: what passes every link passes all paths.
        let links = plan.links.iter().map(|link| link.mtu);
        return Ok(links.chain(hosts).min().unwrap_or(1500).min(u32::from(u16::MAX)) as u16);
    }
    let path =
        |from, to| network.path(from, to).ok_or_else(|| InvalidValue::new("destination", "has no route"));
    let ways = path(from, to)?.into_iter().chain(path(to, from)?);
    let links = ways.map(|direction: DirectionId| plan.links[direction.link()].mtu);
    let least = links.chain(hosts).min().unwrap_or(1500);
    Ok(least.min(u32::from(u16::MAX)) as u16)
}

/// A number that tells flows apart, evenly spread (the finaliser of splitmix64).
pub(crate) fn spread(flow: u32, end: u32) -> u32 {
    let mut x = (u64::from(flow) << 32 | u64::from(end)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (x ^ (x >> 31)) as u32
}

/// The receiver's buffer to begin with: Linux's, or what the sender's first window needs, half being offered.
fn first_buffer(tcp: &Tcp, mss: u16) -> u64 {
    let window = u64::from(tcp.initial_window.unwrap_or(0)) * u64::from(mss);
    ReceiveBuffer::linux().bytes.max(2 * window)
}

pub(crate) fn settings(tcp: &Tcp, mtu: u16) -> Settings {
    use longhaul_transport::Recovery as R;
    let ip_version = if tcp.ipv6 { IpVersion::V6 } else { IpVersion::V4 };
    let default = Settings::for_mtu(mtu, ip_version);
    let (recovery, reordering) = match tcp.recovery {
        Recovery::Tahoe => (R::Tahoe, Reordering::Fixed(3)),
        Recovery::Reno => (R::Reno, Reordering::Fixed(3)),
        Recovery::Newreno => (R::NewReno, Reordering::Fixed(3)),
        Recovery::Sack => (R::Sack, Reordering::Fixed(3)),
        Recovery::SackAdaptive => (R::Sack, Reordering::Adaptive { max: 127 }),
        Recovery::Rack => (R::Rack, Reordering::Fixed(3)),
    };
    let min_rto = Span::from_ns(tcp.min_rto_ns);
    Settings {
        recovery,
        reordering,
        initial_window: tcp.initial_window.map_or(default.initial_window, InitialWindow::Segments),
        ack_policy: AckPolicy { every: if tcp.delayed_ack { 2 } else { 1 }, ..default.ack_policy },
        ecn: if tcp.ecn { Ecn::Classic } else { Ecn::Off },
        pacing: match (tcp.pacing, tcp.even) {
            (false, _) => Pacing::Algorithm,
            (true, false) => Pacing::Window,
            (true, true) => Pacing::Even,
        },
        reduction: Reduction::Proportional(Bound::Safe),
        timeouts: RtoSettings { min_rto, min_rttvar: min_rto, ..default.timeouts },
        send_buffer: tcp.buffer_bytes.unwrap_or(default.send_buffer),
        receive_buffer: tcp.buffer_bytes.map_or(default.receive_buffer, |max_bytes| ReceiveBuffer {
            bytes: max_bytes.min(first_buffer(tcp, default.mss)),
            max_bytes,
            adv_win_scale: 1,
        }),
        ..default
    }
}
