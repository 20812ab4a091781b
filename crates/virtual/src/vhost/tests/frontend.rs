//! A front end: a guest's driver, made of a file of memory and a socket.

use std::fs::File;
use std::io::{IoSlice, Read};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;

use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::socket::{ControlMessage, MsgFlags, sendmsg};

use crate::vhost::{Device, Error, Kind, NetConfig, Queue, Received};

pub const NET: Kind = Kind::Net(NetConfig { mac: [2, 0, 0, 0, 0, 1], mtu: 1500 });

/// Guest physical address of the memory, and its address in the front end.
pub const GUEST: u64 = 0x10_0000;
pub const USER: u64 = 0x7000_0000_0000;
pub const MEMORY_BYTES: u64 = 0x10_0000;
/// Descriptors of each queue.
pub const SIZE: u16 = 8;
/// Guest physical address of the first byte that no ring occupies.
pub const BUFFERS: u64 = GUEST + 0x1_0000;

pub const NEXT: u16 = 1;
pub const WRITE: u16 = 2;
const NEED_REPLY: u32 = 8;
const VERSION: u32 = 1;

pub struct Frontend {
    pub stream: UnixStream,
    pub memory: File,
    available: [u16; 2],
}

impl Frontend {
    /// A device of `kind` and its front end, connected.
    pub fn connect(kind: Kind) -> (Device, Frontend) {
        let mut device = Device::new(kind, "eth0 of host a".to_owned());
        let frontend = Frontend::reconnect(&mut device);
        (device, frontend)
    }

    pub fn reconnect(device: &mut Device) -> Frontend {
        let (stream, other) = UnixStream::pair().unwrap();
        device.connect(other);
        let memory = File::from(memfd_create("guest", MFdFlags::MFD_CLOEXEC).unwrap());
        memory.set_len(MEMORY_BYTES).unwrap();
        Frontend { stream, memory, available: [0, 0] }
    }

    /// The same after everything that a driver does before it uses its queues.
    pub fn ready(kind: Kind) -> (Device, Frontend) {
        let (mut device, mut frontend) = Frontend::connect(kind);
        frontend.set_up(&mut device).unwrap();
        assert!(device.is_ready());
        (device, frontend)
    }

    pub fn set_up(&mut self, device: &mut Device) -> Result<(), Error> {
        self.send(3, &[], &[]);
        handled(device)?;
        let features = self.ask(device, 1, &[])?;
        let protocol = self.ask(device, 15, &[])?;
        self.request(device, 16, &protocol)?;
        self.request_with(device, 21, &[], &[null().as_raw_fd()])?;
        self.request(device, 2, &features)?;
        self.set_memory(device, &[region(GUEST, MEMORY_BYTES, USER, 0)])?;
        for queue in [0, 1] {
            self.request(device, 8, &pair(queue, u32::from(SIZE)))?;
            self.request(device, 10, &pair(queue, 0))?;
            self.request(device, 9, &addresses(queue, 0))?;
        }
        for queue in [0, 1] {
            self.request(device, 18, &pair(queue, 1))?;
        }
        Ok(())
    }

    /// Sends a message as it stands.
    pub fn send(&self, request: u32, payload: &[u8], descriptors: &[RawFd]) {
        let flags = if request == 3 { VERSION } else { VERSION | NEED_REPLY };
        self.send_raw(&header(request, flags, payload.len() as u32), payload, descriptors);
    }

    pub fn send_raw(&self, header: &[u8], payload: &[u8], descriptors: &[RawFd]) {
        let parts = [IoSlice::new(header), IoSlice::new(payload)];
        let rights = [ControlMessage::ScmRights(descriptors)];
        let rights = if descriptors.is_empty() { &[][..] } else { &rights[..] };
        sendmsg::<()>(self.stream.as_raw_fd(), &parts, rights, MsgFlags::empty(), None).unwrap();
    }

    /// Sends a request, lets the device carry it out, and returns the payload of its reply.
    pub fn ask(&mut self, device: &mut Device, request: u32, payload: &[u8]) -> Result<Vec<u8>, Error> {
        self.send(request, payload, &[]);
        handled(device)?;
        Ok(self.reply())
    }

    /// Sends a request without a reply of its own; the acknowledgement must be success.
    pub fn request(&mut self, device: &mut Device, request: u32, payload: &[u8]) -> Result<(), Error> {
        self.request_with(device, request, payload, &[])
    }

    pub fn request_with(
        &mut self,
        device: &mut Device,
        request: u32,
        payload: &[u8],
        descriptors: &[RawFd],
    ) -> Result<(), Error> {
        self.send(request, payload, descriptors);
        handled(device)?;
        assert_eq!(self.reply(), 0_u64.to_ne_bytes());
        Ok(())
    }

    pub fn set_memory(&mut self, device: &mut Device, regions: &[[u8; 32]]) -> Result<(), Error> {
        let files = vec![self.memory.as_raw_fd(); regions.len()];
        let mut payload = (regions.len() as u64).to_ne_bytes().to_vec();
        payload.extend(regions.iter().flatten());
        // Like UML, with room for a second region.
        payload.resize(8 + 64, 0);
        self.request_with(device, 5, &payload, &files)
    }

