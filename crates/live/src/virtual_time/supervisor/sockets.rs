//! The table of the hosts' TCP connections, `raw/sockets.csv`.
//!
//! Where a live run looks at all connections at an interval, only hosts that have sent TCP segments since the last reading
//! are asked here: a kernel that has nothing to do is not woken.

use super::{Order, Supervisor};
use crate::error::{Error, Result};
use crate::sockets::{SOCKET_COLUMNS, Socket};
use longhaul_plan::Plan;
use longhaul_record::Table;
use longhaul_storage::{Appender, Disk};
use std::io;
use std::path::Path;

/// The table, and when the hosts are asked next.
pub struct SocketRecords {
    table: Table<Appender>,
    every_ns: u64,
    next_ns: u64,
}

impl SocketRecords {
    /// Begins the table, if the plan wants one.
    pub fn open(plan: &Plan, directory: &Path) -> Result<Option<Self>> {
        let Some(every_ns) = plan.measure.sockets_every_ns else { return Ok(None) };
        let file =
            Appender::create(&Disk, &directory.join("raw/sockets.csv")).map_err(|error| failed(&error))?;
        let table = Table::new(file, &SOCKET_COLUMNS).map_err(|error| failed(&error))?;
        Ok(Some(SocketRecords { table, every_ns, next_ns: 0 }))
    }

    fn write(&mut self, t_ns: u64, host: &str, sockets: &[Socket]) -> io::Result<()> {
        for socket in sockets {
            socket.write(t_ns, host, &mut self.table)?;
        }
        // For readers of the growing file.
        self.table.flush()
    }
}

impl Supervisor<'_> {
    /// Asks the hosts for their connections, if it is time, `now_ns` after the zero.
    pub(super) fn read_sockets_if_due(&mut self, now_ns: u64) {
        let Some(records) = &mut self.sockets else { return };
        // Time stops there if a host is to be asked, see `next_sockets_ns`.
        let is_due = records.next_ns == now_ns;
        records.next_ns = (now_ns / records.every_ns + 1) * records.every_ns;
        if is_due {
            self.read_sockets();
        }
    }

    /// Asks those hosts for their connections that have sent TCP segments since they were asked last.
    pub(super) fn read_sockets(&mut self) {
        if self.sockets.is_none() {
            return;
        }
        for node in self.hosts.clone() {
            if std::mem::take(&mut self.controller.tcp_senders[node]) {
                self.order(node, &Order::ReadSockets);
            }
        }
    }

    /// When hosts are to be asked next, after the zero.
    pub(super) fn next_sockets_ns(&self) -> Option<u64> {
        let records = self.sockets.as_ref()?;
        self.controller.tcp_senders.contains(&true).then_some(records.next_ns)
    }

    /// Takes what a host has answered, `at_ns` after the zero.
    pub(super) fn write_sockets(&mut self, at_ns: i64, node: usize, sockets: &[Socket]) -> Result<()> {
        let Some(records) = &mut self.sockets else { return Ok(()) };
        let t_ns = u64::try_from(at_ns).unwrap_or_default();
        records.write(t_ns, &self.plan.nodes[node].name, sockets).map_err(|error| failed(&error))
    }
}

fn failed(error: &io::Error) -> Error {
    Error::wrap("write sockets.csv", error)
}
