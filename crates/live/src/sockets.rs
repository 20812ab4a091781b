//! The kernel's statistics of the TCP connections of a network namespace (`sock_diag(7)`, `tcp_info` of tcp(7)).

use crate::error::{Error, Result};
use crate::sys::tcp_info;
use longhaul_record::Table;
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket};
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// Columns of a table of [`Socket`]s.
pub const SOCKET_COLUMNS: [&str; 23] = [
    "t_ns",
    "host",
    "socket",
    "local",
    "remote",
    "state",
    "cc",
    "cwnd_segments",
    "ssthresh_segments",
    "mss_bytes",
    "rtt_us",
    "rttvar_us",
    "min_rtt_us",
    "rto_us",
    "unacked_segments",
    "lost_segments",
    "retransmits",
    "delivery_bits_per_s",
    "pacing_bits_per_s",
    "sent_bytes",
    "acked_bytes",
    "received_bytes",
    "retransmitted_bytes",
];

/// A dump of both families at once (`linux/inet_diag.h`).
const TCPDIAG_GETSOCK: u16 = 18;
const REQUEST_DUMP: u16 = (libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16;
const NLMSG_ERROR: u16 = libc::NLMSG_ERROR as u16;
const NLMSG_DONE: u16 = libc::NLMSG_DONE as u16;
const INET_DIAG_INFO: u16 = 2;
const INET_DIAG_CONG: u16 = 4;
/// States of connections that have a window, by their positions in [`STATE_NAMES`]: all but listening, half open on
/// the passive side, and waiting for time to pass.
const STATES: u32 = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9 | 1 << 11;
/// The states of `linux/tcp_states.h`.
const STATE_NAMES: [&str; 12] = [
    "unknown",
    "established",
    "syn-sent",
    "syn-recv",
    "fin-wait-1",
    "fin-wait-2",
    "time-wait",
    "closed",
    "close-wait",
    "last-ack",
    "listen",
    "closing",
];
/// Room for `struct tcp_info`, of which newer kernels have more.
const TCP_INFO_BYTES: usize = 256;
/// `TCP_INFINITE_SSTHRESH`: the threshold before the first congestion.
const TCP_INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

/// A request socket in the network namespace that was current when it was opened.
pub struct SocketDiag {
    socket: OwnedFd,
    buffer: Vec<u8>,
}

/// One end of a TCP connection at one instant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Socket {
    /// The kernel's number for it, unique in its host.
    pub cookie: u64,
    /// Address and port here.
    pub local: Option<SocketAddr>,
    /// Address and port there.
    pub remote: Option<SocketAddr>,
    /// A state of `linux/tcp_states.h`.
    pub state: u8,
    /// The name of its congestion control.
    pub algorithm: String,
    /// Congestion window, in segments.
    pub cwnd: u32,
    /// Slow-start threshold, in segments; `None` before the first congestion.
    pub ssthresh: Option<u32>,
    /// Bytes of payload in a full segment.
    pub mss: u32,
    /// Smoothed round trip.
    pub rtt_us: u32,
    /// Its mean deviation.
    pub rttvar_us: u32,
    /// The least of the last minutes; `None` before the first.
    pub min_rtt_us: Option<u32>,
    /// Retransmission timeout.
    pub rto_us: u32,
    /// Segments sent and not acknowledged.
    pub unacked: u32,
    /// Segments thought to be lost now.
    pub lost: u32,
    /// Segments retransmitted so far.
    pub retransmits: u32,
    /// The latest measured delivery rate, in bit/s; `None` before the first.
    pub delivery_bits_per_s: Option<u64>,
    /// The pacing rate; `None` if it is not paced.
    pub pacing_bits_per_s: Option<u64>,
    /// Payload sent, retransmissions included.
    pub sent_bytes: u64,
    /// Payload acknowledged.
    pub acked_bytes: u64,
    /// Payload received.
    pub received_bytes: u64,
    /// Payload retransmitted.
    pub retransmitted_bytes: u64,
    /// Segments sent, with and without payload.
    pub segments_sent: u32,
}

