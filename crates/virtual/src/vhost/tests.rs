//! Devices against a front end that is made by hand.

mod frontend;
mod malformed;

use std::io::{IoSlice, Write};

use proptest::prelude::*;

use frontend::{BUFFERS, Frontend, NET, NEXT, SIZE, WRITE};

use super::{Chain, Device, Fault, Kind, NET_HEADER_BYTES, Queue, Received, RingFault, bits};

/// A packet with a header of zeros and `bytes` bytes that count.
fn packet(bytes: usize) -> Vec<u8> {
    let mut packet = vec![0; NET_HEADER_BYTES];
    packet.extend((0..bytes).map(|at| at as u8));
    packet
}

fn take(device: &mut Device) -> Option<(Vec<u8>, Chain)> {
    let mut buffer = Vec::new();
    let chain = device.take_sent(None, &mut buffer).unwrap()?;
    Some((buffer, chain))
}

#[test]
fn a_driver_that_sets_up_both_queues_makes_the_device_ready() {
    let (device, frontend) = Frontend::ready(NET);
    assert_eq!(device.features(), NET.offered());
    assert_ne!(device.features() & bits::NET_HOST_USO, 0);
    // A network device drops packets without room, so it need not hear of new room.
    assert_eq!(frontend.used_flags(Queue::Receive), 1);
    assert_eq!(frontend.used_flags(Queue::Transmit), 0);
}

#[test]
fn the_configuration_holds_address_link_and_mtu() {
    let (mut device, mut frontend) = Frontend::connect(NET);
    let mut wanted = frontend::pair(0, 12).to_vec();
    wanted.resize(12 + 12, 0);
    let reply = frontend.ask(&mut device, 24, &wanted).unwrap();
    assert_eq!(reply[12..], [2, 0, 0, 0, 0, 1, 1, 0, 1, 0, 0xdc, 5]);
}

#[test]
fn a_sent_chain_arrives_whole_and_is_given_back_when_the_caller_says() {
    let (mut device, mut frontend) = Frontend::ready(NET);
    let sent = packet(100);
    frontend.write(BUFFERS, &sent[..12]);
    frontend.write(BUFFERS + 0x1000, &sent[12..]);
    frontend.describe(Queue::Transmit, 3, BUFFERS, 12, NEXT, 5);
    frontend.describe(Queue::Transmit, 5, BUFFERS + 0x1000, 100, 0, 0);
    frontend.offer(Queue::Transmit, 3);

    let (arrived, chain) = take(&mut device).unwrap();
    assert_eq!(arrived, sent);
    assert!(take(&mut device).is_none());
    assert_eq!(frontend.used(Queue::Transmit), []);

    device.give_back(chain).unwrap();
    assert_eq!(frontend.used(Queue::Transmit), [(3, 0)]);
}

#[test]
fn a_packet_is_delivered_into_as_many_buffers_as_it_needs() {
    let (mut device, mut frontend) = Frontend::ready(NET);
    for index in 0..4 {
        frontend.describe(Queue::Receive, index, BUFFERS + 0x1000 * u64::from(index), 64, WRITE, 0);
        frontend.offer(Queue::Receive, index);
    }
    let sent = packet(100);
    let parts = [IoSlice::new(&sent[..7]), IoSlice::new(&sent[7..50]), IoSlice::new(&sent[50..])];
    assert!(device.deliver(&parts).unwrap());

    assert_eq!(frontend.used(Queue::Receive), [(0, 64), (1, 48)]);
    let mut arrived = frontend.read(BUFFERS, 64);
    arrived.extend(frontend.read(BUFFERS + 0x1000, 48));
    assert_eq!(arrived[10..12], [2, 0]);
    assert_eq!(arrived[12..], sent[12..]);
}

