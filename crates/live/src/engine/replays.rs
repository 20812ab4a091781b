//! Packets of captures that hosts get for real: their bytes, and when they left.

use crate::error::{Error, Result};
use crate::traffic::linger_ns;
use longhaul_capture::RawPackets;
use longhaul_endpoints::ListedPacket;
use longhaul_network::Network;
use longhaul_plan::{Plan, Traffic};
use longhaul_record::Distribution;
use longhaul_units::{Span, Time};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

/// The packets of all flows of captures, by flow.
#[derive(Default)]
pub struct Replays {
    flows: BTreeMap<u32, Replayed>,
    /// Packets with bytes that are in the network.
    pub in_network: u64,
    /// Until then, packets may be on their way in parts of the network that other engines have.
    on_their_way_until: Time,
}

struct Replayed {
    name: String,
    packets: RawPackets,
    /// The engine's clock when a packet left, minus when it was to leave.
    departure_error: Distribution,
    /// Packets that left without bytes, because memory ran out.
    without_memory: u64,
    /// How long packets may be on their way where other engines have a part of the network.
    linger: Span,
}

impl Replays {
    /// Reads the packets of those flows of `plan` whose source this engine `owns`, from files in the run directory.
    ///
    /// # Errors
    /// If a file cannot be read, or is not that of the plan.
    pub fn load(plan: &Plan, directory: &Path, owns: impl Fn(usize) -> bool) -> Result<Self> {
        let mut replays = Replays::default();
        for (position, flow) in (0..).zip(&plan.flows).filter(|(_, flow)| owns(flow.source)) {
            let Traffic::Pcap { packets: list, file: Some(file), .. } = &flow.traffic else { continue };
            let path = directory.join(file);
            let failed = |what: String| Error::new(format!("flow {}: {}: {what}", flow.name, path.display()));
            let opened = File::open(&path).map_err(|error| failed(error.to_string()))?;
            let packets = RawPackets::read(opened).map_err(|error| failed(error.to_string()))?;
            let lengths = packets.iter().map(|packet| packet.len() as u32);
            if !lengths.eq(list.bytes.iter().copied()) {
                return Err(failed("has other packets than the plan".into()));
            }
            let replayed = Replayed {
                name: flow.name.clone(),
                packets,
                departure_error: Distribution::new(),
                without_memory: 0,
                linger: Span::ZERO,
            };
            replays.flows.insert(position, replayed);
        }
        Ok(replays)
    }

    /// The same where other engines have a part of `network`, which is that of `plan`.
    pub fn divided(mut self, plan: &Plan, network: &Network) -> Self {
        for (&flow, replayed) in &mut self.flows {
            replayed.linger = Span::from_ns(linger_ns(plan, network, &plan.flows[flow as usize]));
        }
        self
    }

    /// Whether all packets that have left have met their fate by `now`, as far as that is known here.
    pub fn are_done(&self, now: Time) -> bool {
        self.in_network == 0 && now >= self.on_their_way_until
    }

    /// The bytes of a packet, from its IP header on.
    pub fn bytes(&self, listed: &ListedPacket) -> Option<&[u8]> {
        self.flows.get(&listed.flow)?.packets.get(listed.place)
    }

    /// A packet left at `now`, by the engine's clock.
    pub fn left(&mut self, listed: &ListedPacket, now: Time) {
        if let Some(replayed) = self.flows.get_mut(&listed.flow) {
            replayed.departure_error.add(now.since(listed.at).ns(), 1);
            self.on_their_way_until = self.on_their_way_until.max(now + replayed.linger);
        }
    }

    /// A packet left without bytes.
    pub fn left_without_bytes(&mut self, listed: &ListedPacket) {
        if let Some(replayed) = self.flows.get_mut(&listed.flow) {
            replayed.without_memory += 1;
        }
    }

    /// By name of the flow: how late packets left, and how many left without bytes.
    pub fn results(&self) -> Value {
        let each = self.flows.values().map(|replayed| {
            let result = json!({
                "departure_error": replayed.departure_error.summary(),
                "without_memory": replayed.without_memory,
            });
            (replayed.name.clone(), result)
        });
        Value::Object(each.collect::<Map<_, _>>())
    }
}
