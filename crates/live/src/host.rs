//! A host: its own network, UTS, IPC and mount namespaces, on request a PID namespace, and a port for each interface.
//!
//! Nothing is bound to a path. The namespaces live as long as the run's first process holds them
//! open, so that a run that is killed leaves none behind.

use crate::counters::{self, CountersBefore};
use crate::credentials::Credentials;
use crate::device::mac_of;
use crate::error::{Error, Result};
use crate::foreign::ForeignNamespace;
use crate::netlink::mptcp::PathManager;
use crate::netlink::{self, Netlink, Route};
use crate::segment::{self, Segment};
use crate::sys::fork::{Process, fork};
use crate::tun::{self, Layer, Lifetime, Tun};
use crate::{host_files, host_mounts, host_root, pid_namespace};
use longhaul_network::{Routes, Topology};
use longhaul_plan::{Isolation, Mptcp, Node, Plan, Port};
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, setns, unshare};
use std::fs::{self, File};
use std::io;
use std::net::{IpAddr, Ipv6Addr};
use std::path::Path;

/// Name of every host's first interface.
pub const INTERFACE: &str = "eth0";
/// Routing table of packets from the first interface's address, if a host has several; the next one's is one more.
const FIRST_TABLE: u32 = 100;

/// Name of a host's interface; 0 is the first one.
pub fn interface_name(number: usize) -> String {
    format!("eth{number}")
}

/// The namespaces of a host, or those of the machine to return to.
#[derive(Debug)]
pub struct Namespaces {
    net: File,
    uts: File,
    ipc: File,
    mnt: File,
    /// The PID namespace of a host; `None`: that of the run.
    pid: Option<File>,
}

impl Namespaces {
    /// Those that this process is in.
    pub fn current() -> Result<Self> {
        let open = |kind: &str| {
            let path = format!("/proc/self/ns/{kind}");
            File::open(&path).map_err(|error| Error::wrap(format!("open {path}"), error))
        };
        Ok(Namespaces {
            net: open("net")?,
            uts: open("uts")?,
            ipc: open("ipc")?,
            mnt: open("mnt")?,
            pid: None,
        })
    }

    /// Moves this process, which must have one thread, into them, except for the PID namespace, which only a new process
    /// can have: see [`Namespaces::fork`].
    pub fn enter(&self) -> nix::Result<()> {
        setns(&self.net, CloneFlags::CLONE_NEWNET)?;
        setns(&self.uts, CloneFlags::CLONE_NEWUTS)?;
        setns(&self.ipc, CloneFlags::CLONE_NEWIPC)?;
        setns(&self.mnt, CloneFlags::CLONE_NEWNS)
    }

    /// The network namespace.
    pub fn net(&self) -> &File {
        &self.net
    }

    /// Forks; the child is in the host's PID namespace, but not in its other namespaces.
    pub fn fork(&self) -> io::Result<Process> {
        self.pid.as_ref().map_or_else(fork, pid_namespace::fork_into)
    }

    /// Descriptors as (kind, number), for others to open through `/proc/<pid>/fd`; `pid` only if the host has its own
    /// PID namespace.
    pub fn descriptors(&self) -> Vec<(&'static str, i32)> {
        use std::os::fd::AsRawFd;
        let all =
            [("net", &self.net), ("uts", &self.uts), ("ipc", &self.ipc), ("mnt", &self.mnt)].into_iter();
        all.chain(self.pid.iter().map(|file| ("pid", file)))
            .map(|(kind, file)| (kind, file.as_raw_fd()))
            .collect()
    }
}

/// A host that is up.
#[derive(Debug)]
pub struct Host {
    /// Its name.
    pub name: String,
    /// What its programs find as their host name.
    pub hostname: String,
    /// The namespaces of its programs.
    pub namespaces: Namespaces,
    /// What the engine reads and writes, with the nodes of the interfaces, until its process takes it.
    tuns: Vec<(usize, Tun)>,
    /// What the kernel had counted in a network namespace that is not the run's own.
    pub counted_before: Option<CountersBefore>,
    /// What its programs run as.
    pub credentials: Credentials,
    /// Whether it has a root directory of its own.
    pub has_root: bool,
}

/// What the hosts of a run have in common.
pub struct BuildContext<'a> {
    /// The namespaces to return to after each host.
    pub base: &'a Namespaces,
    /// The machine's limits, for hosts whose own TCP tables would lower them.
    pub limits: &'a Limits,
    /// The run directory.
    pub run: &'a Path,
    /// A directory in it for the small files that are mounted over a host's own.
    pub files: &'a Path,
    /// Network namespaces that are not the run's own.
    pub foreign: &'a [ForeignNamespace],
    /// What programs may do to the machine.
    pub isolation: Isolation,
}

