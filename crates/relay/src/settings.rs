//! What a gateway is told: links, sub-clusters, paths, where it listens.

use longhaul_plan::{Cause, Direction, Event, LinkChange, Way};
use longhaul_units::{InvalidValue, Span};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

/// The version of this format.
pub const VERSION: u32 = 1;

/// A relay, resolved: every name replaced by an index, every unit by an integer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Must equal [`VERSION`].
    pub version: u32,
    /// The scenario's name.
    pub name: String,
    /// Seed of every random stream.
    pub seed: u64,
    /// When it ends by itself.
    pub duration_ns: Option<u64>,
    /// Links, to which paths and events refer by position.
    pub links: Vec<RelayLink>,
    /// Sub-clusters.
    pub clusters: Vec<Cluster>,
    /// Ways from one sub-cluster to another; who has none cannot talk.
    pub paths: Vec<Path>,
    /// Where connections and datagrams come in.
    pub listeners: Vec<Listener>,
    /// Addresses of names in SOCKS requests; others are asked of the system.
    #[serde(default)]
    pub names: BTreeMap<String, IpAddr>,
    /// Who shares a link's rate.
    pub share: Share,
    /// How waiting is done.
    pub algorithm: Algorithm,
    /// What a message is.
    pub framing: Framing,
    /// Sub-clusters into which data is delayed here; `None`: all, that is both ways of each connection.
    pub inward: Option<Vec<usize>>,
    /// Sub-clusters that are reached through the gateway of another process.
    #[serde(default)]
    pub peers: Vec<Peer>,
    /// What SOCKS clients must know and peers are told.
    pub password: Option<String>,
    /// After how long a piece of a stream that was lost comes again; `None`: a round trip of its path.
    pub retransmit_ns: Option<u64>,
    /// How long a client may take to send its request, and a target to answer, besides the WAN's delay.
    #[serde(default = "default_opening_ns")]
    pub opening_ns: u64,
    /// Transit of the real network, taken off the delay of each way.
    pub subtract_ns: u64,
    /// Bytes held for one way of a connection; `None`: what the path's rate and round trip ask for.
    pub buffer_bytes: Option<u64>,
    /// Bytes held for all connections together.
    pub memory_bytes: u64,
    /// Connections at once.
    pub connections: usize,
    /// Changes of links, in order of time.
    #[serde(default)]
    pub events: Vec<Event>,
    /// The log of messages.
    pub log: Log,
}

/// A link of the emulated WAN.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RelayLink {
    /// Its name.
    pub name: String,
    /// One way.
    pub forward: Direction,
    /// The other.
    pub reverse: Direction,
}

/// Machines that are close to each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cluster {
    /// Its name.
    pub name: String,
    /// Their networks, as `10.1.0.0/16`.
    pub members: Vec<Network>,
}

/// An IP network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Network {
    address: IpAddr,
    length: u8,
}

/// Links in the order in which data takes them, from one sub-cluster to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Path {
    /// Where it begins.
    pub from: usize,
    /// Where it ends.
    pub to: usize,
    /// Links and the way through each.
    pub steps: Vec<Step>,
}

/// A link, and the way through it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The link's position.
    pub link: usize,
    /// The way.
    pub way: Way,
}

/// Where something comes in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Listener {
    /// Clients say by SOCKS (RFC 1928) where they want to go.
    Socks {
        /// Where to listen.
        address: SocketAddr,
        /// The clients' sub-cluster; `None`: told by their addresses.
        #[serde(default)]
        from: Option<usize>,
    },
    /// Every TCP connection goes to one target.
    Forward {
        /// Where to listen.
        address: SocketAddr,
        /// Where connections go.
        target: SocketAddr,
        /// The clients' sub-cluster; `None`: told by their addresses.
        #[serde(default)]
        from: Option<usize>,
        /// The target's; `None`: told by its address.
        #[serde(default)]
        to: Option<usize>,
    },
    /// UDP datagrams go to one target, and its answers back.
    Datagrams {
        /// Where to listen.
        address: SocketAddr,
        /// Where datagrams go.
        target: SocketAddr,
        /// The clients' sub-cluster; `None`: told by their addresses.
        #[serde(default)]
        from: Option<usize>,
        /// The target's; `None`: told by its address.
        #[serde(default)]
        to: Option<usize>,
    },
    /// The kernel brings connections that were made to somebody else.
    Transparent {
        /// Where to listen.
        address: SocketAddr,
        /// The clients' sub-cluster; `None`: told by their addresses.
        #[serde(default)]
        from: Option<usize>,
    },
}

/// Who shares a link's rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Share {
    /// All connections that cross the link.
    Link,
    /// Nobody: each connection has the link to itself (Longcut).
    Connection,
}

