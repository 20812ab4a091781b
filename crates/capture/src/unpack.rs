use flate2::read::MultiGzDecoder;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};
use std::io::{self, BufReader, Chain, Cursor, Read};

/// RFC 1952, section 2.3.1.
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// RFC 8878, section 3.1.1.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Largest window of a zstd stream: what `zstd --long=27` makes.
const LARGEST_WINDOW: u64 = 1 << 27;

type Packed<R> = BufReader<Chain<Cursor<Vec<u8>>, R>>;

/// The bytes of `reader`, unpacked if they are gzip or zstd, which their first bytes say.
///
/// A packed stream that breaks off ends with [`io::ErrorKind::UnexpectedEof`].
///
/// # Errors
/// If the first bytes cannot be read.
pub fn unpacked<'a, R: Read + Send + Sync + 'a>(
    mut reader: R,
) -> io::Result<Box<dyn Read + Send + Sync + 'a>> {
    let mut first = Vec::with_capacity(4);
    reader.by_ref().take(4).read_to_end(&mut first)?;
    let kind = <[u8; 4]>::try_from(first.as_slice()).ok();
    let all = BufReader::with_capacity(1 << 16, Cursor::new(first).chain(reader));
    Ok(match kind {
        Some(ZSTD) => Box::new(Zstd { state: State::Between(Some(all)) }),
        Some(magic) if magic[..2] == GZIP => Box::new(MultiGzDecoder::new(all)),
        _ => Box::new(all),
    })
}

/// Frames of zstd, one behind the other.
struct Zstd<R: Read> {
    state: State<R>,
}

enum State<R: Read> {
    /// Before a frame, or at the end (`None`).
    Between(Option<Packed<R>>),
    Within(Box<StreamingDecoder<Packed<R>, FrameDecoder>>),
}

impl<R: Read> Read for Zstd<R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        loop {
            match std::mem::replace(&mut self.state, State::Between(None)) {
                State::Between(None) => return Ok(0),
                State::Between(Some(mut packed)) => {
                    if io::BufRead::fill_buf(&mut packed)?.is_empty() {
                        return Ok(0);
                    }
                    let frame = StreamingDecoder::new_with_max_window_size(packed, LARGEST_WINDOW);
                    self.state = State::Within(Box::new(frame.map_err(io::Error::other)?));
                }
                State::Within(mut frame) => {
                    let read = frame.read(room);
                    let ended = io::BufRead::fill_buf(frame.get_mut()).map_or(true, <[u8]>::is_empty);
                    match read {
                        Err(_) if ended => return Err(io::ErrorKind::UnexpectedEof.into()),
                        Err(error) => return Err(error),
                        Ok(0) => self.state = State::Between(Some(frame.into_inner())),
                        Ok(read) => {
                            self.state = State::Within(frame);
                            return Ok(read);
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(bytes).unwrap();
        packed.finish().unwrap()
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
    }

    fn read(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        unpacked(bytes)?.read_to_end(&mut all).map(|_| all)
    }

    #[test]
    #[cfg_attr(miri, ignore = "compressing takes minutes")]
    fn gzip_zstd_and_neither_give_the_same_bytes() {
        let bytes: Vec<u8> = (0..200_000_u32).flat_map(u32::to_le_bytes).collect();
        for packed in [bytes.clone(), gzip(&bytes), zstd(&bytes)] {
            assert!(read(&packed).unwrap() == bytes);
        }
        assert_eq!(read(b"").unwrap(), b"");
        assert_eq!(read(&GZIP).unwrap(), GZIP, "shorter than any packed file");
    }

    #[test]
    fn files_that_were_joined_are_read_to_the_end() {
        for pack in [gzip, zstd] {
            assert_eq!(read(&[pack(b"one, "), pack(b"two")].concat()).unwrap(), b"one, two");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "compressing takes minutes")]
    fn a_packed_file_that_breaks_off_ends_unexpectedly() {
        let bytes: Vec<u8> = (0..50_000_u32).flat_map(|n| (n * n).to_le_bytes()).collect();
        for packed in [gzip(&bytes), zstd(&bytes)] {
            let error = read(&packed[..packed.len() / 2]).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        }
    }
}
