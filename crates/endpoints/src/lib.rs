//! Simulated endpoints of a plan's flows and jobs, independent of the clock.
//!
//! [`Endpoints`] has TCP connections, datagram sources and sinks, ping, and the ranks of simulated MPI jobs. The
//! simulator or the live engine supplies the time, the packets that arrive, and the network. Live traffic generators
//! use [`Schedule`] and [`DatagramStats`], too.
#![forbid(unsafe_code)]

mod agent;
mod build;
mod capture;
mod datagram_stats;
mod datagrams;
mod endpoints;
mod flow_info;
mod flow_names;
mod jobs;
mod mptcp;
mod packet_list;
mod payload;
mod ping;
mod results;
mod schedule;
mod shards;
mod stream;
mod timers;

pub use agent::AgentContext;
pub use capture::{CapturedPacket, Headers, SentSegment};
pub use datagram_stats::DatagramStats;
pub use endpoints::Endpoints;
pub use jobs::joined as joined_jobs;
pub use packet_list::ListedPacket;
pub use payload::{PayloadBatch, PayloadPool, PayloadSink};
pub use results::TransferProgress;
pub use schedule::{Schedule, datagrams, transfers};
pub use shards::{ClosedEnds, EndSamples};
