//! What captures of TCP connections say about loss, round trips and order; and captures' packets with other addresses.
//!
//! A [`Reader`] takes the bytes of a capture file from any [`Read`]: it opens none and knows no clock. Packets
//! are looked at once, in the order of the file. What is kept is bounded: of each connection, only what is
//! not acknowledged.
//!
//! Definitions, and what can be known from which place: `docs/models/capture-losses.md`.
#![forbid(unsafe_code)]

mod connection;
mod direction;
mod error;
mod exchange;
mod flows;
mod headers;
mod idents;
mod order;
mod outstanding;
mod packets;
mod raw;
mod rewrite;
mod samples;
mod sequence;
mod source;
mod suspects;
mod tcp;
mod unpack;

pub use connection::View;
pub use error::Error;
pub use exchange::{Answer, Asked, Data, Exchange, Kind};
pub use flows::{Flow, Tally};
pub use raw::{RawPackets, write_raw};
pub use rewrite::{
    Addresses, LeftOut, Pair, PairPackets, Rewritten, Rules, Sides, Tally as RewriteTally, Timing, rewrite,
};
pub use samples::RoundTrips;
pub use suspects::{Loss, Place};
pub use unpack::unpacked;

use flows::Flows;
use packets::Packets;
use std::io::Read;

/// Reads a capture: [`Reader::advance`] until it says `false`, then [`Reader::finish`].
pub struct Reader<R> {
    packets: Packets<R>,
    flows: Flows,
}

/// What a capture holds.
#[derive(Clone, Debug)]
pub struct Findings {
    /// Each direction of each connection in which data were sent, in the order in which connections began.
    pub flows: Vec<Flow>,
    /// All packets.
    pub tally: Tally,
    /// Where the file breaks off, if it does within a packet: in bytes from the beginning, unpacked.
    pub broken_off: Option<u64>,
}

impl<R: Read> Reader<R> {
    /// Begins to read pcap or pcapng from `reader`, which [`unpacked`] may be wrapped around.
    ///
    /// # Errors
    /// If this is not a capture, or one of a link layer that cannot be read.
    pub fn new(reader: R) -> Result<Self, Error> {
        Ok(Reader { packets: Packets::new(reader)?, flows: Flows::default() })
    }

    /// Looks at so many packets more, and says whether there are others.
    ///
    /// # Errors
    /// If the file is damaged, or has too many connections.
    pub fn advance(&mut self, packets: u64) -> Result<bool, Error> {
        for _ in 0..packets {
            if !self.packets.next(|packet, interfaces| self.flows.take(&packet, interfaces))? {
                self.flows.take_waiting(self.packets.interfaces())?;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Packets looked at so far.
    pub fn packets(&self) -> u64 {
        self.flows.tally.packets
    }

    /// What was found.
    pub fn finish(mut self) -> Findings {
        let flows = self.flows.finish(self.packets.interfaces());
        Findings { flows, tally: self.flows.tally, broken_off: self.packets.broken_off() }
    }
}
