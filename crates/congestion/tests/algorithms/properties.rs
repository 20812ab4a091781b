use longhaul_congestion::{
    Ack, Algorithm, AlgorithmSettings, Cause, Congestion, CongestionControl, Delivery, Formula, NAMES,
    Pacing, PhiMode, RuleSettings, StochasticModel, StochasticSettings,
};
use longhaul_random::Seed;
use longhaul_units::{Span, Time};
use proptest::prelude::*;

/// Whatever a transport may call, in any order.
#[derive(Clone, Copy, Debug)]
enum Call {
    Ack { acked: u32, marked: bool, rtt_us: Option<u64>, limited: bool, recovering: bool, lost: u32 },
    Lost,
    Congestion { mark: bool },
    Timeout,
    Recovered,
    Spurious,
    Sent,
}

fn call() -> impl Strategy<Value = Call> {
    let ack =
        (1u32..50, any::<bool>(), proptest::option::of(1u64..3_000_000), any::<bool>(), 0u32..8, 0u32..5)
            .prop_map(|(acked, marked, rtt_us, limited, recovering, lost)| Call::Ack {
                acked,
                marked,
                rtt_us,
                limited,
                recovering: recovering == 0,
                lost,
            });
    prop_oneof![
        40 => ack,
        2 => Just(Call::Lost),
        2 => any::<bool>().prop_map(|mark| Call::Congestion { mark }),
        1 => Just(Call::Timeout),
        1 => Just(Call::Recovered),
        1 => Just(Call::Spurious),
        2 => Just(Call::Sent),
    ]
}

fn any_settings() -> impl Strategy<Value = AlgorithmSettings> {
    let named = prop::sample::select(NAMES.to_vec()).prop_map(|name| AlgorithmSettings::named(name).unwrap());
    let stochastic = (1u32..40, 1.0..50.0, 0u32..3, 0u32..3).prop_map(|(streams, phi, model, mode)| {
        AlgorithmSettings::Stochastic(StochasticSettings {
            streams,
            phi,
            phi_mode: [PhiMode::VirtualRtt, PhiMode::StreamsCut, PhiMode::Multiplier][mode as usize],
            model: [StochasticModel::Explicit, StochasticModel::Mean, StochasticModel::Draw][model as usize],
            ..StochasticSettings::default()
        })
    });
    let formula = prop::sample::select(vec![
        "1 / cwnd",
        "-1",
        "1 / (rtt - rtt)",
        "(since_loss - min_rtt) ^ cwnd_at_loss",
        "if(rtt > 2 * min_rtt, -in_flight, cwnd ^ 9)",
        "sqrt(-cwnd)",
    ]);
    let rule = prop::array::uniform3(formula).prop_map(|[per_ack, after_loss, after_timeout]| {
        AlgorithmSettings::Rule(RuleSettings {
            per_ack: Formula::new(per_ack),
            after_loss: Formula::new(after_loss),
            after_timeout: Formula::new(after_timeout),
            ..RuleSettings::default()
        })
    });
    prop_oneof![12 => named, 3 => stochastic, 3 => rule]
}

struct Caller {
    control: Algorithm,
    now_us: u64,
    first: u64,
    total: u64,
    min_rtt_us: u64,
}

