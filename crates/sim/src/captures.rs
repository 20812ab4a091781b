//! Captures of links: every packet that enters or leaves them, at either end, as pcapng.

use crate::records::Output;
use longhaul_endpoints::{CapturedPacket, Headers, SentSegment};
use longhaul_network::DirectionId;
use longhaul_plan::{Plan, Way};
use longhaul_record::{CAPTURE_INTERFACES, Capture, LinkType};
use longhaul_units::Time;
use std::collections::BTreeMap;
use std::io::{self, BufWriter};

/// What a shard has for captures, in the order in which it happened.
#[derive(Debug, Default)]
pub struct Captured {
    pub passages: Vec<CapturedPassage>,
    pub sent: Vec<SentSegment>,
}

/// A packet as it enters a direction of a link, or leaves it.
#[derive(Clone, Copy, Debug)]
pub struct CapturedPassage {
    pub at: Time,
    pub direction: DirectionId,
    pub departure: bool,
    pub packet: CapturedPacket,
}

/// The captures of a run. Times are those since its start.
#[derive(Default)]
pub struct Captures {
    /// By link, and which end of it.
    files: BTreeMap<(usize, usize), Capture<BufWriter<Output>>>,
    headers: Headers,
    /// Not written yet.
    passages: Vec<CapturedPassage>,
    bytes: Vec<u8>,
}

impl Captures {
    /// Writes to files that `open` makes, two for each captured link of `plan`.
    ///
    /// # Errors
    /// If a file cannot be created or written.
    pub fn new(plan: &Plan, mut open: impl FnMut(&str) -> io::Result<Output>) -> io::Result<Self> {
        let mut files = BTreeMap::new();
        for &link in &plan.measure.captures {
            let name = &plan.links[link].name;
            for (end, interfaces) in CAPTURE_INTERFACES.iter().enumerate() {
                let node = &plan.nodes[plan.links[link].endpoints[end]].name;
                let named = interfaces.map(|interface| format!("{name} {interface}"));
                let interfaces = named.each_ref().map(|name| (name.as_str(), LinkType::Raw));
                let file = BufWriter::new(open(&format!("captures/{name}@{node}.pcapng"))?);
                files.insert((link, end), Capture::new(file, &interfaces, plan.measure.snaplen)?);
            }
        }
        Ok(Captures { files, ..Captures::default() })
    }

    /// Sets what the headers of packets say.
    pub fn set_headers(&mut self, headers: Headers) {
        self.headers = headers;
    }

    /// Takes what a shard has.
    pub fn take(&mut self, captured: &mut Captured) {
        captured.sent.drain(..).for_each(|sent| self.headers.note_sent(&sent));
        self.passages.append(&mut captured.passages);
    }

    /// Writes packets that have entered or left a link before `now`, in an order that no scheduler and no division into shards
    /// decides.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write(&mut self, now: Time) -> io::Result<()> {
        // Packets of one direction are in order. At one instant, what leaves a link precedes what a host sends in answer.
        self.passages.sort_by_key(|each| (each.at, !each.departure, each.direction));
        let count = self.passages.partition_point(|each| each.at < now);
        let Captures { files, headers, passages, bytes } = self;
        for CapturedPassage { at, direction, departure, packet } in passages.drain(..count) {
            // What enters the link in one direction is seen at the end where the other direction leaves it.
            let end = usize::from((direction.way() == Way::Reverse) != departure);
            if let Some(capture) = files.get_mut(&(direction.link(), end)) {
                let length = headers.encode(&packet, capture.snaplen() as usize, bytes);
                capture.packet(u32::from(departure), at.ns(), length, bytes)?;
            }
        }
        Ok(())
    }

    /// Hands what is buffered to the operating system.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.files.values_mut().try_for_each(Capture::flush)
    }
}
