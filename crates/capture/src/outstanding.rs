//! What was sent and is not acknowledged yet.

use std::collections::VecDeque;

/// When and as which packet something was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) at_ns: u64,
    /// Packets of the flow with data before it, seen or missed.
    pub(crate) packet: u64,
    /// The same of all flows.
    pub(crate) packet_of_all: u64,
}

/// Bytes that were sent together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Of the latest transmission, or of the first packet behind a hole.
    pub(crate) stamp: Stamp,
    /// `TSval`, of whom `stamp` is.
    pub(crate) stamp_value: Option<u32>,
    pub(crate) ident: u16,
    /// How often it was sent; 0 for a hole, of which nothing was seen.
    pub(crate) transmissions: u16,
}

impl Piece {
    pub(crate) fn is_hole(&self) -> bool {
        self.transmissions == 0
    }
}

/// Pieces in the order of their positions, none overlapping.
#[derive(Debug, Default)]
pub(crate) struct Outstanding(VecDeque<Piece>);

/// What an acknowledgement took away.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    /// The piece that had been waited for.
    pub(crate) first: Option<Piece>,
    pub(crate) last: Option<Piece>,
    /// Each piece was seen once, so that it is known which transmission was acknowledged.
    pub(crate) unambiguous: bool,
    /// Bytes of holes: they arrived, and were never seen.
    pub(crate) unseen: u64,
}

impl Outstanding {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Adds a piece behind all others.
    pub(crate) fn push(&mut self, piece: Piece) {
        self.0.push_back(piece);
    }

    /// Forgets the first piece, and says where the rest begins.
    pub(crate) fn forget_first(&mut self) -> Option<u64> {
        self.0.pop_front();
        self.0.front().map(|piece| piece.start)
    }

    /// Calls `change` with each piece between `start` and `end`; those across a border are divided, and
    /// of a divided hole, the packet numbers are counted in steps of `size` bytes.
    pub(crate) fn between(&mut self, start: u64, end: u64, size: u32, mut change: impl FnMut(&mut Piece)) {
        self.divide(start, size);
        self.divide(end, size);
        let from = self.0.partition_point(|piece| piece.end <= start);
        for piece in self.0.range_mut(from..).take_while(|piece| piece.start < end) {
            change(piece);
        }
    }

    fn divide(&mut self, position: u64, size: u32) {
        let index = self.0.partition_point(|piece| piece.end <= position);
        let Some(piece) = self.0.get_mut(index).filter(|piece| piece.start < position) else { return };
        let mut second = Piece { start: position, ..*piece };
        if piece.is_hole() {
            let packets = (position - piece.start).div_ceil(u64::from(size));
            second.stamp.packet += packets;
            second.stamp.packet_of_all += packets;
        }
        piece.end = position;
        self.0.insert(index + 1, second);
    }

    /// Takes away everything below `position`.
    pub(crate) fn take_below(&mut self, position: u64) -> Taken {
        let mut taken = Taken { unambiguous: true, ..Taken::default() };
        while let Some(piece) = self.0.front_mut().filter(|piece| piece.start < position) {
            taken.first.get_or_insert(*piece);
            taken.unambiguous &= piece.transmissions == 1;
            let end = piece.end.min(position);
            if piece.is_hole() {
                taken.unseen += end - piece.start;
            }
            if end < piece.end {
                piece.start = end;
                break;
            }
            taken.last = self.0.pop_front();
        }
        taken
    }
}
