//! The records of simulated flows, as a simulation has them.

use super::create;
use crate::error::{Error, Result};
use longhaul_plan::Plan;
use longhaul_record::{ECHOES_HEADER, EchoRow, FLOWS_HEADER, FlowRow, REQUESTS_HEADER, RequestRow};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// `flows.csv`, `echoes.csv` and `requests.csv`.
pub struct SimulatedFiles {
    names: Vec<String>,
    flows: BufWriter<File>,
    echoes: BufWriter<File>,
    requests: BufWriter<File>,
}

impl SimulatedFiles {
    /// Opens them in the directory `raw`, if `plan` has anything simulated.
    pub fn open(plan: &Plan, raw: &Path) -> Result<Option<Self>> {
        if plan.jobs.is_empty() && !plan.flows.iter().any(|flow| flow.simulated) {
            return Ok(None);
        }
        let with_header = |name: &str, header: &str| {
            let mut file = create(&raw.join(name))?;
            file.write_all(header.as_bytes()).map_err(|error| Error::wrap("write records", error))?;
            Ok::<_, Error>(file)
        };
        Ok(Some(SimulatedFiles {
            names: plan.flows.iter().map(|flow| flow.name.clone()).collect(),
            flows: with_header("flows.csv", FLOWS_HEADER)?,
            echoes: with_header("echoes.csv", ECHOES_HEADER)?,
            requests: with_header("requests.csv", REQUESTS_HEADER)?,
        }))
    }

    /// Writes the state of flows at one instant.
    pub fn write_flows(&mut self, rows: &[FlowRow]) -> io::Result<()> {
        rows.iter().try_for_each(|row| row.write(&self.names[row.flow as usize], &mut self.flows))
    }

    /// Writes the fates of echo requests.
    pub fn write_echoes(&mut self, rows: &[EchoRow]) -> io::Result<()> {
        rows.iter().try_for_each(|row| row.write(&self.names[row.flow as usize], &mut self.echoes))
    }

    /// Writes what became of transfers.
    pub fn write_requests(&mut self, rows: &[RequestRow]) -> io::Result<()> {
        rows.iter().try_for_each(|row| row.write(&self.names[row.flow as usize], &mut self.requests))
    }

    /// Writes out what is buffered.
    pub fn flush(&mut self) -> io::Result<()> {
        [&mut self.flows, &mut self.echoes, &mut self.requests].into_iter().try_for_each(Write::flush)
    }
}
