//! Requests over the control socket.

use super::{Gateway, kind, watch};
use crate::control::Request;
use longhaul_plan::Event;
use longhaul_units::Time;
use nix::sys::epoll::EpollFlags;
use serde_json::json;

impl Gateway {
    /// Accepts control connections, or handles the requests of one.
    pub(super) fn handle_requests(&mut self, place: u32, now: Time) {
        if place == u32::MAX {
            for (place, stream) in self.control.accept() {
                // A connection that cannot be watched gets no answer.
                let _ = watch(&self.epoll, &stream, EpollFlags::EPOLLIN, kind::CONTROL, place, 0);
            }
            return;
        }
        for request in self.control.requests(place) {
            let answer = match request {
                Request::Stop { interrupted } => {
                    self.stopped = Some(if interrupted { "interrupted" } else { "stopped" });
                    self.control.notify_at_end(place);
                    continue;
                }
                Request::Hosts {} => {
                    json!({"ok": true, "env": {"LONGHAUL_RUN": self.directory}, "hosts": {}})
                }
                Request::Status {} => {
                    json!({"ok": true, "name": self.settings.name, "relay": self.account()})
                }
                Request::Change { changes, cause } => match self.settings.check_changes(&changes, &cause) {
                    Ok(()) => {
                        for each in changes {
                            self.change(now, &each.at(now.ns(), Some(cause.clone())));
                        }
                        json!({"ok": true, "engine": {"at_ns": now.ns()}})
                    }
                    Err(invalid) => json!({"ok": false, "message": invalid.to_string()}),
                },
            };
            self.control.answer(place, &answer);
        }
    }

    /// Changes a link at `at`, and records it.
    pub(super) fn change(&mut self, at: Time, event: &Event) {
        self.wan.change(at, event.link, event.direction, event.route, &event.change);
        self.changes.record(event);
    }
}
