//! Requests over the control socket.

use super::{Gateway, kind, watch};
use crate::control::Request;
use longhaul_plan::Event;
use longhaul_units::Time;
use nix::sys::epoll::EpollFlags;
use serde_json::json;

impl Gateway {
    /// Accepts control connections, or handles the requests of one.
    fn handle_requests(&mut self, place: u32, now: Time) {
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

    /// When the next change of the scenario is due.
    pub(super) fn next_change(&self) -> Time {
        self.settings.events.get(self.next_event).map_or(Time::NEVER, |event| Time::from_ns(event.at_ns))
    }

    /// Applies the changes that are due by `reported`. What arrived before a change is offered before it, and
    /// what arrived since after it, however late they are read.
    pub(super) fn apply_changes(&mut self, reported: Time) {
        while self.next_change() <= reported {
            let event = self.settings.events[self.next_event].clone();
            self.change(self.next_change(), &event);
            self.next_event += 1;
            self.offer_arrived();
        }
    }

    /// Handles the requests of this turn, after what arrived before them.
    pub(super) fn answer_requests(&mut self, now: Time) {
        for place in std::mem::take(&mut self.requesters) {
            self.handle_requests(place, now);
        }
    }

    /// Changes a link at `at`, and records it.
    fn change(&mut self, at: Time, event: &Event) {
        self.wan.change(at, event.link, event.direction, event.route, &event.change);
        self.changes.record(event);
    }
}
