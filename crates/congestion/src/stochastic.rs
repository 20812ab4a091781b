use crate::congestion_control::{Ack, Congestion, CongestionControl};
use crate::slow_start::SlowStartSettings;
use crate::window::Window;
use longhaul_random::Stream;
use longhaul_units::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How losses take from the virtual streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StochasticModel {
    /// Each stream has a window of its own; a loss halves that of one, at most once in a recovery.
    #[default]
    Explicit,
    /// Each loss takes half of an average stream.
    Mean,
    /// Each loss takes half of a stream drawn from a sawtooth: uniform between 2/3 and 4/3 of the
    /// average.
    Draw,
}

/// What the factor phi does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PhiMode {
    /// Streams grow as if their round trips were phi times as long.
    #[default]
    VirtualRtt,
    /// A loss halves the windows of phi streams.
    StreamsCut,
    /// Streams grow phi times as fast; for completeness.
    Multiplier,
}

/// Stochastic TCP's parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StochasticSettings {
    /// Growth below the threshold, of the whole.
    pub slow_start: SlowStartSettings,
    /// N: virtual streams, 1 to 65,536.
    pub streams: u32,
    /// At least 1; 1 is as aggressive as N connections.
    pub phi: f64,
    /// What phi does.
    pub phi_mode: PhiMode,
    /// How losses take from the streams.
    pub model: StochasticModel,
}

impl Default for StochasticSettings {
    fn default() -> Self {
        StochasticSettings {
            slow_start: SlowStartSettings::default(),
            streams: 4,
            phi: 1.0,
            phi_mode: PhiMode::default(),
            model: StochasticModel::default(),
        }
    }
}

/// A virtual stream: its window is `base` and the growth that all have in common.
#[derive(Clone, Copy, Debug)]
struct Virtual {
    base: f64,
    /// The episode in which it was halved last.
    halved_in: u32,
}

/// Stochastic TCP: N virtual streams in one connection; T. Hacker, P. Smith, "Stochastic TCP: A
/// Statistical Approach to Congestion Avoidance", PFLDnet 2008.
///
/// **A reconstruction**: the paper's rules are not published in detail. These follow from what its
/// figures name (N streams, a factor phi; phi = 1 is N connections) and from the long virtual RTT of T.
/// Hacker, B. Noble, B. Athey, "Improving throughput and maintaining fairness using parallel TCP",
/// INFOCOM 2004.
#[derive(Clone, Debug)]
pub struct Stochastic {
    settings: StochasticSettings,
    window: Window,
    streams: Vec<Virtual>,
    /// What every stream has grown by since it was split off.
    grown: f64,
    /// The streams exist: the window is their sum.
    split: bool,
    /// Counts recoveries; streams are halved once in each.
    episode: u32,
    in_episode: bool,
    before: Vec<Virtual>,
}

impl Stochastic {
    /// Begins with `initial` segments.
    pub fn new(settings: &StochasticSettings, initial: f64) -> Self {
        let mut settings = settings.clone();
        settings.streams = settings.streams.clamp(1, 65_536);
        settings.phi = settings.phi.max(1.0);
        let window = Window::new(initial, &settings.slow_start);
        Stochastic {
            settings,
            window,
            streams: Vec::new(),
            grown: 0.0,
            split: false,
            episode: 0,
            in_episode: false,
            before: Vec::new(),
        }
    }

    fn count(&self) -> f64 {
        f64::from(self.settings.streams)
    }

    /// Segments that a round trip adds to the whole.
    fn increment(&self) -> f64 {
        match self.settings.phi_mode {
            PhiMode::VirtualRtt => self.count() / self.settings.phi,
            PhiMode::StreamsCut => self.count(),
            PhiMode::Multiplier => self.count() * self.settings.phi,
        }
    }

    fn begin_episode(&mut self) {
        if self.in_episode {
            return;
        }
        self.in_episode = true;
        self.episode = self.episode.wrapping_add(1);
        if self.settings.model != StochasticModel::Explicit {
            return;
        }
        if !self.split {
            let share = self.window.size / self.count();
            self.grown = 0.0;
            self.streams.clear();
            self.streams.resize(
                self.settings.streams as usize,
                Virtual { base: share, halved_in: self.episode.wrapping_sub(1) },
            );
            self.split = true;
        }
        self.before.clone_from(&self.streams);
    }

