//! Errors of Rust as exceptions of Python, with their parts as attributes.

use longhaul_units::InvalidValue;
use pyo3::create_exception;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::io;

create_exception!(
    _longhaul,
    InvalidValueError,
    PyValueError,
    "A value that breaks a rule: ``path`` (where it is, or \"\"), ``rule``, ``remedy`` (or None), and ``message``, \
     which has path and rule."
);

create_exception!(
    _longhaul,
    LiveError,
    PyRuntimeError,
    "What a live run cannot do here: ``message``, and ``remedy`` (or None)."
);

/// A value that breaks `rule`.
pub fn invalid_value(path: &str, rule: &str, remedy: Option<&str>) -> PyErr {
    let message = if path.is_empty() { rule.to_owned() } else { format!("{path}: {rule}") };
    let error = with_parts(InvalidValueError::new_err(text(&message, remedy)), &message, remedy);
    Python::attach(|py| {
        let _ = error.value(py).setattr("path", path);
        let _ = error.value(py).setattr("rule", rule);
    });
    error
}

fn text(message: &str, remedy: Option<&str>) -> String {
    remedy.map_or_else(|| message.to_owned(), |remedy| format!("{message}; {remedy}"))
}

/// The same exception with attributes, which an exception always takes.
fn with_parts(error: PyErr, message: &str, remedy: Option<&str>) -> PyErr {
    Python::attach(|py| {
        let _ = error.value(py).setattr("message", message);
        let _ = error.value(py).setattr("remedy", remedy);
    });
    error
}

pub fn invalid(error: InvalidValue) -> PyErr {
    invalid_value(error.path(), error.rule(), error.remedy())
}

pub fn capture(error: longhaul_capture::Error) -> PyErr {
    let path = error.offset.map_or_else(String::new, |offset| format!("at byte {offset}"));
    invalid_value(&path, &error.message, Some(error.remedy))
}

pub fn live(error: longhaul_live::Error) -> PyErr {
    let text = text(error.message(), error.remedy());
    with_parts(LiveError::new_err(text), error.message(), error.remedy())
}

pub fn replay(error: longhaul_network::ReplayError) -> PyErr {
    match error {
        longhaul_network::ReplayError::Plan(invalid) => self::invalid(invalid),
        other => invalid_value("", &other.to_string(), None),
    }
}

/// A setting as a value that breaks a rule; what the system refuses as an `OSError` with its number.
pub fn relay(error: longhaul_relay::Error) -> PyErr {
    use longhaul_relay::Error;
    let (action, source) = match error {
        Error::Settings(invalid) => return self::invalid(invalid),
        Error::Listen { address, source, .. } => (format!("listen at {address}"), source),
        Error::System { action, source } => (action, source),
    };
    PyOSError::new_err((source.raw_os_error(), format!("cannot {action}: {}", reason(&source))))
}

fn reason(error: &io::Error) -> String {
    let number = error.raw_os_error();
    number.map_or_else(|| error.to_string(), |number| nix::errno::Errno::from_raw(number).desc().to_owned())
}
