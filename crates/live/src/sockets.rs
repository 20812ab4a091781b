//! What the kernel says of the TCP connections of a network namespace (sock_diag(7), `tcp_info` of tcp(7)).

use crate::error::{Error, Result};
use longhaul_record::Table;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

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

/// A dump of both families at once (TCPDIAG_GETSOCK of linux/inet_diag.h).
const DUMP: u16 = 18;
const REQUEST_DUMP: u16 = 0x1 | 0x300;
const ERROR: u16 = 2;
const DONE: u16 = 3;
const INFO: u16 = 2;
const CONGESTION_CONTROL: u16 = 4;
/// Those that have a window: neither listening, nor half open on the passive side, nor waiting for time to pass.
const STATES: u32 = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9 | 1 << 11;
const NAMES: [&str; 12] = [
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
const INFORMATION: usize = 256;
/// `ssthresh` before the first congestion.
const INFINITE: u32 = 0x7fff_ffff;

/// A request socket in the network namespace that was current when it was opened.
pub struct Diagnosis {
    socket: OwnedFd,
    buffer: Vec<u8>,
}

/// One end of a TCP connection at one instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Socket {
    /// The kernel's number for it, unique in its host.
    pub cookie: u64,
    /// Address and port here.
    pub local: Option<SocketAddr>,
    /// Address and port there.
    pub remote: Option<SocketAddr>,
    /// As the kernel numbers it.
    pub state: u8,
    /// The name of its congestion control.
    pub law: String,
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
    /// Segments sent again so far.
    pub retransmits: u32,
    /// The latest measure of what arrives, in bit/s; `None` before the first.
    pub delivery_bits_per_s: Option<u64>,
    /// What it is paced at; `None`: not.
    pub pacing_bits_per_s: Option<u64>,
    /// Payload sent, again included.
    pub sent_bytes: u64,
    /// Payload acknowledged.
    pub acked_bytes: u64,
    /// Payload received.
    pub received_bytes: u64,
    /// Payload sent again.
    pub retransmitted_bytes: u64,
    /// Segments sent, with and without payload.
    pub segments_sent: u32,
}

impl Diagnosis {
    /// Opens a socket.
    pub fn open() -> Result<Self> {
        const NETLINK_SOCK_DIAG: libc::c_int = 4;
        // SAFETY: plain socket call; the result is checked before it is owned.
        let raw =
            unsafe { libc::socket(libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_CLOEXEC, NETLINK_SOCK_DIAG) };
        if raw < 0 {
            return Err(Error::last("open a socket for diagnosis"));
        }
        // SAFETY: `raw` is an open descriptor that nobody else owns.
        Ok(Diagnosis { socket: unsafe { OwnedFd::from_raw_fd(raw) }, buffer: vec![0; 1 << 16] })
    }

    /// Hands every TCP connection of the namespace to `each`.
    pub fn read(&mut self, mut each: impl FnMut(&Socket)) -> io::Result<()> {
        let request = request();
        // SAFETY: the buffer outlives the call and its length is passed with it.
        let sent = unsafe { libc::send(self.socket.as_raw_fd(), request.as_ptr().cast(), request.len(), 0) };
        if sent < 0 {
            return Err(io::Error::last_os_error());
        }
        loop {
            let room = self.buffer.len();
            // SAFETY: the buffer outlives the call and its length is passed with it.
            let length =
                unsafe { libc::recv(self.socket.as_raw_fd(), self.buffer.as_mut_ptr().cast(), room, 0) };
            if length < 0 {
                return Err(io::Error::last_os_error());
            }
            if read_messages(&self.buffer[..length as usize], &mut each)? {
                return Ok(());
            }
        }
    }
}

