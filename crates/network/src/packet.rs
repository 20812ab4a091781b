use longhaul_link::LinkPacket;
use longhaul_plan::{Sender, Way};
use longhaul_units::Time;

/// A node, by its position in the plan; in a frame, a station of an Ethernet segment, which may be no node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// Stations from here on have addresses that are no node's.
const FOREIGN: u32 = 1 << 30;
/// Stations from here on are groups: multicast and broadcast addresses.
const GROUP: u32 = 1 << 31;

impl NodeId {
    /// A station that is not a node, by a number below 2^30.
    pub fn foreign_station(number: u32) -> Self {
        NodeId(FOREIGN | number)
    }

    /// A group of stations, by a number below 2^30.
    pub fn group(number: u32) -> Self {
        NodeId(GROUP | number)
    }

    /// Whether it is a group of stations.
    #[inline]
    pub fn is_group(self) -> bool {
        self.0 & GROUP != 0
    }
}

/// One direction of a link: twice the link's position in the plan, plus one for reverse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DirectionId(pub u32);

impl DirectionId {
    /// The direction `way` of the link at position `link`.
    pub fn new(link: usize, way: Way) -> Self {
        DirectionId(2 * link as u32 + u32::from(way == Way::Reverse))
    }

    /// The other direction of the same link.
    #[must_use]
    pub fn opposite(self) -> Self {
        DirectionId(self.0 ^ 1)
    }

    /// The link's position in the plan.
    pub fn link(self) -> usize {
        (self.0 / 2) as usize
    }

    /// Which of the two.
    pub fn way(self) -> Way {
        if self.0.is_multiple_of(2) { Way::Forward } else { Way::Reverse }
    }
}

/// Properties of a packet that routers look at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// IPv6 rather than IPv4.
    pub const V6: Flags = Flags(1);
    /// Must not be fragmented.
    pub const DONT_FRAGMENT: Flags = Flags(2);
    /// Never answered by an ICMP error (RFC 1122 section 3.2.2, RFC 4443 section 2.4 e).
    pub const NO_REPLY: Flags = Flags(4);
    /// An ICMP echo request.
    pub const ECHO_REQUEST: Flags = Flags(8);
    /// Taken by its destination, even if that is a router.
    pub const TAKEN: Flags = Flags(16);
    /// Has bytes: a host that forwards gets it, and sends it on itself. Packets without it pass through such hosts in the
    /// model.
    pub const REAL: Flags = Flags(32);
    /// An Ethernet frame, whose source and destination are stations of a segment.
    pub const FRAME: Flags = Flags(64);

    /// None of them.
    pub fn empty() -> Self {
        Flags(0)
    }

    /// As a number, for records.
    pub fn bits(self) -> u8 {
        self.0
    }

    /// From [`bits`](Self::bits).
    pub fn from_bits(bits: u8) -> Self {
        Flags(bits)
    }

    /// Sets or clears `flag`.
    pub fn set(&mut self, flag: Flags, value: bool) {
        self.0 = if value { self.0 | flag.0 } else { self.0 & !flag.0 };
    }

    /// Whether `flag` is set.
    pub fn has(self, flag: Flags) -> bool {
        self.0 & flag.0 != 0
    }
}

/// One IP packet of the model; its bytes are the host's business.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The host's handle of the bytes.
    pub body: u32,
    /// Position among the segments of its super-packet.
    pub segment: u16,
    /// Segments of its super-packet; 1 for an ordinary packet.
    pub segments: u16,
    /// IP bytes of this packet.
    pub bytes: u32,
    /// Where it came from.
    pub source: NodeId,
    /// Where it goes.
    pub destination: NodeId,
    /// TTL or hop limit that it was sent with.
    pub ttl: u8,
    /// Routers that it has passed.
    pub hops: u8,
    /// What routers look at.
    pub flags: Flags,
    /// DSCP (upper six bits) and ECN (lower two), as on the packet; a queue may mark it.
    pub class: u8,
    /// A hash of its flow: hosts, protocol and ports.
    pub flow: u32,
    /// If not zero, one bit of it is wrong, which this number chooses.
    pub damage: u32,
    /// When it came to the link that it is on; set by the network.
    pub offered: Time,
}

// What a queue or a wire keeps for each packet; docs and benchmark say so.
const _: () = assert!(size_of::<Packet>() == 40);

/// Congestion experienced (RFC 3168, section 5).
const CE: u8 = 3;

