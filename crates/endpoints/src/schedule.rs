//! When the datagrams of a flow leave, and how large they are: the same live as simulated.

use crate::build::path_mtu;
use crate::datagrams::header_bytes;
use longhaul_network::{Network, NodeId};
use longhaul_plan::{Arrivals, Flow, Plan, Sizes, Traffic};
use longhaul_random::{Distribution, Seed, Stream};
use longhaul_units::{InvalidValue, Rate, Serialiser, Span, Time};

/// What a stream of datagrams is to be.
#[derive(Clone, Debug)]
struct DatagramConfig {
    pub payload_bytes: u32,
    /// The largest payload that passes all the way.
    pub most_bytes: u32,
    pub rate: Rate,
    pub start: Time,
    pub stop: Time,
    pub bytes: u64,
    pub arrivals: Arrivals,
    pub sizes: Sizes,
    /// Times of sending and of silence, in ns.
    pub on_off: Option<(Distribution, Distribution)>,
}

/// The instants and the payload of datagrams, one after another.
///
/// At [`timer`](Self::timer) the next one leaves; [`depart`](Self::depart) says how large it is, and
/// moves on. Equal plans and streams give equal instants, to the picosecond.
#[derive(Debug)]
pub struct Schedule {
    config: DatagramConfig,
    clock: Serialiser,
    next: Time,
    left_bytes: u64,
    /// When the current time of sending ends.
    silent_from: Time,
    rng: Stream,
}

impl Schedule {
    fn new(config: DatagramConfig, rng: Stream) -> Self {
        let mut clock = Serialiser::default();
        clock.hold_until(config.start);
        let mut made = Schedule {
            clock,
            next: config.start,
            left_bytes: config.bytes,
            silent_from: Time::NEVER,
            rng,
            config,
        };
        if made.config.on_off.is_some() {
            made.silent_from = made.config.start + made.draw_span(true);
        }
        made
    }

    /// When the next datagram leaves; [`Time::NEVER`]: there is none.
    #[inline]
    pub fn timer(&self) -> Time {
        self.next
    }

    /// The largest payload that it may draw, in bytes.
    pub fn largest(&self) -> u32 {
        match self.config.sizes {
            Sizes::Fixed => self.config.payload_bytes,
            Sizes::Exponential => self.config.most_bytes,
        }
    }

    /// The payload of the datagram that leaves now, in bytes.
    #[inline]
    pub fn depart(&mut self) -> u32 {
        let bytes = self.size();
        self.left_bytes = self.left_bytes.saturating_sub(u64::from(bytes));
        self.next = match self.config.arrivals {
            // The byte clock carries the fraction of a picosecond.
            Arrivals::Even => self.clock.send(self.next, bytes, self.config.rate),
            Arrivals::Poisson => {
                let mean = self.config.rate.time_for(u64::from(self.config.payload_bytes)).ps() as f64;
                self.next + Span::from_ps((self.rng.exponential() * mean) as u64)
            }
        };
        while self.next >= self.silent_from && self.next < self.config.stop {
            // What is left of the gap is spent after the silence.
            let resumed = self.silent_from + self.draw_span(false);
            self.next = resumed + self.next.since(self.silent_from);
            self.silent_from = resumed + self.draw_span(true);
            self.clock.hold_until(self.next);
        }
        if self.next >= self.config.stop || self.left_bytes == 0 {
            self.next = Time::NEVER;
        }
        bytes
    }

    fn size(&mut self) -> u32 {
        match self.config.sizes {
            Sizes::Fixed => self.config.payload_bytes,
            Sizes::Exponential => {
                let drawn = self.rng.exponential() * f64::from(self.config.payload_bytes);
                (drawn as u32).clamp(1, self.config.most_bytes)
            }
        }
    }

    /// A time of sending, or of silence; at least a nanosecond, so that time passes.
    fn draw_span(&mut self, on: bool) -> Span {
        let ns = match &self.config.on_off {
            Some((time, _)) if on => time.draw(&mut self.rng),
            Some((_, time)) => time.draw(&mut self.rng),
            None => return Span::from_ps(u64::MAX / 2),
        };
        Span::from_ps((ns.clamp(1.0, 1e15) * 1_000.0) as u64)
    }
}

