//! What is due, in order of time: packets, changes, and the turns of simulated ends.

use super::Engine;
use super::control::Reply;
use crate::error::{Error, Result};
use longhaul_endpoints::Endpoints;
use longhaul_network::Network;
use longhaul_plan::Plan;
use longhaul_units::{Span, Time};

/// How often the memory of closed simulated connections is given back.
pub const BURIALS: Span = Span::from_s(1);
/// Steps between two looks at the clock.
const GLANCE: u32 = 32;
/// Steps before somebody else has their turn.
const STEPS: u32 = 2_048;
/// While no real packet is in the network, nobody sees when simulated ones are looked after: it is done
/// this often, for all of them together, or when a host sends.
const SLACK: Span = Span::from_us(100);
/// The end of a run that has none, for flows that have none either: 100 days.
const FOREVER_NS: u64 = 100 * 86_400 * 1_000_000_000;

/// The simulated ends of `plan`.
pub fn endpoints(plan: &Plan, network: &Network) -> Result<Endpoints> {
    let duration_ns = plan.duration_ns.or(Some(FOREVER_NS));
    Endpoints::new(&Plan { duration_ns, ..plan.clone() }, network, |flow| flow.simulated).map_err(Error::new)
}

impl Engine<'_> {
    /// The next instant at which something is to be done, and whether that must not be later.
    pub(super) fn next_due(&self) -> (Time, bool) {
        let (network, endpoints) = (self.network.next_event(), self.endpoints.next_event());
        let other = self.next_change_at().min(self.next_sample);
        if self.endpoints.is_empty() || self.outlet.real_packets > 0 {
            return (network.min(endpoints).min(other), true);
        }
        let simulated = network.min(endpoints).max(self.advanced + SLACK);
        if simulated < other { (simulated, false) } else { (other, true) }
    }

    /// Does everything that is due until `now`, each at its own time.
    pub(super) fn advance(&mut self, now: Time) {
        while !self.catch_up(now) {}
    }

    /// The same, but no more than a turn may hold; false if some of it is left.
    ///
    /// Simulated ends are served after each step of the network, so that being late changes nothing.
    pub(super) fn catch_up(&mut self, now: Time) -> bool {
        if self.endpoints.is_empty() {
            self.advance_packets(now);
            return true;
        }
        for step in 0..STEPS {
            let (network, timer) = (self.network.next_event(), self.endpoints.next_event());
            let change = self.next_change_at();
            let next = network.min(timer).min(change);
            if next > now {
                self.advanced = now;
                return true;
            }
            while next > self.next_burial {
                self.endpoints.reap();
                self.next_burial += BURIALS;
            }
            if step % GLANCE == 0 {
                self.glance = self.clock.now();
                self.idle.watch(self.glance.ns());
            }
            self.advanced = next;
            let Engine { network: net, endpoints, outlet, .. } = self;
            // The order of ties is the simulator's.
            let has_acted = if change <= next {
                self.make_next_change();
                false
            } else if network <= next {
                net.advance(next, outlet);
                outlet.flush();
                endpoints.deliver_arrivals(next, net, outlet)
            } else {
                endpoints.expire(next, net, outlet)
            };
            if has_acted {
                self.turns_late.add(self.glance.since(next).ns(), 1);
            }
        }
        false
    }

    /// Whether what comes in now meets simulated packets where they are now.
    pub(super) fn has_caught_up(&mut self) -> bool {
        self.endpoints.is_empty() || {
            let now = self.clock.now();
            self.catch_up(now)
        }
    }

    /// Tells the supervisor, once, when no simulated end keeps the run from ending.
    pub(super) fn tell_done(&mut self) -> Result<()> {
        if self.told_done || self.endpoints.is_empty() || !self.endpoints.are_done() {
            return Ok(());
        }
        self.told_done = true;
        self.control.reply(&Reply::Done {})
    }

    fn advance_packets(&mut self, now: Time) {
        loop {
            let change = self.next_change_at();
            if change > now {
                break;
            }
            self.make_next_change();
        }
        self.advanced = now;
        if self.network.next_event() <= now {
            self.network.advance(now, &mut self.outlet);
            self.outlet.flush();
        }
    }

    fn next_change_at(&self) -> Time {
        self.plan.events.get(self.next_change).map_or(Time::NEVER, |event| Time::from_ns(event.at_ns))
    }

    fn make_next_change(&mut self) {
        let event = &self.plan.events[self.next_change];
        self.next_change += 1;
        self.change(std::slice::from_ref(event));
    }
}
