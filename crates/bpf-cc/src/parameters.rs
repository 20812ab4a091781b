//! Settings as the integers of an algorithm's core: 32 whole and 32 fractional bits, rounded to the nearest.

use crate::algorithms::SlowStartLimit;
use longhaul_congestion::{
    BicSettings, HighSpeedResponse, HighSpeedSettings, HtcpSettings, MultcpSettings, PhiMode,
    ScalableSettings, SlowStartSettings, StochasticModel, StochasticSettings,
};
use longhaul_units::InvalidValue;

/// What `fixed.h` calls INFINITE.
const INFINITE: u64 = u64::MAX;
/// More segments than one acknowledgement is for.
const ALL: u64 = 1 << 20;
/// Virtual streams that a kernel keeps at most: `MOST_STREAMS` of `stochastic.h`.
const MOST_STREAMS: u32 = 32;
/// Numbers that `quotient()` of `fixed.h` takes are below it.
const MOST: f64 = 16_777_215.0;

fn fixed(value: f64) -> u64 {
    libm::round(value.clamp(0.0, MOST) * 4_294_967_296.0) as u64
}

fn slow_start(settings: &SlowStartSettings, limit: SlowStartLimit) -> Result<[u64; 3], InvalidValue> {
    let (own, half) = match settings {
        SlowStartSettings::Standard { limit } => (*limit, INFINITE),
        SlowStartSettings::Limited { max_threshold, limit } => (*limit, fixed(0.5 * max_threshold)),
        SlowStartSettings::HyStart(_) | SlowStartSettings::HyStartPlusPlus(_) => {
            return Err(InvalidValue::new("slow_start", "BPF algorithms do not implement hystart")
                .with_remedy("write standard or limited"));
        }
    };
    Ok(match limit {
        SlowStartLimit::Configured => [u64::from(own.max(1)), 1, half],
        SlowStartLimit::Acknowledged => [ALL, ALL, half],
    })
}

fn list<const N: usize>(start: [u64; 3], own: [u64; N]) -> Vec<u64> {
    start.into_iter().chain(own).collect()
}

pub(crate) fn scalable(settings: &ScalableSettings, limit: SlowStartLimit) -> Result<Vec<u64>, InvalidValue> {
    let own = [
        fixed(settings.increase),
        fixed(settings.decrease),
        fixed(settings.legacy_window),
        u64::from(settings.reno_friendly),
    ];
    Ok(list(slow_start(&settings.slow_start, limit)?, own))
}

pub(crate) fn highspeed(
    settings: &HighSpeedSettings,
    limit: SlowStartLimit,
) -> Result<Vec<u64>, InvalidValue> {
    let doublings = libm::log2(settings.high_window / settings.low_window);
    let slope = (0.5 - settings.high_decrease) / doublings;
    let own = [
        fixed(settings.low_window),
        fixed(libm::log2(settings.low_window)),
        fixed(slope),
        u64::from(settings.response == HighSpeedResponse::Table),
        u64::from(settings.byte_counting),
    ];
    Ok(list(slow_start(&settings.slow_start, limit)?, own))
}

pub(crate) fn htcp(settings: &HtcpSettings, limit: SlowStartLimit) -> Result<Vec<u64>, InvalidValue> {
    let switches = [settings.adaptive_backoff, settings.rtt_scaling].map(u64::from);
    let own = [settings.low_speed_ns, fixed(settings.bandwidth_switch), switches[0], switches[1]];
    Ok(list(slow_start(&settings.slow_start, limit)?, own))
}

pub(crate) fn bic(settings: &BicSettings, limit: SlowStartLimit) -> Result<Vec<u64>, InvalidValue> {
    let own = [
        fixed(settings.low_window),
        fixed(settings.max_increment),
        fixed(settings.min_increment),
        fixed(settings.search_divisor),
        fixed(1.0 / settings.search_divisor),
        fixed(1.0 / (settings.search_divisor - 1.0).max(1.0)),
        fixed(settings.beta),
        u64::from(settings.fast_convergence),
        u64::from(settings.delayed_acks),
    ];
    Ok(list(slow_start(&settings.slow_start, limit)?, own))
}

pub(crate) fn multcp(settings: &MultcpSettings, limit: SlowStartLimit) -> Result<Vec<u64>, InvalidValue> {
    let flows = settings.flows.max(0.5);
    // As Multcp::new in longhaul-congestion.
    let knee = libm::pow(3.0, libm::log(flows) / libm::log(1.5));
    let own = [fixed(flows), fixed((flows - 0.5) / flows), fixed(knee)];
    Ok(list(slow_start(&settings.slow_start, limit)?, own))
}

pub(crate) fn stochastic(
    settings: &StochasticSettings,
    limit: SlowStartLimit,
) -> Result<Vec<u64>, InvalidValue> {
    if settings.streams > MOST_STREAMS {
        return Err(InvalidValue::new(
            "streams",
            format!("the BPF algorithm has at most {MOST_STREAMS} streams"),
        )
        .with_remedy(format!("write a number from 1 to {MOST_STREAMS}")));
    }
    if settings.model != StochasticModel::Explicit {
        return Err(InvalidValue::new("model", "the BPF algorithm implements explicit streams only")
            .with_remedy("remove the key"));
    }
    let (streams, phi) = (settings.streams.max(1), settings.phi.max(1.0));
    let increment = match settings.phi_mode {
        PhiMode::VirtualRtt => f64::from(streams) / phi,
        PhiMode::Multiplier => f64::from(streams) * phi,
        PhiMode::StreamsCut => {
            return Err(InvalidValue::new(
                "phi_mode",
                "the BPF algorithm implements virtual-rtt and multiplier only",
            )
            .with_remedy("write one of them"));
        }
    };
    Ok(list(slow_start(&settings.slow_start, limit)?, [u64::from(streams), fixed(increment)]))
}
