use super::*;
use std::num::NonZeroU64;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Packet(u32);

impl LinkPacket for Packet {
    fn bytes(&self) -> u32 {
        self.0
    }
}

fn kbit(n: u64) -> Rate {
    Rate::from_bits_per_s(n * 1_000).unwrap()
}

fn mbit(n: u64) -> Rate {
    kbit(n * 1_000)
}

fn us(n: u64) -> Time {
    Time::from_ns(n * 1_000)
}

fn model(line: Rate, classes: &[PacingModel]) -> PacerModel {
    let class = |&pacing: &PacingModel| ClassModel { pacing, limit: QueueLimit::default() };
    PacerModel {
        line,
        line_framing: Framing::default(),
        class_framing: Framing::default(),
        classes: classes.iter().map(class).collect(),
    }
}

/// Every packet that leaves until `end`: its class, its bytes and its start.
fn drain(pacer: &mut Pacer<Packet>, end: Time) -> Vec<(usize, u32, Time)> {
    std::iter::from_fn(|| pacer.take(end)).map(|(packet, class, at)| (class, packet.0, at)).collect()
}

/// A pacer on a line of 1 Gbit/s whose every class has so many packets of 1500 bytes from the start.
fn full(classes: &[PacingModel], packets: usize) -> Pacer<Packet> {
    let mut pacer = Pacer::new(&model(mbit(1_000), classes));
    for _ in 0..packets {
        (0..classes.len()).for_each(|class| assert!(pacer.offer(Time::ZERO, class, Packet(1_500))));
    }
    pacer
}

#[test]
fn two_classes_of_500_and_250_mbit_share_a_gigabit_as_pspacer_s_note_says() {
    // 1500 bytes at 1 Gbit/s last 12 us, and gaps of 1500 and 4500 bytes make 24 and 48 us between starts:
    // P1 P2 P1 gap P1 P2 P1 gap ...
    let mut pacer =
        full(&[PacingModel::Paced { rate: mbit(500) }, PacingModel::Paced { rate: mbit(250) }], 100);
    let order = drain(&mut pacer, us(12 * 9));
    let expected = [(0, 0), (1, 12), (0, 24), (0, 48), (1, 60), (0, 72), (0, 96), (1, 108)];
    assert_eq!(order, expected.map(|(class, at)| (class, 1_500, us(at))));
    for class in 0..2 {
        assert_eq!(pacer.counters(class).gap_errors.longest(), Span::ZERO);
    }
}

#[test]
fn rates_count_frames_and_the_line_preamble_and_gap_too_where_told_so() {
    // PSPacer: gap = (R/r - 1)(length + FCS): frames of 1518 bytes begin every 1518 * 8 / r.
    let frame = Framing { overhead_bytes: 18, least_bytes: 64, cells: None };
    let wire = Framing { overhead_bytes: 38, least_bytes: 84, cells: None };
    let starts = |rate| {
        let mut model = model(mbit(1_000), &[PacingModel::Paced { rate }]);
        (model.class_framing, model.line_framing) = (frame, wire);
        let mut pacer = Pacer::new(&model);
        (0..1_001).for_each(|_| assert!(pacer.offer(Time::ZERO, 0, Packet(1_500))));
        drain(&mut pacer, us(100_000))[1_000].2
    };
    assert_eq!(starts(mbit(500)), us(24_288));
    // No rate is faster than the line: 1538 bytes take 12.304 us.
    assert_eq!(starts(mbit(1_000)), us(12_304));
}

#[test]
fn the_slowest_and_the_fastest_of_pspacer_s_classes_keep_their_rates_to_the_picosecond() {
    // 8 kbit/s: 1.5 s a packet; 930 Mbit/s: 12,000 bit / 0.93 = 12,903.2258... ns, carried.
    for (rate, packets) in [(kbit(8), 3), (kbit(930_000), if cfg!(miri) { 101 } else { 10_001 })] {
        let mut pacer = full(&[PacingModel::Paced { rate }], packets);
        let last = drain(&mut pacer, us(10_000_000)).last().unwrap().2;
        assert_eq!(last, Time::ZERO + rate.time_for(1_500 * (packets as u64 - 1)));
    }
}

#[test]
#[cfg_attr(miri, ignore = "80,000 packets of 200 classes")]
fn two_hundred_classes_fill_a_line_and_each_gets_its_rate() {
    // 1 to 200 times 49 kbit/s are 984.9 Mbit/s of 1000.
    let classes: Vec<_> = (1..=200).map(|n| PacingModel::Paced { rate: kbit(49 * n) }).collect();
    let mut pacer = full(&classes, 1_000);
    let end = us(1_000_000);
    let mut bytes = vec![0u64; 200];
    for &(class, size, _) in &drain(&mut pacer, end) {
        bytes[class] += u64::from(size);
    }
    for (class, &bytes) in bytes.iter().enumerate() {
        let promised = kbit(49 * (class as u64 + 1)).bytes_in(Span::from_s(1));
        // The first packet comes at once; the last may be behind others.
        assert!(bytes.abs_diff(promised) <= 2 * 1_500, "class {class}: {bytes} of {promised} bytes");
    }
}

#[test]
fn who_had_nothing_to_send_begins_anew() {
    let mut pacer = Pacer::new(&model(mbit(1_000), &[PacingModel::Paced { rate: mbit(100) }]));
    // 120 us apart. The third comes 400 us after its turn, which is gone: the fourth is 120 us behind it.
    let mut starts = Vec::new();
    for at in [0, 0, 640, 650, 10_000] {
        starts.extend(drain(&mut pacer, us(at)).iter().map(|each| each.2));
        assert!(pacer.offer(us(at), 0, Packet(1_500)));
    }
    assert_eq!(starts, [0, 120, 640, 760].map(us));
}

