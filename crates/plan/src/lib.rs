//! The resolved description that Rust executes.
//!
//! Python owns the scenario language; what reaches Rust is this: every name replaced by an index,
//! every unit by an integer (nanoseconds, bit/s, bytes), every range expanded, every default
//! filled in. Unknown fields are refused, so that a plan from another version is never half
//! understood.
#![forbid(unsafe_code)]

mod direction;
mod events;
mod flows;
mod host_settings;
mod jobs;
mod node;
mod pacing;
mod port;
mod programs;
mod read;

pub use direction::Direction;
pub use events::{Cause, Event, LinkChange, Requester, Way};
pub use flows::{Arrivals, Flow, PacketList, Recovery, Sizes, Tcp, Traffic};
pub use host_settings::{HostFile, HostRoot, HostSettings};
pub use jobs::{Job, Step};
pub use longhaul_link::{
    BundleModel, Cells, Change, CodelParameters, DelayModel, DelaySeries, DrrParameters, FlowKey,
    FqCodelParameters, Framing, GapUnit, LinkModel, LossModel, LossPosition, Opportunities, PacingChange,
    PacingModel, PieParameters, Policy, PriorityBands, QueueDiscipline, QueueLimit, QueueModel, RateModel,
    RateSeries, RedParameters, ReorderModel, Resequence, Rounding, RouteCosts, Series,
};
pub use longhaul_random::Distribution;
pub use node::{MainRoute, Mptcp, MptcpEndpoint, MptcpFlag, Node, NodeKind, SegmentBits};
pub use pacing::{MOST_PACING_CLASSES, Pacing, PacingClass, PacingRule, Sender};
pub use port::{Port, Subnet};
pub use programs::{End, Part, Placement, Program, Ranks, Ready};
pub use read::from_json;

use longhaul_units::InvalidValue;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of the plan format that this crate reads and writes.
///
/// It grows when a plan of the version before would be refused, or would mean something else: not for a new
/// field with a default. Its twin in Python is `PLAN_VERSION` of `scenario/lower/resolve.py`.
pub const VERSION: u32 = 1;

/// A whole scenario, resolved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Must equal [`VERSION`].
    pub version: u32,
    /// The scenario's name.
    pub name: String,
    /// Seed of every random stream.
    pub seed: u64,
    /// When the run ends. `None`: when the last program that is not a service has ended, and every
    /// simulated job and flow that has an end.
    pub duration_ns: Option<u64>,
    /// Segments of one super-packet leave together only if their due times lie within this span.
    pub coalesce_ns: u64,
    /// Hosts and routers; everything else refers to them by position.
    pub nodes: Vec<Node>,
    /// Links; events and measurements refer to them by position.
    pub links: Vec<Link>,
    /// The host that takes packets for addresses that no node has, and routes them on; `None`: such
    /// packets have no way.
    #[serde(default)]
    pub gateway: Option<usize>,
    /// Next hops that replace the shortest path.
    pub routes: Vec<RouteOverride>,
    /// What routers do that have several equally short paths.
    #[serde(default)]
    pub multipath: Multipath,
    /// What runs in the hosts, services first.
    pub programs: Vec<Program>,
    /// Traffic that is simulated, or sent by the generators of a live run.
    #[serde(default)]
    pub flows: Vec<Flow>,
    /// Simulated parallel programs.
    #[serde(default)]
    pub jobs: Vec<Job>,
    /// Congestion-control algorithms that are loaded into the kernel for a live run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub algorithms: Vec<Loaded>,
    /// Changes while running, in order of time.
    pub events: Vec<Event>,
    /// What to record.
    pub measure: Measure,
    /// What programs of hosts may do to the machine.
    #[serde(default)]
    pub isolation: Isolation,
}

/// What routers do that have several paths of the same delay and the same number of links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Multipath {
    /// They use the first.
    #[default]
    None,
    /// They choose one for each flow, by a hash of addresses, protocol and ports.
    FlowHash,
}

/// What programs of hosts may do to the machine that they run on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Isolation {
    /// All that the user may.
    #[default]
    None,
    /// No more than a network needs.
    Strict,
}

/// A link between two nodes; each direction has its own model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Its name.
    pub name: String,
    /// The two nodes; forward is from the first to the second.
    pub endpoints: [usize; 2],
    /// Largest IP packet, in bytes.
    pub mtu: u32,
    /// Whether it is part of the network at the start; an event may let it join or leave.
    #[serde(default = "is_present", skip_serializing_if = "is_true")]
    pub present: bool,
    /// From the first endpoint to the second.
    pub forward: Direction,
    /// From the second endpoint to the first.
    pub reverse: Direction,
}

