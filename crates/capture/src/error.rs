use std::fmt;

/// Why a capture cannot be read: where, what, and what helps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Bytes from the beginning of the unpacked file, if the place has anything to do with it.
    pub offset: Option<u64>,
    /// What is wrong.
    pub message: String,
    /// What helps.
    pub remedy: &'static str,
}

impl Error {
    pub(crate) fn at(offset: u64, message: impl Into<String>, remedy: &'static str) -> Self {
        Error { offset: Some(offset), message: message.into(), remedy }
    }

    pub(crate) fn anywhere(message: impl Into<String>, remedy: &'static str) -> Self {
        Error { offset: None, message: message.into(), remedy }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(offset) = self.offset {
            write!(out, "at byte {offset}: ")?;
        }
        write!(out, "{}; {}", self.message, self.remedy)
    }
}

impl std::error::Error for Error {}
