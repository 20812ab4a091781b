//! SOCKS 5 (RFC 1928) with user and password (RFC 1929): both ends of the conversation, without sockets.

use crate::close_reason::CloseReason;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The user whose password is asked for.
pub const USER: &str = "longhaul";

const VERSION: u8 = 5;
const PASSWORD_VERSION: u8 = 1;
const NO_METHOD: u8 = 0xff;
const OPEN: u8 = 0;
const PASSWORD: u8 = 2;
const CONNECT: u8 = 1;

/// Where a client wants to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// An address.
    Address(SocketAddr),
    /// A name, which the gateway finds the address of.
    Name(String, u16),
}

/// What a server does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Wait for more bytes.
    More,
    /// Send these bytes and go on.
    Say(Vec<u8>),
    /// Connect to the target, then send a [`reply`].
    Connect(Target),
    /// Send these bytes and close; why.
    Refuse(Vec<u8>, CloseReason),
}

/// Why no connection came about (RFC 1928, section 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// It is there.
    Succeeded = 0,
    /// Something went wrong.
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
    /// What tells a client that a connection could not be opened.
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

/// How far a server's conversation has come.
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
    /// A conversation that has not begun; `password` is what clients must know.
    pub fn new(password: Option<String>) -> Self {
        Server { password, state: State::Greeting, bytes: Vec::new() }
    }

    /// Takes in bytes.
    pub fn hear(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// What came after the request.
    pub fn rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// What to do now; to be called until it wants more.
    pub fn step(&mut self) -> Step {
        match self.state {
            State::Greeting => self.greeting(),
            State::Password => self.check_password(),
            State::Request => self.request(),
            State::Done => Step::More,
        }
    }

    fn greeting(&mut self) -> Step {
        let [version, count, methods @ ..] = &self.bytes[..] else { return self.unless_wrong_version() };
        if *version != VERSION {
            return self.unless_wrong_version();
        }
        let count = usize::from(*count);
        if methods.len() < count {
            return Step::More;
        }
        let wanted = if self.password.is_some() { PASSWORD } else { OPEN };
        let offered = methods[..count].contains(&wanted);
        self.bytes.drain(..2 + count);
        if !offered {
            return Step::Refuse(vec![VERSION, NO_METHOD], CloseReason::NoMethod);
        }
        self.state = if wanted == PASSWORD { State::Password } else { State::Request };
        Step::Say(vec![VERSION, wanted])
    }

    fn unless_wrong_version(&self) -> Step {
        match self.bytes.first() {
            None | Some(&VERSION) => Step::More,
            Some(4) => Step::Refuse(vec![0, 91, 0, 0, 0, 0, 0, 0], CloseReason::Socks4),
            Some(_) => Step::Refuse(Vec::new(), CloseReason::NotSocks),
        }
    }

    fn check_password(&mut self) -> Step {
        let Some(&version) = self.bytes.first() else { return Step::More };
        if version != PASSWORD_VERSION {
            return Step::Refuse(vec![PASSWORD_VERSION, 1], CloseReason::NotSocks);
        }
        let field = |at: usize| -> Option<&[u8]> {
            let length = usize::from(*self.bytes.get(at)?);
            self.bytes.get(at + 1..at + 1 + length)
        };
        let Some(user) = field(1) else { return Step::More };
        let Some(word) = field(2 + user.len()) else { return Step::More };
        let expected = self.password.as_deref().unwrap_or_default();
        let right = user == USER.as_bytes() && equal(word, expected.as_bytes());
        let length = 3 + user.len() + word.len();
        self.bytes.drain(..length);
        if right {
            self.state = State::Request;
            Step::Say(vec![PASSWORD_VERSION, 0])
        } else {
            Step::Refuse(vec![PASSWORD_VERSION, 1], CloseReason::WrongPassword)
        }
    }

    fn request(&mut self) -> Step {
        let [version, command, _, kind, rest @ ..] = &self.bytes[..] else { return Step::More };
        if *version != VERSION {
            return Step::Refuse(Vec::new(), CloseReason::NotSocks);
        }
        let length = match kind {
            1 => 4,
            4 => 16,
            3 => match rest.first() {
                Some(&length) => 1 + usize::from(length),
                None => return Step::More,
            },
            _ => return Step::Refuse(reply(Reply::Failed), CloseReason::UnknownAddressType),
        };
        let Some((host, port)) = rest.split_at_checked(length) else { return Step::More };
        let [high, low, ..] = port else { return Step::More };
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
            (None, _) => return Step::Refuse(reply(Reply::Failed), CloseReason::InvalidName),
        };
        if *command != CONNECT {
            return Step::Refuse(reply(Reply::Unsupported), CloseReason::UnsupportedCommand);
        }
        self.bytes.drain(..4 + length + 2);
        self.state = State::Done;
        Step::Connect(target)
    }
}

