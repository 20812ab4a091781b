//! Queues, marks and shares of a bottleneck against their equilibria.

use crate::common::*;
use longhaul_congestion::{AlgorithmSettings, FastSettings, VegasRules, VegasSettings};
use longhaul_plan::*;
use std::num::NonZeroU32;

const LINK_BITS_PER_S: u64 = 100_000_000;
/// On the wire for that long.
const PACKET_S: f64 = 1500.0 * 8.0 / 1e8;
/// Payload of a full packet.
const PAYLOAD: f64 = 1448.0 / 1500.0;

/// One flow through 100 Mbit/s and 40 ms, 333 packets, with a queue that never fills.
fn alone(algorithm: AlgorithmSettings, [from_s, to_s]: [f64; 2]) -> [Count; 2] {
    Run::between(&one(1500, queued(20 * MS, LINK_BITS_PER_S, 10_000), algorithm, sack()), from_s, to_s)
}

/// Packets of 1500 bytes that wait on the average.
fn waiting_packets(counts: &[Count; 2]) -> f64 {
    waiting(counts, 0) / PACKET_S
}

#[test]
fn fast_keeps_alpha_packets_in_the_queue() {
    for alpha in [20.0, 50.0, 200.0] {
        let algorithm = AlgorithmSettings::Fast(FastSettings { alpha, ..FastSettings::default() });
        let waits = waiting_packets(&alone(algorithm, [20.0, 40.0]));
        // The one on the wire counts as queue for FAST: it makes no part of the smallest RTT longer.
        assert!((waits - alpha).abs() <= 1.5, "{waits} of {alpha}");
    }
}

#[test]
fn three_fast_flows_keep_three_alpha_in_the_queue() {
    let ends = |pair: usize| [2 + 2 * pair, 3 + 2 * pair];
    let flows = (0..3).map(|pair| flow(&format!("fast{pair}"), ends(pair), tcp(named("fast"), sack())));
    let bottleneck = queued(20 * MS, LINK_BITS_PER_S, 10_000);
    let plan = with(dumbbell(1500, &[0; 3], bottleneck), flows.collect());
    near("waiting", waiting_packets(&Run::between(&plan, 30.0, 40.0)), 300.0, 0.02);
}

#[test]
fn vegas_keeps_between_alpha_and_beta_packets_in_the_queue() {
    for (alpha, beta) in [(2.0, 4.0), (10.0, 12.0)] {
        // Linux's slow start leaves 800 packets, of which each round trip takes one; and Linux counts segments
        // in the queue in whole ones.
        let paper =
            (VegasSettings { rules: VegasRules::Paper, ..VegasSettings::default() }, [60.0, 80.0], 0.0);
        let linux = (VegasSettings::default(), [100.0, 120.0], 1.0);
        for (settings, times, rounded) in [paper, linux] {
            let algorithm = AlgorithmSettings::Vegas(VegasSettings { alpha, beta, ..settings });
            let counts = alone(algorithm, times);
            let waits = waiting_packets(&counts);
            // A window has a fraction that is not in flight.
            assert!(alpha - 1.0 <= waits && waits <= beta + rounded, "{waits} of {alpha} to {beta}");
            near("goodput", goodput(&counts, 0), 1e8 * PAYLOAD, 0.001);
        }
    }
}

/// Random early detection on the queue itself, not on its average, from `least` to `most` packets.
fn red(link: Direction, [least, most]: [u64; 2], probability: f64, ecn: bool) -> Direction {
    let discipline = QueueDiscipline::Red(RedParameters {
        least,
        most,
        probability,
        weight: 1.0,
        gentle: true,
        ecn,
        packet: NonZeroU32::new(1500).unwrap(),
    });
    Direction { queue: QueueModel { discipline, ..QueueModel::default() }, ..link }
}

#[test]
fn dctcp_stays_at_the_threshold_and_is_marked_as_its_paper_says() {
    // 1 Gbit/s and 2 ms are 167 packets; every packet is marked that finds K waiting.
    for threshold in [40, 80] {
        let step = [threshold * 1500 - 1, threshold * 1500];
        let forward = red(direction(MS, Some(1_000_000_000)), step, 1.0, true);
        for ecn in [false, true] {
            // The algorithm asks for exact marks, whatever else is asked for.
            let plan = one(1500, forward.clone(), named("dctcp"), Tcp { ecn, ..sack() });
            let counts = Run::between(&plan, 2.0, 7.0);
            let [from, to] = &counts;
            let more = |field| to.flow(0, field) - from.flow(0, field);
            let largest = 0.002 * 1e9 / 12_000.0 + threshold as f64;
            // M. Alizadeh et al., "Data center TCP", SIGCOMM 2010, section 3.3: alpha = sqrt(2/W), and
            // the queue's amplitude is sqrt(W/2) / 2 or so below K + 1.
            near("alpha", more("marks") / more("segments_sent"), (2.0 / largest).sqrt(), 0.2);
            let waits = waiting(&counts, 0) / 12e-6;
            let depth = (2.0 * largest).sqrt() / 2.0;
            assert!(waits <= threshold as f64 && waits >= threshold as f64 - depth, "{waits}");
            assert_eq!(more("retransmits"), 0.0);
            near("goodput", goodput(&counts, 0), 1e9 * PAYLOAD, 0.001);
        }
    }
}

