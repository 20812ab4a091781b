//! The controller of the virtual clock: it lets the network and the hosts' kernels run, always to what happens next.
//!
//! All times of the kernels are nanoseconds since they booted; the network's begin at the run's zero.

use super::frames::{Frame, Nics, is_tcp, packet_of};
use super::hosts::Hosts;
use crate::engine::Emulator;
use crate::error::{Error, Result};
use crate::packet_pool::Arrival;
use longhaul_plan::Event;
use longhaul_units::{Span, Time};
use longhaul_virtual::{Digest, Digests, Port, Progress, Sent};
use std::time::Duration;

/// Before the run's zero, no packet reaches a host: kernels run this far at a time.
const LOOKAHEAD_BEFORE_ZERO_NS: u64 = 1_000_000;
/// Real time without a message of the running kernels after which [`TimeController::step`] returns.
const SILENCE: Duration = Duration::from_millis(200);

/// Hosts, their network, and the clock.
pub struct TimeController<'a> {
    pub emulator: Emulator<'a, Nics>,
    pub hosts: Box<dyn Hosts>,
    /// The nodes of each guest's cards, that of the host first; and of each node its guest and card.
    nodes: Vec<Vec<usize>>,
    card_of: Vec<Option<(usize, usize)>>,
    /// When the run's clock starts, once it is known.
    zero_ns: Option<u64>,
    /// All hosts have done what they do before this time.
    reached_ns: u64,
    /// The horizon that hosts still run to, if the last step ended without a message of theirs.
    unreached_ns: Option<u64>,
    /// Frames that hosts sent before zero, which enter the network at zero.
    frames_before_zero: Vec<Sent>,
    /// By the node of a host: whether it has sent TCP segments since this was reset.
    pub tcp_senders: Vec<bool>,
    /// Of all frames that hosts have sent and were given, and when.
    pub digests: Digests,
}

/// The result of a step.
pub enum Step {
    /// All hosts have reached the horizon. What they have written to their consoles, in order: time, node, bytes.
    Console(Vec<(u64, usize, Vec<u8>)>),
    /// These hosts, by number, still run, without a message for a while; the next step continues this one.
    Silent(Vec<usize>),
    /// All hosts wait for ever, and nothing is left in the network.
    Deadlock,
}

impl<'a> TimeController<'a> {
    /// At the beginning of time, with kernels whose cards are these nodes, of so many nodes in all.
    pub fn new(
        emulator: Emulator<'a, Nics>,
        hosts: Box<dyn Hosts>,
        nodes: Vec<Vec<usize>>,
        of: usize,
    ) -> Self {
        let mut card_of = vec![None; of];
        for (guest, cards) in nodes.iter().enumerate() {
            for (card, &node) in cards.iter().enumerate() {
                card_of[node] = Some((guest, card));
            }
        }
        let guest_count = nodes.len();
        TimeController {
            emulator,
            hosts,
            nodes,
            card_of,
            zero_ns: None,
            reached_ns: 0,
            unreached_ns: None,
            frames_before_zero: Vec::new(),
            tcp_senders: vec![false; of],
            digests: Digests::new(guest_count),
        }
    }

    /// Sets the zero of the run's clock, which has not been reached yet.
    pub fn start_at(&mut self, zero_ns: u64) {
        self.zero_ns = Some(zero_ns);
        self.emulator.enable_lookahead();
    }

    /// Now, on the kernels' clock.
    pub fn now_ns(&self) -> u64 {
        self.reached_ns
    }

    /// Nanoseconds since the run's zero; negative before it.
    pub fn since_zero(&self, at_ns: u64) -> i64 {
        at_ns as i64 - self.zero_ns.unwrap_or(at_ns) as i64
    }

    /// When something happens next, on the kernels' clock.
    pub fn next_ns(&self) -> u64 {
        let Some(zero_ns) = self.zero_ns else { return self.reached_ns };
        if self.hosts.is_any_busy() {
            return self.reached_ns;
        }
        let network =
            self.emulator.next_due().0.min(self.emulator.next_sample()).min(self.emulator.next_change());
        let network_ns = if network == Time::NEVER { u64::MAX } else { zero_ns.saturating_add(network.ns()) };
        self.hosts.next_ns().unwrap_or(u64::MAX).min(network_ns)
    }

    /// Whether hosts still run to their horizon: no time has been reached at which anything could be done.
    pub fn is_between_steps(&self) -> bool {
        self.unreached_ns.is_some()
    }

    /// Writes `bytes` to the console of a node's host, now.
    pub fn write_console(&mut self, node: usize, bytes: &[u8]) {
        if let Some((guest, _)) = self.card_of[node] {
            // The console takes no more at once than a page.
            for piece in bytes.chunks(2_048) {
                self.hosts.deliver(guest, self.reached_ns, Port::Console, piece);
            }
        }
    }

    /// Runs to what happens next, but not beyond `until_ns`.
    pub fn step(&mut self, until_ns: u64) -> Result<Step> {
        let horizon_ns = match self.unreached_ns {
            Some(horizon_ns) => horizon_ns,
            None => self.prepare(until_ns)?,
        };
        if horizon_ns == u64::MAX {
            return Ok(Step::Deadlock);
        }
        if self.hosts.run_until(horizon_ns, SILENCE)? == Progress::Silent {
            self.unreached_ns = Some(horizon_ns);
            return Ok(Step::Silent(self.hosts.busy()));
        }
        self.unreached_ns = None;
        self.reached_ns = horizon_ns;
        Ok(Step::Console(self.collect()?))
    }

