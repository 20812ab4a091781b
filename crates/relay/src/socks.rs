//! SOCKS 5 (RFC 1928) with user and password (RFC 1929): both sides of the protocol, without sockets.

use crate::close_reason::CloseReason;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The user whose password is requested.
pub const USER: &str = "longhaul";

const VERSION: u8 = 5;
const PASSWORD_VERSION: u8 = 1;
const NO_METHOD: u8 = 0xff;
const OPEN: u8 = 0;
const PASSWORD: u8 = 2;
const CONNECT: u8 = 1;

/// The target that a client requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// An address.
    Address(SocketAddr),
    /// A name, which the gateway resolves.
    Name(String, u16),
}

/// What a server does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerStep {
    /// Wait for more bytes.
    Receive,
    /// Send these bytes and call [`step`](Server::step) again.
    Send(Vec<u8>),
    /// Connect to the target, then send a [`reply`].
    Connect(Target),
    /// Send these bytes and close the connection for this reason.
    Refuse(Vec<u8>, CloseReason),
}

/// The reply to a request (RFC 1928, section 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The connection is open.
    Succeeded = 0,
    /// A general failure.
    Failed = 1,
    /// There is no path between these sub-clusters.
    NotAllowed = 2,
    /// The host cannot be reached.
    HostUnreachable = 4,
    /// The target refused.
    Refused = 5,
    /// Only CONNECT is understood.
    Unsupported = 7,
}

impl Reply {
    /// The reply for an error of connect(2).
    pub fn of_error(error: &io::Error) -> Self {
        match error.kind() {
            ErrorKind::ConnectionRefused => Reply::Refused,
            ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable | ErrorKind::TimedOut => {
                Reply::HostUnreachable
            }
            _ => Reply::Failed,
        }
    }
}

/// The server's side of the protocol.
#[derive(Clone, Debug)]
pub struct Server {
    password: Option<String>,
    state: State,
    bytes: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Greeting,
    Password,
    Request,
    Done,
}

impl Server {
    /// The side before the first byte; `password` is that of clients, if they need one.
    pub fn new(password: Option<String>) -> Self {
        Server { password, state: State::Greeting, bytes: Vec::new() }
    }

