use crate::Tcp;
use longhaul_congestion::AlgorithmSettings;
use longhaul_units::InvalidValue;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A simulated parallel program: ranks that compute, and send each other messages over TCP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Its name.
    pub name: String,
    /// The host of each rank, by position among the nodes.
    pub ranks: Vec<usize>,
    /// When it begins; if `after` names jobs, when the last of them has ended.
    pub start_ns: u64,
    /// Names of jobs that it begins after.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// How often the steps are done.
    pub repeat: u32,
    /// What controls the windows.
    pub cc: AlgorithmSettings,
    /// How the rest of TCP behaves.
    #[serde(default)]
    pub tcp: Tcp,
    /// What each rank does, one after another.
    pub steps: Vec<Vec<Step>>,
}

/// One thing that a rank does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Step {
    /// Hands over a message, and goes on at once.
    Send {
        /// To which rank.
        to: u32,
        /// Its bytes; at least 1.
        bytes: u64,
    },
    /// Waits for a message.
    Receive {
        /// From which rank.
        from: u32,
        /// Its bytes; at least 1.
        bytes: u64,
    },
    /// Does something else.
    Compute {
        /// For so long.
        ns: u64,
    },
}

impl Job {
    /// The first thing that is wrong, but for its hosts.
    pub(crate) fn check(&self) -> Result<(), InvalidValue> {
        self.cc.check().map_err(|error| error.within("cc"))?;
        if self.steps.len() != self.ranks.len() || self.ranks.is_empty() {
            return Err(InvalidValue::new("steps", format!("there are {} ranks", self.ranks.len())));
        }
        if self.repeat == 0 || self.steps.iter().all(Vec::is_empty) {
            return Err(InvalidValue::new("steps", "there is nothing to do"));
        }
        let mut open: BTreeMap<(u32, u32), i128> = BTreeMap::new();
        for (rank, steps) in (0u32..).zip(&self.steps) {
            for (place, step) in steps.iter().enumerate() {
                let (pair, bytes) = match *step {
                    Step::Send { to, bytes } => ((rank, to), i128::from(bytes)),
                    Step::Receive { from, bytes } => ((from, rank), -i128::from(bytes)),
                    Step::Compute { .. } => continue,
                };
                let other = if bytes > 0 { pair.1 } else { pair.0 };
                if other as usize >= self.ranks.len() || other == rank || bytes == 0 {
                    return Err(InvalidValue::new(
                        format!("steps[{rank}][{place}]"),
                        "names no other rank, or no bytes",
                    ));
                }
                *open.entry(pair).or_default() += bytes;
            }
        }
        match open.iter().find(|&(_, &bytes)| bytes != 0) {
            Some(((from, to), _)) => Err(InvalidValue::new(
                "steps",
                format!("rank {to} does not receive what rank {from} sends it"),
            )),
            None => Ok(()),
        }
    }
}
