//! Small plans, and what a run of them counts.

use longhaul_congestion::AlgorithmSettings;
use longhaul_plan::*;
use longhaul_sim::{Records, Simulation};
use longhaul_units::{Probability, Rate, Span, Time};
use serde_json::Value;
use std::collections::BTreeMap;

pub const MS: u64 = 1_000_000;
pub const SECOND: u64 = 1_000_000_000;
/// IPv4, TCP and its timestamps.
pub const HEADER_BYTES: u64 = 52;
/// Fast enough that no window of these tests waits for it for as much as a millisecond.
pub const FAST: Option<u64> = Some(100_000_000_000);

pub fn probability(p: f64) -> Probability {
    Probability::new(p).unwrap()
}

/// One direction that loses nothing, with a queue without limit.
pub fn direction(delay_ns: u64, bits_per_s: Option<u64>) -> Direction {
    Direction {
        rate: bits_per_s.map_or(RateModel::Unlimited {}, |bits_per_s| {
            RateModel::constant(Rate::from_bits_per_s(bits_per_s).unwrap())
        }),
        delay: DelayModel::constant(Span::from_ns(delay_ns)),
        ..Direction::default()
    }
}

/// The same with a queue of `packets`, the one on the wire not counted.
pub fn queued(delay_ns: u64, bits_per_s: u64, packets: u64) -> Direction {
    Direction {
        queue: QueueModel { limit_packets: Some(packets), ..QueueModel::default() },
        ..direction(delay_ns, Some(bits_per_s))
    }
}

/// The same with a loss model.
pub fn lossy(delay_ns: u64, loss: LossModel) -> Direction {
    Direction { loss, ..direction(delay_ns, FAST) }
}

fn node(number: usize, kind: NodeKind, mtu: u32) -> Node {
    Node {
        name: format!("n{number}"),
        kind,
        ipv4: Some([10, 0, 0, number as u8 + 1].into()),
        ipv6: None,
        mtu: if kind == NodeKind::Host { mtu } else { 0 },
        sysctls: BTreeMap::new(),
        initial_window: None,
        of: None,
        aliases: Vec::new(),
        main_routes: Vec::new(),
        no_path_to: Vec::new(),
        segment: None,
        forwards: false,
        port: None,
        mptcp: None,
        line_bits_per_s: None,
        settings: None,
    }
}

/// Nodes of these kinds, and links between them, there and back.
pub fn network(mtu: u32, kinds: &[NodeKind], links: Vec<([usize; 2], Direction, Direction)>) -> Plan {
    let link = |(number, (endpoints, forward, reverse))| Link {
        name: format!("l{number}"),
        endpoints,
        mtu,
        present: true,
        forward,
        reverse,
    };
    Plan {
        version: VERSION,
        name: "test".into(),
        seed: 7,
        duration_ns: Some(1_000_000 * SECOND),
        coalesce_ns: 0,
        nodes: kinds.iter().enumerate().map(|(number, &kind)| node(number, kind, mtu)).collect(),
        links: links.into_iter().enumerate().map(link).collect(),
        gateway: None,
        routes: vec![],
        programs: vec![],
        jobs: vec![],
        algorithms: vec![],
        isolation: Isolation::default(),
        multipath: longhaul_plan::Multipath::None,
        flows: vec![],
        events: vec![],
        measure: Measure {
            every_ns: SECOND,
            captures: vec![],
            snaplen: 0,
            packet_links: vec![],
            packet_window_ns: 0,
            journal: false,
            monitor: None,
            sockets_every_ns: None,
        },
    }
}

/// Host 0, routers, and a host behind the last of `links`.
pub fn chain(mtu: u32, links: Vec<(Direction, Direction)>) -> Plan {
    let mut kinds = vec![NodeKind::Router; links.len() + 1];
    (kinds[0], kinds[links.len()]) = (NodeKind::Host, NodeKind::Host);
    let links =
        links.into_iter().enumerate().map(|(at, (forward, reverse))| ([at, at + 1], forward, reverse));
    network(mtu, &kinds, links.collect())
}

/// Host 0 and host 1 at the ends of one link; the way back has the delay of the way there.
pub fn pipe(mtu: u32, forward: Direction) -> Plan {
    let back = direction(forward.delay.mean().ns(), FAST);
    chain(mtu, vec![(forward, back)])
}

/// Routers 0 and 1 around `bottleneck`, which is link 0; senders 2, 4 ... and receivers 3, 5 ..., one
/// pair for each of `access_ns`, the one-way delay between a sender and its router.
pub fn dumbbell(mtu: u32, access_ns: &[u64], bottleneck: Direction) -> Plan {
    let mut kinds = vec![NodeKind::Router; 2];
    let back = direction(bottleneck.delay.mean().ns(), FAST);
    let mut links = vec![([0, 1], bottleneck, back)];
    for (pair, &delay_ns) in access_ns.iter().enumerate() {
        kinds.extend([NodeKind::Host; 2]);
        links.push(([2 + 2 * pair, 0], direction(delay_ns, FAST), direction(delay_ns, FAST)));
        links.push(([1, 3 + 2 * pair], direction(0, FAST), direction(0, FAST)));
    }
    network(mtu, &kinds, links)
}

