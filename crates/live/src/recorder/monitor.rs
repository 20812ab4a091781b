//! What monitored links did, bin by bin.

use super::create;
use crate::error::{Error, Result};
use longhaul_network::Bins;
use longhaul_plan::Plan;
use longhaul_record::{BINS_HEADER, FLOW_BINS_HEADER};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// `monitor.csv` and `monitor_flows.csv`.
pub struct MonitorFiles {
    directions: BufWriter<File>,
    flows: BufWriter<File>,
}

impl MonitorFiles {
    /// Opens them in the directory `raw`, if `plan` has links watched.
    pub fn open(plan: &Plan, raw: &Path) -> Result<Option<Self>> {
        if plan.measure.monitor.is_none() {
            return Ok(None);
        }
        let with_header = |name: &str, header: &str| {
            let mut file = create(&raw.join(name))?;
            file.write_all(header.as_bytes()).map_err(|error| Error::wrap("write records", error))?;
            Ok::<_, Error>(file)
        };
        Ok(Some(MonitorFiles {
            directions: with_header("monitor.csv", BINS_HEADER)?,
            flows: with_header("monitor_flows.csv", FLOW_BINS_HEADER)?,
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
