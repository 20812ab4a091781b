//! Two ends back to back over an in-memory bottleneck of 100 Gbit/s with a round trip of 1000 segments: what TCP
//! costs per data segment, both ends together. `cargo run --release -p longhaul-transport --example pair`
//! prints a table; `pair VARIANT SEGMENTS` runs one variant, for a profiler.
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "it is a program")]

use longhaul_congestion::AlgorithmSettings;
use longhaul_random::Seed;
use longhaul_transport::{Connection, Segment, Settings};
use longhaul_units::{Span, Time};
use std::collections::VecDeque;
use std::sync::Arc;

const GAP: Span = Span::from_ns(716);
const ONE_WAY: Span = Span::from_us(358);
/// The bottleneck drops what would wait longer.
const QUEUE: Span = Span::from_us(300);
const REPEATS: usize = 5;

struct Variant {
    name: &'static str,
    algorithm: &'static str,
    every: u32,
    /// One in so many data segments is lost.
    lost: Option<u64>,
}

const fn variant(name: &'static str, algorithm: &'static str, every: u32, lost: Option<u64>) -> Variant {
    Variant { name, algorithm, every, lost }
}

const VARIANTS: [Variant; 5] = [
    variant("cubic", "cubic", 2, None),
    variant("cubic-every", "cubic", 1, None),
    variant("reno", "reno", 2, None),
    variant("reno-every", "reno", 1, None),
    variant("cubic-lossy", "cubic", 2, Some(10_000)),
];

/// One direction: first in, first out.
struct Pipe {
    queue: VecDeque<(Time, Segment)>,
    busy: Time,
    gap: Span,
}

impl Pipe {
    fn new(gap: Span) -> Self {
        Pipe { queue: VecDeque::with_capacity(4096), busy: Time::ZERO, gap }
    }

    fn push(&mut self, now: Time, segment: Segment) {
        if self.busy.since(now) > QUEUE {
            return;
        }
        self.busy = self.busy.max(now) + self.gap;
        self.queue.push_back((self.busy + ONE_WAY, segment));
    }

    fn next(&self) -> Time {
        self.queue.front().map_or(Time::NEVER, |(due, _)| *due)
    }
}

/// Which ends may have something to send.
struct Turn {
    near: bool,
    far: bool,
}

struct Outcome {
    sent: u64,
    again: u64,
    recoveries: u64,
    simulated: Span,
}

fn run(variant: &Variant, segments: u64) -> Outcome {
    let seed = Seed::new(1);
    let mut settings = Settings { mss: 8948, ..Settings::default() };
    settings.ack_policy.every = variant.every;
    let (settings, algorithm) =
        (Arc::new(settings), Arc::new(AlgorithmSettings::named(variant.algorithm).expect("it is there")));
    let mut near = Connection::connect(&settings, &algorithm, seed.stream("near"));
    let mut far = Connection::listen(&settings, &algorithm, seed.stream("far"));
    let (mut out, mut back) = (Pipe::new(GAP), Pipe::new(Span::ZERO));
    let mut now = Time::ZERO;
    near.write(now, segments * 8948);
    near.close(now);
    near.open(now);
    let mut sent = 0;
    let mut turn = Turn { near: true, far: true };
    while !(near.is_closed() && far.is_closed()) {
        while turn.near
            && let Some(segment) = near.poll(now)
        {
            sent += u64::from(segment.occupies_sequence_space());
            let affects = |every| segment.occupies_sequence_space() && sent % every == 0;
            if !variant.lost.is_some_and(affects) {
                out.push(now, segment);
            }
        }
        while turn.far
            && let Some(segment) = far.poll(now)
        {
            back.push(now, segment);
        }
        let timer = near.timer().min(far.timer());
        now = out.next().min(back.next()).min(timer);
        if out.next() == now {
            if let Some((_, segment)) = out.queue.pop_front() {
                far.receive(now, &segment, false);
                if far.has_ended() {
                    far.close(now);
                }
            }
            turn = Turn { near: false, far: true };
        } else if back.next() == now {
            if let Some((_, segment)) = back.queue.pop_front() {
                near.receive(now, &segment, false);
            }
            turn = Turn { near: true, far: false };
        } else {
            near.expire(now);
            far.expire(now);
            turn = Turn { near: true, far: true };
        }
    }
    let info = near.info();
    let simulated = now.since(Time::ZERO);
    Outcome { sent, again: info.retransmits, recoveries: info.recoveries, simulated }
}

/// CPU time of this process so far.
fn used_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").expect("Linux");
    let used = text.split(' ').next().and_then(|field| field.parse().ok());
    used.expect("the CPU time comes first")
}

/// What the pipes alone cost: segments through one, and half as many through the other.
fn run_pipes(segments: u64) -> u64 {
    let seed = Seed::new(1);
    let algorithm = Arc::new(AlgorithmSettings::named("reno").expect("it is there"));
    let mut end = Connection::connect(&Arc::default(), &algorithm, seed.stream("near"));
    end.open(Time::ZERO);
    let segment = end.poll(Time::ZERO).expect("a SYN");
    let (mut out, mut back) = (Pipe::new(GAP), Pipe::new(Span::ZERO));
    let mut held = 0;
    for number in 0..segments {
        let now = out.busy;
        out.push(now, segment);
        if number % 2 == 0 {
            back.push(now, segment);
        }
        for pipe in [&mut out, &mut back] {
            if pipe.next() <= now {
                held += pipe.queue.pop_front().map_or(0, |(_, segment)| segment.sequence);
            }
        }
    }
    held
}

/// Instructions in user mode of this program with `arguments`, as `perf stat` counts them, where it
/// can.
fn instructions(arguments: &[&str]) -> Option<f64> {
    let this = std::env::current_exe().ok()?;
    let mut command = std::process::Command::new("perf");
    command.args(["stat", "-x", ",", "-e", "instructions:u"]).arg(this).args(arguments);
    let report = String::from_utf8(command.output().ok()?.stderr).ok()?;
    report.lines().find_map(|line| line.split(',').next()?.parse().ok())
}

fn report(variant: &Variant) {
    let segments = 1_000_000;
    let mut best = f64::INFINITY;
    let mut sent = 1;
    for _ in 0..REPEATS {
        let began = used_ns();
        sent = run(variant, segments).sent;
        best = best.min((used_ns() - began) as f64 / sent as f64);
    }
    let counted = instructions(&[variant.name, &segments.to_string()]);
    let counted = counted.map_or("-".to_owned(), |count| format!("{:.0}", count / sent as f64));
    println!("{:12} {:6.1} ns {counted:>6} instructions", variant.name, best);
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let Some(name) = arguments.next() else {
        let began = used_ns();
        std::hint::black_box(run_pipes(1_000_000));
        println!("pipes alone  {:6.1} ns", (used_ns() - began) as f64 / 1e6);
        return VARIANTS.iter().for_each(report);
    };
    let variant = VARIANTS.iter().find(|variant| variant.name == name).expect("a variant of the table");
    let segments = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(10_000_000);
    let Outcome { sent, again, recoveries, simulated } = run(variant, segments);
    println!("{name}: {sent} segments, {again} retransmitted, {recoveries} recoveries, {simulated}");
}