/// `pipes` side by side that share nothing: hosts 0 and 1, 2 and 3, ...
pub fn apart(mtu: u32, pipes: Vec<Direction>) -> Plan {
    let kinds = vec![NodeKind::Host; 2 * pipes.len()];
    let links = pipes.into_iter().enumerate().map(|(at, forward)| {
        let back = direction(forward.delay.mean().ns(), FAST);
        ([2 * at, 2 * at + 1], forward, back)
    });
    network(mtu, &kinds, links.collect())
}

pub fn flow(name: &str, ends: [usize; 2], traffic: Traffic) -> Flow {
    let [source, destination] = ends;
    let simulated = true;
    Flow { name: name.into(), source, destination, start_ns: 0, stop_ns: None, simulated, traffic }
}

/// A bulk transfer without end.
pub fn tcp(algorithm: AlgorithmSettings, tcp: Tcp) -> Traffic {
    Traffic::Tcp {
        streams: 1,
        cc: algorithm,
        tcp,
        bytes: None,
        bits_per_s: None,
        held: false,
        subflows: vec![],
    }
}

pub fn named(algorithm: &str) -> AlgorithmSettings {
    AlgorithmSettings::named(algorithm).unwrap()
}

/// RFC 6675 with an acknowledgement for each segment.
pub fn sack() -> Tcp {
    Tcp { recovery: Recovery::Sack, delayed_ack: false, ..Tcp::default() }
}

/// `plan` with flows.
pub fn with(plan: Plan, flows: Vec<Flow>) -> Plan {
    Plan { flows, ..plan }
}

/// Link 0 goes up or down in both directions.
pub fn turn(at_ns: u64, up: bool) -> Event {
    let change = Change { up: Some(up), ..Change::default() };
    Event { at_ns, link: 0, direction: None, route: None, change, cause: None }
}

/// One bulk transfer from host 0 to host 1 over one link.
pub fn one(mtu: u32, forward: Direction, algorithm: AlgorithmSettings, settings: Tcp) -> Plan {
    with(pipe(mtu, forward), vec![flow("bulk", [0, 1], tcp(algorithm, settings))])
}

/// A run that is looked at now and then.
pub struct Run(Simulation);

/// What had been counted by an instant.
pub struct Count {
    pub at_s: f64,
    pub all: Value,
}

impl Run {
    pub fn new(plan: &Plan) -> Self {
        Run(Simulation::new(plan.clone(), Records::none()).unwrap())
    }

    pub fn until(&mut self, seconds: f64) -> Count {
        let ended = self.0.advance(Time::from_ps((seconds * 1e12) as u64), u64::MAX);
        assert!(!ended, "the plan lasts longer");
        Count { at_s: seconds, all: self.0.finish().unwrap() }
    }

    /// The counts at two instants.
    pub fn between(plan: &Plan, from_s: f64, to_s: f64) -> [Count; 2] {
        let mut run = Run::new(plan);
        [run.until(from_s), run.until(to_s)]
    }

    /// To the end of the run: when that was, and the counts.
    pub fn whole(plan: &Plan) -> (Time, Value) {
        let mut simulation = Simulation::new(plan.clone(), Records::none()).unwrap();
        assert!(simulation.advance(Time::NEVER, u64::MAX));
        (simulation.now(), simulation.finish().unwrap())
    }
}

impl Count {
    pub fn flow(&self, flow: usize, field: &str) -> f64 {
        self.all["flows"][flow][field].as_f64().unwrap()
    }

    /// Of the forward direction; a path such as `waits/max_ns`.
    pub fn link(&self, link: usize, field: &str) -> f64 {
        self.all["links"][link]["forward"].pointer(&format!("/{field}")).unwrap().as_f64().unwrap()
    }

    /// Sum of the waiting times at the queue, in seconds.
    fn waited_s(&self, link: usize) -> f64 {
        let entered = self.link(link, "delivered_packets") + self.link(link, "flying_packets");
        self.link(link, "waits/mean_ns") * entered / 1e9
    }
}

/// Payload per second that stream `flow` delivered in order between two instants, in bit/s.
pub fn goodput([from, to]: &[Count; 2], flow: usize) -> f64 {
    8.0 * (to.flow(flow, "bytes") - from.flow(flow, "bytes")) / (to.at_s - from.at_s)
}

/// Mean waiting time of the packets that went through a link between two instants, in seconds.
pub fn waiting([from, to]: &[Count; 2], link: usize) -> f64 {
    let packets = to.link(link, "delivered_packets") - from.link(link, "delivered_packets");
    (to.waited_s(link) - from.waited_s(link)) / packets
}

/// Segments of full size that stream `flow` delivered per round trip of `rtt_s`: over a path without a
/// queue that is the mean window.
pub fn mean_window(counts: &[Count; 2], flow: usize, mtu: u32, rtt_s: f64) -> f64 {
    goodput(counts, flow) * rtt_s / (8.0 * (f64::from(mtu) - HEADER_BYTES as f64))
}

/// Asserts that `got` is `expected` but for a share of `tolerance`.
#[track_caller]
pub fn near(what: &str, got: f64, expected: f64, tolerance: f64) {
    assert!(
        (got / expected - 1.0).abs() <= tolerance,
        "{what}: got {got:.5}, expected {expected:.5} within {:.1} %",
        tolerance * 100.0
    );
}

/// Datagrams of one size, evenly spaced.
pub fn even(bits_per_s: u64, payload_bytes: u32, bytes: Option<u64>) -> Traffic {
    let (arrivals, sizes) = (Arrivals::Even, Sizes::Fixed);
    Traffic::Udp { bits_per_s, payload_bytes, bytes, arrivals, sizes, on_off: None }
}
