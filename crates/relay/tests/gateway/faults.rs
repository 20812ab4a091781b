use crate::common::*;
use longhaul_relay::{Algorithm, CloseReason, Cluster, Network, Peer, Share};
use longhaul_storage::faults::{Fault, Faulty};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

fn hello(stream: &mut TcpStream, request: &[u8]) -> Vec<u8> {
    stream.write_all(&[5, 1, 0]).unwrap();
    stream.read_exact(&mut [0; 2]).unwrap();
    stream.write_all(request).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    answer
}

#[test]
fn who_refuses_is_heard_a_round_trip_later() {
    let gone = TcpListener::bind(any(SERVERS)).unwrap().local_addr().unwrap();
    let relay =
        start(settings(direction(10_000, None), direction(10_000, None), vec![socks(), forward(gone)]));
    let begun = Instant::now();
    let request = [&[5, 1, 0, 1, 127, 0, 0, 2][..], &gone.port().to_be_bytes()].concat();
    assert_eq!(hello(&mut relay.client(), &request)[1], 5);
    assert!(begun.elapsed() >= Duration::from_millis(20));
    let mut stream = TcpStream::connect(relay.addresses[1]).unwrap();
    assert!(stream.read(&mut [0]).is_err(), "reset");
    let (result, _) = relay.stop();
    assert_eq!(result["connections"]["failed"], 2);
}

#[test]
fn who_has_no_path_is_refused() {
    let relay = start(settings(direction(0, None), direction(0, None), vec![socks()]));
    assert_eq!(hello(&mut relay.client(), &[5, 1, 0, 1, 10, 0, 0, 1, 0, 80])[1], 2);
    assert_eq!(hello(&mut relay.client(), &[5, 2, 0, 1, 127, 0, 0, 2, 0, 80])[1], 7);
    let name = b"no.such.name.invalid";
    let request = [&[5, 1, 0, 3, name.len() as u8][..], name, &[0, 80]].concat();
    assert_eq!(hello(&mut relay.client(), &request)[1], 4);
    let (result, _) = relay.stop();
    assert_eq!(result["connections"]["refused"], 2 + 1 - 1);
}

/// The last column of `connections.csv`.
fn close_reasons(relay: Running) -> Vec<String> {
    let (_, [connections]) = relay.stop_and_read(["connections.csv"]);
    let last = |line: &str| line.rsplit(',').next().unwrap().to_owned();
    connections.lines().skip(1).map(last).collect()
}

#[test]
fn both_algorithms_record_the_same_close_reasons() {
    let closed = TcpListener::bind(any(SERVERS)).unwrap().local_addr().unwrap();
    let silent = TcpListener::bind(any(SERVERS)).unwrap();
    let request = |target: SocketAddr| match target.ip() {
        IpAddr::V4(ip) => [&[5, 1, 0, 1][..], &ip.octets(), &target.port().to_be_bytes()].concat(),
        IpAddr::V6(_) => unreachable!(),
    };
    for algorithm in [Algorithm::OneThread, Algorithm::Paper] {
        let with_peer = |peer: Option<SocketAddr>| {
            let mut settings = settings(direction(0, None), direction(0, None), vec![socks()]);
            (settings.algorithm, settings.share) = (algorithm, Share::Connection);
            settings.opening_ns = 50_000_000;
            let members = vec![Network::try_from("127.0.0.3/32".to_owned()).unwrap()];
            settings.clusters.push(Cluster { name: "apart".into(), members });
            settings.peers = peer.into_iter().map(|address| Peer { cluster: 1, address }).collect();
            start(settings)
        };
        let relay = with_peer(None);
        let mut all = Vec::new();
        let _ = relay.client().read_to_end(&mut all);
        for target in ["10.0.0.1:80".parse().unwrap(), "127.0.0.3:80".parse().unwrap(), closed] {
            hello(&mut relay.client(), &request(target));
        }
        let expected = [
            CloseReason::RequestTimeout,
            CloseReason::TargetOfNoCluster,
            CloseReason::NoPath,
            CloseReason::TargetRefused,
        ];
        assert_eq!(close_reasons(relay), expected.map(CloseReason::text), "{algorithm:?}");
        for (peer, expected) in
            [(closed, CloseReason::PeerFailed), (silent.local_addr().unwrap(), CloseReason::TargetTimeout)]
        {
            let relay = with_peer(Some(peer));
            hello(&mut relay.client(), &request(closed));
            assert_eq!(close_reasons(relay), [expected.text()], "{algorithm:?}");
        }
    }
}