#[test]
fn packets_that_come_slower_than_the_rate_leave_as_they_come() {
    let mut pacer = Pacer::new(&model(mbit(1_000), &[PacingModel::Paced { rate: mbit(100) }]));
    for n in 0..10 {
        assert!(pacer.offer(us(130 * n), 0, Packet(1_500)));
        assert_eq!(drain(&mut pacer, us(130 * n)), [(0, 1_500, us(130 * n))]);
    }
    let counters = pacer.counters(0);
    assert_eq!((counters.waits.longest(), counters.gap_errors.count()), (Span::ZERO, 0));
}

#[test]
fn a_class_makes_up_for_what_others_took_and_says_how_late_it_was() {
    // 600 and 400 of 1000 Mbit/s leave no gaps; the slower one waits for the faster, but keeps its rate.
    let mut pacer =
        full(&[PacingModel::Paced { rate: mbit(600) }, PacingModel::Paced { rate: mbit(400) }], 1_000);
    let out = drain(&mut pacer, us(6_000));
    let count = |class| out.iter().filter(|each| each.0 == class).count();
    // 300 and 200 in 6 ms, and the one that begins or has not yet.
    assert!((299..=301).contains(&count(0)) && (199..=201).contains(&count(1)));
    assert!(pacer.counters(1).latest > Span::ZERO && pacer.counters(1).latest <= Span::from_us(24));
}

#[test]
fn normal_classes_take_turns_in_the_gaps() {
    let mut pacer =
        full(&[PacingModel::Normal {}, PacingModel::Paced { rate: mbit(500) }, PacingModel::Normal {}], 10);
    let order: Vec<_> = drain(&mut pacer, us(95)).iter().map(|each| each.0).collect();
    assert_eq!(order, [1, 0, 1, 2, 1, 0, 1, 2]);
}

#[test]
fn a_bucket_lets_its_burst_go_at_line_rate_and_the_rest_at_its_own() {
    let model = PacingModel::TokenBucket {
        rate: mbit(100),
        burst_bytes: NonZeroU64::new(15_000).unwrap(),
        peak: None,
    };
    let out = drain(&mut full(&[model], 40), us(10_000));
    // 10 packets fit; while they leave in 120 us, tokens for one more come, which then leaves, too.
    assert_eq!((out[9].2, out[10].2), (us(108), us(120)));
    assert_eq!(out[30].2.since(out[20].2), Span::from_us(1_200));
    let peaked = PacingModel::TokenBucket {
        rate: mbit(100),
        burst_bytes: NonZeroU64::new(15_000).unwrap(),
        peak: Some(mbit(200)),
    };
    assert_eq!(drain(&mut full(&[peaked], 40), us(10_000))[9].2, us(9 * 60));
}

#[test]
fn a_full_queue_and_a_small_bucket_drop_and_count() {
    let mut model = model(
        mbit(1_000),
        &[
            PacingModel::Paced { rate: mbit(100) },
            PacingModel::TokenBucket {
                rate: mbit(100),
                burst_bytes: NonZeroU64::new(1_499).unwrap(),
                peak: None,
            },
        ],
    );
    model.classes[0].limit = QueueLimit { packets: Some(2), bytes: None };
    let mut pacer = Pacer::new(&model);
    let offer = |pacer: &mut Pacer<Packet>, at| {
        let left = drain(pacer, at).len();
        (left, pacer.offer(at, 0, Packet(1_500)))
    };
    // At 130 us, one has left at 0 and one at 120; of two that wait, none leaves before 240.
    let got = [0, 1, 2, 3, 130, 131].map(|at| offer(&mut pacer, us(at)));
    assert_eq!(got, [(0, true), (1, true), (0, true), (0, false), (1, true), (0, false)]);
    assert!(!pacer.offer(us(131), 1, Packet(1_500)));
    let counted = [0, 1].map(|class| pacer.counters(class));
    assert_eq!(counted.map(|each| (each.offered_packets, each.dropped_packets)), [(6, 2), (1, 1)]);
    assert_eq!(pacer.waiting(), 2);
}

#[test]
fn a_new_rate_holds_for_the_gap_that_runs() {
    // At 8 kbit/s the next packet would leave at 1.5 s. After 0.3 s, 1200 bytes of its gap are left.
    let mut pacer = full(&[PacingModel::Paced { rate: kbit(8) }], 10);
    assert_eq!(drain(&mut pacer, us(300_000)).len(), 1);
    assert!(pacer.change(us(300_000), 0, PacingModel::Paced { rate: mbit(100) }).is_empty());
    let out = drain(&mut pacer, us(400_000));
    assert_eq!((out[0].2, out[1].2), (us(300_096), us(300_216)));
    // A bucket that does not hold them returns them.
    let mut pacer = full(&[PacingModel::Paced { rate: kbit(8) }], 3);
    drain(&mut pacer, us(1));
    let small =
        PacingModel::TokenBucket { rate: mbit(1), burst_bytes: NonZeroU64::new(1_000).unwrap(), peak: None };
    assert_eq!(pacer.change(us(1), 0, small).len(), 2);
    assert_eq!((pacer.waiting(), pacer.next_event()), (0, Time::NEVER));
}
