//! TCP in a network that reorders, marks, goes down and limits windows.

use crate::common::*;
use longhaul_congestion::{AlgorithmSettings, CubicSettings};
use longhaul_plan::*;
use longhaul_units::Span;

const PAYLOAD: f64 = 1448.0 / 1500.0;

/// Goodput as a share of what two routes of 50 Mbit/s carry that packets take in turn, one of 10 ms, one
/// of `longer_ns` more. The smallest RTT is 20 ms.
fn reordered(recovery: Recovery, longer_ns: u64) -> f64 {
    let route = |delay_ns| queued(delay_ns, 50_000_000, 200).link_model();
    let routes = vec![route(10 * MS), route(10 * MS + longer_ns)];
    let bundle = BundleModel { policy: Policy::RoundRobin, routes, resequence: None };
    let forward = Direction { bundle: Some(Box::new(bundle)), ..direction(10 * MS, None) };
    let plan = one(1500, forward, named("reno"), Tcp { recovery, ..sack() });
    goodput(&Run::between(&plan, 10.0, 30.0), 0) / (1e8 * PAYLOAD)
}

#[test]
fn rack_takes_reordering_below_a_quarter_of_the_round_trip_for_no_loss() {
    for longer_ms in [0, 2, 4] {
        let share = reordered(Recovery::Rack, longer_ms * MS);
        assert!(share > 0.9, "{longer_ms} ms: {share}");
    }
}

#[test]
fn a_threshold_of_three_takes_reordering_for_loss_unless_it_adapts() {
    // 4 ms at 8333 packets per second are 33 packets: far more than three overtake.
    let fixed = reordered(Recovery::Sack, 4 * MS);
    // More than a quarter, since the echo of an overtaken segment's retransmission undoes no reduction while
    // other retransmissions are outstanding, as in Linux, so that the window stays where it was reduced to.
    assert!(fixed < 0.35, "{fixed}");
    let adaptive = reordered(Recovery::SackAdaptive, 4 * MS);
    assert!(adaptive > 0.5, "{adaptive}");
    assert!(reordered(Recovery::Sack, 0) > 0.99, "without a longer route nothing overtakes");
}

fn rfc_cubic() -> AlgorithmSettings {
    AlgorithmSettings::Cubic(CubicSettings::rfc9438())
}

/// One flow through 50 Mbit/s and 40 ms with controlled delay, from 10 s to 40 s.
fn controlled(algorithm: AlgorithmSettings, ecn: bool) -> [Count; 2] {
    let discipline = QueueDiscipline::Codel(CodelParameters {
        target: Span::from_ns(5 * MS),
        interval: Span::from_ns(100 * MS),
        ecn,
    });
    let queue = QueueModel { discipline, ..QueueModel::default() };
    let forward = Direction { queue, ..direction(20 * MS, Some(50_000_000)) };
    Run::between(&one(1500, forward, algorithm, Tcp { ecn, ..sack() }), 10.0, 40.0)
}

#[test]
fn marks_take_the_place_of_all_drops_and_cost_no_goodput() {
    // Linux's CUBIC grows as slowly as Reno, RFC 9438's as fast as Reno with beta = 0.5 and so meets more marks.
    let algorithms =
        [("reno", named("reno"), 10.0), ("cubic", rfc_cubic(), 10.0), ("Linux's cubic", named("cubic"), 5.0)];
    for (algorithm, settings, least) in algorithms {
        let (marked, dropped) = (controlled(settings.clone(), true), controlled(settings, false));
        assert_eq!(marked[1].link(0, "dropped_packets"), 0.0);
        assert_eq!(marked[1].flow(0, "retransmits"), 0.0);
        assert!(marked[1].link(0, "marked_packets") > least);
        assert!(dropped[1].link(0, "dropped_packets") > least);
        assert_eq!(dropped[1].link(0, "marked_packets"), 0.0);
        near(algorithm, goodput(&marked, 0), goodput(&dropped, 0), 0.02);
        // A target of 5 ms holds on the average for both.
        for counts in [marked, dropped] {
            assert!(waiting(&counts, 0) < 0.005, "{algorithm}: {}", waiting(&counts, 0));
        }
    }
}

/// Carries nothing from 10 s to 13 s.
fn interrupted(mut plan: Plan) -> Plan {
    plan.events = vec![turn(10 * SECOND, false), turn(13 * SECOND, true)];
    plan
}