/// How waiting is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// One thread serves all: it sleeps until shortly before the next piece is due, and spins the rest.
    OneThread,
    /// A thread for each way of each connection, of which one at a time spins (Longcut's figure 2).
    Paper,
}

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Framing {
    /// Whatever comes; long reads are cut into pieces.
    Stream,
    /// Four bytes of length, most significant first, and so many bytes: delayed as a whole.
    LengthPrefixed,
}

/// The gateway of another process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peer {
    /// The sub-cluster behind it.
    pub cluster: usize,
    /// Where it speaks SOCKS.
    pub address: SocketAddr,
}

/// The log of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    /// Whether messages are logged.
    pub messages: bool,
    /// The file's size at which logging ends.
    pub limit_bytes: u64,
}

fn default_opening_ns() -> u64 {
    Span::from_s(15).ns()
}

impl Settings {
    /// How long a connection may take to open, besides the WAN's delay.
    pub(crate) fn opening_timeout(&self) -> Span {
        Span::from_ns(self.opening_ns)
    }

    /// Checks what the types cannot say.
    ///
    /// # Errors
    /// The first rule that is broken, with its field.
    pub fn check(&self) -> Result<(), InvalidValue> {
        if self.version != VERSION {
            let rule = format!("this program reads version {VERSION}, not {}", self.version);
            return Err(InvalidValue::new("version", rule));
        }
        let cluster = |index: usize, place: String| match self.clusters.get(index) {
            Some(_) => Ok(()),
            None => Err(InvalidValue::new(place, format!("there is no cluster {index}"))),
        };
        for (position, link) in self.links.iter().enumerate() {
            link.forward.check().map_err(|error| error.within(&format!("links[{position}].forward")))?;
            link.reverse.check().map_err(|error| error.within(&format!("links[{position}].reverse")))?;
        }
        for (position, path) in self.paths.iter().enumerate() {
            cluster(path.from, format!("paths[{position}].from"))?;
            cluster(path.to, format!("paths[{position}].to"))?;
            if let Some(step) = path.steps.iter().find(|step| step.link >= self.links.len()) {
                let rule = format!("there is no link {}", step.link);
                return Err(InvalidValue::new(format!("paths[{position}].steps"), rule));
            }
        }
        if self.listeners.is_empty() {
            return Err(InvalidValue::new("listeners", "must contain at least one"));
        }
        for (position, listener) in self.listeners.iter().enumerate() {
            for index in [listener.from(), listener.to()].into_iter().flatten() {
                cluster(index, format!("listeners[{position}]"))?;
            }
        }
        for &index in self.inward.iter().flatten() {
            cluster(index, "inward".into())?;
        }
        for (position, peer) in self.peers.iter().enumerate() {
            cluster(peer.cluster, format!("peers[{position}].cluster"))?;
        }
        if self.password.as_ref().is_some_and(|word| word.is_empty() || word.len() > 255) {
            return Err(InvalidValue::new("password", "must have 1 to 255 bytes"));
        }
        if self.opening_ns == 0 {
            return Err(InvalidValue::new("opening_ns", "must be positive"));
        }
        if self.connections == 0 {
            return Err(InvalidValue::new("connections", "must be positive"));
        }
        if self.buffer_bytes.is_some_and(|bytes| bytes < LEAST_BUFFER) || self.memory_bytes < LEAST_BUFFER {
            return Err(InvalidValue::new(
                "buffer_bytes",
                format!("and memory_bytes must be at least {LEAST_BUFFER}"),
            ));
        }
        if self.algorithm == Algorithm::Paper && self.share == Share::Link {
            return Err(InvalidValue::new("algorithm", "the threads of paper do not share links")
                .with_remedy("write share: connection"));
        }
        for (position, event) in self.events.iter().enumerate() {
            self.check_change(event.link, event.route)
                .map_err(|error| error.within(&format!("events[{position}]")))?;
            event.change.check().map_err(|error| error.within(&format!("events[{position}].change")))?;
        }
        if self.events.windows(2).any(|pair| pair[0].at_ns > pair[1].at_ns) {
            return Err(InvalidValue::new("events", "are not in order of time"));
        }
        Ok(())
    }

    /// Checks what a user wants to change.
    ///
    /// # Errors
    /// If the cause is not a user, there are no changes, or one of them is not valid.
    pub fn check_changes(&self, changes: &[LinkChange], cause: &Cause) -> Result<(), InvalidValue> {
        if !cause.is_intervention() {
            return Err(InvalidValue::new("cause", "a request is made by a user, not by the scenario"));
        }
        if changes.is_empty() {
            return Err(InvalidValue::new("changes", "there are none"));
        }
        changes.iter().try_for_each(|each| {
            self.check_change(each.link, each.route)?;
            each.change.check().map_err(|error| error.within("change"))
        })
    }

