//! What a flow of the plan asks for is what its agents do.

use crate::common::*;
use longhaul_plan::*;
use longhaul_sim::{Records, Simulation};
use longhaul_units::Time;
use std::num::NonZeroU64;

/// 972 + 28 bytes each 0.8 ms.
fn datagrams(bytes: Option<u64>) -> Traffic {
    even(9_720_000, 972, bytes)
}

fn backward(count: &Count, field: &str) -> f64 {
    count.all["links"][0]["reverse"][field].as_f64().unwrap()
}

#[test]
fn an_event_at_the_very_end_counts() {
    // 1028 bytes take 82,240 ps on each way.
    let rtt_ns = 2 * (MS + 82) + 1;
    for (duration_ns, received) in [(rtt_ns - 1, 0), (rtt_ns, 1)] {
        let ping = Traffic::Ping { every_ns: SECOND, payload_bytes: 1000, count: Some(1) };
        let plan = with(pipe(1500, direction(MS, FAST)), vec![flow("ping", [0, 1], ping)]);
        let (end, counts) = Run::whole(&Plan { duration_ns: Some(duration_ns), ..plan });
        assert_eq!(end.ns(), duration_ns);
        assert_eq!(counts["flows"][0]["received"], received, "{duration_ns}");
    }
    // To the picosecond: one that ends when its packet arrives.
    let plan =
        with(pipe(1500, direction(MS, Some(1_000_000_000))), vec![flow("udp", [0, 1], datagrams(None))]);
    for (duration_ns, received) in [(MS + 7_999, 0), (MS + 8_000, 1)] {
        let (_, counts) = Run::whole(&Plan { duration_ns: Some(duration_ns), ..plan.clone() });
        assert_eq!(counts["flows"][0]["received"], received, "{duration_ns}");
    }
}

#[test]
fn a_flow_sends_from_its_start_until_before_its_stop() {
    for (start_ns, stop_ns, sent) in [(0, 8 * MS, 10), (0, 8 * MS + 1, 11), (5 * MS, 9 * MS, 5)] {
        let flow = Flow { start_ns, stop_ns: Some(stop_ns), ..flow("udp", [0, 1], datagrams(None)) };
        let (end, counts) =
            Run::whole(&Plan { duration_ns: None, ..with(pipe(1500, direction(MS, FAST)), vec![flow]) });
        assert_eq!(counts["flows"][0]["sent"], sent);
        // 1000 bytes at 100 Gbit/s: 80 ns.
        assert_eq!(end.ns(), start_ns + (sent - 1) * 800_000 + MS + 80);
    }
}

#[test]
fn a_transfer_sends_from_its_start_until_its_stop() {
    let traffic = tcp(named("reno"), sack());
    let flow = Flow { start_ns: 2 * SECOND, stop_ns: Some(4 * SECOND), ..flow("tcp", [0, 1], traffic) };
    let mut run = Run::new(&with(pipe(1500, queued(10 * MS, 10_000_000, 50)), vec![flow]));
    let counts = [1.99, 2.04, 4.1, 9.0].map(|at_s| run.until(at_s));
    assert_eq!(counts[0].link(0, "offered_packets"), 0.0);
    // SYN, acknowledgement, and the ten segments of the first window have left in the second round trip.
    assert_eq!(counts[1].link(0, "offered_packets"), 12.0);
    assert_eq!(counts[2].link(0, "offered_packets"), counts[3].link(0, "offered_packets"));
    near("goodput", counts[3].flow(0, "goodput_bits_per_s"), 1e7 * 1448.0 / 1500.0, 0.05);
}

#[test]
fn hosts_drop_what_has_a_wrong_bit() {
    let forward = Direction { corrupt: probability(0.1), ..direction(MS, FAST) };
    let plan = with(pipe(1500, forward), vec![flow("udp", [0, 1], datagrams(Some(972 * 10_000)))]);
    let (_, counts) = Run::whole(&Plan { duration_ns: None, ..plan });
    let damaged = counts["damaged"].as_u64().unwrap();
    assert_eq!(counts["flows"][0]["received"], 10_000 - damaged);
    // 4.5 standard errors of 10,000 draws.
    near("damaged", damaged as f64, 1000.0, 4.5 * 0.03);
}