impl SocketDiag {
    /// Opens a socket.
    pub fn open() -> Result<Self> {
        let socket_diag = Some(SockProtocol::NetlinkSockDiag);
        socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, socket_diag)
            .map(|socket| SocketDiag { socket, buffer: vec![0; 1 << 16] })
            .map_err(|error| Error::wrap("open a socket for diagnosis", error))
    }

    /// Hands every TCP connection of the namespace to `each`.
    pub fn read(&mut self, mut each: impl FnMut(&Socket)) -> io::Result<()> {
        let fd = self.socket.as_raw_fd();
        send(fd, &request(), MsgFlags::empty())?;
        loop {
            let length = recv(fd, &mut self.buffer, MsgFlags::empty())?;
            if read_messages(&self.buffer[..length], &mut each)? {
                return Ok(());
            }
        }
    }
}

impl Socket {
    /// The `tcp_info` of `connection`, open or closed; the other fields stay empty.
    pub fn of(connection: &impl AsFd) -> io::Result<Self> {
        let mut info = [0; TCP_INFO_BYTES];
        let length = tcp_info::read(connection, &mut info)?;
        let mut socket = Socket::default();
        socket.take_information(&info[..length]);
        Ok(socket)
    }

    /// Writes a row: the socket of `host` at `t_ns`.
    pub fn write(&self, t_ns: u64, host: &str, table: &mut Table<impl Write>) -> io::Result<()> {
        let state = *STATE_NAMES.get(usize::from(self.state)).unwrap_or(&STATE_NAMES[0]);
        let row = table.row().field(t_ns).field(host).field(self.cookie);
        let row = row.field(self.local).field(self.remote).field(state).field(&*self.algorithm);
        let row = row.field(self.cwnd).field(self.ssthresh).fields([self.mss, self.rtt_us, self.rttvar_us]);
        let row = row.field(self.min_rtt_us).fields([self.rto_us, self.unacked, self.lost, self.retransmits]);
        let row = row.field(self.delivery_bits_per_s).field(self.pacing_bits_per_s);
        let Socket { sent_bytes, acked_bytes, received_bytes, retransmitted_bytes, .. } = *self;
        row.fields([sent_bytes, acked_bytes, received_bytes, retransmitted_bytes]).end()
    }
}

/// `struct inet_diag_req` behind its header: both families, with information and the algorithm's name.
fn request() -> Vec<u8> {
    let extensions = 1 << (INET_DIAG_INFO - 1) | 1 << (INET_DIAG_CONG - 1);
    let mut request = Vec::with_capacity(76);
    request.extend(76u32.to_ne_bytes());
    request.extend(TCPDIAG_GETSOCK.to_ne_bytes());
    request.extend(REQUEST_DUMP.to_ne_bytes());
    request.extend([0; 8]);
    request.extend([0, 0, 0, extensions as u8]);
    request.extend([0; 48]);
    request.extend(STATES.to_ne_bytes());
    request.extend([0; 4]);
    request
}

/// Reads the messages of one datagram; true when the dump has ended.
fn read_messages(mut bytes: &[u8], each: &mut impl FnMut(&Socket)) -> io::Result<bool> {
    while bytes.len() >= 16 {
        let length = (u32_at(bytes, 0) as usize).clamp(16, bytes.len());
        let body = &bytes[16..length];
        match u16::from_ne_bytes([bytes[4], bytes[5]]) {
            NLMSG_DONE => return Ok(true),
            NLMSG_ERROR => return Err(io::Error::from_raw_os_error(-(u32_at(body, 0) as i32))),
            _ => {
                if let Some(socket) = parse(body) {
                    each(&socket);
                }
            }
        }
        bytes = &bytes[length.next_multiple_of(4).min(bytes.len())..];
    }
    Ok(false)
}

/// A `struct inet_diag_msg` and its attributes; `None` without information.
fn parse(message: &[u8]) -> Option<Socket> {
    let head = message.get(..72)?;
    let port = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
    let mut socket = Socket {
        state: head[1],
        local: address(head[0], &head[8..24], port(4)),
        remote: address(head[0], &head[24..40], port(6)),
        cookie: u64::from(u32_at(head, 44)) | u64::from(u32_at(head, 48)) << 32,
        ..Socket::default()
    };
    let mut rest = &message[72..];
    let mut has_information = false;
    while rest.len() >= 4 {
        let length = usize::from(u16::from_ne_bytes([rest[0], rest[1]])).clamp(4, rest.len());
        let value = &rest[4..length];
        match u16::from_ne_bytes([rest[2], rest[3]]) {
            INET_DIAG_INFO => {
                socket.take_information(value);
                has_information = true;
            }
            INET_DIAG_CONG => {
                let name = value.split(|&byte| byte == 0).next().unwrap_or(&[]);
                socket.algorithm = String::from_utf8_lossy(name).into_owned();
            }
            _ => {}
        }
        rest = &rest[length.next_multiple_of(4).min(rest.len())..];
    }
    has_information.then_some(socket)
}

