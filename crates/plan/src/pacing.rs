use crate::Framing;
use serde::{Deserialize, Serialize};

/// Most classes of a host.
pub const MOST_PACING_CLASSES: usize = 4_096;

/// How a host spaces what it sends, before it comes to the link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pacing {
    /// The rate of the host's card in bit/s, at which every packet leaves; at least 1.
    pub line_bits_per_s: u64,
    /// What a packet occupies the card for.
    #[serde(default)]
    pub line_framing: Framing,
    /// What the rates of classes count.
    #[serde(default)]
    pub class_framing: Framing,
    /// At least one.
    pub classes: Vec<PacingClass>,
    /// The class of what no rule matches, by position.
    pub default: usize,
    /// Who belongs to which class: the first that matches.
    #[serde(default)]
    pub rules: Vec<PacingRule>,
}

/// Packets that leave by one clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PacingClass {
    /// Its name, unique in its host.
    pub name: String,
    /// When its packets may leave.
    pub law: PacingModel,
    /// Packets that may wait; `None`: any number.
    #[serde(default)]
    pub limit_packets: Option<u64>,
    /// IP bytes that may wait; `None`: any number.
    #[serde(default)]
    pub limit_bytes: Option<u64>,
}

/// When the packets of a class may leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "law", rename_all = "kebab-case", deny_unknown_fields)]
pub enum PacingModel {
    /// When no other class may.
    Normal {},
    /// By the byte clock of a rate.
    Paced {
        /// In bit/s; at least 1.
        bits_per_s: u64,
    },
    /// When a bucket has tokens for all of the packet.
    TokenBucket {
        /// How fast it fills, in bit/s; at least 1.
        bits_per_s: u64,
        /// How many bytes it holds. Larger packets are never sent: the class drops them.
        burst_bytes: u64,
        /// How fast packets leave that have their tokens, in bit/s; `None`: at the card's rate.
        peak_bits_per_s: Option<u64>,
    },
}

/// Which packets belong to a class: those for which all holds that is said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PacingRule {
    /// Position of the class, or of the first of `flows` classes.
    pub class: usize,
    /// Each flow has a class of its own, and so many have: the classes from `class` on. A flow that finds
    /// none that is idle goes on to the next rule. 0: all share `class`.
    pub flows: usize,
    /// Destinations, by position among the nodes; none: any.
    pub destinations: Vec<usize>,
    /// Ranges of ports, ends included, one of which the source or the destination port is in; none: any.
    pub ports: Vec<(u16, u16)>,
    /// The number of the protocol, as in the IP header.
    pub protocol: Option<u8>,
    /// The differentiated services code point.
    pub dscp: Option<u8>,
    /// Simulated flows, by position in the plan, or jobs, there and back; none: any packet.
    pub senders: Vec<Sender>,
}

/// Whose a simulated packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sender {
    /// The flow at this position of the plan.
    Flow(u32),
    /// The job at this position of the plan.
    Job(u32),
}

/// Gives a class of a host another pacing model; queued packets stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PacingChange {
    /// Position of the class.
    pub class: usize,
    /// The new pacing model.
    pub law: PacingModel,
}

impl PacingModel {
    /// What it lets through over a long time; `None`: what others leave.
    pub fn bits_per_s(&self) -> Option<u64> {
        match *self {
            PacingModel::Normal {} => None,
            PacingModel::Paced { bits_per_s } | PacingModel::TokenBucket { bits_per_s, .. } => {
                Some(bits_per_s)
            }
        }
    }

    /// The first thing that is wrong, named by its field.
    pub fn check(&self) -> Result<(), String> {
        match *self {
            PacingModel::Paced { bits_per_s: 0 } | PacingModel::TokenBucket { bits_per_s: 0, .. } => {
                Err("bits_per_s: must be positive".into())
            }
            PacingModel::TokenBucket { burst_bytes: 0, .. } => Err("burst_bytes: must be positive".into()),
            PacingModel::TokenBucket { bits_per_s, peak_bits_per_s: Some(peak), .. } if peak < bits_per_s => {
                Err("peak_bits_per_s: must be at least the rate".into())
            }
            _ => Ok(()),
        }
    }
}

impl Pacing {
    /// What the classes may send together.
    pub fn promised_bits_per_s(&self) -> u128 {
        self.classes.iter().filter_map(|class| class.law.bits_per_s()).map(u128::from).sum()
    }

    /// Whether the line carries what the classes promise; the error has the figures.
    pub fn check_sum(&self) -> Result<(), String> {
        let (promised, line) = (self.promised_bits_per_s(), self.line_bits_per_s);
        if promised > u128::from(line) {
            return Err(format!("classes: promise {promised} bit/s of a line of {line} bit/s"));
        }
        Ok(())
    }

    /// The first thing that is wrong, named from `classes`, `rules` ... on; there are so many nodes.
    pub fn check(&self, nodes: usize) -> Result<(), String> {
        if self.line_bits_per_s == 0 {
            return Err("line_bits_per_s: must be positive".into());
        }
        self.line_framing.check().map_err(|error| format!("line_framing.{error}"))?;
        self.class_framing.check().map_err(|error| format!("class_framing.{error}"))?;
        let count = self.classes.len();
        if count > MOST_PACING_CLASSES {
            return Err(format!("classes: are {count}, more than {MOST_PACING_CLASSES}"));
        }
        for (position, class) in self.classes.iter().enumerate() {
            class.law.check().map_err(|error| format!("classes[{position}].law.{error}"))?;
        }
        self.check_sum()?;
        if self.default >= count {
            return Err(format!("default: there is no class {}", self.default));
        }
        for (position, rule) in self.rules.iter().enumerate() {
            if rule.class + rule.flows.max(1) > count {
                return Err(format!("rules[{position}].class: there are {count} classes"));
            }
            if let Some(node) = rule.destinations.iter().find(|&&node| node >= nodes) {
                return Err(format!("rules[{position}].destinations: there is no node {node}"));
            }
            if rule.dscp.is_some_and(|dscp| dscp > 63) {
                return Err(format!("rules[{position}].dscp: must be below 64"));
            }
        }
        Ok(())
    }
}