impl Packet {
    /// One of which nothing matters but its size.
    pub(crate) fn of_bytes(bytes: u32) -> Self {
        Packet {
            body: 0,
            segment: 0,
            segments: 1,
            bytes,
            source: NodeId(0),
            destination: NodeId(0),
            ttl: 0,
            hops: 0,
            flags: Flags::empty(),
            class: 0,
            flow: 0,
            damage: 0,
            offered: Time::ZERO,
        }
    }
}

impl LinkPacket for Packet {
    fn bytes(&self) -> u32 {
        self.bytes
    }

    fn continues(&self, previous: &Self) -> bool {
        self.body == previous.body
            && Some(self.segment) == previous.segment.checked_add(1)
            && self.hops == previous.hops
            && self.class == previous.class
            && self.damage == 0
            && previous.damage == 0
    }

    fn flow(&self) -> u64 {
        u64::from(self.flow)
    }

    fn hosts(&self) -> u64 {
        u64::from(self.source.0) << 32 | u64::from(self.destination.0)
    }

    fn dscp(&self) -> u8 {
        self.class >> 2
    }

    fn mark(&mut self) -> bool {
        let capable = self.class & CE != 0;
        if capable {
            self.class |= CE;
        }
        capable
    }

    fn corrupt(&mut self, draw: u64) {
        self.damage = (draw as u32) | 1;
    }
}

/// How a packet ended, other than by reaching its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fate {
    /// Taken by a link's loss model.
    Lost,
    /// A queue was full.
    Overflowed,
    /// Dropped by active queue management.
    Dropped,
    /// A link was down.
    Down,
    /// No way led to its destination.
    NoRoute,
    /// It had passed as many routers as its TTL allowed.
    TtlExpired,
    /// It did not fit the next link.
    TooBig,
    /// A model router was its destination.
    Answered,
    /// Its host's pacing had no room for it, or a bucket too small for it.
    PacerDropped,
    /// A switch had its destination behind the link that it came by, or no other link; or it was for another station than
    /// the router that it came to.
    Filtered,
    /// Its sender is behind two links of a switch at once.
    Looped,
}

impl Fate {
    /// Every one, in the order in which they are declared.
    pub const ALL: [Fate; 11] = [
        Fate::Lost,
        Fate::Overflowed,
        Fate::Dropped,
        Fate::Down,
        Fate::NoRoute,
        Fate::TtlExpired,
        Fate::TooBig,
        Fate::Answered,
        Fate::PacerDropped,
        Fate::Filtered,
        Fate::Looped,
    ];
    /// How many there are.
    pub const COUNT: usize = Self::ALL.len();

    /// Its name in records.
    pub fn name(self) -> &'static str {
        match self {
            Fate::Lost => "lost",
            Fate::Overflowed => "overflowed",
            Fate::Dropped => "dropped",
            Fate::Down => "down",
            Fate::NoRoute => "no_route",
            Fate::TtlExpired => "ttl_expired",
            Fate::TooBig => "too_big",
            Fate::Answered => "answered",
            Fate::PacerDropped => "pacer_dropped",
            Fate::Filtered => "filtered",
            Fate::Looped => "looped",
        }
    }
}

impl From<longhaul_link::Fate> for Fate {
    fn from(fate: longhaul_link::Fate) -> Self {
        match fate {
            longhaul_link::Fate::Lost => Fate::Lost,
            longhaul_link::Fate::Overflowed => Fate::Overflowed,
            longhaul_link::Fate::Dropped => Fate::Dropped,
            longhaul_link::Fate::Down => Fate::Down,
        }
    }
}

/// What a host's pacing may want to know of a packet, beyond what routers look at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The number of its protocol; `None` if it has none.
    pub protocol: Option<u8>,
    /// Source and destination port; `None` if it has none.
    pub ports: Option<(u16, u16)>,
    /// Whose it is, if it is simulated.
    pub sender: Option<Sender>,
}

/// What a router says about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// It has passed too many routers.
    TtlExceeded,
    /// It does not fit the next link.
    TooBig {
        /// That link's MTU, in bytes of IP packet.
        mtu: u32,
    },
    /// No way leads to its destination.
    NoRoute,
    /// Nobody listens here.
    PortUnreachable,
    /// The answer to an echo request.
    EchoReply,
    /// The answer of ARP or neighbour discovery, if a frame asks for an address of the router.
    NeighbourReply,
}

/// The bytes of a router's message, made by the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The host's handle of the bytes.
    pub body: u32,
    /// Their number.
    pub bytes: u32,
}