    /// Gives the hosts what comes to them next; returns how far they may run.
    fn prepare(&mut self, until_ns: u64) -> Result<u64> {
        // A kernel that boots says when it wants to run only at the end of that.
        let is_booting = self.hosts.is_any_busy();
        let next_ns = if is_booting { Some(self.reached_ns) } else { self.hosts.next_ns() };
        let Some(zero_ns) = self.zero_ns.filter(|&zero_ns| self.reached_ns >= zero_ns) else {
            let limit_ns = self.zero_ns.map_or(until_ns, |zero_ns| zero_ns.min(until_ns));
            let Some(next_ns) = next_ns.filter(|&next_ns| next_ns < limit_ns) else {
                return Ok(limit_ns);
            };
            return Ok((next_ns + LOOKAHEAD_BEFORE_ZERO_NS).min(limit_ns));
        };
        self.inject_frames_before_zero()?;
        let end = Time::from_ns(until_ns.saturating_sub(zero_ns));
        let hosts = next_ns.map_or(Time::NEVER, |next_ns| Time::from_ns(next_ns.saturating_sub(zero_ns)));
        let now = hosts.min(self.emulator.next_due().0).min(self.emulator.next_sample()).min(end);
        if now == Time::NEVER {
            return Ok(u64::MAX);
        }
        if now >= end {
            // What happens at that instant comes after what the caller does then.
            return Ok(until_ns);
        }
        let mut before = (now + self.emulator.lookahead()).min(end);
        // What a change does is not known before it; a sample has nothing that comes after it.
        for event in [self.emulator.next_change(), self.emulator.next_sample()] {
            before = if event > now { before.min(event) } else { before };
        }
        // Hosts act at whole nanoseconds; at least those that act now may.
        let before = Time::from_ns(before.ns().max(now.ns() + 1));
        self.emulator.announce_arrivals(now, before);
        self.emulator.egress.outside.now = now;
        self.emulator.advance(now);
        self.emulator.sample_if_due(now);
        self.hand_over(zero_ns);
        Ok(zero_ns + before.ns())
    }

    /// Lets what hosts sent before zero into the network.
    fn inject_frames_before_zero(&mut self) -> Result<()> {
        for sent in std::mem::take(&mut self.frames_before_zero) {
            if let Port::Network(card) = sent.port {
                self.inject(Time::ZERO, sent.guest, card, &sent.bytes)?;
            }
        }
        Ok(())
    }

    /// Gives frames that the network has let go to their hosts.
    fn hand_over(&mut self, zero_ns: u64) {
        let Nics { frames, spare, .. } = &mut self.emulator.egress.outside;
        for Frame { host, due, bytes } in frames.drain(..) {
            if let Some((guest, card)) = self.card_of[host] {
                // Never before it is due: rounded up.
                let due_ns = zero_ns + due.ps().div_ceil(1_000);
                let digest = Digest::of(due_ns, guest, &bytes);
                self.digests.add(due_ns - zero_ns, guest, digest);
                self.hosts.deliver(guest, due_ns, Port::Network(card), &bytes);
            }
            spare.push(bytes);
        }
    }

    /// Lets into the network what hosts have sent, and returns what they have written to their consoles.
    fn collect(&mut self) -> Result<Vec<(u64, usize, Vec<u8>)>> {
        let mut output = Vec::new();
        let mut all = self.hosts.take_sent();
        for sent in &mut all {
            match sent.port {
                Port::Console => {
                    let bytes = std::mem::take(&mut sent.bytes);
                    output.push((sent.at_ns, self.nodes[sent.guest][0], bytes));
                }
                Port::Network(card) => match self.zero_ns.filter(|&zero_ns| sent.at_ns >= zero_ns) {
                    Some(zero_ns) => {
                        let at = Time::from_ns(sent.at_ns - zero_ns);
                        self.inject(at, sent.guest, card, &sent.bytes)?;
                        self.hand_over(zero_ns);
                    }
                    None => {
                        self.frames_before_zero
                            .push(Sent { bytes: std::mem::take(&mut sent.bytes), ..*sent });
                    }
                },
            }
        }
        self.hosts.recycle(all);
        Ok(output)
    }

    fn inject(&mut self, at: Time, guest: usize, card: usize, frame: &[u8]) -> Result<()> {
        self.digests.add(at.ns(), guest, Digest::of(at.ns(), guest, frame));
        let node = self.nodes[guest][card];
        self.tcp_senders[self.nodes[guest][0]] |= is_tcp(frame);
        self.emulator.egress.outside.now = at;
        self.emulator.advance(at);
        let is_at_switch = self.emulator.egress.outside.segment_ends[node].is_some();
        let arrival = self
            .emulator
            .egress
            .packet_pool
            .read(|buffer| Ok(packet_of(frame, buffer, is_at_switch)))
            .map_err(|error| Error::wrap("take a packet", error))?;
        let port = &mut self.emulator.egress.ports[node];
        match arrival {
            Arrival::Packet { body } => self.emulator.inject(at, node, body),
            Arrival::NoMemory => port.no_memory_packets += 1,
            Arrival::Nothing | Arrival::Malformed => port.ignored_packets += 1,
        }
        Ok(())
    }

    /// Changes links now.
    pub fn change(&mut self, events: &[Event]) {
        if let Some(zero_ns) = self.zero_ns {
            let now = Time::ZERO + self.run_time();
            self.emulator.egress.outside.now = now;
            self.emulator.advance(now);
            self.emulator.change(events);
            self.hand_over(zero_ns);
        }
    }

    /// Time of the run so far, at least zero.
    pub fn run_time(&self) -> Span {
        Span::from_ns(self.since_zero(self.reached_ns).max(0) as u64)
    }
}
