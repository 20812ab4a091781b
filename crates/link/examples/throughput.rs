//! How many packets a second pass one link on one core, and how much memory each takes under way.
//!
//! ```text
//! cargo run --release -p longhaul-link --example throughput
//! ```
//!
//! The offers keep a 10 Gbit/s link busy; the link is polled at every one of its events, as by a host
//! that is never late.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    reason = "an example measures and prints"
)]

use longhaul_link::{
    CodelParameters, DelayModel, FqCodelParameters, Framing, Link, LinkModel, LinkPacket, LossModel,
    QueueDiscipline, QueueLimit, QueueModel, RateModel, ReorderModel,
};
use longhaul_random::{Distribution, Seed};
use longhaul_units::{Probability, Rate, Span, Time};
use std::num::{NonZeroU32, NonZeroU64};
use std::time::Instant;

#[derive(Clone, Copy, Debug)]
struct Packet(u64);

impl LinkPacket for Packet {
    fn bytes(&self) -> u32 {
        1500
    }

    fn flow(&self) -> u64 {
        self.0 % 64
    }
}

const PACKETS: u64 = 10_000_000;

fn main() {
    let wan = LinkModel {
        loss: LossModel::Independent { probability: Probability::new(0.001).unwrap_or(Probability::ZERO) },
        queue: QueueLimit { packets: Some(1000), bytes: None }.into(),
        rate: bits_per_s(10_000_000_000),
        framing: Framing { overhead_bytes: 38, least_bytes: 84, cells: None },
        delay: DelayModel::Constant { delay: Span::from_ms(1) },
        ..LinkModel::default()
    };
    let normal = DelayModel::Normal { mean: Span::from_ms(1), sd: Span::from_us(50) };
    let weibull = DelayModel::Random {
        mean: Span::from_ms(1),
        base: Span::from_ms(1),
        jitter: Distribution::Weibull { shape: 0.8, scale: 5e4, location: 0.0 },
        correlation: 0.0,
    };
    let codel = CodelParameters { target: Span::from_ms(5), interval: Span::from_ms(100), ecn: false };
    let fq_codel = FqCodelParameters {
        target: codel.target,
        interval: codel.interval,
        quantum: NonZeroU32::new(1514).unwrap_or(NonZeroU32::MIN),
        flows: 1024,
        ecn: false,
    };
    let queue = |discipline| QueueModel { discipline, ..wan.queue.clone() };
    report("loss, fifo, constant delay", &wan, Span::ZERO);
    report("the same, coalescing 10 us", &wan, Span::from_us(10));
    report(
        "the same, unlimited rate",
        &LinkModel { rate: RateModel::Unlimited {}, ..wan.clone() },
        Span::ZERO,
    );
    report("normal jitter, order kept", &LinkModel { delay: normal.clone(), ..wan.clone() }, Span::ZERO);
    report(
        "normal jitter, codel",
        &LinkModel { delay: normal.clone(), queue: queue(QueueDiscipline::Codel(codel)), ..wan.clone() },
        Span::ZERO,
    );
    report(
        "normal jitter, fq-codel, 64 flows",
        &LinkModel { delay: normal.clone(), queue: queue(QueueDiscipline::FqCodel(fq_codel)), ..wan.clone() },
        Span::ZERO,
    );
    report("weibull jitter, order kept", &LinkModel { delay: weibull, ..wan.clone() }, Span::ZERO);
    report(
        "normal jitter, order free",
        &LinkModel { delay: normal, reorder: true, ..wan.clone() },
        Span::ZERO,
    );
    let reordering = Some(ReorderModel::Block {
        block: NonZeroU64::new(100).unwrap_or(NonZeroU64::MIN),
        delay: Span::from_us(1100),
    });
    report("one late packet in 100", &LinkModel { reordering, ..wan.clone() }, Span::ZERO);
    let far = LinkModel { delay: DelayModel::Constant { delay: Span::from_s(100) }, ..wan.clone() };
    memory("in flight", &far);
    memory("in flight, order free", &LinkModel { reorder: true, ..far });
    let closed = LinkModel { rate: bits_per_s(1), queue: QueueModel::default(), ..wan };
    memory("in the queue", &closed);
}

fn bits_per_s(bits: u64) -> RateModel {
    Rate::from_bits_per_s(bits).map_or(RateModel::Unlimited {}, RateModel::constant)
}

/// As large as the network's packets.
#[derive(Clone, Copy, Debug)]
struct Full([u64; 5]);

impl LinkPacket for Full {
    fn bytes(&self) -> u32 {
        1500
    }

    fn flow(&self) -> u64 {
        self.0[0]
    }
}

/// What the operating system gave for four million packets that stay; rings grow by doubling.
fn memory(what: &str, model: &LinkModel) {
    let packets = 1 << 22;
    let before = resident_bytes();
    let mut link = Link::new(model.clone(), &Seed::new(1), "memory", Span::ZERO);
    for n in 0..packets {
        link.offer(Time::from_ns(1_231 * n), Full([n; 5]));
    }
    let each = resident_bytes().saturating_sub(before) as f64 / packets as f64;
    println!("{what:34} {each:6.1} bytes of memory per packet of {}", size_of::<Full>());
}

fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    4096 * statm.split_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0)
}

fn report(what: &str, model: &LinkModel, coalesce: Span) {
    let mut link = Link::new(model.clone(), &Seed::new(1), "bench", coalesce);
    // 1538 bytes last 1230.4 ns at 10 Gbit/s: the queue neither grows nor starves.
    let step = Span::from_ps(1_230_400);
    let (mut now, mut out, mut polls) = (Time::ZERO, 0u64, 0u64);
    let start = Instant::now();
    for n in 0..PACKETS {
        now += step;
        while link.next_event() <= now {
            let event = link.next_event();
            polls += 1;
            while link.take(event).is_some() {
                out += 1;
            }
            while link.drop_pending().is_some() {}
        }
        link.offer(now, Packet(n));
    }
    let seconds = start.elapsed().as_secs_f64();
    let rate = PACKETS as f64 / seconds / 1e6;
    println!("{what:34} {rate:6.1} million packets/s, {:.2} polls per packet", polls as f64 / out as f64);
}
