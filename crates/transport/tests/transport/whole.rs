//! Whole connections over a pipe that loses, copies, reorders and marks.

use crate::pipe::{Pipe, Way};
use crate::script::reno;
use longhaul_transport::{
    AckPolicy, Bound, Ecn, Idle, Pacing, ReceiveBuffer, Recovery, Reduction, Reordering, Settings, Undo,
};
use longhaul_units::{Span, Time};
use proptest::prelude::*;

fn kinds() -> impl Strategy<Value = (Recovery, Reduction)> {
    let recovery = prop_oneof![
        Just(Recovery::Tahoe),
        Just(Recovery::Reno),
        Just(Recovery::NewReno),
        Just(Recovery::Sack),
        Just(Recovery::Rack),
        Just(Recovery::Rack),
    ];
    let reduction = prop_oneof![
        Just(Reduction::Standard),
        Just(Reduction::Proportional(Bound::Conservative)),
        Just(Reduction::Proportional(Bound::SlowStart)),
        Just(Reduction::Proportional(Bound::Safe)),
    ];
    (recovery, reduction)
}

fn switches() -> impl Strategy<Value = Settings> {
    let flags = proptest::collection::vec(any::<bool>(), 12);
    (kinds(), flags, 2_000u64..60_000, 1u32..4).prop_map(|((recovery, reduction), on, buffer, every)| {
        let mut settings = Settings {
            mss: 1000,
            recovery,
            reduction,
            timestamps: on[0],
            window_scaling: on[1],
            tail_probes: on[2],
            limited_transmit: on[3],
            undo: Undo { dsack: on[4], timestamps: on[5], f_rto: on[6] },
            idle: if on[7] { Idle::Decay } else { Idle::Restart },
            ecn: if on[8] { Ecn::Classic } else { Ecn::Exact },
            pacing: if on[9] { Pacing::Window } else { Pacing::Algorithm },
            nagle: on[10],
            ack_policy: AckPolicy { every, ..Settings::default().ack_policy },
            receive_buffer: ReceiveBuffer {
                bytes: buffer,
                max_bytes: 4 * buffer,
                adv_win_scale: i8::from(on[11]),
            },
            reordering: if on[11] { Reordering::Adaptive { max: 300 } } else { Reordering::Fixed(3) },
            ..Settings::default()
        };
        settings.timeouts.attempts = 1000;
        settings.timeouts.syn_attempts = 1000;
        settings.timeouts.max_rto = Span::from_s(5);
        settings
    })
}

fn ways() -> impl Strategy<Value = Way> {
    (1u64..80, 0.0..0.25, 0.0..0.1, 0.0..0.1, 0u64..60).prop_map(|(delay, loss, copy, mark, jitter)| Way {
        // Half of the pipes lose nothing.
        loss: f64::max(loss - 0.1, 0.0),
        copy: f64::max(copy - 0.05, 0.0),
        mark,
        jitter: Span::from_ms(jitter.saturating_sub(20)),
        gap: Span::from_us(50),
        ..Way::plain(delay)
    })
}

