//! Requests of the client and of other processes.

use super::Supervisor;
use crate::clock::monotonic_ns;
use crate::engine::Reply;
use crate::error::Error;
use crate::supervisor::{ControlConnections, Request, stopped};
use longhaul_plan::{Cause, Event, LinkChange};
use serde_json::{Value, json};

/// Least real time between two looks at requests.
const INTERVAL_NS: u64 = 20_000_000;

impl Supervisor<'_> {
    pub(super) fn answer_requests(&mut self, control: &mut ControlConnections) {
        let now_ns = monotonic_ns();
        if now_ns < self.looked_ns + INTERVAL_NS {
            return;
        }
        self.looked_ns = now_ns;
        crate::supervisor::ending::wait_with_signals(&mut [], 0);
        for (from, request) in control.requests() {
            let answer = match request {
                Request::Stop { status, why } => {
                    self.stop = Some(stopped(status, why));
                    json!({"ok": true})
                }
                Request::Detach {} => control.detach(from),
                Request::Programs {} => json!({
                    "ok": true, "t_ns": self.clockwork.run_time().ns(), "programs": self.programs, "cgroups": null,
                }),
                Request::Status {} => {
                    let engine: Reply = self.clockwork.emulator.status();
                    json!({"ok": true, "engine": engine, "programs": self.programs, "name": self.plan.name})
                }
                Request::Change { changes, cause } => self.change(changes, &cause),
                Request::Hosts {} => json!({
                    "ok": false,
                    "message": "hosts on the virtual clock cannot be entered from outside: they have no time for it",
                }),
            };
            control.reply(from, &answer);
        }
        self.stop = self.stop.take().or_else(|| control.requested_ending());
    }

    /// Changes links now, if all changes are possible.
    pub(super) fn change(&mut self, changes: Vec<LinkChange>, cause: &Cause) -> Value {
        let at_ns = self.clockwork.run_time().ns();
        let events: Vec<Event> =
            changes.into_iter().map(|change| change.at(at_ns, Some(cause.clone()))).collect();
        let wrong = events.iter().find_map(|event| self.plan.check_event(event).err());
        if self.zero_ns.is_none_or(|zero_ns| self.clockwork.now_ns() < zero_ns) {
            return json!({"ok": false, "message": "the run has not started yet"});
        }
        if let Some(wrong) = wrong {
            return json!({"ok": false, "message": Error::from(wrong).to_string()});
        }
        self.clockwork.change(&events);
        json!({"ok": true, "engine": Reply::Changed { at_ns }})
    }
}
