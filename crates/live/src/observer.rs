//! A process beside the engine that reads what the kernel says of the hosts' TCP connections.
//!
//! It has the lowest priority, and it takes no more than a hundredth of a processor: where a look at all
//! hosts takes long, it looks less often.

use crate::clock::{Clock, processor_ns};
use crate::engine::{Command, Control};
use crate::error::{Error, Result};
use crate::host::Host;
use crate::sockets::{Diagnosis, SOCKET_COLUMNS};
use longhaul_record::Table;
use longhaul_storage::{Appender, Disk, replace};
use nix::sched::{CloneFlags, setns};
use serde_json::json;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::Path;

/// After a look that took some time, so many times that time passes without one.
const REST: u64 = 99;
/// The kernel's lowest ordinary priority.
const NICE: libc::c_int = 19;

/// Writes `raw/sockets.csv`, a row for each connection every `every_ns`, until the supervisor says stop, and
/// then `raw/observer.json`. The calling process must have one thread.
pub fn run(hosts: &[Option<Host>], control: UnixStream, every_ns: u64, directory: &Path) -> Result<()> {
    // SAFETY: plain system call on this process.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, NICE) };
    let mut watched = Vec::new();
    for host in hosts.iter().flatten() {
        setns(host.namespaces.net(), CloneFlags::CLONE_NEWNET)
            .map_err(|error| Error::wrap("enter a host", error))?;
        watched.push((host.name.as_str(), Diagnosis::open()?));
    }
    let failed = |error| Error::wrap("write sockets.csv", error);
    let file = Appender::create(&Disk, &directory.join("raw/sockets.csv")).map_err(failed)?;
    let mut table = Table::new(file, &SOCKET_COLUMNS).map_err(failed)?;
    let mut control = Control::new(control)?;
    let Some(clock) = control.wait_for_start()? else { return Ok(()) };
    let mut looks = Looks { every_ns, next_ns: 0, count: 0, longest_ns: 0, total_ns: 0 };
    loop {
        wait(&control, looks.next_ns.saturating_sub(clock.ns()));
        let stopped = control.commands()?.iter().any(|command| matches!(command, Command::Stop {}));
        if !stopped && clock.ns() < looks.next_ns {
            continue;
        }
        let began_ns = processor_ns();
        look(&mut watched, clock, &mut table).map_err(failed)?;
        if stopped {
            break;
        }
        looks.note(clock.ns(), processor_ns() - began_ns);
    }
    let text = format!("{:#}\n", looks.result());
    replace(&Disk, &directory.join("raw/observer.json"), text.as_bytes())
        .map_err(|error| Error::wrap("write observer.json", error))
}

/// Reads the connections of all hosts.
fn look(hosts: &mut [(&str, Diagnosis)], clock: Clock, table: &mut Table<impl Write>) -> std::io::Result<()> {
    for (host, diagnosis) in hosts {
        let t_ns = clock.ns();
        let mut written = Ok(());
        diagnosis.read(|socket| {
            if written.is_ok() {
                written = socket.write(t_ns, host, table);
            }
        })?;
        written?;
    }
    // Whoever watches the run reads along.
    table.flush()
}

/// When to look, and how long it took.
struct Looks {
    every_ns: u64,
    next_ns: u64,
    count: u64,
    longest_ns: u64,
    total_ns: u64,
}

impl Looks {
    fn note(&mut self, now_ns: u64, took_ns: u64) {
        self.count += 1;
        self.total_ns += took_ns;
        self.longest_ns = self.longest_ns.max(took_ns);
        let earliest_ns = now_ns + REST * took_ns;
        self.next_ns = (earliest_ns / self.every_ns + 1) * self.every_ns;
    }

    fn result(&self) -> serde_json::Value {
        json!({
            "every_ns": self.every_ns,
            "looks": self.count,
            "mean_ns": self.total_ns / self.count.max(1),
            "longest_ns": self.longest_ns,
        })
    }
}

/// Waits for the supervisor to speak, or for so long.
fn wait(control: &Control, ns: u64) {
    let mut watched = libc::pollfd { fd: control.fd().as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let timeout = libc::timespec {
        tv_sec: (ns / 1_000_000_000) as libc::time_t,
        tv_nsec: (ns % 1_000_000_000) as libc::c_long,
    };
    // SAFETY: all structures outlive the call.
    unsafe { libc::ppoll(&mut watched, 1, &timeout, std::ptr::null()) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looking_takes_a_hundredth_of_the_time_at_most() {
        let mut looks = Looks { every_ns: 10_000_000, next_ns: 0, count: 0, longest_ns: 0, total_ns: 0 };
        looks.note(20_050_000, 50_000);
        assert_eq!(looks.next_ns, 30_000_000, "50 us of 10 ms are little");
        looks.note(31_000_000, 1_000_000);
        assert_eq!(looks.next_ns, 140_000_000, "1 ms is followed by 99");
    }
}
