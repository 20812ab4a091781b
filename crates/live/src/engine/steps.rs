//! What is due, in order of time: packets, changes, and the turns of simulated ends.

use super::egress::Egress;
use super::emulator::Emulator;
use super::horizons::Horizons;
use super::joint_flows::OtherEnds;
use super::ports::Ports;
use crate::error::{Error, Result};
use longhaul_endpoints::{Endpoints, PayloadPool};
use longhaul_network::journal::Entry;
use longhaul_network::{DirectionId, Network, Packet, icmp};
use longhaul_plan::{Flow, Plan, Traffic};
use longhaul_units::{Span, Time};

/// Interval between two reapings of closed simulated connections.
pub const REAP_INTERVAL: Span = Span::from_s(1);
/// Steps between two readings of the clock.
const STEPS_PER_CLOCK_READ: u32 = 32;
/// Most steps of one turn, before ports and commands are read.
const STEPS_PER_TURN: u32 = 2_048;
/// While no real packet is in the network, the wall-clock time of simulated events has no effect: they are
/// processed in batches at this interval, or when a host sends.
const BATCHING_INTERVAL: Span = Span::from_us(100);
/// An engine with simulated ends that is later than this reads what other machines have sent before it goes on.
const UNREAD_INTERVAL: Span = Span::from_us(20);
/// How long an engine sleeps that waits for another one of its process.
pub const BLOCKED_SLEEP: std::time::Duration = std::time::Duration::from_micros(20);
/// Duration of unbounded flows in a run without duration: 100 days.
const UNBOUNDED_DURATION_NS: u64 = 100 * 86_400 * 1_000_000_000;

/// Whether the engine sends the packets of a flow: those that are simulated, and those of captures.
pub fn is_of_engine(flow: &Flow) -> bool {
    flow.simulated || matches!(flow.traffic, Traffic::Pcap { .. })
}

/// The endpoints of `plan` that the engine has itself.
pub fn endpoints(plan: &Plan, network: &Network) -> Result<Endpoints> {
    let duration_ns = plan.duration_ns.or(Some(UNBOUNDED_DURATION_NS));
    Endpoints::new(&Plan { duration_ns, ..plan.clone() }, network, is_of_engine).map_err(Error::from)
}

