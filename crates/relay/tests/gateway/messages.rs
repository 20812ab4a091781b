use crate::common::*;
use longhaul_relay::{Framing, Wrapper};
use longhaul_units::Span;
use std::io::{Read, Write};
use std::net::UdpSocket;
use std::time::{Duration, Instant};

fn udp_client(relay: &Running) -> UdpSocket {
    let socket = UdpSocket::bind(any(CLIENTS)).unwrap();
    socket.connect(relay.addresses[0]).unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    socket
}

#[test]
fn datagrams_go_there_and_back() {
    let relay = start(settings(direction(5_000, None), direction(2_000, None), vec![datagrams(udp_echo())]));
    let (one, other) = (udp_client(&relay), udp_client(&relay));
    for (client, text) in [(&one, b"one"), (&other, b"two"), (&one, b"six")] {
        let begun = Instant::now();
        client.send(text).unwrap();
        let mut buffer = [0; 100];
        assert_eq!(client.recv(&mut buffer).unwrap(), 3);
        assert_eq!(&buffer[..3], text);
        assert!(begun.elapsed() >= Duration::from_millis(7));
    }
    let (result, rows) = relay.stop();
    assert_eq!(result["connections"]["open"], 2);
    assert_eq!(rows.iter().map(|row| row.0).collect::<Vec<_>>(), [5e3, 2e3, 5e3, 2e3, 5e3, 2e3]);
}

#[test]
fn every_datagram_has_one_fate() {
    let relay =
        start(settings(lossy(0.3, direction(1_000, None)), direction(0, None), vec![datagrams(udp_echo())]));
    let client = udp_client(&relay);
    let mut back = 0;
    let mut buffer = [0; 100];
    for _ in 0..100 {
        client.send(b"datagram").unwrap();
        std::thread::sleep(Duration::from_micros(200));
    }
    while client.recv(&mut buffer).is_ok() {
        back += 1;
    }
    let (result, _) = relay.stop();
    assert!((45..90).contains(&back), "{back}");
    assert_eq!(result["links"][0]["offered_pieces"], 100);
    assert_eq!(result["links"][0]["delivered_pieces"], back);
    assert_eq!(result["links"][0]["lost_pieces"], 100 - back);
    assert_eq!(result["datagrams_ended"], 100 - back);
    assert_eq!(result["held_bytes"], 0);
}

#[test]
fn a_message_with_a_length_is_delayed_as_a_whole() {
    // 1,004 bytes at 8 Mbit/s: 1,004 us, from when its last byte came.
    let mut settings = settings(direction(0, Some(8_000_000)), direction(0, None), vec![forward(echo())]);
    settings.framing = Framing::LengthPrefixed;
    let relay = start(settings);
    let mut stream = relay.client();
    let message: Vec<u8> = [&1_000u32.to_be_bytes()[..], &pattern(1_000, 3)].concat();
    for part in message.chunks(300) {
        stream.write_all(part).unwrap();
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut back = vec![0; message.len()];
    stream.read_exact(&mut back).unwrap();
    assert!(back == message);
    drop(stream);
    let (_, rows) = relay.stop();
    assert_eq!((rows.len(), rows[0].0), (2, 1_004.0));
}

struct Shouts;

impl Wrapper for Shouts {
    fn operation(&mut self, _: u64, from: usize, _: usize, data: &mut Vec<u8>) -> Span {
        if from == 0 {
            data.make_ascii_uppercase();
            data.push(b'!');
        }
        Span::from_ms(if from == 0 { 30 } else { 0 })
    }
}

#[test]
fn code_of_the_users_own_changes_and_delays_messages() {
    let relay = start_with(
        settings(direction(1_000, None), direction(0, None), vec![forward(echo())]),
        Some(Box::new(Shouts)),
    );
    let mut stream = relay.client();
    let begun = Instant::now();
    stream.write_all(b"hello").unwrap();
    let mut back = [0; 6];
    stream.read_exact(&mut back).unwrap();
    assert_eq!(&back, b"HELLO!");
    assert!(begun.elapsed() >= Duration::from_millis(31));
    relay.stop();
}

#[test]
fn datagrams_are_messages_for_it_too() {
    let links = (direction(1_000, None), direction(0, None));
    let relay = start_with(settings(links.0, links.1, vec![datagrams(udp_echo())]), Some(Box::new(Shouts)));
    let client = udp_client(&relay);
    let begun = Instant::now();
    client.send(b"hello").unwrap();
    let mut buffer = [0; 100];
    assert_eq!(client.recv(&mut buffer).unwrap(), 6);
    assert_eq!(&buffer[..6], b"HELLO!");
    assert!(begun.elapsed() >= Duration::from_millis(31));
    let (result, _) = relay.stop();
    assert_eq!(result["held_bytes"], 0);
}
