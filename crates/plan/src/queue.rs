use serde::{Deserialize, Serialize};

/// Who waits for the wire, how much, and who goes next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Queue {
    /// Packets waiting, the one on the wire not counted.
    pub limit_packets: Option<u64>,
    /// IP bytes waiting.
    pub limit_bytes: Option<u64>,
    /// Order, and what is dropped or marked before the limit is reached.
    #[serde(default)]
    pub discipline: QueueDiscipline,
}

/// Order, and what is dropped or marked before the limit is reached.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "law", rename_all = "kebab-case", deny_unknown_fields)]
pub enum QueueDiscipline {
    /// First in, first out; what does not fit is not let in.
    #[default]
    Fifo,
    /// First in, first out; what has waited longest makes room.
    HeadDrop,
    /// Random early detection (Floyd and Jacobson 1993), gentle if so told.
    Red {
        /// Average of waiting bytes below which nothing is dropped.
        least_bytes: u64,
        /// Average from which on everything is (with `gentle`: twice this); more than the least.
        most_bytes: u64,
        /// Chance at the greatest average; above 0, at most 1.
        probability: f64,
        /// Weight of a new value in the average; above 0, at most 1.
        weight: f64,
        /// From the greatest average to its double the chance rises to 1.
        gentle: bool,
        /// Marks what can be marked, instead of dropping it.
        ecn: bool,
        /// Size of a typical packet in bytes, for the average over idle times and the chances.
        packet_bytes: u32,
    },
    /// Controlled delay (RFC 8289).
    Codel {
        /// Acceptable standing delay.
        target_ns: u64,
        /// A worst-case round trip.
        interval_ns: u64,
        /// Marks what can be marked, instead of dropping it.
        ecn: bool,
    },
    /// Flows taken in turn, each with controlled delay (RFC 8290).
    FqCodel {
        /// Acceptable standing delay.
        target_ns: u64,
        /// A worst-case round trip.
        interval_ns: u64,
        /// Bytes that a flow may send in its turn; at least 1.
        quantum_bytes: u32,
        /// Number of queues that flows are hashed into; at least 1.
        flows: u32,
        /// Marks what can be marked, instead of dropping it.
        ecn: bool,
    },
    /// Proportional integral controller enhanced (RFC 8033).
    Pie {
        /// Delay to be held.
        target_ns: u64,
        /// Time between updates of the chance; positive.
        update_ns: u64,
        /// Weight of the distance from the target, per second.
        alpha: f64,
        /// Weight of the trend, per second.
        beta: f64,
        /// Bursts that are let through after quiet times.
        burst_ns: u64,
        /// Marks what can be marked while the chance is at most a tenth, instead of dropping it.
        ecn: bool,
    },
    /// Flows taken in turn, by bytes (deficit round robin; Shreedhar and Varghese 1995).
    Drr {
        /// Bytes that a flow may send in its turn; at least 1.
        quantum_bytes: u32,
        /// Number of queues that flows are hashed into; at least 1.
        flows: u32,
    },
    /// Bands, the first with anything waiting goes; by the DSCP of packets.
    Priority {
        /// The band of each DSCP from 0 to 63.
        bands: Vec<u8>,
    },
}

impl Queue {
    /// The first thing that is wrong, named by its field.
    pub fn check(&self) -> Result<(), String> {
        let share = |name: &str, value: f64| {
            if value > 0.0 && value <= 1.0 {
                Ok(())
            } else {
                Err(format!("{name}: must be above 0 and at most 1"))
            }
        };
        match &self.discipline {
            QueueDiscipline::Red { least_bytes, most_bytes, .. } if least_bytes >= most_bytes => {
                Err("most_bytes: must be more than the least".into())
            }
            QueueDiscipline::Red { packet_bytes: 0, .. } => Err("packet_bytes: must be at least 1".into()),
            QueueDiscipline::Red { probability, weight, .. } => {
                share("probability", *probability)?;
                share("weight", *weight)
            }
            QueueDiscipline::Codel { interval_ns: 0, .. }
            | QueueDiscipline::FqCodel { interval_ns: 0, .. } => Err("interval_ns: must be positive".into()),
            QueueDiscipline::FqCodel { quantum_bytes: 0, .. }
            | QueueDiscipline::Drr { quantum_bytes: 0, .. } => {
                Err("quantum_bytes: must be at least 1".into())
            }
            QueueDiscipline::FqCodel { flows, .. } | QueueDiscipline::Drr { flows, .. }
                if !(1..=65_536).contains(flows) =>
            {
                Err("flows: must lie between 1 and 65536".into())
            }
            QueueDiscipline::Pie { update_ns: 0, .. } => Err("update_ns: must be positive".into()),
            QueueDiscipline::Pie { alpha, beta, .. } if !(*alpha >= 0.0 && *beta >= 0.0) => {
                Err("alpha: and beta must not be negative".into())
            }
            QueueDiscipline::Priority { bands } if bands.len() != 64 => {
                Err("bands: must name a band for each of 64 DSCPs".into())
            }
            QueueDiscipline::Priority { bands } if bands.iter().any(|&band| band >= 8) => {
                Err("bands: there are at most 8".into())
            }
            _ => Ok(()),
        }
    }
}
