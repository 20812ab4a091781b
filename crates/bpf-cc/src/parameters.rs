//! Settings as the integers of a law's core: 32 whole and 32 fractional bits, rounded to the nearest.

use crate::laws::SlowStartLimit;
use longhaul_congestion::{
    BicSettings, HighSpeedResponse, HighSpeedSettings, HtcpSettings, MultcpSettings, PhiMode,
    ScalableSettings, SlowStartSettings, StochasticModel, StochasticSettings,
};

/// What `fixed.h` calls INFINITE.
const INFINITE: u64 = u64::MAX;
/// More segments than one acknowledgement is for.
const ALL: u64 = 1 << 20;
/// Virtual streams that a kernel keeps at most: MOST_STREAMS of `stochastic.h`.
const MOST_STREAMS: u32 = 32;
/// Numbers that `quotient()` of `fixed.h` takes are below it.
const MOST: f64 = 16_777_215.0;

fn fixed(value: f64) -> u64 {
    libm::round(value.clamp(0.0, MOST) * 4_294_967_296.0) as u64
}

fn slow_start(settings: &SlowStartSettings, limit: SlowStartLimit) -> Result<[u64; 3], String> {
    let (own, half) = match settings {
        SlowStartSettings::Standard { limit } => (*limit, INFINITE),
        SlowStartSettings::Limited { max_threshold, limit } => (*limit, fixed(0.5 * max_threshold)),
        SlowStartSettings::HyStart(_) => {
            return Err("slow_start: a kernel's laws have no hystart; take standard or limited".into());
        }
    };
    Ok(match limit {
        SlowStartLimit::Settings => [u64::from(own.max(1)), 1, half],
        SlowStartLimit::Acknowledged => [ALL, ALL, half],
    })
}

fn list<const N: usize>(start: [u64; 3], own: [u64; N]) -> Vec<u64> {
    start.into_iter().chain(own).collect()
}

pub(crate) fn scalable(law: &ScalableSettings, limit: SlowStartLimit) -> Result<Vec<u64>, String> {
    let own = [fixed(law.increase), fixed(law.decrease), fixed(law.legacy_window)];
    Ok(list(slow_start(&law.slow_start, limit)?, own))
}

pub(crate) fn highspeed(law: &HighSpeedSettings, limit: SlowStartLimit) -> Result<Vec<u64>, String> {
    if law.response == HighSpeedResponse::Table {
        return Err("response: a kernel's law has the formula; leave it out".into());
    }
    let doublings = libm::log2(law.high_window / law.low_window);
    let slope = (0.5 - law.high_decrease) / doublings;
    let own = [fixed(law.low_window), fixed(libm::log2(law.low_window)), fixed(slope)];
    Ok(list(slow_start(&law.slow_start, limit)?, own))
}

pub(crate) fn htcp(law: &HtcpSettings, limit: SlowStartLimit) -> Result<Vec<u64>, String> {
    let switches = [law.adaptive_backoff, law.rtt_scaling].map(u64::from);
    let own = [law.low_speed_ns, fixed(law.bandwidth_switch), switches[0], switches[1]];
    Ok(list(slow_start(&law.slow_start, limit)?, own))
}

pub(crate) fn bic(law: &BicSettings, limit: SlowStartLimit) -> Result<Vec<u64>, String> {
    let own = [
        fixed(law.low_window),
        fixed(law.max_increment),
        fixed(law.min_increment),
        fixed(law.search_divisor),
        fixed(1.0 / law.search_divisor),
        fixed(1.0 / (law.search_divisor - 1.0).max(1.0)),
        fixed(law.beta),
        u64::from(law.fast_convergence),
    ];
    Ok(list(slow_start(&law.slow_start, limit)?, own))
}

pub(crate) fn multcp(law: &MultcpSettings, limit: SlowStartLimit) -> Result<Vec<u64>, String> {
    let flows = law.flows.max(0.5);
    // As Multcp::new in longhaul-congestion.
    let knee = libm::pow(3.0, libm::log(flows) / libm::log(1.5));
    let own = [fixed(flows), fixed((flows - 0.5) / flows), fixed(knee)];
    Ok(list(slow_start(&law.slow_start, limit)?, own))
}

pub(crate) fn stochastic(law: &StochasticSettings, limit: SlowStartLimit) -> Result<Vec<u64>, String> {
    if law.streams > MOST_STREAMS {
        return Err(format!("streams: a kernel's law has at most {MOST_STREAMS}; write fewer"));
    }
    if law.model != StochasticModel::Explicit {
        return Err("model: a kernel's law has explicit streams; leave it out".into());
    }
    let (streams, phi) = (law.streams.max(1), law.phi.max(1.0));
    let increment = match law.phi_mode {
        PhiMode::VirtualRtt => f64::from(streams) / phi,
        PhiMode::Multiplier => f64::from(streams) * phi,
        PhiMode::StreamsCut => {
            return Err("phi_mode: a kernel's law has virtual-rtt and multiplier; take one of them".into());
        }
    };
    Ok(list(slow_start(&law.slow_start, limit)?, [u64::from(streams), fixed(increment)]))
}
