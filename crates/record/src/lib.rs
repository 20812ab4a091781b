//! What a run leaves behind: samples of counters, records of packets, captures, distributions.
//!
//! Nothing here opens a file or reads a clock; writers and times are handed in.
#![forbid(unsafe_code)]

mod bins;
mod captures;
mod distribution;
mod flows;
mod lateness;
mod rows;
mod segments;

pub use bins::{BINS_HEADER, BinRow, FLOW_BINS_HEADER, FlowBinRow};
pub use captures::Capture;
pub use distribution::{Distribution, Summary};
pub use flows::{ECHOES_HEADER, EchoRow, FLOWS_HEADER, FlowRow, REQUESTS_HEADER, RequestRow};
pub use lateness::{Classes, LATENESS_BOUNDS_NS, LatenessRow, lateness_header};
pub use rows::{PACKETS_HEADER, PacketRow, SAMPLES_HEADER, SampleRow};
pub use segments::{SEGMENTS_HEADER, SegmentRow};
