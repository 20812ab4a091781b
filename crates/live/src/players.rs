//! Ends of flows that the run itself plays in the hosts: real sockets, on the schedule of the simulator.
//!
//! A player is a fork of the supervisor, without a program of its own, so that it costs a millisecond to
//! start. It opens its socket before the clock starts, and writes one JSON object when it is done or told
//! to end.

mod client;
mod server;
mod sink;
mod source;
mod stamp;
mod wait;
mod watch;

use crate::error::{Error, Result};
use client::{Client, Transfer};
use longhaul_network::{Network, NodeId};
use longhaul_plan::{End, Flow, Node, Part, Plan, Traffic, Way};
use longhaul_units::Span;
use serde_json::Value;
use server::Server;
use sink::Sink;
use source::Source;
use std::io::Write;
use std::net::{IpAddr, SocketAddr};
pub use wait::Zero;

/// For the queues along a path to become empty.
const QUEUES_NS: u64 = 500_000_000;

/// What a player is to do, worked out before the fork.
pub enum Player<'a> {
    /// Sends datagrams.
    Source(Box<Source>),
    /// Receives them.
    Sink(Sink<'a>),
    /// Makes transfers over TCP.
    Client(Client),
    /// Takes them.
    Server(Server),
}

impl<'a> Player<'a> {
    /// The player of `part`, which the plan has checked. Errors name the flow.
    pub fn new(plan: &'a Plan, network: &Network, part: &Part) -> Result<Self> {
        let Some(flow) = part.flows.first().map(|&flow| &plan.flows[flow]) else {
            return Err(Error::new("a player without flows"));
        };
        let wrong = |message: String| Error::new(format!("flow {}: {message}", flow.name));
        let (from, to) = (&plan.nodes[flow.source], &plan.nodes[flow.destination]);
        match (&flow.traffic, part.end) {
            (Traffic::Udp { .. }, End::Source) => {
                let schedule = longhaul_endpoints::datagrams(plan, network, flow).map_err(wrong)?;
                let (here, there) = addresses(from, to).ok_or_else(|| wrong("has no address".into()))?;
                let linger = Span::from_ns(linger_ns(plan, network, flow));
                let source = Source::new(schedule, linger, (here, 0).into(), (there, part.port).into());
                Ok(Player::Source(Box::new(source)))
            }
            (Traffic::Udp { .. }, End::Sink) => {
                let (_, here) = addresses(from, to).ok_or_else(|| wrong("has no address".into()))?;
                Ok(Player::Sink(Sink::new(plan, (here, part.port).into())))
            }
            (Traffic::Requests { .. } | Traffic::Replay { .. }, End::Source) => {
                let law = part.congestion_control.clone();
                Ok(Player::Client(Client::new(transfers(plan, part)?, law)))
            }
            (Traffic::Requests { .. } | Traffic::Replay { .. }, End::Sink) => {
                let (_, here) = addresses(from, to).ok_or_else(|| wrong("has no address".into()))?;
                Ok(Player::Server(Server::new((here, part.port).into(), part.congestion_control.clone())))
            }
            _ => Err(wrong("no real program sends like that".into())),
        }
    }

    /// In the host: opens its socket.
    pub fn open(&mut self) -> std::io::Result<()> {
        match self {
            Player::Source(source) => source.open(),
            Player::Sink(sink) => sink.open(),
            Player::Client(client) => client.open(),
            Player::Server(server) => server.open(),
        }
    }

    /// In the host: plays to the end, and writes what came of it. Returns the exit code.
    pub fn play(self, zero: &Zero) -> i32 {
        let Some(clock) = zero.wait() else { return 0 };
        let result = match self {
            Player::Source(source) => source.play(clock),
            Player::Sink(sink) => sink.play(clock),
            Player::Client(client) => client.play(clock),
            Player::Server(server) => server.play(),
        };
        let (report, code) = match result {
            Ok(report) => (report, 0),
            Err(error) => (serde_json::json!({"error": error.to_string()}), 1),
        };
        write(&report).map_or(1, |()| code)
    }
}

/// Of all flows of `part`.
fn transfers(plan: &Plan, part: &Part) -> Result<Vec<Transfer>> {
    let mut found = Vec::new();
    for &position in &part.flows {
        let flow = &plan.flows[position];
        let wrong = |message: String| Error::new(format!("flow {}: {message}", flow.name));
        let (from, to) = (&plan.nodes[flow.source], &plan.nodes[flow.destination]);
        let (_, there) = addresses(from, to).ok_or_else(|| wrong("has no address".into()))?;
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

/// How long a sender stays when it has sent everything: a run without duration ends with it, and what is on
/// its way is to arrive before.
fn linger_ns(plan: &Plan, network: &Network, flow: &Flow) -> u64 {
    if plan.duration_ns.is_some() {
        return 0;
    }
    let path = network.path(NodeId(flow.source as u32), NodeId(flow.destination as u32)).unwrap_or_default();
    let delays = path.iter().map(|direction| {
        let link = &plan.links[direction.link()];
        let laws = if direction.way() == Way::Forward { &link.forward } else { &link.reverse };
        laws.mean_delay_ns()
    });
    2 * delays.sum::<u64>() + QUEUES_NS
}

fn write(report: &Value) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{report}")?;
    out.flush()
}

/// Of both ends, in the family that simulated ends would use.
fn addresses(from: &Node, to: &Node) -> Option<(IpAddr, IpAddr)> {
    let v4 = from.ipv4.zip(to.ipv4).map(|(from, to)| (from.into(), to.into()));
    v4.or_else(|| from.ipv6.zip(to.ipv6).map(|(from, to)| (from.into(), to.into())))
}
