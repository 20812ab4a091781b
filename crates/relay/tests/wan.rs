//! The emulated WAN against arithmetic.

use longhaul_plan::{Change, DelayModel, Direction, LossModel, QueueModel, RateModel, Way};
use longhaul_relay::{FlowId, Outcome, Path, Piece, RelayLink, RouteId, Settings, Share, Step, Wan};
use longhaul_units::{Probability, Rate, Span, Time};

const FLOW: FlowId = FlowId { slot: 0, generation: 0 };

fn direction(delay_us: u64, bits_per_s: Option<u64>) -> Direction {
    Direction {
        delay: DelayModel::constant(Span::from_ns(delay_us * 1_000)),
        rate: bits_per_s.map_or(RateModel::Unlimited {}, |bits_per_s| {
            RateModel::constant(Rate::from_bits_per_s(bits_per_s).unwrap())
        }),
        ..Direction::default()
    }
}

/// Sub-cluster 0 and 1, links in series between them.
fn settings(links: Vec<Direction>) -> Settings {
    let path = |from, to, way| {
        let mut steps: Vec<Step> = (0..links.len()).map(|link| Step { link, way }).collect();
        if way == Way::Reverse {
            steps.reverse();
        }
        Path { from, to, steps }
    };
    let text = serde_json::json!({
        "version": 1, "name": "test", "seed": 1, "duration_ns": null, "links": [], "clusters": [
            {"name": "a", "members": ["10.1.0.0/16"]}, {"name": "b", "members": ["10.2.0.0/16"]}],
        "paths": [], "listeners": [{"kind": "socks", "address": "127.0.0.1:0"}], "share": "link",
        "algorithm": "one-thread", "framing": "stream", "inward": null, "password": null, "retransmit_ns": null,
        "subtract_ns": 0, "buffer_bytes": null, "memory_bytes": 1_000_000, "connections": 10,
        "log": {"messages": false, "limit_bytes": 0},
    });
    let mut settings: Settings = serde_json::from_value(text).unwrap();
    settings.paths = vec![path(0, 1, Way::Forward), path(1, 0, Way::Reverse)];
    let link = |(n, link): (usize, Direction)| RelayLink {
        name: format!("l{n}"),
        forward: link.clone(),
        reverse: link,
    };
    settings.links = links.into_iter().enumerate().map(link).collect();
    settings
}

fn us(us: u64) -> Time {
    Time::from_ns(us * 1_000)
}

fn piece(number: u64, bytes: u32, route: RouteId) -> Piece {
    Piece::new(FLOW, number, bytes, route)
}

