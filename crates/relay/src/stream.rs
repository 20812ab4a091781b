//! One way of a connection: bytes that were read and not written yet, cut into pieces.

use longhaul_units::{Span, Time};
use std::collections::VecDeque;
use std::io::IoSlice;

/// What a piece means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// So many bytes.
    Data(u32),
    /// The connection opens: asked for one way, answered the other way.
    Open,
    /// Nothing more comes this way.
    End,
    /// The connection is broken off.
    Reset,
}

impl Mark {
    fn bytes(self) -> u32 {
        match self {
            Mark::Data(bytes) => bytes,
            Mark::Open | Mark::End | Mark::Reset => 0,
        }
    }
}

/// A piece that has come out of the WAN, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Released {
    /// What it means.
    pub mark: Mark,
    /// When it came.
    pub arrived: Time,
    /// When it was due, itself and all before it.
    pub due: Time,
}

/// Bytes and marks in the order in which they came, and which of them may go.
///
/// [Append](Self::append) what comes, offer each [next](Self::next) piece to the WAN, say when one has
/// [come through](Self::came_through), take what is [released](Self::release), and write
/// [what may be written](Self::writable). However pieces overtake each other on the WAN, what is released
/// has the order in which it came.
#[derive(Debug, Default)]
pub struct Stream {
    bytes: VecDeque<u8>,
    /// Not released yet; the first has number `first`.
    pieces: VecDeque<Piece>,
    first: u64,
    offered: u64,
    /// Bytes at the front that may be written.
    ready: usize,
    latest: Time,
    /// Released, not wholly written: so many bytes are left of the first.
    unwritten: VecDeque<(u32, Released)>,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    mark: Mark,
    arrived: Time,
    due: Option<Time>,
    extra: Span,
    /// It was lost and is to be offered again.
    lost: bool,
}

/// Memory that an empty stream keeps.
const KEPT: usize = 16 << 10;

/// Memory of streams that have run empty, for those that fill next: fresh memory costs the kernel more time than
/// the bytes that pass through it.
#[derive(Debug, Default)]
pub struct Spare {
    buffers: Vec<VecDeque<u8>>,
    bytes: usize,
}

impl Spare {
    /// The most that is kept.
    const MOST: usize = 16 << 20;

    fn take(&mut self) -> VecDeque<u8> {
        let buffer = self.buffers.pop().unwrap_or_default();
        self.bytes -= buffer.capacity();
        buffer
    }

    fn keep(&mut self, buffer: VecDeque<u8>) {
        if self.bytes + buffer.capacity() <= Self::MOST {
            self.bytes += buffer.capacity();
            self.buffers.push(buffer);
        }
    }
}

impl Stream {
    /// Bytes that came and were not written yet.
    pub fn held(&self) -> usize {
        self.bytes.len()
    }

