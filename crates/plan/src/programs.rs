use crate::{Flow, Node, NodeKind, Traffic};
use longhaul_units::InvalidValue;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A real program in a host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Its name; its output goes to `logs/<name>.out` and `logs/<name>.err`.
    pub name: String,
    /// The host, by position among the nodes.
    pub host: usize,
    /// Program and arguments; never passed through a shell.
    pub argv: Vec<String>,
    /// Working directory; `None` for the directory that the run was started from.
    pub cwd: Option<String>,
    /// Variables added to the environment.
    pub env: BTreeMap<String, String>,
    /// When it starts; if `after` names programs, when the last of them has ended. A service starts before the
    /// clock does.
    pub start_ns: u64,
    /// Names of programs that it starts after, however they end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// When it is told to end (SIGTERM, SIGKILL two seconds later); `None`: when it likes.
    pub stop_ns: Option<u64>,
    /// A service serves the others: the run does not wait for it, and stops it at the end.
    pub service: bool,
    /// What tells that a service can be used.
    pub ready: Option<Ready>,
    /// The exit code that means success; `None`: any.
    pub expect_exit: Option<i32>,
    /// A service that may end by itself, however: others end only with `expect_exit`, or when they are told to.
    #[serde(default)]
    pub may_end: bool,
    /// Hosts that its ranks may be started on, if it is a parallel program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Placement>,
    /// The end of a flow that the run itself plays, instead of executing `argv`. It is ready before the
    /// clock starts, and minds neither `start_ns` nor `ready`.
    #[serde(default)]
    pub plays: Option<Part>,
}

/// The hosts of a parallel program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Placement {
    /// By position among the nodes, each once, in the order in which they are filled.
    pub hosts: Vec<usize>,
    /// Ranks on each host, at least one.
    pub slots: u32,
    /// Which rank goes where.
    pub ranks: Ranks,
}

/// How ranks are dealt to the hosts of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ranks {
    /// All slots of a host, then those of the next.
    ByCluster,
    /// One slot of each host, then the next of each.
    RoundRobin,
}

/// A real end of flows of the plan, none of which may be simulated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// The flows, by position, at least one. All begin at the same host, or all end there; several are all
    /// [`Replay`](crate::Traffic::Replay).
    pub flows: Vec<usize>,
    /// Which of their ends.
    pub end: End,
    /// Where the receivers listen.
    pub port: u16,
    /// The kernel's congestion control; `None`: the host's.
    #[serde(default)]
    pub congestion_control: Option<String>,
}

/// One of the two ends of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// Sends.
    Source,
    /// Receives.
    Sink,
}

/// How to tell that a service is ready.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ready {
    /// A TCP port that it listens on.
    pub tcp_port: u16,
    /// How long it may take.
    pub within_ns: u64,
}

/// The first of `items`, each with the names that it starts after, that can never start: it waits for one
/// that does not exist, for itself, or for one that waits for itself.
pub(crate) fn check_order<'a>(
    items: &(impl Iterator<Item = (&'a str, &'a [String])> + Clone),
) -> Result<(), (usize, InvalidValue)> {
    let names: BTreeSet<&str> = items.clone().map(|(name, _)| name).collect();
    for (position, (_, after)) in items.clone().enumerate() {
        if let Some(unknown) = after.iter().find(|each| !names.contains(each.as_str())) {
            return Err((position, InvalidValue::new("after", format!("there is no {unknown}"))));
        }
    }
    let mut ended: BTreeSet<&str> = BTreeSet::new();
    loop {
        let before = ended.len();
        for (name, after) in items.clone() {
            if after.iter().all(|each| ended.contains(each.as_str())) {
                ended.insert(name);
            }
        }
        if ended.len() == before {
            break;
        }
    }
    let Some((stuck, (name, after))) = items.clone().enumerate().find(|(_, (name, _))| !ended.contains(name))
    else {
        return Ok(());
    };
    let mut awaited: BTreeSet<&str> = after.iter().map(String::as_str).collect();
    loop {
        let before = awaited.len();
        for (_, after) in items.clone().filter(|(name, _)| awaited.contains(name)).collect::<Vec<_>>() {
            awaited.extend(after.iter().map(String::as_str));
        }
        if awaited.len() == before {
            break;
        }
    }
    let what = if awaited.contains(name) { "waits for itself" } else { "depends on a cycle of starts" };
    Err((stuck, InvalidValue::new("after", what)))
}

impl Placement {
    /// The first thing that is wrong.
    pub(crate) fn check(&self, nodes: &[Node]) -> Result<(), InvalidValue> {
        if self.hosts.is_empty() {
            return Err(InvalidValue::new("hosts", "are none"));
        }
        let mut met = BTreeSet::new();
        for (place, &host) in self.hosts.iter().enumerate() {
            let wrong = |what: &str| Err(InvalidValue::new(format!("hosts[{place}]"), what));
            let Some(node) = nodes.get(host) else { return wrong(&format!("there is no node {host}")) };
            if node.kind != NodeKind::Host {
                return wrong("a router runs no programs");
            }
            if !met.insert(host) {
                return wrong("is there twice");
            }
        }
        if self.slots == 0 { Err(InvalidValue::new("slots", "must be positive")) } else { Ok(()) }
    }
}

impl Part {
    /// The first thing that is wrong, if it is played on `host`; `owner` tells the host of an interface.
    pub(crate) fn check(
        &self,
        host: usize,
        flows: &[Flow],
        owner: impl Fn(usize) -> usize,
    ) -> Result<(), InvalidValue> {
        if self.flows.is_empty() {
            return Err(InvalidValue::new("flows", "are none"));
        }
        for (place, &number) in self.flows.iter().enumerate() {
            let wrong = |what: &str| Err(InvalidValue::new(format!("flows[{place}]"), what));
            let Some(flow) = flows.get(number) else { return wrong(&format!("there is no flow {number}")) };
            let end = if self.end == End::Source { flow.source } else { flow.destination };
            if flow.simulated {
                return wrong("is simulated");
            }
            if owner(end) != host {
                return wrong("has another end there");
            }
            if self.flows.len() > 1 && !matches!(flow.traffic, Traffic::Replay { .. }) {
                return wrong("has ends of its own");
            }
        }
        Ok(())
    }
}