impl Socket {
    /// Takes fields of `struct tcp_info` (linux/tcp.h); fields that an older kernel lacks stay zero.
    fn take_information(&mut self, info: &[u8]) {
        let long = |at| u64::from(u32_at(info, at)) | u64::from(u32_at(info, at + 4)) << 32;
        let rate = |bytes_per_s: u64| bytes_per_s.saturating_mul(8);
        self.rto_us = u32_at(info, 8);
        self.mss = u32_at(info, 16);
        self.unacked = u32_at(info, 24);
        self.lost = u32_at(info, 32);
        self.rtt_us = u32_at(info, 68);
        self.rttvar_us = u32_at(info, 72);
        self.ssthresh = Some(u32_at(info, 76)).filter(|&segments| segments < TCP_INFINITE_SSTHRESH);
        self.cwnd = u32_at(info, 80);
        self.retransmits = u32_at(info, 100);
        self.pacing_bits_per_s = Some(long(104)).filter(|&rate| rate != u64::MAX).map(rate);
        self.acked_bytes = long(120);
        self.received_bytes = long(128);
        self.segments_sent = u32_at(info, 136);
        self.min_rtt_us = Some(u32_at(info, 148)).filter(|&us| us != u32::MAX);
        self.delivery_bits_per_s = Some(long(160)).filter(|&rate| rate != 0).map(rate);
        self.sent_bytes = long(200);
        self.retransmitted_bytes = long(208);
    }
}

/// The number at a place; zero beyond the end. (Supported machines are little-endian.)
fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|field| field.try_into().ok()).map_or(0, u32::from_ne_bytes)
}

fn address(family: u8, bytes: &[u8], port: u16) -> Option<SocketAddr> {
    let address: IpAddr = match i32::from(family) {
        libc::AF_INET => Ipv4Addr::from(*bytes.first_chunk::<4>()?).into(),
        libc::AF_INET6 => Ipv6Addr::from(*bytes.first_chunk::<16>()?).to_canonical(),
        _ => return None,
    };
    Some(SocketAddr::new(address, port))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_connection_is_seen_from_both_ends() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut far, _) = listener.accept().unwrap();
        near.write_all(&[7; 1_000]).unwrap();
        far.read_exact(&mut [0; 1_000]).unwrap();
        let (here, there) = (near.local_addr().unwrap(), near.peer_addr().unwrap());
        let mut found = Vec::new();
        SocketDiag::open().unwrap().read(|socket| found.push(socket.clone())).unwrap();
        let end = |local, remote| {
            let mut all = found.iter();
            all.find(|each| each.local == Some(local) && each.remote == Some(remote)).unwrap().clone()
        };
        let (sender, receiver) = (end(here, there), end(there, here));
        assert_eq!((sender.sent_bytes, receiver.received_bytes), (1_000, 1_000));
        assert!(sender.cwnd > 0 && sender.mss > 0 && !sender.algorithm.is_empty(), "{sender:?}");
        assert_eq!(STATE_NAMES[usize::from(sender.state)], "established");
        assert_ne!(sender.cookie, receiver.cookie);
    }

    #[test]
    fn truncated_netlink_messages_are_ignored() {
        assert_eq!(parse(&[2; 71]), None);
        assert_eq!(parse(&[0; 76]), None);
        assert!(!read_messages(&[1, 2, 3], &mut |_| ()).unwrap());
    }

    #[test]
    fn a_row_has_a_field_for_each_column() {
        let mut table = Table::new(Vec::new(), &SOCKET_COLUMNS).unwrap();
        Socket::default().write(5, "a", &mut table).unwrap();
    }
}
