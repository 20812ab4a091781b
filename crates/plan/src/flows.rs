use longhaul_congestion::AlgorithmSettings;
use longhaul_random::Distribution;
use longhaul_units::InvalidValue;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Traffic from one host to another, simulated or sent by the generators of a live run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Its name.
    pub name: String,
    /// The host that begins, by position among the nodes.
    pub source: usize,
    /// The node that answers.
    pub destination: usize,
    /// When it begins.
    pub start_ns: u64,
    /// When it ends; `None`: with the run, or when it has sent what it should.
    pub stop_ns: Option<u64>,
    /// Whether it is simulated in a live run; in a simulation every flow is.
    #[serde(default)]
    pub simulated: bool,
    /// What it does.
    pub traffic: Traffic,
}

/// What a flow does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Traffic {
    /// Bulk transfer over TCP.
    Tcp {
        /// Connections side by side.
        streams: u32,
        /// What controls the windows.
        cc: AlgorithmSettings,
        /// How the rest of TCP behaves.
        #[serde(default)]
        tcp: Tcp,
        /// Payload of each connection, in bytes; `None`: until it is stopped.
        bytes: Option<u64>,
        /// The application hands over so many bits of payload a second; `None`: all at once.
        bits_per_s: Option<u64>,
        /// It does nothing until it is told to, by whoever drives the simulation.
        #[serde(default)]
        held: bool,
        /// Nodes between which each connection has subflows of Multipath TCP, the first one first; none: it is plain TCP.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        subflows: Vec<[usize; 2]>,
    },
    /// Datagrams, spaced as `arrivals` says.
    Udp {
        /// Bits of payload a second; at least 1.
        bits_per_s: u64,
        /// Payload of a datagram, in bytes; at least 1.
        payload_bytes: u32,
        /// Payload in all; `None`: until it is stopped.
        bytes: Option<u64>,
        /// How far apart they leave.
        #[serde(default)]
        arrivals: Arrivals,
        /// How their payload varies about `payload_bytes`.
        #[serde(default)]
        sizes: Sizes,
        /// Times of sending and of silence in turn, in ns; `None`: always sending.
        #[serde(default)]
        on_off: Option<(Distribution, Distribution)>,
    },
    /// Transfers one after another or side by side, each over a TCP connection of its own.
    Requests {
        /// From the begin of one to the begin of the next, in ns.
        gap: Distribution,
        /// Payload of each, in bytes, rounded; at least 1.
        size: Distribution,
        /// What controls the windows.
        cc: AlgorithmSettings,
        /// How the rest of TCP behaves.
        #[serde(default)]
        tcp: Tcp,
    },
    /// Transfers that are listed, each over a TCP connection of its own.
    Replay {
        /// When each begins, in ns since the flow does, and its payload, in bytes, at least 1; in that order.
        transfers: Vec<(u64, u64)>,
        /// What controls the windows.
        cc: AlgorithmSettings,
        /// How the rest of TCP behaves.
        #[serde(default)]
        tcp: Tcp,
    },
    /// Packets of a capture, at its times.
    Pcap {
        /// The packets of one pass.
        packets: PacketList,
        /// Passes over the list; at least 1.
        repeat: u64,
        /// From the begin of one pass to the begin of the next; not less than the last packet's time.
        every_ns: u64,
        /// The packets' bytes: a pcap file in the run directory, with a packet for each of the list. `None`: simulated
        /// packets, which have none.
        #[serde(default)]
        file: Option<String>,
    },
    /// Echo requests.
    Ping {
        /// From one to the next; at least 1.
        every_ns: u64,
        /// Payload, in bytes.
        payload_bytes: u32,
        /// How many; `None`: until it is stopped.
        count: Option<u64>,
    },
}

/// Packets and when they leave, column by column; all columns have the same length.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PacketList {
    /// When each leaves, in ns since the pass began; in that order.
    pub at_ns: Vec<u64>,
    /// Length of each, IP and above; at least 20 and at most 65535.
    pub bytes: Vec<u32>,
    /// A hash of hosts, protocol and ports, by which queues tell flows apart.
    pub flow: Vec<u32>,
    /// DSCP (upper six bits) and ECN (lower two).
    pub class: Vec<u8>,
    /// TTL or hop limit.
    pub ttl: Vec<u8>,
}

/// How far apart datagrams leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// By the byte clock of the rate.
    #[default]
    Even,
    /// A Poisson process of that mean rate.
    Poisson,
}

/// How the payload of datagrams varies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sizes {
    /// Not at all.
    #[default]
    Fixed,
    /// Exponentially, rounded to bytes, of that mean, at least 1 and at most what fits the path.
    Exponential,
}

/// How simulated TCP behaves, but for its congestion control.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tcp {
    /// How losses are found and repaired.
    pub recovery: Recovery,
    /// Window to begin with, in segments; `None`: as RFC 6928 says.
    pub initial_window: Option<u32>,
    /// Whether the receiver acknowledges every other segment only.
    pub delayed_ack: bool,
    /// Explicit congestion notification (RFC 3168).
    pub ecn: bool,
    /// Whether segments are spread over the round trip, whatever the algorithm.
    pub pacing: bool,
    /// Whether that is one window per round trip, no faster (PSPacer's dynamic mode); else Linux's gains.
    pub even: bool,
    /// Largest socket buffers, in bytes; half of the receiver's is offered as window. `None`: no limit.
    pub buffer_bytes: Option<u64>,
    /// Least retransmission timeout.
    pub min_rto_ns: u64,
    /// Whether it travels in IPv6.
    pub ipv6: bool,
}

