use longhaul_units::InvalidValue;
use std::fmt;

/// Why a live run could not continue, and the remedy.
#[derive(Clone, Debug)]
pub struct Error {
    message: String,
    remedy: Option<String>,
    is_crash: bool,
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error with a message.
    pub fn new(message: impl Into<String>) -> Self {
        Error { message: message.into(), remedy: None, is_crash: false }
    }

    /// One of Longhaul's own processes died.
    pub fn crash(message: impl Into<String>) -> Self {
        Error { is_crash: true, ..Error::new(message) }
    }

    /// Whether one of Longhaul's own processes died.
    pub fn is_crash(&self) -> bool {
        self.is_crash
    }

    /// The last system call's error, while trying to `what`.
    pub fn last(what: &str) -> Self {
        Error::new(format!("cannot {what}: {}", std::io::Error::last_os_error()))
    }

    /// A failed operation, while trying to `what`.
    pub fn wrap(what: impl fmt::Display, error: impl fmt::Display) -> Self {
        Error::new(format!("cannot {what}: {error}"))
    }

    /// What is wrong, and where.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The remedy, if one is known.
    pub fn remedy(&self) -> Option<&str> {
        self.remedy.as_deref()
    }

    /// Adds a remedy.
    #[must_use]
    pub fn with_remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// Prepends `place` to the message.
    #[must_use]
    pub fn at(mut self, place: impl fmt::Display) -> Self {
        self.message = format!("{place}: {}", self.message);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.remedy {
            Some(remedy) => write!(f, "; {remedy}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}

impl From<longhaul_virtual::Error> for Error {
    /// A kernel of a host that breaks its protocols, or whose connection fails.
    fn from(error: longhaul_virtual::Error) -> Self {
        Error::crash(error.to_string())
    }
}

impl From<InvalidValue> for Error {
    fn from(invalid: InvalidValue) -> Self {
        let (path, rule) = (invalid.path(), invalid.rule());
        let message = if path.is_empty() { rule.to_owned() } else { format!("{path}: {rule}") };
        Error { message, remedy: invalid.remedy().map(str::to_owned), is_crash: false }
    }
}