    /// The payload of the reply that waits.
    pub fn reply(&mut self) -> Vec<u8> {
        let mut header = [0; 12];
        self.stream.read_exact(&mut header).unwrap();
        assert_eq!(u32::from_ne_bytes(header[4..8].try_into().unwrap()), VERSION | 4);
        let mut payload = vec![0; u32::from_ne_bytes(header[8..].try_into().unwrap()) as usize];
        self.stream.read_exact(&mut payload).unwrap();
        payload
    }

    /// Writes to guest physical memory.
    pub fn write(&self, address: u64, bytes: &[u8]) {
        self.memory.write_all_at(bytes, address - GUEST).unwrap();
    }

    pub fn read(&self, address: u64, bytes: usize) -> Vec<u8> {
        let mut read = vec![0; bytes];
        self.memory.read_exact_at(&mut read, address - GUEST).unwrap();
        read
    }

    pub fn describe(&self, queue: Queue, index: u16, address: u64, bytes: u32, flags: u16, next: u16) {
        let mut descriptor = address.to_le_bytes().to_vec();
        descriptor.extend(bytes.to_le_bytes());
        descriptor.extend(flags.to_le_bytes());
        descriptor.extend(next.to_le_bytes());
        self.write(table(queue) + 16 * u64::from(index), &descriptor);
    }

    /// Makes the chain at `head` available.
    pub fn offer(&mut self, queue: Queue, head: u16) {
        let available = &mut self.available[queue.index()];
        let slot = u64::from(*available % SIZE);
        *available = available.wrapping_add(1);
        let index = *available;
        self.write(available_ring(queue) + 4 + 2 * slot, &head.to_le_bytes());
        self.set_available(queue, index);
    }

    pub fn set_available(&self, queue: Queue, index: u16) {
        self.write(available_ring(queue) + 2, &index.to_le_bytes());
    }

    pub fn set_available_flags(&self, queue: Queue, flags: u16) {
        self.write(available_ring(queue), &flags.to_le_bytes());
    }

    pub fn used_flags(&self, queue: Queue) -> u16 {
        u16::from_le_bytes(self.read(used_ring(queue), 2).try_into().unwrap())
    }

    /// How many chains were given back, modulo 65536.
    pub fn used_index(&self, queue: Queue) -> u16 {
        u16::from_le_bytes(self.read(used_ring(queue) + 2, 2).try_into().unwrap())
    }

    /// All chains that were ever given back, as first descriptor and bytes written; at most one round of the ring.
    pub fn used(&self, queue: Queue) -> Vec<(u32, u32)> {
        let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
        (0..u64::from(self.used_index(queue)))
            .map(|slot| self.read(used_ring(queue) + 4 + 8 * slot, 8))
            .map(|element| (word(&element[..4]), word(&element[4..])))
            .collect()
    }
}

fn handled(device: &mut Device) -> Result<(), Error> {
    let received = device.receive()?;
    assert_eq!(received, Received::Handled);
    Ok(())
}

pub fn header(request: u32, flags: u32, bytes: u32) -> [u8; 12] {
    let mut header = [0; 12];
    header[..4].copy_from_slice(&request.to_ne_bytes());
    header[4..8].copy_from_slice(&flags.to_ne_bytes());
    header[8..].copy_from_slice(&bytes.to_ne_bytes());
    header
}

pub fn pair(first: u32, second: u32) -> [u8; 8] {
    let mut payload = [0; 8];
    payload[..4].copy_from_slice(&first.to_ne_bytes());
    payload[4..].copy_from_slice(&second.to_ne_bytes());
    payload
}

pub fn region(guest: u64, bytes: u64, user: u64, offset: u64) -> [u8; 32] {
    let mut region = [0; 32];
    for (to, from) in region.chunks_exact_mut(8).zip([guest, bytes, user, offset]) {
        to.copy_from_slice(&from.to_ne_bytes());
    }
    region
}

/// The payload of `SET_VRING_ADDR`, in the front end's address space, with `shift` added to all addresses.
pub fn addresses(queue: u32, shift: u64) -> Vec<u8> {
    let name = if queue == 0 { Queue::Receive } else { Queue::Transmit };
    let to_user = |address: u64| (address - GUEST + USER + shift).to_ne_bytes();
    let mut payload = pair(queue, 0).to_vec();
    payload.extend(to_user(table(name)));
    payload.extend(to_user(used_ring(name)));
    payload.extend(to_user(available_ring(name)));
    payload.extend(u64::MAX.to_ne_bytes());
    payload
}

pub fn table(queue: Queue) -> u64 {
    GUEST + 0x3000 * queue.index() as u64
}

pub fn available_ring(queue: Queue) -> u64 {
    table(queue) + 0x1000
}

pub fn used_ring(queue: Queue) -> u64 {
    table(queue) + 0x2000
}

/// A descriptor of a file that ends, for messages that carry too many.
pub fn null() -> OwnedFd {
    File::open("/dev/null").unwrap().into()
}
