//! A host's port into the network: a TUN device with virtio headers, so that the kernel hands over
//! and takes whole TCP and UDP super-packets.

use crate::error::{Error, Result};
use nix::sys::uio;
use std::io::IoSlice;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

/// Bytes of the virtio header in front of every packet.
pub const VNET_HEADER: usize = 10;
/// The largest packet that the kernel hands over, with its virtio header.
pub const LARGEST: usize = VNET_HEADER + 65_536;
/// Packets that the kernel keeps for us before it drops (and counts) them.
pub const TX_QUEUE_PACKETS: u32 = 4096;

const TUNSETIFF: libc::c_ulong = 0x4004_54ca;
const TUNSETPERSIST: libc::c_ulong = 0x4004_54cb;
const TUNSETOFFLOAD: libc::c_ulong = 0x4004_54d0;
const TUNSETVNETHDRSZ: libc::c_ulong = 0x4004_54d8;
const IFF_TUN: libc::c_short = 0x0001;
const IFF_NO_PI: libc::c_short = 0x1000;
const IFF_VNET_HDR: libc::c_short = 0x4000;
const TUN_F_CSUM: libc::c_ulong = 0x01;
const TUN_F_TSO4: libc::c_ulong = 0x02;
const TUN_F_TSO6: libc::c_ulong = 0x04;
const TUN_F_TSO_ECN: libc::c_ulong = 0x08;
const TUN_F_USO4: libc::c_ulong = 0x20;
const TUN_F_USO6: libc::c_ulong = 0x40;

/// An open TUN device, in the network namespace that was current when it was opened.
#[derive(Debug)]
pub struct Tun {
    fd: OwnedFd,
    /// Whether the kernel also hands over UDP super-packets (Linux 6.2 and later).
    pub udp_offload: bool,
}

impl Tun {
    /// Creates device `name` in the current network namespace, down and without addresses.
    pub fn create(name: &str) -> Result<Self> {
        let flags = libc::O_RDWR | libc::O_NONBLOCK | libc::O_CLOEXEC;
        // SAFETY: the path is a terminated string; the result is checked before it is owned.
        let raw = unsafe { libc::open(c"/dev/net/tun".as_ptr(), flags) };
        if raw < 0 {
            return Err(Error::last("open /dev/net/tun").with_remedy(
                "it must be readable and writable by you (chmod 0666 /dev/net/tun), or run as root; `longhaul doctor` tells more",
            ));
        }
        // SAFETY: `raw` is an open descriptor that nobody else owns.
        let fd = unsafe { OwnedFd::from_raw_fd(raw) };
        let mut request = interface_request(name)?;
        request.ifr_ifru.ifru_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR;
        ioctl(&fd, TUNSETIFF, &mut request, "create a TUN device")?;
        let mut size = VNET_HEADER as libc::c_int;
        ioctl(&fd, TUNSETVNETHDRSZ, &mut size, "set the TUN device's header size")?;
        let tcp = TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN;
        let udp_offload = set_offload(&fd, tcp | TUN_F_USO4 | TUN_F_USO6).is_ok();
        if !udp_offload {
            set_offload(&fd, tcp)?;
        }
        persist(&fd)?;
        Ok(Tun { fd, udp_offload })
    }

    /// Reads one packet with its virtio header; `None` when none waits.
    pub fn read(&self, buffer: &mut [u8]) -> std::io::Result<Option<usize>> {
        match nix::unistd::read(&self.fd, buffer) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(nix::errno::Errno::EAGAIN | nix::errno::Errno::EINTR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes one packet, whose virtio header, headers and payload may lie apart.
    pub fn write(&self, parts: &[IoSlice<'_>]) -> std::io::Result<()> {
        uio::writev(&self.fd, parts).map(drop).map_err(Into::into)
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Leaves the device to its network namespace, which outlives the descriptor but not the run.
///
/// Otherwise each close would remove a device and wait for the kernel (some 15 ms for each host);
/// namespaces that end together are cleared together.
fn persist(fd: &OwnedFd) -> Result<()> {
    // SAFETY: TUNSETPERSIST takes its argument by value.
    match unsafe { libc::ioctl(fd.as_raw_fd(), TUNSETPERSIST, 1) } {
        0 => Ok(()),
        _ => Err(Error::last("leave the TUN device to its namespace")),
    }
}

fn set_offload(fd: &OwnedFd, flags: libc::c_ulong) -> Result<()> {
    // SAFETY: TUNSETOFFLOAD takes its argument by value.
    match unsafe { libc::ioctl(fd.as_raw_fd(), TUNSETOFFLOAD, flags) } {
        0 => Ok(()),
        _ => Err(Error::last("set the TUN device's offloads")),
    }
}

fn interface_request(name: &str) -> Result<libc::ifreq> {
    // SAFETY: an all-zero ifreq is a valid value of that plain C structure.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    if name.len() >= request.ifr_name.len() {
        return Err(Error::new(format!("interface name {name} is too long")));
    }
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    Ok(request)
}

fn ioctl<T>(fd: &OwnedFd, request: libc::c_ulong, argument: &mut T, what: &str) -> Result<()> {
    // SAFETY: each caller passes the structure that its request reads and writes.
    match unsafe { libc::ioctl(fd.as_raw_fd(), request, argument) } {
        -1 => Err(Error::last(what)),
        _ => Ok(()),
    }
}
