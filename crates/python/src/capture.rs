use crate::error;
use longhaul_capture::{Asked, Exchange, Findings, Flow, Kind, Loss, Reader, Tally, unpacked};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde::Serialize;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Reads a capture, packed or not, in steps.
#[pyclass]
pub struct CaptureReader {
    reader: Option<Reader<Box<dyn Read + Send + Sync>>>,
    read: Arc<AtomicU64>,
    findings: Option<Findings>,
}

/// Column by column: time, packet, packet of all, position, bytes, transmission, time of repair, place.
type Losses = (Vec<u64>, Vec<u64>, Vec<u64>, Vec<u64>, Vec<u32>, Vec<u16>, Vec<u64>, Vec<bool>);

#[pymethods]
impl CaptureReader {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let file = File::open(path)?;
        let read = Arc::new(AtomicU64::new(0));
        let counted = Counted { file, read: read.clone() };
        let reader =
            py.detach(|| -> PyResult<_> { Reader::new(unpacked(counted)?).map_err(error::capture) })?;
        Ok(CaptureReader { reader: Some(reader), read, findings: None })
    }

    /// Looks at so many packets more; false at the end.
    fn advance(&mut self, py: Python<'_>, packets: u64) -> PyResult<bool> {
        let Some(reader) = &mut self.reader else { return Ok(false) };
        py.detach(|| reader.advance(packets)).map_err(error::capture)
    }

    /// Bytes of the file read so far.
    fn bytes(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    /// What was found, as JSON, without the losses; once, at the end.
    fn finish(&mut self, py: Python<'_>) -> PyResult<String> {
        #[derive(Serialize)]
        struct Summary<'a> {
            flows: &'a [Flow],
            tally: Tally,
            broken_off: Option<u64>,
        }
        let reader = self.reader.take().ok_or_else(|| PyRuntimeError::new_err("finish was called before"))?;
        let findings = self.findings.insert(py.detach(|| reader.finish()));
        let Findings { flows, tally, broken_off } = &*findings;
        let summary = Summary { flows, tally: *tally, broken_off: *broken_off };
        serde_json::to_string(&summary).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// The losses of a flow, column by column; after `finish`.
    fn losses(&self, flow: usize) -> PyResult<Losses> {
        fn column<T>(losses: &[Loss], of: impl Fn(&Loss) -> T) -> Vec<T> {
            losses.iter().map(of).collect()
        }
        let flow = self.findings.as_ref().and_then(|findings| findings.flows.get(flow));
        let losses = &flow.ok_or_else(|| PyRuntimeError::new_err("there is no such flow"))?.losses;
        Ok((
            column(losses, |loss| loss.at_ns),
            column(losses, |loss| loss.packet),
            column(losses, |loss| loss.packet_of_all),
            column(losses, |loss| loss.position),
            column(losses, |loss| loss.bytes),
            column(losses, |loss| loss.transmission),
            column(losses, |loss| loss.repaired_at_ns),
            column(losses, |loss| loss.place == longhaul_capture::Place::Beyond),
        ))
    }
}

/// Time, first byte, the one after the last, and whether it was seen before: new, again or late.
type Data = (Vec<u64>, Vec<i64>, Vec<i64>, Vec<&'static str>);
/// Time, bytes acknowledged, end of the window.
type Answers = (Vec<u64>, Vec<i64>, Vec<Option<i64>>);
/// Time, first byte, the one after the last.
type Blocks = (Vec<u64>, Vec<i64>, Vec<i64>);

/// The data that `sender` sent to `receiver` (address and port), as a capture has them at one interface, and
/// what was answered: data, acknowledgements, and blocks of selective ones.
#[pyfunction]
pub fn exchange(
    py: Python<'_>,
    path: PathBuf,
    interface: String,
    sender: &str,
    receiver: &str,
) -> PyResult<(Data, Answers, Blocks)> {
    let end = |text: &str| text.parse().map_err(|_| PyValueError::new_err(format!("no address: {text}")));
    let asked = Asked { interface, sender: end(sender)?, receiver: end(receiver)? };
    let file = File::open(path)?;
    let Exchange { data, answers } =
        py.detach(|| -> PyResult<_> { Exchange::read(unpacked(file)?, &asked).map_err(error::capture) })?;
    let kinds = data.iter().map(|each| match each.kind {
        Kind::New => "new",
        Kind::Retransmitted => "retransmitted",
        Kind::Late => "late",
    });
    let blocks = || answers.iter().flat_map(|each| each.blocks.iter().map(|block| (each.at_ns, *block)));
    Ok((
        (
            data.iter().map(|each| each.at_ns).collect(),
            data.iter().map(|each| each.start).collect(),
            data.iter().map(|each| each.end).collect(),
            kinds.collect(),
        ),
        (
            answers.iter().map(|each| each.at_ns).collect(),
            answers.iter().map(|each| each.acknowledged).collect(),
            answers.iter().map(|each| each.limit).collect(),
        ),
        (
            blocks().map(|(at_ns, _)| at_ns).collect(),
            blocks().map(|(_, (start, _))| start).collect(),
            blocks().map(|(_, (_, end))| end).collect(),
        ),
    ))
}

/// Counts what is read, so that someone can be told how far it is.
struct Counted {
    file: File,
    read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read(room)?;
        self.read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}