fn address<const N: usize>(host: &[u8]) -> Option<[u8; N]> {
    host.try_into().ok()
}

/// The answer to a request.
pub fn reply(reply: Reply) -> Vec<u8> {
    vec![VERSION, reply as u8, 0, 1, 0, 0, 0, 0, 0, 0]
}

/// Whether two texts are equal, in a time that depends on the lengths alone.
pub fn equal(one: &[u8], other: &[u8]) -> bool {
    let differences = one.iter().zip(other).fold(0, |sum, (one, other)| sum | (one ^ other));
    one.len() == other.len() && differences == 0
}

/// A client's side of the conversation.
#[derive(Clone, Debug)]
pub struct Client {
    target: SocketAddr,
    password: Option<String>,
    state: State,
    bytes: Vec<u8>,
}

/// What a client does next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Wait for more bytes.
    More,
    /// Send these bytes and go on.
    Say(Vec<u8>),
    /// The connection to the target is there; these bytes came from it already.
    Connected(Vec<u8>),
    /// It is not, or the other end does not speak SOCKS.
    Failed(Reply),
}

impl Client {
    /// A conversation that asks for a connection to `target`, and what to say first.
    pub fn new(target: SocketAddr, password: Option<String>) -> (Self, Vec<u8>) {
        let method = if password.is_some() { PASSWORD } else { OPEN };
        let client = Client { target, password, state: State::Greeting, bytes: Vec::new() };
        (client, vec![VERSION, 1, method])
    }

    /// Takes in bytes.
    pub fn hear(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// What to do now; to be called until it wants more.
    pub fn step(&mut self) -> Asked {
        match self.state {
            State::Greeting | State::Password => {
                let [version, answer, ..] = self.bytes[..] else { return Asked::More };
                self.bytes.drain(..2);
                let wanted = if self.password.is_some() { PASSWORD } else { OPEN };
                let good = match self.state {
                    State::Greeting => (VERSION, wanted),
                    _ => (PASSWORD_VERSION, 0),
                };
                if (version, answer) != good {
                    self.state = State::Done;
                    return Asked::Failed(Reply::NotAllowed);
                }
                match (self.state, &self.password) {
                    (State::Greeting, Some(word)) => {
                        self.state = State::Password;
                        let mut say = vec![PASSWORD_VERSION, USER.len() as u8];
                        say.extend(USER.as_bytes());
                        say.push(word.len() as u8);
                        say.extend(word.as_bytes());
                        Asked::Say(say)
                    }
                    _ => {
                        self.state = State::Request;
                        Asked::Say(request(self.target))
                    }
                }
            }
            State::Request => self.answer(),
            State::Done => Asked::More,
        }
    }

    fn answer(&mut self) -> Asked {
        let [version, code, _, kind, rest @ ..] = &self.bytes[..] else { return Asked::More };
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
            return Asked::Failed(failed);
        }
        if rest.len() < length + 2 {
            return Asked::More;
        }
        self.bytes.drain(..4 + length + 2);
        self.state = State::Done;
        Asked::Connected(std::mem::take(&mut self.bytes))
    }
}

