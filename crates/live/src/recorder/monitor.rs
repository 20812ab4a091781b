//! What monitored links did, bin by bin.

use super::RecordFiles;
use crate::error::Result;
use longhaul_network::Bins;
use longhaul_plan::Plan;
use longhaul_record::{BIN_COLUMNS, FLOW_BIN_COLUMNS, Table};
use longhaul_storage::Appender;
use std::io;

/// `monitor.csv` and `monitor_flows.csv`.
pub struct MonitorFiles {
    directions: Table<Appender>,
    flows: Table<Appender>,
}

impl MonitorFiles {
    /// Creates them if `plan` has links watched.
    pub fn open(plan: &Plan, create: &RecordFiles<'_>) -> Result<Option<Self>> {
        if plan.measure.monitor.is_none() {
            return Ok(None);
        }
        Ok(Some(MonitorFiles {
            directions: create.table("raw/monitor.csv", &BIN_COLUMNS)?,
            flows: create.table("raw/monitor_flows.csv", &FLOW_BIN_COLUMNS)?,
        }))
    }

    /// Writes bins; `links` are the links' names.
    pub fn write(&mut self, bins: &Bins, links: &[String]) -> io::Result<()> {
        let MonitorFiles { directions, flows } = self;
        bins.directions.iter().try_for_each(|row| row.write(&links[row.link as usize], directions))?;
        bins.flows.iter().try_for_each(|row| row.write(&links[row.link as usize], flows))
    }

    /// Writes out what is buffered.
    pub fn flush(&mut self) -> io::Result<()> {
        self.directions.flush()?;
        self.flows.flush()
    }
}
