//! Announced packets, compared with those that arrive.

mod common;

use common::*;
use longhaul_network::{
    DirectionId, Fate, Flags, KnownArrivals, Message, Network, NodeId, Packet, Reply, Sink,
};
use longhaul_plan::*;
use longhaul_units::{Probability, Rate, Span, Time};
use proptest::prelude::*;

type Coming = (DirectionId, u32, Time);

#[derive(Default)]
struct Hosts {
    came: Vec<Coming>,
    ended: usize,
    copied: usize,
}

impl Sink for Hosts {
    fn deliver(&mut self, _: NodeId, packet: Packet, due: Time, via: Option<DirectionId>) {
        self.came.push((via.unwrap(), packet.body, due));
    }
    fn end(&mut self, _: Packet, _: Fate, _: Time, _: Option<DirectionId>) {
        self.ended += 1;
    }
    fn copied(&mut self, _: &Packet) {
        self.copied += 1;
    }
    fn reply(&mut self, _: NodeId, _: &Packet, _: Message) -> Option<Reply> {
        None
    }
}

/// a - b over a last link of at least `least_us`: a pipe, or a link whose packets jitter, overtake, come twice or get lost.
fn plan_of(kind: usize, least_us: u64) -> Plan {
    let mut plan = plan();
    plan.coalesce_ns = if kind == 1 { 10_000 } else { 0 };
    let last = &mut plan.links[2].forward;
    last.rate = RateModel::constant(Rate::from_bits_per_s(40_000_000).unwrap());
    last.delay = DelayModel::constant(Span::from_us(least_us));
    if kind >= 2 {
        let (mean, half_width) = (Span::from_us(least_us + 900), Span::from_us(900));
        last.delay = DelayModel::Uniform { mean, half_width };
        last.reorder = kind == 3;
        last.duplicate = Probability::new(0.1).unwrap();
        last.loss_position = LossPosition::Egress;
        last.loss = LossModel::Independent { probability: Probability::new(0.1).unwrap() };
    }
    plan
}

proptest! {
    #[test]
    fn every_packet_is_announced_before_it_is_due_and_arrives_as_announced(
        kind in 0usize..4,
        least_us in 1u64..3_000,
        gaps in prop::collection::vec((0u64..800, 40u32..1_500), 1..120),
    ) {
        let plan = plan_of(kind, least_us);
        let (mut network, mut hosts) = (Network::new(&plan).unwrap(), Hosts::default());
        let mut known_arrivals = KnownArrivals::new(&network);
        let lookahead = network.lookahead(&known_arrivals);
        prop_assert_eq!(lookahead, Span::from_us(least_us.min(1_000)));
        let mut sends = Vec::new();
        let mut at = Time::ZERO;
        for (body, (gap_us, bytes)) in gaps.into_iter().enumerate() {
            at += Span::from_us(gap_us);
            sends.push((at, packet(body as u32, bytes)));
        }
        let mut announced: Vec<Coming> = Vec::new();
        let mut sends = sends.into_iter().peekable();
        loop {
            let next = network.next_event().min(sends.peek().map_or(Time::NEVER, |send| send.0));
            if next == Time::NEVER {
                break;
            }
            let before = next + lookahead;
            network.announce_arrivals(next, before, &mut known_arrivals, |_, packet, due, via| {
                assert!(due >= next, "announced {due} at {next}");
                announced.push((via, packet.body, due));
            });
            network.advance(next, &mut hosts);
            while let Some((now, packet)) = sends.next_if(|send| send.0 == next) {
                network.inject(now, packet, &mut hosts);
            }
        }
        prop_assert!(hosts.came.iter().all(|&(via, _, due)| known_arrivals.includes(via, due)));
        prop_assert_eq!(announced, hosts.came);
    }
}

#[test]
fn packets_for_others_are_announced_to_the_host_that_forwards_them() {
    // Host b forwards to c, behind its second interface.
    let mut plan = plan();
    plan.nodes[1].forwards = true;
    plan.nodes.push(Node { of: Some(1), ..node("b.c", NodeKind::Interface, 6) });
    plan.nodes.push(node("c", NodeKind::Host, 7));
    plan.links.push(link("b-c", [5, 6], 4));
    let (mut network, mut hosts) = (Network::new(&plan).unwrap(), Hosts::default());
    let mut known_arrivals = KnownArrivals::new(&network);
    assert_eq!(network.lookahead(&known_arrivals), Span::from_ms(1), "of the link to a");
    let to_c = |flags| Packet { destination: NodeId(6), flags, ..packet(1, 100) };
    let mut real = Flags::empty();
    real.set(Flags::REAL, true);
    // What is simulated never enters the host.
    for flags in [real, Flags::empty()] {
        network.inject(Time::ZERO, to_c(flags), &mut hosts);
    }
    let mut announced = Vec::new();
    while network.next_event() < Time::NEVER {
        let next = network.next_event();
        let before = next + network.lookahead(&known_arrivals);
        network.announce_arrivals(next, before, &mut known_arrivals, |host, _, due, _| {
            announced.push((host, due));
        });
        network.advance(next, &mut hosts);
    }
    let at_ms = |ms: u64| Time::from_ns(ms * 1_000_000);
    assert_eq!(announced, [(NodeId(1), at_ms(6)), (NodeId(6), at_ms(10))]);
}
