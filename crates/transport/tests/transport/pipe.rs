//! Two ends and what lies between them.

use longhaul_congestion::AlgorithmSettings;
use longhaul_random::{Seed, Stream};
use longhaul_transport::{Connection, Flags, Segment, Settings};
use longhaul_units::{Span, Time};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One direction.
#[derive(Clone, Debug)]
pub struct Way {
    pub delay: Span,
    /// Chances of loss, of a copy, of a mark.
    pub loss: f64,
    pub copy: f64,
    pub mark: f64,
    /// Up to so much more delay, at random: reorders.
    pub jitter: Span,
    /// Loses each so-many-th new data segment, and nothing else; 0: none.
    pub every: u64,
    /// Between two departures.
    pub gap: Span,
}

impl Way {
    pub fn plain(delay_ms: u64) -> Self {
        Way {
            delay: Span::from_ms(delay_ms),
            loss: 0.0,
            copy: 0.0,
            mark: 0.0,
            jitter: Span::ZERO,
            every: 0,
            gap: Span::ZERO,
        }
    }
}

/// Counts that tests compare.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seen {
    pub segments: u64,
    pub data: u64,
    pub lost: u64,
    /// Sum over all departures and arrivals, in order: equal runs have equal ones.
    pub digest: u64,
}

pub struct Pipe {
    pub near: Connection,
    pub far: Connection,
    ways: [Way; 2],
    busy: [Time; 2],
    flying: BTreeMap<(Time, u64), (usize, Segment, bool)>,
    count: u64,
    fresh: u64,
    rng: Stream,
    pub now: Time,
    pub seen: [Seen; 2],
    /// Furthest edge that each end has offered, and payload sent for the first time, in bytes.
    edge: [u64; 2],
    new_bytes: [u64; 2],
    next: [u64; 2],
}

impl Pipe {
    pub fn new(near: &Settings, far: &Settings, algorithm: AlgorithmSettings, out: Way, back: Way) -> Self {
        Self::seeded(near, far, algorithm, [out, back], 1)
    }

    pub fn seeded(
        near: &Settings,
        far: &Settings,
        algorithm: AlgorithmSettings,
        ways: [Way; 2],
        seed: u64,
    ) -> Self {
        let (seed, algorithm) = (Seed::new(seed), Arc::new(algorithm));
        let mut pipe = Pipe {
            near: Connection::connect(&Arc::new(*near), &algorithm, seed.stream("near")),
            far: Connection::listen(&Arc::new(*far), &algorithm, seed.stream("far")),
            ways,
            busy: [Time::ZERO; 2],
            flying: BTreeMap::new(),
            count: 0,
            fresh: 0,
            rng: seed.stream("pipe"),
            now: Time::ZERO,
            seen: [Seen::default(); 2],
            edge: [0; 2],
            new_bytes: [0; 2],
            next: [0; 2],
        };
        pipe.near.open(Time::ZERO);
        pipe
    }

    fn end(&mut self, end: usize) -> &mut Connection {
        if end == 0 { &mut self.near } else { &mut self.far }
    }

    fn flush(&mut self) {
        let now = self.now;
        for end in [0, 1] {
            while let Some(segment) = self.end(end).poll(now) {
                self.launch(end, segment);
            }
        }
    }

    fn launch(&mut self, end: usize, segment: Segment) {
        let way = self.ways[end].clone();
        let seen = &mut self.seen[end];
        seen.segments += 1;
        let again = segment.flags.has(Flags::RETRANSMISSION);
        if segment.flags.has(Flags::ACK) {
            let received = if end == 0 { self.near.received() } else { self.far.received() };
            self.edge[end] = self.edge[end].max(received + u64::from(segment.window));
        }
        if segment.occupies_sequence_space() {
            seen.data += 1;
            if segment.sequence >= self.next[end] {
                assert_eq!(segment.sequence, self.next[end], "new segments are numbered without gaps");
                self.next[end] += 1;
                self.new_bytes[end] += u64::from(segment.bytes);
                assert!(self.new_bytes[end] <= self.edge[1 - end], "beyond the window");
            } else {
                assert!(again, "{segment:?} is not new");
            }
        }
        seen.digest = seen
            .digest
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .wrapping_add(self.now.ps() ^ segment.sequence << 20 ^ segment.acknowledged);
        self.fresh += u64::from(end == 0 && segment.bytes > 0 && !again);
        let unlucky = way.every > 0 && segment.bytes > 0 && !again && self.fresh.is_multiple_of(way.every);
        if unlucky || self.rng.uniform() < way.loss {
            self.seen[end].lost += 1;
            return;
        }
        let marked = segment.flags.has(Flags::ECT) && self.rng.uniform() < way.mark;
        let copies = 1 + usize::from(self.rng.uniform() < way.copy);
        self.busy[end] = self.busy[end].max(self.now) + way.gap;
        for _ in 0..copies {
            let extra = (way.jitter.ps() as f64 * self.rng.uniform()) as u64;
            let due = self.busy[end] + way.delay + Span::from_ps(extra);
            self.count += 1;
            self.flying.insert((due, self.count), (end, segment, marked));
        }
    }

    /// One event; false when nothing is left to happen.
    pub fn step(&mut self, end: Time) -> bool {
        self.flush();
        let arrival = self.flying.first_key_value().map_or(Time::NEVER, |((due, _), _)| *due);
        let next = arrival.min(self.near.timer()).min(self.far.timer());
        if next > end || next == Time::NEVER {
            self.now = end;
            return false;
        }
        self.now = next;
        if arrival == next
            && let Some((_, (from, segment, marked))) = self.flying.pop_first()
        {
            self.end(1 - from).receive(next, &segment, marked);
            self.flush();
        }
        self.near.expire(next);
        self.far.expire(next);
        self.flush();
        assert!(
            self.near.timer() > next && self.far.timer() > next,
            "a deadline stays: {:?}",
            if self.near.timer() > next { &self.far } else { &self.near }
        );
        true
    }

    pub fn run_until(&mut self, end: Time) {
        while self.step(end) {}
    }
}
