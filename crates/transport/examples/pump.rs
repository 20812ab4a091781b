//! Moves segments from one end to the other over a fixed delay with random loss, in memory, and says how
//! many per second. `cargo run --release -p longhaul-transport --example pump [segments] [window] [loss]`
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "it is a program")]

use longhaul_congestion::Settings as Law;
use longhaul_random::Seed;
use longhaul_transport::{Connection, InitialWindow, Segment, Settings};
use longhaul_units::{Probability, Span, Time};
use std::collections::VecDeque;

/// One direction: first in, first out.
struct Wire {
    queue: VecDeque<(Time, Segment)>,
    busy: Time,
    gap: Span,
}

impl Wire {
    fn next(&self) -> Time {
        self.queue.front().map_or(Time::NEVER, |(due, _)| *due)
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<f64>().unwrap_or(0.0));
    let segments = arguments.next().unwrap_or(1e7) as u64;
    let window = arguments.next().unwrap_or(1000.0) as u64;
    let loss = Probability::new(arguments.next().unwrap_or(1e-4)).unwrap_or(Probability::ZERO);
    let seed = Seed::new(1);
    let mut chance = seed.stream("loss");
    let settings = Settings {
        send_buffer: window * 1448,
        initial_window: InitialWindow::Segments(window as u32),
        ..Settings::default()
    };
    let law = Law::named("reno").expect("it is there");
    let mut near = Connection::connect(&settings, &law, seed.stream("near"));
    let mut far = Connection::listen(&settings, &law, seed.stream("far"));
    let delay = Span::from_ms(50);
    let wire = || Wire { queue: VecDeque::new(), busy: Time::ZERO, gap: Span::from_ns(1200) };
    let (mut out, mut back) = (wire(), wire());
    let mut now = Time::ZERO;
    near.write(now, segments * 1448);
    near.close(now);
    far.close(now);
    near.open(now);
    let (mut moved, mut lost) = (0u64, 0u64);
    while !(near.is_closed() && far.is_closed()) {
        while let Some(segment) = near.poll(now) {
            moved += u64::from(segment.occupies());
            if loss.strikes(chance.bits()) {
                lost += 1;
                continue;
            }
            out.busy = out.busy.max(now) + out.gap;
            out.queue.push_back((out.busy + delay, segment));
        }
        while let Some(segment) = far.poll(now) {
            back.busy = back.busy.max(now);
            back.queue.push_back((back.busy + delay, segment));
        }
        let arrival = out.next().min(back.next());
        now = arrival.min(near.timer()).min(far.timer());
        if now == arrival {
            if out.next() == now {
                if let Some((_, segment)) = out.queue.pop_front() {
                    far.receive(now, &segment, false);
                }
            } else if let Some((_, segment)) = back.queue.pop_front() {
                near.receive(now, &segment, false);
            }
        }
        near.expire(now);
        far.expire(now);
    }
    let info = near.info();
    println!(
        "{moved} segments, {lost} lost, {} retransmitted, {} timeouts, {} recoveries, window {:.0}, \
         {:.1} s simulated",
        info.retransmits,
        info.timeouts,
        info.recoveries,
        info.window,
        now.since(Time::ZERO).as_secs_f64()
    );
}
