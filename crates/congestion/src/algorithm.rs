use crate::bbr::{Bbr, Bbr3};
use crate::bic::Bic;
use crate::cdg::Cdg;
use crate::compound::Compound;
use crate::congestion_control::{Ack, Congestion, CongestionControl, Pacing};
use crate::coupling::Coupling;
use crate::cubic::Cubic;
use crate::dctcp::Dctcp;
use crate::fast::Fast;
use crate::highspeed::HighSpeed;
use crate::htcp::Htcp;
use crate::illinois::Illinois;
use crate::lia::Lia;
use crate::lp::Lp;
use crate::multcp::Multcp;
use crate::nv::Nv;
use crate::olia::Olia;
use crate::reno::Reno;
use crate::rule::Rule;
use crate::scalable::Scalable;
use crate::settings::AlgorithmSettings;
use crate::stochastic::Stochastic;
use crate::tahoe::Tahoe;
use crate::vegas::Vegas;
use crate::veno::Veno;
use crate::westwood::Westwood;
use crate::yeah::Yeah;
use longhaul_random::Stream;
use longhaul_units::Time;

/// Any algorithm, without dynamic dispatch. Each takes no more memory than it needs.
#[derive(Clone, Debug)]
pub enum Algorithm {
    /// Tahoe: back to one segment after any loss (Jacobson 1988).
    Tahoe(Box<Tahoe>),
    /// RFC 5681.
    Reno(Box<Reno>),
    /// Binary increase (Xu, Harfoush, Rhee 2004).
    Bic(Box<Bic>),
    /// RFC 9438.
    Cubic(Box<Cubic>),
    /// RFC 3649.
    HighSpeed(Box<HighSpeed>),
    /// Scalable TCP (Kelly 2003).
    Scalable(Box<Scalable>),
    /// H-TCP (Leith, Shorten 2004).
    Htcp(Box<Htcp>),
    /// FAST (Jin, Wei, Low 2004).
    Fast(Box<Fast>),
    /// Compound TCP (Tan, Song, Zhang, Sridharan 2006).
    Compound(Box<Compound>),
    /// Westwood+ (Grieco, Mascolo 2004).
    Westwood(Box<Westwood>),
    /// Vegas (Brakmo, Peterson 1995).
    Vegas(Box<Vegas>),
    /// Illinois (Liu, Basar, Srikant 2006).
    Illinois(Box<Illinois>),
    /// Veno (Fu, Liew 2003).
    Veno(Box<Veno>),
    /// `YeAH` (Baiocchi, Castellani, Vacirca 2007).
    Yeah(Box<Yeah>),
    /// TCP-LP (Kuzmanovic, Knightly 2003).
    Lp(Box<Lp>),
    /// CDG (Hayes, Armitage 2011).
    Cdg(Box<Cdg>),
    /// NV, New Vegas (Brakmo, Linux).
    Nv(Box<Nv>),
    /// RFC 8257.
    Dctcp(Box<Dctcp>),
    /// MulTCP (Crowcroft, Oechslin 1998).
    Multcp(Box<Multcp>),
    /// Linked increases of Multipath TCP (RFC 6356).
    Lia(Box<Lia>),
    /// Opportunistic linked increases of Multipath TCP (Khalili et al. 2012).
    Olia(Box<Olia>),
    /// Stochastic TCP, a reconstruction (Hacker, Smith 2008).
    Stochastic(Box<Stochastic>),
    /// BBR, version 1 (draft-cardwell-iccrg-bbr-congestion-control-00).
    Bbr(Box<Bbr>),
    /// BBR, version 3 (draft-ietf-ccwg-bbr-06).
    Bbr3(Box<Bbr3>),
    /// Formulas of the scenario.
    Rule(Box<Rule>),
}

