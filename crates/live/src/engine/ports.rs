//! The hosts' ends of the network, on the machine's clock or on another.

use crate::clock::Clock;
use crate::tun::Tun;
use longhaul_units::{Span, Time};
use std::io::{self, IoSlice};

/// Where packets leave the network, and what time it is there.
pub trait Ports {
    /// Time since the start of the run.
    fn now(&self) -> Time;

    /// When a packet is written whose last segment was due at `due`: now, or, where the clock waits for
    /// packets, then.
    fn written_at(&self, due: Time) -> Time;

    /// Writes a packet to a host at that time: its virtio header, its headers and parts of its payload.
    ///
    /// # Errors
    /// If the host does not take it.
    fn write(&mut self, host: usize, at: Time, parts: &[IoSlice<'_>]) -> io::Result<()>;

    /// Whether the host also hands over UDP super-packets.
    fn udp_offload(&self, host: usize) -> bool;

    /// How far apart the due times of segments that are written as one packet may be, if the scenario says
    /// `coalesce`; `None` if each is written alone.
    fn joins(&self, coalesce: Span) -> Option<Span>;
}

/// TUN devices of namespaces, on the machine's clock.
pub struct TunPorts {
    tuns: Vec<Option<Tun>>,
    /// The run's clock.
    pub clock: Clock,
}

impl TunPorts {
    /// One device for each node of the plan; `None` for routers.
    pub fn new(tuns: Vec<Option<Tun>>, clock: Clock) -> Self {
        TunPorts { tuns, clock }
    }

    /// The devices, each with its node.
    pub fn tuns(&self) -> impl Iterator<Item = (usize, &Tun)> {
        self.tuns.iter().enumerate().filter_map(|(node, tun)| tun.as_ref().map(|tun| (node, tun)))
    }

    /// Reads one packet with its virtio header from a host; `None` when none waits.
    pub fn read(&self, host: usize, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        self.tuns[host].as_ref().map_or(Ok(None), |tun| tun.read(buffer))
    }
}

impl Ports for TunPorts {
    #[inline]
    fn now(&self) -> Time {
        self.clock.now()
    }

    #[inline]
    fn written_at(&self, _due: Time) -> Time {
        self.clock.now()
    }

    #[inline]
    fn write(&mut self, host: usize, _at: Time, parts: &[IoSlice<'_>]) -> io::Result<()> {
        self.tuns[host].as_ref().map_or_else(|| Err(io::ErrorKind::NotFound.into()), |tun| tun.write(parts))
    }

    fn udp_offload(&self, host: usize) -> bool {
        self.tuns[host].as_ref().is_some_and(|tun| tun.udp_offload)
    }

    /// Whatever is due is written together: it has been waiting for the engine.
    fn joins(&self, coalesce: Span) -> Option<Span> {
        (coalesce > Span::ZERO).then_some(Span::from_ps(u64::MAX))
    }
}
