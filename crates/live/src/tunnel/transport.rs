//! How datagrams get to other machines, or to other shards of this process.

use super::MOST_READ;
use crate::error::{Error, Result};
use crate::sys::datagrams::Sender;
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::socket::{SockaddrStorage, setsockopt, sockopt};
use std::io::{self, IoSlice};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::mpsc;

/// Bytes that the kernel may keep for the engine.
const SOCKET_BYTES: usize = 16 << 20;

/// Where datagrams come from and go to.
pub enum Transport {
    /// Machines: a UDP socket, and the address of each.
    Udp { socket: UdpSocket, addresses: Vec<SockaddrStorage>, sender: Sender, buffer: Vec<u8> },
    /// Shards: a queue for each, with a descriptor that is readable when something waits.
    Queues {
        inbox: mpsc::Receiver<Vec<u8>>,
        wake: Arc<EventFd>,
        others: Vec<(mpsc::Sender<Vec<u8>>, Arc<EventFd>)>,
    },
}

impl Transport {
    /// Over `socket`, to machines at these addresses.
    pub fn udp(socket: &UdpSocket, addresses: impl Iterator<Item = SocketAddr>) -> Result<Self> {
        let socket = socket
            .try_clone()
            .and_then(|socket| socket.set_nonblocking(true).map(|()| socket))
            .map_err(|error| Error::wrap("prepare the socket to other machines", error))?;
        // More than net.core.rmem_max allows only root gets; less costs packets, which are counted.
        let _ = setsockopt(&socket, sockopt::RcvBufForce, &SOCKET_BYTES);
        let _ = setsockopt(&socket, sockopt::SndBufForce, &SOCKET_BYTES);
        let addresses = addresses.map(Into::into).collect();
        Ok(Transport::Udp { socket, addresses, sender: Sender::default(), buffer: vec![0; 1 << 16] })
    }

    /// Between so many shards.
    pub fn queues(count: usize) -> Result<Vec<Self>> {
        let mut inboxes = Vec::with_capacity(count);
        let mut others = Vec::with_capacity(count);
        for _ in 0..count {
            let (sender, inbox) = mpsc::channel();
            let wake = EventFd::from_flags(EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC)
                .map_err(|error| Error::wrap("create an event descriptor", error))?;
            let wake = Arc::new(wake);
            others.push((sender, Arc::clone(&wake)));
            inboxes.push((inbox, wake));
        }
        let transport = |(inbox, wake)| Transport::Queues { inbox, wake, others: others.clone() };
        Ok(inboxes.into_iter().map(transport).collect())
    }

    /// Readable when a datagram waits.
    pub fn fd(&self) -> BorrowedFd<'_> {
        match self {
            Transport::Udp { socket, .. } => socket.as_fd(),
            Transport::Queues { wake, .. } => wake.as_fd(),
        }
    }

    /// Sends `datagrams` to a machine or shard, and empties the list; returns how many the kernel did not take.
    pub fn send(&mut self, to: usize, datagrams: &mut Vec<Vec<u8>>) -> u64 {
        if datagrams.is_empty() {
            return 0;
        }
        let mut failed = 0;
        match self {
            Transport::Udp { socket, addresses, sender, .. } => {
                let parts: Vec<[IoSlice<'_>; 2]> =
                    datagrams.iter().map(|each| [IoSlice::new(each), IoSlice::new(&[])]).collect();
                let mut first = 0;
                while first < parts.len() {
                    if let Ok(sent) = sender.send(socket, &addresses[to], &parts[first..]) {
                        first += sent;
                    } else {
                        // The receiver counts its packets as lost.
                        failed += 1;
                        first += 1;
                    }
                }
                drop(parts);
                datagrams.clear();
            }
            Transport::Queues { others, .. } => {
                let (queue, wake) = &others[to];
                for datagram in datagrams.drain(..) {
                    // A shard that has ended reads no more, and its end ends the run.
                    let _ = queue.send(datagram);
                }
                let _ = wake.write(1);
            }
        }
        failed
    }

    /// The datagrams that have arrived, at most [`MOST_READ`].
    pub fn receive(&mut self) -> Vec<Vec<u8>> {
        let mut arrived = Vec::new();
        match self {
            Transport::Udp { socket, buffer, .. } => {
                for _ in 0..MOST_READ {
                    match socket.recv_from(buffer) {
                        Ok((length, _)) => arrived.push(buffer[..length].to_vec()),
                        Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                        // ICMP tells that a machine does not listen; its silence ends the run.
                        Err(_) => {}
                    }
                }
            }
            Transport::Queues { inbox, wake, .. } => {
                let _ = wake.read();
                arrived.extend(inbox.try_iter().take(MOST_READ));
                if arrived.len() == MOST_READ {
                    // There may be more.
                    let _ = wake.write(1);
                }
            }
        }
        arrived
    }
}