impl Algorithm {
    /// The algorithm that `settings` name, beginning with `initial` segments.
    pub fn new(settings: &AlgorithmSettings, initial: f64) -> Self {
        match settings {
            AlgorithmSettings::Tahoe(settings) => Algorithm::Tahoe(Box::new(Tahoe::new(settings, initial))),
            AlgorithmSettings::Reno(settings) => Algorithm::Reno(Box::new(Reno::with(settings, initial))),
            AlgorithmSettings::Bic(settings) => Algorithm::Bic(Box::new(Bic::new(settings, initial))),
            AlgorithmSettings::Cubic(settings) => Algorithm::Cubic(Box::new(Cubic::new(settings, initial))),
            AlgorithmSettings::HighSpeed(settings) => {
                Algorithm::HighSpeed(Box::new(HighSpeed::new(settings, initial)))
            }
            AlgorithmSettings::Scalable(settings) => {
                Algorithm::Scalable(Box::new(Scalable::new(settings, initial)))
            }
            AlgorithmSettings::Htcp(settings) => Algorithm::Htcp(Box::new(Htcp::new(settings, initial))),
            AlgorithmSettings::Fast(settings) => Algorithm::Fast(Box::new(Fast::new(settings, initial))),
            AlgorithmSettings::Compound(settings) => {
                Algorithm::Compound(Box::new(Compound::new(settings, initial)))
            }
            AlgorithmSettings::Westwood(settings) => {
                Algorithm::Westwood(Box::new(Westwood::new(settings, initial)))
            }
            AlgorithmSettings::Vegas(settings) => Algorithm::Vegas(Box::new(Vegas::new(settings, initial))),
            AlgorithmSettings::Illinois(settings) => {
                Algorithm::Illinois(Box::new(Illinois::new(settings, initial)))
            }
            AlgorithmSettings::Veno(settings) => Algorithm::Veno(Box::new(Veno::new(settings, initial))),
            AlgorithmSettings::Yeah(settings) => Algorithm::Yeah(Box::new(Yeah::new(settings, initial))),
            AlgorithmSettings::Lp(settings) => Algorithm::Lp(Box::new(Lp::new(settings, initial))),
            AlgorithmSettings::Cdg(settings) => Algorithm::Cdg(Box::new(Cdg::new(settings, initial))),
            AlgorithmSettings::Nv(settings) => Algorithm::Nv(Box::new(Nv::new(settings, initial))),
            AlgorithmSettings::Dctcp(settings) => Algorithm::Dctcp(Box::new(Dctcp::new(settings, initial))),
            AlgorithmSettings::Multcp(settings) => {
                Algorithm::Multcp(Box::new(Multcp::new(settings, initial)))
            }
            AlgorithmSettings::Lia(settings) => Algorithm::Lia(Box::new(Lia::new(settings, initial))),
            AlgorithmSettings::Olia(settings) => Algorithm::Olia(Box::new(Olia::new(settings, initial))),
            AlgorithmSettings::Stochastic(settings) => {
                Algorithm::Stochastic(Box::new(Stochastic::new(settings, initial)))
            }
            AlgorithmSettings::Bbr(settings) => Algorithm::Bbr(Box::new(Bbr::new(settings, initial))),
            AlgorithmSettings::Bbr3(settings) => Algorithm::Bbr3(Box::new(Bbr3::new(settings, initial))),
            AlgorithmSettings::Rule(settings) => Algorithm::Rule(Box::new(Rule::new(settings, initial))),
        }
    }
}

macro_rules! each {
    ($control:expr, $algorithm:ident => $result:expr) => {
        match $control {
            Algorithm::Tahoe($algorithm) => $result,
            Algorithm::Reno($algorithm) => $result,
            Algorithm::Bic($algorithm) => $result,
            Algorithm::Cubic($algorithm) => $result,
            Algorithm::HighSpeed($algorithm) => $result,
            Algorithm::Scalable($algorithm) => $result,
            Algorithm::Htcp($algorithm) => $result,
            Algorithm::Fast($algorithm) => $result,
            Algorithm::Compound($algorithm) => $result,
            Algorithm::Westwood($algorithm) => $result,
            Algorithm::Vegas($algorithm) => $result,
            Algorithm::Illinois($algorithm) => $result,
            Algorithm::Veno($algorithm) => $result,
            Algorithm::Yeah($algorithm) => $result,
            Algorithm::Lp($algorithm) => $result,
            Algorithm::Cdg($algorithm) => $result,
            Algorithm::Nv($algorithm) => $result,
            Algorithm::Dctcp($algorithm) => $result,
            Algorithm::Multcp($algorithm) => $result,
            Algorithm::Lia($algorithm) => $result,
            Algorithm::Olia($algorithm) => $result,
            Algorithm::Stochastic($algorithm) => $result,
            Algorithm::Bbr($algorithm) => $result,
            Algorithm::Bbr3($algorithm) => $result,
            Algorithm::Rule($algorithm) => $result,
        }
    };
}

impl CongestionControl for Algorithm {
    fn window(&self) -> f64 {
        each!(self, algorithm => algorithm.window())
    }
    fn threshold(&self) -> f64 {
        each!(self, algorithm => algorithm.threshold())
    }
    fn on_start(&mut self, chance: &mut Stream) {
        each!(self, algorithm => algorithm.on_start(chance));
    }
    fn on_ack(&mut self, ack: &Ack) {
        each!(self, algorithm => algorithm.on_ack(ack));
    }
    fn on_congestion(&mut self, congestion: &Congestion) {
        each!(self, algorithm => algorithm.on_congestion(congestion));
    }
    fn on_lost(&mut self, now: Time, chance: &mut Stream) {
        each!(self, algorithm => algorithm.on_lost(now, chance));
    }
    fn on_timeout(&mut self, now: Time, in_flight: u32) {
        each!(self, algorithm => algorithm.on_timeout(now, in_flight));
    }
    fn on_recovered(&mut self, now: Time) {
        each!(self, algorithm => algorithm.on_recovered(now));
    }
    fn on_spurious(&mut self, now: Time) {
        each!(self, algorithm => algorithm.on_spurious(now));
    }
    fn on_sent(&mut self, now: Time, in_flight: u32) {
        each!(self, algorithm => algorithm.on_sent(now, in_flight));
    }
    fn couple(&mut self, coupling: &Coupling<'_>) {
        each!(self, algorithm => algorithm.couple(coupling));
    }
    fn between_losses(&self) -> f64 {
        each!(self, algorithm => algorithm.between_losses())
    }
    fn pacing(&self) -> Pacing {
        each!(self, algorithm => algorithm.pacing())
    }
    fn steers_recovery(&self) -> bool {
        each!(self, algorithm => algorithm.steers_recovery())
    }
}
