use crate::settings::Settings;
use crate::slow_start::SlowStartSettings;
use std::fmt;

/// A parameter that its law cannot work with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutOfRange {
    /// The parameter, by its name in a plan.
    pub field: &'static str,
    /// What it is.
    pub value: f64,
    /// The least that it may be.
    pub least: f64,
    /// The most that it may be.
    pub most: f64,
}

impl fmt::Display for OutOfRange {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OutOfRange { field, value, least, most } = self;
        write!(out, "{field}: {value} is out of range; write a number from {least} to {most}")
    }
}

impl std::error::Error for OutOfRange {}

/// Shares, of which neither none nor all makes sense.
const SHARE: (f64, f64) = (0.001, 0.999);
/// Windows in segments, and factors that only must not be absurd.
const WINDOW: (f64, f64) = (0.0, 1e9);
const POSITIVE: (f64, f64) = (1e-9, 1e9);
const GAIN: (f64, f64) = (0.01, 100.0);

type Parameter = (&'static str, f64, (f64, f64));

impl Settings {
    /// Whether every parameter is one that its law can work with.
    ///
    /// # Errors
    /// The first parameter that is not, and what it may be.
    pub fn check(&self) -> Result<(), OutOfRange> {
        for (field, value, (least, most)) in self.parameters() {
            // Not a number is in no range.
            if !(least..=most).contains(&value) {
                return Err(OutOfRange { field, value, least, most });
            }
        }
        Ok(())
    }

    fn parameters(&self) -> Vec<Parameter> {
        let mut all = self.slow_start().map_or_else(Vec::new, slow_start);
        all.extend(match self {
            Settings::Tahoe(_) | Settings::Reno(_) => vec![],
            Settings::Bic(law) => vec![
                ("low_window", law.low_window, WINDOW),
                ("max_increment", law.max_increment, POSITIVE),
                ("min_increment", law.min_increment, POSITIVE),
                ("search_divisor", law.search_divisor, POSITIVE),
                ("beta", law.beta, SHARE),
            ],
            Settings::Cubic(law) => vec![
                ("c", law.c, POSITIVE),
                ("beta", law.beta, SHARE),
                ("max_growth_per_s", law.max_growth_per_s.unwrap_or(1.0), POSITIVE),
            ],
            Settings::HighSpeed(law) => vec![
                ("low_window", law.low_window, (1.0, 1e9)),
                ("high_window", law.high_window, (law.low_window.max(1.0) + 1.0, 1e12)),
                ("high_decrease", law.high_decrease, (0.001, 0.5)),
            ],
            Settings::Scalable(law) => vec![
                ("increase", law.increase, (1e-9, 1.0)),
                ("decrease", law.decrease, SHARE),
                ("legacy_window", law.legacy_window, WINDOW),
            ],
            Settings::Htcp(law) => vec![("bandwidth_switch", law.bandwidth_switch, WINDOW)],
            Settings::Fast(law) => vec![("alpha", law.alpha, POSITIVE), ("gamma", law.gamma, (1e-3, 1.0))],
            Settings::Compound(law) => vec![
                ("alpha", law.alpha, (0.0, 1.0)),
                ("beta", law.beta, SHARE),
                ("k", law.k, (0.0, 1.0)),
                ("gamma", law.gamma, WINDOW),
                ("zeta", law.zeta, WINDOW),
            ],
            Settings::Westwood(law) => vec![("memory", law.memory, (0.0, 0.999))],
            Settings::Vegas(law) => vec![
                ("alpha", law.alpha, WINDOW),
                ("beta", law.beta, (law.alpha, 1e9)),
                ("gamma", law.gamma, WINDOW),
                ("decrease", law.decrease, SHARE),
            ],
            Settings::Illinois(law) => vec![
                ("alpha_min", law.alpha_min, POSITIVE),
                ("alpha_max", law.alpha_max, (law.alpha_min * 1.001, 1e9)),
                ("beta_min", law.beta_min, SHARE),
                ("beta_max", law.beta_max, (law.beta_min, 0.999)),
                ("delays[0]", law.delays[0], (0.0, 0.99)),
                ("delays[1]", law.delays[1], (0.0, 0.99)),
                ("delays[2]", law.delays[2], (law.delays[1] + 0.001, 1.0)),
                ("low_window", law.low_window, WINDOW),
            ],
            Settings::Dctcp(law) => {
                vec![("gain", law.gain, SHARE), ("initial_alpha", law.initial_alpha, (0.0, 1.0))]
            }
            Settings::Multcp(law) => vec![("flows", law.flows, (0.5, 1e6))],
            Settings::Stochastic(law) => {
                vec![("streams", f64::from(law.streams), (1.0, 65_536.0)), ("phi", law.phi, (1.0, 1e12))]
            }
            Settings::Bbr(law) => vec![
                ("startup_gain", law.startup_gain, GAIN),
                ("window_gain", law.window_gain, GAIN),
                ("probe_gain", law.probe_gain, (1.0, 100.0)),
                ("drain_gain", law.drain_gain, (0.01, 1.0)),
                ("min_window", law.min_window, (1.0, 1e9)),
                ("quanta", law.quanta, WINDOW),
            ],
            Settings::Bbr3(law) => vec![
                ("startup_gain", law.startup_gain, GAIN),
                ("drain_gain", law.drain_gain, GAIN),
                ("window_gain", law.window_gain, GAIN),
                ("down_gain", law.down_gain, GAIN),
                ("up_gain", law.up_gain, GAIN),
                ("up_window_gain", law.up_window_gain, GAIN),
                ("loss_threshold", law.loss_threshold, (0.0, 0.999)),
                ("beta", law.beta, SHARE),
                ("headroom", law.headroom, (0.0, 0.999)),
                ("probe_rtt_gain", law.probe_rtt_gain, GAIN),
                ("pacing_margin", law.pacing_margin, (0.0, 0.999)),
                ("min_window", law.min_window, (1.0, 1e9)),
                ("offload_budget", law.offload_budget, WINDOW),
            ],
        });
        all
    }

    fn slow_start(&self) -> Option<&SlowStartSettings> {
        Some(match self {
            Settings::Tahoe(law) => &law.slow_start,
            Settings::Reno(law) => &law.slow_start,
            Settings::Bic(law) => &law.slow_start,
            Settings::Cubic(law) => &law.slow_start,
            Settings::HighSpeed(law) => &law.slow_start,
            Settings::Scalable(law) => &law.slow_start,
            Settings::Htcp(law) => &law.slow_start,
            Settings::Fast(law) => &law.slow_start,
            Settings::Compound(law) => &law.slow_start,
            Settings::Westwood(law) => &law.slow_start,
            Settings::Vegas(law) => &law.slow_start,
            Settings::Illinois(law) => &law.slow_start,
            Settings::Dctcp(law) => &law.slow_start,
            Settings::Multcp(law) => &law.slow_start,
            Settings::Stochastic(law) => &law.slow_start,
            Settings::Bbr(_) | Settings::Bbr3(_) => return None,
        })
    }
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
            ("slow_start.limit", f64::from(hystart.limit), LIMIT),
            ("slow_start.min_rtt_divisor", f64::from(hystart.min_rtt_divisor), LIMIT),
            ("slow_start.rtt_samples", f64::from(hystart.rtt_samples), LIMIT),
            ("slow_start.growth_divisor", hystart.growth_divisor, (1.0, 1e9)),
            ("slow_start.rounds", f64::from(hystart.rounds), LIMIT),
        ],
    }
}