impl Caller {
    /// Calls it as a transport would, with numbers that fit together.
    fn call(&mut self, call: Call, gap_us: u64, chance: &mut longhaul_random::Stream) {
        self.now_us += gap_us;
        let now = Time::from_ns(self.now_us * 1_000);
        let in_flight = self.control.window().min(1e9) as u32;
        let next_sequence = self.first + u64::from(in_flight);
        match call {
            Call::Ack { acked, marked, rtt_us, limited, recovering, lost } => {
                self.min_rtt_us = self.min_rtt_us.min(rtt_us.unwrap_or(u64::MAX));
                let known = self.min_rtt_us < u64::MAX;
                let min_rtt = Span::from_us(if known { self.min_rtt_us } else { 0 });
                let prior = self.total;
                self.first += u64::from(acked);
                self.total += u64::from(acked);
                self.control.on_ack(&Ack {
                    now,
                    acked,
                    delivered: acked,
                    marked: if marked { acked } else { 0 },
                    in_flight,
                    rtt: rtt_us.map(Span::from_us),
                    srtt: rtt_us.map_or(min_rtt, Span::from_us),
                    min_rtt,
                    window_limited: limited,
                    recovering,
                    first_unacked: self.first,
                    next_sequence: next_sequence.max(self.first),
                    delivery: Some(Delivery {
                        delivered: acked,
                        interval: Span::from_us(gap_us),
                        prior_delivered: prior.saturating_sub(u64::from(in_flight)),
                        total_delivered: self.total,
                        in_flight_at_send: in_flight,
                        newly_lost: lost,
                        lost,
                        app_limited: !limited,
                    }),
                });
            }
            Call::Lost => self.control.on_lost(now, chance),
            Call::Congestion { mark } => self.control.on_congestion(&Congestion {
                now,
                cause: if mark { Cause::Mark } else { Cause::Loss },
                in_flight,
                min_rtt: Span::from_us(self.min_rtt_us.min(1_000_000)),
                srtt: Span::from_us(self.min_rtt_us.min(1_000_000)),
                next_sequence,
            }),
            Call::Timeout => self.control.on_timeout(now, in_flight),
            Call::Recovered => self.control.on_recovered(now),
            Call::Spurious => self.control.on_spurious(now),
            Call::Sent => self.control.on_sent(now, in_flight),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn the_window_stays_sensible_whatever_is_called(
        settings in any_settings(),
        initial in 1.0..200.0,
        calls in proptest::collection::vec((call(), 0u64..300_000), 1..400),
        seed: u64,
    ) {
        let mut chance = Seed::new(seed).stream("calls");
        let mut control = Algorithm::new(&settings, initial);
        control.on_start(&mut chance);
        let mut caller = Caller { control, now_us: 0, first: 0, total: 0, min_rtt_us: u64::MAX };
        let mut highest: f64 = initial;
        for (call, gap_us) in calls {
            let before = caller.control.window();
            caller.call(call, gap_us, &mut chance);
            let (window, threshold) = (caller.control.window(), caller.control.threshold());
            prop_assert!(window.is_finite() && window >= 1.0, "{settings:?}: {window} after {call:?}");
            prop_assert!(threshold >= 2.0, "{settings:?}: {threshold} after {call:?}");
            match caller.control.pacing() {
                Pacing::None => {}
                Pacing::SegmentsPerSecond(rate) => {
                    prop_assert!(rate.is_finite() && rate > 0.0, "{settings:?}: {rate} after {call:?}");
                }
            }
            match call {
                // BBR's floor of 4 segments, MulTCP's 2 for 1 and Compound's share of a window apart, a
                // segment gives a segment.
                Call::Ack { acked, .. } => {
                    let most = 2.0 * before + 2.0 * f64::from(acked) + 4.0;
                    // BBR comes back from ProbeRTT with what it had before.
                    let restored = highest + f64::from(acked);
                    let most = if settings.name().starts_with("bbr") { restored.max(most) } else { most };
                    // Westwood takes what the path has carried as a recovery ends.
                    if settings.name() == "westwood" {
                        continue;
                    }
                    prop_assert!(window <= most, "{settings:?}: {before} to {window} after {call:?}");
                }
                // What was saved may come back.
                Call::Recovered | Call::Spurious | Call::Sent => {}
                Call::Congestion { .. } | Call::Lost | Call::Timeout => {
                    prop_assert!(window <= before.max(4.0) + 1e-9, "{settings:?}: {before} to {window} after {call:?}");
                }
            }
            highest = highest.max(window);
        }
    }

    #[test]
    fn equal_calls_have_equal_results(
        settings in any_settings(),
        calls in proptest::collection::vec((call(), 0u64..300_000), 1..100),
        seed: u64,
    ) {
        let run = || {
            let mut chance = Seed::new(seed).stream("calls");
            let mut control = Algorithm::new(&settings, 10.0);
            control.on_start(&mut chance);
            let mut caller = Caller { control, now_us: 0, first: 0, total: 0, min_rtt_us: u64::MAX };
            let windows = calls.iter().map(|&(call, gap_us)| {
                caller.call(call, gap_us, &mut chance);
                caller.control.window().to_bits()
            });
            windows.collect::<Vec<_>>()
        };
        prop_assert_eq!(run(), run());
    }
}

#[test]
fn an_algorithm_that_says_it_does_not_draw_ignores_chance() {
    for name in NAMES {
        let settings = AlgorithmSettings::named(name).unwrap();
        let (mut control, mut chance) = (Algorithm::new(&settings, 10.0), Seed::new(1).stream("algorithm"));
        let before = format!("{control:?}");
        control.on_start(&mut chance);
        control.on_lost(Time::ZERO, &mut chance);
        assert_eq!(format!("{control:?}") != before, settings.draws(), "{name}");
    }
}
