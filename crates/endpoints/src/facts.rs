use longhaul_plan::{Flow, Traffic};
use longhaul_units::Time;
use std::sync::Arc;

/// What is kept of a planned flow when its ends are made.
#[derive(Debug)]
pub struct Facts {
    pub name: Arc<str>,
    pub start: Time,
    /// [`Time::NEVER`]: with the run.
    pub stop: Time,
    /// Whether it ends without the run.
    pub has_an_end: bool,
    /// Whether it is many transfers with one result.
    pub asks: bool,
}

impl Facts {
    pub fn of(flow: &Flow) -> Self {
        Facts {
            name: flow.name.as_str().into(),
            start: Time::from_ns(flow.start_ns),
            stop: flow.stop_ns.map_or(Time::NEVER, Time::from_ns),
            has_an_end: flow.has_an_end(),
            asks: matches!(flow.traffic, Traffic::Requests { .. } | Traffic::Replay { .. }),
        }
    }
}
