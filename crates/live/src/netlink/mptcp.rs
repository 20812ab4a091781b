//! What a host asks of the kernel's path manager of Multipath TCP (`ip-mptcp(8)`, `linux/mptcp_pm.h`).

use super::Requests;
use crate::error::{Error, Result};
use longhaul_plan::MptcpFlag;
use netlink_packet_core::{
    DecodeError, DefaultNla, Emitable, NLA_F_NESTED, NLM_F_ACK, NLM_F_REQUEST, ParseableParametrized,
};
use netlink_packet_generic::ctrl::nlas::GenlCtrlAttrs;
use netlink_packet_generic::ctrl::{GenlCtrl, GenlCtrlCmd};
use netlink_packet_generic::{GenlFamily, GenlHeader, GenlMessage};
use netlink_sys::protocols;
use std::net::IpAddr;

const FAMILY: &str = "mptcp_pm";
const VERSION: u8 = 1;
/// Commands.
const ADD_ADDR: u8 = 1;
const SET_LIMITS: u8 = 5;
/// Attributes of commands.
const ATTR_ADDR: u16 = 1;
const ATTR_RCV_ADD_ADDRS: u16 = 2;
const ATTR_SUBFLOWS: u16 = 3;
/// Attributes of an address.
const ADDR_FAMILY: u16 = 1;
const ADDR_ADDR4: u16 = 3;
const ADDR_ADDR6: u16 = 4;
const ADDR_FLAGS: u16 = 6;
const ADDR_IF_IDX: u16 = 7;

/// The path manager of the network namespace that was current when it was opened.
pub struct PathManager {
    socket: Requests,
    /// What the kernel calls its family now.
    family: u16,
}

impl PathManager {
    /// Finds it.
    ///
    /// # Errors
    /// A kernel without Multipath TCP.
    pub fn open() -> Result<Self> {
        let socket = Requests::open(protocols::NETLINK_GENERIC)?;
        let request = GenlMessage::from_payload(GenlCtrl {
            cmd: GenlCtrlCmd::GetFamily,
            nlas: vec![GenlCtrlAttrs::FamilyName(FAMILY.to_owned())],
        });
        let missing = |error: Error| {
            error.with_remedy(
                "Multipath TCP needs Linux 5.6 or later with CONFIG_MPTCP; or leave out \"mptcp\"",
            )
        };
        let answer: Option<GenlMessage<GenlCtrl>> =
            socket.call(request, NLM_F_REQUEST, "find the path manager of Multipath TCP").map_err(missing)?;
        let family =
            answer.into_iter().flat_map(|message| message.payload.nlas).find_map(|each| match each {
                GenlCtrlAttrs::FamilyId(family) => Some(family),
                _ => None,
            });
        let family =
            family.ok_or_else(|| missing(Error::new("this kernel has no path manager of Multipath TCP")))?;
        Ok(PathManager { socket, family })
    }

    /// How many subflows a connection may have beside its first, and how many addresses of the peer's it takes.
    pub fn set_limits(&self, subflows: u32, add_addr_accepted: u32) -> Result<()> {
        let attributes = vec![
            DefaultNla::new(ATTR_RCV_ADD_ADDRS, add_addr_accepted.to_ne_bytes().to_vec()),
            DefaultNla::new(ATTR_SUBFLOWS, subflows.to_ne_bytes().to_vec()),
        ];
        self.call(Command { number: SET_LIMITS, attributes }, "set the limits of Multipath TCP")
    }

    /// Lets connections use `address`, at the interface with this index.
    pub fn add_endpoint(&self, address: IpAddr, interface: u32, flags: &[MptcpFlag]) -> Result<()> {
        let (family, kind, octets) = match address {
            IpAddr::V4(address) => (libc::AF_INET, ADDR_ADDR4, address.octets().to_vec()),
            IpAddr::V6(address) => (libc::AF_INET6, ADDR_ADDR6, address.octets().to_vec()),
        };
        let bits = flags.iter().fold(0, |bits, &flag| bits | bit(flag));
        let inner = [
            DefaultNla::new(ADDR_FAMILY, (family as u16).to_ne_bytes().to_vec()),
            DefaultNla::new(kind, octets),
            DefaultNla::new(ADDR_FLAGS, bits.to_ne_bytes().to_vec()),
            DefaultNla::new(ADDR_IF_IDX, interface.to_ne_bytes().to_vec()),
        ];
        let mut value = vec![0; inner.as_slice().buffer_len()];
        inner.as_slice().emit(&mut value);
        let attributes = vec![DefaultNla::new(ATTR_ADDR | NLA_F_NESTED, value)];
        self.call(Command { number: ADD_ADDR, attributes }, "add an endpoint of Multipath TCP")
    }

    fn call(&self, command: Command, what: &str) -> Result<()> {
        let mut message = GenlMessage::from_payload(command);
        message.set_resolved_family_id(self.family);
        self.socket.call(message, NLM_F_REQUEST | NLM_F_ACK, what).map(drop)
    }
}

/// The kernel's `MPTCP_PM_ADDR_FLAG_*`.
fn bit(flag: MptcpFlag) -> u32 {
    match flag {
        MptcpFlag::Signal => 1,
        MptcpFlag::Subflow => 1 << 1,
        MptcpFlag::Backup => 1 << 2,
        MptcpFlag::Fullmesh => 1 << 3,
    }
}

/// A command to the path manager.
#[derive(Debug)]
struct Command {
    number: u8,
    attributes: Vec<DefaultNla>,
}

impl GenlFamily for Command {
    fn family_name() -> &'static str {
        FAMILY
    }

    fn command(&self) -> u8 {
        self.number
    }

    fn version(&self) -> u8 {
        VERSION
    }
}

impl Emitable for Command {
    fn buffer_len(&self) -> usize {
        self.attributes.as_slice().buffer_len()
    }

    fn emit(&self, buffer: &mut [u8]) {
        self.attributes.as_slice().emit(buffer);
    }
}

impl ParseableParametrized<[u8], GenlHeader> for Command {
    fn parse_with_param(_: &[u8], header: GenlHeader) -> std::result::Result<Self, DecodeError> {
        Ok(Command { number: header.cmd, attributes: Vec::new() })
    }
}
