//! A network that is divided among engine threads, each with its own ports. The supervisor sees one engine.

use super::control::{Command, Control, Reply};
use super::own_traffic::OwnTraffic;
use super::{EnginePorts, Share, run};
use crate::clock::monotonic_ns;
use crate::error::{Error, Result};
use crate::readiness::readable;
use crate::tunnel::{Tunnel, shard_name};
use longhaul_plan::Plan;
use nix::poll::ppoll;
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

/// Where the records of shards are, in the run directory: `results/machine_records.py` reads them there.
const MACHINES: &str = "machines";
/// How far ahead the common end of all shards is: more than any of them takes to hear of it.
const END_MARGIN_NS: u64 = 50_000_000;
/// The same of a requested change.
const CHANGE_MARGIN_NS: u64 = 20_000_000;
/// Longest wait for a command or a reply.
const WAIT: Duration = Duration::from_millis(20);

/// Runs the network in as many threads as `partition`, which says the shard of each node, has shards. Each writes its records into a directory of
/// its own, `machines/shard-0` and so on.
pub fn run_shards(plan: &Plan, ports: EnginePorts, directory: &Path, partition: &[u32]) -> Result<()> {
    let EnginePorts { ports, control } = ports;
    let count = partition.iter().max().map_or(1, |last| last + 1);
    let mut shares: Vec<Vec<Option<_>>> =
        (0..count).map(|_| (0..ports.len()).map(|_| None).collect()).collect();
    for (node, port) in ports.into_iter().enumerate() {
        shares[partition[node] as usize][node] = port;
    }
    let unix_start_ns = OnceLock::new();
    let traffic = OwnTraffic::of_threads(plan, partition, count)?;
    std::thread::scope(|scope| {
        // Dropped after an error here, which ends the threads that have started.
        let mut shards = Vec::new();
        let mut threads = Vec::new();
        let tunnels = Tunnel::between(plan, partition, count)?;
        for (((own, tunnel), ports), traffic) in (0..count).zip(tunnels).zip(shares).zip(traffic) {
            let (ours, theirs) =
                UnixStream::pair().map_err(|error| Error::wrap("open a socket pair", error))?;
            let place = directory.join(MACHINES).join(shard_name(own));
            fs::create_dir_all(place.join("raw"))
                .map_err(|error| Error::wrap(format!("make {}", place.display()), error))?;
            let unix_start_ns = &unix_start_ns;
            let work = move || {
                let share = Share::Shard {
                    own,
                    partition,
                    run_directory: directory,
                    tunnel: Box::new(tunnel),
                    unix_start_ns,
                    traffic,
                };
                run(plan, EnginePorts { ports, control: theirs }, &place, share)
            };
            let thread = std::thread::Builder::new()
                .name(format!("lh-{}", shard_name(own)))
                .spawn_scoped(scope, work)
                .map_err(|error| Error::wrap("start a thread", error))?;
            threads.push(thread);
            shards.push(ShardControl::new(ours)?);
        }
        let forwarded = Forwarder { control: Control::new(control), shards, start_ns: None }.run();
        let join = |thread: std::thread::ScopedJoinHandle<'_, Result<()>>| {
            thread.join().unwrap_or_else(|_| Err(Error::crash("a thread of the engine panicked")))
        };
        let results: Vec<Result<()>> = threads.into_iter().map(join).collect();
        results.into_iter().collect::<Result<()>>().and(forwarded)
    })
}

/// The forwarder's end of the connection to a shard.
struct ShardControl {
    reader: BufReader<UnixStream>,
    writer: UnixStream,
    has_ended: bool,
    is_done: bool,
}

impl ShardControl {
    fn new(stream: UnixStream) -> Result<Self> {
        let writer = stream.try_clone().map_err(|error| Error::wrap("share a socket", error))?;
        Ok(ShardControl { reader: BufReader::new(stream), writer, has_ended: false, is_done: false })
    }

    /// A shard that has ended hears nothing any more.
    fn send(&mut self, command: &Command) {
        if let Ok(mut line) = serde_json::to_vec(command) {
            line.push(b'\n');
            self.has_ended |= self.writer.write_all(&line).is_err();
        }
    }

    /// The next reply, waited for; `None` if the shard has ended.
    fn reply(&mut self) -> Option<Reply> {
        let mut line = String::new();
        match self.reader.read_line(&mut line) {
            Ok(read) if read > 0 => serde_json::from_str(&line).ok(),
            _ => {
                self.has_ended = true;
                None
            }
        }
    }

    fn has_more(&self) -> bool {
        !self.reader.buffer().is_empty() || crate::readiness::is_readable(&self.writer)
    }
}

/// Lets all shards seem one engine.
struct Forwarder {
    control: Control,
    shards: Vec<ShardControl>,
    start_ns: Option<u64>,
}

impl Forwarder {
    fn run(mut self) -> Result<()> {
        for shard in 0..self.shards.len() {
            if !matches!(self.shards[shard].reply(), Some(Reply::Ready {})) {
                // Why, its thread says.
                return Ok(());
            }
        }
        self.control.reply(&Reply::Ready {})?;
        self.control.set_nonblocking()?;
        loop {
            let mut watched = vec![readable(self.control.fd())];
            watched.extend(self.shards.iter().map(|shard| readable(shard.writer.as_fd())));
            let _ = ppoll(&mut watched, Some(WAIT.into()), None);
            for command in self.control.commands()? {
                self.forward(&command)?;
            }
            for shard in 0..self.shards.len() {
                while !self.shards[shard].has_ended && self.shards[shard].has_more() {
                    if let Some(reply) = self.shards[shard].reply() {
                        self.report(shard, reply)?;
                    }
                }
            }
            if self.shards.iter().any(|shard| shard.has_ended) {
                // One that fails ends the others.
                self.shards.iter_mut().for_each(|shard| shard.send(&Command::Stop {}));
                return Ok(());
            }
        }
    }

