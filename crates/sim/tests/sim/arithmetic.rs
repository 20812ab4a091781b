//! Delays, losses and counts that arithmetic foretells.

use crate::common::*;
use longhaul_plan::*;
use longhaul_sim::{Records, Simulation};
use longhaul_units::{Span, Time};
use proptest::prelude::*;
use std::num::{NonZeroU32, NonZeroU64};

fn ping(payload_bytes: u32, count: u64) -> Traffic {
    Traffic::Ping { every_ns: 100 * MS, payload_bytes, count: Some(count) }
}

#[test]
fn an_echo_takes_the_sum_of_sizes_over_rates_and_delays_to_the_picosecond() {
    // Picoseconds per byte of 10 Mbit/s, 1 Gbit/s, 100 Gbit/s and of 800 Mbit/s, 4 Gbit/s, 8 Tbit/s.
    let there = [(3 * MS, 10_000_000), (7_000_001, 1_000_000_000), (123_456_789, 100_000_000_000)];
    let back = [(1, 800_000_000), (5 * MS, 4_000_000_000), (99, 8_000_000_000_000)];
    let ps_per_byte = [800_000, 8_000, 80, 10_000, 2_000, 1];
    let links =
        there.iter().zip(&back).map(|(&(d, r), &(e, s))| (direction(d, Some(r)), direction(e, Some(s))));
    let plan = chain(1500, links.collect());
    for payload in [0u64, 56, 1472] {
        let plan = Plan {
            duration_ns: None,
            ..with(plan.clone(), vec![flow("ping", [0, 3], ping(payload as u32, 1))])
        };
        let bytes = payload + 8 + 20;
        let delays_ns: u64 = there.iter().chain(&back).map(|&(delay_ns, _)| delay_ns).sum();
        let expected = 1000 * delays_ns + ps_per_byte.iter().map(|each| bytes * each).sum::<u64>();
        let (end, counts) = Run::whole(&plan);
        assert_eq!(end.ps(), expected, "{payload}");
        assert_eq!(counts["flows"][0]["received"], 1);
        assert_eq!(counts["hops"], 6);
    }
}

#[test]
fn an_echo_behind_another_waits_for_its_serialisation() {
    // 1028 bytes at 1 Mbit/s: 8.224 ms each. The second pair of hosts shares the bottleneck only.
    let plan = dumbbell(1500, &[0, 0], direction(MS, Some(1_000_000)));
    let flows = vec![flow("first", [2, 3], ping(1000, 1)), flow("second", [4, 5], ping(1000, 1))];
    let (end, counts) = Run::whole(&Plan { duration_ns: None, ..with(plan, flows) });
    let fast_ps = 80 * 1028;
    // Access, bottleneck twice, its way out; then back over three fast links.
    assert_eq!(end.ps(), 2 * 8_000_000 * 1028 + 2_000_000_000 + 5 * fast_ps);
    assert_eq!(counts["links"][0]["forward"]["waits"]["max_ns"], 8_224_000);
}

#[test]
fn datagrams_that_come_too_fast_are_lost_in_the_ratio_of_the_rates() {
    // 972 + 28 bytes; 9.72 Mbit/s of payload are 10 Mbit/s on the wire.
    for (link_bits_per_s, limit) in [(8_000_000u64, 50u64), (2_500_000, 7), (9_900_000, 20)] {
        let plan = pipe(1500, queued(MS, link_bits_per_s, limit));
        let traffic = even(9_720_000, 972, Some(972 * 50_000));
        let (_, counts) =
            Run::whole(&Plan { duration_ns: None, ..with(plan, vec![flow("udp", [0, 1], traffic)]) });
        let received = counts["flows"][0]["received"].as_f64().unwrap();
        assert_eq!(counts["flows"][0]["sent"], 50_000);
        // From the first packet to the last the line is never idle; what waits then comes as well.
        let expected = (0.0008 * 49_999.0) * link_bits_per_s as f64 / 8000.0 + limit as f64 + 1.0;
        assert!((received - expected).abs() <= 1.0, "{received} of {expected}");
        let link = &counts["links"][0]["forward"];
        assert_eq!(received + link["overflowed_packets"].as_f64().unwrap(), 50_000.0);
        // Nobody waits for more than those ahead of him in a full queue, and the one on the wire.
        let packet_ns = 8e12 / link_bits_per_s as f64;
        let longest = link["waits"]["max_ns"].as_f64().unwrap();
        assert!(longest <= limit as f64 * packet_ns, "{longest}");
        assert!(longest >= (limit - 1) as f64 * packet_ns, "{longest}");
    }
}

