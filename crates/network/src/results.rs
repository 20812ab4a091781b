//! What a network counted, as records and results have it.

use crate::network::Network;
use crate::packet::{DirectionId, Fate, Packet};
use crate::totals::{LinkCounters, Totals};
use longhaul_link::ClassCounters;
use longhaul_plan::{Event, Plan, Way};
use longhaul_record::{Distribution, PacketRow, SampleRow};
use longhaul_units::{Histogram, Time};
use serde_json::{Value, json};

/// What has counted the packets of a network.
pub trait Accounts {
    /// See [`Network::link_counters`].
    fn link_counters(&self, direction: DirectionId) -> LinkCounters;
    /// See [`Network::waits`].
    fn waits(&self, direction: DirectionId) -> Histogram;
    /// See [`Network::pacing_counters`].
    fn pacing_counters(&self, direction: DirectionId, class: usize) -> Option<ClassCounters>;
    /// See [`Network::totals`].
    fn totals(&self) -> Totals;
    /// See [`Network::held`].
    fn held(&self) -> u64;
}

impl Accounts for Network {
    fn link_counters(&self, direction: DirectionId) -> LinkCounters {
        self.link_counters(direction)
    }

    fn waits(&self, direction: DirectionId) -> Histogram {
        self.waits(direction)
    }

    fn pacing_counters(&self, direction: DirectionId, class: usize) -> Option<ClassCounters> {
        self.pacing_counters(direction, class)
    }

    fn totals(&self) -> Totals {
        self.totals()
    }

    fn held(&self) -> u64 {
        self.held()
    }
}

/// All [shards](Network::shard) of a network; there is at least one.
#[derive(Debug)]
pub struct Shards<'a>(pub Vec<&'a Network>);

impl Shards<'_> {
    fn owner(&self, direction: DirectionId) -> &Network {
        self.0.iter().find(|shard| shard.owns(direction)).unwrap_or(&self.0[0])
    }
}

impl Accounts for Shards<'_> {
    fn link_counters(&self, direction: DirectionId) -> LinkCounters {
        self.owner(direction).link_counters(direction)
    }

    fn waits(&self, direction: DirectionId) -> Histogram {
        self.owner(direction).waits(direction)
    }

    fn pacing_counters(&self, direction: DirectionId, class: usize) -> Option<ClassCounters> {
        self.owner(direction).pacing_counters(direction, class)
    }

    fn totals(&self) -> Totals {
        self.0.iter().fold(Totals::default(), |all, shard| all + shard.totals())
    }

    fn held(&self) -> u64 {
        self.0.iter().map(|shard| shard.held()).sum()
    }
}

const WAYS: [Way; 2] = [Way::Forward, Way::Reverse];

/// The counters of every direction at `now`.
pub fn samples(network: &impl Accounts, plan: &Plan, now: Time) -> Vec<SampleRow> {
    (0..plan.links.len())
        .flat_map(|link| WAYS.map(|way| (link, way)))
        .map(|(link, way)| {
            let counters = network.link_counters(DirectionId::new(link, way));
            SampleRow {
                t_ns: now.ns(),
                link: link as u32,
                reverse: way == Way::Reverse,
                offered_packets: counters.link.offered_packets,
                offered_bytes: counters.link.offered_bytes,
                copied_packets: counters.link.copied_packets,
                delivered_packets: counters.link.delivered_packets,
                delivered_bytes: counters.link.delivered_bytes,
                wire_bytes: counters.link.wire_bytes,
                lost_packets: counters.link.lost_packets,
                overflowed_packets: counters.link.overflowed_packets,
                dropped_packets: counters.link.dropped_packets,
                down_packets: counters.link.down_packets,
                too_big_packets: counters.too_big_packets,
                waiting_packets: counters.waiting_packets,
                waiting_bytes: counters.waiting_bytes,
                flying_packets: counters.flying_packets,
            }
        })
        .collect()
}

/// What [`Sink::passed`](crate::Sink::passed) tells, as packet records have it.
pub fn passage(direction: DirectionId, packet: &Packet, offered: Time, due: Result<Time, Fate>) -> PacketRow {
    PacketRow {
        link: direction.link() as u32,
        reverse: direction.way() == Way::Reverse,
        offered_ns: offered.ns(),
        due_ns: due.ok().map(Time::ns),
        bytes: packet.bytes,
        fate: due.err().map_or("delivered", Fate::name),
        flow: packet.flow,
    }
}