/// Runs both directions to their ends, the application reading in bits and pieces.
fn run(
    settings: [&Settings; 2],
    ways: [Way; 2],
    bytes: [u64; 2],
    slow_reader: bool,
    seed: u64,
) -> Result<Pipe, TestCaseError> {
    let mut pipe = Pipe::seeded(settings[0], settings[1], reno(), ways, seed);
    pipe.near.write(Time::ZERO, bytes[0].div_ceil(2));
    pipe.far.write(Time::ZERO, bytes[1]);
    pipe.far.close(Time::ZERO);
    let limit = Time::from_ns(3_000_000_000_000);
    let mut wrote = false;
    let mut steps = 0u64;
    while !(pipe.near.is_closed() && pipe.far.is_closed()) {
        steps += 1;
        if !wrote && pipe.near.acknowledged() * 4 >= bytes[0] {
            wrote = true;
            pipe.near.write(pipe.now, bytes[0] / 2);
            pipe.near.close(pipe.now);
        }
        if slow_reader && steps.is_multiple_of(7) {
            pipe.near.read(pipe.now, 1500);
            pipe.far.read(pipe.now, 2500);
        }
        let stalled = !pipe.step(limit);
        for end in [&pipe.near, &pipe.far] {
            let info = end.info();
            // in_flight is unsigned and debug builds trap an underflow; the rest adds up.
            prop_assert!(info.sacked + info.lost <= info.outstanding);
            prop_assert!(info.window >= 1.0);
            prop_assert!(!end.has_failed());
        }
        prop_assert!(pipe.far.received() <= bytes[0] && pipe.near.received() <= bytes[1]);
        prop_assert!(pipe.near.acknowledged() <= pipe.far.received());
        if stalled {
            // The last reading may have been what everything waited for.
            prop_assert!(slow_reader, "nothing moves at {}: {:#?}", pipe.now, pipe.near.info());
            prop_assert!(pipe.now < limit, "it takes too long: {:#?}", pipe.near.info());
        }
    }
    prop_assert_eq!(pipe.far.received(), bytes[0]);
    prop_assert_eq!(pipe.near.received(), bytes[1]);
    Ok(pipe)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn everything_written_arrives_once_and_in_order_and_both_ends_finish(
        near in switches(),
        far in switches(),
        out in ways(),
        back in ways(),
        bytes in (1u64..200_000, 0u64..50_000),
        seed in any::<u64>(),
    ) {
        run([&near, &far], [out, back], [bytes.0, bytes.1], false, seed)?;
    }

    #[test]
    fn slow_readers_delay_and_lose_nothing(
        near in switches(),
        far in switches(),
        ways in (ways(), ways()),
        bytes in (1u64..100_000, 0u64..50_000),
        seed in any::<u64>(),
    ) {
        let [near, far] = [near, far].map(|settings| Settings { reads_at_once: false, ..settings });
        run([&near, &far], [ways.0, ways.1], [bytes.0, bytes.1], true, seed)?;
    }

    #[test]
    fn equal_seeds_give_equal_segments_at_equal_times(settings in switches(), out in ways(), seed in any::<u64>()) {
        let ways = [out.clone(), out];
        let once = run([&settings, &settings], ways.clone(), [50_000, 10_000], false, seed)?;
        let twice = run([&settings, &settings], ways, [50_000, 10_000], false, seed)?;
        prop_assert_eq!(once.seen, twice.seen);
        prop_assert_eq!(once.near.info(), twice.near.info());
    }

    #[test]
    fn without_loss_and_reordering_nothing_is_retransmitted(settings in switches(), delay in 1u64..90, seed in any::<u64>()) {
        let ways = [Way::plain(delay), Way::plain(delay)];
        let pipe = run([&settings, &settings], ways, [100_000, 0], false, seed)?;
        let info = pipe.near.info();
        prop_assert_eq!((info.retransmits - info.tail_probes.min(info.retransmits), info.timeouts, info.losses), (0, 0, 0));
    }
}

#[test]
fn a_reader_that_stalls_for_a_minute_delays_everything_and_loses_nothing() {
    let settings = Settings {
        mss: 1000,
        reads_at_once: false,
        receive_buffer: ReceiveBuffer::fixed(10_000),
        ..Settings::default()
    };
    let mut pipe = Pipe::new(&settings, &settings, reno(), Way::plain(10), Way::plain(10));
    pipe.near.write(Time::ZERO, 100_000);
    pipe.near.close(Time::ZERO);
    pipe.run_until(Time::from_ns(60_000_000_000));
    assert_eq!(pipe.far.received(), 10_000);
    assert!(pipe.near.info().window_probes > 3);
    let mut now = pipe.now;
    while !pipe.far.has_ended() {
        pipe.far.read(now, 2000);
        now += Span::from_ms(100);
        pipe.run_until(now);
        assert!(now < Time::from_ns(120_000_000_000));
    }
    assert_eq!(pipe.far.received(), 100_000);
}

#[test]
fn a_tuned_receive_buffer_lets_a_long_fat_path_fill() {
    let fixed = ReceiveBuffer { max_bytes: 131_072, ..ReceiveBuffer::linux() };
    let got = [fixed, ReceiveBuffer::linux()].map(|receive_buffer| {
        let settings = Settings { receive_buffer, ..Settings::default() };
        let mut pipe = Pipe::new(&settings, &settings, reno(), Way::plain(50), Way::plain(50));
        pipe.near.write(Time::ZERO, u64::MAX / 2);
        pipe.run_until(Time::from_ns(5_000_000_000));
        pipe.far.received()
    });
    // 64 KiB per 100 ms at most, for 4.9 s; and 3 MiB per 100 ms once tuned.
    assert!(got[0] <= 65_536 * 49 && got[0] > 65_536 * 40, "{got:?}");
    assert!(got[1] > 3_145_728 * 30, "{got:?}");
}

#[test]
fn an_idle_connection_is_small() {
    // Without its algorithm. Nothing is allocated before the first segment, but the algorithm's settings.
    let bytes = size_of::<longhaul_transport::Connection>() - size_of::<longhaul_congestion::Algorithm>();
    assert!(bytes < 1500, "{bytes}");
}
