//! Congestion-control algorithms, one to a file, as state machines without a clock.
//!
//! The transport detects losses, keeps the scoreboard and decides *which* segment goes next; an algorithm
//! decides *how many* may be in flight, and how fast they leave. Windows are in segments, as in the
//! papers, and may be fractional; the transport sends while `in_flight + 1 <= window`.
//!
//! ```
//! use longhaul_congestion::{Algorithm, CongestionControl, AlgorithmSettings};
//!
//! let cubic = AlgorithmSettings::named("cubic").expect("a name from `NAMES`");
//! let control = Algorithm::new(&cubic, 10.0);
//! assert_eq!(control.window(), 10.0);
//! ```
#![forbid(unsafe_code)]

mod algorithm;
mod bbr;
mod bic;
mod cdg;
mod compound;
mod congestion_control;
mod counted_growth;
mod coupling;
mod cubic;
mod dctcp;
mod draws;
mod fast;
mod formula;
mod gradients;
mod highspeed;
mod highspeed_table;
mod htcp;
mod hystart;
mod hystart_plus_plus;
mod illinois;
mod lia;
mod lp;
mod multcp;
mod nv;
mod olia;
mod range;
mod reno;
mod round;
mod rule;
mod scalable;
mod settings;
mod slow_start;
mod stochastic;
mod tahoe;
mod vegas;
mod veno;
mod westwood;
mod window;
mod yeah;

pub use algorithm::Algorithm;
pub use bbr::{Bbr, Bbr3, Bbr3Settings, BbrPhase, BbrSettings};
pub use bic::{Bic, BicSettings};
pub use cdg::{Cdg, CdgSettings};
pub use compound::{Compound, CompoundSettings};
pub use congestion_control::{Ack, Cause, Congestion, CongestionControl, Delivery, Pacing};
pub use coupling::{Coupling, Subflow};
pub use cubic::{Cubic, CubicRules, CubicSettings};
pub use dctcp::{Dctcp, DctcpSettings};
pub use fast::{Fast, FastSettings};
pub use formula::Formula;
pub use highspeed::{HighSpeed, HighSpeedResponse, HighSpeedSettings};
pub use htcp::{Htcp, HtcpSettings};
pub use hystart::HyStartSettings;
pub use hystart_plus_plus::HyStartPlusPlusSettings;
pub use illinois::{Illinois, IllinoisSettings};
pub use lia::{Lia, LiaSettings};
pub use lp::{Lp, LpRules, LpSettings};
pub use multcp::{Multcp, MultcpSettings};
pub use nv::{Nv, NvSettings};
pub use olia::{Olia, OliaSettings};
pub use reno::{Reno, RenoSettings};
pub use rule::{Rule, RuleSettings};
pub use scalable::{Scalable, ScalableSettings};
pub use settings::{AlgorithmSettings, NAMES};
pub use slow_start::SlowStartSettings;
pub use stochastic::{PhiMode, Stochastic, StochasticModel, StochasticSettings};
pub use tahoe::{Tahoe, TahoeSettings};
pub use vegas::{Vegas, VegasRules, VegasSettings};
pub use veno::{Veno, VenoSettings};
pub use westwood::{Westwood, WestwoodSettings};
pub use yeah::{Yeah, YeahSettings};
