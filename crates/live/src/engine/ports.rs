//! The hosts' ends of the network, on the machine's clock or on another.

use crate::clock::Clock;
use crate::device::{DeviceCounters, DevicePort, Mac, TapPort};
use crate::packet_pool::Filled;
use crate::tun::Tun;
use longhaul_units::{Span, Time};
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd};

/// Where packets leave the network, and what time it is there.
pub trait Ports {
    /// Time since the start of the run.
    fn now(&self) -> Time;

    /// When a packet is written whose last segment was due at `due`: now, or, where the clock waits for
    /// packets, then.
    fn written_at(&self, due: Time) -> Time;

    /// Writes a packet to a host at that time: its virtio header, its headers and parts of its payload; the link-layer
    /// header of a frame lies apart and is empty for a packet that is not one.
    ///
    /// # Errors
    /// If the host does not take it.
    fn write(&mut self, host: usize, at: Time, link_header: &[u8], parts: &[IoSlice<'_>]) -> io::Result<()>;

    /// Whether the host also hands over UDP super-packets.
    fn udp_offload(&self, host: usize) -> bool;

    /// How far apart the due times of segments that are written as one packet may be, if the scenario says
    /// `coalesce`; `None` if each is written alone.
    fn joins(&self, coalesce: Span) -> Option<Span>;

    /// Devices at which frames of a device came in for the first time since the last call: the nodes of both.
    fn take_looped(&mut self) -> Vec<(usize, usize)> {
        Vec::new()
    }

    /// What else was counted at the port of a host that is a device of the machine.
    fn device_counters(&mut self, host: usize) -> Option<DeviceCounters> {
        let _ = host;
        None
    }
}

/// Where the packets of a host come from and go to.
#[derive(Debug)]
pub enum Port {
    /// Its interface, in a namespace.
    Tun(Tun),
    /// Its interface at a switch, in a namespace.
    Tap(TapPort),
    /// A device of the machine, with hosts behind it.
    Device(DevicePort),
}

impl Port {
    /// The descriptor to wait for.
    pub fn fd(&self) -> BorrowedFd<'_> {
        match self {
            Port::Tun(tun) => tun.as_fd(),
            Port::Tap(tap) => tap.fd(),
            Port::Device(DevicePort::Routed(device)) => device.fd(),
            Port::Device(DevicePort::Bridged(device)) => device.fd(),
        }
    }
}

/// Ports of the kernel, on the machine's clock.
pub struct KernelPorts {
    ports: Vec<Option<Port>>,
    /// Nodes of routed devices.
    routed: Vec<usize>,
    /// The run's clock.
    pub clock: Clock,
    /// When the run ended, if nothing that happened later is to be seen.
    pub ended: Option<Time>,
}

impl KernelPorts {
    /// One port for each node of the plan; `None` for routers.
    pub fn new(mut ports: Vec<Option<Port>>, clock: Clock) -> Self {
        let address = |(node, port): (usize, &Option<Port>)| match port {
            Some(Port::Device(DevicePort::Routed(device))) => Some((device.mac(), node)),
            Some(Port::Device(DevicePort::Bridged(device))) => Some((device.mac, node)),
            _ => None,
        };
        let devices: Vec<_> = ports.iter().enumerate().filter_map(address).collect();
        let mut routed = Vec::new();
        for (node, port) in ports.iter_mut().enumerate() {
            if let Some(Port::Device(DevicePort::Routed(device))) = port {
                device.watch_for(devices.clone());
                routed.push(node);
            }
        }
        KernelPorts { ports, routed, clock, ended: None }
    }

    /// The descriptors to wait for, each with its node.
    pub fn fds(&self) -> impl Iterator<Item = (usize, BorrowedFd<'_>)> {
        self.ports.iter().enumerate().filter_map(|(node, port)| port.as_ref().map(|port| (node, port.fd())))
    }

    /// The Ethernet addresses of bridged devices, each with its node.
    pub fn bridged_devices(&self) -> impl Iterator<Item = (Mac, usize)> {
        self.ports.iter().enumerate().filter_map(|(node, port)| match port {
            Some(Port::Device(DevicePort::Bridged(device))) => Some((device.mac, node)),
            _ => None,
        })
    }

    /// Reads one packet with its virtio header from a host; `None` when none waits.
    pub fn read(&mut self, host: usize, buffer: &mut [u8]) -> io::Result<Option<Filled>> {
        let packet = match &mut self.ports[host] {
            Some(Port::Tun(tun)) => tun.read(buffer)?,
            Some(Port::Tap(tap)) => return tap.read(buffer),
            Some(Port::Device(DevicePort::Routed(device))) => device.read(buffer)?,
            Some(Port::Device(DevicePort::Bridged(device))) => return device.read(buffer),
            None => None,
        };
        Ok(packet.map(Filled::with_packet))
    }
}

impl Ports for KernelPorts {
    #[inline]
    fn now(&self) -> Time {
        self.ended.unwrap_or_else(|| self.clock.now())
    }

    #[inline]
    fn written_at(&self, _due: Time) -> Time {
        self.clock.now()
    }

    #[inline]
    fn write(&mut self, host: usize, _at: Time, link_header: &[u8], parts: &[IoSlice<'_>]) -> io::Result<()> {
        match &mut self.ports[host] {
            Some(Port::Device(DevicePort::Bridged(device))) => device.write(link_header, parts),
            Some(Port::Tap(tap)) => tap.write(link_header, parts),
            // A frame has no place where packets go.
            _ if !link_header.is_empty() => Err(io::ErrorKind::InvalidInput.into()),
            Some(Port::Tun(tun)) => tun.write(parts),
            Some(Port::Device(DevicePort::Routed(device))) => device.write(parts),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn udp_offload(&self, host: usize) -> bool {
        match &self.ports[host] {
            Some(Port::Tun(tun)) => tun.udp_offload,
            Some(Port::Tap(tap)) => tap.udp_offload(),
            Some(Port::Device(_)) => true,
            None => false,
        }
    }

    fn device_counters(&mut self, host: usize) -> Option<DeviceCounters> {
        match &mut self.ports[host] {
            Some(Port::Device(DevicePort::Routed(device))) => Some(device.counters()),
            Some(Port::Device(DevicePort::Bridged(device))) => Some(device.counters()),
            _ => None,
        }
    }

    fn take_looped(&mut self) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        for &node in &self.routed {
            if let Some(Port::Device(DevicePort::Routed(device))) = &mut self.ports[node] {
                found.extend(device.take_looped().iter().map(|&other| (node, other)));
            }
        }
        found
    }

    /// Whatever is due is written together: it has been waiting for the engine.
    fn joins(&self, coalesce: Span) -> Option<Span> {
        (coalesce > Span::ZERO).then_some(Span::from_ps(u64::MAX))
    }
}
