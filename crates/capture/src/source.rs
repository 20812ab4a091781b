use crate::Error;
use std::io::{self, Read};

/// Room for so many bytes to begin with, and what is read at once.
const READ_AT_ONCE: usize = 1 << 18;

/// Bytes of a reader, of which some lie ready.
pub(crate) struct Source<R> {
    reader: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Bytes of the reader before `start`.
    offset: u64,
    ended: bool,
}

impl<R: Read> Source<R> {
    pub(crate) fn new(reader: R) -> Self {
        Source { reader, buffer: vec![0; READ_AT_ONCE], start: 0, end: 0, offset: 0, ended: false }
    }

    /// Bytes consumed.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// The next `count` bytes, or as many as there are before the end.
    ///
    /// A packed stream that breaks off counts as ended.
    #[inline]
    pub(crate) fn peek(&mut self, count: usize) -> Result<&[u8], Error> {
        if self.end - self.start < count {
            self.fill(count)?;
        }
        Ok(&self.buffer[self.start..self.end.min(self.start + count)])
    }

    /// What [`Source::peek`] has made ready.
    pub(crate) fn ready(&self, count: usize) -> &[u8] {
        &self.buffer[self.start..self.end.min(self.start + count)]
    }

    #[inline]
    pub(crate) fn consume(&mut self, count: usize) {
        let count = count.min(self.end - self.start);
        self.start += count;
        self.offset += count as u64;
    }

    #[cold]
    fn fill(&mut self, count: usize) -> Result<(), Error> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.buffer.len() < count + READ_AT_ONCE {
            self.buffer.resize(count + READ_AT_ONCE, 0);
        }
        while self.end < count && !self.ended {
            match self.reader.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(read) => self.end += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => self.ended = true,
                Err(error) => {
                    let place = self.offset + self.end as u64;
                    return Err(Error::at(place, format!("cannot be read: {error}"), "copy the file again"));
                }
            }
        }
        Ok(())
    }
}
