//! A guest, its devices, and the smallest controller of its clock (`linux/um_timetravel.h`).

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{IoSlice, Read, Write};
use std::mem;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, process};

use longhaul_virtual::vhost::{Chain, Device, Kind, NetConfig, Queue, Received, Reply};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::sys::socket::{ControlMessage, MsgFlags, sendmsg};
use nix::unistd::Pid;

use super::packets::{GUEST_MAC, Packet};

const ACK: u32 = 0;
const START: u32 = 1;
const REQUEST: u32 = 2;
const WAIT: u32 = 3;
const GET: u32 = 4;
const UPDATE: u32 = 5;
const RUN: u32 = 6;
const GET_TOD: u32 = 8;
/// The guest's time of day at its start, in nanoseconds.
const TIME_OF_DAY: u64 = 1_767_225_600_000_000_000;
/// Longer than any guest of these tests takes in real time.
const PATIENCE: Duration = Duration::from_secs(60);

const NETWORK: usize = 0;
const CONSOLE: usize = 1;

pub struct Machine {
    kernel: Child,
    directory: PathBuf,
    listeners: [UnixListener; 3],
    clock: Option<UnixStream>,
    devices: [Device; 2],
    /// Virtual nanoseconds, and when the guest wants to run next.
    now: u64,
    wanted: Option<u64>,
    is_waiting: bool,
    /// What the guest has printed on its console.
    pub printed: String,
    /// Packets that it has sent.
    pub sent: Vec<Packet>,
    typed: Vec<u8>,
    injected: Vec<Vec<u8>>,
    /// Sent chains that the network interface has not completed.
    chains: Vec<Chain>,
    deadline: Instant,
}

