//! Many connections through a gateway, and how long their messages take. Both ends are in this process, so that one
//! clock tells the latency of each way:
//!
//! `load VIA LISTEN CONNECTIONS MESSAGES_PER_S SECONDS [idle=SECONDS] [gateway=PID] [one-way] [stamps]`
//!
//! VIA is the gateway's port, which must lead to LISTEN. The connections send 8 bytes each in turn, so many a second
//! all together, and the far end sends them back; with `one-way` it does not. Prints one line of JSON: latencies in
//! nanoseconds, without the time that a message spends at the far end, and the share of a processor that process PID
//! took meanwhile, and before that while nothing was sent. A message has come when this process has read it, for
//! which it looks all the time; with `stamps` when it came to the kernel, and this process sleeps in between.
#![expect(clippy::print_stdout, reason = "it is a program")]

use nix::cmsg_space;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt};
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;
use serde_json::{Value, json};
use std::io::{IoSliceMut, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

type Failed = Box<dyn std::error::Error>;

const MESSAGE: usize = 8;
/// How long it is waited for the last messages.
const PATIENCE_NS: u64 = 3_000_000_000;
/// How long all is left alone once it is connected.
const SETTLE: Duration = Duration::from_secs(1);

struct Order {
    via: SocketAddr,
    listen: SocketAddr,
    connections: usize,
    messages_per_s: u64,
    seconds: u64,
    idle_s: u64,
    gateway: Option<ClockId>,
    one_way: bool,
    stamps: bool,
    clock: ClockId,
}

fn order() -> Result<Order, Failed> {
    let mut words = std::env::args().skip(1);
    let mut word = |what: &str| words.next().ok_or(format!("{what} is missing"));
    let mut order = Order {
        via: word("VIA")?.parse()?,
        listen: word("LISTEN")?.parse()?,
        connections: word("CONNECTIONS")?.parse()?,
        messages_per_s: word("MESSAGES_PER_S")?.parse()?,
        seconds: word("SECONDS")?.parse()?,
        idle_s: 0,
        gateway: None,
        one_way: false,
        stamps: false,
        clock: ClockId::CLOCK_MONOTONIC,
    };
    for word in words {
        match word.split_once('=') {
            Some(("idle", seconds)) => order.idle_s = seconds.parse()?,
            Some(("gateway", pid)) => {
                order.gateway = Some(clock_getcpuclockid(Pid::from_raw(pid.parse()?))?);
            }
            None if word == "one-way" => order.one_way = true,
            // The kernel stamps by this clock.
            None if word == "stamps" => (order.stamps, order.clock) = (true, ClockId::CLOCK_REALTIME),
            _ => return Err(format!("what is {word}?").into()),
        }
    }
    Ok(order)
}

fn now_ns(clock: ClockId) -> Result<u64, Failed> {
    let time = clock_gettime(clock)?;
    Ok(time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
}

/// The share of a processor that a process takes.
struct Usage {
    process: Option<ClockId>,
    cpu_ns: u64,
    at_ns: u64,
}

impl Usage {
    fn begin(process: Option<ClockId>) -> Result<Self, Failed> {
        let cpu_ns = process.map_or(Ok(0), now_ns)?;
        Ok(Usage { process, cpu_ns, at_ns: now_ns(ClockId::CLOCK_MONOTONIC)? })
    }

    fn share(&self) -> Result<Option<f64>, Failed> {
        let Some(process) = self.process else { return Ok(None) };
        let passed_ns = now_ns(ClockId::CLOCK_MONOTONIC)? - self.at_ns;
        Ok(Some((now_ns(process)? - self.cpu_ns) as f64 / passed_ns as f64))
    }
}

/// Both ends of all connections; even numbers are near ends.
struct Ends {
    near: Vec<TcpStream>,
    far: Vec<TcpStream>,
    epoll: Epoll,
}

impl Ends {
    fn open(order: &Order) -> Result<Self, Failed> {
        let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
        setrlimit(Resource::RLIMIT_NOFILE, hard, hard)?;
        let listener = TcpListener::bind(order.listen)?;
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let (mut near, mut far) = (Vec::new(), Vec::new());
        let watch = |stream: &TcpStream, number: usize| -> Result<(), Failed> {
            stream.set_nodelay(true)?;
            stream.set_nonblocking(true)?;
            setsockopt(stream, sockopt::ReceiveTimestampns, &order.stamps)?;
            Ok(epoll.add(stream, EpollEvent::new(EpollFlags::EPOLLIN, number as u64))?)
        };
        // In groups that a listener has room for.
        while near.len() < order.connections {
            for _ in near.len()..order.connections.min(near.len() + 100) {
                let stream = TcpStream::connect(order.via)?;
                watch(&stream, 2 * near.len())?;
                near.push(stream);
            }
            while far.len() < near.len() {
                let (stream, _) = listener.accept()?;
                watch(&stream, 2 * far.len() + 1)?;
                far.push(stream);
            }
        }
        Ok(Ends { near, far, epoll })
    }
}

#[derive(Default)]
struct Latencies {
    one_way_ns: Vec<u64>,
    round_trip_ns: Vec<u64>,
}

fn main() -> Result<(), Failed> {
    let order = order()?;
    let mut ends = Ends::open(&order)?;
    std::thread::sleep(SETTLE);
    let usage = Usage::begin(order.gateway)?;
    std::thread::sleep(Duration::from_secs(order.idle_s));
    let idle = if order.idle_s > 0 { usage.share()? } else { None };
    let usage = Usage::begin(order.gateway)?;
    let (latencies, sent) = exchange(&order, &mut ends)?;
    let returned = if order.one_way { &latencies.one_way_ns } else { &latencies.round_trip_ns };
    println!(
        "{}",
        json!({
            "sent": sent, "missing": sent - returned.len(), "cpu_share": usage.share()?, "idle_cpu_share": idle,
            "one_way": quantiles(latencies.one_way_ns), "round_trip": quantiles(latencies.round_trip_ns),
        })
    );
    Ok(())
}

/// Sends, and sends back, until all is done.
fn exchange(order: &Order, ends: &mut Ends) -> Result<(Latencies, usize), Failed> {
    let begun_ns = now_ns(order.clock)?;
    let count = (order.messages_per_s * order.seconds) as usize;
    let due_ns = |number: usize| begun_ns + number as u64 * 1_000_000_000 / order.messages_per_s;
    let mut latencies = Latencies::default();
    let mut events = vec![EpollEvent::empty(); 256];
    let mut sent = 0;
    loop {
        if sent < count && due_ns(sent) <= now_ns(order.clock)? {
            (&ends.near[sent % order.connections]).write_all(&now_ns(order.clock)?.to_ne_bytes())?;
            sent += 1;
        }
        let back = if order.one_way { latencies.one_way_ns.len() } else { latencies.round_trip_ns.len() };
        let now = now_ns(order.clock)?;
        let last_ns = due_ns(count) + PATIENCE_NS;
        if back == count || now > last_ns {
            return Ok((latencies, sent));
        }
        if order.stamps {
            let next_ns = if sent < count { due_ns(sent) } else { last_ns };
            let wait = TimeSpec::from_duration(Duration::from_nanos(next_ns.saturating_sub(now)));
            ppoll(&mut [PollFd::new(ends.epoll.0.as_fd(), PollFlags::POLLIN)], Some(wait), None)?;
        }
        let met = ends.epoll.wait(&mut events, EpollTimeout::ZERO)?;
        for event in &events[..met] {
            let number = event.data() as usize;
            let is_far = number % 2 == 1;
            let mut end = if is_far { &ends.far[number / 2] } else { &ends.near[number / 2] };
            let mut buffer = [0; 64 * MESSAGE];
            let (bytes, came_ns) = receive(end, &mut buffer, order)?;
            for message in buffer[..bytes].as_chunks().0 {
                let latency_ns = came_ns.saturating_sub(u64::from_ne_bytes(*message));
                if is_far { &mut latencies.one_way_ns } else { &mut latencies.round_trip_ns }
                    .push(latency_ns);
                if is_far && !order.one_way {
                    end.write_all(&(now_ns(order.clock)? - latency_ns).to_ne_bytes())?;
                }
            }
        }
    }
}

/// So many bytes, and when they came.
fn receive(end: &TcpStream, buffer: &mut [u8], order: &Order) -> Result<(usize, u64), Failed> {
    let mut space = if order.stamps { cmsg_space!(TimeSpec) } else { Vec::new() };
    let mut parts = [IoSliceMut::new(buffer)];
    let message = recvmsg::<()>(end.as_raw_fd(), &mut parts, Some(&mut space), MsgFlags::empty())?;
    let stamp = message.cmsgs()?.find_map(|each| match each {
        ControlMessageOwned::ScmTimestampns(time) => Some(time),
        _ => None,
    });
    let came_ns = match (order.stamps, stamp) {
        (false, _) => now_ns(order.clock)?,
        (true, Some(time)) => time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64,
        (true, None) => return Err("the kernel does not stamp".into()),
    };
    match message.bytes {
        0 => Err("the gateway ended a connection".into()),
        bytes if bytes % MESSAGE == 0 => Ok((bytes, came_ns)),
        _ => Err("part of a message came".into()),
    }
}

fn quantiles(mut all: Vec<u64>) -> Value {
    all.sort_unstable();
    let at = |share: f64| all.get(((all.len() as f64 * share) as usize).min(all.len().saturating_sub(1)));
    json!({ "least": all.first(), "p50": at(0.5), "p99": at(0.99), "max": all.last() })
}