#[test]
fn a_packet_without_room_changes_nothing() {
    let (mut device, mut frontend) = Frontend::ready(NET);
    frontend.describe(Queue::Receive, 0, BUFFERS, 64, WRITE, 0);
    frontend.offer(Queue::Receive, 0);
    assert!(!device.deliver(&[IoSlice::new(&packet(100))]).unwrap());
    assert_eq!(frontend.used(Queue::Receive), []);
    assert!(device.deliver(&[IoSlice::new(&packet(10))]).unwrap());
    assert_eq!(frontend.used(Queue::Receive), [(0, 22)]);
}

#[test]
fn indices_wrap_around() {
    let (mut device, mut frontend) = Frontend::ready(NET);
    let (sent, mut arrived) = (packet(20), Vec::new());
    frontend.write(BUFFERS, &sent);
    for index in 0..SIZE {
        frontend.describe(Queue::Transmit, index, BUFFERS, sent.len() as u32, 0, 0);
        frontend.describe(Queue::Receive, index, BUFFERS + 0x1000, 2048, WRITE, 0);
    }
    for round in 0..70_000_u32 {
        let head = (round % u32::from(SIZE)) as u16;
        frontend.offer(Queue::Transmit, head);
        let chain = device.take_sent(None, &mut arrived).unwrap().unwrap();
        assert_eq!(arrived, sent);
        device.give_back(chain).unwrap();
        frontend.offer(Queue::Receive, head);
        assert!(device.deliver(&[IoSlice::new(&sent)]).unwrap());
        for queue in [Queue::Transmit, Queue::Receive] {
            assert_eq!(frontend.used_index(queue), (round + 1) as u16);
        }
    }
}

#[test]
fn a_console_has_bytes_without_a_header_and_tells_of_new_room() {
    let (mut device, mut frontend) = Frontend::ready(Kind::Console);
    assert_eq!(device.features(), bits::VERSION_1 | bits::PROTOCOL_FEATURES);
    assert_eq!(frontend.used_flags(Queue::Receive), 0);
    frontend.describe(Queue::Receive, 0, BUFFERS, 4096, WRITE, 0);
    frontend.offer(Queue::Receive, 0);
    assert!(device.deliver(&[IoSlice::new(b"date\n")]).unwrap());
    assert_eq!(frontend.read(BUFFERS, 5), b"date\n");
    assert_eq!(frontend.used(Queue::Receive), [(0, 5)]);
}

#[test]
fn chains_are_taken_up_to_the_index_that_a_kick_tells() {
    let (mut device, mut frontend) = Frontend::ready(NET);
    let mut buffer = Vec::new();
    for index in 0..3 {
        frontend.describe(Queue::Transmit, index, BUFFERS, 12 + u32::from(index), 0, 0);
        frontend.offer(Queue::Transmit, index);
    }
    let mut lengths = |until| {
        let mut lengths = Vec::new();
        while let Some(chain) = device.take_sent(Some(until), &mut buffer).unwrap() {
            lengths.push(buffer.len());
            device.give_back(chain).unwrap();
        }
        lengths
    };
    assert_eq!(lengths(2), [12, 13]);
    assert_eq!(lengths(2), [0; 0]);
    assert_eq!(lengths(3), [14]);
    for until in [4, 2, u16::MAX] {
        let (mut device, mut frontend) = Frontend::ready(NET);
        frontend.describe(Queue::Transmit, 0, BUFFERS, 12, 0, 0);
        frontend.offer(Queue::Transmit, 0);
        let fault = device.take_sent(Some(until), &mut Vec::new()).unwrap_err().fault;
        let fault = match fault {
            Fault::Queue { fault, .. } => fault,
            other => panic!("{other}"),
        };
        assert_eq!(fault, RingFault::NotAvailable { chains: until, waiting: 1 });
    }
}

#[test]
fn a_driver_that_wants_no_interrupts_gets_none() {
    let (mut device, frontend) = Frontend::ready(NET);
    frontend.set_available_flags(Queue::Receive, 1);
    assert!(!device.wants_interrupt(Queue::Receive).unwrap());
    frontend.set_available_flags(Queue::Receive, 0);
    assert!(device.wants_interrupt(Queue::Receive).unwrap());
}

