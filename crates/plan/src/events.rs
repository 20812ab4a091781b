//! Changes of links while a run goes on, and who asked for them.

use crate::Change;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One of the two directions of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Way {
    /// From the first endpoint to the second.
    Forward,
    /// From the second endpoint to the first.
    Reverse,
}

/// What becomes different in a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkChange {
    /// Which link.
    pub link: usize,
    /// Which direction; `None` for both.
    #[serde(default)]
    pub direction: Option<Way>,
    /// Which of its parallel routes; `None`: the link, or all of them.
    #[serde(default)]
    pub route: Option<usize>,
    /// What becomes different.
    pub change: Change,
}

/// A change of a link at a time. A run that applies it records it in these words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// When, since the start of the run.
    pub at_ns: u64,
    /// Which link.
    pub link: usize,
    /// Which direction; `None` for both.
    pub direction: Option<Way>,
    /// Which of its parallel routes; `None`: the link, or all of them.
    #[serde(default)]
    pub route: Option<usize>,
    /// What becomes different.
    pub change: Change,
    /// Who asked for it; `None`: the plan does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
}

/// Who asked for a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "by", rename_all = "lowercase", deny_unknown_fields)]
pub enum Cause {
    /// The scenario. All steps of a gradual change have the same cause.
    Event {
        /// Position in the scenario's `events`.
        position: usize,
        /// When the event begins, since the start of the run.
        begins_ns: u64,
        /// How long it takes; 0: it happens at once.
        over_ns: u64,
    },
    /// `longhaul set`.
    Cli(Requester),
    /// The page.
    Page(Requester),
    /// A program in Python.
    Python(Requester),
}

/// A user who asked for a change while the run went on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Requester {
    /// Name of the account.
    pub user: String,
    /// What was asked for, as it was written: `delay=60ms`, `down`.
    pub words: Vec<String>,
}

impl LinkChange {
    /// The change as it is applied at an instant.
    pub fn at(self, at_ns: u64, cause: Option<Cause>) -> Event {
        let LinkChange { link, direction, route, change } = self;
        Event { at_ns, link, direction, route, change, cause }
    }
}

impl Cause {
    /// Whether a user asked for it, and not the scenario.
    pub fn is_intervention(&self) -> bool {
        !matches!(self, Cause::Event { .. })
    }
}
