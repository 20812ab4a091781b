//! Shards of a live run, each on a machine of its own, do what one network does: to every packet, at the same times.

mod common;

use common::{packet, plan};
use longhaul_network::journal::{Departure, Entry, JOURNAL_MAGIC};
use longhaul_network::{
    DirectionId, Fate, Message, Network, NodeId, Packet, Reply, Sink, replay, replay_shard,
};
use longhaul_plan::*;
use longhaul_record::{BinRow, FlowBinRow};
use longhaul_units::{Probability, Rate, Span, Time};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Where a packet ended and when, its class and its damage; of copies several, in order of time.
type Ends = BTreeMap<u32, Vec<(Time, Result<u32, Fate>, u8, u32)>>;

/// What became of each packet, and when.
#[derive(Default)]
struct Fates {
    ends: Ends,
    /// What goes to another shard.
    crossing: Vec<(DirectionId, Time, Packet)>,
    journal: Vec<Entry>,
    /// What a capture of all links has: packets that go onto a link, and packets that leave it or end there.
    captured: Vec<(DirectionId, u32, bool, Result<Time, Fate>)>,
}

impl Sink for Fates {
    fn deliver(&mut self, host: NodeId, packet: Packet, due: Time, _via: Option<DirectionId>) {
        let of = self.ends.entry(packet.body).or_default();
        of.push((due, Ok(host.0), packet.class, packet.damage));
        self.journal.push(Entry::Departed(Departure::new(&packet, Ok(host), due)));
    }
    fn end(&mut self, packet: Packet, fate: Fate, at: Time, _link: Option<DirectionId>) {
        let of = self.ends.entry(packet.body).or_default();
        of.push((at, Err(fate), packet.class, packet.damage));
        self.journal.push(Entry::Departed(Departure::new(&packet, Err(fate), at)));
    }
    fn copied(&mut self, _packet: &Packet) {}
    fn offered(&mut self, direction: DirectionId, packet: &Packet, at: Time) {
        self.captured.push((direction, packet.body, false, Ok(at)));
    }
    fn passed(
        &mut self,
        direction: DirectionId,
        packet: &Packet,
        _offered: Time,
        due: Result<Time, (Fate, Time)>,
    ) {
        self.captured.push((direction, packet.body, true, due.map_err(|(fate, _)| fate)));
    }
    fn reply(&mut self, _router: NodeId, about: &Packet, _message: Message) -> Option<Reply> {
        let reply = (about.body < 1_000_000).then_some(Reply { body: 1_000_000 + about.body, bytes: 100 });
        self.journal.push(Entry::Replied(reply));
        reply
    }
    fn crosses(&mut self, direction: DirectionId, packets: &mut Vec<(Time, Packet)>) {
        for (due, packet) in packets.drain(..) {
            self.journal.push(Entry::Departed(Departure::crossing(&packet, direction, due)));
            self.crossing.push((direction, due, packet));
        }
    }
}

/// What a network has done in the end.
#[derive(Debug, Default, PartialEq)]
struct Outcome {
    ends: Ends,
    held: u64,
    captured: Vec<(DirectionId, u32, bool, Result<Time, Fate>)>,
    /// What a monitor of all links has.
    bins: Vec<BinRow>,
    flow_bins: Vec<FlowBinRow>,
}

/// The model of a link that is cut.
fn model(kind: u8) -> Direction {
    let (plain, rate) = (common::direction(2_000_000, None), Rate::from_bits_per_s(8_000_000).unwrap());
    let slow = Direction { rate: RateModel::constant(rate), ..plain.clone() };
    let chance = |share: f64| Probability::new(share).unwrap();
    match kind {
        0 => plain,
        1 => slow,
        2 => Direction { loss: LossModel::Independent { probability: chance(0.2) }, ..slow },
        3 => Direction {
            loss_position: LossPosition::Egress,
            loss: LossModel::Independent { probability: chance(0.2) },
            ..slow
        },
        4 => {
            Direction { delay: DelayModel::Normal { mean: Span::from_ms(2), sd: Span::from_us(100) }, ..slow }
        }
        5 => Direction {
            queue: QueueModel {
                limit_packets: Some(30),
                discipline: QueueDiscipline::Codel(CodelParameters {
                    target: Span::from_ms(1),
                    interval: Span::from_ms(10),
                    ecn: false,
                }),
                ..QueueModel::default()
            },
            ..slow
        },
        6 => Direction { duplicate: chance(0.3), corrupt: chance(0.2), ..slow },
        _ => Direction {
            reorder: true,
            delay: DelayModel::Normal { mean: Span::from_ms(2), sd: Span::from_us(200) },
            ..slow
        },
    }
}