    /// Checks that a change's link and route are there.
    ///
    /// # Errors
    /// If one of them does not exist, by its field.
    pub fn check_change(&self, link: usize, route: Option<usize>) -> Result<(), InvalidValue> {
        let Some(link) = self.links.get(link) else {
            return Err(InvalidValue::new("link", format!("there is no link {link}")));
        };
        let routes = |each: &Direction| each.bundle.as_ref().map_or(0, |bundle| bundle.routes.len());
        match route {
            Some(route) if route >= routes(&link.forward).min(routes(&link.reverse)) => {
                Err(InvalidValue::new("route", format!("there is no route {route}")))
            }
            _ => Ok(()),
        }
    }

    /// The sub-cluster that an address belongs to: of those that hold it the one with the longest prefix.
    pub fn cluster_of(&self, address: IpAddr) -> Option<usize> {
        let address = address.to_canonical();
        let lengths = self.clusters.iter().enumerate().flat_map(|(index, cluster)| {
            let holds = cluster.members.iter().filter(move |network| network.holds(address));
            holds.map(move |network| (network.length, std::cmp::Reverse(index)))
        });
        lengths.max().map(|(_, std::cmp::Reverse(index))| index)
    }

    /// The models of a way through a link.
    pub fn direction(&self, step: Step) -> &Direction {
        let link = &self.links[step.link];
        match step.way {
            Way::Forward => &link.forward,
            Way::Reverse => &link.reverse,
        }
    }

    /// Whether data into this sub-cluster is delayed here.
    pub fn delays_into(&self, cluster: usize) -> bool {
        self.inward.as_ref().is_none_or(|inward| inward.contains(&cluster))
    }
}

/// The least that one way of a connection may hold.
pub const LEAST_BUFFER: u64 = 4 << 10;

/// The rate that holds on average, in bit/s; `None`: no limit.
pub fn mean_rate(direction: &Direction) -> Option<u64> {
    match &direction.bundle {
        None => direction.rate.mean_bits_per_s(),
        Some(bundle) => bundle.routes.iter().map(|route| route.rate.mean_bits_per_s()).sum(),
    }
}

impl Listener {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        match self {
            Listener::Socks { address, .. }
            | Listener::Forward { address, .. }
            | Listener::Datagrams { address, .. }
            | Listener::Transparent { address, .. } => *address,
        }
    }

    /// The clients' sub-cluster, if it is given.
    pub fn from(&self) -> Option<usize> {
        match self {
            Listener::Socks { from, .. }
            | Listener::Forward { from, .. }
            | Listener::Datagrams { from, .. }
            | Listener::Transparent { from, .. } => *from,
        }
    }

    /// The target's sub-cluster, if it is given.
    pub fn to(&self) -> Option<usize> {
        match self {
            Listener::Forward { to, .. } | Listener::Datagrams { to, .. } => *to,
            Listener::Socks { .. } | Listener::Transparent { .. } => None,
        }
    }
}

impl Network {
    /// Whether an address belongs to it.
    pub fn holds(&self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(ours), IpAddr::V4(other)) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(self.length)).unwrap_or(0);
                ours.to_bits() & mask == other.to_bits() & mask
            }
            (IpAddr::V6(ours), IpAddr::V6(other)) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(self.length)).unwrap_or(0);
                ours.to_bits() & mask == other.to_bits() & mask
            }
            _ => false,
        }
    }
}

impl TryFrom<String> for Network {
    type Error = InvalidValue;

    fn try_from(text: String) -> Result<Self, InvalidValue> {
        let wrong = || {
            InvalidValue::new("", format!("\"{text}\" is not a network"))
                .with_remedy("write one like 10.1.0.0/16")
        };
        let (address, length) = text.split_once('/').ok_or_else(wrong)?;
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let length: u8 = length.parse().map_err(|_| wrong())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        if length > most { Err(wrong()) } else { Ok(Network { address, length }) }
    }
}

impl From<Network> for String {
    fn from(network: Network) -> String {
        format!("{}/{}", network.address, network.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(text: &str) -> Network {
        Network::try_from(text.to_owned()).unwrap()
    }

    #[test]
    fn a_network_holds_what_shares_its_prefix() {
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        assert!(network("127.1.0.0/16").holds(address("127.1.255.3")));
        assert!(!network("127.1.0.0/16").holds(address("127.2.0.1")));
        assert!(network("0.0.0.0/0").holds(address("8.8.8.8")));
        assert!(!network("0.0.0.0/0").holds(address("::1")));
        assert!(network("fd00:1::/32").holds(address("fd00:1:2::3")));
        for wrong in ["10.0.0.0", "10.0.0.0/33", "host/8", "fd00::/129"] {
            assert!(Network::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
    }
}