#[test]
fn a_relay_without_time_to_open_connections_is_refused() {
    let mut settings = settings(direction(0, None), direction(0, None), vec![socks()]);
    settings.opening_ns = 0;
    assert_eq!(settings.check().unwrap_err().to_string(), "opening_ns: must be positive");
}

#[test]
fn garbage_and_half_open_connections_disturb_nobody() {
    let mut settings =
        settings(direction(1_000, None), direction(1_000, None), vec![forward(echo()), socks()]);
    settings.connections = 1_000;
    let relay = start(settings);
    let half_open: Vec<_> = (0..700).map(|_| TcpStream::connect(relay.addresses[1]).unwrap()).collect();
    let garbage: Vec<_> = (0..50)
        .map(|seed| {
            let mut stream = TcpStream::connect(relay.addresses[1]).unwrap();
            let _ = stream.write_all(&pattern(3_000, seed));
            stream
        })
        .collect();
    let data = pattern(2_000_000, 9);
    assert!(exchange(relay.client(), data.clone()) == data);
    drop((garbage, half_open));
    let data = pattern(100_000, 10);
    assert!(exchange(relay.client(), data.clone()) == data);
    std::thread::sleep(Duration::from_millis(300));
    let (result, _) = relay.stop();
    assert_eq!(result["connections"]["completed"], 2);
    assert_eq!(result["connections"]["open"], 0);
    assert_eq!(result["held_bytes"], 0);
}

#[test]
fn a_delay_longer_than_the_timeout_fails_no_connection() {
    let mut settings =
        settings(direction(300_000, None), direction(300_000, None), vec![forward(echo()), socks()]);
    settings.opening_ns = 200_000_000;
    let relay = start(settings);
    assert_eq!(exchange(relay.client(), b"far away".to_vec()), b"far away");
    let mut silent = TcpStream::connect(relay.addresses[1]).unwrap();
    let begun = Instant::now();
    assert_eq!(silent.read(&mut [0]).unwrap(), 0, "who sends no request is not waited for");
    assert!(begun.elapsed() < Duration::from_secs(5));
    let (result, _) = relay.stop();
    assert_eq!(
        (&result["connections"]["completed"], &result["connections"]["failed"]),
        (&json!(1), &json!(1))
    );
}

#[test]
fn a_relay_that_cannot_write_says_so_and_what_it_wrote_is_readable() {
    for at in 0..20 {
        let storage = Faulty::new(at, Fault::ShortWrite);
        let listeners = vec![forward(echo()), socks()];
        let Some(relay) =
            try_start(settings(direction(0, None), direction(0, None), listeners), storage.clone())
        else {
            assert!(storage.has_failed());
            continue;
        };
        let mut stream = TcpStream::connect(relay.addresses[1]).unwrap();
        stream.write_all(&[4]).unwrap();
        let _ = stream.read_to_end(&mut Vec::new());
        assert_eq!(exchange(relay.client(), b"near".to_vec()), b"near", "whatever becomes of the log");
        let raw = relay.directory.join("raw");
        let (result, tables) = relay.stop_and_read(["connections.csv", "messages.csv"]);
        for table in &tables {
            assert!(table.ends_with('\n'), "at {at}: {table}");
        }
        let lines: Vec<usize> = tables.iter().map(|table| table.lines().count()).collect();
        if storage.has_failed() {
            assert!(result["log"]["error"].is_string(), "at {at}: {result}");
        } else {
            assert_eq!(lines, [3, 3], "{tables:?}");
            assert!(tables[0].contains(",\"the client speaks SOCKS 4, not 5\"\n"), "{}", tables[0]);
            assert!(!raw.exists());
            return;
        }
    }
    panic!("more operations than were expected");
}

#[test]
fn no_more_connections_than_allowed() {
    let mut settings = settings(direction(0, None), direction(0, None), vec![forward(echo())]);
    settings.connections = 3;
    let relay = start(settings);
    let mut streams: Vec<_> = (0..5).map(|_| relay.client()).collect();
    let alive = streams.iter_mut().filter_map(|stream| {
        let sent = stream.write_all(b"x").is_ok();
        (sent && stream.read(&mut [0]).is_ok_and(|bytes| bytes == 1)).then_some(())
    });
    assert_eq!(alive.count(), 3);
    let (result, _) = relay.stop();
    assert_eq!(result["connections"]["refused"], 2);
}

