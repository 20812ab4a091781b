//! A sender or a receiver alone, facing a test that plays the peer and checks each segment.

use longhaul_congestion::AlgorithmSettings;
use longhaul_random::Seed;
use longhaul_transport::{Block, Connection, Flags, Segment, Settings};
use longhaul_units::{Span, Time};
use std::sync::Arc;

/// Payload of a full segment.
pub const MSS: u64 = 1000;
/// The window that the test offers, in bytes.
pub const WINDOW: u32 = 1 << 20;

/// Round trips without surprises: no timestamps, so that samples are those of the segments; timers as in
/// the RFCs; an initial window of 10.
pub fn plain() -> Settings {
    let mut settings = Settings { mss: MSS as u16, timestamps: false, ..Settings::default() };
    settings.timeouts.min_rto = Span::from_s(1);
    settings.timeouts.min_rttvar = Span::ZERO;
    settings
}

pub fn ms(ms: u64) -> Time {
    Time::from_ns(ms * 1_000_000)
}

/// One end, established at time 0 with a round trip of 100 ms: the handshake took from -100 ms to 0, so
/// that times in a test are those since then.
pub struct Script {
    pub end: Connection,
    origin: Time,
    now: Time,
    /// The number of the test's next segment, and of what the end acknowledged last.
    sequence: u64,
    timestamps: bool,
    /// The latest time that the end has stamped, per sequence number as it left.
    pub last: Option<Segment>,
}

impl Script {
    pub fn new(settings: &Settings) -> Self {
        Self::with_syn(settings, Flags::NONE)
    }

    /// `extra` joins the flags of the test's SYN-ACK.
    pub fn with_syn(settings: &Settings, extra: Flags) -> Self {
        Self::with_offer(settings, extra, WINDOW)
    }

    /// The test's SYN-ACK offers so many bytes.
    pub fn with_offer(settings: &Settings, extra: Flags, window: u32) -> Self {
        let mut end =
            Connection::connect(&Arc::new(*settings), &Arc::new(reno()), Seed::new(1).stream("script"));
        end.open(Time::ZERO);
        let syn = end.poll(Time::ZERO).unwrap();
        assert!(syn.flags.has(Flags::SYN) && !syn.flags.has(Flags::ACK));
        let origin = ms(100);
        let options = [Flags::TIMESTAMPS, Flags::SACK_PERMITTED, Flags::WINDOW_SCALING];
        let mut flags = Flags::SYN | Flags::ACK | extra;
        for option in options {
            if syn.flags.has(option) {
                flags |= option;
            }
        }
        let timestamps = syn.flags.has(Flags::TIMESTAMPS);
        let mut script = Script { end, origin, now: Time::ZERO, sequence: 0, timestamps, last: None };
        script.now = origin;
        let mut answer = script.segment(0, &[], flags, syn.sent);
        answer.window = window;
        script.end.receive(origin, &answer, false);
        let acknowledgement = script.end.poll(origin).unwrap();
        assert!(!acknowledgement.flags.has(Flags::SYN));
        assert_eq!(script.end.poll(origin), None);
        script
    }

    /// The same with the window offered in full, and so many segments written.
    pub fn sending(settings: &Settings, segments: u64) -> Self {
        let mut script = Script::new(settings);
        let window = script.segment(0, &[], Flags::ACK, Time::ZERO);
        script.end.receive(script.now, &window, false);
        script.end.write(script.now, segments * MSS);
        script
    }

    fn segment(&self, acknowledged: u64, sacks: &[(u64, u64)], flags: Flags, echo: Time) -> Segment {
        let mut segment = Segment {
            sequence: self.sequence,
            acknowledged,
            sent: self.now,
            echo,
            sacks: [Block::default(); 3],
            window: WINDOW,
            bytes: 0,
            flags: if self.timestamps { flags | Flags::TIMESTAMPS } else { flags },
        };
        for (block, (start, end)) in segment.sacks.iter_mut().zip(sacks) {
            let relative = |number: &u64| (*number as i64 - acknowledged as i64) as i32;
            *block = Block { start: relative(start), end: relative(end) };
        }
        segment
    }

    /// Moves to `at` ms; timers that come due on the way must come due at that very time.
    pub fn at(&mut self, at: u64) -> &mut Self {
        let now = self.origin + Span::from_ms(at);
        assert!(now >= self.now && self.end.timer() >= now, "a timer at {} is due first", self.end.timer());
        self.now = now;
        self
    }

    /// Takes in an acknowledgement up to `acknowledged` with SACK blocks, and returns what goes out.
    pub fn ack(&mut self, acknowledged: u64, sacks: &[(u64, u64)]) -> Vec<u64> {
        self.ack_with(acknowledged, sacks, |_| ())
    }

    /// The same with a changed segment.
    pub fn ack_with(
        &mut self,
        acknowledged: u64,
        sacks: &[(u64, u64)],
        change: impl FnOnce(&mut Segment),
    ) -> Vec<u64> {
        let echo = self.last.map_or(Time::ZERO, |segment| segment.sent);
        let mut segment = self.segment(acknowledged, sacks, Flags::ACK, echo);
        change(&mut segment);
        self.end.receive(self.now, &segment, false);
        self.out()
    }

    /// Takes in data of one segment, marked or not, and returns the pure acknowledgements that follow.
    pub fn data(&mut self, sequence: u64, marked: bool) -> Vec<Segment> {
        self.data_with(sequence, marked, Flags::NONE)
    }

    pub fn data_with(&mut self, sequence: u64, marked: bool, extra: Flags) -> Vec<Segment> {
        let mut segment = self.segment(0, &[], Flags::ACK | extra, Time::ZERO);
        segment.sequence = sequence;
        segment.bytes = MSS as u16;
        self.end.receive(self.now, &segment, marked);
        self.segments()
    }

    /// The numbers of the data segments that go out now.
    pub fn out(&mut self) -> Vec<u64> {
        self.segments()
            .iter()
            .filter(|segment| segment.occupies_sequence_space())
            .map(|segment| segment.sequence)
            .collect()
    }

    /// All that goes out now.
    pub fn segments(&mut self) -> Vec<Segment> {
        let now = self.now;
        let all: Vec<Segment> = std::iter::from_fn(|| self.end.poll(now)).collect();
        self.last = all.last().copied().or(self.last);
        all
    }

    /// Waits for the next timer and lets it expire: the time in ms since the start, and what goes out.
    pub fn wait(&mut self) -> (f64, Vec<u64>) {
        let (at, segments) = self.wait_for_segments();
        (
            at,
            segments
                .iter()
                .filter(|segment| segment.occupies_sequence_space())
                .map(|segment| segment.sequence)
                .collect(),
        )
    }

    pub fn wait_for_segments(&mut self) -> (f64, Vec<Segment>) {
        self.now = self.end.timer();
        assert_ne!(self.now, Time::NEVER, "no timer runs");
        self.end.expire(self.now);
        let segments = self.segments();
        (self.now.since(self.origin).as_secs_f64() * 1e3, segments)
    }

    /// Whole milliseconds since the start.
    pub fn elapsed_ms(&self) -> u64 {
        self.now.since(self.origin).ns() / 1_000_000
    }

    pub fn window(&self) -> f64 {
        self.end.info().window
    }
}

/// The algorithm of tests that do not ask for another.
pub fn reno() -> AlgorithmSettings {
    AlgorithmSettings::named("reno").unwrap()
}