/// a - r - s - b, of which r - s is of this kind both ways and may be cut.
fn network_of(kind: u8, changes: &[(u64, Change)]) -> (Plan, Network) {
    let mut plan = plan();
    plan.links[1].forward = model(kind);
    plan.links[1].reverse = model(kind);
    plan.events = changes
        .iter()
        .map(|(at_ns, change)| Event {
            at_ns: *at_ns,
            link: 1,
            direction: None,
            route: None,
            change: change.clone(),
            cause: None,
        })
        .collect();
    let network = Network::new(&plan).unwrap();
    (plan, network)
}

fn from(host: u32, body: u32, bytes: u32) -> Packet {
    Packet { source: NodeId(host), destination: NodeId(1 - host), flow: host, ..packet(body, bytes) }
}

/// Runs the whole network, or its shards by `partition`, with packets at these times; between them, time passes in steps of `step`.
fn run(
    kind: u8,
    changes: &[(u64, Change)],
    offers: &[(u64, u32, u32)],
    partition: Option<&[u32]>,
    (step, captures): (Span, bool),
) -> Outcome {
    let (plan, whole) = network_of(kind, changes);
    let monitor = Monitor { every_ns: 1_000_000, links: (0..plan.links.len()).collect(), flows: true };
    let monitored =
        Plan { measure: Measure { monitor: Some(monitor), ..plan.measure.clone() }, ..plan.clone() };
    let count = partition.and_then(|partition| partition.iter().max()).map_or(1, |last| last + 1);
    let mut shards: Vec<(Network, Fates)> = match partition {
        None => vec![(whole, Fates::default())],
        Some(partition) => (0..count)
            .map(|own| (whole.live_shard(&plan, partition, own).unwrap(), Fates::default()))
            .collect(),
    };
    if captures {
        for (network, _) in &mut shards {
            (0..plan.links.len()).for_each(|link| network.tap(link));
            network.monitor(&monitored);
        }
    }
    let owner = |node: usize| partition.map_or(0, |partition| partition[node] as usize);
    let ends: Vec<usize> =
        plan.links.iter().flat_map(|link| [link.endpoints[1], link.endpoints[0]]).map(owner).collect();
    let advance = |shards: &mut Vec<(Network, Fates)>, now: Time| {
        for (network, fates) in shards.iter_mut() {
            network.advance(now, fates);
            network.announce_departures_by(now, fates);
        }
        for sender in 0..shards.len() {
            for (direction, due, packet) in std::mem::take(&mut shards[sender].1.crossing) {
                assert!(due > now, "it is here before it is due");
                let (network, fates) = &mut shards[ends[direction.0 as usize]];
                fates.journal.push(Entry::Imported { at: now, direction, due, packet });
                network.import(direction, &mut [(due, packet)]);
            }
        }
    };
    let end = Time::ZERO + Span::from_ms(400);
    let mut inputs: Vec<(Time, Option<usize>)> =
        offers.iter().enumerate().map(|(place, offer)| (Time::from_ns(offer.0), Some(place))).collect();
    inputs.sort();
    let mut events = plan.events.iter().peekable();
    let mut now = Time::ZERO;
    let mut inputs = inputs.into_iter().peekable();
    while now < end {
        let input = inputs.peek().map_or(Time::NEVER, |input| input.0);
        let event = events.peek().map_or(Time::NEVER, |event| Time::from_ns(event.at_ns));
        now = (now + step).min(input).min(event).min(end);
        advance(&mut shards, now);
        while let Some(event) = events.next_if(|event| Time::from_ns(event.at_ns) <= now) {
            for (network, fates) in &mut shards {
                for way in [Way::Forward, Way::Reverse] {
                    let direction = DirectionId::new(event.link, way);
                    let change = Box::new(event.change.clone());
                    fates.journal.push(Entry::Changed { at: now, direction, route: None, change });
                    network.change(now, direction, None, &event.change, fates);
                }
            }
        }
        while let Some((_, Some(place))) = inputs.next_if(|input| input.0 <= now) {
            let (_, host, bytes) = offers[place];
            let (network, fates) = &mut shards[owner(host as usize)];
            let packet = Packet { offered: now, ..from(host, place as u32, bytes) };
            fates.journal.push(Entry::Injected { packet, routable: true });
            network.inject(now, packet, fates);
        }
        advance(&mut shards, now);
    }
    for (own, (_, fates)) in shards.iter_mut().enumerate() {
        fates.journal.push(Entry::Finished(end));
        assert_replayed(&plan, partition.map(|partition| (partition, own as u32)), &fates.journal);
    }
    outcome(kind, shards, end)
}

