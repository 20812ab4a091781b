//! A journal of a network's inputs and departures, replayed on a fresh one.

mod common;
#[path = "common/pacing.rs"]
mod pacing;

use common::{packet, plan};
use longhaul_network::journal::{Departure, Entry, JOURNAL_MAGIC};
use longhaul_network::{DirectionId, Fate, Message, Network, NodeId, Origin, Packet, Reply, Sink, replay};
use longhaul_plan::*;
use longhaul_units::{Probability, Rate, Span, Time};
use proptest::prelude::*;
use std::num::NonZeroU32;

#[derive(Default)]
struct Scribe(Vec<Entry>);

impl Sink for Scribe {
    fn deliver(&mut self, host: NodeId, packet: Packet, due: Time, _via: Option<DirectionId>) {
        self.0.push(Entry::Departed(Departure::new(&packet, Ok(host), due)));
    }
    fn end(&mut self, packet: Packet, fate: Fate, at: Time, _link: Option<DirectionId>) {
        self.0.push(Entry::Departed(Departure::new(&packet, Err(fate), at)));
    }
    fn copied(&mut self, _packet: &Packet) {}
    fn reply(&mut self, _router: NodeId, about: &Packet, _message: Message) -> Option<Reply> {
        let reply =
            (!about.body.is_multiple_of(3)).then_some(Reply { body: 1_000_000 + about.body, bytes: 100 });
        self.0.push(Entry::Replied(reply));
        reply
    }
    fn origin(&mut self, packet: &Packet) -> Origin {
        let origin = Origin { ports: Some((packet.flow as u16, 80)), ..Origin::default() };
        self.0.push(Entry::Origin(origin));
        origin
    }
}

/// A change of each model that a link has, one after the other.
fn every_change() -> Vec<Change> {
    // All fields, so that one that is added is replayed, too.
    let all = Change {
        up: Some(true),
        loss: Some(LossModel::Independent { probability: Probability::new(0.2).unwrap() }),
        queue: Some(QueueModel {
            limit_packets: Some(8),
            limit_bytes: None,
            discipline: QueueDiscipline::Drr(DrrParameters {
                quantum: NonZeroU32::new(1_000).unwrap(),
                flows: 16,
            }),
        }),
        rate: Some(RateModel::constant(Rate::from_bits_per_s(80_000_000).unwrap())),
        delay: Some(DelayModel::Normal { mean: Span::from_ns(600_000), sd: Span::from_ns(100_000) }),
        reorder: Some(false),
        duplicate: Probability::new(0.2),
        corrupt: Probability::new(0.3),
        loss_position: Some(LossPosition::Egress),
        framing: Some(Framing { overhead_bytes: 38, least_bytes: 84, cells: None }),
        reordering: Some(ReorderModel::Share {
            probability: Probability::new(0.2).unwrap(),
            delay: Span::from_ns(900_000),
        }),
        coalesce: Some(Span::from_us(50)),
        present: Some(true),
        reroute: Some(RouteCosts::Current),
        pacing: vec![PacingChange {
            class: 0,
            model: PacingModel::Paced { rate: Rate::from_bits_per_s(10_000_000).unwrap() },
        }],
    };
    let one = |key: &str| {
        let mut change = serde_json::to_value(&all).unwrap();
        // A loss position comes with a loss model.
        change
            .as_object_mut()
            .unwrap()
            .retain(|each, _| each == key || key == "loss_position" && each == "loss");
        serde_json::from_value::<Change>(change).unwrap()
    };
    let whole = serde_json::to_value(&all).unwrap();
    let mut changes: Vec<Change> = whole.as_object().unwrap().keys().map(|key| one(key)).collect();
    assert_eq!(changes.len(), 15);
    changes.insert(0, Change { up: Some(false), ..Change::default() });
    changes.push(Change { reordering: Some(ReorderModel::None {}), ..Change::default() });
    let membership = |present, reroute| Change {
        up: Some(present),
        present: Some(present),
        reroute: Some(reroute),
        ..Change::default()
    };
    changes.push(membership(false, RouteCosts::Configured));
    changes.push(membership(true, RouteCosts::Current));
    changes
}

