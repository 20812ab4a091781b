//! What the kernel dropped behind the model's back, as it counts it itself.

use crate::host::Host;
use nix::sched::{CloneFlags, setns};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Increases of one host's counters, by name.
pub type Counters = BTreeMap<String, u64>;

/// Counters of lost packets: the kernel's name and ours.
const DROPS: [(&str, &str); 20] = [
    ("Udp.RcvbufErrors", "UdpRcvbufErrors"),
    ("Udp.SndbufErrors", "UdpSndbufErrors"),
    ("Udp.InErrors", "UdpInErrors"),
    ("Udp.InCsumErrors", "UdpInCsumErrors"),
    ("Udp.MemErrors", "UdpMemErrors"),
    ("Ip.InDiscards", "IpInDiscards"),
    ("Ip.OutDiscards", "IpOutDiscards"),
    ("Tcp.InErrs", "TcpInErrs"),
    ("TcpExt.TCPBacklogDrop", "TCPBacklogDrop"),
    ("TcpExt.TCPRcvQDrop", "TCPRcvQDrop"),
    ("TcpExt.TCPZeroWindowDrop", "TCPZeroWindowDrop"),
    ("TcpExt.PruneCalled", "PruneCalled"),
    ("TcpExt.RcvPruned", "RcvPruned"),
    ("TcpExt.OfoPruned", "OfoPruned"),
    ("TcpExt.TCPOFODrop", "TCPOFODrop"),
    ("Udp6RcvbufErrors", "Udp6RcvbufErrors"),
    ("Udp6SndbufErrors", "Udp6SndbufErrors"),
    ("Udp6InErrors", "Udp6InErrors"),
    ("Ip6InDiscards", "Ip6InDiscards"),
    ("Ip6OutDiscards", "Ip6OutDiscards"),
];

/// Constants among the counters.
const SETTINGS: [&str; 6] =
    ["Ip.Forwarding", "Ip.DefaultTTL", "Tcp.RtoAlgorithm", "Tcp.RtoMin", "Tcp.RtoMax", "Tcp.MaxConn"];

/// What the kernel has counted in a network namespace.
#[derive(Debug, Default)]
pub struct Counted {
    /// Lost packets.
    pub drops: Counters,
    /// All counters of IP and the protocols above it that are not zero, by names such as `Tcp.RetransSegs`; those of
    /// IPv6 are called as the kernel calls them, `Ip6OutRequests`.
    pub all: Counters,
}

/// What was counted in a namespace that is older than the run.
#[derive(Debug)]
pub struct CountersBefore {
    /// Without drops of devices.
    pub counted: Counted,
    /// Names of the run's interfaces there.
    pub interfaces: Vec<String>,
}

/// Reads the counters of `host`. Namespaces of the run were new when it began, so that all of theirs started at zero.
/// Leaves this process in the host's network namespace.
pub fn read(host: &Host) -> nix::Result<Counted> {
    setns(host.namespaces.net(), CloneFlags::CLONE_NEWNET)?;
    let Some(before) = &host.counted_before else { return Ok(read_here(is_ours)) };
    let now = read_here(|device| before.interfaces.iter().any(|each| each == device));
    let mut all = since(&before.counted.all, now.all);
    all.retain(|_, value| *value != 0);
    Ok(Counted { drops: since(&before.counted.drops, now.drops), all })
}

/// How much each counter has grown.
fn since(before: &Counters, mut now: Counters) -> Counters {
    for (name, value) in &mut now {
        *value = value.saturating_sub(before.get(name).copied().unwrap_or_default());
    }
    now
}

/// The counters of the current network namespace; drops of devices are those of the devices that `is_chosen` selects.
pub fn read_here(is_chosen: impl Fn(&str) -> bool) -> Counted {
    let read = |file: &str| fs::read_to_string(format!("/proc/self/net/{file}")).unwrap_or_default();
    let counters =
        pairs(&read("snmp")).chain(pairs(&read("netstat"))).chain(listed_pairs(&read("snmp6"))).collect();
    counted(counters, &read("dev"), is_chosen)
}

/// Sorts all counters of a namespace, and adds the drops of the chosen devices in the text of `/proc/net/dev`.
fn counted(mut all: Counters, devices: &str, is_chosen: impl Fn(&str) -> bool) -> Counted {
    let drops = DROPS.into_iter().filter_map(|(name, ours)| Some((ours.to_owned(), *all.get(name)?)));
    let mut drops: Counters = drops.collect();
    for (name, received, sent) in devices.lines().filter_map(device_drops) {
        if !is_chosen(name) {
            continue;
        }
        *drops.entry("dev_rx_dropped".into()).or_default() += received;
        *drops.entry("dev_tx_dropped".into()).or_default() += sent;
    }
    all.retain(|name, value| *value != 0 && !SETTINGS.contains(&name.as_str()));
    Counted { drops, all }
}

/// The congestion-control algorithm of connections in the current network namespace that name none.
pub fn congestion_control() -> Option<String> {
    let name = fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").ok()?;
    Some(name.trim().to_owned())
}

