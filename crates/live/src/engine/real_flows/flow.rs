//! One flow of real packets: its identity and its counts so far.

use longhaul_network::{Fate, NodeId, Packet, icmp};
use longhaul_record::{FlowCountRow, FlowCounts, FlowSampleRow};
use longhaul_units::Time;
use std::net::{IpAddr, SocketAddr};

const ICMP: u8 = 1;
const TCP: u8 = 6;
const UDP: u8 = 17;
const ICMPV6: u8 = 58;
const UDP_HEADER: u64 = 8;
const ICMP_HEADER: u64 = 8;

/// A flow so far.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    protocol: u8,
    ends: Option<(IpAddr, IpAddr)>,
    /// Source and destination port; the source port of echo messages is their identifier.
    ports: (Option<u16>, Option<u16>),
    /// The host that sends it; `None`: several do.
    node: Option<NodeId>,
    first: Time,
    last: Time,
    counts: FlowCounts,
    sent_bytes: u64,
    retransmitted_bytes: u64,
    copied: u64,
    /// By fate.
    ended: [u64; Fate::COUNT],
    /// The sequence number of the SYN that opened the connection, and the one behind the newest data.
    syn: Option<u32>,
    snd_nxt: Option<u32>,
    new_bytes: u64,
    new_at: Option<Time>,
    /// The latest acknowledgement of the opposite direction.
    acknowledgement: Option<u32>,
    acknowledged_at: Option<Time>,
    is_changed: bool,
}

/// Fields of a TCP packet about its connection.
struct Segment {
    sequence: u32,
    acknowledgement: Option<u32>,
    payload: u32,
    is_syn: bool,
    /// Sequence numbers that its SYN and FIN flags take.
    syn_fin: u32,
}

impl Flow {
    /// The flow of a packet that the host at `node` hands over.
    pub fn new(header: &icmp::Header, identifier: Option<u16>, bytes: &[u8], node: NodeId) -> Self {
        // All fragments of a host pair are one flow.
        let ports = match (identifier, icmp::origin(bytes).ports) {
            (Some(identifier), _) => (Some(identifier), None),
            (None, Some((from, to))) if !header.is_fragment() => (Some(from), Some(to)),
            _ => (None, None),
        };
        let ends = Some((header.source, header.destination));
        Flow { protocol: header.protocol, ends, ports, node: Some(node), ..Flow::default() }
    }

    pub fn is_icmp(&self) -> bool {
        is_icmp(self.protocol)
    }

    /// Whether its packets are of one TCP or UDP socket pair, so that sequence numbers can be compared.
    fn is_one_connection(&self) -> bool {
        self.ports.1.is_some()
    }

    /// Whether its host sent a packet with its hash: routers answer with packets that carry the same one.
    #[inline]
    pub fn has_sender(&self, node: NodeId) -> bool {
        self.node == Some(node)
    }

    fn has_sent(&self) -> bool {
        self.counts.sent_packets > 0
    }

    /// Whether packets of it were sent, or came from another machine and ended here.
    pub fn has_counted(&self) -> bool {
        self.has_sent() || self.counts.delivered_packets > 0 || self.ended.iter().any(|&count| count > 0)
    }

    /// Whether nothing changed since the last sample, until now.
    #[inline]
    pub fn is_unchanged(&mut self) -> bool {
        !std::mem::replace(&mut self.is_changed, true)
    }

    /// Counts a packet of so many segments that its host hands over.
    pub fn send(&mut self, now: Time, header: &icmp::Header, bytes: &[u8], segments: u32) {
        if !self.has_sent() {
            self.first = now;
        }
        self.last = now;
        let segments = u64::from(segments);
        let behind_ip = bytes.len().saturating_sub(header.header_len) as u64;
        self.counts.sent_packets += segments;
        self.sent_bytes += bytes.len() as u64;
        match header.protocol {
            TCP if !header.is_fragment() => {
                if let Some(segment) = Segment::parse(header, bytes) {
                    // The segments of a super-packet have headers of their own.
                    let headers = bytes.len() as u64 - u64::from(segment.payload);
                    self.sent_bytes += (segments - 1) * headers;
                    self.counts.payload_bytes += u64::from(segment.payload);
                    if self.is_one_connection() {
                        self.advance(now, &segment, segments);
                    }
                }
            }
            UDP if !header.is_fragment() => {
                self.counts.payload_bytes += behind_ip.saturating_sub(UDP_HEADER);
                self.sent_bytes += (segments - 1) * (header.header_len as u64 + UDP_HEADER);
            }
            protocol if is_icmp(protocol) => {
                self.counts.payload_bytes += behind_ip.saturating_sub(ICMP_HEADER);
            }
            _ => self.counts.payload_bytes += behind_ip,
        }
    }

    /// Counts a packet that reached its host.
    #[inline]
    pub fn deliver(&mut self, packet: &Packet) {
        self.counts.delivered_packets += 1;
        self.counts.delivered_bytes += u64::from(packet.bytes);
    }

    /// Counts a packet that ended otherwise.
    pub fn end(&mut self, fate: Fate) {
        self.ended[fate as usize] += 1;
    }

    /// Counts a packet that a link made.
    pub fn copy(&mut self) {
        self.copied += 1;
    }

