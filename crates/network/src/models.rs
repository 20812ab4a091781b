//! Plans speak in integers and tags; links in types that cannot be wrong.
//!
//! Everything here has passed [`plan::Plan::check`]; where a value could still be wrong, the model falls
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
        None => link::Link::new(link_model(direction), seed, name, coalesce).into(),
        Some(bundle) => {
            let model = link::BundleModel {
                up: direction.up,
                policy: policy(&bundle.policy),
                routes: bundle.routes.iter().map(link_model).collect(),
                resequence: bundle.resequence.map(|each| link::Resequence {
                    wait: Span::from_ns(each.wait_ns),
                    limit_bytes: each.limit_bytes,
                }),
            };
            link::Line::Bundle(Box::new(link::Bundle::new(model, seed, name)))
        }
    }
}

/// The link model of a direction without parallel routes.
pub fn link_model(direction: &plan::Direction) -> link::LinkModel {
    link::LinkModel {
        up: direction.up,
        loss: loss(&direction.loss),
        loss_position: loss_position(direction.loss_position),
        queue: limit(&direction.queue),
        discipline: discipline(&direction.queue.discipline),
        rate: rate(&direction.rate),
        framing: framing(&direction.framing),
        delay: delay(&direction.delay),
        reorder: direction.reorder,
        reordering: direction.reordering.as_ref().and_then(reorder_model),
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
        reordering: change.reordering.as_ref().map(reorder_model),
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
pub fn pacer(pacing: &plan::Pacing) -> link::PacerModel {
    let class = |class: &plan::PacingClass| link::ClassModel {
        pacing: pacing_model(&class.law),
        limit: link::QueueLimit { packets: class.limit_packets, bytes: class.limit_bytes },
    };
    link::PacerModel {
        line: positive(pacing.line_bits_per_s),
        line_framing: framing(&pacing.line_framing),
        class_framing: framing(&pacing.class_framing),
        classes: pacing.classes.iter().map(class).collect(),
    }
}

/// The pacing model of a class.
pub fn pacing_model(model: &plan::PacingModel) -> link::PacingModel {
    match *model {
        plan::PacingModel::Normal {} => link::PacingModel::Normal,
        plan::PacingModel::Paced { bits_per_s } => link::PacingModel::Paced(positive(bits_per_s)),
        plan::PacingModel::TokenBucket { bits_per_s, burst_bytes, peak_bits_per_s } => {
            let peak = peak_bits_per_s.and_then(Rate::from_bits_per_s);
            link::PacingModel::TokenBucket { rate: positive(bits_per_s), burst_bytes, peak }
        }
    }
}

/// A rate that was checked; what slipped through is no limit.
fn positive(bits_per_s: u64) -> Rate {
    Rate::from_bits_per_s(bits_per_s).unwrap_or(Rate::MAX)
}

fn loss(loss: &plan::LossModel) -> link::LossModel {
    match loss {
        plan::LossModel::None {} => link::LossModel::None,
        plan::LossModel::Independent { probability: share } => {
            link::LossModel::Independent(probability(*share))
        }
        plan::LossModel::OnePerBlock { block } => link::LossModel::OnePerBlock(*block),
        plan::LossModel::Periodic { every } => link::LossModel::Periodic(*every),
        plan::LossModel::GilbertElliott { mean, burst } => {
            link::LossModel::GilbertElliott { mean: *mean, burst: *burst }
        }
        plan::LossModel::Markov { good_to_bad, bad_to_good, loss_good, loss_bad } => {
            link::LossModel::Markov {
                good_to_bad: probability(*good_to_bad),
                bad_to_good: probability(*bad_to_good),
                loss_good: probability(*loss_good),
                loss_bad: probability(*loss_bad),
            }
        }
        &plan::LossModel::FourState { p13, p31, p32, p23, p14 } => {
            link::LossModel::FourState { p13, p31, p32, p23, p14 }
        }
        plan::LossModel::Correlated { mean, correlation } => {
            link::LossModel::Correlated { mean: *mean, correlation: *correlation }
        }
        plan::LossModel::Renewal { gap, burst, unit, lasts_ns } => link::LossModel::Renewal {
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
        plan::LossModel::Runs { runs, repeat } => {
            link::LossModel::Runs { runs: Arc::from(runs.as_slice()), repeat: *repeat }
        }
        plan::LossModel::Times { times_ns, repeat_ns } => link::LossModel::Times {
            times: times_ns.iter().copied().map(Time::from_ns).collect(),
            repeat: repeat_ns.map(Span::from_ns),
        },
    }
}

fn limit(queue: &plan::Queue) -> link::QueueLimit {
    link::QueueLimit { packets: queue.limit_packets, bytes: queue.limit_bytes }
}

fn discipline(model: &plan::QueueDiscipline) -> link::QueueDiscipline {
    let codel = |target_ns: u64, interval_ns: u64, ecn: bool| link::CodelParameters {
        target: Span::from_ns(target_ns),
        interval: Span::from_ns(interval_ns),
        ecn,
    };
    match model {
        plan::QueueDiscipline::Fifo => link::QueueDiscipline::Fifo,
        plan::QueueDiscipline::HeadDrop => link::QueueDiscipline::HeadDrop,
        plan::QueueDiscipline::Red {
            least_bytes,
            most_bytes,
            probability,
            weight,
            gentle,
            ecn,
            packet_bytes,
        } => link::QueueDiscipline::Red(link::RedParameters {
            least: *least_bytes,
            most: *most_bytes,
            probability: *probability,
            weight: *weight,
            gentle: *gentle,
            ecn: *ecn,
            packet: *packet_bytes,
        }),
        plan::QueueDiscipline::Codel { target_ns, interval_ns, ecn } => {
            link::QueueDiscipline::Codel(codel(*target_ns, *interval_ns, *ecn))
        }
        plan::QueueDiscipline::FqCodel { target_ns, interval_ns, quantum_bytes, flows, ecn } => {
            link::QueueDiscipline::FqCodel {
                codel: codel(*target_ns, *interval_ns, *ecn),
                quantum: *quantum_bytes,
                flows: *flows,
            }
        }
        plan::QueueDiscipline::Pie { target_ns, update_ns, alpha, beta, burst_ns, ecn } => {
            link::QueueDiscipline::Pie(link::PieParameters {
                target: Span::from_ns(*target_ns),
                update: Span::from_ns(*update_ns),
                alpha: *alpha,
                beta: *beta,
                burst: Span::from_ns(*burst_ns),
                ecn: *ecn,
            })
        }
        plan::QueueDiscipline::Drr { quantum_bytes, flows } => {
            link::QueueDiscipline::Drr { quantum: *quantum_bytes, flows: *flows }
        }
        plan::QueueDiscipline::Priority { bands } => link::QueueDiscipline::Priority {
            bands: std::array::from_fn(|dscp| bands.get(dscp).copied().unwrap_or(0)),
        },
    }
}

fn rate(rate: &plan::RateModel) -> link::RateModel {
    match rate {
        plan::RateModel::Unlimited {} => link::RateModel::Unlimited,
        plan::RateModel::Constant { bits_per_s } => link::RateModel::constant(*bits_per_s),
        plan::RateModel::Paced { bits_per_s, line_bits_per_s } => {
            match (Rate::from_bits_per_s(*bits_per_s), Rate::from_bits_per_s(*line_bits_per_s)) {
                (Some(rate), Some(line)) => link::RateModel::Paced { rate, line },
                _ => link::RateModel::Unlimited,
            }
        }
        plan::RateModel::TokenBucket { bits_per_s, burst_bytes, peak_bits_per_s } => {
            match Rate::from_bits_per_s(*bits_per_s) {
                Some(rate) => link::RateModel::TokenBucket {
                    rate,
                    burst_bytes: *burst_bytes,
                    peak: peak_bits_per_s.and_then(Rate::from_bits_per_s),
                },
                None => link::RateModel::Unlimited,
            }
        }
        plan::RateModel::Series { points, repeat_ns } => {
            series(points, 1, *repeat_ns).map_or(link::RateModel::Unlimited, link::RateModel::Series)
        }
        plan::RateModel::Opportunities { times_ns, repeat_ns, bytes } => {
            let times: Vec<Time> = times_ns.iter().copied().map(Time::from_ns).collect();
            link::Opportunities::new(&times, Span::from_ns(*repeat_ns), *bytes)
                .map_or(link::RateModel::Unlimited, link::RateModel::Opportunities)
        }
    }
}

fn delay(delay: &plan::DelayModel) -> link::DelayModel {
    match delay {
        plan::DelayModel::Constant { delay_ns } => link::DelayModel::Constant(Span::from_ns(*delay_ns)),
        plan::DelayModel::Uniform { mean_ns, half_width_ns } => link::DelayModel::Uniform {
            mean: Span::from_ns(*mean_ns),
            half_width: Span::from_ns(*half_width_ns),
        },
        plan::DelayModel::Normal { mean_ns, sd_ns } => {
            link::DelayModel::Normal { mean: Span::from_ns(*mean_ns), sd: Span::from_ns(*sd_ns) }
        }
        plan::DelayModel::Random { base_ns, jitter, correlation, .. } => link::DelayModel::Random {
            base: Span::from_ns(*base_ns),
            jitter: jitter.clone(),
            correlation: *correlation,
        },
        plan::DelayModel::Series { mean_ns, points, linear, repeat_ns } => {
            match series(points, 1000, *repeat_ns) {
                Some(series) => link::DelayModel::Series { series, linear: *linear },
                None => link::DelayModel::Constant(Span::from_ns(*mean_ns)),
            }
        }
        plan::DelayModel::Ticks { delay_ns, hz, rounding } => link::DelayModel::Ticks {
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

fn reorder_model(model: &plan::ReorderModel) -> Option<link::ReorderModel> {
    Some(match *model {
        plan::ReorderModel::None {} => return None,
        plan::ReorderModel::Block { block, delay_ns } => {
            link::ReorderModel::Block { block, delay: Span::from_ns(delay_ns) }
        }
        plan::ReorderModel::Share { probability: share, delay_ns } => {
            link::ReorderModel::Share { probability: probability(share), delay: Span::from_ns(delay_ns) }
        }
        plan::ReorderModel::Early { gap, probability: share } => {
            link::ReorderModel::Early { gap, probability: probability(share) }
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
