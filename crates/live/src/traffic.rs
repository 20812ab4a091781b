//! Traffic generators: real sockets in the hosts that send and receive flows on the simulator's schedule.
//!
//! A traffic generator is a fork of the supervisor and executes no program, so that it starts in a millisecond.
//! It opens its socket before the clock starts, and writes one JSON object when it is done or receives a signal
//! to stop.

mod client;
mod datagram_header;
mod epoll_set;
mod server;
mod sink;
mod source;
mod timer;

use crate::error::{Error, Result};
use client::{Client, Transfer};
use longhaul_network::{Network, NodeId};
use longhaul_plan::{End, Flow, Node, Part, Plan, Traffic, Way};
use longhaul_units::{InvalidValue, Span};
use serde_json::Value;
use server::Server;
use sink::Sink;
use source::Source;
use std::io::Write;
use std::net::{IpAddr, SocketAddr};
pub use timer::SharedStart;

/// Time for the queues along a path to drain.
const QUEUE_DRAIN_NS: u64 = 500_000_000;

/// One end of some flows, prepared before the fork.
pub enum TrafficGenerator<'a> {
    /// Sends datagrams.
    Source(Box<Source>),
    /// Receives them.
    Sink(Sink<'a>),
    /// Sends transfers over TCP.
    Client(Box<Client>),
    /// Receives them.
    Server(Server),
}

impl<'a> TrafficGenerator<'a> {
    /// The traffic generator of `part`, which the plan has checked. Errors name the flow.
    pub fn new(plan: &'a Plan, network: &Network, part: &Part) -> Result<Self> {
        let Some(flow) = part.flows.first().map(|&flow| &plan.flows[flow]) else {
            return Err(Error::new("a traffic generator has no flows"));
        };
        let wrong = |invalid: InvalidValue| Error::from(invalid).at(format_args!("flow {}", flow.name));
        let from = &plan.nodes[plan.chosen_interface(flow.source, flow.destination)];
        let to = &plan.nodes[flow.destination];
        match (&flow.traffic, part.end) {
            (Traffic::Udp { .. }, End::Source) => {
                let schedule = longhaul_endpoints::datagrams(plan, network, flow).map_err(wrong)?;
                let (here, there) =
                    addresses(from, to).ok_or_else(|| wrong(InvalidValue::new("", "has no address")))?;
                let linger = Span::from_ns(linger_ns(plan, network, flow));
                let source = Source::new(schedule, linger, (here, 0).into(), (there, part.port).into());
                Ok(TrafficGenerator::Source(Box::new(source)))
            }
            (Traffic::Udp { .. }, End::Sink) => {
                let (_, here) =
                    addresses(from, to).ok_or_else(|| wrong(InvalidValue::new("", "has no address")))?;
                Ok(TrafficGenerator::Sink(Sink::new(plan, (here, part.port).into())))
            }
            (
                Traffic::Requests { .. } | Traffic::Replay { .. } | Traffic::Tcp { bytes: Some(_), .. },
                End::Source,
            ) => {
                let algorithm = part.congestion_control.clone();
                Ok(TrafficGenerator::Client(Box::new(Client::new(transfers(plan, part)?, algorithm))))
            }
            (
                Traffic::Requests { .. } | Traffic::Replay { .. } | Traffic::Tcp { bytes: Some(_), .. },
                End::Sink,
            ) => {
                let (_, here) =
                    addresses(from, to).ok_or_else(|| wrong(InvalidValue::new("", "has no address")))?;
                Ok(TrafficGenerator::Server(Server::new(
                    (here, part.port).into(),
                    part.congestion_control.clone(),
                )))
            }
            _ => Err(wrong(InvalidValue::new("traffic", "cannot be sent by a traffic generator"))),
        }
    }

    /// In the host: opens its socket.
    pub fn open(&mut self) -> std::io::Result<()> {
        match self {
            TrafficGenerator::Source(source) => source.open(),
            TrafficGenerator::Sink(sink) => sink.open(),
            TrafficGenerator::Client(client) => client.open(),
            TrafficGenerator::Server(server) => server.open(),
        }
    }

    /// In the host: runs to the end and writes the results. Returns the exit code.
    pub fn run(self, start_time: &SharedStart) -> i32 {
        let Some(clock) = start_time.wait() else { return 0 };
        let result = match self {
            TrafficGenerator::Source(source) => source.run(clock),
            TrafficGenerator::Sink(sink) => sink.run(clock),
            TrafficGenerator::Client(client) => client.run(clock),
            TrafficGenerator::Server(server) => server.run(),
        };
        let (report, code) = match result {
            Ok(report) => (report, 0),
            Err(error) => (serde_json::json!({"error": error.to_string()}), 1),
        };
        write(&report).map_or(1, |()| code)
    }
}

/// The transfers of all flows of `part`.
fn transfers(plan: &Plan, part: &Part) -> Result<Vec<Transfer>> {
    let mut found = Vec::new();
    for &position in &part.flows {
        let flow = &plan.flows[position];
        let wrong = |invalid: InvalidValue| Error::from(invalid).at(format_args!("flow {}", flow.name));
        let (from, to) = (&plan.nodes[flow.source], &plan.nodes[flow.destination]);
        let (_, there) = addresses(from, to).ok_or_else(|| wrong(InvalidValue::new("", "has no address")))?;
        let to = SocketAddr::new(there, part.port);
        let all = longhaul_endpoints::transfers(plan, flow).map_err(wrong)?;
        found.extend((0..).zip(all).map(|(number, (at, bytes))| Transfer {
            at,
            flow: position,
            number,
            bytes,
            to,
        }));
    }
    Ok(found)
}

/// How long a sender stays after its last datagram: a run without duration ends with its senders, and packets in
/// flight must arrive before.
pub fn linger_ns(plan: &Plan, network: &Network, flow: &Flow) -> u64 {
    if plan.duration_ns.is_some() {
        return 0;
    }
    let source = plan.chosen_interface(flow.source, flow.destination);
    let path = network.path(NodeId(source as u32), NodeId(flow.destination as u32)).unwrap_or_default();
    let delays = path.iter().map(|direction| {
        let link = &plan.links[direction.link()];
        let model = if direction.way() == Way::Forward { &link.forward } else { &link.reverse };
        model.mean_delay().ns()
    });
    2 * delays.sum::<u64>() + QUEUE_DRAIN_NS
}

fn write(report: &Value) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{report}")?;
    out.flush()
}

/// Addresses of both ends, in the family that simulated endpoints would use.
fn addresses(from: &Node, to: &Node) -> Option<(IpAddr, IpAddr)> {
    let v4 = from.ipv4.zip(to.ipv4).map(|(from, to)| (from.into(), to.into()));
    v4.or_else(|| from.ipv6.zip(to.ipv6).map(|(from, to)| (from.into(), to.into())))
}
