use crate::series::{check_points, sorted};
use serde::{Deserialize, Serialize};

/// How fast the wire takes packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "law", rename_all = "kebab-case", deny_unknown_fields)]
pub enum RateModel {
    /// At once: nothing ever waits.
    Unlimited {},
    /// Exactly this fast.
    Constant {
        /// Bit/s; at least 1.
        bits_per_s: u64,
    },
    /// Each packet at the line's rate, and the next one begins when the byte clock of a slower rate
    /// says so (PSPacer's idea).
    Paced {
        /// The slower rate in bit/s; at least 1.
        bits_per_s: u64,
        /// The line's rate in bit/s; at least the slower rate.
        line_bits_per_s: u64,
    },
    /// A bucket of tokens that fills at a rate; a packet goes when there are tokens for all of it.
    TokenBucket {
        /// How fast it fills, in bit/s; at least 1.
        bits_per_s: u64,
        /// How many bytes it holds. Larger packets are never sent: the queue drops them.
        burst_bytes: u64,
        /// How fast packets leave that have their tokens, in bit/s; `None`: at once.
        peak_bits_per_s: Option<u64>,
    },
    /// From a list of points of time, in steps; a rate of 0 sends nothing. A packet goes at the rate
    /// of the moment at which it begins.
    Series {
        /// (time, bit/s), times ascending, the first at 0.
        points: Vec<(u64, u64)>,
        /// The list begins again after this long; else its last value is held.
        repeat_ns: Option<u64>,
    },
    /// At each of a list of times so many bytes of what waits (mahimahi's packet-delivery traces).
    Opportunities {
        /// Times since the start of the run, ascending; at least one after 0.
        times_ns: Vec<u64>,
        /// The list begins again after this long, at least the last time.
        repeat_ns: u64,
        /// Bytes per opportunity; at least 1.
        bytes: u64,
    },
}

/// What each packet occupies the wire for, beyond its IP bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Framing {
    /// Bytes added to each packet: 38 for Ethernet with preamble, header, FCS and gap; 42 with a VLAN
    /// tag; 0 to count IP bytes alone.
    pub overhead_bytes: u32,
    /// Least bytes with that overhead: 84 for Ethernet.
    pub least_bytes: u32,
    /// Then cut into cells.
    pub cells: Option<Cells>,
}

/// Cells as ATM has them: 48 bytes of payload in 53.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cells {
    /// Bytes of payload in a cell; at least 1.
    pub payload_bytes: u32,
    /// Bytes of a cell; at least its payload.
    pub cell_bytes: u32,
}

impl Framing {
    /// The first thing that is wrong, named by its field.
    pub fn check(&self) -> Result<(), String> {
        match self.cells {
            Some(Cells { payload_bytes: 0, .. }) => Err("cells.payload_bytes: must be at least 1".into()),
            Some(Cells { payload_bytes, cell_bytes }) if cell_bytes < payload_bytes => {
                Err("cells.cell_bytes: must be at least the payload".into())
            }
            _ => Ok(()),
        }
    }
}

impl RateModel {
    /// The first thing that is wrong, named by its field.
    pub fn check(&self) -> Result<(), String> {
        match self {
            RateModel::Constant { bits_per_s: 0 }
            | RateModel::Paced { bits_per_s: 0, .. }
            | RateModel::TokenBucket { bits_per_s: 0, .. } => {
                Err("bits_per_s: must be positive; a link that carries nothing is down".into())
            }
            RateModel::Paced { bits_per_s, line_bits_per_s } if line_bits_per_s < bits_per_s => {
                Err("line_bits_per_s: must be at least the paced rate".into())
            }
            RateModel::TokenBucket { burst_bytes: 0, .. } => Err("burst_bytes: must be positive".into()),
            RateModel::TokenBucket { bits_per_s, peak_bits_per_s: Some(peak), .. } if peak < bits_per_s => {
                Err("peak_bits_per_s: must be at least the rate".into())
            }
            RateModel::Series { points, repeat_ns } => {
                check_points(points, *repeat_ns)?;
                if points.iter().all(|point| point.1 == 0) {
                    Err("points: must have a rate above 0; a link that carries nothing is down".into())
                } else {
                    Ok(())
                }
            }
            RateModel::Opportunities { times_ns, repeat_ns, bytes } => {
                sorted("times_ns", times_ns)?;
                match times_ns.last() {
                    None | Some(0) => Err("times_ns: must hold a time after 0".into()),
                    Some(last) if repeat_ns < last => Err("repeat_ns: must be at least the last time".into()),
                    _ if *bytes == 0 => Err("bytes: must be positive".into()),
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }
}
