use longhaul_link::{Framing, PacingModel};
use longhaul_units::{InvalidValue, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most classes of a host.
pub const MOST_PACING_CLASSES: usize = 4_096;

/// How a host spaces what it sends, before it comes to the link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pacing {
    /// The rate of the host's card, at which every packet leaves.
    #[serde(rename = "line_bits_per_s")]
    pub line: Rate,
    /// What a packet occupies the card for.
    #[serde(default)]
    pub line_framing: Framing,
    /// What the rates of classes count.
    #[serde(default)]
    pub class_framing: Framing,
    /// At least one.
    pub classes: Vec<PacingClass>,
    /// The class of what no rule matches, by position.
    pub default: usize,
    /// Who belongs to which class: the first that matches.
    #[serde(default)]
    pub rules: Vec<PacingRule>,
}

/// Packets that leave by one clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PacingClass {
    /// Its name, unique in its host.
    pub name: String,
    /// When its packets may leave.
    pub model: PacingModel,
    /// Packets that may wait; `None`: any number.
    #[serde(default)]
    pub limit_packets: Option<u64>,
    /// IP bytes that may wait; `None`: any number.
    #[serde(default)]
    pub limit_bytes: Option<u64>,
}

/// Which packets belong to a class: those for which all holds that is said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PacingRule {
    /// Position of the class, or of the first of `flows` classes.
    pub class: usize,
    /// Each flow has a class of its own, and so many have: the classes from `class` on. A flow that finds
    /// none that is idle goes on to the next rule. 0: all share `class`.
    pub flows: usize,
    /// Destinations, by position among the nodes; none: any.
    pub destinations: Vec<usize>,
    /// Ranges of ports, ends included, one of which the source or the destination port is in; none: any.
    pub ports: Vec<(u16, u16)>,
    /// The number of the protocol, as in the IP header.
    pub protocol: Option<u8>,
    /// The differentiated services code point.
    pub dscp: Option<u8>,
    /// Simulated flows, by position in the plan, or jobs, there and back; none: any packet.
    pub senders: Vec<Sender>,
}

/// Whose a simulated packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sender {
    /// The flow at this position of the plan.
    Flow(u32),
    /// The job at this position of the plan.
    Job(u32),
}

impl Pacing {
    /// What the classes may send together.
    pub fn promised_bits_per_s(&self) -> u128 {
        let rates = self.classes.iter().filter_map(|class| class.model.rate());
        rates.map(|rate| u128::from(rate.bits_per_s())).sum()
    }

    /// Checks that the line carries what the classes promise.
    ///
    /// # Errors
    /// If it does not, with the figures.
    pub fn check_sum(&self) -> Result<(), InvalidValue> {
        let (promised, line) = (self.promised_bits_per_s(), self.line.bits_per_s());
        if promised > u128::from(line) {
            let rule = format!("promise {promised} bit/s of a line of {line} bit/s");
            return Err(InvalidValue::new("classes", rule));
        }
        Ok(())
    }

    /// Checks the rules between fields, for a plan with so many nodes.
    ///
    /// # Errors
    /// The first rule that is broken, with its place, named from `classes`, `rules` ... on.
    pub fn check(&self, nodes: usize) -> Result<(), InvalidValue> {
        let count = self.classes.len();
        if count > MOST_PACING_CLASSES {
            return Err(InvalidValue::new(
                "classes",
                format!("are {count}, more than {MOST_PACING_CLASSES}"),
            ));
        }
        self.check_sum()?;
        if self.default >= count {
            return Err(InvalidValue::new("default", format!("there is no class {}", self.default)));
        }
        for (position, rule) in self.rules.iter().enumerate() {
            let wrong =
                |field: &str, what: String| InvalidValue::new(format!("rules[{position}].{field}"), what);
            if rule.class + rule.flows.max(1) > count {
                return Err(wrong("class", format!("there are {count} classes")));
            }
            if let Some(node) = rule.destinations.iter().find(|&&node| node >= nodes) {
                return Err(wrong("destinations", format!("there is no node {node}")));
            }
            if rule.dscp.is_some_and(|dscp| dscp > 63) {
                return Err(wrong("dscp", "must be below 64".into()));
            }
        }
        Ok(())
    }
}
