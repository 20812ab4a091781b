//! Plans speak in integers and tags; links in types that cannot be wrong.

use longhaul_link as link;
use longhaul_plan as plan;
use longhaul_units::{Probability, Rate, Span};

/// The laws of a direction that [`plan::Direction::check`] has passed.
pub fn laws(direction: &plan::Direction) -> link::Laws {
    link::Laws {
        up: direction.up,
        loss: loss(&direction.loss),
        queue: queue(&direction.queue),
        rate: rate(&direction.rate),
        framing_bytes: direction.framing_bytes,
        delay: delay(&direction.delay),
        reorder: direction.reorder,
        out_of_order: direction
            .out_of_order
            .as_ref()
            .map(|each| link::OutOfOrder { block: each.block, delay: Span::from_ns(each.delay_ns) }),
        duplicate: probability(direction.duplicate),
    }
}

/// A change that [`plan::Change::check`] has passed.
pub fn change(change: &plan::Change) -> link::Change {
    link::Change {
        up: change.up,
        loss: change.loss.as_ref().map(loss),
        queue: change.queue.as_ref().map(queue),
        rate: change.rate.as_ref().map(rate),
        delay: change.delay.as_ref().map(delay),
        duplicate: change.duplicate.map(probability),
    }
}

fn loss(loss: &plan::Loss) -> link::Loss {
    match *loss {
        plan::Loss::None {} => link::Loss::None,
        plan::Loss::Independent { probability: share } => link::Loss::Independent(probability(share)),
        plan::Loss::OnePerBlock { block } => link::Loss::OnePerBlock(block),
        plan::Loss::GilbertElliott { mean, burst } => link::Loss::GilbertElliott { mean, burst },
    }
}

fn queue(queue: &plan::Queue) -> link::QueueLimit {
    link::QueueLimit { packets: queue.limit_packets, bytes: queue.limit_bytes }
}

fn rate(rate: &plan::Rate) -> Option<Rate> {
    match *rate {
        plan::Rate::Unlimited {} => None,
        plan::Rate::Constant { bits_per_s } => Rate::from_bits_per_s(bits_per_s),
    }
}

fn delay(delay: &plan::Delay) -> link::Delay {
    match *delay {
        plan::Delay::Constant { delay_ns } => link::Delay::Constant(Span::from_ns(delay_ns)),
        plan::Delay::Uniform { mean_ns, half_width_ns } => {
            link::Delay::Uniform { mean: Span::from_ns(mean_ns), half_width: Span::from_ns(half_width_ns) }
        }
        plan::Delay::Normal { mean_ns, sd_ns } => {
            link::Delay::Normal { mean: Span::from_ns(mean_ns), sd: Span::from_ns(sd_ns) }
        }
    }
}

/// Shares are checked before they come here; what slipped through means never.
fn probability(share: f64) -> Probability {
    Probability::new(share).unwrap_or(Probability::ZERO)
}
