//! Guests that break the rules: each ends with one error that names the device.

use std::io::{IoSlice, Write};
use std::os::fd::{AsRawFd, RawFd};

use proptest::prelude::*;

use super::frontend::{
    self, BUFFERS, Frontend, GUEST, MEMORY_BYTES, NET, NEXT, SIZE, USER, WRITE, addresses, pair, region,
};
use super::packet;
use crate::vhost::{Device, Error, Fault, Kind, Queue, RingFault};

/// What a device says to a message.
fn refusal(request: u32, payload: &[u8]) -> Fault {
    refusal_with(request, payload, &[])
}

fn refusal_with(request: u32, payload: &[u8], descriptors: &[RawFd]) -> Fault {
    let (mut device, frontend) = Frontend::ready(NET);
    frontend.send(request, payload, descriptors);
    ended(&mut device, Device::receive)
}

/// The error of `action`, which has disconnected the device.
fn ended<T: std::fmt::Debug>(device: &mut Device, action: impl Fn(&mut Device) -> Result<T, Error>) -> Fault {
    let error = action(device).unwrap_err();
    assert!(error.to_string().starts_with("device eth0 of host a: "), "{error}");
    assert!(device.frontend().is_none());
    error.fault
}

fn ring_fault(fault: Fault) -> RingFault {
    match fault {
        Fault::Queue { fault, .. } => fault,
        other => panic!("{other}"),
    }
}

#[test]
fn an_error_says_where_and_what_to_do() {
    let (mut device, frontend) = Frontend::ready(NET);
    frontend.describe(Queue::Transmit, 0, GUEST + MEMORY_BYTES, 12, 0, 0);
    frontend.write(frontend::available_ring(Queue::Transmit), &[0, 0, 1, 0, 0, 0]);
    let error = device.take_sent(None, &mut Vec::new()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "device eth0 of host a: transmit queue: 12 bytes at 0x200000 are outside the shared memory; \
         end its guest, and boot it with the kernel that Longhaul builds"
    );
}

#[test]
fn messages_of_wrong_type_flags_or_length_are_refused() {
    assert!(matches!(refusal(4, &[]), Fault::Unsupported(4)));
    // A kick, which is no message of this socket.
    assert!(matches!(refusal(35, &pair(1, 0)), Fault::Unsupported(35)));
    assert!(matches!(refusal(18, &pair(2, 0)), Fault::NoQueue(2)));
    assert!(matches!(refusal(18, &[]), Fault::Length { request: 18, bytes: 0 }));
    assert!(matches!(refusal(2, &[0; 9]), Fault::Length { .. }));
    assert!(matches!(refusal(5, &[0; 4]), Fault::Length { .. }));
    for flags in [0, 2, 1 | 4] {
        let (mut device, frontend) = Frontend::ready(NET);
        frontend.send_raw(&frontend::header(18, flags, 8), &pair(1, 0), &[]);
        assert!(matches!(ended(&mut device, Device::receive), Fault::Flags { request: 18, .. }));
    }
    let (mut device, frontend) = Frontend::ready(NET);
    frontend.send_raw(&frontend::header(18, 1, u32::MAX), &[], &[]);
    assert!(matches!(ended(&mut device, Device::receive), Fault::Length { .. }));
}

#[test]
fn messages_with_too_few_or_too_many_descriptors_are_refused() {
    let null = frontend::null();
    let fd = null.as_raw_fd();
    assert!(matches!(refusal(21, &[]), Fault::Descriptors { received: 0, expected: 1, .. }));
    assert!(matches!(refusal_with(21, &[], &[fd; 2]), Fault::Descriptors { received: 2, .. }));
    assert!(matches!(refusal_with(18, &pair(1, 0), &[fd]), Fault::Descriptors { expected: 0, .. }));
    assert!(matches!(refusal_with(18, &pair(1, 0), &[fd; 253]), Fault::Descriptors { expected: 8, .. }));
    let mut table = pair(2, 0).to_vec();
    table.extend([region(GUEST, 4096, USER, 0), region(GUEST + 4096, 4096, USER + 4096, 0)].concat());
    assert!(matches!(refusal_with(5, &table, &[fd]), Fault::Descriptors { expected: 2, .. }));
}

#[test]
fn features_that_were_not_offered_or_are_missing_are_refused() {
    let all = NET.offered();
    for accepted in [all | 1 << 28, all & !super::bits::NET_MRG_RXBUF, all & !super::bits::VERSION_1] {
        assert!(matches!(refusal(2, &accepted.to_ne_bytes()), Fault::Features { .. }));
    }
    assert!(matches!(refusal(16, &(1_u64 << 3).to_ne_bytes()), Fault::Features { .. }));
}

#[test]
fn configuration_outside_of_the_space_is_refused() {
    for (offset, bytes) in [(0, 257), (200, 100), (u32::MAX, 1), (0, 13)] {
        let mut payload = pair(offset, bytes).to_vec();
        payload.resize(24, 0);
        assert!(matches!(refusal(24, &payload), Fault::Config { .. }));
    }
}

