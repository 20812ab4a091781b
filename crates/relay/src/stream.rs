//! One direction of a connection: bytes that were read and not written yet, divided into pieces.

use longhaul_units::{Span, Time};
use std::collections::VecDeque;
use std::io::IoSlice;

/// The contents of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Bytes.
    Data(u32),
    /// The opening of the connection: the request in one direction, the answer in the other.
    Open,
    /// The end of the stream.
    End,
    /// A reset of the connection.
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

/// A piece that was delivered, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReleasedPiece {
    /// Its contents.
    pub mark: Mark,
    /// When it arrived.
    pub arrived: Time,
    /// When it and all pieces before it were due.
    pub due: Time,
}

/// Bytes and marks in order of arrival, and the state of each piece.
///
/// [Append](Self::append) bytes that arrive, offer each [next](Self::next) piece to the WAN,
/// [mark](Self::mark_delivered) delivered pieces, take [released](Self::release) pieces, and write the
/// [bytes that may be written](Self::writable). Pieces are released in order of arrival, however the WAN reorders them.
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
    unwritten: VecDeque<(u32, ReleasedPiece)>,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    mark: Mark,
    arrived: Time,
    due: Option<Time>,
    extra: Span,
    /// Whether it was lost and is to be retransmitted.
    lost: bool,
}

/// Capacity that an empty stream retains, in bytes.
const MIN_CAPACITY: usize = 16 << 10;

/// Memory of streams that have run empty, for those that fill next: fresh memory costs the kernel more time than
/// the bytes that pass through it.
#[derive(Debug, Default)]
pub struct BufferPool {
    buffers: Vec<VecDeque<u8>>,
    bytes: usize,
}

impl BufferPool {
    /// Most bytes that are retained.
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
    /// Bytes that arrived and were not written yet.
    pub fn held(&self) -> usize {
        self.bytes.len()
    }