/// (number, due in us) of all that comes out by `until`.
fn delivered(wan: &mut Wan, until: Time) -> Vec<(u64, u64)> {
    wan.advance(until);
    std::iter::from_fn(|| wan.outcome())
        .map(|outcome| match outcome {
            Outcome::Delivered(piece, due) => (piece.number, due.ns() / 1_000),
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn links_in_series_add_up() {
    // 1,000 bytes at 8 Mbit/s take 1,000 us, at 80 Mbit/s 100 us.
    let mut wan =
        Wan::new(&settings(vec![direction(3_000, Some(8_000_000)), direction(500, Some(80_000_000))]));
    let route = wan.open(0, 1).unwrap();
    for number in 0..3 {
        wan.offer(us(10), piece(number, 1_000, route));
    }
    let due = |number: u64| 10 + (number + 1) * 1_000 + 3_000 + 100 + 500;
    assert_eq!(delivered(&mut wan, us(20_000)), [(0, due(0)), (1, due(1)), (2, due(2))]);
    assert_eq!(wan.next_event(), Time::NEVER);
    let back = wan.open(1, 0).unwrap();
    wan.offer(us(30_000), piece(0, 1_000, back));
    // The fast link first.
    assert_eq!(delivered(&mut wan, us(90_000)), [(0, 30_000 + 100 + 500 + 1_000 + 3_000)]);
}

#[test]
fn who_shares_waits_and_who_does_not_does_not() {
    for (share, second) in [(Share::Link, 2_000), (Share::Connection, 1_000)] {
        let mut settings = settings(vec![direction(0, Some(8_000_000))]);
        settings.share = share;
        let mut wan = Wan::new(&settings);
        let (one, other) = (wan.open(0, 1).unwrap(), wan.open(0, 1).unwrap());
        wan.offer(us(0), piece(0, 1_000, one));
        wan.offer(us(0), piece(1, 1_000, other));
        assert_eq!(delivered(&mut wan, us(10_000)), [(0, 1_000), (1, second)]);
        assert_eq!(wan.counts()[0].2.delivered, (2, 2_000));
        wan.close(one);
        wan.close(other);
        assert_eq!(wan.counts()[0].2.delivered, (2, 2_000));
    }
}

#[test]
fn a_full_queue_makes_streams_wait_in_turn() {
    let queue = QueueModel { limit_packets: None, limit_bytes: Some(2_000), ..QueueModel::default() };
    let mut wan = Wan::new(&settings(vec![Direction { queue, ..direction(0, Some(8_000_000)) }]));
    let route = wan.open(0, 1).unwrap();
    let flow = |slot| FlowId { slot, generation: 0 };
    // One is on the wire, two wait; the others must.
    for slot in 0..5 {
        let offered = wan.try_offer(us(0), Piece::new(flow(slot), 0, 1_000, route));
        assert_eq!(offered, slot < 3, "{slot}");
    }
    assert_eq!(wan.next_ready(), None);
    let mut turns = Vec::new();
    for at in 0..10 {
        wan.advance(us(at * 1_000));
        while let Some(flow) = wan.next_ready() {
            turns.push((at, flow.slot));
            wan.offer(us(at * 1_000), Piece::new(flow, 0, 1_000, route));
        }
    }
    assert_eq!(turns, [(1, 3), (2, 4)]);
    wan.advance(us(20_000));
    assert_eq!(wan.counts()[0].2.delivered, (5, 5_000));
    assert_eq!(wan.counts()[0].2.overflowed, 0);
}

#[test]
fn what_is_lost_is_told_with_its_instant() {
    let mut wan = Wan::new(&settings(vec![Direction {
        loss: LossModel::Independent { probability: Probability::new(1.0).unwrap() },
        ..direction(9, None)
    }]));
    let route = wan.open(0, 1).unwrap();
    wan.offer(us(5), piece(7, 10, route));
    assert!(matches!(wan.outcome(), Some(Outcome::Ended(piece, _, at)) if piece.number == 7 && at == us(5)));
    assert_eq!(wan.round_trip(route).ns(), 18_000);
}

#[test]
fn the_real_networks_transit_is_taken_off() {
    let mut settings = settings(vec![direction(1_000, None), direction(1_000, None)]);
    settings.subtract_ns = 30_000;
    let mut wan = Wan::new(&settings);
    let route = wan.open(0, 1).unwrap();
    wan.offer(us(100), piece(0, 1, route));
    assert_eq!(delivered(&mut wan, us(2_069)), []);
    assert_eq!(delivered(&mut wan, us(2_070)), [(0, 2_070)]);
}

#[test]
fn a_change_holds_for_routes_that_are_opened_later() {
    let mut settings = settings(vec![direction(1_000, None)]);
    settings.share = Share::Connection;
    let mut wan = Wan::new(&settings);
    let before = wan.open(0, 1).unwrap();
    let change = Change { delay: Some(DelayModel::constant(Span::from_ns(5_000_000))), ..Change::default() };
    wan.change(us(10), 0, Some(Way::Forward), None, &change);
    let after = wan.open(0, 1).unwrap();
    let back = wan.open(1, 0).unwrap();
    for (number, route) in [(0, before), (1, after), (2, back)] {
        wan.offer(us(20), piece(number, 1, route));
    }
    assert_eq!(delivered(&mut wan, us(9_000)), [(2, 1_020), (0, 5_020), (1, 5_020)]);
}

#[test]
fn pieces_last_a_millisecond_within_bounds() {
    let size = |link: Direction| {
        let mut wan = Wan::new(&settings(vec![link]));
        let route = wan.open(0, 1).unwrap();
        wan.piece_bytes(route)
    };
    assert_eq!(size(direction(0, Some(3_000_000))), 1_448);
    assert_eq!(size(direction(0, Some(80_000_000))), 10_000);
    assert_eq!(size(direction(0, Some(10_000_000_000))), 65_536);
    assert_eq!(size(direction(0, None)), 65_536);
    let queue = QueueModel { limit_packets: None, limit_bytes: Some(8_000), ..QueueModel::default() };
    assert_eq!(size(Direction { queue, ..direction(0, None) }), 4_000);
}
