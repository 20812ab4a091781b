#[cfg(feature = "diary")]
use crate::diary;
use longhaul_congestion::{Ack, Algorithm, AlgorithmSettings, Congestion, CongestionControl, Pacing};
use longhaul_random::Stream;
use longhaul_units::Time;
use std::sync::Arc;

/// A connection's algorithm. It comes into being with the first thing to send: an end that only receives has none.
#[derive(Clone, Debug)]
pub(crate) struct Steering {
    settings: Arc<AlgorithmSettings>,
    control: Option<Algorithm>,
    /// For algorithms that draw.
    chance: Option<Box<Stream>>,
    /// The window to begin with, in segments.
    initial: u32,
}

impl Steering {
    pub(crate) fn new(settings: &Arc<AlgorithmSettings>, initial: u32, chance: Stream) -> Self {
        let chance = settings.draws().then(|| Box::new(chance));
        Steering { settings: Arc::clone(settings), control: None, chance, initial }
    }

    #[cfg(test)]
    pub(crate) fn has_begun(&self) -> bool {
        self.control.is_some()
    }

    #[cfg(test)]
    pub(crate) fn keeps_chance(&self) -> bool {
        self.chance.is_some()
    }

    /// There is something to send.
    pub(crate) fn begin(&mut self) {
        if self.control.is_some() {
            return;
        }
        let mut control = Algorithm::new(&self.settings, f64::from(self.initial));
        if let Some(chance) = &mut self.chance {
            control.on_start(chance);
        }
        self.control = Some(control);
    }

    /// Begins anew with a window of `initial` segments.
    pub(crate) fn restart(&mut self, initial: u32) {
        self.initial = initial;
        if self.control.take().is_some() {
            self.begin();
        }
    }

    pub(crate) fn on_lost(&mut self, now: Time, segments: u32) {
        if let (Some(control), Some(chance)) = (&mut self.control, &mut self.chance) {
            for _ in 0..segments {
                #[cfg(feature = "diary")]
                let event = diary::Event::Lost(now, chance.clone().uniform());
                control.on_lost(now, chance);
                #[cfg(feature = "diary")]
                diary::write(event, control);
            }
        }
    }
}

/// What an algorithm says and is told; before there is one, a window to begin with, and nothing.
impl Steering {
    pub(crate) fn window(&self) -> f64 {
        self.control.as_ref().map_or(f64::from(self.initial), CongestionControl::window)
    }

    pub(crate) fn threshold(&self) -> f64 {
        self.control.as_ref().map_or(f64::INFINITY, CongestionControl::threshold)
    }

    pub(crate) fn pacing(&self) -> Pacing {
        self.control.as_ref().map_or(Pacing::None, CongestionControl::pacing)
    }

    pub(crate) fn steers_recovery(&self) -> bool {
        self.control.as_ref().is_some_and(CongestionControl::steers_recovery)
    }

    pub(crate) fn on_ack(&mut self, ack: &Ack) {
        self.tell(|algorithm| algorithm.on_ack(ack));
        #[cfg(feature = "diary")]
        self.note(diary::Event::Ack(*ack));
    }

    pub(crate) fn on_congestion(&mut self, congestion: &Congestion) {
        self.tell(|algorithm| algorithm.on_congestion(congestion));
        #[cfg(feature = "diary")]
        self.note(diary::Event::Congestion(*congestion));
    }

    pub(crate) fn on_timeout(&mut self, now: Time, in_flight: u32) {
        self.tell(|algorithm| algorithm.on_timeout(now, in_flight));
        #[cfg(feature = "diary")]
        self.note(diary::Event::Timeout(now, in_flight));
    }

    pub(crate) fn on_recovered(&mut self, now: Time) {
        self.tell(|algorithm| algorithm.on_recovered(now));
        #[cfg(feature = "diary")]
        self.note(diary::Event::Recovered(now));
    }

    pub(crate) fn on_spurious(&mut self, now: Time) {
        self.tell(|algorithm| algorithm.on_spurious(now));
        #[cfg(feature = "diary")]
        self.note(diary::Event::Spurious(now));
    }

    pub(crate) fn on_sent(&mut self, now: Time, in_flight: u32) {
        self.tell(|algorithm| algorithm.on_sent(now, in_flight));
    }

    fn tell(&mut self, what: impl FnOnce(&mut Algorithm)) {
        if let Some(control) = &mut self.control {
            what(control);
        }
    }

    #[cfg(feature = "diary")]
    fn note(&self, event: diary::Event) {
        if let Some(control) = &self.control {
            diary::write(event, control);
        }
    }
}
