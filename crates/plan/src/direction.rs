use crate::Pacing;
use longhaul_link::{
    BundleModel, DelayModel, Framing, LinkModel, LossModel, LossPosition, QueueModel, RateModel, ReorderModel,
};
use longhaul_units::{InvalidValue, Probability, Span, checked_when_read};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One direction of a link: the fields of its [`LinkModel`], parallel routes, and the pacing of its host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct Direction {
    /// Whether it carries packets.
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
    /// How long the wire takes; one way.
    pub delay: DelayModel,
    /// Whether a packet may overtake another because its delay was smaller.
    pub reorder: bool,
    /// The reordering model.
    pub reordering: Option<ReorderModel>,
    /// The share of packets that arrive twice.
    pub duplicate: Probability,
    /// The share of packets in which one bit, chosen at random, arrives wrong.
    #[serde(default = "never")]
    pub corrupt: Probability,
    /// Parallel routes. They replace all fields above but `up`, and the mean of `delay`, which
    /// routing takes as the cost of the link.
    #[serde(default)]
    pub bundle: Option<Box<BundleModel>>,
    /// How the host at its near end spaces what it sends, before it comes here.
    #[serde(default)]
    pub pacing: Option<Box<Pacing>>,
}

const fn never() -> Probability {
    Probability::ZERO
}

checked_when_read!(Direction);

/// A wire that passes everything on at once.
impl Default for Direction {
    fn default() -> Self {
        LinkModel::default().into()
    }
}

impl From<LinkModel> for Direction {
    /// A direction without parallel routes and pacing.
    fn from(model: LinkModel) -> Self {
        Direction {
            up: model.up,
            loss: model.loss,
            loss_position: model.loss_position,
            queue: model.queue,
            rate: model.rate,
            framing: model.framing,
            delay: model.delay,
            reorder: model.reorder,
            reordering: model.reordering,
            duplicate: model.duplicate,
            corrupt: model.corrupt,
            bundle: None,
            pacing: None,
        }
    }
}

impl Direction {
    /// The model of the link, if there are no parallel routes.
    pub fn link_model(&self) -> LinkModel {
        LinkModel {
            up: self.up,
            loss: self.loss.clone(),
            loss_position: self.loss_position,
            queue: self.queue.clone(),
            rate: self.rate.clone(),
            framing: self.framing,
            delay: self.delay.clone(),
            reorder: self.reorder,
            reordering: self.reordering,
            duplicate: self.duplicate,
            corrupt: self.corrupt,
        }
    }

    /// The delay's mean, which routing takes as the cost of the link.
    pub fn mean_delay(&self) -> Span {
        self.delay.mean()
    }

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
