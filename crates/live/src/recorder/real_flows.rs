//! What flows of real packets did: over time, and in all.

use super::RecordFiles;
use crate::error::Result;
use longhaul_record::{FLOW_COUNT_COLUMNS, FLOW_SAMPLE_COLUMNS, FlowCountRow, FlowSampleRow, Table};
use longhaul_storage::Appender;
use std::io;

/// `flow_counts.csv` and `flow_samples.csv`.
pub struct RealFlowFiles {
    counts: Table<Appender>,
    samples: Table<Appender>,
}

impl RealFlowFiles {
    /// Creates them.
    pub fn open(create: &RecordFiles<'_>) -> Result<Self> {
        Ok(RealFlowFiles {
            counts: create.table("raw/flow_counts.csv", &FLOW_COUNT_COLUMNS)?,
            samples: create.table("raw/flow_samples.csv", &FLOW_SAMPLE_COLUMNS)?,
        })
    }

    /// Writes what flows did in all.
    pub fn write_counts(&mut self, rows: &[FlowCountRow]) -> io::Result<()> {
        rows.iter().try_for_each(|row| row.write(&mut self.counts))
    }

    /// Writes their counts so far, for readers of the growing files.
    pub fn write_samples(&mut self, rows: &[FlowSampleRow]) -> io::Result<()> {
        rows.iter().try_for_each(|row| row.write(&mut self.samples))?;
        self.samples.flush()
    }

    /// Writes out what is buffered.
    pub fn flush(&mut self) -> io::Result<()> {
        self.counts.flush()?;
        self.samples.flush()
    }
}