#[test]
fn a_reader_that_does_not_read_holds_no_more_than_its_share() {
    let server = server(|stream| {
        std::thread::sleep(Duration::from_secs(3));
        drop(stream);
    });
    let mut settings = settings(direction(1_000, None), direction(0, None), vec![forward(server)]);
    settings.buffer_bytes = Some(100_000);
    let relay = start(settings);
    let mut stream = relay.client();
    stream.set_write_timeout(Some(Duration::from_millis(400))).unwrap();
    let data = vec![7; 1 << 20];
    while stream.write(&data).is_ok() {}
    let status = ask(&relay, &json!({"do": "status", "token": "right"}));
    let held = status["relay"]["held_bytes"].as_u64().unwrap();
    assert!(held > 0 && held <= 100_000, "{held}");
    drop(stream);
    relay.stop();
}

#[test]
fn killing_one_connection_leaves_the_others_whole() {
    let links = direction(2_000, Some(100_000_000));
    let relay = start(settings(links.clone(), links, vec![forward(echo())]));
    let (survivor, data) = (relay.client(), pattern(2_000_000, 1));
    let wanted = data.clone();
    let survives = std::thread::spawn(move || exchange(survivor, data) == wanted);
    for seed in 0..10 {
        let mut victim = relay.client();
        victim.write_all(&pattern(100_000, seed)).unwrap();
        // Unread answers make the kernel break it off.
        std::thread::sleep(Duration::from_millis(10));
        drop(victim);
    }
    assert!(survives.join().unwrap());
    std::thread::sleep(Duration::from_millis(100));
    let (result, _) = relay.stop();
    assert_eq!(result["connections"]["open"], 0);
    assert_eq!(result["held_bytes"], 0);
}

fn ask(relay: &Running, request: &Value) -> Value {
    let mut stream = UnixStream::connect(&relay.socket).unwrap();
    writeln!(stream, "{request}").unwrap();
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).unwrap();
    serde_json::from_str(&answer).unwrap()
}

#[test]
fn only_who_knows_the_token_steers() {
    let relay = start(settings(direction(1_000, None), direction(0, None), vec![forward(echo())]));
    for request in [json!({"do": "status"}), json!({"do": "stop", "token": "wrong"}), json!([1]), json!({})] {
        let answer = ask(&relay, &request);
        assert_eq!(answer["ok"], false, "{request}");
        assert!(answer["message"].as_str().unwrap().contains("token"), "{answer}");
    }
    let change = |delay: Value| {
        let change = json!({"link": 0, "direction": "forward", "change": {"delay": delay}});
        let cause = json!({"by": "cli", "user": "ann", "words": ["delay=9ms"]});
        json!({"do": "change", "token": "right", "changes": [change], "cause": cause})
    };
    let answer = ask(&relay, &change(json!({"model": "constant", "delay_ns": 9_000_000})));
    assert_eq!(answer["ok"], true);
    assert_eq!(ask(&relay, &change(json!({"model": "none"})))["ok"], false);
    let recorded = std::fs::read_to_string(relay.directory.join("raw/changes.jsonl")).unwrap();
    let recorded: Vec<Value> = recorded.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(recorded.len(), 1, "a change that was refused is not recorded");
    assert_eq!(recorded[0]["change"]["delay"]["delay_ns"], 9_000_000);
    assert_eq!(recorded[0]["at_ns"], answer["engine"]["at_ns"]);
    assert_eq!(recorded[0]["cause"]["user"], "ann");
    let mut stream = relay.client();
    stream.write_all(b"x").unwrap();
    stream.read_exact(&mut [0]).unwrap();
    let (_, rows) = relay.stop();
    assert_eq!(rows[0].0, 9_000.0);
}

#[test]
fn an_address_that_is_taken_is_said() {
    let taken = TcpListener::bind(any(CLIENTS)).unwrap();
    let address = taken.local_addr().unwrap();
    let listener = longhaul_relay::Listener::Forward { address, target: any(SERVERS), from: None, to: None };
    let error =
        std::panic::catch_unwind(|| start(settings(direction(0, None), direction(0, None), vec![listener])));
    let text = *error.err().unwrap().downcast::<String>().unwrap();
    assert!(text.contains("listeners[0]: cannot listen at") && text.contains("in use"), "{text}");
}
