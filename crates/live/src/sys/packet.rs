//! Packet sockets of Ethernet devices: packet(7), `linux/if_packet.h`.

use std::io::{self, IoSlice};
use std::mem::{MaybeUninit, offset_of};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// Bytes of an Ethernet header without tags.
pub const ETHERNET_HEADER: usize = 14;
/// Most parts of a frame that is sent.
pub const MOST_PARTS: usize = 72;
/// For whom a frame was (`sll_pkttype`).
pub const TO_US: u8 = libc::PACKET_HOST;
/// Length of the control messages with the arrival time and what the kernel knows of the frame.
const CONTROL_BYTES: usize = 96;
const ALL_PROTOCOLS: u16 = libc::ETH_P_ALL as u16;
/// `tp_status` of `struct tpacket_auxdata`: a VLAN tag was taken out of the frame.
const TP_STATUS_VLAN_VALID: u32 = 1 << 4;
/// The kind of that tag is known; otherwise it is that of IEEE 802.1Q.
const TP_STATUS_VLAN_TPID_VALID: u32 = 1 << 6;
/// `struct packet_mreq` and the constants of `linux/if_packet.h` that libc lacks.
const PACKET_IGNORE_OUTGOING: libc::c_int = 23;
const PACKET_VNET_HDR: libc::c_int = 15;
/// Room for frames that wait for the engine, and for those that wait for the device.
const RECEIVE_BUFFER_BYTES: libc::c_int = 32 << 20;
const SEND_BUFFER_BYTES: libc::c_int = 8 << 20;

/// A socket that receives every frame of one device, and sends frames there, with virtio headers.
#[derive(Debug)]
pub struct PacketSocket {
    fd: OwnedFd,
}

/// What the kernel says about a frame that was received.
#[derive(Clone, Copy, Debug, Default)]
pub struct Received {
    /// Bytes behind the virtio header.
    pub bytes: usize,
    /// For whom it was.
    pub kind: u8,
    /// When it arrived, in nanoseconds since 1970.
    pub arrived_unix_ns: Option<u64>,
    /// The VLAN tag that the kernel took out of the frame behind the addresses: its kind, and its identifier with the
    /// priority.
    pub tag: Option<(u16, u16)>,
}

/// Buffer of control messages, aligned as the kernel requires.
#[repr(C, align(8))]
struct Control([u8; CONTROL_BYTES]);

impl PacketSocket {
    /// Opens a socket of the device with this `index` in the current network namespace.
    pub fn open(index: u32) -> io::Result<Self> {
        // Protocol 0: nothing is received before the socket belongs to its device.
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // SAFETY: socket(2) takes its arguments by value.
        let number = unsafe { libc::socket(libc::AF_PACKET, kind, 0) };
        if number < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just opened the descriptor, and nothing else owns it.
        let socket = PacketSocket { fd: unsafe { OwnedFd::from_raw_fd(number) } };
        let set = |level, name, value: libc::c_int| set_option(socket.fd.as_fd(), level, name, &value);
        set(libc::SOL_PACKET, PACKET_VNET_HDR, 1)?;
        set(libc::SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)?;
        set(libc::SOL_PACKET, libc::PACKET_AUXDATA, 1)?;
        set(libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, 1)?;
        set(libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, RECEIVE_BUFFER_BYTES)?;
        set(libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, SEND_BUFFER_BYTES)?;
        let address = link_address(index);
        let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        // SAFETY: `address` is a link-layer address of this length.
        check(unsafe { libc::bind(socket.fd.as_raw_fd(), (&raw const address).cast(), length) })?;
        Ok(socket)
    }

    /// Lets the device receive frames for the multicast address `mac`, too, as long as the socket is open.
    pub fn join(&self, index: u32, mac: [u8; 6]) -> io::Result<()> {
        self.add_membership(index, libc::PACKET_MR_MULTICAST, mac)
    }

