//! Prints how many packets per second one direction of a link handles on one core.
//!
//! `cargo run --release -p longhaul-link --example throughput`
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    reason = "an example measures and prints"
)]

use longhaul_link::{Delay, Laws, Link, Load, Loss, OutOfOrder, QueueLimit};
use longhaul_random::Seed;
use longhaul_units::{Probability, Rate, Span, Time};
use std::time::Instant;

const PACKETS: u64 = 2_000_000;

/// Stands for an index into somebody's arena.
#[derive(Clone, Copy)]
struct Segment(u32);

impl Load for Segment {
    fn bytes(&self) -> u32 {
        1500
    }
    fn continues(&self, previous: &Self) -> bool {
        !self.0.is_multiple_of(40) && self.0 == previous.0.wrapping_add(1)
    }
}

fn main() {
    let wan = Laws {
        up: true,
        loss: Loss::Independent(Probability::new(0.001).expect("a probability")),
        queue: QueueLimit { packets: Some(1000), bytes: None },
        rate: Rate::from_bits_per_s(10_000_000_000),
        framing_bytes: 38,
        delay: Delay::Constant(Span::from_ms(1)),
        reorder: false,
        out_of_order: None,
        duplicate: Probability::ZERO,
    };
    let jitter = Delay::Normal { mean: Span::from_ms(1), sd: Span::from_us(20) };
    report("loss, rate, constant delay", &wan, Span::ZERO);
    report("the same, coalesced over 10 us", &wan, Span::from_us(10));
    report("the same, unlimited rate", &Laws { rate: None, ..wan.clone() }, Span::ZERO);
    report("normal jitter in order", &Laws { delay: jitter, ..wan.clone() }, Span::ZERO);
    report("normal jitter, overtaking", &Laws { delay: jitter, reorder: true, ..wan.clone() }, Span::ZERO);
    let out_of_order = Some(OutOfOrder { block: 100, delay: Span::from_us(1100) });
    report("one in 100 out of order", &Laws { out_of_order, ..wan }, Span::ZERO);
}

/// Offers trains of 40 segments at 96 % of 10 Gbit/s and takes each packet at its event.
fn report(what: &str, laws: &Laws, coalesce: Span) {
    let mut link = Link::<Segment>::new(laws.clone(), &Seed::new(1), "example/forward", coalesce);
    let (mut out, mut polls) = (0u64, 0u64);
    let begin = Instant::now();
    for train in 0..PACKETS / 40 {
        let now = Time::from_ns(train * 51_000);
        while link.next_event() <= now {
            let event = link.next_event();
            polls += 1;
            while let Some((segment, due)) = link.take(event) {
                out += u64::from(due <= event && segment.bytes() > 0);
            }
        }
        for segment in 0..40 {
            link.offer(now, Segment((train * 40 + segment) as u32));
        }
    }
    let rate = PACKETS as f64 / begin.elapsed().as_secs_f64() / 1e6;
    println!("{what:32} {rate:6.1} million packets/s, {:.2} polls per packet", polls as f64 / out as f64);
}
