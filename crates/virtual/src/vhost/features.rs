//! What each kind of device offers, and its configuration space.

/// Bytes in front of every packet of a network device (`struct virtio_net_hdr_v1`).
pub const NET_HEADER_BYTES: usize = 12;
/// Longest configuration space that the protocol carries.
pub(super) const CONFIG_BYTES: usize = 256;

/// What a device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A network interface, `eth0` and so on in the guest.
    Net(NetConfig),
    /// A serial line, `hvc0` and so on in the guest.
    Console,
}

/// Configuration of a network interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetConfig {
    /// Its Ethernet address.
    pub mac: [u8; 6],
    /// Longest IP packet, in bytes, and the interface's initial MTU.
    pub mtu: u16,
}

/// Feature bits (VIRTIO 1.2, sections 5.1.3 and 6), each as a mask.
pub mod bits {
    /// The guest may send packets without their checksum.
    pub const NET_CSUM: u64 = 1;
    /// The guest takes packets without their checksum.
    pub const NET_GUEST_CSUM: u64 = 1 << 1;
    /// The device tells its MTU.
    pub const NET_MTU: u64 = 1 << 3;
    /// The device has an Ethernet address.
    pub const NET_MAC: u64 = 1 << 5;
    /// The guest takes TCP super-packets over IPv4.
    pub const NET_GUEST_TSO4: u64 = 1 << 7;
    /// The guest takes TCP super-packets over IPv6.
    pub const NET_GUEST_TSO6: u64 = 1 << 8;
    /// The guest takes TCP super-packets with ECN.
    pub const NET_GUEST_ECN: u64 = 1 << 9;
    /// The guest may send TCP super-packets over IPv4.
    pub const NET_HOST_TSO4: u64 = 1 << 11;
    /// The guest may send TCP super-packets over IPv6.
    pub const NET_HOST_TSO6: u64 = 1 << 12;
    /// The guest may send TCP super-packets with ECN.
    pub const NET_HOST_ECN: u64 = 1 << 13;
    /// A received packet may occupy several buffers.
    pub const NET_MRG_RXBUF: u64 = 1 << 15;
    /// The device tells whether its link is up.
    pub const NET_STATUS: u64 = 1 << 16;
    /// The device speaks the protocol features of vhost-user.
    pub const PROTOCOL_FEATURES: u64 = 1 << 30;
    /// The device complies with VIRTIO 1.
    pub const VERSION_1: u64 = 1 << 32;
    /// The guest takes UDP super-packets over IPv4.
    pub const NET_GUEST_USO4: u64 = 1 << 54;
    /// The guest takes UDP super-packets over IPv6.
    pub const NET_GUEST_USO6: u64 = 1 << 55;
    /// The guest may send UDP super-packets.
    pub const NET_HOST_USO: u64 = 1 << 56;
}

/// Protocol features of vhost-user that this back end offers and needs: `REPLY_ACK`, `BACKEND_REQ`, `CONFIG` and
/// `INBAND_NOTIFICATIONS`.
pub(super) const PROTOCOL_FEATURES: u64 = 1 << 3 | 1 << 5 | 1 << 9 | 1 << 14;

impl Kind {
    /// The number that stands after the socket's path in `virtio_uml.device=PATH:ID` (VIRTIO 1.2, section 5).
    pub fn virtio_id(self) -> u32 {
        match self {
            Kind::Net(_) => 1,
            Kind::Console => 3,
        }
    }

    /// Features that the device offers.
    pub(super) fn offered(self) -> u64 {
        let net = bits::NET_CSUM
            | bits::NET_GUEST_CSUM
            | bits::NET_MTU
            | bits::NET_MAC
            | bits::NET_GUEST_TSO4
            | bits::NET_GUEST_TSO6
            | bits::NET_GUEST_ECN
            | bits::NET_HOST_TSO4
            | bits::NET_HOST_TSO6
            | bits::NET_HOST_ECN
            | bits::NET_STATUS
            | bits::NET_GUEST_USO4
            | bits::NET_GUEST_USO6
            | bits::NET_HOST_USO;
        match self {
            Kind::Net(_) => self.required() | net,
            Kind::Console => self.required(),
        }
    }

    /// Features without which the device cannot work.
    ///
    /// A network device writes a packet into as many buffers as it needs. Without `MRG_RXBUF` a packet could be too
    /// long for every buffer.
    pub(super) fn required(self) -> u64 {
        match self {
            Kind::Net(_) => bits::VERSION_1 | bits::PROTOCOL_FEATURES | bits::NET_MRG_RXBUF,
            Kind::Console => bits::VERSION_1 | bits::PROTOCOL_FEATURES,
        }
    }

    /// Bytes of the header in front of every packet.
    pub(super) fn header_bytes(self) -> usize {
        match self {
            Kind::Net(_) => NET_HEADER_BYTES,
            Kind::Console => 0,
        }
    }

    /// The configuration space. What follows the device's fields is zero.
    pub(super) fn config(self) -> [u8; CONFIG_BYTES] {
        const LINK_UP: u16 = 1;
        const QUEUE_PAIRS: u16 = 1;
        let mut space = [0; CONFIG_BYTES];
        // A console without SIZE and MULTIPORT has no fields.
        if let Kind::Net(NetConfig { mac, mtu }) = self {
            // struct virtio_net_config (VIRTIO 1.2, section 5.1.4)
            space[..6].copy_from_slice(&mac);
            space[6..8].copy_from_slice(&LINK_UP.to_le_bytes());
            space[8..10].copy_from_slice(&QUEUE_PAIRS.to_le_bytes());
            space[10..12].copy_from_slice(&mtu.to_le_bytes());
        }
        space
    }
}
