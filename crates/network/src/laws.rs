//! Plans speak in integers and tags; links in types that cannot be wrong.
//!
//! Everything here has passed [`plan::Plan::check`]; where a value could still be wrong, the law falls
//! back to doing nothing.

use longhaul_link as link;
use longhaul_plan as plan;
use longhaul_random::Seed;
use longhaul_units::{Probability, Rate, Span, Time};
use std::sync::Arc;

/// A direction at work: a link, or parallel routes.
pub fn line<P: link::Load>(
    direction: &plan::Direction,
    seed: &Seed,
    name: &str,
    coalesce: Span,
) -> link::Line<P> {
    match &direction.bundle {
        None => link::Link::new(laws(direction), seed, name, coalesce).into(),
        Some(bundle) => {
            let laws = link::BundleLaws {
                up: direction.up,
                policy: policy(&bundle.policy),
                routes: bundle.routes.iter().map(laws).collect(),
                resequence: bundle.resequence.map(|each| link::Resequence {
                    wait: Span::from_ns(each.wait_ns),
                    limit_bytes: each.limit_bytes,
                }),
            };
            link::Line::Bundle(Box::new(link::Bundle::new(laws, seed, name)))
        }
    }
}

/// The laws of a direction without parallel routes.
pub fn laws(direction: &plan::Direction) -> link::Laws {
    link::Laws {
        up: direction.up,
        loss: loss(&direction.loss),
        loss_position: loss_position(direction.loss_position),
        queue: limit(&direction.queue),
        discipline: discipline(&direction.queue.discipline),
        rate: rate(&direction.rate),
        framing: framing(&direction.framing),
        delay: delay(&direction.delay),
        reorder: direction.reorder,
        reordering: direction.reordering.as_ref().and_then(reordering),
        duplicate: probability(direction.duplicate),
        corrupt: probability(direction.corrupt),
    }
}

/// What comes on top of a packet on the wire.
pub fn framing(framing: &plan::Framing) -> link::Framing {
    link::Framing {
        overhead_bytes: framing.overhead_bytes,
        least_bytes: framing.least_bytes,
        cells: framing.cells.map(|cells| (cells.payload_bytes, cells.cell_bytes)),
    }
}

/// A change that [`plan::Change::check`] has passed.
pub fn change(change: &plan::Change) -> link::Change {
    link::Change {
        up: change.up,
        loss: change.loss.as_ref().map(loss),
        queue: change.queue.as_ref().map(limit),
        discipline: change.queue.as_ref().map(|queue| discipline(&queue.discipline)),
        rate: change.rate.as_ref().map(rate),
        delay: change.delay.as_ref().map(delay),
        reorder: change.reorder,
        duplicate: change.duplicate.map(probability),
        corrupt: change.corrupt.map(probability),
        loss_position: change.loss_position.map(loss_position),
        framing: change.framing.as_ref().map(framing),
        reordering: change.reordering.as_ref().map(reordering),
        coalesce: change.coalesce_ns.map(Span::from_ns),
    }
}

fn loss_position(place: plan::LossPosition) -> link::LossPosition {
    match place {
        plan::LossPosition::Ingress => link::LossPosition::Ingress,
        plan::LossPosition::Egress => link::LossPosition::Egress,
    }
}

/// How a host's pacing behaves.
pub fn pacer(pacing: &plan::Pacing) -> link::PacerLaws {
    let class = |class: &plan::PacingClass| link::ClassLaws {
        law: pacing_law(&class.law),
        limit: link::QueueLimit { packets: class.limit_packets, bytes: class.limit_bytes },
    };
    link::PacerLaws {
        line: positive(pacing.line_bits_per_s),
        line_framing: framing(&pacing.line_framing),
        class_framing: framing(&pacing.class_framing),
        classes: pacing.classes.iter().map(class).collect(),
    }
}

/// A class's law.
pub fn pacing_law(law: &plan::PacingLaw) -> link::ClassLaw {
    match *law {
        plan::PacingLaw::Normal {} => link::ClassLaw::Normal,
        plan::PacingLaw::Paced { bits_per_s } => link::ClassLaw::Paced(positive(bits_per_s)),
        plan::PacingLaw::TokenBucket { bits_per_s, burst_bytes, peak_bits_per_s } => {
            let peak = peak_bits_per_s.and_then(Rate::from_bits_per_s);
            link::ClassLaw::TokenBucket { rate: positive(bits_per_s), burst_bytes, peak }
        }
    }
}

/// A rate that was checked; what slipped through is no limit.
fn positive(bits_per_s: u64) -> Rate {
    Rate::from_bits_per_s(bits_per_s).unwrap_or(Rate::MAX)
}

