use crate::parameters;
use longhaul_congestion::AlgorithmSettings;
use longhaul_units::InvalidValue;

/// A congestion-control algorithm as a BPF program.
#[derive(Clone, Debug, PartialEq)]
pub struct BpfAlgorithm {
    /// Its name in a scenario.
    pub name: &'static str,
    /// The compiled programs: ELF with BTF, for any kernel.
    pub object: &'static [u8],
    /// What `struct parameters` of the algorithm's core holds, field by field.
    pub parameters: Vec<u64>,
}

/// The names of the algorithms that can be loaded.
pub const NAMES: [&str; 6] = ["scalable", "highspeed", "htcp", "bic", "multcp", "stochastic"];

macro_rules! object {
    ($name:literal) => {
        include_bytes!(concat!("../bpf/objects/", $name, ".bpf.o"))
    };
}

/// The BPF program and parameters for `settings`. One acknowledgement adds up to `slow_start_limit` segments in
/// slow start.
///
/// # Errors
/// The algorithm or parameter that has no BPF implementation, and the alternatives.
pub fn bpf_algorithm(
    settings: &AlgorithmSettings,
    slow_start_limit: SlowStartLimit,
) -> Result<BpfAlgorithm, InvalidValue> {
    let limit = slow_start_limit;
    let (parameters, object): (_, &'static [u8]) = match settings {
        AlgorithmSettings::Scalable(settings) => {
            (parameters::scalable(settings, limit)?, object!("scalable"))
        }
        AlgorithmSettings::HighSpeed(settings) => {
            (parameters::highspeed(settings, limit)?, object!("highspeed"))
        }
        AlgorithmSettings::Htcp(settings) => (parameters::htcp(settings, limit)?, object!("htcp")),
        AlgorithmSettings::Bic(settings) => (parameters::bic(settings, limit)?, object!("bic")),
        AlgorithmSettings::Multcp(settings) => (parameters::multcp(settings, limit)?, object!("multcp")),
        AlgorithmSettings::Stochastic(settings) => {
            (parameters::stochastic(settings, limit)?, object!("stochastic"))
        }
        other => {
            return Err(InvalidValue::new("algorithm", format!("{} has no BPF program", other.name()))
                .with_remedy(format!("choose one of {}", NAMES.join(", "))));
        }
    };
    Ok(BpfAlgorithm { name: settings.name(), object, parameters })
}

/// How many segments one acknowledgement may add to the window in slow start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowStartLimit {
    /// The configured limit, and one after a timeout (RFC 3465).
    Configured,
    /// As many as it acknowledges: with GRO, one acknowledgement covers dozens of segments.
    Acknowledged,
}

#[cfg(test)]
pub(crate) fn object_of(name: &str) -> &'static [u8] {
    let settings = AlgorithmSettings::named(name).expect("an algorithm");
    bpf_algorithm(&settings, SlowStartLimit::Configured).expect("one for kernels").object
}
