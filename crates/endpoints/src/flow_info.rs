use longhaul_plan::{Flow, Traffic};
use longhaul_units::Time;
use std::sync::Arc;

/// What is kept of a planned flow when its ends are made.
#[derive(Clone, Debug)]
pub struct FlowInfo {
    pub name: Arc<str>,
    pub start: Time,
    /// [`Time::NEVER`]: with the run.
    pub stop: Time,
    /// Whether it ends without the run.
    pub is_finite: bool,
    /// Whether it is many transfers with one result.
    pub is_requests: bool,
}

impl FlowInfo {
    pub fn of(flow: &Flow) -> Self {
        FlowInfo {
            name: flow.name.as_str().into(),
            start: Time::from_ns(flow.start_ns),
            stop: flow.stop_ns.map_or(Time::NEVER, Time::from_ns),
            is_finite: flow.has_an_end(),
            is_requests: matches!(flow.traffic, Traffic::Requests { .. } | Traffic::Replay { .. }),
        }
    }
}