fn loss(loss: &plan::Loss) -> link::Loss {
    match loss {
        plan::Loss::None {} => link::Loss::None,
        plan::Loss::Independent { probability: share } => link::Loss::Independent(probability(*share)),
        plan::Loss::OnePerBlock { block } => link::Loss::OnePerBlock(*block),
        plan::Loss::Periodic { every } => link::Loss::Periodic(*every),
        plan::Loss::GilbertElliott { mean, burst } => {
            link::Loss::GilbertElliott { mean: *mean, burst: *burst }
        }
        plan::Loss::Markov { good_to_bad, bad_to_good, loss_good, loss_bad } => link::Loss::Markov {
            good_to_bad: probability(*good_to_bad),
            bad_to_good: probability(*bad_to_good),
            loss_good: probability(*loss_good),
            loss_bad: probability(*loss_bad),
        },
        &plan::Loss::FourState { p13, p31, p32, p23, p14 } => {
            link::Loss::FourState { p13, p31, p32, p23, p14 }
        }
        plan::Loss::Correlated { mean, correlation } => {
            link::Loss::Correlated { mean: *mean, correlation: *correlation }
        }
        plan::Loss::Renewal { gap, burst, unit, lasts_ns } => link::Loss::Renewal {
            gap: gap.clone(),
            burst: burst.clone(),
            unit: match unit {
                plan::GapUnit::Packets => link::GapUnit::Packets,
                plan::GapUnit::Bytes => link::GapUnit::Bytes,
                plan::GapUnit::Wall => link::GapUnit::Wall,
                plan::GapUnit::Busy { bits_per_s } => {
                    Rate::from_bits_per_s(*bits_per_s).map_or(link::GapUnit::Wall, link::GapUnit::Busy)
                }
            },
            lasts: lasts_ns.map(Span::from_ns),
        },
        plan::Loss::Runs { runs, repeat } => {
            link::Loss::Runs { runs: Arc::from(runs.as_slice()), repeat: *repeat }
        }
        plan::Loss::Times { times_ns, repeat_ns } => link::Loss::Times {
            times: times_ns.iter().copied().map(Time::from_ns).collect(),
            repeat: repeat_ns.map(Span::from_ns),
        },
    }
}

fn limit(queue: &plan::Queue) -> link::QueueLimit {
    link::QueueLimit { packets: queue.limit_packets, bytes: queue.limit_bytes }
}

fn discipline(law: &plan::Discipline) -> link::Discipline {
    let codel = |target_ns: u64, interval_ns: u64, ecn: bool| link::CodelLaw {
        target: Span::from_ns(target_ns),
        interval: Span::from_ns(interval_ns),
        ecn,
    };
    match law {
        plan::Discipline::Fifo => link::Discipline::Fifo,
        plan::Discipline::HeadDrop => link::Discipline::HeadDrop,
        plan::Discipline::Red { least_bytes, most_bytes, probability, weight, gentle, ecn, packet_bytes } => {
            link::Discipline::Red(link::RedLaw {
                least: *least_bytes,
                most: *most_bytes,
                probability: *probability,
                weight: *weight,
                gentle: *gentle,
                ecn: *ecn,
                packet: *packet_bytes,
            })
        }
        plan::Discipline::Codel { target_ns, interval_ns, ecn } => {
            link::Discipline::Codel(codel(*target_ns, *interval_ns, *ecn))
        }
        plan::Discipline::FqCodel { target_ns, interval_ns, quantum_bytes, flows, ecn } => {
            link::Discipline::FqCodel {
                codel: codel(*target_ns, *interval_ns, *ecn),
                quantum: *quantum_bytes,
                flows: *flows,
            }
        }
        plan::Discipline::Pie { target_ns, update_ns, alpha, beta, burst_ns, ecn } => {
            link::Discipline::Pie(link::PieLaw {
                target: Span::from_ns(*target_ns),
                update: Span::from_ns(*update_ns),
                alpha: *alpha,
                beta: *beta,
                burst: Span::from_ns(*burst_ns),
                ecn: *ecn,
            })
        }
        plan::Discipline::Drr { quantum_bytes, flows } => {
            link::Discipline::Drr { quantum: *quantum_bytes, flows: *flows }
        }
        plan::Discipline::Priority { bands } => link::Discipline::Priority {
            bands: std::array::from_fn(|dscp| bands.get(dscp).copied().unwrap_or(0)),
        },
    }
}