#[test]
fn memory_that_is_not_in_its_file_is_refused() {
    let cases = [
        (vec![region(GUEST, MEMORY_BYTES + 4096, USER, 0)], "ends beyond its file of 1048576 bytes"),
        (vec![region(GUEST, 4096, USER, MEMORY_BYTES)], "ends beyond its file of 1048576 bytes"),
        (vec![region(GUEST, 4096, USER, u64::MAX)], "ends beyond its file of 1048576 bytes"),
        (vec![region(u64::MAX, 4096, USER, 0)], "ends beyond 64 bits"),
        (vec![region(GUEST, 4096, u64::MAX, 0)], "ends beyond 64 bits"),
        (vec![region(GUEST, 0, USER, 0)], "cannot be mapped: "),
        (vec![region(GUEST, 4096, USER, 1)], "cannot be mapped: "),
        (vec![region(GUEST, 8192, USER, 0), region(GUEST + 4096, 4096, USER, 0)], "overlaps another"),
    ];
    for (regions, expected) in cases {
        let (mut device, mut frontend) = Frontend::ready(NET);
        match frontend.set_memory(&mut device, &regions).unwrap_err().fault {
            Fault::Region { reason, .. } => assert!(reason.starts_with(expected), "{reason}"),
            other => panic!("{other}"),
        }
    }
    assert!(matches!(refusal(5, &pair(0, 0)), Fault::Regions(0)));
    assert!(matches!(refusal(5, &pair(9, 0)), Fault::Regions(9)));
}

#[test]
fn rings_of_wrong_size_or_place_are_refused() {
    for size in [0, 3, 65536, u32::MAX] {
        assert_eq!(ring_fault(refusal(8, &pair(0, size))), RingFault::Size(size));
    }
    let outside = ring_fault(refusal(9, &addresses(0, MEMORY_BYTES)));
    assert_eq!(outside, RingFault::OutsideMemory { address: USER + MEMORY_BYTES, bytes: 128 });
    assert!(matches!(ring_fault(refusal(9, &addresses(0, 1))), RingFault::Alignment { alignment: 16, .. }));

    let (mut device, frontend) = Frontend::connect(NET);
    frontend.send(9, &addresses(0, 0), &[]);
    assert_eq!(ring_fault(ended(&mut device, Device::receive)), RingFault::NotSetUp);
    let (mut device, frontend) = Frontend::connect(NET);
    frontend.send(18, &pair(0, 1), &[]);
    assert_eq!(ring_fault(ended(&mut device, Device::receive)), RingFault::NotSetUp);
}

#[test]
fn malformed_chains_are_refused() {
    let fault = |prepare: &dyn Fn(&mut Frontend)| {
        let (mut device, mut frontend) = Frontend::ready(NET);
        prepare(&mut frontend);
        ring_fault(ended(&mut device, |device| device.take_sent(None, &mut Vec::new())))
    };
    let describe = |flags: u16, next: u16| {
        fault(&|frontend| {
            frontend.describe(Queue::Transmit, 0, BUFFERS, 100, flags, next);
            frontend.offer(Queue::Transmit, 0);
        })
    };
    assert_eq!(describe(NEXT, 0), RingFault::Loop { head: 0 });
    assert_eq!(describe(NEXT, 8), RingFault::NoDescriptor { index: 8, size: 8 });
    assert_eq!(describe(WRITE, 0), RingFault::DescriptorFlags { index: 0, flags: WRITE });
    assert_eq!(describe(4, 0), RingFault::DescriptorFlags { index: 0, flags: 4 });
    assert_eq!(
        fault(&|frontend| frontend.offer(Queue::Transmit, 9)),
        RingFault::NoDescriptor { index: 9, size: 8 }
    );
    assert_eq!(
        fault(&|frontend| frontend.offer(Queue::Transmit, 0)),
        RingFault::EmptyChain { head: 0 },
        "a descriptor of zeros"
    );
    assert_eq!(
        fault(&|frontend| frontend.set_available(Queue::Transmit, 9)),
        RingFault::TooManyChains { chains: 9, size: SIZE }
    );
    assert!(matches!(
        fault(&|frontend| {
            frontend.describe(Queue::Transmit, 0, BUFFERS, 200_000, 0, 0);
            frontend.offer(Queue::Transmit, 0);
        }),
        RingFault::TooLong { head: 0, .. }
    ));
}

#[test]
fn buffers_to_deliver_into_are_checked() {
    for (bytes, flags) in [(100, 0), (0, WRITE), (u32::MAX, WRITE)] {
        let (mut device, mut frontend) = Frontend::ready(NET);
        frontend.describe(Queue::Receive, 0, BUFFERS, bytes, flags, 0);
        frontend.offer(Queue::Receive, 0);
        let sent = packet(10);
        ring_fault(ended(&mut device, |device| device.deliver(&[IoSlice::new(&sent)])));
    }
}

