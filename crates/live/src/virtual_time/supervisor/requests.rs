//! Requests of the client and of other processes.

use super::Supervisor;
use crate::clock::monotonic_ns;
use crate::engine::Emulator;
use crate::engine::Reply;
use crate::supervisor::{ControlConnections, NOT_STARTED, ONE_MACHINE, Request, check_changes, stopped};
use crate::virtual_time::frames::Nics;
use longhaul_plan::{Cause, LinkChange};
use serde_json::{Value, json};

/// Least real time between two reads of requests.
pub(super) const INTERVAL_NS: u64 = 20_000_000;

impl Supervisor<'_> {
    /// Reads requests and answers them, at most every [`INTERVAL_NS`].
    pub(super) fn answer_requests(&mut self, control: &mut ControlConnections) {
        let now_ns = monotonic_ns();
        if now_ns < self.requests_read_ns + INTERVAL_NS {
            return;
        }
        self.requests_read_ns = now_ns;
        crate::supervisor::ending::wait_with_signals(&mut [], 0);
        for (from, request) in control.requests() {
            let answer = match request {
                Request::Stop { status, why } => {
                    self.stop = Some(stopped(status, why));
                    json!({"ok": true})
                }
                Request::Detach {} => control.detach(from),
                Request::Programs {} => json!({
                    "ok": true, "t_ns": self.controller.run_time().ns(), "programs": self.programs, "cgroups": null,
                }),
                Request::Status {} => {
                    let engine: Reply = self.controller.emulator.status();
                    json!({"ok": true, "engine": engine, "programs": self.programs, "name": self.plan.name})
                }
                Request::Change { changes, cause, .. } => self.change(changes, &cause),
                Request::Capture { link, snaplen, limit_bytes } => {
                    self.about_link(link, |emulator| emulator.begin_capture(link, snaplen, limit_bytes))
                }
                Request::EndCapture { link } => self.about_link(link, |emulator| {
                    emulator.end_capture(link);
                    Reply::CaptureEnded {}
                }),
                Request::Begin {} | Request::ProgramEnded { .. } | Request::Finish { .. } => {
                    json!({"ok": false, "message": ONE_MACHINE})
                }
                Request::Hosts {} => json!({
                    "ok": true, "clock": "virtual", "env": {"LONGHAUL_RUN": self.directory},
                    "hosts": self.hosts.iter().map(|&node| {
                        (self.plan.nodes[node].name.clone(), json!({}))
                    }).collect::<serde_json::Map<_, _>>(),
                }),
                Request::Execute { host, execution } => self.execute(from, &host, execution),
                Request::ForExecution { order } => match self.order_execution(from, order) {
                    Some(refusal) => refusal,
                    None => continue,
                },
            };
            control.reply(from, &answer);
        }
        self.kill_abandoned(control);
        self.stop = self.stop.take().or_else(|| control.requested_ending());
    }

    /// What the network answers to a request about a link that the plan must have.
    fn about_link(&mut self, link: usize, ask: impl FnOnce(&mut Emulator<'_, Nics>) -> Reply) -> Value {
        if let Err(error) = self.plan.check_link(link, "link") {
            return json!({"ok": false, "message": error.to_string()});
        }
        json!({"ok": true, "engine": ask(&mut self.controller.emulator)})
    }

    /// Changes links now, if all changes are possible.
    fn change(&mut self, changes: Vec<LinkChange>, cause: &Cause) -> Value {
        let refuse = |message: &str| json!({"ok": false, "message": message});
        if self.zero_ns.is_none_or(|zero_ns| self.controller.now_ns() < zero_ns) {
            return refuse(NOT_STARTED);
        }
        if self.controller.is_between_steps() {
            return refuse("virtual time stands still because a host computes; repeat the request");
        }
        let at_ns = self.controller.run_time().ns();
        match check_changes(self.plan, at_ns, &self.repaced, &changes, cause) {
            Err(error) => refuse(&error.to_string()),
            Ok(repaced) => {
                self.repaced.extend(repaced);
                let at = |change: LinkChange| change.at(at_ns, Some(cause.clone()));
                self.controller.change(&changes.into_iter().map(at).collect::<Vec<_>>());
                json!({"ok": true, "engine": Reply::Changed { at_ns }})
            }
        }
    }
}
