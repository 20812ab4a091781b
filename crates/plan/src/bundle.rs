use crate::Direction;
use serde::{Deserialize, Serialize};

/// Parallel routes that are one link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bundle {
    /// Which route a packet takes.
    pub policy: Policy,
    /// The routes, 2 to 64, each with its own link model and no routes inside.
    pub routes: Vec<Direction>,
    /// Whether the far end puts packets back into order.
    pub resequence: Option<Resequence>,
}

/// Which route a packet takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "law", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Policy {
    /// The same for all packets of a flow, by a hash that depends on the seed.
    FlowHash {
        /// What makes a flow.
        key: FlowKey,
    },
    /// One after another, packet by packet.
    RoundRobin,
    /// By VLAN tags 8 to 15, given in turn, and shared out in blocks of neighbours: with 2 routes 4
    /// packets go one way, then 4 the other; with 8 routes it is round robin.
    VlanBlock,
    /// Packet by packet, in proportion to weights, as evenly as possible.
    Weighted {
        /// One for each route; not all 0.
        weights: Vec<u32>,
    },
    /// The route with the fewest bytes waiting, the first of equals.
    LeastQueued,
    /// A flow that was silent for so long may go another way: to the route with the fewest bytes
    /// waiting.
    Flowlet {
        /// That silence.
        gap_ns: u64,
    },
}

/// What makes a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlowKey {
    /// Source and destination host.
    Hosts,
    /// Hosts, protocol and ports.
    Flow,
}

/// Putting packets back into order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resequence {
    /// How long a packet waits for those that were sent before it.
    pub wait_ns: u64,
    /// How many bytes may wait; the one that is next in order goes when there are more.
    pub limit_bytes: u64,
}

impl Bundle {
    /// The first thing that is wrong, named by its field.
    pub fn check(&self) -> Result<(), String> {
        if !(2..=64).contains(&self.routes.len()) {
            return Err("routes: there must be 2 to 64".into());
        }
        for (position, route) in self.routes.iter().enumerate() {
            if route.bundle.is_some() {
                return Err(format!("routes[{position}].bundle: a route has no routes inside"));
            }
            route.check().map_err(|error| format!("routes[{position}].{error}"))?;
        }
        match &self.policy {
            Policy::Weighted { weights } if weights.len() != self.routes.len() => {
                Err("policy.weights: must be as many as routes".into())
            }
            Policy::Weighted { weights } if weights.iter().all(|&weight| weight == 0) => {
                Err("policy.weights: must not all be 0".into())
            }
            Policy::VlanBlock if 8 % self.routes.len() != 0 => {
                Err("policy: VLAN blocks need 2, 4 or 8 routes".into())
            }
            _ => Ok(()),
        }
    }
}