    /// Takes bytes that were received.
    pub fn receive(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Bytes after the request.
    pub fn take_remaining(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// The next step; to be called until it is to receive more.
    pub fn step(&mut self) -> ServerStep {
        match self.state {
            State::Greeting => self.greeting(),
            State::Password => self.check_password(),
            State::Request => self.request(),
            State::Done => ServerStep::Receive,
        }
    }

    fn greeting(&mut self) -> ServerStep {
        let [version, count, methods @ ..] = &self.bytes[..] else { return self.receive_or_refuse() };
        if *version != VERSION {
            return self.receive_or_refuse();
        }
        let count = usize::from(*count);
        if methods.len() < count {
            return ServerStep::Receive;
        }
        let method = if self.password.is_some() { PASSWORD } else { OPEN };
        let offered = methods[..count].contains(&method);
        self.bytes.drain(..2 + count);
        if !offered {
            return ServerStep::Refuse(vec![VERSION, NO_METHOD], CloseReason::NoMethod);
        }
        self.state = if method == PASSWORD { State::Password } else { State::Request };
        ServerStep::Send(vec![VERSION, method])
    }

    fn receive_or_refuse(&self) -> ServerStep {
        match self.bytes.first() {
            None | Some(&VERSION) => ServerStep::Receive,
            Some(4) => ServerStep::Refuse(vec![0, 91, 0, 0, 0, 0, 0, 0], CloseReason::Socks4),
            Some(_) => ServerStep::Refuse(Vec::new(), CloseReason::NotSocks),
        }
    }

    fn check_password(&mut self) -> ServerStep {
        let Some(&version) = self.bytes.first() else { return ServerStep::Receive };
        if version != PASSWORD_VERSION {
            return ServerStep::Refuse(vec![PASSWORD_VERSION, 1], CloseReason::NotSocks);
        }
        let field = |at: usize| -> Option<&[u8]> {
            let length = usize::from(*self.bytes.get(at)?);
            self.bytes.get(at + 1..at + 1 + length)
        };
        let Some(user) = field(1) else { return ServerStep::Receive };
        let Some(password) = field(2 + user.len()) else { return ServerStep::Receive };
        let expected = self.password.as_deref().unwrap_or_default();
        let right = user == USER.as_bytes() && equal(password, expected.as_bytes());
        let length = 3 + user.len() + password.len();
        self.bytes.drain(..length);
        if right {
            self.state = State::Request;
            ServerStep::Send(vec![PASSWORD_VERSION, 0])
        } else {
            ServerStep::Refuse(vec![PASSWORD_VERSION, 1], CloseReason::WrongPassword)
        }
    }

    fn request(&mut self) -> ServerStep {
        let [version, command, _, kind, rest @ ..] = &self.bytes[..] else { return ServerStep::Receive };
        if *version != VERSION {
            return ServerStep::Refuse(Vec::new(), CloseReason::NotSocks);
        }
        let length = match kind {
            1 => 4,
            4 => 16,
            3 => match rest.first() {
                Some(&length) => 1 + usize::from(length),
                None => return ServerStep::Receive,
            },
            _ => return ServerStep::Refuse(reply(Reply::Failed), CloseReason::UnknownAddressType),
        };
        let Some((host, port)) = rest.split_at_checked(length) else { return ServerStep::Receive };
        let [high, low, ..] = port else { return ServerStep::Receive };
        let port = u16::from_be_bytes([*high, *low]);
        let target = match kind {
            1 => address(host).map(|address: [u8; 4]| IpAddr::V4(Ipv4Addr::from(address))),
            4 => address(host).map(|address: [u8; 16]| IpAddr::V6(Ipv6Addr::from(address))),
            _ => None,
        };
        let target = match (target, std::str::from_utf8(host.get(1..).unwrap_or_default())) {
            (Some(ip), _) => Target::Address(SocketAddr::new(ip, port)),
            (None, Ok(name)) if !name.is_empty() && *kind == 3 => match name.parse::<IpAddr>() {
                Ok(ip) => Target::Address(SocketAddr::new(ip, port)),
                Err(_) => Target::Name(name.to_owned(), port),
            },
            (None, _) => return ServerStep::Refuse(reply(Reply::Failed), CloseReason::InvalidName),
        };
        if *command != CONNECT {
            return ServerStep::Refuse(reply(Reply::Unsupported), CloseReason::UnsupportedCommand);
        }
        self.bytes.drain(..4 + length + 2);
        self.state = State::Done;
        ServerStep::Connect(target)
    }
}

fn address<const N: usize>(host: &[u8]) -> Option<[u8; N]> {
    host.try_into().ok()
}

/// The bytes of a reply.
pub fn reply(reply: Reply) -> Vec<u8> {
    vec![VERSION, reply as u8, 0, 1, 0, 0, 0, 0, 0, 0]
}

/// Whether two texts are equal, in a time that depends on the lengths alone.
pub fn equal(one: &[u8], other: &[u8]) -> bool {
    let differences = one.iter().zip(other).fold(0, |sum, (one, other)| sum | (one ^ other));
    one.len() == other.len() && differences == 0
}

/// The client's side of the protocol.
#[derive(Clone, Debug)]
pub struct Client {
    target: SocketAddr,
    password: Option<String>,
    state: State,
    bytes: Vec<u8>,
}

/// What a client does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientStep {
    /// Wait for more bytes.
    Receive,
    /// Send these bytes and call [`step`](Server::step) again.
    Send(Vec<u8>),
    /// The connection to the target is open; these bytes have already arrived from it.
    Connected(Vec<u8>),
    /// The connection is not open, or the other end does not use SOCKS.
    Failed(Reply),
}

impl Client {
    /// The side that requests a connection to `target`, and its first bytes.
    pub fn new(target: SocketAddr, password: Option<String>) -> (Self, Vec<u8>) {
        let method = if password.is_some() { PASSWORD } else { OPEN };
        let client = Client { target, password, state: State::Greeting, bytes: Vec::new() };
        (client, vec![VERSION, 1, method])
    }

