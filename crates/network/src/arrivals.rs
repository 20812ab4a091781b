//! Packets that are known before they arrive at their hosts.
//!
//! A packet that has begun to leave its last link will arrive, and when is known: nothing that happens later
//! changes it. A controller of the hosts' clock may therefore announce such packets to the hosts in advance, and let
//! the hosts run on that long without asking the network again (the *lookahead* of conservative simulation: Chandy and
//! Misra, "Distributed Simulation", IEEE Trans. Softw. Eng. SE-5(5), 1979).

use crate::network::{Network, is_taken_by_host};
use crate::packet::{DirectionId, NodeId, Packet};
use longhaul_units::{Span, Time};

/// How far it is known what comes to the hosts.
#[derive(Debug)]
pub struct KnownArrivals {
    /// The directions that lead to hosts.
    last: Vec<DirectionId>,
    /// Of each direction: packets that are due before this have been announced. Zero where nothing is known in advance.
    known: Vec<Time>,
}

impl KnownArrivals {
    /// Nothing is known yet of `network`.
    pub fn new(network: &Network) -> Self {
        let leads_to_host = |direction: &DirectionId| {
            network.kinds[network.directions[direction.0 as usize].to.0 as usize].is_end()
        };
        let all = (0..network.directions.len() as u32).map(DirectionId);
        KnownArrivals {
            last: all.filter(leads_to_host).collect(),
            known: vec![Time::ZERO; network.directions.len()],
        }
    }

    /// Whether a packet that comes from this direction at `due` has been announced.
    #[inline]
    pub fn includes(&self, via: DirectionId, due: Time) -> bool {
        due < self.known[via.0 as usize]
    }
}

impl Network {
    /// How long before they are due all packets to hosts are known: the least delay of the hosts' last links; as
    /// long as no link is changed.
    pub fn lookahead(&self, known_arrivals: &KnownArrivals) -> Span {
        let delays = known_arrivals
            .last
            .iter()
            .map(|direction| self.directions[direction.0 as usize].link.least_delay());
        delays.min().unwrap_or(Span::ZERO)
    }

    /// Calls `each` for every packet that will come to its host before `before`, as known at `now`, and that it was not
    /// called for before; of each direction in order.
    ///
    /// To be called before the network is advanced to `now`, with nothing else to do before. If `before` is at most
    /// the [lookahead](Self::lookahead) after `now`, no other packet comes before it, but those from parallel routes and
    /// those that never leave their host.
    pub fn announce_arrivals(
        &mut self,
        now: Time,
        before: Time,
        known_arrivals: &mut KnownArrivals,
        mut each: impl FnMut(NodeId, &Packet, Time, DirectionId),
    ) {
        for &direction in &known_arrivals.last {
            let place = direction.0 as usize;
            let Network { directions, kinds, forwarding, routes, .. } = &mut *self;
            let (known, to) = (known_arrivals.known[place], directions[place].to);
            if before <= known || directions[place].link.least_delay() == Span::ZERO {
                continue;
            }
            known_arrivals.known[place] = before;
            directions[place].link.upcoming(now, before, |packet, due| {
                if due >= known && is_taken_by_host(kinds, forwarding, routes, to, packet) {
                    each(to, packet, due, direction);
                }
            });
            // A packet that was to leave may have been dropped instead.
            self.schedule(direction);
        }
    }
}