impl<P: Ports> Emulator<'_, P> {
    /// The time of the next event, and whether it must be processed precisely then.
    pub fn next_due(&self) -> (Time, bool) {
        let (network, endpoints) = (self.network.next_event(), self.endpoints.next_event());
        let other = self.next_change_at().min(self.next_sample).min(self.network.next_departure());
        let has_real = self.egress.real_packets > 0 || self.endpoints.sends_real_packets();
        if self.endpoints.is_empty() || has_real {
            return (network.min(endpoints).min(other), true);
        }
        let turn = self.horizons.as_ref().map_or(BATCHING_INTERVAL, Horizons::turn);
        let simulated = network.min(endpoints).max(self.advanced + BATCHING_INTERVAL.min(turn));
        if simulated < other { (simulated, false) } else { (other, true) }
    }

    /// Processes all events that are due until `now`, each at its own time.
    pub fn advance(&mut self, now: Time) {
        while !self.catch_up(now) {
            self.publish();
            if self.is_blocked(now) {
                std::thread::sleep(BLOCKED_SLEEP);
            }
        }
    }

    /// Whether other engines of this process have to send something before events until now can be processed.
    pub fn is_blocked(&self, now: Time) -> bool {
        self.horizon <= now
    }

    /// When the time of this engine is next to be published, for others in this process.
    pub fn next_publication(&self) -> Time {
        self.horizons.as_ref().map_or(Time::NEVER, Horizons::next_turn)
    }

    /// Sends what has left so far, and tells other engines of this process until when that is.
    pub fn publish(&mut self) {
        if let (Some(horizons), Some(tunnel)) = (&mut self.horizons, &mut self.egress.tunnel) {
            tunnel.flush();
            horizons.publish(self.advanced);
        }
    }

    /// Takes what other engines have sent if it may be needed for events until now.
    fn read_others(&mut self, now: Time) {
        match &self.horizons {
            Some(horizons) if self.horizon <= now => {
                // What is due before the limit was sent before the limit was published.
                let limit = horizons.limit();
                self.receive_from_machines(now);
                self.horizon = limit;
            }
            // What waits to be read is not late for events that have not been handled.
            None if now > self.advanced + UNREAD_INTERVAL => self.receive_from_machines(now),
            _ => {}
        }
    }

    /// The same, for at most [`STEPS_PER_TURN`] steps; false if due events are left.
    ///
    /// Simulated endpoints run after each step of the network, so that lateness changes no result.
    pub fn catch_up(&mut self, now: Time) -> bool {
        if self.endpoints.is_empty() {
            self.advance_packets(now);
            return true;
        }
        self.read_others(now);
        let has_handled_all = self.handle_events(now.min(self.last_before_horizon()));
        if self.egress.tunnel.is_some() {
            if has_handled_all {
                self.network.announce_departures_by(self.advanced, &mut self.egress);
            } else {
                self.network.announce_departures(self.advanced, &mut self.egress);
            }
        }
        has_handled_all && !self.is_blocked(now)
    }

    /// The last instant whose events can be processed before other engines of this process send more.
    fn last_before_horizon(&self) -> Time {
        if self.horizons.is_some() { Time::from_ps(self.horizon.ps().saturating_sub(1)) } else { Time::NEVER }
    }

    /// Processes events until `last`, at most [`STEPS_PER_TURN`]; false if there are more.
    fn handle_events(&mut self, last: Time) -> bool {
        for step in 0..STEPS_PER_TURN {
            let (network, timer) = (self.network.next_event(), self.endpoints.next_event());
            let change = self.next_change_at();
            let next = network.min(timer).min(change);
            if next > last {
                self.advanced = self.advanced.max(last);
                return true;
            }
            while next > self.next_reap {
                match &self.other_ends {
                    OtherEnds::OnThreads(joint) => self.endpoints.reap_own(&joint.closed),
                    OtherEnds::OnMachines => self.endpoints.reap_on_machine(self.next_reap),
                    OtherEnds::None => self.endpoints.reap(),
                }
                self.next_reap += REAP_INTERVAL;
            }
            if step % STEPS_PER_CLOCK_READ == 0 {
                self.last_endpoint_poll = self.egress.outside.now();
                self.egress.stalls.work(self.last_endpoint_poll.ns());
            }
            self.advanced = next;
            let Emulator { network: net, endpoints, egress, .. } = self;
            // Ties have the same order as in the simulator.
            let endpoint_ran = if change <= next {
                self.apply_next_change();
                false
            } else if network <= next {
                net.advance(next, egress);
                egress.flush();
                endpoints.deliver_arrivals(next, net, egress)
            } else {
                let ran = endpoints.expire(next, net, egress);
                // Packets of captures are handed over even where no link takes time.
                egress.flush();
                ran
            };
            if endpoint_ran {
                self.endpoint_lateness.add(self.last_endpoint_poll.since(next).ns(), 1);
            }
        }
        false
    }

    /// Whether all simulated events until now are processed, so that an arrival meets the current queues.
    pub fn has_caught_up(&mut self) -> bool {
        self.endpoints.is_empty() || {
            let now = self.egress.outside.now();
            self.catch_up(now)
        }
    }

    fn advance_packets(&mut self, now: Time) {
        loop {
            let change = self.next_change_at();
            if change > now {
                break;
            }
            self.apply_next_change();
        }
        self.advanced = now;
        if self.network.next_event() <= now {
            self.network.advance(now, &mut self.egress);
            self.egress.flush();
        }
        self.network.announce_departures_by(now, &mut self.egress);
    }

    /// Takes what other machines, or other engines of this process, have sent; everything before `now` has been processed. With
    /// simulated ends it need not have been: packets are late that are due before what has been processed, however late that was.
    pub fn receive_from_machines(&mut self, now: Time) {
        let simulates = self.has_endpoints();
        let now = if simulates { self.advanced } else { now };
        let agents = self.endpoints.agents();
        let Some(mut tunnel) = self.egress.tunnel.take() else { return };
        let mut arrived = std::mem::take(&mut self.arrived);
        let Egress { packet_pool, payloads, replays, ports, .. } = &mut self.egress;
        let bridges = &mut self.bridges;
        tunnel.receive(|arriving, sender| {
            let mut simulated = || payloads.decode(arriving.simulated, agents);
            let body = match arriving.bytes {
                Some((vnet, bytes)) if !arriving.link_header.is_empty() => {
                    bridges.learn_elsewhere(now, arriving.packet.source.0 as usize, arriving.link_header);
                    packet_pool.hold_frame(vnet, arriving.link_header, bytes)
                }
                Some((vnet, bytes)) => packet_pool.hold(vnet, bytes).inspect(|&body| {
                    if let Some(simulated_body) = simulated() {
                        packet_pool.set_simulated_body(body, simulated_body);
                        replays.in_network += 1;
                    }
                }),
                None => simulated(),
            };
            if let Some(body) = body {
                let packet = Packet { body, ..arriving.packet };
                arrived.push((arriving.direction, sender, arriving.due, packet));
            } else if let Some(port) = ports.get_mut(arriving.packet.destination.0 as usize) {
                // As for a packet of a host: nothing is left to hold it.
                port.no_memory_packets += 1;
            }
        });
        for (_, sender, due, packet) in &mut arrived {
            let own_due = tunnel.own_time(*sender, *due).unwrap_or(now);
            tunnel.count_arrival(*sender, now, own_due);
            self.egress.convert_departure(packet, own_due.ps().wrapping_sub(due.ps()).cast_signed());
            *due = own_due;
        }
        self.egress.tunnel = Some(tunnel);
        for (direction, _, due, packet) in arrived.drain(..) {
            self.import(now, direction, due, packet);
        }
        self.arrived = arrived;
        if !simulates {
            self.advance_packets(now);
        }
    }

    /// Takes a packet that comes from another machine, and is due at `due`, or at once if that has passed.
    fn import(&mut self, now: Time, direction: DirectionId, due: Time, packet: Packet) {
        if self.network.next_event() <= now {
            // One that came late goes on before the next comes, as in a replay.
            if self.has_endpoints() {
                self.handle_events(now);
            } else {
                self.advance_packets(now);
            }
        }
        let Egress { flows, packet_pool, real_packets, recorder, .. } = &mut self.egress;
        if !PayloadPool::contains(&packet) {
            *real_packets += 1;
            let bytes = packet_pool.packet(packet.body);
            if let Some(header) = icmp::parse(bytes) {
                flows.import(packet.source, &header, bytes);
            }
        }
        let is_over = self.has_ended && !self.endpoints.is_empty();
        let due = due.max(if is_over { now + Span::from_ps(1) } else { now });
        recorder.note(|| Entry::Imported { at: now, direction, due, packet });
        self.network.import(direction, &mut [(due, packet)]);
    }

    pub(super) fn next_change_at(&self) -> Time {
        self.next_planned_change_at().min(self.next_requested_change_at())
    }

    fn next_planned_change_at(&self) -> Time {
        self.plan.events.get(self.next_change).map_or(Time::NEVER, |event| Time::from_ns(event.at_ns))
    }

    fn next_requested_change_at(&self) -> Time {
        self.requested.front().map_or(Time::NEVER, |events| Time::from_ns(events[0].at_ns))
    }

    fn apply_next_change(&mut self) {
        if self.next_requested_change_at() < self.next_planned_change_at()
            && let Some(events) = self.requested.pop_front()
        {
            return self.change(&events);
        }
        let event = &self.plan.events[self.next_change];
        self.next_change += 1;
        self.change(std::slice::from_ref(event));
    }
}
