use crate::bbr::{Bbr, Bbr3};
use crate::bic::Bic;
use crate::compound::Compound;
use crate::cubic::Cubic;
use crate::dctcp::Dctcp;
use crate::fast::Fast;
use crate::highspeed::HighSpeed;
use crate::htcp::Htcp;
use crate::illinois::Illinois;
use crate::law::{Ack, Congestion, Law, Pacing};
use crate::multcp::Multcp;
use crate::reno::Reno;
use crate::scalable::Scalable;
use crate::settings::Settings;
use crate::stochastic::Stochastic;
use crate::tahoe::Tahoe;
use crate::vegas::Vegas;
use crate::westwood::Westwood;
use longhaul_random::Stream;
use longhaul_units::Time;

/// Any law, without dynamic dispatch. Each takes no more memory than it needs.
#[derive(Clone, Debug)]
pub enum Control {
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
    /// RFC 8257.
    Dctcp(Box<Dctcp>),
    /// MulTCP (Crowcroft, Oechslin 1998).
    Multcp(Box<Multcp>),
    /// Stochastic TCP, a reconstruction (Hacker, Smith 2008).
    Stochastic(Box<Stochastic>),
    /// BBR, version 1 (draft-cardwell-iccrg-bbr-congestion-control-00).
    Bbr(Box<Bbr>),
    /// BBR, version 3 (draft-ietf-ccwg-bbr-06).
    Bbr3(Box<Bbr3>),
}

impl Control {
    /// The law that `settings` name, beginning with `initial` segments.
    pub fn new(settings: &Settings, initial: f64) -> Self {
        match settings {
            Settings::Tahoe(settings) => Control::Tahoe(Box::new(Tahoe::new(settings, initial))),
            Settings::Reno(settings) => Control::Reno(Box::new(Reno::with(settings, initial))),
            Settings::Bic(settings) => Control::Bic(Box::new(Bic::new(settings, initial))),
            Settings::Cubic(settings) => Control::Cubic(Box::new(Cubic::new(settings, initial))),
            Settings::HighSpeed(settings) => Control::HighSpeed(Box::new(HighSpeed::new(settings, initial))),
            Settings::Scalable(settings) => Control::Scalable(Box::new(Scalable::new(settings, initial))),
            Settings::Htcp(settings) => Control::Htcp(Box::new(Htcp::new(settings, initial))),
            Settings::Fast(settings) => Control::Fast(Box::new(Fast::new(settings, initial))),
            Settings::Compound(settings) => Control::Compound(Box::new(Compound::new(settings, initial))),
            Settings::Westwood(settings) => Control::Westwood(Box::new(Westwood::new(settings, initial))),
            Settings::Vegas(settings) => Control::Vegas(Box::new(Vegas::new(settings, initial))),
            Settings::Illinois(settings) => Control::Illinois(Box::new(Illinois::new(settings, initial))),
            Settings::Dctcp(settings) => Control::Dctcp(Box::new(Dctcp::new(settings, initial))),
            Settings::Multcp(settings) => Control::Multcp(Box::new(Multcp::new(settings, initial))),
            Settings::Stochastic(settings) => {
                Control::Stochastic(Box::new(Stochastic::new(settings, initial)))
            }
            Settings::Bbr(settings) => Control::Bbr(Box::new(Bbr::new(settings, initial))),
            Settings::Bbr3(settings) => Control::Bbr3(Box::new(Bbr3::new(settings, initial))),
        }
    }
}

macro_rules! each {
    ($control:expr, $law:ident => $result:expr) => {
        match $control {
            Control::Tahoe($law) => $result,
            Control::Reno($law) => $result,
            Control::Bic($law) => $result,
            Control::Cubic($law) => $result,
            Control::HighSpeed($law) => $result,
            Control::Scalable($law) => $result,
            Control::Htcp($law) => $result,
            Control::Fast($law) => $result,
            Control::Compound($law) => $result,
            Control::Westwood($law) => $result,
            Control::Vegas($law) => $result,
            Control::Illinois($law) => $result,
            Control::Dctcp($law) => $result,
            Control::Multcp($law) => $result,
            Control::Stochastic($law) => $result,
            Control::Bbr($law) => $result,
            Control::Bbr3($law) => $result,
        }
    };
}

impl Law for Control {
    fn window(&self) -> f64 {
        each!(self, law => law.window())
    }
    fn threshold(&self) -> f64 {
        each!(self, law => law.threshold())
    }
    fn on_start(&mut self, chance: &mut Stream) {
        each!(self, law => law.on_start(chance))
    }
    fn on_ack(&mut self, ack: &Ack) {
        each!(self, law => law.on_ack(ack))
    }
    fn on_congestion(&mut self, congestion: &Congestion) {
        each!(self, law => law.on_congestion(congestion))
    }
    fn on_lost(&mut self, now: Time, chance: &mut Stream) {
        each!(self, law => law.on_lost(now, chance))
    }
    fn on_timeout(&mut self, now: Time, in_flight: u32) {
        each!(self, law => law.on_timeout(now, in_flight))
    }
    fn on_recovered(&mut self, now: Time) {
        each!(self, law => law.on_recovered(now))
    }
    fn on_spurious(&mut self, now: Time) {
        each!(self, law => law.on_spurious(now))
    }
    fn on_sent(&mut self, now: Time, in_flight: u32) {
        each!(self, law => law.on_sent(now, in_flight))
    }
    fn pacing(&self) -> Pacing {
        each!(self, law => law.pacing())
    }
    fn steers_recovery(&self) -> bool {
        each!(self, law => law.steers_recovery())
    }
}
