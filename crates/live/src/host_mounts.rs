//! What the mount namespaces of all hosts start from.

use crate::error::{Error, Result};
use crate::host::{NAMESPACES, addresses};
use longhaul_plan::Node;
use nix::mount::{MsFlags, mount};
use nix::sched::unshare;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Prepares what every host's mount namespace starts from: private mounts, a /proc of this PID
/// namespace, the run's /etc/hosts, and no name servers (a name that is not in the scenario then
/// fails at once instead of after a time-out).
pub fn prepare(nodes: &[Node], files: &Path) -> Result<()> {
    // All four kinds, and not the mounts alone: root of a user namespace may not return to the
    // namespaces of the machine.
    unshare(NAMESPACES).map_err(|error| Error::wrap("create namespaces", error))?;
    let none: Option<&str> = None;
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none)
        .map_err(|error| Error::wrap("make mounts private", error))?;
    mount_proc()?;
    let hosts = files.join("hosts");
    fs::write(&hosts, hosts_file(nodes)).map_err(|error| Error::wrap("write the hosts file", error))?;
    mount_over(&hosts, Path::new("/etc/hosts"))?;
    let resolv = files.join("resolv.conf");
    fs::write(&resolv, "# Names of a run are in /etc/hosts; there are no name servers.\n")
        .map_err(|error| Error::wrap("write resolv.conf", error))?;
    mount_over(&resolv, Path::new("/etc/resolv.conf"))
}

/// Mounts a /proc of this PID namespace. The sysctls of each host are set in one of their own: in a single one, the
/// kernel compares the `net/ipv4` of each network namespace with a path below /proc/sys, a thousand for each sysctl where
/// there are a thousand hosts.
pub fn mount_proc() -> Result<()> {
    let none: Option<&str> = None;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("proc"), "/proc", Some("proc"), flags, none).map_err(|error| {
        Error::wrap("mount /proc for the run's own processes", error).with_remedy(
            "inside a container, start it with /proc unmasked, or run as root on the machine itself",
        )
    })
}

/// The text of /etc/hosts: loopback, then every node under its name.
pub fn hosts_file(nodes: &[Node]) -> String {
    let mut text = String::from("127.0.0.1 localhost\n::1 localhost ip6-localhost\n");
    for node in nodes {
        for address in addresses(node) {
            let mut names = vec![node.name.as_str()];
            names.extend((node.hostname() != node.name).then(|| node.hostname()));
            names.extend(node.aliases.iter().map(String::as_str));
            let _ = writeln!(text, "{address} {}", names.join(" "));
        }
    }
    text
}

/// Mounts `file` over `target`, where there is a target.
pub fn mount_over(file: &Path, target: &Path) -> Result<()> {
    if !target.exists() {
        return Ok(());
    }
    let none: Option<&str> = None;
    mount(Some(file), target, none, MsFlags::MS_BIND, none)
        .map_err(|error| Error::wrap(format!("mount over {}", target.display()), error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use longhaul_plan::NodeKind;
    use std::collections::BTreeMap;

    #[test]
    fn every_node_is_in_the_hosts_file_under_each_of_its_addresses() {
        let node = Node {
            name: "par1".into(),
            kind: NodeKind::Host,
            ipv4: Some("10.1.0.1".parse().unwrap()),
            ipv6: Some("fd00::1".parse().unwrap()),
            mtu: 1500,
            sysctls: BTreeMap::new(),
            initial_window: None,
            segment: None,
            forwards: false,
            of: None,
            aliases: vec!["par1.nyc".into()],
            main_routes: Vec::new(),
            no_path_to: Vec::new(),
            port: None,
            mptcp: None,
            line_bits_per_s: None,
            settings: None,
        };
        let text = hosts_file(&[node]);
        assert!(text.contains("\n10.1.0.1 par1 par1.nyc\n"), "{text}");
        assert!(text.contains("\nfd00::1 par1 par1.nyc\n"), "{text}");
    }
}