#[test]
fn datagrams_between_routers_cross_their_link_alone() {
    // 972 + 28 bytes at 10 Mbit/s, and the wire; they come every 972 us, so that none waits.
    let plan = dumbbell(1500, &[0], direction(MS, Some(10_000_000)));
    let load = Flow { simulated: true, ..flow("load", [0, 1], even(8_000_000, 972, Some(972 * 100))) };
    let plan = Plan { duration_ns: None, ..with(plan, vec![load]) };
    assert_eq!(plan.check(), Ok(()));
    let (_, counts) = Run::whole(&plan);
    let flow = &counts["flows"][0];
    assert_eq!((&flow["sent"], &flow["received"], &flow["copies"]), (&100.into(), &100.into(), &0.into()));
    assert_eq!((&flow["delay"]["count"], &flow["delay"]["max_ns"]), (&100.into(), &1_800_000.into()));
    assert_eq!(counts["hops"], 100);
}

#[test]
fn datagrams_through_a_faster_link_neither_wait_nor_get_lost() {
    let traffic = even(9_720_000, 972, Some(972 * 1000));
    let plan = with(pipe(1500, queued(MS, 10_000_000, 1)), vec![flow("udp", [0, 1], traffic)]);
    let (end, counts) = Run::whole(&Plan { duration_ns: None, ..plan });
    assert_eq!(counts["flows"][0]["received"], 1000);
    assert_eq!(counts["links"][0]["forward"]["waits"]["max_ns"], 0);
    // The last of 1000 leaves after 999 intervals of 0.8 ms.
    assert_eq!(end.ns(), 999 * 800_000 + 800_000 + MS);
}

#[test]
fn a_plan_without_end_is_refused() {
    let endless = [
        tcp(named("reno"), Tcp::default()),
        even(1000, 10, None),
        Traffic::Ping { every_ns: MS, payload_bytes: 10, count: None },
    ];
    for traffic in endless {
        let plan = with(pipe(1500, queued(MS, 1_000_000, 20)), vec![flow("endless", [0, 1], traffic)]);
        assert!(Simulation::new(plan.clone(), Records::none()).is_ok(), "the run ends");
        let plan = Plan { duration_ns: None, ..plan };
        let error = Simulation::new(plan.clone(), Records::none()).err().unwrap();
        assert_eq!(error.path(), "flows[0].stop_ns");
        let mut stopped = plan;
        stopped.flows[0].stop_ns = Some(SECOND);
        let (end, _) = Run::whole(&stopped);
        // What was sent before the stop arrives after it: at most 21 packets and the one on the wire.
        assert!((900 * MS..1300 * MS).contains(&end.ns()), "{end:?}");
    }
}

#[test]
fn transfers_of_a_size_end_and_count_each_byte_once() {
    let mut forward = lossy(10 * MS, LossModel::Independent { probability: probability(0.02) });
    (forward.duplicate, forward.corrupt) = (probability(0.05), probability(0.02));
    forward.reordering =
        Some(ReorderModel::Share { probability: probability(0.02), delay: Span::from_ns(14 * MS) });
    let traffic = Traffic::Tcp {
        streams: 3,
        cc: named("cubic"),
        tcp: Tcp::default(),
        bytes: Some(1_234_567),
        bits_per_s: None,
        held: false,
        subflows: vec![],
    };
    let plan = with(pipe(1500, forward), vec![flow("sized", [0, 1], traffic)]);
    let (end, counts) = Run::whole(&Plan { duration_ns: None, ..plan });
    let flows = counts["flows"].as_array().unwrap();
    assert_eq!(flows.len(), 3);
    for each in flows {
        assert_eq!(each["bytes"], 1_234_567);
        assert_eq!(each["state"], "closed");
        let done_ns = each["done_ns"].as_u64().unwrap();
        assert!(done_ns > 0 && done_ns <= end.ns(), "{done_ns}");
        // Goodput is over the time to the end of this stream, not of the run.
        let rate = each["goodput_bits_per_s"].as_f64().unwrap();
        near("goodput", rate, 8.0 * 1_234_567.0 / (done_ns as f64 / 1e9), 1e-8);
    }
    assert!(counts["damaged"].as_u64().unwrap() > 0);
    assert_eq!(counts["packets"]["held"], 0);
}

#[test]
fn a_paced_application_sends_at_its_rate() {
    let traffic = Traffic::Tcp {
        streams: 1,
        cc: named("reno"),
        tcp: Tcp::default(),
        bytes: None,
        bits_per_s: Some(8_000_000),
        held: false,
        subflows: vec![],
    };
    let plan = with(pipe(1500, direction(10 * MS, FAST)), vec![flow("paced", [0, 1], traffic)]);
    near("goodput", goodput(&Run::between(&plan, 1.0, 11.0), 0), 8e6, 0.001);
}

