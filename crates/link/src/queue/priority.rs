use super::{Arrival, Fifo, Outcome, Waiting};
use crate::{Fate, Load};

const BANDS: usize = 8;

/// Strict priority: of the bands the first with anything waiting goes. When the limit is reached the
/// last packet of the last band makes room for those of earlier ones.
#[derive(Debug)]
pub(crate) struct Bands<P> {
    of_dscp: [u8; 64],
    bands: [Fifo<P>; BANDS],
}

impl<P: Load> Bands<P> {
    pub(crate) fn new(of_dscp: [u8; 64]) -> Self {
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
        self.resume(Waiting { packet, since: at.now, number: at.number });
        Ok(())
    }

    pub(crate) fn resume(&mut self, waiting: Waiting<P>) {
        self.bands[self.band(&waiting.packet)].push(waiting);
    }

    pub(crate) fn pop(&mut self) -> Option<Waiting<P>> {
        self.bands.iter_mut().find_map(Fifo::pop)
    }

    pub(crate) fn into_waiting(self) -> Vec<Waiting<P>> {
        self.bands.into_iter().flat_map(|band| Vec::from(band.list)).collect()
    }

    fn band(&self, packet: &P) -> usize {
        usize::from(self.of_dscp[usize::from(packet.dscp() & 63)]).min(BANDS - 1)
    }
}
