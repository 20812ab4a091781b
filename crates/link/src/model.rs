use crate::{DelayModel, Framing, LossModel, PacingChange, QueueModel, RateModel};
use longhaul_units::{InvalidValue, Probability, Span, checked_when_read};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

/// The model of one direction of a link. By default it is up, and does nothing to packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct LinkModel {
    /// Whether it carries packets. Packets offered while it is down end as
    /// [`Fate::Down`](crate::Fate::Down); packets that wait stay and go on when it is up again.
    pub up: bool,
    /// The loss model.
    pub loss: LossModel,
    /// Where packets are lost.
    #[serde(default)]
    pub loss_position: LossPosition,
    /// The queue.
    pub queue: QueueModel,
    /// How fast the wire takes packets.
    pub rate: RateModel,
    /// What each packet occupies the wire for.
    #[serde(default)]
    pub framing: Framing,
    /// How long the wire takes after a packet's last bit has entered it; one way.
    pub delay: DelayModel,
    /// Whether a packet may overtake another because its delay was smaller.
    pub reorder: bool,
    /// The reordering model.
    pub reordering: Option<ReorderModel>,
    /// The probability that a packet, once past the loss model, is followed by a copy of itself.
    pub duplicate: Probability,
    /// The probability that one bit of a packet arrives wrong.
    #[serde(default = "never")]
    pub corrupt: Probability,
}

const fn never() -> Probability {
    Probability::ZERO
}

checked_when_read!(LinkModel, Change);

impl LinkModel {
    /// The rules between the fields.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(&self) -> Result<(), InvalidValue> {
        self.reordering.iter().try_for_each(|model| {
            model.check_on(self.delay.mean()).map_err(|error| error.within("reordering"))
        })
    }
}

impl Default for LinkModel {
    fn default() -> Self {
        LinkModel {
            up: true,
            loss: LossModel::None {},
            loss_position: LossPosition::Ingress,
            queue: QueueModel::default(),
            rate: RateModel::Unlimited {},
            framing: Framing::default(),
            delay: DelayModel::constant(Span::ZERO),
            reorder: false,
            reordering: None,
            duplicate: Probability::ZERO,
            corrupt: Probability::ZERO,
        }
    }
}

/// Where packets are lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LossPosition {
    /// Before the queue: a lost packet takes no room and no time.
    #[default]
    Ingress,
    /// After the serialiser: a lost packet has taken both.
    Egress,
}

/// A reordering model, for a wire that keeps packets in order otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ReorderModel {
    /// No packet is reordered.
    None {},
    /// One packet, chosen at random, in each block takes another delay, so that those behind it may
    /// overtake it (NemC's `ooo_rate` and `ooo_delay`).
    Block {
        /// Packets in a block.
        block: NonZeroU64,
        /// The chosen packet's delay, which exceeds the link's.
        #[serde(rename = "delay_ns")]
        delay: Span,
    },
    /// Each packet independently takes another delay.
    Share {
        /// The probability that it does.
        probability: Probability,
        /// Its delay, which exceeds the link's.
        #[serde(rename = "delay_ns")]
        delay: Span,
    },
    /// After a number of packets in order, the next may leave without delay (netem's gap).
    Early {
        /// Packets from one that may to the next.
        gap: NonZeroU64,
        /// The probability that it does; otherwise the packet after it may.
        probability: Probability,
    },
}

impl ReorderModel {
    /// The rule on a link whose mean delay is `mean`.
    ///
    /// # Errors
    /// If the delay of reordered packets does not exceed it.
    pub fn check_on(&self, mean: Span) -> Result<(), InvalidValue> {
        match self {
            ReorderModel::Block { delay, .. } | ReorderModel::Share { delay, .. } if *delay <= mean => {
                Err(InvalidValue::new("delay_ns", "must exceed the link's delay"))
            }
            _ => Ok(()),
        }
    }
}

/// From which delays routers compute shortest paths when the topology changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RouteCosts {
    /// The mean delays of the plan, as at the start.
    Configured,
    /// The delays of the instant: those of series at that time, and means after all changes.
    Current,
}

/// A change of a direction; what is `None` stays.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", default, deny_unknown_fields)]
pub struct Change {
    /// Up or down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up: Option<bool>,
    /// A new loss model, in its initial state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossModel>,
    /// New limits and a new discipline; queued packets stay, in their order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueModel>,
    /// A new rate, from the next packet on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<RateModel>,
    /// A new delay, for packets whose first bit leaves from now on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<DelayModel>,
    /// Whether packets may overtake, from now on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reorder: Option<bool>,
    /// A new probability of duplicates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicate: Option<Probability>,
    /// A new probability of wrong bits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrupt: Option<Probability>,
    /// A new loss position, together with a new loss model. Queued packets have passed the ingress: a change
    /// applies to them only at the egress.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_position: Option<LossPosition>,
    /// New framing, for packets whose first bit leaves from now on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub framing: Option<Framing>,
    /// A new reordering model, for packets whose first bit leaves from now on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reordering: Option<ReorderModel>,
    /// A new span within which segments of a super-packet leave together, for packets whose first bit leaves
    /// from now on; where the direction ends at a host.
    #[serde(rename = "coalesce_ns", skip_serializing_if = "Option::is_none")]
    pub coalesce: Option<Span>,
    /// Whether the link is part of the network. What is in a link that leaves ends there, as on a link that is down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub present: Option<bool>,
    /// Routers compute all routes anew after this change, with these costs of links; for the network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reroute: Option<RouteCosts>,
    /// New pacing models of classes of the host at its near end; for the host's [`Pacer`](crate::Pacer).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pacing: Vec<PacingChange>,
}

impl Change {
    /// Whether it changes the link itself.
    pub fn is_of_the_link(&self) -> bool {
        *self != Change { pacing: self.pacing.clone(), reroute: self.reroute, ..Change::default() }
    }

    /// The rules between the fields.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(&self) -> Result<(), InvalidValue> {
        if let Some(model) = &self.reordering {
            let mean = self.delay.as_ref().map_or(Span::ZERO, DelayModel::mean);
            model.check_on(mean).map_err(|error| error.within("reordering"))?;
        }
        if self.loss_position.is_some() && self.loss.is_none() {
            return Err(InvalidValue::new("loss_position", "can only change together with loss"));
        }
        Ok(())
    }
}