fn is_present() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_true(value: &bool) -> bool {
    *value
}

/// At `node`, packets for `destination` leave by `link`, whatever the delays say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RouteOverride {
    /// Where the packet is.
    pub node: usize,
    /// Where it wants to go.
    pub destination: usize,
    /// The link that it takes; one of its endpoints is `node`.
    pub link: usize,
}

/// A congestion-control algorithm, and the name by which the kernel knows it during the run: 1 to 15 letters, digits and
/// underscores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Loaded {
    /// The kernel's name for it.
    pub name: String,
    /// What it is.
    pub cc: longhaul_congestion::AlgorithmSettings,
}

/// What a run records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// Interval of the samples of every link's counters.
    pub every_ns: u64,
    /// Links whose packets are captured as pcapng, both directions.
    pub captures: Vec<usize>,
    /// Bytes of each packet kept in a capture.
    pub snaplen: u32,
    /// Links whose packets are recorded with the instants of arrival and departure.
    pub packet_links: Vec<usize>,
    /// How much of each second those records cover, from its start; 10^9 for all of it.
    pub packet_window_ns: u64,
    /// Whether everything that goes into the network and comes out is recorded, for a replay.
    #[serde(default)]
    pub journal: bool,
    /// Links that are watched in short bins of time.
    #[serde(default)]
    pub monitor: Option<Monitor>,
    /// Interval at which the kernel's TCP sockets are read in a live run; `None`: never.
    #[serde(default)]
    pub sockets_every_ns: Option<u64>,
}

/// Links of which packets, bytes, drops and queue are counted in short bins of time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Monitor {
    /// How long a bin is.
    pub every_ns: u64,
    /// Links, both directions of each.
    pub links: Vec<usize>,
    /// Whether each flow is counted by itself, too.
    pub flows: bool,
}

impl Plan {
    /// Checks one event: that its link and its route are there, and that its change makes sense.
    ///
    /// # Errors
    /// The first rule that is broken, with its field.
    pub fn check_event(&self, event: &Event) -> Result<(), InvalidValue> {
        let Some(link) = self.links.get(event.link) else {
            return Err(InvalidValue::new("link", format!("there is no link {}", event.link)));
        };
        if let Some(route) = event.route {
            let routes = |each: &Direction| each.bundle.as_ref().map_or(0, |bundle| bundle.routes.len());
            let few = match event.direction {
                Some(Way::Forward) => routes(&link.forward),
                Some(Way::Reverse) => routes(&link.reverse),
                None => routes(&link.forward).min(routes(&link.reverse)),
            };
            if route >= few {
                return Err(InvalidValue::new("route", format!("there is no route {route}")));
            }
        }
        for (position, each) in event.change.pacing.iter().enumerate() {
            let ways = [(Way::Forward, &link.forward), (Way::Reverse, &link.reverse)];
            let meant = ways.iter().filter(|(way, _)| event.direction.is_none_or(|only| only == *way));
            let few = |(_, model): &(Way, &Direction)| {
                model.pacing.as_ref().is_none_or(|pacing| each.class >= pacing.classes.len())
            };
            if meant.clone().any(few) {
                return Err(InvalidValue::new(
                    format!("change.pacing[{position}].class"),
                    format!("there is no class {}", each.class),
                ));
            }
        }
        event.change.check().map_err(|error| error.within("change"))
    }

