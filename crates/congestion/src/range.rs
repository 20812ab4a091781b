use crate::bbr::Bbr3Settings;
use crate::cdg::CdgSettings;
use crate::illinois::IllinoisSettings;
use crate::nv::NvSettings;
use crate::settings::AlgorithmSettings;
use crate::slow_start::SlowStartSettings;
use crate::yeah::YeahSettings;
use longhaul_units::InvalidValue;

/// Shares, of which neither none nor all makes sense.
const SHARE: (f64, f64) = (0.001, 0.999);
/// Windows in segments, and factors that only must not be absurd.
const WINDOW: (f64, f64) = (0.0, 1e9);
const POSITIVE: (f64, f64) = (1e-9, 1e9);
const GAIN: (f64, f64) = (0.01, 100.0);
/// Up to a thousand seconds, which sums of spans can hold.
const NANOSECONDS: (f64, f64) = (0.0, 1e12);

type Parameter = (&'static str, f64, (f64, f64));

impl AlgorithmSettings {
    /// Whether every parameter is one that its algorithm can work with.
    ///
    /// # Errors
    /// The first parameter that is not, and what it may be.
    pub fn check(&self) -> Result<(), InvalidValue> {
        if let AlgorithmSettings::Rule(rule) = self {
            rule.per_ack.check("per_ack")?;
            rule.after_loss.check("after_loss")?;
            rule.after_timeout.check("after_timeout")?;
        }
        for (field, value, (least, most)) in self.parameters() {
            // Not a number is in no range.
            if !(least..=most).contains(&value) {
                return Err(InvalidValue::new(field, format!("{value} is out of range"))
                    .with_remedy(format!("write a number from {least} to {most}")));
            }
        }
        Ok(())
    }

    fn parameters(&self) -> Vec<Parameter> {
        let mut all = self.slow_start().map_or_else(Vec::new, slow_start);
        all.extend(match self {
            AlgorithmSettings::Tahoe(_)
            | AlgorithmSettings::Reno(_)
            | AlgorithmSettings::Lia(_)
            | AlgorithmSettings::Olia(_)
            | AlgorithmSettings::Rule(_) => vec![],
            AlgorithmSettings::Bic(settings) => vec![
                ("low_window", settings.low_window, WINDOW),
                ("max_increment", settings.max_increment, POSITIVE),
                ("min_increment", settings.min_increment, POSITIVE),
                ("search_divisor", settings.search_divisor, POSITIVE),
                ("beta", settings.beta, SHARE),
            ],
            AlgorithmSettings::Cubic(settings) => vec![
                ("c", settings.c, POSITIVE),
                ("beta", settings.beta, SHARE),
                ("max_growth_per_s", settings.max_growth_per_s.unwrap_or(1.0), POSITIVE),
                ("first_growth", settings.first_growth, (0.0, 1.0)),
            ],
            AlgorithmSettings::HighSpeed(settings) => vec![
                ("low_window", settings.low_window, (1.0, 1e9)),
                ("high_window", settings.high_window, (settings.low_window.max(1.0) + 1.0, 1e12)),
                ("high_decrease", settings.high_decrease, (0.001, 0.5)),
            ],
            AlgorithmSettings::Scalable(settings) => vec![
                ("increase", settings.increase, (1e-9, 1.0)),
                ("decrease", settings.decrease, SHARE),
                ("legacy_window", settings.legacy_window, WINDOW),
            ],
            AlgorithmSettings::Htcp(settings) => {
                vec![
                    ("bandwidth_switch", settings.bandwidth_switch, WINDOW),
                    ("low_speed_ns", settings.low_speed_ns as f64, NANOSECONDS),
                ]
            }
            AlgorithmSettings::Fast(settings) => {
                vec![
                    ("alpha", settings.alpha, POSITIVE),
                    ("gamma", settings.gamma, (1e-3, 1.0)),
                    ("slow_start_delay_ns", settings.slow_start_delay_ns as f64, NANOSECONDS),
                ]
            }
            AlgorithmSettings::Compound(settings) => vec![
                ("alpha", settings.alpha, (0.0, 1.0)),
                ("beta", settings.beta, SHARE),
                ("k", settings.k, (0.0, 1.0)),
                ("gamma", settings.gamma, WINDOW),
                ("zeta", settings.zeta, WINDOW),
            ],
            AlgorithmSettings::Westwood(settings) => {
                vec![
                    ("memory", settings.memory, (0.0, 0.999)),
                    ("stages", f64::from(settings.stages), (1.0, 2.0)),
                    ("least_interval_ns", settings.least_interval_ns as f64, NANOSECONDS),
                    ("tick_ns", settings.tick_ns as f64, (0.0, 1e9)),
                ]
            }
            AlgorithmSettings::Vegas(settings) => vec![
                ("alpha", settings.alpha, WINDOW),
                ("beta", settings.beta, (settings.alpha, 1e9)),
                ("gamma", settings.gamma, WINDOW),
                ("decrease", settings.decrease, SHARE),
            ],
            AlgorithmSettings::Illinois(settings) => illinois(settings),
            AlgorithmSettings::Veno(settings) => vec![
                ("beta", settings.beta, WINDOW),
                ("random_decrease", settings.random_decrease, SHARE),
                ("congested_decrease", settings.congested_decrease, SHARE),
            ],
            AlgorithmSettings::Yeah(settings) => yeah(settings),
            AlgorithmSettings::Lp(settings) => vec![
                ("delta", settings.delta, SHARE),
                ("gamma", settings.gamma, SHARE),
                ("inference_rtts", settings.inference_rtts, (0.0, 1e6)),
            ],
            AlgorithmSettings::Cdg(settings) => cdg(settings),
            AlgorithmSettings::Nv(settings) => nv(settings),
            AlgorithmSettings::Dctcp(settings) => {
                vec![("gain", settings.gain, SHARE), ("initial_alpha", settings.initial_alpha, (0.0, 1.0))]
            }
            AlgorithmSettings::Multcp(settings) => vec![("flows", settings.flows, (0.5, 1e6))],
            AlgorithmSettings::Stochastic(settings) => {
                vec![
                    ("streams", f64::from(settings.streams), (1.0, 65_536.0)),
                    ("phi", settings.phi, (1.0, 1e12)),
                ]
            }
            AlgorithmSettings::Bbr(settings) => vec![
                ("startup_gain", settings.startup_gain, GAIN),
                ("window_gain", settings.window_gain, GAIN),
                ("probe_gain", settings.probe_gain, (1.0, 100.0)),
                ("drain_gain", settings.drain_gain, (0.01, 1.0)),
                ("min_window", settings.min_window, (1.0, 1e9)),
                ("quanta", settings.quanta, WINDOW),
            ],
            AlgorithmSettings::Bbr3(settings) => bbr3(settings),
        });
        all
    }

    fn slow_start(&self) -> Option<&SlowStartSettings> {
        Some(match self {
            AlgorithmSettings::Tahoe(settings) => &settings.slow_start,
            AlgorithmSettings::Reno(settings) => &settings.slow_start,
            AlgorithmSettings::Bic(settings) => &settings.slow_start,
            AlgorithmSettings::Cubic(settings) => &settings.slow_start,
            AlgorithmSettings::HighSpeed(settings) => &settings.slow_start,
            AlgorithmSettings::Scalable(settings) => &settings.slow_start,
            AlgorithmSettings::Htcp(settings) => &settings.slow_start,
            AlgorithmSettings::Fast(settings) => &settings.slow_start,
            AlgorithmSettings::Compound(settings) => &settings.slow_start,
            AlgorithmSettings::Westwood(settings) => &settings.slow_start,
            AlgorithmSettings::Vegas(settings) => &settings.slow_start,
            AlgorithmSettings::Illinois(settings) => &settings.slow_start,
            AlgorithmSettings::Veno(settings) => &settings.slow_start,
            AlgorithmSettings::Yeah(settings) => &settings.slow_start,
            AlgorithmSettings::Lp(settings) => &settings.slow_start,
            AlgorithmSettings::Cdg(settings) => &settings.slow_start,
            AlgorithmSettings::Nv(settings) => &settings.slow_start,
            AlgorithmSettings::Dctcp(settings) => &settings.slow_start,
            AlgorithmSettings::Multcp(settings) => &settings.slow_start,
            AlgorithmSettings::Lia(settings) => &settings.slow_start,
            AlgorithmSettings::Olia(settings) => &settings.slow_start,
            AlgorithmSettings::Stochastic(settings) => &settings.slow_start,
            AlgorithmSettings::Rule(settings) => &settings.slow_start,
            AlgorithmSettings::Bbr(_) | AlgorithmSettings::Bbr3(_) => return None,
        })
    }
}

fn illinois(settings: &IllinoisSettings) -> Vec<Parameter> {
    vec![
        ("alpha_min", settings.alpha_min, POSITIVE),
        ("alpha_max", settings.alpha_max, (settings.alpha_min * 1.001, 1e9)),
        ("beta_min", settings.beta_min, SHARE),
        ("beta_max", settings.beta_max, (settings.beta_min, 0.999)),
        ("delays[0]", settings.delays[0], (0.0, 0.99)),
        ("delays[1]", settings.delays[1], (0.0, 0.99)),
        ("delays[2]", settings.delays[2], (settings.delays[1] + 0.001, 1.0)),
        ("low_window", settings.low_window, WINDOW),
    ]
}

fn bbr3(settings: &Bbr3Settings) -> Vec<Parameter> {
    vec![
        ("startup_gain", settings.startup_gain, GAIN),
        ("drain_gain", settings.drain_gain, GAIN),
        ("window_gain", settings.window_gain, GAIN),
        ("down_gain", settings.down_gain, GAIN),
        ("up_gain", settings.up_gain, GAIN),
        ("up_window_gain", settings.up_window_gain, GAIN),
        ("loss_threshold", settings.loss_threshold, (0.0, 0.999)),
        ("beta", settings.beta, SHARE),
        ("headroom", settings.headroom, (0.0, 0.999)),
        ("probe_rtt_gain", settings.probe_rtt_gain, GAIN),
        ("pacing_margin", settings.pacing_margin, (0.0, 0.999)),
        ("min_window", settings.min_window, (1.0, 1e9)),
        ("offload_budget", settings.offload_budget, WINDOW),
    ]
}

fn yeah(settings: &YeahSettings) -> Vec<Parameter> {
    vec![
        ("max_queue", settings.max_queue, WINDOW),
        ("phi", settings.phi, POSITIVE),
        ("gamma", settings.gamma, (1.0, 1e9)),
        ("epsilon", settings.epsilon, (1.0, 1e9)),
        ("delta", settings.delta, (1.0, 1e9)),
        ("scalable_count", settings.scalable_count, (1.0, 1e9)),
    ]
}

fn cdg(settings: &CdgSettings) -> Vec<Parameter> {
    vec![
        ("gradient_rounds", f64::from(settings.gradient_rounds), (1.0, 256.0)),
        ("backoff_factor", settings.backoff_factor, (0.0, 1e9)),
        ("backoff_beta", settings.backoff_beta, SHARE),
    ]
}

fn nv(settings: &NvSettings) -> Vec<Parameter> {
    vec![
        ("pad", settings.pad, WINDOW),
        ("pad_buffer", settings.pad_buffer, (0.0, settings.pad)),
        ("reset_period_ns", settings.reset_period_ns as f64, NANOSECONDS),
        ("min_window", settings.min_window, (1.0, 1e9)),
        ("congestion_decrease", settings.congestion_decrease, SHARE),
        ("threshold_factor", settings.threshold_factor, GAIN),
        ("rtt_weight", settings.rtt_weight, (0.001, 1.0)),
        ("loss_decrease", settings.loss_decrease, SHARE),
    ]
}

fn slow_start(settings: &SlowStartSettings) -> Vec<Parameter> {
    const LIMIT: (f64, f64) = (1.0, 1e9);
    match settings {
        SlowStartSettings::Standard { limit } => vec![("slow_start.limit", f64::from(*limit), LIMIT)],
        SlowStartSettings::Limited { max_threshold, limit } => vec![
            ("slow_start.limit", f64::from(*limit), LIMIT),
            ("slow_start.max_threshold", *max_threshold, (2.0, 1e12)),
        ],
        SlowStartSettings::HyStart(hystart) => vec![
            ("slow_start.low_window", hystart.low_window, WINDOW),
            ("slow_start.ack_delta_ns", hystart.ack_delta_ns as f64, NANOSECONDS),
            ("slow_start.ack_delay_ns", hystart.ack_delay_ns as f64, NANOSECONDS),
            ("slow_start.min_rtt_threshold_ns", hystart.min_rtt_threshold_ns as f64, NANOSECONDS),
            ("slow_start.max_rtt_threshold_ns", hystart.max_rtt_threshold_ns as f64, NANOSECONDS),
            ("slow_start.rtt_samples", f64::from(hystart.rtt_samples), LIMIT),
            ("slow_start.min_rtt_divisor", f64::from(hystart.min_rtt_divisor), LIMIT),
        ],
        SlowStartSettings::HyStartPlusPlus(hystart) => vec![
            ("slow_start.limit", f64::from(hystart.limit), LIMIT),
            ("slow_start.min_rtt_threshold_ns", hystart.min_rtt_threshold_ns as f64, NANOSECONDS),
            ("slow_start.max_rtt_threshold_ns", hystart.max_rtt_threshold_ns as f64, NANOSECONDS),
            ("slow_start.min_rtt_divisor", f64::from(hystart.min_rtt_divisor), LIMIT),
            ("slow_start.rtt_samples", f64::from(hystart.rtt_samples), LIMIT),
            ("slow_start.growth_divisor", hystart.growth_divisor, (1.0, 1e9)),
            ("slow_start.rounds", f64::from(hystart.rounds), LIMIT),
        ],
    }
}
