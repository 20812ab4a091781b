//! Fuzz targets: the parsers of bytes that other programs and users write, as functions of any bytes.
//!
//! Each function of [`TARGETS`] gives its bytes to a parser and panics if the result is inconsistent. `make fuzz`
//! runs them guided by coverage (`fuzz/`); the tests here run them on the committed corpus (`fuzz/corpus/TARGET`)
//! and on random changes of it.
#![forbid(unsafe_code)]

mod vhost;

use longhaul_bpf_cc::{Object, Types};
use longhaul_capture::{Asked, Exchange, Reader, unpacked};
use longhaul_live::fuzzing as live;
use longhaul_network::{Network, icmp, journal::Entry, replay};
use longhaul_plan::{Direction, Event, Plan};
use longhaul_relay::fuzzing as relay;
use std::net::SocketAddr;

pub use vhost::{messages as vhost_messages, rings as vhost_rings};

/// Most nodes and links of a plan of which a network is built: larger ones only take longer.
const MOST: usize = 64;

/// The name of a target, which is that of its corpus and of its binary in `fuzz/`, and its function.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: &[Target] = &[
    ("capture", capture),
    ("journal", journal),
    ("kernel_object", kernel_object),
    ("packet", packet),
    ("plan", plan),
    ("requests", requests),
    ("socks", socks),
    ("vhost_messages", vhost::messages),
    ("vhost_rings", vhost::rings),
];

/// A capture file (pcap, pcapng, packed or not), read for all its flows and then for each of them.
///
/// # Panics
/// If the counts of packets and flows are inconsistent, or data have no bytes.
pub fn capture(bytes: &[u8]) {
    let read = || unpacked(bytes).ok();
    let Some(Ok(mut reader)) = read().map(Reader::new) else { return };
    while let Ok(true) = reader.advance(1_000) {}
    let packets = reader.packets();
    let findings = reader.finish();
    assert_eq!(findings.tally.packets, packets);
    assert!(findings.flows.len() as u64 <= 2 * packets, "no flow without a packet");
    for flow in findings.flows.iter().take(4) {
        let asked = Asked { interface: flow.interface.clone(), sender: flow.sender, receiver: flow.receiver };
        let Some(Ok(exchange)) = read().map(|reader| Exchange::read(reader, &asked)) else { continue };
        for data in &exchange.data {
            assert!(data.start < data.end, "data has bytes: {data:?}");
        }
    }
}

/// A journal of packets: an entry that is written is read again as the same entry.
///
/// # Panics
/// If an entry is not read again as it was written, or a replay finds fewer equal packets than delivered ones.
pub fn journal(bytes: &[u8]) {
    let mut rest = bytes;
    while let Ok(Some(entry)) = Entry::decode(&mut rest) {
        let mut once = Vec::new();
        entry.encode(&mut once);
        let again = Entry::decode(&mut once.as_slice()).ok().flatten();
        let mut twice = Vec::new();
        again.unwrap_or_else(|| panic!("cannot be read again: {entry:?}")).encode(&mut twice);
        assert_eq!(once, twice, "{entry:?}");
    }
    let plan: Plan = serde_json::from_str(SMALL_PLAN).unwrap_or_else(|error| panic!("{error}"));
    if let Ok(replayed) = replay(&plan, &mut &*bytes) {
        assert!(replayed.equal >= replayed.delivered);
    }
}

/// An object file of the kernel's congestion control, and the kernel's types.
pub fn kernel_object(bytes: &[u8]) {
    let _ = (Object::read(bytes), Types::read(bytes));
}

/// A packet with its virtio header, as a host sends it.
pub fn packet(bytes: &[u8]) {
    live::super_packet(bytes);
    let _ = (icmp::parse(bytes), icmp::origin(bytes));
}

/// A plan; what passes the check makes a network.
///
/// # Panics
/// If a plan that passes the check makes no network.
pub fn plan(bytes: &[u8]) {
    if let Ok(direction) = serde_json::from_slice::<Direction>(bytes) {
        let _ = direction.check();
    }
    let _ = serde_json::from_slice::<Event>(bytes);
    let Ok(plan) = serde_json::from_slice::<Plan>(bytes) else { return };
    if plan.check().is_err() || plan.nodes.len() > MOST || plan.links.len() > MOST {
        return;
    }
    let network = Network::new(&plan).unwrap_or_else(|error| panic!("a plan that checks: {error}"));
    assert_eq!(network.held(), 0);
}

/// A line of the control protocols of live runs, their engines, and relays.
pub fn requests(bytes: &[u8]) {
    live::line(bytes);
    relay::request(bytes);
}

/// The stream of a SOCKS client (first byte even) or of a SOCKS server: where it is cut makes no difference.
///
/// # Panics
/// If the steps depend on where the stream is cut.
pub fn socks(bytes: &[u8]) {
    let [how, cut, bytes @ ..] = bytes else { return };
    let (first, second) = bytes.split_at(usize::from(*cut).min(bytes.len()));
    let password = (how & 2 != 0).then(|| "secret".to_owned());
    if how & 1 == 0 {
        let whole = relay::served(password.clone(), &[bytes]);
        assert_eq!(relay::served(password, &[first, second]), whole);
    } else {
        let target = SocketAddr::from(([10, 0, 0, 1], 80));
        let whole = relay::asked(target, password.clone(), &[bytes]);
        assert_eq!(relay::asked(target, password, &[first, second]), whole);
    }
}

/// Two hosts and a link.
const SMALL_PLAN: &str = include_str!("../../../fuzz/corpus/plan/two-hosts.json");