    /// Takes bytes that were received.
    pub fn receive(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next step; to be called until it is to receive more.
    pub fn step(&mut self) -> ClientStep {
        match self.state {
            State::Greeting | State::Password => {
                let [version, answer, ..] = self.bytes[..] else { return ClientStep::Receive };
                self.bytes.drain(..2);
                let method = if self.password.is_some() { PASSWORD } else { OPEN };
                let good = match self.state {
                    State::Greeting => (VERSION, method),
                    _ => (PASSWORD_VERSION, 0),
                };
                if (version, answer) != good {
                    self.state = State::Done;
                    return ClientStep::Failed(Reply::NotAllowed);
                }
                if let (State::Greeting, Some(password)) = (self.state, &self.password) {
                    self.state = State::Password;
                    let mut bytes = vec![PASSWORD_VERSION, USER.len() as u8];
                    bytes.extend(USER.as_bytes());
                    bytes.push(password.len() as u8);
                    bytes.extend(password.as_bytes());
                    ClientStep::Send(bytes)
                } else {
                    self.state = State::Request;
                    ClientStep::Send(request(self.target))
                }
            }
            State::Request => self.answer(),
            State::Done => ClientStep::Receive,
        }
    }

    fn answer(&mut self) -> ClientStep {
        let [version, code, _, kind, rest @ ..] = &self.bytes[..] else { return ClientStep::Receive };
        let length = match kind {
            1 => 4,
            4 => 16,
            _ => 1 + rest.first().copied().map_or(0, usize::from),
        };
        if *version != VERSION || *code != 0 {
            let failed = match code {
                2 => Reply::NotAllowed,
                3 | 4 => Reply::HostUnreachable,
                5 => Reply::Refused,
                _ => Reply::Failed,
            };
            self.state = State::Done;
            return ClientStep::Failed(failed);
        }
        if rest.len() < length + 2 {
            return ClientStep::Receive;
        }
        self.bytes.drain(..4 + length + 2);
        self.state = State::Done;
        ClientStep::Connected(std::mem::take(&mut self.bytes))
    }
}

fn request(target: SocketAddr) -> Vec<u8> {
    let mut bytes = vec![VERSION, CONNECT, 0];
    match target.ip() {
        IpAddr::V4(ip) => {
            bytes.push(1);
            bytes.extend(ip.octets());
        }
        IpAddr::V6(ip) => {
            bytes.push(4);
            bytes.extend(ip.octets());
        }
    }
    bytes.extend(target.port().to_be_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Connects both sides in chunks of `chunk` bytes until one is done; returns the last steps of both.
    fn exchange(
        mut server: Server,
        target: SocketAddr,
        password: Option<&str>,
        chunk: usize,
    ) -> (ServerStep, ClientStep) {
        let (mut client, mut said) = Client::new(target, password.map(str::to_owned));
        let mut result = None;
        loop {
            for bytes in said.chunks(chunk) {
                server.receive(bytes);
            }
            let mut answer = Vec::new();
            loop {
                match server.step() {
                    ServerStep::Receive => break,
                    ServerStep::Send(bytes) => answer.extend(bytes),
                    ServerStep::Connect(target) => {
                        result = Some(ServerStep::Connect(target));
                        answer.extend(reply(Reply::Succeeded));
                        answer.extend(b"hello");
                    }
                    ServerStep::Refuse(bytes, why) => {
                        answer.extend(&bytes);
                        result = Some(ServerStep::Refuse(bytes, why));
                        break;
                    }
                }
            }
            for bytes in answer.chunks(chunk) {
                client.receive(bytes);
            }
            match client.step() {
                ClientStep::Send(bytes) => said = bytes,
                last => return (result.unwrap_or(ServerStep::Receive), last),
            }
        }
    }

    #[test]
    fn client_and_server_agree_on_the_target() {
        for target in ["127.2.0.5:5201", "[fd00::5]:22"] {
            let target: SocketAddr = target.parse().unwrap();
            for password in [None, Some("secret")] {
                for chunk in [1, 3, 100] {
                    let (server, client) =
                        exchange(Server::new(password.map(str::to_owned)), target, password, chunk);
                    assert_eq!(server, ServerStep::Connect(Target::Address(target)));
                    assert_eq!(client, ClientStep::Connected(b"hello".to_vec()));
                }
            }
        }
    }

    #[test]
    fn a_wrong_password_is_refused() {
        let target = "10.0.0.1:1".parse().unwrap();
        let (server, client) = exchange(Server::new(Some("right".into())), target, Some("wrong"), 9);
        assert!(matches!(server, ServerStep::Refuse(_, why) if why == CloseReason::WrongPassword));
        assert_eq!(client, ClientStep::Failed(Reply::NotAllowed));
        let (server, client) = exchange(Server::new(Some("right".into())), target, None, 9);
        assert!(matches!(server, ServerStep::Refuse(..)));
        assert_eq!(client, ClientStep::Failed(Reply::NotAllowed));
    }

    #[test]
    fn each_wrong_request_is_refused_for_its_own_reason() {
        let request = |rest: &[u8]| [&[5, 1, 0, 5][..], rest].concat();
        for (password, bytes, expected) in [
            (None, vec![4], CloseReason::Socks4),
            (None, b"GET / HTTP/1.1".to_vec(), CloseReason::NotSocks),
            (None, vec![5, 1, PASSWORD], CloseReason::NoMethod),
            (Some("word"), vec![5, 1, OPEN], CloseReason::NoMethod),
            (Some("word"), vec![5, 1, PASSWORD, 9], CloseReason::NotSocks),
            (Some("word"), vec![5, 1, PASSWORD, 1, 1, b'a', 1, b'b'], CloseReason::WrongPassword),
            (None, vec![5, 1, 0, 6, 1, 0, 1], CloseReason::NotSocks),
            (None, request(&[1, 0, 2]), CloseReason::UnknownAddressType),
            (None, request(&[1, 0, 3, 0, 0, 80]), CloseReason::InvalidName),
            (None, request(&[1, 0, 3, 2, 0xff, 0xfe, 0, 80]), CloseReason::InvalidName),
            (None, request(&[2, 0, 1, 127, 0, 0, 1, 0, 80]), CloseReason::UnsupportedCommand),
        ] {
            let mut server = Server::new(password.map(str::to_owned));
            server.receive(&bytes);
            let mut step = server.step();
            while matches!(step, ServerStep::Send(_)) {
                step = server.step();
            }
            assert!(matches!(step, ServerStep::Refuse(_, why) if why == expected), "{bytes:?}: {step:?}");
        }
    }

    #[test]
    fn names_are_passed_on() {
        let mut server = Server::new(None);
        server.receive(&[5, 1, 0, 5, 1, 0, 3, 5, b'n', b'o', b'd', b'e', b'7', 0x14, 0x51, 9, 9]);
        assert_eq!(server.step(), ServerStep::Send(vec![5, 0]));
        assert_eq!(server.step(), ServerStep::Connect(Target::Name("node7".into(), 5201)));
        assert_eq!(server.take_remaining(), [9, 9]);
    }

    proptest! {
        #[test]
        fn garbage_ends_or_waits_and_never_panics(chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..8)) {
            let mut server = Server::new(Some("word".into()));
            let (mut client, _) = Client::new("10.0.0.1:1".parse().unwrap(), Some("word".into()));
            for chunk in chunks {
                server.receive(&chunk);
                client.receive(&chunk);
                for _ in 0..4 {
                    let _ = (server.step(), client.step());
                }
            }
        }
    }
}
