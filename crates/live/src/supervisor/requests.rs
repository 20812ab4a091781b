//! Requests to a run, and the replies that do not depend on its state.

use super::connections::send;
use crate::error::{Error, Result};
use crate::run_record::Ending;
use crate::virtual_time::messages::{Execution, ExecutionOrder};
use longhaul_plan::{Cause, Event, LinkChange, Plan};
use serde::Deserialize;
use serde_json::{Value, json};
use std::os::unix::net::UnixStream;

/// A request to a run.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// End the run.
    Stop {
        /// The status of the ended run.
        #[serde(default)]
        status: StopStatus,
        /// The reason.
        #[serde(default)]
        why: Option<String>,
    },
    /// On one of several machines: all are ready, and the clock may start. Only the client requests it.
    Begin {},
    /// On one of several machines: a program of another one has ended, or could not start. Only the client requests it.
    ProgramEnded {
        /// Its name.
        name: String,
    },
    /// On one of several machines: all end at the same time of the run.
    Finish {
        /// Nanoseconds since the start.
        at_ns: u64,
        /// The status of the ended run; by default all programs that end by themselves have ended.
        #[serde(default)]
        status: Option<StopStatus>,
        /// The reason.
        #[serde(default)]
        why: Option<String>,
    },
    /// The run continues when the client closes its connection. Only the client may request it.
    Detach {},
    /// Where the hosts' namespaces are.
    Hosts {},
    /// On the virtual clock: run a command in a host. What it writes follows as events `output`, and `command-ended`
    /// as the last one. It is killed when the connection is closed.
    Execute {
        /// The host's name.
        host: String,
        /// The command.
        execution: Execution,
    },
    /// Do this with the command of this connection. Events `taken` tell how much of its input it was given.
    ForExecution {
        /// What.
        order: ExecutionOrder,
    },
    /// State of the run.
    Status {},
    /// States of the programs, without a query of the engine.
    Programs {},
    /// Change links, all at the same instant, or none of them if one of the changes is wrong.
    Change {
        /// The changes.
        changes: Vec<LinkChange>,
        /// Who requests them.
        cause: Cause,
        /// When, in nanoseconds since the start, so that all machines do it then; by default now.
        #[serde(default)]
        at_ns: Option<u64>,
    },
    /// Capture a link's packets from now on, at both of its ends.
    Capture {
        /// The link's position in the plan.
        link: usize,
        /// Bytes to keep of each packet.
        snaplen: u32,
        /// Bytes of its files at which the capture ends.
        limit_bytes: u64,
    },
    /// End a capture that was requested.
    EndCapture {
        /// The link's position in the plan.
        link: usize,
    },
}

/// The status of a run that ended on request.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StopStatus {
    /// Its user took it down.
    #[default]
    Stopped,
    /// Its user ended it early.
    Interrupted,
    /// Its client had to end it, for example because it reached its memory limit.
    Failed,
    /// Its client met a defect of its own.
    Crashed,
}

/// The reply to requests before the start.
pub const NOT_STARTED: &str = "the run has not started yet";

/// The reply to requests to run commands in hosts that can be entered.
pub const ENTERED: &str = "commands enter the hosts of this run by their namespaces";

/// The reply to requests that a run on one machine has no use for.
pub const ONE_MACHINE: &str = "the run is not divided among machines";

/// The ending that a stop request asks for.
pub fn stopped(status: StopStatus, why: Option<String>) -> Ending {
    let (status, default) = match status {
        StopStatus::Stopped => ("stopped", "its user stopped it"),
        StopStatus::Interrupted => ("interrupted", "its user interrupted it"),
        StopStatus::Failed => ("failed", "its client ended it as failed"),
        StopStatus::Crashed => ("crashed", "its client ended it because of a defect"),
    };
    Ending { has_results: true, ..Ending::new(status, why.unwrap_or_else(|| default.into())) }
}

/// Checks that all of `changes`, which `cause` requests at `at_ns`, are possible in a run with the plan's events and the
/// changes of pacing `repaced`; returns their events of hosts' pacing.
pub fn check_changes(
    plan: &Plan,
    at_ns: u64,
    repaced: &[Event],
    changes: &[LinkChange],
    cause: &Cause,
) -> Result<Vec<Event>> {
    if changes.is_empty() {
        return Err(Error::new("changes: the list is empty").with_remedy("send at least one change"));
    }
    if !cause.is_intervention() {
        return Err(Error::new("cause: a request is made by a user, not by the scenario"));
    }
    let planned = plan.events.iter().filter(|each| each.at_ns <= at_ns);
    let mut before: Vec<&Event> = planned.chain(repaced).collect();
    before.sort_by_key(|each| each.at_ns);
    let mut found: Vec<Event> = Vec::new();
    for change in changes {
        let event = change.clone().at(at_ns, Some(cause.clone()));
        plan.check_event(&event)?;
        plan.check_pacing(before.iter().copied().chain(&found), &event)?;
        if !event.change.pacing.is_empty() {
            found.push(event);
        }
    }
    Ok(found)
}

/// Reports to the client that the run failed or crashed.
pub fn report_failed(line: &mut UnixStream, ending: &Ending) {
    send(line, &failed(ending));
}

/// The same as an event.
pub fn failed(ending: &Ending) -> Value {
    json!({
        "event": "failed", "status": ending.status, "message": ending.reason, "remedy": ending.remedy,
    })
}
