//! The bytes of simulated packets, for captures: the headers that their endpoints would write, and payloads of zeros.

use crate::agent::Agent;
use crate::endpoints::Endpoints;
use crate::payload::Payload;
use longhaul_checksum::{checksum, pseudo_header, sum};
use longhaul_network::{Flags as PacketFlags, Packet};
use longhaul_plan::Plan;
use longhaul_random::mix;
use longhaul_transport::{Flags, Segment, Settings};
use longhaul_units::Time;
use std::net::{Ipv4Addr, Ipv6Addr};

const ICMP: u8 = 1;
const TCP: u8 = 6;
const UDP: u8 = 17;
/// For experiments (RFC 3692): packets of a list, of whose transport the simulation knows nothing.
const EXPERIMENTAL: u8 = 253;
/// First port of servers, and how many follow.
const SERVER_PORTS: (u32, u32) = (5001, 27_000);
/// First port of clients, and how many follow, as on Linux (`net.ipv4.ip_local_port_range`).
const CLIENT_PORTS: (u32, u32) = (32_768, 28_232);
/// Nanoseconds in a tick of the timestamps option, as on Linux.
const TIMESTAMP_TICK_NS: u64 = 1_000_000;
const IPV4_HEADER: usize = 20;
const IPV6_HEADER: usize = 40;
const TCP_HEADER: usize = 20;
const DONT_FRAGMENT: u16 = 0x4000;
/// Options (RFC 9293, RFC 7323, RFC 2018).
const NOP: u8 = 1;

/// A simulated packet at one instant, with what it carries.
#[derive(Clone, Copy, Debug)]
pub struct CapturedPacket {
    pub(crate) packet: Packet,
    /// The one that it is for.
    pub(crate) agent: u32,
    pub(crate) payload: Payload,
}

/// A segment of TCP that was sent for the first time and occupies sequence space.
#[derive(Clone, Copy, Debug)]
pub struct SentSegment {
    /// The agent that it is for.
    pub(crate) agent: u32,
    /// Its number.
    pub(crate) sequence: u64,
    /// Sequence numbers on the wire that it occupies.
    pub(crate) length: u32,
}

impl SentSegment {
    /// Of `segment`, which is for `agent`; `None` if it occupies no sequence space or is a retransmission.
    pub(crate) fn new(agent: u32, segment: &Segment) -> Option<Self> {
        let is_new = segment.occupies_sequence_space() && !segment.flags.has(Flags::RETRANSMISSION);
        let length = u32::from(segment.bytes) + u32::from(segment.flags.has(Flags::FIN));
        is_new.then_some(SentSegment { agent, sequence: segment.sequence, length })
    }
}

/// What the headers of simulated packets say beyond what packets carry: addresses, ports, and where each segment begins in
/// the sequence space of its connection.
///
/// Segments are [noted](Self::note_sent) in the order in which their senders send them, before packets that carry or
/// acknowledge them are [encoded](Self::encode).
#[derive(Default)]
pub struct Headers {
    /// By node.
    addresses: Vec<(Ipv4Addr, Ipv6Addr)>,
    /// By agent.
    ends: Vec<End>,
    /// By the agent that receives the data.
    sequences: Vec<SequenceSpace>,
}

/// One end of a flow, as headers describe it.
#[derive(Clone, Copy, Debug, Default)]
struct End {
    /// The agent at the other end.
    peer: u32,
    port: u16,
    /// Shift of the windows that it advertises, once both ends have agreed.
    window_shift: u8,
    /// What its SYN announces (RFC 9293, section 3.7.1).
    mss: u16,
    /// Whether it takes packets of a list.
    listed: bool,
}

/// Where the segments of one direction of a connection begin, in runs of segments of one length.
#[derive(Clone, Debug, Default)]
struct SequenceSpace {
    runs: Vec<Run>,
    /// The number and the offset of the next segment.
    next: (u64, u64),
}

#[derive(Clone, Copy, Debug)]
struct Run {
    sequence: u64,
    offset: u64,
    length: u32,
}

impl SequenceSpace {
    fn push(&mut self, sequence: u64, length: u32) {
        let (expected, offset) = self.next;
        if sequence != expected {
            return;
        }
        if self.runs.last().is_none_or(|last| last.length != length) {
            self.runs.push(Run { sequence, offset, length });
        }
        self.next = (sequence + 1, offset + u64::from(length));
    }

