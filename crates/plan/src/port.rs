//! What is at a host's end of its links in a live run, in place of namespaces of Longhaul's own.

use crate::{Node, Plan};
use longhaul_units::InvalidValue;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// The longest name of an interface, in bytes (`IFNAMSIZ` of linux/if.h, less the final zero).
const MOST_NAME_BYTES: usize = 15;

/// What is at a host's end of its links in a live run, in place of namespaces of Longhaul's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Port {
    /// Interfaces of the run inside a network namespace that exists already.
    Namespace {
        /// Which one, in the scenario's words: `netns:blue`, `podman:web`.
        place: String,
        /// Names of the interfaces, that of the first link first; the first free ones of `eth0`, `eth1` and so on
        /// for those that are not named.
        #[serde(default)]
        interfaces: Vec<String>,
        /// Whether all packets without another route leave by the first interface; `None`: if the namespace has no
        /// default route of its own.
        #[serde(default)]
        default_route: Option<bool>,
    },
    /// An Ethernet device of the machine, behind which hosts are that use this node's addresses as their gateway.
    Routed {
        /// The device's name.
        device: String,
        /// Networks behind the device.
        subnets: Vec<Subnet>,
    },
    /// An Ethernet device of the machine, whose frames go unchanged to the other bridged devices of its segment.
    Bridged {
        /// The device's name.
        device: String,
        /// Devices with the same number are one Ethernet segment.
        segment: usize,
    },
}

/// A network behind a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Subnet {
    /// Its first address.
    pub address: IpAddr,
    /// Bits that all of its addresses share.
    pub bits: u8,
    /// The router behind the device that leads to it; `None`: its hosts are on the device's own segment.
    #[serde(default)]
    pub via: Option<IpAddr>,
}

impl Subnet {
    /// Whether `address` belongs to it.
    pub fn contains(&self, address: IpAddr) -> bool {
        let bits = u32::from(self.bits);
        match (self.address, address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                bits == 0 || (own.to_bits() ^ other.to_bits()) >> (32 - bits) == 0
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                bits == 0 || (own.to_bits() ^ other.to_bits()) >> (128 - bits) == 0
            }
            _ => false,
        }
    }

    fn check(&self) -> Result<(), InvalidValue> {
        let most = if self.address.is_ipv4() { 32 } else { 128 };
        if self.bits > most {
            return Err(InvalidValue::new("bits", format!("must be at most {most}")));
        }
        if self.via.is_some_and(|via| via.is_ipv4() != self.address.is_ipv4()) {
            return Err(InvalidValue::new("via", "is not of the same family"));
        }
        Ok(())
    }
}

impl Port {
    /// The networks behind it.
    pub fn subnets(&self) -> &[Subnet] {
        match self {
            Port::Routed { subnets, .. } => subnets,
            Port::Namespace { .. } | Port::Bridged { .. } => &[],
        }
    }

    /// Whether programs of a scenario can run at such a host.
    pub fn runs_programs(&self) -> bool {
        matches!(self, Port::Namespace { .. })
    }

    /// Checks names, and that subnets are networks.
    ///
    /// # Errors
    /// The first rule that is broken, with its field.
    pub fn check(&self) -> Result<(), InvalidValue> {
        let (field, names) = match self {
            Port::Namespace { interfaces, .. } => ("interfaces", interfaces.as_slice()),
            Port::Routed { device, .. } | Port::Bridged { device, .. } => {
                ("device", std::slice::from_ref(device))
            }
        };
        for name in names {
            let fits = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'/' | b':' | b'%');
            if !(1..=MOST_NAME_BYTES).contains(&name.len()) || !name.bytes().all(fits) {
                return Err(InvalidValue::new(field, format!("{name:?} is not the name of an interface")));
            }
        }
        for (position, subnet) in self.subnets().iter().enumerate() {
            subnet.check().map_err(|error| error.within(&format!("subnets[{position}]")))?;
        }
        Ok(())
    }
}

impl Plan {
    /// The networks behind ports, each with its node; those with more bits first.
    pub fn subnets(&self) -> Vec<(Subnet, usize)> {
        let of_node = |(node, each): (usize, &Node)| {
            let subnets = each.port.iter().flat_map(Port::subnets);
            subnets.map(|subnet| (*subnet, node)).collect::<Vec<_>>()
        };
        let mut found: Vec<_> = self.nodes.iter().enumerate().flat_map(of_node).collect();
        found.sort_by_key(|(subnet, _)| std::cmp::Reverse(subnet.bits));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subnet(address: &str, bits: u8) -> Subnet {
        Subnet { address: address.parse().unwrap(), bits, via: None }
    }

    #[test]
    fn a_subnet_contains_the_addresses_that_share_its_bits() {
        let contains = |subnet: Subnet, address: &str| subnet.contains(address.parse().unwrap());
        assert!(contains(subnet("192.168.1.0", 24), "192.168.1.255"));
        assert!(!contains(subnet("192.168.1.0", 24), "192.168.2.1"));
        assert!(contains(subnet("fd00::", 64), "fd00::1:2:3:4"));
        assert!(!contains(subnet("fd00::", 64), "fd00:0:0:1::1"));
        assert!(contains(subnet("0.0.0.0", 0), "8.8.8.8") && !contains(subnet("0.0.0.0", 0), "::1"));
        assert!(contains(subnet("10.0.0.1", 32), "10.0.0.1"));
    }

    #[test]
    fn names_that_interfaces_cannot_have_are_refused() {
        let port = |name: &str| Port::Routed { device: name.into(), subnets: Vec::new() };
        assert!(port("eth1.100").check().is_ok());
        for wrong in ["", "a/b", "with space", "much-too-long-name"] {
            assert_eq!(port(wrong).check().unwrap_err().path(), "device", "{wrong}");
        }
        let bits = Port::Routed { device: "eth1".into(), subnets: vec![subnet("10.0.0.0", 33)] };
        assert_eq!(bits.check().unwrap_err().path(), "subnets[0].bits");
    }
}
