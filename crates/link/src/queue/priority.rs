use super::{Arrival, Fifo, Outcome, QueuedPacket};
use crate::{Fate, LinkPacket};
use longhaul_units::InvalidValue;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const BANDS: usize = 8;
const DSCPS: usize = 64;

/// The priority band, 0 to 7, of each DSCP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Vec<u8>", into = "Vec<u8>")]
pub struct PriorityBands(Box<[u8; DSCPS]>);

impl TryFrom<Vec<u8>> for PriorityBands {
    type Error = InvalidValue;

    fn try_from(bands: Vec<u8>) -> Result<Self, InvalidValue> {
        if bands.iter().any(|&band| usize::from(band) >= BANDS) {
            return Err(InvalidValue::new("bands", "must be below 8"));
        }
        match bands.into_boxed_slice().try_into() {
            Ok(bands) => Ok(PriorityBands(bands)),
            Err(_) => Err(InvalidValue::new("bands", "must have a band for each of 64 DSCPs")),
        }
    }
}

impl From<PriorityBands> for Vec<u8> {
    fn from(PriorityBands(bands): PriorityBands) -> Self {
        bands.to_vec()
    }
}

/// Strict priority: of the bands the first with anything waiting goes. When the limit is reached the
/// last packet of the last band makes room for those of earlier ones.
#[derive(Debug)]
pub(crate) struct Bands<P> {
    of_dscp: PriorityBands,
    bands: [Fifo<P>; BANDS],
}

impl<P: LinkPacket> Bands<P> {
    pub(crate) fn new(of_dscp: PriorityBands) -> Self {
        Bands { of_dscp, bands: std::array::from_fn(|_| Fifo::new()) }
    }

    pub(crate) fn len(&self) -> u64 {
        self.bands.iter().map(Fifo::len).sum()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bands.iter().map(|band| band.bytes).sum()
    }

    pub(crate) fn push(&mut self, packet: P, at: &Arrival<'_>, out: &mut Outcome<'_, P>) -> Result<(), Fate> {
        let own = self.band(&packet);
        while !at.idle && at.limit.refuses(self.len(), self.bytes(), packet.bytes()) {
            let later = self.bands[own + 1..].iter_mut().rev().find_map(Fifo::pop_last);
            let Some(victim) = later else { return Err(Fate::Overflowed) };
            out.end(victim.packet, Fate::Overflowed);
        }
        self.resume(QueuedPacket { packet, since: at.now, number: at.number });
        Ok(())
    }

    pub(crate) fn resume(&mut self, waiting: QueuedPacket<P>) {
        self.bands[self.band(&waiting.packet)].push(waiting);
    }

    pub(crate) fn pop(&mut self) -> Option<QueuedPacket<P>> {
        self.bands.iter_mut().find_map(Fifo::pop)
    }

    pub(crate) fn into_waiting(self) -> Vec<QueuedPacket<P>> {
        self.bands.into_iter().flat_map(|band| Vec::from(band.list)).collect()
    }

    fn band(&self, packet: &P) -> usize {
        usize::from(self.of_dscp.0[usize::from(packet.dscp() & 63)]).min(BANDS - 1)
    }
}