/// A replay of the journal, which may be that of a shard, has the same departures.
fn assert_replayed(plan: &Plan, shard: Option<(&[u32], u32)>, entries: &[Entry]) {
    let mut journal = JOURNAL_MAGIC.to_vec();
    for entry in entries {
        entry.encode(&mut journal);
    }
    let replayed = match shard {
        None => replay(plan, &mut &journal[..]),
        Some(shard) => replay_shard(plan, shard, &mut &journal[..]),
    }
    .unwrap();
    assert_eq!(replayed.difference, None);
    let count = |is: fn(&Entry) -> bool| entries.iter().filter(|entry| is(entry)).count() as u64;
    assert_eq!(replayed.equal, count(|entry| matches!(entry, Entry::Departed(_))));
    assert_eq!(replayed.imported, count(|entry| matches!(entry, Entry::Imported { .. })));
    let crossed = count(|entry| matches!(entry, Entry::Departed(Departure { exit: Some(_), .. })));
    assert_eq!(replayed.crossed, crossed);
}

/// What all shards together have done by `end`.
fn outcome(kind: u8, shards: Vec<(Network, Fates)>, end: Time) -> Outcome {
    let held =
        shards.iter().map(|(network, _)| network.held() - network.leaving() + network.arriving()).sum();
    let mut all = Outcome { held, ..Outcome::default() };
    for (mut network, fates) in shards {
        let found = network.take_bins(true);
        all.bins.extend(found.directions);
        all.flow_bins.extend(found.flows);
        // Another order, because what leaves a cut is known before it is due; what never does is still on its way.
        all.captured.extend(fates.captured.into_iter().filter(|each| !each.3.is_ok_and(|at| at > end)));
        for (body, each) in fates.ends {
            all.ends.entry(body).or_default().extend(each);
        }
    }
    for each in all.ends.values_mut() {
        each.sort_by_key(|end| end.0);
    }
    all.captured
        .sort_by_key(|each| (each.0, each.1, each.2, each.3.ok(), each.3.err().map(|fate| fate as u32)));
    if kind > 2 {
        // Where packets end within the link, queues are approximate, and those of exits are exact.
        for row in &mut all.bins {
            (row.queue_packets, row.queue_bytes) = (0, 0);
        }
        all.bins.retain(|row| !row.is_empty());
    }
    all.bins.sort_by_key(|row| (row.link, row.reverse, row.start_ns));
    all.flow_bins.sort_by_key(|row| (row.link, row.reverse, row.start_ns, row.flow));
    all
}