/// A lossy, jittery, duplicating, corrupting network with a random life, and its journal.
fn lived(seed: u64, packets: &[(u64, u8, bool)], polls: &[u64]) -> (Plan, Vec<Entry>) {
    let mut plan = plan();
    plan.seed = seed;
    for link in &mut plan.links {
        for direction in [&mut link.forward, &mut link.reverse] {
            direction.loss = LossModel::Independent { probability: Probability::new(0.1).unwrap() };
            direction.rate = RateModel::constant(Rate::from_bits_per_s(100_000_000).unwrap());
            direction.delay =
                DelayModel::Uniform { mean: Span::from_ns(500_000), half_width: Span::from_ns(500_000) };
            direction.reorder = true;
            direction.duplicate = Probability::new(0.1).unwrap();
            direction.corrupt = Probability::new(0.1).unwrap();
        }
    }
    plan.links[0].forward.pacing = Some(Box::new(pacing::pacing()));
    let mut network = Network::new(&plan).unwrap();
    let mut scribe = Scribe::default();
    let mut polls = polls.iter().peekable();
    let (changes, mut now) = (every_change(), 0);
    let mut changes = changes.iter().cycle();
    for (body, &(after, ttl, routable)) in packets.iter().enumerate() {
        now += after;
        while let Some(&poll) = polls.next_if(|&&poll| poll <= now) {
            network.advance(Time::from_ns(poll), &mut scribe);
        }
        let at = Time::from_ns(now);
        network.advance(at, &mut scribe);
        if body % 8 == 4 {
            let change = changes.next().unwrap().clone();
            // Host to router with pacing, between routers, and router to host, where segments may join.
            let direction = DirectionId(if change.pacing.is_empty() { [0, 2, 4][body / 8 % 3] } else { 0 });
            scribe.0.push(Entry::Changed { at, direction, route: None, change: Box::new(change.clone()) });
            network.change(at, direction, None, &change, &mut scribe);
        }
        let packet = Packet { ttl, offered: at, ..packet(body as u32, 1_000) };
        scribe.0.push(Entry::Injected { packet, routable });
        if routable {
            network.inject(at, packet, &mut scribe);
        } else {
            network.inject_unroutable(at, packet, &mut scribe);
        }
    }
    let end = Time::from_ns(now + 2_000_000);
    network.advance(end, &mut scribe);
    scribe.0.push(Entry::Finished(end));
    (plan, scribe.0)
}

fn written(entries: &[Entry]) -> Vec<u8> {
    let mut bytes = JOURNAL_MAGIC.to_vec();
    for entry in entries {
        entry.encode(&mut bytes);
    }
    bytes
}

fn packets() -> impl Strategy<Value = Vec<(u64, u8, bool)>> {
    prop::collection::vec((0u64..200_000, 1u8..6, prop::bool::weighted(0.95)), 1..200)
}

proptest! {
    #[test]
    fn a_replay_agrees_however_often_the_network_was_polled(
        seed in any::<u64>(), packets in packets(), mut polls in prop::collection::vec(0u64..20_000_000, 0..300),
    ) {
        polls.sort_unstable();
        let (plan, entries) = lived(seed, &packets, &polls);
        let result = replay(&plan, &mut &written(&entries)[..]).unwrap();
        prop_assert_eq!(&result.difference, &None);
        prop_assert_eq!(result.injected, packets.len() as u64);
        let left = entries.iter().filter(|entry| matches!(entry, Entry::Departed(_))).count();
        prop_assert_eq!(result.equal, left as u64);
    }

    #[test]
    fn one_picosecond_one_mark_or_one_missing_departure_is_found(
        packets in packets(), which in any::<prop::sample::Index>(), how in 0..4,
    ) {
        let (plan, mut entries) = lived(3, &packets, &[]);
        let left: Vec<usize> =
            (0..entries.len()).filter(|&at| matches!(entries[at], Entry::Departed(_))).collect();
        prop_assume!(!left.is_empty());
        let at = left[which.index(left.len())];
        let Entry::Departed(departure) = &mut entries[at] else { unreachable!() };
        match how {
            0 => departure.at += longhaul_units::Span::from_ps(1),
            1 => departure.class ^= 1,
            2 => departure.damage ^= 1,
            _ => drop(entries.remove(at)),
        }
        let result = replay(&plan, &mut &written(&entries)[..]).unwrap();
        prop_assert!(result.difference.is_some());
        prop_assert_eq!(result.equal, left.iter().position(|&each| each == at).unwrap() as u64);
    }

    #[test]
    fn bytes_that_are_no_journal_are_an_error(
        packets in packets(), cut in any::<prop::sample::Index>(), flip in any::<prop::sample::Index>(), bit in 0..8,
    ) {
        let (plan, entries) = lived(3, &packets, &[]);
        let mut bytes = written(&entries);
        let cut = cut.index(bytes.len());
        prop_assert!(replay(&plan, &mut &bytes[..cut]).is_err());
        let place = flip.index(bytes.len());
        bytes[place] ^= 1u8 << bit;
        // Whatever it says, it says it: no panic, no endless loop.
        let _ = replay(&plan, &mut &bytes[..]);
    }
}

#[test]
fn every_model_of_a_link_changes_in_the_lives_that_are_replayed() {
    let (_, entries) = lived(3, &[(100_000, 64, true); 200], &[]);
    let changed = entries.iter().filter_map(|entry| match entry {
        Entry::Changed { change, .. } => Some(serde_json::to_value(change).unwrap()),
        _ => None,
    });
    let keys: std::collections::BTreeSet<String> =
        changed.flat_map(|change| change.as_object().unwrap().keys().cloned().collect::<Vec<_>>()).collect();
    assert_eq!(keys.len(), 15, "{keys:?}");
}

#[test]
fn another_seed_is_another_run() {
    let packets = [(100_000, 64, true); 100];
    let (mut plan, entries) = lived(3, &packets, &[]);
    plan.seed = 4;
    assert!(replay(&plan, &mut &written(&entries)[..]).unwrap().difference.is_some());
}
