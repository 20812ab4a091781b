//! Guests whose kernel is made by hand.

use super::*;
use std::os::unix::net::UnixStream;
use std::time::Duration;

const WAIT: Message = Message { operation: Operation::Wait, queues: 0, sequence: 0, time: 500 };

/// A guest that has booted, and its kernel's end of the connection.
fn booted() -> (Guest, Connection) {
    booted_with(None)
}

/// The same with cards of a line rate.
fn booted_with(line_bits_per_s: Option<u64>) -> (Guest, Connection) {
    let (near, far) = UnixStream::pair().unwrap();
    let of = |stream| Connection::new(stream, Duration::from_secs(1)).unwrap();
    let (near, mut far) = (of(near), of(far));
    let card = Card { config: NetConfig { mac: [2, 0, 0, 0, 0, 1], mtu: 1500 }, line_bits_per_s };
    let mut guest = Guest::new(0, "a".to_owned(), &[card; 2]);
    guest.connect(near, Message { operation: Operation::Start, ..WAIT });
    guest.boot().unwrap();
    assert_eq!(received(&mut far), Message { operation: Operation::Ack, time: 0, ..WAIT });
    (guest, far)
}

fn received(kernel: &mut Connection) -> Message {
    assert_eq!(kernel.read(true).unwrap(), Read::Some);
    kernel.next().unwrap().unwrap()
}

fn says(guest: &mut Guest, kernel: &mut Connection, message: Message) -> Result<bool> {
    assert!(kernel.send(message).unwrap());
    guest.receive(true, 7_000, &mut Outbox::default())
}

#[test]
fn a_guest_runs_at_the_time_that_it_waits_for_and_alone_until_the_horizon() {
    let (mut guest, mut kernel) = booted();
    assert!(guest.is_busy());
    assert_eq!(guest.next_ns(), None);
    assert!(says(&mut guest, &mut kernel, WAIT).unwrap());
    assert!(!guest.is_busy());
    assert_eq!(guest.next_ns(), Some(500));

    guest.step(500, &mut Outbox::default()).unwrap();
    assert!(!guest.is_busy(), "the horizon is not reached");
    guest.step(900, &mut Outbox::default()).unwrap();
    assert!(guest.is_busy());
    let run = Message { operation: Operation::Run, queues: 0, sequence: 400, time: 500 };
    assert_eq!(received(&mut kernel), run);
    assert_eq!(kernel.read(false).unwrap(), Read::Nothing, "one message");
}

#[test]
fn a_guest_runs_alone_only_until_something_comes_to_it() {
    let (mut guest, mut kernel) = booted();
    says(&mut guest, &mut kernel, WAIT).unwrap();
    guest.enqueue(700, Port::Network(0), vec![0; 100]);
    guest.step(u64::MAX, &mut Outbox::default()).unwrap();
    assert_eq!(received(&mut kernel).sequence, 200);
}

#[test]
fn a_guest_stops_at_each_event_while_a_card_with_a_line_rate_is_idle() {
    let (mut guest, mut kernel) = booted_with(Some(1_000_000_000));
    says(&mut guest, &mut kernel, WAIT).unwrap();
    guest.step(900, &mut Outbox::default()).unwrap();
    assert_eq!(received(&mut kernel).sequence, 0);
}

#[test]
fn a_guest_runs_alone_for_at_most_4_3_s() {
    let (mut guest, mut kernel) = booted();
    says(&mut guest, &mut kernel, WAIT).unwrap();
    guest.step(u64::MAX, &mut Outbox::default()).unwrap();
    assert_eq!(received(&mut kernel).sequence, u32::MAX);
}

#[test]
fn what_has_no_room_waits_in_the_card_and_the_guest_stands_still_often() {
    let (mut guest, mut kernel) = booted();
    says(&mut guest, &mut kernel, WAIT).unwrap();
    for _ in 0..3 {
        guest.enqueue(100, Port::Network(0), vec![0; 30 << 20]);
    }
    guest.step(u64::MAX, &mut Outbox::default()).unwrap();
    let run = received(&mut kernel);
    assert_eq!(
        (run.time, run.sequence),
        (500, 0),
        "there is no driver yet; the time that it waits for has come"
    );
    assert_eq!(guest.counters, GuestCounters { runs: 1, no_room: 1, ..GuestCounters::default() });

    says(&mut guest, &mut kernel, Message { time: 900, ..WAIT }).unwrap();
    assert_eq!(guest.next_ns(), Some(500), "there may be room");
    guest.step(u64::MAX, &mut Outbox::default()).unwrap();
    assert_eq!(received(&mut kernel).time, 900, "there was none");
}

#[test]
fn something_that_comes_late_comes_when_the_guest_has_run_on_to() {
    let (mut guest, mut kernel) = booted();
    says(&mut guest, &mut kernel, WAIT).unwrap();
    guest.step(900, &mut Outbox::default()).unwrap();
    received(&mut kernel);
    says(&mut guest, &mut kernel, Message { sequence: 300, time: 2_000, ..WAIT }).unwrap();
    guest.enqueue(600, Port::Network(0), vec![0; 100]);
    assert_eq!(guest.next_ns(), Some(800));
}

#[test]
fn questions_are_answered() {
    let (mut guest, mut kernel) = booted();
    says(&mut guest, &mut kernel, WAIT).unwrap();
    guest.step(900, &mut Outbox::default()).unwrap();
    received(&mut kernel);
    for (operation, time) in [(Operation::Update, 0), (Operation::Get, 600), (Operation::GetTimeOfDay, 7_600)]
    {
        let question = Message { operation, queues: 0, sequence: 9, time: 600 };
        says(&mut guest, &mut kernel, question).unwrap();
        assert_eq!(received(&mut kernel), Message { operation: Operation::Ack, time, ..question });
    }
}

#[test]
fn what_no_kernel_says_is_an_error_that_names_the_host() {
    let at = |operation, time| Message { operation, queues: 2, sequence: 0, time };
    for message in [
        Message { sequence: 401, ..WAIT },
        at(Operation::Update, 499),
        at(Operation::Update, 901),
        at(Operation::Kick, 901),
        Message { queues: 3, ..at(Operation::Kick, 600) },
        Message { queues: 1 << 6, ..at(Operation::Kick, 600) },
        at(Operation::Request, 600),
        at(Operation::Run, 600),
        at(Operation::Ack, 600),
    ] {
        let (mut guest, mut kernel) = booted();
        says(&mut guest, &mut kernel, WAIT).unwrap();
        guest.step(900, &mut Outbox::default()).unwrap();
        let error = says(&mut guest, &mut kernel, message).unwrap_err().to_string();
        assert!(error.starts_with("host a: ") && error.contains(" ns"), "{error}");
    }
    let (mut guest, mut kernel) = booted();
    says(&mut guest, &mut kernel, WAIT).unwrap();
    says(&mut guest, &mut kernel, WAIT).unwrap_err();
}

#[test]
fn a_kick_of_a_queue_without_a_device_is_ignored() {
    let (mut guest, mut kernel) = booted();
    says(&mut guest, &mut kernel, Message { operation: Operation::Kick, queues: 2, sequence: 1, time: 0 })
        .unwrap();
    assert!(guest.is_busy());
}

#[test]
fn a_guest_whose_kernel_ends_has_ended() {
    let (mut guest, kernel) = booted();
    drop(kernel);
    assert!(guest.receive(true, 0, &mut Outbox::default()).unwrap());
    assert!(guest.has_ended() && !guest.is_busy());
    assert_eq!(guest.next_ns(), None);
}
