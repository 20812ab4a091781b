use longhaul_link::{Fate, LinkPacket, OfferResult};
use longhaul_plan::Direction;
use longhaul_random::Seed;
use longhaul_units::{Span, Time};

/// A packet of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// When it is offered; times do not go back.
    pub at: Time,
    /// IP bytes.
    pub bytes: u32,
    /// A hash of its flow.
    pub flow: u32,
    /// DSCP and ECN.
    pub class: u8,
}

/// What became of one packet of a trial, or of a copy of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The packet's position among the offers.
    pub packet: u32,
    /// When it came out, or how it ended.
    pub end: Result<Time, Fate>,
    /// Marked as having met congestion.
    pub marked: bool,
    /// One bit of it is wrong.
    pub corrupted: bool,
}

#[derive(Clone, Copy, Debug)]
struct Probe {
    packet: u32,
    offer: Offer,
    marked: bool,
    corrupted: bool,
}

impl LinkPacket for Probe {
    fn bytes(&self) -> u32 {
        self.offer.bytes
    }

    fn flow(&self) -> u64 {
        u64::from(self.offer.flow)
    }

    fn dscp(&self) -> u8 {
        self.offer.class >> 2
    }

    fn mark(&mut self) -> bool {
        let capable = self.offer.class & 3 != 0;
        self.marked |= capable;
        capable
    }

    fn corrupt(&mut self, _draw: u64) {
        self.corrupted = true;
    }
}

/// Sends packets through one direction alone: what comes out in the order of coming out, what ends
/// inside in the order of ending. The models must have passed their check, and draw from the streams of
/// `name`.
///
/// What never comes out, since the rate is too low for the time that can be counted, is missing.
pub fn trial(direction: &Direction, seed: u64, name: &str, offers: &[Offer]) -> Vec<Passage> {
    let mut line = crate::line::<Probe>(direction, &Seed::new(seed), name, Span::ZERO);
    let mut passages = Vec::with_capacity(offers.len());
    let mut collect = |line: &mut longhaul_link::Line<Probe>, now: Time| {
        let passage = |probe: Probe, end| Passage {
            packet: probe.packet,
            end,
            marked: probe.marked,
            corrupted: probe.corrupted,
        };
        while let Some((probe, due)) = line.take(now) {
            passages.push(passage(probe, Ok(due)));
        }
        while let Some((probe, fate)) = line.drop_pending() {
            passages.push(passage(probe, Err(fate)));
        }
    };
    let mut refused = Vec::new();
    for (packet, offer) in (0..).zip(offers) {
        while line.next_event() <= offer.at {
            let event = line.next_event();
            collect(&mut line, event);
        }
        let probe = Probe { packet, offer: *offer, marked: false, corrupted: false };
        if let OfferResult::Ended(fate) = line.offer(offer.at, probe) {
            refused.push(Passage { packet, end: Err(fate), marked: false, corrupted: false });
        }
    }
    while line.next_event() < Time::NEVER {
        let event = line.next_event();
        collect(&mut line, event);
    }
    passages.extend(refused);
    passages
}