    /// Whether nothing is on its way or waits to be written.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.unwritten.is_empty()
    }

    /// Takes in bytes that arrived at an instant, as pieces of `most` bytes at most.
    pub fn append(&mut self, arrived: Time, bytes: &[u8], most: u32) {
        self.bytes.extend(bytes);
        let mut left = bytes.len();
        while left > 0 {
            let piece = left.min(most.max(1) as usize);
            self.pieces.push_back(Piece {
                mark: Mark::Data(piece as u32),
                arrived,
                due: None,
                extra: Span::ZERO,
                lost: false,
            });
            left -= piece;
        }
    }

    /// Takes in what is no data.
    pub fn append_mark(&mut self, arrived: Time, mark: Mark) {
        self.pieces.push_back(Piece { mark, arrived, due: None, extra: Span::ZERO, lost: false });
    }

    /// Keeps the piece that was taken in last so much longer than the WAN does.
    pub fn delay_latest(&mut self, extra: Span) {
        if let Some(piece) = self.pieces.back_mut() {
            piece.extra = extra;
        }
    }

    /// How much longer than the WAN does a piece is kept.
    pub fn extra(&self, number: u64) -> Span {
        let index = number.checked_sub(self.first);
        index.and_then(|index| self.pieces.get(index as usize)).map_or(Span::ZERO, |piece| piece.extra)
    }

    /// The number and the size of the piece that is to be offered next.
    pub fn next(&self) -> Option<(u64, u32)> {
        let piece = self.pieces.get((self.offered - self.first) as usize)?;
        Some((self.offered, piece.mark.bytes()))
    }

    /// When the next piece to be offered arrived.
    pub fn next_arrived(&self) -> Time {
        self.pieces.get((self.offered - self.first) as usize).map_or(Time::ZERO, |piece| piece.arrived)
    }

    /// The next piece was offered.
    pub fn was_offered(&mut self) {
        self.offered += 1;
    }

    /// A copy of piece `number` was lost: whether it is to be offered again, which is said of one copy.
    pub fn loses(&mut self, number: u64) -> bool {
        let index = number.checked_sub(self.first);
        let piece = index.and_then(|index| self.pieces.get_mut(index as usize));
        piece.is_some_and(|piece| piece.due.is_none() && !std::mem::replace(&mut piece.lost, true))
    }

    /// A lost piece was offered again.
    pub fn was_offered_again(&mut self, number: u64) {
        let index = number.checked_sub(self.first);
        if let Some(piece) = index.and_then(|index| self.pieces.get_mut(index as usize)) {
            piece.lost = false;
        }
    }

    /// The bytes of a piece that has not come through yet.
    pub fn misses(&self, number: u64) -> Option<u32> {
        let piece = self.pieces.get(number.checked_sub(self.first)? as usize)?;
        piece.due.is_none().then(|| piece.mark.bytes())
    }

    /// Piece `number` came through and was due at an instant; of a second copy nothing is known.
    pub fn came_through(&mut self, number: u64, due: Time) {
        let index = number.checked_sub(self.first);
        if let Some(piece) = index.and_then(|index| self.pieces.get_mut(index as usize)) {
            piece.due.get_or_insert(due);
        }
    }

    /// The next piece in order, if it has come through.
    pub fn release(&mut self) -> Option<Released> {
        let Piece { mark, arrived, due, .. } = *self.pieces.front()?;
        let due = due?.max(self.latest);
        self.pieces.pop_front();
        self.first += 1;
        self.latest = due;
        let released = Released { mark, arrived, due };
        if let Mark::Data(bytes) = mark {
            self.ready += bytes as usize;
            self.unwritten.push_back((bytes, released));
        }
        Some(released)
    }

    /// Bytes that may be written.
    pub fn ready(&self) -> usize {
        self.ready
    }

    /// The bytes that may be written, in up to two parts.
    pub fn writable(&self) -> [IoSlice<'_>; 2] {
        let (front, back) = self.bytes.as_slices();
        let first = &front[..front.len().min(self.ready)];
        [IoSlice::new(first), IoSlice::new(&back[..self.ready - first.len()])]
    }

    /// So many bytes were written; `each` hears of every piece that is out now.
    pub fn wrote(&mut self, bytes: usize, mut each: impl FnMut(Released)) {
        self.bytes.drain(..bytes);
        self.ready -= bytes;
        let mut left = bytes;
        while left > 0 {
            let Some((rest, released)) = self.unwritten.front_mut() else { break };
            let part = left.min(*rest as usize);
            *rest -= part as u32;
            left -= part;
            if *rest == 0 {
                each(*released);
                self.unwritten.pop_front();
            }
        }
    }

    /// Makes ready for so many bytes.
    pub fn expect(&mut self, bytes: usize, spare: &mut Spare) {
        if bytes > KEPT && self.bytes.is_empty() && self.bytes.capacity() < bytes {
            self.bytes = spare.take();
        }
    }

    /// Gives the memory back of which an empty stream has no need.
    pub fn rest(&mut self, spare: &mut Spare) {
        if self.bytes.is_empty() && self.bytes.capacity() > KEPT {
            spare.keep(std::mem::take(&mut self.bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn us(us: u64) -> Time {
        Time::from_ns(us * 1_000)
    }

    #[test]
    fn what_is_written_has_the_order_in_which_it_came() {
        let mut stream = Stream::default();
        stream.append(us(0), b"abcdef", 4);
        stream.append_mark(us(1), Mark::End);
        assert_eq!(stream.next(), Some((0, 4)));
        stream.was_offered();
        assert_eq!(stream.next(), Some((1, 2)));
        stream.came_through(1, us(10));
        assert_eq!(stream.release(), None);
        stream.came_through(0, us(20));
        stream.came_through(0, us(30));
        stream.came_through(2, us(5));
        let released: Vec<_> = std::iter::from_fn(|| stream.release()).collect();
        assert_eq!(released.iter().map(|each| each.due).collect::<Vec<_>>(), [us(20), us(20), us(20)]);
        assert_eq!(released[2].mark, Mark::End);
        assert_eq!(stream.ready(), 6);
    }

    #[test]
    fn memory_goes_from_empty_streams_to_those_that_fill() {
        let (mut one, mut other, mut spare) = (Stream::default(), Stream::default(), Spare::default());
        let data = vec![1; 4 * KEPT];
        one.append(us(0), &data, u32::MAX);
        one.rest(&mut spare);
        assert_eq!(spare.bytes, 0, "it is not empty");
        one.came_through(0, us(1));
        one.release();
        one.wrote(data.len(), |_| ());
        one.rest(&mut spare);
        assert!(one.bytes.capacity() == 0 && spare.bytes >= data.len());
        other.expect(1, &mut spare);
        other.append(us(2), &[1], 1);
        other.expect(data.len(), &mut spare);
        assert!(spare.bytes >= data.len(), "a stream that holds something keeps what it has");
        other.came_through(0, us(3));
        other.release();
        other.wrote(1, |_| ());
        other.expect(data.len(), &mut spare);
        assert!(spare.bytes == 0 && other.bytes.capacity() >= data.len());
    }

    #[test]
    fn spare_memory_has_a_limit() {
        let mut spare = Spare::default();
        for _ in 0..5 {
            spare.keep(VecDeque::with_capacity(Spare::MOST / 4));
        }
        assert_eq!((spare.buffers.len(), spare.bytes), (4, Spare::MOST));
    }

    proptest! {
        #[test]
        fn no_byte_is_lost_or_moved(
            reads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..50), 1..20),
            most in 1u32..20,
            order in any::<u64>(),
            writes in prop::collection::vec(1usize..30, 1..10),
        ) {
            let mut stream = Stream::default();
            for (at, bytes) in reads.iter().enumerate() {
                stream.append(us(at as u64), bytes, most);
            }
            let mut numbers = Vec::new();
            while let Some((number, _)) = stream.next() {
                numbers.push(number);
                stream.was_offered();
            }
            let pieces = numbers.len();
            numbers.sort_by_key(|number| number.wrapping_mul(order | 1));
            let (mut written, mut told) = (Vec::<u8>::new(), 0);
            for (turn, number) in numbers.into_iter().enumerate() {
                stream.came_through(number, us(100 + turn as u64));
                while stream.release().is_some() {}
                let [front, back] = stream.writable();
                let all: Vec<u8> = front.iter().chain(back.iter()).copied().collect();
                let part = all.len().min(writes[turn % writes.len()]);
                written.extend(&all[..part]);
                stream.wrote(part, |_| told += 1);
            }
            let [front, back] = stream.writable();
            written.extend(front.iter().chain(back.iter()));
            stream.wrote(stream.ready(), |_| told += 1);
            prop_assert_eq!(written, reads.concat());
            prop_assert_eq!(told, pieces);
            prop_assert!(stream.is_empty());
        }
    }
}