    /// Bytes before the segment of this number.
    fn offset(&self, sequence: u64) -> u64 {
        if sequence >= self.next.0 {
            return self.next.1;
        }
        let place = self.runs.partition_point(|run| run.sequence <= sequence);
        let run = place.checked_sub(1).and_then(|place| self.runs.get(place));
        run.map_or(0, |run| run.offset + (sequence - run.sequence) * u64::from(run.length))
    }
}

impl Endpoints {
    /// The headers of the packets that the endpoints of `plan` send.
    pub fn headers(&self, plan: &Plan) -> Headers {
        let address = |node: &longhaul_plan::Node| {
            (node.ipv4.unwrap_or(Ipv4Addr::UNSPECIFIED), node.ipv6.unwrap_or(Ipv6Addr::UNSPECIFIED))
        };
        let mut ends = vec![End::default(); self.agents.len()];
        for pair in &self.pairs {
            let server = port(SERVER_PORTS, pair.flow);
            let listed = matches!(self.agents[pair.sender as usize], Agent::PacketSource(_));
            let ports = match self.agents[pair.sender as usize] {
                // Both ends have the identifier of the echo messages.
                Agent::Ping(_) => [server, server],
                _ => [port(CLIENT_PORTS, pair.stream), server],
            };
            let of = [(pair.sender, pair.receiver), (pair.receiver, pair.sender)];
            for ((own, peer), port) in of.into_iter().zip(ports) {
                ends[own as usize] = End { peer, port, listed, ..End::of(&self.agents[own as usize]) };
            }
        }
        let mut connections = 0;
        for (place, agent) in self.agents.iter().enumerate() {
            let Agent::Channel(channel) = agent else { continue };
            let (peer, flows) = (channel.way.peer, plan.flows.len() as u32);
            // The end that opens the connection is the first of the two.
            let opens = (place as u32) < peer;
            connections += u32::from(opens);
            let port = if opens {
                port(CLIENT_PORTS, connections - 1)
            } else {
                port(SERVER_PORTS, flows + channel.owner.0)
            };
            ends[place] = End { peer, port, ..End::of(agent) };
        }
        Headers {
            addresses: plan.nodes.iter().map(address).collect(),
            sequences: vec![SequenceSpace::default(); ends.len()],
            ends,
        }
    }
}

fn port((first, count): (u32, u32), number: u32) -> u16 {
    (first + number % count) as u16
}

impl End {
    /// What the settings of an agent say.
    fn of(agent: &Agent) -> End {
        let settings: &Settings = match agent {
            Agent::Stream(end) => &end.config().settings,
            Agent::Channel(channel) => channel.connection().settings(),
            _ => return End::default(),
        };
        let stamps = if settings.timestamps { 12 } else { 0 };
        End {
            window_shift: if settings.window_scaling { settings.receive_buffer.window_shift() } else { 0 },
            mss: settings.mss.saturating_add(stamps),
            ..End::default()
        }
    }
}

impl Headers {
    /// A segment was sent.
    pub fn note_sent(&mut self, sent: &SentSegment) {
        if let Some(space) = self.sequences.get_mut(sent.agent as usize) {
            space.push(sent.sequence, sent.length);
        }
    }