#[test]
fn timeouts_double_while_a_link_is_down() {
    // 32 KiB of window: nothing waits, so that all in flight is lost. The timeout is SRTT + 200 ms; the
    // retransmissions leave 0.25, 0.75, 1.75 and 3.75 s after the last acknowledgement, which comes
    // between 9.95 s and 10.025 s.
    let settings = Tcp { buffer_bytes: Some(65_536), ..sack() };
    let plan = one(1500, direction(25 * MS, Some(1_000_000_000)), named("reno"), settings);
    let mut run = Run::new(&interrupted(plan));
    let [before, early, late] = [10.03, 13.69, 13.83].map(|at_s| run.until(at_s));
    assert_eq!(before.flow(0, "timeouts"), 0.0);
    assert_eq!(early.flow(0, "timeouts"), 3.0);
    assert_eq!(early.flow(0, "bytes"), before.flow(0, "bytes"));
    assert_eq!(late.flow(0, "timeouts"), 4.0);
    assert!(late.flow(0, "bytes") > before.flow(0, "bytes"));
    // 22 segments fit into the window.
    let steady = [run.until(20.0), run.until(25.0)];
    near("goodput", goodput(&steady, 0), 22.0 * 1448.0 * 8.0 / 0.05, 0.01);
    assert_eq!(steady[1].flow(0, "timeouts"), 4.0);
}

#[test]
fn what_waited_behind_a_link_that_was_down_starts_the_recovery() {
    // A queue keeps what is in it; acknowledgements of it show what was lost, without a timeout of
    // RTT + 0.2 s times eight.
    for recovery in [Recovery::Rack, Recovery::Sack] {
        let settings = Tcp { recovery, ..sack() };
        let plan = one(1500, queued(25 * MS, 20_000_000, 100), named("cubic"), settings);
        let mut run = Run::new(&interrupted(plan));
        let counts = [run.until(13.5), run.until(18.5)];
        near("goodput", goodput(&counts, 0), 20e6 * PAYLOAD, 0.01);
        assert_eq!(counts[1].flow(0, "timeouts"), 3.0, "{recovery:?}");
    }
}

#[test]
fn every_way_to_find_losses_survives_an_outage() {
    let all = [Recovery::Tahoe, Recovery::Reno, Recovery::Newreno, Recovery::SackAdaptive];
    for recovery in all {
        let settings = Tcp { recovery, ..sack() };
        let plan = one(1500, queued(25 * MS, 20_000_000, 100), rfc_cubic(), settings);
        let mut run = Run::new(&interrupted(plan));
        let counts = [run.until(20.0), run.until(30.0)];
        let share = goodput(&counts, 0) / (20e6 * PAYLOAD);
        assert!(share > 0.8, "{recovery:?}: {share}");
    }
}

#[test]
fn a_tuned_receiver_lets_jumbo_packets_fill_a_link_at_any_round_trip() {
    // A window of 64 KiB holds seven of them.
    for rtt_us in [200, 2_000, 10_000] {
        let settings = Tcp { buffer_bytes: Some(4 << 20), ..sack() };
        let plan = one(9000, queued(rtt_us * 500, 1_000_000_000, 500), named("reno"), settings);
        let got = goodput(&Run::between(&plan, 1.0, 3.0), 0);
        near(&format!("{rtt_us} us"), got, 1e9 * 8948.0 / 9000.0, 0.001);
    }
}

#[test]
fn a_receivers_buffer_limits_goodput_to_its_window_per_round_trip() {
    for buffer in [65_536, 1_000_000, 4_194_304, 16_000_000] {
        let settings = Tcp { buffer_bytes: Some(buffer), ..sack() };
        let plan = one(1500, direction(50 * MS, Some(1_000_000_000)), named("reno"), settings);
        // Half of the buffer is offered; whole segments fit into it.
        let segments = (buffer / 2 / 1448) as f64;
        let got = goodput(&Run::between(&plan, 10.0, 20.0), 0);
        near(&format!("{buffer}"), got, segments * 1448.0 * 8.0 / 0.1, 0.005);
    }
}

#[test]
fn a_tuned_receiver_of_delayed_acknowledgements_fills_two_routes_in_turn() {
    // Ten segments of 9,000 bytes are in flight, and eight arrive in what the receiver takes for a round trip.
    let route = |delay_ns| queued(delay_ns, 1_000_000_000, 1000).link_model();
    let resequence = Some(Resequence { wait: Span::from_ns(2 * MS), limit_bytes: 64 << 20 });
    let routes = vec![route(10_000), route(1_010_000)];
    let bundle = BundleModel { policy: Policy::RoundRobin, routes, resequence };
    let forward = Direction { bundle: Some(Box::new(bundle)), ..direction(20_000, None) };
    let settings = Tcp { buffer_bytes: Some(16 << 20), initial_window: Some(10), ..Tcp::default() };
    let plan = one(9000, forward, named("reno"), settings);
    near("goodput", goodput(&Run::between(&plan, 0.2, 0.5), 0), 2e9 * 8948.0 / 9000.0, 0.002);
}
