//! A guest of a virtio device, made of bytes: its messages, and the content of its rings.

use std::fs::File;
use std::io::{IoSlice, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;

use longhaul_virtual::vhost::{Device, Kind, NetConfig, Queue, Received};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::socket::{ControlMessage, MsgFlags, sendmsg};

const MEMORY_BYTES: u64 = 1 << 16;
/// Descriptors of each queue, so few that bytes soon describe all of them.
const SIZE: u64 = 4;
/// Most bytes of a chain that a device takes.
const MOST_SENT: usize = 128 << 10;

/// What a guest sends on its socket, written at once or in two parts: where it is cut makes no difference.
///
/// # Panics
/// If what the device says depends on where the stream is cut.
pub fn messages(bytes: &[u8]) {
    let [cut, bytes @ ..] = bytes else { return };
    let (first, second) = bytes.split_at(usize::from(*cut).min(bytes.len()));
    assert_eq!(said(&[first, second]), said(&[bytes]));
}

/// What a device says to `parts` of a stream. Every message is a header of 12 bytes at least.
fn said(parts: &[&[u8]]) -> Vec<String> {
    let (mut device, mut stream) = connected();
    let mut said = Vec::new();
    for part in parts {
        // A device that has failed reads no more.
        if stream.write_all(part).is_err() {
            break;
        }
        for _ in 0..=part.len() / 12 {
            match device.receive() {
                Ok(Received::Handled) => {}
                Ok(Received::Closed) => break,
                Err(error) => said.push(error.to_string()),
            }
        }
    }
    said
}

/// The guest's memory, with both rings: whatever it holds, the device ends with its work.
///
/// # Panics
/// If the device takes more chains than a queue can hold, or longer ones than it may.
pub fn rings(bytes: &[u8]) {
    let (mut device, stream) = connected();
    let Ok(memory) = memfd_create("guest", MFdFlags::MFD_CLOEXEC) else { return };
    let memory = File::from(memory);
    if memory.set_len(MEMORY_BYTES).is_err() || !set_up(&mut device, &stream, &memory) {
        return;
    }
    assert!(device.is_ready());
    let _ = memory.write_all_at(&bytes[..bytes.len().min(MEMORY_BYTES as usize)], 0);
    let (mut buffer, mut chains) = (Vec::new(), Vec::new());
    while let Ok(Some(chain)) = device.take_sent(None, &mut buffer) {
        chains.push(chain);
        assert!(buffer.len() <= MOST_SENT && chains.len() <= SIZE as usize);
    }
    for chain in chains {
        let _ = device.give_back(chain);
    }
    while let Ok(true) = device.deliver(&[IoSlice::new(&[0; 100])]) {}
    let _ = device.wants_interrupt(Queue::Receive);
}

fn connected() -> (Device, UnixStream) {
    let kind = Kind::Net(NetConfig { mac: [2, 0, 0, 0, 0, 1], mtu: 1500 });
    let mut device = Device::new(kind, "eth0".to_owned());
    let (ours, theirs) = UnixStream::pair().unwrap_or_else(|error| panic!("{error}"));
    device.connect(theirs);
    (device, ours)
}

/// What a driver does before it uses its queues: transmit at the beginning of memory, receive behind it.
fn set_up(device: &mut Device, stream: &UnixStream, memory: &File) -> bool {
    let Ok((_, requests)) = UnixStream::pair() else { return false };
    let region = [1, 0, MEMORY_BYTES, 0, 0];
    let mut sent = send(device, stream, 21, &[], &[requests.as_raw_fd()])
        && send(device, stream, 5, &region, &[memory.as_raw_fd()]);
    for queue in [1, 0] {
        let table = (1 - queue) * 128;
        sent = sent
            && send(device, stream, 8, &[queue | SIZE << 32], &[])
            && send(device, stream, 9, &[queue, table, table + 80, table + 64, 0], &[]);
    }
    sent && send(device, stream, 18, &[1 << 32], &[]) && send(device, stream, 18, &[1 | 1 << 32], &[])
}

/// Sends a message of 64-bit words that wants no reply, and lets the device carry it out.
fn send(
    device: &mut Device,
    stream: &UnixStream,
    request: u32,
    words: &[u64],
    descriptors: &[RawFd],
) -> bool {
    let header: Vec<u8> =
        [request, 1, 8 * words.len() as u32].into_iter().flat_map(u32::to_le_bytes).collect();
    let payload: Vec<u8> = words.iter().copied().flat_map(u64::to_le_bytes).collect();
    let rights = [ControlMessage::ScmRights(descriptors)];
    let rights = if descriptors.is_empty() { &[][..] } else { &rights[..] };
    let parts = [IoSlice::new(&header), IoSlice::new(&payload)];
    let sent = sendmsg::<()>(stream.as_raw_fd(), &parts, rights, MsgFlags::empty(), None);
    sent.is_ok() && matches!(device.receive(), Ok(Received::Handled))
}
