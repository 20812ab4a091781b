use longhaul_plan::{DelayModel, Direction, LossModel, RateModel};
use longhaul_relay::{
    Algorithm, Cluster, Error, Framing, Listener, Log, Network, Options, Path, RelayLink, Settings, Share,
    Step, Wrapper,
};
use longhaul_storage::Storage;
use longhaul_storage::faults::{Folder, folder};
use longhaul_units::{Probability, Rate, Span};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::Duration;

/// Client and server live on these; both are loopback.
pub const CLIENTS: &str = "127.0.0.1";
pub const SERVERS: &str = "127.0.0.2";

pub fn direction(delay_us: u64, bits_per_s: Option<u64>) -> Direction {
    Direction {
        delay: DelayModel::constant(Span::from_ns(delay_us * 1_000)),
        rate: bits_per_s.map_or(RateModel::Unlimited {}, |bits_per_s| {
            RateModel::constant(Rate::from_bits_per_s(bits_per_s).unwrap())
        }),
        ..Direction::default()
    }
}

pub fn lossy(probability: f64, link: Direction) -> Direction {
    Direction { loss: LossModel::Independent { probability: Probability::new(probability).unwrap() }, ..link }
}

/// Two sub-clusters with one link between them, and these listeners.
pub fn settings(forward: Direction, reverse: Direction, listeners: Vec<Listener>) -> Settings {
    let network = |text: &str| Network::try_from(format!("{text}/32")).unwrap();
    let path = |from, to, way| Path { from, to, steps: vec![Step { link: 0, way }] };
    Settings {
        version: longhaul_relay::VERSION,
        name: "test".into(),
        seed: 1,
        duration_ns: None,
        links: vec![RelayLink { name: "wan".into(), forward, reverse }],
        clusters: vec![
            Cluster { name: "near".into(), members: vec![network(CLIENTS)] },
            Cluster { name: "far".into(), members: vec![network(SERVERS)] },
        ],
        paths: vec![path(0, 1, longhaul_plan::Way::Forward), path(1, 0, longhaul_plan::Way::Reverse)],
        listeners,
        names: BTreeMap::new(),
        share: Share::Link,
        algorithm: Algorithm::OneThread,
        framing: Framing::Stream,
        inward: None,
        peers: Vec::new(),
        password: None,
        retransmit_ns: None,
        opening_ns: 15_000_000_000,
        subtract_ns: 0,
        buffer_bytes: None,
        memory_bytes: 64 << 20,
        connections: 10_000,
        events: Vec::new(),
        log: Log { messages: true, limit_bytes: 1 << 30 },
    }
}

pub fn forward(target: SocketAddr) -> Listener {
    Listener::Forward { address: any(CLIENTS), target, from: None, to: None }
}

pub fn datagrams(target: SocketAddr) -> Listener {
    Listener::Datagrams { address: any(CLIENTS), target, from: None, to: None }
}

pub fn socks() -> Listener {
    Listener::Socks { address: any(CLIENTS), from: None }
}

pub fn any(host: &str) -> SocketAddr {
    format!("{host}:0").parse().unwrap()
}

/// A relay in a thread of its own.
pub struct Running {
    pub addresses: Vec<SocketAddr>,
    pub directory: Folder,
    pub socket: PathBuf,
    stop: UnixStream,
    thread: JoinHandle<Result<Value, Error>>,
}

pub fn start(settings: Settings) -> Running {
    start_with(settings, None)
}

pub fn start_with(settings: Settings, wrapper: Option<Box<dyn Wrapper>>) -> Running {
    launch(settings, wrapper, Box::new(longhaul_storage::Disk)).unwrap_or_else(|error| panic!("{error}"))
}

/// A relay that writes to `storage`; `None` if it did not start.
pub fn try_start(settings: Settings, storage: impl Storage + 'static) -> Option<Running> {
    launch(settings, None, Box::new(storage)).ok()
}