    /// `tcp 10.0.0.1:40000 > 10.0.0.2:5201`.
    pub fn name(&self) -> Option<String> {
        let protocol = match self.protocol {
            ICMP | ICMPV6 => "icmp".to_owned(),
            TCP => "tcp".into(),
            UDP => "udp".into(),
            33 => "dccp".into(),
            132 => "sctp".into(),
            136 => "udplite".into(),
            other => format!("protocol {other}"),
        };
        let (from, to) = self.ends?;
        Some(match self.ports {
            (Some(source), Some(destination)) => {
                format!("{protocol} {} > {}", SocketAddr::new(from, source), SocketAddr::new(to, destination))
            }
            _ => format!("{protocol} {from} > {to}"),
        })
    }

    /// The counts now; the flow has not changed since.
    pub fn sample(&mut self, now: Time, place: u32) -> FlowSampleRow {
        self.is_changed = false;
        let ended_packets = self.ended.iter().sum();
        FlowSampleRow { t_ns: now.ns(), flow: place, counts: self.counts, ended_packets }
    }

    /// Everything that was counted.
    pub fn row(&self, place: u32) -> FlowCountRow {
        FlowCountRow {
            flow: place,
            protocol: self.protocol,
            source: self.ends.map(|(from, _)| from),
            source_port: self.ports.0,
            destination: self.ends.map(|(_, to)| to),
            destination_port: self.ports.1,
            first_ns: self.first.ns(),
            last_ns: self.last.ns(),
            last_new_ns: self.new_at.map(Time::ns),
            last_acknowledged_ns: self.acknowledged_at.map(Time::ns),
            counts: self.counts,
            new_bytes: self.new_bytes,
            retransmitted_bytes: self.retransmitted_bytes,
            sent_bytes: self.sent_bytes,
            copied_packets: self.copied,
            ended: self.ended,
        }
    }

    /// Follows a TCP connection: what is new of its data, and what it acknowledges.
    fn advance(&mut self, now: Time, segment: &Segment, segments: u64) {
        if segment.is_syn && self.syn != Some(segment.sequence) {
            // The first connection, or the next one between the same ports.
            (self.syn, self.snd_nxt, self.acknowledgement) = (Some(segment.sequence), None, None);
        }
        let payload = segment.payload;
        let end = segment.sequence.wrapping_add(payload).wrapping_add(segment.syn_fin);
        let beyond = self.snd_nxt.map_or(payload, |next| sequence_distance(next, end).min(payload));
        if self.snd_nxt.is_none_or(|next| sequence_distance(next, end) > 0) {
            self.snd_nxt = Some(end);
        }
        let retransmitted = u64::from(payload - beyond);
        if beyond > 0 {
            self.new_at = Some(now);
        }
        self.new_bytes += u64::from(beyond);
        if retransmitted > 0 {
            let each = u64::from(payload).div_ceil(segments.max(1));
            self.counts.retransmitted_packets += retransmitted.div_ceil(each);
            self.retransmitted_bytes += retransmitted;
        }
        if let Some(number) = segment.acknowledgement {
            let newly = self.acknowledgement.map_or(0, |before| sequence_distance(before, number));
            if newly > 0 {
                self.counts.acknowledged_bytes += u64::from(newly);
                self.acknowledged_at = Some(now);
            }
            if newly > 0 || self.acknowledgement.is_none() {
                self.acknowledgement = Some(number);
            }
        }
    }
}

impl Segment {
    fn parse(header: &icmp::Header, bytes: &[u8]) -> Option<Self> {
        const FIN: u8 = 1;
        const SYN: u8 = 2;
        const RST: u8 = 4;
        const ACK: u8 = 16;
        let tcp: &[u8; 20] = bytes.get(header.header_len..)?.first_chunk()?;
        let word = |at: usize| u32::from_be_bytes([tcp[at], tcp[at + 1], tcp[at + 2], tcp[at + 3]]);
        let flags = tcp[13];
        let length = usize::from(tcp[12] >> 4) * 4;
        let payload = bytes.len().checked_sub(header.header_len + length)?;
        if flags & RST != 0 {
            return None;
        }
        Some(Segment {
            sequence: word(4),
            acknowledgement: (flags & ACK != 0).then(|| word(8)),
            payload: payload as u32,
            is_syn: flags & SYN != 0,
            syn_fin: u32::from(flags & SYN != 0) + u32::from(flags & FIN != 0),
        })
    }
}

/// The identifier of an echo request or reply (RFC 792, RFC 4443).
pub fn echo_identifier(header: &icmp::Header, bytes: &[u8]) -> Option<u16> {
    let message: &[u8; 8] = bytes.get(header.header_len..)?.first_chunk()?;
    let is_echo = match header.protocol {
        ICMP => matches!(message[0], 0 | 8) && !header.is_later_fragment(),
        ICMPV6 => matches!(message[0], 128 | 129),
        _ => false,
    };
    is_echo.then(|| u16::from_be_bytes([message[4], message[5]]))
}

fn is_icmp(protocol: u8) -> bool {
    protocol == ICMP || protocol == ICMPV6
}

/// By how much sequence number `to` lies beyond `from`, modulo 2^32; 0 if it does not.
fn sequence_distance(from: u32, to: u32) -> u32 {
    let difference = to.wrapping_sub(from);
    if difference < 1 << 31 { difference } else { 0 }
}
