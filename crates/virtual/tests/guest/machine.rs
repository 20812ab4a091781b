//! A guest, and its clock.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, process};

use longhaul_virtual::{
    Card, GuestCounters, GuestSpec, Guests, NetConfig, Port, Progress, TIME_SOCKET, socket_name,
};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use super::packets::{GUEST_MAC, Packet};

/// The guest's time of day at its start, in nanoseconds.
const TIME_OF_DAY: u64 = 1_767_225_600_000_000_000;
/// Longer than any guest of these tests takes in real time.
const PATIENCE: Duration = Duration::from_secs(60);
/// How far the guest runs at once.
const STEP_NS: u64 = 1_000_000;

pub struct Machine {
    kernel: Child,
    directory: PathBuf,
    guests: Guests,
    /// Virtual nanoseconds.
    now: u64,
    /// What the guest has printed on its console.
    pub printed: String,
    /// Packets that it has sent.
    pub sent: Vec<Packet>,
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
        let card = Card { config: NetConfig { mac: GUEST_MAC, mtu: 1400 }, line_bits_per_s: None };
        let mut guests = Guests::listen(
            &directory,
            vec![GuestSpec { number: 0, name: "a".to_owned(), cards: vec![card] }],
            TIME_OF_DAY,
        )
        .unwrap();
        let log = File::create(directory.join("log")).unwrap();
        let place = directory.display();
        let device = |port: Port| {
            format!(
                "virtio_uml.device={}:{}",
                directory.join(socket_name(0, port)).display(),
                port.virtio_id()
            )
        };
        let kernel = Command::new(kernel)
            .args(["mem=64M", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro"])
            .args(["con=null", "con0=null,fd:1", "con1=null", "quiet"])
            .arg(format!("init={}", init.display()))
            .arg(format!("time-travel=ext:0:{place}/{TIME_SOCKET}"))
            .args(Port::all(1).map(device))
            .env_clear()
            .env("PATH", env::var_os("PATH").unwrap_or_default())
            .env("HOME", &directory)
            .env("TMPDIR", &directory)
            .stdin(Stdio::null())
            .stderr(log.try_clone().unwrap())
            .stdout(log)
            .spawn()
            .unwrap();
        assert!(guests.wait_for_connections(PATIENCE).unwrap());
        guests.boot().unwrap();
        let deadline = Instant::now() + PATIENCE;
        Machine { kernel, directory, guests, now: 0, printed: String::new(), sent: Vec::new(), deadline }
    }

    pub fn network_features(&self) -> u64 {
        self.guests.device(0, Port::Network(0)).features()
    }

    pub fn counters(&self) -> GuestCounters {
        self.guests.counters(0)
    }

    /// Writes to the guest's console when the guest next waits.
    pub fn type_line(&mut self, line: &str) {
        self.guests.deliver(0, self.now, Port::Console, line.as_bytes());
    }

    /// Delivers a packet when the guest next waits.
    pub fn inject(&mut self, packet: &[u8]) {
        self.guests.deliver(0, self.now, Port::Network(0), packet);
    }

    /// The first packet sent for which `is_wanted` holds.
    pub fn take_sent(&mut self, is_wanted: fn(&Packet) -> bool) -> Packet {
        let at = self.sent.iter().position(is_wanted).unwrap();
        self.sent.remove(at)
    }

    /// Runs the guest until `has_come` holds.
    pub fn run_until(&mut self, what: &str, has_come: impl Fn(&Self) -> bool) {
        while !has_come(self) {
            assert!(self.guests.ended().next().is_none(), "the guest ended before {what}: {}", self.log());
            self.turn();
        }
    }

    pub fn run_until_it_ends(&mut self) {
        while self.guests.ended().next().is_none() {
            self.turn();
        }
        let status = self.kernel.wait().unwrap();
        assert!(status.success(), "{status}: {}", self.log());
    }

    fn log(&self) -> String {
        let log = fs::read(self.directory.join("log")).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        format!("at {} ns, console {:?}, kernel {log}", self.now, self.printed)
    }

    /// Lets the guest do what it does next.
    fn turn(&mut self) {
        assert!(Instant::now() < self.deadline, "the guest takes too long: {}", self.log());
        let horizon = self.guests.next_ns().unwrap_or(self.now).max(self.now) + STEP_NS;
        if self.guests.run_until(horizon, Duration::from_millis(100)).unwrap() == Progress::Reached {
            self.now = horizon;
        }
        for sent in self.guests.take_sent() {
            match sent.port {
                Port::Network(_) => self.sent.push(Packet(sent.bytes)),
                Port::Console => self.printed.push_str(str::from_utf8(&sent.bytes).unwrap()),
            }
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

/// A guest's kernel and its controller take turns; on one CPU that is fastest.
fn pin_to_one_cpu() {
    let this = Pid::from_raw(0);
    let allowed = sched_getaffinity(this).unwrap();
    let first = (0..CpuSet::count()).find(|&cpu| allowed.is_set(cpu).unwrap()).unwrap();
    let mut one = CpuSet::new();
    one.set(first).unwrap();
    sched_setaffinity(this, &one).unwrap();
}