#[test]
fn chains_are_not_available_again_before_they_were_given_back() {
    let (mut device, mut frontend) = Frontend::ready(NET);
    frontend.describe(Queue::Transmit, 0, BUFFERS, 12, 0, 0);
    let mut buffer = Vec::new();
    let mut held = Vec::new();
    for _ in 0..SIZE {
        frontend.offer(Queue::Transmit, 0);
        held.extend(device.take_sent(None, &mut buffer).unwrap());
    }
    assert_eq!(held.len(), usize::from(SIZE));
    frontend.offer(Queue::Transmit, 0);
    let fault = ring_fault(ended(&mut device, |device| device.take_sent(None, &mut Vec::new())));
    assert_eq!(fault, RingFault::TooManyChains { chains: 9, size: SIZE });
}

#[test]
fn a_guest_that_does_not_read_cannot_hold_up_the_device() {
    let (mut device, frontend) = Frontend::ready(NET);
    frontend.stream.set_nonblocking(true).unwrap();
    let fault = (0..1_000_000).find_map(|_| {
        frontend.send(1, &[], &[]);
        device.receive().err()
    });
    assert!(matches!(fault.unwrap().fault, Fault::Unread));
}

#[test]
fn a_packet_without_a_header_is_the_callers_error_and_keeps_the_device() {
    let (mut device, _frontend) = Frontend::ready(NET);
    let error = device.deliver(&[IoSlice::new(&[0; 11])]).unwrap_err();
    assert!(matches!(error.fault, Fault::ShortPacket(11)));
    assert!(device.is_ready());
}

/// Uses a device in every way until it has nothing more, fails, or has closed.
fn exercise(device: &mut Device) {
    let mut buffer = Vec::new();
    let sent = packet(3000);
    for _ in 0..4 * u32::from(SIZE) {
        if let Ok(Some(chain)) = device.take_sent(None, &mut buffer) {
            let _ = device.give_back(chain);
        }
        let _ = device.deliver(&[IoSlice::new(&sent)]);
    }
    let _ = device.wants_interrupt(Queue::Receive);
}

fn any_message() -> impl Strategy<Value = (u32, u32, Vec<u8>, usize)> {
    // Types that exist, mostly; numbers and addresses near those that are valid.
    let request = prop_oneof![8 => 0_u32..37, 1 => any::<u32>()];
    let flags = prop_oneof![8 => Just(9), 1 => any::<u32>()];
    let word = prop_oneof![
        4 => 0_u64..20,
        2 => (0_u64..0x11_0000).prop_map(|at| GUEST + at),
        2 => (0_u64..0x11_0000).prop_map(|at| USER + (at & !15)),
        1 => any::<u64>(),
    ];
    let payload = prop::collection::vec(word, 0..9);
    let payload = payload.prop_map(|words| words.into_iter().flat_map(u64::to_ne_bytes).collect());
    (request, flags, payload, 0_usize..3)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_sequence_of_messages_panics_or_hangs(
        ready in any::<bool>(),
        console in any::<bool>(),
        messages in prop::collection::vec(any_message(), 1..12),
    ) {
        let kind = if console { Kind::Console } else { NET };
        let (mut device, frontend) = if ready { Frontend::ready(kind) } else { Frontend::connect(kind) };
        for (request, flags, payload, descriptors) in messages {
            if device.frontend().is_none() {
                break;
            }
            let files = vec![frontend.memory.as_raw_fd(); descriptors];
            let header = frontend::header(request, flags, payload.len() as u32);
            frontend.send_raw(&header, &payload, &files);
            let _ = device.receive().map(drop);
            exercise(&mut device);
        }
    }

    #[test]
    fn no_content_of_the_rings_panics_or_hangs(
        descriptors in prop::collection::vec((0_u64..0x11_0000, 0_u32..5000, 0_u16..5, 0_u16..10), 16),
        wild in any::<[u8; 32]>(),
        available in prop::collection::vec(0_u16..10, 16),
        indices in any::<[u8; 2]>(),
        flags in any::<u16>(),
    ) {
        let (mut device, frontend) = Frontend::ready(NET);
        for (number, (address, bytes, flags, next)) in descriptors.into_iter().enumerate() {
            let queue = if number < 8 { Queue::Receive } else { Queue::Transmit };
            frontend.describe(queue, number as u16 % 8, GUEST + address, bytes, flags, next);
        }
        frontend.write(frontend::table(Queue::Transmit) + 64, &wild);
        for (queue, index) in [Queue::Receive, Queue::Transmit].into_iter().zip(indices) {
            for (slot, head) in available.iter().skip(8 * queue.index()).take(8).enumerate() {
                frontend.write(frontend::available_ring(queue) + 4 + 2 * slot as u64, &head.to_le_bytes());
            }
            frontend.set_available(queue, u16::from(index % 12));
            frontend.set_available_flags(queue, flags);
        }
        exercise(&mut device);
    }

    #[test]
    fn no_bytes_on_the_socket_panic_or_hang(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let (mut device, mut frontend) = Frontend::ready(NET);
        frontend.stream.write_all(&bytes).unwrap();
        for _ in 0..40 {
            let _ = device.receive().map(drop);
        }
    }
}
