//! Every algorithm through the whole transport.

use crate::pipe::{Pipe, Way};
use longhaul_congestion::{AlgorithmSettings, NAMES};
use longhaul_transport::Settings;
use longhaul_units::{Span, Time};

/// 10,000 segments over a path of 100 Mbit/s (116 us per segment) and 40 ms, with losses and marks.
fn transfer(name: &str, loss: f64, mark: f64) -> Pipe {
    let algorithm = AlgorithmSettings::named(name).unwrap();
    let way = Way { loss, mark, gap: Span::from_us(116), ..Way::plain(20) };
    let settings = Settings::default();
    let mut pipe = Pipe::new(&settings, &settings, algorithm, way, Way::plain(20));
    pipe.near.write(Time::ZERO, 10_000 * 1448);
    pipe.near.close(Time::ZERO);
    pipe.far.close(Time::ZERO);
    while !(pipe.near.is_closed() && pipe.far.is_closed()) {
        assert!(pipe.step(Time::from_ns(1_000_000_000_000)), "{name}: {:#?}", pipe.near.info());
    }
    pipe
}

#[test]
fn every_algorithm_transfers_all_data_over_a_lossless_path_without_retransmissions() {
    for name in NAMES {
        let pipe = transfer(name, 0.0, 0.0);
        let info = pipe.near.info();
        assert_eq!(pipe.far.received(), 14_480_000, "{name}");
        assert_eq!((info.retransmits, info.timeouts), (0, 0), "{name}");
        assert!(pipe.now >= Time::from_ns(1_160_000_000), "{name}: faster than the path");
        // 1.16 s at full rate; no queue limit, so that whoever grows at all is soon at it. Vegas and
        // its like stop growing early, and BBR drains for a while.
        assert!(pipe.now <= Time::from_ns(6_000_000_000), "{name}: {}", pipe.now);
    }
}

#[test]
fn every_algorithm_transfers_all_data_over_a_path_with_0_1_percent_loss() {
    for name in NAMES {
        let pipe = transfer(name, 1e-3, 0.0);
        let info = pipe.near.info();
        assert_eq!(pipe.far.received(), 14_480_000, "{name}");
        // Not one more than were lost, but for probes.
        assert!(info.retransmits <= pipe.seen[0].lost + info.tail_probes, "{name}: {info:#?}");
    }
}

#[test]
fn dctcp_gets_exact_congestion_marks() {
    // Without any setting: the algorithm turns the exact echo on at the end that opens; the peer has it too.
    let pipe = transfer("dctcp", 0.0, 0.02);
    let info = pipe.near.info();
    // Delayed acknowledgements do not blur it: each marked segment is counted, and hardly another.
    let share = info.marks as f64 / info.delivered as f64;
    assert!((share - 0.02).abs() < 4.5 * (0.02f64 * 0.98 / 10_000.0).sqrt(), "{share}");
}
