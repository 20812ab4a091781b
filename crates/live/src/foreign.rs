//! Network namespaces that exist without the run: named ones, and those of processes and containers.

use crate::error::{Error, Result};
use crate::host::{OnFailure, add_routes_to, addresses, layer_of, segments_of, write_sysctl};
use crate::netlink::{self, Netlink, Route};
use crate::readiness::is_readable;
use crate::segment::{self, Segment};
use crate::sys::pidfd;
use crate::tun::{self, Lifetime, Tun};
use longhaul_plan::{Plan, Port};
use nix::sched::{CloneFlags, setns};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::OwnedFd;
use std::path::PathBuf;

/// A network namespace in which a host of the plan has its interfaces, as the client has found it.
#[derive(Clone, Debug)]
pub struct ForeignPlace {
    /// The host.
    pub node: usize,
    /// Which namespace, in the scenario's words: `netns:blue`.
    pub name: String,
    /// The file that names it.
    pub path: PathBuf,
    /// The process that it belongs to, in the PID namespace of the client.
    pub pid: Option<i32>,
}

/// Such a namespace, open.
#[derive(Debug)]
pub struct ForeignNamespace {
    /// The host of the plan.
    pub node: usize,
    name: String,
    /// The namespace itself.
    pub net: File,
    owner: Owner,
}

/// What the namespace lasts as long as, but for the run.
#[derive(Debug)]
enum Owner {
    Process(OwnedFd),
    Name(PathBuf),
}

impl ForeignNamespace {
    /// Opens it; the caller must be in the mount and PID namespaces of the client.
    pub fn open(place: &ForeignPlace) -> Result<Self> {
        let failed =
            |error: std::io::Error| Error::wrap(format!("open the network namespace {}", place.name), error);
        // In this order: the path belongs to this process as long as it is alive.
        let process = place.pid.map(pidfd::open).transpose().map_err(failed)?;
        let net = File::open(&place.path).map_err(failed)?;
        let owner = process.map_or_else(|| Owner::Name(place.path.clone()), Owner::Process);
        let opened = ForeignNamespace { node: place.node, name: place.name.clone(), net, owner };
        opened.check()?;
        Ok(opened)
    }

    /// An error if the process or container has ended, or the name was removed. The run itself keeps the namespace.
    pub fn check(&self) -> Result<()> {
        let is_gone = match &self.owner {
            Owner::Process(pidfd) => is_readable(pidfd),
            Owner::Name(path) => !path.exists(),
        };
        if !is_gone {
            return Ok(());
        }
        Err(match self.owner {
            Owner::Name(_) => Error::new(format!("the network namespace {} was removed", self.name)),
            Owner::Process(_) => Error::new(format!("{} has stopped", self.name)),
        })
    }

    /// Moves this process, which must have one thread, into it.
    pub fn enter(&self) -> Result<()> {
        setns(&self.net, CloneFlags::CLONE_NEWNET).map_err(|error| {
            Error::wrap(format!("enter the network namespace {}", self.name), error)
                .with_remedy("run as root of the machine, or with --sudo")
        })
    }

    /// Makes the interfaces of the host at this `position` of the plan, in the current network namespace, with
    /// addresses and routes. All of it is gone when the devices are closed: nothing else of the namespace changes.
    pub fn make_interfaces(&self, plan: &Plan, position: usize) -> Result<Vec<(usize, String, Tun)>> {
        let node = &plan.nodes[position];
        let Some(Port::Namespace { interfaces: named, default_route, .. }) = &node.port else {
            return Ok(Vec::new());
        };
        let own: Vec<usize> = plan.interfaces(position).collect();
        let names = self.choose_names(named, own.len())?;
        let netlink = Netlink::open()?;
        let mut made = Vec::with_capacity(own.len());
        let mut indices = Vec::with_capacity(own.len());
        for (&interface, name) in own.iter().zip(names) {
            let tun = Tun::create(&name, Lifetime::Descriptor, layer_of(plan, interface))?;
            for (setting, value) in [("disable_ipv6", "0"), ("accept_ra", "0"), ("addr_gen_mode", "1")] {
                // Containers may have no IPv6 otherwise; the settings of an interface end with it.
                write_sysctl(&format!("net.ipv6.conf.{name}.{setting}"), value, OnFailure::Ignore)?;
            }
            if own.len() > 1 {
                write_sysctl(&format!("net.ipv4.conf.{name}.rp_filter"), "0", OnFailure::Ignore)?;
            }
            let index = netlink::index_of(&name)?;
            netlink.bring_up(index, Some((plan.nodes[interface].mtu, tun::TX_QUEUE_PACKETS)))?;
            for address in addresses(&plan.nodes[interface]) {
                segment::add_address(&netlink, index, &plan.nodes[interface], address)?;
            }
            indices.push((interface, index));
            made.push((interface, name, tun));
        }
        let segments = segments_of(plan, &own);
        add_routes(&netlink, plan, position, &indices, &segments)?;
        for address in addresses(node) {
            let has_one = has_default_route(address.is_ipv4());
            if default_route.unwrap_or(!has_one) {
                let to_all = Route::to_all(indices[0].1, address, None);
                let all = plan.gateway.unwrap_or(usize::MAX);
                let by = segments[0].as_ref().map_or(to_all, |segment| segment.route_to(plan, all, to_all));
                add_default_route(&netlink, &by, has_one)?;
            }
        }
        Ok(made)
    }

