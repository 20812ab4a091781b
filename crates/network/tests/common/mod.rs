//! A small network for tests.

use longhaul_network::{Flags, NodeId, Packet};
use longhaul_plan::*;
use longhaul_units::{Rate, Span, Time};
use std::collections::BTreeMap;

pub fn direction(delay_ns: u64, bits_per_s: Option<u64>) -> Direction {
    Direction {
        queue: QueueModel { limit_packets: Some(20), ..QueueModel::default() },
        rate: bits_per_s.map_or(RateModel::Unlimited {}, |bits_per_s| {
            RateModel::constant(Rate::from_bits_per_s(bits_per_s).unwrap())
        }),
        delay: DelayModel::constant(Span::from_ns(delay_ns)),
        ..Direction::default()
    }
}

pub fn node(name: &str, kind: NodeKind, number: u8) -> Node {
    Node {
        name: name.into(),
        kind,
        ipv4: Some([10, 0, 0, number].into()),
        ipv6: None,
        mtu: 1500,
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

/// A link with this delay in both directions, and no rate.
pub fn link(name: &str, endpoints: [usize; 2], ms: u64) -> Link {
    Link {
        name: name.into(),
        endpoints,
        mtu: 1500,
        present: true,
        forward: direction(ms * 1_000_000, None),
        reverse: direction(ms * 1_000_000, None),
    }
}

/// a - r - s - b with 1, 2 and 3 ms; a slower way r - t - s beside it.
pub fn plan() -> Plan {
    let nodes = vec![
        node("a", NodeKind::Host, 1),
        node("b", NodeKind::Host, 2),
        node("r", NodeKind::Router, 3),
        node("s", NodeKind::Router, 4),
        node("t", NodeKind::Router, 5),
    ];
    Plan {
        version: VERSION,
        name: "test".into(),
        seed: 7,
        duration_ns: None,
        coalesce_ns: 10_000,
        nodes,
        links: vec![
            link("a-r", [0, 2], 1),
            link("r-s", [2, 3], 2),
            link("s-b", [3, 1], 3),
            link("r-t", [2, 4], 5),
            link("t-s", [4, 3], 5),
        ],
        gateway: None,
        routes: vec![],
        programs: vec![],
        flows: vec![],
        jobs: vec![],
        algorithms: vec![],
        isolation: Isolation::default(),
        multipath: longhaul_plan::Multipath::None,
        events: vec![],
        measure: Measure {
            every_ns: 1,
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

pub fn packet(body: u32, bytes: u32) -> Packet {
    Packet {
        body,
        segment: 0,
        segments: 1,
        bytes,
        source: NodeId(0),
        destination: NodeId(1),
        ttl: 64,
        hops: 0,
        flags: Flags::empty(),
        class: 0,
        flow: 0,
        damage: 0,
        offered: Time::ZERO,
    }
}
