//! Packets by hand: a virtio header, Ethernet, IPv4 and what is inside.

const VIRTIO_BYTES: usize = 12;
const ETHERNET_BYTES: usize = 14;
const IP: usize = VIRTIO_BYTES + ETHERNET_BYTES;
/// Without options, after the IPv4 header.
const TRANSPORT: usize = IP + 20;

const ICMP: u8 = 1;
const TCP: u8 = 6;
const UDP: u8 = 17;
/// The guest need not check the checksum (`VIRTIO_NET_HDR_F_DATA_VALID`).
const DATA_VALID: u8 = 2;
const GSO_TCPV4: u8 = 1;

pub const GUEST_MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];
const GUEST_ADDRESS: [u8; 4] = [10, 0, 0, 1];
const OUR_ADDRESS: [u8; 4] = [10, 0, 0, 2];

/// A packet of the guest, with its virtio header.
pub struct Packet(pub Vec<u8>);

impl Packet {
    pub fn is_icmp(&self) -> bool {
        self.protocol() == Some(ICMP)
    }

    pub fn is_echo_reply(&self) -> bool {
        self.is_icmp() && self.fragment_offset() == 0 && self.0[TRANSPORT] == 0
    }

    /// Whether it is the last of several fragments.
    pub fn is_last_fragment(&self) -> bool {
        const MORE_FRAGMENTS: u8 = 0x20;
        self.is_icmp() && self.fragment_offset() > 0 && self.0[IP + 6] & MORE_FRAGMENTS == 0
    }

    pub fn is_udp(&self) -> bool {
        self.protocol() == Some(UDP)
    }

    pub fn is_syn(&self) -> bool {
        self.protocol() == Some(TCP) && self.0[TRANSPORT + 13] == 2
    }

    /// Whether it is a TCP super-packet.
    pub fn is_super(&self) -> bool {
        self.protocol() == Some(TCP) && self.0[1] & 0x7f == GSO_TCPV4
    }

    pub fn icmp_data(&self) -> &[u8] {
        &self.0[TRANSPORT + 8..]
    }

    /// What is after the IP header.
    pub fn ip_payload(&self) -> &[u8] {
        &self.0[TRANSPORT..]
    }

    pub fn to_port(&self) -> u16 {
        self.u16_at(TRANSPORT + 2)
    }

    /// What is after the header of UDP or TCP.
    pub fn payload(&self) -> &[u8] {
        let header = if self.is_udp() { 8 } else { usize::from(self.0[TRANSPORT + 12] >> 4) * 4 };
        &self.0[TRANSPORT + header..]
    }

    fn protocol(&self) -> Option<u8> {
        let is_ours = self.0.get(IP)? >> 4 == 4 && self.0.get(IP + 16..IP + 20)? == OUR_ADDRESS;
        is_ours.then_some(self.0[IP + 9])
    }

    fn fragment_offset(&self) -> u16 {
        (self.u16_at(IP + 6) & 0x1fff) * 8
    }

    fn u16_at(&self, at: usize) -> u16 {
        u16::from_be_bytes([self.0[at], self.0[at + 1]])
    }
}

/// An ICMP echo request to the guest.
pub fn echo_request(data: &[u8]) -> Vec<u8> {
    let mut message = vec![8, 0, 0, 0, 0, 7, 0, 1];
    message.extend(data);
    let sum = checksum(&message);
    message[2..4].copy_from_slice(&sum);
    to_guest(ICMP, &message)
}

/// The second packet of TCP's handshake: a peer with an MSS of 1360 bytes and a window of 64 KiB.
pub fn syn_ack(syn: &Packet) -> Vec<u8> {
    let ports = &syn.0[TRANSPORT..];
    let sequence = u32::from_be_bytes([ports[4], ports[5], ports[6], ports[7]]).wrapping_add(1);
    let mut segment = vec![ports[2], ports[3], ports[0], ports[1], 0, 0, 0, 1];
    segment.extend(sequence.to_be_bytes());
    segment.extend([6 << 4, 0x12, 0xff, 0xff, 0, 0, 0, 0]);
    segment.extend([2, 4, 0x05, 0x50]);
    to_guest(TCP, &segment)
}

fn to_guest(protocol: u8, content: &[u8]) -> Vec<u8> {
    let mut packet = vec![0; VIRTIO_BYTES];
    packet[0] = DATA_VALID;
    packet.extend(GUEST_MAC);
    packet.extend([2, 0, 0, 0, 0, 2, 0x08, 0x00]);
    let [l0, l1] = (20 + content.len() as u16).to_be_bytes();
    let mut ip = vec![0x45, 0, l0, l1, 0, 1, 0, 0, 64, protocol, 0, 0];
    ip.extend(OUR_ADDRESS);
    ip.extend(GUEST_ADDRESS);
    let sum = checksum(&ip);
    ip[10..12].copy_from_slice(&sum);
    packet.extend(ip);
    packet.extend(content);
    packet
}

/// The Internet checksum (RFC 1071).
fn checksum(bytes: &[u8]) -> [u8; 2] {
    let words = bytes.chunks(2).map(|word| u32::from(word[0]) << 8 | u32::from(*word.get(1).unwrap_or(&0)));
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    (!(sum as u16)).to_be_bytes()
}
