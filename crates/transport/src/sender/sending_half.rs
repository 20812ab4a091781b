use super::Sender;
use crate::rtt::RttEstimator;
use crate::segment::Segment;
use crate::settings::{Ecn, Recovery, Settings};
use longhaul_congestion::{AlgorithmSettings, Coupling, Subflow};
use longhaul_random::Stream;
use longhaul_units::Time;
use std::sync::Arc;

/// The sending half of a connection. The first write creates the sender: an end that only receives has none.
#[derive(Clone, Debug)]
pub(crate) enum SendingHalf {
    Unused(InitialState),
    Used(Box<Sender>),
}

/// What a sender begins with.
#[derive(Clone, Debug)]
pub(crate) struct InitialState {
    pub(super) algorithm: Arc<AlgorithmSettings>,
    /// For algorithms that use random numbers.
    pub(super) rng: Option<Box<Stream>>,
    /// In segments.
    pub(super) window: u32,
    pub(super) recovery: Recovery,
    pub(super) ecn: Ecn,
    /// With the sample of the handshake.
    pub(super) rtt: RttEstimator,
    /// The latest and the greatest window that the peer has offered.
    pub(super) last_window: u32,
    pub(super) max_window: u32,
}

impl SendingHalf {
    pub(crate) fn new(settings: &Settings, algorithm: &Arc<AlgorithmSettings>, rng: Stream) -> Self {
        SendingHalf::Unused(InitialState {
            algorithm: Arc::clone(algorithm),
            rng: algorithm.draws().then(|| Box::new(rng)),
            window: settings.initial_window.segments(settings.mss),
            recovery: settings.recovery,
            ecn: Ecn::Off,
            rtt: RttEstimator::default(),
            last_window: 0,
            max_window: 0,
        })
    }

    /// The sender, unless nothing was written.
    #[inline]
    pub(crate) fn sender(&self) -> Option<&Sender> {
        match self {
            SendingHalf::Unused(_) => None,
            SendingHalf::Used(sender) => Some(sender),
        }
    }

    #[inline]
    pub(crate) fn sender_mut(&mut self) -> Option<&mut Sender> {
        match self {
            SendingHalf::Unused(_) => None,
            SendingHalf::Used(sender) => Some(sender),
        }
    }

    /// The sender, created unless it exists; in an `established` connection, the application has limited it so far.
    pub(crate) fn begin(&mut self, settings: &Arc<Settings>, established: bool) -> &mut Sender {
        if let SendingHalf::Unused(initial) = self {
            let mut sender = Sender::new(settings, initial.clone());
            if established {
                sender.note_application_limit();
            }
            *self = SendingHalf::Used(Box::new(sender));
        }
        match self {
            SendingHalf::Used(sender) => sender,
            SendingHalf::Unused(_) => unreachable!("it was created above"),
        }
    }

    /// Processes the acknowledgement in a segment.
    #[inline]
    pub(crate) fn acknowledge(&mut self, now: Time, segment: &Segment) {
        match self {
            SendingHalf::Used(sender) => sender.acknowledge(now, segment),
            // Others acknowledge what was never sent.
            SendingHalf::Unused(initial) if segment.acknowledged == 0 => initial.update_window(segment),
            SendingHalf::Unused(_) => {}
        }
    }

    /// Takes the window from the peer's SYN.
    pub(crate) fn update_initial_window(&mut self, segment: &Segment) {
        match self {
            SendingHalf::Unused(initial) => initial.update_window(segment),
            SendingHalf::Used(sender) => sender.update_window(segment),
        }
    }

    /// Restarts with an initial window of `window` segments.
    pub(crate) fn restart(&mut self, window: u32) {
        match self {
            SendingHalf::Unused(initial) => initial.window = window,
            SendingHalf::Used(sender) => sender.algorithm.restart(window),
        }
    }

    pub(crate) fn rtt(&self) -> &RttEstimator {
        match self {
            SendingHalf::Unused(initial) => &initial.rtt,
            SendingHalf::Used(sender) => &sender.rtt,
        }
    }

    pub(crate) fn rtt_mut(&mut self) -> &mut RttEstimator {
        match self {
            SendingHalf::Unused(initial) => &mut initial.rtt,
            SendingHalf::Used(sender) => &mut sender.rtt,
        }
    }

    /// Loss recovery and ECN as negotiated with the peer.
    pub(crate) fn negotiated(&self) -> (Recovery, Ecn) {
        match self {
            SendingHalf::Unused(initial) => (initial.recovery, initial.ecn),
            SendingHalf::Used(sender) => (sender.recovery, sender.ecn),
        }
    }

    pub(crate) fn negotiate(&mut self, recovery: Recovery, ecn: Ecn) {
        match self {
            SendingHalf::Unused(initial) => (initial.recovery, initial.ecn) = (recovery, ecn),
            SendingHalf::Used(sender) => (sender.recovery, sender.ecn) = (recovery, ecn),
        }
    }

    /// The number of the next new segment (SND.NXT).
    pub(crate) fn snd_nxt(&self) -> u64 {
        self.sender().map_or(0, |sender| sender.scoreboard.snd_nxt())
    }

    /// What its siblings know of it.
    pub(crate) fn subflow(&self, srtt_s: f64) -> Subflow {
        match self {
            SendingHalf::Unused(initial) => {
                Subflow { window: initial.window.into(), srtt_s, between_losses: 0.0 }
            }
            SendingHalf::Used(sender) => sender.algorithm.subflow(srtt_s),
        }
    }

    pub(crate) fn couple(&mut self, coupling: &Coupling<'_>) {
        if let Some(sender) = self.sender_mut() {
            sender.algorithm.couple(coupling);
        }
    }
}

impl InitialState {
    fn update_window(&mut self, segment: &Segment) {
        self.last_window = segment.window;
        self.max_window = self.max_window.max(segment.window);
    }
}
