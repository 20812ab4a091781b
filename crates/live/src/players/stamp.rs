//! What a real datagram carries: its number and when it left.

/// Bytes of a whole stamp; a shorter datagram carries its beginning.
pub const STAMP: usize = 16;
const NUMBER: usize = 8;
/// No number is so far from what is expected: that many datagrams are never under way.
const FAR: u64 = 1 << 40;

/// The stamp of datagram `number`, which leaves `sent_ns` after the run's zero.
pub fn write(number: u64, sent_ns: u64) -> [u8; STAMP] {
    let mut stamp = [0; STAMP];
    stamp[..NUMBER].copy_from_slice(&number.to_le_bytes());
    stamp[NUMBER..].copy_from_slice(&sent_ns.to_le_bytes());
    stamp
}

/// The number, and when it left if there was room for that, of a datagram of which `bytes` arrived while
/// number `expected` was the next. `None`: it is not one of ours.
pub fn read(bytes: &[u8], expected: u64) -> Option<(u64, Option<u64>)> {
    let kept = bytes.len().min(NUMBER);
    if kept == 0 {
        return None;
    }
    let mut number = [0; NUMBER];
    number[..kept].copy_from_slice(&bytes[..kept]);
    let number = u64::from_le_bytes(number);
    let sent_ns = bytes.get(NUMBER..STAMP).and_then(|rest| rest.try_into().ok()).map(u64::from_le_bytes);
    let number = if kept == NUMBER { number } else { nearest(number, 8 * kept as u32, expected) };
    (number.abs_diff(expected) < FAR).then_some((number, sent_ns))
}

/// The number with these last `bits` that is nearest to `expected` (as RFC 9000, appendix A.3, does it).
fn nearest(last: u64, bits: u32, expected: u64) -> u64 {
    let window = 1u64 << bits;
    let candidate = (expected & !(window - 1)) | last;
    if candidate + window / 2 <= expected {
        candidate + window
    } else if candidate > expected + window / 2 && candidate >= window {
        candidate - window
    } else {
        candidate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_comes_back_whole() {
        let bytes = write(1 << 40, 123_456_789_012);
        assert_eq!(read(&bytes, 1 << 40), Some((1 << 40, Some(123_456_789_012))));
    }

    #[test]
    fn a_short_datagram_has_the_number_that_is_nearest_to_what_is_expected() {
        // Of one byte, in a window of 256; of two, 65536 (RFC 9000 appendix A.3 has the second).
        for (number, kept, expected) in [
            (300u64, 1, 299),
            (255, 1, 256),
            (256, 1, 255),
            (200, 1, 300),
            (0xa82f_9b32, 2, 0xa82f_30eb),
            (0, 1, 0),
            (3, 3, 1 << 20),
        ] {
            let stamp = write(number, 7);
            let found = read(&stamp[..kept], expected);
            let far = number.abs_diff(expected) > 1 << (8 * kept - 1);
            assert_eq!(found == Some((number, None)), !far, "{number} {kept} {expected} {found:?}");
        }
    }

    #[test]
    fn what_somebody_else_sends_has_no_number() {
        assert_eq!(read(b"GET / HTTP/1.1\r\n", 5), None);
        assert_eq!(read(&[0xff; STAMP], 5), None);
        assert_eq!(read(&write(FAR + 4, 7), 5), Some((FAR + 4, Some(7))));
        assert_eq!(read(&write(FAR + 5, 7), 5), None);
    }

    #[test]
    fn an_empty_datagram_says_nothing() {
        assert_eq!(read(&[], 5), None);
    }
}