    /// The number of streams that this loss affects: phi, rounded up or down at random by its fraction.
    fn affected_streams(&self, chance: &mut Stream) -> u32 {
        match self.settings.phi_mode {
            PhiMode::StreamsCut => {
                let whole = libm::floor(self.settings.phi.min(self.count()));
                let more = chance.uniform() < self.settings.phi - whole;
                whole as u32 + u32::from(more)
            }
            _ => 1,
        }
    }

    /// A stream, with a chance in proportion to its window: that is who loses a segment.
    fn pick(&self, chance: &mut Stream) -> usize {
        let mut left = chance.uniform() * self.window.size;
        for (index, stream) in self.streams.iter().enumerate() {
            left -= stream.base + self.grown;
            if left < 0.0 {
                return index;
            }
        }
        self.streams.len() - 1
    }

    fn halve(&mut self, index: usize) {
        let stream = &mut self.streams[index];
        if stream.halved_in == self.episode {
            // As of any connection: once in a round trip.
            return;
        }
        stream.halved_in = self.episode;
        let window = stream.base + self.grown;
        stream.base = (window / 2.0).max(window.min(1.0)) - self.grown;
        let bases: f64 = self.streams.iter().map(|each| each.base).sum();
        self.window.size = (bases + self.count() * self.grown).max(2.0);
    }

    fn largest(&self) -> usize {
        let bases = self.streams.iter().map(|each| each.base).enumerate();
        bases.fold((0, f64::NEG_INFINITY), |most, each| if each.1 > most.1 { each } else { most }).0
    }

    fn take(&mut self, share: f64) {
        self.window.size = (self.window.size * (1.0 - share.min(0.5))).max(2.0);
    }
}

impl CongestionControl for Stochastic {
    fn window(&self) -> f64 {
        self.window.size
    }

    fn threshold(&self) -> f64 {
        self.window.threshold
    }

    fn on_ack(&mut self, ack: &Ack) {
        let rest = self.window.grow(ack);
        if rest == 0.0 {
            return;
        }
        let step = rest * (self.increment() / self.window.size).min(1.0);
        self.window.size += step;
        if self.split {
            self.grown += step / self.count();
        }
    }

    fn on_lost(&mut self, _now: Time, chance: &mut Stream) {
        let whole = (self.window.size, self.window.threshold);
        let first = !self.in_episode;
        self.begin_episode();
        if first {
            // Remembers the window as it was before this loss.
            self.window.reduce(whole.0);
        }
        let affected_streams = self.affected_streams(chance);
        match self.settings.model {
            StochasticModel::Explicit => {
                for _ in 0..affected_streams {
                    let index = self.pick(chance);
                    self.halve(index);
                }
            }
            StochasticModel::Mean => self.take(f64::from(affected_streams) / (2.0 * self.count())),
            StochasticModel::Draw => {
                let mut share = 0.0;
                for _ in 0..affected_streams {
                    share += (2.0 / 3.0) * (1.0 + chance.uniform());
                }
                self.take(share / (2.0 * self.count()));
            }
        }
        self.window.threshold = self.window.size;
    }

    fn on_congestion(&mut self, _congestion: &Congestion) {
        if !self.in_episode {
            // A mark, without a segment lost: nobody draws who it was for.
            let whole = self.window.size;
            self.begin_episode();
            self.window.reduce(whole);
            match self.settings.model {
                StochasticModel::Explicit => self.halve(self.largest()),
                _ => self.take(1.0 / (2.0 * self.count())),
            }
        }
        self.window.threshold = self.window.size;
    }

    fn on_timeout(&mut self, _now: Time, in_flight: u32) {
        // One connection cannot time out in part.
        let used = self.window.used(in_flight);
        self.window.collapse(used / 2.0);
        self.split = false;
        self.in_episode = false;
    }

    fn on_recovered(&mut self, _now: Time) {
        self.in_episode = false;
    }

    fn on_spurious(&mut self, _now: Time) {
        self.window.restore();
        if self.split && self.before.len() == self.streams.len() {
            // The streams that were, with what has grown since.
            let bases: f64 = self.before.iter().map(|each| each.base).sum();
            self.streams.clone_from(&self.before);
            self.window.size = (bases + self.count() * self.grown).max(2.0);
        }
    }
}