impl Host {
    /// Takes the ports, once.
    pub fn take_tuns(&mut self) -> Vec<(usize, Tun)> {
        std::mem::take(&mut self.tuns)
    }

    /// Builds the host at this position of the plan and returns to the base namespaces.
    pub fn build(plan: &Plan, position: usize, context: &BuildContext<'_>) -> Result<Self> {
        let name = &plan.nodes[position].name;
        let built = build_inside(plan, position, context).map_err(|error| error.at(format!("host {name}")));
        context.base.enter().map_err(|error| Error::wrap("return from a host's namespaces", error))?;
        built
    }
}

/// The kinds that a host has of its own.
pub const NAMESPACES: CloneFlags = CloneFlags::CLONE_NEWNET
    .union(CloneFlags::CLONE_NEWUTS)
    .union(CloneFlags::CLONE_NEWIPC)
    .union(CloneFlags::CLONE_NEWNS);

fn build_inside(plan: &Plan, position: usize, context: &BuildContext<'_>) -> Result<Host> {
    let node = &plan.nodes[position];
    let foreign = context.foreign.iter().find(|each| each.node == position);
    let made = if foreign.is_some() { NAMESPACES - CloneFlags::CLONE_NEWNET } else { NAMESPACES };
    unshare(made).map_err(|error| Error::wrap("create namespaces", error))?;
    nix::unistd::sethostname(node.hostname()).map_err(|error| Error::wrap("set the host name", error))?;
    let hostname = context.files.join(format!("hostname.{}", node.name));
    fs::write(&hostname, format!("{}\n", node.hostname()))
        .map_err(|error| Error::wrap("write the host name", error))?;
    host_mounts::mount_over(&hostname, Path::new("/etc/hostname"))?;
    mount(
        Some("tmpfs"),
        "/dev/shm",
        Some("tmpfs"),
        MsFlags::MS_NOSUID | MsFlags::MS_NODEV,
        Some("mode=1777"),
    )
    .map_err(|error| Error::wrap("mount a private /dev/shm", error))?;
    let rooted = node.settings.as_ref().and_then(|settings| settings.root.as_ref());
    if let (Some(settings), None) = (&node.settings, rooted) {
        host_files::mount_files(&settings.files, context.run, context.files)?;
    }
    host_mounts::mount_proc()?;
    let Interfaces { tuns, counted_before } = make_interfaces(plan, position, context, foreign)?;
    // The one below is that of the run, parts of which are read-only for programs.
    umount2("/proc", MntFlags::MNT_DETACH)
        .map_err(|error| Error::wrap("unmount the /proc of a host's sysctls", error))?;
    let mut namespaces = Namespaces::current()?;
    if let (Some(settings), Some(root)) = (&node.settings, rooted) {
        host_root::enter(root, &node.name, context.run, context.files)?;
        host_files::mount_files_in_root(&settings.files, context.run)?;
    }
    if node.settings.as_ref().is_some_and(|settings| settings.pid_namespace) {
        namespaces.pid = Some(pid_namespace::create(context.isolation)?);
    }
    Ok(Host {
        name: node.name.clone(),
        hostname: node.hostname().to_owned(),
        namespaces,
        tuns,
        counted_before,
        credentials: node.settings.as_ref().map(Credentials::of_host).transpose()?.unwrap_or_default(),
        has_root: rooted.is_some(),
    })
}

/// The interfaces of a host.
struct Interfaces {
    tuns: Vec<(usize, Tun)>,
    counted_before: Option<CountersBefore>,
}

/// Makes the interfaces of a host in its namespaces, in which this process is.
fn make_interfaces(
    plan: &Plan,
    position: usize,
    context: &BuildContext<'_>,
    foreign: Option<&ForeignNamespace>,
) -> Result<Interfaces> {
    if let Some(foreign) = foreign {
        foreign.enter()?;
        let counted = counters::read_here(|_| false);
        let made = foreign.make_interfaces(plan, position)?;
        let interfaces = made.iter().map(|(_, name, _)| name.clone()).collect();
        let counted_before = Some(CountersBefore { counted, interfaces });
        let tuns = made.into_iter().map(|(interface, _, tun)| (interface, tun)).collect();
        return Ok(Interfaces { tuns, counted_before });
    }
    prepare_interfaces()?;
    for (name, value) in &context.limits.0 {
        write_sysctl(name, value, OnFailure::Ignore)?;
    }
    let tuns = plan
        .interfaces(position)
        .enumerate()
        .map(|(number, interface)| {
            let layer = layer_of(plan, interface);
            Ok((interface, Tun::create(&interface_name(number), Lifetime::Namespace, layer)?))
        })
        .collect::<Result<Vec<_>>>()?;
    configure(plan, position)?;
    Ok(Interfaces { tuns, counted_before: None })
}