    /// Writes the first `snaplen` bytes of a packet to `out`, which is cleared before; returns the length of the packet.
    ///
    /// Checksums are right, unless the packet is damaged. Hosts send no options of IP, and identification 0 with DF
    /// (RFC 6864, section 4.1).
    pub fn encode(&self, captured: &CapturedPacket, snaplen: usize, out: &mut Vec<u8>) -> u32 {
        let CapturedPacket { packet, agent, payload } = captured;
        let ipv6 = packet.flags.has(PacketFlags::V6);
        let header = if ipv6 { IPV6_HEADER } else { IPV4_HEADER };
        let length = packet.bytes as usize;
        let transport = length.saturating_sub(header);
        let protocol = match payload {
            Payload::Segment(_) => TCP,
            Payload::Echo(_) | Payload::EchoReply(_) => ICMP,
            Payload::Datagram { .. } if self.ends[*agent as usize].listed => EXPERIMENTAL,
            Payload::Datagram { .. } => UDP,
        };
        out.clear();
        let addresses = self.push_ip(packet, ipv6, protocol, out);
        let pseudo = pseudo_header(&out[addresses..], protocol, transport);
        match payload {
            Payload::Segment(segment) => self.push_tcp(*agent, segment, pseudo, out),
            Payload::Datagram { .. } if protocol == EXPERIMENTAL => {}
            Payload::Datagram { .. } => self.push_udp(*agent, transport, pseudo, out),
            Payload::Echo(number) => self.push_echo(*agent, 8, *number, out),
            Payload::EchoReply(number) => self.push_echo(*agent, 0, *number, out),
        }
        out.resize(length.min(snaplen.max(out.len())), 0);
        if packet.damage != 0 && transport > 0 {
            let bit = packet.damage as usize % (8 * transport);
            if let Some(byte) = out.get_mut(header + bit / 8) {
                *byte ^= 1 << (bit % 8);
            }
        }
        out.truncate(snaplen);
        packet.bytes
    }

    /// Adds the header of IP; returns where its addresses begin, which are its end.
    fn push_ip(&self, packet: &Packet, ipv6: bool, protocol: u8, out: &mut Vec<u8>) -> usize {
        let [from, to] = [packet.source, packet.destination].map(|node| self.addresses[node.0 as usize]);
        let ttl = packet.ttl.saturating_sub(packet.hops);
        if ipv6 {
            out.extend((6 << 28 | u32::from(packet.class) << 20).to_be_bytes());
            out.extend((packet.bytes.saturating_sub(IPV6_HEADER as u32) as u16).to_be_bytes());
            out.extend([protocol, ttl]);
            out.extend(from.1.octets());
            out.extend(to.1.octets());
            return 8;
        }
        out.extend([0x45, packet.class]);
        out.extend((packet.bytes as u16).to_be_bytes());
        out.extend([0, 0]);
        out.extend(DONT_FRAGMENT.to_be_bytes());
        out.extend([ttl, protocol, 0, 0]);
        out.extend(from.0.octets());
        out.extend(to.0.octets());
        let check = checksum(sum(out));
        out[10..12].copy_from_slice(&check.to_be_bytes());
        12
    }

    fn push_udp(&self, agent: u32, length: usize, pseudo: u64, out: &mut Vec<u8>) {
        let end = &self.ends[agent as usize];
        let start = out.len();
        out.extend(self.ends[end.peer as usize].port.to_be_bytes());
        out.extend(end.port.to_be_bytes());
        out.extend((length as u16).to_be_bytes());
        // RFC 768: a computed checksum of zero is sent as all ones.
        let check = match checksum(pseudo + sum(&out[start..])) {
            0 => 0xffff,
            check => check,
        };
        out.extend(check.to_be_bytes());
    }

    fn push_echo(&self, agent: u32, kind: u8, number: u64, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend([kind, 0, 0, 0]);
        out.extend(self.ends[agent as usize].port.to_be_bytes());
        out.extend((number as u16).to_be_bytes());
        let check = checksum(sum(&out[start..]));
        out[start + 2..start + 4].copy_from_slice(&check.to_be_bytes());
    }