/// Beyond so many transfers of one flow something is wrong with their gaps.
const MAX_TRANSFERS: usize = 10_000_000;

/// The datagrams of a flow of `plan`.
///
/// # Errors
/// If the flow is not of [`Traffic::Udp`], or a field of it has a value that cannot be sent, by the field's name.
pub fn datagrams(plan: &Plan, network: &Network, flow: &Flow) -> Result<Schedule, InvalidValue> {
    let Traffic::Udp { bits_per_s, payload_bytes, bytes, arrivals, sizes, on_off } = &flow.traffic else {
        return Err(InvalidValue::new("traffic", "is not udp"));
    };
    let mtu = path_mtu(plan, network, [NodeId(flow.source as u32), NodeId(flow.destination as u32)])?;
    let config = DatagramConfig {
        payload_bytes: *payload_bytes,
        most_bytes: u32::from(mtu).saturating_sub(header_bytes(speaks_ipv6(plan, flow))).max(1),
        rate: Rate::from_bits_per_s(*bits_per_s)
            .ok_or_else(|| InvalidValue::new("traffic.bits_per_s", "must be positive"))?,
        start: Time::from_ns(flow.start_ns),
        stop: stop(plan, flow),
        bytes: bytes.unwrap_or(u64::MAX),
        arrivals: *arrivals,
        sizes: *sizes,
        on_off: on_off.clone(),
    };
    Ok(Schedule::new(config, Seed::new(plan.seed).stream(&format!("{}/datagrams", flow.name))))
}

/// When each transfer of a flow of `plan` begins, and its payload in bytes.
///
/// # Errors
/// If the flow is not of [`Traffic::Replay`], of [`Traffic::Tcp`] with bytes, or of [`Traffic::Requests`] with an end, by
/// the field's name.
pub fn transfers(plan: &Plan, flow: &Flow) -> Result<Vec<(Time, u64)>, InvalidValue> {
    let (start, stop) = (Time::from_ns(flow.start_ns), stop(plan, flow));
    let (gap, size) = match &flow.traffic {
        Traffic::Requests { gap, size, .. } => (gap, size),
        Traffic::Replay { transfers, .. } => {
            let begun = transfers.iter().map(|&(ns, bytes)| (start + Span::from_ns(ns), bytes));
            return Ok(begun.take_while(|&(at, _)| at < stop).collect());
        }
        // All connections of a bulk transfer begin together.
        Traffic::Tcp { streams, bytes: Some(bytes), .. } => {
            let all = std::iter::repeat_n((start, *bytes), *streams as usize);
            return Ok(all.take_while(|&(at, _)| at < stop).collect());
        }
        _ => return Err(InvalidValue::new("traffic", "has no transfers")),
    };
    let mut rng = Seed::new(plan.seed).stream(&format!("{}/requests", flow.name));
    let mut at = start;
    let drawn = std::iter::from_fn(|| {
        at += Span::from_ps((gap.draw(&mut rng).clamp(1.0, 1e15) * 1_000.0) as u64);
        let bytes = size.draw(&mut rng).clamp(1.0, 1e15).round() as u64;
        (at < stop).then_some((at, bytes))
    });
    let transfers: Vec<(Time, u64)> = drawn.take(MAX_TRANSFERS + 1).collect();
    if transfers.len() > MAX_TRANSFERS {
        return Err(InvalidValue::new("traffic.gap", format!("makes more than {MAX_TRANSFERS} requests")));
    }
    Ok(transfers)
}

/// Whether a flow of `plan` travels in IPv6: its source has no other address.
pub(crate) fn speaks_ipv6(plan: &Plan, flow: &Flow) -> bool {
    plan.nodes[flow.source].ipv4.is_none()
}

fn stop(plan: &Plan, flow: &Flow) -> Time {
    let time = |ns: Option<u64>| ns.map_or(Time::NEVER, Time::from_ns);
    time(flow.stop_ns).min(time(plan.duration_ns))
}
