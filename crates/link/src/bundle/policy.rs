use crate::queue::bucket;
use longhaul_units::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which route a packet takes. Routes that are down are passed over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Policy {
    /// The same for all packets of a flow, by a hash that depends on the seed.
    FlowHash {
        /// The fields that identify a flow.
        key: FlowKey,
    },
    /// One after another, packet by packet.
    RoundRobin,
    /// Tags 8 to 15 are given in turn, and routes have blocks of neighbouring tags: of two routes each
    /// takes four packets at a time. Routes must divide 8.
    VlanBlock,
    /// Packet by packet in proportion to weights, as evenly as possible; not all may be 0.
    Weighted {
        /// One for each route.
        weights: Vec<u32>,
    },
    /// The route with the fewest bytes waiting, the first of equals.
    LeastQueued,
    /// A flow that was silent for so long may go another way: where the fewest bytes wait.
    Flowlet {
        /// That silence.
        #[serde(rename = "gap_ns")]
        gap: Span,
    },
}

/// The fields that identify a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlowKey {
    /// Source and destination host.
    Hosts,
    /// Hosts, protocol and ports.
    Flow,
}

const TAGS: u64 = 8;
const FLOWLETS: usize = 4096;

/// A policy at work.
#[derive(Debug)]
pub(crate) struct Chooser {
    policy: Policy,
    key: u64,
    turn: u64,
    /// Of weighted turns: what each route has saved up.
    credit: Vec<i64>,
    /// Of flowlets, by the flow's hash: when its last packet came, and its route.
    flowlets: Vec<Option<(Time, usize)>>,
}

impl Chooser {
    pub(crate) fn new(policy: Policy, routes: usize, key: u64) -> Self {
        let table = if matches!(policy, Policy::Flowlet { .. }) { FLOWLETS } else { 0 };
        Chooser { policy, key, turn: 0, credit: vec![0; routes], flowlets: vec![None; table] }
    }

    /// The route of a packet; `None` if all are down. `waiting` tells the bytes that wait at a route.
    pub(crate) fn choose(
        &mut self,
        now: Time,
        flow: u64,
        hosts: u64,
        up: &[bool],
        waiting: impl Fn(usize) -> u64,
    ) -> Option<usize> {
        let shortest = || (0..up.len()).filter(|&route| up[route]).min_by_key(|&route| waiting(route));
        match &self.policy {
            Policy::FlowHash { key } => {
                let hash = if *key == FlowKey::Hosts { hosts } else { flow };
                let alive = up.iter().filter(|&&up| up).count();
                (0..up.len()).filter(|&route| up[route]).nth(bucket(hash, self.key, alive))
            }
            Policy::RoundRobin => {
                let route = next_up(up, self.turn as usize % up.len())?;
                self.turn = route as u64 + 1;
                Some(route)
            }
            Policy::VlanBlock => {
                let tag = self.turn % TAGS;
                self.turn += 1;
                next_up(up, tag as usize * up.len() / TAGS as usize)
            }
            Policy::Weighted { weights } => {
                let mut total = 0;
                let mut best: Option<usize> = None;
                for route in (0..up.len()).filter(|&route| up[route]) {
                    self.credit[route] += i64::from(weights[route]);
                    total += i64::from(weights[route]);
                    if weights[route] > 0 && best.is_none_or(|best| self.credit[route] > self.credit[best]) {
                        best = Some(route);
                    }
                }
                self.credit[best?] -= total;
                best
            }
            Policy::LeastQueued => shortest(),
            Policy::Flowlet { gap } => {
                let slot = bucket(flow, self.key, FLOWLETS);
                let stays = self.flowlets[slot]
                    .filter(|&(last, route)| now.since(last) < *gap && up[route])
                    .map(|(_, route)| route);
                let route = stays.or_else(shortest)?;
                self.flowlets[slot] = Some((now, route));
                Some(route)
            }
        }
    }
}

/// The first route from `start` on, around, that is up.
fn next_up(up: &[bool], start: usize) -> Option<usize> {
    (0..up.len()).map(|step| (start + step) % up.len()).find(|&route| up[route])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(policy: Policy, up: &[bool], count: usize) -> Vec<usize> {
        let mut chooser = Chooser::new(policy, up.len(), 7);
        (0..count).filter_map(|_| chooser.choose(Time::ZERO, 1, 2, up, |_| 0)).collect()
    }

    #[test]
    fn round_robin_alternates_and_passes_over_what_is_down() {
        assert_eq!(turns(Policy::RoundRobin, &[true; 3], 5), [0, 1, 2, 0, 1]);
        assert_eq!(turns(Policy::RoundRobin, &[true, false, true], 4), [0, 2, 0, 2]);
        assert!(turns(Policy::RoundRobin, &[false; 2], 4).is_empty());
    }

    #[test]
    fn vlan_tags_8_to_15_go_in_blocks() {
        assert_eq!(turns(Policy::VlanBlock, &[true; 2], 9), [0, 0, 0, 0, 1, 1, 1, 1, 0]);
        assert_eq!(turns(Policy::VlanBlock, &[true; 4], 9), [0, 0, 1, 1, 2, 2, 3, 3, 0]);
        assert_eq!(turns(Policy::VlanBlock, &[true; 8], 9), [0, 1, 2, 3, 4, 5, 6, 7, 0]);
    }

    #[test]
    fn weights_are_met_exactly_and_evenly() {
        let got = turns(Policy::Weighted { weights: vec![5, 1, 1] }, &[true; 3], 14);
        assert_eq!(got, [0, 0, 1, 0, 2, 0, 0, 0, 0, 1, 0, 2, 0, 0]);
        assert_eq!(turns(Policy::Weighted { weights: vec![0, 1] }, &[true; 2], 3), [1, 1, 1]);
    }

    #[test]
    fn a_flow_stays_and_flows_spread_evenly() {
        const FLOWS: u64 = if cfg!(miri) { 200 } else { 4000 };
        let mut chooser = Chooser::new(Policy::FlowHash { key: FlowKey::Flow }, 4, 99);
        let mut hits = [0u32; 4];
        for flow in 0..FLOWS {
            let route = chooser.choose(Time::ZERO, flow, 0, &[true; 4], |_| 0).unwrap();
            assert_eq!(chooser.choose(Time::ZERO, flow, 0, &[true; 4], |_| 0), Some(route));
            hits[route] += 1;
        }
        // Binomial(4000, 1/4): 1000, standard deviation 27.4.
        let sd = (FLOWS as f64 * 3.0 / 16.0).sqrt();
        assert!(hits.iter().all(|&hit| (f64::from(hit) - FLOWS as f64 / 4.0).abs() < 4.5 * sd), "{hits:?}");
    }

    #[test]
    fn a_flowlet_moves_after_a_silence_only() {
        let mut chooser = Chooser::new(Policy::Flowlet { gap: Span::from_us(500) }, 2, 1);
        let mut at = |us: u64, queued: [u64; 2]| {
            chooser.choose(Time::from_ns(us * 1000), 5, 0, &[true; 2], |route| queued[route]).unwrap()
        };
        assert_eq!(at(0, [0, 0]), 0);
        assert_eq!(at(400, [9, 0]), 0);
        assert_eq!(at(800, [9, 0]), 0);
        assert_eq!(at(1300, [9, 0]), 1);
    }
}