/// Changes whose values leave each cut longer than a step of the clock.
fn changes(kind: u8) -> Vec<(u64, Change)> {
    match kind {
        0 => Vec::new(),
        1 => vec![(
            20_000_000,
            Change { delay: Some(DelayModel::constant(Span::from_ms(4))), ..Change::default() },
        )],
        2 => vec![
            (10_000_000, Change { up: Some(false), ..Change::default() }),
            (30_000_000, Change { up: Some(true), ..Change::default() }),
        ],
        _ => vec![(
            15_000_000,
            Change {
                rate: Some(RateModel::constant(Rate::from_bits_per_s(20_000_000).unwrap())),
                loss: Some(LossModel::Independent { probability: Probability::new(0.1).unwrap() }),
                ..Change::default()
            },
        )],
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn shards_give_every_packet_the_fate_and_the_time_that_one_network_gives_it(
        kind in 0u8..8,
        changing in 0u8..4,
        offers in prop::collection::vec((0u64..50_000_000, 0u32..2, 40u32..1_500), 1..120),
        partition in prop::sample::select(vec![[0, 1, 0, 1, 1], [1, 0, 1, 0, 0], [0, 1, 2, 3, 3], [2, 0, 2, 1, 2]]),
        step_us in 20u64..900,
        captures: bool,
    ) {
        let events = changes(changing);
        let how = (Span::from_us(step_us), captures);
        let whole = run(kind, &events, &offers, None, how);
        let shards = run(kind, &events, &offers, Some(&partition), how);
        prop_assert_eq!(whole.captured.is_empty(), !captures);
        prop_assert_eq!(whole.bins.is_empty(), !captures);
        prop_assert_eq!(whole, shards);
    }
}

#[test]
fn a_cut_without_delay_or_of_a_link_that_leaves_is_refused() {
    let (mut plan, _) = network_of(0, &[]);
    plan.links[1].forward = common::direction(0, None);
    let network = Network::new(&plan).unwrap();
    assert!(!network.live_cuts(&plan).iter().any(|cut| cut.link == 1));
    let error = network.live_shard(&plan, &[0, 1, 0, 1, 1], 0).unwrap_err().to_string();
    assert!(error.contains("link r-s cannot be cut"), "{error}");
    let (plan, network) = network_of(0, &[(5, Change { present: Some(false), ..Change::default() })]);
    assert!(network.live_shard(&plan, &[0, 1, 0, 1, 1], 0).is_err());
    assert!(network.live_shard(&plan, &[0; 5], 0).is_ok());
}

#[test]
fn links_of_a_switch_are_not_cut() {
    let (plan, network) = network_of(0, &[]);
    assert!(network.live_cuts(&plan).iter().any(|cut| cut.link == 1));
    let [near, _] = plan.links[1].endpoints;
    let mut plan = plan;
    plan.nodes[near].kind = NodeKind::Switch;
    assert!(!network.live_cuts(&plan).iter().any(|cut| cut.link == 1));
}

#[test]
fn a_journal_of_another_division_is_refused_or_differs() {
    let (plan, _) = network_of(1, &[]);
    let packet = Packet { offered: Time::ZERO, ..from(0, 1, 100) };
    let imported = Entry::Imported {
        at: Time::ZERO,
        direction: DirectionId::new(1, Way::Forward),
        due: Time::from_ns(5_000_000),
        packet,
    };
    let mut journal = JOURNAL_MAGIC.to_vec();
    imported.encode(&mut journal);
    Entry::Finished(Time::from_ns(1)).encode(&mut journal);
    let replayed = |partition: &[u32], own| replay_shard(&plan, (partition, own), &mut &journal[..]);
    assert_eq!(replayed(&[0, 1, 0, 1, 1], 1).unwrap().imported, 1);
    for (partition, own) in [(&[0, 1, 0, 1, 1][..], 0), (&[0; 5], 0), (&[0, 1], 0)] {
        let error = replayed(partition, own).unwrap_err().to_string();
        assert!(error.starts_with("the journal is of another plan"), "{error}");
    }
    assert!(replay(&plan, &mut &journal[..]).is_err());
}

#[test]
fn the_least_delay_of_a_direction_is_that_of_all_planned_changes() {
    let delay = |ms| DelayModel::Constant { delay: Span::from_ms(ms) };
    let to = |ms| Change { delay: Some(delay(ms)), ..Change::default() };
    let (mut plan, network) = network_of(0, &[(1_000_000, to(5)), (2_000_000, to(1)), (3_000_000, to(9))]);
    let before = network.live_cuts(&plan).iter().find(|cut| cut.link == 1).unwrap().lookahead;
    assert!(before > Span::from_ms(1));
    assert_eq!(network.least_delays(&plan)[2..4], [Span::from_ms(1); 2]);
    plan.events[1].direction = Some(Way::Reverse);
    assert_eq!(network.least_delays(&plan)[2..4], [before, Span::from_ms(1)]);
}
