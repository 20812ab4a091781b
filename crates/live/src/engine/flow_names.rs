//! Names of the flows that real packets belong to, for those who read records.

use longhaul_network::icmp;
use std::collections::BTreeMap;

/// Flows beyond which no more are named.
const MOST: usize = 65_536;
/// Flows that are found without searching.
const RECENT: usize = 256;
/// Protocols whose headers begin with two ports.
const WITH_PORTS: [u8; 5] = [6, 17, 33, 132, 136];

/// The hosts, protocol and ports behind every hash that was met.
pub struct FlowNames {
    recent: Box<[u32; RECENT]>,
    /// The first 48 bytes of one packet of each.
    heads: BTreeMap<u32, [u8; 48]>,
}

impl Default for FlowNames {
    fn default() -> Self {
        FlowNames { recent: Box::new([0; RECENT]), heads: BTreeMap::new() }
    }
}

impl FlowNames {
    /// Notes that `packet` belongs to `flow`. A flow that was met lately costs one look.
    #[inline]
    pub fn note(&mut self, flow: u32, packet: &[u8]) {
        let place = flow as usize % RECENT;
        if self.recent[place] == flow {
            return;
        }
        self.recent[place] = flow;
        if self.heads.len() < MOST {
            self.heads.entry(flow).or_insert_with(|| {
                let mut head = [0; 48];
                let length = packet.len().min(head.len());
                head[..length].copy_from_slice(&packet[..length]);
                head
            });
        }
    }

    /// Every flow with its name: `tcp 10.0.0.1:40000 > 10.0.0.2:5201`.
    pub fn each(&self) -> impl Iterator<Item = (u32, String)> {
        self.heads.iter().filter_map(|(&flow, head)| Some((flow, name(head)?)))
    }
}

fn name(head: &[u8]) -> Option<String> {
    let header = icmp::parse(head)?;
    let protocol = match header.protocol {
        1 | 58 => "icmp".to_owned(),
        6 => "tcp".into(),
        17 => "udp".into(),
        33 => "dccp".into(),
        132 => "sctp".into(),
        136 => "udplite".into(),
        other => format!("protocol {other}"),
    };
    let ports = head.get(header.header_len..header.header_len + 4);
    // All fragments are one flow, of which the first alone has ports.
    let fragment = header.version == 4 && u16::from_be_bytes([head[6], head[7]]) & 0x3fff != 0;
    let (source, destination) = match ports {
        Some(&[a, b, c, d]) if WITH_PORTS.contains(&header.protocol) && !fragment => {
            let socket = |address, port: [u8; 2]| {
                std::net::SocketAddr::new(address, u16::from_be_bytes(port)).to_string()
            };
            (socket(header.source, [a, b]), socket(header.destination, [c, d]))
        }
        _ => (header.source.to_string(), header.destination.to_string()),
    };
    Some(format!("{protocol} {source} > {destination}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An IPv4 packet from 10.0.0.1, port 40000, to 10.0.0.2, port 5201.
    fn packet(protocol: u8) -> Vec<u8> {
        let mut packet = vec![0x45, 0, 0, 40, 0, 0, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        packet.extend([40_000u16.to_be_bytes(), 5_201u16.to_be_bytes()].concat());
        packet.resize(40, 0);
        packet
    }

    #[test]
    fn a_flow_is_named_after_its_hosts_and_ports() {
        let mut names = FlowNames::default();
        for (flow, protocol) in [(7, 6), (8, 1), (7 + 256, 17), (7, 6)] {
            names.note(flow, &packet(protocol));
        }
        let each: Vec<(u32, String)> = names.each().collect();
        assert_eq!(
            each,
            [
                (7, "tcp 10.0.0.1:40000 > 10.0.0.2:5201".into()),
                (8, "icmp 10.0.0.1 > 10.0.0.2".into()),
                (263, "udp 10.0.0.1:40000 > 10.0.0.2:5201".into()),
            ]
        );
    }

    #[test]
    fn fragments_belong_to_their_hosts() {
        let mut names = FlowNames::default();
        // The first of a datagram, with more to come, and the last of another, at byte 1,480.
        for (flow, field) in [(1, 0x2000u16), (2, 185)] {
            let mut fragment = packet(17);
            fragment[6..8].copy_from_slice(&field.to_be_bytes());
            names.note(flow, &fragment);
        }
        assert!(names.each().all(|(_, name)| name == "udp 10.0.0.1 > 10.0.0.2"));
        assert_eq!(names.each().count(), 2);
    }
}
