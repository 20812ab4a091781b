//! A host's port into the network: a TUN device with virtio headers, so that the kernel hands over
//! and takes whole TCP and UDP super-packets.

use crate::error::{Error, Result};
use crate::sys;
use nix::fcntl::{OFlag, open};
use nix::sys::stat::Mode;
use nix::sys::uio;
use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsFd, OwnedFd};

/// Bytes of the virtio header in front of every packet.
pub const VNET_HEADER: usize = 10;
/// The largest packet that the kernel hands over, with its virtio header.
pub const LARGEST: usize = VNET_HEADER + 65_536;
/// Packets that the kernel keeps for us before it drops (and counts) them.
pub const TX_QUEUE_PACKETS: u32 = 4096;

/// How long a device stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifetime {
    /// As long as its network namespace, which is the run's own. Otherwise each close would remove a device and wait
    /// for the kernel (15 ms for each host); namespaces that end together are cleared together.
    Namespace,
    /// As long as its descriptor is open.
    Descriptor,
}

/// What a device hands over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// IP packets: a TUN device.
    Ip,
    /// Ethernet frames: a TAP device with this address.
    Ethernet([u8; 6]),
}

/// An open TUN or TAP device, in the network namespace that was current when it was opened.
#[derive(Debug)]
pub struct Tun {
    fd: OwnedFd,
    /// Whether the kernel also hands over UDP super-packets (Linux 6.2 and later).
    pub udp_offload: bool,
}

impl Tun {
    /// Creates device `name` in the current network namespace, down and without addresses.
    pub fn create(name: &str, lifetime: Lifetime, layer: Layer) -> Result<Self> {
        let flags = OFlag::O_RDWR | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        let fd = open("/dev/net/tun", flags, Mode::empty()).map_err(|error| {
            Error::wrap("open /dev/net/tun", error).with_remedy(
                "it must be readable and writable by you (chmod 0666 /dev/net/tun), or run as root; `longhaul doctor` tells more",
            )
        })?;
        let mode = if layer == Layer::Ip { libc::IFF_TUN } else { libc::IFF_TAP };
        let kind = mode | libc::IFF_NO_PI | libc::IFF_VNET_HDR;
        sys::tun::create(fd.as_fd(), name, kind)
            .map_err(|error| Error::wrap("create a TUN device", error))?;
        sys::tun::set_header_bytes(fd.as_fd(), VNET_HEADER)
            .map_err(|error| Error::wrap("set the TUN device's header size", error))?;
        let tcp = libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6 | libc::TUN_F_TSO_ECN;
        let udp = libc::TUN_F_USO4 | libc::TUN_F_USO6;
        let udp_offload = sys::tun::set_offload(fd.as_fd(), tcp | udp).is_ok();
        if !udp_offload {
            sys::tun::set_offload(fd.as_fd(), tcp)
                .map_err(|error| Error::wrap("set the TUN device's offloads", error))?;
        }
        if let Layer::Ethernet(mac) = layer {
            sys::tun::set_mac(fd.as_fd(), mac)
                .map_err(|error| Error::wrap("set the Ethernet address of a TAP device", error))?;
        }
        if lifetime == Lifetime::Namespace {
            sys::tun::persist(fd.as_fd())
                .map_err(|error| Error::wrap("leave the TUN device to its namespace", error))?;
        }
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

    /// Reads one packet into several buffers, with its virtio header; `None` when none waits.
    pub fn read_parts(&self, parts: &mut [IoSliceMut<'_>]) -> std::io::Result<Option<usize>> {
        match uio::readv(&self.fd, parts) {
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
