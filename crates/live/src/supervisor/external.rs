//! Namespaces and devices that a run uses and that exist without it.

use super::Options;
use crate::device::{Device, Segment, Use};
use crate::error::Result;
use crate::foreign::ForeignNamespace;
use crate::host;
use longhaul_plan::{Plan, Port};

/// Interval between two checks whether they are still there.
const CHECK_INTERVAL_NS: u64 = 200_000_000;

/// What a run uses that exists without it, opened before the run's own namespaces are made.
#[derive(Debug, Default)]
pub struct ExternalResources {
    /// Network namespaces of hosts.
    pub foreign: Vec<ForeignNamespace>,
    /// Devices with hosts behind them.
    pub devices: Vec<Device>,
}

impl ExternalResources {
    /// Opens all of it that is on this machine; the caller must be in the namespaces of the client.
    pub fn open(plan: &Plan, options: &Options) -> Result<Self> {
        let foreign = options.foreign.iter().map(ForeignNamespace::open).collect::<Result<_>>()?;
        let mut devices = Vec::new();
        for (position, node) in plan.nodes.iter().enumerate() {
            if options.machines.as_ref().is_some_and(|machines| !machines.owns(position)) {
                continue;
            }
            let (device, used) = match &node.port {
                Some(Port::Routed { device, subnets }) => {
                    let gateways = host::addresses(node).collect();
                    (device, Use::Gateway(Segment { gateways, subnets: subnets.clone() }))
                }
                Some(Port::Bridged { device, .. }) => (device, Use::Bridge),
                Some(Port::Namespace { .. }) | None => continue,
            };
            let opened = Device::open(position, device, used);
            devices.push(opened.map_err(|error| error.at(format!("host {}", node.name)))?);
        }
        Ok(ExternalResources { foreign, devices })
    }

    /// Changes of carriers since the last call, in sentences; an error if a part of it has ended.
    pub(super) fn check(&mut self) -> Result<Vec<String>> {
        self.foreign.iter().try_for_each(ForeignNamespace::check)?;
        let mut changes = Vec::new();
        for device in &mut self.devices {
            changes.extend(device.check()?);
        }
        Ok(changes)
    }

    /// How long the next check may wait.
    pub(super) fn next_check_ns(&self) -> u64 {
        if self.foreign.is_empty() && self.devices.is_empty() { u64::MAX } else { CHECK_INTERVAL_NS }
    }
}