impl Default for Tcp {
    fn default() -> Self {
        Tcp {
            recovery: Recovery::Rack,
            initial_window: None,
            delayed_ack: true,
            ecn: false,
            pacing: false,
            even: false,
            buffer_bytes: None,
            min_rto_ns: 200_000_000,
            ipv6: false,
        }
    }
}

/// How simulated TCP finds and repairs losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// Fast retransmit only (Jacobson 1988).
    Tahoe,
    /// RFC 5681.
    Reno,
    /// RFC 6582.
    Newreno,
    /// RFC 6675.
    Sack,
    /// RFC 6675, with a threshold that adapts to reordering as Linux 2.6 did.
    SackAdaptive,
    /// RFC 8985.
    Rack,
}

impl Flow {
    /// Whether it ends without the run: at a time, or when it has sent what it should.
    pub fn has_an_end(&self) -> bool {
        let finite = match &self.traffic {
            Traffic::Tcp { bytes, .. } | Traffic::Udp { bytes, .. } => bytes.is_some(),
            Traffic::Ping { count, .. } => count.is_some(),
            Traffic::Requests { .. } => false,
            Traffic::Replay { .. } | Traffic::Pcap { .. } => true,
        };
        finite || self.stop_ns.is_some()
    }

    /// The first thing that is wrong.
    pub(crate) fn check(&self) -> Result<(), InvalidValue> {
        if self.source == self.destination {
            return Err(InvalidValue::new("destination", "is the source"));
        }
        if self.stop_ns.is_some_and(|stop| stop <= self.start_ns) {
            return Err(InvalidValue::new("stop_ns", "is not after the start"));
        }
        match &self.traffic {
            Traffic::Tcp { cc, .. } | Traffic::Requests { cc, .. } | Traffic::Replay { cc, .. } => {
                cc.check().map_err(|error| error.within("traffic.cc"))?;
            }
            _ => {}
        }
        match &self.traffic {
            Traffic::Replay { transfers, .. } => check_transfers(transfers),
            Traffic::Pcap { packets, repeat, every_ns, .. } => packets.check(*repeat, *every_ns),
            Traffic::Tcp { held: true, subflows, .. } if !subflows.is_empty() => {
                Err(InvalidValue::new("traffic.held", "does not go with subflows"))
            }
            Traffic::Tcp { streams: 0, .. } => Err(InvalidValue::new("traffic.streams", "must be positive")),
            Traffic::Tcp { bits_per_s: Some(0), .. } | Traffic::Udp { bits_per_s: 0, .. } => {
                Err(InvalidValue::new("traffic.bits_per_s", "must be positive"))
            }
            Traffic::Udp { payload_bytes: 0 | 65_508.., .. }
            | Traffic::Ping { payload_bytes: 65_508.., .. } => {
                Err(InvalidValue::new("traffic.payload_bytes", "must lie between 1 and 65507"))
            }
            Traffic::Ping { every_ns: 0, .. } => {
                Err(InvalidValue::new("traffic.every_ns", "must be positive"))
            }
            _ => Ok(()),
        }
    }
}

impl PacketList {
    /// The first thing that is wrong.
    fn check(&self, repeat: u64, every_ns: u64) -> Result<(), InvalidValue> {
        let PacketList { at_ns, bytes, flow, class, ttl } = self;
        if [bytes.len(), flow.len(), class.len(), ttl.len()] != [at_ns.len(); 4] {
            return Err(InvalidValue::new("traffic.packets", "has columns of different lengths"));
        }
        let Some(&last_ns) = at_ns.last() else {
            return Err(InvalidValue::new("traffic.packets", "has no packets"));
        };
        if let Some(wrong) = bytes.iter().position(|each| !(20..=65_535).contains(each)) {
            return Err(InvalidValue::new(
                format!("traffic.packets.bytes[{wrong}]"),
                "must lie between 20 and 65535",
            ));
        }
        if let Some(before) = at_ns.windows(2).position(|pair| pair[1] < pair[0]) {
            let path = format!("traffic.packets.at_ns[{}]", before + 1);
            return Err(InvalidValue::new(path, "is before the packet before it"));
        }
        if repeat == 0 {
            return Err(InvalidValue::new("traffic.repeat", "must be positive"));
        }
        if repeat > 1 && (every_ns < last_ns || every_ns == 0) {
            return Err(InvalidValue::new("traffic.every_ns", "is shorter than a pass"));
        }
        Ok(())
    }
}

fn check_transfers(transfers: &[(u64, u64)]) -> Result<(), InvalidValue> {
    if let Some(empty) = transfers.iter().position(|&(_, bytes)| bytes == 0) {
        return Err(InvalidValue::new(format!("traffic.transfers[{empty}]"), "has no bytes"));
    }
    match transfers.windows(2).position(|pair| pair[1].0 < pair[0].0) {
        Some(before) => {
            let path = format!("traffic.transfers[{}]", before + 1);
            Err(InvalidValue::new(path, "begins before the one before it"))
        }
        None => Ok(()),
    }
}