fn any_route() -> impl Strategy<Value = Direction> {
    let loss = prop_oneof![
        Just(LossModel::None {}),
        (0.0..0.2).prop_map(|share| LossModel::Independent { probability: probability(share) }),
        (2u64..50).prop_map(|every| LossModel::Periodic { every: NonZeroU64::new(every).unwrap() }),
        (0.001f64..0.1, 1.0f64..5.0).prop_map(|(mean, burst)| LossModel::GilbertElliott { mean, burst }),
    ];
    let (target_ns, interval_ns) = (5 * MS, 100 * MS);
    let discipline = prop_oneof![
        Just(QueueDiscipline::Fifo),
        Just(QueueDiscipline::HeadDrop),
        any::<bool>().prop_map(move |ecn| QueueDiscipline::Codel(CodelParameters {
            target: Span::from_ns(target_ns),
            interval: Span::from_ns(interval_ns),
            ecn
        })),
        any::<bool>().prop_map(move |ecn| QueueDiscipline::FqCodel(FqCodelParameters {
            target: Span::from_ns(target_ns),
            interval: Span::from_ns(interval_ns),
            quantum: NonZeroU32::new(1514).unwrap(),
            flows: 16,
            ecn
        })),
        Just(QueueDiscipline::Drr(DrrParameters { quantum: NonZeroU32::new(1500).unwrap(), flows: 16 })),
    ];
    let rate = prop_oneof![Just(None), (100_000u64..50_000_000).prop_map(Some)];
    let wire = (0u64..20 * MS, rate, 0.0f64..0.1, 0.0f64..0.05, 0.0f64..0.1);
    (wire, 1u64..60, loss, discipline, any::<bool>()).prop_map(|(wire, limit, loss, discipline, after)| {
        let (delay_ns, rate, duplicate, corrupt, share) = wire;
        Direction {
            loss,
            loss_position: if after { LossPosition::Egress } else { LossPosition::Ingress },
            queue: QueueModel { limit_packets: Some(limit), discipline, ..QueueModel::default() },
            duplicate: probability(duplicate),
            corrupt: probability(corrupt),
            reordering: Some(ReorderModel::Share {
                probability: probability(share),
                delay: Span::from_ns(delay_ns + 7 * MS),
            }),
            ..direction(delay_ns, rate)
        }
    })
}

fn any_direction() -> impl Strategy<Value = Direction> {
    let policy = prop_oneof![
        Just(Policy::RoundRobin),
        Just(Policy::LeastQueued),
        Just(Policy::FlowHash { key: FlowKey::Flow })
    ];
    let resequence = prop_oneof![
        Just(None),
        (MS..50 * MS, 1500u64..60_000).prop_map(|(wait_ns, limit_bytes)| Some(Resequence {
            wait: Span::from_ns(wait_ns),
            limit_bytes
        })),
    ];
    let bundle =
        (policy, prop::collection::vec(any_route().prop_map(|route| route.link_model()), 2..4), resequence)
            .prop_map(|(policy, routes, resequence)| Direction {
                bundle: Some(Box::new(BundleModel { policy, routes, resequence })),
                ..direction(10 * MS, None)
            });
    prop_oneof![3 => any_route(), 1 => bundle]
}

fn any_traffic() -> impl Strategy<Value = Traffic> {
    let recovery = prop_oneof![
        Just(Recovery::Tahoe),
        Just(Recovery::Reno),
        Just(Recovery::Newreno),
        Just(Recovery::Sack),
        Just(Recovery::SackAdaptive),
        Just(Recovery::Rack)
    ];
    let stream = (0..longhaul_congestion::NAMES.len(), recovery, any::<bool>(), 1u32..3).prop_map(
        |(algorithm, recovery, flag, streams)| Traffic::Tcp {
            streams,
            cc: named(longhaul_congestion::NAMES[algorithm]),
            tcp: Tcp { recovery, ecn: flag, delayed_ack: !flag, ..Tcp::default() },
            bytes: None,
            bits_per_s: None,
            held: false,
            subflows: vec![],
        },
    );
    prop_oneof![
        3 => stream,
        1 => (10_000u64..5_000_000, 1u32..1400)
            .prop_map(|(bits_per_s, payload_bytes)| even(bits_per_s, payload_bytes, None)),
        1 => (MS..100 * MS, 0u32..1400)
            .prop_map(|(every_ns, payload_bytes)| Traffic::Ping { every_ns, payload_bytes, count: None }),
    ]
}

