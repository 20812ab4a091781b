use longhaul_congestion::{Ack, Algorithm, AlgorithmSettings, Cause, Congestion, CongestionControl};
use longhaul_random::{Seed, Stream};
use longhaul_units::{Span, Time};

/// Who loses a segment.
#[derive(Clone, Copy, Debug)]
pub enum Losses {
    None,
    /// The last of every so many.
    EveryNth(u64),
    /// Each by itself.
    Chance(f64),
    /// One after so many seconds each, and a first one early, or slow start would never end.
    Gap(f64),
}

/// A path: its round trip without a queue, and a bottleneck if it has one.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    pub base_s: f64,
    /// Segments per second; infinite: the RTT never changes.
    pub capacity: f64,
    /// Segments that wait at most; one more is lost.
    pub buffer: f64,
    /// With so many segments waiting, those that arrive are marked.
    pub mark_above: f64,
}

impl Path {
    pub fn constant(base_s: f64) -> Self {
        Path { base_s, capacity: f64::INFINITY, buffer: f64::INFINITY, mark_above: f64::INFINITY }
    }

    pub fn bottleneck(base_s: f64, capacity: f64, buffer: f64) -> Self {
        Path { base_s, capacity, buffer, mark_above: f64::INFINITY }
    }
}

/// A pipe without grains: a window of w gives w acknowledgements per round trip, evenly spaced; a loss is
/// known and repaired at once. It is what closed forms assume.
pub struct Fluid {
    pub control: Algorithm,
    pub path: Path,
    pub losses: Losses,
    pub now_s: f64,
    pub acked: u64,
    pub lost: u64,
    /// Integral of the window over time since the last `restart`, and when that was.
    area: f64,
    since_s: f64,
    pub peaks: f64,
    pub episodes: u64,
    /// Windows that the last episode left.
    pub left: f64,
    recover: u64,
    recovering: bool,
    min_rtt_s: f64,
    last_loss_s: f64,
    chance: Stream,
}

pub fn time(s: f64) -> Time {
    Time::from_ps((s * 1e12) as u64)
}

pub fn span(s: f64) -> Span {
    Span::from_ps((s * 1e12) as u64)
}

impl Fluid {
    pub fn new(settings: &AlgorithmSettings, path: Path, losses: Losses) -> Self {
        let first_s = if let Losses::Gap(s) = losses { 1.5 - s } else { 0.0 };
        Fluid {
            control: Algorithm::new(settings, 10.0),
            path,
            losses,
            now_s: 1.0,
            acked: 0,
            lost: 0,
            area: 0.0,
            since_s: 1.0,
            peaks: 0.0,
            episodes: 0,
            left: 0.0,
            recover: 0,
            recovering: false,
            min_rtt_s: f64::INFINITY,
            last_loss_s: first_s,
            chance: Seed::new(7).stream("fluid"),
        }
    }

    /// With losses by chance of its own.
    pub fn with_chance(self, seed: u64) -> Self {
        Fluid { chance: Seed::new(seed).stream("fluid"), ..self }
    }

    pub fn named(name: &str, path: Path, losses: Losses) -> Self {
        Fluid::new(&AlgorithmSettings::named(name).unwrap(), path, losses)
    }

    /// Begins with a loss at `peak` segments, to see whether a sawtooth stays as it is.
    pub fn settled(settings: &AlgorithmSettings, path: Path, losses: Losses, peak: f64) -> Self {
        let mut pipe = Fluid::new(settings, path, losses);
        pipe.control = Algorithm::new(settings, peak);
        pipe.last_loss_s = pipe.now_s;
        pipe.min_rtt_s = path.base_s;
        pipe.congest(Cause::Loss, 0, peak, span(path.base_s));
        pipe.restart();
        pipe
    }

    /// Segments waiting.
    pub fn queue(&self) -> f64 {
        if self.path.capacity.is_infinite() {
            return 0.0;
        }
        (self.control.window() - self.path.capacity * self.path.base_s).max(0.0)
    }

    pub fn rtt_s(&self) -> f64 {
        self.path.base_s + self.queue() / self.path.capacity
    }

    fn loses(&mut self, number: u64) -> bool {
        if self.queue() > self.path.buffer {
            return true;
        }
        match self.losses {
            Losses::None => false,
            Losses::EveryNth(n) => number.is_multiple_of(n),
            Losses::Chance(p) => self.chance.uniform() < p,
            Losses::Gap(s) => {
                let due = self.now_s >= self.last_loss_s + s;
                if due {
                    self.last_loss_s = self.now_s;
                }
                due
            }
        }
    }

    fn congest(&mut self, cause: Cause, number: u64, window: f64, rtt: Span) {
        if number < self.recover {
            return;
        }
        self.peaks += window;
        self.episodes += 1;
        self.recover = number + window as u64;
        self.recovering = true;
        self.control.on_congestion(&Congestion {
            now: time(self.now_s),
            cause,
            in_flight: window as u32,
            min_rtt: span(self.min_rtt_s),
            srtt: rtt,
            next_sequence: number + window as u64,
        });
        self.left = self.control.window();
    }

    /// One segment, acknowledged or lost.
    pub fn step(&mut self) {
        let window = self.control.window();
        let rtt_s = self.rtt_s();
        let rtt = span(rtt_s);
        self.min_rtt_s = self.min_rtt_s.min(rtt_s);
        self.now_s += rtt_s / window;
        self.area += rtt_s;
        let number = self.acked + self.lost + 1;
        if self.loses(number) {
            self.lost += 1;
            self.control.on_lost(time(self.now_s), &mut self.chance);
            self.congest(Cause::Loss, number, window, rtt);
        } else {
            self.acked += 1;
            let marked = self.queue() > self.path.mark_above;
            if marked {
                self.congest(Cause::Mark, number, window, rtt);
            }
            self.control.on_ack(&Ack {
                now: time(self.now_s),
                acked: 1,
                delivered: 1,
                marked: u32::from(marked),
                in_flight: window as u32,
                rtt: Some(rtt),
                srtt: rtt,
                min_rtt: span(self.min_rtt_s),
                window_limited: true,
                recovering: false,
                first_unacked: number,
                next_sequence: number + window as u64,
                delivery: None,
            });
        }
        if self.recovering && number >= self.recover {
            self.recovering = false;
            self.control.on_recovered(time(self.now_s));
        }
    }

    pub fn control_window(&self) -> f64 {
        self.control.window()
    }

    pub fn recovering(&self) -> bool {
        self.recovering
    }

    pub fn control_threshold(&self) -> f64 {
        self.control.threshold()
    }

    pub fn run(&mut self, segments: u64) {
        for _ in 0..segments {
            self.step();
        }
    }

    pub fn run_for(&mut self, seconds: f64) {
        let end = self.now_s + seconds;
        while self.now_s < end {
            self.step();
        }
    }

    /// Means count from here.
    pub fn restart(&mut self) {
        (self.area, self.since_s) = (0.0, self.now_s);
        (self.peaks, self.episodes) = (0.0, 0);
    }

    /// The window's mean over time, in segments.
    pub fn mean(&self) -> f64 {
        self.area / (self.now_s - self.since_s)
    }

    /// The window's mean over the beginnings of episodes.
    pub fn peak(&self) -> f64 {
        self.peaks / self.episodes as f64
    }
}

/// Asserts that `got` is `expected` but for a share of `tolerance`.
#[track_caller]
pub fn near(got: f64, expected: f64, tolerance: f64) {
    assert!(
        (got / expected - 1.0).abs() <= tolerance,
        "got {got}, expected {expected} within {} %",
        tolerance * 100.0
    );
}