impl Socket {
    /// What `connection` knows of itself, open or closed; the rest stays empty.
    pub fn of(connection: &impl AsRawFd) -> io::Result<Self> {
        let mut info = [0; INFORMATION];
        let mut length = INFORMATION as libc::socklen_t;
        // SAFETY: both outlive the call, which writes no more than the length says.
        let result = unsafe {
            libc::getsockopt(
                connection.as_raw_fd(),
                libc::IPPROTO_TCP,
                libc::TCP_INFO,
                info.as_mut_ptr().cast(),
                &raw mut length,
            )
        };
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
        let mut socket = Socket::default();
        socket.take_information(&info[..length as usize]);
        Ok(socket)
    }

    /// Writes a row: the socket of `host` at `t_ns`.
    pub fn write(&self, t_ns: u64, host: &str, table: &mut Table<impl Write>) -> io::Result<()> {
        let state = *NAMES.get(usize::from(self.state)).unwrap_or(&NAMES[0]);
        let row = table.row().field(t_ns).field(host).field(self.cookie);
        let row = row.field(self.local).field(self.remote).field(state).field(&*self.law);
        let row = row.field(self.cwnd).field(self.ssthresh).fields([self.mss, self.rtt_us, self.rttvar_us]);
        let row = row.field(self.min_rtt_us).fields([self.rto_us, self.unacked, self.lost, self.retransmits]);
        let row = row.field(self.delivery_bits_per_s).field(self.pacing_bits_per_s);
        let Socket { sent_bytes, acked_bytes, received_bytes, retransmitted_bytes, .. } = *self;
        row.fields([sent_bytes, acked_bytes, received_bytes, retransmitted_bytes]).end()
    }
}

/// `struct inet_diag_req` behind its header: both families, with information and the law's name.
fn request() -> Vec<u8> {
    let extensions = 1 << (INFO - 1) | 1 << (CONGESTION_CONTROL - 1);
    let mut request = Vec::with_capacity(76);
    request.extend(76u32.to_ne_bytes());
    request.extend(DUMP.to_ne_bytes());
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
            DONE => return Ok(true),
            ERROR => return Err(io::Error::from_raw_os_error(-(u32_at(body, 0) as i32))),
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
            INFO => {
                socket.take_information(value);
                has_information = true;
            }
            CONGESTION_CONTROL => {
                let name = value.split(|&byte| byte == 0).next().unwrap_or(&[]);
                socket.law = String::from_utf8_lossy(name).into_owned();
            }
            _ => {}
        }
        rest = &rest[length.next_multiple_of(4).min(rest.len())..];
    }
    has_information.then_some(socket)
}

impl Socket {
    /// Takes fields of `struct tcp_info` (linux/tcp.h); what an older kernel does not have stays zero.
    fn take_information(&mut self, info: &[u8]) {
        let long = |at| u64::from(u32_at(info, at)) | u64::from(u32_at(info, at + 4)) << 32;
        let rate = |bytes_per_s: u64| bytes_per_s.saturating_mul(8);
        self.rto_us = u32_at(info, 8);
        self.mss = u32_at(info, 16);
        self.unacked = u32_at(info, 24);
        self.lost = u32_at(info, 32);
        self.rtt_us = u32_at(info, 68);
        self.rttvar_us = u32_at(info, 72);
        self.ssthresh = Some(u32_at(info, 76)).filter(|&segments| segments < INFINITE);
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

/// The number at a place; zero beyond the end. (Every machine that we run on keeps the low half first.)
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
        Diagnosis::open().unwrap().read(|socket| found.push(socket.clone())).unwrap();
        let end = |local, remote| {
            let mut all = found.iter();
            all.find(|each| each.local == Some(local) && each.remote == Some(remote)).unwrap().clone()
        };
        let (sender, receiver) = (end(here, there), end(there, here));
        assert_eq!((sender.sent_bytes, receiver.received_bytes), (1_000, 1_000));
        assert!(sender.cwnd > 0 && sender.mss > 0 && !sender.law.is_empty(), "{sender:?}");
        assert_eq!(NAMES[usize::from(sender.state)], "established");
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