/// A change that was applied, as records have it, with what each direction had counted `before` it.
pub fn applied(event: &Event, before: &[(Way, LinkCounters)]) -> Value {
    let counted = before.iter().map(|(way, counters)| {
        let of = &counters.link;
        let counted = json!({
            "offered_packets": of.offered_packets,
            "entered_packets": of.delivered_packets + counters.flying_packets,
            "delivered_bytes": of.delivered_bytes,
            "lost_packets": of.lost_packets,
            "overflowed_packets": of.overflowed_packets,
            "dropped_packets": of.dropped_packets,
            "down_packets": of.down_packets,
            "wire_bytes": of.wire_bytes,
            "wire_delay_ns": of.wire_delay_ps as f64 / 1_000.0,
        });
        (if *way == Way::Forward { "forward" } else { "reverse" }.to_owned(), counted)
    });
    let counted: serde_json::Map<_, _> = counted.collect();
    let mut row = json!(event);
    row["before"] = json!(counted);
    row
}

/// Packets since the start over the whole network, by fate, as results have them.
pub fn packets(network: &impl Accounts) -> Value {
    let totals = network.totals();
    json!({
        "injected": totals.injected,
        "copied": totals.copied,
        "replies": totals.replies,
        "delivered": totals.delivered,
        "lost": totals.lost,
        "overflowed": totals.overflowed,
        "dropped": totals.dropped,
        "down": totals.down,
        "no_route": totals.no_route,
        "ttl_expired": totals.ttl_expired,
        "too_big": totals.too_big,
        "answered": totals.answered,
        "pacer_dropped": totals.pacer_dropped,
        "filtered": totals.filtered,
        "looped": totals.looped,
        "held": network.held(),
    })
}

/// What every link counted, as results have it.
pub fn links(network: &impl Accounts, plan: &Plan) -> Vec<Value> {
    let counters = |link, way| {
        let id = DirectionId::new(link, way);
        direction(&network.link_counters(id), &network.waits(id).into())
    };
    plan.links
        .iter()
        .enumerate()
        .map(|(link, each)| {
            json!({
                "name": each.name,
                "forward": counters(link, Way::Forward),
                "reverse": counters(link, Way::Reverse),
            })
        })
        .collect()
}

/// What every class of every host's pacing counted, as results have it.
pub fn pacing(network: &impl Accounts, plan: &Plan) -> Vec<Value> {
    let mut found = Vec::new();
    for (link, each) in plan.links.iter().enumerate() {
        let ends = [(Way::Forward, &each.forward, 0), (Way::Reverse, &each.reverse, 1)];
        for (way, model, end) in ends {
            let Some(pacing) = &model.pacing else { continue };
            let direction = DirectionId::new(link, way);
            let classes = pacing.classes.iter().enumerate();
            let classes = classes.filter_map(|(place, class)| {
                Some(pacing_class(&class.name, &network.pacing_counters(direction, place)?))
            });
            found.push(json!({
                "host": plan.nodes[each.endpoints[end]].name,
                "link": each.name,
                "way": way,
                "line_bits_per_s": pacing.line,
                "classes": classes.collect::<Vec<_>>(),
            }));
        }
    }
    found
}

fn pacing_class(name: &str, of: &ClassCounters) -> Value {
    json!({
        "name": name,
        "offered_packets": of.offered_packets,
        "offered_bytes": of.offered_bytes,
        "sent_packets": of.sent_packets,
        "sent_bytes": of.sent_bytes,
        "dropped_packets": of.dropped_packets,
        "waiting_packets": of.waiting_packets,
        "waiting_bytes": of.waiting_bytes,
        "waits": Distribution::from(of.waits.clone()).summary(),
        "gap_errors": Distribution::from(of.gap_errors.clone()).summary(),
        "latest_ns": of.latest.ns(),
    })
}

fn direction(counters: &LinkCounters, waits: &Distribution) -> Value {
    let of = &counters.link;
    let entered = of.delivered_packets + counters.flying_packets;
    let wire_delay_ns = of.wire_delay_ps as f64 / entered.max(1) as f64 / 1_000.0;
    json!({
        "offered_packets": of.offered_packets,
        "offered_bytes": of.offered_bytes,
        "copied_packets": of.copied_packets,
        "delivered_packets": of.delivered_packets,
        "delivered_bytes": of.delivered_bytes,
        "lost_packets": of.lost_packets,
        "overflowed_packets": of.overflowed_packets,
        "dropped_packets": of.dropped_packets,
        "marked_packets": of.marked_packets,
        "corrupted_packets": of.corrupted_packets,
        "down_packets": of.down_packets,
        "too_big_packets": counters.too_big_packets,
        "waiting_packets": counters.waiting_packets,
        "flying_packets": counters.flying_packets,
        "wire_bytes": of.wire_bytes,
        "wire_delay_mean_ns": wire_delay_ns,
        "waits": waits.summary(),
    })
}