/// Processor time of a control group, in user space and in the kernel, in nanoseconds.
pub fn processor_time(group: &Path) -> Option<(u64, u64)> {
    let text = fs::read_to_string(group.join("cpu.stat")).ok()?;
    Some((listed(&text, "user_usec")? * 1_000, listed(&text, "system_usec")? * 1_000))
}

/// How long some process of a control group was ready and had no processor, in nanoseconds (PSI, proc(5)).
pub fn processor_wait(group: &Path) -> Option<u64> {
    let text = fs::read_to_string(group.join("cpu.pressure")).ok()?;
    let some = text.lines().find(|line| line.starts_with("some "))?;
    Some(some.rsplit_once("total=")?.1.parse::<u64>().ok()? * 1_000)
}

/// Every counter of the pairs of lines "Udp: names" and "Udp: values".
fn pairs(text: &str) -> impl Iterator<Item = (String, u64)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for pair in lines.chunks_exact(2) {
        let (Some((group, names)), Some((_, values))) = (pair[0].split_once(':'), pair[1].split_once(':'))
        else {
            continue;
        };
        for (name, value) in names.split_whitespace().zip(values.split_whitespace()) {
            if let Ok(value) = value.parse() {
                found.push((format!("{group}.{name}"), value));
            }
        }
    }
    found.into_iter()
}

/// Packets that the machine's receive queues dropped, over all processors.
pub fn softnet_dropped() -> u64 {
    let text = fs::read_to_string("/proc/net/softnet_stat").unwrap_or_default();
    text.lines().filter_map(|line| u64::from_str_radix(line.split_whitespace().nth(1)?, 16).ok()).sum()
}

/// Every counter of lines `Udp6InErrors 0`.
fn listed_pairs(text: &str) -> impl Iterator<Item = (String, u64)> {
    text.lines().filter_map(|line| {
        let (name, value) = line.split_once(char::is_whitespace)?;
        Some((name.to_owned(), value.trim().parse().ok()?))
    })
}

/// The value of a line `field value`.
pub fn listed(text: &str, field: &str) -> Option<u64> {
    listed_pairs(text).find(|(name, _)| name == field).map(|(_, value)| value)
}

/// Dropped packets of a line of `/proc/net/dev`: device, received, sent.
fn device_drops(line: &str) -> Option<(&str, u64, u64)> {
    let (name, figures) = line.trim_start().split_once(':')?;
    let fields: Vec<&str> = figures.split_whitespace().collect();
    Some((name, fields.get(3)?.parse().ok()?, fields.get(11)?.parse().ok()?))
}

/// Whether a device of a host's own namespace is an interface of the run.
pub fn is_ours(device: &str) -> bool {
    device.strip_prefix("eth").is_some_and(|number| number.bytes().all(|each| each.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_are_selected_by_protocol_and_name() {
        let text =
            "Udp: InDatagrams RcvbufErrors\nUdp: 12 7\nUdpLite: InDatagrams RcvbufErrors\nUdpLite: 1 2\n";
        let all = pairs(text).chain(listed_pairs("Udp6InErrors\t3\nIp6InReceives\t0\n")).collect();
        let figures = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16";
        let devices = format!(" face |bytes packets errs drop\n  eth0: {figures}\n  lo: {figures}\n");
        let Counted { drops, all } = counted(all, &devices, is_ours);
        let found: Vec<(&str, u64)> = drops.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        assert_eq!(
            found,
            [("Udp6InErrors", 3), ("UdpRcvbufErrors", 7), ("dev_rx_dropped", 4), ("dev_tx_dropped", 12)]
        );
        assert!(all.contains_key("UdpLite.RcvbufErrors") && !all.contains_key("Ip6InReceives"));
    }

    #[test]
    fn every_counter_has_the_name_of_its_group() {
        let text = "Udp: InDatagrams RcvbufErrors\nUdp: 12 7\nTcp: MaxConn OutSegs\nTcp: -1 5\n";
        let all: Vec<(String, u64)> = pairs(text).collect();
        assert_eq!(
            all,
            [("Udp.InDatagrams".into(), 12), ("Udp.RcvbufErrors".into(), 7), ("Tcp.OutSegs".into(), 5),]
        );
    }

    #[test]
    fn drops_of_an_interface_are_its_fourth_and_twelfth_figures() {
        let figures = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16";
        assert_eq!(device_drops(&format!("  eth0: {figures}")), Some(("eth0", 4, 12)));
        assert_eq!(device_drops(&format!(" eth12: {figures}")), Some(("eth12", 4, 12)));
        assert_eq!(device_drops(" face |bytes packets errs drop"), None);
        assert!(is_ours("eth0") && is_ours("eth12") && !is_ours("lo") && !is_ours("ethx"));
    }

    #[test]
    fn a_counter_of_an_older_namespace_counts_from_the_beginning_of_the_run() {
        let counters = |pairs: &[(&str, u64)]| -> Counters {
            pairs.iter().map(|&(name, value)| (name.to_owned(), value)).collect()
        };
        let grown = since(&counters(&[("a", 5), ("b", 1)]), counters(&[("a", 7), ("c", 2)]));
        assert_eq!(grown, counters(&[("a", 2), ("c", 2)]));
    }
}
