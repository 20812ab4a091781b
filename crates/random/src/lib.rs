//! Named streams of random numbers from one seed.
//!
//! Every random decision of a run draws from a stream with a name of its own, such as
//! `par-nyc/forward/loss`. A stream depends on the seed and its name alone: adding a link, or a
//! draw elsewhere, moves no other draw, and two variants of a scenario meet the same chances.
//!
//! ```
//! use longhaul_random::Seed;
//!
//! let seed = Seed::new(42);
//! let mut loss = seed.stream("par-nyc/forward/loss");
//! let mut delay = seed.stream("par-nyc/forward/delay");
//! assert_ne!(loss.bits(), delay.bits());
//! assert_eq!(seed.stream("par-nyc/forward/loss").bits(), seed.stream("par-nyc/forward/loss").bits());
//! ```
//!
//! All functions use integer arithmetic, IEEE 754 basic operations and `libm`, so they give the
//! same bits on every machine.
#![forbid(unsafe_code)]

mod distribution;
mod gamma;
mod inverse_gaussian;
mod mix;
mod normal;
mod stream;

pub use distribution::Distribution;
pub use mix::mix;
pub use normal::MAX_DEVIATE as MAX_NORMAL_DEVIATE;
pub use stream::{Seed, Stream};

/// The chance that a standard normal variable stays below `z`, kept off 0 and 1.
pub fn normal_share(z: f64) -> f64 {
    (0.5 * libm::erfc(-z * std::f64::consts::FRAC_1_SQRT_2)).clamp(1e-16, 1.0 - 1e-16)
}