fn rate(rate: &plan::Rate) -> link::RateLaw {
    match rate {
        plan::Rate::Unlimited {} => link::RateLaw::Unlimited,
        plan::Rate::Constant { bits_per_s } => link::RateLaw::constant(*bits_per_s),
        plan::Rate::Paced { bits_per_s, line_bits_per_s } => {
            match (Rate::from_bits_per_s(*bits_per_s), Rate::from_bits_per_s(*line_bits_per_s)) {
                (Some(rate), Some(line)) => link::RateLaw::Paced { rate, line },
                _ => link::RateLaw::Unlimited,
            }
        }
        plan::Rate::TokenBucket { bits_per_s, burst_bytes, peak_bits_per_s } => {
            match Rate::from_bits_per_s(*bits_per_s) {
                Some(rate) => link::RateLaw::TokenBucket {
                    rate,
                    burst_bytes: *burst_bytes,
                    peak: peak_bits_per_s.and_then(Rate::from_bits_per_s),
                },
                None => link::RateLaw::Unlimited,
            }
        }
        plan::Rate::Series { points, repeat_ns } => {
            series(points, 1, *repeat_ns).map_or(link::RateLaw::Unlimited, link::RateLaw::Series)
        }
        plan::Rate::Opportunities { times_ns, repeat_ns, bytes } => {
            let times: Vec<Time> = times_ns.iter().copied().map(Time::from_ns).collect();
            link::Opportunities::new(&times, Span::from_ns(*repeat_ns), *bytes)
                .map_or(link::RateLaw::Unlimited, link::RateLaw::Opportunities)
        }
    }
}

fn delay(delay: &plan::Delay) -> link::Delay {
    match delay {
        plan::Delay::Constant { delay_ns } => link::Delay::Constant(Span::from_ns(*delay_ns)),
        plan::Delay::Uniform { mean_ns, half_width_ns } => {
            link::Delay::Uniform { mean: Span::from_ns(*mean_ns), half_width: Span::from_ns(*half_width_ns) }
        }
        plan::Delay::Normal { mean_ns, sd_ns } => {
            link::Delay::Normal { mean: Span::from_ns(*mean_ns), sd: Span::from_ns(*sd_ns) }
        }
        plan::Delay::Random { base_ns, jitter, correlation, .. } => link::Delay::Random {
            base: Span::from_ns(*base_ns),
            jitter: jitter.clone(),
            correlation: *correlation,
        },
        plan::Delay::Series { mean_ns, points, linear, repeat_ns } => {
            match series(points, 1000, *repeat_ns) {
                Some(series) => link::Delay::Series { series, linear: *linear },
                None => link::Delay::Constant(Span::from_ns(*mean_ns)),
            }
        }
        plan::Delay::Ticks { delay_ns, hz, rounding } => link::Delay::Ticks {
            delay: Span::from_ns(*delay_ns),
            hz: *hz,
            rounding: match rounding {
                plan::Rounding::Nearest => link::Rounding::Nearest,
                plan::Rounding::Up => link::Rounding::Up,
            },
        },
    }
}

/// Values times `scale` at times in ns.
fn series(points: &[(u64, u64)], scale: u64, repeat_ns: Option<u64>) -> Option<link::Series> {
    let points: Vec<(Time, u64)> =
        points.iter().map(|&(ns, value)| (Time::from_ns(ns), value.saturating_mul(scale))).collect();
    link::Series::new(&points, repeat_ns.map(Span::from_ns))
}

fn reordering(law: &plan::OutOfOrder) -> Option<link::OutOfOrder> {
    Some(match *law {
        plan::OutOfOrder::None {} => return None,
        plan::OutOfOrder::Block { block, delay_ns } => {
            link::OutOfOrder::Block { block, delay: Span::from_ns(delay_ns) }
        }
        plan::OutOfOrder::Share { probability: share, delay_ns } => {
            link::OutOfOrder::Share { probability: probability(share), delay: Span::from_ns(delay_ns) }
        }
        plan::OutOfOrder::Early { gap, probability: share } => {
            link::OutOfOrder::Early { gap, probability: probability(share) }
        }
    })
}

fn policy(policy: &plan::Policy) -> link::Policy {
    match policy {
        plan::Policy::FlowHash { key } => link::Policy::FlowHash(match key {
            plan::FlowKey::Hosts => link::FlowKey::Hosts,
            plan::FlowKey::Flow => link::FlowKey::Flow,
        }),
        plan::Policy::RoundRobin => link::Policy::RoundRobin,
        plan::Policy::VlanBlock => link::Policy::VlanBlock,
        plan::Policy::Weighted { weights } => link::Policy::Weighted(weights.clone()),
        plan::Policy::LeastQueued => link::Policy::LeastQueued,
        plan::Policy::Flowlet { gap_ns } => link::Policy::Flowlet(Span::from_ns(*gap_ns)),
    }
}

/// Shares are checked before they come here; what slipped through means never.
fn probability(share: f64) -> Probability {
    Probability::new(share).unwrap_or(Probability::ZERO)
}
