//! What a run leaves behind: samples of counters, records of packets, captures, distributions.
//!
//! Nothing here opens a file or reads a clock; writers and times are handed in.
#![forbid(unsafe_code)]

mod bins;
mod captures;
mod distribution;
mod flows;
mod lateness;
mod real_flows;
mod rows;
mod segments;
mod table;

pub use bins::{BIN_COLUMNS, BinRow, FLOW_BIN_COLUMNS, FlowBinRow};
pub use captures::{CAPTURE_INTERFACES, Capture, LinkType};
pub use distribution::{Distribution, Summary};
pub use flows::{FLOW_COLUMNS, FlowRow, PING_COLUMNS, PingRow, REQUEST_COLUMNS, RequestRow};
pub use lateness::{Classes, LATENESS_BOUNDS_NS, LatenessRow, lateness_columns};
pub use real_flows::{FLOW_COUNT_COLUMNS, FLOW_SAMPLE_COLUMNS, FlowCountRow, FlowCounts, FlowSampleRow};
pub use rows::{PACKET_COLUMNS, PacketRow, SAMPLE_COLUMNS, SampleRow};
pub use segments::{SEGMENT_COLUMNS, SegmentRow};
pub use table::{Field, Row, Table};
