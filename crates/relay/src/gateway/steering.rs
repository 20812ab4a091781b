//! What the relay's owner asks of it.

use super::{Gateway, kind, watch};
use crate::control::Request;
use longhaul_plan::Event;
use longhaul_units::Time;
use nix::sys::epoll::EpollFlags;
use serde_json::json;

impl Gateway {
    /// Hears and answers a conversation, or begins new ones.
    pub(super) fn steer(&mut self, place: u32, now: Time) {
        if place == u32::MAX {
            for (place, stream) in self.control.accept() {
                // Without being watched it would not be heard; then it is not answered either.
                let _ = watch(&self.epoll, &stream, EpollFlags::EPOLLIN, kind::CONTROL, place, 0);
            }
            return;
        }
        for request in self.control.requests(place) {
            let answer = match request {
                Request::Stop { interrupted } => {
                    self.stopped = Some(if interrupted { "interrupted" } else { "stopped" });
                    self.control.waits_for_end(place);
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
                    Err(message) => json!({"ok": false, "message": message}),
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
