use super::*;

fn direction() -> Direction {
    Direction { delay: DelayModel::Constant { delay_ns: 1_000 }, ..Direction::default() }
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
            forward: direction(),
            reverse: direction(),
        }],
        gateway: None,
        routes: vec![],
        programs: vec![],
        flows: vec![],
        jobs: vec![],
        laws: vec![],
        isolation: Default::default(),
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
    assert_eq!(plan.check().unwrap_err(), "links[0].endpoints: there is no node 7");
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
    let unknown = with(vec![named("a", &["z"])]).unwrap_err();
    assert_eq!(unknown, "programs[0].after: there is no z");
    let circle = with(vec![named("a", &[]), named("b", &["c"]), named("c", &["b"])]).unwrap_err();
    assert_eq!(circle, "programs[1].after: waits for itself");
    let behind = with(vec![named("a", &["b"]), named("b", &["c"]), named("c", &["b"])]).unwrap_err();
    assert_eq!(behind, "programs[0].after: depends on a cycle of starts");
}

#[test]
fn an_impossible_burst_is_refused() {
    let mut plan = plan();
    // A share of 0.9 lost in bursts of one would need more than every second packet lost.
    plan.links[0].forward.loss = LossModel::GilbertElliott { mean: 0.9, burst: 1.0 };
    assert!(plan.check().unwrap_err().starts_with("links[0].forward.loss.burst"));
}

#[test]
fn a_name_that_no_kernel_takes_for_a_law_is_refused() {
    let law = longhaul_congestion::AlgorithmSettings::named("bic").unwrap();
    let named = |name: &str| Plan { laws: vec![Loaded { name: name.into(), law: law.clone() }], ..plan() };
    assert!(named("bic_12ab").check().is_ok());
    for name in ["", "sixteen_letters_", "bic-1"] {
        let error = named(name).check().unwrap_err();
        assert!(error.starts_with("laws[0].name: no kernel takes"), "{error}");
    }
}

#[test]
fn nemcs_extra_delay_must_exceed_the_delay() {
    let mut plan = plan();
    plan.links[0].forward.reordering = Some(ReorderModel::Block { block: 10, delay_ns: 1_000 });
    assert!(plan.check().unwrap_err().contains("must exceed"));
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
    assert_eq!(plan.check().unwrap_err(), "programs[0].plays.flows[0]: there is no flow 0");
    plan.flows = vec![flow(ping())];
    assert_eq!(plan.check().unwrap_err(), "programs[0].plays.flows[0]: is simulated");
    plan.flows[0].simulated = false;
    assert_eq!(plan.check(), Ok(()));
    plan.programs[0].plays = Some(Part { end: End::Sink, ..part(0) });
    assert_eq!(plan.check().unwrap_err(), "programs[0].plays.flows[0]: has another end there");
    plan.programs[0].plays = Some(Part { flows: vec![0, 0], ..part(0) });
    assert_eq!(plan.check().unwrap_err(), "programs[0].plays.flows[0]: has ends of its own");
}

#[test]
fn a_parallel_program_has_hosts_each_once_and_slots_on_them() {
    let mut plan = plan();
    for (hosts, slots, expected) in [
        (vec![1, 0], 2, Ok(())),
        (vec![], 2, Err("programs[0].span.hosts: are none".to_owned())),
        (vec![0, 1, 0], 2, Err("programs[0].span.hosts[2]: is there twice".into())),
        (vec![0, 2], 2, Err("programs[0].span.hosts[1]: there is no node 2".into())),
        (vec![0, 1], 0, Err("programs[0].span.slots: must be positive".into())),
    ] {
        let span = Some(Span { hosts, slots, ranks: Ranks::ByCluster });
        plan.programs = vec![Program { span, ..program() }];
        assert_eq!(plan.check(), expected);
    }
    plan.nodes[1].kind = NodeKind::Router;
    let span = Some(Span { hosts: vec![0, 1], slots: 1, ranks: Ranks::RoundRobin });
    plan.programs = vec![Program { span, ..program() }];
    assert_eq!(plan.check().unwrap_err(), "programs[0].span.hosts[1]: a router runs no programs");
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
            law: longhaul_congestion::AlgorithmSettings::named("reno").unwrap(),
            tcp: Tcp::default(),
        })];
        assert!(plan.flows[0].has_an_end());
        assert_eq!(plan.check(), expected);
    }
}