#[test]
fn a_message_may_come_byte_by_byte() {
    let (mut device, mut frontend) = Frontend::ready(NET);
    let mut message = frontend::header(18, 9, 8).to_vec();
    message.extend(frontend::pair(1, 0));
    for byte in message {
        assert!(device.is_ready());
        frontend.stream.write_all(&[byte]).unwrap();
        assert_eq!(device.receive().unwrap(), Received::Handled);
    }
    assert!(!device.is_ready(), "a queue is disabled");
    assert_eq!(frontend.reply(), 0_u64.to_ne_bytes());
}

#[test]
fn a_guest_that_ends_closes_its_device() {
    let (mut device, frontend) = Frontend::ready(NET);
    drop(frontend);
    assert_eq!(device.receive().unwrap(), Received::Closed);
    assert!(device.frontend().is_none() && !device.is_ready());
    assert!(take(&mut device).is_none());
    assert!(!device.deliver(&[IoSlice::new(&packet(10))]).unwrap());
    assert!(!device.wants_interrupt(Queue::Receive).unwrap());
}

#[test]
fn what_belongs_to_an_earlier_connection_is_ignored() {
    let (mut device, mut frontend) = Frontend::ready(NET);
    frontend.describe(Queue::Transmit, 0, BUFFERS, 12, 0, 0);
    frontend.offer(Queue::Transmit, 0);
    let (_, chain) = take(&mut device).unwrap();

    let mut next = Frontend::reconnect(&mut device);
    next.set_up(&mut device).unwrap();
    device.give_back(chain).unwrap();
    assert_eq!(next.used(Queue::Transmit), []);
    next.stream.set_nonblocking(true).unwrap();
    assert!(std::io::Read::read(&mut next.stream, &mut [0; 1]).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn packets_survive_any_division_into_buffers(
        lengths in prop::collection::vec((1_usize..400, prop::collection::vec(1_u32..200, 1..8)), 1..40)
    ) {
        let (mut device, mut frontend) = Frontend::ready(NET);
        for (bytes, buffers) in lengths {
            let sent = packet(bytes);
            // Out of the guest, divided as `buffers`; the last one has the rest.
            let mut rest = sent.as_slice();
            for (index, &length) in buffers.iter().enumerate() {
                let last = index + 1 == buffers.len() || rest.len() <= length as usize;
                let (now, later) = rest.split_at(if last { rest.len() } else { length as usize });
                let address = BUFFERS + 0x1000 * index as u64;
                frontend.write(address, now);
                let flags = if last { 0 } else { NEXT };
                frontend.describe(Queue::Transmit, index as u16, address, now.len() as u32, flags, index as u16 + 1);
                rest = later;
                if last { break }
            }
            frontend.offer(Queue::Transmit, 0);
            let (arrived, chain) = take(&mut device).unwrap();
            prop_assert_eq!(&arrived, &sent);
            device.give_back(chain).unwrap();

            // Into a guest whose buffers have these lengths, one chain each.
            let (mut device, mut frontend) = Frontend::ready(NET);
            for (index, &length) in buffers.iter().enumerate() {
                let address = BUFFERS + 0x1000 * index as u64;
                frontend.describe(Queue::Receive, index as u16, address, length, WRITE, 0);
                frontend.offer(Queue::Receive, index as u16);
            }
            let room: usize = buffers.iter().map(|&length| length as usize).sum();
            prop_assert_eq!(device.deliver(&[IoSlice::new(&sent)]).unwrap(), room >= sent.len());
            let used = frontend.used(Queue::Receive);
            prop_assert!(used.len() <= usize::from(SIZE));
            let mut arrived = Vec::new();
            for (head, written) in &used {
                arrived.extend(frontend.read(BUFFERS + 0x1000 * u64::from(*head), *written as usize));
            }
            if room >= sent.len() {
                prop_assert_eq!(u16::from_le_bytes([arrived[10], arrived[11]]) as usize, used.len());
                prop_assert_eq!(&arrived[12..], &sent[12..]);
            }
        }
    }
}