/// Any of the above over any chain of up to three links, in both directions, for three seconds; the
/// first link is down for a while.
pub fn any_plan() -> impl Strategy<Value = Plan> {
    let links = prop::collection::vec((any_direction(), any_direction()), 1..4);
    let flows = prop::collection::vec((any_traffic(), any::<bool>(), 0..SECOND), 1..4);
    (links, flows, any::<u64>(), 0..3 * SECOND).prop_map(|(links, flows, seed, down_ns)| {
        let last = links.len();
        let flows = flows.into_iter().enumerate().map(|(number, (traffic, back, start_ns))| {
            let ends = if back { [last, 0] } else { [0, last] };
            Flow { start_ns, ..flow(&format!("f{number}"), ends, traffic) }
        });
        let events = vec![turn(down_ns, false), turn(down_ns + 300 * MS, true)];
        Plan { seed, duration_ns: Some(3 * SECOND), events, ..with(chain(1500, links), flows.collect()) }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_packet_has_one_fate_at_every_instant(plan in any_plan()) {
        let mut simulation = Simulation::new(plan.clone(), Records::none()).unwrap();
        for tenths in 1..=30 {
            simulation.advance(Time::from_ns(100 * tenths * MS), u64::MAX);
            let counts = simulation.finish().unwrap();
            let packets = &counts["packets"];
            let sum = |names: &[&str]| names.iter().map(|&name| packets[name].as_u64().unwrap()).sum::<u64>();
            let fates = ["delivered", "lost", "overflowed", "dropped", "down", "no_route", "ttl_expired", "too_big"];
            prop_assert_eq!(
                sum(&["injected", "copied", "replies"]),
                sum(&fates) + sum(&["answered", "held"])
            );
            for link in counts["links"].as_array().unwrap() {
                for way in ["forward", "reverse"] {
                    let sum = |names: &[&str]| {
                        names.iter().map(|&name| link[way][name].as_u64().unwrap()).sum::<u64>()
                    };
                    prop_assert_eq!(
                        sum(&["offered_packets", "copied_packets"]),
                        sum(&["delivered_packets", "lost_packets", "overflowed_packets", "dropped_packets",
                              "down_packets", "waiting_packets", "flying_packets"])
                    );
                }
            }
        }
    }
}

#[test]
fn round_trips_are_the_path_and_the_queue() {
    // 40 ms, and 1.2 ms for itself and for each of up to 20 that wait and one that is being sent.
    let plan = one(1500, queued(20 * MS, 10_000_000, 20), named("reno"), sack());
    let (_, counts) = Run::whole(&Plan { duration_ns: Some(30 * SECOND), ..plan });
    let flow = &counts["flows"][0];
    let number = |pointer: &str| flow.pointer(pointer).unwrap().as_f64().unwrap();
    assert!((40e6..40.1e6).contains(&(number("/min_rtt_ns"))), "{flow}");
    let longest = number("/rtt/max_ns");
    assert!((40e6 + 20.0 * 1.2e6..=40.1e6 + 22.0 * 1.2e6).contains(&longest), "{longest}");
    assert!((41.2e6..longest).contains(&number("/rtt/p50_ns")), "{flow}");
    // One for each segment that was sent once, and was not covered by another's acknowledgement.
    let once = number("/segments_sent") - 2.0 * number("/retransmits");
    assert!((0.9 * once..=once + 1.0).contains(&number("/rtt/count")), "{once} {flow}");
}

#[test]
fn what_a_sender_sent_is_what_arrived_and_what_it_sent_again() {
    let transfer = Traffic::Tcp {
        streams: 1,
        cc: named("reno"),
        tcp: sack(),
        bytes: Some(14_480_000),
        bits_per_s: None,
        held: false,
        subflows: vec![],
    };
    let plan = with(pipe(1500, queued(20 * MS, 10_000_000, 20)), vec![flow("bulk", [0, 1], transfer)]);
    let (_, counts) = Run::whole(&Plan { duration_ns: None, ..plan });
    let number = |name: &str| counts["flows"][0][name].as_u64().unwrap();
    assert!(number("retransmits") > 0);
    assert_eq!(number("bytes"), 14_480_000);
    assert_eq!(number("bytes_sent"), 14_480_000 + 1448 * number("retransmits"));
    // 1,448 bytes of payload are 1,500 on this wire, whatever became of them there; nothing else was sent
    // but SYN, FIN and acknowledgements.
    let link = &counts["links"][0]["forward"];
    let dropped = 1500 * link["overflowed_packets"].as_u64().unwrap();
    let wire = link["wire_bytes"].as_u64().unwrap() + dropped;
    let data = 1500 * (10_000 + number("retransmits"));
    assert!((data..data + 60 * 4).contains(&wire), "{wire} {data}");
}