#[test]
fn bbr_finds_the_bandwidth_and_keeps_the_queue_short() {
    for algorithm in ["bbr", "bbr3"] {
        let counts = alone(named(algorithm), [10.0, 40.0]);
        near(algorithm, goodput(&counts, 0), 1e8 * PAYLOAD, 0.05);
        let products = |wait_s: f64| wait_s / 0.04;
        let longest = products(counts[1].link(0, "waits/max_ns") / 1e9);
        // The window of the start is 2.89 products; later the mean queue is a small part of one.
        assert!(longest < 2.0, "{algorithm}: {longest}");
        assert!(products(waiting(&counts, 0)) < 0.1, "{algorithm}: {}", products(waiting(&counts, 0)));
    }
}

/// What Reno flows deliver through `bottleneck` between two instants, one for each access delay, and how
/// long packets wait there, in seconds.
fn deliver(access_ns: &[u64], bottleneck: Direction, [from_s, to_s]: [f64; 2]) -> (Vec<f64>, f64) {
    let ends = |pair: usize| [2 + 2 * pair, 3 + 2 * pair];
    let flow = |pair| flow(&format!("flow{pair}"), ends(pair), tcp(named("reno"), sack()));
    let plan = with(dumbbell(1500, access_ns, bottleneck), (0..access_ns.len()).map(flow).collect());
    let counts = Run::between(&plan, from_s, to_s);
    ((0..access_ns.len()).map(|flow| goodput(&counts, flow)).collect(), waiting(&counts, 0))
}

/// 50 Mbit/s and 20 ms, 83 packets. Losses by chance: at a full queue of a drop tail the phases of the
/// flows decide whom they hit (Floyd and Jacobson 1992).
fn fair() -> Direction {
    red(direction(10 * MS, Some(50_000_000)), [15_000, 150_000], 0.01, false)
}

#[test]
fn two_reno_flows_share_equally() {
    let (got, _) = deliver(&[0, 0], fair(), [20.0, 220.0]);
    let (sum, squares) = (got[0] + got[1], got[0] * got[0] + got[1] * got[1]);
    let jain = sum * sum / (2.0 * squares);
    assert!(jain > 0.98, "{jain}: {got:?}");
    assert!(sum > 0.9 * 50e6 * PAYLOAD, "{got:?}");
}

#[test]
fn reno_favours_the_shorter_round_trip() {
    // With equal chances of loss shares go as 1/RTT, with losses at the same time as 1/RTT^2.
    for access in [10, 30] {
        let (got, waits_s) = deliver(&[0, access * MS], fair(), [20.0, 220.0]);
        let rtt_s = [0.02 + waits_s, 0.02 + 2e-3 * access as f64 + waits_s];
        let exponent = libm::log(got[0] / got[1]) / libm::log(rtt_s[1] / rtt_s[0]);
        assert!((1.0..2.0).contains(&exponent), "{exponent} at {access} ms: {got:?}");
    }
}

#[test]
fn parallel_streams_use_their_own_bottleneck_as_altman_says() {
    // E. Altman, D. Barman, B. Tuffin, M. Vojnovic, "Parallel TCP sockets", INFOCOM 2006: whenever the
    // link is full one of N streams is halved: 1 - 1/(1 + 3N) of it is used. That one alone loses a
    // packet when the product (833 packets) is large, the queue a few packets, and losses so rare that
    // one comes in some round trips after the queue begins to grow.
    for (streams, end_s) in [(1, 350.0), (2, 250.0), (3, 200.0), (4, 200.0)] {
        let access: Vec<_> = (0..streams).map(|stream| 300_000 * stream as u64).collect();
        let bottleneck = red(direction(50 * MS, Some(LINK_BITS_PER_S)), [7_500, 60_000], 1e-3, false);
        let (got, _) = deliver(&access, bottleneck, [60.0, end_s]);
        let used = got.iter().sum::<f64>() / (1e8 * PAYLOAD);
        let expected = 1.0 - 1.0 / (1.0 + 3.0 * streams as f64);
        assert!((used - expected).abs() < 0.02, "{streams}: {used}, not {expected}");
    }
}
