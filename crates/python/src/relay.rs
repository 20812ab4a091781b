//! The relay, and the user's emulation code in it.

use crate::error;
use longhaul_plan::from_json;
use longhaul_relay::{Options, Settings, Wrapper};
use longhaul_units::Span;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, PoisonError};

fn read(plan: &str) -> PyResult<Settings> {
    let settings: Settings = from_json(plan.as_bytes()).map_err(error::invalid)?;
    settings.check().map_err(error::invalid)?;
    Ok(settings)
}

#[pyfunction]
pub fn check_relay_plan(plan: &str) -> PyResult<()> {
    read(plan).map(drop)
}

/// Runs a relay until a byte can be read from `stop`; returns what was done, as JSON.
#[pyfunction]
#[pyo3(signature = (plan, *, directory, socket, token, stop, ready, wrapper))]
#[expect(unsafe_code, reason = "a descriptor comes as a number from its owner")]
#[expect(clippy::too_many_arguments, reason = "named in Python")]
pub fn run_relay(
    py: Python<'_>,
    plan: &str,
    directory: std::path::PathBuf,
    socket: Option<std::path::PathBuf>,
    token: Option<String>,
    stop: i32,
    ready: Py<PyAny>,
    wrapper: Option<Py<PyAny>>,
) -> PyResult<String> {
    let settings = read(plan)?;
    // SAFETY: the caller keeps it open during the call.
    let stop = unsafe { BorrowedFd::borrow_raw(stop) }.try_clone_to_owned()?;
    let failure = Arc::new(Mutex::new(None));
    let wrapper =
        wrapper.map(|code| Box::new(Code { code, failure: Arc::clone(&failure) }) as Box<dyn Wrapper>);
    let storage = Box::new(longhaul_storage::Disk);
    let options = Options { directory, storage, socket, token, stop, wrapper };
    let result = py.detach(|| {
        longhaul_relay::run(settings, options, |addresses| {
            let list: Vec<String> = addresses
                .iter()
                .enumerate()
                .map(|(listener, address)| {
                    format!("{{\"listener\": {listener}, \"address\": \"{address}\"}}")
                })
                .collect();
            let told = Python::attach(|py| ready.call1(py, (format!("[{}]", list.join(", ")),)).map(drop));
            keep_first(&failure, told);
        })
    });
    if let Some(error) = failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
        return Err(error);
    }
    result.map(|value| value.to_string()).map_err(error::relay)
}

type Failure = Arc<Mutex<Option<PyErr>>>;

fn keep_first(failure: &Failure, result: PyResult<()>) {
    if let Err(error) = result {
        failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

/// The user's emulation code: after its first error every message passes as it is, and the error is
/// raised when the relay ends.
struct Code {
    code: Py<PyAny>,
    failure: Failure,
}

impl Wrapper for Code {
    fn operation(&mut self, connection: u64, from: usize, to: usize, data: &mut Vec<u8>) -> Span {
        if self.failure.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
            return Span::ZERO;
        }
        let result = Python::attach(|py| {
            let answer = self.code.call1(py, (connection, from, to, PyBytes::new(py, data)))?;
            interpret(answer.bind(py), data)
        });
        result.unwrap_or_else(|error| {
            keep_first(&self.failure, Err(error));
            Span::ZERO
        })
    }
}

/// None: pass on; a number: keep so many ns longer; bytes: pass these; both: both.
fn interpret(answer: &Bound<'_, PyAny>, data: &mut Vec<u8>) -> PyResult<Span> {
    if answer.is_none() {
        return Ok(Span::ZERO);
    }
    if let Ok(ns) = answer.extract::<u64>() {
        return Ok(Span::from_ns(ns));
    }
    if let Ok(bytes) = answer.extract::<Vec<u8>>() {
        *data = bytes;
        return Ok(Span::ZERO);
    }
    if let Ok((bytes, ns)) = answer.extract::<(Vec<u8>, u64)>() {
        *data = bytes;
        return Ok(Span::from_ns(ns));
    }
    Err(PyTypeError::new_err("operation returns None, nanoseconds, bytes, or (bytes, nanoseconds)"))
}
