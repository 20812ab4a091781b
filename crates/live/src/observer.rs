//! A process that samples the kernel's statistics of the hosts' TCP connections.
//!
//! It has the lowest priority and uses at most a hundredth of a processor: where a sample of all hosts takes long, it
//! samples less often.

use crate::clock::{Clock, processor_ns};
use crate::engine::{Command, Control};
use crate::error::{Error, Result};
use crate::host::Host;
use crate::readiness::wait_readable;
use crate::sockets::{SOCKET_COLUMNS, SocketDiag};
use crate::sys::scheduler;
use longhaul_record::Table;
use longhaul_storage::{Appender, Disk, replace};
use nix::sched::{CloneFlags, setns};
use serde_json::json;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::Path;

/// Idle time after a sample, as a multiple of the sample's CPU time.
const IDLE_FACTOR: u64 = 99;
/// The kernel's lowest ordinary priority.
const NICE: libc::c_int = 19;

/// Writes `raw/sockets.csv`, a row for each connection every `every_ns`, until the supervisor sends stop, and
/// then `raw/observer.json`. The calling process must have one thread.
pub fn run(hosts: &[Option<Host>], control: UnixStream, every_ns: u64, directory: &Path) -> Result<()> {
    scheduler::set_nice(NICE);
    let mut watched = Vec::new();
    for host in hosts.iter().flatten() {
        setns(host.namespaces.net(), CloneFlags::CLONE_NEWNET)
            .map_err(|error| Error::wrap("enter a host", error))?;
        watched.push((host.name.as_str(), SocketDiag::open()?));
    }
    let failed = |error| Error::wrap("write sockets.csv", error);
    let file = Appender::create(&Disk, &directory.join("raw/sockets.csv")).map_err(failed)?;
    let mut table = Table::new(file, &SOCKET_COLUMNS).map_err(failed)?;
    let mut control = Control::new(control);
    let Some(clock) = control.wait_for_start()? else { return Ok(()) };
    let mut sampling = Sampling { every_ns, next_ns: 0, count: 0, longest_ns: 0, total_ns: 0 };
    loop {
        wait_readable(control.fd(), sampling.next_ns.saturating_sub(clock.ns()));
        let stopped = control.commands()?.iter().any(|command| matches!(command, Command::Stop {}));
        if !stopped && clock.ns() < sampling.next_ns {
            continue;
        }
        let began_ns = processor_ns();
        sample(&mut watched, clock, &mut table).map_err(failed)?;
        if stopped {
            break;
        }
        sampling.record(clock.ns(), processor_ns() - began_ns);
    }
    let text = format!("{:#}\n", sampling.result());
    replace(&Disk, &directory.join("raw/observer.json"), text.as_bytes())
        .map_err(|error| Error::wrap("write observer.json", error))
}

/// Reads the connections of all hosts.
fn sample(
    hosts: &mut [(&str, SocketDiag)],
    clock: Clock,
    table: &mut Table<impl Write>,
) -> std::io::Result<()> {
    for (host, socket_diag) in hosts {
        let t_ns = clock.ns();
        let mut written = Ok(());
        socket_diag.read(|socket| {
            if written.is_ok() {
                written = socket.write(t_ns, host, table);
            }
        })?;
        written?;
    }
    // For readers of the growing file.
    table.flush()
}

/// When to sample, and how long samples took.
struct Sampling {
    every_ns: u64,
    next_ns: u64,
    count: u64,
    longest_ns: u64,
    total_ns: u64,
}

impl Sampling {
    fn record(&mut self, now_ns: u64, took_ns: u64) {
        self.count += 1;
        self.total_ns += took_ns;
        self.longest_ns = self.longest_ns.max(took_ns);
        let earliest_ns = now_ns + IDLE_FACTOR * took_ns;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_take_a_hundredth_of_the_time_at_most() {
        let mut sampling =
            Sampling { every_ns: 10_000_000, next_ns: 0, count: 0, longest_ns: 0, total_ns: 0 };
        sampling.record(20_050_000, 50_000);
        assert_eq!(sampling.next_ns, 30_000_000, "50 us of 10 ms are little");
        sampling.record(31_000_000, 1_000_000);
        assert_eq!(sampling.next_ns, 140_000_000, "1 ms is followed by 99");
    }
}
