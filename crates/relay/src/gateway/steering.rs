//! What the relay's owner asks of it.

use super::{Gateway, kind, watch};
use crate::control::Request;
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
                Request::Change { link, direction, route, change } => {
                    let checked = self
                        .settings
                        .check_change(link, route)
                        .and_then(|()| change.check().map_err(|error| format!("change.{error}")));
                    match checked {
                        Ok(()) => {
                            self.wan.change(now, link, direction, route, &change);
                            json!({"ok": true, "engine": {"at_ns": now.ns()}})
                        }
                        Err(message) => json!({"ok": false, "message": message}),
                    }
                }
            };
            self.control.answer(place, &answer);
        }
    }
}