/// Lets interfaces that are made from now on have no addresses but those that they are given.
pub fn prepare_interfaces() -> Result<()> {
    write_sysctl("net.ipv6.conf.default.accept_ra", "0", OnFailure::Ignore)?;
    write_sysctl("net.ipv6.conf.default.addr_gen_mode", "1", OnFailure::Ignore)
}

/// Sets the sysctls of a host and brings its interfaces up, in the current network namespace.
pub fn configure(plan: &Plan, position: usize) -> Result<()> {
    let node = &plan.nodes[position];
    write_sysctl("net.ipv4.ping_group_range", "0 2147483647", OnFailure::Ignore)?;
    write_sysctl("net.ipv4.ip_unprivileged_port_start", "0", OnFailure::Ignore)?;
    if !node.forwards {
        // A new namespace inherits the machine's value, which Docker sets to 1.
        write_sysctl("net.ipv4.ip_forward", "0", OnFailure::Ignore)?;
    }
    // Metrics of an earlier connection would make the second of two equal runs differ.
    write_sysctl("net.ipv4.tcp_no_metrics_save", "1", OnFailure::Ignore)?;
    // A connection that begins under BBR, as iperf3's do where that is the machine's default, is paced for
    // good, whatever its program changes it to. Not every machine allows CUBIC to namespaces.
    for algorithm in ["cubic", "reno"] {
        if write_sysctl("net.ipv4.tcp_congestion_control", algorithm, OnFailure::Report).is_ok() {
            break;
        }
    }
    for (name, value) in &node.sysctls {
        write_sysctl(name, value, OnFailure::Report)?;
    }
    if node.forwards {
        for (name, value) in FORWARDING {
            write_sysctl(name, value, OnFailure::Report)?;
        }
        if node.ipv6.is_some() {
            write_sysctl("net.ipv6.conf.all.forwarding", "1", OnFailure::Report)?;
        }
    }
    let netlink = Netlink::open()?;
    netlink.bring_up(netlink::index_of("lo")?, None)?;
    let interfaces: Vec<usize> = plan.interfaces(position).collect();
    let segments = segments_of(plan, &interfaces);
    let mut indices = Vec::with_capacity(interfaces.len());
    for (number, &interface) in interfaces.iter().enumerate() {
        let (name, own) = (interface_name(number), &plan.nodes[interface]);
        write_sysctl(&format!("net.ipv6.conf.{name}.addr_gen_mode"), "1", OnFailure::Ignore)?;
        if node.forwards && node.ipv6.is_none() {
            // A router would announce groups of IPv6 that it cannot serve.
            write_sysctl(&format!("net.ipv6.conf.{name}.disable_ipv6"), "1", OnFailure::Ignore)?;
        }
        let index = netlink::index_of(&name)?;
        netlink.bring_up(index, Some((own.mtu, tun::TX_QUEUE_PACKETS)))?;
        let peer = node.is_routed_by_daemon().then(|| far_node(plan, interface)).flatten();
        for address in addresses(own) {
            let of_family = |peer: &IpAddr| peer.is_ipv4() == address.is_ipv4();
            match peer.and_then(|peer| addresses(peer).find(of_family)) {
                Some(peer) => netlink.add_peer_address(index, address, peer)?,
                None => segment::add_address(&netlink, index, own, address)?,
            }
        }
        if (node.forwards || segments[number].is_some()) && own.ipv6.is_some() {
            netlink.add_link_local_address(index, link_local_address(interface))?;
        }
        indices.push(index);
    }
    let ways_out = WaysOut { interfaces: &interfaces, indices: &indices, segments: &segments };
    if node.forwards {
        return add_routes_of_router(&netlink, plan, position, &ways_out);
    }
    for address in addresses(node) {
        ways_out.add_default_route(
            &netlink,
            plan,
            0,
            Route::to_all(indices[0], address, node.initial_window),
        )?;
    }
    if interfaces.len() > 1 {
        add_routes_of_interfaces(&netlink, plan, position, &ways_out)?;
    }
    if let Some(mptcp) = &node.mptcp {
        configure_mptcp(plan, mptcp, &interfaces, &indices)?;
    }
    Ok(())
}

/// What the device of an interface hands over.
pub fn layer_of(plan: &Plan, interface: usize) -> Layer {
    plan.switch_at(interface).map_or(Layer::Ip, |_| Layer::Ethernet(mac_of(interface)))
}