    /// Checks that the line of a host that paces carries what its classes promise after `event`, if `before` it
    /// these have happened, in this order.
    ///
    /// # Errors
    /// If it does not, with the figures.
    pub fn check_pacing<'a>(
        &self,
        before: impl Iterator<Item = &'a Event>,
        event: &'a Event,
    ) -> Result<(), InvalidValue> {
        let Some(link) = self.links.get(event.link).filter(|_| !event.change.pacing.is_empty()) else {
            return Ok(());
        };
        let mut ways = [(Way::Forward, link.forward.clone()), (Way::Reverse, link.reverse.clone())];
        for each in before.chain([event]).filter(|each| each.link == event.link) {
            for (way, model) in &mut ways {
                if each.direction.is_none_or(|only| only == *way)
                    && let Some(pacing) = &mut model.pacing
                {
                    for change in &each.change.pacing {
                        if let Some(class) = pacing.classes.get_mut(change.class) {
                            class.model = change.model;
                        }
                    }
                }
            }
        }
        ways.iter().filter_map(|(_, model)| model.pacing.as_ref()).try_for_each(|pacing| pacing.check_sum())
    }

    /// Whether links join or leave by the plan.
    pub fn is_dynamic(&self) -> bool {
        self.links.iter().any(|link| !link.present)
            || self.events.iter().any(|event| event.change.present.is_some())
    }

    /// A plan from its JSON, checked.
    ///
    /// # Errors
    /// The first value that is invalid, as in `links[3].forward.loss`.
    pub fn from_json(text: &[u8]) -> Result<Self, InvalidValue> {
        let plan: Plan = from_json(text)?;
        plan.check()?;
        Ok(plan)
    }

    /// Checks the rules between fields: versions, positions, order.
    ///
    /// # Errors
    /// The first rule that is broken, with its place, as in `links[3].endpoints`.
    pub fn check(&self) -> Result<(), InvalidValue> {
        if self.version != VERSION {
            let rule = format!("this program reads plans of version {VERSION}, not {}", self.version);
            return Err(InvalidValue::new("version", rule));
        }
        self.check_topology()?;
        self.check_programs()?;
        self.check_traffic()?;
        for (position, event) in self.events.iter().enumerate() {
            self.check_event(event).map_err(|error| error.within(&format!("events[{position}]")))?;
        }
        if self.events.windows(2).any(|pair| pair[0].at_ns > pair[1].at_ns) {
            return Err(InvalidValue::new("events", "are not in order of time"));
        }
        if self.measure.every_ns == 0 {
            return Err(InvalidValue::new("measure.every_ns", "must be positive"));
        }
        for (position, &index) in self.measure.captures.iter().enumerate() {
            self.check_link(index, format!("measure.captures[{position}]"))?;
        }
        for (position, &index) in self.measure.packet_links.iter().enumerate() {
            self.check_link(index, format!("measure.packet_links[{position}]"))?;
        }
        if let Some(monitor) = &self.measure.monitor {
            if monitor.every_ns == 0 {
                return Err(InvalidValue::new("measure.monitor.every_ns", "must be positive"));
            }
            for (position, &index) in monitor.links.iter().enumerate() {
                self.check_link(index, format!("measure.monitor.links[{position}]"))?;
            }
        }
        if self.measure.sockets_every_ns == Some(0) {
            return Err(InvalidValue::new("measure.sockets_every_ns", "must be positive"));
        }
        Ok(())
    }

    /// The interfaces of a host in the order of their names, `eth0` first: the host itself, then others that are its.
    pub fn interfaces(&self, host: usize) -> impl Iterator<Item = usize> {
        let others = (0..self.nodes.len()).filter(move |&node| self.nodes[node].of == Some(host));
        std::iter::once(host).chain(others)
    }

    /// The host of an interface; any other node itself.
    pub fn owner(&self, node: usize) -> usize {
        self.nodes[node].of.unwrap_or(node)
    }

    /// The interface by which `host` sends to `destination`: what its main routing table says, else itself.
    pub fn chosen_interface(&self, host: usize, destination: usize) -> usize {
        let routes = &self.nodes[host].main_routes;
        routes.iter().find(|route| route.destination == destination).map_or(host, |route| route.interface)
    }

    /// Whether packets of others pass through a node that is a host or an interface of one.
    pub fn is_forwarding(&self, node: usize) -> bool {
        self.nodes[self.owner(node)].forwards
    }

    /// Checks that interfaces belong to hosts, and that hosts send from interfaces of theirs.
    fn check_interfaces(&self) -> Result<(), InvalidValue> {
        let wrong = |position: usize, field: &str, what: &str| {
            Err(InvalidValue::new(format!("nodes[{position}].{field}"), what))
        };
        for (position, node) in self.nodes.iter().enumerate() {
            match (node.kind, node.of) {
                (NodeKind::Interface, Some(host)) => {
                    self.check_node(host, format!("nodes[{position}].of"))?;
                    if self.nodes[host].kind != NodeKind::Host {
                        return wrong(position, "of", "is not a host");
                    }
                }
                (NodeKind::Interface, None) => return wrong(position, "of", "is missing"),
                (_, Some(_)) => return wrong(position, "of", "belongs to interfaces only"),
                (_, None) => {}
            }
        }
        for (position, node) in self.nodes.iter().enumerate() {
            for &destination in &node.no_path_to {
                self.check_node(destination, format!("nodes[{position}].no_path_to"))?;
            }
            if node.line_bits_per_s.is_some() && node.kind != NodeKind::Host {
                return wrong(position, "line_bits_per_s", "belongs to hosts only");
            }
            if node.line_bits_per_s == Some(0) {
                return wrong(position, "line_bits_per_s", "is zero");
            }
            if let Some(port) = &node.port {
                if node.kind != NodeKind::Host {
                    return wrong(position, "port", "belongs to hosts only");
                }
                port.check().map_err(|error| error.within(&format!("nodes[{position}].port")))?;
            }
            if let Some(settings) = &node.settings {
                if node.kind != NodeKind::Host {
                    return wrong(position, "settings", "belong to hosts only");
                }
                settings.check().map_err(|error| error.within(&format!("nodes[{position}].settings")))?;
            }
            for route in &node.main_routes {
                self.check_node(route.destination, format!("nodes[{position}].main_routes"))?;
                self.check_node(route.interface, format!("nodes[{position}].main_routes"))?;
                if route.interface != position && self.nodes[route.interface].of != Some(position) {
                    return wrong(position, "main_routes", "name an interface of another host");
                }
            }
            for endpoint in node.mptcp.iter().flat_map(|mptcp| &mptcp.endpoints) {
                self.check_node(endpoint.interface, format!("nodes[{position}].mptcp.endpoints"))?;
                if endpoint.interface != position && self.nodes[endpoint.interface].of != Some(position) {
                    return wrong(position, "mptcp.endpoints", "name an interface of another host");
                }
            }
        }
        Ok(())
    }

    /// Checks the gateway, the interfaces, the links and the routes.
    fn check_topology(&self) -> Result<(), InvalidValue> {
        self.check_interfaces()?;
        if let Some(gateway) = self.gateway {
            self.check_node(gateway, "gateway".into())?;
        }
        let mut segments: Vec<usize> = (0..self.nodes.len()).collect();
        for (position, each) in self.links.iter().enumerate() {
            for end in each.endpoints {
                self.check_node(end, format!("links[{position}].endpoints"))?;
            }
            self.join_segments(&mut segments, each.endpoints)
                .map_err(|what| InvalidValue::new(format!("links[{position}].endpoints"), what))?;
            each.forward.check().map_err(|error| error.within(&format!("links[{position}].forward")))?;
            each.reverse.check().map_err(|error| error.within(&format!("links[{position}].reverse")))?;
            for (way, direction) in [("forward", &each.forward), ("reverse", &each.reverse)] {
                let pacing = direction.pacing.iter().try_for_each(|pacing| pacing.check(self.nodes.len()));
                pacing.map_err(|error| error.within(&format!("links[{position}].{way}.pacing")))?;
            }
        }
        for (position, route) in self.routes.iter().enumerate() {
            self.check_node(route.node, format!("routes[{position}].node"))?;
            self.check_node(route.destination, format!("routes[{position}].destination"))?;
            self.check_link(route.link, format!("routes[{position}].link"))?;
            if !self.links[route.link].endpoints.contains(&route.node) {
                return Err(InvalidValue::new(
                    format!("routes[{position}].link"),
                    format!("does not touch node {}", route.node),
                ));
            }
        }
        Ok(())
    }

    /// Notes in `segments`, which has a representative of the switches of each segment, that a link joins these ends; an error
    /// if it closes a loop of switches.
    fn join_segments(&self, segments: &mut [usize], ends: [usize; 2]) -> Result<(), &'static str> {
        if ends.iter().any(|&end| self.nodes[end].kind != NodeKind::Switch) {
            return Ok(());
        }
        let [one, other] = ends.map(|mut end| {
            while segments[end] != end {
                end = segments[end];
            }
            end
        });
        if one == other {
            return Err("close a loop of switches");
        }
        segments[one.max(other)] = one.min(other);
        Ok(())
    }

    /// The switch at the other end of an interface's link.
    pub fn switch_at(&self, interface: usize) -> Option<usize> {
        let [a, b] = self.links.iter().map(|link| link.endpoints).find(|ends| ends.contains(&interface))?;
        let far = if a == interface { b } else { a };
        (self.nodes[interface].kind.is_end() && self.nodes[far].kind == NodeKind::Switch).then_some(far)
    }

    /// Whether the network has Ethernet switches.
    pub fn has_switches(&self) -> bool {
        self.nodes.iter().any(|node| node.kind == NodeKind::Switch)
    }

    /// Checks programs, and the order in which programs and jobs start.
    fn check_programs(&self) -> Result<(), InvalidValue> {
        programs::check_order(&self.programs.iter().map(|each| (each.name.as_str(), each.after.as_slice())))
            .map_err(|(position, error)| error.within(&format!("programs[{position}]")))?;
        programs::check_order(&self.jobs.iter().map(|each| (each.name.as_str(), each.after.as_slice())))
            .map_err(|(position, error)| error.within(&format!("jobs[{position}]")))?;
        for (position, program) in self.programs.iter().enumerate() {
            self.check_node(program.host, format!("programs[{position}].host"))?;
            if self.nodes[program.host].kind != NodeKind::Host {
                return Err(InvalidValue::new(
                    format!("programs[{position}].host"),
                    "a router runs no programs",
                ));
            }
            if self.nodes[program.host].port.as_ref().is_some_and(|port| !port.runs_programs()) {
                return Err(InvalidValue::new(
                    format!("programs[{position}].host"),
                    "hosts behind a device run no programs of a scenario",
                ));
            }
            if program.argv.is_empty() {
                return Err(InvalidValue::new(format!("programs[{position}].argv"), "is empty"));
            }
            if let Some(span) = &program.span {
                span.check(&self.nodes)
                    .map_err(|error| error.within(&format!("programs[{position}].span")))?;
            }
            if let Some(part) = &program.plays {
                part.check(program.host, &self.flows, |node| self.owner(node))
                    .map_err(|error| error.within(&format!("programs[{position}].plays")))?;
            }
        }
        Ok(())
    }

    /// Checks flows, jobs and loaded algorithms.
    fn check_traffic(&self) -> Result<(), InvalidValue> {
        for (position, flow) in self.flows.iter().enumerate() {
            self.check_node(flow.source, format!("flows[{position}].source"))?;
            self.check_node(flow.destination, format!("flows[{position}].destination"))?;
            let datagrams = matches!(flow.traffic, Traffic::Udp { .. });
            if [flow.source, flow.destination].iter().any(|&end| self.nodes[end].kind == NodeKind::Switch) {
                return Err(InvalidValue::new(format!("flows[{position}]"), "a switch has no addresses"));
            }
            if !(self.nodes[flow.source].kind.is_end() || datagrams && flow.simulated) {
                return Err(InvalidValue::new(
                    format!("flows[{position}].source"),
                    "a router sends datagrams alone, simulated",
                ));
            }
            flow.check().map_err(|error| error.within(&format!("flows[{position}]")))?;
        }
        for (position, job) in self.jobs.iter().enumerate() {
            for (rank, &host) in job.ranks.iter().enumerate() {
                self.check_node(host, format!("jobs[{position}].ranks[{rank}]"))?;
                if self.nodes[host].kind != NodeKind::Host {
                    return Err(InvalidValue::new(
                        format!("jobs[{position}].ranks[{rank}]"),
                        "a router runs no programs",
                    ));
                }
            }
            job.check().map_err(|error| error.within(&format!("jobs[{position}]")))?;
        }
        for (position, loaded) in self.algorithms.iter().enumerate() {
            loaded.cc.check().map_err(|error| error.within(&format!("algorithms[{position}].cc")))?;
            let fits = |each: u8| each.is_ascii_alphanumeric() || each == b'_';
            if !(1..=15).contains(&loaded.name.len()) || !loaded.name.bytes().all(fits) {
                return Err(InvalidValue::new(
                    format!("algorithms[{position}].name"),
                    format!("{:?} is not a name that kernels accept", loaded.name),
                ));
            }
        }
        Ok(())
    }

    fn check_node(&self, index: usize, place: String) -> Result<(), InvalidValue> {
        if index < self.nodes.len() {
            Ok(())
        } else {
            Err(InvalidValue::new(place, format!("there is no node {index}")))
        }
    }

    /// Checks that there is a link at this position, which `place` names.
    ///
    /// # Errors
    /// If there is none.
    pub fn check_link(&self, index: usize, place: impl Into<String>) -> Result<(), InvalidValue> {
        if index < self.links.len() {
            Ok(())
        } else {
            Err(InvalidValue::new(place.into(), format!("there is no link {index}")))
        }
    }
}

#[cfg(test)]
mod tests;
