//! Requests of ioctl(2) to TUN devices (`linux/if_tun.h`).

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Creates device `name` of the kind `flags` (`IFF_*`), to which `fd`, an open `/dev/net/tun`, belongs from now on.
pub fn create(fd: BorrowedFd<'_>, name: &str, flags: libc::c_int) -> io::Result<()> {
    // SAFETY: a structure of integers and unions of them is valid if all its bytes are zero.
    let mut request: libc::ifreq = unsafe { MaybeUninit::zeroed().assume_init() };
    // The last byte stays zero.
    if name.len() >= request.ifr_name.len() {
        return Err(io::Error::other(format!("interface name {name} is too long")));
    }
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = flags as libc::c_short;
    // SAFETY: TUNSETIFF reads and writes a `struct ifreq`.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), libc::TUNSETIFF, &mut request) })
}

/// Sets the length of the virtio header in front of every packet.
pub fn set_header_bytes(fd: BorrowedFd<'_>, bytes: usize) -> io::Result<()> {
    let bytes = bytes as libc::c_int;
    // SAFETY: TUNSETVNETHDRSZ reads an `int`.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), libc::TUNSETVNETHDRSZ, &bytes) })
}

/// Sets the offloads (`TUN_F_*`) that this side can handle.
pub fn set_offload(fd: BorrowedFd<'_>, flags: libc::c_uint) -> io::Result<()> {
    // SAFETY: TUNSETOFFLOAD takes its argument by value.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), libc::TUNSETOFFLOAD, libc::c_ulong::from(flags)) })
}

/// Gives a TAP device, which is down, its Ethernet address.
pub fn set_mac(fd: BorrowedFd<'_>, mac: [u8; 6]) -> io::Result<()> {
    // SAFETY: a structure of integers and unions of them is valid if all its bytes are zero.
    let mut request: libc::ifreq = unsafe { MaybeUninit::zeroed().assume_init() };
    // SAFETY: the union's bytes are zero, which is a valid address structure.
    let mut address = unsafe { request.ifr_ifru.ifru_hwaddr };
    address.sa_family = libc::ARPHRD_ETHER;
    for (to, from) in address.sa_data.iter_mut().zip(mac) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_hwaddr = address;
    // SAFETY: SIOCSIFHWADDR reads a `struct ifreq`, and a TAP device sets its own address.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), libc::SIOCSIFHWADDR, &request) })
}

/// Leaves the device to its network namespace when the descriptor is closed.
pub fn persist(fd: BorrowedFd<'_>) -> io::Result<()> {
    let on: libc::c_ulong = 1;
    // SAFETY: TUNSETPERSIST takes its argument by value.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), libc::TUNSETPERSIST, on) })
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