    fn forward(&mut self, command: &Command) -> Result<()> {
        let mut command = command.clone();
        match &mut command {
            Command::Start { start_ns } => self.start_ns = Some(*start_ns),
            Command::Stop {} if let Some(start_ns) = self.start_ns => {
                // All end at the same time, so that each packet is counted once.
                let at_ns = monotonic_ns().saturating_sub(start_ns) + END_MARGIN_NS;
                self.shards.iter_mut().for_each(|shard| shard.send(&Command::StopAt { at_ns }));
                return Ok(());
            }
            Command::Change { at_ns, .. } if at_ns.is_none() => {
                // Both sides of a link that is cut change at the same time.
                *at_ns =
                    self.start_ns.map(|start_ns| monotonic_ns().saturating_sub(start_ns) + CHANGE_MARGIN_NS);
            }
            _ => {}
        }
        self.shards.iter_mut().for_each(|shard| shard.send(&command));
        if command.has_reply() {
            let mut answers = Vec::new();
            for shard in 0..self.shards.len() {
                while let Some(reply) = self.shards[shard].reply() {
                    match reply {
                        Reply::Changed { .. }
                        | Reply::Status { .. }
                        | Reply::Capturing { .. }
                        | Reply::CaptureEnded {} => {
                            answers.push(reply);
                            break;
                        }
                        other => self.report(shard, other)?,
                    }
                }
            }
            if let Some(answer) = answers.into_iter().reduce(together) {
                self.control.reply(&answer)?;
            }
        }
        Ok(())
    }

    /// Passes on what a shard reports without a command.
    fn report(&mut self, shard: usize, reply: Reply) -> Result<()> {
        match reply {
            Reply::Done {} => {
                self.shards[shard].is_done = true;
                if self.shards.iter().all(|shard| shard.is_done) {
                    self.control.reply(&Reply::Done {})?;
                }
            }
            Reply::Warning { message } => {
                let _ = self.control.reply(&Reply::Warning { message });
            }
            _ => {}
        }
        Ok(())
    }
}

/// What several engines of a run say of it, each as JSON, as one of all of it would say it.
///
/// # Errors
/// If one of them is not the answer of an engine.
pub fn engine_status(engines: &[String]) -> serde_json::Result<String> {
    let replies = engines.iter().map(|each| serde_json::from_str(each));
    let replies = replies.collect::<serde_json::Result<Vec<Reply>>>()?;
    serde_json::to_string(&replies.into_iter().reduce(together))
}

/// The answers of two shards, or of two machines, as one: sums, and the worse of their lateness.
fn together(one: Reply, other: Reply) -> Reply {
    match (one, other) {
        (
            Reply::Status {
                t_ns,
                delivered_packets,
                held_packets,
                lateness_p50_ns,
                lateness_p99_ns,
                gaps,
                captured_links,
            },
            Reply::Status {
                t_ns: other_t_ns,
                delivered_packets: other_delivered,
                held_packets: other_held,
                lateness_p50_ns: other_p50_ns,
                lateness_p99_ns: other_p99_ns,
                gaps: other_gaps,
                captured_links: other_captured,
            },
        ) => Reply::Status {
            t_ns: t_ns.max(other_t_ns),
            delivered_packets: delivered_packets + other_delivered,
            held_packets: held_packets + other_held,
            lateness_p50_ns: lateness_p50_ns.max(other_p50_ns),
            lateness_p99_ns: lateness_p99_ns.max(other_p99_ns),
            gaps: gaps + other_gaps,
            captured_links: captured_links
                .into_iter()
                .chain(other_captured)
                .collect::<BTreeSet<_>>()
                .into_iter()
                .collect(),
        },
        (Reply::Changed { at_ns }, Reply::Changed { at_ns: other_ns }) => {
            Reply::Changed { at_ns: at_ns.max(other_ns) }
        }
        (
            Reply::Capturing { is_new, snaplen, unix_start_ns, since_ns },
            Reply::Capturing { since_ns: other_ns, .. },
        ) => Reply::Capturing { is_new, snaplen, unix_start_ns, since_ns: since_ns.max(other_ns) },
        (one, _) => one,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn the_status_of_several_engines_has_sums_of_packets_and_the_worse_lateness() {
        let engine = |t_ns, packets, p99_ns| {
            json!({
                "is": "status", "t_ns": t_ns, "delivered_packets": packets, "held_packets": 1,
                "lateness_p50_ns": 10, "lateness_p99_ns": p99_ns, "gaps": 2, "captured_links": [packets, 5],
            })
            .to_string()
        };
        let found = engine_status(&[engine(50, 3, 900), engine(60, 4, 100)]).unwrap();
        let found: Value = serde_json::from_str(&found).unwrap();
        let expected: Value = serde_json::from_str(&engine(60, 7, 900)).unwrap();
        for name in ["t_ns", "delivered_packets", "lateness_p50_ns", "lateness_p99_ns"] {
            assert_eq!(found[name], expected[name], "{name}");
        }
        assert_eq!((&found["held_packets"], &found["gaps"]), (&json!(2), &json!(4)));
        assert_eq!(found["captured_links"], json!([3, 4, 5]), "each of them once");
        assert!(engine_status(&["{}".into()]).is_err());
    }
}
