use crate::common::*;
use longhaul_relay::{Algorithm, Listener, Peer, Share};
use std::io::{Read, Write};
use std::net::Shutdown;
use std::time::Instant;

#[test]
fn every_byte_arrives_in_order_however_many_are_lost() {
    let links = lossy(0.05, direction(500, Some(400_000_000)));
    let relay = start(settings(links.clone(), links, vec![forward(echo())]));
    let threads: Vec<_> = (0..8)
        .map(|seed| {
            let (stream, data) = (relay.client(), pattern(600_000, seed));
            std::thread::spawn(move || assert!(exchange(stream, data.clone()) == data))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let (result, _) = relay.stop();
    assert_eq!(result["connections"]["completed"], 8);
    assert_eq!(result["bytes"], 2 * 8 * 600_000);
    assert_eq!(result["held_bytes"], 0);
    let lost: u64 = (0..2).map(|way| result["links"][way]["lost_pieces"].as_u64().unwrap()).sum();
    assert!(lost > 0);
    assert_eq!(result["retransmitted_pieces"], lost);
}

#[test]
fn nothing_is_early_and_the_log_says_how_late() {
    let relay = start(settings(direction(3_000, None), direction(1_000, None), vec![forward(echo())]));
    let mut stream = relay.client();
    let mut rtts = Vec::new();
    for _ in 0..50 {
        let begun = Instant::now();
        stream.write_all(b"ping").unwrap();
        stream.read_exact(&mut [0; 4]).unwrap();
        rtts.push(begun.elapsed().as_secs_f64() * 1e6);
    }
    drop(stream);
    rtts.sort_by(f64::total_cmp);
    assert!(rtts[0] >= 4_000.0);
    assert!(rtts[25] < 6_000.0, "median {} us", rtts[25]);
    let (result, rows) = relay.stop();
    assert_eq!(rows.len(), 100);
    assert_eq!(result["log"]["rows"], 100);
    for (n, (wanted, actual)) in rows.into_iter().enumerate() {
        assert_eq!(wanted, if n % 2 == 0 { 3_000.0 } else { 1_000.0 });
        assert!(actual >= wanted);
    }
}

#[test]
fn bytes_take_as_long_as_the_link_says() {
    // 250 kB at 10 Mbit/s are 200 ms, whoever they belong to.
    let relay =
        start(settings(direction(1_000, Some(10_000_000)), direction(0, None), vec![forward(echo())]));
    let begun = Instant::now();
    let threads: Vec<_> = (0..5)
        .map(|seed| {
            let (stream, data) = (relay.client(), pattern(50_000, seed));
            std::thread::spawn(move || assert!(exchange(stream, data.clone()) == data))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let took = begun.elapsed().as_secs_f64();
    assert!((0.201..0.3).contains(&took), "{took} s");
    relay.stop();
}

#[test]
fn connections_that_share_nothing_have_the_link_to_themselves() {
    let mut settings = settings(direction(0, Some(10_000_000)), direction(0, None), vec![forward(echo())]);
    settings.share = Share::Connection;
    let relay = start(settings);
    let begun = Instant::now();
    let threads: Vec<_> = (0..5)
        .map(|seed| {
            let (stream, data) = (relay.client(), pattern(125_000, seed));
            std::thread::spawn(move || assert!(exchange(stream, data.clone()) == data))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let took = begun.elapsed().as_secs_f64();
    assert!((0.1..0.3).contains(&took), "{took} s");
    let (result, _) = relay.stop();
    assert_eq!(result["links"][0]["delivered_bytes"], 5 * 125_000);
}

#[test]
fn one_way_may_end_while_the_other_goes_on() {
    let server = server(|mut stream| {
        let mut all = Vec::new();
        stream.read_to_end(&mut all).unwrap();
        all.reverse();
        stream.write_all(&all).unwrap();
    });
    let relay = start(settings(direction(2_000, None), direction(2_000, None), vec![forward(server)]));
    let mut back = exchange(relay.client(), b"hello".to_vec());
    back.reverse();
    assert_eq!(back, b"hello");
    relay.stop();
}

#[test]
fn a_connection_opens_in_a_round_trip() {
    let server = server(|mut stream| stream.write_all(b"welcome").unwrap());
    let relay = start(settings(direction(20_000, None), direction(10_000, None), vec![forward(server)]));
    let begun = Instant::now();
    let mut stream = relay.client();
    stream.read_exact(&mut [0; 7]).unwrap();
    let took = begun.elapsed().as_secs_f64();
    assert!((0.030..0.060).contains(&took), "{took} s");
    stream.shutdown(Shutdown::Both).unwrap();
    relay.stop();
}

#[test]
fn two_gateways_each_delay_what_enters_their_cluster() {
    let target = echo();
    let mut far = settings(direction(7_000, None), direction(3_000, None), vec![socks()]);
    far.inward = Some(vec![1]);
    far.password = Some("word".into());
    let far = start(far);
    let mut near = settings(direction(7_000, None), direction(3_000, None), vec![forward(target)]);
    near.inward = Some(vec![0]);
    near.password = Some("word".into());
    near.peers = vec![Peer { cluster: 1, address: far.addresses[0] }];
    let near = start(near);
    let mut stream = near.client();
    let begun = Instant::now();
    stream.write_all(b"ping").unwrap();
    stream.read_exact(&mut [0; 4]).unwrap();
    // A round trip to open, and one for the message.
    assert!(begun.elapsed().as_secs_f64() >= 0.020);
    drop(stream);
    let ((_, near), (_, far)) = (near.stop(), far.stop());
    assert_eq!((near.len(), near[0].0), (1, 3_000.0));
    assert_eq!((far.len(), far[0].0), (1, 7_000.0));
}

#[test]
fn longcuts_threads_do_the_same() {
    let mut settings =
        settings(direction(2_000, None), direction(2_000, Some(8_000_000)), vec![forward(echo()), socks()]);
    settings.algorithm = Algorithm::Paper;
    settings.share = Share::Connection;
    let relay = start(settings);
    let threads: Vec<_> = (0..6)
        .map(|seed| {
            let (mut stream, data) = (relay.client(), pattern(1_000, seed));
            std::thread::spawn(move || {
                for _ in 0..10 {
                    let begun = Instant::now();
                    stream.write_all(&data).unwrap();
                    let mut back = vec![0; data.len()];
                    stream.read_exact(&mut back).unwrap();
                    // 2 ms there; 2 ms and 1 ms for 1,000 bytes back.
                    assert!(back == data && begun.elapsed().as_secs_f64() >= 0.005);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let (result, rows) = relay.stop();
    assert!(rows.len() >= 120);
    assert!(rows.iter().all(|(wanted, actual)| actual >= wanted));
    assert_eq!(result["connections"]["completed"], 6);
}

#[test]
fn a_redirected_connection_must_have_been_redirected() {
    let listener = Listener::Transparent { address: any(CLIENTS), from: None };
    let relay = start(settings(direction(0, None), direction(0, None), vec![listener]));
    let mut all = Vec::new();
    assert!(relay.client().read_to_end(&mut all).is_err() || all.is_empty());
    let (result, _) = relay.stop();
    assert_eq!(result["connections"]["refused"], 1);
}
