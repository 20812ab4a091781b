//! The records of simulated flows, as a simulation has them.

use super::RecordFiles;
use crate::engine::is_of_engine;
use crate::error::Result;
use longhaul_plan::Plan;
use longhaul_record::{FLOW_COLUMNS, FlowRow, PING_COLUMNS, PingRow, REQUEST_COLUMNS, RequestRow, Table};
use longhaul_storage::Appender;
use std::io;

/// `flows.csv`, `pings.csv` and `requests.csv`.
pub struct SimulatedFiles {
    names: Vec<String>,
    flows: Table<Appender>,
    pings: Table<Appender>,
    requests: Table<Appender>,
}

impl SimulatedFiles {
    /// Creates them if `plan` has anything simulated.
    pub fn open(plan: &Plan, create: &RecordFiles<'_>) -> Result<Option<Self>> {
        if plan.jobs.is_empty() && !plan.flows.iter().any(is_of_engine) {
            return Ok(None);
        }
        Ok(Some(SimulatedFiles {
            names: plan.flows.iter().map(|flow| flow.name.clone()).collect(),
            flows: create.table("raw/flows.csv", &FLOW_COLUMNS)?,
            pings: create.table("raw/pings.csv", &PING_COLUMNS)?,
            requests: create.table("raw/requests.csv", &REQUEST_COLUMNS)?,
        }))
    }

    /// Writes the state of flows at one instant.
    pub fn write_flows(&mut self, rows: &[FlowRow]) -> io::Result<()> {
        rows.iter().try_for_each(|row| row.write(&self.names[row.flow as usize], &mut self.flows))
    }

    /// Writes the fates of echo requests.
    pub fn write_pings(&mut self, rows: &[PingRow]) -> io::Result<()> {
        rows.iter().try_for_each(|row| row.write(&self.names[row.flow as usize], &mut self.pings))
    }

    /// Writes the results of transfers.
    pub fn write_requests(&mut self, rows: &[RequestRow]) -> io::Result<()> {
        rows.iter().try_for_each(|row| row.write(&self.names[row.flow as usize], &mut self.requests))
    }

    /// Writes out what is buffered.
    pub fn flush(&mut self) -> io::Result<()> {
        [&mut self.flows, &mut self.pings, &mut self.requests].into_iter().try_for_each(Table::flush)
    }
}