/// The segments of those interfaces that are at switches.
pub fn segments_of(plan: &Plan, interfaces: &[usize]) -> Vec<Option<Segment>> {
    let routes = plan.has_switches().then(|| Routes::new(&Topology::of(plan)));
    interfaces.iter().map(|&each| Segment::of(plan, routes.as_ref()?, each)).collect()
}

/// The interfaces of a host, by their places: nodes of the plan, indices in the kernel, and segments.
struct WaysOut<'a> {
    interfaces: &'a [usize],
    indices: &'a [u32],
    segments: &'a [Option<Segment>],
}

impl WaysOut<'_> {
    /// Lets all packets without another route leave by the interface at `place`; `route` is its route to all.
    fn add_default_route(&self, netlink: &Netlink, plan: &Plan, place: usize, route: Route) -> Result<()> {
        let is_main = route.table == Route::MAIN;
        match &self.segments[place] {
            Some(segment) => segment.add_routes(netlink, plan, route, is_main),
            None => netlink.add_route(&route),
        }
    }
}

/// Tells Multipath TCP which addresses connections may use beside their first.
fn configure_mptcp(plan: &Plan, mptcp: &Mptcp, interfaces: &[usize], indices: &[u32]) -> Result<()> {
    let manager = match PathManager::open() {
        Ok(manager) => manager,
        Err(error) if mptcp.required => return Err(error),
        Err(_) => return Ok(()),
    };
    manager.set_limits(mptcp.subflows, mptcp.add_addr_accepted)?;
    for endpoint in &mptcp.endpoints {
        for (_, &index) in interfaces.iter().zip(indices).filter(|&(&each, _)| each == endpoint.interface) {
            for address in addresses(&plan.nodes[endpoint.interface]) {
                manager.add_endpoint(address, index, &endpoint.flags)?;
            }
        }
    }
    Ok(())
}

/// What makes a router of a host; packets may come in by another interface than answers leave by.
const FORWARDING: [(&str, &str); 5] = [
    ("net.ipv4.ip_forward", "1"),
    ("net.ipv4.conf.all.rp_filter", "0"),
    ("net.ipv4.conf.default.rp_filter", "0"),
    ("net.ipv4.conf.all.send_redirects", "0"),
    ("net.ipv4.conf.default.send_redirects", "0"),
];

/// The node at the other end of an interface's link.
fn far_node(plan: &Plan, interface: usize) -> Option<&Node> {
    let [a, b] = plan.links.iter().map(|link| link.endpoints).find(|ends| ends.contains(&interface))?;
    Some(&plan.nodes[if a == interface { b } else { a }])
}

/// The link-local address of an interface, which follows from its place in the plan.
fn link_local_address(interface: usize) -> Ipv6Addr {
    Ipv6Addr::from((0xfe80 << 112) | (interface as u128 + 1))
}

/// Fills the main table of a host that forwards: a route to each destination, and one to all others where the run has
/// a gateway. A routing daemon finds only the connected routes.
fn add_routes_of_router(
    netlink: &Netlink,
    plan: &Plan,
    position: usize,
    ways_out: &WaysOut<'_>,
) -> Result<()> {
    let node = &plan.nodes[position];
    add_main_routes(netlink, plan, node, ways_out)?;
    let to_gateway = node.main_routes.iter().find(|route| Some(route.destination) == plan.gateway);
    let interfaces = ways_out.interfaces;
    let place = to_gateway.and_then(|route| interfaces.iter().position(|&each| each == route.interface));
    if let Some(place) = place {
        for source in addresses(&plan.nodes[interfaces[place]]) {
            let route = Route::to_all(ways_out.indices[place], source, node.initial_window);
            ways_out.add_default_route(netlink, plan, place, route)?;
        }
    }
    Ok(())
}

/// Lets packets leave by the interface whose address they have, and all others as the host's main table says.
fn add_routes_of_interfaces(
    netlink: &Netlink,
    plan: &Plan,
    position: usize,
    ways_out: &WaysOut<'_>,
) -> Result<()> {
    let node = &plan.nodes[position];
    let WaysOut { interfaces, indices, .. } = ways_out;
    // Packets may arrive by another interface than the one that answers leave by.
    for name in
        ["all", "default"].map(str::to_owned).into_iter().chain((0..indices.len()).map(interface_name))
    {
        write_sysctl(&format!("net.ipv4.conf.{name}.rp_filter"), "0", OnFailure::Ignore)?;
    }
    for (((place, &interface), &index), table) in
        interfaces.iter().enumerate().zip(*indices).zip(FIRST_TABLE..)
    {
        for address in addresses(&plan.nodes[interface]) {
            let route = Route { table, ..Route::to_all(index, address, node.initial_window) };
            ways_out.add_default_route(netlink, plan, place, route)?;
            netlink.add_rule(address, table)?;
        }
        for &destination in &plan.nodes[interface].no_path_to {
            for address in addresses(&plan.nodes[destination]) {
                netlink.add_throw_route(address, table)?;
            }
        }
    }
    add_main_routes(netlink, plan, node, ways_out)
}