fn launch(
    settings: Settings,
    wrapper: Option<Box<dyn Wrapper>>,
    storage: Box<dyn Storage>,
) -> Result<Running, Error> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let directory = folder(&format!("relay-{number}"));
    let socket = directory.join("socket");
    let (stop, theirs) = UnixStream::pair().unwrap();
    let options = Options {
        directory: directory.to_path_buf(),
        storage,
        socket: Some(socket.clone()),
        token: Some("right".into()),
        stop: OwnedFd::from(theirs),
        wrapper,
    };
    let (sender, ready) = channel();
    let thread = std::thread::spawn(move || {
        longhaul_relay::run(settings, options, |addresses| sender.send(addresses.to_vec()).unwrap())
    });
    match ready.recv() {
        Ok(addresses) => Ok(Running { addresses, directory, socket, stop, thread }),
        Err(_) => Err(thread.join().unwrap().unwrap_err()),
    }
}

impl Running {
    pub fn client(&self) -> TcpStream {
        let stream = TcpStream::connect(self.addresses[0]).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    /// Ends it, and gives back what it did and these files of its records.
    pub fn stop_and_read<const N: usize>(self, names: [&str; N]) -> (Value, [String; N]) {
        (&self.stop).write_all(&[1]).unwrap();
        let result = self.thread.join().unwrap().unwrap();
        let texts = names.map(|name| std::fs::read_to_string(self.directory.join("raw").join(name)).unwrap());
        (result, texts)
    }

    /// Ends it, and gives back what it did and the rows of its log of messages: (wanted, actual delay in us).
    pub fn stop(self) -> (Value, Vec<(f64, f64)>) {
        (&self.stop).write_all(&[1]).unwrap();
        let result = self.thread.join().unwrap().unwrap();
        let log = std::fs::read_to_string(self.directory.join("raw/messages.csv")).unwrap_or_default();
        let rows = log.lines().skip(1).map(|line| {
            let field: Vec<f64> = line.split(',').map(|word| word.parse().unwrap()).collect();
            (field[4] / 1e3, (field[5] - field[3]) / 1e3)
        });
        let rows = rows.collect();
        (result, rows)
    }
}

/// A server that sends each datagram back to whom it came from.
pub fn udp_echo() -> SocketAddr {
    let socket = UdpSocket::bind(any(SERVERS)).unwrap();
    let address = socket.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut buffer = vec![0; 65_536];
        while let Ok((bytes, from)) = socket.recv_from(&mut buffer) {
            let _ = socket.send_to(&buffer[..bytes], from);
        }
    });
    address
}

/// A server that does `serve` with each connection, as often as there are any while the test lasts.
pub fn server(serve: impl Fn(TcpStream) + Send + Sync + Clone + 'static) -> SocketAddr {
    let listener = TcpListener::bind(any(SERVERS)).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let serve = serve.clone();
            std::thread::spawn(move || serve(stream));
        }
    });
    address
}

pub fn echo() -> SocketAddr {
    server(|mut stream| {
        stream.set_nodelay(true).unwrap();
        let mut buffer = vec![0; 65_536];
        while let Ok(bytes @ 1..) = stream.read(&mut buffer) {
            if stream.write_all(&buffer[..bytes]).is_err() {
                return;
            }
        }
    })
}

/// Bytes that differ wherever they are.
pub fn pattern(bytes: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    std::iter::repeat_with(|| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 56) as u8
    })
    .take(bytes)
    .collect()
}

/// Writes all of it, ends that way, and returns all that comes back.
pub fn exchange(mut stream: TcpStream, data: Vec<u8>) -> Vec<u8> {
    let mut reader = stream.try_clone().unwrap();
    let writing = std::thread::spawn(move || {
        stream.write_all(&data).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
    });
    let mut back = Vec::new();
    reader.read_to_end(&mut back).unwrap();
    writing.join().unwrap();
    back
}
