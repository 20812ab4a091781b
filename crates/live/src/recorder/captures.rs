//! Captures of links: pcapng files, one for each end, of which some begin while the run is running.

use super::RecordFiles;
use crate::error::Result;
use longhaul_plan::{Plan, Port};
use longhaul_record::{CAPTURE_INTERFACES, Capture, LinkType};
use longhaul_storage::Appender;
use std::collections::HashMap;
use std::fs;
use std::io::{self, BufWriter};

/// The place of a capture: a link, and which end of it.
pub type CapturePoint = (u32, usize);

/// Captured packets, concatenated in `bytes`.
#[derive(Default)]
pub struct CaptureBuffer {
    pub packets: Vec<CapturedPacket>,
    pub bytes: Vec<u8>,
}

pub struct CapturedPacket {
    pub point: CapturePoint,
    pub interface: u32,
    pub unix_ns: u64,
    pub length: u32,
    pub kept: u32,
}

/// A link whose packets are captured from now on.
#[derive(Clone, Debug, PartialEq)]
pub struct CapturedLink {
    link: usize,
    name: String,
    /// The nodes at its ends.
    nodes: [String; 2],
    /// Whether frames of Ethernet may be among its packets.
    has_frames: bool,
    snaplen: u32,
}

impl CapturedLink {
    /// Link `link` of the plan, with at most `snaplen` bytes of each packet.
    pub fn new(plan: &Plan, link: usize, snaplen: u32) -> Self {
        CapturedLink {
            link,
            name: plan.links[link].name.clone(),
            nodes: plan.links[link].endpoints.map(|node| plan.nodes[node].name.clone()),
            has_frames: plan.has_switches()
                || plan.nodes.iter().any(|node| matches!(node.port, Some(Port::Bridged { .. }))),
            snaplen,
        }
    }
}

/// The files, by place.
#[derive(Default)]
pub struct CaptureFiles(HashMap<CapturePoint, Capture<BufWriter<Appender>>>);

impl CaptureFiles {
    /// Creates the files of both ends, unless they are there: then the capture continues in them.
    pub fn open(&mut self, captured: &CapturedLink, create: &RecordFiles<'_>) -> Result<()> {
        if self.0.contains_key(&(captured.link as u32, 0)) {
            return Ok(());
        }
        fs::create_dir_all(create.directory.join("captures"))
            .map_err(|error| create.failed("captures", error))?;
        let name = &captured.name;
        for (end, interfaces) in CAPTURE_INTERFACES.iter().enumerate() {
            let path = format!("captures/{name}@{}.pcapng", captured.nodes[end]);
            let file = BufWriter::new(create.file(&path)?);
            let mut named: Vec<(String, LinkType)> =
                interfaces.map(|interface| (format!("{name} {interface}"), LinkType::Raw)).into();
            // Frames have two more with the same meaning.
            if captured.has_frames {
                let frames = interfaces.map(|interface| format!("{name} frames {interface}"));
                named.extend(frames.map(|name| (name, LinkType::Ethernet)));
            }
            let interfaces: Vec<_> = named.iter().map(|(name, kind)| (name.as_str(), *kind)).collect();
            let capture = Capture::new(file, &interfaces, captured.snaplen);
            let capture = capture.map_err(|error| create.failed(&path, error))?;
            self.0.insert((captured.link as u32, end), capture);
        }
        Ok(())
    }

    /// Writes packets, each to the file of its place.
    pub fn write(&mut self, captured: &CaptureBuffer) -> io::Result<()> {
        let mut rest = &captured.bytes[..];
        for packet in &captured.packets {
            let (bytes, behind) = rest.split_at(packet.kept as usize);
            rest = behind;
            if let Some(capture) = self.0.get_mut(&packet.point) {
                capture.packet(packet.interface, packet.unix_ns, packet.length, bytes)?;
            }
        }
        Ok(())
    }

    pub fn flush(&mut self) -> io::Result<()> {
        self.0.values_mut().try_for_each(Capture::flush)
    }
}
