use super::*;
use longhaul_units::Span;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::num::NonZeroU64;

fn direction() -> Direction {
    Direction { delay: DelayModel::constant(Span::from_ns(1_000)), ..Direction::default() }
}

fn plan() -> Plan {
    let host = |name: &str, last| Node {
        name: name.into(),
        kind: NodeKind::Host,
        ipv4: Some(Ipv4Addr::new(10, 0, 0, last)),
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
    };
    Plan {
        version: VERSION,
        name: "pair".into(),
        seed: 1,
        duration_ns: None,
        coalesce_ns: 10_000,
        nodes: vec![host("a", 1), host("b", 2)],
        links: vec![Link {
            name: "a-b".into(),
            endpoints: [0, 1],
            mtu: 1500,
            present: true,
            forward: direction(),
            reverse: direction(),
        }],
        gateway: None,
        routes: vec![],
        programs: vec![],
        flows: vec![],
        jobs: vec![],
        algorithms: vec![],
        isolation: Isolation::default(),
        multipath: Multipath::None,
        events: vec![],
        measure: Measure {
            every_ns: 1,
            captures: vec![],
            snaplen: 96,
            packet_links: vec![],
            packet_window_ns: 0,
            journal: false,
            monitor: None,
            sockets_every_ns: None,
        },
    }
}

/// A simulated flow from the first node to the second, from the start on.
fn flow(traffic: Traffic) -> Flow {
    Flow { name: "f".into(), source: 0, destination: 1, start_ns: 0, stop_ns: None, simulated: true, traffic }
}

fn udp(bytes: Option<u64>) -> Traffic {
    Traffic::Udp {
        bits_per_s: 1_000,
        payload_bytes: 100,
        bytes,
        arrivals: Arrivals::Even,
        sizes: Sizes::Fixed,
        on_off: None,
    }
}

fn ping() -> Traffic {
    Traffic::Ping { every_ns: 1, payload_bytes: 56, count: None }
}

fn program() -> Program {
    Program {
        name: "p".into(),
        host: 0,
        argv: vec!["p".into()],
        cwd: None,
        env: BTreeMap::new(),
        start_ns: 0,
        after: vec![],
        stop_ns: None,
        service: false,
        ready: None,
        expect_exit: None,
        may_end: false,
        span: None,
        plays: None,
    }
}

#[test]
fn a_link_to_a_node_that_is_not_there_is_named() {
    let mut plan = plan();
    plan.links[0].endpoints[1] = 7;
    assert_eq!(plan.check().unwrap_err().to_string(), "links[0].endpoints: there is no node 7");
}

#[test]
fn a_program_that_could_never_start_is_refused() {
    let named = |name: &str, after: &[&str]| Program {
        name: name.into(),
        after: after.iter().map(|&each| each.into()).collect(),
        ..program()
    };
    let with = |programs: Vec<Program>| Plan { programs, ..plan() }.check();
    assert!(with(vec![named("c", &["a", "b"]), named("b", &["a"]), named("a", &[])]).is_ok());
    let refused = |programs| with(programs).unwrap_err().to_string();
    let unknown = refused(vec![named("a", &["z"])]);
    assert_eq!(unknown, "programs[0].after: there is no z");
    let circle = refused(vec![named("a", &[]), named("b", &["c"]), named("c", &["b"])]);
    assert_eq!(circle, "programs[1].after: waits for itself");
    let behind = refused(vec![named("a", &["b"]), named("b", &["c"]), named("c", &["b"])]);
    assert_eq!(behind, "programs[0].after: depends on a cycle of starts");
}

#[test]
fn a_name_that_no_kernel_takes_for_an_algorithm_is_refused() {
    let cc = longhaul_congestion::AlgorithmSettings::named("bic").unwrap();
    let named =
        |name: &str| Plan { algorithms: vec![Loaded { name: name.into(), cc: cc.clone() }], ..plan() };
    assert!(named("bic_12ab").check().is_ok());
    for name in ["", "sixteen_letters_", "bic-1"] {
        let error = named(name).check().unwrap_err().to_string();
        assert!(error.starts_with(&format!("algorithms[0].name: {name:?} is not a name")), "{error}");
    }
}

#[test]
fn nemcs_extra_delay_must_exceed_the_delay() {
    let mut plan = plan();
    plan.links[0].forward.reordering =
        Some(ReorderModel::Block { block: NonZeroU64::new(10).unwrap(), delay: Span::from_ns(1_000) });
    assert!(plan.check().unwrap_err().to_string().contains("must exceed"));
}

#[test]
fn a_sound_plan_passes() {
    assert_eq!(plan().check(), Ok(()));
}

#[test]
fn a_flow_has_an_end_if_it_stops_or_runs_out() {
    assert!(!flow(udp(None)).has_an_end());
    assert!(Flow { stop_ns: Some(5), ..flow(udp(None)) }.has_an_end());
    assert!(flow(udp(Some(5))).has_an_end());
}

#[test]
fn only_simulated_datagrams_begin_at_a_router() {
    let mut plan = plan();
    plan.nodes[0].kind = NodeKind::Router;
    for (traffic, simulated, good) in
        [(udp(None), true, true), (udp(None), false, false), (ping(), true, false)]
    {
        plan.flows = vec![Flow { simulated, ..flow(traffic) }];
        assert_eq!(plan.check().is_ok(), good);
    }
}

