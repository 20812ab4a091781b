use crate::law::{Ack, Congestion, Law, Pacing};
use crate::reno::Reno;
use longhaul_random::Stream;
use longhaul_units::Time;

/// Which law, with its parameters; plain data, as a plan has it.
#[derive(Clone, Debug, PartialEq)]
pub enum Settings {
    /// RFC 5681.
    Reno,
}

/// Any law, without indirection.
#[derive(Clone, Debug)]
pub enum Control {
    /// RFC 5681.
    Reno(Reno),
}

impl Control {
    /// The law that `settings` name, beginning with `initial` segments.
    pub fn new(settings: &Settings, initial: f64) -> Self {
        match settings {
            Settings::Reno => Control::Reno(Reno::new(initial)),
        }
    }
}

macro_rules! each {
    ($control:expr, $law:ident => $result:expr) => {
        match $control {
            Control::Reno($law) => $result,
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
    fn wants_marks(&self) -> bool {
        each!(self, law => law.wants_marks())
    }
}