fn request(target: SocketAddr) -> Vec<u8> {
    let mut say = vec![VERSION, CONNECT, 0];
    match target.ip() {
        IpAddr::V4(ip) => {
            say.push(1);
            say.extend(ip.octets());
        }
        IpAddr::V6(ip) => {
            say.push(4);
            say.extend(ip.octets());
        }
    }
    say.extend(target.port().to_be_bytes());
    say
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Both ends talk until one of them is done, in chunks of so many bytes.
    fn talk(mut server: Server, target: SocketAddr, word: Option<&str>, chunk: usize) -> (Step, Asked) {
        let (mut client, mut said) = Client::new(target, word.map(str::to_owned));
        let mut wanted = None;
        loop {
            for bytes in said.chunks(chunk) {
                server.hear(bytes);
            }
            let mut answer = Vec::new();
            loop {
                match server.step() {
                    Step::More => break,
                    Step::Say(bytes) => answer.extend(bytes),
                    Step::Connect(target) => {
                        wanted = Some(Step::Connect(target));
                        answer.extend(reply(Reply::Succeeded));
                        answer.extend(b"hello");
                    }
                    Step::Refuse(bytes, why) => {
                        answer.extend(&bytes);
                        wanted = Some(Step::Refuse(bytes, why));
                        break;
                    }
                }
            }
            for bytes in answer.chunks(chunk) {
                client.hear(bytes);
            }
            match client.step() {
                Asked::Say(bytes) => said = bytes,
                asked => return (wanted.unwrap_or(Step::More), asked),
            }
        }
    }

    #[test]
    fn client_and_server_understand_each_other() {
        for target in ["127.2.0.5:5201", "[fd00::5]:22"] {
            let target: SocketAddr = target.parse().unwrap();
            for word in [None, Some("secret")] {
                for chunk in [1, 3, 100] {
                    let (step, asked) = talk(Server::new(word.map(str::to_owned)), target, word, chunk);
                    assert_eq!(step, Step::Connect(Target::Address(target)));
                    assert_eq!(asked, Asked::Connected(b"hello".to_vec()));
                }
            }
        }
    }

    #[test]
    fn a_wrong_password_is_refused() {
        let target = "10.0.0.1:1".parse().unwrap();
        let (step, asked) = talk(Server::new(Some("right".into())), target, Some("wrong"), 9);
        assert!(matches!(step, Step::Refuse(_, why) if why == CloseReason::WrongPassword));
        assert_eq!(asked, Asked::Failed(Reply::NotAllowed));
        let (step, asked) = talk(Server::new(Some("right".into())), target, None, 9);
        assert!(matches!(step, Step::Refuse(..)));
        assert_eq!(asked, Asked::Failed(Reply::NotAllowed));
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
            server.hear(&bytes);
            let mut step = server.step();
            while matches!(step, Step::Say(_)) {
                step = server.step();
            }
            assert!(matches!(step, Step::Refuse(_, why) if why == expected), "{bytes:?}: {step:?}");
        }
    }

    #[test]
    fn names_are_passed_on() {
        let mut server = Server::new(None);
        server.hear(&[5, 1, 0, 5, 1, 0, 3, 5, b'n', b'o', b'd', b'e', b'7', 0x14, 0x51, 9, 9]);
        assert_eq!(server.step(), Step::Say(vec![5, 0]));
        assert_eq!(server.step(), Step::Connect(Target::Name("node7".into(), 5201)));
        assert_eq!(server.rest(), [9, 9]);
    }

    proptest! {
        #[test]
        fn garbage_ends_or_waits_and_never_panics(chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..8)) {
            let mut server = Server::new(Some("word".into()));
            let (mut client, _) = Client::new("10.0.0.1:1".parse().unwrap(), Some("word".into()));
            for chunk in chunks {
                server.hear(&chunk);
                client.hear(&chunk);
                for _ in 0..4 {
                    let _ = (server.step(), client.step());
                }
            }
        }
    }
}