#[test]
fn a_program_plays_a_flow_that_is_there_and_real() {
    let mut plan = plan();
    let part = |flow| Part { flows: vec![flow], end: End::Source, port: 1, congestion_control: None };
    plan.programs = vec![Program { plays: Some(part(0)), ..program() }];
    assert_eq!(plan.check().unwrap_err().to_string(), "programs[0].plays.flows[0]: there is no flow 0");
    plan.flows = vec![flow(ping())];
    assert_eq!(plan.check().unwrap_err().to_string(), "programs[0].plays.flows[0]: is simulated");
    plan.flows[0].simulated = false;
    assert_eq!(plan.check(), Ok(()));
    plan.programs[0].plays = Some(Part { end: End::Sink, ..part(0) });
    assert_eq!(plan.check().unwrap_err().to_string(), "programs[0].plays.flows[0]: has another end there");
    plan.programs[0].plays = Some(Part { flows: vec![0, 0], ..part(0) });
    assert_eq!(plan.check().unwrap_err().to_string(), "programs[0].plays.flows[0]: has ends of its own");

    // A flow may go to an interface: its host plays the end.
    plan.nodes.push(Node {
        name: "b.r".into(),
        kind: NodeKind::Interface,
        of: Some(1),
        ..plan.nodes[1].clone()
    });
    plan.flows[0].destination = plan.nodes.len() - 1;
    plan.programs[0] = Program { host: 1, plays: Some(Part { end: End::Sink, ..part(0) }), ..program() };
    assert_eq!(plan.check(), Ok(()));
}

#[test]
fn a_parallel_program_has_hosts_each_once_and_slots_on_them() {
    let mut plan = plan();
    for (hosts, slots, expected) in [
        (vec![1, 0], 2, Ok(())),
        (vec![], 2, Err("programs[0].span.hosts: are none".into())),
        (vec![0, 1, 0], 2, Err("programs[0].span.hosts[2]: is there twice".into())),
        (vec![0, 2], 2, Err("programs[0].span.hosts[1]: there is no node 2".into())),
        (vec![0, 1], 0, Err("programs[0].span.slots: must be positive".into())),
    ] {
        let span = Some(Placement { hosts, slots, ranks: Ranks::ByCluster });
        plan.programs = vec![Program { span, ..program() }];
        assert_eq!(plan.check().map_err(|invalid| invalid.to_string()), expected);
    }
    plan.nodes[1].kind = NodeKind::Router;
    let span = Some(Placement { hosts: vec![0, 1], slots: 1, ranks: Ranks::RoundRobin });
    plan.programs = vec![Program { span, ..program() }];
    assert_eq!(plan.check().unwrap_err().to_string(), "programs[0].span.hosts[1]: a router runs no programs");
}

#[test]
fn listed_transfers_have_bytes_and_are_in_order() {
    let mut plan = plan();
    for (transfers, expected) in [
        (vec![(5, 1), (5, 1), (6, 2)], Ok(())),
        (vec![(0, 1), (5, 0)], Err("flows[0].traffic.transfers[1]: has no bytes".into())),
        (
            vec![(5, 1), (6, 1), (5, 1)],
            Err("flows[0].traffic.transfers[2]: begins before the one before it".into()),
        ),
    ] {
        plan.flows = vec![flow(Traffic::Replay {
            transfers,
            cc: longhaul_congestion::AlgorithmSettings::named("reno").unwrap(),
            tcp: Tcp::default(),
        })];
        assert!(plan.flows[0].has_an_end());
        assert_eq!(plan.check().map_err(|invalid| invalid.to_string()), expected);
    }
}

/// Makes a plan wrong.
type Spoil = fn(&mut Plan);

#[test]
fn interfaces_belong_to_hosts_which_send_from_their_own() {
    let mut right = plan();
    right.nodes.push(Node {
        name: "a.r".into(),
        kind: NodeKind::Interface,
        of: Some(0),
        ..right.nodes[0].clone()
    });
    right.nodes[0].main_routes = vec![MainRoute { destination: 1, interface: 2 }];
    assert_eq!(right.check(), Ok(()));
    assert_eq!(right.interfaces(0).collect::<Vec<_>>(), [0, 2]);
    assert_eq!(right.interfaces(1).collect::<Vec<_>>(), [1]);
    let wrong: [(Spoil, &str); 5] = [
        (|plan| plan.nodes[2].of = None, "nodes[2].of: is missing"),
        (|plan| plan.nodes[2].of = Some(9), "nodes[2].of: there is no node 9"),
        (|plan| plan.nodes[2].of = Some(2), "nodes[2].of: is not a host"),
        (|plan| plan.nodes[1].of = Some(0), "nodes[1].of: belongs to interfaces only"),
        (|plan| plan.nodes[2].of = Some(1), "nodes[0].main_routes: name an interface of another host"),
    ];
    for (spoil, message) in wrong {
        let mut plan = right.clone();
        spoil(&mut plan);
        assert_eq!(plan.check().unwrap_err().to_string(), message);
    }
}