/// Adds the routes of a host's main table to single destinations.
fn add_main_routes(netlink: &Netlink, plan: &Plan, node: &Node, ways_out: &WaysOut<'_>) -> Result<()> {
    for route in &node.main_routes {
        let Some(place) = ways_out.interfaces.iter().position(|&each| each == route.interface) else {
            continue;
        };
        for source in addresses(&plan.nodes[route.interface]) {
            let to_all = Route::to_all(ways_out.indices[place], source, node.initial_window);
            let by_neighbour = match &ways_out.segments[place] {
                Some(segment) => segment.route_to(plan, route.destination, to_all),
                None => to_all,
            };
            add_routes_to(netlink, &plan.nodes[route.destination], by_neighbour)?;
        }
    }
    Ok(())
}

/// Adds `route` to a node, its addresses and the networks behind its port, as far as they have the family of the
/// route's source.
pub fn add_routes_to(netlink: &Netlink, node: &Node, route: Route) -> Result<()> {
    let of_family = |address: &IpAddr| address.is_ipv4() == route.source.is_ipv4();
    for address in addresses(node).filter(of_family) {
        netlink.add_route(&Route { destination: Some(address), ..route })?;
    }
    let subnets = node.port.iter().flat_map(Port::subnets);
    for subnet in subnets.filter(|subnet| of_family(&subnet.address)) {
        netlink.add_subnet_route(&Route { destination: Some(subnet.address), ..route }, subnet.bits)?;
    }
    Ok(())
}

/// Buckets of a host's own table of TCP connections.
const BUCKETS: &str = "4096";
/// What the kernel makes small with a small table.
const LIMITS: [&str; 2] = ["net.ipv4.tcp_max_tw_buckets", "net.ipv4.tcp_max_syn_backlog"];

/// Sysctls that hosts get with the values that the machine has.
#[derive(Debug, Default)]
pub struct Limits(Vec<(&'static str, String)>);

/// Gives every host that is built from now on a table of TCP connections of its own. Reading all connections
/// of a host then takes microseconds, and not as long as the machine's whole table takes. Kernels before
/// 6.1 cannot.
pub fn separate_tables() -> Limits {
    let read = |name: &'static str| {
        let path = format!("/proc/sys/{}", name.replace('.', "/"));
        Some((name, fs::read_to_string(path).ok()?.trim().to_owned()))
    };
    let limits = LIMITS.into_iter().filter_map(read).collect();
    match fs::write("/proc/sys/net/ipv4/tcp_child_ehash_entries", BUCKETS) {
        Ok(()) => Limits(limits),
        Err(_) => Limits::default(),
    }
}

/// The addresses of a node.
pub fn addresses(node: &Node) -> impl Iterator<Item = IpAddr> {
    node.ipv4.map(IpAddr::V4).into_iter().chain(node.ipv6.map(IpAddr::V6))
}

/// What to do if a sysctl cannot be written.
#[derive(Clone, Copy)]
pub enum OnFailure {
    Ignore,
    Report,
}

/// Sets a sysctl of the current network namespace.
pub fn write_sysctl(name: &str, value: &str, on_failure: OnFailure) -> Result<()> {
    let path = format!("/proc/sys/{}", name.replace('.', "/"));
    match fs::write(&path, value) {
        Ok(()) => Ok(()),
        Err(_) if matches!(on_failure, OnFailure::Ignore) => Ok(()),
        Err(error) => {
            Err(Error::wrap(format!("set {name} to {value:?}"), error).with_remedy(remedy(name, value)))
        }
    }
}

fn remedy(name: &str, value: &str) -> String {
    if name != "net.ipv4.tcp_congestion_control" {
        return "`sysctl -a` lists what this kernel has; not all of it belongs to a network namespace".into();
    }
    // Only what the machine allows to unprivileged programs may be a namespace's default.
    format!(
        "name it where it is used (`cc: {value}`), or allow it: \
         sysctl -w net.ipv4.tcp_allowed_congestion_control=\"$(sysctl -n net.ipv4.tcp_allowed_congestion_control) {value}\""
    )
}