    /// Lets the device receive frames for every address, as long as the socket is open.
    pub fn receive_all(&self, index: u32) -> io::Result<()> {
        self.add_membership(index, libc::PACKET_MR_PROMISC, [0; 6])
    }

    fn add_membership(&self, index: u32, kind: libc::c_int, mac: [u8; 6]) -> io::Result<()> {
        let mut address = [0; 8];
        address[..6].copy_from_slice(&mac);
        let request = libc::packet_mreq {
            mr_ifindex: index as libc::c_int,
            mr_type: kind as u16,
            mr_alen: 6,
            mr_address: address,
        };
        set_option(self.fd.as_fd(), libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &request)
    }

    /// Receives one frame: its virtio header, its Ethernet header and the rest into these buffers; `None` when none
    /// waits.
    pub fn receive(
        &self,
        vnet: &mut [u8],
        ethernet: &mut [u8; ETHERNET_HEADER],
        rest: &mut [u8],
    ) -> io::Result<Option<Received>> {
        let part =
            |buffer: &mut [u8]| libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
        let virtio_bytes = vnet.len();
        let mut parts = [part(vnet), part(ethernet), part(rest)];
        let mut control = Control([0; CONTROL_BYTES]);
        let mut from = link_address(0);
        // SAFETY: a header whose pointers are null and whose lengths are zero is valid.
        let mut message: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
        message.msg_name = (&raw mut from).cast();
        message.msg_namelen = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        message.msg_iov = parts.as_mut_ptr();
        message.msg_iovlen = parts.len() as _;
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = CONTROL_BYTES as _;
        // SAFETY: the header points to the address, the three buffers and the control messages, which live and are
        // not used otherwise during the call.
        let received = unsafe { libc::recvmsg(self.fd.as_raw_fd(), &raw mut message, libc::MSG_DONTWAIT) };
        let Ok(received) = usize::try_from(received) else {
            let error = io::Error::last_os_error();
            let nothing = matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted);
            return if nothing { Ok(None) } else { Err(error) };
        };
        let mut found = Received {
            bytes: received.saturating_sub(virtio_bytes),
            kind: from.sll_pkttype,
            ..Received::default()
        };
        let length: usize = message.msg_controllen as _;
        found.read_control(control.0.get(..length).unwrap_or_default());
        Ok(Some(found))
    }

    /// Sends a frame, whose virtio header, Ethernet header and payload may lie apart.
    pub fn send(&self, parts: &[IoSlice<'_>]) -> io::Result<()> {
        // SAFETY: a header whose pointers are null and whose lengths are zero is valid.
        let mut message: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
        // `IoSlice` has the layout of `iovec`.
        message.msg_iov = parts.as_ptr().cast_mut().cast();
        message.msg_iovlen = parts.len() as _;
        // SAFETY: the parts are borrowed during the call, which only reads them.
        let sent = unsafe { libc::sendmsg(self.fd.as_raw_fd(), &raw const message, libc::MSG_DONTWAIT) };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Frames that the socket had no room for since the last call.
    pub fn take_drops(&self) -> io::Result<u64> {
        let mut statistics = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
        let mut length = size_of::<libc::tpacket_stats>() as libc::socklen_t;
        let (level, name) = (libc::SOL_PACKET, libc::PACKET_STATISTICS);
        let value = (&raw mut statistics).cast();
        // SAFETY: the kernel writes at most `length` bytes of `statistics`.
        check(unsafe { libc::getsockopt(self.fd.as_raw_fd(), level, name, value, &raw mut length) })?;
        Ok(u64::from(statistics.tp_drops))
    }
}

impl AsFd for PacketSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Received {
    /// Reads control messages (cmsg(3)).
    fn read_control(&mut self, mut control: &[u8]) {
        /// Where the contents of a control message begin.
        const DATA: usize = size_of::<libc::cmsghdr>().next_multiple_of(size_of::<usize>());
        while let Some(length) =
            control.first_chunk::<{ size_of::<usize>() }>().map(|raw| usize::from_ne_bytes(*raw))
        {
            let word = |at: usize| control.get(at..)?.first_chunk().map(|raw| i32::from_ne_bytes(*raw));
            let number = |at: usize| control.get(at..)?.first_chunk().map(|raw| u64::from_ne_bytes(*raw));
            let kind =
                (word(offset_of!(libc::cmsghdr, cmsg_level)), word(offset_of!(libc::cmsghdr, cmsg_type)));
            if kind == (Some(libc::SOL_SOCKET), Some(libc::SCM_TIMESTAMPNS)) {
                let time = number(DATA).zip(number(DATA + 8));
                self.arrived_unix_ns = time.map(|(seconds, ns)| seconds * 1_000_000_000 + ns);
            } else if kind == (Some(libc::SOL_PACKET), Some(libc::PACKET_AUXDATA)) {
                self.tag = control.get(DATA..).and_then(removed_tag);
            }
            match control.get(length.next_multiple_of(size_of::<usize>())..) {
                Some(rest) if length >= size_of::<libc::cmsghdr>() => control = rest,
                _ => return,
            }
        }
    }
}

/// The VLAN tag in a `struct tpacket_auxdata`.
fn removed_tag(auxiliary: &[u8]) -> Option<(u16, u16)> {
    let status = auxiliary.first_chunk().map(|raw| u32::from_ne_bytes(*raw))?;
    let half = |at: usize| auxiliary.get(at..)?.first_chunk().map(|raw| u16::from_ne_bytes(*raw));
    let kind = if status & TP_STATUS_VLAN_TPID_VALID != 0 { half(18)? } else { libc::ETH_P_8021Q as u16 };
    (status & TP_STATUS_VLAN_VALID != 0).then_some((kind, half(16)?))
}

/// The flags (`IFF_*`) of interface `name`, seen from the network namespace that `socket` was opened in.
pub fn interface_flags(socket: BorrowedFd<'_>, name: &str) -> io::Result<libc::c_int> {
    let request = request(socket, name, libc::SIOCGIFFLAGS)?;
    // SAFETY: SIOCGIFFLAGS has filled in the flags.
    Ok(libc::c_int::from(unsafe { request.ifr_ifru.ifru_flags }))
}

/// The Ethernet address of interface `name`.
pub fn interface_mac(socket: BorrowedFd<'_>, name: &str) -> io::Result<[u8; 6]> {
    let request = request(socket, name, libc::SIOCGIFHWADDR)?;
    // SAFETY: SIOCGIFHWADDR has filled in the address.
    let address = unsafe { request.ifr_ifru.ifru_hwaddr };
    Ok(std::array::from_fn(|at| address.sa_data[at] as u8))
}

fn request(socket: BorrowedFd<'_>, name: &str, what: libc::Ioctl) -> io::Result<libc::ifreq> {
    // SAFETY: a structure of integers and unions of them is valid if all its bytes are zero.
    let mut request: libc::ifreq = unsafe { MaybeUninit::zeroed().assume_init() };
    if name.len() >= request.ifr_name.len() {
        return Err(io::Error::from_raw_os_error(libc::ENODEV));
    }
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    // SAFETY: these requests read and write a `struct ifreq`.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), what, &raw mut request) })?;
    Ok(request)
}

fn link_address(index: u32) -> libc::sockaddr_ll {
    libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as u16,
        sll_protocol: ALL_PROTOCOLS.to_be(),
        sll_ifindex: index as libc::c_int,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    }
}

fn set_option<T>(socket: BorrowedFd<'_>, level: libc::c_int, name: libc::c_int, value: &T) -> io::Result<()> {
    let length = size_of::<T>() as libc::socklen_t;
    let value: *const T = value;
    // SAFETY: `value` is valid for reads of `length` bytes.
    check(unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, value.cast(), length) })
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
