//! Nodes: hosts with their interfaces, and routers.

use crate::{HostSettings, Port};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, Ipv6Addr};

/// A host (real programs, own namespaces), a router or a switch (parts of the model).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Its name, which is also its host name unless its settings have another.
    pub name: String,
    /// Host or router.
    pub kind: NodeKind,
    /// Its IPv4 address, if the scenario has IPv4.
    pub ipv4: Option<Ipv4Addr>,
    /// Its IPv6 address, if the scenario has IPv6.
    pub ipv6: Option<Ipv6Addr>,
    /// MTU of a host's interface, in bytes of IP packet; 0 for a router or a switch.
    pub mtu: u32,
    /// Sysctls to set in a host's network namespace (`net.ipv4.tcp_rmem` ...).
    #[serde(default)]
    pub sysctls: BTreeMap<String, String>,
    /// First windows of a host's TCP, both to send and to receive, in segments; `None`: the kernel's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_window: Option<u32>,
    /// The network of the addresses of an interface at a switch; `None` for any other node, and where addresses are none of
    /// the segment's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segment: Option<SegmentBits>,
    /// Whether a host forwards packets of others between its interfaces, as a router.
    #[serde(default, skip_serializing_if = "is_false")]
    pub forwards: bool,
    /// The host whose interface this is, if it is an interface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<usize>,
    /// Further names of its addresses: `par1.nyc` for the first interface of a host that has several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// What a host with several interfaces does not send from its first one, by destination. Of a host that forwards: all
    /// destinations, as it has no default route; empty if a routing daemon fills its table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub main_routes: Vec<MainRoute>,
    /// Destinations that no path from this interface of a host leads to, but one from another interface of the host.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub no_path_to: Vec<usize>,
    /// Line rate of a host's network cards on the virtual clock, in bit/s; `None`: unlimited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_bits_per_s: Option<u64>,
    /// What is at this host's end of its links in a live run; `None`: namespaces of Longhaul's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<Port>,
    /// The path manager of Multipath TCP of a host with several interfaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mptcp: Option<Mptcp>,
    /// What a host has of its own beside its network; `None`: all that the machine has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<HostSettings>,
}

/// How many bits the addresses of an Ethernet segment share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SegmentBits {
    /// Of IPv4.
    pub ipv4: u8,
    /// Of IPv6.
    pub ipv6: u8,
}

/// What the path manager of Multipath TCP may do in a host (`ip-mptcp(8)`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mptcp {
    /// Subflows of a connection beside its first.
    pub subflows: u32,
    /// Addresses that are taken of those that a connection's peer announces.
    pub add_addr_accepted: u32,
    /// Addresses that connections use beside that of their first subflow.
    pub endpoints: Vec<MptcpEndpoint>,
    /// Whether the scenario asks for it: a kernel without Multipath TCP is an error then.
    pub required: bool,
}

/// The addresses of an interface, to Multipath TCP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MptcpEndpoint {
    /// Node of the interface, or the host for its first one.
    pub interface: usize,
    /// How they are used.
    pub flags: Vec<MptcpFlag>,
}

/// How Multipath TCP uses an address (`ip-mptcp(8)`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MptcpFlag {
    /// It is announced to the peer, who may open a subflow to it.
    Signal,
    /// A subflow is opened from it to the peer's first address.
    Subflow,
    /// Its subflows carry data only if there are no others.
    Backup,
    /// Subflows are opened from it to each address of the peer's.
    Fullmesh,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

impl Node {
    /// The host name of its programs.
    pub fn hostname(&self) -> &str {
        self.settings.as_ref().and_then(|settings| settings.hostname.as_deref()).unwrap_or(&self.name)
    }

    /// Whether a host forwards and has no routes but those of a routing daemon, or of its user.
    pub fn is_routed_by_daemon(&self) -> bool {
        self.forwards && self.main_routes.is_empty()
    }
}

/// An entry of a host's main routing table: packets for `destination` leave by `interface`, from its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MainRoute {
    /// Node that has the destination address.
    pub destination: usize,
    /// Node of the interface, or the host for its first one.
    pub interface: usize,
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NodeKind {
    /// Has namespaces of its own; programs run here.
    Host,
    /// Forwards inside the model; answers ICMP.
    Router,
    /// An Ethernet switch of the model: its links are one segment with those of switches beside it.
    Switch,
    /// A further interface of a host (`eth1` and so on), with a link and addresses of its own.
    Interface,
}

impl NodeKind {
    /// Whether packets begin and end here: at a host's first interface, or at a further one.
    #[inline]
    pub fn is_end(self) -> bool {
        matches!(self, NodeKind::Host | NodeKind::Interface)
    }
}
