//! Commands that are run in hosts because a program of another host, or a user, asks for it.

use super::{Order, Supervisor};
use crate::supervisor::{ConnectionId, ControlConnections, NOT_STARTED};
use crate::virtual_time::messages::{Execution, ExecutionOrder, bytes};
use serde_json::{Value, json};

/// A command that was asked for.
pub(super) struct AskedCommand {
    asker: Asker,
    /// The node of the host that it runs in.
    node: usize,
    /// Whether somebody waits for its end.
    is_awaited: bool,
}

enum Asker {
    /// A program of the host at `node`, which knows it by its ticket.
    Program { node: usize, ticket: u32 },
    /// The client of a connection.
    User(ConnectionId),
}

impl Supervisor<'_> {
    /// Runs a command in the host called `host`, for a program of the host at `node`.
    pub(super) fn launch(
        &mut self,
        node: usize,
        ticket: u32,
        host: &str,
        order: impl FnOnce(usize) -> Order,
    ) {
        match self.host_named(host) {
            Some(other) => {
                let number = self.add_command(Asker::Program { node, ticket }, other);
                self.order(other, &order(number));
            }
            None => self.order(node, &Order::CommandEnded { ticket, code: 255 }),
        }
    }

    /// Runs a command in the host called `host` for a user; the answer.
    pub(super) fn execute(&mut self, from: ConnectionId, host: &str, execution: Execution) -> Value {
        if self.zero_ns.is_none_or(|zero_ns| self.controller.now_ns() < zero_ns) {
            return refusal(NOT_STARTED);
        }
        if execution.argv.is_empty() {
            return refusal("argv: the list is empty");
        }
        if self.command_of(from).is_some() {
            return refusal("a connection runs one command at a time");
        }
        let Some(node) = self.host_named(host) else {
            return refusal(&format!("there is no host {host}"));
        };
        let number = self.add_command(Asker::User(from), node);
        self.order_when_still(node, Order::Execute { number, execution });
        json!({"ok": true})
    }

    /// Passes on what a user orders for a command. Others follow at once: only a refusal is answered.
    pub(super) fn order_execution(&mut self, from: ConnectionId, order: ExecutionOrder) -> Option<Value> {
        let Some(number) = self.command_of(from) else {
            return Some(refusal("no command of this connection runs"));
        };
        self.order_when_still(self.commands[number].node, Order::ForExecution { number, order });
        None
    }

    /// Kills the commands of clients that are gone.
    pub(super) fn kill_abandoned(&mut self, control: &ControlConnections) {
        for number in 0..self.commands.len() {
            let command = &mut self.commands[number];
            if let Asker::User(connection) = &command.asker
                && command.is_awaited
                && !control.is_open(*connection)
            {
                command.is_awaited = false;
                let node = command.node;
                self.order_when_still(node, Order::ForExecution { number, order: ExecutionOrder::Kill });
            }
        }
    }

    /// Tells who asked for it that a command has ended.
    pub(super) fn command_ended(&mut self, number: usize, code: i32, control: &mut ControlConnections) {
        let Some(command) = self.commands.get_mut(number) else { return };
        command.is_awaited = false;
        match command.asker {
            Asker::Program { node, ticket } => self.order(node, &Order::CommandEnded { ticket, code }),
            Asker::User(connection) => {
                control.send_in_full(connection, &json!({"event": "command-ended", "code": code}));
            }
        }
    }

    /// Tells a user what a command has written.
    pub(super) fn command_wrote(
        &self,
        number: usize,
        stream: u8,
        text: &[u8],
        control: &mut ControlConnections,
    ) {
        let event = json!({"event": "output", "stream": stream, "bytes": bytes::to_text(text)});
        self.tell_user(number, &event, control);
    }

    /// Tells a user how much of the input a command has been given.
    pub(super) fn command_took(&self, number: usize, bytes: usize, control: &mut ControlConnections) {
        self.tell_user(number, &json!({"event": "taken", "bytes": bytes}), control);
    }

    fn tell_user(&self, number: usize, event: &Value, control: &mut ControlConnections) {
        if let Some(AskedCommand { asker: Asker::User(connection), .. }) = self.commands.get(number) {
            control.send_in_full(*connection, event);
        }
    }

    fn host_named(&self, name: &str) -> Option<usize> {
        self.hosts.iter().copied().find(|&node| self.plan.nodes[node].name == name)
    }

    fn add_command(&mut self, asker: Asker, node: usize) -> usize {
        self.commands.push(AskedCommand { asker, node, is_awaited: true });
        self.commands.len() - 1
    }

    /// The command that a connection has asked for and that runs.
    fn command_of(&self, connection: ConnectionId) -> Option<usize> {
        self.commands.iter().position(|each| {
            each.is_awaited && matches!(each.asker, Asker::User(asker) if asker == connection)
        })
    }

    /// Gives an order as soon as no host computes.
    fn order_when_still(&mut self, node: usize, order: Order) {
        self.waiting_orders.push((node, order));
        if !self.controller.is_between_steps() {
            self.give_waiting_orders();
        }
    }

    /// Gives the orders that have waited until hosts stand still.
    pub(super) fn give_waiting_orders(&mut self) {
        for (node, order) in std::mem::take(&mut self.waiting_orders) {
            self.order(node, &order);
        }
    }
}

fn refusal(message: &str) -> Value {
    json!({"ok": false, "message": message})
}