    /// Names of the interfaces that none in the namespace has.
    fn choose_names(&self, named: &[String], count: usize) -> Result<Vec<String>> {
        let taken: BTreeSet<String> = nix::net::if_::if_nameindex()
            .map_err(|error| Error::wrap("list interfaces", error))?
            .iter()
            .map(|each| each.name().to_string_lossy().into_owned())
            .collect();
        if let Some(name) = named.iter().find(|name| taken.contains(*name)) {
            return Err(Error::new(format!("{} already has an interface {name}", self.name))
                .with_remedy("choose another name, as in port: {..., interface: wan0}"));
        }
        let mut free = (0..)
            .map(|number| format!("eth{number}"))
            .filter(|name| !taken.contains(name) && !named.contains(name));
        Ok(named.iter().cloned().chain(std::iter::from_fn(|| free.next())).take(count).collect())
    }
}

/// Adds a route to each node of the plan, and to each network behind one.
fn add_routes(
    netlink: &Netlink,
    plan: &Plan,
    position: usize,
    indices: &[(usize, u32)],
    segments: &[Option<Segment>],
) -> Result<()> {
    let node = &plan.nodes[position];
    for (destination, other) in plan.nodes.iter().enumerate() {
        if destination == position || other.of == Some(position) {
            continue;
        }
        let by = plan.chosen_interface(position, destination);
        let Some(place) = indices.iter().position(|(interface, _)| *interface == by) else { continue };
        let (interface, index) = indices[place];
        for source in addresses(&plan.nodes[interface]) {
            let to_all = Route::to_all(index, source, node.initial_window);
            let segment = segments[place].as_ref();
            let by = segment.map_or(to_all, |segment| segment.route_to(plan, destination, to_all));
            add_routes_to(netlink, other, by)?;
        }
    }
    Ok(())
}

/// Whether the current network namespace has a default route.
fn has_default_route(is_ipv4: bool) -> bool {
    if is_ipv4 {
        let text = fs::read_to_string("/proc/self/net/route").unwrap_or_default();
        text.lines().skip(1).any(|line| {
            let mut fields = line.split_whitespace();
            fields.nth(1) == Some("00000000") && fields.nth(5) == Some("00000000")
        })
    } else {
        let text = fs::read_to_string("/proc/self/net/ipv6_route").unwrap_or_default();
        text.lines().any(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let is_default = fields.first().is_some_and(|first| first.bytes().all(|byte| byte == b'0'));
            // The kernel's own entry for "unreachable" is at lo.
            is_default && fields.get(1) == Some(&"00") && fields.last() != Some(&"lo")
        })
    }
}

/// Lets everything without a more specific route leave as `to_all` says. A default route that exists is kept and
/// outweighed by routes of both halves of all addresses, as VPNs do.
fn add_default_route(netlink: &Netlink, to_all: &Route, has_one: bool) -> Result<()> {
    if !has_one {
        return netlink.add_route(to_all);
    }
    let halves: [IpAddr; 2] = if to_all.source.is_ipv4() {
        [Ipv4Addr::UNSPECIFIED.into(), Ipv4Addr::new(128, 0, 0, 0).into()]
    } else {
        [Ipv6Addr::UNSPECIFIED.into(), Ipv6Addr::new(0x8000, 0, 0, 0, 0, 0, 0, 0).into()]
    };
    halves
        .into_iter()
        .try_for_each(|half| netlink.add_subnet_route(&Route { destination: Some(half), ..*to_all }, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(path: &str, pid: Option<i32>) -> ForeignPlace {
        ForeignPlace { node: 0, name: "netns:test".into(), path: path.into(), pid }
    }

    #[test]
    fn a_namespace_is_lost_when_its_process_has_ended() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = child.id() as i32;
        let opened = ForeignNamespace::open(&place(&format!("/proc/{pid}/ns/net"), Some(pid))).unwrap();
        assert!(opened.check().is_ok());
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(opened.check().unwrap_err().message(), "netns:test has stopped");
        assert!(ForeignNamespace::open(&place(&format!("/proc/{pid}/ns/net"), Some(pid))).is_err());
    }

    #[test]
    fn a_namespace_is_lost_when_its_name_is_removed() {
        let path = std::env::temp_dir().join(format!("longhaul-foreign-{}", std::process::id()));
        std::fs::write(&path, "").unwrap();
        let opened = ForeignNamespace::open(&place(path.to_str().unwrap(), None)).unwrap();
        assert!(opened.check().is_ok());
        std::fs::remove_file(&path).unwrap();
        assert_eq!(opened.check().unwrap_err().message(), "the network namespace netns:test was removed");
    }
}