    /// Whether no piece is in the WAN or waits to be written.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.unwritten.is_empty()
    }

    /// Appends bytes that arrived at an instant, as pieces of `most` bytes at most.
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

    /// Appends a mark.
    pub fn append_mark(&mut self, arrived: Time, mark: Mark) {
        self.pieces.push_back(Piece { mark, arrived, due: None, extra: Span::ZERO, lost: false });
    }

    /// Adds a delay to the last piece that was appended.
    pub fn delay_latest(&mut self, extra: Span) {
        if let Some(piece) = self.pieces.back_mut() {
            piece.extra = extra;
        }
    }

    /// The delay that was added to a piece.
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

    /// Marks the next piece as offered.
    pub fn mark_offered(&mut self) {
        self.offered += 1;
    }

    /// Marks a copy of piece `number` as lost; returns whether it is to be retransmitted, which is true for one copy.
    pub fn mark_lost(&mut self, number: u64) -> bool {
        let index = number.checked_sub(self.first);
        let piece = index.and_then(|index| self.pieces.get_mut(index as usize));
        piece.is_some_and(|piece| piece.due.is_none() && !std::mem::replace(&mut piece.lost, true))
    }

    /// Marks a lost piece as retransmitted.
    pub fn mark_retransmitted(&mut self, number: u64) {
        let index = number.checked_sub(self.first);
        if let Some(piece) = index.and_then(|index| self.pieces.get_mut(index as usize)) {
            piece.lost = false;
        }
    }

    /// The bytes of a piece that was not delivered yet.
    pub fn undelivered_bytes(&self, number: u64) -> Option<u32> {
        let piece = self.pieces.get(number.checked_sub(self.first)? as usize)?;
        piece.due.is_none().then(|| piece.mark.bytes())
    }

    /// Marks piece `number` as delivered at its due time; later copies have no effect.
    pub fn mark_delivered(&mut self, number: u64, due: Time) {
        let index = number.checked_sub(self.first);
        if let Some(piece) = index.and_then(|index| self.pieces.get_mut(index as usize)) {
            piece.due.get_or_insert(due);
        }
    }

    /// The next piece in order, if it was delivered.
    pub fn release(&mut self) -> Option<ReleasedPiece> {
        let Piece { mark, arrived, due, .. } = *self.pieces.front()?;
        let due = due?.max(self.latest);
        self.pieces.pop_front();
        self.first += 1;
        self.latest = due;
        let released = ReleasedPiece { mark, arrived, due };
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

    /// Marks bytes as written; calls `each` for every piece that is written completely.
    pub fn mark_written(&mut self, bytes: usize, mut each: impl FnMut(ReleasedPiece)) {
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

    /// Prepares for `bytes` bytes.
    pub fn reserve(&mut self, bytes: usize, pool: &mut BufferPool) {
        if bytes > MIN_CAPACITY && self.bytes.is_empty() && self.bytes.capacity() < bytes {
            self.bytes = pool.take();
        }
    }

    /// Gives the memory back of which an empty stream has no need.
    pub fn rest(&mut self, pool: &mut BufferPool) {
        if self.bytes.is_empty() && self.bytes.capacity() > MIN_CAPACITY {
            pool.keep(std::mem::take(&mut self.bytes));
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
        stream.mark_offered();
        assert_eq!(stream.next(), Some((1, 2)));
        stream.mark_delivered(1, us(10));
        assert_eq!(stream.release(), None);
        stream.mark_delivered(0, us(20));
        stream.mark_delivered(0, us(30));
        stream.mark_delivered(2, us(5));
        let released: Vec<_> = std::iter::from_fn(|| stream.release()).collect();
        assert_eq!(released.iter().map(|each| each.due).collect::<Vec<_>>(), [us(20), us(20), us(20)]);
        assert_eq!(released[2].mark, Mark::End);
        assert_eq!(stream.ready(), 6);
    }

    #[test]
    fn memory_goes_from_empty_streams_to_those_that_fill() {
        let (mut one, mut other, mut pool) = (Stream::default(), Stream::default(), BufferPool::default());
        let data = vec![1; 4 * MIN_CAPACITY];
        one.append(us(0), &data, u32::MAX);
        one.rest(&mut pool);
        assert_eq!(pool.bytes, 0, "it is not empty");
        one.mark_delivered(0, us(1));
        one.release();
        one.mark_written(data.len(), |_| ());
        one.rest(&mut pool);
        assert!(one.bytes.capacity() == 0 && pool.bytes >= data.len());
        other.reserve(1, &mut pool);
        other.append(us(2), &[1], 1);
        other.reserve(data.len(), &mut pool);
        assert!(pool.bytes >= data.len(), "a stream that holds something keeps what it has");
        other.mark_delivered(0, us(3));
        other.release();
        other.mark_written(1, |_| ());
        other.reserve(data.len(), &mut pool);
        assert!(pool.bytes == 0 && other.bytes.capacity() >= data.len());
    }

    #[test]
    fn spare_memory_has_a_limit() {
        let mut pool = BufferPool::default();
        for _ in 0..5 {
            pool.keep(VecDeque::with_capacity(BufferPool::MOST / 4));
        }
        assert_eq!((pool.buffers.len(), pool.bytes), (4, BufferPool::MOST));
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
                stream.mark_offered();
            }
            let pieces = numbers.len();
            numbers.sort_by_key(|number| number.wrapping_mul(order | 1));
            let (mut written, mut told) = (Vec::<u8>::new(), 0);
            for (turn, number) in numbers.into_iter().enumerate() {
                stream.mark_delivered(number, us(100 + turn as u64));
                while stream.release().is_some() {}
                let [front, back] = stream.writable();
                let all: Vec<u8> = front.iter().chain(back.iter()).copied().collect();
                let part = all.len().min(writes[turn % writes.len()]);
                written.extend(&all[..part]);
                stream.mark_written(part, |_| told += 1);
            }
            let [front, back] = stream.writable();
            written.extend(front.iter().chain(back.iter()));
            stream.mark_written(stream.ready(), |_| told += 1);
            prop_assert_eq!(written, reads.concat());
            prop_assert_eq!(told, pieces);
            prop_assert!(stream.is_empty());
        }
    }
}