impl Machine {
    /// Boots `kernel` with `script` as its init.
    pub fn boot(kernel: &OsStr, script: &str) -> Self {
        pin_to_one_cpu();
        let directory = env::temp_dir().join(format!("longhaul-guest-{}", process::id()));
        fs::create_dir_all(&directory).unwrap();
        let init = directory.join("init");
        fs::write(&init, format!("#!/bin/bash\n{script}")).unwrap();
        fs::set_permissions(&init, fs::Permissions::from_mode(0o755)).unwrap();
        let listeners =
            ["clock", "eth0", "hvc0"].map(|name| UnixListener::bind(directory.join(name)).unwrap());
        let log = File::create(directory.join("log")).unwrap();
        let place = directory.display();
        let kernel = Command::new(kernel)
            .args(["mem=64M", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro"])
            .args(["con=null", "con0=null,fd:1", "con1=null", "quiet"])
            .arg(format!("init={}", init.display()))
            .arg(format!("time-travel=ext:0:{place}/clock"))
            .arg(format!("virtio_uml.device={place}/eth0:1"))
            .arg(format!("virtio_uml.device={place}/hvc0:3"))
            .env_clear()
            .env("PATH", env::var_os("PATH").unwrap_or_default())
            .env("HOME", &directory)
            .env("TMPDIR", &directory)
            .stdin(Stdio::null())
            .stderr(log.try_clone().unwrap())
            .stdout(log)
            .spawn()
            .unwrap();
        let network = Kind::Net(NetConfig { mac: GUEST_MAC, mtu: 1400 });
        Machine {
            kernel,
            directory,
            listeners,
            clock: None,
            devices: [
                Device::new(network, "eth0 of the guest".to_owned()),
                Device::new(Kind::Console, "console of the guest".to_owned()),
            ],
            now: 0,
            wanted: None,
            is_waiting: false,
            printed: String::new(),
            sent: Vec::new(),
            typed: Vec::new(),
            injected: Vec::new(),
            chains: Vec::new(),
            deadline: Instant::now() + PATIENCE,
        }
    }

    pub fn network_features(&self) -> u64 {
        self.devices[NETWORK].features()
    }

    pub fn is_connected(&self) -> bool {
        self.devices.iter().any(|device| device.frontend().is_some() || device.requests().is_some())
    }

    /// Writes to the guest's console when the guest next waits.
    pub fn type_line(&mut self, line: &str) {
        self.typed.extend(line.bytes());
    }

    /// Delivers a packet when the guest next waits.
    pub fn inject(&mut self, packet: Vec<u8>) {
        self.injected.push(packet);
    }

    /// The first packet sent for which `is_wanted` holds.
    pub fn take_sent(&mut self, is_wanted: fn(&Packet) -> bool) -> Packet {
        let at = self.sent.iter().position(is_wanted).unwrap();
        self.sent.remove(at)
    }

    /// Runs the guest until `has_come` holds.
    pub fn run_until(&mut self, what: &str, has_come: impl Fn(&Self) -> bool) {
        while !has_come(self) {
            assert!(self.turn(), "the guest ended before {what} at {} ns: {}", self.now, self.log());
        }
    }

    pub fn run_until_it_ends(&mut self) {
        while self.turn() {}
        let status = self.kernel.wait().unwrap();
        assert!(status.success(), "{status}: {}", self.log());
    }

    fn log(&self) -> String {
        let log = fs::read(self.directory.join("log")).unwrap_or_default();
        format!("console {:?}, kernel {}", self.printed, String::from_utf8_lossy(&log))
    }

    /// Waits for what the guest does next; false when it has ended and all its connections are closed.
    fn turn(&mut self) -> bool {
        assert!(Instant::now() < self.deadline, "the guest takes too long: {}", self.log());
        self.advance();
        let clock = self.clock.as_ref().map(AsFd::as_fd);
        let [network, console] = &self.devices;
        let devices = [network.frontend(), console.frontend(), network.requests(), console.requests()];
        let sources: Vec<_> = [clock].into_iter().chain(devices).enumerate().collect();
        let listeners = self.listeners.iter().map(AsFd::as_fd).enumerate().map(|(at, fd)| (5 + at, fd));
        let open = sources.into_iter().filter_map(|(at, fd)| Some((at, fd?))).chain(listeners);
        let (places, mut polled): (Vec<_>, Vec<_>) =
            open.map(|(at, fd)| (at, PollFd::new(fd, PollFlags::POLLIN))).unzip();
        poll(&mut polled, PollTimeout::from(100_u8)).unwrap();
        let ready: Vec<_> =
            polled.iter().zip(places).filter(|(fd, _)| fd.any().unwrap_or(false)).map(|(_, at)| at).collect();
        for at in ready {
            match at {
                0 => self.on_clock(),
                1 | 2 => self.on_message(at - 1),
                3 | 4 => assert_ne!(self.devices[at - 3].receive_reply().unwrap(), Reply::Incomplete),
                5 => self.clock = Some(self.listeners[0].accept().unwrap().0),
                _ => self.devices[at - 6].connect(self.listeners[at - 5].accept().unwrap().0),
            }
        }
        let has_ended = self.kernel.try_wait().unwrap().is_some();
        !has_ended || self.clock.is_some() || self.is_connected()
    }

    /// Lets a guest that waits see what is due for it, or else run on at the time that it wants.
    fn advance(&mut self) {
        let is_interrupted = self.devices.iter().any(|device| device.unanswered_interrupts() > 0);
        if !self.is_waiting || is_interrupted || self.deliver() {
            return;
        }
        if let Some(time) = self.wanted.take() {
            self.now = time.max(self.now);
            self.is_waiting = false;
            self.tell(RUN, 0, self.now);
        }
    }

    /// Delivers what is due; returns whether an interrupt is on its way.
    fn deliver(&mut self) -> bool {
        let [network, console] = &mut self.devices;
        let mut interrupted = false;
        if !self.chains.is_empty() {
            self.chains.drain(..).for_each(|chain| network.give_back(chain).unwrap());
            interrupted |= network.interrupt(Queue::Transmit).unwrap();
        }
        if !self.injected.is_empty() {
            for packet in self.injected.drain(..) {
                assert!(network.deliver(&[IoSlice::new(&packet)]).unwrap());
            }
            interrupted |= network.interrupt(Queue::Receive).unwrap();
        }
        if !self.typed.is_empty() && console.deliver(&[IoSlice::new(&self.typed)]).unwrap() {
            self.typed.clear();
            interrupted |= console.interrupt(Queue::Receive).unwrap();
        }
        interrupted
    }

    fn on_message(&mut self, at: usize) {
        let device = &mut self.devices[at];
        let Received::Kicked(kick) = device.receive().unwrap() else { return };
        let mut buffer = Vec::new();
        while let Some(chain) = device.take_sent(&mut buffer).unwrap() {
            if at == CONSOLE {
                self.printed.push_str(str::from_utf8(&buffer).unwrap());
                device.give_back(chain).unwrap();
            } else {
                self.sent.push(Packet(mem::take(&mut buffer)));
                self.chains.push(chain);
            }
        }
        device.answer(kick).unwrap();
    }

    fn on_clock(&mut self) {
        let mut message = [0; 16];
        let clock = self.clock.as_mut().unwrap();
        if clock.read_exact(&mut message).is_err() {
            self.clock = None;
            return;
        }
        let [o0, o1, o2, o3, s0, s1, s2, s3, time @ ..] = message;
        let (operation, time) = (u32::from_ne_bytes([o0, o1, o2, o3]), u64::from_ne_bytes(time));
        let sequence = u32::from_ne_bytes([s0, s1, s2, s3]);
        let mut answer = 0;
        match operation {
            ACK => return,
            START => return self.acknowledge_start(sequence),
            REQUEST => self.wanted = Some(time),
            WAIT => self.is_waiting = true,
            GET => answer = self.now,
            UPDATE => self.now = time,
            GET_TOD => answer = TIME_OF_DAY + self.now,
            other => panic!("operation {other}"),
        }
        self.tell(ACK, sequence, answer);
    }

    /// The answer to START carries descriptors of shared memory and of a log. That of a device means: there are none.
    fn acknowledge_start(&mut self, sequence: u32) {
        let null = File::options().read(true).write(true).open("/dev/null").unwrap();
        let message = clock_message(ACK, sequence, 0);
        let descriptors = [null.as_raw_fd(); 2];
        let rights = [ControlMessage::ScmRights(&descriptors)];
        let clock = self.clock.as_ref().unwrap().as_raw_fd();
        sendmsg::<()>(clock, &[IoSlice::new(&message)], &rights, MsgFlags::empty(), None).unwrap();
    }

    fn tell(&mut self, operation: u32, sequence: u32, time: u64) {
        if let Some(clock) = &mut self.clock {
            // A guest that has just ended is noticed by the next read.
            let _ = clock.write_all(&clock_message(operation, sequence, time));
        }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = self.kernel.kill();
        let _ = self.kernel.wait();
        let _ = fs::remove_dir_all(&self.directory);
    }
}

fn clock_message(operation: u32, sequence: u32, time: u64) -> [u8; 16] {
    let mut message = [0; 16];
    message[..4].copy_from_slice(&operation.to_ne_bytes());
    message[4..8].copy_from_slice(&sequence.to_ne_bytes());
    message[8..].copy_from_slice(&time.to_ne_bytes());
    message
}

/// A guest's kernel and its controller take turns; on one CPU that is fastest.
fn pin_to_one_cpu() {
    let this = Pid::from_raw(0);
    let allowed = sched_getaffinity(this).unwrap();
    let first = (0..CpuSet::count()).find(|&cpu| allowed.is_set(cpu).unwrap()).unwrap();
    let mut one = CpuSet::new();
    one.set(first).unwrap();
    sched_setaffinity(this, &one).unwrap();
}
