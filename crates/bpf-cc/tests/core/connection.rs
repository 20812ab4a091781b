//! A simulated connection over an impaired path, and the trace of its algorithm.

use longhaul_congestion::AlgorithmSettings;
use longhaul_random::Seed;
use longhaul_transport::cc_trace::{self, Entry};
use longhaul_transport::{Connection, Segment, Settings};
use longhaul_units::{Span, Time};
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Clone, Copy, Debug)]
pub struct Path {
    pub round_trip_ms: u64,
    pub segments_per_s: u64,
    /// Segments that wait at most.
    pub buffer: u64,
    pub impairment: Impairment,
    pub seconds: u64,
}

#[derive(Clone, Copy, Debug)]
pub enum Impairment {
    None,
    /// Chance of each segment with data.
    Loss(f64),
    /// Nothing arrives in the last second of every twenty.
    Blackout,
    /// Every now and then segments are late: by a few of their kind, or so long that a timer expires.
    Reordering,
}

/// The events that the algorithm of a connection receives that always has data to send.
pub fn trace_of(algorithm: &AlgorithmSettings, path: Path) -> Vec<Entry> {
    let (algorithm, seed) = (Arc::new(algorithm.clone()), Seed::new(7));
    let settings = Arc::new(Settings::default());
    let mut near = Connection::connect(&settings, &algorithm, seed.stream("near"));
    let mut far = Connection::listen(&settings, &algorithm, seed.stream("far"));
    let mut chance = seed.stream("path");
    let half = Span::from_us(path.round_trip_ms * 500);
    let gap = Span::from_ns(1_000_000_000 / path.segments_per_s);
    let mut flying: BTreeMap<(Time, u64), (bool, Segment)> = BTreeMap::new();
    let (mut now, mut count, mut busy) = (Time::ZERO, 0_u64, Time::ZERO);
    let end = Time::ZERO + Span::from_s(path.seconds);
    cc_trace::start();
    near.open(now);
    near.write(now, 1 << 50);
    loop {
        loop {
            let (out, back) = (near.poll(now), far.poll(now));
            if out.is_none() && back.is_none() {
                break;
            }
            if let Some(segment) = back {
                count += 1;
                flying.insert((now + half, count), (false, segment));
            }
            let Some(segment) = out else { continue };
            let second = now.ns() / 1_000_000_000;
            let waiting = busy.since(now).ns() / gap.ns().max(1);
            let unlucky = match path.impairment {
                Impairment::Loss(share) => segment.bytes > 0 && chance.uniform() < share,
                Impairment::Blackout => second % 20 == 19,
                _ => false,
            };
            if unlucky || waiting > path.buffer {
                continue;
            }
            let late = match path.impairment {
                Impairment::Reordering if second % 30 == 17 => Span::from_ms(1_500),
                Impairment::Reordering if chance.uniform() < 3e-5 => Span::from_ms(path.round_trip_ms / 2),
                _ => Span::ZERO,
            };
            busy = busy.max(now) + gap;
            count += 1;
            flying.insert((busy + half + late, count), (true, segment));
        }
        let arrival = flying.first_key_value().map_or(Time::NEVER, |((due, _), _)| *due);
        now = arrival.min(near.timer()).min(far.timer());
        if now > end {
            return cc_trace::stop();
        }
        if arrival == now
            && let Some((_, (onward, segment))) = flying.pop_first()
        {
            let to = if onward { &mut far } else { &mut near };
            to.receive(now, &segment, false);
        }
        near.expire(now);
        far.expire(now);
    }
}