    fn push_tcp(&self, agent: u32, segment: &Segment, pseudo: u64, out: &mut Vec<u8>) {
        let end = &self.ends[agent as usize];
        let sender = &self.ends[end.peer as usize];
        let has = |flag| segment.flags.has(flag);
        let start = out.len();
        out.extend(sender.port.to_be_bytes());
        out.extend(end.port.to_be_bytes());
        // Of data for `to`, before the segment of this number. The SYN occupies the first number.
        let number = |to: u32, sequence: u64| {
            initial_sequence(to)
                .wrapping_add(1)
                .wrapping_add(self.sequences[to as usize].offset(sequence) as u32)
        };
        let sequence = number(agent, segment.sequence);
        let before = u32::from(has(Flags::SYN) || has(Flags::PROBE) && segment.bytes == 0);
        out.extend(sequence.wrapping_sub(before).to_be_bytes());
        let acknowledged = if has(Flags::ACK) { number(end.peer, segment.acknowledged) } else { 0 };
        out.extend(acknowledged.to_be_bytes());
        let bits = [
            (Flags::FIN, 1),
            (Flags::SYN, 2),
            (Flags::ACK, 16),
            (Flags::ECE, 64),
            (Flags::CWR, 128),
            (Flags::AE, 256),
        ];
        let flags: u16 = bits.iter().filter(|(flag, _)| has(*flag)).map(|(_, bit)| bit).sum();
        out.extend(flags.to_be_bytes());
        let shift = if has(Flags::SYN) { 0 } else { sender.window_shift };
        out.extend((segment.window >> shift).min(0xffff).to_be_bytes()[2..].iter());
        out.extend([0, 0, 0, 0]);
        push_options(segment, sender, |sequence| number(end.peer, sequence), out);
        let header = out.len() - start;
        out[start + 12] |= (header as u8 / 4) << 4;
        let check = checksum(pseudo + sum(&out[start..]));
        out[start + 16..start + 18].copy_from_slice(&check.to_be_bytes());
        debug_assert_eq!(
            segment.total_bytes(),
            (start + header) as u32 + u32::from(segment.bytes),
            "{header} bytes of header, at least {TCP_HEADER}"
        );
    }
}

/// Adds the options of `segment` as common stacks lay them out; `number` is that on the wire of what it acknowledges.
fn push_options(segment: &Segment, sender: &End, number: impl Fn(u64) -> u32, out: &mut Vec<u8>) {
    let has = |flag| segment.flags.has(flag);
    let syn = has(Flags::SYN);
    if syn {
        out.extend([2, 4]);
        out.extend(sender.mss.to_be_bytes());
    }
    let permitted = syn && has(Flags::SACK_PERMITTED);
    if permitted || has(Flags::TIMESTAMPS) {
        out.extend(if permitted { [4, 2] } else { [NOP; 2] });
    }
    if has(Flags::TIMESTAMPS) {
        out.extend([8, 10]);
        out.extend(ticks(segment.sent).to_be_bytes());
        let echo = if has(Flags::ACK) { ticks(segment.echo) } else { 0 };
        out.extend(echo.to_be_bytes());
    } else if permitted {
        out.extend([NOP; 2]);
    }
    if syn && has(Flags::WINDOW_SCALING) {
        out.extend([NOP, 3, 3, sender.window_shift]);
    }
    let blocks = segment.sacks.iter().take_while(|block| !block.is_empty()).count();
    if !syn && blocks > 0 {
        out.extend([NOP, NOP, 5, 2 + 8 * blocks as u8]);
        for block in &segment.sacks[..blocks] {
            let (first, last) = block.absolute(segment.acknowledged);
            out.extend(number(first).to_be_bytes());
            out.extend(number(last).to_be_bytes());
        }
    }
}

/// The initial sequence number of data for an agent.
fn initial_sequence(agent: u32) -> u32 {
    mix(u64::from(agent)) as u32
}

/// A time as the timestamps option has it; never zero, which means that there is none.
fn ticks(at: Time) -> u32 {
    (at.ns() / TIMESTAMP_TICK_NS) as u32 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_of_any_length_follow_one_another_in_the_sequence_space() {
        let mut space = SequenceSpace::default();
        for (sequence, length) in (0..).zip([1448, 1448, 100, 1448, 1, 1]) {
            space.push(sequence, length);
        }
        let offsets: Vec<u64> = (0..8).map(|sequence| space.offset(sequence)).collect();
        assert_eq!(offsets, [0, 1448, 2896, 2996, 4444, 4445, 4446, 4446]);
        assert_eq!(space.runs.len(), 4);
    }

    #[test]
    fn retransmissions_and_acknowledgements_occupy_no_new_numbers() {
        let segment = Segment {
            sequence: 3,
            acknowledged: 0,
            sent: Time::ZERO,
            echo: Time::ZERO,
            sacks: Default::default(),
            window: 0,
            bytes: 10,
            flags: Flags::FIN,
        };
        assert_eq!(SentSegment::new(0, &segment).map(|sent| sent.length), Some(11));
        let again = Segment { flags: Flags::FIN | Flags::RETRANSMISSION, ..segment };
        assert!(SentSegment::new(0, &again).is_none());
        let empty = Segment { bytes: 0, flags: Flags::ACK, ..segment };
        assert!(SentSegment::new(0, &empty).is_none());
    }
}