/// The first segments of a transfer with `settings` over 100 ms, and 30 s of it.
fn counted(settings: Tcp) -> [Count; 3] {
    let plan = one(1500, queued(50 * MS, 10_000_000, 100), named("reno"), settings);
    let mut run = Run::new(&plan);
    [0.19, 10.0, 40.0].map(|at_s| run.until(at_s))
}

#[test]
fn delayed_acknowledgements_halve_what_goes_back() {
    for (delayed_ack, share) in [(true, 0.5), (false, 1.0)] {
        let [_, from, to] = counted(Tcp { delayed_ack, ..sack() });
        let back = backward(&to, "offered_packets") - backward(&from, "offered_packets");
        let there = to.link(0, "delivered_packets") - from.link(0, "delivered_packets");
        // Losses bring acknowledgements of their own.
        near("share", back / there, share, 0.02);
    }
}

#[test]
fn the_first_window_is_as_asked() {
    for (initial_window, segments) in [(None, 10.0), (Some(1), 1.0), (Some(25), 25.0)] {
        let [first, ..] = counted(Tcp { initial_window, ..sack() });
        assert_eq!(first.flow(0, "segments_sent"), segments);
    }
}

#[test]
fn ipv6_costs_twenty_bytes_more_in_each_packet() {
    for (ipv6, payload) in [(false, 1448.0), (true, 1428.0)] {
        let [_, from, to] = counted(Tcp { ipv6, ..sack() });
        near("goodput", goodput(&[from, to], 0), 1e7 * payload / 1500.0, 0.001);
    }
}

#[test]
fn pacing_spreads_the_first_window_over_the_round_trip() {
    // 25 segments at once wait for up to 24 times 1.2 ms; at twice the window per round trip of 100 ms
    // one leaves each 2 ms.
    for (pacing, least, most) in [(false, 24e6, 30e6), (true, 0.0, 2e6)] {
        let [first, ..] = counted(Tcp { pacing, initial_window: Some(25), ..sack() });
        let longest = first.link(0, "waits/max_ns");
        assert!((least..=most).contains(&longest), "{pacing}: {longest}");
    }
}

#[test]
fn the_least_timeout_is_as_asked() {
    for (min_rto_ns, timeouts) in [(200 * MS, 3.0), (SECOND, 1.0)] {
        let settings = Tcp { min_rto_ns, buffer_bytes: Some(65_536), ..sack() };
        let mut plan = one(1500, direction(25 * MS, FAST), named("reno"), settings);
        plan.events = vec![turn(10 * SECOND, false)];
        // After 0.25, 0.75 and 1.75 s; after 1.05 and 3.15 s.
        assert_eq!(Run::new(&plan).until(12.5).flow(0, "timeouts"), timeouts);
    }
}

#[test]
fn a_call_goes_no_further_than_it_is_told() {
    let flow = Flow { stop_ns: Some(SECOND), ..flow("udp", [0, 1], datagrams(None)) };
    let plan = with(pipe(1500, direction(MS, FAST)), vec![flow]);
    let plan = Plan { duration_ns: Some(9 * SECOND), ..plan };
    let mut simulation = Simulation::new(plan.clone(), Records::none()).unwrap();
    // Nothing happens any more after the first second.
    for (until_s, now_s, ended) in [(2, 2, false), (5, 5, false), (3, 5, false), (9, 9, true), (20, 9, true)]
    {
        assert_eq!(simulation.advance(Time::from_ns(until_s * SECOND), u64::MAX), ended, "{until_s}");
        assert_eq!(simulation.now().ns(), now_s * SECOND);
    }
}

#[test]
fn an_echo_that_never_comes_does_not_keep_the_run_from_ending() {
    let forward = lossy(MS, LossModel::Periodic { every: NonZeroU64::new(2).unwrap() });
    let ping = Traffic::Ping { every_ns: 100 * MS, payload_bytes: 56, count: Some(4) };
    let plan = with(pipe(1500, forward), vec![flow("ping", [0, 1], ping)]);
    let (end, counts) = Run::whole(&Plan { duration_ns: None, ..plan });
    // The last is lost, and waited for.
    assert_eq!(end.ns(), 300 * MS + 10 * SECOND);
    assert_eq!(counts["flows"][0]["sent"], 4);
    assert_eq!(counts["flows"][0]["received"], 2);
}
