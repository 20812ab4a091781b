//! Many datagrams in one system call: sendmmsg(2) and recvmmsg(2).
//!
//! nix has both, but its recvmmsg leaves the lengths of control messages at what the previous call received.

use std::io::{self, IoSlice};
use std::mem::{MaybeUninit, offset_of};
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::ptr;

use nix::sys::socket::{SockaddrLike, SockaddrStorage};

/// Length of the control message with the arrival time.
const CONTROL_BYTES: usize = 64;

/// Sends datagrams of two parts each.
#[derive(Default)]
pub struct Sender {
    messages: Vec<libc::mmsghdr>,
}

// SAFETY: the pointers in `messages` are written and read within one call of `send`, and are not used between calls.
unsafe impl Send for Sender {}

impl Sender {
    /// Sends `datagrams` to `to`; returns how many the kernel took, at least one.
    pub fn send(
        &mut self,
        socket: &UdpSocket,
        to: &SockaddrStorage,
        datagrams: &[[IoSlice<'_>; 2]],
    ) -> io::Result<usize> {
        self.messages.clear();
        for parts in datagrams {
            let mut message = empty_message();
            message.msg_hdr.msg_name = to.as_ptr().cast_mut().cast();
            message.msg_hdr.msg_namelen = to.len();
            // `IoSlice` has the layout of `iovec`.
            message.msg_hdr.msg_iov = parts.as_ptr().cast_mut().cast();
            message.msg_hdr.msg_iovlen = parts.len() as _;
            self.messages.push(message);
        }
        let (messages, count) = (self.messages.as_mut_ptr(), self.messages.len() as libc::c_uint);
        // SAFETY: `messages` holds `count` headers; the address and the parts that they point to are borrowed during
        // the call, which only reads them.
        let sent = unsafe { libc::sendmmsg(socket.as_raw_fd(), messages, count, 0) };
        usize::try_from(sent).map_err(|_| io::Error::last_os_error())
    }
}

/// Receives the first `HEADER` bytes of each datagram, and when it arrived.
pub struct Receiver<const HEADER: usize> {
    headers: Vec<[u8; HEADER]>,
    controls: Vec<Control>,
    parts: Vec<libc::iovec>,
    messages: Vec<libc::mmsghdr>,
}

/// Buffer of control messages, aligned as the kernel requires.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
struct Control([u8; CONTROL_BYTES]);

impl<const HEADER: usize> Receiver<HEADER> {
    /// Buffers for at most `batch` datagrams per call.
    pub fn new(batch: usize) -> Self {
        Receiver {
            headers: vec![[0; HEADER]; batch],
            controls: vec![Control([0; CONTROL_BYTES]); batch],
            parts: Vec::with_capacity(batch),
            messages: Vec::with_capacity(batch),
        }
    }

    /// Receives the datagrams that wait; returns how many.
    pub fn receive(&mut self, socket: &UdpSocket) -> io::Result<usize> {
        self.parts.clear();
        self.messages.clear();
        for header in &mut self.headers {
            self.parts.push(libc::iovec { iov_base: header.as_mut_ptr().cast(), iov_len: HEADER });
        }
        for (part, control) in self.parts.iter_mut().zip(&mut self.controls) {
            let mut message = empty_message();
            message.msg_hdr.msg_iov = part;
            message.msg_hdr.msg_iovlen = 1;
            message.msg_hdr.msg_control = control.0.as_mut_ptr().cast();
            message.msg_hdr.msg_controllen = CONTROL_BYTES as _;
            self.messages.push(message);
        }
        // With MSG_TRUNC, the length of a message is that of the whole datagram.
        let flags = libc::MSG_DONTWAIT | libc::MSG_TRUNC;
        let (messages, count) = (self.messages.as_mut_ptr(), self.messages.len() as libc::c_uint);
        // SAFETY: `messages` holds `count` headers; all that they point to belongs to `self`, does not move during the
        // call, and is written through no other pointer.
        let received =
            unsafe { libc::recvmmsg(socket.as_raw_fd(), messages, count, flags as _, ptr::null_mut()) };
        match usize::try_from(received).map_err(|_| io::Error::last_os_error()) {
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                Ok(0)
            }
            received => received,
        }
    }

    /// The first bytes of datagram `index` of the last call, and the length of the whole datagram.
    pub fn datagram(&self, index: usize) -> (&[u8], u32) {
        let bytes = self.messages[index].msg_len;
        (&self.headers[index][..HEADER.min(bytes as usize)], bytes)
    }

    /// When the kernel took the datagram from the network, in nanoseconds since 1970, if the socket has
    /// `SO_TIMESTAMPNS`.
    pub fn arrived_unix_ns(&self, index: usize) -> Option<u64> {
        /// Where the contents of the first control message begin (`CMSG_DATA` of cmsg(3)).
        const DATA: usize = size_of::<libc::cmsghdr>().next_multiple_of(size_of::<usize>());
        const _: () = assert!(size_of::<libc::timespec>() == 16, "a time has two numbers of 64 bits");
        let length: usize = self.messages[index].msg_hdr.msg_controllen as _;
        let control = self.controls[index].0.get(..length)?;
        let word = |at: usize| Some(i32::from_ne_bytes(*control.get(at..)?.first_chunk()?));
        let number = |at: usize| Some(u64::from_ne_bytes(*control.get(at..)?.first_chunk()?));
        if word(offset_of!(libc::cmsghdr, cmsg_level))? != libc::SOL_SOCKET
            || word(offset_of!(libc::cmsghdr, cmsg_type))? != libc::SCM_TIMESTAMPNS
        {
            return None;
        }
        Some(number(DATA)? * 1_000_000_000 + number(DATA + 8)?)
    }
}

fn empty_message() -> libc::mmsghdr {
    // SAFETY: a header whose pointers are null and whose lengths are zero is valid.
    unsafe { MaybeUninit::zeroed().assume_init() }
}
