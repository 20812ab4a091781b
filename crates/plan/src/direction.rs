use crate::{Bundle, DelayModel, Framing, LossModel, Pacing, PacingChange, Queue, RateModel, ReorderModel};
use longhaul_units::Probability;
use serde::{Deserialize, Serialize};

/// The model of one direction of a link, or of one of its routes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Direction {
    /// Whether it carries anything.
    pub up: bool,
    /// What is lost.
    pub loss: LossModel,
    /// Where it is lost.
    #[serde(default)]
    pub loss_position: LossPosition,
    /// What may wait.
    pub queue: Queue,
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
    pub duplicate: f64,
    /// The share of packets in which one bit, chosen at random, arrives wrong.
    #[serde(default)]
    pub corrupt: f64,
    /// Parallel routes; then the fields above hold for nothing but `up` and the mean of `delay`, which
    /// routing takes as the cost of the link.
    #[serde(default)]
    pub bundle: Option<Box<Bundle>>,
    /// How the host at its near end spaces what it sends, before it comes here.
    #[serde(default)]
    pub pacing: Option<Box<Pacing>>,
}

/// A wire that passes everything on at once, and nothing else.
impl Default for Direction {
    fn default() -> Self {
        Direction {
            up: true,
            loss: LossModel::None {},
            loss_position: LossPosition::default(),
            queue: Queue::default(),
            rate: RateModel::Unlimited {},
            framing: Framing::default(),
            delay: DelayModel::Constant { delay_ns: 0 },
            reorder: false,
            reordering: None,
            duplicate: 0.0,
            corrupt: 0.0,
            bundle: None,
            pacing: None,
        }
    }
}

/// Where packets are lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossPosition {
    /// Before the queue: lost packets take no room and no time.
    #[default]
    Ingress,
    /// After the serialiser: lost packets have taken both.
    Egress,
}

/// What becomes different in a direction; what is `None` stays.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Change {
    /// Up or down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up: Option<bool>,
    /// A new loss model, in its initial state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossModel>,
    /// New limits and a new discipline; what waits already stays, in its order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<Queue>,
    /// A new rate, from the next packet on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<RateModel>,
    /// A new delay, for packets that enter the wire from now on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<DelayModel>,
    /// Whether packets may overtake, from now on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reorder: Option<bool>,
    /// A new share of duplicates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicate: Option<f64>,
    /// A new share of packets with a wrong bit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrupt: Option<f64>,
    /// A new loss position; only together with a new loss model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_position: Option<LossPosition>,
    /// New framing, for packets whose first bit leaves from now on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub framing: Option<Framing>,
    /// A new reordering model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reordering: Option<ReorderModel>,
    /// Another span within which segments of a super-packet leave together, where the direction ends at a
    /// host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coalesce_ns: Option<u64>,
    /// New pacing models of classes of the host.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pacing: Vec<PacingChange>,
}

impl Direction {
    /// The delay's mean, which routing takes as the cost of the link.
    pub fn mean_delay_ns(&self) -> u64 {
        self.delay.mean_ns()
    }

    /// The first thing that is wrong, named from `loss`, `rate` ... on.
    pub fn check(&self) -> Result<(), String> {
        Change {
            loss: Some(self.loss.clone()),
            queue: Some(self.queue.clone()),
            rate: Some(self.rate.clone()),
            delay: Some(self.delay.clone()),
            duplicate: Some(self.duplicate),
            corrupt: Some(self.corrupt),
            framing: Some(self.framing),
            reordering: self.reordering.clone(),
            ..Change::default()
        }
        .check()?;
        if let Some(bundle) = &self.bundle {
            bundle.check().map_err(|error| format!("bundle.{error}"))?;
        }
        Ok(())
    }
}

impl Change {
    /// Whether it changes the link itself.
    pub fn is_of_the_link(&self) -> bool {
        *self != Change { pacing: self.pacing.clone(), ..Change::default() }
    }

    /// The first thing that is wrong, named from `loss`, `rate` ... on.
    pub fn check(&self) -> Result<(), String> {
        let at = |place: &str, result: Result<(), String>| result.map_err(|error| format!("{place}.{error}"));
        at("loss", self.loss.as_ref().map_or(Ok(()), LossModel::check))?;
        at("queue", self.queue.as_ref().map_or(Ok(()), Queue::check))?;
        at("rate", self.rate.as_ref().map_or(Ok(()), RateModel::check))?;
        at("delay", self.delay.as_ref().map_or(Ok(()), DelayModel::check))?;
        at("framing", self.framing.as_ref().map_or(Ok(()), Framing::check))?;
        if let Some(model) = &self.reordering {
            at("reordering", model.check(self.delay.as_ref().map_or(0, DelayModel::mean_ns)))?;
        }
        if self.loss_position.is_some() && self.loss.is_none() {
            return Err("loss_position: can only change together with loss".into());
        }
        for (position, each) in self.pacing.iter().enumerate() {
            each.law.check().map_err(|error| format!("pacing[{position}].law.{error}"))?;
        }
        for (name, share) in [("duplicate", self.duplicate), ("corrupt", self.corrupt)] {
            if share.is_some_and(|share| Probability::new(share).is_none()) {
                return Err(format!("{name}: must lie between 0 and 1"));
            }
        }
        Ok(())
    }
}
