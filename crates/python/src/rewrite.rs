//! Packets of captures with other addresses.

use crate::error;
use longhaul_capture::{Rewritten, Rules, rewrite, unpacked, write_raw};
use longhaul_network::icmp;
use longhaul_plan::from_json;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

/// The packets of a capture between the hosts of a scenario.
#[pyclass(frozen)]
pub struct RewrittenCapture {
    found: Rewritten,
}

/// Time, length, flow, class and TTL, each a list.
type Columns = (Vec<u64>, Vec<u32>, Vec<u32>, Vec<u8>, Vec<u8>);

#[pymethods]
impl RewrittenCapture {
    #[new]
    fn new(py: Python<'_>, content: &[u8], rules: &str) -> PyResult<Self> {
        let rules: Rules = from_json(rules.as_bytes()).map_err(error::invalid)?;
        let found =
            py.detach(|| -> PyResult<_> { rewrite(unpacked(content)?, &rules).map_err(error::capture) })?;
        Ok(RewrittenCapture { found })
    }

    /// What was counted, as JSON.
    fn tally(&self) -> PyResult<String> {
        serde_json::to_string(&self.found.tally).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// The packets of a pair, column by column.
    fn columns(&self, pair: usize) -> PyResult<Columns> {
        let found = self.pair(pair)?;
        let lengths = found.packets().map(|packet| packet.len() as u32).collect();
        let headers: Vec<_> = found.packets().filter_map(icmp::parse).collect();
        Ok((
            found.at_ns.clone(),
            lengths,
            headers.iter().map(|header| header.flow).collect(),
            headers.iter().map(|header| header.class).collect(),
            headers.iter().map(|header| header.ttl).collect(),
        ))
    }

    /// The packets of a pair as a pcap file.
    fn pcap(&self, pair: usize) -> PyResult<Vec<u8>> {
        let found = self.pair(pair)?;
        let mut file = Vec::new();
        write_raw(&mut file, found.at_ns.iter().copied().zip(found.packets()))
            .map_err(|error| PyOSError::new_err(error.to_string()))?;
        Ok(file)
    }
}

impl RewrittenCapture {
    fn pair(&self, pair: usize) -> PyResult<&longhaul_capture::PairPackets> {
        self.found.pairs.get(pair).ok_or_else(|| PyValueError::new_err("there is no such pair"))
    }
}
