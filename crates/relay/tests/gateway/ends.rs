//! What a gateway that runs for weeks must not get wrong.

use crate::common::*;
use longhaul_plan::{Direction, LossPosition, QueueModel};
use longhaul_relay::Framing;
use longhaul_units::Probability;
use nix::sys::socket::{MsgFlags, send, setsockopt, sockopt};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsRawFd;
use std::time::Duration;

/// Sends a reset instead of an end.
fn reset(stream: TcpStream) {
    let linger = nix::libc::linger { l_onoff: 1, l_linger: 0 };
    setsockopt(&stream, sockopt::Linger, &linger).unwrap();
    drop(stream);
}

fn count(result: &Value, name: &str) -> u64 {
    result["connections"][name].as_u64().unwrap()
}

#[test]
fn what_follows_an_urgent_byte_comes_through() {
    let relay = start(settings(direction(20_000, None), direction(0, None), vec![forward(echo())]));
    let mut stream = relay.client();
    stream.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
    // All of it waits in the kernel while the connection opens.
    stream.write_all(b"abc").unwrap();
    send(stream.as_raw_fd(), b"d", MsgFlags::MSG_OOB).unwrap();
    stream.write_all(b"efg").unwrap();
    let mut back = [0; 7];
    stream.read_exact(&mut back).unwrap();
    assert_eq!(&back, b"abcdefg");
    relay.stop();
}

#[test]
fn a_message_larger_than_the_buffer_comes_wholly() {
    let mut settings = settings(direction(50_000, None), direction(0, None), vec![forward(echo())]);
    settings.framing = Framing::LengthPrefixed;
    settings.buffer_bytes = Some(20_000);
    let relay = start(settings);
    let body = pattern(2_000_000, 3);
    let message = [&(body.len() as u32).to_be_bytes()[..], &body].concat();
    let mut stream = relay.client();
    stream.set_read_timeout(Some(Duration::from_secs(3))).unwrap();
    let mut writer = stream.try_clone().unwrap();
    let sent = message.clone();
    let writing = std::thread::spawn(move || writer.write_all(&sent));
    let mut back = vec![0; message.len()];
    stream.read_exact(&mut back).unwrap();
    assert!(back == message);
    writing.join().unwrap().unwrap();
    relay.stop();
}

#[test]
fn lost_pieces_wait_for_room_too() {
    let queue = QueueModel { limit_packets: Some(4), limit_bytes: None, ..QueueModel::default() };
    let link = Direction { queue, ..lossy(0.05, direction(2_000, Some(10_000_000))) };
    let relay = start(settings(link, direction(2_000, None), vec![forward(echo())]));
    let exchanges: Vec<_> = (0..4)
        .map(|seed| {
            let stream = relay.client();
            std::thread::spawn(move || {
                let data = pattern(250_000, seed);
                assert!(exchange(stream, data.clone()) == data);
            })
        })
        .collect();
    for each in exchanges {
        each.join().unwrap();
    }
    let (result, _) = relay.stop();
    let link = &result["links"][0];
    assert!(link["lost_pieces"].as_u64().unwrap() > 10);
    assert_eq!(link["overflowed_pieces"], 0);
}

#[test]
fn duplicates_of_what_is_lost_come_again_once() {
    let link = Direction {
        duplicate: Probability::new(0.02).unwrap(),
        loss_position: LossPosition::Egress,
        ..lossy(1.0, direction(0, None))
    };
    let mut settings = settings(link, direction(0, None), vec![forward(echo())]);
    settings.retransmit_ns = Some(1_000_000);
    let relay = start(settings);
    let stream = relay.client();
    std::thread::sleep(Duration::from_millis(400));
    drop(stream);
    let (result, _) = relay.stop();
    // One piece, the wish to connect, offered once a millisecond.
    let most = result["duration_ns"].as_u64().unwrap() / 1_000_000;
    assert!(result["retransmitted_pieces"].as_u64().unwrap() <= most, "{result}");
}

#[test]
fn a_client_that_breaks_after_its_end_ends_the_connection() {
    let server = server(|stream| {
        std::thread::sleep(Duration::from_secs(5));
        drop(stream);
    });
    let relay = start(settings(direction(1_000, None), direction(1_000, None), vec![forward(server)]));
    let stream = relay.client();
    stream.shutdown(Shutdown::Write).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    reset(stream);
    std::thread::sleep(Duration::from_millis(200));
    let (result, _) = relay.stop();
    assert_eq!(count(&result, "completed"), 1);
}

#[test]
fn every_connection_is_counted_once() {
    let relay = start(settings(direction(0, None), direction(0, None), vec![forward(echo()), socks()]));
    let data = pattern(1_000, 1);
    assert!(exchange(relay.client(), data.clone()) == data);
    for hello in [&b""[..], b"GET / HTTP/1.1\r\n\r\n", &[5, 1, 0]] {
        let mut stream = TcpStream::connect(relay.addresses[1]).unwrap();
        stream.write_all(hello).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let _ = stream.read_to_end(&mut Vec::new());
    }
    let mut open = relay.client();
    open.write_all(b"x").unwrap();
    open.read_exact(&mut [0]).unwrap();
    let (result, _) = relay.stop();
    assert_eq!(count(&result, "accepted"), 5);
    let ended = ["refused", "failed", "completed", "broken", "open"].map(|name| count(&result, name));
    assert_eq!(ended.iter().sum::<u64>(), 5, "{ended:?}");
}
