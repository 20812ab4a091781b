use crate::parameters;
use longhaul_congestion::Settings;

/// A law that a kernel can follow.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelLaw {
    /// Its name in a scenario.
    pub name: &'static str,
    /// The compiled programs: ELF with BTF, for any kernel.
    pub object: &'static [u8],
    /// What `struct parameters` of the law's core holds, field by field.
    pub parameters: Vec<u64>,
}

/// The names of the laws that can be loaded.
pub const NAMES: [&str; 6] = ["scalable", "highspeed", "htcp", "bic", "multcp", "stochastic"];

macro_rules! object {
    ($name:literal) => {
        include_bytes!(concat!("../bpf/objects/", $name, ".bpf.o"))
    };
}

/// What `settings` are for a kernel, where one acknowledgement may add `slow_start_limit` segments below the
/// threshold.
///
/// # Errors
/// What a kernel cannot do, and what it can.
pub fn kernel_law(settings: &Settings, slow_start_limit: SlowStartLimit) -> Result<KernelLaw, String> {
    let limit = slow_start_limit;
    let (parameters, object): (_, &'static [u8]) = match settings {
        Settings::Scalable(law) => (parameters::scalable(law, limit)?, object!("scalable")),
        Settings::HighSpeed(law) => (parameters::highspeed(law, limit)?, object!("highspeed")),
        Settings::Htcp(law) => (parameters::htcp(law, limit)?, object!("htcp")),
        Settings::Bic(law) => (parameters::bic(law, limit)?, object!("bic")),
        Settings::Multcp(law) => (parameters::multcp(law, limit)?, object!("multcp")),
        Settings::Stochastic(law) => (parameters::stochastic(law, limit)?, object!("stochastic")),
        other => {
            return Err(format!(
                "{} cannot be loaded into a kernel; take one of {}",
                other.name(),
                NAMES.join(", ")
            ));
        }
    };
    Ok(KernelLaw { name: settings.name(), object, parameters })
}

/// How many segments one acknowledgement may add below the threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowStartLimit {
    /// As the law's settings say, and one after a timeout (RFC 3465).
    Settings,
    /// As many as it acknowledges: hosts that put segments together acknowledge dozens at once.
    Acknowledged,
}

#[cfg(test)]
pub(crate) fn object_of(name: &str) -> &'static [u8] {
    let settings = Settings::named(name).expect("a law");
    kernel_law(&settings, SlowStartLimit::Settings).expect("one for kernels").object
}
